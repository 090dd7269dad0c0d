//! Switches whose configuration is files, on this machine.
//!
//! In: an operating system and the size of a fabric. Out: two compiled trees, and switches that hold only what is the site's.
//! Invariants: a client takes the place of `ssh`; nothing listens, and nothing is left running.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::{Command, Output};

use closc_skip::skip;

use crate::common::Place;

/// The programs of a switch.
const SWITCH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/carriers/switch.py");

/// The client.
const SSH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/carriers/ssh.sh");

/// A system, as these tests make switches of it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Eos,
    Nvue,
}

impl Kind {
    pub(crate) const ALL: [(&'static str, Kind); 2] = [("eos", Kind::Eos), ("nvue", Kind::Nvue)];

    pub(crate) fn of(word: &str) -> Kind {
        Kind::ALL.into_iter().find(|(known, _)| *known == word).expect("a system").1
    }
}

/// The size of a fabric, and what tells its two sides apart.
pub(crate) struct Shape {
    pub(crate) planes: u8,
    pub(crate) qos: &'static str,
    pub(crate) routing: &'static str,
}

fn fabric(os: &str, shape: &Shape, mtu: u16) -> String {
    let Shape { planes, qos, routing } = shape;
    let (platform, speed, lanes) = match Kind::of(os) {
        Kind::Eos => ("th5-128x400g", 400, 4),
        Kind::Nvue => ("spectrum4-sn5600", 800, 8),
    };
    let (speed, lanes) = (speed * u32::from(*planes), lanes * planes);
    format!(
        "fabric: pod\nplanes: {planes}\nrouting: {routing}\n\
         hosts: {{ groups: 2, per_group: 2, nic: {{ speed: {speed}G, lanes: {lanes} }} }}\n\
         tiers:\n  t0: {{ platform: {platform}, os: {os}, up: 2 }}\n  t1: {{ platform: {platform}, os: {os} }}\n\
         cables:\n  nic-t0: {{ length: 1m, medium: dac }}\n  t0-t1: {{ length: 30m, medium: dr4 }}\n\
         mtu: {{ link: {mtu} }}\nqos: {qos}\n\
         addresses: {{ management: 10.64.0.0/14 }}\nservices: {{ ntp: [10.0.0.1] }}\n"
    )
}

/// A fabric of one plane.
pub(crate) const SMALL: Shape = Shape { planes: 1, qos: "lossless", routing: "ecmp-static" };

/// Switches of one fabric. Tree `a` and tree `b` differ on every one of them.
pub(crate) struct Fleet {
    pub(crate) place: Place,
    pub(crate) os: &'static str,
    pub(crate) kind: Kind,
    pub(crate) names: Vec<String>,
}

impl Fleet {
    /// Makes the switches, which hold only what is the site's, or says why there can be none.
    pub(crate) fn new(os: &'static str, shape: &Shape) -> Option<Self> {
        if Command::new("python3").arg("-V").output().is_err() {
            skip("switches of tests need python3");
            return None;
        }
        let kind = Kind::of(os);
        let place = Place::new();
        for (side, mtu) in [("a", 9214), ("b", 9100)] {
            place.write(&format!("{side}.yaml"), fabric(os, shape, mtu));
            place.ends(0, &["compile", "--quiet", &format!("{side}.yaml"), "--out", side]);
        }
        let mut names: Vec<String> = fs::read_dir(place.path("a/switches"))
            .expect("a folder")
            .map(|entry| entry.expect("it can be read").file_name().into_string().expect("text"))
            .collect();
        names.sort();
        let fleet = Fleet { place, os, kind, names };
        fleet.programs();
        fleet.names.iter().for_each(|name| fleet.switch(name));
        Some(fleet)
    }

    pub(crate) fn put(&self, path: &str, text: &str, mode: u32) {
        self.place.write(path, text);
        fs::set_permissions(self.place.path(path), fs::Permissions::from_mode(mode)).expect("it is ours");
    }

    fn programs(&self) {
        for folder in ["client", "bin", "fleet"] {
            fs::create_dir_all(self.place.path(folder)).expect("a folder");
        }
        self.put("client/ssh", &fs::read_to_string(SSH).expect("it is there"), 0o755);
        for name in ["eos", "nv", "systemctl", "systemd-run"] {
            let text = format!("#!/bin/sh\nexec python3 -IS {SWITCH} {name} \"$@\"\n");
            self.put(&format!("bin/{name}"), &text, 0o755);
        }
        let rules = self.names.iter().map(|name| {
            let plane = name[1..].split('-').next().expect("names begin with the plane");
            let folder = self.place.text(&format!("fleet/{name}"));
            let folders = match self.kind {
                Kind::Eos => String::new(),
                Kind::Nvue => format!(", state: {folder}/state, etc: {folder}/etc"),
            };
            format!("- {{ devices: {name}, address: '{{name}}.mgmt', plane: {plane}{folders} }}\n")
        });
        self.place.write("inventory.yaml", format!("ssh:\n{}", rules.collect::<String>()));
    }

    pub(crate) fn at(&self, switch: &str, file: &str) -> PathBuf {
        self.place.path(&format!("fleet/{switch}/{file}"))
    }

    pub(crate) fn read(&self, switch: &str, file: &str) -> String {
        fs::read_to_string(self.at(switch, file)).unwrap_or_default()
    }

    /// Makes one switch.
    fn switch(&self, name: &str) {
        for folder in ["state", "etc", "flash"] {
            fs::create_dir_all(self.at(name, folder)).expect("a folder");
        }
        let file = |file: &str| format!("fleet/{name}/{file}");
        match self.kind {
            Kind::Eos => {
                self.put(&file("eos"), "", 0o644);
                let text = "aaa authorization exec default local\nusername admin privilege 15 secret sha512 $6$x\n\
                            management ssh\n   idle-timeout 5\nip access-list COPP\n   10 permit ip any any\nno aaa root\n\
                            interface Management1\n   lldp transmit\n";
                self.put(&file("running"), text, 0o644);
                self.put(&file("startup"), text, 0o644);
            }
            Kind::Nvue => {
                let text = r#"{"interface": {"eth0": {"ip": {"address": {"dhcp": {}}, "vrf": "mgmt"}}},
                    "system": {"aaa": {"user": {"cumulus": {"role": "system-admin"}}}, "control-plane": {"acl": {"A": {"inbound": {}}}}},
                    "acl": {"A": {"type": "ipv4"}}, "vrf": {"mgmt": {"loopback": {}}}}"#;
                self.put(&file("applied"), text, 0o644);
            }
        }
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = self.place.command(args);
        let path = format!("{}:{}", self.place.text("client"), std::env::var("PATH").unwrap_or_default());
        command.env("PATH", path).env("FLEET", self.place.text("fleet")).env("FAKES", self.place.text("bin"));
        command
    }

    pub(crate) fn ends(&self, code: i32, args: &[&str]) -> String {
        let args = [args, &["--inventory", "inventory.yaml"]].concat();
        let Output { status, stdout, stderr } = self.command(&args).output().expect("closc runs");
        let (out, err) = (String::from_utf8_lossy(&stdout), String::from_utf8_lossy(&stderr));
        assert_eq!(status.code(), Some(code), "{} {args:?}\n{out}\n{err}", self.os);
        format!("{out}{err}")
    }

    /// Runs a program of a switch.
    pub(crate) fn on(&self, name: &str, words: &[&str]) {
        let mut command = Command::new("python3");
        command.args(["-IS", SWITCH]).args(words).env("SWITCH", self.at(name, ""));
        let path = format!("{}:{}", self.place.text("bin"), std::env::var("PATH").unwrap_or_default());
        let output = command.env("PATH", path).output().expect("python3 is there");
        assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    }

    /// Configuration of the site.
    pub(crate) fn assert_site(&self, name: &str) {
        match self.kind {
            Kind::Eos => {
                let running = self.read(name, "running");
                for line in [
                    "username admin",
                    "   idle-timeout 5",
                    "   10 permit ip any any",
                    "no aaa root",
                    "   lldp transmit",
                ] {
                    assert!(running.contains(line), "{line}: {running}");
                }
                assert_eq!(running, self.read(name, "startup"), "it is saved");
            }
            Kind::Nvue => {
                let applied = self.read(name, "applied");
                for word in ["eth0", "cumulus", "control-plane", "mgmt"] {
                    assert!(applied.contains(word), "{word}: {applied}");
                }
            }
        }
        assert!(!self.at(name, "timer").exists() && !self.at(name, "state/pending").exists(), "{name} waits");
    }

    /// Everything that a switch holds, to compare two moments.
    pub(crate) fn state(&self, name: &str) -> String {
        match self.kind {
            Kind::Eos => self.read(name, "running") + &self.read(name, "startup"),
            Kind::Nvue => self.read(name, "applied"),
        }
    }
}
