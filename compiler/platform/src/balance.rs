//! Load balancing of switches: the keyword in fabric files, and the support by hardware.
//!
//! In: a keyword, or `balancing` of a catalogue file. Out: [`Balance`] and [`BalanceFact`]. Invariants: code that
//! depends on the kind matches every variant, or calls a method of [`Balance`] that does. Each fact has a source.

use std::collections::{BTreeMap, BTreeSet};

use closc_qos::units::Speed;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::capability::Capability;
use crate::{Os, Platform, Provenance};

/// The method by which a switch chooses among next hops of equal cost.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Balance {
    /// By a hash of the header, the same for all packets of a flow.
    #[default]
    Hash,
    /// The least loaded next hop, for each burst of a flow. Packets are not reordered.
    Flowlet,
    /// The least loaded next hop, for each packet.
    Adaptive,
    /// Each next hop in turn, packet by packet, regardless of load.
    Spray,
}

impl Balance {
    /// All methods, in the order of the fabric language.
    pub const ALL: [Balance; 4] = [Balance::Hash, Balance::Flowlet, Balance::Adaptive, Balance::Spray];

    /// Returns the keyword in a fabric file.
    pub fn keyword(self) -> &'static str {
        match self {
            Balance::Hash => "hash",
            Balance::Flowlet => "flowlet",
            Balance::Adaptive => "adaptive",
            Balance::Spray => "spray",
        }
    }

    /// Returns whether packets of one flow use several paths at the same time, and may arrive out of order.
    pub fn reorders(self) -> bool {
        match self {
            Balance::Hash | Balance::Flowlet => false,
            Balance::Adaptive | Balance::Spray => true,
        }
    }

    /// Returns the capability that the method requires of an operating system. A hash needs no configuration.
    pub fn capability(self) -> Option<Capability> {
        match self {
            Balance::Hash => None,
            Balance::Flowlet => Some(Capability::Flowlets),
            Balance::Adaptive => Some(Capability::Adaptive),
            Balance::Spray => Some(Capability::Spraying),
        }
    }
}

/// Support for load balancing, by operating system and method.
pub type Balancing = BTreeMap<Os, BTreeMap<Balance, BalanceFact>>;

/// Support of a platform for one method of load balancing.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BalanceFact {
    /// Supported port speeds; all speeds if absent.
    #[serde(default)]
    pub speeds: Option<BTreeSet<Speed>>,
    /// Source. If it is `assumed`, a fabric that uses this balancing causes a warning.
    pub source: Provenance,
}

impl Platform {
    /// Returns the support for a method beyond a hash. `None` if the platform does not support it under this operating
    /// system, or if closc does not render it for this system.
    pub fn balance(&self, balance: Balance, os: Os) -> Option<&BalanceFact> {
        let rendered = balance.capability().is_some_and(|capability| os.renders(capability));
        self.balancing.get(&os)?.get(&balance).filter(|_| rendered && self.supports(os))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Catalogue;

    #[test]
    fn words_of_balances_are_those_of_files() {
        for balance in Balance::ALL {
            assert_eq!(serde_json::to_value(balance).unwrap(), balance.keyword());
            assert_eq!(balance.capability().is_none(), balance == Balance::Hash);
        }
    }

    #[test]
    fn facts_are_about_systems_of_the_platform_that_render_them() {
        let mut facts = 0;
        for platform in Catalogue::builtin().iter() {
            for (os, kinds) in &platform.balancing {
                for balance in kinds.keys() {
                    assert!(platform.balance(*balance, *os).is_some(), "{} {os:?} {balance:?}", platform.id);
                    facts += 1;
                }
            }
        }
        assert!(facts >= 8, "{facts}");
    }
}
