//! Enumerations of the language, such as wiring and the generated host files.
//!
//! Invariants: meanings are methods that match every word, so a new word does not compile before it has a
//! meaning.

use closc_platform::Balance;
use schemars::JsonSchema;
use serde::Serialize;

use crate::coordinate::TierId;

/// Generated files for hosts besides path tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename_all = "kebab-case")]
pub enum HostOs {
    /// Path tables only.
    None,
    /// Kernel SRv6 by `ip -batch` and sysctls, one folder per node.
    Linux,
}

/// Files for a node that has its own kernel, NIC driver and NCCL.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[schemars(rename_all = "kebab-case")]
pub enum HostOutput {
    /// Quality of service of the NICs: `nic-qos.sh`.
    Nic,
    /// Addresses, tables and rules for netplan.
    Netplan,
    /// The same as systemd-networkd units, and interface names.
    Networkd,
    /// Environment and topology of NCCL, backup ports of VCCL.
    Nccl,
    /// Settings of `closc-nic`, the agent of a NIC that sprays and probes.
    Agent,
}

impl HostOutput {
    /// All of them, in the order of the language.
    pub const ALL: [HostOutput; 5] =
        [HostOutput::Nic, HostOutput::Netplan, HostOutput::Networkd, HostOutput::Nccl, HostOutput::Agent];

    /// Returns the word used in YAML.
    pub fn keyword(self) -> &'static str {
        match self {
            HostOutput::Nic => "nic",
            HostOutput::Netplan => "netplan",
            HostOutput::Networkd => "networkd",
            HostOutput::Nccl => "nccl",
            HostOutput::Agent => "agent",
        }
    }
}

/// Bond of the NICs of an adapter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema)]
#[schemars(rename_all = "kebab-case")]
pub enum Bond {
    /// Each NIC has its own address.
    None,
    /// One address over several T0s, by LACP.
    Lacp,
}

/// The order in which NICs need the packets of a flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, JsonSchema)]
#[schemars(rename_all = "kebab-case")]
pub enum PacketOrder {
    /// As they were sent: an overtaken packet counts as lost.
    #[default]
    Required,
    /// Any: data is placed as it arrives.
    Any,
}

impl PacketOrder {
    /// Both, in the order of the language.
    pub const ALL: [PacketOrder; 2] = [PacketOrder::Required, PacketOrder::Any];

    /// Returns the word used in YAML.
    pub fn keyword(self) -> &'static str {
        match self {
            PacketOrder::Required => "required",
            PacketOrder::Any => "any",
        }
    }

    /// Returns whether it is the default. The default is not serialised, so files without the key keep the digest that
    /// they had before the key existed.
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
    pub(crate) fn is_default(&self) -> bool {
        *self == PacketOrder::Required
    }
}

/// Wiring between T1s and T2s.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename_all = "kebab-case")]
pub enum Wiring {
    /// Every T1 reaches every T2 of its plane.
    Full,
    /// T1 number j of every zone reaches only the T2s of row j modulo the number of rows.
    Rows,
}

/// The part of an outer address that contains the plane.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename_all = "kebab-case")]
pub enum SegmentPlan {
    /// All planes share a block, and every uSID has bits for the plane.
    PlaneInUsid,
    /// Every plane has a block of its own: the stated one plus the number of the plane. uSIDs are the same in all planes.
    PlaneInBlock,
}

impl SegmentPlan {
    /// All of them, in the order of the language.
    pub const ALL: [SegmentPlan; 2] = [SegmentPlan::PlaneInUsid, SegmentPlan::PlaneInBlock];

    /// Returns the word used in YAML and in path tables.
    pub fn keyword(self) -> &'static str {
        match self {
            SegmentPlan::PlaneInUsid => "plane-in-usid",
            SegmentPlan::PlaneInBlock => "plane-in-block",
        }
    }

    /// Returns whether it is the default. The default is not serialised, so files without the key keep the digest that
    /// they had before the key existed.
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
    pub(crate) fn is_default(&self) -> bool {
        *self == SegmentPlan::PlaneInUsid
    }

    /// Returns the difference between the block numbers of consecutive planes; the block number is the first 32 bits of
    /// an address.
    pub(crate) fn step(self) -> u32 {
        match self {
            SegmentPlan::PlaneInUsid => 0,
            SegmentPlan::PlaneInBlock => 1,
        }
    }
}

/// Destinations that use one uplink while that uplink leads to them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename_all = "kebab-case")]
pub enum Pin {
    /// Nothing.
    None,
    /// Traffic to the NIC on downlink d of another T0: uplink d, modulo the number of uplinks.
    Downlink,
}

impl Pin {
    /// Returns the word used in YAML.
    pub fn keyword(self) -> &'static str {
        match self {
            Pin::None => "none",
            Pin::Downlink => "downlink",
        }
    }
}

/// Balancing that a file sets, tier by tier.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct TierBalance {
    /// On T0s.
    pub t0: Balance,
    /// On T1s.
    pub t1: Balance,
    /// On T2s.
    pub t2: Balance,
}

impl TierBalance {
    /// Returns the balancing that the file sets for a tier.
    pub fn of(self, tier: TierId) -> Balance {
        match tier {
            TierId::T0 => self.t0,
            TierId::T1 => self.t1,
            TierId::T2 => self.t2,
        }
    }

    /// Returns whether all tiers hash, which is the default and is not serialised.
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature is serde's")]
    pub(crate) fn is_default(&self) -> bool {
        *self == TierBalance::default()
    }
}

/// The side of a rack that a front panel is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Face {
    /// The front.
    Front,
    /// The rear, where nodes have their network ports.
    Rear,
}

impl Face {
    /// Returns the word used in YAML, and by NetBox.
    pub fn keyword(self) -> &'static str {
        match self {
            Face::Front => "front",
            Face::Rear => "rear",
        }
    }
}
