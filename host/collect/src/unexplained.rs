//! Probes that do not return although no verdict explains it.
//!
//! In: tallies, verdicts, the time. Out: NICs with such probes. Invariants: a NIC is returned only after a time in which
//! every agent could report on the fault twice, so a verdict that is about to be given is not anticipated.
//!
//! If the probes of one NIC over a cable are lost, but those of another NIC return, the cable works. A switch may lack a
//! route to the first NIC. No single element can be named, but the NIC cannot reach others.

use std::collections::BTreeMap;

use closc_topology::{Link, Nic};

use crate::Collector;
use crate::element::{links, nic_name};

/// Time for which the probes must be lost, in units of the time for which a report is valid.
const FRESH_TIMES: u64 = 2;

impl Collector {
    /// Describes each NIC whose probes do not return without a verdict, in one line.
    pub(crate) fn unexplained_losses(&self, now_ms: u64) -> Vec<String> {
        let (plan, fresh_ms) = (self.plan(), self.options().fresh_ms);
        let topology = plan.topology();
        let mut lost: BTreeMap<Nic, Vec<Link>> = BTreeMap::new();
        for (link, suspect) in &self.evidence().suspects {
            for ((nic, turn), tally) in &suspect.tallies {
                let is_fresh = now_ms.saturating_sub(tally.last_seen_ms) <= fresh_ms;
                let is_old = now_ms.saturating_sub(tally.run_since_ms) >= FRESH_TIMES * fresh_ms;
                let path = || links(topology, *nic, *turn).into_iter().flatten();
                let is_named =
                    || self.verdicts().any(|own| path().any(|link| own.element.covers(topology, link)));
                if tally.is_dead() && is_fresh && is_old && !is_named() {
                    lost.entry(*nic).or_default().push(*link);
                }
            }
        }
        let line = |(nic, links): (Nic, Vec<Link>)| {
            let (nic, first) = (nic_name(topology, nic), links.first().map(|link| plan.link_name(*link)));
            format!(
                "NIC {nic}: its probes over {} cables do not return, and no faulty element explains this (first: {})",
                links.len(),
                first.unwrap_or_default()
            )
        };
        lost.into_iter().map(line).collect()
    }
}
