//! `closc push`: applies a compiled tree to switches, and reports the changes.

mod difference_push;

use std::borrow::Cow;
use std::fmt::Write as _;
use std::process::Stdio;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Context as _, bail};
use camino::Utf8Path;
use closc_deploy::{
    CarrierOptions, Event, EventKind, Fleet, Gate, Observer, Plan, Preview, PushOptions, PushReport,
    SonicOptions, SwitchConnections, open_gate, plan, push, push_plan,
};
use closc_diagnostics::figures::format_count;
use closc_diagnostics::printable;
use indicatif::ProgressBar;

use crate::args::control::PushArgs;
use crate::args::{Args, Format};
use crate::audit::Audit;
use crate::commands::{control, diff};
use crate::output::{self, Document, Outcome};

/// Result of a push.
pub(crate) const PUSH: Document<PushReport> = Document::new("closc-push/1");

/// Preview of a push.
pub(crate) const PREVIEW: Document<Preview> = Document::new("closc-push-preview/1");

/// Pushes a tree or a saved plan, or shows the changes.
pub fn run(args: &Args, command: &PushArgs) -> anyhow::Result<Outcome> {
    let options = PushOptions {
        max_failures: command.max_failures as usize,
        take_over: command.take_over,
        ..command.fleet.options()
    };
    if !command.fleet.require_signature.is_empty() && control::is_saved(&command.fleet.source) {
        bail!("`{}` is saved and has no signature: push the tree", command.fleet.source);
    }
    if command.rollback.is_some() && control::is_saved(&command.fleet.source) {
        bail!("`--rollback` needs the compiled tree, which has the switches and what they run");
    }
    if let Some((text, report)) = difference(&command.fleet.source)? {
        return difference_push::push(args, command, (&text, &report), &options);
    }
    let site = control::inventory(&command.fleet)?;
    if control::is_saved(&command.fleet.source) {
        return push_saved_plan(args, command, &site, &options);
    }
    let over_ssh = ssh_options(command);
    let fleet = control::fleet_with(&command.fleet, &site, sonic(command), over_ssh.clone())?;
    if let Some(name) = command.rollback.as_ref().and_then(|_| fleet.unbacked_switches().next()) {
        bail!(
            "`{name}` keeps no state of earlier pushes: push the tree from before to it, and select the switches over SSH here \
             (`--device`, `--select`)"
        );
    }
    check_planes(command, fleet.n_switches(), fleet.planes().len())?;
    if command.dry_run || command.out.is_some() {
        return show(args, command, &fleet, &options);
    }
    let audit = Audit::begin_tree(args, "push", &command.fleet.source)?;
    control::release::log(&audit, &command.fleet)?;
    let (observer, bar) = observer(args, fleet.n_switches(), &audit);
    let work = async { Ok(push(&fleet, &options, observer, gate(command)).await) };
    let mut report = audit.record(|| control::block_on(work), audit_result)?;
    bar.finish_and_clear();
    if let Some(run) = command.rollback.as_ref().filter(|_| has_restored_nothing(&report)) {
        report.stopped = Some(no_backup(run));
    }
    finish(args, &name_push(report, fleet.has_backups(), over_ssh))
}

/// Returns whether no switch had a backup of the push to restore. A restored switch counts at least one line.
fn has_restored_nothing(report: &PushReport) -> bool {
    let is_empty = |outcome: &closc_deploy::Outcome| match outcome {
        closc_deploy::Outcome::Good(good) => good.entities == 0,
        closc_deploy::Outcome::Failed(_) | closc_deploy::Outcome::Skipped => false,
    };
    !report.devices.is_empty() && report.devices.values().all(is_empty)
}

fn no_backup(run: &str) -> String {
    format!(
        "no switch has a backup of push `{run}`; a push prints its name, and switches keep the last eight"
    )
}

/// Adds the name of the push to the report, if it can be rolled back.
fn name_push(report: PushReport, has_backups: bool, over_ssh: CarrierOptions) -> PushReport {
    let is_named = has_backups && report.updates().total() > 0;
    PushReport { run: is_named.then_some(over_ssh.run), ..report }
}

/// Reports switches without a plane, which are pushed together. `--gate` needs the plane of every switch.
fn check_planes(command: &PushArgs, n_switches: usize, n_placed: usize) -> anyhow::Result<()> {
    if n_switches < 2 || n_placed == n_switches {
        return Ok(());
    }
    let n_unknown = format_count((n_switches - n_placed) as u64, "switch");
    let source = &command.fleet.source;
    if command.gate.is_some() {
        bail!(
            "`--gate` runs after each plane, but `{source}` has {n_unknown} without one; set `plane` in the \
             inventory, or compile all switches of a plane"
        );
    }
    tracing::warn!("`{source}` has {n_unknown} without a plane, which are pushed together");
    Ok(())
}

