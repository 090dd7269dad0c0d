//! A plan for people: one line per update, in the order in which they are sent, or one per table.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use closc_runtime::proto::v1;
use closc_runtime::render;

use super::Plan;
use crate::device_plan::DevicePlan;
use crate::difference::Counts;
use crate::target::Program;

/// Maximum number of switch names in the heading of common updates.
const NAMED: usize = 8;

/// Number of lines up to which an overview lists every update.
const LISTED: usize = 20;

/// Switches with the same lines.
type Groups<'a> = BTreeMap<Vec<String>, Vec<&'a str>>;

/// Returns how many switches and entries change. Empty if a plan has only switches with other transports.
pub(super) fn verdict(plan: &Plan) -> String {
    if plan.devices.is_empty() && !(plan.sonic.is_empty() && plan.carried_plans.is_empty()) {
        return String::new();
    }
    let n_changed = plan.devices.values().filter(|device| device.changes()).count();
    let Counts { insert, modify, delete } = plan.counts();
    let switches = count_changes(n_changed, plan.devices.len() - n_changed, "", "");
    format!("{switches}: {insert} to insert, {modify} to modify, {delete} to delete\n")
}

/// Counts the switches of a kind that change, and the others.
pub(super) fn count_changes(n_changed: usize, n_same: usize, kind: &str, how: &str) -> String {
    let change = if n_changed == 1 { "switch changes" } else { "switches change" };
    let others = if n_same == 1 { "1 does not".to_owned() } else { format!("{n_same} do not") };
    format!("{n_changed} {kind}{change}{how}, {others}")
}

/// Lists the updates of each switch that changes; switches with the same updates are grouped.
pub(super) fn updates(plan: &Plan) -> String {
    render_groups(&groups(plan, lines))
}

/// Like [`updates`]; a long list becomes numbers of updates for each table. Returns whether it was shortened.
pub(super) fn overview(plan: &Plan) -> (String, bool) {
    let every = groups(plan, lines);
    if every.keys().map(Vec::len).sum::<usize>() <= LISTED {
        return (render_groups(&every), false);
    }
    (render_groups(&groups(plan, |plan, device| by_table(&lines(plan, device)))), true)
}

fn groups(plan: &Plan, lines: impl Fn(&Plan, &DevicePlan) -> Vec<String>) -> Groups<'_> {
    let mut groups = Groups::new();
    for (name, device) in plan.devices.iter().filter(|(_, device)| device.changes()) {
        groups.entry(lines(plan, device)).or_default().push(name);
    }
    groups
}

/// Writes groups in the order of their first switches.
fn render_groups(groups: &Groups<'_>) -> String {
    let mut in_order: Vec<_> = groups.iter().collect();
    in_order.sort_by_key(|(_, names)| names[0]);
    let mut text = String::new();
    for (lines, names) in in_order {
        text.push_str(&heading(names));
        for line in lines {
            text.push_str("  ");
            text.push_str(line);
            text.push('\n');
        }
    }
    text
}

/// Counts updates by operation and table.
fn by_table(lines: &[String]) -> Vec<String> {
    let mut counts: BTreeMap<(&str, String), usize> = BTreeMap::new();
    let mut shown = Vec::new();
    for line in lines {
        let (sign, rest) = line.split_once(' ').unwrap_or((line, ""));
        if sign.len() > 1 {
            shown.push(line.clone());
            continue;
        }
        // A table has one word; a multicast group or clone session has two and a number.
        let ends =
            |word: &&str| word.contains(['=', '>']) || word.starts_with(|sign: char| sign.is_ascii_digit());
        let object: Vec<&str> = rest.split_whitespace().take(2).take_while(|word| !ends(word)).collect();
        *counts.entry((sign, object.join(" "))).or_default() += 1;
    }
    shown.extend(counts.iter().map(|((sign, object), count)| format!("{sign} {object}: {count}")));
    shown
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

/// Returns the heading of the switches of a group.
pub(super) fn heading(names: &[&str]) -> String {
    let mut text = names.iter().take(NAMED).copied().collect::<Vec<_>>().join(", ");
    if names.len() > NAMED {
        write!(text, " and {} more", names.len() - NAMED).expect("a string takes everything");
    }
    text.push('\n');
    text
}

/// Lists the entries that are omitted because switches have no table for them.
pub(super) fn show_omissions(plan: &Plan) -> String {
    let devices = plan.devices.iter().map(|(name, device)| (name.as_str(), device.omissions.as_slice()));
    let mut text = String::new();
    for line in crate::bind::show(devices) {
        writeln!(text, "note: {line}").expect("a string takes everything");
    }
    text
}
