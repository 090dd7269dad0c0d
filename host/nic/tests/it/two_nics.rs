//! Two NICs of a node on the same T0s, each with its agent, on a compiled fabric in network namespaces with the
//! kernel's switches. The tests need root and a kernel with seg6local NEXT-CSID, and are skipped with a message
//! otherwise.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::net::{Ipv6Addr, SocketAddrV6, TcpListener, TcpStream};
use std::os::fd::AsRawFd as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use closc_lab::Lab;
use closc_nic::api::Request;
use closc_nic::io::client;
use nix::sched::{CloneFlags, setns};
use nix::sys::signal::{Signal, kill};
use nix::sys::socket::{SockaddrIn6, bind, connect};
use nix::unistd::Pid;
use serde_json::Value;

use crate::common::{CompiledTree, can_run, compile, quietly};

const FABRIC: &str = "
fabric: two-nics
planes: 4
routing: srv6-static
hosts: { groups: 2, per_group: 2, nics_per_node: 2, nic: { speed: 400G, lanes: 4 }, os: linux }
tiers:
  t0: { platform: linux, os: linux, up: 4 }
  t1: { platform: linux, os: linux }
cables:
  nic-t0: { length: 1m, medium: virtual }
  t0-t1: { length: 1m, medium: virtual }
qos: none
";
const PLANES: usize = 4;
const BYTES: u64 = 20_000_000;

/// A NIC: its group, and its number within the node.
type Nic = (usize, usize);
const NICS: [Nic; 4] = [(1, 0), (1, 1), (2, 0), (2, 1)];

fn address((group, number): Nic) -> Ipv6Addr {
    format!("fd00:c105:1:{group}::{}", number + 1).parse().unwrap()
}

/// A lab with an agent on every NIC, which is removed even if a test fails.
struct Site {
    lab: Option<Lab>,
    compiled_tree: CompiledTree,
    agents: Vec<(Nic, Child)>,
}

impl Site {
    fn new(fabric: &str, more: &[&str]) -> Option<Site> {
        if !can_run() {
            return None;
        }
        if !Path::new("/dev/net/tun").exists() {
            closc_skip::skip("there is no /dev/net/tun");
            return None;
        }
        let compiled = compile(FABRIC, fabric);
        let (lab, _) = quietly(|watch| Lab::up(&compiled.tree, &compiled.options, watch)).unwrap();
        let mut site = Site { lab: Some(lab), compiled_tree: compiled, agents: Vec::new() };
        for nic in NICS {
            site.start(nic, more);
        }
        for nic in NICS {
            site.answers(nic);
        }
        Some(site)
    }

    fn namespace(&self, device: &str) -> String {
        format!("closc-{}-{device}", self.compiled_tree.fabric)
    }

    fn file(&self, (group, number): Nic, ending: &str) -> PathBuf {
        let folder = self.compiled_tree.tree.parent().unwrap().as_std_path();
        folder.join(format!("{group}-{number}.{ending}"))
    }

    fn start(&mut self, nic: Nic, more: &[&str]) {
        let (group, number) = nic;
        let table = self.compiled_tree.tree.join(format!("path-tables/group-{group:04}.bin"));
        let log = File::options().create(true).append(true).open(self.file(nic, "log")).unwrap();
        let agent = Command::new("ip")
            .args(["netns", "exec", &self.namespace(&format!("su{group:03}-n001"))])
            .arg(env!("CARGO_BIN_EXE_closc-nic"))
            .arg("--socket")
            .arg(self.file(nic, "sock"))
            .args(["run", "--table", table.as_str(), "--nic", &address(nic).to_string()])
            .args(["--tun", &format!("closc{number}")])
            .args(more.iter().map(|word| word.replace("NUMBER", &number.to_string())))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .unwrap();
        self.agents.push((nic, agent));
    }

    /// Ends an agent like an administrator.
    fn end(&mut self, nic: Nic) {
        let at = self.agents.iter().position(|(other, _)| *other == nic).unwrap();
        let (_, mut agent) = self.agents.swap_remove(at);
        kill(Pid::from_raw(agent.id().cast_signed()), Signal::SIGTERM).unwrap();
        assert!(agent.wait().unwrap().success());
    }

