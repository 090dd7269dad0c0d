//! The fabric as numbers: which cables can carry traffic, and which planes are alike.
//!
//! In: a plan. Out: [`Network`]. Invariants: a cable that is absent or drained, or one end of which is, carries nothing.
//! Planes that can carry the same over the same cables are one [`Kind`] and are computed once: a fabric without
//! exceptions has one kind, whatever the number of its planes.

use closc_plan::Plan;
use closc_topology::{Link, Nic, NicPort, PlaneId, Switch, TierId, Topology, ZoneId};

/// Megabits in a gigabit.
const GIGA: f64 = 1000.0;

/// The numbers that decide where a cable ends.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shape {
    pub(crate) zones: usize,
    /// T0 groups of a zone.
    pub(crate) groups: usize,
    pub(crate) per_group: usize,
    /// Uplinks of a T0, and how many of them are parallel.
    pub(crate) u0: usize,
    pub(crate) k0: usize,
    /// T1s of a plane and zone.
    pub(crate) t1: usize,
    /// Uplinks of a T1, and how many of them are parallel.
    pub(crate) u1: usize,
    pub(crate) k1: usize,
    /// T2s of a plane, with the holes that rows leave.
    pub(crate) t2: usize,
    /// Indices between two T2s of one T1 of a row; 0 where every T1 reaches every T2.
    pub(crate) rows: usize,
    /// Capacity of one direction of a cable in Gb/s: NIC to T0, T0 to T1, T1 to T2.
    pub(crate) speed: [f64; 3],
}

impl Shape {
    fn of(topology: &Topology) -> Self {
        let gbps = |mbps: u32| f64::from(mbps) / GIGA;
        let t1_up = topology.t1.up;
        Shape {
            zones: usize::from(topology.zones),
            groups: usize::from(topology.hosts.groups),
            per_group: usize::from(topology.hosts.per_group),
            u0: usize::from(topology.t0.up.count),
            k0: usize::from(topology.t0.parallel.max(1)),
            t1: usize::from(topology.t1_count),
            u1: topology.t2.as_ref().map_or(0, |_| usize::from(t1_up.count)),
            k1: usize::from(topology.t1.parallel.max(1)),
            t2: usize::from(topology.count(TierId::T2)),
            rows: topology.t2_rows().map_or(0, usize::from),
            speed: [
                gbps(topology.port_speed().mbps()),
                gbps(topology.t0.up.breakout.speed.mbps()),
                gbps(t1_up.breakout.speed.mbps()),
            ],
        }
    }

    /// Tells whether the uplink of the sender's T0 decides the whole path: two tiers without parallel cables.
    pub(crate) fn has_single_paths(&self) -> bool {
        self.u1 == 0 && self.k0 == 1
    }

    /// Returns the place of a cable between switches in arrays of its stage.
    pub(crate) fn place(&self, link: Link) -> Option<usize> {
        let Link::Fabric { lower, up } = link else { return None };
        Some(
            usize::from(up)
                + match lower.tier {
                    TierId::T0 => self.t0(self.group(lower.zone, lower.index)),
                    TierId::T1 => self.t1(usize::from(lower.zone.0), usize::from(lower.index)),
                    TierId::T2 => return None,
                },
        )
    }

    /// Returns the number of T0 groups of all zones.
    pub(crate) fn all_groups(&self) -> usize {
        self.zones * self.groups
    }

    /// Returns the number of a group over all zones.
    pub(crate) fn group(&self, zone: ZoneId, group: u16) -> usize {
        usize::from(zone.0) * self.groups + usize::from(group)
    }

    /// Returns zone and index of a group.
    pub(crate) fn group_at(&self, group: usize) -> (ZoneId, u16) {
        (ZoneId((group / self.groups) as u16), (group % self.groups) as u16)
    }

    /// Returns the zone of a group.
    pub(crate) fn zone(&self, group: usize) -> usize {
        group / self.groups
    }

    /// Returns the number of a NIC over all groups.
    pub(crate) fn nic(&self, nic: Nic) -> usize {
        self.group(nic.zone, nic.group) * self.per_group + usize::from(nic.downlink)
    }

    /// Returns a NIC by its number.
    pub(crate) fn nic_at(&self, nic: usize) -> Nic {
        let (zone, group) = self.group_at(nic / self.per_group);
        Nic { zone, group, downlink: (nic % self.per_group) as u16 }
    }

    /// Returns the place of the first uplink of a T0 in arrays of T0-T1 cables.
    pub(crate) fn t0(&self, group: usize) -> usize {
        group * self.u0
    }

    /// Returns the place of the first uplink of a T1 in arrays of T1-T2 cables.
    pub(crate) fn t1(&self, zone: usize, t1: usize) -> usize {
        (zone * self.t1 + t1) * self.u1
    }

    /// Returns the T2 at the end of an uplink of a T1.
    pub(crate) fn t2_of(&self, t1: usize, up: usize) -> usize {
        match self.rows {
            0 => up / self.k1,
            rows => up / self.k1 * rows + t1,
        }
    }

    /// Returns the switch of a group in a plane.
    pub(crate) fn t0_switch(&self, plane: PlaneId, group: usize) -> Switch {
        let (zone, index) = self.group_at(group);
        Switch { plane, tier: TierId::T0, zone, index }
    }

