//! A job in virtual time: agents and embedded switches in one process, with a simulated clock.
//!
//! ```text
//! tree --entries--> switches: the P4 program, its tables, queues with a rate     (switches)
//! tree --path tables--> stations: a closc-nic for each NIC, lines with a rate    (station)
//! scenario --bind--> cut, lossy and swapped cables at a time                     (wiring)
//! (time, number) of packets, agent timers, steps and samples --> Record --> Report
//! ```
//!
//! In: a compiled tree of P4 switches, a scenario, orders. Out: the same kind of report as for a job on the kernel.
//! Invariants: only the tables of switches determine the path of a packet, not the planner. The same seed gives the
//! same report for any number of threads. Time advances in windows that are at most as long as the delay of a cable.
//! So stations and switches cannot influence each other within a window, and packets are sorted between windows.

mod collect;
mod deaths;
mod inner_header;
mod live_job;
mod stalls;
mod station;
mod switches;
mod wiring;

use std::collections::{BTreeSet, HashMap};
use std::net::Ipv6Addr;
use std::time::Duration;

use camino::Utf8Path;
use closc_nic::agent::PIECE_HEADERS;
use closc_paths::Table;
use rayon::iter::{IndexedParallelIterator as _, IntoParallelRefMutIterator as _, ParallelIterator as _};

use super::charge::{StepFaults, Witness};
use super::endpoint::{JobEndpoint, seats};
use super::orders::{Orders, PACKET_NS_MAX, PLACES, SAMPLE};
use super::pattern::{NextMessage, Work};
use super::record::{Loss, Mark, Message, Record, Sample};
use super::report::{Report, Setting, SwitchCounters};
use super::run::{JobError, unit_fits};
use super::scenario::Scenario;
use super::spread::Spread;
use super::timeline::Timeline;
use super::verdict::judge;
use crate::LabError;
use crate::model::{CableId, Model};
use crate::progress::Watch;
use crate::tree::{Digests, Tree};
pub use live_job::{LiveJob, TrafficTotals, live};

use collect::AgentReports;
use deaths::{Deaths, LossReports};
use station::{AgentLimits, Station};
use switches::Switches;
use wiring::Wiring;

/// Delay of a cable, and of a switch with empty queues.
const CABLE_NS: u64 = 2_000;
/// Bytes of headers of a packet.
const HEADERS: u64 = PIECE_HEADERS as u64 + inner_header::INNER as u64;
/// Number of active stations above which several threads are used.
const PARALLEL_FROM: usize = 64;
/// Maximum number of NICs of a job in virtual time.
const NICS_MAX: usize = 16_384;

/// Runs a job in virtual time on the switches of a tree.
pub fn simulate(
    folder: &Utf8Path,
    digests: Digests,
    scenario: &Scenario,
    orders: &Orders,
    watch: &Watch<'_>,
) -> Result<Report, JobError> {
    let tree = Tree::read_with(folder, digests)?;
    tree.needs_paths("`lab job` on target `embedded`")?;
    let model = Model::of(&tree)?;
    let seats = seats(&tree, &model);
    fits(seats.len() as u64, orders)?;
    unit_fits(&tree, orders)?;
    let work = orders.work(seats.len());
    // Every cable has the rate of a NIC port. Without bursts, NICs fill their ports.
    let spread = Spread::new(&tree, &model, &seats, orders.burst_interval.is_none());
    let timeline = Timeline::bind(scenario, &model, &spread, &work)?;
    let ports = spread.ports(&work);
    let tables: Vec<Table<'_>> = tree.tables.iter().map(|table| table.table()).collect();
    let mut run = Run::new((&tree, &model), &seats, &tables, orders, work, watch)?;
    run.drive(scenario.duration, &timeline, watch)?;
    let mut report = run.report(&tree, &model, &timeline, ports)?;
    report.unmet = judge(&report, &timeline, &scenario.in_virtual_time);
    Ok(report)
}

