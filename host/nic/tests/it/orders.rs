//! Orders over the socket of an agent: permitted users, records in the audit log, and kills and power failures in
//! between.

#[path = "../../../../compiler/compile/tests/support/copies.rs"]
mod copies;
#[path = "../../../../compiler/compile/tests/it/support/disk.rs"]
mod disk;
mod power;

use std::collections::BTreeSet;
use std::fs::{self, File, Permissions};
use std::io::BufReader;
use std::net::Ipv6Addr;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use closc_audit::Chain;
use closc_nic::agent::Ban;
use closc_nic::api::Request;
use closc_nic::io::{client, state};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

use crate::nic_common::{nic, table};

/// A user without privileges, like `nobody`.
const READER: u32 = 65_534;

/// An agent in its own network namespace. It ends when its standard input is closed.
struct Agent {
    folder: PathBuf,
    child: Child,
}

impl Agent {
    fn start(folder: &Path, more: &[&str]) -> Agent {
        fs::write(folder.join("table.bin"), table(0)).unwrap();
        let mut command = Command::new("unshare");
        command.arg("--net").arg(env!("CARGO_BIN_EXE_closc-nic")).arg("--socket").arg(folder.join("socket"));
        command.args(["run", "--tied", "--tun", "", "--nic", &Ipv6Addr::from(nic(0)).to_string(), "--table"]);
        command.arg(folder.join("table.bin")).arg("--state").arg(folder.join("state.json"));
        command.arg("--audit-log").arg(folder.join("audit.jsonl")).args(more);
        let child = command.stdin(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut agent = Agent { folder: folder.to_owned(), child };
        while agent.ask(&Request::Denials {}).is_none() {
            assert_eq!(agent.child.try_wait().unwrap(), None, "the agent ended");
            std::thread::sleep(Duration::from_millis(5));
        }
        agent
    }

    fn ask(&self, request: &Request) -> Option<Value> {
        client::ask(&self.folder.join("socket"), request).ok()
    }

    fn lines(&self) -> Vec<Value> {
        let text = fs::read_to_string(self.folder.join("audit.jsonl")).unwrap_or_default();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn deny(number: u64) -> Request {
    let uplink = (number % 4) as u16;
    let ban = Ban {
        plane: Some((number % 3) as u8),
        uplinks: Some((uplink, uplink)),
        reason: "drain".into(),
        ..Ban::default()
    };
    Request::Deny { ban }
}

fn is_intact(log: &Path) -> u64 {
    let mut chain = Chain::new();
    chain.follow(BufReader::new(File::open(log).unwrap())).unwrap();
    chain.lines
}

/// Returns the name and number of a group, if this process is root.
fn group() -> Option<(String, u32)> {
    if fs::metadata("/proc/self").map_or(1, |own| own.uid()) != 0 {
        closc_skip::skip("not root");
        return None;
    }
    let text = fs::read_to_string("/etc/group").unwrap_or_default();
    let group = text.lines().find_map(|line| {
        let fields: Vec<&str> = line.split(':').collect();
        let number = fields.get(2)?.parse().ok().filter(|number| *number != 0)?;
        Some((fields[0].to_owned(), number))
    });
    if group.is_none() {
        closc_skip::skip("/etc/group has no group besides that of root");
    }
    group
}

/// Formerly every process that could open the socket could also deny, and no line of the log named the user.
#[test]
fn readers_of_a_group_cannot_order_and_orders_have_lines() {
    let Some((name, group)) = group() else { return };
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
    let agent = Agent::start(folder.path(), &["--socket-group", &name]);
    let program = folder.path().join("closc-nic");
    fs::copy(env!("CARGO_BIN_EXE_closc-nic"), &program).unwrap();
    let run = |user: u32, group: u32, words: &[&str]| -> Output {
        let mut command = Command::new(&program);
        command.arg("--socket").arg(folder.path().join("socket")).args(words);
        command.uid(user).gid(group).output().unwrap()
    };
    let error = |output: &Output| String::from_utf8_lossy(&output.stderr).into_owned();
    let status = run(READER, group, &["status", "--format", "json"]);
    assert!(status.status.success(), "{}", error(&status));
    for words in [&["deny", "--plane", "1"][..], &["allow", "1"], &["reload"]] {
        let refused = error(&run(READER, group, words));
        assert!(refused.contains("user 65534 may only read: orders need root or user 0"), "{refused}");
    }
    let stranger = error(&run(READER, READER, &["status"]));
    assert!(stranger.contains("Permission denied"), "{stranger}");
    assert!(agent.lines().is_empty(), "readers changed nothing");

    assert_eq!(agent.ask(&deny(1)).unwrap()["id"], 1);
    assert_eq!(agent.ask(&Request::Allow { id: 1 }).unwrap()["ended"], 1);
    assert!(agent.ask(&Request::Allow { id: 1 }).unwrap()["error"].is_string());
    assert!(agent.ask(&Request::Reload {}).unwrap()["reloaded"].is_string());
    kill(Pid::from_raw(agent.child.id().cast_signed()), Signal::SIGHUP).unwrap();
    while agent.lines().len() < 10 {
        std::thread::yield_now();
    }
    let lines = agent.lines();
    let results: Vec<&str> = lines.iter().map(|line| line["result"].as_str().unwrap()).collect();
    let done = ["changing", "changed"];
    assert_eq!(results, [done, done, ["changing", "failed"], done, done].concat());
    assert_eq!(lines[0]["details"]["order"]["op"], "deny");
    assert_eq!(lines[0]["details"]["ordered-by"]["uid"], 0);
    assert_eq!(lines[0]["details"]["ordered-by"]["process"], std::process::id());
    assert_eq!(lines[8]["details"]["ordered-by"], "SIGHUP");
    assert_eq!(is_intact(&folder.path().join("audit.jsonl")), 10);
}

/// Without a log new denials are rejected, but denials can be ended.
#[test]
fn a_log_that_cannot_be_written_refuses_denials_and_no_end_of_one() {
    if group().is_none() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let agent = Agent::start(folder.path(), &[]);
    assert_eq!(agent.ask(&deny(1)).unwrap()["id"], 1);
    let log = folder.path().join("audit.jsonl");
    fs::rename(&log, folder.path().join("old")).unwrap();
    symlink("elsewhere", &log).unwrap();
    let refused = agent.ask(&deny(2)).unwrap()["error"].to_string();
    assert!(refused.contains("the audit log cannot be written, so nothing is changed"), "{refused}");
    let ended = agent.ask(&Request::Allow { id: 1 }).unwrap()["error"].to_string();
    assert!(ended.contains("the order was executed, but the audit log"), "{ended}");
    let state = state::load(&folder.path().join("state.json")).unwrap();
    assert!(state.bans.bans.is_empty(), "{state:?}");
}

/// Kills an agent between any two steps of an order. `CLOSC_KILLS=100` tries more.
#[test]
fn no_kill_loses_a_denial_or_breaks_the_log() {
    if group().is_none() {
        return;
    }
    let kills: u64 = std::env::var("CLOSC_KILLS").ok().and_then(|text| text.parse().ok()).unwrap_or(5);
    let folder = tempfile::tempdir().unwrap();
    let number = AtomicU64::new(0);
    let (mut kept, mut answered, mut lines) = (BTreeSet::new(), 0, 0);
    for round in 0..kills {
        let mut agent = Agent::start(folder.path(), &[]);
        let socket = folder.path().join("socket");
        let (known, pending) = std::thread::scope(|scope| {
            let (number, answered, mut known) = (&number, &mut answered, kept.clone());
            let orders = scope.spawn(move || {
                loop {
                    let oldest = known.first().copied().filter(|_| known.len() >= 3);
                    let order = match oldest {
                        Some(id) => Request::Allow { id },
                        None => deny(number.fetch_add(1, Ordering::Relaxed)),
                    };
                    let Ok(answer) = client::ask(&socket, &order) else { return (known, order) };
                    *answered += 1;
                    match (&order, answer["id"].as_u64()) {
                        (Request::Allow { id }, _) => drop(known.remove(id)),
                        (_, id) => known.extend(id),
                    }
                }
            });
            // The moment differs between machines. All conditions hold at any moment.
            std::thread::sleep(Duration::from_micros(2_000 + round * 7_919 % 150_000));
            agent.child.kill().unwrap();
            agent.child.wait().unwrap();
            orders.join().unwrap()
        });
        let state = state::load(&folder.path().join("state.json")).unwrap();
        let now: BTreeSet<u64> = state.bans.bans.iter().filter_map(|ban| ban.id).collect();
        let mut lost = known.difference(&now).copied();
        let ending = if let Request::Allow { id } = pending { Some(id) } else { None };
        assert!(lost.all(|id| Some(id) == ending), "kill {round}: {known:?}, {pending:?}, {now:?}");
        let new = now.difference(&known).count();
        assert!(new <= usize::from(ending.is_none()), "kill {round}: {known:?}, {pending:?}, {now:?}");
        kept = now;
        let log = folder.path().join("audit.jsonl");
        let intact = if log.exists() { is_intact(&log) } else { 0 };
        assert!(
            intact >= lines && intact >= 2 * answered,
            "kill {round}: {intact} lines, {answered} answers"
        );
        lines = intact;
    }
    println!("{kills} kills, {answered} orders answered, {lines} lines");
}
