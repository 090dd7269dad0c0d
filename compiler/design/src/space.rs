//! Every design of one, two and three tiers that meets a need.
//!
//! In: a [`Need`] and platforms. Out: [`Design`]s, one at a time, in no order. Invariants: each keeps the limits of
//! the need, and fits the panels of its switches. Above several T0s it has at least two T1s in each plane. A T0 has no
//! more uplinks than the ratio asks for, rounded up to whole T1s. T1s under T2s have as much bandwidth up as down.

use std::cell::Cell;

use closc_artefacts::Routing;
use closc_platform::capability::{Capability, Support};
use closc_platform::{Breakout, Catalogue, Os, Platform};
use closc_qos::units::Speed;

use crate::design::{Design, Side, Third, Tier};
use crate::need::{Limits, Need};
use crate::outside::{self, Outside};
use crate::panel::{Model, Panel, accepts, panels};

/// Maximum number of zones in addresses.
const ZONES_MAX: u32 = 1 << Third::ZONE_BITS_MAX;

/// The fewest T1s of a plane. With a single T1, its failure would fail the plane.
pub(crate) const T1S_MIN: u32 = 2;

/// One part of the search: the values that its designs share.
#[derive(Clone, Copy)]
struct Part<'n> {
    need: &'n Need,
    planes: u16,
    /// Planes by NIC.
    by_nic: u32,
    speed: Speed,
    routing: Routing,
    os: Os,
    pass: Pass,
    /// Whether a design was left out because its T1s or T2s are too large.
    too_large: &'n Cell<bool>,
}

/// Designs that a pass over the search takes. A later pass is for needs without a design in those before it.
#[derive(Clone, Copy)]
struct Pass {
    /// Whether designs have exactly the NICs that are wanted, or the next larger number of places.
    is_exact: bool,
    /// Whether at least half of the ports of T1s and T2s are used.
    is_used: bool,
}

/// The passes in their order.
const PASSES: [Pass; 4] = [
    Pass { is_exact: true, is_used: true },
    Pass { is_exact: false, is_used: true },
    Pass { is_exact: true, is_used: false },
    Pass { is_exact: false, is_used: false },
];

/// Routings, with planes by NIC, for which even the smallest switches have most ports of T1s or T2s unused.
#[derive(Debug, Clone, Default)]
pub struct Underused(Vec<(Routing, u32)>);

impl Underused {
    /// Tells whether designs like this one may have most ports above T0s unused.
    pub fn permits(&self, design: &Design<'_>) -> bool {
        self.0.contains(&(design.routing, design.planes_by_nic))
    }
}

/// A T0 with its NICs, the start of each design.
#[derive(Clone, Copy)]
struct Base<'a> {
    panel: Panel<'a>,
    per_group: u32,
    /// T0s of a plane and zone.
    groups: u32,
    /// Uplinks that the ratio asks for.
    up: u32,
}

/// Finds every design.
///
/// For each routing, designs have exactly the NICs that are wanted, and use at least half of the ports of T1s and T2s.
/// If equal T0s cannot have exactly this number, designs have the next larger number of places. If even the smallest
/// switches have more unused ports, these designs are found.
///
/// # Errors
///
/// [`Outside`] where there is none.
pub fn space<'a>(
    need: &Need,
    catalogue: &'a Catalogue,
    take: &mut dyn FnMut(Design<'a>),
) -> Result<Underused, Outside> {
    let models = models(need, catalogue)?;
    let speeds = speeds(need)?;
    let by_nic = by_nic(need)?;
    let (mut underused, mut has_ports, mut is_empty) = (Underused::default(), false, true);
    for (routing, zones) in routings(need, &by_nic) {
        let too_large = Cell::new(false);
        for pass in PASSES.into_iter().take_while(|pass| pass.is_used || too_large.get()) {
            let count = Cell::new(0_usize);
            let mut found = |design| {
                count.set(count.get() + 1);
                take(design);
            };
            for part in parts(need, &speeds, (routing, zones), pass, &too_large) {
                has_ports |= part.designs(&models, &mut found);
            }
            if count.get() > 0 {
                is_empty = false;
                underused.0.extend((!pass.is_used).then_some((routing, zones)));
                break;
            }
        }
    }
    if !is_empty {
        return Ok(underused);
    }
    Err(if has_ports { Outside::Limits } else { outside::no_ports(need, &speeds, &models) })
}

