//! Figures of a design that are only printed. The search does not order designs by them.
//!
//! In: a design. Out: bandwidth, paths, losses and rack units. Invariants: a figure follows from counts
//! alone. The bisection bandwidth is that of the narrowest tier.

use smol_str::SmolStr;

use crate::design::{Design, Side, Tier};
use crate::need::WHOLE;

/// Height of a usual rack, in rack units.
pub const RACK_UNITS: u64 = 42;

/// Losses by a single failure of each kind, in millionths of a NIC's bandwidth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Losses {
    /// A cable between a NIC and a T0.
    pub nic_cable: u32,
    /// A T0.
    pub t0: u32,
    /// A cable between a T0 and a T1.
    pub uplink: Option<u32>,
    /// A module for uplinks in a T0, with all its cables.
    pub uplink_module: Option<u32>,
    /// A T1.
    pub t1: Option<u32>,
    /// A cable between a T1 and a T2, for traffic between zones.
    pub t1_uplink: Option<u32>,
    /// A T2, for traffic between zones.
    pub t2: Option<u32>,
}

impl Design<'_> {
    /// Returns the bisection bandwidth: the bandwidth between two halves of the NICs in one direction, in
    /// Gb/s.
    pub fn bisection(&self) -> u64 {
        let above = |tier: &Tier<'_>| u64::from(tier.switches) * tier.up.map_or(0, Side::mbps);
        let nics = u64::from(self.places()) * u64::from(self.planes) * u64::from(self.port_speed.mbps());
        let narrowest = if self.has_t1() { nics.min(above(&self.t0)) } else { nics };
        let narrowest = self.third.as_ref().map_or(narrowest, |_| narrowest.min(above(&self.t1)));
        narrowest / 2 / 1000
    }

    /// Returns the share of the NICs' bandwidth that the bisection carries, in millionths. It does not depend
    /// on the number of places.
    pub fn bisection_share(&self) -> u32 {
        let nics = u64::from(self.places()) * u64::from(self.planes) * u64::from(self.port_speed.mbps());
        let share = u128::from(self.bisection()) * 2000 * u128::from(WHOLE) / u128::from(nics.max(1));
        u32::try_from(share).unwrap_or(WHOLE)
    }

    /// Returns the number of paths between two NICs on one T0.
    pub fn paths_local(&self) -> u64 {
        self.planes.into()
    }

    /// Returns the number of paths between two NICs on different T0s of one zone, if there is a third tier.
    pub fn paths_zone(&self) -> Option<u64> {
        self.third.as_ref().map(|_| self.paths_below_t2())
    }

    /// Returns the number of paths between two NICs on different T0s of one zone.
    fn paths_below_t2(&self) -> u64 {
        let up = self.t0.up.map_or(1, |up| u64::from(up.count));
        // A T1 reaches a T0 over several cables. Hosts choose one for both directions, and switches use all.
        let down = if self.routing.is_source_routed() { 1 } else { u64::from(self.parallel.max(1)) };
        u64::from(self.planes) * up * down
    }

    /// Returns the number of paths between two NICs that are farthest apart.
    pub fn paths(&self) -> u64 {
        let Some(third) = &self.third else { return self.paths_below_t2() };
        let up = |tier: &Tier<'_>| tier.up.map_or(1, |up| u64::from(up.count));
        // If switches choose, a T2 reaches a T0 through every T1 of the zone that it is connected to.
        let t1s = up(&self.t0) / u64::from(self.parallel.max(1));
        let down = if self.routing.is_source_routed() {
            1
        } else {
            u64::from(third.parallel.max(1)) * t1s.div_ceil(u64::from(third.rows.max(1)))
        };
        self.paths_below_t2() * up(&self.t1) * down
    }

    /// Returns the losses by a single failure of each kind.
    pub fn losses(&self) -> Losses {
        let plane = WHOLE / u32::from(self.planes);
        let t2s = self.third.as_ref().map(|third| third.tier.switches / u32::from(self.planes));
        Losses {
            nic_cable: plane,
            t0: plane,
            uplink: self.t0.up.map(|up| plane / up.count.max(1)),
            uplink_module: self.t0.up.map(|up| {
                let ports = u64::from(up.count.min(up.breakout.ports.into()));
                (u64::from(plane) * ports / u64::from(up.count.max(1))) as u32
            }),
            t1: self.t1_loss(),
            t1_uplink: self.t1.up.map(|up| plane / (self.t1s() * up.count).max(1)),
            t2: t2s.map(|t2s| plane / t2s.max(1)),
        }
    }

    /// Returns the rack units of all switches.
    ///
    /// # Errors
    ///
    /// The platforms without a published height.
    pub fn rack_units(&self) -> Result<u64, Vec<SmolStr>> {
        let mut unknown: Vec<SmolStr> = Vec::new();
        let mut sum = 0;
        for tier in self.tiers() {
            match tier.platform.rack_units.or(tier.chassis.rack_units) {
                Some(units) => sum += u64::from(units) * u64::from(tier.switches),
                None if unknown.contains(&tier.platform.id) => {}
                None => unknown.push(tier.platform.id.clone()),
            }
        }
        if unknown.is_empty() { Ok(sum) } else { Err(unknown) }
    }
}
