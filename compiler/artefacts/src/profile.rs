//! Statements about a fabric, so that readers of the tree know the required contents of its files.
//!
//! Invariants: numbers of one switch of each kind, so a profile is as long for a fabric of any size.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use ipnet::IpNet;
use serde::{Deserialize, Serialize};

use crate::address::Prefix;

/// Statements about a fabric.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Stated {
    /// Switches by tier and hardware.
    pub switches: Vec<StatedSwitch>,
    /// Treatment of packets of each class by switches.
    pub qos: StatedQos,
    /// Timers of BGP sessions, where switches use BGP.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sessions: Option<BgpTimers>,
    /// Settings of NIC drivers and collective libraries, where files are written for them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hosts: Option<StatedHosts>,
    /// Cables by kind: of every length and medium that the fabric has.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub cables: BTreeSet<StatedCable>,
    /// Where addresses of switches and cables come from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub addresses: Option<StatedAddresses>,
    /// Management ports that a list gives instead of a pool, by the name of the switch.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub management: BTreeMap<String, StatedManagement>,
    /// Neighbours and cables of switches where nothing is absent, where switches choose the way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wiring: Option<StatedWiring>,
}

/// Neighbours and cables of switches where nothing is absent: what is left is a part of that.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatedWiring {
    /// Cables between a T0 and a T1.
    pub t0_t1: u16,
    /// Cables between a T1 and a T2; 0 without T2s.
    pub t1_t2: u16,
    /// T2s above a T1.
    pub t2s_above: u16,
    /// T1s of one zone below a T2.
    pub t1s_below: u16,
}

/// The pools of addresses, and the numbers by which an address says whose it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatedAddresses {
    /// The pool of both ends of every cable.
    pub links: Prefix,
    /// The pool of loopbacks.
    pub loopbacks: Prefix,
    /// The pool of management addresses, where switches have any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub management: Option<IpNet>,
    /// The gateway of the management network.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gateway: Option<IpAddr>,
    /// Cables between a T0 and a T1, where they have addresses and are several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub t0_t1: Option<u16>,
    /// The same between a T1 and a T2.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub t1_t2: Option<u16>,
    /// Rows of T2s, where cables to them have addresses and there are several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows: Option<u16>,
    /// Bits of zone and index in IPv4 management addresses, where the fabric file states them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub widths: Option<StatedManagementWidths>,
    /// Widths of coordinates, where a pool is IPv4 and its places follow from them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ipv4: Option<StatedWidths>,
}

/// Bits of coordinates in IPv4 management addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatedManagementWidths {
    /// Of the zone.
    pub zone: u8,
    /// Of the index, below the zone.
    pub index: u8,
}

/// Widths of coordinates in IPv4 addresses, in bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatedWidths {
    /// A plane.
    pub plane: u8,
    /// A zone: mirrored, from the highest bit down.
    pub zone: u8,
    /// A downlink of a T0.
    pub downlink: u8,
    /// An uplink of a T0 and of a T1.
    pub uplinks: [u8; 2],
}

/// A management port that is listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatedManagement {
    /// Its address, with the length of its subnet.
    pub address: IpNet,
    /// The gateway of the subnet.
    pub gateway: IpAddr,
}

/// Cables of one kind that are alike.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct StatedCable {
    /// What they connect, as in cable lists.
    pub kind: String,
    /// Length in whole metres.
    pub meters: u64,
    /// What they are made of.
    pub medium: String,
}

/// Settings of NIC drivers and collective libraries besides the classes of switches.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct StatedHosts {
    /// The pool of NIC addresses.
    pub reach: String,
    /// Queue pairs of a connection.
    pub queue_pairs: u16,
    /// Whether NICs of one number meet on one T0.
    pub has_rails: bool,
    /// The code point of data.
    pub data_dscp: u8,
    /// The code point of clear-to-send messages, where they have a class.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clear_to_send_dscp: Option<u8>,
    /// Congestion notifications, where DCQCN is used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notifications: Option<StatedNotifications>,
}

/// Congestion notifications of DCQCN.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct StatedNotifications {
    /// Their code point.
    pub dscp: u8,
    /// Their priority.
    pub priority: u8,
    /// The priorities whose senders slow down.
    pub governed: Vec<u8>,
}

/// Timers of BGP sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct BgpTimers {
    /// Seconds between keepalives.
    pub keepalive_s: u16,
    /// Seconds of silence after which a session is down.
    pub hold_s: u16,
    /// Seconds between attempts to connect.
    pub connect_s: u16,
    /// Seconds between announcements to one neighbour.
    pub announce_s: u16,
    /// Seconds that neighbours keep forwarding while the daemon restarts (RFC 4724).
    pub restart_s: u16,
    /// Seconds after which routes of a neighbour that restarted and did not repeat them are forgotten.
    pub stale_s: u16,
    /// Minutes until a session that was ended for its number of prefixes is tried again.
    pub retry_min: u16,
    /// Milliseconds between BFD packets, both ways (RFC 5880).
    pub bfd_interval_ms: u32,
    /// BFD packets that may be missing.
    pub bfd_multiplier: u8,
}

