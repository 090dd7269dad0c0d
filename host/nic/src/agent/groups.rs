//! Packets to and from NICs of each T0 group, whichever of them have a channel now.
//!
//! In: verdicts, channels that are closed. Out: counters by destination group and plane, by own uplink, by change of state.
//! Invariants: a counter never goes back, also when a channel is closed; there are so many groups at most, and the rest are
//! counted together, so what is served does not grow with the fabric.

use std::collections::BTreeMap;

use closc_paths::Kind;
use closc_paths_engine::State;

use crate::channel::Channel;

/// Groups that are counted apart: the first that packets went to or came from.
pub(super) const GROUPS_MAX: usize = 128;
/// The place of all others.
const OTHERS: usize = 0;

/// Packets of a plane.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct PlaneCount {
    pub(super) sent: u64,
    pub(super) lost: u64,
    pub(super) late: u64,
}

/// Packets to and from NICs of a group.
#[derive(Debug, Clone, Default)]
pub(super) struct GroupCount {
    pub(super) planes: Vec<PlaneCount>,
    pub(super) received: u64,
    pub(super) cut: u64,
    pub(super) reordered: u64,
    pub(super) missed: u64,
    pub(super) duplicates: u64,
    /// Packets whose fate is not known: too many were under way.
    pub(super) forgotten: u64,
}

impl GroupCount {
    /// Adds what a channel counted.
    pub(super) fn add(&mut self, channel: &Channel) {
        for (count, sent) in self.planes.iter_mut().zip(&channel.tally.sent) {
            count.sent += sent;
        }
        self.received += channel.tally.received;
        self.cut += channel.tally.cut;
        self.reordered += channel.reorder.reordered;
        self.missed += channel.reorder.missed;
        self.duplicates += channel.reorder.duplicates;
        self.forgotten += channel.sent.forgotten();
    }
}

/// All groups.
#[derive(Debug)]
pub(super) struct Groups {
    planes: usize,
    /// Zone and group of each, both from 0; the first stands for all others.
    names: Vec<(u16, u16)>,
    counts: Vec<GroupCount>,
    /// Packets lost over each own uplink, which is a cable to a T1: those that lost any.
    uplinks: BTreeMap<(u8, u16), u64>,
    /// Changes of state of paths, by what they are and why.
    changes: BTreeMap<(&'static str, &'static str), u64>,
}

impl Groups {
    pub(super) fn new(planes: usize) -> Groups {
        let count = GroupCount { planes: vec![PlaneCount::default(); planes], ..GroupCount::default() };
        Groups {
            planes,
            names: vec![(0, 0)],
            counts: vec![count],
            uplinks: BTreeMap::new(),
            changes: BTreeMap::new(),
        }
    }

    /// Finds the place of a group, by its zone and its number, or gives it one.
    pub(super) fn place(&mut self, name: (u16, u16)) -> usize {
        if let Some(known) = (1..self.names.len()).find(|place| self.names[*place] == name) {
            return known;
        }
        if self.names.len() > GROUPS_MAX {
            return OTHERS;
        }
        self.names.push(name);
        let planes = vec![PlaneCount::default(); self.planes];
        self.counts.push(GroupCount { planes, ..GroupCount::default() });
        self.names.len() - 1
    }

    /// Keeps what a channel counted that is about to be closed.
    pub(super) fn close(&mut self, channel: &Channel) {
        let count = &mut self.counts[channel.group];
        count.add(channel);
        count.forgotten += channel.sent.without_verdict().count() as u64;
    }

    /// Returns packets to NICs whose channels were closed of which nobody said what became of them.
    pub(super) fn forgotten(&self) -> u64 {
        self.counts.iter().map(|count| count.forgotten).sum()
    }

    /// Counts a packet that was lost, by its group, its plane and the uplink that it left by.
    pub(super) fn lost(&mut self, group: usize, kind: Kind, (plane, uplink): (u8, u16)) {
        if let Some(count) = self.counts[group].planes.get_mut(usize::from(plane)) {
            count.lost += 1;
        }
        // Inside a group nothing leaves by an uplink.
        if kind != Kind::Local {
            *self.uplinks.entry((plane, uplink)).or_default() += 1;
        }
    }

    /// Counts a packet that was called lost and arrived.
    pub(super) fn late(&mut self, group: usize, plane: u8) {
        if let Some(count) = self.counts[group].planes.get_mut(usize::from(plane)) {
            count.late += 1;
        }
    }

    /// Counts a change of state of a path.
    pub(super) fn changed(&mut self, now: State, cause: &'static str) {
        *self.changes.entry((now.name(), cause)).or_default() += 1;
    }

    /// Labels and counters of each group, with what open channels counted.
    pub(super) fn with<'a>(&self, open: impl Iterator<Item = &'a Channel>) -> Vec<(String, GroupCount)> {
        let mut counts = self.counts.clone();
        for channel in open {
            counts[channel.group].add(channel);
        }
        let named = counts.into_iter().enumerate().map(|(place, count)| (self.label(place), count));
        // Of a small fabric there are no others.
        let is_there = |(place, _): &(usize, _)| *place != OTHERS || self.names.len() > GROUPS_MAX;
        named.enumerate().filter(is_there).map(|(_, named)| named).collect()
    }

    /// The labels of a group.
    pub(super) fn label(&self, place: usize) -> String {
        match place {
            OTHERS => "zone=\"\",group=\"other\"".to_owned(),
            _ => format!("zone=\"{}\",group=\"{}\"", self.names[place].0, self.names[place].1 + 1),
        }
    }

    pub(super) fn uplinks(&self) -> impl Iterator<Item = (&(u8, u16), &u64)> {
        self.uplinks.iter()
    }

    pub(super) fn changes(&self) -> impl Iterator<Item = (&(&'static str, &'static str), &u64)> {
        self.changes.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_beyond_the_last_are_counted_together() {
        let mut groups = Groups::new(2);
        let places: Vec<usize> = (0..300).map(|group| groups.place((0, group))).collect();
        assert_eq!((places[0], places[127], places[128], places[299]), (1, 128, OTHERS, OTHERS));
        assert_eq!(groups.place((0, 5)), 6);
        for group in 0..300 {
            let place = groups.place((0, group));
            groups.lost(place, Kind::Zone, (1, 3));
        }
        let rows = groups.with(std::iter::empty());
        assert_eq!(rows.len(), GROUPS_MAX + 1);
        assert_eq!((rows[0].0.as_str(), rows[0].1.planes[1].lost), ("zone=\"\",group=\"other\"", 172));
        assert_eq!((rows[1].0.as_str(), rows[1].1.planes[1].lost), ("zone=\"0\",group=\"1\"", 1));
        assert_eq!(groups.uplinks().collect::<Vec<_>>(), [(&(1, 3), &300)]);
    }
}
