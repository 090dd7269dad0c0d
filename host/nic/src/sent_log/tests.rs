//! Tests each verdict, the timeout and the limits of the log.

use super::*;

fn sack(numbers: &[u32]) -> Sack {
    let base = numbers.iter().copied().min().unwrap_or(0);
    let mut bits = [0; SACK_BITS / 64];
    for number in numbers {
        let at = (number - base) as usize;
        bits[at / 64] |= 1 << (at % 64);
    }
    Sack { epoch: 1, base, bits, ports: 0, marks: [0; 16], n_marks: 0, kbps: 0 }
}

/// A log of maximum size.
fn wide() -> SentLog {
    let mut log = SentLog::of_window(256);
    while log.ring.len() < log.max_capacity {
        log.widen();
    }
    log
}

fn log(n: u32, step_ns: u64) -> SentLog {
    let mut log = wide();
    for number in 0..n {
        let at_ns = u64::from(number) * step_ns;
        log.push((number * 10, 0), (Cargo::Inner, false), (at_ns, at_ns));
    }
    log
}

fn verdicts(log: &mut SentLog, sack: &Sack, now: u64) -> (Vec<u32>, Vec<u32>, Vec<u32>) {
    let mut out = (Vec::new(), Vec::new(), Vec::new());
    log.handle_ack(sack, now, |verdict| match verdict {
        Verdict::Arrived(sent) => out.0.push(sent.number),
        Verdict::Lost(sent) | Verdict::Overtaken(sent) => out.1.push(sent.number),
        Verdict::Late(sent) => out.2.push(sent.number),
    });
    out
}

/// Returns the numbers of packets that were lost, and of those that were overtaken.
fn missing_packets(log: &mut SentLog, arrived: &[u32], now_ns: u64) -> (Vec<u32>, Vec<u32>) {
    let (mut lost, mut overtaken) = (Vec::new(), Vec::new());
    log.handle_ack(&sack(arrived), now_ns, |verdict| match verdict {
        Verdict::Lost(sent) => lost.push(sent.number),
        Verdict::Overtaken(sent) => overtaken.push(sent.number),
        Verdict::Arrived(_) | Verdict::Late(_) => {}
    });
    (lost, overtaken)
}

/// Makes a log with a packet of plane 0 that waits in a queue, and a later probe.
fn overtaken_by_a_probe() -> SentLog {
    let mut log = SentLog::of_window(64);
    log.push((1, 0), (Cargo::Inner, false), (1_000_000, 1_000_000));
    log.push((2, 0), (Cargo::Probe, true), (20_000_000, 20_000_000));
    assert_eq!(
        missing_packets(&mut log, &[1], 21_000_000),
        (vec![], vec![0]),
        "it may wait in another queue"
    );
    assert_eq!((log.in_flight(), missing_packets(&mut log, &[1], 22_000_000)), (0, (vec![], vec![])), "once");
    log
}

#[test]
fn a_later_packet_of_the_same_plane_and_queue_proves_a_loss() {
    for (plane, is_probe, result) in [(0, false, vec![0]), (0, true, vec![]), (1, false, vec![])] {
        let mut log = overtaken_by_a_probe();
        log.push((3, plane), (Cargo::Inner, is_probe), (23_000_000, 23_000_000));
        assert_eq!(missing_packets(&mut log, &[2], 24_000_000), (result, vec![]), "{plane} {is_probe}");
    }
}

/// Before the first round trip is known, the packet may wait in a queue of another path.
#[test]
fn a_packet_of_the_same_burst_proves_a_loss() {
    for (is_timed, result) in [(true, (vec![2], vec![])), (false, (vec![], vec![2]))] {
        let mut log = SentLog::of_window(64);
        log.push((9, 1), (Cargo::Inner, false), (100_000, 100_000));
        if is_timed {
            assert_eq!(missing_packets(&mut log, &[0], 400_000), (vec![], vec![]));
        }
        for (entropy, at_ns) in [(1, 1_000_000), (2, 1_010_000)] {
            log.push((entropy, 0), (Cargo::Inner, false), (at_ns, at_ns));
        }
        assert_eq!(missing_packets(&mut log, &[0, 1], 1_500_000), (vec![], vec![]));
        log.push((3, 0), (Cargo::Probe, true), (20_000_000, 20_000_000));
        assert_eq!(missing_packets(&mut log, &[3], 21_000_000), result);
    }
}

#[test]
fn an_overtaken_packet_is_lost_after_the_longest_lateness() {
    let mut log = overtaken_by_a_probe();
    log.push((3, 1), (Cargo::Inner, false), (51_000_001, 51_000_001));
    assert_eq!(missing_packets(&mut log, &[2], 52_000_000), (vec![0], vec![]));
}

