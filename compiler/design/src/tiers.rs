//! Designs of two and three tiers above a T0.
//!
//! In: a T0 with its NICs, and panels of the switches above. Out: [`Design`]s. Invariants: before designs are made, their
//! common parts are compared with designs that passed, so that a large search ends soon.

use closc_platform::Breakout;
use closc_qos::units::Speed;

use crate::design::{Design, Side, ThirdTier, Tier};
use crate::panel::Panel;
use crate::space::{Base, RecordingSieve, SearchPart, T1S_MIN, Zones, holds_all_t0s};

/// A T1 below T2s.
#[derive(Clone, Copy)]
pub(crate) struct MiddleSwitch<'a> {
    panel: Panel<'a>,
    higher: Breakout,
    /// The most T0s of a zone that it has ports for.
    groups: u32,
}

impl SearchPart<'_> {
    /// Returns the uplinks that the ratio asks for: at least one to each of two T1s.
    pub(crate) fn uplinks(self, per_group: u32, speed: Speed) -> Option<u32> {
        self.need.least_uplinks(per_group, self.speed, speed).map(|up| up.max(T1S_MIN))
    }

    /// Returns whether a T0 can have several cables to a T1: with source routing each cable needs a uSID of its own.
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
        if found.omits(&self.lowest(base), 2) {
            return;
        }
        for t1 in above.iter().filter(|t1| t1.up.is_none() && t1.down.speed == split.speed) {
            let most = t1.ports() / base.groups_later;
            let most = if self.takes_parallel() { most } else { most.min(1) }.min(base.up.div_ceil(2));
            if most == 0 || found.omits(&self.floor(base, t1, base.up.div_ceil(most)), 2) {
                continue;
            }
            let mut last = 0;
            for parallel in 1..=most {
                let t1s = base.up.div_ceil(parallel);
                let up = t1s * parallel;
                if t1s == last || !base.panel.fits(base.per_group, up) {
                    continue;
                }
                last = t1s;
                let design = self.design(base, (parallel, t1s), t1, self.by_nic, None);
                if self.keeps(&design, [&base.panel, t1]) {
                    found.take(design);
                }
            }
        }
    }

    /// Returns the T0s of a design alone.
    pub(crate) fn lowest<'a>(self, base: &Base<'a>) -> Design<'a> {
        let none = Panel { up: None, cages: None, ..base.panel };
        let mut lowest = self.design(base, (1, base.up), &none, self.by_nic, None);
        lowest.t1.switches = 0;
        lowest
    }

    /// Returns the parts that every design with these T0s and T1s has, if it has at least `t1s` T1s.
    fn floor<'a>(self, base: &Base<'a>, t1: &Panel<'a>, t1s: u32) -> Design<'a> {
        let mut floor = self.design(base, (1, base.up), t1, self.by_nic, None);
        floor.t1.switches = u32::from(self.planes) * self.by_nic * t1s;
        floor.t1.down.count = full_cages(base.groups * base.up / t1s.max(1), t1.down);
        floor
    }

    /// Returns the T1s that T2s can join.
    pub(crate) fn middle<'a>(self, above: &[Panel<'a>]) -> Vec<MiddleSwitch<'a>> {
        let rails = u32::from(self.need.rails);
        let middle = above.iter().filter_map(|panel| {
            let higher = panel.up?;
            let fits = |groups: &u32| panel.fits(*groups, t1_uplinks(*groups, panel.down.speed, higher));
            let most = (1..=panel.ports() / rails).rev().map(|units| units * rails).find(fits)?;
            Some(MiddleSwitch { panel: *panel, higher, groups: most })
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
        if found.omits(&self.lowest(base), 3) {
            return;
        }
        let zones = zones.0.entry(base.nodes).or_insert_with(|| self.zones(base.nodes).collect());
        let t1s = middle.iter().filter(|t1| t1.panel.down.speed == split.speed && !is_needless(&t1.panel));
        for t1 in t1s {
            let least = base.groups.div_ceil(t1.groups).max(2);
            let fitting = &zones[zones.partition_point(|(zones, _)| *zones < least)..];
            let Some((fewest, _)) = fitting.first() else { continue };
            if found.omits(&self.middle_floor(base, t1, *fewest), 3) {
                continue;
            }
            for t2 in above.iter().filter(|t2| t2.up.is_none() && t2.down.speed == t1.higher.speed) {
                for (zones, units) in fitting.iter().take(self.effort.most()) {
                    // More zones have more T1s.
                    if found.omits(&self.high_floor(base, t1, t2, *zones), 3) {
                        break;
                    }
                    let in_zone = Base { groups: units * u32::from(self.need.rails), ..*base };
                    self.below(&in_zone, (t1, t2), *zones, found);
                }
            }
        }
    }

    /// Adds the three-tier designs with a number of zones, one for each number of rows.
    fn below<'a>(
        self,
        base: &Base<'a>,
        (t1, t2): (&MiddleSwitch<'a>, &Panel<'a>),
        zones: u32,
        found: &mut RecordingSieve<'_, 'a>,
    ) {
        let up = t1_uplinks(base.groups, t1.panel.down.speed, t1.higher);
        if base.groups < 2 || !t1.panel.fits(base.groups, up) {
            return;
        }
        let later = self.zones_later(base, zones);
        for (rows, uplinks) in rows(base.up, later, t2.ports()) {
            let base = Base { up: uplinks, ..*base };
            let Some(zone_bits) = self.zone_bits(&base, later) else { continue };
            if !base.panel.fits(base.per_group, uplinks) {
                continue;
            }
            let third = ThirdTier { zone_bits, ..self.third(&base, t2, zones, (rows, up)) };
            let design = self.design(&base, (1, uplinks), &t1.panel, zones, Some((third, up)));
            if self.keeps(&design, [&base.panel, &t1.panel]) {
                found.take(design);
            }
        }
    }

    /// Returns the T0s and T1s of every design of three tiers with these, if it has at least `zones` zones.
    fn middle_floor<'a>(self, base: &Base<'a>, t1: &MiddleSwitch<'a>, zones: u32) -> Design<'a> {
        let (down, t1s) = (base.groups * base.up, zones * base.up);
        let mut floor = self.design(base, (1, base.up), &t1.panel, 1, None);
        floor.t1.switches = u32::from(self.planes) * t1s;
        floor.t1.down.count = full_cages(down / t1s, t1.panel.down);
        let count = full_cages(Self::all_t1_uplinks(base.groups, base, t1) / t1s, t1.higher);
        floor.t1.up = Some(Side { count, breakout: t1.higher });
        floor
    }

    /// Returns the parts that every design of three tiers with these switches has, if it has at least `zones` zones.
    fn high_floor<'a>(
        self,
        base: &Base<'a>,
        t1: &MiddleSwitch<'a>,
        t2: &Panel<'a>,
        zones: u32,
    ) -> Design<'a> {
        let [up, later] =
            [base.groups, base.groups_later].map(|groups| Self::all_t1_uplinks(groups, base, t1));
        // T2s have ports for later zones from the start.
        let t2s = later.div_ceil(t2.ports()).max(1);
        let mut third = self.third(base, t2, 1, (1, 1));
        third.tier.switches = u32::from(self.planes) * t2s;
        third.tier.down.count = full_cages(up / t2s, t2.down);
        Design { third: Some(third), ..self.middle_floor(base, t1, zones) }
    }

    /// Returns the fewest uplinks of all T1s of a plane together, below which this many T0s are.
    fn all_t1_uplinks(groups: u32, base: &Base<'_>, t1: &MiddleSwitch<'_>) -> u32 {
        t1_uplinks(groups * base.up, t1.panel.down.speed, t1.higher)
    }

    /// Returns numbers of zones, each with the units of a zone. T0s with fewer places, or fewer zones, need more units.
    fn zones(self, nodes: u32) -> impl Iterator<Item = (u32, u32)> {
        let units = move |nodes: u32, zones: u32| self.units(nodes).map(|units| units.div_ceil(zones));
        (2..=ThirdTier::ZONES_MAX).filter_map(move |zones| {
            let [now, later] = units(nodes, zones);
            let is_fewest = nodes == 1 || units(nodes - 1, zones) != [now, later];
            let is_needed = zones == 2 || units(nodes, zones - 1)[0] > now;
            (is_fewest && is_needed).then_some((zones, now))
        })
    }

    /// Makes a third tier of `rows` rows, below which T1s have `up` uplinks.
    fn third<'a>(self, base: &Base<'a>, t2: &Panel<'a>, zones: u32, (rows, up): (u32, u32)) -> ThirdTier<'a> {
        let ports_per_zone = base.up / rows;
        let down = Side { count: zones * ports_per_zone, breakout: t2.down };
        let switches = rows * up * u32::from(self.planes);
        let tier = Tier { platform: t2.platform, chassis: t2.chassis, switches, down, up: None };
        ThirdTier { tier, zones, rows, ports_per_zone, zone_bits: ThirdTier::ZONE_BITS }
    }

    /// Returns the zones after growth. The T2s have ports for all of them from the start.
    fn zones_later(self, base: &Base<'_>, zones: u32) -> u32 {
        let later = self.need.limits.grow_to.map_or(0, |nics| nics.div_ceil(base.groups * base.per_group));
        zones.max(later)
    }

    /// Returns the bits that number the zones. Returns `None` if too few bits are left for the switches of a zone.
    fn zone_bits(self, base: &Base<'_>, zones: u32) -> Option<u8> {
        let bits = (ThirdTier::ZONE_BITS..=ThirdTier::ZONE_BITS_MAX).find(|bits| zones <= 1 << bits)?;
        let index_max = (1 << (ThirdTier::USID_BITS - bits)) - 1;
        let fits = bits == ThirdTier::ZONE_BITS
            || !self.routing.is_source_routed()
            || base.groups.max(base.up).max(base.per_group) <= index_max;
        fits.then_some(bits)
    }
}

