//! Room for far NICs, and the order of replacement.
//!
//! In: an address. Out: its channel, or why there is none. Invariants: the far NIC that was used least lately makes room, but
//! none that somebody waits for; writes that leave never take all channels, so that those that come can end; memory beyond
//! the least of each channel is bounded over all of them, and goes to who sends and receives most.

use std::collections::VecDeque;

use closc_budget::{Account, Overdrawn};
use closc_paths::Table;
use closc_paths_engine::Capacity;

use crate::agent::{Agent, At, Options, WriteView};
use crate::channel::{Channel, Limits};
use crate::wire::Chunk;
use crate::writes::{ARRIVING_BYTES, Place, Tally};

/// Memory of all far NICs while nothing is under way, which the number of them follows from.
const CHANNELS_BYTES: usize = 3 << 20;
/// The number that follows is never out of this range.
const CHANNELS_MIN: usize = 16;
const CHANNELS_MAX: usize = 1024;
/// Memory for what is under way, of all far NICs together beyond the least of each.
const WIDE_BYTES: usize = 2 << 20;
/// Memory for writes that arrive, of all far NICs together.
const ARRIVING_ALL_BYTES: usize = 2 << 20;
/// Where that is used up, who gives some back is looked for this often.
const NARROW_NS: u64 = 10_000_000;
/// A channel that was not used for so long needs no more than the least.
const NARROW_AFTER_NS: u64 = 100_000_000;
/// Writes of far NICs that made room, by which a repeated piece is known and the question what became of one is answered.
const PAST_MAX: usize = 1024;
/// Of these, so many of one NIC: what is asked about is what came last.
const PAST_OF_ONE: usize = 8;
/// Own writes that are remembered though their channel is gone.
const DONE_MAX: usize = 512;

/// Why there is no channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NoChannel {
    /// The address is of no NIC.
    Stranger,
    /// Somebody waits for each of those that there are.
    Crowded,
}

/// The room.
#[derive(Debug)]
pub(super) struct Room {
    /// Far NICs at a time.
    pub(super) channels: usize,
    /// Bytes that channels take beyond the least.
    wide_bytes: usize,
    /// Bytes of writes that arrive, by far NIC.
    arriving: Account<[u8; 16]>,
    narrowed_ns: u64,
    /// Number of times that a channel was opened: numbers of each begin again, and the epoch distinguishes them.
    opened: u16,
    /// Writes that came whole from NICs that made room.
    past: VecDeque<([u8; 16], u64, u64)>,
    /// Own writes to NICs that made room.
    done: VecDeque<(WriteView, Tally)>,
}

impl Room {
    pub(super) fn new(table: &Table<'_>, options: &Options) -> Room {
        Room {
            channels: options.channels.unwrap_or_else(|| channels_of(table)).max(2),
            wide_bytes: 0,
            arriving: Account::new(ARRIVING_BYTES, ARRIVING_ALL_BYTES),
            narrowed_ns: 0,
            opened: 0,
            past: VecDeque::new(),
            done: VecDeque::new(),
        }
    }

    /// Far NICs that writes may leave to at a time: the rest is for writes that come.
    pub(super) fn senders(&self) -> usize {
        self.channels - (self.channels / 4).max(1)
    }

    /// Memory of an own write whose channel is gone.
    pub(super) fn done(&self, id: u64) -> Option<&(WriteView, Tally)> {
        self.done.iter().find(|(write, _)| write.write == id)
    }
}

/// The bytes that a far NIC takes while nothing is under way.
pub fn channel_bytes(table: &Table<'_>) -> usize {
    Capacity::of(table, 1).destination_bytes() + Channel::least_bytes()
}

/// The number of far NICs that there is room for at a time unless it is said.
pub fn channels_of(table: &Table<'_>) -> usize {
    (CHANNELS_BYTES / channel_bytes(table)).clamp(CHANNELS_MIN, CHANNELS_MAX)
}

