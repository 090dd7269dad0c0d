//! Equivalent rewrites cause no violations: order, spelling, explicit defaults, white space, comments, and site tables.

#![allow(clippy::format_collect, clippy::format_push_string, reason = "the texts of tests are short")]

use camino::Utf8PathBuf;
use closc_artefacts::Memory;
use closc_verify::verify;
use serde_json::{Map, Value, json};

use crate::base::{self, Base, Trees};
use crate::common;

/// A rewrite of a text, which returns `None` if it does not apply.
type Rewrite = (&'static str, fn(&str) -> Option<String>);

/// Files with their possible rewrites.
const REWRITES: [(&str, &[Rewrite]); 17] = [
    ("config_db.json", CONFIG),
    ("frr.conf", CONF),
    ("daemons", DAEMONS),
    ("eos.conf", EOS),
    ("nvue.yaml", NVUE),
    ("tc.batch", COMMENTS),
    ("ip.batch", BATCH),
    ("devices.batch", DEVICES),
    ("sysctl.conf", SYSCTL),
    ("routes.batch", COMMENTS),
    ("netplan.yaml", NETPLAN),
    ("*.network", UNIT),
    ("*.link", UNIT),
    ("*.rules", RULES),
    ("nccl.conf", SETTINGS),
    ("vccl.conf", SETTINGS),
    ("nic-qos.sh", SCRIPT),
];

const CONFIG: &[Rewrite] = &[
    ("compact", |text| Some(serde_json::to_string(&parse_json(text)).expect("it was JSON"))),
    ("tables the other way round", |text| Some(reverse_keys(&parse_json(text), 1))),
    ("rows the other way round", |text| Some(reverse_keys(&parse_json(text), 2))),
    ("fields the other way round", |text| Some(reverse_keys(&parse_json(text), 3))),
    ("tabs", |text| Some(text.replace("    ", "\t"))),
    ("escapes", |text| Some(text.replace("Ethernet0\"", "Ethern\\u0065t0\""))),
    ("routes without their VRF", |text| {
        Some(text.replace("\"default|", "\"")).filter(|_| text.contains("STATIC_ROUTE"))
    }),
    ("distances of routes", |text| add_to_rows(text, "STATIC_ROUTE", "distance", "0")),
    ("distance 1", |text| add_to_rows(text, "STATIC_ROUTE", "distance", "1")),
    ("the VRF of next hops", |text| add_to_rows(text, "STATIC_ROUTE", "nexthop-vrf", "default")),
    ("no autonegotiation, said", |text| add_to_rows(text, "PORT", "autoneg", "off")),
    ("the tag of Ethernet, said", |text| add_to_rows(text, "PORT", "tpid", "0x8100")),
    ("symmetric pauses, said", |text| add_to_rows(text, "PORT", "pfc_asym", "off")),
    ("routed ports, said", |text| add_to_rows(text, "PORT", "mode", "routed")),
    ("outer ports, said", |text| add_to_rows(text, "PORT", "role", "Ext")),
    ("who may log in", |text| table(text, "AAA", &json!({ "authentication": { "login": "tacacs+,local" } }))),
    ("where logins are asked", |text| table(text, "TACPLUS", &json!({ "global": { "timeout": "5" } }))),
    ("servers of logins", |text| table(text, "TACPLUS_SERVER", &json!({ "10.0.0.9": { "priority": "1" } }))),
    ("services", |text| table(text, "FEATURE", &json!({ "telemetry": { "state": "enabled" } }))),
    ("services of the image", |text| {
        let absent = "not DEVICE_RUNTIME_METADATA['ETHERNET_PORTS_PRESENT']";
        let state = format!("{{% if {absent} %}}disabled{{% else %}}enabled{{% endif %}}");
        let rows = json!({ "bgp": { "state": state }, "pmon": { "state": "enabled" } });
        table(text, "FEATURE", &rows)
    }),
    ("a rack and a region", |text| {
        let mut config = parse_json(text);
        let own = &mut config["DEVICE_METADATA"]["localhost"];
        own["rack_mgmt_map"] = own["hostname"].clone();
        own["region"] = own["mac"].clone();
        Some(config.to_string())
    }),
    ("counters every second", |text| {
        let mut config = parse_json(text);
        config["FLEX_COUNTER_TABLE"]["PORT"] =
            json!({ "FLEX_COUNTER_STATUS": "enable", "POLL_INTERVAL": "1000" });
        Some(config.to_string())
    }),
    ("telemetry", |text| table(text, "GNMI", &json!({ "gnmi": { "port": "50052" } }))),
    ("names", |text| table(text, "DNS_NAMESERVER", &json!({ "10.0.0.53": {} }))),
    ("a message", |text| table(text, "BANNER_MESSAGE", &json!({ "global": { "state": "enabled" } }))),
    ("lists of the control plane", |text| {
        let list = json!({ "SSH_ONLY": { "type": "CTRLPLANE", "stage": "ingress", "services": ["SSH"] } });
        let rules = json!({ "SSH_ONLY|RULE_1": { "PACKET_ACTION": "ACCEPT", "PRIORITY": "9998", "SRC_IP": "10.0.0.0/8" } });
        table(&table(text, "ACL_TABLE", &list)?, "ACL_RULE", &rules)
    }),
];

const CONF: &[Rewrite] = &[
    ("as shown", |text| Some(format!("Building configuration...\n\nCurrent configuration:\n!\n{text}"))),
    ("without marks", |text| Some(remove_lines(text, |line| line.trim() == "!"))),
    ("without exits", |text| {
        Some(remove_lines(text, |line| matches!(line.trim(), "exit" | "exit-address-family")))
    }),
    ("without an end", |text| Some(remove_lines(text, |line| line.trim() == "end"))),
    ("without indentation", |text| Some(text.lines().map(|line| line.trim().to_owned() + "\n").collect())),
    ("deeper", |text| Some(text.lines().map(|line| format!("  {line}\n")).collect())),
    ("with carriage returns", |text| Some(text.replace('\n', "\r\n"))),
    ("comments", |text| Some(text.replace("!\n", "! as planned\n"))),
    ("networks the other way round", |text| reverse_lines(text, "network ")),
    ("routes the other way round", |text| reverse_lines(text, "ipv6 route ")),
    ("prefix lists the other way round", |text| reverse_lines(text, "ipv6 prefix-list ")),
    ("a description of a group", |text| {
        add_after(text, " peer-group\n", |line| {
            let group = line.trim().split(' ').nth(1).unwrap_or_default();
            format!(" neighbor {group} description above or below\n")
        })
    }),
    ("changes are logged", |text| {
        add_after(text, "router bgp ", |_| " bgp log-neighbor-changes\n".to_owned())
    }),
    ("forwarding, said", |text| Some(format!("ipv6 forwarding\n{text}"))),
    ("Null0 for blackhole", |text| Some(text.replace(" blackhole\n", " Null0\n")).filter(|new| new != text)),
    ("number behind its neighbour", |text| {
        let mut out = String::new();
        for line in text.lines() {
            match line.split_once(" remote-as ").filter(|(before, _)| before.contains(" interface")) {
                Some((before, asn)) => {
                    let name = line.trim().split(' ').nth(1).unwrap_or_default();
                    out += &format!("{before}\n neighbor {name} remote-as {asn}\n");
                }
                None => out += &format!("{line}\n"),
            }
        }
        Some(out).filter(|new| new.trim_end() != text.trim_end())
    }),
];

const EOS: &[Rewrite] = &[
    ("without marks", |text| Some(remove_lines(text, |line| line.trim() == "!"))),
    ("without indentation", |text| Some(text.lines().map(|line| line.trim().to_owned() + "\n").collect())),
    ("with carriage returns", |text| Some(text.replace('\n', "\r\n"))),
    ("routes the other way round", |text| reverse_lines(text, "ipv6 route ")),
    ("exits", |text| Some(text.replace("!\ninterface ", "exit\n!\ninterface "))),
    ("every command of a port twice", |text| {
        let twice = |line: &str| {
            let again = ["mtu ", "speed ", "no shutdown", "description "]
                .iter()
                .any(|word| line.trim().starts_with(word));
            if again { format!("{line}\n{line}") } else { line.to_owned() }
        };
        Some(lines(text, twice))
    }),
    ("the site's part", |text| {
        let part = "username ops privilege 15 role network-admin secret sha512 $6$x\n!\nmanagement ssh\n   idle-timeout 60\n!\n";
        Some(text.replace("hostname ", &format!("{part}hostname ")))
    }),
];

const NVUE: &[Rewrite] = &[
    ("comments", |text| Some(lines(text, |line| format!("{line} # as planned")))),
    ("empty lines", |text| Some(text.replace('\n', "\n\n"))),
    ("with carriage returns", |text| Some(text.replace('\n', "\r\n"))),
    ("flow style", |text| Some(yaml(text).to_string())),
    ("keys the other way round", |text| Some(set(&reverse_keys(&yaml(text).as_array()?[0]["set"], 1)))),
    ("keys of parts the other way round", |text| {
        Some(set(&reverse_keys(&yaml(text).as_array()?[0]["set"], 2)))
    }),
    ("double quotes", |text| Some(text.replace('\'', "\""))),
    ("as saved", |text| Some(text.replace("- set:", "- header: { model: SN5600, version: '5.16' }\n- set:"))),
    ("negotiation, said without quotes", |text| {
        Some(text.replace("          mtu: ", "          auto-negotiate: on\n          mtu: "))
    }),
];

/// Returns an NVUE file with certain settings.
fn set(settings: &str) -> String {
    format!("- set: {settings}\n")
}

const DAEMONS: &[Rewrite] = &[
    ("comments", |text| Some(text.replace('\n', " # as planned\n"))),
    ("the other way round", |text| Some(backwards(text))),
    ("options in single quotes", |text| Some(text.replace('"', "'"))),
    ("other daemons, said", |text| Some(format!("{text}ospfd=no\nisisd=no\n"))),
    ("empty lines", |text| Some(text.replace('\n', "\n\n"))),
];

const BATCH: &[Rewrite] = &[
    ("neigh", |text| Some(text.replace("neighbour replace", "neigh replace"))),
    ("neighbor", |text| Some(text.replace("neighbour replace", "neighbor replace"))),
    ("addr", |text| Some(text.replace("address replace", "addr replace"))),
    ("the family, said", |text| {
        Some(lines(
            text,
            |line| if line.starts_with("route ") { format!("-6 {line}") } else { line.to_owned() },
        ))
    }),
    ("ports before next hops", |text| Some(lines(text, swap_route))),
    ("ports before addresses", |text| {
        Some(lines(text, |line| match line.split(' ').collect::<Vec<_>>()[..] {
            ["neighbour", "replace", address, "lladdr", mac, "dev", port, "nud", "permanent"] => {
                format!("neighbour replace {address} dev {port} lladdr {mac} nud permanent")
            }
            _ => line.to_owned(),
        }))
    }),
    ("without `dev`", |text| Some(text.replace("link set dev ", "link set "))),
    ("the table, said", |text| {
        Some(lines(text, |line| {
            if line.starts_with("route replace ") && line.contains(" via ") {
                format!("{line} table main")
            } else {
                line.to_owned()
            }
        }))
    }),
    ("the metric, said", |text| {
        Some(lines(text, |line| {
            if line.starts_with("route replace ") && line.contains(" via ") && !line.contains("metric") {
                format!("{line} metric 1024")
            } else {
                line.to_owned()
            }
        }))
    }),
    ("comments", |text| Some(lines(text, |line| format!("{line} # as planned")))),
    ("spaces", |text| Some(text.replace(' ', "  "))),
    ("empty lines", |text| Some(text.replace('\n', "\n\n"))),
    ("every line twice", |text| Some(lines(text, |line| format!("{line}\n{line}")))),
    ("wrong neighbours before the right ones", |text| {
        let wrong = |line: &str| {
            if line.starts_with("neighbour replace ") {
                let at = line.find("lladdr 02:").map_or(0, |at| at + 7);
                format!("{}06{}\n{line}", &line[..at], &line[at + 2..])
            } else {
                line.to_owned()
            }
        };
        Some(lines(text, wrong)).filter(|new| new != text)
    }),
];

const DEVICES: &[Rewrite] = &[
    ("comments", |text| Some(lines(text, |line| format!("{line} # as planned")))),
    ("a dummy", |text| Some(text.replace("type bridge", "type dummy"))),
    ("without `name`", |text| Some(text.replace("add name ", "add "))),
];

const COMMENTS: &[Rewrite] = &[
    ("comments", |text| Some(lines(text, |line| format!("{line} # as planned")))),
    ("spaces", |text| Some(text.replace(' ', "  "))),
    ("empty lines", |text| Some(text.replace('\n', "\n\n"))),
];

const SYSCTL: &[Rewrite] = &[
    ("slashes", |text| {
        Some(lines(text, |line| match line.split_once('=') {
            Some((key, value)) if !line.starts_with('#') => {
                let key: String = key
                    .chars()
                    .map(|c| match c {
                        '.' => '/',
                        '/' => '.',
                        c => c,
                    })
                    .collect();
                format!("{key}={value}")
            }
            _ => line.to_owned(),
        }))
    }),
    ("without spaces", |text| {
        Some(lines(text, |line| if line.starts_with('#') { line.to_owned() } else { line.replace(' ', "") }))
    }),
    ("the other way round", |text| Some(backwards(text))),
    ("faults are passed over", |text| {
        Some(lines(text, |line| {
            if line.contains('=') && !line.starts_with('#') { format!("-{line}") } else { line.to_owned() }
        }))
    }),
    ("semicolons", |text| Some(format!("; as planned\n{text}"))),
];

const NETPLAN: &[Rewrite] = &[
    ("comments", |text| Some(lines(text, |line| format!("{line} # as planned")))),
    ("empty lines", |text| Some(text.replace('\n', "\n\n"))),
    ("without a renderer", |text| Some(remove_lines(text, |line| line.contains("renderer:")))),
    ("DHCP not said", |text| Some(remove_lines(text, |line| line.contains("dhcp")))),
    ("not awaited, woken", |text| {
        Some(text.replace("      mtu: ", "      optional: true\n      wakeonlan: true\n      mtu: "))
    }),
    ("sections of nothing", |text| Some(text.replace("  version: 2", "  version: 2\n  tunnels: {}"))),
    ("blocks for lists", |text| {
        Some(lines(text, |line| match line.split_once("- {to: ") {
            Some((indent, rest)) => {
                let rest = rest.trim_end_matches('}').replace(", ", &format!("\n{indent}  "));
                format!("{indent}- to: {rest}")
            }
            None => line.to_owned(),
        }))
    }),
    ("the type, said", |text| Some(text.replace("via: ", "type: unicast, via: ")).filter(|new| new != text)),
    ("the table, said", |text| {
        let line = |line: &str| {
            let main = line.contains("via: ") && !line.contains("table: ");
            if main { line.replace('}', ", table: 254}") } else { line.to_owned() }
        };
        Some(lines(text, line))
    }),
    ("the metric, not said", |text| Some(text.replace(", metric: 1024", ""))),
    ("flow style", |text| Some(yaml(text).to_string())),
    ("keys the other way round", |text| Some(reverse_keys(&yaml(text), 1))),
    ("keys of `network` the other way round", |text| Some(reverse_keys(&yaml(text), 2))),
    ("interfaces the other way round", |text| Some(reverse_keys(&yaml(text), 3))),
    ("words of interfaces the other way round", |text| Some(reverse_keys(&yaml(text), 4))),
    ("routes and rules the other way round", |text| Some(backward_lists(&yaml(text)).to_string())),
    ("single quotes", |text| Some(text.replace('"', "'"))),
    ("quoted keys", |text| {
        Some(text.replace("      mtu:", "      \"mtu\":").replace("  ethernets:", "  'ethernets':"))
    }),
    ("quoted words", |text| {
        Some(
            text.replace("renderer: networkd", "renderer: \"networkd\"")
                .replace("type: throw", "type: 'throw'"),
        )
    }),
    ("plain prefixes in lists", |text| {
        Some(lines(text, |line| {
            if line.trim_start().starts_with("- \"") { line.replace('"', "") } else { line.to_owned() }
        }))
    }),
    ("a document's start and end", |text| Some(format!("---\n{text}...\n"))),
    ("with carriage returns", |text| Some(text.replace('\n', "\r\n"))),
    ("other words for no", |text| {
        Some(text.replace("dhcp4: false", "dhcp4: False").replace("accept-ra: false", "accept-ra: FALSE"))
    }),
    ("hexadecimal numbers of tables", |text| {
        Some(text.replace("table: 1000", "table: 0x3e8")).filter(|new| new != text)
    }),
    ("unreachable for blackhole", |text| Some(text.replace("type: blackhole", "type: unreachable"))),
];

const RULES: &[Rewrite] = &[
    ("comments", |text| Some(format!("# as planned\n{text}"))),
    ("empty lines", |text| Some(text.replace('\n', "\n\n"))),
    ("the other way round", |text| Some(backwards(text))),
    ("words the other way round", |text| {
        Some(lines(text, |line| {
            let mut words: Vec<&str> = line.split(", ").collect();
            if !line.starts_with('#') {
                words.reverse();
            }
            words.join(", ")
        }))
    }),
];

const SETTINGS: &[Rewrite] = &[
    ("comments", |text| Some(format!("# as planned\n{text}"))),
    ("empty lines", |text| Some(text.replace('\n', "\n\n"))),
    ("the other way round", |text| Some(backwards(text))),
];

const SCRIPT: &[Rewrite] = &[
    ("comments", |text| Some(format!("{text}# as planned\n"))),
    ("empty lines", |text| Some(text.replace('\n', "\n\n").replace("\\\n\n", "\\\n"))),
];

const UNIT: &[Rewrite] = &[
    ("sections the other way round", |text| Some(sections(text, true, false))),
    ("settings the other way round", |text| Some(sections(text, false, true))),
    ("addresses and routes of one section each, with gaps", |text| Some(text.replace("\n[", "\n\n\n["))),
    ("more words for no", |text| Some(text.replace("DHCP=no", "DHCP=false").replace("RA=no", "RA=0"))),
    ("comments", |text| Some(format!("; as planned\n{}", text.replace("\n[", "\n# as planned\n[")))),
    ("empty lines", |text| Some(text.replace('\n', "\n\n"))),
    ("spaces", |text| Some(text.replace('=', " = "))),
    ("other words for no", |text| Some(text.replace("=no\n", "=false\n"))),
    ("DHCP not said", |text| Some(remove_lines(text, |line| line.starts_with("DHCP")))),
    ("the type, said", |text| Some(text.replace("Gateway=", "Type=unicast\nGateway="))),
    ("the metric, not said", |text| Some(text.replace("Metric=1024\n", ""))),
    ("the family, said", |text| {
        Some(text.replace("[RoutingPolicyRule]\nFrom", "[RoutingPolicyRule]\nFamily=ipv6\nFrom"))
    }),
    ("with carriage returns", |text| Some(text.replace('\n', "\r\n"))),
    ("not awaited", |text| Some(text.replace("MTUBytes=", "RequiredForOnline=no\nMTUBytes="))),
];

fn parse_json(text: &str) -> Value {
    serde_json::from_str(text).expect("the file is JSON")
}

/// Writes JSON with the keys of one level in reverse order.
fn reverse_keys(value: &Value, level: usize) -> String {
    match value {
        Value::Object(map) => {
            let mut keys: Vec<&String> = map.keys().collect();
            if level == 1 {
                keys.reverse();
            }
            let field = |key: &&String| {
                format!("{}: {}", json!(key), reverse_keys(&map[key.as_str()], level.wrapping_sub(1)))
            };
            format!("{{{}}}", keys.iter().map(field).collect::<Vec<_>>().join(", "))
        }
        other => other.to_string(),
    }
}

/// Parses YAML into values, dropping comments and styles.
fn yaml(text: &str) -> Value {
    serde_saphyr::from_str(text).expect("the file is YAML")
}

/// Reverses all lists.
fn backward_lists(value: &Value) -> Value {
    match value {
        Value::Array(list) => list.iter().rev().map(backward_lists).collect(),
        Value::Object(map) => map.iter().map(|(key, value)| (key.clone(), backward_lists(value))).collect(),
        other => other.clone(),
    }
}

/// Writes a unit with the sections, or the settings in each section, in reverse order.
fn sections(text: &str, outer: bool, inner: bool) -> String {
    let mut sections: Vec<Vec<&str>> = Vec::new();
    for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        if line.starts_with('[') {
            sections.push(vec![line]);
        } else if let Some(own) = sections.last_mut() {
            own.insert(if inner { 1 } else { own.len() }, line);
        }
    }
    if outer {
        sections.reverse();
    }
    sections.iter().map(|own| own.join("\n") + "\n\n").collect()
}

