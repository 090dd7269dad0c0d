//! Tests each rule, the invariants for arbitrary signals, and a fluid model of senders that share a queue.

use proptest::prelude::*;

use super::*;

const BASE_NS: u64 = 1_000_000;

fn arrivals(packets: u32, marked: u32, delay_ns: u64) -> Arrivals {
    Arrivals { packets, marked, rtt_ns: BASE_NS + delay_ns, in_flight: 1000 }
}

/// A window of `window` packets with a known base round trip.
fn of(window: u32) -> Congestion {
    let mut congestion = Congestion::new(2, 192);
    congestion.base_ns = BASE_NS;
    congestion.set(f64::from(window));
    congestion
}

#[test]
fn an_empty_fabric_doubles_the_window_in_a_round_trip_and_a_queue_adds_a_packet() {
    let mut empty = of(20);
    empty.handle_ack(&arrivals(20, 0, 0));
    assert_eq!(empty.window(), 40);
    let mut queue = of(20);
    for _ in 0..20 {
        queue.handle_ack(&arrivals(1, 0, FAIR_NS));
    }
    assert_eq!(queue.window(), 20, "it grew by less than a packet");
    queue.handle_ack(&arrivals(1, 0, FAIR_NS));
    assert_eq!(queue.window(), 21);
    for _ in 0..9 * 21 {
        queue.handle_ack(&arrivals(1, 0, 10 * FAIR_NS));
    }
    assert_eq!(queue.window(), 21, "a long queue grows slowly");
}

#[test]
fn a_window_that_is_not_used_does_not_grow() {
    let mut unused = of(100);
    unused.handle_ack(&Arrivals { in_flight: 49, ..arrivals(10, 0, 0) });
    assert_eq!(unused.window(), 100);
}

#[test]
fn marks_shrink_only_where_packets_wait() {
    let mut early = of(100);
    early.handle_ack(&arrivals(50, 50, BASE_NS / 2));
    assert_eq!(early.window(), 100, "another path takes the load");
    let mut late = of(100);
    late.handle_ack(&arrivals(50, 50, 2 * BASE_NS));
    assert_eq!(late.window(), 80, "half the packets, half of the delay, 0.8");
}

#[test]
fn packets_of_one_window_shrink_it_to_a_half_at_most() {
    let mut congestion = of(100);
    for number in 0..100 {
        congestion.shrink(number, 100);
    }
    assert_eq!(congestion.window(), 50);
    congestion.shrink(100, 150);
    assert_eq!(congestion.window(), 48, "sent after that: it is a window of its own");
    congestion.shrink(u32::MAX, 150);
    assert_eq!(congestion.window(), 46, "numbers go round");
}

#[test]
fn a_plane_is_crowded_around_what_met_its_queue_and_other_planes_are_not() {
    let mut congestion = of(100);
    congestion.handle_ack(&arrivals(1, 0, 0));
    let reach_ns = 2 * BASE_NS;
    congestion.crowd(1, 50 * BASE_NS);
    congestion.crowd(1, 51 * BASE_NS);
    for (sent_ns, crowded) in [
        (50 * BASE_NS - reach_ns - 1, false),
        (50 * BASE_NS - reach_ns, true),
        (51 * BASE_NS + reach_ns, true),
        (51 * BASE_NS + reach_ns + 1, false),
    ] {
        assert_eq!(congestion.is_crowded(1, sent_ns), crowded, "{sent_ns}");
        assert!(!congestion.is_crowded(0, sent_ns));
    }
    congestion.crowd(1, 90 * BASE_NS);
    assert!(!congestion.is_crowded(1, 70 * BASE_NS), "the queue was empty in between");
    congestion.record_rtt(2, BASE_NS + CROWDED * BASE_NS, 5 * BASE_NS);
    congestion.record_rtt(3, CROWDED * BASE_NS, 5 * BASE_NS);
    assert_eq!((congestion.is_crowded(2, 5 * BASE_NS), congestion.is_crowded(3, 5 * BASE_NS)), (true, false));
}

