//! Entry point of traffic engineering: demands in, placement and figures out.
//!
//! In: a plan, a matrix, options. Out: [`Outcome`]. Invariants: the bound is at most the largest utilisation of the
//! placement, and that is at most the largest utilisation without traffic engineering.

use closc_artefacts::Routing;
use closc_plan::Plan;
use closc_topology::TierId;

use crate::bound::{self, Bound, Proof};
use crate::class::Classes;
use crate::commodity::{COMMODITIES_MAX, Commodities, Sides, UncarriedDemands};
use crate::demand::Matrix;
use crate::ecmp::{self, Spreading};
use crate::fair::{self, Footprints};
use crate::host::{self, Problem};
use crate::load::Loads;
use crate::network::Network;
use crate::pin;
use crate::place::Place;
use crate::placement::Placement;
use crate::split::{GroupPair, PlaneFractions, share};
use crate::spray;

/// Options.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Options {
    /// Seed of the hash.
    pub seed: u64,
    /// Flows (queue pairs) from each NIC of a source to a destination, in each plane.
    pub flows: u32,
    /// Accepted distance of the placement from the bound by cuts, as a fraction. A larger one needs fewer pins if hosts
    /// choose paths.
    pub tolerance: f64,
    /// Number of slices of a group's downlinks, if switches hash. Each slice has its own path.
    pub slices: u16,
    /// Maximum number of steps to improve the bound. 100 million steps take about a second.
    pub effort: u64,
}

impl Default for Options {
    fn default() -> Self {
        Options { seed: 1, flows: 4, tolerance: 0.01, slices: 8, effort: 300_000_000 }
    }
}

/// Reasons to reject a matrix or a fabric.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// There are too many pairs of groups.
    #[error(
        "more than {COMMODITIES_MAX} pairs of T0 groups have demands; name zones one by one, or use a \
         smaller fabric"
    )]
    TooMany,
    /// Cables of one kind have different speeds in different zones.
    #[error(
        "zones of the fabric have NICs or cables of different speeds, but `te` needs one speed per tier. \
         Use `closc whatif` or `closc verify`, or write a file with the zones of one speed"
    )]
    Speeds,
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
    pub(crate) uncarried_demands: UncarriedDemands,
}

/// Places a matrix on a plan.
pub fn engineer(plan: &Plan, matrix: &Matrix, options: &Options) -> Result<Outcome, Error> {
    let topology = plan.topology();
    if !topology.has_one_speed() {
        return Err(Error::Speeds);
    }
    let network = Network::of(plan);
    let (sides, commodities) = sum_up(plan, &network, matrix, options)?;
    let problem =
        Problem { plan, topology, network: &network, matrix, sides: &sides, commodities: &commodities };
    let even = ecmp::loads(&problem, Spreading::Even);
    let hashed = ecmp::loads(&problem, Spreading::Hashed(options.seed));
    let cuts = bound::cuts(&problem, &even);
    let target = cuts.max * (1.0 + options.tolerance);
    let (placement, te) = if network.hop_by_hop {
        by_switches(&problem, &hashed, (options.seed, target))
    } else {
        spray_demands(&problem, &even, target)
    };
    let max = te.max(&network);
    // Loads are sums of many numbers. A bound may exceed them by rounding errors only.
    let bound = if cuts.max * 1.001 >= max {
        cuts
    } else {
        let proven = bound::lengths(&problem, &te, max * 0.999, options.effort);
        cuts.or(proven)
    };
    let bound = Bound { max: bound.max.min(max), ..bound };
    let mut left = commodities.uncarried_demands.clone();
    let demand_gbps = matrix.gbps();
    if max > 1.0 {
        fair::leave(&problem, &Footprints { placement: &placement, seed: options.seed }, &mut left);
    }
    Ok(Outcome {
        network,
        sides,
        commodities,
        placement,
        te,
        even,
        hashed,
        bound,
        demand_gbps,
        uncarried_demands: left,
    })
}

/// Sums the matrix up, with fewer slices if there would be too many commodities.
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

