//! Advantages and disadvantages of each routing mode.
//!
//! In: a routing mode, and the design with the fewest switches. Out: lines for people. Invariants: a disadvantage is the
//! reason for additional switches of this need, or a weakness of its switches.

use closc_artefacts::Routing;
use closc_platform::Os;

use crate::design::Design;
use crate::panel::accepts;

/// Returns a short description of a routing mode.
pub fn describe_routing(routing: Routing) -> &'static str {
    match routing {
        Routing::Srv6Static => "NICs write the path into each packet",
        Routing::EcmpStatic => "switches spread flows over static next-hop groups",
        Routing::BgpUnnumbered => "switches announce routes to each other",
    }
}

/// Returns its advantage.
pub fn gains(routing: Routing) -> &'static str {
    match routing {
        Routing::Srv6Static => "a NIC leaves a failed path itself, and a lost probe names the cable",
        Routing::EcmpStatic => "switches run no routing protocol",
        Routing::BgpUnnumbered => "switches withdraw the routes of failed cables and switches",
    }
}

impl Design<'_> {
    /// Returns the platforms that cannot be used with a routing under any of these operating systems, with the ports of
    /// this design.
    pub fn unusable_with(&self, routing: Routing, oses: &[Os]) -> Vec<&str> {
        let mut found: Vec<&str> = Vec::new();
        for tier in self.tiers() {
            let up = tier.up.map(|up| up.breakout);
            let is_usable = oses.iter().any(|os| {
                tier.platform.supports(*os) && accepts(tier.platform, *os, routing, tier.down.breakout, up)
            });
            if !is_usable && !found.contains(&tier.platform.id.as_str()) {
                found.push(&tier.platform.id);
            }
        }
        found
    }
}
