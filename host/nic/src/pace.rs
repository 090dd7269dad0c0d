//! Rate limit of a port. On a machine that is faster than its ports, it is the line rate. Measurements use a
//! lower rate, so that the processor is not the limit.
//!
//! In: bytes that leave, the time. Out: whether a piece may leave now, or when. Invariants: every frame counts. Only
//! pieces of writes and long probes wait for their port. All other frames are answers or short probes, or come from the
//! node. Acknowledgements use at most a share of the rate of all ports that are up, so they use less when ports fail.
//! The share is larger if they report missing packets, or if a port is idle.

/// Burst of a port after it was idle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PortBurst {
    /// Duration of a burst at the configured rate. A process that had no processor time for a while catches
    /// up within it.
    pub ns: u64,
    /// Minimum size of a burst.
    pub bytes: u64,
}

impl Default for PortBurst {
    fn default() -> Self {
        // At least two frames of maximum size.
        PortBurst { ns: 30_000_000, bytes: 20_000 }
    }
}

/// Speed of a port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rate {
    /// Megabits per second.
    pub mbps: u32,
    /// Burst after an idle period.
    pub burst: PortBurst,
    /// Bytes per frame that the port transmits in addition to those written by the agent.
    pub overhead_bytes: u16,
}

/// Acknowledgements use at most one in this many bytes of the rate of busy ports. With 16, full rings and permutations
/// lost 4 % of their goodput.
const USUAL: u64 = 64;
/// The same for acknowledgements that report missing packets, and for those of NICs with an idle port.
const NEWS: u64 = 16;
/// If several NICs send to this one, a port is idle while it sends less than its rate divided by this. A port at
/// 98 % of its rate has gaps between packets. Acknowledgements in these gaps would overfill shared queues.
const IDLE: u64 = 2;
/// Time after which a port that stops sending is idle, or a port that sends is busy.
const IDLE_NS: u64 = 10_000_000;
/// Burst of acknowledgements after an idle period, enough for several NICs.
const ACKNOWLEDGED_AT_ONCE: u64 = 8_192;

/// Rate limit.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Credit {
    /// Bytes that may leave. It is negative after frames that did not wait.
    bytes: i64,
    at_ns: u64,
    /// Remaining time, worth less than one byte, in byte-nanoseconds.
    rest: u64,
}

impl Credit {
    /// Removes the bytes of a frame that leaves.
    pub(crate) fn charge(&mut self, bytes: u64) {
        self.bytes -= bytes.cast_signed();
    }

    pub(crate) fn new(bytes: u64, now_ns: u64) -> Credit {
        Credit { bytes: bytes.cast_signed(), at_ns: now_ns, rest: 0 }
    }

    /// Adds the bytes earned since the last call, up to a burst.
    pub(crate) fn earn(&mut self, rate: u64, burst: u64, now_ns: u64) {
        // Limit the time to avoid an overflow. After a long idle time the burst is reached anyway.
        let passed = now_ns.saturating_sub(self.at_ns).min(1_000_000_000);
        let earned = u128::from(passed) * u128::from(rate) + u128::from(self.rest);
        self.bytes = (self.bytes + (earned / 1_000_000_000) as i64).min(burst.cast_signed());
        self.rest = (earned % 1_000_000_000) as u64;
        self.at_ns = now_ns;
    }

    /// Returns when a frame may leave, if no other leaves before.
    pub(crate) fn ready_at(&self, rate: u64) -> u64 {
        if self.bytes > 0 {
            return self.at_ns;
        }
        let lacking = u128::from(self.bytes.unsigned_abs()) + 1;
        self.at_ns + (lacking * 1_000_000_000).div_ceil(u128::from(rate.max(1))) as u64
    }
}

/// The rate limits of all ports.
#[derive(Debug)]
pub struct Pace {
    /// `None` for no limit.
    bytes_per_second: Option<u64>,
    burst: PortBurst,
    besides: i64,
    ports: Vec<Credit>,
    /// Bytes that each port could have sent at half of its rate, but did not.
    spare: Vec<Credit>,
    /// Credits of acknowledgements for their two shares. Each acknowledgement is charged to both.
    acknowledgements: Credit,
    news: Credit,
    /// Number of ports that are up.
    ports_up: u64,
    /// Whether a port that is up was idle at the last update, so acknowledgements displace no data.
    has_idle_port: bool,
    /// Whether a port that is up sent less than half of its rate at the last update.
    has_free_port: bool,
}

impl Pace {
    /// Makes the limits for the rate of a port, if one is configured.
    pub fn new(planes: usize, rate: Option<Rate>, now_ns: u64) -> Pace {
        let bytes_per_second = rate.map(|rate| u64::from(rate.mbps.max(1)) * 125_000);
        let burst = rate.map(|rate| rate.burst).unwrap_or_default();
        let acknowledgements = Credit::new(ACKNOWLEDGED_AT_ONCE, now_ns);
        let besides = rate.map_or(0, |rate| i64::from(rate.overhead_bytes));
        let ports = Vec::new();
        let mut pace = Pace {
            bytes_per_second,
            burst,
            besides,
            ports,
            spare: vec![Credit::new(0, now_ns); planes],
            acknowledgements,
            news: acknowledgements,
            ports_up: 1,
            has_idle_port: false,
            has_free_port: false,
        };
        pace.ports = vec![Credit::new(pace.burst(), now_ns); planes];
        pace
    }

