//! Target state of the Linux kernel of a switch: ports, addresses, neighbours, routes, settings.
//!
//! In: `ip.batch`, `devices.batch` and `sysctl.conf` of a tree, and the output of `ip -json` and `/proc/sys`.
//! Out: facts, each of which is a command for `ip`, or a setting. Invariants: only ports that the tree names
//! are compared, and of `lo` only what the tree sets; an unknown command is an error. Policy rules are facts
//! that no file of a tree contains.

mod kernel_target;
mod route;
mod rules;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use closc_artefacts::paths::{DEVICES_BATCH, IP_BATCH, SYSCTL_CONF};
use serde_json::Value;

use super::facts::{Facts, Finding, findings, lines};
use super::system::{SystemState, Texts, begin};
use kernel_target::{Family, KernelTarget, SCOPE, covers};

/// Settings of one port, in `link set dev PORT`.
const LINK: [&str; 3] = ["address", "mtu", "addrgenmode"];

/// Protocols of routes that commands create.
const WRITTEN: [&str; 2] = ["boot", "static"];

/// Edits for `sed` that remove state that changes without a command: lifetimes, timers of bridges, carrier, duplicate
/// address detection, packet captures. A push compares two readings, so both must be equal if the configuration is.
const STEADY: [&str; 6] = [
    r#"s/"(valid_life_time|preferred_life_time|expires|promiscuity|allmulti)":[0-9]+/"\1":0/g"#,
    r#"s/"(info_data|info_slave_data)":\{([^{}]|\{[^{}]*\})*\}/"\1":0/g"#,
    r#"s/"operstate":"[A-Z]*"/"operstate":0/g"#,
    r#"s/"NO-CARRIER",//g"#,
    r#"s/,"(LOWER_UP|DORMANT|PROMISC|ALLMULTI|dead|linkdown|offload|rt_offload|trap|rt_trap)"//g"#,
    r#"s/"(tentative|dadfailed)":true,//g; s/"flags":\["(dead|linkdown|offload|rt_offload|trap|rt_trap)"/"flags":[""/g"#,
];

/// Returns the name of the section with the routes of a family and protocol.
fn routes_by(family: Family, protocol: &str) -> String {
    format!("route {} {protocol}", family.option())
}

/// Returns the families and protocols of routes that commands create.
fn route_kinds() -> impl Iterator<Item = (Family, &'static str)> {
    Family::ALL.into_iter().flat_map(|family| WRITTEN.map(|protocol| (family, protocol)))
}

/// Returns the commands that print the kernel's state. Routes of other protocols belong to routing daemons.
pub(super) fn read(wanted: &Texts) -> String {
    let mut script = String::new();
    let steady: String = STEADY.map(|edit| format!("-e '{edit}'")).join(" ");
    let routes = route_kinds().map(|(family, protocol)| {
        (routes_by(family, protocol), format!("-d {} route show proto {protocol}", family.option()))
    });
    let others = [
        ("link", "-d link show"),
        ("address", "address show scope global"),
        ("neighbour", "neighbour show nud permanent"),
    ];
    for (name, command) in
        others.map(|(name, command)| (name.to_owned(), command.to_owned())).into_iter().chain(routes)
    {
        let _ = write!(script, "{}ip -j {command} </dev/null | sed -E {steady}\necho\n", begin(&name));
    }
    for family in Family::ALL {
        let (head, option) = (begin(&rules::section(family)), family.option());
        let _ = writeln!(
            script,
            "{head}if ip {option} rule show </dev/null 2>/dev/null; then echo {}; fi",
            rules::COMPLETE
        );
    }
    let keys = settings(wanted.get(SYSCTL_CONF).map_or("", String::as_str));
    let _ = writeln!(script, "{}xargs grep -sH . <<'--closc--' || :", begin("sysctl"));
    for key in keys.keys().filter(|key| is_key(key)) {
        let _ = writeln!(script, "{}", path_of(key));
    }
    script.push_str("/dev/null\n--closc--\n");
    script
}

/// Returns whether text consists only of the name of a setting.
fn is_key(key: &str) -> bool {
    let sign = |sign: char| sign.is_ascii_alphanumeric() || "._-/".contains(sign);
    !key.is_empty() && !key.contains("..") && key.chars().all(sign)
}