/// Returns the options for switches that are configured with files. Names of pushes sort by time.
fn ssh_options(command: &PushArgs) -> CarrierOptions {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    CarrierOptions {
        confirm: Duration::from_secs(command.confirm),
        ssh_config: command.fleet.ssh_config.as_ref().map(ToString::to_string),
        run: format!("{seconds:010}-{}", std::process::id()),
        undo: command.rollback.clone(),
    }
}

/// Returns the options for SONiC switches.
fn sonic(command: &PushArgs) -> SonicOptions {
    SonicOptions {
        reload: command.reload,
        confirm: Duration::from_secs(command.confirm),
        ssh_config: command.fleet.ssh_config.as_ref().map(ToString::to_string),
        ..SonicOptions::default()
    }
}

/// Finds the selected switches of a plan, and removes the others from it.
fn select_switches(
    command: &PushArgs,
    site: &control::Site,
    plan: &mut Plan,
    over_ssh: &CarrierOptions,
) -> anyhow::Result<SwitchConnections> {
    let inventory = &site.inventory;
    let planes = control::Planes::of_saved(&command.fleet, inventory, plan.switches())?;
    plan.retain(|name| control::is_selected(&command.fleet, &planes, name));
    let reached = SwitchConnections::new(inventory, &*site.files, plan, sonic(command))?;
    Ok(reached.with_carried(inventory, &*site.files, plan, over_ssh.clone())?)
}

/// Format of a saved file; all other fields are skipped.
#[derive(serde::Deserialize)]
struct Form<'t> {
    #[serde(borrow)]
    format: Option<Cow<'t, str>>,
}

/// Reads a difference that `closc diff --out` saved; `None` if the source is something else.
fn difference(source: &Utf8Path) -> anyhow::Result<Option<(String, closc_diff::Report)>> {
    if !control::is_saved(source) {
        return Ok(None);
    }
    let text = control::saved(source)?;
    // Only the format is checked here; `diff::parse` reads the rest.
    let form = serde_json::from_str::<Form<'_>>(&text).ok();
    if form.and_then(|form| form.format).as_deref() != Some(closc_diff::FORMAT) {
        return Ok(None);
    }
    let report = diff::parse(&text).with_context(|| format!("`{source}` is not a saved difference"))?;
    Ok(Some((text, report)))
}

/// Pushes a saved plan; rejects switches that have changed since.
fn push_saved_plan(
    args: &Args,
    command: &PushArgs,
    site: &control::Site,
    options: &PushOptions,
) -> anyhow::Result<Outcome> {
    let path = &command.fleet.source;
    let (mut plan, text) = control::saved_plan(path)?;
    let over_ssh = ssh_options(command);
    for (given, word) in [(command.fleet.overlay.is_some(), "overlay"), (command.reload, "reload")] {
        if given {
            bail!("`--{word}` is part of the saved plan: use it with the `push --out` that saves it");
        }
    }
    let reached = select_switches(command, site, &mut plan, &over_ssh)?;
    let is_placed =
        |(name, plane): &(&str, Option<u8>)| plane.is_some() || site.inventory.plane_of(name).is_some();
    check_planes(command, plan.n_switches(), plan.switches().filter(is_placed).count())?;
    if command.dry_run && !output::is_standard(command.out.as_ref()) {
        return show_preview(args, &plan);
    }
    let audit = Audit::begin(args, "push", path, text.as_bytes())?;
    let (observer, bar) = observer(args, plan.n_switches(), &audit);
    let work = async { Ok(push_plan(&reached, &plan, options, observer, gate(command)).await?) };
    let report = audit.record(|| control::block_on(work), audit_result)?;
    bar.finish_and_clear();
    finish(args, &name_push(report, plan.has_backups(), over_ssh))
}

/// Shows or saves the updates that a push would send. Exits with 2 if there are any.
fn show(args: &Args, command: &PushArgs, fleet: &Fleet, options: &PushOptions) -> anyhow::Result<Outcome> {
    let (observer, bar) = control::observer(args, fleet.n_switches(), "comparing");
    let made = control::block_on(async { Ok(plan(fleet, options, observer).await) })?;
    bar.finish_and_clear();
    let plan = made.map_err(|faults| control::faults(&faults))?;
    if let Some(path) = &command.out {
        output::replace(path, &plan.to_json())?;
    }
    if command.dry_run {
        return show_preview(args, &plan);
    }
    Ok(plan_outcome(&plan))
}

