//! The shipped unit of an agent, run by systemd in separate namespaces. Tests its user, the memory limit, floods of
//! clients, an audit log that is locked or rotated, and kills and stops of the process.

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{Ipv6Addr, TcpStream};
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::Duration;

use closc_audit::Chain;
use closc_nic::agent::Ban;
use closc_nic::api::Request;
use closc_nic::io::client;
use closc_tests::units::{Stage, Units};
use nix::sched::{CloneFlags, setns};
use serde_json::Value;

use crate::nic_common::{nic, table};

const UNIT: &str = "closc-nic@nic0.service";
/// Address for scrapes, inside.
const METRICS: &str = "127.0.0.1:9750";
/// Number of bytes of requests in each flood.
const FLOOD: usize = 8 << 20;

/// The unit of an agent, started in namespaces.
struct Site(Units);

impl Site {
    fn start() -> Result<Site, String> {
        let stage = Stage::new()?;
        stage.copy(env!("CARGO_BIN_EXE_closc-nic"), "usr/bin/closc-nic");
        let unit = include_str!("../../systemd/closc-nic@.service");
        stage.write("usr/lib/systemd/system/closc-nic@.service", unit, 0o644);
        // Without a journal the output would be lost.
        let output = "[Service]\nStandardOutput=append:/var/log/out\nStandardError=append:/var/log/out\n";
        stage.write("etc/systemd/system/closc-nic@.service.d/output.conf", output, 0o644);
        stage.write("etc/passwd", "root:x:0:0::/root:/bin/sh\nclosc-nic:x:900:900::/:/bin/false\n", 0o644);
        stage.write("etc/group", "root:x:0:\nclosc-nic:x:900:\n", 0o644);
        stage.write("etc/closc/table.bin", table(0), 0o644);
        stage.write("etc/closc/cookie", "0123456789abcdef".repeat(4), 0o600);
        let settings = format!(
            "TABLE=/etc/closc/table.bin\nNIC={}\nMETRICS={METRICS}\nCOOKIE=/etc/closc/cookie\n\
             AUDIT_LOG=/var/log/closc-nic/nic0.jsonl\n",
            Ipv6Addr::from(nic(0))
        );
        stage.write("etc/closc/nic0.env", settings, 0o644);
        let site = Site(stage.boot()?);
        let address = Ipv6Addr::from(nic(0)).to_string();
        let added = site.0.command("ip").args(["addr", "add", &address, "dev", "lo"]).status();
        assert!(added.is_ok_and(|status| status.success()), "the address of the NIC");
        site.0.systemctl(&["start", UNIT]).unwrap_or_else(|why| panic!("{why}\n{}", site.unit_log()));
        Ok(site)
    }

    fn at(&self, path: &str) -> PathBuf {
        self.0.root().join(path)
    }

    /// Returns the output of the agent.
    fn unit_log(&self) -> String {
        fs::read_to_string(self.at("var/log/out")).unwrap_or_default()
    }

    fn ask(&self, request: &Request) -> Value {
        client::ask(&self.at("run/closc/nic0.sock"), request)
            .unwrap_or_else(|why| panic!("{why}\n{}", self.unit_log()))
    }

    fn denials(&self) -> Vec<u64> {
        let answer = self.ask(&Request::Denials {});
        let list = answer["denials"].as_array().unwrap_or_else(|| panic!("{answer}"));
        list.iter().filter_map(|ban| ban["id"].as_u64()).collect()
    }

    /// Returns the index of the TUN device, and the rule that points to it.
    fn device(&self) -> [String; 2] {
        [&["-o", "link", "show", "nic0-closc"][..], &["-6", "rule", "show", "pref", "10"]].map(|args| {
            let shown = self.0.command("ip").args(args).output().unwrap();
            let text = String::from_utf8_lossy(&shown.stdout).into_owned();
            // Omit the rest, which is the state of the link.
            text.split(": <").next().unwrap_or_default().trim().to_owned()
        })
    }

