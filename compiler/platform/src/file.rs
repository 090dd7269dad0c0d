//! Fields of a catalogue file.
//!
//! In: YAML. Out: [`File`], parsed but not yet checked. Invariants: unknown keys and keywords are rejected. Values that
//! a check can report include their place in the file.

use std::collections::{BTreeMap, BTreeSet};

use closc_diagnostics::{SourceId, Span};
use closc_qos::codes::Queue;
use closc_qos::headroom::Model;
use closc_qos::units::{Bytes, Speed};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::alias::Aliases;
use crate::{
    Balancing, Breakout, CageSet, HwskuFacts, Layout, Limit, LogicalPorts, Maker, OlderBuffer, OlderNaming,
    Os, PortNaming, Power, Provenance, Release,
};

/// A value and its place in the file.
#[derive(Debug, Clone)]
pub(crate) struct LocatedValue<T> {
    pub(crate) value: T,
    pub(crate) start: usize,
    pub(crate) len: usize,
}

impl<T> LocatedValue<T> {
    /// Returns the place in the file.
    pub(crate) fn span(&self, source: SourceId) -> Span {
        Span::new(source, self.start..self.start + self.len)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for LocatedValue<T> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let spanned = serde_saphyr::Spanned::<T>::deserialize(deserializer)?;
        let span = spanned.defined.span();
        Ok(LocatedValue {
            value: spanned.value,
            start: span.byte_offset().unwrap_or(0) as usize,
            len: span.byte_len().unwrap_or(0) as usize,
        })
    }
}

impl<T: JsonSchema> JsonSchema for LocatedValue<T> {
    fn inline_schema() -> bool {
        T::inline_schema()
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        T::schema_name()
    }

    fn schema_id() -> std::borrow::Cow<'static, str> {
        T::schema_id()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        T::json_schema(generator)
    }
}

/// One switch SKU. Every number has a comment with its source, or is marked as conservative with the reason.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "closc platform", rename = "Platform")]
pub(crate) struct File {
    /// Name used in topologies: lowercase letters, digits and dashes, for example `th5-512x100g`.
    #[schemars(regex(pattern = r"^[a-z][a-z0-9]*(-[a-z0-9]+)*$"), length(max = 63))]
    pub(crate) id: LocatedValue<String>,
    /// One-line description.
    pub(crate) title: String,
    /// Sources of the values: documents, repositories with commit and path.
    pub(crate) sources: Vec<String>,
    /// Operating systems that run on the switch.
    pub(crate) os: LocatedValue<Vec<Os>>,
    /// The P4 pipeline whose tables a controller writes with `os: p4`, named by its folder in `p4/pipelines`; `fabric`
    /// if absent.
    #[serde(default)]
    pub(crate) pipeline: Option<LocatedValue<String>>,
    /// Height in rack units of 44.45 mm; absent for software targets, and if it is not published.
    #[serde(default)]
    #[schemars(range(min = 1))]
    pub(crate) rack_units: Option<LocatedValue<u16>>,
    /// Power without modules; absent for software targets, and if no data sheet has a figure.
    #[serde(default)]
    pub(crate) power: Option<LocatedValue<Power>>,
    /// Front panel.
    pub(crate) panel: PanelFile,
    /// SONiC's names for the switch; required if `os` lists `sonic`, otherwise rejected.
    #[serde(default)]
    pub(crate) sonic: Option<LocatedValue<SonicFile>>,
    /// Packet buffer; absent for software targets, and if it is not published.
    #[serde(default)]
    pub(crate) buffer: Option<BufferFile>,
    /// Accepted trimming settings; any if absent.
    #[serde(default)]
    pub(crate) trimming: Option<LocatedValue<TrimmingFile>>,
    /// Table sizes.
    pub(crate) limits: LimitsFile,
    /// Load balancing beyond a hash, by operating system and kind (`ecmp.balance` of a fabric file); none if absent.
    #[serde(default)]
    pub(crate) balancing: Balancing,
    /// Layouts of the ports, which tiers of a fabric file select with `layout`.
    #[serde(default)]
    pub(crate) layouts: BTreeMap<String, LocatedValue<Layout>>,
    /// Features.
    pub(crate) features: Vec<LocatedValue<Feature>>,
}

