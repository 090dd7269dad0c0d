//! Facts about switches, from a checkout of sonic-net/sonic-buildimage.
//!
//! In: a git directory or checkout with the branches of all supported releases. Out: catalogue entries of
//! every box of 12.8 Tb/s and more, the releases with each hwsku, and the differences from the catalogue.
//! Invariants: an entry is printed only if the catalogue accepts it and each of its hwskus has exactly the
//! ports that SONiC gives it. A box without an entry is named with the reason, also in `omissions.yaml`. Only
//! facts are taken from the checkout.

mod git;
#[cfg(test)]
mod presets;
mod releases;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use anyhow::Context;
use closc_hwsku::{DerivedPlatform, Files, Origin, Switch};
use closc_platform::{Catalogue, Omission, Platform};

use self::git::Repository;
use self::releases::Branches;
use crate::generated::root;

/// Mb/s of the ports of the smallest box.
const SMALLEST: u64 = 12_800_000;

/// SONiC's table of NVIDIA ASICs.
const ASICS: &str = "platform/mellanox/asic_table.j2";

/// Folder of the entries.
const FOLDER: &str = "compiler/platform/catalogue/sonic";

/// File of the models and hwskus without an entry.
const OMISSIONS: &str = "compiler/platform/omissions.yaml";

/// Derives every box, and prints or writes entries for those without a hand-written entry.
pub(crate) fn run(folder: &Path, write: bool) -> anyhow::Result<()> {
    let repository = Repository::open(folder, "device/")?;
    let branches = Branches::open(folder)?;
    let spectrums = spectrums(&Repository::open(folder, ASICS)?);
    let survey = Survey::of(&repository, (&branches, &spectrums));
    let paths = survey.entries.iter().map(|(id, text)| (format!("{FOLDER}/{id}.yaml"), text));
    let omissions = survey.omissions_text(&repository);
    for (name, text) in paths.chain([(OMISSIONS.to_owned(), &omissions)]) {
        let path = root().join(&name);
        let old = fs::read_to_string(&path).unwrap_or_default();
        match (old == *text, write) {
            (true, _) => println!("# {name}: as in the catalogue"),
            (false, true) => fs::write(&path, text).with_context(|| path.display().to_string())?,
            (false, false) => println!("---\n{text}"),
        }
    }
    println!("# {} boxes with a derived entry, commit {}", survey.entries.len(), repository.commit);
    for note in &survey.notes {
        println!("# {note}");
    }
    for Omission { platform, hwsku, reason } in &survey.omissions {
        let hwsku = hwsku.as_ref().map_or_else(String::new, |name| format!(" hwsku {name}"));
        println!("# no entry: {platform}{hwsku}: {reason}");
    }
    let ignored: Vec<String> = survey.ignored.into_iter().collect();
    print!("{}", branches.report(&Catalogue::builtin(), &survey.folders));
    println!("# {} properties of SDK files ignored: {}", ignored.len(), ignored.join(" "));
    Ok(())
}

/// Everything that is derived from a checkout.
struct Survey {
    /// Names and texts of entries of models without a hand-written entry.
    entries: Vec<(String, String)>,
    /// Remarks about models, one line each.
    notes: Vec<String>,
    /// Models of 12.8 Tb/s and more without an entry, and hwskus that no entry describes.
    omissions: Vec<Omission>,
    /// Folder of each model.
    folders: BTreeMap<String, String>,
    /// SDK properties without an effect.
    ignored: BTreeSet<String>,
}

impl Survey {
    fn of(repository: &Repository, (branches, spectrums): (&Branches, &BTreeMap<String, String>)) -> Survey {
        let known = hand_written();
        let mut survey = Survey {
            entries: Vec::new(),
            notes: Vec::new(),
            omissions: Vec::new(),
            folders: BTreeMap::new(),
            ignored: BTreeSet::new(),
        };
        for switch in switches(repository) {
            survey.folders.insert(switch.platform.clone(), switch.folder().to_owned());
            let platform = switch.platform.clone();
            match derive(repository, (branches, spectrums), &switch, &mut survey.ignored) {
                Ok(derived) => {
                    let by_hand = known.get(&platform);
                    for DerivedPlatform { id, text, notes } in derived {
                        survey.notes.push(format!("{platform}: {}", by_hand.map_or(&*id, |ids| &**ids)));
                        for note in &notes {
                            survey.add_note(&platform, note);
                        }
                        if by_hand.is_none() {
                            survey.entries.push((id, text));
                        }
                    }
                }
                Err(reason) if is_real(&switch) => {
                    survey.omissions.push(Omission { platform, hwsku: None, reason });
                }
                Err(reason) => survey.notes.push(format!("ignored: {platform}: {reason}")),
            }
        }
        survey.omissions.sort();
        survey
    }

    /// Adds a remark, or an omission if it is about a hwsku that the catalogue lacks.
    fn add_note(&mut self, platform: &str, note: &str) {
        let hwsku = note.strip_prefix("hwsku ").and_then(|rest| rest.split_once(": "));
        let Some((names, reason)) = hwsku else {
            self.notes.push(format!("{platform}: {note}"));
            return;
        };
        let name = names.split(' ').next().unwrap_or(names).to_owned();
        let catalogue = Catalogue::builtin();
        let own =
            |entry: &&Arc<Platform>| entry.sonic.as_ref().is_some_and(|sonic| sonic.platform == platform);
        let is_known = |entry: &Arc<Platform>| !entry.derived && releases::hwskus(entry).contains(&&*name);
        if !catalogue.iter().filter(own).any(is_known) {
            let (platform, reason) = (platform.to_owned(), reason.to_owned());
            self.omissions.push(Omission { platform, hwsku: Some(name), reason });
        }
    }

    /// Returns the file of the omissions.
    fn omissions_text(&self, repository: &Repository) -> String {
        let mut text = format!(
            "# Generated by `cargo xtask platforms --sonic-buildimage DIR --write`.\n\
             source: sonic-net/sonic-buildimage {}\nomissions:\n",
            repository.commit
        );
        for Omission { platform, hwsku, reason } in &self.omissions {
            let _ = writeln!(text, "  - platform: {platform}");
            if let Some(hwsku) = hwsku {
                let _ = writeln!(text, "    hwsku: {hwsku}");
            }
            let _ = writeln!(text, "    reason: \"{}\"", reason.replace('"', "'"));
        }
        text
    }
}

/// Returns whether SONiC's files state that a model has 12.8 Tb/s or more, and it is neither simulated nor virtual.
fn is_real(switch: &Switch) -> bool {
    let is_simulated = switch.platform.contains("simx") || switch.folder().starts_with("device/virtual/");
    switch.mbps().is_some() && !is_simulated
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
