//! A configuration language of switches: its capabilities and terms.
//!
//! Invariants: other modules use only these properties and never test for a particular language. A new language
//! therefore needs only a new module in [`crate::read`].

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};

use crate::model::fact::FactKind;
use crate::model::place::Target;

/// A language.
pub(crate) struct Language {
    pub(crate) name: &'static str,
    /// Keyword of the operating system in the manifest, if it differs from the name.
    pub(crate) os: Option<&'static str>,
    /// Whether ports have addresses and switches have loopbacks; otherwise next hops contain MAC addresses.
    pub(crate) addresses: bool,
    /// Whether the language states the speed, MTU and error correction of ports.
    pub(crate) wire: [bool; 3],
    /// Whether auto-negotiation has no effect on ports with optical cables. If false, auto-negotiation keeps such links
    /// down.
    pub(crate) negotiates_copper_only: bool,
    /// Whether every port with a cable states its neighbour.
    pub(crate) states_peers: bool,
    /// Neighbours whose MAC addresses are resolved instead of configured.
    pub(crate) asks: NeighbourResolution,
    /// QoS settings that the language can express.
    pub(crate) quality: Quality,
    /// Behaviour of a port with link-local addresses.
    pub(crate) link_local: LinkLocal,
    /// Numbering of traffic classes.
    pub(crate) classes: Numbering,
    /// Method of spreading traffic over next hops.
    pub(crate) spreading: Spreading,
    /// Returns the hash seed that the OS image derives from the type of a switch, if the image does so.
    pub(crate) seed: Option<fn(&str) -> Option<u8>>,
    /// BGP settings that the language cannot express.
    pub(crate) unsaid: &'static [UnsupportedSetting],
    /// Converts a port name in cable lists to the name in this language.
    pub(crate) port: for<'a> fn(&'a str) -> &'a str,
    /// Returns the file of a subject, and its location in that file. The flag states whether routes are in a separate
    /// `frr.conf`.
    pub(crate) place: fn(FactKind<'_>, bool) -> (&'static str, Target),
}

impl Language {
    /// Common properties of routers that are configured by text and keep their factory MAC addresses.
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

    /// Returns the keyword of the operating system in the manifest.
    pub(crate) fn os(&self) -> &'static str {
        self.os.unwrap_or(self.name)
    }

    /// Returns whether the language can express a session setting.
    pub(crate) fn says(&self, what: UnsupportedSetting) -> bool {
        !self.unsaid.contains(&what)
    }
}

/// Settings of BGP sessions that some languages cannot express.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum UnsupportedSetting {
    /// Seconds between attempts to connect.
    Connects,
    /// The flag that forwarding continued during a restart of the daemon.
    Forwarding,
    /// Link bandwidths: the switch announces none, and all paths have equal shares.
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

/// QoS settings that a language can express.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Quality {
    /// None, or only settings by rank.
    Unstated,
    /// Port settings and queue limits. The switch itself divides the buffer.
    Ports(Bounds),
    /// Everything, including buffer pools and counters.
    Whole,
}

/// Queue limits of a language.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Bounds {
    /// Each group and queue has a share of the buffer. Headroom is in bytes, and the watchdog is configured with times.
    Each,
    /// Lossless classes have one common share, and all others another. Headroom follows from the cable length, and the
    /// watchdog counts polls.
    Shared,
    /// Each queue has its own length and share of the port. There are no shared buffers, PFC, watchdogs or trimming.
    Lengths,
}

impl Quality {
    /// Returns whether the language can express PFC and trimming.
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
    /// Only protocols use them; routes do not.
    Talks,
}

/// Numbering of traffic classes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Numbering {
    /// As numbered in the profile.
    Stated,
    /// From 0, by ascending traffic class of the profile.
    Ranked,
}

/// Method of spreading traffic over next hops.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Spreading {
    /// By weight, up to a maximum sum of weights.
    Weighted(u64),
    /// Evenly.
    Even,
}

/// Returns a place outside all files.
fn nowhere(_: FactKind<'_>, _: bool) -> (&'static str, Target) {
    ("", Target::File)
}

/// Returns a port name unchanged.
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
