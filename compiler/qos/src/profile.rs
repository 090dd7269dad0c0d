//! A QoS profile: the classes of a fabric, and their treatment by switches and hosts.
//!
//! In: a preset, or a custom profile in YAML ([`ProfileSpec`]). Out: a [`Profile`] that is complete and consistent.
//! Invariants: every DSCP leads to exactly one class, and every class to one traffic class, queue and priority group.
//! PFC, ECN and trimming do not contradict each other. The settings of switches and hosts are derived from this single
//! object (the maps of [`Profile`], [`crate::host`]), so they cannot disagree.

mod check;
mod class;
mod error;
mod lower;
mod maps;
mod marks;
mod name;
mod preset;
mod presets;
mod repair;
mod spec;
mod switch;
#[cfg(test)]
mod tests;

pub use class::{Class, Role, Scheduler};
pub use error::ProfileError;
pub use lower::lower;
pub use name::{ClassName, NameError};
pub use preset::Preset;
pub use repair::ProfileKey;
pub use spec::{ClassSpec, ProfileSpec};
pub use switch::Switch;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::codes::{Dscp, Percent, TrafficClass};
use crate::units::{Bytes, Nanoseconds};

/// A profile before its rules are checked.
///
/// Presets create drafts and overlays change them; all other code uses a [`Profile`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Draft {
    /// The name, also used for tables on the switch.
    pub name: ClassName,
    /// The classes by name.
    pub classes: BTreeMap<ClassName, Class>,
    /// The class of every DSCP without a class.
    pub default: ClassName,
    /// Packet trimming, if the fabric trims.
    pub trimming: Option<Trimming>,
    /// The PFC watchdog, if the fabric has one.
    pub watchdog: Option<Watchdog>,
    /// Whether switches also mark packets on the port to a NIC.
    pub ecn_last_hop: bool,
    /// Packet sizes of lossless classes.
    pub lossless_traffic: LosslessTraffic,
    /// Sharing of headroom between ports, if enabled.
    pub shared_headroom: Option<SharedHeadroom>,
    /// Fixed shares of the buffer, for targets that partition it.
    pub buffer_shares: Option<BufferShares>,
}

/// A checked profile.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Profile {
    draft: Draft,
    /// Class names in ascending order of traffic class, which is the order of all derived lists.
    #[serde(skip)]
    order: Vec<ClassName>,
}

impl Profile {
    /// Checks all rules of a profile and reports every violation.
    pub fn new(mut draft: Draft) -> Result<Self, Vec<ProfileError>> {
        for (name, class) in &mut draft.classes {
            class.name.clone_from(name);
        }
        let faults = check::faults(&draft);
        if !faults.is_empty() {
            return Err(faults);
        }
        let mut order: Vec<_> = draft.classes.values().map(|class| (class.tc, class.name.clone())).collect();
        order.sort();
        Ok(Self { draft, order: order.into_iter().map(|(_, name)| name).collect() })
    }

    /// Returns the name.
    pub fn name(&self) -> &ClassName {
        &self.draft.name
    }

    /// Returns the profile as plain data, so that it can be changed and checked again.
    pub fn draft(&self) -> &Draft {
        &self.draft
    }

    /// Returns the classes in ascending order of traffic class.
    pub fn classes(&self) -> impl Iterator<Item = &Class> {
        self.order.iter().map(|name| &self.draft.classes[name])
    }

    /// Returns the class with a name.
    pub fn class(&self, name: &ClassName) -> Option<&Class> {
        self.draft.classes.get(name)
    }

    /// Returns the class of all DSCPs that no class claims.
    pub fn default_class(&self) -> &Class {
        &self.draft.classes[&self.draft.default]
    }

    /// Returns the class of packets with a DSCP.
    pub fn class_of(&self, dscp: Dscp) -> &Class {
        self.classes().find(|class| class.dscp.contains(&dscp)).unwrap_or_else(|| self.default_class())
    }

    /// Returns the class with a role. If there are several, returns the one with the lowest traffic class.
    pub fn role(&self, role: Role) -> Option<&Class> {
        self.classes().find(|class| class.role == role)
    }

    /// Returns the class of training data. If there are several, returns the one with the lowest traffic class.
    pub fn data(&self) -> &Class {
        self.role(Role::Data).expect("the check demands a data class")
    }

    /// Returns the lossless classes in ascending order of traffic class.
    pub fn lossless(&self) -> impl Iterator<Item = &Class> {
        self.classes().filter(|class| class.pfc)
    }

    /// Returns whether any class is lossless.
    pub fn is_lossless(&self) -> bool {
        self.lossless().next().is_some()
    }

    /// Returns the trimming settings, if the fabric trims packets.
    pub fn trimming(&self) -> Option<&Trimming> {
        self.draft.trimming.as_ref()
    }

    /// Returns the PFC watchdog, if there is one.
    pub fn watchdog(&self) -> Option<&Watchdog> {
        self.draft.watchdog.as_ref()
    }

    /// Returns whether switches also mark packets on the port to a NIC.
    pub fn ecn_last_hop(&self) -> bool {
        self.draft.ecn_last_hop
    }

    /// Returns the packet sizes of lossless classes.
    pub fn lossless_traffic(&self) -> LosslessTraffic {
        self.draft.lossless_traffic
    }

    /// Returns the sharing of headroom, if ports share it.
    pub fn shared_headroom(&self) -> Option<SharedHeadroom> {
        self.draft.shared_headroom
    }

    /// Returns the fixed shares of the buffer, if the profile has them.
    pub fn buffer_shares(&self) -> Option<BufferShares> {
        self.draft.buffer_shares
    }
}

