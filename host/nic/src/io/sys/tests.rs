//! Tests every call between two interfaces in a separate network namespace, including frames of all lengths, truncation
//! and rejection. `sanitize/` also runs these tests under AddressSanitizer.

use std::os::fd::AsFd as _;
use std::process::Command;

use super::*;
use crate::batch::Batch;

/// Maximum packet length of the interfaces.
const MTU: usize = 65_535;
/// First bits of the addresses of a fabric.
const BLOCK: u32 = 0xfcbb_bbbb;
/// Set in the child process that switches to another user.
const BECOME: &str = "CLOSC_TEST_BECOME";

/// Opens a socket for frames that arrive at `right`.
fn at_right() -> OwnedFd {
    let socket = open_packets().expect("root");
    receive_from(socket.as_fd(), &[index("right")], BLOCK..=BLOCK).expect("it is ours");
    socket
}

fn index(name: &str) -> libc::c_int {
    interface_index(name).expect("it is there")
}

/// Runs a test in a network namespace with the interfaces `left` and `right`; the namespace ends with the thread.
fn with_interface_pair(work: impl FnOnce() + Send) {
    let done = std::thread::scope(|scope| {
        // Keeps the test's name, which is printed if it is skipped.
        let name = std::thread::current().name().unwrap_or_default().to_owned();
        let thread = std::thread::Builder::new().name(name).spawn_scoped(scope, || {
            // SAFETY: no pointers; only this thread changes its namespace.
            if unsafe { libc::unshare(libc::CLONE_NEWNET) } != 0 {
                closc_skip::skip("a network namespace needs root");
                return;
            }
            let mtu = MTU.to_string();
            let pair = [
                "link", "add", "name", "left", "mtu", &mtu, "type", "veth", "peer", "name", "right", "mtu",
                &mtu,
            ];
            match Command::new("ip").args(pair).status() {
                Err(error) => closc_skip::skip(format_args!("no `ip`: {error}")),
                Ok(status) if !status.success() => closc_skip::skip("no pairs of interfaces here"),
                Ok(_) => {
                    ip(&["link", "set", "left", "up"]);
                    ip(&["link", "set", "right", "up"]);
                    stay();
                    until_frames_pass();
                    work();
                }
            }
        });
        thread.expect("there is room for a thread").join()
    });
    if let Err(panic) = done {
        std::panic::resume_unwind(panic);
    }
}

fn ip(line: &[&str]) {
    assert!(Command::new("ip").args(line).status().is_ok_and(|status| status.success()), "{line:?}");
}

/// Pins the thread to one processor, because frames sent from two processors may be reordered.
fn stay() {
    // SAFETY: a set of zeros is empty, and it outlives the calls.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(libc::sched_getcpu() as usize, &mut set);
        assert_eq!(libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &raw const set), 0);
    }
}

/// Sends until a frame arrives, because an interface loses frames just after it comes up.
fn until_frames_pass() {
    let (socket, mut inbox, left) = (at_right(), Inbox::new(60), index("left"));
    while inbox.fill(socket.as_fd()) == 0 {
        send(socket.as_fd(), frames(&[(60, 9)]).ready(), &[left]);
        std::thread::yield_now();
    }
}

/// Adds an IPv6 frame for an address.
fn push(batch: &mut Batch, length: usize, block: u32, rest: [u8; 12]) {
    let number = batch.ready().len() as u8;
    let frame = batch.free().expect("there is room");
    let bytes = frame.payload();
    bytes.fill(number);
    bytes[..14].copy_from_slice(&[2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x86, 0xdd]);
    bytes[38..42].copy_from_slice(&block.to_be_bytes());
    bytes[42..54].copy_from_slice(&rest);
    frame.finish(0, length, |room| room.len());
    batch.push();
}

/// Returns the part of a single-segment address after the block.
fn segment_suffix(usid: u16) -> [u8; 12] {
    let mut rest = [0; 12];
    rest[..2].copy_from_slice(&usid.to_be_bytes());
    rest
}