impl Agent {
    /// Finds a channel or opens it.
    pub(super) fn channel(&mut self, at: &At<'_>, address: [u8; 16]) -> Result<usize, NoChannel> {
        if let Some(known) = self.by_address.get(&address) {
            return Ok(*known);
        }
        if at.table.destination(address).is_none() {
            return Err(NoChannel::Stranger);
        }
        if self.channels.len() >= self.room.channels && !self.make_room(at) {
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
        channel.epoch = self.epoch.wrapping_add(self.room.opened);
        self.room.opened = self.room.opened.wrapping_add(1);
        for (_, id, total) in self.room.past.iter().filter(|(of, ..)| *of == address) {
            channel.arriving.came_before(*id, *total);
        }
        self.channels.push(channel);
        let place = self.channels.len() - 1;
        self.by_address.insert(address, place);
        Ok(place)
    }

    /// The same for who only asks how a path is. Where all room is taken it is the first to make room again, so that those who
    /// look around push out nobody who sends.
    pub(super) fn channel_of_probe(&mut self, at: &At<'_>, address: [u8; 16]) -> Result<usize, NoChannel> {
        let is_new = !self.by_address.contains_key(&address);
        let is_full = self.channels.len() >= self.room.channels;
        let channel = self.channel(at, address)?;
        if is_new && is_full {
            self.channels[channel].used_ns = 0;
        }
        Ok(channel)
    }

    /// Closes the channel that was used least lately, of those that nobody waits for. Tells whether there was one.
    fn make_room(&mut self, at: &At<'_>) -> bool {
        let idle_ns = self.options.idle_ns;
        let free = (0..self.channels.len()).filter(|n| !self.channels[*n].is_waited_for(at.now_ns, idle_ns));
        let Some(oldest) = free.min_by_key(|n| self.channels[*n].used_ns) else { return false };
        self.counters.made_room += 1;
        self.engine.close(self.channels[oldest].path);
        self.remember(at, oldest);
        self.drop_channel(oldest);
        true
    }

    /// Keeps what may still be asked about writes of a channel that is about to be closed.
    fn remember(&mut self, at: &At<'_>, channel: usize) {
        let (address, room) = (self.channels[channel].address, &mut self.room);
        // Those that came before are among those of the channel now.
        room.past.retain(|(of, ..)| *of != address);
        room.past.extend(self.channels[channel].arriving.last(PAST_OF_ONE).map(|(id, n)| (address, id, n)));
        let views = self.channels[channel].leaving.iter().map(|w| (WriteView::of(w, at.now_ns), w.tally));
        room.done.extend(views);
        room.past.drain(..room.past.len().saturating_sub(PAST_MAX));
        room.done.drain(..room.done.len().saturating_sub(DONE_MAX));
    }

    pub(super) fn drop_channel(&mut self, at: usize) {
        let gone = self.channels.swap_remove(at);
        self.groups.close(&gone);
        self.room.wide_bytes = self.room.wide_bytes.saturating_sub(gone.wide_bytes());
        self.room.arriving.close(gone.address);
        self.by_address.remove(&gone.address);
        if let Some(moved) = self.channels.get(at) {
            self.by_address.insert(moved.address, at);
        }
    }

    /// Makes room for the next packet to a NIC, if memory is left.
    pub(super) fn widen_sent(&mut self, at: &At<'_>, channel: usize) {
        while let Some(bytes) = self.channels[channel].sent.wants_bytes(at.now_ns) {
            if !self.takes_bytes(at, bytes) {
                return;
            }
            self.channels[channel].sent.widen();
        }
    }

    /// Makes room for a packet of a NIC that has to wait, if memory is left.
    pub(super) fn widen_reorder(&mut self, at: &At<'_>, channel: usize, numbers: (u16, u32)) {
        while let Some(bytes) = self.channels[channel].reorder.wants_bytes(numbers) {
            if !self.takes_bytes(at, bytes) {
                return;
            }
            self.channels[channel].reorder.widen();
        }
    }

    /// Takes a piece of a write from a channel; nothing, if no memory is left for it. The NIC whose writes take most makes room, so
    /// that one NIC, or a host that forges many, displaces its own writes first.
    pub(super) fn take_piece(&mut self, at: &At<'_>, channel: usize, chunk: &Chunk<'_>) -> Option<Place> {
        let address = self.channels[channel].address;
        let growth = self.channels[channel].arriving.growth(chunk);
        while growth > 0
            && let Err(full) = self.room.arriving.charge(address, growth)
        {
            let from = match full {
                Overdrawn::All { largest } if largest != address => self.by_address.get(&largest).copied()?,
                Overdrawn::All { .. } | Overdrawn::Peer => channel,
            };
            let except = (from == channel).then_some(chunk.write);
            if !self.channels[from].arriving.forget_oldest(except) {
                self.counters.refused_writes += 1;
                return None;
            }
            self.settle_arriving(from);
        }
        let place = self.channels[channel].arriving.take(chunk, at.now_ns);
        self.settle_arriving(channel);
        Some(place)
    }

    /// Releases what a channel's writes do not take any more.
    pub(super) fn settle_arriving(&mut self, channel: usize) {
        let Some(channel) = self.channels.get(channel) else { return };
        let free = self.room.arriving.held(channel.address).saturating_sub(channel.arriving.bytes());
        self.room.arriving.release(channel.address, free);
    }

    fn takes_bytes(&mut self, at: &At<'_>, bytes: usize) -> bool {
        let is_due = at.now_ns.saturating_sub(self.room.narrowed_ns) >= NARROW_NS;
        if self.room.wide_bytes + bytes > WIDE_BYTES && is_due {
            self.room.narrowed_ns = at.now_ns;
            for channel in &mut self.channels {
                if at.now_ns.saturating_sub(channel.used_ns) > NARROW_AFTER_NS {
                    channel.sent.narrow();
                    channel.reorder.narrow();
                }
            }
            self.room.wide_bytes = self.channels.iter().map(Channel::wide_bytes).sum();
        }
        let fits = self.room.wide_bytes + bytes <= WIDE_BYTES;
        if fits {
            self.room.wide_bytes += bytes;
        }
        fits
    }
}
