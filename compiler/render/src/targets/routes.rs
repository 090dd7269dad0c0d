//! Static routes for text configurations: prefix, gateway and port.
//!
//! In: a [`DeviceIntent`]. Out: its routes in the order of their prefixes.

use closc_plan::{DeviceIntent, Hop, Target};
use serde::Serialize;

/// A static route; without next hops it is a blackhole.
#[derive(Debug, Serialize)]
pub(super) struct RouteView<'a> {
    /// The family, as a keyword of commands and of address families.
    command: &'static str,
    family: &'static str,
    prefix: String,
    hops: Vec<HopView<'a>>,
}

/// A next hop.
#[derive(Debug, Serialize)]
struct HopView<'a> {
    gateway: String,
    port: &'a str,
}

/// The static routes of a switch.
pub(super) fn routes<'a>(intent: &'a DeviceIntent<'a>) -> Vec<RouteView<'a>> {
    let mut sorted: Vec<_> = intent.routes.iter().collect();
    sorted.sort_by_key(|route| route.prefix);
    let view = |route: &closc_plan::Route| RouteView {
        command: route.prefix.family().keyword(),
        family: route.prefix.family().config_keyword(),
        prefix: route.prefix.to_string(),
        hops: match &route.target {
            Target::Ports(hops) => hops.iter().filter_map(|hop| HopView::of(intent, *hop)).collect(),
            Target::Blackhole => Vec::new(),
        },
    };
    sorted.into_iter().map(view).collect()
}

impl<'a> HopView<'a> {
    fn of(intent: &'a DeviceIntent<'a>, hop: Hop) -> Option<Self> {
        let port = intent.ports.get(hop.port)?;
        let gateway = port.connection.as_ref()?.peer.address().to_string();
        Some(HopView { gateway, port: &port.physical.name })
    }
}
