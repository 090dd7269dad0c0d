//! Every kind of switch of a fabric: those of tiers, of single planes and zones, and of single devices.

use std::collections::BTreeSet;
use std::sync::Arc;

use closc_diagnostics::Span;
use closc_platform::capability::Capability;
use closc_platform::{
    Balance, BalanceFact, Breakout, Catalogue, FeatureSupport, GroupWidth, Limit, Os, Platform, Release,
    SkuFeature, SplitCages,
};
use closc_qos::units::Speed;

use super::exceptions::{DraftExceptions, Entry};
use super::tier::resolve;
use super::{DraftBlock, DraftTier, DraftZone, Ports};
use crate::coordinate::{Side, Subject, TierId};
use crate::document::{FabricDoc, HardwareDoc, ZoneHardwareDoc};
use crate::field::FieldPath;
use crate::read::Spanned;
use crate::{field, tier_field};

/// A kind of switch: hardware and operating system, and where the file states them.
#[derive(Debug, Clone)]
pub(crate) struct Hardware {
    pub(crate) tier: TierId,
    pub(crate) platform: Arc<Platform>,
    pub(crate) os: Os,
    /// The stated or assumed release of the operating system, if it has releases.
    pub(crate) release: Option<Release>,
    pub(crate) platform_span: Span,
    pub(crate) os_span: Span,
    /// The switches of this kind, for messages: `each T0`, `each T0 of plane 3`, `` `p3-t0-017` ``.
    pub(crate) subject: String,
    /// Its zone, if the zone has hardware of its own.
    pub(crate) zone: Option<u16>,
    pub(crate) down: DraftBlock,
    pub(crate) up: DraftBlock,
}

impl Hardware {
    /// Returns the breakouts of the cages in use, side by side.
    pub(crate) fn breakouts(&self) -> impl Iterator<Item = Breakout> {
        let used = [&self.down, &self.up].into_iter().filter(|block| block.count + block.spare > 0);
        used.filter_map(|block| block.breakout)
    }

    /// Returns the cages in use, side by side.
    pub(crate) fn cages_in_use(&self) -> impl Iterator<Item = SplitCages> {
        let cages = self.platform.panel.cages;
        [&self.down, &self.up].into_iter().filter_map(move |block| block.cages_in_use(cages))
    }

    /// Returns the speeds of its ports towards other switches.
    pub(crate) fn fabric_speeds(&self) -> BTreeSet<Speed> {
        let down = (self.tier != TierId::T0).then_some(&self.down);
        let used = [down, Some(&self.up)].into_iter().flatten().filter(|block| block.count > 0);
        used.filter_map(|block| Some(block.breakout?.speed)).collect()
    }

    /// Returns the known facts about a kind of balancing on this hardware, if it supports that at the speeds of its
    /// ports.
    pub(crate) fn balance(&self, balance: Balance) -> Option<&BalanceFact> {
        let takes = |fact: &&BalanceFact| {
            fact.speeds.as_ref().is_none_or(|speeds| self.fabric_speeds().is_subset(speeds))
        };
        self.platform.balance(balance, self.os).filter(takes)
    }

