//! E0508: a pattern lacks a coordinate, or two patterns can give the same name.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};

use crate::coordinate::TierId;
use crate::draft::Draft;
use crate::field;
use crate::field::Field;
use crate::naming::{Pattern, Placeholder};

/// A pattern lacks a coordinate, or two patterns can give the same name.
pub(crate) static RULE: Rule = Rule {
    code: "E0508",
    title: "two devices would have the same name",
    condition: "Patterns contain every coordinate that has more than one value, and no name matches two patterns.",
    impact: "Two devices with one name are one device in every inventory, and one overwrites the configuration \
           of the other.",
    example: "naming: { t0: \"leaf-{index:03}\" }",
    fix: "Add the missing field, or make the fixed parts of the patterns differ.",
};

/// Checks each pattern, and each pair of them.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    if !draft.names.faults.is_empty() {
        return; // Broken patterns are replaced by defaults, so do not compare.
    }
    let patterns = patterns(draft);
    for (path, pattern, fields) in &patterns {
        for (field, devices) in fields {
            if *devices > 1 && !pattern.mentions(*field) {
                let word = field.keyword();
                out.push(
                    Diagnostic::error(&RULE, format!("`{path}` gives devices of every {word} the same name"))
                        .at(draft.at(*path), format!("there are {devices} {}", plural(*field)))
                        .help(format!("add `{{{word}}}` to the pattern")),
                );
            }
        }
    }
    for (place, (path, pattern, _)) in patterns.iter().enumerate() {
        for (other_path, other, _) in &patterns[..place] {
            if pattern.overlaps(other) {
                out.push(
                    Diagnostic::error(&RULE, format!("a name can match both `{other_path}` and `{path}`"))
                        .at(draft.at(*path), format!("`{pattern}`"))
                        .and(draft.at(*other_path), format!("`{other}`"))
                        .help("make the fixed parts differ, as in `p{plane}-leaf-{index}` and `p{plane}-spine-{index}`"),
                );
            }
        }
    }
}

type PatternNumbers<'a> = (Field, &'a Pattern, Vec<(Placeholder, u64)>);

/// Returns every pattern in use, with the numbers in its names and the count of values of each number.
pub(super) fn patterns<'a>(draft: &'a Draft<'_>) -> Vec<PatternNumbers<'a>> {
    let naming = &draft.names.naming;
    let zones = draft.zones;
    let switches = |tier: TierId, zones: u64| {
        let count = draft.tier(tier).map_or(0, |tier| tier.count);
        (
            naming_field(tier),
            naming.tier_pattern(tier),
            vec![(Placeholder::Plane, draft.planes), (Placeholder::Zone, zones), (Placeholder::Index, count)],
        )
    };
    let (rails, nics) = (draft.rails.max(1), draft.nics_per_node.max(1));
    let nodes = draft.per_group / (nics / rails).max(1);
    let node = vec![
        (Placeholder::Zone, zones),
        (Placeholder::Unit, draft.groups / draft.rails_in_zone().max(1)),
        (Placeholder::Node, nodes),
    ];
    let mut patterns = vec![
        switches(TierId::T0, zones),
        switches(TierId::T1, zones),
        (field!("naming.node"), naming.node_pattern(), node),
    ];
    if draft.t2.is_some() {
        patterns.push(switches(TierId::T2, 1));
    }
    patterns
}

/// Returns where the pattern of a tier is written.
fn naming_field(tier: TierId) -> Field {
    match tier {
        TierId::T0 => field!("naming.t0"),
        TierId::T1 => field!("naming.t1"),
        TierId::T2 => field!("naming.t2"),
    }
}

fn plural(field: Placeholder) -> &'static str {
    match field {
        Placeholder::Plane => "planes",
        Placeholder::Zone => "zones",
        Placeholder::Index => "of them in each plane",
        Placeholder::Unit => "units",
        Placeholder::Node => "nodes in each unit",
        Placeholder::Rack => "racks",
        Placeholder::Row => "rows of racks",
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
