//! `closc export resources`: all elements of a fabric, as resources with addresses.

use closc_exports::resources;

use super::{list_below, stream};
use crate::args::Args;
use crate::args::export::integrations::ResourcesArgs;
use crate::input;
use crate::output::Outcome;

/// Writes the list.
pub(super) fn run(args: &Args, command: &ResourcesArgs) -> anyhow::Result<Outcome> {
    let Some(input) = input::read_again(args, &command.file)? else { return Ok(Outcome::Failed) };
    let files = stream(&command.out, &[resources::list(&input.plan)])?;
    list_below(args, &command.out, files)
}
