//! State of a fabric: the working T0s, uplinks, T1s, T2s and NIC ports.
//!
//! In: a fabric and its losses. Out: the number of paths between two groups in a plane. Invariants: absent or
//! drained equipment carries no traffic. If hosts choose paths, each path has the same uplink numbers up and
//! down, as in segment lists. So an uplink lost at either end is lost for the pair, and paths are counted by
//! intersecting bitsets. If switches choose, the remaining paths are counted at each switch where packets
//! turn: see [`Descent`].

use std::borrow::Cow;
use std::collections::BTreeMap;

use closc_fabric::{Descent, Fabric, Shape};
use closc_topology::{Link, Nic, Switch, TierId, ZoneId};

use crate::bits::{self, Words};
use crate::element::Losses;

/// Working parts of a group. For each plane, it contains a word that is 0 if the T0 is lost, followed by the
/// bitset of the T0's uplinks.
pub(crate) type Profile = Box<[u64]>;

/// Numbers of upward paths that are lost in or above T1s. One list per plane and zone, with one entry per T2:
/// see [`State::climbs`].
#[derive(Debug)]
pub(crate) struct UpwardLosses(Vec<Vec<u32>>);

/// The paths between two groups in a plane.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct PathCounts {
    /// Paths from the first group to the second.
    pub(crate) forward: u64,
    /// Paths from the second group to the first.
    pub(crate) back: u64,
    /// Paths that can carry traffic in both directions at the same time. If switches choose paths, each
    /// switch where packets turn adds the remaining paths of the end with fewer. Between zones, paths that
    /// share a T0 uplink are counted separately.
    pub(crate) two_way: u64,
    /// T0 uplinks that these paths use, at the end with fewer of them. Inside a group, paths do not use
    /// uplinks, and the value is `two_way`.
    pub(crate) uplinks: u64,
}

impl PathCounts {
    /// Returns the counts for paths that use the same cables in both directions.
    fn symmetric(paths: u64) -> PathCounts {
        PathCounts { forward: paths, back: paths, two_way: paths, uplinks: paths }
    }

    /// Returns the counts if switches choose paths. `planned` is the number of paths between the two ends
    /// without losses. From each end, `each` paths lead up to every switch where packets turn. `one` and
    /// `other` are the numbers of lost paths of the two ends, with one entry per such switch. An empty list
    /// means no loss.
    fn switch_chosen(planned: u64, each: u64, one: &[u32], other: &[u32]) -> PathCounts {
        let two_way = Descent::two_way_paths(planned, one, other);
        PathCounts {
            forward: Descent::one_way_paths(planned, each, one, other),
            back: Descent::one_way_paths(planned, each, other, one),
            two_way,
            uplinks: two_way,
        }
    }
}

/// State of a fabric after losses.
#[derive(Debug, Clone)]
pub(crate) struct State {
    pub(crate) shape: Shape,
    descent: Descent,
    /// Number of words of a set of T0 uplinks.
    word_count: usize,
    planes: Vec<bool>,
    /// Working parts of damaged groups, by group number over all zones.
    damaged_groups: BTreeMap<usize, Profile>,
    intact_profile: Profile,
    /// T0 uplinks with a working T1, by plane and zone.
    t1s: Vec<Words>,
    /// Working T1 uplinks, by plane, zone and T1. If a T2 is lost, the uplinks to it are removed from the
    /// sets of all zones.
    crossings: Vec<Words>,
    /// Planes in which the port of a NIC does not work, one bit each. Only NICs with such a port are
    /// included.
    ports: BTreeMap<Nic, u16>,
}

impl State {
    /// Returns the state that the fabric file describes.
    pub(crate) fn of(fabric: &Fabric) -> State {
        let topology = fabric.topology();
        let shape = Shape::new(topology);
        let profile = [&[1][..], &bits::full(shape.t0_up)].concat().repeat(shape.planes);
        let mut state = State {
            shape,
            descent: Descent::of(topology.routing),
            word_count: bits::word_count(shape.t0_up),
            planes: vec![true; shape.planes],
            damaged_groups: BTreeMap::new(),
            intact_profile: profile.into(),
            t1s: vec![bits::full(shape.t0_up); shape.planes * shape.zones],
            crossings: vec![bits::full(shape.t1_up); shape.planes * shape.zones * shape.t1s],
            ports: BTreeMap::new(),
        };
        state.lose(&Losses::of(topology));
        state
    }

    /// Removes lost elements from the state.
    pub(crate) fn lose(&mut self, losses: &Losses) {
        for plane in &losses.planes {
            self.planes[usize::from(plane.0)] = false;
        }
        for switch in &losses.switches {
            self.lose_switch(*switch);
        }
        for nic in &losses.nics {
            self.ports.insert(*nic, u16::MAX);
        }
        for link in &losses.links {
            self.lose_link(*link);
        }
    }

