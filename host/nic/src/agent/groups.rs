//! Packet counters per T0 group, independent of which NICs have a channel now.
//!
//! In: verdicts, channels as they close. Out: counters by destination group and plane, by own uplink and by state
//! change. Invariants: a counter never decreases, even when a channel closes. The number of groups is limited, and all
//! others share one row, so the size of the metrics is bounded.

use std::collections::BTreeMap;

use closc_paths::Kind;
use closc_paths_engine::State;

use crate::channel::Channel;

/// Maximum number of groups with their own counters. They are the first ones with traffic.
pub(super) const GROUPS_MAX: usize = 128;
/// Index of the row for all other groups.
const OTHERS: usize = 0;

/// Packets of one plane.
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
    /// Packets that left the log, or whose channel closed, before they were acknowledged or lost.
    pub(super) forgotten: u64,
}

impl GroupCount {
    /// Adds the counters of a channel.
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
    /// Zone and group of each row, both from 0; the first row is for all other groups.
    names: Vec<(u16, u16)>,
    counts: Vec<GroupCount>,
    /// Packets lost per own uplink, which is a cable to a T1. Contains only uplinks with losses.
    uplinks: BTreeMap<(u8, u16), u64>,
    /// State changes of paths, by new state and cause.
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

    /// Returns the row of a group, given its zone and number; adds one if necessary.
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

    /// Keeps the counters of a channel that is about to close.
    pub(super) fn close(&mut self, channel: &Channel) {
        let count = &mut self.counts[channel.group];
        count.add(channel);
        count.forgotten += channel.sent.undecided_packets().count() as u64;
    }

    /// Returns the number of packets of closed channels that were neither acknowledged nor lost.
    pub(super) fn forgotten(&self) -> u64 {
        self.counts.iter().map(|count| count.forgotten).sum()
    }

    /// Counts a lost packet by group, plane and outgoing uplink.
    pub(super) fn record_loss(&mut self, group: usize, kind: Kind, (plane, uplink): (u8, u16)) {
        if let Some(count) = self.counts[group].planes.get_mut(usize::from(plane)) {
            count.lost += 1;
        }
        // Packets within a group do not use uplinks.
        if kind != Kind::Local {
            *self.uplinks.entry((plane, uplink)).or_default() += 1;
        }
    }

    /// Counts a packet that was declared lost but arrived.
    pub(super) fn late(&mut self, group: usize, plane: u8) {
        if let Some(count) = self.counts[group].planes.get_mut(usize::from(plane)) {
            count.late += 1;
        }
    }

    /// Counts a state change of a path.
    pub(super) fn record_change(&mut self, now: State, cause: &'static str) {
        *self.changes.entry((now.name(), cause)).or_default() += 1;
    }

    /// Returns labels and counters of each group, including those of open channels.
    pub(super) fn with<'a>(&self, open: impl Iterator<Item = &'a Channel>) -> Vec<(String, GroupCount)> {
        let mut counts = self.counts.clone();
        for channel in open {
            counts[channel.group].add(channel);
        }
        let named = counts.into_iter().enumerate().map(|(place, count)| (self.label(place), count));
        // A small fabric has no row for other groups.
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
            groups.record_loss(place, Kind::Zone, (1, 3));
        }
        let rows = groups.with(std::iter::empty());
        assert_eq!(rows.len(), GROUPS_MAX + 1);
        assert_eq!((rows[0].0.as_str(), rows[0].1.planes[1].lost), ("zone=\"\",group=\"other\"", 172));
        assert_eq!((rows[1].0.as_str(), rows[1].1.planes[1].lost), ("zone=\"0\",group=\"1\"", 1));
        assert_eq!(groups.uplinks().collect::<Vec<_>>(), [(&(1, 3), &300)]);
    }
}
