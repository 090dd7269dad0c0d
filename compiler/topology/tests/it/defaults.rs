//! Every default in the reference is the effective value of an absent key.

use closc_diagnostics::{Sources, show};
use closc_platform::Catalogue;
use closc_topology::{Bond, Spans, Topology};

fn topology(text: &str) -> Topology {
    let mut sources = Sources::new();
    let found = match closc_topology::load(&mut sources, "fabric.yaml", text.as_bytes()) {
        Ok(document) => match closc_topology::lower(&document, &Catalogue::builtin(), &sources) {
            (Some(topology), _) => return Topology { spans: Spans::default(), ..topology },
            (None, found) => found,
        },
        Err(found) => found,
    };
    panic!("{}", show::text::all(&found, &sources, show::text::Colour::Plain));
}

/// The document keeps a bond, so that the rule about it can name what to write instead.
#[test]
fn a_bond_is_read() {
    let text = "fabric: a\nplanes: 1\nhosts: { groups: 2, per_group: 2, bond: lacp, nic: { speed: 100G } }\ntiers: \
                { t0: { platform: linux, up: 2 }, t1: { platform: linux } }\n";
    let document = closc_topology::load(&mut Sources::new(), "fabric.yaml", text.as_bytes());
    let bond = document.ok().and_then(|document| document.file.hosts.bond);
    assert_eq!(bond.map(|bond| bond.value), Some(Bond::Lacp));
}

#[test]
fn two_tiers() {
    let short = "
fabric: pod
planes: 2
hosts: { groups: 256, per_group: 128, nic: { speed: 400G } }
tiers:
  t0: { platform: spectrum4-sn5600-256x200g, up: 128 }
  t1: { platform: spectrum4-sn5600-256x200g }
";
    let long = "
fabric: pod
description: ''
planes: 2
routing: srv6-static
zones: 1
hosts: { groups: 256, per_group: 128, nics_per_node: 1, nics_per_adapter: 1, bond: none, rails: 1, nic: { speed: 400G, lanes: 4 }, os: none }
tiers:
  t0:
    platform: spectrum4-sn5600-256x200g
    os: sonic
    down: { count: 128, breakout: 4x200G, spare: 0, first_cage: 0 }
    up: { count: 128, breakout: 4x200G, spare: 0, first_cage: 32 }
    parallel: 1
  t1: { platform: spectrum4-sn5600-256x200g, os: sonic, count: 128, down: 256, parallel: 1 }
srv6:
  block: fcbb:bbbb::/32
  widths: { role: 2, plane: 3, zone: 0, index: 11 }
  roles: { t0: 0, t1: 1, nic: 2, t2: 3 }
addresses:
  hosts: fd00:c105:1::/48
  links: fd00:c105:2::/48
  loopbacks: fd00:c105:3::/64
  asn_base: 4200000000
cables:
  nic-t0: { length: 3m, medium: dac }
  t0-t1: { length: 30m, medium: dr }
mtu: { link: 9216, payload: 9000 }
entropy: { active: 32, backup: 32, min_active: 16, seed: 0, udp_port: 4791 }
qos: lossy-trim
naming: { t0: 'p{plane}-t0-{index:03}', t1: 'p{plane}-t1-{index:03}', t2: 'p{plane}-t2-{index:03}', node: 'su{unit:03}-n{node:03}' }
services: {}
exceptions: {}
";
    assert_eq!(format!("{:#?}", topology(short)), format!("{:#?}", topology(long)));
}

#[test]
fn three_tiers() {
    let short = "
fabric: region
planes: 2
zones: 4
hosts: { groups: 64, per_group: 128, nic: { speed: 400G } }
tiers:
  t0: { platform: spectrum4-sn5600-256x200g, up: 32 }
  t1: { platform: spectrum4-sn5600-256x200g, up: 64 }
  t2: { platform: spectrum4-sn5600-256x200g }
";
    let long = "
fabric: region
planes: 2
zones: 4
hosts: { groups: 64, per_group: 128, nic: { speed: 400G } }
tiers:
  t0: { platform: spectrum4-sn5600-256x200g, up: 32 }
  t1: { platform: spectrum4-sn5600-256x200g, up: 64, count: 32, down: 64 }
  t2: { platform: spectrum4-sn5600-256x200g, count: 64, down: 128, wiring: full, ports_per_zone: 32 }
srv6: { widths: { role: 2, plane: 3, zone: 3, index: 8 } }
cables: { t1-t2: { length: 500m, medium: dr } }
naming:
  t0: 'z{zone}-p{plane}-t0-{index:03}'
  t1: 'z{zone}-p{plane}-t1-{index:03}'
  t2: 'p{plane}-t2-{index:03}'
  node: 'z{zone}-su{unit:03}-n{node:03}'
";
    assert_eq!(format!("{:#?}", topology(short)), format!("{:#?}", topology(long)));
}

#[test]
fn one_default_follows_another_number() {
    let fabric = |mtu: &str, entropy: &str| {
        topology(&format!(
            "{{fabric: f, planes: 2, hosts: {{groups: 4, per_group: 4, nic: {{speed: 200G, lanes: 2}}}}, \
             tiers: {{t0: {{platform: linux, up: 4}}, t1: {{platform: linux}}}}, mtu: {mtu}, entropy: {entropy}}}"
        ))
    };
    let default = fabric("{}", "{}");
    assert_eq!((default.entropy.active, default.entropy.backup, default.entropy.min_active), (8, 0, 4));
    let half = fabric("{link: 4200}", "{active: 4}");
    assert_eq!((half.mtu.payload, half.entropy.backup, half.entropy.min_active), (4160, 4, 2));
}
