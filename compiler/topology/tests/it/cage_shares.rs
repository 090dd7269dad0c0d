//! Ports of both sides of a switch, with the cages or the layout that the file states.

use closc_diagnostics::Sources;
use closc_platform::Catalogue;
use closc_topology::{PlaneId, PortRef, Side, Switch, TierId, Topology, ZoneId};

/// A fabric of 16 groups with the given NICs per group and ports of T0s.
fn topology(per_group: u16, ports: &str) -> Topology {
    let text = format!(
        "fabric: shares\nplanes: 1\nrouting: ecmp-static\nqos: none\n\
         hosts: {{ groups: 16, per_group: {per_group}, nic: {{ speed: 100G, lanes: 1 }} }}\n\
         tiers:\n  t0: {{ platform: th5-512x100g, os: sonic, {ports} }}\n  \
         t1: {{ platform: th5-512x100g, os: sonic }}\n"
    );
    lowered(&text)
}

fn lowered(text: &str) -> Topology {
    let mut sources = Sources::new();
    let document =
        closc_topology::load(&mut sources, "shares.yaml", text.as_bytes()).expect("the text is YAML");
    let (topology, _) = closc_topology::lower(&document, &Catalogue::builtin(), &sources);
    topology.expect("the fabric is valid")
}

/// The alias of the first port of each side of a T0. Its cages have eight lanes of 50G.
fn aliases(down: &str, up: &str) -> [String; 2] {
    let text = format!(
        "fabric: shares\nplanes: 1\nrouting: ecmp-static\nqos: none\n\
         hosts: {{ groups: 16, per_group: 16, nic: {{ speed: 100G, lanes: 4 }} }}\n\
         tiers:\n  t0: {{ platform: dellemc-z9332f-d1508, os: sonic, down: {down}, up: {up} }}\n  \
         t1: {{ platform: dellemc-z9332f-d1508, os: sonic, down: {{ breakout: 1x100G(4) }} }}\n"
    );
    let topology = lowered(&text);
    [Side::Down, Side::Up].map(|side| {
        let switch = Switch { plane: PlaneId(0), tier: TierId::T0, zone: ZoneId(0), index: 0 };
        let slot = topology.slot(switch, PortRef { side, index: 0 });
        topology.hardware(switch).0.port(slot).alias.to_string()
    })
}

/// A single port on the first lanes has the alias of its cage, unless the uplinks have the other lanes.
#[test]
fn the_alias_of_a_single_port_depends_on_the_other_lanes() {
    let down = "{ breakout: 1x100G(4), cages: [0-15] }";
    let apart = aliases(down, "{ count: 16, breakout: 1x100G(4), cages: [16-31] }");
    assert_eq!(apart, ["etp1", "etp17"]);
    let shared = aliases(down, "{ count: 16, breakout: 1x100G(4), cages: [0-15] }");
    assert_eq!(shared, ["etp1a", "etp1b"]);
    let unlisted = aliases("{ breakout: 1x100G(4) }", "{ count: 16, breakout: 1x100G(4) }");
    assert_eq!(unlisted, ["etp1", "etp17"], "cages of their own");
}

/// The name of a port of the first T0.
fn port(topology: &Topology, side: Side, index: u16) -> String {
    let switch = Switch { plane: PlaneId(0), tier: TierId::T0, zone: ZoneId(0), index: 0 };
    let slot = topology.slot(switch, PortRef { side, index });
    topology.hardware(switch).0.port(slot).name.to_string()
}

/// The first port of each side.
fn first_ports(down: &str, up: &str) -> [String; 2] {
    let topology = topology(16, &format!("down: {down}, up: {up}"));
    [Side::Down, Side::Up].map(|side| port(&topology, side, 0))
}

/// sonic-mgmt `t0-isolated-d256u256s2`: uplinks are on cages 8-23 and 40-55, downlinks on the others.
#[test]
fn a_layout_has_several_runs_of_uplinks() {
    for ports in ["layout: d256u256s2, up: 256", "up: { count: 256, cages: [8-23, 40-55] }"] {
        let topology = topology(256, ports);
        let names = |side, indices: [u16; 4]| indices.map(|index| port(&topology, side, index));
        let up = names(Side::Up, [0, 127, 128, 255]);
        assert_eq!(up, ["Ethernet64", "Ethernet191", "Ethernet320", "Ethernet447"], "{ports}");
        let down = names(Side::Down, [63, 64, 192, 255]);
        assert_eq!(down, ["Ethernet63", "Ethernet192", "Ethernet448", "Ethernet511"], "{ports}");
    }
}

#[test]
fn uplinks_have_the_first_lanes_of_cages_that_they_list_alone() {
    let down = "{ breakout: 1x100G(1), cages: [0-15] }";
    let apart = first_ports(down, "{ count: 16, breakout: 1x100G(1), cages: [16-31] }");
    assert_eq!(apart, ["Ethernet0", "Ethernet128"]);
    let shared = first_ports(down, "{ count: 16, breakout: 1x100G(1), cages: [0-15] }");
    assert_eq!(shared, ["Ethernet0", "Ethernet7"]);
    // Without a list, growth of the downlinks could reach these cages, so the uplinks keep the last lanes.
    let unlisted = first_ports("{ breakout: 1x100G(1) }", "{ count: 16, breakout: 1x100G(1) }");
    assert_eq!(unlisted, ["Ethernet0", "Ethernet263"]);
}