/// The front panel: equal cages of equal lanes. Ports that carry no fabric traffic (SFP service ports) are omitted.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Panel")]
pub(crate) struct PanelFile {
    /// Number of cages.
    pub(crate) cages: LocatedValue<u16>,
    /// Number of serial lanes in each cage.
    pub(crate) lanes: LocatedValue<u8>,
    /// Fastest speed of one lane.
    pub(crate) lane_speed: LocatedValue<Speed>,
    /// Supported breakouts of a cage: number of ports and speed, as in `8x100G`.
    pub(crate) breakouts: Vec<LocatedValue<Breakout>>,
    /// Breakouts that use only the first lanes of a cage, as in `1x100G(4)`. A single port has the alias of the cage.
    #[serde(default)]
    pub(crate) partial: Vec<LocatedValue<Breakout>>,
    /// The breakout in the name of the SKU, which must be one of `breakouts`.
    pub(crate) default: LocatedValue<Breakout>,
    /// Port names.
    pub(crate) naming: PortNaming,
    /// Port names of operating systems that use different names.
    #[serde(default)]
    pub(crate) namings: BTreeMap<Os, PortNaming>,
    /// Port names of older releases of SONiC.
    #[serde(default)]
    pub(crate) older_naming: Option<OlderNaming>,
    /// Aliases of SONiC's ports, if they differ from those of `naming`.
    #[serde(default)]
    pub(crate) aliases: Option<LocatedValue<Aliases>>,
    /// Numbers printed next to the cages, as in SONiC's `index`; 1, 2, 3 and so on if absent.
    #[serde(default)]
    pub(crate) numbers: NumbersFile,
    /// The N of SONiC's `EthernetN`; if absent, the lanes of the panel are counted from 0.
    #[serde(default)]
    pub(crate) port_numbers: Option<LocatedValue<PortNumbersFile>>,
    /// Lanes per number in SONiC's port names: 2 if ports of two lanes are `Ethernet0`, `Ethernet1`, `Ethernet2`; 1 if
    /// absent.
    #[serde(default)]
    #[schemars(range(min = 1))]
    pub(crate) lanes_per_number: Option<LocatedValue<u8>>,
    /// Serial lanes of the ASIC behind the cages.
    pub(crate) serial_lanes: LocatedValue<LanesFile>,
    /// Maximum number of lanes that SONiC's `port_config.ini` lists for a port; all of them if absent.
    #[serde(default)]
    #[schemars(range(min = 1))]
    pub(crate) listed_lanes: Option<LocatedValue<u8>>,
    /// Width of a port number in P4 pipelines in bits; 9 if absent, as in v1model.
    #[serde(default)]
    #[schemars(range(min = 9, max = 12))]
    pub(crate) port_bits: Option<LocatedValue<u8>>,
    /// The port map of targets with their own port numbers, such as `dev_port` in the SDE of Tofino. It lists the
    /// number of the first lane of each cage; the other lanes of the cage follow. If absent, the lanes of the panel are
    /// counted from 1.
    #[serde(default)]
    pub(crate) device_ports: Option<LocatedValue<Vec<u16>>>,
    /// Ports that the ASIC can have at the same time, if the cages can be split into more.
    #[serde(default)]
    pub(crate) logical_ports: Option<LogicalPorts>,
    /// The cages of each breakout that some cages of the panel do not support, counted from 0.
    #[serde(default)]
    pub(crate) breakout_cages: BTreeMap<Breakout, LocatedValue<CageSet>>,
    /// Breakouts that disable the next cage, because their ports take its port numbers in the ASIC.
    #[serde(default)]
    pub(crate) disables_next: Vec<LocatedValue<Breakout>>,
}

/// Numbers printed next to the cages.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "Numbers")]
pub(crate) struct NumbersFile {
    /// Number of the first cage.
    pub(crate) first: u16,
    /// Step from one cage to the next; 2 if every other cage must stay empty.
    #[schemars(range(min = 1, max = 16))]
    pub(crate) step: u16,
    /// Number of adjacent cages with the same number, such as 8 for the ports of one optical engine.
    #[schemars(range(min = 1))]
    pub(crate) cages: u16,
}

impl Default for NumbersFile {
    fn default() -> Self {
        NumbersFile { first: 1, step: 1, cages: 1 }
    }
}

/// Source of the N in SONiC's `EthernetN`, as in `port_config.ini`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "PortNumbers")]
pub(crate) enum PortNumbersFile {
    /// The number of the first lane of the panel; all others are counted from it.
    From(u16),
    /// The number of the first lane of each cage; the other lanes of a cage are counted from it.
    First(Vec<u16>),
}

/// Serial lanes of the ASIC, as in `lanes` of SONiC's `port_config.ini`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "SerialLanes")]
pub(crate) enum LanesFile {
    /// Consecutive lanes from this one, in panel order. If `numbers.step` is above 1, the lanes of unused
    /// cages are skipped.
    From(u16),
    /// The first lane of each cage; the others follow.
    First(Vec<u16>),
    /// All lanes of each cage, if they are not consecutive.
    Each(Vec<Vec<u16>>),
}

