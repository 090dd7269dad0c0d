//! NICs with several cages: assemblies, bills and lists follow the cages.

use std::collections::BTreeMap;

use closc_cabling::list::{self, Bill, Form, LabelPattern};
use closc_plan::Plan;
use closc_tests::shape::{Shape, plan};
use closc_topology::PlaneId;

/// Returns a fabric of four planes and four NICs, each with this number of cages.
fn fabric(cages: u8) -> Plan {
    let shape = Shape { planes: 4, ..Shape::SMALL };
    let text = shape.yaml();
    let stated = text.replace("lanes: 4 }", &format!("lanes: 4, cages: {cages} }}"));
    assert_ne!(text, stated, "the file has a NIC");
    plan(&stated)
}

/// Returns the columns `keys` of the rows of a list whose column `by` is `value`.
fn rows(text: &str, (by, value): (&str, &str), keys: &[&str]) -> Vec<Vec<String>> {
    let mut lines = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let head = lines.next().expect("a list has a header");
    let at = |key: &str| head.iter().position(|cell| *cell == key).expect("a column of the list");
    let (by, keys): (usize, Vec<usize>) = (at(by), keys.iter().map(|key| at(key)).collect());
    let of_kind = lines.filter(|line| line[by] == value);
    of_kind.map(|line| keys.iter().map(|key| line[*key].to_owned()).collect()).collect()
}

/// Compares the assemblies and the bill of NIC cables: `count` cages with `ports` ports each.
fn compare_cages(plan: &Plan, form: &str, ports: u32, count: u32) {
    let keys = ["form", "lower_cages", "upper_cages", "links", "assemblies"];
    let found = rows(&list::assemblies_csv(plan), ("kind", "nic-t0"), &keys);
    let expected = [form, "1", &ports.to_string(), &ports.to_string(), &count.to_string()];
    assert_eq!(found, [expected.map(str::to_owned).to_vec()]);
    let mut bill = Bill::default();
    plan.planes().for_each(|plane| bill.add(plan, plane));
    let nics = bill.entries().into_iter().filter(|entry| entry.kind == "nic-t0");
    assert_eq!(nics.map(|entry| entry.lower_cages).sum::<u64>(), u64::from(count));
}

#[test]
fn assemblies_and_bills_follow_the_cages() {
    for (cages, form, ports) in [(1, "fan-out", 4), (2, "fan-out", 2), (4, "straight", 1)] {
        compare_cages(&fabric(cages), form, ports, 4 * u32::from(cages));
    }
}

/// Two NICs on each adapter, in one plane.
fn adapters(cages: u32) -> Plan {
    let shape = Shape { planes: 1, rails: 2, groups: 4, per_group: 3, ..Shape::SMALL };
    assert_eq!(shape.nics_per_adapter(), 2, "the shape has adapters");
    plan(&shape.yaml().replace("lanes: 1 }", &format!("lanes: 1, cages: {cages} }}")))
}

/// With two NICs on each adapter, cages are those of the adapter.
#[test]
fn cages_of_adapters_hold_ports_of_both_nics() {
    for (cages, form, ports) in [(1_u32, "fan-out", 2), (2, "straight", 1)] {
        // 12 NICs on 6 adapters.
        compare_cages(&adapters(cages), form, ports, 6 * cages);
    }
}

/// Copper cannot connect several NIC cages with several T0 cages. Cages of adapters hold ports of all their NICs.
#[test]
fn copper_between_split_cages_is_noted() {
    let split = |cages: u32, breakout: &str| {
        let text = format!(
            "fabric: dual\nplanes: 1\nrouting: bgp-unnumbered\nqos: none\nhosts: {{ groups: 2, per_group: 8, \
             nics_per_node: 2, rails: 2, nics_per_adapter: 2, nic: {{ speed: 400G, lanes: 4, cages: {cages} }} }}\ntiers:\n  \
             t0: {{ platform: spectrum4-sn5600, os: nvue, down: {{ breakout: {breakout} }}, up: 4 }}\n  \
             t1: {{ platform: spectrum4-sn5600, os: nvue, count: 4 }}\n"
        );
        closc_cabling::lanes::crossed_copper(&plan(&text))
    };
    let note =
        "nic-t0: NIC cages have 2 ports and T0 cages 2, but `dac` has a single cage at one end: use fibre";
    assert_eq!(split(1, "2x400G").as_deref(), Some(note));
    assert_eq!(split(2, "2x400G"), None, "each port of the adapter has its own cage");
    assert_eq!(split(1, "1x400G"), None, "each port of the T0 has its own cage");
}

#[test]
fn lists_name_the_cages_of_nics_with_several() {
    let labels: LabelPattern = "{port}/{cage} > {far_port}".parse().expect("a pattern");
    let cages = |plan: &Plan| -> BTreeMap<u8, Vec<String>> {
        let of = |plane: PlaneId| {
            let text = Form::PointToPoint.render(plan, plane, &labels);
            let mut found = rows(&text, ("kind", "nic-t0"), &["a_cage"]).concat();
            found.dedup();
            (plane.0, found)
        };
        plan.planes().map(of).collect()
    };
    let one = |number: &str| vec![number.to_owned()];
    assert_eq!(cages(&fabric(1)).into_values().collect::<Vec<_>>(), [one(""), one(""), one(""), one("")]);
    assert_eq!(cages(&fabric(2)).into_values().collect::<Vec<_>>(), [one("1"), one("1"), one("2"), one("2")]);
    assert_eq!(cages(&fabric(4)).into_values().collect::<Vec<_>>(), [one("1"), one("2"), one("3"), one("4")]);
}

#[test]
fn modules_have_the_lanes_of_a_cage() {
    for (cages, lanes) in [(1, 4), (2, 2), (4, 1)] {
        let module = closc_cabling::modules::ModuleKind::of_nic(&fabric(cages), "dr4");
        assert_eq!(module.lanes, lanes);
    }
}
