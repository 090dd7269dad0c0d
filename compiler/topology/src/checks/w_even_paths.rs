//! W0906: an operating system gives equal shares to paths of unequal capacity.

use closc_artefacts::Routing;
use closc_diagnostics::{Diagnostic, Diagnostics, Rule};
use closc_platform::capability::{Capability, Support};

use super::routing_not_supported::advice;
use crate::checks::or_routing;
use crate::draft::Draft;
use crate::field;

/// An operating system gives equal shares to paths of unequal capacity.
pub(crate) static RULE: Rule = Rule {
    code: "W0906",
    title: "paths get equal shares while a bundle is partly down",
    condition: "With `bgp-unnumbered` and three tiers or parallel links, every operating system announces link \
           bandwidths and weighs paths by them. `eos` does not: closc does not write its `link-bandwidth aggregate`, which has not been tested on EOS.",
    impact: "While all cables are up, paths are equal and so are their shares. A neighbour that has lost some \
           of its cables keeps its full share of the traffic. Until the repair, its other cables carry more \
           than those of its peers.",
    example: "routing: bgp-unnumbered\nqos: none\nhosts: { groups: 64 }\n\
              tiers: { t0: { parallel: 2 }, t1: { os: eos } }",
    fix: "Accept it with `warnings: { W0906: allow }`, or use an operating system that the message names, or \
           another routing mode.",
};

/// Reports the first kind of switch that cannot weight paths, if its paths can become unequal.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    if !draft.routing.speaks_bgp() {
        return;
    }
    let (place, effect) = if draft.t2.is_some() {
        (field!("tiers.t2"), "a T1 that loses a cable to a T2 keeps its share")
    } else if draft.t0.parallel > 1 {
        (field!("tiers.t0.parallel"), "a T1 that loses one of several cables to a T0 keeps its share")
    } else {
        return;
    };
    let found = draft.hardware.iter().find_map(|hardware| {
        let (Support::Whole | Support::Part(_)) = hardware.os.support(Capability::Bgp) else { return None };
        match hardware.os.support(Capability::Bandwidths) {
            Support::Not(why) => Some((hardware, why)),
            Support::Whole | Support::Part(_) => None,
        }
    });
    let Some((hardware, why)) = found else { return };
    let os = hardware.os.keyword();
    out.push(
        Diagnostic::warning(
            &RULE,
            format!("`{os}` gives all BGP paths equal shares, whatever capacity is left"),
        )
        .at(hardware.os_span, format!("for {}", hardware.subject))
        .and(draft.at(place), effect)
        .note(format!("`{os}`: {why}"))
        .help(or_routing(
            &format!(
                "accept it with `warnings: {{ W0906: allow }}`, or {}",
                advice(hardware, Capability::Bandwidths)
            ),
            "",
            draft,
            &[Routing::EcmpStatic],
        )),
    );
}

#[cfg(test)]
mod tests {
    use crate::testing::{codes, message};

    #[test]
    fn unequal_paths_are_reported() {
        let fragment = |os, parallel| {
            format!(
                "{{ qos: none, routing: bgp-unnumbered, hosts: {{ groups: 64 }}, \
                 tiers: {{ t0: {{ parallel: {parallel} }}, t1: {{ os: {os} }} }} }}"
            )
        };
        let found = codes(&fragment("eos", 2));
        assert!(found.contains(&"W0906") && !found.iter().any(|code| code.starts_with('E')), "{found:?}");
        assert_eq!(
            message(&fragment("eos", 2), "W0906"),
            "`eos` gives all BGP paths equal shares, whatever capacity is left"
        );
        assert!(!codes(&fragment("eos", 1)).contains(&"W0906"));
        assert!(!codes(&fragment("sonic", 2)).contains(&"W0906"));
        assert!(!codes(&fragment("eos", 2).replace("bgp-unnumbered", "ecmp-static")).contains(&"W0906"));
    }
}
