//! Agents on a compiled fabric in network namespaces, with the kernel's switches and real cables. The tests need root
//! and a kernel with seg6local NEXT-CSID, and are skipped with a message otherwise. `CLOSC_KILLS` sets how many agents
//! are killed at random.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read as _, Write as _};
use std::net::{Ipv6Addr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use closc_lab::Lab;
use closc_nic::agent::Ban;
use closc_nic::api::Request;
use closc_nic::io::client;
use nix::sched::{CloneFlags, setns};
use serde_json::Value;

use crate::common::{CompiledTree, can_run, compile, quietly, shipped};

/// A lab with agents, which is removed even if a test fails.
struct Site {
    lab: Option<Lab>,
    compiled_tree: CompiledTree,
    agents: Vec<Child>,
    /// Options that select how frames are sent.
    send_options: &'static [&'static str],
}

/// Frames are sent by packet sockets, or by AF_XDP.
const PACKET: &[&str] = &[];
const XDP: &[&str] = &["--xdp"];

impl Site {
    fn new(topology: &str, fabric: &str) -> Option<Site> {
        Site::with_send_options(topology, fabric, PACKET)
    }

    fn with_send_options(topology: &str, fabric: &str, sending: &'static [&'static str]) -> Option<Site> {
        if !can_run() {
            return None;
        }
        if !Path::new("/dev/net/tun").exists() {
            closc_skip::skip("there is no /dev/net/tun");
            return None;
        }
        let compiled = compile(&shipped(topology), fabric);
        let (lab, _) = quietly(|watch| Lab::up(&compiled.tree, &compiled.options, watch)).unwrap();
        let mut site =
            Site { lab: Some(lab), compiled_tree: compiled, agents: Vec::new(), send_options: sending };
        for group in 1..=2 {
            let agent = site.start(group);
            site.agents.push(agent);
        }
        for group in 1..=2 {
            site.until(group, "every T0 answers", |status| {
                let planes = status["planes"].as_array().unwrap();
                planes.iter().all(|plane| plane["t0_answers"] == true)
            });
        }
        Some(site)
    }

    fn namespace(&self, device: &str) -> String {
        format!("closc-{}-{device}", self.compiled_tree.fabric)
    }

    fn file(&self, name: &str) -> PathBuf {
        self.compiled_tree.tree.parent().unwrap().as_std_path().join(name)
    }

    fn socket(&self, group: usize) -> PathBuf {
        self.file(&format!("agent-{group}.sock"))
    }

    /// Starts the agent of a group's first node.
    fn start(&self, group: usize) -> Child {
        let table = self.compiled_tree.tree.join(format!("path-tables/group-{group:04}.bin"));
        let log = File::options().create(true).append(true).open(self.file("agents.log")).unwrap();
        Command::new("ip")
            .args(["netns", "exec", &self.namespace(&format!("su{group:03}-n001"))])
            .arg(env!("CARGO_BIN_EXE_closc-nic"))
            .arg("--socket")
            .arg(self.socket(group))
            .args(["run", "--table", table.as_str(), "--nic", &nic(group).to_string(), "--state"])
            .arg(self.file(&format!("denials-{group}.json")))
            .args(self.send_options)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .unwrap()
    }

    fn ask(&self, group: usize, request: &Request) -> Value {
        client::ask(&self.socket(group), request).unwrap()
    }

    fn status(&self, group: usize) -> Value {
        self.ask(group, &Request::Status {})
    }

    /// Waits until an agent's status satisfies a condition. Many attempts are made, for machines under load.
    fn until(&self, group: usize, what: &str, good: impl Fn(&Value) -> bool) -> Value {
        let mut last = Value::Null;
        for _ in 0..1200 {
            if let Ok(status) = client::ask(&self.socket(group), &Request::Status {}) {
                if good(&status) {
                    return status;
                }
                last = status;
            }
            thread::sleep(Duration::from_millis(50));
        }
        let log = std::fs::read_to_string(self.file("agents.log")).unwrap_or_default();
        panic!("never: {what}; {last:#} {log}");
    }

    /// Restarts an agent, and waits for its T0s.
    fn restart(&mut self, group: usize) {
        self.agents[group - 1] = self.start(group);
        self.until(group, "the T0s answer", |status| {
            status["planes"].as_array().unwrap().iter().all(|plane| plane["t0_answers"] == true)
        });
    }

    /// `closc-nic clean` removes the remaining rules.
    fn cleans(&self, group: usize) {
        let rules = || {
            let name = self.namespace(&format!("su{group:03}-n001"));
            let shown = Command::new("ip").args(["-n", &name, "-6", "rule", "show"]).output().unwrap();
            let text = String::from_utf8_lossy(&shown.stdout).into_owned();
            text.lines().filter(|line| line.starts_with("10:") || line.starts_with("11:")).count()
        };
        assert_eq!(rules(), 2);
        let table = self.compiled_tree.tree.join(format!("path-tables/group-{group:04}.bin"));
        let done = Command::new("ip")
            .args(["netns", "exec", &self.namespace(&format!("su{group:03}-n001"))])
            .args([env!("CARGO_BIN_EXE_closc-nic"), "clean", "--table", table.as_str()])
            .args(["--nic", &nic(group).to_string()])
            .status()
            .unwrap();
        assert!(done.success());
        assert_eq!(rules(), 0);
    }

    /// Runs a second process that requests an agent's NIC: it must fail. Returns its message.
    fn refusal_message(&self, group: usize, words: &[&str]) -> String {
        let table = self.compiled_tree.tree.join(format!("path-tables/group-{group:04}.bin"));
        let done = Command::new("ip")
            .args(["netns", "exec", &self.namespace(&format!("su{group:03}-n001"))])
            .arg(env!("CARGO_BIN_EXE_closc-nic"))
            .arg("--socket")
            .arg(self.file("second.sock"))
            .args(words)
            .args(["--table", table.as_str(), "--nic", &nic(group).to_string()])
            .output()
            .unwrap();
        assert!(!done.status.success());
        String::from_utf8_lossy(&done.stderr).into_owned()
    }

    /// An agent that ended leaves no routes, so the kernel receives packets again.
    fn nothing_is_left(&self, group: usize) {
        let namespace = self.namespace(&format!("su{group:03}-n001"));
        let routes = Command::new("ip")
            .args(["-n", &namespace, "-6", "route", "show", "table", "all"])
            .output()
            .unwrap();
        let routes = String::from_utf8_lossy(&routes.stdout).into_owned();
        assert!(!routes.contains("closc0") && routes.contains("End.DT6"), "{routes}");
    }

    /// The state file of an agent names its owner, even without any denials.
    fn check_state_file(&self, group: usize) {
        let kept = std::fs::read(self.file(&format!("denials-{group}.json"))).unwrap();
        let kept: Value = serde_json::from_slice(&kept).unwrap();
        let whose = ["schema", "fabric", "nic"].map(|field| kept[field].as_str().unwrap().to_owned());
        assert_eq!(whose, ["closc-nic-state/1", &self.compiled_tree.fabric, &nic(group).to_string()]);
    }

    /// Returns the denials of an agent by their numbers, without end times.
    fn denials(&self, group: usize) -> BTreeMap<u64, Value> {
        let status = self.status(group);
        let list = status["denials"].as_array().unwrap().iter();
        list.map(|denial| (denial["id"].as_u64().unwrap(), denial["uplinks"].clone())).collect()
    }

    fn write(&self, bytes: u64) -> Value {
        write(&self.socket(1), bytes)
    }

    /// Runs `ip` in the namespace of a device.
    fn ip(&self, device: &str, args: &[&str]) {
        let namespace = self.namespace(device);
        let done = Command::new("ip").args(["-n", &namespace]).args(args).output().unwrap();
        assert!(done.status.success(), "{device} {args:?}: {}", String::from_utf8_lossy(&done.stderr));
    }

    fn ports(&self, device: &str) -> Vec<String> {
        let namespace = self.namespace(device);
        let shown = Command::new("ip").args(["-n", &namespace, "-j", "link", "show"]).output().unwrap();
        let shown: Value = serde_json::from_slice(&shown.stdout).unwrap();
        let names = shown.as_array().unwrap().iter().filter_map(|link| link["ifname"].as_str());
        names.filter(|name| name.starts_with("eth")).map(str::to_owned).collect()
    }

    /// Takes down every port of a T1.
    fn cut(&self, t1: &str) {
        for port in self.ports(t1) {
            self.ip(t1, &["link", "set", "dev", &port, "down"]);
        }
    }

    /// Reconfigures a T1 and its neighbours, because static routes disappeared with the ports.
    fn restore(&self, t1: &str, plane: u8, groups: usize) {
        let again = |device: &str| {
            let batch = self.compiled_tree.tree.join(format!("switches/{device}/ip.batch"));
            self.ip(device, &["-batch", batch.as_str()]);
        };
        again(t1);
        (1..=groups).for_each(|group| again(&format!("p{plane}-t0-{group:03}")));
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

fn nic(group: usize) -> Ipv6Addr {
    format!("fd00:c105:1:{group}::1").parse().unwrap()
}

fn write(socket: &Path, bytes: u64) -> Value {
    let request = Request::Write { to: nic(2), bytes, local: 0, target: 0, unit: None };
    let done = client::ask(socket, &request).unwrap();
    assert_eq!(done["done"], true, "{done}");
    done
}

fn channel<'a>(status: &'a Value, field: &str) -> &'a Value {
    &status["channels"][0][field]
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