    /// Returns a T1 by its place.
    pub(crate) fn t1_switch(plane: PlaneId, zone: usize, t1: usize) -> Switch {
        Switch { plane, tier: TierId::T1, zone: ZoneId(zone as u16), index: t1 as u16 }
    }

    /// Returns the T0-T1 cable at a place of an array.
    pub(crate) fn t0_link(&self, plane: PlaneId, at: usize) -> Link {
        Link::Fabric { lower: self.t0_switch(plane, at / self.u0), up: (at % self.u0) as u16 }
    }

    /// Returns the T1-T2 cable at a place of an array.
    pub(crate) fn t1_link(&self, plane: PlaneId, at: usize) -> Link {
        let t1 = at / self.u1;
        let lower = Shape::t1_switch(plane, t1 / self.t1, t1 % self.t1);
        Link::Fabric { lower, up: (at % self.u1) as u16 }
    }
}

/// Planes that are alike.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Kind {
    /// The planes.
    pub(crate) planes: Vec<PlaneId>,
    /// Whether a T0-T1 cable can carry traffic.
    pub(crate) t0: Vec<bool>,
    /// Whether a T1-T2 cable can.
    pub(crate) t1: Vec<bool>,
    /// What the groups of its switches hold, where it is not the same in all planes: by hardware.
    hardware: Vec<Hardware>,
}

/// Switches by tier, zone and index, or a whole tier, with the width of their groups and their operating system.
type Hardware = (TierId, Option<(ZoneId, u16)>, u32, &'static str);

/// Returns the hardware that a plane has of its own, where switches choose paths.
fn hardware(plan: &Plan, plane: PlaneId) -> Vec<Hardware> {
    let topology = plan.topology();
    if plan.is_source_routed() {
        return Vec::new();
    }
    let tiers = TierId::ALL.into_iter().filter_map(|tier| {
        let (platform, os) = topology.tier(tier)?.by_plane.get(&plane)?;
        Some((tier, None, platform.limits.ecmp_width, os.word()))
    });
    let own = topology.exceptions.switches.iter().filter(|(switch, _)| switch.plane == plane);
    let single = own.map(|(switch, (platform, os))| {
        (switch.tier, Some((switch.zone, switch.index)), platform.limits.ecmp_width, os.word())
    });
    tiers.chain(single).collect()
}

impl Kind {
    /// Tells whether every cable can carry traffic.
    pub(crate) fn is_whole(&self) -> bool {
        !self.t0.contains(&false) && !self.t1.contains(&false)
    }

    /// Returns how many planes it stands for.
    pub(crate) fn count(&self) -> f64 {
        self.planes.len() as f64
    }
}

/// The fabric as numbers.
#[derive(Debug, Clone)]
pub(crate) struct Network {
    pub(crate) shape: Shape,
    pub(crate) kinds: Vec<Kind>,
    /// Whether a NIC is there.
    pub(crate) there: Vec<bool>,
    /// The kinds in which a NIC has a usable cable, one bit each.
    pub(crate) reach: Vec<u16>,
    /// T1-T2 cables below each T2 of a zone, as (T1, uplink).
    pub(crate) below: Vec<Vec<(usize, usize)>>,
    /// Whether switches choose the way down themselves: any cable between two switches, any T1 under a T2.
    pub(crate) hop_by_hop: bool,
}

impl Network {
    /// Reads a plan.
    pub(crate) fn of(plan: &Plan) -> Self {
        let (topology, fabric) = (plan.topology(), plan.fabric());
        let shape = Shape::of(topology);
        let usable = |link: Link| fabric.has_link(link) && !fabric.is_drained(link);
        let nics = shape.all_groups() * shape.per_group;
        let there: Vec<bool> = (0..nics).map(|nic| fabric.has_nic(shape.nic_at(nic))).collect();
        let mut kinds: Vec<Kind> = Vec::new();
        let mut ports: Vec<Vec<bool>> = Vec::new();
        for plane in topology.plane_ids() {
            let t0 = (0..shape.all_groups() * shape.u0).map(|at| usable(shape.t0_link(plane, at))).collect();
            let t1_count = shape.zones * shape.t1 * shape.u1;
            let t1 = (0..t1_count).map(|at| usable(shape.t1_link(plane, at))).collect();
            let port = |nic| Link::Host(NicPort { plane, nic: shape.nic_at(nic) });
            let host: Vec<bool> = (0..nics).map(|nic| usable(port(nic))).collect();
            let kind = Kind { planes: vec![plane], t0, t1, hardware: hardware(plan, plane) };
            let same =
                |known: &Kind| known.t0 == kind.t0 && known.t1 == kind.t1 && known.hardware == kind.hardware;
            let alike = (0..kinds.len()).find(|at| same(&kinds[*at]) && ports[*at] == host);
            if let Some(at) = alike {
                kinds[at].planes.push(plane);
            } else {
                kinds.push(kind);
                ports.push(host);
            }
        }
        let reach = (0..nics)
            .map(|nic| (0..kinds.len()).fold(0, |mask, kind| mask | u16::from(ports[kind][nic]) << kind))
            .collect();
        let mut below = vec![Vec::new(); shape.t2];
        for t1 in 0..shape.t1 {
            for up in 0..shape.u1 {
                below[shape.t2_of(t1, up)].push((t1, up));
            }
        }
        Network { shape, kinds, there, reach, below, hop_by_hop: !plan.is_source_routed() }
    }
}
