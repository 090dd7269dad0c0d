//! Adapters with several NICs, as with dual ToR. If an adapter fails, it loses all of its NICs. If a T0 fails, each of
//! its adapters loses one NIC.

use closc_artefacts::Routing;
use closc_plan::Plan;
use closc_tests::shape::{Shape, plan};
use closc_topology::Link;
use closc_whatif::report::{AdapterCounts, Answer};
use closc_whatif::{Element, Elements, Kind, WhatIf};

/// Returns a fabric of one plane and two nodes per T0 pair. Each node has two adapters with two NICs and this number of
/// cages.
fn fabric(cages: u8, routing: Routing) -> Plan {
    let shape = Shape { planes: 1, groups: 4, per_group: 4, rails: 2, ..Shape::SMALL };
    assert_eq!(shape.nics_per_adapter(), 2, "the shape has adapters");
    let text = shape.yaml_with_routing(routing).replace("nics_per_node: 2", "nics_per_node: 4");
    plan(&text.replace("lanes: 1 }", &format!("lanes: 1, cages: {cages} }}")))
}

fn all_routings() -> [Routing; 3] {
    [Routing::Srv6Static, Routing::EcmpStatic, Routing::BgpUnnumbered]
}

/// Returns the adapters after a failure.
fn adapters(elements: Elements<'_>, failed: &[Element]) -> Option<AdapterCounts> {
    let outcome = WhatIf::new(elements).fail(failed, 1);
    Answer::new(elements, failed, None, &outcome).left.adapters
}

#[test]
fn each_adapter_keeps_a_nic_if_a_t0_fails() {
    for routing in all_routings() {
        let plan = fabric(1, routing);
        let elements = Elements::of(plan.fabric());
        assert_eq!(plan.fabric().counts().nics, 16);
        assert_eq!(plan.fabric().adapters(), 8);
        for t0 in elements.all(Kind::T0) {
            let expected = AdapterCounts { all: 8, cut_off: 0, reduced: 4, pairs: 28, pairs_cut_off: 0 };
            assert_eq!(adapters(elements, &[t0]), Some(expected), "{routing:?}");
        }
        let pair = elements.parse("group [1-2]").expect("two groups");
        let expected = AdapterCounts { all: 8, cut_off: 4, reduced: 0, pairs: 28, pairs_cut_off: 22 };
        assert_eq!(adapters(elements, &pair), Some(expected), "{routing:?}");
    }
}

#[test]
fn an_adapter_fails_with_its_nics() {
    let plan = fabric(2, Routing::Srv6Static);
    let elements = Elements::of(plan.fabric());
    let all = elements.all(Kind::Adapter);
    assert_eq!(all.len(), 8);
    let names: Vec<String> = all.iter().map(|element| elements.name(*element)).collect();
    assert_eq!(names[..2], ["su001-n001/adapter0", "su001-n001/adapter1"]);
    for (element, name) in all.iter().zip(&names) {
        assert_eq!(elements.parse(name).expect("a name of an element"), [*element]);
    }
    let nics = |element| {
        let nics: Vec<String> =
            elements.losses(element).nics.iter().map(|nic| elements.name(Element::Nic(*nic))).collect();
        nics
    };
    assert_eq!(nics(all[1]), ["su001-n001/nic2", "su001-n001/nic3"]);
    let expected = AdapterCounts { all: 8, cut_off: 1, reduced: 0, pairs: 28, pairs_cut_off: 7 };
    assert_eq!(adapters(elements, &all[..1]), Some(expected));
    assert_eq!(elements.parse("su001-n001/adapter[0-1]").expect("a range"), all[..2]);
    let refused = elements.parse("su001-n001/adapter2").expect_err("a node has two adapters");
    assert!(refused.ends_with("adapters of a node are `NODE/adapter0` to `1`"), "{refused}");
}

#[test]
fn cages_belong_to_the_adapter() {
    for (cages, links) in [(1, 2), (2, 1)] {
        let plan = fabric(cages, Routing::Srv6Static);
        let elements = Elements::of(plan.fabric());
        let all = elements.all(Kind::NicCage);
        assert_eq!(all.len(), 8 * usize::from(cages));
        assert_eq!(elements.name(all[0]), "su001-n001/adapter0/cage1");
        assert_eq!(elements.parse("su001-n001/adapter0/cage1").expect("a cage"), all[..1]);
        let losses = elements.losses(all[0]);
        let is_host = |link: &&Link| matches!(link, Link::Host(_));
        assert_eq!(losses.nics.len() + losses.links.iter().filter(is_host).count(), links);
    }
    let plan = fabric(2, Routing::Srv6Static);
    let refused = Elements::of(plan.fabric()).parse("su001-n001/nic1/cage1").expect_err("a shared cage");
    assert_eq!(refused, "`su001-n001/nic1` shares its cages: write `su001-n001/adapter0/cage1`");
}

/// A fabric whose adapters have one NIC has no such elements, and reports do not mention them.
#[test]
fn single_nics_are_not_adapters() {
    let plan = Shape::SMALL.plan();
    let elements = Elements::of(plan.fabric());
    assert!(elements.all(Kind::Adapter).is_empty());
    assert_eq!(adapters(elements, &elements.all(Kind::T0)[..1]), None);
    let refused = elements.parse("su001-n001/adapter0").expect_err("no adapters");
    assert!(refused.contains("`hosts.nics_per_adapter` is 1"), "{refused}");
}
