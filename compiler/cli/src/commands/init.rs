//! `closc init`: creates a commented fabric file for a NIC count.
//!
//! In: numbers, from options or, on a terminal, from answers. Out: the file of a design. Invariants: designs are
//! those of `closc design`, so the checks find only known faults of releases. Known faults are printed. So are a
//! later release that the file needs, and an assumed limit that the design exceeds.

use std::io::{IsTerminal as _, stdin};

use anyhow::{Context as _, bail};
use clap::Args as _;
use closc_design::{Criteria, Limits, Media, Ratio, Requirements, SearchError};
use closc_diagnostics::figures::format_count;
use closc_platform::{Catalogue, Os};
use closc_qos::units::Speed;
use schemars::JsonSchema;
use serde::Serialize;

use super::design::{self, Designs, ROUTINGS, Row, SearchInput};
use crate::args::basics::{InitArgs, List};
use crate::args::design::{Objective, oses as hardware};
use crate::args::{Args, Format, verbs};
use crate::input;
use crate::output::{self, Document, OptionsError, Outcome};

/// The file that was written.
pub(crate) const INIT: Document<InitOutput> = Document::new("closc-init/2");

/// Number of designs that the user can choose from.
const SHOWN: u8 = 3;

/// Number of designs found, from which `init` selects those that the user can choose from.
const LISTED: u8 = u8::MAX;

/// Writes a file.
pub(super) fn run(args: &Args, command: &InitArgs) -> anyhow::Result<Outcome> {
    if args.levels.has_any() {
        bail!(design::LEVELS);
    }
    output::reject_existing(&command.out, command.force)?;
    let Some(catalogue) = input::catalogue(args)? else { return Ok(Outcome::Failed) };
    let answers = Answers::of(command);
    let need = need(command, answers, &catalogue)?;
    let is_reported = !args.quiet && args.format != Format::Json;
    let compares = is_reported || answers.is_page(command);
    let found = search_designs(args, (&need, compares), &catalogue)?;
    let picked = pick(command, answers, &found)?;
    output::replace(&command.out, &picked.file)?;
    print_result(args, command, picked)?;
    if is_reported {
        report_unreleased_design(&found, picked);
        suggest_routing(&found, picked);
    }
    Ok(Outcome::Fine)
}

/// Returns the designs. With `compares`, the search covers all routings, and lists the designs of the wanted one.
fn search_designs(
    args: &Args,
    (need, compares): (&Requirements, bool),
    catalogue: &Catalogue,
) -> anyhow::Result<Designs> {
    let (compared, objective) = (Criteria::default(), Objective::Balanced);
    let asked =
        SearchInput { need, catalogue, criteria: compared, objective, stages: &[], listed_routing: None };
    if compares {
        let every = Requirements { routings: ROUTINGS.to_vec(), ..need.clone() };
        let asked = SearchInput { need: &every, listed_routing: need.routings.first().copied(), ..asked };
        if let Ok(found) = design::find_designs(args, &asked, LISTED) {
            return Ok(with_usual(found));
        }
    }
    // If no design exists, the error gives the reason for the requested routing.
    design::find_designs(args, &asked, LISTED).map(with_usual)
}

/// Keeps the designs to choose from. Those whose parallel cables need a later release are removed if others exist.
/// The first design has the least capacity, which is the objective of the search. Designs that exceed an assumed limit
/// come after all others. The design with the fewest switches is always kept, because the page prints their number.
fn with_usual(mut found: Designs) -> Designs {
    let fewest = found.designs.iter().min_by_key(|design| design.switches).cloned();
    if found.designs.iter().any(|design| !design.needs_locators) {
        found.designs.retain(|design| !design.needs_locators);
        let best = found
            .designs
            .iter()
            .enumerate()
            .min_by_key(|(_, design)| (design.assumed.is_some(), design.capacity_gbps, design.switches));
        if let Some((best, _)) = best {
            found.designs[..=best].rotate_right(1);
        }
    }
    let count = usize::from(SHOWN);
    let is_shown = |wanted: &Row| found.designs.iter().take(count).any(|row| row.switches == wanted.switches);
    let missing = fewest.filter(|fewest| !is_shown(fewest));
    found.designs.truncate(if missing.is_some() { count - 1 } else { count });
    found.designs.extend(missing);
    found
}

