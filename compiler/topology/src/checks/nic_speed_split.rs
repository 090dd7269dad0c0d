//! E0212: the speed of a NIC cannot be divided evenly over the planes.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};

use crate::checks::words::count;
use crate::draft::Draft;

/// The speed of a NIC cannot be divided evenly over the planes.
pub(crate) static RULE: Rule = Rule {
    code: "E0212",
    title: "the speed of a NIC cannot be divided by the planes",
    condition: "The speed of a NIC divided by the planes is a whole number of Mb/s.",
    impact: "Every plane gets an equal share, without a remainder.",
    example: "planes: 3\n\
           hosts: { nic: { speed: 100G, lanes: 3 } }",
    fix: "Change the NIC's speed or the number of planes.",
};

/// Divides the speed by the planes, place by place.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    for place in draft.places() {
        let speed = place.nic;
        if draft.planes == 0 || u64::from(speed.value.mbps()).is_multiple_of(draft.planes) {
            continue;
        }
        let (planes, zone) = (count(draft.planes, "plane"), place.of_zone());
        out.push(
            Diagnostic::error(&RULE, format!("{planes} cannot share a NIC{zone} of {} equally", speed.value))
                .at(speed.span, format!("{} / {} is not a whole number of Mb/s", speed.value, draft.planes))
                .and(draft.doc.planes.span, planes)
                .help("change the NIC's speed or the number of planes"),
        );
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{codes, message};

    #[test]
    fn shares_are_whole() {
        let fragment = "{ planes: 3, hosts: { nic: { speed: 100G, lanes: 3 } } }";
        assert_eq!(codes(fragment), ["E0212"]);
        assert_eq!(message(fragment, "E0212"), "3 planes cannot share a NIC of 100G equally");
    }
}