#[test]
fn an_overtaken_packet_that_arrives_extends_the_limit() {
    let mut log = overtaken_by_a_probe();
    let late_ns = log.late_ns();
    assert_eq!(verdicts(&mut log, &sack(&[0]), 24_000_000), (vec![0], vec![], vec![]));
    assert_eq!((log.late_ns(), log.in_flight()), (2 * late_ns, 0));
}

#[test]
fn reordering_is_not_loss() {
    let mut log = log(5, 1000);
    assert_eq!(verdicts(&mut log, &sack(&[0, 2, 3, 4]), 10_000), (vec![0, 2, 3, 4], vec![], vec![]));
    assert_eq!(verdicts(&mut log, &sack(&[1]), 20_000), (vec![1], vec![], vec![]));
    assert_eq!(log.in_flight(), 0);
}

#[test]
fn what_was_sent_long_before_what_arrived_is_lost() {
    let mut log = log(5, 3_000_000);
    assert_eq!(verdicts(&mut log, &sack(&[0, 4]), 12_100_000).1, [1, 2, 3]);
    assert_eq!(log.in_flight(), 0);
}

#[test]
fn a_packet_that_was_called_lost_and_arrives_widens_the_limit() {
    let mut log = log(3, 3_000_000);
    verdicts(&mut log, &sack(&[2]), 6_100_000);
    let before = log.late_ns();
    assert_eq!(verdicts(&mut log, &sack(&[0, 2]), 7_000_000).2, [0]);
    assert!(log.late_ns() > before);
    assert_eq!(verdicts(&mut log, &sack(&[0, 2]), 7_000_000), (vec![], vec![], vec![]), "said once");
}

#[test]
fn the_end_of_a_burst_is_overdue() {
    let mut log = log(2, 1000);
    let mut late = Vec::new();
    log.overdue(1_000_000, |sent| late.push(sent.number));
    assert!(late.is_empty());
    log.overdue(900_000_000, |sent| late.push(sent.number));
    assert_eq!(late, [0, 1]);
}

#[test]
fn an_acknowledgement_that_was_lost_makes_nobody_patient() {
    let mut log = log(100, 1000);
    let early: Vec<u32> = (0..90).collect();
    verdicts(&mut log, &sack(&early), 1_000_000);
    let (rtt_ns, late_ns) = (log.rtt_ns(), log.late_ns());
    log.overdue(40_000_000, |_| ());
    let rest: Vec<u32> = (90..100).collect();
    assert_eq!(verdicts(&mut log, &sack(&rest), 40_500_000).0, rest);
    assert!(
        log.rtt_ns() <= 2 * rtt_ns && log.late_ns() <= late_ns.max(8 * rtt_ns),
        "asked for, and 40 ms old"
    );
    log.push((1, 0), (Cargo::Inner, false), (50_000_000, 50_000_000));
    verdicts(&mut log, &sack(&[100]), 60_000_000);
    assert!(log.rtt_ns() > rtt_ns, "a round trip that is longer counts");
}

/// Returns the time until the first packet of an unacknowledged burst is retransmitted.
fn patience_ns(log: &mut SentLog, now_ns: u64) -> u64 {
    log.push((1, 0), (Cargo::Inner, false), (now_ns, now_ns));
    let mut waited_ns = 0;
    while log.in_flight() > 0 {
        waited_ns += 100_000;
        log.overdue(now_ns + waited_ns, |_| ());
    }
    waited_ns
}

#[test]
fn a_needless_resend_makes_patient_and_many_arrivals_undo_it() {
    let mut log = SentLog::of_window(256);
    let (mut now_ns, mut number, mut waited) = (1_000_000_000, 0, Vec::new());
    let arrive = |log: &mut SentLog, number: u32, now_ns: u64| {
        log.push((1, 0), (Cargo::Inner, false), (now_ns, now_ns));
        verdicts(log, &sack(&[number]), now_ns + 4_000_000);
    };
    for _ in 0..5 {
        for _ in 0..20 {
            arrive(&mut log, number, now_ns);
            (number, now_ns) = (number + 1, now_ns + 5_000_000);
        }
        let waited_ns = patience_ns(&mut log, now_ns);
        waited.push(waited_ns / 10_000_000);
        now_ns += waited_ns;
        // The packet was late, not lost.
        assert_eq!(verdicts(&mut log, &sack(&[number]), now_ns).0, [number]);
        (number, now_ns) = (number + 1, now_ns + 300_000_000);
    }
    assert!(waited[0] < waited[1] && waited[1] < waited[2], "{waited:?}");
    let most = waited[4];
    for _ in 0..4 * CALM {
        arrive(&mut log, number, now_ns);
        (number, now_ns) = (number + 1, now_ns + 5_000_000);
    }
    let waited_ns = patience_ns(&mut log, now_ns);
    assert!(waited_ns / 10_000_000 < most, "{waited_ns} {waited:?}");
}

