//! The whole of it: demands in, placement and figures out.
//!
//! In: a plan, a matrix, options. Out: [`Outcome`]. Invariants: the bound is not above what was found, and what was found
//! is not above what the fabric does by itself.

use std::collections::BTreeMap;

use closc_plan::Plan;
use closc_topology::Routing;

use crate::bound::{self, Bound, Proof};
use crate::class::Classes;
use crate::commodity::{COMMODITIES_MAX, Commodities, Commodity, Left, Sides, Why};
use crate::demand::Matrix;
use crate::ecmp::{self, Manner};
use crate::host::{self, Problem};
use crate::load::{Loads, Stage};
use crate::network::Network;
use crate::pin::{self, Routes};
use crate::place::Place;
use crate::split::{Parts, Run, Splits, share};
use crate::spray;

/// What can be chosen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Options {
    /// Seed of the hash.
    pub seed: u64,
    /// Flows (queue pairs) from each NIC of a source to a destination, in each plane.
    pub flows: u32,
    /// How far above the bound the placement may stay, as a part of it: fewer pins for less work.
    pub tolerance: f64,
    /// Into how many slices the downlinks of a group are cut where switches hash; each slice has its own path.
    pub slices: u16,
    /// Steps that improving the bound may take; 100 million take about a second.
    pub effort: u64,
}

impl Default for Options {
    fn default() -> Self {
        Options { seed: 1, flows: 4, tolerance: 0.01, slices: 8, effort: 300_000_000 }
    }
}

/// Why nothing is placed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// There are too many pairs of groups.
    #[error(
        "the demands join more than {COMMODITIES_MAX} pairs of T0 groups; name zones one by one, or compile a part of the \
         fabric"
    )]
    TooMany,
}

/// How traffic was placed.
#[derive(Debug, Clone)]
pub(crate) enum Placement {
    /// By weights of planes and uplinks.
    Sprayed(Splits),
    /// By one path for each slice and plane; nothing where pins would not gain.
    Pinned(Option<Routes>),
}

/// The placement with the loads of every method.
#[derive(Debug, Clone)]
pub struct Outcome {
    pub(crate) network: Network,
    pub(crate) sides: Sides,
    pub(crate) commodities: Commodities,
    pub(crate) placement: Placement,
    pub(crate) te: Loads,
    pub(crate) even: Loads,
    pub(crate) hashed: Loads,
    pub(crate) bound: Bound,
    pub(crate) demand_gbps: f64,
    pub(crate) left: Left,
}

/// Places a matrix on a plan.
pub fn engineer(plan: &Plan, matrix: &Matrix, options: &Options) -> Result<Outcome, Error> {
    let network = Network::of(plan);
    let topology = plan.topology();
    let (sides, commodities) = sum_up(plan, &network, matrix, options)?;
    let problem =
        Problem { plan, topology, network: &network, matrix, sides: &sides, commodities: &commodities };
    let even = ecmp::loads(&problem, Manner::Even);
    let hashed = ecmp::loads(&problem, Manner::Hashed(options.seed));
    let cuts = bound::cuts(&problem, &even);
    let target = cuts.max * (1.0 + options.tolerance);
    let (placement, te) =
        if network.hop_by_hop { pinned(&problem, &hashed, target) } else { sprayed(&problem, &even, target) };
    let max = te.max(&network);
    // Loads are sums of many numbers: a bound may be above them by their rounding only.
    let bound = if cuts.max * 1.001 >= max {
        cuts
    } else {
        let proven = bound::lengths(&problem, &te, max * 0.999, options.effort);
        cuts.or(proven)
    };
    let bound = Bound { max: bound.max.min(max), ..bound };
    let mut left = commodities.left.clone();
    let demand_gbps = matrix.gbps();
    no_room(&problem, &placement, &te, &mut left);
    Ok(Outcome { network, sides, commodities, placement, te, even, hashed, bound, demand_gbps, left })
}

