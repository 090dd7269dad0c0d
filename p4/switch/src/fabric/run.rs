//! Moves packets through a fabric until none are left.
//!
//! Time advances in windows that are no longer than the delay of a link. A packet sent in a window arrives after it, so
//! within a window switches are independent and run on several threads.

use std::cmp::Reverse;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rayon::iter::{IntoParallelRefIterator as _, ParallelIterator as _};

use super::inbox::Mail;
use super::link::Destination;
use super::{Arrival, Delivery, Fabric, LinkEnd, LostPacket, Node};
use crate::switch::{Clock, Outbox};

/// Maximum sleep of a driver, and thus its maximum delay.
const LONGEST_SLEEP: Duration = Duration::from_millis(5);

/// Interval between checks for idle entries.
const LOOK_INTERVAL: Duration = Duration::from_millis(100);

/// Result of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RunCount {
    /// Packets that entered a switch.
    pub(crate) hops: u64,
    /// Packets that left the fabric.
    pub(crate) delivered: u64,
}

/// Work of a switch in a window.
struct Work {
    node: u32,
    arrivals: Vec<Arrival>,
    /// Whether other work is due.
    tick: bool,
}

impl Fabric {
    /// Runs until no packets are left; returns the packets that left the fabric, in order.
    pub fn run(&mut self) -> Vec<Delivery> {
        let mut deliveries = Vec::new();
        self.run_until(u64::MAX, |delivery| deliveries.push(delivery));
        deliveries
    }

    /// Runs all events before a time, and passes on packets that leave the fabric, in order. Then advances
    /// the clock to that time and checks for idle entries, unless the time is `u64::MAX`.
    pub fn run_until(&mut self, end_ns: u64, mut deliver: impl FnMut(Delivery)) -> RunCount {
        let mut count = self.run_before(end_ns, &mut deliver);
        if end_ns != u64::MAX {
            self.config.clock.advance_to(end_ns);
            self.look_round(&mut count, &mut deliver);
        }
        count
    }

    /// Runs all events before a time, and passes on packets that leave the fabric, in order. Its cost depends only on
    /// the number of events, so it can be called for many small steps.
    pub fn run_before(&mut self, end_ns: u64, mut deliver: impl FnMut(Delivery)) -> RunCount {
        let mut count = RunCount::default();
        loop {
            self.collect(&mut count, &mut deliver);
            let Some(window) = self.next_window(end_ns) else { break };
            self.config.clock.advance_to(window.0);
            let work = self.take_work(window.1);
            let dues = self.work_off(&work, window.1);
            for (work, due) in work.iter().zip(dues) {
                count.hops += work.arrivals.len() as u64;
                self.set_due(work.node, due);
                self.hand_on(work.node, &mut count, &mut deliver);
            }
        }
        count
    }

    /// Takes the packets from other threads.
    fn collect(&mut self, count: &mut RunCount, deliver: &mut impl FnMut(Delivery)) {
        for mail in self.inbox.take() {
            let now_ns = self.config.clock.now_ns();
            match mail {
                Mail::In(packet) => self.inject(packet.node, packet.port, packet.frame),
                Mail::Out(packet) => {
                    let end = LinkEnd { node: packet.node, port: packet.port };
                    self.carry(now_ns, end, packet.frame, count, deliver);
                }
            }
        }
    }

    /// Returns the window of the next event.
    fn next_window(&self, end_ns: u64) -> Option<(u64, u64)> {
        let arrival = self.arrivals.peek().map(|Reverse(arrival)| arrival.at_ns);
        let due = self.due_times.first().map(|(at_ns, _)| *at_ns);
        let first = arrival.into_iter().chain(due).min()?;
        match self.config.clock {
            Clock::Virtual(_) => {
                let window = (first, first.saturating_add(self.config.latency_ns.max(1)).min(end_ns));
                (first < end_ns).then_some(window)
            }
            // With a wall clock, all waiting packets are due now.
            Clock::Wall { .. } => {
                let now_ns = self.config.clock.now_ns();
                (arrival.is_some() || due.is_some_and(|due| due <= now_ns)).then_some((now_ns, u64::MAX))
            }
        }
    }

    /// Takes the work that is due before a time, grouped by switch.
    fn take_work(&mut self, end_ns: u64) -> Vec<Work> {
        let mut arrivals = Vec::new();
        while self.arrivals.peek().is_some_and(|Reverse(arrival)| arrival.at_ns < end_ns) {
            arrivals.extend(self.arrivals.pop().map(|Reverse(arrival)| arrival));
        }
        // The sort is stable, so packets of a switch stay in order.
        arrivals.sort_by_key(|arrival| arrival.node);
        let mut work: Vec<Work> = Vec::new();
        for arrival in arrivals {
            match work.last_mut() {
                Some(last) if last.node == arrival.node => last.arrivals.push(arrival),
                Some(_) | None => {
                    let node = arrival.node;
                    work.push(Work { node, arrivals: vec![arrival], tick: false });
                }
            }
        }
        let now_ns = self.config.clock.now_ns();
        let limit = if end_ns == u64::MAX { now_ns.saturating_add(1) } else { end_ns };
        let ticks: Vec<u32> =
            self.due_times.iter().take_while(|(at_ns, _)| *at_ns < limit).map(|(_, node)| *node).collect();
        for node in ticks {
            match work.binary_search_by_key(&node, |work| work.node) {
                Ok(at) => work[at].tick = true,
                Err(at) => work.insert(at, Work { node, arrivals: Vec::new(), tick: true }),
            }
        }
        work
    }

