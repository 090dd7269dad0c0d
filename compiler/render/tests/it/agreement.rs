//! Switch and host settings agree for any profile. Both are read back from the rendered files.
//!
//! In: a preset, and a change of one of its classes. Out: `config_db.json` of a T0 and the files of one of its nodes,
//! parsed by separate code. Invariants: both have the same settings for every code point and priority, before the
//! change and after it. A change that affects both sides is visible on both.

use std::collections::BTreeMap;

use closc_render::{Templates, targets};
use closc_tests::shape::try_plan;
use closc_topology::HostOutput;
use proptest::prelude::*;
use serde_json::Value;

/// PFC priority by code point; `None` if the class is lossy.
type Lossless = BTreeMap<u8, Option<u8>>;

/// Settings of one side.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Side {
    /// By code point.
    lossless: Lossless,
    /// PFC priorities.
    paused_priorities: Vec<u8>,
    /// All settings of classes, to detect a change.
    settings: String,
}

/// Renders a small fabric with a profile: the T0 and the node below it.
fn sides(qos: &str) -> Option<(Side, Side, Vec<u8>)> {
    let text = format!(
        "
fabric: agree
planes: 1
routing: ecmp-static
hosts: {{ groups: 2, per_group: 2, nic: {{ speed: 400G }} }}
tiers:
  t0: {{ platform: q3d-7280r4-64x400g, os: sonic, up: 2 }}
  t1: {{ platform: q3d-7280r4-64x400g, os: sonic }}
cables:
  nic-t0: {{ length: 2m, medium: dac }}
  t0-t1: {{ length: 30m, medium: dr4 }}
qos: {qos}
"
    );
    let plan = try_plan(&text).ok()?;
    let templates = Templates::builtin();
    let intent = plan.device(plan.switches().next()?);
    let files = targets::target(intent.os)?.device(&intent, &templates).ok()?;
    let config = files.iter().find(|file| file.path.file_name() == Some("config_db.json"))?;
    let config: Value = serde_json::from_slice(&config.bytes).expect("it is JSON");
    let host = plan.host(plan.nodes().next()?);
    let render = |output| targets::host::render(&host, output, &templates).expect("a node renders");
    let read = |files: Vec<closc_render::Artefact>, name: &str| {
        let file = files.into_iter().find(|file| file.path.file_name() == Some(name)).expect("it is there");
        String::from_utf8(file.bytes).expect("it is text")
    };
    let script = read(render(HostOutput::Nic), "nic-qos.sh");
    let environment = read(render(HostOutput::Nccl), "nccl.conf");
    let marks = ["NCCL_IB_TC=", "NCCL_IB_FIFO_TC="]
        .iter()
        .filter_map(|key| environment.lines().find_map(|line| line.strip_prefix(key)))
        .map(|tos| tos.parse::<u8>().expect("a number") >> 2)
        .collect();
    Some((switch(&config), node(&script, &environment), marks))
}

/// Reads a switch: code point to traffic class to priority group, and the PFC priorities.
fn switch(config: &Value) -> Side {
    let map = |table: &str, name: &str| -> BTreeMap<u8, u8> {
        let fields = config[table][name].as_object().expect("the map is there");
        let number = |text: &str| text.parse().expect("keys and values are numbers");
        fields.iter().map(|(key, value)| (number(key), number(value.as_str().expect("text")))).collect()
    };
    let ports = config["PORT_QOS_MAP"].as_object().expect("ports have maps");
    let (port, fields) = ports.iter().find(|(port, _)| *port != "global").expect("a port has maps");
    let name = |field: &str| fields[field].as_str().unwrap_or_else(|| panic!("{port} has no {field}"));
    let to_class = map("DSCP_TO_TC_MAP", name("dscp_to_tc_map"));
    let to_group = map("TC_TO_PRIORITY_GROUP_MAP", name("tc_to_pg_map"));
    let paused: Vec<u8> = fields
        .get("pfc_enable")
        .and_then(Value::as_str)
        .into_iter()
        .flat_map(|list| list.split(','))
        .map(|priority| priority.parse().expect("a number"))
        .collect();
    // Without the map, a PFC frame pauses the group with the number of its priority.
    let groups: BTreeMap<u8, u8> = match fields.get("pfc_to_pg_map").and_then(Value::as_str) {
        Some(name) => map("PFC_PRIORITY_TO_PRIORITY_GROUP_MAP", name),
        None => (0..8).map(|priority| (priority, priority)).collect(),
    };
    let priority_of =
        |group: u8| paused.iter().copied().find(|priority| groups.get(priority) == Some(&group));
    let lossless = to_class
        .iter()
        .map(|(dscp, class)| (*dscp, to_group.get(class).and_then(|group| priority_of(*group))))
        .collect();
    let tables = [
        "DSCP_TO_TC_MAP",
        "TC_TO_PRIORITY_GROUP_MAP",
        "TC_TO_QUEUE_MAP",
        "PORT_QOS_MAP",
        "SCHEDULER",
        "QUEUE",
        "WRED_PROFILE",
        "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP",
        "MAP_PFC_PRIORITY_TO_QUEUE",
    ];
    let whole = tables.map(|table| format!("{table} {}", config[table])).join("\n");
    Side { lossless, paused_priorities: paused, settings: whole }
}

