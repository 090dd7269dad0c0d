//! The proof by composition: from facts about single cables to every path.
//!
//! `carry` says whether a frame gets over a cable; `ways` does so for each cable that lists name, in each
//! direction; `buffers` looks for rings of buffers that wait; `denied` holds what is missing against what the path tables deny; `count` adds up the paths.
//! The argument is in this crate's README.

use closc_diagnostics::Rule;

use crate::finding::{Findings, Place, Violation};
use crate::walk::choices::ChoiceWalk;
use crate::walk::exhaustive::WalkCounts;
use chosen::DeliveryCounts;
use count::PathCounts;

pub(crate) mod bits;
pub(crate) mod boxes;
pub(crate) mod buffers;
pub(crate) mod carry;
pub(crate) mod chosen;
pub(crate) mod count;
pub(crate) mod denied;
pub(crate) mod learned;
pub(crate) mod ways;

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

/// What is denied as absent is absent.
pub(crate) static WASTED: Rule = Rule {
    code: "V0802",
    title: "a path that arrives and is denied as absent",
    what: "Every path that a path table denies as absent crosses something that is not there.",
    why: "Capacity that was paid for stays unused.",
    example: "\"denied\": [ { \"plane\": 3, \"reason\": \"absent\", \"name\": \"plane 3\" } ] with plane 3 whole",
    fix: "Compile again.",
};

/// What is drained is denied.
pub(crate) static UNDRAINED: Rule = Rule {
    code: "V0803",
    title: "a drained cable that paths still use",
    what: "Every path over a cable that the cable list calls drained is denied.",
    why: "The cable would be unplugged under traffic.",
    example: "state `drained` in a cable list and no denial in the tables",
    fix: "Compile again.",
};

/// What is denied as drained is drained.
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
    why: "A cable that no list names carries nothing; planes are then unequal without anybody having said so.",
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
pub(crate) const RULES: &[&Rule] = &[&LOST, &WASTED, &UNDRAINED, &IDLE, &UNUSED, &AGREE];

/// Holds what walking found against the proof.
pub(crate) fn agree(paths: &PathCounts, walk: &WalkCounts, findings: &mut Findings) {
    let same = (paths.named, paths.arrive, paths.in_use) == (walk.walked, walk.arrive, walk.in_use);
    findings.expect(same && walk.astray == 0, &AGREE, || {
        let message = format!(
            "by walking {} of {} paths arrive, {} are in use and {} go astray; by composition {} of {} arrive \
             and {} are in use",
            walk.arrive, walk.walked, walk.in_use, walk.astray, paths.arrive, paths.named, paths.in_use
        );
        Violation::new(&AGREE, Place::file(crate::read::manifest::NAME), message)
    });
    // Paths that are lost were reported one part after the other; walking finds no others.
    findings.checked(&LOST, u64::try_from(walk.walked).unwrap_or(u64::MAX));
    if walk.lost > 0 && findings.is_clean() {
        let message = format!("by walking {} paths do not arrive and are not denied", walk.lost);
        findings.broken(Violation::new(&LOST, Place::file(crate::read::manifest::NAME), message));
    }
}

/// The same where switches choose the way.
pub(crate) fn agree_on_choices(counts: &DeliveryCounts, walk: &ChoiceWalk, findings: &mut Findings) {
    let same = (counts.journeys, counts.arrive, counts.doubtful, counts.ways, counts.tried)
        == (walk.journeys, walk.arrive, walk.doubtful, walk.ways, walk.tried);
    findings.expect(same, &AGREE, || {
        let message = format!(
            "by walking {} of {} journeys arrive by every choice and {} by some, over {} of {} ways; by composition {} \
             of {} and {}, over {} of {}",
            walk.arrive,
            walk.journeys,
            walk.doubtful,
            walk.ways,
            walk.tried,
            counts.arrive,
            counts.journeys,
            counts.doubtful,
            counts.ways,
            counts.tried
        );
        Violation::new(&AGREE, Place::file(crate::read::manifest::NAME), message)
    });
}
