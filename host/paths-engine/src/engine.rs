//! The engine of one NIC: its ports, its denials, and the paths to each destination.
//!
//! In: a table, results of packets and probes, denials, the time. Out: picks and events. Invariants: nothing is
//! allocated after [`Engine::new`]. The identifier of a closed destination is invalid.

use closc_paths::{Choice, Destination, Table};
use thiserror::Error;

use crate::denial::{Denial, DenialId, Denials};
use crate::event::{Cause, Event, Events};
use crate::first_turn::FirstTurns;
use crate::path_id::PathId;
use crate::path_set::{PathSet, Place};
use crate::settings::{Capacity, Settings, VALUES_PER_PLANE_MAX};
use crate::value::{BY_LIST, BY_TABLE, State, ValueView};

/// Maximum number of planes: bits of a port mask.
const PLANES_MAX: usize = 32;

/// Plane and entropy value of the next packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pick {
    /// The plane, which is the NIC port.
    pub plane: u8,
    /// The entropy value.
    pub entropy: u32,
}

/// The reason why a destination, or an engine, cannot be opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum OpenFault {
    /// No NIC of the table has this address.
    #[error("the address is not a NIC of the path table")]
    Unknown,
    /// The maximum number of destinations ([`Capacity::destinations`]) is open.
    #[error("the limit of {0} open destinations is reached")]
    Full(usize),
    /// The table has more planes or values than the engine's capacity.
    #[error("the table has {planes} planes of {values} values; the limit is {max_planes} of {max_values}")]
    Shape {
        /// Planes of the table.
        planes: usize,
        /// Values of a plane.
        values: usize,
        /// Capacity for planes.
        max_planes: usize,
        /// Capacity for values of a plane.
        max_values: usize,
    },
    /// The table's group has no such downlink.
    #[error("the group has {nics} NICs, the downlink of the NIC is {downlink} (counted from 0)")]
    Downlink {
        /// NICs of the group.
        nics: u16,
        /// The requested downlink.
        downlink: u16,
    },
}

/// The reason why a denial was rejected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum DenyFault {
    /// It would remove the last working path to a destination.
    #[error("it would remove the last path to a destination")]
    LastPath(PathId),
    /// The maximum number of denials ([`Capacity::denials`]) is in force.
    #[error("the limit of {0} denials in force is reached")]
    Full(usize),
}

/// The reason why a table was rejected. The engine is unchanged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum ReloadFault {
    /// Its planes or values exceed the capacity, or it lacks the downlink.
    #[error(transparent)]
    Open(#[from] OpenFault),
    /// It belongs to another group.
    #[error("the table is for group {new} of zone {new_zone}; the NIC is in group {old} of zone {old_zone}")]
    Group {
        /// Group of the current table, from 0.
        old: u16,
        /// Zone of the current table.
        old_zone: u16,
        /// Group of the new table, from 0.
        new: u16,
        /// Zone of the new table.
        new_zone: u16,
    },
}

#[derive(Debug, Clone)]
struct Slot {
    generation: u32,
    open: bool,
    set: PathSet,
}

impl Capacity {
    /// Returns the memory per destination, in bytes. It is allocated whether or not the destination is open.
    pub fn destination_bytes(&self) -> usize {
        size_of::<Slot>() + size_of::<u32>() + PathSet::heap_bytes(self.planes, self.values_per_plane)
    }
}

/// The engine.
#[derive(Debug, Clone)]
pub struct Engine {
    settings: Settings,
    capacity: Capacity,
    source: u16,
    local_ports: u32,
    slots: Vec<Slot>,
    free: Vec<u32>,
    denials: Denials,
    events: Events,
    /// Memory in which a reload builds the next set.
    spare: PathSet,
}

