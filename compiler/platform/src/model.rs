//! A platform: ports, buffers, limits and features of one switch SKU.
//!
//! All values are data from the catalogue. [`Platform::port`], which returns the names and lanes of a slot, is in a
//! separate file.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use closc_qos::codes::Queue;
use closc_qos::headroom::Model;
use closc_qos::profile::Trimming;
use closc_qos::units::{Bytes, Speed};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

use crate::Release;
use crate::alias::Aliases;
use crate::balance::Balancing;
use crate::breakout::Share;
use crate::cages::CageSet;
use crate::claim::{Claim, Provenance};
use crate::maker::Maker;
use crate::os::Os;
use crate::width::EcmpWidth;

/// Breakout of a cage: `8x100G` is eight ports of 100G.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Breakout {
    /// Number of ports that a cage is split into.
    pub ports: u8,
    /// Speed of each port.
    pub speed: Speed,
    /// The lanes of these ports, if other ports use the rest of the cage.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub share: Option<Share>,
}

/// A port before it has a name: the cage, the part of the cage, and the breakout.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Slot {
    /// Cage on the front panel, from 0.
    pub cage: u16,
    /// Part of the cage, from 0.
    pub part: u8,
    /// Breakout of the cage.
    pub breakout: Breakout,
}

/// A port as the device names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PhysicalPort {
    /// Name in the configuration, for example `Ethernet8`.
    pub name: SmolStr,
    /// Name on the front panel, for example `etp2a`.
    pub alias: SmolStr,
    /// Number of the cage on the front panel, as in SONiC's `index`. It nearly always starts at 1.
    pub panel: u16,
    /// Part of the cage, from 1; 0 if the cage is not split, as in SONiC's `subport`.
    pub subport: u8,
    /// Serial lanes of the ASIC.
    pub lanes: Vec<u16>,
    /// Speed.
    pub speed: Speed,
    /// Number of the first lane, counted over the panel from 1.
    pub number: u16,
    /// Port number for P4 and other systems that address ports by number: `number`, or the number in the port map of
    /// the platform.
    pub device: u16,
}

/// One switch SKU.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Platform {
    /// Name used in YAML, for example `th5-512x100g`.
    pub id: SmolStr,
    /// One-line description.
    pub title: String,
    /// Operating systems that run on the switch.
    pub oses: Vec<Os>,
    /// P4 pipeline with `os: p4`, if it is not the default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pipeline: Option<SmolStr>,
    /// Height in rack units. No artefact contains it, so topology digests omit it.
    #[serde(skip)]
    pub rack_units: Option<u16>,
    /// Power of the switch. No artefact contains it, so topology digests omit it.
    #[serde(skip)]
    pub power: Option<Power>,
    /// Front panel.
    pub panel: Panel,
    /// SONiC's names for the switch; `null` if SONiC does not run on it.
    pub sonic: Option<Sonic>,
    /// Packet buffer; `null` for software targets, and if it is not published.
    pub buffer: Option<Buffer>,
    /// Accepted trimming settings; any if absent.
    pub trimming: Option<TrimmingLimits>,
    /// Table sizes.
    pub limits: Limits,
    /// Features.
    pub features: Features,
    /// Load balancing beyond a hash. No artefact depends on it, so topology digests omit it.
    #[serde(skip)]
    pub balancing: Balancing,
    /// Layouts of the ports, by name. Topology digests contain the ports instead.
    #[serde(skip)]
    pub layouts: BTreeMap<String, Layout>,
    /// Whether `cargo xtask platforms` generated the platform. closc never chooses such a platform for the user.
    #[serde(skip)]
    pub derived: bool,
    /// Sources of the values.
    pub sources: Vec<String>,
}

/// Power of a switch in watts, without the modules in its cages. A figure that is not published is absent.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Power {
    /// Typical power: with passive cables, at room temperature.
    #[serde(default)]
    #[schemars(range(min = 1))]
    pub typical_watts: Option<u32>,
    /// Maximum power.
    #[serde(default)]
    #[schemars(range(min = 1))]
    pub maximum_watts: Option<u32>,
    /// Source of the figures.
    pub source: Provenance,
}

