//! The ECN rule of a class at a position.
//!
//! In: a [`Profile`], one of its classes and a [`Place`]. Out: the [`Ecn`] rule. Invariants: a profile without marking
//! at the last hop does not mark any class there.

use super::{Class, Profile};
use crate::ecn::Ecn;
use crate::place::Place;

impl Profile {
    /// Returns the ECN rule of a class at a position. It is the rule of the class, or `off` at the last hop if the
    /// profile does not mark there. MRC marks everywhere except on the port to the NIC.
    pub fn ecn_rule(&self, class: &Class, place: Place) -> Ecn {
        if place == Place::LastHop && !self.ecn_last_hop() { Ecn::Off } else { class.ecn }
    }
}
