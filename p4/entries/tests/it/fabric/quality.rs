//! Classes, marking and trimming in the entries of a fabric, for every QoS preset.

use closc_entries::Pipeline;
use closc_plan::{DeviceIntent, Plan};
use closc_qos::codes::Dscp;
use closc_qos::profile::{Preset, Trimming};

use crate::fabric::{shape, updates};
use crate::support::State;

fn plan(qos: &str) -> Plan {
    let yaml = shape(1, 2, 2, 2).yaml().replace("platform: linux, os: linux", "platform: bmv2, os: p4");
    closc_tests::shape::plan(&yaml.replace("qos: lossy-trim", &format!("qos: {qos}")))
}

fn state(intent: &DeviceIntent<'_>) -> State<'static> {
    State::load(Pipeline::fabric().info(), &updates(intent))
}

/// Returns the depths from which packets are marked and trimmed, on the first cabled downlink (`is_down`) or
/// uplink.
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
        // Classes in order of traffic class: no-trim, data, retransmit, trimmed, control.
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
fn trimmed_packets_carry_the_dscp_of_their_port() {
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

/// Returns the meters of a table by ingress port and class, or class 0 if the key of the table has no class.
fn meters(
    intent: &DeviceIntent<'_>,
    table: &str,
) -> std::collections::BTreeMap<(u128, u128), closc_runtime::proto::v1::MeterConfig> {
    use closc_runtime::proto::v1::{entity::Entity, field_match::FieldMatchType};

    let id = Pipeline::fabric().info().table(table).expect("a table").preamble.id;
    let number = |bytes: &[u8]| bytes.iter().fold(0u128, |number, byte| number << 8 | u128::from(*byte));
    let mut found = std::collections::BTreeMap::new();
    for update in updates(intent) {
        let Some(Entity::TableEntry(entry)) = update.entity.and_then(|entity| entity.entity) else {
            continue;
        };
        if entry.table_id != id {
            continue;
        }
        let key: Vec<u128> = entry
            .r#match
            .iter()
            .map(|field| match &field.field_match_type {
                Some(FieldMatchType::Exact(exact)) => number(&exact.value),
                other => panic!("{other:?} is not exact"),
            })
            .collect();
        let meter = entry.meter_config.expect("an entry with a meter");
        found.insert((key[0], key.get(1).copied().unwrap_or(0)), meter);
    }
    found
}

#[test]
fn every_port_has_a_limit_for_the_controller() {
    let plan = plan("lossy-trim");
    for switch in plan.switches() {
        let intent = plan.device(switch);
        let limits = meters(&intent, "ingress.punt_limit");
        let cabled = intent.ports.iter().filter(|port| port.connection.is_some());
        let cabled: Vec<_> = cabled.map(|port| (u128::from(port.physical.number), 0)).collect();
        assert_eq!(limits.keys().copied().collect::<Vec<_>>(), cabled);
        for meter in limits.values() {
            assert_eq!((meter.cir, meter.cburst, meter.pir, meter.pburst), (10, 10, 10, 10));
        }
    }
}

#[test]
fn nic_ports_limit_strict_classes_and_demote_trimmed_packets() {
    for preset in Preset::ALL {
        let plan = plan(preset.name());
        for switch in plan.switches() {
            let intent = plan.device(switch);
            let (limits, state) = (meters(&intent, "ingress.nic_class"), state(&intent));
            for port in &intent.ports {
                for (number, class) in intent.qos.classes().enumerate() {
                    let strict = class.scheduler == closc_qos::profile::Scheduler::Strict;
                    let trimmed = class.role == closc_qos::profile::Role::Trimmed;
                    let key = (u128::from(port.physical.number), number as u128);
                    let limit = limits.get(&key);
                    assert_eq!(
                        limit.is_some(),
                        port.faces_nic() && (strict || trimmed),
                        "{} {key:?}",
                        preset.name()
                    );
                    let Some(limit) = limit else { continue };
                    let tenth = i64::from(port.physical.speed.mbps()) * 12_500;
                    assert_eq!(limit.pir, if trimmed { 1 } else { tenth });
                    let call = state.call("nic_class", &[("ingress_port", key.0), ("class", key.1)]);
                    let rest = intent.qos.default_class();
                    assert_eq!(call.argument("dscp"), u128::from(rest.mark().expect("a mark").get()));
                    assert_eq!(call.argument("queue"), 0);
                }
            }
        }
    }
}
