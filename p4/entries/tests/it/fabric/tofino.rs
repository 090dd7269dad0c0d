//! The entries of `fabric_tna`: the tables of `fabric` with device ports, and marking with two random numbers.

use closc_entries::{Pipeline, entries_file};
use closc_plan::{DeviceIntent, Plan};
use closc_runtime::text;

use crate::fabric::shape;
use crate::support::{Outcome, State};

fn plan(routing: &str, qos: &str) -> Plan {
    let yaml = closc_tests::shape::tofino_yaml(&shape(1, 3, 2, 2).yaml());
    let start = yaml.find("qos: ").expect("the YAML of a shape sets `qos`");
    let rest = yaml[start..].split_once('\n').map_or("", |(_, rest)| rest);
    closc_tests::shape::plan(&format!("routing: {routing}\n{}qos: {qos}\n{rest}", &yaml[..start]))
}

fn pipeline() -> &'static Pipeline {
    Pipeline::all().iter().find(|one| one.name() == "fabric_tna").expect("a known pipeline")
}

fn state(intent: &DeviceIntent<'_>) -> State<'static> {
    let file = entries_file(pipeline(), intent).expect("the pipeline supports the intent");
    assert_eq!(file.path, format!("switches/{}/tna.txtpb", intent.name));
    State::load(pipeline().info(), &text::read_entries(&file.text).expect("the file is protobuf text"))
}

#[test]
fn next_hops_use_device_ports_and_each_tier_has_its_own_hash_function() {
    let plan = plan("ecmp-static", "none");
    let mut functions = Vec::new();
    for switch in plan.switches() {
        let intent = plan.device(switch);
        let state = state(&intent);
        for port in intent.ports.iter().filter(|port| port.connection.is_some()) {
            let hop = state.call("nexthop", &[("nexthop_id", port.physical.number.into())]);
            assert_eq!(hop.argument("port"), u128::from(port.physical.device));
            let role = state.call("port_role", &[("ingress_port", port.physical.device.into())]);
            assert_eq!(role.action, if port.faces_nic() { "nic_port" } else { "fabric_port" });
        }
        let grouped = intent.routes.iter().find_map(|route| {
            let found = state.call("ipv6_route", &[("dst", route.prefix.network().to_ipv6().to_bits())]);
            (found.action == "set_wcmp_group").then(|| found.argument("wcmp_group_id"))
        });
        let Some(group) = grouped else { continue };
        let Some(Outcome::Group(members)) = state.look("wcmp_group", &[("wcmp_group_id", group)]) else {
            panic!("a route refers to a missing group")
        };
        assert_eq!(state.group(members).len(), 2);
        functions.push((switch.tier, state.call("wcmp_hash", &[]).argument("function")));
    }
    assert!(functions.iter().all(|(tier, function)| *function == u128::from(tier.level())), "{functions:?}");
    assert!(!functions.is_empty());
}

/// At each tested depth, the marking probability differs from the profile's straight line by at most
/// 1/65,536.
#[test]
fn marking_follows_the_line_of_the_profile() {
    for (min, max, percent) in
        [(1_000_000, 2_000_000, 5), (176, 352_000, 50), (0, 176 * 4096, 100), (800, 90_000, 1)]
    {
        let qos = format!(
            "{{ base: none, classes: {{ data: {{ ecn: {{ thresholds: {{ min: {min}B, max: {max}B, probability: {percent} }} }} }} }} }}"
        );
        let plan = plan("srv6-static", &qos);
        let intent = plan.device(plan.switches().next().expect("a T0"));
        let port = intent.ports.iter().find(|port| !port.is_down()).expect("an uplink").physical.device;
        let call = state(&intent).call("ecn", &[("egress_port", port.into()), ("class", 0)]);
        let [least, most, mask, share] =
            ["min_depth_cells", "max_depth_cells", "ramp_mask", "share"].map(|name| call.argument(name));
        assert_eq!((least, most), ((min as u128).div_ceil(176), (max as u128).div_ceil(176)));
        assert!((mask + 1).is_power_of_two() && mask + 1 >= most - least);
        for depth in [least, least + 1, least.midpoint(most), most - 1, most] {
            let dice = (depth - least) as f64 / (mask + 1) as f64 * share as f64 / 65_536.0;
            let line = (depth - least) as f64 / (most - least) as f64 * percent as f64 / 100.0;
            assert!((dice - line).abs() <= 1.0 / 65_536.0, "{min} {max} {percent}: {depth} {dice} {line}");
        }
    }
}

#[test]
fn a_probability_that_the_ramp_cannot_reach_is_rejected() {
    let qos = "{ base: none, classes: { data: { ecn: { thresholds: { min: 176KB, max: 281600B, probability: 80 } } } } }";
    let plan = plan("srv6-static", qos);
    let intent = plan.device(plan.switches().next().expect("a T0"));
    // The thresholds are 600 cells apart. The ramp is rounded up to 1,024 cells, so marking reaches only
    // 600 / 1,024, or 58 %.
    let message = pipeline().entities(&intent).expect_err("80 % is above 58 %").to_string();
    assert_eq!(
        message,
        "`p0-t0-001`: pipeline `fabric_tna` cannot mark up to 80 % between 1000 and 1600 cells; expected at \
         most 58 %, because its ramps have 2^n cells"
    );
}

#[test]
fn the_pipeline_has_no_trim_table() {
    let plan = plan("srv6-static", "sonic-ai-lossy");
    assert!(pipeline().info().table("egress.trim").is_err());
    for switch in plan.switches() {
        state(&plan.device(switch));
    }
}
