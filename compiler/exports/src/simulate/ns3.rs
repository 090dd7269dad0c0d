//! Inputs of ns-3 for the HPCC code and for ASTRA-sim's ns-3 backend, which is derived from it: a graph of
//! numbered nodes, and flows.
//!
//! In: a plan, planes, traffic. Out: for each plane `topology.txt` (nodes, switches and cables, then the
//! numbers of switches, then one cable per line), `flow.txt` (the number of flows, then one per line),
//! `nodes.csv` with the names, and `paths.txt`: the nodes that each flow passes if hosts choose paths.
//! Invariants: hosts have the first numbers; numbers that exceed the limits of the reader are rejected before
//! anything is written.

use std::io;

use closc_plan::{Plan, UplinkChoice};
use closc_topology::{Link, Nic, PlaneId, TierId};

use super::flows::HostFlow;
use super::numbers::{self, Numbers};
use super::{Traffic, delay_ns, speed};
use crate::{File, Refusal};

/// Limits of a reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reader {
    /// Its name.
    pub name: &'static str,
    /// Ports of a switch (`pCnt` less the one that is not used).
    pub ports: u64,
}

impl Reader {
    /// The code of the HPCC paper (SIGCOMM 2019).
    pub const HPCC: Reader = Reader { name: "ns-3 (HPCC)", ports: 256 };
    /// The ns-3 backend of ASTRA-sim.
    pub const ASTRA: Reader = Reader { name: "ns-3 (ASTRA-sim)", ports: 1024 };
}

/// Maximum number of nodes: an address has 16 bits for the node (`node_id_to_ip`).
const NODES_MAX: u64 = 1 << 16;

/// Maximum number of cables: cable i gets the network `10.(i / 254 + 1).(i % 254 + 1).0`.
const LINKS_MAX: u64 = 254 * 255;

/// Maximum number of bytes of a flow, which the reader stores in a `uint32_t`.
const BYTES_MAX: u64 = 4_294_967_295;

/// A plane, checked and ready to be written.
pub struct Simulation<'p> {
    plan: &'p Plan,
    plane: PlaneId,
    numbers: Numbers,
    links: u64,
    flows: Vec<HostFlow>,
}

impl<'p> Simulation<'p> {
    /// Checks a plane.
    ///
    /// # Errors
    ///
    /// Rejects too many nodes, cables, ports or bytes of a flow for the reader, and parallel cables between two
    /// switches.
    pub fn new(plan: &'p Plan, plane: PlaneId, traffic: &Traffic, reader: Reader) -> Result<Self, Refusal> {
        let format = reader.name;
        let topology = plan.topology();
        for (tier, parallel) in [("T0 and T1", topology.t0.parallel), ("T1 and T2", topology.t1.parallel)] {
            let is_there = tier == "T0 and T1" || topology.t2.is_some();
            if is_there && parallel > 1 {
                return Err(Refusal::Number {
                    format,
                    rule: "one cable between two switches",
                    arithmetic: format!("a {tier} are connected by {parallel}"),
                    help: "export infragraph, which supports several",
                });
            }
        }
        let numbers = Numbers::of(plan, plane);
        let (hosts, switches) = (numbers.hosts.len(), numbers.switches.len());
        let too_many = |what, arithmetic: String, count: usize, most| {
            let count = count as u64;
            let help = "simulate a smaller fabric of the same kind";
            if count <= most {
                return Ok(());
            }
            Err(Refusal::TooMany { format, subject: what, arithmetic, count, maximum: most, help })
        };
        too_many("nodes", format!("{hosts} NICs + {switches} switches"), numbers.count(), NODES_MAX)?;
        let mut ports = vec![0_usize; switches];
        let mut links = 0;
        let counted = numbers.for_each_link(plan, plane, &mut |_, lower, upper| {
            links += 1;
            for end in [lower, upper] {
                if let Some(count) = end.checked_sub(hosts).and_then(|at| ports.get_mut(at)) {
                    *count += 1;
                }
            }
            Ok(())
        });
        counted.expect("counting writes nothing");
        too_many("cables", format!("in plane {plane}"), links, LINKS_MAX)?;
        if let Some((at, most)) = ports.iter().enumerate().max_by_key(|(_, ports)| **ports) {
            let name = plan.switch_name(numbers.switches[at]);
            too_many("ports of a switch", format!("at `{name}`"), *most, reader.ports)?;
        }
        let flows = traffic.of(format, &numbers, BYTES_MAX)?;
        let island = topology.island();
        let group = |host: usize| (numbers.hosts[host].zone, numbers.hosts[host].group);
        if let Some(flow) = flows.iter().find(|flow| !island.holds(group(flow.from), group(flow.to))) {
            let name = |host: usize| {
                let (node, number) = topology.node_of(numbers.hosts[host]);
                topology.naming.nic(node, number)
            };
            return Err(Refusal::Number {
                format,
                rule: "flows through switches",
                arithmetic: format!("no switch connects `{}` and `{}`", name(flow.from), name(flow.to)),
                help: "choose demands inside a plane by NIC or a T0 group with `--demand`",
            });
        }
        Ok(Simulation { plan, plane, numbers, links: links as u64, flows })
    }

