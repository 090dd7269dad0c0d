//! E1010: table sizes are above zero. Without the feature `un`, `my_sids` may be 0.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule, SourceId};

use crate::file::{Feature, File, LocatedValue};

pub(crate) static RULE: Rule = Rule {
    code: "E1010",
    title: "a table size is zero",
    condition: "Routes, neighbours, ECMP members and ECMP groups are above zero. Local SIDs are above zero \
           too, if the platform has the feature `un`.",
    impact: "With an empty table, every fabric that needs an entry is rejected.",
    example: "limits: {my_sids: 0}\nfeatures: [un]",
    fix: "Write the size of the table, or a conservative estimate with a comment.",
};

pub(crate) fn check(file: &File, source: SourceId, found: &mut Diagnostics) {
    let limits = &file.limits;
    let mut require = |at: &LocatedValue<u32>, name: &str| {
        if at.value == 0 {
            let message = format!("`{name}` is 0");
            found.push(Diagnostic::error(&RULE, message).at(at.span(source), "no entries"));
        }
    };
    require(&limits.ipv6_routes, "ipv6_routes");
    require(&limits.ecmp_width, "ecmp_width");
    require(&limits.ecmp_groups, "ecmp_groups");
    require(&limits.neighbours, "neighbours");
    if file.has(Feature::Un) {
        require(&limits.my_sids, "my_sids");
    }
}
