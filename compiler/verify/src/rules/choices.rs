//! V17: where switches choose the next hop, every choice leads to the destination NIC.

use closc_diagnostics::Rule;

/// A NIC has one address.
pub(crate) static ADDRESS: Rule = Rule {
    code: "V1701",
    title: "a NIC has different addresses",
    condition: "Every NIC has one address, and no other NIC has it. The address of its node, if nodes are \
           described, equals the address that the T0 of each plane routes over the NIC's cable.",
    impact: "Packets arrive in some planes. In others they are dropped or reach another NIC.",
    example: "\"default|2001:db8:1000:1::7/128\" on one T0 and \"default|2001:db8:1000:1::1/128\" on the T0 of the next \
              plane, both over the port to the same NIC",
    fix: "Undo the edit of the T0 or node that differs from the others, or restore the missing route. If \
           planes differ, they are from compilations with different `addresses.hosts`: compile the complete \
           fabric again.",
};

/// Deliverable packets are forwarded.
pub(crate) static DROPPED: Rule = Rule {
    code: "V1702",
    title: "a switch drops packets that it could deliver",
    condition: "A switch that receives packets for a NIC forwards them if cables lead from there to the NIC. A \
           packet goes up, then down, and inside a zone over T1s only.",
    impact: "Traffic that other switches send to this switch is lost, and hosts report timeouts between some \
           pairs of NICs only.",
    example: "no route for a T0 group on one of the T1s above it",
    fix: "If the cables behind the switch are not installed, declare them in `exceptions.absent` and compile \
           the complete fabric. Otherwise restore the route, or remove the added blackhole. With \
           `bgp-unnumbered`, fix V1801 to V1815 first.",
};

/// Packets arrive at their destination.
pub(crate) static ASTRAY: Rule = Rule {
    code: "V1703",
    title: "a route leads to another NIC",
    condition: "A route over the cable of a NIC contains only addresses of that NIC.",
    impact: "The NIC drops a packet that belongs to another NIC, or even accepts it.",
    example: "the ports of two NICs exchanged on a T0",
    fix: "Undo the edit that exchanged ports of routes on the T0, or rows of NICs in the cable list. If NICs \
           are exchanged on site, swap their cables back; `closc cables check` names them.",
};

/// No packet visits a switch twice.
pub(crate) static ROUND: Rule = Rule {
    code: "V1704",
    title: "a forwarding loop",
    condition: "No packet visits a switch twice, for any destination and any choice of next hops.",
    impact: "A looping packet consumes the capacity of the cables until its hop limit is reached.",
    example: "no blackhole for the rest of a T0 group on its T0: up by the route of the zone, and down again",
    fix: "Restore the blackhole, or the more specific route that leads down, on the switch where packets go \
           up again. Remove routes that a template or an edit added, and compile again.",
};

/// Packets go up, then down.
pub(crate) static VALLEY: Rule = Rule {
    code: "V1705",
    title: "a switch sends packets from above up again",
    condition: "A switch sends packets that came from above only downwards.",
    impact: "Such a packet uses switches and cables outside its share. With paused priorities, such turns can \
           close a cycle of buffers.",
    example: "a /64 on a T1 over the cable to the T0 of another group",
    fix: "Remove the route that leads up, or restore the one that leads down to the group, in the edited \
           file or template. If the row of a cable was removed, restore it.",
};

/// Next hops lead to the destination.
pub(crate) static DEAD_END: Rule = Rule {
    code: "V1706",
    title: "a route uses a switch that cannot reach the destination",
    condition: "The switch at the other end of every cable of a route has cables towards every reachable NIC of \
           the route.",
    impact: "The share of the traffic that uses this cable is lost.",
    example: "a T1 in the group of a route, whose cable to the T0 is absent",
    fix: "If equipment is not installed, declare it in `exceptions.absent` and compile the complete fabric, \
           so that routes omit it. If it is installed, restore its rows in the cable list.",
};

/// Routes are for NICs.
pub(crate) static UNUSED_ADDRESSES: Rule = Rule {
    code: "V1707",
    title: "a route to unused addresses",
    condition: "Routes over cables are inside the pool of host addresses. Routes over the cable of a NIC are for \
           NIC addresses.",
    impact: "An unknown destination may exist in another network. Over a default route, packets that must be \
           dropped leave the fabric.",
    example: "\"default|::/0\": { \"ifname\": \"Ethernet256\", ... }",
    fix: "Remove the route from the edited file, or from the template that writes routes. If NICs have new \
           addresses, set `addresses.hosts` in the fabric file and compile the complete fabric.",
};

