//! V16: no ring of buffers that wait for each other.

use closc_diagnostics::Rule;

/// Waits of lists form no ring.
pub(crate) static RING: Rule = Rule {
    code: "V1601",
    title: "a cyclic buffer dependency",
    what: "Where priorities are paused, no ring of cables waits for each other: over the paths that tables make and \
           switches forward, each cable with the next one of a path, there is no cycle.",
    why: "Pauses travel along such a ring and stop every switch of it at once; nothing moves until a watchdog drops \
          packets of a class that must not lose any.",
    example: "paths T0 1 - T1 1 - T0 2 - T1 2 - T0 1 and T0 2 - T1 2 - T0 1 - T1 1 - T0 2",
    fix: "Paths may go up and then down, never down and up again; compile again.",
};

/// Waits of routes form no ring.
pub(crate) static CIRCLE: Rule = Rule {
    code: "V1602",
    title: "routes let pauses wait for each other in a circle",
    what: "In a fabric with paused priorities, no packet that a switch got from above is sent up again in such a way \
           that the buffers of ports wait for each other in a circle.",
    why: "When all buffers of the circle are full, every port in it has paused the one before: nothing moves until a \
          watchdog drops packets, and the pauses spread through the whole fabric.",
    example: "\"default|2001:db8:1000:2::/64\": { \"ifname\": \"Ethernet0\", ... } on a T1, where Ethernet0 leads to \
              the T0 of another group, which sends it up again",
    fix: "Compile again; a route by hand must lead down to the group itself, or not at all.",
};

/// The family, in the order of codes.
pub(super) const RULES: &[&Rule] = &[&RING, &CIRCLE];
