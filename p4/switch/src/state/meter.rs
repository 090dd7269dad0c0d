//! Meters: token buckets after RFC 2698, one for each rate, computed from the time the switch started as BMv2 does.

use std::collections::HashMap;

/// Rates and bursts as the control plane gave them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MeterConfig {
    /// Committed rate, per second.
    pub cir: u64,
    /// Committed burst.
    pub cburst: u64,
    /// Peak rate, per second.
    pub pir: u64,
    /// Peak burst.
    pub pburst: u64,
}

/// A bucket of tokens.
#[derive(Clone, Copy, Debug)]
struct Bucket {
    per_second: u64,
    burst: u64,
    tokens: u64,
    /// Tokens handed out since the switch started.
    given: u64,
}

impl Bucket {
    fn new(per_second: u64, burst: u64) -> Self {
        Self { per_second, burst, tokens: burst, given: 0 }
    }

    /// Takes tokens where there are enough.
    fn take(&mut self, cost: u64, now_us: u64) -> bool {
        // Rates are kept per microsecond in floating point by BMv2; whole numbers keep the same sum without drift.
        let due = (u128::from(now_us) * u128::from(self.per_second) / 1_000_000) as u64;
        let fresh = due.saturating_sub(self.given);
        self.given = due;
        self.tokens = self.tokens.saturating_add(fresh).min(self.burst);
        let enough = self.tokens >= cost;
        if enough {
            self.tokens -= cost;
        }
        enough
    }
}

/// A configured meter.
#[derive(Clone, Copy, Debug)]
pub struct Meter {
    config: MeterConfig,
    committed: Bucket,
    peak: Bucket,
}

impl Meter {
    /// Returns a meter whose buckets are full.
    pub fn new(config: MeterConfig) -> Self {
        let committed = Bucket::new(config.cir, config.cburst);
        let peak = Bucket::new(config.pir, config.pburst);
        Self { config, committed, peak }
    }

    /// Returns the configuration.
    pub fn config(&self) -> MeterConfig {
        self.config
    }

    /// Colours a packet: 0 green, 1 yellow, 2 red.
    pub fn colour(&mut self, cost: u64, now_us: u64) -> u64 {
        if self.peak.take(cost, now_us) { u64::from(!self.committed.take(cost, now_us)) } else { 2 }
    }
}

/// An array of meters, of which only the configured ones exist.
#[derive(Debug)]
pub struct MeterBank {
    size: u32,
    meters: HashMap<u32, Meter>,
}

impl MeterBank {
    /// Returns meters of which none is configured.
    pub fn new(size: u32) -> Self {
        Self { size, meters: HashMap::new() }
    }

    /// Returns the number of meters.
    pub fn size(&self) -> u32 {
        self.size
    }

    /// Returns the configuration of a meter.
    pub fn config(&self, index: u32) -> Option<MeterConfig> {
        self.meters.get(&index).map(Meter::config)
    }

    /// Configures a meter, or clears it; returns whether it exists.
    pub fn set(&mut self, index: u32, config: Option<MeterConfig>) -> bool {
        if index >= self.size {
            return false;
        }
        match config {
            Some(config) => self.meters.insert(index, Meter::new(config)),
            None => self.meters.remove(&index),
        };
        true
    }

    /// Colours a packet; a meter without configuration finds it green, one that does not exist says nothing.
    pub fn colour(&mut self, index: u32, cost: u64, now_us: u64) -> Option<u64> {
        if index >= self.size {
            return None;
        }
        Some(self.meters.get_mut(&index).map_or(0, |meter| meter.colour(cost, now_us)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_goes_green_then_yellow_then_red() {
        let config = MeterConfig { cir: 1, cburst: 2, pir: 1, pburst: 3 };
        let mut meter = Meter::new(config);
        let colours: Vec<u64> = (0..5).map(|_| meter.colour(1, 0)).collect();
        assert_eq!(colours, [0, 0, 1, 2, 2]);
        assert_eq!(meter.colour(1, 1_000_000), 0, "one token of each came back after a second");
        assert_eq!(meter.colour(1, 1_000_000), 2);
    }

    #[test]
    fn only_configured_meters_exist() {
        let mut bank = MeterBank::new(4);
        assert_eq!(bank.colour(3, 1500, 0), Some(0));
        assert_eq!(bank.colour(4, 1500, 0), None);
        assert!(bank.set(3, Some(MeterConfig { cir: 1, cburst: 100, pir: 1, pburst: 100 })));
        assert_eq!(bank.colour(3, 1500, 0), Some(2));
        assert!(bank.set(3, None));
        assert_eq!(bank.colour(3, 1500, 0), Some(0));
        assert!(!bank.set(4, None));
    }
}
