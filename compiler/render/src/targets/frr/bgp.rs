//! BGP as FRR receives it: what the templates `frr/bgp.j2` and `frr/filters.j2` see, for FRR and for SONiC.
//!
//! In: a [`DeviceIntent`]. Out: [`BgpView`], nothing without BGP. Invariants: neighbours are in natural order of their
//! ports; what names a filter is named after the side or the length that it is about.

use std::fmt::Write as _;

use closc_plan::{Accepted, BgpBandwidth, BgpIntent, BgpSide, DeviceIntent};
use serde::Serialize;

use crate::targets::natural;

/// BGP of a switch.
#[derive(Debug, Serialize)]
pub(crate) struct BgpView<'a> {
    asn: u32,
    router_id: String,
    multipath: u16,
    networks: Vec<String>,
    accepts: Vec<AcceptedView>,
    sides: Vec<SideView>,
    neighbours: Vec<NeighbourView<'a>>,
    /// Path lengths that some filter asks for.
    lengths: Vec<LengthView>,
    has_drained: bool,
    keepalive_s: u16,
    hold_s: u16,
    connect_s: u16,
    announce_s: u16,
    restart_s: u16,
    stale_s: u16,
    retry_min: u16,
    bfd_interval_ms: u32,
    bfd_multiplier: u8,
}

#[derive(Debug, Serialize)]
struct AcceptedView {
    within: String,
    length: u8,
}

/// What holds for all neighbours of a side.
#[derive(Debug, Serialize)]
struct SideView {
    name: &'static str,
    prefixes_max: u32,
    /// Name of the list of paths that are taken; absent: any.
    taken: Option<String>,
    /// Name of the list of paths that are announced; absent: any.
    announced: Option<String>,
    /// Whether nothing but the switch's own networks is announced.
    is_own_only: bool,
    /// The bandwidth that is announced with every route; absent: none.
    bandwidth: Option<String>,
}

#[derive(Debug, Serialize)]
struct NeighbourView<'a> {
    port: &'a str,
    asn: u32,
    side: &'static str,
    is_drained: bool,
}

/// A list of paths of at most some AS numbers, as one pattern for each number.
#[derive(Debug, Serialize)]
struct LengthView {
    name: String,
    patterns: Vec<String>,
}

impl<'a> BgpView<'a> {
    pub(crate) fn of(intent: &'a DeviceIntent<'a>) -> Option<Self> {
        let bgp = intent.bgp.as_ref()?;
        let timers = bgp.timers;
        Some(BgpView {
            asn: bgp.asn,
            router_id: bgp.router_id.to_string(),
            multipath: bgp.multipath,
            networks: bgp.networks.iter().map(ToString::to_string).collect(),
            accepts: bgp.accepts.iter().map(accepted).collect(),
            sides: bgp.sides.iter().map(side).collect(),
            neighbours: neighbours(intent, bgp),
            lengths: lengths(bgp),
            has_drained: bgp.neighbours.iter().any(|neighbour| neighbour.drained),
            keepalive_s: timers.keepalive_s,
            hold_s: timers.hold_s,
            connect_s: timers.connect_s,
            announce_s: timers.announce_s,
            restart_s: timers.restart_s,
            stale_s: timers.stale_s,
            retry_min: timers.retry_min,
            bfd_interval_ms: timers.bfd_interval_ms,
            bfd_multiplier: timers.bfd_multiplier,
        })
    }
}

fn accepted(accepted: &Accepted) -> AcceptedView {
    AcceptedView { within: accepted.within.to_string(), length: accepted.length }
}

fn side(side: &BgpSide) -> SideView {
    SideView {
        name: side.direction.word(),
        prefixes_max: side.prefixes_max,
        taken: side.longest_accepted.map(list),
        announced: side.longest_announced.map(list),
        is_own_only: side.longest_announced == Some(0),
        bandwidth: side.bandwidth.map(|bandwidth| match bandwidth {
            BgpBandwidth::Cable(mbps) => mbps.to_string(),
            BgpBandwidth::Sum => "cumulative".to_owned(),
        }),
    }
}

fn neighbours<'a>(intent: &'a DeviceIntent<'a>, bgp: &BgpIntent) -> Vec<NeighbourView<'a>> {
    let mut neighbours: Vec<NeighbourView<'a>> = bgp
        .neighbours
        .iter()
        .map(|neighbour| NeighbourView {
            port: &intent.ports[neighbour.port].physical.name,
            asn: neighbour.asn,
            side: neighbour.direction.word(),
            is_drained: neighbour.drained,
        })
        .collect();
    neighbours.sort_by_key(|neighbour| natural(neighbour.port));
    neighbours
}

/// Returns the name of the list of paths of at most so many AS numbers.
fn list(longest: u8) -> String {
    format!("AT-MOST-{longest}")
}

fn lengths(bgp: &BgpIntent) -> Vec<LengthView> {
    let mut longest: Vec<u8> =
        bgp.sides.iter().flat_map(|side| [side.longest_accepted, side.longest_announced]).flatten().collect();
    longest.sort_unstable();
    longest.dedup();
    let view =
        |longest: u8| LengthView { name: list(longest), patterns: (0..=longest).map(pattern).collect() };
    longest.into_iter().map(view).collect()
}

/// Matches paths of exactly so many AS numbers.
fn pattern(numbers: u8) -> String {
    let mut pattern = "^".to_owned();
    for at in 0..numbers {
        let _ = write!(pattern, "{}[0-9]+", if at > 0 { "_" } else { "" });
    }
    pattern + "$"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_count_numbers() {
        assert_eq!([0, 1, 2].map(pattern), ["^$", "^[0-9]+$", "^[0-9]+_[0-9]+$"]);
    }
}
