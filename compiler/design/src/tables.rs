//! Table entries of switches: IPv6 routes and local SIDs.
//!
//! In: a design. Out: whether a switch needs more entries than it has. Invariants: entries are counted as `E0902` and
//! `E0903` count them. With BGP, more switches never need fewer routes, so the parts of designs tell it of all of them.

use closc_artefacts::Routing;
use closc_platform::Limit;

use crate::design::{Design, Tier, links};

impl Design<'_> {
    /// Returns whether a switch needs more IPv6 routes than it has, by a published or measured limit.
    pub fn exceeds_routes(&self) -> bool {
        self.needs_more_routes(false)
    }

    /// Returns whether a switch needs more IPv6 routes or local SIDs than it is assumed to have.
    pub(crate) fn exceeds_assumed_tables(&self) -> bool {
        self.needs_more_routes(true) || self.exceeds_assumed_sids()
    }

    /// Returns whether each design with as many NICs on a T0, and at least as many switches of each tier, needs more
    /// IPv6 routes than a switch is assumed to have.
    pub(crate) fn floor_exceeds_assumed_routes(&self) -> bool {
        self.routing.speaks_bgp() && self.needs_more_routes(true)
    }

    /// The same for published or measured limits.
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

    /// Returns the IPv6 routes of a switch of a tier.
    fn routes(&self, tier: &Tier<'_>, level: u8) -> u32 {
        // A T0 has a route for each NIC, and one for the other addresses of its group.
        let own = if level == 0 { self.per_group + 1 } else { 0 };
        let zones = self.third.as_ref().map_or(1, |third| third.zones);
        match self.routing {
            Routing::Srv6Static => tier.down.count + links(tier) + 1,
            // A T1 has a route for each T0 of its zone and for each other zone.
            Routing::EcmpStatic => own + zones + if level == 1 { self.groups } else { 1 },
            Routing::BgpUnnumbered => {
                // Switches of other planes, and of other planes by NIC, are not reached.
                let networks = u32::from(self.planes) * self.planes_by_nic.max(1);
                let switches: u32 = self.tiers().map(|tier| tier.switches / networks).sum();
                own + self.t0.switches / networks + switches + 1
            }
        }
    }

    /// Returns whether a switch needs more local SIDs than it is assumed to have: one per cable to a neighbour.
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
