//! htsim (`csg-htsim`): a fat tree described by counts, and a connection matrix.
//!
//! In: a plan, planes, traffic. Out: for each plane `plane.topo` (`FatTreeTopology::load`), `flows.cm`
//! (`ConnectionMatrix::load`) and `nodes.csv`. Invariants: the rules that htsim checks at startup hold:
//! speeds in whole Gb/s, integer oversubscription, consistent numbers of uplinks. A host has one port in
//! htsim, so each plane has its own file.

use std::io;

use closc_plan::{NIC_LATENCY, Plan, SWITCH_LATENCY};
use closc_topology::{PlaneId, TierId};

use super::flows::HostFlow;
use super::numbers::{self, Numbers};
use super::{Traffic, light_ns, uniform};
use crate::{File, Refusal};

const FORMAT: &str = "htsim";

/// htsim reads numbers with `stoi`.
const INT_MAX: u64 = 2_147_483_647;

/// A plane, checked and ready to be written.
pub struct Simulation<'p> {
    plan: &'p Plan,
    plane: PlaneId,
    numbers: Numbers,
    tiers: Vec<Tier>,
    pod: u64,
    flows: Vec<HostFlow>,
}

/// htsim's data of a tier.
struct Tier {
    gbps: u64,
    down: u64,
    up: Option<u64>,
    latency_ns: u64,
    oversubscription: u64,
    bundle: u64,
}

impl<'p> Simulation<'p> {
    /// Checks a plane.
    ///
    /// # Errors
    ///
    /// Rejects a fabric that counts cannot describe: absent or drained elements, different cables, fractions of a Gb/s,
    /// non-integer oversubscription, T2s shared by several T1s of a zone.
    pub fn new(plan: &'p Plan, plane: PlaneId, traffic: &Traffic) -> Result<Self, Refusal> {
        uniform::reject_islands(plan, FORMAT)?;
        uniform::reject_exceptions(plan, FORMAT, &[plane])?;
        let numbers = Numbers::of(plan, plane);
        let topology = plan.topology();
        let pod = u64::from(topology.hosts.groups) * u64::from(topology.hosts.per_group);
        let tiers = tiers(plan, plane)?;
        let flows = traffic.of(FORMAT, &numbers, INT_MAX)?;
        Ok(Simulation { plan, plane, numbers, tiers, pod, flows })
    }

    /// Returns the files, below a folder.
    pub fn files<'a>(&'a self, folder: &str) -> Vec<File<'a>> {
        let path = |name: &str| format!("{folder}/plane-{}/{name}", self.plane);
        vec![
            File::new(path("plane.topo"), |out| self.topology(out)),
            File::new(path("flows.cm"), |out| self.matrix(out)),
            numbers::list(path("nodes.csv"), self.plan, &self.numbers),
        ]
    }

    fn topology(&self, out: &mut dyn io::Write) -> io::Result<()> {
        writeln!(out, "# {}, plane {}, by closc", self.plan.name(), self.plane)?;
        writeln!(
            out,
            "Nodes {}\nTiers {}\nPodsize {}",
            self.numbers.hosts.len(),
            self.tiers.len(),
            self.pod
        )?;
        for (number, tier) in self.tiers.iter().enumerate() {
            writeln!(out, "\nTier {number}\nDownlink_speed_Gbps {}\nRadix_Down {}", tier.gbps, tier.down)?;
            if let Some(up) = tier.up {
                writeln!(out, "Radix_Up {up}")?;
            }
            writeln!(out, "Downlink_Latency_ns {}", tier.latency_ns)?;
            writeln!(out, "Switch_Latency_ns {}", SWITCH_LATENCY.0)?;
            // The default is 1. htsim accepts a value for a tier only while the tier still has the default.
            if tier.oversubscription > 1 {
                writeln!(out, "Oversubscribed {}", tier.oversubscription)?;
            }
            if tier.bundle > 1 {
                writeln!(out, "Bundle {}", tier.bundle)?;
            }
        }
        Ok(())
    }

    fn matrix(&self, out: &mut dyn io::Write) -> io::Result<()> {
        writeln!(out, "Nodes {}\nConnections {}", self.numbers.hosts.len(), self.flows.len())?;
        for (at, flow) in self.flows.iter().enumerate() {
            writeln!(out, "{}->{} id {} start 0 size {}", flow.from, flow.to, at + 1, flow.bytes)?;
        }
        Ok(())
    }
}

