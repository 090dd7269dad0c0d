//! Raw packet sockets of Linux: sends and receives complete frames of one interface in batches.
//!
//! Invariants: received frames include the VLAN tag from the wire, and sent frames are not received. All system calls
//! of ports are in this module.

#![allow(unsafe_code, reason = "packet sockets have no safe interface for batches and their auxiliary data")]

use std::ffi::{CString, c_int, c_uint, c_void};
use std::io;
use std::mem::{self, MaybeUninit};
use std::ops::Range;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

use nix::libc;

/// Number of frames in a batch.
pub(super) const BATCH: usize = 64;

/// Maximum frame length, which segmentation offload determines.
const LONGEST: usize = 65_550;

/// Space before a frame for a VLAN tag that the kernel removed.
const TAG: usize = 4;

/// Bytes before the tag: both addresses.
const ADDRESSES: usize = 12;

/// Size of the auxiliary data of a frame, in words.
const CONTROL: usize = 8;

/// Size of the kernel's receive buffer.
const RECEIVE_BUFFER: c_int = 8 << 20;

/// A socket on one interface.
#[derive(Debug)]
pub(super) struct RawSocket {
    fd: OwnedFd,
    name: CString,
}

/// Memory for the frames of a batch, reused for all batches.
pub(super) struct Batch {
    frames: Vec<u8>,
    /// Stored as words, because the headers in it must be aligned.
    control: Vec<u64>,
    ranges: Vec<Range<usize>>,
}

impl Batch {
    pub(super) fn new() -> Self {
        let (frames, control) = (vec![0; BATCH * (TAG + LONGEST)], vec![0; BATCH * CONTROL]);
        Self { frames, control, ranges: Vec::with_capacity(BATCH) }
    }

    /// Returns the frames that were received last.
    pub(super) fn frames(&self) -> impl Iterator<Item = &[u8]> {
        self.ranges.iter().map(|range| &self.frames[range.clone()])
    }
}

fn check(result: c_int) -> io::Result<c_int> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

fn set_option<T>(fd: &OwnedFd, level: c_int, name: c_int, value: &T) -> io::Result<()> {
    let (pointer, length) = (std::ptr::from_ref(value).cast::<c_void>(), mem::size_of::<T>());
    // SAFETY: the pointer and the length describe `value`, which outlives the call and is only read.
    let result = unsafe { libc::setsockopt(fd.as_raw_fd(), level, name, pointer, length as libc::socklen_t) };
    check(result).map(drop)
}

impl RawSocket {
    /// Opens an interface by name.
    pub(super) fn open(name: &str) -> io::Result<Self> {
        let name = CString::new(name).map_err(|_| io::Error::from(io::ErrorKind::InvalidInput))?;
        let protocol = (libc::ETH_P_ALL as u16).to_be();
        let kind = libc::SOCK_RAW | libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK;
        // The socket receives nothing until it is bound, so frames of other interfaces cannot arrive. SAFETY: no memory
        // is passed.
        let fd = check(unsafe { libc::socket(libc::AF_PACKET, kind, 0) })?;
        // SAFETY: the call above returned this descriptor, and nothing else owns it.
        let fd = unsafe { OwnedFd::from_raw_fd(fd) };
        // SAFETY: `name` is a string with its final zero.
        let index = unsafe { libc::if_nametoindex(name.as_ptr()) };
        if index == 0 {
            return Err(io::Error::last_os_error());
        }
        set_option(&fd, libc::SOL_PACKET, libc::PACKET_AUXDATA, &1_i32)?;
        // Older kernels do not support this option. Then `receive` skips outgoing frames by their packet
        // type.
        let _ = set_option(&fd, libc::SOL_PACKET, libc::PACKET_IGNORE_OUTGOING, &1_i32);
        if set_option(&fd, libc::SOL_SOCKET, libc::SO_RCVBUFFORCE, &RECEIVE_BUFFER).is_err() {
            set_option(&fd, libc::SOL_SOCKET, libc::SO_RCVBUF, &RECEIVE_BUFFER)?;
        }
        let membership = libc::packet_mreq {
            mr_ifindex: index.cast_signed(),
            mr_type: libc::PACKET_MR_PROMISC as u16,
            mr_alen: 0,
            mr_address: [0; 8],
        };
        set_option(&fd, libc::SOL_PACKET, libc::PACKET_ADD_MEMBERSHIP, &membership)?;
        let socket = Self { fd, name };
        socket.bind(index, protocol)?;
        Ok(socket)
    }

