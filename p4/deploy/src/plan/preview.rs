//! Preview of a push, for programs: the same as [`super::show`] prints for people.
//!
//! In: a plan. Out: every switch with its planned changes, including switches without changes.

use std::collections::BTreeMap;

use closc_sonic::{Method, Reason};
use schemars::JsonSchema;
use serde::Serialize;

use super::Plan;
use super::carried::{self, CarriedPreview};
use super::show::lines;
use crate::difference::Counts;
use crate::factory::FactoryNote;
use crate::skipped_switches::SkippedSwitches;
use crate::sonic::RoutingMethod;
use crate::unsupported_files::UnsupportedFile;

/// Preview of a push.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Preview {
    /// Name of the fabric.
    fabric: String,
    /// Updates of all switches that speak P4Runtime.
    updates: Counts,
    /// Switches that speak P4Runtime, by name.
    devices: BTreeMap<String, DevicePreview>,
    /// Switches that run SONiC, by name.
    sonic: BTreeMap<String, SonicPreview>,
    /// Switches that are configured by files, by name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    carried: BTreeMap<String, CarriedPreview>,
    /// Skipped switches of the tree, by operating system.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    left_alone: Vec<SkippedSwitches>,
    /// Files of the switches above that no transport carries.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    uncarried: Vec<UnsupportedFile>,
    /// Factory settings that switches lack, and files on switches that undo a push at the next boot.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    factory: Vec<FactoryNote>,
}

/// Preview of a push to a P4Runtime switch.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
struct DevicePreview {
    /// Its plane, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    plane: Option<u8>,
    /// The program that the switch will run.
    program: String,
    /// Whether the program is set, which empties the tables.
    set_pipeline: bool,
    /// Number of updates of each kind.
    updates: Counts,
    /// Planned actions, by names, in the order in which they are sent.
    changes: Vec<String>,
}

/// Preview of a push to a SONiC switch.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
struct SonicPreview {
    /// `nothing`, `patch` or `reload`.
    method: &'static str,
    /// The reasons why a patch does not suffice.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    reasons: Vec<Reason>,
    /// Operations of the patch (RFC 6902).
    operations: usize,
    /// The ports that go down and come up again.
    bounces: Vec<String>,
    /// Expected duration in seconds.
    seconds: u64,
    /// The change of `frr.conf`, if it differs.
    #[serde(skip_serializing_if = "Option::is_none")]
    routing: Option<RoutingPreview>,
}

/// Preview of the change of `frr.conf`.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
struct RoutingPreview {
    /// The method of the change.
    how: RoutingMethod,
    /// The lines for `vtysh`.
    commands: Vec<String>,
    /// The neighbours whose sessions the commands reset; `*` means all.
    resets: Vec<String>,
}

impl Preview {
    /// Returns the preview of a plan.
    pub(super) fn of(plan: &Plan) -> Self {
        let devices = plan.devices.iter().map(|(name, device)| {
            let preview = DevicePreview {
                plane: device.plane,
                program: device.program.clone(),
                set_pipeline: device.set_pipeline,
                updates: Counts::of(&device.updates),
                changes: lines(plan, device),
            };
            (name.clone(), preview)
        });
        let sonic = plan.sonic.iter().map(|(name, made)| {
            let (method, reasons) = match &made.method {
                Method::Nothing => ("nothing", Vec::new()),
                Method::Patch => ("patch", Vec::new()),
                Method::Reload { reasons } => ("reload", reasons.clone()),
            };
            let preview = SonicPreview {
                method,
                reasons,
                operations: made.patch.operations.len(),
                bounces: made.bounces.iter().map(|bounce| bounce.port.clone()).collect(),
                seconds: made.estimate.seconds,
                routing: made.routing.as_ref().map(|routing| RoutingPreview {
                    how: routing.how.clone(),
                    commands: routing.commands.clone(),
                    resets: routing.resets.clone(),
                }),
            };
            (name.clone(), preview)
        });
        Preview {
            fabric: plan.fabric.clone(),
            updates: plan.counts(),
            devices: devices.collect(),
            sonic: sonic.collect(),
            carried: carried::preview(plan),
            left_alone: plan.skipped_switches.clone(),
            uncarried: plan.unsupported_files(),
            factory: plan.factory.clone(),
        }
    }
}