    /// Waits until every T0 answers an agent. Many attempts are made, for machines under load.
    fn answers(&self, nic: Nic) {
        let mut last = Value::Null;
        for _ in 0..1200 {
            if let Ok(status) = client::ask(&self.file(nic, "sock"), &Request::Status {}) {
                if status["planes"].as_array().unwrap().iter().all(|plane| plane["t0_answers"] == true) {
                    return;
                }
                last = status["planes"].clone();
            }
            thread::sleep(Duration::from_millis(50));
        }
        let log = std::fs::read_to_string(self.file(nic, "log")).unwrap_or_default();
        panic!("T0s do not answer {nic:?}: {last:#} {log}");
    }

    /// Returns the bytes that each NIC of a node sent and received through its ports, from the kernel's
    /// counters.
    fn bytes(&self, group: usize) -> [(u64, u64); 2] {
        let namespace = self.namespace(&format!("su{group:03}-n001"));
        let shown = Command::new("ip").args(["-n", &namespace, "-j", "-s", "link", "show"]).output().unwrap();
        let shown: Value = serde_json::from_slice(&shown.stdout).unwrap();
        [0, 1].map(|number| {
            let is_port = |link: &&Value| {
                link["ifname"].as_str().is_some_and(|name| name.starts_with(&format!("nic{number}p")))
            };
            let ports: Vec<&Value> = shown.as_array().unwrap().iter().filter(is_port).collect();
            assert_eq!(ports.len(), PLANES);
            let sum =
                |way: &str| ports.iter().map(|port| port["stats64"][way]["bytes"].as_u64().unwrap()).sum();
            (sum("tx"), sum("rx"))
        })
    }

    fn write(&self, number: usize) {
        write(&self.file((1, number), "sock"), number);
    }

    fn ip(&self, device: &str, args: &[&str]) {
        let namespace = self.namespace(device);
        let done = Command::new("ip").args(["-n", &namespace]).args(args).output().unwrap();
        assert!(done.status.success(), "{device} {args:?}: {}", String::from_utf8_lossy(&done.stderr));
    }

    /// Takes the ports of a T1 down, or up again with its routes and those of its neighbours.
    fn t1(&self, name: &str, up: bool) {
        if up {
            let again = |device: &str| {
                let batch = self.compiled_tree.tree.join(format!("switches/{device}/ip.batch"));
                self.ip(device, &["-batch", batch.as_str()]);
            };
            for device in [name, "p0-t0-001", "p0-t0-002"] {
                again(device);
            }
        } else {
            for port in ["eth1", "eth2"] {
                self.ip(name, &["link", "set", "dev", port, "down"]);
            }
        }
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        for (_, agent) in &mut self.agents {
            let _ = agent.kill();
            let _ = agent.wait();
        }
        if let Some(lab) = self.lab.take() {
            let _ = lab.down();
        }
    }
}

/// Writes from a NIC of the first node to the NIC with the same number of the second one.
fn write(socket: &Path, number: usize) {
    let request = Request::Write { to: address((2, number)), bytes: BYTES, local: 0, target: 0, unit: None };
    let done = client::ask(socket, &request).unwrap();
    assert_eq!(done["done"], true, "{done}");
}

/// Returns the traffic of a NIC's ports between two readings, in each direction.
fn since(before: [(u64, u64); 2], now: [(u64, u64); 2]) -> [(u64, u64); 2] {
    [0, 1].map(|number| (now[number].0 - before[number].0, now[number].1 - before[number].1))
}

#[test]
fn nics_on_the_same_t0s_have_their_own_ports() {
    own_ports(Site::new("nta", &[]));
}

#[test]
fn ports_that_are_named_are_used() {
    own_ports(Site::new("ntn", &["--ports", "nicNUMBERp{plane}"]));
}

#[test]
fn nics_on_the_same_t0s_send_by_af_xdp() {
    own_ports(Site::new("ntx", &["--xdp"]));
}

