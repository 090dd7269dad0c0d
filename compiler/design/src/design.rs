//! One design: the counts of a fabric.
//!
//! In: counts from [`space`](crate::space). Out: a [`Design`]. Invariants: counts are per plane unless stated
//! otherwise. A T2 does not belong to a zone.

use std::sync::Arc;

use closc_artefacts::Routing;
use closc_platform::{Breakout, GroupWidth, Limit, Os, Platform, SplitCages};
use closc_qos::units::{Length, Speed};

use crate::need::{Ratio, WHOLE};

/// Ports of a switch in one direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Side {
    /// Ports in use.
    pub count: u32,
    /// Breakout of their cages.
    pub breakout: Breakout,
}

impl Side {
    /// Returns the number of cages for `count` ports.
    #[inline]
    pub(crate) fn cages_of(count: u32, breakout: Breakout) -> u32 {
        count.div_ceil(u32::from(breakout.ports).max(1))
    }

    /// Returns the cages in use.
    #[inline]
    pub fn cages(self) -> u32 {
        Self::cages_of(self.count, self.breakout)
    }

    /// Returns the bandwidth of all ports in Mb/s.
    pub(crate) fn mbps(self) -> u64 {
        u64::from(self.count) * u64::from(self.breakout.speed.mbps())
    }
}

/// The switches of a tier, all with the same hardware and ports.
#[derive(Debug, Clone)]
pub struct Tier<'a> {
    /// Hardware.
    pub platform: &'a Arc<Platform>,
    /// The catalogue entry with all cages of this switch.
    pub chassis: &'a Arc<Platform>,
    /// Number of switches in all planes and zones.
    pub switches: u32,
    /// Ports to the tier below, or to NICs.
    pub down: Side,
    /// Ports to the tier above, if there is one.
    pub up: Option<Side>,
}

impl Tier<'_> {
    /// Returns the used and the total cages of a switch.
    pub fn cages(&self) -> (u32, u32) {
        let used = self.down.cages() + self.up.map_or(0, Side::cages);
        self.platform.cages_used(used, self.chassis)
    }

    /// Returns the cages of a switch by breakout, as input for [`Platform::hwsku`].
    pub(crate) fn cages_in_use(&self, os: Os) -> Vec<SplitCages> {
        self.platform.cages_for(os, self.down.breakout, self.up.map(|up| up.breakout))
    }

    /// Returns the bandwidth of all switches of the tier in Gb/s, whether used or not.
    #[inline]
    pub(crate) fn capacity(&self) -> u64 {
        let panel = &self.chassis.panel;
        let fastest =
            panel.breakouts.iter().map(|split| u64::from(split.ports) * u64::from(split.speed.mbps()));
        fastest.max().unwrap_or_default() * u64::from(panel.cages) * u64::from(self.switches) / 1000
    }
}

/// The third tier.
#[derive(Debug, Clone)]
pub struct ThirdTier<'a> {
    /// The T2s.
    pub tier: Tier<'a>,
    /// Zones below it.
    pub zones: u32,
    /// Rows of T2s. With N rows, a T2 reaches every Nth T1 of each zone.
    pub rows: u32,
    /// Cables from a T1 to each of its T2s.
    pub parallel: u32,
    /// Ports that a T2 has for each zone.
    pub ports_per_zone: u32,
    /// Bits of the zone in addresses and uSIDs.
    pub zone_bits: u8,
}

impl ThirdTier<'_> {
    /// Zone bits in files that do not state a width.
    pub(crate) const ZONE_BITS: u8 = 4;
    /// Maximum number of zone bits that a file can state.
    pub(crate) const ZONE_BITS_MAX: u8 = 8;
    /// Maximum number of zones in addresses.
    pub(crate) const ZONES_MAX: u32 = 1 << Self::ZONE_BITS_MAX;
    /// Bits of zone and index together in the uSIDs of three tiers.
    pub(crate) const USID_BITS: u8 = 14;

    /// Returns the bits for zone and index in uSIDs, if the file states them.
    pub(crate) fn stated_bits(&self) -> Option<[u8; 2]> {
        let [zone, index] = [self.zone_bits, ThirdTier::USID_BITS - self.zone_bits];
        (zone != ThirdTier::ZONE_BITS).then_some([zone, index])
    }
}

