//! V03: both ends of a cable fit.

use closc_diagnostics::Rule;

/// Addresses are two halves.
pub(crate) static HALVES: Rule = Rule {
    code: "V0301",
    title: "the addresses of a cable do not fit",
    what: "Each end of a cable has exactly one address, a /127, and the two are the two halves of one prefix.",
    why: "A route's next hop is the other half; without it the next hop is never resolved.",
    example: "\"INTERFACE\": { \"Ethernet256|2001:db8:2000:1300:1:2:0:a/126\": {} }",
    fix: "Compile again.",
};

/// Ends talk alike.
pub(crate) static WIRE: Rule = Rule {
    code: "V0302",
    title: "two ends of a cable differ in speed, packet size or error correction",
    what: "Speed, MTU and forward error correction are equal at both ends of a cable.",
    why: "Different speeds or codes give no link; a smaller MTU drops the large packets only, which looks like \
          a fault of the application.",
    example: "\"PORT\": { \"Ethernet256\": { \"mtu\": \"1500\" } }",
    fix: "Compile again; a template overlay may not set these for one end alone.",
};

/// Buffers are cut for the cable that is there.
pub(crate) static LENGTH: Rule = Rule {
    code: "V0303",
    title: "a cable is longer or shorter than a switch believes",
    what: "`CABLE_LENGTH` of a port is the length of the cable list, in whole metres rounded up, where the \
           switch has lengths; it has all of them or none.",
    why: "Headroom is computed from the length: for a longer cable it overflows and a lossless class loses \
          packets.",
    example: "\"CABLE_LENGTH\": { \"AZURE\": { \"Ethernet256\": \"5m\" } } for a cable of 30 m",
    fix: "Compile again.",
};

/// Neighbours are there before anybody talks.
pub(crate) static NEIGHBOUR: Rule = Rule {
    code: "V0304",
    title: "a static neighbour is missing or wrong",
    what: "For every cable to another switch there is exactly one static neighbour, with the address and the \
           MAC address of the other end.",
    why: "After a restart nobody talks first: a static route without a resolved next hop drops every packet, \
          and one with a wrong MAC address sends them to a device that throws them away.",
    example: "\"NEIGH\": { \"Ethernet256|2001:db8:2000:1300:1:2:0:b\": { \"neigh\": \"02:c1:13:00:00:09\" } }",
    fix: "Compile again.",
};

/// Ports are as stated.
pub(crate) static PROFILE: Rule = Rule {
    code: "V0305",
    title: "a port is not as the fabric states",
    what: "Hardware of every switch, and speed and largest packet of every port with a cable, are those that the manifest states for its tier and side; lanes of 25G and faster have Reed-Solomon error correction (IEEE 802.3 clauses 91 and 119).",
    why: "What all switches say alike is not right for that: packets of 9,000 bytes do not pass ports of 1,500.",
    example: "\"mtu\": \"1500\" on every port",
    fix: "Compile again.",
};

/// The family, in the order of codes.
pub(super) const RULES: &[&Rule] = &[&HALVES, &WIRE, &LENGTH, &NEIGHBOUR, &PROFILE];
