//! Queues, marks and trimming of targets that number classes by rank: P4, whose queues v1model serves by priority alone.
//!
//! Invariants: nothing is read from the entries but what they say; what they must say is in the profile that is stated.

use std::collections::BTreeSet;

use super::Compared;
use crate::model::stated::StatedClass;

/// Returns what is not as stated.
pub(super) fn faults(port: &Compared<'_>) -> Vec<String> {
    let mut faults = Vec::new();
    for class in &port.stated.classes {
        let number = port.number(class.tc);
        let meant = queue(port, class);
        // A class to which no code point leads has no queue.
        if let Some(found) = port.qos.class_to_queue.get(&number).filter(|found| **found != meant) {
            faults.push(format!("puts class {number} into queue {found} and not {meant}"));
        }
    }
    let Some(stated) = port.of_port else { return faults };
    if port.qos.marks != stated.marks {
        faults.push(format!("marks classes {:?}, and {:?} are stated", port.qos.marks, stated.marks));
    }
    if port.qos.nic_classes != stated.nic_classes {
        faults.push(format!(
            "limits classes of its NIC by {:?}, and {:?} are stated",
            port.qos.nic_classes, stated.nic_classes
        ));
    }
    if port.qos.punts != stated.punts {
        let show =
            |punts: Option<(u64, u64)>| punts.map_or_else(|| "nothing".to_owned(), |p| format!("{p:?}"));
        faults.push(format!(
            "limits packets for the controller by {}, and {} is stated",
            show(port.qos.punts),
            show(stated.punts)
        ));
    }
    let size = port.of_switch.and_then(|own| own.trimming).map(|trimming| trimming.size_bytes);
    let (Some(depth), Some(size), Some((fabric, last_hop))) =
        (stated.trim_packets, size, port.stated.trimmed)
    else {
        return faults;
    };
    let meant = format!("{:?}", (depth, size, if port.last_hop { last_hop } else { fabric }));
    for class in &port.qos.trims {
        let found = port.qos.settings.get(&format!("trimming of class {class}"));
        if found != Some(&meant) {
            let found = found.map_or("nothing", String::as_str);
            faults.push(format!("trims class {class} by {found}, and {meant} are stated"));
        }
    }
    faults
}

/// The queue of a class: the first for all that have a weight, and one above it for each queue that goes first.
fn queue(port: &Compared<'_>, class: &StatedClass) -> u8 {
    let strict = port.stated.classes.iter().filter(|other| other.weight.is_none());
    let above: BTreeSet<u8> = strict.map(|other| other.queue).collect();
    match class.weight {
        Some(_) => 0,
        // Eight queues at the most.
        None => above.range(..=class.queue).count().min(7) as u8,
    }
}
