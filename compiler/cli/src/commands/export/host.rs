//! `closc export host`: the files of single nodes, independent of the `outputs` in the fabric file.

use closc_render::{Artefact, Templates, targets};
use closc_topology::HostOutput;

use crate::args::Args;
use crate::args::export::HostArgs;
use crate::output::Outcome;
use crate::{input, names};

pub(super) fn run(args: &Args, command: &HostArgs) -> anyhow::Result<Outcome> {
    let Some(input) = input::read_again(args, &command.file)? else { return Ok(Outcome::Failed) };
    let templates = Templates::builtin();
    let wanted = if command.only.is_empty() { &HostOutput::ALL[..] } else { &command.only[..] };
    let mut artefacts: Vec<Artefact> = Vec::new();
    for name in &command.nodes {
        let node = names::node(&input.plan, name)?;
        let intent = input.plan.host(node);
        for output in wanted {
            artefacts.extend(targets::host::render(&intent, *output, &templates)?);
        }
    }
    super::write(args, &command.out, &artefacts)
}
