//! The presets, one file each, and the builder functions that they share.
//!
//! Out: one [`super::Draft`] per preset. Invariants: every published value has a comment with its source. An
//! unpublished value is identified as such, with its reason.

pub(super) mod juniper_dcqcn;
pub(super) mod lossless;
pub(super) mod lossy_trim;
pub(super) mod meta_roce;
pub(super) mod none;
pub(super) mod nvidia_roce;
pub(super) mod sonic_ai_lossy;
pub(super) mod sonic_ai_lossy_th5;
pub(super) mod sonic_azure;

use super::class::{Class, Role, Scheduler};
use super::name::ClassName;
use super::{Draft, LosslessTraffic, Watchdog};
use crate::codes::{Dscp, DynamicThreshold, Priority, PriorityGroup, Queue, TrafficClass, Weight};
use crate::ecn::Ecn;

/// Starts a lossy class. Queue and priority have the number of the traffic class, and the group is 0.
fn lossy(name: &'static str, role: Role, dscp: &[u8], tc: u8, scheduler: Scheduler) -> Class {
    let (ingress_threshold, egress_threshold) = Class::default_thresholds(false);
    Class {
        name: ClassName::literal(name),
        role,
        dscp: dscp.iter().copied().map(Dscp::constant).collect(),
        tc: TrafficClass::constant(tc),
        queue: Queue::constant(tc),
        priority_group: PriorityGroup::MIN,
        priority: Priority::constant(tc),
        scheduler,
        pfc: false,
        ecn: Ecn::Off,
        trim: false,
        ingress_threshold,
        egress_threshold,
    }
}

/// Starts a lossless class. Queue, group and priority have the number of the traffic class.
fn lossless(name: &'static str, dscp: &[u8], tc: u8, scheduler: Scheduler, ecn: Ecn) -> Class {
    let (ingress_threshold, egress_threshold) = Class::default_thresholds(true);
    Class {
        priority_group: PriorityGroup::constant(tc),
        pfc: true,
        ecn,
        ingress_threshold,
        egress_threshold,
        ..lossy(name, Role::Data, dscp, tc, scheduler)
    }
}

/// Returns a weighted scheduler.
const fn dwrr(weight: u8) -> Scheduler {
    Scheduler::Dwrr(Weight::constant(weight))
}

/// Returns a dynamic threshold.
const fn alpha(exponent: i8) -> DynamicThreshold {
    DynamicThreshold::constant(exponent)
}

/// Starts a profile with these classes, and the most common values of all other settings.
fn profile(name: &'static str, default: &'static str, classes: Vec<Class>) -> Draft {
    let lossless = classes.iter().any(|class| class.pfc);
    Draft {
        name: ClassName::literal(name),
        classes: classes.into_iter().map(|class| (class.name.clone(), class)).collect(),
        default: ClassName::literal(default),
        trimming: None,
        watchdog: lossless.then(Watchdog::default),
        ecn_last_hop: true,
        lossless_traffic: LosslessTraffic::default(),
        shared_headroom: None,
        buffer_shares: None,
    }
}
