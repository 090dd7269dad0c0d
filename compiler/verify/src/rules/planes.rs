//! V10: planes are equal.

use closc_diagnostics::Rule;

/// Planes are equal.
pub(crate) static ALIKE: Rule = Rule {
    code: "V1001",
    title: "a plane differs from the others",
    condition: "Apart from their plane bits, the cables of all planes connect the same uSIDs. A cable that is \
           missing in one plane only is declared absent, so the path tables deny its paths.",
    impact: "NICs load planes equally, so a plane with less capacity slows all of them down. A plane that is \
           wired differently is a cabling mistake.",
    example: "31 cables between T0s and T1s in plane 2, and 32 in the others",
    fix: "If cables of one plane are not installed yet, declare them in `exceptions.absent` and compile the \
           complete fabric. Otherwise restore the rows that are missing from its cable list.",
};

/// The family, in the order of codes.
pub(super) const RULES: &[&Rule] = &[&ALIKE];
