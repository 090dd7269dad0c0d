//! Damages: something that a file of the tree is about changes on a switch, past closc.
//!
//! In: a switch that holds a tree. Out: what is to be put back. Invariants: what is the site's is not touched.

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::Rng as _;

use crate::fleet::{Fleet, Kind};

/// State before a damage.
pub(crate) type Undo = Vec<(String, String)>;

/// Kinds of damages of a switch: at least one for each file that is brought to it.
pub(crate) fn kinds(fleet: &Fleet) -> Vec<&'static str> {
    match fleet.kind {
        Kind::Eos => vec!["eos.conf"],
        Kind::Nvue => vec!["nvue.yaml"],
        Kind::Kernel { has_frr } => {
            let frr = ["frr.conf", "etc/frr/frr.conf", "etc/frr/daemons"];
            let kernel = ["ip.batch", "devices.batch", "sysctl.conf", "tc.batch"];
            let saved = [
                "etc/closc/ip.batch",
                "etc/closc/devices.batch",
                "etc/closc/sysctl.conf",
                "etc/closc/tc.batch",
            ];
            kernel.into_iter().chain(saved).chain(frr.into_iter().filter(|_| has_frr)).collect()
        }
    }
}

/// Damages something of a switch that a file of the tree is about, and returns what is to be put back; nothing where there
/// is nothing of that kind.
pub(crate) fn damage(fleet: &Fleet, name: &str, tree: &str, random: &mut SplitMix64) -> Option<Undo> {
    let kinds = kinds(fleet);
    let kind = kinds[usize::try_from(random.next_u64() % kinds.len() as u64).expect("small")];
    damage_of(fleet, name, (tree, kind), random)
}

