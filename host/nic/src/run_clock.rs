//! Time as far as the process ran: what its patience is measured in.
//!
//! In: the time at each turn of the loop, how long the loop was going to wait. Out: a clock that stands still while the
//! process got no processor. Invariants: it never runs faster than the real one; a turn moves it by no more than the
//! wait that was asked for and what a turn of work takes. Frames that came meanwhile wait in the socket, so time that
//! passed without a look at them says nothing about what was lost.

/// Time limit of a turn of work: a longer one means that something else had the processor.
const TURN_NS: u64 = 250_000;

/// The clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunClock {
    /// The last turn, by the real clock, in nanoseconds.
    turn: u64,
    /// The same, by this one.
    ran: u64,
    /// Time that the loop was going to wait.
    wait: u64,
}

impl RunClock {
    /// Begins at a time of the real clock.
    pub fn new(now_ns: u64) -> RunClock {
        RunClock { turn: now_ns, ran: now_ns, wait: 0 }
    }

    /// Notes that the loop is about to wait, for so long at most: this much of what passes until the next turn is time
    /// in which the process could have run.
    pub fn wait(&mut self, wait_ns: u64) {
        self.wait = wait_ns;
    }

    /// Takes the time of a turn. Calls with the same time are one turn.
    pub fn turn(&mut self, now_ns: u64) {
        let passed = now_ns.saturating_sub(self.turn);
        if passed > 0 {
            self.ran += passed.min(self.wait.saturating_add(TURN_NS));
            (self.turn, self.wait) = (now_ns, 0);
        }
    }

    /// Returns the time as far as the process ran.
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
        clock.turn(101_000);
        assert_eq!(clock.ran_ns(), 101_000, "a turn of work");
        clock.wait(5_000_000);
        clock.turn(5_100_000);
        assert_eq!(clock.ran_ns(), 5_100_000, "a wait");
        clock.turn(5_100_000);
        clock.turn(905_100_000);
        assert_eq!(clock.ran_ns(), 5_100_000 + TURN_NS, "a freeze");
        clock.wait(1_000_000);
        clock.turn(906_000_000);
        assert_eq!(clock.ran_ns(), 5_100_000 + TURN_NS + 900_000, "it goes on as before");
    }
}
