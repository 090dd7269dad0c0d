//! E0213: an operating system in use cannot do the routing.

use closc_artefacts::Routing;
use closc_diagnostics::{Diagnostic, Diagnostics, Rule};
use closc_platform::Os;
use closc_platform::capability::{Capability, Support};

use crate::checks::or_routing;
use crate::draft::{Draft, Hardware};
use crate::field;
use crate::suggest::listed;

/// An operating system in use cannot do the routing.
pub(crate) static RULE: Rule = Rule {
    code: "E0213",
    title: "the operating system does not support the routing",
    what: "Every operating system in use supports `routing`. `bgp-unnumbered` runs on `sonic`, `frr`, `nvue` \
           and `eos`; with three tiers or parallel links, on all of these except `eos`. `srv6-static` runs \
           on every system except `eos`.",
    why: "A kernel or P4 target without a routing daemon cannot run BGP. With three tiers or parallel links, \
           a neighbour can lose part of the capacity behind it, and switches must announce what is left. For \
           EOS, Arista publishes neither the syntax of SRv6 segments nor that for adding up bandwidths from \
           tier to tier. closc writes no line whose acceptance by a switch is unknown.",
    example: "routing: bgp-unnumbered\n\
           hosts: { nic: { speed: 200G, lanes: 2 } }\n\
           tiers:\n\
           \x20 t0: { platform: linux, os: linux, up: 128 }\n\
           \x20 t1: { platform: linux, os: linux }",
    fix: "Use an operating system that the message names, or another routing mode.",
};

/// Requirement of a routing mode on a switch, in words; none where every system meets it.
fn asked(routing: Routing) -> Option<(Capability, &'static str)> {
    match routing {
        Routing::Srv6Static => Some((Capability::Segments, "asks for segments")),
        Routing::BgpUnnumbered => Some((Capability::Bgp, "asks for BGP")),
        Routing::EcmpStatic => None,
    }
}

/// Checks every kind of switch.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    let Some((capability, words)) = asked(draft.routing) else { return };
    for hardware in &draft.hardware {
        let Support::Not(why) = hardware.os.support(capability) else {
            bandwidths(draft, hardware, out);
            continue;
        };
        let (os, routing) = (hardware.os.word(), draft.routing.word());
        let advice = advice(hardware, capability);
        let others = [Routing::Srv6Static, Routing::EcmpStatic];
        let diagnostic = Diagnostic::error(&RULE, format!("`{os}` does not support `routing: {routing}`"))
            .at(hardware.os_span, format!("for {}", hardware.who));
        let diagnostic = if draft.states(field!("routing")) {
            diagnostic.and(draft.at(field!("routing")), words)
        } else {
            diagnostic.note(format!("`{routing}` is the routing where none is given"))
        };
        out.push(diagnostic.note(format!("`{os}`: {why}")).help(or_routing(&advice, "", draft, &others)));
    }
}

/// Names the systems that can do something on a platform.
fn advice(hardware: &Hardware, capability: Capability) -> String {
    let able = Os::ALL.into_iter().filter(|os| os.renders(capability) && hardware.platform.supports(*os));
    let able: Vec<&str> = able.map(Os::word).collect();
    if able.is_empty() { "use another platform".to_owned() } else { format!("use {}", listed(able)) }
}

/// Where a neighbour can lose a part of what is behind it, switches have to announce how much is left.
fn bandwidths(draft: &Draft<'_>, hardware: &Hardware, out: &mut Diagnostics) {
    let (place, what) = if draft.t2.is_some() {
        (field!("tiers.t2"), "a T1 that loses a cable to a T2 is worth less than others")
    } else if draft.t0.parallel > 1 {
        (
            field!("tiers.t0.parallel"),
            "a T1 that loses one of several cables to a T0 is worth less than others",
        )
    } else {
        return;
    };
    let Support::Not(why) = hardware.os.support(Capability::Bandwidths) else { return };
    if !draft.routing.speaks_bgp() {
        return;
    }
    let os = hardware.os.word();
    out.push(
        Diagnostic::error(&RULE, format!("`{os}` cannot weigh the ways of `routing: bgp-unnumbered`"))
            .at(hardware.os_span, format!("for {}", hardware.who))
            .and(draft.at(place), what)
            .note(format!("`{os}`: {why}"))
            .help(or_routing(&advice(hardware, Capability::Bandwidths), "", draft, &[Routing::EcmpStatic])),
    );
}

#[cfg(test)]
mod tests {
    use crate::testing::{codes, message};

    #[test]
    fn bgp_needs_a_daemon() {
        let tiers = "t0: { platform: linux, os: OS, up: 128 }, t1: { platform: linux, os: OS }";
        let fragment = |os| {
            format!(
                "{{ routing: bgp-unnumbered, hosts: {{ nic: {{ speed: 200G, lanes: 2 }} }}, tiers: {{ {} }} }}",
                tiers.replace("OS", os)
            )
        };
        assert!(codes(&fragment("linux")).contains(&"E0213"));
        assert!(!codes(&fragment("frr")).contains(&"E0213"));
        assert_eq!(
            message(&fragment("linux"), "E0213"),
            "`linux` does not support `routing: bgp-unnumbered`"
        );
    }

    #[test]
    fn bandwidths_need_a_grammar() {
        let fragment = |os, parallel| {
            format!(
                "{{ qos: none, routing: bgp-unnumbered, hosts: {{ groups: 64 }}, \
                 tiers: {{ t0: {{ parallel: {parallel} }}, t1: {{ os: {os} }} }} }}"
            )
        };
        assert_eq!(
            message(&fragment("eos", 2), "E0213"),
            "`eos` cannot weigh the ways of `routing: bgp-unnumbered`"
        );
        assert!(!codes(&fragment("eos", 1)).contains(&"E0213"));
        assert!(!codes(&fragment("sonic", 2)).contains(&"E0213"));
    }

    #[test]
    fn segments_need_a_grammar() {
        let fragment = "{ qos: none, tiers: { t1: { os: eos } } }";
        assert!(codes(fragment).contains(&"E0213"));
        assert_eq!(message(fragment, "E0213"), "`eos` does not support `routing: srv6-static`");
        assert!(!codes("{ qos: none, routing: ecmp-static, tiers: { t1: { os: eos } } }").contains(&"E0213"));
    }
}
