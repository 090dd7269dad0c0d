//! The switches, NICs and cables that are added, removed or moved.
//!
//! In: two fabrics. Out: coordinates, in order. Invariants: if wiring rules differ, all elements are
//! compared. Otherwise only two sets are compared: elements named in exceptions, and elements within the
//! counts of one side only.

use closc_fabric::{Fabric, PortUse};
use closc_platform::{Os, Release, Share};
use closc_topology::{
    Exceptions, Link, Nic, NicPort, PlaneId, PortBlock, PortRef, Side, Switch, Tier, TierId, Topology, ZoneId,
};

/// Items that only one side has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delta<T> {
    /// Items that only the new side has.
    pub added: Vec<T>,
    /// Items that only the old side has.
    pub removed: Vec<T>,
}

/// Switches, NICs and cables that are added, removed or moved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Population {
    /// Switches.
    pub switches: Delta<Switch>,
    /// NICs.
    pub nics: Delta<Nic>,
    /// Cables.
    pub cables: Delta<Link>,
    /// Cables of both sides with an end at another port: on another switch, in another cage, or in another part of the
    /// cage.
    pub moved: Vec<MovedCable>,
}

/// A cable that moves. Its number may differ between both sides, because the uplink cables of a T0 are
/// numbered by port.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct MovedCable {
    /// In the old fabric.
    pub old: Link,
    /// In the new fabric.
    pub new: Link,
}

impl Population {
    /// Compares two fabrics.
    pub fn compare(old: &Fabric, new: &Fabric) -> Population {
        if has_same_wiring(old.topology(), new.topology()) {
            nearby_changes(old, new)
        } else {
            compare_elements(old, new)
        }
    }

    /// Returns whether an element is added, or a cable moves.
    pub fn grows(&self) -> bool {
        let cables = self.cables.added.len() + self.moved.len();
        !self.switches.added.is_empty() || !self.nics.added.is_empty() || cables > 0
    }

    /// Returns whether an element is removed, or a cable moves.
    pub fn shrinks(&self) -> bool {
        let cables = self.cables.removed.len() + self.moved.len();
        !self.switches.removed.is_empty() || !self.nics.removed.is_empty() || cables > 0
    }

    /// Returns whether nothing is added, removed or moved.
    pub fn is_same(&self) -> bool {
        self.switches.is_empty() && self.nics.is_empty() && self.cables.is_empty() && self.moved.is_empty()
    }
}

impl<T> Delta<T> {
    /// Returns whether nothing is added or removed.
    pub fn is_empty(&self) -> bool {
        self.added.is_empty() && self.removed.is_empty()
    }
}

/// Returns whether every cable that both fabrics have is at the same ports in both.
pub(crate) fn has_same_wiring(old: &Topology, new: &Topology) -> bool {
    let upper = match (&old.t2, &new.t2) {
        (Some(before), Some(after)) => {
            let rule = |topology: &Topology, ports: u16| (topology.t1.parallel, topology.t2_rows(), ports);
            rule(old, before.zone_ports) == rule(new, after.zone_ports)
        }
        (_, _) => true,
    };
    old.t0.parallel == new.t0.parallel
        && has_same_nodes(old, new)
        && has_same_order(old, new)
        && upper
        && TierId::ALL.into_iter().all(|tier| has_same_cages(old, new, tier))
}

/// Returns whether every downlink of a T0 leads to the same NIC of the same node in both fabrics.
pub(crate) fn has_same_nodes(old: &Topology, new: &Topology) -> bool {
    let rule = |topology: &Topology| {
        (topology.hosts.rails, topology.hosts.nics_per_node, topology.hosts.zones_per_node)
    };
    rule(old) == rule(new)
}

/// Returns whether every NIC of the old fabric has the same T0s, node and number in the new one.
pub(crate) fn keeps_nics(old: &Fabric, new: &Fabric) -> bool {
    let (before, after) = (old.topology(), new.topology());
    has_same_nodes(before, after)
        || old.nics().all(|nic| new.has_nic(nic) && before.node_of(nic) == after.node_of(nic))
}

