//! Damages compiled trees in hundreds of ways, and checks that the expected rule finds each damage in the damaged file.
//!
//! With a few exceptions, the manifest is updated after the damage, so that damage is found by its effect and not by a
//! digest. Adding a mutation means adding a row to a table.

mod bgp;
mod blocks;
mod cables;
mod choices;
mod eos;
mod everywhere;
mod extra_settings;
mod frr;
mod hosts;
mod linux;
mod network;
mod nvue;
mod p4;
mod pins;
mod qos;
mod sonic;
mod tables;
mod tofino;
mod tools;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use camino::{Utf8Path, Utf8PathBuf};
use closc_artefacts::Memory;
use closc_verify::{Place, Report, Violation, verify};

use crate::base::{self, Base, Trees};
use crate::common;
use crate::common::damage::{Damage, damage};

/// A mutation: its description, the fabric, the file, the damage, and the rule that must find it.
type Mutation = (&'static str, Base, &'static str, Damage, &'static str);

const TABLES: [&[Mutation]; 47] = [
    sonic::ROUTES,
    sonic::SEGMENTS,
    sonic::PORTS,
    sonic::DEVICE,
    sonic::ISOLATION,
    qos::LOSSY,
    qos::LOSSLESS,
    frr::CONF,
    frr::BESIDE,
    linux::SWITCHES,
    linux::TIERS,
    linux::QUEUES,
    linux::QUEUES_BESIDE_FRR,
    hosts::NODES,
    hosts::SPRAYS,
    p4::ENTRIES,
    tofino::ENTRIES,
    pins::ENTRIES,
    pins::BESIDE,
    pins::SEGMENTS,
    tables::FORMS,
    tables::BYTES,
    tables::BOTH,
    cables::LISTS,
    blocks::TREES,
    bgp::FRR,
    bgp::SONIC,
    choices::SONIC,
    choices::FRR,
    choices::LINUX,
    choices::P4,
    choices::ZONES,
    choices::NODES,
    eos::PORTS,
    eos::QUEUES,
    eos::BGP,
    eos::BALANCE,
    everywhere::SONIC,
    everywhere::OTHERS,
    network::NETPLAN,
    network::NETWORKD,
    network::CHOSEN,
    nvue::PORTS,
    nvue::QUEUES,
    nvue::BGP,
    nvue::BALANCE,
    tools::FILES,
];

/// Returns the reason why a mutation does not count as found, as a line of text; `None` if it does.
fn miss_reason(trees: &Trees, mutation: &Mutation, sign: bool) -> Option<String> {
    let (name, base, file, what, rule) = mutation;
    let mut tree = trees.tree(*base).clone();
    for file in files(&tree, file) {
        damage(trees.plan(*base), &mut tree, &file, *what);
    }
    if sign {
        common::sign(&mut tree, "shape", base.routing());
    }
    let mut line = format!("{base:?} {file}: {name} ({rule}): ");
    let report = match verify(&tree, base::options()) {
        Ok(report) => report,
        Err(error) => return Some(line + &error.to_string()),
    };
    // For any damage, walking every path gives the same numbers as the proof.
    let agrees = base.routing() == "srv6-static" || !report.violations.iter().any(|v| v.rule.code == "V0806");
    if has_violation(&report, file, rule) && agrees {
        return None;
    }
    let _ = write!(line, "{} broken", report.broken);
    for violation in report.violations.iter().take(6) {
        let _ = write!(line, "\n    {} {}: {}", violation.rule.code, violation.place, violation.message);
    }
    Some(line)
}

/// Returns the files that match a name, in which `*` stands for any folder.
fn files(tree: &Memory, name: &str) -> Vec<String> {
    let Some((before, behind)) = name.split_once('*') else { return vec![name.to_owned()] };
    let fits = |path: &&Utf8PathBuf| path.as_str().starts_with(before) && path.as_str().ends_with(behind);
    tree.files.keys().filter(fits).map(ToString::to_string).collect()
}

/// Returns whether the report has a violation of a rule in a file. The two forms of a path table are equivalent, and a
/// removed file is identified by its folder.
fn has_violation(report: &Report, file: &str, rule: &str) -> bool {
    if let Some((before, behind)) = file.split_once('*') {
        let one =
            |place: &Place| place.file.as_str().starts_with(before) && place.file.as_str().ends_with(behind);
        return report
            .violations
            .iter()
            .any(|violation| violation.rule.code == rule && one(&violation.place));
    }
    let file = Utf8Path::new(file);
    let same = |place: &Place| {
        let table =
            file.starts_with("path-tables") && place.file.with_extension("") == file.with_extension("");
        place.file == file || table || Some(place.file.as_path()) == file.parent()
    };
    let named = |violation: &Violation| same(&violation.place) || violation.others.iter().any(same);
    report.violations.iter().any(|violation| violation.rule.code == rule && named(violation))
}

#[test]
fn every_damage_is_found_and_its_file_named() {
    let trees = Trees::new();
    let mut missed: Vec<String> = Vec::new();
    let mut by_file: BTreeMap<(&str, Base), usize> = BTreeMap::new();
    let (mut count, mut rules) = (0, BTreeSet::new());
    let signed = TABLES.into_iter().flatten().map(|mutation| (mutation, true));
    for (mutation, sign) in signed.chain(cables::UNSIGNED.iter().map(|mutation| (mutation, false))) {
        count += 1;
        rules.insert(mutation.4);
        let name = mutation.2.rsplit('/').next().unwrap_or_default();
        *by_file.entry((name, mutation.1)).or_default() += 1;
        missed.extend(self::miss_reason(&trees, mutation, sign));
    }
    for ((file, base), count) in by_file {
        println!("{count:4}  {file} of {base:?}");
    }
    println!("{} of {count} found, by {} rules", count - missed.len(), rules.len());
    let known: BTreeSet<&str> = closc_verify::rules().into_iter().map(|rule| rule.code).collect();
    assert!(rules.is_subset(&known), "rules without a page: {:?}", rules.difference(&known));
    assert!(missed.is_empty(), "{} of {count} missed:\n{}", missed.len(), missed.join("\n"));
    assert!(count >= 200, "there are {count} ways of damage");
}

#[test]
fn names_are_given_once() {
    let mut names = BTreeSet::new();
    for (name, base, file, ..) in TABLES.into_iter().flatten().chain(cables::UNSIGNED) {
        assert!(names.insert((name, base, file)), "{base:?} {file}: {name}");
    }
}
