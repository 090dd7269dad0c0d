//! V13: compares the settings of NIC drivers and collective libraries with the manifest and the cables.
//!
//! In: the files of nodes, and the profile in the manifest. Out: violations. Invariants: expected classes come from the
//! manifest, ports and lengths from the cable lists. Expected values do not come from other nodes.

use std::collections::{BTreeMap, BTreeSet};

use closc_artefacts::paths::{HOSTS, MANIFEST, SYSCTL_CONF};
use closc_diagnostics::Rule;

use crate::check::{delay, library};
use crate::finding::{Findings, Violation};
use crate::model::cabling::NodeId;
use crate::model::fabric::Fabric;
use crate::model::network::NodeNetwork;
use crate::model::place::Place;
use crate::model::stated::{StatedHosts, StatedQos, StatedValues};
use crate::model::tools::{NicQos, NodeTools, Settings};
use crate::read::library::TOPOLOGY;
use crate::read::{nccl, nic_qos};
use crate::rules::files::SETTINGS;
use crate::rules::hosts::{LIBRARY, NIC_QOS};

/// Checks the files of all nodes.
pub(crate) fn check(
    fabric: &Fabric,
    stated: Option<&StatedValues>,
    (tools, networks): (&[NodeTools], &[(NodeId, NodeNetwork)]),
    findings: &mut Findings,
) {
    delay::check_nodes(fabric, stated, tools, findings);
    let per_adapter = stated.and_then(|stated| stated.hosts.as_ref()?.nics_per_adapter).unwrap_or(1);
    library::check(fabric, per_adapter, (tools, networks), findings);
    for tools in tools {
        let name = fabric.cabling.nodes[tools.node.0 as usize].as_str();
        kernel(name, tools, findings);
        let rules =
            [(tools.qos.is_some(), &NIC_QOS), (tools.nccl.is_some() || tools.vccl.is_some(), &LIBRARY)];
        let Some((stated, hosts)) = stated.and_then(|stated| Some((stated, stated.hosts.as_ref()?))) else {
            for (_, rule) in rules.into_iter().filter(|(has, _)| *has) {
                let message = format!("`{name}`: the manifest does not state the settings of nodes");
                findings.report(Violation::new(rule, Place::file(MANIFEST), message));
            }
            continue;
        };
        let mut broken = |rule: &'static Rule, file: &str, line: Option<usize>, message: String| {
            let path = format!("{HOSTS}/{name}/{file}");
            let place =
                line.map_or_else(|| Place::file(path.clone()), |line| Place::line(path.clone(), line));
            findings.report(Violation::new(rule, place, format!("`{name}`: {message}")));
        };
        if let Some(qos) = &tools.qos {
            for (line, message) in ports(fabric, tools.node, qos) {
                broken(&NIC_QOS, nic_qos::FILE, line, message);
            }
            for message in classes(&stated.qos, qos).into_iter().chain(marks(hosts, qos)) {
                broken(&NIC_QOS, nic_qos::FILE, None, message);
            }
        }
        let devices = format!("={}", devices(fabric, tools.node).join(","));
        for (file, settings, wanted) in [
            (nccl::FILE, &tools.nccl, environment(hosts, &devices, tools.has_topology)),
            (nccl::VCCL, &tools.vccl, failover(&devices)),
        ] {
            for (line, message) in settings.iter().flat_map(|settings| differences(settings, &wanted)) {
                broken(&LIBRARY, file, line, message);
            }
        }
        for (_, rule) in rules.into_iter().filter(|(has, _)| *has) {
            findings.count_facts(rule, 1);
        }
    }
}

/// Checks the kernel settings of a node whose ports are not configured by `ip`.
fn kernel(name: &str, tools: &NodeTools, findings: &mut Findings) {
    let Some(faults) = &tools.kernel else { return };
    findings.count_facts(&SETTINGS, 1);
    for (needle, message) in faults {
        let place = Place::text(format!("{HOSTS}/{name}/{SYSCTL_CONF}"), vec![needle.clone()]);
        findings.report(Violation::new(&SETTINGS, place, format!("`{name}`: {message}")));
    }
}

/// Returns the cabled ports of a node by name, with their cable lengths.
fn cables(fabric: &Fabric, node: NodeId) -> BTreeMap<&str, u64> {
    let cabling = &fabric.cabling;
    let cables = cabling.at_node(node).iter().map(|plug| cabling.cable(plug.cable()));
    cables.map(|cable| (cabling.names.text(cable.lower.port), u64::from(cable.meters))).collect()
}

