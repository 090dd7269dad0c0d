//! The order of a rollout, simulated moment by moment: no pair loses more than the given share, checked by
//! walking every path.

use std::collections::BTreeSet;

use closc_artefacts::Routing;
use closc_diff::rollout::{Limit, Rollout, RolloutError, Step, drain_places};
use closc_diff::{Difference, RolloutMode, judge};
use closc_plan::{PathKind, Plan};
use closc_tests::exceptions::related_shapes;
use closc_tests::shape::{Shape, any_routing, plan};
use closc_topology::TierId;
use proptest::prelude::*;

use crate::walk::walk;

const SMALL: Shape = Shape {
    planes: 2,
    groups: 2,
    per_group: 2,
    rails: 1,
    t1: 4,
    parallel: 1,
    t2: None,
    exceptions: String::new(),
};

/// Returns the fabric with a change that affects every switch: larger packets.
fn with_mtu(shape: &Shape) -> Shape {
    Shape {
        exceptions: format!("{}mtu: {{ link: 9100, payload: 9000 }}\n", shape.exceptions),
        ..shape.clone()
    }
}

/// Walks every moment of a rollout; returns the largest loss of any pair.
fn worst(old: &Plan, new: &Plan, rollout: &Rollout) -> f64 {
    let (mut before, planned) = walk(old);
    // Removed NICs are stopped first.
    before.retain(|pair, _| [pair.0, pair.1].iter().all(|nic| new.fabric().has_nic(*nic)));
    let mut worst: f64 = 0.0;
    for places in rollout.moments() {
        let (now, _) = walk(&Plan::new(drain_places(old.fabric(), &places)));
        for (pair, usable) in &before {
            let all = planned[&PathKind::classify(pair.0, pair.1)] as f64;
            let (then, now): (u64, u64) = (usable.iter().sum(), now[pair].iter().sum());
            assert!(then == 0 || now > 0, "{pair:?} is cut off without {places:?}");
            worst = worst.max((then - now) as f64 / all);
        }
    }
    worst
}

fn check(old: &Shape, new: &Shape, routing: Routing, planes: f64) -> Result<(), TestCaseError> {
    let (old, new) = (old.plan_with_routing(routing), new.plan_with_routing(routing));
    let limit = Limit { share: planes * Limit::one_plane(old.topology()).share };
    let rollout = match Rollout::new(&old, &new, limit) {
        Ok(rollout) => rollout,
        Err(RolloutError::TooNarrow { loss, share, .. } | RolloutError::Target { loss, share }) => {
            prop_assert!(loss > share);
            return Ok(());
        }
        Err(RolloutError::CutOff { .. } | RolloutError::AtOnce { .. } | RolloutError::Segments(_)) => {
            return Ok(());
        }
    };
    let worst = worst(&old, &new, &rollout);
    prop_assert!(worst <= limit.share + 1e-9, "a pair lost {worst} of {}", limit.share);
    // Each element to drain is drained exactly once.
    let difference = Difference::compare(old.fabric(), new.fabric());
    let wanted: BTreeSet<_> = difference
        .changes
        .iter()
        .flat_map(|change| match judge(change, old.fabric(), new.fabric()).mode {
            RolloutMode::Drained(places) => places,
            RolloutMode::Hitless
            | RolloutMode::Leaves
            | RolloutMode::NodeByNode
            | RolloutMode::PlaneByPlane(_)
            | RolloutMode::AtOnce => Vec::new(),
        })
        .collect();
    let all: Vec<_> = rollout.waves.iter().flat_map(|wave| wave.drained.clone()).collect();
    let once: BTreeSet<_> = all.iter().copied().collect();
    prop_assert_eq!(all.len(), once.len());
    prop_assert!(wanted.is_subset(&once));
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn no_pair_loses_more_than_one_plane((old, new) in related_shapes(), routing in any_routing()) {
        check(&old, &with_mtu(&new), routing, 1.0)?;
    }

    #[test]
    fn no_pair_loses_more_than_two_planes((old, new) in related_shapes(), routing in any_routing()) {
        check(&old, &new, routing, 2.0)?;
    }
}

#[test]
fn a_plane_is_one_wave() {
    let rollout =
        Rollout::new(&SMALL.plan(), &with_mtu(&SMALL).plan(), Limit::one_plane(SMALL.plan().topology()));
    let waves: Vec<_> = rollout.unwrap().waves.iter().map(|wave| (wave.plane, wave.drained.len())).collect();
    // Each plane has two T0s and four T1s; the tables come last.
    assert_eq!(
        waves.iter().map(|(plane, count)| (plane.map(|p| p.0), *count)).collect::<Vec<_>>(),
        [(Some(0), 6), (Some(1), 6), (None, 0)]
    );
}

