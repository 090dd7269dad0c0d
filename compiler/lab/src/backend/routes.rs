//! The routes of a device, from a kernel, the tables of a switch, or the batch file of a node.
//!
//! In: prefixes, ports and weights. Out: the route that a packet takes. Invariants: if two routes match, the longer
//! destination wins, then the longer source, then the lower metric.

use closc_artefacts::{Address, Prefix};
/// The routes of a device.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Routes {
    all: Vec<Forwarding>,
}

/// A route.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Forwarding {
    /// Destination.
    pub(crate) to: Prefix,
    /// Sources to which it applies; `None` for all.
    pub(crate) from: Option<Prefix>,
    /// Ports and their weights; empty for a route that drops packets.
    pub(crate) hops: Vec<(String, u32)>,
}

impl Routes {
    /// Creates the routes from routes with metrics.
    pub(crate) fn new(mut routes: Vec<(u32, Forwarding)>) -> Routes {
        routes.sort();
        Routes { all: routes.into_iter().map(|(_, route)| route).collect() }
    }

    /// Returns the route that packets take: the longest destination, then the longest source, then the lowest metric.
    pub(crate) fn of(&self, from: Address, to: Address) -> Option<(usize, &Forwarding)> {
        let holds = |route: &Forwarding| {
            route.to.contains(&to) && route.from.is_none_or(|sources| sources.contains(&from))
        };
        let length = |route: &Forwarding| {
            (route.to.prefix_len(), route.from.map_or(0, |sources| sources.prefix_len()))
        };
        let mut best: Option<(usize, &Forwarding)> = None;
        for (at, route) in self.all.iter().enumerate().filter(|(_, route)| holds(route)) {
            // Routes are sorted by metric, so the first of equal matches wins.
            if best.is_none_or(|(_, other)| length(route) > length(other)) {
                best = Some((at, route));
            }
        }
        best
    }

    /// Returns the route at an index.
    pub(crate) fn get(&self, at: usize) -> &Forwarding {
        &self.all[at]
    }
}
