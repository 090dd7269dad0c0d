//! Memory for far NICs, and the order in which they are replaced.
//!
//! In: an address. Out: its channel, or the reason for not having one. Invariants: the least recently used
//! far NIC without pending traffic is replaced. Outgoing writes never use all channels, so that incoming ones
//! can finish. Memory beyond each channel's minimum has a limit for all channels together, and goes to the
//! busiest NICs.

use std::collections::VecDeque;

use closc_budget::{Account, ChargeError};
use closc_paths::Table;
use closc_paths_engine::Capacity;

use crate::agent::{Agent, AgentContext, Options, WriteView};
use crate::channel::{Channel, Limits};
use crate::wire::Chunk;
use crate::writes::{ARRIVING_BYTES, Place, Tally};

/// Memory for idle channels. It determines the default number of channels.
const CHANNELS_BYTES: usize = 3 << 20;
/// Minimum and maximum of that default.
const CHANNELS_MIN: usize = 16;
const CHANNELS_MAX: usize = 1024;
/// Memory for packets in flight, beyond each channel's minimum, for all far NICs together.
const WIDE_BYTES: usize = 2 << 20;
/// Memory for incoming writes, for all far NICs together.
const ARRIVING_ALL_BYTES: usize = 2 << 20;
/// If `WIDE_BYTES` is used up, idle channels are shrunk at most once per this time.
const NARROW_NS: u64 = 10_000_000;
/// A channel that was idle for this long may be shrunk to its minimum.
const NARROW_AFTER_NS: u64 = 100_000_000;
/// Number of stored incoming writes of closed channels. They are used to detect duplicate pieces, and to answer queries
/// of their status.
const PAST_MAX: usize = 1024;
/// Maximum number of these per NIC. Peers ask about the most recent ones.
const PAST_OF_ONE: usize = 8;
/// Number of stored outgoing writes of closed channels.
const DONE_MAX: usize = 512;

/// The reason why an address has no channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NoChannel {
    /// The address does not belong to a NIC of the fabric.
    Stranger,
    /// All channels have pending traffic.
    Crowded,
}

/// Limits of the memory for far NICs, and its current use.
#[derive(Debug)]
pub(super) struct ChannelMemory {
    /// Maximum number of far NICs at a time.
    pub(super) channels: usize,
    /// Memory of channels beyond their minimum.
    wide_bytes: usize,
    /// Memory of incoming writes per far NIC.
    incoming_writes: Account<[u8; 16]>,
    last_narrowing_ns: u64,
    /// Number of channels opened so far. It is part of the epoch, because packet numbers restart in each channel.
    opened: u16,
    /// Completed writes from NICs that were replaced.
    past: VecDeque<([u8; 16], u64, u64)>,
    /// Own writes to NICs that were replaced.
    closed_writes: VecDeque<(WriteView, Tally)>,
}

impl ChannelMemory {
    pub(super) fn new(table: &Table<'_>, options: &Options) -> ChannelMemory {
        ChannelMemory {
            channels: options.channels.unwrap_or_else(|| channels_of(table)).max(2),
            wide_bytes: 0,
            incoming_writes: Account::new(ARRIVING_BYTES, ARRIVING_ALL_BYTES),
            last_narrowing_ns: 0,
            opened: 0,
            past: VecDeque::new(),
            closed_writes: VecDeque::new(),
        }
    }

    /// Returns the maximum number of far NICs with outgoing writes; the rest is reserved for incoming ones.
    pub(super) fn senders(&self) -> usize {
        self.channels - (self.channels / 4).max(1)
    }

    /// Returns the record of an own write whose channel is closed.
    pub(super) fn closed_write(&self, id: u64) -> Option<&(WriteView, Tally)> {
        self.closed_writes.iter().find(|(write, _)| write.write == id)
    }
}

/// Returns the memory of a far NIC without traffic, in bytes.
pub fn channel_bytes(table: &Table<'_>) -> usize {
    Capacity::of(table, 1).destination_bytes() + Channel::min_bytes()
}

