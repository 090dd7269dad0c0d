//! The words of `closc explain`. Each word determines the candidates for the next one.

use std::ffi::OsStr;

use clap_complete::engine::{CompletionCandidate, ValueCompleter};

use super::line::Line;
use super::names::{self, NameKind};
use super::{files, filter_by_prefix, of_fabric, words};

/// Words that are not codes, with descriptions.
const SUBJECTS: [(&str, &str); 4] = [
    ("codes", "Every code with its title"),
    ("targets", "Settings that each system supports"),
    ("device", "Configuration of one switch"),
    ("headroom", "Every term of the headroom of a port"),
];

/// Completes the values of `explain`.
pub(super) struct Subject;

impl ValueCompleter for Subject {
    /// Completes depending on the previous words, because the engine's count of values can be one too low.
    fn complete(&self, typed: &OsStr) -> Vec<CompletionCandidate> {
        let line = Line::from_environment();
        let is_subject = |word: &&str| SUBJECTS.iter().any(|(subject, _)| subject == word);
        let words: Vec<&str> = line.preceding_words().filter(|word| !word.starts_with('-')).collect();
        let Some(between) = words.iter().position(is_subject) else {
            let subjects =
                SUBJECTS.map(|(word, help)| CompletionCandidate::new(word).help(Some(help.into())));
            return filter_by_prefix(words::codes().into_iter().chain(subjects).collect(), typed);
        };
        match (between, words[between]) {
            (0, "device" | "headroom") => files(typed),
            (1, "device" | "headroom") => of_fabric(typed, NameKind::Switch),
            (2, "headroom") => ports(&line, typed),
            _ => Vec::new(),
        }
    }
}

/// Completes ports of the switch in the previous word.
fn ports(line: &Line, typed: &OsStr) -> Vec<CompletionCandidate> {
    let (Some(plan), Some(typed), Some(switch)) =
        (line.plan(), typed.to_str(), line.preceding_words().next())
    else {
        return Vec::new();
    };
    names::ports(&plan, switch, typed).into_iter().map(CompletionCandidate::new).collect()
}
