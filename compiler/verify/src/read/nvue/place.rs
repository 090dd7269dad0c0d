//! Locations of facts in `nvue.yaml`.

use crate::model::fact::{FactKind, FilterFact, FilterPart, Term};
use crate::model::place::{Fact, SettingResolver, Step, Target};
use crate::read::yaml;

pub(super) const FILE: &str = closc_artefacts::paths::NVUE_YAML;

/// Returns a path below `set`.
pub(super) fn path(keys: &[&str]) -> Vec<Step> {
    let below = keys.strip_prefix(&["set"]).unwrap_or(keys);
    std::iter::once("set").chain(below.iter().copied()).map(Step::from).collect()
}

/// Returns the fact at a path below `set`.
pub(super) fn fact(keys: &[&str]) -> Fact {
    Fact::Path(path(keys))
}

/// Keys of the BGP process.
const BGP: [&str; 4] = ["vrf", "default", "router", "bgp"];

/// Returns the path of the first key of a mapping.
fn first(keys: &[&str]) -> Vec<Step> {
    [path(keys), vec![Step::Start(String::new())]].concat()
}

/// Returns the facts of a subject, the main one first.
pub(super) fn facts(about: FactKind<'_>) -> Vec<Fact> {
    let bgp = |keys: &[&str]| fact(&[&BGP[..], keys].concat());
    let any = |keys: &[&str]| Fact::Path(first(keys));
    let read = |follow: fn(&str, &str, &str) -> Vec<Vec<Step>>, port: &str, name: &str| Fact::Setting {
        follow: SettingResolver(follow),
        port: port.to_owned(),
        name: name.to_owned(),
    };
    let setting = |port: &str, name: &str| read(self::setting, port, name);
    vec![match about {
        FactKind::Device | FactKind::Stated(_) | FactKind::IngressFilter | FactKind::Source(_) => {
            fact(&["system", "hostname"])
        }
        FactKind::Port(name) => {
            let link = |key| fact(&["interface", name, "link", key]);
            let state = any(&["interface", name, "link", "state"]);
            return std::iter::once(state).chain(["mtu", "speed", "fec"].map(link)).collect();
        }
        FactKind::Neighbour(name) | FactKind::Mac(name) => fact(&["interface", name]),
        FactKind::Peer(name) | FactKind::Description(name) => fact(&["interface", name, "description"]),
        FactKind::Address(name) => read(address, name, "address"),
        FactKind::Qos(name) => fact(&["interface", name, "qos"]),
        FactKind::Setting(port, name) => setting(port, name),
        FactKind::Length(name) => setting(name, "cable length"),
        FactKind::Headroom(name) => setting(name, "headroom"),
        FactKind::Pools => fact(&["qos", "traffic-pool"]),
        FactKind::Settings | FactKind::Global(_) | FactKind::Counter(_) => fact(&["system"]),
        FactKind::Loopback => read(address, "lo", "address"),
        FactKind::Management => return ["address", "gateway"].map(|key| read(address, "eth0", key)).into(),
        FactKind::Route(prefix) | FactKind::Blackhole(prefix) => {
            let route = ["vrf", "default", "router", "static", prefix];
            return vec![fact(&route), any(&[&route[..], &["via"]].concat())];
        }
        FactKind::Routes => fact(&["vrf", "default", "router", "static"]),
        FactKind::Segment(prefix) => fact(&["router", "segment-routing", "static", "srv6-sid", prefix]),
        FactKind::Segments => fact(&["router", "segment-routing"]),
        FactKind::Balance => fact(&["router", "adaptive-routing"]),
        FactKind::Bgp => bgp(&[]),
        FactKind::Terms(port, term) => return terms(port, term),
        FactKind::Session(name) => bgp(&["neighbor", name]),
        FactKind::Network(prefix) => bgp(&["address-family", "ipv6-unicast", "network", prefix]),
        FactKind::Filters => fact(&["router", "policy", "route-map"]),
    }]
}

