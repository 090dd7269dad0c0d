//! Work on many switches, with limited concurrency.

use std::future::Future;

use tokio::task::JoinSet;

/// Runs one future per item, at most `max` at a time, and returns the results in the order of the items. Dropping the
/// returned future aborts all of them.
pub(crate) async fn map_parallel<I, T, F>(items: Vec<I>, max: usize, work: impl Fn(I) -> F) -> Vec<T>
where
    I: Send + 'static,
    T: Send + 'static,
    F: Future<Output = T> + Send + 'static,
{
    let mut results: Vec<Option<T>> = items.iter().map(|_| None).collect();
    let mut left = items.into_iter().enumerate();
    let mut running: JoinSet<(usize, T)> = JoinSet::new();
    loop {
        while running.len() < max.max(1) {
            let Some((place, item)) = left.next() else { break };
            let result = work(item);
            running.spawn(async move { (place, result.await) });
        }
        match running.join_next().await {
            None => break,
            Some(Ok((place, result))) => results[place] = Some(result),
            // A panic in a task is a bug of closc: it is resumed here, as if there were no task.
            Some(Err(error)) => match error.try_into_panic() {
                Ok(panic) => std::panic::resume_unwind(panic),
                Err(_) => break,
            },
        }
    }
    results.into_iter().flatten().collect()
}
