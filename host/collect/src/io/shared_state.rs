//! State shared by all tasks: the collector, the disk, the observer. Every change of denials is made here.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use closc_http::LogState;
use closc_topology::Nic;
use tokio::sync::Notify;

use super::agents::Line;
use super::disk::Disk;
use super::orders::Orderer;
use super::reading::Reading;
use crate::element::nic_name;
use crate::{Change, Collector, Denial, Order, PendingDenials, Source};

/// An event for the observer.
#[derive(Debug)]
pub enum Event {
    /// The server listens on this address.
    Listening(SocketAddr),
    /// A fault was found: its description, and the verdict.
    Broken(String, crate::VerdictView),
    /// A fault has ended.
    Ended(String),
    /// Denials are about to change, by a verdict, a timer or an order. An error from the observer prevents the change.
    Changing(Vec<Change>, Option<Orderer>),
    /// Denials have changed, or could not be saved.
    Changed(Result<(), String>),
    /// The element of a saved denial is no longer in the fabric.
    Gone(Denial),
    /// The agent of this NIC is dead, with a text that describes it, or answers again (`None`).
    Agent(String, Option<String>),
    /// A source does not answer: its name and the error.
    Failing(String, String),
    /// The path table of an agent began or ceased to differ from the plan's table for its group. Contains the name of
    /// the NIC, and the table's checksum if it differs.
    Table(String, Option<String>),
}

/// Receives events. It can reject a change of denials.
pub type Observer = Arc<dyn Fn(Event) -> Result<(), String> + Send + Sync>;

/// State shared by all tasks.
pub(super) struct SharedState {
    collector: Mutex<Collector>,
    disk: Option<Disk>,
    observer: Observer,
    reading: Reading,
    log: Option<LogState>,
    /// Signals that denials have changed and agents must be contacted.
    changed: Notify,
}

pub(super) fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

impl SharedState {
    pub(super) fn new(
        collector: Collector,
        disk: Option<Disk>,
        observer: Observer,
        log: Option<LogState>,
    ) -> Self {
        let (collector, reading) = (Mutex::new(collector), Reading::default());
        SharedState { collector, disk, observer, reading, log, changed: Notify::new() }
    }

    /// Returns the state of the log of changes, if there is one.
    pub(super) fn log(&self) -> Option<&LogState> {
        self.log.as_ref()
    }

    pub(super) fn collector(&self) -> MutexGuard<'_, Collector> {
        self.collector.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn say(&self, event: Event) {
        // The observer can reject only changes, so ignore the result.
        let _ = (self.observer)(event);
    }

    /// Puts a list of denials in force: first the log, then the disk, then the collector. If the log cannot be written,
    /// new denials are rejected. A change that only ends denials is still carried out, because their paths are needed.
    pub(super) fn change(
        &self,
        collector: &mut Collector,
        next: PendingDenials,
        orderer: Option<&Orderer>,
    ) -> Result<(), String> {
        if !next.changes.is_empty()
            && let Err(fault) = (self.observer)(Event::Changing(next.changes.clone(), orderer.cloned()))
        {
            if !next.changes.iter().all(|change| change.stage.is_over()) {
                return Err(fault);
            }
            tracing::error!("{fault}, except for denials that end");
        }
        let saved = self.disk.as_ref().map_or(Ok(()), |disk| disk.save(&next.denials));
        let saved = saved.map_err(|error| format!("denials cannot be saved: {error}"));
        if saved.is_ok() {
            collector.commit(next.denials);
            if !next.changes.is_empty() {
                self.changed.notify_one();
            }
        }
        if !next.changes.is_empty() {
            self.say(Event::Changed(saved.clone()));
        }
        saved
    }

    /// Waits until denials change.
    pub(super) async fn wait_for_change(&self) {
        self.changed.notified().await;
    }

    /// Computes verdicts, and updates denials accordingly.
    pub(super) fn judge(&self) {
        let now = now_ms();
        let mut collector = self.collector();
        for news in collector.judge(now) {
            let plan = collector.plan();
            self.say(match news {
                crate::News::Broken(verdict) => {
                    Event::Broken(verdict.line(plan, now), verdict.view(plan, now))
                }
                crate::News::Ended(verdict) => {
                    Event::Ended(format!("{} {}", verdict.element.kind(), verdict.element.name(plan)))
                }
                crate::News::AgentDead(nic, line) => Event::Agent(nic_name(plan.topology(), nic), Some(line)),
                crate::News::AgentBack(nic) => Event::Agent(nic_name(plan.topology(), nic), None),
            });
        }
        if let Some(next) = collector.next(now)
            && let Err(fault) = self.change(&mut collector, next, None)
        {
            tracing::error!("{fault}");
        }
    }