    /// Waits until systemd has restarted the agent this many times.
    fn wait_for_restarts(&self, times: &str) {
        while self.0.property(UNIT, "NRestarts") != times || self.0.property(UNIT, "ActiveState") != "active"
        {
            assert_ne!(self.0.property(UNIT, "ActiveState"), "failed", "{}", self.unit_log());
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

fn deny(uplink: u16) -> Request {
    let ban =
        Ban { plane: Some(1), uplinks: Some((uplink, uplink)), reason: "drain".into(), ..Ban::default() };
    Request::Deny { ban }
}

/// Sends requests without reading answers, until enough are sent, or the connection is full or closed.
fn flood(mut stream: impl std::io::Write, request: &[u8]) {
    let requests = request.repeat(1000);
    let mut sent = 0;
    while sent < FLOOD {
        match stream.write(&requests) {
            Ok(n) if n > 0 => sent += n,
            Ok(_) | Err(_) => return,
        }
    }
}

/// Floods the port for scrapes and the socket with requests whose answers are not read.
fn attack(site: &Site) {
    let network = File::open(site.0.network()).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..12 {
            let network = network.try_clone().unwrap();
            scope.spawn(move || {
                setns(network, CloneFlags::CLONE_NEWNET).unwrap();
                let Ok(stream) = TcpStream::connect(METRICS) else { return };
                stream.set_write_timeout(Some(Duration::from_millis(500))).unwrap();
                flood(stream, b"GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n");
            });
            scope.spawn(|| {
                let Ok(stream) = UnixStream::connect(site.at("run/closc/nic0.sock")) else { return };
                stream.set_write_timeout(Some(Duration::from_millis(500))).unwrap();
                flood(stream, b"{\"op\":\"metrics\"}\n");
            });
        }
    });
}

/// Formerly the unit was only analysed, and never run.
#[test]
fn the_unit_of_an_agent_holds_under_attack() {
    if fs::metadata("/proc/self").map_or(1, |own| own.uid()) != 0 {
        closc_skip::skip("systemd in namespaces needs root");
        return;
    }
    let site = match Site::start() {
        Ok(site) => site,
        Err(reason) => {
            closc_skip::skip(format_args!("systemd does not boot in namespaces here: {reason}"));
            return;
        }
    };
    let process = site.0.property(UNIT, "MainPID");
    let owner = fs::metadata(site.at("proc").join(&process)).unwrap().uid();
    assert_eq!(owner, 900, "the agent's own user");
    assert_eq!(site.ask(&deny(0))["id"], 1);

    attack(&site);
    let (peak, limit) = site.0.memory(UNIT);
    println!("peak {} of {} MiB", peak >> 20, limit >> 20);
    assert!(peak < limit && limit == 64 << 20, "{peak} of {limit}");
    assert_eq!((site.0.property(UNIT, "NRestarts").as_str(), site.denials()), ("0", vec![1]));

    // Another process holds the log. Queries are answered, and a denial waits.
    let log = site.at("var/log/closc-nic/nic0.jsonl");
    let other = File::open(&log).unwrap();
    other.lock().unwrap();
    let mut waits = UnixStream::connect(site.at("run/closc/nic0.sock")).unwrap();
    waits.write_all((serde_json::to_string(&deny(1)).unwrap() + "\n").as_bytes()).unwrap();
    assert_eq!(site.denials(), [1]);
    drop(other);
    let mut answer = String::new();
    BufReader::new(&waits).read_line(&mut answer).unwrap();
    assert!(answer.contains("\"id\":2") || answer.contains("locked"), "{answer}");
    let known = site.denials();

    // After a rotation, a kill and a stop of the process, systemd starts the agent again with its denials.
    fs::rename(&log, site.at("var/log/closc-nic/nic0.jsonl.1")).unwrap();
    assert!(site.ask(&Request::Allow { id: 1 })["ended"].is_u64());
    let known: Vec<u64> = known.into_iter().filter(|id| *id != 1).collect();
    // systemd keeps the TUN device, which queues packets in the meantime.
    let device = site.device();
    assert!(device.iter().all(|text| !text.is_empty()), "{device:?}");
    for (times, signal) in [("1", "KILL"), ("2", "STOP")] {
        site.0.systemctl(&["kill", "--signal", signal, UNIT]).unwrap();
        site.wait_for_restarts(times);
        assert_eq!((site.denials(), site.device()), (known.clone(), device.clone()), "after SIG{signal}");
    }
    site.0.systemctl(&["restart", UNIT]).unwrap();
    assert_eq!((site.denials(), site.device()), (known, device), "after a restart by an operator");
    let mut chain = Chain::new();
    for name in ["nic0.jsonl.1", "nic0.jsonl"] {
        let file = File::open(site.at("var/log/closc-nic").join(name)).unwrap();
        chain.follow(BufReader::new(file)).unwrap();
    }
    assert!(chain.lines >= 6, "{chain:?}");
    site.0.systemctl(&["stop", UNIT]).unwrap();
    assert_eq!(site.0.property(UNIT, "Result"), "success", "{}", site.unit_log());
    assert_eq!(site.device()[0], "", "a stop ends the device");
}
