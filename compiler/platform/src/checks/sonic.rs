//! E1008: a platform has SONiC's names if and only if SONiC runs on it, and port names that each system accepts.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule, SourceId};

use super::format_list;
use crate::file::File;

pub(crate) static RULE: Rule = Rule {
    code: "E1008",
    title: "`sonic` or port names do not match `os`",
    condition: "A platform has a `sonic` section if, and only if, `os` lists `sonic`. `naming` or `namings` gives \
           each system port names that it accepts. `os` lists at least one system, and each system of `namings`.",
    impact: "SONiC selects lanes, buffers and SAI profile by hwsku and platform. Without them the switch does \
           not come up. A configuration with port names of another system is rejected, or has no effect.",
    example: "os: [sonic]\npanel: {naming: eth}",
    fix: "Add `sonic: {hwsku: ..., platform: ...}`, or remove `sonic` from `os`. For a system with other port names, add \
           `namings: {eos: slash}`.",
};

pub(crate) fn check(file: &File, source: SourceId, found: &mut Diagnostics) {
    let os = file.os.span(source);
    let runs = file.os.value.iter().any(|os| os.has_hwskus());
    if file.os.value.is_empty() {
        found.push(Diagnostic::error(&RULE, "`os` lists no target").at(os, "empty"));
    }
    match &file.sonic {
        None if runs => found.push(
            Diagnostic::error(&RULE, "`os` lists `sonic`, but there is no `sonic` section")
                .at(os, "lists `sonic`")
                .help("add `sonic: {hwsku: ..., platform: ...}`"),
        ),
        Some(section) if !runs => found.push(
            Diagnostic::error(&RULE, "there is a `sonic` section, but `os` does not list `sonic`")
                .at(section.span(source), "never used")
                .and(os, "does not list `sonic`"),
        ),
        Some(_) | None => {}
    }
    names(file, source, found);
}

/// Checks that every system has port names that it accepts.
fn names(file: &File, source: SourceId, found: &mut Diagnostics) {
    let place = file.os.span(source);
    for os in file.panel.namings.keys().filter(|os| !file.os.value.contains(os)) {
        let os = os.keyword();
        let message = format!("`namings` has port names for `{os}`, but `os` does not list `{os}`");
        found.push(Diagnostic::error(&RULE, message).at(place, format!("does not list `{os}`")));
    }
    for os in &file.os.value {
        let naming = file.panel.namings.get(os).copied().unwrap_or(file.panel.naming);
        let accepted = os.port_names();
        if accepted.is_empty() || accepted.iter().any(|name| name == naming.keyword()) {
            continue;
        }
        let os = os.keyword();
        let message = format!("`{os}` does not name its ports as `{}` does", naming.keyword());
        let known = format_list(accepted);
        let help = if file.os.value.len() > 1 {
            format!("add `namings: {{ {os}: NAMING }}` to `panel`, with one of {known}")
        } else {
            format!("set `naming` to one of {known}")
        };
        found.push(Diagnostic::error(&RULE, message).at(place, format!("lists `{os}`")).help(help));
    }
}
