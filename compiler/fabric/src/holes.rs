//! NICs without a cable, and unconnected parts of a fabric, found without walking every cable.
//!
//! In: a fabric. Out: their numbers, and the first NICs. Invariants: with regular wiring, the work grows with the
//! exceptions, not with the fabric. Equipment of one kind that no exception affects is interchangeable, so one vertex
//! represents it. [`FabricGraph`] gives the same answers by walking every cable.

use std::collections::{BTreeMap, BTreeSet};

use closc_topology::{Island, Link, Nic, PlaneId, Switch, TierId, ZoneId};
use petgraph::unionfind::UnionFind;

use crate::{Fabric, FabricGraph};

/// A T0 group: zone and index.
type Group = (ZoneId, u16);

/// One bit for each plane.
type Planes = u16;

impl Fabric {
    /// Returns the first NIC without any cable, and the number of such NICs.
    pub fn isolated_nics(&self) -> Option<(Nic, u64)> {
        let lost = NicLosses::of(self);
        let all = lost.all_planes;
        let groups = lost.t0s.iter().filter(|(_, planes)| **planes == all).map(|(group, _)| *group);
        let whole = groups.filter_map(|(zone, group)| {
            let mut nics = self.group_nics(zone, group);
            Some((nics.next()?, 1 + nics.count() as u64))
        });
        let single = lost.nics.iter().filter(|(nic, own)| {
            let t0s = lost.t0s_of((nic.zone, nic.group));
            t0s != all && t0s | **own == all
        });
        whole.chain(single.map(|(nic, _)| (*nic, 1))).reduce(|a, b| (a.0.min(b.0), a.1 + b.1))
    }

    /// Returns the first pair of NICs that do not have cables in a common plane, and the number of such pairs. NICs
    /// are counted by their set of planes, not pair by pair. Only NICs of the same island form pairs.
    pub fn pair_without_common_plane(&self) -> Option<(Nic, Nic, u64)> {
        let lost = NicLosses::of(self);
        let island = self.topology().island();
        match island {
            Island::Fabric => return lost.pair_without_common_plane(self, (&lost.nics, &lost.t0s)),
            Island::Group | Island::Zone => {}
        }
        let groups = || lost.nics.keys().map(|nic| (nic.zone, nic.group)).chain(lost.t0s.keys().copied());
        let islands: BTreeSet<_> = groups().map(|group| island.of(group)).collect();
        let found = islands.into_iter().filter_map(|own| {
            let nics = lost.nics.iter().filter(|(nic, _)| island.of((nic.zone, nic.group)) == own);
            let t0s =
                groups().filter(|group| island.of(*group) == own).map(|group| (group, lost.t0s_of(group)));
            lost.pair_without_common_plane(
                self,
                (&nics.map(|(nic, planes)| (*nic, *planes)).collect(), &t0s.collect()),
            )
        });
        found.reduce(|(one, other, pairs), (.., more)| (one, other, pairs + more))
    }

    /// Returns the number of connected parts that contain a NIC. It equals [`Self::planned_islands`] if exceptions do
    /// not divide the fabric.
    pub fn islands(&self) -> u64 {
        let exceptions = &self.topology().exceptions;
        if self.is_regular() {
            Pieces::of(self).count()
        } else if !self.topology().has_t1()
            && exceptions.absent_switches.is_empty()
            && exceptions.absent_links.is_empty()
        {
            self.planned_islands()
        } else {
            FabricGraph::of(self).islands() as u64
        }
    }

    /// Returns the number of connected parts that contain a NIC before exceptions: one for each island with
    /// NICs.
    pub(crate) fn planned_islands(&self) -> u64 {
        let topology = self.topology();
        let island = topology.island();
        match island {
            Island::Fabric => return 1,
            Island::Group | Island::Zone => {}
        }
        let mut groups: Vec<Group> = topology
            .zone_ids()
            .flat_map(|zone| (0..topology.hosts.groups).map(move |group| (zone, group)))
            .collect();
        groups.retain(|(zone, group)| self.group_nics(*zone, *group).next().is_some());
        groups.dedup_by_key(|group| island.of(*group));
        groups.len() as u64
    }

