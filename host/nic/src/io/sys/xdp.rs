//! Sends frames over AF_XDP sockets: one per port, with memory shared with the kernel
//! (`Documentation/networking/af_xdp.rst` of Linux).
//!
//! In: frames, the interface of each plane. Out: frames in the kernel's rings, and frames that must be sent by other
//! means. Invariants: a chunk of memory belongs to the kernel from its entry in the transmit ring until its entry in
//! the completion ring. Only this file writes to chunks that belong to the agent. These sockets receive nothing.

use std::io;
use std::mem::{size_of, zeroed};
use std::os::fd::{AsRawFd as _, FromRawFd as _, OwnedFd};
use std::sync::atomic::{AtomicU32, Ordering};

use super::{check, set_option};
use crate::batch::{BATCH, Frame};

/// Size of a chunk: half a page, the minimum of the kernel. Longer frames are sent by other means.
const PIECE: usize = 2048;
/// Length of an Ethernet header; the kernel drops shorter frames.
const HEADER: usize = 14;
/// Chunks of a port, and entries in each of its rings: a power of two.
const PIECES: u32 = 64;
/// Maximum number of system calls to send the contents of a ring.
const KICKS: u32 = 4;
/// Number of pending frames that justify a system call. With fewer, its cost per frame is high.
const WORTH_ASKING: u32 = 16;

/// Memory shared with the kernel.
#[derive(Debug)]
struct SharedMemory {
    at: *mut u8,
    len: usize,
}

// SAFETY: the mapping is used only through its owner.
unsafe impl Send for SharedMemory {}

impl SharedMemory {
    /// Maps memory of the process, or of a socket at an offset.
    fn new(len: usize, socket: Option<(&OwnedFd, libc::off_t)>) -> io::Result<SharedMemory> {
        let (kind, fd, offset) = match socket {
            Some((socket, offset)) => (libc::MAP_SHARED, socket.as_raw_fd(), offset),
            None => (libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1, 0),
        };
        let access = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: the kernel chooses an unused address.
        let at =
            unsafe { libc::mmap(std::ptr::null_mut(), len, access, kind | libc::MAP_POPULATE, fd, offset) };
        if at == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        Ok(SharedMemory { at: at.cast(), len })
    }

    /// Returns a pointer to a value at an offset, if it fits.
    fn place<T>(&self, offset: u64) -> io::Result<*mut T> {
        let offset = usize::try_from(offset).unwrap_or(usize::MAX);
        let fits = offset.checked_add(size_of::<T>()).is_some_and(|end| end <= self.len);
        if !fits || !offset.is_multiple_of(align_of::<T>()) {
            return Err(io::Error::other("a ring of the kernel is outside of its memory"));
        }
        // SAFETY: the offset is inside of the mapping.
        Ok(unsafe { self.at.add(offset) }.cast())
    }
}

impl Drop for SharedMemory {
    fn drop(&mut self) {
        // SAFETY: it was mapped with this length, and no pointer to it remains.
        unsafe { libc::munmap(self.at.cast(), self.len) };
    }
}

/// A ring with a producer and a consumer, and a counter for each.
#[derive(Debug)]
struct Ring<T> {
    filled: *const AtomicU32,
    emptied: *const AtomicU32,
    places: *mut T,
    /// Keeps the memory of the pointers mapped.
    _memory: SharedMemory,
}

// SAFETY: the pointers refer to memory owned by the ring.
unsafe impl<T: Send> Send for Ring<T> {}

impl<T: Copy> Ring<T> {
    fn new(socket: &OwnedFd, offset: libc::off_t, at: &libc::xdp_ring_offset) -> io::Result<Ring<T>> {
        let places = PIECES as usize * size_of::<T>();
        let memory = SharedMemory::new(at.desc as usize + places, Some((socket, offset)))?;
        // If the last entry fits, so do all others.
        memory.place::<T>(at.desc + (places - size_of::<T>()) as u64)?;
        Ok(Ring {
            filled: memory.place::<AtomicU32>(at.producer)?,
            emptied: memory.place::<AtomicU32>(at.consumer)?,
            places: memory.place(at.desc)?,
            _memory: memory,
        })
    }

    fn producer(&self) -> &AtomicU32 {
        // SAFETY: it is inside of the mapping, aligned, and lives as long as the ring.
        unsafe { &*self.filled }
    }

    fn consumer(&self) -> &AtomicU32 {
        // SAFETY: as above.
        unsafe { &*self.emptied }
    }