/// Returns the path of a setting. In names `.` and `/` are swapped, because the name of a port may contain a dot.
fn path_of(key: &str) -> String {
    let swapped = |sign| match sign {
        '.' => '/',
        '/' => '.',
        sign => sign,
    };
    format!("/proc/sys/{}", key.chars().map(swapped).collect::<String>())
}

/// Parses settings; the last line of a setting applies.
fn settings(text: &str) -> BTreeMap<String, String> {
    let lines = text.lines().map(str::trim).filter(|line| !line.starts_with(['#', ';']));
    let pairs = lines.filter_map(|line| line.split_once('='));
    pairs
        .map(|(key, value)| (key.trim().to_owned(), value.split_whitespace().collect::<Vec<_>>().join(" ")))
        .collect()
}

fn setting_facts(settings: &BTreeMap<String, String>) -> Facts {
    settings.iter().map(|(key, value)| format!("{key} = {value}")).collect()
}

/// Compares the kernel with the files of a tree.
pub(super) fn compare(wanted: &Texts, held: &SystemState) -> Result<Vec<Finding>, String> {
    let (asked, live) = target_and_live(wanted, held)?;
    let missing: Facts = asked.facts.difference(&live).cloned().collect();
    let unexpected: Facts = live.difference(&asked.facts).cloned().collect();
    // A missing device is a finding for the other file.
    let (devices, missing): (Facts, Facts) =
        missing.into_iter().partition(|fact| fact.starts_with("link add "));
    let mut found = findings(DEVICES_BATCH, &devices, &Facts::new());
    found.extend(findings(IP_BATCH, &missing, &unexpected));
    let (kept, live) = settings_pair(wanted, held);
    let missing: Facts = kept.difference(&live).cloned().collect();
    let unexpected: Facts = live.difference(&kept).cloned().collect();
    found.extend(findings(SYSCTL_CONF, &missing, &unexpected));
    Ok(found)
}

/// Suffix of settings in milliseconds that the kernel stores in clock ticks, rounded up.
const IN_TICKS: &str = "_unsolicited_report_interval";

/// Tick rates that a kernel can be built with (`kernel/Kconfig.hz`).
const TICKS_PER_S: [u64; 4] = [100, 250, 300, 1000];

/// Returns whether a kernel may print `live` after `wanted` was written. `proc_dointvec_ms_jiffies` stores whole ticks:
/// `msecs_to_jiffies` rounds up when it writes, `jiffies_to_msecs` when it reads. The tick rate of the switch is
/// unknown, so the result for each possible rate is accepted.
fn is_same_tick(wanted: &str, live: &str) -> bool {
    let (Ok(wanted), Ok(live)) = (wanted.parse::<u64>(), live.parse::<u64>()) else { return false };
    let printed =
        |ticks: u64| wanted.saturating_mul(ticks).div_ceil(1000).saturating_mul(1000).div_ceil(ticks);
    TICKS_PER_S.into_iter().any(|ticks| printed(ticks) == live)
}

/// Returns the wanted settings, and those of the kernel.
fn settings_pair(wanted: &Texts, held: &SystemState) -> (Facts, Facts) {
    let asked = settings(wanted.get(SYSCTL_CONF).map_or("", String::as_str));
    let by_path: BTreeMap<String, &String> = asked.keys().map(|key| (path_of(key), key)).collect();
    let lines = held.section("sysctl").lines().filter_map(|line| line.split_once(':'));
    let live = lines.filter_map(|(path, value)| {
        let key = by_path.get(path)?;
        let value = value.split_whitespace().collect::<Vec<_>>().join(" ");
        let wanted = asked.get(*key)?;
        let is_same = key.ends_with(IN_TICKS) && is_same_tick(wanted, &value);
        Some(format!("{key} = {}", if is_same { wanted } else { &value }))
    });
    (setting_facts(&asked), live.collect())
}

