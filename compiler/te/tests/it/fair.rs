//! Compares carried rates, if demands exceed capacity, with a reference that works pair by pair and path by
//! path.
//!
//! The reference uses only the pins of the crate, which determine paths. It lists the cables of every path of every
//! pair of NICs. It raises all rates together until a cable is full or a pair has its rate, and then stops these pairs.

use std::collections::{BTreeMap, BTreeSet};

use closc_plan::{Path, Plan};
use closc_te::{Demand, Matrix, Options, Outcome, Pin, Place, Via, engineer};
use closc_tests::exceptions::shapes_with_exceptions;
use closc_tests::shape::plan;
use closc_topology::{Link, Nic, NicPort, PlaneId};
use proptest::prelude::*;

/// A cable and whether it is used upwards.
type DirectedLink = (Link, bool);

/// A pair of NICs of a demand.
struct Pair {
    demand: usize,
    /// The unit that rises together: the pairs of a demand between the same groups with the same planes.
    unit: (usize, u16, u16, Vec<u8>, Vec<u8>),
    asked: f64,
    rate: f64,
    rises: bool,
    link_shares: BTreeMap<DirectedLink, f64>,
}

fn path_links(path: &Path) -> Vec<DirectedLink> {
    let hop = |hop: &closc_plan::PathHop| {
        let up = matches!(hop.link, Link::Fabric { lower, .. } if lower == hop.switch);
        (hop.link, up)
    };
    path.hops.iter().map(hop).chain([(path.first, true)]).collect()
}

fn pin_of<'a>(plan: &Plan, pins: &'a [Pin], from: Nic, to: Nic) -> Option<&'a Pin> {
    let holds = |group: &str, nics: &Option<Vec<String>>, nic: Nic| {
        let names = nics.clone().unwrap_or_else(|| vec![group.to_owned()]);
        names
            .iter()
            .any(|name| Place::parse(plan, name).expect("pins name places").holds(plan.topology(), nic))
    };
    pins.iter().find(|pin| holds(&pin.from, &pin.from_nics, from) && holds(&pin.to, &pin.to_nics, to))
}

/// Returns the fraction of a pair on every cable, by its pin or evenly.
fn parts(plan: &Plan, pins: &[Pin], from: Nic, to: Nic) -> BTreeMap<DirectedLink, f64> {
    let table = plan.path_table(from.zone, from.group);
    let pin = pin_of(plan, pins, from, to);
    let mut planes: BTreeMap<u8, Vec<(Path, f64)>> = BTreeMap::new();
    for path in plan.paths(from, to).filter(|path| table.denies(path.plane, from, to, path.choice).is_none())
    {
        let via = pin.map(|pin| pin.planes.iter().find(|plane| plane.plane == path.plane.0));
        let weight = match via {
            None => 1.0,
            Some(None) => 0.0,
            Some(Some(plane)) => match &plane.via {
                Via::Even(_) => 1.0,
                Via::Paths(paths) => {
                    paths.iter().find(|p| p.entropy == path.entropy).map_or(0.0, |p| f64::from(p.weight))
                }
                Via::Hops(_) => panic!("hosts choose here"),
            },
        };
        planes.entry(path.plane.0).or_default().push((path, weight));
    }
    let of_plane = |plane: u8| {
        pin.map_or(1.0, |pin| {
            pin.planes.iter().find(|p| p.plane == plane).map_or(0.0, |p| f64::from(p.weight))
        })
    };
    let all: f64 = planes.keys().map(|plane| of_plane(*plane)).sum();
    let mut found = BTreeMap::new();
    for (plane, paths) in &planes {
        let sum: f64 = paths.iter().map(|(_, weight)| weight).sum();
        for (path, weight) in paths.iter().filter(|(_, weight)| *weight > 0.0) {
            for way in path_links(path) {
                *found.entry(way).or_default() += of_plane(*plane) / all * weight / sum;
            }
        }
    }
    found.retain(|_, part| *part > 0.0);
    found
}

/// Returns the pairs of NICs with a demand, each with the cables that it uses.
fn pairs(plan: &Plan, matrix: &Matrix, placed: &Outcome) -> Vec<Pair> {
    let pins: Vec<Pin> = placed.pins(plan).collect();
    let topology = plan.topology();
    let nics: Vec<Nic> = plan.fabric().nics().collect();
    let mut pairs: Vec<Pair> = Vec::new();
    for (demand, row) in matrix.demands.iter().enumerate() {
        let side = |place: Place| nics.iter().filter(move |nic| place.holds(topology, **nic));
        let all: Vec<(Nic, Nic)> = side(row.from)
            .flat_map(|from| side(row.to).map(move |to| (*from, *to)))
            .filter(|(from, to)| from != to)
            .collect();
        for (from, to) in &all {
            let ways = parts(plan, &pins, *from, *to);
            let asked = row.gbps / all.len() as f64;
            let rises = !ways.is_empty();
            let planes = |nic: Nic| -> Vec<u8> {
                let link = |plane| Link::Host(NicPort { plane, nic });
                let usable = |plane: &PlaneId| {
                    plan.fabric().has_link(link(*plane)) && !plan.fabric().is_drained(link(*plane))
                };
                topology.plane_ids().filter(usable).map(|plane| plane.0).collect()
            };
            let unit = (demand, from.group, to.group, planes(*from), planes(*to));
            pairs.push(Pair { demand, unit, asked, rate: 0.0, rises, link_shares: ways });
        }
    }
    pairs
}

