//! The ports of the NIC, and the socket for their frames.
//!
//! In: the kernel's data about interfaces, routes and neighbours. Out: ports for the agent, frames sent. Invariants: a
//! port without an interface is down; a known neighbour is kept until the kernel reports another.

use std::net::Ipv6Addr;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

use crate::agent::{Agent, AgentContext};
use crate::batch::Batch;
use crate::io::ports::{Doubt, Names, NextHop, Ports};
use crate::io::queries::{Neighbour, QuerySchedule};
use crate::io::setup::SetupFault;
use crate::io::sys::{self, PollRequest, Xdp};

/// The ports and sockets of one NIC.
pub struct Machine {
    /// The socket for frames.
    pub packets: OwnedFd,
    /// Interface index per plane.
    pub interfaces: Vec<libc::c_int>,
    ports: Ports,
    /// The last reported reason why ports are not assigned.
    doubt: Option<Doubt>,
    /// Planes for which a missing route was reported.
    unrouted_planes: u32,
    next_hops: Vec<Option<NextHop>>,
    query_schedules: Vec<QuerySchedule>,
    pub(super) last_check_ns: u64,
    /// AF_XDP sockets, if they are used to send frames.
    pub(super) xdp: Option<Xdp>,
}

impl Machine {
    /// Opens the socket for frames, unless the previous process left one, and checks the ports.
    pub fn open(
        agent: &mut Agent,
        at: &AgentContext<'_>,
        downlink: u16,
        ports: &Names,
        kept: Option<OwnedFd>,
    ) -> Result<Machine, SetupFault> {
        let packets = kept.map_or_else(sys::open_packets, Ok);
        let packets =
            packets.map_err(|error| SetupFault::Open { resource: "a packet socket".into(), error })?;
        let planes = agent.ports().len();
        let mut machine = Machine {
            packets,
            interfaces: vec![0; planes],
            ports: Ports::new(ports.clone()),
            doubt: None,
            unrouted_planes: 0,
            next_hops: vec![None; planes],
            query_schedules: vec![QuerySchedule::default(); planes],
            last_check_ns: 0,
            xdp: None,
        };
        machine.look(agent, at, downlink, true);
        Ok(machine)
    }

    /// Uses AF_XDP sockets for sending from now on, if the kernel supports them.
    pub fn use_xdp(&mut self) {
        self.xdp = Some(Xdp::default());
        self.open_xdp();
    }

    fn open_xdp(&mut self) {
        let Some(xdp) = &mut self.xdp else { return };
        for (plane, error) in xdp.open(&self.interfaces) {
            tracing::warn!(plane, "frames leave through a packet socket instead of AF_XDP: {error}");
        }
    }

    /// Queries routes for planes whose neighbour is unknown or does not answer.
    fn ask(&mut self, agent: &Agent, at: &AgentContext<'_>, downlink: u16) {
        let is_known =
            |ways: &[Option<NextHop>], at: usize| ways[at].as_ref().is_some_and(|w| w.neighbour.is_some());
        let mut planes = Vec::new();
        for plane in 0..self.next_hops.len() {
            let neighbour = match agent.ports()[plane].is_silent() {
                _ if !is_known(&self.next_hops, plane) => Neighbour::Unknown,
                true => Neighbour::Silent,
                false => Neighbour::Fine,
            };
            if self.query_schedules[plane].is_due(neighbour, at.now_ns) {
                planes.push(plane as u8);
            }
        }
        let found = self.ports.next_hops(at.table, downlink, &planes);
        for (plane, found) in planes.into_iter().map(usize::from).zip(found) {
            // While a T0 reboots its entry may be missing. The previous neighbour may be valid again afterwards, so
            // keep it.
            if !is_known(&self.next_hops, plane) || found.as_ref().is_some_and(|way| way.neighbour.is_some())
            {
                self.next_hops[plane] = found;
            }
        }
        let doubt = self.ports.doubt();
        if let Some(doubt) = doubt.filter(|_| doubt != self.doubt) {
            tracing::warn!("{doubt}");
        }
        self.doubt = doubt;
        if doubt.is_none() {
            self.say_unrouted(at, downlink);
        }
    }

