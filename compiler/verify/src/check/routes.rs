//! V06: routes of a switch, for themselves and against its neighbours.

use std::sync::Arc;

use closc_diagnostics::Rule;
use rayon::prelude::*;

use crate::attach::{Attach, other_half};
use crate::finding::{Findings, Violation};
use crate::model::cabling::{Kind, Party, Side, SwitchId};
use crate::model::device::{Hop, Os, Route, Via};
use crate::model::fabric::{About, Fabric};
use crate::model::segment::{Layout, Usid};
use crate::model::switch::{Gateway, OddRoute, SegmentRoute, Switch, Way};

/// Nothing but neighbours.
pub(crate) static FOREIGN: Rule = Rule {
    code: "V0601",
    title: "a route that leads to no neighbour",
    what: "The routes of a switch are one /48 for every neighbour's uSID and the blackhole of the block; there \
           is no default route and no prefix of another length.",
    why: "A packet whose uSID is unknown must die at the first switch. With any wider route it goes on, and a \
          swapped cable misdelivers instead of losing packets.",
    example: "\"STATIC_ROUTE\": { \"default|::/0\": { \"ifname\": \"Ethernet256\", ... } }",
    fix: "Compile again; take additions out of template overlays.",
};

/// The blackhole is there.
pub(crate) static BLACKHOLE: Rule = Rule {
    code: "V0602",
    title: "the blackhole of the block is missing",
    what: "Every switch drops what it has no route for inside the block.",
    why: "Without it an unknown uSID follows whatever wider route there is, on some targets out of the \
           management port.",
    example: "no \"default|fcbb:bbbb::/32\": { \"blackhole\": \"true\" }",
    fix: "Compile again.",
};

/// A next hop is the other end of a cable.
pub(crate) static HOP: Rule = Rule {
    code: "V0603",
    title: "a next hop is not the other end of the port's cable",
    what: "The next hop of a route is the other address of the port's /127, and the port has a cable and is on.",
    why: "A next hop that nobody answers for drops every packet of the route.",
    example: "\"default|fcbb:bbbb:5802::/48\": { \"ifname\": \"Ethernet256\", \"nexthop\": \"2001:db8::1\" }",
    fix: "Compile again.",
};

/// A route names one cable.
pub(crate) static SINGLE: Rule = Rule {
    code: "V0604",
    title: "a uSID that does not name one cable",
    what: "A uSID has one route with one next hop, and no two routes lead out over one cable.",
    why: "A list names every cable it takes; with two next hops the switch chooses, and a bad entropy value no \
          longer names a bad cable.",
    example: "\"ifname\": \"Ethernet256,Ethernet257\"",
    fix: "Compile again.",
};

/// A route leads to the owner.
pub(crate) static OWNER: Rule = Rule {
    code: "V0605",
    title: "a route leads to a device that does not own the uSID",
    what: "At the other end of the cable that a uSID's route leads to is the switch that owns the uSID, or the \
           NIC whose downlink it names.",
    why: "The packet dies there, as its uSID is unknown; every path over this route is lost.",
    example: "routes of fcbb:bbbb:5801::/48 and fcbb:bbbb:5802::/48 with their ports exchanged",
    fix: "Compile again.",
};

/// Every cable has its route.
pub(crate) static MISSING: Rule = Rule {
    code: "V0606",
    title: "a cable without a route",
    what: "Every cable of a switch is led to by one route; so there are as many as neighbours.",
    why: "Packets for this neighbour are dropped, and every path over the cable is lost.",
    example: "no route for the uSID of the T1 at the other end of Ethernet256",
    fix: "Compile again.",
};

/// Parallel cables have the same number at both ends.
pub(crate) static PARALLEL: Rule = Rule {
    code: "V0607",
    title: "parallel cables are numbered differently at both ends",
    what: "With several cables between two switches, the cable that one end reaches by the other's n-th uSID \
           is the one that the other end reaches by its n-th.",
    why: "The way down takes the cable of the same number as the way up; numbered differently, a list goes \
           over another cable than its entropy value says.",
    example: "uplinks 0 and 1 exchanged at the T1 only",
    fix: "Compile again.",
};

/// The family, in the order of codes.
pub(crate) const RULES: &[&Rule] = &[&FOREIGN, &BLACKHOLE, &HOP, &SINGLE, &OWNER, &MISSING, &PARALLEL];

/// The routes of a switch by kind.
#[derive(Debug, Default)]
pub(crate) struct Routes {
    pub(crate) blackhole: bool,
    pub(crate) segments: Vec<SegmentRoute>,
    pub(crate) odd: Vec<OddRoute>,
}

