//! E0705: an MTU is smaller than IPv6 allows, or larger than the operating system supports.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};

use crate::draft::{Draft, Hardware};
use crate::field;

/// An MTU is smaller than IPv6 allows, or larger than the operating system supports.
pub(crate) static RULE: Rule = Rule {
    code: "E0705",
    title: "an MTU is out of range",
    condition: "`mtu.payload` is at least 1280. `mtu.link` is at most 9216 with SONiC and Cumulus Linux, and 9214 \
           with EOS.",
    impact: "IPv6 needs 1280 bytes on every link (RFC 8200 section 5). The operating systems reject a larger \
           port MTU.",
    example: "mtu: { link: 9500 }",
    fix: "Use a value inside the range.",
};

/// The minimum MTU of IPv6 (RFC 8200 section 5).
const IPV6_MIN: u16 = 1280;

/// Checks both MTUs.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    let (link, payload) = (draft.mtu.link, draft.mtu.payload);
    if payload < IPV6_MIN {
        let path =
            if draft.states(field!("mtu.payload")) { field!("mtu.payload") } else { field!("mtu.link") };
        out.push(
            Diagnostic::error(
                &RULE,
                format!("hosts could send {payload} bytes, but IPv6 needs at least {IPV6_MIN}"),
            )
            .at(draft.at(path), "")
            .set(
                [
                    (field!("mtu.payload").path(), IPV6_MIN.to_string()),
                    (field!("mtu.link").path(), (IPV6_MIN + 40).to_string()),
                ],
                format!(
                    "set `mtu.payload` to {IPV6_MIN} or more, and `mtu.link` to {} or more",
                    IPV6_MIN + 40
                ),
            ),
        );
    }
    let refused = |hardware: &Hardware| hardware.os.port_mtu_max().filter(|largest| link > *largest);
    let first = draft.hardware.iter().find_map(|hardware| Some((hardware, refused(hardware)?)));
    if let Some((hardware, largest)) = first {
        out.push(
            Diagnostic::error(
                &RULE,
                format!(
                    "links carry {link} bytes, but a port of `os: {}` carries at most {largest}",
                    hardware.os.keyword()
                ),
            )
            .at(draft.at(field!("mtu.link")), "")
            .and(hardware.os_span, format!("for {}", hardware.subject))
            .set(
                [(field!("mtu.link").path(), largest.to_string())],
                format!("set `mtu.link` to {largest} or less"),
            ),
        );
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{codes, message};

    #[test]
    fn targets_limit_the_mtu() {
        assert_eq!(codes("mtu: { link: 9500 }"), ["E0705"]);
        assert_eq!(codes("mtu: { payload: 1000 }"), ["E0705"]);
        assert_eq!(codes("mtu: { link: 1200 }"), ["E0705"]);
        assert_eq!(
            message("mtu: { link: 9500 }", "E0705"),
            "links carry 9500 bytes, but a port of `os: sonic` carries at most 9216"
        );
    }
}
