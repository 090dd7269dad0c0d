//! Switches whose configuration is files, on this machine.
//!
//! In: an operating system and the size of a fabric. Out: two compiled trees, and switches that hold only what is the site's.
//! Invariants: a client takes the place of `ssh`; ports and routes of FRRouting and Linux are those of a kernel, in a network
//! namespace for each switch.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::{Command, Output};

use closc_skip::skip;

use crate::common::{self, Place};

/// The programs of a switch.
const SWITCH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/carriers/switch.py");

/// The client.
const SSH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/carriers/ssh.sh");

/// A system, as these tests make switches of it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Eos,
    Nvue,
    /// Ports and routes are those of a kernel.
    Kernel {
        has_frr: bool,
    },
}

impl Kind {
    pub(crate) const ALL: [(&'static str, Kind); 4] = [
        ("eos", Kind::Eos),
        ("nvue", Kind::Nvue),
        ("frr", Kind::Kernel { has_frr: true }),
        ("linux", Kind::Kernel { has_frr: false }),
    ];

    pub(crate) fn of(word: &str) -> Kind {
        Kind::ALL.into_iter().find(|(known, _)| *known == word).expect("the system is known").1
    }
}

/// The size of a fabric, and what tells its two sides apart.
pub(crate) struct Shape {
    pub(crate) groups: u8,
    pub(crate) per_group: u8,
    pub(crate) planes: u8,
    pub(crate) qos: &'static str,
    pub(crate) routing: &'static str,
}

pub(crate) fn fabric(os: &str, shape: &Shape, mtu: u16) -> String {
    let Shape { groups, per_group, planes, qos, routing } = shape;
    let (platform, speed, lanes, medium) = match Kind::of(os) {
        Kind::Eos => ("th5-128x400g", 400, 4, "dac"),
        Kind::Nvue => ("spectrum4-sn5600", 800, 8, "dac"),
        Kind::Kernel { .. } => ("linux", 100, 1, "virtual"),
    };
    let (long, servers) = if medium == "virtual" {
        ("{ length: 1m, medium: virtual }", "")
    } else {
        (
            "{ length: 30m, medium: dr4 }",
            "addresses: { management: 10.64.0.0/14 }\nservices: { ntp: [10.0.0.1] }\n",
        )
    };
    let (speed, lanes) = (speed * u32::from(*planes), lanes * planes);
    format!(
        "fabric: pod\nplanes: {planes}\nrouting: {routing}\n\
         hosts: {{ groups: {groups}, per_group: {per_group}, nic: {{ speed: {speed}G, lanes: {lanes} }} }}\n\
         tiers:\n  t0: {{ platform: {platform}, os: {os}, up: 2 }}\n  t1: {{ platform: {platform}, os: {os} }}\n\
         cables:\n  nic-t0: {{ length: 1m, medium: {medium} }}\n  t0-t1: {long}\nmtu: {{ link: {mtu} }}\nqos: {qos}\n{servers}"
    )
}

/// A fabric of one plane.
pub(crate) fn small(kind: Kind) -> Shape {
    Shape { groups: 2, per_group: 2, planes: 1, qos: profile(kind), routing: "ecmp-static" }
}

/// A QoS profile that a system takes.
pub(crate) fn profile(kind: Kind) -> &'static str {
    match kind {
        Kind::Eos | Kind::Nvue => "lossless",
        Kind::Kernel { .. } => "lossy-trim",
    }
}

/// Switches of one fabric. Tree `a` and tree `b` differ on every one of them.
pub(crate) struct Fleet {
    pub(crate) place: Place,
    pub(crate) os: &'static str,
    pub(crate) kind: Kind,
    pub(crate) names: Vec<String>,
    namespaces: Vec<String>,
}

/// Where daemons of FRRouting put their sockets.
pub(crate) const RUN: &str = "/var/run/frr";

impl Drop for Fleet {
    fn drop(&mut self) {
        for namespace in &self.namespaces {
            let folder = format!("{RUN}/{namespace}");
            for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
                let path = entry.path();
                if path.extension().is_some_and(|end| end == "pid") {
                    let pid = fs::read_to_string(&path).unwrap_or_default();
                    drop(Command::new("kill").arg(pid.trim()).output());
                }
            }
            drop(fs::remove_dir_all(&folder));
            drop(Command::new("ip").args(["netns", "del", namespace]).output());
        }
    }
}

impl Fleet {
    /// Makes the switches, which hold only what is the site's, or says why there can be none.
    pub(crate) fn new(os: &'static str, shape: &Shape) -> Option<Self> {
        Fleet::of_trees(os, shape, &[("a", 9214), ("b", 9100)])
    }