/// Makes a damage of one kind.
pub(crate) fn damage_of(
    fleet: &Fleet,
    name: &str,
    (tree, kind): (&str, &'static str),
    random: &mut SplitMix64,
) -> Option<Undo> {
    let mut pick = |count: usize| usize::try_from(random.next_u64() % count.max(1) as u64).expect("small");
    match kind {
        "eos.conf" => Some(eos_damage(fleet, name, tree, &mut pick)),
        "nvue.yaml" => Some(nvue_damage(fleet, name, &mut pick)),
        "ip.batch" => kernel_damage(fleet, name, tree, &mut pick),
        "devices.batch" => device_damage(fleet, name, tree),
        "sysctl.conf" => Some(setting_damage(fleet, name, tree, &mut pick)),
        "tc.batch" => file_damage(fleet, name, "tc", &mut pick),
        "frr.conf" => file_damage(fleet, name, "frr", &mut pick),
        saved => file_damage(fleet, name, saved, &mut pick),
    }
}

/// Takes a line away, changes it, or adds one.
fn eos_damage(fleet: &Fleet, name: &str, tree: &str, pick: &mut impl FnMut(usize) -> usize) -> Undo {
    let text = fleet.read(name, "running");
    let wanted = fleet.place.read(&format!("{tree}/switches/{name}/eos.conf"));
    let wanted: BTreeSet<String> = wanted.lines().map(|line| line.trim().to_owned()).collect();
    let lines: Vec<&str> = text.lines().collect();
    let own: Vec<usize> = (0..lines.len())
        .filter(|at| wanted.contains(lines[*at].trim()) && lines[*at].starts_with("   "))
        .collect();
    let at = own[pick(own.len())];
    let changed: Vec<String> = match pick(3) {
        // A line goes, gets another value, or another one comes.
        0 => lines
            .iter()
            .enumerate()
            .filter(|(place, _)| *place != at)
            .map(|(_, line)| (*line).to_owned())
            .collect(),
        1 => lines
            .iter()
            .enumerate()
            .map(|(place, line)| if place == at { format!("{line}1") } else { (*line).to_owned() })
            .collect(),
        _ => lines
            .iter()
            .enumerate()
            .flat_map(|(place, line)| {
                let indent = " ".repeat(line.len() - line.trim_start().len());
                let more = (place == at).then(|| format!("{indent}ipv6 access-group X in"));
                [(*line).to_owned()].into_iter().chain(more)
            })
            .collect(),
    };
    fleet.put(&format!("fleet/{name}/running"), &(changed.join("\n") + "\n"), 0o644);
    vec![("running".to_owned(), text)]
}

/// Takes a leaf away, changes it, or adds an access list beside it.
fn nvue_damage(fleet: &Fleet, name: &str, pick: &mut impl FnMut(usize) -> usize) -> Undo {
    let text = fleet.read(name, "applied");
    let mut value: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let mut paths = Vec::new();
    leaves(&value, &mut Vec::new(), &mut paths);
    paths.retain(|path| match path[0].as_str() {
        "interface" => !path[1].starts_with("eth"),
        "vrf" => path[1] == "default",
        "qos" | "router" => true,
        _ => path.ends_with(&["hostname".to_owned()]),
    });
    let path = &paths[pick(paths.len())];
    let (last, parents) = path.split_last().expect("a path");
    let place = parents.iter().fold(&mut value, |value, key| &mut value[key.as_str()]);
    match pick(3) {
        0 => drop(place.as_object_mut().expect("a mapping").remove(last)),
        1 => place[last.as_str()] = serde_json::json!("damaged"),
        _ => place["acl"] = serde_json::json!({ "X": { "inbound": {} } }),
    }
    fleet.put(&format!("fleet/{name}/applied"), &value.to_string(), 0o644);
    vec![("applied".to_owned(), text)]
}

fn leaves(value: &serde_json::Value, path: &mut Vec<String>, found: &mut Vec<Vec<String>>) {
    match value.as_object().filter(|map| !map.is_empty()) {
        None => found.push(path.clone()),
        Some(map) => {
            for (key, below) in map {
                path.push(key.clone());
                leaves(below, path, found);
                path.pop();
            }
        }
    }
}

/// Returns a command that undoes or changes what one of the file did.
fn reversal(line: &str) -> Option<String> {
    let words: Vec<&str> = line.split(' ').collect();
    Some(match words.as_slice() {
        ["link", "set", "dev", port, "up"] => format!("link set dev {port} down"),
        ["link", "set", "dev", port, settings @ ..] if settings.contains(&"mtu") => {
            format!("link set dev {port} mtu 1400")
        }
        ["address", "replace", address, "dev", port, ..] => format!("address del {address} dev {port}"),
        ["neighbour", "replace", address, "lladdr", _, "dev", port, ..] => {
            format!("neighbour replace {address} lladdr 02:00:00:00:00:99 dev {port} nud permanent")
        }
        ["route", "replace", "blackhole", prefix] => format!("route del blackhole {prefix}"),
        ["route", "replace", prefix, ..] => format!("route del {prefix}"),
        _ => return None,
    })
}

/// Takes a command of the file back in the kernel.
fn kernel_damage(
    fleet: &Fleet,
    name: &str,
    tree: &str,
    pick: &mut impl FnMut(usize) -> usize,
) -> Option<Undo> {
    let batch = fleet.place.read(&format!("{tree}/switches/{name}/ip.batch"));
    let damages: Vec<String> = batch.lines().filter_map(reversal).collect();
    let damage = damages.get(pick(damages.len()))?;
    fleet.ip(name, damage);
    Some(vec![("ip".to_owned(), batch)])
}

/// Removes a device that the tree makes.
fn device_damage(fleet: &Fleet, name: &str, tree: &str) -> Option<Undo> {
    let [devices, batch] =
        ["devices.batch", "ip.batch"].map(|file| fleet.place.read(&format!("{tree}/switches/{name}/{file}")));
    let device = devices.lines().find_map(|line| line.strip_prefix("link add name ")?.split(' ').next())?;
    fleet.ip(name, &format!("link del dev {device}"));
    Some(vec![("ip".to_owned(), devices), ("ip".to_owned(), batch)])
}

/// Lines of FRR that are its defaults, so that it does not print them: without one it does the same.
const FRR_DEFAULTS: [&str; 7] = [
    "bgp graceful-restart restart-time 120",
    "detect-multiplier 3",
    "maximum-paths 256",
    "receive-interval 300",
    "service integrated-vtysh-config",
    "timers bgp 3 9",
    "transmit-interval 300",
];

fn setting_damage(fleet: &Fleet, name: &str, tree: &str, pick: &mut impl FnMut(usize) -> usize) -> Undo {
    let text = fleet.place.read(&format!("{tree}/switches/{name}/sysctl.conf"));
    let lines: Vec<&str> = text.lines().filter(|line| line.contains("conf.eth")).collect();
    let (key, value) = lines[pick(lines.len())].split_once(" = ").expect("a setting");
    let path = format!("/proc/sys/{}", key.replace('.', "/"));
    let write = |value: &str| {
        let script = format!("echo {value} > {path}");
        let done =
            Command::new("ip").args(["netns", "exec", &fleet.namespace(name), "sh", "-c", &script]).status();
        assert!(done.is_ok_and(|status| status.success()), "{script}");
    };
    // The kernel rounds 2 ms to the tick that 1 ms is, too.
    write(if key.ends_with("_interval") { "5000" } else { "2" });
    vec![(path.clone(), value.to_owned())]
}

/// Takes a line of a file away, or changes it.
fn file_damage(fleet: &Fleet, name: &str, file: &str, pick: &mut impl FnMut(usize) -> usize) -> Option<Undo> {
    let text = fleet.read(name, file);
    if text.is_empty() || text == "{}" {
        return None;
    }
    let damaged = if file == "tc" {
        let mut value: serde_json::Value = serde_json::from_str(&text).ok()?;
        let ports: Vec<String> = value.as_object()?.keys().cloned().collect();
        let port = &mut value[&ports[pick(ports.len())]];
        let filters = port["filters"].as_array_mut()?;
        let at = pick(filters.len());
        filters.remove(at);
        value.to_string()
    } else {
        let site = ["frr version", "log", "ip route", "#", "!"];
        let lines: Vec<&str> = text.lines().collect();
        let own: Vec<usize> = (0..lines.len())
            .filter(|at| {
                let line = lines[*at].trim();
                !line.is_empty()
                    && !site.iter().any(|words| line.starts_with(words))
                    && !["exit", "end"].contains(&line)
                    && !FRR_DEFAULTS.contains(&line)
                    && !line.starts_with("interface")
                    && !line.starts_with("hostname")
            })
            .collect();
        let at = own[pick(own.len())];
        let lines =
            lines.iter().enumerate().filter(|(place, _)| *place != at).map(|(_, line)| format!("{line}\n"));
        lines.collect()
    };
    fleet.put(&format!("fleet/{name}/{file}"), &damaged, 0o644);
    Some(vec![(file.to_owned(), text)])
}

pub(crate) fn repair(fleet: &Fleet, name: &str, undo: Undo) {
    for (file, text) in undo {
        match file.as_str() {
            "ip" => {
                let batch = fleet.place.path("repair.batch");
                fs::write(&batch, text).expect("it is ours");
                fleet.ip(name, &format!("-force -batch {}", batch.display()));
            }
            path if path.starts_with("/proc/") => {
                let script = format!("echo {text} > {path}");
                let done = Command::new("ip")
                    .args(["netns", "exec", &fleet.namespace(name), "sh", "-c", &script])
                    .status();
                assert!(done.is_ok_and(|status| status.success()), "{script}");
            }
            file => fleet.put(&format!("fleet/{name}/{file}"), &text, 0o644),
        }
    }
}
