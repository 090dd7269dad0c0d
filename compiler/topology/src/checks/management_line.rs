//! E0514: a line of the list is not a management port that a switch can have.

use std::collections::BTreeMap;
use std::net::IpAddr;

use closc_diagnostics::{Diagnostic, Diagnostics, Rule, Span};
use ipnet::IpNet;

use super::host_bits::pools;
use super::unusable_pool::range_of;
use crate::draft::{Draft, ListFault, MANAGEMENT_COLUMNS, ManagementFault};
use crate::field;
use crate::model::ManagementPort;

/// A line is not a management port.
pub(crate) static RULE: Rule = Rule {
    code: "E0514",
    title: "a line of the list is not a management port",
    condition: "The file of `addresses.management_list` starts with `switch,address,gateway`. Every line names a \
           switch, a host address with the length of its subnet, and another address in that subnet as \
           gateway. Subnets overlap neither each other nor a pool of `addresses`. Each subnet has one \
           gateway. All have one IP version, that of `addresses.management` if it is set.",
    impact: "A switch with a wrong management address or gateway is unreachable once it is configured.",
    example: "# outside.csv has a gateway that is in another subnet\n\
           addresses: { management_list: outside.csv }",
    fix: "Correct the line.",
};

/// Checks each line, and all lines together.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    if draft.management.unusable == Some(ListFault::Foreign) {
        out.push(
            Diagnostic::error(&RULE, "the list of management ports does not name its columns")
                .at(
                    draft.at(field!("addresses.management_list")),
                    "its first line does not have exactly these columns",
                )
                .help(format!("its first line must be `{MANAGEMENT_COLUMNS}`")),
        );
    }
    for (span, fault) in &draft.management.faults {
        match fault {
            ManagementFault::Form => out.push(
                Diagnostic::error(&RULE, "expected a switch, an address with a prefix length, and a gateway")
                    .at(*span, "")
                    .help("write `p0-t0-001,10.20.1.7/24,10.20.1.1`"),
            ),
            ManagementFault::Name(why) => out.push(Diagnostic::error(&RULE, why.clone()).at(*span, "")),
            ManagementFault::Twice(_) => {} // Another rule reports it.
        }
    }
    let pools = pools(draft);
    let pool = draft.addresses.management.map(|pool| (pool, draft.at(field!("addresses.management"))));
    let mut subnets = Subnets { first: pool, ..Subnets::default() };
    for (port, span) in draft.management.lines() {
        let subnet = port.address.trunc();
        let met = pools.iter().find(|pool| meet(&pool.net, &subnet));
        let found = match (unfit(&port), met) {
            (Some(why), _) => Some(Diagnostic::error(&RULE, why).at(span, "")),
            (None, Some(pool)) => Some(
                Diagnostic::error(&RULE, format!("{subnet} overlaps `{}`, {}", pool.path, pool.net.trunc()))
                    .at(span, "")
                    .and(draft.at(pool.path), ""),
            ),
            (None, None) => subnets.add(subnet, port.gateway, span),
        };
        if let Some(found) = found {
            out.push(found);
        }
    }
    subnets.report_nested(out);
}

/// Returns whether two prefixes have an address in common.
fn meet(one: &IpNet, other: &IpNet) -> bool {
    one.contains(other) || other.contains(one)
}

/// Returns why a port is invalid by itself.
fn unfit(ManagementPort { address, gateway }: &ManagementPort) -> Option<String> {
    let (own, subnet) = (address.addr(), address.trunc());
    if let Some((range, what)) = range_of(&IpNet::from(own)) {
        return Some(format!("{own} is in {range}, which is {what}"));
    }
    if is_nobodys(address, own) {
        return Some(format!("{own} is an address of {subnet} that no host can have"));
    }
    if !address.contains(gateway) {
        return Some(format!("the gateway {gateway} is not in {subnet}"));
    }
    if *gateway == own {
        return Some(format!("the gateway {gateway} is the switch itself"));
    }
    is_nobodys(address, *gateway)
        .then(|| format!("the gateway {gateway} is an address of {subnet} that no host can have"))
}

/// Returns whether an address is reserved in its subnet, so that a host cannot have it. In IPv4, these are the
/// network and broadcast addresses, except in a /31 (RFC 3021). In IPv6, it is the anycast address of routers (RFC
/// 4291 section 2.6.1), except in a /127 (RFC 6164).
fn is_nobodys(subnet: &IpNet, address: IpAddr) -> bool {
    match subnet {
        IpNet::V4(own) => own.prefix_len() < 31 && (address == own.network() || address == own.broadcast()),
        IpNet::V6(own) => own.prefix_len() < 127 && address == own.network(),
    }
}

/// The subnets in the list, each with its gateway and the first line that uses it.
#[derive(Default)]
struct Subnets {
    gateways: BTreeMap<IpNet, (IpAddr, Span)>,
    /// The pool, or the first line of the list.
    first: Option<(IpNet, Span)>,
}

impl Subnets {
    /// Adds a line; returns its conflict with earlier lines.
    fn add(&mut self, subnet: IpNet, gateway: IpAddr, span: Span) -> Option<Diagnostic> {
        let (other, earlier) = *self.first.get_or_insert((subnet, span));
        if other.addr().is_ipv4() != subnet.addr().is_ipv4() {
            return Some(
                Diagnostic::error(&RULE, "management ports have different IP versions")
                    .at(span, "")
                    .and(earlier, "the other version"),
            );
        }
        let (known, earlier) = *self.gateways.entry(subnet).or_insert((gateway, span));
        (known != gateway).then(|| {
            Diagnostic::error(&RULE, format!("{subnet} has two gateways, {known} and {gateway}"))
                .at(span, "")
                .and(earlier, "the first one")
        })
    }

    /// Reports subnets inside of others.
    fn report_nested(&self, out: &mut Diagnostics) {
        // Sorted by address and length, so that a subnet comes before those inside it.
        let mut outer: Option<(&IpNet, Span)> = None;
        for (subnet, (_, span)) in &self.gateways {
            match outer.filter(|(outer, _)| outer.contains(subnet)) {
                Some((outer, earlier)) => out.push(
                    Diagnostic::error(&RULE, format!("{subnet} is inside {outer}"))
                        .at(*span, "")
                        .and(earlier, "")
                        .help("give both the same length, or separate them"),
                ),
                None => outer = Some((subnet, *span)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{codes, findings, message};

    #[test]
    fn lines_are_ports() {
        let fragment = |file: &str| format!("addresses: {{ management_list: {file} }}");
        assert_eq!(
            message(&fragment("outside.csv"), "E0514"),
            "the gateway 10.21.1.1 is not in 10.20.1.0/24"
        );
        assert_eq!(codes(&fragment("columns.csv")), ["E0514"]);
        assert_eq!(codes(&fragment("listed.csv")), Vec::<&str>::new());
        assert_eq!(codes(&fragment("spreadsheet.csv")), Vec::<&str>::new());
        let found = findings(&fragment("faults.csv"));
        let texts: Vec<&str> = found.iter().map(|found| found.message.as_str()).collect();
        assert_eq!(texts.len(), 15, "{texts:#?}");
        assert!(found.iter().all(|found| found.rule.code == "E0514"), "{texts:#?}");
        // All management ports, including those of the pool, have one IP version, because one DHCP server serves
        // them.
        let six = "addresses: { management: \"2001:db8:77::/64\", management_list: listed.csv }";
        assert_eq!(message(six, "E0514"), "management ports have different IP versions");
    }
}
