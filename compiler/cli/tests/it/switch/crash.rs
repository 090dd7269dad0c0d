//! `closc push` is killed, or the power fails, at many moments. Completed changes must then be in the audit log, and
//! a saved plan must be complete. The next push brings the switch to the state of the tree.
//!
//! An ext4 image on a loop device simulates the disk of the controller, as in the tests of compilation. The switch
//! keeps running.

use std::fs;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Instant;

use camino::{Utf8Path, Utf8PathBuf};
use serde_json::Value;

use crate::common::{Place, kills, moment};
use crate::copies;
use crate::disk::{self, Disk, run};
use crate::switch::process::SwitchProcess;

/// Number of disk copies to check.
const POINTS: usize = 12;

/// Log lines of a push to one switch: those of the push and of the switch, before and after.
const LINES: usize = 4;

/// The switch that is pushed to, and its device id.
const NAME: &str = "p0-t0-001";
const DEVICE: u64 = 1;

/// Creates two trees for alternating pushes, and the inventory of the switch.
fn controller(place: &Place, switch: &SwitchProcess) {
    let fabric = place.read("topologies/lab/two-planes-p4.yaml");
    place.write("a.yaml", &fabric);
    let other =
        fabric.replace("qos: lossy-trim", "qos: { base: lossy-trim, classes: { data: { dscp: [22] } } }");
    assert_ne!(fabric, other);
    place.write("b.yaml", other);
    for tree in ["a", "b"] {
        place.ends(0, &["compile", &format!("{tree}.yaml"), "--out", tree, "--quiet"]);
    }
    let device = format!("{{ endpoint: \"{}\", device_id: {DEVICE}, plane: 0 }}", switch.address);
    place.write("inventory.yaml", format!("devices:\n  {NAME}: {device}\n"));
}

/// Returns a command on the switch with the files of a folder.
fn closc(folder: &Utf8Path, command: &str, source: &str, more: &[&str]) -> Command {
    let mut closc = Command::new(env!("CARGO_BIN_EXE_closc"));
    closc.current_dir(folder).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    closc.args([command, source, "--inventory", "inventory.yaml", "--device", NAME]).args(more);
    if command == "push" {
        closc.args(["--audit-log", "audit.jsonl"]);
    }
    closc
}

fn code(mut command: Command) -> Option<i32> {
    command.status().expect("closc runs").code()
}

/// Returns the number of complete lines in the audit log, and whether the last one is cut off.
fn lines(folder: &Utf8Path) -> (usize, bool) {
    let text = fs::read(folder.join("audit.jsonl")).unwrap_or_default();
    let (whole, rest) = text.split_at(text.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1));
    let is_line =
        |line: &&[u8]| serde_json::from_slice::<Value>(line).is_ok_and(|line| line["result"].is_string());
    (whole.split(|byte| *byte == b'\n').filter(is_line).count(), !rest.is_empty())
}

/// Pushes a tree, and checks for drift.
fn converges(folder: &Utf8Path, tree: &str) -> Result<(), String> {
    let pushed = code(closc(folder, "push", tree, &[]));
    let drifted = code(closc(folder, "drift", tree, &[]));
    if (pushed, drifted) == (Some(0), Some(0)) {
        Ok(())
    } else {
        Err(format!("push {pushed:?}, drift {drifted:?}"))
    }
}

/// `CLOSC_KILLS=100` tries more moments.
#[test]
fn a_push_that_was_killed_is_finished_by_the_next() {
    let (place, switch) = (Place::new(), SwitchProcess::start(DEVICE, &[]));
    controller(&place, &switch);
    let folder = Utf8PathBuf::from(place.text("."));
    let start = Instant::now();
    assert_eq!(code(closc(&folder, "push", "b", &[])), Some(0));
    let (complete, mut said) = (start.elapsed(), LINES);
    let kills = kills(16);
    for number in 0..kills {
        let (old, new) = if number.is_multiple_of(2) { ("a", "b") } else { ("b", "a") };
        let mut push = closc(&folder, "push", old, &[]).spawn().expect("closc runs");
        std::thread::sleep(moment(number, complete));
        push.kill().expect("it is ours");
        push.wait().expect("it is ours");
        converges(&folder, new).unwrap_or_else(|why| panic!("after kill {number}: {why}"));
        let (whole, cut) = lines(&folder);
        // The lines of the successful push, and some of the killed one.
        assert!(whole >= said + LINES && !cut, "after kill {number}: {whole} lines, {said} before");
        said = whole;
        place.ends(0, &["audit", "verify", "audit.jsonl"]);
    }
    println!("{kills} kills of a push, {said} lines");
}

