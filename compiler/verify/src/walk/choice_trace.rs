//! The trace of an affected packet where switches choose the next hop.
//!
//! In: a switch, and the destination that it treats wrongly. Out: the path of one packet, one line per step, each with
//! the artefact that determines it. Invariants: a NIC of the fabric can send the packet. Of the possible choices of
//! switches, those that lead to the fault are shown.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, VecDeque};

use closc_artefacts::Address;

use super::choices::longest;
use crate::finding::TraceStep as Line;
use crate::model::cabling::{CableId, SwitchId};
use crate::model::fact::FactKind;
use crate::proof::chosen::network::{Network, Step};

/// Number of switches after which a packet counts as looping. Paths have at most five.
const HOPS_MAX: usize = 12;

/// Finds a packet to an address that passes a switch, and traces it.
pub(crate) fn find(network: &Network<'_>, switch: SwitchId, address: Address) -> Vec<Line> {
    let fabric = network.fabric;
    let mut before: BTreeMap<SwitchId, Option<SwitchId>> = BTreeMap::new();
    let mut open: VecDeque<SwitchId> = VecDeque::new();
    let own = network.senders(switch).next().is_some();
    let starts = fabric
        .cabling
        .switch_ids()
        .filter(|id| if own { *id == switch } else { network.senders(*id).next().is_some() });
    for id in starts {
        before.insert(id, None);
        open.push_back(id);
    }
    while let Some(at) = open.pop_front() {
        if at == switch {
            return tell(network, &switch_path(&before, at), address);
        }
        for step in steps(network, at, address) {
            if let Step::Switch { id, .. } = step
                && let Entry::Vacant(entry) = before.entry(id)
            {
                entry.insert(Some(at));
                open.push_back(id);
            }
        }
    }
    Vec::new()
}

fn switch_path(before: &BTreeMap<SwitchId, Option<SwitchId>>, to: SwitchId) -> Vec<SwitchId> {
    let mut way = vec![to];
    while let Some(Some(earlier)) = way.last().map(|at| before[at]) {
        way.push(earlier);
    }
    way.reverse();
    way
}

fn steps(network: &Network<'_>, at: SwitchId, address: Address) -> Vec<Step> {
    let route = network.fabric.switch(at).and_then(|switch| longest(switch, address));
    route.map(|route| route.next_hops.iter().map(|way| network.step(at, way)).collect()).unwrap_or_default()
}

/// Traces a packet on its path to a switch, and from there to its end.
fn tell(network: &Network<'_>, way: &[SwitchId], address: Address) -> Vec<Line> {
    let cabling = &network.fabric.cabling;
    let mut lines = Vec::new();
    let Some(first) = way.first() else { return lines };
    // The sender is a NIC other than the destination, if there is one.
    let meant = |cable: CableId| {
        let nic = network.destinations.at(cable).map(|nic| &network.destinations.nics[nic as usize]);
        nic.is_some_and(|nic| nic.address == Some(address))
    };
    let sender = network.senders(*first).map(|(_, cable)| cable).min_by_key(|cable| meant(*cable));
    if let Some(cable) = sender {
        let text =
            format!("a packet to {address} arrives through `{}`", cabling.describe(&cabling.cable(cable)));
        lines.push(Line { text, place: None });
    }
    for pair in way.windows(2) {
        let step = Step::Switch { id: pair[1], up: true };
        lines.push(line(network, pair[0], address, Some(step)));
    }
    let mut at = way[way.len() - 1];
    for _ in 0..HOPS_MAX {
        let all = steps(network, at, address);
        let harm = all.iter().copied().find(|step| !fine(network, *step, address)).or(all.first().copied());
        lines.push(line(network, at, address, harm));
        match harm {
            Some(Step::Switch { id, .. }) => at = id,
            Some(Step::Nic(nic, _)) => {
                let whose = network.destinations.nics[nic as usize].address == Some(address);
                let text = if whose { "which has this address" } else { "which does not have this address" };
                let text =
                    format!("`{}` receives it, {text}", network.destinations.name(network.fabric, nic));
                lines.push(Line { text, place: None });
                return lines;
            }
            Some(Step::Lost(_)) | None => return lines,
        }
    }
    lines.push(Line { text: "forwarding loop".to_owned(), place: None });
    lines
}

/// Returns whether a packet arrives through a step if every switch takes its first choice.
fn fine(network: &Network<'_>, step: Step, address: Address) -> bool {
    let mut step = step;
    for _ in 0..HOPS_MAX {
        match step {
            Step::Nic(nic, _) => return network.destinations.nics[nic as usize].address == Some(address),
            Step::Lost(_) => return false,
            Step::Switch { id, .. } => match steps(network, id, address).first() {
                Some(next) => step = *next,
                None => return false,
            },
        }
    }
    false
}

/// Returns the action of a switch, with its route.
fn line(network: &Network<'_>, at: SwitchId, address: Address, step: Option<Step>) -> Line {
    let fabric = network.fabric;
    let name = fabric.cabling.switch(at);
    let Some(route) = fabric.switch(at).and_then(|switch| longest(switch, address)) else {
        let text = format!("`{name}` has no route for it: dropped");
        return Line { text, place: Some(fabric.place(at, FactKind::Routes)) };
    };
    let text = route.prefix.to_string();
    let ways = match route.next_hops.len() {
        0 => {
            let place = Some(fabric.place(at, FactKind::Blackhole(&text)));
            return Line { text: format!("`{name}` has a blackhole for it, `{text}`: dropped"), place };
        }
        1 => "one path".to_owned(),
        several => format!("{several} paths"),
    };
    let to = match step {
        Some(Step::Switch { id, .. }) => format!("`{}`", fabric.cabling.switch(id)),
        Some(Step::Nic(_, cable)) => format!("`{}`", fabric.cabling.end(fabric.cabling.cable(cable).lower)),
        Some(Step::Lost(Some(cable))) => {
            format!("`{}`, which cannot carry frames", fabric.cabling.describe(&fabric.cabling.cable(cable)))
        }
        Some(Step::Lost(None)) | None => "a port without a cable".to_owned(),
    };
    let text_line = format!("`{name}` has {ways} for `{text}`, one to {to}");
    Line { text: text_line, place: Some(fabric.place(at, FactKind::Route(&text))) }
}
