//! The site's configuration: the settings that `docs/push.md` leaves to the site.
//!
//! In: a switch that has the configuration of a tree. Out: a change by the site. Invariants: `drift` does not report
//! it, and a push does not remove it.

use closc_artefacts::carriers::Transport;
use serde_json::{Value, json};

use crate::carriers::damage::Pick;
use crate::carriers::fleet::Fleet;
use crate::carriers::system::Kind;

/// Site settings of EOS: users and AAA, management network, control-plane access lists, logging, SNMP.
const EOS: [&str; 12] = [
    "username ops privilege 1 secret sha512 $6$y\n",
    "snmp-server community public ro\n",
    "logging host 192.0.2.9\n",
    "aaa authorization commands all default local\n",
    "vrf instance MGMT\n",
    "ip access-list standard ADMINS\n   10 permit host 192.0.2.7\n",
    "tacacs-server host 192.0.2.8\n",
    "clock timezone UTC\n",
    "alias shv show version\n",
    "ip route vrf MGMT 198.51.100.0/24 192.0.2.1\n",
    "daemon TerminAttr\n   exec /usr/bin/TerminAttr\n",
    "event-handler link\n   action bash true\n",
];

/// Site settings of NVUE, each with its keys.
const NVUE: [(&[&str], &str); 7] = [
    (&["system", "aaa", "user", "ops", "role"], "nvue-monitor"),
    (&["system", "snmp-server", "state"], "enabled"),
    (&["system", "control-plane", "acl", "B", "inbound", "x"], "y"),
    (&["interface", "eth0", "description"], "management"),
    (&["vrf", "mgmt", "table"], "1001"),
    (&["acl", "B", "type"], "ipv6"),
    (&["service", "syslog", "mgmt", "server", "192.0.2.9", "port"], "514"),
];

/// Site settings of FRRouting.
const FRR: [&str; 6] = [
    "log syslog informational\n",
    "ip route 198.51.100.0/24 192.0.2.1\n",
    "debug bgp updates\n",
    "username ops password x\n",
    "vrf MGMT\n ip route 0.0.0.0/0 192.0.2.1\n",
    "interface mgmt\n description management\n",
];

/// `ip` commands on a port of the site.
const IP: [(&str, &str, &str); 3] = [
    ("address add 2001:db8:9::7/64 dev mgmt", "address show dev mgmt", "2001:db8:9::7/64"),
    ("-6 route add 2001:db8:77::/48 via 2001:db8:9::9 dev mgmt", "-6 route show", "2001:db8:77::/48"),
    (
        "neighbour add 2001:db8:9::9 lladdr 02:00:00:00:00:77 dev mgmt nud permanent",
        "-6 neighbour show dev mgmt",
        "02:00:00:00:00:77",
    ),
];

/// Site settings of SONiC: tables, keys, fields and values.
const SONIC: [[&str; 4]; 6] = [
    ["SNMP_COMMUNITY", "public", "TYPE", "RO"],
    ["TACPLUS_SERVER", "192.0.2.8", "priority", "1"],
    ["MGMT_VRF_CONFIG", "vrf_global", "mgmtVrfEnabled", "true"],
    ["ACL_TABLE", "SSH_ONLY", "type", "CTRLPLANE"],
    ["FEATURE", "telemetry", "state", "enabled"],
    ["DEVICE_METADATA", "localhost", "timezone", "UTC"],
];

/// Site settings of FRR in the `bgp` container.
const SONIC_FRR: [&str; 2] = ["log syslog errors\n", "vrf MGMT\n ip route 0.0.0.0/0 192.0.2.1\n"];

/// First words of FRR's statement for its log level.
const LEVEL: &str = "log syslog";

