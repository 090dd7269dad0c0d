//! Long probes, which show whether full-length packets pass where short ones do.
//!
//! In: sent short probes, results of long ones, losses of data. Out: long probes, events, paths that are no longer
//! used. Invariants: a long probe follows a short one, and its loss counts only if the short one returned. On ports
//! with a rate, long probes use at most a fixed share of it. A [`TurnPoint`] that loses long packets is good again only
//! after a full-length probe over it returns.

use closc_paths::{Choice, Kind};

use crate::agent::{Agent, AgentContext, place_of};
use crate::batch::Batch;
use crate::long_probes::LongProbeView;
use crate::probes::Target;
use crate::schedule::TurnPoint;
use crate::wire::{ETHERNET_LEN, HEADER_LEN, Message, SELF_PROBE_BYTES, SelfProbe};

/// Bytes of an outer IPv6 header.
const OUTER: u16 = (HEADER_LEN - ETHERNET_LEN) as u16;
/// Maximum length of a packet of an agent.
const PACKET_MAX: u16 = 9_500;
/// On ports with a configured rate, long probes to switches use at most 1/SHARE of it.
const SHARE: u64 = 256;
/// Longest time that a long probe waits for a port that is busy with data.
const PATIENCE_NS: u64 = 500_000_000;

impl Agent {
    /// Returns the length of a long probe's IP packet, in bytes; `None` if long probes are disabled.
    pub(super) fn long_len(&self, at: &AgentContext<'_>) -> Option<u16> {
        let mtu = at.table.header().mtu.saturating_add(OUTER);
        let len = self.options.long_probe_bytes.unwrap_or(mtu).min(PACKET_MAX);
        (len > SELF_PROBE_BYTES).then_some(len)
    }

    /// Sends a long probe after a short one to the same switch, if one is due.
    pub(super) fn probe_long(
        &mut self,
        at: &AgentContext<'_>,
        (turn, place): (TurnPoint, usize),
        (outer, probe): (&[u8; 16], SelfProbe),
        batch: &mut Batch,
    ) {
        let Some(full) = self.long_len(at) else { return };
        let plane = turn.plane();
        let ready_ns = self.long_ready_ns.get(usize::from(plane)).copied().unwrap_or_default();
        let Some((_, record)) = self.records.get_mut(place).filter(|(other, _)| *other == turn) else {
            return;
        };
        if !record.long.is_due() || ready_ns > at.now_ns || batch.free_frames() == 0 {
            return;
        }
        // Data goes first, but the probe does not wait forever.
        let is_free = self.pace.ready_at(plane, at.now_ns) <= at.now_ns;
        if !is_free && at.now_ns < ready_ns + PATIENCE_NS {
            return;
        }
        let Some((_, record)) = self.records.get_mut(place) else { return };
        let len = record.long.next_len(SELF_PROBE_BYTES, full);
        let target = Target::Long(turn, place, len);
        let Some(id) = self.probes.register(target, self.clock.ran_ns(), at.now_ns) else { return };
        self.counters.long_probes += 1;
        let (own, message) = (self.address, Message::SelfProbe(SelfProbe { id, ..probe }));
        self.send_padded(batch, (plane, u32::from(probe.uplink), outer), (&own, &message), len);
        if let (Some(mbps), Some(ready)) =
            (self.options.port_mbps, self.long_ready_ns.get_mut(usize::from(plane)))
        {
            *ready = at.now_ns + u64::from(len) * 8_000 * SHARE / u64::from(mbps.max(1));
        }
    }

    /// Handles the result of a long probe to a switch.
    pub(super) fn long_result(
        &mut self,
        at: &AgentContext<'_>,
        (turn, place, len): (TurnPoint, usize, u16),
        returned: bool,
    ) {
        let Some(full) = self.long_len(at) else { return };
        // The schedule may have changed if a table was loaded since the probe was sent.
        let is_there = self.records.get(place).is_some_and(|(other, _)| *other == turn);
        let place = if is_there { Some(place) } else { place_of(&self.records, turn) };
        let Some(place) = place else { return };
        let record = &mut self.records[place].1;
        // If short probes are lost too, packet length is not the cause.
        if !returned && !record.is_good() {
            return;
        }
        let was_narrow = record.long.is_narrow();
        record.long.result(len, full, returned);
        match (was_narrow, record.long.is_narrow()) {
            (false, true) => self.exclude_narrow_paths(at, turn, full),
            (true, false) => {
                let text = format!("{}: packets of {full} bytes pass", name(turn));
                self.event(at.now_ns, text);
            }
            (false, false) | (true, true) => {}
        }
    }

