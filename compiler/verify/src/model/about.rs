//! Subject of a violation on a switch, independent of its language.

/// Subject of a violation on a switch, to find its line in any language.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum About<'a> {
    /// The device as a whole.
    Device,
    /// A port.
    Port(&'a str),
    /// The address of a port.
    Address(&'a str),
    /// The device that a port is asked to expect.
    Peer(&'a str),
    /// Statements about a neighbour, by its name.
    Stated(&'a str),
    /// The description of a port.
    Description(&'a str),
    /// A static neighbour of a port.
    Neighbour(&'a str),
    /// The MAC address of a port, or of the whole switch.
    Mac(&'a str),
    /// The length of a port's cable.
    Length(&'a str),
    /// A route, as it is written.
    Route(&'a str),
    /// A route that drops, as it is written.
    Blackhole(&'a str),
    /// The list of routes.
    Routes,
    /// Which destinations NICs may send to.
    IngressFilter,
    /// Which sources a port lets in.
    Source(&'a str),
    /// An own segment, as it is written.
    Segment(&'a str),
    /// The list of own segments.
    Segments,
    /// Buffer pools.
    Pools,
    /// Headroom of a port.
    Headroom(&'a str),
    /// Settings of the whole device that have nothing to do with a port.
    Settings,
    /// Quality of service of a port.
    Qos(&'a str),
    /// The loopback.
    Loopback,
    /// The management address.
    Management,
    /// BGP as a whole.
    Bgp,
    /// Time of failure detection.
    Timers,
    /// The session over a port.
    Session(&'a str),
    /// A prefix that is announced.
    Network(&'a str),
    /// Accepted and announced routes.
    Filters,
}
