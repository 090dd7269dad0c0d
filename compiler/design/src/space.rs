//! Every design of one, two and three tiers that meets the requirements.
//!
//! In: a [`Requirements`] and platforms. Out: [`Design`]s, one at a time, in no particular order. Invariants: each
//! meets the limits, and fits the panels of its switches. Above several T0s, it has at least two T1s in each
//! plane. T0s have only the uplinks that the ratio, the limit on T1 failures and ECMP groups require, rounded
//! up to complete T1s and rows. T1s under T2s have as much bandwidth up as down. With the same switches,
//! ports and counts of T0s in every stage, only the T0s with the fewest NIC places are tried. More places
//! never need fewer uplinks.

use std::collections::BTreeMap;

use closc_artefacts::Routing;
use closc_platform::capability::{Capability, Support};
use closc_platform::{Catalogue, Os, Platform};
use closc_qos::units::Speed;

use crate::design::{Design, Side, ThirdTier, Tier};
use crate::measure::Floor;
use crate::need::{Limits, LossShare, Requirements};
use crate::panel::{Model, Panel, accepts, panels};
use crate::search_error::{self, SearchError};

/// Maximum number of T0s of a plane: those of all zones that addresses can number.
const GROUPS_MAX: u32 = ThirdTier::ZONES_MAX * u16::MAX as u32;

/// Minimum number of T1s of a plane. With a single T1, its failure would take down the plane.
pub(crate) const T1S_MIN: u32 = 2;

/// One part of the search: the values that its designs share.
#[derive(Clone, Copy)]
pub(crate) struct SearchPart<'n> {
    pub(crate) need: &'n Requirements,
    pub(crate) planes: u16,
    /// Planes by NIC.
    pub(crate) by_nic: u32,
    pub(crate) speed: Speed,
    pub(crate) routing: Routing,
    pub(crate) os: Os,
    pub(crate) effort: Effort,
}

/// The part of the designs that a search tries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effort {
    /// For each switch, this many T0s with the most NICs, and this many numbers of zones.
    Sample(usize),
    /// Every design.
    All,
}

impl Effort {
    /// Returns the maximum number of list items to try.
    pub(crate) fn max_count(self) -> usize {
        match self {
            Effort::Sample(most) => most,
            Effort::All => usize::MAX,
        }
    }
}

/// A T0 with its NICs, the start of each design.
#[derive(Clone, Copy)]
pub(crate) struct Base<'a> {
    pub(crate) panel: Panel<'a>,
    /// Nodes with NICs on the T0.
    pub(crate) nodes: u32,
    pub(crate) per_group: u32,
    /// T0s in a plane and zone.
    pub(crate) groups: u32,
    /// T0s in a plane and zone after growth.
    pub(crate) groups_later: u32,
    /// Uplinks that the ratio requires.
    pub(crate) up: u32,
}

/// Numbers of zones to try, each with the units per zone. The key is the number of nodes with NICs on a T0.
#[derive(Default)]
pub(crate) struct Zones(pub(crate) BTreeMap<u32, Vec<(u32, u32)>>);

/// Receives the designs of a search.
pub trait Sieve<'a> {
    /// Returns whether designs of this many tiers can be omitted if they have at least the parts of `floor`.
    fn omits(&self, floor: &Floor<'a>, tiers: u8) -> bool;

    /// Takes a design.
    fn add_design(&mut self, design: Design<'a>);
}

impl<'a, F: FnMut(Design<'a>)> Sieve<'a> for F {
    fn omits(&self, _: &Floor<'a>, _: u8) -> bool {
        false
    }

    fn add_design(&mut self, design: Design<'a>) {
        self(design);
    }
}

/// Finds every design, except those that can be omitted.
///
/// # Errors
///
/// [`SearchError`] if designs do not exist.
pub fn space<'a>(
    need: &Requirements,
    catalogue: &'a Catalogue,
    sieve: &mut dyn Sieve<'a>,
) -> Result<(), SearchError> {
    part_of_space(need, catalogue, Effort::All, sieve)
}

