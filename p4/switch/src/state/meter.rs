//! Meters: token buckets as in RFC 2698, one per rate, computed from the start time of the switch as in BMv2.

use std::collections::HashMap;

use super::array::Counter;

/// Rates and bursts from the control plane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MeterConfig {
    /// Committed rate, per second.
    pub(crate) cir: u64,
    /// Committed burst.
    pub(crate) cburst: u64,
    /// Peak rate, per second.
    pub(crate) pir: u64,
    /// Peak burst.
    pub(crate) pburst: u64,
}

/// A bucket of tokens.
#[derive(Clone, Copy, Debug)]
struct Bucket {
    per_second: u64,
    burst: u64,
    tokens: u64,
    /// Tokens added since the switch started.
    added_tokens: u64,
}

impl Bucket {
    fn new(per_second: u64, burst: u64) -> Self {
        Self { per_second, burst, tokens: burst, added_tokens: 0 }
    }

    /// Takes tokens if there are enough.
    fn take(&mut self, cost: u64, now_us: u64) -> bool {
        // BMv2 stores rates per microsecond in floating point; integers give the same sum without drift.
        let due = (u128::from(now_us) * u128::from(self.per_second) / 1_000_000) as u64;
        let fresh = due.saturating_sub(self.added_tokens);
        self.added_tokens = due;
        self.tokens = self.tokens.saturating_add(fresh).min(self.burst);
        let enough = self.tokens >= cost;
        if enough {
            self.tokens -= cost;
        }
        enough
    }
}

/// Buckets of a configured meter.
#[derive(Clone, Copy, Debug)]
struct Buckets {
    config: MeterConfig,
    committed: Bucket,
    peak: Bucket,
}

/// A meter with its colour counts. Without a configuration, every packet is green.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Meter {
    buckets: Option<Buckets>,
    colours: [Counter; 3],
}

impl Meter {
    /// Returns a meter whose buckets are full.
    #[cfg(test)]
    pub(crate) fn new(config: MeterConfig) -> Self {
        let mut meter = Self::default();
        meter.configure(Some(config));
        meter
    }

    /// Sets a configuration and fills the buckets, or removes both.
    pub(crate) fn configure(&mut self, config: Option<MeterConfig>) {
        self.buckets = config.map(|config| Buckets {
            config,
            committed: Bucket::new(config.cir, config.cburst),
            peak: Bucket::new(config.pir, config.pburst),
        });
    }

    /// Returns the configuration.
    pub(crate) fn config(&self) -> Option<MeterConfig> {
        self.buckets.map(|buckets| buckets.config)
    }

    /// Returns whether the meter has never been configured or used.
    pub(crate) fn is_default(&self) -> bool {
        self.buckets.is_none() && self.colours == [Counter::default(); 3]
    }

    /// Returns the counts of green, yellow and red packets.
    pub(crate) fn colours(&self) -> [Counter; 3] {
        self.colours
    }

    /// Resets the colour counts.
    pub(crate) fn clear_colours(&mut self) {
        self.colours = [Counter::default(); 3];
    }

    /// Colours a packet: 0 green, 1 yellow, 2 red.
    pub(crate) fn colour(&mut self, size: PacketSize, now_us: u64) -> u64 {
        let colour = self.buckets.as_mut().map_or(0, |buckets| {
            if !buckets.peak.take(size.cost, now_us) {
                return 2;
            }
            u64::from(!buckets.committed.take(size.cost, now_us))
        });
        self.colours[colour as usize].count(size.bytes);
        colour
    }
}

/// Size of a packet for a meter.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PacketSize {
    /// Number of tokens.
    pub(crate) cost: u64,
    /// Number of bytes.
    pub(crate) bytes: u64,
}

impl PacketSize {
    /// Returns the size of a packet for a meter of bytes or of packets.
    pub(crate) fn new(bytes: u64, by_bytes: bool) -> Self {
        Self { cost: if by_bytes { bytes } else { 1 }, bytes }
    }
}

/// An array of meters; only configured or used ones are allocated.
#[derive(Debug)]
pub(crate) struct MeterBank {
    size: u32,
    meters: HashMap<u32, Meter>,
}

impl MeterBank {
    /// Returns meters of which none is configured.
    pub(crate) fn new(size: u32) -> Self {
        Self { size, meters: HashMap::new() }
    }

    /// Returns the number of meters.
    pub(crate) fn size(&self) -> u32 {
        self.size
    }

    /// Returns a meter; `None` past the end.
    pub(crate) fn get(&self, index: u32) -> Option<Meter> {
        (index < self.size).then(|| self.meters.get(&index).copied().unwrap_or_default())
    }

    /// Replaces a meter; returns whether it exists.
    pub(crate) fn set(&mut self, index: u32, meter: Meter) -> bool {
        if index < self.size {
            self.meters.insert(index, meter);
        }
        index < self.size
    }

    /// Colours a packet; `None` for a meter that does not exist.
    pub(crate) fn colour(&mut self, index: u32, size: PacketSize, now_us: u64) -> Option<u64> {
        if index >= self.size {
            return None;
        }
        Some(self.meters.entry(index).or_default().colour(size, now_us))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PACKET: PacketSize = PacketSize { cost: 1, bytes: 100 };

    #[test]
    fn a_burst_goes_green_then_yellow_then_red() {
        let config = MeterConfig { cir: 1, cburst: 2, pir: 1, pburst: 3 };
        let mut meter = Meter::new(config);
        let colours: Vec<u64> = (0..5).map(|_| meter.colour(PACKET, 0)).collect();
        assert_eq!(colours, [0, 0, 1, 2, 2]);
        assert_eq!(meter.colour(PACKET, 1_000_000), 0, "one token of each came back after a second");
        assert_eq!(meter.colour(PACKET, 1_000_000), 2);
        assert_eq!(meter.colours().map(|counter| counter.packets), [3, 1, 3]);
        assert_eq!(meter.colours()[2].bytes, 300);
    }

    #[test]
    fn only_meters_in_use_exist() {
        let mut bank = MeterBank::new(4);
        let size = PacketSize::new(1500, true);
        assert_eq!(bank.colour(3, size, 0), Some(0));
        assert_eq!(bank.colour(4, size, 0), None);
        assert!(bank.set(3, Meter::new(MeterConfig { cir: 1, cburst: 100, pir: 1, pburst: 100 })));
        assert_eq!(bank.colour(3, size, 0), Some(2));
        assert!(bank.set(3, Meter::default()));
        assert_eq!(bank.colour(3, size, 0), Some(0));
        assert!(!bank.set(4, Meter::default()));
        assert!(bank.get(4).is_none());
    }
}
