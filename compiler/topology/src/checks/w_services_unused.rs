//! W0803: a setting has no effect on a target.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};
use closc_platform::Os;
use closc_platform::capability::{Capability, Support};

use crate::coordinate::TierId;
use crate::draft::{Draft, Hardware};
use crate::field;
use crate::field::Field;

/// A setting has no effect on a target.
pub(crate) static RULE: Rule = Rule {
    code: "W0803",
    title: "a setting has no effect on some switches",
    condition: "These settings, if set, are supported by every operating system in use: `services`, the \
           management settings of `addresses`, `addresses.loopbacks`, and `exceptions.isolated`. The same \
           applies to ports without a cable (`spare`, and T0 downlinks without a NIC).",
    impact: "Contrary to the file, such a switch has no time, sends no logs, has no address of its own, does \
           not shut a port, or cannot isolate a cable.",
    example: "services: { ntp: [\"2001:db8::1\"] }\n\
           qos: none\n\
           tiers: { t1: { os: frr } }",
    fix: "Configure it on these switches in another way, or remove the setting.",
};

/// A setting, the capability that it needs, and the tier that it concerns; `None` stands for all tiers.
type Setting = (Field, Capability, Option<TierId>);

/// Settings that only some targets render.
const SETTINGS: [Setting; 9] = [
    (field!("addresses.loopbacks"), Capability::Loopback, None),
    (field!("addresses.management"), Capability::Management, None),
    (field!("addresses.management_gateway"), Capability::Management, None),
    (field!("addresses.management_list"), Capability::Management, None),
    (field!("addresses.widths.index"), Capability::Management, None),
    (field!("services.ntp"), Capability::Services, None),
    (field!("services.syslog"), Capability::Services, None),
    (field!("services.snmp"), Capability::Services, None),
    (field!("exceptions.isolated"), Capability::Isolation, None),
];

/// Checks the settings that only some targets render.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    let stated = SETTINGS.into_iter().filter(|(path, ..)| draft.states(*path));
    for (path, capability, tier) in stated.chain(dark_ports(draft)) {
        for os in Os::ALL {
            let Support::Not(why) = os.support(capability) else { continue };
            let runs = |hardware: &&Hardware| {
                hardware.os == os
                    && hardware.platform.supports(os)
                    && tier.is_none_or(|tier| tier == hardware.tier)
            };
            let Some(hardware) = draft.hardware.iter().find(runs) else { continue };
            out.push(
                Diagnostic::warning(&RULE, format!("`{path}` has no effect on `{}` switches", os.keyword()))
                    .at(draft.at(path), "")
                    .and(hardware.os_span, format!("for {}", hardware.subject))
                    .note(format!("`{}`: {why}", os.keyword()))
                    .help(match capability {
                        Capability::SparePorts => "shut ports there in another way, or omit the setting",
                        Capability::Isolation => {
                            "drain cables of these switches instead (`exceptions.drained`)"
                        }
                        _ => "set it up there in another way",
                    }),
            );
        }
    }
}

/// Settings that configure ports without a cable: spare ports, and downlinks of T0s beyond the NICs of a group.
fn dark_ports(draft: &Draft<'_>) -> impl Iterator<Item = Setting> {
    let beyond = draft.t0.down.count.saturating_sub(draft.doc.hosts.per_group.value.into());
    let t2 = draft.t2.as_ref().map_or(0, |t2| t2.down.spare);
    let settings = [
        (TierId::T0, field!("tiers.t0.down.count"), beyond),
        (TierId::T0, field!("tiers.t0.down.spare"), draft.t0.down.spare),
        (TierId::T0, field!("tiers.t0.up.spare"), draft.t0.up.spare),
        (TierId::T1, field!("tiers.t1.down.spare"), draft.t1.down.spare),
        (TierId::T1, field!("tiers.t1.up.spare"), draft.t1.up.spare),
        (TierId::T2, field!("tiers.t2.down.spare"), t2),
    ];
    let dark = settings.into_iter().filter(|(.., ports)| *ports > 0);
    dark.map(|(tier, path, _)| (path, Capability::SparePorts, Some(tier)))
}

#[cfg(test)]
mod tests {
    use crate::testing::{codes, findings, message};

    #[test]
    fn settings_without_effect_are_named() {
        let frr = "qos: none, tiers: { t1: { os: frr } }";
        let ntp = "services: { ntp: [\"2001:db8::1\"] }";
        assert_eq!(codes(&format!("{{ {ntp} }}")), Vec::<&str>::new());
        assert_eq!(codes(&format!("{{ {frr}, {ntp} }}")), ["W0803"]);
        // The base fabric has a management pool.
        assert_eq!(
            message(&format!("{{ {frr} }}"), "W0803"),
            "`addresses.management` has no effect on `frr` switches"
        );
    }
    #[test]
    fn ports_without_a_cable_are_in_files_of_some_targets_only() {
        let named = |fragment: &str| -> Vec<String> {
            let found = findings(fragment);
            let ports =
                found.iter().filter(|found| found.rule.code == "W0803" && found.message.contains("tiers."));
            ports.map(|found| found.message.clone()).collect()
        };
        for (os, platform) in [("linux", "linux"), ("frr", "linux"), ("p4", "bmv2")] {
            let tiers = |t0: &str, t1: &str| {
                let tier = format!("platform: {platform}, os: {os}");
                named(&format!(
                    "{{ qos: none, hosts: {{ groups: 2, per_group: 4, nics_per_node: 2 }}, tiers: {{ t0: {{ {tier}{t0} }}, t1: {{ {tier}{t1} }} }} }}"
                ))
            };
            let no_effect = |path: &str| format!("`{path}` has no effect on `{os}` switches");
            assert_eq!(tiers("", ", down: { spare: 0 }"), Vec::<String>::new(), "{os}");
            assert_eq!(
                tiers(", up: { count: 128, spare: 1 }", ", down: { spare: 2 }"),
                [no_effect("tiers.t0.up.spare"), no_effect("tiers.t1.down.spare")]
            );
            assert_eq!(
                tiers(", down: { count: 5, spare: 1 }", ""),
                ["count", "spare"].map(|key| no_effect(&format!("tiers.t0.down.{key}")))
            );
        }
        assert_eq!(named("tiers: { t1: { down: { spare: 2 } } }"), Vec::<String>::new());
    }
}