/// Returns the old fabric's NIC with the same number in the same node. It can be on another T0, and the old fabric can
/// lack it.
pub(crate) fn same_nic(old: &Topology, new: &Topology, nic: Nic) -> Option<Nic> {
    if has_same_nodes(old, new) {
        return Some(nic);
    }
    let (node, number) = new.node_of(nic);
    old.find_nic(node, number)
}

/// Returns the NIC of the old fabric that is the same as one of the new fabric; `None` if the old fabric lacks it.
pub(crate) fn old_nic(old: &Fabric, new: &Fabric, nic: Nic) -> Option<Nic> {
    same_nic(old.topology(), new.topology(), nic).filter(|nic| old.has_nic(*nic))
}

/// Returns the cable of the old fabric that is the same as one of the new fabric; `None` if the old fabric lacks it.
pub(crate) fn old_cable(old: &Fabric, new: &Fabric, link: Link) -> Option<Link> {
    same_cable(old.topology(), new.topology(), link).filter(|link| old.has_link(*link))
}

/// Returns whether T0 and T1 ports with the same number have the same position.
pub(crate) fn has_same_order(old: &Topology, new: &Topology) -> bool {
    if old.t0.port_order.is_empty() && new.t0.port_order.is_empty() {
        return true;
    }
    let sides = [
        (TierId::T0, Side::Up, old.t0.up.count.min(new.t0.up.count)),
        (TierId::T1, Side::Down, old.t1.down.count.min(new.t1.down.count)),
    ];
    sides.into_iter().all(|(tier, side, count)| {
        (0..count)
            .map(|index| PortRef { side, index })
            .all(|port| old.place(tier, port) == new.place(tier, port))
    })
}

/// Returns whether ports with the same number are in the same cages in every zone. Also true if all switches
/// of the tier are replaced.
fn has_same_cages(old: &Topology, new: &Topology, tier: TierId) -> bool {
    let (Some(before), Some(after)) = (old.tier(tier), new.tier(tier)) else { return true };
    let has_one_platform = |topology: &Topology, own: &Tier| {
        let single = topology.exceptions.switches.keys().any(|switch| switch.tier == tier);
        own.by_zone.is_empty() && own.by_plane.is_empty() && !single
    };
    if before.platform.hardware() != after.platform.hardware()
        && has_one_platform(old, before)
        && has_one_platform(new, after)
    {
        return true;
    }
    let start = |block: PortBlock| (block.first_port, block.breakout.ports, block.breakout.share);
    let is_same =
        |(one, other): (PortBlock, PortBlock)| start(one) == start(other) && has_common_cages(&one, &other);
    let blocks = |tier: &Tier, zone| [tier.down_ports(zone), tier.up_ports(zone)];
    let is_same_in = |zone| blocks(before, zone).into_iter().zip(blocks(after, zone)).all(is_same);
    let own = before.by_zone.keys().chain(after.by_zone.keys()).copied();
    let common = own.filter(|zone| zone.0 < old.zones.min(new.zones));
    let numbers = |tier: &Tier| [0, 1].map(|cage| tier.platform.panel.cage_number(cage));
    let base = [(before.down, after.down), (before.up, after.up)].into_iter().all(is_same)
        && numbers(before) == numbers(after);
    base && { common }.all(is_same_in)
}

/// Returns whether the ports that both blocks have are in the same cages. `0` and `0-63` can mean the same cages. Ports
/// of one block only do not count, because they have no other place before.
pub(crate) fn has_common_cages(one: &PortBlock, other: &PortBlock) -> bool {
    let count = |block: &PortBlock| {
        let ports = u16::from(block.first_port) + block.count + block.spare;
        ports.div_ceil(u16::from(block.breakout.ports).max(1))
    };
    (0..count(one).min(count(other))).all(|place| one.cages.nth(place) == other.cages.nth(place))
}

/// An upgrade of a switch: the operating system, and its release before and after.
pub(crate) type Upgrade = (Os, Release, Release);

/// Returns the upgrade of a switch that runs the same system in another release.
pub(crate) fn find_upgrade(old: &Fabric, new: &Fabric, switch: Switch) -> Option<Upgrade> {
    let system = |fabric: &Fabric| {
        let topology = fabric.topology();
        let (_, os) = fabric.has_switch(switch).then(|| topology.hardware(switch))?;
        Some((os, topology.release(os)?))
    };
    let ((old_os, before), (new_os, after)) = (system(old)?, system(new)?);
    (old_os == new_os && before != after).then_some((new_os, before, after))
}