/// Finds a few designs that are likely to be the best: for each switch, those with the `most` T0s that hold
/// the most NICs.
///
/// # Errors
///
/// [`SearchError`] if designs do not exist.
pub fn sample<'a>(
    need: &Requirements,
    catalogue: &'a Catalogue,
    most: usize,
    sieve: &mut dyn Sieve<'a>,
) -> Result<(), SearchError> {
    part_of_space(need, catalogue, Effort::Sample(most), sieve)
}

fn part_of_space<'a>(
    need: &Requirements,
    catalogue: &'a Catalogue,
    effort: Effort,
    sieve: &mut dyn Sieve<'a>,
) -> Result<(), SearchError> {
    if let Some(why) = contradictions(need, catalogue).into_iter().next() {
        return Err(why);
    }
    let models = models(need, catalogue)?;
    let speeds = speeds(need, &models)?;
    let by_nic = by_nic(need)?;
    let (mut has_ports, mut is_empty) = (false, true);
    for routing in routings(need, &by_nic) {
        for part in parts(need, &speeds, routing, effort) {
            let mut found = RecordingSieve { sieve: &mut *sieve, is_empty: &mut is_empty };
            has_ports |= part.designs(&models, &mut found);
        }
    }
    match (is_empty, has_ports) {
        (false, _) => Ok(()),
        (true, true) => Err(SearchError::Limits),
        (true, false) => Err(search_error::no_ports(need, &speeds, &models, catalogue)),
    }
}

/// A sieve that records whether any design exists.
pub(crate) struct RecordingSieve<'s, 'a> {
    sieve: &'s mut dyn Sieve<'a>,
    is_empty: &'s mut bool,
}

impl<'a> RecordingSieve<'_, 'a> {
    /// Returns whether designs with at least these parts can be omitted. If so, other designs exist.
    pub(crate) fn omits(&mut self, floor: &Floor<'a>, tiers: u8) -> bool {
        let omits = self.sieve.omits(floor, tiers);
        *self.is_empty &= !omits;
        omits
    }

    pub(crate) fn take(&mut self, design: Design<'a>) {
        *self.is_empty = false;
        self.sieve.add_design(design);
    }
}

/// Returns the platforms to try.
fn models<'a>(need: &Requirements, catalogue: &'a Catalogue) -> Result<Vec<Model<'a>>, SearchError> {
    let model = |platform| Model { platform, chassis: catalogue.chassis(platform) };
    if need.platforms.is_empty() {
        let sold = || catalogue.iter().filter(|platform| is_sold(platform));
        let unknown = need.vendors.iter().find(|vendor| sold().all(|platform| platform.vendor() != **vendor));
        if let Some(vendor) = unknown {
            let suitable =
                sold().filter(|platform| need.operating_systems.iter().any(|os| platform.supports(*os)));
            return Err(SearchError::vendor(vendor, suitable.map(|platform| platform.vendor())));
        }
        return Ok(sold().filter(|platform| need.is_of_vendor(platform)).map(model).collect());
    }
    let named = |name: &String| {
        let found = catalogue.get(name).map(model);
        found.ok_or_else(|| SearchError::platform(name, catalogue))
    };
    need.platforms.iter().map(named).collect()
}

/// Returns whether a platform is hardware. Software platforms have no buffer size, or are SONiC's KVM image.
fn is_sold(platform: &Platform) -> bool {
    let is_image = platform.sonic.as_ref().is_some_and(|sonic| sonic.platform.contains("-kvm_"));
    platform.buffer.is_some() && !is_image
}

