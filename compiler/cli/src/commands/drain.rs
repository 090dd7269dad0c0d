//! `closc drain` and `closc undrain`: add a name to `exceptions.drained` or remove it, and show the impact.
//!
//! The edit changes as few bytes as possible. The file is written only if `--write` is given, if the edited text parses
//! to exactly the intended change, and if the collector of `--collector` accepts it.

mod hosts;

use anyhow::{Context as _, bail};
use camino::Utf8Path;
use closc_diff::{Change, Difference, Exception, ExceptionTarget, Options, Toggle, edit};
use closc_plan::Plan;
use closc_topology::Link;

use crate::args::diff::DrainArgs;
use crate::args::{Args, Format};
use crate::audit::Audit;
use crate::commands::diff::{self, Reading, Side};
use crate::names::AvoidedElement;
use crate::output::{self, Outcome};

/// Drains an element, or returns it to service.
pub fn run(args: &Args, command: &DrainArgs, turn: Toggle) -> anyhow::Result<Outcome> {
    let command = &file_first(command);
    let file = &command.file;
    // A pipe cannot be written back, and reading one may block forever.
    if command.write && file != output::STANDARD && file.exists() && !file.is_file() {
        bail!("`{file}` is not a regular file, so `--write` cannot change it");
    }
    let text = output::read(file, closc_files::TEXT_MAX)?;
    let before = Reading::parse_before(args, file.as_str(), &text)?;
    let Some(planned) = before.planned_fabric() else {
        before.show(args);
        return Ok(Outcome::Failed);
    };
    let (name, thing) = canonical(&planned.plan, &command.name)?;
    reject_isolated(&planned.plan, turn, &name, thing)?;
    let changed = match turn {
        Toggle::On => edit::drain(&text, &name)?,
        Toggle::Off => edit::undrain(&text, &name)?,
    };
    let after = Reading::parse_after(args, file.as_str(), &changed)?;
    let Some((Side::Plan(old), Side::Plan(new))) = Reading::show_both(args, before, after) else {
        return Ok(Outcome::Failed);
    };
    let difference = Difference::compare(old.plan.fabric(), new.plan.fabric());
    let [Change::Exception(Exception::Drained(found, what))] = difference.changes.as_slice() else {
        bail!("`{file}` cannot be changed line by line: put `{name}` into `exceptions.drained` yourself");
    };
    if (*found, *what) != (turn, thing) {
        bail!("`{name}` would drain something else: change `{file}` yourself");
    }
    // Notify hosts first, because they do not need the difference.
    let asked = write(args, command, turn, &old.plan, (&name, &text, &changed));
    let report = diff::of_plans(&old, &new, Options::default());
    // If the file goes to stdout, nothing else may be printed there.
    let is_piped = command.write && file == output::STANDARD;
    let silent = is_piped || args.quiet && command.write && args.format != Format::Json;
    if args.format == Format::Human && !silent {
        let lines = similar::TextDiff::from_lines(&text, &changed);
        output::print(&format!("{}\n", lines.unified_diff().context_radius(1)))?;
    }
    if !silent {
        diff::print(args, &report, false)?;
    }
    asked
}

/// Rejects to undrain an isolated cable, because `exceptions.isolated` also drains it.
fn reject_isolated(plan: &Plan, turn: Toggle, name: &str, thing: ExceptionTarget) -> anyhow::Result<()> {
    let isolated = &plan.topology().exceptions.isolated_links;
    match (turn, thing) {
        (Toggle::Off, ExceptionTarget::Link(link)) if isolated.contains(&link) => bail!(
            "`{name}` is isolated, and isolated cables are also drained: remove it from `exceptions.isolated`, and \
             from `exceptions.drained` if it is there"
        ),
        (Toggle::On | Toggle::Off, _) => Ok(()),
    }
}

