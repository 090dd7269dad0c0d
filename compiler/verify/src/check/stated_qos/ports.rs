//! Queues, PFC and limits, for languages that configure ports but leave buffer pools to the switch.
//!
//! In: settings as the reader names them: `queue 3`, `watchdog timeout`, `egress of queue 3` and so on. Invariants:
//! settings that are not stated must be absent. A share of the buffer that the language cannot express is rounded to
//! the nearest share that it can.

mod lengths;
mod shared;

use std::collections::{BTreeMap, BTreeSet};

use super::{Difference, PortComparison, differs};
use crate::model::language::Bounds;
use crate::model::stated::StatedClass;

/// Returns all differences from the stated values.
pub(super) fn faults(port: &PortComparison<'_>, bounds: Bounds) -> Vec<Difference> {
    if bounds == Bounds::Lengths {
        let mut faults = lengths::faults(port);
        faults.extend(maps(port));
        return faults;
    }
    let mut faults = queues(port, bounds);
    faults.extend(maps(port));
    faults.extend(pauses(port));
    if bounds == Bounds::Shared {
        faults.extend(shared::faults(port));
        return faults;
    }
    faults.extend(watchdog_faults(port));
    faults.extend(counter_faults(port));
    faults.extend(shares(port));
    faults.extend(headroom(port));
    faults
}

/// Checks that weighted queues share the port in whole percents.
fn queues(port: &PortComparison<'_>, bounds: Bounds) -> Vec<Difference> {
    let queued = port.queue_classes();
    let sum: u64 = queued.values().filter_map(|class| class.weight).map(u64::from).sum();
    let mut found: BTreeMap<u8, (&str, u64)> = BTreeMap::new();
    let mut faults = Vec::new();
    for (name, value) in &port.qos.settings {
        let Some(queue) = name.strip_prefix("queue ").and_then(|queue| queue.parse().ok()) else { continue };
        let (kind, share) = value.rsplit_once(' ').unwrap_or((value, "0"));
        found.insert(queue, (kind, share.parse().unwrap_or(0)));
    }
    for (queue, class) in &queued {
        let own = found.remove(queue).unwrap_or(("nothing", 0));
        let fits = match class.weight {
            None => own.0 == "strict",
            Some(weight) => {
                let weight = u64::from(weight);
                let sure = bounds == Bounds::Each && is_watched(port, class);
                let kind = if sure { "guaranteed" } else { "percent" };
                let near = (100 * weight).abs_diff(own.1 * sum) <= sum || own.1 == 1 && 100 * weight < sum;
                // The largest shares compensate for shares that were rounded up to 1.
                let largest = queued.values().filter_map(|class| class.weight).max();
                own.0 == kind && (near || largest == class.weight)
            }
        };
        if !fits {
            let meant = class.weight.map_or("strict".to_owned(), |weight| format!("{weight} of {sum}"));
            let message =
                format!("serves queue {queue} as `{} {}`; the manifest states {meant}", own.0, own.1);
            faults.push(differs(format!("queue {queue}"), message));
        }
    }
    let strange =
        |queue: &u8| differs(format!("queue {queue}"), format!("sets queue {queue}, which no class has"));
    faults.extend(found.keys().map(strange));
    let shares: u64 = port
        .qos
        .settings
        .iter()
        .filter(|(name, _)| name.starts_with("queue "))
        .filter_map(|(_, value)| value.rsplit_once(' ')?.1.parse::<u64>().ok())
        .sum();
    if sum > 0 && shares != 100 {
        let message = format!("gives {shares} percent of the port to weighted queues");
        faults.push(differs("queues", message));
    }
    faults
}

/// Returns whether the watchdog monitors a class. The queue of such a class needs a guaranteed share of the
/// port, because the watchdog monitors no other queues.
fn is_watched(port: &PortComparison<'_>, class: &StatedClass) -> bool {
    class.pauses.is_some() && port.of_switch.is_some_and(|own| own.watchdog.is_some())
}

/// Checks that exactly the stated classes exist, each with the stated queue.
fn maps(port: &PortComparison<'_>) -> Vec<Difference> {
    let meant: BTreeMap<u8, u8> =
        port.stated_qos.classes.iter().map(|class| (class.tc, class.queue)).collect();
    // Classes without code points are not configured.
    let used: BTreeSet<u8> = port.stated_qos.dscp.iter().copied().collect();
    let mut faults = Vec::new();
    for (class, queue) in meant.iter().filter(|(class, _)| used.contains(class)) {
        if port.qos.class_to_queue.get(class) != Some(queue) {
            let found = port.qos.class_to_queue.get(class).map_or("nothing".to_owned(), u8::to_string);
            let message = format!("maps class {class} to queue {found}; the manifest states {queue}");
            faults.push(differs(format!("queue of class {class}"), message));
        }
    }
    let trimmed = trimmed_class(port);
    let is_strange = |class: &&u8| !meant.contains_key(*class) && trimmed != Some(**class);
    let strange = port.qos.class_to_queue.keys().find(is_strange);
    faults.extend(strange.map(|class| {
        differs(
            format!("queue of class {class}"),
            format!("maps class {class}, which is not in the manifest"),
        )
    }));
    faults
}

/// Returns the class of trimmed packets, if the language states it.
fn trimmed_class(port: &PortComparison<'_>) -> Option<u8> {
    port.qos.settings.get("class of trimmed")?.parse().ok()
}

fn pauses(port: &PortComparison<'_>) -> Option<Difference> {
    let meant: BTreeSet<u8> = port.stated_qos.classes.iter().filter_map(|class| class.pauses).collect();
    let found: BTreeSet<u8> = port.qos.pauses.iter().copied().collect();
    (meant != found)
        .then(|| differs("pfc_enable", format!("pauses {found:?}; the manifest states {meant:?}")))
}

