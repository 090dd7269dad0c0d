//! V05: own segments of switches.

use closc_diagnostics::Rule;

/// A segment is a uN.
pub(crate) static UN: Rule = Rule {
    code: "V0501",
    title: "a segment is not a uN of this fabric",
    what: "Every own segment of a switch is a uN: a /48 behind the block of the path tables, bound to the \
           right locator and device, with 32 bits of block, 16 of uSID and none of function.",
    why: "Anything else takes the outer header off, cuts the list at another place, or is dropped by hardware \
          that knows uN only.",
    example: "\"SRV6_MY_SIDS\": { \"loc1|fcbb:bbbb:1::/48\": { \"action\": \"uA\" } }",
    fix: "Compile again.",
};

/// A uSID says what it names.
pub(crate) static VALUE: Rule = Rule {
    code: "V0502",
    title: "a uSID has wrong bits",
    what: "The uSID of a switch is in 0x0001-0xDFFF, its plane bits are the switch's plane and its role bits \
           the switch's tier.",
    why: "0x0000 ends a list; values above 0xDFFF are local on other switches; with wrong plane bits a cable \
          in the wrong plane delivers packets instead of losing them.",
    example: "fcbb:bbbb:2001::/48 as segment of a T0 of plane 3",
    fix: "Compile again; widths are set in `srv6.widths`.",
};

/// A uSID has one owner.
pub(crate) static OWNER: Rule = Rule {
    code: "V0503",
    title: "a uSID has two owners in a plane",
    what: "No two switches of a plane own the same uSID.",
    why: "The same list would lead to either, depending on the neighbour.",
    example: "fcbb:bbbb:1801::/48 on p3-t0-001 and on p3-t0-002",
    fix: "Compile again.",
};

/// A switch has as many uNs as it needs.
pub(crate) static COUNT: Rule = Rule {
    code: "V0504",
    title: "a switch has too many or too few segments",
    what: "A switch owns exactly one uN, or with parallel cables one for each cable to the neighbour it has \
           most of them to, with consecutive values.",
    why: "More segments than needed are more ways into a switch, and some switch software programs only one \
          of several (sonic-buildimage issue 24938); with fewer a cable cannot be named.",
    example: "two rows in \"SRV6_MY_SIDS\" of a switch without parallel cables",
    fix: "Compile again.",
};

/// The family, in the order of codes.
pub(super) const RULES: &[&Rule] = &[&UN, &VALUE, &OWNER, &COUNT];