    fn bind(&self, index: c_uint, protocol: u16) -> io::Result<()> {
        let address = libc::sockaddr_ll {
            sll_family: libc::AF_PACKET as u16,
            sll_protocol: protocol,
            sll_ifindex: index.cast_signed(),
            sll_hatype: 0,
            sll_pkttype: 0,
            sll_halen: 0,
            sll_addr: [0; 8],
        };
        let length = mem::size_of::<libc::sockaddr_ll>() as libc::socklen_t;
        // SAFETY: the pointer and the length describe `address`, which outlives the call and is only read.
        let result = unsafe {
            libc::bind(self.fd.as_raw_fd(), std::ptr::from_ref(&address).cast::<libc::sockaddr>(), length)
        };
        check(result).map(drop)
    }

    /// Receives the available frames, up to a batch; returns their number.
    pub(super) fn receive(&self, batch: &mut Batch) -> io::Result<usize> {
        batch.ranges.clear();
        let mut parts: [MaybeUninit<libc::iovec>; BATCH] = [const { MaybeUninit::uninit() }; BATCH];
        let mut headers: [MaybeUninit<libc::mmsghdr>; BATCH] = [const { MaybeUninit::uninit() }; BATCH];
        let mut addresses: [MaybeUninit<libc::sockaddr_ll>; BATCH] = [const { MaybeUninit::zeroed() }; BATCH];
        let (frames, control) = (batch.frames.as_mut_ptr(), batch.control.as_mut_ptr());
        for at in 0..BATCH {
            // SAFETY: the buffers hold `BATCH` slots of these sizes, so both pointers stay within them.
            let (frame, control) =
                unsafe { (frames.add(at * (TAG + LONGEST) + TAG), control.add(at * CONTROL)) };
            parts[at].write(libc::iovec { iov_base: frame.cast(), iov_len: LONGEST });
            let header = libc::msghdr {
                msg_name: addresses[at].as_mut_ptr().cast(),
                msg_namelen: mem::size_of::<libc::sockaddr_ll>() as libc::socklen_t,
                msg_iov: parts[at].as_mut_ptr(),
                msg_iovlen: 1,
                msg_control: control.cast(),
                msg_controllen: CONTROL * mem::size_of::<u64>(),
                msg_flags: 0,
            };
            headers[at].write(libc::mmsghdr { msg_hdr: header, msg_len: 0 });
        }
        let first = headers.as_mut_ptr().cast::<libc::mmsghdr>();
        // SAFETY: `BATCH` headers were written above; the memory that they point to lives until the end of
        // this function, and only this call accesses it.
        let count = check(unsafe {
            libc::recvmmsg(
                self.fd.as_raw_fd(),
                first,
                BATCH as c_uint,
                libc::MSG_DONTWAIT,
                std::ptr::null_mut(),
            )
        })? as usize;
        for (at, header) in headers.iter().take(count).enumerate() {
            // SAFETY: every header was written above, and the system filled the first `count`.
            let header = unsafe { header.assume_init_ref() };
            // SAFETY: the address was initialised with zeros, which form a valid address.
            let address = unsafe { addresses[at].assume_init_ref() };
            if address.sll_pkttype == libc::PACKET_OUTGOING {
                continue;
            }
            let start = at * (TAG + LONGEST) + TAG;
            let end = start + (header.msg_len as usize).min(LONGEST);
            let range = match tag(&header.msg_hdr) {
                Some(tag) if end - start >= ADDRESSES => {
                    batch.frames.copy_within(start..start + ADDRESSES, start - TAG);
                    batch.frames[start - TAG + ADDRESSES..start + ADDRESSES].copy_from_slice(&tag);
                    start - TAG..end
                }
                Some(_) | None => start..end,
            };
            batch.ranges.push(range);
        }
        Ok(count)
    }

    /// Sends frames; returns the number of accepted ones.
    pub(super) fn send(&self, frames: &[&[u8]]) -> usize {
        let (mut at, mut sent) = (0, 0);
        while at < frames.len() {
            let chunk = &frames[at..frames.len().min(at + BATCH)];
            match self.send_some(chunk) {
                Ok(count) if count > 0 => {
                    sent += count;
                    at += count;
                }
                // If a queue is full, or a frame is too long for the interface, only that frame is lost, and
                // the next one is tried.
                Ok(_) | Err(_) => at += 1,
            }
        }
        sent
    }

