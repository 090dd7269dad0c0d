//! One row, whose memory is reused for the next one.

use std::fmt::{Display, Write as _};

/// A cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Value<'a> {
    Text(&'a str),
    /// A whole number.
    Integer(i64),
    /// An empty cell: the column does not apply to this row.
    Empty,
}

#[derive(Debug, Clone, Copy)]
enum Cell {
    /// A text that begins at the end of the previous one and ends at this offset.
    Text(usize),
    Integer(i64),
    Empty,
}

/// A row, filled cell by cell.
#[derive(Debug, Default)]
pub(crate) struct Row {
    text: String,
    cells: Vec<Cell>,
}

impl Row {
    /// Clears the row.
    pub(crate) fn start(&mut self) -> &mut Self {
        self.text.clear();
        self.cells.clear();
        self
    }

    /// Adds a text cell.
    pub(crate) fn text(&mut self, value: impl Display) -> &mut Self {
        write!(self.text, "{value}").expect("writing to a string succeeds");
        self.cells.push(Cell::Text(self.text.len()));
        self
    }

    /// Adds a text cell without formatting.
    pub(crate) fn literal(&mut self, value: &str) -> &mut Self {
        self.text.push_str(value);
        self.cells.push(Cell::Text(self.text.len()));
        self
    }

    /// Adds a number cell.
    pub(crate) fn integer(&mut self, value: impl Into<i64>) -> &mut Self {
        self.cells.push(Cell::Integer(value.into()));
        self
    }

    /// Adds an empty cell.
    pub(crate) fn empty(&mut self) -> &mut Self {
        self.cells.push(Cell::Empty);
        self
    }

    /// Adds a text cell, or an empty cell for `None`.
    pub(crate) fn maybe(&mut self, value: Option<impl Display>) -> &mut Self {
        match value {
            Some(value) => self.text(value),
            None => self.empty(),
        }
    }

    /// Adds a cell with several texts, separated by spaces.
    pub(crate) fn list(&mut self, values: impl IntoIterator<Item = impl Display>) -> &mut Self {
        for (at, value) in values.into_iter().enumerate() {
            let space = if at > 0 { " " } else { "" };
            write!(self.text, "{space}{value}").expect("writing to a string succeeds");
        }
        self.cells.push(Cell::Text(self.text.len()));
        self
    }

    /// Returns the cells.
    pub(crate) fn values(&self) -> impl Iterator<Item = Value<'_>> {
        let mut from = 0;
        self.cells.iter().map(move |cell| match cell {
            Cell::Text(end) => {
                let text = &self.text[from..*end];
                from = *end;
                Value::Text(text)
            }
            Cell::Integer(number) => Value::Integer(*number),
            Cell::Empty => Value::Empty,
        })
    }
}