/// Switches of one tier and hardware.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct StatedSwitch {
    /// Tier.
    pub tier: String,
    /// Operating system.
    pub os: String,
    /// SONiC hwsku, or platform id.
    pub hardware: String,
    /// SONiC's name of the hardware, where it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub platform: Option<String>,
    /// The buffer that ports share; absent without one of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub buffer: Option<StatedBuffer>,
    /// The most that a lossless queue takes, where one static egress pool holds all queues; absent with dynamic pools.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lossless_queue_bytes: Option<u64>,
    /// Action on a queue that stays paused; its times depend on the number of ports.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub watchdog: Option<StatedWatchdog>,
    /// Packet trimming, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trimming: Option<StatedTrimming>,
    /// Ports with a cable.
    pub ports: Vec<StatedPort>,
}

/// The buffer of a switch: what pools are computed from, by the cables that the switch has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, Hash)]
pub struct StatedBuffer {
    /// All of it, in whole cells.
    pub total_bytes: u64,
    /// Without what is taken beforehand.
    pub free_bytes: u64,
    /// The allocation unit.
    pub cell_bytes: u64,
    /// By how much the headroom of all groups is larger than the pool they share.
    pub headroom_ratio: u32,
    /// Headroom that a port with a cable has beside that pool.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub private_bytes: u64,
    /// Whether ports are bounded in each pool as well (NVIDIA).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub bounds_ports: bool,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
fn is_zero(bytes: &u64) -> bool {
    *bytes == 0
}

/// Ports of one side, speed and length of cable.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct StatedPort {
    /// Whether the other end is nearer to the NICs.
    pub down: bool,
    /// Speed in Mb/s.
    pub speed_mbps: u32,
    /// Serial lanes.
    pub lanes: u8,
    /// Largest packet.
    pub mtu: u16,
    /// Length of the cable in whole metres.
    pub meters: u64,
    /// Bytes of headroom of each paused group.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub headroom_bytes: Option<u64>,
    /// Bytes that each paused group has of its own, headroom included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reserved_bytes: Option<u64>,
    /// Bytes that each paused group takes, beyond its own, from the pool of headroom.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pooled_bytes: Option<u64>,
    /// When a paused group goes on: bytes left in it, and bytes below the threshold, where the chip has that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resumes: Option<(u64, Option<u64>)>,
    /// When each queue is marked: least and most bytes, percent just below the most. On P4 targets each class by its
    /// rank, in packets and parts of a million.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub marks: BTreeMap<u8, (u64, u64, u64)>,
    /// Packets in a queue from which P4 targets trim.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trim_packets: Option<u64>,
    /// Classes that a NIC does not choose freely, on P4 targets: bytes per second and bytes at once, then code point, class and
    /// queue of packets above that.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub nic_classes: BTreeMap<u8, [u64; 5]>,
    /// Packets per second and packets at once that P4 targets send to their controller from this port.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub punts: Option<(u64, u64)>,
    /// Queues whose thresholds depend on the shared pool, and the bytes of the pool that they are stated for. All others
    /// have exactly these thresholds.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub marks_by_room: BTreeMap<u8, u64>,
}

/// Packet trimming.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct StatedTrimming {
    /// Rest of them, in bytes.
    pub size_bytes: u64,
    /// The queue of what is left, on the switch that trims.
    pub queue: u8,
    /// Whether the ASIC clears the code point of packets whose class has no entry in a port's map from classes to code
    /// points, so that every class has one.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub maps_classes: bool,
}

/// Treatment of packets of each class by switches.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct StatedQos {
    /// Name of the profile.
    pub name: String,
    /// Traffic class of each code point.
    pub dscp: Vec<u8>,
    /// Classes by rising traffic class.
    pub classes: Vec<StatedClass>,
    /// The code points of trimmed packets, in the fabric and at the last hop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trimmed: Option<(u8, u8)>,
}

/// A class.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct StatedClass {
    /// Its traffic class.
    pub tc: u8,
    /// Its queue.
    pub queue: u8,
    /// Its priority group.
    pub group: u8,
    /// Its weight; absent: before all others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weight: Option<u8>,
    /// Its priority on hosts, where that is not the number of its traffic class.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<u8>,
    /// The priority that is paused; absent: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pauses: Option<u8>,
    /// Whether its overflow is trimmed.
    pub trims: bool,
    /// Share of the free ingress pool for its group, as an exponent of two.
    pub ingress_th: String,
    /// The same of its queue and the egress pool.
    pub egress_th: String,
}

/// Action on a queue that stays paused.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct StatedWatchdog {
    /// What.
    pub action: String,
    /// After how long, at the least.
    pub detection_ms: u64,
    /// Until it was free for how long, at the least.
    pub restoration_ms: u64,
    /// Poll interval of queues.
    #[serde(default)]
    pub poll_ms: u64,
}