impl Engine {
    /// Makes an engine for the NIC on a downlink (from 0) of the table's group. All ports count as up until reported
    /// otherwise.
    pub fn new(
        table: &Table<'_>,
        downlink: u16,
        settings: Settings,
        capacity: Capacity,
    ) -> Result<Engine, OpenFault> {
        let own = table.destination(nic_address(table, downlink));
        let own = own.ok_or(OpenFault::Downlink { nics: table.header().nics, downlink })?;
        let capacity = Capacity {
            planes: capacity.planes.min(PLANES_MAX),
            values_per_plane: capacity.values_per_plane.min(VALUES_PER_PLANE_MAX),
            ..capacity
        };
        fits(table, &capacity)?;
        let room = || PathSet::with_capacity(own, capacity.planes, capacity.values_per_plane);
        let slot = || Slot { generation: 0, open: false, set: room() };
        Ok(Engine {
            settings,
            capacity,
            source: downlink,
            local_ports: u32::MAX,
            slots: (0..capacity.destinations).map(|_| slot()).collect(),
            free: (0..capacity.destinations as u32).rev().collect(),
            denials: Denials::new(capacity.denials),
            events: Events::new(capacity.events),
            spare: room(),
        })
    }

    /// Opens a destination by the address of its NIC.
    pub fn open(&mut self, table: &Table<'_>, inner: [u8; 16], now_ns: u64) -> Result<PathId, OpenFault> {
        let to = table.destination(inner).ok_or(OpenFault::Unknown)?;
        let index = self.free.pop().ok_or(OpenFault::Full(self.capacity.destinations))?;
        let slot = &mut self.slots[index as usize];
        slot.open = true;
        slot.set.fill(table, self.source, inner, to, now_ns);
        deny_values(&mut slot.set, table, self.source, &self.denials);
        slot.set.settle(self.local_ports);
        slot.set.stagger(first_turns(table, self.source, &to));
        Ok(PathId::new(index, slot.generation))
    }

    /// Closes a destination.
    pub fn close(&mut self, path: PathId) {
        if self.set(path).is_none() {
            return;
        }
        let slot = &mut self.slots[path.index()];
        slot.open = false;
        slot.generation = slot.generation.wrapping_add(1);
        self.free.push(path.index);
    }

