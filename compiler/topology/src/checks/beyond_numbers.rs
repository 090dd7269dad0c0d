//! E0317: a number does not fit 16 bits.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};

use crate::draft::Draft;
use crate::field;

/// A number does not fit 16 bits.
pub(crate) static RULE: Rule = Rule {
    code: "E0317",
    title: "a number is too large to be an index",
    condition: "A plane has at most 65,535 T1s per zone and 65,535 T2s. A switch has at most 65,535 downlinks and \
           65,535 uplinks.",
    impact: "Indices are 16 bits wide in names, addresses and segments.",
    example: "zones: 2\n\
           hosts: { groups: 2 }\n\
           tiers:\n\
           \x20 t0: { up: 128 }\n\
           \x20 t1: { up: 64 }\n\
           \x20 t2: { platform: box-256x200g, wiring: rows, rows: 60000 }",
    fix: "Lower the number that the message names.",
};

/// Checks the numbers that are computed from others.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    let numbers = [
        ("T1s in each plane and zone", Some(draft.t1.count), field!("tiers.t0.up")),
        ("downlinks of a T1", Some(draft.t1.down.count), field!("hosts.groups")),
        (
            "T2s in each plane, rows kept free included",
            draft.t2.as_ref().map(|t2| t2.count),
            field!("tiers.t2.rows"),
        ),
        ("downlinks of a T2", draft.t2.as_ref().map(|t2| t2.down.count), field!("tiers.t2.ports_per_zone")),
        ("downlinks of a T0", Some(draft.t0.down.count), field!("tiers.t0.down")),
        ("uplinks of a T0", Some(draft.t0.up.count), field!("tiers.t0.up")),
        ("uplinks of a T1", Some(draft.t1.up.count), field!("tiers.t1.up")),
    ];
    for (what, number, path) in numbers {
        let Some(number) = number.filter(|number| *number > u64::from(u16::MAX)) else { continue };
        out.push(
            Diagnostic::error(
                &RULE,
                format!("there would be {number} {what}; at most {} can be numbered", u16::MAX),
            )
            .at(draft.at(path), "")
            .help(format!("lower `{path}`")),
        );
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{codes, message};

    #[test]
    fn indices_have_sixteen_bits() {
        let fragment = "{ zones: 2, hosts: { groups: 2 }, tiers: { t0: { up: 128 }, t1: { up: 64 }, t2: { platform: box-256x200g, wiring: rows, rows: 60000 } } }";
        assert!(codes(fragment).contains(&"E0317"));
        assert_eq!(
            message(fragment, "E0317"),
            "there would be 3780128 T2s in each plane, rows kept free included; at most 65535 can be numbered"
        );
    }
}
