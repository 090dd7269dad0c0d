//! Code actions for findings: their fixes.

use std::collections::HashMap;

use closc_compile::front::Reading;
use closc_diagnostics::{Diagnostic, Fix, SourceId, Trust};
use lsp_types::{CodeAction, CodeActionKind, CodeActionOrCommand, Range, TextEdit, Uri, WorkspaceEdit};

use crate::findings;
use crate::text::Text;

/// Returns the fixes of findings that overlap a range.
pub(crate) fn all(
    reading: &Reading,
    file: SourceId,
    text: &Text,
    uri: &Uri,
    range: Range,
) -> Vec<CodeActionOrCommand> {
    let asked = text.offset(range.start)..text.offset(range.end);
    let meets = |finding: &&Diagnostic| {
        finding.labels.iter().any(|label| {
            let (start, end) = (label.span.start as usize, label.span.end as usize);
            label.span.source == file && start <= asked.end && asked.start <= end
        })
    };
    let shown = findings::all(reading, Some(file), text, uri);
    let mut found = Vec::new();
    for (finding, shown) in reading.diagnostics.iter().zip(shown).filter(|(finding, _)| meets(finding)) {
        let alone = finding.fixes.len() == 1 && finding.fixes[0].trust == Trust::Sure;
        for fix in &finding.fixes {
            let Some(edits) = edits(fix, file, text) else { continue };
            found.push(CodeActionOrCommand::CodeAction(CodeAction {
                title: title(finding, fix),
                kind: Some(CodeActionKind::QUICKFIX),
                diagnostics: Some(vec![shown.clone()]),
                edit: Some(WorkspaceEdit::new(HashMap::from([(uri.clone(), edits)]))),
                is_preferred: Some(alone),
                ..CodeAction::default()
            }));
        }
    }
    found
}

/// Returns the action that applies all fixes that do not need a review.
pub(crate) fn fix_all(uri: &Uri, text: &Text, fixed: String) -> CodeActionOrCommand {
    let edits = vec![TextEdit::new(text.full_range(), fixed)];
    CodeActionOrCommand::CodeAction(CodeAction {
        title: "apply all safe fixes".to_owned(),
        kind: Some(CodeActionKind::SOURCE_FIX_ALL),
        edit: Some(WorkspaceEdit::new(HashMap::from([(uri.clone(), edits)]))),
        ..CodeAction::default()
    })
}

/// Returns the edits of a fix; `None` if it cannot be applied to this text.
fn edits(fix: &Fix, file: SourceId, text: &Text) -> Option<Vec<TextEdit>> {
    let edits = closc_topology::edits(file, &text.content, &fix.changes)?;
    Some(edits.into_iter().map(|edit| TextEdit::new(text.range(edit.range), edit.text)).collect())
}

/// Returns the suggestion, or only the value if a suggestion offers several values.
fn title(finding: &Diagnostic, fix: &Fix) -> String {
    let alike = finding.fixes.iter().filter(|other| other.help == fix.help).count();
    let values: Vec<String> = fix.changes.iter().map(value).collect();
    if alike > 1 { values.join(", ") } else { format!("{}: {}", finding.rule.code, fix.help) }
}

fn value(change: &closc_diagnostics::Change) -> String {
    match change {
        closc_diagnostics::Change::Replace { text, .. } => format!("write `{text}`"),
        closc_diagnostics::Change::Set { path, value } => format!("set `{path}` to `{value}`"),
    }
}
