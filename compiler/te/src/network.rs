//! The fabric in a compact form: the cables that can carry traffic, and the kinds of planes.
//!
//! In: a plan. Out: [`Network`]. Invariants: a cable carries nothing if it, or the device at one end, is absent or
//! drained. Planes with the same usable cables and the same hardware are one [`Kind`] and are computed once. A fabric
//! without exceptions and without hardware of single planes has only one kind, for any number of planes.

use closc_fabric::Shape;
use closc_plan::Plan;
use closc_topology::{Link, NicPort, PlaneId, TierId, ZoneId};

/// A kind of planes: planes with the same usable cables and hardware.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Kind {
    /// The planes.
    pub(crate) planes: Vec<PlaneId>,
    /// Whether each T0-T1 cable can carry traffic.
    pub(crate) t0: Vec<bool>,
    /// Whether each T1-T2 cable can carry traffic.
    pub(crate) t1: Vec<bool>,
    /// Hardware that differs from the tier's: it can change the next-hop groups of switches.
    hardware: Vec<Hardware>,
}

/// Hardware of a switch (tier, zone and index) or of a complete tier: its platform, which limits next-hop
/// groups, and its operating system.
type Hardware = (TierId, Option<(ZoneId, u16)>, String, &'static str);

/// Returns the hardware that is specific to a plane, if switches choose paths.
fn hardware(plan: &Plan, plane: PlaneId) -> Vec<Hardware> {
    let topology = plan.topology();
    if plan.is_source_routed() {
        return Vec::new();
    }
    let tiers = TierId::ALL.into_iter().filter_map(|tier| {
        let (platform, os) = topology.tier(tier)?.by_plane.get(&plane)?;
        Some((tier, None, platform.id.to_string(), os.keyword()))
    });
    let own = topology.exceptions.switches.iter().filter(|(switch, _)| switch.plane == plane);
    let single = own.map(|(switch, (platform, os))| {
        (switch.tier, Some((switch.zone, switch.index)), platform.id.to_string(), os.keyword())
    });
    tiers.chain(single).collect()
}

impl Kind {
    /// Returns whether every cable can carry traffic.
    pub(crate) fn is_whole(&self) -> bool {
        !self.t0.contains(&false) && !self.t1.contains(&false)
    }

    /// Returns the number of planes of this kind.
    pub(crate) fn count(&self) -> f64 {
        self.planes.len() as f64
    }
}

/// The fabric in a compact form.
#[derive(Debug, Clone)]
pub(crate) struct Network {
    pub(crate) shape: Shape,
    pub(crate) kinds: Vec<Kind>,
    /// Whether each NIC exists.
    pub(crate) there: Vec<bool>,
    /// The kinds in which each NIC has a usable cable, one bit per kind.
    pub(crate) reach: Vec<u16>,
    /// The cables from each T2 down to a zone, as (T1, uplink).
    pub(crate) t2_downlinks: Vec<Vec<(usize, usize)>>,
    /// Whether switches choose each hop, also on the way down: any parallel cable, and any T1 below a T2.
    pub(crate) hop_by_hop: bool,
}

impl Network {
    /// Builds the compact form of a plan.
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
            let t1_links = shape.first_t1_uplink(shape.zones, 0);
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
        Network { shape, kinds, there, reach, t2_downlinks: below, hop_by_hop: !plan.is_source_routed() }
    }
}
