//! E0123: a level is set for a code that is not a warning. Also reads the levels that a file sets.
//!
//! In: codes. Out: their rules, or the reason why a level cannot be set. Invariants: the rules of all reading
//! stages are known here.

use closc_diagnostics::{Diagnostic, Diagnostics, Levels, Rule};
use closc_topology::{Document, nearest};

/// A level is set for a code that is not a warning.
pub(super) static RULE: Rule = Rule {
    code: "E0123",
    title: "a level for an unknown warning",
    condition: "Every key of `warnings` is the code of a warning: `W` and four digits, as printed with the \
           warning.",
    impact: "A level of an unknown code has no effect: the intended warning is still printed, or is not denied. \
           Errors have no level, because closc generates nothing while they remain.",
    example: "fabric: pod\nplanes: 2\nhosts: { groups: 4, per_group: 8, nic: { speed: 200G, lanes: 2 } }\ntiers:\n  \
              t0: { platform: linux, os: linux, up: 8 }\n  t1: { platform: linux, os: linux }\nqos: none\n\
              warnings: { W0830: allow }",
    fix: "Use the code of the warning (`closc explain codes` lists all). Fix errors instead of setting a \
           level.",
};

/// Reason why a level cannot be set for a code.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LevelError {
    /// The code does not exist; a similar one may have been meant.
    #[error("there is no warning `{code}`{}", .nearest.map(|code| format!("; did you mean `{code}`?")).unwrap_or_default())]
    Unknown {
        /// The code, as written.
        code: String,
        /// The warning with the most similar code.
        nearest: Option<&'static str>,
    },
    /// It is the code of an error.
    #[error("`{code}` is an error, and only warnings have levels: {title}")]
    Error {
        /// The code.
        code: &'static str,
        /// Title of its rule.
        title: &'static str,
    },
}

/// Finds the warning of a code.
pub fn warning(code: &str) -> Result<&'static Rule, LevelError> {
    let rules = super::rules();
    let known = find_rule(&rules, code);
    known.filter(|rule| is_warning(rule)).ok_or_else(|| no_warning(&rules, code))
}

/// Finds a rule in `rules`, which are ordered by code.
fn find_rule(rules: &[&'static Rule], code: &str) -> Option<&'static Rule> {
    rules.binary_search_by_key(&code, |rule| rule.code).ok().map(|at| rules[at])
}

/// Returns why a level cannot be set for a code.
fn no_warning(rules: &[&'static Rule], code: &str) -> LevelError {
    if let Some(rule) = find_rule(rules, code) {
        return LevelError::Error { code: rule.code, title: rule.title };
    }
    let codes = rules.iter().filter(|rule| is_warning(rule)).map(|rule| rule.code);
    LevelError::Unknown { code: code.to_owned(), nearest: nearest(code, codes) }
}

fn is_warning(rule: &Rule) -> bool {
    rule.code.starts_with('W')
}

/// Returns the levels that a file sets.
pub(super) fn stated_levels(document: &Document, diagnostics: &mut Diagnostics) -> Levels {
    let (mut levels, rules) = (Levels::default(), super::rules());
    for (code, level) in document.file.warnings.iter().flat_map(|named| &named.0) {
        match find_rule(&rules, &code.value).filter(|rule| is_warning(rule)) {
            Some(rule) => levels.state(rule, *level, format!("warnings.{rule}: {}", level.keyword())),
            // The most similar code is computed only if the finding is kept, because a file may contain
            // 50,000 unknown codes.
            None => diagnostics.push_with(&RULE, || {
                let why = no_warning(&rules, &code.value);
                let help = match why {
                    LevelError::Unknown { .. } => "`closc explain codes` lists all codes",
                    LevelError::Error { .. } => "fix the error, and remove this line",
                };
                let finding = Diagnostic::error(&RULE, format!("`warnings`: {why}"));
                finding.at(code.span, "no warning").help(help)
            }),
        }
    }
    levels
}
