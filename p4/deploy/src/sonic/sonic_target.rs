//! Target state of a SONiC switch in a saved plan.
//!
//! In: the difference that was shown and saved, and the CONFIG_DB of the switch at the time of the push. Out: the
//! target state of the switch, as a tree and an overlay, so that a plan is pushed like any other target state.
//! Invariants: a switch that is in neither the state before the plan nor the state after it is rejected. The push makes
//! the changes that were shown, and applies them in the way that was shown.

use std::collections::BTreeSet;

use closc_artefacts::carriers::UndeliveredFile;
use closc_sonic::{
    Action, Bounce, Change, ConfigDb, Content, Entry, Estimate, Field, Method, Operation, Overlay, Patch,
    Reason, change, owned_part, owned_table,
};

use super::routing::RoutingPlan;
use crate::fault::Fault;
use crate::state::{ObjectDigest, StateDigest};

/// Preview of a push to a switch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SonicPlan {
    /// Its plane, if known.
    pub(crate) plane: Option<u8>,
    /// The name of the updater, for a patch.
    pub(crate) updater: String,
    /// Whether the switch has a P4Runtime device id.
    pub(crate) has_number: bool,
    /// The method of the change.
    pub(crate) method: Method,
    /// The ports that go down and come up again.
    pub(crate) bounces: Vec<Bounce>,
    /// Expected duration.
    pub(crate) estimate: Estimate,
    /// The changes.
    pub(crate) patch: Patch,
    /// Digest of the state before, table by table.
    pub(crate) live: StateDigest,
    /// Digest of the state after.
    pub(crate) target_digest: StateDigest,
    /// The change of `frr.conf`, if it differs.
    pub(crate) routing: Option<RoutingPlan>,
    /// Files of the tree that no transport of the switch carries.
    pub(crate) undelivered_files: Vec<UndeliveredFile>,
}

/// Target state of a switch.
#[derive(Debug, Clone)]
pub(crate) struct SonicTarget {
    /// closc's part.
    pub(crate) tree: ConfigDb,
    /// Other settings of the plan.
    pub(crate) overlay: Overlay,
}

impl SonicPlan {
    /// Creates the plan of a change to a CONFIG_DB.
    pub(crate) fn new(
        plane: Option<u8>,
        change: Change,
        held: &ConfigDb,
        patched_by: String,
        has_number: bool,
    ) -> Self {
        let Change { target: wanted, patch, method, bounces, estimate } = change;
        let tables = tables(&patch);
        let (live, desired) = (digest(held, &tables), digest(&wanted, &tables));
        let (routing, missed) = (None, Vec::new());
        SonicPlan {
            plane,
            updater: patched_by,
            has_number,
            method,
            bounces,
            estimate,
            patch,
            live,
            target_digest: desired,
            routing,
            undelivered_files: missed,
        }
    }

    /// Returns whether the plan changes the switch.
    pub(crate) fn changes(&self) -> bool {
        !self.patch.is_empty() || self.routing.as_ref().is_some_and(RoutingPlan::changes)
    }

    /// Returns whether a reload was requested although a patch would suffice.
    pub(crate) fn is_reload_asked(&self) -> bool {
        matches!(&self.method, Method::Reload { reasons } if reasons.contains(&Reason::Asked))
    }

    /// Returns the settings of the plan that closc does not own, as an overlay.
    pub(crate) fn overlay(&self) -> Overlay {
        let mut site = ConfigDb::default();
        for operation in &self.patch.operations {
            let rows: Vec<(&str, Entry)> = match (&operation.action, &operation.key) {
                (Action::Add(Content::Table(table)), _) => {
                    table.iter().map(|(key, entry)| (key.as_str(), entry.clone())).collect()
                }
                (Action::Add(Content::Entry(entry)), Some(key)) => vec![(key, entry.clone())],
                (Action::Add(Content::Field(value)) | Action::Replace(value), Some(key)) => {
                    let field = operation.field.clone().unwrap_or_default();
                    vec![(key, Entry::from([(field, value.clone())]))]
                }
                _ => Vec::new(),
            };
            for (key, entry) in rows {
                add(&mut site, &operation.table, key, entry);
            }
        }
        Overlay::of_file("the plan", site)
    }

