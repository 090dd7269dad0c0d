//! The parser's errors in the words of closc.
//!
//! In: an error of the YAML parser, and its text. Out: one diagnostic with a place. Invariants: users never see the
//! parser's advice to programmers.

use closc_diagnostics::{Diagnostic, SourceId, Span};
use serde_saphyr::granit_parser::{ErrorKind, ScanError};
use serde_saphyr::{Error, Location, budget::BudgetBreach, localizer::ExternalMessageSource};

use super::{ALIASED_MAX, DEPTH_MAX, VALUES_MAX};
use crate::faults;
use crate::yaml::{Entry, Item, Place, Value};

/// Returns the place of the second key if the error is about a duplicate key.
pub(super) fn duplicate(error: &Error) -> Option<Location> {
    match original(error) {
        Error::DuplicateMappingKey { location, .. } => Some(*location),
        _ => None,
    }
}

/// Explains an error; `lenient` is the tree without the repeated key, if there is one.
pub(super) fn explain(error: &Error, lenient: Option<&Item>, source: SourceId, text: &str) -> Diagnostic {
    let inner = original(error);
    let place = place(error, inner, text);
    if let Some(finding) = of_other_tools(place, source, text) {
        return finding;
    }
    let span = Span::new(source, place.start..place.end);
    match inner {
        Error::DuplicateMappingKey { key, .. } => {
            let first = lenient.and_then(|root| first_key(root, key.as_deref()?, place, text));
            let first = first.map(|first| Span::new(source, first.start..first.end));
            faults::duplicate_key(key.as_deref(), span, first)
        }
        Error::MultipleDocuments { .. } => faults::several_documents(span),
        Error::UnsupportedTag { tag, .. } => faults::unsupported_tag(tag, span),
        Error::TaggedScalarCannotDeserializeIntoString { .. }
        | Error::InvalidBinaryBase64 { .. }
        | Error::BinaryNotUtf8 { .. }
        | Error::InvalidScalar { .. }
        | Error::InvalidBooleanStrict { .. } => {
            faults::unsupported_tag(text[place.start..].split_whitespace().next().unwrap_or_default(), span)
        }
        Error::UnknownAnchor { .. } => unknown_anchor(span, text),
        Error::MergeValueNotMapOrSeqOfMaps { .. } | Error::MergeKeyNotAllowed { .. } => {
            faults::bad_merge(span)
        }
        Error::RecursiveReferencesRequireWeakTypes { .. } => faults::recursive(span),
        Error::Budget { breach, .. } => budget(breach, span),
        Error::AliasReplayLimitExceeded { .. }
        | Error::AliasReplayCounterOverflow { .. }
        | Error::AliasExpansionLimitExceeded { .. } => {
            faults::over_budget("aliases repeat too many values", ALIASED_MAX, span)
        }
        Error::AliasReplayStackDepthExceeded { .. } => {
            faults::over_budget("aliases are nested too deep", DEPTH_MAX, span)
        }
        Error::ExternalMessage { source: message, .. } => match message.as_ref() {
            ExternalMessageSource::Parser(error) => scan(error, span, text),
            _ => faults::syntax("the parser cannot continue here", None, span),
        },
        Error::Eof { .. } => faults::syntax("the text ends too early", Some(UNCLOSED), span),
        Error::NullIntoString { .. } => faults::syntax("a key is empty", Some("give the key a name"), span),
        Error::FoldedBlockScalarMustIndentContent { .. } => {
            faults::syntax("the lines below `>` are not indented", Some("indent them"), span)
        }
        _ => faults::syntax("a mapping, list or value is expected here", Some(STRUCTURE), span),
    }
}

