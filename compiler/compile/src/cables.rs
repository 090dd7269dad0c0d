//! The cable list of one plane, as CSV, for installers and labs.
//!
//! In: a plan and a plane, or one of its zones. Out: one line per present cable, NIC cables first, in the
//! order of their lower ends.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use closc_artefacts::cables::{HEADER, Kind, Row, State};
use closc_artefacts::paths;
use closc_fabric::{Fabric, PortUse};
use closc_plan::{ExceptionKind, Plan, Subject};
use closc_render::Artefact;
use closc_topology::{Link, NicPort, PlaneId, Switch, TierId, ZoneId};

use crate::meaning::{exceptions, numbers};
use crate::part;

/// Renders the cable list of a plane, or of one of its zones. A cable belongs to the zone of its lower
/// switch.
pub(crate) fn render(plan: &Plan, plane: PlaneId, zone: Option<ZoneId>) -> Artefact {
    let mut text = String::from(HEADER);
    let mut add = |link| {
        let _ = writeln!(text, "{}", line(plan, link));
    };
    match zone {
        None => links(plan.fabric(), plane).for_each(&mut add),
        Some(zone) => part::cables(plan, plane, zone).for_each(&mut add),
    }
    Artefact::new(paths::cables(plane.0, zone.map(|zone| zone.0)), text)
}

/// Returns whether the cable list of a plane differs. If the plans differ only in exceptions, only the cables near
/// these are compared. Otherwise the lists are compared up to the first difference.
pub(crate) fn differs(old: &Plan, new: &Plan, plane: PlaneId) -> bool {
    if let Some(links) = changed_links(old, new, plane) {
        let row = |plan: &Plan, link| plan.fabric().has_link(link).then(|| line(plan, link));
        return links.into_iter().any(|link| row(old, link) != row(new, link));
    }
    let rows = |plan| links(Plan::fabric(plan), plane).map(move |link| line(plan, link));
    !rows(old).eq(rows(new))
}

/// Returns the cables of a plane, in the order of its list.
fn links(fabric: &Fabric, plane: PlaneId) -> impl Iterator<Item = Link> + '_ {
    fabric.host_links(plane).chain(fabric.switch_links(plane))
}

/// Returns the cables of a plane that exceptions of only one of the plans affect. Returns `None` if the plans
/// differ in more than their exceptions, or if the state of the plane itself differs.
fn changed_links(old: &Plan, new: &Plan, plane: PlaneId) -> Option<BTreeSet<Link>> {
    if numbers(old) != numbers(new) {
        return None;
    }
    let [before, after] = [old, new].map(|plan| {
        let all = exceptions(plan).map(|(excepted, form)| (form, excepted));
        all.collect::<BTreeMap<_, _>>()
    });
    let only = |of: &BTreeMap<Vec<u8>, ExceptionKind>, other: &BTreeMap<Vec<u8>, ExceptionKind>| {
        of.iter().filter(|(form, _)| !other.contains_key(*form)).map(|(_, found)| *found).collect::<Vec<_>>()
    };
    let mut found = BTreeSet::new();
    for excepted in only(&before, &after).into_iter().chain(only(&after, &before)) {
        match excepted {
            ExceptionKind::Absent(Subject::Plane(own)) | ExceptionKind::Drained(Subject::Plane(own)) => {
                if own == plane {
                    return None;
                }
            }
            ExceptionKind::Absent(Subject::Nic(nic)) | ExceptionKind::Drained(Subject::Nic(nic)) => {
                found.insert(Link::Host(NicPort { plane, nic }));
            }
            ExceptionKind::Absent(Subject::Link(link))
            | ExceptionKind::Drained(Subject::Link(link))
            | ExceptionKind::Isolated(link)
            | ExceptionKind::Cable(link) => found.extend((link.plane() == plane).then_some(link)),
            ExceptionKind::Absent(Subject::Switch(switch))
            | ExceptionKind::Drained(Subject::Switch(switch))
            | ExceptionKind::Device(switch) => {
                found.extend(
                    (switch.plane == plane)
                        .then(|| links_of_switch(new.fabric(), switch))
                        .into_iter()
                        .flatten(),
                );
            }
        }
    }
    Some(found)
}

/// Returns the cables attached to a switch, present or absent.
fn links_of_switch(fabric: &Fabric, switch: Switch) -> impl Iterator<Item = Link> + '_ {
    fabric.ports(switch).filter_map(|port| match port.usage {
        PortUse::Link { link, .. } | PortUse::Absent { link } => Some(link),
        PortUse::Spare => None,
    })
}

fn line(plan: &Plan, link: Link) -> String {
    let ends = plan.cable_ends(link);
    let cable = plan.fabric().cable(link);
    let state = match (plan.fabric().is_isolated(link), plan.fabric().is_drained(link)) {
        (true, _) => State::Isolated,
        (false, true) => State::Drained,
        (false, false) => State::Up,
    };
    let kind = match link {
        Link::Host(_) => Kind::NicT0,
        Link::Fabric { lower, .. } if lower.tier == TierId::T0 => Kind::T0T1,
        Link::Fabric { .. } => Kind::T1T2,
    };
    let row = Row {
        plane: link.plane().0,
        kind: kind.keyword(),
        lower_device: &ends.lower.0,
        lower_port: &ends.lower.1,
        upper_device: &ends.upper.0,
        upper_port: &ends.upper.1,
        length: &cable.length.to_string(),
        medium: cable.medium.as_ref(),
        state: state.keyword(),
    };
    row.to_string()
}
