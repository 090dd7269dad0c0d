//! Compact storage of cables. There can be millions of them, so common values are stored only once.
//!
//! In: cables, list by list, each with its line. Out: a [`Cable`] by its number, and its line. Invariants: storage is
//! lossless for everything that a list can contain.

use hashbrown::HashMap;

use super::{Cable, CableId, DeviceId, End, Kind, NodeId, Side, SwitchId};
use crate::model::names::Name;

/// All cables by number.
#[derive(Debug, Clone, Default)]
pub(crate) struct Cables {
    rows: Vec<Row>,
    sorts: Vec<CableValues>,
    numbers: HashMap<CableValues, u32>,
    /// Exceptions to consecutive lines: a cable index and its line.
    lines: Vec<(u32, u32)>,
}

/// One cable, with its lower end first.
#[derive(Debug, Clone, Copy)]
struct Row {
    devices: [Device; 2],
    ports: [Name; 2],
    slots: [u16; 2],
    /// Index in [`Cables::sorts`].
    kind_index: u32,
}

/// Values that many cables share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own, and files state them apart")]
struct CableValues {
    meters: u32,
    plane: u8,
    kind: Kind,
    drained: bool,
    isolated: bool,
    copper: bool,
    uncoded: bool,
}

/// A device as one number: twice its index among switches or nodes, plus one for a node.
#[derive(Debug, Clone, Copy)]
struct Device(u32);

impl Device {
    fn of(party: DeviceId) -> Self {
        let (place, node) = match party {
            DeviceId::Switch(switch) => (switch.0, 0),
            DeviceId::Node(node) => (node.0, 1),
        };
        Device(place.checked_mul(2).expect("a fabric has fewer than 2^31 devices") | node)
    }

    #[inline]
    fn party(self) -> DeviceId {
        let place = self.0 >> 1;
        if self.0 & 1 == 0 { DeviceId::Switch(SwitchId(place)) } else { DeviceId::Node(NodeId(place)) }
    }
}

impl Cables {
    /// Appends a cable; `line` is its line in its list.
    pub(crate) fn push(&mut self, cable: &Cable, line: u32) {
        let Cable { meters, plane, kind, drained, isolated, copper, uncoded, lower, upper } = *cable;
        let sort = self.intern(CableValues { meters, plane, kind, drained, isolated, copper, uncoded });
        let ends = [lower, upper];
        let at = self.rows.len() as u32;
        if self.rows.is_empty() || self.line(CableId(at)) != line {
            self.lines.push((at, line));
        }
        self.rows.push(Row {
            devices: ends.map(|end| Device::of(end.party)),
            ports: ends.map(|end| end.port),
            slots: ends.map(|end| end.slot),
            kind_index: sort,
        });
    }

    /// Returns the index of the shared values, which usually equal those of the previous cable.
    fn intern(&mut self, sort: CableValues) -> u32 {
        if let Some(last) = self.rows.last().filter(|row| self.sorts[row.kind_index as usize] == sort) {
            return last.kind_index;
        }
        let next = self.sorts.len() as u32;
        let number = *self.numbers.entry(sort).or_insert(next);
        if number == next {
            self.sorts.push(sort);
        }
        number
    }

    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    #[inline]
    pub(crate) fn get(&self, id: CableId) -> Cable {
        let row = &self.rows[id.0 as usize];
        let CableValues { meters, plane, kind, drained, isolated, copper, uncoded } =
            self.sorts[row.kind_index as usize];
        let end = |side: usize| End {
            party: row.devices[side].party(),
            port: row.ports[side],
            slot: row.slots[side],
        };
        Cable { meters, plane, kind, drained, isolated, copper, uncoded, lower: end(0), upper: end(1) }
    }

    /// Returns the device at one end of a cable.
    #[inline]
    pub(crate) fn party(&self, id: CableId, side: Side) -> DeviceId {
        self.rows[id.0 as usize].devices[side as usize].party()
    }