/// SONiC's names for a SKU.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Sonic")]
pub(crate) struct SonicFile {
    /// `DEVICE_METADATA.hwsku`.
    pub(crate) hwsku: String,
    /// Whether `hwsku` also accepts breakouts that are not listed, with SONiC's dynamic port breakout.
    #[serde(default)]
    pub(crate) any_breakout: bool,
    /// `DEVICE_METADATA.platform`.
    pub(crate) platform: String,
    /// The first SONiC release with the platform; if absent, all supported releases have it.
    #[serde(default)]
    pub(crate) since: Option<Release>,
    /// Maker of the ASIC, as in SONiC's `platform_asic`. It selects the known faults that apply. If absent, it follows
    /// from the headroom formula.
    #[serde(default)]
    pub(crate) asic: Option<Maker>,
    /// Whether `PORT` contains `autoneg: off`, as SONiC's own files for the hwsku do. Set it if the driver lets ports
    /// negotiate unless their configuration disables this, as NVIDIA's does.
    #[serde(default)]
    pub(crate) states_autoneg: bool,
    /// Other hwskus, each for the breakouts in use on the switch.
    #[serde(default)]
    pub(crate) hwskus: Vec<HwskuFile>,
    /// Facts about single hwskus, by name. For all others, `features` applies.
    #[serde(default)]
    pub(crate) facts: BTreeMap<String, HwskuFacts>,
}

/// A hwsku, and the breakouts in use on the switch for which it applies.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Hwsku")]
pub(crate) struct HwskuFile {
    /// All breakouts in use on the switch. A breakout of a share of a cage, such as `1x800G(4)`, uses the first lanes
    /// of the cage if it is first in the list. Otherwise it uses the last lanes, after the ports of the first breakout
    /// in the list.
    pub(crate) breakouts: Vec<LocatedValue<Breakout>>,
    /// `DEVICE_METADATA.hwsku`.
    pub(crate) hwsku: String,
    /// The cages of each breakout, counted from 0. Required if cages have different breakouts, or if some have no
    /// ports. A switch that uses other cages needs another hwsku.
    #[serde(default)]
    pub(crate) cages: BTreeMap<Breakout, CageSet>,
}

/// Packet buffer.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Buffer")]
pub(crate) struct BufferFile {
    /// Size of the shared buffer.
    pub(crate) total: LocatedValue<Bytes>,
    /// Sizes for hwskus that differ from `total`, by name.
    #[serde(default)]
    pub(crate) totals: BTreeMap<String, LocatedValue<Bytes>>,
    /// Allocation unit.
    pub(crate) cell: LocatedValue<Bytes>,
    /// Formula of the PFC headroom, for example `nvidia-spectrum-4`.
    #[schemars(with = "Model")]
    pub(crate) headroom: LocatedValue<String>,
    /// Formulas of hwskus that have their own lookup tables, by name.
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, Model>")]
    pub(crate) headrooms: BTreeMap<String, LocatedValue<String>>,
    /// Maximum size of a lossless queue, for SKUs with one static egress pool. If absent, lossless and lossy queues
    /// each have a dynamic pool.
    #[serde(default)]
    pub(crate) lossless_queue_max: Option<LocatedValue<Bytes>>,
    /// Sizes of the shared buffer with older releases of SONiC.
    #[serde(default)]
    pub(crate) older: Vec<OlderBuffer>,
}

/// Trimming settings that a platform accepts. orchagent stops at the first rejected setting.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Trimming")]
pub(crate) struct TrimmingFile {
    /// Minimum size of a trimmed packet.
    pub(crate) size_min: Bytes,
    /// Maximum size of a trimmed packet.
    #[serde(default)]
    pub(crate) size_max: Option<Bytes>,
    /// The queue of trimmed packets, if it cannot be chosen.
    #[serde(default)]
    pub(crate) queue: Option<Queue>,
    /// Queue of trimmed packets by hwsku; overrides `queue`.
    #[serde(default)]
    pub(crate) queues: BTreeMap<String, Queue>,
    /// hwskus on which packets keep their DSCP if `TC_TO_DSCP_MAP` has no entry for their class. On other hwskus with
    /// Broadcom ASICs, such packets leave with DSCP 0, so all classes are mapped.
    #[serde(default)]
    pub(crate) keeps_dscp: BTreeSet<String>,
}

