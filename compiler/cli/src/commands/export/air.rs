//! `closc export air`: a simulation for NVIDIA Air.
//!
//! In: a fabric file. Out: `NAME.air.json` and `names.csv`. Invariants: a note counts the devices whose names differ
//! from the fabric file.

use closc_diagnostics::figures::format_count;
use closc_exports::air::{Options, Simulation};
use closc_exports::l8k;

use super::l8k::say_gaps;
use super::{list_below, stream};
use crate::args::Args;
use crate::args::export::nvidia::AirArgs;
use crate::input;
use crate::output::{self, Outcome};

/// Writes the files.
pub(super) fn run(args: &Args, command: &AirArgs) -> anyhow::Result<Outcome> {
    let Some(input) = input::read_again(args, &command.file)? else { return Ok(Outcome::Failed) };
    let plan = &input.plan;
    let family = command.ip_version.map_or_else(|| l8k::address_family(plan), Into::into);
    let options = Options {
        plain: command.plain,
        nic_model: command.nic_model.clone(),
        images: command.image.iter().cloned().collect(),
    };
    let simulation = Simulation::new(plan, family, options)?;
    let files = stream(&command.out, &simulation.files())?;
    if !args.quiet {
        if simulation.renamed_count() > 0 {
            output::say(format!(
                "note: {} renamed for k8s-launch-kit, see `{}`; `--plain` keeps the names",
                format_count(simulation.renamed_count() as u64, "device"),
                command.out.join("names.csv")
            ));
        }
        if !command.plain {
            say_gaps(plan);
        }
    }
    list_below(args, &command.out, files)
}
