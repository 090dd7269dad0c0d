//! A language that switches are configured in: what it states, and how it calls things.
//!
//! Invariants: whoever binds, checks or proves asks these properties and never which language it is, so that another
//! language is another room of [`crate::read`] and nothing else.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};

use crate::model::about::About;

/// A language.
pub(crate) struct Language {
    /// Its name.
    pub(crate) name: &'static str,
    /// The keyword of its operating system in the manifest, where that is not its name.
    pub(crate) os: Option<&'static str>,
    /// Whether ports have addresses and switches loopbacks; else next hops carry MAC addresses.
    pub(crate) addresses: bool,
    /// Whether it states speed, largest packet and error correction of ports.
    pub(crate) wire: [bool; 3],
    /// Whether every port with a cable states the neighbour that it expects.
    pub(crate) states_peers: bool,
    /// Owner of the requested MAC address where it is not stated.
    pub(crate) asks: Asks,
    /// Extent to which it states quality of service.
    pub(crate) quality: Quality,
    /// Behaviour of a port with link-local addresses.
    pub(crate) link_local: LinkLocal,
    /// Numbering of traffic classes.
    pub(crate) classes: Numbering,
    /// Spreading of traffic over next hops.
    pub(crate) spreading: Spreading,
    /// The seed that the image gives its hashes by the type of a switch, where it does so.
    pub(crate) seed: Option<fn(&str) -> Option<u8>>,
    /// BGP settings without a keyword.
    pub(crate) unsaid: &'static [Unsaid],
    /// Its name of a port of the cable lists.
    pub(crate) port: for<'a> fn(&'a str) -> &'a str,
    /// The file in which something is said, and what to look for, outermost first. Whether routes are in the
    /// configuration of the routing suite is said besides.
    pub(crate) place: fn(About<'_>, bool) -> (&'static str, Vec<String>),
}

impl Language {
    /// A router that is configured by text and keeps the MAC addresses of its maker: what most of those have in common.
    pub(crate) const TEXT: Language = Language {
        name: "",
        os: None,
        addresses: true,
        wire: [true; 3],
        states_peers: false,
        asks: Asks::Everybody,
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

    /// Tells whether it can say something of sessions.
    pub(crate) fn says(&self, what: Unsaid) -> bool {
        !self.unsaid.contains(&what)
    }
}

/// Something about sessions of BGP that not every language can say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unsaid {
    /// Seconds between attempts to connect.
    Connects,
    /// That packets were forwarded while the daemon restarted.
    Forwarding,
}

/// Owner of the requested MAC address where it is not stated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Asks {
    /// Nobody's: every neighbour is static.
    Nobody,
    /// That of NICs, which bring their own.
    Nics,
    /// That of every neighbour.
    Everybody,
}

/// Extent to which a language states quality of service.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Quality {
    /// Not at all, or by rank alone.
    Unstated,
    /// Settings of ports, and bounds of queues; the division of the buffer belongs to the switch.
    Ports(Bounds),
    /// With the pools of the buffer and the counters.
    Whole,
}

/// Queue bounds of a language.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Bounds {
    /// Each group and queue has a share of the buffer, pauses have room in bytes, and the watchdog has times.
    Each,
    /// All lossless classes have one share and all others another, pauses have room by the length of their cable, and the
    /// watchdog counts looks.
    Shared,
    /// Each queue has a length of its own and its part of the port; nothing is shared, paused, watched or trimmed.
    Lengths,
}

impl Quality {
    /// Tells whether it has words for pauses and trimming.
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
    /// It forwards by them.
    Forwards,
    /// Protocols talk by them, and no route leads to them.
    Talks,
}

/// Numbering of traffic classes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Numbering {
    /// As the profile states.
    Stated,
    /// From 0, by rising traffic class of the profile.
    Ranked,
}

/// Spreading of traffic over next hops.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Spreading {
    /// By weights, which add up to at most so much.
    Weighted(u64),
    /// Evenly.
    Even,
}

/// A place in no file.
fn nowhere(_: About<'_>, _: bool) -> (&'static str, Vec<String>) {
    ("", Vec::new())
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
