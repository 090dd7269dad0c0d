//! Cables that lose only long packets, in virtual time. Agents find them with long probes, a collector names
//! the cable, and data avoids it. Data uses the cable again only after a full-length probe returns.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use closc_collect::{Collector, Denials, Kind, Lengths, Options, Report};
use closc_lab::Fault;
use closc_lab::job::{self, Action, JobError, LiveJob, Orders, Pattern, Transport};
use closc_lab::tree::Digests;
use closc_nic::api::Request;
use closc_plan::Plan;

use crate::common::{compile, quietly, shipped};

const EPOCH_MS: u64 = 1_795_348_800_000;
const POLL_MS: u64 = 200;
/// With the inner header that the lab adds, data packets have 1,156 bytes.
const UNIT: u32 = 1_000;
const MTU: u16 = 600;

fn orders() -> Orders {
    Orders {
        program: "none".into(),
        transport: Transport::Spray,
        pattern: Pattern::AllToAll,
        message_bytes: 10_000,
        unit: UNIT,
        max_in_flight: 2,
        messages: None,
        port_mbps: 25,
        seed: 1,
        patience: Duration::from_secs(2),
        burst_interval: Some(Duration::from_millis(100)),
        stall: None,
    }
}

struct Site<'a> {
    live: LiveJob<'a>,
    collector: Collector,
}

type VerdictSet = BTreeSet<(String, Kind)>;

impl Site<'_> {
    fn now_ms(&self) -> u64 {
        EPOCH_MS + self.live.now_ns() / 1_000_000
    }

    /// Waits for one poll interval, and returns the named faults.
    fn poll(&mut self) -> VerdictSet {
        self.live.advance(self.live.now_ns() + POLL_MS * 1_000_000);
        let now_ms = self.now_ms();
        for seat in 0..self.live.seats().len() {
            let mut ask = |request| self.live.ask(seat, &request, now_ms as f64 / 1e3).to_string();
            let (status, metrics) = (ask(Request::Status {}), ask(Request::Metrics {}));
            let report = Report::read(status.as_bytes(), metrics.as_bytes()).expect("agents answer");
            let source = self.collector.source(&self.live.seats()[seat].name);
            self.collector.take(source, report, now_ms).expect("it is of this NIC");
        }
        self.collector.judge(now_ms);
        let plan = self.collector.plan().clone();
        self.collector.verdicts().map(|verdict| (verdict.element.name(&plan), verdict.kind)).collect()
    }

    /// Polls until the wanted faults are named. Returns them and the time that it took.
    fn until_named(&mut self, limit_ms: u64, wanted: impl Fn(&VerdictSet) -> bool) -> (VerdictSet, u64) {
        let since_ms = self.now_ms();
        loop {
            let named = self.poll();
            let took_ms = self.now_ms() - since_ms;
            if wanted(&named) || took_ms > limit_ms {
                return (named, took_ms);
            }
        }
    }

    fn line(&self) -> String {
        let plan = self.collector.plan();
        self.collector.verdicts().map(|verdict| verdict.line(plan, self.now_ms())).collect()
    }
}

/// Runs a job on two planes, while `perform` breaks the fabric and checks the result.
fn with_site(fabric: &str, perform: impl FnOnce(Site<'_>)) {
    let text = shipped("lab/two-planes-p4");
    let compiled = compile(&text, fabric);
    let line = text.lines().find(|line| line.starts_with("fabric:")).unwrap();
    let named = text.replace(line, &format!("fabric: {}", compiled.fabric));
    let plan: Arc<Plan> = Arc::new(closc_tests::shape::plan(&named));
    let options = Options { settle_ms: 1_000, fresh_ms: 5_000, ..Options::default() };
    quietly(|watch| {
        job::live(&compiled.tree, Digests::Compared, &orders(), watch, |live| {
            let collector = Collector::new(Arc::clone(&plan), options, Denials::default(), EPOCH_MS).0;
            perform(Site { live, collector });
            Ok::<(), JobError>(())
        })
    })
    .unwrap();
}

#[test]
fn a_cable_that_passes_short_packets_only_is_named_and_left() {
    with_site("ba", |mut site| {
        for _ in 0..12 {
            assert_eq!(site.poll(), VerdictSet::new(), "nothing is broken");
        }
        // A cable between switches, and the cable of a NIC.
        for cable in ["p1-t0-001--p1-t1-002", "su001-n001/nic0.p0"] {
            let name = if cable.contains('/') { format!("{cable}--p0-t0-001") } else { cable.to_owned() };
            site.live.act(&Action::Break(Fault::Mtu { cable: cable.to_owned(), bytes: MTU })).unwrap();
            let wanted = VerdictSet::from([(name.clone(), Kind::ShortOnly)]);
            let (found, took_ms) = site.until_named(10_000, |named| !named.is_empty());
            assert_eq!(found, wanted, "after {took_ms} ms");
            println!("{cable}: named after {took_ms} ms: {}", site.line());
            for _ in 0..15 {
                assert_eq!(site.poll(), wanted);
            }
            let Lengths { passes, loses } = site.collector.verdicts().next().unwrap().lengths.unwrap();
            // The lab adds an inner header of 40 bytes, which agents do not count.
            let limit = MTU - 40;
            assert!(passes <= limit && loses > limit, "{passes} {loses}");
            assert!(loses - passes <= 32, "{passes} {loses}");
            // From now on probes are lost, but data is not.
            let before = lost_packets(&mut site);
            for _ in 0..10 {
                assert_eq!(site.poll(), wanted);
            }
            let more = lost_packets(&mut site) - before;
            println!("{cable}: {more} packets of data lost in two seconds after that");
            assert!(more <= 4, "{more} packets of data were lost after the cable was known");
            site.live.act(&Action::Restore(None)).unwrap();
            let (found, took_ms) = site.until_named(6_000, VerdictSet::is_empty);
            assert_eq!(found, VerdictSet::new(), "after {took_ms} ms");
            println!("{cable}: cleared after {took_ms} ms");
        }
    });
}

/// Returns the data packets that agents have declared lost.
fn lost_packets(site: &mut Site<'_>) -> u64 {
    let of = |status: &serde_json::Value| -> u64 {
        let channels = status["channels"].as_array().unwrap();
        channels.iter().map(|channel| channel["lost"].as_u64().unwrap()).sum()
    };
    (0..site.live.seats().len()).map(|seat| of(&site.live.ask(seat, &Request::Status {}, 0.0))).sum()
}

/// Other faults lose long and short packets, so no lengths are reported.
#[test]
fn a_cable_that_is_cut_or_gray_is_not_said_to_pass_short_packets() {
    with_site("bb", |mut site| {
        for _ in 0..8 {
            site.poll();
        }
        let gray = Fault::Loss { cable: "p0-t0-001--p0-t1-001".into(), ppm: 300_000 };
        for fault in [Fault::Cut("p1-t0-001--p1-t1-002".into()), gray] {
            site.live.act(&Action::Break(fault)).unwrap();
            for _ in 0..30 {
                let named = site.poll();
                assert!(named.iter().all(|(_, kind)| *kind != Kind::ShortOnly), "{named:?}");
            }
            assert_eq!(site.poll().len(), 1, "the fault itself");
            site.live.act(&Action::Restore(None)).unwrap();
            let (named, _) = site.until_named(20_000, VerdictSet::is_empty);
            assert_eq!(named, VerdictSet::new());
        }
    });
}
