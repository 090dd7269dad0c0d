//! Reports of agents about losses and path states, read before agents discard them.
//!
//! In: stations, at each sample. Out: path changes for a [`Record`], and reports of lost packets. Invariants: reports
//! that an agent discards before they are read are counted.

use std::collections::HashMap;
use std::net::Ipv6Addr;

use closc_nic::agent::EventView;
use closc_nic::losses::{ANSWER_MAX, Loss as AgentLoss};

use super::super::endpoint::JobEndpoint;
use super::super::record::{Change, Record};
use super::deaths::{LossReports, Packet};
use super::station::Station;

#[derive(Debug, Clone, Default)]
struct AgentReport {
    event: u64,
    loss: u64,
    events: Vec<EventView>,
    losses: Vec<AgentLoss>,
}

/// Reports read so far.
#[derive(Debug)]
pub(super) struct AgentReports {
    agents: Vec<AgentReport>,
    forgotten: u64,
}

impl AgentReports {
    pub(super) fn new(stations: usize) -> AgentReports {
        AgentReports { agents: vec![AgentReport::default(); stations], forgotten: 0 }
    }

    /// Reads the reports of every agent since the last call.
    pub(super) fn listen(&mut self, stations: &mut [Station<'_>]) {
        for (known, station) in self.agents.iter_mut().zip(stations) {
            let events: Vec<EventView> = station.agent.events_after(known.event).cloned().collect();
            if let Some(first) = events.first() {
                self.forgotten += first.number - known.event - 1;
            }
            known.event = events.last().map_or(known.event, |event| event.number);
            known.events.extend(events.into_iter().filter(|event| event.change.is_some()));
            loop {
                let losses = station.agent.losses_after(known.loss);
                if let Some(first) = losses.first() {
                    self.forgotten += first.number - known.loss - 1;
                }
                known.loss = losses.last().map_or(known.loss, |loss| loss.number);
                let more = losses.len() == ANSWER_MAX;
                known.losses.extend(losses.into_iter().filter(|loss| !loss.came));
                if !more {
                    break;
                }
            }
        }
    }

    /// Adds path changes to a record, and reports of lost packets to `words`.
    pub(super) fn tell(
        self,
        seats: &[JobEndpoint],
        stations: &[Station<'_>],
        (record, words): (&mut Record, &mut LossReports),
    ) {
        let numbers: HashMap<Ipv6Addr, usize> =
            seats.iter().enumerate().map(|(at, seat)| (seat.address, at)).collect();
        record.forgotten = self.forgotten;
        record.unanswered = stations.iter().map(|station| station.agent.silence().others).sum();
        for (from, known) in self.agents.into_iter().enumerate() {
            for loss in known.losses {
                let Some(to) = numbers.get(&loss.to).copied() else { continue };
                if let Some(list) = stations[from].list(loss.to, loss.entropy) {
                    words.record_loss(Packet::from_loss(seats[from].address, list, &loss), (from, to), &loss);
                }
            }
            for event in known.events {
                let Some(change) = event.change else { continue };
                let Some(to) = numbers.get(&change.to).copied() else { continue };
                let states = (change.from, change.now);
                record.changes.push(Change { from, to, entropy: change.entropy, states, at_ns: event.at_ns });
            }
        }
    }
}

/// Returns the mean round-trip time of all pairs that exchanged packets.
pub(super) fn mean_rtt_ns(stations: &[Station<'_>]) -> u64 {
    let (mut sum, mut count) = (0, 0);
    for rtt_ns in stations.iter().flat_map(|station| station.agent.round_trips()) {
        (sum, count) = (sum + rtt_ns, count + 1);
    }
    sum / count.max(1)
}

/// Returns the number of packets sent over each plane.
pub(super) fn planes(stations: &[Station<'_>]) -> Vec<u64> {
    let mut planes = Vec::new();
    for station in stations {
        planes.resize(planes.len().max(station.planes().len()), 0);
        planes.iter_mut().zip(station.planes()).for_each(|(sum, sent): (&mut u64, _)| *sum += sent);
    }
    planes
}