    fn lose_switch(&mut self, switch: Switch) {
        let plane = usize::from(switch.plane.0);
        let index = usize::from(switch.index);
        match switch.tier {
            TierId::T0 => self.of_t0(switch)[0] = 0,
            TierId::T1 => {
                let parallel = self.shape.t0_parallel;
                let row = self.row(plane, usize::from(switch.zone.0));
                bits::clear(&mut self.t1s[row], index * parallel..(index + 1) * parallel);
            }
            TierId::T2 => {
                let (t1s, lost) = self.shape.t2_downlinks(index);
                for zone in 0..self.shape.zones {
                    for t1 in t1s.clone() {
                        let at = self.row(plane, zone) * self.shape.t1s + t1;
                        bits::clear(&mut self.crossings[at], lost.clone());
                    }
                }
            }
        }
    }

    fn lose_link(&mut self, link: Link) {
        match link {
            Link::Host(port) => *self.ports.entry(port.nic).or_default() |= 1 << port.plane.0,
            Link::Fabric { lower, up } if lower.tier == TierId::T0 => {
                bits::clear(&mut self.of_t0(lower)[1..], usize::from(up)..usize::from(up) + 1);
            }
            Link::Fabric { lower, up } => {
                let row = self.row(usize::from(lower.plane.0), usize::from(lower.zone.0));
                let at = row * self.shape.t1s + usize::from(lower.index);
                bits::clear(&mut self.crossings[at], usize::from(up)..usize::from(up) + 1);
            }
        }
    }

    /// Returns the words for one T0 in the profile of its group.
    fn of_t0(&mut self, t0: Switch) -> &mut [u64] {
        let whole = &self.intact_profile;
        let group = self.shape.group(t0.zone, t0.index);
        let profile = self.damaged_groups.entry(group).or_insert_with(|| whole.clone());
        let stride = 1 + self.word_count;
        let start = usize::from(t0.plane.0) * stride;
        &mut profile[start..start + stride]
    }

    fn row(&self, plane: usize, zone: usize) -> usize {
        plane * self.shape.zones + zone
    }

    /// Returns the working parts of a group.
    pub(crate) fn profile(&self, group: usize) -> &Profile {
        self.damaged_groups.get(&group).unwrap_or(&self.intact_profile)
    }

    /// Returns the planes in which the port of a NIC works, one bit each.
    pub(crate) fn ports(&self, nic: Nic) -> u16 {
        !self.ports.get(&nic).copied().unwrap_or(0) & self.all_planes()
    }

    /// Returns a set with a bit for each plane.
    pub(crate) fn all_planes(&self) -> u16 {
        (u32::MAX >> (32 - self.shape.planes)) as u16
    }

