//! E1008: a platform has SONiC's names if and only if SONiC runs on it.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule, SourceId};

use crate::PortNaming;
use crate::file::File;

pub(crate) static RULE: Rule = Rule {
    code: "E1008",
    title: "`sonic` and `os` do not match",
    condition: "A platform has a `sonic` section if, and only if, `os` lists `sonic`. It then uses SONiC's port \
           names. `os` lists at least one system.",
    impact: "SONiC selects lanes, buffers and SAI profile by hwsku and platform. Without them the switch does \
           not come up.",
    example: "os: [sonic]\npanel: {naming: eth}",
    fix: "Add `sonic: {hwsku: ..., platform: ...}`, or remove `sonic` from `os`.",
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
    let sonic_names = match file.panel.naming {
        PortNaming::SonicLane | PortNaming::SonicSlash | PortNaming::SonicForty => true,
        PortNaming::Eth
        | PortNaming::Device
        | PortNaming::Swp
        | PortNaming::Slash
        | PortNaming::Chassis { .. } => false,
    };
    if runs && !sonic_names {
        found.push(
            Diagnostic::error(&RULE, "SONiC's ports are named `EthernetN`, but `naming` sets other names")
                .at(os, "lists `sonic`")
                .help("set `naming` to `sonic_lane`, `sonic_slash` or `sonic_forty`"),
        );
    }
}
