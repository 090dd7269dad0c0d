//! Agents that are restarted while packets flow, on a compiled fabric in network namespaces with the kernel's switches.
//! The test is their service manager: it keeps descriptors as systemd does. It needs root and a kernel with seg6local
//! NEXT-CSID, and is skipped with a message otherwise.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::IoSliceMut;
use std::net::{Ipv6Addr, UdpSocket};
use std::os::fd::{AsRawFd as _, FromRawFd as _, OwnedFd, RawFd};
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use closc_lab::Lab;
use closc_nic::api::Request;
use closc_nic::io::client;
use nix::fcntl::{FcntlArg, fcntl};
use nix::sched::{CloneFlags, setns};
use nix::sys::signal::{Signal, kill};
use nix::sys::socket::sockopt::RcvBufForce;
use nix::sys::socket::{ControlMessageOwned, MsgFlags, recvmsg, setsockopt};
use nix::unistd::{Pid, close};
use serde_json::Value;

use crate::common::{CompiledTree, can_run, compile, quietly, shipped};

/// Packets in each direction during one restart. The next agent sends all of them in one burst, which the queues of the
/// TUN device and of the kernel (`net.core.netdev_max_backlog`, 1000 packets) must hold.
const PACKETS: u32 = 200;

/// The service manager of one agent.
struct Manager {
    socket: UnixDatagram,
    /// Descriptors by name. Children inherit them.
    descriptors: BTreeMap<String, RawFd>,
}

impl Manager {
    fn new(path: &Path) -> Manager {
        let socket = UnixDatagram::bind(path).unwrap();
        socket.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
        Manager { socket, descriptors: BTreeMap::new() }
    }

    /// Follows the messages of an agent until it is ready.
    fn ready(&mut self, agent: &mut Child) {
        loop {
            let Some((text, descriptors)) = self.next() else {
                assert!(agent.try_wait().unwrap().is_none(), "the agent ended");
                continue;
            };
            let name = text.lines().find_map(|line| line.strip_prefix("FDNAME=")).unwrap_or_default();
            if text.lines().any(|line| line == "READY=1") {
                return;
            }
            if text.contains("FDSTOREREMOVE=1") {
                self.descriptors.remove(name).into_iter().for_each(|old| close(old).unwrap());
            }
            for descriptor in descriptors {
                self.descriptors.insert(name.to_owned(), descriptor);
            }
        }
    }

    /// Returns the next message, if one arrives soon, and its descriptors under numbers that a shell can
    /// redirect.
    fn next(&self) -> Option<(String, Vec<RawFd>)> {
        let mut text = [0; 256];
        let mut space = nix::cmsg_space!([RawFd; 4]);
        let mut parts = [IoSliceMut::new(&mut text)];
        let (socket, flags) = (self.socket.as_raw_fd(), MsgFlags::empty());
        let got = recvmsg::<()>(socket, &mut parts, Some(&mut space), flags).ok()?;
        let mut descriptors = Vec::new();
        for message in got.cmsgs().unwrap() {
            let ControlMessageOwned::ScmRights(came) = message else { continue };
            for descriptor in came {
                #[allow(unsafe_code, reason = "the kernel just made the descriptor for this process")]
                // SAFETY: nothing else owns it.
                let owned = unsafe { OwnedFd::from_raw_fd(descriptor) };
                descriptors.push(fcntl(owned, FcntlArg::F_DUPFD(100)).unwrap());
            }
        }
        let n = got.bytes;
        Some((String::from_utf8_lossy(&text[..n]).into_owned(), descriptors))
    }

    /// Returns shell commands that pass on the descriptors as `sd_listen_fds(3)` describes.
    fn passes(&self) -> String {
        if self.descriptors.is_empty() {
            return String::new();
        }
        let moved = (3..).zip(self.descriptors.values()).map(|(number, kept)| format!(" {number}<&{kept}"));
        let moved = moved.collect::<Vec<_>>().concat();
        let names = self.descriptors.keys().cloned().collect::<Vec<_>>().join(":");
        format!(
            "exec{moved}; export LISTEN_PID=$$ LISTEN_FDS={} LISTEN_FDNAMES={names}; ",
            self.descriptors.len()
        )
    }
}