/// Sorts the routes of a switch by kind, and reports what is none of them.
pub(crate) fn sort(attach: &mut Attach<'_, '_>) -> Routes {
    let mut routes = Routes::default();
    let device = attach.device;
    let Some(layout) = attach.context.layout else {
        // Switches choose the way: their routes are kept as they are.
        for route in &device.routes {
            let ways = ways(attach, route);
            routes.odd.push(OddRoute { prefix: route.prefix, ways });
        }
        return routes;
    };
    attach.findings.checked(&FOREIGN, device.routes.len() as u64);
    for route in &device.routes {
        one(attach, layout, route, &mut routes);
    }
    attach.findings.checked(&BLACKHOLE, 1);
    if !routes.blackhole {
        let message = format!("`{}` is no blackhole", layout.block);
        attach.broken(&BLACKHOLE, About::Routes, &message);
    }
    routes.segments.sort_unstable();
    for pair in routes.segments.windows(2).filter(|pair| pair[0].usid == pair[1].usid) {
        let prefix = layout.prefix(pair[0].usid).to_string();
        attach.broken(&SINGLE, About::Route(&prefix), &format!("`{prefix}` has two routes"));
    }
    attach.findings.checked(&SINGLE, routes.segments.len() as u64);
    routes
}

fn one(attach: &mut Attach<'_, '_>, layout: &Layout, route: &Route<'_>, routes: &mut Routes) {
    let about = About::Route(&route.text);
    match (layout.usid(route.prefix), &route.via) {
        (None, Via::Blackhole) if route.prefix == layout.block => routes.blackhole = true,
        (Some(usid), Via::One(hop)) => match next(attach, route, *hop) {
            (Some(slot), gateway) => routes.segments.push(SegmentRoute { usid, slot, gateway }),
            (None, gateway) => {
                let way = Way { slot: None, gateway, weight: hop.weight };
                routes.odd.push(OddRoute { prefix: route.prefix, ways: Arc::new([way]) });
            }
        },
        (usid, _) => {
            let hops = hops(route);
            if usid.is_some() && !hops.is_empty() {
                let message = format!("`{}` has {} next hops", route.text, hops.len());
                attach.broken(&SINGLE, about, &message);
            } else {
                let message = format!(
                    "`{}` is neither the /48 of a neighbour nor the blackhole of the block",
                    route.text
                );
                attach.broken(&FOREIGN, about, &message);
            }
            let ways = ways(attach, route);
            routes.odd.push(OddRoute { prefix: route.prefix, ways });
        }
    }
}

/// Returns the next hops of a route; none where it drops.
fn hops<'a>(route: &'a Route<'_>) -> &'a [Hop] {
    match &route.via {
        Via::Blackhole => &[],
        Via::One(hop) => std::slice::from_ref(hop),
        Via::Many(hops) => hops,
    }
}

/// Returns the ways of a route.
fn ways(attach: &mut Attach<'_, '_>, route: &Route<'_>) -> Arc<[Way]> {
    let way = |hop: &Hop| {
        let (slot, gateway) = next(attach, route, *hop);
        Way { slot, gateway, weight: hop.weight }
    };
    hops(route).iter().map(way).collect()
}

/// Returns the slot of a next hop, and reports one that nobody answers for.
fn next(attach: &mut Attach<'_, '_>, route: &Route<'_>, hop: Hop) -> (Option<u16>, Gateway) {
    let about = About::Route(&route.text);
    let port = attach.device.port(hop.port);
    attach.findings.checked(&HOP, 1);
    let Some(slot) = attach.slots[usize::from(hop.port)] else {
        let message = format!("`{}` leads over port `{}`, which has no cable", route.text, port.name);
        attach.broken(&HOP, about, &message);
        return (None, Gateway::Other);
    };
    let own = port.addresses.first().map(ipnet::Ipv6Net::addr);
    let gateway = match (hop.gateway, own) {
        (Some(gateway), Some(own)) if gateway == other_half(own) => Gateway::Peer,
        (None, _) if attach.device.os == Os::P4 => Gateway::Unneeded,
        (found, _) => {
            let found = found.map_or("nothing".to_owned(), |found| found.to_string());
            let message = format!(
                "`{}` names {found} as next hop over port `{}`, which is not the other end of its cable",
                route.text, port.name
            );
            attach.broken(&HOP, about, &message);
            Gateway::Other
        }
    };
    (Some(slot), gateway)
}

/// Holds the routes of every switch against its neighbours.
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
                    Against { fabric, nic_usids, id: SwitchId(id), switch, findings: &mut findings };
                work.owners();
                work.cables();
            }
            findings
        })
        .reduce(Findings::default, Findings::merge)
}

struct Against<'a> {
    fabric: &'a Fabric,
    /// The uSID that names the NIC at the lower end of each cable.
    nic_usids: &'a [Option<Usid>],
    id: SwitchId,
    switch: &'a Switch,
    findings: &'a mut Findings,
}

