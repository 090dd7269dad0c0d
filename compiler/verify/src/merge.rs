//! The verdict of a whole fabric from summaries of its parts, without any tree.
//!
//! In: summaries, by name. Out: a [`Report`] as of the whole, or why there is none: parts are of other sources, one is missing
//! or there twice. Invariants: what is proved of planes and tables adds up; what spans parts is compared here, once: numbers with the
//! manifest, values that are used once, what is alike, path tables.

use std::collections::{BTreeMap, BTreeSet};

use closc_artefacts::manifest::GroupRun;
use closc_artefacts::paths::MANIFEST;
use closc_diagnostics::Rule;

use crate::check::delay::{self, Extent, Lengths};
use crate::finding::{Findings, Tally, Violation};
use crate::interface::PlaneCables;
use crate::model::place::Place;
use crate::proof::chosen::counts::DeliveryCounts;
use crate::proof::count::PathCounts;
use crate::proof::load::LoadSums;
use crate::report::{ReadCounts, Report, RuleCounts, not_proved};
use crate::rules::addresses::{MANAGEMENT, UNIQUE};
use crate::rules::choices::ADDRESS;
use crate::rules::files::{COUNTS, SAME};
use crate::rules::planes::ALIKE;
use crate::rules::rules;
use crate::rules::tables::{DELAY, HEADER};
use crate::summary::Summary;

/// What is left open where switches choose the way, and T0s do not have the same NICs in all planes.
const UNEVEN: &str = "that NICs have one address in all planes, below T0s that do not have the same NICs in all of them; and deliveries to \
     NICs that a plane does not have are counted by no part";

/// Why parts make no whole.
#[derive(Debug, thiserror::Error)]
pub enum MergeError {
    /// There is none.
    #[error("there is no part")]
    Nothing,
    /// Two parts are of different fabrics.
    #[error(
        "`{one}` and `{other}` are parts of different fabrics: {what} differ; compile and verify both from one file, with one \
         version"
    )]
    Other {
        /// A part.
        one: String,
        /// Another.
        other: String,
        /// What differs.
        what: &'static str,
    },
    /// Something is in no part.
    #[error("no part has {0}")]
    Missing(String),
    /// Something is in two parts.
    #[error("{what} is in `{one}` and in `{other}`")]
    Twice {
        /// What.
        what: String,
        /// A part.
        one: String,
        /// Another.
        other: String,
    },
    /// Planes were proved with other path tables than those that were judged.
    #[error(
        "`{0}` was proved with other path tables than those of the parts: verify it again, with their tables"
    )]
    Tables(String),
}

/// A summary by the name of its part.
type Named<'a> = &'a [(String, Summary)];

/// Puts parts together.
pub fn merge(parts: &[(String, Summary)]) -> Result<Report, MergeError> {
    let (_, first) = parts.first().ok_or(MergeError::Nothing)?;
    of_one_fabric(parts)?;
    covers(parts)?;
    same_tables(parts)?;
    let mut findings = Findings::default();
    let mut not_proved = not_proved(first.routing);
    counts(parts, &mut findings);
    once(parts, &mut findings);
    gateways(parts, &mut findings);
    alike(parts, &mut findings);
    planes(parts, &mut findings);
    delays(parts, &mut findings);
    if !addresses(parts, &mut findings) {
        not_proved.push(UNEVEN);
    }
    let mut tallies: BTreeMap<&str, RuleCounts> = BTreeMap::new();
    let (found, mut violations) = findings.finish();
    for (rule, tally) in found.into_values() {
        tallies.insert(rule.code, RuleCounts::new(rule, tally));
    }
    let known: BTreeMap<&str, &'static Rule> = rules().into_iter().map(|rule| (rule.code, rule)).collect();
    for (name, part) in parts {
        for (code, tally) in &part.rules {
            let Some(rule) = known.get(code.as_str()) else { continue };
            let own = tallies.entry(rule.code).or_insert_with(|| RuleCounts::new(rule, Tally::default()));
            own.tally.facts += tally.facts;
            own.tally.broken += tally.broken;
        }
        for broken in &part.violations {
            let Some(rule) = known.get(broken.rule.as_str()) else { continue };
            violations.push(Violation::new(
                rule,
                Place::file(format!("{name}: {}", broken.place)),
                &broken.message,
            ));
        }
    }
    let broken = tallies.values().map(|rule| rule.tally.broken).sum();
    let mut not_judged: BTreeMap<String, u64> = BTreeMap::new();
    for (what, count) in parts.iter().flat_map(|(_, part)| &part.not_judged) {
        *not_judged.entry(what.clone()).or_default() += count;
    }
    Ok(Report {
        fabric: first.fabric.clone(),
        routing: first.routing.word().to_owned(),
        not_proved,
        not_judged,
        read: read(parts),
        paths: sum(parts, |part| part.paths, PathCounts::add),
        load: load(parts).map(LoadSums::counts),
        walk: None,
        delivery: sum(parts, |part| part.delivery, DeliveryCounts::add),
        choices: None,
        rules: tallies.into_values().collect(),
        violations,
        broken,
    })
}

