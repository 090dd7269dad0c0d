//! Limits of a language with one threshold for all lossless classes and one for all others, and a watchdog that counts
//! polls.
//!
//! In: settings as the reader names them: `ingress of lossless`, `egress of queue 3`, `watchdog looks`. All values are
//! exponents or numbers. Invariants: settings that are not stated must be absent. A shared threshold is the largest one
//! stated for its classes.

use std::collections::BTreeMap;

use super::super::{Difference, PortComparison, differs};
use crate::model::stated::StatedClass;

/// The smallest and largest exponents with a keyword. The largest means no limit.
const TAKEN: (i32, i32) = (-7, 7);

/// Minimum and maximum polling interval of a watchdog, in milliseconds.
const LOOKS: (u64, u64) = (100, 5_000);

/// Prefixes of the names of compared settings.
const BOUNDS: [&str; 5] = ["ingress of ", "egress of ", "watchdog", "pool ", "trimmed "];

/// Returns all differences from the stated values.
pub(super) fn faults(port: &PortComparison<'_>) -> Vec<Difference> {
    let mut meant = thresholds(port);
    meant.extend(watchdog(port));
    meant.extend(pools(port));
    meant.extend(trim_size(port));
    let mut faults: Vec<Difference> = trimmed_class_fault(port).into_iter().collect();
    for (name, meant) in &meant {
        let found = port.qos.settings.get(name);
        if found != Some(meant) {
            let found = found.map_or("nothing", String::as_str);
            faults.push(differs(
                name.as_str(),
                format!("has `{found}` as {name}; the manifest states `{meant}`"),
            ));
        }
    }
    let is_bound = |name: &str| BOUNDS.iter().any(|start| name.starts_with(start));
    let others = port.qos.settings.iter().filter(|(name, _)| is_bound(name) && !meant.contains_key(*name));
    faults.extend(others.map(|(name, value)| {
        differs(name.as_str(), format!("has `{value}` as {name}; the manifest states none"))
    }));
    faults
}

fn exponent(text: &str) -> i32 {
    text.parse::<i32>().unwrap_or(i32::MAX).clamp(TAKEN.0, TAKEN.1)
}

fn thresholds(port: &PortComparison<'_>) -> BTreeMap<String, String> {
    let mut meant: BTreeMap<String, i32> = BTreeMap::new();
    let mut at_least = |name: String, value: i32| {
        let own = meant.entry(name).or_insert(value);
        *own = value.max(*own);
    };
    let mut queues: BTreeMap<u8, &StatedClass> = BTreeMap::new();
    for class in &port.stated_qos.classes {
        queues.entry(class.queue).or_insert(class);
        let (ingress, egress) = (exponent(&class.ingress_th), exponent(&class.egress_th));
        if class.pauses.is_some() {
            at_least("ingress of lossless".to_owned(), ingress);
            at_least("egress of lossless".to_owned(), egress);
        } else {
            at_least("ingress of others".to_owned(), ingress);
        }
    }
    for (queue, class) in queues.into_iter().filter(|(_, class)| class.pauses.is_none()) {
        at_least(format!("egress of queue {queue}"), exponent(&class.egress_th));
    }
    meant.into_iter().map(|(name, value)| (name, value.to_string())).collect()
}

/// Returns the expected polls of the watchdog. One poll takes the recovery time, and all polls together take the
/// detection time.
fn watchdog(port: &PortComparison<'_>) -> BTreeMap<String, String> {
    let stated = port.of_switch.and_then(|own| own.watchdog.as_ref());
    let lossless = port.stated_qos.classes.iter().any(|class| class.pauses.is_some());
    let Some(stated) = stated.filter(|_| lossless) else { return BTreeMap::new() };
    let poll = stated.restoration_ms.clamp(LOOKS.0, LOOKS.1);
    BTreeMap::from([
        ("watchdog polling-interval".to_owned(), poll.to_string()),
        ("watchdog looks".to_owned(), stated.detection_ms.div_ceil(poll).max(1).to_string()),
    ])
}

/// Returns the expected pools: two halves of the buffer if any class uses PFC.
fn pools(port: &PortComparison<'_>) -> BTreeMap<String, String> {
    if port.stated_qos.classes.iter().all(|class| class.pauses.is_none()) {
        return BTreeMap::new();
    }
    ["default-lossless", "default-lossy"].map(|name| (format!("pool {name}"), "50".to_owned())).into()
}

/// Returns the expected size of a trimmed packet.
fn trim_size(port: &PortComparison<'_>) -> BTreeMap<String, String> {
    let trimming = port.of_switch.and_then(|own| own.trimming).filter(|_| port.stated_qos.trimmed.is_some());
    let size = trimming.map(|trimming| format!("{} bytes", trimming.size_bytes));
    size.map(|size| ("trimmed to".to_owned(), size)).into_iter().collect()
}

/// Checks the class of packets that the switch trimmed. No other packet may have it, because ports rewrite
/// the code points of all packets in this class. Its queue must be that of the class to which the new code
/// point maps.
fn trimmed_class_fault(port: &PortComparison<'_>) -> Option<Difference> {
    let (dscp, _) = port.stated_qos.trimmed?;
    let tc = port.stated_qos.dscp.get(usize::from(dscp))?;
    let class = port.stated_qos.classes.iter().find(|class| class.tc == *tc)?;
    let given = super::trimmed_class(port)?;
    if port.stated_qos.classes.iter().any(|class| class.tc == given) {
        let message = format!("gives trimmed packets class {given}, which other packets have");
        return Some(differs("class of trimmed", message));
    }
    let queue = port.qos.class_to_queue.get(&given);
    (queue != Some(&class.queue)).then(|| {
        let queue = queue.map_or("nothing".to_owned(), u8::to_string);
        let message = format!(
            "maps class {given} of trimmed packets to queue {queue}; the manifest states {}",
            class.queue
        );
        differs(format!("queue of class {given}"), message)
    })
}
