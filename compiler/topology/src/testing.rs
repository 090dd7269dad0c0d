//! Helpers for tests of checks: a complete fabric, changed by a fragment.
//!
//! In: a fragment of YAML. Out: the findings in the base fabric merged with the fragment. Invariants: the base fabric
//! by itself has no findings.

use closc_diagnostics::{Diagnostics, Sources};
use closc_platform::Catalogue;

use crate::checks::EXAMPLE_BASE as BASE;
use crate::load::Companion;
use crate::yaml::{Entry, Item, Value};

/// Fictitious platforms, for rules that the built-in ones cannot violate.
const PLATFORMS: &[&str] = &[
    include_str!("../../../tests/errors/platforms/box-100-neighbours.yaml"),
    include_str!("../../../tests/errors/platforms/box-200-routes.yaml"),
    include_str!("../../../tests/errors/platforms/box-256x200g.yaml"),
    include_str!("../../../tests/errors/platforms/box-64-ecmp.yaml"),
    include_str!("../../../tests/errors/platforms/box-one-sid.yaml"),
    include_str!("../../../tests/errors/platforms/box-without-ecn.yaml"),
    include_str!("../../../tests/errors/platforms/box-without-pfc.yaml"),
    include_str!("../../../tests/errors/platforms/p4-1024.yaml"),
];

/// Names and contents of the files that a fragment may refer to.
const COMPANIONS: &[(&str, &str)] = &[
    ("columns.csv", include_str!("../../../tests/errors/management/columns.csv")),
    ("faults.csv", include_str!("../../../tests/errors/management/faults.csv")),
    ("lines-twice.csv", include_str!("../../../tests/errors/management/lines-twice.csv")),
    ("listed.csv", include_str!("../../../tests/errors/management/listed.csv")),
    ("shared.csv", include_str!("../../../tests/errors/management/shared.csv")),
    ("spreadsheet.csv", include_str!("../../../tests/errors/management/spreadsheet.csv")),
    ("outside.csv", include_str!("../../../tests/errors/management/outside.csv")),
    ("across.csv", include_str!("../../../tests/errors/pins/across.csv")),
    ("far.csv", include_str!("../../../tests/errors/pins/far.csv")),
    ("good.csv", include_str!("../../../tests/errors/pins/good.csv")),
    ("lines.csv", include_str!("../../../tests/errors/pins/lines.csv")),
    ("twice.csv", include_str!("../../../tests/errors/pins/twice.csv")),
];

/// Returns the built-in platforms and those of the tests.
pub(crate) fn catalogue() -> Catalogue {
    let mut catalogue = Catalogue::builtin();
    for text in PLATFORMS {
        catalogue.add_yaml(&mut Sources::new(), "test", text).expect("platforms of tests are valid");
    }
    catalogue
}

/// Returns all findings in the base fabric merged with a fragment.
pub(crate) fn findings(fragment: &str) -> Diagnostics {
    findings_after(fragment, None)
}

/// Returns all findings in the base fabric merged with a fragment and an edit.
fn findings_after(fragment: &str, edit: Option<&str>) -> Diagnostics {
    let mut sources = Sources::new();
    let mut diagnostics = Diagnostics::new();
    let base = sources.add("base", BASE);
    let base = crate::load::parse(base, BASE, &mut diagnostics).expect("the base fabric is YAML");
    let over = sources.add("fragment", fragment);
    let Some(over_item) = crate::load::parse(over, fragment, &mut diagnostics) else { return diagnostics };
    let mut merged = merge(&base, &over_item);
    if let Some(edit) = edit {
        let source = sources.add("edit", edit);
        let edit = crate::load::parse(source, edit, &mut diagnostics).expect("an edit is YAML");
        merged = merge(&merged, &edit);
    }
    match crate::load::read(over, fragment, &merged, &mut diagnostics) {
        Some(mut document) => {
            document.faults = std::mem::take(&mut diagnostics);
            for which in Companion::ALL {
                let known = COMPANIONS.iter().find(|(name, _)| Some(*name) == document.companion(which));
                let Some((name, text)) = known else { continue };
                document.companions.insert(which, Ok(sources.add(*name, *text)));
            }
            let (_, found) = crate::lower(&document, &catalogue(), &sources);
            diagnostics.extend(found);
        }
        None => assert!(diagnostics.has_errors(), "what is not read has a reason"),
    }
    diagnostics
}

/// Returns the codes found, each once, in order.
pub(crate) fn codes(fragment: &str) -> Vec<&'static str> {
    let mut codes: Vec<_> = findings(fragment).iter().map(|found| found.rule.code).collect();
    codes.sort_unstable();
    codes.dedup();
    codes
}

/// Returns the message of the first finding with a code.
pub(crate) fn message(fragment: &str, code: &str) -> String {
    let found = findings(fragment);
    let first = found.iter().find(|found| found.rule.code == code);
    first.map_or_else(|| format!("no {code} among {:?}", codes(fragment)), |found| found.message.clone())
}

/// Returns the first suggestion of the first finding with a code.
pub(crate) fn help(fragment: &str, code: &str) -> String {
    let found = findings(fragment);
    let first = found.iter().find(|found| found.rule.code == code);
    first.and_then(|found| found.help.first().cloned()).unwrap_or_default()
}

