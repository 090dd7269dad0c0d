//! A tier with its defaults: derived counts, platforms, breakouts.

use std::collections::BTreeMap;
use std::ops::{Range, Sub as _};
use std::sync::Arc;

use closc_diagnostics::Span;
use closc_platform::{Breakout, CageSet, Catalogue, LayoutSide, Os, Platform, SplitCages};
use smol_str::SmolStr;

use super::{DraftLayout, number};
use crate::choice::Wiring;
use crate::coordinate::{PlaneId, Side, TierId, ZoneId};
use crate::document::{FabricDoc, HardwareDoc, PortsDoc, SplitDoc, T2Doc, ZoneHardwareDoc};
use crate::read::{NameMap, Spanned};
use crate::spans::Spans;
use crate::tier_field;

/// A tier with its defaults.
#[derive(Debug, Clone)]
pub(crate) struct DraftTier {
    pub(crate) id: TierId,
    pub(crate) name: Spanned<SmolStr>,
    /// Absent if the catalogue has no platform of this name.
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
    /// The cages, if they are not a consecutive run from `first_cage`.
    pub(crate) cages: Option<CageSet>,
    /// The first port of the first cage, from 0.
    pub(crate) first_port: u64,
    /// Absent if the platform is unknown and the file does not state one.
    pub(crate) breakout: Option<Breakout>,
}

impl DraftBlock {
    /// Returns how many cages it takes, including those of spare ports.
    pub(crate) fn cages(&self) -> u64 {
        let parts = self.breakout.map_or(1, |breakout| u64::from(breakout.ports));
        (self.count + self.spare + self.first_port).div_ceil(parts.max(1))
    }

    /// Returns its cages on a panel with this number of cages, including those of spare ports; `None` if it has no
    /// ports.
    pub(crate) fn cages_in_use(&self, panel: u16) -> Option<SplitCages> {
        let breakout = self.breakout.filter(|_| self.count + self.spare > 0)?;
        let places = self.first_port / u64::from(breakout.ports.max(1))..self.cages();
        let cages = places.map(|place| self.cage(place)).take_while(|cage| *cage < panel.into());
        Some(SplitCages { breakout, cages: CageSet::of(cages.map(|cage| cage as u16))? })
    }

    /// Returns whether the cages that the file lists are too few.
    pub(crate) fn lacks_cages(&self) -> bool {
        self.cages.is_some_and(|set| u64::from(set.len()) < self.cages())
    }

    /// Returns how many cages both sides need together. If one leaves lanes of a cage to the other, this is a lower
    /// bound: the cages of the larger side.
    pub(crate) fn cages_with(&self, other: &DraftBlock) -> u64 {
        let (own, others) = (self.cages(), other.cages());
        if self.is_part() || other.is_part() { own.max(others) } else { own + others }
    }

    /// Returns whether it uses only a share of the lanes of its cages.
    pub(crate) fn is_share(&self) -> bool {
        self.breakout.is_some_and(|breakout| breakout.share.is_some())
    }

    /// Returns whether it leaves lanes of a cage to the other side.
    pub(crate) fn is_part(&self) -> bool {
        self.is_share() || self.first_port > 0
    }

    /// Returns the cage at an index, from 0.
    pub(crate) fn cage(&self, place: u64) -> u64 {
        match (&self.cages, u16::try_from(place)) {
            (Some(set), Ok(place)) => set.nth(place).into(),
            (Some(_), Err(_)) => u64::MAX,
            (None, _) => self.first_cage.saturating_add(place),
        }
    }

    /// Returns the cage after its last one, including those of spare ports.
    pub(crate) fn end(&self) -> u64 {
        self.cages().checked_sub(1).map_or(self.first_cage, |last| self.cage(last).saturating_add(1))
    }

    /// Returns each cage with its lanes in use; a cage has `lanes` lanes.
    fn lanes_by_cage(&self, lanes: u8) -> BTreeMap<u64, Range<u16>> {
        let Some(breakout) = self.breakout else { return BTreeMap::new() };
        let first = breakout.share.map_or(0, |share| u16::from(share.lane));
        let (width, parts) = (u16::from(breakout.width(lanes)), u64::from(breakout.ports.max(1)));
        let end = self.first_port + self.count + self.spare;
        let used = |place: u64| {
            let port = |at: u64| {
                first + at.clamp(place * parts, place * parts + parts).sub(place * parts) as u16 * width
            };
            port(self.first_port)..port(end)
        };
        let cages = self.cages().min(u64::from(u16::MAX));
        (0..cages).map(|place| (self.cage(place), used(place))).collect()
    }

