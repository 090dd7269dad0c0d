//! E0213: an operating system in use has no BGP.

use closc_artefacts::Routing;
use closc_diagnostics::{Diagnostic, Diagnostics, Rule};
use closc_platform::capability::Capability;

use crate::checks::or_routing;
use crate::draft::Draft;
use crate::field;

/// An operating system in use has no BGP.
pub(crate) static RULE: Rule = Rule {
    code: "E0213",
    title: "the operating system cannot do the routing",
    what: "Every operating system in use can do what `routing` asks for: BGP runs on `sonic` and `frr`.",
    why: "A kernel or a P4 target without a routing daemon speaks no BGP.",
    example: "routing: bgp-unnumbered\n\
           hosts: { nic: { speed: 200G, lanes: 2 } }\n\
           tiers:\n\
           \x20 t0: { platform: linux, os: linux, up: 128 }\n\
           \x20 t1: { platform: linux, os: linux }",
    fix: "Use `frr` or `sonic`, or a static routing.",
};

/// Checks every kind of switch of a BGP fabric.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    if !draft.routing.speaks_bgp() {
        return;
    }
    for hardware in &draft.hardware {
        if hardware.os.renders(Capability::Bgp) {
            continue;
        }
        out.push(
            Diagnostic::error(&RULE, format!("`{}` cannot do `routing: bgp-unnumbered`", hardware.os.word()))
                .at(hardware.os_span, format!("for {}", hardware.who))
                .and(draft.at(field!("routing")), "asks for BGP")
                .help(or_routing(
                    "use `frr` or `sonic`",
                    "",
                    draft,
                    &[Routing::Srv6Static, Routing::EcmpStatic],
                )),
        );
    }
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
        assert_eq!(message(&fragment("linux"), "E0213"), "`linux` cannot do `routing: bgp-unnumbered`");
    }
}
