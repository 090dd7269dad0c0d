//! Services of the switch in table `FEATURE`. Services that packets and table entries depend on must run.

use serde::Deserialize;

use super::place::FILE;
use crate::model::device::{Device, FaultKind};
use crate::model::place::Fact;
use crate::read::json::Str;

/// Required services, each with its purpose.
const REQUIRED: [(&str, &str); 5] = [
    ("bgp", ROUTES),
    ("database", "no other service reads its configuration without it"),
    ("pmon", "no optical module is set up without it"),
    ("swss", ROUTES),
    ("syncd", ROUTES),
];

const ROUTES: &str = "no route reaches the hardware without it";

/// The service that writes the table entries of a controller.
const ENTRIES: (&str, &str) = ("p4rt", "no entry reaches the hardware without it");

/// Conditions in `init_cfg.json.j2` of sonic-buildimage that are false on a switch with ports and without line cards.
const FALSE: [&str; 2] = [
    "not DEVICE_RUNTIME_METADATA['ETHERNET_PORTS_PRESENT']",
    "not DEVICE_RUNTIME_METADATA['ETHERNET_PORTS_PRESENT'] or ('CHASSIS_METADATA' in DEVICE_RUNTIME_METADATA \
     and DEVICE_RUNTIME_METADATA['CHASSIS_METADATA']['module_type'] in ['supervisor'])",
];

/// A service of the switch. Sites may choose the other fields of its row freely.
#[derive(Deserialize)]
pub(super) struct ServiceRow<'a> {
    #[serde(borrow)]
    state: Option<Str<'a>>,
}

/// Judges a service.
pub(super) fn judge(name: &str, row: &ServiceRow<'_>, device: &mut Device<'_>) {
    let entries = Some(ENTRIES).filter(|_| device.language.name == "pins");
    let required = REQUIRED.into_iter().chain(entries).find(|(service, _)| *service == name);
    let Some((_, purpose)) = required else { return };
    let Some(state) = row.state.as_ref().filter(|state| !runs(&state.0)) else { return };
    let fact = Fact::Path(vec!["FEATURE".into(), name.into(), "state".into()]);
    let message = format!("service `{name}` is `{}`, but {purpose}", state.0);
    device.fault(FaultKind::Setting, FILE, fact, message);
}

/// Returns whether a service with a configured state runs. If the state is a condition, the switch evaluates it.
fn runs(state: &str) -> bool {
    if matches!(state, "enabled" | "always_enabled") {
        return true;
    }
    let parts = || {
        let (condition, rest) = state.strip_prefix("{% if ")?.split_once(" %}")?;
        let (then, rest) = rest.split_once("{% else %}")?;
        Some((condition, then, rest.strip_suffix("{% endif %}")?))
    };
    let plain = |state: &str| !state.contains("{%") && runs(state);
    parts()
        .is_some_and(|(condition, then, other)| plain(other) && (plain(then) || FALSE.contains(&condition)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_with_a_condition_is_rendered() {
        for (state, expected) in [
            ("enabled", true),
            ("always_enabled", true),
            ("disabled", false),
            ("", false),
            ("{% if x %}enabled{% else %}always_enabled{% endif %}", true),
            ("{% if x %}enabled{% else %}disabled{% endif %}", false),
            ("{% if x %}disabled{% else %}enabled{% endif %}", false),
            ("{% if true %}disabled{% endif %}", false),
            ("{% if x %}enabled{% endif %}", false),
            ("disabled{% if x %}enabled{% else %}enabled{% endif %}", false),
        ] {
            assert_eq!(runs(state), expected, "{state}");
        }
        for condition in FALSE {
            let state = |then: &str, other: &str| {
                format!("{{% if {condition} %}}{then}{{% else %}}{other}{{% endif %}}")
            };
            assert!(runs(&state("disabled", "enabled")));
            assert!(!runs(&state("enabled", "disabled")));
        }
    }
}
