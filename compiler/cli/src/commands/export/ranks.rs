//! `closc export ranks`: places the ranks of a job on nodes, and shows how much traffic across zones the placement
//! saves.

use std::fmt::Write as _;

use closc_diagnostics::figures::format_count;
use closc_exports::schedule::{Levels, mpi, slurm};
use closc_plan::{Crossing, Job, Plan, Traffic};
use closc_qos::units::Bytes;
use closc_topology::Node;
use schemars::JsonSchema;
use serde::Serialize;

use crate::args::Args;
use crate::args::export::RanksArgs;
use crate::output::{self, Document, Outcome};
use crate::{input, names};

/// Placed ranks of a job, and its traffic across zones.
pub(crate) const RANKS: Document<Report> = Document::new("closc-ranks/1");

/// Placed ranks, and the traffic across zones.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Report {
    ranks: u32,
    nodes: usize,
    placed: Crossing,
    by_name: Crossing,
    files: Vec<String>,
}

pub(super) fn run(args: &Args, command: &RanksArgs) -> anyhow::Result<Outcome> {
    let Some(input) = input::read_again(args, &command.file)? else { return Ok(Outcome::Failed) };
    let plan = &input.plan;
    let hosts = &plan.topology().hosts;
    let adapters = hosts.nics_per_node / hosts.nics_per_adapter.max(1);
    let gpus = command.gpus_per_node.unwrap_or_else(|| u32::from(adapters));
    let traffic =
        Traffic { tensor: command.tp_bytes.0, data: command.dp_bytes.0, pipeline: command.pp_bytes.0 };
    let job = Job::new((command.tp, command.dp, command.pp), gpus, traffic)?;
    let placement = plan.place(&job, &free_nodes(plan, command)?)?;
    let levels = Levels::of(plan);
    let files = [
        slurm::tree(&levels),
        slurm::yaml(&levels),
        mpi::hostfile(&placement, gpus),
        mpi::rankfile(&placement, gpus),
        mpi::placement(&placement),
    ];
    let report = Report {
        ranks: job.ranks(),
        nodes: job.nodes(),
        placed: placement.placed,
        by_name: placement.by_name,
        files: super::stream(&command.out.join("ranks"), &files)?,
    };
    output::result(args.format, &RANKS, &report, human)?;
    Ok(Outcome::Fine)
}

/// Returns the nodes that the job can use, sorted.
fn free_nodes(plan: &Plan, command: &RanksArgs) -> anyhow::Result<Vec<Node>> {
    let Some(file) = &command.free else { return Ok(plan.nodes().collect()) };
    let text = output::read(file, closc_files::TEXT_MAX)?;
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    let mut nodes = lines.map(|name| names::node(plan, name)).collect::<anyhow::Result<Vec<Node>>>()?;
    nodes.sort_unstable();
    nodes.dedup();
    Ok(nodes)
}

fn human(report: &Report) -> String {
    let mut text = format!(
        "{} on {}\n\n",
        format_count(report.ranks as u64, "rank"),
        format_count(report.nodes as u64, "node")
    );
    let _ = writeln!(text, "{:<24} {:>14} {:>14}", "in a step", "as placed", "by name");
    let mut line = |what: &str, of: &dyn Fn(&Crossing) -> String| {
        let _ = writeln!(text, "{what:<24} {:>14} {:>14}", of(&report.placed), of(&report.by_name));
    };
    line("zones", &|crossing| crossing.zones.to_string());
    line("pairs across zones", &|crossing| crossing.zone_edges.to_string());
    line("bytes across zones", &|crossing| Bytes(crossing.zone_bytes).human());
    line("pairs across units", &|crossing| crossing.unit_edges.to_string());
    line("bytes across units", &|crossing| Bytes(crossing.unit_bytes).human());
    text.push('\n');
    for file in &report.files {
        let _ = writeln!(text, "{file}");
    }
    text
}