/// Rejects jobs in virtual time with too many NICs or too slow ports, before the tree is compiled.
pub fn fits(nics: u64, orders: &Orders) -> Result<(), JobError> {
    if !(2..=NICS_MAX as u64).contains(&nics) {
        return Err(JobError::Nics { nics, max: NICS_MAX });
    }
    let packet_ns = switches::packet_ns(u64::from(orders.unit) + HEADERS, orders.port_mbps);
    if packet_ns > PACKET_NS_MAX {
        return Err(JobError::Slow { unit: orders.unit, port_mbps: orders.port_mbps, packet_ns });
    }
    Ok(())
}

/// State of a run.
struct Run<'a> {
    orders: &'a Orders,
    seats: &'a [JobEndpoint],
    switches: Switches,
    wiring: Wiring<'a>,
    stations: Vec<Station<'a>>,
    /// Time of the next work of each station, and the stations in the order of these times.
    next: Vec<u64>,
    schedule: BTreeSet<(u64, u32)>,
    work: Work,
    /// Messages for which their sender has no room yet.
    stuck: Vec<(NextMessage, usize)>,
    record: Record,
    agent_reports: AgentReports,
    deaths: Deaths,
    /// Time of the last submission or arrival of a message.
    progress_ns: u64,
}

/// Times of the next events other than packets.
#[derive(Debug, Clone, Copy)]
struct EventTimes {
    /// The next step.
    step: usize,
    step_ns: u64,
    sample_ns: u64,
    burst_ns: u64,
    bursts: u64,
}

impl EventTimes {
    fn new(timeline: &Timeline) -> EventTimes {
        EventTimes { step: 0, step_ns: step_ns(timeline, 0), sample_ns: 0, burst_ns: 0, bursts: 0 }
    }

    fn at_ns(&self) -> u64 {
        self.step_ns.min(self.sample_ns).min(self.burst_ns)
    }
}

fn step_ns(timeline: &Timeline, step: usize) -> u64 {
    timeline.steps.get(step).map_or(u64::MAX, |step| step.at.as_nanos() as u64)
}