/// Returns whether a switch runs the same system in another release.
pub(crate) fn is_upgraded(old: &Fabric, new: &Fabric, switch: Switch) -> bool {
    find_upgrade(old, new, switch).is_some()
}

/// Returns whether the hardware of a switch of both fabrics is different in the new one. Platforms that
/// describe the same switch model with different port layouts are the same hardware.
pub(crate) fn is_replaced(old: &Fabric, new: &Fabric, switch: Switch) -> bool {
    let [before, after] = [old.topology(), new.topology()]
        .map(|topology| topology.tier(switch.tier).map(|_| topology.hardware(switch).0.hardware()));
    before != after
}

/// The port at an end of a cable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum EndPort {
    /// The cage's number on the panel, the first lane within the cage or its share, and the share of the cage. Ports of
    /// another breakout have other lanes and names.
    Slot(u16, u16, Option<Share>),
    /// The position among the uplinks or downlinks. Ports of a replaced switch are compared by position,
    /// because other hardware can have other cages.
    Place(u16),
}

/// Returns the switches and ports of a cable, the lower end first; `None` for NICs.
fn ends(fabric: &Fabric, link: Link) -> [Option<(Switch, PortRef)>; 2] {
    let lower = match link {
        Link::Fabric { lower, up } => Some((lower, PortRef { side: Side::Up, index: up })),
        Link::Host(_) => None,
    };
    [lower, fabric.upper_end(link)]
}

/// Returns for each end of a cable whether it is at another port, the lower end first.
pub(crate) fn moved_ends(old: &Fabric, new: &Fabric, cable: MovedCable) -> [bool; 2] {
    let port = |fabric: &Fabric, end: Option<(Switch, PortRef)>| {
        let (switch, port) = end?;
        let topology = fabric.topology();
        topology.tier(switch.tier)?;
        let found = if is_replaced(old, new, switch) {
            EndPort::Place(topology.place(switch.tier, port))
        } else {
            let slot = topology.slot(switch, port);
            let panel = &topology.hardware(switch).0.panel;
            let width = u16::from(slot.breakout.width(panel.lanes)).max(1);
            let lane = u16::from(slot.part) * width;
            EndPort::Slot(panel.cage_number(slot.cage), lane, slot.breakout.share)
        };
        Some((found, port.side))
    };
    let switch = |end: Option<(Switch, PortRef)>| end.map(|(switch, _)| switch);
    let ([lower, upper], [new_lower, new_upper]) = (ends(old, cable.old), ends(new, cable.new));
    [
        port(old, lower) != port(new, new_lower),
        switch(upper) != switch(new_upper) || port(old, upper) != port(new, new_upper),
    ]
}

/// Returns the cable of the old fabric that has the same lower end as a cable of the new fabric. A cable of a
/// NIC is known by node, NIC and plane; a cable above a T0 by its port of the T0, which both sides can number
/// differently.
pub(crate) fn same_cable(old: &Topology, new: &Topology, link: Link) -> Option<Link> {
    Some(match link {
        Link::Host(NicPort { plane, nic }) => Link::Host(NicPort { plane, nic: same_nic(old, new, nic)? }),
        Link::Fabric { lower, up } if lower.tier == TierId::T0 => {
            let place = new.place(lower.tier, PortRef { side: Side::Up, index: up });
            Link::Fabric { lower, up: old.port_at(lower.tier, Side::Up, place) }
        }
        Link::Fabric { .. } => link,
    })
}

/// Compares fabrics with the same wiring rule. They can differ only near absent elements, and in elements
/// within the counts of one side.
fn nearby_changes(old: &Fabric, new: &Fabric) -> Population {
    let (mut switches, mut nics, mut links) = absences(old, new);
    for (own, other) in [(old, new), (new, old)] {
        let beyond = CountSurplus { fabric: own, counterpart: other };
        switches.extend(beyond.switches());
        nics.extend(beyond.nics());
        links.extend(beyond.host_links());
        links.extend(beyond.uplinks());
    }
    Population {
        switches: delta(sorted(switches), |s| old.has_switch(*s), |s| new.has_switch(*s)),
        nics: delta(sorted(nics), |n| old.has_nic(*n), |n| new.has_nic(*n)),
        cables: delta(sorted(links), |l| old.has_link(*l), |l| new.has_link(*l)),
        moved: Vec::new(),
    }
}

