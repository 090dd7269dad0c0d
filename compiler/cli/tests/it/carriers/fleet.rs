//! Switches on this machine.
//!
//! In: a system and the size of a fabric. Out: two compiled trees, and switches that have only the site's
//! configuration. Invariants: a script replaces `ssh`. Ports and routes of FRRouting and Linux are in the kernel,
//! with a network namespace per switch. Servers of gNMI and P4Runtime run in this process.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};

use closc_artefacts::carriers::Transport;
use closc_skip::skip;
use nix::sys::stat::Mode;
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::carriers::servers::Servers;
use crate::carriers::system::{Kind, Shape, System};
use crate::common::{self, Place};

/// Simulates the programs of a switch.
const SWITCH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/carriers/switch.py");

/// Simulates the programs of a SONiC switch.
const SONIC: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../p4/deploy/tests/it/deploy/sonic/switch.py");

/// Runs the simulated programs in forked processes.
const FORKS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/carriers/forks.py");

/// Replaces `ssh`.
const SSH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/carriers/ssh.sh");

/// Switches of one fabric. Trees `a` and `b` differ on every switch.
pub(crate) struct Fleet {
    pub(crate) place: Place,
    pub(crate) system: &'static System,
    pub(crate) names: Vec<String>,
    namespaces: Vec<String>,
    /// Servers in this process, by switch.
    pub(crate) servers: BTreeMap<String, Servers>,
    pub(crate) runtime: Option<Runtime>,
    /// Runs programs of switches until its input ends.
    forks: Option<Child>,
}

/// Folder for the sockets of FRRouting's daemons.
pub(crate) const RUN: &str = "/var/run/frr";

/// The site's part of a Cumulus Linux switch.
pub(crate) const NVUE_SITE: &str = r#"{"interface": {"eth0": {"ip": {"address": {"dhcp": {}}, "vrf": "mgmt"}}},
    "system": {"aaa": {"user": {"cumulus": {"role": "system-admin"}}}, "control-plane": {"acl": {"A": {"inbound": {}}}}},
    "acl": {"A": {"type": "ipv4"}}, "vrf": {"mgmt": {"loopback": {}}}}"#;

