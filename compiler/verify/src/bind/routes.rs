//! Binds the routes of a switch: sorts them by kind, and reports routes of unknown kinds.

use super::binding::Binding;
use crate::model::device::{Hop, Route, Via, peer_address};
use crate::model::fact::FactKind;
use crate::model::segment::Layout;
use crate::model::switch::{Gateway, NextHop, NextHopSet, OtherRoute, SegmentRoute};
use crate::rules::routes::{BLACKHOLE, FOREIGN, HOP, SINGLE};

/// The routes of a switch by kind.
#[derive(Debug, Default)]
pub(crate) struct Routes {
    pub(crate) blackhole: bool,
    pub(crate) segments: Vec<SegmentRoute>,
    pub(crate) unclassified: Vec<OtherRoute>,
}

/// Sorts the routes of a switch by kind. Reports routes of unknown kinds, duplicates, and a missing blackhole.
pub(crate) fn sort_routes(binding: &mut Binding<'_, '_>) -> Routes {
    let mut routes = Routes::default();
    let device = binding.device;
    let Some(layout) = binding.context.layout else {
        // Where switches choose the path, routes are kept unchanged.
        routes.unclassified.reserve_exact(device.routes.len());
        for route in &device.routes {
            let ways = next_hops(binding, route);
            routes.unclassified.push(OtherRoute { prefix: route.prefix, next_hops: ways });
        }
        return routes;
    };
    routes.segments.reserve_exact(device.routes.len());
    binding.findings.count_facts(&FOREIGN, device.routes.len() as u64);
    for route in &device.routes {
        one(binding, layout, route, &mut routes);
    }
    binding.findings.count_facts(&BLACKHOLE, 1);
    if !routes.blackhole {
        let message = format!("`{}` is not a blackhole", layout.block(binding.plane()));
        binding.report(&BLACKHOLE, FactKind::Routes, &message);
    }
    routes.segments.sort_unstable();
    for pair in routes.segments.windows(2).filter(|pair| pair[0].usid == pair[1].usid) {
        let prefix = layout.prefix(binding.plane(), pair[0].usid).to_string();
        binding.report(&SINGLE, FactKind::Route(&prefix), &format!("`{prefix}` has two routes"));
    }
    binding.findings.count_facts(&SINGLE, routes.segments.len() as u64);
    routes
}

fn one(binding: &mut Binding<'_, '_>, layout: &Layout, route: &Route<'_>, routes: &mut Routes) {
    let about = FactKind::Route(&route.text);
    let plane = binding.plane();
    match (layout.usid(plane, route.prefix), &route.via) {
        (None, Via::Blackhole) if route.prefix == layout.block(plane) => routes.blackhole = true,
        (Some(usid), Via::One(hop)) => match next(binding, route, *hop) {
            (Some(slot), gateway) => routes.segments.push(SegmentRoute { usid, slot, gateway }),
            (None, gateway) => {
                let way = NextHop { slot: None, gateway, weight: hop.weight };
                routes
                    .unclassified
                    .push(OtherRoute { prefix: route.prefix, next_hops: NextHopSet::One([way]) });
            }
        },
        (usid, _) => {
            let hops = hops(route);
            if usid.is_some() && !hops.is_empty() {
                let message = format!("`{}` has {} next hops", route.text, hops.len());
                binding.report(&SINGLE, about, &message);
            } else {
                let message = format!(
                    "`{}` is neither the /48 of a neighbour nor the blackhole of the block",
                    route.text
                );
                binding.report(&FOREIGN, about, &message);
            }
            let ways = next_hops(binding, route);
            routes.unclassified.push(OtherRoute { prefix: route.prefix, next_hops: ways });
        }
    }
}

/// Returns the next hops of a route; empty if the route drops.
fn hops<'a>(route: &'a Route<'_>) -> &'a [Hop] {
    match &route.via {
        Via::Blackhole => &[],
        Via::One(hop) => std::slice::from_ref(hop),
        Via::Many(hops) => hops,
    }
}

/// Returns the next hops of a route, bound to slots.
fn next_hops(binding: &mut Binding<'_, '_>, route: &Route<'_>) -> NextHopSet {
    let way = |hop: &Hop| {
        let (slot, gateway) = next(binding, route, *hop);
        NextHop { slot, gateway, weight: hop.weight }
    };
    let ways: Vec<NextHop> = hops(route).iter().map(way).collect();
    binding.context.next_hops.keep(&ways)
}

/// Returns the slot of a next hop. Reports a next hop without a cable, or with a gateway other than the far end of its
/// cable.
fn next(binding: &mut Binding<'_, '_>, route: &Route<'_>, hop: Hop) -> (Option<u16>, Gateway) {
    let about = FactKind::Route(&route.text);
    let port = binding.device.port(hop.port);
    binding.findings.count_facts(&HOP, 1);
    let Some(slot) = binding.slots[usize::from(hop.port)] else {
        let message = format!("`{}` uses port `{}`, which has no cable", route.text, port.name);
        binding.report(&HOP, about, &message);
        return (None, Gateway::Other);
    };
    let own = port.addresses.first().map(closc_artefacts::Prefix::addr);
    let gateway = match (hop.gateway, own) {
        (Some(gateway), Some(own)) if gateway == peer_address(own) => Gateway::Peer,
        (None, _) if !binding.device.language.addresses => Gateway::Unneeded,
        (found, _) => {
            let found = found.map_or("nothing".to_owned(), |found| found.to_string());
            let message = format!(
                "`{}` names {found} as next hop over port `{}`, which is not the other end of its cable",
                route.text, port.name
            );
            binding.report(&HOP, about, &message);
            Gateway::Other
        }
    };
    (Some(slot), gateway)
}