    /// Returns how many NICs have a cable in the plane.
    pub fn hosts(&self) -> usize {
        self.numbers.hosts.len()
    }

    /// Returns the files, below a folder.
    pub fn files<'a>(&'a self, folder: &str) -> Vec<File<'a>> {
        let path = |name: &str| format!("{folder}/plane-{}/{name}", self.plane);
        let mut files = vec![
            File::new(path("topology.txt"), |out| self.topology(out)),
            File::new(path("flow.txt"), |out| self.flow(out)),
            numbers::list(path("nodes.csv"), self.plan, &self.numbers),
        ];
        if self.plan.is_source_routed() {
            files.push(File::new(path("paths.txt"), |out| self.paths(out)));
        }
        files
    }

    fn topology(&self, out: &mut dyn io::Write) -> io::Result<()> {
        let (hosts, switches) = (self.numbers.hosts.len(), self.numbers.switches.len());
        writeln!(out, "{} {switches} {}", hosts + switches, self.links)?;
        for at in 0..switches {
            let space = if at > 0 { " " } else { "" };
            write!(out, "{space}{}", hosts + at)?;
        }
        writeln!(out)?;
        self.numbers.for_each_link(self.plan, self.plane, &mut |link, lower, upper| {
            let mbps = speed(self.plan, link).mbps();
            let (rate, unit) = if mbps.is_multiple_of(1000) { (mbps / 1000, "Gbps") } else { (mbps, "Mbps") };
            writeln!(out, "{lower} {upper} {rate}{unit} {}ns 0", delay_ns(self.plan, link))
        })
    }

    fn flow(&self, out: &mut dyn io::Write) -> io::Result<()> {
        let (qos, port) = (&self.plan.topology().qos, self.plan.topology().entropy.udp_port);
        let priority = qos.data().priority;
        writeln!(out, "{}", self.flows.len())?;
        self.flows.iter().try_for_each(|flow| {
            writeln!(out, "{} {} {priority} {port} {} 0", flow.from, flow.to, flow.bytes)
        })
    }

    /// Writes the path of each flow: number of the flow, entropy value, destination address, numbers of the nodes.
    fn paths(&self, out: &mut dyn io::Write) -> io::Result<()> {
        for (at, flow) in self.flows.iter().enumerate() {
            let (from, to) = (self.numbers.hosts[flow.from], self.numbers.hosts[flow.to]);
            let Some(path) = self.usable(at, from, to) else {
                writeln!(out, "{at} - - {} {}", flow.from, flow.to)?;
                continue;
            };
            write!(out, "{at} {} {} {}", path.entropy, path.destination, flow.from)?;
            for hop in &path.hops {
                if let Some(number) = self.numbers.switch(hop.switch) {
                    write!(out, " {number}")?;
                }
            }
            writeln!(out, " {}", flow.to)?;
        }
        Ok(())
    }

    /// The first path whose cables all carry traffic, beginning with the uplinks that the flow's own number selects.
    fn usable(&self, at: usize, from: Nic, to: Nic) -> Option<closc_plan::Path> {
        let (plan, topology) = (self.plan, self.plan.topology());
        let far = from.zone != to.zone;
        let local = !far && from.group == to.group;
        let t0 = if local { 1 } else { usize::from(topology.t0.up.count) };
        let t1 = if far { usize::from(topology.tier(TierId::T1)?.up.count.max(1)) } else { 1 };
        let count = t0 * t1;
        let carries = |link: &Link| plan.fabric().has_link(*link) && !plan.fabric().is_drained(*link);
        (0..count).map(|step| (at + step) % count).find_map(|choice| {
            let uplink = |number: usize| u16::try_from(number).unwrap_or(u16::MAX);
            let choice = UplinkChoice { t0: uplink(choice % t0), t1: uplink(choice / t0) };
            let path = plan.path(self.plane, from, to, choice);
            path.hops.iter().all(|hop| carries(&hop.link)).then_some(path)
        })
    }
}
