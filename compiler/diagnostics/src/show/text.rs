//! Findings as text with source lines and carets, for a terminal.

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};

use crate::{Diagnostic, Diagnostics, Severity, Sources};

/// Whether the text carries terminal colours.
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
    for snippet in snippets(diagnostic, sources) {
        main = main.element(snippet);
    }
    for note in &diagnostic.notes {
        main = main.element(Level::NOTE.message(note.as_str()));
    }
    let helps = diagnostic.help.iter().map(|h| Group::with_title(Level::HELP.secondary_title(h.as_str())));
    std::iter::once(main).chain(helps).collect()
}

/// One snippet a source, with every label that lies in it; the source of the primary label comes first.
fn snippets<'a>(
    diagnostic: &'a Diagnostic,
    sources: &'a Sources,
) -> Vec<Snippet<'a, annotate_snippets::Annotation<'a>>> {
    let mut order: Vec<_> = diagnostic.labels.iter().map(|l| l.span.source).collect();
    if let Some(first) = diagnostic.span() {
        order.insert(0, first.source);
    }
    let mut seen = Vec::new();
    order.retain(|id| {
        !seen.contains(id) && {
            seen.push(*id);
            true
        }
    });
    order
        .into_iter()
        .map(|id| {
            let source = sources.get(id);
            let labels = diagnostic.labels.iter().filter(|l| l.span.source == id).map(|label| {
                let kind = if label.primary { AnnotationKind::Primary } else { AnnotationKind::Context };
                let range = clamp(&source.text, label.span.start as usize, label.span.end as usize);
                let annotation = kind.span(range);
                if label.text.is_empty() { annotation } else { annotation.label(label.text.as_str()) }
            });
            Snippet::source(source.text.as_str()).path(source.name.as_str()).annotations(labels)
        })
        .collect()
}

/// Moves a range onto character boundaries inside the text.
fn clamp(text: &str, start: usize, end: usize) -> std::ops::Range<usize> {
    let floor = |mut at: usize| {
        at = at.min(text.len());
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        at
    };
    let start = floor(start);
    start..floor(end.max(start))
}
