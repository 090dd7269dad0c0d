//! `closc export scheduler`: the position of nodes in the topology, for schedulers and the tools that configure them.
//!
//! In: a fabric file. Out: `slurm/`, `kubernetes/` and `topograph/` below a folder.

use closc_exports::File;
use closc_exports::schedule::{Levels, kueue, labels, slurm, topograph};

use super::{list_below, stream};
use crate::args::Args;
use crate::args::export::integrations::{Scheduler, SchedulerArgs};
use crate::input;
use crate::output::Outcome;

/// Writes the selected files.
pub(super) fn run(args: &Args, command: &SchedulerArgs) -> anyhow::Result<Outcome> {
    let Some(input) = input::read_again(args, &command.file)? else { return Ok(Outcome::Failed) };
    let levels = Levels::of(&input.plan);
    let is_wanted = |scheduler| command.only.is_empty() || command.only.contains(&scheduler);
    let mut files = Vec::new();
    let mut add = |folder: &str, of: Vec<File<'_>>| -> anyhow::Result<()> {
        files.extend(stream(&command.out.join(folder), &of)?);
        Ok(())
    };
    if is_wanted(Scheduler::Slurm) {
        add("slurm", vec![slurm::tree(&levels), slurm::block(&levels), slurm::yaml(&levels)])?;
    }
    if is_wanted(Scheduler::Kueue) {
        add("kubernetes", vec![kueue::objects(&levels, &command.labels)?])?;
    }
    if is_wanted(Scheduler::Labels) {
        add("kubernetes", vec![labels::nodes(&levels, &command.labels)?])?;
    }
    if is_wanted(Scheduler::Topograph) {
        add("topograph", vec![topograph::model(&levels)])?;
    }
    list_below(args, &command.out, files)
}