    /// Returns the sizes of its ECMP groups.
    pub(crate) fn group_width(&self) -> GroupWidth<'_> {
        self.platform.group_width((self.os, self.release), self.cages_in_use())
    }

    /// Returns why the size of a table is assumed, if it is neither published nor measured.
    pub(crate) fn assumption(&self, limit: Limit) -> Option<&str> {
        match limit {
            Limit::EcmpWidth => self.group_width().assumption,
            Limit::MySids | Limit::Ipv6Routes | Limit::EcmpGroups | Limit::Neighbours => {
                self.platform.limits.assumption(limit)
            }
        }
    }

    /// Returns the first release in which its hwsku has a capability, if the operating system in general had it
    /// earlier.
    pub(crate) fn capability_since(&self, capability: Capability) -> Option<Release> {
        let hwsku =
            self.platform.hwsku(self.cages_in_use()).filter(|_| capability == Capability::Trimming)?;
        self.platform.trimming_since(self.os, hwsku)
    }

    /// Returns how well documented it is that this hwsku has a feature that other hwskus of the platform lack.
    pub(crate) fn feature_support(&self, feature: SkuFeature) -> FeatureSupport<'_> {
        self.platform.feature_support(feature, self.os, self.cages_in_use())
    }

    /// Returns the platforms that have a feature under its operating system. If only some breakouts have the feature,
    /// they are listed.
    pub(crate) fn able(&self, catalogue: &Catalogue, feature: SkuFeature) -> Vec<String> {
        let able = |platform: &Arc<Platform>| {
            let with: Vec<String> =
                platform.breakouts_with(feature, self.os).map(|breakout| breakout.to_string()).collect();
            let differs = self.os.has_hwskus() && with.len() < platform.panel.breakouts.len();
            let split = if differs { format!(" ({})", with.join(", ")) } else { String::new() };
            (!with.is_empty()).then(|| format!("`{}`{split}", platform.id))
        };
        // There are many derived platforms, so advice does not name them.
        let usual = catalogue.usual().filter(|platform| platform.supports(self.os));
        usual.filter_map(able).collect()
    }

    /// Returns where the ports of a side are described, for advice.
    pub(crate) fn path_of(&self, side: Side) -> String {
        match (self.zone_path(side), Ports::of(self.tier, side)) {
            (Some(path), _) => path.to_string(),
            (None, Some(ports)) => ports.block.to_string(),
            (None, None) => tier_field!(self.tier).to_string(),
        }
    }

    /// Returns where the zone describes the ports of a side, if it has hardware of its own.
    pub(crate) fn zone_path(&self, side: Side) -> Option<FieldPath> {
        zone_path(self.tier, self.zone?, side)
    }

    /// Returns whether its platform offers the breakouts of its ports.
    pub(crate) fn offers_breakouts(&self) -> bool {
        let used = [&self.down, &self.up].into_iter().filter(|block| block.count > 0);
        let mut breakouts = used.map(|block| block.breakout);
        breakouts.all(|breakout| breakout.is_some_and(|b| self.platform.panel.offers(b)))
    }
}

/// Lists every kind of switch whose platform is known.
pub(super) fn list(
    doc: &FabricDoc,
    catalogue: &Catalogue,
    tiers: &[&DraftTier],
    exceptions: &DraftExceptions,
) -> Vec<Hardware> {
    let mut found = Vec::new();
    for tier in tiers {
        let label = tier.id.label();
        if let (Some(platform), Some(os)) = (&tier.platform, tier.os) {
            let own = (platform.clone(), os);
            let mut whole = kind(tier, None, own, tier.name.span, None, format!("each {label}"));
            whole.os_span = tier.os_span;
            found.push(whole);
        }
        for (plane, span, override_doc) in by_plane(doc, tier.id) {
            let Some(own) = resolve(override_doc, catalogue, tier.platform.as_ref(), tier.os) else {
                continue;
            };
            let who = format!("each {label} of plane {plane}");
            found.push(kind(tier, None, own, span, Some(override_doc), who));
        }
        for zone in &tier.by_zone {
            let number = zone.zone.value;
            let stated = by_zone(doc, tier.id).iter().find(|(at, _)| at.span == zone.zone.span);
            let asked =
                stated.map(|(_, stated)| HardwareDoc { platform: stated.platform.clone(), os: stated.os });
            let who = format!("each {label} of zone {number}");
            let own = (zone.platform.clone(), zone.os);
            found.push(kind(tier, Some(zone), own, zone.zone.span, asked.as_ref(), who));
        }
    }
    devices(catalogue, tiers, exceptions, &mut found);
    for hardware in &mut found {
        hardware.release = release(doc, hardware.os).map(|(release, _)| release);
    }
    found
}

/// Returns the release of an operating system and where the file states it; `None` for systems without releases.
pub(crate) fn release(doc: &FabricDoc, os: Os) -> Option<(Release, Option<Span>)> {
    let named = doc.releases.iter().flat_map(|named| &named.0).find(|(own, _)| own.value == os);
    match named {
        Some((_, release)) => Some((release.value, Some(release.span))),
        None => os.releases().map(|releases| (releases.default, None)),
    }
}