    /// Returns the destinations that are open.
    pub fn open_paths(&self) -> impl Iterator<Item = PathId> + '_ {
        let open = self.slots.iter().enumerate().filter(|(_, slot)| slot.open);
        open.map(|(n, slot)| PathId::new(n as u32, slot.generation))
    }

    /// Returns the position of a destination in the table, and the address of its NIC.
    pub fn destination(&self, path: PathId) -> Option<(Destination, [u8; 16])> {
        self.set(path).map(|set| (set.to, set.inner))
    }

    /// Chooses the path of the next packet. Returns `None` if no path is in use, such as when every plane has a port
    /// down.
    #[inline]
    pub fn pick(&mut self, path: PathId) -> Option<Pick> {
        let slot = self.slots.get_mut(path.index())?;
        if slot.generation != path.generation || !slot.open {
            return None;
        }
        let (plane, entropy) = slot.set.pick()?;
        Some(Pick { plane, entropy })
    }

    /// Returns the plane of the next pick without picking.
    #[inline]
    pub fn next_plane(&self, path: PathId) -> Option<u8> {
        self.set(path)?.next_plane()
    }

    /// Records a packet or probe that arrived.
    pub fn record_answer(&mut self, path: PathId, plane: u8, entropy: u32, now_ns: u64) {
        let good_answers = self.settings.good_answers;
        self.change(path, plane, entropy, (Cause::Answer, now_ns), |set, at| {
            set.value_mut(at).record_answer(good_answers, now_ns);
        });
    }

    /// Records a short probe that arrived. The last answer that a bad path needs must be to a long probe, because data
    /// packets are longer.
    pub fn record_short_answer(&mut self, path: PathId, plane: u8, entropy: u32, now_ns: u64) {
        let good_answers = self.settings.good_answers;
        self.change(path, plane, entropy, (Cause::Answer, now_ns), |set, at| {
            set.value_mut(at).record_short_answer(good_answers, now_ns);
        });
    }

    /// Records a missed probe of the length of a data packet.
    pub fn record_long_miss(&mut self, path: PathId, plane: u8, entropy: u32, now_ns: u64) {
        let Settings { missed_answers, relapse_ns, .. } = self.settings;
        self.change(path, plane, entropy, (Cause::Probe, now_ns), |set, at| {
            set.value_mut(at).record_long_miss(missed_answers, now_ns, relapse_ns);
        });
    }

    /// Records a packet that met congestion. Its value is skipped once.
    pub fn record_congestion(&mut self, path: PathId, plane: u8, entropy: u32) {
        let Some(set) = self.set_mut(path) else { return };
        if let Some(at) = set.find(plane, entropy) {
            set.sit_out(at);
        }
    }

    /// Records a lost packet. Its value becomes bad at once.
    pub fn record_loss(&mut self, path: PathId, plane: u8, entropy: u32, now_ns: u64) {
        let relapse_ns = self.settings.relapse_ns;
        self.change(path, plane, entropy, (Cause::Loss, now_ns), |set, at| {
            let value = set.value_mut(at);
            value.lost = value.lost.saturating_add(1);
            value.condemn(now_ns, relapse_ns);
        });
    }

    /// Records a packet that was lost while queues of its plane were full. Its value becomes bad only if it lost more
    /// than the other values of the plane, which share the last queue.
    pub fn record_drop(&mut self, path: PathId, plane: u8, entropy: u32, now_ns: u64) {
        let relapse_ns = self.settings.relapse_ns;
        self.change(path, plane, entropy, (Cause::Loss, now_ns), |set, at| {
            let value = set.value_mut(at);
            value.lost = value.lost.saturating_add(1);
            value.lately.record_drop();
            if set.stands_out(at) {
                set.value_mut(at).condemn(now_ns, relapse_ns);
            }
        });
    }

    /// Records a missed probe.
    pub fn record_miss(&mut self, path: PathId, plane: u8, entropy: u32, now_ns: u64) {
        let Settings { missed_answers, relapse_ns, .. } = self.settings;
        self.change(path, plane, entropy, (Cause::Probe, now_ns), |set, at| {
            set.value_mut(at).record_miss(missed_answers, now_ns, relapse_ns);
        });
    }

    /// Records the round-trip time of a probe.
    pub fn record_rtt(&mut self, path: PathId, plane: u8, entropy: u32, rtt_ns: u64) {
        let Some(set) = self.set_mut(path) else { return };
        if let Some(at) = set.find(plane, entropy) {
            set.value_mut(at).record_rtt(rtt_ns);
        }
    }

    /// Returns whether a path missed a probe but is not bad yet. The next probes decide.
    pub fn is_suspect(&self, path: PathId, plane: u8, entropy: u32) -> bool {
        let Some(set) = self.set(path) else { return false };
        set.find(plane, entropy).is_some_and(|at| set.value(at).is_suspect())
    }

    /// Marks every value over one uplink of the NIC's own T0 as bad, for all destinations on other T0s. Call it if the
    /// probe to the T1 was lost, but the one to the T0 was answered.
    pub fn fail_uplink(&mut self, plane: u8, uplink: u16, now_ns: u64) {
        let relapse_ns = self.settings.relapse_ns;
        self.change_values(Cause::Probe, now_ns, |set, at| {
            let choice = set.value(at).choice;
            let leaves = set.to.kind != closc_paths::Kind::Local;
            if leaves && at.plane == plane && choice.t0_uplink == uplink {
                set.value_mut(at).cut_off(now_ns, relapse_ns);
            }
        });
    }

    /// Marks every value over one uplink of a T1 as bad, for all destinations behind T2s. Call it if the probe to the
    /// T2 was lost, but the one to the T1 was answered. Several uplinks of the NIC's own T0 may lead to that T1.
    pub fn fail_t1_uplink(&mut self, plane: u8, (first, last): (u16, u16), t1_uplink: u16, now_ns: u64) {
        let relapse_ns = self.settings.relapse_ns;
        self.change_values(Cause::Probe, now_ns, |set, at| {
            let choice = set.value(at).choice;
            let leaves = set.to.kind == closc_paths::Kind::Far;
            let same = (first..=last).contains(&choice.t0_uplink) && choice.t1_uplink == t1_uplink;
            if leaves && at.plane == plane && same {
                set.value_mut(at).cut_off(now_ns, relapse_ns);
            }
        });
    }

    /// Marks every value of a new destination as bad if its path uses a cable or switch already known to be dead. This
    /// is the initial state, so it causes no events.
    pub fn fail_dead_paths(
        &mut self,
        path: PathId,
        now_ns: u64,
        is_dead: impl Fn(&Destination, Choice) -> bool,
    ) {
        let (own, relapse_ns) = (self.local_ports, self.settings.relapse_ns);
        let Some(set) = self.set_mut(path) else { return };
        for at in set.places() {
            if is_dead(&set.to, set.value(at).choice) {
                set.value_mut(at).cut_off(now_ns, relapse_ns);
            }
        }
        set.settle(own);
    }

    /// Records whether a port of this NIC is up.
    pub fn set_local_port(&mut self, plane: u8, up: bool) {
        if usize::from(plane) >= PLANES_MAX {
            return;
        }
        let bit = 1 << plane;
        self.local_ports = if up { self.local_ports | bit } else { self.local_ports & !bit };
        let own = self.local_ports;
        for slot in self.slots.iter_mut().filter(|slot| slot.open) {
            slot.set.settle(own);
        }
    }

    /// Returns the ports of this NIC that are up, one bit per plane, in the form that is reported to far NICs.
    pub fn local_ports(&self) -> u32 {
        self.local_ports
    }

    /// Records which ports of the far NIC are up, one bit per plane. Returns those that recovered.
    pub fn set_far_ports(&mut self, path: PathId, up: u32) -> u32 {
        let own = self.local_ports;
        let Some(set) = self.set_mut(path) else { return 0 };
        let back = up & !set.far_ports;
        if set.far_ports != up {
            set.far_ports = up;
            set.settle(own);
        }
        back
    }

    /// Stops using all paths to a destination in a plane, because one of the plane's ports recovered. The switch behind
    /// it may have restarted, and has links before it has routes. Each path is used again after enough answers, or
    /// earlier if too few other paths are usable. This does not count as a failure. Call it only if the destination
    /// answers probes.
    pub fn doubt(&mut self, path: PathId, plane: u8, now_ns: u64) {
        self.all_of(path, Cause::Port, now_ns, |set, at| {
            if at.plane == plane {
                set.value_mut(at).doubt(now_ns);
            }
        });
    }

    /// Denies paths, for destinations that are open and for those opened later.
    ///
    /// The last-path guard rejects the whole denial if an open destination would lose its last usable path, or its last
    /// usable path that is not bad. An accepted denial stays in force. If ports go down later, or a new table removes
    /// the other paths, the destination has no path.
    pub fn deny(&mut self, denial: Denial, now_ns: u64) -> Result<DenialId, DenyFault> {
        if self.denials.is_full() {
            return Err(DenyFault::Full(self.capacity.denials));
        }
        let source = self.source;
        for path in self.open_paths() {
            let set = &self.slots[path.index()].set;
            let before = set.usable(self.local_ports, |_| false);
            let after = set.usable(self.local_ports, |choice| denial.covers(source, &set.to, choice));
            if (before.0 > 0 && after.0 == 0) || (before.1 > 0 && after.1 == 0) {
                return Err(DenyFault::LastPath(path));
            }
        }
        let id = self.denials.add(denial);
        self.change_values(Cause::Denial, now_ns, |set, at| {
            if denial.covers(source, &set.to, set.value(at).choice) {
                set.value_mut(at).denied |= BY_LIST;
            }
        });
        Ok(id)
    }

    /// Ends a denial. The state of its paths then depends on the evidence. Returns whether the denial was in force.
    pub fn allow(&mut self, id: DenialId, now_ns: u64) -> bool {
        let ended = self.denials.remove(id);
        if let Some(denial) = ended {
            self.end_denial(denial, now_ns);
        }
        ended.is_some()
    }

    /// Ends expired denials and returns their number.
    pub fn tick(&mut self, now_ns: u64) -> usize {
        let mut count = 0;
        while let Some(denial) = self.denials.remove_expired(now_ns) {
            self.end_denial(denial, now_ns);
            count += 1;
        }
        count
    }

    /// Returns the denials in force.
    pub fn denials(&self) -> impl Iterator<Item = (DenialId, Denial)> + '_ {
        self.denials.iter()
    }

    /// Switches to another table of the same group. Values whose address is the same keep their state. Destinations
    /// that the new table lacks are closed, and `gone` is called for each of them.
    pub fn reload(
        &mut self,
        old: &Table<'_>,
        new: &Table<'_>,
        now_ns: u64,
        mut gone: impl FnMut(PathId),
    ) -> Result<(), ReloadFault> {
        fits(new, &self.capacity)?;
        let (was, is) = (old.header(), new.header());
        if (was.zone, was.group) != (is.zone, is.group) {
            let (old, old_zone, new, new_zone) = (was.group, was.zone, is.group, is.zone);
            return Err(ReloadFault::Group { old, old_zone, new, new_zone });
        }
        if self.source >= is.nics {
            return Err(OpenFault::Downlink { nics: is.nics, downlink: self.source }.into());
        }
        for index in 0..self.slots.len() {
            if !self.slots[index].open {
                continue;
            }
            let path = PathId::new(index as u32, self.slots[index].generation);
            let before = &self.slots[index].set;
            let Some(to) = new.destination(before.inner) else {
                self.close(path);
                gone(path);
                continue;
            };
            self.spare.fill(new, self.source, before.inner, to, now_ns);
            deny_values(&mut self.spare, new, self.source, &self.denials);
            let from = before.to;
            self.spare.inherit(before, |entropy| old.outer(&from, entropy) == new.outer(&to, entropy));
            self.spare.settle(self.local_ports);
            self.spare.stagger(first_turns(new, self.source, &to));
            let changed = |at: Place, is: State| {
                let entropy = self.spare.value(at).entropy;
                let was = before.find(at.plane, entropy).map_or(State::Unknown, |was| before.state(was));
                (was != is && (was == State::Denied || is == State::Denied)).then_some((was, is, entropy))
            };
            for at in self.spare.places() {
                if let Some((from, to, entropy)) = changed(at, self.spare.state(at)) {
                    let lost = self.spare.value(at).lost;
                    self.events.push(Event {
                        path,
                        entropy,
                        from,
                        to,
                        cause: Cause::Table,
                        lost,
                        at_ns: now_ns,
                    });
                }
            }
            std::mem::swap(&mut self.slots[index].set, &mut self.spare);
        }
        Ok(())
    }

    /// Returns the paths to a destination with their states, plane by plane.
    pub fn values(&self, path: PathId) -> impl Iterator<Item = ValueView> + '_ {
        let (good_answers, own) = (self.settings.good_answers, self.local_ports);
        let set = self.set(path);
        set.into_iter().flat_map(move |set| set.places().map(move |at| set.view(at, good_answers, own)))
    }

    /// Returns the bad and denied paths to a destination, each with its index in [`Engine::values`]. The time is
    /// proportional to their number.
    pub fn values_out(&self, path: PathId) -> impl Iterator<Item = (usize, ValueView)> + '_ {
        let (good_answers, own) = (self.settings.good_answers, self.local_ports);
        let set = self.set(path);
        set.into_iter()
            .flat_map(move |set| set.out().map(move |(n, at)| (n, set.view(at, good_answers, own))))
    }

    /// Returns how many values are in use in each plane.
    pub fn in_use(&self, path: PathId) -> impl Iterator<Item = u32> + '_ {
        self.set(path).into_iter().flat_map(PathSet::in_use)
    }

    /// Returns the planes with a value in use, one bit per plane.
    pub fn planes_in_use(&self, path: PathId) -> u32 {
        self.set(path).map_or(0, PathSet::planes_in_use)
    }

    /// Removes and returns the oldest event.
    pub fn next_event(&mut self) -> Option<Event> {
        self.events.pop()
    }

    /// Returns the number of events dropped because the ring was full.
    pub fn events_dropped(&self) -> u64 {
        self.events.dropped
    }

    fn end_denial(&mut self, denial: Denial, now_ns: u64) {
        let source = self.source;
        let denials = std::mem::replace(&mut self.denials, Denials::new(0));
        self.change_values(Cause::Allowed, now_ns, |set, at| {
            let choice = set.value(at).choice;
            if denial.covers(source, &set.to, choice) && !denials.cover(source, &set.to, choice) {
                set.value_mut(at).denied &= !BY_LIST;
            }
        });
        self.denials = denials;
    }

    fn set(&self, path: PathId) -> Option<&PathSet> {
        let slot = self.slots.get(path.index())?;
        (slot.open && slot.generation == path.generation).then_some(&slot.set)
    }

    fn set_mut(&mut self, path: PathId) -> Option<&mut PathSet> {
        let slot = self.slots.get_mut(path.index())?;
        (slot.open && slot.generation == path.generation).then_some(&mut slot.set)
    }

    /// Changes one value, recomputes which values are in use, and reports a change of state.
    fn change(
        &mut self,
        path: PathId,
        plane: u8,
        entropy: u32,
        (cause, at_ns): (Cause, u64),
        what: impl FnOnce(&mut PathSet, Place),
    ) {
        let own = self.local_ports;
        let Some(set) = self.set_mut(path) else { return };
        let Some(at) = set.find(plane, entropy) else { return };
        let (from, was) = (set.state(at), *set.value(at));
        what(set, at);
        // Most answers do not affect which values are in use.
        let now = set.value(at);
        if (now.health, now.changed_ns, now.is_silent()) == (was.health, was.changed_ns, was.is_silent()) {
            return;
        }
        set.settle(own);
        let (to, lost) = (set.state(at), set.value(at).lost);
        if from != to {
            self.events.push(Event { path, entropy, from, to, cause, lost, at_ns });
        }
    }

    /// Changes every value of every destination.
    fn change_values(&mut self, cause: Cause, at_ns: u64, mut what: impl FnMut(&mut PathSet, Place)) {
        for (index, slot) in self.slots.iter_mut().enumerate().filter(|(_, slot)| slot.open) {
            let path = PathId::new(index as u32, slot.generation);
            change_all(&mut slot.set, self.local_ports, (path, cause, at_ns), &mut self.events, &mut what);
        }
    }

    /// Changes every value of one destination.
    fn all_of(&mut self, path: PathId, cause: Cause, at_ns: u64, mut what: impl FnMut(&mut PathSet, Place)) {
        let slot = self.slots.get_mut(path.index());
        if let Some(slot) = slot.filter(|slot| slot.open && slot.generation == path.generation) {
            change_all(&mut slot.set, self.local_ports, (path, cause, at_ns), &mut self.events, &mut what);
        }
    }
}