/// Returns the facts of a term of the session at a port.
fn terms(port: &str, term: Term) -> Vec<Fact> {
    let bgp = |keys: &[&str]| fact(&[&BGP[..], keys].concat());
    let read = |follow: fn(&str, &str, &str) -> Vec<Vec<Step>>, name: &str| Fact::Setting {
        follow: SettingResolver(follow),
        port: port.to_owned(),
        name: name.to_owned(),
    };
    vec![match term {
        Term::Identifier => return vec![bgp(&["router-id"]), fact(&["router", "bgp", "router-id"])],
        Term::Times => return ["keepalive", "hold"].map(|key| bgp(&["timers", key])).into(),
        Term::Interval => bgp(&["timers", "route-advertisement"]),
        Term::Connect => bgp(&["timers", "connection-retry"]),
        Term::Restart => {
            let keys = ["mode", "restart-time", "stale-routes-time"];
            return keys.map(|key| fact(&["router", "bgp", "graceful-restart", key])).into();
        }
        Term::Bfd => read(bfd, ""),
        Term::Limit => read(inbound, "maximum"),
        Term::Rest => read(inbound, "reestablish-wait"),
        Term::Activation => read(activation, ""),
        Term::Filters => read(filters, ""),
        Term::Filter(fact) => read(filter, &fact.name()),
    }]
}

/// Returns the paths of the addresses or gateways of an interface: below `ip` before 5.15, later below their address
/// family.
fn address(text: &str, name: &str, kind: &str) -> Vec<Vec<Step>> {
    let own = |family: &&str| yaml::get(text, &path(&["interface", name, family])).is_some();
    let families = ["ip", "ipv4", "ipv6"].into_iter().filter(own);
    let paths: Vec<_> = families.map(|family| first(&["interface", name, family, kind])).collect();
    if paths.is_empty() { vec![path(&["interface", name])] } else { paths }
}

/// Returns the path of the peer group of the session over a port, or the paths of all peer groups.
fn groups(text: &str, port: &str) -> Vec<Vec<Step>> {
    let bgp = |keys: &[&str]| path(&[&BGP[..], keys].concat());
    let group = |name: &str| bgp(&["peer-group", name]);
    match yaml::get(text, &bgp(&["neighbor", port, "peer-group"])) {
        Some(name) => vec![group(name)],
        None => yaml::paths(text, &group("*")),
    }
}

/// Returns the BFD paths of the session over a port: the state, the values of the profile, and the references to the
/// profile.
fn bfd(text: &str, port: &str, _: &str) -> Vec<Vec<Step>> {
    let mut paths = vec![path(&["router", "bfd", "state"])];
    for group in groups(text, port) {
        let reference = [group, vec!["bfd".into(), "profile".into()]].concat();
        if let Some(name) = yaml::get(text, &reference) {
            let profile = path(&["router", "bfd", "profile", name]);
            let values = yaml::leaves(text, &profile).into_iter();
            paths.extend(values.map(|key| [profile.clone(), vec![Step::Key(key)]].concat()));
            paths.push(profile);
        }
        paths.push(reference);
    }
    paths.push(path(&[&BGP[..], &["neighbor", port, "peer-group"]].concat()));
    paths
}

/// Returns the paths of a setting for received prefixes.
fn inbound(text: &str, port: &str, name: &str) -> Vec<Vec<Step>> {
    let keys = ["prefix-limits", "inbound", name].map(Step::from);
    of_families(text, port, &keys)
}

/// Returns the paths of the states of the address families of a session.
fn activation(text: &str, port: &str, _: &str) -> Vec<Vec<Step>> {
    of_families(text, port, &["state".into()])
}

/// Returns the paths of the filters of the session over a port.
fn filters(text: &str, port: &str, _: &str) -> Vec<Vec<Step>> {
    let both = ["inbound", "outbound"].map(|side| ["policy", side, "route-map"].map(Step::from));
    both.iter().flat_map(|keys| of_families(text, port, keys)).collect()
}

/// Returns the paths of a part of a filter of the session over a port: first the rule of a list, then the reference to
/// the list.
fn filter(text: &str, port: &str, name: &str) -> Vec<Vec<Step>> {
    let Some(fact) = FilterFact::parse(name) else { return Vec::new() };
    let side = if fact.announced { "outbound" } else { "inbound" };
    let attached = of_families(text, port, &["policy", side, "route-map"].map(Step::from));
    let mut paths: Vec<Vec<Step>> = Vec::new();
    for reference in &attached {
        if let Some(map) = yaml::get(text, reference) {
            paths.extend(part(text, map, fact));
        }
    }
    paths.extend(attached);
    paths
}

/// Returns the paths of the rules of a list or route map, in their order.
fn rules(text: &str, kind: &str, name: &str) -> Vec<Vec<Step>> {
    let rules = path(&["router", "policy", kind, name, "rule"]);
    let mut keys = yaml::keys(text, &rules);
    keys.sort_by_key(|key| key.parse::<u32>().unwrap_or(0));
    keys.into_iter().map(|key| [rules.clone(), vec![Step::Key(key)]].concat()).collect()
}

