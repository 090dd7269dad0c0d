//! E0709: the UDP port of the transport is 0.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};

use crate::draft::Draft;
use crate::field;

/// The UDP port of the transport is 0.
pub(crate) static RULE: Rule = Rule {
    code: "E0709",
    title: "the UDP port is 0",
    condition: "`entropy.udp_port` is not 0.",
    impact: "Port 0 is reserved; NICs drop packets to it.",
    example: "entropy: { udp_port: 0 }",
    fix: "Use 4791 (RoCEv2), or the port of your transport.",
};

/// Checks the port.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    if !draft.routing.is_source_routed() {
        return; // Other routing modes have no path tables (W0403).
    }
    if draft.entropy.udp_port == 0 {
        out.push(
            Diagnostic::error(&RULE, "the UDP port of the transport is 0, which is reserved")
                .at(draft.at(field!("entropy.udp_port")), "")
                .help("use 4791 (RoCEv2), or the port that your transport is configured with"),
        );
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{codes, message};

    #[test]
    fn port_zero_is_reserved() {
        assert_eq!(codes("entropy: { udp_port: 0 }"), ["E0709"]);
        assert_eq!(codes("entropy: { udp_port: 4971 }"), Vec::<&str>::new());
        assert_eq!(
            message("entropy: { udp_port: 0 }", "E0709"),
            "the UDP port of the transport is 0, which is reserved"
        );
    }
}
