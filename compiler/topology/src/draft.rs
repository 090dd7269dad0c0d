//! A document with every default filled in, and nothing checked yet.
//!
//! In: a document and the catalogue. Out: a [`Draft`]. Invariants: creating it cannot fail. A value that cannot be
//! resolved (an unknown platform, a broken name pattern) is absent, and the checks report it. Numbers are 64 bits
//! wide, so that no product of two of them wraps.

mod cables;
mod domains;
mod exceptions;
mod hardware;
mod layout;
mod list_files;
mod management;
mod names;
mod pins;
mod place;
mod racks;
mod tier;
mod tuning;

use closc_artefacts::Routing;
use closc_diagnostics::{Diagnostics, Sources, Span};
use closc_platform::{Balance, Catalogue, Os, Release};
use closc_qos::profile::{self, Preset, Profile, ProfileError};
use ipnet::Ipv6Net;

use cables::DraftCables;
use domains::DraftDomains;
use exceptions::{DraftExceptions, Resolver};
use management::DraftManagement;
use names::DraftNames;
use pins::DraftPins;
use racks::DraftRacks;

pub(crate) use cables::DraftCable;
pub(crate) use exceptions::{Entry, ExceptionList};
pub(crate) use hardware::{Hardware, by_plane, by_zone};
pub(crate) use layout::{Demand, DraftLayout};
pub(crate) use list_files::ListFault;
pub(crate) use management::{COLUMNS as MANAGEMENT_COLUMNS, ManagementFault};
pub(crate) use pins::PinFault;
pub(crate) use place::{Place, PlaceTier};
pub(crate) use tier::{DraftBlock, DraftTier, DraftZone, resolve};

use crate::balance::Choices;
use crate::choice::Wiring;
use crate::coordinate::{Link, Side, TierId};
use crate::document::{FabricDoc, NicDoc};
use crate::field::{Field, FieldPath};
use crate::ipv4::{Ipv4Counts, Ipv4Widths};
use crate::load::Document;
use crate::model::{Addresses, Cable, Ecmp, Entropy, Mtu};
use crate::read::Spanned;
use crate::shape::Shape;
use crate::spans::Spans;
use crate::{field, tier_field};

/// The SRv6 block in the lab of the authors of draft-filsfils-srv6ops-srv6-ai-backend.
const DEFAULT_BLOCK: &str = "fcbb:bbbb::/32";

/// A document with every default filled in.
#[derive(Clone)]
pub(crate) struct Draft<'a> {
    /// Whether this draft is only a trial of a suggestion. A trial tries no further suggestions.
    is_trial: bool,
    pub(crate) doc: &'a FabricDoc,
    pub(crate) catalogue: &'a Catalogue,
    /// Faults of single values, which are absent in `doc`.
    pub(crate) faults: &'a Diagnostics,
    spans: &'a Spans,
    sources: &'a Sources,
    pub(crate) routing: Routing,
    pub(crate) planes: u64,
    pub(crate) zones: u64,
    pub(crate) groups: u64,
    pub(crate) per_group: u64,
    pub(crate) nics_per_node: u64,
    pub(crate) rails: u64,
    pub(crate) zones_per_node: u64,
    pub(crate) nics_per_adapter: u64,
    pub(crate) nic_lanes: u64,
    pub(crate) nic_cages: u64,
    pub(crate) t0: DraftTier,
    pub(crate) t1: DraftTier,
    pub(crate) t2: Option<DraftTier>,
    pub(crate) wiring: Wiring,
    pub(crate) rows: u64,
    /// T2 downlinks reserved for each zone; `None` if the file does not state them and the T2 platform is unknown.
    pub(crate) zone_ports: Option<u64>,
    pub(crate) layout: DraftLayout,
    pub(crate) block: Ipv6Net,
    pub(crate) addresses: Addresses,
    pub(crate) cables: DraftCables,
    pub(crate) mtu: Mtu,
    pub(crate) ecmp: Ecmp,
    pub(crate) management: DraftManagement,
    pub(crate) pins: DraftPins,
    pub(crate) entropy: Entropy,
    pub(crate) qos: Result<Profile, Vec<ProfileError>>,
    pub(crate) names: DraftNames,
    pub(crate) shape: Shape,
    pub(crate) exceptions: DraftExceptions,
    pub(crate) domains: DraftDomains,
    pub(crate) racks: DraftRacks,
    /// Every kind of switch: those of tiers, of single planes and zones, and of single devices.
    pub(crate) hardware: Vec<Hardware>,
}