/// Returns the paths of a part of a route map.
fn part(text: &str, map: &str, fact: FilterFact) -> Vec<Vec<Step>> {
    let clauses = rules(text, "route-map", map);
    let Some(clause) = clauses.get(fact.clause).filter(|_| fact.part != FilterPart::Order) else {
        let own = path(&["router", "policy", "route-map", map, "rule"]);
        return clauses.into_iter().chain([own]).collect();
    };
    let inside = |keys: &[&str]| {
        let keys = keys.iter().map(|key| Step::from(*key));
        clause.iter().cloned().chain(keys).collect::<Vec<_>>()
    };
    // If the reference is missing, its path finds the block of references.
    let list = |kind: &str, reference: &str, at: Option<usize>| {
        let reference = inside(&["match", reference]);
        let rules = yaml::get(text, &reference).map_or_else(Vec::new, |name| self::rules(text, kind, name));
        let own = at.and_then(|at| rules.get(at).cloned()).map_or(rules, |own| vec![own]);
        let below = |rule: Vec<Step>| {
            let leaves = yaml::leaves(text, &rule);
            let all = ["match", "*"].map(Step::from);
            let blocks = yaml::paths(text, &[rule.as_slice(), &all].concat()).into_iter();
            let values = blocks.flat_map(move |block| {
                let leaves = leaves.clone().into_iter();
                leaves.map(move |leaf| [block.clone(), vec![Step::Key(leaf)]].concat())
            });
            values
                .chain([[rule.as_slice(), &["action".into(), Step::start("")]].concat(), rule])
                .collect::<Vec<_>>()
        };
        own.into_iter().flat_map(below).chain([reference]).collect::<Vec<_>>()
    };
    let first = |key: &str| [inside(&["set", key]), vec![Step::start("")]].concat();
    match fact.part {
        FilterPart::Action | FilterPart::Order => {
            vec![[inside(&["action"]), vec![Step::start("")]].concat(), clause.clone()]
        }
        FilterPart::Prefixes(at) => list("prefix-list", "ip-prefix-list", Some(at)),
        FilterPart::Paths => list("as-path-list", "as-path-list", None),
        FilterPart::Communities => list("community-list", "community-list", None),
        FilterPart::Preference => vec![inside(&["set", "local-preference"])],
        FilterPart::Mark => vec![first("community")],
        FilterPart::Bandwidth => vec![first("ext-community-bw")],
    }
}

/// Returns the paths of a term in the address families of a session.
fn of_families(text: &str, port: &str, keys: &[Step]) -> Vec<Vec<Step>> {
    let families = groups(text, port).into_iter().flat_map(|group| {
        let all = [group, ["address-family", "*"].map(Step::from).to_vec()].concat();
        let own = yaml::paths(text, &all);
        if own.is_empty() { vec![all] } else { own }
    });
    families.map(|family| [family.as_slice(), keys].concat()).collect()
}

/// Returns the target for an undefined name: references to the name, and the definitions of its kind.
pub(super) fn undefined_target(kind: &str, name: &str) -> Target {
    Fact::Setting { follow: SettingResolver(references), port: kind.to_owned(), name: name.to_owned() }.into()
}

/// Returns the paths of the references to a name of a kind, and of the definition.
fn references(text: &str, kind: &str, name: &str) -> Vec<Vec<Step>> {
    const GROUPS: [&str; 5] = ["vrf", "default", "router", "bgp", "peer-group"];
    const RULES: [&str; 6] = ["router", "policy", "route-map", "*", "rule", "*"];
    let policy = |key| ["router", "policy", key, name];
    let of_rules = |key| vec![[&RULES[..], &["match", key]].concat()];
    let (definition, all): (Vec<&str>, Vec<Vec<&str>>) = match kind {
        "peer group" => {
            ([&GROUPS[..], &[name]].concat(), vec![[&BGP[..], &["neighbor", "*", "peer-group"]].concat()])
        }
        "profile" => {
            (vec!["router", "bfd", "profile", name], vec![[&GROUPS[..], &["*", "bfd", "profile"]].concat()])
        }
        "route map" => {
            let side =
                |side| [&GROUPS[..], &["*", "address-family", "*", "policy", side, "route-map"]].concat();
            (policy("route-map").to_vec(), ["inbound", "outbound"].map(side).to_vec())
        }
        "prefix list" => (policy("prefix-list").to_vec(), of_rules("ip-prefix-list")),
        "list of paths" => (policy("as-path-list").to_vec(), of_rules("as-path-list")),
        _ => (policy("community-list").to_vec(), of_rules("community-list")),
    };
    let found = all.iter().flat_map(|keys| yaml::paths(text, &path(keys)));
    let found = found.filter(|path| yaml::get(text, path) == Some(name));
    found.chain([path(&definition)]).collect()
}