/// Returns the numbers of planes to try that meet the limit on the failure of a T0, each with the speed of a
/// port.
fn speeds(need: &Requirements, models: &[Model<'_>]) -> Result<Vec<(u16, Speed)>, SearchError> {
    let speed = |planes: &u16| Some((*planes, need.port_speed(*planes)?));
    let speeds: Vec<(u16, Speed)> = need.planes.iter().filter_map(speed).collect();
    if speeds.is_empty() {
        return Err(SearchError::Speed(need.speed));
    }
    let least = need.limits.t0_loss.map_or(1, LossShare::min_parts);
    let keep: Vec<(u16, Speed)> =
        speeds.into_iter().filter(|(planes, _)| u32::from(*planes) >= least).collect();
    if keep.is_empty() { Err(SearchError::planes(need, models, least)) } else { Ok(keep) }
}

/// Returns contradictions between requirements. They are checked before a search.
pub fn contradictions(need: &Requirements, catalogue: &Catalogue) -> Vec<SearchError> {
    let models = models(need, catalogue);
    let rails = divides_into_rails(need.nics_per_node, need.rails).err();
    let nodes = divides_into_nodes(need.nics, need.nics_per_node).err();
    let by_nic = by_nic(need).err();
    let is_whole = rails.is_none() && nodes.is_none() && by_nic.is_none();
    let few = if is_whole { too_few(need) } else { None };
    let known = models.as_deref().unwrap_or_default();
    let (speeds, unsupported) = (speeds(need, known).err(), unsupported(need, known));
    [models.err(), rails, nodes, by_nic, few, speeds, unsupported].into_iter().flatten().collect()
}

/// Checks that a node has the same number of NICs on each rail.
///
/// # Errors
///
/// [`SearchError::Rails`].
pub fn divides_into_rails(node: u8, rails: u8) -> Result<(), SearchError> {
    let divides = rails > 0 && node.is_multiple_of(rails);
    if divides { Ok(()) } else { Err(SearchError::Rails { rails, nics: node }) }
}

/// Checks that the NICs form complete nodes.
///
/// # Errors
///
/// [`SearchError::Nodes`].
pub fn divides_into_nodes(nics: u32, node: u8) -> Result<(), SearchError> {
    let per_node = u32::from(node);
    if nics.is_multiple_of(per_node) {
        return Ok(());
    }
    let next = nics.checked_next_multiple_of(per_node).unwrap_or(nics - nics % per_node);
    Err(SearchError::Nodes { nics, node, next })
}

/// Returns whether the requirements permit single-tier fabrics. Without uplinks, only static routes forward,
/// and a switch connects the NICs of only one rail.
fn permits_one_tier(need: &Requirements) -> bool {
    need.tiers.contains(&1)
        && need.routings.contains(&Routing::EcmpStatic)
        && need.planes_by_nic.contains(&need.rails)
}

/// Returns the error if there are too few NICs for two T0s, or for two NICs on each switch of a single tier.
fn too_few(need: &Requirements) -> Option<SearchError> {
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
    (need.nics < least).then_some(SearchError::Few { nics: need.nics, min_nics: least, is_one })
}

/// Returns the numbers of planes by NIC to try: those that divide the rails.
fn by_nic(need: &Requirements) -> Result<Vec<u32>, SearchError> {
    let divides = |zones: &u8| *zones > 0 && need.rails.is_multiple_of(*zones);
    let by_nic: Vec<u32> = need.planes_by_nic.iter().copied().filter(divides).map(u32::from).collect();
    if by_nic.is_empty() {
        return Err(SearchError::ByNic { rails: need.rails });
    }
    let has_static = need.routings.contains(&Routing::EcmpStatic);
    if need.tiers.iter().all(|tiers| *tiers == 1) && !permits_one_tier(need) {
        return Err(if has_static {
            SearchError::OneTierRails { rails: need.rails }
        } else {
            SearchError::OneTierRouting
        });
    }
    let is_possible = by_nic.contains(&1) || need.routings.iter().any(|routing| !routing.is_source_routed());
    if is_possible { Ok(by_nic) } else { Err(SearchError::ByNicRouting) }
}

/// Returns the routings to try, each with its numbers of planes by NIC.
fn routings<'n>(need: &'n Requirements, by_nic: &'n [u32]) -> impl Iterator<Item = (Routing, u32)> {
    let all = need.routings.iter().flat_map(|routing| by_nic.iter().map(move |zones| (*routing, *zones)));
    all.filter(|(routing, zones)| *zones == 1 || !routing.is_source_routed())
}