#[test]
fn what_is_overdue_is_lost_when_something_later_arrives_and_not_before() {
    let mut log = log(2, 1000);
    log.overdue(900_000_000, |_| ());
    assert_eq!(log.in_flight(), 0);
    assert_eq!(verdicts(&mut log, &sack(&[1]), 900_000_100), (vec![1], vec![], vec![]), "it did arrive");
    log.push((7, 0), (Cargo::Inner, false), (900_000_200, 900_000_200));
    assert_eq!(verdicts(&mut log, &sack(&[2]), 900_000_300), (vec![2], vec![0], vec![]));
}

#[test]
fn room_grows_with_what_is_sent_and_nothing_is_forgotten_by_that() {
    let mut log = SentLog::of_window(256);
    for number in 0..500 {
        while let Some(bytes) = log.wants_bytes(number) {
            assert_eq!(bytes, log.ring.len() * size_of::<(PacketInFlight, Fate)>());
            log.widen();
        }
        assert_eq!(log.push((1, 0), (Cargo::Inner, false), (number, number)), None);
    }
    assert_eq!((log.ring.len(), log.forgotten, log.in_flight()), (512, 0, 500));
    log.narrow();
    assert_eq!(log.ring.len(), 512, "all of it is under way");
    let all: Vec<u32> = (0..500).collect();
    assert_eq!(verdicts(&mut log, &sack(&all), 1000).0, all);
    log.narrow();
    assert_eq!((log.ring.len(), log.wide_bytes()), (ROOM_MIN, 0));
    // A slow sender does not need more than the minimum.
    for number in 0..500 {
        let now_ns = KEPT * LATE_MAX_NS * (number + 1);
        assert_eq!(log.wants_bytes(now_ns), None);
        log.push((1, 0), (Cargo::Inner, false), (now_ns, now_ns));
        assert_eq!(verdicts(&mut log, &sack(&[500 + number as u32]), now_ns + 1).0, [500 + number as u32]);
    }
}

#[test]
fn overdue_packets_make_room() {
    let mut log = log(ROOM_MAX as u32, 1);
    assert!(!log.has_room());
    log.overdue(900_000_000, |_| ());
    assert!(log.has_room());
    let chunk = Cargo::Chunk { write: 7, offset: 0, len: 100 };
    assert_eq!(log.push((1, 0), (chunk, false), (900_000_000, 900_000_000)), None, "its cargo went again");
    assert_eq!(log.forgotten(), 1, "and its result stays unknown");
}

#[test]
fn a_receiver_that_is_slow_is_not_sent_everything_again() {
    let mut log = log(200, 1000);
    let mut late = Vec::new();
    for now in 1..200u64 {
        log.overdue(now * 1_000_000, |sent| late.push(sent.number));
    }
    assert!((4..=20).contains(&late.len()), "{late:?}");
    let rest: Vec<u32> = (190..200).collect();
    assert_eq!(verdicts(&mut log, &sack(&rest), 200_000_000).0, rest);
}

#[test]
fn the_ring_forgets_the_oldest_and_gives_writes_back() {
    let mut log = wide();
    let chunk = Cargo::Chunk { write: 7, offset: 0, len: 100 };
    assert_eq!(log.push((1, 0), (chunk, false), (0, 0)), None);
    for _ in 1..ROOM_MAX {
        assert_eq!(log.push((1, 0), (Cargo::Inner, false), (0, 0)), None);
    }
    assert!(!log.has_room());
    assert_eq!(log.push((1, 0), (Cargo::Inner, false), (0, 0)).map(|s| s.cargo), Some(chunk));
    assert_eq!((log.forgotten, log.in_flight()), (1, ROOM_MAX as u32));
}

#[test]
fn acknowledgements_of_what_was_never_sent_say_nothing() {
    let mut log = log(3, 1000);
    assert_eq!(verdicts(&mut log, &sack(&[100, 900]), 10_000), (vec![], vec![], vec![]));
    assert_eq!(log.in_flight(), 3);
}

#[test]
fn an_answered_probe_ends_the_doubling_of_timeouts() {
    for is_after in [false, true] {
        let mut log = SentLog::of_window(256);
        let base_ns = patience_ns(&mut log, 1_000_000_000);
        let mut now_ns = 1_000_000_000 + base_ns;
        for _ in 0..BACKOFF_MAX {
            now_ns += patience_ns(&mut log, now_ns);
        }
        assert!(!log.is_worth_asking());
        log.probe_answered(if is_after { now_ns + 1 } else { now_ns - 1 });
        let waited_ns = patience_ns(&mut log, now_ns + 2);
        assert_eq!(waited_ns <= base_ns, is_after, "{waited_ns} {base_ns}");
    }
}
