//! No dead field: a change of any leaf of the language changes an artefact, or a diagnostic says why it does
//! not. This is tested on every target, with every routing mode.
//!
//! The leaves come from the JSON Schema, which is generated from the types, so a new field is tested
//! automatically. If a value cannot be derived for it, the test asks for one in `no_dead_field/values.rs`.
//!
//! Platforms differ in limits, buffers and tables, so leaves are also combined with all platforms. They are
//! combined with other conditions, too: a third tier, files for nodes. A run tests a sample;
//! `CLOSC_ALL_PLATFORMS=1` tests everything, which takes minutes. `CLOSC_DEAD_FIELD_SEED` selects another
//! sample, and `CLOSC_DEAD_FIELD=hosts.nic` only leaves with this text in their path.

#[path = "no_dead_field/bases.rs"]
mod bases;
#[path = "no_dead_field/compiled.rs"]
mod compiled;
#[path = "no_dead_field/families.rs"]
mod families;
#[path = "no_dead_field/fate.rs"]
mod fate;
#[path = "no_dead_field/leaves.rs"]
mod leaves;
#[path = "no_dead_field/values.rs"]
mod values;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::Value;

use bases::Context;
use fate::{Cache, Fate, rejected_value};
use values::Try;

/// Leaves that change no artefact of a device or host, each with the reason.
const EXCEPTIONS: &[(&str, &str)] = &[
    ("*", "a key for anchors: ignored by definition"),
    ("description", "free text about the fabric; it is in the manifest"),
    ("hosts.nic.cages", "which links share a cage of a NIC, for lists, bills, lanes of cables and `whatif`"),
    ("hosts.nic_by_zone.*.cages", "as `hosts.nic.cages`"),
    ("releases.*", "the release of an OS; the tests of that OS render every release"),
    ("sites.[].name", "where zones are, for the manifest and `diff`"),
    ("sites.[].zones.[]", "as `sites.[].name`"),
    ("tiers.t2.site", "what `whatif` loses with a site, and which cables are spans"),
    ("warnings.*", "severities of findings, which are applied only when findings are printed"),
];

/// Leaves below this path set the positions of devices, which are in lists, tables and reports, but not in
/// artefacts. A separate test changes each of them (compiler/cabling/tests/it/racks.rs).
const PLACES: &str = "racks.";

/// A leaf with the values that the schema lists for it.
type Leaf = (String, Vec<Value>);

/// Every leaf, without the exceptions.
fn tested_leaves(leaves: BTreeMap<String, Vec<Value>>) -> Vec<Leaf> {
    let is_exception =
        |leaf: &String| leaf.starts_with(PLACES) || EXCEPTIONS.iter().any(|(known, _)| known == leaf);
    leaves.into_iter().filter(|(leaf, _)| !is_exception(leaf)).collect()
}

/// The values to try for a leaf in a document.
fn tries((leaf, listed): &Leaf, base: &Value) -> Vec<Try> {
    let values = values::values(leaf, base).unwrap_or_else(|| values::plain(listed.clone()));
    assert!(!values.is_empty(), "no value can be made up: add one to `values` for {leaf}");
    values
}

/// Result for each leaf in each column (a base document), and the changes that `diff` fails to report.
type Fates = BTreeMap<(usize, usize), (Fate, Vec<String>)>;

/// Determines the result for every leaf in every column.
fn fates(tried: &[Leaf], columns: &[(String, Value)]) -> Fates {
    let cache = Cache::default();
    for (name, base) in columns {
        let known = cache.get(base);
        assert!(known.compiled.has_tree(), "the base of {name} is refused: {:?}", known.compiled.codes);
    }
    let work: Vec<(usize, usize)> =
        (0..tried.len()).flat_map(|leaf| (0..columns.len()).map(move |column| (leaf, column))).collect();
    let (found, next) = (Mutex::new(BTreeMap::new()), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some((leaf, column)) = work.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let base = &columns[*column].1;
                    let values = tries(&tried[*leaf], base);
                    let fate = fate::fate(base, &tried[*leaf].0, &values, &cache);
                    found.lock().expect("no thread panics with it").insert((*leaf, *column), fate);
                }
            });
        }
    });
    found.into_inner().expect("no thread panics with it")
}