/// Reports the syntax of other programs: merge conflict markers, Markdown fences, or template variables.
fn of_other_tools(place: Place, source: SourceId, text: &str) -> Option<Diagnostic> {
    let mark = text.strip_prefix("<<<<<<< ").map(|_| 0).or_else(|| Some(text.find("\n<<<<<<< ")? + 1));
    if let Some(start) = mark {
        let end = text[start..].find(['\r', '\n']).map_or(text.len(), |length| start + length);
        let reason = "this is a conflict marker of Git";
        let help = "resolve the conflict: keep one of the two parts, and remove the markers";
        return Some(faults::syntax(reason, Some(help), Span::new(source, start..end)));
    }
    if text.starts_with("```") {
        let reason = "this is a fence of Markdown";
        let help = "remove the lines that begin with three backticks";
        return Some(faults::syntax(reason, Some(help), Span::new(source, 0..3)));
    }
    let line = text[..place.start].rfind('\n').map_or(0, |at| at + 1);
    let end = text[line..].find('\n').map_or(text.len(), |length| line + length);
    let (start, variable) = [("${", "}"), ("{{", "}}")].into_iter().find_map(|(open, close)| {
        let start = line + text[line..end].find(open)?;
        let length = text[start..end].find(close)? + close.len();
        let variable = &text[start..start + length];
        let is_sign = |c: char| c.is_ascii_alphanumeric() || "_-. ${}".contains(c);
        variable.chars().all(is_sign).then_some((start, variable))
    })?;
    let reason = format!("`{variable}` is a variable of another program");
    let help = "write its value: closc does not replace variables";
    Some(faults::syntax(&reason, Some(help), Span::new(source, start..start + variable.len())))
}

/// Reports a no-break space in the indentation of a key, because YAML treats it as part of the key.
pub(super) fn no_break_space(source: SourceId, text: &str) -> Option<Diagnostic> {
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let key = line.trim_start_matches([' ', '\u{a0}']);
        let indentation = &line[..line.len() - key.len()];
        if let Some(at) = indentation.find('\u{a0}')
            && key.split_once(':').is_some_and(|(key, _)| !key.is_empty() && !key.contains(' '))
        {
            let span = Span::new(source, start + at..start + indentation.len());
            let finding = faults::syntax("a no-break space (U+00A0) is in the indentation", None, span);
            return Some(finding.replace(
                span,
                indentation[at..].replace('\u{a0}', " "),
                "indent with spaces",
            ));
        }
        start += line.len();
    }
    None
}

const UNCLOSED: &str = "close every `[`, `{` and quote";
const STRUCTURE: &str = "look for a missing `:`, a missing line break, or wrong indentation";

fn is_tab(kind: &ErrorKind) -> bool {
    matches!(
        kind,
        ErrorKind::TabNotAllowed
            | ErrorKind::TabInBlockIndentation
            | ErrorKind::TabAtBlockScalarStart
            | ErrorKind::TabInIndentation
            | ErrorKind::TabInPlainScalar
    )
}

fn is_unclosed(kind: &ErrorKind) -> bool {
    matches!(
        kind,
        ErrorKind::UnexpectedEofFlowSequence
            | ErrorKind::UnexpectedEofFlowMapping
            | ErrorKind::UnexpectedEofImplicitFlowMapping
            | ErrorKind::UnclosedFlowCollection { .. }
            | ErrorKind::ExpectedFlowMappingSeparator
            | ErrorKind::ExpectedFlowSequenceSeparator
    )
}

const SAME_INDENTATION: &str = "give keys of one mapping the same number of spaces";
const ALIGNED_KEYS: &str = "align the keys of one mapping, and put text that contains `: ` in quotes";

