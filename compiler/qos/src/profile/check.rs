//! The rules of a profile.
//!
//! In: a [`Draft`]. Out: all violated rules, in a fixed order. Invariants: without violations, every map derived from
//! the profile is a function, and PFC, ECN and trimming are consistent.

use super::class::{Class, Role};
use super::error::ProfileError;
use super::name::ClassName;
use super::{Draft, Trimming, Watchdog};
use crate::ecn::Ecn;
use crate::units::Nanoseconds;

/// Returns all violated rules.
pub(super) fn faults(draft: &Draft) -> Vec<ProfileError> {
    let mut faults = Vec::new();
    let classes: Vec<&Class> = draft.classes.values().collect();
    if !draft.classes.contains_key(&draft.default) {
        faults.push(ProfileError::unknown_class("default", draft.default.clone(), &draft.classes));
    }
    if !classes.iter().any(|class| class.role == Role::Data) {
        faults.push(ProfileError::NoData);
    }
    for class in &classes {
        single(class, &mut faults);
    }
    for (place, first) in classes.iter().enumerate() {
        for second in &classes[place + 1..] {
            pair(first, second, &mut faults);
        }
    }
    trimming(draft, &classes, &mut faults);
    if let Some(watchdog) = &draft.watchdog {
        if !classes.iter().any(|class| class.pfc) {
            faults.push(ProfileError::WatchdogUnused);
        }
        watchdog_times(watchdog, &mut faults);
    }
    faults
}

/// Checks a single class.
fn single(class: &Class, faults: &mut Vec<ProfileError>) {
    let name = || class.name.clone();
    if class.dscp.is_empty() && class.role.is_sent() {
        faults.push(ProfileError::NoDscp { class: name(), role: class.role.name() });
    }
    if class.pfc && class.trim {
        faults.push(ProfileError::TrimsLossless { class: name() });
    }
    if class.ecn != Ecn::Off {
        if let Some((min, max)) = class.ecn.order_fault() {
            faults.push(ProfileError::EcnOrder { class: name(), min, max });
        }
        if class.ecn.never_marks() {
            faults.push(ProfileError::EcnNeverMarks { class: name() });
        }
    }
    let conflict = |field, why| ProfileError::RoleConflict {
        class: name(),
        role: class.role.name(),
        field,
        reason: why,
    };
    match class.role {
        Role::Trimmed | Role::Control | Role::Cnp => {
            // In MRC, control is strict, not trimmed, and without WRED. A trimmed packet cannot be trimmed again.
            // Congestion must not delay a congestion notification.
            if class.trim {
                faults.push(conflict("trim: true", "these packets are small and must arrive complete"));
            }
            if class.ecn != Ecn::Off {
                faults.push(conflict(
                    "ecn",
                    "marking these packets does not slow down any sender: set `ecn: off`",
                ));
            }
        }
        Role::Data | Role::Retransmit | Role::Acknowledge | Role::Cts | Role::Other => {}
    }
}

/// Compares two classes; `first` precedes the other by name.
fn pair(first: &Class, second: &Class, faults: &mut Vec<ProfileError>) {
    let names = || (first.name.clone(), second.name.clone());
    if first.role == second.role && first.role.is_unique() {
        let (first_name, second_name) = names();
        let role = first.role.name();
        faults.push(ProfileError::RoleTwice { role, first: first_name, second: second_name });
    }
    for dscp in first.dscp.iter().filter(|dscp| second.dscp.contains(dscp)) {
        let (first, second) = names();
        faults.push(ProfileError::DscpTwice { dscp: *dscp, first, second });
    }
    if first.tc == second.tc {
        let (first_name, second_name) = names();
        faults.push(ProfileError::TrafficClassTwice { tc: first.tc, first: first_name, second: second_name });
    }
    if first.queue == second.queue {
        shared_queue(first, second, faults);
    }
    let grouped = first.priority_group == second.priority_group && !first.pfc && !second.pfc;
    if grouped && first.ingress_threshold != second.ingress_threshold {
        let (first_name, second_name) = names();
        let group = first.priority_group;
        faults.push(ProfileError::GroupConflict { group, first: first_name, second: second_name });
    }
    // A pause applies to one priority and stops one group, so a lossless class must not share either.
    let lossless = if first.pfc { Some((first, second)) } else { second.pfc.then_some((second, first)) };
    if let Some((lossless, other)) = lossless {
        let (lossless_name, other_name) = (lossless.name.clone(), other.name.clone());
        if lossless.priority_group == other.priority_group {
            faults.push(ProfileError::GroupShared {
                group: lossless.priority_group,
                lossless: lossless_name.clone(),
                other: other_name.clone(),
            });
        }
        if lossless.priority == other.priority {
            faults.push(ProfileError::PriorityShared {
                priority: lossless.priority,
                lossless: lossless_name,
                other: other_name,
            });
        }
    }
}