/// Fills a batch with IPv6 frames of these lengths for these segments.
fn frames(lengths: &[(usize, u16)]) -> Batch {
    let mut batch = Batch::new(MTU + 100);
    for (length, segment) in lengths {
        push(&mut batch, *length, BLOCK, segment_suffix(*segment));
    }
    batch
}

/// Sends a final frame to a segment and returns all frames received before it; the interfaces preserve the order.
fn drain_frames(from: &OwnedFd, segment: u16, socket: &OwnedFd, inbox: &mut Inbox) -> Vec<Vec<u8>> {
    let left = index("left");
    let mut batch = frames(&[(60, segment)]);
    batch.clear();
    let last = batch.free().expect("there is room");
    last.payload()[0] = 6;
    last.finish(0, 60, |room| room.len());
    batch.push();
    assert_eq!(send(from.as_fd(), batch.ready(), &[left]), 1);
    let mut found = Vec::new();
    loop {
        let n = inbox.fill(socket.as_fd());
        found.extend((0..n).map(|at| inbox.frame(at).to_vec()));
        if found.last().is_some_and(|frame| frame[0] == 6) {
            found.pop();
            return found;
        }
        let mut ready = Vec::new();
        wait(&[PollRequest::read(socket.as_raw_fd())], &mut ready, 60_000_000_000);
        assert_eq!(ready, [true], "the last frame is lost, after {} others", found.len());
    }
}

#[test]
fn frames_of_one_segment_arrive_and_others_wake_nobody() {
    with_interface_pair(|| {
        let (sender, socket, a) = (open_packets().expect("root"), at_right(), index("left"));
        let mut inbox = Inbox::new(MTU + 14);
        assert_eq!(inbox.fill(socket.as_fd()), 0);
        // Frames that are too short for a segment, and longer ones, for this NIC and for others.
        let lengths =
            [(14, 1), (53, 1), (54, 1), (54, 2), (60, 0xffff), (1_514, 1), (9_014, 0), (MTU + 14, 1)];
        let mut batch = frames(&lengths);
        assert_eq!(send(sender.as_fd(), batch.ready(), &[a]), lengths.len());
        let wanted: Vec<&[u8]> = batch.ready()[2..].iter().map(Frame::bytes).collect();
        assert_eq!(drain_frames(&sender, 1, &socket, &mut inbox), wanted);
        // A frame with more than one segment is on its way to a switch.
        batch.clear();
        for place in 2..12 {
            let mut rest = segment_suffix(1);
            rest[place] = 1;
            push(&mut batch, 60, BLOCK, rest);
        }
        assert_eq!(send(sender.as_fd(), batch.ready(), &[a]), 10);
        assert_eq!(drain_frames(&sender, 1, &socket, &mut inbox), [[0u8; 0]; 0]);
        assert_eq!(inbox.fill(sender.as_fd()), 0, "without interfaces nothing comes");
    });
}

/// A rejected frame does not affect others. A plane without an interface sends nothing.
#[test]
fn what_is_refused_is_lost_alone() {
    with_interface_pair(|| {
        let (sender, socket) = (open_packets().expect("root"), at_right());
        let a = index("left");
        let batch = frames(&[(0, 7), (60, 7), (1, 7), (MTU + 15, 7), (61, 7), (13, 7), (62, 7)]);
        assert_eq!(send(sender.as_fd(), batch.ready(), &[a]), 3);
        let lengths: Vec<usize> =
            drain_frames(&sender, 7, &socket, &mut Inbox::new(MTU)).iter().map(Vec::len).collect();
        assert_eq!(lengths, [60, 61, 62]);
        for interfaces in [&[][..], &[0], &[-1], &[libc::c_int::MAX]] {
            assert_eq!(send(sender.as_fd(), batch.ready(), interfaces), 0, "{interfaces:?}");
        }
        assert_eq!(send(sender.as_fd(), &[], &[a]), 0);
        // With more than a batch of frames, the next call sends the rest.
        let mut many = frames(&[(60, 7); BATCH]).ready().to_vec();
        many.extend_from_slice(batch.ready());
        assert_eq!(send(sender.as_fd(), &many, &[a]), BATCH);
        assert_eq!(drain_frames(&sender, 7, &socket, &mut Inbox::new(MTU)).len(), BATCH);
    });
}

