//! `closc collect`: polls the agents of a fabric, locates faults, keeps denials, and serves both over HTTP.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::bail;
use closc_collect::io::{self, Event, Observer, Session, Settings, names};
use closc_collect::{
    AddressMeaning, Change, Denial, Element, Item, Options, PathItem, SourceView, Summary, TierItems,
};
use closc_deploy::{SkippedSwitches, Target};
use closc_diagnostics::printable;
use closc_plan::Plan;
use closc_platform::Os;
use closc_topology::Nic;
use serde_json::json;

use crate::args::collect::CollectArgs;
use crate::args::{Args, Format};
use crate::audit::Audit;
use crate::commands::control;
use crate::commands::watch::Stop;
use crate::input;
use crate::output::{self, Document, Items, Outcome};

/// Reports of agents, and the faults.
pub(crate) const COLLECT: Document<Summary> = Document::new(names::SUMMARY);

/// Sources of reports.
pub(crate) const SOURCES: Document<Items<SourceView>> = Document::new(names::SOURCES);
/// Switches of a plane.
pub(crate) const PLANE: Document<Items<TierItems>> = Document::new(names::PLANE);
/// Cables of a switch or NIC.
pub(crate) const CABLES: Document<Items<Item>> = Document::new(names::CABLES);
/// Paths between two NICs.
pub(crate) const PATHS: Document<Items<PathItem>> = Document::new(names::PATHS);
/// A decoded address.
pub(crate) const ADDRESS: Document<AddressMeaning> = Document::new(names::ADDRESS);
/// Permission of a client to order denials.
pub(crate) const SESSION: Document<Session> = Document::new(names::SESSION);
/// Result of an order.
pub(crate) const CHANGES: Document<Items<Change>> = Document::new(names::CHANGES);

/// Collects until Ctrl-C or SIGTERM, or for the seconds of `--for`.
pub fn run(args: &Args, command: &CollectArgs) -> anyhow::Result<Outcome> {
    let Some(input) = input::read_again(args, &command.file)? else { return Ok(Outcome::Failed) };
    input::needs_source_routing("`closc collect`", &input.plan)?;
    let poll = Duration::from_millis(command.poll);
    let (nics, bound) = sockets(&input.plan, &command.nic)?;
    let settings = Settings {
        nics,
        bound,
        poll,
        state: command.state.clone(),
        listen: Some(command.listen),
        tls: command.serve.certificates(command.listen)?,
        switches: switches(args, command, &input.plan)?,
        web: command.web,
        operators: command.operators(),
        log: None,
        options: Options {
            apply: command.apply,
            // A report is stale after two missed polls and the time for an answer.
            fresh_ms: 3 * command.poll + 5_000,
            settle_ms: 2 * command.poll,
            good_probes: command.good_probes.into(),
            deny_ms: command.deny_for * 1_000,
            plane_share: command.plane_share / 100.0,
            ..Options::default()
        },
    };
    let plan = Arc::new(input.plan);
    let audit = Arc::new(Audit::begin(args, "collect", &command.file, plan.topology().name.as_bytes())?);
    let settings = Settings { log: audit.state(), ..settings };
    let observer = observer(args, command.serve.scheme(), Arc::clone(&audit));
    let summary = control::block_on(async {
        let stop = Stop::new()?;
        let until = async {
            match command.seconds {
                Some(seconds) => tokio::select! {
                    () = stop.wait(&audit) => {}
                    () = tokio::time::sleep(Duration::from_secs(seconds)) => {}
                },
                None => stop.wait(&audit).await,
            }
        };
        let summary = io::run(plan, settings, observer, until).await?;
        Ok(summary)
    })?;
    audit.say("stopped", serde_json::Value::Null)?;
    if command.seconds.is_none() {
        return Ok(Outcome::Fine);
    }
    report(args, command, &summary)
}

/// Prints the result of `--for`. The command fails if there are faults, or if the state of a part is unknown.
fn report(args: &Args, command: &CollectArgs, summary: &Summary) -> anyhow::Result<Outcome> {
    output::result(args.format, &COLLECT, summary, human)?;
    let too_short = too_short(command).filter(|_| summary.n_verdicts == 0 && !is_blind(summary));
    if args.format == Format::Human && !args.quiet {
        print_undecided(summary);
        if let Some(why) = &too_short {
            output::say(format_args!("{why}"));
        }
    }
    let is_unknown = is_open(summary) || is_blind(summary) || unchecked(summary) > 0 || too_short.is_some();
    let found = summary.n_verdicts > 0 || is_unknown || !summary.alarms.is_empty();
    Ok(if found { Outcome::Failed } else { Outcome::Fine })
}

/// Number of polls within which a dead element is named: two for its losses, and three for the reports that confirm
/// them.
const POLLS_MIN: u64 = 5;

