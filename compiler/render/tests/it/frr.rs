//! `frr.conf` read back, and checked by `vtysh` if it is installed.

use std::collections::BTreeMap;
use std::net::Ipv6Addr;
use std::process::Command;
use std::{env, fs};

use closc_render::Artefact;
use closc_tests::shape::plan;
use ipnet::Ipv6Net;

use crate::common::switches;

/// Two planes, two cables between a T0 and a T1 and a description per port.
const LAB: &str = "
fabric: frr-lab
planes: 2
routing: srv6-static
hosts: { groups: 2, per_group: 3, nic: { speed: 200G, lanes: 2 } }
tiers:
  t0: { platform: linux, os: frr, up: 4, parallel: 2 }
  t1: { platform: linux, os: frr }
cables:
  nic-t0: { length: 1m, medium: virtual }
  t0-t1: { length: 1m, medium: virtual }
qos: lossy-trim
";

fn texts(yaml: &str, file: &str) -> BTreeMap<String, String> {
    let wanted = |artefact: &Artefact| artefact.path.file_name() == Some(file);
    let text = |artefact: Artefact| (artefact.path.to_string(), String::from_utf8(artefact.bytes).unwrap());
    switches(&plan(yaml)).into_iter().filter(wanted).map(text).collect()
}

fn split_words(text: &str) -> Vec<Vec<&str>> {
    text.lines().map(|line| line.split_whitespace().collect()).collect()
}

/// Addresses by interface.
fn addresses(text: &str) -> BTreeMap<&str, Ipv6Net> {
    let (mut found, mut current) = (BTreeMap::new(), "");
    for line in split_words(text) {
        match line[..] {
            ["interface", name] => current = name,
            ["ipv6", "address", address] => {
                found.insert(current, address.parse().unwrap());
            }
            _ => {}
        }
    }
    found
}

#[test]
fn routes_lead_to_neighbours_and_nowhere_else() {
    for (path, text) in texts(LAB, "frr.conf") {
        let addresses = addresses(&text);
        let (mut blackholes, mut prefixes) = (0, Vec::<Ipv6Net>::new());
        for line in split_words(&text) {
            match line[..] {
                ["ipv6", "route", prefix, "blackhole"] => {
                    blackholes += 1;
                    prefixes.push(prefix.parse().unwrap());
                }
                ["ipv6", "route", prefix, gateway, port] => {
                    prefixes.push(prefix.parse().unwrap());
                    let (own, gateway) = (addresses[port], gateway.parse::<Ipv6Addr>().unwrap());
                    assert!(own.contains(&gateway) && own.addr() != gateway, "{path}: {line:?}");
                }
                ["ipv6", "route", ..] => panic!("{path}: {line:?}"),
                _ => {}
            }
        }
        assert_eq!(blackholes, 1, "{path}");
        assert!(prefixes.iter().all(|prefix| prefix.prefix_len() > 0), "{path}: a default route");
        // `show running-config` prints routes in this order.
        assert!(prefixes.is_sorted() && prefixes.len() > 4, "{path}: {prefixes:?}");
    }
}

/// staticd loses a SID that precedes its locator (sonic-buildimage 21826). The segment is a plain uN, which
/// needs neither an interface nor a VRF (FRR 19981).
#[test]
fn locators_come_before_their_segments() {
    for (path, text) in texts(LAB, "frr.conf") {
        let (mut locators, mut sids) = (BTreeMap::new(), 0);
        let mut name = "";
        for line in split_words(&text) {
            match line[..] {
                ["locator", locator] => name = locator,
                ["prefix", prefix, "block-len", "32", "node-len", "16", "func-bits", "0"] => {
                    locators.insert(name, prefix);
                }
                ["sid", prefix, "locator", locator, "behavior", "uN"] => {
                    assert_eq!(locators.get(locator), Some(&prefix), "{path}");
                    sids += 1;
                }
                ["sid", ..] => panic!("{path}: {line:?}"),
                _ => {}
            }
        }
        assert_eq!((locators.len(), sids), (2, 2), "{path}");
    }
}

/// Static segments are installed on `sr0`, which must exist (sonic-buildimage 21857).
#[test]
fn the_device_for_segments_is_created() {
    let conf = texts(LAB, "frr.conf");
    let devices = texts(LAB, "devices.batch");
    assert_eq!(conf.len(), devices.len());
    for (path, text) in devices {
        assert!(text.lines().any(|line| line.starts_with("link add name sr0 ")), "{path}");
    }
    for (path, text) in texts(LAB, "ip.batch") {
        assert!(text.contains("link set dev sr0 up\n"), "{path}");
    }
}

/// FRR 10.5.0 does not install static segments (FRR 20092), so another release is pinned. The first line of the file
/// is a comment with the reason.
#[test]
fn the_release_is_pinned() {
    for (path, text) in texts(LAB, "frr.conf") {
        let version = text.lines().find_map(|line| line.strip_prefix("frr version ")).unwrap();
        assert!(version.starts_with("10.") && version != "10.5.0", "{path}: {version}");
        assert!(text.lines().next().unwrap().contains("10.5.0 installs none"), "{path}");
    }
}

