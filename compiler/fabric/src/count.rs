//! How many of everything there is, counted from the fabric and not from formulas.

use closc_artefacts::Counts;
use closc_topology::{Link, TierId};

use crate::Fabric;

impl Fabric {
    /// Counts everything, after exceptions, by walking the fabric once.
    pub fn counts(&self) -> Counts {
        let topology = self.topology();
        let planes = u64::from(topology.planes);
        let zone = planes * u64::from(topology.t0.up.count);
        let far = topology.t2.as_ref().map_or(0, |_| zone * u64::from(topology.t1.up.count));
        let mut counts = Counts {
            planes,
            zones: u64::from(topology.zones),
            nics: self.nics().count() as u64,
            nodes: self.nodes().count() as u64,
            paths_local: planes,
            paths_zone: zone,
            paths_far: far,
            ..Counts::default()
        };
        for switch in self.switches() {
            match switch.tier {
                TierId::T0 => counts.t0 += 1,
                TierId::T1 => counts.t1 += 1,
                TierId::T2 => counts.t2 += 1,
            }
        }
        for link in self.links() {
            match link {
                Link::Host(_) => counts.host_links += 1,
                Link::Fabric { .. } => counts.fabric_links += 1,
            }
        }
        counts
    }
}