impl<'a> Run<'a> {
    fn new(
        (tree, model): (&'a Tree, &'a Model),
        seats: &'a [JobEndpoint],
        tables: &'a [Table<'a>],
        orders: &'a Orders,
        work: Work,
        watch: &Watch<'_>,
    ) -> Result<Run<'a>, LabError> {
        let switches = Switches::new(tree, model, orders, watch)?;
        let room = AgentLimits::of(seats.len());
        let make = |(at, seat): (usize, &JobEndpoint)| {
            let (group, table) = (&tree.tables[seat.table], &tables[seat.table]);
            Station::new((at, seat), tree, model, (group, table), orders, room)
        };
        let stations = seats.iter().enumerate().map(make).collect::<Result<Vec<_>, LabError>>()?;
        let n = seats.len();
        let mut run = Run {
            orders,
            seats,
            wiring: Wiring::new(model, seats, &switches, orders.seed),
            switches,
            stations,
            next: vec![u64::MAX; n],
            schedule: BTreeSet::new(),
            work,
            stuck: Vec::new(),
            record: Record::default(),
            agent_reports: AgentReports::new(n),
            deaths: Deaths::default(),
            progress_ns: 0,
        };
        for station in 0..n {
            run.note(station);
        }
        Ok(run)
    }

    /// Records the time of a station's next work.
    fn note(&mut self, station: usize) {
        let next = self.stations[station].next_ns();
        let before = std::mem::replace(&mut self.next[station], next);
        if before != next {
            self.schedule.remove(&(before, station as u32));
            self.schedule.insert((next, station as u32));
        }
    }

    /// Advances time until the job is over.
    fn drive(&mut self, duration: Duration, timeline: &Timeline, watch: &Watch<'_>) -> Result<(), LabError> {
        let duration_ns = duration.as_nanos() as u64;
        self.record.stop_ns = self.orders.messages.is_none().then_some(duration_ns);
        let mut known = EventTimes::new(timeline);
        loop {
            let first_ns = self.schedule.first().map_or(u64::MAX, |(at_ns, _)| *at_ns);
            let now_ns = first_ns.min(self.switches.next_ns()).min(known.at_ns());
            let is_sending =
                self.orders.messages.is_some() || now_ns < duration_ns || known.step < timeline.steps.len();
            // There may be many windows between two samples.
            watch.check()?;
            if now_ns < known.at_ns() {
                self.window(now_ns, (now_ns + CABLE_NS).min(known.at_ns()), is_sending);
                continue;
            }
            let is_sample = known.sample_ns == now_ns;
            self.handle_events(&mut known, now_ns, timeline)?;
            if is_sample {
                let (passed, total) = (now_ns / 1_000_000, duration_ns / 1_000_000);
                watch.step("run the job", passed.min(total), total + 1);
                if self.is_over(now_ns, is_sending) {
                    self.record.end_ns = now_ns;
                    return Ok(());
                }
            }
            self.order(now_ns, is_sending, 0..self.stations.len());
        }
    }

    /// Handles the scheduled events of this time.
    fn handle_events(
        &mut self,
        known: &mut EventTimes,
        now_ns: u64,
        timeline: &Timeline,
    ) -> Result<(), LabError> {
        if known.step_ns == now_ns {
            let step = &timeline.steps[known.step];
            self.wiring.change(&step.active_faults, now_ns, &mut self.switches, &mut self.stations)?;
            self.record.marks.push(Mark { span_ns: (now_ns, now_ns), failed: None });
            (0..self.stations.len()).for_each(|station| self.note(station));
            known.step += 1;
            known.step_ns = step_ns(timeline, known.step);
        }
        if known.burst_ns == now_ns {
            known.bursts += 1;
            self.work.allow_bursts(known.bursts);
            known.burst_ns =
                self.orders.burst_interval.map_or(u64::MAX, |every| now_ns + every.as_nanos() as u64);
        }
        if known.sample_ns == now_ns {
            let received = self.stations.iter().map(Station::received_bytes).collect();
            self.record.samples.push(Sample { at_ns: now_ns, received });
            self.agent_reports.listen(&mut self.stations);
            if known.step == 0 {
                self.record.rtt_ns = collect::mean_rtt_ns(&self.stations);
            }
            known.sample_ns = now_ns + SAMPLE.as_nanos() as u64;
        }
        Ok(())
    }

    /// Returns whether all messages have arrived, or progress has stopped for too long.
    fn is_over(&self, now_ns: u64, is_sending: bool) -> bool {
        let by_number = self.orders.messages.is_some();
        let quiet = now_ns - self.progress_ns > self.orders.patience.as_nanos() as u64;
        let done = if by_number { self.work.is_done() } else { !is_sending && self.work.in_flight() == 0 };
        done || quiet && (by_number || !is_sending)
    }

    /// Runs switches and stations up to a time, independently of each other.
    fn window(&mut self, now_ns: u64, end_ns: u64, is_sending: bool) {
        let (wiring, stations, deaths) = (&mut self.wiring, &mut self.stations, &mut self.deaths);
        let mut reached = Vec::new();
        self.switches.run_before(end_ns, |mut delivery| {
            match wiring.reaches(delivery.node, delivery.port, &mut delivery.frame) {
                Some((station, plane)) => {
                    stations[station].arrive(delivery.at_ns + CABLE_NS, plane, delivery.frame);
                    reached.push(station);
                }
                None => deaths.record_loss(delivery.at_ns, &delivery.frame, false),
            }
        });
        for lost in self.switches.take_lost() {
            deaths.record_loss(lost.at_ns, &lost.frame, lost.in_switch);
        }
        for station in reached {
            self.note(station);
        }
        let active: Vec<usize> =
            self.schedule.iter().take_while(|(at_ns, _)| *at_ns < end_ns).map(|(_, n)| *n as usize).collect();
        if active.len() < PARALLEL_FROM {
            for station in &active {
                self.stations[*station].run(end_ns);
            }
        } else {
            self.stations.par_iter_mut().with_min_len(16).for_each(|station| station.run(end_ns));
        }
        let mut free = BTreeSet::new();
        for station in active {
            for mut leaving in self.stations[station].take_sent_frames() {
                match self.wiring.leaves(&self.switches, (station, leaving.plane), &mut leaving.frame) {
                    Some(end) => self.switches.inject(leaving.at_ns + CABLE_NS, end, leaving.frame),
                    None => self.deaths.record_loss(leaving.at_ns, &leaving.frame, false),
                }
            }
            self.deaths.extend(self.stations[station].take_lost_packets());
            for arrived in self.stations[station].take_completions() {
                let message = &mut self.record.messages[arrived.message];
                message.took_ns = Some(arrived.at_ns - message.at_ns);
                message.packets = arrived.packets;
                self.work.record_arrival(station, arrived.number);
                self.progress_ns = now_ns;
                // In a ring, the receiver may now send its next message.
                free.extend([station, message.to]);
            }
            self.note(station);
        }
        self.order(end_ns, is_sending, free);
    }

    /// Submits every message that these stations may send.
    fn order(&mut self, now_ns: u64, is_sending: bool, stations: impl IntoIterator<Item = usize>) {
        let stuck = std::mem::take(&mut self.stuck);
        for (next, message) in stuck {
            self.send(next, message, now_ns);
        }
        for from in stations {
            while is_sending && let Some(next) = self.work.take(from) {
                let message = self.record.messages.len();
                let (from, to) = (next.from, next.to);
                self.record.messages.push(Message {
                    from,
                    to,
                    at_ns: now_ns,
                    took_ns: None,
                    packets: (0, 0),
                });
                self.progress_ns = now_ns;
                self.send(next, message, now_ns);
            }
        }
    }

    fn send(&mut self, next: NextMessage, message: usize, now_ns: u64) {
        let bytes = self.orders.message_bytes;
        // The contents depend on the offset in the region, so both ends use the same offset.
        let place = next.number % PLACES * bytes;
        let to = self.seats[next.to].address.octets();
        let order = (to, place, bytes, self.orders.unit);
        if self.stations[next.from].order(order, (next.number, message), now_ns) {
            self.note(next.from);
        } else {
            self.stuck.push((next, message));
        }
    }

    /// Returns the report. `ports` is the load of the pattern before the first fault, in units of a NIC port's rate.
    fn report(
        self,
        tree: &Tree,
        model: &Model,
        timeline: &Timeline,
        ports: Option<f64>,
    ) -> Result<Report, LabError> {
        let (seats, orders) = (self.seats, self.orders);
        let (record, switched) = self.finish(model, timeline)?;
        let names: Vec<String> = seats.iter().map(|seat| seat.name.clone()).collect();
        let mut report = Report::of(Setting::of(orders, names.len(), true), &names, timeline, &record);
        report.switches = Some(switched);
        let planes = tree.tables.first().map_or(0, |table| u64::from(table.table().header().planes));
        report.plan_mbps = ports.and_then(|ports| orders.full_mbps(ports, planes, HEADERS));
        Ok(report)
    }

    /// Completes the record, and reads the counters of switches.
    fn finish(mut self, model: &Model, timeline: &Timeline) -> Result<(Record, SwitchCounters), LabError> {
        self.agent_reports.listen(&mut self.stations);
        self.record.planes = collect::planes(&self.stations);
        self.record.wrong_bytes = self.stations.iter().map(Station::wrong_bytes).sum();
        self.record.repeated = self.stations.iter().map(Station::repeated).sum();
        let mut words = LossReports::default();
        self.agent_reports.tell(self.seats, &self.stations, (&mut self.record, &mut words));
        let packets = self.deaths.tell(&mut words, &mut self.record);
        let places: HashMap<Ipv6Addr, &JobEndpoint> =
            self.seats.iter().map(|seat| (seat.address, seat)).collect();
        let cables = |at: usize, _: &Loss| -> Vec<CableId> {
            let (from, list) = packets[at].path();
            let mut ports = places.get(&from).into_iter().flat_map(|seat| seat.ports.iter().flatten());
            // The list begins with the T0 of one plane, so only the port of that plane reaches it.
            let path = ports.find_map(|port| model.walk(*port, list).ok());
            path.map_or_else(Vec::new, |path| path.crossings.iter().map(|port| port.cable()).collect())
        };
        let Record { losses, marks, .. } = &mut self.record;
        StepFaults::of(&timeline.steps, model)?.charge(losses, marks, Witness::Exact, cables);
        Ok((self.record, self.switches.counters(model)?))
    }
}
