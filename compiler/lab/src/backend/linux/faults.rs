//! Breaks ports and cables while packets flow, and starts programs on devices.
//!
//! In: ports. Out: ports that are down, cables that lose packets, cables in other places. Invariants: functions return
//! without waiting. A lossy cable drops packets at the receiving end, so senders cannot observe it. Only network
//! capabilities are used.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io;
use std::net::{SocketAddr, SocketAddrV6, UdpSocket};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};

use socket2::{Domain, Protocol, Socket, Type};

use super::Linux;
use super::apply::{Place, apply_node_routes, configure, open_link_layer};
use super::command::ip_batch;
use super::settle;
use super::wire::{Plug, plug, unplug};
use crate::LabError;
use crate::backend::FaultInjector;
use crate::model::{CableId, DeviceId, PortId};
use crate::progress::Watch;

/// Offset at which classic BPF reads a random number (`SKF_AD_OFF + SKF_AD_RANDOM` of `linux/filter.h`).
const RANDOM: u32 = 0xffff_f000 + 56;
/// `TC_ACT_UNSPEC` and `TC_ACT_SHOT` of `linux/pkt_cls.h`: continue, and drop.
const GO_ON: u32 = u32::MAX;
const DROP: u32 = 2;
/// Bytes of an Ethernet header, which the filter includes in the length.
const ETHERNET: u32 = 14;

impl FaultInjector for Linux {
    fn set_ports(&mut self, ports: &[PortId], up: bool) -> Result<(), LabError> {
        let word = if up { "up" } else { "down" };
        self.at_devices(ports, |names, device| {
            let mut lines = String::new();
            for name in names {
                let _ = writeln!(lines, "link set dev {name} {word}");
            }
            ip_batch(&lines, device)
        })
    }

    fn set_loss(&mut self, ports: &[PortId], ppm: u32) -> Result<(), LabError> {
        self.set_filter(ports, (ppm > 0).then(|| bytecode(ppm)).as_deref())
    }

    fn set_mtu(&mut self, ports: &[PortId], mtu: Option<u16>) -> Result<(), LabError> {
        self.set_filter(ports, mtu.map(longer_than).as_deref())
    }

    fn replug(
        &mut self,
        cables: &[CableId],
        pairs: &[(PortId, PortId)],
        watch: &Watch<'_>,
    ) -> Result<(), LabError> {
        // Close the sockets first, because the code below removes their interfaces.
        (self.stations, self.watchers, self.sightings) = (None, None, None);
        let ends: Vec<PortId> = cables.iter().flat_map(|cable| [cable.lower(), cable.upper()]).collect();
        for port in &ends {
            let (device, name) = self.model.end(*port);
            self.namespaces[device.0].run(|| unplug(name, &self.namespaces[device.0].device))?;
        }
        let plugs: Vec<(Plug, Plug)> =
            pairs.iter().map(|(from, to)| (self.plug_of(*from), self.plug_of(*to))).collect();
        plug(&plugs)?;
        let devices: Vec<DeviceId> = ends.iter().map(|port| self.model.end(*port).0).collect();
        self.configure_again(&devices, watch)?;
        // Cables in their configured places have correct neighbours.
        let moved = pairs.iter().filter(|(from, to)| from.cable() != to.cable());
        let both: Vec<_> = moved.flat_map(|(from, to)| [(*from, *to), (*to, *from)]).collect();
        open_link_layer(&self.tree, &self.model, &self.namespaces, &both)
    }

    fn configure_again(&mut self, devices: &[DeviceId], watch: &Watch<'_>) -> Result<(), LabError> {
        let devices: BTreeSet<usize> = devices.iter().map(|device| device.0).collect();
        let place = |at: &usize| Place { tree: &self.tree, namespace: &self.namespaces[*at] };
        configure(&devices.iter().map(place).collect::<Vec<_>>(), self.jobs, watch)
    }

    fn reapply_node_routes(&mut self) -> Result<(), LabError> {
        let place = |namespace| Place { tree: &self.tree, namespace };
        apply_node_routes(&self.namespaces.iter().map(place).collect::<Vec<_>>(), self.jobs)
    }

    fn settle(&mut self) -> Result<(), LabError> {
        if self.tree.is_source_routed() { settle(self, &Watch::noop()) } else { Ok(()) }
    }

    fn sockets(&mut self, device: DeviceId, ends: &[SocketAddrV6]) -> Result<Vec<UdpSocket>, LabError> {
        let namespace = &self.namespaces[device.0];
        let what = format!("open sockets on `{}`", namespace.device);
        namespace.run(|| ends.iter().map(open).collect::<io::Result<_>>().map_err(LabError::io(what)))
    }

