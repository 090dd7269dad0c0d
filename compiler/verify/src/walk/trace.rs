//! The trace of an affected packet.
//!
//! In: a switch and the uSID whose packets it treats wrongly. Out: the path of one packet, one line per step, each with
//! the artefact that determines it. Invariants: a NIC of the fabric can send the packet, with an address from its path
//! table.

use closc_artefacts::Address;
use closc_paths::{Choice, Kind};

use crate::bind::nics::NicCables;
use crate::finding::TraceStep;
use crate::forward::packet::{Ending, Hop, Network};
use crate::model::cabling::{CableId, SwitchId};
use crate::model::fabric::Fabric;
use crate::model::fact::FactKind;
use crate::model::group::{Group, destination, list};
use crate::model::segment::{Usid, slots};

/// Maximum number of groups to try as sender and as receiver.
const CANDIDATES: usize = 6;

/// Finds a packet that arrives at a switch with a certain next uSID, and traces it.
pub(crate) fn find(network: &Network<'_>, nics: &NicCables, switch: SwitchId, usid: Usid) -> Vec<TraceStep> {
    let fabric = network.fabric;
    let Some(plane) = fabric.switch(switch).and_then(|switch| switch.plane) else { return Vec::new() };
    let candidates = candidates(fabric, switch, usid, plane);
    for from in &candidates {
        for to in &candidates {
            let search = Search { network, nics, from: *from, to: *to, plane };
            if let Some(steps) = search.run(switch, usid) {
                return steps;
            }
        }
    }
    Vec::new()
}

/// Returns the groups whose T0 is the switch or owns the uSID, and a few others.
fn candidates(fabric: &Fabric, switch: SwitchId, usid: Usid, plane: u8) -> Vec<usize> {
    let concerned = |group: &Group| {
        group.planes.get(usize::from(plane)).is_some_and(|entry| {
            let owner = entry.t0.and_then(|t0| fabric.switch(t0)).is_some_and(|t0| t0.owns(usid));
            entry.t0 == Some(switch) || owner
        })
    };
    let zones = |index: usize| fabric.groups[index].zone;
    let mut chosen: Vec<usize> =
        (0..fabric.groups.len()).filter(|at| concerned(&fabric.groups[*at])).collect();
    for at in 0..fabric.groups.len() {
        let same_zone = chosen.iter().filter(|other| zones(**other) == zones(at)).count();
        if same_zone < 2 && !chosen.contains(&at) && chosen.len() < CANDIDATES {
            chosen.push(at);
        }
    }
    chosen
}

struct Search<'a> {
    network: &'a Network<'a>,
    nics: &'a NicCables,
    from: usize,
    to: usize,
    plane: u8,
}

impl Search<'_> {
    fn run(&self, switch: SwitchId, usid: Usid) -> Option<Vec<TraceStep>> {
        let fabric = self.network.fabric;
        let (group, target) = (&fabric.groups[self.from], &fabric.groups[self.to]);
        let table = group.table();
        let h = *table.header();
        let planes = group.planes.len();
        let cable = |nic: usize| self.nics.cable(self.from, planes, nic, usize::from(self.plane));
        let (source, start) = (0..group.nics.len()).find_map(|nic| Some((nic, cable(nic)?)))?;
        let kind = crate::check::tables::kind((group.zone, group.group), (target.zone, target.group));
        let (t0, t1) = match kind {
            Kind::Local => (1, 1),
            Kind::Zone => (h.t0_uplinks, 1),
            Kind::Far => (h.t0_uplinks, h.t1_uplinks),
        };
        // If the uSID is that of a NIC, the receiver is the NIC on its downlink; otherwise it is the first NIC.
        let named = |downlink: u16| group.layout.nic(self.plane, downlink) == Some(usid);
        let receiver = target.nics.iter().find(|nic| named(nic.downlink)).or(target.nics.first())?;
        let to = destination(&table, target.zone, target.group, receiver.downlink)?;
        for t0_uplink in 0..t0 {
            for t1_uplink in 0..t1 {
                let choice = Choice { plane: self.plane, t0_uplink, t1_uplink };
                let address = list(&table, &to, choice).0;
                let mut hops = Vec::new();
                let ending = self.network.walk(start, address, |hop| hops.push(hop));
                let passes = |hop: &Hop| hop.switch == switch && slots(hop.address)[0] == usid;
                if hops.iter().any(passes) {
                    let names = (&*group.nics[source].name, &*receiver.name);
                    return Some(self.tell(names, start, address, &hops, ending));
                }
            }
        }
        None
    }

    fn tell(
        &self,
        (source, receiver): (&str, &str),
        start: CableId,
        address: Address,
        hops: &[Hop],
        ending: Ending,
    ) -> Vec<TraceStep> {
        let fabric = self.network.fabric;
        let cabling = &fabric.cabling;
        let mut steps = vec![TraceStep {
            text: format!(
                "`{source}` sends to `{receiver}` with {address} over `{}`",
                cabling.describe(&cabling.cable(start))
            ),
            place: None,
        }];
        for hop in hops {
            steps.push(self.hop(hop));
        }
        let last = hops.last().map_or("", |hop| cabling.switch(hop.switch));
        let text = match ending {
            Ending::Nic(cable, left) => {
                let nic = cabling.end(cabling.cable(cable).lower);
                format!("`{nic}` receives it with {left} left")
            }
            Ending::NoRoute => format!("`{last}` has no route for it: dropped"),
            Ending::Blackhole => format!("`{last}` has a blackhole for it: dropped"),
            Ending::Several => format!("`{last}` has several next hops for it"),
            Ending::ListEnds => format!("the list ends at `{last}`: dropped"),
            Ending::Cable(id) => {
                format!("`{}` cannot carry the frame: lost", cabling.describe(&cabling.cable(id)))
            }
            Ending::Loop => "forwarding loop".to_owned(),
        };
        steps.push(TraceStep { text, place: None });
        steps
    }

    fn hop(&self, hop: &Hop) -> TraceStep {
        let fabric = self.network.fabric;
        let cabling = &fabric.cabling;
        let name = cabling.switch(hop.switch);
        let shifts = if hop.own { "removes its own uSID" } else { "does not own the first uSID" };
        let way = match hop.out {
            Some((id, side)) => {
                let (own, far) = cabling.cable(id).ends(side);
                format!(", sends through `{}` to `{}`", cabling.names.text(own.port), cabling.end(far))
            }
            None => String::new(),
        };
        let usid = slots(hop.address)[0];
        let place = match hop.out {
            Some(_) => fabric.route_place(hop.switch, usid),
            None => fabric.place(hop.switch, FactKind::Routes),
        };
        TraceStep { text: format!("`{name}` {shifts}, has {}{way}", hop.address), place: Some(place) }
    }
}