impl<'a> Draft<'a> {
    /// Fills in the defaults of a document.
    pub(crate) fn new(document: &'a Document, catalogue: &'a Catalogue, sources: &'a Sources) -> Self {
        let (doc, spans) = (&document.file, &document.spans);
        let (zones, has_t2) = (number(doc.zones, 1), doc.tiers.t2.is_some());
        let groups = u64::from(doc.hosts.groups.value);
        let layout = DraftLayout::new(doc.srv6.as_ref(), has_t2);
        let t0 = DraftTier::t0((doc, spans), catalogue);
        let t1 = DraftTier::t1((doc, spans), catalogue, &t0, groups);
        let (wiring, rows) = wiring(doc, t1.count);
        let t2 = doc.tiers.t2.as_ref().map(|t2| DraftTier::t2((t2, spans), catalogue, &t1, (wiring, rows)));
        let zone_ports = t2.as_ref().and_then(|tier| tier.zone_ports(doc.tiers.t2.as_ref()?, &layout));
        let t2 = t2.map(|tier| tier.with_zones(zones, zone_ports));
        let names = DraftNames::new(doc.naming.as_ref(), has_t2 || zones > 1);
        let shape = shape(doc, zones, [&t0, &t1], t2.as_ref(), (wiring, rows));
        let mut resolver = Resolver::new(&shape, &names);
        let exceptions = DraftExceptions::new(doc.exceptions.as_ref(), &mut resolver);
        let stated_t1 = doc.tiers.t1.as_ref().map(|_| &t1);
        let tiers: Vec<&DraftTier> = [Some(&t0), stated_t1, t2.as_ref()].into_iter().flatten().collect();
        let hardware = hardware::list(doc, catalogue, &tiers, &exceptions);
        Draft {
            is_trial: false,
            faults: &document.faults,
            routing: doc.routing.map_or(Routing::Srv6Static, |routing| routing.value),
            planes: u64::from(doc.planes.value),
            zones,
            groups,
            per_group: u64::from(doc.hosts.per_group.value),
            nics_per_node: number(doc.hosts.nics_per_node, 1),
            rails: number(doc.hosts.rails, 1),
            zones_per_node: number(doc.hosts.zones_per_node, 1),
            nics_per_adapter: number(doc.hosts.nics_per_adapter, 1),
            nic_lanes: number(doc.hosts.nic.lanes, default_lanes(&doc.hosts.nic)),
            nic_cages: number(doc.hosts.nic.cages, 1),
            block: doc.srv6.as_ref().and_then(|srv6| srv6.block).map_or_else(default_block, |b| b.value),
            addresses: tuning::addresses(doc.addresses.as_ref()),
            cables: DraftCables::new(doc, has_t2, &t0),
            mtu: tuning::mtu(doc.mtu.as_ref(), hardware.iter().filter_map(|own| own.os.port_mtu_max()).min()),
            ecmp: tuning::ecmp(doc.ecmp.as_ref(), t0.up.count),
            domains: DraftDomains::new(doc, &mut resolver),
            racks: DraftRacks::new(doc, &shape, &hardware),
            management: DraftManagement::new(document, &shape, &names, sources),
            pins: DraftPins::new(document, &shape, &names, sources),
            entropy: tuning::entropy(doc.entropy.as_ref(), doc.planes.value.into(), t0.up.count),
            qos: qos(doc),
            doc,
            catalogue,
            spans,
            sources,
            t0,
            t1,
            t2,
            wiring,
            rows,
            zone_ports,
            layout,
            names,
            shape,
            exceptions,
            hardware,
        }
    }

    /// Returns the widths of coordinates in IPv4 addresses.
    pub(crate) fn ipv4_widths(&self) -> Ipv4Widths {
        Ipv4Widths::new(&self.ipv4_counts(), self.addresses.widths)
    }

