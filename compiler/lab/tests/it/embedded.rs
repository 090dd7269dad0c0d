//! Labs of embedded switches: programmed over gRPC, tested packet by packet, with moved and restored cables.

use std::os::unix::net::UnixListener;
use std::sync::Arc;

use closc_compile::Folder;
use closc_deploy::{Counts, Fleet, Inventory, PushOptions, PushReport, Tree, open_gate, push, silent};
use closc_lab::model::CableId;
use closc_lab::probe::SuspectElement;
use closc_lab::trace::Finding;
use closc_lab::{Ends, Extent, Interrupt, Lab, LabError, LinkLayer, Target, Watch};

use crate::common::{CompiledTree, compile, quietly, shipped};

/// Compiles a fabric and starts its lab in this process.
fn up(topology: &str, fabric: &str) -> (Lab, CompiledTree) {
    let compiled = compile(&shipped(topology), fabric);
    let (lab, report) = quietly(|watch| Lab::up(&compiled.tree, &compiled.options, watch)).unwrap();
    assert_eq!((report.target, report.again), (Target::Embedded, false));
    (lab, compiled)
}

/// Programs the switches as `closc push` does.
fn program(compiled: &CompiledTree) -> PushReport {
    let path = closc_lab::inventory(&compiled.fabric, &compiled.options).unwrap();
    let inventory = Inventory::parse(&std::fs::read_to_string(path).unwrap()).unwrap();
    let nothing = |_: &str| Err(std::io::ErrorKind::NotFound.into());
    let tree = Arc::new(Tree::open(Arc::new(Folder::new(compiled.tree.clone()))).unwrap());
    let fleet = Fleet::new(&inventory, &nothing, &tree, |_| true).unwrap().of_lab();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let report = runtime.block_on(push(&fleet, &PushOptions::default(), silent(), open_gate()));
    assert!(report.is_good(), "{:?}", report.failures().next());
    report
}

/// Interrupts a miswire and a cut at every step. All cables must be restored.
#[test]
fn cables_go_back_where_a_miswire_is_interrupted() {
    let (mut lab, compiled) = up("lab/two-planes-p4", "ei");
    program(&compiled);
    let (a, b) = ("p0-t0-001--p0-t1-001", "p0-t0-002--p0-t1-001");
    for after in 0..4 {
        for cut in [false, true] {
            let interrupt = Interrupt::default();
            let seen = std::sync::atomic::AtomicU32::new(0);
            let stop = |_: closc_lab::Progress| {
                if seen.fetch_add(1, std::sync::atomic::Ordering::SeqCst) == after {
                    interrupt.set();
                }
            };
            let watch = Watch::new(&stop, &interrupt);
            let error = if cut {
                lab.cut(a, Ends::Up, &watch).map(drop)
            } else {
                lab.miswire(a, b, LinkLayer::Open, &watch).map(drop)
            };
            assert!(lab.status().changes.is_empty() || error.is_ok(), "{error:?}");
            if let Err(error) = error {
                let text = error.to_string();
                assert_eq!(text, "interrupted; all cables are restored", "{after}");
            }
            quietly(|watch| lab.restore(watch)).unwrap();
        }
    }
    let report = quietly(|watch| lab.test(watch)).unwrap();
    assert!(report.is_fine(), "{report}");
}

#[test]
fn eight_planes_are_programmed_and_every_path_is_walked() {
    let (mut lab, compiled) = up("lab/eight-planes-p4", "ea");
    let error = quietly(|watch| lab.test(watch)).unwrap_err();
    assert!(matches!(&error, LabError::NotProgrammed { device, .. } if device == "p0-t0-001"), "{error}");
    assert_eq!(program(&compiled).counts(), (64, 0, 0));
    let report = quietly(|watch| lab.test(watch)).unwrap();
    assert!(report.is_fine(), "{report}");
    assert_eq!((report.pairs, report.paths, report.delivered), (56, 1600, 1600));
    assert_eq!((report.ports, report.segments), (384, 128));
    assert_eq!(program(&compiled).updates(), Counts::default());
    let probes = quietly(|watch| lab.probe(watch)).unwrap();
    assert!(probes.is_fine(), "{probes}");

    let sample = |seed| quietly(|watch| lab.walk(Extent::Sample { paths: 100, seed }, watch)).unwrap();
    let mut sample = sample;
    let (first, again, other) = (sample(7), sample(7), sample(8));
    assert!(first.is_fine() && other.is_fine(), "{first}{other}");
    assert_eq!((first.paths, first.drawn.unwrap().of), (100, 1600));
    assert_eq!(first, again);
    assert_ne!(first.pairs, other.pairs);
    let everything = quietly(|watch| lab.walk(Extent::Sample { paths: 1600, seed: 1 }, watch)).unwrap();
    assert_eq!((everything.paths, everything.drawn), (1600, None));
    assert_eq!(lab.down().unwrap().fabric, compiled.fabric);
    assert!(closc_lab::list(&compiled.options).unwrap().is_empty());
    assert!(!compiled.options.folder(&compiled.fabric.parse().unwrap()).exists());
}

