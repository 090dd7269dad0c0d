//! V17: where switches choose the path, every choice leads to the destination NIC.
//!
//! In: the NICs of a fabric without path tables, and the treatment of each class of destinations by each switch. Out:
//! the number of deliveries that arrive for every choice, and a violation for every switch that loses packets.
//! Invariants: pairs of NICs are not enumerated. Sets of classes are propagated tier by tier, down and up
//! ([`arrivals`]). A lost packet is reported where it is lost, not at every switch before it ([`traffic`]). Shares of
//! traffic are compared with the remaining capacity, which follows from the cable lists and the manifest ([`balance`]).

pub(crate) mod addresses;
pub(crate) mod arrivals;
mod attempts;
pub(crate) mod balance;
pub(crate) mod bandwidth_cache;
pub(crate) mod capacity;
pub(crate) mod counts;
pub(crate) mod ingress;
pub(crate) mod load;
pub(crate) mod network;
pub(crate) mod node_routes;
pub(crate) mod pools;
pub(crate) mod traffic;

use std::collections::HashMap;

use rayon::prelude::*;

use crate::finding::Findings;
use crate::model::cabling::SwitchId;
use crate::model::segment::Tier;
use counts::DeliveryCounts;
use network::{Network, Reach};

/// Summary of a plane: counts, violations, and for each T0 the classes that cables lead to.
type PlaneSummary = (DeliveryCounts, Findings, Vec<(SwitchId, Reach)>);

/// Proves delivery: counts deliveries that arrive, and reports those that do not.
pub(crate) fn check(network: &Network<'_>, findings: &mut Findings) -> DeliveryCounts {
    addresses::check(network, findings);
    pools::check(network, findings);
    ingress::check(network, findings);
    let planned = capacity::PlannedCapacity::of(network);
    let planes = network.planes();
    let done: Vec<PlaneSummary> = planes
        .par_iter()
        .map(|(plane, tiers)| {
            let mut findings = Findings::default();
            let could = arrivals::possible(network, *plane, tiers, true);
            traffic::check(network, tiers, &could, &mut findings);
            balance::check(network, &planned, (*plane, tiers), &could, &mut findings);
            let counts = arrivals::count(network, tiers, &could, &mut findings);
            let fabric = network.fabric;
            let described = fabric.nodes.iter().any(Option::is_some) || !fabric.tables.is_empty();
            let t0s = tiers[Tier::T0 as usize].iter().filter(|_| described);
            let in_use = arrivals::possible(network, *plane, tiers, false);
            let both = |id: SwitchId| Some([in_use.get(id, false)?.clone(), could.get(id, false)?.clone()]);
            let from = t0s.filter_map(|id| Some((*id, both(*id)?))).collect();
            (counts, findings, from)
        })
        .collect();
    let mut counts = DeliveryCounts { classes: network.classes.len() as u64, ..DeliveryCounts::default() };
    let mut from_t0s = HashMap::new();
    for (of_plane, found, from) in done {
        counts = counts.add(of_plane);
        *findings = std::mem::take(findings).merge(found);
        from_t0s.extend(from);
    }
    node_routes::check(network, &from_t0s, findings);
    counts
}
