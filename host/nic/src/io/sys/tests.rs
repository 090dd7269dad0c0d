//! Every call, between two interfaces in a network namespace of the test's own: frames of all lengths, what is cut off
//! and what is refused. `sanitize/` runs these under AddressSanitizer, too.

use std::os::fd::AsFd as _;
use std::process::Command;

use super::*;
use crate::batch::Batch;

/// The longest packet that the interfaces take.
const MTU: usize = 65_535;
/// The first bits of the addresses of a fabric.
const BLOCK: u32 = 0xfcbb_bbbb;
/// Set for the process that becomes another user.
const BECOME: &str = "CLOSC_TEST_BECOME";

/// Segments of the block.
fn own(usids: &[u16]) -> Vec<Segment> {
    usids.iter().map(|usid| Segment { block: BLOCK, usid: *usid }).collect()
}

/// Runs some work in a network namespace with the interfaces `left` and `right`, which goes with the thread.
fn between(work: impl FnOnce() + Send) {
    let done = std::thread::scope(|scope| {
        // Under the name of the test, which says why it does not run.
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

/// Keeps the thread on its processor: between two of them frames overtake each other.
fn stay() {
    // SAFETY: a set of zeros is empty, and lives through the calls.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(libc::sched_getcpu() as usize, &mut set);
        assert_eq!(libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &raw const set), 0);
    }
}

/// Sends until something arrives: an interface that has just come up loses what it gets.
fn until_frames_pass() {
    let socket = open_packets(&own(&[9])).expect("root");
    let (mut inbox, left) = (Inbox::new(60), interface_index("left").expect("it is there"));
    while inbox.fill(socket.as_fd()) == 0 {
        send(socket.as_fd(), frames(&[(60, 9)]).ready(), &[left]);
        std::thread::yield_now();
    }
}

/// Fills a batch with IPv6 frames of these lengths to segments of these numbers.
fn frames(lengths: &[(usize, u16)]) -> Batch {
    let mut batch = Batch::new(MTU + 100);
    for (number, (length, segment)) in lengths.iter().enumerate() {
        let frame = batch.free().expect("there is room");
        let bytes = frame.payload();
        bytes.fill(number as u8);
        bytes[..14].copy_from_slice(&[2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x86, 0xdd]);
        bytes[38..42].copy_from_slice(&BLOCK.to_be_bytes());
        bytes[42..44].copy_from_slice(&segment.to_be_bytes());
        frame.finish(0, *length, |room| room.len());
        batch.push();
    }
    batch
}

/// Sends a last frame to a segment and receives all before it, as the interfaces keep the order.
fn received(from: &OwnedFd, segment: u16, socket: &OwnedFd, inbox: &mut Inbox) -> Vec<Vec<u8>> {
    let left = interface_index("left").expect("it is there");
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
        wait(&[socket.as_raw_fd()], &mut ready, 60_000_000_000);
        assert_eq!(ready, [true], "the last frame is lost, after {} others", found.len());
    }
}

#[test]
fn frames_to_a_segment_arrive_and_others_wake_nobody() {
    between(|| {
        let (sender, socket) =
            (open_packets(&own(&[])).expect("root"), open_packets(&own(&[1, 0xffff])).expect("root"));
        let a = interface_index("left").expect("it is there");
        let mut inbox = Inbox::new(MTU + 14);
        assert_eq!(inbox.fill(socket.as_fd()), 0);
        // Of another segment, or too short to have one; and those that are received.
        let lengths = [
            (14, 1),
            (43, 1),
            (44, 1),
            (44, 2),
            (60, 0xffff),
            (1_514, 1),
            (1_514, 0),
            (9_014, 0xffff),
            (MTU + 14, 1),
        ];
        let batch = frames(&lengths);
        assert_eq!(send(sender.as_fd(), batch.ready(), &[a]), lengths.len());
        let wanted: Vec<&[u8]> = [2, 4, 5, 7, 8].map(|at: usize| batch.ready()[at].bytes()).to_vec();
        assert_eq!(received(&sender, 1, &socket, &mut inbox), wanted);
        assert_eq!(inbox.fill(socket.as_fd()), 0, "nothing else");
        assert_eq!(inbox.fill(sender.as_fd()), 0, "a filter without segments lets nothing through");
    });
}

/// One frame that is refused takes no other with it, and a plane without an interface is no interface.
#[test]
fn what_is_refused_is_lost_alone() {
    between(|| {
        let (sender, socket) =
            (open_packets(&own(&[])).expect("root"), open_packets(&own(&[7])).expect("root"));
        let a = interface_index("left").expect("it is there");
        let batch = frames(&[(0, 7), (60, 7), (1, 7), (MTU + 15, 7), (61, 7), (13, 7), (62, 7)]);
        assert_eq!(send(sender.as_fd(), batch.ready(), &[a]), 3);
        let lengths: Vec<usize> =
            received(&sender, 7, &socket, &mut Inbox::new(MTU)).iter().map(Vec::len).collect();
        assert_eq!(lengths, [60, 61, 62]);
        for interfaces in [&[][..], &[0], &[-1], &[libc::c_int::MAX]] {
            assert_eq!(send(sender.as_fd(), batch.ready(), interfaces), 0, "{interfaces:?}");
        }
        assert_eq!(send(sender.as_fd(), &[], &[a]), 0);
        // More than a batch: the rest is for the next call.
        let mut many = frames(&[(60, 7); BATCH]).ready().to_vec();
        many.extend_from_slice(batch.ready());
        assert_eq!(send(sender.as_fd(), &many, &[a]), BATCH);
        assert_eq!(received(&sender, 7, &socket, &mut Inbox::new(MTU)).len(), BATCH);
    });
}

