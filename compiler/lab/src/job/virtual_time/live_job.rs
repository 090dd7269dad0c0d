//! A job in virtual time that its caller advances, observes and breaks.
//!
//! In: a tree, orders, actions during the job. Out: counts of sent and received data, answers of agents, and a final
//! report as for a scenario with these actions. Invariants: only [`LiveJob::advance`] and [`LiveJob::finish`] advance
//! the time. An action that does not fit the fabric has no effect.

use std::net::Ipv6Addr;
use std::time::Duration;

use camino::Utf8Path;
use closc_nic::agent::PathView;
use closc_nic::api;
use closc_paths::Table;
use closc_switch::Corruption;
use serde_json::Value;

use super::super::endpoint::{JobEndpoint, seats};
use super::super::orders::{Orders, SAMPLE};
use super::super::record::{Mark, Sample};
use super::super::report::Report;
use super::super::run::{JobError, unit_fits};
use super::super::scenario::{Action, Scenario, Step};
use super::super::spread::Spread;
use super::super::timeline::{Timeline, UnrepairedFaults};
use super::station::Station;
use super::{CABLE_NS, Run, collect, fits};
use crate::LabError;
use crate::lab::fault::Fault;
use crate::model::Model;
use crate::progress::Watch;
use crate::tree::{Digests, Tree};

/// A job that runs until its caller ends it.
pub struct LiveJob<'a> {
    run: Run<'a>,
    tree: &'a Tree,
    model: &'a Model,
    active_faults: UnrepairedFaults,
    steps: Vec<Step>,
    now_ns: u64,
    sample_ns: u64,
}

/// Traffic so far.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TrafficTotals {
    /// Bytes of messages received, without duplicates.
    pub received: u64,
    /// Packets sent over each plane.
    pub planes: Vec<u64>,
    /// Packets lost on cables, in switches and at ports.
    pub lost: u64,
}