/// Trimming of packets that would otherwise be dropped.
///
/// A trimming switch puts the trimmed packet into the traffic class `tc`, to which no DSCP maps. Each port then
/// rewrites the DSCP of packets in that class. In SONiC these are `SWITCH_TRIMMING` with `dscp_value: from-tc`, and a
/// `TC_TO_DSCP_MAP` per port. A packet that arrives trimmed is not in `tc`, so it keeps its DSCP.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Trimming {
    /// Size of a trimmed packet. If absent, the size nearest to 128 B that the platform supports.
    #[serde(default)]
    pub size: Option<Bytes>,
    /// The class of trimmed packets.
    pub class: ClassName,
    /// The traffic class of trimmed packets on the switch that trims them, by which their DSCP is rewritten.
    #[serde(default = "Trimming::default_tc")]
    pub tc: TrafficClass,
    /// The DSCP of packets trimmed inside the fabric.
    pub fabric_dscp: Dscp,
    /// The DSCP of packets trimmed on the port to their NIC.
    pub last_hop_dscp: Dscp,
}

impl Trimming {
    /// SONiC's default, 128 bytes (packet trimming design, `SWITCH_TRIMMING|GLOBAL|size`).
    pub const DEFAULT_SIZE: Bytes = Bytes(128);

    /// Returns the traffic class that SONiC's own AI SKUs use (Mellanox-SN5600-C256S1, `TC_TO_DSCP_MAP`).
    pub(crate) fn default_tc() -> TrafficClass {
        TrafficClass::constant(8)
    }
}

/// Action of the watchdog on a queue that stays paused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WatchdogAction {
    /// Drops the packets of the queue.
    Drop,
    /// Forwards the packets in spite of the pause.
    Forward,
    /// Only reports the queue.
    Alert,
}

/// The PFC watchdog. Ranges are those of SONiC (`sonic-pfcwd` YANG).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Watchdog {
    /// Action on a queue that stays paused.
    #[serde(default = "Watchdog::default_action")]
    pub action: WatchdogAction,
    /// Duration of a pause after which the watchdog acts: 100 ms to 5 s. Default: 200 ms per 32 ports of the panel.
    #[serde(default, deserialize_with = "crate::units::millis")]
    pub detection: Option<Nanoseconds>,
    /// Time without a pause after which the watchdog stops acting: 100 ms to 60 s. Default: as `detection`.
    #[serde(default, deserialize_with = "crate::units::millis")]
    pub restoration: Option<Nanoseconds>,
    /// Polling interval: 100 ms to 1 s. Default: as `detection`, but at most 1 s.
    #[serde(default, deserialize_with = "crate::units::millis")]
    pub poll: Option<Nanoseconds>,
}

/// Times of a watchdog on a switch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WatchdogTimes {
    /// Duration of a pause after which the watchdog acts.
    pub detection: Nanoseconds,
    /// Time without a pause after which the watchdog stops acting.
    pub restoration: Nanoseconds,
    /// Polling interval.
    pub poll: Nanoseconds,
}

impl Watchdog {
    fn default_action() -> WatchdogAction {
        WatchdogAction::Drop
    }

    /// Maximum times in SONiC's `sonic-pfcwd` YANG model, in milliseconds: detection, restoration, poll.
    pub(super) const MAX_MILLIS: [u32; 3] = [5_000, 60_000, 1_000];

    /// Returns the times on a switch with a number of ports.
    ///
    /// Defaults are those of SONiC's `pfcwd start_default` (sonic-utilities, `pfcwd/main.py`): 200 ms for every 32
    /// ports or part thereof. The switch polls every queue of every port in turn. The polling interval is at most 1 s,
    /// and no time exceeds the maximum of the YANG model. Defaults are adapted to configured times, so that no time is
    /// shorter than the polling interval.
    pub fn times(&self, ports: u32) -> WatchdogTimes {
        let scaled = (ports.saturating_sub(1) / 32 + 1).saturating_mul(200);
        let most = |max: u32| Nanoseconds::from_millis(scaled.min(max));
        let [detection_max, restoration_max, poll_max] = Self::MAX_MILLIS;
        let floor = self.poll.unwrap_or_default();
        let detection = self.detection.unwrap_or_else(|| most(detection_max).max(floor));
        let restoration = self.restoration.unwrap_or_else(|| most(restoration_max).max(floor));
        let poll = self.poll.unwrap_or_else(|| most(poll_max).min(detection).min(restoration));
        WatchdogTimes { detection, restoration, poll }
    }
}

impl Default for Watchdog {
    fn default() -> Self {
        Self { action: Self::default_action(), detection: None, restoration: None, poll: None }
    }
}

/// Packet sizes of lossless classes (SONiC: `LOSSLESS_TRAFFIC_PATTERN`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LosslessTraffic {
    /// The largest packet of a lossless class.
    pub mtu: Bytes,
    /// Percentage of packets with 64 bytes. Small packets waste buffer cells.
    pub small_packets: Percent,
}

impl Default for LosslessTraffic {
    /// Returns SONiC's default pattern: 1,024 bytes, 50 % (`buffers_config.j2`).
    fn default() -> Self {
        Self { mtu: Bytes(1024), small_packets: Percent::constant(50) }
    }
}

/// Sharing of headroom between the ports of a switch (SONiC: `DEFAULT_LOSSLESS_BUFFER_PARAMETER`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SharedHeadroom {
    /// The sum of all headroom divided by the size of the pool. With 1, no headroom is shared.
    pub over_subscribe_ratio: std::num::NonZeroU32,
}

/// Fixed shares of the buffer in percent (Junos: `shared-buffer ingress buffer-partition`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BufferShares {
    /// Share of lossless classes.
    pub lossless: Percent,
    /// Share of the headroom of lossless classes.
    pub headroom: Percent,
    /// Share of all other classes.
    pub lossy: Percent,
}
