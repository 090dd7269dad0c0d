//! Figures of a design that are only printed. The search does not order designs by them.
//!
//! In: a design. Out: bandwidth, paths, losses and rack units. Invariants: a figure follows from counts alone; the bandwidth
//! between halves is that of the narrowest tier.

use smol_str::SmolStr;

use crate::design::{Design, Side, Tier, WHOLE};

/// Losses of one failure of each kind, in millionths of a NIC's bandwidth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Losses {
    /// A cable between a NIC and a T0.
    pub nic_cable: u32,
    /// A T0.
    pub t0: u32,
    /// A cable between a T0 and a T1.
    pub uplink: Option<u32>,
    /// A T1.
    pub t1: Option<u32>,
    /// A T2, for traffic between zones.
    pub t2: Option<u32>,
}

impl Design<'_> {
    /// Returns the bandwidth between two halves of the NICs in one direction, in Gb/s.
    pub fn bisection(&self) -> u64 {
        let above = |tier: &Tier<'_>| u64::from(tier.switches) * tier.up.map_or(0, Side::mbps);
        let nics = u64::from(self.places()) * u64::from(self.planes) * u64::from(self.port_speed.mbps());
        let narrowest = if self.has_t1() { nics.min(above(&self.t0)) } else { nics };
        let narrowest = self.third.as_ref().map_or(narrowest, |_| narrowest.min(above(&self.t1)));
        narrowest / 2 / 1000
    }

    /// Returns the paths between two NICs that are farthest apart.
    pub fn paths(&self) -> u64 {
        let up = |tier: &Tier<'_>| tier.up.map_or(1, |up| u64::from(up.count));
        u64::from(self.planes) * up(&self.t0) * up(&self.t1)
    }

    /// Returns the loss by one failure of each kind.
    pub fn losses(&self) -> Losses {
        let plane = WHOLE / u32::from(self.planes);
        let t2s = self.third.as_ref().map(|third| third.tier.switches / u32::from(self.planes));
        Losses {
            nic_cable: plane,
            t0: plane,
            uplink: self.t0.up.map(|up| plane / up.count.max(1)),
            t1: self.t1_loss(),
            t2: t2s.map(|t2s| plane / t2s.max(1)),
        }
    }

    /// Returns the rack units of all switches.
    ///
    /// # Errors
    ///
    /// The platforms whose height no source publishes.
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
