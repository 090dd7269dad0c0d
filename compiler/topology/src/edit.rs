//! Edits of the text of a fabric file.
//!
//! In: the text, and the changes of a suggestion. Out: the edits, which keep comments, order and spaces. Invariants:
//! the edited text differs in meaning only by these changes, or the result is `None`.

mod insert;

use std::collections::BTreeMap;
use std::ops::Range;

use closc_diagnostics::{Change, Diagnostics, SourceId, Sources};

use crate::load;
use crate::yaml::{Item, Place, Value};

/// Replacement of a piece of text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    /// Bytes of the old text.
    pub range: Range<usize>,
    /// The new text.
    pub text: String,
}

/// Returns the edits that make all of `changes` in a text, sorted by place; `None` if that is impossible.
pub fn edits(source: SourceId, text: &str, changes: &[Change]) -> Option<Vec<Edit>> {
    let mut found = Vec::new();
    let mut asked = Patch::Block(Vec::new());
    for change in changes {
        match change {
            Change::Replace { span, text: new } => {
                let range = span.start as usize..span.end as usize;
                let is_there = span.source == source && text.get(range.clone()).is_some();
                found.push(is_there.then(|| Edit { range, text: new.clone() })?);
            }
            Change::Set { path, value } => asked.add(path.split('.'), Patch::read(value)?),
        }
    }
    if matches!(&asked, Patch::Block(keys) if !keys.is_empty()) {
        let root = parse(text)?;
        set(&root, &asked, text, &mut found)?;
        found.sort_by_key(|edit| (edit.range.start, edit.range.end));
        let after = parse(&apply(text, &found)?)?;
        (leaves(&after) == asked.over(leaves(&root))?).then_some(())?;
    }
    found.sort_by_key(|edit| (edit.range.start, edit.range.end));
    Some(found)
}

/// Applies edits that are sorted by place; `None` if two of them overlap or a range is not in the text.
pub fn apply(text: &str, edits: &[Edit]) -> Option<String> {
    let (mut out, mut from) = (String::with_capacity(text.len()), 0);
    for edit in edits {
        out.push_str(text.get(from..edit.range.start)?);
        out.push_str(&edit.text);
        from = edit.range.end;
    }
    out.push_str(text.get(from..)?);
    Some(out)
}

/// Values to set.
#[derive(Debug, Clone)]
enum Patch {
    /// A value that is not a mapping, as it is written.
    Value(String),
    /// Keys of a mapping. Keys that are not named keep their values.
    Block(Vec<(String, Patch)>),
}

impl Patch {
    /// Reads a value in the form of a suggestion.
    fn read(value: &str) -> Option<Patch> {
        let item = parse(value)?;
        // The place of a list is that of its first bracket.
        let is_list = matches!(item.value, Value::List(_));
        Some(if is_list { Patch::Value(value.to_owned()) } else { Self::of(value, &item) })
    }

    fn of(text: &str, item: &Item) -> Patch {
        match &item.value {
            Value::Mapping(entries) => Patch::Block(
                entries.iter().map(|entry| (entry.key.to_string(), Self::of(text, &entry.item))).collect(),
            ),
            _ => Patch::Value(text[item.place.start..item.place.end].to_owned()),
        }
    }

