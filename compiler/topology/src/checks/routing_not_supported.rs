//! E0213: an operating system in use does not support the routing mode.

use closc_artefacts::Routing;
use closc_diagnostics::{Diagnostic, Diagnostics, Rule};
use closc_platform::Os;
use closc_platform::capability::{Capability, Support};

use crate::checks::or_routing;
use crate::draft::{Draft, Hardware};
use crate::field;
use crate::suggest::format_list;

/// An operating system in use does not support the routing mode.
pub(crate) static RULE: Rule = Rule {
    code: "E0213",
    title: "the operating system does not support the routing",
    condition: "Every operating system in use supports `routing`. `bgp-unnumbered` runs on `sonic`, `frr`, `nvue` \
           and `eos`. `srv6-static` runs on every system except `eos`.",
    impact: "A kernel or P4 target without a routing daemon cannot run BGP. Arista names SRv6 segments in \
           release notes and publishes no syntax of them, so a switch might refuse the lines.",
    example: "routing: bgp-unnumbered\n\
           hosts: { nic: { speed: 200G, lanes: 2 } }\n\
           tiers:\n\
           \x20 t0: { platform: linux, os: linux, up: 128 }\n\
           \x20 t1: { platform: linux, os: linux }",
    fix: "Use an operating system that the message names, or another routing mode.",
};

/// Returns the capability that a routing mode requires of switches, and its description; `None` if it
/// requires none.
fn required_capability(routing: Routing) -> Option<(Capability, &'static str)> {
    match routing {
        Routing::Srv6Static => Some((Capability::Segments, "requires segments")),
        Routing::BgpUnnumbered => Some((Capability::Bgp, "requires BGP")),
        Routing::EcmpStatic => None,
    }
}

/// Checks every kind of switch.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    let Some((capability, words)) = required_capability(draft.routing) else { return };
    for hardware in &draft.hardware {
        let Support::Not(why) = hardware.os.support(capability) else { continue };
        let (os, routing) = (hardware.os.keyword(), draft.routing.keyword());
        let advice = advice(hardware, capability);
        let others = [Routing::Srv6Static, Routing::EcmpStatic];
        let diagnostic = Diagnostic::error(&RULE, format!("`{os}` does not support `routing: {routing}`"))
            .at(hardware.os_span, format!("for {}", hardware.subject));
        let diagnostic = if draft.states(field!("routing")) {
            diagnostic.and(draft.at(field!("routing")), words)
        } else {
            diagnostic.note(format!("`{routing}` is the default routing mode"))
        };
        out.push(diagnostic.note(format!("`{os}`: {why}")).help(or_routing(&advice, "", draft, &others)));
    }
}

/// Advises to use a system that has a capability on the platform or, if there is none, another platform.
pub(super) fn advice(hardware: &Hardware, capability: Capability) -> String {
    let able = Os::ALL.into_iter().filter(|os| os.renders(capability) && hardware.platform.supports(*os));
    let able: Vec<&str> = able.map(Os::keyword).collect();
    if able.is_empty() { "use another platform".to_owned() } else { format!("use {}", format_list(able)) }
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
    fn segments_need_a_grammar() {
        let fragment = "{ qos: none, tiers: { t1: { os: eos } } }";
        assert!(codes(fragment).contains(&"E0213"));
        assert_eq!(message(fragment, "E0213"), "`eos` does not support `routing: srv6-static`");
        assert!(!codes("{ qos: none, routing: ecmp-static, tiers: { t1: { os: eos } } }").contains(&"E0213"));
    }
}
