//! A rule: a condition that is checked, with the text that explains it.
//!
//! Rules are constants beside the check that uses them. Codes are permanent: the code of a retired rule is
//! never reused.

use std::fmt;

/// A rule: its stable code, and the page that `closc explain CODE` prints.
#[derive(Debug, PartialEq, Eq)]
pub struct Rule {
    /// The stable code: four digits after `E` for errors, `W` for warnings, or `V` for findings in a compiled tree.
    pub code: &'static str,
    /// A title of a few words, lower case, without a full stop.
    pub title: &'static str,
    /// The condition that is checked.
    pub condition: &'static str,
    /// The impact on the network if the rule is broken.
    pub impact: &'static str,
    /// A short YAML fragment that breaks the rule.
    pub example: &'static str,
    /// The fix.
    pub fix: &'static str,
}

impl Rule {
    /// Returns the page as Markdown, with the same text as in the documentation.
    pub fn page(&self) -> String {
        format!(
            "# {}: {}\n\n## What it checks\n\n{}\n\n## Why it matters\n\n{}\n\n## Example\n\n```yaml\n{}\n```\n\n## Fix\n\n{}\n",
            self.code,
            self.title,
            self.condition.trim(),
            self.impact.trim(),
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
