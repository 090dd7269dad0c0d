//! Folds similar parts of a report: values in one section of the file, and waves that differ only in their
//! plane.
//!
//! In: lines or waves. Out: fewer lines. Invariants: every line is shown or counted. Waves are equal if they
//! differ only in their plane and in names.

use std::collections::BTreeMap;

use crate::report::{Line, Report, Sign, Wave};
use crate::rollout::Seconds;

/// Minimum number of lines in a section for folding.
const FOLDED: usize = 6;

/// Splits lines into main lines, warnings first, and lines that a main line only counts.
pub(super) fn rank_lines(lines: &[Line]) -> (Vec<Line>, Vec<Line>) {
    let mut sections: BTreeMap<&str, Vec<&Line>> = BTreeMap::new();
    for line in lines {
        if let Some(section) = section(line) {
            sections.entry(section).or_default().push(line);
        }
    }
    sections.retain(|_, lines| lines.len() >= FOLDED);
    let is_folded = |line: &Line| section(line).is_some_and(|section| sections.contains_key(section));
    let mut main: Vec<Line> = lines.iter().filter(|line| !is_folded(line)).cloned().collect();
    main.extend(sections.iter().map(|(section, lines)| count_line(section, lines)));
    // The values of a QoS profile are many and follow from its name, so they come last.
    main.sort_by_key(|line| (line.warning.is_none(), line.subject.starts_with("qos.")));
    (main, sections.into_values().flatten().cloned().collect())
}

/// Returns the section of a line: the first two components of a path with more than two. Warnings are never
/// folded.
fn section(line: &Line) -> Option<&str> {
    let (end, _) = line.subject.match_indices('.').nth(1)?;
    line.warning.is_none().then(|| &line.subject[..end])
}

fn count_line(section: &str, lines: &[&Line]) -> Line {
    let part = |sign: Sign, word: &str| {
        let count = lines.iter().filter(|line| line.sign == sign).count();
        (count > 0).then(|| format!("{count} {word}"))
    };
    let parts = [part(Sign::Add, "added"), part(Sign::Change, "changed"), part(Sign::Remove, "removed")];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    Line {
        sign: Sign::Change,
        subject: section.to_owned(),
        text: format!("{} values: {}", lines.len(), parts.join(", ")),
        count: lines.len() as u64,
        warning: None,
        names: Vec::new(),
    }
}

/// Returns the number of planes in the longest run of consecutive equal waves.
pub(super) fn equal_planes(report: &Report) -> usize {
    runs(&report.waves).iter().map(|run| run.len()).max().unwrap_or(0)
}

/// Returns the lines about waves, with waves of equal planes folded.
pub(super) fn waves(report: &Report) -> Vec<String> {
    let mut lines: Vec<String> = report.no_waves.iter().map(|why| format!("none: {why}")).collect();
    let mut first = 1;
    for run in runs(&report.waves) {
        let (wave, time) = (&run[0], Seconds(run[0].seconds));
        let last = first + run.len() - 1;
        lines.push(if first == last {
            format!("wave {first} ({time}): {}", wave.text)
        } else {
            let planes: Vec<String> =
                run.iter().filter_map(|wave| wave.plane).map(|plane| plane.to_string()).collect();
            let planes = planes.join(", ");
            format!(
                "waves {first} to {last} ({time} each), one per plane ({planes}); the first: {}",
                wave.text
            )
        });
        first = last + 1;
        lines.extend(wave.steps.iter().map(|step| format!("  {}", step.text)));
        if !wave.back.is_empty() {
            let back: Vec<&str> = wave.back.iter().map(|step| step.text.as_str()).collect();
            lines.push(format!("  rollback: {}", back.join("; ")));
        }
    }
    if !report.waves.is_empty() {
        let seconds = report.waves.iter().map(|wave| wave.seconds).sum();
        lines.push(format!("in all about {}", Seconds(seconds)));
    }
    lines
}

/// Groups consecutive equal waves.
fn runs(waves: &[Wave]) -> Vec<&[Wave]> {
    let is_equal =
        |one: &Wave, other: &Wave| one.plane.is_some() && other.plane.is_some() && shape(one) == shape(other);
    waves.chunk_by(is_equal).collect()
}

/// Returns the properties of a wave that do not depend on its plane or on names.
fn shape(wave: &Wave) -> (Vec<String>, [usize; 4], u64, bool) {
    let plane = wave.plane.map_or_else(String::new, |plane| format!("plane {plane}"));
    let plain = |text: &String| {
        let outside: String = text.split('`').step_by(2).collect();
        outside.replace(&plane, "plane")
    };
    let steps = wave.steps.iter().chain(&wave.back).map(|step| &step.text);
    let texts = std::iter::once(&wave.text).chain(steps).map(plain).collect();
    let counts = [&wave.drained, &wave.gone, &wave.apart, &wave.switches].map(Vec::len);
    (texts, counts, wave.seconds, wave.at_most)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(subject: &str, warning: Option<&str>) -> Line {
        Line {
            sign: Sign::Add,
            subject: subject.to_owned(),
            text: "1".to_owned(),
            count: 1,
            warning: warning.map(str::to_owned),
            names: Vec::new(),
        }
    }

    #[test]
    fn sections_are_counted_and_warnings_are_first() {
        let mut lines: Vec<Line> = (0..40).map(|at| line(&format!("qos.classes.{at}.dscp"), None)).collect();
        lines.push(line("qos.name", None));
        lines.push(line("cables", Some("they must be unplugged")));
        let (main, rest) = rank_lines(&lines);
        let subjects: Vec<&str> = main.iter().map(|line| line.subject.as_str()).collect();
        assert_eq!(subjects, ["cables", "qos.name", "qos.classes"]);
        assert_eq!(main[2].text, "40 values: 40 added");
        assert_eq!(rest.len(), 40);
    }
}