    /// Returns whether the wiring, before exceptions, connects every T0 with every T1 of its zone, and every T1 with
    /// every T2 of its row.
    fn is_regular(&self) -> bool {
        let topology = self.topology();
        let reach = |up: u16, parallel: u16| u32::from(up.div_ceil(parallel.max(1)));
        let t1s = reach(topology.t0.up.count, topology.t0.parallel);
        let t2s = reach(topology.t1.up.count, topology.t1.parallel) * u32::from(topology.t2_rows());
        topology.has_t1()
            && t1s >= u32::from(topology.t1_count)
            && t2s >= u32::from(topology.count(TierId::T2))
    }
}

/// Losses of NICs caused by exceptions.
struct NicLosses {
    all_planes: Planes,
    /// The planes in which T0s are absent.
    t0s: BTreeMap<Group, Planes>,
    /// The planes in which the cable of a NIC itself is absent.
    nics: BTreeMap<Nic, Planes>,
}

impl NicLosses {
    fn of(fabric: &Fabric) -> Self {
        let exceptions = &fabric.topology().exceptions;
        let bit = |plane: PlaneId| 1 << plane.0;
        let mut lost = NicLosses {
            all_planes: fabric.topology().plane_ids().fold(0, |all, plane| all | bit(plane)),
            t0s: BTreeMap::new(),
            nics: BTreeMap::new(),
        };
        for t0 in exceptions.absent_switches.iter().filter(|switch| switch.tier == TierId::T0) {
            *lost.t0s.entry((t0.zone, t0.index)).or_default() |= bit(t0.plane);
        }
        for link in &exceptions.absent_links {
            if let Link::Host(port) = link
                && fabric.has_nic(port.nic)
            {
                *lost.nics.entry(port.nic).or_default() |= bit(port.plane);
            }
        }
        lost
    }

    /// Returns the first pair without a common plane, and the number of such pairs, among the affected NICs and the
    /// other NICs of their groups.
    fn pair_without_common_plane(
        &self,
        fabric: &Fabric,
        (nics, t0s): (&BTreeMap<Nic, Planes>, &BTreeMap<Group, Planes>),
    ) -> Option<(Nic, Nic, u64)> {
        let mut classes: BTreeMap<Planes, (u64, Nic)> = BTreeMap::new();
        let mut add = |planes: Planes, count: u64, first: Nic| {
            let class = classes.entry(planes).or_insert((0, first));
            *class = (class.0 + count, class.1.min(first));
        };
        for (nic, own) in nics {
            add(self.all_planes & !(self.t0s_of((nic.zone, nic.group)) | own), 1, *nic);
        }
        for (group, t0s) in t0s.iter().filter(|(_, t0s)| **t0s != self.all_planes) {
            let (count, first) = self.unaffected_nics(fabric, *group);
            if let Some(first) = first {
                add(self.all_planes & !t0s, count, first);
            }
        }
        // NICs without any cable are reported by another rule.
        classes.remove(&0);
        // For each set of planes, the number of NICs whose planes are all in the set, computed one plane at a time.
        let mut within = vec![0_u64; usize::from(self.all_planes) + 1];
        for (planes, (count, _)) in &classes {
            within[usize::from(*planes)] = *count;
        }
        for plane in
            (0..Planes::BITS).map(|plane| 1 << plane).filter(|bit| bit & usize::from(self.all_planes) != 0)
        {
            for set in (0..within.len()).filter(|set| set & plane != 0) {
                within[set] += within[set ^ plane];
            }
        }
        let other = |planes: Planes| usize::from(self.all_planes & !planes);
        let pairs: u64 =
            classes.iter().map(|(planes, (count, _))| count.saturating_mul(within[other(*planes)])).sum();
        let (one, (_, first)) = classes.iter().find(|(planes, _)| within[other(**planes)] > 0)?;
        let (_, (_, second)) = classes.iter().find(|(planes, _)| *planes & one == 0)?;
        Some((*first.min(second), *first.max(second), pairs / 2))
    }

