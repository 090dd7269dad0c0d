//! `closc export simulation`: the fabric and its flows in the formats of simulators.
//!
//! In: a fabric file, a pattern or demands. Out: files of one simulator. Invariants: everything is checked
//! before the first file is written; one plane is in memory at a time.

use anyhow::{Context as _, bail};
use closc_exports::simulate::{self, Flow, Pattern, Traffic, astra, htsim, infragraph, ns3};
use closc_plan::Plan;
use closc_te::{Matrix, Place};
use closc_topology::{Nic, PlaneId};

use super::{list_below, stream};
use crate::args::Args;
use crate::args::export::integrations::{Flows, SimulationArgs, Simulator};
use crate::output::{self, Outcome};
use crate::{input, names};

/// Maximum number of flows from demands. A demand between zones becomes one flow per pair of NICs.
const FLOWS_MAX: u64 = 1_000_000;

/// Writes the files.
pub(super) fn run(args: &Args, command: &SimulationArgs) -> anyhow::Result<Outcome> {
    let Some(input) = input::read_again(args, &command.file)? else { return Ok(Outcome::Failed) };
    let plan = &input.plan;
    let wanted: Vec<PlaneId> =
        command.plane.iter().map(|plane| names::plane(plan, *plane)).collect::<anyhow::Result<_>>()?;
    let planes = simulate::planes(plan, &wanted)?;
    let sharing = plan.planes().count() - plan.topology().exceptions.drained_planes.len();
    let traffic = Traffic { pattern: pattern(plan, command)?, planes: sharing as u64 };
    let files = match command.simulator {
        Simulator::Infragraph => {
            let graph = infragraph::Graph::new(plan, planes)?;
            stream(&command.out, &[graph.file()])?
        }
        Simulator::Htsim => {
            for plane in &planes {
                htsim::Simulation::new(plan, *plane, &traffic)?;
            }
            write_planes(&planes, |plane| {
                stream(&command.out, &htsim::Simulation::new(plan, plane, &traffic)?.files("htsim"))
            })?
        }
        Simulator::Ns3 => {
            for plane in &planes {
                ns3::Simulation::new(plan, *plane, &traffic, ns3::Reader::HPCC)?;
            }
            write_planes(&planes, |plane| {
                let simulation = ns3::Simulation::new(plan, plane, &traffic, ns3::Reader::HPCC)?;
                stream(&command.out, &simulation.files("ns3"))
            })?
        }
        Simulator::AstraSim => astra_sim(command, plan, &planes, &traffic)?,
    };
    list_below(args, &command.out, files)
}

fn write_planes(
    planes: &[PlaneId],
    mut write: impl FnMut(PlaneId) -> anyhow::Result<Vec<String>>,
) -> anyhow::Result<Vec<String>> {
    let files: Vec<Vec<String>> = planes.iter().map(|plane| write(*plane)).collect::<anyhow::Result<_>>()?;
    Ok(files.concat())
}

/// Writes the files for ASTRA-sim, whose two backends support different fabrics. If one does not support this
/// fabric, a note says so; if neither does, the export fails.
fn astra_sim(
    command: &SimulationArgs,
    plan: &Plan,
    planes: &[PlaneId],
    traffic: &Traffic,
) -> anyhow::Result<Vec<String>> {
    let network = astra::network(plan, planes, "astra-sim");
    let mut refused = None;
    for plane in planes {
        refused = refused.or(ns3::Simulation::new(plan, *plane, traffic, ns3::Reader::ASTRA).err());
    }
    let mut files = match (network, &refused) {
        (Ok(network), _) => stream(&command.out, &[network])?,
        (Err(analytical), None) => {
            output::say(format!("note: no `network.yml`: {analytical}"));
            Vec::new()
        }
        (Err(analytical), Some(graphs)) => bail!("{analytical}\nand {graphs}"),
    };
    if let Some(refused) = refused {
        output::say(format!("note: no graphs: {refused}"));
        return Ok(files);
    }
    files.extend(write_planes(planes, |plane| {
        let simulation = ns3::Simulation::new(plan, plane, traffic, ns3::Reader::ASTRA)?;
        let logical = astra::logical(format!("astra-sim/plane-{plane}/logical.json"), simulation.hosts());
        let mut of = simulation.files("astra-sim");
        of.push(logical);
        stream(&command.out, &of)
    })?);
    Ok(files)
}

fn pattern(plan: &Plan, command: &SimulationArgs) -> anyhow::Result<Pattern> {
    let bytes = command.bytes.0;
    if let Some(file) = &command.demand {
        return demands(plan, file, command.milliseconds).map(Pattern::Flows);
    }
    Ok(match command.flows {
        Flows::None => Pattern::None,
        Flows::Ring => Pattern::Ring { bytes },
        Flows::Permutation => Pattern::Permutation { bytes, seed: command.seed },
    })
}

/// Reads demands, and converts them to flows between pairs of NICs.
fn demands(plan: &Plan, file: &camino::Utf8Path, milliseconds: u32) -> anyhow::Result<Vec<Flow>> {
    let text = output::read(file, closc_files::TEXT_MAX)?;
    let matrix = Matrix::from_csv(plan, text.as_bytes()).map_err(|faults| {
        let lines: Vec<String> = faults.iter().map(|fault| format!("{file}:{fault}")).collect();
        anyhow::anyhow!("{}", lines.join("\n"))
    })?;
    let topology = plan.topology();
    let nics = |place: Place| -> Vec<Nic> {
        plan.fabric().nics().filter(|nic| place.holds(topology, *nic)).collect()
    };
    let mut flows = Vec::new();
    for demand in &matrix.demands {
        let (from, to) = (nics(demand.from), nics(demand.to));
        let pairs = from.len() as u64 * to.len() as u64;
        if flows.len() as u64 + pairs > FLOWS_MAX {
            bail!(
                "{file}:{}: {} x {} pairs of NICs are {pairs} flows; at most {FLOWS_MAX} are written: name groups, nodes or \
                 NICs",
                demand.line,
                from.len(),
                to.len()
            );
        }
        let others = |nic: &Nic| to.iter().filter(|other| *other != nic).count() as u64;
        let count: u64 = from.iter().map(others).sum();
        if count == 0 {
            continue;
        }
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss)]
        let bytes = (demand.gbps * 1e6 / 8.0 * f64::from(milliseconds) / count as f64).ceil() as u64;
        for sender in &from {
            let flow = |receiver: &Nic| Flow { from: *sender, to: *receiver, bytes };
            flows.extend(to.iter().filter(|receiver| *receiver != sender).map(flow));
        }
    }
    flows.sort_unstable();
    if flows.is_empty() {
        return Err(anyhow::anyhow!("{file} has no demand between existing NICs")).context("no flows");
    }
    Ok(flows)
}
