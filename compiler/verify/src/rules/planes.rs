//! V10: planes are alike.

use closc_diagnostics::Rule;

/// Planes are copies of each other.
pub(crate) static ALIKE: Rule = Rule {
    code: "V1001",
    title: "a plane differs from the others",
    what: "Without their plane bits, the cables of all planes join the same uSIDs; a cable that is missing \
           from one plane only is declared, so the path tables deny the paths over it as absent.",
    why: "NICs keep planes equally loaded, so one that has less slows down all of them; and one that is built \
          otherwise is a mistake of cabling.",
    example: "31 cables between T0s and T1s in plane 2, and 32 in the others",
    fix: "Declare what is absent under `exceptions`, or compile again.",
};

/// The family, in the order of codes.
pub(super) const RULES: &[&Rule] = &[&ALIKE];
