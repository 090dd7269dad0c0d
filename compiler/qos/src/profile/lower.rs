//! Converts a written profile to a complete one: base, then overlay, then defaults, then the rules.
//!
//! In: a [`ProfileSpec`]. Out: a [`Profile`], or all errors. Invariants: the base is changed only where the file has a
//! value.

use std::collections::BTreeMap;

use super::class::{Class, Role};
use super::error::ProfileError;
use super::name::ClassName;
use super::spec::{ClassSpec, ProfileSpec};
use super::{Draft, LosslessTraffic, Profile};
use crate::codes::{Priority, PriorityGroup, Queue};
use crate::ecn::Ecn;

/// Maximum number of classes: DSCP has 64 code points (RFC 2474).
const CLASSES_MAX: usize = 64;

/// Creates a profile, or returns all errors.
pub fn lower(spec: ProfileSpec) -> Result<Profile, Vec<ProfileError>> {
    // Classes are compared pairwise, so their number is limited to the number of code points.
    if spec.classes.len() > CLASSES_MAX {
        return Err(vec![ProfileError::TooManyClasses { count: spec.classes.len(), max: CLASSES_MAX }]);
    }
    let mut draft = spec.base.map_or_else(empty, super::preset::Preset::draft);
    let mut faults = overlay(&mut draft, spec);
    if draft.classes.is_empty() && faults.is_empty() {
        return Err(vec![ProfileError::NoClasses]);
    }
    // Rules are also checked on an incomplete profile, so that one run reports all errors.
    match Profile::new(draft) {
        Ok(profile) if faults.is_empty() => return Ok(profile),
        Ok(_) => {}
        Err(broken) => {
            let lacking: Vec<ClassName> = faults.iter().filter_map(incomplete_class).cloned().collect();
            // A class with a missing field still exists.
            let named = |fault: &ProfileError| {
                matches!(fault, ProfileError::UnknownClass { class, .. } if lacking.contains(class))
                    || matches!(fault, ProfileError::NoData if !lacking.is_empty())
            };
            faults.extend(broken.into_iter().filter(|fault| !named(fault)));
        }
    }
    Err(faults)
}

/// Returns the class that could not be created because a field is missing.
fn incomplete_class(fault: &ProfileError) -> Option<&ClassName> {
    match fault {
        ProfileError::MissingField { class, .. } | ProfileError::NoPriority { class, .. } => Some(class),
        _ => None,
    }
}

/// Returns an empty profile, the base of profiles without `base`.
fn empty() -> Draft {
    Draft {
        name: ClassName::literal("custom"),
        classes: BTreeMap::new(),
        default: ClassName::literal("best-effort"),
        trimming: None,
        watchdog: None,
        ecn_last_hop: true,
        lossless_traffic: LosslessTraffic::default(),
        shared_headroom: None,
        buffer_shares: None,
    }
}

fn overlay(draft: &mut Draft, spec: ProfileSpec) -> Vec<ProfileError> {
    let mut faults = Vec::new();
    for name in spec.without {
        if draft.classes.remove(&name).is_none() {
            faults.push(ProfileError::unknown_class("without", name, &draft.classes));
        }
    }
    for (name, changes) in spec.classes {
        match draft.classes.get_mut(&name) {
            Some(class) => change(class, changes),
            None => match create(&name, &changes) {
                Ok(class) => drop(draft.classes.insert(name, class)),
                Err(broken) => faults.extend(broken),
            },
        }
    }
    set(&mut draft.name, spec.name);
    set(&mut draft.default, spec.default);
    set(&mut draft.ecn_last_hop, spec.ecn_last_hop);
    set(&mut draft.lossless_traffic, spec.lossless_traffic);
    set(&mut draft.trimming, spec.trimming.map(super::Switch::into_option));
    set(&mut draft.watchdog, spec.watchdog.map(super::Switch::into_option));
    set(&mut draft.shared_headroom, spec.shared_headroom.map(super::Switch::into_option));
    set(&mut draft.buffer_shares, spec.buffer_shares.map(super::Switch::into_option));
    faults
}

/// Replaces a value if there is a new one.
fn set<T>(old: &mut T, new: Option<T>) {
    if let Some(new) = new {
        *old = new;
    }
}

/// Changes a class of the base.
fn change(class: &mut Class, spec: ClassSpec) {
    let ClassSpec {
        role,
        dscp,
        tc,
        queue,
        priority_group,
        priority,
        scheduler,
        pfc,
        ecn,
        trim,
        ingress_threshold,
        egress_threshold,
    } = spec;
    set(&mut class.role, role);
    set(&mut class.dscp, dscp);
    set(&mut class.tc, tc);
    set(&mut class.queue, queue);
    set(&mut class.priority_group, priority_group);
    set(&mut class.priority, priority);
    set(&mut class.scheduler, scheduler);
    set(&mut class.pfc, pfc);
    set(&mut class.ecn, ecn);
    set(&mut class.trim, trim);
    set(&mut class.ingress_threshold, ingress_threshold);
    set(&mut class.egress_threshold, egress_threshold);
}

/// Creates a class, with the defaults that [`ClassSpec`] documents.
fn create(name: &ClassName, spec: &ClassSpec) -> Result<Class, Vec<ProfileError>> {
    let (Some(dscp), Some(tc), Some(scheduler)) = (&spec.dscp, spec.tc, spec.scheduler) else {
        let lacking = [
            ("dscp", spec.dscp.is_none()),
            ("tc", spec.tc.is_none()),
            ("scheduler", spec.scheduler.is_none()),
        ];
        let missing = |field| ProfileError::MissingField { class: name.clone(), field };
        return Err(lacking
            .into_iter()
            .filter(|(_, lacks)| *lacks)
            .map(|(field, _)| missing(field))
            .collect());
    };
    let dscp = dscp.clone();
    let pfc = spec.pfc.unwrap_or(false);
    let priority = match spec.priority {
        Some(priority) => priority,
        None => {
            Priority::new(tc.get()).map_err(|_| vec![ProfileError::NoPriority { class: name.clone(), tc }])?
        }
    };
    let group = if pfc { PriorityGroup::constant(priority.get()) } else { PriorityGroup::MIN };
    let queue = || Queue::new(tc.get()).expect("queues and traffic classes have one range");
    let (ingress, egress) = Class::default_thresholds(pfc);
    Ok(Class {
        name: name.clone(),
        role: spec.role.unwrap_or(Role::Other),
        dscp,
        tc,
        queue: spec.queue.unwrap_or_else(queue),
        priority_group: spec.priority_group.unwrap_or(group),
        priority,
        scheduler,
        pfc,
        ecn: spec.ecn.unwrap_or(Ecn::Off),
        trim: spec.trim.unwrap_or(false),
        ingress_threshold: spec.ingress_threshold.unwrap_or(ingress),
        egress_threshold: spec.egress_threshold.unwrap_or(egress),
    })
}
