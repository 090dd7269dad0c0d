//! gNMIc: every switch with a gNMI server, and its subscriptions.
//!
//! In: a plan, ports and an interval. Out: `gnmic.yaml`. Invariants: a target has the name of its switch; a
//! switch has only subscriptions for which it has counters; gNMIc serves the counters on loopback.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use closc_plan::Plan;
use closc_platform::Os;
use closc_platform::telemetry::{Gnmi, Subscription};
use closc_topology::Switch;
use serde_json::{Value, json};

use super::{GNMIC, TargetNames, authority, has, switch_labels};
use crate::{File, Refusal};

/// Interval of samples, and the ports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SampleOptions {
    /// Seconds between two samples.
    pub interval: u32,
    /// TCP ports that differ from the default of the operating system.
    pub ports: BTreeMap<Os, u16>,
}

/// Returns the switches that have a gNMI server.
pub fn targets(plan: &Plan) -> impl Iterator<Item = (Switch, Os, &'static Gnmi)> {
    plan.switches().filter_map(|switch| {
        let os = plan.os(switch);
        os.telemetry().gnmi.as_ref().map(|gnmi| (switch, os, gnmi))
    })
}

/// Returns the configuration.
///
/// # Errors
///
/// Refuses a fabric whose switches have no address.
pub fn configuration<'a>(
    plan: &'a Plan,
    reach: &'a TargetNames,
    asking: &'a SampleOptions,
) -> Result<File<'a>, Refusal> {
    if let Some((first, _, _)) = targets(plan).next() {
        reach.switch(plan, first)?;
    }
    Ok(File::new("gnmic.yaml", move |out| {
        writeln!(out, "# gNMIc (https://gnmic.openconfig.net): gnmic --config gnmic.yaml subscribe")?;
        writeln!(
            out,
            "# gNMIc reads credentials from its environment: GNMIC_USERNAME, GNMIC_PASSWORD, GNMIC_TLS_CA, \
             GNMIC_TLS_CERT, GNMIC_TLS_KEY."
        )?;
        writeln!(out, "targets:")?;
        for (switch, os, gnmi) in targets(plan) {
            let host = reach.switch(plan, switch).map_err(io::Error::other)?;
            let port = asking.ports.get(&os).copied().unwrap_or(gnmi.port);
            let names: Vec<String> = switch_subscriptions(plan, gnmi).map(|one| name(os, one)).collect();
            writeln!(out, "  {}:", json!(plan.switch_name(switch)))?;
            writeln!(out, "    address: {}", json!(authority(&host, port)))?;
            writeln!(out, "    subscriptions: {}", json!(names))?;
            writeln!(out, "    event-tags: {}", Value::Object(switch_labels(plan, switch)))?;
        }
        writeln!(out, "subscriptions:")?;
        let oses: BTreeSet<Os> = targets(plan).map(|(_, os, _)| os).collect();
        for (os, gnmi) in
            oses.into_iter().filter_map(|os| os.telemetry().gnmi.as_ref().map(|gnmi| (os, gnmi)))
        {
            switch_subscriptions(plan, gnmi)
                .try_for_each(|one| subscription(out, os, gnmi, one, asking.interval))?;
        }
        // SONiC's server sends counters as text, and OpenConfig encodes 64-bit counters as text in JSON (RFC 7951 6.1).
        // Prometheus needs numbers.
        let counters = ["SAI_", "_[BP]PS$", "PFC_WD_", "/counters/", "/queue/state/"];
        writeln!(
            out,
            "processors:\n  numbers:\n    event-convert: {{ value-names: {}, type: float }}",
            json!(counters)
        )?;
        writeln!(out, "outputs:\n  prometheus:\n    type: prometheus\n    listen: \"{GNMIC}\"")?;
        writeln!(out, "    expiration: {}s", asking.interval.saturating_mul(3).max(60))?;
        writeln!(
            out,
            "    append-subscription-name: true\n    strings-as-labels: true\n    event-processors: [numbers]"
        )
    }))
}

/// Returns the subscriptions of a switch.
fn switch_subscriptions<'a>(
    plan: &'a Plan,
    gnmi: &'static Gnmi,
) -> impl Iterator<Item = &'static Subscription> + use<'a> {
    gnmi.subscriptions.iter().filter(|one| one.needs.is_none_or(|need| has(plan, need)))
}

/// Returns the name of a subscription, with the operating system: each has its own path for a counter.
fn name(os: Os, one: &Subscription) -> String {
    format!("{}-{}", os.keyword(), one.name)
}

fn subscription(
    out: &mut dyn io::Write,
    os: Os,
    gnmi: &Gnmi,
    one: &Subscription,
    interval: u32,
) -> io::Result<()> {
    writeln!(out, "  {}:", name(os, one))?;
    if let Some(target) = &one.target {
        writeln!(out, "    target: {}", json!(target))?;
    }
    writeln!(out, "    paths: {}", json!(one.paths))?;
    writeln!(out, "    mode: stream")?;
    if one.on_change {
        writeln!(out, "    stream-mode: on_change")?;
    } else {
        writeln!(out, "    stream-mode: sample\n    sample-interval: {interval}s")?;
    }
    writeln!(out, "    encoding: {}", gnmi.encoding)
}
