//! Reports of artificial records, whose results are known.

use std::time::Duration;

use super::*;
use crate::job::record::{Change, Loss, LossReport, Message, Sample};
use crate::job::scenario::{Action, Expect};
use crate::job::timeline::TimedStep;
use crate::job::verdict::judge;
use crate::lab::fault::Fault;

const MS: u64 = 1_000_000;

fn setting() -> Setting {
    Setting {
        transport: "spray".to_owned(),
        pattern: Pattern::Permutation,
        nics: 2,
        message_bytes: 1000,
        outstanding: 1,
        port_mbps: 8,
        seed: 1,
        every_ms: None,
        stall_ms: None,
        virtual_time: false,
    }
}

fn timeline() -> Timeline {
    let fault = Fault::Plane(3);
    let cut = TimedStep {
        at: Duration::from_secs(2),
        action: Action::Break(fault.clone()),
        active_faults: vec![fault],
    };
    let back =
        TimedStep { at: Duration::from_secs(4), action: Action::Restore(None), active_faults: Vec::new() };
    let plan = [1.0, 0.875, 1.0].map(|left| RemainingCapacity { goodput: left, paths: left }).to_vec();
    Timeline { steps: vec![cut, back], plan }
}

/// A record with 1 MB/s; 0 for 100 ms after the step at 2 s, then 7/8 MB/s until 4 s.
fn record() -> Record {
    let received = |ms: u64| {
        let whole = 1000 * (ms.min(2000) + ms.saturating_sub(4000));
        whole + 875 * ms.clamp(2100, 4000).saturating_sub(2100)
    };
    let sample = |n: u64| Sample { at_ns: n * 100 * MS, received: vec![received(n * 100), 0] };
    let message = |n: u64| Message {
        from: 0,
        to: 1,
        at_ns: n * 60 * MS,
        took_ns: Some((n + 1) * MS),
        packets: (10, u64::from(n == 50)),
    };
    let loss = |sent: u64, known: u64| {
        let word = LossReport { from: 0, to: 1, entropy: 9, sent_ns: sent * MS, known_ns: Some(known * MS) };
        Loss { lost_ns: sent * MS, step: Some(0), in_switch: false, is_probe: false, report: Some(word) }
    };
    let mark = |from: u64| Mark { span_ns: (from * MS, (from + 20) * MS), failed: None };
    let change = |was: &str, now: &str, at: u64| Change {
        from: 0,
        to: 1,
        entropy: 9,
        states: (was.to_owned(), now.to_owned()),
        at_ns: at * MS,
    };
    Record {
        messages: (0..=100).map(message).collect(),
        samples: (0..=61).map(sample).collect(),
        losses: vec![loss(2001, 2003), loss(2004, 2006)],
        changes: vec![change("GOOD", "ASSUMED_BAD", 2003), change("ASSUMED_BAD", "GOOD", 4100)],
        marks: vec![mark(2000), mark(4000)],
        end_ns: 6100 * MS,
        rtt_ns: 500_000,
        ..Record::default()
    }
}

fn report(record: &Record, expect: &Expect) -> Report {
    let mut report = Report::of(setting(), &["a".to_owned(), "b".to_owned()], &timeline(), record);
    report.unmet = judge(&report, &timeline(), expect);
    report
}

fn close(found: Option<f64>, wanted: f64) -> bool {
    found.is_some_and(|found| (found - wanted).abs() < 0.01)
}

