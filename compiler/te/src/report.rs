//! Report on an outcome.
//!
//! In: an outcome. Out: [`Report`]. Invariants: a utilisation is a fraction of 1. Cables of equal planes are counted in
//! each plane. Only usable cables are counted.

use closc_plan::Plan;
use closc_platform::Balance;
use closc_topology::{Ecmp, Link, NicPort, Pin, PlaneId, TierId, Topology};
use schemars::JsonSchema;
use serde::Serialize;

use crate::engineer::Outcome;
use crate::load::{Loads, Stage};
use crate::network::Network;

/// Name and version of the format of reports.
pub const FORMAT: &str = "closc-te/1";
/// Maximum number of listed cables with the highest utilisation.
const HOTTEST: usize = 10;
/// Maximum number of listed demands that are not carried in full.
const UNPLACED: usize = 1000;

/// Figures of a placement.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Report {
    /// Name and version of this format.
    pub format: &'static str,
    /// The fabric.
    pub fabric: String,
    /// Routing mode.
    pub routing: &'static str,
    /// Elements declared failed, in addition to the exceptions of the file.
    pub failed: Vec<String>,
    /// All demands in Gb/s.
    pub demand_gbps: f64,
    /// The part of them that is carried, in Gb/s.
    pub carried_gbps: f64,
    /// Whether all demands are carried in full.
    pub fits: bool,
    /// Lower bound of the largest utilisation of any placement.
    pub bound: f64,
    /// Proof of the bound.
    pub proof: String,
    /// Distance of the placement from the bound, as a fraction.
    pub gap: f64,
    /// Number of pins.
    pub pins: usize,
    /// Pins in the fabric file. Figures are those of the fabric without them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub not_counted: Vec<String>,
    /// Balancing in the file other than by hash, by tier of switches. With `adaptive` and `spray`, `te` splits every
    /// flow over all next hops. It treats `flowlet` as a hash.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub balanced: Vec<String>,
    /// Spreading of `ecmp-fluid` and `ecmp-hashed`. If hosts choose paths it is `even`, over all paths equally. If
    /// switches choose it is `weighted`, by the weights of the plan's next-hop groups.
    pub ecmp: &'static str,
    /// Figures of each placement: `te`, `ecmp-fluid` and `ecmp-hashed`.
    pub methods: Vec<Method>,
    /// The cables with the highest utilisation of the placement.
    pub hottest: Vec<HotLink>,
    /// Demands that are not carried in full, largest first.
    pub unplaced: Vec<UnplacedDemand>,
    /// Number of demands that are not carried in full and not listed.
    pub unplaced_more: usize,
}

/// A method of placing traffic on paths.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Method {
    /// `te`, `ecmp-fluid` or `ecmp-hashed`.
    pub name: &'static str,
    /// The largest utilisation of any cable.
    pub max: f64,
    /// Utilisation by tier of cables.
    pub tiers: Vec<Tier>,
}

/// Utilisation of a tier of cables in one direction.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Tier {
    /// The tier and the direction.
    pub tier: &'static str,
    /// Utilisation of its cables.
    #[serde(flatten)]
    pub figures: Figures,
}

/// Utilisation of many cables.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Figures {
    /// Number of usable cables.
    pub cables: u64,
    /// Highest utilisation.
    pub max: f64,
    /// Mean utilisation.
    pub mean: f64,
    /// 99th percentile of the utilisation.
    pub p99: f64,
}

/// One of the cables with the highest utilisation.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct HotLink {
    /// The cable.
    pub cable: String,
    /// The direction.
    pub direction: &'static str,
    /// Number of planes whose cable at this position has the same utilisation.
    pub planes: usize,
    /// Utilisation with the placement.
    pub te: f64,
    /// Utilisation with traffic spread as a fluid.
    pub ecmp_fluid: f64,
    /// Utilisation with hashed flows.
    pub ecmp_hashed: f64,
}

/// A demand that is not carried in full.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct UnplacedDemand {
    /// Sender.
    pub from: String,
    /// Receiver.
    pub to: String,
    /// Rate that is not carried, in Gb/s.
    pub gbps: f64,
    /// The reason.
    pub why: &'static str,
}

/// Returns the names of the pins in the file.
fn pin_names(ecmp: &Ecmp) -> Vec<String> {
    let all = (ecmp.pin != Pin::None).then(|| format!("`ecmp.pin: {}`", ecmp.pin.keyword()));
    let single = (!ecmp.pins.is_empty()).then(|| "`ecmp.pins`".to_owned());
    all.into_iter().chain(single).collect()
}

/// Returns the tiers whose balancing is not by hash.
fn tier_balances(topology: &Topology) -> Vec<String> {
    let of = |tier: TierId| (tier, topology.balance(tier));
    let all = TierId::ALL.into_iter().map(of).filter(|(_, balance)| *balance != Balance::Hash);
    all.map(|(tier, balance)| format!("`{}` on {}s", balance.keyword(), tier.label())).collect()
}

