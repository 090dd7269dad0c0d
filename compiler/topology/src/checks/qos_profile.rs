//! E0701: a custom QoS profile contradicts itself.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};
use closc_qos::profile::{ProfileError, ProfileKey};

use crate::draft::Draft;
use crate::field;
use crate::field::{Field, FieldPath};

/// A custom QoS profile contradicts itself.
pub(crate) static RULE: Rule = Rule {
    code: "E0701",
    title: "the QoS profile contradicts itself",
    condition: "Your own profile is complete and consistent. Every class has a traffic class, queue and DSCP. \
           PFC, ECN and trimming do not contradict each other.",
    impact: "Switches and hosts are rendered from one profile. A contradiction drops or stalls traffic on both.",
    example: "qos: { base: lossless, classes: { data: { trim: true } } }",
    fix: "Correct the class that the message names.",
};

/// Reports the faults of lowering the profile.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    let Err(faults) = &draft.qos else { return };
    for fault in faults {
        // If the file contains the field, its value is invalid, and the reader has reported that.
        if let ProfileError::MissingField { class, field } = fault
            && draft.states(class_field(field).with_key(class))
        {
            continue;
        }
        let stated = fault.profile_keys().iter().map(path).find(|path| draft.states(path));
        let at = draft.at(stated.unwrap_or(field!("qos").into()));
        let diagnostic = Diagnostic::error(&RULE, format!("QoS profile: {fault}")).at(at, "");
        out.push(diagnostic.help(fault.fix()));
    }
}

/// Returns the path of a key of a profile.
fn path(written: &ProfileKey) -> FieldPath {
    match written {
        ProfileKey::Key(key) => match *key {
            "base" => field!("qos.base"),
            "classes" => field!("qos.classes"),
            "default" => field!("qos.default"),
            "trimming" => field!("qos.trimming"),
            "watchdog" => field!("qos.watchdog"),
            "without" => field!("qos.without"),
            _ => field!("qos"),
        }
        .into(),
        ProfileKey::Watchdog(key) => match *key {
            "detection" => field!("qos.watchdog.detection"),
            "restoration" => field!("qos.watchdog.restoration"),
            _ => field!("qos.watchdog.poll"),
        }
        .into(),
        ProfileKey::Class(class) => field!("qos.classes.*").with_key(class),
        ProfileKey::Field(class, key) => class_field(key).with_key(class),
    }
}

/// Returns the field of a key of a class.
fn class_field(key: &str) -> Field {
    match key {
        "dscp" => field!("qos.classes.*.dscp"),
        "ecn" => field!("qos.classes.*.ecn"),
        "egress_threshold" => field!("qos.classes.*.egress_threshold"),
        "ingress_threshold" => field!("qos.classes.*.ingress_threshold"),
        "pfc" => field!("qos.classes.*.pfc"),
        "priority" => field!("qos.classes.*.priority"),
        "priority_group" => field!("qos.classes.*.priority_group"),
        "queue" => field!("qos.classes.*.queue"),
        "role" => field!("qos.classes.*.role"),
        "scheduler" => field!("qos.classes.*.scheduler"),
        "tc" => field!("qos.classes.*.tc"),
        "trim" => field!("qos.classes.*.trim"),
        _ => field!("qos.classes.*"),
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{codes, help, message};

    #[test]
    fn profiles_are_consistent() {
        let fragment = "qos: { base: lossless, classes: { data: { trim: true } } }";
        assert_eq!(codes(fragment), ["E0701"]);
        assert!(message(fragment, "E0701").starts_with("QoS profile: class `data`"));
        assert_eq!(help(fragment, "E0701"), "set `pfc: false` or `trim: false` in class `data`");
    }

    #[test]
    fn a_profile_without_classes_is_one_fault() {
        assert_eq!(codes("qos: {}"), ["E0701"]);
        assert_eq!(message("qos: {}", "E0701"), "QoS profile: the profile has no classes");
        assert!(help("qos: {}", "E0701").starts_with("write `base`"));
        let other_key = "qos: { profile: lossless }";
        assert_eq!(codes(other_key), ["E0107"]);
        assert!(help(other_key, "E0107").starts_with("use `base`"), "{}", help(other_key, "E0107"));
    }

    #[test]
    fn what_cannot_be_read_hides_nothing_beside_it() {
        let fragment = "qos: { base: lossless, classes: { data: { dscp: [70], ecn: { thresholds: \
                        { min: 500KB, max: 100KB, probability: 7 } } } } }";
        assert!(codes(fragment).contains(&"E0701"), "{:?}", codes(fragment));
        assert!(message(fragment, "E0701").contains("ECN minimum"));
        assert!(codes(fragment).len() >= 2, "{:?}", codes(fragment));
        let own = "qos: { base: lossless, classes: { extra: { dscp: [70], tc: 1, scheduler: strict } } }";
        assert!(!codes(own).contains(&"E0701"), "{:?}", codes(own));
    }
}
