//! Classes, marking and trimming in the entries of a fabric, for every preset of the profiles.

use closc_entries::Pipeline;
use closc_plan::{DeviceIntent, Plan};
use closc_qos::codes::Dscp;
use closc_qos::profile::{Preset, Trimming};

use crate::support::State;
use crate::{shape, updates};

fn plan(qos: &str) -> Plan {
    let yaml = shape(1, 2, 2, 2).yaml().replace("platform: linux, os: linux", "platform: bmv2, os: p4");
    closc_tests::shape::plan(&yaml.replace("qos: lossy-trim", &format!("qos: {qos}")))
}

fn state(intent: &DeviceIntent<'_>) -> State<'static> {
    State::load(Pipeline::fabric().info(), &updates(intent))
}

/// Returns the depths that lead to a mark and to a cut on the first port that faces up or down.
fn thresholds(intent: &DeviceIntent<'_>, is_down: bool, class: u128) -> (Option<(u128, u128)>, Option<u128>) {
    let state = state(intent);
    let port = intent.ports.iter().find(|port| port.is_down() == is_down && port.connection.is_some());
    let port = u128::from(port.expect("a cabled port").physical.number);
    let key = [("egress_port", port), ("class", class)];
    let ecn = state.call("ecn", &key);
    let trim = state.call("trim", &key);
    let marks = (ecn.action == "set_ecn_thresholds")
        .then(|| (ecn.argument("min_depth_packets"), ecn.argument("max_depth_packets")));
    (marks, (trim.action == "set_trim").then(|| trim.argument("depth_packets")))
}

#[test]
fn data_is_marked_before_it_is_trimmed_and_not_at_all_towards_the_nic() {
    let plan = plan("lossy-trim");
    for switch in plan.switches() {
        let intent = plan.device(switch);
        let t0 = intent.ports.iter().any(closc_plan::PortIntent::faces_nic);
        // Classes by rising traffic class: no-trim, data, retransmit, trimmed, control.
        for class in [1, 2] {
            let (marks, trim) = thresholds(&intent, !t0, class);
            let ((min, max), trim) = (marks.expect("marked"), trim.expect("trimmed"));
            assert!(0 < min && min < max && max < trim && trim < 64, "{min} {max} {trim}");
        }
        for class in [0, 3, 4] {
            assert_eq!(thresholds(&intent, !t0, class), (None, None));
        }
        if t0 {
            assert!(matches!(thresholds(&intent, true, 1), (None, Some(_))), "trimmed, but not marked");
        }
    }
}

#[test]
fn trimmed_packets_say_where() {
    let plan = plan("lossy-trim");
    let intent = plan.device(plan.switches().next().expect("a T0"));
    let trimming = intent.qos.trimming().expect("the profile trims");
    let state = state(&intent);
    for port in &intent.ports {
        let key = [("egress_port", u128::from(port.physical.number)), ("class", 1)];
        let trim = state.call("trim", &key);
        let expected = if port.faces_nic() { trimming.last_hop_dscp } else { trimming.fabric_dscp };
        assert_eq!(trim.argument("trimmed_dscp"), u128::from(expected.get()));
        assert_eq!(trim.argument("size_bytes"), u128::from(Trimming::DEFAULT_SIZE.0));
    }
}

#[test]
fn every_preset_has_entries_and_every_code_point_its_class() {
    for preset in Preset::ALL {
        let plan = plan(preset.name());
        let intent = plan.device(plan.switches().next().expect("a T0"));
        let state = state(&intent);
        let classes: Vec<_> = intent.qos.classes().collect();
        let queues: Vec<u128> = Dscp::all()
            .map(|dscp| {
                let call = state.call("dscp_class", &[("dscp", dscp.get().into())]);
                let set = call.action == "set_class";
                let class = if set { call.argument("class") } else { 0 };
                let expected = intent.qos.class_of(dscp);
                assert_eq!(classes[class as usize].name, expected.name, "{} dscp {dscp}", preset.name());
                let queue = if set { call.argument("queue") } else { 0 };
                let strict = expected.scheduler == closc_qos::profile::Scheduler::Strict;
                assert_eq!(queue > 0, strict, "{} dscp {dscp}", preset.name());
                queue
            })
            .collect();
        assert!(queues.iter().all(|queue| *queue < 8));
    }
}
