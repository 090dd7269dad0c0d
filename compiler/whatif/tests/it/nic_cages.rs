//! Transceivers of NICs with several cages. If one fails, the ports of its planes fail too.

use closc_plan::Plan;
use closc_tests::shape::{Shape, plan};
use closc_topology::Link;
use closc_whatif::{Element, Elements, Kind};

/// Returns a fabric of four planes whose NICs have this number of cages.
fn fabric(cages: u8) -> Plan {
    let text = Shape { planes: 4, ..Shape::SMALL }.yaml();
    plan(&text.replace("lanes: 4 }", &format!("lanes: 4, cages: {cages} }}")))
}

/// Returns the planes that a NIC loses if an element fails.
fn planes_lost(elements: &Elements<'_>, element: Element) -> Vec<u8> {
    let losses = elements.losses(element);
    let plane = |link: &Link| match link {
        Link::Host(port) => Some(port.plane.0),
        Link::Fabric { .. } => None,
    };
    assert!(losses.nics.is_empty() && losses.switches.is_empty() && losses.planes.is_empty());
    losses.links.iter().filter_map(plane).collect()
}

#[test]
fn a_cage_fails_with_its_planes() {
    let plan = fabric(2);
    let elements = Elements::of(plan.fabric());
    let all = elements.all(Kind::NicCage);
    assert_eq!(all.len(), 2 * elements.all(Kind::Nic).len());
    for (number, planes) in [(1, [0, 1]), (2, [2, 3])] {
        let name = elements.name(all[number - 1]);
        assert!(name.ends_with(&format!("/cage{number}")), "{name}");
        assert_eq!(elements.parse(&name).expect("a name of an element"), [all[number - 1]]);
        assert_eq!(planes_lost(&elements, all[number - 1]), planes);
    }
    let beyond = elements.name(all[0]).replace("/cage1", "/cage3");
    let refused = elements.parse(&beyond).expect_err("a NIC has two cages");
    assert!(refused.ends_with("has no cage 3; it has cages 1 to 2"), "{refused}");
}

/// Ranges in brackets stand for several cages, as they do in the names of devices.
#[test]
fn ranges_name_several_cages_and_groups() {
    let plan = fabric(2);
    let elements = Elements::of(plan.fabric());
    let names = |text: &str| -> Vec<String> {
        elements.parse(text).expect(text).into_iter().map(|element| elements.name(element)).collect()
    };
    let both = ["su001-n001/nic0/cage1", "su001-n001/nic0/cage2"];
    assert_eq!(names("su001-n001/nic0/cage[1-2]"), both);
    assert_eq!(names("su001-n001/nic0/cage[1,2]"), both);
    assert_eq!(names("su001-n[001-002]/nic0/cage[1-2]").len(), 4);
    assert_eq!(names("p[0-1]-t0-001/cage[1-2]").len(), 4);
    assert_eq!(names("group [1-2]"), ["group 1", "group 2"]);
    let refused = elements.parse("su001-n001/nic0/cage[1-3]").expect_err("a NIC has two cages");
    assert!(refused.ends_with("has no cage 3; it has cages 1 to 2"), "{refused}");
    let refused = elements.parse("p0-t0-001/cage[2-1]").expect_err("ranges run forwards");
    assert!(refused.contains("cage[2-1]"), "{refused}");
}

#[test]
fn a_single_cage_fails_with_its_nic() {
    let plan = fabric(1);
    let elements = Elements::of(plan.fabric());
    let (cages, nics) = (elements.all(Kind::NicCage), elements.all(Kind::Nic));
    assert_eq!(cages.len(), nics.len());
    assert_eq!(elements.losses(cages[0]), elements.losses(nics[0]));
}

/// A cage that the switch does not have is a different mistake from a cage without a cable.
#[test]
fn missing_and_empty_cages_of_switches_differ() {
    let plan = plan(
        "fabric: g\nrouting: ecmp-static\nplanes: 1\n\
         hosts: { groups: 2, per_group: 4, nic: { speed: 400G, lanes: 4 } }\n\
         tiers:\n  t0: { platform: th5-64x800g, os: sonic, down: { breakout: 2x400G }, up: 2 }\n  \
         t1: { platform: th5-64x800g, os: sonic }\nqos: none\n\
         cables: { t0-t1: { length: 30m, medium: dr8 }, nic-t0: { length: 2m, medium: dac } }\n",
    );
    let elements = Elements::of(plan.fabric());
    let refuse = |name: &str| elements.parse(name).expect_err(name);
    assert_eq!(refuse("p0-t0-001/cage40"), "cage 40 of `p0-t0-001` holds no cable");
    let missing = "`p0-t0-001` has no cage 65; cages of `th5-64x800g` have the numbers 1 to 64";
    assert_eq!(refuse("p0-t0-001/cage65"), missing);
    assert!(elements.parse("p0-t0-001/cage1").is_ok());
}
