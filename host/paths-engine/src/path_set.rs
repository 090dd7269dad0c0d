//! The paths to one destination.
//!
//! In: the state of each value, and the ports that are up. Out: the value of the next packet. Invariants, after every
//! change:
//!
//! - a value in use is not denied, and both ports of its plane are up;
//! - a plane has as many good or unknown values in use as its active set has members. If there are fewer, all of them
//!   are in use;
//! - additional values, and bad ones, are in use only to reach the floor: the minimum number of values in
//!   use. The floor is missed only if too few values are usable;
//! - bad and denied values are found without searching the others.

use closc_paths::{Choice, Destination, Kind, Table};

use crate::first_turn::FirstTurns;
use crate::recent_counters::RecentCounters;
use crate::rotation::Rotation;
use crate::settings::VALUES_PER_PLANE_MAX;
use crate::value::{Health, State, Value, ValueView};

const NO_CHOICE: Choice = Choice { plane: 0, t0_uplink: 0, t1_uplink: 0 };

/// The paths to one destination.
#[derive(Debug, Clone)]
pub(crate) struct PathSet {
    pub(crate) to: Destination,
    pub(crate) inner: [u8; 16],
    /// Ports of the far NIC that are up, a bit for each plane.
    pub(crate) far_ports: u32,
    /// Planes with a value in use, a bit for each.
    planes_in_use: u32,
    last_plane: u8,
    floor: u32,
    /// Size of the active set of each plane.
    active_size: u8,
    planes: usize,
    stride: usize,
    /// Number of values of each plane.
    lens: Box<[u8]>,
    rotations: Box<[Rotation]>,
    /// The values of plane p begin at index `p * stride`.
    values: Box<[Value]>,
    /// Bad and denied values of each plane, a bit for each.
    unusable: Box<[u128]>,
}

/// Position of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) plane: u8,
    pub(crate) position: u8,
}

impl PathSet {
    /// Returns the heap memory of [`PathSet::with_capacity`], in bytes.
    pub(crate) fn heap_bytes(planes: usize, stride: usize) -> usize {
        planes * (size_of::<u8>() + size_of::<Rotation>() + size_of::<u128>() + stride * size_of::<Value>())
    }

    /// Allocates an empty set for a destination.
    pub(crate) fn with_capacity(to: Destination, planes: usize, stride: usize) -> Self {
        PathSet {
            to,
            inner: [0; 16],
            far_ports: u32::MAX,
            planes_in_use: 0,
            last_plane: 31,
            floor: 0,
            active_size: 0,
            planes: 0,
            stride,
            lens: vec![0; planes].into(),
            rotations: vec![Rotation::new(); planes].into(),
            values: vec![Value::new(0, NO_CHOICE, 0); planes * stride].into(),
            unusable: vec![0; planes].into(),
        }
    }

    /// Fills it from a table. All values are unknown, and none is in use.
    pub(crate) fn fill(
        &mut self,
        table: &Table<'_>,
        source: u16,
        inner: [u8; 16],
        to: Destination,
        now_ns: u64,
    ) {
        let h = table.header();
        self.to = to;
        self.inner = inner;
        self.far_ports = u32::MAX;
        self.planes_in_use = 0;
        self.last_plane = 31;
        self.planes = usize::from(h.planes);
        // Inside a group, uplinks do not matter. A plane is one path, regardless of the value.
        let local = to.kind == Kind::Local;
        self.active_size = if local { 1 } else { h.active.clamp(1, VALUES_PER_PLANE_MAX as u16) as u8 };
        let floor = u32::from(h.min_active);
        self.floor = if local { floor.div_ceil(u32::from(h.active.max(1))) } else { floor };
        let most = if local { 1 } else { self.stride };
        for plane in 0..self.planes {
            self.rotations[plane] = Rotation::new();
            let mut len = 0;
            for entropy in table.entropy_values(plane as u8, source).take(most) {
                let known = &self.values[plane * self.stride..plane * self.stride + len];
                // `entropy_values` repeats values if the active and backup sets are together larger than the
                // number of distinct paths.
                if known.iter().all(|value| value.entropy != entropy) {
                    self.values[plane * self.stride + len] =
                        Value::new(entropy, table.choice(entropy), now_ns);
                    len += 1;
                }
            }
            self.lens[plane] = len as u8;
        }
    }

    /// Selects the plane with the first turn, and the first value of each plane. All planes and values in use
    /// are equally likely.
    pub(crate) fn stagger(&mut self, mut turns: FirstTurns) {
        let mut rest = self.planes_in_use;
        for _ in 0..turns.random_number(rest.count_ones()) {
            rest &= rest - 1;
        }
        // The lowest plane follows the highest.
        self.last_plane = rest.trailing_zeros().checked_sub(1).map_or(31, |plane| plane as u8);
        for rotation in &mut self.rotations[..self.planes] {
            let most = if rotation.len() == 0 { u32::from(self.active_size) } else { rotation.len() };
            rotation.begin(turns.random_number(most) as u8);
        }
    }

