//! Power failures: copies of a file system at many moments during compilation, each mounted and inspected.
//!
//! An ext4 image on a loop device stands for the disk. A copy that is made while nothing is being written
//! holds the same data as a disk after a power failure at that moment. Needs root.

use std::fs;
use std::io::Write as _;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use camino::{Utf8Path, Utf8PathBuf};
use closc_artefacts::{Files as _, Manifest};
use closc_compile::{Folder, Job, Selection, Target, archive, write_tree};
use closc_files::disk::{self, SyncMode};
use closc_plan::Plan;
use closc_render::Templates;
use closc_tests::shape::Shape;

use disk_image::Disk;

#[path = "support/disk.rs"]
mod disk_image;

/// Environment variable with the number of copies to inspect instead of [`POINTS`].
const POINTS_VARIABLE: &str = "CLOSC_CRASH_POINTS";

/// Number of inspected copies. They take a few seconds, mostly waiting for the disk.
const POINTS: usize = 50;

/// Lines in the pins file of a round: many disk blocks, so that a torn write is possible.
const PINS: usize = 20_000;

/// Copies in one round of tree, archive, pins and state.
const PER_ROUND: usize = 5;

fn points() -> usize {
    std::env::var(POINTS_VARIABLE).map_or(POINTS, |points| points.parse().expect("a number of copies"))
}

/// Returns a fabric whose tables all depend on the seed, so that no two rounds are equal.
fn plan(seed: u64) -> Plan {
    let shape = Shape {
        planes: 2,
        groups: 4,
        per_group: 4,
        rails: 2,
        t1: 4,
        parallel: 1,
        t2: None,
        exceptions: format!("entropy: {{ seed: {seed} }}\n"),
    };
    shape.plan()
}

/// Number of rounds that were certainly on the disk, and number of rounds begun, when a copy was made.
#[derive(Debug, Clone, Copy)]
struct Moment {
    finished: u64,
    begun: u64,
}

/// Returns the round of a complete tree according to its manifest, or why the tree is not complete.
fn round_of(tree: &Utf8Path, sources: &[String]) -> Result<Option<u64>, String> {
    let folder = Folder::new(tree);
    if !tree.exists() {
        return Ok(None);
    }
    let manifest = Manifest::read(&folder).map_err(|error| error.to_string())?;
    for (path, entry) in &manifest.files {
        let bytes = folder.read(path.as_str()).map_err(|error| format!("{path}: {error}"))?;
        if !entry.fits(&bytes) {
            return Err(format!("{path} has {} of {} bytes, or others", bytes.len(), entry.size));
        }
    }
    let round = sources.iter().position(|source| *source == manifest.source);
    Ok(Some(round.ok_or("the tree is of no round")? as u64))
}

/// Checks that a found round is the last finished one or a later one that was begun.
fn fits(what: &str, found: Option<u64>, moment: Moment) -> Result<(), String> {
    let (first, last) = (moment.finished, moment.begun);
    match found {
        None if first == 0 => Ok(()),
        Some(round) if (first..=last).contains(&(round + 1)) => Ok(()),
        other => Err(format!("{what}: found {other:?}, finished {first}, begun {last}")),
    }
}

/// Reads an entire archive; returns the manifest, which is its last entry.
fn read_manifest(archive: &Utf8Path) -> Result<Manifest, Box<dyn std::error::Error>> {
    let mut tar = tar::Archive::new(zstd::Decoder::new(fs::File::open(archive)?)?);
    let mut last = Vec::new();
    for entry in tar.entries()? {
        last.clear();
        std::io::Read::read_to_end(&mut entry?, &mut last)?;
    }
    Ok(Manifest::parse(&last)?)
}

/// Returns the round in the file of pins. Every line must have the same round.
fn read_pins(file: &Utf8Path) -> Result<Option<u64>, String> {
    let text = match fs::read_to_string(file) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        read => read.map_err(|error| format!("pins: {error}"))?,
    };
    let round = text.lines().next().ok_or("the pins are empty")?;
    if text != format!("{round}\n").repeat(PINS) {
        return Err(format!("pins: {} bytes, not all of round {round}", text.len()));
    }
    round.parse().map(Some).map_err(|error| format!("pins: `{round}`: {error}"))
}

/// Inspects a copy: tree, archive, pins and state must each be from the last finished round, or from a later
/// one that was begun.
fn look(root: &Utf8Path, sources: &[String], moment: Moment) -> Result<(), String> {
    fits("tree", round_of(&root.join("tree"), sources)?, moment)?;
    let packed = root.join("tree.tar.zst");
    let round = if packed.exists() {
        let manifest = read_manifest(&packed).map_err(|error| format!("archive: {error}"))?;
        sources.iter().position(|source| *source == manifest.source).map(|round| round as u64)
    } else {
        None
    };
    fits("archive", round, moment)?;
    fits("pins", read_pins(&root.join("pins.csv"))?, moment)?;
    let state = match fs::read_to_string(root.join("state.json")) {
        Ok(text) => Some(text.trim().parse().map_err(|error| format!("state: `{text}`: {error}"))?),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
        Err(error) => return Err(format!("state: {error}")),
    };
    fits("state", state, moment)
}

