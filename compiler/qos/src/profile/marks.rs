//! The ECN rule of a class at a place.
//!
//! In: a [`Profile`], one of its classes and a [`Place`]. Out: the [`Ecn`] rule. Invariants: a profile that does not
//! mark the last hop marks no class there.

use super::{Class, Profile};
use crate::ecn::Ecn;
use crate::place::Place;

impl Profile {
    /// Returns the ECN rule of a class at a place: that of the class. On the last hop it is `off` if the profile does
    /// not mark there. MRC marks everywhere except on the port to the NIC.
    pub fn ecn_rule(&self, class: &Class, place: Place) -> Ecn {
        if place == Place::LastHop && !self.ecn_last_hop() { Ecn::Off } else { class.ecn }
    }
}
