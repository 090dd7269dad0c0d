//! Statistics of the kernel about this process and the machine.
//!
//! In: `/proc`. Out: peak memory, and processor time that was stolen by the host or idle. Invariants: a value that
//! cannot be read counts as zero.

use std::fmt;
use std::fs;

/// Returns the peak memory of this process, in MiB.
pub(crate) fn memory() -> f64 {
    let text = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<f64>().ok());
    kilobytes.unwrap_or(0.0) / 1024.0
}

/// Processor use, in ticks since boot.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Shares {
    all: f64,
    idle: f64,
    stolen: f64,
}

impl Shares {
    /// Reads the current values.
    pub(crate) fn read() -> Shares {
        Shares::of(&fs::read_to_string("/proc/stat").unwrap_or_default())
    }

    /// Parses the first line: user, nice, system, idle, iowait, irq, softirq, steal. `user` includes guests.
    fn of(text: &str) -> Shares {
        let line = text.lines().next().unwrap_or_default();
        let ticks: Vec<f64> =
            line.split_whitespace().skip(1).take(8).filter_map(|t| t.parse().ok()).collect();
        let tick = |at: usize| ticks.get(at).copied().unwrap_or(0.0);
        Shares { all: ticks.iter().sum(), idle: tick(3) + tick(4), stolen: tick(7) }
    }

    /// Reads the values again and returns the difference.
    pub(crate) fn since(self) -> Shares {
        let now = Shares::read();
        Shares { all: now.all - self.all, idle: now.idle - self.idle, stolen: now.stolen - self.stolen }
    }
}

impl fmt::Display for Shares {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percent = |part: f64| part * 100.0 / self.all.max(1.0);
        write!(
            out,
            "processors of the machine: {:.1} % stolen by its host, {:.1} % idle",
            percent(self.stolen),
            percent(self.idle)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steal_is_the_eighth_number() {
        let shares = Shares::of("cpu  10 0 20 50 10 0 0 10 7 0\ncpu0 1 2 3\n");
        let said = "processors of the machine: 10.0 % stolen by its host, 60.0 % idle";
        assert_eq!(shares.to_string(), said);
        assert!(memory() > 0.0);
    }
}
