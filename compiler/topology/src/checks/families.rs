//! E0517: a pool has an address family other than the fabric's, or one that the fabric cannot have.

use closc_artefacts::{Family, Routing};
use closc_diagnostics::{Diagnostic, Diagnostics, Rule};
use closc_platform::capability::{Capability, Support};

use super::routing_not_supported::advice;
use crate::draft::Draft;
use crate::field;
use crate::field::Field;

/// A pool has an address family other than the fabric's, or one that the fabric cannot have.
pub(crate) static RULE: Rule = Rule {
    code: "E0517",
    title: "an address family does not fit the fabric",
    condition: "`addresses.hosts`, `links` and `loopbacks` are of one address family. With `routing: srv6-static` \
           they are IPv6. If they are IPv4, every operating system in use supports IPv4 routes.",
    impact: "Routes to IPv4 addresses have IPv4 next hops, except those that BGP receives over unnumbered \
           cables (RFC 8950). Segments are IPv6 addresses. For P4 pipelines, closc writes IPv6 routes only.",
    example: "routing: srv6-static\n\
           addresses: { hosts: 10.0.0.0/8 }",
    fix: "Use pools of one family. For IPv4, set `routing` to `bgp-unnumbered` or `ecmp-static`, and use an \
           operating system that the message names.",
};

/// Checks every pool and, if hosts have IPv4 addresses, every kind of switch.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    let addresses = &draft.addresses;
    let hosts = addresses.hosts.family();
    let pools: [(Field, Family); 3] = [
        (field!("addresses.hosts"), hosts),
        (field!("addresses.links"), addresses.links.family()),
        (field!("addresses.loopbacks"), addresses.loopbacks.family()),
    ];
    for (path, family) in pools {
        if draft.routing.is_source_routed() && family == Family::V4 && draft.states(path) {
            out.push(
                Diagnostic::error(
                    &RULE,
                    format!("`{path}` is IPv4, but `routing: {}` needs IPv6", Routing::Srv6Static.keyword()),
                )
                .at(draft.at(path), "")
                .note("segments are IPv6 addresses, and packets are encapsulated in IPv6")
                .help("use an IPv6 prefix, or `routing: bgp-unnumbered` or `ecmp-static`"),
            );
        } else if !draft.routing.is_source_routed() && family != hosts {
            out.push(
                Diagnostic::error(
                    &RULE,
                    format!("`{path}` is {}, but `addresses.hosts` is {}", family.name(), hosts.name()),
                )
                .at(draft.at(path), "")
                .and(draft.at(field!("addresses.hosts")), "")
                .note("a fabric has one address family; management ports can have another")
                .help(format!("use an {} prefix", hosts.name())),
            );
        }
    }
    if hosts == Family::V4 && !draft.routing.is_source_routed() {
        systems(draft, out);
    }
}

/// Checks that every kind of switch routes IPv4.
fn systems(draft: &Draft<'_>, out: &mut Diagnostics) {
    for hardware in &draft.hardware {
        let Support::Not(why) = hardware.os.support(Capability::Ipv4) else { continue };
        let os = hardware.os.keyword();
        out.push(
            Diagnostic::error(&RULE, format!("`{os}` does not route IPv4"))
                .at(hardware.os_span, format!("for {}", hardware.subject))
                .and(draft.at(field!("addresses.hosts")), "IPv4")
                .note(format!("`{os}`: {why}"))
                .help(format!("{}, or IPv6 prefixes", advice(hardware, Capability::Ipv4))),
        );
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{codes, message};

    #[test]
    fn a_fabric_has_one_family() {
        let with = |routing: &str, pools: &str| {
            format!("{{ routing: {routing}, qos: none, addresses: {{ {pools} }} }}")
        };
        assert_eq!(codes(&with("bgp-unnumbered", "hosts: 11.0.0.0/8")), ["W0203", "W0901"]);
        assert_eq!(codes(&with("ecmp-static", "hosts: 11.0.0.0/8, links: 100.0.0.0/9")), ["W0203", "W0901"]);
        let mixed = with("ecmp-static", "hosts: 11.0.0.0/8, links: \"2001:db8::/48\"");
        assert_eq!(message(&mixed, "E0517"), "`addresses.links` is IPv6, but `addresses.hosts` is IPv4");
        let segments = with("srv6-static", "hosts: 11.0.0.0/8");
        assert_eq!(
            message(&segments, "E0517"),
            "`addresses.hosts` is IPv4, but `routing: srv6-static` needs IPv6"
        );
    }
}