/// A fabric that meets the requirements.
#[derive(Debug, Clone)]
pub struct Design<'a> {
    /// Planes.
    pub planes: u16,
    /// Number of planes by NIC, which are zones without a tier above. 1 if switches connect all NICs.
    pub planes_by_nic: u32,
    /// Speed of a NIC's port in each plane.
    pub port_speed: Speed,
    /// Routing.
    pub routing: Routing,
    /// Operating system of all switches.
    pub os: Os,
    /// NICs; other places stay free.
    pub nics: u32,
    /// Length of the longest cable between a NIC and a T0.
    pub nic_cable: Length,
    /// T0s in a plane and zone. A plane by NIC is a zone.
    pub groups: u32,
    /// T0s of a unit in a plane and zone: one per rail. T0s are added unit by unit.
    pub unit: u32,
    /// NICs on each T0.
    pub per_group: u32,
    /// NICs of a node on each of its T0s.
    pub per_node: u32,
    /// Cables from a T0 to each of its T1s.
    pub parallel: u32,
    /// Lowest tier.
    pub t0: Tier<'a>,
    /// The tier above. If there is none, it has zero switches and ports.
    pub t1: Tier<'a>,
    /// The third tier, if there is one.
    pub third: Option<ThirdTier<'a>>,
}

/// Returns the number of uplinks of a switch.
pub(crate) fn links(tier: &Tier<'_>) -> u32 {
    tier.up.map_or(0, |up| up.count)
}

/// Returns whether a switch has more neighbours than its assumed limit.
fn has_assumed_neighbours(tier: &Tier<'_>) -> bool {
    let limits = &tier.platform.limits;
    tier.down.count + links(tier) > limits.neighbours && limits.assumption(Limit::Neighbours).is_some()
}

