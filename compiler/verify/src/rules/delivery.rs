//! V08: every path is delivered or denied.

use closc_diagnostics::Rule;

/// Paths in use arrive.
pub(crate) static LOST: Rule = Rule {
    code: "V0801",
    title: "a path that does not arrive and is not denied",
    what: "Every path that a path table does not deny arrives at its NIC: each cable that its uSIDs name is \
           there, and the switches at its ends forward over it.",
    why: "NICs spray over such paths and lose a share of every message until each of them has found out.",
    example: "a cable that is neither in the cable list nor among the denials of a table",
    fix: "Declare what is absent under `exceptions`, or compile again.",
};

/// Elements denied as absent are absent.
pub(crate) static WASTED: Rule = Rule {
    code: "V0802",
    title: "a path that arrives and is denied as absent",
    what: "Every path that a path table denies as absent crosses something that is not there.",
    why: "Capacity that was paid for stays unused.",
    example: "\"denied\": [ { \"plane\": 3, \"reason\": \"absent\", \"name\": \"plane 3\" } ] with plane 3 whole",
    fix: "Compile again.",
};

/// A drained element is denied.
pub(crate) static UNDRAINED: Rule = Rule {
    code: "V0803",
    title: "a drained cable that paths still use",
    what: "Every path over a cable that the cable list calls drained is denied.",
    why: "The cable would be unplugged under traffic.",
    example: "state `drained` in a cable list and no denial in the tables",
    fix: "Compile again.",
};

/// Elements denied as drained are drained.
pub(crate) static IDLE: Rule = Rule {
    code: "V0804",
    title: "a path that is denied as drained and is not",
    what: "Every path that a path table denies as drained crosses a cable that the cable list calls drained.",
    why: "Capacity that was paid for stays unused.",
    example: "a denial that was left behind after the work was done",
    fix: "Compile again.",
};

/// Every cable has its paths.
pub(crate) static UNUSED: Rule = Rule {
    code: "V0805",
    title: "a cable that no path uses",
    what: "Every cable of the lists is named by the uSIDs of at least one path.",
    why: "A cable that no list names carries nothing; planes are then unequal by accident.",
    example: "a T1 whose uSID no uplink number leads to",
    fix: "Compile again.",
};

/// Both ways to the verdict come to the same.
pub(crate) static AGREE: Rule = Rule {
    code: "V0806",
    title: "walking every path comes to another number than the proof",
    what: "Where every path is walked one by one, as many arrive as the proof by composition counts, and none \
           ends at another NIC than it names.",
    why: "One of the two is wrong, so neither can be trusted.",
    example: "a route of another prefix length that composition does not look at",
    fix: "Mend what else is reported; if nothing is, report a fault of this program.",
};

/// The family, in the order of codes.
pub(super) const RULES: &[&Rule] = &[&LOST, &WASTED, &UNDRAINED, &IDLE, &UNUSED, &AGREE];
