//! Drift reports differences, and changes nothing.

use closc_deploy::{DeviceDrift, Difference, drift, silent};
use closc_runtime::proto::v1::entity::Entity;

use crate::support::{Lab, T0, live_entities, options, small_tree, stray};

#[tokio::test]
async fn a_fabric_without_drift_is_clean() {
    let lab = Lab::start(small_tree(2, 2, 2)).await;
    let before = drift(&lab.fleet(), &options(), silent()).await;
    assert!(!before.is_clean() && !before.is_incomplete());
    assert!(before.show().contains("p0-t0-001\n  runs pipeline none, wanted 0x"), "{}", before.show());
    lab.converge().await;
    let report = drift(&lab.fleet(), &options(), silent()).await;
    assert!(report.is_clean());
    assert_eq!(report.show(), "");
}

#[tokio::test]
async fn every_difference_is_named_and_none_is_repaired() {
    let lab = Lab::one().await;
    lab.converge().await;
    lab.target().plant([stray(7)]);
    let holds = live_entities(lab.target());
    let report = drift(&lab.fleet(), &options(), silent()).await;
    assert!(!report.is_clean());
    let shown = "p0-t0-001\n  unexpected  ingress.ipv6_route  dst=fd00:0:0:7::/64 -> blackhole()\n";
    assert_eq!(report.show(), shown);
    let DeviceDrift::Entries { differences, .. } = &report.devices[T0] else { panic!("{report:?}") };
    assert!(matches!(&differences[..], [Difference::Unexpected { .. }]));
    let json = serde_json::to_value(&report).expect("a report has a form in JSON");
    assert_eq!(json["devices"][T0]["differences"][0]["kind"], "unexpected");
    assert_eq!(json["devices"][T0]["drift"], "entries");
    assert_eq!(live_entities(lab.target()), holds);
}

#[tokio::test]
async fn another_rate_of_a_meter_is_a_difference() {
    let lab = Lab::one().await;
    lab.converge().await;
    let metered = lab.target_entities(T0).into_iter().find_map(|entity| match entity.entity {
        Some(Entity::TableEntry(entry)) if entry.meter_config.is_some() => Some(entry),
        _ => None,
    });
    let mut entry = metered.expect("ports have limits");
    let rate = &mut entry.meter_config.as_mut().expect("found by it").pir;
    *rate += 1;
    let shown = format!(", pir={rate}, ");
    lab.target().plant([entry.into()]);
    let report = drift(&lab.fleet(), &options(), silent()).await;
    assert!(report.show().contains(&shown), "{}", report.show());
}

#[tokio::test]
async fn a_switch_that_cannot_be_read_is_not_clean() {
    let lab = Lab::start(small_tree(1, 1, 1)).await;
    lab.converge().await;
    let mut lab = lab;
    lab.targets.get_mut(T0).expect("there").down().await;
    let report = drift(&lab.fleet(), &options(), silent()).await;
    assert!(report.is_incomplete() && !report.is_clean());
    assert!(report.show().starts_with("p0-t0-001\n  while connecting: "), "{}", report.show());
    assert_eq!(report.devices["p0-t1-001"], DeviceDrift::None);
}
