//! The shipped unit of `closc watch`, run by systemd in separate namespaces. Tests credentials, the dynamic user, the
//! memory limit, a rotated audit log and a hostile switch.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::Write as _;
use std::net::TcpListener;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use closc_runtime::testing::{Authority, Validity};
use closc_tests::units::{Stage, Units};
use nix::sched::{CloneFlags, setns};

use crate::common::{self, Place};

const UNIT: &str = "closc-watch.service";
/// Address of the switch inside the namespace.
const SWITCH: &str = "127.0.0.1:9559";
/// The other switches of the fabric, all of which are hostile.
const HOSTILE: [&str; 7] =
    ["p0-t0-002", "p0-t1-001", "p0-t1-002", "p1-t0-001", "p1-t0-002", "p1-t1-001", "p1-t1-002"];
/// Memory that the unit may use under attack.
const MEMORY_MAX: u64 = 64 << 20;

/// The unit of a switch inside the namespace. It has no P4 program until a controller sends one.
const SWITCH_UNIT: &str = "[Service]\nExecStart=/usr/bin/closc switch --no-p4 --device-id 1 -- \
    --grpc-server-addr 127.0.0.1:9559 --grpc-server-ssl --grpc-server-cert /etc/switch/switch.pem \
    --grpc-server-key /etc/switch/switch.key --grpc-server-with-client-auth --grpc-server-cacert /etc/switch/ca.pem\n";

/// Answers every connection inside the namespace with endless bytes; returns the port, and the number of bytes.
fn hostile(units: &Units) -> (u16, Arc<AtomicU64>) {
    let network = File::open(units.network()).expect("it runs");
    let sent = Arc::new(AtomicU64::new(0));
    let (ports, port) = mpsc::channel();
    let count = Arc::clone(&sent);
    std::thread::spawn(move || {
        setns(network, CloneFlags::CLONE_NEWNET).expect("the test is root");
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        ports.send(listener.local_addr().expect("it listens").port()).expect("the test waits");
        // Repeated SETTINGS frames of HTTP/2, then bytes that do not form a frame.
        let bytes = [0, 0, 0, 4, 0, 0, 0, 0, 0].repeat(4000);
        for mut stream in listener.incoming().flatten() {
            let (count, bytes) = (Arc::clone(&count), bytes.clone());
            std::thread::spawn(move || {
                while stream.write_all(&bytes).is_ok() {
                    count.fetch_add(bytes.len() as u64, Ordering::Relaxed);
                }
            });
        }
    });
    (port.recv().expect("it listens"), sent)
}

