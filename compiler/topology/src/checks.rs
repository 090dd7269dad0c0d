//! Every rule of the language.
//!
//! In: findings of the loader, and the resolved numbers of a document. Out: diagnostics.
//!
//! Invariants: there is one file per rule, with its purpose, reason, an example that breaks it and the fix. Checks
//! work on numbers and never walk devices, so their time does not depend on the size of the fabric. A check skips
//! inputs that another check rejects, so one mistake gives one message.

mod words;

mod adapters;
mod address_fields;
mod all_drained;
mod asn_range;
mod bad_range;
mod balance_not_supported;
mod beyond_numbers;
mod bgp_bandwidth;
mod block_length;
mod block_off_panel;
mod blocks_overlap;
mod breakout_not_offered;
mod broken_pattern;
mod cable_too_long;
mod cages_twice;
mod container;
mod contradiction;
mod domain_rule;
mod ecmp_groups;
mod ecmp_width;
mod entropy_floor;
mod entropy_paths;
mod entropy_planes;
mod fabric_name;
mod families;
mod host_bits;
mod lane_mismatch;
mod layout;
mod limit_basis;
mod link_speed_mismatch;
mod long_name;
mod lossless_lengths;
mod management_gateway;
mod management_line;
mod management_twice;
mod management_unread;
mod mtu_overhead;
mod mtu_range;
mod named_twice;
mod names_beyond;
mod names_nothing;
mod neighbour_limit;
mod nic_cages;
mod nic_speed_mismatch;
mod nic_speed_split;
mod nics_over_downlinks;
mod no_ecn;
mod no_pfc;
mod no_such_cable;
mod no_trimming;
mod no_un;
mod node_zones;
mod os_not_supported;
mod os_without_qos;
mod oversubscription;
mod own_macs;
mod p4_port;
mod parallel_split;
mod pin_line;
mod pin_routing;
mod pin_twice;
mod pins_unread;
mod plane_count;
mod plane_override;
mod planes_over_lanes;
mod pool_too_small;
mod pools_overlap;
mod port_order;
mod qos_profile;
mod qps_range;
mod rack_rule;
mod rails_of_groups;
mod rails_of_nics;
mod release_too_old;
mod release_unknown;
mod route_limit;
mod routing_not_supported;
mod rows;
mod same_names;
mod service_address;
mod shared_cages;
mod sid_limit;
mod sites;
mod slots;
mod smaller_zones;
mod split_node;
mod stated_downlinks;
mod t0_uplinks;
mod t1_count;
mod t1_radix;
mod t1_uplinks;
mod t2_cables;
mod t2_count;
mod t2_ports;
mod t2_site;
mod too_many_ports;
mod trim_settings;
mod udp_port;
mod unknown_medium;
mod unknown_platform;
mod unusable_pool;
mod usid_blocks;
mod usid_gib;
mod usid_index;
mod usid_plane;
mod usid_roles;
mod usid_widths;
mod usid_zone;
mod w_absent_anyway;
mod w_agent_files;
mod w_agent_values;
mod w_assumed_feature;
mod w_assumed_limit;
mod w_balance_assumed;
mod w_balance_order;
mod w_balance_unused;
mod w_buffer_shares;
mod w_dark_ports;
mod w_ecmp_unused;
mod w_even_paths;
mod w_far_t2;
mod w_host_files;
mod w_ipv4_widths;
mod w_known_fault;
mod w_lossless_traffic;
mod w_nccl_devices;
mod w_nearest_shares;
mod w_negotiation;
mod w_no_effect;
mod w_no_hwsku;
mod w_no_qp_hash;
mod w_no_t2;
mod w_oversubscribed;
mod w_parallel_locators;
mod w_preset_buffers;
mod w_public_asn;
mod w_release_unused;
mod w_routing_unused;
mod w_rows_unused;
mod w_services_unused;
mod w_software_pause;
mod w_software_qos;
mod w_srv6_unused;
mod w_static_egress;
mod w_trim_number;
mod w_unset_queues;
mod w_watchdog_times;
mod wrong_list;
mod zero_count;
mod zero_length;
mod zone_override;
mod zones_without_t2;

pub use bgp_bandwidth::BANDWIDTH_CABLES_MAX;

use std::collections::BTreeSet;

use closc_artefacts::Routing;
use closc_diagnostics::{Diagnostic, Diagnostics, Rule, Severity, Span};

use crate::draft::Draft;
use crate::faults;

pub(crate) use unknown_platform::names_rejected;
pub use w_agent_values::AGENT_VALUES;

