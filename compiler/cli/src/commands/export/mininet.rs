//! `closc export mininet`: a script that runs a fabric in Mininet.

use anyhow::Context as _;
use closc_lab::mininet::script;
use closc_lab::model::Model;
use closc_lab::tree::Tree;
use closc_lab::{Interrupt, Watch};
use closc_render::Artefact;

use super::{list, put};
use crate::args::Args;
use crate::args::export::MininetArgs;
use crate::args::lab::LabArgs;
use crate::commands::lab;
use crate::commands::lab::trees::Purpose;
use crate::labs;
use crate::output::{self, Outcome};

/// Writes the script.
pub fn run(args: &Args, command: &MininetArgs) -> anyhow::Result<Outcome> {
    let source = LabArgs { source: command.source.clone(), no_digests: false };
    lab::with_tree_for(
        args,
        &source,
        (&labs::options()?, &Watch::new(&|_| {}, &Interrupt::default())),
        |_| Ok(Purpose::Process),
        |tree, _| {
            let tree = Tree::read(tree)?;
            let text = script(&tree, &Model::of(&tree)?, &command.switch)?;
            if command.out == output::STANDARD {
                output::print(&text)?;
                return Ok(Outcome::Fine);
            }
            let name = command.out.file_name().context("`--out` names no file")?;
            let folder = command.out.parent().context("`--out` names no file")?;
            list(args, put(folder, &[Artefact::new(name, text)])?)
        },
    )
}
