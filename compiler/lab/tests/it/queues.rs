//! Tests `tc.batch` in a real kernel: every class uses its band, control traffic has priority, weights apply, and full
//! queues mark packets.
//!
//! In: the lines for one port of a T0's batch. Out: packets that arrive at the other end of a veth pair. Invariants:
//! each test has its own network namespace, which ends with its thread. Results do not depend on the speed of the
//! machine.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::net::{Ipv6Addr, SocketAddr, SocketAddrV6};
use std::os::fd::AsRawFd as _;
use std::process::{Command, Stdio};

use nix::libc;
use nix::net::if_::if_nametoindex;
use nix::sched::{CloneFlags, unshare};
use nix::sys::socket::{LinkAddr, recvfrom};
use socket2::{Domain, Protocol, Socket, Type};

use crate::common::shipped;

const NIC_PORT: &str = "eth1";
const UPLINK: &str = "eth501";

/// Code points of `lossy-trim` with their `ets` classes in the batch, highest first.
const CLASSES: [(u8, &str); 6] = [(46, "1:1"), (12, "1:2"), (16, "1:2"), (8, "1:3"), (4, "1:4"), (63, "1:5")];

/// Payload bytes of a packet.
const PAYLOAD: usize = 1_400;

/// Number of sending sockets. Each has buffer space for some unsent packets.
const SOCKETS: usize = 16;

/// ECN fields of packets.
const NOT_CAPABLE: u8 = 0;
const CAPABLE: u8 = 2;
const MARKED: u8 = 3;

/// A switch port in its own namespace, with its queues.
struct Port {
    wire: Socket,
    peer: usize,
    name: &'static str,
}

/// Returns whether this machine supports the queues; prints the reason if it does not.
fn can_run() -> bool {
    if let Some(lacking) = closc_lab::backend::linux::lacking_queues() {
        closc_skip::skip(format_args!("this machine has no {lacking}"));
        return false;
    }
    true
}

/// Returns the lines of the batch for a port.
fn batch(port: &str) -> String {
    let plan = closc_tests::shape::plan(&shipped("lab/two-planes"));
    let tree = closc_compile::compile_in_memory(&plan).unwrap();
    let file = tree.files.iter().find(|(path, _)| path.as_str() == "switches/p0-t0-001/tc.batch");
    let text = String::from_utf8(file.unwrap().1.clone()).unwrap();
    let of_port = format!(" dev {port} ");
    text.lines().filter(|line| line.contains(&of_port)).collect::<Vec<_>>().join("\n") + "\n"
}

fn run(program: &str, arguments: &[&str], input: &str) -> String {
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{program} {arguments:?} {input}: {said}");
    String::from_utf8(output.stdout).unwrap()
}

impl Port {
    /// Creates a namespace for the calling thread, a cable in it, and queues at one end. If `is_held` is set, the
    /// link after the queues is blocked.
    fn new(name: &'static str, is_held: bool) -> Port {
        unshare(CloneFlags::CLONE_NEWNET).unwrap();
        let links = format!(
            "link add name {name} type veth peer name far\nlink set dev far up\nlink set dev {name} up\n\
             address add fd00::1/64 dev {name} nodad\n\
             neighbour replace fd00::2 lladdr 02:00:00:00:00:02 dev {name} nud permanent\n"
        );
        run("ip", &["-batch", "-"], &links);
        let mut batch = batch(name);
        if is_held {
            let still =
                format!("qdisc add dev {name} root handle 8001: tbf rate 8kbit burst 3k limit 100m\n");
            run("tc", &["-batch", "-"], &still);
            batch = batch.replace("root handle 1:", "parent 8001:1 handle 1:");
        }
        run("tc", &["-batch", "-"], &batch);
        run("tc", &["-batch", "-"], &batch);
        let protocol = Protocol::from(i32::from((libc::ETH_P_IPV6 as u16).to_be()));
        let wire = Socket::new(Domain::PACKET, Type::DGRAM, Some(protocol)).unwrap();
        Port { wire, peer: if_nametoindex("far").unwrap() as usize, name }
    }

    /// Unblocks the link.
    fn release(&self) {
        let fast = format!(
            "qdisc change dev {} root handle 8001: tbf rate 100mbit burst 20k limit 100m\n",
            self.name
        );
        run("tc", &["-batch", "-"], &fast);
    }

