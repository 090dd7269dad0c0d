//! System calls that the standard library does not provide.
//!
//! In: descriptors and buffers. Out: results of the kernel. Invariants: within the crate, only this file and those
//! below it contain unsafe code. Every pointer outlives its call. Every length is that of the memory it refers to.

#![allow(
    unsafe_code,
    reason = "packet sockets, TUN devices and batches of packets have no safe interface in std"
)]
#![allow(
    clippy::cast_possible_wrap,
    reason = "the kernel's structures have signed fields for what is never below zero"
)]

use std::ffi::CString;
use std::fs::OpenOptions;
use std::io;
use std::mem::{size_of, zeroed};
use std::ops::RangeInclusive;
use std::os::fd::{AsFd as _, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::fs::OpenOptionsExt;
use std::time::Duration;

use crate::batch::{BATCH, Frame};

#[path = "sys/xdp.rs"]
mod xdp;

pub use xdp::Xdp;

fn check(result: libc::c_int) -> io::Result<libc::c_int> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

fn set_option<T>(fd: RawFd, level: libc::c_int, name: libc::c_int, value: &T) -> io::Result<()> {
    let at = std::ptr::from_ref(value).cast();
    // SAFETY: `value` outlives the call, and the length is that of `value`.
    check(unsafe { libc::setsockopt(fd, level, name, at, size_of::<T>() as libc::socklen_t) }).map(|_| ())
}

fn interface_request(name: &str) -> io::Result<libc::ifreq> {
    // SAFETY: zeros are a valid ifreq: it contains only numbers.
    let mut request: libc::ifreq = unsafe { zeroed() };
    if name.is_empty() || name.len() >= request.ifr_name.len() || name.contains('\0') {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "an interface has a name of 1 to 15 bytes"));
    }
    for (to, from) in request.ifr_name.iter_mut().zip(name.bytes()) {
        *to = from as libc::c_char;
    }
    Ok(request)
}

/// Opens a TUN device, which is removed when the descriptor is closed. It reads and writes TCP segments over IPv6 of up
/// to 64 KiB, each behind a `struct virtio_net_hdr`, and leaves checksums to the reader.
pub fn open_tun(name: &str) -> io::Result<OwnedFd> {
    let device =
        OpenOptions::new().read(true).write(true).custom_flags(libc::O_NONBLOCK).open("/dev/net/tun")?;
    let mut request = interface_request(name)?;
    request.ifr_ifru.ifru_flags = (libc::IFF_TUN | libc::IFF_NO_PI | libc::IFF_VNET_HDR) as libc::c_short;
    // SAFETY: the request outlives the call, which does not access memory outside it.
    check(unsafe { libc::ioctl(device.as_raw_fd(), libc::TUNSETIFF, &raw mut request) })?;
    let offload = libc::c_ulong::from(libc::TUN_F_CSUM | libc::TUN_F_TSO6);
    // SAFETY: the argument is a number, not a pointer.
    check(unsafe { libc::ioctl(device.as_raw_fd(), libc::TUNSETOFFLOAD, offload) })?;
    Ok(device.into())
}

/// Returns the name of a TUN device as [`open_tun`] opens it; `None` for any other descriptor.
pub(crate) fn tun_name(fd: BorrowedFd<'_>) -> Option<String> {
    // SAFETY: zeros are a valid ifreq: it contains only numbers.
    let mut request: libc::ifreq = unsafe { zeroed() };
    // SAFETY: the request outlives the call, which writes nothing else.
    check(unsafe { libc::ioctl(fd.as_raw_fd(), libc::TUNGETIFF, &raw mut request) }).ok()?;
    // SAFETY: the call filled in the flags.
    let flags = libc::c_int::from(unsafe { request.ifr_ifru.ifru_flags });
    let name = request.ifr_name.iter().map(|byte| *byte as u8).take_while(|byte| *byte != 0).collect();
    let wanted = libc::IFF_TUN | libc::IFF_NO_PI | libc::IFF_VNET_HDR;
    String::from_utf8(name).ok().filter(|_| flags & wanted == wanted)
}

