//! Acknowledgements and trimmed packets: which packets arrived, which were lost, and why.
//!
//! In: acknowledgements, reports of trimmed packets. Out: pieces of writes that arrived or must be
//! retransmitted, window changes, path states. Invariants: a loss shrinks the window if queues of its plane
//! were full, or if packets of another queue overtook the packet. Such a loss counts against its path only if
//! other paths of the plane lose less. Any other loss counts against its path and does not change the window.

use std::net::Ipv6Addr;

use crate::agent::{Agent, AgentContext};
use crate::channel::{Channel, SUSPECTS};
use crate::congestion::Arrivals;
use crate::losses::Loss;
use crate::sent_log::{Cargo, PacketInFlight, Verdict};
use crate::wire::{Sack, TrimReport};

/// Packets whose arrival this acknowledgement is the first to report.
#[derive(Debug, Clone, Copy)]
struct NewAcknowledgements {
    packets: u32,
    /// Per plane, the shortest round trip, and the time at which that packet was sent.
    shortest: [(u64, u64); 32],
}

impl NewAcknowledgements {
    fn new() -> NewAcknowledgements {
        NewAcknowledgements { packets: 0, shortest: [(u64::MAX, 0); 32] }
    }

    fn take(&mut self, sent: &PacketInFlight, ran_ns: u64) {
        self.packets += 1;
        let rtt_ns = ran_ns.saturating_sub(sent.ran_ns);
        if let Some(shortest) = self.shortest.get_mut(usize::from(sent.plane)) {
            *shortest = (*shortest).min((rtt_ns, sent.ran_ns));
        }
    }

    /// Passes the result to the congestion control of a channel.
    fn pass(&self, channel: &mut Channel, (marked, under_way): (u32, u32)) {
        let rtt_ns = self.shortest.iter().map(|(rtt_ns, _)| *rtt_ns).min();
        let Some(rtt_ns) = rtt_ns.filter(|_| self.packets > 0) else { return };
        channel.congestion.handle_ack(&Arrivals {
            packets: self.packets,
            marked,
            rtt_ns,
            in_flight: under_way,
        });
        for (plane, (rtt_ns, sent_ns)) in
            (0..).zip(self.shortest).filter(|(_, (rtt_ns, _))| *rtt_ns < u64::MAX)
        {
            channel.congestion.record_rtt(plane, rtt_ns, sent_ns);
        }
    }
}

/// Updates the write whose piece the packet carried, if it carried one.
fn piece(channel: &mut Channel, cargo: &Cargo, what: impl FnOnce(&mut crate::writes::OutgoingWrite, u64)) {
    if let Cargo::Chunk { write, offset, .. } = cargo
        && let Some(leaving) = channel.outgoing_writes.iter_mut().find(|leaving| leaving.id == *write)
    {
        what(leaving, *offset);
    }
}

impl Agent {
    /// Returns the channel of a NIC if the message has the channel's epoch. The message then refers to packets of this
    /// channel.
    fn find_channel(&mut self, source: [u8; 16], epoch: u16) -> Option<usize> {
        let known = self.by_address.get(&source).copied();
        let channel = known.filter(|channel| self.channels[*channel].epoch == epoch);
        self.counters.stale += u64::from(channel.is_none());
        channel
    }

    /// Handles the report of a trimmed packet. Its contents are retransmitted. Its path is skipped once, unless the
    /// packet was trimmed at the last hop.
    pub(super) fn handle_trim(&mut self, at: &AgentContext<'_>, source: [u8; 16], cut: &TrimReport) {
        let Some(channel) = self.find_channel(source, cut.epoch) else { return };
        self.mark_alive(at, channel, cut.ports);
        let c = &mut self.channels[channel];
        let Some(sent) = c.sent.cut(cut.number) else { return };
        c.tally.cut += 1;
        c.congestion.crowd(sent.plane, sent.ran_ns);
        c.congestion.shrink(sent.number, c.sent.next_number());
        if !sent.again {
            piece(c, &sent.cargo, |leaving, offset| leaving.record_loss(offset, u8::MAX));
        }
        let path = c.path;
        self.engine.record_answer(path, sent.plane, sent.entropy, at.now_ns);
        if !cut.at_last_hop {
            self.engine.record_congestion(path, sent.plane, sent.entropy);
        }
    }