fn sum<T>(parts: Named<'_>, of: impl Fn(&Summary) -> Option<T>, add: impl Fn(T, T) -> T) -> Option<T> {
    parts.iter().filter_map(|(_, part)| of(part)).reduce(add)
}

fn load(parts: Named<'_>) -> Option<LoadSums> {
    sum(
        parts,
        |part| part.load,
        |mut sum, more| {
            sum.add(&more);
            sum
        },
    )
}

fn read(parts: Named<'_>) -> ReadCounts {
    let add = |sum: ReadCounts, (_, part): &(String, Summary)| {
        let read = part.read;
        // Where switches choose the way, every plane has the NICs.
        let chosen = !part.routing.is_source_routed();
        ReadCounts {
            files: sum.files + read.files,
            bytes: sum.bytes + read.bytes,
            switches: sum.switches + read.switches,
            nodes: sum.nodes + read.nodes,
            cables: sum.cables + read.cables,
            tables: sum.tables + read.tables,
            nics: if chosen { sum.nics.max(read.nics) } else { sum.nics + read.nics },
        }
    };
    parts.iter().fold(ReadCounts::default(), add)
}

/// Refuses parts of several fabrics.
fn of_one_fabric(parts: Named<'_>) -> Result<(), MergeError> {
    let (one, first) = &parts[0];
    for (other, part) in &parts[1..] {
        let differ = [
            (first.source != part.source, "their sources"),
            (first.inputs != part.inputs, "what they were compiled from"),
            (first.counts != part.counts, "the numbers of their manifests"),
            (first.closc != part.closc, "the versions that proved them"),
        ];
        if let Some((_, what)) = differ.iter().find(|(differs, _)| *differs) {
            return Err(MergeError::Other { one: one.clone(), other: other.clone(), what });
        }
    }
    let headers =
        parts.iter().filter_map(|(name, part)| Some((name, &part.interface.tables.as_ref()?.header)));
    let headers: Vec<_> = headers.collect();
    match headers.iter().find(|(_, header)| *header != headers[0].1) {
        None => Ok(()),
        Some((other, _)) => Err(MergeError::Other {
            one: headers[0].0.clone(),
            other: (*other).clone(),
            what: "what their path tables state of the fabric",
        }),
    }
}

/// Refuses parts that have something twice, or lack something.
fn covers(parts: Named<'_>) -> Result<(), MergeError> {
    let all = &parts[0].1;
    let mut owners: BTreeMap<String, &str> = BTreeMap::new();
    let every: Vec<u8> = (0..all.counts.planes as u8).collect();
    for (name, part) in parts {
        for plane in part.planes.as_ref().unwrap_or(&every) {
            claim(&mut owners, format!("plane {plane}"), name)?;
        }
    }
    let missing = every.iter().find(|plane| !owners.contains_key(&format!("plane {plane}")));
    if let Some(plane) = missing {
        return Err(MergeError::Missing(format!("plane {plane}")));
    }
    if !all.routing.is_source_routed() {
        return Ok(());
    }
    let stated = parts.iter().find_map(|(_, part)| part.interface.tables.as_ref());
    let Some(stated) = stated else { return Err(MergeError::Missing("path tables".to_owned())) };
    let whole: Vec<GroupRun> =
        (0..stated.zones).map(|zone| GroupRun { zone, first: 1, last: stated.groups }).collect();
    let mut groups: BTreeMap<(u16, u16), &str> = BTreeMap::new();
    for (name, part) in parts {
        for run in part.groups.as_ref().unwrap_or(&whole) {
            for group in run.first..=run.last {
                if let Some(one) = groups.insert((run.zone, group), name) {
                    let what = format!("the path table of group {group} of zone {}", run.zone);
                    return Err(MergeError::Twice { what, one: one.to_owned(), other: name.clone() });
                }
            }
        }
    }
    let every = (0..stated.zones).flat_map(|zone| (1..=stated.groups).map(move |group| (zone, group)));
    let missing: Vec<(u16, u16)> = every.filter(|at| !groups.contains_key(at)).collect();
    match missing.first() {
        None => Ok(()),
        Some((zone, group)) => Err(MergeError::Missing(format!(
            "the path table of group {group} of zone {zone}, and {} more",
            missing.len() - 1
        ))),
    }
}

