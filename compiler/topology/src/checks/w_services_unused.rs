//! W0803: a setting has no effect on a target.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};
use closc_platform::Os;
use closc_platform::capability::{Capability, Support};

use crate::draft::{Draft, Hardware};
use crate::field;

/// A setting has no effect on a target.
pub(crate) static RULE: Rule = Rule {
    code: "W0803",
    title: "a setting has no effect on some switches",
    what: "Servers (`services`), management addresses and their gateway (`addresses.management`, `management_gateway`) \
           and loopbacks (`addresses.loopbacks`) are rendered for every operating system in use.",
    why: "Such a switch keeps no time, sends no logs or has no address of its own, and the file says that it does.",
    example: "services: { ntp: [\"2001:db8::1\"] }\n\
           qos: none\n\
           tiers: { t1: { os: frr } }",
    fix: "Set it up on these switches in another way, or leave it out.",
};

/// Checks the settings that only some targets render.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    let settings = [
        (field!("addresses.loopbacks"), Capability::Loopback),
        (field!("addresses.management"), Capability::Management),
        (field!("addresses.management_gateway"), Capability::Management),
        (field!("services.ntp"), Capability::Services),
        (field!("services.syslog"), Capability::Services),
        (field!("services.snmp"), Capability::Services),
    ];
    for (path, capability) in settings.into_iter().filter(|(path, _)| draft.states(*path)) {
        for os in Os::ALL {
            let Support::Not(why) = os.support(capability) else { continue };
            let runs = |hardware: &&Hardware| hardware.os == os && hardware.platform.supports(os);
            let Some(hardware) = draft.hardware.iter().find(runs) else { continue };
            out.push(
                Diagnostic::warning(&RULE, format!("`{path}` has no effect on `{}` switches", os.word()))
                    .at(draft.at(path), "")
                    .and(hardware.os_span, format!("for {}", hardware.who))
                    .note(format!("`{}`: {why}", os.word()))
                    .help("set it up there in another way"),
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{codes, message};

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
}