/// Sums the matrix up; with fewer slices where there would be too many.
fn sum_up(
    plan: &Plan,
    network: &Network,
    matrix: &Matrix,
    options: &Options,
) -> Result<(Sides, Commodities), Error> {
    let wanted = usize::from(options.slices).clamp(1, network.shape.per_group);
    let mut slices = if network.hop_by_hop { wanted } else { 1 };
    loop {
        let sides = Sides { from: Classes::of(network, 1), to: Classes::of(network, slices) };
        match Commodities::of(matrix, plan.topology(), network, &sides, options.flows) {
            Some(commodities) => return Ok((sides, commodities)),
            None if slices > 1 => slices /= 2,
            None => return Err(Error::TooMany),
        }
    }
}

fn sprayed(problem: &Problem<'_>, even: &Loads, target: f64) -> (Placement, Loads) {
    let network = problem.network;
    let all = &problem.commodities.all;
    let as_is = || (Placement::Sprayed(vec![None; all.len()]), even.clone());
    if even.max(network) <= target {
        return as_is();
    }
    let splits = spray::place(problem, even, target);
    let mut loads = Loads::zero(network);
    let parted = |at: usize, kind: usize| share(network, &all[at], splits[at].as_deref(), kind);
    host::put(problem, parted, &mut loads);
    let mut parts = Parts::default();
    for (at, commodity) in all.iter().enumerate() {
        let Some(run) = Run::of(network, problem.sides, commodity) else { continue };
        for (kind, load) in loads.fabric.iter_mut().enumerate() {
            let rate = commodity.gbps * parted(at, kind);
            if rate > 0.0 {
                let within = splits[at].as_deref().and_then(|weights| weights.within[kind].as_ref());
                parts.spread(network, &network.kinds[kind], run, within);
                parts.add(network, run, rate, load);
            }
        }
    }
    if loads.max(network) < even.max(network) { (Placement::Sprayed(splits), loads) } else { as_is() }
}

/// Pins, and counts what the switches make of them: behind the uplink that a pin names they go on as they do.
fn pinned(problem: &Problem<'_>, hashed: &Loads, target: f64) -> (Placement, Loads) {
    match problem.topology.routing {
        Routing::EcmpStatic => {}
        // Over unnumbered cables there is no static route that could pin.
        Routing::BgpUnnumbered | Routing::Srv6Static => return (Placement::Pinned(None), hashed.clone()),
    }
    let routes = pin::place(problem, target);
    let loads = ecmp::loads(problem, Manner::Pinned(&routes));
    if loads.fabric_max(problem.network) < hashed.fabric_max(problem.network) {
        (Placement::Pinned(Some(routes)), loads)
    } else {
        (Placement::Pinned(None), hashed.clone())
    }
}

/// Adds what finds no room: every demand is cut down by the utilisation of the fullest cable that it uses, so that no
/// cable is above its capacity.
fn no_room(problem: &Problem<'_>, placement: &Placement, te: &Loads, left: &mut Left) {
    let network = problem.network;
    if te.max(network) <= 1.0 {
        return;
    }
    let ports = Ports::of(problem, te);
    let mut found: BTreeMap<(usize, usize), f64> = BTreeMap::new();
    for (at, commodity) in problem.commodities.all.iter().enumerate() {
        let level = level(problem, placement, te, &ports, at, commodity);
        if level > 1.0 + 1e-9 {
            let from = problem.sides.from.all[commodity.from as usize].group;
            let to = problem.sides.to.all[commodity.to as usize].group;
            *found.entry((from, to)).or_default() += commodity.gbps * (1.0 - 1.0 / level);
        }
    }
    let place = |group: usize| {
        let (zone, group) = network.shape.group_at(group);
        Place::Group(zone, group)
    };
    for ((from, to), gbps) in found {
        *left.entry((place(from), place(to), Why::NoRoom)).or_default() += gbps;
    }
}

/// The fullest NIC port of each class, by kind and class.
struct Ports {
    up: Vec<Vec<f64>>,
    down: Vec<Vec<f64>>,
}

