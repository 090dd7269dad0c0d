//! V12: hash seeds of tiers.

use closc_diagnostics::Rule;

/// Tiers have different hash seeds.
pub(crate) static SEED: Rule = Rule {
    code: "V1201",
    title: "two tiers of switches use the same hash seed",
    what: "The `type` of a SONiC switch determines the seed of its ECMP and LAG hashes: 0 for `ToRRouter`, \
           10 for `LeafRouter`, 25 for any type that contains `SpineRouter`. Switches of a tier have the \
           same type, and each tier has another seed.",
    why: "Two tiers with one seed choose equally. All flows that the first tier sends to a switch of the \
           second leave it over the same links, and half of the links stay empty.",
    example: "\"type\": \"LeafRouter\" on T0s and T1s",
    fix: "Restore `type` in `DEVICE_METADATA` of the edited switch, or compile again if its file was copied \
           from another tier. The type follows from the tier and cannot be set.",
};

/// The family, in the order of codes.
pub(super) const RULES: &[&Rule] = &[&SEED];