    fn add<'a>(&mut self, mut path: impl Iterator<Item = &'a str>, patch: Patch) {
        let Some(key) = path.next() else {
            *self = patch;
            return;
        };
        let Patch::Block(keys) = self else { return };
        let at = keys.iter().position(|(name, _)| name == key).unwrap_or_else(|| {
            keys.push((key.to_owned(), Patch::Block(Vec::new())));
            keys.len() - 1
        });
        keys[at].1.add(path, patch);
    }

    /// Writes the value in one line.
    fn line(&self) -> String {
        match self {
            Patch::Value(text) => text.clone(),
            Patch::Block(keys) => {
                let keys: Vec<String> =
                    keys.iter().map(|(key, patch)| format!("{key}: {}", patch.line())).collect();
                format!("{{ {} }}", keys.join(", "))
            }
        }
    }

    /// Returns the leaves of a file after the change: the previous ones, with the new values.
    fn over(&self, mut before: BTreeMap<String, String>) -> Option<BTreeMap<String, String>> {
        let after = parse(&self.line())?;
        for (path, value) in leaves(&after) {
            let mut parents = path.match_indices('.').map(|(at, _)| &path[..at]);
            let short = parents.find_map(|parent| before.remove_entry(parent));
            if let Some((parent, count)) = short {
                before.insert(format!("{parent}.{COUNT}"), count);
            }
            let count = format!("{path}.{COUNT}");
            before.insert(if before.contains_key(&count) { count } else { path }, value);
        }
        Some(before)
    }
}

/// The key that a plain number of ports stands for.
const COUNT: &str = "count";

/// Appends the edits that give a mapping its values, or returns `None` if they cannot be made.
fn set(item: &Item, patch: &Patch, text: &str, out: &mut Vec<Edit>) -> Option<()> {
    let Patch::Block(keys) = patch else { return None };
    let mut new = Vec::new();
    for (key, patch) in keys {
        match item.entries().iter().find(|entry| entry.key == *key) {
            // The value of an alias belongs to its anchor and may be used elsewhere.
            Some(entry) if entry.item.place.start < entry.key_place.end => return None,
            Some(entry) => change(&entry.item, patch, text, out)?,
            None => new.push(format!("{key}: {}", patch.line())),
        }
    }
    if !new.is_empty() {
        out.push(insert::keys(item, &new, text)?);
    }
    Some(())
}

fn change(item: &Item, patch: &Patch, text: &str, out: &mut Vec<Edit>) -> Option<()> {
    let replace = |place: Place, text: String| Edit { range: place.start..place.end, text };
    match (&item.value, patch) {
        (Value::Mapping(_), Patch::Block(_)) => set(item, patch, text, out),
        (Value::Mapping(entries), Patch::Value(_)) => {
            let count = entries.iter().find(|entry| entry.key == COUNT)?;
            change(&count.item, patch, text, out)
        }
        (Value::Integer(_), Patch::Block(keys)) => {
            let count = text.get(item.place.start..item.place.end)?;
            let stated = keys.iter().any(|(key, _)| key == COUNT);
            let mut block = keys.clone();
            if !stated {
                block.insert(0, (COUNT.to_owned(), Patch::Value(count.to_owned())));
            }
            out.push(replace(item.place, Patch::Block(block).line()));
            Some(())
        }
        (Value::Null | Value::List(_), _) | (_, Patch::Block(_)) => None,
        (_, Patch::Value(value)) => {
            out.push(replace(item.place, value.clone()));
            Some(())
        }
    }
}

/// Returns every value that is not a mapping, by its path.
fn leaves(item: &Item) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    collect(item, "", &mut found);
    found
}

fn collect(item: &Item, path: &str, found: &mut BTreeMap<String, String>) {
    let below = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
    match &item.value {
        Value::Mapping(entries) if !entries.is_empty() => {
            for entry in entries {
                collect(&entry.item, &below(&entry.key), found);
            }
        }
        Value::List(items) if !items.is_empty() => {
            for (at, item) in items.iter().enumerate() {
                collect(item, &below(&at.to_string()), found);
            }
        }
        value => {
            found.insert(path.to_owned(), format!("{value:?}"));
        }
    }
}

/// Parses a text; `None` if it has a fault.
fn parse(text: &str) -> Option<Item> {
    let source = Sources::new().add("", text);
    let mut found = Diagnostics::new();
    load::parse(source, text, &mut found).filter(|_| found.is_empty())
}

#[cfg(test)]
mod tests {
    use closc_diagnostics::Span;

    use super::*;

