//! Denials saved by an earlier process: an agent rejects those of another fabric or another NIC. It checks them before
//! it opens anything, so the tests need no privileges.

use std::net::Ipv6Addr;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::os::unix::net::UnixDatagram;
use std::path::Path;
use std::process::Command;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::nic_common::{nic, table, table_of};

/// Returns the message of a failed `closc-nic run`.
fn refusal_message(folder: &Path, table: &[u8], state: &str, more: &[&str]) -> String {
    let [table_file, state_file] = ["table.bin", "denials.json"].map(|name| folder.join(name));
    std::fs::write(&table_file, table).unwrap();
    std::fs::write(&state_file, state).unwrap();
    let done = Command::new(env!("CARGO_BIN_EXE_closc-nic"))
        .arg("--socket")
        .arg(folder.join("agent.sock"))
        .args(["run", "--tun", "", "--nic", &Ipv6Addr::from(nic(0)).to_string(), "--table"])
        .arg(table_file)
        .arg("--state")
        .arg(&state_file)
        .args(more)
        .output()
        .unwrap();
    assert!(!done.status.success());
    assert_eq!(std::fs::read_to_string(state_file).unwrap(), state, "what is not its own stays as it is");
    String::from_utf8(done.stderr).unwrap()
}

#[test]
fn denials_of_another_fabric_are_refused_over_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let of = |fabric: &str, nic: &str| {
        format!(
            r#"{{"schema": "closc-nic-state/1", "fabric": "{fabric}", "nic": "{nic}", "next": 3, "bans": [{{"id": 2, "plane": 1, "reason": "drain"}}]}}"#
        )
    };
    let own = Ipv6Addr::from(nic(0)).to_string();
    let says = |table: &[u8], state: &str, more: &[&str]| refusal_message(folder.path(), table, state, more);
    // The fabric is named by the table, or on the command line.
    for more in [&[][..], &["--fabric", "pair"]] {
        let said = says(&table(0), &of("yard", &own), more);
        assert!(said.contains("has 1 denials of fabric `yard`, but this is `pair`: use the table"), "{said}");
    }
    // Neither names it, but the previous process saved it.
    let said = says(&table_of(0, ""), &of("yard", &own), &[]);
    assert!(said.contains("the table does not name fabric `yard`"), "{said}");
    let said = says(&table_of(0, ""), &of("yard", &own), &["--fabric", "pair"]);
    assert!(said.contains("does not name fabric `pair`"), "{said}");
    let said = says(&table(0), &of("pair", "fd00:c105:1:9::1"), &[]);
    assert!(
        said.contains("has 1 denials of the NIC fd00:c105:1:9::1, but this is fd00:c105:1:1::1"),
        "{said}"
    );
    let said = says(&table(0), &of("pair", &own).replace("state/1", "state/2"), &[]);
    assert!(said.contains("its schema is `closc-nic-state/2`; expected"), "{said}");
}

/// An existing folder keeps its owner, regardless of the state file in it. Otherwise `--state /run/x` would change the
/// owner of `/run`.
#[test]
fn no_folder_is_given_to_a_user_but_one_that_the_agent_made() {
    if std::fs::metadata("/proc/self").unwrap().uid() != 0 || !can_open_packets() {
        closc_skip::skip("not root with a packet socket");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let shared = folder.path().join("shared");
    std::fs::create_dir(&shared).unwrap();
    let table_file = folder.path().join("table.bin");
    std::fs::write(&table_file, table(1)).unwrap();
    let run = |state: &Path| {
        Command::new(env!("CARGO_BIN_EXE_closc-nic"))
            .arg("--socket")
            .arg(folder.path().join("agent.sock"))
            .args(["run", "--tied", "--tun", "", "--nic", &Ipv6Addr::from(nic(1)).to_string(), "--table"])
            .arg(&table_file)
            .arg("--state")
            .arg(state)
            .args(["--user", "nobody"])
            .stdin(std::process::Stdio::null())
            .output()
            .unwrap()
    };
    let done = run(&shared.join("x"));
    let said = String::from_utf8(done.stderr).unwrap();
    assert!(!done.status.success() && said.contains("user `nobody` must own its folder; help: "), "{said}");
    assert_eq!(std::fs::metadata(&shared).unwrap().uid(), 0, "the folder was given away");
    let own = folder.path().join("own");
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
    let done = run(&own.join("x"));
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let made = std::fs::metadata(&own).unwrap();
    assert!(made.uid() != 0 && made.mode() & 0o777 == 0o700, "{made:?}");
}

/// The service manager ends an agent whose loop hangs, because it no longer receives messages from it.
#[test]
fn the_service_manager_receives_messages_while_the_loop_turns() {
    if !can_open_packets() {
        closc_skip::skip("no packet socket");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let (table_file, notify) = (folder.path().join("table.bin"), folder.path().join("notify"));
    std::fs::write(&table_file, table(0)).unwrap();
    // The second NIC of the group, because other tests use the first ones.
    let own = Ipv6Addr::from(u128::from_be_bytes(nic(0)) + 1).to_string();
    let inbox = UnixDatagram::bind(&notify).unwrap();
    let mut agent = Command::new(env!("CARGO_BIN_EXE_closc-nic"))
        .arg("--socket")
        .arg(folder.path().join("agent.sock"))
        .args(["run", "--tied", "--tun", "", "--nic", &own, "--table"])
        .arg(&table_file)
        .env("NOTIFY_SOCKET", &notify)
        .env("WATCHDOG_USEC", "100000")
        .stdin(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    // An agent that ended sends no more messages, so the test must not block.
    inbox.set_read_timeout(Some(std::time::Duration::from_millis(100))).unwrap();
    let word = |agent: &mut std::process::Child| loop {
        let mut bytes = [0; 64];
        if let Ok(n) = inbox.recv(&mut bytes) {
            let text = String::from_utf8(bytes[..n].to_vec()).unwrap();
            if text.contains("FDSTORE") {
                continue;
            }
            return text;
        }
        assert_eq!(agent.try_wait().unwrap(), None, "the agent ended");
    };
    for wanted in ["READY=1", "WATCHDOG=1", "WATCHDOG=1"] {
        assert_eq!(word(&mut agent), wanted);
    }
    let pid = Pid::from_raw(agent.id().cast_signed());
    kill(pid, Signal::SIGSTOP).unwrap();
    let stat = format!("/proc/{pid}/stat");
    while !std::fs::read_to_string(&stat).unwrap().contains(") T ") {
        std::thread::yield_now();
    }
    inbox.set_nonblocking(true).unwrap();
    while inbox.recv(&mut [0; 64]).is_ok() {}
    std::thread::sleep(std::time::Duration::from_millis(300));
    assert!(inbox.recv(&mut [0; 64]).is_err(), "a stopped agent sends nothing");
    inbox.set_nonblocking(false).unwrap();
    kill(pid, Signal::SIGCONT).unwrap();
    assert_eq!(word(&mut agent), "WATCHDOG=1");
    drop(agent.stdin.take());
    assert!(agent.wait().unwrap().success());
}

fn can_open_packets() -> bool {
    // Bit 13 of the effective capabilities is `CAP_NET_RAW`.
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let caps = status.lines().find_map(|line| line.strip_prefix("CapEff:")).unwrap_or("0").trim();
    u64::from_str_radix(caps, 16).unwrap_or(0) >> 13 & 1 == 1
}
