//! E0326: the T0s have uplinks and no T1s, or T1s and no uplinks.

use closc_artefacts::Routing;
use closc_diagnostics::{Diagnostic, Diagnostics, Rule};

use crate::draft::Draft;
use crate::field;

/// The T0s have uplinks and no T1s, or T1s and no uplinks.
pub(crate) static RULE: Rule = Rule {
    code: "E0326",
    title: "T0 uplinks without a T1 tier, or a T1 tier without T0 uplinks",
    condition: "T0s have uplinks if, and only if, there is a T1 tier. A fabric of one tier has `routing: \
           ecmp-static`, and no T2 tier.",
    impact: "Uplinks without a tier above lead nowhere, and a tier above without uplinks is unreachable. With \
          `srv6-static`, path tables list T0 uplinks. With `bgp-unnumbered`, a switch without uplinks has no \
          neighbour.",
    example: "tiers: { t0: { up: { spare: 8 } } }",
    fix: "Add `tiers.t1` and `tiers.t0.up`, or remove both and set `routing: ecmp-static`.",
};

/// Checks that T0s have uplinks if and only if there are T1s. Without T1s, also checks that there are no T2s,
/// and checks the routing mode.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    let up = draft.doc.tiers.t0.up.as_ref();
    if draft.has_t1() {
        if up.is_none_or(|up| up.0.count.is_none()) {
            out.push(
                Diagnostic::error(&RULE, "there is a T1 tier, but T0s have no uplinks")
                    .at(draft.at(field!("tiers.t1")), "is not reached")
                    .and(draft.at(field!("tiers.t0")), "has no `up`")
                    .help("set `tiers.t0.up` to the uplinks of a T0, or remove `tiers.t1`"),
            );
        }
        return;
    }
    let tiers = draft.at(field!("tiers"));
    if up.is_some_and(|up| up.0.count.is_none_or(|count| count.value > 0) || up.0.spare.is_some()) {
        out.push(
            Diagnostic::error(&RULE, "T0s have uplinks, but there is no T1 tier")
                .at(draft.at(field!("tiers.t0.up")), "lead nowhere")
                .and(tiers, "has no `t1`")
                .help("add `tiers.t1`, or remove `tiers.t0.up`"),
        );
    } else if draft.t2.is_some() {
        out.push(
            Diagnostic::error(&RULE, "there is a T2 tier, but no T1 tier below it")
                .at(draft.at(field!("tiers.t2")), "is not reached")
                .and(tiers, "has no `t1`")
                .help("add `tiers.t1` and `tiers.t0.up`, or remove `tiers.t2`"),
        );
    } else if draft.routing.is_source_routed() || draft.routing.speaks_bgp() {
        routing(draft, out);
    }
}

/// Reports a routing mode that needs a T1 tier. Path tables name an uplink for each path, and BGP needs
/// sessions between switches.
fn routing(draft: &Draft<'_>, out: &mut Diagnostics) {
    let why = if draft.routing.is_source_routed() {
        "its path tables list uplinks of T0s, but there are none"
    } else {
        "a switch without uplinks has no BGP neighbour"
    };
    let message = format!("`{}` needs a T1 tier: {why}", draft.routing.keyword());
    let other = Routing::EcmpStatic.keyword();
    out.push(
        Diagnostic::error(&RULE, message)
            .at(draft.at(field!("routing")), "")
            .and(draft.at(field!("tiers")), "has no `t1`")
            .set([(field!("routing").path(), other.to_owned())], format!("set `routing: {other}`")),
    );
}
