//! Requests to agents over their sockets, one line after the other, with limits of time and bytes.

use std::net::Ipv6Addr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use closc_nic::agent::Ban;
use closc_nic::api::Request;
use closc_runtime::client::{Backoff, Jitter};
use serde::Deserialize;
use tokio::io::{AsyncWriteExt as _, BufReader};
use tokio::net::UnixStream;
use tokio::time::timeout;

use super::reading::Reading;
use crate::report::{ANSWER_MAX, answer};
use crate::{Order, Report};

/// Time limit for the report or the denials of an agent, and for the answer to each order.
const PATIENCE: Duration = Duration::from_secs(5);
/// Maximum length of the answer to an order.
const SHORT_MAX: usize = 4096;
/// Maximum number of sockets that one pattern matches.
const SOCKETS_MAX: usize = 1 << 17;

/// The NIC of an agent, and its denials.
#[derive(Deserialize)]
pub(super) struct AgentDenials {
    pub(super) nic: Ipv6Addr,
    pub(super) denials: Vec<Ban>,
}

/// A connection to an agent.
pub(super) struct Line {
    stream: BufReader<UnixStream>,
    reading: Reading,
}

impl Line {
    async fn open(path: &Path, reading: &Reading) -> Result<Line, String> {
        let stream = UnixStream::connect(path).await;
        let stream = BufReader::new(stream.map_err(|error| format!("it does not answer: {error}"))?);
        Ok(Line { stream, reading: reading.clone() })
    }

    /// Requests the NIC and denials of an agent.
    pub(super) async fn denials(path: &Path, reading: &Reading) -> Result<(Line, AgentDenials), String> {
        let asked = async {
            let mut line = Line::open(path, reading).await?;
            let said = line.ask(&Request::Denials {}, ANSWER_MAX).await?;
            let denied = answer::<AgentDenials>("denials", &said).map_err(|fault| fault.to_string())?;
            Ok((line, denied))
        };
        timeout(PATIENCE, asked).await.unwrap_or_else(|_| Err(late()))
    }

    /// Requests a report.
    pub(super) async fn report(path: &Path, reading: &Reading) -> Result<(Line, Report), String> {
        let asked = async {
            let mut line = Line::open(path, reading).await?;
            let status = line.ask(&Request::Status {}, ANSWER_MAX).await?;
            let _kept = reading.keep(status.len())?;
            let metrics = line.ask(&Request::Metrics {}, ANSWER_MAX).await?;
            let report = Report::read(&status, &metrics).map_err(|fault| fault.to_string())?;
            Ok((line, report))
        };
        timeout(PATIENCE, asked).await.unwrap_or_else(|_| Err(late()))
    }

    /// Sends an order, and returns the agent's number of the denial, or why the agent rejects the order.
    pub(super) async fn order(&mut self, order: &Order) -> Result<u64, String> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum OrderReply {
            Denied { id: u64 },
            Allowed { ended: u64 },
        }
        let request = match order {
            Order::Deny(_, ban) => Request::Deny { ban: ban.clone() },
            Order::Allow(_, own) => Request::Allow { id: *own },
        };
        let line = timeout(PATIENCE, self.ask(&request, SHORT_MAX)).await.unwrap_or_else(|_| Err(late()))?;
        match answer::<OrderReply>("answer", &line).map_err(|fault| fault.to_string())? {
            OrderReply::Denied { id } | OrderReply::Allowed { ended: id } => Ok(id),
        }
    }

    async fn ask(&mut self, request: &Request, most: usize) -> Result<Vec<u8>, String> {
        let said = |error: std::io::Error| format!("it does not answer: {error}");
        let mut line = serde_json::to_vec(request).map_err(|error| error.to_string())?;
        line.push(b'\n');
        self.stream.get_mut().write_all(&line).await.map_err(said)?;
        self.reading.line(&mut self.stream, most).await
    }
}

fn late() -> String {
    format!("it does not answer within {} s", PATIENCE.as_secs())
}

/// Maximum interval between retries of a source that does not answer.
const WAIT_MAX: Duration = Duration::from_secs(30);

/// Returns the intervals between retries of a source that does not answer. They grow. They differ between sources, so
/// that thousands that failed together are not retried together.
pub(super) fn backoff(poll: Duration, place: u64) -> Backoff {
    Backoff { initial: poll, max: WAIT_MAX.max(poll), jitter: Jitter::Seeded(place) }
}

/// Returns the sockets that match patterns, and those given by path, in order. A path without wildcards is returned
/// even if it does not exist, so that its absence is reported.
pub(super) fn sockets(patterns: &[String], single: impl IntoIterator<Item = PathBuf>) -> Vec<PathBuf> {
    let mut out: Vec<PathBuf> = single.into_iter().collect();
    for pattern in patterns {
        if !pattern.contains(['*', '?', '[']) {
            out.push(PathBuf::from(pattern));
            continue;
        }
        let found = glob::glob(pattern).into_iter().flatten().flatten().take(SOCKETS_MAX);
        out.extend(found);
    }
    out.sort();
    out.dedup();
    out.truncate(SOCKETS_MAX);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_does_not_answer_is_asked_later_each_time() {
        let poll = Duration::from_secs(2);
        let waits = |place| -> Vec<Duration> { (0..8).map(|n| backoff(poll, place).wait(n)).collect() };
        assert_eq!(waits(7), waits(7));
        assert_ne!(waits(7), waits(8));
        assert!(waits(7).iter().zip([2, 4, 8, 16, 30, 30]).all(|(wait, most)| {
            (Duration::from_secs(most) / 2..=Duration::from_secs(most)).contains(wait)
        }));
    }
}
