//! Damage to a kernel: ports, addresses, neighbours, routes, settings.

use std::process::Command;

use closc_artefacts::carriers::SwitchFile;

use super::{Act, Damage, Pick, Victim};

/// An `ip` command that reverses, changes or adds to the effect of a command in the file, with the words that the
/// report must contain.
type Reversal = (Act, String, Vec<String>);

fn reversal(act: Act, command: String, named: &[&str]) -> Reversal {
    (act, command, named.iter().map(|word| (*word).to_owned()).collect())
}

/// Returns commands that reverse or change the effect of a command in the file.
fn reversals(line: &str) -> Vec<Reversal> {
    let words: Vec<&str> = line.split(' ').collect();
    match words.as_slice() {
        ["link", "set", "dev", port, "up"] => vec![
            reversal(Act::Removed, format!("link set dev {port} down"), &["link set dev", port, "up"]),
            reversal(
                Act::Added,
                format!("-6 rule add pref 1 iif {port} lookup 77"),
                &["-6 rule add pref 1 from all iif", port],
            ),
        ],
        ["link", "set", "dev", port, settings @ ..] if settings.contains(&"mtu") => {
            vec![reversal(
                Act::Changed,
                format!("link set dev {port} mtu 1400"),
                &["link set dev", port, "mtu 1400"],
            )]
        }
        ["address", "replace", address, "dev", port, ..] => {
            let mut found = vec![reversal(
                Act::Removed,
                format!("address del {address} dev {port}"),
                &["address", address],
            )];
            if *port != "lo" {
                let added = format!("address add fd99::1/64 dev {port} nodad");
                found.push(reversal(Act::Added, added, &["address", "fd99::1/64", port]));
            }
            found
        }
        ["neighbour", "replace", address, "lladdr", _, "dev", port, ..] => {
            let other = |address: &str| {
                format!("neighbour replace {address} lladdr 02:00:00:00:00:99 dev {port} nud permanent")
            };
            vec![
                reversal(Act::Changed, other(address), &["neighbour", address, "02:00:00:00:00:99"]),
                reversal(
                    Act::Removed,
                    format!("neighbour del {address} dev {port}"),
                    &["neighbour", address],
                ),
                reversal(Act::Added, other("fe80::99"), &["neighbour", "fe80::99", port]),
            ]
        }
        ["route", "replace", "blackhole", prefix] => vec![
            reversal(Act::Removed, format!("route del blackhole {prefix}"), &["route", prefix]),
            reversal(
                Act::Added,
                "route add blackhole fd99::/64".to_owned(),
                &["route", "blackhole fd99::/64"],
            ),
        ],
        ["route", "replace", prefix, "via", gateway, "dev", port, ..] => route(prefix, gateway, port),
        ["route", "replace", prefix, ..] => {
            vec![reversal(Act::Removed, format!("route del {prefix}"), &["route", prefix])]
        }
        _ => Vec::new(),
    }
}

/// Returns commands that change a route over one port.
fn route(prefix: &str, gateway: &str, port: &str) -> Vec<Reversal> {
    vec![
        reversal(Act::Removed, format!("route del {prefix}"), &["route", prefix]),
        reversal(
            Act::Added,
            format!("route add fd98::/64 via {gateway} dev {port}"),
            &["route", "fd98::/64", port],
        ),
        reversal(
            Act::Changed,
            format!("route replace {prefix} via {gateway} dev {port} mtu 1280"),
            &["route", prefix, "mtu 1280"],
        ),
        // If there are two routes to a prefix, the kernel uses the one with the lower metric.
        reversal(
            Act::Changed,
            format!("route add {prefix} via {gateway} dev {port} metric 7"),
            &["route", prefix, "metric 7"],
        ),
    ]
}

/// Reverses a command of the file in the kernel, or runs another one.
pub(super) fn addresses(victim: &Victim<'_>, pick: &mut Pick<'_>) -> Option<Damage> {
    let batch = victim.target_file(SwitchFile::IpBatch);
    let mut all: Vec<Reversal> = batch.lines().flat_map(reversals).collect();
    let first = pick(all.len().max(1));
    all.rotate_left(first);
    // The kernel rejects a command for a device that earlier damage removed.
    let (act, command, named) =
        all.iter().find(|(_, command, _)| victim.fleet.ip(victim.name, command).is_empty())?;
    let mut named = named.clone();
    named.push("ip.batch".to_owned());
    Some(Damage { act: *act, subject: command.clone(), word_sets: vec![named] })
}

/// Removes a device that the tree creates, or replaces it with another one of the same name.
pub(super) fn device(victim: &Victim<'_>, pick: &mut Pick<'_>) -> Option<Damage> {
    let devices = victim.target_file(SwitchFile::DevicesBatch);
    let all: Vec<&str> =
        devices.lines().filter_map(|line| line.strip_prefix("link add name ")?.split(' ').next()).collect();
    let device = all.get(pick(all.len().max(1)))?;
    assert_eq!(victim.fleet.ip(victim.name, &format!("link del dev {device}")), "");
    let mut act = Act::Removed;
    if pick(2) == 0 {
        act = Act::Changed;
        assert_eq!(
            victim.fleet.ip(victim.name, &format!("link add name {device} type veth peer name xx0")),
            ""
        );
    }
    Some(Damage::new(act, *device, &[&["devices.batch", device]]))
}

/// Changes a setting of a port or of the namespace.
pub(super) fn setting(victim: &Victim<'_>, pick: &mut Pick<'_>) -> Option<Damage> {
    let text = victim.target_file(SwitchFile::SysctlConf);
    let lines: Vec<&str> =
        text.lines().filter(|line| line.contains(".conf.") && !line.contains(".disable_ipv6")).collect();
    let (key, _) = lines.get(pick(lines.len().max(1)))?.split_once(" = ").expect("a setting");
    // The kernel rounds 1 ms and 2 ms to the same tick.
    let value = if key.ends_with("_interval") { "5000" } else { "2" };
    let script = format!("echo {value} > /proc/sys/{}", key.replace('.', "/"));
    let namespace = victim.fleet.namespace(victim.name);
    let done = Command::new("ip").args(["netns", "exec", &namespace, "sh", "-c", &script]).status();
    assert!(done.is_ok_and(|status| status.success()), "{script}");
    Some(Damage::new(Act::Changed, script, &[&["sysctl.conf", key, value]]))
}
