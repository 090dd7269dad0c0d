//! How fast a port may send: the line rate of a NIC port where the machine would go faster, or so fast that processor
//! time would be what is measured.
//!
//! In: bytes that leave, the time. Out: whether a piece may leave now, or when. Invariants: every frame counts; only
//! pieces of writes wait, because everything else answers somebody or comes from the node.

/// What a port may send at once after it was idle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PortBurst {
    /// So long at its rate: a process that got no processor for a while catches up.
    pub ns: u64,
    /// So many bytes at least.
    pub bytes: u64,
}

impl Default for PortBurst {
    fn default() -> Self {
        // Two of the largest frames at least.
        PortBurst { ns: 30_000_000, bytes: 20_000 }
    }
}

/// How fast a port is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rate {
    /// Megabits a second.
    pub mbps: u32,
    /// At once after it was idle.
    pub burst: PortBurst,
}

#[derive(Debug, Clone, Copy)]
struct Port {
    /// Bytes that may leave; below 0 after a frame that did not wait.
    credit: i64,
    at_ns: u64,
    /// Time that has not yet made a whole byte, in byte-nanoseconds.
    rest: u64,
}

/// The rate of every port.
#[derive(Debug)]
pub struct Pace {
    /// None: no limit.
    bytes_per_second: Option<u64>,
    burst: PortBurst,
    ports: Vec<Port>,
}

impl Pace {
    /// Takes the rate of a port, if there is one.
    pub fn new(planes: usize, rate: Option<Rate>, now_ns: u64) -> Pace {
        let bytes_per_second = rate.map(|rate| u64::from(rate.mbps.max(1)) * 125_000);
        let burst = rate.map(|rate| rate.burst).unwrap_or_default();
        let mut pace = Pace { bytes_per_second, burst, ports: Vec::new() };
        let credit = pace.burst().cast_signed();
        pace.ports = vec![Port { credit, at_ns: now_ns, rest: 0 }; planes];
        pace
    }

    fn burst(&self) -> u64 {
        let rate = self.bytes_per_second.unwrap_or_default();
        (u128::from(rate) * u128::from(self.burst.ns) / 1_000_000_000).max(u128::from(self.burst.bytes))
            as u64
    }

    /// Tells when a piece may leave by a port: now, or later.
    pub fn ready_at(&mut self, plane: u8, now_ns: u64) -> u64 {
        let burst = self.burst().cast_signed();
        let Some(rate) = self.bytes_per_second else { return now_ns };
        let Some(port) = self.ports.get_mut(usize::from(plane)) else { return now_ns };
        // A long idle time is worth a burst, whatever its length.
        let passed = now_ns.saturating_sub(port.at_ns).min(1_000_000_000);
        let earned = u128::from(passed) * u128::from(rate) + u128::from(port.rest);
        port.credit = (port.credit + (earned / 1_000_000_000) as i64).min(burst);
        port.rest = (earned % 1_000_000_000) as u64;
        port.at_ns = now_ns;
        if port.credit > 0 {
            return now_ns;
        }
        let lacking = u128::from(port.credit.unsigned_abs()) + 1;
        now_ns + (lacking * 1_000_000_000).div_ceil(u128::from(rate)) as u64
    }

    /// Counts a frame that leaves.
    pub fn took(&mut self, plane: u8, bytes: usize) {
        if self.bytes_per_second.is_some()
            && let Some(port) = self.ports.get_mut(usize::from(plane))
        {
            port.credit -= (bytes as u64).cast_signed();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RATE: Option<Rate> = Some(Rate { mbps: 8, burst: PortBurst { ns: 30_000_000, bytes: 20_000 } });

    /// Sends frames as fast as it is allowed to and returns the bytes of so many nanoseconds.
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
    fn without_a_rate_nothing_waits() {
        let mut pace = Pace::new(1, None, 0);
        pace.took(0, 1 << 30);
        assert_eq!(pace.ready_at(0, 5), 5);
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
