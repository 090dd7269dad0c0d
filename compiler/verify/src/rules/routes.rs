//! V06: routes of a switch, alone and against its neighbours.

use closc_diagnostics::Rule;

/// Routes lead only to neighbours.
pub(crate) static FOREIGN: Rule = Rule {
    code: "V0601",
    title: "a route to a prefix that no neighbour owns",
    condition: "The routes of a switch are one /48 per uSID of each neighbour and the blackhole of the block. \
           They include neither a default route nor a prefix of another length.",
    impact: "A packet with an unknown uSID must be dropped at the first switch. A wider route forwards it, and \
           a swapped cable then misdelivers packets instead of losing them.",
    example: "\"STATIC_ROUTE\": { \"default|::/0\": { \"ifname\": \"Ethernet256\", ... } }",
    fix: "Remove the route from the edited file, or from the template that writes routes. If every route of \
           a switch is reported, its file and the path tables have different `srv6` blocks: compile the \
           complete fabric again.",
};

/// The block ends in a blackhole.
pub(crate) static BLACKHOLE: Rule = Rule {
    code: "V0602",
    title: "the blackhole of the block is missing",
    condition: "Every switch drops packets inside the block for which it has no route.",
    impact: "Otherwise an unknown uSID follows any wider route, on some targets through the management port.",
    example: "no \"default|fcbb:bbbb::/32\": { \"blackhole\": \"true\" }",
    fix: "Restore the blackhole in the edited file, or in the template that writes routes. If V0601 reports \
           the other routes too, `srv6.block` changed between compilations: compile the complete fabric \
           again.",
};

/// Next hops are the far ends of cables.
pub(crate) static HOP: Rule = Rule {
    code: "V0603",
    title: "a next hop is not the other end of the port's cable",
    condition: "The next hop of a route is the other address of the port's /127. The port has a cable and is on.",
    impact: "If no device has the next hop's address, every packet of the route is dropped.",
    example: "\"default|fcbb:bbbb:5802::/48\": { \"ifname\": \"Ethernet256\", \"nexthop\": \"2001:db8::1\" }",
    fix: "If V0301 also reports the port, correct its address first. Otherwise restore the next hop in the \
           edited file or template, or the row of the cable list if the port lost its cable there.",
};

/// A route uses one cable.
pub(crate) static SINGLE: Rule = Rule {
    code: "V0604",
    title: "a uSID does not select one cable",
    condition: "The route of a uSID has one next hop, and no two routes use the same cable.",
    impact: "A list selects every cable of its path. With two next hops the switch selects one, and a bad \
           entropy value no longer identifies a bad cable.",
    example: "\"ifname\": \"Ethernet256,Ethernet257\"",
    fix: "Remove the second next hop, or the second route over the cable, and compile again. For next-hop \
           groups, set `routing: ecmp-static` in the fabric file.",
};

/// Routes lead to the owner of the uSID.
pub(crate) static OWNER: Rule = Rule {
    code: "V0605",
    title: "a route leads to a device that does not own the uSID",
    condition: "The route of a uSID uses a cable whose other end is the owner: the switch with that uSID, or the \
           NIC on that downlink.",
    impact: "The uSID is unknown at the other end, so the packet is dropped. Every path over this route is \
           lost.",
    example: "routes of fcbb:bbbb:5801::/48 and fcbb:bbbb:5802::/48 with their ports exchanged",
    fix: "If V0502 or V0503 reports the neighbour, correct its segment first. Otherwise undo the edit that \
           exchanged the ports of routes, or rows of the cable list.",
};

/// Every cable has a route.
pub(crate) static MISSING: Rule = Rule {
    code: "V0606",
    title: "a cable without a route",
    condition: "Every cable of a switch has exactly one route.",
    impact: "Packets for this neighbour are dropped, and every path over the cable is lost.",
    example: "no route for the uSID of the T1 at the other end of Ethernet256",
    fix: "If the cable is not installed, declare it in `exceptions.absent` of the fabric file and compile \
           again. Otherwise restore the route in the edited file, or in the template that writes routes.",
};

/// Parallel cables have equal numbers at both ends.
pub(crate) static PARALLEL: Rule = Rule {
    code: "V0607",
    title: "parallel cables are numbered differently at both ends",
    condition: "With parallel cables between two switches, both ends number the cables equally. The n-th uSID of \
           each switch uses the same cable.",
    impact: "The downward path uses the cable with the number of the upward path. With different numbers, a \
           list uses a cable other than its entropy value states.",
    example: "uplinks 0 and 1 exchanged at the T1 only",
    fix: "Undo the edit that exchanged uplinks at one end, in its routes or in the cable list. If cables are \
           exchanged on site, swap them back; `closc cables check` names them.",
};

/// The family, in the order of codes.
pub(super) const RULES: &[&Rule] = &[&FOREIGN, &BLACKHOLE, &HOP, &SINGLE, &OWNER, &MISSING, &PARALLEL];
