//! The channels of an agent, and which of them have work to do.
//!
//! In: channels and changes to them. Out: channels that are due. Invariants: a channel that may have changed is due. A
//! resting channel has no work before its next probe. So the cost of a loop turn grows with the work, not with the
//! number of far NICs.

use std::ops::{Index, IndexMut};

use crate::channel::Channel;

/// Due time of a channel that may have work now.
const NOW: u64 = 0;

/// All channels.
#[derive(Debug)]
pub(super) struct Channels {
    all: Vec<Channel>,
    /// Due time of each channel, in a separate array because eight of them fit into a cache line.
    due_ns: Vec<u64>,
}

impl Channels {
    pub(super) fn new(room: usize) -> Channels {
        Channels { all: Vec::with_capacity(room), due_ns: Vec::with_capacity(room) }
    }

    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    pub(super) fn get(&self, at: usize) -> Option<&Channel> {
        self.all.get(at)
    }

    pub(super) fn iter(&self) -> std::slice::Iter<'_, Channel> {
        self.all.iter()
    }

    /// Iterates mutably over all channels, which makes all of them due.
    pub(super) fn iter_mut(&mut self) -> std::slice::IterMut<'_, Channel> {
        self.due_ns.fill(NOW);
        self.all.iter_mut()
    }

    pub(super) fn push(&mut self, channel: Channel) {
        self.all.push(channel);
        self.due_ns.push(NOW);
    }

    pub(super) fn swap_remove(&mut self, at: usize) -> Channel {
        self.due_ns.swap_remove(at);
        self.all.swap_remove(at)
    }

    /// Returns the first due channel at or after an index.
    pub(super) fn next_due_channel(&self, at: usize, now_ns: u64) -> Option<usize> {
        let rest = self.due_ns.get(at..)?;
        rest.iter().position(|due_ns| *due_ns <= now_ns).map(|n| at + n)
    }

    /// Returns channels that may have work now.
    pub(super) fn awake(&self) -> impl Iterator<Item = &Channel> {
        self.all.iter().zip(&self.due_ns).filter(|(_, due_ns)| **due_ns == NOW).map(|(channel, _)| channel)
    }

    /// Returns whether a channel may have work now.
    pub(super) fn is_awake(&self, at: usize) -> bool {
        self.due_ns.get(at).is_some_and(|due_ns| *due_ns == NOW)
    }

    /// Returns the earliest due time of the resting channels.
    pub(super) fn earliest_due_ns(&self) -> Option<u64> {
        self.due_ns.iter().copied().filter(|due_ns| *due_ns != NOW).min()
    }

    /// Lets a channel rest until its next probe if it has no other work.
    pub(super) fn rest(&mut self, at: usize) {
        let channel = &self.all[at];
        self.due_ns[at] = if channel.is_busy() { NOW } else { channel.probe_at_ns.max(NOW + 1) };
    }
}

impl Index<usize> for Channels {
    type Output = Channel;

    fn index(&self, at: usize) -> &Channel {
        &self.all[at]
    }
}

/// Every mutable access wakes the channel.
impl IndexMut<usize> for Channels {
    fn index_mut(&mut self, at: usize) -> &mut Channel {
        self.due_ns[at] = NOW;
        &mut self.all[at]
    }
}

impl<'a> IntoIterator for &'a Channels {
    type Item = &'a Channel;
    type IntoIter = std::slice::Iter<'a, Channel>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<'a> IntoIterator for &'a mut Channels {
    type Item = &'a mut Channel;
    type IntoIter = std::slice::IterMut<'a, Channel>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter_mut()
    }
}

#[cfg(test)]
mod tests {
    use closc_paths::Table;
    use closc_paths_engine::{Capacity, Engine, Settings};

    use super::*;
    use crate::channel::Limits;
    use crate::schedule::tests::table;

    #[test]
    fn who_is_touched_is_due_and_who_has_nothing_to_do_rests_until_its_probe() {
        let bytes = table(0);
        let table = Table::open(&bytes).unwrap();
        let mut engine = Engine::new(&table, 0, Settings::default(), Capacity::of(&table, 4)).unwrap();
        let limits = Limits { planes: 2, window: 8, reorder_ns: 1000, reorder_bytes: 9000 };
        let mut channels = Channels::new(4);
        for nic in 1..=4u128 {
            let address = (table.header().pool | 2 << 64 | nic).to_be_bytes();
            // The group has only three NICs.
            let Ok(path) = engine.open(&table, address, 0) else { continue };
            let (to, _) = engine.destination(path).unwrap();
            channels.push(Channel::new(address, path, to, &limits, 100 * nic as u64));
        }
        let due = |channels: &Channels, now_ns| {
            let next = |at: &usize| channels.next_due_channel(at + 1, now_ns);
            std::iter::successors(channels.next_due_channel(0, now_ns), next).collect::<Vec<_>>()
        };
        assert_eq!((channels.len(), due(&channels, 1), channels.earliest_due_ns()), (3, vec![0, 1, 2], None));
        (0..3).for_each(|at| channels.rest(at));
        assert_eq!((due(&channels, 99), channels.earliest_due_ns()), (vec![], Some(100)));
        assert_eq!((due(&channels, 200), channels.awake().count()), (vec![0, 1], 0));
        channels[2].owe(None, 5);
        assert_eq!((due(&channels, 99), channels.is_awake(2)), (vec![2], true));
        channels.rest(2);
        assert_eq!(due(&channels, 99), [2], "an acknowledgement is owed");
        channels[2].pending_acks = 0;
        channels.rest(2);
        channels[0].probe_at_ns = 40;
        assert_eq!(due(&channels, 1), [0], "what was touched is looked at");
        channels.swap_remove(0);
        assert_eq!((channels.len(), due(&channels, 1), channels.earliest_due_ns()), (2, vec![], Some(200)));
        channels.iter_mut().for_each(|channel| channel.probe_at_ns = 7);
        assert_eq!(due(&channels, 1), [0, 1]);
    }
}