    /// Handles an acknowledgement.
    pub(super) fn sack(&mut self, at: &AgentContext<'_>, source: [u8; 16], sack: &Sack) {
        let Some(channel) = self.find_channel(source, sack.epoch) else { return };
        self.mark_alive(at, channel, sack.ports);
        let (now_ns, ran_ns) = (at.now_ns, self.clock.ran_ns());
        let mut verdicts = Vec::new();
        let ports = (0..self.ports.len()).map(|plane| sack.ports >> plane & 1).sum();
        let c = &mut self.channels[channel];
        let under_way = c.sent.in_flight();
        c.grant.report(sack.kbps, ports, now_ns);
        c.sent.handle_ack(sack, ran_ns, |verdict| verdicts.push(verdict));
        let mut reported = NewAcknowledgements::new();
        for verdict in &verdicts {
            match verdict {
                Verdict::Arrived(sent) => {
                    reported.take(sent, ran_ns);
                    c.tally.arrived += 1;
                    self.engine.record_answer(c.path, sent.plane, sent.entropy, now_ns);
                    piece(c, &sent.cargo, |leaving, offset| leaving.record_arrival(offset, now_ns));
                }
                Verdict::Late(sent) => {
                    c.tally.late += 1;
                    self.groups.late(c.group, sent.plane);
                    self.losses.push(Loss::late_arrival(Ipv6Addr::from(source), sent, now_ns));
                    self.engine.record_answer(c.path, sent.plane, sent.entropy, now_ns);
                    piece(c, &sent.cargo, |leaving, offset| leaving.record_arrival(offset, now_ns));
                }
                Verdict::Lost(_) | Verdict::Overtaken(_) => {}
            }
        }
        reported.pass(c, (sack.n_marks.into(), under_way));
        let path = c.path;
        for mark in sack.marks.iter().take(usize::from(sack.n_marks)) {
            self.engine.record_congestion(path, at.table.choice(*mark).plane, *mark);
        }
        // Losses are handled last, because the arrivals show how full the queues were.
        for verdict in &verdicts {
            match verdict {
                Verdict::Lost(sent) => self.handle_loss(at, channel, sent),
                Verdict::Overtaken(sent) => self.handle_overtaking(at, channel, sent),
                Verdict::Arrived(_) | Verdict::Late(_) => {}
            }
        }
    }

    /// Retransmits the contents of an overtaken packet. The packet was dropped by a full queue, waits in one,
    /// or was lost on its path. A probe does not wait in the queue of data, so its answer shows that the path is good.
    fn handle_overtaking(&mut self, at: &AgentContext<'_>, channel: usize, sent: &PacketInFlight) {
        let c = &mut self.channels[channel];
        if !sent.again {
            piece(c, &sent.cargo, |leaving, offset| leaving.record_loss(offset, sent.plane));
        }
        c.congestion.shrink(sent.number, c.sent.next_number());
        let suspect = (sent.plane, sent.entropy, false);
        if c.suspects.len() < SUSPECTS && !c.suspects.contains(&suspect) {
            c.suspects.push(suspect);
            c.probe_at_ns = at.now_ns;
        }
    }

    fn handle_loss(&mut self, at: &AgentContext<'_>, channel: usize, sent: &PacketInFlight) {
        let c = &mut self.channels[channel];
        (c.tally.lost, c.tally.last_lost_ns) = (c.tally.lost + 1, at.now_ns);
        self.losses.push(Loss::of(Ipv6Addr::from(c.address), sent, at.now_ns));
        let (kind, choice) = (c.to.kind, at.table.choice(sent.entropy));
        self.groups.record_loss(c.group, kind, (sent.plane, choice.t0_uplink));
        // Retransmissions and probes use other queues. Delays of data do not show how full these are, so such a queue
        // may have dropped the packet.
        let may_be_dropped = sent.overtaken || sent.overtakes;
        if may_be_dropped || c.congestion.is_crowded(sent.plane, sent.ran_ns) {
            c.congestion.shrink(sent.number, c.sent.next_number());
            self.engine.record_drop(c.path, sent.plane, sent.entropy, at.now_ns);
        } else {
            self.engine.record_loss(c.path, sent.plane, sent.entropy, at.now_ns);
        }
        if !sent.again {
            piece(c, &sent.cargo, |leaving, offset| leaving.record_loss(offset, sent.plane));
        }
        self.doubt_long(kind, choice);
    }
}
