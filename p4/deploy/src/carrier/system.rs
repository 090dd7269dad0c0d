//! What one operating system takes to be reached over `ssh`: its commands, and how its configuration is compared.
//!
//! In: the files of a tree for a switch, and what the switch prints. Out: scripts, and what differs. Invariants: a system
//! does no I/O; what it takes for the site's is kept, and what it does not know is closc's and named.

use std::collections::BTreeMap;
use std::time::Duration;

use super::facts::Finding;
use crate::folders::Place;

/// Files by name, with their texts.
pub(crate) type Texts = BTreeMap<String, String>;

/// A change as a push makes it.
pub(super) struct Making<'a> {
    pub(super) place: &'a Place,
    /// The name of the push, under which the state before it is kept.
    pub(super) run: &'a str,
    /// After which time the switch rolls back.
    pub(super) confirm: Duration,
}

/// State of a switch.
#[derive(Debug, Clone, Default)]
pub(super) struct Held {
    /// What its commands printed, by name.
    pub(super) sections: Texts,
    /// The digest of that.
    pub(super) digest: String,
    /// A change that waits for its confirmation.
    pub(super) pending: Option<String>,
}

impl Held {
    /// Returns what a command printed; nothing where it was not run.
    pub(super) fn section(&self, name: &str) -> &str {
        self.sections.get(name).map_or("", String::as_str)
    }
}

/// One step of a change, which has a connection of its own.
pub(super) struct Step {
    pub(super) script: String,
    /// Whether it prints what the switch holds, as [`System::read`] does, so that a change by another hand shows.
    pub(super) rereads: bool,
}

/// An operating system.
pub(super) trait System: Send + Sync {
    /// Returns the remote command that reads scripts; none where the login shell of the switch does.
    fn shell(&self) -> Option<&'static str>;

    /// Tells whether it has folders for closc.
    fn has_folders(&self) -> bool;

    /// Returns the file names that it knows.
    fn files(&self) -> &'static [&'static str];

    /// Returns the script that prints what a switch holds.
    fn read(&self, place: &Place, wanted: &Texts) -> String;

    /// Reads what that printed.
    fn held(&self, output: &str) -> Result<Held, String>;

    /// Returns the script that reads what only matters where something seems to be missing, if there is one.
    fn read_more(&self) -> Option<String> {
        None
    }

    /// Compares.
    fn compare(&self, wanted: &Texts, held: &Held) -> Result<Vec<Finding>, String>;

    /// Returns the steps that lead to what is wanted. Before the last one, nothing has changed.
    fn apply(&self, wanted: &Texts, held: &Held, making: &Making<'_>) -> Result<Vec<Step>, String>;

    /// Returns the script that undoes steps before the last one, if that is necessary.
    fn abandon(&self, making: &Making<'_>) -> Option<String>;

    /// Returns the script that keeps a change and saves it.
    fn confirm(&self, place: &Place, pending: &str, held: &Held) -> String;

    /// Returns the script that rolls a change back that is not confirmed.
    fn roll_back(&self, place: &Place, pending: &str) -> String;

    /// Returns the script that prints the state before a push.
    fn backup(&self, place: &Place, run: &str) -> String;

    /// Reads what that printed; nothing where the push changed nothing on the switch.
    fn restored(&self, output: &str) -> Result<Option<Texts>, String>;

    /// Returns what a switch complains about in what it printed, where that does not show in a status.
    fn complaint(&self, output: &str) -> Option<String> {
        let _ = output;
        None
    }
}

/// The start of a line that begins a section.
const SECTION: &str = "--closc-section ";

/// Returns the shell command that begins a section.
pub(super) fn begin(name: &str) -> String {
    format!("echo '{SECTION}{name}'\n")
}

/// Takes apart what was printed in sections.
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