    /// Returns the first cage that both sides need. If one side leaves lanes of a cage to the other, the sides can
    /// share cages, and only common lanes count. A cage has `lanes` lanes.
    pub(crate) fn meets(&self, other: &DraftBlock, lanes: u8) -> Option<u64> {
        let is_shared = self.is_part() || other.is_part();
        let (own, theirs) = (self.lanes_by_cage(lanes), other.lanes_by_cage(lanes));
        let meets = |cage: &u64, lanes: &Range<u16>| {
            theirs
                .get(cage)
                .is_some_and(|used| !is_shared || lanes.start < used.end && used.start < lanes.end)
        };
        own.iter().find(|(cage, lanes)| meets(cage, lanes)).map(|(cage, _)| *cage)
    }

    /// Moves a side to the cages that the other side does not list. Does nothing if the other side lists none, the file
    /// states cages of this side, or a side leaves lanes of a cage to the other.
    fn move_to_free_cages(
        &self,
        other: &DraftBlock,
        stated: Option<&PortsDoc>,
        platform: Option<&Platform>,
    ) -> Self {
        let is_stated = self.cages.is_some() || stated.is_some_and(|own| own.0.first_cage.is_some());
        let listed = other.cages.filter(|_| !is_stated && !self.is_part() && !other.is_part());
        let rest = listed.zip(platform).and_then(|(set, platform)| set.rest(platform.panel.cages));
        DraftBlock { cages: rest.or(self.cages), ..self.clone() }
    }

    /// Moves uplinks that use only a share of each cage to the last lanes, even in cages without downlinks. So growth
    /// of the downlinks does not move them. If no cage is shared, uplinks keep the first lanes in two cases: both sides
    /// list cages, or the platform lists the breakout as `partial`. In the second case, growth can move them.
    fn move_to_last_lanes(mut self, down: &DraftBlock, platform: Option<&Platform>) -> Self {
        if let (true, Some(platform)) = (self.is_share(), platform) {
            let lanes = platform.panel.lanes;
            let is_shared = self.shares_cages(down, platform);
            if !is_shared && self.breakout.is_some_and(|own| platform.panel.is_partial(own)) {
                return self;
            }
            let other = down.breakout.filter(|_| is_shared).or(self.breakout);
            let other = other.filter(|_| !self.lists_other_cages(down));
            self.breakout = self.breakout.map(|own| own.shift_behind(other, lanes));
        }
        self
    }

    /// Marks downlinks on the first lanes of cages whose other lanes belong to the uplinks.
    fn mark_shared_cages(mut self, up: &DraftBlock, platform: Option<&Platform>) -> Self {
        let is_shared = |platform: &Platform| up.count > 0 && self.shares_cages(up, platform);
        if self.is_share() && platform.is_some_and(is_shared) {
            self.breakout = self.breakout.map(Breakout::beside_others);
        }
        self
    }

    /// Returns whether ports of both sides use the same cages.
    fn shares_cages(&self, other: &DraftBlock, platform: &Platform) -> bool {
        let [own, theirs] = [self, other].map(|side| side.lanes_by_cage(platform.panel.lanes));
        !self.lists_other_cages(other) && own.keys().any(|cage| theirs.contains_key(cage))
    }

    /// Returns whether both sides list cages, and none is in both lists.
    fn lists_other_cages(&self, other: &DraftBlock) -> bool {
        let listed = self.cages.zip(other.cages);
        listed.is_some_and(|(own, theirs)| !own.iter().any(|cage| theirs.contains(cage)))
    }

    /// Returns the block in a zone. `stated` is what the file states for the zone; `other` is the zone's platform, if
    /// it differs from the tier's.
    fn in_zone(&self, stated: Option<&SplitDoc>, other: Option<&Platform>) -> Self {
        let breakout = stated.and_then(|split| split.breakout).map(|breakout| breakout.value);
        let cages = stated.and_then(|split| split.cages).map(|cages| cages.value);
        let starts = stated.is_some_and(|split| split.first_cage.is_some());
        let first_cage = other.map_or(self.first_cage, |platform| default_cage(self.side, Some(platform)));
        DraftBlock {
            first_cage: number(stated.and_then(|split| split.first_cage), first_cage),
            cages: cages.or(self.cages.filter(|_| other.is_none() && !starts)),
            breakout: breakout
                .or_else(|| other.map(|platform| platform.panel.default_breakout))
                .or(self.breakout),
            first_port: number(
                stated.and_then(|split| split.first_port),
                other.map_or(self.first_port, |_| 0),
            ),
            ..self.clone()
        }
    }

