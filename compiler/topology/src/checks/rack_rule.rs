//! E0325: devices do not fit into their racks.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};

use crate::draft::Draft;

/// Devices do not fit into their racks.
pub(crate) static RULE: Rule = Rule {
    code: "E0325",
    title: "devices do not fit into their racks",
    condition: "Every device in `racks` has its own rack units. Rack names are unique, kinds that share a rack \
           use different units, no device is higher than its units, and none is above the top.",
    impact: "Cable lists, labels and NetBox send technicians to a rack and a unit. A conflict would be \
           discovered when the second device is delivered.",
    example: "racks: { t0: { name: \"p{plane}-a{rack:02}\", per_rack: 22, units: 2 } }",
    fix: "Put fewer devices into a rack, start at another unit, set `height` or `units`, or add the missing \
           coordinate to the name.",
};

/// Checks that devices fit into their racks.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    for fault in &draft.racks.faults {
        let mut diagnostic =
            Diagnostic::error(&RULE, fault.message.clone()).at(fault.span, fault.label.clone());
        if let Some((span, label)) = &fault.related {
            diagnostic = diagnostic.and(*span, label.clone());
        }
        out.push(diagnostic.help(fault.help.clone()));
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{codes, message};

    fn racks(text: &str) -> String {
        format!("racks: {{ {text} }}")
    }

    #[test]
    fn devices_have_units_of_their_own() {
        let t0 = "name: \"p{plane}-a{rack:02}\", per_rack: 16, units: 2";
        for text in [
            "t0: { name: \"p{plane}/{rack}\", per_rack: 1 }".to_owned(),
            "t0: { name: \"a{rack}-{unit}\", per_rack: 1 }".to_owned(),
            "t0: { name: \"a{rack}\", per_rack: 0 }".to_owned(),
            "t0: { name: \"a{rack}\", per_rack: 1, units: 0 }".to_owned(),
            "t0: { name: \"a{rack}\", per_rack: 1, first_unit: 0 }".to_owned(),
            "t0: { name: \"a{rack}\", per_rack: 1, per_row: 0 }".to_owned(),
            "t0: { name: \"r{row}-a{rack}\", per_rack: 1 }".to_owned(),
            "t0: { name: \"a{rack}\", per_rack: 1, per_row: 4 }".to_owned(),
            "t0: { name: \"a{plane}\", per_rack: 16 }".to_owned(),
            "t0: { name: \"p{plane}-a{rack}\", per_rack: 22, units: 2 }".to_owned(),
            "t0: { name: \"a{rack}\", per_rack: 16, units: 2 }".to_owned(),
            "t2: { name: \"p{plane}-a{rack}\", per_rack: 1 }".to_owned(),
            "height: 0".to_owned(),
            "height: 4, hosts: { name: \"su{unit}-{rack}\", per_rack: 2, units: 3 }".to_owned(),
            "hosts: { name: \"su{unit}-{rack}\", per_rack: 2 }".to_owned(),
            "hosts: { name: \"h{rack}\", per_rack: 8, units: 4 }".to_owned(),
            format!("t0: {{ {t0} }}, t1: {{ {t0} }}"),
            format!("height: 64, t0: {{ {t0} }}, t1: {{ {t0}, first_unit: 32 }}"),
        ] {
            assert_eq!(codes(&racks(&text)), ["E0325"], "{text}");
        }
        for text in [
            format!("t0: {{ {t0} }}"),
            format!("t0: {{ {t0} }}, t1: {{ name: \"P{{plane}}.B_{{rack:02}}\", per_rack: 16, face: rear }}"),
            format!("height: 64, t0: {{ {t0} }}, t1: {{ {t0}, first_unit: 33 }}"),
            // Racks from 1 and from 101: the patterns can give equal names, but no name is used twice.
            "t0: { name: \"p{plane}-a{rack}\", per_rack: 16, units: 2 }, t1: { name: \"p{plane}-a{rack+100}\", per_rack: 16, units: 2 }".to_owned(),
            "t0: { name: \"r{row:02}.{rack}\", per_rack: 4, per_row: 8, units: 2 }".to_owned(),
            "hosts: { name: \"su{unit}-{rack}\", per_rack: 8, units: 4, first_unit: 3 }".to_owned(),
        ] {
            assert_eq!(codes(&racks(&text)), Vec::<&str>::new(), "{text}");
        }
        assert_eq!(
            message(&racks(&format!("height: 64, t0: {{ {t0} }}, t1: {{ {t0}, first_unit: 32 }}")), "E0325"),
            "`racks.t0` and `racks.t1` both use unit 32 of rack `p0-a01`"
        );
    }

    #[test]
    fn hardware_is_as_high_as_its_units() {
        let text = racks("t0: { name: \"p{plane}-a{rack}\", per_rack: 16, units: 1 }");
        assert_eq!(message(&text, "E0325"), "each T0 needs 2 units, but `racks.t0` gives it 1");
    }
}