    /// Returns the numbers that determine the widths of coordinates in IPv4 addresses, unless the file states
    /// the widths.
    pub(crate) fn ipv4_counts(&self) -> Ipv4Counts {
        let ports = |tier: &DraftTier, block: &DraftBlock| {
            let split = tier.platform.as_ref().zip(block.breakout);
            split.map_or(0, |(platform, breakout)| platform.ports_max(breakout).into())
        };
        let t2s = self.t2.as_ref().map_or(0, |t2| t2.count);
        let t1_uplinks = if self.t2.is_some() { ports(&self.t1, &self.t1.up) } else { 0 };
        Ipv4Counts {
            planes: self.planes,
            zones: self.zones,
            groups: self.groups,
            switches: self.groups.max(self.t1.count).max(t2s),
            downlinks: ports(&self.t0, &self.t0.down).max(self.per_group + 1),
            uplinks: [ports(&self.t0, &self.t0.up), t1_uplinks],
            has_zone_routes: self.routing.has_static_groups() && self.has_t1(),
        }
    }

    /// Returns whether names contain the zone.
    pub(crate) fn has_zones(&self) -> bool {
        self.zones > 1 || self.t2.is_some()
    }

    /// Returns how many zones are joined by switches: 1 if zones are planes by NIC.
    pub(crate) fn zones_joined(&self) -> u64 {
        if self.t2.is_some() { self.zones } else { 1 }
    }

    /// Returns whether there is a T1 tier.
    pub(crate) fn has_t1(&self) -> bool {
        self.doc.tiers.t1.is_some()
    }

    /// Returns how many T1s of a zone reach the same T2; with rows, the maximum.
    pub(crate) fn t1s_below_t2(&self) -> u64 {
        match self.wiring {
            Wiring::Full => self.t1.count,
            Wiring::Rows => self.t1.count.div_ceil(self.rows.max(1)),
        }
    }

    /// Returns the numbers that decide which switches have several next hops.
    pub(crate) fn choices(&self) -> Choices {
        Choices {
            groups: self.groups,
            zones: self.zones_joined(),
            uplinks: [if self.has_t1() { self.t0.up.count } else { 0 }, self.t1.up.count],
            t0_parallel: if self.has_t1() { self.t0.parallel } else { 0 },
            zone_links: if self.t2.is_some() {
                self.t1s_below_t2().saturating_mul(self.t1.parallel)
            } else {
                0
            },
        }
    }

    /// Returns how switches of a tier choose among next hops: by hash if they have only one, or if hosts choose the
    /// path.
    pub(crate) fn balance(&self, tier: TierId) -> Balance {
        let has_choice = !self.routing.is_source_routed() && self.choices().groups(tier).1 > 0;
        if has_choice { self.ecmp.balance.of(tier) } else { Balance::Hash }
    }

    /// Returns the place of the setting for the balancing of a tier.
    pub(crate) fn balance_span(&self, tier: TierId) -> Span {
        let own = match tier {
            TierId::T0 => field!("ecmp.balance_by_tier.t0"),
            TierId::T1 => field!("ecmp.balance_by_tier.t1"),
            TierId::T2 => field!("ecmp.balance_by_tier.t2"),
        };
        self.stated_span(own).unwrap_or_else(|| self.at(field!("ecmp.balance")))
    }

    /// Returns the same fabric with another routing; `None` if this draft is such a trial itself.
    pub(crate) fn with_routing(&self, routing: Routing) -> Option<Self> {
        (!self.is_trial).then(|| Draft { is_trial: true, routing, ..self.clone() })
    }

    /// Returns how many rails have their T0s in one zone.
    pub(crate) fn rails_in_zone(&self) -> u64 {
        self.rails / self.zones_per_node.max(1)
    }

    /// Returns the number of ports of an adapter, over all planes.
    pub(crate) fn adapter_ports(&self) -> u64 {
        self.planes * self.nics_per_adapter
    }

    /// Returns the place of a value, or of the longest part of its path that is in the file.
    pub(crate) fn at(&self, path: impl Into<FieldPath>) -> Span {
        self.spans.get(path).unwrap_or(self.doc.fabric.span)
    }

    /// Returns the place of a value if it is in the file.
    pub(crate) fn stated_span(&self, path: impl Into<FieldPath>) -> Option<Span> {
        self.spans.stated_span(path)
    }