/// Runs a job in virtual time that `perform` advances. The job ends when `perform` returns.
pub fn live<R, E: From<JobError>>(
    folder: &Utf8Path,
    digests: Digests,
    orders: &Orders,
    watch: &Watch<'_>,
    perform: impl FnOnce(LiveJob<'_>) -> Result<R, E>,
) -> Result<R, E> {
    let lab = |error: LabError| E::from(JobError::from(error));
    let tree = Tree::read_with(folder, digests).map_err(lab)?;
    tree.needs_paths("a job in virtual time").map_err(lab)?;
    let model = Model::of(&tree).map_err(lab)?;
    let seats = seats(&tree, &model);
    fits(seats.len() as u64, orders).map_err(E::from)?;
    unit_fits(&tree, orders).map_err(E::from)?;
    let tables: Vec<Table<'_>> = tree.tables.iter().map(|table| table.table()).collect();
    let work = orders.work(seats.len());
    let run = Run::new((&tree, &model), &seats, &tables, orders, work, watch).map_err(lab)?;
    perform(LiveJob {
        run,
        tree: &tree,
        model: &model,
        active_faults: UnrepairedFaults::default(),
        steps: Vec::new(),
        now_ns: 0,
        sample_ns: 0,
    })
}

impl LiveJob<'_> {
    /// Returns the time of the job.
    pub fn now_ns(&self) -> u64 {
        self.now_ns
    }

    /// Returns its NICs.
    pub fn seats(&self) -> &[JobEndpoint] {
        self.run.seats
    }

    /// Returns the fabric.
    pub fn model(&self) -> &Model {
        self.model
    }

    /// Returns the current faults.
    pub fn faults(&self) -> Vec<Fault> {
        self.active_faults.faults()
    }

    /// Advances the time while NICs send.
    pub fn advance(&mut self, until_ns: u64) {
        while self.now_ns < until_ns {
            if self.now_ns >= self.sample_ns {
                self.sample();
            }
            self.pass(until_ns.min(self.sample_ns), true);
        }
    }

    /// Breaks or repairs an element of the fabric now.
    pub fn act(&mut self, action: &Action) -> Result<(), JobError> {
        let mut standing = self.active_faults.clone();
        standing.take(action, self.model).map_err(JobError::Action)?;
        self.active_faults = standing;
        let run = &mut self.run;
        run.wiring.change(&self.active_faults.faults(), self.now_ns, &mut run.switches, &mut run.stations)?;
        run.record.marks.push(Mark { span_ns: (self.now_ns, self.now_ns), failed: None });
        (0..run.stations.len()).for_each(|station| run.note(station));
        self.steps.push(Step {
            at: Duration::from_nanos(self.now_ns),
            place: (0, 0),
            action: action.clone(),
        });
        Ok(())
    }

    /// Lets the frames that cross a cable in one direction change bytes at random. `towards_nic` selects the direction
    /// from the upper end to the lower one. A share of 0 ends it. Such packets are not in the report as lost.
    pub fn corrupt(&mut self, cable: &str, towards_nic: bool, ppm: u32) -> Result<(), JobError> {
        let cable = self.model.cable(cable)?;
        let port = if towards_nic { cable.upper() } else { cable.lower() }.number();
        let corruption =
            (ppm > 0).then(|| Corruption::new(ppm, self.run.orders.seed ^ u64::from(port) << 32));
        self.run.wiring.set_corruption(port, corruption, &mut self.run.switches);
        Ok(())
    }

    /// Returns the traffic so far.
    pub fn traffic_totals(&self) -> TrafficTotals {
        let stations = &self.run.stations;
        TrafficTotals {
            received: stations.iter().map(Station::received_bytes).sum(),
            planes: collect::planes(stations),
            lost: self.run.deaths.count(),
        }
    }

    /// Sends a request to the agent of a NIC, as over its socket.
    pub fn ask(&mut self, seat: usize, request: &api::Request, unix: f64) -> Value {
        let line = serde_json::to_vec(request).unwrap_or_default();
        let (answer, _) = self.run.stations[seat].ask(self.now_ns, &line, unix);
        self.run.note(seat);
        match answer {
            api::Answer::Now(value) => value,
            api::Answer::WhenWritten(_) | api::Answer::AfterReload => Value::Null,
        }
    }

    /// Returns the paths from a NIC to another, each with the names of its cables.
    pub fn paths(&mut self, from: usize, to: Ipv6Addr) -> Vec<(PathView, Vec<String>)> {
        let (seats, model) = (self.run.seats, self.model);
        let cables = |path: &PathView| -> Vec<String> {
            let port = seats[from].ports.get(usize::from(path.plane)).copied().flatten();
            let walked = port.and_then(|port| model.walk(port, path.outer).ok());
            let crossings = walked.into_iter().flat_map(|path| path.crossings);
            crossings.map(|port| model.cable_name(port.cable()).to_owned()).collect()
        };
        let paths = self.run.stations[from].paths(self.now_ns, to);
        paths.into_iter().map(|path| (cables(&path), path)).map(|(cables, path)| (path, cables)).collect()
    }

    /// Ends the job: NICs do not start new messages, and those in flight arrive or time out.
    pub fn finish(mut self, title: &str) -> Result<Report, JobError> {
        let duration = Duration::from_nanos(self.now_ns);
        self.run.record.stop_ns = Some(self.now_ns);
        while !self.run.is_over(self.now_ns, false) {
            self.sample();
            self.pass(self.sample_ns, false);
        }
        self.sample();
        self.run.record.end_ns = self.now_ns;
        let LiveJob { run, tree, model, steps, .. } = self;
        let (seats, orders) = (run.seats, run.orders);
        let scenario = Scenario { title: title.to_owned(), steps, ..Scenario::quiet(duration) };
        let spread = Spread::new(tree, model, seats, orders.burst_interval.is_none());
        let timeline = Timeline::bind(&scenario, model, &spread, &run.work)?;
        let ports = spread.ports(&run.work);
        Ok(run.report(tree, model, &timeline, ports)?)
    }

    /// Advances the time, at most to the next sample.
    fn pass(&mut self, end_ns: u64, is_sending: bool) {
        if is_sending {
            self.run.order(self.now_ns, true, 0..self.run.stations.len());
        }
        loop {
            let first_ns = self.run.schedule.first().map_or(u64::MAX, |(at_ns, _)| *at_ns);
            let now_ns = first_ns.min(self.run.switches.next_ns());
            if now_ns >= end_ns {
                break;
            }
            self.run.window(now_ns, (now_ns + CABLE_NS).min(end_ns), is_sending);
        }
        self.now_ns = end_ns;
    }

    fn sample(&mut self) {
        let received = self.run.stations.iter().map(Station::received_bytes).collect();
        self.run.record.samples.push(Sample { at_ns: self.now_ns, received });
        self.run.agent_reports.listen(&mut self.run.stations);
        if self.steps.is_empty() {
            self.run.record.rtt_ns = collect::mean_rtt_ns(&self.run.stations);
        }
        self.sample_ns = self.now_ns + SAMPLE.as_nanos() as u64;
    }
}
