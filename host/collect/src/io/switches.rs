//! Reads the counters of switches in rounds, each switch twice per round.
//!
//! Invariants: in a round, all first reads precede all second reads. A switch that does not answer is retried at
//! growing intervals, and delays others at most by the time limit.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use closc_deploy::{CounterReader, Counters, Target};
use closc_runtime::client::Backoff;
use closc_topology::Switch;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::{Instant, MissedTickBehavior};

use super::agents::backoff;
use super::shared_state::{Event, SharedState, now_ms};

/// Maximum number of switches read at a time, because their answers are kept in memory.
const READ_MAX: usize = 32;

/// A switch, with the state of its retries.
struct Source {
    switch: Switch,
    reader: CounterReader,
    backoff: Backoff,
    consecutive_failures: u32,
    next: Instant,
}

/// Reads counters until the future is dropped.
pub(super) async fn follow(shared: Arc<SharedState>, targets: Vec<Target>, every: Duration) {
    let plan = shared.collector().plan().clone();
    let source = |(place, target): (usize, Target)| {
        let switch = plan.topology().naming.parse_switch(&target.name)?;
        let (backoff, next) = (backoff(every, place as u64), Instant::now());
        Some(Source { switch, reader: CounterReader::new(target), backoff, consecutive_failures: 0, next })
    };
    let mut sources: Vec<Source> = targets.into_iter().enumerate().filter_map(source).collect();
    let mut tick = tokio::time::interval(every);
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tick.tick().await;
        let now = Instant::now();
        let (due, mut later): (Vec<Source>, Vec<Source>) =
            sources.into_iter().partition(|source| source.next <= now);
        let (first, failed) = pass(&shared, due).await;
        later.extend(failed);
        let (first, again): (BTreeMap<Switch, Counters>, Vec<Source>) =
            first.into_iter().map(|(source, counters)| ((source.switch, counters), source)).unzip();
        let (second, failed) = pass(&shared, again).await;
        later.extend(failed);
        let mut round = BTreeMap::new();
        for (source, counters) in second {
            if let Some(before) = first.get(&source.switch) {
                round.insert(source.switch, [before.clone(), counters]);
            }
            later.push(source);
        }
        shared.collector().take_counters(round, now_ms());
        sources = later;
    }
}

/// Reads switches once. Returns those that answered, and those that did not.
async fn pass(shared: &Arc<SharedState>, sources: Vec<Source>) -> (Vec<(Source, Counters)>, Vec<Source>) {
    let places = Arc::new(Semaphore::new(READ_MAX));
    let mut work = JoinSet::new();
    for mut source in sources {
        let places = places.clone();
        work.spawn(async move {
            let _place = places.acquire_owned().await;
            let read = source.reader.read().await;
            (source, read)
        });
    }
    let (mut read, mut failed) = (Vec::new(), Vec::new());
    while let Some(done) = work.join_next().await {
        match done {
            Ok((mut source, Ok(counters))) => {
                source.consecutive_failures = 0;
                read.push((source, counters));
            }
            Ok((mut source, Err(error))) => {
                source.next = Instant::now() + source.backoff.wait(source.consecutive_failures);
                source.consecutive_failures = source.consecutive_failures.saturating_add(1);
                let fault = error.to_string();
                if shared.collector().switch_failed(source.switch, &fault) {
                    shared.say(Event::Failing(source.reader.name().to_owned(), fault));
                }
                failed.push(source);
            }
            Err(error) => tracing::error!("a switch is no longer read: {error}"),
        }
    }
    (read, failed)
}
