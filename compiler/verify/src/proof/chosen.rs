//! V17: where switches choose the way, every choice leads to the NIC.
//!
//! In: a fabric without path tables: its NICs, and what each switch does with each class of destinations. Out: how many
//! packets arrive whatever the switches choose, and a violation for every place where one comes to harm. Always: nothing
//! is done by pairs of NICs. Sets of classes go down tier by tier and up again ([`arrive`]); a packet that comes to harm
//! is found where that happens, and not at every switch before ([`follow`]); shares of traffic are held against the cable
//! lists, by parts of the capacity that is left ([`balance`]).

pub(crate) mod admit;
pub(crate) mod arrive;
pub(crate) mod balance;
pub(crate) mod behind;
pub(crate) mod capacity;
pub(crate) mod follow;

use std::collections::HashMap;
use std::net::Ipv6Addr;

use closc_diagnostics::Rule;
use ipnet::Ipv6Net;
use rayon::prelude::*;
use serde::Serialize;

use super::bits::Bits;
use super::carry::carries;
use crate::finding::{Findings, Place, Violation};
use crate::model::cabling::{CableId, Kind, Party, Side, SwitchId};
use crate::model::choice::{Atoms, Choice, ClassId, Classes, Row};
use crate::model::destinations::Destinations;
use crate::model::device::Os;
use crate::model::fabric::{About, Fabric};
use crate::model::segment::Tier;
use crate::model::switch::{Gateway, OddRoute, Way};
use crate::read::linux;

/// All say the same of a NIC.
pub(crate) static ADDRESS: Rule = Rule {
    code: "V1701",
    title: "a NIC whose address is not the same everywhere",
    what: "Every NIC has one address, which no other NIC has: what its node says, if the tree describes nodes, and what \
           the T0 of each plane leads over the NIC's cable are the same.",
    why: "Packets arrive by some planes and die, or go to another NIC, by the others.",
    example: "\"default|2001:db8:1000:1::7/128\" on one T0 and \"default|2001:db8:1000:1::1/128\" on the T0 of the next \
              plane, both over the port to the same NIC",
    fix: "Compile again.",
};

/// Nothing is dropped that could arrive.
pub(crate) static DROPPED: Rule = Rule {
    code: "V1702",
    title: "a switch drops what could arrive",
    what: "A switch that packets for a NIC come to leads them on, if cables lead from there to the NIC: up, then down, \
           inside a zone over T1s only.",
    why: "Whatever the switches before choose this switch for is lost, and hosts see timeouts between some pairs of NICs \
          only.",
    example: "no route for a T0 group on one of the T1s above it",
    fix: "Compile again.",
};

/// Packets arrive at the NIC that they are for.
pub(crate) static ASTRAY: Rule = Rule {
    code: "V1703",
    title: "a route leads to another NIC",
    what: "A route over the cable of a NIC is for addresses of that NIC alone.",
    why: "The packet is dropped by a NIC that it is not for, or worse, is taken.",
    example: "the ports of two NICs exchanged on a T0",
    fix: "Compile again.",
};

/// Packets do not go round.
pub(crate) static ROUND: Rule = Rule {
    code: "V1704",
    title: "packets go round",
    what: "No packet comes to a switch twice, whatever the switches choose and whoever it is for.",
    why: "It goes round until its hop limit is used up, and takes the capacity of the cables with it.",
    example: "no blackhole for the rest of a T0 group on its T0: up by the route of the zone, and down again",
    fix: "Compile again; every route that leads up must be covered by a blackhole where it ends.",
};

/// Up, then down.
pub(crate) static VALLEY: Rule = Rule {
    code: "V1705",
    title: "a switch sends up again what came from above",
    what: "A packet that came from above goes down, and never up again.",
    why: "It crosses a switch and cables that are nobody's share, and with paused priorities such turns can close a ring \
          of buffers.",
    example: "a /64 on a T1 over the cable to the T0 of another group",
    fix: "Compile again.",
};

