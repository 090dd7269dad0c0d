//! E0508: a pattern lacks a number, or two patterns can give one name.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};

use crate::coordinate::TierId;
use crate::draft::Draft;
use crate::naming::{Field, Pattern};

/// A pattern lacks a number, or two patterns can give one name.
pub(crate) static RULE: Rule = Rule {
    code: "E0508",
    title: "two devices would have the same name",
    what: "Patterns mention every number that tells devices apart, and no name fits two patterns.",
    why: "Two devices with one name are one device in every inventory, and one overwrites the other's \
           configuration.",
    example: "naming: { t0: \"leaf-{index:03}\" }",
    fix: "Add the missing hole, or make the fixed parts of the patterns differ.",
};

/// Checks each pattern, and each pair of them.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    if !draft.names.faults.is_empty() {
        return; // The defaults are used; nothing can be said.
    }
    let patterns = patterns(draft);
    for (key, pattern, fields) in &patterns {
        for (field, devices) in fields {
            if *devices > 1 && !pattern.mentions(*field) {
                let word = field.word();
                out.push(
                    Diagnostic::error(
                        &RULE,
                        format!("`naming.{key}` gives devices of every {word} the same name"),
                    )
                    .at(draft.at(&format!("naming.{key}")), format!("there are {devices} {}", plural(*field)))
                    .help(format!("add `{{{word}}}` to the pattern")),
                );
            }
        }
    }
    for (place, (key, pattern, _)) in patterns.iter().enumerate() {
        for (other_key, other, _) in &patterns[..place] {
            if pattern.may_meet(other) {
                out.push(
                    Diagnostic::error(&RULE, format!("a name can fit both `naming.{other_key}` and `naming.{key}`"))
                        .at(draft.at(&format!("naming.{key}")), format!("`{pattern}`"))
                        .and(draft.at(&format!("naming.{other_key}")), format!("`{other}`"))
                        .help("make the fixed parts differ, as in `p{plane}-leaf-{index}` and `p{plane}-spine-{index}`"),
                );
            }
        }
    }
}

type Numbered<'a> = (&'static str, &'a Pattern, Vec<(Field, u64)>);

/// Returns every pattern in use with the numbers that vary.
pub(super) fn patterns<'a>(draft: &'a Draft<'_>) -> Vec<Numbered<'a>> {
    let naming = &draft.names.naming;
    let switches = |tier: TierId, zones: u64| {
        let count = draft.tier(tier).map_or(0, |tier| tier.count);
        (
            tier.word(),
            naming.tier_pattern(tier),
            vec![(Field::Plane, draft.planes), (Field::Zone, zones), (Field::Index, count)],
        )
    };
    let (rails, nics) = (draft.rails.max(1), draft.nics_per_node.max(1));
    let nodes = draft.per_group / (nics / rails).max(1);
    let zones = if draft.t2.is_some() { draft.zones } else { 1 };
    let node = vec![(Field::Zone, zones), (Field::Unit, draft.groups / rails), (Field::Node, nodes)];
    let mut patterns =
        vec![switches(TierId::T0, zones), switches(TierId::T1, zones), ("node", naming.node_pattern(), node)];
    if draft.t2.is_some() {
        patterns.push(switches(TierId::T2, 1));
    }
    patterns
}

fn plural(field: Field) -> &'static str {
    match field {
        Field::Plane => "planes",
        Field::Zone => "zones",
        Field::Index => "of them in each plane",
        Field::Unit => "units",
        Field::Node => "nodes in each unit",
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{codes, message};

    #[test]
    fn names_tell_devices_apart() {
        assert_eq!(codes("naming: { t0: \"leaf-{index:03}\" }"), ["E0508"]);
        assert_eq!(codes("naming: { t0: \"s{plane}-{index}\", t1: \"s{plane}-{index:02}\" }"), ["E0508"]);
        assert_eq!(
            codes("naming: { t0: \"leaf{index:03}-{plane}\", t1: \"spine{index:03}-{plane}\" }"),
            Vec::<&str>::new()
        );
        assert_eq!(
            message("naming: { t0: \"leaf-{index:03}\" }", "E0508"),
            "`naming.t0` gives devices of every plane the same name"
        );
    }
}