/// Checks that two classes have the same settings for the queue that they share.
fn shared_queue(first: &Class, second: &Class, faults: &mut Vec<ProfileError>) {
    let differences = [
        ("scheduler", first.scheduler != second.scheduler),
        ("pfc", first.pfc != second.pfc),
        ("ecn", first.ecn != second.ecn),
        ("trim", first.trim != second.trim),
        ("egress_threshold", first.egress_threshold != second.egress_threshold),
    ];
    for (field, _) in differences.iter().filter(|(_, differ)| *differ) {
        let (first_name, second_name) = (first.name.clone(), second.name.clone());
        faults.push(ProfileError::QueueConflict {
            queue: first.queue,
            first: first_name,
            second: second_name,
            field,
        });
    }
}

/// Checks that trimming is configured if and only if classes trim, and that its class and code points fit the
/// classes.
fn trimming(draft: &Draft, classes: &[&Class], faults: &mut Vec<ProfileError>) {
    let trims: Vec<&Class> = classes.iter().copied().filter(|class| class.trim).collect();
    let Some(trimming) = &draft.trimming else {
        faults.extend(
            trims.iter().map(|class| ProfileError::TrimWithoutTrimming { class: class.name.clone() }),
        );
        return;
    };
    if trims.is_empty() {
        faults.push(ProfileError::TrimmingUnused);
    }
    let Trimming { class: wanted, tc, fabric_dscp, last_hop_dscp, size: _ } = trimming;
    if !draft.classes.contains_key(wanted) {
        faults.push(ProfileError::unknown_class("trimming.class", wanted.clone(), &draft.classes));
    }
    if fabric_dscp == last_hop_dscp {
        faults.push(ProfileError::TrimmedDscpTwice { dscp: *fabric_dscp });
    }
    for dscp in [*fabric_dscp, *last_hop_dscp] {
        let found: &ClassName = classes
            .iter()
            .find(|class| class.dscp.contains(&dscp))
            .map_or(&draft.default, |class| &class.name);
        if found != wanted {
            faults.push(ProfileError::TrimmedDscp { dscp, expected: wanted.clone(), actual: found.clone() });
        }
    }
    if let Some(class) = classes.iter().find(|class| class.tc == *tc) {
        faults.push(ProfileError::TrimTrafficClass { tc: *tc, class: class.name.clone() });
    }
}

/// Checks the ranges of SONiC's `sonic-pfcwd` YANG model, and that no time is shorter than `poll`.
fn watchdog_times(watchdog: &Watchdog, faults: &mut Vec<ProfileError>) {
    let Watchdog { action: _, detection, restoration, poll } = *watchdog;
    let [detection_max, restoration_max, poll_max] = Watchdog::MAX_MILLIS;
    for (field, value, max) in [
        ("detection", detection, detection_max),
        ("restoration", restoration, restoration_max),
        ("poll", poll, poll_max),
    ] {
        let Some(value) = value else { continue };
        let (min, max) = (Nanoseconds::from_millis(100), Nanoseconds::from_millis(max));
        if value < min || value > max {
            faults.push(ProfileError::WatchdogRange { field, value, min, max });
        }
    }
    for (field, value) in [("detection", detection), ("restoration", restoration)] {
        if let (Some(value), Some(poll)) = (value, poll)
            && value < poll
        {
            faults.push(ProfileError::WatchdogPoll { field, value, poll });
        }
    }
}