impl<'a> Design<'a> {
    /// Returns the tiers, the lowest first.
    pub fn tiers(&self) -> impl Iterator<Item = &Tier<'a>> {
        let t1 = self.has_t1().then_some(&self.t1);
        [&self.t0].into_iter().chain(t1).chain(self.third.as_ref().map(|third| &third.tier))
    }

    /// Returns whether there are T1s. Without them, each T0 is a separate network.
    pub fn has_t1(&self) -> bool {
        self.t1.switches > 0
    }

    /// Returns the number of places for NICs.
    pub fn places(&self) -> u32 {
        self.groups * self.per_group * self.zones()
    }

    /// Returns the number of zones below T2s, or of planes by NIC.
    pub fn zones(&self) -> u32 {
        self.third.as_ref().map_or(self.planes_by_nic, |third| third.zones)
    }

    /// Returns the number of lanes of a NIC, which follows from its switch ports.
    pub fn nic_lanes(&self) -> u32 {
        let width = self.t0.down.breakout.width(self.t0.platform.panel.lanes);
        u32::from(self.planes) * u32::from(width).max(1)
    }

    /// Returns the usual number of lanes of a NIC of this speed: one per 100G, and at least one per plane.
    pub(crate) fn usual_nic_lanes(&self) -> u32 {
        u32::from(self.planes) * self.port_speed.mbps().div_ceil(Speed::gbps(100).mbps())
    }

    /// Returns whether a switch has several cables to one switch of the next tier.
    pub(crate) fn has_parallel(&self) -> bool {
        self.parallel > 1 || self.third.as_ref().is_some_and(|third| third.parallel > 1)
    }

    /// Returns the number of T1s in a plane and zone.
    pub fn t1s(&self) -> u32 {
        self.t0.up.map_or(0, |up| up.count / self.parallel)
    }

    /// Returns whether `W0302` applies: more than half of the ports of a T1 have no cable. Ports of software
    /// switches cost nothing.
    pub(crate) fn t1_is_dark(&self) -> bool {
        let (panel, down) = (&self.t1.platform.panel, self.t1.down);
        let up = |up: Side| down.breakout.ports_for(up.count.into(), up.breakout, panel.lanes);
        let used = u64::from(down.count) + self.t1.up.map_or(0, up);
        self.has_t1()
            && !self.t1.platform.is_software()
            && used * 2 < u64::from(panel.cages) * u64::from(down.breakout.ports)
    }

    /// Returns whether the design depends on an assumption. Such an assumption is an unpublished limit, or a
    /// release later than the default one, which parallel cables need.
    pub fn is_conditional(&self) -> bool {
        self.exceeds_assumed() || self.needs_later_release()
    }

    /// Returns whether `W0904` applies: a switch exceeds an assumed limit. Limits are on routes, local SIDs,
    /// neighbours, and the number and size of ECMP groups.
    fn exceeds_assumed(&self) -> bool {
        let t1_links = links(&self.t1).max(self.parallel);
        let t1 = self.has_t1().then_some((&self.t1, t1_links));
        let t2 = self.third.as_ref().map(|third| (&third.tier, third.ports_per_zone));
        let mut spreads = [Some((&self.t0, links(&self.t0))), t1, t2].into_iter().flatten();
        self.tiers().any(has_assumed_neighbours)
            || self.has_assumed_groups()
            || self.exceeds_assumed_tables()
            || spreads.any(|(tier, links)| {
                self.assumed_width(tier).is_some_and(|width| !width.accepts(links.into()))
            })
    }

    /// Returns whether a switch has more ECMP groups than its assumed limit. A switch has one group for its
    /// uplinks, and one for the parallel links to each T0 or zone.
    fn has_assumed_groups(&self) -> bool {
        let exceeds = |tier: &Tier<'_>, below: u32| {
            let limits = &tier.platform.limits;
            let groups = below + u32::from(links(tier) > 1);
            groups > limits.ecmp_groups && limits.assumption(Limit::EcmpGroups).is_some()
        };
        let is_over = |third: &ThirdTier<'_>| third.ports_per_zone > 1 && exceeds(&third.tier, third.zones);
        !self.routing.is_source_routed()
            && (self.parallel > 1 && exceeds(&self.t1, self.groups)
                || self.third.as_ref().is_some_and(is_over))
    }

    /// Returns whether `W0904` applies to the T0s. Then it also applies to each design with the same T0s and
    /// at least as many uplinks.
    pub(crate) fn t0_exceeds_assumed(&self) -> bool {
        let is_wider = |width: GroupWidth<'_>| links(&self.t0) > width.largest();
        has_assumed_neighbours(&self.t0) || self.assumed_width(&self.t0).is_some_and(is_wider)
    }

    /// Returns the possible ECMP group sizes of a tier, if they are assumed and the routing uses such groups.
    fn assumed_width<'t>(&self, tier: &'t Tier<'a>) -> Option<GroupWidth<'t>> {
        // Most platforms have one width for all hwskus, so the cages are rarely needed.
        let cages = || std::iter::once_with(|| tier.cages_in_use(self.os)).flatten();
        let width = || tier.platform.group_width((self.os, self.os.default_release()), cages());
        (!self.routing.is_source_routed()).then(width).filter(|width| width.assumption.is_some())
    }

    /// Returns the ratio of downlink to uplink bandwidth of a T0.
    pub fn oversubscription(&self) -> Ratio {
        let Some(up) = self.t0.up.map(Side::mbps) else { return Ratio::EVEN };
        Ratio::new(self.t0.down.mbps(), up).unwrap_or(Ratio { down: u32::MAX, up: 1 })
    }

    /// Returns the ratio of downlink to uplink bandwidth of a T1, if there are T2s.
    pub(crate) fn t1_oversubscription(&self) -> Option<Ratio> {
        let up = self.third.as_ref().and(self.t1.up)?;
        Some(Ratio::new(self.t1.down.mbps(), up.mbps()).unwrap_or(Ratio { down: u32::MAX, up: 1 }))
    }

    /// Returns the bandwidth of all switches in Gb/s, whether used or not.
    pub fn capacity(&self) -> u64 {
        self.tiers().map(Tier::capacity).sum()
    }

    /// Returns the number of cables between switches.
    pub fn cables(&self) -> u64 {
        let above = |tier: &Tier<'_>| u64::from(tier.switches) * tier.up.map_or(0, |up| u64::from(up.count));
        above(&self.t0) + above(&self.t1)
    }

    /// Returns the number of cages with modules of cables between switches.
    pub fn modules(&self) -> u64 {
        let of = |tier: &Tier<'_>, cages: u32| u64::from(tier.switches) * u64::from(cages);
        let up = |tier: &Tier<'_>| of(tier, tier.up.map_or(0, Side::cages));
        let down = |tier: &Tier<'_>| of(tier, tier.down.cages());
        let third = self.third.as_ref().map_or(0, |third| down(&third.tier));
        up(&self.t0) + down(&self.t1) + up(&self.t1) + third
    }

    /// Returns the maximum number of NICs that fit without moving a plugged cable. Growth adds NICs on a
    /// single tier, T0s on the T1s, or zones under the T2s.
    pub fn largest(&self) -> u32 {
        let ports = |tier: &Tier<'_>| u32::from(tier.platform.usable_ports(tier.down.breakout));
        match &self.third {
            None if !self.has_t1() => {
                let ports = ports(&self.t0);
                (ports - ports % self.per_node.max(1)) * self.zones()
            }
            None => {
                let groups = ports(&self.t1) / self.parallel.max(1);
                (groups - groups % self.unit.max(1)) * self.per_group * self.planes_by_nic
            }
            Some(third) => {
                let zones = ports(&third.tier) / third.ports_per_zone.max(1);
                zones.min(1 << third.zone_bits) * self.groups * self.per_group
            }
        }
    }

    /// Returns the loss of a NIC's bandwidth when a T1 fails, in millionths, if there are T1s.
    pub fn t1_loss(&self) -> Option<u32> {
        self.has_t1().then(|| WHOLE / u32::from(self.planes) / self.t1s().max(1))
    }
}
