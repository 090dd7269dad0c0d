//! Queues of a switch with kernel forwarding: `tc.batch`.
//!
//! In: the file of a tree, and the output of `tc`. Out: facts of each port. Invariants: only ports that the file names
//! are compared; an unknown command is an error.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use closc_artefacts::paths::TC_BATCH;
use serde_json::Value;

use super::facts::{self, Facts, Finding, findings};
use super::system::{SystemState, Texts, begin};

/// Parameters of `red` that the kernel prints as they were written.
const RED: [&str; 3] = ["limit", "min", "max"];

/// Returns the lines of the file that are commands.
fn lines(wanted: &Texts) -> impl Iterator<Item = &str> {
    let text = wanted.get(TC_BATCH).map_or("", String::as_str);
    text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'))
}

/// Returns the ports of the file.
fn ports(wanted: &Texts) -> BTreeSet<&str> {
    let is_name = |name: &str| name.chars().all(|sign| sign.is_ascii_alphanumeric() || "._-".contains(sign));
    lines(wanted).filter_map(|line| line.split_whitespace().nth(3)).filter(|name| is_name(name)).collect()
}

/// Returns the commands that print queues and filters.
pub(super) fn read(wanted: &Texts) -> String {
    let ports = ports(wanted);
    if ports.is_empty() {
        return String::new();
    }
    let mut script = format!("{}tc -j -d qdisc show </dev/null\necho\n{}", begin("qdisc"), begin("filter"));
    for port in ports {
        let _ = write!(script, "echo 'port {port}'\ntc filter show dev {port} </dev/null\n");
    }
    script
}

/// Returns a file that restores the earlier queues: the startup file, or commands that remove closc's queues.
pub(super) fn rollback_file(wanted: &Texts, held: &SystemState) -> String {
    let saved = held.section(&format!("saved {TC_BATCH}"));
    if !saved.is_empty() {
        return saved.to_owned();
    }
    facts::lines(ports(wanted).into_iter().map(|port| format!("qdisc del dev {port} root")))
}

/// Compares queues with the file.
pub(super) fn compare(wanted: &Texts, held: &SystemState) -> Result<Vec<Finding>, String> {
    let mut asked = Facts::new();
    for line in lines(wanted) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let fact = command_fact(&words)
            .ok_or_else(|| format!("`{line}` of `{TC_BATCH}` is not a command that can be compared"))?;
        asked.extend(fact);
    }
    let mut live = qdiscs(held.section("qdisc"), &ports(wanted))?;
    filters(held.section("filter"), &mut live);
    let missing: Facts = asked.difference(&live).cloned().collect();
    let unexpected: Facts = live.difference(&asked).cloned().collect();
    Ok(findings(TC_BATCH, &missing, &unexpected))
}

/// Returns the fact that a command creates; an empty set for a command that only removes, and `None` for any
/// other command.
fn command_fact(words: &[&str]) -> Option<Facts> {
    let one = |fact: String| Some(Facts::from([fact]));
    match words {
        ["filter", "del", "dev", _, "parent", "1:"] | ["qdisc", "del", "dev", _, "root"] => {
            Some(Facts::new())
        }
        ["qdisc", "replace", "dev", port, "root", "handle", handle, "ets", options @ ..] => {
            one(format!("dev {port} root {handle} ets {}", options.join(" ")))
        }
        ["qdisc", "replace", "dev", port, "parent", parent, "handle", handle, "bfifo", "limit", limit] => {
            one(format!("dev {port} parent {parent} {handle} bfifo limit {limit}"))
        }
        ["qdisc", "replace", "dev", port, "parent", parent, "handle", handle, "red", options @ ..] => {
            let value = |key: &str| {
                let at = options.iter().position(|word| *word == key)?;
                options.get(at + 1).copied()
            };
            let mut fact = format!("dev {port} parent {parent} {handle} red");
            for key in RED {
                let _ = write!(fact, " {key} {}", value(key)?);
            }
            for flag in ["ecn", "nodrop"] {
                if options.contains(&flag) {
                    let _ = write!(fact, " {flag}");
                }
            }
            one(fact)
        }
        [
            "filter",
            "add",
            "dev",
            port,
            "parent",
            "1:",
            "protocol",
            protocol,
            "pref",
            pref,
            "u32",
            "match",
            rest @ ..,
        ] => {
            let (key, mask, flow) = match rest {
                ["ip6", "priority", value, mask, "flowid", flow] => {
                    (hex(value)? << 20, hex(mask)? << 20, flow)
                }
                ["u32", value, mask, "flowid", flow] => (hex(value)?, hex(mask)?, flow),
                _ => return None,
            };
            one(format!("dev {port} {protocol} pref {pref} match {key:08x}/{mask:08x} at 0 flowid {flow}"))
        }
        _ => None,
    }
}

fn hex(word: &str) -> Option<u32> {
    match word.strip_prefix("0x") {
        Some(digits) => u32::from_str_radix(digits, 16).ok(),
        None => word.parse().ok(),
    }
}

