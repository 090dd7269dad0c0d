//! Values of a fabric that readers of the tree need to check the contents of its files.
//!
//! Invariants: values are given per kind of switch. The size of a profile therefore does not grow with the fabric,
//! except for [`StatedValues::management`], which lists single switches.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use ipnet::IpNet;
use serde::{Deserialize, Serialize};

use crate::address::Prefix;

/// Stated values of a fabric.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct StatedValues {
    /// Switches by tier and hardware.
    pub switches: Vec<StatedSwitch>,
    /// Traffic classes, and their treatment in switches.
    pub qos: StatedQos,
    /// Timers of BGP sessions, if switches use BGP.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sessions: Option<BgpTimers>,
    /// Settings of NIC drivers and collective libraries, if the tree contains files for them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hosts: Option<StatedHosts>,
    /// Cables by kind: all lengths and media of the fabric.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub cables: BTreeSet<StatedCable>,
    /// Address pools of switches and cables.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub addresses: Option<StatedAddresses>,
    /// Management ports from a list instead of a pool, by switch name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub management: BTreeMap<String, StatedManagement>,
    /// Planned neighbours and cables of switches, without exceptions, for routing modes where switches choose the path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wiring: Option<StatedWiring>,
    /// Whether switches have the access list of isolated ports, if their operating system supports it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub isolation: bool,
}

/// Planned neighbours and cables of switches, without exceptions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatedWiring {
    /// Number of cables between a T0 and a T1.
    pub t0_t1: u16,
    /// Number of cables between a T1 and a T2; 0 without T2s.
    pub t1_t2: u16,
    /// Number of T2s above a T1.
    pub t2s_above: u16,
    /// Number of T1s of one zone below a T2.
    pub t1s_below: u16,
}

/// Address pools, and the coordinates from which addresses are computed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatedAddresses {
    /// The pool of both ends of every cable.
    pub links: Prefix,
    /// The pool of loopbacks.
    pub loopbacks: Prefix,
    /// The pool of management addresses, if switches have any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub management: Option<IpNet>,
    /// The gateway of the management network.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gateway: Option<IpAddr>,
    /// Number of parallel cables between a T0 and a T1, if there are several and they have addresses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub t0_t1: Option<u16>,
    /// Number of parallel cables between a T1 and a T2, if there are several and they have addresses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub t1_t2: Option<u16>,
    /// Number of T2 rows, if there are several and cables to T2s have addresses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows: Option<u16>,
    /// Widths of zone and index in IPv4 management addresses, if the fabric file sets them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub widths: Option<StatedManagementWidths>,
    /// Widths of coordinates, if a pool is IPv4 and addresses in it are computed from coordinates.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ipv4: Option<StatedWidths>,
    /// Position of each T0 uplink on the panel, from 0, if it differs from the number of the uplink. Addresses of the
    /// cables contain this position.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub t0_places: Vec<u16>,
}

/// Widths of coordinates in IPv4 management addresses, in bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatedManagementWidths {
    /// Width of the zone.
    pub zone: u8,
    /// Width of the index, which is below the zone.
    pub index: u8,
}

/// Widths of coordinates in IPv4 addresses, in bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatedWidths {
    /// Width of a plane.
    pub plane: u8,
    /// Width of a zone, whose number is mirrored: it starts at the highest bit.
    pub zone: u8,
    /// Width of a downlink of a T0.
    pub downlink: u8,
    /// Widths of an uplink of a T0 and of a T1.
    pub uplinks: [u8; 2],
}

/// A listed management port.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatedManagement {
    /// Address of the port, with the prefix length.
    pub address: IpNet,
    /// The gateway of the subnet.
    pub gateway: IpAddr,
}

/// Cables of the same kind, length and medium.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct StatedCable {
    /// Kind of connection, as in cable lists.
    pub kind: String,
    /// Length in whole metres.
    pub meters: u64,
    /// Medium of the cables.
    pub medium: String,
}