/// Rate of each demand.
fn reference(plan: &Plan, matrix: &Matrix, placed: &Outcome) -> Vec<f64> {
    let topology = plan.topology();
    let capacity = |link: &Link| {
        let speed = match link {
            Link::Host(_) => topology.port_speed(closc_topology::ZoneId(0)),
            Link::Fabric { .. } => topology.t0.up.breakout.speed,
        };
        f64::from(speed.mbps()) / 1000.0
    };
    let mut pairs = pairs(plan, matrix, placed);
    while pairs.iter().any(|pair| pair.rises) {
        // Raise all rates until a cable is full or one demand is satisfied.
        let mut cables: BTreeMap<DirectedLink, (f64, f64)> = BTreeMap::new();
        for pair in &pairs {
            for (way, part) in &pair.link_shares {
                let (used, rising) = cables.entry(*way).or_default();
                *used += pair.rate * part;
                *rising += if pair.rises { *part } else { 0.0 };
            }
        }
        let room = |way: &DirectedLink, used: f64, rising: f64| ((capacity(&way.0) - used) / rising).max(0.0);
        let step = cables.iter().filter(|(_, (_, rising))| *rising > 0.0);
        let step = step.map(|(way, (used, rising))| room(way, *used, *rising));
        let asked = pairs.iter().filter(|pair| pair.rises).map(|pair| pair.asked - pair.rate);
        let step = step.chain(asked).fold(f64::INFINITY, f64::min).max(0.0);
        let is_full = |way: &DirectedLink| {
            cables.get(way).is_some_and(|(used, rising)| {
                *rising > 0.0 && room(way, *used, *rising) <= step * (1.0 + 1e-9) + 1e-12
            })
        };
        let full: BTreeSet<_> = pairs
            .iter()
            .filter(|pair| pair.link_shares.keys().any(is_full))
            .map(|pair| pair.unit.clone())
            .collect();
        for pair in pairs.iter_mut().filter(|pair| pair.rises) {
            pair.rate += step;
            pair.rises = !full.contains(&pair.unit) && pair.rate < pair.asked * (1.0 - 1e-9);
        }
    }
    let mut given = vec![0.0; matrix.demands.len()];
    for pair in &pairs {
        given[pair.demand] += pair.rate;
    }
    given
}

type Row = (u8, u8, [u16; 4], u32);

fn matrix(plan: &Plan, rows: &[Row]) -> Matrix {
    let topology = plan.topology();
    let place = |sort: u8, numbers: &[u16]| {
        let nic = Nic {
            zone: closc_topology::ZoneId(0),
            group: numbers[0] % topology.hosts.groups,
            downlink: numbers[1] % topology.hosts.per_group,
        };
        match sort {
            0 => Place::All,
            1 => Place::Group(nic.zone, nic.group),
            _ => Place::Nic(nic),
        }
    };
    let demands = rows.iter().enumerate().map(|(at, (from, to, numbers, gbps))| Demand {
        from: place(*from, &numbers[..2]),
        to: place(*to, &numbers[2..]),
        gbps: f64::from(*gbps),
        line: at as u64 + 2,
    });
    let differ = |demand: &Demand| demand.from != demand.to || !matches!(demand.from, Place::Nic(_));
    Matrix { demands: demands.filter(differ).collect() }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn shares_are_max_min_fair(
        shape in shapes_with_exceptions(),
        rows in prop::collection::vec((0..5u8, 0..5u8, any::<[u16; 4]>(), 1..900u32), 1..7),
    ) {
        prop_assume!(shape.t2.is_none() && shape.planes <= 4);
        let plan = shape.plan();
        let matrix = matrix(&plan, &rows);
        let placed = engineer(&plan, &matrix, &Options { effort: 200_000, ..Options::default() }).expect("few pairs");
        let given: f64 = reference(&plan, &matrix, &placed).iter().sum();
        let carried = placed.report(&plan, &[]).carried_gbps;
        prop_assert!((given - carried).abs() <= 1e-4 * given.max(1.0), "carried {carried}, reference {given}");
    }
}

/// If the port of one NIC is full, another demand of its group is still carried in full.
#[test]
fn one_full_nic_takes_nothing_from_others() {
    for (routing, cables) in [("srv6-static", 0.0), ("ecmp-static", 0.0)] {
        let text = include_str!("../../../../topologies/lab/two-planes.yaml").replace("srv6-static", routing);
        let plan = plan(&text.replace("qos: lossy-trim", "qos: none"));
        let rows = "source,destination,gbps\nsu001-n001/nic0,su002-n001/nic0,400\nsu001-n002/nic0,su002-n002/nic0,200\n";
        let matrix = Matrix::from_csv(&plan, rows.as_bytes()).expect("it is legal");
        let placed = engineer(&plan, &matrix, &Options::default()).expect("few pairs");
        let report = placed.report(&plan, &[]);
        let left: Vec<_> = report.unplaced.iter().map(|left| (left.from.as_str(), left.why)).collect();
        if routing == "srv6-static" {
            assert!((report.carried_gbps - 400.0).abs() < 1e-6 + cables, "{report:?}");
            assert_eq!(left, [("su001-n001/nic0", "the ports of a sending NIC are full")]);
        } else {
            // Flows of one pair may collide on an uplink. The loss is then attributed to the uplinks.
            assert!(report.carried_gbps <= 400.0 + 1e-6 && !report.fits, "{report:?}");
        }
    }
}