/// A field is declared to affect nothing if and only if it is an exception, or is only compared with other
/// fields.
#[test]
fn only_exceptions_are_declared_to_touch_nothing() {
    const COMPARED: &[&str] = &[
        "tiers.t0.by_zone.*.oversubscription",
        "tiers.t0.oversubscription",
        "tiers.t1.by_zone.*.oversubscription",
        "tiers.t1.oversubscription",
    ];
    // Exceptions that are declared to change artefacts, or not declared at all. Separate tests cover them.
    const ELSEWHERE: &[&str] = &["*", "hosts.nic.cages", "hosts.nic_by_zone.*.cages", "releases.*"];
    let leaves = leaves::leaves();
    let nothing: Vec<&str> = leaves
        .keys()
        .map(String::as_str)
        .filter(|leaf| {
            closc_topology::touches(leaf).is_some_and(closc_topology::AffectedArtefacts::is_nothing)
        })
        .filter(|leaf| !COMPARED.contains(leaf) && !leaf.starts_with(PLACES))
        .collect();
    let exceptions = EXCEPTIONS.iter().map(|(leaf, _)| *leaf).filter(|leaf| !ELSEWHERE.contains(leaf));
    assert_eq!(nothing, exceptions.collect::<Vec<_>>());
}

#[test]
fn every_field_has_an_effect_or_a_diagnostic() {
    let leaves = leaves::leaves();
    assert!(leaves.len() > 150, "the schema has {} leaves", leaves.len());
    let old: Vec<_> = EXCEPTIONS.iter().filter(|(leaf, _)| !leaves.contains_key(*leaf)).collect();
    assert!(old.is_empty(), "these exceptions match no field: {old:?}");
    let (tried, columns) = (tested_leaves(leaves), bases::columns(Context::FULL));
    let found = fates(&tried, &columns);
    let unseen: Vec<String> = found
        .iter()
        .flat_map(|((leaf, column), (_, unseen))| {
            let (leaf, column) = (&tried[*leaf].0, &columns[*column].0);
            unseen.iter().map(move |what| format!("{leaf} on {column}: {what}"))
        })
        .collect();
    let fates: BTreeMap<(usize, usize), Fate> = found.into_iter().map(|(at, (fate, _))| (at, fate)).collect();

    let mut table = String::from("| field |");
    let mut counts = String::from("\n| target | artefact | diagnostic | dead |\n|---|---|---|---|\n");
    for (column, (name, _)) in columns.iter().enumerate() {
        let _ = write!(table, " {name} |");
        let of = |is: fn(&Fate) -> bool| (0..tried.len()).filter(|leaf| is(&fates[&(*leaf, column)])).count();
        let changes = of(|fate| *fate == Fate::Changes);
        let dead = of(|fate| *fate == Fate::Dead);
        let _ = writeln!(counts, "| {name} | {changes} | {} | {dead} |", tried.len() - changes - dead);
    }
    let _ = writeln!(table, "\n|---|{}", "---|".repeat(columns.len()));
    let mut dead = Vec::new();
    for (leaf, (name, _)) in tried.iter().enumerate() {
        let _ = write!(table, "| `{name}` |");
        for (column, (target, _)) in columns.iter().enumerate() {
            let fate = fates[&(leaf, column)];
            let _ = write!(table, " {} |", fate.sign());
            if fate == Fate::Dead {
                dead.push(format!("{name} on {target}"));
            }
        }
        table.push('\n');
        let is_refused = |column| match (fates[&(leaf, column)], rejected_value(name)) {
            (Fate::Refused(code), Some((_, expected))) => code != expected,
            (Fate::Refused(_), None) => true,
            (Fate::Changes | Fate::Warned(_) | Fate::Dead, _) => false,
        };
        if (0..columns.len()).all(is_refused) {
            dead.push(format!("{name} is refused everywhere: give `values` one that is accepted"));
        }
    }
    println!("{table}{counts}\n{} leaves, and {} exceptions:", tried.len(), EXCEPTIONS.len());
    for (leaf, why) in EXCEPTIONS {
        println!("- `{leaf}`: {why}");
    }
    assert!(unseen.is_empty(), "declared to touch less than they do:\n{}", unseen.join("\n"));
    assert!(dead.is_empty(), "without an effect and without a diagnostic:\n{}", dead.join("\n"));
}

