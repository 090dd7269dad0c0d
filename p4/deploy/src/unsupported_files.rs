//! Files of switches that no transport of the inventory carries.
//!
//! In: for each switch the files that are not carried. Out: [`UnsupportedFile`], one per file. Invariants: a
//! command that neither pushes nor compares a file reports it, and does not exit successfully.

use std::collections::BTreeMap;

use closc_artefacts::carriers::UndeliveredFile;
use schemars::JsonSchema;
use serde::Serialize;

/// A file that a command neither pushes to some switches nor compares.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct UnsupportedFile {
    /// The file.
    pub file: String,
    /// Number of switches that have it.
    pub switches: usize,
    /// The first of them.
    pub first: String,
    /// Advice on how to deliver the file.
    pub instead: String,
}

impl UnsupportedFile {
    /// Returns the line for people.
    pub fn line(&self) -> String {
        let UnsupportedFile { file, switches, first, instead } = self;
        let of = if *switches == 1 { "1 switch".to_owned() } else { format!("{switches} switches") };
        format!("`{file}` of {of} (first: `{first}`) is neither pushed nor compared: {instead}")
    }
}

/// Groups the files by name, over all switches.
pub(crate) fn group_unsupported<'m>(
    switches: impl Iterator<Item = (&'m str, &'m [UndeliveredFile])>,
) -> Vec<UnsupportedFile> {
    let mut found: BTreeMap<&UndeliveredFile, UnsupportedFile> = BTreeMap::new();
    for (name, missed) in switches {
        for each in missed {
            let new = || UnsupportedFile {
                file: each.file.clone(),
                switches: 0,
                first: name.to_owned(),
                instead: each.instead.clone(),
            };
            found.entry(each).or_insert_with(new).switches += 1;
        }
    }
    found.into_values().collect()
}
