//! What the profile does not state and a switch could do all the same: write other code points, drop at random, switch off
//! queues whose pauses last.
//!
//! Invariants: what nobody states must not be there, however many switches say it alike.

use super::Compared;

/// Returns what is there beyond what is stated.
pub(super) fn faults(port: &Compared<'_>) -> Vec<String> {
    let mut faults: Vec<String> = rewritten(port).into_iter().chain(elsewhere(port)).collect();
    faults.extend(watched(port));
    faults.extend(dropped(port));
    faults
}

/// Code points are rewritten for trimmed packets only, to the one that is stated.
fn rewritten(port: &Compared<'_>) -> Option<String> {
    let found = port.qos.settings.get("tc_to_dscp_map").filter(|map| !map.is_empty())?;
    let meant = port.stated.trimmed.and_then(|(fabric, last_hop)| {
        let class = super::rows::field(port.qos.settings.get("trimming")?, "tc_value")?;
        Some(format!("{class}={}", if port.last_hop { last_hop } else { fabric }))
    });
    (meant.as_ref() != Some(found)).then(|| {
        let meant = meant.unwrap_or_else(|| "none".to_owned());
        format!("rewrites code points by class, `{found}`, and {meant} is stated")
    })
}

/// Packets that enter by no port of the fabric have the classes of all others.
fn elsewhere(port: &Compared<'_>) -> Option<String> {
    let found = port.qos.settings.get("code points elsewhere")?;
    (port.qos.settings.get("dscp_to_tc_map") != Some(found)).then(|| {
        "is of a switch that maps code points of other packets otherwise (`PORT_QOS_MAP|global`)".to_owned()
    })
}

/// A watchdog drops what a paused queue holds: there is none where none is stated.
fn watched(port: &Compared<'_>) -> Option<String> {
    let unstated = port.of_switch.is_some_and(|own| own.watchdog.is_none());
    let mut rows = port.qos.settings.iter().filter(|_| unstated);
    let found = rows.find(|(name, _)| name.starts_with("watchdog ") || *name == "PFC_WD|global");
    found.map(|(name, value)| format!("has `{value}` as {name}, and no watchdog is stated"))
}

/// What drops early does so only in queues that are to mark, where it marks instead.
fn dropped(port: &Compared<'_>) -> Option<String> {
    let stated = port.of_port.filter(|_| port.buffered())?;
    port.qos.settings.iter().find_map(|(name, row)| {
        let queue: u8 = name.strip_prefix("wred_profile of queue ")?.parse().ok()?;
        let message = || format!("has `{row}` in queue {queue}, where no marks are stated");
        (!stated.marks.contains_key(&queue)).then(message)
    })
}
