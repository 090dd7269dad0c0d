//! Effect of a push on switches that are configured by files.
//!
//! In: a fleet, a plan. Out: the changes of each switch, for people and for files. Invariants: a change is one line; a
//! push rejects a switch with changes that the plan does not list.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Plan;
use super::show::{count_changes, heading};
use crate::carrier::CarriedPlan;
use crate::event::Reporter;
use crate::fault::Fault;
use crate::fleet::Fleet;
use crate::options::PushOptions;
use crate::parallel::map_parallel;
use crate::progress::Progress;

/// Changes shown for each switch; the others are counted.
const SHOWN: usize = 40;

/// Computes what a push would do.
pub(super) async fn of(
    fleet: &Fleet,
    options: &PushOptions,
    reporter: &Reporter,
) -> Vec<(String, Result<CarriedPlan, Fault>)> {
    let (reporter, options) = (reporter.clone(), *options);
    map_parallel(fleet.carried_switches.clone(), options.max_parallel, move |switch| {
        let reporter = reporter.of_device(&switch.name, switch.plane);
        async move {
            let progress = Progress::new(reporter);
            let made = tokio::time::timeout(options.timeout, switch.plan(&options, &progress)).await;
            let late = |_| Fault::Timeout { timeout: options.timeout, operation: progress.operation() };
            (switch.name.clone(), made.map_err(late).flatten())
        }
    })
    .await
}

/// Shows the changes; switches with the same change are grouped. Empty if no switch is configured by files.
pub(super) fn show(plan: &Plan) -> String {
    let mut groups: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for (name, made) in plan.carried_plans.iter().filter(|(_, made)| made.changes()) {
        groups.entry(lines(made)).or_default().push(name);
    }
    groups.iter().map(|(lines, names)| heading(names) + lines).collect()
}

/// Returns how many of the switches configured by files change; empty if there are none.
pub(super) fn verdict(plan: &Plan) -> String {
    if plan.carried_plans.is_empty() {
        return String::new();
    }
    let n_changed = plan.carried_plans.values().filter(|made| made.changes()).count();
    count_changes(n_changed, plan.carried_plans.len() - n_changed, "", " over SSH") + "\n"
}

fn lines(made: &CarriedPlan) -> String {
    let mut text = String::new();
    for change in made.changes.iter().take(SHOWN) {
        let _ = writeln!(text, "  {change}");
    }
    let more = made.changes.len().saturating_sub(SHOWN);
    if more > 0 {
        let _ = writeln!(text, "  and {more} more");
    }
    text
}

/// Preview of a push to a switch that is configured by files.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub(super) struct CarriedPreview {
    /// Keyword of the operating system in fabric files.
    os: String,
    /// The changes, one per line.
    changes: Vec<String>,
}

/// Returns the preview for programs.
pub(super) fn preview(plan: &Plan) -> BTreeMap<String, CarriedPreview> {
    let one = |made: &CarriedPlan| CarriedPreview { os: made.os.clone(), changes: made.changes.clone() };
    plan.carried_plans.iter().map(|(name, made)| (name.clone(), one(made))).collect()
}

/// The plan for a switch that is configured by files.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CarriedFile {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    plane: Option<u8>,
    /// Keyword of the operating system in fabric files.
    os: String,
    /// The changes, one per line. The push rejects the plan if other changes are found on the switch.
    changes: Vec<String>,
    /// The target files, by name.
    files: BTreeMap<String, String>,
}

/// Returns the switches of a plan, for its file.
pub(super) fn files(plan: &Plan) -> BTreeMap<String, CarriedFile> {
    let one = |made: &CarriedPlan| CarriedFile {
        plane: made.plane,
        os: made.os.clone(),
        changes: made.changes.clone(),
        files: made.files.clone(),
    };
    plan.carried_plans.iter().map(|(name, made)| (name.clone(), one(made))).collect()
}

/// Reads the switches of a plan file.
pub(super) fn read(files: BTreeMap<String, CarriedFile>) -> BTreeMap<String, CarriedPlan> {
    let one = |file: CarriedFile| CarriedPlan {
        plane: file.plane,
        os: file.os,
        changes: file.changes,
        files: file.files,
    };
    files.into_iter().map(|(name, file)| (name, one(file))).collect()
}
