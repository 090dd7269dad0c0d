//! Nodes whose routes change due to exceptions, if switches choose paths.
//!
//! In: two plans. Out: nodes whose routes differ. Invariants: the route of a NIC to a destination uses the
//! planes that reach this destination. So NICs of a T0 group whose ports have the same exceptions gain and lose the
//! same routes. Nothing else in a node's files depends on switches to which the node has no cable.

use std::collections::{BTreeMap, BTreeSet};

use closc_plan::{NicRoute, Plan};
use closc_topology::{Link, Nic, Node, ZoneId};

/// The ports of a NIC that are named in exceptions, each with the list that contains it: old or new, absent
/// or drained.
type Ports = BTreeSet<(u8, usize)>;

/// Returns the nodes whose routes differ. Only one NIC is compared for each group and kind of NIC.
pub(crate) fn nodes(old: &Plan, new: &Plan) -> BTreeSet<Node> {
    let named = excepted_nics(old, new);
    let mut nodes = BTreeSet::new();
    for (zone, group) in old.groups() {
        let mut kinds: BTreeMap<Option<&Ports>, Vec<Nic>> = BTreeMap::new();
        for nic in nics(old, zone, group).filter(|nic| new.fabric().has_nic(*nic)) {
            kinds.entry(named.get(&nic)).or_default().push(nic);
        }
        for nics in kinds.into_values().filter(|nics| routes(old, nics[0]) != routes(new, nics[0])) {
            nodes.extend(nics.iter().map(|nic| old.topology().node_of(*nic).0));
        }
    }
    nodes
}

/// Returns the NICs with a port that is named in an exception.
fn excepted_nics(old: &Plan, new: &Plan) -> BTreeMap<Nic, Ports> {
    let mut named: BTreeMap<Nic, Ports> = BTreeMap::new();
    let [before, after] = [old, new].map(|plan| &plan.topology().exceptions);
    let lists = [&before.absent_links, &before.drained_links, &after.absent_links, &after.drained_links];
    for (list, links) in lists.into_iter().enumerate() {
        for link in links {
            if let Link::Host(port) = link {
                named.entry(port.nic).or_default().insert((port.plane.0, list));
            }
        }
    }
    named
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
