//! A handmade path that goes up, down and up again creates a cycle of buffers, which is reported.

use closc_plan::PathTable;
use closc_render::path_table;
use closc_tests::shape::{self, Shape};
use closc_topology::Usid;
use closc_verify::{Options, verify};

use crate::common;
use crate::common::fabrics::Target;

/// Sends packets of a group on a detour: up to a T1, down to the other T0, up to the other T1.
fn long_way(table: &mut PathTable<'_>) {
    let ways =
        [[0x0001, 0x4001, 0x0002, 0x4002, 0x0001, 0x8001], [0x0002, 0x4002, 0x0001, 0x4001, 0x0002, 0x8001]];
    let own = usize::from(table.group);
    table.destinations[own].template = ways[own].map(Usid).to_vec();
}

fn text(target: Target, rings: &[u16], walk_up_to: u128) -> String {
    let shape = Shape { planes: 1, per_group: 1, ..Shape::SMALL };
    let plan = shape::plan(&target.apply(&shape.yaml()));
    let mut tree = common::tree(&plan);
    for (zone, group) in plan.groups().filter(|(_, group)| rings.contains(group)) {
        let mut table = plan.path_table(zone, group);
        long_way(&mut table);
        tree.files
            .extend(path_table::render(&table).into_iter().map(|artefact| (artefact.path, artefact.bytes)));
    }
    common::sign(&mut tree, "shape", "srv6-static");
    verify(&tree, &Options { hardware: common::hardware(), walk_up_to, ..Options::default() })
        .expect("it can be read")
        .text()
}

#[test]
fn a_ring_is_printed() {
    let text = text(Target::Lossless, &[0, 1], 1000);
    assert!(
        text.contains("error[V1601]: 4 cables wait for each other in a ring, from `p0-t0-001:Ethernet"),
        "{text}"
    );
    for (from, to) in [("p0-t0-001", "p0-t1-001"), ("p0-t1-001", "p0-t0-002"), ("p0-t0-002", "p0-t1-002")] {
        let waits = text.lines().find(|line| {
            let Some((channel, _)) = line.split_once("` waits for") else { return false };
            channel.contains(&format!("`{from}:")) && channel.contains(&format!("-> {to}:"))
        });
        let waits = waits.unwrap_or_else(|| panic!("{from} -> {to} is in the ring\n{text}"));
        assert!(waits.contains("(path-tables/group-000"), "{waits}");
    }
}

#[test]
fn one_way_round_is_no_ring() {
    let text = text(Target::Lossless, &[0], 1000);
    assert!(!text.contains("error[V1601]"), "{text}");
    assert!(text.contains("\n  V1601  "), "{text}");
}

#[test]
fn without_pauses_nothing_waits() {
    assert!(!text(Target::Sonic, &[0, 1], 1000).contains("V1601"));
}

#[test]
fn large_fabrics_are_judged_by_tiers() {
    let ring = text(Target::Lossless, &[0, 1], 0);
    assert!(ring.contains("lists lead down and up again, over tiers T0-T1, T1-T0"), "{ring}");
    assert!(text(Target::Lossless, &[], 0).contains("all of them hold"));
}
