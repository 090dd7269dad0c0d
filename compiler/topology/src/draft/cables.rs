//! Cables with their defaults.

use closc_diagnostics::Span;
use closc_qos::units::Length;
use smol_str::SmolStr;

use crate::coordinate::{Link, TierId};
use crate::document::{CableDoc, FabricDoc};
use crate::draft::{Draft, DraftBlock, DraftTier, number};
use crate::media::{Lanes, Medium};
use crate::model::Cable;
use crate::read::Spanned;

/// A cable with its defaults, and where it was described.
#[derive(Debug, Clone)]
pub(crate) struct DraftCable {
    pub(crate) cable: Cable,
    /// Absent if the default applies.
    pub(crate) length_span: Option<Span>,
    /// Absent if the default applies.
    pub(crate) medium_span: Option<Span>,
}

impl DraftCable {
    /// Fills in the defaults of a description.
    pub(crate) fn over(kind: &Cable, doc: Option<&CableDoc>) -> Self {
        let length = doc.and_then(|cable| cable.length);
        let medium = doc.and_then(|cable| cable.medium.clone());
        DraftCable {
            length_span: length.map(|length| length.span),
            medium_span: medium.as_ref().map(|medium| medium.span),
            cable: Cable {
                length: length.map_or(kind.length, |length| length.value),
                medium: medium.map_or_else(|| kind.medium.clone(), |medium| medium.value),
            },
        }
    }
}

/// The cables of a draft by kind.
#[derive(Debug, Clone)]
pub(crate) struct DraftCables {
    pub(crate) nic_t0: DraftCable,
    pub(crate) t0_t1: DraftCable,
    /// `None` without a T2 tier.
    pub(crate) t1_t2: Option<DraftCable>,
    pub(crate) by_zone: Vec<(Spanned<u16>, DraftCable)>,
}

impl DraftCables {
    /// Fills in the defaults. By default, NIC cables are not longer than the reach of their medium at the speed of
    /// their lanes.
    pub(super) fn new(fabric: &FabricDoc, has_t2: bool, t0: &DraftTier) -> Self {
        let doc = fabric.cables.clone().unwrap_or_default();
        let kind = |meters, medium: &str| Cable {
            length: Length::from_meters(meters),
            medium: SmolStr::new(medium),
        };
        let t1_t2 = has_t2.then(|| DraftCable::over(&kind(500, "dr"), doc.t1_t2.as_ref()));
        let by_zone = doc.by_zone.map(|named| named.0).unwrap_or_default();
        let mut nic_t0 = DraftCable::over(&kind(3, "dac"), doc.nic_t0.as_ref());
        if nic_t0.length_span.is_none() {
            let reach = Medium::find(&nic_t0.cable.medium)
                .zip(nic_lanes(t0, ports_per_cage(fabric)))
                .and_then(|(medium, lanes)| medium.reach(lanes));
            nic_t0.cable.length =
                reach.map_or(nic_t0.cable.length, |reach| reach.length.min(nic_t0.cable.length));
        }
        DraftCables {
            nic_t0,
            t0_t1: DraftCable::over(&kind(30, "dr"), doc.t0_t1.as_ref()),
            by_zone: by_zone
                .into_iter()
                .map(|(zone, cable)| {
                    let kind = t1_t2.as_ref().map_or_else(|| kind(500, "dr"), |t1_t2| t1_t2.cable.clone());
                    (zone, DraftCable::over(&kind, Some(&cable)))
                })
                .collect(),
            t1_t2,
        }
    }

    /// Returns the cable of a link, ignoring exceptions.
    pub(crate) fn kind_of(&self, link: Link) -> &Cable {
        match link {
            Link::Host(_) => &self.nic_t0.cable,
            Link::Fabric { lower, .. } if lower.tier == TierId::T1 => {
                let zone = self.by_zone.iter().find(|(zone, _)| zone.value == lower.zone.0);
                let kind = zone.map(|(_, cable)| cable).or(self.t1_t2.as_ref());
                kind.map_or(&self.t0_t1.cable, |cable| &cable.cable)
            }
            Link::Fabric { .. } => &self.t0_t1.cable,
        }
    }
}

impl Draft<'_> {
    /// Returns the lanes between NICs and T0s.
    pub(crate) fn nic_lanes(&self) -> Option<Lanes> {
        nic_lanes(&self.t0, ports_per_cage(self.doc))
    }

    /// Returns the lanes between a tier and the one above.
    pub(crate) fn uplink_lanes(&self, lower: TierId) -> Option<Lanes> {
        let between = |own: &DraftTier, far: Option<&DraftBlock>| {
            let far = far.and_then(|block| block.breakout);
            Lanes::from_breakouts(own.up.breakout?, cage_lanes(own)?, far)
        };
        match lower {
            TierId::T0 => between(&self.t0, Some(&self.t1.down)),
            TierId::T1 | TierId::T2 => between(&self.t1, self.t2.as_ref().map(|t2| &t2.down)),
        }
    }
}

/// Returns the lanes between NICs and T0s.
fn nic_lanes(t0: &DraftTier, ports: u64) -> Option<Lanes> {
    Lanes::of_nic(t0.down.breakout?, cage_lanes(t0)?, ports)
}

/// Returns the ports in each cage of a NIC.
fn ports_per_cage(fabric: &FabricDoc) -> u64 {
    let ports = u64::from(fabric.planes.value) * number(fabric.hosts.nics_per_adapter, 1);
    ports / number(fabric.hosts.nic.cages, 1).max(1)
}

/// Returns the serial lanes of a cage. Software has none, so its cables can have any length.
fn cage_lanes(tier: &DraftTier) -> Option<u8> {
    tier.platform.as_ref().filter(|platform| !platform.is_software()).map(|platform| platform.panel.lanes)
}
