//! Hover text: the meaning of a key, and the values that the compiler computes for it.

use std::fmt::Write as _;
use std::ops::Range;

use closc_compile::front::rules;
use closc_plan::Plan;
use closc_platform::Catalogue;

use crate::cursor::{self, Cursor};
use crate::facts;
use crate::language::Language;
use crate::place::Place;

/// Returns Markdown for a place, and the range of bytes that it describes.
pub(crate) fn at(place: &Place<'_>) -> Option<(String, Range<usize>)> {
    let Place { text, offset, language, plan, catalogue } = *place;
    let cursor = cursor::find(text, offset);
    let word = text.get(cursor.word.clone()).filter(|word| !word.is_empty())?;
    let said = value(word, plan, catalogue).or_else(|| key(&cursor, text, language, plan))?;
    Some((said, cursor.word))
}

/// Describes a word with the same meaning everywhere: a device, a platform, or a code.
fn value(word: &str, plan: Option<&Plan>, catalogue: &Catalogue) -> Option<String> {
    if let Some(found) = plan.and_then(|plan| facts::facts_by_name(plan, word)) {
        return Some(found);
    }
    if let Some(platform) = catalogue.get(word) {
        return Some(facts::platform(platform));
    }
    let rules = rules();
    let rule = rules.iter().find(|rule| rule.code == word)?;
    Some(format!("**{}** {}\n\n{}\n\n{}", rule.code, rule.title, rule.condition, rule.impact))
}

fn key(cursor: &Cursor, text: &str, language: &Language, plan: Option<&Plan>) -> Option<String> {
    let path = cursor.full_path(text);
    let mut said = format!("`{}`\n\n{}\n", path.join("."), language.meaning(&path)?);
    if let Some(default) = language.default(&path) {
        let _ = writeln!(said, "\nDefault: `{default}`");
    }
    let words = language.words(&path);
    if (1..=LISTED_MAX).contains(&words.len()) {
        let words: Vec<String> = words.iter().map(|word| format!("`{}`", word.text)).collect();
        let _ = writeln!(said, "\nOne of {}", words.join(", "));
    }
    let computed = plan.zip(path.first()).and_then(|(plan, key)| match key.as_str() {
        "fabric" | "planes" | "zones" | "hosts" | "tiers" => Some(facts::size(plan)),
        "addresses" | "srv6" | "routing" => Some(facts::addresses(plan)),
        _ => None,
    });
    if let Some(computed) = computed {
        said.push('\n');
        said.push_str(&computed);
    }
    Some(said)
}

/// Maximum number of keywords that are listed for a key.
const LISTED_MAX: usize = 30;