/// Ways lead on.
pub(crate) static DEAD_END: Rule = Rule {
    code: "V1706",
    title: "a route leads over a switch from which there is no way",
    what: "From the switch at the other end of every cable that a route leads over, cables lead to every NIC that the \
           route is for and that can be reached at all.",
    why: "The share of the traffic that takes this cable is lost.",
    example: "a T1 in the group of a route, whose cable to the T0 is absent",
    fix: "Declare what is absent under `exceptions`, and compile again.",
};

/// Routes are for NICs.
pub(crate) static NOBODY: Rule = Rule {
    code: "V1707",
    title: "a route to addresses that nobody has",
    what: "Routes over cables are for addresses inside the hosts' pool; over the cable of a NIC, for addresses of NICs.",
    why: "What nobody is known to have may be anybody's: a default route leads packets out that should die.",
    example: "\"default|::/0\": { \"ifname\": \"Ethernet256\", ... }",
    fix: "Compile again.",
};

/// Everything else dies.
pub(crate) static POOL: Rule = Rule {
    code: "V1708",
    title: "the rest of the hosts' pool is no blackhole",
    what: "Every switch has one blackhole for the pool of all NICs' addresses, the same on all switches.",
    why: "Addresses that nobody has follow whatever route comes later, to the management network or round.",
    example: "no \"default|2001:db8:1000::/36\": { \"blackhole\": \"true\" }",
    fix: "Compile again.",
};

/// Shares follow capacity.
pub(crate) static SHARE: Rule = Rule {
    code: "V1709",
    title: "a route spreads traffic otherwise than capacity is left",
    what: "The weights of a route's next hops are as the parts of capacity that are left behind them, counted from the \
           cable lists; exactly, or as near as the width of a group lets them be. Where the language has no weights, the \
           next hops are those that carry most if all get the same. With BGP they are as the cables of the T0 that are behind \
           each, added up, to within one part of 255. A /128 of a T0 over one uplink is a pin, and may be over any.",
    why: "The narrowest way is full first, and flows over it are late while others have room.",
    example: "weight 1 for each of two T1s, of which one has lost one of its two cables to the T0",
    fix: "Compile again.",
};

/// Everything is in use.
pub(crate) static UNUSED_WAY: Rule = Rule {
    code: "V1710",
    title: "a route leaves out a cable that leads there",
    what: "A route leads over every cable behind which capacity is left, and over none that is drained as long as others \
           are left.",
    why: "Capacity that was paid for stays unused, or work on a drained cable takes traffic down.",
    example: "one of 32 uplinks missing in the group of a route",
    fix: "Compile again.",
};

/// The family, in the order of codes.
pub(crate) const RULES: &[&Rule] = &[
    &ADDRESS,
    &DROPPED,
    &ASTRAY,
    &ROUND,
    &VALLEY,
    &DEAD_END,
    &NOBODY,
    &POOL,
    &SHARE,
    &UNUSED_WAY,
    &admit::ADMITTED,
    &crate::check::told::TOLD,
];

/// What was proved where switches choose the way. A journey is a NIC that sends, a plane, and a NIC that is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct DeliveryCounts {
    /// Journeys of NICs with a cable in the plane.
    pub journeys: u128,
    /// Those that cables lead to: up, then down, inside a zone over T1s only.
    pub possible: u128,
    /// Those that arrive whatever the switches choose.
    pub arrive: u128,
    /// Those that arrive by some choice, not by every one.
    pub doubtful: u128,
    /// Ways that arrive, cable by cable.
    pub ways: u128,
    /// Ways that are tried, whether or not they arrive.
    pub tried: u128,
    /// Classes of destinations.
    pub classes: u64,
}

impl DeliveryCounts {
    fn add(self, other: DeliveryCounts) -> DeliveryCounts {
        DeliveryCounts {
            journeys: self.journeys + other.journeys,
            possible: self.possible + other.possible,
            arrive: self.arrive + other.arrive,
            doubtful: self.doubtful + other.doubtful,
            ways: self.ways.saturating_add(other.ways),
            tried: self.tried.saturating_add(other.tried),
            classes: self.classes.max(other.classes),
        }
    }
}

