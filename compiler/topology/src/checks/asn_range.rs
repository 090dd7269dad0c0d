//! E0506: some AS numbers are reserved or do not fit 32 bits.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};

use crate::draft::Draft;
use crate::field;

/// Some AS numbers are reserved or do not fit 32 bits.
pub(crate) static RULE: Rule = Rule {
    code: "E0506",
    title: "AS numbers are out of range",
    condition: "With `routing: bgp-unnumbered`, the AS numbers of all switches are between 1 and 4294967294, and \
           none is 23456 or 65535.",
    impact: "0, 65535 and 4294967295 are reserved (RFC 7607, RFC 7300), and 23456 represents 32-bit numbers \
           (RFC 6793). Sessions with them do not come up.",
    example: "routing: bgp-unnumbered\n\
           addresses: { asn_base: 4294967000 }",
    fix: "Set `addresses.asn_base` to 4200000000, or to the first of 50,331,648 consecutive free numbers.",
};

/// Difference between the last and the first AS number: two bits of tier, then 24 of plane, zone and index.
pub(super) const SPREAD: u64 = 2 << 24 | 0xff_ffff;
/// The last number that can be assigned (RFC 7300).
const LAST: u64 = 4_294_967_294;
/// `AS_TRANS` (RFC 6793).
const TRANS: u64 = 23_456;

/// Checks the numbers that switches get.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    if !draft.routing.speaks_bgp() {
        return;
    }
    let base = u64::from(draft.addresses.asn_base);
    let last = base + SPREAD;
    let at = draft.at(field!("addresses.asn_base"));
    if last > LAST {
        out.push(
            Diagnostic::error(&RULE, format!("AS numbers reach {last}; the maximum is {LAST}"))
                .at(at, "")
                .note(format!(
                    "{base} + {SPREAD} = {last}: 2 bits of tier, 4 of plane, 8 of zone, 12 of index"
                ))
                .set(
                    [(field!("addresses.asn_base").path(), (LAST - SPREAD).to_string())],
                    format!("set `addresses.asn_base` to {} or less", LAST - SPREAD),
                ),
        );
    } else if base <= TRANS || (base..=last).contains(&65_535) {
        out.push(
            Diagnostic::error(
                &RULE,
                format!("AS numbers from {base} include reserved ones: 0, {TRANS} or 65535"),
            )
            .at(at, format!("to {last}"))
            .set(
                [(field!("addresses.asn_base").path(), "4200000000".to_owned())],
                "set `addresses.asn_base` to 4200000000, the first private one (RFC 6996)",
            ),
        );
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{codes, message};

    #[test]
    fn numbers_stay_in_range() {
        assert_eq!(
            codes("{ routing: bgp-unnumbered, addresses: { asn_base: 4294967000 } }"),
            ["E0506", "W0203", "W0901"]
        );
        assert_eq!(
            codes("{ routing: bgp-unnumbered, addresses: { asn_base: 64512 } }"),
            ["E0506", "W0203", "W0501", "W0901"]
        );
        assert_eq!(
            codes("{ routing: bgp-unnumbered, addresses: { asn_base: 4200000000 } }"),
            ["W0203", "W0901"]
        );
        assert_eq!(
            message("{ routing: bgp-unnumbered, addresses: { asn_base: 4294967000 } }", "E0506"),
            "AS numbers reach 4345298647; the maximum is 4294967294"
        );
    }
}
