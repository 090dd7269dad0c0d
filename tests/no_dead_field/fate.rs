//! Result for a leaf of the language: an artefact changes, a diagnostic gives the reason, or nothing happens.
//!
//! In: a document, a leaf, and values for it. Out: its [`Fate`]. Invariants: a leaf is dead if a value is
//! accepted, but none has an effect.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock};

use serde_json::{Value, json};

use crate::compiled::{Compiled, Digests, compile};
use crate::values::{Try, lay, set};

/// Fields that follow from others, or for which a target without a panel has no line. A value that does not
/// fit is rejected with this code.
pub(crate) fn rejected_value(leaf: &str) -> Option<(Value, &'static str)> {
    Some(match leaf {
        "fabric" => (json!("My Fabric"), "E0510"),
        "hosts.nic.lanes" | "hosts.nic_by_zone.*.lanes" => (json!(1), "E0211"),
        "hosts.nics_per_adapter" => (json!(3), "E0329"),
        "hosts.bond" => (json!("lacp"), "E0329"),
        "qos.buffer_shares.headroom" => (json!(0), "E0720"),
        "tiers.t1.count" => (json!(3), "E0308"),
        "tiers.t1.down" | "tiers.t1.down.count" | "tiers.t2.down" | "tiers.t2.down.count" => {
            (json!(1), "E0309")
        }
        "tiers.t2.count" => (json!(3), "E0314"),
        // The files of a kernel without queues do not contain the speed of a port.
        "hosts.nic.speed" | "hosts.nic_by_zone.*.speed" => (json!("6G"), "E0205"),
        "tiers.t0.down.breakout" | "tiers.t0.by_zone.*.down.breakout" => (json!("1x200G"), "E0205"),
        "tiers.t0.by_zone.*.oversubscription" | "tiers.t1.by_zone.*.oversubscription" => {
            (json!("7:1"), "E0316")
        }
        "tiers.t0.by_zone.*.up.breakout"
        | "tiers.t1.by_zone.*.down.breakout"
        | "tiers.t1.by_zone.*.up.breakout"
        | "tiers.t0.up.breakout"
        | "tiers.t1.down.breakout"
        | "tiers.t1.up.breakout"
        | "tiers.t2.down.breakout" => (json!("1x200G"), "E0206"),
        _ => return None,
    })
}

/// Warnings about settings that a target ignores regardless of their value, by the beginning of their paths.
const DROPPED: &[(&str, &str)] = &[
    ("hosts.slots", "W0804"),
    ("addresses.management", "W0803"),
    ("addresses.widths.index", "W0803"),
    ("addresses.widths.plane", "W0502"),
    ("addresses.widths.t", "W0502"),
    ("entropy", "W0403"),
    ("qos", "W0701"),
    ("qos", "W0703"),
    ("qos.buffer_shares.lossless", "W0705"),
    ("qos.buffer_shares.lossy", "W0705"),
    ("qos.lossless_traffic", "W0706"),
    ("qos.classes.*.egress_threshold", "W0707"),
];

/// A compiled document that others are compared with; its tree is rendered when it is first needed.
pub(crate) struct Known {
    pub(crate) compiled: Compiled,
    digests: OnceLock<Digests>,
}

impl Known {
    /// Returns whether another document gives a different tree.
    fn differs(&self, other: &Compiled) -> bool {
        other.differs(self.digests.get_or_init(|| self.compiled.digests()))
    }
}

/// Compiled documents by their text.
#[derive(Default)]
pub(crate) struct Cache(Mutex<BTreeMap<String, Arc<Known>>>);

impl Cache {
    pub(crate) fn get(&self, document: &Value) -> Arc<Known> {
        let key = document.to_string();
        if let Some(known) = self.0.lock().expect("no thread panics with it").get(&key) {
            return known.clone();
        }
        let known = Arc::new(Known { compiled: compile(document), digests: OnceLock::new() });
        self.0.lock().expect("no thread panics with it").entry(key).or_insert(known).clone()
    }
}

