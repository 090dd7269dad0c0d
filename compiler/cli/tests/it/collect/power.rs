//! Power failures of the collector's machine during drains and lifts. The state contains every answered order, and
//! the audit log has a line for it. A collector that starts from the remaining files brings all agents to this state.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use camino::{Utf8Path, Utf8PathBuf};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

use super::agents::{Agents, eventually};
use super::{Collector, folder, post, token};
use crate::copies;
use crate::disk::{self, Disk};

/// Number of disk copies in a normal run.
const POINTS: usize = 6;

/// Options of every collector: only orders change denials.
const OPTIONS: [&str; 6] = ["--web", "--apply", "--plane-share", "30", "--good-probes", "1000000"];

/// Answered orders, and the denials of agents.
struct Progress {
    orders: usize,
    denials: Vec<Vec<Value>>,
}

/// Elements denied after each order that was answered.
type History = Mutex<Vec<BTreeSet<String>>>;

fn denied_elements(collector: &Collector) -> BTreeSet<String> {
    // A request that was interrupted by a pause of seconds has no answer.
    let summary = std::iter::repeat_with(|| collector.get("/api/summary")).find(|(status, _)| *status == 200);
    let (_, summary) = summary.expect("it repeats for ever");
    let summary: Value = serde_json::from_str(&summary).expect("it is JSON");
    let denials = summary["denials"].as_array().expect("a list");
    let applied = denials.iter().filter(|denial| denial["stage"] == "applied");
    applied.map(|denial| denial["element"].as_str().expect("a name").to_owned()).collect()
}

/// Sends one order; returns the number of the denial.
fn ask(collector: &Collector, path: &str, body: &str) -> u64 {
    let (status, answer) = post(collector, path, "", body);
    let answer: Value = serde_json::from_str(&answer).unwrap_or_else(|_| panic!("{status} {answer}"));
    answer["items"][0]["id"].as_u64().unwrap_or_else(|| panic!("{status} {answer}"))
}

/// Drains T1s and lifts the drains, until enough copies exist.
fn order(collector: &Collector, folder: &Path, history: &History, over: &AtomicBool) {
    let token = token(folder);
    let mut ids = Vec::new();
    for number in 0.. {
        if over.load(Ordering::SeqCst) {
            return;
        }
        if ids.len() >= 3 {
            let id: u64 = ids.remove(0);
            ask(collector, "/api/lift", &format!(r#"{{"token":"{token}","id":{id}}}"#));
        } else {
            let name = format!("p{}-t1-{:03}", number % 8, number / 8 % 4 + 1);
            let body = format!(r#"{{"token":"{token}","name":"{name}","minutes":600}}"#);
            ids.push(ask(collector, "/api/drain", &body));
        }
        let now = denied_elements(collector);
        history.lock().expect("no panic").push(now);
    }
}

/// Checks a copy, and starts a collector from it. Returns the number of lines in its log.
fn look(
    folder: &Utf8Path,
    (sockets, agents): (&Path, &Agents),
    (before, after): (&Progress, &Progress),
    history: &[BTreeSet<String>],
) -> Result<usize, String> {
    let log = folder.join("audit.log");
    let text = fs::read_to_string(&log).map_err(|error| error.to_string())?;
    let changes = text.lines().filter(|line| line.contains(r#""result":"changing""#)).count();
    let [before, answered] = [before.orders, after.orders];
    agents.restore(&after.denials);
    if !(before..=answered + 1).contains(&changes) {
        return Err(format!("{changes} changes in the log after {before} to {answered} orders"));
    }
    let collector = Collector::start_at(folder.as_std_path(), sockets, &OPTIONS);
    let found = denied_elements(&collector);
    // One more order may have been executed, but not answered yet.
    let states = before..=(answered + 1).min(history.len() - 1);
    if !states.clone().any(|order| history[order] == found) {
        return Err(format!("{found:?} is not the state after one of the orders {states:?}"));
    }
    eventually("agents and the state agree", || agents.bans() == [found.len(); 8]);
    drop(collector);
    let verified = Command::new(env!("CARGO_BIN_EXE_closc")).args(["audit", "verify", log.as_str()]).output();
    let verified = verified.expect("closc runs");
    if verified.status.success() {
        Ok(text.lines().count())
    } else {
        Err(String::from_utf8_lossy(&verified.stderr).into_owned())
    }
}

fn cut(folder: &Utf8Path, points: usize) -> Result<Vec<Result<usize, String>>, String> {
    let (image, sockets) = (folder.join("disk"), folder.join("sockets"));
    disk::make(&image)?;
    let disk = Disk::mount(&image, &folder.join("mount"), 1)?;
    fs::create_dir(&sockets).map_err(|error| error.to_string())?;
    let agents = Agents::start(sockets.as_std_path());
    let collector = Collector::start_at(disk.mount.as_std_path(), sockets.as_std_path(), &OPTIONS);
    eventually("all agents answer", || collector.summary()["agents"]["speaking"] == 8);
    disk::run("sync", &["-f", disk.mount.as_str()])?;
    let history: History = Mutex::new(vec![BTreeSet::new()]);
    let own = Pid::from_raw(collector.child.id().cast_signed());
    let stop = |stops| kill(own, if stops { Signal::SIGSTOP } else { Signal::SIGCONT }).expect("it runs");
    let progress =
        || Progress { orders: history.lock().expect("no panic").len() - 1, denials: agents.denials() };
    let work = |over: &AtomicBool| order(&collector, disk.mount.as_std_path(), &history, over);
    let copies = copies::copies((&disk, &image), points, progress, stop, work);
    drop(collector);
    drop(disk);
    let history = history.into_inner().expect("no panic");
    println!("{} orders", history.len() - 1);
    Ok(copies::judged(folder, &copies, |mount, _, moment| {
        look(mount, (sockets.as_std_path(), &agents), moment, &history)
    }))
}

/// `CLOSC_CRASH_POINTS=100` tries more copies.
#[test]
fn whenever_the_power_goes_no_answered_order_is_lost() {
    if !nix::unistd::geteuid().is_root() {
        closc_skip::skip("loss of power is tried on a loop device, which needs root");
        return;
    }
    let folder = folder();
    let folder = Utf8PathBuf::from_path_buf(folder.path().to_owned()).expect("its name is text");
    let points = copies::points(POINTS);
    match cut(&folder, points) {
        Err(reason) => closc_skip::skip(format_args!("no loop device with ext4 here: {reason}")),
        Ok(found) => {
            let wrong: Vec<&String> = found.iter().filter_map(|found| found.as_ref().err()).collect();
            let lines = found.iter().filter_map(|found| found.as_ref().ok()).max();
            println!("{} of {} intact, up to {lines:?} lines", found.len() - wrong.len(), found.len());
            assert!(wrong.is_empty() && found.len() == points, "{wrong:#?}");
        }
    }
}
