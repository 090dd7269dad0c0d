//! Levels of warnings that are set on the command line.
//!
//! In: codes. Out: [`Levels`]. Invariants: a code has one level, regardless of the position of the option.

use std::collections::BTreeMap;

use clap::error::ErrorKind;
use closc_compile::front::{self, LevelError};
use closc_diagnostics::{Level, Levels, Rule};

/// Keyword for all remaining warnings of the file.
const REST: &str = "warnings";

/// The options.
#[derive(Debug, clap::Args)]
pub(crate) struct LevelArgs {
    /// Hide this warning (`W0803`), or all remaining ones (`warnings`)
    #[arg(long, global = true, value_name = "CODE", value_parser = warning)]
    allow: Vec<Warning>,
    /// Print this warning even if the fabric file hides it
    #[arg(long, global = true, value_name = "CODE", value_parser = single)]
    warn: Vec<Warning>,
    /// Treat this warning as an error, or all remaining ones (`warnings`)
    #[arg(long, short = 'D', global = true, value_name = "CODE", value_parser = warning)]
    deny: Vec<Warning>,
}

/// Warnings that a level applies to.
#[derive(Debug, Clone, Copy)]
enum Warning {
    Rest,
    One(&'static Rule),
}

impl Warning {
    fn keyword(self) -> &'static str {
        match self {
            Warning::Rest => REST,
            Warning::One(rule) => rule.code,
        }
    }
}

fn warning(text: &str) -> Result<Warning, String> {
    if text == REST {
        return Ok(Warning::Rest);
    }
    front::warning(text).map(Warning::One).map_err(|why| match why {
        LevelError::Unknown { nearest: Some(_), .. } => why.to_string(),
        LevelError::Unknown { nearest: None, .. } => {
            format!("{why}; `closc explain codes` lists the warnings")
        }
        LevelError::Error { .. } => {
            format!("{why}; expected the code of a warning, which `closc explain codes` lists, or `warnings`")
        }
    })
}

fn single(text: &str) -> Result<Warning, String> {
    match warning(text)? {
        Warning::Rest => {
            Err("all warnings have this level by default; name a code that the file allows or denies"
                .to_owned())
        }
        one @ Warning::One(_) => Ok(one),
    }
}

impl LevelArgs {
    /// Rejects two levels for one warning.
    pub(crate) fn check(&self) -> Result<(), clap::Error> {
        let mut seen: BTreeMap<&str, Level> = BTreeMap::new();
        for (warning, level) in self.warning_levels() {
            let first = *seen.entry(warning.keyword()).or_insert(level);
            if first != level {
                let (word, first, level) = (warning.keyword(), first.keyword(), level.keyword());
                let text = format!("`--{first} {word}` and `--{level} {word}` contradict each other\n");
                return Err(clap::Error::raw(ErrorKind::ArgumentConflict, text));
            }
        }
        Ok(())
    }

    /// Returns the levels.
    pub(crate) fn levels(&self) -> Levels {
        let mut levels = Levels::default();
        for (warning, level) in self.warning_levels() {
            let written = format!("--{} {}", level.keyword(), warning.keyword());
            match warning {
                Warning::Rest => levels.state_rest(level, written),
                Warning::One(rule) => levels.state(rule, level, written),
            }
        }
        levels
    }

    /// Returns whether the command line sets a level.
    pub(crate) fn has_any(&self) -> bool {
        self.warning_levels().next().is_some()
    }

    fn warning_levels(&self) -> impl Iterator<Item = (Warning, Level)> {
        let lists = [(&self.allow, Level::Allow), (&self.warn, Level::Warn), (&self.deny, Level::Deny)];
        lists.into_iter().flat_map(|(list, level)| list.iter().map(move |warning| (*warning, level)))
    }
}
