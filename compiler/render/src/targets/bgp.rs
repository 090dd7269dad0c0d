//! BGP of a switch, for the templates of FRR and SONiC, EOS and NVUE.
//!
//! In: a [`DeviceIntent`]. Out: [`BgpView`]; `None` without BGP. Invariants: neighbours are in natural order of their
//! ports. Names of route maps contain the side, and names of AS-path lists the maximum path length.

use std::fmt::Write as _;

use closc_artefacts::{Family, Prefix};
use closc_plan::{
    AcceptedPrefixes, BgpBandwidth, BgpDirection, BgpIntent, BgpNeighbour, BgpSide, DeviceIntent,
};
use serde::Serialize;

use super::order::natural;

/// BGP of a switch.
#[derive(Debug, Serialize)]
pub(super) struct BgpView<'a> {
    asn: u32,
    router_id: String,
    multipath: u16,
    /// The family of its prefixes as commands write it: `ip` or `ipv6`. `family` is `ipv4` or `ipv6`.
    command: &'static str,
    family: &'static str,
    /// Whether the prefixes are IPv4, whose next hops are IPv6 addresses (RFC 8950).
    is_ipv4: bool,
    networks: Vec<String>,
    accepts: Vec<AcceptedView>,
    sides: Vec<SideView>,
    /// For EOS and NVUE, where a neighbour that is identified by its interface takes all settings from a peer group.
    groups: Vec<GroupView>,
    neighbours: Vec<NeighbourView<'a>>,
    /// Path lengths that the filters use.
    lengths: Vec<LengthView>,
    has_drained: bool,
    keepalive_s: u16,
    hold_s: u16,
    connect_s: u16,
    announce_s: u16,
    restart_s: u16,
    stale_s: u16,
    retry_min: u16,
    retry_s: u32,
    bfd_interval_ms: u32,
    bfd_multiplier: u8,
}

#[derive(Debug, Serialize)]
struct AcceptedView {
    within: String,
    length: u8,
}

/// Common values of all neighbours of a side.
#[derive(Debug, Serialize)]
struct SideView {
    name: &'static str,
    prefixes_max: u32,
    /// Name of the list of accepted paths; absent: any.
    taken: Option<String>,
    /// Name of the list of announced paths; absent: any.
    announced: Option<String>,
    /// Limit of AS numbers in an accepted path; absent: any number.
    longest_accepted: Option<u8>,
    /// Limit of AS numbers in an announced path; absent: any number.
    longest_announced: Option<u8>,
    /// The names of the lists without a hyphen.
    taken_word: Option<String>,
    announced_word: Option<String>,
    /// Whether only the switch's own networks are announced.
    is_own_only: bool,
    /// The link bandwidth that is announced with every route, if any.
    bandwidth: Option<String>,
}

/// Neighbours of a side. Those over drained cables are in a separate group.
#[derive(Debug, Serialize)]
struct GroupView {
    name: String,
    side: &'static str,
    is_drained: bool,
    prefixes_max: u32,
}

#[derive(Debug, Serialize)]
struct NeighbourView<'a> {
    port: &'a str,
    asn: u32,
    side: &'static str,
    group: String,
    is_drained: bool,
}

/// An AS-path list that limits the path length, with one pattern per length.
#[derive(Debug, Serialize)]
struct LengthView {
    name: String,
    /// The name without a hyphen.
    word: String,
    patterns: Vec<String>,
}

impl<'a> BgpView<'a> {
    pub(super) fn of(intent: &'a DeviceIntent<'a>) -> Option<Self> {
        let bgp = intent.bgp.as_ref()?;
        let timers = bgp.timers;
        let family = intent.system.loopback.family();
        Some(BgpView {
            asn: bgp.asn,
            router_id: bgp.router_id.to_string(),
            multipath: bgp.multipath,
            command: family.keyword(),
            family: family.config_keyword(),
            is_ipv4: family == Family::V4,
            networks: bgp.networks.iter().map(ToString::to_string).collect(),
            accepts: bgp.accepts.iter().map(accepted_view).collect(),
            sides: bgp.sides.iter().map(side).collect(),
            groups: groups(bgp),
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
            retry_s: u32::from(timers.retry_min) * 60,
            bfd_interval_ms: timers.bfd_interval_ms,
            bfd_multiplier: timers.bfd_multiplier,
        })
    }
}

fn accepted_view(accepted: &AcceptedPrefixes) -> AcceptedView {
    let length = Prefix::new_assert(accepted.pool.addr(), accepted.length).length();
    AcceptedView { within: accepted.pool.to_string(), length }
}

fn side(side: &BgpSide) -> SideView {
    SideView {
        name: side.direction.keyword(),
        prefixes_max: side.prefixes_max,
        taken: side.longest_accepted.map(list),
        announced: side.longest_announced.map(list),
        longest_accepted: side.longest_accepted,
        longest_announced: side.longest_announced,
        taken_word: side.longest_accepted.map(plain_list_name),
        announced_word: side.longest_announced.map(plain_list_name),
        is_own_only: side.longest_announced == Some(0),
        bandwidth: side.bandwidth.map(|bandwidth| match bandwidth {
            BgpBandwidth::Cable(mbps) => mbps.to_string(),
            BgpBandwidth::Sum => "cumulative".to_owned(),
        }),
    }
}

/// Returns the name of a group of neighbours.
fn group(direction: BgpDirection, drained: bool) -> String {
    format!("{}{}", direction.keyword(), if drained { "_DRAINED" } else { "" })
}

/// Returns the groups that have a neighbour.
fn groups(bgp: &BgpIntent) -> Vec<GroupView> {
    let mut groups = Vec::new();
    for side in &bgp.sides {
        for is_drained in [false, true] {
            let is_in = |neighbour: &BgpNeighbour| {
                (neighbour.direction, neighbour.drained) == (side.direction, is_drained)
            };
            if bgp.neighbours.iter().any(is_in) {
                groups.push(GroupView {
                    name: group(side.direction, is_drained),
                    side: side.direction.keyword(),
                    is_drained,
                    prefixes_max: side.prefixes_max,
                });
            }
        }
    }
    groups
}

fn neighbours<'a>(intent: &'a DeviceIntent<'a>, bgp: &BgpIntent) -> Vec<NeighbourView<'a>> {
    let mut neighbours: Vec<NeighbourView<'a>> = bgp
        .neighbours
        .iter()
        .map(|neighbour| NeighbourView {
            port: &intent.ports[neighbour.port].physical.name,
            asn: neighbour.asn,
            side: neighbour.direction.keyword(),
            group: group(neighbour.direction, neighbour.drained),
            is_drained: neighbour.drained,
        })
        .collect();
    neighbours.sort_by(|one, other| natural(one.port, other.port));
    neighbours
}

/// Returns the name of the list of paths of limited length.
fn list(longest: u8) -> String {
    format!("AT-MOST-{longest}")
}

/// Returns the name from [`list`] with underscores instead of hyphens.
fn plain_list_name(longest: u8) -> String {
    list(longest).replace('-', "_")
}

fn lengths(bgp: &BgpIntent) -> Vec<LengthView> {
    let mut longest: Vec<u8> =
        bgp.sides.iter().flat_map(|side| [side.longest_accepted, side.longest_announced]).flatten().collect();
    longest.sort_unstable();
    longest.dedup();
    let view = |longest: u8| LengthView {
        name: list(longest),
        word: plain_list_name(longest),
        patterns: (0..=longest).map(pattern).collect(),
    };
    longest.into_iter().map(view).collect()
}

/// Returns a pattern for paths with exactly this number of AS numbers.
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
