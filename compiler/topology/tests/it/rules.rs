//! Every rule has a test case and a complete page.

use std::collections::BTreeSet;
use std::path::Path;

#[test]
fn every_rule_has_a_case() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/errors");
    let files = std::fs::read_dir(folder).expect("the cases are in the repository");
    let names: BTreeSet<String> = files
        .map(|entry| entry.expect("a folder can be read").file_name().to_string_lossy().into_owned())
        .collect();
    for rule in closc_topology::checks::rules() {
        let found = names.iter().any(|name| name.starts_with(&format!("{}-", rule.code)));
        assert!(found, "{}: no case in tests/errors", rule.code);
    }
}

#[test]
fn every_rule_has_a_whole_page() {
    for rule in closc_topology::checks::rules() {
        let text = rule.page();
        assert!(text.contains("## Fix"), "{}", rule.code);
        assert!(!rule.title.ends_with('.'), "{}", rule.code);
        assert!(
            rule.condition.ends_with('.') && rule.impact.ends_with('.') && rule.fix.ends_with('.'),
            "{}",
            rule.code
        );
    }
}