#[test]
fn every_number_is_that_of_the_record() {
    let report = report(&record(), &Expect::default());
    assert!(close(report.before_mbps, 8.0), "{report:?}");
    let m = &report.messages;
    assert_eq!((m.sent, m.delivered, m.lost, m.packets, m.resent), (101, 101, 0, 1010, 1));
    assert_eq!((m.p50_ms, m.p99_ms, m.slowest_ms), (Some(51.0), Some(100.0), Some(101.0)));
    let found: Vec<Option<f64>> = report.phases.iter().map(|phase| phase.percent).collect();
    assert!(close(found[0], 100.0) && close(found[1], 87.5) && close(found[2], 100.0), "{found:?}");
    assert!(close(report.lowest_percent, 43.75), "{:?}", report.lowest_percent);
    let step = &report.steps[0];
    assert_eq!((step.what.as_str(), step.lost_packets), ("plane 3 down", 2));
    assert!(close(step.last_lost_ms, 4.0) && close(step.after_signal_us, 1000.0), "{step:?}");
    assert!(close(step.recovered_ms, 100.0) && step.is_judged, "{step:?}");
    assert_eq!((report.steps[1].lost_packets, report.steps[1].recovered_ms), (0, Some(0.0)));
    assert_eq!((report.states.changes, report.states.paths), (2, 1));
    assert_eq!(report.states.most[0].changes, 2);
    assert_eq!(report.curve.len(), 30);
}

#[test]
fn steps_that_the_job_was_over_before_are_named() {
    let mut short = record();
    short.marks.truncate(1);
    let unmet = report(&short, &Expect::default()).unmet;
    let [one] = &unmet[..] else { panic!("{unmet:?}") };
    assert_eq!(one.expected, "steps");
    assert!(one.found.ends_with(" at 4.0 s was not done: the job was over at 6.1 s"), "{}", one.found);
}

#[test]
fn what_is_expected_and_is_not_so_is_named() {
    let expect = Expect {
        lost_messages: Some(0),
        goodput_min_percent: Some(87.0),
        goodput_of_plan_percent: Some(99.0),
        recovered_within: Some(Duration::from_millis(150)),
        slowest_message: Some(Duration::from_millis(101)),
        left_within: Some(Duration::from_millis(1)),
    };
    let good = report(&record(), &expect);
    assert!(good.is_met(), "{:?}", good.unmet);
    let mut bad = record();
    bad.messages[40].took_ns = None;
    bad.wrong_bytes = 3;
    bad.marks[1].failed = Some("no `tc`".to_owned());
    let strict = Expect {
        goodput_min_percent: Some(90.0),
        recovered_within: Some(Duration::from_millis(50)),
        slowest_message: Some(Duration::from_millis(100)),
        left_within: Some(Duration::from_micros(999)),
        ..expect
    };
    let unmet = report(&bad, &strict).unmet;
    let keys: Vec<&str> = unmet.iter().map(|unmet| unmet.expected).collect();
    let wanted = [
        "steps",
        "messages",
        "lost_messages",
        "goodput_min_percent",
        "recovered_within",
        "left_within",
        "slowest_message",
    ];
    assert_eq!(keys, wanted, "{unmet:?}");
    assert!(unmet[2].found.contains("1 of 101 messages lost; expected at most 0"));
    assert!(unmet[3].found.contains("87.5 % after plane 3 down; expected at least 90 %"), "{unmet:?}");
}

