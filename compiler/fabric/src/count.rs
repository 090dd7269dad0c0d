//! How many of everything there is, counted from the fabric and not from formulas.

use closc_topology::{Link, TierId};
use serde::{Deserialize, Serialize};

use crate::Fabric;

/// Numbers of a fabric, after exceptions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Counts {
    /// Planes.
    pub planes: u64,
    /// Zones.
    pub zones: u64,
    /// NICs.
    pub nics: u64,
    /// Nodes with at least one NIC.
    pub nodes: u64,
    /// T0 switches.
    pub t0: u64,
    /// T1 switches.
    pub t1: u64,
    /// T2 switches.
    pub t2: u64,
    /// Cables between NICs and T0s.
    pub host_links: u64,
    /// Cables between switches.
    pub fabric_links: u64,
    /// Paths between two NICs of the same T0 group, where nothing is absent.
    pub paths_local: u64,
    /// Paths between two NICs of different groups of one zone, where nothing is absent.
    pub paths_zone: u64,
    /// Paths between two NICs of different zones, where nothing is absent; 0 with one zone.
    pub paths_far: u64,
}

impl Counts {
    /// Counts a fabric by walking it once.
    pub fn of(fabric: &Fabric) -> Counts {
        let topology = fabric.topology();
        let planes = u64::from(topology.planes);
        let zone = planes * u64::from(topology.t0.up.count);
        let far = topology.t2.as_ref().map_or(0, |_| zone * u64::from(topology.t1.up.count));
        let mut counts = Counts {
            planes,
            zones: u64::from(topology.zones),
            nics: fabric.nics().count() as u64,
            nodes: fabric.nodes().count() as u64,
            paths_local: planes,
            paths_zone: zone,
            paths_far: far,
            ..Counts::default()
        };
        for switch in fabric.switches() {
            match switch.tier {
                TierId::T0 => counts.t0 += 1,
                TierId::T1 => counts.t1 += 1,
                TierId::T2 => counts.t2 += 1,
            }
        }
        for link in fabric.links() {
            match link {
                Link::Host(_) => counts.host_links += 1,
                Link::Fabric { .. } => counts.fabric_links += 1,
            }
        }
        counts
    }

    /// Returns the number of switches of all tiers.
    pub fn switches(&self) -> u64 {
        self.t0 + self.t1 + self.t2
    }
}
