//! V16: pauses never wait for each other in a circle, where switches choose the way.
//!
//! (Where hosts choose it, `deadlock` follows their lists.)
//!
//! In: a fabric with priorities that are paused. Out: a violation for every circle. A packet that came in at a port
//! sits in that port's buffer until the port it leaves by may send, and that waits for the buffer behind the cable:
//! buffers depend on buffers. If the graph of these has a circle and all of it is full, nothing in it moves ever again.
//!
//! Buffers of one direction are ranked by tier: from a NIC, up, up, down, down. Every turn from above to below and every
//! step up or down raises the rank; the only thing that lowers it is a packet that **came from above and goes up
//! again**. So it is enough to look for such turns, which takes one look at every route that leads down: which of its
//! packets would the switch below send up? Where there is no turn there is no circle, and no graph is built: this is
//! the proof for every sound fabric, whatever its size.
//!
//! Where there are turns, the graph is built: a vertex for each direction of each cable, joined through one vertex for
//! what a switch gets from below and one for what it gets from above, so that it grows with cables and not with pairs of
//! ports. Turns are joined one by one. What comes from below is taken to leave by any cable that a route leads over.
//! Priorities share the routes, so one graph stands for each.

use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv6Addr;

use closc_diagnostics::Rule;
use ipnet::Ipv6Net;
use petgraph::algo::{astar, kosaraju_scc};
use petgraph::graph::{DiGraph, NodeIndex};
use rayon::prelude::*;

use crate::finding::{Findings, Violation};
use crate::model::cabling::{CableId, Party, Side, SwitchId};
use crate::model::fabric::{About, Fabric};
use crate::model::switch::{OddRoute, Switch};

/// No circle.
pub(crate) static CIRCLE: Rule = Rule {
    code: "V1602",
    title: "routes let pauses wait for each other in a circle",
    what: "In a fabric with paused priorities, no packet that a switch got from above is sent up again in such a way \
           that the buffers of ports wait for each other in a circle.",
    why: "When all buffers of the circle are full, every port in it has paused the one before: nothing moves until a \
          watchdog drops packets, and the pauses spread through the whole fabric.",
    example: "\"default|2001:db8:1000:2::/64\": { \"ifname\": \"Ethernet0\", ... } on a T1, where Ethernet0 leads to \
              the T0 of another group, which sends it up again",
    fix: "Compile again; a route by hand must lead down to the group itself, or not at all.",
};

/// The family.
pub(crate) const RULES: &[&Rule] = &[&CIRCLE];

/// A packet that comes down a cable and goes up another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Turn {
    switch: SwitchId,
    from: CableId,
    to: CableId,
    /// The route that sends it up.
    prefix: Ipv6Net,
}

/// Looks for circles, where anything is paused and switches choose the way.
pub(crate) fn check(fabric: &Fabric, findings: &mut Findings) {
    if fabric.layout.is_some() {
        return;
    }
    let paused = fabric.facts.iter().filter_map(|facts| facts.qos.as_ref());
    if !paused.into_iter().any(|qos| !qos.pauses.is_empty()) {
        return;
    }
    let switches = 0..fabric.switches.len() as u32;
    let rising: Vec<Rising<'_>> =
        switches.clone().into_par_iter().map(|id| Rising::of(fabric, SwitchId(id))).collect();
    let routed: Vec<(u64, Vec<Turn>)> =
        switches.into_par_iter().map(|id| by_routes(fabric, &rising, SwitchId(id))).collect();
    let mut turns = BTreeSet::new();
    for (facts, found) in routed {
        findings.checked(&CIRCLE, facts);
        turns.extend(found);
    }
    if !turns.is_empty() {
        Buffers::of(fabric, &turns).circles(&turns, findings);
    }
}

