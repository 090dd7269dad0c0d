//! V1309: compares the settings of NIC agents with the path tables.
//!
//! In: the files of nodes, and the path tables. Out: violations. Invariants: an agent is matched to a table by node and
//! NIC number. Expected code points are computed from the classes of the same table.

use std::collections::{BTreeMap, HashMap};

use crate::check::tools::differences;
use crate::finding::{Findings, Violation};
use crate::model::cabling::NodeId;
use crate::model::fabric::Fabric;
use crate::model::group::{Group, GroupNic, TrafficClass};
use crate::model::place::Place;
use crate::model::tools::{NodeTools, Settings};
use crate::rules::hosts::AGENT;

/// Folder on a node for the files of the tree.
const FOLDER: &str = "/etc/closc";

/// Settings that sites may choose freely: display names, the key of the fabric, and socket options.
const OF_SITE: [&str; 4] = ["COOKIE", "FABRIC", "METRICS", "XDP"];

/// Checks the agents of all nodes, if there are any.
pub(crate) fn check(fabric: &Fabric, tools: &[NodeTools], findings: &mut Findings) {
    if tools.iter().all(|tools| tools.agents.is_empty()) {
        return;
    }
    let by_node: HashMap<NodeId, &NodeTools> = tools.iter().map(|tools| (tools.node, tools)).collect();
    let mut known: HashMap<NodeId, Vec<u8>> = HashMap::new();
    for group in fabric.judged_groups() {
        for nic in &group.nics {
            let Some(tools) = nic.node.and_then(|node| by_node.get(&node)) else { continue };
            known.entry(tools.node).or_default().push(nic.number);
            one(fabric, group, nic, tools, findings);
        }
    }
    for tools in tools {
        let own = known.get(&tools.node).map_or(&[][..], Vec::as_slice);
        for number in tools.agents.keys().filter(|number| !own.contains(number)) {
            let place = Place::file(path(fabric, tools.node, *number));
            let name = &fabric.cabling.nodes[tools.node.0 as usize];
            let message = format!("`{name}` has agent settings for NIC {number}, which no path table lists");
            findings.report(Violation::new(&AGENT, place, message));
        }
    }
}

fn path(fabric: &Fabric, node: NodeId, number: u8) -> String {
    let name = &fabric.cabling.nodes[node.0 as usize];
    format!("{}/{name}/closc/nic{number}.env", closc_artefacts::paths::HOSTS)
}

fn one(fabric: &Fabric, group: &Group, nic: &GroupNic, tools: &NodeTools, findings: &mut Findings) {
    let path = path(fabric, tools.node, nic.number);
    findings.count_facts(&AGENT, 1);
    let Some(settings) = tools.agents.get(&nic.number) else {
        let message = format!("`{}` has no agent settings, which other NICs have", nic.name);
        findings.report(Violation::new(&AGENT, Place::file(path), message));
        return;
    };
    // A file that does not parse is reported elsewhere.
    let Some(settings) = settings else { return };
    let mut judged: Settings = settings.clone();
    judged.retain(|name, _| !OF_SITE.contains(&name.as_str()));
    for (line, message) in differences(&judged, &required_settings(group, nic)) {
        let place = line.map_or_else(|| Place::file(path.clone()), |line| Place::line(path.clone(), line));
        findings.report(Violation::new(&AGENT, place, format!("`{}`: {message}", nic.name)));
    }
}

/// Returns the required settings of a NIC's agent.
fn required_settings(group: &Group, nic: &GroupNic) -> BTreeMap<&'static str, String> {
    let mut wanted = BTreeMap::from([
        ("TABLE", format!("{FOLDER}/{}", group.binary)),
        ("NIC", nic.address.to_string()),
        ("PORTS", format!("nic{}p{{plane}}", nic.number)),
    ]);
    let code = |class: &TrafficClass| class.dscp.first().copied();
    let mut trimmed = group.classes.iter().filter(|class| class.trim).filter_map(code);
    let plain = || group.classes.iter().filter_map(code).find(|code| *code != 0);
    let data = trimmed.next().or_else(plain).unwrap_or(0);
    let again = trimmed.next().unwrap_or(data);
    // Acknowledgements use the highest class that carries neither data nor trimmed packets.
    let cut: Vec<u8> = group.trimmed_dscp.iter().flat_map(|(inside, last)| [*inside, *last]).collect();
    let is_free = |class: &&TrafficClass| {
        !class.trim && !class.dscp.iter().any(|code| *code == data || cut.contains(code))
    };
    let control = group.classes.iter().filter(is_free).max_by_key(|class| class.class).and_then(code);
    wanted.insert("DSCP_DATA", data.to_string());
    wanted.insert("DSCP_AGAIN", again.to_string());
    wanted.insert("DSCP_CONTROL", control.unwrap_or(0).to_string());
    wanted.extend(group.trimmed_dscp.map(|(_, last)| ("DSCP_CUT_AT_LAST_HOP", last.to_string())));
    wanted
}
