//! W0708: a buffer threshold has no effect, or is set to the nearest that the switch takes.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};
use closc_platform::capability::{Capability, Support};
use closc_qos::codes::DynamicThreshold;
use closc_qos::profile::Profile;

use crate::checks::words::and;
use crate::draft::Draft;
use crate::field;

/// A buffer threshold has no effect, or is set to the nearest that the switch takes.
pub(crate) static RULE: Rule = Rule {
    code: "W0708",
    title: "a buffer threshold is not set as it is stated",
    what: "Every operating system and chip in use takes the thresholds of all classes: EOS takes 1/128 to 8, as -7 to 3, on \
           Tomahawk, and none on Jericho and Qumran. NVUE takes 1/128 to 64 and no limit, as -7 to 7, and where packets come in \
           one for all lossless classes and one for all others.",
    why: "A queue may take another share of the buffer there than on other switches of the fabric, and one that never drops \
          elsewhere has a limit.",
    example: "routing: ecmp-static\n\
              qos: lossless\n\
              tiers: { t1: { os: eos } }\n\
              cables: { nic-t0: { length: 3m }, t0-t1: { length: 30m } }",
    fix: "State thresholds that the message names for the classes that it names; on Jericho and Qumran look at what EOS does \
          (`show qos interfaces`, `show platform sand mmu`).",
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
        let os = os.word();
        let (message, help) = if hardware.platform.has_virtual_queues() {
            let message = format!(
                "buffer thresholds and headroom of `{}` are left to `{os}` on `{id}`",
                profile.name()
            );
            (message, "fine where the switch divides its deep buffer as you like".to_owned())
        } else {
            let beyond = beyond(profile, &taken);
            if beyond.is_empty() {
                continue;
            }
            let (least, most) = taken.into_inner();
            let help = format!("state thresholds from {least} to {most}");
            (format!("{beyond} set to the nearest that `{os}` takes on `{id}`"), help)
        };
        out.push(
            Diagnostic::warning(&RULE, message)
                .at(draft.at(field!("qos")), "")
                .and(hardware.os_span, format!("for {}", hardware.who))
                .note(format!("`{os}`: {why}"))
                .help(help),
        );
    }
}

/// Tells whether the profile asks for thresholds at all.
fn os_is_asked(profile: &Profile) -> bool {
    closc_platform::capability::asked(profile).contains(&Capability::Thresholds)
}

/// Names the thresholds that are not taken; nothing where all are.
fn beyond(profile: &Profile, taken: &std::ops::RangeInclusive<i8>) -> String {
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
        let text = "`egress_threshold` 7 of `data` is set to the nearest that `eos` takes on `th5-256x200g`";
        assert_eq!(message(RULE.example, "W0708"), text);
        let taken = "{ routing: ecmp-static, qos: { base: lossless, classes: { data: { egress_threshold: 3 } } }, \
                     tiers: { t1: { os: eos } }, cables: { nic-t0: { length: 3m }, t0-t1: { length: 30m } } }";
        assert!(!codes(taken).contains(&"W0708"));
        assert!(!codes(&RULE.example.replace("os: eos", "os: sonic")).contains(&"W0708"));
    }
}