/// Size of the TCP transfer.
const BYTES: usize = 64 << 20;

fn byte(at: usize) -> u8 {
    (at ^ at >> 8 ^ at >> 16) as u8
}

#[test]
fn tcp_runs_over_all_planes() {
    tcp_runs(Site::new("lab/eight-planes", "na"));
}

/// Packets longer than a chunk are sent by the packet socket, between the others.
#[test]
fn tcp_runs_over_all_planes_by_af_xdp() {
    tcp_runs(Site::with_send_options("lab/eight-planes", "nxa", XDP));
}

fn tcp_runs(site: Option<Site>) {
    let Some(site) = site else { return };
    let (ready, listening) = std::sync::mpsc::channel();
    let server = inside(&site.namespace("su002-n001"), move || {
        let listener = TcpListener::bind((nic(2), 0)).unwrap();
        ready.send(listener.local_addr().unwrap()).unwrap();
        let (mut stream, _) = listener.accept().unwrap();
        let mut got = Vec::with_capacity(BYTES);
        stream.read_to_end(&mut got).unwrap();
        got.len() == BYTES && got.iter().enumerate().all(|(at, b)| *b == byte(at))
    });
    let address = listening.recv().unwrap();
    let client = inside(&site.namespace("su001-n001"), move || {
        let bytes: Vec<u8> = (0..BYTES).map(byte).collect();
        let mut stream = TcpStream::connect(address).unwrap();
        let began = Instant::now();
        stream.write_all(&bytes).unwrap();
        began.elapsed()
    });
    let took = client.join().unwrap();
    assert!(server.join().unwrap(), "what came is not what was sent");
    println!("TCP over eight planes: {:.2} Gb/s", BYTES as f64 * 8.0 / took.as_secs_f64() / 1e9);
    let status = site.status(1);
    let sent: Vec<u64> =
        channel(&status, "sent").as_array().unwrap().iter().map(|n| n.as_u64().unwrap()).collect();
    let (least, most) = (*sent.iter().min().unwrap(), *sent.iter().max().unwrap());
    // Acknowledgements and probes also use the planes in turn, so the counts differ slightly.
    assert!(least > 500 && most - least <= most / 20 + 4, "{sent:?}");
    assert_eq!(channel(&status, "denied"), 0);
}

