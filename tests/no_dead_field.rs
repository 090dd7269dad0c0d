//! No dead field: every leaf of the language, changed on every target with every way of routing, changes an artefact,
//! or a diagnostic says why not.
//!
//! The leaves come from the JSON Schema, which comes from the types: a new field is in the test by itself, and where no
//! value can be made up for it, the test asks for one in `no_dead_field/values.rs`.
//!
//! Every platform has limits, buffers and tables of its own: leaves are crossed with all of them, too. A run takes a sample;
//! `CLOSC_ALL_PLATFORMS=1` takes everything (minutes), `CLOSC_DEAD_FIELD_SEED` another sample.

#[path = "no_dead_field/compiled.rs"]
mod compiled;
#[path = "no_dead_field/families.rs"]
mod families;
#[path = "no_dead_field/leaves.rs"]
mod leaves;
#[path = "no_dead_field/values.rs"]
mod values;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use serde_json::{Value, json};

use compiled::{Compiled, Digests, compile};
use values::{Try, lay, set};

/// Leaves that change no artefact of a device or host, each with the reason.
const EXCEPTIONS: &[(&str, &str)] = &[
    ("*", "a key for anchors: ignored by definition"),
    ("description", "free text about the fabric; it is in the manifest"),
    ("domains.*.by.[]", "what fails together: `whatif` and the manifest read it, no device does"),
    ("domains.*.count", "as `by`"),
    ("domains.*.members.[]", "as `by`"),
    ("domains.*.run", "as `by`"),
    ("domains.*.tiers.[]", "as `by`"),
    ("sites.[].name", "where zones are, for the manifest and `diff`"),
    ("sites.[].zones.[]", "as `sites.[].name`"),
];

/// Fields that state what follows from others, or what a target without a panel has no line for: a value that does not fit
/// is refused, with this code.
fn stated(leaf: &str) -> Option<(Value, &'static str)> {
    Some(match leaf {
        "hosts.nic.lanes" => (json!(1), "E0211"),
        "qos.buffer_shares.headroom" => (json!(0), "E0720"),
        "tiers.t0.down" | "tiers.t0.down.count" => (json!(1), "E0303"),
        "tiers.t0.down.spare" | "tiers.t0.up.spare" | "tiers.t1.up.spare" => (json!(60_000), "E0203"),
        "tiers.t1.count" => (json!(3), "E0308"),
        "tiers.t1.down" | "tiers.t1.down.count" | "tiers.t2.down" | "tiers.t2.down.count" => {
            (json!(1), "E0309")
        }
        "tiers.t1.down.spare" => (json!(60_000), "E0310"),
        "tiers.t2.count" => (json!(1), "E0314"),
        "tiers.t2.down.spare" => (json!(60_000), "E0313"),
        // What a port of a kernel runs at is in no file of it.
        "tiers.t1.up.breakout" | "tiers.t2.down.breakout" => (json!("1x200G"), "E0206"),
        _ => return None,
    })
}

/// Warnings that name a setting which a target drops, whatever it is changed to, by the beginning of its path.
const DROPPED: &[(&str, &str)] = &[
    ("addresses.management", "W0803"),
    ("entropy", "W0403"),
    ("qos", "W0701"),
    ("qos", "W0703"),
    ("qos.buffer_shares.lossless", "W0705"),
    ("qos.buffer_shares.lossy", "W0705"),
    ("qos.lossless_traffic", "W0706"),
    ("qos.classes.*.egress_threshold", "W0707"),
];

/// A target with hardware, and the ways of routing that it can do.
const TARGETS: &[(&str, &str, &str, &[&str])] = &[
    ("sonic", "spectrum4-sn5600", "1600G", &["srv6-static", "ecmp-static", "bgp-unnumbered"]),
    ("frr", "linux", "200G", &["srv6-static", "ecmp-static", "bgp-unnumbered"]),
    ("linux", "linux", "200G", &["srv6-static", "ecmp-static"]),
    ("p4", "bmv2", "200G", &["srv6-static", "ecmp-static"]),
];

/// A small fabric of three tiers with everything that every target takes.
fn base(os: &str, platform: &str, speed: &str, routing: &str) -> Value {
    let lanes = if speed == "200G" { 2 } else { 16 };
    let medium = if platform == "spectrum4-sn5600" { "aec" } else { "virtual" };
    json!({
        "fabric": "base", "planes": 2, "zones": 2, "routing": routing,
        "hosts": { "groups": 2, "per_group": 2, "nics_per_node": 2, "nic": { "speed": speed, "lanes": lanes },
                   "outputs": ["nic", "netplan", "networkd", "nccl"] },
        "tiers": {
            "t0": { "platform": platform, "os": os, "down": { "count": 2 }, "up": { "count": 2 }, "parallel": 1 },
            "t1": { "platform": platform, "os": os, "up": { "count": 2 } },
            "t2": { "platform": platform, "os": os, "ports_per_zone": 4 },
        },
        "cables": {
            "nic-t0": { "length": "1m", "medium": medium },
            "t0-t1": { "length": "1m", "medium": medium },
            "t1-t2": { "length": "1m", "medium": medium },
        },
        "qos": { "base": "lossy-trim" },
    })
}

