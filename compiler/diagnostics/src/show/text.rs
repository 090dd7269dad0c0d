//! Findings as text with source lines and carets, for a terminal.

use std::ops::Range;

use annotate_snippets::{AnnotationKind, Element, Group, Level, Origin, Renderer, Snippet};

use crate::{Diagnostic, Diagnostics, Label, Severity, Source, SourceId, Sources};

/// Whether the text contains terminal colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Colour {
    /// Escape sequences for a terminal.
    Terminal,
    /// Plain text, for files, tests and pipes.
    Plain,
}

/// Returns all findings as text, each followed by a blank line.
pub fn all(diagnostics: &Diagnostics, sources: &Sources, colour: Colour) -> String {
    diagnostics.iter().map(|d| one(d, sources, colour) + "\n\n").collect()
}

/// Returns one finding as text, without a line break at the end.
pub fn one(diagnostic: &Diagnostic, sources: &Sources, colour: Colour) -> String {
    let renderer = match colour {
        Colour::Terminal => Renderer::styled(),
        Colour::Plain => Renderer::plain(),
    };
    renderer.render(&groups(diagnostic, sources))
}

fn groups<'a>(diagnostic: &'a Diagnostic, sources: &'a Sources) -> Vec<Group<'a>> {
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let title = level.primary_title(diagnostic.message.as_str()).id(diagnostic.rule.code);
    let mut main = Group::with_title(title);
    for element in elements(diagnostic, sources) {
        main = main.element(element);
    }
    for note in &diagnostic.notes {
        main = main.element(Level::NOTE.message(note.as_str()));
    }
    let helps = diagnostic.help.iter().map(|h| Group::with_title(Level::HELP.secondary_title(h.as_str())));
    std::iter::once(main).chain(helps).collect()
}

/// An excerpt of a source, with its labels.
type Excerpt<'a> = Snippet<'a, annotate_snippets::Annotation<'a>>;

/// Maximum size of an excerpt that is shown completely. For longer ones, and those with very long lines, only
/// the surroundings of each label are shown, because the renderer processes every character.
const PIECE_MAX: usize = 64 << 10;
const LINE_MAX: usize = 2_000;

/// Bytes of a long line shown before and after the start of a label.
const AROUND: (usize, usize) = (60, 120);

/// Returns the places of a finding, grouped by source. The source of the primary label is first.
fn elements<'a>(diagnostic: &'a Diagnostic, sources: &'a Sources) -> Vec<Element<'a>> {
    let mut order: Vec<SourceId> = diagnostic.span().map(|first| first.source).into_iter().collect();
    for label in &diagnostic.labels {
        if !order.contains(&label.span.source) {
            order.push(label.span.source);
        }
    }
    let of_source = |id| diagnostic.labels.iter().filter(move |label| label.span.source == id);
    order
        .into_iter()
        .flat_map(|id| {
            let source = sources.get(id);
            let labels: Vec<&Label> = of_source(id).collect();
            match piece(source, &labels) {
                Some((line, range)) => vec![Element::from(complete_excerpt(source, line, range, &labels))],
                None => labels.iter().flat_map(|label| label_excerpt(source, sources, label)).collect(),
            }
        })
        .collect()
}

/// Returns the lines that contain all labels, and the number of the first line; `None` if they are too long.
fn piece(source: &Source, labels: &[&Label]) -> Option<(usize, Range<usize>)> {
    let text = &source.text;
    let ranges =
        || labels.iter().map(|label| clamp(text, label.span.start as usize, label.span.end as usize));
    let start = line_start(text, ranges().map(|range| range.start).min()?);
    let last = ranges().map(|range| range.end).max()?;
    let end = text[last..].find('\n').map_or(text.len(), |at| last + at);
    let short = end - start <= PIECE_MAX && text[start..end].split('\n').all(|line| line.len() <= LINE_MAX);
    short.then(|| (text[..start].bytes().filter(|byte| *byte == b'\n').count() + 1, start..end))
}

/// Shows complete lines with all their labels.
fn complete_excerpt<'a>(
    source: &'a Source,
    line: usize,
    lines: Range<usize>,
    labels: &[&'a Label],
) -> Excerpt<'a> {
    let start = lines.start;
    let annotations = labels.iter().map(|label| {
        let range = clamp(&source.text, label.span.start as usize, label.span.end as usize);
        annotation(label, range.start - start..range.end - start)
    });
    Snippet::source(&source.text[lines]).line_start(line).path(source.name.as_str()).annotations(annotations)
}

/// Shows the surroundings of one label.
fn label_excerpt<'a>(source: &'a Source, sources: &Sources, label: &'a Label) -> [Element<'a>; 2] {
    let text = &source.text;
    let at = clamp(text, label.span.start as usize, label.span.end as usize);
    let line_end = text[at.start..].find('\n').map_or(text.len(), |end| at.start + end);
    let window = clamp(
        text,
        line_start(text, at.start).max(at.start.saturating_sub(AROUND.0)),
        line_end.min(at.start + AROUND.1),
    );
    let range = at.start - window.start..at.end.min(window.end) - window.start;
    let place = sources.position(label.span);
    let origin = Origin::path(source.name.as_str()).line(place.line).char_column(place.column);
    let snippet = Snippet::source(&text[window]).line_start(place.line).annotation(annotation(label, range));
    [Element::from(origin), Element::from(snippet)]
}

fn annotation(label: &Label, range: Range<usize>) -> annotate_snippets::Annotation<'_> {
    let kind = if label.primary { AnnotationKind::Primary } else { AnnotationKind::Context };
    let annotation = kind.span(range);
    if label.text.is_empty() { annotation } else { annotation.label(label.text.as_str()) }
}

fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map_or(0, |line| line + 1)
}

/// Moves a range onto character boundaries inside the text.
fn clamp(text: &str, start: usize, end: usize) -> Range<usize> {
    let start = text.floor_char_boundary(start);
    start..text.floor_char_boundary(end.max(start))
}