    fn start(&mut self, device: DeviceId, command: &mut Command) -> Result<Child, LabError> {
        let namespace = &self.namespaces[device.0];
        let what = format!("start `{}` for `{}`", command.get_program().display(), namespace.device);
        // The program gets a separate process group. So Ctrl-C on the terminal reaches only the lab, which then stops
        // its programs.
        namespace.run(|| command.process_group(0).spawn().map_err(LabError::io(what)))
    }
}

impl Linux {
    /// Installs a filter program for incoming packets of ports; `None` removes it.
    fn set_filter(&mut self, ports: &[PortId], program: Option<&str>) -> Result<(), LabError> {
        self.at_devices(ports, |names, _| {
            for name in names {
                // This fails if the port has no filter yet.
                let _ = tc(&["qdisc", "del", "dev", name, "clsact"]);
                if let Some(program) = program {
                    tc(&["qdisc", "add", "dev", name, "clsact"])?;
                    tc(&["filter", "add", "dev", name, "ingress", "bpf", "da", "bytecode", program])?;
                }
            }
            Ok(())
        })
    }

    /// Runs `work` in the namespace of every device that has one of the ports.
    fn at_devices(
        &self,
        ports: &[PortId],
        work: impl Fn(&[&str], &str) -> Result<(), LabError> + Sync,
    ) -> Result<(), LabError> {
        let devices: BTreeSet<usize> = ports.iter().map(|port| self.model.end(*port).0.0).collect();
        for device in devices {
            let own = ports.iter().map(|port| self.model.end(*port)).filter(|(of, _)| of.0 == device);
            let names: Vec<&str> = own.map(|(_, name)| name).collect();
            let namespace = &self.namespaces[device];
            namespace.run(|| work(&names, &namespace.device))?;
        }
        Ok(())
    }
}

/// Opens a non-blocking socket. It is not connected, because packets of a connected socket carry its hash, which
/// kernels on the path would use as flow hash. Other sockets may share its port: those of other flows, and copies
/// that a program inherits while it is started.
pub(super) fn open(end: &SocketAddrV6) -> io::Result<UdpSocket> {
    let socket = Socket::new(Domain::IPV6, Type::DGRAM, Some(Protocol::UDP))?;
    socket.set_reuse_port(true)?;
    socket.bind(&SocketAddr::V6(*end).into())?;
    socket.set_nonblocking(true)?;
    Ok(socket.into())
}

/// Returns a program that drops `ppm` of a million packets, in the form that `tc` accepts.
fn bytecode(ppm: u32) -> String {
    let limit = (u64::from(ppm.min(1_000_000)) << 32).div_ceil(1_000_000).min(u64::from(u32::MAX));
    // Load a random number; continue if it is at least the limit, otherwise drop.
    format!("4,32 0 0 {RANDOM},53 0 1 {limit},6 0 0 {GO_ON},6 0 0 {DROP}")
}

/// Returns a program that drops frames whose IP packet is longer than an MTU.
fn longer_than(mtu: u16) -> String {
    // Load the length of the frame; drop if it is above the limit, otherwise continue.
    format!("4,128 0 0 0,37 0 1 {},6 0 0 {DROP},6 0 0 {GO_ON}", u32::from(mtu) + ETHERNET)
}

fn tc(arguments: &[&str]) -> Result<(), LabError> {
    let output = Command::new("tc").args(arguments).process_group(0).stdin(Stdio::null()).output();
    let output = output.map_err(|error| LabError::NoLoss { message: error.to_string() })?;
    if output.status.success() {
        return Ok(());
    }
    let message = String::from_utf8_lossy(&output.stderr).trim().replace('\n', "; ");
    Err(LabError::NoLoss { message })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `BPF_LD | BPF_W | BPF_LEN` and `BPF_JMP | BPF_JGT | BPF_K` of `linux/bpf_common.h`.
    #[test]
    fn an_mtu_is_a_limit_of_the_length_of_frames() {
        assert_eq!(longer_than(1300), "4,128 0 0 0,37 0 1 1314,6 0 0 2,6 0 0 4294967295");
    }

    #[test]
    fn a_share_of_packets_is_a_limit_of_random_numbers() {
        let limit = |ppm| bytecode(ppm).split(',').nth(2).unwrap().split(' ').nth(3).unwrap().to_owned();
        assert_eq!(limit(0), "0");
        assert_eq!(limit(500_000), "2147483648");
        assert_eq!(limit(10_000), "42949673");
        assert_eq!(limit(1_000_000), "4294967295");
    }
}
