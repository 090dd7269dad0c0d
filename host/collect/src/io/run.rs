//! The loop: asks agents, judges, writes down what is denied, and goes on.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use camino::Utf8PathBuf;
use closc_plan::Plan;
use thiserror::Error;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::MissedTickBehavior;

use super::agents::sockets;
use super::disk::{Disk, StateFault};
use super::serve::{self, Page};
use super::shared::{Event, Observer, Shared, now_ms};
use crate::{Collector, Options};

/// Agents that are asked at a time: their answers are in memory.
const ASKED_MAX: usize = 16;

/// How a collector runs.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Sockets of agents: paths, or patterns with `*` and `?`.
    pub nics: Vec<String>,
    /// How often each agent is asked.
    pub poll: Duration,
    /// Where denials are kept; nowhere means that they are forgotten with the process.
    pub state: Option<Utf8PathBuf>,
    /// Where it is served.
    pub listen: Option<SocketAddr>,
    /// Whether a page is served for people.
    pub web: bool,
    /// How it judges and denies.
    pub options: Options,
}

/// Why it does not run.
#[derive(Debug, Error)]
pub enum RunFault {
    /// The state cannot be used.
    #[error(transparent)]
    State(#[from] StateFault),
    /// The address cannot be used.
    #[error("cannot listen on {0}: {1}")]
    Listen(SocketAddr, std::io::Error),
}

/// Collects until a future is ready. Returns what was broken then.
pub async fn run(
    plan: Arc<Plan>,
    settings: Settings,
    observer: Observer,
    until: impl Future<Output = ()>,
) -> Result<crate::Summary, RunFault> {
    let (disk, denials) = match &settings.state {
        Some(path) => {
            let (disk, denials) = Disk::open(path, &plan.topology().name)?;
            (Some(disk), denials)
        }
        None => (None, crate::Denials::default()),
    };
    let (collector, gone) = Collector::new(plan, settings.options, denials, now_ms());
    let shared = Arc::new(Shared::new(collector, disk, observer));
    for denial in gone {
        shared.say(Event::Gone(denial));
    }
    let mut server = JoinSet::new();
    if let Some(address) = settings.listen {
        let listener = TcpListener::bind(address).await.map_err(|error| RunFault::Listen(address, error))?;
        let bound = listener.local_addr().map_err(|error| RunFault::Listen(address, error))?;
        shared.say(Event::Listening(bound));
        let page = Page::new(settings.web, bound, shared.clone());
        let page = Arc::new(page.map_err(|error| RunFault::Listen(address, error))?);
        server.spawn(closc_http::serve(listener, move |request| serve::answer(&page, request)));
    }
    poll(&shared, &settings, until).await;
    drop(server);
    let summary = shared.collector().summary(now_ms());
    Ok(summary)
}

async fn poll(shared: &Arc<Shared>, settings: &Settings, until: impl Future<Output = ()>) {
    let places = Arc::new(Semaphore::new(ASKED_MAX));
    let mut tick = tokio::time::interval(settings.poll);
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut asked: JoinSet<u32> = JoinSet::new();
    let mut under_way: BTreeSet<u32> = BTreeSet::new();
    tokio::pin!(until);
    loop {
        tokio::select! {
            () = &mut until => break,
            Some(done) = asked.join_next(), if !asked.is_empty() => {
                if let Ok(id) = done {
                    under_way.remove(&id);
                }
            }
            _ = tick.tick() => {
                shared.judge();
                for path in sockets(&settings.nics) {
                    let id = shared.collector().source(&path.display().to_string());
                    if !under_way.insert(id) {
                        continue;
                    }
                    let (shared, places) = (shared.clone(), places.clone());
                    asked.spawn(async move {
                        let place = places.acquire_owned().await;
                        shared.ask(id, path).await;
                        drop(place);
                        id
                    });
                }
            }
        }
    }
    // Orders that are under way are not cut off in the middle of a line.
    let ends = async { while asked.join_next().await.is_some() {} };
    let _ = tokio::time::timeout(Duration::from_secs(6), ends).await;
}
