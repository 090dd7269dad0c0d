//! Settings in `nvue.yaml` that sites may choose freely, listed by path. All others are faults.
//!
//! In: a key that no reader took, and its value. Out: a record of a setting that is not judged, or a fault. Invariants:
//! a setting below a listed key is accepted only if it is also listed, or matches `**`. Text with several lines is a
//! fault outside `system.message`, because it may be a file of another program.

use super::place::{FILE, fact};
use super::value::Value;
use crate::model::device::{Device, FaultKind};
use crate::read::site::SiteGroup;

/// Paths below `set` (NVUE's OpenAPI schemas of 5.13 to 5.18). `*` stands for any name, `**` for all keys below.
pub(crate) const SITE: &[SiteGroup] = &[
    SiteGroup {
        settings: &[
            "system.aaa.authentication.**",
            "system.aaa.authentication-order.**",
            "system.aaa.authorization.**",
            "system.aaa.class.**",
            "system.aaa.ldap.**",
            "system.aaa.radius.**",
            "system.aaa.role.**",
            "system.aaa.tacacs.**",
            "system.aaa.user.**",
        ],
        reason: "logins and permissions: they configure nothing by themselves",
    },
    SiteGroup {
        settings: &[
            "system.security.alerts.**",
            "system.security.encryption.**",
            "system.security.fips.**",
            "system.security.group.**",
            "system.security.ima.**",
            "system.security.password-hardening.**",
            "system.security.user.**",
        ],
        reason: "protection of passwords, files and logins",
    },
    SiteGroup {
        settings: &[
            "system.ssh-server.allow-users.*",
            "system.ssh-server.authentication-retries",
            "system.ssh-server.ciphers",
            "system.ssh-server.deny-users.*",
            "system.ssh-server.host-key-algorithms",
            "system.ssh-server.inactive-timeout",
            "system.ssh-server.kex-algorithms",
            "system.ssh-server.login-record-period",
            "system.ssh-server.login-timeout",
            "system.ssh-server.macs",
            "system.ssh-server.max-sessions",
            "system.ssh-server.max-sessions-per-connection",
            "system.ssh-server.max-unauthenticated.session-count",
            "system.ssh-server.max-unauthenticated.throttle-percent",
            "system.ssh-server.max-unauthenticated.throttle-start",
            "system.ssh-server.permit-root-login",
            "system.ssh-server.pka-only",
            "system.ssh-server.port.*",
            "system.ssh-server.pubkey-accepted-algorithms",
            "system.ssh-server.state",
            "system.ssh-server.strict",
            "system.ssh-server.trusted-ca-keys.*.key",
            "system.ssh-server.trusted-ca-keys.*.type",
            "system.ssh-server.vrf.*",
        ],
        reason: "access to the SSH server of the switch",
    },
    SiteGroup {
        settings: &[
            "system.api.certificate",
            "system.api.compression",
            "system.api.listening-address.*",
            "system.api.mtls.ca-certificate",
            "system.api.mtls.crl",
            "system.api.port",
            "system.api.state",
            "system.api.token-expiration",
            "system.cli.inactive-timeout",
            "system.cli.pagination.pager",
            "system.cli.pagination.state",
            "system.gnmi-server.certificate",
            "system.gnmi-server.listening-address.*",
            "system.gnmi-server.mtls.ca-certificate",
            "system.gnmi-server.mtls.crl",
            "system.gnmi-server.port",
            "system.gnmi-server.state",
        ],
        reason: "API servers of the switch and their addresses: they change forwarding only on a request, \
                 and requests are not part of a tree",
    },
    SiteGroup {
        settings: &["system.config.auto-save.state", "system.config.backup.state"],
        reason: "saving of the applied configuration, which stays the same",
    },
    SiteGroup {
        settings: &[
            "system.contact",
            "system.location",
            "system.message.post-login",
            "system.message.post-logout",
            "system.message.pre-login",
        ],
        reason: "a text for people",
    },
    SiteGroup {
        settings: &[
            "service.ntp.*.listen",
            "service.ntp.*.pool.**",
            "service.ntp.*.server.**",
            "system.date-time.timezone",
            "system.ntp.authentication",
            "system.ntp.dhcp",
            "system.ntp.key.*.trusted",
            "system.ntp.key.*.type",
            "system.ntp.key.*.value",
            "system.ntp.listen.*",
            "system.ntp.server.*.association-type",
            "system.ntp.server.*.iburst",
            "system.ntp.server.*.key",
            "system.ntp.server.*.state",
            "system.ntp.server.*.trusted",
            "system.ntp.server.*.version",
            "system.ntp.state",
            "system.ntp.vrf",
            "system.timezone",
        ],
        reason: "sources of the time",
    },
    SiteGroup {
        settings: &[
            "service.dns.*.search.*",
            "service.dns.*.server.*",
            "system.dns.domain",
            "system.dns.search.*.priority",
            "system.dns.server.*.priority",
            "system.dns.server.*.vrf",
        ],
        reason: "name servers: no route of the fabric uses a name",
    },
    SiteGroup {
        settings: &[
            "system.syslog.format.standard.*",
            "system.syslog.format.welf.firewall-name",
            "system.syslog.selector.*.facility",
            "system.syslog.selector.*.filter.*.action",
            "system.syslog.selector.*.filter.*.match",
            "system.syslog.selector.*.program-name",
            "system.syslog.selector.*.rate-limit.burst",
            "system.syslog.selector.*.rate-limit.interval",
            "system.syslog.selector.*.severity",
            "system.syslog.server.*.port",
            "system.syslog.server.*.protocol",
            "system.syslog.server.*.selector.*.selector-id",
            "system.syslog.server.*.vrf",
        ],
        reason: "destinations of log messages",
    },
    SiteGroup {
        settings: &[
            "system.snmp-server.auto-refresh-interval",
            "system.snmp-server.listening-address.*.port",
            "system.snmp-server.listening-address.*.vrf",
            "system.snmp-server.mibs.**",
            "system.snmp-server.readonly-community.**",
            "system.snmp-server.readonly-community-v6.**",
            "system.snmp-server.state",
            "system.snmp-server.system-contact",
            "system.snmp-server.system-location",
            "system.snmp-server.system-name",
            "system.snmp-server.trap-cpu-load-average.**",
            "system.snmp-server.trap-destination.**",
            "system.snmp-server.trap-link-down.check-frequency",
            "system.snmp-server.trap-link-up.check-frequency",
            "system.snmp-server.trap-snmp-auth-failures.*",
            "system.snmp-server.username.**",
            "system.snmp-server.viewname.**",
        ],
        reason: "read-only access by SNMP, and destinations of traps",
    },
    SiteGroup {
        settings: &[
            "interface.*.sflow.sample-rate",
            "interface.*.sflow.state",
            "system.sflow.agent.interface",
            "system.sflow.agent.ip",
            "system.sflow.collector.*.interface",
            "system.sflow.collector.*.port",
            "system.sflow.dropmon.*",
            "system.sflow.poll-interval",
            "system.sflow.sampling-rate.*",
            "system.sflow.state",
        ],
        reason: "copies of packet headers for a collector; the packets are forwarded",
    },
    SiteGroup {
        settings: &[
            "system.telemetry.acl-stats.**",
            "system.telemetry.adaptive-routing-stats.**",
            "system.telemetry.ai-ethernet-stats.**",
            "system.telemetry.buffer-stats.**",
            "system.telemetry.congestion-event.**",
            "system.telemetry.control-plane-stats.**",
            "system.telemetry.dot1x-stats.**",
            "system.telemetry.enable",
            "system.telemetry.exclude-list",
            "system.telemetry.export.**",
            "system.telemetry.hft.**",
            "system.telemetry.histogram.**",
            "system.telemetry.include-list",
            "system.telemetry.interface-stats.**",
            "system.telemetry.label.**",
            "system.telemetry.latency-measurement.**",
            "system.telemetry.lldp.**",
            "system.telemetry.metric-list.**",
            "system.telemetry.platform-stats.**",
            "system.telemetry.router.**",
            "system.telemetry.snapshot.**",
            "system.telemetry.snapshot-file.**",
            "system.telemetry.snapshot-interval",
            "system.telemetry.software-stats.**",
            "system.telemetry.state",
            "system.telemetry.stats-group.**",
        ],
        reason: "export of counters",
    },
    SiteGroup {
        settings: &["system.docker.state", "system.docker.vrf"],
        reason: "the container runtime: packets between ports are forwarded by the chip",
    },
    SiteGroup {
        settings: &["service.dhcp-relay.*.**", "service.dhcp-server.*.**"],
        reason: "DHCP for other machines: no device of the fabric uses it",
    },
];

