//! Reads the text of a fabric file into a plan and runs every check. Every command uses it, so none of them
//! accepts a file that `check` rejects.
//!
//! In: a text, its source ([`Origin`]), and the site's own platforms. Out: a [`Reading`]: all findings, and a
//! plan unless one is an error. Invariants: only [`disk`] reads files; the rest does no I/O.

#[cfg(feature = "disk")]
mod disk;
#[cfg(feature = "disk")]
mod fix;
mod levels;
#[cfg(feature = "disk")]
mod source;

use std::sync::Arc;

use closc_diagnostics::{Diagnostics, Levels, Rule, Sources};
use closc_fabric::Fabric;
use closc_plan::Plan;
use closc_platform::Catalogue;
use closc_topology::{Companion, Document, LoweringResult};

#[cfg(feature = "disk")]
pub use disk::{FrontError, Options, catalogue, read, read_text};
#[cfg(feature = "disk")]
pub use fix::{AppliedFix, FixedText, fix};
pub use levels::{LevelError, warning};
#[cfg(feature = "disk")]
pub use source::{Source, SourceError};

/// Source of the text of a fabric: its name in findings, and access to the files that it names.
pub trait Origin {
    /// Returns its name in findings.
    fn name(&self) -> String;

    /// Returns the name of a file that the fabric file names, and its text or the reason why it cannot be read.
    fn companion(&self, file: &str) -> (String, Result<String, String>);
}

/// Result of reading a fabric.
pub struct Reading {
    /// Its plan, if it has no errors.
    pub plan: Option<Plan>,
    /// All findings.
    pub diagnostics: Diagnostics,
    /// The texts that findings refer to.
    pub sources: Sources,
}

/// Reads the text of a fabric. The site's platforms are given as names and texts. `levels` take precedence
/// over the levels in the file. Findings get their levels here, before they leave the compiler.
pub fn read_from(
    origin: &dyn Origin,
    text: &[u8],
    platforms: &[(String, String)],
    levels: &Levels,
) -> Reading {
    let (mut sources, mut diagnostics) = (Sources::new(), Diagnostics::new());
    let catalogue = catalogue_of(platforms, &mut sources, &mut diagnostics);
    let (mut plan, mut levels) = (None, levels.clone());
    match closc_topology::load(&mut sources, &origin.name(), text) {
        Ok(document) => {
            levels = levels.or(levels::stated_levels(&document, &mut diagnostics));
            plan = self::plan(origin, document, &catalogue, &mut sources, &mut diagnostics);
        }
        Err(faults) => diagnostics.extend(faults),
    }
    diagnostics.sort();
    let diagnostics = levels.apply(diagnostics.shorten());
    let plan = plan.filter(|_| !diagnostics.has_errors());
    Reading { plan, diagnostics, sources }
}

/// Expands the counts of a file, even if the file has errors. Only the names of devices and cables in the result may be
/// used.
pub fn outline(text: &[u8]) -> Option<Fabric> {
    let topology = closc_topology::outline(text, &Catalogue::builtin())?;
    Some(Fabric::new(Arc::new(topology)))
}

/// Returns the rules of all stages that read fabrics and platforms, ordered by code.
pub fn rules() -> Vec<&'static Rule> {
    let mut rules = closc_topology::checks::rules();
    rules.extend(closc_platform::RULES);
    rules.extend(closc_fabric::checks::RULES);
    rules.extend(closc_plan::checks::RULES);
    rules.extend(closc_entries::checks::RULES);
    rules.push(&levels::RULE);
    rules.sort_by_key(|rule| rule.code);
    rules
}

fn plan(
    origin: &dyn Origin,
    mut document: Document,
    catalogue: &Catalogue,
    sources: &mut Sources,
    diagnostics: &mut Diagnostics,
) -> Option<Plan> {
    for which in Companion::ALL {
        let Some(file) = document.companion(which) else { continue };
        let (name, text) = origin.companion(file);
        document.companions.insert(which, text.map(|text| sources.add(name, text)));
    }
    let (lowered, findings) = closc_topology::lower_or_outline(&document, catalogue, sources);
    diagnostics.extend(findings);
    let topology = match lowered {
        LoweringResult::Whole(topology) => topology,
        LoweringResult::Outline(topology) => {
            closc_fabric::checks::check(&Fabric::new(Arc::new(topology)), diagnostics);
            return None;
        }
        LoweringResult::Nothing => return None,
    };
    let fabric = Fabric::new(Arc::new(topology));
    closc_fabric::checks::check(&fabric, diagnostics);
    let plan = Plan::new(fabric);
    closc_plan::checks::check(&plan, diagnostics);
    closc_entries::checks::check(&plan, diagnostics);
    Some(plan)
}

/// Returns the built-in catalogue extended by the site's platforms, which are given as file names and texts.
fn catalogue_of(
    platforms: &[(String, String)],
    sources: &mut Sources,
    diagnostics: &mut Diagnostics,
) -> Catalogue {
    let mut catalogue = Catalogue::builtin();
    for (name, text) in platforms {
        if let Err(faults) = catalogue.add_yaml(sources, name, text) {
            diagnostics.extend(faults);
        }
    }
    catalogue
}

#[cfg(test)]
mod tests {
    use closc_diagnostics::Levels;

    use super::*;

    /// A text without companion files.
    struct Text;

    impl Origin for Text {
        fn name(&self) -> String {
            "fabric.yaml".to_owned()
        }

        fn companion(&self, file: &str) -> (String, Result<String, String>) {
            (file.to_owned(), Err("no file".to_owned()))
        }
    }

    /// An error in a site's platform is reported once, and does not also cause a report of a missing platform
    /// or an unused release.
    #[test]
    fn an_error_of_a_platform_has_no_followers() {
        let fabric = "fabric: small\nplanes: 1\nreleases: { sonic: 202511 }\nrouting: ecmp-static\nqos: none\n\
                      hosts: { groups: 2, per_group: 2, nic: { speed: 100G, lanes: 1 } }\n\
                      tiers:\n  t0: { platform: site-box, os: sonic, up: 2 }\n  t1: { platform: site-box, os: sonic }\n";
        let text =
            Catalogue::builtin().text("th5-512x100g").unwrap().replace("id: th5-512x100g", "id: site-box");
        let codes = |text: String| {
            let platforms = [("site.yaml".to_owned(), text)];
            let reading = read_from(&Text, fabric.as_bytes(), &platforms, &Levels::default());
            let found = reading.diagnostics.iter().filter(|found| found.rule.code != "W0302");
            found.map(|found| found.rule.code).collect::<Vec<_>>()
        };
        assert!(!codes(text.clone()).contains(&"E0201"));
        assert_eq!(codes(text.replace("default: 8x100G", "default: 3x7G")), ["E1005"]);
        assert_eq!(codes(text.replace("cages: 64", "cages: sixty")), ["E1002"]);
    }
}
