//! Every complete fabric in the language guide is valid and has only warnings that it allows.

use std::path::Path;

use closc_diagnostics::{Sources, show};
use closc_platform::Catalogue;

#[test]
fn fabrics_of_the_guide_are_valid() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/language.md");
    let text = std::fs::read_to_string(path).expect("the guide is in the repository");
    let blocks = text.split("```yaml\n").skip(1).filter_map(|rest| rest.split("```").next());
    let fabrics: Vec<&str> = blocks.filter(|block| block.starts_with("fabric:")).collect();
    assert!(fabrics.len() >= 5, "the guide has examples");
    for fabric in fabrics {
        let mut sources = Sources::new();
        let found = match closc_topology::load(&mut sources, "docs/language.md", fabric.as_bytes()) {
            Ok(document) => closc_topology::lower(&document, &Catalogue::builtin(), &sources).1,
            Err(found) => found,
        };
        // `closc_topology` does not apply levels, so this test skips the findings that a block allows.
        let is_allowed = |code: &str| fabric.contains(&format!("\n  {code}: allow"));
        let is_clean = found.iter().all(|finding| is_allowed(finding.rule.code));
        assert!(is_clean, "{}", show::text::all(&found, &sources, show::text::Colour::Plain));
    }
}