    /// Stops using paths over a switch or cable that passes only short packets. Each path is used again after
    /// a long probe over it returns.
    fn exclude_narrow_paths(&mut self, at: &AgentContext<'_>, turn: TurnPoint, full: u16) {
        let text = format!("{}: short probes return, but packets of {full} bytes do not", name(turn));
        self.event(at.now_ns, text);
        match turn {
            // If no other plane passes long packets, all paths stay in use.
            TurnPoint::T0 { plane } if !self.is_wide_beside(plane) => {}
            TurnPoint::T0 { plane } => {
                for c in self.channels.iter().filter(|c| c.alive_ns.is_some()) {
                    self.engine.doubt(c.path, plane, at.now_ns);
                }
            }
            TurnPoint::T1 { plane, uplink } => self.engine.fail_uplink(plane, uplink, at.now_ns),
            TurnPoint::T2 { plane, uplink, t1_uplink } => {
                let parallel = at.table.header().parallel0.max(1);
                let first = uplink - uplink % parallel;
                let uplinks = (first, first + parallel - 1);
                self.engine.fail_t1_uplink(plane, uplinks, t1_uplink, at.now_ns);
            }
        }
    }

    /// Returns whether the port of another plane passes long packets.
    fn is_wide_beside(&self, plane: u8) -> bool {
        self.records.iter().any(|(turn, record)| {
            let is_other = matches!(turn, TurnPoint::T0 { plane: other } if *other != plane);
            is_other && record.is_good() && record.long.passes()
        })
    }

    /// Schedules long probes at the switches of a path that lost data, because the path may lose only long packets.
    pub(super) fn doubt_long(&mut self, kind: Kind, choice: Choice) {
        let Choice { plane, t0_uplink: uplink, t1_uplink } = choice;
        let turns = [
            TurnPoint::T0 { plane },
            TurnPoint::T1 { plane, uplink },
            TurnPoint::T2 { plane, uplink, t1_uplink },
        ];
        let n = match kind {
            Kind::Local => 1,
            Kind::Zone => 2,
            Kind::Far => 3,
        };
        for turn in &turns[..n] {
            if let Some(place) = place_of(&self.records, *turn) {
                self.records[place].1.long.doubt();
            }
        }
    }

    /// Returns the turn points for which full-length packets are lost or untested; `None` if long probes are
    /// disabled.
    pub(super) fn long_view(&self, at: &AgentContext<'_>) -> Option<Vec<LongProbeView>> {
        self.long_len(at)?;
        let open = self.records.iter().filter(|(_, record)| !record.long.passes());
        let view = |(turn, record): &(TurnPoint, crate::localise::Record)| {
            let (uplink, t1_uplink) = match *turn {
                TurnPoint::T0 { .. } => (None, None),
                TurnPoint::T1 { uplink, .. } => (Some(uplink), None),
                TurnPoint::T2 { uplink, t1_uplink, .. } => (Some(uplink), Some(t1_uplink)),
            };
            let lost = record.long.in_a_row;
            let (passes, loses) = record.long.bounds(SELF_PROBE_BYTES);
            let bound = |bytes| (lost > 0).then_some(bytes);
            LongProbeView {
                plane: turn.plane(),
                tier: turn.tier(),
                uplink,
                t1_uplink,
                lost,
                passes_bytes: bound(passes),
                loses_bytes: bound(loses),
            }
        };
        Some(open.map(view).collect())
    }

    /// Reports to the engine that a probe over a path was answered.
    pub(super) fn path_answered(
        &mut self,
        at: &AgentContext<'_>,
        (address, plane, entropy): ([u8; 16], u8, u32),
        is_long: bool,
    ) {
        let Some(channel) = self.by_address.get(&address) else { return };
        let path = self.channels[*channel].path;
        if is_long || self.long_len(at).is_none() {
            self.engine.record_answer(path, plane, entropy, at.now_ns);
        } else {
            self.engine.record_short_answer(path, plane, entropy, at.now_ns);
        }
    }
}

fn name(turn: TurnPoint) -> String {
    match turn {
        TurnPoint::T0 { plane } => format!("plane {plane}"),
        TurnPoint::T1 { plane, uplink } => format!("plane {plane} uplink {uplink}"),
        TurnPoint::T2 { plane, uplink, t1_uplink } => {
            format!("plane {plane} uplink {uplink} T1 uplink {t1_uplink}")
        }
    }
}