/// Returns the default for the maximum number of far NICs at a time.
pub fn channels_of(table: &Table<'_>) -> usize {
    (CHANNELS_BYTES / channel_bytes(table)).clamp(CHANNELS_MIN, CHANNELS_MAX)
}

impl Agent {
    /// Returns the channel of an address, and opens it if necessary.
    pub(super) fn channel(&mut self, at: &AgentContext<'_>, address: [u8; 16]) -> Result<usize, NoChannel> {
        if let Some(known) = self.by_address.get(&address) {
            return Ok(*known);
        }
        if at.table.destination(address).is_none() {
            return Err(NoChannel::Stranger);
        }
        if self.channels.len() >= self.channel_memory.channels && !self.make_room(at) {
            self.counters.no_room += 1;
            return Err(NoChannel::Crowded);
        }
        let path = self.engine.open(at.table, address, at.now_ns).map_err(|_| NoChannel::Stranger)?;
        self.repeat_dead(at, path);
        let (to, _) = self.engine.destination(path).ok_or(NoChannel::Stranger)?;
        let Options { window, reorder_ns, reorder_bytes, .. } = self.options;
        let planes = u32::from(at.table.header().planes);
        let limits = Limits { planes, window, reorder_ns, reorder_bytes };
        let mut channel = Channel::new(address, path, to, &limits, at.now_ns);
        channel.group = self.groups.place((to.zone, to.group));
        channel.epoch = self.epoch.wrapping_add(self.channel_memory.opened);
        self.channel_memory.opened = self.channel_memory.opened.wrapping_add(1);
        for (_, id, total) in self.channel_memory.past.iter().filter(|(of, ..)| *of == address) {
            channel.incoming_writes.add_completed_write(*id, *total);
        }
        self.channels.push(channel);
        let place = self.channels.len() - 1;
        self.by_address.insert(address, place);
        Ok(place)
    }

    /// As [`Self::channel`], for a peer that only sends probes or queries. If all channels were in use, the new one is
    /// the first to be replaced, so that such peers do not displace senders.
    pub(super) fn channel_of_probe(
        &mut self,
        at: &AgentContext<'_>,
        address: [u8; 16],
    ) -> Result<usize, NoChannel> {
        let is_new = !self.by_address.contains_key(&address);
        let is_full = self.channels.len() >= self.channel_memory.channels;
        let channel = self.channel(at, address)?;
        if is_new && is_full {
            self.channels[channel].last_use_ns = 0;
        }
        Ok(channel)
    }

    /// Closes the least recently used channel without pending traffic. Returns whether there was one.
    fn make_room(&mut self, at: &AgentContext<'_>) -> bool {
        let idle_ns = self.options.idle_ns;
        let free = (0..self.channels.len()).filter(|n| !self.channels[*n].is_waited_for(at.now_ns, idle_ns));
        let Some(oldest) = free.min_by_key(|n| self.channels[*n].last_use_ns) else { return false };
        self.counters.made_room += 1;
        self.engine.close(self.channels[oldest].path);
        self.remember(at, oldest);
        self.drop_channel(oldest);
        true
    }

    /// Stores the state of writes that peers and jobs may query after the channel is closed.
    fn remember(&mut self, at: &AgentContext<'_>, channel: usize) {
        let (address, room) = (self.channels[channel].address, &mut self.channel_memory);
        // The list also contains writes from before the channel was opened.
        room.past.retain(|(of, ..)| *of != address);
        room.past
            .extend(self.channels[channel].incoming_writes.last(PAST_OF_ONE).map(|(id, n)| (address, id, n)));
        let views =
            self.channels[channel].outgoing_writes.iter().map(|w| (WriteView::of(w, at.now_ns), w.tally));
        room.closed_writes.extend(views);
        room.past.drain(..room.past.len().saturating_sub(PAST_MAX));
        room.closed_writes.drain(..room.closed_writes.len().saturating_sub(DONE_MAX));
    }