/// A change by the site.
pub(crate) enum SiteChange {
    /// Lines of a file.
    Lines { file: &'static str, lines: &'static str },
    /// A value of NVUE.
    Leaf { keys: &'static [&'static str], value: &'static str },
    /// A value of CONFIG_DB.
    Field([&'static str; 4]),
    /// An object of the kernel, with the command that shows it.
    Object { show: &'static str, shown: &'static str },
}

fn of<T: Copy>(pick: &mut Pick<'_>, among: &[T]) -> T {
    among[pick(among.len())]
}

/// Makes a random site change; `None` if a switch has no site configuration.
pub(crate) fn touch(fleet: &Fleet, name: &str, pick: &mut Pick<'_>) -> Option<SiteChange> {
    let lines = |file: &'static str, lines: &'static str| {
        let text = fleet.read(name, file);
        // FRR has a single log level.
        let is_replaced = |line: &&str| lines.starts_with(LEVEL) && line.starts_with(LEVEL);
        let kept: String = text.split_inclusive('\n').filter(|line| !is_replaced(line)).collect();
        fleet.put(&format!("fleet/{name}/{file}"), &(kept + lines), 0o644);
        SiteChange::Lines { file, lines }
    };
    match fleet.system.kind {
        Kind::Eos => {
            let change = of(pick, &EOS);
            lines("startup", change);
            Some(lines("running", change))
        }
        Kind::Nvue => {
            let (keys, value) = of(pick, &NVUE);
            let mut config: Value = serde_json::from_str(&fleet.read(name, "applied")).expect("JSON");
            *keys.iter().fold(&mut config, |place, key| &mut place[*key]) = json!(value);
            fleet.put(&format!("fleet/{name}/applied"), &config.to_string(), 0o644);
            Some(SiteChange::Leaf { keys, value })
        }
        Kind::Kernel { has_frr } if has_frr && pick(2) == 0 => Some(lines("frr", of(pick, &FRR))),
        Kind::Kernel { .. } => {
            let (command, show, shown) = of(pick, &IP);
            assert_eq!(fleet.ip(name, command), "", "{command}");
            Some(SiteChange::Object { show, shown })
        }
        // Without a `frr.conf` in the tree, SONiC generates its own at each reload.
        Kind::Sonic if fleet.place.path(&format!("a/switches/{name}/frr.conf")).exists() && pick(2) == 0 => {
            Some(lines("frr/running", of(pick, &SONIC_FRR)))
        }
        Kind::Sonic => {
            let [table, key, field, value] = of(pick, &SONIC);
            let mut config = fleet.config(name);
            config[table][key][field] = json!(value);
            fleet.set_config(name, &config);
            Some(SiteChange::Field([table, key, field, value]))
        }
        Kind::Programmed => None,
    }
}

/// Returns whether switches have site configuration; P4Runtime targets have none.
pub(crate) fn has_site(fleet: &Fleet) -> bool {
    fleet.system.transports != [Transport::P4Runtime]
}

impl SiteChange {
    /// Returns whether only the routing daemon of a SONiC switch has the change.
    pub(crate) fn is_running_only(&self) -> bool {
        matches!(self, SiteChange::Lines { file: "frr/running", .. })
    }

    /// Checks that the switch still has the change.
    pub(crate) fn assert_kept(&self, fleet: &Fleet, name: &str) {
        match self {
            SiteChange::Lines { file, lines } => {
                let text = fleet.read(name, file);
                for line in lines.lines() {
                    assert!(
                        text.lines().any(|held| held == line),
                        "{} {name}: {line}: {text}",
                        fleet.system.name
                    );
                }
            }
            SiteChange::Leaf { keys, value } => {
                let config: Value = serde_json::from_str(&fleet.read(name, "applied")).expect("JSON");
                let held = keys.iter().fold(&config, |place, key| &place[*key]);
                assert_eq!(held, value, "{name}: {keys:?}: {config}");
            }
            SiteChange::Field([table, key, field, value]) => {
                let config = fleet.config(name);
                assert_eq!(
                    config[*table][*key][*field], *value,
                    "{} {name}: {table}|{key}",
                    fleet.system.name
                );
            }
            SiteChange::Object { show, shown } => {
                let text = fleet.ip(name, show);
                assert!(text.contains(shown), "{} {name}: {shown}: {text}", fleet.system.name);
            }
        }
    }
}
