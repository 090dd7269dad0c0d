//! Scenario files: faults, repairs, and the expectations for a job.
//!
//! In: the text of a YAML file. Out: a [`Scenario`], or the first error with its line and column. Invariants: unknown
//! keys, duplicate keys and times out of order are rejected. Parsing time and memory are bounded.

use std::collections::BTreeSet;
use std::fmt;
use std::time::Duration;

use serde::Deserialize;
use serde_saphyr::{DuplicateKeyPolicy, Error, Location, Options, Spanned};

use crate::lab::fault::Fault;

/// Maximum size of a file in bytes.
pub const BYTES_MAX: u64 = 64 << 10;
/// Maximum number of steps.
pub(crate) const STEPS_MAX: usize = 500;
/// Smaller MTUs would stop neighbour discovery and probes, which is equivalent to a cut.
const MTU_MIN: u16 = 128;
/// Maximum duration of a job.
const DURATION_MAX: Duration = Duration::from_hours(1);
/// Earliest time of a fault. Goodput before that time is the reference.
pub(crate) const QUIET: Duration = Duration::from_secs(1);

/// A scenario.
#[derive(Debug, Clone, PartialEq)]
pub struct Scenario {
    /// Title for reports.
    pub title: String,
    /// Time for which new messages are sent.
    pub duration: Duration,
    /// Steps, in the order of time.
    pub steps: Vec<Step>,
    /// Expectations on kernel switches, where the machine may be loaded.
    pub expect: Expect,
    /// Expectations in virtual time. Values default to those of `expect`.
    pub in_virtual_time: Expect,
}

/// A step.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// Time after the first message.
    pub at: Duration,
    /// Line and column.
    pub place: (u64, u64),
    /// The action.
    pub action: Action,
}

/// Actions of steps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// Injects a fault.
    Break(Fault),
    /// Repairs all faults, or those with these names.
    Restore(Option<String>),
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Action::Break(fault) => fault.fmt(f),
            Action::Restore(None) => f.write_str("all restored"),
            Action::Restore(Some(name)) => write!(f, "{name} restored"),
        }
    }
}

/// Expectations; absent ones are not checked.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Expect {
    /// Maximum number of lost messages.
    pub lost_messages: Option<u64>,
    /// Minimum goodput of every phase, in percent of the goodput before the first step.
    pub goodput_min_percent: Option<f64>,
    /// Minimum goodput of every phase, in percent of the expected goodput.
    pub goodput_of_plan_percent: Option<f64>,
    /// Maximum time from a step until goodput is as expected.
    pub recovered_within: Option<Duration>,
    /// Maximum duration of a message.
    pub slowest_message: Option<Duration>,
    /// Maximum time for which a path may still be used after the first sign of a loss on it.
    pub left_within: Option<Duration>,
}

/// An error in a file, with its place.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{line}:{column}: {message}")]
pub struct ScenarioFault {
    /// Line, from 1.
    pub line: u64,
    /// Column, from 1.
    pub column: u64,
    /// The error, and the text to write instead.
    pub message: String,
}