/// The fabric that the examples of the rules change: two planes of full 256-port switches, without a finding.
pub const EXAMPLE_BASE: &str = "\
fabric: base
planes: 2
hosts: { groups: 256, per_group: 128, nics_per_node: 4, nic: { speed: 400G, lanes: 4 } }
tiers:
  t0: { platform: box-256x200g, os: sonic, up: 128 }
  t1: { platform: box-256x200g, os: sonic }
addresses: { management: 10.64.0.0/14 }
";

/// A rule, and the function that checks it.
struct Check {
    rule: &'static Rule,
    run: fn(&Draft<'_>, &mut Diagnostics),
}

/// Lists checks, by code.
macro_rules! checks {
    ($($name:ident),+ $(,)?) => {
        &[$(Check { rule: &$name::RULE, run: $name::check }),+]
    };
}

const CHECKS: &[Check] = checks![
    unknown_platform,
    os_not_supported,
    too_many_ports,
    breakout_not_offered,
    nic_speed_mismatch,
    link_speed_mismatch,
    blocks_overlap,
    block_off_panel,
    lane_mismatch,
    planes_over_lanes,
    nic_speed_split,
    routing_not_supported,
    no_un,
    own_macs,
    release_unknown,
    release_too_old,
    layout,
    shared_cages,
    cages_twice,
    nic_cages,
    plane_count,
    zero_count,
    nics_over_downlinks,
    rails_of_nics,
    rails_of_groups,
    split_node,
    parallel_split,
    t1_count,
    stated_downlinks,
    t1_radix,
    zones_without_t2,
    t1_uplinks,
    t2_ports,
    t2_count,
    rows,
    oversubscription,
    beyond_numbers,
    sites,
    plane_override,
    slots,
    smaller_zones,
    domain_rule,
    zone_override,
    t2_site,
    rack_rule,
    t0_uplinks,
    node_zones,
    port_order,
    adapters,
    usid_index,
    usid_plane,
    usid_zone,
    usid_roles,
    usid_widths,
    usid_gib,
    container,
    block_length,
    usid_blocks,
    host_bits,
    pool_too_small,
    pools_overlap,
    address_fields,
    management_gateway,
    asn_range,
    broken_pattern,
    same_names,
    long_name,
    fabric_name,
    unusable_pool,
    service_address,
    management_unread,
    management_line,
    management_twice,
    families,
    unknown_medium,
    cable_too_long,
    zero_length,
    t2_cables,
    lossless_lengths,
    qos_profile,
    no_pfc,
    no_trimming,
    mtu_overhead,
    mtu_range,
    entropy_planes,
    entropy_paths,
    entropy_floor,
    udp_port,
    no_ecn,
    pin_routing,
    qps_range,
    pins_unread,
    pin_line,
    pin_twice,
    os_without_qos,
    trim_settings,
    names_nothing,
    names_beyond,
    named_twice,
    contradiction,
    wrong_list,
    no_such_cable,
    bad_range,
    all_drained,
    p4_port,
    route_limit,
    sid_limit,
    ecmp_width,
    neighbour_limit,
    ecmp_groups,
    bgp_bandwidth,
    balance_not_supported,
    w_no_hwsku,
    w_assumed_feature,
    w_known_fault,
    w_oversubscribed,
    w_dark_ports,
    w_no_t2,
    w_rows_unused,
    w_far_t2,
    w_srv6_unused,
    w_parallel_locators,
    w_routing_unused,
    w_public_asn,
    w_ipv4_widths,
    w_negotiation,
    w_software_pause,
    w_software_qos,
    w_buffer_shares,
    w_lossless_traffic,
    w_static_egress,
    w_nearest_shares,
    w_watchdog_times,
    w_trim_number,
    w_agent_values,
    w_unset_queues,
    w_preset_buffers,
    w_no_effect,
    w_absent_anyway,
    w_services_unused,
    w_host_files,
    w_release_unused,
    w_nccl_devices,
    w_no_qp_hash,
    w_ecmp_unused,
    w_agent_files,
    w_assumed_limit,
    w_even_paths,
    w_balance_order,
    w_balance_assumed,
    w_balance_unused,
];

/// Returns every rule of this crate, by code.
pub fn rules() -> Vec<&'static Rule> {
    faults::RULES.iter().copied().chain(CHECKS.iter().map(|check| check.rule)).collect()
}

/// Runs every check.
pub(crate) fn run(draft: &Draft<'_>, diagnostics: &mut Diagnostics) {
    for check in CHECKS {
        (check.run)(draft, diagnostics);
    }
}