    /// Returns plane and entropy value of the next packet, or `None` if no value is in use.
    #[inline]
    pub(crate) fn pick(&mut self) -> Option<(u8, u32)> {
        let plane = self.next_plane()?;
        self.last_plane = plane;
        let position = self.rotations[usize::from(plane)].next_position();
        let value = &self.values[usize::from(plane) * self.stride + usize::from(position)];
        Some((plane, value.entropy))
    }

    /// Returns the plane whose turn it is.
    #[inline]
    pub(crate) fn next_plane(&self) -> Option<u8> {
        if self.planes_in_use == 0 {
            return None;
        }
        let above = self.planes_in_use & (!1u32 << self.last_plane);
        let from = if above == 0 { self.planes_in_use } else { above };
        Some(from.trailing_zeros() as u8)
    }

    pub(crate) fn find(&self, plane: u8, entropy: u32) -> Option<Place> {
        if usize::from(plane) >= self.planes {
            return None;
        }
        let values = self.plane(usize::from(plane));
        let position = values.iter().position(|value| value.entropy == entropy)?;
        Some(Place { plane, position: position as u8 })
    }

    pub(crate) fn value(&self, at: Place) -> &Value {
        &self.values[usize::from(at.plane) * self.stride + usize::from(at.position)]
    }

    pub(crate) fn value_mut(&mut self, at: Place) -> &mut Value {
        &mut self.values[usize::from(at.plane) * self.stride + usize::from(at.position)]
    }

    pub(crate) fn places(&self) -> impl Iterator<Item = Place> + use<> {
        let lens: [u8; 32] = std::array::from_fn(|n| if n < self.planes { self.lens[n] } else { 0 });
        (0..32u8).flat_map(move |plane| {
            (0..lens[usize::from(plane)]).map(move |position| Place { plane, position })
        })
    }