    /// Returns the number of NICs of a group whose own cables all exist, and the first of them.
    fn unaffected_nics(&self, fabric: &Fabric, (zone, group): Group) -> (u64, Option<Nic>) {
        let nic = |downlink| Nic { zone, group, downlink };
        let range = nic(0)..=nic(u16::MAX);
        let absent = fabric.topology().exceptions.absent_nics.range(range.clone()).count();
        let single = self.nics.range(range).count();
        let all = usize::from(fabric.topology().hosts.per_group);
        let first = fabric.group_nics(zone, group).find(|nic| !self.nics.contains_key(nic));
        (all.saturating_sub(absent + single) as u64, first)
    }

    fn t0s_of(&self, group: Group) -> Planes {
        self.t0s.get(&group).copied().unwrap_or(0)
    }
}

/// A vertex: a single element, or all elements of a kind that no exception affects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Vertex {
    /// The groups of a zone that have every T0 and every cable above it, at least one NIC with all cables, and no NIC
    /// without a cable.
    Groups(ZoneId),
    /// The existing T1s of a plane, zone and row that are not at an end of an absent cable.
    T1s(PlaneId, ZoneId, u16),
    /// The existing T2s of a plane and row that are not at an end of an absent cable.
    T2s(PlaneId, u16),
    /// A switch that an exception affects.
    Switch(Switch),
}

/// The graph of all remaining equipment.
struct Pieces<'a> {
    fabric: &'a Fabric,
    lost: NicLosses,
    /// Groups that are examined one by one.
    groups: BTreeSet<Group>,
    /// Existing T1s and T2s with an absent cable.
    damaged_switches: BTreeSet<Switch>,
    /// Number of T1s and T2s that are absent or have an absent cable, by plane, tier, zone and row.
    affected_counts: BTreeMap<(PlaneId, TierId, ZoneId, u16), u16>,
    vertices: BTreeMap<Vertex, usize>,
    edges: Vec<(usize, usize)>,
    /// Vertices with a NIC.
    populated_vertices: BTreeSet<usize>,
    /// Groups and NICs without any connection.
    isolated_count: u64,
}

impl<'a> Pieces<'a> {
    fn of(fabric: &'a Fabric) -> Self {
        let lost = NicLosses::of(fabric);
        let mut pieces = Pieces {
            fabric,
            groups: special_groups(fabric, &lost),
            damaged_switches: damaged_switches(fabric),
            lost,
            affected_counts: BTreeMap::new(),
            vertices: BTreeMap::new(),
            edges: Vec::new(),
            populated_vertices: BTreeSet::new(),
            isolated_count: 0,
        };
        let absent = fabric.topology().exceptions.absent_switches.iter();
        for switch in absent.chain(&pieces.damaged_switches).filter(|switch| switch.tier != TierId::T0) {
            let key = (switch.plane, switch.tier, switch.zone, pieces.row(*switch));
            *pieces.affected_counts.entry(key).or_default() += 1;
        }
        for zone in fabric.topology().zone_ids() {
            pieces.plain_groups(zone);
        }
        for group in std::mem::take(&mut pieces.groups) {
            pieces.group(group);
        }
        if fabric.topology().t2.is_some() {
            pieces.upper();
        }
        pieces
    }

    fn count(self) -> u64 {
        let mut sets = UnionFind::new(self.vertices.len());
        for (a, b) in self.edges {
            sets.union(a, b);
        }
        let roots: BTreeSet<usize> = self.populated_vertices.iter().map(|at| sets.find_mut(*at)).collect();
        self.isolated_count + roots.len() as u64
    }

