//! Demands summed up to commodities: the rate from one class of NICs to another.
//!
//! In: a matrix and the classes. Out: [`Commodities`], and the demands without a path, each with the reason.
//! Invariants: sorted by destination, then source; every commodity has a path in each of its kinds of planes; rates add
//! up to the matrix.

use std::collections::BTreeMap;

use closc_topology::Topology;

use crate::class::{Class, ClassMembers, Classes};
use crate::demand::{Demand, Matrix};
use crate::load::Stage;
use crate::network::{Kind, Network};
use crate::place::Place;

/// Maximum number of commodities.
pub const COMMODITIES_MAX: usize = 1 << 24;

/// Traffic between two classes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Commodity {
    /// Class of the senders.
    pub(crate) from: u32,
    /// Class of the receivers.
    pub(crate) to: u32,
    /// The kinds of planes that have a path, one bit each; never 0.
    pub(crate) usable: u16,
    /// Flows in each plane.
    pub(crate) flows: u32,
    /// Rate over all planes in Gb/s.
    pub(crate) gbps: f64,
}

/// The reason why a demand is not carried in full.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    /// The demand has no pair of different NICs that exist.
    Absent,
    /// A NIC has no cable that can be used.
    NoPort,
    /// No switch connects the two NICs, by design.
    Unjoined,
    /// No plane has a path between the two NICs.
    NoPath,
    /// Cables that it uses are full, and no other pair of NICs on them has a higher rate.
    Full(Stage),
}

impl Reason {
    /// Returns the reason in words.
    pub fn text(self) -> &'static str {
        match self {
            Reason::Absent => "the source or the destination has no NIC that is in service",
            Reason::NoPort => "a NIC has no usable cable in any plane",
            Reason::Unjoined => "no tier connects the two NICs, by design",
            Reason::NoPath => "no plane has a usable path between the two NICs",
            Reason::Full(Stage::NicUp) => "the ports of a sending NIC are full",
            Reason::Full(Stage::NicDown) => "the ports of a receiving NIC are full",
            Reason::Full(Stage::T0Up) => "T0 to T1 cables on its paths are full",
            Reason::Full(Stage::T0Down) => "T1 to T0 cables on its paths are full",
            Reason::Full(Stage::T1Up) => "T1 to T2 cables on its paths are full",
            Reason::Full(Stage::T1Down) => "T2 to T1 cables on its paths are full",
        }
    }
}

/// Demands that cannot be carried, by place and reason, in Gb/s.
pub(crate) type UncarriedDemands = BTreeMap<(Place, Place, Reason), f64>;

/// All commodities to place, and the demands that cannot be placed.
#[derive(Debug, Clone)]
pub(crate) struct Commodities {
    pub(crate) all: Vec<Commodity>,
    pub(crate) uncarried_demands: UncarriedDemands,
}

/// A demand divided by class.
pub(crate) struct DividedDemand {
    pub(crate) from: Vec<ClassMembers>,
    pub(crate) to: Vec<ClassMembers>,
    /// Rate from one NIC to another, in Gb/s.
    pub(crate) rate: f64,
}

/// The classes of senders, and those of receivers, which can be divided into slices.
#[derive(Debug, Clone)]
pub(crate) struct Sides {
    pub(crate) from: Classes,
    pub(crate) to: Classes,
}

impl Sides {
    /// Divides a demand by class. Returns `None` if it has no pair of different NICs.
    pub(crate) fn cut(
        &self,
        topology: &Topology,
        network: &Network,
        demand: &Demand,
    ) -> Option<DividedDemand> {
        let from = self.from.parts(topology, network, demand.from);
        let to = self.to.parts(topology, network, demand.to);
        let count = |parts: &[ClassMembers]| parts.iter().map(|part| u64::from(part.nics)).sum::<u64>();
        let same: u64 = from
            .iter()
            .flat_map(|a| to.iter().map(move |b| (a, b)))
            .map(|(a, b)| u64::from(self.overlap(topology, network, demand, a, b)))
            .sum();
        let pairs = count(&from) * count(&to) - same;
        (pairs > 0).then(|| DividedDemand { from, to, rate: demand.gbps / pairs as f64 })
    }

    /// Returns how many NICs are in both parts of a demand. They do not send to themselves.
    pub(crate) fn overlap(
        &self,
        topology: &Topology,
        network: &Network,
        demand: &Demand,
        from: &ClassMembers,
        to: &ClassMembers,
    ) -> u32 {
        let (a, b) = (self.from.all[from.class], self.to.all[to.class]);
        if a.group != b.group || a.reach != b.reach {
            return 0;
        }
        if from.nics == a.nics && to.nics == b.nics {
            return a.nics.min(b.nics); // A slice lies inside its class.
        }
        let both = |nic: &usize| {
            let nic = network.shape.nic_at(*nic);
            demand.from.holds(topology, nic) && demand.to.holds(topology, nic)
        };
        self.to.members(network, to.class).filter(both).count() as u32
    }
}