    fn burst(&self) -> u64 {
        self.burst_of(self.bytes_per_second.unwrap_or_default())
    }

    /// Returns the size of a burst in bytes, for a rate in bytes per second.
    pub(crate) fn burst_of(&self, rate: u64) -> u64 {
        (u128::from(rate) * u128::from(self.burst.ns) / 1_000_000_000).max(u128::from(self.burst.bytes))
            as u64
    }

    /// Returns the bytes per second of a number of ports; 0 if their rate is unknown.
    pub(crate) fn capacity(&self, ports: u32) -> u64 {
        self.bytes_per_second.unwrap_or_default() * u64::from(ports)
    }

    /// Returns the bytes that a frame takes at a port.
    pub(crate) fn bytes_of(&self, frame: usize) -> u64 {
        frame as u64 + self.besides.unsigned_abs()
    }

    /// Returns when a piece may leave through a port; `now_ns` or earlier if it may leave now.
    pub fn ready_at(&mut self, plane: u8, now_ns: u64) -> u64 {
        let burst = self.burst();
        let Some(rate) = self.bytes_per_second else { return now_ns };
        let Some(port) = self.ports.get_mut(usize::from(plane)) else { return now_ns };
        port.earn(rate, burst, now_ns);
        port.ready_at(rate)
    }

    /// Updates the budget of acknowledgements for the ports that are up. `is_shared` if several NICs send to this one.
    pub fn earn_acknowledgements(&mut self, is_up: impl Fn(u8) -> bool, is_shared: bool, now_ns: u64) {
        let Some(rate) = self.bytes_per_second else { return };
        let burst = self.burst();
        (self.ports_up, self.has_idle_port, self.has_free_port) = (0, false, false);
        let spare_max = Self::spare_max(rate);
        for (_, (port, spare)) in
            (0..).zip(self.ports.iter_mut().zip(&mut self.spare)).filter(|(plane, _)| is_up(*plane))
        {
            port.earn(rate, burst, now_ns);
            spare.earn(rate / IDLE, spare_max, now_ns);
            self.ports_up += 1;
            let is_free = spare.bytes > 0;
            self.has_free_port |= is_free;
            self.has_idle_port |= if is_shared { is_free } else { port.bytes >= burst.cast_signed() };
        }
        let (usual, news) = (self.share(rate, USUAL), self.share(rate, NEWS));
        self.acknowledgements.earn(usual, ACKNOWLEDGED_AT_ONCE, now_ns);
        self.news.earn(news, ACKNOWLEDGED_AT_ONCE, now_ns);
    }

    /// Returns the bytes per second that acknowledgements may use.
    fn share(&self, rate: u64, part: u64) -> u64 {
        (rate * self.ports_up.max(1) / part).max(1)
    }

    /// Returns when an acknowledgement may leave, regardless of its size, as of the last update. `is_news` if
    /// it reports missing packets. Without a rate it does not wait.
    pub fn acknowledge_at(&self, is_news: bool) -> u64 {
        let Some(rate) = self.bytes_per_second else { return 0 };
        if is_news || self.has_idle_port {
            return self.news.ready_at(self.share(rate, NEWS));
        }
        self.acknowledgements.ready_at(self.share(rate, USUAL))
    }

    /// Charges a sent acknowledgement to the budget of acknowledgements. [`Self::took`] charges it to the port.
    pub fn charge_ack(&mut self, bytes: usize) {
        if self.bytes_per_second.is_some() {
            // Limit the debt, so that acknowledgements that could not wait do not delay others for long.
            let least = -ACKNOWLEDGED_AT_ONCE.cast_signed();
            let bytes = (bytes as u64).cast_signed() + self.besides;
            self.news.bytes = (self.news.bytes - bytes).max(least);
            // Those sent while a port had room displaced no data, so they do not delay later ones.
            let least = if self.has_free_port { self.acknowledgements.bytes.min(0) } else { least };
            self.acknowledgements.bytes = (self.acknowledgements.bytes - bytes).max(least);
        }
    }

    /// Charges a frame that leaves to its port.
    pub fn took(&mut self, plane: u8, bytes: usize) {
        if self.bytes_per_second.is_some()
            && let Some(port) = self.ports.get_mut(usize::from(plane))
        {
            let bytes = (bytes as u64).cast_signed() + self.besides;
            port.bytes -= bytes;
            let least = -Self::spare_max(self.bytes_per_second.unwrap_or_default()).cast_signed();
            if let Some(spare) = self.spare.get_mut(usize::from(plane)) {
                spare.bytes = (spare.bytes - bytes).max(least);
            }
        }
    }

