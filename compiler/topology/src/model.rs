//! A valid topology: the contents of a fabric file, with every default filled in and every rule satisfied.
//!
//! A `Topology` exists only if no check reported an error, so later stages do not check again. It is small: it
//! holds numbers and exceptions, never a list of devices. Places in the text are kept in [`Spans`] so that
//! later stages can still point at a line.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::net::IpAddr;
use std::ops::Range;
use std::sync::Arc;

use closc_artefacts::{Prefix, Routing};
use closc_platform::{Breakout, CageSet, GroupWidth, Os, Panel, Platform, Release, Slot, SplitCages};
use closc_qos::units::{Bytes, Length, Speed};
use ipnet::{IpNet, Ipv6Net};
use serde::Serialize;
use smol_str::SmolStr;

use crate::choice::{HostOs, HostOutput, PacketOrder, Pin, SegmentPlan, TierBalance, Wiring};
use crate::coordinate::{Link, Nic, PlaneId, Switch, TierId, ZoneId};
use crate::domain::Domains;
use crate::ipv4::{Ipv4Counts, Ipv4Widths};
use crate::media::Medium;
use crate::naming::Naming;
use crate::pci::PciAddress;
use crate::port_order::{PortOrders, PortStage};
use crate::rack::Racks;
use crate::shared;
use crate::spans::Spans;
use crate::usid::UsidLayout;
use crate::widths::AddressWidths;
use crate::zone_size::ZoneSizes;

/// A valid fabric description. Digests are computed from its serialised form. So they depend on the order of fields
/// and variants, here and in all contained types such as [`Platform`], but not on their names.
#[derive(Debug, Clone, Serialize)]
pub struct Topology {
    /// Name of the fabric.
    pub name: SmolStr,
    /// Free text.
    pub description: String,
    /// Number of planes, 1 to 16.
    pub planes: u8,
    /// Routing mode.
    pub routing: Routing,
    /// The hosts.
    pub hosts: Hosts,
    /// Number of zones; 1 without a T2 tier, unless zones are planes by NIC.
    pub zones: u16,
    /// Locations of zones, for fabrics over several buildings.
    pub sites: Vec<Site>,
    /// First tier: one T0 for each plane, zone and T0 group ([`Hosts::groups`]).
    pub t0: Tier,
    /// Second tier. If the fabric has no such tier, this field has the hardware of T0s and no ports.
    pub t1: Tier,
    /// T1s in each plane and zone; follows from the uplinks of T0s. Without a second tier it is 0.
    pub t1_count: u16,
    /// Third tier.
    pub t2: Option<T2>,
    /// Segment identifiers.
    pub srv6: Srv6,
    /// Spreading of traffic where switches choose the path.
    pub ecmp: Ecmp,
    /// Address pools.
    pub addresses: Addresses,
    /// Cables by kind.
    pub cables: Cables,
    /// Maximum packet sizes.
    pub mtu: Mtu,
    /// Entropy values of the host path tables.
    pub entropy: Entropy,
    /// Releases of operating systems that the file names.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub releases: BTreeMap<Os, Release>,
    /// Names of devices.
    pub naming: Naming,
    /// Quality of service.
    pub qos: closc_qos::profile::Profile,
    /// Servers that every device receives.
    pub services: Services,
    /// Failure domains.
    pub domains: Domains,
    /// Rack positions of devices.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub racks: Option<Racks>,
    /// Differences from the counts.
    pub exceptions: Exceptions,
    /// Places in the text by dotted path, for example `tiers.t0.up`. They are not part of the meaning.
    #[serde(skip)]
    pub spans: Spans,
    /// The sizes of smaller zones. Their absent T0s and NICs are in `exceptions`.
    #[serde(skip)]
    pub zone_sizes: ZoneSizes,
    /// The port order that follows from the counts.
    #[serde(skip)]
    pub orders: PortOrders,
}