impl ScenarioFault {
    pub(crate) fn at((line, column): (u64, u64), what: impl Into<String>) -> Self {
        ScenarioFault { line: line.max(1), column: column.max(1), message: what.into() }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    title: Option<String>,
    duration: Spanned<String>,
    #[serde(default)]
    steps: Vec<Spanned<StepFile>>,
    #[serde(default)]
    expect: ExpectFile,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StepFile {
    at: Spanned<String>,
    #[serde(default)]
    cut: Option<Spanned<String>>,
    #[serde(default)]
    loss: Option<LossFile>,
    #[serde(default)]
    mtu: Option<MtuFile>,
    #[serde(default)]
    miswire: Option<Spanned<Vec<String>>>,
    #[serde(default)]
    plane: Option<Spanned<u8>>,
    #[serde(default, rename = "nic-port")]
    nic_port: Option<Spanned<String>>,
    #[serde(default)]
    restore: Option<Spanned<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LossFile {
    cable: Spanned<String>,
    percent: Spanned<f64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MtuFile {
    cable: Spanned<String>,
    bytes: Spanned<u16>,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
struct ExpectFile {
    lost_messages: Option<u64>,
    goodput_min_percent: Option<Spanned<f64>>,
    goodput_of_plan_percent: Option<Spanned<f64>>,
    recovered_within: Option<Spanned<String>>,
    slowest_message: Option<Spanned<String>>,
    left_within: Option<Spanned<String>>,
    virtual_time: Option<VirtualFile>,
}

/// Expectations in virtual time.
#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
struct VirtualFile {
    goodput_min_percent: Option<Spanned<f64>>,
    goodput_of_plan_percent: Option<Spanned<f64>>,
    recovered_within: Option<Spanned<String>>,
    slowest_message: Option<Spanned<String>>,
    left_within: Option<Spanned<String>>,
}

impl Scenario {
    /// Returns a scenario without faults.
    pub fn quiet(duration: Duration) -> Scenario {
        Scenario {
            title: String::new(),
            duration,
            steps: Vec::new(),
            expect: Expect::default(),
            in_virtual_time: Expect::default(),
        }
    }

    /// Reads the text of a file.
    pub fn parse(text: &str) -> Result<Scenario, ScenarioFault> {
        if text.len() as u64 > BYTES_MAX {
            return Err(ScenarioFault::at((1, 1), format!("a scenario has at most {BYTES_MAX} bytes")));
        }
        if text.trim().is_empty() {
            return Err(ScenarioFault::at((1, 1), "the file is empty: `duration` is missing"));
        }
        let file: File = serde_saphyr::from_str_with_options(text, options()).map_err(|e| fault(&e))?;
        let duration = time(&file.duration)?;
        if duration < QUIET || duration > DURATION_MAX {
            return Err(at(&file.duration, "expected a duration of 1s to 60m"));
        }
        if let Some(one_more) = file.steps.get(STEPS_MAX) {
            return Err(at(one_more, format!("a scenario has at most {STEPS_MAX} steps")));
        }
        let mut steps = Vec::with_capacity(file.steps.len());
        let mut last = QUIET;
        for step in &file.steps {
            let when = time(&step.value.at)?;
            if when < last {
                let least = if steps.is_empty() {
                    "goodput is compared with the first second: write the first step at 1s or \
                     later"
                        .to_owned()
                } else {
                    format!("the previous step is at {last:?}: write steps in order of time")
                };
                return Err(at(&step.value.at, least));
            }
            if when > duration {
                return Err(at(
                    &step.value.at,
                    format!("the job ends at {duration:?}: write a longer `duration`"),
                ));
            }
            last = when;
            steps.push(Step { at: when, place: place(step.defined), action: action(step)? });
        }
        let title = file.title.unwrap_or_default();
        if title.chars().any(char::is_control) {
            return Err(ScenarioFault::at((1, 1), "the title is one printable line"));
        }
        let expect = expect(&file.expect)?;
        let in_virtual_time = virtual_expectations(&expect, file.expect.virtual_time.as_ref())?;
        Ok(Scenario { title, duration, steps, expect, in_virtual_time })
    }
}

fn options() -> Options {
    serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_depth: 8,
            max_nodes: 20_000,
            max_events: 80_000,
            max_aliases: 0,
            max_anchors: 0,
        },
        duplicate_keys: DuplicateKeyPolicy::Error,
        strict_booleans: true,
        reject_unsupported_tags: true,
        with_snippet: false,
    }
}

fn place(location: Location) -> (u64, u64) {
    (location.line(), location.column())
}

fn at<T>(value: &Spanned<T>, what: impl Into<String>) -> ScenarioFault {
    ScenarioFault::at(place(value.defined), what)
}

/// Converts the first error of the parser to terms of the file.
fn fault(error: &Error) -> ScenarioFault {
    let place = error.location().map_or((1, 1), |location| (location.line(), location.column()));
    let list = |expected: &[&str]| expected.join("`, `");
    let what = match error.without_snippet() {
        Error::SerdeUnknownField { field, expected, .. } => {
            format!("unknown key `{field}`; expected one of `{}`", list(expected))
        }
        Error::SerdeMissingField { field, .. } => format!("`{field}` is missing"),
        Error::SerdeInvalidType { unexpected, expected, .. }
        | Error::SerdeInvalidValue { unexpected, expected, .. } => {
            format!("found {unexpected}; expected {expected}")
        }
        Error::InvalidScalar { ty, .. } => {
            let expected = match *ty {
                "u8" => "a whole number from 0 to 255",
                "u16" => "a whole number from 0 to 65535",
                "u32" | "u64" => "a whole number from 0",
                "f32" | "f64" => "a number",
                other => other,
            };
            format!("expected {expected}")
        }
        Error::DuplicateMappingKey { .. } => "this key appears twice".to_owned(),
        Error::Message { msg, .. } => msg.clone(),
        other => other.to_string().lines().next().unwrap_or_default().to_owned(),
    };
    ScenarioFault::at(place, what)
}

/// Reads `500ms`, `2s`, `1.5s`, `1m`.
fn time(written: &Spanned<String>) -> Result<Duration, ScenarioFault> {
    let text = written.value.trim();
    let digits = text.trim_end_matches(|sign: char| sign.is_ascii_alphabetic());
    let factor = match &text[digits.len()..] {
        "us" => Some(1e-6),
        "ms" => Some(1e-3),
        "s" => Some(1.0),
        "m" => Some(60.0),
        _ => None,
    };
    let plain = digits.bytes().all(|sign| sign.is_ascii_digit() || sign == b'.');
    let number = digits.parse::<f64>().ok().filter(|_| plain);
    let seconds = number.zip(factor).map(|(number, factor)| number * factor);
    let fits = seconds.filter(|seconds| *seconds <= DURATION_MAX.as_secs_f64());
    fits.map(Duration::from_secs_f64).ok_or_else(|| {
        at(written, format!("`{text}` is not a time of at most one hour: write `500ms`, `2s` or `1m`"))
    })
}

/// Reads the action of a step.
fn action(step: &Spanned<StepFile>) -> Result<Action, ScenarioFault> {
    let s = &step.value;
    let mut found: Vec<Fault> = Vec::new();
    if let Some(name) = &s.cut {
        found.push(Fault::Cut(parse_name(name)?));
    }
    if let Some(loss) = &s.loss {
        found.push(lossy(loss)?);
    }
    if let Some(mtu) = &s.mtu {
        found.push(narrow(mtu)?);
    }
    if let Some(cables) = &s.miswire {
        let [a, b] = cables.value.as_slice() else {
            let count = cables.value.len();
            return Err(at(
                cables,
                format!("`miswire` swaps two cables, but the list has {count}: write `[cable, cable]`"),
            ));
        };
        if a == b {
            return Err(at(cables, format!("`{a}` cannot be swapped with itself")));
        }
        found.push(Fault::Miswire(a.clone(), b.clone()));
    }
    if let Some(plane) = &s.plane {
        found.push(Fault::Plane(plane.value));
    }
    if let Some(name) = &s.nic_port {
        found.push(Fault::NicPort(parse_name(name)?));
    }
    let mut found: Vec<Action> = found.into_iter().map(Action::Break).collect();
    if let Some(name) = &s.restore {
        let name = parse_name(name)?;
        found.push(Action::Restore((name != "all").then_some(name)));
    }
    if found.len() > 1 {
        return Err(at(
            step,
            format!("a step has one action, but this one has {}: write one step per action", found.len()),
        ));
    }
    let words = "`cut`, `loss`, `mtu`, `miswire`, `plane`, `nic-port` or `restore`";
    found.pop().ok_or_else(|| at(step, format!("this step has no action: write {words}")))
}

fn lossy(loss: &LossFile) -> Result<Fault, ScenarioFault> {
    let percent = loss.percent.value;
    if !(percent > 0.0 && percent <= 100.0) {
        return Err(at(
            &loss.percent,
            format!("{percent} is not a loss; expected a percentage above 0, at most 100"),
        ));
    }
    let parts = percent * 1e4;
    // A percentage with up to four decimals is an integer number of millionths, except for rounding errors of floats.
    if parts < 0.5 || (parts - parts.round()).abs() > 1e-6 {
        return Err(at(
            &loss.percent,
            format!(
                "a loss of {percent} % is not possible; expected a multiple of 0.0001 (one packet in a \
                 million)"
            ),
        ));
    }
    let ppm = parts.round() as u32;
    Ok(Fault::Loss { cable: parse_name(&loss.cable)?, ppm })
}

fn narrow(mtu: &MtuFile) -> Result<Fault, ScenarioFault> {
    let bytes = mtu.bytes.value;
    if bytes < MTU_MIN {
        let least = format!("{bytes} bytes are too few: write at least {MTU_MIN}, or `cut` the cable");
        return Err(at(&mtu.bytes, least));
    }
    Ok(Fault::Mtu { cable: parse_name(&mtu.cable)?, bytes })
}

fn parse_name(name: &Spanned<String>) -> Result<String, ScenarioFault> {
    let text = name.value.trim();
    if text.is_empty() || text.len() > 128 || text.chars().any(char::is_control) {
        return Err(at(name, "expected the name of a switch or cable"));
    }
    Ok(text.to_owned())
}

fn expect(file: &ExpectFile) -> Result<Expect, ScenarioFault> {
    Ok(Expect {
        lost_messages: file.lost_messages,
        goodput_min_percent: percent(file.goodput_min_percent.as_ref())?,
        goodput_of_plan_percent: percent(file.goodput_of_plan_percent.as_ref())?,
        recovered_within: file.recovered_within.as_ref().map(time).transpose()?,
        slowest_message: file.slowest_message.as_ref().map(time).transpose()?,
        left_within: file.left_within.as_ref().map(time).transpose()?,
    })
}

/// Returns the expectations in virtual time: the values of `virtual_time`, completed with those for every job.
fn virtual_expectations(expect: &Expect, file: Option<&VirtualFile>) -> Result<Expect, ScenarioFault> {
    let Some(file) = file else { return Ok(expect.clone()) };
    let time = |written: &Option<Spanned<String>>| written.as_ref().map(time).transpose();
    Ok(Expect {
        lost_messages: expect.lost_messages,
        goodput_min_percent: percent(file.goodput_min_percent.as_ref())?.or(expect.goodput_min_percent),
        goodput_of_plan_percent: percent(file.goodput_of_plan_percent.as_ref())?
            .or(expect.goodput_of_plan_percent),
        recovered_within: time(&file.recovered_within)?.or(expect.recovered_within),
        slowest_message: time(&file.slowest_message)?.or(expect.slowest_message),
        left_within: time(&file.left_within)?.or(expect.left_within),
    })
}

fn percent(written: Option<&Spanned<f64>>) -> Result<Option<f64>, ScenarioFault> {
    match written {
        Some(p) if !(0.0..=100.0).contains(&p.value) => {
            Err(at(p, format!("{} is not a percentage; expected 0 to 100", p.value)))
        }
        Some(p) => Ok(Some(p.value)),
        None => Ok(None),
    }
}

/// Lists the names of a scenario's faults, for messages about `restore`.
pub(crate) fn names(broken: &BTreeSet<String>) -> String {
    if broken.is_empty() {
        return "there is no fault at that time".to_owned();
    }
    format!("faults at that time: `{}`", broken.iter().map(String::as_str).collect::<Vec<_>>().join("`, `"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: &str = "title: everything\nduration: 12s\nsteps:\n  - at: 2s\n    cut: p0-t1-003\n  \
        - { at: 2500ms, loss: { cable: p1-t0-001--p1-t1-002, percent: 0.5 } }\n  \
        - { at: 2600ms, mtu: { cable: c, bytes: 1300 } }\n  \
        - { at: 3s, miswire: [a, b] }\n  - { at: 4s, plane: 3 }\n  - { at: 5s, nic-port: n/nic0.p1 }\n  \
        - { at: 6s, restore: p0-t1-003 }\n  - { at: 0.2m, restore: all }\nexpect:\n  lost_messages: 0\n  \
        goodput_min_percent: 80\n  goodput_of_plan_percent: 98.5\n  recovered_within: 500ms\n  slowest_message: 1s\n  left_within: 20ms\n  \
        virtual_time: { goodput_of_plan_percent: 99, left_within: 1ms }\n";

    #[test]
    fn everything_that_can_be_written_is_read() {
        let scenario = Scenario::parse(ALL).unwrap();
        assert_eq!((scenario.title.as_str(), scenario.duration), ("everything", Duration::from_secs(12)));
        let actions: Vec<String> = scenario.steps.iter().map(|step| step.action.to_string()).collect();
        assert_eq!(
            actions,
            [
                "p0-t1-003 cut",
                "p1-t0-001--p1-t1-002 loses 0.5 %",
                "c loses packets above 1300 bytes",
                "a and b swapped",
                "plane 3 down",
                "NIC port n/nic0.p1 down",
                "p0-t1-003 restored",
                "all restored"
            ]
        );
        assert_eq!(scenario.steps[1].at, Duration::from_millis(2500));
        assert_eq!(scenario.steps[1].place, (6, 5));
        let expect = Expect {
            lost_messages: Some(0),
            goodput_min_percent: Some(80.0),
            goodput_of_plan_percent: Some(98.5),
            recovered_within: Some(Duration::from_millis(500)),
            slowest_message: Some(Duration::from_secs(1)),
            left_within: Some(Duration::from_millis(20)),
        };
        assert_eq!(scenario.expect, expect);
        let left_within = Some(Duration::from_millis(1));
        let apart = Expect { goodput_of_plan_percent: Some(99.0), left_within, ..expect };
        assert_eq!(scenario.in_virtual_time, apart);
    }

    #[test]
    fn what_is_wrong_is_said_with_its_place() {
        let cases = [
            ("duration: 2s\nspeed: 3\n", "2:1: unknown key `speed`"),
            ("title: x\n", "`duration` is missing"),
            ("duration: soon\n", "1:11: `soon` is not a time"),
            ("duration: 2h\n", "1:11: `2h` is not a time"),
            ("duration: 1e3s\n", "1:11: `1e3s` is not a time"),
            ("duration: 100ms\n", "1:11: expected a duration of 1s to 60m"),
            ("duration: 9s\nsteps:\n  - at: 2s\n    cut: a\n    plane: 1\n", "3:5: a step has one action"),
            ("duration: 9s\nsteps:\n  - at: 2s\n", "3:5: this step has no action"),
            ("duration: 9s\nsteps:\n  - { at: 500ms, cut: a }\n", "3:11: goodput is compared with"),
            (
                "duration: 9s\nsteps:\n  - { at: 3s, cut: a }\n  - { at: 2s, cut: b }\n",
                "4:11: the previous step is at 3s",
            ),
            ("duration: 2s\nsteps:\n  - { at: 3s, cut: a }\n", "3:11: the job ends at 2s"),
            (
                "duration: 9s\nsteps:\n  - { at: 2s, loss: { cable: a, percent: 0 } }\n",
                "3:42: 0 is not a loss",
            ),
            ("duration: 9s\nsteps:\n  - { at: 2s, loss: { cable: a, percent: .nan } }\n", "is not a loss"),
            (
                "duration: 9s\nsteps:\n  - { at: 2s, loss: { cable: a, percent: 1e-9 } }\n",
                "multiple of 0.0001",
            ),
            (
                "duration: 9s\nsteps:\n  - { at: 2s, loss: { cable: a, percent: 0.00015 } }\n",
                "a multiple of 0.0001",
            ),
            (
                "duration: 9s\nsteps:\n  - { at: 2s, mtu: { cable: a, bytes: 60 } }\n",
                "3:39: 60 bytes are too few",
            ),
            ("duration: 9s\nsteps:\n  - { at: 2s, miswire: [a] }\n", "3:24: `miswire` swaps two cables"),
            ("duration: 9s\nsteps:\n  - { at: 2s, miswire: [a, a] }\n", "`a` cannot be swapped"),
            ("duration: 9s\nsteps:\n  - { at: 2s, plane: 300 }\n", "3:22: "),
            ("duration: 9s\nexpect: { goodput_min_percent: 101 }\n", "2:32: 101 is not a percentage"),
            ("duration: 9s\nduration: 8s\n", "2:1: this key appears twice"),
            ("duration: 9s\ntitle: &a x\n", "1:1: "),
            ("", "`duration` is missing"),
        ];
        for (text, wanted) in cases {
            let said = Scenario::parse(text).unwrap_err().to_string();
            assert!(
                said.contains(wanted.trim_start_matches("1:1: ")),
                "{text}\nsaid:   {said}\nwanted: {wanted}"
            );
        }
    }

    #[test]
    fn a_file_is_bounded() {
        let many: String = (0..=STEPS_MAX).map(|_| "  - { at: 2s, cut: a }\n").collect();
        let said = Scenario::parse(&format!("duration: 9s\nsteps:\n{many}")).unwrap_err().to_string();
        assert!(said.contains("at most 500 steps"), "{said}");
        let long = format!("title: {}\nduration: 2s\n", "x".repeat(BYTES_MAX as usize));
        assert!(Scenario::parse(&long).unwrap_err().to_string().contains("bytes"));
        let deep = format!("duration: 9s\ntitle: {}\n", "[".repeat(2000));
        assert!(Scenario::parse(&deep).is_err());
    }
}
