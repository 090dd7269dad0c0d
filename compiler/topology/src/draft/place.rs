//! Places with equal cables: the fabric as described by its tiers, and each zone that has hardware, a NIC or a group
//! size of its own.
//!
//! In: a draft. Out: the [`Place`]s, for checks of speeds and lanes. Invariants: the first place is that of the tiers
//! themselves. A zone without a difference is not a place.

use std::collections::BTreeSet;
use std::sync::Arc;

use closc_diagnostics::Span;
use closc_platform::{Breakout, Platform};
use closc_qos::units::Speed;

use super::hardware::zone_path;
use super::{Draft, DraftBlock, DraftTier, Ports};
use crate::coordinate::{Side, ZoneId};
use crate::field;
use crate::read::Spanned;

/// The tiers without their exceptions, or one zone that differs from them. All cables of a kind in a place
/// are equal.
#[derive(Debug, Clone)]
pub(crate) struct Place<'a> {
    /// The zone; absent for the place of the tiers themselves.
    pub(crate) zone: Option<u16>,
    /// Total speed of the NIC.
    pub(crate) nic: Spanned<Speed>,
    /// Lanes of the NIC.
    pub(crate) lanes: u64,
    /// Where the lanes are written.
    pub(crate) lanes_stated: Option<Span>,
    /// Cages of the NIC.
    pub(crate) cages: u64,
    /// Where the cages are written.
    pub(crate) cages_stated: Option<Span>,
    /// T0s and T1s.
    pub(crate) tiers: [PlaceTier<'a>; 2],
}

/// A tier in a place.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PlaceTier<'a> {
    pub(crate) tier: &'a DraftTier,
    pub(crate) platform: Option<&'a Arc<Platform>>,
    /// Where the platform is named.
    pub(crate) span: Span,
    pub(crate) down: &'a DraftBlock,
    pub(crate) up: &'a DraftBlock,
    zone: Option<u16>,
}

impl Place<'_> {
    /// Returns the phrase for its zone: ` of zone 3`.
    pub(crate) fn of_zone(&self) -> String {
        self.zone.map_or_else(String::new, |zone| format!(" of zone {zone}"))
    }

    /// Returns the speed of a NIC port in Mb/s, rounded down.
    pub(crate) fn port_mbps(&self, planes: u64) -> u64 {
        u64::from(self.nic.value.mbps()) / planes.max(1)
    }
}

impl<'a> PlaceTier<'a> {
    /// Returns a tier that is the same in all zones.
    pub(crate) fn from_tier(tier: &'a DraftTier) -> Self {
        place_tier(tier, None)
    }

    /// Returns whether it is the tier of the zones without hardware of their own.
    pub(crate) fn is_whole(&self) -> bool {
        self.zone.is_none()
    }

    /// Returns the place of the setting for the breakout of a side.
    pub(crate) fn breakout_span(&self, draft: &Draft<'_>, side: Side) -> Span {
        match self.zone.and_then(|zone| zone_path(self.tier.id, zone, side)) {
            Some(path) => draft.at(path),
            None => draft.breakout_span(self.tier, side),
        }
    }

    /// Returns the place of the setting for the number of ports of a side, and their breakout.
    pub(crate) fn ports_span(&self, draft: &Draft<'_>, side: Side) -> Span {
        match self.zone.and_then(|zone| zone_path(self.tier.id, zone, side)) {
            Some(path) => draft.at(path),
            None => draft.ports_span(self.tier.id, side),
        }
    }

    /// Returns where the ports of a side are described, for advice.
    pub(crate) fn path(&self, side: Side) -> String {
        match self.zone.and_then(|zone| zone_path(self.tier.id, zone, side)) {
            Some(path) => path.to_string(),
            None => Ports::of(self.tier.id, side).map_or_else(String::new, |ports| ports.block.to_string()),
        }
    }

    /// Returns the YAML value that sets the number of ports of a side and their breakout; in a zone, only the breakout.
    pub(crate) fn split(&self, count: u64, breakout: impl std::fmt::Display) -> String {
        if self.zone.is_some() {
            format!("{{breakout: {breakout}}}")
        } else {
            format!("{{count: {count}, breakout: {breakout}}}")
        }
    }
}