/// Returns the platforms to try.
fn models<'a>(need: &Need, catalogue: &'a Catalogue) -> Result<Vec<Model<'a>>, Outside> {
    let model = |platform| Model { platform, chassis: catalogue.chassis(platform) };
    if need.platforms.is_empty() {
        let sold = || catalogue.iter().filter(|platform| is_sold(platform));
        let unknown = need.vendors.iter().find(|vendor| sold().all(|platform| platform.vendor() != **vendor));
        if let Some(vendor) = unknown {
            return Err(Outside::vendor(vendor, sold().map(|platform| platform.vendor())));
        }
        return Ok(sold().filter(|platform| need.is_of_vendor(platform)).map(model).collect());
    }
    let named = |name: &String| {
        let found = catalogue.get(name).map(model);
        found.ok_or_else(|| Outside::platform(name, catalogue))
    };
    need.platforms.iter().map(named).collect()
}

/// Tells whether a platform is hardware. Software platforms have no buffer, or are SONiC's image for KVM.
fn is_sold(platform: &Platform) -> bool {
    let is_image = platform.sonic.as_ref().is_some_and(|sonic| sonic.platform.contains("-kvm_"));
    platform.buffer.is_some() && !is_image
}

/// Returns the numbers of planes to try, each with the speed of a port.
fn speeds(need: &Need) -> Result<Vec<(u16, Speed)>, Outside> {
    divides_into_rails(need.nics_per_node, need.rails)?;
    divides_into_nodes(need.nics, need.nics_per_node)?;
    if let Some(few) = too_few(need) {
        return Err(few);
    }
    let speed = |planes: &u16| Some((*planes, need.port_speed(*planes)?));
    let speeds: Vec<(u16, Speed)> = need.planes.iter().filter_map(speed).collect();
    if speeds.is_empty() {
        return Err(Outside::Speed(need.speed));
    }
    let least = need.limits.t0_loss.map_or(1, |most| 100_u32.div_ceil(u32::from(most).max(1)));
    let keeps = speeds.iter().any(|(planes, _)| u32::from(*planes) >= least);
    if keeps { Ok(speeds) } else { Err(Outside::planes(need, least)) }
}

/// Checks that the NICs of a node are the same number on each rail.
///
/// # Errors
///
/// [`Outside::Rails`].
pub fn divides_into_rails(node: u8, rails: u8) -> Result<(), Outside> {
    let divides = rails > 0 && node.is_multiple_of(rails);
    if divides { Ok(()) } else { Err(Outside::Rails { rails, nics: node }) }
}

/// Checks that NICs are a whole number of nodes.
///
/// # Errors
///
/// [`Outside::Nodes`].
pub fn divides_into_nodes(nics: u32, node: u8) -> Result<(), Outside> {
    let per_node = u32::from(node);
    if nics.is_multiple_of(per_node) {
        return Ok(());
    }
    let next = nics.checked_next_multiple_of(per_node).unwrap_or(nics - nics % per_node);
    Err(Outside::Nodes { nics, node, next })
}

/// Tells whether the need permits fabrics of one tier: only static routes forward without uplinks, and a switch joins
/// the NICs of one rail.
fn permits_one_tier(need: &Need) -> bool {
    need.tiers.contains(&1)
        && need.routings.contains(&Routing::EcmpStatic)
        && need.planes_by_nic.contains(&need.rails)
}

/// Returns the reason if there are too few NICs for two T0s, or for two NICs on each switch of a single tier.
fn too_few(need: &Need) -> Option<Outside> {
    let (rails, node) = (u32::from(need.rails), u32::from(need.nics_per_node));
    let zones = need.planes_by_nic.iter().copied().min().unwrap_or(1);
    let two = node * (2 * u32::from(zones)).div_ceil(rails);
    let one = (2 * rails).next_multiple_of(node);
    let has_two = need.tiers.iter().any(|tiers| *tiers > 1);
    let least = match (permits_one_tier(need), has_two) {
        (true, true) => one.min(two),
        (true, false) => one,
        (false, _) => two,
    };
    let is_one = permits_one_tier(need);
    (need.nics < least).then_some(Outside::Few { nics: need.nics, least, is_one })
}

/// Returns the numbers of planes by NIC to try: those that divide the rails.
fn by_nic(need: &Need) -> Result<Vec<u32>, Outside> {
    let divides = |zones: &u8| *zones > 0 && need.rails.is_multiple_of(*zones);
    let by_nic: Vec<u32> = need.planes_by_nic.iter().copied().filter(divides).map(u32::from).collect();
    if by_nic.is_empty() {
        return Err(Outside::ByNic { rails: need.rails });
    }
    let has_static = need.routings.contains(&Routing::EcmpStatic);
    if need.tiers.iter().all(|tiers| *tiers == 1) && !permits_one_tier(need) {
        return Err(if has_static {
            Outside::OneTierRails { rails: need.rails }
        } else {
            Outside::OneTierRouting
        });
    }
    let is_possible = by_nic.contains(&1) || need.routings.iter().any(|routing| !routing.is_source_routed());
    if is_possible { Ok(by_nic) } else { Err(Outside::ByNicRouting) }
}

