//! State of one path.
//!
//! Invariants: a denial and the evidence for or against a path are kept apart, so that a denial that ends leaves
//! the path as the evidence has it.

use closc_paths::Choice;

use crate::lately::Lately;

/// The state of an entropy value, as the MRC documents name them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum State {
    /// Packets arrive.
    Good = 1,
    /// Lost a packet, or probes: out until enough probes came back.
    AssumedBad = 2,
    /// Denied by the path table or by a denial; never comes back by itself.
    Denied = 4,
    /// Met congestion: sits out one turn.
    Skip = 8,
    /// Nothing was sent over it yet. It is used like a good one.
    Unknown = 128,
}

impl State {
    /// Returns the name that the documents use.
    pub fn name(self) -> &'static str {
        match self {
            State::Good => "GOOD",
            State::AssumedBad => "ASSUMED_BAD",
            State::Denied => "DENIED",
            State::Skip => "SKIP",
            State::Unknown => "UNKNOWN",
        }
    }
}

/// The evidence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Health {
    Unknown,
    Good,
    AssumedBad,
}

/// Denied by the path table.
pub(crate) const BY_TABLE: u8 = 1;
/// Denied by a denial of the engine.
pub(crate) const BY_LIST: u8 = 2;

/// Times that the answers wanted of a path double, if it fails again soon after it came back.
const RELAPSES_MAX: u8 = 5;
/// The same of a path that short probes pass and a long one did not: longer than after one loss, and not so long that it is
/// missed after a repair.
const LONG_RELAPSES: u8 = 2;

/// One entropy value of one destination.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Value {
    pub(crate) entropy: u32,
    pub(crate) choice: Choice,
    pub(crate) health: Health,
    pub(crate) denied: u8,
    pub(crate) relapses: u8,
    /// Good answers in a row of a bad path, missed probes in a row of another.
    pub(crate) streak: u16,
    /// Probes missed since the last answer.
    pub(crate) silent: u8,
    /// Whether a switch on its way is known to answer nothing.
    pub(crate) cut_off: bool,
    /// Packets lost.
    pub(crate) lost: u32,
    /// Packets since it last failed or recovered.
    pub(crate) lately: Lately,
    /// Smoothed round trip of probes; 0 before the first.
    pub(crate) rtt_ns: u32,
    /// When its health changed, or when it last failed if it is bad.
    pub(crate) changed_ns: u64,
}

impl Value {
    pub(crate) fn new(entropy: u32, choice: Choice, now_ns: u64) -> Self {
        Value {
            entropy,
            choice,
            health: Health::Unknown,
            denied: 0,
            relapses: 0,
            streak: 0,
            silent: 0,
            cut_off: false,
            lost: 0,
            lately: Lately::default(),
            rtt_ns: 0,
            changed_ns: now_ns,
        }
    }

    pub(crate) fn is_denied(&self) -> bool {
        self.denied != 0
    }

    pub(crate) fn is_bad(&self) -> bool {
        self.health == Health::AssumedBad
    }

    /// Takes the round trip of a probe.
    pub(crate) fn measured(&mut self, rtt_ns: u64) {
        let rtt_ns = u32::try_from(rtt_ns).unwrap_or(u32::MAX).max(1);
        let smooth = self.rtt_ns - self.rtt_ns / 8 + rtt_ns / 8;
        self.rtt_ns = if self.rtt_ns == 0 { rtt_ns } else { smooth.max(1) };
    }

    /// Tells whether it missed a probe and is not bad.
    pub(crate) fn is_suspect(&self) -> bool {
        !self.is_bad() && !self.is_denied() && self.streak > 0
    }

    pub(crate) fn condemn(&mut self, now_ns: u64, relapse_ns: u64) {
        if !self.is_bad() {
            let soon = self.health == Health::Good && now_ns.saturating_sub(self.changed_ns) < relapse_ns;
            self.relapses = if soon { (self.relapses + 1).min(RELAPSES_MAX) } else { 0 };
            self.health = Health::AssumedBad;
        }
        (self.streak, self.lately) = (0, Lately::default());
        self.changed_ns = now_ns;
    }

