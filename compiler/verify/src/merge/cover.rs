//! Checks that the parts are complete: every plane and every path table is in exactly one part, and planes were proved
//! with the judged tables.

use std::collections::BTreeMap;

use closc_artefacts::manifest::GroupRun;

use super::{MergeError, NamedSummaries};
use crate::interface::number;

/// Rejects duplicate and missing planes and tables.
pub(super) fn check(parts: NamedSummaries<'_>) -> Result<(), MergeError> {
    let all = &parts[0].1;
    let mut owners: BTreeMap<u64, &str> = BTreeMap::new();
    let every = || 0..all.counts.planes;
    for (name, part) in parts {
        let own: Vec<u64> = match &part.planes {
            Some(planes) => planes.iter().map(|plane| u64::from(*plane)).collect(),
            None => every().collect(),
        };
        for plane in own {
            if let Some(one) = owners.insert(plane, name) {
                return Err(duplicate_error(format!("plane {plane}"), one, name));
            }
        }
    }
    if let Some(plane) = every().find(|plane| !owners.contains_key(plane)) {
        return Err(MergeError::Missing(format!("plane {plane}")));
    }
    if all.routing.is_source_routed() { tables(parts) } else { Ok(()) }
}

fn duplicate_error(what: String, one: &str, other: &str) -> MergeError {
    MergeError::Twice { item: what, one: one.to_owned(), other: other.to_owned() }
}

/// Rejects duplicate and missing path tables. They are compared as ranges, because a forged summary may contain
/// billions of groups.
fn tables(parts: NamedSummaries<'_>) -> Result<(), MergeError> {
    let stated = parts.iter().find_map(|(_, part)| part.interface.tables.as_ref());
    let Some(stated) = stated else { return Err(MergeError::Missing("path tables".to_owned())) };
    let whole = || (0..stated.zones).map(|zone| GroupRun { zone, first: 1, last: stated.groups });
    let mut runs: Vec<(GroupRun, &str)> = Vec::new();
    for (name, part) in parts {
        match &part.groups {
            Some(groups) => runs.extend(groups.iter().map(|run| (*run, name.as_str()))),
            None => runs.extend(whole().map(|run| (run, name.as_str()))),
        }
    }
    runs.sort_unstable();
    let table = |zone: u16, group: u16| format!("the path table of group {group} of zone {zone}");
    if let Some((run, name)) =
        runs.iter().find(|(run, _)| run.zone >= stated.zones || run.last > stated.groups)
    {
        return Err(MergeError::Unsound {
            name: (*name).to_owned(),
            field: "groups".to_owned(),
            reason: format!(
                "there is no group {} of zone {}: the path tables have {} zones of {} groups",
                run.last, run.zone, stated.zones, stated.groups
            ),
        });
    }
    for pair in runs.windows(2) {
        let [(a, one), (b, other)] = [pair[0], pair[1]];
        if a.zone == b.zone && b.first <= a.last {
            return Err(duplicate_error(table(b.zone, b.first), one, other));
        }
    }
    let wanted = u64::from(stated.zones) * u64::from(stated.groups);
    let there: u64 = runs.iter().map(|(run, _)| u64::from(run.last - run.first) + 1).sum();
    if there == wanted {
        return Ok(());
    }
    let mut next = runs.iter().map(|(run, _)| *run).peekable();
    let gap = whole().find_map(|all| {
        let mut first = all.first;
        while let Some(run) = next.next_if(|run| run.zone == all.zone && run.first == first) {
            if run.last == all.last {
                return None;
            }
            first = run.last + 1;
        }
        Some((all.zone, first))
    });
    let (zone, group) = gap.unwrap_or((0, 1));
    let more = match wanted - there {
        1 => String::new(),
        many => format!(", and {} more", many - 1),
    };
    Err(MergeError::Missing(format!("{}{more}", table(zone, group))))
}

/// Rejects planes that were proved with tables other than the judged ones.
pub(super) fn check_same_tables(parts: NamedSummaries<'_>) -> Result<(), MergeError> {
    // A complete tree was proved with its own tables.
    if parts.iter().any(|(_, part)| part.groups.is_none()) {
        return Ok(());
    }
    let tables = || parts.iter().filter_map(|(name, part)| Some((name, part.interface.tables.as_ref()?)));
    let judged = tables().fold(0u128, |sum, (_, tables)| sum.wrapping_add(number(&tables.judged)));
    let differs = tables().find(|(_, tables)| tables.all.as_ref().is_some_and(|all| number(all) != judged));
    differs.map_or(Ok(()), |(name, _)| Err(MergeError::Tables(name.clone())))
}
