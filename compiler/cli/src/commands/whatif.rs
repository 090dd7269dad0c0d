//! `closc whatif`: the impact of failures.
//!
//! Without options, elements of each kind fail one at a time. Elements of `--fail` and `--random` fail first;
//! failures of `--each` and `--trace` are added to them.

mod fault_scope;

use std::collections::BTreeSet;

use anyhow::bail;
use camino::Utf8Path;
use closc_plan::Plan;
use closc_whatif::report::{Answer, Comparison, EachQuestion, EachReport, MergeError, Trace, Trial, Trials};
use closc_whatif::{
    Class, Design, Domain, DrawError, Element, ElementFilter, Elements, Kind, LineError, WhatIf, domains_of,
    draw, read_domains, read_trace, show,
};

use crate::args::Args;
use crate::args::whatif::WhatifArgs;
use crate::input;
use crate::output::{self, Document, Outcome};

/// Remaining capacity of all pairs after named failures.
pub(crate) const ANSWER: Document<Answer> = Document::new("closc-whatif-answer/1");

/// Remaining capacity after random failures.
pub(crate) const TRIALS: Document<Trials> = Document::new("closc-whatif-trials/1");

/// Remaining capacity after a series of failures and repairs.
pub(crate) const TRACE: Document<Trace> = Document::new("closc-whatif-trace/1");

/// Two fabrics side by side.
pub(crate) const AGAINST: Document<Comparison> = Document::new("closc-whatif-against/1");

/// Remaining capacity after every failure of some kinds.
pub(crate) const EACH: Document<EachReport> = Document::new("closc-whatif-each/1");

/// Computes and prints the impact.
pub fn run(args: &Args, command: &WhatifArgs) -> anyhow::Result<Outcome> {
    let Some(input) = input::read_again(args, &command.file)? else { return Ok(Outcome::Failed) };
    let plan = &input.plan;
    let domains = domains(plan, command)?;
    let elements = Elements { fabric: plan.fabric(), domains: &domains };
    let part = fault_scope::read(plan, command)?;
    if let Some(other) = &command.against {
        return compare_designs(args, plan, elements, other);
    }
    let mut named = BTreeSet::new();
    for name in &command.fail {
        named.extend(elements.parse(name).map_err(anyhow::Error::msg)?);
    }
    let failed = |seed: u64| -> Result<Vec<Element>, DrawError> {
        Ok(named.iter().copied().chain(draw(&elements, &command.random, seed)?).collect())
    };
    let kinds: BTreeSet<Kind> = command.each.iter().flat_map(|kinds| kinds.0.iter().copied()).collect();
    let given = failed(command.seed)?;
    if let Some(path) = &command.trace {
        return trace(args, elements, &given, path);
    }
    if !kinds.is_empty() || (named.is_empty() && command.random.is_empty()) {
        let asked = !kinds.is_empty();
        let kinds: Vec<Kind> = if asked { kinds.into_iter().collect() } else { Kind::ALL.to_vec() };
        let asked = EachQuestion {
            question: fault_scope::question(plan, command, &domains),
            part: part.fabric_part(),
            earlier_failures: &given,
            together: usize::from(command.together),
            overview: !asked,
        };
        return fail_combinations(args, elements, &kinds, asked, &|element| {
            part.has(plan, elements, element)
        });
    }
    if command.trials > 1 {
        return trials(args, elements, command, failed);
    }
    let outcome = WhatIf::new(elements).fail(&given, command.worst as usize);
    let seed = (!command.random.is_empty()).then_some(command.seed);
    let report = Answer::new(elements, &given, seed, &outcome);
    output::result(args.format, &ANSWER, &report, show::answer)?;
    Ok(cut_off_outcome(outcome.newly_cut_off))
}

fn cut_off_outcome(cut_off: u64) -> Outcome {
    if cut_off == 0 { Outcome::Fine } else { Outcome::Failed }
}

/// Fails every combination of elements of some kinds. In an overview, elements fail one at a time.
fn fail_combinations(
    args: &Args,
    elements: Elements<'_>,
    kinds: &[Kind],
    asked: EachQuestion<'_>,
    chosen: ElementFilter<'_>,
) -> anyhow::Result<Outcome> {
    let (together, name) = (asked.together, &elements.fabric.topology().name);
    let whatif = WhatIf::with_failures(elements, asked.earlier_failures);
    let classes: Vec<Class> = if asked.overview {
        kinds.iter().flat_map(|kind| whatif.fail_selected(&[*kind], 1, chosen)).collect()
    } else {
        whatif.fail_selected(kinds, together, chosen)
    };
    match &asked.part {
        _ if !classes.is_empty() => {}
        // A shard without elements of these kinds is still needed for a merge, if the fabric has such elements.
        Some(part)
            if part.shard.is_some() && !whatif.fail_selected(kinds, together, &|_| true).is_empty() => {}
        Some(part) if part.shard.is_some() => return Err(no_elements(name, together)),
        Some(part) => bail!(
            "`{}` of `{name}` has no element of this kind, or too few to fail {together} at a time",
            part.selection
        ),
        None => return Err(no_elements(name, together)),
    }
    let report = EachReport::new(elements, asked, whatif.pairs(), &classes);
    print_impact(args, &report)
}

