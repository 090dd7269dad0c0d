//! Load balancing of switches, tier by tier.
//!
//! In: the balancing that a file sets for each tier. Out: the balancing of its switches, and the number of next-hop
//! groups they need. Invariants: a tier whose switches have only one next hop per destination is not configured for
//! balancing.

use closc_platform::Balance;

use crate::coordinate::TierId;
use crate::model::Topology;

/// Numbers that decide which switches have several next hops.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Choices {
    /// Number of T0 groups in each zone.
    pub(crate) groups: u64,
    /// Number of zones that switches join.
    pub(crate) zones: u64,
    /// Uplinks of a T0 and of a T1.
    pub(crate) uplinks: [u64; 2],
    /// Parallel links between a T0 and a T1.
    pub(crate) t0_parallel: u64,
    /// Links between a T2 and a zone.
    pub(crate) zone_links: u64,
}

impl Choices {
    /// Returns the number of next-hop groups of a switch: with all cables in place, and the maximum after
    /// failures, when each destination has its own group.
    pub(crate) fn groups(self, tier: TierId) -> (u64, u64) {
        let several = |links: u64, destinations: u64| if links > 1 { destinations } else { 0 };
        let (local, far) = (self.groups.saturating_sub(1), self.zones.saturating_sub(1));
        match tier {
            TierId::T0 => {
                let most = several(self.uplinks[0], local + far);
                (most.min(1), most)
            }
            TierId::T1 => {
                let (up, down) = (several(self.uplinks[1], far), several(self.t0_parallel, self.groups));
                (up.min(1) + down, up + down)
            }
            TierId::T2 => {
                let down = several(self.zone_links, self.zones);
                (down, down)
            }
        }
    }
}

impl Topology {
    /// Returns how switches of a tier choose among next hops: by hash if they have only one, or if hosts choose the
    /// path.
    pub fn balance(&self, tier: TierId) -> Balance {
        let has_choice = !self.routing.is_source_routed() && self.next_hop_groups(tier) > 0;
        if has_choice { self.ecmp.balance.of(tier) } else { Balance::Hash }
    }

    /// Returns the maximum number of next-hop groups of a switch of a tier, after any failures.
    pub fn next_hop_groups(&self, tier: TierId) -> u64 {
        self.choices().groups(tier).1
    }

    /// Returns whether packets of a flow can arrive out of order, because a switch sends them over several paths.
    pub fn reorders(&self) -> bool {
        TierId::ALL.into_iter().any(|tier| self.balance(tier).reorders())
    }

    fn choices(&self) -> Choices {
        let has_t2 = self.t2.is_some();
        let below = self.t1s_below(0).count() as u64 * u64::from(self.t1.parallel);
        Choices {
            groups: self.hosts.groups.into(),
            zones: if has_t2 { self.zones.into() } else { 1 },
            uplinks: [if self.has_t1() { self.t0.up.count.into() } else { 0 }, self.t1.up.count.into()],
            t0_parallel: if self.has_t1() { self.t0.parallel.into() } else { 0 },
            zone_links: if has_t2 { below } else { 0 },
        }
    }
}