/// Returns the target state, and the facts of the kernel that it covers.
fn target_and_live(wanted: &Texts, held: &SystemState) -> Result<(KernelTarget, Facts), String> {
    let mut asked = KernelTarget::read(wanted)?;
    let json = |name: &str| -> Result<Vec<Value>, String> {
        let text = held.section(name).trim();
        if text.is_empty() {
            return Ok(Vec::new());
        }
        serde_json::from_str(text).map_err(|error| format!("the output of `ip` cannot be read: {error}"))
    };
    let mut live = Facts::new();
    links(&json("link")?, &asked, &mut live);
    let is_own = |value: &Value| asked.ports.contains(text(value, "dev"));
    for neighbour in json("neighbour")?.iter().filter(|value| is_own(value)) {
        let [address, mac, port] = ["dst", "lladdr", "dev"].map(|key| text(neighbour, key));
        live.insert(format!("neighbour replace {address} lladdr {mac} dev {port} nud permanent"));
    }
    if asked.has_addresses {
        addresses(&json("address")?, &asked, &mut live);
    }
    if asked.has_routes {
        for (family, protocol) in route_kinds() {
            let routes = json(&routes_by(family, protocol))?;
            let routes = routes.iter().filter(|route| is_compared(route, family, &asked));
            let routes = routes.filter_map(|route| route::of_json(route, family));
            live.extend(routes.map(|route| format!("route replace {route}")));
        }
    }
    let (all, destinations) = (json("address")?, asked.destinations(wanted));
    let mut missing = Facts::new();
    for family in asked.families() {
        let scope = rules::Scope { target: &asked, addresses: &all, destinations: &destinations };
        let rules = scope.rules(held.section(&rules::section(family)), family);
        live.extend(rules.unexpected);
        missing.extend(rules.missing);
    }
    asked.facts.extend(missing);
    Ok((asked, live))
}

fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

fn links(all: &[Value], asked: &KernelTarget, live: &mut Facts) {
    for link in all.iter().filter(|link| asked.ports.contains(text(link, "ifname"))) {
        let port = text(link, "ifname");
        let head = format!("link set dev {port} ");
        let has =
            |setting: &str| asked.facts.iter().any(|fact| fact.starts_with(&format!("{head}{setting} ")));
        let flags = link.get("flags").and_then(Value::as_array);
        if flags.is_some_and(|flags| flags.iter().any(|flag| flag == "UP")) {
            live.insert(format!("{head}up"));
        }
        let mtu = link.get("mtu").and_then(Value::as_u64).unwrap_or_default().to_string();
        for (setting, value) in
            LINK.into_iter().zip([text(link, "address"), &mtu, text(link, "inet6_addr_gen_mode")])
        {
            if has(setting) {
                live.insert(format!("{head}{setting} {value}"));
            }
        }
        let kind = link.get("linkinfo").map_or("", |info| text(info, "info_kind"));
        if asked.created_devices.contains(port) {
            live.insert(format!("link add name {port} type {kind}"));
        }
        // A port of a bridge or bond does not route by itself.
        if !text(link, "master").is_empty() {
            live.insert(format!("{head}master {}", text(link, "master")));
        }
    }
}

fn addresses(all: &[Value], asked: &KernelTarget, live: &mut Facts) {
    for link in all.iter().filter(|link| asked.ports.contains(text(link, "ifname"))) {
        let port = text(link, "ifname");
        for address in link.get("addr_info").and_then(Value::as_array).into_iter().flatten() {
            let length = address.get("prefixlen").and_then(Value::as_u64).unwrap_or_default();
            let local = text(address, "local");
            // Only IPv6 has duplicate address detection.
            let nodad = if local.contains(':') { " nodad" } else { "" };
            let fact = format!("address replace {local}/{length} dev {port}{nodad}");
            // Addresses that the kernel assigns itself are not global.
            if text(address, "scope") == "global" && (port != "lo" || asked.facts.contains(&fact)) {
                live.insert(fact);
            }
        }
    }
}

/// Returns whether a route is compared: it uses a port of the tree, or is in a block of the fabric. Every
/// IPv6 route that drops packets is compared. In a fabric with IPv4, this also applies to IPv4 routes.
fn is_compared(route: &Value, family: Family, asked: &KernelTarget) -> bool {
    let prefix = family.prefix(text(route, "dst"));
    let is_of_fabric = |port: &str| asked.ports.contains(port) || asked.is_in_block(&prefix);
    if route::drops(text(route, "type")) {
        return family == Family::V6 || asked.has_ipv4_routes();
    }
    match route.get("nexthops").and_then(Value::as_array) {
        Some(hops) => hops.iter().any(|hop| is_of_fabric(text(hop, "dev"))),
        None => is_of_fabric(text(route, "dev")),
    }
}