/// Reports an error of the scanner.
fn scan(error: &ScanError, span: Span, text: &str) -> Diagnostic {
    let (reason, help) = match error.kind() {
        kind if is_tab(kind) => return tab(span, text),
        kind if is_unclosed(kind) => return unclosed_bracket(span, text),
        ErrorKind::MismatchedFlowCollectionEnd { .. } | ErrorKind::MisplacedFlowCollectionEnd => {
            ("a closing bracket does not match an opening bracket", UNCLOSED)
        }
        ErrorKind::UnclosedQuotedScalar | ErrorKind::DocumentIndicatorInQuotedScalar => {
            ("a quote is not closed", UNCLOSED)
        }
        ErrorKind::UnknownQuotedScalarEscape | ErrorKind::InvalidQuotedScalarHexEscape => (
            "a `\\` in double quotes does not start a known escape sequence",
            "use single quotes, or write `\\\\`",
        ),
        ErrorKind::UnknownAnchor => return unknown_anchor(span, text),
        ErrorKind::MissingAnchorOrAliasName => {
            ("`&` or `*` without a name", "put text that starts with `&` or `*` in quotes")
        }
        ErrorKind::InvalidIndentation
        | ErrorKind::ExpectedBlockMappingKey
        | ErrorKind::ExpectedBlockSequenceEntry
        | ErrorKind::InvalidFlowScalarIndent
        | ErrorKind::InvalidQuotedScalarIndent
        | ErrorKind::BlockSequenceEntryNotAllowed
        | ErrorKind::MappingKeyNotAllowed => {
            if let Some(finding) = open_quote(span, text).or_else(|| dash(span, text)) {
                return finding;
            }
            ("the indentation does not match any line above", SAME_INDENTATION)
        }
        ErrorKind::SimpleKeyExpected | ErrorKind::InvalidSimpleKey => {
            ("a `:` is missing after a key", "write `key: value`, with a space after the colon")
        }
        ErrorKind::MappingValueNotAllowed | ErrorKind::InvalidColonPlacement => {
            if let Some(key) = key_without_colon(span, text) {
                return faults::syntax("a `:` is missing after a key", Some("write `key: value`"), key);
            }
            ("unexpected `:`, because no key is possible here", ALIGNED_KEYS)
        }
        ErrorKind::UnexpectedCharacter { .. } => {
            ("a character cannot start a value", "put text that starts with it in quotes")
        }
        ErrorKind::RecursionLimitExceeded => {
            return faults::over_budget("nesting is too deep", DEPTH_MAX, span);
        }
        ErrorKind::UndeclaredTagHandle | ErrorKind::InvalidTagTerminator | ErrorKind::UnclosedVerbatimTag => {
            let tag = text[span.start as usize..].split_whitespace().next().unwrap_or("!");
            return faults::unsupported_tag(tag, span);
        }
        ErrorKind::ExpectedDocumentStart | ErrorKind::InvalidDocumentEnd => {
            ("unexpected text after the end of the fabric", STRUCTURE)
        }
        ErrorKind::BomInsideDocument => ("a byte order mark is inside the text", "remove it"),
        _ => return faults::syntax(&plain(error), Some(STRUCTURE), span),
    };
    faults::syntax(reason, Some(help), span)
}

/// Points at the place where the scanner failed, and at the bracket that is open there.
fn unclosed_bracket(span: Span, text: &str) -> Diagnostic {
    let lost = span.start as usize;
    let reason = "a `,` or a closing bracket is missing";
    let diagnostic = faults::syntax(reason, Some(UNCLOSED), span);
    let Some(open) = open_bracket(&text[..lost.min(text.len())]) else { return diagnostic };
    // If both are on one line, the place itself is enough.
    if !text[open..lost].contains('\n') {
        return diagnostic;
    }
    let at = Span::new(span.source, open..open + 1);
    let reason = format!("this `{}` is not closed", &text[open..=open]);
    faults::syntax(&reason, Some(UNCLOSED), at).and(span, "the next line is read as part of it")
}