/// Table sizes.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Limits")]
pub(crate) struct LimitsFile {
    /// Number of local SIDs (MY_SID); 0 if they are not supported.
    pub(crate) my_sids: LocatedValue<u32>,
    /// Number of IPv6 routes.
    pub(crate) ipv6_routes: LocatedValue<u32>,
    /// Number of members in one ECMP group.
    pub(crate) ecmp_width: LocatedValue<u32>,
    /// Sizes of ECMP groups above `ecmp_width`. The hardware rounds any other size above `ecmp_width` up to one of
    /// these, so members then have unequal shares.
    #[serde(default)]
    pub(crate) ecmp_sizes: BTreeSet<u32>,
    /// Number of ECMP groups.
    pub(crate) ecmp_groups: LocatedValue<u32>,
    /// Number of IPv6 neighbour entries.
    pub(crate) neighbours: LocatedValue<u32>,
    /// Source of each number. A fabric that exceeds an assumed number causes a warning instead of an error. A number
    /// without an entry is a hard limit.
    #[serde(default)]
    pub(crate) provenance: BTreeMap<Limit, Provenance>,
}

/// A feature of a platform.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Feature {
    /// End with NEXT-CSID (RFC 9800) and 16-bit uSIDs in a 32-bit block.
    Un,
    /// End.X with NEXT-CSID (RFC 9800) and 16-bit uSIDs in a 32-bit block.
    Ua,
    /// Packet trimming.
    Trimming,
    /// Priority flow control (802.1Qbb).
    Pfc,
    /// ECN marking (RFC 3168).
    Ecn,
    /// ECMP hash over the destination queue pair of RoCE packets.
    QpHash,
}

impl Feature {
    /// Returns the keyword in the file.
    pub(crate) fn keyword(self) -> &'static str {
        match self {
            Feature::Un => "un",
            Feature::Ua => "ua",
            Feature::Trimming => "trimming",
            Feature::Pfc => "pfc",
            Feature::Ecn => "ecn",
            Feature::QpHash => "qp_hash",
        }
    }
}

/// Returns the JSON Schema of a catalogue file.
pub fn schema() -> schemars::Schema {
    schemars::schema_for!(File)
}

impl File {
    /// Returns whether the file lists a feature.
    pub(crate) fn has(&self, feature: Feature) -> bool {
        self.features.iter().any(|at| at.value == feature)
    }
}

impl PanelFile {
    /// Returns the port number of the first lane of each cage, if the file lists these numbers.
    pub(crate) fn port_numbers(&self) -> Option<Vec<u32>> {
        let step = u32::from(self.numbers.step) * u32::from(self.lanes.value) / self.lanes_per_number();
        match &self.port_numbers.as_ref()?.value {
            PortNumbersFile::From(first) => {
                Some((0..u32::from(self.cages.value)).map(|cage| u32::from(*first) + cage * step).collect())
            }
            PortNumbersFile::First(first) => Some(first.iter().copied().map(u32::from).collect()),
        }
    }

    /// Returns the breakouts that leave lanes of the cage unused.
    pub(crate) fn partial(&self) -> Vec<Breakout> {
        self.partial.iter().map(|at| at.value).collect()
    }

    /// Returns the lanes per number in port names, at least 1.
    pub(crate) fn lanes_per_number(&self) -> u32 {
        self.lanes_per_number.as_ref().map_or(1, |lanes| u32::from(lanes.value.max(1)))
    }

    /// Returns whether a breakout is offered, for complete cages or for a share.
    pub(crate) fn offers(&self, breakout: Breakout) -> bool {
        let whole = match breakout.share {
            Some(_) => breakout.of_whole_cages(self.lanes.value),
            None => Some(breakout),
        };
        let fits = breakout.share.is_none_or(|share| share.lanes < self.lanes.value);
        let is_partial = self.partial.iter().any(|at| at.value == breakout);
        is_partial || fits && whole.is_some_and(|whole| self.breakouts.iter().any(|at| at.value == whole))
    }

    /// Returns the serial lanes, cage by cage; `None` if they exceed 16 bits.
    pub(crate) fn serial_lanes(&self) -> Option<Vec<u16>> {
        let lanes = u16::from(self.lanes.value);
        let run = |first: u16| (0..lanes).map(move |lane| first.checked_add(lane));
        match &self.serial_lanes.value {
            LanesFile::From(first) => (0..self.cages.value)
                .map(|cage| cage.checked_mul(self.numbers.step)?.checked_mul(lanes)?.checked_add(*first))
                .collect::<Option<Vec<u16>>>()?
                .into_iter()
                .flat_map(run)
                .collect(),
            LanesFile::First(first) => first.iter().copied().flat_map(run).collect(),
            LanesFile::Each(each) => Some(each.iter().flatten().copied().collect()),
        }
    }
}