    fn vertex(&mut self, vertex: Vertex) -> usize {
        let next = self.vertices.len();
        *self.vertices.entry(vertex).or_insert(next)
    }

    fn edge(&mut self, a: usize, b: Vertex) {
        let b = self.vertex(b);
        self.edges.push((a, b));
    }

    fn rows(&self) -> u16 {
        self.fabric.topology().t2_rows()
    }

    fn row(&self, switch: Switch) -> u16 {
        switch.index % self.rows()
    }

    /// Rows that contain T1s.
    fn rows_in_use(&self) -> impl Iterator<Item = u16> + use<> {
        0..self.rows().min(self.fabric.topology().t1_count)
    }

    /// Returns whether some switches of a tier, plane, zone and row are not affected by any exception.
    fn has_plain(&self, plane: PlaneId, tier: TierId, zone: ZoneId, row: u16) -> bool {
        let all = (self.fabric.topology().count(tier).saturating_sub(row)).div_ceil(self.rows());
        all > self.affected_counts.get(&(plane, tier, zone, row)).copied().unwrap_or(0)
    }

    /// Switches of one tier, plane and zone with an absent cable.
    fn damaged_zone_switches(&self, plane: PlaneId, tier: TierId, zone: ZoneId) -> Vec<Switch> {
        let at = |index| Switch { plane, tier, zone, index };
        self.damaged_switches.range(at(0)..=at(u16::MAX)).copied().collect()
    }

    /// T1s of a plane and zone that are connected to every regular T0.
    fn t1s(&self, plane: PlaneId, zone: ZoneId) -> Vec<Vertex> {
        let near = self.damaged_zone_switches(plane, TierId::T1, zone).into_iter().map(Vertex::Switch);
        near.chain(self.plain_t1s(plane, zone)).collect()
    }

    fn plain_t1s(&self, plane: PlaneId, zone: ZoneId) -> impl Iterator<Item = Vertex> + '_ {
        let rows = self.rows_in_use().filter(move |row| self.has_plain(plane, TierId::T1, zone, *row));
        rows.map(move |row| Vertex::T1s(plane, zone, row))
    }

    fn plain_groups(&mut self, zone: ZoneId) {
        let special = self.groups.range((zone, 0)..=(zone, u16::MAX)).count() as u64;
        let groups = u64::from(self.fabric.topology().hosts.groups) - special;
        if groups == 0 {
            return;
        }
        let planes = self.fabric.topology().plane_ids();
        let above: Vec<Vertex> = planes.flat_map(|plane| self.t1s(plane, zone)).collect();
        if above.is_empty() {
            self.isolated_count += groups;
            return;
        }
        let own = self.vertex(Vertex::Groups(zone));
        self.populated_vertices.insert(own);
        for t1 in above {
            self.edge(own, t1);
        }
    }

    fn group(&mut self, (zone, group): Group) {
        let planes = self.fabric.topology().plane_ids();
        let t0 = |plane| Switch { plane, tier: TierId::T0, zone, index: group };
        let t0s: Vec<Switch> = planes.map(t0).filter(|t0| self.fabric.has_switch(*t0)).collect();
        for t0 in &t0s {
            let own = self.vertex(Vertex::Switch(*t0));
            let near = self.damaged_zone_switches(t0.plane, TierId::T1, zone);
            let near = near.into_iter().filter(|t1| is_connected(self.fabric, *t0, *t1)).map(Vertex::Switch);
            let above: Vec<Vertex> = near.chain(self.plain_t1s(t0.plane, zone)).collect();
            for t1 in above {
                self.edge(own, t1);
            }
        }
        let fabric = self.fabric;
        // NICs of a group that lack cables in the same planes are treated as one kind.
        let mut kinds: BTreeMap<Planes, u64> = BTreeMap::new();
        for nic in fabric.group_nics(zone, group) {
            *kinds.entry(self.lost.nics.get(&nic).copied().unwrap_or(0)).or_default() += 1;
        }
        for (lost, nics) in kinds {
            let mut there = t0s.iter().filter(|t0| lost >> t0.plane.0 & 1 == 0);
            let Some(first) = there.next() else {
                self.isolated_count += nics;
                continue;
            };
            let own = self.vertex(Vertex::Switch(*first));
            self.populated_vertices.insert(own);
            there.for_each(|t0| self.edge(own, Vertex::Switch(*t0)));
        }
    }

    /// Connects T1s with T2s.
    fn upper(&mut self) {
        let topology = self.fabric.topology();
        for (plane, zone) in topology.plane_ids().flat_map(|p| topology.zone_ids().map(move |z| (p, z))) {
            for t1 in self.t1s(plane, zone) {
                let row = match t1 {
                    Vertex::Switch(t1) => self.row(t1),
                    Vertex::T1s(_, _, row) | Vertex::T2s(_, row) => row,
                    Vertex::Groups(_) => continue,
                };
                let own = self.vertex(t1);
                if self.has_plain(plane, TierId::T2, ZoneId(0), row) {
                    self.edge(own, Vertex::T2s(plane, row));
                }
                for t2 in self.damaged_zone_switches(plane, TierId::T2, ZoneId(0)) {
                    let reaches = match t1 {
                        Vertex::Switch(t1) => is_connected(self.fabric, t1, t2),
                        Vertex::T1s(..) | Vertex::T2s(..) | Vertex::Groups(_) => self.row(t2) == row,
                    };
                    if reaches {
                        self.edge(own, Vertex::Switch(t2));
                    }
                }
            }
        }
    }
}

