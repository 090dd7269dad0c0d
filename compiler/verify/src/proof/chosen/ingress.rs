//! Ingress filters of T0s for NICs, if their language has them.
//!
//! In: the network. Out: violations. Invariants: a NIC may send to every NIC, but only from addresses of its own node.

use std::collections::BTreeMap;

use closc_artefacts::Address;

use super::network::Network;
use crate::finding::{Findings, Violation};
use crate::model::cabling::{Kind, NodeId, SwitchId};
use crate::model::fact::FactKind;
use crate::model::switch::IngressFilter;
use crate::rules::choices::INGRESS_FILTER;

/// The node of each NIC's address.
type Owners = BTreeMap<Address, NodeId>;

/// Checks all T0s whose language has ingress filters.
pub(crate) fn check(network: &Network<'_>, findings: &mut Findings) {
    let fabric = network.fabric;
    let nics = network.destinations.nics.iter();
    let addresses: Owners = nics.filter_map(|nic| Some((nic.address?, nic.node))).collect();
    for id in fabric.cabling.switch_ids() {
        let Some(ingress) = fabric.switch(id).and_then(|switch| switch.ingress.as_deref()) else { continue };
        let mut plugs = fabric.cabling.at_switch(id).iter();
        if plugs.all(|plug| fabric.cabling.cable(plug.cable()).kind != Kind::NicT0) {
            continue;
        }
        findings.count_facts(&INGRESS_FILTER, 1);
        let name = fabric.cabling.switch(id);
        // A switch need not accept packets for which it has no route. A missing route violates another rule.
        let leads = |address: Address| {
            let routes = fabric.switch(id).into_iter().flat_map(|switch| switch.other_routes.iter());
            let routes = routes.filter(|route| route.prefix.contains(&address));
            routes
                .max_by_key(|route| route.prefix.prefix_len())
                .is_some_and(|route| !route.next_hops.is_empty())
        };
        let shut = addresses.keys().filter(|address| !open(ingress, **address));
        if let Some(shut) = shut.copied().find(|address| leads(*address)) {
            let message = format!("`{name}` drops packets from its NICs to {shut}");
            findings.report(Violation::new(
                &INGRESS_FILTER,
                fabric.place(id, FactKind::IngressFilter),
                message,
            ));
        }
        sources(network, id, ingress, &addresses, findings);
    }
}

/// Returns whether packets to an address are accepted; the longest matching prefix decides.
fn open(ingress: &IngressFilter, address: Address) -> bool {
    let longest = |prefixes: &[closc_artefacts::Prefix]| {
        prefixes
            .iter()
            .filter(|prefix| prefix.contains(&address))
            .map(closc_artefacts::Prefix::prefix_len)
            .max()
    };
    longest(&ingress.plain).is_some_and(|plain| longest(&ingress.denied).is_none_or(|denied| denied < plain))
}

fn sources(
    network: &Network<'_>,
    id: SwitchId,
    ingress: &IngressFilter,
    addresses: &Owners,
    findings: &mut Findings,
) {
    let fabric = network.fabric;
    for (slot, sources) in &ingress.sources {
        let (cable_id, cable, side) = fabric.slot_cable(id, *slot);
        let Some(nic) = network.destinations.at(cable_id) else { continue };
        let nic = &network.destinations.nics[nic as usize];
        let Some(own) = nic.address else { continue };
        findings.count_facts(&INGRESS_FILTER, 1);
        let foreign = |source: &&Address| addresses.get(*source).is_some_and(|node| *node != nic.node);
        let foreign = sources.iter().find(foreign);
        let port = fabric.cabling.names.text(cable.ends(side).0.port);
        let message = match foreign {
            Some(foreign) => format!("accepts packets from {foreign}, an address of another node"),
            None if !sources.contains(&own) => format!("drops packets from {own}, the address of its NIC"),
            None => continue,
        };
        let message = format!("`{}`: port `{port}` {message}", fabric.cabling.switch(id));
        let place = fabric.place(id, FactKind::Source(port));
        findings.report(Violation::new(&INGRESS_FILTER, place, message));
    }
}
