//! `path-tables/GROUP.json`: the path table of a T0 group, for operators and tools.
//!
//! Hosts read the binary form next to it, which the crate `closc-paths` reads and writes. Indices count from 0 where
//! they are fields of an entropy value (plane, uplinks) and from 1 where they are names (group, downlink). Invariants:
//! this module defines all fields of the file, and rejects files with unknown fields.

use std::net::Ipv6Addr;
use std::num::NonZeroU16;

use ipnet::Ipv6Net;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

/// Version of the format without [`Segments::plan`] and [`Segments::t2_rows`].
const FORMAT: &str = "closc-path-table/2";
/// Version of the format with [`Segments::plan`] or [`Segments::t2_rows`].
const FORMAT_OF_BLOCKS: &str = "closc-path-table/3";

/// The file, generic over the type of its destinations. Readers that do not need destinations use
/// [`serde::de::IgnoredAny`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Document<D = Vec<Destination>> {
    /// Version of the format.
    pub format: SmolStr,
    /// Name of the fabric.
    pub fabric: SmolStr,
    /// Zone of the group, from 0.
    pub zone: u16,
    /// The group, from 1.
    pub group: u16,
    /// Prefix of the addresses of the group's NICs.
    pub prefix: Ipv6Net,
    /// Conversion of templates to lists of uSIDs.
    pub segments: Segments,
    /// Packing of entropy values, and the number in use.
    pub entropy: Entropy,
    /// The group's T0 in each plane.
    pub planes: Vec<Plane>,
    /// The group's NICs.
    pub nics: Vec<Nic>,
    /// One entry for each T0 group of the fabric, including this one.
    pub destinations: D,
    /// Unusable elements.
    pub denied: Vec<DeniedElement>,
    /// Probes that find usable paths.
    pub probes: Vec<Probe>,
    /// Traffic classes, by the code points that hosts set.
    pub qos: Qos,
    /// Delays of the longest path, for congestion control.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delay: Option<Delay>,
}

/// Conversion of a template to a list of uSIDs: fields are added to each uSID of the template.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Segments {
    /// `plane-in-block` if the block contains the plane; absent if every uSID contains it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<InBlock>,
    /// The block before the uSIDs; with `plan`, that of plane 0.
    pub block: Ipv6Net,
    /// Number of bits of the role.
    pub role_bits: u8,
    /// Number of bits of the plane.
    pub plane_bits: u8,
    /// Number of bits of the zone.
    pub zone_bits: u8,
    /// Number of bits of the index.
    pub index_bits: u8,
    /// Codes of the roles.
    pub roles: Roles,
    /// Number of cables between a T0 and a T1.
    pub parallel_t0_t1: u16,
    /// Number of cables between a T1 and a T2.
    pub parallel_t1_t2: u16,
    /// Number of uSIDs that a T1 owns.
    pub usids_per_t1: u16,
    /// Increment of the T2's uSID per T1 uplink; this and the next field are absent without a T2 tier.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub t2_step: Option<u16>,
    /// Increment of the T2's uSID per T1 row.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub t2_row: Option<u16>,
    /// Number of T1 rows: the row of a T1 is its index modulo this number. If absent, the row is the index.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub t2_rows: Option<NonZeroU16>,
}

/// Marks a plan in which every plane has its own block: the block of plane 0 plus the plane number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum InBlock {
    /// The only value.
    #[serde(rename = "plane-in-block")]
    PlaneInBlock,
}

impl Segments {
    /// Returns the block of a plane.
    pub fn block_of(&self, plane: u8) -> Ipv6Net {
        let number = self.plan.map_or(0, |InBlock::PlaneInBlock| u128::from(plane));
        let bits = u128::from(self.block.network()).wrapping_add(number << 96);
        Ipv6Net::new_assert(bits.into(), self.block.prefix_len())
    }

    /// Returns the version of the format that has these fields.
    pub fn format(&self) -> &'static str {
        if self.plan.is_some() || self.t2_rows.is_some() { FORMAT_OF_BLOCKS } else { FORMAT }
    }
}