/// Returns the routings to try, each with its numbers of planes by NIC.
fn routings<'n>(need: &'n Need, by_nic: &'n [u32]) -> impl Iterator<Item = (Routing, u32)> {
    let all = need.routings.iter().flat_map(|routing| by_nic.iter().map(move |zones| (*routing, *zones)));
    all.filter(|(routing, zones)| *zones == 1 || !routing.is_source_routed())
}

/// Tells whether an operating system supports a routing, as `E0213` checks it.
fn supports(os: Os, routing: Routing) -> bool {
    let capability = match routing {
        Routing::Srv6Static => Capability::Segments,
        Routing::EcmpStatic => return true,
        Routing::BgpUnnumbered => Capability::Bgp,
    };
    !matches!(os.support(capability), Support::Not(_))
}

/// Returns the parts of a pass whose planes keep the limits.
fn parts<'n>(
    need: &'n Need,
    speeds: &'n [(u16, Speed)],
    (routing, by_nic): (Routing, u32),
    pass: Pass,
    too_large: &'n Cell<bool>,
) -> impl Iterator<Item = Part<'n>> {
    let keeps =
        |planes: u16| need.limits.t0_loss.is_none_or(|most| 100 <= u32::from(most) * u32::from(planes));
    speeds.iter().copied().filter(move |(planes, _)| keeps(*planes)).flat_map(move |(planes, speed)| {
        let part = move |os: &Os| Part { need, planes, by_nic, speed, routing, os: *os, pass, too_large };
        // Without any that supports the routing, the checks report it by name.
        let is_none = !need.oses.iter().any(|os| supports(*os, routing));
        need.oses.iter().filter(move |os| is_none || supports(**os, routing)).map(part)
    })
}

