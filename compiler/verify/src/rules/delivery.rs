//! V08: every path is delivered or denied.

use closc_diagnostics::Rule;

/// Paths in use arrive.
pub(crate) static LOST: Rule = Rule {
    code: "V0801",
    title: "a path does not arrive and is not denied",
    what: "Every path that a path table does not deny arrives at its NIC. Each cable named by its uSIDs \
           exists, and the switches at its ends forward over it.",
    why: "NICs spray over such paths, and lose a share of every message until each NIC has detected it.",
    example: "a cable that is neither in the cable list nor among the denials of a table",
    fix: "Declare absent equipment in `exceptions`, or compile again.",
};

/// Denied as absent is absent.
pub(crate) static WASTED: Rule = Rule {
    code: "V0802",
    title: "a path is denied as absent although it arrives",
    what: "Every path that a path table denies as absent crosses something absent.",
    why: "Installed capacity stays unused.",
    example: "\"denied\": [ { \"plane\": 3, \"reason\": \"absent\", \"name\": \"plane 3\" } ] with plane 3 whole",
    fix: "Compile again.",
};

/// Drained is denied.
pub(crate) static UNDRAINED: Rule = Rule {
    code: "V0803",
    title: "paths use a drained cable",
    what: "Every path over a cable that is drained in the cable list is denied.",
    why: "The cable would be unplugged under traffic.",
    example: "state `drained` in a cable list and no denial in the tables",
    fix: "Compile again.",
};

/// Denied as drained is drained.
pub(crate) static IDLE: Rule = Rule {
    code: "V0804",
    title: "a path is denied as drained although it is not",
    what: "Every path that a path table denies as drained crosses a cable that is drained in the cable list.",
    why: "Installed capacity stays unused.",
    example: "a denial that was left behind after the work was done",
    fix: "Compile again.",
};

/// Every cable has paths.
pub(crate) static UNUSED: Rule = Rule {
    code: "V0805",
    title: "no path uses a cable",
    what: "Every cable of the lists is selected by the uSIDs of at least one path.",
    why: "A cable that no list selects carries nothing, and planes are unequal by accident.",
    example: "a T1 whose uSID no uplink number leads to",
    fix: "Compile again.",
};

/// Both counts agree.
pub(crate) static AGREE: Rule = Rule {
    code: "V0806",
    title: "walking every path gives another number than the proof",
    what: "If every path is walked one by one, as many arrive as the proof counts. No path ends at another \
           NIC than the one it names.",
    why: "One of the two is wrong, so neither can be trusted.",
    example: "a route of another prefix length that composition does not look at",
    fix: "Fix the other violations first. If there are none, report a bug in closc.",
};

/// The family, in the order of codes.
pub(super) const RULES: &[&Rule] = &[&LOST, &WASTED, &UNDRAINED, &IDLE, &UNUSED, &AGREE];
