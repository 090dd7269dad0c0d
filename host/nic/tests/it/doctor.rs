//! `closc-nic doctor` in a lab of network namespaces: each problem is created, reported, and fixed by the printed
//! command. The tests need root and a kernel with seg6local NEXT-CSID, and are skipped with a message otherwise.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use closc_lab::Lab;
use closc_nic::api::Request;
use closc_nic::io::client;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::common::{CompiledTree, can_run, compile, quietly, shipped};

const NODE: &str = "su001-n001";
const NIC: &str = "fd00:c105:1:1::1";

struct Site {
    lab: Option<Lab>,
    compiled_tree: CompiledTree,
    agent: Option<Child>,
}

impl Site {
    fn new() -> Option<Site> {
        if !can_run() {
            return None;
        }
        if !Path::new("/dev/net/tun").exists() {
            closc_skip::skip("there is no /dev/net/tun");
            return None;
        }
        let compiled = compile(&shipped("lab/two-planes"), "nd");
        let (lab, _) = quietly(|watch| Lab::up(&compiled.tree, &compiled.options, watch)).unwrap();
        let mut site = Site { lab: Some(lab), compiled_tree: compiled, agent: None };
        let log = File::create(site.file("agent.log")).unwrap();
        let agent = site.program(&["run"]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(log).spawn();
        site.agent = Some(agent.unwrap());
        for _ in 0..1200 {
            if let Ok(status) = client::ask(&site.file("sock"), &Request::Status {})
                && status["planes"].as_array().unwrap().iter().all(|plane| plane["t0_answers"] == true)
            {
                return Some(site);
            }
            thread::sleep(Duration::from_millis(50));
        }
        panic!("the agent does not start: {}", std::fs::read_to_string(site.file("agent.log")).unwrap());
    }

    fn file(&self, name: &str) -> PathBuf {
        self.compiled_tree.tree.parent().unwrap().as_std_path().join(name)
    }

    fn inside(&self) -> Command {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &format!("closc-{}-{NODE}", self.compiled_tree.fabric)]);
        command.current_dir(self.compiled_tree.tree.join("hosts").join(NODE));
        command
    }

    fn program(&self, words: &[&str]) -> Command {
        let mut command = self.inside();
        command.arg(env!("CARGO_BIN_EXE_closc-nic")).arg("--socket").arg(self.file("sock")).args(words);
        command.args(["--table", self.table().as_str(), "--nic", NIC]);
        command
    }

    fn table(&self) -> String {
        self.compiled_tree.tree.join("path-tables/group-0001.bin").to_string()
    }

    /// Runs a command in the node.
    fn run(&self, command: &str) {
        let done = self.inside().args(["sh", "-c", command]).output().unwrap();
        assert!(done.status.success(), "{command}: {}", String::from_utf8_lossy(&done.stderr));
    }

    /// Returns the reported problems, line by line, without those found by probes, which take longer.
    fn wrong(&self) -> Vec<String> {
        let done = self.program(&["doctor"]).output().unwrap();
        let said = String::from_utf8(done.stdout).unwrap();
        assert!(done.status.success() || said.contains("BAD"), "{said}{:?}", done.stderr);
        let bad = said.lines().filter_map(|line| line.strip_prefix("BAD   "));
        bad.filter(|line| !line.starts_with("agent")).map(str::to_owned).collect()
    }

    /// Returns the lines about the agent and its state.
    fn agent(&self) -> Vec<String> {
        let done = self.program(&["doctor"]).output().unwrap();
        let said = String::from_utf8(done.stdout).unwrap();
        said.lines().filter(|line| line[6..].starts_with("agent")).map(str::to_owned).collect()
    }

    /// Creates a problem, checks that it is reported, and fixes it by the printed commands.
    fn breaks(&self, command: &str, words: &str) {
        self.run(command);
        let wrong = self.wrong();
        assert!(wrong.iter().any(|line| line.contains(words)), "{command}: {wrong:#?}");
        for _ in 0..3 {
            for line in self.wrong() {
                let fix = line.rsplit('`').nth(1).unwrap_or_else(|| panic!("no command: {line}"));
                self.run(fix);
            }
        }
        assert_eq!(self.wrong(), Vec::<String>::new(), "{command} is fixed");
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        if let Some(mut agent) = self.agent.take() {
            let _ = agent.kill();
            let _ = agent.wait();
        }
        if let Some(lab) = self.lab.take() {
            let _ = lab.down();
        }
    }
}