/// Frames longer than their room are cut off, and their neighbours stay as they are.
#[test]
fn rooms_that_are_too_small_keep_to_themselves() {
    between(|| {
        let (sender, socket) =
            (open_packets(&own(&[])).expect("root"), open_packets(&own(&[7])).expect("root"));
        let a = interface_index("left").expect("it is there");
        let sizes = [44, 60, 1_514, MTU + 14];
        for each in [0, 1, 13, 43, 44, 45, 59, 60, 61, 1_513, 1_514, 9_000, MTU + 13, MTU + 14] {
            let batch = frames(&sizes.map(|length| (length, 7)));
            assert_eq!(send(sender.as_fd(), batch.ready(), &[a]), sizes.len());
            let found = received(&sender, 7, &socket, &mut Inbox::new(each));
            assert_eq!(found.len(), sizes.len(), "{each}");
            for (frame, sent) in found.iter().zip(batch.ready()) {
                let sent = sent.bytes();
                assert_eq!(frame, &sent[..sent.len().min(each.max(1))], "{each}");
            }
        }
    });
}

#[test]
fn filters_have_any_number_of_segments_that_the_kernel_takes() {
    between(|| {
        let a = interface_index("left").expect("it is there");
        let sender = open_packets(&own(&[])).expect("root");
        for count in [1_u16, 127, 254, 255, 256, 300, 1_000, 2_045] {
            let segments = own(&(1..=count).collect::<Vec<u16>>());
            let socket = open_packets(&segments).expect("root");
            let batch = frames(&[(60, 0), (61, 1), (62, count), (63, count + 1)]);
            assert_eq!(send(sender.as_fd(), batch.ready(), &[a]), 4);
            let lengths: Vec<usize> =
                received(&sender, 1, &socket, &mut Inbox::new(100)).iter().map(Vec::len).collect();
            assert_eq!(lengths, [61, 62], "{count}");
        }
        let error = open_packets(&own(&[0; 2_046])).expect_err("too many");
        assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
    });
}

/// Each segment counts in its own block alone.
#[test]
fn filters_have_segments_of_several_blocks() {
    between(|| {
        let a = interface_index("left").expect("it is there");
        let sender = open_packets(&[]).expect("root");
        let of = |block, usid| Segment { block, usid };
        let segments = [of(BLOCK - 1, 1), of(BLOCK - 1, 3), of(BLOCK, 2), of(BLOCK, 4), of(BLOCK + 1, 5)];
        let socket = open_packets(&segments).expect("root");
        let batch = frames(&[(60, 1), (61, 2), (62, 3), (63, 4), (64, 5)]);
        assert_eq!(send(sender.as_fd(), batch.ready(), &[a]), 5);
        let lengths: Vec<usize> =
            received(&sender, 2, &socket, &mut Inbox::new(100)).iter().map(Vec::len).collect();
        assert_eq!(lengths, [61, 63]);
    });
}

#[test]
fn interfaces_are_found_by_name_and_say_whether_they_have_a_carrier() {
    between(|| {
        let any = open_packets(&own(&[])).expect("root");
        ip(&["link", "set", "left", "address", "02:00:00:00:00:0a"]);
        assert_eq!(interface(any.as_fd(), "left").expect("it is there"), ([2, 0, 0, 0, 0, 10], true));
        let (links, mut ready) = (open_links().expect("a socket"), Vec::new());
        ip(&["link", "set", "right", "down"]);
        wait(&[any.as_raw_fd(), links.as_raw_fd()], &mut ready, 60_000_000_000);
        assert_eq!(ready, [false, true], "a link has changed");
        // The system says it a little later.
        while interface(any.as_fd(), "left").expect("it is there").1 {
            std::thread::yield_now();
        }
        for name in ["", "nobody", "\0", "0123456789abcde", "0123456789abcdef", "left\0", &"x".repeat(5_000)]
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
    wait(&[closed, -1], &mut ready, u64::MAX);
    assert_eq!(ready, [true, false], "what is no descriptor says so, what is below zero is passed over");
}

#[test]
fn devices_are_gone_with_their_descriptor() {
    between(|| {
        if !std::path::Path::new("/dev/net/tun").exists() {
            return closc_skip::skip("there is no /dev/net/tun");
        }
        let device = open_tun("t").expect("root");
        assert!(interface_index("t").is_some());
        for name in ["t", "", "left\0", "\0", "0123456789abcdef", &"x".repeat(5_000)] {
            assert!(open_tun(name).is_err(), "{name:?}");
        }
        drop(device);
        // A child of another test holds the descriptor, too, from its fork to its exec.
        while interface_index("t").is_some() {
            std::thread::yield_now();
        }
    });
}

/// Becomes another user in a process of its own.
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