/// The hosts.
#[derive(Debug, Clone, Serialize)]
pub struct Hosts {
    /// T0 groups per zone. This is also the number of T0s per plane and zone.
    pub groups: u16,
    /// NICs on each T0, which is the number of downlinks in use.
    pub per_group: u16,
    /// NICs in a node.
    pub nics_per_node: u8,
    /// NICs on an adapter: consecutive ones of a node, on as many consecutive T0 groups.
    #[serde(skip_serializing_if = "is_one")]
    pub nics_per_adapter: u8,
    /// Rails: NIC k of a node is on rail `k % rails`. Each rail has its own T0 group in each unit.
    pub rails: u8,
    /// Number of zones that the NICs of a node are in: rail r is in zone `r / (rails / zones_per_node)` of these.
    #[serde(skip_serializing_if = "is_one")]
    pub zones_per_node: u8,
    /// Total speed of a NIC, over all planes.
    pub nic_speed: Speed,
    /// Serial lanes of a NIC; every plane takes an equal share.
    pub nic_lanes: u8,
    /// Cages of a NIC, or of its adapter; each has equally many consecutive ports ([`Topology::nic_cage`]).
    #[serde(skip_serializing_if = "is_one")]
    pub nic_cages: u8,
    /// NICs of zones that have a different one.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub nic_by_zone: BTreeMap<ZoneId, NicKind>,
    /// The order in which NICs need packets.
    #[serde(skip_serializing_if = "PacketOrder::is_default")]
    pub packet_order: PacketOrder,
    /// Generated files for hosts besides path tables.
    pub os: HostOs,
    /// Additional generated files for every node.
    pub outputs: BTreeSet<HostOutput>,
    /// PCI positions of the NICs or adapters of a node, one for each in order; empty if the file has none.
    pub slots: Vec<HostSlot>,
}

impl Hosts {
    /// Returns whether every node has a folder of its own in the tree.
    pub fn has_files(&self) -> bool {
        self.os == HostOs::Linux || !self.outputs.is_empty()
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature is serde's")]
fn is_one(number: &u8) -> bool {
    *number == 1
}

/// A NIC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct NicKind {
    /// Its speed, over all planes.
    pub speed: Speed,
    /// Its serial lanes.
    pub lanes: u8,
    /// Its cages.
    #[serde(skip_serializing_if = "is_one")]
    pub cages: u8,
}

/// The PCI position of a NIC, the same in every node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct HostSlot {
    /// The first port; port k is k functions higher.
    pub pci: PciAddress,
    /// NUMA node.
    pub numa: u8,
    /// The GPU that uses the NIC.
    pub gpu: Option<PciAddress>,
    /// The power domain that feeds it.
    pub power: Option<SmolStr>,
}

/// A tier of switches.
#[derive(Debug, Clone, Serialize)]
pub struct Tier {
    /// Hardware.
    #[serde(serialize_with = "shared::value")]
    pub platform: Arc<Platform>,
    /// Operating system.
    pub os: Os,
    /// Ports towards the NICs or the tier below.
    pub down: PortBlock,
    /// Ports towards the tier above; count 0 at the top.
    pub up: PortBlock,
    /// Parallel links to each upper neighbour; divides `up.count`.
    pub parallel: u16,
    /// Stages of the fabric, in the order in which their cables to the upper tier take ports; only for T0s.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub port_order: Vec<PortStage>,
    /// Hardware and operating system of single planes.
    #[serde(serialize_with = "shared::hardware")]
    pub by_plane: BTreeMap<PlaneId, (Arc<Platform>, Os)>,
    /// Hardware, operating system and ports of single zones.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub by_zone: BTreeMap<ZoneId, ZoneTier>,
}

/// A tier in a zone of other hardware, with the same number of ports as in other zones.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ZoneTier {
    /// Hardware.
    #[serde(serialize_with = "shared::value")]
    pub platform: Arc<Platform>,
    /// Operating system.
    pub os: Os,
    /// Ports towards the NICs or the tier below.
    pub down: PortBlock,
    /// Ports towards the tier above.
    pub up: PortBlock,
}

impl Tier {
    /// Returns the ports of a zone's switches towards the NICs or the tier below.
    pub fn down_ports(&self, zone: ZoneId) -> PortBlock {
        self.by_zone.get(&zone).map_or(self.down, |own| own.down)
    }

    /// Returns the ports of a zone's switches towards the tier above.
    pub fn up_ports(&self, zone: ZoneId) -> PortBlock {
        self.by_zone.get(&zone).map_or(self.up, |own| own.up)
    }

