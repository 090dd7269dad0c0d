//! V09: how path tables spread load, over planes and over uplinks of every tier.

use closc_diagnostics::Rule;

/// Orders are permutations.
pub(crate) static ORDER: Rule = Rule {
    code: "V0901",
    title: "an order of uplinks is not order",
    what: "For each plane a table's order of uplinks names every uplink exactly once.",
    why: "An uplink that is named twice carries twice its share, and one that is left out carries nothing.",
    example: "\"uplink_order\": [0, 1, 1, 3]",
    fix: "Compile again.",
};

/// Uplinks are used alike.
pub(crate) static UPLINKS: Rule = Rule {
    code: "V0902",
    title: "uplinks are not used equally often",
    what: "Over the active sets of all downlinks of a group, no uplink of a plane is used more than once more \
           often than any other.",
    why: "The busiest uplink sets the speed of the slowest flow.",
    example: "every NIC's active set starting at the same place of the order",
    fix: "Compile again; use a number of active entropy values that divides evenly.",
};

/// Planes are used alike.
pub(crate) static PLANES: Rule = Rule {
    code: "V0903",
    title: "planes are not used equally",
    what: "Every plane has the same number of active and of backup entropy values, a NIC's active and backup \
           values are different as long as there are uplinks enough, and the floor below which no more are \
           retired is not above the number of active values.",
    why: "A NIC keeps its planes equally loaded; a plane with fewer values slows all of them down.",
    example: "\"min_active\": 512 with 256 active values",
    fix: "Compile again; numbers are set in `entropy`.",
};

/// Uplinks of T1s are used alike.
pub(crate) static T1_UPLINKS: Rule = Rule {
    code: "V0904",
    title: "T1 uplinks are not used equally often",
    what: "In a fabric of three tiers, over each T0 uplink the active sets of a group use no T1 uplink more than once \
           more often than any other; over all groups of a zone the busiest uplink of a T1 is used at most 1.05 times \
           as often as its uplinks on average, or so much more as whole values of whole groups make it.",
    why: "The busiest cable between T1 and T2 sets the speed of what crosses zones, however idle its neighbours are.",
    example: "\"t1_start\": 0 in every group of a zone",
    fix: "Compile again; use a number of active entropy values that divides evenly.",
};

/// The family, in the order of codes.
pub(super) const RULES: &[&Rule] = &[&ORDER, &UPLINKS, &PLANES, &T1_UPLINKS];
