//! Planes one after another, a gate between them, and a limit on failures.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use closc_deploy::{EventKind, Gate, Outcome, PushOptions, open_gate, push};
use closc_runtime::testing::Script;
use tonic::Code;

use crate::support::{Lab, Recorder, options, single_attempt, small_tree};

#[tokio::test]
async fn one_plane_at_a_time() {
    let lab = Lab::start(small_tree(3, 2, 2)).await;
    let recorder = Recorder::default();
    let report = push(&lab.fleet(), &options(), recorder.observer(), open_gate()).await;
    assert!(report.is_good());
    // While one plane is pushed, all events are about it, and the planes come in order.
    let planes: Vec<u8> = recorder.events().iter().filter_map(|event| event.plane).collect();
    assert!(planes.is_sorted());
    assert_eq!(planes.iter().copied().collect::<BTreeSet<_>>(), BTreeSet::from([0, 1, 2]));
    let gates = recorder.events().iter().filter(|event| event.what == EventKind::GatePassed).count();
    assert_eq!(gates, 2, "between three waves");
}

#[tokio::test]
async fn a_closed_gate_stops_the_push() {
    let lab = Lab::start(small_tree(3, 1, 1)).await;
    let gate: Gate = Arc::new(|plane| {
        let answer = if plane == Some(1) { Err("32 NICs lost plane 1".to_owned()) } else { Ok(()) };
        Box::pin(std::future::ready(answer))
    });
    let report = push(&lab.fleet(), &options(), closc_deploy::silent(), gate).await;
    assert!(!report.is_good());
    assert_eq!(report.stopped.as_deref(), Some("the gate failed after plane 1: 32 NICs lost plane 1"));
    assert_eq!(report.counts(), (4, 0, 2));
    assert!(lab.targets["p2-t0-001"].pipeline().is_none(), "plane 2 was not touched");
    assert_eq!(report.devices["p2-t0-001"], Outcome::Skipped);
    lab.converge().await;
}

#[tokio::test]
async fn too_many_failures_stop_the_push() {
    let lab = Lab::start(small_tree(2, 4, 1)).await;
    for target in lab.targets.values() {
        target.set_script(Script::default().refuse(0, Code::Internal, "no"));
    }
    let careful = PushOptions { max_parallel: 1, max_failures: 1, ..single_attempt() };
    let report = lab.push_with(&careful).await;
    assert_eq!(report.counts(), (0, 2, 8), "two failures of ten switches, then no more");
    assert_eq!(report.stopped.as_deref(), Some("2 switches failed; at most 1 may fail"));
    let untouched = lab.targets.values().filter(|target| target.pipeline().is_none()).count();
    assert_eq!(untouched, 8);
    for target in lab.targets.values() {
        target.set_script(Script::default());
    }
    lab.converge().await;
}

#[tokio::test]
async fn failures_below_the_bound_do_not_stop_the_push() {
    let lab = Lab::start(small_tree(2, 2, 1)).await;
    lab.targets["p0-t0-001"].set_script(Script::default().refuse(0, Code::Internal, "no"));
    let report = lab.push_with(&PushOptions { max_failures: 1, ..single_attempt() }).await;
    assert_eq!(report.counts(), (5, 1, 0));
    assert!(report.stopped.is_none() && !report.is_good());
    lab.targets["p0-t0-001"].set_script(Script::default());
    lab.converge().await;
}

#[tokio::test]
async fn no_more_than_the_bound_at_a_time() {
    let lab = Lab::start(small_tree(1, 6, 2)).await;
    let (running, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (now, peak) = (running.clone(), most.clone());
    let observer: closc_deploy::Observer = Arc::new(move |event| {
        match event.what {
            EventKind::DeviceStarted => {
                let running = now.fetch_add(1, Ordering::SeqCst) + 1;
                peak.fetch_max(running, Ordering::SeqCst);
            }
            EventKind::DeviceDone { .. } | EventKind::DeviceFailed { .. } => {
                now.fetch_sub(1, Ordering::SeqCst);
            }
            _ => {}
        }
        Ok(())
    });
    let options = PushOptions { max_parallel: 3, ..options() };
    let report = push(&lab.fleet(), &options, observer, open_gate()).await;
    assert!(report.is_good());
    assert_eq!(most.load(Ordering::SeqCst), 3);
}

#[tokio::test]
async fn a_report_has_a_form_for_programs() {
    let lab = Lab::start(small_tree(1, 1, 1)).await;
    lab.targets["p0-t0-001"].set_script(Script::default().refuse(2, Code::Internal, "no"));
    let report = lab.push_with(&single_attempt()).await;
    let json = serde_json::to_value(&report).expect("a report has a form in JSON");
    let failed = &json["devices"]["p0-t0-001"];
    assert_eq!((&failed["outcome"], &failed["kind"]), (&"failed".into(), &"refused".into()));
    assert!(failed["refused"][0]["update"].as_str().is_some_and(|update| update.starts_with("+ ingress.")));
    assert_eq!(failed["refused"][0]["outcome"], "INTERNAL: no");
    assert!(json["devices"]["p0-t1-001"]["updates"]["insert"].as_u64().is_some_and(|n| n > 0));
}

/// Regression: a push changed switches although its log could not be written.
#[tokio::test]
async fn a_switch_whose_start_is_refused_is_not_changed() {
    let lab = Lab::start(small_tree(1, 2, 1)).await;
    let observer: closc_deploy::Observer = Arc::new(|event| match event.what {
        EventKind::DeviceStarted if event.device.as_deref() == Some("p0-t0-001") => {
            Err("the log is full".to_owned())
        }
        _ => Ok(()),
    });
    let options = PushOptions { max_failures: 1, ..single_attempt() };
    let report = push(&lab.fleet(), &options, observer, open_gate()).await;
    let faults: Vec<String> = report.failures().map(|(name, fault)| format!("{name}: {fault}")).collect();
    assert_eq!(faults, ["p0-t0-001: the log is full"]);
    assert!(lab.targets["p0-t0-001"].entities().is_empty(), "it was not changed");
}
