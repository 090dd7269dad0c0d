//! Table entries of switches: IPv6 routes and local SIDs.
//!
//! In: a design. Out: whether a switch needs more entries than it supports. Invariants: entries are counted
//! in the same way as for `E0902` and `E0903`. With BGP, more switches never need fewer routes. So a result
//! for common parts holds for every design with these parts.

use closc_artefacts::Routing;
use closc_platform::Limit;

use crate::design::{Design, Tier, links};

impl Design<'_> {
    /// Returns whether a switch needs more IPv6 routes than a published or measured limit.
    pub fn exceeds_routes(&self) -> bool {
        self.needs_more_routes(false)
    }

    /// Returns whether a switch needs more IPv6 routes or local SIDs than an assumed limit.
    pub(crate) fn exceeds_assumed_tables(&self) -> bool {
        self.needs_more_routes(true) || self.exceeds_assumed_sids()
    }

    /// Returns whether an assumed limit on IPv6 routes is exceeded in this and every larger design. A larger
    /// design has the same number of NICs on a T0, and at least as many switches in each tier.
    pub(crate) fn floor_exceeds_assumed_routes(&self) -> bool {
        self.routing.speaks_bgp() && self.needs_more_routes(true)
    }

    /// Like [`Self::floor_exceeds_assumed_routes`], for published or measured limits.
    pub(crate) fn floor_exceeds_routes(&self) -> bool {
        self.routing.speaks_bgp() && self.exceeds_routes()
    }

    fn needs_more_routes(&self, is_assumed: bool) -> bool {
        self.tiers().zip(0..).any(|(tier, level)| {
            let limits = &tier.platform.limits;
            limits.assumption(Limit::Ipv6Routes).is_some() == is_assumed
                && self.routes(tier, level) > limits.ipv6_routes
        })
    }

    /// Returns the number of IPv6 routes of a switch of a tier.
    fn routes(&self, tier: &Tier<'_>, level: u8) -> u32 {
        // A T0 has a route for each NIC, and one for the other addresses of its group.
        let own = if level == 0 { self.per_group + 1 } else { 0 };
        let zones = self.third.as_ref().map_or(1, |third| third.zones);
        match self.routing {
            Routing::Srv6Static => tier.down.count + links(tier) + 1,
            // A T1 has a route for each T0 of its zone and for each other zone.
            Routing::EcmpStatic => own + zones + if level == 1 { self.groups } else { 1 },
            Routing::BgpUnnumbered => {
                // Routes do not lead to switches of other planes or of other planes by NIC.
                let networks = u32::from(self.planes) * self.planes_by_nic.max(1);
                let switches: u32 = self.tiers().map(|tier| tier.switches / networks).sum();
                own + self.t0.switches / networks + switches + 1
            }
        }
    }

    /// Returns whether a switch needs more local SIDs than an assumed limit: one for each parallel cable to a
    /// neighbour.
    fn exceeds_assumed_sids(&self) -> bool {
        let above = self.third.as_ref().map_or(1, |third| third.parallel);
        let sids = [self.parallel, self.parallel.max(above), above];
        self.routing.is_source_routed()
            && self.tiers().zip(sids).any(|(tier, sids)| {
                let limits = &tier.platform.limits;
                limits.assumption(Limit::MySids).is_some() && sids > limits.my_sids
            })
    }
}
