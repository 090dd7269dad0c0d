//! E0512: a server address is multicast, loopback, unspecified or listed twice.

use std::collections::BTreeMap;

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};

use crate::draft::Draft;

/// A server address is multicast, loopback, unspecified or listed twice.
pub(crate) static RULE: Rule = Rule {
    code: "E0512",
    title: "an invalid server address",
    condition: "Addresses in `services` are unicast addresses of other hosts, not loopback addresses. No list has \
           an address twice.",
    impact: "A switch with a multicast or unspecified address as server gets no time and sends no logs.",
    example: "services: { ntp: [0.0.0.0] }",
    fix: "Write the address of the server, once.",
};

/// Checks every server.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    let Some(services) = &draft.doc.services else { return };
    for (what, addresses) in [("ntp", &services.ntp), ("syslog", &services.syslog)] {
        let addresses = addresses.as_deref().unwrap_or_default();
        let mut seen = BTreeMap::new();
        for address in addresses {
            let value = address.value;
            if value.is_multicast() || value.is_unspecified() || value.is_loopback() {
                out.push(
                    Diagnostic::error(&RULE, format!("`services.{what}` names {value}, which is not a host"))
                        .at(address.span, "multicast, loopback or unspecified"),
                );
            }
            if let Some(first) = seen.insert(value, address) {
                out.push(
                    Diagnostic::error(&RULE, format!("`services.{what}` names {value} twice"))
                        .at(address.span, "again here")
                        .and(first.span, "first here"),
                );
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{codes, message};

    #[test]
    fn servers_are_hosts() {
        assert_eq!(codes("services: { ntp: [0.0.0.0] }"), ["E0512"]);
        assert_eq!(codes("services: { syslog: [192.0.2.1, 192.0.2.1] }"), ["E0512"]);
        assert_eq!(codes("services: { syslog: [192.0.2.1, 192.0.2.2] }"), Vec::<&str>::new());
        assert_eq!(
            message("services: { ntp: [ff02::1] }", "E0512"),
            "`services.ntp` names ff02::1, which is not a host"
        );
    }
}
