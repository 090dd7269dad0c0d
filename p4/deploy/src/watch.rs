//! A watch: keeps switches in their target state until it is asked to stop.
//!
//! In: a fleet. Out: [`WatchStatus`], metrics (including counters of switches) and health at any time.
//! Invariants: each switch is watched independently. The primary controller of a P4Runtime switch reads,
//! compares and repairs; a backup stands by and takes over when there is no primary. So one of two watches
//! leads, and the other takes over if the first one ends. SONiC's CONFIG_DB and switches that are configured
//! by files are read and compared, and nothing is written to them.

mod board;
mod health;
mod keeper;
mod metrics;
mod onlooker;

pub use board::{DeviceStatus, Role, WatchStatus};

use std::collections::BTreeSet;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use closc_http::{Answer, Certificates, LogState, Request};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use crate::event::{Observer, Reporter};
use crate::fleet::Fleet;
use crate::options::PushOptions;
use crate::sonic::{SonicOptions, SonicSwitch};
use crate::switch::Switch;
use board::Board;

/// The options of a watch.
#[derive(Debug, Clone)]
pub struct WatchOptions {
    /// Write options of switches. Of the limits, only `max_parallel` and `timeout` apply here.
    pub push: PushOptions,
    /// Interval of reading and comparing each switch.
    pub interval: Duration,
    /// Address on which metrics (`/metrics`) and health (`/healthz`) are served; port 0 picks a free one.
    pub listen: Option<SocketAddr>,
    /// Certificates of the server, and of the clients that may read. Without them any client may read, unencrypted.
    pub tls: Option<Certificates>,
    /// Whether to read the counters of the switches that this watch leads after each check, and to serve
    /// them.
    pub counters: bool,
    /// State of the log of repairs, if there is one.
    pub log: Option<LogState>,
}

impl Default for WatchOptions {
    fn default() -> Self {
        let (push, interval) = (PushOptions::default(), Duration::from_secs(30));
        WatchOptions { push, interval, listen: None, tls: None, counters: false, log: None }
    }
}

/// Shared state of the tasks that watch one switch each.
struct WatchState {
    options: WatchOptions,
    board: Board,
    reporter: Reporter,
    /// One permit for each switch that is being read or written.
    permits: Semaphore,
}

/// A watch that is running. Dropping it ends the watch and its primacy on all switches.
pub struct Watch {
    state: Arc<WatchState>,
    keepers: JoinSet<()>,
    server: JoinSet<()>,
    stop: tokio::sync::watch::Sender<bool>,
    address: Option<SocketAddr>,
}

impl Watch {
    /// Starts to watch a fleet. It fails only if metrics cannot be served.
    pub async fn start(fleet: &Fleet, options: WatchOptions, observer: Observer) -> io::Result<Self> {
        let members = fleet.members.iter().map(|member| (member.target.name.clone(), member.target.plane));
        let members: Vec<(String, Option<u8>)> = members.collect();
        let kept: BTreeSet<&str> = members.iter().map(|(name, _)| name.as_str()).collect();
        // A switch with two transports is watched over both.
        let row = |switch: &SonicSwitch| {
            if kept.contains(switch.name.as_str()) {
                format!("{}/CONFIG_DB", switch.name)
            } else {
                switch.name.clone()
            }
        };
        let rows: Vec<String> = fleet.sonic.iter().map(row).collect();
        let sonic = rows.iter().cloned().zip(fleet.sonic.iter().map(|switch| switch.plane));
        let carried = fleet.carried_switches.iter().map(|switch| (switch.name.clone(), switch.plane));
        let names = members.iter().cloned().chain(sonic).chain(carried);
        let shared = Arc::new(WatchState {
            board: Board::new(names, fleet.skipped_switches.clone()),
            reporter: Reporter::new(observer),
            permits: Semaphore::new(options.push.max_parallel.max(1)),
            options,
        });
        let (stop, stopped) = tokio::sync::watch::channel(false);
        let mut watch = Watch {
            state: shared.clone(),
            keepers: JoinSet::new(),
            server: JoinSet::new(),
            stop,
            address: None,
        };
        if let Some(listen) = shared.options.listen {
            let listener = tokio::net::TcpListener::bind(listen).await?;
            watch.address = Some(listener.local_addr()?);
            let (shared, tls) = (shared.clone(), shared.options.tls.clone());
            watch.server.spawn(closc_http::serve(listener, tls, move |request| answer(&shared, request)));
        }
        for (place, member) in fleet.members.iter().enumerate() {
            watch.keepers.spawn(keeper::keep(place, member.clone(), shared.clone(), stopped.clone()));
        }
        // The state of the daemons after loading is checked too.
        let sonic = fleet
            .sonic
            .first()
            .map(|first| Arc::new(SonicOptions { state: true, ..(*first.options).clone() }));
        for ((place, switch), options) in fleet.sonic.iter().enumerate().zip(sonic.iter().cycle()) {
            let switch = SonicSwitch { options: options.clone(), ..switch.clone() };
            let (row, switch): (_, Arc<dyn Switch>) = (rows[place].clone(), Arc::new(switch));
            watch.keepers.spawn(onlooker::look((place, row), switch, shared.clone(), stopped.clone()));
        }
        for (place, switch) in fleet.carried_switches.iter().enumerate() {
            let (row, switch): (_, Arc<dyn Switch>) = (switch.name.clone(), Arc::new(switch.clone()));
            watch.keepers.spawn(onlooker::look((place, row), switch, shared.clone(), stopped.clone()));
        }
        Ok(watch)
    }

    /// Returns the address on which metrics and health are served.
    pub fn address(&self) -> Option<SocketAddr> {
        self.address
    }

    /// Returns the state of every switch.
    pub fn status(&self) -> WatchStatus {
        self.state.board.status()
    }

    /// Ends the watch gracefully: every stream is closed, so that another watch can take over immediately.
    pub async fn stop(mut self) -> WatchStatus {
        self.stop.send_replace(true);
        let all = async { while self.keepers.join_next().await.is_some() {} };
        // The drop that follows aborts tasks that do not end by themselves.
        let ended = tokio::time::timeout(Duration::from_secs(5), all).await;
        if ended.is_err() {
            tracing::warn!("some connections were closed without notice");
        }
        self.state.board.status()
    }
}

/// Watches a fleet until a future is ready.
pub async fn watch(
    fleet: &Fleet,
    options: WatchOptions,
    observer: Observer,
    until: impl Future<Output = ()>,
) -> io::Result<WatchStatus> {
    let watch = Watch::start(fleet, options, observer).await?;
    until.await;
    Ok(watch.stop().await)
}

/// Waits until the watch is stopped.
async fn end(stopped: &mut tokio::sync::watch::Receiver<bool>) {
    // If the sender was dropped, the watch has stopped too.
    drop(stopped.wait_for(|stop| *stop).await);
}

fn answer(shared: &WatchState, request: &Request) -> Answer {
    let (board, log) = (&shared.board, shared.options.log.as_ref());
    match request.path.as_str() {
        _ if request.is_post => Answer::text(405, "only GET is served\n"),
        "/metrics" => {
            let mut answer = metrics::answer(&board.status());
            answer.body.extend(log.map(LogState::metrics));
            answer
        }
        "/metrics/switch" => metrics::of_switch(board, request),
        "/healthz" if log.is_some_and(LogState::is_failing) => {
            Answer::text(503, "the audit log cannot be written\n")
        }
        "/healthz" => health::answer(&board.status()),
        _ => Answer::text(404, "try /metrics, /metrics/switch?of=NAME or /healthz\n"),
    }
}
