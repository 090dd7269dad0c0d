//! Tests and diagnoses over a data plane in memory: every fault of small fabrics is found from its effects.

use closc_lab::model::{CableId, Model};
use closc_lab::probe::{self, ProbeReport, SuspectElement};
use closc_lab::test::{self, TestReport};
use closc_lab::trace::{self, Finding};
use closc_lab::tree::Tree;
use closc_lab::{CutReport, Extent};

use crate::common::simulated_backend::SimulatedBackend;
use crate::common::{compile, quietly, shipped};

fn read(yaml: &str) -> (Tree, Model) {
    let compiled = compile(yaml, "simulated");
    let tree = Tree::read(&compiled.tree).unwrap();
    let model = Model::of(&tree).unwrap();
    (tree, model)
}

fn run(tree: &Tree, model: &Model, backend: &mut SimulatedBackend<'_>) -> TestReport {
    quietly(|watch| test::run(tree, model, backend, Extent::Everything, watch)).unwrap()
}

fn diagnose(tree: &Tree, model: &Model, backend: &mut SimulatedBackend<'_>) -> (TestReport, Vec<Finding>) {
    quietly(|watch| trace::run(tree, model, backend, watch)).unwrap()
}

#[test]
fn fabrics_of_every_shape_are_walked_without_a_difference() {
    for name in [
        "lab/two-planes",
        "lab/eight-planes",
        "lab/eight-planes-blocks",
        "examples/parallel-links",
        "examples/three-tiers",
    ] {
        let (tree, model) = read(&shipped(name));
        let report = run(&tree, &model, &mut SimulatedBackend::new(&tree, &model));
        assert!(report.is_fine(), "{name}:\n{report}");
        assert!(report.paths > 0 && report.absent == 0);
    }
}

/// Switches drop one packet in 41 under load. Packets that arrive after a retransmission are not a fault of the fabric.
#[test]
fn losses_under_load_are_sent_again_before_a_switch_is_blamed() {
    let (tree, model) = read(&shipped("lab/eight-planes"));
    let mut busy = SimulatedBackend::new(&tree, &model);
    busy.drops_one_of = 41;
    let (report, findings) = diagnose(&tree, &model, &mut busy);
    assert!(report.is_fine() && findings.is_empty(), "{report}\n{findings:?}");
    assert!(report.resent >= report.packets / 50, "{report}");
    let said = report.to_string();
    assert!(said.contains("were lost and retransmitted") && said.contains(" 0 are lost for good"), "{said}");
    // A cut cable loses all attempts, so it is still found.
    let mut cut = SimulatedBackend::new(&tree, &model);
    cut.drops_one_of = 41;
    cut.cut("p3-t0-001--p3-t1-001");
    let (report, findings) = diagnose(&tree, &model, &mut cut);
    assert!(report.lost > 0 && !report.is_fine(), "{report}");
    let cables: Vec<&Finding> = findings.iter().filter(|f| matches!(f, Finding::Cut { .. })).collect();
    assert!(
        matches!(cables.as_slice(), [Finding::Cut { cable, .. }] if cable == "p3-t0-001--p3-t1-001"),
        "{findings:?}"
    );
}

#[test]
fn paths_of_absent_switches_are_left_out() {
    let yaml = shipped("lab/two-planes") + "exceptions: { absent: [p0-t1-002] }\n";
    let (tree, model) = read(&yaml);
    let report = run(&tree, &model, &mut SimulatedBackend::new(&tree, &model));
    assert!(report.is_fine(), "{report}");
    assert_eq!((report.paths, report.absent), (32, 8));
}

/// For any two swapped cables, packets are never misdelivered, and exactly these two cables are found. All pairs of
/// the small fabric are tested, and every 61st of the 3,160 pairs of the large one.
#[test]
fn every_swap_is_found() {
    // If each plane has its own block, uSIDs are the same in all planes.
    let blocks = shipped("lab/two-planes") + "srv6: { plan: plane-in-block }\n";
    for (yaml, step) in [(shipped("lab/two-planes"), 1), (blocks, 1), (shipped("examples/three-tiers"), 61)] {
        let (tree, model) = read(&yaml);
        let names: Vec<&str> =
            (0..model.cables.len()).map(CableId).map(|cable| model.cable_name(cable)).collect();
        let pairs =
            names.iter().enumerate().flat_map(|(at, a)| names[at + 1..].iter().map(move |b| (*a, *b)));
        for (first, second) in pairs.step_by(step) {
            let mut backend = SimulatedBackend::new(&tree, &model);
            backend.swap(first, second);
            let (report, findings) = diagnose(&tree, &model, &mut backend);
            assert_eq!(report.misdelivered, 0, "{first} {second}");
            let found = matches!(
                findings.as_slice(),
                [Finding::Swapped { first: a, second: b, .. }] if (a.as_str(), b.as_str()) == (first, second)
            );
            assert!(found, "{first} {second}: {findings:#?}");
        }
    }
}