/// Groups that lack a T0 or a cable above a T0, that have no NIC with all cables, or that have a NIC without cables.
fn special_groups(fabric: &Fabric, lost: &NicLosses) -> BTreeSet<Group> {
    let exceptions = &fabric.topology().exceptions;
    let mut incomplete: BTreeMap<Group, u16> = BTreeMap::new();
    for nic in exceptions.absent_nics.iter().chain(lost.nics.keys()) {
        *incomplete.entry((nic.zone, nic.group)).or_default() += 1;
    }
    let all = fabric.topology().hosts.per_group;
    let empty = incomplete.into_iter().filter(|(_, nics)| *nics >= all).map(|(group, _)| group);
    let uplinks = exceptions.absent_links.iter().filter_map(|link| match link {
        Link::Fabric { lower, .. } if lower.tier == TierId::T0 => Some((lower.zone, lower.index)),
        Link::Fabric { .. } | Link::Host(_) => None,
    });
    let lonely = lost.nics.iter().filter(|(_, planes)| **planes == lost.all_planes);
    let lonely = lonely.map(|(nic, _)| (nic.zone, nic.group));
    lost.t0s.keys().copied().chain(empty).chain(uplinks).chain(lonely).collect()
}

/// Existing T1s and T2s at an end of an absent cable.
fn damaged_switches(fabric: &Fabric) -> BTreeSet<Switch> {
    let links = fabric.topology().exceptions.absent_links.iter();
    let cables = links.filter_map(|link| match link {
        Link::Fabric { lower, .. } => Some((*lower, fabric.upper_end(*link)?.0)),
        Link::Host(_) => None,
    });
    let ends = cables.flat_map(|(lower, upper)| [lower, upper]);
    ends.filter(|switch| switch.tier != TierId::T0 && fabric.has_switch(*switch)).collect()
}

/// Returns whether the cable between two switches exists.
fn is_connected(fabric: &Fabric, lower: Switch, upper: Switch) -> bool {
    let topology = fabric.topology();
    let parallel = topology.tier(lower.tier).map_or(0, |tier| tier.parallel);
    let mut ups = (0..parallel).filter_map(|cable| topology.uplink(lower, upper, cable));
    ups.any(|up| fabric.has_link(Link::Fabric { lower, up }))
}