/// A layout of ports: the cages of downlinks and uplinks, and their breakouts.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Layout {
    /// Ports towards the NICs or the tier below.
    #[serde(default)]
    pub down: Option<LayoutSide>,
    /// Ports towards the tier above.
    #[serde(default)]
    pub up: Option<LayoutSide>,
    /// Reason why a fabric cannot use the layout; set instead of `down` and `up`.
    #[serde(default)]
    pub refused: Option<String>,
}

/// The ports of one side of a layout.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LayoutSide {
    /// Breakout of each cage.
    pub breakout: Breakout,
    /// The cages, from 0.
    pub cages: CageSet,
    /// Index of the first port of this side in its first cage, from 0.
    #[serde(default)]
    pub first_port: u8,
}

/// The front panel: equal cages of equal lanes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Panel {
    /// Number of cages.
    pub cages: u16,
    /// Number of lanes in each cage.
    pub lanes: u8,
    /// Fastest speed of one lane.
    pub lane_speed: Speed,
    /// Supported breakouts of a cage.
    pub breakouts: Vec<Breakout>,
    /// Breakouts that use the first lanes of a cage and leave the others unused.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub partial: Vec<Breakout>,
    /// The breakout in the name of the SKU.
    pub default_breakout: Breakout,
    /// Port names of the operating system in use.
    pub naming: PortNaming,
    /// Default port names, from `naming` of the platform file.
    #[serde(skip)]
    pub usual_naming: PortNaming,
    /// Port names of operating systems that do not use the default ones.
    #[serde(skip)]
    pub namings: BTreeMap<Os, PortNaming>,
    /// Port names of older releases of SONiC.
    #[serde(skip)]
    pub older_naming: Option<OlderNaming>,
    /// Patterns of SONiC's aliases, if they differ from those of `naming`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) aliases: Option<Aliases>,
    /// Number of the first cage on the panel, as in SONiC's `index`. It is nearly always 1.
    pub first_number: u16,
    /// Step between the numbers of adjacent cages on the panel; 2 if every other cage must stay empty.
    pub number_step: u16,
    /// Number of adjacent cages with the same number, if it is not one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cages_per_number: Option<u16>,
    /// The N of SONiC's `EthernetN` for the first lane of each cage; if absent, the lanes of the panel are counted from
    /// 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub port_numbers: Option<Vec<u16>>,
    /// Lanes for which SONiC counts one number in port names, if it is not one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lanes_per_number: Option<u8>,
    /// Serial lanes of the ASIC, cage by cage: `cages * lanes` numbers.
    pub serial_lanes: Vec<u16>,
    /// Maximum number of lanes that SONiC lists for a port, if it omits the others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub listed_lanes: Option<u8>,
    /// Width of a port number in P4 pipelines in bits, if it differs from that of v1model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub port_bits: Option<u8>,
    /// Number of the first lane of each cage on targets with their own port numbers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device_ports: Option<Vec<u16>>,
    /// Ports that the ASIC can have at the same time, if its cages can be split into more. A switch that needs more
    /// ports is rejected, so topology digests omit this value.
    #[serde(skip)]
    pub logical_ports: Option<LogicalPorts>,
    /// The cages of each breakout that some cages do not support. Other cages are rejected, so topology digests omit
    /// this value.
    #[serde(skip)]
    pub breakout_cages: BTreeMap<Breakout, CageSet>,
    /// Breakouts that disable the next cage. A switch that uses this cage is rejected, so topology digests omit this
    /// value.
    #[serde(skip)]
    pub disables_next: Vec<Breakout>,
}

/// Port names of older releases of SONiC, whose hwskus have different aliases.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OlderNaming {
    /// The last release with these names.
    pub until: Release,
    /// The names.
    pub naming: PortNaming,
}

/// Ports that an ASIC can have at the same time, whatever its number of lanes.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LogicalPorts {
    /// Maximum number of ports.
    #[schemars(range(min = 1))]
    pub max: u16,
    /// Source of the number.
    pub source: Provenance,
}

impl Panel {
    /// Width of a port number in v1model (`PortId_t`), in bits.
    pub const V1MODEL_PORT_BITS: u8 = 9;

    /// Returns the number of a cage on the front panel.
    pub fn cage_number(&self, cage: u16) -> u16 {
        self.first_number + cage / self.cages_per_number.unwrap_or(1).max(1) * self.number_step
    }