/// Lines and plans that were on disk before a copy started, and the maximum number of lines when it was finished.
#[derive(Debug, Clone, Copy)]
struct Moment {
    lines: usize,
    max_lines: usize,
    plans: usize,
}

/// Progress of the pushes.
#[derive(Default)]
struct PushProgress {
    lines: AtomicUsize,
    begun: AtomicUsize,
    plans: AtomicUsize,
}

impl PushProgress {
    fn moment(&self) -> Moment {
        let [lines, most, plans] =
            [&self.lines, &self.begun, &self.plans].map(|count| count.load(Ordering::SeqCst));
        Moment { lines, max_lines: most, plans }
    }
}

/// Checks a copy: no completed line or plan is lost, and the controller can continue from it.
fn look(folder: &Utf8Path, moment: Moment, number: usize) -> Result<(), String> {
    let (whole, cut) = lines(folder);
    if whole < moment.lines || whole + usize::from(cut) > moment.max_lines {
        return Err(format!("the audit log has {whole} lines, {moment:?}"));
    }
    let plan = folder.join("plan.json");
    if plan.exists() || moment.plans > 0 {
        let shown = code(closc(folder, "push", "plan.json", &["--dry-run"]));
        if !matches!(shown, Some(0 | 2)) {
            return Err(format!("the saved plan is not whole: {shown:?}"));
        }
    }
    converges(folder, if number.is_multiple_of(2) { "a" } else { "b" })?;
    // If the last line was cut off, the push is logged after it.
    let (now, cut) = lines(folder);
    if now != whole + LINES || cut {
        return Err(format!("{whole} lines became {now}"));
    }
    let mut verify = Command::new(env!("CARGO_BIN_EXE_closc"));
    verify.current_dir(folder).args(["audit", "verify", "audit.jsonl"]).stdout(Stdio::null());
    if code(verify) == Some(0) { Ok(()) } else { Err("the chain of the audit log is broken".to_owned()) }
}

/// Alternates pushes while the disk is copied; returns the result of each check.
fn cut(place: &Place) -> Result<Vec<Result<(), String>>, String> {
    let folder = Utf8PathBuf::from(place.text("."));
    let image = folder.join("disk");
    disk::make(&image)?;
    let disk = Disk::mount(&image, &folder.join("mount"), 1)?;
    for name in ["a", "b", "inventory.yaml"] {
        run("cp", &["-a", folder.join(name).as_str(), disk.mount.as_str()])?;
    }
    run("sync", &["-f", disk.mount.as_str()])?;
    let done = PushProgress::default();
    let work = |over: &AtomicBool| {
        for number in 0_usize.. {
            if over.load(Ordering::SeqCst) {
                break;
            }
            let (one, other) = if number.is_multiple_of(2) { ("a", "b") } else { ("b", "a") };
            for source in [one, "plan.json"] {
                done.begun.fetch_add(LINES, Ordering::SeqCst);
                assert_eq!(code(closc(&disk.mount, "push", source, &[])), Some(0), "{source}");
                done.lines.fetch_add(LINES, Ordering::SeqCst);
                if source == one {
                    let saved = closc(&disk.mount, "push", other, &["--out", "plan.json"]);
                    assert_eq!(code(saved), Some(2), "another tree");
                    done.plans.fetch_add(1, Ordering::SeqCst);
                }
            }
        }
    };
    let copies = copies::copies((&disk, &image), copies::points(POINTS), || done.moment(), |_| {}, work);
    drop(disk);
    Ok(copies::judged(&folder, &copies, |mount, number, (before, after)| {
        look(mount, Moment { max_lines: after.max_lines, ..*before }, number)
    }))
}

#[test]
fn whenever_the_power_goes_nothing_that_was_said_is_lost() {
    if !nix::unistd::geteuid().is_root() {
        closc_skip::skip("loss of power is tried on a loop device, which needs root");
        return;
    }
    let (place, switch) = (Place::new(), SwitchProcess::start(DEVICE, &[]));
    controller(&place, &switch);
    match cut(&place) {
        Err(reason) => closc_skip::skip(format_args!("no loop device with ext4 here: {reason}")),
        Ok(found) => {
            let wrong: Vec<&String> = found.iter().filter_map(|found| found.as_ref().err()).collect();
            println!("{} of {} whole", found.len() - wrong.len(), found.len());
            assert!(wrong.is_empty() && found.len() == copies::points(POINTS), "{wrong:#?}");
        }
    }
}
