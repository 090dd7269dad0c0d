//! `closc export order`: the bill of a fabric, for who buys it.
//!
//! In: a fabric file. Out: a table a file, and a page to print. Invariants: every form has the same cells.

use closc_render::Artefact;
use closc_report::Order;

use super::write;
use crate::args::Args;
use crate::args::export::OrderArgs;
use crate::input;
use crate::output::Outcome;

/// Writes the order.
pub(super) fn run(args: &Args, command: &OrderArgs) -> anyhow::Result<Outcome> {
    let Some(input) = input::read(args, &command.file)? else { return Ok(Outcome::Failed) };
    let order = Order::of(&input.plan);
    let mut files: Vec<Artefact> =
        order.csv().map(|(name, text)| Artefact::new(format!("order/{name}.csv"), text)).collect();
    files.push(Artefact::new("order/order.html".to_owned(), order.html()));
    write(args, &command.out, &files)
}
