//! W0502: a width of IPv4 addresses has no effect.

use closc_artefacts::Family;
use closc_diagnostics::{Diagnostic, Diagnostics, Rule};
use ipnet::IpNet;

use crate::draft::Draft;
use crate::field;
use crate::field::Field;

/// A width of IPv4 addresses has no effect.
pub(crate) static RULE: Rule = Rule {
    code: "W0502",
    title: "a width of IPv4 addresses has no effect",
    condition: "`addresses.widths.plane`, `t0_downlink`, `t0_uplink` and `t1_uplink` are set only if some IPv4 \
           address contains the plane or the port. Addresses of NICs contain the downlink. Those of \
           cables contain plane and port, but cables between switches have none with `bgp-unnumbered`. \
           Those of switches contain the plane.",
    impact: "IPv6 addresses and IPv4 management pools of /14 and shorter have fixed places for these \
           coordinates.",
    example: "addresses: { widths: { plane: 4 } }",
    fix: "Remove the width, or use IPv4 pools.",
};

/// Compares stated widths with the pools.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    let pools = &draft.addresses;
    let is_v4 = pools.hosts.family() == Family::V4 && !draft.routing.is_source_routed();
    let management = pools.management.is_some_and(|pool| match pool {
        IpNet::V4(pool) => pool.prefix_len() > pools.widths.management_v4_max(),
        IpNet::V6(_) => false,
    });
    let has_links = is_v4 && !draft.routing.speaks_bgp();
    let widths: [(Field, bool, &str); 4] = [
        (field!("addresses.widths.plane"), is_v4 || management, "the plane"),
        (field!("addresses.widths.t0_downlink"), is_v4, "a downlink"),
        (field!("addresses.widths.t0_uplink"), has_links && draft.has_t1(), "an uplink of a T0"),
        (field!("addresses.widths.t1_uplink"), has_links && draft.t2.is_some(), "an uplink of a T1"),
    ];
    for (path, is_used, what) in widths {
        if is_used || !draft.states(path) {
            continue;
        }
        out.push(
            Diagnostic::warning(&RULE, format!("`{path}` has no effect: no IPv4 address contains {what}"))
                .at(draft.at(path), "")
                .help("remove it"),
        );
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{codes, message};

    #[test]
    fn widths_need_an_ipv4_address_that_contains_them() {
        let of = |routing: &str, hosts: &str, width: &str| {
            let pools = if hosts.is_empty() { String::new() } else { format!("hosts: {hosts}, ") };
            let fragment =
                format!("{{ routing: {routing}, qos: none, addresses: {{ {pools}widths: {{ {width} }} }} }}");
            codes(&fragment).contains(&"W0502")
        };
        let (v4, links) = ("11.0.0.0/8", "11.0.0.0/8, links: 12.0.0.0/7");
        for (routing, hosts, width, is_unused) in [
            ("srv6-static", "", "plane: 4", true),
            ("ecmp-static", "", "t0_uplink: 9", true),
            ("ecmp-static", links, "plane: 4", false),
            ("ecmp-static", links, "t0_downlink: 9", false),
            ("ecmp-static", links, "t0_uplink: 9", false),
            ("ecmp-static", links, "t1_uplink: 9", true),
            ("bgp-unnumbered", v4, "plane: 2", false),
            ("bgp-unnumbered", v4, "t0_uplink: 9", true),
        ] {
            assert_eq!(of(routing, hosts, width), is_unused, "{routing} {hosts} {width}");
        }
        let short = "{ addresses: { management: 10.0.0.0/20, widths: { plane: 2 } } }";
        assert!(!codes(short).contains(&"W0502"));
        assert_eq!(
            message("addresses: { widths: { plane: 4 } }", "W0502"),
            "`addresses.widths.plane` has no effect: no IPv4 address contains the plane"
        );
    }
}