/// Merges one tree into another: mappings are merged, and other values are replaced.
fn merge(base: &Item, over: &Item) -> Item {
    let (Value::Mapping(base_entries), Value::Mapping(over_entries)) = (&base.value, &over.value) else {
        return over.clone();
    };
    let mut entries: Vec<Entry> = base_entries.clone();
    for entry in over_entries {
        match entries.iter_mut().find(|known| known.key == entry.key) {
            Some(known) => {
                known.item = merge(&known.item, &entry.item);
                known.key_place = entry.key_place;
            }
            None => entries.push(entry.clone()),
        }
    }
    Item { place: over.place, value: Value::Mapping(entries) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_base_fabric_has_no_finding() {
        assert_eq!(codes("description: nothing changed"), Vec::<&str>::new());
    }

    #[test]
    fn every_example_breaks_its_rule() {
        // The examples of these rules are not text, or megabytes long, and cannot be shown here. `tests/errors`
        // contains them.
        const CANNOT_BE_SHOWN: &[&str] = &["E0102", "E0103"];
        for rule in crate::checks::rules() {
            if CANNOT_BE_SHOWN.contains(&rule.code) {
                continue;
            }
            let found = codes(rule.example);
            assert!(found.contains(&rule.code), "{}: the example gives {found:?}", rule.code);
        }
    }

    /// Returns the edit that a help text describes: ``set `PATH` to VALUE``, ``lower `PATH` to VALUE``.
    fn edit(help: &str) -> Option<String> {
        let rest = help.strip_prefix("set `").or_else(|| help.strip_prefix("lower `"))?;
        let (path, rest) = rest.split_once("` to ")?;
        let value = match rest.strip_prefix('`') {
            Some(code) => code.split('`').next()?.to_owned(),
            None => rest.chars().take_while(char::is_ascii_digit).collect(),
        };
        let is_path =
            path.contains('.') && path.chars().all(|c| c.is_ascii_alphanumeric() || "._-".contains(c));
        let keys: Vec<&str> = path.split('.').collect();
        let open = keys.join(": { ");
        (is_path && !value.is_empty()).then(|| format!("{{ {open}: {value}{}", " }".repeat(keys.len())))
    }

    #[test]
    fn advice_mends_and_breaks_nothing() {
        let (mut followed, mut wrong) = (Vec::new(), Vec::new());
        for rule in crate::checks::rules() {
            let before = findings(rule.example);
            let codes_before: Vec<_> = before.iter().map(|found| found.rule.code).collect();
            for finding in before.iter().filter(|finding| finding.rule.code == rule.code) {
                for (help, edit) in finding.help.iter().filter_map(|help| Some((help, edit(help)?))) {
                    let is_new = |code: &str| !codes_before.contains(&code) && !code.starts_with('W');
                    let after = findings_after(rule.example, Some(&edit));
                    let bad = after.iter().find(|f| f.message == finding.message || is_new(f.rule.code));
                    wrong.extend(
                        bad.map(|f| {
                            format!("{}: `{help}` ends in {}: {}", rule.code, f.rule.code, f.message)
                        }),
                    );
                    followed.push(rule.code);
                }
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
        assert!(followed.len() >= 8, "few helps are edits: {followed:?}");
    }

    #[test]
    fn a_fault_of_shape_hides_none_of_meaning() {
        for (fragment, expected) in [
            ("{ mtu: { link: many }, entropy: { active: 129 } }", &["E0109", "E0706"][..]),
            (
                "{ zones: -1, addresses: { asn_base: 1.5 }, cables: { t0-t1: { medium: dr44 } } }",
                &["E0110", "E0601"],
            ),
            ("{ routing: bgp, exceptions: { absent: [leaf-17] } }", &["E0112", "E0801"]),
            ("{ colour: red, hosts: { per_group: 0 } }", &["E0107", "E0302"]),
            ("{ planes: 17, entropy: { active: 64, min_active: 100 } }", &["E0301", "E0708"]),
        ] {
            assert_eq!(codes(fragment), expected, "{fragment}");
        }
    }

    #[test]
    fn what_follows_from_a_fault_is_silent() {
        let mut wrong = Vec::new();
        for (fragment, expected) in [
            ("planes: 0", "E0301"),
            ("planes: 17", "E0301"),
            ("tiers: { t0: { os: nxos } }", "E0112"),
            ("hosts: { rail: 4 }", "E0107"),
            ("QoS: none", "E0107"),
            ("tiers: { t1: { platform: spectrum4-sn5600, os: nxos, down: { breakout: 4x200G } } }", "E0112"),
            ("tiers: { t0: { os: nxos }, t1: { os: nxos } }", "E0112"),
            ("tiers: { t0: { by_plane: { 1: { os: nxos } } } }", "E0112"),
            ("{ routing: bgp-unnumbered, tiers: { t0: { os: nxos }, t1: { os: nxos } } }", "E0112"),
            ("tiers: { t0: { up: { count: 128, breakout: 3x200G } } }", "E0204"),
            ("tiers: { t1: { down: { breakout: 3x200G } } }", "E0204"),
            (
                "tiers: { t0: { platform: th5-256x200, by_plane: { 1: { platform: th5-512x100g } } } }",
                "E0201",
            ),
            ("hosts: { groups: 0 }", "E0302"),
            ("hosts: { nic: { speed: fast } }", "E0111"),
            ("{ qos: lossless, cables: { nic-t0: { length: 3 }, t0-t1: { length: 30m } } }", "E0111"),
        ] {
            let found = codes(fragment);
            if found != [expected] {
                wrong.push(format!("{fragment}: {found:?}, not {expected}"));
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    #[test]
    fn codes_differ_and_stand_in_order() {
        let rules = crate::checks::rules();
        assert!(rules.windows(2).all(|pair| pair[0].code < pair[1].code));
        assert!(
            rules
                .iter()
                .all(|rule| !rule.condition.is_empty() && !rule.impact.is_empty() && !rule.fix.is_empty())
        );
    }
}
