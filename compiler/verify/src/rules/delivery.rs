//! V08: every path is delivered or denied.

use closc_diagnostics::Rule;

/// Paths in use arrive.
pub(crate) static LOST: Rule = Rule {
    code: "V0801",
    title: "a path does not arrive and is not denied",
    condition: "Every path that a path table does not deny arrives at its NIC. Each cable named by its uSIDs \
           exists, and the switches at its ends forward over it.",
    impact: "NICs spray over such paths, and lose a share of every message until each NIC has detected it.",
    example: "a cable that is neither in the cable list nor among the denials of a table",
    fix: "If a cable is not installed, declare it in `exceptions.absent` and compile the complete fabric, so \
           that path tables deny its paths. If it is installed, restore its row in the cable list, or the \
           route that is missing.",
};

/// Paths denied as absent contain absent equipment.
pub(crate) static WASTED: Rule = Rule {
    code: "V0802",
    title: "a path is denied as absent although it arrives",
    condition: "Every path that a path table denies as absent crosses something absent.",
    impact: "Installed capacity stays unused.",
    example: "\"denied\": [ { \"plane\": 3, \"reason\": \"absent\", \"name\": \"plane 3\" } ] with plane 3 complete",
    fix: "After equipment is installed, remove it from `exceptions.absent` and compile the complete fabric. \
           Path tables from before that, and denials that were added by hand, still deny it.",
};

/// Paths over drained cables are denied.
pub(crate) static UNDRAINED: Rule = Rule {
    code: "V0803",
    title: "paths use a drained cable",
    condition: "Every path over a cable that is drained in the cable list is denied.",
    impact: "The cable would be unplugged under traffic.",
    example: "state `drained` in a cable list and no denial in the tables",
    fix: "Drain with `closc drain NAME FABRIC --write` and compile the complete fabric, so that path tables \
           follow. A cable list that is edited to `drained` changes no path.",
};

/// Paths denied as drained contain a drained cable.
pub(crate) static IDLE: Rule = Rule {
    code: "V0804",
    title: "a path is denied as drained although it is not",
    condition: "Every path that a path table denies as drained crosses a cable that is drained in the cable list.",
    impact: "Installed capacity stays unused.",
    example: "a denial that was left behind after the work was done",
    fix: "End the drain with `closc undrain NAME FABRIC --write` and compile the complete fabric. To drain a \
           cable, use `closc drain` instead of adding a denial to a table.",
};

/// At least one path uses every cable.
pub(crate) static UNUSED: Rule = Rule {
    code: "V0805",
    title: "no path uses a cable",
    condition: "Every cable of the lists is selected by the uSIDs of at least one path.",
    impact: "A cable that no list selects carries nothing, and planes are unequal by accident.",
    example: "a T1 whose uSID no uplink number leads to",
    fix: "Remove the row if it was added by hand. Otherwise the path tables are from a compilation with \
           fewer uplinks than the cable list: compile the complete fabric again.",
};

/// The walk and the proof count the same paths.
pub(crate) static AGREE: Rule = Rule {
    code: "V0806",
    title: "walking every path gives a number other than the proof",
    condition: "If every path is tested individually, as many arrive as the proof counts. No path ends at another \
           NIC than the one it names.",
    impact: "One of the two is wrong, so neither can be trusted.",
    example: "a route of another prefix length that the proof does not read",
    fix: "Fix the other violations first. If this is the only one, report a bug in closc.",
};

/// The family, in the order of codes.
pub(super) const RULES: &[&Rule] = &[&LOST, &WASTED, &UNDRAINED, &IDLE, &UNUSED, &AGREE];
