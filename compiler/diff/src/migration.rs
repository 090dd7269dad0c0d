//! Migration from one segment plan to the other. No order of waves makes it possible, so all jobs must be
//! stopped.
//!
//! In: two plans. Out: a [`Migration`] if they encode the plane at different positions of an address.
//! Invariants: its statement about packets in flight depends only on the blocks of both plans.

use std::fmt;

use closc_plan::Plan;
use closc_topology::{SegmentPlan, Srv6};
use ipnet::Ipv6Net;

use crate::change::{Change, Setting};
use crate::words::plural;

/// A change of the segment plan. A switch has one block at a time (SONiC programs one locator), and a path
/// table contains one block per plane. So neither can support both plans at the same time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Migration {
    old: SegmentPlan,
    new: SegmentPlan,
    /// A block that both plans use.
    shared_block: Option<Ipv6Net>,
    switches: u64,
    tables: u64,
}

impl Migration {
    /// Returns the migration between two plans; `None` unless both use segments and their segment plans
    /// differ.
    pub(crate) fn compare(old: &Plan, new: &Plan) -> Option<Migration> {
        let (before, after) = (&old.topology().srv6, &new.topology().srv6);
        let migrates = old.is_source_routed() && new.is_source_routed() && before.plan != after.plan;
        migrates.then(|| {
            let blocks = |srv6: &Srv6, plan: &Plan| -> Vec<Ipv6Net> {
                plan.topology().plane_ids().map(|plane| srv6.block(plane)).collect()
            };
            let of_new = blocks(after, new);
            Migration {
                old: before.plan,
                new: after.plan,
                shared_block: blocks(before, old).into_iter().find(|block| of_new.contains(block)),
                switches: new.switches().count() as u64,
                tables: new.groups().count() as u64,
            }
        })
    }

    /// Returns whether a change is part of a migration.
    pub(crate) fn covers(change: &Change) -> bool {
        let Change::Setting(setting) = change else { return false };
        matches!(&**setting, Setting::SegmentPlan(_) | Setting::Block(_) | Setting::Layout(_))
    }
}

impl fmt::Display for Migration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "`srv6.plan` changes from {} to {}, and switches and path tables cannot hold both plans; stop the jobs, \
             push all {}, give hosts their {}, verify, and start the jobs; ",
            self.old.keyword(),
            self.new.keyword(),
            plural(self.switches, "switch", "switches"),
            plural(self.tables, "path table", "path tables"),
        )?;
        match self.shared_block {
            None => f.write_str(
                "a host with an old table reaches no other host in the meantime, because the two plans share \
                 no block",
            ),
            Some(block) => write!(
                f,
                "both plans use `{block}`, so packets of a host with an old table can follow other segments; help: \
                 set a `srv6.block` that the old plan does not use"
            ),
        }
    }
}