/// Returns whether a descriptor is a packet socket.
pub(crate) fn is_packets(fd: BorrowedFd<'_>) -> bool {
    let mut domain: libc::c_int = 0;
    let mut len = size_of::<libc::c_int>() as libc::socklen_t;
    let at = (&raw mut domain).cast();
    // SAFETY: both outlive the call, which writes no more than `len` bytes to the first.
    let done =
        unsafe { libc::getsockopt(fd.as_raw_fd(), libc::SOL_SOCKET, libc::SO_DOMAIN, at, &raw mut len) };
    done == 0 && domain == libc::AF_PACKET
}

/// Takes the first `count` descriptors after standard error, which the parent process has passed on
/// (`sd_listen_fds(3)`). Descriptors that are not open are skipped. Call it once, before this process opens any others.
pub(crate) fn take_inherited(count: RawFd) -> Vec<OwnedFd> {
    let first = libc::STDERR_FILENO + 1;
    let open = |fd: RawFd| {
        // SAFETY: no pointers; a descriptor that is not open is an error.
        let done = unsafe { libc::fcntl(fd, libc::F_SETFD, libc::FD_CLOEXEC) };
        // SAFETY: the descriptor is open, and the caller promises that nothing else in this process owns it.
        (done == 0).then(|| unsafe { OwnedFd::from_raw_fd(fd) })
    };
    (first..first.saturating_add(count)).filter_map(open).collect()
}

/// Opens a socket for frames. It receives none until [`receive_from`] sets the interfaces.
pub fn open_packets() -> io::Result<OwnedFd> {
    // SAFETY: no pointers.
    let fd = check(unsafe { libc::socket(libc::AF_PACKET, libc::SOCK_RAW | libc::SOCK_CLOEXEC, 0) })?;
    // SAFETY: the kernel just created the descriptor and nothing else owns it.
    let socket = unsafe { OwnedFd::from_raw_fd(fd) };
    let one: libc::c_int = 1;
    set_option(fd, libc::SOL_PACKET, libc::PACKET_IGNORE_OUTGOING, &one)?;
    stamp(socket.as_fd(), true)?;
    receive_from(socket.as_fd(), &[], 0..=0)?;
    let room: libc::c_int = 8 << 20;
    // Without the privilege, the buffer is limited by the system's maximum.
    if set_option(fd, libc::SOL_SOCKET, libc::SO_RCVBUFFORCE, &room).is_err() {
        set_option(fd, libc::SOL_SOCKET, libc::SO_RCVBUF, &room)?;
    }
    // SAFETY: zeros are a valid sockaddr_ll.
    let mut address: libc::sockaddr_ll = unsafe { zeroed() };
    address.sll_family = libc::AF_PACKET as u16;
    address.sll_protocol = (libc::ETH_P_IPV6 as u16).to_be();
    let at = (&raw const address).cast();
    // SAFETY: the address outlives the call, and the length is that of the address.
    check(unsafe { libc::bind(fd, at, size_of::<libc::sockaddr_ll>() as libc::socklen_t) })?;
    Ok(socket)
}

/// Enables or disables receive timestamps. While any socket on the machine requests them, the kernel reads the clock
/// for every frame.
pub fn stamp(socket: BorrowedFd<'_>, on: bool) -> io::Result<()> {
    set_option(socket.as_raw_fd(), libc::SOL_SOCKET, libc::SO_TIMESTAMPNS, &libc::c_int::from(on))
}

/// Offset at which classic BPF reads the interface index (`SKF_AD_OFF + SKF_AD_IFINDEX` of `linux/filter.h`).
const INTERFACE: u32 = 0xffff_f000 + 8;

