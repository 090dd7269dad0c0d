//! Levels of warnings: allow, warn or deny.
//!
//! In: levels by code, from a fabric file and a command line. Out: the findings with their final severity.
//! Invariants: an error stays an error. `allow` or `deny` for a code takes precedence over a level for all
//! warnings, such as `--deny warnings`. `warn` for a code does not. In [`Levels::or`], levels of `self` take
//! precedence: those of the command line over those of the file.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::{Diagnostic, Diagnostics, Rule, Severity};

/// Level of a warning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// The warning is suppressed.
    Allow,
    /// The warning stays a warning.
    Warn,
    /// The warning becomes an error.
    Deny,
}

impl Level {
    /// Returns the keyword in fabric files.
    pub fn keyword(self) -> &'static str {
        match self {
            Level::Allow => "allow",
            Level::Warn => "warn",
            Level::Deny => "deny",
        }
    }
}

/// A level, and the setting that sets it, as written.
type LevelSetting = (Level, String);

/// Levels of warnings: by code, and for all that are neither allowed nor denied by code.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Levels {
    of: BTreeMap<&'static str, LevelSetting>,
    rest: Option<LevelSetting>,
}

impl Levels {
    /// Sets the level of a warning. `written` is the setting as the user wrote it.
    pub fn state(&mut self, rule: &'static Rule, level: Level, written: impl Into<String>) {
        self.of.insert(rule.code, (level, written.into()));
    }

    /// Sets the level of all warnings that are neither allowed nor denied by their own code.
    pub fn state_rest(&mut self, level: Level, written: impl Into<String>) {
        self.rest = Some((level, written.into()));
    }

    /// Adds the levels of `others` for warnings that have none here.
    #[must_use]
    pub fn or(mut self, others: Levels) -> Levels {
        for (code, stated) in others.of {
            self.of.entry(code).or_insert(stated);
        }
        self.rest = self.rest.or(others.rest);
        self
    }

    /// Removes the levels that turn warnings into errors.
    #[must_use]
    pub fn remove_denials(mut self) -> Levels {
        self.of.retain(|_, (level, _)| *level != Level::Deny);
        self.rest = self.rest.filter(|(level, _)| *level != Level::Deny);
        self
    }

    /// Applies the levels to findings.
    #[must_use]
    pub fn apply(&self, found: Diagnostics) -> Diagnostics {
        found.filter_map(|finding| self.judge(finding))
    }

    fn judge(&self, mut finding: Diagnostic) -> Option<Diagnostic> {
        if finding.severity == Severity::Error {
            return Some(finding);
        }
        let own = self.of.get(finding.rule.code).filter(|(level, _)| *level != Level::Warn);
        match own.or(self.rest.as_ref()) {
            Some((Level::Allow, _)) => None,
            Some((Level::Deny, written)) => {
                finding.severity = Severity::Error;
                Some(finding.note(format!("`{written}` turns this warning into an error")))
            }
            Some((Level::Warn, _)) | None => Some(finding),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    static ONE: Rule = rule("W0001");
    static TWO: Rule = rule("W0002");
    static BAD: Rule = rule("E0001");

    const fn rule(code: &'static str) -> Rule {
        Rule { code, title: "", condition: "", impact: "", example: "", fix: "" }
    }

    /// Returns the remaining codes; errors are marked with `!`.
    fn remaining_codes(levels: &Levels) -> Vec<String> {
        let mut found = Diagnostics::new();
        found.push(Diagnostic::warning(&ONE, "one"));
        found.push(Diagnostic::error(&BAD, "bad"));
        found.push(Diagnostic::warning(&TWO, "two"));
        let sign = |severity| if severity == Severity::Error { "!" } else { "" };
        levels.apply(found).iter().map(|d| format!("{}{}", d.rule.code, sign(d.severity))).collect()
    }

    #[test]
    fn an_error_stays_one_and_a_warning_gets_its_level() {
        let mut levels = Levels::default();
        assert_eq!(remaining_codes(&levels), ["W0001", "E0001!", "W0002"]);
        levels.state(&ONE, Level::Allow, "");
        levels.state(&TWO, Level::Deny, "");
        levels.state(&BAD, Level::Allow, "");
        assert_eq!(remaining_codes(&levels), ["E0001!", "W0002!"]);
        assert_eq!(remaining_codes(&levels.remove_denials()), ["E0001!", "W0002"]);
    }

    #[test]
    fn all_others_are_those_that_are_warnings_by_then() {
        let (mut file, mut line) = (Levels::default(), Levels::default());
        file.state(&ONE, Level::Allow, "warnings.W0001");
        line.state_rest(Level::Deny, "--deny warnings");
        assert_eq!(remaining_codes(&line.clone().or(file.clone())), ["E0001!", "W0002!"]);
        // The command line takes precedence over the file.
        line.state(&ONE, Level::Warn, "--warn W0001");
        assert_eq!(remaining_codes(&line.or(file.clone())), ["W0001!", "E0001!", "W0002!"]);
        let mut silent = Levels::default();
        silent.state_rest(Level::Allow, "--allow warnings");
        file.state(&TWO, Level::Deny, "warnings.W0002");
        assert_eq!(remaining_codes(&silent.or(file)), ["E0001!", "W0002!"]);
    }
}