/// Frames longer than their buffer are truncated, and adjacent buffers stay unchanged.
#[test]
fn rooms_that_are_too_small_keep_to_themselves() {
    with_interface_pair(|| {
        let (sender, socket) = (open_packets().expect("root"), at_right());
        let a = index("left");
        let sizes = [54, 60, 1_514, MTU + 14];
        for each in [0, 1, 13, 53, 54, 55, 59, 60, 61, 1_513, 1_514, 9_000, MTU + 13, MTU + 14] {
            let batch = frames(&sizes.map(|length| (length, 7)));
            assert_eq!(send(sender.as_fd(), batch.ready(), &[a]), sizes.len());
            let found = drain_frames(&sender, 7, &socket, &mut Inbox::new(each));
            assert_eq!(found.len(), sizes.len(), "{each}");
            for (frame, sent) in found.iter().zip(batch.ready()) {
                let sent = sent.bytes();
                assert_eq!(frame, &sent[..sent.len().min(each.max(1))], "{each}");
            }
        }
    });
}

#[test]
fn frames_come_from_the_interfaces_that_are_named() {
    with_interface_pair(|| {
        let (sender, socket) = (open_packets().expect("root"), open_packets().expect("root"));
        let [left, right] = [index("left"), index("right")];
        let mut inbox = Inbox::new(100);
        // Interface indexes that do not exist, before and after the real one.
        for (before, behind) in [(0, 0), (1, 0), (0, 1), (7, 8), (254, 0), (0, 254)] {
            let others = |from: libc::c_int, count| (0..count).map(move |n| from + n);
            let named: Vec<libc::c_int> =
                others(1_000, before).chain([right]).chain(others(2_000, behind)).collect();
            receive_from(socket.as_fd(), &named, BLOCK..=BLOCK).expect("it is ours");
            assert_eq!(send(sender.as_fd(), frames(&[(61, 1)]).ready(), &[left]), 1);
            let lengths: Vec<usize> =
                drain_frames(&sender, 1, &socket, &mut inbox).iter().map(Vec::len).collect();
            assert_eq!(lengths, [61], "{before}, {behind}");
        }
        let error = receive_from(socket.as_fd(), &[right; 256], BLOCK..=BLOCK).expect_err("too many");
        assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
        // Frames that arrive at the other interface are not received.
        let end = [left, right].map(|from| {
            receive_from(socket.as_fd(), &[left], BLOCK..=BLOCK).expect("it is ours");
            send(sender.as_fd(), frames(&[(62, 1)]).ready(), &[from])
        });
        assert_eq!(end, [1, 1]);
        let mut ready = Vec::new();
        wait(&[PollRequest::read(socket.as_raw_fd())], &mut ready, 60_000_000_000);
        assert_eq!((inbox.fill(socket.as_fd()), inbox.frame(0).len()), (1, 62));
    });
}

#[test]
fn blocks_are_those_from_the_first_to_the_last() {
    with_interface_pair(|| {
        let (sender, socket, left) =
            (open_packets().expect("root"), open_packets().expect("root"), index("left"));
        let mut batch = Batch::new(100);
        for (length, block) in (60..).zip([BLOCK - 2, BLOCK - 1, BLOCK, BLOCK + 1]) {
            push(&mut batch, length, block, segment_suffix(1));
        }
        receive_from(socket.as_fd(), &[index("right")], BLOCK - 1..=BLOCK).expect("it is ours");
        assert_eq!(send(sender.as_fd(), batch.ready(), &[left]), 4);
        let lengths: Vec<usize> =
            drain_frames(&sender, 2, &socket, &mut Inbox::new(100)).iter().map(Vec::len).collect();
        assert_eq!(lengths, [61, 62]);
    });
}

