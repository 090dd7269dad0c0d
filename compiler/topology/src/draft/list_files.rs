//! Files that a fabric file names: one item per line, below a line with the names of columns.
//!
//! In: a document and the files that were read for it. Out: lines with their places, or why there are none.
//! Invariants: lines that are empty or begin with `#` are skipped. The contents of a file with other column names are
//! never shown, because it is not such a file.

use closc_artefacts::separator;
use closc_diagnostics::{Sources, Span};

use crate::load::{Companion, Document};
use crate::names::{NameFault, correct_name};
use crate::naming::Naming;
use crate::shape::Shape;

/// Why a file gives no lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ListFault {
    /// It was not read.
    Unread(String),
    /// It does not start with the names of the columns.
    Foreign,
}

/// Returns the lines of a file below its columns; none if the document names no file.
pub(super) fn lines<'s>(
    document: &Document,
    companion: Companion,
    columns: &str,
    sources: &'s Sources,
) -> Result<Vec<(Span, &'s str)>, ListFault> {
    if document.companion(companion).is_none() {
        return Ok(Vec::new());
    }
    let source = match document.companions.get(&companion) {
        None => return Err(ListFault::Unread("the file was not read".to_owned())),
        Some(Err(why)) => return Err(ListFault::Unread(why.clone())),
        Some(Ok(source)) => *source,
    };
    let text = &sources.get(source).text;
    // Spreadsheets begin UTF-8 with a byte order mark.
    let plain = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut start = text.len() - plain.len();
    let spanned = plain.split_inclusive('\n').map(|line| {
        let cells = line.trim();
        let first = start + line.len() - line.trim_start().len();
        start += line.len();
        (Span::new(source, first..first + cells.len()), cells)
    });
    let mut lines = spanned.filter(|(_, cells)| !cells.is_empty() && !cells.starts_with('#'));
    let named = lines.next().is_some_and(|(_, header)| split(header).eq(columns.split(',')));
    if named { Ok(lines.collect()) } else { Err(ListFault::Foreign) }
}

/// Returns the cells of a line, if there are `N`.
pub(super) fn cells<const N: usize>(line: &str) -> Option<[&str; N]> {
    split(line).collect::<Vec<_>>().try_into().ok()
}

/// Splits a line at its separator, which no cell of these files contains.
fn split(line: &str) -> impl Iterator<Item = &str> {
    line.split(char::from(separator(line.as_bytes()))).map(str::trim)
}

/// Returns why a name is not the `expected` kind of name.
pub(super) fn explain_name_fault(
    name: &str,
    (shape, naming): (&Shape, &Naming),
    expected: &str,
    fault: NameFault,
) -> String {
    match fault {
        NameFault::Unreadable => match correct_name(name, shape, naming) {
            Ok(near) if near == name && naming.parse_node(name).is_some() => {
                format!("`{name}` is a node; expected {expected}")
            }
            Ok(near) if near == name => format!("`{name}` is another kind of name; expected {expected}"),
            Ok(near) => format!("`{name}` is not a name in this fabric; did you mean `{near}`?"),
            Err(NameFault::Unreadable) => format!("`{name}` is not a name in this fabric"),
            Err(fault) => explain_name_fault(name, (shape, naming), expected, fault),
        },
        NameFault::Beyond { last } => format!("`{name}` does not exist: {last}"),
        NameFault::NoCable { reason: why }
        | NameFault::Range { reason: why }
        | NameFault::TooMany { reason: why } => {
            format!("`{name}`: {why}")
        }
    }
}
