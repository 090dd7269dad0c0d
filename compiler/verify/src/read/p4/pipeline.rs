//! The pipeline that a tree is for.

/// The pipeline's names, once a tree.
pub(crate) const INFO: &str = "p4/fabric.p4info.txtpb";

/// Tables without which the pipeline is another one than the proof knows.
pub(crate) const TABLES: [&str; 4] =
    ["ingress.port_role", "ingress.my_sid", "ingress.ipv6_route", "ingress.nexthop"];
