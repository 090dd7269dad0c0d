//! State of one path.
//!
//! Invariants: denials of a path and the evidence about it are stored separately. When a denial ends, the evidence
//! determines the state.

use closc_paths::Choice;

use crate::recent_counters::RecentCounters;

/// The state of an entropy value, named as in the MRC documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum State {
    /// Packets arrive.
    Good = 1,
    /// A packet or several probes were lost. Used only to reach the minimum number of paths, until enough
    /// packets or probes are answered. Without an answer since its last failure, it is used only if all paths are bad.
    AssumedBad = 2,
    /// Denied by the path table or by a denial. Answers do not change this state.
    Denied = 4,
    /// A packet met congestion. The value is skipped once.
    Skip = 8,
    /// No packet or probe was answered or lost yet. It is used like a good one.
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

/// State of a path according to evidence only.
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

/// Maximum number of times that the required answers double. They double if a path fails again soon after a recovery.
const RELAPSES_MAX: u8 = 5;
/// Minimum number of doublings for a path on which short probes pass, but a long one does not. It is more than after
/// one loss, but low enough for an early use after a repair.
const LONG_RELAPSES: u8 = 2;

/// One entropy value of one destination.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Value {
    pub(crate) entropy: u32,
    pub(crate) choice: Choice,
    pub(crate) health: Health,
    pub(crate) denied: u8,
    pub(crate) relapses: u8,
    /// Number of consecutive answers if the path is bad, otherwise of consecutive missed probes.
    pub(crate) streak: u16,
    /// Number of probes missed since the last answer.
    pub(crate) silent: u8,
    /// Whether a switch on the path is known to be unreachable.
    pub(crate) cut_off: bool,
    /// Packets lost.
    pub(crate) lost: u32,
    /// Packets since the path last failed or recovered, to detect drops that the path itself causes.
    pub(crate) lately: RecentCounters,
    /// Smoothed round-trip time of probes; 0 before the first.
    pub(crate) rtt_ns: u32,
    /// When its health last changed. For a bad path, when it last failed.
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
            lately: RecentCounters::default(),
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

    /// Returns whether nothing is known to pass: the path is bad, and no probe was answered since its last failure.
    pub(crate) fn is_silent(&self) -> bool {
        self.is_bad() && (self.streak == 0 || self.cut_off)
    }

    /// Records the round-trip time of a probe.
    pub(crate) fn record_rtt(&mut self, rtt_ns: u64) {
        let rtt_ns = u32::try_from(rtt_ns).unwrap_or(u32::MAX).max(1);
        let smooth = self.rtt_ns - self.rtt_ns / 8 + rtt_ns / 8;
        self.rtt_ns = if self.rtt_ns == 0 { rtt_ns } else { smooth.max(1) };
    }

    /// Returns whether the path missed a probe but is not bad yet.
    pub(crate) fn is_suspect(&self) -> bool {
        !self.is_bad() && !self.is_denied() && self.streak > 0
    }

    pub(crate) fn condemn(&mut self, now_ns: u64, relapse_ns: u64) {
        if !self.is_bad() {
            let soon = self.health == Health::Good && now_ns.saturating_sub(self.changed_ns) < relapse_ns;
            self.relapses = if soon { (self.relapses + 1).min(RELAPSES_MAX) } else { 0 };
            self.health = Health::AssumedBad;
        }
        (self.streak, self.lately) = (0, RecentCounters::default());
        self.changed_ns = now_ns;
    }

    /// Marks the path bad because a switch on it is unreachable.
    pub(crate) fn cut_off(&mut self, now_ns: u64, relapse_ns: u64) {
        if !self.is_bad() {
            self.condemn(now_ns, relapse_ns);
        }
        self.cut_off = true;
    }

    /// Stops using the path until enough answers arrive, without counting a failure.
    pub(crate) fn doubt(&mut self, now_ns: u64) {
        if !self.is_bad() {
            (self.health, self.relapses, self.silent) = (Health::AssumedBad, 0, 0);
            (self.streak, self.changed_ns) = (0, now_ns);
        }
    }

    /// Records a packet or probe that was answered.
    pub(crate) fn record_answer(&mut self, good_answers: u16, now_ns: u64) {
        (self.silent, self.cut_off) = (0, false);
        self.lately.record_arrival();
        match self.health {
            Health::Good => self.streak = 0,
            Health::Unknown => self.become_good(now_ns),
            Health::AssumedBad => {
                self.streak = self.streak.saturating_add(1);
                if self.streak >= self.required_answers(good_answers) {
                    self.become_good(now_ns);
                }
            }
        }
    }

    /// Records a short probe that was answered.
    pub(crate) fn record_short_answer(&mut self, good_answers: u16, now_ns: u64) {
        if self.is_bad() && self.streak.saturating_add(1) >= self.required_answers(good_answers) {
            (self.silent, self.cut_off) = (0, false);
        } else {
            self.record_answer(good_answers, now_ns);
        }
    }

    /// Records a missed probe of the length of a data packet. A path that was already bad then needs more answers, and
    /// is probed less often.
    pub(crate) fn record_long_miss(&mut self, missed_answers: u16, now_ns: u64, relapse_ns: u64) {
        if self.is_bad() {
            self.relapses = self.relapses.max(LONG_RELAPSES);
        }
        self.record_miss(missed_answers, now_ns, relapse_ns);
    }

    /// Records a missed probe.
    pub(crate) fn record_miss(&mut self, missed_answers: u16, now_ns: u64, relapse_ns: u64) {
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

    /// Returns the number of consecutive answers that a bad path needs. A path that fails repeatedly needs more. So a
    /// path that loses 1 % of its packets is not used again after only a few probes.
    pub(crate) fn required_answers(&self, good_answers: u16) -> u16 {
        good_answers.saturating_mul(1 << self.relapses)
    }

    fn become_good(&mut self, now_ns: u64) {
        self.health = Health::Good;
        (self.streak, self.lately) = (0, RecentCounters::default());
        self.changed_ns = now_ns;
    }
}

/// State of one path, for monitoring.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ValueView {
    /// The entropy value.
    pub entropy: u32,
    /// Its plane, and so the NIC port.
    pub plane: u8,
    /// Its state.
    pub state: State,
    /// Whether packets are sent over it. A bad path is in use only to reach the minimum number of paths.
    pub in_use: bool,
    /// Packets lost.
    pub lost: u32,
    /// Smoothed round-trip time of its probes, in nanoseconds; 0 before the first.
    pub rtt_ns: u32,
    /// Number of consecutive answers that a bad path still needs.
    pub answers_wanted: u16,
    /// Number of probes missed since the last answer.
    pub silent: u8,
    /// Number of doublings of the answers that the path needs. They are due to failures soon after a recovery, or to a
    /// missed long probe.
    pub relapses: u8,
    /// Whether the ports at both ends are up.
    pub ports_up: bool,
    /// When its health last changed. For a bad path, when it last failed.
    pub changed_ns: u64,
}
