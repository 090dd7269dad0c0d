//! Changes to apply to one switch.
//!
//! In: the live configuration, the tree's part, the site's overlay. Out: [`Change`]. Invariants: the
//! steps, applied in order, lead to `target`; without differences there are none.

use thiserror::Error;

use crate::config_db::{ConfigDb, Field};
use crate::method::{self, Bounce, Estimate, Method};
use crate::overlay::{Overlay, OverlayError};
use crate::ownership::{owned_table, target};
use crate::patch::{Action, Content, Patch};

/// Changes to apply to one switch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The complete target configuration: closc's part, the overlay, and everything else that the switch had before.
    pub target: ConfigDb,
    /// Differences, as one patch.
    pub patch: Patch,
    /// Method of application.
    pub method: Method,
    /// The ports that go down and up again; for a reload all that are up.
    pub bounces: Vec<Bounce>,
    /// Expected duration.
    pub estimate: Estimate,
}

/// A tree or an overlay that cannot be applied.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum TargetError {
    /// The tree has a table without an entry in closc's list of owners.
    #[error("the tree contains table `{table}`, which this version of closc does not support")]
    Unlisted {
        /// The table.
        table: String,
    },
    /// The overlay sets a field that closc owns, or contradicts itself.
    #[error(transparent)]
    Overlay(#[from] OverlayError),
}

/// Computes the changes to apply to a switch. `reload` requests a reload even if a patch would suffice.
pub fn change(
    device: &str,
    live: &ConfigDb,
    tree: &ConfigDb,
    overlay: &Overlay,
    reload: bool,
) -> Result<Change, TargetError> {
    if let Some(table) = tree.tables().keys().find(|table| owned_table(table).is_none()) {
        return Err(TargetError::Unlisted { table: table.clone() });
    }
    let site = overlay.additions(device, tree)?;
    // Entries that the site adds to closc's tables count as wanted; otherwise they would be removed.
    let mut both = tree.clone();
    for (table, key, entry) in entries(&site).filter(|(table, ..)| owned_table(table).is_some()) {
        if tree.entry(table, key).is_none() {
            both.insert(table, key, entry.clone());
        }
    }
    let mut wanted = target(live, tree, &both);
    keep_routing_mode(live, &mut wanted);
    for (table, key, entry) in entries(&site) {
        let mut made = wanted.entry(table, key).cloned().unwrap_or_default();
        made.extend(entry.clone());
        wanted.insert(table, key, made);
    }
    let patch = Patch::diff(live, &wanted);
    let verdict = method::judge(live, &wanted, &patch, reload);
    Ok(Change {
        target: wanted,
        patch,
        method: verdict.method,
        bounces: verdict.bounces,
        estimate: verdict.estimate,
    })
}

/// Keeps `unified` if the tree has `separated`, because SONiC's migration rewrites the value (sonic-utilities 3840). In
/// both modes, SONiC writes the routing itself; from 202605 on, into one file (sonic-buildimage 27547).
fn keep_routing_mode(live: &ConfigDb, wanted: &mut ConfigDb) {
    let (table, key, field) = ("DEVICE_METADATA", "localhost", "docker_routing_config_mode");
    let is_kept = live.text(table, key, field) == Some("unified")
        && wanted.text(table, key, field) == Some("separated");
    if let (true, Some(kept), Some(entry)) =
        (is_kept, live.entry(table, key).and_then(|entry| entry.get(field)), wanted.entry(table, key))
    {
        let mut entry = entry.clone();
        entry.insert(field.to_owned(), kept.clone());
        wanted.insert(table, key, entry);
    }
}

fn entries(config: &ConfigDb) -> impl Iterator<Item = (&str, &str, &crate::config_db::Entry)> {
    config
        .tables()
        .iter()
        .flat_map(|(name, table)| table.iter().map(move |(key, entry)| (name.as_str(), key.as_str(), entry)))
}

/// Tables for which the kind of operation decides whether the updater accepts a change.
const BY_OPERATION: [&str; 2] = ["BUFFER_PROFILE", "PFC_WD"];

impl Change {
    /// Returns the patches, in order.
    ///
    /// The updater compares the complete configurations before and after. Its library writes `move` if a value
    /// disappears in one place and appears in another. The updater rejects `move` for some tables, so additions and
    /// removals are then two patches.
    pub fn steps(&self, live: &ConfigDb) -> Vec<Patch> {
        if self.patch.is_empty() {
            return Vec::new();
        }
        if !self.moves(live) {
            return vec![self.patch.clone()];
        }
        let (come, gone) = self.patch.clone().split();
        vec![come, gone]
    }

    /// Returns whether something added to a table of [`BY_OPERATION`] equals something that is removed.
    fn moves(&self, live: &ConfigDb) -> bool {
        let gone: Vec<Content> = self
            .patch
            .operations
            .iter()
            .filter(|operation| operation.action == Action::Remove)
            .filter_map(|operation| {
                let table = live.table(&operation.table);
                let Some(key) = &operation.key else { return Some(Content::Table(table.clone())) };
                let entry = table.get(key)?;
                let Some(field) = &operation.field else { return Some(Content::Entry(entry.clone())) };
                entry.get(field).map(|field: &Field| Content::Field(field.clone()))
            })
            .collect();
        self.patch.operations.iter().any(|operation| match &operation.action {
            Action::Add(content) => {
                BY_OPERATION.contains(&operation.table.as_str()) && gone.contains(content)
            }
            Action::Replace(_) | Action::Remove => false,
        })
    }
}
