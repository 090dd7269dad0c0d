//! Every fabric file that is shipped is valid. For switches of published fabrics, a public source shows that their
//! hwsku supports the breakouts and features.

use std::path::Path;

use closc_diagnostics::{Sources, show};
use closc_platform::Catalogue;

/// Warnings about hwskus that no source publishes: breakouts and features.
const UNPUBLISHED: [&str; 2] = ["W0201", "W0202"];

fn check(path: &Path) -> datatest_stable::Result<()> {
    let bytes = std::fs::read(path)?;
    let mut sources = Sources::new();
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    // Platforms that a fabric needs may be in a folder next to it.
    let site = path.with_file_name("platforms");
    let mut catalogue = Catalogue::builtin();
    for file in std::fs::read_dir(&site).into_iter().flatten() {
        let file = file?.path();
        let name = file.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let added = catalogue.add_yaml(&mut sources, name, &std::fs::read_to_string(&file)?);
        assert!(added.is_ok(), "{}", file.display());
    }
    let found = match closc_topology::load(&mut sources, name, &bytes) {
        Ok(document) => closc_topology::lower(&document, &catalogue, &sources).1,
        Err(found) => found,
    };
    if found.has_errors() {
        return Err(show::text::all(&found, &sources, show::text::Colour::Plain).into());
    }
    let text = show::text::all(&found, &sources, show::text::Colour::Plain);
    let is_reference = path.components().any(|part| part.as_os_str() == "reference");
    if is_reference && found.iter().any(|one| UNPUBLISHED.contains(&one.rule.code)) {
        return Err(text.into());
    }
    print!("{text}");
    Ok(())
}

datatest_stable::harness! {
    { test = check, root = "../../topologies", pattern = r"^(?!.*(scenarios|platforms)/).*\.yaml$" },
}