#[test]
fn a_job_rides_out_the_loss_of_a_t1() {
    rides_out(Site::new("lab/eight-planes", "nb"));
}

#[test]
fn a_job_by_af_xdp_rides_out_the_loss_of_a_t1() {
    rides_out(Site::with_send_options("lab/eight-planes", "nxb", XDP));
}

fn rides_out(site: Option<Site>) {
    let Some(site) = site else { return };
    site.write(10_000_000);
    let before = channel(&site.status(1), "lost").as_u64().unwrap();
    thread::scope(|scope| {
        let socket = site.socket(1);
        let job = scope.spawn(move || write(&socket, 60_000_000));
        site.until(2, "the job runs", |status| {
            status["counters"]["written_bytes"].as_u64().unwrap() > 30_000_000
        });
        site.cut("p0-t1-001");
        let done = job.join().unwrap();
        println!("60 MB with a T1 cut on the way: {done}");
    });
    // Exactly the T1 is named, by the one uplink that leads to it.
    let status =
        site.until(1, "the T1 is named", |status| !status["findings"].as_array().unwrap().is_empty());
    let found = &status["findings"][0];
    assert_eq!(
        (&found["what"], &found["plane"], &found["uplink"]),
        (&"uplink".into(), &0.into(), &0.into()),
        "{found}"
    );
    let after = channel(&site.status(1), "lost").as_u64().unwrap();
    println!(
        "{} packets lost, last at {} of the agent's clock",
        after - before,
        channel(&status, "last_lost_ns")
    );
    // Bad paths are not in use: the same amount of data is sent without loss.
    let uplink = |status: &Value| channel(status, "assumed_bad").as_u64().unwrap();
    assert!(uplink(&status) >= 1);
    site.write(20_000_000);
    let later = site.status(2);
    assert_eq!((&later["wrong_bytes"], &later["counters"]["written_bytes"]), (&0.into(), &90_000_000.into()));
    site.restore("p0-t1-001", 0, 4);
    site.until(1, "every path is back", |status| uplink(status) == 0);
    site.until(1, "nothing is broken", |status| status["findings"].as_array().unwrap().is_empty());
}

