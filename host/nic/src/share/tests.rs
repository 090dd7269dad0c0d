//! Tests equal shares, small senders, new senders, pauses and failing ports.

use super::*;

/// 8 Mb/s: a frame of 100 bytes takes 0.1 ms.
const CAPACITY: u64 = 1_000_000;
const FRAME: u64 = 100;

/// Senders with a maximum rate each, in bytes per second, that otherwise use their grant.
struct Fan {
    shares: Shares,
    usage: Vec<Usage>,
    limits: Vec<f64>,
    credits: Vec<f64>,
    now_ns: u64,
}

impl Fan {
    fn new(limits: &[f64]) -> Fan {
        let mut shares = Shares::new(0);
        shares.set_capacity(CAPACITY);
        let n = limits.len();
        Fan {
            shares,
            usage: vec![Usage::default(); n],
            limits: limits.into(),
            credits: vec![0.0; n],
            now_ns: 0,
        }
    }

    /// Returns the bytes per second of each sender.
    fn run(&mut self, ms: u64) -> Vec<f64> {
        let mut sent = vec![0; self.limits.len()];
        for _ in 0..ms {
            self.now_ns += 1_000_000;
            let kbps = self.shares.kbps();
            let granted = if kbps == 0 { CAPACITY as f64 } else { f64::from(kbps) * 125.0 };
            for (n, limit) in self.limits.iter().enumerate() {
                self.credits[n] += granted.min(*limit) / 1e3;
                while self.credits[n] >= FRAME as f64 {
                    self.credits[n] -= FRAME as f64;
                    sent[n] += FRAME;
                    self.shares.took(FRAME, &mut self.usage[n], self.now_ns);
                }
            }
        }
        sent.into_iter().map(|bytes| bytes as f64 * 1e3 / ms as f64).collect()
    }
}

#[test]
fn senders_get_equal_shares_and_do_not_exceed_the_ports() {
    for senders in [2, 7, 15, 60] {
        let mut fan = Fan::new(&vec![f64::INFINITY; senders]);
        fan.run(1_000);
        let rates = fan.run(10_000);
        let all: f64 = rates.iter().sum();
        assert!((0.95..=1.0).contains(&(all / CAPACITY as f64)), "{senders}: {all}");
        let equal = all / senders as f64;
        assert!(rates.iter().all(|rate| (rate / equal - 1.0).abs() < 0.02), "{rates:?}");
    }
}

#[test]
fn a_sender_of_little_takes_little_from_the_others() {
    let mut fan = Fan::new(&[1_000.0, 2_000.0, f64::INFINITY, f64::INFINITY]);
    fan.run(2_000);
    let rates = fan.run(10_000);
    assert!((rates[2] / rates[3] - 1.0).abs() < 0.02, "{rates:?}");
    let all: f64 = rates.iter().sum();
    assert!((0.9..=1.0).contains(&(all / CAPACITY as f64)), "{rates:?}");
}

#[test]
fn frames_without_data_are_subtracted_from_the_grants() {
    for percent in [2, 6, 20] {
        let mut fan = Fan::new(&[f64::INFINITY; 7]);
        let (mut data, mut overhead) = (0.0, 0);
        for turn in 0..4_000 {
            let rates = fan.run(1);
            // Probes arrive in bursts.
            let bytes = if turn % 20 == 0 { CAPACITY * percent / 100 / 50 } else { 0 };
            fan.shares.took_overhead(bytes);
            if turn >= 1_000 {
                data += rates.iter().sum::<f64>() / 1e3;
                overhead += bytes;
            }
        }
        let load = (data + overhead as f64) / (3.0 * CAPACITY as f64);
        assert!((USED - 0.03..USED + 0.005).contains(&load), "{percent} %: {load}");
    }
}

#[test]
fn new_senders_get_their_share_within_two_periods() {
    let mut fan = Fan::new(&[f64::INFINITY, 0.0, 0.0, 0.0]);
    fan.run(1_000);
    assert_eq!(fan.shares.kbps(), 0, "a single sender has no limit");
    fan.limits = vec![f64::INFINITY; 4];
    fan.run(40);
    let equal = USED * CAPACITY as f64 / 4.0 / 125.0;
    assert!((f64::from(fan.shares.kbps()) / equal - 1.0).abs() < 0.1, "{} {equal}", fan.shares.kbps());
}

#[test]
fn the_first_senders_expect_others_and_a_pause_changes_nothing() {
    let mut fan = Fan::new(&[f64::INFINITY; 3]);
    let kbps = |senders: f64| (USED * CAPACITY as f64 / senders / 125.0) as u32;
    assert_eq!(fan.shares.kbps(), kbps(FIRST));
    fan.run(1_000);
    assert!(fan.shares.kbps().abs_diff(kbps(3.0)) <= 1, "{}", fan.shares.kbps());
    fan.now_ns += 10_000_000_000;
    fan.run(1);
    assert!(fan.shares.kbps().abs_diff(kbps(3.0)) <= 1, "{}", fan.shares.kbps());
}

#[test]
fn a_port_that_fails_shrinks_the_grant_in_proportion() {
    let mut fan = Fan::new(&[f64::INFINITY; 4]);
    fan.run(1_000);
    let before = fan.shares.kbps();
    fan.shares.set_capacity(CAPACITY / 2);
    assert!(fan.shares.kbps().abs_diff(before / 2) <= 1, "{before} {}", fan.shares.kbps());
    let mut unknown = Shares::new(0);
    for at_ns in 1..9 {
        unknown.took(FRAME, &mut Usage::default(), at_ns);
    }
    assert_eq!(unknown.kbps(), 0, "no limit without a line rate");
}

#[test]
fn a_grant_delays_packets_and_becomes_stale() {
    let pace = Pace::new(1, None, 0);
    let mut grant = Grant::new(0);
    assert!(grant.is_stale(0));
    grant.report(8_000, 1, 1_000_000);
    assert!(!grant.is_stale(STALE_NS) && grant.is_stale(STALE_NS + 1_000_001));
    let (mut now_ns, mut sent) = (1_000_000, 0);
    while now_ns < 1_001_000_000 {
        now_ns = grant.ready_at(&pace, 1, now_ns).max(now_ns);
        grant.took(FRAME);
        sent += FRAME;
    }
    assert!((CAPACITY..=CAPACITY + 2_000).contains(&sent), "{sent}");
    grant.report(0, 1, now_ns);
    assert_eq!(grant.ready_at(&pace, 1, now_ns), now_ns);
}

/// Three of four planes of the far NIC carry three quarters of the grant, and no plane carries more than its part.
#[test]
fn a_grant_is_divided_among_the_planes_of_the_far_nic() {
    let pace = Pace::new(4, None, 0);
    for (planes, wanted) in
        [(4, CAPACITY), (3, CAPACITY * 3 / 4), (1, CAPACITY / 4), (9, CAPACITY), (0, CAPACITY / 4)]
    {
        let mut grant = Grant::new(0);
        grant.report(8_000, 4, 0);
        let (mut now_ns, mut sent) = (0, 0);
        while now_ns < 1_000_000_000 {
            now_ns = grant.ready_at(&pace, planes, now_ns).max(now_ns);
            grant.took(FRAME);
            sent += FRAME;
        }
        assert!((wanted..=wanted + 2_000).contains(&sent), "{planes}: {sent}");
    }
}