    fn send_some(&self, frames: &[&[u8]]) -> io::Result<usize> {
        let mut parts: [MaybeUninit<libc::iovec>; BATCH] = [const { MaybeUninit::uninit() }; BATCH];
        let mut headers: [MaybeUninit<libc::mmsghdr>; BATCH] = [const { MaybeUninit::uninit() }; BATCH];
        for (at, frame) in frames.iter().take(BATCH).enumerate() {
            let base = frame.as_ptr().cast_mut().cast::<c_void>();
            parts[at].write(libc::iovec { iov_base: base, iov_len: frame.len() });
            let header = libc::msghdr {
                msg_name: std::ptr::null_mut(),
                msg_namelen: 0,
                msg_iov: parts[at].as_mut_ptr(),
                msg_iovlen: 1,
                msg_control: std::ptr::null_mut(),
                msg_controllen: 0,
                msg_flags: 0,
            };
            headers[at].write(libc::mmsghdr { msg_hdr: header, msg_len: 0 });
        }
        let count = frames.len().min(BATCH) as c_uint;
        let first = headers.as_mut_ptr().cast::<libc::mmsghdr>();
        // SAFETY: `count` headers were written above; they point to frames that outlive the call and that the
        // system only reads.
        let sent = check(unsafe { libc::sendmmsg(self.fd.as_raw_fd(), first, count, libc::MSG_DONTWAIT) })?;
        Ok(sent as usize)
    }

    /// Returns whether the interface is up and has a carrier.
    pub(super) fn is_up(&self) -> bool {
        // SAFETY: a request of zeros is valid.
        let mut request: libc::ifreq = unsafe { mem::zeroed() };
        let name = self.name.as_bytes();
        for (to, from) in request.ifr_name.iter_mut().zip(name).take(libc::IFNAMSIZ - 1) {
            *to = libc::c_char::from_ne_bytes([*from]);
        }
        // SAFETY: the request has the type that this call reads and writes, and outlives it.
        let result =
            unsafe { libc::ioctl(self.fd.as_raw_fd(), libc::SIOCGIFFLAGS, std::ptr::from_mut(&mut request)) };
        if result < 0 {
            return false;
        }
        // SAFETY: the successful call filled this member of the union.
        let flags = c_int::from(unsafe { request.ifr_ifru.ifru_flags });
        flags & libc::IFF_UP != 0 && flags & libc::IFF_RUNNING != 0
    }
}

impl AsFd for RawSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

/// Returns the VLAN tag that the kernel removed from a frame.
fn tag(header: &libc::msghdr) -> Option<[u8; TAG]> {
    // SAFETY: the system filled the header and the control buffer that it points to, which lives as long as
    // the header.
    let mut control = unsafe { libc::CMSG_FIRSTHDR(header) };
    while !control.is_null() {
        // SAFETY: the pointer is not null and came from `CMSG_FIRSTHDR` or `CMSG_NXTHDR`.
        let (level, kind, length) =
            unsafe { ((*control).cmsg_level, (*control).cmsg_type, (*control).cmsg_len) };
        let size = mem::size_of::<libc::tpacket_auxdata>();
        // SAFETY: this only computes a length.
        let wanted = unsafe { libc::CMSG_LEN(size as c_uint) } as usize;
        let given = header.msg_controllen - (control as usize - header.msg_control as usize);
        if length > given {
            // The control data was truncated.
            return None;
        }
        if level == libc::SOL_PACKET && kind == libc::PACKET_AUXDATA && length >= wanted {
            // SAFETY: the message is of this type and at least as long; it need not be aligned.
            let data =
                unsafe { std::ptr::read_unaligned(libc::CMSG_DATA(control).cast::<libc::tpacket_auxdata>()) };
            return tag_of(&data);
        }
        // SAFETY: both pointers belong to the message that the system filled.
        control = unsafe { libc::CMSG_NXTHDR(header, control) };
    }
    None
}

fn tag_of(data: &libc::tpacket_auxdata) -> Option<[u8; TAG]> {
    if data.tp_status & libc::TP_STATUS_VLAN_VALID == 0 {
        return None;
    }
    let with_type = data.tp_status & libc::TP_STATUS_VLAN_TPID_VALID != 0;
    let kind = if with_type { data.tp_vlan_tpid } else { libc::ETH_P_8021Q as u16 };
    let ([a, b], [c, d]) = (kind.to_be_bytes(), data.tp_vlan_tci.to_be_bytes());
    Some([a, b, c, d])
}

#[cfg(test)]
#[path = "raw/tests.rs"]
mod tests;
