//! Fabrics that speak BGP: what is compiled has no faults, whatever is absent or drained.

mod common;

use closc_plan::Plan;
use closc_tests::exceptions;
use closc_tests::shape::{self, Shape};
use closc_verify::{Options, Report, verify};
use common::fabrics::Target;
use proptest::prelude::*;

/// Puts BGP and a language into a shape.
fn plan(shape: &Shape, target: Target) -> Option<Plan> {
    let yaml = target.apply(&shape.yaml());
    shape::try_plan(&format!("routing: bgp-unnumbered\n{yaml}")).ok()
}

fn report(plan: &Plan) -> Report {
    verify(&common::tree(plan), &Options::default()).expect("the tree can be read")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn compiled_fabrics_have_no_faults(shape in exceptions::excepted(), sonic in any::<bool>(), lossless in any::<bool>()) {
        let target = match (sonic, lossless) {
            (false, _) => Target::Frr,
            (true, false) => Target::Sonic,
            (true, true) => Target::Lossless,
        };
        if let Some(plan) = plan(&shape, target) {
            let report = report(&plan);
            prop_assert!(report.holds(), "{target:?}:\n{}\n{}", shape.yaml(), report.text());
        }
    }
}
