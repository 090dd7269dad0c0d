//! The catalogue compared with SONiC's own files, if `CLOSC_SONIC_BUILDIMAGE` names a checkout or git
//! directory.
//!
//! In: the checkout and the catalogue. Out: tests. Invariants: without a checkout each test reports that it
//! was skipped.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use closc_hwsku::{Files as _, Row, Sdk, Switch};
use closc_platform::{CageSet, Catalogue, Os, Platform, SplitCages};

use super::git::Repository;
use super::releases::{Branches, claims_un, hwskus};
use super::{ASICS, FOLDER, OMISSIONS, Survey, spectrums, switches};
use crate::generated::root;

/// Opens a folder of the checkout; prints a line if the checkout is missing.
#[track_caller]
pub(super) fn open(below: &str) -> Option<Repository> {
    let Some(folder) = std::env::var_os("CLOSC_SONIC_BUILDIMAGE") else {
        closc_skip::skip(
            "CLOSC_SONIC_BUILDIMAGE is not set: the catalogue is not compared with SONiC's files",
        );
        return None;
    };
    Some(Repository::open(&PathBuf::from(folder), below).expect("a git directory with device/"))
}

#[track_caller]
fn checkout() -> Option<Repository> {
    open("device/")
}

/// Opens the branches of the checkout; prints a line if it lacks one.
#[track_caller]
fn branches() -> Option<Branches> {
    let folder = std::env::var_os("CLOSC_SONIC_BUILDIMAGE")?;
    match Branches::open(&PathBuf::from(folder)) {
        Ok(branches) => Some(branches),
        Err(reason) => {
            closc_skip::skip(format!("releases are not compared with the branches of SONiC: {reason}"));
            None
        }
    }
}

/// The first release of every hwsku is the first branch with its files.
#[test]
fn releases_of_hwskus_are_those_of_the_branches() {
    let (Some(repository), Some(branches)) = (checkout(), branches()) else { return };
    let boxes = boxes(&repository);
    let (mut wrong, mut later) = (Vec::new(), 0);
    for platform in Catalogue::builtin().iter() {
        let Some(sonic) = &platform.sonic else { continue };
        let Some(switch) = boxes.get(&sonic.platform) else { continue };
        let since = branches.since(switch.folder(), &sonic.platform);
        for row in branches.rows(platform, switch.folder()) {
            let (release, confirmed) = row.confirmed.last().expect("a branch");
            assert_ne!(*confirmed, Some(false), "{} {} {:?} {release}", row.platform, row.hwsku, row.fact);
        }
        for hwsku in hwskus(platform) {
            let own = sonic.facts.get(hwsku).and_then(|facts| facts.since);
            if own != since.get(hwsku).copied() {
                wrong.push(format!("{} {hwsku} {own:?} {:?}", platform.id, since.get(hwsku)));
            }
            later += usize::from(own.is_some());
        }
    }
    assert!(wrong.is_empty() && later > 40, "{later}: {wrong:#?}");
}

/// Entries of the folder and the list of omissions are equal to those derived from the checkout.
#[test]
fn derived_entries_are_fresh() {
    let Some(repository) = checkout() else { return };
    let Some(branches) = branches() else { return };
    let spectrums = spectrums(&open(ASICS).expect("the checkout is open"));
    let survey = Survey::of(&repository, (&branches, &spectrums));
    let read = |name: &str| std::fs::read_to_string(root().join(name)).unwrap_or_default();
    for (id, text) in &survey.entries {
        let name = format!("{FOLDER}/{id}.yaml");
        assert_eq!(read(&name), *text, "{name}");
    }
    let derived = Catalogue::builtin().iter().filter(|platform| platform.derived).count();
    assert_eq!(survey.entries.len(), derived);
    assert_eq!(read(OMISSIONS), survey.omissions_text(&repository), "{OMISSIONS}");
}

fn boxes(repository: &Repository) -> BTreeMap<String, Switch> {
    switches(repository).into_iter().map(|switch| (switch.platform.clone(), switch)).collect()
}

/// Every port of every hwsku that the catalogue names is a port of its entry, except service ports.
#[test]
fn ports_are_those_of_sonic() {
    let Some(repository) = checkout() else { return };
    let boxes = boxes(&repository);
    let (mut compared, mut ports) = (0, 0);
    for platform in Catalogue::builtin().iter() {
        let Some(switch) = platform.sonic.as_ref().and_then(|sonic| boxes.get(&sonic.platform)) else {
            continue;
        };
        for hwsku in hwskus(platform) {
            let Some(differing) = switch.differing_port(platform, hwsku) else { continue };
            assert_eq!(differing, None, "{} {hwsku}", platform.id);
            ports += switch.ports(hwsku).unwrap_or_default().len();
            compared += 1;
        }
    }
    assert!(compared > 60 && ports > 5_000, "{compared} hwskus, {ports} ports");
}

