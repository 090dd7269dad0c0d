//! The verdicts on a server, by section.

use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::Serialize;

use crate::corners::Corner;
use crate::section::Section;

/// The verdict on one corner.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "verdict", content = "reason")]
pub enum Verdict {
    /// The server does what the specification states.
    Passed,
    /// The server deviates from the specification. The reason is its answer.
    Failed(String),
    /// The server lacks an optional feature, or the program has no object to test.
    NotApplicable(String),
}

/// One corner.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct CornerResult {
    /// A stable name.
    pub id: &'static str,
    /// The rule that is tested.
    pub rule: &'static str,
    /// The verdict.
    #[serde(flatten)]
    pub verdict: Verdict,
    #[serde(skip)]
    section: Section,
}

impl CornerResult {
    pub(crate) fn new(corner: &Corner, verdict: Verdict) -> Self {
        CornerResult { id: corner.id, rule: corner.rule, verdict, section: corner.section }
    }
}

/// The corners of one section.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct SectionResult {
    /// Number in the specification.
    pub number: &'static str,
    /// Title in the specification.
    pub title: &'static str,
    /// Corners that passed.
    pub passed: usize,
    /// Corners that failed.
    pub failed: usize,
    /// Corners that do not apply.
    pub not_applicable: usize,
    /// The corners in their order.
    pub corners: Vec<CornerResult>,
}

/// The verdicts on a server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct Report {
    /// The address of the server.
    pub address: String,
    /// The device that was tested.
    pub device: u64,
    /// The version of the API that the server reports, if any.
    pub api_version: Option<String>,
    /// The version of the specification that is tested.
    pub specification: &'static str,
    /// Corners that passed.
    pub passed: usize,
    /// Corners that failed.
    pub failed: usize,
    /// Corners that do not apply.
    pub not_applicable: usize,
    /// The sections in the order of the specification.
    pub sections: Vec<SectionResult>,
}

/// Counts the corners that passed, that failed and that are not applicable.
fn count<'c>(corners: impl Iterator<Item = &'c CornerResult>) -> (usize, usize, usize) {
    corners.fold((0, 0, 0), |(passed, failed, without), corner| match corner.verdict {
        Verdict::Passed => (passed + 1, failed, without),
        Verdict::Failed(_) => (passed, failed + 1, without),
        Verdict::NotApplicable(_) => (passed, failed, without + 1),
    })
}

impl Report {
    pub(crate) fn new(
        address: String,
        device: u64,
        api_version: Option<String>,
        results: &[CornerResult],
    ) -> Self {
        let (passed, failed, not_applicable) = count(results.iter());
        let of_section = |section: &Section| {
            let corners: Vec<CornerResult> =
                results.iter().filter(|corner| corner.section == *section).cloned().collect();
            let (passed, failed, not_applicable) = count(corners.iter());
            let (number, title) = (section.number(), section.title());
            (!corners.is_empty()).then_some(SectionResult {
                number,
                title,
                passed,
                failed,
                not_applicable,
                corners,
            })
        };
        let sections = Section::ALL.iter().filter_map(of_section).collect();
        let specification = "1.5.0";
        Report { address, device, api_version, specification, passed, failed, not_applicable, sections }
    }

    /// Returns the corners that failed, with the reasons.
    pub fn failures(&self) -> impl Iterator<Item = (&CornerResult, &str)> {
        let corners = self.sections.iter().flat_map(|section| &section.corners);
        corners.filter_map(|corner| match &corner.verdict {
            Verdict::Failed(reason) => Some((corner, reason.as_str())),
            Verdict::Passed | Verdict::NotApplicable(_) => None,
        })
    }

    /// Returns a table with a row for each section, then the corners that failed; with `all` every corner.
    pub fn show(&self, all: bool) -> String {
        let mut text = String::new();
        let title = "section";
        let _ = writeln!(text, "{title:<48} passed  failed  not applicable");
        for section in &self.sections {
            let name = format!("{:<6} {}", section.number, section.title);
            let SectionResult { passed, failed, not_applicable, .. } = section;
            let _ = writeln!(text, "{name:<48} {passed:>6}  {failed:>6}  {not_applicable:>14}");
        }
        let total = format!("P4Runtime {}", self.specification);
        let (passed, failed, without) = (self.passed, self.failed, self.not_applicable);
        let _ = writeln!(text, "{total:<48} {passed:>6}  {failed:>6}  {without:>14}");
        for section in &self.sections {
            for corner in &section.corners {
                let (word, reason) = match &corner.verdict {
                    Verdict::Failed(reason) => ("failed", reason.as_str()),
                    Verdict::Passed if all => ("passed", ""),
                    Verdict::NotApplicable(reason) if all => ("not applicable", reason.as_str()),
                    Verdict::Passed | Verdict::NotApplicable(_) => continue,
                };
                let _ = writeln!(text, "\n{word}: {} ({})\n  {}", corner.id, section.number, corner.rule);
                if !reason.is_empty() {
                    let _ = writeln!(text, "  {reason}");
                }
            }
        }
        text
    }
}
