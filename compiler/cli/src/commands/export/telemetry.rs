//! `closc export telemetry`: configurations of tools that read the counters of a running fabric.
//!
//! In: a fabric file. Out: `gnmic.yaml` and `prometheus/` below a folder, and with `--sflow` also `overlay/` and
//! `eos/`. Invariants: a note counts the switches that these files do not cover, with an alternative or the reason.

use anyhow::ensure;
use closc_exports::telemetry::gnmic::{self, SampleOptions};
use closc_exports::telemetry::{TargetNames, prometheus, sflow};
use closc_plan::Plan;
use closc_platform::Os;
use closc_platform::telemetry::Sflow;

use super::{list_below, stream};
use crate::args::Args;
use crate::args::export::integrations::TelemetryArgs;
use crate::input;
use crate::output::{self, Outcome};

/// Writes the files.
pub(super) fn run(args: &Args, command: &TelemetryArgs) -> anyhow::Result<Outcome> {
    let Some(input) = input::read_again(args, &command.file)? else { return Ok(Outcome::Failed) };
    let plan = &input.plan;
    let reach = TargetNames { domain: command.domain.clone() };
    let asking =
        SampleOptions { interval: command.interval, ports: command.gnmi_port.iter().copied().collect() };
    let mut files = vec![
        prometheus::switches(plan, &reach)?,
        prometheus::nodes(plan, &reach, command.node_exporter)?,
        prometheus::scrape(plan, command.agent_metrics.is_some()),
    ];
    if let Some(first) = command.agent_metrics {
        ensure!(
            plan.is_source_routed(),
            "`--agent-metrics`: hosts of this fabric do not choose paths, so there are no agents"
        );
        files.push(prometheus::agents(plan, &reach, first));
    }
    if gnmic::targets(plan).next().is_some() {
        files.push(gnmic::configuration(plan, &reach, &asking)?);
    }
    if !command.sflow.is_empty() {
        let sampled = sflow::files(plan, &command.sflow)?;
        ensure!(
            !sampled.is_empty(),
            "`--sflow`: closc writes sFlow for no switch of this fabric; {}",
            reasons(plan)
        );
        files.extend(sampled);
    }
    if !args.quiet {
        notes(plan, command);
    }
    list_below(args, &command.out, stream(&command.out, &files)?)
}

/// Returns the operating systems of a fabric, with the number of switches of each.
fn systems(plan: &Plan) -> impl Iterator<Item = (Os, usize)> {
    let count = |os: Os| plan.switches().filter(|switch| plan.os(*switch) == os).count();
    Os::ALL.into_iter().map(move |os| (os, count(os))).filter(|(_, count)| *count > 0)
}

/// Returns the reasons why operating systems of a fabric have no sFlow file.
fn reasons(plan: &Plan) -> String {
    let reason = |(os, _): (Os, usize)| match &os.telemetry().sflow {
        Sflow::Not(why) => Some(format!("`{}`: {why}", os.keyword())),
        Sflow::ConfigDb | Sflow::Nvue | Sflow::Eos => None,
    };
    systems(plan).filter_map(reason).collect::<Vec<_>>().join("; ")
}

/// Prints which switches the files do not cover, and why.
fn notes(plan: &Plan, command: &TelemetryArgs) {
    for (os, count) in systems(plan) {
        let (word, telemetry) = (os.keyword(), os.telemetry());
        if telemetry.gnmi.is_none() {
            let instead = if os.is_programmed() {
                "`closc watch --counters` serves what they count"
            } else {
                "a node exporter serves their counters"
            };
            output::say(format!("note: {count} switches run `{word}` and have no gNMI server: {instead}"));
        }
        match &telemetry.sflow {
            _ if command.sflow.is_empty() => {}
            Sflow::Not(why) => {
                output::say(format!(
                    "note: {count} switches run `{word}`, but no file configures their sFlow: {why}"
                ));
            }
            Sflow::Eos => output::say(format!(
                "note: {count} switches run `{word}`: add the lines in `eos/` to the site's part of their configuration"
            )),
            Sflow::ConfigDb | Sflow::Nvue => {}
        }
        let why = &telemetry.without_inband;
        output::say(format!(
            "note: {count} switches run `{word}`, and no file enables in-band telemetry (INT, IFA) on them: {why}"
        ));
    }
    if plan.is_source_routed() && command.agent_metrics.is_none() {
        output::say(
            "note: agents of NICs are not listed: `--agent-metrics PORT` sets the port of their metrics",
        );
    }
    let has = |os: Os| systems(plan).any(|(own, _)| own == os);
    for (os, port) in command.gnmi_port.iter().filter(|(os, _)| !has(*os)) {
        output::say(format!("note: no switch runs `{}`: port {port} is not used", os.keyword()));
    }
}