/// Checks that there is a watchdog if and only if one is stated, with the stated times and action.
fn watchdog_faults(port: &PortComparison<'_>) -> Vec<Difference> {
    let rows = || port.qos.settings.iter().filter(|(name, _)| name.starts_with("watchdog"));
    let stated = port.of_switch.and_then(|own| own.watchdog.as_ref());
    let lossless = port.stated_qos.classes.iter().any(|class| class.pauses.is_some());
    let Some(stated) = stated.filter(|_| lossless) else {
        let unstated = |(name, value): (&String, &String)| {
            differs(name.as_str(), format!("has `{value}` as {name}; the manifest states none"))
        };
        return rows().map(unstated).collect();
    };
    let action = if stated.action == "alert" { "notify-only" } else { &stated.action };
    let meant = [
        ("watchdog", "on".to_owned()),
        ("watchdog action", action.to_owned()),
        ("watchdog polling-interval", "auto".to_owned()),
        ("watchdog recovery-time", stated.restoration_ms.to_string()),
        ("watchdog timeout", stated.detection_ms.to_string()),
    ];
    let fault = |(name, meant): (&str, String)| {
        let found = port.qos.settings.get(name);
        (found != Some(&meant)).then(|| {
            let found = found.map_or("nothing", String::as_str);
            differs(name, format!("has `{found}` as {name}; the manifest states `{meant}`"))
        })
    };
    meant.into_iter().filter_map(fault).collect()
}

/// Checks that ECN marks are counted, because they are otherwise invisible.
fn counter_faults(port: &PortComparison<'_>) -> Vec<Difference> {
    let queue = |class: &u8| port.qos.class_to_queue.get(class).copied();
    let marked: BTreeSet<u8> = port.qos.marks.keys().filter_map(queue).collect();
    let counted = |queue: &u8| port.qos.settings.contains_key(&format!("counter of queue {queue}"));
    let silent = marked.iter().filter(|queue| !counted(queue));
    let message = |queue: &u8| {
        let message = format!("marks in queue {queue}, but does not count marks");
        differs(format!("counter of queue {queue}"), message)
    };
    silent.map(message).collect()
}

/// Checks shares of the buffer, if the switch has such settings.
fn shares(port: &PortComparison<'_>) -> Vec<Difference> {
    if !port.qos.settings.contains_key("shares") {
        return Vec::new();
    }
    let groups = port
        .group_classes()
        .into_iter()
        .map(|(at, class)| (format!("ingress of group {at}"), &class.ingress_th));
    let queues = port
        .queue_classes()
        .into_iter()
        .map(|(at, class)| (format!("egress of queue {at}"), &class.egress_th));
    let meant: BTreeMap<String, String> =
        groups.chain(queues).map(|(name, threshold)| (name, ratio(threshold))).collect();
    let mut faults = Vec::new();
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
    let other = port.qos.settings.keys().find(|name| {
        (name.starts_with("ingress of ") || name.starts_with("egress of ")) && !meant.contains_key(*name)
    });
    faults.extend(
        other.map(|name| differs(name.as_str(), format!("has a share for {name}, which no class has"))),
    );
    faults
}

/// Formats the power of two with this exponent, limited to 1/128 to 8, as a fraction or number.
fn ratio(exponent: &str) -> String {
    match exponent.parse::<i32>().unwrap_or(i32::MAX) {
        ..=-7 => "1/128".to_owned(),
        below @ -6..=-1 => format!("1/{}", 2_i32.pow(below.unsigned_abs())),
        above @ 0..=2 => 2_i32.pow(above.unsigned_abs()).to_string(),
        3.. => "8".to_owned(),
    }
}

/// Checks the headroom. That of each port must suffice for its cable and equal the stated value of some port. The total
/// must be that of the switch.
fn headroom(port: &PortComparison<'_>) -> Vec<Difference> {
    if !port.qos.settings.contains_key("shares") {
        return Vec::new();
    }
    let number = |name: &str| port.qos.buffer_settings.get(name).and_then(|text| text.parse::<u64>().ok());
    let (own, pool) = (number("headroom"), number("headroom pool"));
    let Some(least) = port.of_port.and_then(|port| port.headroom_bytes) else {
        let unstated = own.or(pool).filter(|_| port.of_port.is_some());
        return unstated
            .map(|bytes| {
                differs("headroom", format!("has headroom of {bytes} bytes; the manifest states none"))
            })
            .into_iter()
            .collect();
    };
    let stated = port.of_switch.into_iter().flat_map(|own| &own.ports).filter_map(|port| port.headroom_bytes);
    let mut faults = Vec::new();
    if !own.is_some_and(|own| own >= least && stated.into_iter().any(|stated| stated == own)) {
        let own = own.unwrap_or(0);
        let message = format!("has headroom of {own} bytes; the manifest states {least} for its cable");
        faults.push(differs("headroom", message));
    }
    let meant = port.remaining_buffer.map(super::remaining_buffer::RemainingBuffer::headroom);
    if let Some(meant) = meant.filter(|meant| pool != Some(*meant)) {
        let pool = pool.unwrap_or(0);
        let message = format!("is on a switch with {pool} bytes of headroom, but its cables need {meant}");
        faults.push(differs("headroom pool", message));
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::ratio;

    #[test]
    fn exponents_become_ratios() {
        assert_eq!(
            ["-8", "-7", "-2", "0", "1", "3", "7"].map(ratio),
            ["1/128", "1/128", "1/4", "1", "2", "8", "8"]
        );
    }
}