/// Adds a field to every row of a table, except rows of blackholes.
fn add_to_rows(text: &str, name: &str, field: &str, value: &str) -> Option<String> {
    let mut config = parse_json(text);
    let rows = config.get_mut(name)?.as_object_mut()?;
    for row in rows.values_mut().filter(|row| row.get("blackhole").is_none()) {
        let count = row.get("ifname").and_then(Value::as_str).map_or(1, |ports| ports.split(',').count());
        row.as_object_mut()?.insert(field.to_owned(), json!(vec![value; count].join(",")));
    }
    Some(config.to_string())
}

fn table(text: &str, name: &str, rows: &Value) -> Option<String> {
    let mut config: Map<String, Value> = serde_json::from_str(text).ok()?;
    // Rows that closc wrote to the same table are kept.
    let table = config.entry(name).or_insert_with(|| json!({})).as_object_mut()?;
    table.extend(rows.as_object()?.clone());
    Some(Value::Object(config).to_string())
}

fn lines(text: &str, change: impl Fn(&str) -> String) -> String {
    let line = |line: &str| if line.is_empty() { "\n".to_owned() } else { change(line) + "\n" };
    text.lines().map(line).collect()
}

fn remove_lines(text: &str, drop: impl Fn(&str) -> bool) -> String {
    text.lines().filter(|line| !drop(line)).map(|line| format!("{line}\n")).collect()
}

