//! Required contents of a catalogue file.
//!
//! In: a parsed file. Out: diagnostics. Invariants: every rule has a file with its check, its reason, an example that
//! violates it, and the fix. All checks run, so one run reports all errors.

pub(crate) mod breakouts;
pub(crate) mod buffer;
pub(crate) mod default_breakout;
pub(crate) mod device_ports;
pub(crate) mod facts;
pub(crate) mod features;
pub(crate) mod id;
pub(crate) mod lanes;
pub(crate) mod layouts;
pub(crate) mod limits;
pub(crate) mod panel;
pub(crate) mod releases;
pub(crate) mod shape;
pub(crate) mod sonic;
pub(crate) mod syntax;
pub(crate) mod twice;
pub(crate) mod words;

use closc_diagnostics::{Diagnostics, Rule, SourceId};

use crate::file::File;

/// All rules of this crate, sorted by code.
pub static RULES: &[&Rule] = &[
    &syntax::RULE,
    &shape::RULE,
    &id::RULE,
    &breakouts::RULE,
    &default_breakout::RULE,
    &lanes::RULE,
    &panel::RULE,
    &sonic::RULE,
    &buffer::RULE,
    &limits::RULE,
    &features::RULE,
    &twice::RULE,
    &words::RULE,
    &device_ports::RULE,
    &layouts::RULE,
    &releases::RULE,
    &facts::RULE,
];

/// Runs every check on one file.
pub(crate) fn all(file: &File, source: SourceId) -> Diagnostics {
    let mut found = Diagnostics::new();
    id::check(file, source, &mut found);
    panel::check(file, source, &mut found);
    breakouts::check(file, source, &mut found);
    default_breakout::check(file, source, &mut found);
    lanes::check(file, source, &mut found);
    sonic::check(file, source, &mut found);
    buffer::check(file, source, &mut found);
    limits::check(file, source, &mut found);
    features::check(file, source, &mut found);
    words::check(file, source, &mut found);
    device_ports::check(file, source, &mut found);
    layouts::check(file, source, &mut found);
    releases::check(file, source, &mut found);
    facts::check(file, source, &mut found);
    found
}

/// Lists words for a message, each in backticks.
pub(crate) fn format_list<T: std::fmt::Display>(words: impl IntoIterator<Item = T>) -> String {
    words.into_iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
}
