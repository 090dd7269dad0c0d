//! `closc design --compare`: compares two fabrics number by number.

use std::fmt::Write as _;

use camino::Utf8PathBuf;
use closc_design::Criteria;
use closc_platform::Catalogue;
use schemars::JsonSchema;
use serde::Serialize;

use super::row::Row;
use super::{columns, file_design, page};
use crate::args::Args;
use crate::input::{self, InputAssumption};
use crate::output::{self, Document, Outcome};

/// The comparison.
pub(crate) const COMPARE: Document<Comparison> = Document::new("closc-design-compare/1");

/// Two fabrics.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Comparison {
    fabrics: Vec<FabricRow>,
}

/// A fabric.
#[derive(Serialize, JsonSchema)]
struct FabricRow {
    /// The fabric file.
    fabric: String,
    design: Row,
}

/// Prints the numbers of two fabrics.
pub(super) fn run(
    args: &Args,
    files: &[Utf8PathBuf],
    (catalogue, compared): (&Catalogue, Criteria<'_>),
) -> anyhow::Result<Outcome> {
    let compared = Criteria { power: false, ..compared };
    let mut fabrics = Vec::new();
    for file in files {
        let Some(InputAssumption { input, assumed, .. }) = input::read_with_assumed(args, file)? else {
            return Ok(Outcome::Failed);
        };
        let plan = &input.plan;
        let design = file_design::design(plan, file, catalogue)?;
        let measure = file_design::measure(file, &design, compared, &file_design::media(plan.topology()))?;
        let design = file_design::row(
            (plan, assumed, input.known_faults.clone()),
            &design,
            &measure,
            compared.prices.is_some(),
        );
        fabrics.push(FabricRow { fabric: file.to_string(), design });
    }
    output::result(args.format, &COMPARE, &Comparison { fabrics }, text)?;
    Ok(Outcome::Fine)
}

fn text(comparison: &Comparison) -> String {
    let mut text = String::new();
    for named in &comparison.fabrics {
        let _ = writeln!(text, "`{}`: {}", named.fabric, page::title(&named.design));
    }
    text.push('\n');
    let rows: Vec<&Row> = comparison.fabrics.iter().map(|named| &named.design).collect();
    for column in columns::ALL {
        let cells: Vec<String> = rows.iter().map(|row| (column.cell)(row)).collect();
        if cells.iter().all(String::is_empty) {
            continue;
        }
        let mark = if cells.windows(2).all(|pair| pair[0] == pair[1]) { ' ' } else { '*' };
        let _ = write!(text, "{mark} {:<34}", column.title);
        for cell in &cells {
            let _ = write!(text, " {:>26}", if cell.is_empty() { "-" } else { cell });
        }
        text.push('\n');
    }
    text.push_str("* differs; - not published, or not applicable\n");
    text
}