/// The code of each role.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Roles {
    /// Code of T0 switches.
    pub t0: u16,
    /// Code of T1 switches.
    pub t1: u16,
    /// Code of NICs.
    pub nic: u16,
    /// Code of T2 switches.
    pub t2: u16,
}

/// Packing of entropy values, and the number in use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entropy {
    /// Number of bits of a value.
    pub bits: u8,
    /// Number of bits of the T0 uplink in a value.
    pub t0_uplink_bits: u8,
    /// Number of bits of the plane in a value.
    pub plane_bits: u8,
    /// Number of bits of the T1 uplink in a value.
    pub t1_uplink_bits: u8,
    /// Number of uplinks of a T0.
    pub t0_uplinks: u16,
    /// Number of uplinks of a T1.
    pub t1_uplinks: u16,
    /// First T1 uplink of the entropy sets of the group; absent without a T2 tier.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub t1_start: Option<u16>,
    /// Number of active values per plane.
    pub active_per_plane: u16,
    /// Number of backup values per plane.
    pub backup_per_plane: u16,
    /// Minimum number of values in use, over all planes. A NIC keeps bad values in use rather than fall below it.
    pub min_active: u16,
    /// UDP destination port of the transport.
    pub udp_port: u16,
    /// Seed for the order of uplinks.
    pub seed: u64,
}

/// The T0 of the group in one plane.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plane {
    /// Number of the plane.
    #[serde(rename = "plane")]
    pub number: u8,
    /// Port of the NIC.
    pub nic_port: u8,
    /// Name of the T0.
    pub t0: SmolStr,
    /// MAC address of the T0.
    pub t0_mac: String,
    /// uSID of the T0, four hexadecimal digits.
    pub t0_usid: String,
    /// Order of uplinks. The entropy sets of each NIC are windows of this order; see `docs/hosts.md`.
    pub uplink_order: Vec<u16>,
}

/// A NIC of the group.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Nic {
    /// Name, `NODE/nicN`.
    pub name: SmolStr,
    /// Downlink of the NIC on its T0s, from 1.
    pub downlink: u16,
    /// Inner address.
    pub address: Ipv6Addr,
}

/// Paths to the NICs of a group.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Destination {
    /// Zone of the group, if the fabric has T2 switches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zone: Option<u16>,
    /// The group, from 1.
    pub group: u16,
    /// Distance: `local`, `zone` or `far`.
    pub kind: SmolStr,
    /// Prefix of the addresses of the group's NICs.
    pub prefix: Ipv6Net,
    /// The address for plane 0, uplink 0, downlink 0.
    pub template: Ipv6Addr,
}

/// An element that must not be used. Each field that is present restricts the denied paths.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeniedElement {
    /// The plane.
    pub plane: u8,
    /// Downlink of the sending NIC, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_downlink: Option<u16>,
    /// First and last T0 uplink.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub t0_uplinks: Option<(u16, u16)>,
    /// First and last T1 uplink.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub t1_uplinks: Option<(u16, u16)>,
    /// Zone of the destination.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zone: Option<u16>,
    /// Group of the destination, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<u16>,
    /// Downlink of the destination, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub downlink: Option<u16>,
    /// Reason: `absent` or `drained`.
    pub reason: SmolStr,
    /// Name of the device or cable at fault.
    pub name: SmolStr,
}

/// A probe that finds usable paths.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Probe {
    /// Tested element: `t0`, `t1` or `t2`.
    pub kind: SmolStr,
    /// The address for plane 0, uplink 0 and the NIC on downlink 0.
    pub template: Ipv6Addr,
}

/// Traffic classes, by the code points that hosts set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Qos {
    /// Name of the profile.
    pub profile: SmolStr,
    /// Maximum payload in bytes.
    pub payload_mtu: u16,
    /// The traffic classes.
    pub classes: Vec<QosClass>,
    /// Code points of trimmed packets; absent if the fabric does not trim.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trimmed: Option<TrimmedDscp>,
}

