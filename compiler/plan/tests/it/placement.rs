//! Placement of ranks on nodes: traffic across zones is never higher than with placement by name. It is minimal if all
//! assignments can be tried.

use std::collections::BTreeSet;

use closc_plan::{Job, JobError, Placement, Plan, Traffic};
use closc_tests::shape::{Shape, T2};
use closc_topology::Node;
use proptest::prelude::*;

/// Zones of nodes with one NIC and one GPU each.
fn fabric(zones: u16, groups: u16, per_group: u16) -> Plan {
    let t2 = Some(T2 { zones, steps: 1, parallel: 1, rows: 0, node_zones: 1 });
    let exceptions = String::new();
    Shape { planes: 1, groups, per_group, rails: 1, t1: 1, parallel: 1, t2, exceptions }.plan()
}

const TRAFFIC: Traffic = Traffic { tensor: 1000, data: 100, pipeline: 10 };

fn job(sizes: (u32, u32, u32), gpus: u32) -> Job {
    Job::new(sizes, gpus, TRAFFIC).unwrap()
}

fn place(plan: &Plan, job: &Job) -> Placement {
    plan.place(job, &plan.nodes().collect::<Vec<_>>()).unwrap()
}

#[test]
fn stages_that_talk_little_are_what_zones_cut() {
    // Two zones of eight; four stages of four data-parallel ranks: two stages per zone.
    let plan = fabric(2, 2, 4);
    let placement = place(&plan, &job((1, 4, 4), 1));
    assert_eq!((placement.placed.zones, placement.placed.zone_bytes), (2, 4 * 10));
    // With much pipeline traffic and little data traffic, replicas stay together. The ring of each of the four stages
    // is cut twice.
    let heavy = Job::new((1, 4, 4), 1, Traffic { tensor: 0, data: 1, pipeline: 1000 }).unwrap();
    assert_eq!(place(&plan, &heavy).placed.zone_bytes, 4 * 2);
}

#[test]
fn a_job_that_fits_one_zone_is_in_one() {
    let plan = fabric(3, 2, 4);
    // Names begin in zone 0, where only three nodes are free.
    let free: Vec<Node> = plan.nodes().filter(|node| node.zone.0 > 0 || node.index < 1).collect();
    let placement = plan.place(&job((1, 8, 1), 1), &free).unwrap();
    assert_eq!(placement.by_name.zones, 2);
    assert_eq!((placement.placed.zones, placement.placed.zone_bytes), (1, 0));
}

#[test]
fn uneven_zones_are_filled_in_whole_groups() {
    let plan = fabric(2, 2, 4);
    // Seven and five free nodes for three stages of four: only placement in whole groups cuts no ring.
    let free: Vec<Node> = plan
        .nodes()
        .filter(|node| if node.zone.0 == 0 { (node.unit, node.index) != (1, 3) } else { true })
        .collect();
    let placement = plan.place(&job((1, 4, 3), 1), &free).unwrap();
    assert_eq!(placement.placed.zone_bytes, 4 * 10);
    assert!(placement.by_name.zone_bytes > placement.placed.zone_bytes, "{:?}", placement.by_name);
}

#[test]
fn what_cannot_be_placed_says_why() {
    let plan = fabric(2, 1, 2);
    let few = plan.place(&job((1, 5, 1), 1), &plan.nodes().collect::<Vec<_>>());
    assert_eq!(few.unwrap_err().to_string(), "the job needs 5 nodes, but only 4 are free");
    assert_eq!(
        Job::new((3, 1, 1), 2, TRAFFIC).unwrap_err(),
        JobError::PartOfANode { ranks: 3, gpus_per_node: 2 }
    );
    assert!(Job::new((0, 1, 1), 2, TRAFFIC).is_err() && Job::new((u32::MAX, 2, 1), 1, TRAFFIC).is_err());
}

/// Returns the minimum cut into two halves, by trying all of them.
fn min_cut(sizes: (u32, u32, u32)) -> u64 {
    let (_, data, pipeline) = sizes;
    let nodes = data * pipeline;
    let at = |d: u32, p: u32| d + data * p;
    let mut edges = Vec::new();
    for p in 0..pipeline {
        for d in 0..data {
            if data > 1 {
                edges.push((at(d, p), at((d + 1) % data, p), TRAFFIC.data));
            }
            if p + 1 < pipeline {
                edges.push((at(d, p), at(d, p + 1), TRAFFIC.pipeline));
            }
        }
    }
    (0_u32..1 << nodes)
        .filter(|half| half.count_ones() * 2 == nodes)
        .map(|half| {
            let apart = |(a, b, _): &&(u32, u32, u64)| (half >> a & 1) != (half >> b & 1);
            edges.iter().filter(apart).map(|(_, _, bytes)| bytes).sum()
        })
        .min()
        .unwrap_or(0)
}

#[test]
fn small_jobs_are_cut_as_little_as_can_be() {
    for sizes in [(1, 2, 2), (1, 4, 2), (1, 2, 4), (1, 6, 2), (1, 3, 4), (1, 12, 1), (1, 1, 12), (1, 6, 1)] {
        let nodes = sizes.1 * sizes.2;
        let plan = fabric(2, 1, u16::try_from(nodes / 2).unwrap());
        let placement = place(&plan, &job(sizes, 1));
        assert_eq!(placement.placed.zone_bytes, min_cut(sizes), "{sizes:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn every_node_is_used_once_and_no_more_crosses_than_by_name(
        (zones, groups, per_group) in (1_u16..4, 1_u16..4, 1_u16..4),
        (data, pipeline) in (1_u32..6, 1_u32..4),
        taken in any::<u64>(),
    ) {
        let plan = fabric(zones, groups, per_group);
        let free: Vec<Node> =
            plan.nodes().enumerate().filter(|(at, _)| taken >> (at % 64) & 1 == 0).map(|(_, node)| node).collect();
        let job = job((1, data, pipeline), 1);
        let Ok(placement) = plan.place(&job, &free) else {
            prop_assert!(free.len() < job.nodes());
            return Ok(());
        };
        prop_assert!(placement.placed.zone_bytes <= placement.by_name.zone_bytes);
        prop_assert!(placement.placed.unit_bytes >= placement.placed.zone_bytes);
        let names: BTreeSet<_> = placement.nodes.iter().map(|node| &node.name).collect();
        prop_assert_eq!(names.len(), job.nodes());
        let allowed: BTreeSet<_> = free.iter().map(|node| plan.topology().naming.node(*node)).collect();
        prop_assert!(names.iter().all(|name| allowed.contains(*name)));
        let ranks: Vec<u32> = placement.nodes.iter().map(|node| node.first_rank).collect();
        prop_assert_eq!(ranks, (0..job.ranks()).collect::<Vec<_>>());
    }
}
