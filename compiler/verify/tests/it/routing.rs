//! Fabrics in which switches choose the path: supported checks are made, and all others are reported as not proved.

use closc_artefacts::Memory;
use closc_tests::shape;
use closc_verify::{Options, Report, verify};

use crate::common;

fn tree(routing: &str, target: &str) -> Memory {
    common::tree(&shape::plan(&format!(
        "fabric: other\nplanes: 2\nrouting: {routing}\nhosts: {{ groups: 2, per_group: 2, nic: {{ speed: 200G, lanes: 2 \
         }}, os: linux }}\ntiers:\n  t0: {{ {target}, up: 2 }}\n  t1: {{ {target} }}\ncables:\n  nic-t0: {{ length: 1m, \
         medium: dac }}\n  t0-t1: {{ length: 2m, medium: dac }}\naddresses: {{ management: 10.64.0.0/14 }}\n"
    )))
}

fn report(tree: &Memory) -> Report {
    verify(tree, &Options { hardware: common::hardware(), ..Options::default() })
        .expect("the tree can be read")
}

const SONIC: &str = "platform: th5-512x100g, os: sonic";
const FRR: &str = "platform: linux, os: frr";

#[test]
fn what_is_not_proved_is_said() {
    for (routing, target) in [
        ("ecmp-static", SONIC),
        ("ecmp-static", FRR),
        ("ecmp-static", "platform: linux, os: linux"),
        ("ecmp-static", "platform: bmv2, os: p4"),
        ("bgp-unnumbered", SONIC),
        ("bgp-unnumbered", FRR),
    ] {
        let report = report(&tree(routing, target));
        let text = report.text();
        assert!(report.holds(), "{routing}, {target}\n{text}");
        assert!(report.paths.is_none() && report.walk.is_none(), "nothing is claimed of paths");
        assert!(
            text.contains(&format!("not proved with routing {routing}: the effect of node files")),
            "{text}"
        );
        let speaks_bgp = text.contains("the behaviour while sessions come up or go down");
        assert_eq!(speaks_bgp, routing == "bgp-unnumbered", "{text}");
        let delivery = report.delivery.expect("deliveries are counted where switches choose");
        assert!(delivery.deliveries > 0 && delivery.arrive == delivery.deliveries, "{text}");
    }
}

/// Returns a fabric of two or three tiers with IPv4 addresses and a drained cable.
fn ipv4(routing: &str, target: &str, has_t2: bool) -> String {
    let (zone, up, t2) =
        if has_t2 { ("z0-", ", up: 2", format!("  t2: {{ {target} }}\n")) } else { ("", "", String::new()) };
    let zones = if has_t2 { "zones: 2\n" } else { "" };
    format!(
        "fabric: other\nplanes: 2\n{zones}routing: {routing}\nhosts: {{ groups: 2, per_group: 2, nics_per_node: 2, rails: 2, \
         nic: {{ speed: 200G, lanes: 2 }}, os: linux, outputs: [netplan, networkd, nccl] }}\ntiers:\n  t0: {{ {target}, up: 2 }}\n  \
         t1: {{ {target}{up} }}\n{t2}cables:\n  nic-t0: {{ length: 1m, medium: dac }}\n  t0-t1: {{ length: 2m, medium: dac }}\n\
         addresses: {{ hosts: 10.0.0.0/8, management: 10.0.0.0/22 }}\nqos: none\n\
         exceptions: {{ drained: [ {zone}p0-t0-001--{zone}p0-t1-002 ] }}\n"
    )
    .replace("hosts: 10.0.0.0/8", "hosts: 10.128.0.0/9")
}

/// Every operating system that routes IPv4, with both routing modes.
const OF_IPV4: [(&str, &str); 9] = [
    ("bgp-unnumbered", SONIC),
    ("bgp-unnumbered", FRR),
    ("bgp-unnumbered", "platform: th5-512x100g, os: eos"),
    ("bgp-unnumbered", "platform: spectrum4-sn5600-256x100g, os: nvue"),
    ("ecmp-static", SONIC),
    ("ecmp-static", FRR),
    ("ecmp-static", "platform: linux, os: linux"),
    ("ecmp-static", "platform: th5-512x100g, os: eos"),
    ("ecmp-static", "platform: spectrum4-sn5600-256x100g, os: nvue"),
];

#[test]
fn ipv4_is_proved() {
    let mut proved = 0;
    for (routing, target) in OF_IPV4 {
        for has_t2 in [false, true] {
            let plan = match shape::try_plan(&ipv4(routing, target, has_t2)) {
                Ok(plan) => plan,
                // EOS announces no link bandwidths, so with BGP it is limited to two tiers.
                Err(faults) => {
                    assert!(has_t2 && target.contains("eos"), "{routing}, {target}\n{faults}");
                    continue;
                }
            };
            let report = report(&common::tree(&plan));
            let text = report.text();
            assert!(report.holds(), "{routing}, {target}, {has_t2}\n{text}");
            let delivery = report.delivery.expect("deliveries are counted where switches choose");
            assert!(delivery.deliveries > 0 && delivery.arrive == delivery.deliveries, "{text}");
            proved += 1;
        }
    }
    assert!(proved >= 17, "{proved}");
}

const EOS: &str = "platform: th5-512x100g, os: eos";

