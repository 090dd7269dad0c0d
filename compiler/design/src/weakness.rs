//! Weaknesses of a design that its fabric file accepts explicitly.
//!
//! In: a design. Out: [`Weakness`]es. Invariants: each is a warning that follows from the software of the
//! switches, not from counts. The file allows it with a comment, and listings print it.

use closc_platform::capability::{Capability, Support};

use crate::design::Design;

/// A weakness that the design accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Weakness {
    /// Switches hash flows without their queue pair.
    Hashed,
    /// BGP gives paths equal shares even after some of several parallel cables failed.
    Uneven,
}

impl Weakness {
    /// Returns the warning that the file allows.
    pub fn code(self) -> &'static str {
        match self {
            Weakness::Hashed => "W0901",
            Weakness::Uneven => "W0906",
        }
    }

    /// Returns the weakness as a message.
    pub fn text(self) -> &'static str {
        match self {
            Weakness::Hashed => {
                "switches hash flows without their queue pair: let hosts use several UDP source ports"
            }
            Weakness::Uneven => "BGP keeps equal shares on paths with failed cables",
        }
    }
}

impl Design<'_> {
    /// Returns the weaknesses of the design.
    pub fn weaknesses(&self) -> Vec<Weakness> {
        let hashes = self.has_t1()
            && !self.routing.is_source_routed()
            && self.tiers().any(|tier| !tier.platform.features.qp_hash);
        let can_be_uneven = self.third.is_some() || self.parallel > 1;
        let weighs = !matches!(self.os.support(Capability::Bandwidths), Support::Not(_));
        let is_uneven = self.routing.speaks_bgp() && can_be_uneven && !weighs;
        let all = [(hashes, Weakness::Hashed), (is_uneven, Weakness::Uneven)];
        all.into_iter().filter_map(|(applies, weakness)| applies.then_some(weakness)).collect()
    }
}