/// Accepts frames of these interfaces whose outer address is a single segment of one of the blocks. Switches deliver
/// such frames to a NIC: this one or, with swapped cables, another one. Other traffic of the node does not wake the
/// agent, and neither do ports of its other NICs.
pub fn receive_from(
    socket: BorrowedFd<'_>,
    interfaces: &[libc::c_int],
    blocks: RangeInclusive<u32>,
) -> io::Result<()> {
    let op = |code: u32, k: u32, jt: u8, jf: u8| libc::sock_filter { code: code as u16, jt, jf, k };
    let jump = |kind: u32, k: u32, jt: u8, jf: u8| op(libc::BPF_JMP | kind | libc::BPF_K, k, jt, jf);
    let load = |size: u32, at: u32| op(libc::BPF_LD | size | libc::BPF_ABS, at, 0, 0);
    let answer = |bytes: u32| op(libc::BPF_RET | libc::BPF_K, bytes, 0, 0);
    let too_many = |_| io::Error::new(io::ErrorKind::InvalidInput, "a NIC has at most 255 ports");
    let count = u8::try_from(interfaces.len()).map_err(too_many)?;
    let mut program = vec![load(libc::BPF_W, INTERFACE)];
    // A match jumps over the remaining interfaces and the rejection.
    let one = |(place, interface): (u8, &libc::c_int)| {
        jump(libc::BPF_JEQ, interface.cast_unsigned(), count - place, 0)
    };
    program.extend((0..count).zip(interfaces).map(one));
    program.extend([
        answer(0),
        load(libc::BPF_W, 38),
        jump(libc::BPF_JGE, *blocks.start(), 0, 8),
        jump(libc::BPF_JGT, *blocks.end(), 7, 0),
        load(libc::BPF_W, 44),
        jump(libc::BPF_JEQ, 0, 0, 5),
        load(libc::BPF_W, 48),
        jump(libc::BPF_JEQ, 0, 0, 3),
        load(libc::BPF_H, 52),
        jump(libc::BPF_JEQ, 0, 0, 1),
        answer(0x40000),
        answer(0),
    ]);
    let filter = libc::sock_fprog { len: program.len() as u16, filter: program.as_mut_ptr() };
    set_option(socket.as_raw_fd(), libc::SOL_SOCKET, libc::SO_ATTACH_FILTER, &filter)
}

/// Makes an interface accept frames for any MAC address, until the interface or the socket is closed. Frames for
/// another NIC have that NIC's MAC address.
pub fn take_all(socket: BorrowedFd<'_>, interface: libc::c_int) -> io::Result<()> {
    let request = libc::packet_mreq {
        mr_ifindex: interface,
        mr_type: libc::PACKET_MR_PROMISC as libc::c_ushort,
        mr_alen: 0,
        mr_address: [0; 8],
    };
    set_option(socket.as_raw_fd(), libc::SOL_PACKET, libc::PACKET_ADD_MEMBERSHIP, &request)
}

