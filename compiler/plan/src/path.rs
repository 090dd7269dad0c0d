//! Single paths, hop by hop, as printed by `closc paths`.
//!
//! In: two NICs, a plane and an uplink choice. Out: the outer destination address, and every switch, port and
//! cable on the path. Invariants: paths are computed from the plan alone. The verifier walks the rendered
//! tables instead.

use std::net::Ipv6Addr;

use closc_topology::{Link, Nic, NicPort, PlaneId, PortRef, Side, Switch, TierId, Usid};

use crate::entropy::EntropyFormat;
use crate::plan::Plan;
use crate::segment::UplinkChoice;

/// Kind of path, by the distance between two NICs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PathKind {
    /// Same T0 group: one switch.
    Local,
    /// Same zone: three switches.
    Zone,
    /// Over the T2 tier: five switches.
    Far,
}

impl PathKind {
    /// Returns the kind of the paths between two NICs.
    pub fn classify(from: Nic, to: Nic) -> PathKind {
        if from.zone != to.zone {
            PathKind::Far
        } else if from.group != to.group {
            PathKind::Zone
        } else {
            PathKind::Local
        }
    }

    /// Returns the number of switches on the path.
    pub fn switches(self) -> usize {
        match self {
            PathKind::Local => 1,
            PathKind::Zone => 3,
            PathKind::Far => 5,
        }
    }
}

/// One path between two NICs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Path {
    /// The plane, which is also the NIC port.
    pub plane: PlaneId,
    /// The uplinks taken.
    pub choice: UplinkChoice,
    /// The entropy value that selects it.
    pub entropy: u32,
    /// The uSIDs in order.
    pub list: Vec<Usid>,
    /// The outer destination address as it leaves the NIC.
    pub destination: Ipv6Addr,
    /// The cable from the sending NIC.
    pub first: Link,
    /// The switches on the path.
    pub hops: Vec<PathHop>,
}

/// One switch of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathHop {
    /// The switch.
    pub switch: Switch,
    /// Ingress port.
    pub enters: PortRef,
    /// Egress port.
    pub leaves: PortRef,
    /// The cable at the egress port.
    pub link: Link,
    /// The outer destination address at egress: one uSID shorter.
    pub destination: Ipv6Addr,
}

/// Why a path does not exist.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PathError {
    /// The fabric does not source-route.
    #[error("paths need `routing: srv6-static`; this fabric uses `{0}`")]
    NotSourceRouted(&'static str),
    /// The entropy value has bits outside its fields, or a plane or uplink that does not exist.
    #[error("entropy value {value:#x} does not select a path: {reason}")]
    Entropy {
        /// The value.
        value: u32,
        /// Which field is out of range.
        reason: String,
    },
}

impl Plan {
    /// Returns every path between two NICs, plane by plane and uplink by uplink, including denied ones.
    pub fn paths(&self, from: Nic, to: Nic) -> impl Iterator<Item = Path> + '_ {
        let topology = self.topology();
        let (t0, t1) = match PathKind::classify(from, to) {
            PathKind::Local => (1, 1),
            PathKind::Zone => (topology.t0.up.count, 1),
            PathKind::Far => (topology.t0.up.count, topology.t1.up.count),
        };
        topology.plane_ids().flat_map(move |plane| {
            (0..t0)
                .flat_map(move |t0| (0..t1).map(move |t1| UplinkChoice { t0, t1 }))
                .map(move |choice| self.path(plane, from, to, choice))
        })
    }

    /// Returns the path that an entropy value selects.
    pub fn path_by_entropy(&self, from: Nic, to: Nic, value: u32) -> Result<Path, PathError> {
        let topology = self.topology();
        let fail = |why: String| PathError::Entropy { value, reason: why };
        let format = EntropyFormat::of(topology);
        let (plane, choice) =
            format.unpack(value).ok_or_else(|| fail(format!("it is wider than {} bits", format.width())))?;
        if plane.0 >= topology.planes {
            return Err(fail(format!(
                "plane {plane} does not exist, expected less than {}",
                topology.planes
            )));
        }
        let limits =
            [("T0", choice.t0, topology.t0.up.count), ("T1", choice.t1, topology.t1.up.count.max(1))];
        for (tier, uplink, count) in limits {
            if uplink >= count {
                return Err(fail(format!(
                    "{tier} uplink {uplink} does not exist, expected less than {count}"
                )));
            }
        }
        Ok(self.path(plane, from, to, choice))
    }

    /// Returns one path.
    pub fn path(&self, plane: PlaneId, from: Nic, to: Nic, choice: UplinkChoice) -> Path {
        let segments = self.segments();
        let list = segments.list(plane, (from.zone, from.group), to, choice);
        let mut hops = Vec::with_capacity(5);
        let mut at = from.t0(plane);
        let mut enters = PortRef { side: Side::Down, index: from.downlink };
        for (passed, link) in self.cables(plane, from, to, choice).into_iter().enumerate() {
            let (leaves, next) = self.cross(at, link);
            let destination = segments.address(plane, &list[passed + 1..]);
            hops.push(PathHop { switch: at, enters, leaves, link, destination });
            if let Some((switch, port)) = next {
                (at, enters) = (switch, port);
            }
        }
        Path {
            plane,
            choice,
            entropy: EntropyFormat::of(self.topology()).pack(plane, choice),
            destination: segments.address(plane, &list),
            list,
            first: Link::Host(NicPort { plane, nic: from }),
            hops,
        }
    }

    /// Returns the cables after the first T0, in order.
    fn cables(&self, plane: PlaneId, from: Nic, to: Nic, choice: UplinkChoice) -> Vec<Link> {
        let last = Link::Host(NicPort { plane, nic: to });
        let t0 = |nic: Nic| Link::Fabric { lower: nic.t0(plane), up: choice.t0 };
        let t1 = |nic: Nic| {
            let index = choice.t0 / self.topology().t0.parallel;
            let lower = Switch { plane, tier: TierId::T1, zone: nic.zone, index };
            Link::Fabric { lower, up: choice.t1 }
        };
        match PathKind::classify(from, to) {
            PathKind::Local => vec![last],
            PathKind::Zone => vec![t0(from), t0(to), last],
            PathKind::Far => vec![t0(from), t1(from), t1(to), t0(to), last],
        }
    }

    /// Returns the egress port of a packet that leaves `at` over a cable, and the switch and ingress port at
    /// the other end. Those two are `None` when the other end is a NIC.
    fn cross(&self, at: Switch, link: Link) -> (PortRef, Option<(Switch, PortRef)>) {
        let upper = self.fabric().upper_end(link).expect("a path takes planned cables only");
        match link {
            Link::Host(_) => (upper.1, None),
            Link::Fabric { lower, up } if lower == at => (PortRef { side: Side::Up, index: up }, Some(upper)),
            Link::Fabric { lower, up } => (upper.1, Some((lower, PortRef { side: Side::Up, index: up }))),
        }
    }
}