    /// Returns the lanes per number in SONiC's port names.
    pub(crate) fn lanes_per_number(&self) -> u16 {
        self.lanes_per_number.map_or(1, |lanes| u16::from(lanes.max(1)))
    }

    /// Returns the width of a port number in P4 pipelines, in bits.
    pub fn port_bits(&self) -> u8 {
        self.port_bits.unwrap_or(Self::V1MODEL_PORT_BITS)
    }

    /// Returns the width of a port number in P4 pipelines whose port names are text. It suffices for all lanes of the
    /// panel, the drop port and the controller. The width limits software models of such a switch, not the switch
    /// itself.
    pub fn named_port_bits(&self) -> u8 {
        let lanes = u32::from(self.cages) * u32::from(self.lanes);
        let fits = |bits: &u8| lanes + 2 < 1 << bits;
        let least = (Self::V1MODEL_PORT_BITS..u16::BITS as u8).find(fits);
        self.port_bits().max(least.unwrap_or(u16::BITS as u8))
    }

    /// Returns the largest number that a front-panel port can have on an operating system, if there is a limit. The
    /// last number of this width is the drop port, and the one before it is the controller.
    pub fn port_number_max(&self, os: Os) -> Option<u16> {
        let usual = os.port_number_max()?;
        Some(self.port_bits.map_or(usual, |bits| (1 << bits) - 3))
    }
}

/// Port names of a platform.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PortNaming {
    /// `EthernetN` with N the first lane counted over the panel, alias `etpC` or `etpCa`.
    SonicLane,
    /// `EthernetN` with N the first lane counted over the panel, alias `EthernetC/L` with L the first lane of
    /// the port in its cage, from 1.
    SonicSlash,
    /// `EthernetN` with N the first lane counted over the panel, alias `fortyGigE0/N`, as in SONiC-VS.
    SonicForty,
    /// `ethN` with N the port number, from 1.
    Eth,
    /// `swpC` or `swpCsM`, M from 0.
    Swp,
    /// `EthernetC/L` with L the first lane of the port in its cage, from 1.
    Slash,
    /// `EthernetS/C/L` with S the slot of the line card, C the cage on the card and L the first lane. C and L count
    /// from 1.
    Chassis {
        /// Slot number of the first line card.
        first: u16,
        /// Number of cages on a line card.
        cages: u16,
    },
    /// `portN` with N the number in the port map (`device_ports`). The alias is `C/L` with L the first lane of the port
    /// in its cage, from 0, as in the port manager of Tofino's SDE.
    Device,
}

impl PortNaming {
    /// Returns the keyword in the file.
    pub fn keyword(self) -> &'static str {
        match self {
            PortNaming::SonicLane => "sonic_lane",
            PortNaming::SonicSlash => "sonic_slash",
            PortNaming::SonicForty => "sonic_forty",
            PortNaming::Eth => "eth",
            PortNaming::Swp => "swp",
            PortNaming::Slash => "slash",
            PortNaming::Chassis { .. } => "chassis",
            PortNaming::Device => "device",
        }
    }

    /// Returns EOS's name of the management port; on a chassis, that of the active supervisor.
    pub fn eos_management(self) -> &'static str {
        if matches!(self, PortNaming::Chassis { .. }) { "Management0" } else { "Management1" }
    }
}

/// SONiC's names for a SKU.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Sonic {
    /// `DEVICE_METADATA.hwsku` if none of `hwskus` fits.
    pub hwsku: String,
    /// Whether `hwsku` also accepts breakouts that are not listed.
    pub any_breakout: bool,
    /// `DEVICE_METADATA.platform`.
    pub platform: String,
    /// The first SONiC release with the platform, if some supported ones lack it. The value only selects the text of a
    /// warning.
    #[serde(skip)]
    pub since: Option<Release>,
    /// Maker of the ASIC. The value only selects known faults.
    #[serde(skip)]
    pub asic: Option<Maker>,
    /// Whether each port states `autoneg: off`.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub states_autoneg: bool,
    /// Names of hwskus, with their breakouts.
    pub hwskus: Vec<(BTreeSet<Breakout>, String)>,
    /// Cages of each hwsku whose cages have different breakouts.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub cages: BTreeMap<String, Vec<(Breakout, CageSet)>>,
    /// Maximum number of members of an ECMP group, for each hwsku whose facts set `ecmp_width`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub ecmp_widths: BTreeMap<String, u32>,
    /// Facts about individual hwskus. Artefacts depend only on `ecmp_width`. Topology digests contain
    /// `ecmp_widths`, but omit the other facts. The source of a width matters only if the width is exceeded.
    #[serde(skip)]
    pub facts: BTreeMap<String, HwskuFacts>,
}

