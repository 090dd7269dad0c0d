//! Links by name, and which upper switch an uplink leads to.
//!
//! In: a lower switch and its uplink, or a name such as `p3-t0-017--p3-t1-005#2`. Out: the upper switch, or the
//! link. Always: parallel links lie side by side, uplink `u` of k parallel ones leads to upper neighbour
//! `u / k` over its link `u % k`, so that a new neighbour moves no uplink.

use crate::coordinate::{Link, Switch, TierId, ZoneId};
use crate::model::{Topology, Wiring};
use crate::naming::LINK_SEPARATOR;

impl Topology {
    /// Returns the switch at the upper end of an uplink and the number of the link among the parallel ones,
    /// from 0; nothing at the top tier or past the last uplink.
    pub fn upper(&self, lower: Switch, up: u16) -> Option<(Switch, u16)> {
        let tier = self.tier(lower.tier)?;
        if up >= tier.up.count {
            return None;
        }
        let (step, parallel) = (up / tier.parallel, up % tier.parallel);
        let upper = match lower.tier {
            TierId::T0 => Switch { tier: TierId::T1, index: step, ..lower },
            TierId::T1 => {
                let index = match self.t2_wiring {
                    Wiring::Full => step,
                    Wiring::Rows => step * self.t2_rows + lower.index,
                };
                Switch { plane: lower.plane, tier: TierId::T2, zone: ZoneId(0), index }
            }
            TierId::T2 => return None,
        };
        Some((upper, parallel))
    }

    /// Returns the uplink of a switch that leads to `upper` over parallel link `parallel` (from 0); nothing if
    /// there is none.
    pub fn uplink(&self, lower: Switch, upper: Switch, parallel: u16) -> Option<u16> {
        let tier = self.tier(lower.tier)?;
        let step = match (lower.tier, self.t2_wiring) {
            (TierId::T1, Wiring::Rows) => upper.index / self.t2_rows,
            (TierId::T0 | TierId::T1 | TierId::T2, _) => upper.index,
        };
        let up = step.checked_mul(tier.parallel)?.checked_add(parallel)?;
        (self.upper(lower, up)? == (upper, parallel)).then_some(up)
    }

    /// Returns the name of a link: its two switches, with the number of the link where there are several
    /// (`p3-t0-017--p3-t1-005#2`), or the NIC port of a host cable (`su017-n004/nic2.p3`).
    ///
    /// Returns nothing for a link that the fabric does not have.
    pub fn link_name(&self, link: Link) -> Option<String> {
        match link {
            Link::Host(port) => {
                let (node, nic) = self.node_of(port.nic);
                Some(self.naming.nic_port(node, nic, port.plane))
            }
            Link::Fabric { lower, up } => {
                let (upper, parallel) = self.upper(lower, up)?;
                let number = match parallel {
                    0 => String::new(),
                    more => format!("#{}", more + 1),
                };
                let (lower, upper) = (self.naming.switch(lower), self.naming.switch(upper));
                Some(format!("{lower}{LINK_SEPARATOR}{upper}{number}"))
            }
        }
    }
}
