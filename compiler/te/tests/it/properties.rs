//! Properties of every fabric and every matrix.

use closc_plan::Plan;
use closc_te::{Demand, Matrix, Options, Outcome, Place, Via, engineer};
use closc_tests::exceptions::{islands_with_exceptions, shapes_with_exceptions};
use closc_tests::shape::{Shape, try_plan};
use closc_topology::{Nic, PlaneId, ZoneId};
use proptest::prelude::*;

/// A demand as random numbers, which are reduced to the range of the fabric.
type Row = (u8, u8, [u16; 6], u32);

fn rows() -> impl Strategy<Value = Vec<Row>> {
    prop::collection::vec((0..5u8, 0..5u8, any::<[u16; 6]>(), 1..100_000u32), 1..12)
}

fn place(plan: &Plan, sort: u8, numbers: &[u16]) -> Place {
    let topology = plan.topology();
    let zone = ZoneId(numbers[0] % topology.zones);
    let group = numbers[1] % topology.hosts.groups;
    let nic = Nic { zone, group, downlink: numbers[2] % topology.hosts.per_group };
    match sort {
        0 => Place::All,
        1 => Place::Zone(zone),
        2 => Place::Group(zone, group),
        3 => Place::Node(topology.node_of(nic).0),
        _ => Place::Nic(nic),
    }
}

fn matrix(plan: &Plan, rows: &[Row]) -> Matrix {
    let demands = rows.iter().enumerate().map(|(at, (from, to, numbers, mbps))| Demand {
        from: place(plan, *from, &numbers[..3]),
        to: place(plan, *to, &numbers[3..]),
        gbps: f64::from(*mbps) / 1000.0,
        line: at as u64 + 2,
    });
    let differ = |demand: &Demand| demand.from != demand.to || !matches!(demand.from, Place::Nic(_));
    Matrix { demands: demands.filter(differ).collect() }
}

fn options() -> Options {
    Options { effort: 200_000, ..Options::default() }
}

/// Returns a plan for each routing mode that this fabric supports.
fn plans(shape: &Shape) -> Vec<Plan> {
    let source_routed = shape.yaml();
    let hashed = format!("routing: ecmp-static\n{source_routed}");
    [source_routed, hashed].iter().filter_map(|yaml| try_plan(yaml).ok()).collect()
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-6 * a.abs().max(b.abs()).max(1.0)
}

fn check(plan: &Plan, matrix: &Matrix) -> Result<(), TestCaseError> {
    let placed = engineer(plan, matrix, &options()).expect("there are not too many pairs");
    let most = 1.0 + 1e-9;
    prop_assert!(placed.bound() <= placed.max() * most, "bound {} te {}", placed.bound(), placed.max());
    prop_assert!(
        placed.bound() <= placed.ecmp_max() * most,
        "bound {} even {}",
        placed.bound(),
        placed.ecmp_max()
    );
    prop_assert!(placed.bound() <= placed.hashed_max() * most);
    let by_itself = if plan.is_source_routed() { placed.ecmp_max() } else { placed.hashed_max() };
    prop_assert!(placed.max() <= by_itself * most, "te {} without {by_itself}", placed.max());
    let report = placed.report(plan, &[]);
    let lost: f64 = report.unplaced.iter().map(|left| left.gbps).sum();
    prop_assert!(close(report.carried_gbps + lost, report.demand_gbps));
    prop_assert!(report.carried_gbps >= -1e-6);
    check_conservation(&report)?;
    check_usable_pins(plan, &placed)?;
    let again = engineer(plan, matrix, &options()).expect("there are not too many pairs");
    prop_assert!(placed.pins(plan).eq(again.pins(plan)), "the same input gives other pins");
    prop_assert_eq!(report, again.report(plan, &[]));
    Ok(())
}

/// With every method, as much traffic goes down as went up.
fn check_conservation(report: &closc_te::Report) -> Result<(), TestCaseError> {
    for method in &report.methods {
        let sum = |tier: &str| -> f64 {
            let of = method.tiers.iter().filter(|found| found.tier == tier);
            of.map(|found| found.figures.mean * found.figures.cables as f64).sum()
        };
        for (up, down) in [("NIC to T0", "T0 to NIC"), ("T0 to T1", "T1 to T0"), ("T1 to T2", "T2 to T1")] {
            prop_assert!(close(sum(up), sum(down)), "{}: {up} {} {down} {}", method.name, sum(up), sum(down));
        }
    }
    Ok(())
}

/// No pin uses absent or drained equipment.
fn check_usable_pins(plan: &Plan, placed: &Outcome) -> Result<(), TestCaseError> {
    let topology = plan.topology();
    for pin in placed.pins(plan) {
        let nic = |group: &str, some: &Option<Vec<String>>| {
            let named = some.as_ref().map(|nics| Place::parse(plan, &nics[0]));
            match named.unwrap_or_else(|| Place::parse(plan, group)) {
                Ok(Place::Nic(nic)) => nic,
                Ok(Place::Group(zone, group)) => {
                    plan.fabric().group_nics(zone, group).next().expect("a pinned group has a NIC")
                }
                other => panic!("{other:?}"),
            }
        };
        let (from, to) = (nic(&pin.from, &pin.from_nics), nic(&pin.to, &pin.to_nics));
        prop_assert!(pin.planes.iter().any(|plane| plane.weight > 0));
        let table = plan.path_table(from.zone, from.group);
        for plane in &pin.planes {
            match &plane.via {
                Via::Even(_) => {}
                Via::Paths(paths) => {
                    prop_assert!(!paths.is_empty());
                    for path in paths {
                        let found = plan.path_by_entropy(from, to, path.entropy).expect("it names a path");
                        prop_assert_eq!(found.plane.0, plane.plane);
                        prop_assert_eq!(found.choice.t0, path.uplink);
                        let denied = table.denies(found.plane, from, to, found.choice);
                        prop_assert!(denied.is_none(), "{denied:?}");
                        let links = found.hops.iter().map(|hop| hop.link).chain([found.first]);
                        prop_assert!(links.into_iter().all(|link| plan.fabric().has_link(link)));
                    }
                }
                Via::Hops(hops) => {
                    let t0 = topology.naming.switch(from.t0(PlaneId(plane.plane)));
                    prop_assert_eq!(hops[0].switch.as_str(), t0.as_str());
                    for hop in hops {
                        let link = topology.parse_link(&hop.cable).expect("a hop names a cable");
                        prop_assert!(plan.fabric().has_link(link) && !plan.fabric().is_drained(link));
                    }
                }
            }
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn the_bound_is_below_the_placement_and_that_below_what_happens_by_itself(
        shape in prop_oneof![3 => shapes_with_exceptions(), 1 => islands_with_exceptions()], rows in rows()
    ) {
        for plan in plans(&shape) {
            check(&plan, &matrix(&plan, &rows))?;
        }
    }
}