/// Reads the tiers of a plane, from the hosts up.
fn tiers(plan: &Plan, plane: PlaneId) -> Result<Vec<Tier>, Refusal> {
    let topology = plan.topology();
    let wide = |number: u16| u64::from(number);
    let (groups, per_group) = (wide(topology.hosts.groups), wide(topology.hosts.per_group));
    let (up0, bundle0) = (wide(topology.t0.up.count), wide(topology.t0.parallel));
    let (up1, bundle1) = (wide(topology.t1.up.count), wide(topology.t1.parallel));
    let (speed0, latency0) = cables(plan, plane, TierId::T0)?;
    let (speed1, latency1) = cables(plan, plane, TierId::T1)?;
    let down1 = groups * bundle0;
    let three = topology.t2.is_some();
    let t0 = Sides { tier: "T0", downlinks: (per_group, speed0), uplinks: (up0, speed1) };
    let mut tiers = vec![
        Tier {
            gbps: speed0,
            down: per_group,
            up: Some(up0),
            latency_ns: latency0 + NIC_LATENCY.0,
            oversubscription: t0.ratio_in_ports()?,
            bundle: 1,
        },
        Tier {
            gbps: speed1,
            down: down1,
            up: three.then_some(up1),
            latency_ns: latency1,
            oversubscription: 1,
            bundle: bundle0,
        },
    ];
    if three {
        let (speed2, latency2) = cables(plan, plane, TierId::T2)?;
        tiers[1].oversubscription =
            Sides { tier: "T1", downlinks: (down1, speed1), uplinks: (up1, speed2) }.ratio()?;
        let t2s = plan.fabric().tier_switches(plane, TierId::T2).count() as u64;
        let needed = wide(topology.t1_count) * up1 / bundle1;
        if t2s != needed {
            return Err(Refusal::Number {
                format: FORMAT,
                rule: "one T1 of each zone on every T2",
                arithmetic: format!(
                    "{} T1s x {up1} uplinks / {bundle1} parallel need {needed} T2s, but there are {t2s}",
                    topology.t1_count
                ),
                help: "set `tiers.t2.rows` to the T1s of a zone, or export ns-3 or infragraph",
            });
        }
        tiers.push(Tier {
            gbps: speed2,
            down: u64::from(topology.zones) * bundle1,
            up: None,
            latency_ns: latency2,
            oversubscription: 1,
            bundle: bundle1,
        });
    }
    Ok(tiers)
}

/// Speed in Gb/s, and propagation delay of a cable in ns: at least 1, because htsim treats 0 as a missing value.
fn cables(plan: &Plan, plane: PlaneId, upper: TierId) -> Result<(u64, u64), Refusal> {
    let cables = uniform::cables(plan, FORMAT, &[plane], upper)?;
    let mbps = u64::from(cables.speed.mbps());
    if !mbps.is_multiple_of(1000) {
        return Err(Refusal::Number {
            format: FORMAT,
            rule: "whole gigabits",
            arithmetic: format!("{mbps} Mb/s is not a multiple of 1000"),
            help: "export ns-3, which supports Mb/s",
        });
    }
    Ok((mbps / 1000, light_ns(cables.length).max(1)))
}

/// Ports below and above a switch, with their speed in Gb/s.
#[derive(Clone, Copy)]
struct Sides {
    tier: &'static str,
    downlinks: (u64, u64),
    uplinks: (u64, u64),
}

impl Sides {
    /// Oversubscription of a switch: bandwidth of its downlinks to that of its uplinks, an integer of at least 1.
    fn ratio(self) -> Result<u64, Refusal> {
        let (below, above) = (self.downlinks.0 * self.downlinks.1, self.uplinks.0 * self.uplinks.1);
        if above > 0 && below >= above && below.is_multiple_of(above) {
            return Ok(below / above);
        }
        Err(self.refusal())
    }

    /// The same for a T0. The ratio of its port counts, rounded down, must be equal to that of its bandwidths.
    fn ratio_in_ports(self) -> Result<u64, Refusal> {
        let ratio = self.ratio()?;
        if self.downlinks.0 / self.uplinks.0 == ratio { Ok(ratio) } else { Err(self.refusal()) }
    }

    fn refusal(self) -> Refusal {
        let Sides { tier, downlinks: below, uplinks: above } = self;
        Refusal::Number {
            format: FORMAT,
            rule: "a whole-number oversubscription, which is the same by ports and by speed for a T0",
            arithmetic: format!(
                "a {tier} has {} x {}G below and {} x {}G above",
                below.0, below.1, above.0, above.1
            ),
            help: "export ns-3 or infragraph, which do not need this number",
        }
    }
}