/// Turns of packets that a switch sends down by its routes.
fn by_routes(fabric: &Fabric, rising: &[Rising<'_>], id: SwitchId) -> (u64, Vec<Turn>) {
    let (mut facts, mut turns) = (0, Vec::new());
    let Some(upper) = fabric.switch(id) else { return (facts, turns) };
    for route in &upper.odd {
        for slot in route.ways.iter().filter_map(|way| way.slot) {
            let (from, cable, side) = fabric.plugged(id, slot);
            let Party::Switch(below) = cable.lower.party else { continue };
            let Some(lower) = fabric.switch(below).filter(|_| side == Side::Upper) else { continue };
            facts += 1;
            for rising in rising[below.0 as usize].meeting(route.prefix) {
                let Some(address) = common(route.prefix, rising.prefix) else { continue };
                let meant = decides(upper, address) == Some(route) && decides(lower, address) == Some(rising);
                if meant {
                    turns.extend(ups(fabric, below, rising).map(|to| Turn {
                        switch: below,
                        from,
                        to,
                        prefix: rising.prefix,
                    }));
                }
            }
        }
    }
    (facts, turns)
}

/// The routes of a switch that lead up, by the first address of their prefixes.
#[derive(Default)]
struct Rising<'a> {
    routes: Vec<&'a OddRoute>,
    /// Lengths of their prefixes.
    lengths: BTreeSet<u8>,
}

impl<'a> Rising<'a> {
    fn of(fabric: &'a Fabric, id: SwitchId) -> Self {
        let odd = fabric.switch(id).into_iter().flat_map(|switch| &switch.odd);
        let mut routes: Vec<&OddRoute> = odd.filter(|route| rises(fabric, id, route)).collect();
        routes.sort_by_key(|route| (route.prefix.network(), route.prefix.prefix_len()));
        let lengths = routes.iter().map(|route| route.prefix.prefix_len()).collect();
        Rising { routes, lengths }
    }

    /// Returns the routes whose prefixes have addresses in common with another.
    fn meeting(&self, prefix: Ipv6Net) -> impl Iterator<Item = &'a OddRoute> + '_ {
        let from = |network: Ipv6Addr, length: u8| {
            self.routes.partition_point(move |route| {
                (route.prefix.network(), route.prefix.prefix_len()) < (network, length)
            })
        };
        let start = from(prefix.network(), prefix.prefix_len());
        let inside = self.routes[start..].iter().take_while(move |route| prefix.contains(&route.prefix));
        let around = self.lengths.range(..prefix.prefix_len()).flat_map(move |length| {
            let outer = Ipv6Net::new_assert(prefix.addr(), *length).trunc();
            let found = self.routes[from(outer.network(), *length)..].iter();
            found.take_while(move |route| route.prefix.trunc() == outer)
        });
        inside.chain(around).copied()
    }
}

/// Returns an address of both prefixes: the last one, which is least likely to have a longer prefix of its own.
fn common(a: Ipv6Net, b: Ipv6Net) -> Option<Ipv6Addr> {
    let inner = if a.prefix_len() > b.prefix_len() { a } else { b };
    (a.contains(&inner) && b.contains(&inner)).then(|| inner.broadcast())
}

/// Returns the route with the longest prefix.
fn decides(switch: &Switch, address: Ipv6Addr) -> Option<&OddRoute> {
    let all = switch.odd.iter().filter(|route| route.prefix.contains(&address));
    all.max_by_key(|route| route.prefix.prefix_len())
}

/// Returns the cables by which a route leads up.
fn ups<'a>(fabric: &'a Fabric, id: SwitchId, route: &'a OddRoute) -> impl Iterator<Item = CableId> + 'a {
    route.ways.iter().filter_map(move |way| {
        let (cable, _, side) = fabric.plugged(id, way.slot?);
        (side == Side::Lower).then_some(cable)
    })
}

fn rises(fabric: &Fabric, id: SwitchId, route: &OddRoute) -> bool {
    ups(fabric, id, route).next().is_some()
}

/// The graph of buffers.
struct Buffers<'a> {
    fabric: &'a Fabric,
    graph: DiGraph<(), ()>,
}