/// Returns the outcome of a plan. A difference in a file without a transport is a failure, because a push
/// cannot remove it.
fn plan_outcome(plan: &Plan) -> Outcome {
    if !plan.unsupported_files().is_empty() {
        Outcome::Failed
    } else if plan.is_empty() {
        Outcome::Fine
    } else {
        Outcome::Differences
    }
}

/// Shows the updates that a push would send.
fn show_preview(args: &Args, plan: &Plan) -> anyhow::Result<Outcome> {
    control::warn_factory(plan.factory());
    if args.format == Format::Json {
        output::print(&output::document(&PREVIEW, &plan.preview())?)?;
    } else {
        let all = args.verbose > 0;
        output::plain(&if all { plan.show() } else { plan.overview("`--verbose` lists every entry\n") })?;
    }
    Ok(plan_outcome(plan))
}

/// Returns the gate between planes, which runs the command of `--gate`. Without the option, the gate is open.
fn gate(command: &PushArgs) -> Gate {
    let Some(line) = command.gate.clone() else { return open_gate() };
    Arc::new(move |plane| {
        let line = line.clone();
        Box::pin(async move {
            let plane = plane.map(|plane| plane.to_string()).unwrap_or_default();
            let run = tokio::task::spawn_blocking(move || {
                let script = format!("{line} \"$1\"");
                std::process::Command::new("sh")
                    .args(["-c", &script, "gate", &plane])
                    .stdin(Stdio::null())
                    .status()
            });
            match run.await {
                Ok(Ok(status)) if status.success() => Ok(()),
                Ok(Ok(status)) => Err(format!("the gate ended with {status}")),
                Ok(Err(error)) => Err(format!("the gate cannot be run: {error}")),
                Err(error) => Err(format!("the gate failed: {error}")),
            }
        })
    })
}

/// Observes a push. The audit log gets a line before and after the change of each switch. If the first line cannot be
/// written, the switch is not changed.
fn observer(args: &Args, devices: usize, audit: &Audit) -> (Observer, ProgressBar) {
    let (shown, bar) = control::observer(args, devices, "pushing");
    let audit = audit.clone();
    let observer: Observer = Arc::new(move |event: Event| {
        let result = match &event.what {
            EventKind::DeviceStarted => Some("switch-begun"),
            EventKind::DeviceDone { .. } => Some("switch-done"),
            EventKind::DeviceFailed { .. } => Some("switch-failed"),
            _ => None,
        };
        let logged = result.map_or(Ok(()), |result| audit.say(result, serde_json::json!(event)));
        let _ = shown(event);
        logged.map_err(|error| {
            format!("the audit log cannot be written, so the switch is not changed: {error:#}")
        })
    });
    (observer, bar)
}

/// Returns the result of a push for the audit log.
fn audit_result(report: &PushReport) -> (bool, serde_json::Value) {
    let (good, failed, skipped) = report.counts();
    let switches: Vec<&str> = report.failures().map(|(name, _)| name).collect();
    let details = serde_json::json!({
        "updates": report.updates(), "good": good, "failed": failed, "skipped": skipped, "failed-switches": switches,
        "stopped": report.stopped,
    });
    (report.is_good(), details)
}

fn finish(args: &Args, report: &PushReport) -> anyhow::Result<Outcome> {
    control::warn_factory(&report.factory);
    let outcome = if report.is_good() { Outcome::Fine } else { Outcome::Failed };
    output::print_outcome(args, outcome, &PUSH, report, |report| printable::lines(&human(report)))?;
    if report.devices.is_empty() {
        bail!("no switch was selected");
    }
    Ok(outcome)
}

pub(super) fn human(report: &PushReport) -> String {
    let (good, failed, skipped) = report.counts();
    let sent = report.updates();
    let mut text = format!(
        "{} up to date, {failed} failed, {skipped} skipped; {} sent\n",
        format_count(good as u64, "switch"),
        format_count(sent.total(), "update")
    );
    for (device, fault) in report.failures() {
        let _ = writeln!(text, "  {device}: {fault}");
    }
    for uncarried in &report.uncarried {
        let _ = writeln!(text, "  {}", uncarried.line());
    }
    for line in report.omission_notes() {
        let _ = writeln!(text, "note: {line}");
    }
    if let Some(run) = &report.run {
        let _ = writeln!(
            text,
            "note: `--rollback {run}` returns switches over SSH to their state before this push"
        );
    }
    if let Some(why) = &report.stopped {
        let _ = writeln!(text, "stopped: {why}");
    }
    text
}