/// Source of the values that are not given as options.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Answers {
    /// Prompts on a terminal.
    Terminal,
    /// Lines of a pipe or a file, if no value is given as an option.
    Lines,
    /// Defaults only.
    Defaults,
}

impl Answers {
    fn of(command: &InitArgs) -> Self {
        let InitArgs { nics, speed, rails, platform, grow_to, pick, .. } = command;
        let is_flagged =
            nics.or(*grow_to).is_some() || speed.is_some() || rails.or(*pick).is_some() || platform.is_some();
        match (stdin().is_terminal(), is_flagged) {
            (true, _) => Answers::Terminal,
            (false, true) => Answers::Defaults,
            (false, false) => Answers::Lines,
        }
    }

    /// Returns whether the user picks a design from a printed list.
    fn is_page(self, command: &InitArgs) -> bool {
        self == Answers::Terminal && command.pick.is_none()
    }
}

/// Prints the routing that needs the fewest switches, if the routing of the written design needs more.
fn suggest_routing(found: &Designs, picked: &Row) {
    if let Some((routing, switches)) = found.fewer_than(picked.routing) {
        let switches = format_count(switches.into(), "switch");
        output::say(format_args!(
            "`{routing}` needs {switches}: use `--routing {routing}`, or compare designs with `closc design`"
        ));
    }
}

/// Reads the options, and prompts for the others.
fn need(command: &InitArgs, answers: Answers, catalogue: &Catalogue) -> anyhow::Result<Requirements> {
    let node = command.nics_per_node;
    let nics = answers.answer((command.nics, 1024), "nics", "Number of NICs?", |nics| {
        closc_design::divides_into_nodes(*nics, node)
    })?;
    let speed = (command.speed, Speed::gbps(400));
    let question = "Speed of a NIC, all its ports together?";
    let speed = answers.answer(speed, "speed", question, |_| Ok::<_, SearchError>(()))?;
    let rails = "T0s that the NICs of a node are spread over?";
    let rails = answers
        .answer((command.rails, 1), "rails", rails, |rails| closc_design::divides_into_rails(node, *rails))?;
    let platforms = (command.platform.clone(), List::default());
    let names = "Switches, by names of `closc platforms`?";
    let platforms = answers.answer(platforms, "platform", names, |List(names)| {
        let unknown = names.iter().find(|name| catalogue.get(name).is_none());
        unknown.map_or(Ok(()), |name| Err(SearchError::platform(name, catalogue)))
    })?;
    if let Some(later) = command.grow_to.filter(|later| *later < nics) {
        bail!(OptionsError(format!("`--grow-to {later}` is less than `--nics {nics}`")));
    }
    let grow_to = command.grow_to;
    let need = Requirements {
        name: command.name.clone(),
        nics,
        speed,
        nics_per_node: command.nics_per_node,
        rails,
        planes: command.planes.clone(),
        planes_by_nic: vec![1],
        tiers: command.tiers.map_or_else(|| vec![1, 2, 3], |tiers| vec![tiers]),
        routings: vec![command.routing],
        operating_systems: oses(command.os, catalogue, &platforms),
        platforms: platforms.0,
        vendors: Vec::new(),
        middle_stages: Vec::new(),
        nic_cable: Media::DEFAULT.nic_t0.length,
        limits: Limits { oversubscription: Ratio::EVEN, t0_loss: None, t1_loss: None, grow_to },
    };
    match closc_design::contradictions(&need, catalogue).into_iter().next() {
        Some(why) => bail!(OptionsError(why.to_string())),
        None => Ok(need),
    }
}

