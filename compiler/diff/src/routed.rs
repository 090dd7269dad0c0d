//! What an exception touches where switches choose the path.
//!
//! In: two plans. Out: nodes whose routes differ. Invariants: a NIC has a route for each destination over the planes
//! that get there, so the NICs of a T0 group gain and lose routes together; of switches that it has no cable to, a node
//! has nothing but these.

use std::collections::BTreeSet;

use closc_plan::{NicRoute, Plan};
use closc_topology::{Nic, Node, ZoneId};

/// Returns the nodes whose routes differ: of each group, one NIC of both sides is compared.
pub(crate) fn nodes(old: &Plan, new: &Plan) -> BTreeSet<Node> {
    let mut nodes = BTreeSet::new();
    for (zone, group) in old.groups() {
        let nics: Vec<Nic> = nics(old, zone, group).filter(|nic| new.fabric().has_nic(*nic)).collect();
        if nics.first().is_some_and(|nic| routes(old, *nic) != routes(new, *nic)) {
            nodes.extend(nics.iter().map(|nic| old.topology().node_of(*nic).0));
        }
    }
    nodes
}

fn nics(plan: &Plan, zone: ZoneId, group: u16) -> impl Iterator<Item = Nic> + '_ {
    let all = (0..plan.topology().hosts.per_group).map(move |downlink| Nic { zone, group, downlink });
    all.filter(|nic| plan.fabric().has_nic(*nic))
}

fn routes(plan: &Plan, nic: Nic) -> Vec<NicRoute> {
    let (node, number) = plan.topology().node_of(nic);
    let mut nics = plan.host(node).nics.into_iter();
    nics.find(|other| other.number == number).map(|nic| nic.routes).unwrap_or_default()
}
