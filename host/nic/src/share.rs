//! The rate that a NIC grants to each of its senders, so that they share its ports equally and fill no queue.
//!
//! In: frames that arrive, with their sender and the time; the rate of the ports that are up. Out: the rate of one
//! sender, which every acknowledgement carries. Invariants: no I/O and no clock, so the same arrivals give the same
//! rates. The grant is the same for all senders, and never less than an equal share. While all senders use an equal
//! share, their sum is below the rate of the ports.
//!
//! Only the receiver knows how many NICs send to it. Senders that adapt windows to trimmed packets fill the
//! last queue until it overflows, and their shares of it are random. Receiver credits (RCCC of the Ultra
//! Ethernet specification) avoid both. A grant is a rate and not a number of packets, because
//! acknowledgements may be delayed by more than a round trip. Acknowledgements and probes arrive at the same
//! ports. Their rate changes with losses, so it is measured and subtracted. A sender that uses hardly any of
//! its grant counts as a fraction of a sender, so that others can use the rest. A grant covers all ports of the receiver
//! that are up. A sender that cannot use all of these planes uses only the part of the others. Otherwise, a plane that
//! returns would double the load of the other one until its paths are in use again.

use crate::pace::{Credit, Pace};

/// Part of the rate of the ports that arriving frames may use. At a higher load, random bursts fill the queue.
const USED: f64 = 0.985;
/// Minimum length of a period.
const PERIOD_NS: u64 = 10_000_000;
/// Minimum number of packets per sender in a period. With fewer, chance would decide whether a sender
/// is counted.
const PER_SENDER: f64 = 4.0;
/// Number of senders that is assumed in the very first period, because acknowledgements to the first senders
/// do not account for the others. Later periods begin with the number of the one before, even after a pause.
const FIRST: f64 = 8.0;
/// Weight of a period in the rate of frames without data. One burst of probes must not halve the grants.
const OVERHEAD_WEIGHT: f64 = 0.25;
/// Minimum share of data in the rate that arriving frames may use.
const DATA_MIN: f64 = 0.5;
/// A sender counts as a full one if it uses at least its grant divided by this.
const WHOLE: f64 = 16.0;
/// Below this number of senders, only one of them uses much of the rate, and it needs no limit.
const SEVERAL: f64 = 1.5;
/// A grant that was not repeated for this long is stale. Acknowledgements are delayed by at most 50 ms.
const STALE_NS: u64 = 100_000_000;

/// The bytes of a sender in the last period in which it sent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Usage {
    period: u64,
    bytes: u64,
}

/// The grant of a NIC.
#[derive(Debug)]
pub(crate) struct Shares {
    /// Bytes per second of all ports that are up; 0 if unknown.
    capacity: u64,
    period: u64,
    since_ns: u64,
    /// Minimum length of this period.
    period_ns: u64,
    /// Bytes in this period for which a sender counts as a full one.
    whole: f64,
    /// Senders in this period and in the one before. Those that use little are fractions.
    senders: f64,
    senders_before: f64,
    /// Bytes of frames without data in this period: acknowledgements and probes.
    overhead: u64,
    /// Their moving average, in bytes per second.
    overhead_rate: f64,
}

impl Shares {
    pub(crate) fn new(now_ns: u64) -> Shares {
        Shares {
            capacity: 0,
            period: 0,
            since_ns: now_ns,
            period_ns: 0,
            whole: 1.0,
            senders: 0.0,
            senders_before: 0.0,
            overhead: 0,
            overhead_rate: 0.0,
        }
    }

    /// Sets the rate of the ports that are up, in bytes per second.
    pub(crate) fn set_capacity(&mut self, capacity: u64) {
        self.capacity = capacity;
    }

    /// Records a frame without data.
    pub(crate) fn took_overhead(&mut self, bytes: u64) {
        self.overhead += bytes;
    }