/// Sends at most one batch of frames over the interfaces of their planes. Returns the number of sent frames. A frame
/// that an interface rejects is skipped.
pub fn send<'f>(
    socket: BorrowedFd<'_>,
    frames: impl IntoIterator<Item = &'f Frame>,
    interfaces: &[libc::c_int],
) -> usize {
    // SAFETY: zeros are valid for each of these.
    let (mut headers, mut parts, mut addresses): (
        [libc::mmsghdr; BATCH],
        [libc::iovec; BATCH],
        [libc::sockaddr_ll; BATCH],
    ) = unsafe { (zeroed(), zeroed(), zeroed()) };
    let mut n = 0;
    for (at, frame) in frames.into_iter().take(BATCH).enumerate() {
        n = at + 1;
        let bytes = frame.bytes();
        addresses[at].sll_family = libc::AF_PACKET as u16;
        addresses[at].sll_ifindex = interfaces.get(usize::from(frame.plane)).copied().unwrap_or(0);
        addresses[at].sll_protocol = (libc::ETH_P_IPV6 as u16).to_be();
        parts[at] = libc::iovec { iov_base: bytes.as_ptr().cast_mut().cast(), iov_len: bytes.len() };
        let header = &mut headers[at].msg_hdr;
        header.msg_name = (&raw mut addresses[at]).cast();
        header.msg_namelen = size_of::<libc::sockaddr_ll>() as libc::socklen_t;
        header.msg_iov = &raw mut parts[at];
        header.msg_iovlen = 1;
    }
    let (mut from, mut sent) = (0, 0);
    while from < n {
        let rest = &mut headers[from..n];
        // SAFETY: each header points to an address and bytes that outlive the call; the kernel only reads
        // them.
        let left = unsafe {
            libc::sendmmsg(
                socket.as_raw_fd(),
                rest.as_mut_ptr(),
                rest.len() as libc::c_uint,
                libc::MSG_DONTWAIT,
            )
        };
        if left > 0 {
            sent += left as usize;
            from += left as usize;
        } else {
            // The port is down or its queue is full. This frame is lost, as in any network.
            from += 1;
        }
    }
    sent
}

/// Buffer for the control messages of a frame: its receive timestamp (`SCM_TIMESTAMPNS` of `socket(7)`).
#[derive(Clone, Copy)]
#[repr(C, align(8))]
struct ControlBuffer([u8; 64]);

/// Maximum waiting time. A larger value means that the clock was set in between.
const WAITED_MAX_NS: i128 = 1_000_000_000;

/// Returns the real time, which the kernel's timestamps use.
fn day_ns() -> i128 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the time outlives the call, which writes nothing else.
    unsafe { libc::clock_gettime(libc::CLOCK_REALTIME, &raw mut time) };
    i128::from(time.tv_sec) * 1_000_000_000 + i128::from(time.tv_nsec)
}

/// Returns the time between a frame's timestamp and `now_ns`; 0 without a timestamp.
///
/// # Safety
///
/// The header's buffer for control messages is alive, and its length is the one that the kernel wrote.
unsafe fn wait_ns(header: &libc::msghdr, now_ns: i128) -> u64 {
    // SAFETY: guaranteed by the caller; the macros of the kernel's headers stay inside the buffer.
    let mut next = unsafe { libc::CMSG_FIRSTHDR(header) };
    while !next.is_null() {
        // SAFETY: as above, and each message begins with its header.
        let (level, kind) = unsafe { ((*next).cmsg_level, (*next).cmsg_type) };
        if (level, kind) == (libc::SOL_SOCKET, libc::SCM_TIMESTAMPNS) {
            // SAFETY: the data of this kind of message is a time.
            let came = unsafe { libc::CMSG_DATA(next).cast::<libc::timespec>().read_unaligned() };
            let came_ns = i128::from(came.tv_sec) * 1_000_000_000 + i128::from(came.tv_nsec);
            let waited_ns = now_ns - came_ns;
            return if (0..=WAITED_MAX_NS).contains(&waited_ns) { waited_ns as u64 } else { 0 };
        }
        // SAFETY: as above.
        next = unsafe { libc::CMSG_NXTHDR(header, next) };
    }
    0
}

/// Buffer for a batch of received frames.
#[derive(Debug)]
pub struct Inbox {
    bytes: Vec<u8>,
    frame_size: usize,
    lens: [usize; BATCH],
    wait_ns: [u64; BATCH],
}

impl Inbox {
    /// Allocates buffers for frames of up to `each` bytes, at least one.
    pub fn new(each: usize) -> Self {
        let each = each.max(1);
        Inbox { bytes: vec![0; each * BATCH], frame_size: each, lens: [0; BATCH], wait_ns: [0; BATCH] }
    }