    /// Returns the hardware and operating system of a zone.
    fn hardware_in(&self, zone: ZoneId) -> (&Arc<Platform>, Os) {
        self.by_zone.get(&zone).map_or((&self.platform, self.os), |own| (&own.platform, own.os))
    }
}

/// The third tier.
#[derive(Debug, Clone, Serialize)]
pub struct T2 {
    /// Its switches.
    pub tier: Tier,
    /// T2s in each plane; with [`Wiring::Rows`] one more than the largest index.
    pub count: u16,
    /// Wiring between T1s and T2s.
    pub wiring: Wiring,
    /// Downlinks reserved for each zone, so that a new zone or T1 does not move cables: zone z starts at downlink
    /// `z * zone_ports`. Set in the file (`tiers.t2.ports_per_zone`); by default the panel's ports divided by the
    /// zones that the uSID layout can name.
    pub zone_ports: u16,
    /// Number of rows: T2 indices reserved for each step. With [`Wiring::Rows`], T2 index = step * rows + T1 index
    /// modulo rows. It is required in the file (`tiers.t2.rows`), and divides the number of T1s unless it is larger.
    /// Unused with [`Wiring::Full`].
    pub rows: u16,
    /// The site that they are in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub site: Option<SmolStr>,
}

/// A run of equal ports: a function from index to slot, so that adding ports does not move existing ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct PortBlock {
    /// Ports in use.
    pub count: u16,
    /// Reserved ports after those in use, configured but shut down.
    pub spare: u16,
    /// Its cages.
    #[serde(rename = "first_cage")]
    pub cages: Cages,
    /// Breakout of its cages.
    pub breakout: Breakout,
    /// First port of the first cage, from 0.
    #[serde(skip_serializing_if = "is_zero")]
    pub first_port: u8,
}

// Serde passes a reference.
#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_zero(port: &u8) -> bool {
    *port == 0
}

impl PortBlock {
    /// Returns the slot of a port of the block.
    pub fn slot(&self, index: u16) -> Slot {
        let parts = u16::from(self.breakout.ports);
        let index = index + u16::from(self.first_port);
        let cage = self.cages.nth(index / parts);
        Slot { cage, part: (index % parts) as u8, breakout: self.breakout }
    }

    /// Returns the cages of its ports, including spare ones; `None` if it has no ports.
    pub fn cages_in_use(&self) -> Option<SplitCages> {
        let parts = u16::from(self.breakout.ports).max(1);
        let (first, ports) = (u16::from(self.first_port), self.count + self.spare);
        let places = if ports == 0 { 0..0 } else { first / parts..(first + ports).div_ceil(parts) };
        let cages = CageSet::of(places.map(|place| self.cages.nth(place)))?;
        Some(SplitCages { breakout: self.breakout, cages })
    }

    /// Returns the index range of a cage's ports, including spare ones.
    pub fn in_cage(&self, cage: u16) -> Range<u16> {
        let parts = u16::from(self.breakout.ports);
        let index = |port: u16| port.saturating_sub(self.first_port.into()).min(self.count + self.spare);
        self.cages.place(cage).map_or(0..0, |place| index(place * parts)..index(place * parts + parts))
    }
}

/// The cages of a block: one run, or a set of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Cages {
    /// A consecutive run that starts at this cage.
    From(u16),
    /// A set of cages, in ascending order.
    Set(CageSet),
}

impl Cages {
    /// Returns the cage at a position from 0.
    pub fn nth(&self, place: u16) -> u16 {
        match self {
            Cages::From(first) => first + place,
            Cages::Set(set) => set.nth(place),
        }
    }

    /// Returns the position of a cage, from 0; `None` for a cage before the run or outside of the set.
    pub fn place(&self, cage: u16) -> Option<u16> {
        match self {
            Cages::From(first) => cage.checked_sub(*first),
            Cages::Set(set) => set.place(cage),
        }
    }
}

impl fmt::Display for Cages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Cages::From(first) => first.fmt(f),
            Cages::Set(set) => set.fmt(f),
        }
    }
}