/// Facts about a hwsku. For a feature that is not listed, the `features` of the platform apply.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HwskuFacts {
    /// First SONiC release that has the hwsku with the port lanes of this platform; if absent, all supported releases
    /// have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<Release>,
    /// Whether SONiC supports uN with the hwsku.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub un: Option<Claim>,
    /// Whether SONiC trims packets with the hwsku.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trimming: Option<Claim>,
    /// First SONiC release in which the hwsku trims packets; if absent, the first one with trimming.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trimming_since: Option<Release>,
    /// Maximum number of members of an ECMP group, if it differs from `limits`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ecmp_width: Option<EcmpWidth>,
}

/// Packet buffer.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Buffer {
    /// Size of the shared buffer.
    pub total: Bytes,
    /// Sizes for hwskus that differ from `total`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub totals: BTreeMap<String, Bytes>,
    /// Allocation unit.
    pub cell: Bytes,
    /// Name of the headroom model and its constants; see the `qos` crate.
    pub headroom_model: SmolStr,
    /// Headroom models of hwskus that have their own lookup tables.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub headroom_models: BTreeMap<String, SmolStr>,
    /// Maximum size of a lossless queue, with one static egress pool. If absent, there are two dynamic pools.
    pub lossless_queue_max: Option<Bytes>,
    /// Sizes with older releases of SONiC, the oldest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub older: Vec<OlderBuffer>,
}

/// The size of the shared buffer with older releases of SONiC, whose SDK reserves more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OlderBuffer {
    /// The last release with this size.
    pub until: Release,
    /// Size of the shared buffer.
    pub total: Bytes,
    /// Sizes for hwskus that differ from `total`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub totals: BTreeMap<String, Bytes>,
    /// Maximum size of a lossless queue, if it differs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lossless_queue_max: Option<Bytes>,
}

impl Buffer {
    /// Returns the buffer with the size and the headroom that a hwsku has under a release of an operating system.
    #[must_use]
    pub fn under(&self, os: Os, release: Option<Release>, hwsku: &str) -> Buffer {
        if !os.has_hwskus() {
            return self.clone();
        }
        let older = self.older.iter().find(|older| release.is_some_and(|release| release <= older.until));
        let (usual, totals) = older.map_or((self.total, &self.totals), |older| (older.total, &older.totals));
        Buffer {
            total: totals.get(hwsku).copied().unwrap_or(usual),
            lossless_queue_max: older.and_then(|older| older.lossless_queue_max).or(self.lossless_queue_max),
            headroom_model: self.headroom_models.get(hwsku).unwrap_or(&self.headroom_model).clone(),
            ..self.clone()
        }
    }
}

/// Trimming settings that a platform accepts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TrimmingLimits {
    /// Minimum size of a trimmed packet.
    pub size_min: Bytes,
    /// Maximum size of a trimmed packet.
    pub size_max: Option<Bytes>,
    /// The queue of trimmed packets, if it cannot be chosen.
    pub queue: Option<Queue>,
    /// Queue of trimmed packets by hwsku; overrides `queue`.
    pub queues: BTreeMap<String, Queue>,
    /// hwskus on which packets keep their DSCP if `TC_TO_DSCP_MAP` has no entry for their class.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub keeps_dscp: BTreeSet<String>,
}

impl TrimmingLimits {
    /// Returns whether a size is accepted.
    pub fn accepts(&self, size: Bytes) -> bool {
        self.size_min <= size && self.size_max.is_none_or(|max| size <= max)
    }
}

