//! Fields of `DEVICE_METADATA|localhost`: those of sonic-device_metadata.yang, each either judged or listed as not
//! judged.
//!
//! Invariants: each field is in one list. Unknown fields are reported, because a later version of SONiC may use them
//! for routing.

use super::site::is_field_of_site;

/// Result for a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Field {
    /// The value is compared with the required value.
    Judged,
    /// The field is equal on all switches, and does not affect packets. It is a name or a delay until the ASIC is
    /// ready, or its default is written explicitly elsewhere.
    WrittenOut,
    /// The field is reported as not judged.
    NotJudged,
    /// The field is unknown.
    Unknown,
}

/// Harmless values of a field; `None` stands for an absent field.
pub(crate) type HarmlessValues = &'static [Option<&'static str>];

/// Fields that affect packets, buffers or announcements, with their permitted values. These values have the
/// effect of SONiC's defaults.
pub(crate) const MEANT: [(&str, HarmlessValues); 17] = [
    // Buffers are configured explicitly; the dynamic model would compute its own.
    ("buffer_model", &[None, Some("traditional")]),
    ("frr_mgmt_framework_config", &[None, Some("false")]),
    // orchagent of a VOQ line card, or of one of two ToRs, forwards differently.
    ("switch_type", &[None, Some("npu")]),
    ("subtype", &[None]),
    ("peer_switch", &[None]),
    ("switch_id", &[None]),
    ("max_cores", &[None]),
    ("chassis_hostname", &[None]),
    // These identify one of several ASICs in a switch.
    ("asic_id", &[None]),
    ("asic_name", &[None]),
    ("sub_role", &[None]),
    // Routes are announced as soon as they are known, without waiting for the ASIC.
    ("suppress-fib-pending", &[None, Some("disabled")]),
    // Next-hop groups of zebra, and whether the kernel uses groups.
    ("nexthop_group", &[None, Some("disabled")]),
    ("zebra_nexthop", &[None, Some("enabled")]),
    // bgpcfgd uses these to announce loopbacks, and to filter and anchor routes.
    ("bgp_adv_lo_prefix_as_128", &[None, Some("false")]),
    ("t2_group_asns", &[None]),
    ("anchor_route_source", &[None]),
];

/// A field with its own rule, because the allowed values depend on the routing mode.
const MODE: &str = "docker_routing_config_mode";

const WRITTEN_OUT: [&str; 4] = ["cluster", "default_bgp_status", "default_pfcwd_status", "synchronous_mode"];

/// Returns the result for a field.
pub(super) fn field(name: &str) -> Field {
    if name == MODE || MEANT.iter().any(|(known, _)| *known == name) {
        Field::Judged
    } else if WRITTEN_OUT.contains(&name) {
        Field::WrittenOut
    } else if is_field_of_site(name) {
        Field::NotJudged
    } else {
        Field::Unknown
    }
}