#[test]
fn swapped_parallel_cables_lose_nothing_and_are_found_by_counters() {
    let (tree, model) = read(&shipped("examples/parallel-links"));
    let mut backend = SimulatedBackend::new(&tree, &model);
    backend.swap("p0-t0-001--p0-t1-001", "p0-t0-001--p0-t1-001#2");
    let (report, findings) = diagnose(&tree, &model, &mut backend);
    assert_eq!(report.delivered, report.packets);
    assert!(!report.is_fine());
    assert!(matches!(findings.as_slice(), [Finding::Swapped { .. }]), "{findings:#?}");
}

#[test]
fn every_cut_is_found_by_test_and_by_probes() {
    let (tree, model) = read(&shipped("lab/eight-planes"));
    for cable in (0..model.cables.len()).map(CableId).step_by(7) {
        let name = model.cable_name(cable);
        let mut backend = SimulatedBackend::new(&tree, &model);
        backend.cut(name);
        let (_, findings) = diagnose(&tree, &model, &mut backend);
        assert!(
            matches!(findings.as_slice(), [Finding::Cut { cable, .. }] if cable == name),
            "{findings:#?}"
        );
        let report = quietly(|watch| probe::run(&tree, &model, &mut backend, watch)).unwrap();
        let accused = report.accused.as_slice();
        assert!(matches!(accused, [SuspectElement::Cable { cable, .. }] if cable == name), "{accused:#?}");
    }
}

/// Creates the report on a cut cable from the results of probes.
fn cut_report(cut: &str, probes: ProbeReport) -> CutReport {
    CutReport {
        restored: false,
        cut: cut.to_owned(),
        down: false,
        probes: Some(probes),
        test: None,
        findings: Vec::new(),
    }
}

/// Three tiers: also cuts cables between T1 and T2, and tests T2s.
#[test]
fn every_cut_under_t2s_is_found_by_probes() {
    let (tree, model) = read(&shipped("examples/three-tiers"));
    for cable in (0..model.cables.len()).map(CableId) {
        let name = model.cable_name(cable);
        let mut backend = SimulatedBackend::new(&tree, &model);
        backend.cut(name);
        let report = quietly(|watch| probe::run(&tree, &model, &mut backend, watch)).unwrap();
        assert!(report.accuses(name) && report.accused.len() == 1, "{name}: {:#?}", report.accused);
        let cut = cut_report(name, report);
        assert!(cut.is_found() && !cut.to_string().contains("not found"), "{cut}");
    }
    let switch = model.devices.iter().find(|device| device.name.contains("-t2-")).unwrap();
    let mut backend = SimulatedBackend::new(&tree, &model);
    backend.silence(&switch.name);
    let report = quietly(|watch| probe::run(&tree, &model, &mut backend, watch)).unwrap();
    let accused = report.accused.as_slice();
    assert!(
        matches!(accused, [SuspectElement::Switch { switch: found, .. }] if *found == switch.name),
        "{accused:#?}"
    );
}

/// A cut without lost probes is reported as not found.
#[test]
fn a_cut_that_probes_do_not_see_is_said() {
    let (tree, model) = read(&shipped("examples/three-tiers"));
    let mut backend = SimulatedBackend::new(&tree, &model);
    let probes = quietly(|watch| probe::run(&tree, &model, &mut backend, watch)).unwrap();
    let cut = cut_report("z0-p0-t1-001--p0-t2-001", probes);
    assert!(!cut.is_found());
    assert!(cut.to_string().contains("not found: z0-p0-t1-001--p0-t2-001 (every probe returned"), "{cut}");
}

#[test]
fn a_switch_that_does_not_forward_is_no_cut() {
    let (tree, model) = read(&shipped("lab/eight-planes"));
    let mut backend = SimulatedBackend::new(&tree, &model);
    backend.silence("p2-t1-003");
    let (_, findings) = diagnose(&tree, &model, &mut backend);
    assert!(
        matches!(findings.as_slice(), [Finding::Silent { device, .. }] if device == "p2-t1-003"),
        "{findings:#?}"
    );
    let report = quietly(|watch| probe::run(&tree, &model, &mut backend, watch)).unwrap();
    let accused = report.accused.as_slice();
    assert!(
        matches!(accused, [SuspectElement::Switch { switch, .. }] if switch == "p2-t1-003"),
        "{accused:#?}"
    );
}
