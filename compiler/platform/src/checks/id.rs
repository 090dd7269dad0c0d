//! E1003: the name can be used in a topology.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule, SourceId};

use crate::file::File;

pub(crate) static RULE: Rule = Rule {
    code: "E1003",
    title: "an invalid platform name",
    condition: "A platform name has 1 to 63 lower-case letters, digits and dashes. It starts with a letter, does \
           not end with a dash, and has no two dashes in a row.",
    impact: "The name is in fabric files, in artefacts and on command lines.",
    example: "id: My Switch",
    fix: "Rename the platform, for example `my-switch`.",
};

pub(crate) fn check(file: &File, source: SourceId, found: &mut Diagnostics) {
    let id = &file.id.value;
    if !well_formed(id) {
        let mut diagnostic = Diagnostic::error(&RULE, format!("platform name `{id}` is malformed"))
            .at(file.id.span(source), "lower-case letters, digits and dashes only");
        let proposal = propose(id);
        if well_formed(&proposal) {
            diagnostic = diagnostic.help(format!("write `{proposal}`"));
        }
        found.push(diagnostic);
    }
}

fn well_formed(id: &str) -> bool {
    id.len() <= 63
        && id.starts_with(|c: char| c.is_ascii_lowercase())
        && id.split('-').all(|part| {
            !part.is_empty() && part.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
        })
}

fn propose(id: &str) -> String {
    let words: Vec<String> = id
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_ascii_lowercase)
        .collect();
    words.join("-")
}