    /// Runs the work of switches. Returns the time at which each switch has work again; `None` if it has none.
    fn work_off(&self, work: &[Work], end_ns: u64) -> Vec<Option<u64>> {
        let packets: usize = work.iter().map(|work| work.arrivals.len()).sum();
        if packets < self.config.parallel_from || work.len() < 2 {
            return work.iter().map(|work| self.work_one(work, end_ns)).collect();
        }
        work.par_iter().map(|work| self.work_one(work, end_ns)).collect()
    }

    fn work_one(&self, work: &Work, end_ns: u64) -> Option<u64> {
        let switch = &self.switches[work.node as usize];
        let mut outbox = self.outbox(work.node);
        let now_ns = self.config.clock.now_ns();
        let standing = end_ns != u64::MAX;
        let arrivals = work.arrivals.iter().map(|arrival| {
            let at_ns = if standing { arrival.at_ns } else { now_ns };
            (at_ns, arrival.port, arrival.frame.as_slice())
        });
        let due = switch.receive_at(arrivals, &mut outbox);
        // A packet that entered a queue in this window may also leave it.
        let last = if standing { end_ns - 1 } else { now_ns };
        if work.tick || due.is_some_and(|due| due <= last) {
            return switch.tick_at(last, &mut outbox);
        }
        due
    }

    fn outbox(&self, node: u32) -> std::sync::MutexGuard<'_, Outbox> {
        self.outboxes[node as usize].lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn set_due(&mut self, node: u32, due: Option<u64>) {
        let old = std::mem::replace(&mut self.due_by_switch[node as usize], due);
        if let Some(old) = old {
            self.due_times.remove(&(old, node));
        }
        if let Some(due) = due {
            self.due_times.insert((due, node));
        }
    }

    /// Sends packets of switches over their links.
    fn hand_on(&mut self, node: u32, count: &mut RunCount, deliver: &mut impl FnMut(Delivery)) {
        let mut outbox = std::mem::take(&mut *self.outbox(node));
        for (port, at_ns, frame) in outbox.packets() {
            let end = LinkEnd { node: Node(node), port };
            self.carry(at_ns, end, frame.to_vec(), count, deliver);
        }
        let dropped = outbox.take_lost().into_iter();
        self.lost.extend(dropped.map(|(at_ns, frame)| LostPacket { at_ns, frame, in_switch: true }));
        outbox.clear();
        *self.outbox(node) = outbox;
    }

    fn carry(
        &mut self,
        at_ns: u64,
        end: LinkEnd,
        mut frame: Vec<u8>,
        count: &mut RunCount,
        deliver: &mut impl FnMut(Delivery),
    ) {
        match self.links.destination(end, &mut frame) {
            Destination::To(peer) => {
                self.arrive(at_ns.saturating_add(self.config.latency_ns.max(1)), peer, frame);
            }
            Destination::Out => {
                count.delivered += 1;
                deliver(Delivery { node: end.node, port: end.port, at_ns, frame });
            }
            Destination::Lost if self.config.keeps_lost => {
                self.lost.push(LostPacket { at_ns, frame, in_switch: false });
            }
            Destination::Lost => {}
        }
    }

    /// Runs on a separate thread until it is stopped; packets that leave the fabric are passed on.
    pub fn drive(mut self, mut deliver: impl FnMut(Delivery) + Send + 'static) -> std::io::Result<Driver> {
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let thread = std::thread::Builder::new().name("fabric".to_owned()).spawn(move || {
            let mut looked = Instant::now();
            while !stopped.load(Ordering::Acquire) {
                self.run_until(u64::MAX, &mut deliver);
                if looked.elapsed() >= LOOK_INTERVAL {
                    self.look_round(&mut RunCount::default(), &mut deliver);
                    looked = Instant::now();
                }
                self.inbox.wait(LONGEST_SLEEP);
            }
            self
        })?;
        Ok(Driver { stop, thread })
    }

    /// Lets every switch check for idle entries and for changes by controllers.
    fn look_round(&mut self, count: &mut RunCount, deliver: &mut impl FnMut(Delivery)) {
        for node in 0..self.switches.len() as u32 {
            let due = {
                let mut outbox = self.outbox(node);
                self.switches[node as usize].tick(&mut outbox)
            };
            self.set_due(node, due);
            self.hand_on(node, count, deliver);
        }
    }
}

/// A fabric that runs on its own thread.
#[derive(Debug)]
pub struct Driver {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<Fabric>,
}

impl Driver {
    /// Stops the thread; returns the fabric, or `None` if the thread panicked.
    pub fn stop(self) -> Option<Fabric> {
        self.stop.store(true, Ordering::Release);
        self.thread.join().ok()
    }
}
