//! Tests all socket calls, between two interfaces in a private network namespace: frames of all lengths,
//! tags, rejected frames, and truncated auxiliary data. `sanitize/` also runs these tests under
//! AddressSanitizer.

use std::process::Command;

use super::*;

/// Maximum frame length of the interfaces: their MTU plus the header.
const MTU: usize = 65_535;

/// Runs a function in a network namespace with the interfaces `left` and `right`. The namespace is removed with its
/// thread.
fn run_in_namespace(work: impl FnOnce() + Send) {
    let done = std::thread::scope(|scope| {
        // The thread has the name of the test, under which a skipped test is reported.
        let name = std::thread::current().name().unwrap_or_default().to_owned();
        let thread = std::thread::Builder::new().name(name).spawn_scoped(scope, || {
            // SAFETY: no pointers; only this thread changes its namespace.
            if unsafe { libc::unshare(libc::CLONE_NEWNET) } != 0 {
                closc_skip::skip("a network namespace needs root");
                return;
            }
            let mtu = MTU.to_string();
            for line in [
                &[
                    "link", "add", "name", "left", "mtu", &mtu, "type", "veth", "peer", "name", "right",
                    "mtu", &mtu,
                ][..],
                &["link", "set", "left", "up"],
                &["link", "set", "right", "up"],
            ] {
                match Command::new("ip").args(line).status() {
                    Err(error) => return closc_skip::skip(format_args!("no `ip`: {error}")),
                    Ok(status) if !status.success() => {
                        return closc_skip::skip("no pairs of interfaces here");
                    }
                    Ok(_) => {}
                }
            }
            stay();
            until_frames_pass();
            work();
        });
        thread.expect("there is room for a thread").join()
    });
    if let Err(panic) = done {
        std::panic::resume_unwind(panic);
    }
}

/// Pins the thread to its processor, because frames can be reordered between processors.
fn stay() {
    // SAFETY: a set of zeros is empty, and it outlives the calls.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(libc::sched_getcpu() as usize, &mut set);
        assert_eq!(libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &raw const set), 0);
    }
}

/// Sends until something arrives: an interface that has just come up may lose frames.
fn until_frames_pass() {
    let (left, right) =
        (RawSocket::open("left").expect("it is there"), RawSocket::open("right").expect("it is there"));
    let mut batch = Batch::new();
    while right.receive(&mut batch).is_err() || batch.frames().all(|frame| frame[0] != 10) {
        let mut frame = frame(60, 0);
        frame[0] = 10;
        left.send(&[&frame]);
        std::thread::yield_now();
    }
}

/// A frame with an experimental Ethertype (IEEE 802 9.2.3), which only this test sends.
fn frame(length: usize, number: u8) -> Vec<u8> {
    let mut frame = vec![number; length];
    for (byte, value) in frame.iter_mut().zip([2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x88, 0xb5]) {
        *byte = value;
    }
    frame
}

/// A marker frame after all others: order is preserved, so once it is received, all earlier frames are, too.
fn last() -> Vec<u8> {
    let mut frame = frame(60, 0);
    frame[0] = 6;
    frame
}

/// Sends a marker frame and receives all frames before it.
fn receive_frames(from: &RawSocket, socket: &RawSocket) -> Vec<Vec<u8>> {
    assert_eq!(from.send(&[&last()]), 1);
    let (mut batch, mut found) = (Batch::new(), Vec::new());
    loop {
        match socket.receive(&mut batch) {
            Ok(_) => found.extend(batch.frames().map(<[u8]>::to_vec)),
            Err(error) => assert_eq!(error.kind(), io::ErrorKind::WouldBlock, "{error}"),
        }
        if found.contains(&last()) {
            found.retain(|frame| frame.starts_with(&[2, 0, 0, 0, 0, 1]));
            return found;
        }
        let mut fds = [nix::poll::PollFd::new(socket.as_fd(), nix::poll::PollFlags::POLLIN)];
        let ready = nix::poll::poll(&mut fds, nix::poll::PollTimeout::from(60_000_u16));
        assert_eq!(ready, Ok(1), "the last frame is lost, after {} others", found.len());
    }
}

#[test]
fn frames_of_every_length_arrive_whole() {
    run_in_namespace(|| {
        let (a, b) =
            (RawSocket::open("left").expect("it is there"), RawSocket::open("right").expect("it is there"));
        let mut batch = Batch::new();
        assert_eq!(b.receive(&mut batch).map_err(|error| error.kind()), Err(io::ErrorKind::WouldBlock));
        for length in [14, 15, 59, 60, 61, 1_514, 9_014, 65_000, MTU + 14] {
            let sent = frame(length, 7);
            assert_eq!(a.send(&[&sent]), 1, "{length}");
            assert_eq!(receive_frames(&a, &b), [sent], "{length}");
        }
        // More than a batch, and none of them returns to the sender.
        let frames: Vec<Vec<u8>> = (0..=u8::MAX).map(|number| frame(100, number)).collect();
        let parts: Vec<&[u8]> = frames.iter().map(Vec::as_slice).collect();
        assert_eq!(a.send(&parts), 256);
        assert_eq!(receive_frames(&a, &b), frames);
        if a.receive(&mut batch).is_ok() {
            assert!(batch.frames().all(|frame| !frame.starts_with(&[2, 0, 0, 0, 0, 1])));
        }
    });
}