/// Waits for a condition, up to a time limit. The unit must run in the meantime.
fn until(units: &Units, what: &str, mut holds: impl FnMut() -> bool) {
    while !holds() {
        let state = units.property(UNIT, "ActiveState");
        assert!(state == "active", "{what}: the unit is {state}\n{}", unit_output(units));
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Returns the output of the unit.
fn unit_output(units: &Units) -> String {
    fs::read_to_string(units.root().join("var/log/watch.out")).unwrap_or_default()
}

fn stage(place: &Place) -> Result<Stage, String> {
    let stage = Stage::new()?;
    let root = common::root();
    stage.copy(env!("CARGO_BIN_EXE_closc"), "usr/bin/closc");
    stage.copy(root.join("p4/deploy").join(UNIT), &format!("usr/lib/systemd/system/{UNIT}"));
    stage.write("usr/lib/systemd/system/switch.service", SWITCH_UNIT, 0o644);
    // Without a journal, the output would be lost.
    let output =
        "[Service]\nStandardOutput=append:/var/log/watch.out\nStandardError=append:/var/log/watch.out\n";
    stage.write(&format!("etc/systemd/system/{UNIT}.d/output.conf"), output, 0o644);
    stage.copy(place.text("out"), "etc/closc/tree");
    let authority = Authority::new("fabric");
    let [switch, client] = ["127.0.0.1", "watch"].map(|name| authority.issue(name, Validity::Now));
    for folder in ["etc/closc", "etc/switch"] {
        stage.write(&format!("{folder}/ca.pem"), authority.certificate(), 0o644);
    }
    stage.write("etc/switch/switch.pem", &switch.certificate, 0o644);
    stage.write("etc/switch/switch.key", &switch.key, 0o600);
    stage.write("etc/closc/client.pem", &client.certificate, 0o600);
    stage.write("etc/closc/client.key", &client.key, 0o600);
    Ok(stage)
}

/// An inventory with one switch, and with others at a port that answers with endless bytes.
fn inventory(port: u16) -> String {
    let mut inventory = format!(
        "devices:\n  p0-t0-001: {{ endpoint: \"{SWITCH}\", device_id: 1, plane: 0, \
         tls: {{ ca: ca.pem, cert: client.pem, key: client.key }} }}\n"
    );
    for (at, name) in HOSTILE.iter().enumerate() {
        let (id, plane) = (at + 2, &name[1..2]);
        let endpoint = format!("127.0.0.1:{port}");
        writeln!(inventory, "  {name}: {{ endpoint: \"{endpoint}\", device_id: {id}, plane: {plane} }}")
            .expect("text");
    }
    inventory
}

/// The process has a user of its own, no capabilities, and a filter of system calls.
fn is_confined(units: &Units) {
    let process = units.property(UNIT, "MainPID");
    let status = fs::read_to_string(units.root().join("proc").join(&process).join("status"));
    let status = status.expect("it runs");
    let field = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default();
        line.trim().to_owned()
    };
    assert!(!field("Uid:").starts_with('0'), "a dynamic user: {status}");
    assert_eq!((field("CapEff:").as_str(), field("Seccomp:").as_str()), ("0000000000000000", "2"));
}

/// Regression: the unit had only been analysed, never run, and its user could not read the key.
#[test]
fn the_unit_of_watch_repairs_over_tls_under_attack() {
    if !nix::unistd::geteuid().is_root() {
        closc_skip::skip("systemd in namespaces needs root");
        return;
    }
    let place = Place::new();
    place.ends(0, &["compile", "topologies/lab/two-planes-p4.yaml", "--out", "out", "--quiet"]);
    let units = match stage(&place).and_then(Stage::boot) {
        Ok(units) => units,
        Err(reason) => {
            closc_skip::skip(format_args!("systemd does not boot in namespaces here: {reason}"));
            return;
        }
    };
    let (port, sent) = hostile(&units);
    fs::write(units.root().join("etc/closc/inventory.yaml"), inventory(port)).expect("the test is root");
    units.systemctl(&["start", "switch.service"]).expect("the switch starts");
    units.systemctl(&["start", UNIT]).unwrap_or_else(|why| panic!("{why}\n{}", unit_output(&units)));

    let logs: PathBuf = units.root().join("var/log/private/closc");
    let repaired = |name: &str| {
        let text = fs::read_to_string(logs.join(name)).unwrap_or_default();
        text.lines().any(|line| line.contains(r#""result":"repaired""#) && line.contains("p0-t0-001"))
    };
    until(&units, "the switch is repaired", || repaired("audit.jsonl"));
    // The log is rotated, and then the switch loses its state.
    fs::rename(logs.join("audit.jsonl"), logs.join("audit.jsonl.1")).expect("the test is root");
    units.systemctl(&["restart", "switch.service"]).expect("the switch starts");
    until(&units, "the restarted switch is repaired", || repaired("audit.jsonl"));
    until(&units, "the hostile switches are asked", || sent.load(Ordering::Relaxed) > 1 << 20);

    let verified = units
        .command("closc")
        .args([
            "audit",
            "verify",
            "/var/log/private/closc/audit.jsonl.1",
            "/var/log/private/closc/audit.jsonl",
        ])
        .output()
        .expect("nsenter runs");
    assert!(verified.status.success(), "{}", String::from_utf8_lossy(&verified.stderr));
    is_confined(&units);
    let (peak, limit) = units.memory(UNIT);
    println!(
        "{} bytes from hostile switches; peak {} of {} MiB",
        sent.load(Ordering::Relaxed),
        peak >> 20,
        limit >> 20
    );
    assert!(peak <= MEMORY_MAX && limit == 1 << 30, "{peak} of {limit}");
    assert_eq!(units.property(UNIT, "NRestarts"), "0");
    units.systemctl(&["stop", UNIT]).expect("it stops");
    assert_eq!(units.property(UNIT, "Result"), "success", "{}", unit_output(&units));
}