/// A frame for another NIC has that NIC's MAC address, so an interface drops it unless it is promiscuous.
#[test]
fn interfaces_take_frames_for_others_as_long_as_the_socket_is_open() {
    with_interface_pair(|| {
        let promiscuous = || {
            let shown =
                Command::new("ip").args(["-d", "-j", "link", "show", "right"]).output().expect("`ip`");
            let text = String::from_utf8_lossy(&shown.stdout).replace(' ', "");
            text.contains("\"promiscuity\":1")
        };
        let socket = at_right();
        assert!(!promiscuous());
        take_all(socket.as_fd(), index("right")).expect("it is ours");
        assert!(promiscuous());
        drop(socket);
        // A child process of another test may keep the socket open for a moment.
        while promiscuous() {
            std::thread::yield_now();
        }
        let socket = at_right();
        assert!(take_all(socket.as_fd(), libc::c_int::MAX).is_err());
    });
}

#[test]
fn interfaces_are_found_by_name_and_say_whether_they_have_a_carrier() {
    with_interface_pair(|| {
        let any = open_packets().expect("root");
        ip(&["link", "set", "left", "address", "02:00:00:00:00:0a"]);
        assert_eq!(interface(any.as_fd(), "left").expect("it is there"), ([2, 0, 0, 0, 0, 10], true));
        let (links, mut ready) = (open_links().expect("a socket"), Vec::new());
        ip(&["link", "set", "right", "down"]);
        wait(
            &[PollRequest::read(any.as_raw_fd()), PollRequest::read(links.as_raw_fd())],
            &mut ready,
            60_000_000_000,
        );
        assert_eq!(ready, [false, true], "a link has changed");
        // The kernel reports the change with a delay.
        while interface(any.as_fd(), "left").expect("it is there").1 {
            std::thread::yield_now();
        }
        for name in ["", "absent", "\0", "0123456789abcde", "0123456789abcdef", "left\0", &"x".repeat(5_000)]
        {
            assert!(interface(any.as_fd(), name).is_err(), "{name:?}");
            assert_eq!(interface_index(name), None, "{name:?}");
        }
        assert!(interface_index("lo").is_some());
    });
}

#[test]
fn waiting_for_nothing_or_for_what_is_closed_ends() {
    let mut ready = vec![true; 9];
    wait(&[], &mut ready, 0);
    assert!(ready.is_empty());
    let closed = RawFd::MAX;
    wait(&[PollRequest::read(closed), PollRequest::read(-1)], &mut ready, u64::MAX);
    assert_eq!(ready, [true, false], "what is not a descriptor says so, what is below zero is passed over");
}

#[test]
fn devices_are_gone_with_their_descriptor() {
    with_interface_pair(|| {
        if !std::path::Path::new("/dev/net/tun").exists() {
            return closc_skip::skip("there is no /dev/net/tun");
        }
        let device = open_tun("t").expect("root");
        assert!(interface_index("t").is_some());
        for name in ["t", "", "left\0", "\0", "0123456789abcdef", &"x".repeat(5_000)] {
            assert!(open_tun(name).is_err(), "{name:?}");
        }
        drop(device);
        // A child process of another test keeps the descriptor open between fork and exec.
        while interface_index("t").is_some() {
            std::thread::yield_now();
        }
    });
}

/// Switches to another user in a separate process.
#[test]
fn who_became_another_user_stays_it() {
    if std::env::var_os(BECOME).is_some() {
        become_user(12_345, 23_456).expect("root may");
        assert!(!is_root());
        assert!(become_user(0, 0).is_err(), "there is no way back");
        let status = std::fs::read_to_string("/proc/thread-self/status").expect("the system says it");
        let line =
            |name: &str| status.lines().find_map(|line| line.strip_prefix(name)).expect("it is there").trim();
        assert_eq!(line("Uid:"), "12345\t12345\t12345\t12345");
        assert_eq!(line("Gid:"), "23456\t23456\t23456\t23456");
        assert_eq!((line("Groups:"), line("NoNewPrivs:")), ("", "1"));
        return;
    }
    if !is_root() {
        assert!(become_user(0, 0).is_err());
        return closc_skip::skip("only root becomes another user");
    }
    let name = std::thread::current().name().expect("tests have names").to_owned();
    let child = Command::new(std::env::current_exe().expect("this test runs"))
        .args(["--exact", &name, "--nocapture"])
        .env(BECOME, "1")
        .output()
        .expect("this test can be run");
    let said = String::from_utf8_lossy(&child.stdout) + String::from_utf8_lossy(&child.stderr);
    assert!(child.status.success(), "{said}");
}