/// The location of one or more zones.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Site {
    /// Its name.
    pub name: SmolStr,
    /// The zones that are there.
    pub zones: Vec<ZoneId>,
}

/// Segment identifiers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Srv6 {
    /// The block of plane 0, a /32. [`Srv6::block`] returns those of other planes.
    pub first_block: Ipv6Net,
    /// Layout of the 16 bits of a uSID.
    pub layout: UsidLayout,
    /// The part of an address that contains the plane.
    #[serde(skip_serializing_if = "SegmentPlan::is_default")]
    pub plan: SegmentPlan,
}

impl Srv6 {
    /// Returns the block of a plane: the shared one, or the first one plus the number of the plane.
    pub fn block(&self, plane: PlaneId) -> Ipv6Net {
        block_of(self.first_block, self.plan, plane)
    }
}

/// Returns the block of a plane.
pub(crate) fn block_of(first: Ipv6Net, plan: SegmentPlan, plane: PlaneId) -> Ipv6Net {
    let number = u128::from(plan.step()) * u128::from(plane.0);
    let bits = u128::from(first.network()).wrapping_add(number << 96);
    Ipv6Net::new_assert(bits.into(), first.prefix_len())
}

/// Spreading of traffic where switches choose the path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Ecmp {
    /// Destinations that use one uplink instead of a group.
    pub pin: Pin,
    /// Destinations that use one uplink, NIC by NIC; overrides `pin`.
    #[serde(serialize_with = "shared::value")]
    pub pins: Arc<Pins>,
    /// Queue pairs that hosts open for each connection.
    pub qps_per_connection: u16,
    /// Selection among next hops of equal cost, if switches have several ([`Topology::balance`]).
    #[serde(skip_serializing_if = "TierBalance::is_default")]
    pub balance: TierBalance,
}

/// Single pins: for each T0 that has some, the uplink (from 0) to NICs on other T0s.
pub type Pins = BTreeMap<Switch, BTreeMap<Nic, u16>>;

/// Management ports that a list gives, by switch.
pub type ManagementList = BTreeMap<Switch, ManagementPort>;

/// The management port of a switch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct ManagementPort {
    /// Its address, with the length of its subnet.
    pub address: IpNet,
    /// The default gateway of the subnet.
    pub gateway: IpAddr,
}

/// Address pools; every address is pool plus coordinates (see the plan crate).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Addresses {
    /// NIC (inner) addresses, IPv4, or IPv6 /48 or shorter.
    pub hosts: Prefix,
    /// Both ends of every cable, IPv4, or IPv6 /48 or shorter.
    pub links: Prefix,
    /// One address per switch, IPv4, or IPv6 /64 or shorter.
    pub loopbacks: Prefix,
    /// Management ports: IPv4, or IPv6 /64 or shorter. Absent if none are generated. An IPv4 pool with a prefix of
    /// [`AddressWidths::management_v4_max`] or shorter has fixed bit positions. A smaller pool has those of
    /// [`Ipv4Widths`](crate::Ipv4Widths).
    pub management: Option<IpNet>,
    /// Gateway of the management network. The default is the first address of tier code 3. No switch has this code,
    /// so the gateway never collides with a switch: `pool::3:0:0:1` (IPv6), `pool + 0x30001` (IPv4 with fixed
    /// bit positions).
    pub management_gateway: Option<IpAddr>,
    /// Management ports that do not follow from a pool.
    #[serde(serialize_with = "shared::value")]
    pub management_list: Arc<ManagementList>,
    /// First autonomous system number, for BGP.
    pub asn_base: u32,
    /// Bits of coordinates.
    #[serde(skip_serializing_if = "AddressWidths::is_default")]
    pub widths: AddressWidths,
}

/// A cable: its length and medium.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Cable {
    /// Length.
    pub length: Length,
    /// Medium, for example `dr4`.
    pub medium: SmolStr,
}

impl Cable {
    /// Returns whether it is copper end to end, so that the ports at its ends train the link.
    pub fn is_copper(&self) -> bool {
        Medium::find(&self.medium).is_some_and(|medium| medium.copper)
    }

    /// Returns whether its transceivers use no error correction at 100G over four lanes.
    pub fn is_uncoded(&self) -> bool {
        Medium::find(&self.medium).is_some_and(Medium::is_uncoded)
    }
}