    /// Polls one agent and sends it orders. Returns whether it answered with a valid report.
    pub(super) async fn ask(&self, id: u32, path: PathBuf) -> bool {
        let (mut line, report) = match Line::report(&path, &self.reading).await {
            Ok(answered) => answered,
            Err(fault) => {
                self.record_failure(id, &fault);
                return false;
            }
        };
        let (nic, orders, change) = {
            let mut collector = self.collector();
            let Source { other_table: before, fault: said, .. } = collector.sources()[id as usize].clone();
            let taken = collector.take(id, report, now_ms());
            match taken {
                Ok(nic) => {
                    let own = &collector.sources()[id as usize].other_table;
                    let name = || nic_name(collector.plan().topology(), nic);
                    let change = (*own != before).then(|| Event::Table(name(), own.clone()));
                    (nic, collector.orders(nic, now_ms()), change)
                }
                Err(fault) => {
                    let is_new = collector.sources()[id as usize].fault != said;
                    drop(collector);
                    if is_new {
                        self.say(Event::Failing(path.display().to_string(), fault.to_string()));
                    }
                    return false;
                }
            }
        };
        if let Some(change) = change {
            self.say(change);
        }
        self.carry(&mut line, nic, orders).await;
        true
    }

    /// Sends an agent its orders and reads only the data needed for them, because reports are long. Returns false if it
    /// did not answer; an agent without orders is not contacted.
    pub(super) async fn order(&self, id: u32, path: PathBuf) -> bool {
        let known = self.collector().sources().get(id as usize).and_then(|source| source.nic);
        let Some(nic) = known else { return self.ask(id, path).await };
        if self.collector().orders(nic, now_ms()).is_empty() {
            return true;
        }
        let (mut line, said) = match Line::denials(&path, &self.reading).await {
            Ok(answered) => answered,
            Err(fault) => {
                self.record_failure(id, &fault);
                return false;
            }
        };
        let is_own = self.collector().plan().addresses().nic(nic) == said.nic.into();
        if !is_own {
            // Another agent uses this socket now. Its report identifies it.
            return self.ask(id, path).await;
        }
        let orders = self.collector().orders(nic, now_ms());
        self.carry(&mut line, nic, orders).await;
        true
    }

    async fn carry(&self, line: &mut Line, nic: Nic, orders: Vec<Order>) {
        for order in orders {
            let answer = line.order(&order).await;
            let is_refused = answer.is_err();
            self.collector().handle_answer(nic, &order, answer);
            if is_refused {
                // The agent may have stopped. Its next report shows its denials.
                break;
            }
        }
    }

    fn record_failure(&self, id: u32, fault: &str) {
        let (name, is_new) = {
            let mut collector = self.collector();
            let before = collector.sources()[id as usize].fault.clone();
            collector.record_failure(id, fault);
            (collector.sources()[id as usize].name.clone(), before.as_deref() != Some(fault))
        };
        if is_new {
            self.say(Event::Failing(name, fault.to_owned()));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;
    use crate::{Denials, Options, testing};

    /// Formerly, if the log could not be written, denials could not be ended and paths stayed out of use.
    #[test]
    fn without_a_log_nothing_is_denied_and_denials_end() {
        static IS_FULL: AtomicBool = AtomicBool::new(false);
        let observer: Observer = Arc::new(|event| match event {
            Event::Changing(..) if IS_FULL.load(Ordering::Relaxed) => Err("full".to_owned()),
            _ => Ok(()),
        });
        let options = Options { apply: true, plane_share: 1.0, ..Options::default() };
        let plan = Arc::new(testing::eight_planes());
        let (collector, _) = Collector::new(plan, options, Denials::default(), 0);
        let shared = SharedState::new(collector, None, observer, None);
        let mut collector = shared.collector();
        let next = collector.drain("p1-t1-001", "a test", 60_000, 1).expect("it is of the fabric");
        let id = next.changes.last().expect("a denial").id;
        shared.change(&mut collector, next, None).expect("it is logged");
        IS_FULL.store(true, Ordering::Relaxed);
        let next = collector.drain("p2-t1-001", "a test", 60_000, 2).expect("it is of the fabric");
        assert_eq!(shared.change(&mut collector, next, None), Err("full".to_owned()));
        let next = collector.lift(id, 3).expect("it is in force");
        assert_eq!(shared.change(&mut collector, next, None), Ok(()));
        assert_eq!(collector.denials().applied_denials().count(), 0);
    }
}
