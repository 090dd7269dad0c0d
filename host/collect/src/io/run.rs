//! The event loop: polls agents, computes verdicts, saves denials.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use camino::Utf8PathBuf;
use closc_deploy::Target;
use closc_http::{Certificates, LogState};
use closc_plan::Plan;
use closc_topology::Nic;
use thiserror::Error;
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use tokio::time::{Instant, MissedTickBehavior};

use super::agents::{backoff, sockets};
use super::disk::{Disk, StateFault};
use super::orders::{Authority, Operators};
use super::serve::{self, Page};
use super::shared_state::{Event, Observer, SharedState, now_ms};
use super::switches;
use crate::{Collector, Options};

/// Settings of a collector process.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Sockets of agents: paths, or patterns with `*` and `?`.
    pub nics: Vec<String>,
    /// Sockets that are bound to one NIC each.
    pub bound: Vec<(PathBuf, Nic)>,
    /// Switches whose counters are read.
    pub switches: Vec<Target>,
    /// Poll interval of each agent and switch.
    pub poll: Duration,
    /// File for denials. Without it, they are lost when the process ends.
    pub state: Option<Utf8PathBuf>,
    /// Address to serve on.
    pub listen: Option<SocketAddr>,
    /// Certificates for TLS and readers. Without them, every client can read, and connections are not encrypted.
    pub tls: Option<Certificates>,
    /// Whether to serve the web page.
    pub web: bool,
    /// Clients that may give orders, on the page or with `closc drain`.
    pub operators: Operators,
    /// Whether the log of changes can be written, if there is one.
    pub log: Option<LogState>,
    /// Settings for verdicts and denials.
    pub options: Options,
}

/// Why the collector cannot run.
#[derive(Debug, Error)]
pub enum RunFault {
    /// The state file cannot be used.
    #[error(transparent)]
    State(#[from] StateFault),
    /// The address cannot be used.
    #[error("cannot listen on {0}: {1}")]
    Listen(SocketAddr, std::io::Error),
    /// The token file of operators cannot be used.
    #[error("cannot accept requests: {0}")]
    Orders(std::io::Error),
}

/// Runs the collector until a future is ready. Returns the final summary.
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
    let (mut collector, gone) = Collector::new(plan, settings.options, denials, now_ms());
    for (socket, nic) in &settings.bound {
        collector.bind(&socket.display().to_string(), *nic);
    }
    let shared = Arc::new(SharedState::new(collector, disk, observer, settings.log.clone()));
    for denial in gone {
        shared.say(Event::Gone(denial));
    }
    let authority = Authority::open(settings.operators.clone()).map_err(RunFault::Orders)?;
    let mut server = JoinSet::new();
    if let Some(address) = settings.listen {
        let listener = TcpListener::bind(address).await.map_err(|error| RunFault::Listen(address, error))?;
        let bound = listener.local_addr().map_err(|error| RunFault::Listen(address, error))?;
        shared.say(Event::Listening(bound));
        let page =
            Arc::new(Page::new(settings.web, settings.tls.is_some(), bound, shared.clone(), authority));
        let tls = settings.tls.clone();
        server.spawn(closc_http::serve(listener, tls, move |request| serve::answer(&page, request)));
    }
    let mut counting = JoinSet::new();
    if !settings.switches.is_empty() {
        counting.spawn(switches::follow(shared.clone(), settings.switches.clone(), settings.poll));
    }
    poll(&shared, &settings, until).await;
    drop((server, counting));
    let summary = shared.collector().summary(now_ms());
    Ok(summary)
}

/// When to retry a source, and the number of its consecutive failures.
#[derive(Debug, Clone, Copy)]
struct RetryState {
    times: u32,
    until: Instant,
}

/// A request to an agent.
#[derive(Debug, Clone, Copy)]
enum AgentRequest {
    /// Request a report, and send pending orders.
    Report,
    /// Send pending orders.
    Orders,
}

/// Agents with a request in progress, and those that are not retried yet.
struct AgentRequests<'a> {
    shared_state: &'a Arc<SharedState>,
    settings: &'a Settings,
    asked: JoinSet<(u32, bool)>,
    in_flight: BTreeMap<u32, PathBuf>,
    /// Agents to which orders are sent when their current request ends, because denials have changed.
    deferred_orders: BTreeSet<u32>,
    silent: BTreeMap<u32, RetryState>,
}

impl AgentRequests<'_> {
    /// Records the end of a request.
    fn finish_request(&mut self, id: u32, answered: bool) {
        let path = self.in_flight.remove(&id);
        let again = self.deferred_orders.remove(&id);
        if answered {
            self.silent.remove(&id);
            if let Some(path) = path.filter(|_| again) {
                self.ask(id, path, AgentRequest::Orders);
            }
            return;
        }
        let times = self.silent.get(&id).map_or(0, |before| before.times);
        let until = Instant::now() + backoff(self.settings.poll, id.into()).wait(times);
        self.silent.insert(id, RetryState { times: times.saturating_add(1), until });
    }

    /// Sends a request to every agent, except those with one in progress, and silent agents that are not due
    /// yet. Requests are concurrent, so an agent that hangs delays no other.
    fn ask_all(&mut self, errand: AgentRequest) {
        let now = Instant::now();
        let bound = self.settings.bound.iter().map(|(path, _)| path.clone());
        for path in sockets(&self.settings.nics, bound) {
            let id = self.shared_state.collector().source(&path.display().to_string());
            let waits = self.silent.get(&id).is_some_and(|silent| silent.until > now);
            if !waits && !self.in_flight.contains_key(&id) {
                self.ask(id, path, errand);
            }
        }
    }

    fn ask(&mut self, id: u32, path: PathBuf, errand: AgentRequest) {
        self.in_flight.insert(id, path.clone());
        let shared = self.shared_state.clone();
        self.asked.spawn(async move {
            let answered = match errand {
                AgentRequest::Report => shared.ask(id, path).await,
                AgentRequest::Orders => shared.order(id, path).await,
            };
            (id, answered)
        });
    }
}

async fn poll(shared: &Arc<SharedState>, settings: &Settings, until: impl Future<Output = ()>) {
    let mut tick = tokio::time::interval(settings.poll);
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut asking = AgentRequests {
        shared_state: shared,
        settings,
        asked: JoinSet::new(),
        in_flight: BTreeMap::new(),
        deferred_orders: BTreeSet::new(),
        silent: BTreeMap::new(),
    };
    tokio::pin!(until);
    loop {
        tokio::select! {
            () = &mut until => break,
            Some(done) = asking.asked.join_next(), if !asking.asked.is_empty() => {
                if let Ok((id, answered)) = done {
                    asking.finish_request(id, answered);
                }
            }
            _ = tick.tick() => {
                shared.judge();
                asking.ask_all(AgentRequest::Report);
            }
            // If an operator changes denials, do not wait for the next poll.
            () = shared.wait_for_change() => {
                asking.deferred_orders.extend(asking.in_flight.keys());
                asking.ask_all(AgentRequest::Orders);
            }
        }
    }
    // Let requests in progress finish, so that no order is cut off in the middle of a line.
    let ends = async { while asking.asked.join_next().await.is_some() {} };
    let _ = tokio::time::timeout(Duration::from_secs(6), ends).await;
}