    /// Reads available frames without blocking. Returns their number.
    pub fn fill(&mut self, socket: BorrowedFd<'_>) -> usize {
        // SAFETY: zeros are valid for each of these.
        let (mut headers, mut parts): ([libc::mmsghdr; BATCH], [libc::iovec; BATCH]) =
            unsafe { (zeroed(), zeroed()) };
        let mut beside = [ControlBuffer([0; 64]); BATCH];
        for (at, room) in self.bytes.chunks_exact_mut(self.frame_size).enumerate().take(BATCH) {
            parts[at] = libc::iovec { iov_base: room.as_mut_ptr().cast(), iov_len: room.len() };
            let header = &mut headers[at].msg_hdr;
            header.msg_iov = &raw mut parts[at];
            header.msg_iovlen = 1;
            header.msg_control = beside[at].0.as_mut_ptr().cast();
            header.msg_controllen = size_of::<ControlBuffer>() as _;
        }
        let wait = std::ptr::null_mut();
        // SAFETY: each header points to its own buffers in this inbox and in `beside`, which outlive the call.
        let n = unsafe {
            libc::recvmmsg(
                socket.as_raw_fd(),
                headers.as_mut_ptr(),
                BATCH as libc::c_uint,
                libc::MSG_DONTWAIT,
                wait,
            )
        };
        let n = usize::try_from(n).unwrap_or(0).min(BATCH);
        let now_ns = if n > 0 { day_ns() } else { 0 };
        for (at, header) in headers.iter().enumerate().take(n) {
            self.lens[at] = (header.msg_len as usize).min(self.frame_size);
            // SAFETY: the buffer for control messages is that of this call, and the kernel wrote its length.
            self.wait_ns[at] = unsafe { wait_ns(&header.msg_hdr, now_ns) };
        }
        n
    }

    /// Returns how long a frame waited before it was read, according to the kernel's timestamp.
    pub fn wait_ns(&self, at: usize) -> u64 {
        self.wait_ns[at]
    }

    /// Returns a received frame.
    pub fn frame(&self, at: usize) -> &[u8] {
        &self.bytes[at * self.frame_size..at * self.frame_size + self.lens[at]]
    }
}

/// Opens a socket that becomes readable when a link changes.
pub fn open_links() -> io::Result<OwnedFd> {
    let kind = libc::SOCK_RAW | libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK;
    // SAFETY: no pointers.
    let fd = check(unsafe { libc::socket(libc::AF_NETLINK, kind, libc::NETLINK_ROUTE) })?;
    // SAFETY: the kernel just created the descriptor and nothing else owns it.
    let socket = unsafe { OwnedFd::from_raw_fd(fd) };
    // SAFETY: zeros are a valid sockaddr_nl.
    let mut address: libc::sockaddr_nl = unsafe { zeroed() };
    address.nl_family = libc::AF_NETLINK as u16;
    address.nl_groups = libc::RTMGRP_LINK as u32;
    let at = (&raw const address).cast();
    // SAFETY: the address outlives the call, and the length is that of the address.
    check(unsafe { libc::bind(fd, at, size_of::<libc::sockaddr_nl>() as libc::socklen_t) })?;
    Ok(socket)
}

/// Returns the index of an interface.
pub fn interface_index(name: &str) -> Option<libc::c_int> {
    let name = CString::new(name).ok()?;
    // SAFETY: the name ends in a zero and outlives the call.
    let index = unsafe { libc::if_nametoindex(name.as_ptr()) };
    (index > 0).then_some(index as libc::c_int)
}

