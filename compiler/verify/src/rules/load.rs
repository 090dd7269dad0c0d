//! V09: how path tables spread load, over planes and over uplinks of every tier.

use closc_diagnostics::Rule;

/// Orders are permutations.
pub(crate) static ORDER: Rule = Rule {
    code: "V0901",
    title: "an order of uplinks is not a permutation",
    condition: "For each plane, the order of uplinks in a table contains every uplink exactly once.",
    impact: "An uplink that is listed twice carries twice its share, and a missing one carries nothing.",
    example: "\"uplink_order\": [0, 1, 1, 3]",
    fix: "Compile again: the order was edited or is corrupt. To get another valid order, change \
           `entropy.seed` in the fabric file.",
};

/// Uplinks are used equally.
pub(crate) static UPLINKS: Rule = Rule {
    code: "V0902",
    title: "uplinks are not used equally often",
    condition: "In the active sets of all downlinks of a group, the usage counts of any two uplinks of a plane \
           differ by at most one.",
    impact: "The busiest uplink limits the slowest flow.",
    example: "every NIC's active set starting at the same place of the order",
    fix: "Compile again to restore the order of uplinks, which V0901 reports too. Consecutive sets use a \
           complete order equally, whatever the number of active values.",
};

/// Planes are used equally.
pub(crate) static PLANES: Rule = Rule {
    code: "V0903",
    title: "planes are not used equally",
    condition: "Every plane has the same number of active and of backup entropy values. The active and backup \
           values of a NIC are disjoint as long as there are enough uplinks. `min_active` is at most the \
           number of active values.",
    impact: "A NIC loads its planes equally, so a plane with fewer values slows all of them down.",
    example: "\"min_active\": 512 with 256 active values",
    fix: "Set `active`, `backup` and `min_active` with `entropy` in the fabric file, where `closc check` \
           tests them (E0706 to E0708). Compile again to discard an edit of the table.",
};

/// T1 uplinks are used equally.
pub(crate) static T1_UPLINKS: Rule = Rule {
    code: "V0904",
    title: "T1 uplinks are not used equally often",
    condition: "This applies to three tiers. Over each T0 uplink, the usage counts of any two T1 uplinks in the \
           active sets of a group differ by at most one. Over all groups of a zone, the busiest uplink of a \
           T1 is used at most 1.05 times as often as the mean. Or it exceeds the mean by at most 2 \
           uses per parallel cable, and by more if entropy values cannot be divided evenly.",
    impact: "The busiest cable between T1 and T2 limits traffic between zones, even if other cables are idle.",
    example: "\"t1_start\": 0 in every group of a zone",
    fix: "Compile the path tables of the complete fabric again: `t1_start` or an order was edited, or tables \
           of different compilations are mixed.",
};

/// The family, in the order of codes.
pub(super) const RULES: &[&Rule] = &[&ORDER, &UPLINKS, &PLANES, &T1_UPLINKS];