    fn apply_fields(text: &str, fields: &[(&str, &str)]) -> Option<String> {
        let set = |(path, value): &(&str, &str)| Change::Set {
            path: (*path).to_owned(),
            value: (*value).to_owned(),
        };
        let changes: Vec<Change> = fields.iter().map(set).collect();
        apply(text, &edits(Sources::new().add("", text), text, &changes)?)
    }

    #[test]
    fn lists_are_written_whole() {
        let order = "[{ groups: 8, up: 32, parallel: 8 }, { groups: 4, up: 32, parallel: 2 }]";
        assert_eq!(
            apply_fields("tiers:\n  t0: { up: 32 }\n", &[("tiers.t0.port_order", order)]),
            Some(format!("tiers:\n  t0: {{ port_order: {order}, up: 32 }}\n"))
        );
    }

    #[test]
    fn a_value_is_replaced_where_it_is() {
        let text = "# head\nmtu:\n  link: 1500   # bytes\n  payload: 1280\n";
        let after = apply_fields(text, &[("mtu.link", "9000")]).unwrap();
        assert_eq!(after, "# head\nmtu:\n  link: 9000   # bytes\n  payload: 1280\n");
    }

    #[test]
    fn keys_that_are_missing_are_added() {
        let after =
            apply_fields("fabric: a # A\nplanes: 2", &[("mtu.link", "9000"), ("mtu.payload", "8900")]);
        assert_eq!(after.unwrap(), "fabric: a # A\nplanes: 2\nmtu: { link: 9000, payload: 8900 }");
        let after = apply_fields("hosts: { groups: 4 }\n", &[("hosts.rails", "2")]);
        assert_eq!(after.unwrap(), "hosts: { rails: 2, groups: 4 }\n");
        let after = apply_fields("hosts:\n  groups: 4 # four\n\nplanes: 2\n", &[("hosts.rails", "2")]);
        assert_eq!(after.unwrap(), "hosts:\n  groups: 4 # four\n  rails: 2\n\nplanes: 2\n");
        let after = apply_fields("hosts:\n  nic:\n    speed: 1G\nplanes: 2\n", &[("hosts.rails", "2")]);
        assert_eq!(after.unwrap(), "hosts:\n  rails: 2\n  nic:\n    speed: 1G\nplanes: 2\n");
    }

    #[test]
    fn a_number_of_ports_becomes_their_block() {
        let after = apply_fields("tiers: { t0: { up: 8 } }\n", &[("tiers.t0.up", "{breakout: 2x400G}")]);
        assert_eq!(after.unwrap(), "tiers: { t0: { up: { count: 8, breakout: 2x400G } } }\n");
        let text = "tiers:\r\n  t0:\r\n    up:\r\n      count: 8\r\n";
        let after = apply_fields(text, &[("tiers.t0.up", "{first_cage: 3}")]).unwrap();
        assert_eq!(after, "tiers:\r\n  t0:\r\n    up:\r\n      count: 8\r\n      first_cage: 3\r\n");
        assert_eq!(apply_fields(text, &[("tiers.t0.up", "4")]).unwrap(), text.replace('8', "4"));
    }

    #[test]
    fn what_is_used_elsewhere_is_left_alone() {
        let text = "x-mtu: &mtu { link: 1500 }\nmtu: *mtu\nother: *mtu\n";
        assert_eq!(apply_fields(text, &[("mtu.link", "9000")]), None);
        assert_eq!(apply_fields("a: [1\n", &[("mtu.link", "9000")]), None);
    }

    #[test]
    fn spans_of_other_texts_are_not_edited() {
        let mut sources = Sources::new();
        let (one, other) = (sources.add("a", "a: 1\n"), sources.add("b", "a: 1\n"));
        let change = Change::Replace { span: Span::new(one, 3..4), text: "2".to_owned() };
        let found = edits(one, "a: 1\n", std::slice::from_ref(&change)).unwrap();
        assert_eq!(apply("a: 1\n", &found).unwrap(), "a: 2\n");
        assert_eq!(edits(other, "a: 1\n", &[change]), None);
    }
}
