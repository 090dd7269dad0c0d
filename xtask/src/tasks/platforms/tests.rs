//! The catalogue compared with SONiC's own files, where `CLOSC_SONIC_BUILDIMAGE` names a checkout or git directory.
//!
//! In: the checkout and the catalogue. Out: tests. Invariants: without a checkout each test writes that it was skipped.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use closc_hwsku::{Derived, Sdk, Switch};
use closc_platform::{Catalogue, Claim, Platform};

use super::git::Repository;
use super::{FOLDER, derive, hand_written, switches};
use crate::generated::root;

/// Opens a folder of the checkout; prints a line if there is no checkout.
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

/// Entries of the folder are equal to those derived from the checkout.
#[test]
fn derived_entries_are_fresh() {
    let Some(repository) = checkout() else { return };
    let known = hand_written();
    let mut made = BTreeSet::new();
    for switch in switches(&repository).iter().filter(|switch| !known.contains_key(&switch.platform)) {
        let Ok(Derived { id, text, .. }) = derive(&repository, switch, &mut BTreeSet::new()) else {
            continue;
        };
        let path = root().join(FOLDER).join(format!("{id}.yaml"));
        assert_eq!(std::fs::read_to_string(&path).unwrap_or_default(), text, "{}", path.display());
        made.insert(id);
    }
    let derived = Catalogue::builtin().iter().filter(|platform| platform.derived).count();
    assert_eq!(made.len(), derived, "{made:?}");
}

/// The hwskus of a platform.
fn hwskus(platform: &Platform) -> Vec<&str> {
    let Some(sonic) = &platform.sonic else { return Vec::new() };
    let names: BTreeSet<&str> =
        sonic.hwskus.iter().map(|(_, name)| name.as_str()).chain([sonic.hwsku.as_str()]).collect();
    names.into_iter().collect()
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
        let own: BTreeSet<_> = platform
            .ports()
            .map(|port| (port.name.to_string(), port.alias.to_string(), port.panel, port.lanes))
            .collect();
        let panel: BTreeSet<u16> = platform.panel.serial_lanes.iter().copied().collect();
        for hwsku in hwskus(platform) {
            let Some(rows) = switch.ports(hwsku) else { continue };
            for row in rows.iter().filter(|row| row.lanes.iter().all(|lane| panel.contains(lane))) {
                let theirs =
                    (format!("Ethernet{}", row.number), row.alias.clone(), row.index, row.lanes.clone());
                assert!(own.contains(&theirs), "{} {hwsku}: {theirs:?}", platform.id);
                ports += 1;
            }
            compared += 1;
        }
    }
    assert!(compared > 60 && ports > 5_000, "{compared} hwskus, {ports} ports");
}

/// The catalogue claims uN for a hwsku of Broadcom exactly if its SDK file enables it.
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
            let claim = sonic.facts.get(hwsku).and_then(|facts| facts.un.as_ref());
            let claimed = platform.features.un && !matches!(claim, Some(Claim::Lacking(_)));
            assert_eq!(claimed, srv6, "{} {hwsku}: sai_tunnel_support {value}", platform.id);
            compared += 1;
        }
    }
    assert!(compared > 20, "{compared}");
}
