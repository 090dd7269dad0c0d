//! The devices of a fabric file, read even if the file has errors.
//!
//! In: the text of a file while it is being edited. Out: a topology that is only valid for names of devices and
//! cables, or `None` if the counts themselves are at fault. Invariants: names follow from counts and patterns, so
//! only these are read. Other blocks of the file may have any fault, even of syntax.

use closc_diagnostics::{Diagnostics, SourceId, Sources};
use closc_platform::Catalogue;
use closc_qos::profile::Preset;
use smol_str::SmolStr;

use crate::checks;
use crate::draft::Draft;
use crate::field;
use crate::field::Field;
use crate::load;
use crate::model::Topology;
use crate::yaml::{Entry, Item, Place, Value};

/// Inputs of names.
const KEPT: &[Field] = &[
    field!("planes"),
    field!("zones"),
    field!("hosts.groups"),
    field!("hosts.groups_by_zone"),
    field!("hosts.per_group"),
    field!("hosts.per_group_by_zone"),
    field!("hosts.nics_per_node"),
    field!("hosts.rails"),
    field!("hosts.zones_per_node"),
    field!("tiers.t0.up"),
    field!("tiers.t0.parallel"),
    field!("tiers.t1.up"),
    field!("tiers.t1.parallel"),
    field!("tiers.t2.wiring"),
    field!("tiers.t2.rows"),
    field!("naming"),
    HOLES,
];

/// The list of absent elements, which does not affect names.
const HOLES: Field = field!("exceptions.absent");
/// Blocks that affect names.
const NEEDED: [&str; 5] = ["planes", "zones", "hosts", "tiers", "naming"];

/// Maximum number of blocks of a file with a syntax error, because each is parsed separately.
const BLOCKS_MAX: usize = 128;

/// Reads which devices a file describes.
pub fn outline(bytes: &[u8], catalogue: &Catalogue) -> Option<Topology> {
    let mut sources = Sources::new();
    let source = load::decode(&mut sources, "", bytes).ok()?;
    let text = sources.get(source).text.clone();
    let root = parse(source, &text)?;
    let with = |kept: &[Field]| {
        let mut faults = Diagnostics::new();
        let document = load::read(source, &text, &prune(&root, kept), &mut faults)?;
        faults.iter().next().is_none().then_some(document)
    };
    let names = KEPT.len() - 1;
    let document = with(KEPT).or_else(|| with(&KEPT[..names]))?;
    let mut draft = Draft::new(&document, catalogue, &sources);
    draft.exceptions.absent.retain(|entry| entry.subject.is_ok());
    checks::are_counts_sound(&draft).then(|| draft.finish(Preset::None.profile())).flatten()
}

/// Parses a text. If it has a syntax error, parses each block separately and keeps the valid ones. A block begins
/// with a key at the start of a line.
fn parse(source: SourceId, text: &str) -> Option<Item> {
    let parsed = |text: &str| load::parse(source, text, &mut Diagnostics::new());
    if let Some(root) = parsed(text) {
        return Some(root);
    }
    let begins = |line: &str| line.starts_with(|c: char| c.is_ascii_alphabetic());
    let mut blocks: Vec<String> = Vec::new();
    for line in text.split_inclusive('\n') {
        match blocks.last_mut() {
            Some(block) if !begins(line) => block.push_str(line),
            Some(_) | None => blocks.push(line.to_owned()),
        }
    }
    if blocks.len() > BLOCKS_MAX {
        return None;
    }
    let mut entries = Vec::new();
    for block in blocks.iter().filter(|block| begins(block)) {
        match parsed(block).map(|root| root.value) {
            Some(Value::Mapping(found)) => entries.extend(found),
            // Without this block, the names would be wrong.
            Some(_) | None if NEEDED.iter().any(|key| block.starts_with(key)) => return None,
            Some(_) | None => {}
        }
    }
    Some(mapping(entries))
}

fn mapping(entries: Vec<Entry>) -> Item {
    Item { place: Place::default(), value: Value::Mapping(entries) }
}

