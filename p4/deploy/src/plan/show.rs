//! A plan for people: one line per update, in the order in which they are sent.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use closc_runtime::proto::v1;
use closc_runtime::render;

use super::Plan;
use crate::device_plan::DevicePlan;
use crate::difference::Counts;
use crate::target::Program;

/// Limit of switch names in the heading of common updates.
const NAMED: usize = 8;

/// Shows a plan. Switches without changes are only counted.
pub(super) fn show(plan: &Plan) -> String {
    let mut groups: Vec<(Vec<&str>, Vec<String>)> = Vec::new();
    let mut by_lines: BTreeMap<Vec<String>, usize> = BTreeMap::new();
    let mut n_same = 0;
    for (name, device) in &plan.devices {
        if !device.changes() {
            n_same += 1;
            continue;
        }
        let lines = lines(plan, device);
        if let Some(group) = by_lines.get(&lines) {
            groups[*group].0.push(name);
        } else {
            by_lines.insert(lines.clone(), groups.len());
            groups.push((vec![name], lines));
        }
    }
    let mut text = String::new();
    for (names, lines) in &groups {
        text.push_str(&heading(names));
        for line in lines {
            text.push_str("  ");
            text.push_str(line);
            text.push('\n');
        }
        text.push('\n');
    }
    let Counts { insert, modify, delete } = plan.counts();
    let n_changed = plan.devices.len() - n_same;
    writeln!(
        text,
        "{n_changed} switches change, {n_same} do not: {insert} to insert, {modify} to modify, {delete} to delete"
    )
    .expect("a string takes everything");
    text
}

/// Returns the changes of a switch, one per line.
pub(super) fn lines(plan: &Plan, device: &DevicePlan) -> Vec<String> {
    let mut lines = Vec::with_capacity(device.updates.len() + 1);
    let Some(program) = plan.programs.get(&device.program) else { return lines };
    if device.set_pipeline {
        lines.push(set_pipeline(&device.program));
    }
    lines.extend(device.updates.iter().map(|update| line(program, update)));
    lines
}

/// Returns the line for setting a program.
pub(super) fn set_pipeline(program: &str) -> String {
    format!("set pipeline {program} (tables are emptied)")
}

/// Returns the line for an update.
pub(super) fn line(program: &Program, update: &v1::Update) -> String {
    render::update(program.info(), update).to_string()
}

fn heading(names: &[&str]) -> String {
    let mut text = names.iter().take(NAMED).copied().collect::<Vec<_>>().join(", ");
    if names.len() > NAMED {
        write!(text, " and {} more", names.len() - NAMED).expect("a string takes everything");
    }
    text.push('\n');
    text
}

/// Lists the entries that switches do without.
pub(super) fn left_out(plan: &Plan) -> String {
    let devices = plan.devices.iter().map(|(name, device)| (name.as_str(), device.left_out.as_slice()));
    let mut text = String::new();
    for line in crate::bind::show(devices) {
        writeln!(text, "note: {line}").expect("a string takes everything");
    }
    text
}