fn sorted<T: Ord>(mut all: Vec<T>) -> Vec<T> {
    all.sort_unstable();
    all.dedup();
    all
}

/// Returns the elements that only one side declares absent, with their cables.
fn absences(old: &Fabric, new: &Fabric) -> (Vec<Switch>, Vec<Nic>, Vec<Link>) {
    let (before, after) = (&old.topology().exceptions, &new.topology().exceptions);
    let switches: Vec<Switch> =
        before.absent_switches.symmetric_difference(&after.absent_switches).copied().collect();
    let nics: Vec<Nic> = before.absent_nics.symmetric_difference(&after.absent_nics).copied().collect();
    let mut links: Vec<Link> =
        before.absent_links.symmetric_difference(&after.absent_links).copied().collect();
    for fabric in [old, new] {
        let with_ports = switches.iter().filter(|switch| fabric.topology().tier(switch.tier).is_some());
        let ports = with_ports.flat_map(|switch| fabric.ports(*switch));
        links.extend(ports.filter_map(|port| match port.usage {
            PortUse::Link { link, .. } | PortUse::Absent { link } => Some(link),
            PortUse::Spare => None,
        }));
        let ports = |nic: &Nic| {
            let nic = *nic;
            fabric.topology().plane_ids().map(move |plane| Link::Host(NicPort { plane, nic }))
        };
        links.extend(nics.iter().flat_map(ports));
    }
    (switches, nics, links)
}

/// Elements within the counts of one side only.
struct CountSurplus<'a> {
    fabric: &'a Fabric,
    counterpart: &'a Fabric,
}

impl CountSurplus<'_> {
    fn switches(&self) -> impl Iterator<Item = Switch> + '_ {
        let place = move |tier: TierId| {
            self.planes().flat_map(move |plane| self.zones(tier).map(move |z| (plane, z)))
        };
        TierId::ALL.into_iter().flat_map(move |tier| {
            place(tier).flat_map(move |(plane, zone)| {
                // The number of T1s determines which T2s of a row exist, so compare all T2s. They are few.
                let common = tier != TierId::T2 && self.is_common(plane, zone);
                let first = if common { self.counterpart.topology().count(tier) } else { 0 };
                (first..self.fabric.topology().count(tier)).map(move |index| Switch {
                    plane,
                    tier,
                    zone,
                    index,
                })
            })
        })
    }

    fn nics(&self) -> impl Iterator<Item = Nic> + '_ {
        let (own, other) = (self.fabric.topology(), self.counterpart.topology());
        let groups = move |zone| (0..own.hosts.groups).map(move |group| (zone, group));
        self.fabric.topology().zone_ids().flat_map(groups).flat_map(move |(zone, group)| {
            let common = zone.0 < other.zones && group < other.hosts.groups;
            let first = if common { other.hosts.per_group } else { 0 };
            (first..own.hosts.per_group).map(move |downlink| Nic { zone, group, downlink })
        })
    }

    fn host_links(&self) -> impl Iterator<Item = Link> + '_ {
        let planes = self.counterpart.topology().planes;
        let fresh = move |plane: &PlaneId| plane.0 >= planes;
        let whole = self.planes().filter(fresh).flat_map(|plane| self.fabric.host_links(plane));
        let port = move |nic| {
            self.planes()
                .filter(move |plane| !fresh(plane))
                .map(move |plane| Link::Host(NicPort { plane, nic }))
        };
        whole.chain(self.nics().flat_map(port))
    }

    /// Returns the cables above T0s and T1s. Includes all uplinks of switches that the other side does not
    /// have. Of other switches, includes the uplinks that only one side connects.
    fn uplinks(&self) -> impl Iterator<Item = Link> + '_ {
        [TierId::T0, TierId::T1].into_iter().flat_map(move |tier| {
            let ups = self.fabric.topology().tier(tier).map_or(0, |tier| tier.up.count);
            let rows: Vec<Vec<u16>> =
                (0..self.rows(tier)).map(|row| self.exclusive_uplinks(tier, row)).collect();
            let all: Vec<u16> = (0..ups).collect();
            let alike = rows.iter().all(Vec::is_empty);
            self.lower(tier, alike).flat_map(move |(lower, is_common)| {
                let ups = if is_common { &rows[usize::from(lower.index) % rows.len()] } else { &all };
                ups.clone().into_iter().map(move |up| Link::Fabric { lower, up })
            })
        })
    }

    /// Returns the switches of a tier, and whether the other side has each of them. With `alike`, switches
    /// that both sides have are omitted.
    fn lower(&self, tier: TierId, alike: bool) -> impl Iterator<Item = (Switch, bool)> + '_ {
        let places = self.planes().flat_map(move |plane| self.zones(tier).map(move |zone| (plane, zone)));
        places.flat_map(move |(plane, zone)| {
            let reach = if self.is_common(plane, zone) { self.counterpart.topology().count(tier) } else { 0 };
            let first = if alike { reach } else { 0 };
            (first..self.fabric.topology().count(tier))
                .map(move |index| (Switch { plane, tier, zone, index }, index < reach))
        })
    }

    /// Returns the uplinks of a row's switches that only one side connects.
    fn exclusive_uplinks(&self, tier: TierId, row: u16) -> Vec<u16> {
        let lower = Switch { plane: PlaneId(0), tier, zone: ZoneId(0), index: row };
        let is_wired = |fabric: &Fabric, up: u16| {
            let upper = fabric.topology().upper(lower, up);
            upper.is_some_and(|(upper, _)| upper.index < fabric.topology().count(upper.tier))
        };
        let ups = self.fabric.topology().tier(tier).map_or(0, |tier| tier.up.count);
        (0..ups).filter(|up| is_wired(self.fabric, *up) != is_wired(self.counterpart, *up)).collect()
    }

    fn rows(&self, tier: TierId) -> u16 {
        if tier == TierId::T1 { self.fabric.topology().t2_rows() } else { 1 }
    }

    fn planes(&self) -> impl Iterator<Item = PlaneId> + use<> {
        self.fabric.topology().plane_ids()
    }

    fn zones(&self, tier: TierId) -> impl Iterator<Item = ZoneId> + use<> {
        let zones = if tier == TierId::T2 { 1 } else { self.fabric.topology().zones };
        (0..zones).map(ZoneId)
    }

    fn is_common(&self, plane: PlaneId, zone: ZoneId) -> bool {
        plane.0 < self.counterpart.topology().planes && zone.0 < self.counterpart.topology().zones
    }
}

