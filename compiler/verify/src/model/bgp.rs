//! eBGP of a switch: what its configuration says ([`Config`]), and what is kept of it by cable ([`Speaker`]).
//!
//! Invariants: names are resolved; filters of one form are equal, whatever they are called and whoever's own prefixes
//! they name, so that most switches share them.

use std::borrow::Cow;
use std::net::Ipv4Addr;
use std::sync::Arc;

use closc_artefacts::{Family, Prefix};

/// BGP of a switch, as its file says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Config<'a> {
    /// Own autonomous system number.
    pub(crate) asn: u32,
    /// Router id, where it is set.
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
    /// Port, or address, that it is known by.
    pub(crate) name: Cow<'a, str>,
    /// Its autonomous system.
    pub(crate) remote: Remote,
    /// Agreement with it.
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
    /// Whether paths of one length are used together whatever autonomous systems are in them.
    pub(crate) relaxed: bool,
    /// Whether a session without filters carries nothing.
    pub(crate) strict: bool,
    /// Whether sessions carry IPv4 by themselves.
    pub(crate) ipv4: bool,
    /// The family of the prefixes that are exchanged.
    pub(crate) family: Option<Family>,
    /// Behaviour when the daemon restarts.
    pub(crate) restart: Restart,
    /// Paths to one prefix that are used at a time.
    pub(crate) width: Option<u16>,
}

/// Behaviour when the daemon restarts (RFC 4724).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(crate) struct Restart {
    /// Whether neighbours keep forwarding.
    pub(crate) graceful: bool,
    /// Whether it says that it forwarded meanwhile.
    pub(crate) preserves: bool,
    /// Seconds that it may take.
    pub(crate) within_s: Option<u16>,
    /// Seconds after which routes that were not repeated are forgotten.
    pub(crate) stale_s: Option<u16>,
}

/// Agreement with a neighbour.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub(crate) struct Terms {
    /// Whether prefixes of the family of the process are exchanged.
    pub(crate) active: bool,
    /// Whether nobody but a link-local address is talked to.
    pub(crate) link_local_only: bool,
    /// Failure detection.
    pub(crate) bfd: Option<Bfd>,
    /// Seconds between announcements.
    pub(crate) interval_s: Option<u16>,
    /// Seconds between attempts to connect.
    pub(crate) connect_s: Option<u16>,
    /// Accepted values.
    pub(crate) accepted: Option<Policy>,
    /// Announcements.
    pub(crate) announced: Option<Policy>,
    /// Prefixes beyond which the session is ended.
    pub(crate) limit: Option<u32>,
    /// Minutes until it is tried again.
    pub(crate) retry_min: Option<u16>,
    /// Whether paths with the own autonomous system in them are accepted.
    pub(crate) accepts_own: bool,
}

/// Failure detection (RFC 5880).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Bfd {
    /// Packets that may be missing.
    pub(crate) multiplier: u8,
    /// Milliseconds between packets that are sent.
    pub(crate) transmit_ms: u32,
    /// Milliseconds between packets that are wanted.
    pub(crate) receive_ms: u32,
}

impl Default for Bfd {
    fn default() -> Self {
        Bfd { multiplier: 3, transmit_ms: 300, receive_ms: 300 }
    }
}

/// A route map: the first clause that matches decides, and nothing matching is refused.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub(crate) struct Policy(pub(crate) Vec<Clause>);

/// A clause of a route map.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub(crate) struct Clause {
    /// Whether what matches passes.
    pub(crate) permit: bool,
    /// Prefixes that match; absent: all.
    pub(crate) prefixes: Option<Vec<Entry>>,
    /// Numbers of autonomous systems in a path that match; absent: any.
    pub(crate) lengths: Option<Lengths>,
    /// Whether only what is marked as drained matches.
    pub(crate) if_drained: bool,
    /// Local preference that is set.
    pub(crate) preference: Option<u32>,
    /// Whether it is marked as drained.
    pub(crate) drains: bool,
    /// Bandwidth that is set.
    pub(crate) bandwidth: Option<Bandwidth>,
}

