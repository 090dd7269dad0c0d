//! Subject of a violation on a switch, independent of the configuration language.

/// Subject of a violation on a switch, to find its line in any language.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum About<'a> {
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
    /// Timers of failure detection.
    Timers,
    /// The session over a port.
    Session(&'a str),
    /// A prefix that is announced.
    Network(&'a str),
    /// Accepted and announced routes.
    Filters,
}