/// Returns whether an operating system supports a routing, as `E0213` checks it.
fn supports(os: Os, routing: Routing) -> bool {
    let capability = match routing {
        Routing::Srv6Static => Capability::Segments,
        Routing::EcmpStatic => return true,
        Routing::BgpUnnumbered => Capability::Bgp,
    };
    !matches!(os.support(capability), Support::Not(_))
}

/// Returns the error if none of the operating systems supports one of the routing modes. If named platforms
/// run none of these systems, a separate error is returned for them.
fn unsupported(need: &Requirements, models: &[Model<'_>]) -> Option<SearchError> {
    let is_supported = |os: &Os| need.routings.iter().any(|routing| supports(*os, *routing));
    let runs = |model: &Model<'_>| need.operating_systems.iter().any(|os| model.platform.supports(*os));
    let is_foreign = !need.platforms.is_empty() && !models.iter().any(runs);
    if is_foreign || need.operating_systems.iter().any(is_supported) {
        return None;
    }
    let oses: Vec<String> = need.operating_systems.iter().map(|os| format!("`{}`", os.keyword())).collect();
    let routings: Vec<&str> = need.routings.iter().map(|routing| routing.keyword()).collect();
    Some(SearchError::SystemRouting { oses: oses.join(" or "), routings: routings.join("` or `") })
}

/// Returns the parts of the search for a routing mode.
fn parts<'n>(
    need: &'n Requirements,
    speeds: &'n [(u16, Speed)],
    (routing, by_nic): (Routing, u32),
    effort: Effort,
) -> impl Iterator<Item = SearchPart<'n>> {
    speeds.iter().copied().flat_map(move |(planes, speed)| {
        let oses = need.operating_systems.iter().filter(move |os| supports(**os, routing));
        oses.map(move |os| SearchPart { need, planes, by_nic, speed, routing, os: *os, effort })
    })
}