    /// Returns whether a value is in the file.
    pub(crate) fn states(&self, path: impl Into<FieldPath>) -> bool {
        self.stated_span(path).is_some()
    }

    /// Returns the release of an operating system and where the file states it; `None` for systems without releases.
    pub(crate) fn release(&self, os: Os) -> Option<(Release, Option<Span>)> {
        hardware::release(self.doc, os)
    }

    /// Returns a value as it was written, without quotes.
    pub(crate) fn text_at(&self, span: Span) -> &str {
        self.sources.text(span).trim_matches(['"', '\''])
    }

    /// Returns the place of the setting for the number of ports on a side of a tier.
    pub(crate) fn ports_span(&self, tier: TierId, side: Side) -> Span {
        let Some(ports) = Ports::of(tier, side) else { return self.tier_span(tier) };
        if self.states(ports.block) {
            return self.at(ports.count);
        }
        match (tier, side) {
            (TierId::T0, Side::Down) => self.at(field!("hosts.per_group")),
            (TierId::T1, Side::Down) => self.at(field!("hosts.groups")),
            (TierId::T2, Side::Down) => self.at(field!("tiers.t2.ports_per_zone")),
            (TierId::T0 | TierId::T1 | TierId::T2, Side::Up) => self.at(ports.block),
        }
    }

    /// Returns the place of the setting for the breakout of a side.
    pub(crate) fn breakout_span(&self, tier: &DraftTier, side: Side) -> Span {
        let stated = Ports::of(tier.id, side).and_then(|ports| self.stated_span(ports.breakout));
        stated.unwrap_or(tier.name.span)
    }

    /// Returns the place of the setting for the number and position of a switch's ports on a side.
    pub(crate) fn ports_of(&self, hardware: &Hardware, side: Side) -> Span {
        match hardware.zone_path(side) {
            Some(path) => self.at(path),
            None => self.ports_span(hardware.tier, side),
        }
    }

    /// Returns the place of the setting for the first cage of a switch's side.
    pub(crate) fn first_cage_of(&self, hardware: &Hardware, side: Side) -> Span {
        match (hardware.zone_path(side), Ports::of(hardware.tier, side)) {
            (None, Some(ports)) => self.at(ports.first_cage),
            (Some(_) | None, _) => self.ports_of(hardware, side),
        }
    }

    /// Returns the place where the file states the breakout of a switch's side; in a zone with hardware of
    /// its own, the place of the side.
    pub(crate) fn stated_breakout(&self, hardware: &Hardware, side: Side) -> Option<Span> {
        match hardware.zone_path(side) {
            Some(path) => self.stated_span(path),
            None => self.stated_span(Ports::of(hardware.tier, side)?.breakout),
        }
    }

    /// Returns whether the platform of a zone, or of the tier, is known to support the breakouts of its ports. Other
    /// checks cover single planes and switches with other hardware.
    pub(crate) fn offers(&self, hardware: &Hardware) -> bool {
        match hardware.zone {
            Some(_) => hardware.offers_breakouts(),
            None => self.tier(hardware.tier).is_some_and(DraftTier::offers_breakouts),
        }
    }

    /// Returns the place of a tier.
    pub(crate) fn tier_span(&self, tier: TierId) -> Span {
        self.at(tier_field!(tier))
    }

    /// Returns the tiers from the NICs upwards.
    pub(crate) fn tiers(&self) -> impl Iterator<Item = &DraftTier> {
        let t1 = self.has_t1().then_some(&self.t1);
        [Some(&self.t0), t1, self.t2.as_ref()].into_iter().flatten()
    }

    /// Returns a tier, if there is one.
    pub(crate) fn tier(&self, tier: TierId) -> Option<&DraftTier> {
        self.tiers().find(|t| t.id == tier)
    }

    /// Returns every name of exceptions and of lists of domains.
    pub(crate) fn name_entries(&self) -> impl Iterator<Item = &Entry> {
        self.exceptions.all().map(|(_, entry)| entry).chain(&self.domains.members)
    }

    /// Returns the cable of a link, ignoring exceptions.
    pub(crate) fn kind_of(&self, link: Link) -> &Cable {
        self.cables.kind_of(link)
    }

    /// Returns the places of all values.
    pub(crate) fn spans(&self) -> &Spans {
        self.spans
    }
}