    fn new(
        side: Side,
        ports: Option<&PortsDoc>,
        count: u64,
        platform: Option<&Platform>,
        layout: Option<&LayoutSide>,
    ) -> Self {
        let stated = ports.cloned().unwrap_or_default().0;
        let layout_cages = layout.filter(|_| stated.first_cage.is_none()).map(|side| side.cages);
        DraftBlock {
            side,
            count,
            spare: number(stated.spare, 0),
            first_cage: number(stated.first_cage, default_cage(side, platform)),
            cages: stated.cages.map(|cages| cages.value).or(layout_cages),
            first_port: number(stated.first_port, layout.map_or(0, |side| side.first_port.into())),
            breakout: stated
                .breakout
                .map(|breakout| breakout.value)
                .or(layout.map(|side| side.breakout))
                .or(platform.map(|platform| platform.panel.default_breakout)),
        }
    }
}

/// Settings that all tiers have.
struct TierSettings<'a> {
    id: TierId,
    name: &'a Spanned<SmolStr>,
    os: Option<Spanned<Os>>,
    /// Whether the file has an `os` that does not exist.
    os_refused: bool,
    layout: Option<&'a Spanned<SmolStr>>,
    by_plane: Option<&'a NameMap<u16, HardwareDoc>>,
    by_zone: Option<&'a NameMap<u16, ZoneHardwareDoc>>,
}

impl DraftTier {
    /// Returns the tier in a zone, if the zone has hardware of its own.
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
    pub(super) fn t0((doc, spans): (&FabricDoc, &Spans), catalogue: &Catalogue) -> Self {
        let tier = &doc.tiers.t0;
        let common = TierSettings {
            id: TierId::T0,
            name: &tier.platform,
            os: tier.os,
            os_refused: is_refused(spans, TierId::T0, tier.os),
            layout: tier.layout.as_ref(),
            by_plane: tier.by_plane.as_ref(),
            by_zone: None,
        };
        let common = TierSettings { by_zone: tier.by_zone.as_ref(), ..common };
        let down = stated_count(tier.down.as_ref(), u64::from(doc.hosts.per_group.value));
        let up = stated_count(tier.up.as_ref(), 0);
        let parallel = number(tier.parallel, 1);
        let blocks = [(tier.down.as_ref(), down), (tier.up.as_ref(), up)];
        Self::new(&common, catalogue, u64::from(doc.hosts.groups.value), parallel, blocks)
    }

    /// Returns the second tier: as many T1s as a T0 has uplinks, divided by its parallel cables. Each has as many
    /// downlinks as there are T0 groups, times those cables. Without a second tier, there are 0 switches, with the
    /// hardware of T0s.
    pub(super) fn t1(
        (doc, spans): (&FabricDoc, &Spans),
        catalogue: &Catalogue,
        t0: &DraftTier,
        groups: u64,
    ) -> Self {
        let Some(tier) = &doc.tiers.t1 else { return Self::placeholder_t1((doc, spans), catalogue) };
        let common = TierSettings {
            id: TierId::T1,
            name: &tier.platform,
            os: tier.os,
            os_refused: is_refused(spans, TierId::T1, tier.os),
            layout: tier.layout.as_ref(),
            by_plane: tier.by_plane.as_ref(),
            by_zone: None,
        };
        let common = TierSettings { by_zone: tier.by_zone.as_ref(), ..common };
        let count = t0.up.count / t0.parallel.max(1);
        let up = stated_count(tier.up.as_ref(), 0);
        let blocks = [(tier.down.as_ref(), groups * t0.parallel), (tier.up.as_ref(), up)];
        Self::new(&common, catalogue, count, number(tier.parallel, 1), blocks)
    }

    fn placeholder_t1((doc, spans): (&FabricDoc, &Spans), catalogue: &Catalogue) -> Self {
        let t0 = &doc.tiers.t0;
        let common = TierSettings {
            id: TierId::T1,
            name: &t0.platform,
            os: t0.os,
            os_refused: is_refused(spans, TierId::T0, t0.os),
            layout: None,
            by_plane: None,
            by_zone: None,
        };
        Self::new(&common, catalogue, 0, 1, [(None, 0), (None, 0)])
    }