fn backwards(text: &str) -> String {
    text.lines().rev().map(|line| format!("{line}\n")).collect()
}

/// Reverses the order of the lines that begin with a word.
fn reverse_lines(text: &str, word: &str) -> Option<String> {
    let has = |line: &&str| line.trim_start().starts_with(word);
    let mut others: Vec<&str> = text.lines().filter(has).collect();
    let count = others.len();
    let line = |line| if has(&line) { others.pop().unwrap_or(line) } else { line };
    let out: String = text.lines().map(line).map(|line| format!("{line}\n")).collect();
    (count > 1).then_some(out)
}

/// Adds a line after each line that contains a text.
fn add_after(text: &str, what: &str, more: fn(&str) -> String) -> Option<String> {
    let line = |line: &str| {
        let line = format!("{line}\n");
        if line.contains(what) { format!("{line}{}", more(&line)) } else { line }
    };
    text.contains(what).then(|| text.lines().map(line).collect())
}

/// Rewrites `via G dev P` as `dev P via G`.
fn swap_route(line: &str) -> String {
    let mut words: Vec<&str> = line.split(' ').collect();
    if line.starts_with("route replace ") {
        for at in 0..words.len().saturating_sub(3) {
            if words[at] == "via" && words[at + 2] == "dev" {
                words.swap(at, at + 2);
                words.swap(at + 1, at + 3);
            }
        }
    }
    words.join(" ")
}