    fn place(&self, count: u32) -> *mut T {
        // SAFETY: the index is below the number of entries, which is a power of two.
        unsafe { self.places.add((count & (PIECES - 1)) as usize) }
    }

    /// Fills an entry, which the kernel sees only after [`Ring::show`].
    fn put(&self, ahead: u32, value: T) {
        let place = self.place(self.producer().load(Ordering::Relaxed).wrapping_add(ahead));
        // SAFETY: the producer owns all entries that are not shown yet, and there is one producer.
        unsafe { place.write(value) };
    }

    fn show(&self, more: u32) {
        let filled = self.producer().load(Ordering::Relaxed).wrapping_add(more);
        self.producer().store(filled, Ordering::Release);
    }

    /// Empties the ring.
    fn take(&self, mut each: impl FnMut(T)) {
        let filled = self.producer().load(Ordering::Acquire);
        let mut at = self.consumer().load(Ordering::Relaxed);
        // Not more than the number of entries, even if the counter is wrong.
        for _ in 0..filled.wrapping_sub(at).min(PIECES) {
            // SAFETY: the consumer may read entries that were shown, and there is one consumer.
            each(unsafe { self.place(at).read() });
            at = at.wrapping_add(1);
        }
        self.consumer().store(at, Ordering::Release);
    }

    /// Returns the number of entries that are shown and not yet consumed.
    fn len(&self) -> u32 {
        self.producer().load(Ordering::Relaxed).wrapping_sub(self.consumer().load(Ordering::Acquire))
    }
}

/// One port.
#[derive(Debug)]
struct Lane {
    interface: libc::c_int,
    /// Chunks that belong to the agent.
    free: Vec<u32>,
    /// Number of filled entries that are not shown yet.
    fresh: u32,
    to_send: Ring<libc::xdp_desc>,
    sent: Ring<u64>,
    socket: OwnedFd,
    /// This is the last field, so that the socket is closed before the memory is unmapped.
    pieces: SharedMemory,
}

impl Lane {
    fn open(interface: libc::c_int) -> io::Result<Lane> {
        // SAFETY: no pointers.
        let fd = check(unsafe { libc::socket(libc::AF_XDP, libc::SOCK_RAW | libc::SOCK_CLOEXEC, 0) })?;
        // SAFETY: the kernel just created the descriptor and nothing else owns it.
        let socket = unsafe { OwnedFd::from_raw_fd(fd) };
        let pieces = SharedMemory::new(PIECES as usize * PIECE, None)?;
        // SAFETY: zeros are valid: it contains only numbers.
        let mut memory: libc::xdp_umem_reg = unsafe { zeroed() };
        (memory.addr, memory.len, memory.chunk_size) = (pieces.at as u64, pieces.len as u64, PIECE as u32);
        set_option(fd, libc::SOL_XDP, libc::XDP_UMEM_REG, &memory)?;
        for ring in [libc::XDP_UMEM_FILL_RING, libc::XDP_UMEM_COMPLETION_RING, libc::XDP_TX_RING] {
            set_option(fd, libc::SOL_XDP, ring, &PIECES)?;
        }
        // SAFETY: as above.
        let mut offsets: libc::xdp_mmap_offsets = unsafe { zeroed() };
        let mut len = size_of::<libc::xdp_mmap_offsets>() as libc::socklen_t;
        let (at, len_at) = ((&raw mut offsets).cast(), &raw mut len);
        // SAFETY: offsets and length outlive the call, which writes no more than that length.
        check(unsafe { libc::getsockopt(fd, libc::SOL_XDP, libc::XDP_MMAP_OFFSETS, at, len_at) })?;
        let to_send = Ring::new(&socket, libc::XDP_PGOFF_TX_RING, &offsets.tx)?;
        let sent = Ring::new(&socket, libc::XDP_UMEM_PGOFF_COMPLETION_RING as libc::off_t, &offsets.cr)?;
        // SAFETY: as above.
        let mut address: libc::sockaddr_xdp = unsafe { zeroed() };
        address.sxdp_family = libc::AF_XDP as u16;
        address.sxdp_flags = libc::XDP_COPY;
        address.sxdp_ifindex = interface.cast_unsigned();
        let at = (&raw const address).cast();
        // SAFETY: the address outlives the call, and the length is that of the address.
        check(unsafe { libc::bind(fd, at, size_of::<libc::sockaddr_xdp>() as libc::socklen_t) })?;
        Ok(Lane { interface, free: (0..PIECES).collect(), fresh: 0, to_send, sent, socket, pieces })
    }

