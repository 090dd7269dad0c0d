//! V06: routes of a switch, for themselves and compared with its neighbours.

use closc_diagnostics::Rule;

/// Nothing but neighbours.
pub(crate) static FOREIGN: Rule = Rule {
    code: "V0601",
    title: "a route that leads to no neighbour",
    what: "The routes of a switch are one /48 for every neighbour's uSID and the blackhole of the block; there \
           is not a default route and no prefix of another length.",
    why: "A packet whose uSID is unknown must die at the first switch. With any wider route it goes on, and a \
          swapped cable misdelivers instead of losing packets.",
    example: "\"STATIC_ROUTE\": { \"default|::/0\": { \"ifname\": \"Ethernet256\", ... } }",
    fix: "Compile again; take additions out of template overlays.",
};

/// The blackhole is there.
pub(crate) static BLACKHOLE: Rule = Rule {
    code: "V0602",
    title: "the blackhole of the block is missing",
    what: "Every switch drops what it has no route for inside the block.",
    why: "Without it an unknown uSID follows whatever wider route there is, on some targets out of the \
           management port.",
    example: "no \"default|fcbb:bbbb::/32\": { \"blackhole\": \"true\" }",
    fix: "Compile again.",
};

/// A next hop is the other end of a cable.
pub(crate) static HOP: Rule = Rule {
    code: "V0603",
    title: "a next hop is not the other end of the port's cable",
    what: "The next hop of a route is the other address of the port's /127, and the port has a cable and is on.",
    why: "A next hop without an owner drops every packet of the route.",
    example: "\"default|fcbb:bbbb:5802::/48\": { \"ifname\": \"Ethernet256\", \"nexthop\": \"2001:db8::1\" }",
    fix: "Compile again.",
};

/// A route names one cable.
pub(crate) static SINGLE: Rule = Rule {
    code: "V0604",
    title: "a uSID that does not name one cable",
    what: "A uSID has one route with one next hop, and no two routes lead out over one cable.",
    why: "A list names every cable it takes; with two next hops the switch chooses, and a bad entropy value no \
          longer names a bad cable.",
    example: "\"ifname\": \"Ethernet256,Ethernet257\"",
    fix: "Compile again.",
};

/// A route leads to the owner.
pub(crate) static OWNER: Rule = Rule {
    code: "V0605",
    title: "a route leads to a device that does not own the uSID",
    what: "At the other end of the cable that a uSID's route leads to is the switch that owns the uSID, or the \
           NIC whose downlink it names.",
    why: "The packet dies there, as its uSID is unknown; every path over this route is lost.",
    example: "routes of fcbb:bbbb:5801::/48 and fcbb:bbbb:5802::/48 with their ports exchanged",
    fix: "Compile again.",
};

/// Every cable has its route.
pub(crate) static MISSING: Rule = Rule {
    code: "V0606",
    title: "a cable without a route",
    what: "Every cable of a switch is led to by one route; so there are as many as neighbours.",
    why: "Packets for this neighbour are dropped, and every path over the cable is lost.",
    example: "no route for the uSID of the T1 at the other end of Ethernet256",
    fix: "Compile again.",
};

/// Parallel cables have the same number at both ends.
pub(crate) static PARALLEL: Rule = Rule {
    code: "V0607",
    title: "parallel cables are numbered differently at both ends",
    what: "With several cables between two switches, the cable that one end reaches by the other's n-th uSID \
           is the one that the other end reaches by its n-th.",
    why: "The way down takes the cable of the same number as the way up; numbered differently, a list goes \
           over another cable than its entropy value says.",
    example: "uplinks 0 and 1 exchanged at the T1 only",
    fix: "Compile again.",
};

/// The family, in the order of codes.
pub(super) const RULES: &[&Rule] = &[&FOREIGN, &BLACKHOLE, &HOP, &SINGLE, &OWNER, &MISSING, &PARALLEL];