/// Returns whether a fact is a policy rule.
fn is_rule(fact: &str) -> bool {
    Family::ALL.iter().any(|family| fact.starts_with(&format!("{} rule add ", family.option())))
}

/// Commands for `ip`, with an option for the address family.
pub(super) struct Batch {
    /// Name of a file with them.
    pub(super) name: &'static str,
    pub(super) command: &'static str,
    pub(super) forward: String,
    /// Commands of the rollback, for the same `ip` command with `-force`.
    pub(super) back: String,
}

/// Changes of the kernel, and their rollback.
pub(super) struct Moves {
    /// Commands for `ip`, in order.
    pub(super) batches: [Batch; 3],
    /// For `sysctl -p`.
    pub(super) settings: String,
    /// For `sysctl -p`, in a rollback.
    pub(super) settings_back: String,
}

/// Computes the changes.
pub(super) fn moves(wanted: &Texts, held: &SystemState) -> Result<Moves, String> {
    let (asked, live) = target_and_live(wanted, held)?;
    let (kept, now) = settings_pair(wanted, held);
    let of = |option: &str| -> [Facts; 2] {
        let head = format!("{option} rule add ");
        [&live, &asked.facts]
            .map(|facts| facts.iter().filter(|fact| fact.starts_with(&head)).cloned().collect())
    };
    let rules = |name, command, option: &str| {
        let [live, asked] = of(option);
        let [there, back] = [(&live, &asked), (&asked, &live)].map(|(from, to)| rule_batch(from, to, option));
        Batch { name, command, forward: there, back }
    };
    let [live, facts] = [&live, &asked.facts]
        .map(|facts| facts.iter().filter(|fact| !is_rule(fact)).cloned().collect::<Facts>());
    Ok(Moves {
        batches: [
            rules("rule-6", "ip -6 -batch", "-6"),
            rules("rule-4", "ip -4 -batch", "-4"),
            Batch {
                name: "ip",
                command: "ip -batch",
                forward: batch(&live, &facts),
                back: batch(&facts, &live),
            },
        ],
        settings: lines(kept.difference(&now)),
        settings_back: lines(now.difference(&kept)),
    })
}

/// Returns the startup files if the kernel has their state; otherwise the state of the kernel, as files of a tree.
///
/// The startup files can have ports and settings that the new tree lacks. They are part of the earlier state.
pub(super) fn texts(wanted: &Texts, held: &SystemState) -> Result<Texts, String> {
    let mut saved: Texts = [DEVICES_BATCH, IP_BATCH, SYSCTL_CONF]
        .into_iter()
        .map(|file| (file.to_owned(), held.section(&format!("saved {file}")).to_owned()))
        .filter(|(_, text)| !text.is_empty())
        .collect();
    let asked = KernelTarget::read(wanted)?;
    let mut scope = asked.scope();
    let unread = unread_settings(&saved, wanted);
    if let Some(text) = saved.get_mut(IP_BATCH) {
        text.push_str(&scope);
        if is_running(&saved, &unread, held) {
            return Ok(saved);
        }
        scope = KernelTarget::read(&saved).map_or(scope, |earlier| earlier.scope());
    }
    let mut wider = wanted.clone();
    let _ = write!(wider.entry(IP_BATCH.to_owned()).or_default(), "\n{scope}");
    let (asked, live) = target_and_live(&wider, held)?;
    let (_, mut now) = settings_pair(wanted, held);
    now.extend(unread);
    let (devices, rest): (Vec<&String>, Vec<&String>) =
        live.iter().partition(|fact| fact.starts_with("link add "));
    let mut rest = rest;
    rest.sort_by_key(|fact| rank(fact));
    let commands = |facts: Vec<&String>| lines(facts.into_iter().map(|fact| command(fact)));
    // A command in a file cannot contain the option for the address family.
    let (rules, rest): (Vec<&String>, Vec<&String>) = rest.into_iter().partition(|fact| is_rule(fact));
    let rules = lines(rules.into_iter().map(|fact| format!("{SCOPE} {fact}")));
    let files = [
        (DEVICES_BATCH, commands(devices)),
        (IP_BATCH, asked.scope() + &rules + &commands(rest)),
        (SYSCTL_CONF, lines(&now)),
    ];
    Ok(files.into_iter().map(|(name, text)| (name.to_owned(), text)).collect())
}