    /// Reports planes without a port because the kernel has no route to their T0. Each outage is reported once.
    fn say_unrouted(&mut self, at: &AgentContext<'_>, downlink: u16) {
        for (plane, way) in (0u8..).zip(&self.next_hops) {
            let bit = 1 << plane;
            let is_wanted = way.is_none() && self.ports.has(plane);
            if is_wanted && self.unrouted_planes & bit == 0 {
                let t0 = Ipv6Addr::from(at.table.t0_probe(plane, downlink));
                tracing::warn!(
                    "plane {plane}: the kernel has no route to {t0}, so the plane carries no packets: check that its port is up, \
                     and run `ip -batch ip.batch` again"
                );
            }
            self.unrouted_planes =
                if is_wanted { self.unrouted_planes | bit } else { self.unrouted_planes & !bit };
        }
    }

    /// Updates the ports. If `ask` is set, their routes and neighbours are queried first.
    pub(super) fn look(&mut self, agent: &mut Agent, at: &AgentContext<'_>, downlink: u16, ask: bool) {
        self.last_check_ns = at.now_ns;
        let before = self.interfaces.clone();
        if ask {
            self.ask(agent, at, downlink);
        }
        for plane in 0..self.next_hops.len() {
            let Some(way) = &self.next_hops[plane] else { continue };
            let Ok((own, carrier)) = sys::interface(self.packets.as_fd(), &way.device) else {
                agent.port(at, plane as u8, None, false);
                (self.interfaces[plane], self.next_hops[plane]) = (0, None);
                continue;
            };
            self.interfaces[plane] = sys::interface_index(&way.device).unwrap_or(0);
            let ethernet = way.neighbour.map(|neighbour| {
                let mut head = [0; 14];
                head[..6].copy_from_slice(&neighbour);
                head[6..12].copy_from_slice(&own);
                head[12..].copy_from_slice(&[0x86, 0xdd]);
                head
            });
            agent.port(at, plane as u8, ethernet, carrier);
        }
        self.open_xdp();
        if self.interfaces != before {
            self.receive(agent);
        }
    }

    /// Updates the interfaces from which frames are received.
    fn receive(&self, agent: &Agent) {
        let own: Vec<libc::c_int> = self.interfaces.iter().copied().filter(|own| *own > 0).collect();
        let (socket, blocks) = (self.packets.as_fd(), agent.identity().blocks());
        if let Err(error) = sys::receive_from(socket, &own, blocks) {
            tracing::error!("frames are not received: {error}");
        }
        for interface in own {
            // If an interface has no promiscuous mode, swapped cables look like dead ones.
            let _ = sys::take_all(socket, interface);
        }
    }

    /// Waits until a frame arrives or the timeout expires. With `gathered`, it always waits for the full
    /// timeout. Returns whether frames may be available.
    pub fn wait(&self, timeout_ns: u64, gathered: bool) -> bool {
        let mut ready = Vec::new();
        let packets = if gathered { -1 } else { self.packets.as_raw_fd() };
        sys::wait(&[PollRequest::read(packets)], &mut ready, timeout_ns);
        gathered || ready.contains(&true)
    }

    /// Sends pending frames.
    pub fn flush(&mut self) {
        if let Some(xdp) = &mut self.xdp {
            xdp.flush();
        }
    }

    /// Sends ready frames. With AF_XDP, the last few frames of a port may wait for more frames, or for
    /// [`Machine::flush`].
    pub fn send(&mut self, batch: &mut Batch) -> usize {
        let frames = batch.ready();
        let sent = match &mut self.xdp {
            _ if frames.is_empty() => 0,
            None => sys::send(self.packets.as_fd(), frames, &self.interfaces),
            Some(xdp) => {
                let (sent, left) = xdp.send(frames);
                let left = left.into_iter().map(|at| &frames[at]);
                sent + sys::send(self.packets.as_fd(), left, &self.interfaces)
            }
        };
        batch.clear();
        sent
    }
}
