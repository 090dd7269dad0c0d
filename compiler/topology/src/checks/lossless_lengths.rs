//! E0605: the length of a cable is not stated, and a lossless profile needs it.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};

use crate::draft::Draft;
use crate::field;

/// The length of a cable is not stated, and a lossless profile needs it.
pub(crate) static RULE: Rule = Rule {
    code: "E0605",
    title: "lossless traffic over cables of unknown length",
    condition: "With a lossless profile, the length of every kind of cable is set.",
    impact: "Headroom covers the packets that arrive after a pause was sent, and their number depends on the \
           length. With a default that is too short, a lossless fabric loses packets.",
    example: "qos: lossless",
    fix: "Set the length of the longest cable of each kind. For single cables with other lengths, use \
           `exceptions.cables`.",
};

/// Checks that lengths are stated where headroom depends on them.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    let Some(profile) = draft.qos.as_ref().ok().filter(|profile| profile.is_lossless()) else { return };
    let cables = &draft.cables;
    let t0_t1 = draft.has_t1().then_some(&cables.t0_t1);
    let kinds = [
        ("nic-t0", field!("cables.nic-t0.length"), Some(&cables.nic_t0)),
        ("t0-t1", field!("cables.t0-t1.length"), t0_t1),
        ("t1-t2", field!("cables.t1-t2.length"), cables.t1_t2.as_ref()),
    ];
    for (key, length, cable) in kinds {
        // An invalid length has its own finding.
        let Some(cable) = cable.filter(|_| !draft.states(length)) else { continue };
        out.push(
            Diagnostic::error(
                &RULE,
                format!(
                    "QoS profile `{}` is lossless, but the length of `{key}` cables is not stated",
                    profile.name()
                ),
            )
            .at(draft.at(field!("qos")), "needs headroom for packets in flight")
            .note(format!("the default would be {}", cable.cable.length))
            .help(format!("add `cables: {{{key}: {{length: ...}}}}` with the length of the longest cable")),
        );
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{codes, message};

    #[test]
    fn headroom_needs_lengths() {
        assert_eq!(codes("qos: lossless"), ["E0605"]);
        assert_eq!(
            codes("{ qos: lossless, cables: { nic-t0: { length: 3m }, t0-t1: { length: 30m } } }"),
            Vec::<&str>::new()
        );
        assert_eq!(
            message("qos: lossless", "E0605"),
            "QoS profile `lossless` is lossless, but the length of `nic-t0` cables is not stated"
        );
    }
}
