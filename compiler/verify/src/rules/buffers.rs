//! V15: buffer pools fit the ASIC, and headroom covers the packets in flight.

use closc_diagnostics::Rule;

/// Pools fit the buffer.
pub(crate) static POOLS: Rule = Rule {
    code: "V1501",
    title: "buffer pools are larger than the chip's buffer",
    condition: "The ingress pools of a switch plus their headroom are at most the buffer of its chip, if its \
           limits are known.",
    impact: "The chip rejects the configuration, or shrinks another pool and loses packets there.",
    example: "\"BUFFER_POOL\": { \"ingress_lossless_pool\": { \"size\": \"999999999\" } } on a chip with 165 MB",
    fix: "Undo the edit of `BUFFER_POOL` by compiling again. If the platform file of the site states a wrong \
           buffer, correct it and pass the same `--platforms` to `compile` and `verify`.",
};

/// Headroom covers packets in flight.
pub(crate) static HEADROOM: Rule = Rule {
    code: "V1502",
    title: "headroom is less than what arrives after a pause",
    condition: "The `xoff` of a paused group covers both directions of the cable and one largest packet at each \
           end. This is the physical minimum: 2 x length x 5 ns/m x speed + 2 x MTU. The compiler's formula \
           adds what the chip needs.",
    impact: "Packets that arrive after the pause find no buffer, and a lossless class loses them.",
    example: "\"xoff\": \"9000\" for 300 m at 100G",
    fix: "Set the length in `cables` or `exceptions.cables` and compile again; `closc explain headroom \
           FABRIC SWITCH PORT` prints every term. If E0720 follows, use a shorter cable or a chip with more \
           buffer.",
};

/// The headroom pool covers at least one port.
pub(crate) static SHARED: Rule = Rule {
    code: "V1503",
    title: "the headroom pool is smaller than the headroom of one port",
    condition: "If ports share headroom (`xoff` of the pool, more than 0), the pool covers the headroom of \
           the largest priority group of a port. If they do not, the group's own `size` covers its headroom.",
    impact: "Not even a single congested port could be paused in time.",
    example: "\"xoff\": \"1000\" of a pool whose groups have 145,796 bytes",
    fix: "Restore `xoff` of the pool, or `size` of the group, in the edited `config_db.json`. To share less \
           headroom, lower `over_subscribe_ratio` of `qos.shared_headroom` in the fabric file and compile \
           again.",
};

/// The family, in the order of codes.
pub(super) const RULES: &[&Rule] = &[&POOLS, &HEADROOM, &SHARED];