/// Table sizes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Limits {
    /// Number of local SIDs (MY_SID).
    pub my_sids: u32,
    /// Number of IPv6 routes.
    pub ipv6_routes: u32,
    /// Number of members in one ECMP group.
    pub ecmp_width: u32,
    /// ECMP group sizes above `ecmp_width` whose members have equal shares.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub ecmp_sizes: BTreeSet<u32>,
    /// Number of ECMP groups.
    pub ecmp_groups: u32,
    /// Number of neighbour entries.
    pub neighbours: u32,
    /// Sources of the numbers. Topology digests omit them: artefacts depend only on whether an exceeded number is
    /// assumed, because a fabric that exceeds any other number is rejected.
    #[serde(skip)]
    pub provenance: BTreeMap<Limit, Provenance>,
}

/// A number in [`Limits`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    /// Number of local SIDs.
    MySids,
    /// Number of IPv6 routes.
    Ipv6Routes,
    /// Number of members in one ECMP group.
    EcmpWidth,
    /// Number of ECMP groups.
    EcmpGroups,
    /// Number of neighbour entries.
    Neighbours,
}

impl Limit {
    /// All numbers, in the order of the keys of `limits` in platform files.
    pub const ALL: [Limit; 5] =
        [Limit::MySids, Limit::Ipv6Routes, Limit::EcmpWidth, Limit::EcmpGroups, Limit::Neighbours];

    /// Returns the key in the file.
    pub fn keyword(self) -> &'static str {
        match self {
            Limit::MySids => "my_sids",
            Limit::Ipv6Routes => "ipv6_routes",
            Limit::EcmpWidth => "ecmp_width",
            Limit::EcmpGroups => "ecmp_groups",
            Limit::Neighbours => "neighbours",
        }
    }
}

impl Limits {
    /// Returns the value of a number.
    pub fn get(&self, limit: Limit) -> u32 {
        match limit {
            Limit::MySids => self.my_sids,
            Limit::Ipv6Routes => self.ipv6_routes,
            Limit::EcmpWidth => self.ecmp_width,
            Limit::EcmpGroups => self.ecmp_groups,
            Limit::Neighbours => self.neighbours,
        }
    }

    /// Returns the reason why a number is assumed, if it is neither published nor measured.
    pub fn assumption(&self, limit: Limit) -> Option<&str> {
        match self.provenance.get(&limit)? {
            Provenance::Assumed(reason) => Some(reason),
            Provenance::Published(_) | Provenance::Measured(_) => None,
        }
    }
}

/// Features of a platform.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
// These are six independent facts, not states of one value.
#[allow(clippy::struct_excessive_bools)]
pub struct Features {
    /// uN: End with NEXT-CSID.
    pub un: bool,
    /// uA: End.X with NEXT-CSID.
    pub ua: bool,
    /// Packet trimming.
    pub trimming: bool,
    /// Priority flow control.
    pub pfc: bool,
    /// ECN marking.
    pub ecn: bool,
    /// ECMP hash over the RoCE destination queue pair.
    pub qp_hash: bool,
}

impl Platform {
    /// Returns the name of the hardware. Several platforms of the catalogue can describe one switch model
    /// with different port layouts. They have the same hardware name, because SONiC's platform name does not
    /// depend on the layout.
    pub fn hardware(&self) -> &str {
        self.sonic.as_ref().map_or(&self.id, |sonic| &sonic.platform)
    }

    /// Returns the numbers of used and of all cages of the switch, if `used` cages of this platform are in use.
    /// `chassis` is the platform of the same hardware that has all cages. If `self` has half as many, each of its cages
    /// counts as two.
    pub fn cages_used(&self, used: u32, chassis: &Platform) -> (u32, u32) {
        let all = u32::from(chassis.panel.cages);
        let each = (all / u32::from(self.panel.cages).max(1)).max(1);
        (used * each, all)
    }

    /// Returns the vendor: `nvidia` of `x86_64-nvidia_sn5600-r0`. ONIE names hardware by architecture, vendor and
    /// machine. For a platform without an ONIE name, the vendor is the first part of `id`.
    pub fn vendor(&self) -> &str {
        let onie = self.sonic.as_ref().and_then(|sonic| sonic.platform.split_once('-'));
        let name = onie.map_or(self.id.as_str(), |(_, machine)| machine);
        match name.split(['_', '-']).next().unwrap_or_default() {
            "mlnx" => "nvidia",
            vendor => vendor,
        }
    }

    /// Returns whether an operating system runs on this hardware.
    pub fn supports(&self, os: Os) -> bool {
        self.oses.contains(&os)
    }

