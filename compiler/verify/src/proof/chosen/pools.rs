//! Blackholes for unused addresses of the hosts' pool.

use std::cmp::Reverse;

use super::network::Network;
use crate::finding::{Findings, Violation};
use crate::model::fact::FactKind;
use crate::model::switch::RouteView;
use crate::rules::choices::{POOL, UNUSED_ADDRESSES};

/// Checks that every switch has the common blackhole, and that routes over cables are inside it. The common blackhole
/// is the most frequent one that covers all NICs.
pub(crate) fn check(network: &Network<'_>, findings: &mut Findings) {
    let fabric = network.fabric;
    let addresses = || network.destinations.nics.iter().filter_map(|nic| nic.address);
    let (Some(least), Some(most)) = (addresses().min(), addresses().max()) else { return };
    let mut votes: std::collections::BTreeMap<closc_artefacts::Prefix, usize> =
        std::collections::BTreeMap::new();
    for switch in fabric.switches.iter().flatten() {
        let covers = |route: &RouteView<'_>| route.prefix.contains(&least) && route.prefix.contains(&most);
        for route in switch.other_routes.iter().filter(|route| route.next_hops.is_empty()).filter(covers) {
            *votes.entry(route.prefix).or_default() += 1;
        }
    }
    // If several are equally frequent, the widest counts: with a single T0, the prefix of its group is also a
    // blackhole.
    let pool = votes
        .into_iter()
        .max_by_key(|(prefix, count)| (*count, Reverse(prefix.prefix_len())))
        .map(|(pool, _)| pool);
    if let Some(pool) = pool {
        findings.record_common_value(&POOL, "pool of NICs", &pool);
    }
    for id in fabric.cabling.switch_ids() {
        let Some(switch) = fabric.switch(id) else { continue };
        let own = pool.is_some_and(|pool| {
            let of_pool = |route: &RouteView<'_>| route.prefix == pool;
            switch.other_routes.iter().rfind(of_pool).is_some_and(|route| route.next_hops.is_empty())
        });
        let name = fabric.cabling.switch(id);
        findings.expect(own, &POOL, || {
            let pool = pool.map_or("the pool of NICs".to_owned(), |pool| format!("`{pool}`"));
            Violation::new(
                &POOL,
                fabric.place(id, FactKind::Routes),
                format!("`{name}`: {pool} is not a blackhole"),
            )
        });
        findings.count_facts(&UNUSED_ADDRESSES, switch.other_routes.len() as u64);
        let outside = |route: &RouteView<'_>| {
            !route.next_hops.is_empty()
                && !pool.is_some_and(|pool| pool.contains(&route.prefix) && pool != route.prefix)
        };
        for route in switch.other_routes.iter().filter(outside) {
            let text = route.prefix.to_string();
            let message = format!("`{name}`: `{text}` is not inside the pool of NICs, and uses a cable");
            findings.report(Violation::new(
                &UNUSED_ADDRESSES,
                fabric.place(id, FactKind::Route(&text)),
                message,
            ));
        }
    }
}