/// A compiled document that others are compared with; its tree is rendered when it is first needed.
struct Known {
    compiled: Compiled,
    digests: OnceLock<Digests>,
}

impl Known {
    /// Tells whether another document gives another tree.
    fn differs(&self, other: &Compiled) -> bool {
        other.differs(self.digests.get_or_init(|| self.compiled.digests()))
    }
}

/// Compiled documents by their text.
#[derive(Default)]
struct Cache(Mutex<BTreeMap<String, Arc<Known>>>);

impl Cache {
    fn get(&self, document: &Value) -> Arc<Known> {
        let key = document.to_string();
        if let Some(known) = self.0.lock().expect("no thread panics with it").get(&key) {
            return known.clone();
        }
        let known = Arc::new(Known { compiled: compile(document), digests: OnceLock::new() });
        self.0.lock().expect("no thread panics with it").entry(key).or_insert(known).clone()
    }
}

/// What became of a leaf on a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    /// A file of the tree changes.
    Changes,
    /// A warning came up with it.
    Warned(&'static str),
    /// Every value is refused.
    Refused(&'static str),
    /// Nothing.
    Dead,
}

impl Fate {
    fn sign(self) -> &'static str {
        match self {
            Fate::Changes => "yes",
            Fate::Warned(code) | Fate::Refused(code) => code,
            Fate::Dead => "DEAD",
        }
    }

    /// Whether anything at all was seen to follow from the leaf, the least first.
    fn rank(self) -> u8 {
        match self {
            Fate::Refused(_) => 0,
            Fate::Warned(_) => 1,
            Fate::Dead => 2,
            Fate::Changes => 3,
        }
    }
}

/// What a leaf with one value does.
fn effect(leaf: &str, before: &Known, after: &Compiled) -> Fate {
    let error = |compiled: &Compiled| {
        compiled.codes.iter().copied().find(|code| code.starts_with('E')).unwrap_or("no error")
    };
    if !before.compiled.has_tree() {
        // What is around the leaf is refused already.
        return Fate::Refused(error(&before.compiled));
    }
    if !after.has_tree() {
        return Fate::Refused(error(after));
    }
    if before.differs(after) {
        return Fate::Changes;
    }
    // A warning that comes, or one that goes because the file now says that it is meant.
    if let Some(code) = after.codes.symmetric_difference(&before.compiled.codes).next() {
        return Fate::Warned(code);
    }
    let dropped = DROPPED.iter().filter(|(path, _)| leaf.starts_with(path));
    match dropped.map(|(_, code)| *code).find(|code| after.codes.contains(code)) {
        Some(code) => Fate::Warned(code),
        None => Fate::Dead,
    }
}

/// Changes a leaf in every way that is known, until one has an effect.
fn fate(base: &Value, leaf: &str, values: &[Try], cache: &Cache) -> (Fate, Vec<String>) {
    let mut worst = Fate::Refused("no value");
    for Try { setup, with, value } in values {
        let mut before = base.clone();
        lay(&mut before, setup);
        let known = cache.get(&before);
        let mut after = before.clone();
        lay(&mut after, with);
        if !with.is_null() {
            let alone = compile(&after);
            assert!(
                !known.compiled.has_tree() || !alone.has_tree() || !known.differs(&alone),
                "{with} changes a tree without {leaf}"
            );
        }
        set(&mut after, leaf, value.clone());
        if after == before {
            continue;
        }
        let compiled = compile(&after);
        let found = effect(leaf, &known, &compiled);
        if found == Fate::Changes {
            return (found, compiled.unseen(&known.compiled));
        }
        if worst == Fate::Refused("no value") || found.rank() > worst.rank() {
            worst = found;
        }
    }
    if worst != Fate::Dead {
        return (worst, Vec::new());
    }
    let refused = stated(leaf).filter(|(value, code)| {
        let mut after = base.clone();
        lay(&mut after, &values.first().map_or(Value::Null, |value| value.setup.clone()));
        set(&mut after, leaf, value.clone());
        compile(&after).codes.contains(code)
    });
    (refused.map_or(Fate::Dead, |(_, code)| Fate::Refused(code)), Vec::new())
}

/// Every leaf with values, without the exceptions.
fn tried(leaves: BTreeMap<String, Vec<Value>>) -> Vec<(String, Vec<Try>)> {
    let is_exception = |leaf: &String| EXCEPTIONS.iter().any(|(known, _)| known == leaf);
    let tried: Vec<(String, Vec<Try>)> = leaves
        .into_iter()
        .filter(|(leaf, _)| !is_exception(leaf))
        .map(|(leaf, listed)| {
            let values = values::values(&leaf).unwrap_or_else(|| values::plain(listed));
            (leaf, values)
        })
        .collect();
    let unknown: Vec<&String> =
        tried.iter().filter(|(_, values)| values.is_empty()).map(|(leaf, _)| leaf).collect();
    assert!(unknown.is_empty(), "no value can be made up: add one to `values` for {unknown:#?}");
    tried
}

