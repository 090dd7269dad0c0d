//! W0709: a watchdog that counts polls cannot act at the stated times.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};
use closc_qos::Nanoseconds;

use crate::draft::Draft;
use crate::field;

/// A watchdog that counts polls cannot act at the stated times.
pub(crate) static RULE: Rule = Rule {
    code: "W0709",
    title: "the watchdog uses times other than the stated ones",
    condition: "The PFC watchdog of NVUE measures time in polls. Its restoration time is a supported poll \
           interval, 100 ms to 5 s. Its detection time is a multiple of the restoration time.",
    impact: "The watchdog polls once per restoration time. Any other detection time is rounded up to a multiple \
           of it. Any other restoration time becomes the nearest supported value.",
    example: "routing: ecmp-static\n\
              qos: { base: lossless, watchdog: { detection: 500ms, restoration: 400ms } }\n\
              hosts: { nic: { speed: 800G, lanes: 8 } }\n\
              tiers:\n\
              \x20 t0: { platform: spectrum4-sn5600, os: nvue, up: 128 }\n\
              \x20 t1: { platform: spectrum4-sn5600, os: nvue }\n\
              cables: { nic-t0: { length: 3m }, t0-t1: { length: 30m } }",
    fix: "Set a restoration time of 100 ms to 5 s, and a detection time that is a multiple of it.",
};

/// Checks every kind of switch, with the watchdog times for the number of ports of its panel.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    let Ok(profile) = &draft.qos else { return };
    let Some(watchdog) = profile.watchdog() else { return };
    let mut said = Vec::new();
    for hardware in draft.hardware.iter().filter(|hardware| hardware.platform.supports(hardware.os)) {
        let Some(looks) = hardware.os.watchdog_poll_millis() else { continue };
        let ports = hardware.breakouts().map(|breakout| hardware.platform.ports_max(breakout)).max();
        let times = watchdog.times(ports.unwrap_or_default().into());
        let (detection, restoration) = (times.detection, times.restoration);
        let millis = |time: Nanoseconds| time.millis_ceil();
        let poll = millis(restoration).clamp(u64::from(*looks.start()), u64::from(*looks.end()));
        let acts = millis(detection).div_ceil(poll) * poll;
        if (poll, acts) == (millis(restoration), millis(detection)) || said.contains(&hardware.os) {
            continue;
        }
        said.push(hardware.os);
        let os = hardware.os.keyword();
        let message = format!(
            "the watchdog of `{os}` acts after {acts} ms and recovers after {poll} ms, not {} and {} ms",
            millis(detection),
            millis(restoration)
        );
        out.push(
            Diagnostic::warning(&RULE, message)
                .at(draft.at(field!("qos")), "")
                .and(hardware.os_span, format!("for {}", hardware.subject))
                .help(format!(
                    "set a `restoration` of {} to {} ms and a `detection` that is a multiple of it",
                    looks.start(),
                    looks.end()
                )),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::{codes, message};

    #[test]
    fn times_are_multiples() {
        assert_eq!(
            message(RULE.example, "W0709"),
            "the watchdog of `nvue` acts after 800 ms and recovers after 400 ms, not 500 and 400 ms"
        );
        assert!(!codes(&RULE.example.replace("500ms", "800ms")).contains(&"W0709"));
        assert!(!codes(&RULE.example.replace("nvue", "sonic")).contains(&"W0709"));
    }
}
