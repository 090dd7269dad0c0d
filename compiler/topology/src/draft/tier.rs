//! A tier with its defaults: counts that follow from others, platforms, breakouts.

use std::collections::BTreeMap;
use std::sync::Arc;

use closc_diagnostics::Span;
use closc_platform::{Breakout, Catalogue, Os, Platform};
use smol_str::SmolStr;

use super::{DraftLayout, number};
use crate::choice::Wiring;
use crate::coordinate::{PlaneId, Side, TierId, ZoneId};
use crate::document::{FabricDoc, HardwareDoc, PortsDoc, SplitDoc, T2Doc, ZoneHardwareDoc};
use crate::read::{Named, Spanned};

/// A tier with its defaults.
#[derive(Debug, Clone)]
pub(crate) struct DraftTier {
    pub(crate) id: TierId,
    pub(crate) name: Spanned<SmolStr>,
    /// Nothing if the catalogue has none of the name.
    pub(crate) platform: Option<Arc<Platform>>,
    pub(crate) os: Option<Os>,
    pub(crate) os_span: Span,
    pub(crate) count: u64,
    pub(crate) parallel: u64,
    pub(crate) down: DraftBlock,
    pub(crate) up: DraftBlock,
    /// Planes of other hardware whose platform is known.
    pub(crate) by_plane: BTreeMap<PlaneId, (Arc<Platform>, Os)>,
    /// Zones of other hardware whose platform is known.
    pub(crate) by_zone: Vec<DraftZone>,
}

/// A tier in a zone of other hardware.
#[derive(Debug, Clone)]
pub(crate) struct DraftZone {
    pub(crate) zone: Spanned<u16>,
    pub(crate) platform: Arc<Platform>,
    pub(crate) os: Os,
    pub(crate) down: DraftBlock,
    pub(crate) up: DraftBlock,
}

/// A run of equal ports with its defaults.
#[derive(Debug, Clone)]
pub(crate) struct DraftBlock {
    pub(crate) side: Side,
    pub(crate) count: u64,
    pub(crate) spare: u64,
    pub(crate) first_cage: u64,
    /// Nothing while the platform is unknown and none is stated.
    pub(crate) breakout: Option<Breakout>,
}

impl DraftBlock {
    /// Returns the cages it takes, spare ports included.
    pub(crate) fn cages(&self) -> u64 {
        let parts = self.breakout.map_or(1, |breakout| u64::from(breakout.ports));
        (self.count + self.spare).div_ceil(parts.max(1))
    }

    /// Returns the block in a zone that states its splits; `other` is the platform where it is another than the tier's.
    fn in_zone(&self, stated: Option<&SplitDoc>, other: Option<&Platform>) -> Self {
        let breakout = stated.and_then(|split| split.breakout).map(|breakout| breakout.value);
        let first_cage = other.map_or(self.first_cage, |platform| default_cage(self.side, Some(platform)));
        DraftBlock {
            first_cage: number(stated.and_then(|split| split.first_cage), first_cage),
            breakout: breakout
                .or_else(|| other.map(|platform| platform.panel.default_breakout))
                .or(self.breakout),
            ..self.clone()
        }
    }

    fn new(side: Side, ports: Option<&PortsDoc>, count: u64, platform: Option<&Platform>) -> Self {
        let stated = ports.cloned().unwrap_or_default();
        DraftBlock {
            side,
            count,
            spare: number(stated.0.spare, 0),
            first_cage: number(stated.0.first_cage, default_cage(side, platform)),
            breakout: stated
                .0
                .breakout
                .map(|breakout| breakout.value)
                .or(platform.map(|platform| platform.panel.default_breakout)),
        }
    }
}

/// Common statements of all tiers.
struct Common<'a> {
    id: TierId,
    name: &'a Spanned<SmolStr>,
    os: Option<Spanned<Os>>,
    by_plane: Option<&'a Named<u16, HardwareDoc>>,
    by_zone: Option<&'a Named<u16, ZoneHardwareDoc>>,
}