impl Draft<'_> {
    /// Returns every place.
    pub(crate) fn places(&self) -> Vec<Place<'_>> {
        let nics = self.doc.hosts.nic_by_zone.iter().flat_map(|zones| &zones.0).map(|(zone, _)| zone.value);
        let tiers = [&self.t0, &self.t1].into_iter().flat_map(|tier| &tier.by_zone);
        let sizes =
            self.doc.hosts.per_group_by_zone.iter().flat_map(|zones| &zones.0).map(|(zone, _)| zone.value);
        let zones: BTreeSet<u16> = nics.chain(sizes).chain(tiers.map(|own| own.zone.value)).collect();
        let zones = zones.into_iter().filter(|zone| u64::from(*zone) < self.zones);
        std::iter::once(None).chain(zones.map(Some)).map(|zone| self.place(zone)).collect()
    }

    /// Returns how many NICs a T0 group of a zone has at most.
    pub(crate) fn nics_in(&self, zone: Option<u16>) -> u64 {
        let mut sizes = self.doc.hosts.per_group_by_zone.iter().flat_map(|zones| &zones.0);
        let own = sizes.find(|(at, _)| Some(at.value) == zone).map(|(_, nics)| u64::from(nics.value));
        own.unwrap_or(self.per_group).min(self.per_group)
    }

    /// Returns the fields that change the breakout of a tier's downlinks in a place, with their values. Zones without
    /// hardware of their own for which `fit` is true keep their breakout. `whole` is the value for all zones.
    pub(crate) fn split_downlinks(
        &self,
        place: &Place<'_>,
        tier: &PlaceTier<'_>,
        (breakout, whole): (Breakout, String),
        fit: impl Fn(&Place<'_>) -> bool,
    ) -> Vec<(String, String)> {
        let side = Side::Down;
        let in_zone = |zone: u16, breakout: Breakout| {
            let path = zone_path(tier.tier.id, zone, side)?;
            Some((path.to_string(), format!("{{breakout: {breakout}}}")))
        };
        if let Some(own) = place.zone.and_then(|zone| in_zone(zone, breakout)) {
            return vec![own];
        }
        let is_same = |other: &Place<'_>| {
            let mut tiers = other.tiers.iter().filter(|other| other.tier.id == tier.tier.id);
            tiers.any(PlaceTier::is_whole)
        };
        let others = self.places().into_iter().filter(|other| is_same(other) && fit(other));
        let kept = others.filter_map(|other| in_zone(other.zone?, tier.down.breakout?));
        std::iter::once((tier.path(side), whole)).chain(kept).collect()
    }

    fn place(&self, zone: Option<u16>) -> Place<'_> {
        let own = self.doc.hosts.nic_by_zone.iter().flat_map(|zones| &zones.0);
        let own = own.into_iter().find(|(at, _)| Some(at.value) == zone).map(|(_, nic)| nic);
        let nic = own.unwrap_or(&self.doc.hosts.nic);
        let lanes_stated = nic.lanes.map(|lanes| lanes.span);
        Place {
            zone,
            nic: nic.speed,
            lanes: super::number(nic.lanes, super::default_lanes(nic)),
            lanes_stated,
            cages: super::number(nic.cages, 1),
            cages_stated: nic.cages.map(|cages| cages.span),
            tiers: [&self.t0, &self.t1].map(|tier| place_tier(tier, zone)),
        }
    }

    /// Returns the place where the lanes of a NIC are stated, or that of the NIC.
    pub(crate) fn lanes_span(&self, place: &Place<'_>) -> Span {
        place.lanes_stated.unwrap_or_else(|| match place.zone {
            Some(zone) => self.at(field!("hosts.nic_by_zone.*.lanes").with_key(zone)),
            None => self.at(field!("hosts.nic.lanes")),
        })
    }
}

fn place_tier(tier: &DraftTier, zone: Option<u16>) -> PlaceTier<'_> {
    match zone.and_then(|zone| tier.in_zone(ZoneId(zone))) {
        Some(own) => PlaceTier {
            tier,
            platform: Some(&own.platform),
            span: own.zone.span,
            down: &own.down,
            up: &own.up,
            zone,
        },
        None => PlaceTier {
            tier,
            platform: tier.platform.as_ref(),
            span: tier.name.span,
            down: &tier.down,
            up: &tier.up,
            zone: None,
        },
    }
}
