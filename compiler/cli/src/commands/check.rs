//! `closc check`: every fault of a fabric file, or the numbers it describes.

use std::fmt::Write as _;

use closc_artefacts::Counts;
use closc_diagnostics::figures::number;
use serde::Serialize;

use crate::args::{Args, CheckArgs};
use crate::input;
use crate::output::{self, Outcome};

#[derive(Serialize)]
struct Result {
    fabric: String,
    routing: &'static str,
    counts: Counts,
    warnings: usize,
}

/// Checks a fabric file.
pub fn run(args: &Args, command: &CheckArgs) -> anyhow::Result<Outcome> {
    let Some(input) = input::read(args, &command.file)? else { return Ok(Outcome::Failed) };
    let topology = input.plan.topology();
    let result = Result {
        fabric: topology.name.to_string(),
        routing: topology.routing.word(),
        counts: input.plan.fabric().counts(),
        warnings: input.warnings,
    };
    output::result(args.format, "closc-check/1", &result, human)?;
    Ok(Outcome::Fine)
}

fn human(result: &Result) -> String {
    let counts = &result.counts;
    let mut text = format!("{} is valid ({})\n", result.fabric, result.routing);
    let mut line = |what: &str, count: u64| {
        let _ = writeln!(text, "{:>13}  {what}", number(count));
    };
    line("planes", counts.planes);
    if counts.zones > 1 {
        line("zones", counts.zones);
    }
    line("nodes", counts.nodes);
    line("NICs", counts.nics);
    line("T0 switches", counts.t0);
    line("T1 switches", counts.t1);
    if counts.t2 > 0 {
        line("T2 switches", counts.t2);
    }
    line("switches in all", counts.t0 + counts.t1 + counts.t2);
    line("host links", counts.host_links);
    line("fabric links", counts.fabric_links);
    line("paths between NICs of one T0 group", counts.paths_local);
    line("paths between NICs of different groups", counts.paths_zone);
    if counts.zones > 1 {
        line("paths between NICs of different zones", counts.paths_far);
    }
    text
}