impl Commodities {
    /// Sums up a matrix. Returns `None` if it has too many commodities.
    pub(crate) fn of(
        matrix: &Matrix,
        topology: &Topology,
        network: &Network,
        sides: &Sides,
        flows: u32,
    ) -> Option<Commodities> {
        let mut left = UncarriedDemands::new();
        let mut found: Vec<Commodity> = Vec::new();
        let mut limit = COMMODITIES_MAX;
        for demand in matrix.demands.iter().filter(|demand| demand.gbps > 0.0) {
            let Some(cut) = sides.cut(topology, network, demand) else {
                *left.entry((demand.from, demand.to, Reason::Absent)).or_default() += demand.gbps;
                continue;
            };
            for to in &cut.to {
                for from in &cut.from {
                    let same = sides.overlap(topology, network, demand, from, to);
                    let pairs = u64::from(from.nics) * u64::from(to.nics) - u64::from(same);
                    if pairs > 0 {
                        found.push(Commodity {
                            from: from.class as u32,
                            to: to.class as u32,
                            usable: 0,
                            flows: flows.saturating_mul(from.nics.min(pairs as u32)),
                            gbps: cut.rate * pairs as f64,
                        });
                    }
                }
                if found.len() > 2 * limit {
                    found = merge(found);
                    limit = COMMODITIES_MAX.max(found.len());
                }
            }
        }
        found = merge(found);
        if found.len() > COMMODITIES_MAX {
            return None;
        }
        let mut all = Vec::with_capacity(found.len());
        for mut commodity in found {
            let (from, to) = (sides.from.all[commodity.from as usize], sides.to.all[commodity.to as usize]);
            commodity.usable = usable(network, &from, &to);
            if commodity.usable != 0 {
                all.push(commodity);
                continue;
            }
            let why = reason(topology, network, &from, &to);
            let place = |class: &Class| {
                let (zone, group) = network.shape.group_at(class.group);
                Place::Group(zone, group)
            };
            *left.entry((place(&from), place(&to), why)).or_default() += commodity.gbps;
        }
        Some(Commodities { all, uncarried_demands: left })
    }

    /// Returns the index of the commodity between two classes.
    pub(crate) fn find(&self, from: usize, to: usize) -> Option<usize> {
        self.all.binary_search_by_key(&(to as u32, from as u32), |c| (c.to, c.from)).ok()
    }
}

/// Sorts by destination and source, and merges commodities between the same classes.
fn merge(mut found: Vec<Commodity>) -> Vec<Commodity> {
    found.sort_by_key(|commodity| (commodity.to, commodity.from));
    found.dedup_by(|next, kept| {
        let same = (next.to, next.from) == (kept.to, kept.from);
        if same {
            kept.gbps += next.gbps;
            kept.flows = kept.flows.saturating_add(next.flows);
        }
        same
    });
    found
}

/// Returns why no kind of planes has a path between two classes.
fn reason(topology: &Topology, network: &Network, from: &Class, to: &Class) -> Reason {
    let [one, other] = [from, to].map(|class| network.shape.group_at(class.group));
    if from.reach == 0 || to.reach == 0 {
        Reason::NoPort
    } else if topology.island().holds(one, other) {
        Reason::NoPath
    } else {
        Reason::Unjoined
    }
}

/// Returns the kinds of planes that have a path between two classes.
fn usable(network: &Network, from: &Class, to: &Class) -> u16 {
    let both = from.reach & to.reach;
    let joined = |at: &usize| {
        both >> at & 1 == 1
            && (from.group == to.group || is_joined(network, &network.kinds[*at], from.group, to.group))
    };
    (0..network.kinds.len()).filter(joined).fold(0, |mask, at| mask | 1 << at)
}

/// Returns whether a kind of planes has a path between two groups.
fn is_joined(network: &Network, kind: &Kind, a: usize, b: usize) -> bool {
    let shape = &network.shape;
    let (up, down) = (
        &kind.t0[shape.first_t0_uplink(a)..][..shape.t0_up],
        &kind.t0[shape.first_t0_uplink(b)..][..shape.t0_up],
    );
    let (za, zb) = (shape.zone(a), shape.zone(b));
    let any =
        |cables: &[bool], t1: usize| cables[t1 * shape.t0_parallel..][..shape.t0_parallel].contains(&true);
    if za == zb {
        return if network.hop_by_hop {
            (0..shape.t1s).any(|t1| any(up, t1) && any(down, t1))
        } else {
            up.iter().zip(down).any(|(up, down)| *up && *down)
        };
    }
    let t1 = |zone: usize, t1: usize| &kind.t1[shape.first_t1_uplink(zone, t1)..][..shape.t1_up];
    if network.hop_by_hop {
        let reaches = |links: &[bool], zone: usize, below: &[(usize, usize)]| {
            below.iter().any(|(at, v)| any(links, *at) && t1(zone, *at)[*v])
        };
        return network.t2_downlinks.iter().any(|below| reaches(up, za, below) && reaches(down, zb, below));
    }
    (0..shape.t0_up).any(|u| {
        let at = u / shape.t0_parallel;
        up[u] && down[u] && t1(za, at).iter().zip(t1(zb, at)).any(|(up, down)| *up && *down)
    })
}
