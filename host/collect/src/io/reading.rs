//! Memory for answers: all agents are contacted at the same time, but only a few answers are read at a time.
//!
//! In: lines from agents. Out: permission to read. Invariants: a place is released while no bytes arrive, so an agent
//! that does not answer, or stops in the middle, delays no other. The total size of incomplete answers is limited.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::io::{AsyncBufRead, AsyncBufReadExt as _};
use tokio::sync::Semaphore;
use tokio::time::timeout;

/// Maximum number of answers that are read at a time.
const PLACES: usize = 16;
/// If no bytes arrive for this long, an answer releases its place.
const STALL: Duration = Duration::from_millis(20);
/// Maximum total size of incomplete answers.
const KEPT_MAX: usize = 64 << 20;

/// Limits of memory for answers.
#[derive(Debug, Clone)]
pub(super) struct Reading {
    places: Arc<Semaphore>,
    reserved_bytes: Arc<AtomicUsize>,
    max_reserved_bytes: usize,
}

impl Default for Reading {
    fn default() -> Self {
        Reading {
            places: Arc::new(Semaphore::new(PLACES)),
            reserved_bytes: Arc::default(),
            max_reserved_bytes: KEPT_MAX,
        }
    }
}

/// The size of an incomplete answer, which counts against the limit until this is dropped.
#[derive(Debug)]
pub(super) struct AnswerReservation {
    of: Arc<AtomicUsize>,
    bytes: usize,
}

impl Drop for AnswerReservation {
    fn drop(&mut self) {
        self.of.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

impl Reading {
    /// Reserves memory for the bytes of an incomplete answer.
    pub(super) fn keep(&self, bytes: usize) -> Result<AnswerReservation, String> {
        let kept = AnswerReservation { of: self.reserved_bytes.clone(), bytes };
        if self.reserved_bytes.fetch_add(bytes, Ordering::Relaxed) + bytes > self.max_reserved_bytes {
            return Err("too many agents stopped in the middle of an answer".to_owned());
        }
        Ok(kept)
    }

    /// Reads a line of at most `most` bytes.
    pub(super) async fn line(
        &self,
        from: &mut (impl AsyncBufRead + Unpin),
        most: usize,
    ) -> Result<Vec<u8>, String> {
        let said = |error: std::io::Error| format!("it does not answer: {error}");
        let mut answer = Vec::new();
        loop {
            let kept = self.keep(answer.len())?;
            from.fill_buf().await.map_err(said)?;
            let place = self.places.acquire().await;
            while let Ok(bytes) = timeout(STALL, from.fill_buf()).await {
                let bytes = bytes.map_err(said)?;
                if bytes.is_empty() {
                    return Err("it closed the connection before it answered".to_owned());
                }
                let end = bytes.iter().position(|byte| *byte == b'\n').map(|at| at + 1);
                let taken = end.unwrap_or(bytes.len());
                if answer.len() + taken > most {
                    return Err(format!("its answer has more than {most} bytes"));
                }
                answer.extend_from_slice(&bytes[..taken]);
                from.consume(taken);
                if end.is_some() {
                    return Ok(answer);
                }
            }
            drop((place, kept));
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncWriteExt as _, BufReader, DuplexStream, duplex};
    use tokio::task::JoinSet;

    use super::*;

    fn wait<T>(future: impl Future<Output = T>) -> T {
        tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .expect("it starts")
            .block_on(future)
    }

    /// More agents than there are places stop in the middle of a line. An agent that answers is still read.
    #[test]
    fn who_stops_in_the_middle_delays_nobody() {
        wait(async {
            let reading = Reading::default();
            let (mut hung, mut ends): (JoinSet<_>, Vec<DuplexStream>) = (JoinSet::new(), Vec::new());
            for _ in 0..5 * PLACES {
                let (mut near, far) = duplex(64);
                near.write_all(b"{\"half\":").await.expect("there is room");
                ends.push(near);
                let reading = reading.clone();
                hung.spawn(async move { reading.line(&mut BufReader::new(far), 100).await });
            }
            let (mut near, far) = duplex(64);
            near.write_all(b"{}\n").await.expect("there is room");
            let line = reading.line(&mut BufReader::new(far), 100).await;
            assert_eq!(line, Ok(b"{}\n".to_vec()));
            assert_eq!(hung.try_join_next().map(|_| ()), None, "they wait, and none was given up");
            ends.clear();
            assert!(hung.join_all().await.iter().all(Result::is_err));
            assert_eq!(reading.reserved_bytes.load(Ordering::Relaxed), 0);
        });
    }

    #[test]
    fn lines_and_what_is_kept_of_them_have_limits() {
        wait(async {
            let reading = Reading { max_reserved_bytes: 3, ..Reading::default() };
            let read = async |bytes: &[u8]| {
                let (mut near, far) = duplex(64);
                near.write_all(bytes).await.expect("there is room");
                drop(near);
                reading.line(&mut BufReader::new(far), 8).await
            };
            assert_eq!(read(b"1234567\n").await, Ok(b"1234567\n".to_vec()));
            assert!(read(b"12345678\n").await.unwrap_err().contains("more than 8 bytes"));
            assert!(read(b"123").await.unwrap_err().contains("closed the connection"));
            let (mut near, far) = duplex(64);
            near.write_all(b"1234").await.expect("there is room");
            let stopped = reading.line(&mut BufReader::new(far), 8).await;
            assert!(stopped.unwrap_err().contains("stopped in the middle"));
            drop(near);
        });
    }
}
