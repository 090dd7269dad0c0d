//! Compares the bound and the placement with the exact optimum of small fabrics, found by linear programming.
//!
//! The linear program is independent of the crate. It lists every path of every pair of NICs, as the plan names them,
//! and lets each pair split its traffic freely.

use std::collections::BTreeMap;

use closc_plan::Plan;
use closc_te::{Demand, Matrix, Options, Place, engineer};
use closc_tests::exceptions::shapes_with_exceptions;
use closc_tests::shape::Shape;
use closc_topology::{Link, Nic, ZoneId};
use proptest::prelude::*;

/// Returns the largest factor by which all demands can grow, by the simplex method (the first improving column
/// enters the basis).
///
/// `demands` are rates with their paths; a path is a list of rows of `capacity`.
fn largest_factor(demands: &[(f64, Vec<Vec<usize>>)], capacity: &[f64]) -> f64 {
    // Rows: capacities, then one for each demand: factor * rate - sum of its paths <= 0. Columns: paths, the factor,
    // a slack for each row, the right side.
    let paths: usize = demands.iter().map(|(_, paths)| paths.len()).sum();
    let rows = capacity.len() + demands.len();
    let (factor, slack, right) = (paths, paths + 1, paths + 1 + rows);
    let mut table = vec![vec![0.0_f64; right + 1]; rows + 1];
    for (row, capacity) in capacity.iter().enumerate() {
        table[row][right] = *capacity;
    }
    let mut column = 0;
    for (at, (rate, paths)) in demands.iter().enumerate() {
        table[capacity.len() + at][factor] = *rate;
        for path in paths {
            table[capacity.len() + at][column] = -1.0;
            for row in path {
                table[*row][column] += 1.0;
            }
            column += 1;
        }
    }
    (0..rows).for_each(|row| table[row][slack + row] = 1.0);
    table[rows][factor] = -1.0;
    while let Some(enter) = (0..right).find(|column| table[rows][*column] < -1e-9) {
        let ratio = |row: &usize| table[*row][right] / table[*row][enter];
        let leave = (0..rows)
            .filter(|row| table[*row][enter] > 1e-9)
            .min_by(|a, b| ratio(a).total_cmp(&ratio(b)))
            .expect("every path has a capacity");
        let pivot = table[leave][enter];
        table[leave].iter_mut().for_each(|cell| *cell /= pivot);
        let own = table[leave].clone();
        for (row, cells) in table.iter_mut().enumerate() {
            let times = cells[enter];
            if row != leave && times != 0.0 {
                cells.iter_mut().zip(&own).for_each(|(cell, own)| *cell -= times * own);
            }
        }
    }
    table[rows][right]
}

/// Returns the least possible largest utilisation.
fn optimum(plan: &Plan, matrix: &Matrix) -> f64 {
    let topology = plan.topology();
    let speed = |link: Link| match link {
        Link::Host(_) => f64::from(topology.port_speed(ZoneId(0)).mbps()) / 1000.0,
        Link::Fabric { lower, .. } => {
            let tier = topology.tier(lower.tier).expect("the cable has a lower end");
            f64::from(tier.up.breakout.speed.mbps()) / 1000.0
        }
    };
    let mut rates: BTreeMap<(Nic, Nic), f64> = BTreeMap::new();
    for demand in &matrix.demands {
        let nics: Vec<Nic> = plan.fabric().nics().collect();
        let from = nics.iter().filter(|nic| demand.from.holds(topology, **nic));
        let pairs: Vec<(Nic, Nic)> = from
            .flat_map(|a| nics.iter().filter(|b| demand.to.holds(topology, **b)).map(move |b| (*a, *b)))
            .filter(|(a, b)| a != b)
            .collect();
        for pair in &pairs {
            *rates.entry(*pair).or_default() += demand.gbps / pairs.len() as f64;
        }
    }
    let mut rows: BTreeMap<(Link, bool), usize> = BTreeMap::new();
    let mut capacity = Vec::new();
    let mut demands = Vec::new();
    for ((from, to), rate) in rates {
        let mut paths = Vec::new();
        for path in plan.paths(from, to) {
            let links: Vec<Link> =
                [path.first].into_iter().chain(path.hops.iter().map(|hop| hop.link)).collect();
            if links.iter().any(|link| !plan.fabric().has_link(*link) || plan.fabric().is_drained(*link)) {
                continue;
            }
            let half = links.len() / 2;
            let row = |(at, link): (usize, &Link)| {
                *rows.entry((*link, at < half)).or_insert_with(|| {
                    capacity.push(speed(*link));
                    capacity.len() - 1
                })
            };
            paths.push(links.iter().enumerate().map(row).collect());
        }
        if !paths.is_empty() && rate > 0.0 {
            demands.push((rate, paths));
        }
    }
    if demands.is_empty() { 0.0 } else { 1.0 / largest_factor(&demands, &capacity) }
}

