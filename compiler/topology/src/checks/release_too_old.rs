//! E0217: a setting needs a later release of an operating system.

use closc_artefacts::Routing;
use closc_diagnostics::{Diagnostic, Diagnostics, Rule};
use closc_platform::capability::{Capability, required_capabilities};

use crate::draft::Draft;
use crate::field;

/// A setting needs a later release of an operating system.
pub(crate) static RULE: Rule = Rule {
    code: "E0217",
    title: "the release is too old for a setting",
    condition: "The release of every operating system in use supports `routing` and `qos`. `nvue` supports SRv6 \
           segments and packet trimming from 5.14, and the BGP keys that closc writes from 5.15. `sonic` supports \
           SRv6 segments and packet trimming from 202505, and trimming on the Arista 7060X6-64PE-B from 202511.",
    impact: "The older release lacks the key or has it elsewhere, and rejects the whole file.",
    example: "releases: { nvue: \"5.13\" }\n\
              hosts: { nic: { speed: 800G, lanes: 8 } }\n\
              tiers:\n\
              \x20 t0: { platform: spectrum4-sn5600, os: nvue, up: 128 }\n\
              \x20 t1: { platform: spectrum4-sn5600, os: nvue }",
    fix: "Set the later release once the switches run it, or choose another routing mode and QoS profile.",
};

/// Checks every kind of switch.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    let mut wanted: Vec<(Capability, Option<closc_diagnostics::Span>)> = Vec::new();
    let routing = match draft.routing {
        Routing::Srv6Static => Some(Capability::Segments),
        Routing::BgpUnnumbered => Some(Capability::Bgp),
        Routing::EcmpStatic => None,
    };
    wanted.extend(routing.map(|capability| (capability, draft.stated_span(field!("routing")))));
    if let Ok(profile) = &draft.qos {
        wanted.extend(
            required_capabilities(profile)
                .into_iter()
                .map(|capability| (capability, draft.stated_span(field!("qos")))),
        );
    }
    for hardware in draft.hardware.iter().filter(|hardware| hardware.platform.supports(hardware.os)) {
        let Some((release, span)) = draft.release(hardware.os) else { continue };
        for (capability, asks) in &wanted {
            let of_system = hardware.os.releases().and_then(|releases| releases.since(*capability));
            let since = of_system.max(hardware.capability_since(*capability));
            let os = hardware.os.keyword();
            let what = capability.description();
            let on =
                if since == of_system { String::new() } else { format!(" on `{}`", hardware.platform.id) };
            let since = since.filter(|since| release < *since);
            let Some(since) = since else { continue };
            let diagnostic =
                Diagnostic::error(&RULE, format!("`{os}` {release} does not support {what}{on}"));
            let diagnostic = match span {
                Some(span) => diagnostic.at(span, format!("supported since {since}")),
                None => diagnostic.at(hardware.os_span, format!("supported since {since}")),
            };
            let diagnostic = match asks {
                Some(asks) => diagnostic.and(*asks, "requires it"),
                None => diagnostic.note("required by a default of the fabric file"),
            };
            out.push(
                diagnostic
                    .and(hardware.os_span, format!("for {}", hardware.subject))
                    .help(format!("use {since} or later")),
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::{codes, findings, message};

    /// SONiC has supported SRv6 tables and trimming since 202505. The SDK file of the 7060X6-64PE-B has had the queue
    /// since 202511.
    #[test]
    fn sonic_is_refused_what_its_branch_lacks() {
        let of = |release: &str, more: &str| {
            let found = findings(&format!("{{ releases: {{ sonic: {release} }}{more} }}"));
            let found = found.iter().filter(|finding| finding.rule.code == "E0217");
            found.map(|finding| finding.message.clone()).collect::<Vec<_>>()
        };
        let segments = "`sonic` 202411 does not support uN segments".to_owned();
        // One for each tier.
        assert_eq!(of("202411", ", qos: none"), [segments.clone(), segments]);
        assert!(of("202505", ", qos: none").is_empty());
        assert!(of("202505", ", qos: lossy-trim").is_empty());
        assert!(
            of("202411", ", qos: lossy-trim")
                .contains(&"`sonic` 202411 does not support packet trimming".to_owned())
        );
        let queue =
            ", qos: lossy-trim, tiers: { t0: { platform: th5-512x100g, down: { breakout: 8x100G } } }";
        let refused = "`sonic` 202505 does not support packet trimming on `th5-512x100g`".to_owned();
        assert!(of("202505", queue).contains(&refused), "{:?}", of("202505", queue));
        assert!(of("202511", queue).is_empty());
        assert!(of("202511", ", qos: lossy-trim").is_empty());
    }

    #[test]
    fn what_came_later_is_refused() {
        assert_eq!(message(RULE.example, "E0217"), "`nvue` 5.13 does not support uN segments");
        assert!(!codes(&RULE.example.replace("5.13", "5.14")).contains(&"E0217"));
        let bgp = format!("routing: bgp-unnumbered\n{}", RULE.example.replace("5.13", "5.14"));
        assert_eq!(message(&bgp, "E0217"), "`nvue` 5.14 does not support BGP");
    }
}