/// A lab with the agents of two nodes, which is removed even if a test fails.
pub(crate) struct Site {
    lab: Option<Lab>,
    pub(crate) compiled_tree: CompiledTree,
    managers: [Manager; 2],
    agents: Vec<Child>,
}

impl Site {
    pub(crate) fn new(fabric: &str) -> Option<Site> {
        if !can_run() {
            return None;
        }
        if !Path::new("/dev/net/tun").exists() {
            closc_skip::skip("there is no /dev/net/tun");
            return None;
        }
        let compiled = compile(&shipped("lab/two-planes"), fabric);
        let (lab, _) = quietly(|watch| Lab::up(&compiled.tree, &compiled.options, watch)).unwrap();
        let folder = compiled.tree.parent().unwrap().as_std_path();
        let managers = [1, 2].map(|group| Manager::new(&folder.join(format!("notify-{group}"))));
        let mut site = Site { lab: Some(lab), compiled_tree: compiled, managers, agents: Vec::new() };
        for group in [1, 2] {
            let agent = site.start(group);
            site.agents.push(agent);
        }
        site.answers();
        Some(site)
    }

    pub(crate) fn namespace(&self, group: usize) -> String {
        format!("closc-{}-su{group:03}-n001", self.compiled_tree.fabric)
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.compiled_tree.tree.parent().unwrap().as_std_path().join(name)
    }

    /// Starts the agent of a group's first node, with the descriptors of the previous one, and waits until it is ready.
    fn start(&mut self, group: usize) -> Child {
        let table = self.compiled_tree.tree.join(format!("path-tables/group-{group:04}.bin"));
        let log = File::options().create(true).append(true).open(self.file("agents.log")).unwrap();
        let passes = self.managers[group - 1].passes();
        let mut agent = Command::new("ip")
            .args(["netns", "exec", &self.namespace(group), "bash", "-c"])
            .arg(format!("{passes}exec \"$@\""))
            .arg("bash")
            .arg(env!("CARGO_BIN_EXE_closc-nic"))
            .arg("--socket")
            .arg(self.file(&format!("agent-{group}.sock")))
            .args(["run", "--tun", "closc0", "--table", table.as_str(), "--nic", &nic(group).to_string()])
            .env("NOTIFY_SOCKET", self.file(&format!("notify-{group}")))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .unwrap();
        self.managers[group - 1].ready(&mut agent);
        agent
    }

    /// Ends an agent by a signal, and starts the next one once `during` has returned.
    pub(crate) fn restart(&mut self, group: usize, signal: Signal, during: impl FnOnce()) {
        let pid = Pid::from_raw(self.agents[group - 1].id().cast_signed());
        kill(pid, signal).unwrap();
        self.agents[group - 1].wait().unwrap();
        during();
        self.agents[group - 1] = self.start(group);
    }

    /// Waits until every T0 answers both agents. Many attempts are made, for machines under load.
    fn answers(&self) {
        for group in [1, 2] {
            let socket = self.file(&format!("agent-{group}.sock"));
            let is_up = || {
                let status = client::ask(&socket, &Request::Status {}).unwrap_or_default();
                let planes = status["planes"].as_array().cloned().unwrap_or_default();
                !planes.is_empty() && planes.iter().all(|plane| plane["t0_answers"] == true)
            };
            let is_up = (0..1200).any(|_| is_up() || pause());
            assert!(is_up, "{}", std::fs::read_to_string(self.file("agents.log")).unwrap_or_default());
        }
    }

    /// Returns the index of the TUN device of a node.
    fn tun(&self, group: usize) -> Value {
        let namespace = self.namespace(group);
        let shown =
            Command::new("ip").args(["-n", &namespace, "-j", "link", "show", "closc0"]).output().unwrap();
        serde_json::from_slice::<Value>(&shown.stdout).unwrap_or_default()[0]["ifindex"].clone()
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        for agent in &mut self.agents {
            let _ = agent.kill();
            let _ = agent.wait();
        }
        if let Some(lab) = self.lab.take() {
            let _ = lab.down();
        }
    }
}

/// Waits a moment. Returns false, so that the next attempt follows.
fn pause() -> bool {
    thread::sleep(Duration::from_millis(50));
    false
}