#[test]
fn an_agent_that_is_killed_leaves_nothing_and_forgets_no_denial() {
    let Some(mut site) = Site::new("lab/two-planes", "nc") else { return };
    let ban = Ban { plane: Some(1), reason: "drain".into(), ..Ban::default() };
    let made = site.ask(1, &Request::Deny { ban: ban.clone() });
    assert_eq!(made["id"], 1, "{made}");
    // An agent's resources are never taken over by another process.
    for words in [&["run", "--tun", "closc1"][..], &["run", "--tun", ""], &["clean"]] {
        let said = site.refusal_message(1, words);
        assert!(said.contains("is in use by another agent"), "{said}");
    }
    site.write(1_000_000);
    for round in 0..5 {
        let which = round % 2;
        site.agents[which].kill().unwrap();
        site.agents[which].wait().unwrap();
        site.nothing_is_left(which + 1);
        site.check_state_file(which + 1);
        site.cleans(which + 1);
        site.restart(which + 1);
        site.write(1_000_000);
        let status = site.status(1);
        let denials = status["denials"].as_array().unwrap();
        assert_eq!((denials.len(), &denials[0]["plane"], &denials[0]["id"]), (1, &1.into(), &1.into()));
        assert_eq!(channel(&status, "sent")[1], 0, "a denied plane carries nothing");
    }
    assert_eq!(site.status(2)["wrong_bytes"], 0);
    let rest = Ban { plane: Some(0), ..ban };
    let refused = site.ask(1, &Request::Deny { ban: rest });
    assert!(refused["error"].as_str().unwrap().contains("last path"), "{refused}");
    assert_eq!(site.ask(1, &Request::Allow { id: 1 })["ended"], 1);
    // The paths are used again once probes over them are answered, which may take longer than a write.
    let is_back = || {
        site.write(1_000_000);
        channel(&site.status(1), "sent")[1].as_u64().unwrap() > 0
    };
    assert!((0..100).any(|_| is_back()), "the plane carries again");
}

/// Bytes per run of the comparison.
const TURN: usize = 512 << 20;

