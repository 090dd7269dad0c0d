//! Two sites 80 km apart: the effect of distance on delay, headroom and ECN thresholds, and sites of different size.

use closc_plan::{Plan, SwitchQos};
use closc_qos::units::{Bytes, Length};
use closc_tests::shape::plan;
use closc_topology::{Switch, TierId, ZoneId};

fn region() -> Plan {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../topologies/reference/region-two-sites.yaml");
    plan(&std::fs::read_to_string(file).unwrap())
}

fn first(plan: &Plan, tier: TierId, zone: u16) -> Switch {
    plan.switches().find(|switch| switch.tier == tier && switch.zone == ZoneId(zone)).unwrap()
}

/// Returns XOFF and the lower ECN threshold of the data class for the kind of port with a cable of this length.
fn port(plan: &Plan, switch: Switch, meters: u32) -> (Bytes, Bytes) {
    let intent = plan.device(switch);
    let qos = SwitchQos::of(&intent).unwrap();
    let kind = qos.kinds.iter().position(|kind| kind.cable == Length::from_meters(meters)).unwrap();
    let headroom = qos.buffers.as_ref().unwrap().headroom(kind).unwrap().xoff;
    (headroom, qos.marks[kind][&intent.qos.data().queue].min())
}

#[test]
fn eighty_kilometres_are_eight_hundred_microseconds_and_forty_megabytes() {
    let plan = region();
    let delay = plan.delay();
    let value = |name| delay.terms.term(name).unwrap().value.to_string();
    // 2 x (3 + 50) m in the halls, 200 m to the T2, 80 km to the other site.
    assert_eq!(value("cable"), "80306");
    // 2 x 80,306 m / 198,000,000 m/s.
    assert_eq!(value("propagation"), "811171.717");
    assert!((818_000..821_000).contains(&delay.base_rtt.0), "{:?}", delay.base_rtt);
    // Round-trip time x 50 B/ns.
    assert_eq!(delay.bdp, Bytes(delay.base_rtt.0 * 50));
}

#[test]
fn both_ends_of_the_long_cable_hold_what_is_under_way() {
    let plan = region();
    for switch in [first(&plan, TierId::T1, 1), first(&plan, TierId::T2, 0)] {
        // The published row is 53,305,344; the line through all rows exceeds it by at most 0.1 %.
        let headroom = port(&plan, switch, 80_000).0.0;
        assert!((53_305_344..53_360_000).contains(&headroom), "{headroom}");
    }
    let near = port(&plan, first(&plan, TierId::T1, 0), 200).0;
    // The shortest published row of the line card is 2 km: 2,850,816 at 800G. Shorter cables use at least half of that.
    assert!(near < Bytes(1_500_000), "{near:?}");
}

#[test]
fn marking_begins_late_where_far_flows_come_together_and_early_in_the_hall() {
    let plan = region();
    let far = plan.delay().bdp;
    let (_, converging) = port(&plan, first(&plan, TierId::T2, 0), 80_000);
    // In whole cells of 256 B.
    assert!(converging.0.abs_diff(far.0) < 256, "{converging:?} {far:?}");
    let (_, hall) = port(&plan, first(&plan, TierId::T0, 0), 3);
    assert!(hall < Bytes(1_000_000), "{hall:?}");
}

#[test]
fn a_smaller_site_leaves_holes_and_renumbers_nothing() {
    let plan = region();
    let nics = |zone| plan.fabric().nics().filter(|nic| nic.zone == ZoneId(zone)).count();
    assert_eq!((nics(0), nics(1)), (1024, 512));
    let text = std::fs::read_to_string(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../topologies/reference/region-two-sites.yaml"
    ));
    let grown = closc_tests::shape::plan(
        &text.unwrap().replace("groups_by_zone: { 1: 8 }", "groups_by_zone: { 1: 16 }"),
    );
    for node in plan.nodes() {
        let (old, new) = (plan.host(node), grown.host(node));
        assert_eq!(old.name, new.name);
        for (old, new) in old.nics.iter().zip(&new.nics) {
            assert_eq!((old.address, &old.ports), (new.address, &new.ports));
        }
    }
    for switch in plan.switches() {
        let (old, new) = (plan.device(switch), grown.device(switch));
        assert_eq!((old.name, old.system.loopback), (new.name, new.system.loopback));
        for (old, new) in old.ports.iter().zip(&new.ports) {
            assert_eq!(old.physical, new.physical);
            assert!(old.connection.is_none() || old.connection == new.connection);
        }
    }
}