fn spray_demands(problem: &Problem<'_>, even: &Loads, target: f64) -> (Placement, Loads) {
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
    let mut parts = PlaneFractions::default();
    for (at, commodity) in all.iter().enumerate() {
        let Some(run) = GroupPair::of(network, problem.sides, commodity) else { continue };
        for (kind, load) in loads.fabric.iter_mut().enumerate() {
            let rate = commodity.gbps * parted(at, kind);
            if rate > 0.0 {
                let within = splits[at].as_deref().and_then(|weights| weights.plane_weights[kind].as_ref());
                parts.spread(network, &network.kinds[kind], run, within);
                parts.add(network, run, rate, load);
            }
        }
    }
    if loads.max(network) < even.max(network) { (Placement::Sprayed(splits), loads) } else { as_is() }
}

/// Places traffic of switches with the balancing that the file sets, and with pins if those lower the maximum.
fn by_switches(problem: &Problem<'_>, hashed: &Loads, (seed, target): (u64, f64)) -> (Placement, Loads) {
    match ecmp::by_file(problem.topology, seed) {
        Spreading::Hashed(_) => pin_demands(problem, hashed, target),
        spreading => {
            let loads = ecmp::loads(problem, spreading);
            // A T0 that splits every flow cannot use a pin.
            if problem.topology.balance(TierId::T0).reorders() {
                (Placement::Pinned(None), loads)
            } else {
                pin_demands(problem, &loads, target)
            }
        }
    }
}

/// Computes pins and their loads. A pin fixes the uplink of the T0; after that hop, loads count as a fluid.
fn pin_demands(problem: &Problem<'_>, unpinned: &Loads, target: f64) -> (Placement, Loads) {
    match problem.topology.routing {
        Routing::EcmpStatic => {}
        // BGP over unnumbered cables has no static routes that could pin. `srv6-static` uses `Placement::Sprayed`.
        Routing::BgpUnnumbered | Routing::Srv6Static => return (Placement::Pinned(None), unpinned.clone()),
    }
    let routes = pin::place(problem, target);
    let loads = ecmp::loads(problem, Spreading::Pinned(&routes));
    if loads.fabric_max(problem.network) < unpinned.fabric_max(problem.network) {
        (Placement::Pinned(Some(routes)), loads)
    } else {
        (Placement::Pinned(None), unpinned.clone())
    }
}

impl Outcome {
    /// Returns whether every demand is carried in full.
    pub fn fits(&self) -> bool {
        self.uncarried_demands.is_empty()
    }

    /// Returns the largest utilisation of the placement.
    pub fn max(&self) -> f64 {
        self.te.max(&self.network)
    }

    /// Returns the largest utilisation with traffic spread by ECMP as a fluid.
    pub fn ecmp_max(&self) -> f64 {
        self.even.max(&self.network)
    }

    /// Returns the largest utilisation with every flow hashed.
    pub fn hashed_max(&self) -> f64 {
        self.hashed.max(&self.network)
    }

    /// Returns the lower bound: no placement has a smaller largest utilisation.
    pub fn bound(&self) -> f64 {
        self.bound.max
    }

    /// Describes the proof of the bound.
    pub fn proof(&self, plan: &Plan) -> String {
        let side = |sends: bool| if sends { "sends" } else { "receives" };
        let topology = plan.topology();
        let group = |group: usize| {
            let (zone, group) = self.network.shape.group_at(group);
            Place::Group(zone, group).name(topology)
        };
        match self.bound.proof {
            Proof::Nothing => "there is no traffic".to_owned(),
            Proof::Nic { nic, sends } => {
                let name = Place::Nic(self.network.shape.nic_at(nic)).name(topology);
                format!("the ports of `{name}`, for the traffic it {}", side(sends))
            }
            Proof::Group { group: at, sends } => {
                format!("the T0-T1 cables of `{}`, for the traffic it {}", group(at), side(sends))
            }
            Proof::Zone { zone, sends } => {
                format!("the T1-T2 cables of zone {zone}, for the traffic it {}", side(sends))
            }
            Proof::Lengths => "weights of all cables (linear programming duality)".to_owned(),
        }
    }
}