/// The fabric as packets see it.
pub(crate) struct Network<'a> {
    pub(crate) fabric: &'a Fabric,
    pub(crate) destinations: Destinations,
    pub(crate) classes: Classes,
    /// What each switch does.
    pub(crate) choices: Vec<Choice>,
    /// For each cable, whether frames get up and down.
    carries: Vec<[bool; 2]>,
    /// Classes of NICs.
    pub(crate) taken: Bits,
    /// A number for each zone, by switch: T0s and T1s that nodes and cables hold together.
    pub(crate) zones: Vec<u32>,
    /// Tier and plane of each switch that has a cable.
    pub(crate) positions: HashMap<SwitchId, (Tier, u8)>,
}

/// Where a way of a route leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// The frame is lost: no cable, or it does not get over it.
    Lost(Option<CableId>),
    /// To a NIC.
    Nic(u32, CableId),
    /// To a switch, up or down.
    Switch { id: SwitchId, up: bool },
}

impl<'a> Network<'a> {
    /// Returns the prefix of the route that decides about a class of a row.
    pub(crate) fn prefix(&self, id: SwitchId, row: &Row, class: ClassId) -> Ipv6Net {
        let address = self.classes.address(class);
        let odd = self.fabric.switch(id).into_iter().flat_map(|switch| &switch.odd);
        let prefixes = odd.map(|route| route.prefix).filter(|prefix| prefix.contains(&address));
        prefixes.max_by_key(Ipv6Net::prefix_len).unwrap_or(row.prefix)
    }

    /// Cuts the destinations into classes and works out what each switch does with each.
    pub(crate) fn new(fabric: &'a Fabric) -> Self {
        let destinations = Destinations::find(fabric);
        let carries = carried(fabric);
        let mut marks: HashMap<Vec<Party>, u64> = HashMap::new();
        let mut named = Vec::with_capacity(destinations.nics.len());
        for (number, nic) in destinations.nics.iter().enumerate() {
            let Some(address) = nic.address else { continue };
            let above: Vec<Party> =
                nic.cables.iter().map(|id| fabric.cabling.cable(*id).upper.party).collect();
            let next = marks.len() as u64;
            named.push((number as u32, address, *marks.entry(above).or_insert(next)));
        }
        let prefixes: hashbrown::HashSet<ipnet::Ipv6Net> = fabric
            .switches
            .iter()
            .flatten()
            .flat_map(|switch| switch.odd.iter().map(|route| route.prefix.trunc()))
            .collect();
        let nodes = || fabric.nodes.iter().flatten().filter(|node| !node.told.is_empty());
        let told = nodes().flat_map(|node| node.told.iter().map(|(_, route)| route.prefix));
        let mut atoms = Atoms::new(prefixes.into_iter().chain(told), &named);
        let delivers = |id: SwitchId| {
            let (destinations, carries) = (&destinations, &carries);
            move |nic: u32, route: &OddRoute| {
                let own = destinations.over(fabric, id, route) == Some(nic);
                own && route.ways.iter().all(|way| {
                    let cable = way.slot.map(|slot| fabric.plugged(id, slot).0);
                    way.gateway != Gateway::Other && cable.is_some_and(|cable| carries[cable.0 as usize][1])
                })
            }
        };
        for id in fabric.cabling.switch_ids() {
            if let Some(switch) = fabric.switch(id) {
                atoms.cut(&switch.odd, &delivers(id));
            }
        }
        let never = |_: u32, _: &OddRoute| false;
        for node in nodes() {
            let routes: Vec<OddRoute> = node.told.iter().map(|(_, route)| route.clone()).collect();
            atoms.cut(&routes, &never);
        }
        let classes = atoms.classes();
        let choices = (0..fabric.switches.len() as u32)
            .into_par_iter()
            .map(|id| {
                let id = SwitchId(id);
                let switch = fabric.switch(id);
                switch.map_or_else(Choice::default, |switch| classes.choice(&switch.odd, &delivers(id)))
            })
            .collect();
        let mut taken = Bits::new(classes.len());
        for (class, _) in classes.nics.iter().enumerate().filter(|(_, nics)| !nics.is_empty()) {
            taken.set(class);
        }
        let zones = zones(fabric);
        let positions = fabric.cabling.positions();
        Network { fabric, destinations, classes, choices, carries, taken, zones, positions }
    }

