//! V0202: each port is in at most one row of the cable lists.

use std::collections::HashSet;

use crate::finding::{Findings, Violation};
use crate::model::cabling::{Cabling, DeviceId, NodeId, Plug};
use crate::rules::cabling::ONCE;

/// Checks that no port is in two rows.
pub(crate) fn check(cabling: &Cabling, findings: &mut Findings) {
    for switch in cabling.switch_ids() {
        check_single_cables(cabling, DeviceId::Switch(switch), cabling.at_switch(switch), findings);
    }
    for node in 0..cabling.nodes.len() as u32 {
        check_single_cables(cabling, DeviceId::Node(NodeId(node)), cabling.at_node(NodeId(node)), findings);
    }
}

fn check_single_cables(cabling: &Cabling, party: DeviceId, plugs: &[Plug], findings: &mut Findings) {
    findings.count_facts(&ONCE, plugs.len() as u64);
    let mut seen = HashSet::with_capacity(plugs.len());
    for plug in plugs {
        let (own, _) = cabling.cable(plug.cable()).ends(plug.side());
        if !seen.insert(own.port) {
            let message = format!(
                "port `{}` of `{}` has two cables",
                cabling.names.text(own.port),
                cabling.party(party)
            );
            findings.report(Violation::new(&ONCE, cabling.place(plug.cable()), message));
        }
    }
}
