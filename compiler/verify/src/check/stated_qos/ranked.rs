//! Queues, marking and trimming of targets that number classes by rank. These are the P4 targets, because v1model
//! serves queues only by priority.
//!
//! Invariants: expected values come from the stated profile, never from the entries.

use std::collections::{BTreeMap, BTreeSet};

use super::{Difference, PortComparison, differs};
use crate::model::stated::StatedClass;

/// Returns all differences from the stated values.
pub(super) fn faults(port: &PortComparison<'_>) -> Vec<Difference> {
    let mut faults = Vec::new();
    for class in &port.stated_qos.classes {
        let number = port.number(class.tc);
        let meant = queue(port, class);
        // A class without code points has no queue.
        if let Some(found) = port.qos.class_to_queue.get(&number).filter(|found| **found != meant) {
            let message = format!("puts class {number} into queue {found} instead of {meant}");
            faults.push(differs(format!("queue of class {number}"), message));
        }
    }
    let Some(stated) = port.of_port else { return faults };
    if port.qos.marks != stated.marks {
        let class = first_difference(&port.qos.marks, &stated.marks);
        let message = format!("marks classes {:?}; the manifest states {:?}", port.qos.marks, stated.marks);
        faults.push(differs(format!("thresholds of class {class}"), message));
    }
    if port.qos.nic_classes != stated.nic_classes {
        let message = format!(
            "limits the classes of its NIC to {:?}; the manifest states {:?}",
            port.qos.nic_classes, stated.nic_classes
        );
        let class = first_difference(&port.qos.nic_classes, &stated.nic_classes);
        faults.push(differs(format!("limit of class {class}"), message));
    }
    if port.qos.punts != stated.punts {
        let show =
            |punts: Option<(u64, u64)>| punts.map_or_else(|| "nothing".to_owned(), |p| format!("{p:?}"));
        let message = format!(
            "limits packets for the controller to {}; the manifest states {}",
            show(port.qos.punts),
            show(stated.punts)
        );
        faults.push(differs("limit of punts", message));
    }
    let size = port.of_switch.and_then(|own| own.trimming).map(|trimming| trimming.size_bytes);
    let (Some(depth), Some(size), Some((fabric, last_hop))) =
        (stated.trim_packets, size, port.stated_qos.trimmed)
    else {
        return faults;
    };
    let meant = format!("{:?}", (depth, size, if port.last_hop { last_hop } else { fabric }));
    for class in &port.qos.trims {
        let found = port.qos.settings.get(&format!("trimming of class {class}"));
        if found != Some(&meant) {
            let found = found.map_or("nothing", String::as_str);
            let message = format!("trims class {class} with {found}; the manifest states {meant}");
            faults.push(differs(format!("trimming of class {class}"), message));
        }
    }
    faults
}

/// Returns the first key with different values.
fn first_difference<V: PartialEq>(own: &BTreeMap<u8, V>, stated: &BTreeMap<u8, V>) -> u8 {
    let mut keys = own.keys().chain(stated.keys());
    keys.find(|key| own.get(key) != stated.get(key)).copied().unwrap_or_default()
}

/// Returns the queue of a class: 0 for all weighted classes, and one of queues 1 to 7 for each strict queue,
/// in order.
fn queue(port: &PortComparison<'_>, class: &StatedClass) -> u8 {
    let strict = port.stated_qos.classes.iter().filter(|other| other.weight.is_none());
    let above: BTreeSet<u8> = strict.map(|other| other.queue).collect();
    match class.weight {
        Some(_) => 0,
        // At most eight queues.
        None => above.range(..=class.queue).count().min(7) as u8,
    }
}
