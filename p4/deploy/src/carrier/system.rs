//! An operating system that is configured over `ssh`: its commands, and how its configuration is compared.
//!
//! In: the files of a tree for a switch, and the output of the switch. Out: scripts, and differences. Invariants: a
//! system does no I/O; settings of the site are kept, and unknown settings count as closc's and are reported.

use std::collections::BTreeMap;
use std::time::Duration;

use super::facts::Finding;
use crate::folders::Place;

/// Files by name, with their texts.
pub(crate) type Texts = BTreeMap<String, String>;

/// Parameters of a change.
pub(super) struct ChangeParameters<'a> {
    pub(super) place: &'a Place,
    /// The name of the push, under which the earlier state is kept.
    pub(super) run: &'a str,
    /// Time after which the switch rolls back.
    pub(super) confirm: Duration,
}

/// State of a switch.
#[derive(Debug, Clone, Default)]
pub(super) struct SystemState {
    /// The output of its commands, by section.
    pub(super) sections: Texts,
    /// The digest of the output.
    pub(super) digest: String,
    /// The name of an unconfirmed change.
    pub(super) pending_change: Option<String>,
}

impl SystemState {
    /// Returns a section; empty if its command was not run.
    pub(super) fn section(&self, name: &str) -> &str {
        self.sections.get(name).map_or("", String::as_str)
    }
}

/// One step of a change, with its own connection.
pub(super) struct Step {
    pub(super) script: String,
    /// Whether it prints the state of the switch, as [`System::read`] does, so that a change by another party is
    /// detected.
    pub(super) rereads: bool,
}

/// An operating system.
pub(super) trait System: Send + Sync {
    /// Returns the remote command that reads scripts; `None` if the login shell of the switch reads them.
    fn shell(&self) -> Option<&'static str>;

    /// Returns whether it has folders for closc.
    fn has_folders(&self) -> bool;

    /// Returns the file names that it supports.
    fn files(&self) -> &'static [&'static str];

    /// Returns the script that prints the state of a switch.
    fn read(&self, place: &Place, wanted: &Texts) -> String;

    /// Parses the output of that script.
    fn parse_state(&self, output: &str) -> Result<SystemState, String>;

    /// Returns the script for additional settings, if there is one. It is run only if settings seem to be missing.
    fn read_more(&self) -> Option<String> {
        None
    }

    /// Returns the differences.
    fn compare(&self, wanted: &Texts, held: &SystemState) -> Result<Vec<Finding>, String>;

    /// Returns the paths of all settings after a push, to compare with the factory configuration; `None` if a push does
    /// not replace the configuration.
    fn places(&self, wanted: &Texts, held: &SystemState) -> Result<Option<Vec<String>>, String> {
        let _ = (wanted, held);
        Ok(None)
    }

    /// Returns the steps of a change. The switch changes only in the last one.
    fn apply(
        &self,
        wanted: &Texts,
        held: &SystemState,
        making: &ChangeParameters<'_>,
    ) -> Result<Vec<Step>, String>;

    /// Returns the script that undoes the steps before the last one, if necessary.
    fn abandon(&self, making: &ChangeParameters<'_>) -> Option<String>;

    /// Returns the script that confirms a change and saves it.
    fn confirm(&self, place: &Place, pending: &str, held: &SystemState) -> String;

    /// Returns the script that rolls back an unconfirmed change.
    fn roll_back(&self, place: &Place, pending: &str) -> String;

    /// Returns the script that prints the state before a push.
    fn backup(&self, place: &Place, run: &str) -> String;

    /// Parses the output of that script; `None` if the push did not change the switch.
    fn parse_backup(&self, output: &str) -> Result<Option<Texts>, String>;

    /// Returns an error message in the output, for systems that do not report errors by their exit status.
    fn complaint(&self, output: &str) -> Option<String> {
        let _ = output;
        None
    }
}

/// First words of a line that begins a section.
const SECTION: &str = "--closc-section ";

/// Returns the shell command that begins a section.
pub(super) fn begin(name: &str) -> String {
    format!("echo '{SECTION}{name}'\n")
}

/// Splits output into its sections.
pub(super) fn sections(output: &str) -> Texts {
    let mut found = Texts::new();
    let mut open = None;
    for line in output.lines() {
        if let Some(name) = line.strip_prefix(SECTION) {
            open = Some(name.to_owned());
            found.entry(name.to_owned()).or_default();
        } else if let Some(text) = open.as_ref().and_then(|name| found.get_mut(name)) {
            text.push_str(line);
            text.push('\n');
        }
    }
    found
}