    /// Returns the bad and denied values, each with its index in [`PathSet::places`].
    pub(crate) fn out(&self) -> impl Iterator<Item = (usize, Place)> + '_ {
        let mut before = 0;
        let firsts = self.lens[..self.planes].iter().map(move |len| {
            before += usize::from(*len);
            before - usize::from(*len)
        });
        let planes = (0u8..).zip(firsts).zip(&self.unusable);
        planes.flat_map(|((plane, first), out)| {
            let mut rest = *out;
            std::iter::from_fn(move || {
                let position = (rest != 0).then(|| rest.trailing_zeros() as u8)?;
                rest &= rest - 1;
                Some((first + usize::from(position), Place { plane, position }))
            })
        })
    }

    /// Returns whether a value lost more packets than full queues explain. It is compared with the other values of its
    /// plane, which share the last queue.
    pub(crate) fn stands_out(&self, at: Place) -> bool {
        let values = self.plane(usize::from(at.plane)).iter().enumerate();
        let others = values.filter(|(n, _)| *n != usize::from(at.position)).map(|(_, value)| value.lately);
        self.value(at).lately.stands_out(others.fold(RecentCounters::default(), RecentCounters::add))
    }

    pub(crate) fn sit_out(&mut self, at: Place) {
        self.value_mut(at).lately.record_congestion();
        self.rotations[usize::from(at.plane)].sit_out(at.position);
    }

    pub(crate) fn state(&self, at: Place) -> State {
        let value = self.value(at);
        if value.is_denied() {
            return State::Denied;
        }
        match value.health {
            Health::AssumedBad => State::AssumedBad,
            _ if self.rotations[usize::from(at.plane)].is_sitting_out(at.position) => State::Skip,
            Health::Good => State::Good,
            Health::Unknown => State::Unknown,
        }
    }

    pub(crate) fn view(&self, at: Place, good_answers: u16, own_ports: u32) -> ValueView {
        let value = self.value(at);
        let answers_wanted =
            if value.is_bad() { value.required_answers(good_answers) - value.streak } else { 0 };
        ValueView {
            entropy: value.entropy,
            plane: at.plane,
            state: self.state(at),
            in_use: self.rotations[usize::from(at.plane)].is_in_use(at.position),
            lost: value.lost,
            rtt_ns: value.rtt_ns,
            answers_wanted,
            silent: value.silent,
            relapses: value.relapses,
            ports_up: (own_ports & self.far_ports) >> at.plane & 1 == 1,
            changed_ns: value.changed_ns,
        }
    }

    pub(crate) fn planes_in_use(&self) -> u32 {
        self.planes_in_use
    }

    /// Counts the usable values, and those of them that are not bad. Values for which `also` is true count as denied.
    pub(crate) fn usable(&self, own_ports: u32, also: impl Fn(Choice) -> bool) -> (usize, usize) {
        let ports = own_ports & self.far_ports;
        let mut count = (0, 0);
        for plane in (0..self.planes).filter(|plane| ports >> plane & 1 == 1) {
            for value in self.plane(plane).iter().filter(|v| !v.is_denied() && !also(v.choice)) {
                count.0 += 1;
                count.1 += usize::from(!value.is_bad());
            }
        }
        count
    }

    /// Recomputes which values are in use.
    pub(crate) fn settle(&mut self, own_ports: u32) {
        let ports = own_ports & self.far_ports;
        let mut in_use = [0u128; 32];
        let mut eligible = 0;
        for (plane, in_use) in in_use.iter_mut().enumerate().take(self.planes) {
            let out = self.plane(plane).iter().enumerate().filter(|(_, v)| v.is_denied() || v.is_bad());
            self.unusable[plane] = out.fold(0, |bits, (n, _)| bits | 1 << n);
            if ports >> plane & 1 == 1 {
                eligible += self.plane(plane).iter().filter(|v| !v.is_denied()).count();
                *in_use = self.healthy(plane);
            }
        }
        let most = self.planes * usize::from(self.active_size);
        let floor = (self.floor as usize).min(eligible).min(most);
        let mut total: usize = in_use.iter().map(|bits| bits.count_ones() as usize).sum();
        // A silent path may carry nothing, so it does not help to reach the minimum while a better one is in use.
        let may_be_silent = total == 0;
        while total < floor {
            let Some(at) = self.next_best(&in_use, ports, may_be_silent) else { break };
            in_use[usize::from(at.plane)] |= 1 << at.position;
            total += 1;
        }
        self.planes_in_use = 0;
        for (plane, in_use) in in_use.into_iter().enumerate().take(self.planes) {
            self.rotations[plane].set_in_use(in_use);
            self.planes_in_use |= u32::from(in_use != 0) << plane;
        }
    }

    /// Returns the healthy values of a plane to use, up to the size of the active set. Values in use come first, then
    /// other good ones, then unknown ones, each in the order of the table.
    fn healthy(&self, plane: usize) -> u128 {
        let before = self.rotations[plane].in_use();
        let values = self.plane(plane);
        let bits = |wanted: &dyn Fn(&Value) -> bool| {
            let set = values.iter().enumerate().filter(|(_, v)| !v.is_denied() && wanted(v));
            set.fold(0u128, |bits, (n, _)| bits | 1 << n)
        };
        let fine = bits(&|v| !v.is_bad());
        let good = bits(&|v| v.health == Health::Good);
        let wanted = u32::from(self.active_size);
        let mut chosen = 0u128;
        for mut from in [before & fine, good, fine] {
            from &= !chosen;
            while from != 0 && chosen.count_ones() < wanted {
                let lowest = from & from.wrapping_neg();
                chosen |= lowest;
                from &= !lowest;
            }
        }
        chosen
    }

    /// Returns the next value to add to reach the floor. Healthy values come first, then bad ones, then bad ones
    /// behind a switch known to be unreachable. Of each kind, the plane with the fewest values in use is first.
    /// Among its healthy values, those already in use are preferred, so that recomputing alone changes nothing.
    /// Among its bad values, the one that failed longest ago is first. Silent ones are added only if
    /// `may_be_silent`.
    fn next_best(&self, in_use: &[u128; 32], ports: u32, may_be_silent: bool) -> Option<Place> {
        let planes = || (0..self.planes).filter(|plane| ports >> plane & 1 == 1);
        let mut best: Option<((bool, bool, u32), Place)> = None;
        for plane in planes() {
            let used = in_use[plane];
            let free = |(n, v): &(usize, &Value)| {
                !v.is_denied() && used >> n & 1 == 0 && (may_be_silent || !v.is_silent())
            };
            let newcomer = |n: usize| u64::from(!self.rotations[plane].is_in_use(n as u8));
            let rank = |n: usize, v: &Value| {
                let bad = v.is_bad();
                (bad, bad && v.cut_off, if bad { v.changed_ns } else { newcomer(n) })
            };
            let values = self.plane(plane).iter().enumerate().filter(free);
            let Some((position, value)) = values.min_by_key(|(n, v)| rank(*n, v)) else { continue };
            let bad = value.is_bad();
            let key = (bad, bad && value.cut_off, used.count_ones());
            if best.is_none_or(|(other, _)| key < other) {
                best = Some((key, Place { plane: plane as u8, position: position as u8 }));
            }
        }
        best.map(|(_, at)| at)
    }

    /// Copies the state of values with the same address from an older set.
    pub(crate) fn inherit(&mut self, older: &PathSet, same: impl Fn(u32) -> bool) {
        self.far_ports = older.far_ports;
        for plane in 0..self.planes.min(older.planes) {
            let mut in_use = 0u128;
            for position in 0..self.lens[plane] {
                let at = Place { plane: plane as u8, position };
                let entropy = self.value(at).entropy;
                let Some(was) = older.find(at.plane, entropy).filter(|_| same(entropy)) else { continue };
                let denied = self.value(at).denied;
                *self.value_mut(at) = Value { denied, ..*older.value(was) };
                if older.rotations[plane].is_in_use(was.position) {
                    in_use |= 1 << position;
                }
            }
            self.rotations[plane].set_in_use(in_use);
        }
    }

    /// Returns the number of values in use in each plane.
    pub(crate) fn in_use(&self) -> impl Iterator<Item = u32> + '_ {
        self.rotations[..self.planes].iter().map(Rotation::len)
    }

    fn plane(&self, plane: usize) -> &[Value] {
        &self.values[plane * self.stride..plane * self.stride + usize::from(self.lens[plane])]
    }
}