/// The fields of the ports of a tier on one side.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ports {
    pub(crate) block: Field,
    pub(crate) count: Field,
    pub(crate) breakout: Field,
    pub(crate) first_cage: Field,
    pub(crate) cages: Field,
}

/// Builds the fields below one path.
macro_rules! ports {
    ($path:literal) => {
        Some(Ports {
            block: field!($path),
            count: field!(concat!($path, ".count")),
            breakout: field!(concat!($path, ".breakout")),
            first_cage: field!(concat!($path, ".first_cage")),
            cages: field!(concat!($path, ".cages")),
        })
    };
}

impl Ports {
    /// Returns the field of a count: for a block of ports, the field `count` below it.
    pub(crate) fn count_of(path: Field) -> Field {
        let sides = TierId::ALL.into_iter().flat_map(|tier| [(tier, Side::Down), (tier, Side::Up)]);
        let mut all = sides.filter_map(|(tier, side)| Ports::of(tier, side));
        all.find(|ports| ports.block == path).map_or(path, |ports| ports.count)
    }

    /// Returns the fields of a side; `None` above T2s, where the language has none.
    pub(crate) fn of(tier: TierId, side: Side) -> Option<Ports> {
        match (tier, side) {
            (TierId::T0, Side::Down) => ports!("tiers.t0.down"),
            (TierId::T0, Side::Up) => ports!("tiers.t0.up"),
            (TierId::T1, Side::Down) => ports!("tiers.t1.down"),
            (TierId::T1, Side::Up) => ports!("tiers.t1.up"),
            (TierId::T2, Side::Down) => ports!("tiers.t2.down"),
            (TierId::T2, Side::Up) => None,
        }
    }
}

/// Returns a number, or its default.
pub(super) fn number<T: Into<u64> + Copy>(stated: Option<Spanned<T>>, default: u64) -> u64 {
    stated.map_or(default, |stated| stated.value.into())
}

fn default_block() -> Ipv6Net {
    DEFAULT_BLOCK.parse().expect("the default block is a prefix")
}

/// Returns the wiring of T2s, and their rows: by default one for each T1.
fn wiring(doc: &FabricDoc, t1_count: u64) -> (Wiring, u64) {
    let Some(t2) = &doc.tiers.t2 else { return (Wiring::Full, 1) };
    (t2.wiring.map_or(Wiring::Full, |wiring| wiring.value), number(t2.rows, t1_count))
}

/// Returns one lane per 100G of the NIC, because the lanes of most NICs are not faster.
fn default_lanes(nic: &NicDoc) -> u64 {
    u64::from(nic.speed.value.mbps()).div_ceil(100_000).min(u64::from(u8::MAX))
}

fn qos(doc: &FabricDoc) -> Result<Profile, Vec<ProfileError>> {
    match &doc.qos {
        Some(qos) => profile::lower(qos.spec.clone()),
        None => Ok(Preset::LossyTrim.profile()),
    }
}

/// Returns the counts that names and wiring need, clamped to avoid division by 0 and overflow.
fn shape(
    doc: &FabricDoc,
    zones: u64,
    [t0, t1]: [&DraftTier; 2],
    t2: Option<&DraftTier>,
    (wiring, rows): (Wiring, u64),
) -> Shape {
    let clamp = |value: u64| u16::try_from(value).unwrap_or(u16::MAX);
    let divisor = |value: u64| clamp(value).max(1);
    let rails = divisor(number(doc.hosts.rails, 1));
    Shape {
        planes: doc.planes.value.min(256),
        zones: clamp(zones),
        groups: doc.hosts.groups.value,
        per_group: doc.hosts.per_group.value,
        nics_per_node: divisor(number(doc.hosts.nics_per_node, 1)),
        rails,
        zones_per_node: divisor(number(doc.hosts.zones_per_node, 1)).min(rails),
        t1_count: clamp(t1.count),
        t0_up: clamp(t0.up.count),
        t0_parallel: divisor(t0.parallel),
        t1_up: clamp(t1.up.count),
        t1_parallel: divisor(t1.parallel),
        t2_count: t2.map_or(0, |t2| clamp(t2.count)),
        rows: match wiring {
            Wiring::Full => 1,
            Wiring::Rows => divisor(rows),
        },
    }
}
