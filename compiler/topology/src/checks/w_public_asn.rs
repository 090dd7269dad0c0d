//! W0501: AS numbers are outside of the private range.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};

use crate::checks::asn_range::SPREAD;
use crate::draft::Draft;
use crate::field;

/// AS numbers are outside of the private range.
pub(crate) static RULE: Rule = Rule {
    code: "W0501",
    title: "AS numbers are not private",
    condition: "With `routing: bgp-unnumbered` the AS numbers of all switches are private (RFC 6996).",
    impact: "AS numbers of other organisations are harmless only while no route leaves the fabric.",
    example: "routing: bgp-unnumbered\n\
           addresses: { asn_base: 100000 }",
    fix: "Set `addresses.asn_base` to 4200000000, unless the numbers are yours.",
};

/// First private 32-bit number (RFC 6996 section 5).
const PRIVATE: u32 = 4_200_000_000;

/// First private 16-bit number.
const PRIVATE_SHORT: u32 = 64_512;
const PRIVATE_SHORT_LAST: u32 = 65_534;

/// Checks the first number. Another rule checks the end of the range.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    let base = draft.addresses.asn_base;
    if !draft.routing.speaks_bgp() || base >= PRIVATE {
        return;
    }
    let last = u64::from(base) + SPREAD;
    // There are private 16-bit numbers, too, but far fewer than a fabric's range of numbers needs.
    let message = if (PRIVATE_SHORT..=PRIVATE_SHORT_LAST).contains(&base) {
        format!(
            "AS numbers from {base} to {last} exceed the private range, which ends at {PRIVATE_SHORT_LAST}"
        )
    } else {
        format!("AS numbers from {base} on are not private")
    };
    out.push(Diagnostic::warning(&RULE, message).at(draft.at(field!("addresses.asn_base")), "").set(
        [(field!("addresses.asn_base").path(), PRIVATE.to_string())],
        format!("set `addresses.asn_base` to {PRIVATE} unless these numbers are yours"),
    ));
}

#[cfg(test)]
mod tests {
    use crate::testing::{codes, message};

    #[test]
    fn private_numbers_are_preferred() {
        assert!(codes("{ routing: bgp-unnumbered, addresses: { asn_base: 100000 } }").contains(&"W0501"));
        assert!(!codes("routing: bgp-unnumbered").contains(&"W0501"));
        assert_eq!(
            message("{ routing: bgp-unnumbered, addresses: { asn_base: 100000 } }", "W0501"),
            "AS numbers from 100000 on are not private"
        );
        assert_eq!(
            message("{ routing: bgp-unnumbered, addresses: { asn_base: 64600 } }", "W0501"),
            "AS numbers from 64600 to 50396247 exceed the private range, which ends at 65534"
        );
    }
}
