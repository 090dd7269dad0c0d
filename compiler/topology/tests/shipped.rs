//! Every fabric file that is shipped is valid.

use std::path::Path;

use closc_diagnostics::{Sources, show};
use closc_platform::Catalogue;

fn check(path: &Path) -> datatest_stable::Result<()> {
    let bytes = std::fs::read(path)?;
    let mut sources = Sources::new();
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    // Platforms that a fabric needs may be beside it.
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
    print!("{}", show::text::all(&found, &sources, show::text::Colour::Plain));
    Ok(())
}

datatest_stable::harness! {
    { test = check, root = "../../topologies", pattern = r"^(?!.*(scenarios|platforms)/).*\.yaml$" },
}