/// Finds the innermost bracket that is open at the end of a text; quotes and comments are skipped.
fn open_bracket(text: &str) -> Option<usize> {
    let (mut open, mut quote, mut is_comment, mut before) = (Vec::new(), None, false, b' ');
    for (at, byte) in text.bytes().enumerate() {
        match (byte, quote) {
            (b'\n', _) => is_comment = false,
            _ if is_comment => {}
            (_, Some(end)) => quote = Some(end).filter(|_| byte != end),
            (b'#', None) if before.is_ascii_whitespace() => is_comment = true,
            (b'"' | b'\'', None) if !before.is_ascii_alphanumeric() => quote = Some(byte),
            (b'[' | b'{', None) => open.push(at),
            (b']' | b'}', None) => drop(open.pop()),
            _ => {}
        }
        before = byte;
    }
    open.pop()
}

/// Points at an earlier quote that is not closed on its line.
fn open_quote(span: Span, text: &str) -> Option<Diagnostic> {
    let lost = (span.start as usize).min(text.len());
    let mut start = 0;
    for line in text[..lost].split_inclusive('\n') {
        let value = line.split_once(": ").map_or("", |(_, value)| value.trim());
        let quote = value.chars().next().filter(|first| ['"', '\''].contains(first));
        if let Some(quote) = quote.filter(|quote| value.matches(*quote).count() == 1 && line.ends_with('\n'))
        {
            let at = start + line.find(value).unwrap_or(0);
            let at = Span::new(span.source, at..at + 1);
            let reason = format!("this `{quote}` is not closed");
            return Some(faults::syntax(&reason, Some(UNCLOSED), at).and(span, "this is read as part of it"));
        }
        start += line.len();
    }
    None
}

/// Points at a list item above that starts in the column of this key: `- groups: 8`, then `nic: ...`.
fn dash(span: Span, text: &str) -> Option<Diagnostic> {
    let lost = (span.start as usize).min(text.len());
    let first = text[..lost].rfind('\n')? + 1;
    let indent = |line: &str| line.len() - line.trim_start_matches(' ').len();
    let column = indent(&text[first..]);
    let above = text[..first].trim_end_matches('\n');
    let start = above.rfind('\n').map_or(0, |at| at + 1);
    let item = above[start..].trim_start().strip_prefix("- ").filter(|item| item.contains(':'))?;
    let at = start + indent(&above[start..]);
    (indent(&above[start..]) == column).then(|| {
        let help = format!("omit `- `: write `{}`", item.trim());
        faults::syntax("`- ` makes a list; expected a key", Some(&help), Span::new(span.source, at..at + 2))
            .and(span, "a key of a mapping")
    })
}

/// Finds the line above that is a key without its colon: `fabric base`, then `planes: 2`.
fn key_without_colon(span: Span, text: &str) -> Option<Span> {
    let line = text[..(span.start as usize).min(text.len())].rfind('\n')?;
    let start = text[..line].rfind('\n').map_or(0, |at| at + 1);
    let above = &text[start..line];
    let (key, value) = above.trim().split_once(' ')?;
    let is_key = key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    let at = start + above.len() - above.trim_start().len();
    (is_key && !value.contains(": ")).then(|| Span::new(span.source, at..at + key.len()))
}

/// Returns the scanner's own sentence, for rare kinds of errors.
fn plain(error: &ScanError) -> String {
    let kind = error.kind().to_string();
    let tail = kind.rsplit(", ").next().unwrap_or(&kind);
    tail.replace("did not find expected", "missing").replace("found ", "")
}

/// Points at the tab, which is shortly after the place where the scanner failed.
fn tab(span: Span, text: &str) -> Diagnostic {
    let from = span.start as usize;
    let at = text[from..].find('\t').map_or(from, |tab| from + tab);
    let span = Span::new(span.source, at..(at + 1).min(text.len()));
    faults::syntax(
        "a tab instead of spaces",
        Some("indent with spaces; YAML does not allow tabs there"),
        span,
    )
}

fn unknown_anchor(span: Span, text: &str) -> Diagnostic {
    let from = span.start as usize;
    let from = text[..from]
        .rfind('*')
        .filter(|star| !text[*star..from].contains(char::is_whitespace))
        .unwrap_or(from);
    let alias = text[from..].split([' ', '\n', '\r', ',', ']', '}']).next().unwrap_or("*");
    faults::unknown_anchor(alias, Span::new(span.source, from..from + alias.len()))
}