/// Seconds until the kernel writes the journal if no sync does. With `SyncMode::Yes`, the interval is short, so
/// that a write out of order is noticed. With `SyncMode::No`, it is longer than the test, so that some data is lost.
fn journal(sync: SyncMode) -> u32 {
    match sync {
        SyncMode::Yes => 1,
        SyncMode::No => 300,
    }
}

/// Compiles round after round while the disk is being copied; returns the result of inspecting each copy.
fn rounds(folder: &Utf8Path, sync: SyncMode) -> Result<Vec<Result<(), String>>, String> {
    let image = folder.join("disk");
    disk_image::make(&image)?;
    let disk = Disk::mount(&image, &folder.join("mount"), journal(sync))?;
    let (points, count) = (points(), points().div_ceil(PER_ROUND));
    let plans: Vec<Plan> = (0..count as u64).map(plan).collect();
    let sources: Vec<String> =
        plans.iter().map(|plan| closc_compile::plan_digest(plan).to_string()).collect();
    let (begun, finished, over) = (AtomicU64::new(0), AtomicU64::new(0), AtomicBool::new(false));
    let copies: Mutex<Vec<(Utf8PathBuf, Moment)>> = Mutex::default();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut number = 0;
            while !over.load(Ordering::SeqCst) || copies.lock().unwrap().len() < points {
                std::thread::sleep(Duration::from_millis(7 + 13 * (number % 11)));
                number += 1;
                let place = folder.join(format!("copy-{number}"));
                let first = finished.load(Ordering::SeqCst);
                let whole = disk.copy(&image, &place).expect("an image is copied");
                let moment = Moment { finished: first, begun: begun.load(Ordering::SeqCst) };
                if whole && copies.lock().unwrap().len() < points {
                    copies.lock().unwrap().push((place, moment));
                } else {
                    fs::remove_file(&place).expect("a copy can be removed");
                }
            }
        });
        for (round, plan) in plans.iter().enumerate() {
            begun.store(round as u64 + 1, Ordering::SeqCst);
            write(plan, round, &disk.mount, sync);
            finished.store(round as u64 + 1, Ordering::SeqCst);
            // Wait long enough for the journal to be written, or until this round's share of the copies
            // exists.
            let (since, wanted) = (Instant::now(), (round + 1) * PER_ROUND);
            while since.elapsed() < Duration::from_millis(1200) && copies.lock().unwrap().len() < wanted {
                std::thread::sleep(Duration::from_millis(20));
            }
        }
        over.store(true, Ordering::SeqCst);
    });
    drop(disk);
    let copies = copies.into_inner().unwrap();
    let look = |(number, (image, moment)): (usize, &(Utf8PathBuf, Moment))| {
        let disk = Disk::mount(image, &folder.join(format!("look-{number}")), journal(sync))?;
        look(&disk.mount, &sources, *moment)
    };
    Ok(copies.iter().enumerate().map(look).collect())
}

fn write(plan: &Plan, round: usize, root: &Utf8Path, sync: SyncMode) {
    let templates = Templates::builtin();
    let job = Job::new(plan, &templates, blake3::hash(b""), Selection::default()).expect("all of it");
    let target = Target { place: &root.join("tree"), force: false, sync };
    write_tree(&job, target, &|_| {}).expect("a tree is written");
    archive(&job, &root.join("tree.tar.zst"), sync, &|_| {}).expect("an archive is written");
    let line = format!("{round}\n");
    let put = |name: &str, count: usize| {
        let lines = |file: &mut fs::File| {
            let mut file = std::io::BufWriter::new(file);
            (0..count).try_for_each(|_| file.write_all(line.as_bytes()))?;
            file.flush()
        };
        disk::replace_with(&root.join(name), sync, lines).expect("a file is written");
    };
    put("pins.csv", PINS);
    put("state.json", 1);
}

/// Runs the rounds, or reports why that is not possible on this machine.
fn run_rounds(sync: SyncMode) -> Option<Vec<Result<(), String>>> {
    if !nix::unistd::geteuid().is_root() {
        closc_skip::skip("loss of power is tried on a loop device, which needs root");
        return None;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let folder = Utf8Path::from_path(folder.path()).expect("its name is text");
    match rounds(folder, sync) {
        Ok(found) => Some(found),
        Err(reason) => {
            closc_skip::skip(format_args!("no loop device with ext4 here: {reason}"));
            None
        }
    }
}

#[test]
fn whenever_the_power_goes_the_old_or_the_new_tree_is_whole() {
    let Some(found) = run_rounds(SyncMode::Yes) else { return };
    let wrong: Vec<&String> = found.iter().filter_map(|found| found.as_ref().err()).collect();
    println!("{} of {} whole", found.len() - wrong.len(), found.len());
    assert!(wrong.is_empty() && found.len() == points(), "{wrong:#?}");
}

#[test]
fn without_waiting_for_the_disk_the_test_sees_what_is_lost() {
    let Some(found) = run_rounds(SyncMode::No) else { return };
    let wrong = found.iter().filter(|found| found.is_err()).count();
    println!("{} of {} whole", found.len() - wrong, found.len());
    assert!(wrong > 0, "nothing is lost without syncing: this test would see nothing");
}