/// Returns the paths of a setting of the PFC watchdog, and of the watchdog's state on a port.
fn watchdog(port: &str, name: &str) -> Vec<Vec<Step>> {
    let key = if name == "looks" { "robustness" } else { name };
    vec![path(&["qos", "pfc-watchdog", key]), path(&["interface", port, "qos", "pfc-watchdog", "state"])]
}

/// Returns the paths of a QoS setting of a port.
pub(super) fn setting(text: &str, port: &str, name: &str) -> Vec<Vec<Step>> {
    let profile = |kind: &str| {
        let own = path(&["interface", port, "qos", kind, "profile"]);
        (yaml::get(text, &own).unwrap_or("default-global").to_owned(), own)
    };
    // First the values of a mapping, then the reference to it.
    let block = |kind: &str, rest: &[&str]| {
        let (profile, own) = profile(kind);
        let block = path(&[&["qos", kind, &profile], rest].concat());
        let leaves = yaml::leaves(text, &block).into_iter();
        let leaves = leaves.map(|leaf| [block.clone(), vec![Step::Key(leaf)]].concat());
        leaves.chain([block.clone(), own]).collect::<Vec<_>>()
    };
    let shares = |keys: &[&str]| {
        vec![path(&[&["qos", "advance-buffer-config", "default-global"], keys, &["shared-alpha"]].concat())]
    };
    let number = name.rsplit(' ').next().unwrap_or_default();
    match name.strip_suffix(number).unwrap_or(name).trim_end() {
        "dscp_to_tc_map" => {
            let all = ["qos", "mapping", "default-global", "dscp", number, "switch-priority"];
            vec![path(&all), path(&["qos", "mapping", "default-global", "trust"])]
        }
        "queue of class" => {
            let all = ["qos", "egress-queue-mapping", "default-global", "switch-priority", number];
            vec![path(&[&all[..], &["traffic-class"]].concat())]
        }
        "marks of queue" | "wred_profile of queue" => block("congestion-control", &["traffic-class", number]),
        "queue" => block("egress-scheduler", &["traffic-class", number]),
        "cable" => vec![path(&["qos", "pfc", &profile("pfc").0, "cable-length"])],
        "ingress of" if number == "others" => shares(&["ingress-lossy-buffer", "priority-group", "bulk"]),
        "ingress of" => shares(&["ingress-lossless-buffer"]),
        "egress of" => shares(&["egress-lossless-buffer"]),
        "egress of queue" => shares(&["egress-lossy-buffer", "traffic-class", number]),
        "watchdog" => watchdog(port, number),
        "load" => vec![path(&["interface", port, "router", "adaptive-routing", "state"])],
        "pool" => vec![path(&["qos", "traffic-pool", number, "memory-percent"])],
        "buffer of queue" | "trimming of class" => {
            vec![path(&["interface", port, "packet-trim", "egress-eligibility", "traffic-class", number])]
        }
        "trimmed" => vec![path(&["system", "forwarding", "packet-trim", "size"])],
        "class of" => vec![path(&["system", "forwarding", "packet-trim", "switch-priority"])],
        _ => match name {
            "pfc_enable" | "headroom" => {
                let pool = first(&["qos", "traffic-pool", "default-lossless", "switch-priority"]);
                [block("pfc", &[]), vec![pool]].concat()
            }
            "queues" => block("egress-scheduler", &["traffic-class"]),
            "tc_to_queue_map" => vec![path(&["qos", "egress-queue-mapping", "default-global"])],
            "tc_to_dscp_map" => {
                let trim = ["system", "forwarding", "packet-trim"];
                let class = yaml::get(text, &path(&[&trim[..], &["switch-priority"]].concat()));
                let mut paths = block("remark", &["switch-priority", class.unwrap_or_default()]);
                paths.extend(["switch-priority", "remark"].map(|key| path(&[&trim[..], &[key]].concat())));
                paths
            }
            _ => vec![path(&["interface", port, "qos"])],
        },
    }
}