/// Keeps the fields that determine names, and adds the other required fields.
fn prune(root: &Item, kept: &[Field]) -> Item {
    let mut found = mapping(Vec::new());
    for field in kept {
        let keys: Vec<&str> = field.path().split('.').collect();
        let item = keys.iter().try_fold(root, |item, key| entry(item, key));
        if let Some(item) = item.filter(|item| !matches!(item.value, Value::Null)) {
            // Keep only the count of a block of ports.
            let item = if keys.ends_with(&["up"]) { entry(item, "count").unwrap_or(item) } else { item };
            let nested = keys.iter().rev().fold(strip_places(item), |inner, key| {
                mapping(vec![Entry { key: SmolStr::new(key), key_place: Place::default(), item: inner }])
            });
            merge(&mut found, nested);
        }
    }
    let has_third = entry(root, "tiers").is_some_and(|tiers| entry(tiers, "t2").is_some());
    let text = |key: &str, value: Value| Entry {
        key: SmolStr::new(key),
        key_place: Place::default(),
        item: Item { place: Place::default(), value },
    };
    let platform = || mapping(vec![text("platform", Value::Text(SmolStr::new_static("linux")))]).value;
    let nic = vec![text("speed", Value::Text(SmolStr::new_static("100G"))), text("lanes", Value::Integer(1))];
    let mut tiers = vec![text("t0", platform()), text("t1", platform())];
    if has_third {
        let ports = text("ports_per_zone", Value::Integer(1));
        let third = mapping(vec![text("platform", Value::Text(SmolStr::new_static("linux"))), ports]);
        tiers.push(text("t2", third.value));
    }
    let hosts = mapping(vec![text("nic", Value::Mapping(nic))]).value;
    let name = text("fabric", Value::Text(SmolStr::new_static("outline")));
    merge(&mut found, mapping(vec![name, text("hosts", hosts), text("tiers", Value::Mapping(tiers))]));
    found
}

fn entry<'a>(item: &'a Item, key: &str) -> Option<&'a Item> {
    item.entries().iter().find(|entry| entry.key == key).map(|entry| &entry.item)
}

/// Returns an item without its places. Places of separately parsed blocks would refer to another text.
fn strip_places(item: &Item) -> Item {
    let value = match &item.value {
        Value::Mapping(entries) => Value::Mapping(
            entries
                .iter()
                .map(|entry| Entry {
                    key: entry.key.clone(),
                    key_place: Place::default(),
                    item: strip_places(&entry.item),
                })
                .collect(),
        ),
        Value::List(items) => Value::List(items.iter().map(strip_places).collect()),
        value => value.clone(),
    };
    Item { place: Place::default(), value }
}

/// Adds entries of one mapping to another, whose own entries take precedence.
fn merge(into: &mut Item, from: Item) {
    let Value::Mapping(added) = from.value else { return };
    let Value::Mapping(entries) = &mut into.value else { return };
    for entry in added {
        match entries.iter_mut().find(|own| own.key == entry.key) {
            Some(own) => merge(&mut own.item, entry.item),
            None => entries.push(entry),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::coordinate::TierId;

    const BASE: &str = checks::EXAMPLE_BASE;

    fn counts(text: &str) -> Option<[u16; 5]> {
        let found = outline(text.as_bytes(), &Catalogue::builtin())?;
        let (t0s, t1s) = (found.count(TierId::T0), found.count(TierId::T1));
        Some([u16::from(found.planes), t0s, t1s, found.units(), found.nodes_per_unit()])
    }

    #[test]
    fn faults_of_other_fields_leave_the_names() {
        let whole = Some([2, 256, 128, 256, 32]);
        assert_eq!(counts(BASE), whole);
        for (from, to) in [
            ("box-256x200g, os: sonic, up", "box-25x200g, os: sonic, up"),
            ("speed: 400G", "speed: 3"),
            ("nic: { speed: 400G, lanes: 4 }", "nic: 4"),
            ("os: sonic", "os: sonc"),
            (" up: 128", " up: { count: 128, breakout: x }"),
            ("per_group: 128,", "per_group: 128, colour: red,"),
            ("management: 10.64.0.0/14", "management: 10.64.0.0/14\nqos: [lossy"),
            ("addresses: {", "addresses: { x: [,"),
            ("fabric: base", "fabric: base\nexceptions:\n  absent: [p0-t0-999, p7]\n  drained: 4"),
            ("fabric: base", "fabric: base\nexceptions: { absent: 4 }"),
            ("fabric: base", "# nothing"),
        ] {
            assert!(BASE.contains(from), "{from}");
            assert_eq!(counts(&BASE.replace(from, to)), whole, "{to}");
        }
    }

    #[test]
    fn faults_of_counts_leave_none() {
        for (from, to) in [
            ("planes: 2", "planes: two"),
            ("planes: 2", "planes: [2"),
            ("planes: 2", ""),
            ("groups: 256", "groups: 0"),
            ("groups: 256", "groups: 70000"),
            ("nics_per_node: 4", "nics_per_node: four"),
            (" up: 128", " up: 0"),
            ("tiers:", "tiers: ]"),
        ] {
            assert!(BASE.contains(from), "{from}");
            assert_eq!(counts(&BASE.replace(from, to)), None, "{to}");
        }
        assert_eq!(counts(""), None);
        assert_eq!(counts(&"a: [\n".repeat(100_000)), None);
    }
}