impl Ports {
    fn of(problem: &Problem<'_>, loads: &Loads) -> Self {
        let top = |classes: &Classes, nics: &Vec<f64>| {
            let mut top = vec![0.0_f64; classes.all.len()];
            for (nic, load) in nics.iter().enumerate() {
                if let Some(class) = classes.class(nic) {
                    top[class] = top[class].max(load / problem.network.shape.speed[0]);
                }
            }
            top
        };
        Ports {
            up: loads.nic_up.iter().map(|nics| top(&problem.sides.from, nics)).collect(),
            down: loads.nic_down.iter().map(|nics| top(&problem.sides.to, nics)).collect(),
        }
    }
}

/// Returns the utilisation of the fullest cable that a commodity uses.
fn level(
    problem: &Problem<'_>,
    placement: &Placement,
    te: &Loads,
    ports: &Ports,
    at: usize,
    commodity: &Commodity,
) -> f64 {
    let network = problem.network;
    let shape = &network.shape;
    let kinds = network.kinds.len();
    let weights = match placement {
        Placement::Sprayed(splits) => splits[at].as_deref(),
        Placement::Pinned(_) => None,
    };
    let used = (0..kinds).filter(|kind| share(network, commodity, weights, *kind) > 0.0);
    let run = Run::of(network, problem.sides, commodity);
    let mut level = 0.0_f64;
    for kind in used {
        level = level.max(ports.up[kind][commodity.from as usize]);
        level = level.max(ports.down[kind][commodity.to as usize]);
        let Some(run) = run else { continue };
        let load = &te.fabric[kind];
        let between = match placement {
            Placement::Sprayed(_) => {
                let mut parts = Parts::default();
                let within = weights.and_then(|weights| weights.within[kind].as_ref());
                parts.spread(network, &network.kinds[kind], run, within);
                parts.level(network, run, load)
            }
            Placement::Pinned(routes) => {
                // Where flows are anywhere, the fullest cable of an end stands for the way.
                let top = |loads: &[f64], first: usize| {
                    loads[first..][..shape.u0].iter().copied().fold(0.0, f64::max)
                };
                let route = routes.as_ref().and_then(|routes| routes[at * kinds + kind]);
                let up = route
                    .map_or_else(|| top(&load.t0_up, shape.t0(run.a)), |route| load.t0_up[route.up as usize]);
                let down = match route.filter(|_| shape.has_single_paths()) {
                    Some(route) => load.t0_down[route.down as usize],
                    None => top(&load.t0_down, shape.t0(run.b)),
                };
                up.max(down) / Stage::T0Up.speed(shape)
            }
        };
        level = level.max(between);
    }
    level
}

impl Outcome {
    /// Tells whether every demand is carried in full.
    pub fn fits(&self) -> bool {
        self.left.is_empty()
    }

    /// Returns the largest utilisation as placed.
    pub fn max(&self) -> f64 {
        self.te.max(&self.network)
    }

    /// Returns the largest utilisation with traffic spread evenly, as a fluid.
    pub fn ecmp_max(&self) -> f64 {
        self.even.max(&self.network)
    }

    /// Returns the largest utilisation with every flow hashed.
    pub fn hashed_max(&self) -> f64 {
        self.hashed.max(&self.network)
    }

    /// Returns the largest utilisation that no placement can be below.
    pub fn bound(&self) -> f64 {
        self.bound.max
    }

    /// Returns what proves the bound, in words.
    pub fn proof(&self, plan: &Plan) -> String {
        let side = |sends: bool| if sends { "sends" } else { "receives" };
        let topology = plan.topology();
        let group = |group: usize| {
            let (zone, group) = self.network.shape.group_at(group);
            Place::Group(zone, group).name(topology)
        };
        match self.bound.proof {
            Proof::Nothing => "nothing is sent".to_owned(),
            Proof::Nic { nic, sends } => {
                let name = Place::Nic(self.network.shape.nic_at(nic)).name(topology);
                format!("the ports of `{name}`, for what it {}", side(sends))
            }
            Proof::Group { group: at, sends } => {
                format!("the T0-T1 cables of `{}`, for what it {}", group(at), side(sends))
            }
            Proof::Zone { zone, sends } => {
                format!("the T1-T2 cables of zone {zone}, for what it {}", side(sends))
            }
            Proof::Lengths => "lengths of all cables (linear programming duality)".to_owned(),
        }
    }
}
