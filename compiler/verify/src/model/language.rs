//! A configuration language of switches: its capabilities and terms.
//!
//! Invariants: other modules only use these properties and never test for a particular language, so a new language is
//! only a new module of [`crate::read`].

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};

use crate::model::fact::FactKind;
use crate::model::place::Target;

/// A language.
pub(crate) struct Language {
    /// Its name.
    pub(crate) name: &'static str,
    /// The keyword of its operating system in the manifest, if it differs from the name.
    pub(crate) os: Option<&'static str>,
    /// Whether ports have addresses and switches loopbacks; otherwise next hops contain MAC addresses.
    pub(crate) addresses: bool,
    /// Whether it states speed, MTU and error correction of ports.
    pub(crate) wire: [bool; 3],
    /// Whether auto-negotiation has no effect on a port with an optical cable. Otherwise the link stays down.
    pub(crate) negotiates_copper_only: bool,
    /// Whether every port with a cable states its neighbour.
    pub(crate) states_peers: bool,
    /// Neighbours whose MAC addresses are resolved instead of configured.
    pub(crate) asks: NeighbourResolution,
    /// The part of QoS that it can express.
    pub(crate) quality: Quality,
    /// Behaviour of a port with link-local addresses.
    pub(crate) link_local: LinkLocal,
    /// Numbering of traffic classes.
    pub(crate) classes: Numbering,
    /// Spreading of traffic over next hops.
    pub(crate) spreading: Spreading,
    /// The hash seed that the OS image derives from the type of a switch, if it does.
    pub(crate) seed: Option<fn(&str) -> Option<u8>>,
    /// BGP settings that it cannot express.
    pub(crate) unsaid: &'static [UnsupportedSetting],
    /// Converts a port name of cable lists to its own.
    pub(crate) port: for<'a> fn(&'a str) -> &'a str,
    /// Returns the file of a subject, and its identity there. The flag states whether routes are in a separate
    /// `frr.conf`.
    pub(crate) place: fn(FactKind<'_>, bool) -> (&'static str, Target),
}

impl Language {
    /// Common properties of routers that are configured by text and keep their factory MAC address.
    pub(crate) const TEXT: Language = Language {
        name: "",
        os: None,
        addresses: true,
        wire: [true; 3],
        negotiates_copper_only: false,
        states_peers: false,
        asks: NeighbourResolution::All,
        quality: Quality::Unstated,
        link_local: LinkLocal::Talks,
        classes: Numbering::Stated,
        spreading: Spreading::Even,
        seed: None,
        unsaid: &[],
        port: same_name,
        place: nowhere,
    };

    /// Returns the keyword of its operating system in the manifest.
    pub(crate) fn os(&self) -> &'static str {
        self.os.unwrap_or(self.name)
    }

    /// Returns whether it can express a setting of sessions.
    pub(crate) fn says(&self, what: UnsupportedSetting) -> bool {
        !self.unsaid.contains(&what)
    }
}

/// Settings of BGP sessions that some languages cannot express.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum UnsupportedSetting {
    /// Seconds between attempts to connect.
    Connects,
    /// The flag that packets were forwarded during a restart of the daemon.
    Forwarding,
    /// Bandwidths of links: it announces none, and gives all paths equal shares.
    Bandwidths,
}

/// Neighbours whose MAC addresses are resolved instead of configured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NeighbourResolution {
    /// Every neighbour is static.
    None,
    /// NICs, which keep their factory addresses.
    Nics,
    /// Every neighbour is resolved.
    All,
}

/// The part of QoS that a language can express.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Quality {
    /// Nothing, or settings by rank only.
    Unstated,
    /// Settings of ports and limits of queues; the switch itself divides the buffer.
    Ports(Bounds),
    /// Everything, including buffer pools and counters.
    Whole,
}

/// Queue limits of a language.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Bounds {
    /// Each group and queue has a share of the buffer, headroom is in bytes, and the watchdog has times.
    Each,
    /// All lossless classes have one share and all others another, headroom follows from the cable length, and the
    /// watchdog counts polls.
    Shared,
    /// Each queue has its own length and share of the port. Buffers are not shared; pauses, watchdogs and trimming do
    /// not exist.
    Lengths,
}

impl Quality {
    /// Returns whether it can express pauses and trimming.
    pub(crate) fn pauses_and_trims(self) -> bool {
        match self {
            Quality::Ports(Bounds::Lengths) => false,
            Quality::Unstated | Quality::Ports(Bounds::Each | Bounds::Shared) | Quality::Whole => true,
        }
    }
}

/// Behaviour of a port with link-local addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LinkLocal {
    /// Routes use them as next hops.
    Forwards,
    /// Protocols use them, but no route leads to them.
    Talks,
}

/// Numbering of traffic classes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Numbering {
    /// As in the profile.
    Stated,
    /// From 0, by ascending traffic class of the profile.
    Ranked,
}

/// Spreading of traffic over next hops.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Spreading {
    /// By weights, with a maximum sum.
    Weighted(u64),
    /// Evenly.
    Even,
}

/// A place in no file.
fn nowhere(_: FactKind<'_>, _: bool) -> (&'static str, Target) {
    ("", Target::File)
}

/// Returns a port's name as it is.
pub(crate) fn same_name(name: &str) -> &str {
    name
}

impl fmt::Debug for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl PartialEq for Language {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Language {}

impl PartialOrd for Language {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Language {
    fn cmp(&self, other: &Self) -> Ordering {
        self.name.cmp(other.name)
    }
}

impl Hash for Language {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state);
    }
}
