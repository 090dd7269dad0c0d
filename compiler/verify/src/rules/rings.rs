//! V16: cyclic buffer dependencies.

use closc_diagnostics::Rule;

/// Segment lists form no pause cycle.
pub(crate) static RING: Rule = Rule {
    code: "V1601",
    title: "a cyclic buffer dependency",
    condition: "With paused priorities, each cable waits for the next cable of every path that tables produce and \
           switches forward. These dependencies have no cycle.",
    impact: "Pauses spread along the cycle and stop all of its switches at once. Traffic resumes only when a \
           watchdog drops packets of a lossless class.",
    example: "paths T0 1 - T1 1 - T0 2 - T1 2 - T0 1 and T0 2 - T1 2 - T0 1 - T1 1 - T0 2",
    fix: "Restore the path table or the route that leads a path down and up again; the message lists the \
           cycle. If V0101 reports neither of them, report a bug in closc.",
};

/// Routes form no pause cycle.
pub(crate) static CIRCLE: Rule = Rule {
    code: "V1602",
    title: "routes create a cyclic buffer dependency",
    condition: "With paused priorities, no packet that came from above is sent up again such that port buffers \
           wait for each other in a cycle.",
    impact: "When all buffers of the cycle are full, every port has paused the one before. Traffic resumes only \
           when a watchdog drops packets, and the pauses spread through the whole fabric.",
    example: "\"default|2001:db8:1000:2::/64\": { \"ifname\": \"Ethernet0\", ... } on a T1, where Ethernet0 leads to \
              the T0 of another group, which sends it up again",
    fix: "Undo the route that sends packets from above up again, or the route above it that sends them to \
           the wrong switch. A route that is added by hand has to lead down to its own group.",
};

/// The family, in the order of codes.
pub(super) const RULES: &[&Rule] = &[&RING, &CIRCLE];