#[test]
fn interfaces_are_in_the_order_of_frr() {
    for (path, text) in texts(LAB, "frr.conf") {
        let number = |name: &str| {
            let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
            (stem.to_owned(), name[stem.len()..].parse::<u32>().unwrap_or(0))
        };
        let names: Vec<_> =
            text.lines().filter_map(|line| line.strip_prefix("interface ")).map(number).collect();
        assert!(names.is_sorted() && names.contains(&("lo".to_owned(), 0)), "{path}: {names:?}");
    }
}

#[test]
fn the_kernel_has_every_port_and_its_neighbour() {
    let conf = texts(LAB, "frr.conf");
    for (path, text) in texts(LAB, "ip.batch") {
        let ports: Vec<&str> = addresses(&conf[&path.replace("ip.batch", "frr.conf")])
            .into_keys()
            .filter(|name| *name != "lo")
            .collect();
        for port in ports {
            let neighbour = format!(" dev {port} nud permanent");
            assert_eq!(text.lines().filter(|line| line.ends_with(&neighbour)).count(), 1, "{path}: {port}");
            assert!(text.contains(&format!("link set dev {port} up\n")), "{path}: {port}");
        }
        assert!(!text.contains("route ") && !text.contains("address replace"), "{path}");
    }
}

/// Checks the file with FRR's own parser, from `CLOSC_VTYSH` or the installed `vtysh`. FRR 8 rejects exactly the
/// lines of static segments and the properties of locators; FRR 10 rejects none.
#[test]
fn vtysh_understands_every_line() {
    let vtysh = env::var("CLOSC_VTYSH").unwrap_or_else(|_| "vtysh".to_owned());
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in texts(LAB, "frr.conf") {
        let file = folder.path().join("frr.conf");
        fs::write(&file, &text).unwrap();
        let Ok(output) = Command::new(&vtysh).args(["-C", "-f"]).arg(&file).output() else {
            closc_skip::skip(format_args!("`{vtysh}` cannot be run; install frr or set CLOSC_VTYSH"));
            return;
        };
        let messages = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
        let refused: Vec<&str> = messages
            .lines()
            .filter_map(|line| line.strip_prefix("line ")?.split_once(':')?.0.parse::<usize>().ok())
            .map(|number| text.lines().nth(number - 1).unwrap().trim())
            .collect();
        let new =
            |line: &&str| ["static-sids", "sid ", "prefix ", "behavior "].iter().any(|w| line.starts_with(w));
        let newer: Vec<&str> = text.lines().map(str::trim).filter(new).collect();
        assert!(refused.is_empty() || refused == newer, "{path}: {messages}");
        assert_eq!(output.status.success(), refused.is_empty(), "{path}: {messages}");
    }
}

/// A pod with BGP, for either target that writes `frr.conf`.
fn bgp_pod(hardware: &str, nic: &str, medium: &str) -> String {
    format!(
        "
fabric: bgp-pod
planes: 1
routing: bgp-unnumbered
hosts: {{ groups: 4, per_group: 2, nic: {{ speed: {nic} }} }}
tiers:
  t0: {{ {hardware}, up: 4, parallel: 2 }}
  t1: {{ {hardware} }}
cables:
  nic-t0: {{ length: 1m, medium: {medium} }}
  t0-t1: {{ length: 1m, medium: {medium} }}
qos: lossless
exceptions: {{ drained: [ p0-t0-002--p0-t1-001 ] }}
"
    )
}

fn bgp_texts() -> BTreeMap<String, String> {
    let frr = bgp_pod("platform: linux, os: frr", "100G", "virtual").replace("lossless", "lossy-trim");
    let sonic = bgp_pod("platform: th5-128x400g, os: sonic", "400G", "dac");
    let named = |os: &str, yaml: &str| -> Vec<(String, String)> {
        texts(yaml, "frr.conf").into_iter().map(|(path, text)| (format!("{os} {path}"), text)).collect()
    };
    let ipv4 = |yaml: &str| format!("{yaml}addresses: {{ hosts: 10.0.0.0/8 }}\n");
    let all = [named("frr", &frr), named("sonic", &sonic)];
    let of_ipv4 = [named("frr ipv4", &ipv4(&frr)), named("sonic ipv4", &ipv4(&sonic))];
    all.into_iter().chain(of_ipv4).flatten().collect()
}

