//! Rejects trees whose fabric differs from the inventory's, and signed trees that are too old to push.
//!
//! Invariants: the fabric must match whether the tree is signed or not. If a signature is required, the tree must not
//! be expired, and must have a sequence number that is not below the minimum of the inventory. `--allow-older` lifts
//! these age limits, and is recorded in the audit log.

use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::bail;
use closc_artefacts::Manifest;
use closc_deploy::{Inventory, SequenceGuard};

use crate::args::control::FleetArgs;
use crate::audit::Audit;

/// Returns the time in seconds since 1970.
pub(super) fn now_s() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}

/// Rejects a tree of another fabric. If signatures are required, also rejects a tree that is too old or has
/// no sequence number.
pub(super) fn check(
    args: &FleetArgs,
    manifest: &Manifest,
    inventory: &Inventory,
    now_s: u64,
) -> anyhow::Result<()> {
    let (tree, fabric) = (&args.source, &manifest.fabric);
    if let Some(own) = inventory.fabric.as_ref().filter(|own| *own != fabric) {
        bail!("`{tree}` is of fabric `{fabric}`, but the inventory is of `{own}`");
    }
    if args.require_signature.is_empty() || args.allow_older {
        return Ok(());
    }
    let Some(release) = manifest.release else {
        bail!(
            "`{tree}` has no sequence number, so an older tree could replace a newer one: compile it with `--sign KEY \
             --sequence N`, or push it with `--allow-older`"
        );
    };
    if let Some(day) = release.expires.filter(|day| day.is_before(now_s)) {
        bail!("`{tree}` expired with {day}: sign it again, or push it with `--allow-older`");
    }
    if let Some(least) = inventory.min_sequence.filter(|least| release.sequence < *least) {
        bail!(
            "`{tree}` has sequence number {}, but the inventory needs at least {least}: push a newer tree, or use \
             `--allow-older`",
            release.sequence
        );
    }
    Ok(())
}

/// Returns the sequence number of a signed tree, if a signature is required. Switches store the last number
/// and compare it.
pub(super) fn of(args: &FleetArgs, manifest: &Manifest) -> Option<SequenceGuard> {
    let release = manifest.release.filter(|_| !args.require_signature.is_empty())?;
    Some(SequenceGuard { sequence: release.sequence, allow_older: args.allow_older })
}

/// Records in the audit log that older trees are allowed.
pub(in crate::commands) fn log(audit: &Audit, args: &FleetArgs) -> anyhow::Result<()> {
    if args.allow_older {
        audit.say("older-allowed", serde_json::Value::Null)?;
    }
    Ok(())
}
