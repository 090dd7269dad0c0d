//! Completions at a place: keys, keywords, platforms, breakouts and device names.

use closc_fabric::Fabric;
use closc_platform::Catalogue;
use lsp_types::{CompletionItem, CompletionItemKind};

use crate::cursor::{self, Cursor};
use crate::facts;
use crate::language::Word;
use crate::place::Place;

/// Maximum number of device names that are proposed at once.
const NAMES_MAX: usize = 100;

/// Completions at a place.
#[derive(Debug, Default)]
pub(crate) struct Proposals {
    pub(crate) items: Vec<CompletionItem>,
    /// Whether there are more proposals. The editor requests them after the next typed letter.
    pub(crate) is_incomplete: bool,
}

/// Returns the completions at an offset.
pub(crate) fn at(place: &Place<'_>) -> Proposals {
    let Place { text, offset, language, catalogue, .. } = *place;
    let cursor = cursor::find(text, offset);
    if cursor.is_key {
        let there = cursor.preceding_keys.last().map(Vec::as_slice).unwrap_or_default();
        let keys = language.keys(&cursor.path).into_iter();
        let keys = keys.filter(|word| !there.iter().any(|(key, _)| *key == word.text));
        let items: Vec<_> = keys.map(key).collect();
        if !items.is_empty() {
            return Proposals { items, is_incomplete: false };
        }
    }
    let last = cursor.path.last().map(String::as_str);
    let typed = &text[cursor.word.start..offset.max(cursor.word.start)];
    match (cursor.path.first().map(String::as_str), last) {
        (_, Some("platform")) => Proposals { items: platforms(catalogue), is_incomplete: false },
        (_, Some("breakout")) => Proposals { items: breakouts(&cursor, catalogue), is_incomplete: false },
        (Some("exceptions"), _) if cursor.path.len() <= 2 => {
            place.fabric().map(|fabric| names(&fabric, typed)).unwrap_or_default()
        }
        _ => {
            let words = language
                .words(&cursor.path)
                .into_iter()
                .map(|item| completion_item(item, CompletionItemKind::ENUM_MEMBER));
            Proposals { items: words.collect(), is_incomplete: false }
        }
    }
}

fn key(word: Word) -> CompletionItem {
    CompletionItem {
        insert_text: Some(format!("{}: ", word.text)),
        ..self::completion_item(word, CompletionItemKind::PROPERTY)
    }
}

fn completion_item(word: Word, kind: CompletionItemKind) -> CompletionItem {
    CompletionItem {
        label: word.text,
        kind: Some(kind),
        documentation: (!word.meaning.is_empty()).then_some(lsp_types::Documentation::String(word.meaning)),
        ..CompletionItem::default()
    }
}

fn platforms(catalogue: &Catalogue) -> Vec<CompletionItem> {
    let item = |platform: &closc_platform::Platform| CompletionItem {
        label: platform.id.to_string(),
        kind: Some(CompletionItemKind::VALUE),
        detail: Some(platform.title.clone()),
        documentation: Some(lsp_types::Documentation::MarkupContent(lsp_types::MarkupContent {
            kind: lsp_types::MarkupKind::Markdown,
            value: facts::platform(platform),
        })),
        ..CompletionItem::default()
    };
    catalogue.ids().filter_map(|id| catalogue.get(id)).map(|platform| item(platform)).collect()
}

/// Returns the breakouts of the platform that is named before this place, or of all platforms.
fn breakouts(cursor: &Cursor, catalogue: &Catalogue) -> Vec<CompletionItem> {
    let one = cursor.value_before("platform").and_then(|name| catalogue.get(name));
    let all = catalogue.ids().filter_map(|id| catalogue.get(id));
    let panels: Vec<_> = one.map_or_else(|| all.collect(), |platform| vec![platform]);
    let mut splits: Vec<String> = panels
        .iter()
        .flat_map(|platform| platform.panel.listed_breakouts())
        .map(|own| own.to_string())
        .collect();
    splits.sort();
    splits.dedup();
    let item = |text| completion_item(Word { text, meaning: String::new() }, CompletionItemKind::VALUE);
    splits.into_iter().map(item).collect()
}

/// Returns names of planes and switches that start with the typed text.
fn names(fabric: &Fabric, typed: &str) -> Proposals {
    let topology = fabric.topology();
    let planes = topology.plane_ids().map(|plane| format!("plane {}", plane.0));
    let switches = fabric.switches().map(|switch| topology.naming.switch(switch).to_string());
    let mut names = planes.chain(switches).filter(|name| name.starts_with(typed));
    let item = |text| completion_item(Word { text, meaning: String::new() }, CompletionItemKind::REFERENCE);
    let items = names.by_ref().take(NAMES_MAX).map(item).collect();
    Proposals { items, is_incomplete: names.next().is_some() }
}
