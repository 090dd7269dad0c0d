//! Formatting of fabric files.
//!
//! In: the text of a file. Out: the same text with other white space. Invariants: comments are kept in place. The new
//! text has the same values, or the result is `None`. A formatted text is not changed again.
//!
//! Two spaces per level, one after a colon or comma, `{ a: 1 }` and `[a, b]`, no spaces at ends of lines, no two empty
//! lines. Order, quotes and line breaks are kept.

mod flow;
mod line;

use closc_diagnostics::{Diagnostics, SourceId, Sources};

use crate::load;
use crate::yaml::{Item, Value};

use line::{Head, head};

/// Formats a text; `None` if it cannot be read, or if other spaces would change its meaning.
pub fn format(text: &str) -> Option<String> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text).replace("\r\n", "\n");
    let formatted = lines(&text);
    let same = is_same(&tree(&text)?, &tree(&formatted)?);
    same.then_some(formatted)
}

fn tree(text: &str) -> Option<Item> {
    let source: SourceId = Sources::new().add("", text);
    let mut found = Diagnostics::new();
    load::parse(source, text, &mut found).filter(|_| found.is_empty())
}

/// Returns whether two trees have equal values, regardless of their places in the text.
fn is_same(one: &Item, other: &Item) -> bool {
    match (&one.value, &other.value) {
        (Value::Null, Value::Null) => true,
        (Value::Bool(a), Value::Bool(b)) => a == b,
        (Value::Integer(a), Value::Integer(b)) => a == b,
        (Value::Float(a), Value::Float(b)) => a.to_bits() == b.to_bits(),
        (Value::Text(a), Value::Text(b)) => a == b,
        (Value::List(a), Value::List(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(one, other)| is_same(one, other))
        }
        (Value::Mapping(a), Value::Mapping(b)) => {
            let pairs = || a.iter().zip(b);
            a.len() == b.len() && pairs().all(|(a, b)| a.key == b.key && is_same(&a.item, &b.item))
        }
        (
            Value::Null
            | Value::Bool(_)
            | Value::Integer(_)
            | Value::Float(_)
            | Value::Text(_)
            | Value::List(_)
            | Value::Mapping(_),
            _,
        ) => false,
    }
}

/// Context of the lines below a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LineContext {
    /// None: they begin new values.
    Nothing,
    /// A value in brackets or quotes that continues.
    Flow(flow::State),
    /// The text of a `|` or `>` whose key is at this indentation.
    Text(usize),
}

/// Levels of indentation: the original one, and the new one.
struct Levels(Vec<(usize, usize)>);

impl Levels {
    /// Returns the new indentation of a line, and enters its level.
    fn enter(&mut self, old: usize) -> usize {
        while self.0.len() > 1 && self.0.last().is_some_and(|(known, _)| *known > old) {
            self.0.pop();
        }
        let (known, new) = *self.0.last().expect("the top level stays");
        if known >= old {
            return new;
        }
        self.0.push((old, new + 2));
        new + 2
    }

    /// Returns the new indentation of a line that does not begin a level.
    fn of(&self, old: usize) -> usize {
        self.0.iter().rev().find(|(known, _)| *known <= old).map_or(0, |(_, new)| *new)
    }
}

/// A line of the file, split into its parts.
struct Line {
    /// Spaces before it; `None` for a comment, whose indentation depends on the lines below.
    indent: Option<usize>,
    /// Original number of spaces before it.
    old: usize,
    text: String,
}

fn lines(text: &str) -> String {
    let first = text.lines().find(|line| !line.trim().is_empty() && !line.trim_start().starts_with('#'));
    let base = first.map_or(0, |line| head(line).indent);
    let (mut levels, mut inside, mut shift) = (Levels(vec![(base, 0)]), LineContext::Nothing, 0_isize);
    let mut out: Vec<Line> = Vec::new();
    for line in text.lines() {
        let old = line.len() - line.trim_start_matches(' ').len();
        let moved = |shift: isize| old.saturating_add_signed(shift);
        if let LineContext::Text(key) = inside {
            if line.trim().is_empty() || old > key {
                // Spaces at the end of such a line are a part of the text.
                let indent = if line.trim().is_empty() { 0 } else { moved(shift) };
                out.push(Line { indent: Some(indent), old, text: line[old..].to_owned() });
                continue;
            }
            inside = LineContext::Nothing;
        }
        if line.trim().is_empty() {
            out.push(Line { indent: Some(0), old: 0, text: String::new() });
            continue;
        }
        if let LineContext::Flow(state) = inside {
            let (text, state) = flow::line(&line[old..], state);
            out.push(Line { indent: Some(moved(shift)), old, text });
            inside = if state.is_open() { LineContext::Flow(state) } else { LineContext::Nothing };
            continue;
        }
        if line.trim_start().starts_with('#') {
            out.push(Line { indent: None, old, text: line.trim().to_owned() });
            continue;
        }
        let head = head(line);
        let new = levels.enter(head.indent);
        let (text, below) = content(&head, line, new, &mut levels);
        shift = new.cast_signed() - head.indent.cast_signed();
        inside = below;
        out.push(Line { indent: Some(new), old, text });
    }
    join(&mut out, &levels)
}

/// Writes a line without its indentation, and returns the context of the lines below.
fn content(head: &Head, line: &str, new: usize, levels: &mut Levels) -> (String, LineContext) {
    let mut text = String::new();
    let mut new = new;
    for dash in &head.dashes {
        text.push_str("- ");
        new += 2;
        // The text after a dash is a level of its own, at its start.
        levels.0.push((*dash, new));
    }
    if let Some(key) = head.key {
        text.push_str(key);
        text.push(':');
        if !head.value.is_empty() {
            text.push(' ');
        }
    }
    let innermost = head.dashes.last().copied().unwrap_or(head.indent);
    let value = line::value(head.value, innermost);
    text.push_str(&value.text);
    if let Some(comment) = value.comment {
        let at = line.len() - comment.len();
        let column = line[..at].chars().count();
        let width = text.chars().count() + new.saturating_sub(2 * head.dashes.len());
        text.push_str(&" ".repeat(flow::gap(width, column)));
        text.push_str(comment.trim_end());
    }
    (text, value.inside)
}

/// Joins lines. Comments that were aligned with the line below stay aligned with it, and at most one empty
/// line is kept.
fn join(lines: &mut [Line], levels: &Levels) -> String {
    let mut below: Option<(usize, usize)> = None;
    for line in lines.iter_mut().rev() {
        match line.indent {
            Some(indent) if !line.text.is_empty() => below = Some((line.old, indent)),
            Some(_) => {}
            None => {
                let own = levels.of(line.old);
                line.indent = Some(below.filter(|(old, _)| *old == line.old).map_or(own, |(_, new)| new));
            }
        }
    }
    let mut text = String::new();
    let mut is_empty = true;
    for line in lines.iter() {
        if line.text.is_empty() && is_empty {
            continue;
        }
        is_empty = line.text.is_empty();
        if !is_empty {
            text.push_str(&" ".repeat(line.indent.unwrap_or_default()));
            text.push_str(&line.text);
        }
        text.push('\n');
    }
    if text.ends_with("\n\n") {
        text.pop();
    }
    text
}
