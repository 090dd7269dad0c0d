//! eBGP of a switch: its configuration ([`Config`]), and the data that is kept by cable ([`Speaker`]).
//!
//! Invariants: names are resolved. Filters with the same effect are equal, independent of their names and of the
//! prefixes that a switch originates, so most switches share them.

use std::borrow::Cow;
use std::net::Ipv4Addr;
use std::sync::Arc;

use closc_artefacts::{Family, Prefix};

/// BGP of a switch, as in its file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Config<'a> {
    /// Own autonomous system number.
    pub(crate) asn: u32,
    /// Router id, if it is set.
    pub(crate) router_id: Option<Ipv4Addr>,
    /// Its own announcements.
    pub(crate) networks: Vec<Prefix>,
    /// Common values of all sessions.
    pub(crate) process: Process,
    /// Values of single sessions.
    pub(crate) neighbours: Vec<Neighbour<'a>>,
}

/// A neighbour.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Neighbour<'a> {
    /// Port or address that identifies it.
    pub(crate) name: Cow<'a, str>,
    /// Its autonomous system.
    pub(crate) remote: Remote,
    /// Terms of the session.
    pub(crate) terms: Terms,
}

/// Possible neighbours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Remote {
    /// One autonomous system.
    As(u32),
    /// Any but the own.
    Any,
}

/// Common values of all sessions of a switch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(crate) struct Process {
    /// Seconds between keepalives, and of silence until a session is down.
    pub(crate) timers: Option<(u16, u16)>,
    /// Whether multipath ignores different autonomous systems in paths of equal length (`multipath-relax`).
    pub(crate) relaxed: bool,
    /// Whether sessions without filters exchange nothing.
    pub(crate) strict: bool,
    /// Whether IPv4 is activated by default.
    pub(crate) ipv4: bool,
    /// The family of the prefixes that are exchanged.
    pub(crate) family: Option<Family>,
    /// Behaviour when the daemon restarts.
    pub(crate) restart: Restart,
    /// Maximum number of paths to one prefix that are used together.
    pub(crate) width: Option<u16>,
}

/// Behaviour when the daemon restarts (RFC 4724).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(crate) struct Restart {
    /// Whether neighbours keep forwarding.
    pub(crate) graceful: bool,
    /// Whether it announces that it kept forwarding during the restart.
    pub(crate) preserves: bool,
    /// Maximum duration of the restart, in seconds.
    pub(crate) max_duration_s: Option<u16>,
    /// Seconds after which routes that were not repeated are removed.
    pub(crate) stale_s: Option<u16>,
}

/// Terms of a session.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub(crate) struct Terms {
    /// Whether prefixes of the family of the process are exchanged.
    pub(crate) active: bool,
    /// Whether the session is restricted to link-local addresses.
    pub(crate) link_local_only: bool,
    /// Failure detection.
    pub(crate) bfd: Option<Bfd>,
    /// Seconds between announcements.
    pub(crate) interval_s: Option<u16>,
    /// Seconds between attempts to connect.
    pub(crate) connect_s: Option<u16>,
    /// Filter of received routes.
    pub(crate) accepted: Option<Policy>,
    /// Filter of announced routes.
    pub(crate) announced: Option<Policy>,
    /// Number of prefixes above which the session is closed.
    pub(crate) limit: Option<u32>,
    /// Minutes until a closed session is tried again.
    pub(crate) retry_min: Option<u16>,
    /// Whether paths that contain the own autonomous system are accepted.
    pub(crate) accepts_own: bool,
}

/// Failure detection (RFC 5880).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Bfd {
    /// Detection multiplier: missed packets after which the session is down.
    pub(crate) multiplier: u8,
    /// Minimum interval of sent packets, in milliseconds.
    pub(crate) transmit_ms: u32,
    /// Requested interval of received packets, in milliseconds.
    pub(crate) receive_ms: u32,
}

impl Default for Bfd {
    fn default() -> Self {
        Bfd { multiplier: 3, transmit_ms: 300, receive_ms: 300 }
    }
}

/// A route map: the first matching clause decides, and the default is to deny.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub(crate) struct Policy(pub(crate) Vec<Clause>);

/// A clause of a route map.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub(crate) struct Clause {
    /// Whether matching routes pass.
    pub(crate) permit: bool,
    /// Prefixes that match; absent: all.
    pub(crate) prefixes: Option<Vec<Entry>>,
    /// AS path lengths that match; absent: any.
    pub(crate) lengths: Option<Lengths>,
    /// Whether only routes marked as drained match.
    pub(crate) if_drained: bool,
    /// Local preference to set.
    pub(crate) preference: Option<u32>,
    /// Whether to mark as drained.
    pub(crate) drains: bool,
    /// Bandwidth to set.
    pub(crate) bandwidth: Option<Bandwidth>,
}

/// An entry of a prefix list: the first match decides, and the default is to deny.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Entry {
    /// Whether matching prefixes are in the list.
    pub(crate) permit: bool,
    /// Prefixes that match.
    pub(crate) prefix_match: PrefixMatch,
}

/// Prefixes that an entry matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum PrefixMatch {
    /// A prefix that the switch originates, by its index among them.
    Own(u8),
    /// Those inside another prefix, with a range of lengths.
    Within {
        /// The outer prefix.
        net: Prefix,
        /// Least length.
        from: u8,
        /// Greatest length.
        to: u8,
    },
}

/// A set of AS path lengths, one bit each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(crate) struct Lengths(pub(crate) u64);

/// Maximum AS path length that filters can distinguish here.
pub(crate) const LONGEST: u8 = 63;

impl Lengths {
    /// Returns whether paths of a length match.
    pub(crate) fn has(self, length: u8) -> bool {
        length <= LONGEST && self.0 >> length & 1 == 1
    }

    /// Returns the greatest length that matches.
    pub(crate) fn longest(self) -> Option<u8> {
        (0..=LONGEST).rev().find(|length| self.has(*length))
    }
}

/// Bandwidth that is announced with a route.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Bandwidth {
    /// A fixed value in Mb/s.
    Mbps(u32),
    /// The sum over the paths in use.
    Sum,
}

/// BGP of a switch, by its cables.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Speaker {
    /// Own autonomous system number.
    pub(crate) asn: u32,
    /// Router id, if it is set.
    pub(crate) router_id: Option<Ipv4Addr>,
    /// Its own announcements.
    pub(crate) networks: Vec<Prefix>,
    /// Common values of all sessions.
    pub(crate) process: Arc<Process>,
    /// Terms of sessions, without duplicates.
    pub(crate) terms: Vec<Arc<Terms>>,
    /// Sessions by the slot of their cable.
    pub(crate) sessions: Vec<Option<Session>>,
}

/// A session over a cable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Session {
    /// The accepted remote AS.
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
    /// Returns whether a prefix matches, given what the switch announces of its own.
    pub(crate) fn matches(&self, prefix: Prefix, own: &[Prefix]) -> bool {
        match self.prefix_match {
            PrefixMatch::Own(at) => own.get(usize::from(at)) == Some(&prefix),
            PrefixMatch::Within { net, from, to } => {
                net.contains(&prefix) && (from..=to).contains(&prefix.prefix_len())
            }
        }
    }
}

/// Returns whether a prefix is in a list.
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
