//! Facts that span parts. They are judged from the interfaces of all parts.
//!
//! In: summaries of one fabric that cover it completely. Out: findings. Invariants: rules are judged either inside a
//! part or here. All rules that span planes are here: unique values, gateways, common values, equality of planes,
//! round-trip delays, NICs and their addresses, counts in the manifest.

use std::collections::{BTreeMap, BTreeSet};

use closc_artefacts::manifest::Counts;
use closc_artefacts::paths::MANIFEST;
use closc_diagnostics::Rule;

use super::{NamedSummaries, sums};
use crate::check::delay::{self, Extent, Lengths};
use crate::finding::{Findings, Violation};
use crate::interface::nics::Nics;
use crate::interface::{PlaneCables, number};
use crate::model::place::Place;
use crate::rules::addresses::{MANAGEMENT, UNIQUE};
use crate::rules::choices::ADDRESS;
use crate::rules::files::{COUNTS, SAME};
use crate::rules::planes::ALIKE;
use crate::rules::rules;
use crate::rules::tables::{DELAY, HEADER};
use crate::summary::Summary;

/// Judges all facts that span parts. Returns the NICs of all parts, where switches choose the path.
pub(super) fn judge(parts: NamedSummaries<'_>, findings: &mut Findings) -> Nics {
    unique_values(parts, findings);
    gateways(parts, findings);
    compare_common_values(parts, findings);
    planes(parts, findings);
    delays(parts, findings);
    let nics = addresses(parts, findings);
    counts(parts, &nics, findings);
    nics
}

/// Compares counts with the manifest.
fn counts(parts: NamedSummaries<'_>, nics: &Nics, findings: &mut Findings) {
    let stated = parts[0].1.counts;
    if stated == Counts::default() {
        return;
    }
    // The sums were checked for overflow before.
    let add =
        |of: &dyn Fn(&Summary) -> u64| parts.iter().map(|(_, part)| of(part)).fold(0, u64::saturating_add);
    let hosts = add(&|part| part.host_links);
    let source_routed = parts[0].1.routing.is_source_routed();
    let numbers = [
        // Where switches choose the path, no file lists NICs without a cable.
        ("nics", stated.nics, if source_routed { sums::nics(parts, nics) } else { stated.nics }),
        ("t0", stated.t0, add(&|part| part.tiers[0])),
        ("t1", stated.t1, add(&|part| part.tiers[1])),
        ("t2", stated.t2, add(&|part| part.tiers[2])),
        ("host_links", stated.host_links, hosts),
        ("fabric_links", stated.fabric_links, add(&|part| part.read.cables) - hosts),
    ];
    // Switches without a cable have no tier, unless they have uSIDs.
    let placed = add(&|part| part.tiers.iter().sum()) == add(&|part| part.read.switches);
    for (name, meant, found) in numbers {
        if !placed && name.starts_with('t') {
            continue;
        }
        findings.expect(meant == found, &COUNTS, || {
            let message = format!("`{name}` is {meant}, but all parts together have {found}");
            Violation::new(&COUNTS, Place::file(MANIFEST), message)
        });
    }
}

/// Checks that values that must be unique are unique across all parts.
fn unique_values(parts: NamedSummaries<'_>, findings: &mut Findings) {
    let kinds: BTreeSet<&String> = parts.iter().flat_map(|(_, part)| part.interface.once.keys()).collect();
    for kind in kinds {
        let mut runs: Vec<(u128, u128, &str)> = parts
            .iter()
            .filter_map(|(name, part)| Some((name, part.interface.once.get(kind)?)))
            .flat_map(|(name, runs)| runs.iter().map(move |[a, b]| (number(a), number(b), name.as_str())))
            .collect();
        runs.sort_unstable();
        let mut reach: Option<(u128, &str)> = None;
        for (first, last, name) in runs {
            findings.count_facts(&UNIQUE, 1);
            if let Some((end, other)) = reach.filter(|(end, other)| *end >= first && *other != name) {
                let message = format!(
                    "`{other}` and `{name}` both have a {kind} of {first:x} to {:x}, and each is used once",
                    end.min(last)
                );
                findings.report(Violation::new(&UNIQUE, Place::file(name), message).and(Place::file(other)));
            }
            if reach.is_none_or(|(end, _)| last > end) {
                reach = Some((last, name));
            }
        }
    }
}