    /// Sends packets one by one, each with a code point and an ECN field.
    fn send(&self, packets: impl IntoIterator<Item = (u8, u8)>) {
        let open = |_| {
            let socket = Socket::new(Domain::IPV6, Type::DGRAM, None).unwrap();
            socket.bind_device(Some(self.name.as_bytes())).unwrap();
            socket
        };
        let sockets: Vec<Socket> = (0..SOCKETS).map(open).collect();
        let to = Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, 2);
        let to = SocketAddr::from(SocketAddrV6::new(to, 9, 0, 0)).into();
        for ((code, ecn), socket) in packets.into_iter().zip(sockets.iter().cycle()) {
            socket.set_tclass_v6(u32::from(code << 2 | ecn)).unwrap();
            socket.send_to(&[0; PAYLOAD], &to).unwrap();
        }
    }

    /// Waits for `count` of the sent packets; returns them in the order of arrival.
    fn receive(&self, count: usize) -> Vec<(u8, u8)> {
        let mut found = Vec::new();
        let mut buffer = [0; 2_048];
        while found.len() < count {
            let (length, from) = recvfrom::<LinkAddr>(self.wire.as_raw_fd(), &mut buffer).unwrap();
            let is_ours = from.is_some_and(|from| from.ifindex() == self.peer);
            if is_ours && length == 40 + 8 + PAYLOAD {
                let byte = buffer[0] << 4 | buffer[1] >> 4;
                found.push((byte >> 2, byte & 3));
            }
        }
        found
    }

    /// Returns the number of packets per class of `ets`.
    fn class_counts(&self) -> BTreeMap<String, u64> {
        let text = run("tc", &["-s", "class", "show", "dev", self.name], "");
        let mut class = None;
        let mut found = BTreeMap::new();
        for line in text.lines() {
            match line.split_whitespace().collect::<Vec<_>>()[..] {
                ["class", "ets", name, ..] => class = Some(name.to_owned()),
                ["class", ..] => class = None,
                ["Sent", _, "bytes", packets, "pkt", ..] => {
                    found.extend(class.take().map(|class| (class, packets.parse().unwrap())));
                }
                _ => {}
            }
        }
        found
    }

    /// Returns the numbers of packets that queues marked, dropped early, and dropped at the tail.
    fn queue_counters(&self) -> [u64; 3] {
        let text = run("tc", &["-s", "qdisc", "show", "dev", self.name], "");
        let sum = |word: &str| -> u64 {
            let words: Vec<&str> = text.split([' ', '\n', '(', ',']).collect();
            words
                .windows(2)
                .filter(|pair| pair[0] == word)
                .filter_map(|pair| pair[1].parse::<u64>().ok())
                .sum()
        };
        ["marked", "early", "dropped"].map(sum)
    }
}

#[test]
fn packets_of_each_class_are_counted_in_its_band() {
    if !can_run() {
        return;
    }
    for name in [NIC_PORT, UPLINK] {
        let port = Port::new(name, false);
        let before = port.class_counts();
        let packets: Vec<(u8, u8)> =
            (1..).zip(CLASSES).flat_map(|(n, (code, _))| vec![(code, NOT_CAPABLE); n]).collect();
        port.send(packets.iter().copied());
        let mut found = port.receive(packets.len());
        found.sort_unstable();
        let mut sent = packets;
        sent.sort_unstable();
        assert_eq!(found, sent, "{name}");
        let after = port.class_counts();
        let mut meant: BTreeMap<&str, u64> = BTreeMap::new();
        for (n, (_, class)) in (1..).zip(CLASSES) {
            *meant.entry(class).or_default() += n;
        }
        assert_eq!(after.keys().collect::<Vec<_>>(), meant.keys().collect::<Vec<_>>(), "{name}");
        for (class, meant) in meant {
            let found = after[class] - before[class];
            // The last line contains the kernel's own message.
            assert!(
                found == meant || class == "1:5" && found > meant,
                "{name} {class}: {found}, not {meant}"
            );
        }
        assert_eq!(port.queue_counters(), [0; 3], "{name}");
    }
}

/// Number of packets that pass before the link blocks, with a margin.
const PASSED: usize = 20;

/// Alternating data packets of two classes, more than the upper threshold of either, then a few control packets.
fn burst() -> Vec<(u8, u8)> {
    let data = (0..300).flat_map(|_| [(4, CAPABLE), (8, NOT_CAPABLE)]);
    data.chain([(46, CAPABLE); 5]).collect()
}

#[test]
fn a_held_up_uplink_marks_and_serves_control_first() {
    if !can_run() {
        return;
    }
    let port = Port::new(UPLINK, true);
    let sent = burst();
    port.send(sent.iter().copied());
    port.release();
    let found = port.receive(sent.len());
    let last_control = found.iter().rposition(|(code, _)| *code == 46).unwrap();
    assert!(last_control < PASSED, "control waited for {last_control} packets");
    let marked = found.iter().filter(|(_, ecn)| *ecn == MARKED).count();
    // 300 packets have 438,600 bytes. Beyond about 299,248 bytes, every packet is marked.
    assert!((90..300).contains(&marked), "{marked} of 300 packets are marked");
    let strays = found.iter().filter(|(code, ecn)| *ecn == MARKED && *code != 4).count();
    assert_eq!(strays, 0, "what cannot be marked or is of another class is marked");
    assert_eq!(port.queue_counters(), [marked as u64, 0, 0]);
    // After the control packets, the weights are 70 to 15.
    let next = &found[last_control + 1..][..150];
    let heavy = next.iter().filter(|(code, _)| *code == 4).count();
    assert!(heavy > 100, "{heavy} of 150 packets are of the class with a weight of 70 against 15");
}

#[test]
fn a_held_up_port_to_a_nic_marks_nothing() {
    if !can_run() {
        return;
    }
    let port = Port::new(NIC_PORT, true);
    let sent = burst();
    port.send(sent.iter().copied());
    port.release();
    let found = port.receive(sent.len());
    assert!(found.iter().all(|(_, ecn)| *ecn != MARKED));
    assert_eq!(port.queue_counters(), [0; 3]);
    let last_control = found.iter().rposition(|(code, _)| *code == 46).unwrap();
    assert!(last_control < PASSED, "control waited for {last_control} packets");
}
