//! eBGP of a switch: its configuration ([`Config`]), and the data kept by cable ([`Speaker`]).
//!
//! Invariants: names are resolved. Filters with the same effect are equal, whatever their names and whatever prefixes
//! the switch originates. Most switches therefore share filters.

use std::borrow::Cow;
use std::net::Ipv4Addr;
use std::sync::Arc;

use closc_artefacts::{Family, Prefix};

/// BGP settings of a switch, as in its file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Config<'a> {
    /// Local AS number.
    pub(crate) asn: u32,
    /// Router ID, if it is set.
    pub(crate) router_id: Option<Ipv4Addr>,
    /// Prefixes that the switch announces.
    pub(crate) networks: Vec<Prefix>,
    /// Common values of all sessions.
    pub(crate) process: Process,
    /// Values of single sessions.
    pub(crate) neighbours: Vec<Neighbour<'a>>,
}

/// A neighbour.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Neighbour<'a> {
    /// Port or address that identifies the neighbour.
    pub(crate) name: Cow<'a, str>,
    /// Accepted remote AS numbers.
    pub(crate) remote: Remote,
    pub(crate) terms: Terms,
}

/// Accepted remote AS numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Remote {
    /// One AS number.
    As(u32),
    /// Any except the local one.
    Any,
}

/// Settings that apply to all sessions of a switch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(crate) struct Process {
    /// Keepalive and hold time, in seconds.
    pub(crate) timers: Option<(u16, u16)>,
    /// Whether multipath also combines paths of equal length through different autonomous systems (`multipath-relax`).
    pub(crate) relaxed: bool,
    /// Whether sessions without filters exchange nothing.
    pub(crate) strict: bool,
    /// Whether IPv4 is activated by default for all neighbours.
    pub(crate) ipv4: bool,
    /// Address family of the exchanged prefixes.
    pub(crate) family: Option<Family>,
    /// Graceful restart.
    pub(crate) restart: Restart,
    /// Maximum number of equal paths per prefix.
    pub(crate) width: Option<u16>,
}

/// Graceful restart (RFC 4724).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(crate) struct Restart {
    /// Whether neighbours keep forwarding during a restart.
    pub(crate) graceful: bool,
    /// Whether the switch announces that it kept forwarding during the restart.
    pub(crate) preserves: bool,
    /// Maximum duration of the restart, in seconds.
    pub(crate) max_duration_s: Option<u16>,
    /// Seconds after which routes that were not announced again are removed.
    pub(crate) stale_s: Option<u16>,
}

/// Terms of a session.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub(crate) struct Terms {
    /// Whether the session exchanges prefixes of the address family in [`Process::family`].
    pub(crate) active: bool,
    /// Whether the session is restricted to link-local addresses.
    pub(crate) link_local_only: bool,
    /// BFD, if it is enabled.
    pub(crate) bfd: Option<Bfd>,
    /// Minimum seconds between announcements.
    pub(crate) interval_s: Option<u16>,
    /// Seconds between attempts to connect.
    pub(crate) connect_s: Option<u16>,
    /// Filter of received routes.
    pub(crate) accepted: Option<Policy>,
    /// Filter of announced routes.
    pub(crate) announced: Option<Policy>,
    /// Maximum number of prefixes; above it, the session is closed.
    pub(crate) limit: Option<u32>,
    /// Minutes until a session closed by the limit is restarted.
    pub(crate) retry_min: Option<u16>,
    /// Whether paths that contain the local AS are accepted.
    pub(crate) accepts_own: bool,
}

/// Bidirectional forwarding detection (RFC 5880).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Bfd {
    /// Detection multiplier: number of missed packets after which the session is down.
    pub(crate) multiplier: u8,
    /// Minimum interval of sent packets, in milliseconds.
    pub(crate) transmit_ms: u32,
    /// Required minimum interval of received packets, in milliseconds.
    pub(crate) receive_ms: u32,
}

impl Default for Bfd {
    fn default() -> Self {
        Bfd { multiplier: 3, transmit_ms: 300, receive_ms: 300 }
    }
}

/// A route map. The first matching clause decides; routes without a match are denied.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub(crate) struct Policy(pub(crate) Vec<Clause>);

/// A clause of a route map.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub(crate) struct Clause {
    /// Whether matching routes are permitted.
    pub(crate) permit: bool,
    /// Prefixes that match; `None` matches all.
    pub(crate) prefixes: Option<Vec<Entry>>,
    /// AS path lengths that match; `None` matches all.
    pub(crate) lengths: Option<Lengths>,
    /// Whether only routes marked as drained match.
    pub(crate) if_drained: bool,
    /// Local preference to set.
    pub(crate) preference: Option<u32>,
    /// Whether to mark the route as drained.
    pub(crate) drains: bool,
    /// Link bandwidth to set.
    pub(crate) bandwidth: Option<Bandwidth>,
}