/// Returns the error for a fabric without elements of the requested kinds.
fn no_elements(fabric: &str, together: usize) -> anyhow::Error {
    MergeError::Nothing { fabric: fabric.to_owned(), together }.into()
}

/// Prints the impact of every failure of some kinds. In an overview, pairs that are cut off do not affect the exit
/// code.
pub(crate) fn print_impact(args: &Args, report: &EachReport) -> anyhow::Result<Outcome> {
    output::result(args.format, &EACH, report, show::impacts)?;
    let cut_off = report.classes.iter().map(|cost| cost.pairs_cut_off).max().unwrap_or(0);
    Ok(if report.overview { Outcome::Fine } else { cut_off_outcome(cut_off) })
}

/// Repeats random failures with other seeds.
fn trials(
    args: &Args,
    elements: Elements<'_>,
    command: &WhatifArgs,
    failed: impl Fn(u64) -> Result<Vec<Element>, DrawError>,
) -> anyhow::Result<Outcome> {
    let whatif = WhatIf::new(elements);
    let mut trials = Vec::new();
    for trial in 0..command.trials {
        let seed = command.seed.wrapping_add(trial);
        let failed = failed(seed)?;
        let outcome = whatif.fail(&failed, 1);
        trials.push(Trial::new(elements, seed, failed.len(), &outcome));
    }
    let report = Trials::new(elements, trials);
    output::result(args.format, &TRIALS, &report, show::trials)?;
    Ok(cut_off_outcome(report.pairs_newly_cut_off_max))
}

/// Replays a trace of failures and repairs.
fn trace(args: &Args, elements: Elements<'_>, given: &[Element], path: &Utf8Path) -> anyhow::Result<Outcome> {
    let events = read_trace(&elements, &text(path)?).map_err(|faults| list_faults(path, &faults))?;
    if events.is_empty() {
        bail!("`{path}` contains no event: write lines of TIME,down|up,NAME");
    }
    let moments = WhatIf::with_failures(elements, given).follow(&events);
    let report = Trace::new(elements, given, &moments);
    output::result(args.format, &TRACE, &report, show::trace)?;
    Ok(cut_off_outcome(moments.iter().map(|moment| moment.outcome.newly_cut_off).max().unwrap_or(0)))
}

/// Compares one design with another.
fn compare_designs(
    args: &Args,
    plan: &Plan,
    elements: Elements<'_>,
    other: &Utf8Path,
) -> anyhow::Result<Outcome> {
    let Some(input) = input::read_again(args, other)? else { return Ok(Outcome::Failed) };
    let theirs = Elements::of(input.plan.fabric());
    let (ours, other) = rayon::join(|| Design::of(elements), || Design::of(theirs));
    let report = Comparison::new((plan, &ours), (&input.plan, &other));
    output::result(args.format, &AGAINST, &report, show::comparison)?;
    Ok(Outcome::Fine)
}

fn domains(plan: &Plan, command: &WhatifArgs) -> anyhow::Result<Vec<Domain>> {
    let mut domains = domains_of(plan.fabric());
    let Some(path) = &command.domains else { return Ok(domains) };
    let more = read_domains(&Elements::of(plan.fabric()), &text(path)?)
        .map_err(|faults| list_faults(path, &faults))?;
    if let Some(twice) = more.iter().find(|more| domains.iter().any(|known| known.name == more.name)) {
        bail!("`{path}`: the fabric file has a domain `{}`, too", twice.name);
    }
    domains.extend(more);
    Ok(domains)
}

fn text(path: &Utf8Path) -> anyhow::Result<String> {
    output::read(path, closc_files::TEXT_MAX)
}

fn list_faults(path: &Utf8Path, faults: &[LineError]) -> anyhow::Error {
    let lines: Vec<String> =
        faults.iter().map(|fault| format!("{path}:{}: {}", fault.line, fault.reason)).collect();
    anyhow::anyhow!("{}", lines.join("\n"))
}