/// An entry of a prefix list: the first that matches decides, and nothing matching is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Entry {
    /// Whether what matches is in the list.
    pub(crate) permit: bool,
    /// Matches.
    pub(crate) matched: Matched,
}

/// Prefixes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Matched {
    /// One that the switch announces of its own, by its place among them.
    Own(u8),
    /// Those inside another, of some lengths.
    Within {
        /// The outer prefix.
        net: Prefix,
        /// Least length.
        from: u8,
        /// Greatest length.
        to: u8,
    },
}

/// Numbers of autonomous systems in a path, a bit each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(crate) struct Lengths(pub(crate) u64);

/// Most autonomous systems in a path that a filter can tell apart here.
pub(crate) const LONGEST: u8 = 63;

impl Lengths {
    /// Tells whether paths of a length match.
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
    /// So many Mb/s.
    Mbps(u32),
    /// The sum over the paths in use.
    Sum,
}

/// BGP of a switch, by its cables.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Speaker {
    /// Own autonomous system number.
    pub(crate) asn: u32,
    /// Router id, where it is set.
    pub(crate) router_id: Option<Ipv4Addr>,
    /// Its own announcements.
    pub(crate) networks: Vec<Prefix>,
    /// Common values of all sessions.
    pub(crate) process: Arc<Process>,
    /// Agreements with neighbours, each once.
    pub(crate) terms: Vec<Arc<Terms>>,
    /// Sessions by the slot of their cable.
    pub(crate) sessions: Vec<Option<Session>>,
}

/// A session over a cable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Session {
    /// Possible far end.
    pub(crate) remote: Remote,
    /// Index in [`Speaker::terms`].
    pub(crate) terms: u16,
}

impl Speaker {
    /// Returns the session over a cable with what is agreed for it.
    pub(crate) fn session(&self, slot: u16) -> Option<(Session, &Arc<Terms>)> {
        let session = self.sessions.get(usize::from(slot)).copied().flatten()?;
        Some((session, &self.terms[usize::from(session.terms)]))
    }
}

impl Entry {
    /// Tells whether a prefix matches, given what the switch announces of its own.
    pub(crate) fn matches(&self, prefix: Prefix, own: &[Prefix]) -> bool {
        match self.matched {
            Matched::Own(at) => own.get(usize::from(at)) == Some(&prefix),
            Matched::Within { net, from, to } => {
                net.contains(&prefix) && (from..=to).contains(&prefix.prefix_len())
            }
        }
    }
}

/// Tells whether a prefix is in a list.
pub(crate) fn listed(entries: &[Entry], prefix: Prefix, own: &[Prefix]) -> bool {
    entries.iter().find(|entry| entry.matches(prefix, own)).is_some_and(|entry| entry.permit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_entry_decides() {
        let net = |text: &str| text.parse::<Prefix>().expect("a prefix");
        let within =
            |permit, text, from, to| Entry { permit, matched: Matched::Within { net: net(text), from, to } };
        let own = [net("2001:db8:1:1::/64")];
        let list = [
            Entry { permit: true, matched: Matched::Own(0) },
            within(false, "2001:db8:1::/48", 64, 64),
            within(true, "2001:db8::/32", 64, 128),
        ];
        assert!(listed(&list, own[0], &own));
        assert!(!listed(&list, net("2001:db8:1:2::/64"), &own), "refused by the second");
        assert!(listed(&list, net("2001:db8:1:2::1/128"), &own));
        assert!(!listed(&list, net("::/0"), &own));
    }

    #[test]
    fn lengths_have_a_greatest() {
        assert_eq!(Lengths(0b101).longest(), Some(2));
        assert!(Lengths(0b101).has(0) && !Lengths(0b101).has(1) && !Lengths(u64::MAX).has(64));
    }
}
