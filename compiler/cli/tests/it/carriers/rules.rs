//! Policy rules and metrics of routes. Those that change the forwarding of the fabric are named and removed; rules of
//! the site are kept.

use crate::carriers::fleet::Fleet;
use crate::carriers::system::{Kind, ssh_only_systems};

/// Rules that packets of the fabric do not match, or that come after its routes.
const SITE: [&str; 7] = [
    "pref 500 from all oif mgmt lookup 99",
    "pref 501 from all iif mgmt lookup 99",
    "pref 502 from 2001:db8:9::/64 lookup 99",
    "pref 503 from all to 2001:db8:77::/48 lookup 99",
    "pref 504 from all fwmark 0x7 lookup 99",
    "pref 505 from all lookup main suppress_prefixlength 0",
    "pref 40000 from all blackhole",
];

/// Commands that divert packets of the fabric, and the words in the output of `drift`.
const STOLEN: [(&str, &str); 6] = [
    ("-6 rule add pref 1 from all blackhole", "-6 rule add pref 1 from all blackhole"),
    ("-6 rule add pref 2 iif eth1 lookup 77", "-6 rule add pref 2 from all iif eth1 lookup 77"),
    ("-6 rule add pref 3 not fwmark 7 lookup 77", "-6 rule add pref 3 not from all fwmark 0x7 lookup 77"),
    ("-6 rule add pref 4 fwmark 0/0x1 unreachable", "-6 rule add pref 4 from all fwmark 0/0x1 unreachable"),
    ("-6 rule add pref 5 to fd00::/8 lookup 77", "-6 rule add pref 5 from all to fd00::/8 lookup 77"),
    ("-6 rule del pref 32766", "-6 rule add pref 32766 from all lookup main"),
];

fn fleets() -> impl Iterator<Item = Fleet> {
    let kernels = ssh_only_systems().filter(|system| matches!(system.kind, Kind::Kernel { .. }));
    kernels.filter_map(|system| Fleet::new(system, &system.small()))
}

fn rules(fleet: &Fleet, name: &str) -> String {
    fleet.ip(name, "-6 rule show").replace(":\t", " ")
}

#[test]
fn rules_that_steal_packets_are_named_and_removed() {
    for fleet in fleets() {
        let name = fleet.names[0].clone();
        fleet.ends(0, &["push", "a"]);
        for rule in SITE {
            assert_eq!(fleet.ip(&name, &format!("-6 rule add {rule}")), "");
        }
        fleet.ends(0, &["drift", "a"]);
        let before = rules(&fleet, &name);
        for (command, named) in STOLEN {
            assert_eq!(fleet.ip(&name, command), "", "{command}");
            let stolen = rules(&fleet, &name);
            let said = fleet.ends(2, &["drift", "a"]);
            assert!(said.contains(&format!("ip.batch {named}")), "{command}: {said}");
            let said = fleet.ends(0, &["push", "a"]);
            fleet.ends(0, &["drift", "a"]);
            assert_eq!(rules(&fleet, &name), before, "{command}");
            if command.contains("blackhole") {
                let run = said.split("--rollback ").nth(1).and_then(|rest| rest.split('`').next());
                fleet.ends(0, &["push", "a", "--rollback", run.expect("it is named")]);
                assert_eq!(rules(&fleet, &name), stolen, "{command}");
                fleet.ends(0, &["push", "a"]);
            }
        }
        // This fabric does not route IPv4.
        assert_eq!(fleet.ip(&name, "-4 rule add pref 1 from all blackhole"), "");
        fleet.ends(0, &["drift", "a"]);
    }
}

#[test]
fn metrics_of_routes_are_named_and_removed() {
    for fleet in fleets().filter(|fleet| fleet.system.kind == Kind::Kernel { has_frr: false }) {
        let name = fleet.names[0].clone();
        fleet.ends(0, &["push", "a"]);
        let batch = fleet.place.read(&format!("a/switches/{name}/ip.batch"));
        let hop = |line: &&str| line.starts_with("route replace ") && line.contains(" via ");
        let route =
            batch.lines().find(hop).expect("a route").strip_prefix("route replace ").expect("it is one");
        let (prefix, hops) = route.split_once(' ').expect("a next hop");
        let shown = fleet.ip(&name, "-6 route show");
        for metrics in ["mtu 1280", "advmss 500", "hoplimit 2 mtu 1280"] {
            assert_eq!(fleet.ip(&name, &format!("route replace {prefix} {metrics} {hops}")), "");
            let said = fleet.ends(2, &["drift", "a"]);
            assert!(said.contains(prefix) && said.contains(metrics), "{metrics}: {said}");
            fleet.ends(0, &["push", "a"]);
            assert_eq!(fleet.ip(&name, "-6 route show"), shown, "{metrics}");
        }
    }
}