impl Part<'_> {
    /// Adds the designs of a part. Returns whether a switch has ports for its NICs.
    fn designs<'a>(self, models: &[Model<'a>], found: &mut dyn FnMut(Design<'a>)) -> bool {
        let tiers = &self.need.tiers;
        let t0s = panels(models, self.os, self.routing, Some(self.speed));
        if permits_one_tier(self.need) && self.routing.has_static_groups() {
            for panel in &t0s {
                self.one_tier(panel, found);
            }
        }
        let above = panels(models, self.os, self.routing, None);
        for base in t0s.iter().flat_map(|panel| self.bases(panel)) {
            if tiers.contains(&2) {
                self.two_tiers(&base, &above, found);
            }
            if tiers.contains(&3) && self.by_nic == 1 {
                self.three_tiers(&base, &above, found);
            }
        }
        !t0s.is_empty()
    }

    /// Adds the design with one switch per plane and rail. Its T0s have all ports down.
    fn one_tier<'a>(self, panel: &Panel<'a>, found: &mut dyn FnMut(Design<'a>)) {
        let rails = u32::from(self.need.rails);
        let per_group = self.need.nics / rails;
        let joins_all = self.by_nic == rails && panel.up.is_none();
        if !joins_all || per_group < 2 || per_group > panel.ports() {
            return;
        }
        let base = Base { panel: *panel, per_group, groups: 1, up: 0 };
        let none = Panel { up: None, ..*panel };
        let design = self.design(&base, (0, 0), &none, rails, None);
        if self.keeps(&design) {
            found(design);
        }
    }

    /// Returns T0s with a panel, one for each number of NICs on it.
    fn bases<'a>(self, panel: &Panel<'a>) -> impl Iterator<Item = Base<'a>> {
        let (panel, node, rails) = (*panel, self.need.nics_per_t0(), u32::from(self.need.rails));
        let most = panel.ports() / node;
        (1..=most).filter_map(move |nodes| {
            let per_group = nodes * node;
            let per_unit = per_group * rails;
            if self.pass.is_exact && !self.need.nics.is_multiple_of(per_unit) {
                return None;
            }
            let groups = self.need.nics.div_ceil(per_unit) * rails / self.by_nic;
            let up = self.uplinks(per_group, panel.up?.speed)?;
            (groups >= 2 && panel.fits(per_group, up)).then_some(Base { panel, per_group, groups, up })
        })
    }

    /// Returns the uplinks that the ratio asks for: at least one to each of two T1s.
    fn uplinks(self, per_group: u32, speed: Speed) -> Option<u32> {
        self.need.least_uplinks(per_group, self.speed, speed).map(|up| up.max(T1S_MIN))
    }

    /// Tells whether a T0 can have several cables to a T1: with source routing each cable needs a uSID of its own.
    fn takes_parallel(self) -> bool {
        !self.routing.is_source_routed() || self.os.support(Capability::SeveralLocators) == Support::Whole
    }

    /// Adds the two-tier designs with a T0.
    fn two_tiers<'a>(self, base: &Base<'a>, above: &[Panel<'a>], found: &mut dyn FnMut(Design<'a>)) {
        let Some(split) = base.panel.up else { return };
        for t1 in above.iter().filter(|t1| t1.up.is_none() && t1.down.speed == split.speed) {
            let most = if self.takes_parallel() {
                t1.ports() / base.groups
            } else {
                1.min(t1.ports() / base.groups)
            };
            let mut last = 0;
            for parallel in 1..=most.min(base.up.div_ceil(2)) {
                let t1s = base.up.div_ceil(parallel);
                let up = t1s * parallel;
                if t1s == last || !base.panel.fits(base.per_group, up) {
                    continue;
                }
                last = t1s;
                let design = self.design(base, (parallel, t1s), t1, self.by_nic, None);
                if self.keeps(&design) {
                    found(design);
                }
            }
        }
    }

    /// Adds the three-tier designs with a T0.
    fn three_tiers<'a>(self, base: &Base<'a>, above: &[Panel<'a>], found: &mut dyn FnMut(Design<'a>)) {
        let Some(split) = base.panel.up else { return };
        let rails = u32::from(self.need.rails);
        let (need, places) = (self.need, base.groups * base.per_group);
        let is_needless =
            |t1: &Panel<'_>| t1.is_top && holds_all_t0s(need, t1.ports(), (base.per_group, places));
        let t1s: Vec<(&Panel<'a>, Breakout)> = above
            .iter()
            .filter(|t1| t1.down.speed == split.speed && !is_needless(t1))
            .filter_map(|t1| Some((t1, t1.up?)))
            .collect();
        for zones in (2..=ZONES_MAX).filter(|zones| base.groups.is_multiple_of(zones * rails)) {
            let in_zone = Base { groups: base.groups / zones, ..*base };
            let later = self.zones_later(&in_zone, zones);
            for &(t1, higher) in &t1s {
                let down = u64::from(in_zone.groups) * u64::from(split.speed.mbps());
                let up = down.div_ceil(u64::from(higher.speed.mbps()).max(1)).max(2) as u32;
                if in_zone.groups < 2 || !t1.fits(in_zone.groups, up) {
                    continue;
                }
                for t2 in above.iter().filter(|t2| t2.up.is_none() && t2.down.speed == higher.speed) {
                    let fits =
                        |rows: &u32| base.up.is_multiple_of(*rows) && later * base.up / rows <= t2.ports();
                    let Some(rows) = (1..=base.up).find(fits) else { continue };
                    let Some(zone_bits) = self.zone_bits(&in_zone, later) else { continue };
                    let third = Third { zone_bits, ..self.third(&in_zone, t2, zones, (rows, up)) };
                    let design = self.design(&in_zone, (1, base.up), t1, zones, Some((third, up)));
                    if self.keeps(&design) {
                        found(design);
                    }
                }
            }
        }
    }

    /// Makes a third tier of `rows` rows, below which T1s have `up` uplinks.
    fn third<'a>(self, base: &Base<'a>, t2: &Panel<'a>, zones: u32, (rows, up): (u32, u32)) -> Third<'a> {
        let ports_per_zone = base.up / rows;
        let down = Side { count: zones * ports_per_zone, breakout: t2.down };
        let switches = rows * up * u32::from(self.planes);
        let tier = Tier { platform: t2.platform, chassis: t2.chassis, switches, down, up: None };
        Third { tier, zones, rows, ports_per_zone, zone_bits: Third::ZONE_BITS }
    }

    /// Returns the zones after growth. The T2s have ports for all of them from the start.
    fn zones_later(self, base: &Base<'_>, zones: u32) -> u32 {
        let later = self.need.limits.grow_to.map_or(0, |nics| nics.div_ceil(base.groups * base.per_group));
        zones.max(later)
    }

    /// Returns the bits that number the zones. Returns `None` if too few bits are left for the switches of a zone.
    fn zone_bits(self, base: &Base<'_>, zones: u32) -> Option<u8> {
        let bits = (Third::ZONE_BITS..=Third::ZONE_BITS_MAX).find(|bits| zones <= 1 << bits)?;
        let index_max = (1 << (Third::USID_BITS - bits)) - 1;
        let fits = bits == Third::ZONE_BITS
            || !self.routing.is_source_routed()
            || base.groups.max(base.up).max(base.per_group) <= index_max;
        fits.then_some(bits)
    }

    /// Makes a design from a T0, its cables to each T1, and the T1s of each zone.
    fn design<'a>(
        self,
        base: &Base<'a>,
        (parallel, t1s): (u32, u32),
        t1: &Panel<'a>,
        zones: u32,
        third: Option<(Third<'a>, u32)>,
    ) -> Design<'a> {
        let planes = u32::from(self.planes);
        let up = |split, count| Side { count, breakout: split };
        let uplinks = third.as_ref().map(|(_, count)| *count);
        Design {
            planes: self.planes,
            planes_by_nic: self.by_nic,
            port_speed: self.speed,
            routing: self.routing,
            os: self.os,
            groups: base.groups,
            unit: u32::from(self.need.rails) / self.by_nic,
            per_group: base.per_group,
            parallel,
            t0: Tier {
                platform: base.panel.platform,
                chassis: base.panel.chassis,
                switches: planes * zones * base.groups,
                down: Side { count: base.per_group, breakout: base.panel.down },
                up: base.panel.up.map(|split| up(split, t1s * parallel)),
            },
            t1: Tier {
                platform: t1.platform,
                chassis: t1.chassis,
                switches: planes * zones * t1s,
                down: Side { count: base.groups * parallel, breakout: t1.down },
                up: t1.up.zip(uplinks).map(|(split, count)| up(split, count)),
            },
            third: third.map(|(third, _)| third),
        }
    }

    /// Tells whether a complete design keeps the limits on growth, T1 failures and unused ports.
    fn keeps(self, design: &Design<'_>) -> bool {
        let limits = &self.need.limits;
        let loses = |most: u8| 100 <= u32::from(most) * u32::from(self.planes) * design.t1s();
        let grows = limits.grow_to.is_none_or(|nics| nics <= design.largest());
        let is_firm = !design.has_t1() || limits.t1_loss.is_none_or(loses);
        if !is_firm || !grows {
            return false;
        }
        let is_wasted = wastes_ports(limits, design);
        self.too_large.set(self.too_large.get() || is_wasted);
        !(is_wasted && self.pass.is_used)
    }
}