/// Also accepts the file as first argument, as other commands do.
fn file_first(command: &DrainArgs) -> DrainArgs {
    let is_file = |path: &str| path == output::STANDARD || Utf8Path::new(path).exists();
    let mut command = command.clone();
    if is_file(&command.name) && !is_file(command.file.as_str()) {
        let name = std::mem::replace(&mut command.file, command.name.into());
        command.name = name.into_string();
    }
    command
}

/// Notifies hosts, and writes the file if `--write` is given.
fn write(
    args: &Args,
    command: &DrainArgs,
    turn: Toggle,
    plan: &Plan,
    (name, text, changed): (&str, &str, &str),
) -> anyhow::Result<Outcome> {
    let file = &command.file;
    if !command.write {
        return Ok(Outcome::Differences);
    }
    // A symbolic link to the file remains a link.
    let place = if file == output::STANDARD {
        file.clone()
    } else {
        file.canonicalize_utf8().with_context(|| format!("cannot find `{file}`"))?
    };
    let operation = match turn {
        Toggle::On => "drain",
        Toggle::Off => "undrain",
    };
    let audit = Audit::begin(args, operation, file, text.as_bytes())?;
    let refused = audit.record(
        || change(command, plan, (name, turn), &audit, || output::replace(&place, changed)),
        |_| (true, serde_json::json!({ "name": name, "digest-after": blake3::hash(changed.as_bytes()).to_string() })),
    )?;
    Ok(if refused == 0 { Outcome::Fine } else { Outcome::Failed })
}

/// Notifies hosts, then writes the file. If the collector rejects the order or the request fails, the file must not
/// change, because the next tables are compiled from it. Returns the number of agents that reject the order. An agent
/// decides only for itself, so the file is written nevertheless.
fn change(
    command: &DrainArgs,
    plan: &Plan,
    (name, turn): (&str, Toggle),
    audit: &Audit,
    write: impl FnOnce() -> anyhow::Result<()>,
) -> anyhow::Result<usize> {
    let file = &command.file;
    let refused =
        at_hosts(command, plan, name, turn, audit).with_context(|| format!("`{file}` is unchanged"))?;
    let Err(why) = write() else { return Ok(refused) };
    let back = match turn {
        Toggle::On => Toggle::Off,
        Toggle::Off => Toggle::On,
    };
    at_hosts(command, plan, name, back, audit).with_context(|| {
        format!("{why:#}; hosts have already changed the state of `{name}`, and that cannot be undone")
    })?;
    Err(why)
}

/// Notifies the agents of `--nic` or the collector of `--collector`. Returns the number of agents that reject the
/// order.
fn at_hosts(
    command: &DrainArgs,
    plan: &Plan,
    name: &str,
    turn: Toggle,
    audit: &Audit,
) -> anyhow::Result<usize> {
    if let Some(address) = command.collector {
        hosts::collector(plan, address, command.token.as_deref(), name, turn)?;
        audit.say("asked", serde_json::json!({ "name": name, "collector": address }))?;
    }
    if command.nic.is_empty() {
        return Ok(0);
    }
    let (done, refused) = hosts::agents(plan, &command.nic, name, turn)?;
    audit.say("asked", serde_json::json!({ "name": name, "agents": done, "refused": refused }))?;
    Ok(refused)
}

/// Returns the name as the compiler writes it, and its element.
fn canonical(plan: &closc_plan::Plan, name: &str) -> anyhow::Result<(String, ExceptionTarget)> {
    Ok(match AvoidedElement::parse(plan, name)? {
        AvoidedElement::Plane(plane) => (format!("plane {plane}"), ExceptionTarget::Plane(plane)),
        AvoidedElement::Switch(switch) => {
            (plan.topology().naming.switch(switch).to_string(), ExceptionTarget::Switch(switch))
        }
        AvoidedElement::Link(link @ (Link::Host(_) | Link::Fabric { .. })) => {
            (plan.link_name(link), ExceptionTarget::Link(link))
        }
    })
}