/// Sends one TCP stream from a namespace to another. Returns Gb/s until its end arrived, and the number of segments
/// retransmitted.
fn stream(from: &str, to: &str, address: Ipv6Addr) -> (f64, u64) {
    let (ready, listening) = std::sync::mpsc::channel();
    let server = inside(to, move || {
        let listener = TcpListener::bind((address, 0)).unwrap();
        ready.send(listener.local_addr().unwrap()).unwrap();
        let (mut stream, _) = listener.accept().unwrap();
        let (mut room, mut got) = (vec![0; 1 << 18], 0);
        while let Ok(n @ 1..) = stream.read(&mut room) {
            got += n;
        }
        got
    });
    let address = listening.recv().unwrap();
    let client = inside(from, move || {
        let before = sent_again();
        let (bytes, began) = (vec![7; 1 << 18], Instant::now());
        let mut stream = TcpStream::connect(address).unwrap();
        (0..TURN / bytes.len()).for_each(|_| stream.write_all(&bytes).unwrap());
        drop(stream);
        assert_eq!(server.join().unwrap(), TURN, "all of it arrives");
        (TURN as f64 * 8.0 / began.elapsed().as_secs_f64() / 1e9, sent_again() - before)
    });
    client.join().unwrap()
}

/// Returns the number of TCP segments retransmitted in this thread's namespace so far.
fn sent_again() -> u64 {
    let text = std::fs::read_to_string("/proc/thread-self/net/snmp").unwrap();
    let mut rows = text.lines().filter(|line| line.starts_with("Tcp:")).map(|line| line.split(' '));
    let (names, mut values) = (rows.next().unwrap(), rows.next().unwrap());
    let at = names.into_iter().position(|name| name == "RetransSegs").unwrap();
    values.nth(at).unwrap().parse().unwrap()
}

/// Returns ticks of all processors so far, and those stolen by the host of the machine.
fn ticks() -> (f64, f64) {
    let text = std::fs::read_to_string("/proc/stat").unwrap();
    let all: Vec<f64> =
        text.lines().next().unwrap().split_whitespace().skip(1).take(8).map(|n| n.parse().unwrap()).collect();
    (all.iter().sum(), all[7])
}

fn median(mut of: Vec<f64>) -> f64 {
    of.sort_by(f64::total_cmp);
    of[of.len() / 2]
}

/// Alternates between one stream over the TUN device and all planes, and one over a plain veth pair of the same MTU
/// without offloads. Both are between the same two nodes. Prints the throughput of each.
#[test]
fn tcp_over_all_planes_beside_a_plain_pair() {
    let Some(turns) = std::env::var("CLOSC_TCP").ok().and_then(|text| text.parse::<usize>().ok()) else {
        return closc_skip::skip("CLOSC_TCP does not say how many turns to measure");
    };
    let sending = if std::env::var_os("CLOSC_TCP_XDP").is_some() { XDP } else { PACKET };
    let Some(site) = Site::with_send_options("lab/eight-planes", "nt", sending) else { return };
    if Command::new("ethtool").arg("--version").output().is_err() {
        return closc_skip::skip("there is no ethtool to switch offloads off");
    }
    let (from, to) = (site.namespace("su001-n001"), site.namespace("su002-n001"));
    let run = |args: &[&str]| {
        let done = Command::new("ip").args(args).output().unwrap();
        assert!(done.status.success(), "{args:?}: {}", String::from_utf8_lossy(&done.stderr));
        done.stdout
    };
    if let Ok(mtu) = std::env::var("CLOSC_TCP_MTU") {
        for namespace in [&from, &to] {
            run(&["-n", namespace, "link", "set", "dev", "closc0", "mtu", &mtu]);
        }
    }
    let tun: Value =
        serde_json::from_slice(&run(&["-n", &from, "-j", "link", "show", "dev", "closc0"])).unwrap();
    let mtu = tun[0]["mtu"].to_string();
    let peer = ["type", "veth", "peer", "name", "plain1", "mtu", &mtu, "netns", &to];
    run(&[&["link", "add", "plain0", "mtu", &mtu, "netns", &from][..], &peer[..]].concat());
    for (namespace, device, address) in [(&from, "plain0", "fd77::1/64"), (&to, "plain1", "fd77::2/64")] {
        run(&["-n", namespace, "link", "set", "dev", device, "up"]);
        run(&["-n", namespace, "-6", "address", "add", address, "dev", device, "nodad"]);
        let off = ["ethtool", "-K", device, "tso", "off", "gso", "off", "gro", "off"];
        run(&[&["netns", "exec", namespace][..], &off[..]].concat());
    }
    let (mut sprayed, mut plain, mut again, before) = (Vec::new(), Vec::new(), (0, 0), ticks());
    for turn in 0..turns.max(1) {
        let (over, under) = (stream(&from, &to, nic(2)), stream(&from, &to, "fd77::2".parse().unwrap()));
        println!("turn {turn}: {:.2} Gb/s sprayed, {:.2} Gb/s plain", over.0, under.0);
        (again.0, again.1) = (again.0 + over.1, again.1 + under.1);
        sprayed.push(over.0);
        plain.push(under.0);
    }
    let (after, medians) = (ticks(), (median(sprayed), median(plain)));
    println!(
        "MTU {mtu}: medians {:.2} Gb/s sprayed over 8 planes, {:.2} Gb/s plain: {:.0} %; sent again {} and {}; {:.1} % of the \
         processors taken away",
        medians.0,
        medians.1,
        100.0 * medians.0 / medians.1,
        again.0,
        again.1,
        100.0 * (after.1 - before.1) / (after.0 - before.0).max(1.0)
    );
}

