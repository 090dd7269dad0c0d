//! Designs with two and three tiers, from a given T0.
//!
//! In: a T0 with its NICs, and panels of the switches above. Out: [`Design`]s. Invariants: before designs are
//! created, their common parts are compared with accepted designs, so that even a large search ends soon.

use closc_platform::capability::{Capability, Support};
use closc_platform::{Breakout, Limit};
use closc_qos::units::Speed;
use closc_topology::BANDWIDTH_CABLES_MAX;

use crate::design::{Design, Side, ThirdTier, Tier};
use crate::need::LossShare;
use crate::panel::Panel;
use crate::rows::{LinkSupport, T2Rows, ZoneCounts};
use crate::space::{Base, RecordingSieve, SearchPart, T1S_MIN, Zones, holds_all_t0s};

/// A T1 below T2s.
#[derive(Clone, Copy)]
pub(crate) struct MiddleSwitch<'a> {
    panel: Panel<'a>,
    higher: Breakout,
    /// Maximum number of downlinks that leaves room for uplinks with the same bandwidth.
    downlinks: u32,
}

/// The T1s of each zone: their number, cables from a T0, and minimum number of uplinks.
#[derive(Clone, Copy)]
struct ZoneT1s {
    /// Cables from a T0 to each T1.
    parallel: u32,
    /// Number of T1s.
    count: u32,
    /// Minimum number of uplinks of each T1.
    up: u32,
}

/// Counts of a plane, for each stage: T0s, T1s, T2s, cables below and above T1s, and cages at both ends of these
/// cables.
type PartCounts = Vec<u32>;

/// Counts of designs with the same T0s, and the same hardware above.
#[derive(Default)]
struct KnownCounts {
    /// Numbers of T0s and T1s of omitted designs, for each stage.
    omitted: Vec<Vec<u32>>,
    /// Parts of accepted designs that do not depend on an assumption. If their T0s exceed an assumed limit,
    /// parts of all accepted designs.
    accepted: Vec<PartCounts>,
}

impl KnownCounts {
    /// Returns whether a design with at most as many T0s and T1s in each stage was omitted.
    fn omits(&self, counts: &[u32]) -> bool {
        self.omitted.iter().any(|fewer| is_within(fewer, counts))
    }

    /// Records that designs with these numbers of T0s and T1s are omitted; returns `true`.
    fn omit(&mut self, counts: Vec<u32>) -> bool {
        self.omitted.retain(|more| !is_within(&counts, more));
        self.omitted.push(counts);
        true
    }

    /// Returns whether an accepted design has at most as many of each part.
    fn has_within(&self, parts: &[u32]) -> bool {
        self.accepted.iter().any(|taken| is_within(taken, parts))
    }

    /// Adds an accepted design.
    fn take(&mut self, parts: PartCounts) {
        if !self.has_within(&parts) {
            self.accepted.retain(|taken| !is_within(&parts, taken));
            self.accepted.push(parts);
        }
    }
}

fn is_within(less: &[u32], more: &[u32]) -> bool {
    less.iter().zip(more).all(|(less, more)| less <= more)
}

/// Returns the counts of a plane with these numbers of zones, one per stage. `of_t2s` returns the number of T2s and
/// of their cages for a number of zones.
fn part_counts(
    base: &Base<'_>,
    t1: &MiddleSwitch<'_>,
    (stages, t1s): (&[u32], ZoneT1s),
    of_t2s: impl Fn(u32) -> [u32; 2],
) -> PartCounts {
    let cages = |ports: u32, split: Option<Breakout>| split.map_or(0, |split| Side::cages_of(ports, split));
    let mut counts = Vec::with_capacity(9 * stages.len());
    for zones in stages {
        let (t0s, all) = (zones * base.groups, zones * t1s.count);
        let (from_t0, to_t0s) = (t1s.count * t1s.parallel, base.groups * t1s.parallel);
        let [t2s, t2_cages] = of_t2s(*zones);
        counts.extend([
            t0s,
            all,
            t2s,
            t0s * from_t0,
            all * t1s.up,
            t0s * cages(from_t0, base.panel.up),
            all * cages(to_t0s, Some(t1.panel.down)),
            all * cages(t1s.up, Some(t1.higher)),
            t2_cages,
        ]);
    }
    counts
}