    /// The same, with trees of other names and MTUs.
    pub(crate) fn of_trees(os: &'static str, shape: &Shape, trees: &[(&str, u16)]) -> Option<Self> {
        if Command::new("python3").arg("-V").output().is_err() {
            skip("switches of tests need python3");
            return None;
        }
        let kind = Kind::of(os);
        let place = Place::new();
        for (side, mtu) in trees {
            place.write(&format!("{side}.yaml"), fabric(os, shape, *mtu));
            place.ends(0, &["compile", "--quiet", &format!("{side}.yaml"), "--out", *side]);
        }
        let mut names: Vec<String> = fs::read_dir(place.path("a/switches"))
            .expect("a folder")
            .map(|entry| entry.expect("it can be read").file_name().into_string().expect("text"))
            .collect();
        names.sort();
        let mut fleet = Fleet { place, os, kind, names, namespaces: Vec::new() };
        fleet.programs();
        for name in fleet.names.clone() {
            if !fleet.switch(&name) {
                skip(format_args!("ports of `{os}` need root and network namespaces"));
                return None;
            }
        }
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
        let mut programs = vec!["eos", "nv", "vtysh", "frr-reload.py", "systemctl", "systemd-run", "expire"];
        programs.push("tc");
        for name in programs {
            let text = format!("#!/bin/sh\nexec python3 -IS {SWITCH} {name} \"$@\"\n");
            self.put(&format!("bin/{name}"), &text, 0o755);
        }
        let rules = self.names.iter().map(|name| {
            let plane = name[1..].split('-').next().expect("names begin with the plane");
            let folder = self.place.text(&format!("fleet/{name}"));
            let folders = match self.kind {
                Kind::Eos => String::new(),
                Kind::Nvue | Kind::Kernel { .. } => format!(", state: {folder}/state, etc: {folder}/etc"),
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

    /// Makes one switch; tells whether this machine can have it.
    fn switch(&mut self, name: &str) -> bool {
        for folder in ["state", "etc/frr", "flash"] {
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
            Kind::Kernel { has_frr } => {
                if has_frr {
                    self.put(
                        &file("frr"),
                        "frr version 10.5.4\nlog file /var/log/frr.log\nip route 0.0.0.0/0 192.0.2.1\n",
                        0o644,
                    );
                }
                return self.kernel(name);
            }
        }
        true
    }

    /// Makes a namespace with the ports of a switch, and one of the site's.
    fn kernel(&mut self, name: &str) -> bool {
        let namespace = common::fabric_name("carried");
        let ip = |words: &str| {
            Command::new("ip").args(words.split(' ')).output().is_ok_and(|done| done.status.success())
        };
        if !ip(&format!("netns add {namespace}")) {
            return false;
        }
        self.namespaces.push(namespace.clone());
        self.put(&format!("fleet/{name}/namespace"), &namespace, 0o644);
        let batch = self.place.read(&format!("a/switches/{name}/ip.batch"));
        let ports: BTreeSet<&str> = batch
            .lines()
            .filter_map(|line| line.strip_prefix("link set dev ")?.split(' ').next())
            .filter(|port| !["lo", "sr0"].contains(port))
            .collect();
        let made = ports
            .iter()
            .all(|port| ip(&format!("-n {namespace} link add {port} type veth peer name x{port}")));
        made && ip(&format!("-n {namespace} link add mgmt type veth peer name xmgmt"))
            && ip(&format!("-n {namespace} link set mgmt up"))
            && ip(&format!("-n {namespace} address add 2001:db8:9::1/64 dev mgmt"))
    }

    pub(crate) fn command(&self, args: &[&str]) -> Command {
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
            Kind::Kernel { has_frr } => {
                let shown = self.ip(name, "address show dev mgmt");
                assert!(shown.contains("2001:db8:9::1/64"), "{shown}");
                let running = self.read(name, "frr");
                assert!(
                    !has_frr || running.contains("log file") && running.contains("ip route 0.0.0.0/0"),
                    "{running}"
                );
            }
        }
        assert!(!self.at(name, "timer").exists() && !self.at(name, "state/pending").exists(), "{name} waits");
    }

    pub(crate) fn namespace(&self, name: &str) -> String {
        self.read(name, "namespace")
    }

    pub(crate) fn ip(&self, name: &str, words: &str) -> String {
        let words: Vec<&str> = words.split(' ').collect();
        let output =
            Command::new("ip").args(["-n", &self.namespace(name)]).args(words).output().expect("ip is there");
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
    }

    /// Everything that a switch holds, to compare two moments.
    pub(crate) fn state(&self, name: &str) -> String {
        match self.kind {
            Kind::Eos => self.read(name, "running") + &self.read(name, "startup"),
            Kind::Nvue => self.read(name, "applied"),
            Kind::Kernel { .. } => {
                let kernel = ["-6 address show", "-6 route show", "-6 neighbour show nud permanent"];
                let kernel = kernel.map(|words| self.ip(name, words)).concat();
                kernel + &self.read(name, "frr") + &self.read(name, "tc")
            }
        }
    }
}