impl SearchPart<'_> {
    /// Adds the designs of a part. Returns whether any switch has ports for its NICs.
    fn designs<'a>(self, models: &[Model<'a>], found: &mut RecordingSieve<'_, 'a>) -> bool {
        let tiers = &self.need.tiers;
        let t0s = panels(models, self.os, self.routing, Some(self.speed));
        if permits_one_tier(self.need) && self.routing.has_static_groups() {
            for panel in &t0s {
                self.one_tier(panel, found);
            }
        }
        let above = panels(models, self.os, self.routing, None);
        let middle = Self::t1s_below_t2s(&above);
        let mut zones = Zones::default();
        for base in t0s.iter().flat_map(|panel| self.bases(panel)) {
            if tiers.contains(&2) {
                self.two_tiers(&base, &above, found);
            }
            if tiers.contains(&3) && self.by_nic == 1 {
                self.three_tiers(&base, (&middle, &above), &mut zones, found);
            }
        }
        !t0s.is_empty()
    }

    /// Adds the design with one switch per plane and rail. All ports of its T0s are downlinks.
    fn one_tier<'a>(self, panel: &Panel<'a>, found: &mut RecordingSieve<'_, 'a>) {
        let rails = u32::from(self.need.rails);
        let per_group = self.need.nics / rails;
        let joins_all = self.by_nic == rails && panel.up.is_none();
        if !joins_all || per_group < 2 || per_group > panel.ports() {
            return;
        }
        let base =
            Base { panel: *panel, nodes: self.need.nodes(), per_group, groups: 1, groups_later: 1, up: 0 };
        let none = Panel { up: None, cages: None, ..*panel };
        let design = self.design(&base, (0, 0), &none, rails, None);
        if self.keeps(&design, [Some(panel), None, None]) {
            found.take(design);
        }
    }

    /// Returns T0s with a panel, the largest first. Of T0s with the same counts in every stage, only the one
    /// with the fewest NIC places is included. More places have no advantage.
    fn bases<'a>(self, panel: &Panel<'a>) -> impl Iterator<Item = Base<'a>> {
        let (panel, node, rails) = (*panel, self.need.nics_per_t0(), u32::from(self.need.rails));
        let most = panel.ports() / node;
        let is_fewest = move |nodes: &u32| {
            let mut stages = self.need.nodes_of_stages();
            *nodes == 1 || stages.any(|all| all.div_ceil(*nodes) != all.div_ceil(nodes - 1))
        };
        let bases = (1..=most).rev().filter(is_fewest).filter_map(move |nodes| {
            let per_group = nodes * node;
            let [groups, groups_later] = self.units(nodes).map(|units| units * rails / self.by_nic);
            // Large T0s can be the best of a later stage, although the first would fit on one of them.
            let is_growing = self.need.later_stages().next().is_some();
            let [groups, groups_later] =
                [groups, groups_later].map(|of| if is_growing { of.max(2) } else { of });
            let up = self.uplinks(per_group, &panel)?;
            let base = Base { panel, nodes, per_group, groups, groups_later, up };
            let is_possible = groups >= 2 && groups_later <= GROUPS_MAX && panel.fits(per_group, up);
            is_possible.then_some(base)
        });
        // A sample has T0s within and beyond assumed limits, because designs that need an assumed limit do
        // not beat others.
        let mut left = [self.effort.max_count(); 2];
        bases.filter(move |base| {
            let left = &mut left[usize::from(self.t0s_only(base).t0_exceeds_assumed())];
            let is_taken = *left > 0;
            *left = left.saturating_sub(1);
            is_taken
        })
    }

    /// Returns the common parts of designs with these T0s in each stage. `parts` returns those of one stage, from
    /// a base with the T0s of that stage.
    pub(crate) fn floor<'a>(self, base: &Base<'a>, parts: impl Fn(&Base<'a>) -> Design<'a>) -> Floor<'a> {
        let later = self.bases_later(base).map(|later| parts(&later));
        self.floor_of_stages(parts(base), later)
    }

    /// Returns a floor from the parts of the first stage and of each later one, with the NICs of each stage.
    pub(crate) fn floor_of_stages<'a>(
        self,
        now: Design<'a>,
        later: impl Iterator<Item = Design<'a>>,
    ) -> Floor<'a> {
        let later = later.zip(self.need.later_stages()).map(|(parts, nics)| Design { nics, ..parts });
        Floor { now, later: later.collect() }
    }

    /// Returns a base with the T0s of each later stage.
    pub(crate) fn bases_later<'a>(self, base: &Base<'a>) -> impl Iterator<Item = Base<'a>> {
        let (base, rails) = (*base, u32::from(self.need.rails));
        let stages = self.need.nodes_of_stages().skip(1);
        stages.map(move |all| {
            let groups = all.div_ceil(base.nodes) * rails / self.by_nic;
            Base { groups: groups.max(base.groups), ..base }
        })
    }

    /// Returns the number of units for all NICs, now and after growth, if a T0 holds NICs of this many nodes.
    pub(crate) fn units(self, nodes: u32) -> [u32; 2] {
        let all = self.need.nodes();
        [all, self.need.nodes_later()].map(|all| all.div_ceil(nodes))
    }

    /// Creates a design from a T0, its cables to each T1, and the T1s of each zone.
    pub(crate) fn design<'a>(
        self,
        base: &Base<'a>,
        (parallel, t1s): (u32, u32),
        t1: &Panel<'a>,
        zones: u32,
        third: Option<(ThirdTier<'a>, u32)>,
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
            nics: self.need.nics,
            nic_cable: self.need.nic_cable,
            groups: base.groups,
            unit: u32::from(self.need.rails) / self.by_nic,
            per_group: base.per_group,
            per_node: self.need.nics_per_t0(),
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

    /// Returns whether a switch can spread packets over this many links, as `E0904` checks it.
    pub(crate) fn spreads(self, panel: &Panel<'_>, links: u32) -> bool {
        let paths = self.os.multipath_max().filter(|_| self.routing.speaks_bgp());
        self.routing.is_source_routed()
            || paths.is_none_or(|paths| links <= paths.into())
                && (panel.width.assumption.is_some() || panel.width.accepts(links.into()))
    }

    /// Returns whether a complete design meets the limits on growth and T1 failures, and its switches' limits
    /// on links. `panels` are those of its T0s, T1s and T2s.
    pub(crate) fn keeps(self, design: &Design<'_>, panels: [Option<&Panel<'_>>; 3]) -> bool {
        let limits = &self.need.limits;
        let loses = |most: LossShare| most.min_parts() <= u32::from(self.planes) * design.t1s();
        let grows = limits.grow_to.is_none_or(|nics| nics <= design.largest());
        let links = |tier: &Tier<'_>| tier.up.map_or(0, |up| up.count);
        let to_zone = design.third.as_ref().map_or(0, |third| third.ports_per_zone);
        let widest = [links(&design.t0), links(&design.t1).max(design.parallel), to_zone];
        let mut spreads = panels.into_iter().zip(widest);
        grows
            && spreads.all(|(panel, links)| panel.is_none_or(|panel| self.spreads(panel, links)))
            && (!design.has_t1() || limits.t1_loss.is_none_or(loses))
    }
}