fn delta<T: Copy>(all: Vec<T>, old: impl Fn(&T) -> bool, new: impl Fn(&T) -> bool) -> Delta<T> {
    let mut delta = Delta { added: Vec::new(), removed: Vec::new() };
    for item in all {
        match (old(&item), new(&item)) {
            (false, true) => delta.added.push(item),
            (true, false) => delta.removed.push(item),
            (true, true) | (false, false) => {}
        }
    }
    delta
}

/// Compares fabrics with different wiring rules, element by element.
fn compare_elements(old: &Fabric, new: &Fabric) -> Population {
    let removed_links = old.links().filter(|link| old_cable(new, old, *link).is_none()).collect();
    let mut cables = Delta { added: Vec::new(), removed: removed_links };
    let mut moved = Vec::new();
    for link in new.links() {
        let Some(before) = old_cable(old, new, link) else {
            cables.added.push(link);
            continue;
        };
        let cable = MovedCable { old: before, new: link };
        if moved_ends(old, new, cable) != [false; 2] {
            moved.push(cable);
        }
    }
    Population {
        switches: Delta {
            added: new.switches().filter(|switch| !old.has_switch(*switch)).collect(),
            removed: old.switches().filter(|switch| !new.has_switch(*switch)).collect(),
        },
        nics: Delta {
            added: new.nics().filter(|nic| old_nic(old, new, *nic).is_none()).collect(),
            removed: old.nics().filter(|nic| old_nic(new, old, *nic).is_none()).collect(),
        },
        cables,
        moved,
    }
}

/// Returns whether a switch is drained, either by itself or with its plane.
pub(crate) fn is_drained(exceptions: &Exceptions, switch: Switch) -> bool {
    exceptions.drained_switches.contains(&switch) || exceptions.drained_planes.contains(&switch.plane)
}
