//! Targets of counter collection: every device once, with labels from the plan, and only the counters that it has.

use std::collections::BTreeMap;

use closc_exports::File;
use closc_exports::telemetry::gnmic::{self, SampleOptions};
use closc_exports::telemetry::{TargetNames, prometheus};
use closc_plan::Plan;
use serde_json::Value;

/// Two planes of SONiC switches, an absent T0, with management addresses or without.
fn plan(qos: &str, routing: &str, management: bool) -> Plan {
    let addresses = if management { "addresses: { management: 10.64.0.0/14 }\n" } else { "" };
    closc_tests::shape::plan(&format!(
        "fabric: counted
planes: 2
routing: {routing}
qos: {qos}
hosts: {{ groups: 4, per_group: 4, nic: {{ speed: 200G, lanes: 2 }} }}
tiers:
  t0: {{ platform: spectrum4-sn5600-256x100g, os: sonic, up: 2 }}
  t1: {{ platform: spectrum4-sn5600-256x100g, os: sonic }}
cables: {{ nic-t0: {{ length: 2m }}, t0-t1: {{ length: 30m }} }}
{addresses}exceptions: {{ absent: [p1-t0-003] }}
"
    ))
}

fn sample_options() -> SampleOptions {
    SampleOptions { interval: 7, ports: BTreeMap::new() }
}

fn text(file: &File<'_>) -> String {
    let mut out = Vec::new();
    file.write(&mut out).expect("memory takes everything");
    String::from_utf8(out).expect("text")
}

/// Targets of a list, and the label `device` of each.
fn targets(file: &File<'_>) -> BTreeMap<String, String> {
    let list: Vec<Value> = serde_json::from_str(&text(file)).expect("JSON");
    let groups = list.len();
    let pair = |group: &Value| {
        let target = group["targets"][0].as_str().expect("a target").to_owned();
        (group["labels"]["device"].as_str().expect("a name").to_owned(), target)
    };
    let targets: BTreeMap<String, String> = list.iter().map(pair).collect();
    assert_eq!(targets.len(), groups, "a device is there once");
    targets
}

#[test]
fn every_device_is_a_target_once_and_what_is_absent_is_none() {
    let plan = plan("lossy-trim", "srv6-static", true);
    let reach = TargetNames::default();
    let switches = targets(&prometheus::switches(&plan, &reach).expect("they have addresses"));
    let counts = plan.fabric().counts();
    assert_eq!(switches.len() as u64, counts.t0 + counts.t1);
    assert!(!switches.contains_key("p1-t0-003"), "{switches:?}");
    for switch in plan.switches() {
        let address = plan.addresses().management(switch).expect("it has one").addr().to_string();
        assert_eq!(switches[plan.switch_name(switch).as_str()], address);
    }
    let nodes = targets(&prometheus::nodes(&plan, &reach, 9100).expect("none is a Linux machine"));
    assert_eq!(nodes.len(), plan.nodes().count());
    assert!(nodes.values().all(|target| target.ends_with(":9100")), "{nodes:?}");
}

#[test]
fn every_nic_has_an_agent_with_a_port_of_its_own() {
    let plan = closc_tests::shape::plan(
        "fabric: agents
planes: 2
hosts: { groups: 2, per_group: 4, nics_per_node: 4, nic: { speed: 200G, lanes: 2 } }
tiers:
  t0: { platform: spectrum4-sn5600-256x100g, os: sonic, up: 1 }
  t1: { platform: spectrum4-sn5600-256x100g, os: sonic }
addresses: { management: 10.64.0.0/14 }
",
    );
    let reach = TargetNames { domain: Some("mgmt.example".to_owned()) };
    let list: Vec<Value> =
        serde_json::from_str(&text(&prometheus::agents(&plan, &reach, 9750))).expect("JSON");
    let pair = |group: &Value| (group["labels"]["nic"].to_string(), group["targets"][0].to_string());
    let agents: BTreeMap<String, String> = list.iter().map(pair).collect();
    assert_eq!(agents.len(), plan.fabric().nics().count());
    let last = agents.last_key_value().expect("there are some");
    assert!(last.0.ends_with("/nic3\"") && last.1.ends_with(".mgmt.example:9753\""), "{last:?}");
    assert!(text(&prometheus::scrape(&plan, true)).contains("files: [agents.json]"));
    assert!(!text(&prometheus::scrape(&plan, false)).contains("agents.json"));
    let mut out = Vec::new();
    assert!(prometheus::agents(&plan, &reach, u16::MAX - 2).write(&mut out).is_err(), "no port is left");
}

#[test]
fn a_switch_is_asked_for_what_it_counts() {
    let reach = TargetNames::default();
    let asked = |qos: &str, routing: &str| {
        let plan = plan(qos, routing, true);
        let asking = sample_options();
        let text = text(&gnmic::configuration(&plan, &reach, &asking).expect("they have addresses"));
        assert_eq!(text.matches("    address: \"10.6").count(), plan.switches().count());
        assert!(text.contains(":50052\"\n"), "{text}");
        ["sonic-pauses", "sonic-trimming", "sonic-segments", "sonic-ports"]
            .map(|name| (text.contains(&format!("\n  {name}:\n")), text.contains(&format!("\"{name}\""))))
    };
    let (yes, no) = ((true, true), (false, false));
    assert_eq!(asked("lossy-trim", "srv6-static"), [no, yes, yes, yes]);
    assert_eq!(asked("lossless", "bgp-unnumbered"), [yes, no, no, yes]);
}

#[test]
fn names_do_where_there_are_no_addresses_and_one_of_both_is_needed() {
    let plan = plan("lossy-trim", "srv6-static", false);
    let asking = sample_options();
    let refused = gnmic::configuration(&plan, &TargetNames::default(), &asking).err().expect("no address");
    assert!(refused.to_string().contains("`addresses.management`"), "{refused}");
    assert!(prometheus::switches(&plan, &TargetNames::default()).is_err());
    let reach = TargetNames { domain: Some("mgmt.example".to_owned()) };
    let switches = targets(&prometheus::switches(&plan, &reach).expect("they have names"));
    assert_eq!(switches["p0-t0-001"], "p0-t0-001.mgmt.example");
}

#[test]
fn addresses_of_ipv6_are_in_brackets_before_a_port_only() {
    let plan = closc_tests::shape::plan(
        "fabric: six
planes: 2
hosts: { groups: 2, per_group: 2, nic: { speed: 200G, lanes: 2 } }
tiers:
  t0: { platform: spectrum4-sn5600-256x100g, os: sonic, up: 1 }
  t1: { platform: spectrum4-sn5600-256x100g, os: sonic }
addresses: { management: \"fd00:64::/64\" }
",
    );
    let (reach, asking) = (TargetNames::default(), sample_options());
    let switches = targets(&prometheus::switches(&plan, &reach).expect("they have addresses"));
    let bare = &switches["p0-t0-001"];
    assert!(bare.parse::<std::net::Ipv6Addr>().is_ok(), "{bare}");
    let gnmic = text(&gnmic::configuration(&plan, &reach, &asking).expect("they have addresses"));
    assert!(gnmic.contains(&format!("address: \"[{bare}]:50052\"")), "{gnmic}");
}
