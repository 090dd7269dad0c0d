//! Where switches choose the path: no false alarms on random valid fabrics of every target, and walking every path
//! gives the same numbers as the proof.

use closc_artefacts::Memory;
use closc_plan::Plan;
use closc_tests::{exceptions, shape};
use closc_verify::{Options, Report, verify};
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;

use crate::common;
use crate::common::fabrics::Target;

/// Lines of a fabric file for a routing mode and its settings.
const ROUTINGS: [&str; 3] =
    ["routing: ecmp-static\n", "routing: ecmp-static\n", "routing: ecmp-static\necmp: { pin: downlink }\n"];

fn verify_tree(tree: &closc_artefacts::Memory) -> Report {
    verify(tree, &Options { hardware: common::hardware(), ..Options::default() })
        .expect("the tree can be read")
}

/// Assigns the addresses of other NICs to certain NICs, on every switch that routes to them. Returns whether any
/// address changed.
fn share_addresses(tree: &mut Memory, plan: &Plan, draw: usize) -> bool {
    let nics: Vec<String> = plan.fabric().nics().map(|nic| plan.addresses().nic(nic).to_string()).collect();
    if nics.len() < 2 {
        return false;
    }
    let own = draw % nics.len();
    let other = (own + 1 + draw / nics.len() % (nics.len() - 1)) % nics.len();
    let [own, other] = [own, other].map(|at| &nics[at]);
    let (own, other) = (format!(" {own}/128 "), format!(" {other}/128 "));
    // In some cases, only in one plane.
    let planes = if draw.is_multiple_of(3) { "p0-" } else { "" };
    let files = tree.files.iter_mut().filter(|(path, _)| {
        path.starts_with("switches") && path.file_name() == Some("ip.batch") && path.as_str().contains(planes)
    });
    let mut changed = false;
    for (_, bytes) in files {
        let text = String::from_utf8(bytes.clone()).expect("text");
        changed |= text.contains(&own);
        *bytes = text.replace(&own, &other).into_bytes();
    }
    common::sign(tree, plan.name(), "ecmp-static");
    changed
}

/// If NICs share an address, V1701 is reported, and walking still gives the same results as composition.
#[test]
fn nics_that_share_an_address_are_counted_alike() {
    let mut runner = TestRunner::deterministic();
    let mut count = 0;
    for draw in 0.. {
        if count == 60 {
            break;
        }
        let shape = exceptions::shapes_with_exceptions()
            .new_tree(&mut runner)
            .expect("there are such fabrics")
            .current();
        let yaml = format!("{}{}", ROUTINGS[draw % ROUTINGS.len()], shape.yaml());
        let Ok(plan) = shape::try_plan(&yaml) else { continue };
        let mut tree = common::tree(&plan);
        if !share_addresses(&mut tree, &plan, draw * 7) {
            continue;
        }
        let report = verify_tree(&tree);
        let codes: Vec<&str> = report.violations.iter().map(|found| found.rule.code).collect();
        assert!(!codes.contains(&"V0806"), "{draw}:\n{yaml}\n{}", report.text());
        assert!(report.choices.is_some() && !report.holds(), "{draw}:\n{yaml}\n{}", report.text());
        count += usize::from(codes.contains(&"V1701"));
    }
}

#[test]
fn valid_fabrics_verify() {
    let mut runner = TestRunner::deterministic();
    let (mut walked, mut absent, mut count) = (0, 0, 0);
    let (mut islands, mut apart) = (0, 0);
    while count < 150 {
        let target = Target::ALL[count % Target::ALL.len()];
        let shape = exceptions::shapes_with_exceptions()
            .new_tree(&mut runner)
            .expect("there are such fabrics")
            .current();
        let yaml = format!("{}{}", ROUTINGS[count % ROUTINGS.len()], target.apply(&shape.yaml()));
        let Ok(plan) = shape::try_plan(&yaml) else { continue };
        let report = verify_tree(&common::tree(&plan));
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
    for at in 0..60 {
        let target = Target::ALL[at % Target::ALL.len()];
        let shape =
            exceptions::islands_with_exceptions().new_tree(&mut runner).expect("there are such fabrics");
        let yaml = target.apply(&shape.current().yaml());
        let Ok(plan) = shape::try_plan(&yaml) else { continue };
        let report = verify_tree(&common::tree(&plan));
        assert!(report.holds(), "islands, {target:?}:\n{yaml}\n{}", report.text());
        let (delivery, walk) =
            (report.delivery.expect("switches choose"), report.choices.expect("it is small"));
        assert_eq!((delivery.possible, delivery.arrive), (delivery.arrive, walk.arrive), "{yaml}");
        islands += 1;
        apart += usize::from(delivery.possible < delivery.deliveries);
    }
    assert!(islands > 40 && apart > 30, "{islands} fabrics of islands, {apart} with several");
    println!("{walked} ways walked; in {absent} fabrics cables do not lead to all NICs");
    assert!(absent > 10, "exceptions take deliveries away: {absent}");
}
