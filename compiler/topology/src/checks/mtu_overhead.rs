//! E0704: a full packet with its outer header exceeds the MTU of links.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};

use crate::draft::Draft;
use crate::field;
use crate::model::Topology;

/// A full packet with its outer header exceeds the MTU of links.
pub(crate) static RULE: Rule = Rule {
    code: "E0704",
    title: "the MTU leaves no room for the outer header",
    condition: "With `routing: srv6-static`, `mtu.link` is at least `mtu.payload` plus 40 bytes for the outer \
           IPv6 header.",
    impact: "Switches do not fragment. Large packets are dropped and small ones pass, so the fabric looks \
           healthy until a job starts.",
    example: "mtu: { link: 9000, payload: 9000 }",
    fix: "Raise `mtu.link` or lower `mtu.payload`.",
};

/// Adds the outer header to the payload.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    // Other routing modes do not use the payload size (W0403).
    if !draft.routing.is_source_routed() {
        return;
    }
    let (link, payload) = (u64::from(draft.mtu.link), u64::from(draft.mtu.payload));
    let header = Topology::ENCAPSULATION.0;
    let needed = payload + header;
    if link >= needed {
        return;
    }
    let diagnostic =
        Diagnostic::error(&RULE, format!("full packets need an MTU of {needed}, but links carry {link}"))
            .at(draft.at(field!("mtu.link")), format!("{link} bytes"));
    let diagnostic = if draft.states(field!("mtu.payload")) {
        diagnostic.and(draft.at(field!("mtu.payload")), format!("{payload} bytes"))
    } else {
        diagnostic
    };
    out.push(
        diagnostic
            .note(format!(
                "payload {payload} + {header} of outer IPv6 header = {needed} (RFC 8200 section 3)"
            ))
            .set(
                [(field!("mtu.link").path(), needed.to_string())],
                format!(
                    "set `mtu.link` to {needed} or more, or `mtu.payload` to {} or less",
                    link.saturating_sub(header)
                ),
            )
            .or_set([(field!("mtu.payload").path(), link.saturating_sub(header).to_string())]),
    );
}

#[cfg(test)]
mod tests {
    use crate::testing::{codes, message};

    #[test]
    fn the_outer_header_has_room() {
        assert_eq!(codes("mtu: { link: 9000, payload: 9000 }"), ["E0704"]);
        assert_eq!(codes("mtu: { link: 9040, payload: 9000 }"), Vec::<&str>::new());
        let unused = codes("{ routing: ecmp-static, mtu: { link: 1500, payload: 9000 } }");
        assert!(unused.contains(&"W0403") && !unused.contains(&"E0704"), "{unused:?}");
        assert_eq!(codes("mtu: { link: 4200 }"), Vec::<&str>::new());
        assert_eq!(
            message("mtu: { link: 9000, payload: 9000 }", "E0704"),
            "full packets need an MTU of 9040, but links carry 9000"
        );
    }
}
