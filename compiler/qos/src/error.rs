//! What can be wrong with a QoS profile or with the numbers asked of it.
//!
//! In: the name and the value at fault. Out: one sentence in the words of the topology author, with the fix
//! where there is one. Invariants: the data are in fields, so that a later stage can point at a line.

use crate::buffer::{Refusal, WayOut};
use crate::codes::{Dscp, Priority, PriorityGroup, Queue, TrafficClass};
use crate::explain::Breakdown;
use crate::headroom::Model;
use crate::profile::ClassName;
use crate::units::{Bytes, Length, Nanoseconds, Speed};

/// Says what is wrong with a profile or a calculation.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum QosError {
    /// A small number is outside its legal range.
    #[error("{kind} {value} is out of range: use {min} to {max}")]
    OutOfRange {
        /// What the number is.
        kind: &'static str,
        /// What was written.
        value: i64,
        /// The smallest legal value.
        min: i64,
        /// The largest legal value.
        max: i64,
    },
    /// A name does not fit the targets.
    #[error(
        "`{name}` cannot name {what}: use 1 to 32 letters, digits, `-` or `_`, and a letter or digit first"
    )]
    BadName {
        /// What was written.
        name: String,
        /// What it names, with its article.
        what: &'static str,
    },
    /// No preset has that name.
    #[error("there is no QoS profile `{name}`: use one of {known}")]
    UnknownPreset {
        /// What was written.
        name: String,
        /// The presets there are.
        known: String,
    },
    /// There are more classes than code points.
    #[error("the profile has {count} classes: at most {max} can have a DSCP of their own")]
    TooManyClasses {
        /// How many were written.
        count: usize,
        /// How many there may be.
        max: usize,
    },
    /// A class of one's own lacks a value that has no default.
    #[error("class `{class}` has no `{field}`: only a class of the base profile may leave it out")]
    MissingField {
        /// The class.
        class: ClassName,
        /// The field.
        field: &'static str,
    },
    /// A class is named that does not exist.
    #[error("`{field}` names class `{class}`, which the profile does not have: it has {known}")]
    UnknownClass {
        /// The field with the name.
        field: &'static str,
        /// The name.
        class: ClassName,
        /// The classes there are.
        known: String,
    },
    /// No class carries data.
    #[error("no class has `role: data`: training traffic would have no queue")]
    NoData,
    /// A class that hosts send has no code point.
    #[error("class `{class}` has `role: {role}` and no `dscp`: nothing would reach it")]
    NoDscp {
        /// The class.
        class: ClassName,
        /// Its role.
        role: &'static str,
    },
    /// Two classes have a role that only one can have.
    #[error("classes `{first}` and `{second}` both have `role: {role}`: only one can")]
    RoleTwice {
        /// The role.
        role: &'static str,
        /// The first class.
        first: ClassName,
        /// The second class.
        second: ClassName,
    },
    /// Two classes claim one code point.
    #[error("DSCP {dscp} is claimed by classes `{first}` and `{second}`: a packet has one class")]
    DscpTwice {
        /// The code point.
        dscp: Dscp,
        /// The first class.
        first: ClassName,
        /// The second class.
        second: ClassName,
    },
    /// Two classes claim one traffic class.
    #[error("traffic class {tc} is used by classes `{first}` and `{second}`: each needs its own")]
    TrafficClassTwice {
        /// The traffic class.
        tc: TrafficClass,
        /// The first class.
        first: ClassName,
        /// The second class.
        second: ClassName,
    },
    /// Two classes share a queue and want different things of it.
    #[error("classes `{first}` and `{second}` share queue {queue} but differ in `{field}`")]
    QueueConflict {
        /// The queue.
        queue: Queue,
        /// The first class.
        first: ClassName,
        /// The second class.
        second: ClassName,
        /// The setting in which they differ.
        field: &'static str,
    },
    /// A priority group holds lossless traffic and something else.
    #[error(
        "priority group {group} holds lossless class `{lossless}` and class `{other}`: \
         a pause would stop both, so give `{lossless}` a group of its own"
    )]
    GroupShared {
        /// The priority group.
        group: PriorityGroup,
        /// The lossless class.
        lossless: ClassName,
        /// The other class.
        other: ClassName,
    },
    /// A PFC priority pauses another class too.
    #[error(
        "priority {priority} is paused for class `{lossless}` and used by class `{other}`: \
         a host would stop both, so give `{other}` another `priority`"
    )]
    PriorityShared {
        /// The priority.
        priority: Priority,
        /// The lossless class.
        lossless: ClassName,
        /// The other class.
        other: ClassName,
    },
    /// A traffic class above 7 has no priority of the same number.
    #[error(
        "class `{class}` has traffic class {tc} and no `priority`: priorities end at 7, so one must be given"
    )]
    NoPriority {
        /// The class.
        class: ClassName,
        /// The traffic class.
        tc: TrafficClass,
    },
    /// A class never drops and yet trims what it drops.
    #[error(
        "class `{class}` has `pfc: true` and `trim: true`: a lossless queue never drops, so it cannot trim"
    )]
    TrimsLossless {
        /// The class.
        class: ClassName,
    },
    /// A class that must get through is marked, trimmed or paused.
    #[error("class `{class}` has `role: {role}` and `{field}`: {why}")]
    RoleConflict {
        /// The class.
        class: ClassName,
        /// Its role.
        role: &'static str,
        /// The setting that does not go with it.
        field: &'static str,
        /// The reason.
        why: &'static str,
    },
    /// A class trims and the profile does not say how.
    #[error(
        "class `{class}` has `trim: true` and the profile has no `trimming`: say which DSCP trimmed packets get"
    )]
    TrimWithoutTrimming {
        /// The class.
        class: ClassName,
    },
    /// The profile says how to trim and no class does.
    #[error("the profile has `trimming` and no class has `trim: true`: nothing would be trimmed")]
    TrimmingUnused,
    /// The DSCP of trimmed packets leads to another class.
    #[error(
        "trimmed packets get DSCP {dscp}, which leads to class `{found}` and not to `{wanted}`: \
         add {dscp} to the `dscp` of `{wanted}`"
    )]
    TrimmedDscp {
        /// The code point.
        dscp: Dscp,
        /// The class named by `trimming`.
        wanted: ClassName,
        /// The class the code point leads to.
        found: ClassName,
    },
    /// Fabric and last hop mark trimmed packets alike.
    #[error(
        "trimmed packets get DSCP {dscp} in the fabric and at the last hop: a NIC could not tell incast from congestion"
    )]
    TrimmedDscpTwice {
        /// The code point.
        dscp: Dscp,
    },
    /// The traffic class used to remark trimmed packets is an ordinary one.
    #[error(
        "`trimming.tc` is {tc}, the traffic class of `{class}`: it must be one no DSCP maps to, \
         or packets trimmed upstream would be remarked on their way"
    )]
    TrimTrafficClass {
        /// The traffic class.
        tc: TrafficClass,
        /// The class that has it.
        class: ClassName,
    },
    /// Thresholds are in the wrong order.
    #[error("class `{class}`: ECN minimum {min} is not below the maximum {max}")]
    EcnOrder {
        /// The class.
        class: ClassName,
        /// The lower threshold as written.
        min: String,
        /// The upper threshold as written.
        max: String,
    },
    /// A marking probability of nothing marks nothing.
    #[error(
        "class `{class}`: ECN probability 0 marks nothing below the maximum: use 1 to 100, or `ecn: off`"
    )]
    EcnNeverMarks {
        /// The class.
        class: ClassName,
    },
    /// A watchdog timer is outside what the targets take.
    #[error("watchdog `{field}` is {value}: use {min} to {max}")]
    WatchdogRange {
        /// The timer.
        field: &'static str,
        /// What was written.
        value: Nanoseconds,
        /// The least.
        min: Nanoseconds,
        /// The most.
        max: Nanoseconds,
    },
    /// A watchdog timer is shorter than the interval it is polled with.
    #[error("watchdog `{field}` {value} is shorter than `poll` {poll}: it would never be seen in time")]
    WatchdogPoll {
        /// The timer.
        field: &'static str,
        /// What was written.
        value: Nanoseconds,
        /// The poll interval.
        poll: Nanoseconds,
    },
    /// There is a watchdog and nothing to watch.
    #[error("the profile has a `watchdog` and no class has `pfc: true`: set `watchdog: off`")]
    WatchdogUnused,
    /// Resolved thresholds are in the wrong order.
    #[error("ECN minimum {min} is not below the maximum {max} ({origin})")]
    EcnThresholdOrder {
        /// The lower threshold.
        min: Bytes,
        /// The upper threshold.
        max: Bytes,
        /// Where they come from.
        origin: String,
    },
    /// Marking would start after PFC or loss.
    #[error("ECN maximum {max} ({origin}) is not below {what} at {limit}: marking would come too late")]
    EcnAboveLimit {
        /// The upper threshold.
        max: Bytes,
        /// What it must stay below.
        limit: Bytes,
        /// What happens there.
        what: &'static str,
        /// Where the threshold comes from.
        origin: String,
    },
    /// The buffer holds too few packets to mark any in time.
    #[error(
        "no room for ECN: a minimum of two packets ({floor}) and a maximum of {ratio} times that do not fit \
         below {what} at {limit}"
    )]
    EcnNoRoom {
        /// The least minimum.
        floor: Bytes,
        /// The maximum in multiples of the minimum.
        ratio: u64,
        /// What the maximum must stay below.
        limit: Bytes,
        /// What happens there.
        what: &'static str,
    },
    /// No headroom model has that name.
    #[error("there is no headroom model `{name}`: use one of {known}")]
    UnknownModel {
        /// What was written.
        name: String,
        /// The models there are.
        known: String,
    },
    /// A headroom model has no numbers for a speed.
    #[error(
        "headroom model `{model}` has no numbers for {speed}: it has {known}{}",
        if *model == Model::Ieee { "" } else { "; `ieee-802-1qbb` has a formula for other speeds" }
    )]
    SpeedUnknown {
        /// The model.
        model: Model,
        /// The speed asked for.
        speed: Speed,
        /// The speeds there are.
        known: String,
    },
    /// A cable is longer than the Earth is round.
    #[error("a cable of {cable} is longer than {longest}, once around the Earth")]
    CableTooLong {
        /// The cable.
        cable: Length,
        /// The longest there can be.
        longest: Length,
    },
    /// A packet size is outside what Ethernet and IP carry.
    #[error("{what} {mtu} is out of range: use {min} to {max}")]
    MtuOutOfRange {
        /// Which packet size.
        what: &'static str,
        /// What was asked for.
        mtu: Bytes,
        /// The least.
        min: Bytes,
        /// The most.
        max: Bytes,
    },
    /// A gearbox is slower than any.
    #[error("a gearbox delay of {delay} is out of range: use 0ns to {longest}")]
    GearboxTooSlow {
        /// What was asked for.
        delay: Nanoseconds,
        /// The most.
        longest: Nanoseconds,
    },
    /// A NIC cannot hold what still arrives after its pause.
    #[error(
        "a NIC buffer of {size} cannot be lossless: headroom {headroom} + MTU {mtu} leave nothing, at least \
         {needed} are needed"
    )]
    NicBufferTooSmall {
        /// The buffer.
        size: Bytes,
        /// What still arrives.
        headroom: Bytes,
        /// The largest packet.
        mtu: Bytes,
        /// The least that works.
        needed: Bytes,
    },
    /// The headroom of a switch does not fit its buffer.
    #[error("{0}")]
    HeadroomDoesNotFit(Box<Refusal>),
    /// The headroom of one port is more than the platform grants.
    #[error("a port needs {} B of headroom and the platform grants less than {} B", total.0, max.0)]
    PortHeadroom {
        /// What SONiC adds up for the port.
        total: Bytes,
        /// What the platform grants.
        max: Bytes,
        /// Every step, in order.
        terms: Box<Breakdown>,
    },
    /// A port takes more of the shared headroom pool than the ASIC lets it.
    #[error("a port needs {} B of shared headroom and the ASIC lets it use {} B", pooled.0, max.0)]
    PortSharedHeadroom {
        /// What the groups of the port need.
        pooled: Bytes,
        /// What the ASIC lets a port use.
        max: Bytes,
        /// Every step, in order.
        terms: Box<Breakdown>,
    },
}

impl QosError {
    /// Returns what would help, for the help lines under a message; empty where the message says it all.
    pub fn ways_out(&self) -> &[WayOut] {
        if let Self::HeadroomDoesNotFit(refusal) = self { &refusal.ways } else { &[] }
    }
}
