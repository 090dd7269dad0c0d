//! Where switches choose the way: no false alarms on random valid fabrics of every target, and walking every way comes
//! to the same numbers as the proof.

mod common;

use closc_tests::{exceptions, shape};
use closc_verify::{Options, Report, verify};
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;

use common::fabrics::Target;

/// Lines that name a routing and what goes with it.
const ROUTINGS: [&str; 3] =
    ["routing: ecmp-static\n", "routing: ecmp-static\n", "routing: ecmp-static\necmp: { pin: downlink }\n"];

fn verified(tree: &closc_artefacts::Memory) -> Report {
    verify(tree, &Options { hardware: common::hardware(), ..Options::default() })
        .expect("the tree can be read")
}

#[test]
fn valid_fabrics_verify() {
    let mut runner = TestRunner::deterministic();
    let (mut walked, mut absent, mut count) = (0, 0, 0);
    while count < 150 {
        let target = Target::ALL[count % Target::ALL.len()];
        let shape = exceptions::excepted().new_tree(&mut runner).expect("there are such fabrics").current();
        let yaml = format!("{}{}", ROUTINGS[count % ROUTINGS.len()], target.apply(&shape.yaml()));
        let Ok(plan) = shape::try_plan(&yaml) else { continue };
        let report = verified(&common::tree(&plan));
        assert!(report.holds(), "fabric {count}, {target:?}:\n{yaml}\n{}", report.text());
        let delivery = report.delivery.expect("switches choose");
        assert_eq!(delivery.possible, delivery.arrive, "fabric {count}:\n{yaml}");
        assert_eq!(delivery.doubtful, 0);
        let walk = report.choices.expect("the fabric is small");
        assert_eq!((delivery.deliveries, delivery.arrive), (walk.deliveries, walk.arrive));
        assert_eq!((delivery.ways, delivery.tried), (walk.ways, walk.tried));
        walked += walk.tried;
        absent += usize::from(delivery.possible < delivery.deliveries);
        count += 1;
    }
    println!("{walked} ways walked; in {absent} fabrics cables do not lead to all NICs");
    assert!(absent > 15, "exceptions take deliveries away: {absent}");
}
