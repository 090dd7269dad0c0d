//! A rule: one thing that is checked, with the text that explains it.
//!
//! Rules are constants that stand beside the check that uses them. A code is for ever: it is never given to
//! another check, and what is retired keeps its number.

use std::fmt;

/// One check: its stable code and the page `closc explain CODE` prints.
#[derive(Debug, PartialEq, Eq)]
pub struct Rule {
    /// The stable code: four digits behind `E` for errors, `W` for warnings, `V` for what a compiled tree breaks.
    pub code: &'static str,
    /// A title of a few words, lower case, without a full stop.
    pub title: &'static str,
    /// Checked values.
    pub what: &'static str,
    /// Why it matters to the network that would have been built.
    pub why: &'static str,
    /// A short YAML fragment that breaks the rule.
    pub example: &'static str,
    /// Remedy.
    pub fix: &'static str,
}

impl Rule {
    /// Returns the page as Markdown, the same text as the documentation has.
    pub fn page(&self) -> String {
        format!(
            "# {}: {}\n\n## What it checks\n\n{}\n\n## Why it matters\n\n{}\n\n## Example\n\n```yaml\n{}\n```\n\n## Fix\n\n{}\n",
            self.code,
            self.title,
            self.what.trim(),
            self.why.trim(),
            self.example.trim_matches('\n'),
            self.fix.trim()
        )
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code)
    }
}