type Row = (bool, bool, [u16; 4], u32);

fn rows() -> impl Strategy<Value = Vec<Row>> {
    prop::collection::vec((any::<bool>(), any::<bool>(), any::<[u16; 4]>(), 1_000..100_000u32), 1..5)
}

/// Returns demands between groups and zones only: their NICs are equivalent, so the optimum of classes is that of NICs.
fn matrix(plan: &Plan, rows: &[Row]) -> Matrix {
    let topology = plan.topology();
    let place = |whole: bool, zone: u16, group: u16| match (ZoneId(zone % topology.zones), whole) {
        (zone, true) => Place::Zone(zone),
        (zone, false) => Place::Group(zone, group % topology.hosts.groups),
    };
    let demand = |(at, (from, to, n, mbps)): (usize, &Row)| Demand {
        from: place(*from, n[0], n[1]),
        to: place(*to, n[2], n[3]),
        gbps: f64::from(*mbps) / 1000.0,
        line: at as u64 + 2,
    };
    Matrix { demands: rows.iter().enumerate().map(demand).collect() }
}

fn small() -> impl Strategy<Value = Shape> {
    shapes_with_exceptions().prop_filter("few enough paths for a table", |shape| {
        let zones = shape.t2.as_ref().map_or(1, |t2| t2.zones);
        let steps = shape.t2.as_ref().map_or(1, |t2| t2.steps * t2.parallel);
        let nics = shape.groups * shape.per_group * zones;
        let paths = u16::from(shape.planes) * shape.t1 * shape.parallel * steps;
        u32::from(nics) * u32::from(nics) * u32::from(paths) <= 800
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_bound_is_the_optimum_of_small_fabrics(shape in small(), rows in rows()) {
        let plan = shape.plan();
        let matrix = matrix(&plan, &rows);
        let options = Options { effort: 20_000_000, tolerance: 0.001, ..Options::default() };
        let placed = engineer(&plan, &matrix, &options).expect("there are not too many pairs");
        let best = optimum(&plan, &matrix);
        prop_assert!(placed.bound() <= best * (1.0 + 1e-6), "bound {} optimum {best}", placed.bound());
        prop_assert!(placed.bound() >= best * 0.99, "bound {} optimum {best}", placed.bound());
        prop_assert!(placed.max() >= best * (1.0 - 1e-6), "te {} optimum {best}", placed.max());
        // Weights are integers and the number of passes is limited, so a small gap to the optimum remains.
        prop_assert!(placed.max() <= best * 1.02, "te {} optimum {best}", placed.max());
    }
}

#[test]
fn the_simplex_method_of_this_file_is_right() {
    // Two demands of 1 share a cable of 1. The first demand can also use a second cable, of 2.
    let demands = [(1.0, vec![vec![0], vec![1]]), (1.0, vec![vec![0]])];
    assert!((largest_factor(&demands, &[1.0, 2.0]) - 1.0).abs() < 1e-9);
    assert!((largest_factor(&demands, &[2.0, 0.5]) - 1.25).abs() < 1e-9);
}
