//! Runs a control flow: table look-ups, branches, action calls.

use super::frame::{Frame, store};
use super::trace;
use crate::bits;
use crate::program::{KeySource, Node, Table as Spec, TableKind};
use crate::state::{ActionRef, DefaultAction, PacketSize, Profile, Table};

/// Maximum number of nodes per packet. Control flows of P4 have no loops, but handwritten documents may.
const MOST_NODES: usize = 1 << 16;

/// Buffers for keys, reused for all packets.
#[derive(Debug, Default)]
pub(crate) struct KeyRoom {
    key: Vec<u64>,
    masked_key: Vec<u64>,
}

/// The parts of a switch that a control flow uses.
pub(crate) struct Lookups<'t> {
    pub(crate) tables: &'t mut [Table],
    /// Action profiles.
    pub(crate) profiles: &'t [Profile],
    /// Buffers for keys.
    pub(crate) key_buffers: &'t mut KeyRoom,
}

impl Frame<'_> {
    /// Runs a control flow from a node.
    pub(crate) fn control(&mut self, start: Node, lookups: &mut Lookups) {
        let program = self.program;
        let mut node = start;
        for _ in 0..MOST_NODES {
            if self.packet.exit || self.packet.aborted {
                return;
            }
            node = match node {
                Node::End => return,
                Node::Table(at) => self.apply(at, lookups),
                Node::Conditional(at) => {
                    let found = &program.conditionals[at as usize];
                    if self.test(&found.cond) { found.yes } else { found.no }
                }
                Node::Call(at) => {
                    let call = &program.action_calls[at as usize];
                    self.run(&program.actions[call.action as usize].primitives);
                    call.next
                }
            };
        }
        tracing::error!("a control flow passed {MOST_NODES} nodes and does not end; the packet is dropped");
        self.packet.aborted = true;
    }

    fn apply(&mut self, at: u32, lookups: &mut Lookups) -> Node {
        let spec = &self.program.tables[at as usize];
        let table = &mut lookups.tables[at as usize];
        let traced = trace::on();
        let hit =
            if table.is_empty() && !traced { None } else { self.look_up(spec, table, lookups.key_buffers) };
        if traced {
            trace::looked_up(spec, &lookups.key_buffers.key, hit);
        }
        let Some(handle) = hit else {
            return self.miss(spec, &mut table.default);
        };
        let (now_ns, now_us, length) =
            (self.surroundings.now_ns, self.surroundings.now_us(), self.packet.ingress_length);
        let Some(entry) = table.get_mut(handle) else { return Node::End };
        if spec.counters {
            entry.counter.count(length);
        }
        if spec.ageing {
            entry.hit_ns = now_ns;
        }
        if let Some(target) = spec.meter {
            let size = PacketSize::new(length, self.program.meters[target.array as usize].bytes);
            let colour = entry.meter.get_or_insert_default().colour(size, now_us);
            store(self.words, &target.field, u128::from(colour));
        }
        match &entry.action {
            ActionRef::Direct { action, args, next } => {
                self.call(*action, args);
                *next
            }
            ActionRef::Member(slot) => self.indirect(spec, Some(*slot), lookups.profiles),
            ActionRef::Group(group) => {
                let slot = self.pick(spec, *group, lookups.profiles);
                self.indirect(spec, slot, lookups.profiles)
            }
        }
    }

    /// Processes a table miss. BMv2 counts and meters only hits, but P4Runtime requires the default entry to
    /// be counted like any other.
    fn miss(&mut self, spec: &Spec, default: &mut DefaultAction) -> Node {
        if spec.counters {
            default.counter.count(self.packet.ingress_length);
        }
        if let (Some(target), Some(meter)) = (spec.meter, &mut default.meter) {
            let by_bytes = self.program.meters[target.array as usize].bytes;
            let size = PacketSize::new(self.packet.ingress_length, by_bytes);
            let colour = meter.colour(size, self.surroundings.now_us());
            store(self.words, &target.field, u128::from(colour));
        }
        if let Some(action) = default.action {
            self.call(action, &default.args);
        }
        default.next
    }

    /// Calls the action of a profile's slot. As in BMv2, an empty group ends the control flow.
    fn indirect(&mut self, spec: &Spec, slot: Option<u32>, profiles: &[Profile]) -> Node {
        let TableKind::Indirect(profile) = spec.kind else { return Node::End };
        let found = slot.and_then(|slot| profiles[profile as usize].action(slot));
        let Some(member) = found else { return Node::End };
        self.call(member.action, &member.args);
        spec.next_on_hit(member.action)
    }

    fn pick(&mut self, spec: &Spec, group: u32, profiles: &[Profile]) -> Option<u32> {
        let TableKind::Indirect(profile) = spec.kind else { return None };
        let selector = self.program.profiles[profile as usize].selector.as_ref();
        let hash = selector.map_or(0, |selector| self.calculate(selector.calculation));
        profiles[profile as usize].pick(group, hash as u32)
    }

    fn call(&mut self, action: u16, args: &[u64]) {
        let program = self.program;
        if trace::on() {
            trace::calls(&program.actions[action as usize].name);
        }
        let mut inner = Frame {
            program,
            words: self.words,
            args,
            arrays: self.arrays,
            packet: self.packet,
            payload: self.payload,
            surroundings: self.surroundings,
        };
        inner.run(&program.actions[action as usize].primitives);
    }

    fn look_up(&self, spec: &Spec, table: &Table, room: &mut KeyRoom) -> Option<u32> {
        room.key.clear();
        for field in &spec.key {
            let start = room.key.len();
            match &field.source {
                KeySource::Valid(word) => room.key.push(word.map_or(1, |word| self.words[word as usize])),
                KeySource::Field { field: source, valid } => {
                    if valid.is_some_and(|word| self.words[word as usize] == 0) {
                        room.key.resize(start + field.words as usize, 0);
                    } else {
                        let words = &self.words[source.range()][..field.words as usize];
                        room.key.extend_from_slice(words);
                        if source.signed {
                            bits::truncate(&mut room.key[start..], field.bits as usize);
                        }
                    }
                }
            }
            if let Some(mask) = &field.mask {
                room.key[start..].iter_mut().zip(mask).for_each(|(word, mask)| *word &= mask);
            }
        }
        room.masked_key.resize(room.key.len(), 0);
        table.find(&room.key, &mut room.masked_key)
    }
}