/// Returns the settings of the startup file that were not read from the kernel, because the tree lacks them.
fn unread_settings(saved: &Texts, wanted: &Texts) -> Facts {
    let of = |texts: &Texts| settings(texts.get(SYSCTL_CONF).map_or("", String::as_str));
    let read = of(wanted);
    setting_facts(&of(saved).into_iter().filter(|(key, _)| !read.contains_key(key)).collect())
}

/// Returns whether the kernel runs the startup files, apart from settings that were not read.
fn is_running(saved: &Texts, unread: &Facts, held: &SystemState) -> bool {
    let mut read = saved.clone();
    if let Some(text) = read.get_mut(SYSCTL_CONF) {
        let all = setting_facts(&settings(text));
        *text = lines(all.difference(unread));
    }
    compare(&read, held).is_ok_and(|found| found.is_empty())
}

/// Returns the position of a fact in the order of creation.
fn rank(fact: &str) -> usize {
    let kinds = ["link add ", "link set ", "address ", "neighbour ", "route "];
    kinds.iter().position(|kind| fact.starts_with(kind)).unwrap_or(kinds.len())
}

/// Returns the command for a fact. A segment gets the flag `count`, which the kernel prints separately.
fn command(fact: &str) -> String {
    if fact.contains(" encap seg6local ") {
        fact.replacen(" dev ", " count dev ", 1)
    } else {
        fact.to_owned()
    }
}

/// Returns the ports that a fact names after `dev`.
fn ports(fact: &str) -> impl Iterator<Item = &str> {
    let words: Vec<&str> = fact.split(' ').collect();
    let found: Vec<&str> = words.windows(2).filter(|pair| pair[0] == "dev").map(|pair| pair[1]).collect();
    found.into_iter()
}

/// Returns the command that removes a fact; `None` if another fact replaces it, or if it is a setting of
/// a port, which stays.
fn removal(fact: &str, to: &Facts) -> Option<String> {
    let words: Vec<&str> = fact.split(' ').collect();
    match words.as_slice() {
        ["link", "add", "name", port, "type", _] => Some(format!("link del dev {port}")),
        ["link", "set", "dev", port, "master", _] => Some(format!("link set dev {port} nomaster")),
        ["link", "set", "dev", port, "up"] => Some(format!("link set dev {port} down")),
        ["address", "replace", address, "dev", port, ..] => Some(format!("address del {address} dev {port}")),
        ["neighbour", "replace", address, "lladdr", _, "dev", port, ..] => {
            let other = to.iter().any(|fact| {
                fact.starts_with(&format!("neighbour replace {address} "))
                    && ports(fact).next() == Some(*port)
            });
            (!other).then(|| format!("neighbour del {address} dev {port}"))
        }
        ["route", "replace", route @ ..] => route::removal(route, to),
        _ => None,
    }
}

/// Returns the commands from one set of rules to another.
fn rule_batch(from: &Facts, to: &Facts, option: &str) -> String {
    let added = to.difference(from).cloned();
    let removed = from.difference(to).map(|fact| rules::removal(fact));
    let words = added.chain(removed).map(|fact| fact[option.len() + 1..].to_owned());
    lines(words)
}