/// The name and the base of every target with every way of routing.
fn columns() -> Vec<(String, Value)> {
    let of = |(os, platform, speed, routings): &(&str, &str, &str, &[&str])| {
        let named = |routing: &&str| (format!("{os} {routing}"), base(os, platform, speed, routing));
        routings.iter().map(named).collect::<Vec<_>>()
    };
    TARGETS.iter().flat_map(of).collect()
}

/// What becomes of each leaf in each column, and what `diff` does not say of it.
type Fates = BTreeMap<(usize, usize), (Fate, Vec<String>)>;

/// Finds what becomes of every leaf in every column.
fn fates(tried: &[(String, Vec<Try>)], columns: &[(String, Value)]) -> Fates {
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
                    let (name, values) = &tried[*leaf];
                    let fate = fate(&columns[*column].1, name, values, &cache);
                    found.lock().expect("no thread panics with it").insert((*leaf, *column), fate);
                }
            });
        }
    });
    found.into_inner().expect("no thread panics with it")
}

/// What a field is declared to touch is nothing exactly for the exceptions, and for what is only compared with other
/// fields.
#[test]
fn only_exceptions_are_declared_to_touch_nothing() {
    const COMPARED: &[&str] = &["tiers.t0.oversubscription", "tiers.t1.oversubscription"];
    let leaves = leaves::leaves();
    let nothing: Vec<&str> = leaves
        .keys()
        .map(String::as_str)
        .filter(|leaf| closc_topology::touches(leaf).is_some_and(closc_topology::Touches::is_nothing))
        .filter(|leaf| !COMPARED.contains(leaf))
        .collect();
    let exceptions = EXCEPTIONS.iter().map(|(leaf, _)| *leaf).filter(|leaf| *leaf != "*");
    assert_eq!(nothing, exceptions.collect::<Vec<_>>());
}

#[test]
fn every_field_has_an_effect_or_a_diagnostic() {
    let leaves = leaves::leaves();
    assert!(leaves.len() > 150, "the schema has {} leaves", leaves.len());
    let old: Vec<_> = EXCEPTIONS.iter().filter(|(leaf, _)| !leaves.contains_key(*leaf)).collect();
    assert!(old.is_empty(), "these exceptions are of no field: {old:?}");
    let (tried, columns) = (tried(leaves), columns());
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
        let is_refused = |column| match (fates[&(leaf, column)], stated(name)) {
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

/// Which of many are in a sample.
fn sampled(name: &str, one_of: u64) -> bool {
    let seed = std::env::var("CLOSC_DEAD_FIELD_SEED").unwrap_or_else(|_| "1".to_owned());
    let mut hasher = DefaultHasher::new();
    (seed, name).hash(&mut hasher);
    std::env::var_os("CLOSC_ALL_PLATFORMS").is_some() || hasher.finish().is_multiple_of(one_of)
}

#[test]
fn no_field_is_dead_on_any_platform() {
    let tried: Vec<(String, Vec<Try>)> =
        tried(leaves::leaves()).into_iter().filter(|(leaf, _)| sampled(leaf, 12)).collect();
    let columns: Vec<(String, Value)> = families::all()
        .into_iter()
        .filter(|family| sampled(&family.name(), 24))
        .filter_map(|family| Some((family.name(), family.base()?)))
        .collect();
    let found = fates(&tried, &columns);
    let at = |(leaf, column): &(usize, usize)| format!("{} on {}", tried[*leaf].0, columns[*column].0);
    let dead: Vec<String> =
        found.iter().filter(|(_, (fate, _))| *fate == Fate::Dead).map(|(place, _)| at(place)).collect();
    let unseen: Vec<String> = found
        .iter()
        .flat_map(|(place, (_, unseen))| unseen.iter().map(move |what| format!("{}: {what}", at(place))))
        .collect();
    println!("{} leaves on {} platforms with a routing: {} dead", tried.len(), columns.len(), dead.len());
    assert!(tried.len() >= 5 && columns.len() >= 2, "{} leaves on {} platforms", tried.len(), columns.len());
    assert!(unseen.is_empty(), "declared to touch less than they do:\n{}", unseen.join("\n"));
    assert!(dead.is_empty(), "without an effect and without a diagnostic:\n{}", dead.join("\n"));
}

#[test]
fn every_platform_has_a_base() {
    let mut with: BTreeMap<String, bool> = BTreeMap::new();
    for family in families::all().into_iter().filter(|family| sampled(&family.name(), 12)) {
        *with.entry(family.platform.clone()).or_default() |= family.base().is_some();
    }
    let without: Vec<&String> = with.iter().filter(|(_, has)| !**has).map(|(platform, _)| platform).collect();
    let all = std::env::var_os("CLOSC_ALL_PLATFORMS").is_some();
    assert!(!with.is_empty() && (!all || without.is_empty()), "no base for {without:?}");
}