fn own_ports(site: Option<Site>) {
    let Some(mut site) = site else { return };
    // Both at once, while a T1 fails.
    let before = site.bytes(1);
    thread::scope(|scope| {
        let jobs = [0, 1].map(|number| {
            let socket = site.file((1, number), "sock");
            scope.spawn(move || (0..3).for_each(|_| write(&socket, number)))
        });
        site.t1("p0-t1-001", false);
        for job in jobs {
            job.join().unwrap();
        }
    });
    site.t1("p0-t1-001", true);
    for (number, (sent, _)) in since(before, site.bytes(1)).into_iter().enumerate() {
        assert!(sent >= 3 * BYTES, "NIC {number} sent {sent} bytes by its ports");
    }
    // One at a time, while the agent of the other NIC only sends probes, which is little traffic.
    for number in [0, 1] {
        let before = [site.bytes(1), site.bytes(2)];
        site.write(number);
        let [here, there] = [since(before[0], site.bytes(1)), since(before[1], site.bytes(2))];
        let (mine, other) = (here[number], here[1 - number]);
        assert!(mine.0 >= BYTES && there[number].1 >= BYTES, "NIC {number}: {here:?} {there:?}");
        assert!(other.0 < BYTES / 10 && there[1 - number].1 < BYTES / 10, "NIC {number}: {here:?} {there:?}");
    }
    tcp(&site);
    // The agents of the first NICs end. Those of the second ones continue, and the ports of the first carry no traffic.
    for group in [1, 2] {
        site.end((group, 0));
    }
    let before = [site.bytes(1), site.bytes(2)];
    site.write(1);
    site.answers((1, 1));
    let [here, there] = [since(before[0], site.bytes(1)), since(before[1], site.bytes(2))];
    assert_eq!((here[0], there[0]), ((0, 0), (0, 0)), "{here:?} {there:?}");
    assert!(here[1].0 >= BYTES, "{here:?}");
}

/// TCP between both pairs of NICs at once, over the TUN devices: a connection bound to the address of a NIC uses its
/// agent.
fn tcp(site: &Site) {
    const STREAM: usize = 8 << 20;
    let before = site.bytes(1);
    let streams = [0, 1].map(|number| {
        let (ready, listening) = std::sync::mpsc::channel();
        let server = inside(&site.namespace("su002-n001"), move || {
            let listener = TcpListener::bind((address((2, number)), 0)).unwrap();
            ready.send(listener.local_addr().unwrap().port()).unwrap();
            let (mut stream, _) = listener.accept().unwrap();
            let mut got = Vec::with_capacity(STREAM);
            stream.read_to_end(&mut got).unwrap();
            got.len() == STREAM && got.iter().enumerate().all(|(at, byte)| *byte == (at ^ at >> 8) as u8)
        });
        let port = listening.recv().unwrap();
        let client = inside(&site.namespace("su001-n001"), move || {
            let mut stream = bound(address((1, number)), (address((2, number)), port));
            let bytes: Vec<u8> = (0..STREAM).map(|at| (at ^ at >> 8) as u8).collect();
            stream.write_all(&bytes).unwrap();
        });
        (server, client)
    });
    for (server, client) in streams {
        client.join().unwrap();
        assert!(server.join().unwrap(), "what came is not what was sent");
    }
    for (number, (sent, _)) in since(before, site.bytes(1)).into_iter().enumerate() {
        assert!((STREAM as u64..2 * STREAM as u64).contains(&sent), "NIC {number} sent {sent} bytes");
    }
}

/// Connects from a given source address.
fn bound(from: Ipv6Addr, (to, port): (Ipv6Addr, u16)) -> TcpStream {
    use nix::sys::socket::{AddressFamily, SockFlag, SockType, socket};
    let socket = socket(AddressFamily::Inet6, SockType::Stream, SockFlag::empty(), None).unwrap();
    bind(socket.as_raw_fd(), &SockaddrIn6::from(SocketAddrV6::new(from, 0, 0, 0))).unwrap();
    connect(socket.as_raw_fd(), &SockaddrIn6::from(SocketAddrV6::new(to, port, 0, 0))).unwrap();
    socket.into()
}

/// Runs a function in a namespace, on a separate thread.
fn inside<R: Send + 'static>(
    namespace: &str,
    work: impl FnOnce() -> R + Send + 'static,
) -> thread::JoinHandle<R> {
    let file = File::open(format!("/run/netns/{namespace}")).unwrap();
    thread::spawn(move || {
        setns(file, CloneFlags::CLONE_NEWNET).unwrap();
        work()
    })
}
