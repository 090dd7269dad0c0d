//! A unit with the same fingerprint in two plans renders to the same bytes.

use std::collections::BTreeMap;

use closc_compile::{Fingerprint, Fingerprints, Part, Unit};
use closc_plan::Plan;
use closc_render::Templates;
use closc_tests::{exceptions, shape};
use proptest::prelude::*;

/// Returns the fingerprint and the bytes of every unit.
fn units(plan: &Plan) -> BTreeMap<Unit, (Fingerprint, Vec<u8>)> {
    let templates = Templates::builtin();
    let fingerprints = Fingerprints::new(plan, blake3::hash(b""));
    let units = Unit::all(plan, &Part::default()).into_iter();
    units
        .map(|unit| {
            let files = unit.render(plan, &templates).expect("a valid fabric renders");
            let bytes = files.into_iter().flat_map(|file| file.bytes).collect();
            (unit, (fingerprints.of(unit), bytes))
        })
        .collect()
}

/// Returns how many units have the same fingerprint in both plans, and checks that their bytes are equal.
fn count_common_units(old: &Plan, new: &Plan) -> usize {
    let (old, new) = (units(old), units(new));
    let same = new.iter().filter(|(unit, (print, _))| old.get(unit).is_some_and(|(own, _)| own == print));
    same.inspect(|(unit, (_, bytes))| assert!(old[unit].1 == *bytes, "{unit:?} is stale")).count()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn a_unit_that_is_kept_has_the_bytes_it_would_be_rendered_to(
        (old, new) in exceptions::related_shapes(),
        routing in shape::any_routing(),
    ) {
        count_common_units(&old.plan_with_routing(routing), &new.plan_with_routing(routing));
    }
}

/// Returns a pod of SONiC switches in which the first uplink of the first T0 has the given length.
fn pod(length: &str) -> Plan {
    let text = std::fs::read_to_string(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../topologies/examples/minimal.yaml"
    ))
    .expect("it ships");
    // Small, so that it is rendered quickly.
    let text =
        text.replace("groups: 256, per_group: 128", "groups: 4, per_group: 16").replace("up: 128", "up: 16");
    let text = text.lines().filter(|line| !line.starts_with("qos:")).collect::<Vec<_>>().join("\n");
    // The ECN threshold of a queue follows from the headroom, which follows from the length of the cable.
    shape::plan(&format!(
        "{text}
cables: {{ nic-t0: {{ length: 3m, medium: dac }}, t0-t1: {{ length: 30m, medium: dr }} }}
qos: {{ base: lossless, classes: {{ data: {{ ecn: {{ fill: {{ min: 20, max: 80, probability: 5 }} }} }} }} }}
exceptions: {{ cables: {{ p0-t0-001--p0-t1-001: {{ length: {length}, medium: fr }} }} }}
"
    ))
}

/// With a longer uplink, the first T0 marks packets at a higher queue depth, which changes the delay in every
/// path table.
#[test]
fn tables_follow_the_thresholds_of_the_first_t0() {
    let (near, far) = (pod("40m"), pod("1900m"));
    assert_ne!(near.zone_delays(), far.zone_delays(), "the example has to show it");
    let all = units(&near).len();
    let same = count_common_units(&near, &far);
    assert!(same > 0 && same < all - 2, "{same} of {all}");
}

/// Backups of NIC ports avoid shared failure domains. Earlier versions kept an outdated file.
#[test]
fn backups_of_nic_ports_follow_the_domains() {
    let text = std::fs::read_to_string(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../topologies/examples/minimal.yaml"
    ))
    .expect("it ships");
    let text = text
        .replace("groups: 256, per_group: 128", "outputs: [nccl], groups: 4, per_group: 16")
        .replace("up: 128", "up: 16");
    let with =
        |members: &str| shape::plan(&format!("{text}\ndomains: {{ feed: {{ members: [{members}] }} }}\n"));
    let (old, new) = (with("p0-t0-001"), with("p0-t0-001, p1-t0-001"));
    let differ = |unit: &Unit| units(&old)[unit].1 != units(&new)[unit].1;
    assert!(units(&old).keys().any(differ), "the example has to show it");
    count_common_units(&old, &new);
}
