//! Hardware by the hwsku in a `config_db.json`: its limits and its ports.
//!
//! In: platforms. Out: [`Hardware`] by hwsku. Invariants: a switch can have several entries in the catalogue, one per
//! breakout. The largest limit of these entries applies, and a port exists if one of them has it. Ports are computed
//! only for requested hardware.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};

use closc_qos::units::Bytes;
use smol_str::SmolStr;

use crate::{Buffer, Limit, Os, PhysicalPort, Platform};

/// Facts about hardware that its configuration does not contain.
#[derive(Debug, Clone, Default)]
pub struct Hardware {
    /// Maximum number of local SIDs (MY_SID).
    pub segments: u32,
    /// Maximum number of IPv6 routes.
    pub routes: u32,
    /// Maximum number of neighbours.
    pub neighbours: u32,
    /// Packet buffer of the ASIC.
    pub buffer: Bytes,
    /// One platform for each breakout.
    platforms: Vec<Arc<Platform>>,
    /// Ports, computed at first use.
    ports: OnceLock<BTreeSet<(SmolStr, String)>>,
}

impl Hardware {
    /// Returns the hardware of platforms, by hwsku. Platforms without a hwsku are omitted.
    pub fn by_hwsku<'a>(
        platforms: impl IntoIterator<Item = &'a Arc<Platform>>,
    ) -> BTreeMap<String, Hardware> {
        let mut known: BTreeMap<String, Hardware> = BTreeMap::new();
        for platform in platforms {
            let Some(sonic) = &platform.sonic else { continue };
            let names = sonic.hwskus.iter().map(|(_, hwsku)| hwsku);
            for hwsku in std::iter::once(&sonic.hwsku).chain(names) {
                known.entry(hwsku.clone()).or_default().add(platform, hwsku);
            }
        }
        known
    }

    /// Returns the ports of all breakouts, each with its name and properties.
    pub fn ports(&self) -> &BTreeSet<(SmolStr, String)> {
        let ports = || self.platforms.iter().flat_map(|platform| platform.ports());
        self.ports.get_or_init(|| ports().map(|port| physical(&port)).collect())
    }

    fn add(&mut self, platform: &Arc<Platform>, hwsku: &str) {
        // An assumed number is not a limit here: a fabric that exceeds it causes a warning at compile time.
        let firm = |limit| match platform.limits.assumption(limit) {
            Some(_) => u32::MAX,
            None => platform.limits.get(limit),
        };
        self.segments = self.segments.max(firm(Limit::MySids));
        self.routes = self.routes.max(firm(Limit::Ipv6Routes));
        self.neighbours = self.neighbours.max(firm(Limit::Neighbours));
        let with_hwskus = || Os::ALL.iter().filter(|os| os.has_hwskus());
        let total = |buffer: &Buffer| {
            with_hwskus().map(|os| buffer.under(*os, None, hwsku).total).max().unwrap_or(buffer.total)
        };
        self.buffer = self.buffer.max(platform.buffer.as_ref().map_or(Bytes::ZERO, total));
        self.platforms.push(Arc::clone(platform));
        // Port names of older releases also belong to the hardware.
        let older = |os: &Os| {
            let older = platform.panel.older_naming?;
            Some(Arc::new(platform.with_release(*os, older.until)?).under(*os))
        };
        self.platforms.extend(Os::ALL.iter().filter_map(older));
    }
}

/// Returns the name of a port, and its lanes, alias, panel number and part, separated by spaces.
fn physical(port: &PhysicalPort) -> (SmolStr, String) {
    let lanes: Vec<String> = port.lanes.iter().map(u16::to_string).collect();
    (port.name.clone(), format!("{} {} {} {}", lanes.join(","), port.alias, port.panel, port.subport))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Catalogue;

    #[test]
    fn a_box_has_what_any_of_its_breakouts_has() {
        let catalogue = Catalogue::builtin();
        let all = Hardware::by_hwsku(catalogue.iter());
        let of = |id: &str| catalogue.get(id).expect("it ships");
        let known = &all["Arista-7060X6-64PE-B-C512S2"];
        assert_eq!((known.segments, known.buffer), (u32::MAX, Bytes(165_335_712)), "256 are assumed");
        assert_eq!(all["Arista-7060X6-64PE-B-O128"].buffer, Bytes(164_505_640), "not that of C512S2");
        assert_eq!((all["ACS-SN5600"].segments, all["ACS-SN5600"].routes), (256, 37_000));
        for port in of("th5-512x100g").ports() {
            assert!(known.ports().contains(&physical(&port)), "{port:?}");
        }
        assert!(all.values().all(|hardware| !hardware.ports().is_empty()));
        assert!(Hardware::by_hwsku([of("linux")]).is_empty());
    }
}
