//! V17: where switches choose the next hop, every choice leads to the NIC.

use closc_diagnostics::Rule;

/// All say the same of a NIC.
pub(crate) static ADDRESS: Rule = Rule {
    code: "V1701",
    title: "a NIC whose address is not the same everywhere",
    what: "Every NIC has one address, which no other NIC has: what its node says, if the tree describes nodes, and what \
           the T0 of each plane routes over the NIC's cable are the same.",
    why: "Packets arrive by some planes and die, or go to another NIC, by the others.",
    example: "\"default|2001:db8:1000:1::7/128\" on one T0 and \"default|2001:db8:1000:1::1/128\" on the T0 of the next \
              plane, both over the port to the same NIC",
    fix: "Compile again.",
};

/// Nothing is dropped that could arrive.
pub(crate) static DROPPED: Rule = Rule {
    code: "V1702",
    title: "a switch drops what could arrive",
    what: "A switch that packets for a NIC come to leads them on, if cables lead from there to the NIC: up, then down, \
           inside a zone over T1s only.",
    why: "Whatever the switches before choose this switch for is lost, and hosts see timeouts between some pairs of NICs \
          only.",
    example: "no route for a T0 group on one of the T1s above it",
    fix: "Compile again.",
};

/// Packets arrive at the NIC that they are for.
pub(crate) static ASTRAY: Rule = Rule {
    code: "V1703",
    title: "a route leads to another NIC",
    what: "A route over the cable of a NIC is for addresses of that NIC alone.",
    why: "The packet is dropped by a NIC that it is not for, or worse, is taken.",
    example: "the ports of two NICs exchanged on a T0",
    fix: "Compile again.",
};

/// Packets do not go round.
pub(crate) static ROUND: Rule = Rule {
    code: "V1704",
    title: "packets go round",
    what: "No packet visits a switch twice, whatever the switches choose and for every destination.",
    why: "It goes round until its hop limit is used up, and takes the capacity of the cables with it.",
    example: "no blackhole for the rest of a T0 group on its T0: up by the route of the zone, and down again",
    fix: "Compile again; every route that leads up must be covered by a blackhole where it ends.",
};

/// Up, then down.
pub(crate) static VALLEY: Rule = Rule {
    code: "V1705",
    title: "a switch sends up again what came from above",
    what: "A packet that came from above goes down, and never up again.",
    why: "It crosses a switch and cables that are nobody's share, and with paused priorities such turns can close a ring \
          of buffers.",
    example: "a /64 on a T1 over the cable to the T0 of another group",
    fix: "Compile again.",
};

/// Ways lead on.
pub(crate) static DEAD_END: Rule = Rule {
    code: "V1706",
    title: "a route uses a switch from which there is no way",
    what: "From the switch at the other end of every cable that a route uses, cables lead to every NIC that the \
           route is for and that can be reached at all.",
    why: "The share of the traffic that takes this cable is lost.",
    example: "a T1 in the group of a route, whose cable to the T0 is absent",
    fix: "Declare what is absent under `exceptions`, and compile again.",
};

/// Routes are for NICs.
pub(crate) static NOBODY: Rule = Rule {
    code: "V1707",
    title: "a route to unused addresses",
    what: "Routes over cables are for addresses inside the hosts' pool; over the cable of a NIC, for addresses of NICs.",
    why: "An unknown destination may exist elsewhere: a default route leads packets out that should be dropped.",
    example: "\"default|::/0\": { \"ifname\": \"Ethernet256\", ... }",
    fix: "Compile again.",
};

/// Everything else dies.
pub(crate) static POOL: Rule = Rule {
    code: "V1708",
    title: "the rest of the hosts' pool is not a blackhole",
    what: "Every switch has one blackhole for the pool of all NICs' addresses, the same on all switches.",
    why: "Unused addresses would follow any later route, to the management network or in a loop.",
    example: "no \"default|2001:db8:1000::/36\": { \"blackhole\": \"true\" }",
    fix: "Compile again.",
};

/// Shares follow capacity.
pub(crate) static SHARE: Rule = Rule {
    code: "V1709",
    title: "a route spreads traffic otherwise than capacity is left",
    what: "The weights of a route's next hops are as the parts of capacity that are left behind them, counted from the \
           cable lists; exactly, or as near as the width of a group lets them be. Where the language has no weights, the \
           next hops are those that carry most if all get the same. With BGP they are as the cables of the T0 that are behind \
           each, added up, to within one part of 255. A node, \
           which knows of nothing behind its T0s, uses its planes with one weight. A /128 of a T0 over one uplink is a pin, and may be over any.",
    why: "The narrowest way is full first, and flows over it are late while others have room.",
    example: "weight 1 for each of two T1s, of which one has lost one of its two cables to the T0",
    fix: "Compile again.",
};

/// Everything is in use.
pub(crate) static UNUSED_WAY: Rule = Rule {
    code: "V1710",
    title: "a route leaves out a cable that leads there",
    what: "A route uses every cable behind which capacity is left, and none that is drained as long as others \
           are left.",
    why: "Capacity that was paid for stays unused, or work on a drained cable takes traffic down.",
    example: "one of 32 uplinks missing in the group of a route",
    fix: "Compile again.",
};

/// NICs may send, and only as themselves.
pub(crate) static INGRESS_FILTER: Rule = Rule {
    code: "V1711",
    title: "a T0 does not let in what its NICs send",
    what: "Where a T0 checks what comes in from NICs, it accepts every NIC's address as destination, and on each port the \
           address of the NIC there as source and none of another node's.",
    why: "What is not accepted is dropped at the first switch, whatever the routes say; what is accepted without need \
          lets one NIC send as another.",
    example: "permit_plain() for 2001:db8:1000:2::/64 only",
    fix: "Compile again.",
};

/// Nodes send over planes that lead there.
pub(crate) static NODE_ROUTES: Rule = Rule {
    code: "V1712",
    title: "a node sends over other planes than lead to the NIC that is meant",
    what: "Where nodes are described: packets from the address of a NIC leave by ports of this NIC, whose next hops are \
           the other ends of their cables: in every plane in which cables in use lead there, and in none in which no \
           cables lead there. Packets that have no address yet have such routes too.",
    why: "The share of the flows that takes a plane without a way dies at the first switch; a plane that is left out \
          carries nothing. What a program sends from no address of its own takes the address that its route says, and \
          without that is dropped.",
    example: "nexthop via ... dev nic0p1 towards a T0 group whose T0 in plane 1 is absent",
    fix: "Compile again.",
};

/// The family, in the order of codes.
pub(super) const RULES: &[&Rule] = &[
    &ADDRESS,
    &DROPPED,
    &ASTRAY,
    &ROUND,
    &VALLEY,
    &DEAD_END,
    &NOBODY,
    &POOL,
    &SHARE,
    &UNUSED_WAY,
    &INGRESS_FILTER,
    &NODE_ROUTES,
];