/// Returns the commands from one state to another. If the link of a port changes, the kernel may drop the entries of
/// that port, so they are written again.
fn batch(from: &Facts, to: &Facts) -> String {
    let mut removed: Vec<&String> = from.difference(to).collect();
    removed.sort_by_key(|fact| std::cmp::Reverse(rank(fact)));
    let mut text = lines(removed.iter().filter_map(|fact| removal(fact, to)));
    let touched: BTreeSet<&str> = to
        .symmetric_difference(from)
        .filter(|fact| fact.starts_with("link "))
        .filter_map(|fact| fact.split(' ').nth(3))
        .collect();
    let mut set: Vec<&String> = to
        .iter()
        .filter(|fact| {
            let is_link = fact.starts_with("link ");
            !from.contains(*fact) || (!is_link && ports(fact).any(|port| touched.contains(port)))
        })
        .collect();
    set.sort_by_key(|fact| (rank(fact), fact.ends_with(" up")));
    for fact in set {
        let _ = writeln!(text, "{}", command(fact));
    }
    text
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn an_interval_is_compared_as_whole_ticks() {
        // 1 ms is stored as one tick, which takes 10, 4, 3.3 or 1 ms.
        let printed: Vec<String> = (0..20).map(|live| live.to_string()).collect();
        let same: Vec<&str> =
            printed.iter().map(String::as_str).filter(|live| is_same_tick("1", live)).collect();
        assert_eq!(same, ["1", "4", "10"]);
        assert!(is_same_tick("1000", "1000") && !is_same_tick("1000", "1004"));
        assert!(is_same_tick("0", "0") && !is_same_tick("0", "1"));
    }

    #[test]
    fn what_runs_without_a_command_is_left_out_of_a_reading() {
        let steady = |text: &str| -> String {
            let edits = STEADY.iter().flat_map(|edit| ["-e", edit]);
            let mut child = Command::new("sed")
                .arg("-E")
                .args(edits)
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .spawn()
                .expect("sed is there");
            child.stdin.take().expect("a pipe").write_all(text.as_bytes()).expect("sed reads");
            let output = child.wait_with_output().expect("sed ends");
            String::from_utf8(output.stdout).expect("text")
        };
        let link = |flags: &str, state: &str, timer: &str, mtu: &str| {
            format!(
                r#"[{{"ifname":"sr0","flags":[{flags}],"mtu":{mtu},"operstate":"{state}","promiscuity":{timer},"linkinfo":{{"info_kind":"bridge","info_data":{{"gc_timer":{timer}.9,"stp":{{"a":{timer}}}}}}},"addr_info":[{{"local":"fd00::1","tentative":true,"valid_life_time":{timer}}}]}},{{"dst":"fd01::/64","flags":["dead","linkdown"]}}]"#
            )
        };
        let one = steady(&link(r#""NO-CARRIER","BROADCAST","UP""#, "DOWN", "17", "9000"));
        let other = steady(&link(r#""BROADCAST","UP","LOWER_UP""#, "UP", "42", "9000"));
        assert_eq!(one, other);
        let read: Vec<Value> = serde_json::from_str(&one).expect("it is still JSON");
        assert_eq!(text(&read[0]["linkinfo"], "info_kind"), "bridge");
        assert_ne!(one, steady(&link(r#""BROADCAST""#, "DOWN", "17", "9000")), "a port that is down");
        assert_ne!(one, steady(&link(r#""BROADCAST","UP""#, "DOWN", "17", "1500")), "another MTU");
    }

    fn texts_of(files: &[(&str, &str)]) -> Texts {
        files.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect()
    }

    fn system_state(sections: &[(&str, &str)]) -> SystemState {
        let sections = sections.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect();
        SystemState { sections, digest: String::new(), pending_change: None }
    }

    const TREE: &str = "link set dev eth1 up\naddress replace fd00::1/127 dev eth1 nodad\n\
                        route replace blackhole fd00::/16\n";
    const LINK: &str = r#"[{"ifname":"eth1","flags":["UP"]},{"ifname":"eth2","flags":["UP"]}]"#;
    const ADDRESS: &str =
        r#"[{"ifname":"eth1","addr_info":[{"local":"fd00::1","prefixlen":127,"scope":"global"}]}]"#;
    const BLACKHOLE: &str = r#"{"type":"blackhole","dst":"fd00::/16","metric":1024}"#;

    #[test]
    fn a_default_route_is_removed_from_its_own_family() {
        let stray = r#"{"type":"unicast","dst":"default","dev":"eth1","metric":1024}"#;
        let routes = format!("[{BLACKHOLE},{stray}]");
        let held = system_state(&[("link", LINK), ("address", ADDRESS), ("route -6 boot", &routes)]);
        let moves = moves(&texts_of(&[(IP_BATCH, TREE)]), &held).expect("it is readable");
        assert_eq!(moves.batches[2].forward, "route del ::/0\n");
        assert_eq!(moves.batches[2].back, "route replace ::/0 dev eth1\n");
    }

    #[test]
    fn routes_in_a_block_of_the_fabric_are_compared_on_every_port() {
        let route = |prefix: &str| {
            let stray = format!(r#"{{"type":"unicast","dst":"{prefix}","dev":"eth2","metric":1024}}"#);
            let routes = format!("[{BLACKHOLE},{stray}]");
            let held = system_state(&[("link", LINK), ("address", ADDRESS), ("route -6 boot", &routes)]);
            moves(&texts_of(&[(IP_BATCH, TREE)]), &held).expect("it is readable").batches[2].forward.clone()
        };
        assert_eq!(route("fd00:4001::/48"), "route del fd00:4001::/48\n");
        assert_eq!(route("fd01::/48"), "", "the site's");
        assert!(covers("10.0.0.0/12", "10.15.0.0/16") && !covers("10.0.0.0/12", "10.16.0.0/16"));
        assert!(!covers("::/0", "10.0.0.0/8") && !covers("10.0.0.0/12", "10.0.0.0/8"));
    }

    #[test]
    fn ipv4_is_compared_like_ipv6() {
        let tree = "link set dev eth1 up\naddress replace 100.64.0.1/31 dev eth1\n\
                    neighbour replace 100.64.0.0 lladdr 02:d0:00:01:00:01 dev eth1 nud permanent\n\
                    route replace 10.0.0.1/32 via 100.64.0.0 dev eth1\nroute replace blackhole 10.0.0.0/12\n";
        let address =
            r#"[{"ifname":"eth1","addr_info":[{"local":"100.64.0.1","prefixlen":31,"scope":"global"}]}]"#;
        let neighbour = r#"[{"dst":"100.64.0.0","dev":"eth1","lladdr":"02:d0:00:01:00:01"}]"#;
        let routes = r#"[{"type":"unicast","dst":"10.0.0.1","gateway":"100.64.0.0","dev":"eth1"},
                         {"type":"blackhole","dst":"10.0.0.0/12"}]"#;
        let held = system_state(&[
            ("link", LINK),
            ("address", address),
            ("neighbour", neighbour),
            ("route -4 boot", routes),
        ]);
        let moves = moves(&texts_of(&[(IP_BATCH, tree)]), &held).expect("it is readable");
        assert_eq!((moves.batches[2].forward.as_str(), moves.batches[2].back.as_str()), ("", ""));
    }

    #[test]
    fn startup_files_with_more_ports_than_the_tree_are_kept() {
        let earlier = "link set dev eth1 up\nlink set dev eth2 up\naddress replace fd00::1/127 dev eth1 nodad\n\
                       route replace blackhole fd00::/16\n";
        let sysctl = "net.a = 1\nnet.b = 2\n";
        let routes = format!("[{BLACKHOLE}]");
        let mut sections = vec![
            ("link", LINK),
            ("address", ADDRESS),
            ("route -6 boot", routes.as_str()),
            ("sysctl", "/proc/sys/net/a:1\n"),
            ("saved ip.batch", earlier),
            ("saved sysctl.conf", sysctl),
        ];
        let wanted = texts_of(&[(IP_BATCH, TREE), (SYSCTL_CONF, "net.a = 1\n")]);
        let kept = texts(&wanted, &system_state(&sections)).expect("it is readable");
        assert!(kept[IP_BATCH].starts_with(earlier), "{kept:?}");
        assert_eq!(kept[SYSCTL_CONF], sysctl);
        // If the kernel runs something else, its state is kept for the ports of both.
        sections[3].1 = "/proc/sys/net/a:0\n";
        let kept = texts(&wanted, &system_state(&sections)).expect("it is readable");
        assert!(kept[IP_BATCH].contains("link set dev eth2 up\n"), "{kept:?}");
        assert_eq!(kept[SYSCTL_CONF], "net.a = 0\nnet.b = 2\n");
    }

    #[test]
    fn only_what_differs_is_written_and_the_order_holds() {
        let facts = |lines: &[&str]| -> Facts { lines.iter().map(|line| (*line).to_owned()).collect() };
        let from = facts(&["link set dev a up", "route replace ::/0 via fe80::1 dev a"]);
        let to = facts(&["link set dev a up", "address replace fd00::1/64 dev a nodad"]);
        assert_eq!(batch(&from, &to), "route del ::/0\naddress replace fd00::1/64 dev a nodad\n");
        assert_eq!(batch(&to, &to), "");
    }
}