    /// Records a frame with data.
    pub(crate) fn took(&mut self, bytes: u64, usage: &mut Usage, now_ns: u64) {
        if self.capacity == 0 {
            return;
        }
        if now_ns >= self.since_ns.saturating_add(self.period_ns) {
            self.begin(bytes, now_ns);
        }
        if usage.period != self.period {
            *usage = Usage { period: self.period, bytes: 0 };
        }
        let part = |bytes: u64| (bytes as f64 / self.whole).min(1.0);
        let before = part(usage.bytes);
        usage.bytes += bytes;
        self.senders += part(usage.bytes) - before;
    }

    fn begin(&mut self, bytes: u64, now_ns: u64) {
        self.senders_before = self.senders.max(0.9 * self.senders_before);
        // The very first period may be short, and contain the first probe of every NIC.
        let passed = now_ns.saturating_sub(self.since_ns).max(PERIOD_NS) as f64 / 1e9;
        self.overhead_rate += OVERHEAD_WEIGHT * (self.overhead as f64 / passed - self.overhead_rate);
        (self.since_ns, self.senders, self.overhead) = (now_ns, 0.0, 0);
        self.period += 1;
        let packets = PER_SENDER * self.count() * bytes as f64;
        self.period_ns = PERIOD_NS.max((packets * 1e9 / self.capacity as f64) as u64);
        self.whole = self.usable() / self.count() * self.period_ns as f64 / 1e9 / WHOLE;
    }

    /// Returns the number of senders that share the ports.
    fn count(&self) -> f64 {
        let before = if self.senders_before > 0.0 { self.senders_before } else { FIRST };
        self.senders.max(before).max(1.0)
    }

    /// Returns the bytes per second that arriving frames may use.
    fn usable(&self) -> f64 {
        USED * self.capacity as f64
    }

    fn grant(&self) -> f64 {
        (self.usable() - self.overhead_rate).max(DATA_MIN * self.usable()) / self.count()
    }

    /// Returns whether several NICs send much to this one.
    pub(crate) fn has_several_senders(&self) -> bool {
        self.count() >= SEVERAL
    }

    /// Returns the rate of one sender, in kbit/s; 0 for no limit.
    pub(crate) fn kbps(&self) -> u32 {
        if self.capacity == 0 || !self.has_several_senders() {
            return 0;
        }
        ((self.grant() / 125.0) as u32).max(1)
    }
}

/// A grant of a far NIC, which limits writes to it.
#[derive(Debug)]
pub(crate) struct Grant {
    /// Bytes per second over all ports of the far NIC that are up; 0 for no limit.
    rate: u64,
    /// Number of these ports.
    ports: u32,
    /// Time of the last report.
    reported_ns: Option<u64>,
    credit: Credit,
}

impl Grant {
    pub(crate) fn new(now_ns: u64) -> Grant {
        Grant { rate: 0, ports: 1, reported_ns: None, credit: Credit::new(0, now_ns) }
    }

    /// Takes the grant of an acknowledgement, and the number of ports of the far NIC that are up.
    pub(crate) fn report(&mut self, kbps: u32, ports: u32, now_ns: u64) {
        (self.rate, self.ports, self.reported_ns) = (u64::from(kbps) * 125, ports.max(1), Some(now_ns));
    }

    /// Returns whether the last report is so old that other NICs may have begun to send.
    pub(crate) fn is_stale(&self, now_ns: u64) -> bool {
        self.reported_ns.is_none_or(|reported_ns| now_ns.saturating_sub(reported_ns) > STALE_NS)
    }

    /// Returns when a piece may leave; `now_ns` or earlier if it may leave now. `planes` is the number of planes over
    /// which this NIC sends. Each carries only its part of the grant, so fewer planes do not overload the far ports.
    pub(crate) fn ready_at(&mut self, pace: &Pace, planes: u32, now_ns: u64) -> u64 {
        if self.rate == 0 {
            return now_ns;
        }
        let rate = (self.rate * u64::from(planes.clamp(1, self.ports)) / u64::from(self.ports)).max(1);
        self.credit.earn(rate, pace.burst_of(rate), now_ns);
        self.credit.ready_at(rate)
    }

    /// Charges a frame that leaves.
    pub(crate) fn took(&mut self, bytes: u64) {
        if self.rate > 0 {
            self.credit.charge(bytes);
        }
    }
}

#[cfg(test)]
mod tests;
