//! V05: own segments of switches.

use closc_diagnostics::Rule;

/// Segments are uNs.
pub(crate) static UN: Rule = Rule {
    code: "V0501",
    title: "a segment is not a uN of this fabric",
    condition: "Every own segment of a switch is a uN: a /48 in the block of the path tables, bound to the right \
           locator and device. It has 32 bits of block, 16 of uSID and 0 of function.",
    impact: "Any other segment removes the outer header, shifts the list at the wrong place, or is dropped by \
           hardware that supports only uN.",
    example: "\"SRV6_MY_SIDS\": { \"loc1|fcbb:bbbb:1::/48\": { \"action\": \"uA\" } }",
    fix: "Undo the edit of the segment, or restore the template that writes segments. If all switches are \
           reported, their files and the path tables have different `srv6` settings: compile the complete \
           fabric again.",
};

/// The bits of a uSID encode the position of the switch.
pub(crate) static VALUE: Rule = Rule {
    code: "V0502",
    title: "a uSID with wrong bits",
    condition: "The uSID of a switch is in 0x0001-0xDFFF. Its plane bits are the plane of the switch, and its \
           role bits the tier.",
    impact: "0x0000 ends a list, and values above 0xDFFF are in the local identifier block (LIB) of some \
           operating systems. With wrong plane bits, a cable in the wrong plane delivers packets instead \
           of losing them.",
    example: "fcbb:bbbb:2001::/48 as segment of a T0 of plane 3",
    fix: "Compile again if the file was edited, or copied from a switch of another plane or tier. After a \
           change of `srv6.widths` or `srv6.roles`, compile the complete fabric, since every segment \
           changes.",
};

/// A uSID has one owner.
pub(crate) static OWNER: Rule = Rule {
    code: "V0503",
    title: "a uSID has two owners in a plane",
    condition: "No two switches of a plane own the same uSID.",
    impact: "One list would lead to one switch or the other, depending on the neighbour.",
    example: "fcbb:bbbb:1801::/48 on p3-t0-001 and on p3-t0-002",
    fix: "Find the file that was edited or copied from the other switch, and compile again. A template has \
           to take the segment from its view.",
};

/// Switches have as many uNs as they need.
pub(crate) static COUNT: Rule = Rule {
    code: "V0504",
    title: "a switch has too many or too few segments",
    condition: "A switch owns exactly one uN. With parallel cables it owns one per cable to the neighbour with \
           most of them, with consecutive values.",
    impact: "Extra segments add unproved paths into a switch, and some switch software programs only one of \
           several (sonic-buildimage issue 24938). With too few segments, a path cannot select a cable.",
    example: "two rows in \"SRV6_MY_SIDS\" of a switch without parallel cables",
    fix: "Remove the added segment, or restore the missing one. The number follows from `parallel` in \
           `tiers`, so compile the complete fabric after a change, path tables included.",
};

/// The family, in the order of codes.
pub(super) const RULES: &[&Rule] = &[&UN, &VALUE, &OWNER, &COUNT];
