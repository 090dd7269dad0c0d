//! The loop: asks agents, judges, writes down what is denied, and goes on.

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
use super::shared::{Event, Observer, Shared, now_ms};
use super::switches;
use crate::{Collector, Options};

/// Operation of a collector.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Sockets of agents: paths, or patterns with `*` and `?`.
    pub nics: Vec<String>,
    /// Sockets that are bound to a NIC each.
    pub bound: Vec<(PathBuf, Nic)>,
    /// Switches whose counters are read.
    pub switches: Vec<Target>,
    /// Poll interval of each agent and switch.
    pub poll: Duration,
    /// Where denials are kept; nowhere means that they are forgotten with the process.
    pub state: Option<Utf8PathBuf>,
    /// Where it is served.
    pub listen: Option<SocketAddr>,
    /// Reader access, and the certificate; without one, any reader without encryption.
    pub tls: Option<Certificates>,
    /// Whether a page is served for people.
    pub web: bool,
    /// The clients that may order, on the page or by `closc drain`.
    pub operators: Operators,
    /// Whether the log of changes can be written, where there is one.
    pub log: Option<LogState>,
    /// Settings of judging and denying.
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
    /// The token file of operators cannot be used.
    #[error("cannot take orders: {0}")]
    Orders(std::io::Error),
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
    let (mut collector, gone) = Collector::new(plan, settings.options, denials, now_ms());
    for (socket, nic) in &settings.bound {
        collector.bind(&socket.display().to_string(), *nic);
    }
    let shared = Arc::new(Shared::new(collector, disk, observer, settings.log.clone()));
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

/// When a source is asked again that did not answer so often in a row.
#[derive(Debug, Clone, Copy)]
struct Silent {
    times: u32,
    until: Instant,
}

/// Request to an agent.
#[derive(Debug, Clone, Copy)]
enum Errand {
    /// A report, and to carry the orders that there are.
    Report,
    /// To carry orders.
    Orders,
}

/// Agents that are asked, and those that are left alone for a while.
struct Asking<'a> {
    shared: &'a Arc<Shared>,
    settings: &'a Settings,
    asked: JoinSet<(u32, bool)>,
    under_way: BTreeMap<u32, PathBuf>,
    /// Those of them that orders are carried to at once: denials changed after they were asked.
    again: BTreeSet<u32>,
    silent: BTreeMap<u32, Silent>,
}

impl Asking<'_> {
    /// Takes note of who answered or did not.
    fn done(&mut self, id: u32, answered: bool) {
        let path = self.under_way.remove(&id);
        let again = self.again.remove(&id);
        if answered {
            self.silent.remove(&id);
            if let Some(path) = path.filter(|_| again) {
                self.ask(id, path, Errand::Orders);
            }
            return;
        }
        let times = self.silent.get(&id).map_or(0, |before| before.times);
        let until = Instant::now() + backoff(self.settings.poll, id.into()).wait(times);
        self.silent.insert(id, Silent { times: times.saturating_add(1), until });
    }

    /// Asks every agent that is not being asked. All at the same time: one that hangs delays none.
    fn ask_all(&mut self, errand: Errand) {
        let now = Instant::now();
        let bound = self.settings.bound.iter().map(|(path, _)| path.clone());
        for path in sockets(&self.settings.nics, bound) {
            let id = self.shared.collector().source(&path.display().to_string());
            let waits = self.silent.get(&id).is_some_and(|silent| silent.until > now);
            if !waits && !self.under_way.contains_key(&id) {
                self.ask(id, path, errand);
            }
        }
    }

    fn ask(&mut self, id: u32, path: PathBuf, errand: Errand) {
        self.under_way.insert(id, path.clone());
        let shared = self.shared.clone();
        self.asked.spawn(async move {
            let answered = match errand {
                Errand::Report => shared.ask(id, path).await,
                Errand::Orders => shared.order(id, path).await,
            };
            (id, answered)
        });
    }
}

async fn poll(shared: &Arc<Shared>, settings: &Settings, until: impl Future<Output = ()>) {
    let mut tick = tokio::time::interval(settings.poll);
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut asking = Asking {
        shared,
        settings,
        asked: JoinSet::new(),
        under_way: BTreeMap::new(),
        again: BTreeSet::new(),
        silent: BTreeMap::new(),
    };
    tokio::pin!(until);
    loop {
        tokio::select! {
            () = &mut until => break,
            Some(done) = asking.asked.join_next(), if !asking.asked.is_empty() => {
                if let Ok((id, answered)) = done {
                    asking.done(id, answered);
                }
            }
            _ = tick.tick() => {
                shared.judge();
                asking.ask_all(Errand::Report);
            }
            // A denial that a person orders, or that is lifted, does not wait for its turn.
            () = shared.changed() => {
                asking.again.extend(asking.under_way.keys());
                asking.ask_all(Errand::Orders);
            }
        }
    }
    // Orders that are under way are not cut off in the middle of a line.
    let ends = async { while asking.asked.join_next().await.is_some() {} };
    let _ = tokio::time::timeout(Duration::from_secs(6), ends).await;
}