    /// Returns where a way of a switch leads.
    pub(crate) fn step(&self, id: SwitchId, way: &Way) -> Step {
        let Some(slot) = way.slot else { return Step::Lost(None) };
        let (cable_id, cable, side) = self.fabric.plugged(id, slot);
        let carried = self.carries[cable_id.0 as usize][usize::from(side == Side::Upper)];
        if way.gateway == Gateway::Other || !carried {
            return Step::Lost(Some(cable_id));
        }
        match cable.ends(side).1.party {
            Party::Node(_) => {
                self.destinations.at(cable_id).map_or(Step::Lost(None), |nic| Step::Nic(nic, cable_id))
            }
            Party::Switch(id) => Step::Switch { id, up: side == Side::Lower },
        }
    }

    /// Returns the class of a NIC that has an address.
    pub(crate) fn class_of(&self, nic: u32) -> Option<ClassId> {
        let address = self.destinations.nics[nic as usize].address?;
        let class = self.classes.within(address.into()).start;
        // Of two NICs with one address only one is found by it.
        self.classes.nics[class as usize].contains(&nic).then_some(class)
    }

    /// Tells whether a way to a NIC serves every address of a class.
    pub(crate) fn serves(&self, nic: u32, class: ClassId) -> bool {
        self.classes.nics[class as usize] == [nic]
    }

    /// Returns the NICs that send into a T0, each with its cable.
    pub(crate) fn senders(&self, id: SwitchId) -> impl Iterator<Item = (u32, CableId)> + '_ {
        let plugs = self.fabric.cabling.at_switch(id).iter().map(|plug| plug.cable);
        plugs.filter_map(|cable| {
            let nic = self.destinations.at(cable)?;
            self.carries[cable.0 as usize][0].then_some((nic, cable))
        })
    }

    /// Returns the T0 of a class in a plane, if its NICs have a cable there.
    pub(crate) fn t0(&self, class: ClassId, plane: u8) -> Option<SwitchId> {
        let nic = *self.classes.nics[class as usize].first()?;
        let cables =
            self.destinations.nics[nic as usize].cables.iter().map(|id| self.fabric.cabling.cable(*id));
        let mut here = cables.filter(|cable| cable.plane == plane);
        match here.next()?.upper.party {
            Party::Switch(id) => Some(id),
            Party::Node(_) => None,
        }
    }

    /// Tells whether the cable of any NIC of a class is drained in a plane.
    pub(crate) fn drained(&self, class: ClassId, plane: u8) -> bool {
        let cabling = &self.fabric.cabling;
        let nics = self.classes.nics[class as usize].iter();
        let cables = nics.flat_map(|nic| &self.destinations.nics[*nic as usize].cables);
        cables.map(|id| cabling.cable(*id)).any(|cable| cable.plane == plane && cable.drained)
    }

    /// Returns the planes, each with its switches by tier.
    pub(crate) fn planes(&self) -> Vec<(u8, [Vec<SwitchId>; 3])> {
        let mut planes: std::collections::BTreeMap<u8, [Vec<SwitchId>; 3]> =
            std::collections::BTreeMap::new();
        for id in self.fabric.cabling.switch_ids() {
            if let Some((tier, plane)) = self.positions.get(&id) {
                planes.entry(*plane).or_default()[*tier as usize].push(id);
            }
        }
        planes.into_iter().collect()
    }
}