impl Drop for Fleet {
    fn drop(&mut self) {
        if let Some(mut forks) = self.forks.take() {
            drop(forks.stdin.take());
            drop(forks.wait());
        }
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
    /// Creates switches that have only the site's configuration. If this machine cannot run them, prints the reason.
    pub(crate) fn new(system: &'static System, shape: &Shape) -> Option<Self> {
        Fleet::of_trees(system, shape, &[("a", 9214), ("b", 9100)])
    }

    /// Like [`Fleet::new`], with other names and MTUs of trees.
    pub(crate) fn of_trees(system: &'static System, shape: &Shape, trees: &[(&str, u16)]) -> Option<Self> {
        let has_programs = system.has(Transport::Ssh) || system.has(Transport::SonicSsh);
        if has_programs && Command::new("python3").arg("-V").output().is_err() {
            skip("switches of tests need python3");
            return None;
        }
        let place = Place::new();
        for (side, mtu) in trees {
            place.write(&format!("{side}.yaml"), system.fabric(shape, *mtu));
            place.ends(0, &["compile", "--quiet", &format!("{side}.yaml"), "--out", *side]);
        }
        let mut names: Vec<String> = fs::read_dir(place.path("a/switches"))
            .expect("a folder")
            .map(|entry| entry.expect("it can be read").file_name().into_string().expect("text"))
            .collect();
        names.sort();
        let (namespaces, servers) = (Vec::new(), BTreeMap::new());
        let mut fleet = Fleet { place, system, names, namespaces, servers, runtime: None, forks: None };
        if has_programs {
            fleet.programs();
        }
        for name in fleet.names.clone() {
            if !fleet.switch(&name) {
                skip(format_args!("ports of `{}` need root and network namespaces", system.name));
                return None;
            }
        }
        Servers::start(&mut fleet);
        fleet.inventory();
        Some(fleet)
    }

    pub(crate) fn put(&self, path: &str, text: &str, mode: u32) {
        self.place.write(path, text);
        fs::set_permissions(self.place.path(path), fs::Permissions::from_mode(mode)).expect("it is ours");
    }

    /// Creates the commands of switches.
    fn programs(&mut self) {
        for folder in ["client", "bin", "fleet"] {
            fs::create_dir_all(self.place.path(folder)).expect("a folder");
        }
        self.put("client/ssh", &fs::read_to_string(SSH).expect("it is there"), 0o755);
        let (script, programs, arguments): (_, &[&str], _) = if self.system.has(Transport::SonicSsh) {
            let names = &["config", "docker", "sonic-db-dump", "sonic-cfggen", "systemctl", "systemd-run"];
            (SONIC, names, "\"$SWITCH\" ")
        } else {
            (SWITCH, &["eos", "nv", "vtysh", "frr-reload.py", "systemctl", "systemd-run", "tc"], "")
        };
        let requests = self.place.text("requests");
        let fixed = 3 + arguments.split_terminator(' ').count();
        for name in programs {
            let text = format!(
                "#!/bin/sh\nexec 7<&0 8>&1\nprintf '%s\\0' $(($# + {fixed})) $$ \"$SWITCH\" {arguments}{name} \"$@\" >{requests}\n\
                 {{ read -r code; read -r end; }} <\"$SWITCH/reply\"\nexit \"$code\"\n"
            );
            self.put(&format!("bin/{name}"), &text, 0o755);
        }
        // A reader waits until the pipe is closed. The next command of the switch opens the pipe only after this one
        // has closed it.
        fifo(&self.place.path("requests"));
        let mut command = Command::new("python3");
        command.args(["-IS", FORKS, &requests, script]).stdin(Stdio::piped());
        // Each request names the folder of its switch, so none is set here.
        self.forks = Some(command.env("SWITCH", "").spawn().expect("python3 is there"));
    }

    /// Writes the inventory, with a rule for each transport.
    fn inventory(&self) {
        let mut text = String::new();
        for (head, rules) in [
            ("ssh", self.rules(Transport::Ssh)),
            ("sonic", self.rules(Transport::SonicSsh) + &self.rules(Transport::SonicGnmi)),
            ("p4runtime", self.rules(Transport::P4Runtime)),
        ] {
            if !rules.is_empty() {
                text += head;
                text += ":\n";
                text += &rules;
            }
        }
        if self.system.name == "tofino" {
            self.put("chip.bin", "what only the chip reads", 0o644);
            text += "defaults: { device_config: chip.bin }\n";
        }
        self.place.write("inventory.yaml", text);
    }

    /// The rules of one transport.
    pub(crate) fn rules(&self, transport: Transport) -> String {
        if !self.system.has(transport) {
            return String::new();
        }
        let rule = |name: &String| {
            let plane = name[1..].split('-').next().expect("names begin with the plane");
            let folder = self.place.text(&format!("fleet/{name}"));
            let servers = self.servers.get(name);
            match transport {
                Transport::Ssh => {
                    let folders = match self.system.kind {
                        Kind::Eos | Kind::Sonic | Kind::Programmed => String::new(),
                        Kind::Nvue | Kind::Kernel { .. } => {
                            format!(", state: {folder}/state, etc: {folder}/etc")
                        }
                    };
                    format!("- {{ devices: {name}, address: '{{name}}.mgmt', plane: {plane}{folders} }}\n")
                }
                Transport::SonicSsh => format!(
                    "- {{ devices: {name}, transport: sonic-ssh, address: '{{name}}.mgmt', plane: {plane}, state: {folder}/state, \
                     frr: {folder}/frr }}\n"
                ),
                Transport::SonicGnmi => {
                    let port = servers
                        .expect("it was started")
                        .gnmi
                        .as_ref()
                        .expect("it was started")
                        .address
                        .port();
                    format!(
                        "- {{ devices: {name}, transport: sonic-gnmi, address: 127.0.0.1, port: {port}, plane: {plane} }}\n"
                    )
                }
                Transport::P4Runtime => {
                    let endpoint =
                        servers.expect("it was started").target.as_ref().expect("it was started").address();
                    format!(
                        "- {{ devices: {name}, device: {{ endpoint: '{endpoint}', device_id: 1, plane: {plane} }} }}\n"
                    )
                }
                Transport::Patches | Transport::Ztp | Transport::Ansible => String::new(),
            }
        };
        self.names.iter().map(rule).collect()
    }

    pub(crate) fn at(&self, switch: &str, file: &str) -> PathBuf {
        self.place.path(&format!("fleet/{switch}/{file}"))
    }

    pub(crate) fn read(&self, switch: &str, file: &str) -> String {
        fs::read_to_string(self.at(switch, file)).unwrap_or_default()
    }

    /// Creates one switch. Returns whether this machine can run it.
    fn switch(&mut self, name: &str) -> bool {
        if self.forks.is_none() {
            return true;
        }
        for folder in ["state", "etc/frr", "flash", "checkpoints"] {
            fs::create_dir_all(self.at(name, folder)).expect("a folder");
        }
        fifo(&self.at(name, "reply"));
        let file = |file: &str| format!("fleet/{name}/{file}");
        match self.system.kind {
            Kind::Sonic => self.reset_switch(name),
            Kind::Programmed => {}
            Kind::Eos => {
                self.put(&file("eos"), "", 0o644);
                let text = "aaa authorization exec default local\nusername admin privilege 15 secret sha512 $6$x\n\
                            management ssh\n   idle-timeout 5\nip access-list COPP\n   10 permit ip any any\nno aaa root\n\
                            interface Management1\n   lldp transmit\n";
                self.put(&file("running"), text, 0o644);
                self.put(&file("startup"), text, 0o644);
            }
            Kind::Nvue => {
                self.put(&file("applied"), NVUE_SITE, 0o644);
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

    /// Gives a SONiC switch the state of a new one: its address, and some configuration of the site.
    fn reset_switch(&self, name: &str) {
        let text = self.place.read(&format!("a/switches/{name}/config_db.json"));
        let config: Value = serde_json::from_str(&text).expect("JSON");
        let metadata = &config["DEVICE_METADATA"]["localhost"];
        let held = json!({
            "DEVICE_METADATA": { "localhost": {
                "hwsku": metadata["hwsku"], "platform": metadata["platform"], "mac": "02:00:00:00:00:01", "hostname": "sonic",
                "docker_routing_config_mode": "separated",
            } },
            "MGMT_INTERFACE": config["MGMT_INTERFACE"],
            "TACPLUS": { "global": { "passkey": name } },
        });
        let management: Vec<&String> =
            config["MGMT_INTERFACE"].as_object().expect("it has one").keys().collect();
        // The daemons show every port after it is configured.
        let ports = config["PORT"].as_object().expect("it has ports").keys();
        let ports: BTreeMap<String, Value> =
            ports.map(|port| (format!("PORT_TABLE:{port}"), json!({ "oper_status": "down" }))).collect();
        for (file, value) in [
            ("management.json", json!(management)),
            ("appl.json", json!(ports)),
            ("db.json", held.clone()),
            ("saved.json", held),
        ] {
            self.put(&format!("fleet/{name}/{file}"), &value.to_string(), 0o600);
        }
    }

    /// Creates a namespace with the ports of a switch, and a management port of the site.
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
        let mut batch = String::from("link add mgmt type veth peer name xmgmt\nlink set mgmt up\n");
        batch += "address add 2001:db8:9::1/64 dev mgmt\n";
        for port in ports {
            batch += &["link add ", port, " type veth peer name x", port, "\n"].concat();
        }
        self.put("ports.batch", &batch, 0o644);
        ip(&format!("-n {namespace} -batch {}", self.place.text("ports.batch")))
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
        assert_eq!(status.code(), Some(code), "{} {args:?}\n{out}\n{err}", self.system.name);
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

    /// Asserts that a switch has kept the site's configuration.
    pub(crate) fn assert_site(&self, name: &str) {
        match self.system.kind {
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
            Kind::Sonic => {
                let held = self.config(name);
                assert_eq!(held["TACPLUS"]["global"]["passkey"], name, "{held}");
            }
            Kind::Programmed => {}
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

    /// The running configuration of a SONiC switch.
    pub(crate) fn config(&self, name: &str) -> Value {
        match self.servers.get(name).and_then(|servers| servers.gnmi.as_ref()) {
            Some(switch) => switch.lock().running.clone(),
            None => serde_json::from_str(&self.read(name, "db.json")).unwrap_or_default(),
        }
    }

    /// Writes the running configuration directly, without the tools of the switch.
    pub(crate) fn set_config(&self, name: &str, config: &Value) {
        match self.servers.get(name).and_then(|servers| servers.gnmi.as_ref()) {
            Some(switch) => switch.lock().running = config.clone(),
            None => self.put(&format!("fleet/{name}/db.json"), &config.to_string(), 0o600),
        }
    }

    /// Running configurations of the gNMI switches, so that they can be restored.
    pub(crate) fn memory(&self) -> Vec<(String, Value)> {
        let names =
            self.servers.iter().filter(|(_, servers)| servers.gnmi.is_some()).map(|(name, _)| name.clone());
        names.map(|name| (name.clone(), self.config(&name))).collect()
    }

    pub(crate) fn set_memory(&self, held: &[(String, Value)]) {
        for (name, config) in held {
            self.set_config(name, config);
        }
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

    /// Settings of ports in the kernel.
    fn links(&self, name: &str) -> String {
        let all: Value = serde_json::from_str(&self.ip(name, "-d -j link show")).expect("JSON");
        let keys = ["ifname", "mtu", "address", "inet6_addr_gen_mode", "master"];
        let link = |link: &Value| {
            let is_up = link["flags"].as_array().is_some_and(|flags| flags.iter().any(|flag| flag == "UP"));
            format!("{is_up} {}\n", keys.map(|key| link[key].to_string()).join(" "))
        };
        all.as_array().expect("a list").iter().map(link).collect()
    }

    /// Values that the kernel has for the settings of tree `a`.
    fn settings(&self, name: &str) -> String {
        let asked = self.place.read(&format!("a/switches/{name}/sysctl.conf"));
        let keys = asked.lines().filter_map(|line| line.split_once(" = ")).map(|(key, _)| key);
        let namespace = self.namespace(name);
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &namespace, "sysctl", "-e"]).args(keys);
        String::from_utf8(command.output().expect("ip is there").stdout).expect("text")
    }

    /// Queues of all ports that have queues.
    fn queues(&self, name: &str) -> String {
        let mut ports: BTreeMap<String, Value> =
            serde_json::from_str(&self.read(name, "tc")).unwrap_or_default();
        ports.retain(|_, port| port["qdiscs"] != json!([]));
        json!(ports).to_string()
    }

    /// The configuration of a switch as text, for comparison with a later one.
    pub(crate) fn state(&self, name: &str) -> String {
        match self.system.kind {
            Kind::Eos => self.read(name, "running") + &self.read(name, "startup"),
            Kind::Nvue => {
                let applied: Value = serde_json::from_str(&self.read(name, "applied")).expect("JSON");
                applied.to_string()
            }
            Kind::Sonic | Kind::Programmed => self.config(name).to_string(),
            Kind::Kernel { .. } => {
                let kernel = ["-6 address show", "-6 route show", "-6 neighbour show nud permanent"];
                let kernel = kernel.map(|words| self.ip(name, words)).concat();
                let files = ["frr", "etc/frr/frr.conf", "etc/closc/ip.batch", "etc/closc/sysctl.conf"];
                kernel
                    + &self.links(name)
                    + &self.settings(name)
                    + &self.queues(name)
                    + &files.map(|file| strip_scope(&self.read(name, file))).concat()
            }
        }
    }
}

/// Returns the text of a file without the lines that widen the comparison.
fn strip_scope(text: &str) -> String {
    text.split_inclusive('\n').filter(|line| !line.starts_with("#closc ")).collect()
}

fn fifo(path: &std::path::Path) {
    nix::unistd::mkfifo(path, Mode::S_IRWXU).expect("a named pipe can be made");
}
