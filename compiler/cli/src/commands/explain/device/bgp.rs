//! The eBGP configuration of a switch, session by session.

use closc_artefacts::Prefix;
use closc_plan::{AcceptedPrefixes, BgpBandwidth, BgpDirection, BgpIntent, BgpSide, DeviceIntent, Peer};
use schemars::JsonSchema;
use serde::Serialize;

#[derive(Serialize, JsonSchema)]
pub(super) struct Bgp {
    pub(super) asn: u32,
    /// Maximum number of paths per prefix.
    pub(super) multipath: u16,
    /// Its own announcements.
    pub(super) announces: Vec<String>,
    /// Prefixes accepted from all neighbours: the pool, and the length of prefixes in it.
    pub(super) accepts: Vec<AcceptedPrefix>,
    pub(super) sides: Vec<Side>,
    pub(super) sessions: Vec<Session>,
    pub(super) timers: Timers,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct AcceptedPrefix {
    pub(super) within: String,
    pub(super) length: u8,
}

/// Common values of all sessions of one direction.
#[derive(Serialize, JsonSchema)]
pub(super) struct Side {
    /// `below` or `above`.
    pub(super) direction: &'static str,
    /// Maximum AS path length that is accepted; `null` if unlimited. JSON keeps the older name of the field.
    #[serde(rename = "longest_taken")]
    pub(super) longest_accepted: Option<u8>,
    /// Maximum AS path length that is announced, without the own AS; `null` if unlimited.
    pub(super) longest_announced: Option<u8>,
    /// Maximum number of prefixes from one neighbour. If it sends more, the session is closed.
    pub(super) prefixes_max: u32,
    /// Bandwidth that is announced with each route: `cable` or `sum`; `null` if none is announced.
    pub(super) bandwidth: Option<&'static str>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Session {
    pub(super) port: String,
    pub(super) neighbour: String,
    pub(super) asn: u32,
    /// `below` or `above`.
    pub(super) direction: &'static str,
    /// Whether its routes are a last resort.
    pub(super) drained: bool,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Timers {
    pub(super) keepalive_s: u16,
    pub(super) hold_s: u16,
    pub(super) bfd_interval_ms: u32,
    pub(super) bfd_multiplier: u8,
    /// Minutes until a session that exceeded its maximum number of prefixes is restarted.
    pub(super) retry_min: u16,
}

/// Explains the BGP configuration of a switch.
pub(super) fn explain(intent: &DeviceIntent<'_>, bgp: &BgpIntent) -> Bgp {
    let session = |neighbour: &closc_plan::BgpNeighbour| {
        let port = &intent.ports[neighbour.port];
        let peer = port.connection.as_ref().map(|connection| &connection.peer);
        Session {
            port: port.physical.name.to_string(),
            neighbour: match peer {
                Some(Peer::Switch(peer)) => peer.name.to_string(),
                Some(Peer::Nic(_)) | None => String::new(),
            },
            asn: neighbour.asn,
            direction: keyword(neighbour.direction),
            drained: neighbour.drained,
        }
    };
    Bgp {
        asn: bgp.asn,
        multipath: bgp.multipath,
        announces: bgp.networks.iter().map(ToString::to_string).collect(),
        accepts: bgp.accepts.iter().map(accepted_prefix).collect(),
        sides: bgp.sides.iter().map(side).collect(),
        sessions: bgp.neighbours.iter().map(session).collect(),
        timers: Timers {
            keepalive_s: bgp.timers.keepalive_s,
            hold_s: bgp.timers.hold_s,
            bfd_interval_ms: bgp.timers.bfd_interval_ms,
            bfd_multiplier: bgp.timers.bfd_multiplier,
            retry_min: bgp.timers.retry_min,
        },
    }
}

/// Returns accepted prefixes, with the length of their own family.
fn accepted_prefix(accepted: &AcceptedPrefixes) -> AcceptedPrefix {
    let length = Prefix::new_assert(accepted.pool.addr(), accepted.length).length();
    AcceptedPrefix { within: accepted.pool.to_string(), length }
}

fn side(side: &BgpSide) -> Side {
    Side {
        direction: keyword(side.direction),
        longest_accepted: side.longest_accepted,
        longest_announced: side.longest_announced,
        prefixes_max: side.prefixes_max,
        bandwidth: side.bandwidth.map(|bandwidth| match bandwidth {
            BgpBandwidth::Cable(_) => "cable",
            BgpBandwidth::Sum => "sum",
        }),
    }
}

fn keyword(direction: BgpDirection) -> &'static str {
    match direction {
        BgpDirection::Below => "below",
        BgpDirection::Above => "above",
    }
}