/// For each cable, whether frames get up and down.
fn carried(fabric: &Fabric) -> Vec<[bool; 2]> {
    let over = |cable, side: Side| {
        let cable: &crate::model::cabling::Cable = cable;
        match cable.ends(side).0.party {
            Party::Node(node) if fabric.node(node).is_none() => {
                let port = fabric.end_state(cable.upper);
                let facts = fabric.facts(cable.upper);
                port.is_some_and(|port| port.configured)
                    && facts.is_some_and(|facts| facts.up && facts.faces_nic != Some(false))
            }
            Party::Switch(id) if fabric.switch(id).is_some_and(|switch| switch.os == Os::P4) => {
                carries(fabric, cable, side, Gateway::Unneeded)
            }
            Party::Node(_) | Party::Switch(_) => carries(fabric, cable, side, Gateway::Peer),
        }
    };
    let both = |cable| [Side::Lower, Side::Upper].map(|side| over(cable, side));
    fabric.cabling.cables.par_iter().map(both).collect()
}

/// Numbers the zones: parts that hang together by nodes, T0s and T1s, over all planes.
fn zones(fabric: &Fabric) -> Vec<u32> {
    let switches = fabric.switches.len();
    let mut parent: Vec<u32> = (0..(switches + fabric.cabling.nodes.len()) as u32).collect();
    let number = |party: Party| match party {
        Party::Switch(id) => id.0,
        Party::Node(id) => switches as u32 + id.0,
    };
    for cable in fabric.cabling.cables.iter().filter(|cable| cable.kind != Kind::T1T2) {
        let (a, b) =
            (root(&mut parent, number(cable.lower.party)), root(&mut parent, number(cable.upper.party)));
        parent[a.max(b) as usize] = a.min(b);
    }
    (0..switches as u32).map(|at| root(&mut parent, at)).collect()
}

fn root(parent: &mut [u32], mut at: u32) -> u32 {
    while parent[at as usize] != at {
        let above = parent[parent[at as usize] as usize];
        parent[at as usize] = above;
        at = above;
    }
    at
}

/// The classes that cables lead to from a T0: those in use, and all.
pub(crate) type Reach = [Bits; 2];

/// What a plane comes to: counts, violations, and where cables lead from each T0.
type Done = (DeliveryCounts, Findings, Vec<(SwitchId, Reach)>);

/// Proves delivery: counts what arrives, and reports what does not.
pub(crate) fn check(network: &Network<'_>, findings: &mut Findings) -> DeliveryCounts {
    addresses(network, findings);
    pools(network, findings);
    admit::check(network, findings);
    let planned = capacity::Planned::of(network);
    let planes = network.planes();
    let done: Vec<Done> = planes
        .par_iter()
        .map(|(plane, tiers)| {
            let mut findings = Findings::default();
            let could = arrive::possible(network, *plane, tiers, true);
            follow::check(network, tiers, &could, &mut findings);
            balance::check(network, &planned, (*plane, tiers), &could, &mut findings);
            let counts = arrive::count(network, tiers, &could, &mut findings);
            let described = network.fabric.nodes.iter().any(Option::is_some);
            let t0s = tiers[Tier::T0 as usize].iter().filter(|_| described);
            let in_use = arrive::possible(network, *plane, tiers, false);
            let both = |id: SwitchId| Some([in_use.get(id, false)?.clone(), could.get(id, false)?.clone()]);
            let from = t0s.filter_map(|id| Some((*id, both(*id)?))).collect();
            (counts, findings, from)
        })
        .collect();
    let mut counts = DeliveryCounts { classes: network.classes.len() as u64, ..DeliveryCounts::default() };
    let mut from_t0s = HashMap::new();
    for (of_plane, found, from) in done {
        counts = counts.add(of_plane);
        *findings = std::mem::take(findings).merge(found);
        from_t0s.extend(from);
    }
    crate::check::told::check(network, &from_t0s, findings);
    counts
}

