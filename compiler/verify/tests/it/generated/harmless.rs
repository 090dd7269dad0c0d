//! Damage that need not be found, each with the reason why it is harmless.

use crate::generated::case::{Case, ChangeKind};

/// A kind of harmless damage.
#[derive(Debug)]
pub(crate) struct Reason {
    /// Table or file; `*` matches any text.
    pub(crate) section: &'static str,
    /// Field or kind of line; empty matches all, `*` matches any text.
    pub(crate) field: &'static str,
    /// Kinds of changes; empty matches all.
    pub(crate) hows: &'static [ChangeKind],
    pub(crate) text: &'static str,
}

/// Returns the index of the reason why a case is harmless.
pub(crate) fn reason(case: &Case) -> Option<usize> {
    let fits = |pattern: &str, text: &str| {
        // Pieces between stars must occur in order; the first and the last must be at the ends.
        let pieces: Vec<&str> = pattern.split('*').collect();
        let mut rest = Some(text);
        for (at, piece) in pieces.iter().copied().enumerate() {
            rest = rest.and_then(|rest| match at {
                0 => rest.strip_prefix(piece),
                _ if at + 1 == pieces.len() => rest.ends_with(piece).then_some(""),
                _ => rest.find(piece).map(|found| &rest[found + piece.len()..]),
            });
        }
        rest.is_some_and(|rest| pieces.len() > 1 || rest.is_empty())
    };
    REASONS.iter().position(|reason| {
        fits(reason.section, &case.section)
            && (reason.field.is_empty() || fits(reason.field, &case.field))
            && (reason.hows.is_empty() || reason.hows.contains(&case.change_kind))
    })
}

const fn because(
    section: &'static str,
    field: &'static str,
    hows: &'static [ChangeKind],
    text: &'static str,
) -> Reason {
    Reason { section, field, hows, text }
}

/// Removals, on one device or on all.
const GONE: &[ChangeKind] = &[ChangeKind::Lost, ChangeKind::LostEverywhere];

/// Larger numbers, on one device or on all.
const LARGER: &[ChangeKind] = &[ChangeKind::Larger, ChangeKind::LargerEverywhere];

/// Moved to another port by a larger number, or removed.
const MISSING: &[ChangeKind] =
    &[ChangeKind::Lost, ChangeKind::LostEverywhere, ChangeKind::Larger, ChangeKind::LargerEverywhere];

