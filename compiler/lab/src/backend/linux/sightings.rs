//! Observes packets of a lab at every port.
//!
//! Out: how often packets passed each port, in each direction. Invariants: only packets of the lab are counted, unlike
//! in port counters.

use std::collections::BTreeMap;
use std::io;
use std::os::fd::AsRawFd as _;

use nix::errno::Errno;
use nix::libc;
use nix::net::if_::if_nametoindex;
use nix::sys::socket::{LinkAddr, recvfrom};
use socket2::{Domain, Protocol, SockFilter, Socket, Type};

use super::namespace::{Namespace, run_in_namespaces};
use crate::LabError;
use crate::backend::PortCounter;
use crate::model::{Model, PortId};
use crate::packet::{self, Sign};

const ETH_P_IPV6: u16 = 0x86dd;

/// Frames that a socket receives: incoming ones only, or outgoing ones as well. The kernel passes outgoing frames only
/// to sockets of all protocols.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CaptureDirection {
    In,
    InAndOut,
}

/// Opens a socket that receives packets of labs from all ports of the calling thread's namespace. Other packets do not
/// wake a reader. The first packets may precede the filter, so the reader must check the signature.
pub(super) fn wire(look: CaptureDirection) -> io::Result<Socket> {
    let protocol = match look {
        CaptureDirection::In => ETH_P_IPV6,
        CaptureDirection::InAndOut => libc::ETH_P_ALL as u16,
    };
    let protocol = Protocol::from(i32::from(protocol.to_be()));
    let socket = Socket::new(Domain::PACKET, Type::DGRAM, Some(protocol))?;
    socket.set_nonblocking(true)?;
    socket.attach_filter(&filter())?;
    Ok(socket)
}

/// Accepts packets with the signature of lab packets.
fn filter() -> Vec<SockFilter> {
    let op = |code: u32, jt: u8, jf: u8, k: u32| SockFilter::new(code as u16, jt, jf, k);
    let mut program = Vec::new();
    let signs = packet::SIGNS;
    for (at, sign) in signs.iter().enumerate() {
        let (size, place, value) = match *sign {
            Sign::Byte(place, value) => (libc::BPF_B, place, u32::from(value)),
            Sign::Word(place, value) => (libc::BPF_W, place, u32::from_be_bytes(value)),
        };
        program.push(op(libc::BPF_LD | size | libc::BPF_ABS, 0, 0, place));
        // If the value differs, jump over the remaining checks (two instructions each) and the accepting instruction.
        let refusal = (2 * (signs.len() - at - 1) + 1) as u8;
        program.push(op(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, 0, refusal, value));
    }
    program.push(op(libc::BPF_RET | libc::BPF_K, 0, 0, u32::MAX));
    program.push(op(libc::BPF_RET | libc::BPF_K, 0, 0, 0));
    program
}

/// A socket for each device.
#[derive(Debug)]
pub(super) struct Sightings {
    all: Vec<(Socket, BTreeMap<usize, PortId>)>,
    buffer: Vec<u8>,
}

impl Sightings {
    /// Starts observing every port of every device.
    pub(super) fn open(model: &Model, namespaces: &[Namespace], jobs: usize) -> Result<Self, LabError> {
        let open = |at: usize| -> io::Result<(Socket, BTreeMap<usize, PortId>)> {
            let socket = wire(CaptureDirection::InAndOut)?;
            let ports = &model.devices[at].ports;
            let ports = ports.iter().map(|port| Ok((if_nametoindex(model.end(*port).1)? as usize, *port)));
            Ok((socket, ports.collect::<io::Result<_>>()?))
        };
        let what = |at: usize| format!("capture on the ports of `{}`", model.devices[at].name);
        let all = run_in_namespaces(namespaces, jobs, |at| open(at).map_err(LabError::io(what(at))))?;
        Ok(Sightings { all, buffer: vec![0; 1 << 12] })
    }

    /// Returns the packets since the last call.
    pub(super) fn take(&mut self) -> Result<BTreeMap<PortId, PortCounter>, LabError> {
        let mut counted = BTreeMap::new();
        for (socket, ports) in &self.all {
            look(socket, ports, &mut self.buffer, &mut counted)
                .map_err(|errno| LabError::os("capture on ports")(errno))?;
        }
        Ok(counted)
    }
}

fn look(
    socket: &Socket,
    ports: &BTreeMap<usize, PortId>,
    buffer: &mut [u8],
    counted: &mut BTreeMap<PortId, PortCounter>,
) -> Result<(), Errno> {
    loop {
        match recvfrom::<LinkAddr>(socket.as_raw_fd(), buffer) {
            Ok((length, Some(from))) => {
                let inner = packet::decapsulate(&buffer[..length]).map(|(_, inner)| inner);
                let is_ours = inner.and_then(|inner| packet::tag(packet::payload(inner))).is_some();
                if let (Some(port), true) = (ports.get(&from.ifindex()), is_ours) {
                    let counter: &mut PortCounter = counted.entry(*port).or_default();
                    if from.pkttype() == libc::PACKET_OUTGOING {
                        counter.sent += 1;
                    } else {
                        counter.received += 1;
                    }
                }
            }
            Err(Errno::EAGAIN) => return Ok(()),
            // A removed port returns `ENETDOWN` once.
            Ok((_, None)) | Err(Errno::EINTR | Errno::ENETDOWN) => {}
            Err(errno) => return Err(errno),
        }
    }
}