#[test]
fn harmless_rewrites_raise_no_alarm() {
    let trees = Trees::new();
    let (mut count, mut alarms) = (0, Vec::new());
    for base in Base::ALL {
        for (name, rewrites) in REWRITES {
            for (what, rewrite) in rewrites {
                let mut tree: Memory = trees.tree(base).clone();
                let own = |path: &&Utf8PathBuf| match name.strip_prefix("*.") {
                    Some(ending) => path.extension() == Some(ending),
                    None => path.file_name() == Some(name),
                };
                let files: Vec<Utf8PathBuf> = tree.files.keys().filter(own).cloned().collect();
                let mut changed = false;
                for file in files {
                    let text = String::from_utf8(tree.files[&file].clone()).expect("the file is text");
                    if let Some(new) = rewrite(&text).filter(|new| *new != text) {
                        tree.files.insert(file, new.into_bytes());
                        changed = true;
                    }
                }
                if !changed {
                    continue;
                }
                count += 1;
                common::sign(&mut tree, "shape", base.routing());
                match verify(&tree, base::options()) {
                    Ok(report) if report.holds() => {}
                    Ok(report) => {
                        let first = &report.violations[0];
                        let place = format!("{} {}", first.rule.code, first.place);
                        alarms.push(format!("{base:?} {name}: {what}: {place}: {}", first.message));
                    }
                    Err(error) => alarms.push(format!("{base:?} {name}: {what}: {error}")),
                }
            }
        }
    }
    println!("{count} harmless rewrites, {} alarms", alarms.len());
    assert!(alarms.is_empty(), "{} of {count}:\n{}", alarms.len(), alarms.join("\n"));
    assert!(count >= 100, "there are {count} rewrites");
}