/// Checks that no management gateway is the address of a switch in another part.
fn gateways(parts: NamedSummaries<'_>, findings: &mut Findings) {
    for (name, part) in parts {
        for gateway in part.interface.gateways.iter().map(|text| number(text)) {
            let is_in = |(_, other): &&(String, Summary)| {
                let runs = other.interface.once.get("management address").into_iter().flatten();
                runs.into_iter().any(|[a, b]| (number(a)..=number(b)).contains(&gateway))
            };
            let others = parts.iter().filter(|(other, _)| other != name);
            if let Some((other, _)) = others.clone().find(is_in) {
                let message = format!("the gateway {gateway:x} of `{name}` may be a switch of `{other}`");
                findings.report(Violation::new(&MANAGEMENT, Place::file(name), message));
            }
        }
    }
}

/// Checks that each common value is the same in all parts.
fn compare_common_values(parts: NamedSummaries<'_>, findings: &mut Findings) {
    let known: BTreeMap<&str, &'static Rule> = rules().into_iter().map(|rule| (rule.code, rule)).collect();
    let mut first: BTreeMap<&str, (&str, &str)> = BTreeMap::new();
    for (name, part) in parts {
        for (kind, value) in &part.interface.alike {
            let (other, meant) = *first.entry(kind).or_insert((name, value));
            let (code, of) = kind.split_once(' ').unwrap_or((SAME.code, kind));
            let rule = known.get(code).copied().unwrap_or(&SAME);
            findings.expect(meant == value, rule, || {
                let message =
                    format!("{of}: most switches in `{name}` differ from most switches in `{other}`");
                Violation::new(rule, Place::file(name), message).and(Place::file(other))
            });
        }
    }
}

/// Checks that planes are equal, except for the absences that path tables declare.
fn planes(parts: NamedSummaries<'_>, findings: &mut Findings) {
    let all: Vec<(&str, &PlaneCables)> = parts
        .iter()
        .flat_map(|(name, part)| part.interface.planes.iter().map(move |plane| (name.as_str(), plane)))
        .collect();
    let whole = || all.iter().filter(|(_, plane)| !plane.declares);
    // The most frequent plane without declared absences is the intended one.
    let mut votes: BTreeMap<(&str, u64), usize> = BTreeMap::new();
    for (_, plane) in whole() {
        *votes.entry((&plane.digest, plane.cables)).or_default() += 1;
    }
    let Some(((meant, cables), _)) = votes.into_iter().max_by_key(|(_, count)| *count) else { return };
    for (name, plane) in &all {
        let fits = if plane.declares { plane.cables <= cables } else { plane.digest == meant };
        if !fits {
            let message = format!(
                "plane {} of `{name}` has {} cables that do not connect the same uSIDs as the {cables} of \
                 other planes, and none is declared absent",
                plane.plane, plane.cables
            );
            findings.report(Violation::new(&ALIKE, Place::file(*name), message));
        }
    }
}

/// Checks the round-trip delays of path tables against the cables of all planes.
fn delays(parts: NamedSummaries<'_>, findings: &mut Findings) {
    let mut lengths: Lengths = [None; 3];
    for (_, part) in parts {
        for (all, own) in lengths.iter_mut().zip(part.interface.lengths) {
            *all = match (*all, own) {
                (Some((a, b)), Some((c, d))) => Some((a.min(c), b.max(d))),
                (all, own) => all.or(own),
            };
        }
    }
    let groups = parts.iter().find_map(|(_, part)| part.interface.tables.as_ref());
    let extent = groups.map_or(Extent::Group, |tables| Extent::with(tables.zones, tables.groups));
    for (name, part) in parts {
        let Some(stated) = part.interface.delay else { continue };
        let (least, most) = delay::bounds(&lengths, extent, (stated.mtu, stated.speed_mbps));
        for rtt in stated.base_rtt_ns {
            findings.expect((least..=most).contains(&rtt), &DELAY, || {
                let message = format!(
                    "`{name}`: the round trip is {rtt} ns; expected {least} to {most} ns with these cables"
                );
                Violation::new(&DELAY, Place::file(name), message)
            });
        }
    }
    findings.count_facts(&HEADER, 1);
}

/// Checks that each NIC has the same address in all planes, and that addresses are unique, where switches choose the
/// path. Returns all NICs.
fn addresses(parts: NamedSummaries<'_>, findings: &mut Findings) -> Nics {
    let mut all = Nics::default();
    for (name, part) in parts {
        for (plane, nics) in &part.interface.nics {
            findings.count_facts(&ADDRESS, nics.count());
            for differs in all.join(nics) {
                let message = format!(
                    "`{}` has {} in plane {plane} of `{name}`, and {} in another plane",
                    differs.nic, differs.actual, differs.expected
                );
                findings.report(Violation::new(&ADDRESS, Place::file(name), message));
            }
        }
    }
    if let Some((address, [one, other])) = all.duplicate() {
        let message = format!("`{one}` and `{other}` both have {address}");
        findings.report(Violation::new(&ADDRESS, Place::file(MANIFEST), message));
    }
    all
}
