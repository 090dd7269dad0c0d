//! The bill of a design, item by item.
//!
//! In: a design. Out: a [`Bill`]. Invariants: each product is one item. A cage with several ports counts
//! once.

use smol_str::SmolStr;

use crate::design::Design;

/// One kind of product to buy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// Name: a platform, or a kind of port with its speed.
    pub name: SmolStr,
    /// Number of units.
    pub count: u64,
}

/// Everything to buy for a design.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bill {
    /// Switches by model, then cables and modules.
    pub items: Vec<Item>,
}

/// Name of the cables between NICs and T0s.
pub(crate) const NIC_CABLES: &str = "cable nic-t0";

/// Name of the cables between switches.
pub(crate) const FABRIC_CABLES: &str = "cable switch-switch";

/// Name of the modules in switch cages that terminate cables to other switches.
pub(crate) const MODULES: &str = "module switch-switch";

/// Items that are not switches.
pub(crate) const PARTS: [&str; 3] = [NIC_CABLES, FABRIC_CABLES, MODULES];

impl Design<'_> {
    /// Returns the bill of the design.
    pub fn bill(&self) -> Bill {
        let mut items: Vec<Item> = Vec::new();
        for (name, count) in self.items() {
            match items.iter_mut().find(|item| item.name == name) {
                Some(item) => item.count += count,
                None => items.push(Item { name: name.into(), count }),
            }
        }
        Bill { items }
    }

    /// Returns the names and counts of the items. A switch that is used in two tiers is included twice.
    pub(crate) fn items(&self) -> impl Iterator<Item = (&str, u64)> {
        let tiers = self.tiers().map(|tier| (tier.platform.id.as_str(), u64::from(tier.switches)));
        let nic_ports = self.nic_cables();
        let others = [(NIC_CABLES, nic_ports), (FABRIC_CABLES, self.cables()), (MODULES, self.modules())];
        tiers.chain(others.into_iter().filter(|(_, count)| *count > 0))
    }
}