    pub(super) fn drop_channel(&mut self, at: usize) {
        let gone = self.channels.swap_remove(at);
        self.groups.close(&gone);
        self.channel_memory.wide_bytes = self.channel_memory.wide_bytes.saturating_sub(gone.wide_bytes());
        self.channel_memory.incoming_writes.close(gone.address);
        self.by_address.remove(&gone.address);
        if let Some(moved) = self.channels.get(at) {
            self.by_address.insert(moved.address, at);
        }
    }

    /// Enlarges the log for the next packet to a NIC, if memory is left.
    pub(super) fn widen_sent(&mut self, at: &AgentContext<'_>, channel: usize) {
        while let Some(bytes) = self.channels[channel].sent.wants_bytes(at.now_ns) {
            if !self.takes_bytes(at, bytes) {
                return;
            }
            self.channels[channel].sent.widen();
        }
    }

    /// Enlarges the buffer for a packet that has to wait for earlier ones, if memory is left.
    pub(super) fn widen_reorder(&mut self, at: &AgentContext<'_>, channel: usize, numbers: (u16, u32)) {
        while let Some(bytes) = self.channels[channel].reorder.wants_bytes(numbers) {
            if !self.takes_bytes(at, bytes) {
                return;
            }
            self.channels[channel].reorder.widen();
        }
    }

    /// Accepts a piece of a write; `None` if no memory is left for it. If memory is short, the NIC whose
    /// writes use the most memory loses one. So a NIC with many writes, or a host that forges them, displaces
    /// its own.
    pub(super) fn take_piece(
        &mut self,
        at: &AgentContext<'_>,
        channel: usize,
        chunk: &Chunk<'_>,
    ) -> Option<Place> {
        let address = self.channels[channel].address;
        let growth = self.channels[channel].incoming_writes.growth(chunk);
        while growth > 0
            && let Err(full) = self.channel_memory.incoming_writes.charge(address, growth)
        {
            let from = match full {
                ChargeError::All { largest } if largest != address => {
                    self.by_address.get(&largest).copied()?
                }
                ChargeError::All { .. } | ChargeError::Peer => channel,
            };
            let except = (from == channel).then_some(chunk.write);
            if !self.channels[from].incoming_writes.forget_oldest(except) {
                self.counters.refused_writes += 1;
                return None;
            }
            self.settle_arriving(from);
        }
        let place = self.channels[channel].incoming_writes.take(chunk, at.now_ns);
        self.settle_arriving(channel);
        Some(place)
    }

    /// Releases the memory that a channel's incoming writes no longer need.
    pub(super) fn settle_arriving(&mut self, channel: usize) {
        let Some(channel) = self.channels.get(channel) else { return };
        let free = self
            .channel_memory
            .incoming_writes
            .peer_bytes(channel.address)
            .saturating_sub(channel.incoming_writes.bytes());
        self.channel_memory.incoming_writes.release(channel.address, free);
    }

    fn takes_bytes(&mut self, at: &AgentContext<'_>, bytes: usize) -> bool {
        let is_due = at.now_ns.saturating_sub(self.channel_memory.last_narrowing_ns) >= NARROW_NS;
        if self.channel_memory.wide_bytes + bytes > WIDE_BYTES && is_due {
            self.channel_memory.last_narrowing_ns = at.now_ns;
            for channel in &mut self.channels {
                if at.now_ns.saturating_sub(channel.last_use_ns) > NARROW_AFTER_NS {
                    channel.sent.narrow();
                    channel.reorder.narrow();
                }
            }
            self.channel_memory.wide_bytes = self.channels.iter().map(Channel::wide_bytes).sum();
        }
        let fits = self.channel_memory.wide_bytes + bytes <= WIDE_BYTES;
        if fits {
            self.channel_memory.wide_bytes += bytes;
        }
        fits
    }
}
