//! Static routes: `STATIC_ROUTE`.
//!
//! In: a view. Out: rows. Invariants: a next hop names its port, so that the route cannot use another one. The
//! block has one blackhole and there is no default route, so packets to an unknown segment are dropped here.
//! The blackhole is written last and never replaced: removing a route that covers a SID removes the SID
//! (sonic-buildimage 23812). If the fabric uses BGP, static routes are in `frr.conf`, because bgpcfgd would
//! announce those of this table.

use closc_plan::{Hop, Target};

use super::json::{Document, Table};
use super::view::View;
use crate::targets::text::net;

/// Writes `STATIC_ROUTE`.
///
/// The key contains the VRF. SONiC's YANG model has another list for keys without it, which does not support
/// blackholes.
pub(super) fn routes(document: &mut Document, view: &View<'_>) {
    if view.intent.bgp.is_some() {
        return;
    }
    document.table("STATIC_ROUTE", |table| {
        for route in &view.intent.routes {
            let prefix = net(route.prefix);
            match &route.target {
                Target::Ports(hops) => forward(table, view, &prefix, hops),
                Target::Blackhole => {
                    table.row(&["default|", &prefix], |row| row.text("blackhole", "true"));
                }
            }
        }
    });
}

/// Writes a route over ports: next hops and ports as two lists of equal length, which bgpcfgd reads in pairs.
fn forward(table: &mut Table<'_>, view: &View<'_>, prefix: &str, hops: &[Hop]) {
    let ports = hops.iter().map(|hop| view.port(hop.port));
    let (names, peers): (Vec<&str>, Vec<&str>) =
        ports.filter_map(|port| Some((port.name, port.link.as_ref()?.peer.as_str()))).unzip();
    table.row(&["default|", prefix], |row| {
        row.commas("ifname", names);
        row.commas("nexthop", peers);
    });
}