pub(crate) fn nic(group: usize) -> Ipv6Addr {
    format!("fd00:c105:1:{group}::1").parse().unwrap()
}

/// Opens a UDP socket on a node.
fn socket(namespace: &str, address: Ipv6Addr) -> UdpSocket {
    let file = File::open(format!("/run/netns/{namespace}")).unwrap();
    let opened = thread::spawn(move || {
        setns(file, CloneFlags::CLONE_NEWNET).unwrap();
        UdpSocket::bind((address, 0)).unwrap()
    });
    let socket = opened.join().unwrap();
    // All packets of a restart fit.
    setsockopt(&socket, RcvBufForce, &(8 << 20)).unwrap();
    socket
}

/// Numbered packets from one node to the other.
struct Flow {
    from: UdpSocket,
    to: UdpSocket,
    sent: u32,
    came: Vec<bool>,
}

impl Flow {
    fn new(site: &Site, from: usize, to: usize) -> Flow {
        let [from, to] = [from, to].map(|group| socket(&site.namespace(group), nic(group)));
        from.connect(to.local_addr().unwrap()).unwrap();
        to.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
        Flow { from, to, sent: 0, came: Vec::new() }
    }

    fn send(&mut self) {
        let mut packet = [0; 200];
        packet[..4].copy_from_slice(&self.sent.to_be_bytes());
        self.from.send(&packet).unwrap();
        self.sent += 1;
    }

    /// Receives until all arrived, or nothing arrives for long.
    fn receive(&mut self) {
        self.came.resize(self.sent as usize, false);
        let mut idle = 0;
        while self.came.contains(&false) && idle < 50 {
            let mut packet = [0; 200];
            match self.to.recv(&mut packet) {
                Ok(_) => self.came[u32::from_be_bytes(*packet.first_chunk().unwrap()) as usize] = true,
                Err(_) => idle += 1,
            }
        }
    }

    fn lost_numbers(&self) -> Vec<usize> {
        (0..self.came.len()).filter(|number| !self.came[*number]).collect()
    }
}

/// Sends packets in both directions.
fn send(flows: &mut [Flow; 2], times: u32) {
    for _ in 0..times {
        flows.iter_mut().for_each(Flow::send);
        thread::sleep(Duration::from_millis(1));
    }
}

/// Returns the packets that the kernel dropped because the backlog of a processor was full, since it started:
/// the second column of `softnet_stat`. A processor that gets no time drops packets of any program.
fn backlog_drops() -> usize {
    let text = std::fs::read_to_string("/proc/net/softnet_stat").unwrap();
    let dropped = text.lines().filter_map(|line| line.split_whitespace().nth(1));
    dropped.map(|count| usize::from_str_radix(count, 16).unwrap()).sum()
}

/// Formerly each restart lost all packets that either node sent in the meantime.
#[test]
fn no_packet_is_lost_while_an_agent_restarts() {
    let Some(mut site) = Site::new("nr") else { return };
    let mut flows = [Flow::new(&site, 1, 2), Flow::new(&site, 2, 1)];
    let device = site.tun(1);
    let dropped = backlog_drops();
    for round in 0..6 {
        let signal = if round % 2 == 0 { Signal::SIGTERM } else { Signal::SIGKILL };
        send(&mut flows, 100);
        if signal == Signal::SIGKILL {
            // SIGKILL loses packets inside the process, so wait until it has none.
            flows.iter_mut().for_each(Flow::receive);
        }
        site.restart(1, signal, || send(&mut flows, PACKETS));
        send(&mut flows, 100);
        flows.iter_mut().for_each(Flow::receive);
        assert_eq!(site.tun(1), device, "the device stays");
        let lost = flows.each_ref().map(Flow::lost_numbers);
        let dropped = backlog_drops() - dropped;
        assert!(
            lost.iter().map(Vec::len).sum::<usize>() <= dropped,
            "{signal} in round {round}: {lost:?} of {} lost, {dropped} dropped by the kernel's backlog\n{}",
            flows[0].sent,
            std::fs::read_to_string(site.file("agents.log")).unwrap_or_default(),
        );
    }
}
