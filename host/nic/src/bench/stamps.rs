//! Cost of the kernel's receive timestamps: alternating runs with and without them.
//!
//! In: the measurements to run. Out: one line per packet size, and one for probes. Invariants: runs alternate, so that
//! other load affects both kinds equally. The median of their ratios is reported. While any other socket on the machine
//! requests timestamps, the kernel stamps all frames, and there is no difference.

use std::fmt::Write as _;

use clap::ValueEnum;
use closc_paths::Table;

use super::{Bench, Fault, ProbeCost};

/// Number of runs of each kind.
const TURNS: u64 = 5;

/// Whether received frames are timestamped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Stamps {
    /// On, as in the agent
    On,
    /// Off
    Off,
    /// Alternate both, and print the ratio of their cost
    Compare,
}

impl Bench {
    /// Compares sending and probing with and without stamps.
    pub(super) fn stamps(&self, table: &Table<'_>, downlink: u16) -> Result<String, Fault> {
        let mut said = String::new();
        for size in &self.sizes {
            let count = (self.count / TURNS).max(1);
            let each = measure_pairs(|stamped| {
                Ok(self.send(table, downlink, *size, (count, stamped))?.packet_rate())
            })?;
            let _ = writeln!(
                said,
                "packets of {size} bytes, M in a second of processor time: {}",
                format_medians(&each)
            );
        }
        let tiers = (0..=2).rev().find_map(|tiers| Bench::probe_options(table, downlink, tiers));
        let Some(options) = tiers else { return Ok(said) };
        let each = measure_pairs(|stamped| {
            let probing = ProbeCost::run(self, (table, downlink), options, (false, stamped))?;
            Ok(probing.probe_cost_us(probing.seconds_busy))
        })?;
        let _ = writeln!(
            said,
            "a probe and its answer with the switches, us of processor time: {}",
            format_medians(&each)
        );
        Ok(said)
    }
}

/// Alternates runs with and without timestamps. Each kind comes first in every second pair.
fn measure_pairs(mut measure: impl FnMut(bool) -> Result<f64, Fault>) -> Result<Vec<(f64, f64)>, Fault> {
    let mut turn = |number: u64| -> Result<(f64, f64), Fault> {
        let stamped_first = number.is_multiple_of(2);
        let first = measure(stamped_first)?;
        let second = measure(!stamped_first)?;
        Ok(if stamped_first { (first, second) } else { (second, first) })
    };
    (0..TURNS).map(&mut turn).collect()
}

/// Formats the medians of the rates with stamps, of the rates without, and of their ratios.
fn format_medians(each: &[(f64, f64)]) -> String {
    let ratios = sorted(each.iter().map(|(with, without)| with / without.max(1e-9)));
    let with = sorted(each.iter().map(|(with, _)| *with));
    let without = sorted(each.iter().map(|(_, without)| *without));
    let middle = |values: &[f64]| values.get(values.len() / 2).copied().unwrap_or(0.0);
    let (least, most) = (ratios.first().unwrap_or(&0.0), ratios.last().unwrap_or(&0.0));
    format!(
        "{:.3} with stamps, {:.3} without; ratio {:.3} (median of {} turns, {least:.3} to {most:.3})",
        middle(&with),
        middle(&without),
        middle(&ratios),
        each.len()
    )
}

fn sorted(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_unstable_by(f64::total_cmp);
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_alternate_and_the_middle_ratio_is_said() {
        let mut order = Vec::new();
        let each = measure_pairs(|stamped| {
            order.push(stamped);
            Ok(if stamped { 9.0 + order.len() as f64 } else { 20.0 })
        });
        let each = each.unwrap();
        assert_eq!(order, [true, false, false, true, true, false, false, true, true, false]);
        let with: Vec<f64> = each.iter().map(|(with, _)| *with).collect();
        assert_eq!(with, [10.0, 13.0, 14.0, 17.0, 18.0]);
        let said = "14.000 with stamps, 20.000 without; ratio 0.700 (median of 5 turns, 0.500 to 0.900)";
        assert_eq!(format_medians(&each), said);
    }
}
