//! An order as a page to print.

use std::fmt::Write as _;

use closc_diagnostics::figures::number;

use super::{Cell, Order};
use crate::text::{escape, fill, inline_html};

const FRAME: &str = include_str!("../page/difference.html");
const STYLE: &str = include_str!("../page/page.css");
const PRINT: &str = "@media print {\n  body { max-width: none; padding: 0; }\n  table { break-inside: auto; }\n  \
                     tr { break-inside: avoid; }\n  h2 { break-after: avoid; }\n}\n";

impl Order {
    /// Returns the order as a page to print.
    pub fn html(&self) -> String {
        let mut body = String::new();
        for table in &self.tables {
            let _ = writeln!(body, "<h2>{}{}</h2>", table.name[..1].to_uppercase(), &table.name[1..]);
            body.push_str("<table>\n<thead><tr>");
            for name in table.head {
                let _ = write!(body, "<th scope=\"col\">{}</th>", escape(name));
            }
            body.push_str("</tr></thead>\n<tbody>\n");
            for row in &table.rows {
                let cells: String = row.iter().map(cell).collect();
                let _ = writeln!(body, "<tr>{cells}</tr>");
            }
            body.push_str("</tbody>\n</table>\n");
        }
        let lengths = if self.is_measured {
            "Cable lengths are computed from rack positions and measured along cable trays."
        } else {
            "Cable lengths are those of the fabric file."
        };
        let note = format!(
            "{lengths} Modules are counted per cage. A dash (–) means that the figure is not published."
        );
        let style = [STYLE, PRINT].concat();
        let title = format!("Order of {}", self.fabric);
        fill(
            FRAME,
            &[
                ("{{title}}", &escape(&title)),
                ("{{style}}", &style),
                ("{{from}}", &note),
                ("{{body}}", &body),
            ],
        )
    }
}

fn cell(cell: &Cell) -> String {
    match cell {
        Cell::Text(text) => format!("<td>{}</td>", inline_html(text)),
        Cell::Number(count) => format!("<td class=\"n\">{}</td>", number(*count)),
        Cell::Absent => "<td class=\"n\">–</td>".to_owned(),
    }
}
