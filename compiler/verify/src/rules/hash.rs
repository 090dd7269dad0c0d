//! V12: no two tiers hash alike.

use closc_diagnostics::Rule;

/// Tiers have different seeds.
pub(crate) static SEED: Rule = Rule {
    code: "V1201",
    title: "two tiers of switches hash alike",
    what: "The `type` of SONiC switches, by which the image seeds its ECMP and LAG hashes (`ToRRouter` 0, \
           `LeafRouter` 10, any type with `SpineRouter` in it 25), is the same in a tier and gives another \
           seed in every tier.",
    why: "Two tiers of one seed choose alike: what the first sends to a switch of the second always leaves \
          that one by the same link, and half of the links stay empty.",
    example: "\"type\": \"LeafRouter\" on T0s and T1s",
    fix: "Compile again; a template overlay may not set the type.",
};

/// The family, in the order of codes.
pub(super) const RULES: &[&Rule] = &[&SEED];
