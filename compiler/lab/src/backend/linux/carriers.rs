//! Detects whether packets are still being processed.
//!
//! In: `/proc`. Out: a return when no packets are in flight. Invariants: waiting has a timeout, because some machines
//! are never idle.
//!
//! A veth pair passes packets through the queue of a CPU. A switch process reads them from a socket. Both may be
//! delayed under load. While a packet is in such a queue, or a thread of a switch is runnable, silence proves nothing
//! and counters are too low.

use std::fs;
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::backend::embedded::process::find_processes;

/// The queues of the CPUs.
const QUEUES: &str = "/proc/net/softnet_stat";
/// Packets in a queue are in this column, in hexadecimal, since Linux 5.10.
const LENGTH: usize = 11;
const PAUSE: Duration = Duration::from_millis(1);
/// Maximum time to wait until no packets are in flight.
const PATIENCE: Duration = Duration::from_secs(20);
/// Number of consecutive idle checks. One is not enough, because a packet between two queues is in neither.
const IN_A_ROW: u32 = 2;

/// The kernel, and the processes of switches.
#[derive(Debug, Clone)]
pub(crate) struct Carriers {
    /// Arguments that identify those processes.
    pub(crate) process_args: Vec<String>,
    /// Waits between packets.
    pub(super) wait: fn(Duration),
}

impl Default for Carriers {
    fn default() -> Self {
        Carriers { process_args: Vec::new(), wait: sleep }
    }
}

/// Packets per second to switch processes. It is half of the 40,000 that BMv2 forwards without loss. At 53,000 BMv2
/// is saturated.
const PACE: u32 = 20_000;

/// Packets between two checks of the clock.
pub(super) const PACED: usize = 16;

impl Carriers {
    /// Returns whether the kernel forwards all packets.
    pub(super) fn is_kernel(&self) -> bool {
        self.process_args.is_empty()
    }

    /// Waits until `packets` are due since `started`. Returns immediately if the kernel forwards them.
    pub(super) fn pace(&self, started: Instant, packets: usize) {
        if !self.is_kernel() {
            (self.wait)(send_duration(packets).saturating_sub(started.elapsed()));
        }
    }

    /// Waits until no packets are being processed.
    pub(super) fn rest(&self) {
        let started = Instant::now();
        let threads = self.threads();
        let mut resting = 0;
        while started.elapsed() < PATIENCE {
            let rests = queues_are_empty() && !threads.iter().any(|stat| is_runnable(stat));
            resting = if rests { resting + 1 } else { 0 };
            if resting == IN_A_ROW {
                return;
            }
            sleep(PAUSE);
        }
        tracing::warn!("this machine is overloaded: late packets may count as lost");
    }

    /// The files with the states of all threads of the processes.
    fn threads(&self) -> Vec<String> {
        if self.process_args.is_empty() {
            return Vec::new();
        }
        let of = |folder: String| {
            let entries = fs::read_dir(&folder).into_iter().flatten().flatten();
            entries.filter_map(move |entry| Some(format!("{folder}/{}/stat", entry.file_name().to_str()?)))
        };
        find_processes(&self.process_args)
            .into_iter()
            .flat_map(|pid| of(format!("/proc/{pid}/task")))
            .collect()
    }
}

/// Returns the time after which this many packets may have been sent.
fn send_duration(packets: usize) -> Duration {
    Duration::from_secs_f64(packets as f64 / f64::from(PACE))
}

/// Returns whether the packet queues of all CPUs are empty.
pub(super) fn queues_are_empty() -> bool {
    // Older kernels lack the file, so silence must be sufficient.
    fs::read_to_string(QUEUES).map_or(true, |text| queued_packets(&text) == 0)
}

/// Sums the packets of all queues, one per line.
fn queued_packets(text: &str) -> u64 {
    let of = |line: &str| u64::from_str_radix(line.split_whitespace().nth(LENGTH)?, 16).ok();
    text.lines().filter_map(of).sum()
}

/// Returns whether a thread is running, runnable, or in uninterruptible sleep.
fn is_runnable(stat: &str) -> bool {
    fs::read_to_string(stat).is_ok_and(|text| matches!(state(&text), Some('R' | 'D')))
}

/// Reads the state of a thread, which follows its name; the name may contain anything.
fn state(stat: &str) -> Option<char> {
    stat.rsplit_once(") ")?.1.chars().next()
}

#[cfg(test)]
pub(super) mod tests {
    use std::cell::RefCell;

    use super::*;

    thread_local! {
        /// Recorded waits of this thread.
        static WAITS: RefCell<Vec<Duration>> = const { RefCell::new(Vec::new()) };
    }

    /// Returns carriers that record waits instead of waiting. They are switch processes, or the kernel if `words` is
    /// empty.
    pub(crate) fn recorder(words: &[&str]) -> Carriers {
        let wait = |time| WAITS.with_borrow_mut(|waits| waits.push(time));
        Carriers { process_args: words.iter().map(|word| (*word).to_owned()).collect(), wait }
    }

    /// Returns the recorded waits, and forgets them.
    pub(crate) fn waits() -> Vec<Duration> {
        WAITS.take()
    }

    #[test]
    fn packets_are_due_at_half_of_what_bmv2_carries() {
        assert_eq!(send_duration(20_000), Duration::from_secs(1));
        assert_eq!(send_duration(PACED), Duration::from_micros(800));
    }

    #[test]
    fn packets_of_all_queues_are_added_up() {
        let line = |length: &str| format!("0001d82f {}{length} 00000001 {length}\n", "00000000 ".repeat(10));
        assert_eq!(queued_packets(&(line("00000010") + &line("00000003"))), 19);
        assert_eq!(queued_packets(&line("00000000")), 0);
        // Older kernels have no such column.
        assert_eq!(queued_packets("0001d82f 00000000 00000003\n"), 0);
    }

    #[test]
    fn a_thread_that_runs_is_distinguished_from_one_that_waits() {
        assert_eq!(state("17 (a ) b) S 1 17 17 0 -1"), Some('S'));
        assert_eq!(state("nothing"), None);
        let own = std::process::id().to_string();
        // This thread reads its own state, so it is running.
        assert!(is_runnable("/proc/thread-self/stat"));
        let carriers = Carriers { process_args: vec![own], ..Carriers::default() };
        assert!(carriers.threads().is_empty(), "no command line has the number of this process");
    }
}