/// Result of a leaf on a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    /// A file of the tree changes.
    Changes,
    /// A warning appears.
    Warned(&'static str),
    /// Every value is rejected.
    Refused(&'static str),
    /// Nothing happens.
    Dead,
}

impl Fate {
    pub(crate) fn sign(self) -> &'static str {
        match self {
            Fate::Changes => "yes",
            Fate::Warned(code) | Fate::Refused(code) => code,
            Fate::Dead => "DEAD",
        }
    }

    /// The rank of a result. If the tried values have different results, the highest rank counts: a value without any
    /// effect outweighs warnings and rejections.
    fn rank(self) -> u8 {
        match self {
            Fate::Refused(_) => 0,
            Fate::Warned(_) => 1,
            Fate::Dead => 2,
            Fate::Changes => 3,
        }
    }
}

/// Effect of a leaf with one value.
fn effect(leaf: &str, before: &Known, after: &Compiled) -> Fate {
    let error = |compiled: &Compiled| {
        compiled.codes.iter().copied().find(|code| code.starts_with('E')).unwrap_or("no error")
    };
    if !before.compiled.has_tree() {
        // The document is already rejected without the change.
        return Fate::Refused(error(&before.compiled));
    }
    if !after.has_tree() {
        return Fate::Refused(error(after));
    }
    if before.differs(after) {
        return Fate::Changes;
    }
    // A warning that appears, or one that disappears because the file now states the intention.
    if let Some(code) = after.codes.symmetric_difference(&before.compiled.codes).next() {
        return Fate::Warned(code);
    }
    let dropped = DROPPED.iter().filter(|(path, _)| leaf.starts_with(path));
    match dropped.map(|(_, code)| *code).find(|code| after.codes.contains(code)) {
        Some(code) => Fate::Warned(code),
        None => Fate::Dead,
    }
}

/// Tries all known changes of a leaf, until one has an effect.
pub(crate) fn fate(base: &Value, leaf: &str, values: &[Try], cache: &Cache) -> (Fate, Vec<String>) {
    let mut worst = Fate::Refused("no value");
    for attempt in values {
        let alone = Try { setup: Value::Null, with: Value::Null, value: attempt.value.clone() };
        // A value for a profile is tried only over that profile, because it may be the default of another
        // one.
        let of_profile = [&attempt.setup, &attempt.with].iter().any(|part| !part["qos"].is_null());
        for attempt in [Some(attempt), Some(&alone).filter(|_| !of_profile)].into_iter().flatten() {
            let (found, unseen) = try_leaf(base, leaf, attempt, cache);
            if found == Some(Fate::Changes) {
                return (Fate::Changes, unseen);
            }
            if let Some(found) = found
                && (worst == Fate::Refused("no value") || found.rank() > worst.rank())
            {
                worst = found;
            }
            // A target may reject a value's requirement, and accept the value alone silently.
            if !matches!(found, Some(Fate::Refused(_))) {
                break;
            }
        }
    }
    if worst != Fate::Dead {
        return (worst, Vec::new());
    }
    let refused = rejected_value(leaf).filter(|(value, code)| {
        let mut after = base.clone();
        lay(&mut after, &values.first().map_or(Value::Null, |value| value.setup.clone()));
        set(&mut after, leaf, value.clone());
        compile(&after).codes.contains(code)
    });
    (refused.map_or(Fate::Dead, |(_, code)| Fate::Refused(code)), Vec::new())
}

/// Tries one change of a leaf; `None` if the document already has the value.
fn try_leaf(base: &Value, leaf: &str, attempt: &Try, cache: &Cache) -> (Option<Fate>, Vec<String>) {
    let Try { setup, with, value } = attempt;
    let mut before = base.clone();
    lay(&mut before, setup);
    let mut known = cache.get(&before);
    let mut after = before.clone();
    lay(&mut after, with);
    if !with.is_null() {
        let alone = cache.get(&after);
        if known.compiled.has_tree() && alone.compiled.has_tree() && known.differs(&alone.compiled) {
            // Another required change has its own effect here, so only the additional effect of the leaf
            // counts.
            (before, known) = (after.clone(), alone);
        }
    }
    set(&mut after, leaf, value.clone());
    if after == before {
        return (None, Vec::new());
    }
    let compiled = compile(&after);
    let found = effect(leaf, &known, &compiled);
    let unseen = if found == Fate::Changes { compiled.unseen(&known.compiled) } else { Vec::new() };
    (Some(found), unseen)
}
