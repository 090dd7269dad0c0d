//! The fabric as numbers: which cables can carry traffic, and which planes are alike.
//!
//! In: a plan. Out: [`Network`]. Invariants: a cable that is absent or drained, or one end of which is, carries nothing.
//! Planes that can carry the same over the same cables are one [`Kind`] and are computed once: a fabric without
//! exceptions has one kind, whatever the number of its planes.

use closc_fabric::Shape;
use closc_plan::Plan;
use closc_topology::{Link, NicPort, PlaneId, TierId, ZoneId};

/// Planes that are alike.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Kind {
    /// The planes.
    pub(crate) planes: Vec<PlaneId>,
    /// Whether a T0-T1 cable can carry traffic.
    pub(crate) t0: Vec<bool>,
    /// Whether a T1-T2 cable can.
    pub(crate) t1: Vec<bool>,
    /// Members of the groups of its switches, where they are not the same in all planes: by hardware.
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
        let shape = Shape::new(topology);
        let usable = |link: Link| fabric.has_link(link) && !fabric.is_drained(link);
        let nics = shape.all_groups() * shape.per_group;
        let there: Vec<bool> = (0..nics).map(|nic| fabric.has_nic(shape.nic_at(nic))).collect();
        let mut kinds: Vec<Kind> = Vec::new();
        let mut ports: Vec<Vec<bool>> = Vec::new();
        for plane in topology.plane_ids() {
            let t0 =
                (0..shape.all_groups() * shape.t0_up).map(|at| usable(shape.t0_link(plane, at))).collect();
            let t1_links = shape.t1(shape.zones, 0);
            let t1 = (0..t1_links).map(|at| usable(shape.t1_link(plane, at))).collect();
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
        let mut below = vec![Vec::new(); shape.t2s];
        for t1 in 0..shape.t1s {
            for up in 0..shape.t1_up {
                below[shape.t2_of(t1, up)].push((t1, up));
            }
        }
        Network { shape, kinds, there, reach, below, hop_by_hop: !plan.is_source_routed() }
    }
}
