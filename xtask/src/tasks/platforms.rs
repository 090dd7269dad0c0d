//! Facts of switches from a checkout of sonic-net/sonic-buildimage.
//!
//! In: a git directory or checkout. Out: catalogue entries of every box of 12.8 Tb/s and more, and the differences from
//! the catalogue. Invariants: an entry is printed only if the catalogue accepts it and each of its hwskus has exactly
//! the ports that SONiC gives it; a box without an entry is named with the reason. Only facts are taken.

mod alias;
mod entry;
mod git;
mod panel;
mod sdk;
mod sku;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use anyhow::Context;
use closc_diagnostics::Sources;
use closc_platform::{Breakout, Catalogue, Platform, Slot};

use self::entry::{Entry, Sku};
use self::git::Repository;
use self::panel::Panel;
use self::sdk::Sdk;
use self::sku::{Cage, Row};
use crate::generated::root;

/// Mb/s of the ports of the smallest box.
const SMALLEST: u64 = 12_800_000;

/// Where entries are kept.
const FOLDER: &str = "compiler/platform/catalogue/sonic";

/// A box of the repository with its hwskus.
struct Switch {
    folder: String,
    platform: String,
    cages: Vec<Cage>,
    skus: BTreeMap<String, Vec<Row>>,
}

/// Derives every box, and prints or writes entries for those without a hand-written entry.
pub(crate) fn run(folder: &Path, write: bool) -> anyhow::Result<()> {
    let repository = Repository::open(folder, "device/")?;
    let known = hand_written();
    let (mut entries, mut refused, mut ignored) = (Vec::new(), Vec::new(), BTreeSet::new());
    for switch in switches(&repository) {
        match derive(&repository, &switch, &mut ignored) {
            Ok((id, text, notes)) => {
                refused.extend(notes);
                let by_hand = known.get(&switch.platform);
                println!("# {}: {}", switch.platform, by_hand.map_or(&*id, |ids| &**ids));
                if by_hand.is_none() {
                    entries.push((id, text));
                }
            }
            Err(reason) => refused.push(format!("{}: {reason}", switch.platform)),
        }
    }
    for (id, text) in &entries {
        let path = root().join(FOLDER).join(format!("{id}.yaml"));
        let old = fs::read_to_string(&path).unwrap_or_default();
        match (old == *text, write) {
            (true, _) => println!("# {id}: as in the catalogue"),
            (false, true) => fs::write(&path, text).with_context(|| path.display().to_string())?,
            (false, false) => println!("---\n{text}"),
        }
    }
    println!("# {} boxes with an entry of their own, commit {}", entries.len(), repository.commit);
    for reason in &refused {
        println!("# no entry: {reason}");
    }
    let ignored: Vec<String> = ignored.into_iter().collect();
    println!("# {} properties of SDK files ignored: {}", ignored.len(), ignored.join(" "));
    Ok(())
}

/// Entries that people wrote, by SONiC's name of the box.
fn hand_written() -> BTreeMap<String, String> {
    let mut found: BTreeMap<String, String> = BTreeMap::new();
    for platform in Catalogue::builtin().usual() {
        let Some(sonic) = &platform.sonic else { continue };
        let ids = found.entry(sonic.platform.clone()).or_default();
        let comma = if ids.is_empty() { "" } else { ", " };
        *ids = format!("{ids}{comma}{}", platform.id);
    }
    found
}

/// The boxes with a hwsku of enough bandwidth.
fn switches(repository: &Repository) -> Vec<Switch> {
    let vendors = repository.names("device");
    let boxes = vendors.iter().flat_map(|vendor| {
        let folder = format!("device/{vendor}");
        repository.names(&folder).into_iter().map(move |platform| (format!("{folder}/{platform}"), platform))
    });
    let switch = |(folder, platform): (String, String)| {
        let cages = sku::cages(repository, &folder);
        let names = repository.names(&folder).into_iter();
        let skus: BTreeMap<String, Vec<Row>> = names
            .filter_map(|name| {
                Some((name.clone(), sku::rows(repository, &format!("{folder}/{name}"), &cages)?))
            })
            .collect();
        let total = |rows: &Vec<Row>| rows.iter().map(|row| u64::from(row.mbps)).sum::<u64>();
        let is_large = skus.values().any(|rows| total(rows) >= SMALLEST);
        is_large.then_some(Switch { folder, platform, cages, skus })
    };
    boxes.filter_map(switch).collect()
}

