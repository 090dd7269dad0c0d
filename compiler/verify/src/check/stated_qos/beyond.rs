//! Switch functions beyond the profile: rewriting of code points, random drops, PFC watchdogs.
//!
//! Invariants: functions that are not stated must be absent, even if all switches agree on them.

use std::collections::BTreeSet;

use super::{Difference, PortComparison, differs};

/// Returns settings that are present but not stated.
pub(super) fn faults(port: &PortComparison<'_>) -> Vec<Difference> {
    let mut faults: Vec<Difference> = rewrite_fault(port).into_iter().chain(global_map_fault(port)).collect();
    faults.extend(watchdog_fault(port));
    faults.extend(early_drop_fault(port));
    faults
}

/// Checks that code points are rewritten only for trimmed packets, and to the stated value. Some ASICs clear the code
/// points of classes without an entry. There, every class needs an entry that keeps its packets in the class.
fn rewrite_fault(port: &PortComparison<'_>) -> Option<Difference> {
    let found = port.qos.settings.get("tc_to_dscp_map").filter(|map| !map.is_empty())?;
    let trimmed = port.stated_qos.trimmed.and_then(|(fabric, last_hop)| {
        let class = super::rows::field(port.qos.settings.get("trimming")?, "tc_value")?;
        Some((class, if port.last_hop { last_hop } else { fabric }))
    });
    if port.of_switch.and_then(|own| own.trimming).is_some_and(|trimming| trimming.maps_classes) {
        return code_point_map_fault(port, found, trimmed);
    }
    let meant = trimmed.map(|(class, dscp)| format!("{class}={dscp}"));
    (meant.as_ref() != Some(found)).then(|| {
        let meant = meant.unwrap_or_else(|| "none".to_owned());
        rewrites(format!("rewrites code points by class, `{found}`; the manifest states {meant}"))
    })
}

/// Checks that every class with code points has an entry that maps back to the class, so that packets trimmed elsewhere
/// keep their class.
fn code_point_map_fault(
    port: &PortComparison<'_>,
    found: &str,
    trimmed: Option<(&str, u8)>,
) -> Option<Difference> {
    let fabric = port.stated_qos.trimmed.map(|(fabric, _)| fabric);
    let class_of = |dscp: u8| port.stated_qos.dscp.get(usize::from(dscp)).copied();
    let is_kept = |tc: u8, dscp: u8| {
        let is_trimmed = fabric.and_then(class_of) == Some(tc);
        class_of(dscp) == Some(tc) && (!is_trimmed || fabric == Some(dscp))
    };
    let entry = |tc: &str| super::rows::field(found, tc)?.parse::<u8>().ok();
    if let Some((class, dscp)) = trimmed.filter(|(class, dscp)| entry(class) != Some(*dscp)) {
        let message = format!("rewrites code points by class, `{found}`; the manifest states {class}={dscp}");
        return Some(rewrites(message));
    }
    let classes: BTreeSet<u8> = port.stated_qos.dscp.iter().copied().collect();
    let lost = classes.iter().find(|tc| !entry(&tc.to_string()).is_some_and(|dscp| is_kept(**tc, dscp)));
    if let Some(tc) = lost {
        return Some(rewrites(match entry(&tc.to_string()) {
            None => {
                format!("clears the code points of class {tc}: its map from classes to code points lacks it")
            }
            Some(dscp) => {
                format!("gives packets of class {tc} code point {dscp}, which belongs to another class")
            }
        }));
    }
    let known = classes.len() + usize::from(trimmed.is_some());
    (found.split(' ').count() != known).then(|| {
        rewrites(format!("rewrites code points by class, `{found}`; the manifest states {known} entries"))
    })
}

/// Creates a difference of the map from classes to code points.
fn rewrites(message: String) -> Difference {
    differs("tc_to_dscp_map", message)
}

/// Checks that packets that do not arrive at fabric ports have the same classes as all others.
fn global_map_fault(port: &PortComparison<'_>) -> Option<Difference> {
    let found = port.qos.settings.get("code points elsewhere")?;
    (port.qos.settings.get("dscp_to_tc_map") != Some(found)).then(|| {
        let message =
            "is on a switch that maps code points of other packets differently (`PORT_QOS_MAP|global`)";
        differs("code points elsewhere", message)
    })
}

/// Checks that a watchdog is absent unless one is stated, because a watchdog drops the contents of paused queues.
fn watchdog_fault(port: &PortComparison<'_>) -> Option<Difference> {
    let unstated = port.of_switch.is_some_and(|own| own.watchdog.is_none());
    let mut rows = port.qos.settings.iter().filter(|_| unstated);
    let found = rows.find(|(name, _)| name.starts_with("watchdog ") || *name == "PFC_WD|global");
    found.map(|(name, value)| {
        differs(name.as_str(), format!("has `{value}` as {name}, but the manifest states no watchdog"))
    })
}

/// Checks that random early detection is enabled only in queues that must mark, where it marks instead of dropping.
fn early_drop_fault(port: &PortComparison<'_>) -> Option<Difference> {
    let stated = port.of_port.filter(|_| port.has_buffer())?;
    port.qos.settings.iter().find_map(|(name, row)| {
        let queue: u8 = name.strip_prefix("wred_profile of queue ")?.parse().ok()?;
        let message = || {
            differs(
                name.as_str(),
                format!("has `{row}` in queue {queue}, but the manifest states no marking there"),
            )
        };
        (!stated.marks.contains_key(&queue)).then(message)
    })
}