impl Outcome {
    /// Creates the report. `failed` contains the names of elements declared failed.
    pub fn report(&self, plan: &Plan, failed: &[String]) -> Report {
        let topology = plan.topology();
        let mut unplaced: Vec<UnplacedDemand> = self
            .uncarried_demands
            .iter()
            .map(|((from, to, why), gbps)| UnplacedDemand {
                from: from.name(topology),
                to: to.name(topology),
                gbps: *gbps,
                why: why.text(),
            })
            .collect();
        unplaced.sort_by(|a, b| b.gbps.total_cmp(&a.gbps));
        let more = unplaced.len().saturating_sub(UNPLACED);
        unplaced.truncate(UNPLACED);
        let lost: f64 = self.uncarried_demands.values().sum();
        let named = [("te", &self.te), ("ecmp-fluid", &self.even), ("ecmp-hashed", &self.hashed)];
        let method = |(name, loads): (&'static str, &Loads)| Method {
            name,
            max: loads.max(&self.network),
            tiers: tiers(&self.network, loads),
        };
        Report {
            format: FORMAT,
            fabric: topology.name.to_string(),
            routing: topology.routing.keyword(),
            failed: failed.to_vec(),
            demand_gbps: self.demand_gbps,
            carried_gbps: self.demand_gbps - lost,
            fits: self.fits(),
            bound: self.bound(),
            proof: self.proof(plan),
            gap: if self.bound() > 0.0 { self.max() / self.bound() - 1.0 } else { 0.0 },
            pins: self.pin_count(),
            not_counted: pin_names(&topology.ecmp),
            balanced: tier_balances(topology),
            ecmp: if self.network.hop_by_hop { "weighted" } else { "even" },
            methods: named.into_iter().map(method).collect(),
            hottest: self.hottest(plan),
            unplaced,
            unplaced_more: more,
        }
    }

    fn hottest(&self, plan: &Plan) -> Vec<HotLink> {
        let network = &self.network;
        let mut found: Vec<(f64, usize, Stage, usize)> = Vec::new();
        for kind in 0..network.kinds.len() {
            for stage in Stage::ALL {
                let loads = self.te.of(kind, stage).iter().enumerate().filter(|(_, load)| **load > 0.0);
                found.extend(loads.map(|(at, load)| (load / stage.speed(&network.shape), kind, stage, at)));
                // Only the cables with the highest utilisation of each stage can be among the highest of all.
                found.sort_by(|a, b| b.0.total_cmp(&a.0).then((a.1, a.2, a.3).cmp(&(b.1, b.2, b.3))));
                found.truncate(HOTTEST);
            }
        }
        let hot = |(te, kind, stage, at): (f64, usize, Stage, usize)| {
            let planes = &network.kinds[kind].planes;
            let other = |loads: &Loads| loads.of(kind, stage)[at] / stage.speed(&network.shape);
            HotLink {
                cable: plan.link_name(link(network, planes[0], stage, at)),
                direction: stage.label(),
                planes: planes.len(),
                te,
                ecmp_fluid: other(&self.even),
                ecmp_hashed: other(&self.hashed),
            }
        };
        found.into_iter().map(hot).collect()
    }
}

/// Returns a cable by its index.
fn link(network: &Network, plane: PlaneId, stage: Stage, at: usize) -> Link {
    match stage {
        Stage::NicUp | Stage::NicDown => Link::Host(NicPort { plane, nic: network.shape.nic_at(at) }),
        Stage::T0Up | Stage::T0Down => network.shape.t0_link(plane, at),
        Stage::T1Up | Stage::T1Down => network.shape.t1_link(plane, at),
    }
}

fn tiers(network: &Network, loads: &Loads) -> Vec<Tier> {
    let tier = |stage: Stage| {
        let mut cables: Vec<(f64, usize)> = Vec::new();
        for (at, kind) in network.kinds.iter().enumerate() {
            let live = |place: usize| match stage {
                Stage::NicUp | Stage::NicDown => network.reach[place] >> at & 1 == 1,
                Stage::T0Up | Stage::T0Down => kind.t0[place],
                Stage::T1Up | Stage::T1Down => kind.t1[place],
            };
            let each = loads.of(at, stage).iter().enumerate().filter(|(place, _)| live(*place));
            cables.extend(each.map(|(_, load)| (load / stage.speed(&network.shape), kind.planes.len())));
        }
        (!cables.is_empty()).then(|| Tier { tier: stage.label(), figures: figures(cables) })
    };
    Stage::ALL.into_iter().filter_map(tier).collect()
}

/// Summarises utilisations, each with the number of planes to which it applies.
fn figures(mut cables: Vec<(f64, usize)>) -> Figures {
    cables.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let all: usize = cables.iter().map(|(_, times)| times).sum();
    let sum: f64 = cables.iter().map(|(level, times)| level * *times as f64).sum();
    let mut below = 0;
    let p99 = cables.iter().find(|(_, times)| {
        below += times;
        below * 100 >= all * 99
    });
    Figures {
        cables: all as u64,
        max: cables.last().map_or(0.0, |(level, _)| *level),
        mean: sum / all as f64,
        p99: p99.map_or(0.0, |(level, _)| *level),
    }
}
