//! The course of a job on this machine: its clock, the state of its threads, and the steps of the scenario.
//!
//! In: a timeline, a lab. Out: the time at which each step was executed. Invariants: a step is never executed before
//! its time. If one thread fails, the others end.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::record::Mark;
use super::scenario::Action;
use super::timeline::Timeline;
use crate::progress::Watch;
use crate::{Lab, LabError};

/// Maximum sleep between checks for a stop request.
pub(super) const LOOK: Duration = Duration::from_millis(20);

/// Shared state of the threads of a job.
pub(super) struct Course {
    pub(super) start: Instant,
    /// Time for which new messages are sent.
    pub(super) duration: Duration,
    /// Time of the first step.
    pub(super) first_step: Duration,
    /// Whether all steps have been executed.
    pub(super) steps_done: AtomicBool,
    /// Whether all messages have arrived or been abandoned.
    pub(super) finished: AtomicBool,
    /// Whether a thread has failed, so that all must end.
    pub(super) failed: AtomicBool,
}

impl Course {
    /// Starts the course now.
    pub(super) fn begin(duration: Duration, timeline: &Timeline) -> Course {
        Course {
            start: Instant::now(),
            duration,
            first_step: timeline.steps.first().map_or(duration, |step| step.at),
            steps_done: AtomicBool::new(false),
            finished: AtomicBool::new(false),
            failed: AtomicBool::new(false),
        }
    }

    pub(super) fn now_ns(&self) -> u64 {
        self.start.elapsed().as_nanos() as u64
    }

    /// Returns whether senders send new messages. On a loaded machine steps are late, and traffic must continue until
    /// the last one.
    pub(super) fn lasts(&self) -> bool {
        self.start.elapsed() < self.duration || !self.steps_done.load(Ordering::SeqCst)
    }

    pub(super) fn is_over(&self) -> bool {
        self.finished.load(Ordering::SeqCst) || self.failed.load(Ordering::SeqCst)
    }

    /// Runs the work of a thread. If it fails, all others end.
    pub(super) fn part<R>(&self, work: impl FnOnce() -> Result<R, LabError>) -> Result<R, LabError> {
        let done = work();
        if done.is_err() {
            self.failed.store(true, Ordering::SeqCst);
        }
        done
    }

    /// Runs the steps of the timeline at their times, until the job ends.
    pub(super) fn follow(
        &self,
        lab: &mut Lab,
        timeline: &Timeline,
        watch: &Watch<'_>,
    ) -> Result<Vec<Mark>, LabError> {
        let mut marks = Vec::with_capacity(timeline.steps.len());
        let total = self.duration.as_millis() as u64;
        let wait = |until: Option<Duration>| -> Result<bool, LabError> {
            loop {
                watch.check()?;
                let passed = self.start.elapsed();
                watch.step("run the job", (passed.as_millis() as u64).min(total), total + 1);
                if self.is_over() {
                    return Ok(false);
                }
                match until {
                    Some(until) if passed >= until => return Ok(true),
                    Some(until) => thread::sleep(LOOK.min(until.saturating_sub(passed))),
                    None => thread::sleep(LOOK),
                }
            }
        };
        for step in &timeline.steps {
            if !wait(Some(step.at))? {
                break;
            }
            let began_ns = self.now_ns();
            let done = match &step.action {
                Action::Break(fault) => lab.inject(fault, watch),
                Action::Restore(name) => lab.repair(name.as_deref(), watch).map(drop),
            };
            let failed = match done {
                Ok(()) => None,
                // The machine does not support the step, or the fault conflicts with an active one. The job continues,
                // and the verdict reports the step.
                Err(error @ (LabError::NoLoss { .. } | LabError::Overlap { .. })) => Some(error.to_string()),
                Err(error) => return Err(error),
            };
            marks.push(Mark { span_ns: (began_ns, self.now_ns()), failed });
        }
        self.steps_done.store(true, Ordering::SeqCst);
        wait(None)?;
        watch.step("run the job", 1, 1);
        Ok(marks)
    }
}

/// Joins a thread.
pub(super) fn join<R>(handle: thread::ScopedJoinHandle<'_, R>) -> R {
    handle.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}