/// The entry of a box: its name, the text, and hwskus that it does not describe.
fn derive(
    repository: &Repository,
    switch: &Switch,
    ignored: &mut BTreeSet<String>,
) -> Result<(String, String, Vec<String>), String> {
    let asics = repository.text(&format!("{}/asic.conf", switch.folder)).unwrap_or_default();
    if let Some(count) =
        asics.lines().find_map(|line| line.strip_prefix("NUM_ASIC=")).filter(|count| *count != "1")
    {
        return Err(format!("{count} ASICs, and closc plans switches of one"));
    }
    if switch.platform.contains("simx") {
        return Err("a simulator".to_owned());
    }
    let usual = repository.text(&format!("{}/default_sku", switch.folder)).unwrap_or_default();
    let usual = usual.split_whitespace().next().unwrap_or_default().to_owned();
    let panel = panel::derive(switch.cages.clone(), &switch.skus, &usual)?;
    let mut skus: Vec<Sku> =
        switch.skus.iter().filter_map(|(name, rows)| sku(repository, switch, &panel, name, rows)).collect();
    for sku in &mut skus {
        ignored.append(&mut sku.sdk.ignored);
    }
    skus.sort_by_key(|sku| (sku.name != usual, sku.breakouts.len(), sku.name.len()));
    let id = id(&switch.platform);
    let mut notes = Vec::new();
    loop {
        if skus.is_empty() {
            return Err(notes
                .pop()
                .unwrap_or_else(|| "every hwsku has cages with ports of several kinds".to_owned()));
        }
        let entry = Entry {
            id: id.clone(),
            folder: &switch.folder,
            platform: &switch.platform,
            commit: &repository.commit,
            panel: &panel,
            skus: &skus,
        };
        let text = entry.text();
        let platform = accept(&text)?;
        let differs =
            skus.iter().position(|sku| difference(&platform, &panel, &switch.skus[&sku.name]).is_some());
        let Some(at) = differs else { return Ok((id, text, notes)) };
        let sku = skus.remove(at);
        let why = difference(&platform, &panel, &switch.skus[&sku.name]).unwrap_or_default();
        notes.push(format!("hwsku {} {}: {why}", sku.name, sku.sdk.properties()));
    }
}

/// A hwsku whose cages are split into equal ports.
fn sku(repository: &Repository, switch: &Switch, panel: &Panel, name: &str, rows: &[Row]) -> Option<Sku> {
    let splits: Option<BTreeSet<(u8, u32)>> = panel::splits(rows, &panel.cages).into_iter().collect();
    let mut breakouts: Vec<(u8, u32)> = splits.filter(|splits| !splits.is_empty())?.into_iter().collect();
    breakouts.sort_by_key(|(ports, _)| std::cmp::Reverse(*ports));
    if !breakouts.iter().all(|split| panel.breakouts.contains(split)) {
        return None;
    }
    let sdk = Sdk::read(repository, &format!("{}/{name}", switch.folder));
    Some(Sku { name: name.to_owned(), breakouts, sdk })
}

/// `x86_64-micas_m2-w6950-128oc-r0` is `micas-m2-w6950-128oc`.
fn id(platform: &str) -> String {
    let bare = platform.split_once('-').map_or(platform, |(_, bare)| bare);
    let bare = bare.strip_suffix("-r0").unwrap_or(bare).to_lowercase();
    bare.replace(|sign: char| !sign.is_ascii_alphanumeric(), "-").replace("--", "-")
}

/// Reads an entry as the catalogue does.
fn accept(text: &str) -> Result<Platform, String> {
    let mut catalogue = Catalogue::default();
    let id = catalogue.add_yaml(&mut Sources::new(), "entry", text).map_err(|found| {
        let first = found.iter().next().map(|one| one.message.clone());
        first.unwrap_or_default()
    })?;
    Ok(Platform::clone(catalogue.get(&id).expect("it was just added")))
}

/// The first port of a hwsku that is not one of the entry, service ports aside.
fn difference(platform: &Platform, panel: &Panel, rows: &[Row]) -> Option<String> {
    for (at, cage) in (0..).zip(&panel.cages) {
        let own: Vec<&Row> = rows.iter().filter(|row| panel::is_in(row, cage)).collect();
        let Some(first) = own.first() else { continue };
        let text = format!("{}x{}G", own.len(), first.mbps / 1_000);
        let breakout: Breakout = text.parse().ok()?;
        for (part, row) in (0..).zip(own) {
            let port = platform.port(Slot { cage: at, part, breakout });
            let ours =
                (port.name.to_string(), port.alias.to_string(), port.panel, port.lanes, port.speed.mbps());
            let theirs = (
                format!("Ethernet{}", row.number),
                row.alias.clone(),
                row.index,
                row.lanes.clone(),
                row.mbps,
            );
            if ours != theirs {
                return Some(format!("{theirs:?}, the entry has {ours:?}"));
            }
        }
    }
    None
}