/// Returns why a time of `--for` is too short to name anything; `None` if it is long enough.
fn too_short(command: &CollectArgs) -> Option<String> {
    let least = (POLLS_MIN * command.poll).div_ceil(1_000);
    let seconds = command.seconds.filter(|seconds| *seconds < least)?;
    Some(format!(
        "{seconds} seconds are too few to name a fault with polls every {} ms: use `--for {least}` or more",
        command.poll
    ))
}

/// Socket patterns, and sockets that are bound to a NIC.
type Sockets = (Vec<String>, Vec<(PathBuf, Nic)>);

/// Separates socket patterns from sockets that are bound to a NIC: `su001-n001/nic0=/run/closc/nic0.sock`.
fn sockets(plan: &Plan, all: &[String]) -> anyhow::Result<Sockets> {
    let (mut patterns, mut bound) = (Vec::new(), Vec::new());
    for text in all {
        // A path that contains `=` must begin with a slash or a dot.
        let Some((name, path)) = text.split_once('=').filter(|_| !text.starts_with(['/', '.'])) else {
            patterns.push(text.clone());
            continue;
        };
        let Some(Element::Nic(nic)) = Element::parse(plan, name) else {
            bail!("`{name}` of `--nic {text}` is not a NIC of `{}`", plan.topology().name);
        };
        if path.is_empty() || path.contains(['*', '?', '[']) {
            bail!("`--nic {text}` needs one path: a pattern cannot be bound to a NIC");
        }
        if bound.iter().any(|(other, own): &(PathBuf, Nic)| *own == nic || other.as_os_str() == path) {
            bail!("`--nic {text}`: the NIC or the socket is bound twice");
        }
        bound.push((PathBuf::from(path), nic));
    }
    Ok((patterns, bound))
}

/// Prints the reason why a fabric without verdicts is not reported as healthy.
fn print_undecided(summary: &Summary) {
    if is_open(summary) {
        output::say(format_args!(
            "agents report {} faults, and there is no verdict yet: every agent that can confirm or deny them must report twice; use a \
             longer `--for`",
            summary.agents.findings,
        ));
    }
    for alarm in summary.alarms.iter().filter(|_| !is_blind(summary)) {
        output::say(printable::line(alarm));
    }
    if is_blind(summary) {
        output::say(
            "no agent answers, so nothing was checked: `--nic` names the sockets of agents, as `closc-nic --socket` does",
        );
    }
}

/// Returns whether agents report findings and there is no verdict yet, so the fabric may be faulty.
fn is_open(summary: &Summary) -> bool {
    summary.n_verdicts == 0 && summary.agents.findings > 0
}

/// Returns the number of cables over which no probe has returned recently, and that are not known to be dead. If only
/// counters of switches are read, none are expected to be probed.
fn unchecked(summary: &Summary) -> usize {
    if summary.agents.speaking == 0 {
        return 0;
    }
    let tiers = summary.planes.iter().flat_map(|plane| &plane.tiers);
    tiers.map(|tier| tier.cables.saturating_sub(tier.probed + tier.dead)).sum()
}

/// Returns whether there are neither reports of agents nor counters of switches, so the state of the fabric is unknown.
fn is_blind(summary: &Summary) -> bool {
    summary.agents.speaking == 0 && summary.switches.read == 0
}

/// Switches whose counters are read: those of the inventory.
fn switches(args: &Args, command: &CollectArgs, plan: &Plan) -> anyhow::Result<Vec<Target>> {
    let Some(path) = &command.inventory else { return Ok(Vec::new()) };
    let site = control::inventory_of(&plan.topology().name, path)?;
    let stranger = site.inventory.devices.keys().find(|name| {
        let switch = plan.topology().naming.parse_switch(name);
        switch.is_none_or(|switch| !plan.fabric().has_switch(switch))
    });
    if let Some(name) = stranger {
        bail!("`{path}` has `{name}`, which is not a switch of `{}`", plan.topology().name);
    }
    let programmed =
        plan.switches().filter(|switch| plan.topology().hardware(*switch).1.pipeline().is_some());
    let names: Vec<String> = programmed.map(|switch| plan.switch_name(switch).to_string()).collect();
    let targets = site.inventory.expand_devices(names.iter().map(String::as_str))?.targets(&site.files)?;
    for left in skipped_switches(plan, &targets) {
        if args.format == Format::Json && !args.quiet {
            output::say(json!({ "unread": left }));
        } else {
            let SkippedSwitches { os, switches, first, instead, .. } = left;
            tracing::warn!(
                "counters of {switches} switches that run `{os}` are not read (first: `{first}`): {instead}"
            );
        }
    }
    Ok(targets)
}

