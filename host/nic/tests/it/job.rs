//! Jobs on the kernel's switches: agents exchange messages while a scenario breaks and repairs the fabric. The tests
//! need root and a kernel with seg6local NEXT-CSID, and are skipped with a message otherwise. Results do not depend on
//! time: the tests check which messages arrive, which planes carry them, and what remains afterwards.

use std::time::Duration;

use closc_lab::job::{JobError, Orders, Pattern, Report, Scenario, Transport, run};
use closc_lab::{Interrupt, Lab, LabError, Progress, Watch};

use crate::common::{CompiledTree, can_run, compile, quietly, shipped};

/// A lab that is removed even if a test fails.
struct Site {
    lab: Option<Lab>,
    _compiled: CompiledTree,
    namespaces: String,
}

impl Site {
    fn new(fabric: &str) -> Option<Site> {
        if !can_run() {
            return None;
        }
        let compiled = compile(&shipped("lab/two-planes"), fabric);
        let (lab, _) = quietly(|watch| Lab::up(&compiled.tree, &compiled.options, watch)).unwrap();
        let namespaces = format!("closc-{}-", compiled.fabric);
        Some(Site { lab: Some(lab), _compiled: compiled, namespaces })
    }

    fn lab(&mut self) -> &mut Lab {
        self.lab.as_mut().unwrap()
    }

    fn run(&mut self, scenario: &str, transport: Transport, messages: u64) -> Report {
        let scenario = Scenario::parse(scenario).unwrap();
        let orders = orders(transport, messages);
        quietly(|watch| run(self.lab(), &scenario, &orders, watch)).unwrap()
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        if let Some(lab) = self.lab.take() {
            let _ = lab.down();
        }
    }
}

fn orders(transport: Transport, messages: u64) -> Orders {
    Orders {
        program: env!("CARGO_BIN_EXE_closc-nic").into(),
        transport,
        pattern: Pattern::AllToAll,
        message_bytes: 20_000,
        unit: 1000,
        max_in_flight: 4,
        messages: Some(messages),
        port_mbps: 4,
        seed: 1,
        patience: Duration::from_secs(20),
        burst_interval: None,
        stall: None,
    }
}

/// Counts the processes started by a lab's job, which have its folder on their command line.
fn agents(namespaces: &str) -> usize {
    let fabric = namespaces.trim_start_matches("closc-").trim_end_matches('-');
    let folder = format!("/run/{fabric}/job/");
    let lines = std::fs::read_dir("/proc")
        .unwrap()
        .filter_map(|entry| std::fs::read(entry.ok()?.path().join("cmdline")).ok());
    lines.filter(|line| String::from_utf8_lossy(line).contains(&folder)).count()
}

/// A plane that fails and does not recover during the job.
const DEAD: &str = "duration: 60s\nsteps:\n  - { at: 1s, plane: 1 }\n";

/// Checks that each retransmitted packet was lost or arrived twice. Exceptions are probes at the end of a burst, and
/// packets in flight at the end of the job. The number of packets that arrive twice depends on processor time, so only
/// a test in virtual time limits it.
fn is_balanced(report: &Report) {
    let m = &report.messages;
    let ended = m.lost_packets - m.lost_probes + m.repeated;
    assert!(m.resent.abs_diff(ended) <= m.unanswered + report.forgotten, "{m:?}");
}

#[test]
fn spraying_rides_out_a_dead_plane_and_a_flow_does_not() {
    let Some(mut site) = Site::new("ja") else { return };
    let spray = site.run(DEAD, Transport::Spray, 200);
    let m = &spray.messages;
    assert_eq!((m.sent, m.lost, spray.wrong_bytes), (800, 0, 0), "{m:?}");
    is_balanced(&spray);
    assert!(spray.planes.len() == 2 && spray.planes.iter().all(|sent| *sent > 0), "{:?}", spray.planes);
    // With one path per flow, messages over the dead plane never arrive. A NIC then sends no more than its window.
    let flow = site.run(DEAD, Transport::Flow, 200);
    assert!(flow.messages.lost > 0, "{:?}", flow.messages);
    assert_eq!(flow.wrong_bytes, 0);
    assert!(site.lab().status().changes.is_empty(), "the fabric is whole again");
    assert_eq!(agents(&site.namespaces), 0, "agents are ended");
    let report = quietly(|watch| site.lab().test(watch)).unwrap();
    assert!(report.is_fine(), "every path is as before: {report}");
}

#[test]
fn every_kind_of_fault_is_made_and_mended() {
    let Some(mut site) = Site::new("jb") else { return };
    let loss = "  - { at: 1400ms, loss: { cable: p0-t0-001--p0-t1-002, percent: 20 } }\n";
    let steps = "  - { at: 1s, cut: p0-t1-001 }\n  - { at: 1200ms, nic-port: su001-n001/nic0.p0 }\n  \
        - { at: 1600ms, restore: p0-t1-001 }\n  - { at: 1800ms, miswire: [p1-t0-001--p1-t1-001, p1-t0-002--p1-t1-002] }\n  \
        - { at: 2s, restore: all }\n";
    let (before, after) = steps.split_at(steps.find("  - { at: 1600ms").unwrap());
    let scenario = format!("duration: 4s\nsteps:\n{before}{loss}{after}");
    let parsed = Scenario::parse(&scenario).unwrap();
    // Limited by time, not by number: messages are sent until the last step is complete.
    let orders = Orders { messages: None, ..orders(Transport::Spray, 0) };
    let report = quietly(|watch| run(site.lab(), &parsed, &orders, watch)).unwrap();
    assert_eq!((report.messages.lost, report.wrong_bytes), (0, 0), "{:?}", report.messages);
    is_balanced(&report);
    let what: Vec<&str> = report.steps.iter().map(|step| step.what.as_str()).collect();
    assert_eq!(what.len(), 6, "{what:?}");
    for step in &report.steps {
        if step.failed.is_some() {
            // This is the only fault that needs more than `ip`.
            assert!(step.what.contains("loses 20 %"), "{step:?}");
            closc_skip::skip(format_args!("{step:?}"));
        }
    }
    assert!(site.lab().status().changes.is_empty());
    let report = quietly(|watch| site.lab().test(watch)).unwrap();
    assert!(report.is_fine(), "every path is as before: {report}");
}

#[test]
fn a_job_that_is_interrupted_leaves_a_whole_fabric_and_no_process() {
    let Some(mut site) = Site::new("jc") else { return };
    let interrupt = Interrupt::default();
    let scenario = Scenario::parse(DEAD).unwrap();
    // Some time after the plane failed.
    let show = |progress: Progress| {
        if progress.operation == "run the job" && progress.done > 1500 {
            interrupt.set();
        }
    };
    let watch = Watch::new(&show, &interrupt);
    let error = run(site.lab(), &scenario, &orders(Transport::Spray, 1_000_000), &watch).unwrap_err();
    assert!(matches!(error, JobError::Lab(LabError::Interrupted)), "{error}");
    assert!(site.lab().status().changes.is_empty(), "{:?}", site.lab().status().changes);
    assert_eq!(agents(&site.namespaces), 0, "agents are ended");
    let report = quietly(|watch| site.lab().test(watch)).unwrap();
    assert!(report.is_fine(), "every path is as before: {report}");
}
