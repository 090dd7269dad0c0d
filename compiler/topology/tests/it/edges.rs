//! Random numbers, most of them absurd, in a fabric of the right shape do not cause a panic, and accepted fabrics are
//! sound.

use std::sync::LazyLock;

use closc_artefacts::Routing;
use closc_diagnostics::Sources;
use closc_platform::Catalogue;
use closc_topology::{Nic, PlaneId, PortRef, Side, Switch, TierId, Topology, ZoneId, usid::GIB_MAX};
use proptest::prelude::*;
use proptest::sample::select;

static CATALOGUE: LazyLock<Catalogue> = LazyLock::new(Catalogue::builtin);

fn number() -> impl Strategy<Value = u32> {
    prop_oneof![
        40 => select(vec![1_u32, 2, 4, 8, 16]),
        1 => select(vec![0, 3, 5, 255, 256, 2047, 2048, 4095, 4096, 65_535]),
        1 => any::<u16>().prop_map(u32::from),
    ]
}

fn platform() -> impl Strategy<Value = String> {
    let ids: Vec<String> = CATALOGUE.ids().map(str::to_owned).collect();
    prop_oneof![30 => Just("linux".to_owned()), 1 => select(ids)]
}

/// One `key: value`, or nothing.
fn maybe(key: &'static str, value: impl Strategy<Value = u32>) -> impl Strategy<Value = String> {
    prop::option::weighted(0.3, value)
        .prop_map(move |value| value.map_or_else(String::new, |value| format!(", {key}: {value}")))
}

/// Rarely one `key: value`. Most values are invalid.
fn absurd(key: &'static str) -> impl Strategy<Value = String> {
    prop::option::weighted(0.05, number())
        .prop_map(move |value| value.map_or_else(String::new, |value| format!(", {key}: {value}")))
}

fn tier() -> impl Strategy<Value = String> {
    let block = (number(), maybe("spare", number()), absurd("first_cage"));
    let block = block.prop_map(|(count, spare, cage)| format!("{{count: {count}{spare}{cage}}}"));
    (platform(), block, maybe("parallel", number()))
        .prop_map(|(platform, up, parallel)| format!("platform: {platform}, up: {up}{parallel}"))
}

prop_compose! {
    fn fabric()(
        routing in select(vec!["srv6-static", "ecmp-static", "bgp-unnumbered"]),
        planes in number(),
        [groups, per_group] in [number(), number()],
        nodes in (maybe("nics_per_node", number()), maybe("rails", number())),
        odd in prop::option::weighted(0.1, (select(vec!["100G", "400G", "1.6T", "7M"]), number())),
        [t0, t1] in [tier(), tier()],
        t2 in prop::option::of((platform(), maybe("ports_per_zone", select(vec![16_u32, 64, 125])), maybe("rows", number()), any::<bool>())),
        zones in maybe("zones", number()),
        widths in prop::option::weighted(0.2, (0..9_u32, 0..9_u32)),
    ) -> String {
        let (nics, rails) = nodes;
        let (speed, lanes) = odd.map_or_else(
            || (format!("{}G", planes * 100), planes),
            |(speed, lanes)| (speed.to_owned(), lanes),
        );
        let t1 = if t2.is_some() { t1 } else { t1.split(", up").next().unwrap_or_default().to_owned() };
        let t2 = t2.map_or_else(String::new, |(platform, ports, rows, by_rows)| {
            let wiring = if by_rows { ", wiring: rows" } else { "" };
            format!(", t2: {{platform: {platform}{ports}{rows}{wiring}}}")
        });
        let widths = widths.map_or_else(String::new, |(plane, zone)| {
            let index = 14_u32.saturating_sub(plane + zone);
            format!("role: 2, plane: {plane}, zone: {zone}, index: {index}")
        });
        format!(
            "{{fabric: edge, routing: {routing}, planes: {planes}{zones}, \
             hosts: {{groups: {groups}, per_group: {per_group}{nics}{rails}, nic: {{speed: {speed}, lanes: {lanes}}}}}, \
             tiers: {{t0: {{{t0}}}, t1: {{{t1}}}{t2}}}, srv6: {{widths: {{{widths}}}}}, \
             qos: sonic-ai-lossy}}"
        )
    }
}

fn last_switches(topology: &Topology) -> impl Iterator<Item = Switch> + '_ {
    TierId::ALL.into_iter().filter_map(|tier| {
        let count = topology.count(tier);
        let zone = ZoneId(if tier == TierId::T2 { 0 } else { topology.zones - 1 });
        Some(Switch { plane: PlaneId(topology.planes - 1), tier, zone, index: count.checked_sub(1)? })
    })
}

/// Checks what later stages rely on.
fn sound(topology: &Topology) {
    let nic = Nic {
        zone: ZoneId(topology.zones - 1),
        group: topology.hosts.groups - 1,
        downlink: topology.hosts.per_group - 1,
    };
    let (node, number) = topology.node_of(nic);
    assert_eq!(topology.nic_of(node, number), nic);
    assert!(node.unit < topology.units() && node.index < topology.nodes_per_unit());
    assert_eq!(topology.port_speed(ZoneId(0)), topology.t0.down.breakout.speed);
    for switch in last_switches(topology) {
        let tier = topology.tier(switch.tier).unwrap();
        let name = topology.naming.switch(switch);
        assert!(name.len() <= 63);
        assert_eq!(topology.naming.parse_switch(&name), Some(switch));
        let (platform, os) = topology.hardware(switch);
        assert!(platform.supports(os));
        for (side, block) in [(Side::Down, tier.down), (Side::Up, tier.up)] {
            let Some(index) = (block.count + block.spare).checked_sub(1).filter(|_| block.count > 0) else {
                continue;
            };
            let slot = topology.slot(switch, PortRef { side, index });
            assert!(slot.cage < platform.panel.cages);
            assert_eq!(platform.port(slot).speed, block.breakout.speed);
        }
        if let Some(up) = tier.up.count.checked_sub(1) {
            let (upper, link) = topology.upper(switch, up).expect("an uplink leads somewhere");
            assert!(upper.index < topology.count(upper.tier));
            assert_eq!(topology.uplink(switch, upper, link), Some(up));
            let link_name = topology.link_name(closc_topology::Link::Fabric { lower: switch, up }).unwrap();
            assert_eq!(
                topology.parse_link(&link_name),
                Some(closc_topology::Link::Fabric { lower: switch, up })
            );
        }
        if topology.routing == Routing::Srv6Static {
            let parallel = match switch.tier {
                TierId::T0 => topology.t0.parallel,
                TierId::T1 => topology.t0.parallel.max(topology.t1.parallel),
                TierId::T2 => topology.t1.parallel,
            };
            let usid = topology.srv6.layout.switch(switch, parallel, parallel - 1);
            assert!(usid.0 > 0 && usid.0 <= GIB_MAX);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1000) })]

    #[test]
    fn what_is_accepted_is_sound(text in fabric()) {
        let mut sources = Sources::new();
        let Ok(document) = closc_topology::load(&mut sources, "edge.yaml", text.as_bytes()) else { return Ok(()) };
        let (topology, found) = closc_topology::lower(&document, &CATALOGUE, &sources);
        prop_assert_eq!(topology.is_none(), found.has_errors(), "{}", text);
        if let Some(topology) = topology {
            sound(&topology);
        }
    }
}