impl Against<'_> {
    fn name(&self) -> &str {
        self.fabric.cabling.switch(self.id)
    }

    /// Every route leads to the owner of its uSID.
    fn owners(&mut self) {
        for route in &self.switch.routes {
            let (id, cable, side) = self.fabric.plugged(self.id, route.slot);
            let far = cable.ends(side).1;
            let owns = match far.party {
                Party::Switch(peer) => match self.fabric.switch(peer) {
                    Some(peer) => peer.owns(route.usid),
                    // Its files do not parse, which is reported; nothing can be said of it.
                    None => continue,
                },
                Party::Node(_) => self.nic_usids[id.0 as usize] == Some(route.usid),
            };
            self.findings.expect(owns, &OWNER, || {
                let message = format!(
                    "`{}` sends uSID {} to `{}`, which does not own it",
                    self.fabric.cabling.switch(self.id),
                    route.usid,
                    self.fabric.cabling.end(far)
                );
                let place = self.fabric.route_place(self.id, route.usid);
                let violation = Violation::new(&OWNER, place, message).about(self.id, route.usid);
                let violation = violation.and(self.fabric.cabling.place(id));
                match far.party {
                    Party::Switch(peer) => violation.and(self.fabric.place(peer, About::Segments)),
                    Party::Node(_) => {
                        let table = self.fabric.nics_place(Party::Switch(self.id));
                        table.into_iter().fold(violation, Violation::and)
                    }
                }
            });
        }
    }

    /// Every cable is led to by one route.
    fn cables(&mut self) {
        let mut over = vec![(0u32, Usid(0)); self.switch.ends.len()];
        for route in &self.switch.routes {
            let entry = &mut over[usize::from(route.slot)];
            *entry = (entry.0 + 1, route.usid);
        }
        for (slot, (count, usid)) in over.into_iter().enumerate() {
            self.findings.checked(&MISSING, 1);
            let (id, cable, side) = self.fabric.plugged(self.id, slot as u16);
            let (own, far) = cable.ends(side);
            let port = self.fabric.cabling.names.text(own.port);
            match count {
                0 => {
                    let message = format!(
                        "`{}` has no route over `{port}`, the cable to `{}`",
                        self.name(),
                        self.fabric.cabling.end(far)
                    );
                    let violation =
                        Violation::new(&MISSING, self.fabric.place(self.id, About::Routes), message)
                            .and(self.fabric.cabling.place(id));
                    let wanted = self.wanted(far.party, id.0);
                    self.findings.broken(match wanted {
                        Some(usid) => violation.about(self.id, usid),
                        None => violation,
                    });
                }
                1 => {
                    if cable.kind != Kind::NicT0 && side == Side::Lower {
                        self.parallel(slot as u16, usid);
                    }
                }
                several => {
                    let message = format!(
                        "`{}` has {several} routes over `{port}`, the last for uSID {usid}",
                        self.name()
                    );
                    let place = self.fabric.route_place(self.id, usid);
                    self.findings.broken(Violation::new(&SINGLE, place, message).about(self.id, usid));
                }
            }
        }
    }

    /// The uSID whose route is missing, where it can be only one.
    fn wanted(&self, far: Party, cable: u32) -> Option<Usid> {
        match far {
            Party::Switch(peer) => {
                let routed = |usid: &&Usid| self.switch.route(**usid).is_none();
                self.fabric.switch(peer)?.usids.iter().find(routed).copied()
            }
            Party::Node(_) => self.nic_usids[cable as usize],
        }
    }

    /// The cable has the same number at both ends. Where either end is wrong otherwise, that is reported there.
    fn parallel(&mut self, slot: u16, to_upper: Usid) {
        let (_, cable, _) = self.fabric.plugged(self.id, slot);
        let Party::Switch(peer) = cable.upper.party else { return };
        let Some(upper) = self.fabric.switch(peer) else { return };
        let Some(back) = upper.usid_over(cable.upper.slot) else { return };
        let number = |usids: &[Usid], usid: Usid| usids.binary_search(&usid).ok();
        let (Some(up), Some(down)) = (number(&upper.usids, to_upper), number(&self.switch.usids, back))
        else {
            return;
        };
        self.findings.expect(up == down, &PARALLEL, || {
            let message = format!(
                "`{}` is cable {up} by the uSID of its upper end and cable {down} by that of its lower end",
                self.fabric.cabling.describe(cable)
            );
            Violation::new(&PARALLEL, self.fabric.route_place(self.id, to_upper), message)
                .and(self.fabric.route_place(peer, back))
                .about(self.id, to_upper)
        });
    }
}