/// Returns the ports of a node in the order of NICs and planes: `nic2p3` is the port of NIC 2 in plane 3.
fn devices(fabric: &Fabric, node: NodeId) -> Vec<&str> {
    let number = |name: &str| {
        let (nic, plane) = name.strip_prefix("nic")?.split_once('p')?;
        Some((nic.parse::<u16>().ok()?, plane.parse::<u16>().ok()?))
    };
    let mut names: Vec<&str> = cables(fabric, node).into_keys().collect();
    names.sort_by_key(|name| number(name));
    names
}

type Faults = Vec<(Option<usize>, String)>;

fn ports(fabric: &Fabric, node: NodeId, qos: &NicQos) -> Faults {
    let mut left = cables(fabric, node);
    let mut faults = Faults::new();
    for (name, meters, line) in &qos.ports {
        let message = match left.remove(name.as_str()) {
            None => format!("`{name}` is not a port with a cable, or appears twice"),
            Some(length) if length != *meters => {
                format!("the cable of `{name}` is {meters} m long here, but {length} m in the cable list")
            }
            Some(_) => continue,
        };
        faults.push((Some(*line), message));
    }
    faults.extend(left.into_keys().map(|name| (None, format!("port `{name}` has no QoS settings"))));
    faults
}

/// Compares the priorities of NICs with the classes that the manifest states for switches.
fn classes(stated: &StatedQos, qos: &NicQos) -> Vec<String> {
    let priority: BTreeMap<u8, u8> = stated
        .classes
        .iter()
        .map(|class| (class.tc, class.pauses.or(class.priority).unwrap_or(class.tc)))
        .collect();
    let mut faults = Vec::new();
    let mut points = BTreeMap::new();
    for (point, tc) in stated.dscp.iter().enumerate() {
        points.insert(point as u8, priority.get(tc).copied().unwrap_or_default());
    }
    if let Some((point, wanted)) =
        points.iter().find(|(point, wanted)| qos.code_points.get(point) != Some(wanted))
    {
        faults.push(format!(
            "code point {point} does not get priority {wanted}, which its class has on switches"
        ));
    }
    if qos.code_points.len() != points.len() {
        faults.push(format!(
            "{} code points have a priority, but switches have {}",
            qos.code_points.len(),
            points.len()
        ));
    }
    let paused: BTreeSet<u8> = stated.classes.iter().filter_map(|class| class.pauses).collect();
    let found = (0..8).filter(|at| qos.paused.get(usize::from(*at)) == Some(&true)).collect::<BTreeSet<u8>>();
    if found != paused {
        faults.push(format!("priorities {found:?} are paused, but switches pause {paused:?}"));
    }
    if !qos.classes.iter().copied().eq(0..8) {
        faults.push("a priority is not mapped to the traffic class with its number".to_owned());
    }
    let own: Vec<u8> = paused.iter().copied().collect();
    let buffer = |priority: u8| own.iter().position(|own| *own == priority).map_or(0, |at| at as u8 + 1);
    if !qos.buffers.iter().copied().eq((0..8).map(buffer)) {
        faults.push(
            "a priority has the wrong receive buffer; expected its own if it is paused, otherwise the first"
                .to_owned(),
        );
    }
    faults.extend(share_fault(stated, &priority, qos));
    faults
}

/// Checks that the shares of weighted classes follow the weights on switches, and that all other classes are strict.
fn share_fault(stated: &StatedQos, priority: &BTreeMap<u8, u8>, qos: &NicQos) -> Option<String> {
    let mut weights: BTreeMap<u8, u32> = BTreeMap::new();
    for class in &stated.classes {
        *weights.entry(priority[&class.tc]).or_default() += class.weight.map_or(0, u32::from);
    }
    for class in stated.classes.iter().filter(|class| class.weight.is_none()) {
        weights.remove(&priority[&class.tc]);
    }
    let sum: u32 = weights.values().sum();
    let rest = 100 - (weights.len() as u32).min(100);
    let given: u32 = qos.shares.iter().copied().map(u32::from).sum();
    if given != if sum == 0 { 0 } else { 100 } {
        return Some(format!("the shares of all classes add up to {given}"));
    }
    for at in 0..8_u8 {
        let (strict, share) = (qos.strict.get(usize::from(at)), qos.shares.get(usize::from(at)));
        let share = share.copied().map_or(0, u32::from);
        match weights.get(&at) {
            None if strict == Some(&true) && share == 0 => {}
            None => {
                return Some(format!(
                    "traffic class {at} does not come before all weighted ones, without a share"
                ));
            }
            Some(weight) => {
                // Each class has at least one percent. The rest is divided by weight, in whole percents.
                let least = 1 + rest * weight / sum;
                if strict != Some(&false) || !(least..=least + 1).contains(&share) {
                    return Some(format!(
                        "traffic class {at} has a share of {share}, but its weight gives {least}"
                    ));
                }
            }
        }
    }
    None
}

