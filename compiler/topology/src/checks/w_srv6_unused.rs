//! W0401: the file describes segments, but the fabric does not use any.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};
use ipnet::IpNet;

use crate::checks::or_routing;
use crate::draft::Draft;
use crate::field;

/// The file describes segments, but the fabric does not use any.
pub(crate) static RULE: Rule = Rule {
    code: "W0401",
    title: "`srv6` has little or no effect with this routing mode",
    condition: "`srv6` is set only with `routing: srv6-static`.",
    impact: "Other routing modes use no segments, so block and roles have no effect. With a T2 tier, widths \
           still have two effects. The zone bits set how many T2 ports are reserved per zone, if \
           `tiers.t2.ports_per_zone` is absent. The index bits place the zone in IPv4 management addresses.",
    example: "routing: ecmp-static\n\
           srv6: { block: \"fcbb:bbbb::/32\" }",
    fix: "Remove `srv6`, keep only the widths that you need, or set `routing: srv6-static`.",
};

/// Checks that segments are used where they are described.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    let readers = field!("srv6").readers();
    if readers.contains(&draft.routing) || draft.doc.srv6.is_none() {
        return;
    }
    let places = places(draft);
    let only_widths = !draft.states(field!("srv6.block")) && !draft.states(field!("srv6.roles"));
    let (message, advice) = match (places.as_slice(), only_widths) {
        ([], _) => ("`srv6` has no effect: this routing uses no segments", "remove `srv6`"),
        (_, true) if !draft.states(field!("srv6.widths")) => (
            "`srv6.plan` only affects numbering: this routing uses no segments",
            "remove `srv6` if the widths of the other plan suffice",
        ),
        (_, true) => (
            "`srv6.widths` only affects numbering: this routing uses no segments",
            "remove `srv6` if the default widths suffice",
        ),
        (_, false) => (
            "of `srv6` only the widths have an effect: this routing uses no segments",
            "remove all of `srv6` but its widths",
        ),
    };
    let diagnostic = Diagnostic::warning(&RULE, message)
        .at(draft.at(field!("srv6")), "")
        .and(draft.at(field!("routing")), "uses no segments");
    let diagnostic = places.into_iter().fold(diagnostic, Diagnostic::note);
    out.push(diagnostic.help(or_routing(advice, "set ", draft, readers)));
}

/// Names the numbers that a stated width or plan determines even without segments.
fn places(draft: &Draft<'_>) -> Vec<&'static str> {
    let mut places = Vec::new();
    // Each plan has its own default widths.
    if !draft.states(field!("srv6.widths")) && !draft.states(field!("srv6.plan")) {
        return places;
    }
    if draft.t2.is_some() && !draft.states(field!("tiers.t2.ports_per_zone")) {
        places.push("the zone bits set how many ports of a T2 are reserved for each zone");
    }
    if draft.t2.is_some() && matches!(draft.addresses.management, Some(IpNet::V4(_))) {
        places.push("the index bits place the zone in IPv4 management addresses");
    }
    places
}

#[cfg(test)]
mod tests {
    use crate::testing::{codes, help, message};

    #[test]
    fn segments_need_their_routing() {
        assert!(codes("{ routing: ecmp-static, srv6: { block: \"fcbb:bbbb::/32\" } }").contains(&"W0401"));
        assert_eq!(
            message("{ routing: ecmp-static, srv6: {} }", "W0401"),
            "`srv6` has no effect: this routing uses no segments"
        );
    }

    /// A setting that has an effect is not reported as unused.
    #[test]
    fn widths_place_numbers_without_segments() {
        let three = |srv6: &str| {
            format!(
                "{{ routing: ecmp-static, zones: 2, srv6: {srv6}, hosts: {{ groups: 4, per_group: 4 }}, \
                 tiers: {{ t0: {{ up: 4 }}, t1: {{ up: 4 }}, t2: {{ platform: box-256x200g }} }} }}"
            )
        };
        let widths = "{ widths: { role: 2, plane: 3, zone: 2, index: 9 } }";
        assert_eq!(
            message(&three(widths), "W0401"),
            "`srv6.widths` only affects numbering: this routing uses no segments"
        );
        let both = widths.replace("{ widths", "{ block: \"fcbb:bbbb::/32\", widths");
        assert_eq!(
            message(&three(&both), "W0401"),
            "of `srv6` only the widths have an effect: this routing uses no segments"
        );
        assert!(help(&three(&both), "W0401").starts_with("remove all of `srv6` but its widths"));
        let two = format!("{{ routing: ecmp-static, srv6: {widths} }}");
        assert_eq!(message(&two, "W0401"), "`srv6` has no effect: this routing uses no segments");
    }
}