impl DraftTier {
    /// Returns what the tier is in a zone, where that has hardware of its own.
    pub(crate) fn in_zone(&self, zone: ZoneId) -> Option<&DraftZone> {
        self.by_zone.iter().find(|own| own.zone.value == zone.0)
    }

    /// Returns hardware and operating system, or those of a zone that has its own.
    pub(crate) fn hardware_in<'a>(
        &'a self,
        zone: Option<&'a DraftZone>,
    ) -> (Option<&'a Arc<Platform>>, Option<Os>) {
        match zone {
            Some(own) => (Some(&own.platform), Some(own.os)),
            None => (self.platform.as_ref(), self.os),
        }
    }

    /// Returns the first tier.
    pub(super) fn t0(doc: &FabricDoc, catalogue: &Catalogue) -> Self {
        let tier = &doc.tiers.t0;
        let common = Common {
            id: TierId::T0,
            name: &tier.platform,
            os: tier.os,
            by_plane: tier.by_plane.as_ref(),
            by_zone: None,
        };
        let common = Common { by_zone: tier.by_zone.as_ref(), ..common };
        let down = stated_count(tier.down.as_ref(), u64::from(doc.hosts.per_group.value));
        let up = stated_count(Some(&tier.up), 0);
        let parallel = number(tier.parallel, 1);
        let blocks = [(tier.down.as_ref(), down), (Some(&tier.up), up)];
        Self::new(&common, catalogue, u64::from(doc.hosts.groups.value), parallel, blocks)
    }

    /// Returns the second tier: as many T1s as a T0 has uplinks, as many downlinks as there are T0s.
    pub(super) fn t1(doc: &FabricDoc, catalogue: &Catalogue, t0: &DraftTier, groups: u64) -> Self {
        let tier = &doc.tiers.t1;
        let common = Common {
            id: TierId::T1,
            name: &tier.platform,
            os: tier.os,
            by_plane: tier.by_plane.as_ref(),
            by_zone: None,
        };
        let common = Common { by_zone: tier.by_zone.as_ref(), ..common };
        let count = t0.up.count / t0.parallel.max(1);
        let up = stated_count(tier.up.as_ref(), 0);
        let blocks = [(tier.down.as_ref(), groups * t0.parallel), (tier.up.as_ref(), up)];
        Self::new(&common, catalogue, count, number(tier.parallel, 1), blocks)
    }

    /// Returns the third tier; its downlinks are counted by [`DraftTier::with_zones`].
    pub(super) fn t2(tier: &T2Doc, catalogue: &Catalogue, t1: &DraftTier, wiring: Wiring, rows: u64) -> Self {
        let common = Common {
            id: TierId::T2,
            name: &tier.platform,
            os: tier.os,
            by_plane: tier.by_plane.as_ref(),
            by_zone: None,
        };
        let steps = t1.up.count / t1.parallel.max(1);
        let count = match wiring {
            Wiring::Full => steps,
            // The last step has as many as there are rows in use.
            Wiring::Rows => steps.saturating_sub(1) * rows + t1.count.min(rows).min(steps * t1.count),
        };
        Self::new(&common, catalogue, count, 1, [(tier.down.as_ref(), 0), (None, 0)])
    }

    /// Returns the T2 downlinks kept for each zone: stated, or the panel's ports over the zones a uSID can name.
    pub(super) fn zone_ports(&self, doc: &T2Doc, layout: &DraftLayout) -> Option<u64> {
        if let Some(stated) = doc.ports_per_zone {
            return Some(u64::from(stated.value));
        }
        let ports = u64::from(self.platform.as_ref()?.ports_max(self.down.breakout?));
        Some(ports >> layout.zone.min(63))
    }

    /// Tells whether the tier's platform can be split as its ports are; where not, what ports it has is not known.
    pub(crate) fn offers_breakouts(&self) -> bool {
        let Some(platform) = &self.platform else { return false };
        [&self.down, &self.up]
            .into_iter()
            .filter(|block| block.count > 0)
            .all(|block| block.breakout.is_some_and(|breakout| platform.panel.breakouts.contains(&breakout)))
    }

    /// Sets the downlinks of a T2.
    pub(super) fn with_zones(mut self, zones: u64, zone_ports: Option<u64>) -> Self {
        self.down.count = zones * zone_ports.unwrap_or(0);
        self
    }

    fn new(
        common: &Common<'_>,
        catalogue: &Catalogue,
        count: u64,
        parallel: u64,
        [(down_doc, down), (up_doc, up)]: [(Option<&PortsDoc>, u64); 2],
    ) -> Self {
        let platform = catalogue.get(&common.name.value).cloned();
        let os = common.os.map(|os| os.value).or(platform.as_ref().and_then(|p| p.oses.first().copied()));
        let platform = platform.map(|own| os.map_or_else(|| own.clone(), |os| own.under(os)));
        let hardware = platform.as_deref();
        let down = DraftBlock::new(Side::Down, down_doc, down, hardware);
        let up = DraftBlock::new(Side::Up, up_doc, up, hardware);
        DraftTier {
            id: common.id,
            name: common.name.clone(),
            os,
            os_span: common.os.map_or(common.name.span, |os| os.span),
            count,
            parallel,
            by_plane: by_plane(common.by_plane, catalogue, platform.as_ref(), os),
            by_zone: by_zone(common.by_zone, catalogue, (platform.as_ref(), os), [&down, &up]),
            down,
            up,
            platform,
        }
    }
}