/// A T0 with another MAC address replaces the previous neighbour of the agent.
#[test]
fn a_t0_that_is_replaced_is_found_by_agents_that_run() {
    let Some(site) = Site::new("lab/two-planes", "nr") else { return };
    let (node, t0) = ("su001-n001", "p1-t0-001");
    let shown = |device: &str, what: &[&str]| -> Value {
        let namespace = site.namespace(device);
        let shown = Command::new("ip").args(["-n", &namespace, "-j", "-6"]).args(what).output().unwrap();
        serde_json::from_slice(&shown.stdout).unwrap()
    };
    // The neighbour of a node is a port of that T0.
    let (links, neighbours) = (shown(t0, &["link", "show"]), shown(node, &["neigh", "show"]));
    let text = |value: &Value, key: &str| value[key].as_str().unwrap_or_default().to_owned();
    let at_t0 = |mac: &str| links.as_array().unwrap().iter().find(|link| text(link, "address") == mac);
    let mut pairs = neighbours
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|known| Some((known, at_t0(&text(known, "lladdr"))?)));
    let (known, link) = pairs.next().unwrap_or_else(|| panic!("{links:#} {neighbours:#}"));
    let other = "02:c1:05:00:00:77";
    // The kernel drops the neighbours of a port whose address changes.
    let port = text(link, "ifname");
    let beside = shown(t0, &["neigh", "show", "dev", &port]);
    site.ip(t0, &["link", "set", "dev", &port, "address", other]);
    for entry in beside.as_array().unwrap().iter().filter(|entry| entry["lladdr"].is_string()) {
        let (to, mac) = (text(entry, "dst"), text(entry, "lladdr"));
        site.ip(t0, &["-6", "neigh", "replace", &to, "lladdr", &mac, "dev", &port, "nud", "permanent"]);
    }
    let answers = |status: &Value| status["planes"][1]["t0_answers"] == true;
    site.until(1, "the T0 is missed", |status| !answers(status));
    let (to, device) = (text(known, "dst"), text(known, "dev"));
    site.ip(node, &["-6", "neigh", "replace", &to, "lladdr", other, "dev", &device, "nud", "permanent"]);
    site.until(1, "the other T0 answers", answers);
    site.write(1_000_000);
}

/// An operator's record of an agent's denials: those answered, and the one without an answer.
#[derive(Debug, Default)]
struct Denier {
    denials: BTreeMap<u64, Value>,
    pending_request: Option<Request>,
}

