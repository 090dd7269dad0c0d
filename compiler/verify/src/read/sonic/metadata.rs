//! Fields of `DEVICE_METADATA|localhost`: those of sonic-device_metadata.yang, each judged or named as not judged.
//!
//! Invariants: a field is in one list; one that is in none is reported, since a later SONiC may route by it.

use super::site::is_field_of_site;

/// Result for a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Field {
    /// Its value is compared with what the fabric needs.
    Judged,
    /// A default for it is written out elsewhere, or it is a name or a way of waiting for the chip: it moves no
    /// packet, and is alike on all switches.
    WrittenOut,
    /// It is named in the report.
    NotJudged,
    /// Nobody knows it.
    Unknown,
}

/// A value of a field that does no harm; nothing: where the field is not there.
pub(crate) type Meant = &'static [Option<&'static str>];

/// Fields that packets, buffers or announcements depend on, with the values that do what the fabric is made for: what SONiC
/// does where nothing is said.
pub(crate) const MEANT: [(&str, Meant); 17] = [
    // Buffers are written out; the other model computes its own.
    ("buffer_model", &[None, Some("traditional")]),
    ("frr_mgmt_framework_config", &[None, Some("false")]),
    // orchagent of a VOQ line card, or of one of two ToRs, forwards in another way.
    ("switch_type", &[None, Some("npu")]),
    ("subtype", &[None]),
    ("peer_switch", &[None]),
    ("switch_id", &[None]),
    ("max_cores", &[None]),
    ("chassis_hostname", &[None]),
    // One of several ASICs of a box.
    ("asic_id", &[None]),
    ("asic_name", &[None]),
    ("sub_role", &[None]),
    // Routes are announced as soon as they are known, and not when the chip has them.
    ("suppress-fib-pending", &[None, Some("disabled")]),
    // Next-hop groups of zebra, and whether the kernel has the groups.
    ("nexthop_group", &[None, Some("disabled")]),
    ("zebra_nexthop", &[None, Some("enabled")]),
    // bgpcfgd announces loopbacks, filters and anchors routes by these.
    ("bgp_adv_lo_prefix_as_128", &[None, Some("false")]),
    ("t2_group_asns", &[None]),
    ("anchor_route_source", &[None]),
];

/// Judged by a rule of its own: which words it may have depends on the routing.
const MODE: &str = "docker_routing_config_mode";

const WRITTEN_OUT: [&str; 4] = ["cluster", "default_bgp_status", "default_pfcwd_status", "synchronous_mode"];

/// Returns what becomes of a field.
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
