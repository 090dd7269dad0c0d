//! V06: checks the routes of each switch, alone and against its neighbours.

use rayon::prelude::*;

use crate::finding::{Findings, Violation};
use crate::model::cabling::{Cable, DeviceId, Kind, Side, SwitchId};
use crate::model::fabric::Fabric;
use crate::model::fact::FactKind;
use crate::model::segment::Usid;
use crate::model::switch::Switch;
use crate::rules::routes::{MISSING, OWNER, PARALLEL, SINGLE};

/// Checks the routes of every switch against its neighbours.
pub(crate) fn check(fabric: &Fabric, nic_usids: &[Option<Usid>]) -> Findings {
    if fabric.layout.is_none() {
        return Findings::default();
    }
    (0..fabric.switches.len() as u32)
        .into_par_iter()
        .map(|id| {
            let mut findings = Findings::default();
            if let Some(switch) = fabric.switch(SwitchId(id)) {
                let mut work =
                    RouteComparison { fabric, nic_usids, id: SwitchId(id), switch, findings: &mut findings };
                work.owners();
                work.cables();
            }
            findings
        })
        .reduce(Findings::default, Findings::merge)
}

struct RouteComparison<'a> {
    fabric: &'a Fabric,
    /// For each cable, the uSID of the NIC at its lower end.
    nic_usids: &'a [Option<Usid>],
    id: SwitchId,
    switch: &'a Switch,
    findings: &'a mut Findings,
}

impl RouteComparison<'_> {
    fn name(&self) -> &str {
        self.fabric.cabling.switch(self.id)
    }

    /// Checks that every route leads to the owner of its uSID.
    fn owners(&mut self) {
        for route in &self.switch.routes {
            let (id, cable, side) = self.fabric.slot_cable(self.id, route.slot);
            let far = cable.ends(side).1;
            let owns = match far.party {
                DeviceId::Switch(peer) => match self.fabric.switch(peer) {
                    Some(peer) => peer.owns(route.usid),
                    // The files of that switch do not parse, which is reported elsewhere, so its uSIDs are unknown.
                    None => continue,
                },
                DeviceId::Node(_) => self.nic_usids[id.0 as usize] == Some(route.usid),
            };
            self.findings.expect(owns, &OWNER, || {
                let message = format!(
                    "`{}` sends uSID {} to `{}`, which does not own it",
                    self.fabric.cabling.switch(self.id),
                    route.usid,
                    self.fabric.cabling.end(far)
                );
                let place = self.fabric.route_place(self.id, route.usid);
                let violation = Violation::new(&OWNER, place, message).with_usid(self.id, route.usid);
                let violation = violation.and(self.fabric.cabling.place(id));
                match far.party {
                    DeviceId::Switch(peer) => violation.and(self.fabric.place(peer, FactKind::Segments)),
                    DeviceId::Node(_) => {
                        let table = self.fabric.nics_place(DeviceId::Switch(self.id));
                        table.into_iter().fold(violation, Violation::and)
                    }
                }
            });
        }
    }

    /// Checks that exactly one route uses each cable.
    fn cables(&mut self) {
        let mut over = vec![(0u32, Usid(0)); self.switch.ends.len()];
        for route in &self.switch.routes {
            let entry = &mut over[usize::from(route.slot)];
            *entry = (entry.0 + 1, route.usid);
        }
        for (slot, (count, usid)) in over.into_iter().enumerate() {
            self.findings.count_facts(&MISSING, 1);
            let (id, cable, side) = self.fabric.slot_cable(self.id, slot as u16);
            let (own, far) = cable.ends(side);
            let port = || self.fabric.cabling.names.text(own.port);
            match count {
                0 => {
                    let message = format!(
                        "`{}` has no route over `{}`, the cable to `{}`",
                        self.name(),
                        port(),
                        self.fabric.cabling.end(far)
                    );
                    let violation =
                        Violation::new(&MISSING, self.fabric.place(self.id, FactKind::Routes), message)
                            .and(self.fabric.cabling.place(id));
                    let wanted = self.missing_route(far.party, id.0);
                    self.findings.report(match wanted {
                        Some(usid) => violation.with_usid(self.id, usid),
                        None => violation,
                    });
                }
                1 => {
                    if cable.kind != Kind::NicT0 && side == Side::Lower {
                        self.parallel(&cable, usid);
                    }
                }
                several => {
                    let message = format!(
                        "`{}` has {several} routes over `{}`, the last for uSID {usid}",
                        self.name(),
                        port()
                    );
                    let place = self.fabric.route_place(self.id, usid);
                    self.findings.report(Violation::new(&SINGLE, place, message).with_usid(self.id, usid));
                }
            }
        }
    }

    /// Returns the first uSID of the far end that has no route, or the uSID of the NIC there.
    fn missing_route(&self, far: DeviceId, cable: u32) -> Option<Usid> {
        match far {
            DeviceId::Switch(peer) => {
                let routed = |usid: &&Usid| self.switch.route(**usid).is_none();
                self.fabric.switch(peer)?.usids.iter().find(routed).copied()
            }
            DeviceId::Node(_) => self.nic_usids[cable as usize],
        }
    }

    /// Checks that a cable among parallel ones has the same number at both ends. Other faults are reported at the end
    /// that has them.
    fn parallel(&mut self, cable: &Cable, to_upper: Usid) {
        let DeviceId::Switch(peer) = cable.upper.party else { return };
        let Some(upper) = self.fabric.switch(peer) else { return };
        let Some(back) = upper.usid_over(cable.upper.slot) else { return };
        let number = |usids: &[Usid], usid: Usid| usids.binary_search(&usid).ok();
        let (Some(up), Some(down)) = (number(&upper.usids, to_upper), number(&self.switch.usids, back))
        else {
            return;
        };
        self.findings.expect(up == down, &PARALLEL, || {
            let message = format!(
                "`{}` is cable {up} in the uSID of its upper end, but cable {down} in that of its lower end",
                self.fabric.cabling.describe(cable)
            );
            Violation::new(&PARALLEL, self.fabric.route_place(self.id, to_upper), message)
                .and(self.fabric.route_place(peer, back))
                .with_usid(self.id, to_upper)
        });
    }
}
