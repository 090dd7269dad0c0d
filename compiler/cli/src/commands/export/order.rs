//! `closc export order`: the bill of materials of a fabric.
//!
//! In: a fabric file and optionally a floor plan. Out: one CSV file per table, a workbook, and a page to print.
//! Invariants: all of them contain the same cells.

use anyhow::Context as _;
use closc_render::Artefact;
use closc_report::Order;

use super::write;
use crate::args::export::OrderArgs;
use crate::args::{Args, Format};
use crate::commands::place;
use crate::input;
use crate::output::{self, Outcome};

/// Writes the order.
pub(super) fn run(args: &Args, command: &OrderArgs) -> anyhow::Result<Outcome> {
    let Some(input) = input::read_again(args, &command.file)? else { return Ok(Outcome::Failed) };
    let floor = command.floor.as_ref().map(|path| place::floor(path, &command.trays)).transpose()?;
    let order = Order::of(&input.plan, floor.as_ref())?;
    let mut files: Vec<Artefact> =
        order.csv().map(|(name, text)| Artefact::new(format!("order/{name}.csv"), text)).collect();
    if args.format != Format::Json && !args.quiet {
        for note in closc_cabling::lanes::order_notes(&input.plan) {
            output::say(format_args!("note: {note}"));
        }
    }
    files.push(Artefact::new("order/order.html", order.html()));
    files.push(Artefact::new("order/order.xlsx", order.xlsx().context("cannot write a workbook")?));
    write(args, &command.out, &files)
}