/// Returns the uplinks that a T1 needs for as much bandwidth up as to this many T0s.
fn t1_uplinks(groups: u32, down: Speed, up: Breakout) -> u32 {
    let mbps = u64::from(groups) * u64::from(down.mbps());
    mbps.div_ceil(u64::from(up.speed.mbps()).max(1)).max(2) as u32
}

/// Returns the ports of the cages that this many ports fill.
fn full_cages(ports: u32, split: Breakout) -> u32 {
    ports - ports % u32::from(split.ports).max(1)
}

/// Returns numbers of rows of T2s, each with the uplinks of a T0: as many as asked for, rounded up to complete rows.
/// More rows need more T2s, so they are returned only where fewer uplinks complete them.
fn rows(up: u32, zones: u32, ports: u32) -> impl Iterator<Item = (u32, u32)> {
    let mut fewest = u32::MAX;
    // From the rows whose T2s have ports for all zones.
    let least = (zones * up).div_ceil(ports).max(1);
    (least..=up)
        .map_while(move |rows| {
            // Later rows do not have fewer.
            if fewest == up {
                return None;
            }
            let uplinks = up.next_multiple_of(rows);
            let is_better = zones * uplinks / rows <= ports && uplinks < fewest;
            fewest = if is_better { uplinks } else { fewest };
            Some(is_better.then_some((rows, uplinks)))
        })
        .flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A floor is computed with the fewest switches. More of them have fewer ports each, and may need fewer cages.
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