    /// Returns the NICs with a port that does not work.
    pub(crate) fn damaged_nics(&self) -> impl Iterator<Item = Nic> + '_ {
        self.ports.keys().copied()
    }

    fn t0<'p>(&self, profile: &'p Profile, plane: usize) -> Option<&'p [u64]> {
        let stride = 1 + self.word_count;
        let part = &profile[plane * stride..(plane + 1) * stride];
        (self.planes[plane] && part[0] != 0).then_some(&part[1..])
    }

    /// Counts the paths inside a group in a plane: 1 or 0.
    pub(crate) fn local(&self, plane: usize, group: &Profile) -> PathCounts {
        PathCounts::symmetric(u64::from(self.t0(group, plane).is_some()))
    }

    /// Counts the paths between two groups of a zone in a plane.
    pub(crate) fn zone(&self, plane: usize, zone: ZoneId, a: &Profile, b: &Profile) -> PathCounts {
        let (Some(a), Some(b)) = (self.t0(a, plane), self.t0(b, plane)) else { return PathCounts::default() };
        let t1s = &self.t1s[self.row(plane, usize::from(zone.0))];
        if self.descent == Descent::Any && self.shape.t0_parallel > 1 {
            let [a, b] = [a, b].map(|own| self.t1_losses(own, t1s));
            return PathCounts::switch_chosen(self.shape.t0_up as u64, self.shape.t0_parallel as u64, &a, &b);
        }
        PathCounts::symmetric(
            a.iter().zip(b).zip(t1s).map(|((a, b), t1)| u64::from((a & b & t1).count_ones())).sum(),
        )
    }

    /// Counts the lost uplinks of a T0, by T1.
    fn t1_losses(&self, own: &[u64], t1s: &[u64]) -> Vec<u32> {
        let mut lost = vec![0; self.shape.t1s];
        for up in 0..self.shape.t0_up {
            let is_left = bits::has(own, up) && bits::has(t1s, up);
            lost[up / self.shape.t0_parallel] += u32::from(!is_left);
        }
        lost
    }

    /// Counts the upward paths from a T0 to each T2 that are lost in or above T1s, by plane and zone. All T0s
    /// of a zone have the same count. The list of a zone without losses is empty. The complete result is
    /// empty if paths use the same uplink numbers up and down.
    pub(crate) fn climbs(&self) -> UpwardLosses {
        let rows = self.shape.planes * self.shape.zones;
        if self.descent == Descent::SameNumbers || self.shape.t1_up == 0 {
            return UpwardLosses(Vec::new());
        }
        let (all_t1s, all_ups) = (bits::full(self.shape.t0_up), bits::full(self.shape.t1_up));
        let climb = |row: usize| {
            let crossings = &self.crossings[row * self.shape.t1s..(row + 1) * self.shape.t1s];
            if self.t1s[row] == all_t1s && crossings.iter().all(|ups| *ups == all_ups) {
                return Vec::new();
            }
            let mut lost = vec![0; self.shape.t2s];
            for up in 0..self.shape.t0_up {
                let t1 = up / self.shape.t0_parallel;
                let works = bits::has(&self.t1s[row], up);
                for v in (0..self.shape.t1_up).filter(|v| !works || !bits::has(&crossings[t1], *v)) {
                    lost[self.shape.t2_of(t1, v)] += 1;
                }
            }
            lost
        };
        UpwardLosses((0..rows).map(climb).collect())
    }

    /// Counts the lost paths from a T0 up to each T2. The result is empty without losses.
    fn t2_losses<'c>(&self, row: usize, own: &[u64], climbs: &'c UpwardLosses) -> Cow<'c, [u32]> {
        let zone = climbs.0[row].as_slice();
        let gone = |up: &usize| !bits::has(own, *up) && bits::has(&self.t1s[row], *up);
        let mut gone = (0..self.shape.t0_up).filter(gone).peekable();
        if own == self.intact_uplinks() || gone.peek().is_none() {
            return Cow::Borrowed(zone);
        }
        let mut lost = if zone.is_empty() { vec![0; self.shape.t2s] } else { zone.to_vec() };
        for up in gone {
            let t1 = up / self.shape.t0_parallel;
            let crossings = &self.crossings[row * self.shape.t1s + t1];
            for v in (0..self.shape.t1_up).filter(|v| bits::has(crossings, *v)) {
                lost[self.shape.t2_of(t1, v)] += 1;
            }
        }
        Cow::Owned(lost)
    }

    /// Counts the T0 uplinks from which a path leads to a T2.
    fn uplinks(&self, row: usize, own: &[u64]) -> u64 {
        let leads = |t1: usize| self.crossings[row * self.shape.t1s + t1].iter().any(|ups| *ups != 0);
        let works = |up: &usize| bits::has(own, *up) && bits::has(&self.t1s[row], *up);
        (0..self.shape.t0_up).filter(works).filter(|up| leads(up / self.shape.t0_parallel)).count() as u64
    }

    /// Returns the uplinks of a T0 without losses.
    fn intact_uplinks(&self) -> &[u64] {
        &self.intact_profile[1..=self.word_count]
    }

    /// Counts the paths between two groups of different zones in a plane. If hosts choose, the T1 uplinks
    /// that remain at both ends are counted for each remaining T0 uplink. If switches choose, paths are
    /// counted per T2.
    pub(crate) fn far(
        &self,
        plane: usize,
        climbs: &UpwardLosses,
        (from, a): (ZoneId, &Profile),
        (to, b): (ZoneId, &Profile),
    ) -> PathCounts {
        let (Some(a), Some(b)) = (self.t0(a, plane), self.t0(b, plane)) else { return PathCounts::default() };
        let (from, to) = (self.row(plane, usize::from(from.0)), self.row(plane, usize::from(to.0)));
        if self.descent == Descent::Any {
            let planned = (self.shape.t0_up * self.shape.t1_up) as u64;
            let ends = [(from, a), (to, b)];
            let uplinks = ends.map(|(row, own)| self.uplinks(row, own)).into_iter().min().unwrap_or_default();
            let [a, b] = ends.map(|(row, own)| self.t2_losses(row, own, climbs));
            let counts = PathCounts::switch_chosen(planned, self.shape.paths_to_t2(), &a, &b);
            return PathCounts { uplinks, ..counts };
        }
        let (parallel, t1s) = (self.shape.t0_parallel, self.shape.t1s);
        let (mut paths, mut uplinks) = (0, 0);
        for (word, (a, b)) in a.iter().zip(b).enumerate() {
            let mut left = a & b & self.t1s[from][word] & self.t1s[to][word];
            while left != 0 {
                let t1 = (word * 64 + left.trailing_zeros() as usize) / parallel;
                let crossings = self.crossings[from * t1s + t1].iter().zip(&self.crossings[to * t1s + t1]);
                let above = crossings.map(|(a, b)| u64::from((a & b).count_ones())).sum::<u64>();
                paths += above;
                uplinks += u64::from(above > 0);
                left &= left - 1;
            }
        }
        PathCounts { uplinks, ..PathCounts::symmetric(paths) }
    }
}
