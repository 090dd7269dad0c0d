//! `closc export telemetry`: what reads the counters of a fabric that runs.
//!
//! In: a fabric file. Out: below a folder `gnmic.yaml`, `prometheus/`, and `overlay/` where sFlow is asked for. Invariants: switches
//! that a file does not speak of are counted, with what to do instead.

use anyhow::ensure;
use closc_exports::telemetry::gnmic::{self, Asking};
use closc_exports::telemetry::{Reach, prometheus, sflow};
use closc_plan::Plan;
use closc_platform::Os;

use super::{list_below, stream};
use crate::args::Args;
use crate::args::export::outside::TelemetryArgs;
use crate::input;
use crate::output::{self, Outcome};

/// Writes what is asked for.
pub(super) fn run(args: &Args, command: &TelemetryArgs) -> anyhow::Result<Outcome> {
    let Some(input) = input::read(args, &command.file)? else { return Ok(Outcome::Failed) };
    let plan = &input.plan;
    let reach = Reach { domain: command.domain.clone() };
    let asking = Asking { interval: command.interval, ports: command.gnmi_port.iter().copied().collect() };
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
        let takes = |switch| plan.os(switch).telemetry().sflow;
        ensure!(
            plan.switches().any(takes),
            "`--sflow`: no switch of this fabric runs SONiC, which the overlay is for"
        );
        files.push(sflow::overlay(&command.sflow)?);
    }
    if !args.quiet {
        notes(plan, command);
    }
    list_below(args, &command.out, stream(&command.out, &files)?)
}

/// Says of which switches nothing is asked, and why.
fn notes(plan: &Plan, command: &TelemetryArgs) {
    let count = |os: Os| plan.switches().filter(|switch| plan.os(*switch) == os).count();
    for (os, count) in Os::ALL.into_iter().map(|os| (os, count(os))).filter(|(_, count)| *count > 0) {
        let (word, telemetry) = (os.word(), os.telemetry());
        if telemetry.gnmi.is_none() {
            let instead = if os.is_programmed() {
                "`closc watch --counters` serves what they count"
            } else {
                "a node exporter serves their counters"
            };
            output::say(format!("note: {count} switches run `{word}` and have no gNMI server: {instead}"));
        }
        if !command.sflow.is_empty() && !telemetry.sflow {
            output::say(format!(
                "note: {count} switches run `{word}`: the overlay of sFlow is for SONiC and says nothing to them"
            ));
        }
    }
    if plan.is_source_routed() && command.agent_metrics.is_none() {
        output::say(
            "note: agents of NICs are in no list: `--agent-metrics PORT` says where they serve theirs",
        );
    }
    for (os, port) in command.gnmi_port.iter().filter(|(os, _)| count(*os) == 0) {
        output::say(format!("note: no switch runs `{}`: port {port} is in no file", os.word()));
    }
}
