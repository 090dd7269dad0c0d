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
    /// The pause before a session is tried again after its prefix limit was exceeded.
    Rest,
    /// The limit of prefixes.
    Limit,
    /// Graceful restart.
    Restart,
    /// The filters of routes.
    Filters,
    /// The router id.
    Identifier,
}

/// Subject of a violation on a switch, to find its line in any language.
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
    /// Values about a neighbour, by its name.
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
    /// Settings of the whole device, independent of ports.
    Settings,
    /// Quality of service of a port.
    Qos(&'a str),
    /// A setting of the quality of service of a port, by the name that readers give it.
    Setting(&'a str, &'a str),
    /// A setting of the whole device, by name.
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
    /// A term of BGP sessions by name: of the session over a port, or of all sessions if the port is empty.
    Terms(&'a str, Term),
    /// The session over a port.
    Session(&'a str),
    /// A prefix that is announced.
    Network(&'a str),
    /// Accepted and announced routes.
    Filters,
}