fn qdiscs(text: &str, ports: &BTreeSet<&str>) -> Result<Facts, String> {
    let mut live = Facts::new();
    if text.trim().is_empty() {
        return Ok(live);
    }
    let all: Vec<Value> = serde_json::from_str(text.trim())
        .map_err(|error| format!("the output of `tc` cannot be read: {error}"))?;
    let string =
        |value: &Value, key: &str| value.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    for qdisc in all.iter().filter(|qdisc| ports.contains(string(qdisc, "dev").as_str())) {
        let [port, kind, handle, parent] = ["dev", "kind", "handle", "parent"].map(|key| string(qdisc, key));
        // The kernel's own queue, if no other is configured.
        if handle == "0:" {
            continue;
        }
        let options = qdisc.get("options").cloned().unwrap_or_default();
        let list = |key: &str| {
            let all = options.get(key).and_then(Value::as_array).into_iter().flatten();
            all.filter_map(Value::as_u64).map(|number| number.to_string()).collect::<Vec<_>>().join(" ")
        };
        let number =
            |key: &str| options.get(key).and_then(Value::as_u64).map(|number| format!(" {key} {number}"));
        let place = if parent.is_empty() { "root".to_owned() } else { format!("parent {parent}") };
        let mut fact = format!("dev {port} {place} {handle} {kind}");
        if kind == "ets" {
            fact += &number("bands").unwrap_or_default();
            fact += &number("strict").filter(|text| text != " strict 0").unwrap_or_default();
            for key in ["quanta", "priomap"].into_iter().filter(|key| !list(key).is_empty()) {
                let _ = write!(fact, " {key} {}", list(key));
            }
        } else {
            fact.extend(RED.iter().filter_map(|key| number(key)));
            for flag in ["ecn", "nodrop"] {
                if options.get(flag) == Some(&Value::Bool(true)) {
                    let _ = write!(fact, " {flag}");
                }
            }
        }
        live.insert(fact);
    }
    Ok(live)
}

/// Parses filters: a line with the class, followed by one with the match. Filters of other kinds, without a class, or
/// with an action are facts too, because any of them can drop packets.
fn filters(text: &str, live: &mut Facts) {
    let (mut port, mut open) = ("", String::new());
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            ["port", name] => (port, open) = (*name, String::new()),
            ["filter", "protocol" | "parent", ..] => {
                open = filter_key(&words);
                if let Some(foreign) = open.strip_suffix(" -") {
                    live.insert(format!("dev {port} {foreign}"));
                }
            }
            ["match", key, "at", at] if !open.is_empty() => {
                let (head, flow) = open.rsplit_once(' ').unwrap_or((&open, ""));
                live.insert(format!("dev {port} {head} match {key} at {at} flowid {flow}"));
            }
            ["action", "order", action @ ..] => {
                let head = open.rsplit_once(' ').map_or("", |(head, _)| head);
                live.insert(format!("dev {port} {head} action {}", action.join(" ")));
            }
            _ => {}
        }
    }
}

/// Returns protocol, preference and class of a filter; `-` is the class of a filter that sets none. Heads and hash
/// tables of u32 are not filters.
fn filter_key(words: &[&str]) -> String {
    let value = |key: &str| {
        let at = words.iter().position(|word| word.trim_start_matches('*') == key)?;
        words.get(at + 1).copied()
    };
    let (Some(protocol), Some(pref)) = (value("protocol"), value("pref")) else { return String::new() };
    let kind = words.iter().position(|word| *word == "pref").and_then(|at| words.get(at + 2)).copied();
    match (kind, value("flowid")) {
        (Some("u32"), Some(flow)) => format!("{protocol} pref {pref} {flow}"),
        (Some("u32"), None) if !words.contains(&"order") => String::new(),
        (kind, _) => format!("{protocol} pref {pref} {} -", kind.unwrap_or_default()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As iproute2 6.1 prints them.
    const PRINTED: &str = "port eth1\n\
        filter parent 1: protocol ipv6 pref 10 u32 chain 0 \n\
        filter parent 1: protocol ipv6 pref 10 u32 chain 0 fh 800: ht divisor 1 \n\
        filter parent 1: protocol ipv6 pref 10 u32 chain 0 fh 800::800 order 2048 key ht 800 bkt 0 *flowid 1:3 not_in_hw \n  \
        match 00c00000/0fc00000 at 0\n";

    fn read(more: &str) -> Vec<String> {
        let mut live = Facts::new();
        filters(&format!("{PRINTED}{more}"), &mut live);
        live.into_iter().filter(|fact| !fact.contains("00c00000")).collect()
    }

    #[test]
    fn a_filter_of_another_kind_is_a_fact() {
        assert_eq!(read(""), Vec::<String>::new());
        let drop = "filter parent 1: protocol all pref 1 matchall chain 0 \n\
            filter parent 1: protocol all pref 1 matchall chain 0 handle 0x1 \n  not_in_hw\n\t\
            action order 1: gact action drop\n\t random type none pass val 0\n";
        assert_eq!(
            read(drop),
            ["dev eth1 all pref 1 matchall", "dev eth1 all pref 1 matchall action 1: gact action drop"]
        );
        assert_eq!(
            read("\taction order 1: gact action drop\n"),
            ["dev eth1 ipv6 pref 10 action 1: gact action drop"]
        );
        let unclassed = "filter parent 1: protocol ipv6 pref 9 u32 chain 0 fh 801::800 order 2048 key ht 801 bkt 0 not_in_hw \n";
        assert_eq!(read(unclassed), ["dev eth1 ipv6 pref 9 u32"]);
    }
}