/// Changes of one line: routing mode, target, file, old text and new text.
const FAULTS: [(&str, &str, &str, &str, &str); 13] = [
    (
        "bgp-unnumbered",
        FRR,
        "switches/p0-t0-001/frr.conf",
        "address-family ipv4 unicast",
        "address-family ipv6 unicast",
    ),
    ("bgp-unnumbered", FRR, "switches/p0-t0-001/frr.conf", "match ip address", "match ipv6 address"),
    (
        "bgp-unnumbered",
        FRR,
        "switches/p0-t0-001/frr.conf",
        "ip route 10.128.0.1/32",
        "ip route 10.128.0.9/32",
    ),
    (
        "bgp-unnumbered",
        FRR,
        "switches/p0-t0-001/sysctl.conf",
        "net.ipv4.ip_forward = 1",
        "net.ipv4.ip_forward = 0",
    ),
    ("bgp-unnumbered", FRR, "switches/p0-t0-001/sysctl.conf", "net.ipv4.conf.eth501.rp_filter = 0", ""),
    ("bgp-unnumbered", EOS, "switches/p0-t0-001/eos.conf", "ip routing ipv6 interfaces", "ip routing"),
    (
        "bgp-unnumbered",
        EOS,
        "switches/p0-t0-001/eos.conf",
        "next-hop address-family ipv6 originate",
        "activate",
    ),
    ("ecmp-static", EOS, "switches/p0-t0-001/eos.conf", "ip routing", "no ip routing vrf X"),
    (
        "ecmp-static",
        FRR,
        "hosts/su001-n001/devices.batch",
        "table 501 priority 501",
        "table 502 priority 501",
    ),
    (
        "ecmp-static",
        FRR,
        "hosts/su001-n001/sysctl.conf",
        "net.ipv4.conf.all.rp_filter = 0",
        "net.ipv4.conf.all.rp_filter = 1",
    ),
    (
        "ecmp-static",
        FRR,
        "hosts/su001-n001/ip.batch",
        "route replace 10.128.0.0/9 table 500",
        "route replace 10.128.0.0/9 table 501",
    ),
    (
        "ecmp-static",
        SONIC,
        "switches/p0-t0-001/config_db.json",
        "\"family\": \"IPv4\"",
        "\"family\": \"IPv6\"",
    ),
    (
        "ecmp-static",
        SONIC,
        "switches/p0-t0-001/config_db.json",
        "\"nexthop\": \"100.",
        "\"nexthop\": \"fd00::64\", \"x\": \"100.",
    ),
];

/// Each change of one line that loses IPv4 packets, or may lose them, is found.
#[test]
fn faults_of_ipv4_are_found() {
    for (routing, target, file, from, to) in FAULTS {
        let mut tree = common::tree(&shape::plan(&ipv4(routing, target, false)));
        let text = tree.files.get_mut(camino::Utf8Path::new(file)).unwrap_or_else(|| panic!("{file}"));
        let was = String::from_utf8(text.clone()).expect("text");
        let now = was.replace(from, to);
        assert_ne!(was, now, "{file} has `{from}`");
        *text = now.into_bytes();
        common::sign(&mut tree, "other", routing);
        let report = verify(&tree, &Options { hardware: common::hardware(), ..Options::default() });
        assert!(!report.is_ok_and(|report| report.holds()), "{file}: `{from}` to `{to}`");
    }
}

#[test]
fn cables_are_checked_all_the_same() {
    for (routing, target) in [("ecmp-static", FRR), ("bgp-unnumbered", FRR), ("bgp-unnumbered", SONIC)] {
        let mut tree = tree(routing, target);
        let list = tree.files.get_mut(camino::Utf8Path::new("cables/plane-0.csv")).expect("a list");
        let text = String::from_utf8(list.clone()).expect("text");
        let swapped = text.replace("p0-t1-001,", "\0").replace("p0-t1-002,", "p0-t1-001,");
        *list = swapped.replace('\0', "p0-t1-002,").into_bytes();
        common::sign(&mut tree, "other", routing);
        let report = report(&tree);
        let found = report.violations.iter().any(|violation| violation.rule.code == "V0203");
        assert!(found, "{routing}: a device expects another neighbour\n{}", report.text());
    }
}

#[test]
fn lengths_of_single_cables_raise_no_alarm() {
    let fabric = |cables: &str| {
        let tier = "platform: linux, os: linux";
        let yaml = format!(
            "fabric: other\nplanes: 2\nzones: 2\nrouting: srv6-static\nhosts: {{ groups: 2, per_group: 2, nic: {{ speed: 200G, \
             lanes: 2 }}, os: linux }}\ntiers:\n  t0: {{ {tier}, up: 2 }}\n  t1: {{ {tier}, up: 2 }}\n  t2: {{ {tier} }}\ncables:\n  \
             nic-t0: {{ length: 3m, medium: virtual }}\n  t0-t1: {{ length: 30m, medium: virtual }}\n  t1-t2: {{ length: \
             500m, medium: virtual }}\n{cables}"
        );
        common::tree(&shape::plan(&yaml))
    };
    let single = |nic: &str, t0: &str, t1: &str| {
        format!(
            "exceptions:\n  cables:\n    z0-su001-n001/nic0.p0: {{ length: {nic} }}\n    z0-p0-t0-001--z0-p0-t1-001: {{ length: {t0} \
             }}\n    z1-p1-t1-002--p1-t2-001: {{ length: {t1} }}\n"
        )
    };
    for cables in [String::new(), single("1m", "1m", "1m"), single("300m", "2km", "80km")] {
        let report = report(&fabric(&cables));
        assert!(report.holds(), "{cables}\n{}", report.text());
    }
}