    /// Returns the number of bytes after which a port changes between idle and busy.
    fn spare_max(rate: u64) -> u64 {
        rate / IDLE * IDLE_NS / 1_000_000_000
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RATE: Option<Rate> =
        Some(Rate { mbps: 8, burst: PortBurst { ns: 30_000_000, bytes: 20_000 }, overhead_bytes: 0 });

    /// Sends frames as fast as permitted and returns the bytes sent until `until_ns`.
    fn bytes_in(pace: &mut Pace, plane: u8, until_ns: u64, frame: usize) -> u64 {
        let (mut now_ns, mut sent) = (0, 0);
        loop {
            now_ns = pace.ready_at(plane, now_ns);
            if now_ns > until_ns {
                return sent;
            }
            pace.took(plane, frame);
            sent += frame as u64;
        }
    }

    #[test]
    fn a_port_keeps_its_rate_and_ports_do_not_share_it() {
        let mut pace = Pace::new(2, RATE, 0);
        let first = bytes_in(&mut pace, 0, 10_000_000_000, 1500);
        let wanted = 10_000_000;
        assert!(first.abs_diff(wanted) < 40_000, "{first}");
        assert_eq!(pace.ready_at(1, 10_000_000_000), 10_000_000_000);
    }

    #[test]
    fn what_a_port_carries_besides_counts() {
        let rate = RATE.map(|rate| Rate { overhead_bytes: 500, ..rate });
        let sent = bytes_in(&mut Pace::new(1, rate, 0), 0, 10_000_000_000, 1500);
        assert!(sent.abs_diff(7_500_000) < 40_000, "three quarters of ten megabytes: {sent}");
    }

    #[test]
    fn without_a_rate_nothing_waits() {
        let mut pace = Pace::new(1, None, 0);
        pace.took(0, 1 << 30);
        assert_eq!(pace.ready_at(0, 5), 5);
    }

    #[test]
    fn acknowledgements_take_a_share_of_the_ports_that_are_up() {
        // Eight busy ports, four busy ports, news, and an idle port.
        let cases =
            [(8, 8, false, 125_000), (4, 4, false, 62_500), (8, 8, true, 500_000), (8, 7, false, 500_000)];
        for (up, busy, is_news, most) in cases {
            let mut pace = Pace::new(8, RATE, 0);
            let (mut now_ns, mut sent, mut carried) = (0, 0, 0);
            while now_ns < 1_000_000_000 {
                // One byte per microsecond is the rate of a port.
                let passed = (now_ns / 1_000) as usize + 10_000 - carried;
                (0..busy).for_each(|plane| pace.took(plane, passed));
                carried += passed;
                pace.earn_acknowledgements(|plane| plane < up, true, now_ns);
                let ready_ns = pace.acknowledge_at(is_news);
                if ready_ns <= now_ns {
                    pace.charge_ack(250);
                    sent += 250;
                }
                now_ns = ready_ns.max(now_ns);
            }
            assert!(
                (most..most + ACKNOWLEDGED_AT_ONCE + 500).contains(&sent),
                "{up} {busy} {is_news}: {sent}"
            );
        }
        let mut free = Pace::new(1, None, 0);
        free.charge_ack(1 << 20);
        free.earn_acknowledgements(|_| true, true, 7);
        assert_eq!(free.acknowledge_at(false), 0);
    }

    #[test]
    fn acknowledgements_of_a_free_port_do_not_delay_those_of_a_busy_one() {
        let mut pace = Pace::new(1, RATE, 0);
        // The port is idle for 200 ms, and its acknowledgements use far more than their share of a busy port.
        for at_ms in 0..200 {
            pace.earn_acknowledgements(|_| true, false, at_ms * 1_000_000);
            pace.charge_ack(1_000);
        }
        pace.took(0, 40_000);
        pace.earn_acknowledgements(|_| true, false, 200_000_000);
        assert!(!pace.has_idle_port);
        // One byte takes 64 us at a busy port's share. A full debt would take half a second.
        let wait_ns = pace.acknowledge_at(false) - 200_000_000;
        assert!(wait_ns <= 64_000, "{wait_ns}");
    }

    #[test]
    fn a_shared_port_is_idle_only_below_half_of_its_rate() {
        for (percent, is_shared, is_idle) in
            [(10, true, true), (40, true, true), (60, true, false), (98, true, false), (60, false, true)]
        {
            let mut pace = Pace::new(1, RATE, 0);
            // A frame of 1,000 bytes takes 1 ms, so a gap follows each of them.
            for at in 0..200 {
                pace.earn_acknowledgements(|_| true, is_shared, at * 100_000_000 / percent);
                pace.took(0, 1_000);
            }
            pace.earn_acknowledgements(|_| true, is_shared, 200 * 100_000_000 / percent);
            assert_eq!(pace.has_idle_port, is_idle, "{percent} %, shared: {is_shared}");
        }
    }

    #[test]
    fn idle_time_is_worth_one_burst() {
        let mut pace = Pace::new(1, RATE, 0);
        let mut sent = 0;
        while pace.ready_at(0, 3_600_000_000_000) == 3_600_000_000_000 {
            pace.took(0, 1000);
            sent += 1000;
        }
        assert!(sent <= 31_000, "{sent}");
    }
}
