//! State shared by the demo thread and its page.
//!
//! In: frames and requests. Out: frames as JSON for the page, requests for the demo. Invariants: all lists are
//! bounded.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, MutexGuard};

use closc_lab::job::Action;
use serde::Serialize;

use super::fabric::View;

/// Maximum number of frames: two minutes.
const FRAMES_MAX: usize = 1200;
/// Maximum number of pending requests.
const WISHES_MAX: usize = 64;
/// Maximum number of lines of narration.
const STORY_MAX: usize = 200;

/// A request of the tour or the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Wish {
    /// Break or repair an element.
    Act(Action),
    /// Drain an element.
    Drain(String),
    /// End all drains that the user started.
    LiftAll,
    /// End the demo.
    End,
}

/// Traffic of a tenth of a second.
#[derive(Debug, Clone, Default, Serialize)]
pub(super) struct Frame {
    /// End of the interval, in fabric time.
    pub(super) at_ms: u64,
    /// The job that sprays packets, then the job with one path per flow.
    pub(super) lanes: Vec<Lane>,
}

/// Traffic of one job.
#[derive(Debug, Clone, Default, Serialize)]
pub(super) struct Lane {
    /// Rate of delivered messages, in Mb/s.
    pub(super) mbps: f64,
    /// Rate sent over each plane, in Mb/s.
    pub(super) planes: Vec<f64>,
    /// Packets lost.
    pub(super) lost: u64,
}

/// A fault that the tour or the user injected.
#[derive(Debug, Clone, Serialize)]
pub(super) struct FaultView {
    /// Name for restoring the element.
    pub(super) name: String,
    /// Description of the fault.
    pub(super) text: String,
    /// Start of the fault, in fabric time.
    pub(super) at_ms: u64,
    /// Time at which the collector located it.
    pub(super) named_ms: Option<u64>,
}

/// A path of the pair in focus.
#[derive(Debug, Clone, Serialize)]
pub(super) struct PathCell {
    pub(super) plane: u8,
    pub(super) uplink: u16,
    pub(super) state: &'static str,
    pub(super) in_use: bool,
    pub(super) rtt_us: Option<f64>,
}

/// State at one moment.
#[derive(Debug, Clone, Default, Serialize)]
pub(super) struct Snapshot {
    pub(super) at_ms: u64,
    /// Ratio of fabric time to real time.
    pub(super) speed: f64,
    pub(super) faults: Vec<FaultView>,
    /// Current verdicts of the collector, one line each.
    pub(super) verdicts: Vec<String>,
    pub(super) denied: Vec<String>,
    /// Paths in use over each cable.
    pub(super) cables: BTreeMap<String, u32>,
    pub(super) focus: Vec<String>,
    pub(super) paths: Vec<PathCell>,
    /// Round trips of probes over all paths.
    pub(super) rtts_us: Vec<f64>,
    /// Reordering per path: the maximum number of packets that overtook a packet.
    pub(super) behind: Vec<u32>,
}

/// A line of narration.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Line {
    pub(super) at_ms: u64,
    /// `tour`, `fault`, `named`, `wrong` or `order`.
    pub(super) kind: &'static str,
    pub(super) text: String,
}

#[derive(Default)]
struct StageState {
    view: View,
    frames: VecDeque<Frame>,
    now: Snapshot,
    story: Vec<Line>,
    wishes: VecDeque<Wish>,
    by_hand: bool,
    end_message: Option<String>,
}

#[derive(Default)]
pub(super) struct Stage(Mutex<StageState>);

/// Answer to the page.
#[derive(Serialize)]
struct State<'a> {
    view: Option<&'a View>,
    frames: Vec<&'a Frame>,
    now: &'a Snapshot,
    story: &'a [Line],
    ended: Option<&'a str>,
}

impl Stage {
    fn inner(&self) -> MutexGuard<'_, StageState> {
        self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Sets the fabric.
    pub(super) fn open(&self, view: View) {
        self.inner().view = view;
    }

    /// Adds a frame, and replaces the state.
    pub(super) fn show(&self, frame: Frame, now: Snapshot) {
        let mut inner = self.inner();
        if inner.frames.len() == FRAMES_MAX {
            inner.frames.pop_front();
        }
        inner.frames.push_back(frame);
        inner.now = now;
    }

    /// Adds a line of narration.
    pub(super) fn tell(&self, line: Line) {
        let mut inner = self.inner();
        if inner.story.len() < STORY_MAX {
            inner.story.push(line);
        }
    }

    /// Queues a request of the user. Returns false if the queue is full.
    pub(super) fn wish(&self, wish: Wish) -> bool {
        let mut inner = self.inner();
        let has_room = inner.wishes.len() < WISHES_MAX;
        if has_room {
            inner.by_hand = true;
            inner.wishes.push_back(wish);
        }
        has_room
    }

    /// Returns the pending requests of the user, and whether there has ever been one.
    pub(super) fn wishes(&self) -> (Vec<Wish>, bool) {
        let mut inner = self.inner();
        (inner.wishes.drain(..).collect(), inner.by_hand)
    }

    /// Marks the demo as over, and stores its verdict.
    pub(super) fn end(&self, verdict: String) {
        self.inner().end_message = Some(verdict);
    }

    /// Returns the state with the frames after `after_ms`; without `after_ms`, all frames and the fabric.
    pub(super) fn json(&self, after_ms: Option<u64>) -> String {
        let inner = self.inner();
        let is_new = |frame: &&Frame| after_ms.is_none_or(|after_ms| frame.at_ms > after_ms);
        let state = State {
            view: after_ms.is_none().then_some(&inner.view),
            frames: inner.frames.iter().filter(is_new).collect(),
            now: &inner.now,
            story: &inner.story,
            ended: inner.end_message.as_deref(),
        };
        serde_json::to_string(&state).unwrap_or_else(|_| "{}".to_owned())
    }
}