impl Denier {
    /// Alternately denies and allows until the agent no longer answers.
    fn until_nobody_answers(mut self, socket: &Path) -> Denier {
        for turn in 0_u16.. {
            let uplink = turn % 2;
            let known = self.denials.keys().next().filter(|_| turn % 3 == 2);
            let request = if let Some(id) = known {
                Request::Allow { id: *id }
            } else {
                let ban = Ban { plane: Some(1), uplinks: Some((uplink, uplink)), ..Ban::default() };
                Request::Deny { ban: Ban { reason: "drain".into(), ..ban } }
            };
            match (client::ask(socket, &request), &request) {
                (Ok(answer), Request::Allow { id }) => {
                    assert_eq!(answer["ended"], *id, "{answer}");
                    self.denials.remove(id);
                }
                (Ok(answer), _) => {
                    let id = answer["id"].as_u64().unwrap_or_else(|| panic!("{answer}"));
                    self.denials.insert(id, Value::from(vec![uplink, uplink]));
                }
                (Err(_), _) => {
                    self.pending_request = Some(request);
                    break;
                }
            }
        }
        self
    }

    /// Returns whether an agent has exactly the denials that were answered. The one without an answer may or
    /// may not be present.
    fn fits(&self, found: &BTreeMap<u64, Value>) -> bool {
        let without = |of: &BTreeMap<u64, Value>, id: u64| {
            of.iter()
                .filter(|(other, _)| **other != id)
                .map(|(id, it)| (*id, it.clone()))
                .collect::<BTreeMap<_, _>>()
        };
        match &self.pending_request {
            _ if *found == self.denials => true,
            Some(Request::Allow { id }) => without(&self.denials, *id) == *found,
            Some(Request::Deny { .. }) => {
                let new = found.keys().find(|id| !self.denials.contains_key(id));
                new.is_some_and(|new| without(found, *new) == self.denials)
            }
            Some(_) | None => false,
        }
    }
}

/// Agents on both sides are killed repeatedly, at random times, while messages and denials are in progress.
#[test]
fn no_kill_forgets_or_invents_a_denial_and_messages_go_on() {
    let Some(rounds) = std::env::var("CLOSC_KILLS").ok().and_then(|text| text.parse::<u64>().ok()) else {
        return closc_skip::skip("CLOSC_KILLS does not say how many agents to kill");
    };
    let Some(mut site) = Site::new("lab/two-planes", "nk") else { return };
    let written = spawn_writer(site.socket(1));
    let (mut unanswered, mut kept) = (0, 0);
    for round in 0..rounds {
        let dice = round.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 24;
        let group = 1 + (dice % 2) as usize;
        let denier = Denier { denials: site.denials(group), pending_request: None };
        let asked = site.socket(group);
        let denier = thread::spawn(move || denier.until_nobody_answers(&asked));
        thread::sleep(Duration::from_micros(dice / 2 % 40_000));
        site.agents[group - 1].kill().unwrap();
        site.agents[group - 1].wait().unwrap();
        let denier = denier.join().unwrap();
        site.nothing_is_left(group);
        site.restart(group);
        let found = site.denials(group);
        assert!(denier.fits(&found), "round {round}: {denier:?} and then {found:?}");
        unanswered += usize::from(found != denier.denials);
        kept += found.len();
        for id in found.keys() {
            site.ask(group, &Request::Allow { id: *id });
        }
        // Writes finish again, regardless of which side was killed.
        let before = written.load(Ordering::Relaxed);
        let goes_on = || {
            thread::sleep(Duration::from_millis(10));
            written.load(Ordering::Relaxed) > before + 1
        };
        assert!((0..6_000).any(|_| goes_on()), "round {round}: no write ends; {:#}", site.status(1));
    }
    println!("{rounds} kills: {kept} denials kept, {unanswered} changes done and not answered");
    println!("{} writes", written.load(Ordering::Relaxed));
    assert_eq!(site.status(2)["wrong_bytes"], 0);
}

/// Writes from one side to the other until the test ends, and counts completed writes. A write at an agent that is
/// killed is repeated at its successor.
fn spawn_writer(socket: PathBuf) -> Arc<AtomicU64> {
    let written = Arc::new(AtomicU64::new(0));
    let count = written.clone();
    thread::spawn(move || {
        let request = Request::Write { to: nic(2), bytes: 300_000, local: 0, target: 0, unit: None };
        loop {
            match client::ask(&socket, &request) {
                Ok(done) if done["done"] == true => drop(count.fetch_add(1, Ordering::Relaxed)),
                Ok(_) | Err(_) => thread::sleep(Duration::from_millis(5)),
            }
        }
    });
    written
}
