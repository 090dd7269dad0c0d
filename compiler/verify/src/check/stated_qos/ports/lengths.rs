//! Kernel queues: each has a share of the port and its own length.
//!
//! In: lengths by queue, and settings as the reader names them: `queue 3`. Invariants: settings that are not stated
//! must be absent. Shares are exact to one byte.

use std::collections::BTreeMap;

use super::super::{Difference, PortComparison, differs};

/// Minimum length of a queue, in packets of full size.
const PACKETS: u64 = 1_000;

/// Returns all differences from the stated values.
pub(super) fn faults(port: &PortComparison<'_>) -> Vec<Difference> {
    let mut faults = scheduling_faults(port);
    let Some(of_port) = port.of_port else {
        faults.push(differs("queues", "is on a side for which the manifest states no ports"));
        return faults;
    };
    let queued = port.queue_classes();
    for queue in queued.keys() {
        // Marking starts long before the queue is full.
        let marked = of_port.marks.get(queue).map_or(0, |marks| 2 * marks.1);
        let meant = marked.max(PACKETS * u64::from(of_port.mtu));
        let found = port.qos.lengths.get(queue).copied().unwrap_or(0);
        if found != meant {
            let message = format!("has room for {found} bytes in queue {queue}; the manifest states {meant}");
            faults.push(differs(format!("length of queue {queue}"), message));
        }
    }
    let least = quanta(port).into_values().min();
    if let Some(least) = least.filter(|least| *least < u64::from(of_port.mtu)) {
        let message =
            format!("has turns of {least} bytes, in which a packet of {} does not fit", of_port.mtu);
        faults.push(differs("queues", message));
    }
    faults
}

/// Returns the bytes per round of each weighted queue.
fn quanta(port: &PortComparison<'_>) -> BTreeMap<u8, u64> {
    let quantum = |(name, value): (&String, &String)| {
        let queue = name.strip_prefix("queue ")?.parse().ok()?;
        Some((queue, value.strip_prefix("quantum ")?.parse().ok()?))
    };
    port.qos.settings.iter().filter_map(quantum).collect()
}

/// Checks that strict queues are served first, higher ones before lower ones, and that the others share the rest by
/// weight.
fn scheduling_faults(port: &PortComparison<'_>) -> Vec<Difference> {
    let queued = port.queue_classes();
    let mut faults = Vec::new();
    let strict = queued.iter().rev().filter(|(_, class)| class.weight.is_none());
    let meant: BTreeMap<u8, String> =
        strict.enumerate().map(|(at, (queue, _))| (*queue, format!("strict {at}"))).collect();
    let quanta = quanta(port);
    let of_least = queued
        .iter()
        .filter_map(|(queue, class)| Some((u64::from(class.weight?), *quanta.get(queue)?)))
        .min();
    for (queue, class) in &queued {
        let found = port.qos.settings.get(&format!("queue {queue}")).map_or("nothing", String::as_str);
        let fits = match (class.weight, quanta.get(queue), of_least) {
            (None, ..) => meant.get(queue).is_some_and(|meant| meant == found),
            (Some(weight), Some(own), Some((least, quantum))) => {
                let weight = u64::from(weight);
                // Both values are rounded to whole bytes.
                own.saturating_mul(least).abs_diff(quantum.saturating_mul(weight)) <= weight.max(least)
            }
            (Some(_), ..) => false,
        };
        if !fits {
            let meant = match class.weight {
                None => meant.get(queue).cloned().unwrap_or_default(),
                Some(weight) => format!("a weight of {weight}"),
            };
            let message = format!("serves queue {queue} as `{found}`; the manifest states {meant}");
            faults.push(differs(format!("queue {queue}"), message));
        }
    }
    let others = port.qos.settings.keys().filter_map(|name| name.strip_prefix("queue ")?.parse::<u8>().ok());
    let strange = others.filter(|queue| !queued.contains_key(queue));
    faults.extend(
        strange.map(|queue| {
            differs(format!("queue {queue}"), format!("sets queue {queue}, which no class has"))
        }),
    );
    faults
}