/// Returns the ports stated, or how many follow from other numbers.
fn stated_count(ports: Option<&PortsDoc>, default: u64) -> u64 {
    ports.and_then(|ports| ports.0.count).map_or(default, |count| u64::from(count.value))
}

/// Returns the cage that a side starts at where nobody says.
fn default_cage(side: Side, platform: Option<&Platform>) -> u64 {
    match side {
        Side::Down => 0,
        Side::Up => platform.map_or(0, |platform| u64::from(platform.panel.cages / 2)),
    }
}

fn by_zone(
    stated: Option<&Named<u16, ZoneHardwareDoc>>,
    catalogue: &Catalogue,
    (platform, os): (Option<&Arc<Platform>>, Option<Os>),
    [down, up]: [&DraftBlock; 2],
) -> Vec<DraftZone> {
    let entries = stated.map(|named| named.0.as_slice()).unwrap_or_default();
    let zone = |(zone, doc): &(Spanned<u16>, ZoneHardwareDoc)| {
        let asked = HardwareDoc { platform: doc.platform.clone(), os: doc.os };
        let (own, os) = resolve(&asked, catalogue, platform, os)?;
        let other = Some(&*own).filter(|own| platform.is_none_or(|platform| platform.id != own.id));
        let [down, up] = [(down, &doc.down), (up, &doc.up)]
            .map(|(block, split): (_, &Option<SplitDoc>)| DraftBlock::in_zone(block, split.as_ref(), other));
        Some(DraftZone { zone: *zone, platform: own, os, down, up })
    };
    entries.iter().filter_map(zone).collect()
}

fn by_plane(
    stated: Option<&Named<u16, HardwareDoc>>,
    catalogue: &Catalogue,
    platform: Option<&Arc<Platform>>,
    os: Option<Os>,
) -> BTreeMap<PlaneId, (Arc<Platform>, Os)> {
    let entries = stated.map(|named| named.0.as_slice()).unwrap_or_default();
    entries
        .iter()
        .filter_map(|(plane, doc)| {
            let plane = PlaneId(u8::try_from(plane.value).ok()?);
            Some((plane, resolve(doc, catalogue, platform, os)?))
        })
        .collect()
}

/// Returns the hardware that an override asks for; nothing if the catalogue has none of the name.
pub(crate) fn resolve(
    doc: &HardwareDoc,
    catalogue: &Catalogue,
    platform: Option<&Arc<Platform>>,
    os: Option<Os>,
) -> Option<(Arc<Platform>, Os)> {
    let platform = match &doc.platform {
        Some(name) => catalogue.get(&name.value)?.clone(),
        None => platform?.clone(),
    };
    let os = match doc.os {
        Some(os) => os.value,
        None => os.filter(|os| platform.supports(*os)).or(platform.oses.first().copied())?,
    };
    Some((platform.under(os), os))
}
