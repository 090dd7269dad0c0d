//! Prometheus: lists of targets for `file_sd_configs`, and jobs that use them.
//!
//! In: a plan, and the hosts or addresses of devices. Out: `prometheus/switches.json`, `nodes.json`,
//! `agents.json`, `prometheus.yml`. Invariants: each target is a line with its own labels; addresses without
//! a port are for exporters that query the device themselves (blackbox, SNMP).

use std::io;

use closc_plan::Plan;
use serde_json::{Map, Value, json};

use super::{GNMIC, TargetNames, authority, gnmic, node_labels, switch_labels};
use crate::{File, Refusal};

/// Returns all switches, without a port.
///
/// # Errors
///
/// Refuses a fabric whose switches have no address.
pub fn switches<'a>(plan: &'a Plan, reach: &'a TargetNames) -> Result<File<'a>, Refusal> {
    if let Some(first) = plan.switches().next() {
        reach.switch(plan, first)?;
    }
    Ok(File::new("prometheus/switches.json", move |out| {
        let groups = plan.switches().map(|switch| {
            let host = reach.switch(plan, switch).map_err(io::Error::other)?;
            Ok((host, switch_labels(plan, switch)))
        });
        write(out, groups)
    }))
}

/// Returns everything that has a node exporter: nodes, and switches that are Linux machines.
///
/// # Errors
///
/// Refuses switches that have no address.
pub fn nodes<'a>(plan: &'a Plan, reach: &'a TargetNames, port: u16) -> Result<File<'a>, Refusal> {
    let exporter = |switch| plan.os(switch).telemetry().node_exporter;
    if let Some(first) = plan.switches().find(|switch| exporter(*switch).is_some()) {
        reach.switch(plan, first)?;
    }
    Ok(File::new("prometheus/nodes.json", move |out| {
        let switches = plan.switches().filter_map(|switch| exporter(switch).map(|own| (switch, own)));
        let switches = switches.map(|(switch, own)| {
            let host = reach.switch(plan, switch).map_err(io::Error::other)?;
            Ok((authority(&host, own), switch_labels(plan, switch)))
        });
        let nodes = plan.nodes().map(|node| {
            let host = reach.node(plan, node);
            Ok((authority(&host, port), node_labels(plan, node)))
        });
        write(out, switches.chain(nodes))
    }))
}

/// Returns the agents of all NICs. Each has its own port, counted from `first` on every node.
pub fn agents<'a>(plan: &'a Plan, reach: &'a TargetNames, first: u16) -> File<'a> {
    File::new("prometheus/agents.json", move |out| {
        let agents = plan.fabric().nics().map(|nic| {
            let (node, number) = plan.topology().node_of(nic);
            let port = first.checked_add(number.into()).ok_or_else(|| {
                io::Error::other(format!("no port is left for NIC {number} of a node after port {first}"))
            })?;
            let mut labels = node_labels(plan, node);
            labels.insert("nic".to_owned(), json!(plan.topology().naming.nic(node, number)));
            Ok((authority(&reach.node(plan, node), port), labels))
        });
        write(out, agents)
    })
}

/// Returns the scrape jobs: closc, gNMIc, node exporters, and the agents if they are listed.
pub fn scrape(plan: &Plan, agents: bool) -> File<'_> {
    let streams = gnmic::targets(plan).next().is_some();
    File::new("prometheus/prometheus.yml", move |out| {
        writeln!(out, "# A complete prometheus.yml, or one of `scrape_config_files` (2.43 or later).")?;
        writeln!(out, "scrape_configs:")?;
        let own =
            [("closc-collect", "127.0.0.1:9561".to_owned()), ("closc-watch", "127.0.0.1:9560".to_owned())];
        let streamed = streams.then(|| ("gnmic", GNMIC.to_string()));
        for (job, address) in own.into_iter().chain(streamed) {
            writeln!(out, "  - job_name: {job}\n    static_configs: [{{ targets: [{}] }}]", json!(address))?;
        }
        if agents {
            writeln!(out, "  - job_name: closc-nic\n    file_sd_configs: [{{ files: [agents.json] }}]")?;
        }
        writeln!(out, "  - job_name: node\n    file_sd_configs: [{{ files: [nodes.json] }}]")
    })
}

/// Writes groups of one target each, one per line.
fn write(
    out: &mut dyn io::Write,
    groups: impl Iterator<Item = io::Result<(String, Map<String, Value>)>>,
) -> io::Result<()> {
    let mut before = "[\n";
    for group in groups {
        let (target, labels) = group?;
        write!(out, "{before}{}", json!({ "targets": [target], "labels": labels }))?;
        before = ",\n";
    }
    // Without targets, the list is empty.
    writeln!(out, "{}]", if before == "[\n" { "[" } else { "\n" })
}
