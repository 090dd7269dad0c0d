//! The compact path table compared with the plan: every path of random fabrics, with gaps and drains.

use std::collections::BTreeSet;
use std::net::Ipv6Addr;

use closc_paths::{Kind, Table};
use closc_plan::{PathKind, Plan};
use closc_render::path_table;
use closc_tests::shape::{Shape, three_tiers, two_tiers};
use closc_topology::Nic;
use proptest::prelude::*;

fn binary(plan: &Plan, nic: Nic) -> Vec<u8> {
    let [json, binary] = path_table::render(&plan.path_table(nic.zone, nic.group));
    assert_eq!((json.path.extension(), binary.path.extension()), (Some("json"), Some("bin")));
    binary.bytes
}

fn compare_tables(plan: &Plan) {
    let nics: Vec<Nic> = plan.fabric().nics().collect();
    for from in &nics {
        let bytes = binary(plan, *from);
        let compact = Table::open(&bytes).expect("what is written opens");
        let table = plan.path_table(from.zone, from.group);
        for to in nics.iter().filter(|to| *to != from) {
            let inner = plan.addresses().nic(*to).octets();
            let destination = compact.destination(inner).expect("every NIC is in the table");
            assert_eq!(
                destination.kind,
                match PathKind::classify(*from, *to) {
                    PathKind::Local => Kind::Local,
                    PathKind::Zone => Kind::Zone,
                    PathKind::Far => Kind::Far,
                }
            );
            for path in plan.paths(*from, *to) {
                let outer = compact.outer(&destination, path.entropy);
                assert_eq!(Ipv6Addr::from(outer.address), path.destination);
                assert_eq!(outer.port, path.plane.0);
                let denied = table.denies(path.plane, *from, *to, path.choice).is_some();
                assert_eq!(compact.is_denied(from.downlink, &destination, path.entropy), denied);
            }
        }
        compare_sets_and_probes(plan, *from, &compact);
    }
}

fn compare_sets_and_probes(plan: &Plan, nic: Nic, compact: &Table<'_>) {
    let table = plan.path_table(nic.zone, nic.group);
    for plane in plan.topology().plane_ids() {
        let order = &table.orders[usize::from(plane.0)];
        let (active, backup) = (table.sets.active(order, nic), table.sets.backup(order, nic));
        let planned: Vec<u32> =
            active.iter().chain(&backup).map(|choice| table.format.pack(plane, *choice)).collect();
        let read: Vec<u32> = compact.entropy_values(plane.0, nic.downlink).collect();
        assert_eq!(read, planned);
        let own = plan.segments().nic(plane, nic);
        let t0 = plan.segments().switch(nic.t0(plane), 0);
        assert_eq!(
            Ipv6Addr::from(compact.t0_probe(plane.0, nic.downlink)),
            plan.segments().address(plane, &[t0, own])
        );
    }
}

/// Exceptions that random fabrics can have: names that exist in every shape.
fn exceptions() -> impl Strategy<Value = Vec<&'static str>> {
    let names = ["p0-t1-001", "p0-t0-001", "su001-n001/nic0.p0", "p0-t0-001--p0-t1-001", "plane 0"];
    proptest::sample::subsequence(names.to_vec(), 0..=2)
}

fn with_exceptions(shape: Shape, drained: &[&str]) -> Shape {
    // A second plane keeps all NICs connected if the first one is drained.
    let planes = shape.planes.max(2);
    let list = drained.iter().map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(", ");
    let exceptions = match drained {
        [] => String::new(),
        _ => format!("exceptions: {{ drained: [{list}] }}\n"),
    };
    Shape { planes, exceptions, ..shape }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn two_tiers_agree(shape in two_tiers(), drained in exceptions()) {
        compare_tables(&with_exceptions(shape, &drained).plan());
    }

    #[test]
    fn three_tiers_agree(shape in three_tiers()) {
        compare_tables(&shape.plan());
    }
}

#[test]
fn holes_are_denied_and_nothing_else() {
    let shape = Shape {
        planes: 2,
        groups: 3,
        per_group: 2,
        rails: 1,
        t1: 3,
        parallel: 2,
        t2: None,
        exceptions:
            "exceptions: { absent: [p0-t1-002, p1-t0-003, \"p1-t0-001--p1-t1-001#2\", su002-n001/nic0.p0] }\n"
                .to_owned(),
    };
    let plan = shape.plan();
    let nics: Vec<Nic> = plan.fabric().nics().collect();
    for from in &nics {
        let bytes = binary(&plan, *from);
        let compact = Table::open(&bytes).unwrap();
        for to in nics.iter().filter(|to| *to != from) {
            let destination = compact.destination(plan.addresses().nic(*to).octets()).unwrap();
            for path in plan.paths(*from, *to) {
                // A path is usable if and only if all its cables exist.
                let whole = plan.fabric().has_link(path.first)
                    && path.hops.iter().all(|hop| plan.fabric().has_link(hop.link));
                let denied = compact.is_denied(from.downlink, &destination, path.entropy);
                assert_eq!(denied, !whole, "{path:?}");
            }
        }
    }
    let reasons: BTreeSet<String> =
        plan.path_table(nics[0].zone, 0).denied.iter().map(|d| d.name.clone()).collect();
    assert_eq!(reasons.len(), 4);
}