    /// Returns the line of a cable in its list. For the index after the last cable, returns the line after the last
    /// line.
    pub(crate) fn line(&self, id: CableId) -> u32 {
        let run = self.lines.partition_point(|(first, _)| *first <= id.0).saturating_sub(1);
        let (first, line) = self.lines[run];
        line + (id.0 - first)
    }

    /// Sets the slot of one end of a cable.
    pub(crate) fn set_slot(&mut self, id: CableId, side: Side, slot: u16) {
        self.rows[id.0 as usize].slots[side as usize] = slot;
    }

    /// Renumbers nodes and releases spare memory.
    pub(crate) fn finish(mut self, nodes: &[u32]) -> Self {
        for device in self.rows.iter_mut().flat_map(|row| &mut row.devices) {
            if let DeviceId::Node(node) = device.party() {
                *device = Device::of(DeviceId::Node(NodeId(nodes[node.0 as usize])));
            }
        }
        self.rows.shrink_to_fit();
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::names::Names;

    #[test]
    fn what_comes_out_is_what_was_put_in() {
        assert!(size_of::<Row>() <= 24, "{}", size_of::<Row>());
        let mut names = Names::default();
        let mut end = |party, port: &str, slot| End { party, port: names.intern(port), slot };
        let switch = DeviceId::Switch(SwitchId((1 << 31) - 1));
        let mut all = Vec::new();
        for (meters, plane, drained) in [(3, 0, false), (u32::MAX, 255, true), (3, 0, false), (3, 0, true)] {
            let lower = end(DeviceId::Node(NodeId(meters >> 1)), "nic0p0", u16::MAX);
            let upper = end(switch, "Ethernet8", 1);
            let kind = if drained { Kind::T1T2 } else { Kind::NicT0 };
            let isolated = drained && meters == 3;
            all.push(Cable {
                meters,
                plane,
                kind,
                drained,
                isolated,
                copper: !drained,
                uncoded: false,
                lower,
                upper,
            });
        }
        let (mut cables, lines) = (Cables::default(), [2, 3, 7, 2]);
        all.iter().zip(lines).for_each(|(cable, line)| cables.push(cable, line));
        let ids = || (0..4).map(CableId);
        assert_eq!(ids().map(|id| cables.get(id)).collect::<Vec<_>>(), all);
        assert_eq!(ids().map(|id| cables.line(id)).collect::<Vec<_>>(), lines);
        assert_eq!((cables.sorts.len(), cables.lines.len()), (3, 3), "what is alike is there once");
        assert_eq!(cables.party(CableId(1), Side::Upper), switch);
        cables.set_slot(CableId(2), Side::Upper, 9);
        assert_eq!((cables.get(CableId(2)).upper.slot, cables.get(CableId(2)).lower.slot), (9, u16::MAX));
    }

    #[test]
    fn nodes_get_other_numbers() {
        let mut names = Names::default();
        let port = names.intern("a");
        let end = |party| End { party, port, slot: 0 };
        let mut cables = Cables::default();
        for node in 0..2 {
            let (lower, upper) = (end(DeviceId::Node(NodeId(node))), end(DeviceId::Switch(SwitchId(1))));
            let (meters, plane, kind, drained, isolated) = (1, 0, Kind::NicT0, false, false);
            cables.push(
                &Cable { meters, plane, kind, drained, isolated, copper: true, uncoded: false, lower, upper },
                node + 2,
            );
        }
        let cables = cables.finish(&[7, 5]);
        let parties =
            [0, 1].map(|at| cables.get(CableId(at))).map(|cable| (cable.lower.party, cable.upper.party));
        let upper = DeviceId::Switch(SwitchId(1));
        assert_eq!(parties, [(DeviceId::Node(NodeId(7)), upper), (DeviceId::Node(NodeId(5)), upper)]);
    }
}