pub(crate) const REASONS: &[Reason] = &[
    because("config_db.json CRM", "", &[], "the polling interval of counters affects no packet"),
    because("config_db.json DEVICE_NEIGHBOR_METADATA", "", GONE, "read by tools that draw maps"),
    because("config_db.json LLDP", "", &[], "forwarding does not depend on LLDP"),
    because("config_db.json MGMT_PORT", "", &[], "the management network is the site's"),
    because("config_db.json MGMT_INTERFACE", "", &[], "the management network is the site's"),
    because("config_db.json DEVICE_METADATA", "cluster", &[], "a name for people"),
    because(
        "config_db.json DEVICE_METADATA",
        "default_*",
        &[],
        "sessions and watchdogs are configured explicitly",
    ),
    because("config_db.json DEVICE_METADATA", "synchronous_mode", &[], "how orchagent waits for its chip"),
    because(
        "config_db.json DEVICE_METADATA",
        "docker_routing_config_mode",
        GONE,
        "without it SONiC does the same",
    ),
    because(
        "config_db.json DEVICE_METADATA",
        "frr_mgmt_framework_config",
        GONE,
        "without it SONiC does the same",
    ),
    because("config_db.json DEVICE_METADATA", "buffer_model", GONE, "without it SONiC does the same"),
    because("config_db.json PORT", "description", &[], "a text for people"),
    because("daemons", "", &[ChangeKind::Twice], "a repeated line has no effect"),
    because("daemons", "*", LARGER, "any address of the loopback network, or a larger buffer"),
    because("daemons", "*=no", GONE, "FRR does not start a daemon that the file omits"),
    because("devices.batch*", "", &[ChangeKind::Twice], "`ip -force` continues if the device exists"),
    because(
        "*.txtpb ingress.nic_source",
        "the entity",
        GONE,
        "no device of the fabric sends from the address of a cable",
    ),
    because("eos.conf", "", &[ChangeKind::Twice], "a command that is entered again does the same"),
    because("eos.conf", "description *", &[], "a text for people"),
    because("eos.conf", "end", GONE, "the end of the file has the same effect"),
    because("eos.conf", "interface Loopback#", LARGER, "another number that no other interface has"),
    because("eos.conf", "interface Management#", LARGER, "the management network is the site's"),
    because(
        "eos.conf",
        "ip address #",
        &[ChangeKind::LostEverywhere],
        "the management network is the site's",
    ),
    because(
        "eos.conf",
        "match as-path length <= #",
        &[ChangeKind::LostEverywhere, ChangeKind::LargerEverywhere],
        "the prefix list alone permits only owned prefixes",
    ),
    because("eos.conf", "maximum-paths # ecmp #", &[ChangeKind::Lost], "a T1 has one cable to each T0"),
    because("eos.conf", "neighbor * # interval # min-rx # multiplier #", GONE, "EOS's own default"),
    because(
        "eos.conf",
        "neighbor ABOVE maximum-routes #",
        &[ChangeKind::LargerEverywhere],
        "a higher limit rejects no route of the fabric",
    ),
    because(
        "eos.conf",
        "neighbor BELOW* maximum-routes #",
        LARGER,
        "a higher limit rejects no route of the fabric",
    ),
    because(
        "eos.conf",
        "neighbor * missing-policy address-family all direction *",
        &[ChangeKind::LostEverywhere, ChangeKind::LargerEverywhere],
        "every session has its policies",
    ),
    because("eos.conf", "neighbor * out-delay #", GONE, "EOS's own default"),
    because(
        "eos.conf",
        "neighbor BELOW_DRAINED route-map BELOW-OUT out",
        GONE,
        "a drained cable carries nothing",
    ),
    because("eos.conf", "no shutdown", GONE, "EOS's own default"),
    because("eos.conf", "priority strict", GONE, "EOS's own default"),
    because("eos.conf", "route-map *", LARGER, "another number in the same order"),
    because(
        "eos.conf",
        "seq # permit #",
        &[ChangeKind::Lost, ChangeKind::Foreign],
        "announces a loopback, to which no NIC sends",
    ),
    because(
        "eos.conf",
        "seq # permit *",
        LARGER,
        "another number in the order of a list in which every line permits",
    ),
    because(
        "eos.conf",
        "set local-preference #",
        &[ChangeKind::LargerEverywhere],
        "still the lowest preference",
    ),
    because("nicN.env of nodes", "FABRIC=*", &[], "a name for people"),
    because("nicN.env of nodes", "METRICS=#", &[], "where counters are read"),
    because("pins.txtpb ingress.l3_admit*", "priority: #", LARGER, "the only entry of its table"),
    because(
        "frr.conf",
        "",
        &[ChangeKind::Twice],
        "vtysh accepts a repeated line; a repeated `exit` is found",
    ),
    because("frr.conf", "description *", &[], "a text for people"),
    because("frr.conf", "exit*", GONE, "vtysh finds the node of a command itself"),
    because("frr.conf", "end", &[], "vtysh finds the node of a command itself"),
    because(
        "frr.conf",
        "frr *",
        &[],
        "the origin of the file; settings whose defaults depend on it are configured explicitly",
    ),
    because("frr.conf", "hostname *", GONE, "the prompt of the shell of FRR"),
    because("frr.conf", "log *", &[], "the destination of log messages affects no packet"),
    because(
        "frr.conf",
        "service integrated-vtysh-config",
        &[],
        "FRR reads a complete `frr.conf` if there is one",
    ),
    because(
        "frr.conf",
        "no zebra nexthop kernel enable",
        &[],
        "the form in which the kernel stores next hops",
    ),
    because(
        "frr.conf",
        "ipv# nd ra-interval #",
        &[],
        "the interval of router advertisements; neighbours also solicit them",
    ),
    because("frr.conf", "detect-multiplier #", GONE, "FRR's own default"),
    because("frr.conf", "transmit-interval #", GONE, "FRR's own default"),
    because("frr.conf", "receive-interval #", GONE, "FRR's own default"),
    because("frr.conf", "bgp graceful-restart restart-time #", GONE, "FRR's own default"),
    because(
        "frr.conf",
        "bgp bestpath as-path multipath-relax",
        GONE,
        "switches of a tier and plane share one AS number",
    ),
    because("frr.conf", "match as-path AT-MOST-#", GONE, "the prefix list alone permits only owned prefixes"),
    because(
        "frr.conf",
        "bgp as-path access-list *",
        &[],
        "the prefix list alone permits only owned prefixes",
    ),
    because("frr.conf", "route-map *", LARGER, "another number in the same order"),
    because("ip.batch*", "", &[ChangeKind::Twice], "`replace` and `set` do the same again"),
    because(
        "ip.batch*",
        "link set dev sr# addrgenmode none",
        GONE,
        "an unused link-local address; if the device is missing, it is found",
    ),
    because(
        "ip.batch of nodes",
        "route replace blackhole *",
        LARGER,
        "any metric above that of other routes",
    ),
    because("tc.batch", "", &[ChangeKind::Twice], "the kernel does the same again"),
    because("manifest.json *", "source", &[], "what it was compiled from"),
    because("manifest.json *", "inputs", &[], "what it was compiled from"),
    because("manifest.json *", "closc", &[], "what compiled it"),
    because("manifest.json *", "counts.paths_*", &[], "the proof counts paths itself"),
    because("manifest.json *", "counts.zones", &[], "the proof counts zones itself"),
    because("manifest.json *", "counts.nodes", &[], "the proof counts nodes itself"),
    because(
        "manifest.json (FRRouting)",
        "profile.*",
        &[],
        "settings that this target does not write are not compared",
    ),
    because(
        "manifest.json (P4)",
        "profile.*",
        &[],
        "settings that this target does not write are not compared",
    ),
    because(
        "*.txtpb ingress.nic_source",
        "value: *",
        LARGER,
        "no device of the fabric sends from the address of a cable",
    ),
    because("*.txtpb ingress.punt", "priority: #", LARGER, "the only entry of its table"),
    because(
        "*.txtpb ingress.punt",
        "value: *",
        LARGER,
        "only the reason code that the CPU gets with a packet",
    ),
    because("frr.conf", "bgp community-list *", LARGER, "another number in the same order"),
    because("frr.conf", "bgp ebgp-requires-policy", GONE, "every session has its policies"),
    because(
        "frr.conf",
        "ipv# prefix-list OWN *",
        &[ChangeKind::Lost, ChangeKind::Foreign],
        "announces a loopback, to which no NIC sends",
    ),
    because(
        "frr.conf",
        "match ipv# address prefix-list OWN",
        GONE,
        "the list of AS paths alone permits only owned prefixes",
    ),
    because("frr.conf", "maximum-paths #", GONE, "the default is the maximum that FRR is built for"),
    because(
        "frr.conf",
        "neighbor ABOVE maximum-prefix *",
        &[ChangeKind::LargerEverywhere],
        "a higher limit rejects no route of the fabric; a missing limit, or damage elsewhere in the line, is found",
    ),
    because(
        "frr.conf",
        "neighbor BELOW maximum-prefix *",
        &[ChangeKind::LargerEverywhere],
        "a higher limit rejects no route of the fabric; a missing limit, or damage elsewhere in the line, is found",
    ),
    because(
        "frr.conf",
        "set extcommunity bandwidth cumulative",
        &[ChangeKind::LostEverywhere],
        "FRR announces the sum of the paths in use by default",
    ),
    because(
        "frr.conf",
        "set extcommunity bandwidth #",
        &[ChangeKind::LargerEverywhere],
        "all cables of a tier are equal, and only ratios count",
    ),
    because(
        "frr.conf",
        "set extcommunity bandwidth #",
        &[ChangeKind::LostEverywhere],
        "all paths are equal if no cable is absent; in a fabric with absent cables it is found",
    ),
    because(
        "frr.conf",
        "ipv# prefix-list *",
        LARGER,
        "another number in the order of a list in which every line permits",
    ),
    because(
        "frr.conf",
        "set local-preference #",
        &[ChangeKind::LargerEverywhere],
        "still the lowest preference",
    ),
    because(
        "ip.batch",
        "link set dev eth# address *",
        &[ChangeKind::Foreign, ChangeKind::Larger, ChangeKind::LargerEverywhere],
        "neighbours of unnumbered ports find each other, whatever their MAC addresses are",
    ),
    because("ip.batch of nodes", "route replace # via *", LARGER, "another metric of the only route"),
    because(
        "manifest.json (SONiC)",
        "profile.switches.#.buffer.total_bytes",
        &[],
        "without PFC, no pool is as large as the complete buffer",
    ),
    because(
        "manifest.json (SONiC)",
        "profile.switches.#.buffer.cell_bytes",
        &[ChangeKind::Other],
        "the buffer is a multiple of both cell sizes",
    ),
    because(
        "manifest.json (SONiC)",
        "profile.switches.#.buffer.headroom_ratio",
        &[],
        "headroom is shared only with PFC",
    ),
    because(
        "manifest.json (SONiC)",
        "profile.switches.#.ports.#.marks_by_room.#",
        &[],
        "fixed thresholds apply to pools of any size",
    ),
    because("manifest.json *", "counts.nics", &[], "NICs are counted only where path tables list them"),
    because("manifest.json *", "fabric", &[], "a name for people"),
    because(
        "manifest.json (SONiC)",
        "profile.switches.#.ports.#.lanes",
        &[],
        "the error correction stays the same",
    ),
    because(
        "nic-qos.sh of nodes",
        "port nic*",
        &[ChangeKind::Foreign],
        "the same port and length; the comment behind is for people",
    ),
    because("netplan.yaml of nodes", "dhcp# false", GONE, "netplan's own default"),
    because("netplan.yaml of nodes", "renderer: networkd", GONE, "netplan's own default"),
    because("netplan.yaml of nodes", "match: {name: lo}", GONE, "an interface is found by its key"),
    because("netplan.yaml of nodes", "- {from: *", LARGER, "a later rule, still before the main table"),
    because("netplan.yaml of nodes", "- {to: *", LARGER, "another metric of the only route"),
    because(
        "netplan.yaml of nodes",
        "- {to: *",
        &[ChangeKind::Lost],
        "a shorter prefix of the table has the same T0",
    ),
    because(
        "networkd*",
        "",
        &[ChangeKind::Twice],
        "the last of two equal settings counts, and an empty section has no effect",
    ),
    because("networkd port.network of nodes", "DHCP=no", GONE, "networkd's own default"),
    because("networkd port.network of nodes", "Metric=#", MISSING, "another metric of the only route"),
    because(
        "networkd port.network of nodes",
        "Priority=#",
        &[ChangeKind::Larger],
        "a later rule, still before the main table",
    ),
    because(
        "networkd port.network of nodes",
        "Table=#",
        &[ChangeKind::LargerEverywhere],
        "tables with other numbers, in routes and rules equally",
    ),
    because("networkd port.link of nodes", "MTUBytes=#", GONE, "the `.network` unit of the port sets it"),
    because("path tables (JSON)", "destinations.#.zone", GONE, "the first zone is the default"),
    because(
        "path tables (JSON)",
        "entropy.seed",
        &[],
        "the seed of the orders; the orders themselves are compared",
    ),
    because(
        "nvue.yaml interface",
        "eth#*",
        &[ChangeKind::LostEverywhere],
        "the management network is the site's",
    ),
    because("nvue.yaml interface", "swp#s#.description", GONE, "a text for people"),
    because(
        "nvue.yaml interface",
        "swp#.link.breakout.#x.lanes-per-port",
        GONE,
        "ports share the lanes of a cage evenly",
    ),
    because("nvue.yaml interface", "swp#:", &[ChangeKind::Twice], "a cage without cables"),
    because("nvue.yaml interface", "swp#s# without a cable*", &[], "no cable uses the port"),
    because("nvue.yaml qos", "congestion-control.*.red", GONE, "NVUE's own default"),
    because(
        "nvue.yaml qos",
        "congestion-control.*.traffic-class.#:",
        &[ChangeKind::Lost, ChangeKind::Twice, ChangeKind::Other],
        "the queue has no ECN marking, with or without its line",
    ),
    because("nvue.yaml qos", "*-#g:", &[ChangeKind::Twice], "a profile that no port uses"),
    because("nvue.yaml qos", "pfc.cable-#m:", &[ChangeKind::Twice], "a profile that no port uses"),
    because("nvue.yaml router", "*.locator.LOC#.func-length", GONE, "NVUE's own default"),
    because("nvue.yaml router", "*.locator.LOC#.node-length", GONE, "NVUE's own default"),
    because("nvue.yaml router", "bgp.autonomous-system", &[], "the number of the VRF is used"),
    because("nvue.yaml router", "bgp.router-id", GONE, "the identifier of the VRF is used"),
    because("nvue.yaml router", "bgp.graceful-restart.restart-time", GONE, "NVUE's own default"),
    because("nvue.yaml router", "bfd.profile.FABRIC.*", GONE, "NVUE's own default"),
    because(
        "nvue.yaml router",
        "*:",
        &[ChangeKind::Twice],
        "a rule that repeats another, or a list that nothing refers to",
    ),
    because("nvue.yaml router", "policy.*.description", &[], "a text for people"),
    because(
        "nvue.yaml router",
        "policy.*.rule.#:",
        &[ChangeKind::Other, ChangeKind::OtherEverywhere, ChangeKind::Swapped],
        "another number in the same order, or in the order of a list in which every rule permits",
    ),
    because(
        "nvue.yaml router",
        "policy.route-map.*.match.as-path-list",
        GONE,
        "the prefix list alone permits only owned prefixes",
    ),
    because(
        "nvue.yaml router",
        "policy.route-map.ABOVE_OUT.rule.#.match.ip-prefix-list",
        &[ChangeKind::LostEverywhere],
        "the list of AS paths alone permits only owned prefixes",
    ),
    because(
        "nvue.yaml router",
        "policy.route-map.BELOW_OUT.rule.#.match*",
        &[ChangeKind::LostEverywhere],
        "the switches below accept only prefixes of the fabric",
    ),
    because(
        "nvue.yaml router",
        "policy.route-map.BELOW_OUT.rule.#.set*",
        &[ChangeKind::LostEverywhere],
        "all paths are equal if no cable is absent",
    ),
    because(
        "nvue.yaml router",
        "policy.route-map.*.set.ext-community-bw",
        &[ChangeKind::MovedEverywhere, ChangeKind::LargerEverywhere],
        "all cables of a tier are equal, and only ratios count",
    ),
    because(
        "nvue.yaml router",
        "policy.route-map.ABOVE_IN_DRAINED*",
        &[
            ChangeKind::Lost,
            ChangeKind::Empty,
            ChangeKind::Other,
            ChangeKind::Larger,
            ChangeKind::Foreign,
            ChangeKind::Moved,
        ],
        "no cable of the switch is drained; on switches with a drained cable, these changes are found",
    ),
    because(
        "nvue.yaml router",
        "policy.prefix-list.OWN*",
        &[ChangeKind::Lost, ChangeKind::Other, ChangeKind::Foreign],
        "only route maps of T0s refer to the list, and there it is found",
    ),
    because(
        "nvue.yaml router",
        "policy.prefix-list.FABRIC.rule.#.match.#*",
        &[
            ChangeKind::Lost,
            ChangeKind::LostEverywhere,
            ChangeKind::Moved,
            ChangeKind::MovedEverywhere,
            ChangeKind::OtherEverywhere,
        ],
        "the list still gives every announced prefix the same result",
    ),
    because(
        "nvue.yaml vrf",
        "default.router.bgp.autonomous-system",
        GONE,
        "the number of the router is used",
    ),
    because("nvue.yaml vrf", "default.router.bgp.router-id", GONE, "the identifier of the router is used"),
    because("nvue.yaml vrf", "default.router.bgp.timers.route-advertisement", GONE, "NVUE's own default"),
    because("nvue.yaml vrf", "*.multipaths*", GONE, "NVUE's own default"),
    because(
        "nvue.yaml vrf",
        "*.multipaths.ebgp",
        &[ChangeKind::Moved, ChangeKind::MovedEverywhere],
        "a number above that of all next hops",
    ),
    because(
        "nvue.yaml vrf",
        "*.path-selection*",
        &[ChangeKind::Lost, ChangeKind::LostEverywhere, ChangeKind::OtherEverywhere],
        "switches of a tier and plane share one AS number",
    ),
    because(
        "nvue.yaml vrf",
        "*.prefix-limits.inbound.maximum",
        &[ChangeKind::LargerEverywhere, ChangeKind::MovedEverywhere],
        "a higher limit rejects no route of the fabric",
    ),
    because(
        "nvue.yaml vrf",
        "*.peer-group.BELOW_DRAINED.*.prefix-limits.inbound.maximum",
        &[ChangeKind::Larger, ChangeKind::Moved],
        "a higher limit rejects no route of the fabric",
    ),
    because(
        "nvue.yaml vrf",
        "*.peer-group.BELOW_DRAINED.*.policy.outbound*",
        GONE,
        "a drained cable carries nothing",
    ),
    because(
        "nvue.yaml vrf",
        "*.peer-group.BELOW.*.policy.outbound*",
        &[ChangeKind::LostEverywhere],
        "the switches below accept only prefixes of the fabric, and all their paths are equal",
    ),
    because("nvue.yaml vrf", "*.peer-group.*:", &[ChangeKind::Twice], "a group that no session is in"),
    because(
        "nvue.yaml vrf",
        "default.router.static.#:",
        &[ChangeKind::Twice],
        "drops a part of what the route with the shorter prefix drops",
    ),
    because(
        "nccl-topology.xml of nodes",
        "<cpu numaid=*",
        &[ChangeKind::LargerEverywhere],
        "no other file has the NUMA nodes, and NCCL measures distances below the PCI switch",
    ),
    because("routes.batch of nodes", "", &[ChangeKind::Twice], "`replace` does the same again"),
    because("sysctl.conf*", "net.ipv#.seg6_flowlabel# = #", GONE, "the kernel's own default"),
    because("sysctl.conf*", "", &[ChangeKind::Twice], "a repeated line has no effect"),
    because(
        "sysctl.conf*",
        "net.ipv#.conf.default.*",
        GONE,
        "the default of new devices; existing ports have their own setting or that of `all`",
    ),
    because(
        "sysctl.conf*",
        "net.ipv#.conf.all.accept_*",
        GONE,
        "the kernel uses the setting of the port, which exists",
    ),
    because(
        "sysctl.conf",
        "net.ipv#.conf.eth#.accept_ra = #",
        MISSING,
        "a device that forwards ignores router advertisements (`ipv6_accept_ra`)",
    ),
    because(
        "sysctl.conf",
        "net.ipv#.conf.eth#.accept_redirects = #",
        MISSING,
        "a device that forwards ignores redirects (`ndisc_redirect_rcv`)",
    ),
    because(
        "sysctl.conf*",
        "*.autoconf = #",
        MISSING,
        "these addresses need router advertisements, which the device ignores",
    ),
    because("sysctl.conf*", "*.accept_dad = #", MISSING, "addresses have `nodad`"),
    because(
        "sysctl.conf*",
        "*.router_solicitations = #",
        MISSING,
        "solicits router advertisements, which the device ignores",
    ),
    because(
        "sysctl.conf*",
        "*.mldv2_unsolicited_report_interval#*",
        MISSING,
        "the interval of multicast reports, which no device of the fabric reads",
    ),
];
