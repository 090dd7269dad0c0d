//! `closc export report`: a fabric as a page for a browser.
//!
//! In: a fabric file. Out: one HTML file. Invariants: it is whole or not there.

use super::list;
use crate::args::Args;
use crate::args::export::ReportArgs;
use crate::input;
use crate::output::{self, Outcome};

/// Writes the page.
pub(super) fn run(args: &Args, command: &ReportArgs) -> anyhow::Result<Outcome> {
    let Some(input) = input::read(args, &command.file)? else { return Ok(Outcome::Failed) };
    output::replace(&command.out, &closc_report::page(&input.plan))?;
    if command.out == output::STANDARD {
        return Ok(Outcome::Fine);
    }
    list(args, vec![command.out.to_string()])
}
