//! Subject of a violation on a switch, independent of the configuration language.

/// A term of BGP sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Term {
    /// Keepalive and hold times.
    Times,
    /// Bidirectional forwarding detection.
    Bfd,
    /// The time between announcements.
    Interval,
    /// The time between attempts to connect.
    Connect,
    /// The time until a session that exceeded its prefix limit is restarted.
    Rest,
    /// The prefix limit.
    Limit,
    /// Graceful restart.
    Restart,
    /// Whether the session carries prefixes of the fabric.
    Activation,
    /// The route filters.
    Filters,
    /// A part of a route filter.
    Filter(FilterFact),
    /// The router ID.
    Identifier,
}

/// A part of the filter of received or announced routes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FilterFact {
    /// Whether the filter is that of announced routes.
    pub(crate) announced: bool,
    /// Index of the clause.
    pub(crate) clause: usize,
    /// The part of the clause.
    pub(crate) part: FilterPart,
}

/// A part of a clause.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FilterPart {
    /// Whether the clause permits or denies.
    Action,
    /// The order of the clauses.
    Order,
    /// An entry of its prefix list, by index.
    Prefixes(usize),
    /// Its list of AS paths.
    Paths,
    /// Its list of communities.
    Communities,
    /// The local preference that it sets.
    Preference,
    /// The community that it sets.
    Mark,
    /// The link bandwidth that it sets.
    Bandwidth,
}

const PARTS: [(&str, FilterPart); 7] = [
    ("order", FilterPart::Order),
    ("action", FilterPart::Action),
    ("paths", FilterPart::Paths),
    ("communities", FilterPart::Communities),
    ("preference", FilterPart::Preference),
    ("mark", FilterPart::Mark),
    ("bandwidth", FilterPart::Bandwidth),
];

impl FilterFact {
    /// Returns the name of the fact as a setting of a port, such as `in 0 prefixes 2`.
    pub(crate) fn name(self) -> String {
        let side = if self.announced { "out" } else { "in" };
        let part = match self.part {
            FilterPart::Prefixes(at) => format!("prefixes {at}"),
            part => PARTS.iter().find(|(_, own)| *own == part).map_or("", |(name, _)| *name).to_owned(),
        };
        format!("{side} {} {part}", self.clause)
    }

    /// Returns the fact with a name.
    pub(crate) fn parse(name: &str) -> Option<Self> {
        let words: Vec<&str> = name.split(' ').collect();
        let (head, part) = match words.as_slice() {
            [side, clause, "prefixes", at] => ((side, clause), FilterPart::Prefixes(at.parse().ok()?)),
            [side, clause, word] => ((side, clause), PARTS.iter().find(|(name, _)| name == word)?.1),
            _ => return None,
        };
        Some(FilterFact { announced: *head.0 == "out", clause: head.1.parse().ok()?, part })
    }
}

/// Subject of a violation on a switch, by which its line is found in any language.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FactKind<'a> {
    /// The device as a whole.
    Device,
    /// A port.
    Port(&'a str),
    /// The address of a port.
    Address(&'a str),
    /// The configured neighbour of a port.
    Peer(&'a str),
    /// Configured values of a neighbour, by its name.
    Stated(&'a str),
    /// The description of a port.
    Description(&'a str),
    /// A static neighbour of a port.
    Neighbour(&'a str),
    /// The MAC address of a port, or of the whole switch.
    Mac(&'a str),
    /// The length of a port's cable.
    Length(&'a str),
    /// A route, as written.
    Route(&'a str),
    /// A blackhole route, as written.
    Blackhole(&'a str),
    /// The list of routes.
    Routes,
    /// Destinations that NICs may send to.
    IngressFilter,
    /// Sources that a port accepts.
    Source(&'a str),
    /// An own segment, as written.
    Segment(&'a str),
    /// The list of own segments.
    Segments,
    /// Buffer pools.
    Pools,
    /// Headroom of a port.
    Headroom(&'a str),
    /// Device-wide settings.
    Settings,
    /// QoS of a port.
    Qos(&'a str),
    /// A QoS setting of a port, as named by the reader.
    Setting(&'a str, &'a str),
    /// A device-wide setting, by name.
    Global(&'a str),
    /// A counter, by name.
    Counter(&'a str),
    /// The loopback.
    Loopback,
    /// The management address.
    Management,
    /// Load balancing over next hops.
    Balance,
    /// BGP as a whole.
    Bgp,
    /// A term of the BGP session over a port, or of all sessions if the port is empty.
    Terms(&'a str, Term),
    /// The session over a port.
    Session(&'a str),
    /// An announced prefix.
    Network(&'a str),
    /// Accepted and announced routes.
    Filters,
}