fn claim<'a>(owners: &mut BTreeMap<String, &'a str>, what: String, name: &'a str) -> Result<(), MergeError> {
    match owners.insert(what.clone(), name) {
        None => Ok(()),
        Some(one) => Err(MergeError::Twice { what, one: one.to_owned(), other: name.to_owned() }),
    }
}

/// Refuses planes that were proved with other tables than those that were judged.
fn same_tables(parts: Named<'_>) -> Result<(), MergeError> {
    // A whole tree was proved with its own.
    if parts.iter().any(|(_, part)| part.groups.is_none()) {
        return Ok(());
    }
    let number = |text: &str| u128::from_str_radix(text, 16).unwrap_or_default();
    let tables = || parts.iter().filter_map(|(name, part)| Some((name, part.interface.tables.as_ref()?)));
    let judged = tables().fold(0u128, |sum, (_, tables)| sum.wrapping_add(number(&tables.judged)));
    let differs = tables().find(|(_, tables)| tables.all.as_ref().is_some_and(|all| number(all) != judged));
    differs.map_or(Ok(()), |(name, _)| Err(MergeError::Tables(name.clone())))
}

/// Numbers are those of the manifest.
fn counts(parts: Named<'_>, findings: &mut Findings) {
    let stated = parts[0].1.counts;
    let add = |of: &dyn Fn(&Summary) -> u64| parts.iter().map(|(_, part)| of(part)).sum::<u64>();
    let hosts = add(&|part| part.host_links);
    let source_routed = parts[0].1.routing.is_source_routed();
    let numbers = [
        ("nics", stated.nics, if source_routed { read(parts).nics } else { stated.nics }),
        ("t0", stated.t0, add(&|part| part.tiers[0])),
        ("t1", stated.t1, add(&|part| part.tiers[1])),
        ("t2", stated.t2, add(&|part| part.tiers[2])),
        ("host_links", stated.host_links, hosts),
        ("fabric_links", stated.fabric_links, add(&|part| part.read.cables) - hosts),
    ];
    // Switches without a cable are in no tier.
    let placed = add(&|part| part.tiers.iter().sum()) == add(&|part| part.read.switches);
    for (name, meant, found) in numbers {
        if !placed && name.starts_with('t') {
            continue;
        }
        findings.expect(meant == found, &COUNTS, || {
            let message = format!("`{name}` is {meant}, and all parts together have {found}");
            Violation::new(&COUNTS, Place::file(MANIFEST), message)
        });
    }
}

/// Values that are used once are so in all parts.
fn once(parts: Named<'_>, findings: &mut Findings) {
    let kinds: BTreeSet<&String> = parts.iter().flat_map(|(_, part)| part.interface.once.keys()).collect();
    let number = |text: &String| u128::from_str_radix(text, 16).unwrap_or_default();
    for kind in kinds {
        let mut runs: Vec<(u128, u128, &str)> = parts
            .iter()
            .filter_map(|(name, part)| Some((name, part.interface.once.get(kind)?)))
            .flat_map(|(name, runs)| runs.iter().map(move |[a, b]| (number(a), number(b), name.as_str())))
            .collect();
        runs.sort_unstable();
        let mut reach: Option<(u128, &str)> = None;
        for (first, last, name) in runs {
            findings.checked(&UNIQUE, 1);
            if let Some((end, other)) = reach.filter(|(end, other)| *end >= first && *other != name) {
                let message = format!(
                    "`{other}` and `{name}` both have a {kind} of {first:x} to {:x}, and each is used once",
                    end.min(last)
                );
                findings.broken(Violation::new(&UNIQUE, Place::file(name), message).and(Place::file(other)));
            }
            if reach.is_none_or(|(end, _)| last > end) {
                reach = Some((last, name));
            }
        }
    }
}