/// A frame that an interface rejects does not affect the others.
#[test]
fn what_no_interface_takes_is_lost_alone() {
    run_in_namespace(|| {
        let (a, b) =
            (RawSocket::open("left").expect("it is there"), RawSocket::open("right").expect("it is there"));
        let (fine, long) = (frame(64, 1), frame(MTU + 15, 2));
        let hostile: [&[u8]; 7] = [&[], &long, &fine, &[1], &fine, &long, &fine];
        assert_eq!(a.send(&hostile), 3);
        assert_eq!(receive_frames(&a, &b), [fine.clone(), fine.clone(), fine.clone()]);
        assert_eq!(a.send(&[]), 0);
    });
}

/// A tag that the kernel removed is inserted again, even if the frame ends after it.
#[test]
fn tags_are_as_they_were_on_the_wire() {
    run_in_namespace(|| {
        let (a, b) =
            (RawSocket::open("left").expect("it is there"), RawSocket::open("right").expect("it is there"));
        for kind in [[0x81, 0x00], [0x88, 0xa8]] {
            // The kernel drops frames that end before a complete Ethertype after the tag.
            for length in [20, 21, 64, 1_518, MTU + 14] {
                let mut sent = frame(length, 9);
                sent[12..18].copy_from_slice(&[kind[0], kind[1], 0xe1, 0x23, 0x88, 0xb5]);
                assert_eq!(a.send(&[&sent]), 1, "{kind:?}, {length}");
                assert_eq!(receive_frames(&a, &b), [sent], "{kind:?}, {length}");
            }
        }
    });
}

#[test]
fn interfaces_are_found_by_name_and_say_whether_they_are_up() {
    run_in_namespace(|| {
        let a = RawSocket::open("left").expect("it is there");
        assert!(a.is_up());
        let down = Command::new("ip").args(["link", "set", "right", "down"]).status();
        assert!(down.is_ok_and(|status| status.success()));
        // The kernel reports the change with a delay.
        while a.is_up() {
            std::thread::yield_now();
        }
        a.send(&[&frame(64, 1)]);
        for name in ["", "absent", "left\0", "0123456789abcde", "0123456789abcdef", &"x".repeat(5_000)] {
            assert!(RawSocket::open(name).is_err(), "{name:?}");
        }
        let gone = Command::new("ip").args(["link", "del", "left"]).status();
        assert!(gone.is_ok_and(|status| status.success()) && !a.is_up());
        assert!(a.receive(&mut Batch::new()).is_err());
    });
}

/// Auxiliary data of a frame, complete and truncated at every byte: missing data are not read.
#[test]
fn auxiliary_data_is_read_only_where_it_is_whole() {
    let size = mem::size_of::<libc::tpacket_auxdata>() as c_uint;
    // SAFETY: these calls only compute lengths.
    let (space, whole) = unsafe { (libc::CMSG_SPACE(size) as usize, libc::CMSG_LEN(size) as usize) };
    for (level, kind, valid) in [
        (libc::SOL_PACKET, libc::PACKET_AUXDATA, true),
        (libc::SOL_PACKET, libc::PACKET_STATISTICS, false),
        (libc::SOL_SOCKET, libc::PACKET_AUXDATA, false),
    ] {
        for said in [0, 1, 15, 16, whole - 1, whole, space, space + 1, 4096, usize::MAX] {
            for given in 0..=space {
                // Allocated with exactly this size, so that a sanitizer detects reads beyond it.
                let mut control = vec![0_u64; given.div_ceil(8)];
                // SAFETY: a header of zeros is valid.
                let mut header: libc::msghdr = unsafe { mem::zeroed() };
                header.msg_control = control.as_mut_ptr().cast();
                header.msg_controllen = given;
                if given >= mem::size_of::<libc::cmsghdr>() {
                    // SAFETY: the buffer is aligned for the header of a message and holds one.
                    let first = unsafe { &mut *control.as_mut_ptr().cast::<libc::cmsghdr>() };
                    (first.cmsg_level, first.cmsg_type, first.cmsg_len) = (level, kind, said);
                }
                if given >= whole {
                    let data = libc::tpacket_auxdata {
                        tp_status: libc::TP_STATUS_VLAN_VALID,
                        tp_len: 0,
                        tp_snaplen: 0,
                        tp_mac: 0,
                        tp_net: 0,
                        tp_vlan_tci: 0x0123,
                        tp_vlan_tpid: 0,
                    };
                    // SAFETY: the buffer is long enough for the data behind the header, as checked above.
                    unsafe {
                        libc::CMSG_DATA(control.as_ptr().cast())
                            .cast::<libc::tpacket_auxdata>()
                            .write_unaligned(data);
                    };
                }
                let wanted = (valid && said >= whole && said <= given).then_some([0x81, 0x00, 0x01, 0x23]);
                assert_eq!(tag(&header), wanted, "{level} {kind}: says {said} of {given} bytes");
            }
        }
    }
}