/// After all repairs, goodput remains at 60 %. The scenario does not set an expectation of goodput.
#[test]
fn a_collapse_is_not_as_expected_whatever_the_scenario_expects() {
    let mut slow = record();
    for sample in slow.samples.iter_mut().filter(|sample| sample.at_ns > 4000 * MS) {
        let after = (sample.at_ns / MS - 4000) * 600;
        sample.received[0] = record().samples[40].received[0] + after;
    }
    let virtual_time = |mut report: Report, expect: &Expect| {
        report.setting.virtual_time = true;
        report.unmet = judge(&report, &timeline(), expect);
        report
    };
    assert!(report(&slow, &Expect::default()).is_met(), "the kernel of a busy machine may be slow");
    let collapsed = virtual_time(report(&slow, &Expect::default()), &Expect::default());
    let [one] = &collapsed.unmet[..] else { panic!("{:?}", collapsed.unmet) };
    assert_eq!(one.expected, "goodput");
    assert!(one.found.starts_with("60.0 % of the 100.0 % that should be left after all restored"), "{one:?}");
    let asked = Expect { goodput_of_plan_percent: Some(50.0), ..Expect::default() };
    assert!(virtual_time(report(&slow, &asked), &asked).is_met(), "the scenario decides");
    let flow = Setting { transport: "flow".to_owned(), virtual_time: true, ..setting() };
    let flow = Report { setting: flow, ..collapsed };
    assert!(judge(&flow, &timeline(), &Expect::default()).is_empty(), "the plan is of senders that spray");

    let mut good = virtual_time(report(&record(), &Expect::default()), &Expect::default());
    assert!(good.is_met(), "{:?}", good.unmet);
    assert!(close(good.before_mbps, 8.0) && close(good.fairness, 1.0), "one sender");
    good.plan_mbps = Some(8.9);
    assert!(judge(&good, &timeline(), &Expect::default()).is_empty());
    good.plan_mbps = Some(61.0);
    let unmet = judge(&good, &timeline(), &Expect::default());
    let [one] = &unmet[..] else { panic!("{unmet:?}") };
    assert!(
        one.found.starts_with("8.0 of 61.0 Mb/s that ports carry before the first step (13 %)"),
        "{one:?}"
    );
}

/// All cables are down after 2 s. New messages are not submitted, but the phase must include the time without
/// traffic.
#[test]
fn a_total_outage_is_not_as_expected() {
    let mut dead = record();
    dead.messages.retain(|message| message.at_ns < 2010 * MS);
    dead.messages.last_mut().expect("there are some").took_ns = None;
    dead.samples.iter_mut().for_each(|sample| sample.received[0] = sample.received[0].min(2_000_000));
    (dead.stop_ns, dead.changes) = (Some(6000 * MS), Vec::new());
    dead.marks.truncate(1);
    let expect = Expect {
        goodput_min_percent: Some(10.0),
        goodput_of_plan_percent: Some(98.0),
        recovered_within: Some(Duration::from_millis(10)),
        ..Expect::default()
    };
    let keys = |record: &Record| -> Vec<&str> {
        report(record, &expect).unmet.iter().map(|unmet| unmet.expected).collect()
    };
    let wanted = ["goodput_min_percent", "goodput_of_plan_percent", "recovered_within"];
    assert_eq!(keys(&dead)[1..], wanted, "after the step that was not done");
    dead.stop_ns = None;
    assert_eq!(keys(&dead)[1..], wanted, "a number of messages, given up at the end");
}

#[test]
fn what_was_not_measured_is_not_as_expected() {
    let mut short = record();
    short.messages.retain(|message| message.at_ns < 4100 * MS);
    short.samples.retain(|sample| sample.at_ns < 4150 * MS);
    short.end_ns = 4150 * MS;
    let expect = Expect { recovered_within: Some(Duration::from_secs(1)), ..Expect::default() };
    let unmet = report(&short, &expect).unmet;
    let [one] = &unmet[..] else { panic!("{unmet:?}") };
    assert!(one.found.starts_with("not measured after all restored"), "{one:?}");
    short.marks[0].span_ns = (3500 * MS, 3520 * MS);
    let expect = Expect { goodput_min_percent: Some(1.0), ..Expect::default() };
    let unmet = report(&short, &expect).unmet;
    assert_eq!(unmet.iter().map(|unmet| unmet.expected).collect::<Vec<_>>(), ["goodput"], "{unmet:?}");
}

#[test]
fn a_job_that_saw_nothing_has_no_numbers() {
    let report = report(&Record::default(), &Expect { lost_messages: Some(0), ..Expect::default() });
    assert_eq!((report.before_mbps, report.messages.p50_ms, report.lowest_percent), (None, None, None));
    let keys: Vec<&str> = report.unmet.iter().map(|unmet| unmet.expected).collect();
    assert_eq!(
        keys,
        ["steps", "steps"],
        "no step was done, and that is all that is wrong: {:?}",
        report.unmet
    );
    assert!(report.curve.is_empty());
}
