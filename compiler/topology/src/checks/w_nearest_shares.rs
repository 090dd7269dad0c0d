//! W0708: a buffer threshold has no effect, or is set to the nearest value that the switch accepts.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};
use closc_platform::capability::{Capability, Support};
use closc_qos::codes::DynamicThreshold;
use closc_qos::profile::{Class, Profile};

use crate::checks::words::and;
use crate::draft::Draft;
use crate::field;

/// A buffer threshold has no effect, or is set to the nearest value that the switch accepts.
pub(crate) static RULE: Rule = Rule {
    code: "W0708",
    title: "a buffer threshold cannot be set as stated",
    condition: "Every operating system and chip in use supports the thresholds of all classes. EOS supports 1/128 \
           to 8 (-7 to 3) on Tomahawk, and none on Jericho and Qumran. NVUE supports 1/128 to 64 (-7 to 6), \
           and no limit (7). On ingress it has one threshold for all lossless classes and one for all \
           others. On egress it has one for all lossless classes: the largest.",
    impact: "On these switches, a queue gets a different share of the buffer than on others, or a limit that \
           it does not have on others.",
    example: "routing: ecmp-static\n\
              qos: lossless\n\
              tiers: { t1: { os: eos } }\n\
              cables: { nic-t0: { length: 3m }, t0-t1: { length: 30m } }",
    fix: "Set the thresholds that the message names for these classes. On Jericho and Qumran, check the \
           effective values (`show qos interfaces`, `show platform sand mmu`).",
};

/// Checks every platform that runs a system with a limit.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    let Ok(profile) = &draft.qos else { return };
    let mut said = Vec::new();
    for hardware in draft.hardware.iter().filter(|hardware| hardware.platform.buffer.is_some()) {
        let (id, os) = (&hardware.platform.id, hardware.os);
        let Support::Part(why) = os.support(Capability::Thresholds) else { continue };
        if !hardware.platform.supports(os) || said.contains(id) || !os_is_asked(profile) {
            continue;
        }
        said.push(id.clone());
        let taken = os.thresholds_taken().unwrap_or(i8::MIN..=i8::MAX);
        let os = os.keyword();
        let (message, help) = if hardware.platform.has_virtual_queues() {
            let message = format!(
                "buffer thresholds and headroom of `{}` have no effect: `{os}` sets them itself on `{id}`",
                profile.name()
            );
            (message, "check the effective values on the switch".to_owned())
        } else {
            let shared =
                if hardware.os.shares_thresholds() { differing_thresholds(profile) } else { Vec::new() };
            for (name, largest, classes) in shared {
                let message = format!(
                    "`{name}` of {classes} is {largest} on `{os}`, which has one threshold for all of them"
                );
                out.push(
                    Diagnostic::warning(&RULE, message)
                        .at(draft.at(field!("qos")), "")
                        .and(hardware.os_span, format!("for {}", hardware.subject))
                        .note(format!("`{os}`: {why}"))
                        .help(format!("set `{name}: {largest}` for all of them")),
                );
            }
            let beyond = thresholds_outside(profile, &taken);
            if beyond.is_empty() {
                continue;
            }
            let (least, most) = taken.into_inner();
            let help = format!("set thresholds from {least} to {most}");
            (format!("{beyond} set to the nearest value that `{os}` supports on `{id}`"), help)
        };
        out.push(
            Diagnostic::warning(&RULE, message)
                .at(draft.at(field!("qos")), "")
                .and(hardware.os_span, format!("for {}", hardware.subject))
                .note(format!("`{os}`: {why}"))
                .help(help),
        );
    }
}

/// Returns whether the profile asks for thresholds.
fn os_is_asked(profile: &Profile) -> bool {
    closc_platform::capability::required_capabilities(profile).contains(&Capability::Thresholds)
}

/// Returns a threshold of a class.
type ThresholdField = fn(&Class) -> DynamicThreshold;

/// Thresholds that classes must share but that differ: their name, the largest, and the classes that have a smaller
/// one.
fn differing_thresholds(profile: &Profile) -> Vec<(&'static str, DynamicThreshold, String)> {
    let kinds: [(&str, bool, ThresholdField); 3] = [
        ("ingress_threshold", true, |class| class.ingress_threshold),
        ("egress_threshold", true, |class| class.egress_threshold),
        ("ingress_threshold", false, |class| class.ingress_threshold),
    ];
    let unlike = |(name, pauses, of): (&'static str, bool, ThresholdField)| {
        let classes: Vec<&Class> = profile.classes().filter(|class| class.pfc == pauses).collect();
        let largest = classes.iter().map(|class| of(class)).max_by_key(|threshold| threshold.get())?;
        let others = classes.iter().filter(|class| of(class) != largest);
        let names: Vec<String> = others.map(|class| format!("`{}`", class.name)).collect();
        (!names.is_empty()).then(|| (name, largest, and(names.iter().map(String::as_str))))
    };
    kinds.into_iter().filter_map(unlike).collect()
}

/// Names the thresholds outside the range; empty if there are none.
fn thresholds_outside(profile: &Profile, taken: &std::ops::RangeInclusive<i8>) -> String {
    let outside = |threshold: DynamicThreshold| !taken.contains(&threshold.get());
    let named = profile.classes().flat_map(|class| {
        let of = |what: &str, threshold: DynamicThreshold| {
            outside(threshold).then(|| format!("`{what}` {threshold} of `{}`", class.name))
        };
        [of("ingress_threshold", class.ingress_threshold), of("egress_threshold", class.egress_threshold)]
    });
    let named: Vec<String> = named.flatten().collect();
    match named.len() {
        0 => String::new(),
        1 => format!("{} is", named[0]),
        _ => format!("{} are", and(named.iter().map(String::as_str))),
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::{codes, message};

    #[test]
    fn what_is_set_otherwise_is_named() {
        let text = "`egress_threshold` 7 of `data` is set to the nearest value that `eos` supports on `box-256x200g`";
        assert_eq!(message(RULE.example, "W0708"), text);
        let taken = "{ routing: ecmp-static, qos: { base: lossless, classes: { data: { egress_threshold: 3 } } }, \
                     tiers: { t1: { os: eos } }, cables: { nic-t0: { length: 3m }, t0-t1: { length: 30m } } }";
        assert!(!codes(taken).contains(&"W0708"));
        assert!(!codes(&RULE.example.replace("os: eos", "os: sonic")).contains(&"W0708"));
        let shared = |threshold| {
            format!(
                "{{ qos: {{ base: lossy-trim, classes: {{ control: {{ priority_group: 1, ingress_threshold: {threshold} }} }} }}, \
                 hosts: {{ nic: {{ speed: 800G, lanes: 8 }} }}, \
                 tiers: {{ t0: {{ platform: spectrum4-sn5600, os: nvue, up: 128 }}, \
                 t1: {{ platform: spectrum4-sn5600, os: nvue }} }} }}"
            )
        };
        let text = "`ingress_threshold` of `control` is 3 on `nvue`, which has one threshold for all of them";
        assert_eq!(message(&shared(1), "W0708"), text);
        assert!(!codes(&shared(3)).contains(&"W0708"));
    }
}