fn budget(breach: &BudgetBreach, span: Span) -> Diagnostic {
    let (what, limit) = match breach {
        BudgetBreach::Depth { .. } => ("nesting is too deep", DEPTH_MAX),
        BudgetBreach::Nodes { .. } | BudgetBreach::Events { .. } => {
            ("the file contains too many values", VALUES_MAX)
        }
        BudgetBreach::RecordedAnchorEvents { .. } | BudgetBreach::RecordedAnchorBytes { .. } => {
            ("anchors contain too many values", VALUES_MAX)
        }
        _ => ("too many aliases, anchors or merge keys", ALIASED_MAX),
    };
    faults::over_budget(what, limit, span)
}

/// Unwraps errors that only state that the fault is in an alias.
fn original(mut error: &Error) -> &Error {
    while let Error::AliasError { error: inner, .. } | Error::WithSnippet { error: inner, .. } = error {
        error = inner;
    }
    error
}

/// Returns the place of an error, which is inside the text.
fn place(error: &Error, inner: &Error, text: &str) -> Place {
    // If aliases stand for too many values, the place is where they are used.
    let used = match inner {
        Error::AliasReplayLimitExceeded { .. } => error.locations().map(|both| both.reference_location),
        _ => None,
    };
    let location = [used, inner.location(), error.location()].into_iter().flatten().find(|at| at.line() > 0);
    let Some(location) = location else { return Place { start: text.len(), end: text.len() } };
    let floor = |mut at: usize| {
        at = at.min(text.len());
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        at
    };
    match location.span().byte_offset() {
        Some(offset) => {
            let place = Place::from(location);
            Place { start: floor(offset as usize), end: floor(place.end) }
        }
        None => by_line(text, location.line() as usize, location.column() as usize),
    }
}

/// Finds a place by line and column, both from 1.
fn by_line(text: &str, line: usize, column: usize) -> Place {
    let start: usize = text.split_inclusive('\n').take(line - 1).map(str::len).sum();
    let within: usize = text[start..].chars().take(column.saturating_sub(1)).map(char::len_utf8).sum();
    Place { start: start + within, end: start + within }
}

/// Finds the first place of a key that is repeated at `second`. It is the nearest one above in the same column, or on
/// the same line between the same brackets.
fn first_key(root: &Item, key: &str, second: Place, text: &str) -> Option<Place> {
    let mut found = Vec::new();
    keys(root, key, &mut found);
    let column = |at: usize| text[..at].rfind('\n').map_or(at, |line| at - line - 1);
    let same_mapping = |first: &Place| {
        let between = &text[first.start..second.start];
        let balance = |open, close| between.matches(open).count() == between.matches(close).count();
        let same_line = !between.contains('\n');
        (same_line || column(first.start) == column(second.start)) && balance('{', '}')
    };
    found.retain(|place| place.start < second.start);
    found.sort_by_key(|place| std::cmp::Reverse(place.start));
    // The text between two keys is searched for each candidate, so their number is limited.
    found.into_iter().take(CANDIDATES).find(same_mapping)
}

/// Maximum number of earlier occurrences of a key that are examined.
const CANDIDATES: usize = 32;

fn keys(item: &Item, key: &str, found: &mut Vec<Place>) {
    let walk = |entry: &Entry, found: &mut Vec<Place>| {
        if entry.key == key {
            found.push(entry.key_place);
        }
        keys(&entry.item, key, found);
    };
    match &item.value {
        Value::Mapping(entries) => entries.iter().for_each(|entry| walk(entry, found)),
        Value::List(items) => items.iter().for_each(|item| keys(item, key, found)),
        Value::Null | Value::Bool(_) | Value::Integer(_) | Value::Float(_) | Value::Text(_) => {}
    }
}