/// Settings of NIC drivers and collective libraries, besides traffic classes.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct StatedHosts {
    /// The pool of NIC addresses.
    pub reach: String,
    /// Queue pairs per connection.
    pub queue_pairs: u16,
    /// Whether NICs with the same number share a T0.
    pub has_rails: bool,
    /// NICs of each adapter, if there are several. These NICs share transceivers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nics_per_adapter: Option<u8>,
    /// Whether switches reorder packets, and NICs accept them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reorders: bool,
    /// The code point of data.
    pub data_dscp: u8,
    /// The code point of clear-to-send messages, if they have a class.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clear_to_send_dscp: Option<u8>,
    /// Congestion notifications, if DCQCN is used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notifications: Option<StatedNotifications>,
}

/// Congestion notifications of DCQCN.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct StatedNotifications {
    /// Code point of the notifications.
    pub dscp: u8,
    /// Priority of the notifications.
    pub priority: u8,
    /// Priorities for which DCQCN is enabled.
    pub governed: Vec<u8>,
}

/// Timers of BGP sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct BgpTimers {
    /// Seconds between keepalives.
    pub keepalive_s: u16,
    /// Hold time: seconds of silence after which a session is down.
    pub hold_s: u16,
    /// Seconds between connection attempts.
    pub connect_s: u16,
    /// Seconds between updates to one neighbour.
    pub announce_s: u16,
    /// Seconds that neighbours keep forwarding while the daemon restarts (RFC 4724).
    pub restart_s: u16,
    /// Seconds after which routes that a restarted neighbour has not announced again are removed.
    pub stale_s: u16,
    /// Minutes until a session that exceeded its maximum number of prefixes is restarted.
    pub retry_min: u16,
    /// Milliseconds between BFD packets, in both directions (RFC 5880).
    pub bfd_interval_ms: u32,
    /// BFD detection multiplier: number of lost packets after which the session is down.
    pub bfd_multiplier: u8,
}

/// Switches of one tier and hardware platform.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct StatedSwitch {
    /// Tier.
    pub tier: String,
    /// Operating system.
    pub os: String,
    /// SONiC hwsku, or platform ID.
    pub hardware: String,
    /// SONiC's platform name, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub platform: Option<String>,
    /// Shared buffer of the switch; absent without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub buffer: Option<StatedBuffer>,
    /// Limit of a lossless queue in bytes, if one static egress pool holds all queues; absent with dynamic pools.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lossless_queue_bytes: Option<u64>,
    /// PFC watchdog. Its times depend on the number of ports.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub watchdog: Option<StatedWatchdog>,
    /// Packet trimming, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trimming: Option<StatedTrimming>,
    /// Load balancing over next hops; absent if the switch hashes flows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub balance: Option<StatedBalance>,
    /// Whether the release lets ports negotiate unless the configuration states otherwise; false without copper cables.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub negotiates: bool,
    /// Whether the driver lets ports negotiate unless the configuration has `autoneg: off`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub states_autoneg: bool,
    /// Ports with a cable.
    pub ports: Vec<StatedPort>,
}

/// Load balancing over next hops, other than by hash.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct StatedBalance {
    /// Kind of load balancing, as in fabric files.
    pub kind: String,
    /// Maximum number of next-hop groups that the switch balances.
    pub groups: u64,
}