    /// Puts it out because a switch on its way answers nothing.
    pub(crate) fn cut_off(&mut self, now_ns: u64, relapse_ns: u64) {
        if !self.is_bad() {
            self.condemn(now_ns, relapse_ns);
        }
        self.cut_off = true;
    }

    /// Puts it out until it shows itself, for what is not a failure of its own.
    pub(crate) fn doubt(&mut self, now_ns: u64) {
        if !self.is_bad() {
            (self.health, self.relapses, self.silent) = (Health::AssumedBad, 0, 0);
            (self.streak, self.changed_ns) = (0, now_ns);
        }
    }

    /// Takes a packet or a probe that came back.
    pub(crate) fn answered(&mut self, good_answers: u16, now_ns: u64) {
        (self.silent, self.cut_off) = (0, false);
        self.lately.arrived();
        match self.health {
            Health::Good => self.streak = 0,
            Health::Unknown => self.become_good(now_ns),
            Health::AssumedBad => {
                self.streak = self.streak.saturating_add(1);
                if self.streak >= self.wanted(good_answers) {
                    self.become_good(now_ns);
                }
            }
        }
    }

    /// Takes a short probe that came back.
    pub(crate) fn answered_short(&mut self, good_answers: u16, now_ns: u64) {
        if self.is_bad() && self.streak.saturating_add(1) >= self.wanted(good_answers) {
            (self.silent, self.cut_off) = (0, false);
        } else {
            self.answered(good_answers, now_ns);
        }
    }

    /// Takes a probe as long as data that did not come back. A bad path that short probes pass is probed less often from then on.
    pub(crate) fn missed_long(&mut self, missed_answers: u16, now_ns: u64, relapse_ns: u64) {
        if self.is_bad() {
            self.relapses = self.relapses.max(LONG_RELAPSES);
        }
        self.missed(missed_answers, now_ns, relapse_ns);
    }

    /// Takes a probe that did not come back.
    pub(crate) fn missed(&mut self, missed_answers: u16, now_ns: u64, relapse_ns: u64) {
        self.silent = self.silent.saturating_add(1);
        if self.is_bad() {
            self.condemn(now_ns, relapse_ns);
            return;
        }
        self.streak = self.streak.saturating_add(1);
        if self.streak >= missed_answers {
            self.condemn(now_ns, relapse_ns);
        }
    }

    /// Answers in a row that bring it back: a path that keeps failing has to show more, so that one that loses a
    /// packet in a hundred is not back after every eighth probe.
    pub(crate) fn wanted(&self, good_answers: u16) -> u16 {
        good_answers.saturating_mul(1 << self.relapses)
    }

    fn become_good(&mut self, now_ns: u64) {
        self.health = Health::Good;
        (self.streak, self.lately) = (0, Lately::default());
        self.changed_ns = now_ns;
    }
}

/// One path as the engine sees it, for people and programs that watch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ValueView {
    /// The entropy value.
    pub entropy: u32,
    /// Its plane, which is the NIC port.
    pub plane: u8,
    /// Its state.
    pub state: State,
    /// Whether packets are sent over it. A bad one is in use only to keep the floor.
    pub in_use: bool,
    /// Packets lost.
    pub lost: u32,
    /// Smoothed round trip of probes over it, in nanoseconds; 0 before the first.
    pub rtt_ns: u32,
    /// Good answers in a row that a bad one still lacks.
    pub answers_wanted: u16,
    /// Probes missed since the last answer.
    pub silent: u8,
    /// Times that it failed soon after it came back, each of which doubled the answers that it has to show.
    pub relapses: u8,
    /// Whether the ports at both ends are up.
    pub ports_up: bool,
    /// When its evidence last changed.
    pub changed_ns: u64,
}
