//! Errors of candidate files, when none passes the checks.
//!
//! In: the errors of each candidate, as text. Out: the errors to show. Invariants: an error that depends on assumed
//! hardware or settings is shown only if no error is common to all candidates.

use std::collections::BTreeSet;

/// Errors of the candidates until now.
#[derive(Debug, Default)]
pub(super) struct Refusals {
    /// Codes that every candidate has; `None` before the first one.
    common: Option<BTreeSet<String>>,
    /// The errors of the candidate with the fewest.
    fewest: Vec<String>,
}

impl Refusals {
    /// Adds the errors of a candidate.
    pub(super) fn add(&mut self, text: &str) {
        let errors = split_errors(text);
        let codes: BTreeSet<String> =
            errors.iter().filter_map(|error| code(error)).map(str::to_owned).collect();
        self.common = Some(match self.common.take() {
            Some(common) => common.intersection(&codes).cloned().collect(),
            None => codes,
        });
        if self.fewest.is_empty() || errors.len() < self.fewest.len() {
            self.fewest = errors.into_iter().map(str::to_owned).collect();
        }
    }

    /// Returns the errors that every candidate has. If there are none, returns those of the candidate with the fewest, and
    /// states that they depend on what is assumed.
    pub(super) fn text(&self) -> String {
        let is_common = |error: &&String| {
            let common = self.common.iter().flatten();
            code(error).is_some_and(|code| common.into_iter().any(|own| own == code))
        };
        let shown: Vec<&str> = self.fewest.iter().filter(is_common).map(String::as_str).collect();
        if !shown.is_empty() {
            return shown.join("\n\n");
        }
        let all = self.fewest.join("\n\n");
        if self.fewest.iter().all(|error| code(error).is_none()) {
            return all;
        }
        format!(
            "{all}\n\nthese errors depend on the assumed hardware: `--platform` and `--os` set other hardware"
        )
    }
}

/// Splits a text into errors.
fn split_errors(text: &str) -> Vec<&str> {
    let mut starts: Vec<usize> = text.match_indices("error[").map(|(at, _)| at).collect();
    starts.retain(|at| *at == 0 || text[..*at].ends_with('\n'));
    if starts.is_empty() {
        return vec![text.trim_end()];
    }
    let ends = starts.iter().skip(1).copied().chain([text.len()]);
    starts.iter().zip(ends).map(|(start, end)| text[*start..end].trim_end()).collect()
}

/// Returns the code of an error.
fn code(error: &str) -> Option<&str> {
    Some(error.strip_prefix("error[")?.split_once(']')?.0)
}

#[cfg(test)]
mod tests {
    use super::Refusals;

    #[test]
    fn errors_of_assumed_hardware_are_omitted() {
        let mut refusals = Refusals::default();
        refusals.add("error[E0311]: needs a T2 tier\n  |\n\nerror[E0602]: copper is too long\n  |\n");
        refusals
            .add("error[E0213]: no segments\n\nerror[E0311]: needs a T2 tier\n\nerror[E0602]: too long\n");
        assert!(refusals.text().contains("E0602"), "both have it");
        refusals.add("error[E0311]: needs a T2 tier\n\nerror[E0213]: no segments\n");
        assert_eq!(refusals.text(), "error[E0311]: needs a T2 tier\n  |");
        refusals.add("error[E0203]: too few ports\n\nerror[E0205]: other speed\n\nerror[E0602]: too long\n");
        assert!(refusals.text().contains("E0602") && refusals.text().contains("--platform"));
    }
}