/// Adds routing modes to a suggestion: those of `routings` with which the fabric has no error.
pub(crate) fn or_routing(advice: &str, lead: &str, draft: &Draft<'_>, routings: &[Routing]) -> String {
    let does = |routing: &&Routing| {
        let Some(tried) = draft.with_routing(**routing) else { return false };
        let mut found = Diagnostics::new();
        run(&tried, &mut found);
        !found.has_errors()
    };
    let words: Vec<String> =
        routings.iter().filter(does).map(|routing| format!("`routing: {}`", routing.keyword())).collect();
    if words.is_empty() { advice.to_owned() } else { format!("{advice}, or {lead}{}", words.join(" or ")) }
}

/// Rules that reject a single value. The rules of the loader all do, so they are not listed here.
const REFUSALS: &[&Rule] = &[
    &unknown_platform::RULE,
    &layout::RULE,
    &plane_count::RULE,
    &zero_count::RULE,
    &same_names::RULE,
    &release_unknown::RULE,
];

/// Rules about settings of devices. Even if one is violated, the devices and cables of the fabric are known.
const SETTINGS: &[&Rule] = &[
    &os_not_supported::RULE,
    &routing_not_supported::RULE,
    &no_un::RULE,
    &release_unknown::RULE,
    &release_too_old::RULE,
    &usid_gib::RULE,
    &container::RULE,
    &block_length::RULE,
    &usid_blocks::RULE,
    &host_bits::RULE,
    &pool_too_small::RULE,
    &pools_overlap::RULE,
    &management_gateway::RULE,
    &management_unread::RULE,
    &management_line::RULE,
    &management_twice::RULE,
    &asn_range::RULE,
    &unusable_pool::RULE,
    &service_address::RULE,
    &cable_too_long::RULE,
    &zero_length::RULE,
    &lossless_lengths::RULE,
    &qos_profile::RULE,
    &no_pfc::RULE,
    &no_trimming::RULE,
    &mtu_overhead::RULE,
    &mtu_range::RULE,
    &entropy_planes::RULE,
    &entropy_paths::RULE,
    &entropy_floor::RULE,
    &udp_port::RULE,
    &no_ecn::RULE,
    &pin_routing::RULE,
    &qps_range::RULE,
    &os_without_qos::RULE,
    &trim_settings::RULE,
    &p4_port::RULE,
    &route_limit::RULE,
    &sid_limit::RULE,
    &ecmp_width::RULE,
    &neighbour_limit::RULE,
    &ecmp_groups::RULE,
    &bgp_bandwidth::RULE,
    &balance_not_supported::RULE,
];

/// Returns whether every error is about a setting.
pub(crate) fn has_only_setting_errors(found: &Diagnostics) -> bool {
    let is_setting = |code: &str| SETTINGS.iter().any(|rule| rule.code == code);
    found.iter().all(|finding| finding.severity != Severity::Error || is_setting(finding.rule.code))
}

/// Rules about counts and patterns. If one is violated, the devices of the fabric are unknown.
const COUNTS: &[&Rule] = &[
    &plane_count::RULE,
    &zero_count::RULE,
    &rails_of_nics::RULE,
    &rails_of_groups::RULE,
    &adapters::RULE,
    &node_zones::RULE,
    &split_node::RULE,
    &parallel_split::RULE,
    &zones_without_t2::RULE,
    &t0_uplinks::RULE,
    &rows::RULE,
    &beyond_numbers::RULE,
    &smaller_zones::RULE,
    &broken_pattern::RULE,
    &same_names::RULE,
];

/// Returns whether the devices of the fabric are known.
pub(crate) fn are_counts_sound(draft: &Draft<'_>) -> bool {
    let mut found = Diagnostics::new();
    let about_counts = |check: &&Check| COUNTS.iter().any(|rule| rule.code == check.rule.code);
    CHECKS.iter().filter(about_counts).for_each(|check| (check.run)(draft, &mut found));
    !found.has_errors()
}

/// Removes findings that are consequences of another one. If a value is rejected, findings that point at it were
/// computed from it or from its substitute. They disappear once it is fixed.
pub(crate) fn remove_consequences(found: Diagnostics) -> Diagnostics {
    let loader: BTreeSet<&str> = faults::RULES.iter().map(|rule| rule.code).collect();
    let refuses =
        |rule: &Rule| loader.contains(rule.code) || REFUSALS.iter().any(|refusal| refusal.code == rule.code);
    let refused: BTreeSet<Span> =
        found.iter().filter(|finding| refuses(finding.rule)).filter_map(Diagnostic::span).collect();
    let no_names = found.iter().any(|finding| finding.rule.code == same_names::RULE.code);
    found.filter(|finding| {
        let of_names = [names_nothing::RULE.code, names_beyond::RULE.code].contains(&finding.rule.code);
        refuses(finding.rule)
            || !(no_names && of_names || finding.labels.iter().any(|label| refused.contains(&label.span)))
    })
}
