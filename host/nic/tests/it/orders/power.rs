//! The power of a node fails at many moments of orders. The state must contain every denial that was answered. The
//! audit log must contain both lines of each order, with an intact chain. An agent must start from the remaining files.

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use camino::{Utf8Path, Utf8PathBuf};
use closc_nic::api::Request;
use closc_nic::io::state;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::copies;
use super::disk::{self, Disk};
use super::{Agent, deny, group, is_intact};

/// Number of copies in a normal run.
const POINTS: usize = 12;

/// Numbers of the denials in force after each order that was answered.
type History = Mutex<Vec<BTreeSet<u64>>>;

/// Gives orders to deny and to allow, until there are enough copies.
fn order(agent: &Agent, history: &History, over: &AtomicBool) {
    let mut known = BTreeSet::new();
    for number in 0.. {
        if over.load(Ordering::SeqCst) {
            return;
        }
        let oldest = known.first().copied().filter(|_| known.len() >= 3);
        if let Some(id) = oldest {
            assert_eq!(agent.ask(&Request::Allow { id }).expect("it runs")["ended"], id);
            known.remove(&id);
        } else {
            let answer = agent.ask(&deny(number)).expect("it runs");
            known.insert(answer["id"].as_u64().unwrap_or_else(|| panic!("{answer}")));
        }
        history.lock().unwrap().push(known.clone());
    }
}

/// Checks a copy, and starts an agent from it.
fn look(folder: &Utf8Path, answered: [usize; 2], history: &[BTreeSet<u64>]) -> Result<u64, String> {
    let numbers = || -> Result<BTreeSet<u64>, String> {
        let state = state::load(folder.join("state.json").as_std_path())
            .map_err(|error| format!("state: {error}"))?;
        Ok(state.bans.bans.iter().filter_map(|ban| ban.id).collect())
    };
    let found = numbers()?;
    let [before, after] = answered;
    // Another order may have been carried out, but not answered yet.
    let states = before..=(after + 1).min(history.len() - 1);
    if !states.clone().any(|order| history[order] == found) {
        return Err(format!("{found:?} is not the state after one of the orders {states:?}"));
    }
    let log = folder.join("audit.jsonl");
    let lines = is_intact(log.as_std_path());
    let (least, most) = (2 * before as u64, 2 * (after + 1) as u64);
    // A truncated last line is terminated only when the log is opened again.
    if !(least..=most).contains(&lines) {
        return Err(format!("{lines} lines after {answered:?} orders"));
    }
    let agent = Agent::start(folder.as_std_path(), &[]);
    let answer = agent.ask(&deny(1)).ok_or("the agent does not answer")?;
    let id = answer["id"].as_u64().ok_or_else(|| format!("a new denial is refused: {answer}"))?;
    drop(agent);
    let expected: BTreeSet<u64> = found.iter().copied().chain([id]).collect();
    if numbers()? != expected {
        return Err(format!("{expected:?} became {:?}", numbers()?));
    }
    let more = is_intact(log.as_std_path()) - lines;
    if more == 2 { Ok(lines) } else { Err(format!("an order added {more} lines")) }
}

fn cut(folder: &Utf8Path, points: usize) -> Result<Vec<Result<u64, String>>, String> {
    let image = folder.join("disk");
    disk::make(&image)?;
    let disk = Disk::mount(&image, &folder.join("mount"), 1)?;
    let history: History = Mutex::new(vec![BTreeSet::new()]);
    let agent = Agent::start(disk.mount.as_std_path(), &[]);
    disk::run("sync", &["-f", disk.mount.as_str()])?;
    let own = Pid::from_raw(agent.child.id().cast_signed());
    let stop = |stops| kill(own, if stops { Signal::SIGSTOP } else { Signal::SIGCONT }).expect("it runs");
    let progress = || history.lock().unwrap().len() - 1;
    let work = |over: &AtomicBool| order(&agent, &history, over);
    let copies = copies::copies((&disk, &image), points, progress, stop, work);
    drop(agent);
    drop(disk);
    let history = history.into_inner().unwrap();
    println!("{} orders", history.len() - 1);
    Ok(copies::judged(folder, &copies, |mount, _, (before, after)| look(mount, [*before, *after], &history)))
}

/// `CLOSC_CRASH_POINTS=100` tries more.
#[test]
fn whenever_the_power_goes_no_answered_order_is_lost() {
    if group().is_none() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let folder = Utf8PathBuf::from_path_buf(folder.path().to_owned()).unwrap();
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