    /// Returns whether packets are buffered in memory beside the ASIC, as in routers. Buffers on the ASIC have less than
    /// 1 GB.
    pub fn has_deep_buffer(&self) -> bool {
        self.buffer.as_ref().is_some_and(|buffer| buffer.total.0 > 1_000_000_000)
    }

    /// Returns whether the platform is a software target. Hardware in the catalogue has a packet buffer, SONiC's names
    /// or both; derived hardware has only the names.
    pub fn is_software(&self) -> bool {
        self.buffer.is_none() && self.sonic.is_none()
    }

    /// Returns whether packets wait in virtual queues of the ingress port, and not in queues of the egress port.
    pub fn has_virtual_queues(&self) -> bool {
        let model = self.buffer.as_ref().and_then(|buffer| buffer.headroom_model.parse::<Model>().ok());
        model.is_some_and(Model::has_virtual_queues)
    }

    /// Returns whether the driver lets ports negotiate unless their configuration has `autoneg: off`. Otherwise ports
    /// force their speed.
    pub fn states_autoneg(&self, os: Os) -> bool {
        os.has_hwskus() && self.sonic.as_ref().is_some_and(|sonic| sonic.states_autoneg)
    }

    /// Returns the first SONiC release in which a hwsku trims packets, if it is later than SONiC's first release with
    /// trimming.
    pub fn trimming_since(&self, os: Os, hwsku: &str) -> Option<Release> {
        let sonic = self.sonic.as_ref().filter(|_| os.has_hwskus())?;
        sonic.facts.get(hwsku)?.trimming_since
    }

    /// Returns the P4 pipeline whose tables a controller writes under an operating system, if there is one. This is the
    /// pipeline of the platform, or else the default one.
    pub fn pipeline(&self, os: Os) -> Option<&str> {
        let usual = os.pipeline()?;
        Some(self.pipeline.as_deref().filter(|_| os.takes_pipelines()).unwrap_or(usual))
    }

    /// Returns the platform with the port names of an operating system.
    #[must_use]
    pub fn under(self: &Arc<Self>, os: Os) -> Arc<Self> {
        let naming = self.panel.namings.get(&os).copied().unwrap_or(self.panel.usual_naming);
        if naming == self.panel.naming {
            return Arc::clone(self);
        }
        let mut own = Platform::clone(self);
        own.panel.naming = naming;
        Arc::new(own)
    }

    /// Returns the platform with the port names of a SONiC release, if they differ from those of later releases.
    pub fn with_release(&self, os: Os, release: Release) -> Option<Platform> {
        let older = self.panel.older_naming.filter(|older| os.has_hwskus() && release <= older.until)?;
        let mut own = self.clone();
        own.panel.namings.insert(os, older.naming);
        Some(own)
    }

    /// Returns the size of trimmed packets: the stated size, or the accepted size nearest to SONiC's default.
    pub fn trim_size(&self, os: Os, stated: Option<Bytes>) -> Bytes {
        let least = os.trim_size().map_or(0, |taken| (*taken.start()).into());
        let default = Trimming::DEFAULT_SIZE.max(Bytes(least));
        let nearest = |limits: &TrimmingLimits| {
            let least = default.max(limits.size_min);
            limits.size_max.map_or(least, |max| least.min(max))
        };
        stated.unwrap_or_else(|| self.trimming.as_ref().map_or(default, nearest))
    }

    /// Returns the queue of trimmed packets on a hwsku, if it cannot be chosen.
    pub fn trim_queue(&self, hwsku: &str) -> Option<Queue> {
        let limits = self.trimming.as_ref()?;
        limits.queues.get(hwsku).copied().or(limits.queue)
    }

    /// Returns whether packets of a class without an entry in `TC_TO_DSCP_MAP` leave a hwsku with DSCP 0.
    pub fn clears_unmapped_dscp(&self, hwsku: &str) -> bool {
        let model = self.buffer.as_ref().and_then(|buffer| buffer.headroom_model.parse::<Model>().ok());
        let keeps = self.trimming.as_ref().is_some_and(|limits| limits.keeps_dscp.contains(hwsku));
        model.is_some_and(Model::clears_unmapped_dscp) && !keeps
    }
}