/// Reads a node: code point to priority, and the PFC priorities.
fn node(script: &str, environment: &str) -> Side {
    let words: Vec<&str> = script.split_whitespace().collect();
    let behind = |word: &str| words.iter().position(|found| *found == word).map(|at| words[at + 1]);
    let flags = behind("--pfc").expect("the script sets PFC").split(',');
    let paused: Vec<u8> =
        flags.enumerate().filter(|(_, flag)| *flag == "1").map(|(at, _)| at as u8).collect();
    let lossless = words
        .iter()
        .filter_map(|word| word.strip_prefix("set,")?.split_once(','))
        .map(|(dscp, priority)| (dscp.parse().expect("a number"), priority.parse::<u8>().expect("a number")))
        .map(|(dscp, priority)| (dscp, paused.contains(&priority).then_some(priority)))
        .collect();
    // Comments with class names are not settings of a NIC.
    let said = script.lines().filter(|line| !line.trim_start().starts_with('#'));
    let whole =
        said.chain(environment.lines()).filter(|line| !line.starts_with('#')).collect::<Vec<_>>().join("\n");
    Side { lossless, paused_priorities: paused, settings: whole }
}

/// Checks the properties that hold for any profile.
fn agree(qos: &str) -> Option<(Side, Side)> {
    let (switch, host, marks) = sides(qos)?;
    assert_eq!(switch.lossless.len(), 64, "{qos}: a code point has no class");
    assert_eq!(switch.lossless, host.lossless, "{qos}");
    assert_eq!(switch.paused_priorities, host.paused_priorities, "{qos}");
    for mark in marks {
        assert!(switch.lossless.contains_key(&mark), "{qos}: NCCL marks {mark}");
    }
    Some((switch, host))
}

#[test]
fn every_preset_agrees() {
    let presets = ["lossless", "sonic-azure", "nvidia-roce", "juniper-dcqcn", "meta-roce"];
    for preset in presets {
        assert!(agree(preset).is_some(), "{preset} does not render");
    }
}

/// A class of a preset by name, and the change.
fn edits() -> impl Strategy<Value = (&'static str, &'static str, String)> {
    let classes = prop_oneof![
        Just(("lossless", "data")),
        Just(("lossless", "cts")),
        Just(("lossless", "cnp")),
        Just(("nvidia-roce", "data")),
        Just(("nvidia-roce", "cnp")),
        Just(("juniper-dcqcn", "data")),
        Just(("meta-roce", "data")),
        Just(("meta-roce", "cts")),
    ];
    let change = prop_oneof![
        (0_u8..64).prop_map(|dscp| format!("dscp: [{dscp}]")),
        any::<bool>().prop_map(|pfc| format!("pfc: {pfc}")),
        (0_u8..8).prop_map(|priority| format!("priority: {priority}")),
        (1_u8..100).prop_map(|weight| format!("scheduler: {{dwrr: {weight}}}")),
        Just("scheduler: strict".to_owned()),
    ];
    (classes, change).prop_map(|((base, class), change)| (base, class, change))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// After any change of any class, switch and host still agree. If the change alters code points or PFC priorities
    /// of the rendered switch, it also does so in the rendered host, and vice versa.
    #[test]
    fn a_change_of_any_class_shows_on_both((base, class, change) in edits()) {
        let (old_switch, old_host) = agree(base).expect("presets render");
        let qos = format!("{{ base: {base}, classes: {{ {class}: {{ {change} }} }} }}");
        // Skip changes that checks or the buffer calculation reject.
        let Some((switch, host)) = agree(&qos) else { return Ok(()) };
        let switch_differs = switch.settings != old_switch.settings;
        let host_differs = host.settings != old_host.settings;
        if change.starts_with("dscp") || change.starts_with("pfc") {
            prop_assert_eq!(switch_differs, host_differs, "{}", qos);
        }
        if switch.lossless != old_switch.lossless || switch.paused_priorities != old_switch.paused_priorities {
            prop_assert!(switch_differs && host_differs, "{}", qos);
        }
    }
}

#[test]
fn the_changes_that_concern_both_reach_both() {
    let (old_switch, old_host) = agree("lossless").unwrap();
    for (class, change) in [
        ("data", "dscp: [24]"),
        ("data", "pfc: false"),
        ("data", "priority: 4"),
        ("data", "scheduler: {dwrr: 20}"),
        ("data", "ecn: off"),
        ("cts", "dscp: [40]"),
        ("cts", "scheduler: {dwrr: 20}"),
        ("cnp", "dscp: [56]"),
        ("best-effort", "scheduler: {dwrr: 60}"),
    ] {
        let qos = format!("{{ base: lossless, watchdog: off, classes: {{ {class}: {{ {change} }} }} }}");
        let (switch, host) = agree(&qos).unwrap_or_else(|| panic!("{qos} does not render"));
        assert_ne!(switch.settings, old_switch.settings, "{qos}");
        assert_ne!(host.settings, old_host.settings, "{qos}");
    }
}