/// Adds the kinds of single switches. A range of a thousand switches is one kind per tier, and per zone with its own
/// hardware.
fn devices(
    catalogue: &Catalogue,
    tiers: &[&DraftTier],
    exceptions: &DraftExceptions,
    found: &mut Vec<Hardware>,
) {
    for (entries, override_doc) in &exceptions.devices {
        for tier in tiers {
            for zone in std::iter::once(None).chain(tier.by_zone.iter().map(Some)) {
                let is_here = |entry: &&Entry| {
                    let Ok(Subject::Switch(switch)) = entry.subject else { return false };
                    let own = tier.in_zone(switch.zone).map(|own| own.zone.value);
                    switch.tier == tier.id && own == zone.map(|zone| zone.zone.value)
                };
                let Some(entry) = entries.iter().find(is_here) else { continue };
                let (platform, os) = tier.hardware_in(zone);
                let Some(own) = resolve(override_doc, catalogue, platform, os) else { continue };
                found.push(kind(
                    tier,
                    zone,
                    own,
                    entry.span,
                    Some(override_doc),
                    format!("`{}`", entry.name),
                ));
            }
        }
    }
}

fn kind(
    tier: &DraftTier,
    zone: Option<&DraftZone>,
    (platform, os): (Arc<Platform>, Os),
    span: Span,
    doc: Option<&HardwareDoc>,
    who: String,
) -> Hardware {
    let (down, up) = zone.map_or((&tier.down, &tier.up), |zone| (&zone.down, &zone.up));
    Hardware {
        tier: tier.id,
        platform,
        os,
        release: None,
        platform_span: doc.and_then(|doc| doc.platform.as_ref()).map_or(span, |platform| platform.span),
        os_span: doc.and_then(|doc| doc.os).map_or(span, |os| os.span),
        subject: who,
        zone: zone.map(|zone| zone.zone.value),
        down: down.clone(),
        up: up.clone(),
    }
}

/// Returns where a zone describes the ports of a side of a tier.
pub(crate) fn zone_path(tier: TierId, zone: u16, side: Side) -> Option<FieldPath> {
    let field = match (tier, side) {
        (TierId::T0, Side::Down) => field!("tiers.t0.by_zone.*.down"),
        (TierId::T0, Side::Up) => field!("tiers.t0.by_zone.*.up"),
        (TierId::T1, Side::Down) => field!("tiers.t1.by_zone.*.down"),
        (TierId::T1, Side::Up) => field!("tiers.t1.by_zone.*.up"),
        (TierId::T2, _) => return None,
    };
    Some(field.with_key(zone))
}

/// Returns the zones of a tier that have hardware of their own, as they were written.
pub(crate) fn by_zone(doc: &FabricDoc, tier: TierId) -> &[(Spanned<u16>, ZoneHardwareDoc)] {
    let stated = match tier {
        TierId::T0 => doc.tiers.t0.by_zone.as_ref(),
        TierId::T1 => doc.tiers.t1.as_ref().and_then(|t1| t1.by_zone.as_ref()),
        TierId::T2 => None,
    };
    stated.map(|named| named.0.as_slice()).unwrap_or_default()
}

/// Returns the planes of a tier that have hardware of their own, as they were written.
pub(crate) fn by_plane(doc: &FabricDoc, tier: TierId) -> impl Iterator<Item = (u16, Span, &HardwareDoc)> {
    let stated = match tier {
        TierId::T0 => doc.tiers.t0.by_plane.as_ref(),
        TierId::T1 => doc.tiers.t1.as_ref().and_then(|t1| t1.by_plane.as_ref()),
        TierId::T2 => doc.tiers.t2.as_ref().and_then(|t2| t2.by_plane.as_ref()),
    };
    stated
        .map(|named| named.0.as_slice())
        .unwrap_or_default()
        .iter()
        .map(|(plane, hardware)| (plane.value, plane.span, hardware))
}
