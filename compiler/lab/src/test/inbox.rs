//! Receives arrivals and records the result of each packet.

use crate::LabError;
use crate::backend::{Arrival, Backend, Sink};
use crate::model::{DeviceId, Model, PortId};
use crate::packet::{self, Packet, Tag};
use crate::traffic::PathRef;

/// Sends a packet over each path and returns their results.
pub(super) fn send(
    model: &Model,
    backend: &mut dyn Backend,
    paths: &[PathRef<'_>],
    batch: u32,
) -> Result<Vec<End>, LabError> {
    let tag = |number: usize| Tag { batch, number: number as u32 };
    let packets: Vec<_> = paths.iter().enumerate().map(|(at, path)| path.packet(tag(at))).collect();
    let mut inbox = Inbox {
        model,
        paths,
        packets: &packets,
        batch,
        ends: vec![End::default(); paths.len()],
        open: paths.len(),
    };
    backend.exchange(&packets, &mut inbox)?;
    Ok(inbox.ends)
}

/// Result of one packet.
#[derive(Debug, Clone, Default)]
pub(super) struct End {
    /// Number of intact arrivals at the right port.
    pub(super) correct: u32,
    /// Number of changed arrivals at the right port.
    pub(super) changed: u32,
    /// Wrong ports at which it arrived.
    pub(super) wrong: Vec<PortId>,
    /// Number of times that the right node accepted it.
    pub(super) accepted: u32,
    /// Other nodes that accepted it.
    pub(super) thieves: Vec<DeviceId>,
    /// Whether its node had no route for it.
    pub(super) unsent: bool,
    /// Whether the result is final.
    closed: bool,
}

impl End {
    /// Returns whether the packet was sent and did not arrive anywhere.
    pub(super) fn is_lost(&self) -> bool {
        !self.unsent
            && self.correct + self.changed + self.accepted == 0
            && self.wrong.is_empty()
            && self.thieves.is_empty()
    }
}

struct Inbox<'a, 'p> {
    model: &'a Model,
    paths: &'a [PathRef<'p>],
    packets: &'a [Packet],
    batch: u32,
    ends: Vec<End>,
    open: usize,
}

impl Inbox<'_, '_> {
    fn find(&self, payload: &[u8]) -> Option<usize> {
        let tag = packet::tag(payload)?;
        let number = tag.number as usize;
        (tag.batch == self.batch && number < self.paths.len()).then_some(number)
    }

    /// Closes a packet that was both observed on a wire and accepted. The kernel may report these in either order.
    fn close(&mut self, at: usize) {
        let end = &mut self.ends[at];
        let seen = end.correct + end.changed > 0 || !end.wrong.is_empty();
        if seen && end.accepted > 0 && !end.closed {
            end.closed = true;
            self.open -= 1;
        }
    }
}

impl Sink for Inbox<'_, '_> {
    fn report_arrival(&mut self, arrival: Arrival<'_>) {
        match arrival {
            Arrival::Wire { port, destination, inner } => {
                let Some(at) = self.find(packet::payload(inner)) else { return };
                let Ok(route) = &self.paths[at].route else { return };
                let last = route.segments.last().map(|(_, segment)| segment.prefix().network());
                let end = &mut self.ends[at];
                if port != route.end() {
                    end.wrong.push(port);
                } else if inner == self.packets[at].inner.as_slice() && Some(destination) == last {
                    end.correct += 1;
                } else {
                    end.changed += 1;
                }
                self.close(at);
            }
            Arrival::Accepted { node, payload } => {
                let Some(at) = self.find(payload) else { return };
                let Ok(route) = &self.paths[at].route else { return };
                if self.model.end(route.end()).0 != node {
                    self.ends[at].thieves.push(node);
                } else if payload == packet::payload(&self.packets[at].inner) {
                    self.ends[at].accepted += 1;
                    self.close(at);
                }
            }
        }
    }

    fn unsent(&mut self, packet: usize) {
        if let Some(end) = self.ends.get_mut(packet) {
            end.unsent = true;
            end.closed = true;
            self.open -= 1;
        }
    }

    fn is_complete(&self) -> bool {
        self.open == 0
    }
}