/// Packets to unused addresses of the pool are dropped.
pub(crate) static POOL: Rule = Rule {
    code: "V1708",
    title: "the rest of the host pool is not a blackhole",
    condition: "Every switch has one blackhole for the pool of NIC addresses, the same on all switches.",
    impact: "Packets to unused addresses would follow any less specific route, such as a default route, into \
           the management network or a loop.",
    example: "no \"default|2001:db8:1000::/36\": { \"blackhole\": \"true\" }",
    fix: "Restore the blackhole in the edited file, or in the template that writes routes. If switches have \
           blackholes for different pools, `addresses.hosts` changed between compilations: compile the \
           complete fabric again.",
};

/// Shares follow capacity.
pub(crate) static SHARE: Rule = Rule {
    code: "V1709",
    title: "route weights do not match the remaining capacity",
    condition: "The weights of next hops are proportional to the remaining capacity behind them, counted from the \
           cable lists. They are exact, or as near as the width of a group permits. In a language without \
           weights, the next hops are those that carry most with equal shares. With BGP, the weights are the \
           sum of the cables of the T0 behind each next hop, to within 1/255. They are equal where a switch \
           announces no bandwidths (W0906). A node has no data about the capacity behind its T0s, and gives \
           its planes equal weights. A route of a T0 to one NIC over one uplink is a pin, and may use any \
           uplink with capacity.",
    impact: "The narrowest path fills first. Its flows are late although other paths have capacity.",
    example: "weight 1 for each of two T1s, of which one has lost one of its two cables to the T0",
    fix: "Declare changed cables in `exceptions` and compile the complete fabric, so that weights follow. \
           Undo an edit of a weight, a next hop or a row of the cable list.",
};

/// All capacity is used.
pub(crate) static UNUSED_WAY: Rule = Rule {
    code: "V1710",
    title: "a route omits a cable with capacity",
    condition: "A route uses every cable with remaining capacity behind it, and no drained cable while others are \
           left.",
    impact: "Installed capacity stays unused, or work on a drained cable interrupts traffic.",
    example: "one of 32 uplinks missing in the group of a route",
    fix: "Declare missing cables in `exceptions.absent`, drain others with `closc drain`, and compile the \
           complete fabric. Undo an edit of next hops; to prefer an uplink for one NIC, use `ecmp.pins`.",
};

/// NICs may send, but only with their own address.
pub(crate) static INGRESS_FILTER: Rule = Rule {
    code: "V1711",
    title: "a T0 does not accept what its NICs send",
    condition: "A T0 that filters packets from NICs accepts every NIC address as destination. On each port it \
           accepts the address of the NIC there as source, and no address of another node.",
    impact: "Packets that are not accepted are dropped at the first switch, whatever the routes are. Too wide a \
           filter lets one NIC send as another.",
    example: "permit_plain() for 2001:db8:1000:2::/64 only",
    fix: "After a change of `hosts` or `addresses.hosts`, compile the complete fabric. Undo an edit of the \
           entries, or of the NIC's row in the cable list.",
};

/// Nodes use every plane that leads to the destination.
pub(crate) static NODE_ROUTES: Rule = Rule {
    code: "V1712",
    title: "a node uses the wrong planes for a destination",
    condition: "This applies to described nodes. Packets from the address of a NIC leave through ports of \
           this NIC, with the other ends of their cables as next hops. They use every plane in which cables \
           in use lead to the destination, and no plane in which no cable leads there. Planes in which only \
           drained cables lead there are optional. Packets without a source address have such routes too.",
    impact: "In a plane without a path, the share of the flows is dropped at the first switch. An omitted plane \
           carries nothing. A program that sends without a source address gets the one of its route, and \
           without that its packets are dropped.",
    example: "nexthop via ... dev nic0p1 towards a T0 group whose T0 in plane 1 is absent",
    fix: "After a change of `exceptions`, compile the complete fabric, because nodes omit planes without a \
           path. Undo an edit of the node's routes, or of the template that writes them.",
};

/// The family, in the order of codes.
pub(super) const RULES: &[&Rule] = &[
    &ADDRESS,
    &DROPPED,
    &ASTRAY,
    &ROUND,
    &VALLEY,
    &DEAD_END,
    &UNUSED_ADDRESSES,
    &POOL,
    &SHARE,
    &UNUSED_WAY,
    &INGRESS_FILTER,
    &NODE_ROUTES,
];
