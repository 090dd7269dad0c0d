//! Routes of a switch to destinations other than segments, both configured and received by BGP.
//!
//! In: routes, and the prefixes of a plane with the next hops of each switch. Out: [`RouteView`]s. Invariants: received
//! routes come last, in ascending order. They take eight bytes each, because all switches of a plane share the list of
//! its prefixes, and a switch has few lists of next hops.

use std::sync::Arc;

use closc_artefacts::Prefix;

use super::NextHopSet;

/// A stored route.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OtherRoute {
    /// Destination.
    pub(crate) prefix: Prefix,
    /// Next hops; empty if the route drops.
    pub(crate) next_hops: NextHopSet,
}

impl OtherRoute {
    /// Returns the route in its common form.
    pub(crate) fn view(&self) -> RouteView<'_> {
        RouteView { prefix: self.prefix, next_hops: &self.next_hops }
    }
}

/// A route, independent of its storage.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RouteView<'a> {
    /// Destination.
    pub(crate) prefix: Prefix,
    /// Next hops; empty if the route drops.
    pub(crate) next_hops: &'a NextHopSet,
}

/// Routes that a switch receives by BGP.
#[derive(Debug, Clone, Default)]
pub(crate) struct ReceivedRoutes {
    /// The prefixes of the plane, in ascending order.
    pub(crate) prefixes: Arc<[Prefix]>,
    /// Distinct lists of next hops.
    pub(crate) next_hop_sets: Box<[NextHopSet]>,
    /// For each route, the indices of its prefix and its next hops, in ascending order.
    pub(crate) routes: Box<[(u32, u32)]>,
}

impl ReceivedRoutes {
    /// Returns the routes in ascending order.
    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = RouteView<'_>> {
        self.routes.iter().map(|(prefix, ways)| RouteView {
            prefix: self.prefixes[*prefix as usize],
            next_hops: &self.next_hop_sets[*ways as usize],
        })
    }
}

/// All routes of a switch. Of two routes with the same prefix, the later one counts.
#[derive(Debug, Clone, Default)]
pub(crate) struct OtherRoutes {
    configured_routes: Vec<OtherRoute>,
    received: ReceivedRoutes,
}

impl OtherRoutes {
    /// Adds the routes received by BGP.
    pub(crate) fn receive(&mut self, received: ReceivedRoutes) {
        self.received = received;
    }

    /// Returns the configured routes, then those received.
    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = RouteView<'_>> {
        self.configured_routes.iter().map(OtherRoute::view).chain(self.received.iter())
    }

    pub(crate) fn len(&self) -> usize {
        self.configured_routes.len() + self.received.routes.len()
    }
}

impl From<Vec<OtherRoute>> for OtherRoutes {
    fn from(own: Vec<OtherRoute>) -> Self {
        OtherRoutes { configured_routes: own, received: ReceivedRoutes::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::switch::{Gateway, NextHop};

    #[test]
    fn received_routes_follow_those_that_are_configured() {
        let prefix = |text: &str| text.parse::<Prefix>().expect("a prefix");
        let way = |slot| NextHopSet::One([NextHop { slot: Some(slot), gateway: Gateway::Peer, weight: 1 }]);
        let own =
            vec![OtherRoute { prefix: prefix("2001:db8::/32"), next_hops: NextHopSet::from(Vec::new()) }];
        let mut routes = OtherRoutes::from(own);
        routes.receive(ReceivedRoutes {
            prefixes: [prefix("2001:db8:1::/48"), prefix("2001:db8:2::/48")].into(),
            next_hop_sets: [way(1), way(2)].into(),
            routes: [(0, 1), (1, 0)].into(),
        });
        let read: Vec<(String, Option<u16>)> = routes
            .iter()
            .map(|route| (route.prefix.to_string(), route.next_hops.first().and_then(|way| way.slot)))
            .collect();
        let wanted = [("2001:db8::/32", None), ("2001:db8:1::/48", Some(2)), ("2001:db8:2::/48", Some(1))];
        assert_eq!(read, wanted.map(|(prefix, slot)| (prefix.to_owned(), slot)));
        assert_eq!((routes.len(), size_of_val(&routes.received.routes[0])), (3, 8));
    }
}