    /// Returns the third tier; its downlinks are counted by [`DraftTier::with_zones`].
    pub(super) fn t2(
        (tier, spans): (&T2Doc, &Spans),
        catalogue: &Catalogue,
        t1: &DraftTier,
        (wiring, rows): (Wiring, u64),
    ) -> Self {
        let common = TierSettings {
            id: TierId::T2,
            name: &tier.platform,
            os: tier.os,
            os_refused: is_refused(spans, TierId::T2, tier.os),
            layout: tier.layout.as_ref(),
            by_plane: tier.by_plane.as_ref(),
            by_zone: None,
        };
        let steps = t1.up.count / t1.parallel.max(1);
        let count = match wiring {
            Wiring::Full => steps,
            // The last step has as many T2s as there are rows in use.
            Wiring::Rows => steps.saturating_sub(1) * rows + t1.count.min(rows).min(steps * t1.count),
        };
        Self::new(&common, catalogue, count, 1, [(tier.down.as_ref(), 0), (None, 0)])
    }

    /// Returns the T2 downlinks reserved for each zone: the stated number, or the ports of the panel divided by the
    /// zones that a uSID can number.
    pub(super) fn zone_ports(&self, doc: &T2Doc, layout: &DraftLayout) -> Option<u64> {
        if let Some(stated) = doc.ports_per_zone {
            return Some(u64::from(stated.value));
        }
        let ports = u64::from(self.platform.as_ref()?.ports_max(self.down.breakout?));
        Some(ports >> layout.zone.min(63))
    }

    /// Returns whether the tier's platform offers the breakouts of its ports. If not, the ports are unknown.
    pub(crate) fn offers_breakouts(&self) -> bool {
        let Some(platform) = &self.platform else { return false };
        [&self.down, &self.up]
            .into_iter()
            .filter(|block| block.count > 0)
            .all(|block| block.breakout.is_some_and(|breakout| platform.panel.offers(breakout)))
    }

    /// Sets the downlinks of a T2.
    pub(super) fn with_zones(mut self, zones: u64, zone_ports: Option<u64>) -> Self {
        self.down.count = zones * zone_ports.unwrap_or(0);
        self
    }

    fn new(
        common: &TierSettings<'_>,
        catalogue: &Catalogue,
        count: u64,
        parallel: u64,
        [(down_doc, down), (up_doc, up)]: [(Option<&PortsDoc>, u64); 2],
    ) -> Self {
        let platform = catalogue.get(&common.name.value).cloned();
        let usual =
            platform.as_ref().filter(|_| !common.os_refused).and_then(|own| own.oses.first().copied());
        let os = common.os.map(|os| os.value).or(usual);
        let platform = platform.map(|own| os.map_or_else(|| own.clone(), |os| own.under(os)));
        let hardware = platform.as_deref();
        let layout = hardware.zip(common.layout).and_then(|(own, name)| own.layouts.get(name.value.as_str()));
        let [down_side, up_side] =
            layout.map_or([None; 2], |layout| [layout.down.as_ref(), layout.up.as_ref()]);
        let down = DraftBlock::new(Side::Down, down_doc, down, hardware, down_side);
        let up = DraftBlock::new(Side::Up, up_doc, up, hardware, up_side);
        let (down, up) = (
            down.move_to_free_cages(&up, down_doc, hardware),
            up.move_to_free_cages(&down, up_doc, hardware),
        );
        let up = up.move_to_last_lanes(&down, hardware);
        let down = down.mark_shared_cages(&up, hardware);
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

/// Returns whether the file names an unknown `os` for a tier. The tier then has none, because findings about another
/// one would be wrong.
fn is_refused(spans: &Spans, tier: TierId, os: Option<Spanned<Os>>) -> bool {
    os.is_none() && spans.stated_span(tier_field!(tier, "os")).is_some()
}

/// Returns the stated number of ports, or the number that follows from others.
fn stated_count(ports: Option<&PortsDoc>, default: u64) -> u64 {
    ports.and_then(|ports| ports.0.count).map_or(default, |count| u64::from(count.value))
}

/// Returns the cage at which a side starts by default.
fn default_cage(side: Side, platform: Option<&Platform>) -> u64 {
    match side {
        Side::Down => 0,
        Side::Up => platform.map_or(0, |platform| u64::from(platform.panel.cages / 2)),
    }
}

fn by_zone(
    stated: Option<&NameMap<u16, ZoneHardwareDoc>>,
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
        let up = up.move_to_last_lanes(&down, Some(&own));
        let down = down.mark_shared_cages(&up, Some(&own));
        Some(DraftZone { zone: *zone, platform: own, os, down, up })
    };
    entries.iter().filter_map(zone).collect()
}

fn by_plane(
    stated: Option<&NameMap<u16, HardwareDoc>>,
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

/// Returns the platform and operating system of an override; `None` if the platform is unknown.
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
