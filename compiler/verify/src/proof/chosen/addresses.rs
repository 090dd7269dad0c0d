//! Checks that each NIC has one address, and that all its T0s have a route to this address.

use std::collections::HashMap;

use closc_artefacts::Address;

use super::network::Network;
use crate::finding::{Findings, Violation};
use crate::model::cabling::DeviceId;
use crate::model::fact::FactKind;
use crate::model::place::Place;
use crate::read::linux;
use crate::rules::choices::ADDRESS;

/// Checks that each NIC has one address, and that all its T0s have a route to this address.
pub(crate) fn check(network: &Network<'_>, findings: &mut Findings) {
    let fabric = network.fabric;
    let mut owners: HashMap<Address, u32> = HashMap::new();
    let route = |address: Address| format!("{address}/128");
    for (number, nic) in network.destinations.nics.iter().enumerate() {
        let number = number as u32;
        findings.count_facts(&ADDRESS, nic.cables.len() as u64);
        let name = || network.destinations.name(fabric, number);
        let t0s = || {
            nic.cables.iter().filter_map(|id| match fabric.cabling.cable(*id).upper.party {
                DeviceId::Switch(id) => Some(id),
                DeviceId::Node(_) => None,
            })
        };
        let Some(address) = nic.address else {
            let message = format!("no switch leads to `{}`, so its address is unknown", name());
            let mut places = t0s().map(|id| fabric.place(id, FactKind::Routes));
            if let Some(first) = places.next() {
                findings.report(places.fold(Violation::new(&ADDRESS, first, message), Violation::and));
            }
            continue;
        };
        for (t0, other) in &nic.contradictions {
            let message = format!(
                "`{}` routes {other} to `{}`, whose address is {address}",
                fabric.cabling.switch(*t0),
                name()
            );
            let place = fabric.place(*t0, FactKind::Route(&route(*other)));
            let others =
                t0s().filter(|id| id != t0).map(|id| fabric.place(id, FactKind::Route(&route(address))));
            let node = fabric.node(nic.node).map(|_| {
                let name = fabric.cabling.party(DeviceId::Node(nic.node));
                Place::text(
                    format!("hosts/{name}/{}", linux::place::FILE),
                    vec![format!("replace {address}/128 ")],
                )
            });
            let violation = others.chain(node).fold(Violation::new(&ADDRESS, place, message), Violation::and);
            findings.report(violation);
        }
        if let Some(other) = owners.insert(address, number) {
            let other = network.destinations.name(fabric, other);
            let message = format!("`{}` and `{other}` both have {address}", name());
            let mut places = t0s().map(|id| fabric.place(id, FactKind::Route(&route(address))));
            if let Some(first) = places.next() {
                findings.report(places.fold(Violation::new(&ADDRESS, first, message), Violation::and));
            }
        }
    }
}