/// Relation of a path to the listed paths.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Fit {
    /// A listed path begins with this path.
    Above,
    /// The path is listed.
    Leaf,
    /// The list contains everything below this path or one of its parents.
    Below,
}

/// Finds a path in the list.
fn fit(path: &[&str]) -> Option<Fit> {
    let all = SITE.iter().flat_map(|group| group.settings);
    all.filter_map(|pattern| {
        let mut own = path.iter();
        for part in pattern.split('.') {
            let Some(name) = own.next() else { return Some(Fit::Above) };
            match part {
                "**" => return Some(Fit::Below),
                "*" => {}
                part if part == *name => {}
                _ => return None,
            }
        }
        own.next().is_none().then_some(Fit::Leaf)
    })
    .max()
}

/// Records a setting of the site, and reports any other key.
pub(super) fn judge<'v>(above: &[&'v str], key: &'v str, value: &'v Value<'v>, device: &mut Device<'_>) {
    let above = above.strip_prefix(&["set"]).filter(|rest| !rest.is_empty()).unwrap_or(above);
    let mut path = above.to_vec();
    path.push(key);
    walk(&mut path, value, device);
}

fn walk<'v>(path: &mut Vec<&'v str>, value: &'v Value<'v>, device: &mut Device<'_>) {
    match (fit(path), value) {
        (Some(Fit::Above), Value::Null) => {}
        (Some(Fit::Above), Value::Object(below)) => {
            for (key, value) in below.iter() {
                path.push(key);
                walk(path, value, device);
                path.pop();
            }
        }
        (Some(Fit::Leaf), Value::Object(below)) if below.len() > 0 => {
            for (key, _) in below.iter() {
                unknown(path, Some(key), device);
            }
        }
        (Some(Fit::Leaf | Fit::Below), value) => leaf(path, value, device),
        (Some(Fit::Above) | None, _) => unknown(path, None, device),
    }
}

