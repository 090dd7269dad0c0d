//! The sizes of smaller zones, as the file states them.
//!
//! In: `hosts.groups_by_zone` and `hosts.per_group_by_zone`. Out: the field that makes a T0 or NIC absent.
//! Invariants: these elements are also in [`Exceptions`](crate::Exceptions). The fields only serve to show the reason
//! in the file.

use std::collections::BTreeMap;

use crate::coordinate::{Nic, Switch, TierId, ZoneId};
use crate::field;
use crate::field::Field;

/// T0 groups, and NICs of a group, in zones that have fewer than others.
#[derive(Debug, Clone, Default)]
pub struct ZoneSizes {
    pub(crate) groups: BTreeMap<ZoneId, u16>,
    pub(crate) per_group: BTreeMap<ZoneId, u16>,
}

impl ZoneSizes {
    /// Returns the field that makes a switch absent, if its zone has fewer T0 groups.
    pub fn field_of_switch(&self, switch: Switch) -> Option<Field> {
        (switch.tier == TierId::T0 && self.lacks_group(switch.zone, switch.index))
            .then_some(field!("hosts.groups_by_zone"))
    }

    /// Returns the field that makes a NIC absent, if its zone has fewer T0 groups or fewer NICs in a group.
    pub fn field_of_nic(&self, nic: Nic) -> Option<Field> {
        if self.lacks_group(nic.zone, nic.group) {
            return Some(field!("hosts.groups_by_zone"));
        }
        let nics = self.per_group.get(&nic.zone)?;
        (nic.downlink >= *nics).then_some(field!("hosts.per_group_by_zone"))
    }

    fn lacks_group(&self, zone: ZoneId, group: u16) -> bool {
        self.groups.get(&zone).is_some_and(|groups| group >= *groups)
    }
}