/// Returns the operating systems to try: that of the command line, otherwise those of the platforms, otherwise all
/// that run on hardware. closc does not support QoS for FRR on hardware, so a platform that also runs another OS gets
/// that OS.
fn oses(asked: Option<Os>, catalogue: &Catalogue, platforms: &List) -> Vec<Os> {
    if let Some(os) = asked {
        return vec![os];
    }
    let of_platforms =
        platforms.0.iter().filter_map(|name| catalogue.get(name)).flat_map(|found| &found.oses);
    let mut oses: Vec<Os> = Vec::new();
    for os in of_platforms {
        if !oses.contains(os) {
            oses.push(*os);
        }
    }
    if oses.is_empty() {
        return hardware().collect();
    }
    let with_qos: Vec<Os> = oses.iter().copied().filter(|os| hardware().any(|other| other == *os)).collect();
    if with_qos.is_empty() { oses } else { with_qos }
}

/// Returns the number of the first design whose hwskus are in a release; 1 if all designs need the branch `master`.
fn first_released_design(found: &Designs) -> u8 {
    let at = found.designs.iter().position(|design| !design.needs_master).unwrap_or_default();
    u8::try_from(at + 1).expect("a search lists few designs")
}

/// Prints the first design if another was written because of its release.
fn report_unreleased_design(found: &Designs, picked: &Row) {
    let Some(first) = found.designs.first().filter(|first| first.needs_master && !picked.needs_master) else {
        return;
    };
    if let Some(release) = &first.release {
        let switches = format_count(first.switches.into(), "switch");
        output::say(format_args!("`--pick 1` writes a design with {switches}, which requires {release}"));
    }
}

/// Returns the design to write: the first that a release supports, or the one that the user picks.
fn pick<'a>(command: &InitArgs, answers: Answers, found: &'a Designs) -> anyhow::Result<&'a Row> {
    if answers.is_page(command) {
        output::say(format_args!("{}", design::page(found)));
    }
    let picked = if found.designs.len() > 1 {
        let question = "Number of the design to write?";
        answers.answer((command.pick, first_released_design(found)), "pick", question, |picked| {
            check_pick(found, *picked)
        })?
    } else {
        command.pick.unwrap_or(1)
    };
    check_pick(found, picked)?;
    Ok(&found.designs[usize::from(picked) - 1])
}

/// Error for a design number that does not exist.
#[derive(Debug, thiserror::Error)]
#[error("`--pick {pick}`: {} found", format_count(*.count, "design"))]
struct PickError {
    pick: u8,
    count: u64,
}

fn check_pick(found: &Designs, picked: u8) -> Result<(), PickError> {
    let count = found.designs.len() as u64;
    if u64::from(picked) <= count { Ok(()) } else { Err(PickError { pick: picked, count }) }
}

/// Written output.
#[derive(Serialize, JsonSchema)]
pub(crate) struct InitOutput {
    file: String,
    /// Number of NICs: the requested number, rounded up so that all T0s have the same size.
    nics: u32,
    planes: u16,
    switches: u32,
    /// Platform of each tier, lowest first.
    platforms: Vec<String>,
    os: &'static str,
    /// The release that the file sets, if the default release lacks a hwsku.
    release: Option<String>,
    /// Known faults of the release that affect the fabric (W0203).
    known_faults: Vec<String>,
}

fn print_result(args: &Args, command: &InitArgs, picked: &Row) -> anyhow::Result<()> {
    if command.out == output::STANDARD {
        return Ok(());
    }
    if args.format == Format::Json {
        let written = InitOutput {
            file: command.out.to_string(),
            nics: picked.places,
            planes: picked.planes,
            switches: picked.switches,
            platforms: picked.tiers.iter().map(|tier| tier.platform.clone()).collect(),
            os: picked.os,
            release: picked.release.clone(),
            known_faults: picked.known_faults.clone(),
        };
        return output::print(&output::document(&INIT, &written)?);
    }
    if args.quiet {
        return Ok(());
    }
    let nics = format_count(picked.places.into(), "NIC");
    output::say(format_args!(
        "`{0}`: {nics}, {1}; next: `closc check {0}`",
        command.out,
        design::title(picked)
    ));
    if let Some(release) = &picked.release {
        output::say(format_args!("the file sets the release {release}"));
    }
    for fault in &picked.known_faults {
        output::say(format_args!("warning[{}]: {fault}", design::KNOWN_FAULT));
    }
    if let Some(assumed) = &picked.assumed {
        output::say(format_args!("the file allows an assumed limit to be exceeded: {assumed}"));
    }
    Ok(())
}