/// Tells whether too many ports above T0s stay unused. If the fabric is to grow, those of the highest tier are kept for
/// growth.
pub fn wastes_ports(limits: &Limits, design: &Design<'_>) -> bool {
    let is_kept = limits.grow_to.is_some();
    let (t1, t2) = (design.has_t1().then_some(&design.t1), design.third.as_ref().map(|third| &third.tier));
    let highest = t2.or(t1);
    let lower = t2.and(t1);
    lower.is_some_and(|tier| !is_used(tier)) || !is_kept && highest.is_some_and(|tier| !is_used(tier))
}

/// Tells whether at least half of the panel of a switch is in use. Ports of software switches cost nothing.
fn is_used(tier: &Tier<'_>) -> bool {
    // Ports of both sides in the same unit, as a cage has a different number of ports on each. A breakout that leaves
    // lanes unused counts as the one with the most ports of its speed.
    let panel = &tier.platform.panel;
    let per_cage = |side: Side| {
        let same = panel.breakouts.iter().filter(|split| split.speed == side.breakout.speed);
        u32::from(same.map(|split| split.ports).max().unwrap_or(side.breakout.ports))
    };
    let (down, up) = (per_cage(tier.down), tier.up.map_or(1, per_cage));
    let used = tier.down.count * up + tier.up.map_or(0, |side| side.count) * down;
    tier.platform.is_software() || used * 2 >= u32::from(tier.platform.panel.cages) * down * up
}

/// Tells whether the T1s have ports for all T0s, also those of growth, so that T2s add nothing.
pub(crate) fn has_needless_third(need: &Need, design: &Design<'_>) -> bool {
    let t1 = &design.t1;
    let ports = u32::from(t1.platform.panel.cages) * u32::from(t1.down.breakout.ports);
    design.third.is_some()
        && holds_all_t0s(need, ports, (design.per_group, design.places()))
        && accepts(t1.platform, design.os, design.routing, t1.down.breakout, None)
}

/// Tells whether T1s with this number of ports hold all T0s, also those of growth, and two tiers are permitted.
fn holds_all_t0s(need: &Need, ports: u32, (per_group, places): (u32, u32)) -> bool {
    let nics = need.limits.grow_to.unwrap_or(0).max(places);
    need.tiers.contains(&2) && nics.div_ceil(per_group) <= ports
}