/// Returns the buffer behind a cable: at its upper end for what goes up.
fn buffer(cable: CableId, up: bool) -> NodeIndex {
    NodeIndex::new(cable.0 as usize * 2 + usize::from(!up))
}

impl<'a> Buffers<'a> {
    fn of(fabric: &'a Fabric, turns: &BTreeSet<Turn>) -> Self {
        let cables = fabric.cabling.cables.len();
        let mut edges: Vec<(NodeIndex, NodeIndex)> = Vec::new();
        for id in fabric.cabling.switch_ids() {
            let Some(switch) = fabric.switch(id) else { continue };
            let joint =
                |from_below: bool| NodeIndex::new(cables * 2 + id.0 as usize * 2 + usize::from(!from_below));
            for plug in fabric.cabling.at_switch(id) {
                let from_below = plug.side == Side::Upper;
                edges.push((buffer(plug.cable, from_below), joint(from_below)));
            }
            for slot in routed(switch) {
                let (cable, _, side) = fabric.plugged(id, slot);
                let up = side == Side::Lower;
                edges.push((joint(true), buffer(cable, up)));
                if !up {
                    edges.push((joint(false), buffer(cable, false)));
                }
            }
        }
        edges.extend(turns.iter().map(|turn| (buffer(turn.from, false), buffer(turn.to, true))));
        let mut graph = DiGraph::with_capacity(0, edges.len());
        let vertices = cables * 2 + fabric.switches.len() * 2;
        for _ in 0..vertices {
            graph.add_node(());
        }
        graph.extend_with_edges(edges);
        Buffers { fabric, graph }
    }

    /// Reports the shortest circle of each knot of buffers.
    fn circles(&self, turns: &BTreeSet<Turn>, findings: &mut Findings) {
        let mut knot = vec![usize::MAX; self.graph.node_count()];
        for (number, members) in kosaraju_scc(&self.graph).into_iter().enumerate() {
            for at in members {
                knot[at.index()] = number;
            }
        }
        let mut shortest: BTreeMap<usize, (Vec<NodeIndex>, Turn)> = BTreeMap::new();
        for turn in turns {
            let (from, to) = (buffer(turn.from, false), buffer(turn.to, true));
            if knot[from.index()] != knot[to.index()] {
                continue;
            }
            let way = astar(&self.graph, to, |at| at == from, |_| 1, |_| 0);
            let Some((_, way)) = way else { continue };
            let known = shortest.get(&knot[from.index()]);
            if known.is_none_or(|(known, _)| way.len() < known.len()) {
                shortest.insert(knot[from.index()], (way, *turn));
            }
        }
        for (way, turn) in shortest.into_values() {
            findings.broken(self.violation(&way, turn));
        }
    }

    fn violation(&self, way: &[NodeIndex], turn: Turn) -> Violation {
        let cabling = &self.fabric.cabling;
        let ports: Vec<String> = way
            .iter()
            .filter(|at| at.index() < cabling.cables.len() * 2)
            .map(|at| {
                let cable = cabling.cable(CableId(at.index() as u32 / 2));
                let end = if at.index().is_multiple_of(2) { cable.upper } else { cable.lower };
                format!("`{}`", cabling.end(end))
            })
            .collect();
        let text = turn.prefix.to_string();
        let message = format!(
            "`{text}` sends up again at `{}` what came down: the buffers of {} -> {} wait for each other",
            cabling.switch(turn.switch),
            ports.join(" -> "),
            ports[0]
        );
        Violation::new(&CIRCLE, self.fabric.place(turn.switch, About::Route(&text)), message)
            .and(cabling.place(turn.from))
    }
}

/// Returns the slots that routes lead over.
fn routed(switch: &Switch) -> BTreeSet<u16> {
    let odd = switch.odd.iter().flat_map(|route| route.ways.iter().filter_map(|way| way.slot));
    odd.chain(switch.routes.iter().map(|route| route.slot)).collect()
}