fn marks(hosts: &StatedHosts, qos: &NicQos) -> Vec<String> {
    let mut faults = Vec::new();
    if qos.connection_tos != hosts.data_dscp << 2 {
        faults.push(format!(
            "connections have type of service {}, but data has code point {}",
            qos.connection_tos, hosts.data_dscp
        ));
    }
    let (notifications, governed) = match &hosts.notifications {
        Some(stated) => ((Some(stated.dscp), Some(stated.priority)), stated.governed.as_slice()),
        None => ((None, None), &[][..]),
    };
    if qos.notifications != notifications {
        faults.push(
            "congestion notifications do not have the code point or priority of the manifest".to_owned(),
        );
    }
    let wanted: BTreeMap<u8, bool> =
        (0..8).map(|priority| (priority, governed.contains(&priority))).collect();
    if qos.governed != wanted {
        faults.push(format!("DCQCN does not govern exactly the priorities {governed:?}"));
    }
    faults
}

/// Returns the required environment of NCCL.
fn environment(hosts: &StatedHosts, devices: &str, has_topology: bool) -> BTreeMap<&'static str, String> {
    let mut wanted: BTreeMap<&'static str, String> = BTreeMap::from([
        ("NCCL_IB_HCA", devices.to_owned()),
        ("NCCL_IB_ADDR_FAMILY", if hosts.reach.contains(':') { "AF_INET6" } else { "AF_INET" }.to_owned()),
        ("NCCL_IB_ADDR_RANGE", hosts.reach.clone()),
        ("NCCL_IB_ROCE_VERSION_NUM", "2".to_owned()),
        ("NCCL_IB_GID_INDEX", "-1".to_owned()),
        ("NCCL_IB_TC", (hosts.data_dscp << 2).to_string()),
        ("NCCL_IB_QPS_PER_CONNECTION", hosts.queue_pairs.to_string()),
        ("NCCL_IB_SPLIT_DATA_ON_QPS", "0".to_owned()),
        ("NCCL_IB_SUBNET_AWARE_ROUTING", "0".to_owned()),
    ]);
    if let Some(dscp) = hosts.clear_to_send_dscp {
        wanted.insert("NCCL_IB_FIFO_TC", (dscp << 2).to_string());
    }
    if hosts.reorders {
        wanted.insert("NCCL_IB_ADAPTIVE_ROUTING", "1".to_owned());
    }
    if hosts.has_rails {
        wanted.insert("NCCL_CROSS_NIC", "0".to_owned());
        wanted.insert("NCCL_PXN_DISABLE", "0".to_owned());
    }
    if has_topology {
        wanted.insert("NCCL_TOPO_FILE", format!("/etc/closc/{TOPOLOGY}"));
    }
    wanted
}

/// Returns VCCL's settings for the failure of a port.
fn failover(devices: &str) -> BTreeMap<&'static str, String> {
    BTreeMap::from([
        ("NCCL_ENABLE_FAULT_TOLERANCE", "1".to_owned()),
        ("NCCL_IB_HCA", devices.to_owned()),
        ("NCCL_IB_RETRY_CNT", "7".to_owned()),
        ("NCCL_IB_TIMEOUT", "18".to_owned()),
    ])
}

/// Returns wrong, unexpected and missing settings.
pub(super) fn differences(settings: &Settings, wanted: &BTreeMap<&'static str, String>) -> Faults {
    let mut faults = Faults::new();
    for (name, (value, line)) in settings {
        match wanted.get(name.as_str()) {
            None => faults
                .push((Some(*line), format!("`{name}` is set, but this fabric does not use that variable"))),
            Some(wanted) if wanted != value => {
                faults.push((Some(*line), format!("`{name}` is `{value}`; expected `{wanted}`")));
            }
            Some(_) => {}
        }
    }
    let missing = wanted.keys().filter(|name| !settings.contains_key(**name));
    faults.extend(missing.map(|name| (None, format!("`{name}` is not set"))));
    faults
}