/// Changes every value of a destination, recomputes which are in use, and reports changes of state.
fn change_all(
    set: &mut PathSet,
    own_ports: u32,
    (path, cause, at_ns): (PathId, Cause, u64),
    events: &mut Events,
    what: &mut impl FnMut(&mut PathSet, Place),
) {
    for at in set.places() {
        let from = set.state(at);
        what(set, at);
        let (to, value) = (set.state(at), set.value(at));
        if from != to {
            let (entropy, lost) = (value.entropy, value.lost);
            events.push(Event { path, entropy, from, to, cause, lost, at_ns });
        }
    }
    set.settle(own_ports);
}

/// Returns the address of a NIC of the table's own group.
fn nic_address(table: &Table<'_>, downlink: u16) -> [u8; 16] {
    let h = table.header();
    h.nic((h.zone, h.group), downlink)
}

/// Returns the numbers that select the first turns from a NIC of the table's own group to a destination.
fn first_turns(table: &Table<'_>, source: u16, to: &Destination) -> FirstTurns {
    let h = table.header();
    FirstTurns::of([h.zone, h.group, source], [to.zone, to.group, to.downlink])
}

fn fits(table: &Table<'_>, room: &Capacity) -> Result<(), OpenFault> {
    let h = table.header();
    let (planes, values) = (usize::from(h.planes), usize::from(h.active) + usize::from(h.backup));
    if planes <= room.planes && values <= room.values_per_plane {
        return Ok(());
    }
    let (room_planes, room_values) = (room.planes, room.values_per_plane);
    Err(OpenFault::Shape { planes, values, max_planes: room_planes, max_values: room_values })
}

fn deny_values(set: &mut PathSet, table: &Table<'_>, source: u16, denials: &Denials) {
    let to = set.to;
    for at in set.places() {
        let value = set.value_mut(at);
        let by_table = table.is_denied(source, &to, value.entropy) || !table.in_range(value.choice);
        let by_list = denials.cover(source, &to, value.choice);
        value.denied = if by_table { BY_TABLE } else { 0 } | if by_list { BY_LIST } else { 0 };
    }
}
