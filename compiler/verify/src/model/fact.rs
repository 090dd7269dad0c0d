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
    /// The route filters.
    Filters,
    /// The router ID.
    Identifier,
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