#[test]
fn a_smaller_share_makes_smaller_waves_and_says_when_it_is_too_small() {
    let new = Shape {
        exceptions: "exceptions: { devices: { p0-t1-001: { os: frr }, p0-t1-002: { os: frr } } }\n".into(),
        ..SMALL
    };
    // The loss of one of four T1s in one of two planes.
    let waves = |share| Rollout::new(&SMALL.plan(), &new.plan(), Limit { share });
    assert_eq!(waves(0.25).unwrap().waves.len(), 2);
    assert_eq!(waves(0.125).unwrap().waves.len(), 3);
    let error = waves(0.1).unwrap_err().to_string();
    assert_eq!(error, "draining `p0-t1-001` takes 12.5 % of a pair's bandwidth, but the limit is 10 %");
}

/// A T0 group is removed with its NICs in every plane. Pairs with a stopped NIC do not count as cut off.
#[test]
fn a_group_goes_with_its_nics() {
    let mut names = vec!["su002-n001/nic0".to_owned(), "su002-n002/nic0".to_owned()];
    names.extend((0..2).map(|plane| format!("p{plane}-t0-002")));
    let absent = format!("exceptions: {{ absent: [{}] }}\n", names.join(", "));
    let (old, new) = (SMALL.plan(), Shape { exceptions: absent, ..SMALL }.plan());
    let rollout = Rollout::new(&old, &new, Limit::one_plane(old.topology())).expect("it can be rolled out");
    let gone: Vec<usize> = rollout.waves.iter().map(|wave| wave.removed_places.len()).collect();
    assert_eq!(gone, [0, 1, 1, 0], "{:#?}", rollout.waves);
    assert!(matches!(rollout.waves[0].steps[..], [Step::StopNics { nics: 2 }, ..]));
}

#[test]
fn nothing_is_taken_from_a_fabric_of_one_plane() {
    let one = Shape { planes: 1, ..SMALL };
    let error = Rollout::new(&one.plan(), &with_mtu(&one).plan(), Limit { share: 1.0 }).unwrap_err();
    assert!(matches!(error, RolloutError::CutOff { .. }), "{error}");
}

#[test]
fn hosts_leave_first_and_return_last_and_every_wave_can_be_undone() {
    // Another profile adds, changes and removes entries of every switch.
    let lossless = SMALL.yaml().replace("qos: lossy-trim", "qos: lossless");
    let (old, new) = (SMALL.plan(), plan(&lossless));
    let rollout = Rollout::new(&old, &new, Limit::one_plane(old.topology())).unwrap();
    for wave in rollout.waves.iter().filter(|wave| wave.plane.is_some()) {
        assert!(matches!(wave.steps.first(), Some(Step::DenyPaths { .. })));
        assert!(matches!(wave.steps.last(), Some(Step::AllowPaths { .. })));
        let at = |wanted: fn(&Step) -> bool| wave.steps.iter().position(wanted).unwrap();
        let (add, change) = (at(|s| matches!(s, Step::Add { .. })), at(|s| matches!(s, Step::Change { .. })));
        let remove = at(|s| matches!(s, Step::Remove { .. }));
        assert!(add < change && change < remove);
        let back = wave.rollback();
        assert_eq!(back.iter().filter(|step| matches!(step, Step::Verify)).count(), 1, "{back:?}");
        assert!(matches!(back.first(), Some(Step::DenyPaths { .. })), "{back:?}");
        assert!(matches!(back.as_slice(), [.., Step::Verify, Step::AllowPaths { .. }]), "{back:?}");
    }
}

/// Returns a fabric whose growth adds lossless ports to switches in use.
fn pod(groups: u16, qos: &str) -> Plan {
    plan(&format!(
        "fabric: pod\nplanes: 2\nrouting: ecmp-static\nhosts: {{ groups: {groups}, per_group: 4, nic: {{ speed: 800G }} }}\n\
         tiers:\n  t0: {{ platform: th5-128x400g, os: sonic, up: 4 }}\n  t1: {{ platform: th5-128x400g, os: sonic }}\n\
         cables: {{ nic-t0: {{ length: 3m }}, t0-t1: {{ length: 30m }} }}\nqos: {qos}\n"
    ))
}

#[test]
fn lossless_growth_divides_buffers_anew() {
    let modes = |qos: &str| -> BTreeSet<RolloutMode> {
        let (old, new) = (pod(4, qos), pod(5, qos));
        let difference = Difference::compare(old.fabric(), new.fabric());
        difference.changes.iter().map(|change| judge(change, old.fabric(), new.fabric()).mode).collect()
    };
    assert!(
        modes("lossless").contains(&RolloutMode::PlaneByPlane(vec![TierId::T1])),
        "{:?}",
        modes("lossless")
    );
    assert_eq!(modes("lossy-trim"), BTreeSet::from([RolloutMode::Hitless]));
}