/// Records a setting of the site as not judged, by its first keys.
fn leaf(path: &[&str], value: &Value<'_>, device: &mut Device<'_>) {
    if !path.starts_with(&["system", "message"]) && has_lines(value) {
        let message = format!("`{}` has several lines, and may be a file of another program", path.join("."));
        device.fault(FaultKind::Unknown, FILE, fact(path), message);
        return;
    }
    let named = match path {
        ["interface", _, part, ..] => format!("`interface.swp*.{part}` in `{FILE}`"),
        [first, second, ..] => format!("`{first}.{second}` in `{FILE}`"),
        _ => return,
    };
    if !device.not_judged.contains(&named) {
        device.not_judged.push(named);
    }
}

/// Returns whether a text in a value has several lines.
fn has_lines(value: &Value<'_>) -> bool {
    match value {
        Value::String(text) => text.trim_end().contains('\n'),
        Value::Array(items) => items.iter().any(has_lines),
        Value::Object(below) => below.iter().any(|(key, value)| key.contains('\n') || has_lines(value)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

fn unknown(path: &[&str], key: Option<&str>, device: &mut Device<'_>) {
    let path: Vec<&str> = path.iter().copied().chain(key).collect();
    let why = match path[..] {
        ["system", "config", "snippet", ..] => {
            "has lines for the file of another program, which could affect forwarding"
        }
        _ => "is not a key that the proof models",
    };
    device.fault(FaultKind::Unknown, FILE, fact(&path), format!("`{}` {why}", path.join(".")));
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::read::nvue::LANGUAGE;

    fn judge_setting(above: &[&str], key: &str, value: serde_json::Value) -> (Vec<String>, Vec<String>) {
        let mut device = Device::new(&LANGUAGE);
        judge(above, key, &value.into(), &mut device);
        (device.not_judged, device.faults.into_iter().map(|fault| fault.message).collect())
    }

    #[test]
    fn leaves_are_named_and_what_is_beside_them_is_not() {
        for (key, value) in [
            ("aaa", json!({ "user": { "cumulus": { "role": "system-admin" } } })),
            ("ssh-server", json!({ "port": { "22": {} }, "state": "enabled" })),
            ("dns", json!({ "server": { "192.0.2.53": { "vrf": "mgmt" } } })),
            ("message", json!({ "pre-login": "one\ntwo\n" })),
            ("config", json!({ "auto-save": { "state": "enabled" } })),
        ] {
            assert_eq!(
                judge_setting(&["set", "system"], key, value),
                (vec![format!("`system.{key}` in `{FILE}`")], vec![])
            );
        }
        for (key, value, at) in [
            ("config", json!({ "snippet": { "frr.conf": "router bgp 1\n" } }), "system.config.snippet"),
            ("config", json!({ "apply": { "ignore": { "/etc/frr/frr.conf": {} } } }), "system.config.apply"),
            ("ssh-server", json!({ "port": { "22": { "acl": {} } } }), "system.ssh-server.port.22.acl"),
            (
                "aaa",
                json!({ "user": { "cumulus": { "full-name": "a\nrouter bgp 1" } } }),
                "system.aaa.user.cumulus",
            ),
            ("aaa", json!("all"), "system.aaa"),
            ("forwarding", json!({ "hash-seed": 7 }), "system.forwarding"),
        ] {
            let (named, faults) = judge_setting(&["set", "system"], key, value);
            assert_eq!((named.len(), faults.len()), (0, 1), "{key}: {named:?} {faults:?}");
            assert!(faults[0].starts_with(&format!("`{at}`")), "{key}: {faults:?}");
        }
    }
}
