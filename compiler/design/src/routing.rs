//! Advantages and disadvantages of each routing mode.
//!
//! In: a routing mode, and the design with the fewest switches. Out: display text. Invariants: a disadvantage
//! is either the reason for additional switches with these requirements, or a weakness of the switches.

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

/// Returns the advantage of a routing mode.
pub fn gains(routing: Routing) -> &'static str {
    match routing {
        Routing::Srv6Static => "a NIC leaves a failed path itself, and a lost probe names the cable",
        Routing::EcmpStatic => "switches run no routing protocol",
        Routing::BgpUnnumbered => "switches withdraw the routes of failed cables and switches",
    }
}

impl Design<'_> {
    /// Returns the platforms that do not support a routing mode with the ports of this design, under any of
    /// these operating systems.
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
