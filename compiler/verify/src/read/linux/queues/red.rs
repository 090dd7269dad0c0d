//! Reads `red`, a queue that marks.
//!
//! Invariants: settings that `tc` rejects are errors. Settings with which marking does not follow the current queue
//! length are faults.

use crate::read::value::parse;

/// Queue lengths from this value on do not fit the kernel's averages, even with the shortest memory
/// (`red_check_params`).
const BYTES_MAX: u64 = 1 << 30;

/// Minimum of `bandwidth` in Mb/s: it determines how fast the average of an empty queue decreases.
const RATE_MIN: u64 = 10_000;
/// Maximum of `bandwidth` in Mb/s: `tc` has 32 bits for bytes per second.
const RATE_MAX: u64 = 34_359;

/// ECN thresholds.
#[derive(Debug, Default)]
pub(super) struct Marks {
    pub(super) min: u64,
    pub(super) max: u64,
    pub(super) percent: u64,
    packet: u64,
    burst: u64,
    rate_mbps: u64,
    ecn: bool,
    keeps: bool,
}

/// Parses the options. Also returns the limit of the queue.
pub(super) fn read(mut words: &[&str]) -> Result<(u64, Marks), String> {
    let (mut bytes, mut marks) = (0, Marks::default());
    loop {
        words = match words {
            ["limit", text, rest @ ..] => {
                bytes = parse(text)?;
                rest
            }
            ["min", text, rest @ ..] => {
                marks.min = parse(text)?;
                rest
            }
            ["max", text, rest @ ..] => {
                marks.max = parse(text)?;
                rest
            }
            ["avpkt", text, rest @ ..] => {
                marks.packet = parse(text)?;
                rest
            }
            ["burst", text, rest @ ..] => {
                marks.burst = parse(text)?;
                rest
            }
            ["probability", text, rest @ ..] => {
                marks.percent = percent(text)?;
                rest
            }
            ["bandwidth", text, rest @ ..] => {
                let rate = text.strip_suffix("mbit").unwrap_or_default();
                marks.rate_mbps = parse(rate)?;
                if marks.rate_mbps > RATE_MAX {
                    return Err(format!("`{text}` is a rate that `tc` cannot store"));
                }
                rest
            }
            ["ecn", rest @ ..] => {
                marks.ecn = true;
                rest
            }
            ["nodrop", rest @ ..] => {
                marks.keeps = true;
                rest
            }
            [] => break,
            _ => return Err(format!("`{}` is not a part of `red` that the proof models", words.join(" "))),
        };
    }
    if marks.min >= marks.max || marks.max >= BYTES_MAX || bytes <= marks.max {
        let Marks { min: least, max: most, .. } = marks;
        return Err(format!("{least} to {most} of {bytes} bytes is not a range to mark in"));
    }
    Ok((bytes, marks))
}

/// Parses a probability in whole percents. `tc` cannot express 100 %, so the nearest value stands for it.
fn percent(text: &str) -> Result<u64, String> {
    let digits = text.strip_prefix("0.").filter(|digits| digits.len() == 2).unwrap_or_default();
    match (text, digits.parse()) {
        ("0.999999", _) => Ok(100),
        (_, Ok(percent)) => Ok(percent),
        _ => Err(format!("`{text}` is not a probability in hundredths")),
    }
}

impl Marks {
    /// Returns the reason why marking does not follow the current queue length, or why unmarkable packets are dropped.
    pub(super) fn fault(&self) -> Option<String> {
        if !self.ecn || !self.keeps {
            return Some("drops early".to_owned());
        }
        // `beyond` is the number of packets of a burst above the lower threshold. `tc` chooses the shortest memory that
        // fits them (`tc_red_eval_ewma`); the shortest possible memory fits `shortest` packets.
        let beyond = (self.burst as f64) + 1.0 - (self.min as f64) / (self.packet as f64);
        let shortest = 2.0 * (1.0 - 0.5_f64.powf(self.burst as f64));
        if self.packet == 0 || beyond < 1.0 {
            return Some("has an average packet size and burst that `tc` rejects".to_owned());
        }
        // The rate determines how fast the average decreases while the queue is empty.
        let forgets_late = beyond > shortest || self.rate_mbps < RATE_MIN;
        forgets_late.then(|| "averages the queue length over too long a time".to_owned())
    }
}