/// An entry of a prefix list. The first match decides; prefixes without a match are denied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Entry {
    /// Whether matching prefixes are permitted.
    pub(crate) permit: bool,
    pub(crate) prefix_match: PrefixMatch,
}

/// Prefixes that an entry matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum PrefixMatch {
    /// A prefix that the switch originates, by index.
    Own(u8),
    /// All prefixes inside another one, within a range of lengths.
    Within {
        /// The outer prefix.
        net: Prefix,
        /// Minimum length.
        from: u8,
        /// Maximum length.
        to: u8,
    },
}

/// A set of AS path lengths, one bit each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(crate) struct Lengths(pub(crate) u64);

/// Maximum AS path length that the model distinguishes.
pub(crate) const LONGEST: u8 = 63;

impl Lengths {
    /// Returns whether paths of a length match.
    pub(crate) fn has(self, length: u8) -> bool {
        length <= LONGEST && self.0 >> length & 1 == 1
    }

    /// Returns the longest length that matches.
    pub(crate) fn longest(self) -> Option<u8> {
        (0..=LONGEST).rev().find(|length| self.has(*length))
    }
}

/// Link bandwidth announced with a route.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Bandwidth {
    /// A fixed value in Mb/s.
    Mbps(u32),
    /// The sum over the paths in use.
    Sum,
}

/// BGP settings of a switch, by cable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Speaker {
    /// Local AS number.
    pub(crate) asn: u32,
    /// Router ID, if it is set.
    pub(crate) router_id: Option<Ipv4Addr>,
    /// Prefixes that the switch announces.
    pub(crate) networks: Vec<Prefix>,
    /// Settings that apply to all sessions.
    pub(crate) process: Arc<Process>,
    /// Terms of sessions, without duplicates.
    pub(crate) terms: Vec<Arc<Terms>>,
    /// Sessions by the slot of their cable.
    pub(crate) sessions: Vec<Option<Session>>,
}

/// A session over a cable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Session {
    /// Accepted remote AS numbers.
    pub(crate) remote: Remote,
    /// Index in [`Speaker::terms`].
    pub(crate) terms: u16,
}

impl Speaker {
    /// Returns the session over a cable with its terms.
    pub(crate) fn session(&self, slot: u16) -> Option<(Session, &Arc<Terms>)> {
        let session = self.sessions.get(usize::from(slot)).copied().flatten()?;
        Some((session, &self.terms[usize::from(session.terms)]))
    }
}

impl Entry {
    /// Returns whether a prefix matches, given the prefixes that the switch originates.
    pub(crate) fn matches(&self, prefix: Prefix, own: &[Prefix]) -> bool {
        match self.prefix_match {
            PrefixMatch::Own(at) => own.get(usize::from(at)) == Some(&prefix),
            PrefixMatch::Within { net, from, to } => {
                net.contains(&prefix) && (from..=to).contains(&prefix.prefix_len())
            }
        }
    }
}

/// Returns whether a prefix list permits a prefix.
pub(crate) fn is_listed(entries: &[Entry], prefix: Prefix, own: &[Prefix]) -> bool {
    entries.iter().find(|entry| entry.matches(prefix, own)).is_some_and(|entry| entry.permit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_entry_decides() {
        let net = |text: &str| text.parse::<Prefix>().expect("a prefix");
        let within = |permit, text, from, to| Entry {
            permit,
            prefix_match: PrefixMatch::Within { net: net(text), from, to },
        };
        let own = [net("2001:db8:1:1::/64")];
        let list = [
            Entry { permit: true, prefix_match: PrefixMatch::Own(0) },
            within(false, "2001:db8:1::/48", 64, 64),
            within(true, "2001:db8::/32", 64, 128),
        ];
        assert!(is_listed(&list, own[0], &own));
        assert!(!is_listed(&list, net("2001:db8:1:2::/64"), &own), "refused by the second");
        assert!(is_listed(&list, net("2001:db8:1:2::1/128"), &own));
        assert!(!is_listed(&list, net("::/0"), &own));
    }

    #[test]
    fn lengths_have_a_greatest() {
        assert_eq!(Lengths(0b101).longest(), Some(2));
        assert!(Lengths(0b101).has(0) && !Lengths(0b101).has(1) && !Lengths(u64::MAX).has(64));
    }
}