/// For any two swapped cables, packets are never misdelivered, and exactly these two cables are found.
#[test]
fn swapped_cables_are_found() {
    let (mut lab, compiled) = up("lab/two-planes-p4", "eb");
    program(&compiled);
    let names: Vec<String> =
        (0..lab.model().cables.len()).map(|at| lab.model().cable_name(CableId(at)).to_owned()).collect();
    let pairs = names.iter().enumerate().flat_map(|(at, a)| names[at + 1..].iter().map(move |b| (a, b)));
    for (first, second) in pairs.step_by(7) {
        let report = quietly(|watch| lab.miswire(first, second, LinkLayer::Open, watch)).unwrap();
        assert_eq!(report.test.misdelivered, 0, "{report}");
        let found = matches!(
            report.findings.as_slice(),
            [Finding::Swapped { first: a, second: b, .. }] if (a, b) == (first, second)
        );
        assert!(found, "{report}");
        quietly(|watch| lab.restore(watch)).unwrap();
    }
    let report = quietly(|watch| lab.test(watch)).unwrap();
    assert!(report.is_fine(), "{report}");
}

#[test]
fn a_cut_cable_is_found_and_repaired_by_the_next_up() {
    let (mut lab, compiled) = up("lab/two-planes-p4", "ec");
    program(&compiled);
    let name = "p1-t0-002--p1-t1-001";
    let report = quietly(|watch| lab.cut(name, Ends::Up, watch)).unwrap();
    assert!(
        matches!(report.probes.as_ref().unwrap().accused.as_slice(), [SuspectElement::Cable { cable, .. }] if cable == name)
    );
    assert_eq!(lab.status().changes, [format!("{name} is cut")]);
    let (test, findings) = quietly(|watch| lab.diagnose(watch)).unwrap();
    assert!(test.lost > 0, "{test}");
    assert!(matches!(findings.as_slice(), [Finding::Cut { cable, .. }] if cable == name), "{findings:?}");
    quietly(|watch| lab.restore(watch)).unwrap();
    let test = quietly(|watch| lab.test(watch)).unwrap();
    assert!(test.is_fine(), "{test}");
}

#[test]
fn what_a_crash_left_is_cleared_away() {
    let (lab, compiled) = up("lab/two-planes-p4", "ed");
    // The switches end with the lab object. The record stays, as after a crash.
    drop(lab);
    let status = closc_lab::list(&compiled.options).unwrap();
    assert_eq!((status.len(), status[0].missing.len()), (1, 1));
    let error = Lab::open(&compiled.tree, &compiled.options).unwrap_err();
    assert!(matches!(error, LabError::NotUp { .. }), "{error}");
    // This socket has no server.
    let socket = compiled.options.folder(&compiled.fabric.parse().unwrap()).join("control.sock");
    drop(UnixListener::bind(&socket).unwrap());
    let (mut lab, report) = quietly(|watch| Lab::up(&compiled.tree, &compiled.options, watch)).unwrap();
    assert!(!report.again);
    program(&compiled);
    let test = quietly(|watch| lab.test(watch)).unwrap();
    assert!(test.is_fine(), "{test}");
}

#[test]
fn a_target_that_does_not_fit_is_refused_with_a_way_out() {
    let refused = |topology: &str, target| {
        let mut compiled = compile(&shipped(topology), "ee");
        compiled.options.target = Some(target);
        quietly(|watch| Lab::up(&compiled.tree, &compiled.options, watch)).unwrap_err().to_string()
    };
    let text = refused("lab/two-planes", Target::Embedded);
    assert!(text.contains("`p0-t0-001`") && text.contains("platform: bmv2, os: p4"), "{text}");
    let text = refused("lab/two-planes-p4", Target::Linux);
    assert!(text.contains("platform: linux, os: linux"), "{text}");
}

#[test]
fn parallel_cables_carry_what_names_them() {
    let yaml =
        shipped("examples/parallel-links").replace("groups: 4, per_group: 8", "groups: 2, per_group: 2");
    let yaml = yaml.replace("platform: linux, os: linux", "platform: bmv2, os: p4");
    let compiled = compile(&yaml, "ef");
    let (mut lab, _) = quietly(|watch| Lab::up(&compiled.tree, &compiled.options, watch)).unwrap();
    program(&compiled);
    let report = quietly(|watch| lab.test(watch)).unwrap();
    assert!(report.is_fine(), "{report}");
    assert!(report.packets > report.paths);
}
