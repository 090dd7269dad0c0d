//! Preview of a push to SONiC switches, for people: how each change is applied, which ports it interrupts, how long it
//! takes, and the differences.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use closc_artefacts::paths::FRR_CONF;
use closc_sonic::{Action, Method, Operation};

use super::Plan;
use super::show::{count_changes, heading};
use crate::sonic::{RoutingMethod, RoutingPlan, SonicPlan};

/// Operations shown for each switch; the others are counted.
const SHOWN: usize = 40;

/// Ports listed by name.
const PORTS: usize = 8;

/// Shows the changes; switches with the same change are grouped. Empty if no switch runs SONiC.
pub(super) fn show(plan: &Plan) -> String {
    let mut groups: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for (name, made) in plan.sonic.iter().filter(|(_, made)| made.changes()) {
        groups.entry(lines(made)).or_default().push(name);
    }
    groups.iter().map(|(lines, names)| heading(names) + lines).collect()
}

/// Returns how many SONiC switches change; empty if there are none.
pub(super) fn verdict(plan: &Plan) -> String {
    if plan.sonic.is_empty() {
        return String::new();
    }
    let n_changed = plan.sonic.values().filter(|made| made.changes()).count();
    count_changes(n_changed, plan.sonic.len() - n_changed, "SONiC ", "") + "\n"
}

fn lines(made: &SonicPlan) -> String {
    let SonicPlan { updater: patched_by, method, bounces, estimate, patch, .. } = made;
    let mut text = String::new();
    let about = format!("about {} s ({})", estimate.seconds, estimate.source);
    match method {
        Method::Nothing => {}
        Method::Patch => {
            let _ = writeln!(text, "  by {patched_by}, {about}");
        }
        Method::Reload { reasons } => {
            let _ = writeln!(text, "  by config reload, {about}");
            for reason in reasons {
                let _ = writeln!(text, "    because {reason}");
            }
        }
    }
    let ports: Vec<&str> = bounces.iter().map(|bounce| bounce.port.as_str()).collect();
    if !ports.is_empty() {
        let more = ports.len().saturating_sub(PORTS);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let named = ports[..ports.len().min(PORTS)].join(", ");
        let bounce = if ports.len() == 1 { "port bounces" } else { "ports bounce" };
        let _ = writeln!(text, "  {} {bounce}: {named}{more}", ports.len());
    }
    for operation in patch.operations.iter().take(SHOWN) {
        let _ = writeln!(text, "  {}", line(operation));
    }
    let more = patch.operations.len().saturating_sub(SHOWN);
    if more > 0 {
        let _ = writeln!(text, "  and {more} more");
    }
    if let Some(routing) = &made.routing {
        text.push_str(&show_routing(routing));
    }
    text
}

/// Shows how `frr.conf` is applied, and which sessions that resets.
fn show_routing(routing: &RoutingPlan) -> String {
    let mut text = String::new();
    let how = match &routing.how {
        RoutingMethod::Nothing => return text,
        RoutingMethod::Install => "is installed; the daemons already run its contents".to_owned(),
        RoutingMethod::Commands => {
            let sessions = match routing.resets.as_slice() {
                [] => "no session is reset".to_owned(),
                resets if resets.iter().any(|peer| peer == "*") => "all sessions are reset".to_owned(),
                resets => format!("sessions of {} are reset", resets.join(", ")),
            };
            let lines = if routing.commands.len() == 1 { "line" } else { "lines" };
            format!("by {} {lines} of vtysh, {sessions}", routing.commands.len())
        }
        RoutingMethod::Restart { reasons } => {
            format!("by a restart of the bgp container, because {}", reasons.join("; "))
        }
        RoutingMethod::Reload => "with the reload, which restarts the bgp container".to_owned(),
    };
    let _ = writeln!(text, "  {FRR_CONF} {how}");
    for command in routing.commands.iter().take(SHOWN) {
        let _ = writeln!(text, "    {command}");
    }
    let more = routing.commands.len().saturating_sub(SHOWN);
    if more > 0 {
        let _ = writeln!(text, "    and {more} more");
    }
    text
}

/// Returns the line for an operation.
pub(super) fn line(operation: &Operation) -> String {
    let place = operation.place();
    match &operation.action {
        Action::Add(content) => format!("+ {place} {content}"),
        Action::Replace(value) => format!("~ {place} {value}"),
        Action::Remove => format!("- {place}"),
    }
}