/// Cables by kind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Cables {
    /// NIC to T0.
    pub nic_t0: Cable,
    /// T0 to T1.
    pub t0_t1: Cable,
    /// T1 to T2.
    pub t1_t2: Option<Cable>,
    /// T1 to T2 for zones that differ, for example in another building.
    pub t1_t2_by_zone: BTreeMap<ZoneId, Cable>,
}

/// Maximum packet sizes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Mtu {
    /// On fabric and NIC cables.
    pub link: u16,
    /// Maximum packet inside the outer IPv6 header.
    pub payload: u16,
}

/// Entropy values of the host path tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Entropy {
    /// Entropy values in use at a time, over all planes.
    pub active: u16,
    /// Entropy values held in reserve, over all planes.
    pub backup: u16,
    /// Minimum number of entropy values in use. A NIC does not retire values below this number.
    pub min_active: u16,
    /// Seed of the selection, which makes it reproducible.
    pub seed: u64,
    /// UDP destination port of the transport.
    pub udp_port: u16,
}

/// Servers that every device receives.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Services {
    /// Time servers.
    pub ntp: Vec<std::net::IpAddr>,
    /// Log servers.
    pub syslog: Vec<std::net::IpAddr>,
    /// `SNMP|CONTACT`.
    pub snmp_contact: Option<String>,
    /// `SNMP|LOCATION`.
    pub snmp_location: Option<String>,
}

/// Differences from the counts, resolved to coordinates.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Exceptions {
    /// Absent switches.
    pub absent_switches: BTreeSet<Switch>,
    /// Absent NICs.
    pub absent_nics: BTreeSet<Nic>,
    /// Absent cables.
    pub absent_links: BTreeSet<Link>,
    /// Switches without new traffic.
    pub drained_switches: BTreeSet<Switch>,
    /// Planes without new traffic.
    pub drained_planes: BTreeSet<PlaneId>,
    /// Cables without new traffic.
    pub drained_links: BTreeSet<Link>,
    /// Whether switches have the access list of isolated ports. Its list of ports may be empty.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub has_isolation: bool,
    /// Cables whose switch ports drop all IPv6 packets except ICMPv6. They are in `drained_links`, too.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub isolated_links: BTreeSet<Link>,
    /// Cables that differ from their kind.
    pub cables: BTreeMap<Link, Cable>,
    /// Switches of other hardware or operating system.
    #[serde(serialize_with = "shared::hardware")]
    pub switches: BTreeMap<Switch, (Arc<Platform>, Os)>,
}

impl Topology {
    /// Returns the planes without any switch, which are planned but not built yet. The file names the plane or each
    /// of its switches as absent.
    pub fn absent_planes(&self) -> BTreeSet<PlaneId> {
        let absent = &self.exceptions.absent_switches;
        // A plane begins with its first T0 in the order of switches.
        let first = |plane| Switch { plane, tier: TierId::T0, zone: ZoneId(0), index: 0 };
        if self.plane_ids().all(|plane| !absent.contains(&first(plane))) {
            return BTreeSet::new();
        }
        let t2s = (0..self.count(TierId::T2)).filter(|index| index % self.t2_rows() < self.t1_count).count();
        let zones = usize::from(self.zones);
        let all = zones * (usize::from(self.hosts.groups) + usize::from(self.t1_count)) + t2s;
        let mut counts: BTreeMap<PlaneId, usize> = BTreeMap::new();
        for switch in absent {
            *counts.entry(switch.plane).or_default() += 1;
        }
        counts.into_iter().filter(|(_, count)| *count == all).map(|(plane, _)| plane).collect()
    }

    /// Returns a tier, if the fabric has it.
    pub fn tier(&self, tier: TierId) -> Option<&Tier> {
        match tier {
            TierId::T0 => Some(&self.t0),
            TierId::T1 => self.has_t1().then_some(&self.t1),
            TierId::T2 => self.t2.as_ref().map(|t2| &t2.tier),
        }
    }

    /// Returns whether there is a second tier. Without one, only NICs of one T0 group reach each other.
    pub fn has_t1(&self) -> bool {
        self.t1_count > 0
    }