/// Returns an interface's MAC address and whether it has a carrier.
pub fn interface(any: BorrowedFd<'_>, name: &str) -> io::Result<([u8; 6], bool)> {
    let mut request = interface_request(name)?;
    // SAFETY: the request outlives the call, which writes nothing else.
    check(unsafe { libc::ioctl(any.as_raw_fd(), libc::SIOCGIFFLAGS, &raw mut request) })?;
    // SAFETY: the call filled in the flags.
    let flags = libc::c_int::from(unsafe { request.ifr_ifru.ifru_flags });
    // SAFETY: as above.
    check(unsafe { libc::ioctl(any.as_raw_fd(), libc::SIOCGIFHWADDR, &raw mut request) })?;
    // SAFETY: the call filled in the address.
    let hardware = unsafe { request.ifr_ifru.ifru_hwaddr.sa_data };
    let mac = std::array::from_fn(|n| hardware[n] as u8);
    let up = libc::IFF_UP | libc::IFF_RUNNING;
    Ok((mac, flags & up == up))
}

/// A descriptor, and the events to wait for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PollRequest {
    /// The descriptor; negative for none.
    pub(crate) fd: RawFd,
    /// Whether to wait for data to read.
    pub(crate) read: bool,
    /// Whether to wait for room to write.
    pub(crate) write: bool,
}

impl PollRequest {
    /// Waits for something to read.
    pub(crate) fn read(fd: RawFd) -> PollRequest {
        PollRequest { fd, read: true, write: false }
    }
}

/// Waits until one of the descriptors is ready, or until the timeout. `ready` contains a flag for each.
pub(crate) fn wait(fds: &[PollRequest], ready: &mut Vec<bool>, timeout_ns: u64) {
    let flag = |is: bool, event| if is { event } else { 0 };
    let events = |wanted: &PollRequest| flag(wanted.read, libc::POLLIN) | flag(wanted.write, libc::POLLOUT);
    // Skip descriptors without a requested event, because they would wake the caller when their peer closes.
    let of = |wanted: &PollRequest| if wanted.read || wanted.write { wanted.fd } else { -1 };
    let poll = |wanted: &PollRequest| libc::pollfd { fd: of(wanted), events: events(wanted), revents: 0 };
    let mut polls: Vec<libc::pollfd> = fds.iter().map(poll).collect();
    let timeout = libc::timespec {
        tv_sec: (timeout_ns / 1_000_000_000) as libc::time_t,
        tv_nsec: (timeout_ns % 1_000_000_000) as libc::c_long,
    };
    // SAFETY: the array and the time outlive the call, and the number is the length of the array.
    let n = unsafe {
        libc::ppoll(polls.as_mut_ptr(), polls.len() as libc::nfds_t, &raw const timeout, std::ptr::null())
    };
    ready.clear();
    ready.extend(polls.iter().map(|poll| n > 0 && poll.revents != 0));
}

/// Returns the processor time of this thread so far.
pub fn thread_time() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the time outlives the call, which writes nothing else.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// Switches to another user permanently, without any way to regain privileges.
pub fn become_user(uid: u32, gid: u32) -> io::Result<()> {
    // SAFETY: the only pointer is null, with a length of zero.
    unsafe {
        check(libc::setgroups(0, std::ptr::null()))?;
        check(libc::setresgid(gid, gid, gid))?;
        check(libc::setresuid(uid, uid, uid))?;
        check(libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))?;
    }
    Ok(())
}

/// Returns whether the process runs as root.
pub fn is_root() -> bool {
    user() == 0
}

/// Returns the number of the user of this process.
pub fn user() -> u32 {
    // SAFETY: no pointers.
    unsafe { libc::geteuid() }
}

/// Returns the process and the user that connected the other end of a Unix socket.
pub fn peer(socket: BorrowedFd<'_>) -> io::Result<(i32, u32)> {
    let mut peer = libc::ucred { pid: 0, uid: u32::MAX, gid: u32::MAX };
    let mut len = size_of::<libc::ucred>() as libc::socklen_t;
    // SAFETY: both outlive the call, which writes no more than `len` bytes to the first.
    let done = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_PEERCRED,
            (&raw mut peer).cast(),
            &raw mut len,
        )
    };
    check(done)?;
    Ok((peer.pid, peer.uid))
}

#[cfg(test)]
#[path = "sys/tests.rs"]
mod tests;
