//! Failure domains that contain a T0 group in all planes or all T1s of a plane, and kinds of domains without switches.
//!
//! In: a fabric. Out: diagnostics. Invariants: at most two diagnostics per kind, regardless of the number of its
//! domains.

use std::collections::{BTreeMap, BTreeSet};

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};
use closc_topology::{DomainRule, PlaneId, Subject, Switch, TierId, ZoneId, field};

use crate::Fabric;

/// A failure domain that contains a complete group or plane.
pub static WHOLE: Rule = Rule {
    code: "W0303",
    title: "one failure domain contains a whole group or plane",
    condition: "No failure domain contains the T0s of a group in all planes, or every T1 of a plane (and zone).",
    impact: "Planes exist so that one failure leaves the others intact. If a feed or a rack holds all T0s \
           of a group, its loss cuts off their NICs. If it holds every T1 of a plane, all NICs lose \
           that plane at once.",
    example: "fabric: tiny\nplanes: 2\nhosts: { groups: 2, per_group: 2, nic: { speed: 200G, lanes: 2 } }\n\
              domains: { rack: { by: [tier, index] } }",
    fix: "Attach adjacent planes or numbers to different domains, for example `by: [plane, index], count: \
           2`. `closc whatif --each domain` shows the impact of each.",
};

/// A kind of domain without switches.
pub static EMPTY: Rule = Rule {
    code: "W0305",
    title: "a kind of domain contains no switches",
    condition: "A kind of domain with `by` contains at least one switch of the fabric.",
    impact: "`closc whatif` cannot test such a domain, and backup ports cannot avoid it. T2s have no zone, and \
           a fabric with two tiers has no T2s.",
    example: "fabric: tiny\nplanes: 2\nhosts: { groups: 2, per_group: 2, nic: { speed: 200G, lanes: 2 } }\n\
              domains: { hall: { by: [index], tiers: [t2] } }",
    fix: "Use tiers and coordinates of existing switches, or remove the kind.",
};

/// Number of switches of a group or plane in each domain.
type Counts<K> = BTreeMap<(String, K), u64>;

/// T0s by domain and group, and T1s by domain, plane and zone.
type SwitchCounts = (Counts<(ZoneId, u16)>, Counts<(PlaneId, ZoneId)>);

/// All T0s by group, and all T1s by plane and zone.
type AllSwitches = (BTreeMap<(ZoneId, u16), u64>, BTreeMap<(PlaneId, ZoneId), u64>);

/// Checks every kind of domain.
pub(crate) fn check(fabric: &Fabric, diagnostics: &mut Diagnostics) {
    let topology = fabric.topology();
    let (groups, planes) = switch_counts(fabric);
    for kind in topology.domains.keys() {
        let (t0s, t1s) = domain_counts(fabric, kind);
        let span = topology.spans.get(field!("domains.*").with_key(kind));
        let mut warn = |message: String, what: &str, others: usize| {
            let mut found = Diagnostic::warning(&WHOLE, message);
            if let Some(span) = span {
                found = found.at(span, what);
            }
            if others > 0 {
                found = found.note(format!("other domains of this kind with the same effect: {others}"));
            }
            diagnostics.push(found.help("assign planes or adjacent switch numbers to different domains"));
        };
        // With one plane, a group consists of one T0; with one T1, a plane has no others. Then sharing a domain
        // cannot be avoided.
        let all = t0s.iter().filter(|((_, group), held)| groups.get(group) == Some(held) && **held > 1);
        let (names, first) = first_domain(all);
        if let Some((name, (zone, group), held)) = first {
            let nics = fabric.group_nics(zone, group).count();
            let group = if topology.has_zones() {
                format!("zone {zone} group {}", group + 1)
            } else {
                format!("group {}", group + 1)
            };
            let what = format!("its loss cuts off {nics} NICs");
            warn(format!("`{name}` holds all {held} T0s of {group}, in all planes"), &what, names - 1);
        }
        let all = t1s.iter().filter(|((_, plane), held)| planes.get(plane) == Some(held) && **held > 1);
        let (names, first) = first_domain(all);
        if let Some((name, (plane, zone), held)) = first {
            let (of, part) = (topology.planes, 100.0 / f64::from(topology.planes));
            let (zone, ends) = if topology.has_zones() {
                (format!(" in zone {zone}"), format!(", if one of them is in zone {zone}"))
            } else {
                (String::new(), String::new())
            };
            let what = format!(
                "its loss removes 1 of {of} planes, {part:.1} % of the paths \
                 of every pair of NICs in different groups{ends}"
            );
            warn(format!("`{name}` holds all {held} T1s of plane {plane}{zone}"), &what, names - 1);
        }
    }
}

/// Counts the T0s of each group and the T1s of each plane and zone; nothing if the fabric has no domains.
fn switch_counts(fabric: &Fabric) -> AllSwitches {
    let (mut groups, mut planes) = (BTreeMap::new(), BTreeMap::new());
    if !fabric.topology().domains.is_empty() {
        for switch in fabric.switches() {
            match switch.tier {
                TierId::T0 => *groups.entry((switch.zone, switch.index)).or_default() += 1,
                TierId::T1 => *planes.entry((switch.plane, switch.zone)).or_default() += 1,
                TierId::T2 => {}
            }
        }
    }
    (groups, planes)
}

/// Checks that each kind of domain by position contains a switch.
pub(crate) fn empty(fabric: &Fabric, diagnostics: &mut Diagnostics) {
    let topology = fabric.topology();
    for (kind, rule) in &topology.domains {
        let holds = |switch| topology.domain(kind, switch).is_some();
        if matches!(rule, DomainRule::Members(_)) || fabric.switches().any(holds) {
            continue;
        }
        let mut found = Diagnostic::warning(&EMPTY, format!("no switch is in a domain of kind `{kind}`"));
        if let Some(span) = topology.spans.get(field!("domains.*").with_key(kind)) {
            found = found.at(span, "holds nothing");
        }
        diagnostics.push(found.help("name tiers and coordinates that switches have, or remove the kind"));
    }
}

/// Counts the T0s of each group and the T1s of each plane per domain of a kind.
fn domain_counts(fabric: &Fabric, kind: &str) -> SwitchCounts {
    let (mut t0s, mut t1s) = SwitchCounts::default();
    let topology = fabric.topology();
    for switch in fabric.switches() {
        let name = match &topology.domains[kind] {
            DomainRule::Position(_) => topology.domain(kind, switch).map(String::from),
            DomainRule::Members(members) => is_member(members, switch).then(|| kind.to_owned()),
        };
        match (name, switch.tier) {
            (Some(name), TierId::T0) => *t0s.entry((name, (switch.zone, switch.index))).or_default() += 1,
            (Some(name), TierId::T1) => *t1s.entry((name, (switch.plane, switch.zone))).or_default() += 1,
            (Some(_), TierId::T2) | (None, _) => {}
        }
    }
    (t0s, t1s)
}

fn is_member(members: &BTreeSet<Subject>, switch: Switch) -> bool {
    members.contains(&Subject::Switch(switch)) || members.contains(&Subject::Plane(switch.plane))
}

/// Returns the number of domains in the counts, and the first one with its group or plane and its switch count.
fn first_domain<'a, K: Copy + 'a>(
    counts: impl Iterator<Item = (&'a (String, K), &'a u64)>,
) -> (usize, Option<(String, K, u64)>) {
    let (mut names, mut first) = (BTreeSet::new(), None);
    for ((name, held), count) in counts {
        names.insert(name);
        if first.is_none() {
            first = Some((name.clone(), *held, *count));
        }
    }
    (names.len(), first)
}
