//! V15: buffers: pools fit the chip, headroom holds what a cable does.

use closc_diagnostics::Rule;

/// Pools fit.
pub(crate) static POOLS: Rule = Rule {
    code: "V1501",
    title: "buffer pools are larger than the chip's buffer",
    what: "The ingress pools of a switch with the headroom beside them are at most as large as the buffer of its \
           chip, where the limits of the hardware are given.",
    why: "The chip refuses the configuration, or takes the room from another pool and loses packets there.",
    example: "\"BUFFER_POOL\": { \"ingress_lossless_pool\": { \"size\": \"999999999\" } } on a chip with 165 MB",
    fix: "Compile again; the buffer is a fact of the platform.",
};

/// Headroom holds what is on its way.
pub(crate) static HEADROOM: Rule = Rule {
    code: "V1502",
    title: "headroom is less than what is on its way when a pause is sent",
    what: "Where a group is paused, its `xoff` holds what the cable holds both ways and one largest packet at \
           each end: 2 x length x 5 ns/m x speed + 2 x MTU. This is the least that physics asks for; what the \
           chip needs besides is in the compiler's formula.",
    why: "Packets that arrive after the pause was sent find no room, and a lossless class loses them.",
    example: "\"xoff\": \"9000\" for 300 m at 100G",
    fix: "Compile again; if the length is right, use a chip with more buffer or a shorter cable.",
};

/// The headroom pool holds a port's headroom.
pub(crate) static SHARED: Rule = Rule {
    code: "V1503",
    title: "the headroom pool is smaller than one port's headroom",
    what: "Where ports share headroom beside a pool (`xoff` of the pool, more than 0), that is at least what the largest \
           group of a port may take; where they share none, the group's own `size` holds it.",
    why: "Even a single congested port could not be stopped in time.",
    example: "\"xoff\": \"1000\" of a pool whose groups have 145,796 bytes",
    fix: "Compile again.",
};

/// The family, in the order of codes.
pub(super) const RULES: &[&Rule] = &[&POOLS, &HEADROOM, &SHARED];
