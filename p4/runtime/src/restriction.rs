//! The conditions in `@entry_restriction` of a table and `@action_restriction` of an action, in the language of
//! [p4-constraints](https://github.com/p4lang/p4-constraints).
//!
//! In: the annotation, and the fields or parameters that it may name. Out: a [`Restriction`], which returns the clause
//! that an entry or an action call breaks, if any. Numbers have any size and a sign. Errors:
//! [`RestrictionError`] with line and column within the annotation. Invariants: a restriction is type-checked when it
//! is read, so evaluation cannot fail; length, nesting and number of parts are limited.
//!
//! The language has booleans, numbers (decimal, `0x`, `0b`, `0o`), addresses (`ipv4('..')`, `ipv6('..')`, `mac('..')`),
//! fields and their parts (`::value`, `::mask`, `::prefix_length`, `::low`, `::high`), `::priority`, `!`, `-`,
//! comparisons, `&&`, `||`, `->` and `;`. A number that is compared with a field of W bits is taken modulo 2^W, so -1
//! is the greatest value. The value of a field that is translated from text is the number that its bytes form. It is 0
//! only for the empty string. It can be compared with text in single quotes.

mod evaluate;
mod lexer;
mod number;
mod parser;
mod source;
mod types;

use std::ops::Range;

use thiserror::Error;

use crate::proto::v1;
use crate::value::Width;
use types::TypedExpression;

/// Maximum length of a restriction, in bytes.
const MAX_BYTES: usize = 64 << 10;

/// Maximum nesting of parentheses, negations and implications.
const MAX_DEPTH: u32 = 64;

/// Maximum number of parts of an expression.
const MAX_PARTS: u32 = 4096;

/// A restriction that is invalid.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("line {line}, column {column}: {problem}")]
pub struct RestrictionError {
    /// The line within the text of the restriction, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// The error.
    pub problem: String,
}

impl RestrictionError {
    fn at(source: &str, place: usize, problem: impl Into<String>) -> Self {
        let before = source.get(..place).unwrap_or(source);
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        RestrictionError {
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
            problem: problem.into(),
        }
    }
}

/// Form of an operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A field with one value.
    Exact,
    /// A field with a value and a mask.
    Ternary,
    /// A field with a value or without one.
    Optional,
    /// A field with a prefix.
    Lpm,
    /// A field with two ends.
    Range,
    /// A field whose match kind is specific to the architecture.
    Other,
    /// A parameter of an action.
    Param,
}

/// A field of a key or a parameter of an action, which an expression may name.
#[derive(Debug, Clone)]
pub(crate) struct Operand {
    /// The id within the table or action.
    pub(crate) id: u32,
    pub(crate) name: String,
    pub(crate) width: Width,
    /// Its form.
    pub(crate) kind: Kind,
}

/// Names that an expression may use: the fields of a table, or the parameters of an action.
#[derive(Clone, Copy)]
struct Names<'n> {
    operands: &'n [Operand],
    of_table: bool,
}

/// A clause; all clauses must hold.
#[derive(Debug, Clone)]
struct Clause {
    expression: TypedExpression,
    /// Its place in the source.
    place: Range<usize>,
}

/// Conditions on entries of a table, or on calls of an action.
#[derive(Debug, Clone)]
pub struct Restriction {
    source: String,
    operands: Vec<Operand>,
    clauses: Vec<Clause>,
}

impl Restriction {
    /// Reads the restriction in a table's annotations, if there is one.
    pub(crate) fn of_table(
        annotations: &[String],
        fields: Vec<Operand>,
    ) -> Result<Option<Self>, RestrictionError> {
        Self::read(annotations, "@entry_restriction", fields, true)
    }

    /// Reads the restriction in an action's annotations, if there is one.
    pub(crate) fn of_action(
        annotations: &[String],
        params: Vec<Operand>,
    ) -> Result<Option<Self>, RestrictionError> {
        Self::read(annotations, "@action_restriction", params, false)
    }

    fn read(
        annotations: &[String],
        name: &str,
        operands: Vec<Operand>,
        of_table: bool,
    ) -> Result<Option<Self>, RestrictionError> {
        let Some(source) = source::find(annotations, name)? else { return Ok(None) };
        let names = Names { operands: &operands, of_table };
        let typed = |expression: parser::Expression| {
            let place = expression.place.clone();
            Ok(Clause { expression: types::check(&source, names, expression)?, place })
        };
        let clauses: Result<Vec<Clause>, RestrictionError> =
            parser::parse(&source)?.into_iter().map(typed).collect();
        let clauses = clauses?;
        Ok(Some(Restriction { source, operands, clauses }))
    }

    /// Returns the text of the restriction.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Returns the first clause that an entry breaks, as one line. The key must have been checked before.
    pub(crate) fn entry_violation(&self, entry: &v1::TableEntry) -> Option<String> {
        self.violation(&evaluate::Entry { fields: &self.operands, entry })
    }

    /// Returns the first clause that a call breaks, as one line. The call must have been checked before.
    pub(crate) fn call_violation(&self, call: &v1::Action) -> Option<String> {
        self.violation(&evaluate::Call { params: &self.operands, call })
    }

    fn violation(&self, given: &dyn evaluate::ValueSource) -> Option<String> {
        let clause = self.clauses.iter().find(|clause| !evaluate::holds(&clause.expression, given))?;
        Some(source::in_one_line(&self.source[clause.place.clone()]))
    }
}

#[cfg(test)]
mod tests;
