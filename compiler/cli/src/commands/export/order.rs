//! `closc export order`: the bill of materials of a fabric.
//!
//! In: a fabric file. Out: one CSV file per table, and a page to print. Invariants: the page and the CSV files have the
//! same cells.

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