    /// Returns the number of switches of a tier in each plane and zone. For T2s it is the number in each plane; with
    /// [`Wiring::Rows`] one more than the largest index.
    pub fn count(&self, tier: TierId) -> u16 {
        match tier {
            TierId::T0 => self.hosts.groups,
            TierId::T1 => self.t1_count,
            TierId::T2 => self.t2.as_ref().map_or(0, |t2| t2.count),
        }
    }

    /// Returns the number of rows R of T2s: T1 number j reaches the T2s whose index modulo R is j modulo R. R is 1 if
    /// every T1 reaches every T2 of its plane.
    pub fn t2_rows(&self) -> u16 {
        self.t2.as_ref().map_or(1, |t2| match t2.wiring {
            Wiring::Full => 1,
            Wiring::Rows => t2.rows.max(1),
        })
    }

    /// Returns the T1s of a zone that reach a T2, by index.
    pub fn t1s_below(&self, t2: u16) -> impl Iterator<Item = u16> + use<> {
        let rows = self.t2_rows();
        (t2 % rows..self.t1_count).step_by(usize::from(rows))
    }

    /// Returns the release of an operating system, stated or assumed; `None` for systems without releases.
    pub fn release(&self, os: Os) -> Option<Release> {
        self.releases.get(&os).copied().or_else(|| os.releases().map(|releases| releases.default))
    }

    /// Returns the hardware and operating system of one switch.
    pub fn hardware(&self, switch: Switch) -> (&Arc<Platform>, Os) {
        if let Some((platform, os)) = self.exceptions.switches.get(&switch) {
            return (platform, *os);
        }
        let tier = self.tier(switch.tier).expect("a switch exists only in a tier of the topology");
        match tier.by_plane.get(&switch.plane) {
            Some((platform, os)) => (platform, *os),
            None => tier.hardware_in(switch.zone),
        }
    }

    /// Returns the number of bits of a port number in P4 pipelines with numeric ports: the maximum over the
    /// platforms with such pipelines.
    pub fn port_bits(&self) -> u8 {
        let numbered = self.programmed_hardware().filter(|(_, os)| os.port_number_max().is_some());
        let bits = numbered.map(|(platform, _)| platform.panel.port_bits());
        bits.max().unwrap_or(Panel::V1MODEL_PORT_BITS)
    }

    /// Returns the number of bits of a port number in P4 pipelines where ports have names. It limits only software
    /// models of such a switch, not the switch itself.
    pub fn named_port_bits(&self) -> u8 {
        let named = self.programmed_hardware().filter(|(_, os)| os.port_number_max().is_none());
        let bits = named.map(|(platform, _)| platform.panel.named_port_bits());
        bits.max().unwrap_or(Panel::V1MODEL_PORT_BITS)
    }

    /// Returns the operating systems of all switches.
    pub fn oses(&self) -> BTreeSet<Os> {
        self.kinds().map(|(_, os)| os).collect()
    }

    /// Returns the hardware and operating systems of the switches that P4 programs.
    fn programmed_hardware(&self) -> impl Iterator<Item = (&Arc<Platform>, Os)> {
        self.kinds().filter(|(_, os)| os.is_programmed())
    }

    /// Returns the hardware of all switches, each with its operating system. Combinations can occur several
    /// times.
    fn kinds(&self) -> impl Iterator<Item = (&Arc<Platform>, Os)> {
        let tiers = [Some(&self.t0), Some(&self.t1), self.t2.as_ref().map(|t2| &t2.tier)];
        let of_tiers = tiers.into_iter().flatten().flat_map(|tier| {
            let zones = tier.by_zone.values().map(|zone| (&zone.platform, zone.os));
            let planes = tier.by_plane.values().map(|(platform, os)| (platform, *os));
            zones.chain(planes).chain([(&tier.platform, tier.os)])
        });
        let single = self.exceptions.switches.values().map(|(platform, os)| (platform, *os));
        of_tiers.chain(single)
    }

