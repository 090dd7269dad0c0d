//! Designs as an HTML page: a table, plots, and a drawing of each design.

use anyhow::Context as _;
use closc_compile::front::{self, Options, Source};
use closc_report::{Form, Plot, Remarks, Sheet, SheetDesign, Subject};

use super::{Designs, columns, page};
use crate::args::Args;

/// Returns the page.
pub(super) fn html(args: &Args, found: &Designs, title: String) -> anyhow::Result<String> {
    let options = Options { platforms: args.platforms.clone(), ..Options::default() };
    let mut designs = Vec::new();
    for row in &found.designs {
        let reading = front::read_text(&Source::Stdin, row.file.as_bytes(), &options)?;
        let plan = reading.plan.context("a design that passed the checks has a plan")?;
        designs.push(SheetDesign {
            title: page::title(row),
            cells: columns::ALL.iter().map(|column| (column.cell)(row)).collect(),
            notes: page::stages(row).into_iter().chain(page::notes(row)).collect(),
            drawing: closc_report::draw(&plan, Subject::Fabric, Form::Svg),
        });
    }
    let is_priced = found.designs.iter().any(|row| row.cost.is_some());
    let cost = |row: &super::row::Row| if is_priced { row.cost } else { Some(row.capacity_gbps) };
    let points = |figure: &dyn Fn(&super::row::Row) -> Option<u64>| {
        let rows = found.designs.iter().enumerate();
        rows.filter_map(|(at, row)| Some((at + 1, row.bisection_gbps, figure(row)?))).collect()
    };
    let (name, absent) = if is_priced {
        ("cost", "A design with an item without a price has no point.")
    } else {
        (
            "capacity of switches, Gb/s",
            "No prices are given, so the chart shows the capacity of all switches.",
        )
    };
    let plots = vec![
        Plot { figure: name, points: points(&cost), absent },
        Plot {
            figure: "typical power, W",
            points: points(&|row| row.power.typical_watts),
            absent: "A design with a switch or module without published power has no point.",
        },
    ];
    let columns = columns::ALL.iter().map(|column| column.title).collect();
    let note = std::iter::once(page::sentences(found)).chain(page::omissions(found));
    let note = note.chain(page::assumed_lengths(found)).collect::<Vec<_>>().join(" ");
    let by_routing = found.routings.iter().flat_map(|row| {
        let first = format!("`{}`: {}: {}", row.routing, page::fewest(row), row.how);
        let loses = row.loses.iter().map(|loses| format!("- {loses}"));
        [first, format!("+ {}", row.gains)].into_iter().chain(loses)
    });
    let remarks = Remarks { title: page::BY_ROUTING, lines: by_routing.collect() };
    Ok(closc_report::sheet(&Sheet { title, note, columns, designs, plots, remarks }))
}
