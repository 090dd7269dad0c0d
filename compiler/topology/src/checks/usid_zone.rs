//! E0403: there are more zones than a uSID can number.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};

use super::usid_index::propose;
use crate::checks::words::count;
use crate::draft::Draft;
use crate::field;

/// There are more zones than a uSID can number.
pub(crate) static RULE: Rule = Rule {
    code: "E0403",
    title: "the zones do not fit their uSID bits",
    condition: "The zones fit the zone bits of the uSIDs of T0s and T1s.",
    impact: "A truncated zone would look like another one, and its packets would go there.",
    example: "zones: 16\n\
           hosts: { groups: 16 }\n\
           tiers:\n\
           \x20 t0: { up: 16, oversubscription: \"8:1\" }\n\
           \x20 t1: { up: 16 }\n\
           \x20 t2: { platform: box-256x200g, ports_per_zone: 16 }",
    fix: "Set `srv6.widths` as the message proposes. This renames every segment.",
};

/// Compares the zones with their bits.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    let (bits, zones) = (draft.layout.zone.min(32), draft.zones);
    let applies = draft.routing.is_source_routed() && draft.t2.is_some() && draft.layout.sum() == 16;
    if !applies || zones <= 1 << bits {
        return;
    }
    let max = 1_u64 << bits;
    let diagnostic =
        Diagnostic::error(&RULE, format!("{zones} zones do not fit {}", count(bits, "zone bit")))
            .at(draft.at(field!("zones")), count(zones, "zone"))
            .note(format!("widths are {}; 2^{bits} = {max}", draft.layout));
    out.push(propose(diagnostic, draft));
}

#[cfg(test)]
mod tests {
    use crate::testing::{codes, message};

    #[test]
    fn zones_need_bits() {
        let fragment = "{ zones: 16, hosts: { groups: 16 }, tiers: { t0: { up: 16, oversubscription: \"8:1\" }, t1: { up: 16 }, t2: { platform: box-256x200g, ports_per_zone: 16 } } }";
        assert!(codes(fragment).contains(&"E0403"));
        assert_eq!(message(fragment, "E0403"), "16 zones do not fit 3 zone bits");
    }
}