    /// Returns the target state of a switch, if its CONFIG_DB is in the state before or after the plan.
    pub(crate) fn resolve(&self, device: &str, held: &ConfigDb) -> Result<SonicTarget, Fault> {
        let tables = tables(&self.patch);
        let found = digest(held, &tables);
        if found == self.target_digest {
            return Ok(SonicTarget { tree: owned_part(held, held), overlay: Overlay::default() });
        }
        if found != self.live {
            return Err(Fault::Moved { changes: self.live.changed_objects(&found) });
        }
        let other = |reason: String| Fault::Ended { reason: format!("the plan is inconsistent: {reason}") };
        let wanted = self.patch.apply(held).map_err(other)?;
        if digest(&wanted, &tables) != self.target_digest {
            return Err(other("its patch does not produce its target state".to_owned()));
        }
        let made = SonicTarget { tree: owned_part(&wanted, &wanted), overlay: self.overlay() };
        let again = change(device, held, &made.tree, &made.overlay, self.is_reload_asked());
        let again = again.map_err(|error| Fault::Site { reason: error.to_string() })?;
        if again.patch != self.patch {
            return Err(other("the changes differ from those that it shows".to_owned()));
        }
        if again.method != self.method || again.bounces != self.bounces {
            return Err(other("the method differs from the one that it shows".to_owned()));
        }
        Ok(made)
    }

    /// Returns whether an operation is part of the plan.
    pub(crate) fn has(&self, operation: &Operation) -> bool {
        let covers = |planned: &Operation| {
            let same = |one: &Option<String>, other: &Option<String>| one.is_none() || one == other;
            planned.table == operation.table
                && same(&planned.key, &operation.key)
                && (planned.key.is_none() || same(&planned.field, &operation.field))
        };
        self.patch.operations.iter().any(covers)
    }
}

/// Adds to an overlay the fields of an added or changed entry that closc does not own.
fn add(site: &mut ConfigDb, table: &str, key: &str, entry: Entry) {
    let rule = owned_table(table);
    let is_own = |field: &str| rule.is_some_and(|rule| rule.has_field(field) || rule.is_given(field));
    let kept: Entry = entry.into_iter().filter(|(field, _)| !is_own(field)).collect();
    if rule.is_some() && kept.is_empty() {
        return;
    }
    let mut merged = site.entry(table, key).cloned().unwrap_or_default();
    merged.extend(kept);
    site.insert(table, key, merged);
}

/// Returns the tables that a plan covers: those that closc owns in part or entirely, and others that it changes.
fn tables(patch: &Patch) -> BTreeSet<&str> {
    let own = closc_sonic::OWNED.iter().map(|owned| owned.table);
    own.chain(patch.operations.iter().map(|operation| operation.table.as_str())).collect()
}

/// Returns the digest of each table that closc owns in part or entirely.
pub(crate) fn digest_of_own(config: &ConfigDb) -> StateDigest {
    digest(config, &tables(&Patch::default()))
}

/// Returns the digest of each of these tables.
fn digest(config: &ConfigDb, tables: &BTreeSet<&str>) -> StateDigest {
    let held = tables.iter().filter_map(|table| Some((*table, config.tables().get(*table)?)));
    let objects = held.map(|(name, table)| {
        let mut hasher = blake3::Hasher::new();
        for (key, entry) in table {
            text(&mut hasher, key);
            hasher.update(&(entry.len() as u64).to_be_bytes());
            for (field, value) in entry {
                text(&mut hasher, field);
                match value {
                    Field::Text(value) => text(&mut hasher, value),
                    Field::List(values) => {
                        hasher.update(&[1]);
                        hasher.update(&(values.len() as u64).to_be_bytes());
                        for value in values {
                            text(&mut hasher, value);
                        }
                    }
                }
            }
        }
        let digest = ObjectDigest { entities: table.len() as u64, blake3: hasher.finalize().to_string() };
        (name.to_owned(), digest)
    });
    StateDigest { objects: objects.collect() }
}