/// The cages of a hwsku, grouped by split, without cages that have ports of several kinds.
fn cages_of(platform: &Platform, rows: &[Row]) -> Vec<SplitCages> {
    let lanes = usize::from(platform.panel.lanes);
    let mut found: BTreeMap<String, BTreeSet<u16>> = BTreeMap::new();
    for (cage, own) in (0..).zip(platform.panel.serial_lanes.chunks(lanes)) {
        let here: Vec<&Row> = rows.iter().filter(|row| own.contains(&row.lanes[0])).collect();
        let used: usize = here.iter().map(|row| row.lanes.len()).sum();
        if used == lanes
            && here.iter().all(|row| (row.mbps, row.lanes.len()) == (here[0].mbps, here[0].lanes.len()))
        {
            found.entry(format!("{}x{}G", here.len(), here[0].mbps / 1_000)).or_default().insert(cage);
        }
    }
    let split = |(split, cages): (String, BTreeSet<u16>)| {
        Some(SplitCages { breakout: platform.breakout(&split).ok()?, cages: CageSet::of(cages)? })
    };
    found.into_iter().filter_map(split).collect()
}

/// A switch with the cages of a hwsku gets that hwsku, or one with the same cages. If the cages of its two splits are
/// exchanged, it does not.
#[test]
fn a_hwsku_is_found_by_its_cages() {
    let (Some(_), Some(branches)) = (checkout(), branches()) else { return };
    let (mut compared, mut exchanged) = (0, 0);
    for (folder, platform) in folders() {
        let Some(switch) = branches.newest(&folder, &platform.sonic.as_ref().expect("SONiC facts").platform)
        else {
            continue;
        };
        for hwsku in hwskus(&platform) {
            let rows = switch.ports(hwsku).unwrap_or_default();
            let used = cages_of(&platform, rows);
            if used.is_empty() {
                continue;
            }
            let found = platform.hwsku(used.iter().copied()).unwrap_or_default();
            let others = cages_of(&platform, switch.ports(found).unwrap_or_default());
            let is_mixed = rows.len() > used.iter().map(ports).sum();
            assert!(found == hwsku || others == used || is_mixed, "{} {hwsku}: {found}", platform.id);
            compared += 1;
            if let [first, second] = used[..]
                && !platform.sonic.as_ref().is_some_and(|sonic| sonic.any_breakout)
            {
                let swapped = [
                    SplitCages { cages: second.cages, ..first },
                    SplitCages { cages: first.cages, ..second },
                ];
                assert!(!platform.has_hwsku(swapped), "{} {hwsku}", platform.id);
                exchanged += 1;
            }
        }
    }
    assert!(compared > 100 && exchanged > 10, "{compared} hwskus, {exchanged} exchanged");
}

/// Minimum size of a pool in bytes. Smaller sizes in a template belong to profiles.
const SMALLEST_POOL: u64 = 1_000_000;

/// The size of the largest pool in the buffer template of a hwsku, for a T0 or else for a T1.
fn pool(repository: &Repository, folder: &str) -> Option<u64> {
    let of = |tier: &str| {
        let text = repository.text(&format!("{folder}/buffers_defaults_{tier}.j2"))?;
        let sizes = text.split("\"size\":").skip(1).filter_map(|rest| rest.split('"').nth(1)?.parse().ok());
        sizes.max().filter(|size: &u64| *size > SMALLEST_POOL)
    };
    of("t0").or_else(|| of("t1"))
}

/// The buffer of a hwsku has the size of the largest pool in its template, where a template states one.
#[test]
fn the_buffer_of_a_hwsku_is_that_of_its_template() {
    let Some(repository) = checkout() else { return };
    let mut compared = 0;
    for (folder, platform) in folders() {
        let Some(buffer) = &platform.buffer else { continue };
        for hwsku in hwskus(&platform) {
            let Some(size) = pool(&repository, &format!("{folder}/{hwsku}")) else { continue };
            let own = buffer.under(Os::Sonic, None, hwsku).total;
            assert_eq!(own.0, size, "{} {hwsku}", platform.id);
            compared += 1;
        }
    }
    assert!(compared > 15, "{compared}");
}

fn ports(of: &SplitCages) -> usize {
    usize::from(of.cages.len()) * usize::from(of.breakout.ports)
}

/// Every entry with the folder of its box.
fn folders() -> Vec<(String, Arc<Platform>)> {
    let Some(repository) = checkout() else { return Vec::new() };
    let boxes = boxes(&repository);
    let folder = |platform: &Arc<Platform>| {
        let switch = boxes.get(&platform.sonic.as_ref()?.platform)?;
        Some((switch.folder().to_owned(), Arc::clone(platform)))
    };
    Catalogue::builtin().iter().filter_map(folder).collect()
}

/// The catalogue claims uN for a Broadcom hwsku if and only if its SDK file enables it.
#[test]
fn segments_are_claimed_where_the_sdk_file_has_them() {
    let Some(repository) = checkout() else { return };
    let boxes = boxes(&repository);
    let mut compared = 0;
    for platform in Catalogue::builtin().iter() {
        let Some(sonic) = &platform.sonic else { continue };
        let Some(switch) = boxes.get(&sonic.platform) else { continue };
        for hwsku in hwskus(platform) {
            let sdk = Sdk::read(&repository, &format!("{}/{hwsku}", switch.folder()));
            let Some((value, srv6)) = sdk.tunnels() else { continue };
            assert_eq!(
                claims_un(platform, hwsku),
                srv6,
                "{} {hwsku}: sai_tunnel_support {value}",
                platform.id
            );
            compared += 1;
        }
    }
    assert!(compared > 20, "{compared}");
}
