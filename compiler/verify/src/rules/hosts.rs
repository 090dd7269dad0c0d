//! V13: nodes, where the tree describes them.

use closc_diagnostics::Rule;

/// Ways to first segments.
pub(crate) static FIRST: Rule = Rule {
    code: "V1301",
    title: "a node does not reach its T0s",
    what: "For every port of a NIC there is exactly one route, to the uSID of the T0 at the other end of the \
           cable, over that port and with that T0 as next hop; there is a blackhole for the block and no other \
           route.",
    why: "The first uSID chooses the plane; a route over another port sends the packets of one plane into \
          another, where they die.",
    example: "route replace fcbb:bbbb:1801::/48 via ... dev nic0p2",
    fix: "Compile again.",
};

/// Segments of NICs.
pub(crate) static DECAPSULATION: Rule = Rule {
    code: "V1302",
    title: "a node decapsulates the wrong segments",
    what: "A node decapsulates exactly the uSIDs of its NICs, one for each port with a cable, into the table \
           of local addresses, and it has the inner addresses of its NICs and sends from one of them.",
    why: "What is not decapsulated is dropped after it has crossed the whole fabric.",
    example: "route replace fcbb:bbbb:8003::/48 encap seg6local action End.DT6 table 254",
    fix: "Compile again.",
};

/// Routes to other nodes.
pub(crate) static SPRAY: Rule = Rule {
    code: "V1303",
    title: "a node sends over a path that its table does not have",
    what: "Every path in `routes.batch` is one that the path table of the sending NIC's group gives for the \
           destination and does not deny, is there once, with the weight of its active entropy values, and goes \
           out by the port of its plane; all planes have the same total weight apart from planes without a path; \
           every NIC elsewhere is led to, from all nodes or from none.",
    why: "Hosts that spray otherwise than the tables say load planes unequally, or lose packets.",
    example: "nexthop replace id 7 encap seg6 ... segs fcbb:bbbb:1:4009:2:8001:: ... with four uplinks",
    fix: "Compile again.",
};

/// The family, in the order of codes.
pub(super) const RULES: &[&Rule] = &[&FIRST, &DECAPSULATION, &SPRAY];