/// NICs have one address each, and all T0s know it.
fn addresses(network: &Network<'_>, findings: &mut Findings) {
    let fabric = network.fabric;
    let mut owners: HashMap<Ipv6Addr, u32> = HashMap::new();
    let told = |address: Ipv6Addr| format!("{address}/128");
    for (number, nic) in network.destinations.nics.iter().enumerate() {
        let number = number as u32;
        findings.checked(&ADDRESS, nic.cables.len() as u64);
        let name = || network.destinations.name(fabric, number);
        let t0s = || {
            nic.cables.iter().filter_map(|id| match fabric.cabling.cable(*id).upper.party {
                Party::Switch(id) => Some(id),
                Party::Node(_) => None,
            })
        };
        let Some(address) = nic.address else {
            let message = format!("no switch leads to `{}`, so nobody knows its address", name());
            let mut places = t0s().map(|id| fabric.place(id, About::Routes));
            if let Some(first) = places.next() {
                findings.broken(places.fold(Violation::new(&ADDRESS, first, message), Violation::and));
            }
            continue;
        };
        for (t0, other) in &nic.against {
            let message = format!(
                "`{}` leads {other} to `{}`, which has {address}",
                fabric.cabling.switch(*t0),
                name()
            );
            let place = fabric.place(*t0, About::Route(&told(*other)));
            let others = t0s().filter(|id| id != t0).map(|id| fabric.place(id, About::Route(&told(address))));
            let node = fabric.node(nic.node).map(|_| {
                let name = fabric.cabling.party(Party::Node(nic.node));
                Place::text(format!("hosts/{name}/{}", linux::FILE), vec![format!("replace {address}/128 ")])
            });
            let violation = others.chain(node).fold(Violation::new(&ADDRESS, place, message), Violation::and);
            findings.broken(violation);
        }
        if let Some(other) = owners.insert(address, number) {
            let other = network.destinations.name(fabric, other);
            let message = format!("`{}` and `{other}` both have {address}", name());
            let mut places = t0s().map(|id| fabric.place(id, About::Route(&told(address))));
            if let Some(first) = places.next() {
                findings.broken(places.fold(Violation::new(&ADDRESS, first, message), Violation::and));
            }
        }
    }
}

/// Every switch has the blackhole that most have and that covers all NICs; routes over cables lie inside it.
fn pools(network: &Network<'_>, findings: &mut Findings) {
    let fabric = network.fabric;
    let addresses = || network.destinations.nics.iter().filter_map(|nic| nic.address);
    let (Some(least), Some(most)) = (addresses().min(), addresses().max()) else { return };
    let mut votes: std::collections::BTreeMap<ipnet::Ipv6Net, usize> = std::collections::BTreeMap::new();
    for switch in fabric.switches.iter().flatten() {
        let covers = |route: &&OddRoute| route.prefix.contains(&least) && route.prefix.contains(&most);
        for route in switch.odd.iter().filter(|route| route.ways.is_empty()).filter(covers) {
            *votes.entry(route.prefix).or_default() += 1;
        }
    }
    let pool =
        votes.into_iter().max_by_key(|(prefix, count)| (*count, prefix.prefix_len())).map(|(pool, _)| pool);
    for id in fabric.cabling.switch_ids() {
        let Some(switch) = fabric.switch(id) else { continue };
        let own = pool.is_some_and(|pool| {
            let of_pool = |route: &&OddRoute| route.prefix == pool;
            switch.odd.iter().rfind(of_pool).is_some_and(|route| route.ways.is_empty())
        });
        let name = fabric.cabling.switch(id);
        findings.expect(own, &POOL, || {
            let pool = pool.map_or("the pool of NICs".to_owned(), |pool| format!("`{pool}`"));
            Violation::new(
                &POOL,
                fabric.place(id, About::Routes),
                format!("`{name}`: {pool} is no blackhole"),
            )
        });
        findings.checked(&NOBODY, switch.odd.len() as u64);
        let outside = |route: &&OddRoute| {
            !route.ways.is_empty()
                && !pool.is_some_and(|pool| pool.contains(&route.prefix) && pool != route.prefix)
        };
        for route in switch.odd.iter().filter(outside) {
            let text = route.prefix.to_string();
            let message =
                format!("`{name}`: `{text}` is not inside the pool of NICs, and leads over a cable");
            findings.broken(Violation::new(&NOBODY, fabric.place(id, About::Route(&text)), message));
        }
    }
}