    /// Returns the widths of coordinates in IPv4 addresses.
    pub fn ipv4_widths(&self) -> Ipv4Widths {
        let ports = |tier: &Tier, block: &PortBlock| tier.platform.ports_max(block.breakout).into();
        let t1_uplinks = if self.t2.is_some() { ports(&self.t1, &self.t1.up) } else { 0 };
        let counts = Ipv4Counts {
            planes: self.planes.into(),
            zones: self.zones.into(),
            groups: self.hosts.groups.into(),
            switches: self.count(TierId::T0).max(self.t1_count).max(self.count(TierId::T2)).into(),
            downlinks: ports(&self.t0, &self.t0.down).max(u64::from(self.hosts.per_group) + 1),
            uplinks: [ports(&self.t0, &self.t0.up), t1_uplinks],
            has_zone_routes: self.routing.has_static_groups() && self.has_t1(),
        };
        Ipv4Widths::new(&counts, self.addresses.widths)
    }

    /// Returns the ports of a switch, those towards the NICs first.
    pub fn blocks(&self, switch: Switch) -> [PortBlock; 2] {
        let tier = self.tier(switch.tier).expect("a switch exists only in a tier of the topology");
        [tier.down_ports(switch.zone), tier.up_ports(switch.zone)]
    }

    /// Returns the sizes of the ECMP groups of a switch.
    pub fn group_width(&self, switch: Switch) -> GroupWidth<'_> {
        let (platform, os) = self.hardware(switch);
        platform.group_width((os, self.release(os)), self.cages_in_use(switch))
    }

    /// Returns the cages of a switch with ports, spare ones included.
    pub fn cages_in_use(&self, switch: Switch) -> impl Iterator<Item = SplitCages> + use<> {
        self.blocks(switch).into_iter().filter_map(|block| block.cages_in_use())
    }

    /// Returns the length and medium of a cable: its own if an exception sets them, otherwise those of its kind.
    pub fn cable(&self, link: Link) -> &Cable {
        if let Some(cable) = self.exceptions.cables.get(&link) {
            return cable;
        }
        match link {
            Link::Host(_) => &self.cables.nic_t0,
            Link::Fabric { lower, .. } => self.fabric_cable(lower),
        }
    }

    /// Returns the kind of cable above a switch.
    fn fabric_cable(&self, lower: Switch) -> &Cable {
        if lower.tier == TierId::T0 {
            return &self.cables.t0_t1;
        }
        self.cables
            .t1_t2_by_zone
            .get(&lower.zone)
            .or(self.cables.t1_t2.as_ref())
            .expect("a topology with a T2 tier has a kind of cable up to it")
    }

    /// Returns the index of the site that the T2s are in.
    pub fn t2_site(&self) -> Option<usize> {
        let name = self.t2.as_ref()?.site.as_ref()?;
        self.sites.iter().position(|site| site.name == *name)
    }

    /// Returns the total speed of a NIC of a zone.
    pub fn nic_speed(&self, zone: ZoneId) -> Speed {
        self.hosts.nic_by_zone.get(&zone).map_or(self.hosts.nic_speed, |own| own.speed)
    }

    /// Returns the speed of one NIC port of a zone.
    pub fn port_speed(&self, zone: ZoneId) -> Speed {
        Speed::from_mbps(self.nic_speed(zone).mbps() / u32::from(self.planes))
            .expect("the topology check requires at least 1 Mb/s for each plane")
    }

    /// Returns whether cables of one kind have the same speed in every zone.
    pub fn has_one_speed(&self) -> bool {
        self.zone_ids().all(|zone| {
            let is_same = |tier: &Tier| tier.up_ports(zone).breakout.speed == tier.up.breakout.speed;
            self.nic_speed(zone) == self.hosts.nic_speed && is_same(&self.t0) && is_same(&self.t1)
        })
    }

    /// Returns the ids of all zones.
    pub fn zone_ids(&self) -> impl Iterator<Item = ZoneId> + use<> {
        (0..self.zones).map(ZoneId)
    }

    /// Returns the planes.
    pub fn plane_ids(&self) -> impl Iterator<Item = PlaneId> + use<> {
        (0..self.planes).map(PlaneId)
    }

    /// Overhead of encapsulation: one outer IPv6 header (RFC 8200 section 3).
    pub const ENCAPSULATION: Bytes = Bytes(40);
}
