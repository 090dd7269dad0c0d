//! Errors of a QoS profile.
//!
//! In: the class and the invalid value. Out: a message with the keys in the file, and the fix if there is one.
//! Invariants: the data are in fields, so that a later stage can point at a line.

use std::collections::BTreeMap;

use super::name::ClassName;
use crate::codes::{Dscp, Priority, PriorityGroup, Queue, TrafficClass};
use crate::units::Nanoseconds;

/// An error of a profile.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProfileError {
    /// No preset has this name.
    #[error("there is no QoS profile `{name}`: use one of {allowed}")]
    UnknownPreset {
        /// The name.
        name: String,
        /// The known presets.
        allowed: String,
    },
    /// There are more classes than code points.
    #[error("the profile has {count} classes: at most {max} can have a DSCP of their own")]
    TooManyClasses {
        /// Number of classes.
        count: usize,
        /// Maximum number.
        max: usize,
    },
    /// A class that is not in the base profile lacks a required field.
    #[error("class `{class}` has no `{field}`: only a class of the base profile may omit it")]
    MissingField {
        /// The class.
        class: ClassName,
        /// The field.
        field: &'static str,
    },
    /// The class does not exist.
    #[error("`{field}` names class `{class}`, which the profile does not have{}", match &**allowed {
        "" => String::new(),
        known => format!(": it has {known}"),
    })]
    UnknownClass {
        /// The field with the name.
        field: &'static str,
        /// The name.
        class: ClassName,
        /// The existing classes; empty if there are none.
        allowed: String,
    },
    /// There is no class.
    #[error("the profile has no classes")]
    NoClasses,
    /// No class carries data.
    #[error("no class has `role: data`: training traffic would have no queue")]
    NoData,
    /// A class that hosts send has no code point.
    #[error("class `{class}` has `role: {role}` and no `dscp`: no packet would reach it")]
    NoDscp {
        /// The class.
        class: ClassName,
        /// Role of the class.
        role: &'static str,
    },
    /// Two classes have a role that must be unique.
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
    /// Two classes share a queue, but have different settings for it.
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
    /// Two classes share a priority group, but have different settings for it.
    #[error(
        "classes `{first}` and `{second}` share priority group {group} but differ in `ingress_threshold`: \
         a group has one"
    )]
    GroupConflict {
        /// The priority group.
        group: PriorityGroup,
        /// The first class.
        first: ClassName,
        /// The second class.
        second: ClassName,
    },
    /// A priority group contains both lossless and other traffic.
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
    /// A PFC priority also pauses another class.
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
    /// A lossless class cannot trim.
    #[error(
        "class `{class}` has `pfc: true` and `trim: true`: a lossless queue never drops, so it cannot trim"
    )]
    TrimsLossless {
        /// The class.
        class: ClassName,
    },
    /// A class that must be delivered is marked, trimmed or lossless.
    #[error("class `{class}` has `role: {role}` and `{field}`: {reason}")]
    RoleConflict {
        /// The class.
        class: ClassName,
        /// Role of the class.
        role: &'static str,
        /// The conflicting setting.
        field: &'static str,
        /// The reason.
        reason: &'static str,
    },
    /// A class trims, but the profile does not configure trimming.
    #[error(
        "class `{class}` has `trim: true` and the profile has no `trimming`: state the DSCP of trimmed packets"
    )]
    TrimWithoutTrimming {
        /// The class.
        class: ClassName,
    },
    /// The profile configures trimming, but no class trims.
    #[error("the profile has `trimming` and no class has `trim: true`: nothing would be trimmed")]
    TrimmingUnused,
    /// The DSCP of trimmed packets belongs to another class.
    #[error(
        "trimmed packets get DSCP {dscp}, which leads to class `{actual}` and not to `{expected}`: \
         add {dscp} to the `dscp` of `{expected}`"
    )]
    TrimmedDscp {
        /// The code point.
        dscp: Dscp,
        /// The class named by `trimming`.
        expected: ClassName,
        /// The class of the code point.
        actual: ClassName,
    },
    /// Trimmed packets have the same code point in the fabric and at the last hop.
    #[error(
        "trimmed packets get DSCP {dscp} in the fabric and at the last hop: a NIC could not tell incast from congestion"
    )]
    TrimmedDscpTwice {
        /// The code point.
        dscp: Dscp,
    },
    /// The traffic class for rewriting trimmed packets belongs to another class.
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
        /// The lower threshold, as written.
        min: String,
        /// The upper threshold, as written.
        max: String,
    },
    /// The marking probability is 0.
    #[error(
        "class `{class}`: ECN probability 0 marks nothing below the maximum: use 1 to 100, or `ecn: off`"
    )]
    EcnNeverMarks {
        /// The class.
        class: ClassName,
    },
    /// A watchdog timer is outside the range of the targets.
    #[error("watchdog `{field}` is {value}: use {min} to {max}")]
    WatchdogRange {
        /// The timer.
        field: &'static str,
        /// The value.
        value: Nanoseconds,
        /// The minimum.
        min: Nanoseconds,
        /// The maximum.
        max: Nanoseconds,
    },
    /// A watchdog timer is shorter than its polling interval.
    #[error("watchdog `{field}` {value} is shorter than `poll` {poll}: it could not be detected in time")]
    WatchdogPoll {
        /// The timer.
        field: &'static str,
        /// The value.
        value: Nanoseconds,
        /// The polling interval.
        poll: Nanoseconds,
    },
    /// There is a watchdog, but no lossless class.
    #[error("the profile has a `watchdog` and no class has `pfc: true`: set `watchdog: off`")]
    WatchdogUnused,
}

impl ProfileError {
    /// Returns the error for a class in `field` that does not exist.
    pub(super) fn unknown_class<C>(
        field: &'static str,
        class: ClassName,
        classes: &BTreeMap<ClassName, C>,
    ) -> Self {
        let known: Vec<_> = classes.keys().map(|name| format!("`{name}`")).collect();
        Self::UnknownClass { field, class, allowed: known.join(", ") }
    }
}