#[test]
fn what_is_broken_is_named_with_the_command_that_mends_it() {
    let Some(mut site) = Site::new() else { return };
    assert_eq!(site.wrong(), Vec::<String>::new());
    let pool = "fd00:c105:1::/48";
    let own = "$(ip -6 rule show pref 10 | sed 's/.*lookup //')";
    for (command, words) in [
        ("ip -6 rule del pref 10", "rule of the NIC"),
        ("ip -6 rule del pref 11", "rule of the node"),
        (&format!("ip -6 route del {pool} table {own}"), "route of the NIC"),
        (&format!("ip -6 route del {pool} table 4242"), "route of the node"),
        ("ip link set dev closc0 mtu 1400", "TUN device: closc0 has an MTU of 1400"),
        (
            "ip -6 route del fcbb:bbbb:8801::/48 dev closc0",
            "own segments: the kernel also receives fcbb:bbbb:8801::/48",
        ),
        ("ip link set dev nic0p0 mtu 1500", "plane 0: port nic0p0 has an MTU of 1500"),
        (
            "ip -6 neighbour del $(ip -6 neighbour show dev nic0p1 | cut -d' ' -f1) dev nic0p1",
            "the T0 at port nic0p1",
        ),
        ("ip -6 route del fcbb:bbbb:1::/48", "plane 0: no route"),
        ("ip link set dev nic0p1 down", "plane 1: no route"),
        ("sysctl -qw net.ipv6.conf.all.forwarding=1", "forwarding: IP forwarding is on"),
    ] {
        site.breaks(command, words);
    }
    // With the names of ports, more can be checked.
    let named = |site: &Site| {
        let done = site.program(&["doctor", "--ports", "nic0p{plane}"]).output().unwrap();
        String::from_utf8(done.stdout).unwrap()
    };
    site.run("ip link set dev nic0p1 down");
    assert!(named(&site).contains("plane 1: port nic0p1 is down: `ip link set dev nic0p1 up`"));
    site.run("ip link set dev nic0p1 up && sysctl -qw net.ipv6.conf.nic0p0.disable_ipv6=1");
    let said = named(&site);
    assert!(
        said.contains("plane 0: port nic0p0 has no IPv6: `sysctl -w net.ipv6.conf.nic0p0.disable_ipv6=0`"),
        "{said}"
    );
    assert!(said.contains("plane 1: port nic0p1 has no route to its T0: `ip -batch ip.batch`"), "{said}");
    site.run("sysctl -qw net.ipv6.conf.nic0p0.disable_ipv6=0 && ip -batch ip.batch");
    assert_eq!(site.wrong(), Vec::<String>::new());
    what_the_agent_knows(&site);
    // A killed agent leaves its rules behind.
    let mut agent = site.agent.take().unwrap();
    agent.kill().unwrap();
    agent.wait().unwrap();
    let wrong = site.wrong();
    assert!(wrong.iter().any(|line| line.contains("the agent was killed: `closc-nic clean ")), "{wrong:#?}");
    assert!(site.program(&["clean"]).status().unwrap().success());
    assert_eq!(site.wrong(), Vec::<String>::new());
}

/// The agent's denials, and a stopped agent, which still has a socket but does not answer.
fn what_the_agent_knows(site: &Site) {
    let mut deny = site.inside();
    deny.arg(env!("CARGO_BIN_EXE_closc-nic")).arg("--socket").arg(site.file("sock"));
    assert!(deny.args(["deny", "--plane", "1", "--uplink", "0"]).status().unwrap().success());
    let said = site.agent();
    assert!(
        said.iter()
            .any(|line| line.starts_with("good  agent: denial: ") && line.ends_with("plane 1, uplinks 0-0")),
        "{said:#?}"
    );
    let pid = Pid::from_raw(site.agent.as_ref().unwrap().id().cast_signed());
    kill(pid, Signal::SIGSTOP).unwrap();
    let said = site.agent();
    assert!(said.iter().any(|line| line.starts_with("BAD   agent: does not answer within 5 s")), "{said:#?}");
    kill(pid, Signal::SIGCONT).unwrap();
}