/// No gateway of the management network is a switch of another part.
fn gateways(parts: Named<'_>, findings: &mut Findings) {
    let number = |text: &String| u128::from_str_radix(text, 16).unwrap_or_default();
    for (name, part) in parts {
        for gateway in part.interface.gateways.iter().map(number) {
            let is_in = |(_, other): &&(String, Summary)| {
                let runs = other.interface.once.get("management address").into_iter().flatten();
                runs.into_iter().any(|[a, b]| (number(a)..=number(b)).contains(&gateway))
            };
            let others = parts.iter().filter(|(other, _)| other != name);
            if let Some((other, _)) = others.clone().find(is_in) {
                let message = format!("the gateway {gateway:x} of `{name}` may be a switch of `{other}`");
                findings.broken(Violation::new(&MANAGEMENT, Place::file(name), message));
            }
        }
    }
}

/// What all switches have alike is so in all parts.
fn alike(parts: Named<'_>, findings: &mut Findings) {
    let mut first: BTreeMap<&str, (&str, &str)> = BTreeMap::new();
    for (name, part) in parts {
        for (kind, value) in &part.interface.alike {
            let (other, meant) = *first.entry(kind).or_insert((name, value));
            findings.expect(meant == value, &SAME, || {
                let message = format!("{kind} are others in `{name}` than in `{other}`");
                Violation::new(&SAME, Place::file(name), message).and(Place::file(other))
            });
        }
    }
}

/// Planes are alike, apart from what path tables declare.
fn planes(parts: Named<'_>, findings: &mut Findings) {
    let all: Vec<(&str, &PlaneCables)> = parts
        .iter()
        .flat_map(|(name, part)| part.interface.planes.iter().map(move |plane| (name.as_str(), plane)))
        .collect();
    let whole = || all.iter().filter(|(_, plane)| !plane.declares);
    // Of those that declare nothing most are as they were meant.
    let mut votes: BTreeMap<(&str, u64), usize> = BTreeMap::new();
    for (_, plane) in whole() {
        *votes.entry((&plane.digest, plane.cables)).or_default() += 1;
    }
    let Some(((meant, cables), _)) = votes.into_iter().max_by_key(|(_, count)| *count) else { return };
    for (name, plane) in &all {
        let fits = if plane.declares { plane.cables <= cables } else { plane.digest == meant };
        if !fits {
            let message = format!(
                "plane {} of `{name}` has {} cables that join other uSIDs than the {cables} of other planes, and nothing \
                 declares them absent",
                plane.plane, plane.cables
            );
            findings.broken(Violation::new(&ALIKE, Place::file(*name), message));
        }
    }
}

/// Round trips of the tables are bounded by the cables of all planes.
fn delays(parts: Named<'_>, findings: &mut Findings) {
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
        let rtt = stated.base_rtt_ns;
        findings.expect((least..=most).contains(&rtt), &DELAY, || {
            let message =
                format!("`{name}`: a round trip takes {rtt} ns, and {least} to {most} with these cables");
            Violation::new(&DELAY, Place::file(name), message)
        });
    }
    findings.checked(&HEADER, 1);
}

/// Where switches choose the way, NICs have the same addresses in all planes. Tells whether all could be compared.
fn addresses(parts: Named<'_>, findings: &mut Findings) -> bool {
    let planes: Vec<(&str, u8, &BTreeMap<String, String>)> = parts
        .iter()
        .flat_map(|(name, part)| {
            part.interface.nics.iter().map(move |(plane, nics)| (name.as_str(), *plane, nics))
        })
        .collect();
    let Some((first, first_plane, meant)) = planes.first().copied() else { return true };
    let mut all = true;
    for (name, plane, nics) in &planes {
        all &= nics.len() == meant.len() && nics.keys().eq(meant.keys());
        for (below, digest) in *nics {
            let Some(other) = meant.get(below) else { continue };
            findings.expect(digest == other, &ADDRESS, || {
                let below = below.split(" #").next().unwrap_or_default();
                let message = format!(
                    "the T0 of `{below}` has other addresses for them in plane {plane} of `{name}` than in plane \
                     {first_plane} of `{first}`"
                );
                Violation::new(&ADDRESS, Place::file(*name), message)
            });
        }
    }
    all
}
