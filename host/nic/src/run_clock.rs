//! A clock that stops while the process has no processor time. Timeouts of the process are measured with it.
//!
//! In: the time at each turn of the event loop, the planned sleep of the loop. Out: the time during which the process
//! could run. Invariants: the clock never runs faster than real time. A turn advances it by at most the planned sleep
//! plus the normal duration of a turn. Frames that arrive in the meantime wait in the socket, so time in which the
//! process could not read them is not evidence of loss.

/// Maximum duration of a normal turn. In a longer one, the process had no processor time.
const TURN_NS: u64 = 250_000;

/// The clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunClock {
    /// Real time of the last turn, in nanoseconds.
    last_advance_ns: u64,
    /// Time of this clock at that turn.
    ran: u64,
    /// Planned sleep of the loop.
    wait: u64,
}

impl RunClock {
    /// Starts the clock at a real time.
    pub fn new(now_ns: u64) -> RunClock {
        RunClock { last_advance_ns: now_ns, ran: now_ns, wait: 0 }
    }

    /// Records that the loop will sleep for at most `wait_ns`. The time until the next turn counts up to this limit,
    /// plus the duration of a normal turn.
    pub fn wait(&mut self, wait_ns: u64) {
        self.wait = wait_ns;
    }

    /// Advances the clock at the start of a turn. Calls with the same time are one turn.
    pub fn advance(&mut self, now_ns: u64) {
        let passed = now_ns.saturating_sub(self.last_advance_ns);
        if passed > 0 {
            self.ran += passed.min(self.wait.saturating_add(TURN_NS));
            (self.last_advance_ns, self.wait) = (now_ns, 0);
        }
    }

    /// Returns the time during which the process could run.
    pub fn ran_ns(&self) -> u64 {
        self.ran
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_that_was_asked_for_counts_and_a_freeze_does_not() {
        let mut clock = RunClock::new(1_000);
        clock.advance(101_000);
        assert_eq!(clock.ran_ns(), 101_000, "a turn of work");
        clock.wait(5_000_000);
        clock.advance(5_100_000);
        assert_eq!(clock.ran_ns(), 5_100_000, "a wait");
        clock.advance(5_100_000);
        clock.advance(905_100_000);
        assert_eq!(clock.ran_ns(), 5_100_000 + TURN_NS, "a freeze");
        clock.wait(1_000_000);
        clock.advance(906_000_000);
        assert_eq!(clock.ran_ns(), 5_100_000 + TURN_NS + 900_000, "it goes on as before");
    }
}