/// Hashes text with its length, so that different sequences of texts have different digests.
fn text(hasher: &mut blake3::Hasher, text: &str) {
    hasher.update(&[0]);
    hasher.update(&(text.len() as u64).to_be_bytes());
    hasher.update(text.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIVE: &str = r#"{
        "PORT": { "Ethernet0": { "admin_status": "up", "mtu": "1500", "tpid": "0x8100" } },
        "NTP_SERVER": { "192.0.2.1": { "key": "3" } },
        "TACPLUS": { "global": { "timeout": "5" } },
        "FEATURE": { "lldp": { "state": "enabled" } }
    }"#;
    const TREE: &str = r#"{
        "PORT": { "Ethernet0": { "admin_status": "up", "mtu": "9100" } },
        "SYSLOG_SERVER": { "192.0.2.9": {} }
    }"#;
    const SITE: &str = r#"{ "tables": {
        "TACPLUS": { "global": { "passkey": "x" } },
        "PORT": { "Ethernet0": { "tpid": "0x9100" } },
        "NTP_SERVER": { "192.0.2.2": {} },
        "DNS_NAMESERVER": { "192.0.2.53": {} }
    } }"#;

    fn config(text: &str) -> ConfigDb {
        ConfigDb::parse(text).expect("right")
    }

    fn plan_change(live: &ConfigDb) -> (SonicPlan, ConfigDb) {
        let site = Overlay::parse([("site.json", SITE)]).expect("right");
        let made = change("a", live, &config(TREE), &site, false).expect("they go together");
        let wanted = made.target.clone();
        (SonicPlan::new(Some(0), made, live, String::new(), true), wanted)
    }

    #[test]
    fn a_plan_leads_where_tree_and_overlay_lead() {
        let live = config(LIVE);
        let (plan, wanted) = plan_change(&live);
        let resolved = plan.resolve("a", &live).expect("nothing moved");
        let made = change("a", &live, &resolved.tree, &resolved.overlay, false).expect("they go together");
        assert_eq!(made.target, wanted);
        assert_eq!(made.patch, plan.patch);
        assert!(made.patch.operations.iter().all(|operation| plan.has(operation)));
        // After the push nothing is left to do, even with the target state that was resolved earlier.
        for resolved in [resolved, plan.resolve("a", &wanted).expect("it is as it will be")] {
            let again =
                change("a", &wanted, &resolved.tree, &resolved.overlay, false).expect("they go together");
            assert_eq!(again.method, Method::Nothing);
        }
    }

    #[test]
    fn a_switch_that_moved_is_refused_where_the_plan_looks() {
        let (plan, _) = plan_change(&config(LIVE));
        let elsewhere = config(&LIVE.replace(r#""state": "enabled""#, r#""state": "disabled""#));
        let resolved = plan.resolve("a", &elsewhere).expect("it is the site's");
        let made =
            change("a", &elsewhere, &resolved.tree, &resolved.overlay, false).expect("they go together");
        assert_eq!(made.target.text("FEATURE", "lldp", "state"), Some("disabled"), "it stays");
        for (from, to) in
            [(r#""mtu": "1500""#, r#""mtu": "1501""#), (r#""timeout": "5""#, r#""timeout": "6""#)]
        {
            let fault = plan.resolve("a", &config(&LIVE.replace(from, to))).expect_err("it moved");
            assert!(matches!(fault, Fault::Moved { .. }), "{fault}");
        }
        let more = LIVE.replacen('{', r#"{ "SYSLOG_SERVER": { "192.0.2.8": {} }, "#, 1);
        let said = plan.resolve("a", &config(&more)).expect_err("it moved").to_string();
        assert!(said.contains("`SYSLOG_SERVER` had 0 entries and has 1"), "{said}");
    }
}
