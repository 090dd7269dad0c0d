//! Growth of a design in stages, without moving a plugged cable.
//!
//! In: the design of the first stage, and the number of NICs of each stage. Out: the design of each stage.
//! Invariants: a stage has every switch and cable of the previous one. All switches of the highest tier exist
//! from the first stage. A single tier grows by more NICs on its T0s.

use crate::design::{Design, Side, ThirdTier, Tier};
use crate::need::Requirements;

impl<'a> Design<'a> {
    /// Returns the design with places for `nics` NICs: more NICs on a single tier, more T0s on the T1s, or
    /// more zones under the T2s. Returns `None` if these switches have too few ports.
    #[must_use]
    pub fn grow(&self, nics: u32, need: &Requirements) -> Option<Design<'a>> {
        let mut grown = Design { nics, ..self.clone() };
        let planes = u32::from(self.planes);
        match &self.third {
            None if !self.has_t1() => {
                let per_rail = nics.div_ceil(self.zones()).next_multiple_of(need.nics_per_t0().max(1));
                let per_rail = per_rail.max(self.per_group);
                grown.per_group = per_rail;
                grown.t0.down.count = per_rail;
                fits(&grown.t0).then_some(grown)
            }
            None => {
                let rails = u32::from(need.rails.max(1));
                let unit = self.unit.max(1);
                let units = nics.div_ceil(self.per_group * rails).max(self.groups / unit);
                grown.groups = units * unit;
                grown.t0.switches = planes * grown.groups * self.planes_by_nic;
                grown.t1.down.count = grown.groups * self.parallel;
                fits(&grown.t1).then_some(grown)
            }
            Some(third) => {
                let zones = nics.div_ceil(self.groups * self.per_group).max(third.zones);
                let count = zones * third.ports_per_zone;
                let tier = Tier { down: Side { count, ..third.tier.down }, ..third.tier.clone() };
                grown.t0.switches = planes * zones * self.groups;
                grown.t1.switches = planes * zones * self.t1s();
                let has_ports = fits(&tier);
                grown.third = Some(ThirdTier { tier, zones, ..third.clone() });
                has_ports.then_some(grown)
            }
        }
    }
}

fn fits(tier: &Tier<'_>) -> bool {
    let (used, all) = tier.cages();
    used <= all
}
