//! V12: hash seeds and load balancing.

use closc_diagnostics::Rule;

/// Tiers have different hash seeds.
pub(crate) static SEED: Rule = Rule {
    code: "V1201",
    title: "two tiers of switches use the same hash seed",
    condition: "The `type` of a SONiC switch determines the seed of its ECMP and LAG hashes. It is 0 for \
           `ToRRouter`, 10 for `LeafRouter`, and 25 for any type that contains `SpineRouter`. All switches \
           of a tier have the same seed, and no two tiers have the same.",
    impact: "Two tiers with one seed choose equally. All flows that the first tier sends to a switch of the \
           second leave it over the same links. Half of the links stay empty.",
    example: "\"type\": \"LeafRouter\" on T0s and T1s",
    fix: "Restore `type` in `DEVICE_METADATA` of the edited switch, or compile again if its file was copied \
           from another tier. The type follows from the tier and cannot be set.",
};

/// Switches balance load as stated.
pub(crate) static BALANCE: Rule = Rule {
    code: "V1202",
    title: "a switch does not balance load as stated",
    condition: "A switch balances load by the `ecmp.balance` of its tier, with room for the next-hop groups that \
           it can need. On Cumulus Linux, adaptive routing is enabled on the switch and on every port to \
           another switch, and on no other port. A switch without a stated balance hashes.",
    impact: "A switch that hashes instead lets flows collide. One that balances without being asked to reorders \
          packets that NICs need in order. A next-hop group with ports of both kinds distributes packets \
          unpredictably.",
    example: "router:\n  adaptive-routing:\n    state: disabled",
    fix: "Restore the setting in the edited file, or change `ecmp.balance` in the fabric file and compile \
           again.",
};

/// The family, in the order of codes.
pub(super) const RULES: &[&Rule] = &[&SEED, &BALANCE];