/// Returns whether an item is in a sample of one in `one_of` items.
fn is_sampled(name: &str, one_of: u64) -> bool {
    let seed = std::env::var("CLOSC_DEAD_FIELD_SEED").unwrap_or_else(|_| "1".to_owned());
    let mut hasher = DefaultHasher::new();
    (seed, name).hash(&mut hasher);
    std::env::var_os("CLOSC_ALL_PLATFORMS").is_some() || hasher.finish().is_multiple_of(one_of)
}

/// Leaves in a sample, or the requested ones.
fn some(one_of: u64) -> Vec<Leaf> {
    let wanted = std::env::var("CLOSC_DEAD_FIELD").ok();
    let is_wanted = |leaf: &str| match &wanted {
        Some(part) => leaf.contains(part),
        None => is_sampled(leaf, one_of),
    };
    tested_leaves(leaves::leaves()).into_iter().filter(|(leaf, _)| is_wanted(leaf)).collect()
}

/// Fails if a leaf is dead.
fn assert_none_dead(tried: &[Leaf], columns: &[(String, Value)]) {
    let found = fates(tried, columns);
    let at = |(leaf, column): &(usize, usize)| format!("{} on {}", tried[*leaf].0, columns[*column].0);
    let dead: Vec<String> =
        found.iter().filter(|(_, (fate, _))| *fate == Fate::Dead).map(|(place, _)| at(place)).collect();
    let unseen: Vec<String> = found
        .iter()
        .flat_map(|(place, (_, unseen))| unseen.iter().map(move |what| format!("{}: {what}", at(place))))
        .collect();
    println!("{} leaves in {} documents: {} dead", tried.len(), columns.len(), dead.len());
    assert!(!tried.is_empty() && columns.len() >= 2, "{} leaves in {} documents", tried.len(), columns.len());
    assert!(unseen.is_empty(), "declared to touch less than they do:\n{}", unseen.join("\n"));
    assert!(dead.is_empty(), "without an effect and without a diagnostic:\n{}", dead.join("\n"));
}

#[test]
fn no_field_is_dead_on_any_platform() {
    let columns: Vec<(String, Value)> = families::all()
        .into_iter()
        .filter(|family| is_sampled(&family.name(), 24))
        .filter_map(|family| Some((family.name(), family.base()?)))
        .collect();
    assert_none_dead(&some(12), &columns);
}

#[test]
fn no_field_is_dead_in_any_context() {
    let of = |context: Context| {
        let named = move |(name, base)| (format!("{name}, {}", context.name()), base);
        bases::columns(context).into_iter().map(named)
    };
    let columns: Vec<(String, Value)> = Context::OTHERS.into_iter().flat_map(of).collect();
    let columns: Vec<_> = columns.into_iter().filter(|(name, _)| is_sampled(name, 4)).collect();
    assert_none_dead(&some(6), &columns);
}

#[test]
fn every_platform_has_a_base() {
    let mut with: BTreeMap<String, bool> = BTreeMap::new();
    for family in families::all().into_iter().filter(|family| is_sampled(&family.name(), 12)) {
        *with.entry(family.platform.clone()).or_default() |= family.base().is_some();
    }
    let without: Vec<&String> = with.iter().filter(|(_, has)| !**has).map(|(platform, _)| platform).collect();
    let all = std::env::var_os("CLOSC_ALL_PLATFORMS").is_some();
    assert!(!with.is_empty() && (!all || without.is_empty()), "no base for {without:?}");
}