/// Counts the switches of a fabric whose counters are not read, by operating system.
fn skipped_switches(plan: &Plan, targets: &[Target]) -> Vec<SkippedSwitches> {
    let read: BTreeSet<&str> = targets.iter().map(|target| target.name.as_str()).collect();
    let mut found: BTreeMap<Os, SkippedSwitches> = BTreeMap::new();
    for switch in plan.switches() {
        let (name, os) = (plan.switch_name(switch), plan.os(switch));
        if read.contains(name.as_str()) {
            continue;
        }
        let instead = if os.is_programmed() {
            "add them to `devices` of the inventory"
        } else {
            "they have no P4Runtime; `closc export telemetry` writes files to monitor them"
        };
        let new = || SkippedSwitches {
            os: os.keyword().to_owned(),
            switches: 0,
            first: name.to_string(),
            // Counters are not in files.
            files: BTreeSet::new(),
            instead: instead.to_owned(),
        };
        found.entry(os).or_insert_with(new).switches += 1;
    }
    found.into_values().collect()
}

fn human(summary: &Summary) -> String {
    let lines: String = summary.verdicts.iter().map(|verdict| verdict.line.clone() + "\n").collect();
    let (broken, agents) = (summary.n_verdicts, summary.agents);
    let tables = match agents.other_tables {
        0 => String::new(),
        n => format!("; {n} with a path table that differs from this plan"),
    };
    let unchecked = match unchecked(summary) {
        0 => String::new(),
        n => format!("; {n} cables not checked"),
    };
    format!(
        "{lines}{broken} broken; {} of {} agents answer{unchecked}{tables}\n",
        agents.speaking, agents.nics
    )
}

/// Describes an agent whose path table differs from the plan, with its checksum, or matches the plan again.
fn table(nic: &str, other: Option<&str>) -> (String, serde_json::Value) {
    let Some(checksum) = other else {
        let line = format!("{nic}: its path table matches this plan");
        return (line, json!({ "nic": nic, "table": "planned" }));
    };
    let line = format!("{nic}: its path table, with checksum {checksum}, does not match this plan");
    (line, json!({ "nic": nic, "table": "other", "checksum": checksum }))
}

/// Describes a denial of an element that the fabric no longer has.
fn stale_denial(denial: &Denial) -> (String, serde_json::Value) {
    let Denial { id, element, .. } = denial;
    let line = format!("denial {id} of {element}: the fabric no longer has it");
    (line, json!({ "gone": denial }))
}

/// Describes an agent that is dead, or that answers again.
fn agent(nic: &str, dead: Option<&str>) -> (String, serde_json::Value) {
    match dead {
        Some(line) => (line.to_owned(), json!({ "agent": "dead", "nic": nic })),
        None => (format!("agent of NIC {nic} answers again"), json!({ "agent": "answers", "nic": nic })),
    }
}

/// Prints each event as a line on stderr, and logs changes in the audit log before they are made.
fn observer(args: &Args, scheme: &'static str, audit: Arc<Audit>) -> Observer {
    let (is_json, quiet) = (args.format == Format::Json, args.quiet);
    Arc::new(move |event: Event| {
        let (line, value) = match &event {
            Event::Changing(changes, orderer) => {
                let details = match orderer {
                    Some(orderer) => json!({ "denials": changes, "ordered-by": orderer }),
                    None => json!({ "denials": changes }),
                };
                let said = audit.say("changing", details);
                said.map_err(|error| {
                    format!("the audit log cannot be written, so nothing is changed: {error:#}")
                })?;
                let lines = changes.iter().map(|change| {
                    format!(
                        "denial {} of {}: {}; {}",
                        change.id,
                        change.element,
                        change.stage.as_str(),
                        change.why
                    )
                });
                (lines.collect::<Vec<_>>().join("\n"), json!({ "denials": changes }))
            }
            Event::Changed(done) => {
                let (word, details) = match done {
                    Ok(()) => ("changed", serde_json::Value::Null),
                    Err(fault) => ("failed", json!({ "error": fault })),
                };
                audit
                    .say(word, details)
                    .map_err(|error| format!("the audit log cannot be written: {error:#}"))?;
                return Ok(());
            }
            Event::Listening(address) => {
                (format!("serving {scheme}://{address}/"), json!({ "listening": address }))
            }
            Event::Broken(line, view) => (line.clone(), json!({ "broken": view })),
            Event::Ended(what) => (format!("{what}: no longer broken"), json!({ "ended": what })),
            Event::Gone(denial) => stale_denial(denial),
            Event::Agent(nic, dead) => agent(nic, dead.as_deref()),
            Event::Table(nic, other) => table(nic, other.as_deref()),
            Event::Failing(source, fault) => {
                (format!("{source}: {fault}"), json!({ "failing": source, "fault": fault }))
            }
        };
        if is_json && !quiet {
            output::say(value);
        } else if !quiet {
            // Text of an agent is untrusted.
            output::say(printable::lines(&line));
        }
        Ok(())
    })
}