/// Returns whether a tier above T0s uses less than half of its ports. With `grow_to`, the highest tier is not
/// checked, because its unused ports are reserved for growth.
pub fn wastes_ports(limits: &Limits, design: &Design<'_>) -> bool {
    let is_kept = limits.grow_to.is_some();
    let (t1, t2) = (design.has_t1().then_some(&design.t1), design.third.as_ref().map(|third| &third.tier));
    let highest = t2.or(t1);
    let lower = t2.and(t1);
    lower.is_some_and(|tier| !is_used(tier)) || !is_kept && highest.is_some_and(|tier| !is_used(tier))
}

/// Returns whether at least half of the panel of a switch is in use. Ports of software switches cost nothing.
fn is_used(tier: &Tier<'_>) -> bool {
    // Count ports of both sides in a common unit, because cages for downlinks and uplinks have different
    // numbers of ports. A breakout with unused lanes counts as the breakout of that speed with the most
    // ports.
    let panel = &tier.platform.panel;
    let per_cage = |side: Side| {
        let same = panel.breakouts.iter().filter(|split| split.speed == side.breakout.speed);
        u32::from(same.map(|split| split.ports).max().unwrap_or(side.breakout.ports))
    };
    let (down, up) = (per_cage(tier.down), tier.up.map_or(1, per_cage));
    let used = tier.down.count * up + tier.up.map_or(0, |side| side.count) * down;
    tier.platform.is_software() || used * 2 >= u32::from(tier.platform.panel.cages) * down * up
}

/// Returns whether the T1s have ports for all T0s, including those of growth, so that T2s are unnecessary.
pub(crate) fn has_needless_third(need: &Requirements, design: &Design<'_>) -> bool {
    let t1 = &design.t1;
    let ports = u32::from(t1.platform.usable_ports(t1.down.breakout));
    design.third.is_some()
        && holds_all_t0s(need, ports, design.per_group)
        && accepts(t1.platform, design.os, design.routing, t1.down.breakout, None)
}

/// Returns whether two tiers are permitted, and T1s with this number of ports can connect all T0s, including
/// those of growth.
pub(crate) fn holds_all_t0s(need: &Requirements, ports: u32, per_group: u32) -> bool {
    let rails = u32::from(need.rails);
    let nics = need.limits.grow_to.unwrap_or(0).max(need.nics);
    need.tiers.contains(&2) && nics.div_ceil(per_group * rails) * rails <= ports
}