/// The buffer of a switch. Pools are computed from it and the cables of the switch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, Hash)]
pub struct StatedBuffer {
    /// Total size, in whole cells.
    pub total_bytes: u64,
    /// Size without reservations, in bytes.
    pub free_bytes: u64,
    /// Size of a cell, the allocation unit, in bytes.
    pub cell_bytes: u64,
    /// Oversubscription of the shared headroom pool: the headroom of all groups divided by the size of the pool.
    pub headroom_ratio: u32,
    /// Headroom outside of the shared pool in bytes, per port with a cable.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub private_bytes: u64,
    /// Whether ports also have a limit in each pool (NVIDIA).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub bounds_ports: bool,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
fn is_zero(bytes: &u64) -> bool {
    *bytes == 0
}

/// Ports of one direction, speed and cable length.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct StatedPort {
    /// Whether the other end is nearer to the NICs.
    pub down: bool,
    /// Speed in Mb/s.
    pub speed_mbps: u32,
    /// Number of serial lanes.
    pub lanes: u8,
    /// MTU in bytes.
    pub mtu: u16,
    /// Length of the cable in whole metres.
    pub meters: u64,
    /// Bytes of headroom per lossless group.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub headroom_bytes: Option<u64>,
    /// Bytes reserved per lossless group, headroom included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reserved_bytes: Option<u64>,
    /// Bytes that each lossless group takes from the headroom pool, in addition to its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pooled_bytes: Option<u64>,
    /// Point at which a paused group resumes: bytes left in the group, and bytes below the threshold on ASICs with that
    /// setting.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resumes: Option<(u64, Option<u64>)>,
    /// ECN thresholds per queue: minimum and maximum in bytes, and the percentage of marked packets just below the
    /// maximum. On P4 targets, they are per class by rank, in packets and parts per million.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub marks: BTreeMap<u8, (u64, u64, u64)>,
    /// Queues that do not drop packets without ECN between the thresholds.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub marks_alone: BTreeSet<u8>,
    /// Queue length in packets above which P4 targets trim.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trim_packets: Option<u64>,
    /// Classes in which P4 targets police NICs: rate in bytes per second and burst in bytes, then code point, class and
    /// queue of excess packets.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub nic_classes: BTreeMap<u8, [u64; 5]>,
    /// Rate limit of packets from this port to the controller, on P4 targets: packets per second and burst in packets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub punts: Option<(u64, u64)>,
    /// Queues whose ECN thresholds depend on the shared pool, each with the pool size for which the thresholds are
    /// given. The thresholds of all other queues are exact.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub marks_by_room: BTreeMap<u8, u64>,
}

/// Packet trimming.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct StatedTrimming {
    /// Size of trimmed packets, in bytes.
    pub size_bytes: u64,
    /// Queue of trimmed packets on the switch that trims.
    pub queue: u8,
    /// Whether the ASIC clears the code point of packets whose class is missing in the class-to-DSCP map of the port.
    /// If so, every class needs an entry.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub maps_classes: bool,
}

/// Traffic classes, and their treatment in switches.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct StatedQos {
    /// Name of the profile.
    pub name: String,
    /// Traffic class of each code point.
    pub dscp: Vec<u8>,
    /// Classes in ascending order of traffic class.
    pub classes: Vec<StatedClass>,
    /// Code points of packets trimmed inside the fabric and at the last hop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trimmed: Option<(u8, u8)>,
}

/// A traffic class.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct StatedClass {
    /// Number of the traffic class.
    pub tc: u8,
    /// Queue of the class.
    pub queue: u8,
    /// Priority group of the class.
    pub group: u8,
    /// Scheduler weight; absent for strict priority.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weight: Option<u8>,
    /// Priority on hosts, if it differs from the traffic class.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<u8>,
    /// The PFC priority; absent for lossy classes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pauses: Option<u8>,
    /// Whether packets are trimmed when the queue is full.
    pub trims: bool,
    /// Dynamic threshold of the group in the ingress pool, as an exponent of two.
    pub ingress_th: String,
    /// Dynamic threshold of the queue in the egress pool, as an exponent of two.
    pub egress_th: String,
}

/// PFC watchdog settings.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct StatedWatchdog {
    /// Action on a deadlock.
    pub action: String,
    /// Minimum detection time in milliseconds.
    pub detection_ms: u64,
    /// Minimum restoration time in milliseconds.
    pub restoration_ms: u64,
    /// Polling interval in milliseconds.
    #[serde(default)]
    pub poll_ms: u64,
}
