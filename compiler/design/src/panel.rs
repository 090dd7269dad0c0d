//! The ports that a switch offers: one breakout for downlink cages, and one for uplink cages.
//!
//! In: platforms. Out: [`Panel`]s, one for each pair of breakouts that a platform supports. Invariants:
//! downlinks start at the first cage, uplinks start at the middle or after the downlinks, as in a fabric
//! file. With two breakouts under SONiC, both use the cages of a hwsku.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::sync::Arc;

use closc_artefacts::Routing;
use closc_platform::{Breakout, FeatureSupport, GroupWidth, Os, Platform, SkuFeature, SplitCages};
use closc_qos::units::Speed;

use crate::design::Side;

/// A catalogue entry, and the entry with all cages of the same switch.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Model<'a> {
    pub(crate) platform: &'a Arc<Platform>,
    pub(crate) chassis: &'a Arc<Platform>,
}

/// A switch with one breakout for downlinks and one for uplinks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Panel<'a> {
    pub(crate) platform: &'a Arc<Platform>,
    pub(crate) chassis: &'a Arc<Platform>,
    pub(crate) down: Breakout,
    pub(crate) up: Option<Breakout>,
    /// Whether the switch also supports these downlinks without uplinks.
    pub(crate) is_top: bool,
    /// Sizes of its ECMP groups.
    pub(crate) width: GroupWidth<'a>,
    /// Cages of downlinks and uplinks, if SONiC's hwsku fixes them.
    pub(crate) cages: Option<[SplitCages; 2]>,
}

/// Returns the panels of platforms with downlinks of a given speed, with and without uplinks.
///
/// Several entries of the catalogue can describe the same switch. If they support the same breakouts, only
/// the one with the most cages is kept, preferably with a default breakout of this speed.
pub(crate) fn panels<'a>(
    models: &[Model<'a>],
    os: Os,
    routing: Routing,
    speed: Option<Speed>,
) -> Vec<Panel<'a>> {
    let mut known = BTreeSet::new();
    let mut found = Vec::new();
    let mut ordered: Vec<Model<'a>> =
        models.iter().copied().filter(|model| model.platform.supports(os)).collect();
    let is_named_after = |platform: &Platform| Some(platform.panel.default_breakout.speed) == speed;
    ordered.sort_by_key(|model| (Reverse(model.platform.panel.cages), !is_named_after(model.platform)));
    for Model { platform, chassis } in ordered {
        let offered = &platform.panel.breakouts;
        for down in offered.iter().copied().filter(|down| speed.is_none_or(|speed| down.speed == speed)) {
            let is_top = accepts(platform, os, routing, down, None);
            let ups =
                offered.iter().copied().map(Some).filter(|up| accepts(platform, os, routing, down, *up));
            for up in ups.chain(is_top.then_some(None)) {
                if known.insert((platform.hardware(), down, up)) {
                    let width =
                        platform.group_width((os, os.default_release()), platform.cages_for(os, down, up));
                    let cages = platform.hwsku_cages(os, down, up);
                    found.push(Panel { platform, chassis, down, up, is_top, width, cages });
                }
            }
        }
    }
    found
}

/// Returns whether a platform supports these breakouts under an operating system, and the routing with them.
pub(crate) fn accepts(
    platform: &Platform,
    os: Os,
    routing: Routing,
    down: Breakout,
    up: Option<Breakout>,
) -> bool {
    let used = || std::iter::once(down).chain(up);
    let cages = || platform.cages_for(os, down, up);
    let has_hwsku = !os.has_hwskus() || platform.has_hwsku(cages());
    let splits = used().all(|split| platform.splits(os, split));
    let routes = !routing.is_source_routed()
        || platform.feature_support(SkuFeature::Segments, os, cages()) == FeatureSupport::Has;
    has_hwsku && splits && routes
}

impl Panel<'_> {
    /// Returns the number of ports if all cages are split like downlink cages.
    pub(crate) fn ports(&self) -> u32 {
        self.platform.usable_ports(self.down).into()
    }

    /// Returns whether the panel has enough ports for these numbers of downlinks and uplinks.
    pub(crate) fn fits(&self, down: u32, up: u32) -> bool {
        let has_room = |of: SplitCages, ports| Side::cages_of(ports, of.breakout) <= of.cages.len().into();
        let has_cages = if let Some([of_down, of_up]) = self.cages {
            has_room(of_down, down) && has_room(of_up, up)
        } else {
            let up = self.up.map_or(0, |split| Side::cages_of(up, split));
            Side::cages_of(down, self.down) + up <= u32::from(self.platform.panel.cages)
        };
        has_cages && self.platform.has_ports((down + up).into())
    }
}
