//! `hosts`: the NICs, and how they hang on the T0s.

use closc_qos::units::Speed;
use schemars::JsonSchema;

use crate::model::HostOs;
use crate::read::{Spanned, mapping, word};

/// The NICs, and how they hang on the T0s. A T0 group is the T0s of one number in all planes; they serve the
/// same NICs, each NIC on the same downlink number of all of them.
#[derive(Debug, Clone, JsonSchema)]
#[schemars(rename = "Hosts", deny_unknown_fields)]
pub struct HostsDoc {
    /// T0 groups in each zone, which is the number of T0s in each plane and zone.
    #[schemars(range(min = 1))]
    pub groups: Spanned<u16>,
    /// NICs on each T0 group, at most the downlinks of a T0.
    #[schemars(range(min = 1))]
    pub per_group: Spanned<u16>,
    /// NICs in a node. Default: 1.
    #[schemars(range(min = 1))]
    pub nics_per_node: Option<Spanned<u8>>,
    /// T0 groups that the NICs of a node are spread over. NIC k of a node hangs on group `k % rails` of its
    /// unit; a unit is `rails` consecutive groups. Divides `nics_per_node` and `groups`. Default: 1.
    #[schemars(range(min = 1))]
    pub rails: Option<Spanned<u8>>,
    /// The NIC.
    pub nic: NicDoc,
    /// What is generated for nodes besides path tables. Default: `none`.
    pub os: Option<Spanned<HostOs>>,
}

mapping!(HostsDoc {
    groups = "groups",
    per_group = "per_group",
    nics_per_node = "nics_per_node",
    rails = "rails",
    nic = "nic",
    os = "os",
});

/// The NIC.
#[derive(Debug, Clone, JsonSchema)]
#[schemars(rename = "Nic", deny_unknown_fields)]
pub struct NicDoc {
    /// Speed of the whole NIC; each plane gets an equal share.
    pub speed: Spanned<Speed>,
    /// Serial lanes of the NIC; `planes` must divide it. Default: one for each 100G.
    #[schemars(range(min = 1))]
    pub lanes: Option<Spanned<u8>>,
}

mapping!(NicDoc { speed = "speed", lanes = "lanes" });

word!(HostOs, "host target" {
    "none" => HostOs::None,
    "linux" => HostOs::Linux,
});
