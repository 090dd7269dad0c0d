//! Existing devices that are renamed.
//!
//! In: two plans, and their changes of name patterns. Out: counts by kind of device, or pairs of names.
//! Invariants: only devices that both fabrics have are compared.

use closc_diagnostics::figures::number;
use closc_plan::Plan;
use schemars::JsonSchema;
use serde::Serialize;

use crate::change::{Change, NamedDevices};
use crate::compare::Difference;
use crate::words::{plural, tier as tier_word};

/// Devices of one kind that are renamed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RenamedDevices {
    /// `T0`, `T1`, `T2` or `node`.
    #[schemars(with = "String")]
    pub kind: &'static str,
    /// Devices of both fabrics whose name changes.
    pub renamed: u64,
    /// Devices of both fabrics.
    pub of: u64,
    /// Old name of the first renamed device.
    pub old: String,
    /// New name of the first renamed device.
    pub new: String,
}

/// Returns the names before and after of each device that both fabrics have.
pub(crate) fn names(named: NamedDevices, old: &Plan, new: &Plan) -> Vec<(String, String)> {
    match named {
        NamedDevices::Tier(tier) => {
            let name = |plan: &Plan, switch| plan.topology().naming.switch(switch).to_string();
            let common = new.switches().filter(|s| s.tier == tier && old.fabric().has_switch(*s));
            common.map(|switch| (name(old, switch), name(new, switch))).collect()
        }
        NamedDevices::Node => {
            let name = |plan: &Plan, node| plan.topology().naming.node(node).to_string();
            let common = new.nodes().filter(|node| old.fabric().has_node(*node));
            common.map(|node| (name(old, node), name(new, node))).collect()
        }
    }
}

/// Returns the name of a kind of devices in the singular.
pub(crate) fn noun(named: NamedDevices) -> &'static str {
    match named {
        NamedDevices::Tier(tier) => tier_word(tier),
        NamedDevices::Node => "node",
    }
}

impl RenamedDevices {
    /// Compares the names of devices whose name pattern differs.
    pub(crate) fn between(difference: &Difference, old: &Plan, new: &Plan) -> Vec<RenamedDevices> {
        let of = |change: &Change| {
            let Change::Naming(named, _) = change else { return None };
            let all = names(*named, old, new);
            let mut renamed = all.iter().filter(|(old, new)| old != new);
            let (before, after) = renamed.next()?;
            Some(RenamedDevices {
                kind: noun(*named),
                renamed: renamed.count() as u64 + 1,
                of: all.len() as u64,
                old: before.clone(),
                new: after.clone(),
            })
        };
        difference.changes.iter().filter_map(of).collect()
    }

    /// Returns the line of a work order that describes these devices.
    pub(crate) fn line(&self) -> String {
        let RenamedDevices { kind, renamed, of, old, new } = self;
        let of = plural(*of, kind, &format!("{kind}s"));
        format!("{} of {of}, `{old}` to `{new}`", number(*renamed))
    }
}
