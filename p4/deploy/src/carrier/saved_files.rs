//! Files on a switch that must be equal to those of the tree.
//!
//! In: texts of both sides. Out: differences. Invariants: comments and empty lines are ignored; order is not, because
//! programs read such files from top to bottom.

use super::facts::{Facts, Finding, findings};
use super::system::{SystemState, Texts};

fn lines(text: &str) -> Vec<&str> {
    let all = text.lines().map(str::trim_end);
    all.filter(|line| !line.is_empty() && !line.trim_start().starts_with('#')).collect()
}

/// Compares a file on the switch with the one of the tree.
pub(super) fn compare(file: &str, wanted: &Texts, held: &SystemState) -> Vec<Finding> {
    let Some(wanted) = wanted.get(file) else { return Vec::new() };
    let saved = held.section(&format!("saved {file}"));
    let (wanted, saved) = (lines(wanted), lines(saved));
    if wanted == saved {
        return Vec::new();
    }
    let set = |lines: &[&str], than: &[&str]| -> Facts {
        let more = lines.iter().filter(|line| !than.contains(line));
        more.map(|line| format!("saved: {line}")).collect()
    };
    let mut found = findings(file, &set(&wanted, &saved), &set(&saved, &wanted));
    if found.is_empty() {
        let order = Facts::from(["saved: the same lines in the same order".to_owned()]);
        found = findings(file, &order, &Facts::new());
    }
    found
}