impl Answers {
    /// Returns the value of the option, otherwise the answer, otherwise the default. An answer has the form of the
    /// option's value. On a terminal, the prompt is repeated if the check rejects the answer.
    fn answer<T, E>(
        self,
        (given, default): (Option<T>, T),
        flag: &str,
        question: &str,
        check: impl Fn(&T) -> Result<(), E>,
    ) -> anyhow::Result<T>
    where
        T: Clone + std::fmt::Display + Send + Sync + 'static,
        E: std::error::Error + Send + Sync + 'static,
    {
        if given.is_some() || self == Answers::Defaults {
            let value = given.unwrap_or(default);
            return match check(&value) {
                Ok(()) => Ok(value),
                Err(why) => bail!(OptionsError(why.to_string())),
            };
        }
        loop {
            if self == Answers::Terminal {
                output::say(format_args!("{question} [{default}]"));
            }
            let mut line = String::new();
            let read = stdin().read_line(&mut line).context("cannot read the answer")?;
            if read == 0 && self == Answers::Terminal {
                bail!("no answer, so nothing was written\nhelp: use `--{flag}`");
            }
            let line = line.trim();
            let value = if line.is_empty() { Ok(default.clone()) } else { parse_answer(flag, line) };
            let checked = value.and_then(|value| match check(&value) {
                Ok(()) => Ok(value),
                Err(why) => Err(why.to_string()),
            });
            match checked {
                Ok(value) => return Ok(value),
                Err(why) if self == Answers::Lines => bail!("{question} {why}"),
                Err(why) => output::say(format_args!("{why}")),
            }
        }
    }
}

/// Parses an answer like a value of the command line.
fn parse_answer<T: Clone + Send + Sync + 'static>(flag: &str, answer: &str) -> Result<T, String> {
    let command = InitArgs::augment_args(clap::Command::new("init"));
    let why = |error: clap::Error| {
        let said = verbs::in_words(error).to_string();
        let line = said.lines().next().unwrap_or_default();
        line.split_once(": ").map_or(line, |(_, why)| why).to_owned()
    };
    let mut matches =
        command.try_get_matches_from(["init".to_owned(), format!("--{flag}={answer}")]).map_err(why)?;
    matches.remove_one::<T>(flag).ok_or_else(|| format!("`{answer}` is not a valid value"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_what_flags_take() {
        assert_eq!(parse_answer::<u32>("nics", "64"), Ok(64));
        assert_eq!(parse_answer::<Speed>("speed", "800G"), Ok(Speed::gbps(800)));
        for (flag, answer) in [("nics", "0"), ("nics", "-1"), ("nics", "many"), ("nics", "--help")] {
            assert!(parse_answer::<u32>(flag, answer).is_err(), "{answer}");
        }
        let why = parse_answer::<u8>("rails", "65").unwrap_err();
        assert!(why.contains("65 is not a number from 1 to 64"), "{why}");
        let why = parse_answer::<u32>("nics", "0").unwrap_err();
        assert!(why.contains("`0` is not a number from 1 to 4294967295"), "{why}");
        let why = parse_answer::<u8>("pick", "abc").unwrap_err();
        assert!(why.contains("expected a whole number"), "{why}");
        let both = List(vec!["th5-64x800g".to_owned(), "th5-128x400g".to_owned()]);
        assert_eq!(parse_answer("platform", "th5-64x800g, th5-128x400g"), Ok(both));
    }
}