impl SearchPart<'_> {
    /// Returns the minimum number of T1s in a plane and zone: two, or more if the limit on T1 failures
    /// requires it.
    pub(crate) fn t1s_min(self) -> u32 {
        let t1s = |most: LossShare| most.min_parts().div_ceil(self.planes.into());
        self.need.limits.t1_loss.map_or(T1S_MIN, |most| t1s(most).max(T1S_MIN))
    }

    /// Returns the number of uplinks that the ratio and the minimum number of T1s require.
    pub(crate) fn uplinks(self, per_group: u32, panel: &Panel<'_>) -> Option<u32> {
        let up = self.need.min_uplinks(per_group, self.speed, panel.up?.speed)?;
        self.min_links(panel, up.max(self.t1s_min()), 1)
    }

    /// Returns the smallest number of links over which a switch can spread packets: at least `least` and a
    /// multiple of `step`.
    fn min_links(self, panel: &Panel<'_>, least: u32, step: u32) -> Option<u32> {
        let next = least.checked_next_multiple_of(step)?;
        if self.spreads(panel, next) {
            return Some(next);
        }
        let larger = panel.width.larger.into_iter().flat_map(|sizes| sizes.range(next..)).copied();
        larger.filter(|size| size.is_multiple_of(step)).find(|size| self.spreads(panel, *size))
    }

    /// Returns the minimum number of T1s in a plane and zone, as a multiple of `step`, with `parallel` cables
    /// from a T0 to each T1. Returns `None` if a T0 has too few ports.
    fn min_t1s(self, base: &Base<'_>, parallel: u32, step: u32) -> Option<u32> {
        let least = base.up.div_ceil(parallel).max(self.t1s_min());
        let up = self.min_links(&base.panel, least * parallel, parallel * step)?;
        base.panel.fits(base.per_group, up).then_some(up / parallel)
    }

    /// Returns whether a switch can have several cables to another. With source routing, each cable then
    /// needs a separate uSID.
    fn takes_parallel(self) -> bool {
        !self.routing.is_source_routed() || self.os.programs_locators()
    }

    /// Adds the two-tier designs with a T0.
    pub(crate) fn two_tiers<'a>(
        self,
        base: &Base<'a>,
        above: &[Panel<'a>],
        found: &mut RecordingSieve<'_, 'a>,
    ) {
        let Some(split) = base.panel.up else { return };
        if found.omits(&self.floor(base, |base| self.t0s_only(base)), 2) {
            return;
        }
        let fewest = self.t1s_min();
        for t1 in above.iter().filter(|t1| t1.up.is_none() && t1.down.speed == split.speed) {
            let most = t1.ports() / base.groups_later;
            let most = if self.takes_parallel() { most } else { most.min(1) }.min(base.up.div_ceil(fewest));
            if most == 0 {
                continue;
            }
            let t1s = base.up.div_ceil(most).max(fewest);
            if found.omits(&self.floor(base, |base| self.two_tier_floor(base, t1, t1s)), 2) {
                continue;
            }
            let mut last = 0;
            for parallel in 1..=most {
                let Some(t1s) = self.min_t1s(base, parallel, 1).filter(|t1s| *t1s != last) else { continue };
                last = t1s;
                let design = self.design(base, (parallel, t1s), t1, self.by_nic, None);
                if self.keeps(&design, [Some(&base.panel), Some(t1), None]) {
                    found.take(design);
                }
            }
        }
    }

    /// Returns a design that consists only of the T0s.
    pub(crate) fn t0s_only<'a>(self, base: &Base<'a>) -> Design<'a> {
        let none = Panel { up: None, cages: None, ..base.panel };
        let mut lowest = self.design(base, (1, base.up), &none, self.by_nic, None);
        lowest.t1.switches = 0;
        lowest
    }

    /// Returns the common parts of all designs with these T0s and at least `t1s` of these T1s.
    fn two_tier_floor<'a>(self, base: &Base<'a>, t1: &Panel<'a>, t1s: u32) -> Design<'a> {
        let mut floor = self.design(base, (1, base.up), t1, self.by_nic, None);
        floor.t1.switches = u32::from(self.planes) * self.by_nic * t1s;
        floor.t1.down.count = full_cages(base.groups * base.up / t1s.max(1), t1.down);
        floor
    }

    /// Returns the switches that can be T1s below T2s.
    pub(crate) fn t1s_below_t2s<'a>(above: &[Panel<'a>]) -> Vec<MiddleSwitch<'a>> {
        let middle = above.iter().filter_map(|panel| {
            let higher = panel.up?;
            let fits =
                |downlinks: &u32| panel.fits(*downlinks, t1_uplinks(*downlinks, panel.down.speed, higher));
            let downlinks = (1..=panel.ports()).rev().find(fits)?;
            Some(MiddleSwitch { panel: *panel, higher, downlinks })
        });
        middle.collect()
    }

    /// Adds the three-tier designs with a T0.
    pub(crate) fn three_tiers<'a>(
        self,
        base: &Base<'a>,
        (middle, above): (&[MiddleSwitch<'a>], &[Panel<'a>]),
        zones: &mut Zones,
        found: &mut RecordingSieve<'_, 'a>,
    ) {
        let Some(split) = base.panel.up else { return };
        let is_needless = |t1: &Panel<'_>| t1.is_top && holds_all_t0s(self.need, t1.ports(), base.per_group);
        if found.omits(&self.floor(base, |base| self.t0s_only(base)), 3) {
            return;
        }
        let rails = u32::from(self.need.rails);
        let zones = zones.0.entry(base.nodes).or_insert_with(|| self.zones(base.nodes).collect());
        let t1s = middle.iter().filter(|t1| t1.panel.down.speed == split.speed && !is_needless(&t1.panel));
        for t1 in t1s.filter(|t1| t1.downlinks >= rails) {
            let least = base.groups.div_ceil(t1.downlinks / rails * rails).max(2);
            let fitting = &zones[zones.partition_point(|(zones, _)| *zones < least)..];
            let Some((fewest, _)) = fitting.first() else { continue };
            // Later stages have at least as many T1s as the first.
            let in_zones = |zones: u32| zones * self.t1s_of_zone_min(base);
            let t1s = |base: &Base<'_>, zones: u32| in_zones(zones).max(Self::t1s_by_bandwidth(base, t1));
            if found.omits(&self.floor(base, |of| self.middle_floor(of, t1, t1s(of, *fewest))), 3) {
                continue;
            }
            let later: Vec<Base<'_>> = self.bases_later(base).collect();
            for t2 in above.iter().filter(|t2| t2.up.is_none() && t2.down.speed == t1.higher.speed) {
                if found.omits(&self.floor(base, |of| self.high_floor(of, t1, t2, t1s(of, *fewest))), 3) {
                    continue;
                }
                let mut known = KnownCounts::default();
                for (zones, units) in fitting.iter().take(self.effort.max_count()) {
                    // If each zone already has the minimum number of T1s, more zones only add T1s.
                    let stages = std::iter::once(base).chain(&later);
                    let counts: Vec<u32> = stages.flat_map(|of| [of.groups, t1s(of, *zones)]).collect();
                    if known.omits(&counts) {
                        break;
                    }
                    let in_zone = Base { groups: units * rails, ..*base };
                    self.add_zoned_designs(&in_zone, (t1, t2), *zones, (&mut known, found));
                }
            }
        }
    }

    /// Returns the minimum number of T1s of a zone, over all numbers of parallel cables.
    fn t1s_of_zone_min(self, base: &Base<'_>) -> u32 {
        if self.takes_parallel() { self.t1s_min() } else { base.up }
    }

    /// Returns the minimum number of T1s of a plane with enough downlinks for all cables of T0s.
    fn t1s_by_bandwidth(base: &Base<'_>, t1: &MiddleSwitch<'_>) -> u32 {
        (base.groups * base.up).div_ceil(t1.downlinks)
    }

    /// Adds the three-tier designs with a number of zones, for each number of parallel cables between T0s and
    /// T1s. `base` has the T0s of one zone.
    fn add_zoned_designs<'a>(
        self,
        base: &Base<'a>,
        (t1, t2): (&MiddleSwitch<'a>, &Panel<'a>),
        zones: u32,
        (known, found): (&mut KnownCounts, &mut RecordingSieve<'_, 'a>),
    ) {
        let most = (t1.downlinks / base.groups).min(if self.takes_parallel() { u32::MAX } else { 1 });
        if base.groups < 2 || most == 0 {
            return;
        }
        let stages = self.zones_of_stages(base, zones);
        let fewest = base.up.div_ceil(most).max(self.t1s_min());
        let omits = |t1s: u32, known: &mut KnownCounts, found: &mut RecordingSieve<'_, 'a>| {
            let counts: Vec<u32> =
                stages.iter().flat_map(|zones| [zones * base.groups, zones * t1s]).collect();
            let parts = |zones: &u32| {
                let all = Base { groups: zones * base.groups, ..*base };
                self.high_floor(&all, t1, t2, zones * t1s)
            };
            let floor = || self.floor_of_stages(parts(&zones), stages.iter().skip(1).map(&parts));
            known.omits(&counts) || found.omits(&floor(), 3) && known.omit(counts)
        };
        if omits(fewest, known, found) {
            return;
        }
        let mut last = 0;
        for parallel in 1..=most.min(base.up.div_ceil(self.t1s_min())) {
            let Some(count) = self.min_t1s(base, parallel, 1).filter(|t1s| *t1s != last) else { continue };
            last = count;
            if self.has_larger_zones(zones, parallel) || count > fewest && omits(count, known, found) {
                continue;
            }
            let down = base.groups * parallel;
            let up = t1_uplinks(down, t1.panel.down.speed, t1.higher);
            let Some(up) = self.min_links(&t1.panel, up, 1).filter(|up| t1.panel.fits(down, *up)) else {
                continue;
            };
            self.add_designs_with_t2s(
                base,
                (t1, t2),
                (&stages, ZoneT1s { parallel, count, up }),
                (known, found),
            );
        }
    }

    /// Returns whether designs with fewer and larger zones have the same switches and cables. This is so if N
    /// zones can be merged into one with 1/N of the parallel cables. With `grow_to` it returns false: growth
    /// adds zones one by one, so their size matters.
    fn has_larger_zones(self, zones: u32, parallel: u32) -> bool {
        let joins = |several: u32| zones.is_multiple_of(several) && parallel.is_multiple_of(several);
        self.need.limits.grow_to.is_none() && (2..zones).any(joins)
    }

    /// Adds the three-tier designs with these T1s, for all rows of T2s. Designs with parallel cables are
    /// skipped if another design has at most the same number of each part.
    fn add_designs_with_t2s<'a>(
        self,
        base: &Base<'a>,
        (t1, t2): (&MiddleSwitch<'a>, &Panel<'a>),
        (stages, t1s): (&[u32], ZoneT1s),
        (known, found): (&mut KnownCounts, &mut RecordingSieve<'_, 'a>),
    ) {
        let ZoneT1s { parallel, count, up } = t1s;
        let down = base.groups * parallel;
        // T2s have ports for the zones of all stages from the start.
        let (zones, later) = (stages[0], stages[stages.len() - 1]);
        let fewest = |zones: u32| {
            let t2_cages = (zones * count * up).div_ceil(u32::from(t2.down.ports).max(1));
            [(later * count * up).div_ceil(t2.ports()), t2_cages]
        };
        if parallel > 1 && known.has_within(&part_counts(base, t1, (stages, t1s), fewest)) {
            return;
        }
        let counts = ZoneCounts {
            zones,
            later,
            ports: t2.ports(),
            per_cage: t2.down.ports.into(),
            parallel_max: if self.takes_parallel() { u32::MAX } else { 1 },
            t1s: count,
            up,
            t1s_of_rows: |rows| self.min_t1s(base, parallel, rows),
            up_to: |t2s| self.min_links(&t1.panel, up, t2s).filter(|up| t1.panel.fits(down, *up)),
            links: |links, up| self.t2_links(t2, zones * links, (links, u64::from(up) * u64::from(parallel))),
        };
        let is_always_assumed = self.t0s_only(base).t0_exceeds_assumed();
        for rows in counts.rows() {
            let of_t2s = |zones: u32| {
                let t2_cages = rows.t2s() * Side::cages_of(zones * rows.ports_per_zone(), t2.down);
                [rows.t2s(), t2_cages]
            };
            let t1s = ZoneT1s { parallel, count: rows.t1s, up: rows.up };
            let in_zone = *base;
            let parts = || part_counts(&in_zone, t1, (stages, t1s), of_t2s);
            if parallel.max(rows.parallel) > 1 && known.has_within(&parts()) {
                continue;
            }
            let base = Base { up: rows.t1s * parallel, ..*base };
            let indices = [base.groups * parallel, rows.t1s * parallel.max(rows.parallel), base.per_group];
            let Some(zone_bits) = self.zone_bits(indices, later) else { continue };
            let third = ThirdTier { zone_bits, ..self.third_tier(t2, zones, rows) };
            let design = self.design(&base, (parallel, rows.t1s), &t1.panel, zones, Some((third, rows.up)));
            if self.keeps(&design, [Some(&base.panel), Some(&t1.panel), Some(t2)]) {
                if is_always_assumed || !design.is_conditional() || design.floor_exceeds_assumed_routes() {
                    known.take(parts());
                }
                found.take(design);
            }
        }
    }

    /// Returns whether a T2 supports `ports` downlinks, of which `links` lead to each zone. `paths` is the number of
    /// paths from a T1 to a T0 of another zone, for each of these links.
    fn t2_links(self, t2: &Panel<'_>, ports: u32, (links, paths): (u32, u64)) -> LinkSupport {
        let limits = &t2.platform.limits;
        let exceeds_neighbours = ports > limits.neighbours;
        let is_assumed = limits.assumption(Limit::Neighbours).is_some();
        let adds_up = self.routing.speaks_bgp() && self.os.support(Capability::Bandwidths) == Support::Whole;
        if !self.spreads(t2, links)
            || exceeds_neighbours && !is_assumed
            || adds_up && paths * u64::from(links) > BANDWIDTH_CABLES_MAX
        {
            return LinkSupport::None;
        }
        let is_wide = !self.routing.is_source_routed() && !t2.width.accepts(links.into());
        if exceeds_neighbours || is_wide { LinkSupport::Assumed } else { LinkSupport::Firm }
    }

    /// Returns the common T0s and T1s of all three-tier designs with these switches and at least `t1s` T1s
    /// per plane.
    fn middle_floor<'a>(self, base: &Base<'a>, t1: &MiddleSwitch<'a>, t1s: u32) -> Design<'a> {
        let down = base.groups * base.up;
        let mut floor = self.design(base, (1, base.up), &t1.panel, 1, None);
        floor.t1.switches = u32::from(self.planes) * t1s;
        floor.t1.down.count = full_cages(down / t1s, t1.panel.down);
        let count = full_cages(Self::all_t1_uplinks(base.groups, base, t1) / t1s, t1.higher);
        floor.t1.up = Some(Side { count, breakout: t1.higher });
        floor
    }

    /// Returns the common parts of all three-tier designs with these switches and at least `t1s` T1s per
    /// plane.
    fn high_floor<'a>(self, base: &Base<'a>, t1: &MiddleSwitch<'a>, t2: &Panel<'a>, t1s: u32) -> Design<'a> {
        let [up, later] =
            [base.groups, base.groups_later].map(|groups| Self::all_t1_uplinks(groups, base, t1));
        // T2s have ports for later zones from the start.
        let t2s = later.div_ceil(t2.ports()).max(1);
        let one = T2Rows { rows: 1, t1s: 1, up: 1, parallel: 1 };
        let mut third = self.third_tier(t2, 1, one);
        third.tier.switches = u32::from(self.planes) * t2s;
        third.tier.down.count = full_cages(up / t2s, t2.down);
        Design { third: Some(third), ..self.middle_floor(base, t1, t1s) }
    }

    /// Returns the minimum number of uplinks of all T1s of a plane together, for this many T0s below them.
    fn all_t1_uplinks(groups: u32, base: &Base<'_>, t1: &MiddleSwitch<'_>) -> u32 {
        t1_uplinks(groups * base.up, t1.panel.down.speed, t1.higher)
    }

    /// Returns the useful numbers of zones, each with the units per zone, in ascending order of zones. Units per
    /// zone are useful if fewer of them would need more zones in the first stage. T0s are useful if T0s with fewer
    /// nodes would need more zones in some stage.
    fn zones(self, nodes: u32) -> impl Iterator<Item = (u32, u32)> {
        let units = |nodes: u32| self.need.nodes_of_stages().map(move |all| all.div_ceil(nodes));
        let own: Vec<u32> = units(nodes).collect();
        let smaller: Vec<u32> = units(nodes.saturating_sub(1).max(1)).collect();
        let (first, last) = (own[0], own[own.len() - 1]);
        let mut in_zone: Vec<u32> = (2..=ThirdTier::ZONES_MAX).map(|zones| first.div_ceil(zones)).collect();
        in_zone.dedup();
        in_zone.retain(|units| {
            let has_zones = *units < first && last.div_ceil(*units) <= ThirdTier::ZONES_MAX;
            let needs_more = |(own, smaller): (&u32, &u32)| own.div_ceil(*units) != smaller.div_ceil(*units);
            has_zones && (nodes == 1 || own.iter().zip(&smaller).any(needs_more))
        });
        in_zone.into_iter().map(move |units| (first.div_ceil(units), units))
    }

    /// Creates the third tier from rows of T2s.
    fn third_tier<'a>(self, t2: &Panel<'a>, zones: u32, rows: T2Rows) -> ThirdTier<'a> {
        let ports_per_zone = rows.ports_per_zone();
        let down = Side { count: zones * ports_per_zone, breakout: t2.down };
        let switches = rows.t2s() * u32::from(self.planes);
        let tier = Tier { platform: t2.platform, chassis: t2.chassis, switches, down, up: None };
        let T2Rows { rows, parallel, .. } = rows;
        ThirdTier { tier, zones, rows, parallel, ports_per_zone, zone_bits: ThirdTier::ZONE_BITS }
    }

    /// Returns the number of zones in each stage, the first of which has `zones`.
    fn zones_of_stages(self, base: &Base<'_>, zones: u32) -> Vec<u32> {
        let in_zone = base.groups * base.per_group;
        let later = self.need.later_stages().map(|nics| nics.div_ceil(in_zone).max(zones));
        std::iter::once(zones).chain(later).collect()
    }

    /// Returns the bits that number the zones. Returns `None` if too few bits are left to number
    /// the devices of a zone up to the largest of `indices`.
    fn zone_bits(self, indices: [u32; 3], zones: u32) -> Option<u8> {
        let bits = (ThirdTier::ZONE_BITS..=ThirdTier::ZONE_BITS_MAX).find(|bits| zones <= 1 << bits)?;
        let index_max = (1 << (ThirdTier::USID_BITS - bits)) - 1;
        let fits = bits == ThirdTier::ZONE_BITS
            || !self.routing.is_source_routed()
            || indices.into_iter().all(|index| index <= index_max);
        fits.then_some(bits)
    }
}

/// Returns the number of uplinks that a T1 needs for the same bandwidth up as down, with this many downlinks.
fn t1_uplinks(groups: u32, down: Speed, up: Breakout) -> u32 {
    let mbps = u64::from(groups) * u64::from(down.mbps());
    mbps.div_ceil(u64::from(up.speed.mbps()).max(1)).max(2) as u32
}

/// Rounds a number of ports down to complete cages.
fn full_cages(ports: u32, split: Breakout) -> u32 {
    ports - ports % u32::from(split.ports).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A floor is computed with the minimum number of switches. If there are more switches, each has fewer
    /// ports and may need fewer cages.
    #[test]
    fn full_cages_are_a_floor_for_more_switches() {
        let split = Breakout { ports: 8, speed: Speed::gbps(100), share: None };
        let cages = |ports: u32| Side::cages_of(ports, split);
        for (ports, fewest) in (1..=96).flat_map(|ports| (1..=12).map(move |fewest| (ports, fewest))) {
            let floor = fewest * cages(full_cages(ports / fewest, split));
            for switches in fewest..=16 {
                let all = switches * cages(ports.div_ceil(switches));
                assert!(floor <= all, "{ports} ports on {fewest} and {switches} switches");
            }
        }
    }
}