/// A neighbour is identified by port and AS number, so a session over a cable to the wrong plane does not come up.
/// Every side has a filter in both directions and a maximum number of prefixes.
#[test]
fn sessions_accept_only_the_planned_neighbour() {
    for (path, text) in bgp_texts() {
        let own = text.lines().find_map(|line| line.strip_prefix("router bgp ")).unwrap();
        let (mut ports, mut remotes) = (Vec::new(), Vec::new());
        for line in split_words(&text) {
            match line[..] {
                ["neighbor", port, "interface", "v6only", "remote-as", asn] => {
                    ports.push(port.to_owned());
                    remotes.push(asn.to_owned());
                }
                ["neighbor", side, "peer-group"] => {
                    for needed in [
                        format!("  neighbor {side} route-map {side}-IN in"),
                        format!("  neighbor {side} route-map {side}-OUT out"),
                        format!(" neighbor {side} bfd profile FABRIC"),
                    ] {
                        assert!(text.lines().any(|line| line == needed), "{path}: {needed}");
                    }
                    assert!(text.contains(&format!("neighbor {side} maximum-prefix ")), "{path}");
                }
                _ => {}
            }
        }
        let is_t0 = path.contains("-t0-");
        assert_eq!(ports.len(), if is_t0 { 4 } else { 8 }, "{path}");
        assert!(!remotes.contains(&own.to_owned()), "{path}: {remotes:?}");
        remotes.sort_unstable();
        remotes.dedup();
        // All T1s of a plane share an AS number; every T0 has its own.
        assert_eq!(remotes.len(), if is_t0 { 1 } else { 4 }, "{path}");
        for port in ports {
            let section = format!("interface {port}\n");
            let body = text.split(&section).nth(1).unwrap().split("exit").next().unwrap();
            assert!(
                !body.contains("ipv6 address") && body.contains("no ipv6 nd suppress-ra"),
                "{path}: {body}"
            );
        }
    }
}

/// A T0 announces its own routes, not those that it received.
#[test]
fn t0s_carry_no_transit() {
    for (path, text) in bgp_texts().into_iter().filter(|(path, _)| path.contains("-t0-")) {
        let out = text.split("route-map ABOVE-OUT permit 10\n").nth(1).unwrap().split("exit").next().unwrap();
        let lines: Vec<&str> = out.lines().map(str::trim).collect();
        let family = if path.contains("ipv4") { "ip" } else { "ipv6" };
        let own = format!("match {family} address prefix-list OWN");
        assert_eq!(lines, [&own, "match as-path AT-MOST-0", "set extcommunity bandwidth 1"], "{path}");
        assert!(text.contains("bgp as-path access-list AT-MOST-0 seq 5 permit ^$\n"), "{path}");
        let networks: Vec<_> = text.lines().filter_map(|line| line.strip_prefix("  network ")).collect();
        let own: Vec<_> = text
            .lines()
            .filter(|line| line.starts_with(&format!("{family} prefix-list OWN ")))
            .map(|l| l.rsplit(' ').next())
            .collect();
        assert_eq!(own, networks.iter().map(|network| Some(*network)).collect::<Vec<_>>(), "{path}");
    }
}

/// Every referenced list and map is defined in the file. `vtysh -C` does not check that.
#[test]
fn referenced_lists_and_maps_are_defined() {
    const NAMES: [(&str, &str); 5] = [
        (" route-map ", "route-map NAME permit "),
        (" match ip address prefix-list ", "ip prefix-list NAME seq "),
        (" match ipv6 address prefix-list ", "ipv6 prefix-list NAME seq "),
        ("match as-path ", "bgp as-path access-list NAME seq "),
        ("match community ", "bgp community-list standard NAME seq "),
    ];
    for (path, text) in bgp_texts() {
        for (before, definition) in NAMES {
            for line in text.lines().filter(|line| line.starts_with(' ')) {
                let Some((_, name)) = line.split_once(before) else { continue };
                let name = name.split(' ').next().unwrap();
                let start = definition.replace("NAME", name);
                assert!(text.lines().any(|line| line.starts_with(&start)), "{path}: {line}: no {start}");
            }
        }
    }
}

/// Both ends of a drained cable mark it as the last resort.
#[test]
fn drained_cables_are_the_last_resort_at_both_ends() {
    let drained: Vec<String> = bgp_texts()
        .into_iter()
        .filter(|(_, text)| {
            text.contains("-IN-DRAINED in\n") && text.contains("set community graceful-shutdown additive")
        })
        .map(|(path, _)| path)
        .collect();
    let names: Vec<&str> = drained.iter().filter_map(|path| path.split('/').nth(1)).collect();
    assert_eq!(names, ["p0-t0-002", "p0-t1-001"].repeat(4));
}

#[test]
fn vtysh_understands_bgp() {
    let vtysh = env::var("CLOSC_VTYSH").unwrap_or_else(|_| "vtysh".to_owned());
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in bgp_texts() {
        let file = folder.path().join("frr.conf");
        fs::write(&file, &text).unwrap();
        let Ok(output) = Command::new(&vtysh).args(["-C", "-f"]).arg(&file).output() else {
            closc_skip::skip(format_args!("`{vtysh}` cannot be run; install frr or set CLOSC_VTYSH"));
            return;
        };
        let messages = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{path}: {messages}");
    }
}
