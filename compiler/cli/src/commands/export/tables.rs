//! `closc export tables`: the plan as tables for data tools.
//!
//! In: a fabric file. Out: one file per table. Invariants: rows are written as they are computed; each file is written
//! atomically.

use anyhow::{Context as _, bail};
use closc_files::disk::{self, SyncMode};
use closc_plan::Plan;
use closc_tables::{Format as Rows, Selection, Table};
use closc_topology::Nic;

use super::list_below;
use crate::args::export::TablesArgs;
use crate::args::{Args, Format};
use crate::output::{Outcome, Usage};
use crate::{input, names};

/// Writes the tables.
pub(super) fn run(args: &Args, command: &TablesArgs) -> anyhow::Result<Outcome> {
    let rows = match args.format {
        Format::Rows(rows) => rows,
        Format::Human | Format::Json | Format::Github | Format::Markdown | Format::Html => Rows::Csv,
    };
    if !rows.is_built_in() {
        bail!(
            "this build of closc does not support Parquet; build it with `cargo build --features parquet`, or write CSV, which DuckDB and \
             pandas read too"
        );
    }
    if command.only.contains(&Table::Paths) && command.pair.is_empty() {
        bail!(Usage("the table `paths` needs pairs: name them with `--pair FROM,TO`"));
    }
    let Some(input) = input::read_again(args, &command.file)? else { return Ok(Outcome::Failed) };
    let plan = &input.plan;
    let selection = selection(plan, command)?;
    std::fs::create_dir_all(&command.out).with_context(|| format!("cannot create `{}`", command.out))?;
    let mut files = Vec::new();
    for table in Table::ALL.into_iter().filter(|table| is_wanted(command, *table)) {
        let place = command.out.join(format!("{}.{}", table.name(), rows.extension()));
        disk::replace_with(&place, SyncMode::Yes, |file| {
            closc_tables::write(plan, table, &selection, rows, file).map(drop)
        })
        .with_context(|| format!("cannot write `{place}`"))?;
        files.push(place.to_string());
    }
    list_below(args, &command.out, files)
}

fn is_wanted(command: &TablesArgs, table: Table) -> bool {
    match table {
        Table::Paths if command.pair.is_empty() => false,
        _ => command.only.is_empty() || command.only.contains(&table),
    }
}

fn selection(plan: &Plan, command: &TablesArgs) -> anyhow::Result<Selection> {
    let planes =
        command.plane.iter().map(|plane| names::plane(plan, *plane)).collect::<anyhow::Result<_>>()?;
    if !command.pair.is_empty() {
        input::needs_source_routing("the table `paths`", plan)?;
    }
    let pairs = command.pair.iter().map(|pair| self::pair(plan, pair)).collect::<anyhow::Result<_>>()?;
    Ok(Selection { planes, pairs })
}

fn pair(plan: &Plan, (from, to): &(String, String)) -> anyhow::Result<(Nic, Nic)> {
    let sender = names::nic(plan, from, 0)?;
    let receiver = names::nic(plan, to, plan.topology().node_of(sender).1)?;
    if sender == receiver {
        bail!("`{from}` and `{to}` are the same NIC");
    }
    Ok((sender, receiver))
}
