//! Facts about switches, from a checkout of sonic-net/sonic-buildimage.
//!
//! In: a git directory or checkout with the branches of all supported releases. Out: catalogue entries of
//! every box of 12.8 Tb/s and more, the releases with each hwsku, and the differences from the catalogue.
//! Invariants: an entry is printed only if the catalogue accepts it and each of its hwskus has exactly the
//! ports that SONiC gives it. A box without an entry is named with the reason. Only facts are taken from the
//! checkout.

mod git;
#[cfg(test)]
mod presets;
mod releases;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use anyhow::Context;
use closc_hwsku::{DerivedPlatform, Files, Origin, Switch};
use closc_platform::Catalogue;

use self::git::Repository;
use self::releases::Branches;
use crate::generated::root;

/// Mb/s of the ports of the smallest box.
const SMALLEST: u64 = 12_800_000;

/// SONiC's table of NVIDIA ASICs.
const ASICS: &str = "platform/mellanox/asic_table.j2";

/// Folder of the entries.
const FOLDER: &str = "compiler/platform/catalogue/sonic";

/// Derives every box, and prints or writes entries for those without a hand-written entry.
pub(crate) fn run(folder: &Path, write: bool) -> anyhow::Result<()> {
    let repository = Repository::open(folder, "device/")?;
    let branches = Branches::open(folder)?;
    let spectrums = spectrums(&Repository::open(folder, ASICS)?);
    let mut folders = BTreeMap::new();
    let known = hand_written();
    let (mut entries, mut refused, mut ignored) = (Vec::new(), Vec::new(), BTreeSet::new());
    for switch in switches(&repository) {
        folders.insert(switch.platform.clone(), switch.folder().to_owned());
        match derive(&repository, (&branches, &spectrums), &switch, &mut ignored) {
            Ok(derived) => {
                let by_hand = known.get(&switch.platform);
                for DerivedPlatform { id, text, notes } in derived {
                    refused.extend(notes.into_iter().map(|note| format!("{}: {note}", switch.platform)));
                    println!("# {}: {}", switch.platform, by_hand.map_or(&*id, |ids| &**ids));
                    if by_hand.is_none() {
                        entries.push((id, text));
                    }
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
    println!("# {} boxes with a derived entry, commit {}", entries.len(), repository.commit);
    for reason in &refused {
        println!("# no entry: {reason}");
    }
    let ignored: Vec<String> = ignored.into_iter().collect();
    print!("{}", branches.report(&Catalogue::builtin(), &folders));
    println!("# {} properties of SDK files ignored: {}", ignored.len(), ignored.join(" "));
    Ok(())
}

/// Hand-written entries, by SONiC's name of the box.
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

/// The boxes with a hwsku that has enough bandwidth, and those whose bandwidth is not known.
fn switches(repository: &Repository) -> Vec<Switch> {
    let vendors = repository.names("device");
    let boxes = vendors.iter().flat_map(|vendor| {
        let folder = format!("device/{vendor}");
        repository.names(&folder).into_iter().map(move |platform| (format!("{folder}/{platform}"), platform))
    });
    let read = |(folder, platform)| Switch::read(repository, folder, platform);
    let is_large = |switch: &Switch| switch.mbps().map_or(switch.has_hwskus(), |mbps| mbps >= SMALLEST);
    boxes.map(read).filter(is_large).collect()
}

/// Reads the ASIC of each NVIDIA box: a line is `'x86_64-nvidia_sn5400-r0':'MELLANOX-SPECTRUM-4',`.
fn spectrums(repository: &Repository) -> BTreeMap<String, String> {
    let text = repository.text(ASICS).unwrap_or_default();
    let read = |line: &str| {
        let (platform, asic) = line.trim().trim_end_matches(',').split_once("':'MELLANOX-")?;
        Some((platform.strip_prefix('\'')?.to_owned(), asic.strip_suffix('\'')?.to_owned()))
    };
    text.lines().filter_map(read).collect()
}

/// Derives the entry of a box.
fn derive(
    repository: &Repository,
    (branches, spectrums): (&Branches, &BTreeMap<String, String>),
    switch: &Switch,
    ignored: &mut BTreeSet<String>,
) -> Result<Vec<DerivedPlatform>, String> {
    let newest = branches.newest(switch.folder(), &switch.platform);
    let switch = newest.as_ref().unwrap_or(switch);
    let source = format!("sonic-net/sonic-buildimage {} {}", repository.commit, switch.folder());
    let since = branches.since(switch.folder(), &switch.platform);
    let spectrum = spectrums.get(&switch.platform).map(String::as_str);
    let platform_since = branches.platform_since(switch.folder());
    let origin = Origin { source: &source, since: &since, platform_since, spectrum };
    let mut derived = switch.derive(repository, &origin, ignored)?;
    for entry in &mut derived {
        entry.text.insert_str(0, "# Derived by `cargo xtask platforms`.\n");
    }
    Ok(derived)
}
