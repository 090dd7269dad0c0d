//! Measures the processor time of each poll of a future.
//!
//! In: a future. Out: its output, and the longest processor time of one poll. Invariants: the time for which the thread
//! waits is not counted, so a busy machine does not affect the result.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use nix::time::{ClockId, clock_gettime};

/// A future whose polls are measured.
pub(crate) struct MeteredFuture<F> {
    inner: Pin<Box<F>>,
    longest: Duration,
}

impl<F: Future> MeteredFuture<F> {
    pub(crate) fn new(inner: F) -> Self {
        MeteredFuture { inner: Box::pin(inner), longest: Duration::ZERO }
    }
}

impl<F: Future> Future for MeteredFuture<F> {
    type Output = (F::Output, Duration);

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let before = processor_time();
        let polled = self.inner.as_mut().poll(context);
        self.longest = self.longest.max(processor_time().saturating_sub(before));
        polled.map(|output| (output, self.longest))
    }
}

/// Processor time of this thread.
fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).expect("every system counts it");
    Duration::from(time)
}