/// Simulates senders that share one queue of `room` packets, drained at `rate` packets per base round trip. Returns the
/// packets that each sent in the second half, and the share of packets that were trimmed.
fn share(windows: &[u32], (room, rate): (f64, f64), rounds: usize) -> (Vec<f64>, f64) {
    let mut senders: Vec<Congestion> = windows.iter().map(|window| of(*window)).collect();
    let (mut sent, mut trimmed, mut total) = (vec![0.0; senders.len()], 0.0, 0.0);
    let mut next = 0u32;
    for round in 0..rounds {
        let flight: f64 = senders.iter().map(|sender| sender.window).sum();
        let queue = (flight - rate).clamp(0.0, room);
        let lost = ((flight - rate - room) / flight).max(0.0);
        let delay_ns = (queue / rate * BASE_NS as f64) as u64;
        for (n, sender) in senders.iter_mut().enumerate() {
            let window = sender.window;
            let arrived = window * (1.0 - lost);
            sender.handle_ack(&arrivals(arrived as u32, 0, delay_ns));
            let cuts = window * lost;
            // A fraction of a packet is rounded up in some rounds, in different ones for each sender.
            let more = (round * 7 + n * 3) % 10 < ((cuts - cuts.floor()) * 10.0) as usize;
            for _ in 0..cuts as u32 + u32::from(more) {
                sender.shrink(next, next + 1000);
            }
            if round >= rounds / 2 {
                // The queueing delay extends the round trip of all senders.
                sent[n] += arrived / (1.0 + queue / rate);
                (trimmed, total) = (trimmed + cuts, total + window);
            }
        }
        next += 1000;
    }
    (sent, trimmed / total)
}

#[test]
fn seven_senders_share_a_queue_fill_it_and_lose_little() {
    let rounds = 2000;
    let (sent, trimmed) = share(&[32; 7], (128.0, 16.0), rounds);
    let goodput: f64 = sent.iter().sum::<f64>() / (rounds / 2) as f64 / 16.0;
    assert!(goodput > 0.97 && trimmed < 0.05, "{goodput} {trimmed}");
}

#[test]
fn a_sender_with_a_large_window_gives_way() {
    let (sent, _) = share(&[192, 2, 2, 2], (128.0, 16.0), 4000);
    let (sum, squares) = (sent.iter().sum::<f64>(), sent.iter().map(|x| x * x).sum::<f64>());
    let jain = sum * sum / (sent.len() as f64 * squares);
    assert!(jain > 0.95, "{jain} {sent:?}");
}

#[test]
fn a_sender_that_is_alone_again_has_all_within_ten_round_trips() {
    let mut alone = of(WINDOW_MIN);
    for _ in 0..10 {
        let window = alone.window();
        alone.handle_ack(&arrivals(window, 0, 0));
    }
    assert_eq!(alone.window(), 192);
}

#[derive(Debug, Clone)]
enum Signal {
    Arrived(Arrivals),
    Shrink(u32, u32),
    Crowd(u8, u64),
}

fn signal() -> impl Strategy<Value = Signal> {
    let arrived = (0u32..300, 0u32..300, 0u64..100_000_000, 0u32..300);
    prop_oneof![
        arrived.prop_map(|(packets, marked, rtt_ns, in_flight)| {
            Signal::Arrived(Arrivals { packets, marked, rtt_ns, in_flight })
        }),
        (any::<u32>(), any::<u32>()).prop_map(|(number, next)| Signal::Shrink(number, next)),
        (any::<u8>(), any::<u64>()).prop_map(|(plane, sent_ns)| Signal::Crowd(plane, sent_ns)),
    ]
}

proptest! {
    #[test]
    fn the_window_keeps_its_bounds_and_moves_the_right_way(
        planes in 0u32..33,
        most in 0u32..2000,
        signals in proptest::collection::vec(signal(), 0..200),
    ) {
        let mut congestion = Congestion::new(planes, most);
        for signal in signals {
            let before = congestion.window;
            match signal {
                Signal::Arrived(arrivals) => {
                    congestion.handle_ack(&arrivals);
                    prop_assert!(arrivals.marked > 0 || congestion.window >= before);
                    prop_assert!(arrivals.marked == 0 || congestion.window <= before);
                    prop_assert!(congestion.window <= before + f64::from(arrivals.packets), "at most doubled");
                }
                Signal::Shrink(number, next) => {
                    congestion.shrink(number, next);
                    prop_assert!(congestion.window <= before);
                    prop_assert!(congestion.window >= (before - SHRINK).min(before));
                }
                Signal::Crowd(plane, sent_ns) => {
                    congestion.crowd(plane, sent_ns);
                    prop_assert!((congestion.window - before).abs() < f64::EPSILON);
                    prop_assert_eq!(congestion.is_crowded(plane, sent_ns), usize::from(plane) < PLANES_MAX);
                }
            }
            prop_assert!((WINDOW_MIN..=most.max(WINDOW_MIN)).contains(&congestion.window()));
        }
    }
}