    /// Copies a frame into a free chunk. Returns false if there is none or the frame does not fit.
    fn put(&mut self, bytes: &[u8]) -> bool {
        if !(HEADER..=PIECE).contains(&bytes.len()) {
            return false;
        }
        let Some(piece) = self.free.pop() else { return false };
        let start = piece as usize * PIECE;
        // SAFETY: a free chunk belongs to the agent and is inside the memory, and the frame is no longer than a chunk.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.pieces.at.add(start), bytes.len()) };
        let place = libc::xdp_desc { addr: start as u64, len: bytes.len() as u32, options: 0 };
        self.to_send.put(self.fresh, place);
        self.fresh += 1;
        true
    }

    /// Makes the kernel send the contents of the ring, if it has at least `least` frames.
    fn send(&mut self, least: u32) {
        if self.to_send.len() + self.fresh < least {
            return;
        }
        self.to_send.show(std::mem::take(&mut self.fresh));
        let nothing = std::ptr::null();
        for _ in 0..KICKS {
            if self.to_send.len() == 0 {
                return;
            }
            // SAFETY: nothing is passed.
            unsafe {
                libc::sendto(self.socket.as_raw_fd(), nothing, 0, libc::MSG_DONTWAIT, nothing.cast(), 0)
            };
        }
        // If the port is down or its queue is full, later calls send the rest.
    }

    /// Reclaims the chunks of sent frames.
    fn reclaim(&mut self) {
        let free = &mut self.free;
        self.sent.take(|address| {
            let piece = (address / PIECE as u64) as u32;
            if piece < PIECES && free.len() < PIECES as usize {
                free.push(piece);
            }
        });
    }
}

/// State of a plane.
#[derive(Debug, Default)]
struct Place {
    lane: Option<Lane>,
    /// The interface whose error was already reported.
    said: libc::c_int,
    /// The interface that is not opened again.
    refused: libc::c_int,
}

impl Place {
    /// Opens a socket for an interface, unless it is open or was rejected. Returns each error once.
    fn open(&mut self, interface: libc::c_int) -> Option<io::Error> {
        if self.lane.as_ref().is_some_and(|lane| lane.interface == interface) {
            return None;
        }
        // Close the previous socket first: an interface can have only one.
        self.lane = None;
        if interface <= 0 || self.refused == interface {
            return None;
        }
        let error = match Lane::open(interface) {
            Ok(lane) => {
                (self.lane, self.said) = (Some(lane), 0);
                return None;
            }
            Err(error) => error,
        };
        // The kernel releases a socket some time after it was closed.
        let may_pass = error.raw_os_error() == Some(libc::EBUSY);
        self.refused = if may_pass { 0 } else { interface };
        let is_new = std::mem::replace(&mut self.said, interface) != interface;
        is_new.then_some(error)
    }
}

/// AF_XDP sockets of all ports.
#[derive(Debug, Default)]
pub struct Xdp {
    places: Vec<Place>,
}

impl Xdp {
    /// Opens sockets for the interfaces of the planes and keeps those that are already open. Returns new
    /// errors with their planes. Frames of planes without a socket are sent by other means. The next call
    /// retries if the error may be temporary.
    pub fn open(&mut self, interfaces: &[libc::c_int]) -> Vec<(usize, io::Error)> {
        self.places.resize_with(interfaces.len(), Place::default);
        let places = self.places.iter_mut().zip(interfaces).enumerate();
        places.filter_map(|(plane, (place, interface))| Some((plane, place.open(*interface)?))).collect()
    }

    /// Sends frames. Returns how many were accepted, and which must be sent by other means. The last few frames of a
    /// port may wait for more frames, or for [`Xdp::flush`].
    pub fn send(&mut self, frames: &[Frame]) -> (usize, Vec<usize>) {
        for lane in self.lanes() {
            lane.reclaim();
        }
        let mut left = Vec::new();
        for (at, frame) in frames.iter().enumerate().take(BATCH) {
            let lane = self.places.get_mut(usize::from(frame.plane)).and_then(|place| place.lane.as_mut());
            if !lane.is_some_and(|lane| lane.put(frame.bytes())) {
                left.push(at);
            }
        }
        for lane in self.lanes() {
            lane.send(WORTH_ASKING);
        }
        (frames.len().min(BATCH) - left.len(), left)
    }

    /// Sends pending frames.
    pub fn flush(&mut self) {
        for lane in self.lanes() {
            lane.send(1);
        }
    }

    fn lanes(&mut self) -> impl Iterator<Item = &mut Lane> {
        self.places.iter_mut().filter_map(|place| place.lane.as_mut())
    }
}
