//! E0716: closc does not render this QoS profile for an operating system that runs on hardware.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};
use closc_platform::capability::{Capability, Support};
use closc_platform::{Catalogue, Os, Platform};
use closc_qos::profile::Profile;

use crate::checks::words::and;
use crate::draft::{Draft, Hardware};
use crate::field;

/// For an operating system that runs on hardware, closc does not render this QoS profile.
pub(crate) static RULE: Rule = Rule {
    code: "E0716",
    title: "the target does not support the QoS profile",
    condition: "closc renders all settings of the QoS profile for the operating system of every hardware switch. \
           `qos: none` has none. `closc explain targets` lists the support of each target. On hardware, \
           kernel queues (FRR) do not count, because forwarded packets do not pass them. Settings that the \
           site must add have a warning, W0712.",
    impact: "Packets would be marked, paused and trimmed by the other switches and not by this one. A lossless \
           fabric would lose packets there, and one that trims would drop them silently.",
    example: "tiers: { t1: { os: frr } }",
    fix: "Use an operating system that the message names, or set `qos: none` if you need no QoS.",
};

/// Checks every kind of switch; software has a warning of its own.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    let Ok(profile) = &draft.qos else { return };
    for hardware in draft.hardware.iter().filter(|hardware| !hardware.platform.is_software()) {
        // Another rule reports a system that does not run on the platform.
        if !hardware.platform.supports(hardware.os) {
            continue;
        }
        let (_, lost) = hardware.os.lost_hardware_capabilities(profile);
        if !lost.is_empty() {
            out.push(refusal(draft, profile, hardware, &lost));
        }
    }
}

fn refusal(draft: &Draft<'_>, profile: &Profile, hardware: &Hardware, lost: &[Capability]) -> Diagnostic {
    let os = hardware.os.keyword();
    let asked = and(lost.iter().map(|capability| capability.description()));
    let message =
        format!("QoS profile `{}` requires {asked}, which closc does not render for `{os}`", profile.name());
    let diagnostic =
        Diagnostic::error(&RULE, message).at(hardware.os_span, format!("for {}", hardware.subject));
    let diagnostic = if draft.states(field!("qos")) {
        diagnostic.and(draft.at(field!("qos")), "required here")
    } else {
        diagnostic.note(format!("`{}` is the default profile", profile.name()))
    };
    let why = match hardware.os.support(lost[0]) {
        Support::Not(why) | Support::Part(why) => diagnostic.note(format!("`{os}`: {why}")),
        Support::Whole => diagnostic.note(format!(
            "`{os}`: closc writes queues of the kernel, and on `{}` the chip queues packets",
            hardware.platform.id
        )),
    };
    why.help(suggest_system(draft.catalogue, profile, &hardware.platform))
}

/// Names a system that renders the profile on this hardware, or else hardware that has such a system.
fn suggest_system(catalogue: &Catalogue, profile: &Profile, platform: &Platform) -> String {
    let whole = |os: &&Os| os.lost_hardware_capabilities(profile).1.is_empty();
    if let Some(os) = platform.oses.iter().find(whole) {
        return format!("use `os: {}`, or set `qos: none`", os.keyword());
    }
    let near = catalogue
        .iter()
        .filter(|other| !other.derived && !other.is_software() && other.oses.iter().any(|os| whole(&os)))
        .filter(|other| other.features.pfc || !profile.is_lossless())
        .filter(|other| other.features.trimming || profile.trimming().is_none())
        .min_by_key(|other| other.panel.cages.abs_diff(platform.panel.cages));
    match near {
        Some(other) => format!(
            "no operating system of `{}` supports this: use another platform, for example `{}`, or set `qos: none`",
            platform.id, other.id
        ),
        None => "set `qos: none`".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{codes, message};

    const LOSSLESS: &str = "qos: lossless, cables: { nic-t0: { length: 3m }, t0-t1: { length: 30m } }";

    #[test]
    fn what_would_be_dropped_is_refused() {
        assert!(codes("tiers: { t1: { os: frr } }").contains(&"E0716"));
        assert!(codes(&format!("{{ {LOSSLESS}, tiers: {{ t1: {{ os: frr }} }} }}")).contains(&"E0716"));
        assert!(!codes("{ qos: none, tiers: { t1: { os: frr } } }").contains(&"E0716"));
        assert_eq!(codes("{ qos: none }"), Vec::<&str>::new());
        let changed = |value: &str| {
            let qos = format!("qos: {{ base: none, classes: {{ data: {{ {value} }} }} }}");
            codes(&format!("{{ {qos}, tiers: {{ t1: {{ os: frr }} }} }}"))
        };
        for value in
            ["tc: 3", "queue: 3", "scheduler: { dwrr: 50 }", "ingress_threshold: 1", "egress_threshold: 1"]
        {
            assert!(changed(value).contains(&"E0716"), "{value}");
        }
        assert_eq!(
            message("tiers: { t0: { by_plane: { 1: { os: frr } } } }", "E0716"),
            "QoS profile `lossy-trim` requires traffic classes, scheduler weights, buffer thresholds, ECN marking \
             and packet trimming, which closc does not render for `frr`"
        );
        assert_eq!(
            message(&format!("{{ {LOSSLESS}, tiers: {{ t1: {{ os: frr }} }} }}"), "E0716"),
            "QoS profile `lossless` requires traffic classes, scheduler weights, buffer thresholds, PFC, the PFC \
             watchdog and ECN marking, which closc does not render for `frr`"
        );
    }
}