/// Zones with 400G and 200G per NIC port. A third of the fabric is 80 km away, with its own T0s and T1s.
fn mixed_plan(second: &str) -> Plan {
    plan(&format!(
        "fabric: mixed
planes: 1
zones: 3
routing: ecmp-static
hosts: {{ groups: 2, per_group: 4, nic: {{ speed: 400G }}, {second} }}
tiers:
  t0: {{ platform: th5-128x400g, up: 4, by_zone: {{ 1: {{ platform: spectrum4-sn5600-256x200g }} }} }}
  t1: {{ platform: th5-128x400g, up: 2, by_zone: {{ 1: {{ platform: spectrum4-sn5600-256x200g, up: {{ breakout: 2x400G }} }} }} }}
  t2: {{ platform: th5-128x400g, os: sonic, ports_per_zone: 8 }}
cables:
  nic-t0: {{ length: 3m, medium: aec }}
  t0-t1: {{ length: 30m, medium: dr4 }}
  t1-t2: {{ length: 300m, medium: dr4 }}
  by_zone: {{ 1: {{ length: 80km, medium: zr }}, 2: {{ length: 40km, medium: zr }} }}
"
    ))
}

const SLOW: &str = "nic_by_zone: { 1: { speed: 200G } }";

#[test]
fn every_zone_has_its_own_farthest_neighbour_and_rate() {
    let plan = mixed_plan(SLOW);
    let cable = |delay: &closc_qos::bdp::Delay| delay.terms.term("cable").unwrap().value.to_string();
    let delays = [0, 1, 2].map(|zone| plan.delay_from(ZoneId(zone)));
    // 2 x (3 + 30) m in the halls; 300 m and 80 km, 80 and 40 km, 40 and 80 km to the T2.
    assert_eq!(delays.map(cable), ["80366", "120066", "120066"]);
    let bytes = |zone: usize, mbps: u64| delays[zone].base_rtt.0 * mbps / 8_000;
    assert_eq!(delays[1].bdp.0, bytes(1, 200_000));
    assert_eq!(delays[2].bdp.0, bytes(2, 400_000));
    assert_eq!(plan.delay().base_rtt, delays[1].base_rtt, "switches mark for the longest path of all");
    let tables = [0, 1].map(|zone| plan.path_table(ZoneId(zone), 0).delay.base_rtt);
    assert_eq!(tables, [delays[0].base_rtt, delays[1].base_rtt]);
}

#[test]
fn a_zone_of_other_hardware_has_its_own_ports_and_names_and_moves_nothing() {
    let (plan, all) = (mixed_plan(SLOW), mixed_plan(&format!("{SLOW}, per_group_by_zone: {{ 1: 2 }}")));
    let speeds = |tier, zone| {
        let device = plan.device(first(&plan, tier, zone));
        let mut speeds: Vec<u32> =
            device.ports.iter().map(|port| port.physical.speed.mbps() / 1000).collect();
        speeds.dedup();
        (device.hardware.to_string(), speeds)
    };
    assert_eq!(speeds(TierId::T0, 1).1, [200]);
    assert_eq!(speeds(TierId::T1, 1).1, [200, 400]);
    assert_eq!(speeds(TierId::T0, 0).1, [400]);
    assert_ne!(speeds(TierId::T0, 0).0, speeds(TierId::T0, 1).0);
    // Positions of missing NICs stay reserved.
    let nics = |plan: &Plan, zone| plan.fabric().nics().filter(|nic| nic.zone == ZoneId(zone)).count();
    assert_eq!([0, 1, 2].map(|zone| nics(&all, zone)), [8, 4, 8]);
    for nic in all.fabric().nics() {
        assert!(plan.fabric().has_nic(nic));
        assert_eq!(plan.addresses().nic(nic), all.addresses().nic(nic));
    }
}