/// Frames sent over AF_XDP arrive unchanged, even if there are many more frames than chunks. Frames longer
/// than a chunk, and those of a plane without an interface, are returned.
#[test]
fn what_leaves_by_shared_memory_arrives_as_it_was() {
    with_interface_pair(|| {
        let (sender, socket, left) = (open_packets().expect("root"), at_right(), index("left"));
        let mut xdp = Xdp::default();
        let faults = xdp.open(&[left]);
        if let [(0, error)] = &faults[..] {
            closc_skip::skip(format_args!("no AF_XDP here: {error}"));
            return;
        }
        let mut inbox = Inbox::new(MTU + 14);
        let lengths = [(54, 7), (60, 7), (1_514, 7), (2_047, 7), (2_048, 7), (2_049, 7), (13, 7), (9_014, 7)];
        for _ in 0..100 {
            let batch = frames(&lengths);
            assert_eq!(xdp.send(batch.ready()), (5, vec![5, 6, 7]));
            xdp.flush();
            let wanted: Vec<&[u8]> = batch.ready()[..5].iter().map(Frame::bytes).collect();
            assert_eq!(drain_frames(&sender, 7, &socket, &mut inbox), wanted);
        }
        let batch = frames(&[(60, 7); BATCH]);
        for _ in 0..20 {
            assert_eq!(xdp.send(batch.ready()), (BATCH, vec![]));
            assert_eq!(drain_frames(&sender, 7, &socket, &mut inbox).len(), BATCH);
        }
        let few = frames(&[(60, 7); 5]);
        for wanted in [0, 0, 0, 20, 0, 0, 0, 20] {
            assert_eq!(xdp.send(few.ready()), (5, vec![]));
            assert_eq!(drain_frames(&sender, 7, &socket, &mut inbox).len(), wanted, "a few wait for more");
        }
        assert!(xdp.open(&[left]).is_empty(), "what is open stays");
        assert_eq!(xdp.send(batch.ready()).0, BATCH);
        assert_eq!(drain_frames(&sender, 7, &socket, &mut inbox).len(), BATCH);
        for none in [&[][..], &[0], &[-1]] {
            assert!(xdp.open(none).is_empty(), "{none:?}");
            assert_eq!(xdp.send(batch.ready()), (0, (0..BATCH).collect()), "{none:?}");
        }
        assert_eq!(xdp.open(&[libc::c_int::MAX]).len(), 1, "there is no such interface");
        // The kernel releases the previous socket some time after it was closed.
        while xdp.send(batch.ready()).0 == 0 {
            xdp.open(&[left]);
            std::thread::yield_now();
        }
        assert_eq!(drain_frames(&sender, 7, &socket, &mut inbox).len(), BATCH);
    });
}

/// A port that is down accepts frames up to its limit. Once it is up, sending continues.
#[test]
fn a_port_that_is_down_does_not_stop_what_comes_after() {
    with_interface_pair(|| {
        let (sender, socket, left) = (open_packets().expect("root"), at_right(), index("left"));
        let mut xdp = Xdp::default();
        if let [(0, error)] = &xdp.open(&[left])[..] {
            closc_skip::skip(format_args!("no AF_XDP here: {error}"));
            return;
        }
        ip(&["link", "set", "left", "down"]);
        let batch = frames(&[(60, 7); BATCH]);
        for _ in 0..50 {
            let (sent, others) = xdp.send(batch.ready());
            assert_eq!(sent + others.len(), BATCH);
        }
        ip(&["link", "set", "left", "up"]);
        until_frames_pass();
        let mut inbox = Inbox::new(MTU + 14);
        drain_frames(&sender, 7, &socket, &mut inbox);
        // Frames that remain in the ring are sent first.
        for _ in 0..10 {
            xdp.send(batch.ready());
            drain_frames(&sender, 7, &socket, &mut inbox);
        }
        assert_eq!(xdp.send(batch.ready()), (BATCH, vec![]));
        assert_eq!(drain_frames(&sender, 7, &socket, &mut inbox).len(), BATCH);
    });
}
