//! Errors of a QoS profile.
//!
//! In: the class and the value at fault. Out: one sentence in the words of the topology author, with the fix
//! where there is one. Invariants: the data are in fields, so that a later stage can point at a line.

use std::collections::BTreeMap;

use super::name::ClassName;
use crate::codes::{Dscp, Priority, PriorityGroup, Queue, TrafficClass};
use crate::units::Nanoseconds;

/// Says what is wrong with a profile.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProfileError {
    /// No preset has that name.
    #[error("there is no QoS profile `{name}`: use one of {known}")]
    UnknownPreset {
        /// Written output.
        name: String,
        /// The presets there are.
        known: String,
    },
    /// There are more classes than code points.
    #[error("the profile has {count} classes: at most {max} can have a DSCP of their own")]
    TooManyClasses {
        /// Number written.
        count: usize,
        /// Maximum count.
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
    /// Two classes share a priority group and want different things of it.
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
        "class `{class}` has `trim: true` and the profile has no `trimming`: state the DSCP of trimmed packets"
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
        /// Written output.
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
        /// Written output.
        value: Nanoseconds,
        /// The poll interval.
        poll: Nanoseconds,
    },
    /// There is a watchdog and nothing to watch.
    #[error("the profile has a `watchdog` and no class has `pfc: true`: set `watchdog: off`")]
    WatchdogUnused,
}

impl ProfileError {
    /// Says that `field` names a class that is not among those of the profile.
    pub(super) fn unknown_class<C>(
        field: &'static str,
        class: ClassName,
        classes: &BTreeMap<ClassName, C>,
    ) -> Self {
        let known: Vec<_> = classes.keys().map(|name| format!("`{name}`")).collect();
        Self::UnknownClass { field, class, known: known.join(", ") }
    }
}
