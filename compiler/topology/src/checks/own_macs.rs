//! E0215: P4 targets are combined with a switch whose MAC address is not known in advance.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};

use crate::draft::Draft;

/// P4 targets are combined with a switch whose MAC address is not known in advance.
pub(crate) static RULE: Rule = Rule {
    code: "E0215",
    title: "a P4 target cannot resolve MAC addresses",
    condition: "A fabric with P4 targets has no switches that use their manufacturer's MAC address, as EOS and \
           Cumulus Linux do.",
    impact: "Table entries of a next hop contain a MAC address, and a pipeline without a control plane cannot \
           resolve it.",
    example: "routing: ecmp-static\n\
              qos: none\n\
              tiers:\n\
              \x20 t0: { platform: bmv2, os: p4, up: 128, down: { breakout: 1x400G } }\n\
              \x20 t1: { os: eos }",
    fix: "Combine P4 targets only with switches that use the planned MAC address, such as `sonic`, `frr` and \
           `linux`.",
};

/// Checks that P4 targets are not combined with switches that keep their factory MAC address.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    let of = |wanted: fn(closc_platform::Os) -> bool| {
        draft.hardware.iter().find(|own| own.platform.supports(own.os) && wanted(own.os))
    };
    let programmed = of(closc_platform::Os::is_programmed);
    let (Some(programmed), Some(other)) = (programmed, of(closc_platform::Os::has_own_macs)) else { return };
    let (os, with) = (other.os.keyword(), programmed.os.keyword());
    out.push(
        Diagnostic::error(
            &RULE,
            format!("`{with}` entries need MAC addresses, but `{os}` keeps its factory addresses"),
        )
        .at(programmed.os_span, format!("for {}", programmed.subject))
        .and(other.os_span, format!("for {}", other.subject))
        .help("use `sonic`, `frr` or `linux` beside P4 targets"),
    );
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::{codes, message};

    #[test]
    fn what_cannot_ask_is_not_beside_what_must_be_asked() {
        assert_eq!(
            message(RULE.example, "E0215"),
            "`p4` entries need MAC addresses, but `eos` keeps its factory addresses"
        );
        assert!(!codes(&RULE.example.replace("os: eos", "os: sonic")).contains(&"E0215"));
    }
}
