//! Ports of sides that use a share of each cage, by the cages that the file lists.

use closc_diagnostics::Sources;
use closc_platform::Catalogue;
use closc_topology::{PlaneId, PortRef, Side, Switch, TierId, ZoneId};

/// The first port of each side of the first T0.
fn first_ports(down: &str, up: &str) -> [String; 2] {
    let text = format!(
        "fabric: shares\nplanes: 1\nrouting: ecmp-static\nqos: none\n\
         hosts: {{ groups: 16, per_group: 16, nic: {{ speed: 100G, lanes: 1 }} }}\n\
         tiers:\n  t0: {{ platform: th5-512x100g, os: sonic, down: {down}, up: {up} }}\n  \
         t1: {{ platform: th5-512x100g, os: sonic }}\n"
    );
    let mut sources = Sources::new();
    let document =
        closc_topology::load(&mut sources, "shares.yaml", text.as_bytes()).expect("the text is YAML");
    let (topology, _) = closc_topology::lower(&document, &Catalogue::builtin(), &sources);
    let topology = topology.expect("the fabric is valid");
    let switch = Switch { plane: PlaneId(0), tier: TierId::T0, zone: ZoneId(0), index: 0 };
    [Side::Down, Side::Up].map(|side| {
        let slot = topology.slot(switch, PortRef { side, index: 0 });
        topology.hardware(switch).0.port(slot).name.to_string()
    })
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