/// Code points of trimmed packets, by where they are trimmed. Trimming inside the fabric indicates a congested path,
/// and at the last hop a congested receiver.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrimmedDscp {
    /// Code point of packets trimmed inside the fabric.
    pub fabric_dscp: u8,
    /// Code point of packets trimmed at the port to the receiver.
    pub last_hop_dscp: u8,
}

/// A traffic class.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QosClass {
    /// Name of the class.
    pub name: SmolStr,
    /// DSCP values that select it.
    pub dscp: Vec<u8>,
    /// Traffic class in switches.
    pub traffic_class: u8,
    /// Whether packets of the class are trimmed if a queue is full.
    pub trim: bool,
}

/// DSCP of packets from the NIC agent, and of packets that switches trim at the port to its NIC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AgentCodes {
    /// Data of writes.
    pub data: u8,
    /// Retransmitted data of writes.
    pub retransmit: u8,
    /// Acknowledgements, probes and their answers.
    pub control: u8,
    /// Packets trimmed at the port to the receiver; `None` if the fabric does not trim.
    pub cut_at_last_hop: Option<u8>,
}

impl Qos {
    /// Returns the code points of agents. Data uses the first class that is trimmed, and retransmissions the next one.
    /// Acknowledgements use the highest class that is neither trimmed nor used for data or trimmed packets. Without
    /// trimming, data uses the first class that has a code point other than 0.
    pub fn agent_codes(&self) -> AgentCodes {
        let code = |class: &QosClass| class.dscp.first().copied();
        let mut trimmed = self.classes.iter().filter(|class| class.trim).filter_map(code);
        let plain = || self.classes.iter().filter_map(code).find(|code| *code != 0);
        let data = trimmed.next().or_else(plain).unwrap_or(0);
        let cut = self.trimmed.map_or([None; 2], |t| [Some(t.fabric_dscp), Some(t.last_hop_dscp)]);
        let free = |class: &&QosClass| {
            !class.trim && !class.dscp.iter().any(|code| cut.contains(&Some(*code)) || *code == data)
        };
        let control = self.classes.iter().filter(free).max_by_key(|class| class.traffic_class);
        AgentCodes {
            data,
            retransmit: trimmed.next().unwrap_or(data),
            control: control.and_then(code).unwrap_or(0),
            cut_at_last_hop: cut[1],
        }
    }
}

/// Delays of the longest path, for congestion control.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Delay {
    /// Round-trip time without queueing, in nanoseconds.
    pub base_rtt_ns: u64,
    /// Bandwidth-delay product of a port at full speed, in bytes.
    pub bandwidth_delay_bytes: u64,
    /// Target delay of congestion control, in nanoseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target_ns: Option<u64>,
}

/// Reason why a path table cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum DocumentError {
    /// The contents are invalid.
    #[error("{0}")]
    Parse(#[from] serde_json::Error),
    /// The version of the format is unknown.
    #[error("unknown format `{0}` of a path table")]
    Format(SmolStr),
}

impl<D: DeserializeOwned> Document<D> {
    /// Parses a path table.
    pub fn parse(bytes: &[u8]) -> Result<Self, DocumentError> {
        match serde_json::from_slice::<Self>(bytes) {
            Ok(document) if document.format == document.segments.format() => Ok(document),
            Ok(document) => Err(DocumentError::Format(document.format)),
            // A later format may have other fields, so report the unknown format instead of an unknown field.
            Err(error) => match serde_json::from_slice::<Form>(bytes) {
                Ok(form) if form.format != FORMAT && form.format != FORMAT_OF_BLOCKS => {
                    Err(DocumentError::Format(form.format))
                }
                Ok(_) | Err(_) => Err(DocumentError::Parse(error)),
            },
        }
    }
}

impl Document {
    /// Returns the bytes of the file.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = serde_json::to_vec_pretty(self).expect("a path table has only string keys");
        bytes.push(b'\n');
        bytes
    }
}

/// Fields that all versions of the format have.
#[derive(Deserialize)]
struct Form {
    format: SmolStr,
}
