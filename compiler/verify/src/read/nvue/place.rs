//! Identities of facts in `nvue.yaml`.

use crate::model::about::{About, Term};
use crate::model::place::{Fact, Follow, Step};
use crate::read::yaml;

/// The file.
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

/// Returns the facts of a subject, the main one first.
pub(super) fn facts(about: About<'_>) -> Vec<Fact> {
    const BGP: [&str; 4] = ["vrf", "default", "router", "bgp"];
    let bgp = |keys: &[&str]| fact(&[&BGP[..], keys].concat());
    let any = |keys: &[&str]| Fact::Path([path(keys), vec![Step::Start(String::new())]].concat());
    let setting = |port: &str, name: &str| Fact::Setting {
        follow: Follow(self::setting),
        port: port.to_owned(),
        name: name.to_owned(),
    };
    vec![match about {
        About::Device | About::Stated(_) | About::IngressFilter | About::Source(_) => {
            fact(&["system", "hostname"])
        }
        About::Port(name) => {
            let link = |key| fact(&["interface", name, "link", key]);
            return ["state", "mtu", "speed", "fec"].map(link).into();
        }
        About::Neighbour(name) | About::Mac(name) => fact(&["interface", name]),
        About::Peer(name) | About::Description(name) => fact(&["interface", name, "description"]),
        About::Address(name) => any(&["interface", name, "ipv6", "address"]),
        About::Qos(name) => fact(&["interface", name, "qos"]),
        About::Setting(port, name) => setting(port, name),
        About::Length(name) => setting(name, "cable length"),
        About::Headroom(name) => setting(name, "headroom"),
        About::Pools => fact(&["qos", "traffic-pool"]),
        About::Settings | About::Global(_) | About::Counter(_) => fact(&["system"]),
        About::Loopback => any(&["interface", "lo", "ipv6", "address"]),
        About::Management => any(&["interface", "eth0", "ipv4", "address"]),
        About::Route(prefix) | About::Blackhole(prefix) => {
            let route = ["vrf", "default", "router", "static", prefix];
            return vec![fact(&route), any(&[&route[..], &["via"]].concat())];
        }
        About::Routes => fact(&["vrf", "default", "router", "static"]),
        About::Segment(prefix) => fact(&["router", "segment-routing", "static", "srv6-sid", prefix]),
        About::Segments => fact(&["router", "segment-routing"]),
        About::Balance => fact(&["router", "adaptive-routing"]),
        About::Bgp => bgp(&[]),
        About::Terms(_, Term::Identifier) => bgp(&["router-id"]),
        About::Terms(..) => bgp(&["timers"]),
        About::Session(name) => bgp(&["neighbor", name]),
        About::Network(prefix) => bgp(&["address-family", "ipv6-unicast", "network", prefix]),
        About::Filters => fact(&["router", "policy", "route-map"]),
    }]
}

/// Returns the paths of a setting of the quality of service of a port.
pub(super) fn setting(text: &str, port: &str, name: &str) -> Vec<Vec<Step>> {
    let profile = |kind: &str| {
        let own = path(&["interface", port, "qos", kind, "profile"]);
        (yaml::get(text, &own).unwrap_or("default-global").to_owned(), own)
    };
    // The values of a mapping, then the reference to it.
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
        "watchdog" if number == "looks" => vec![path(&["qos", "pfc-watchdog", "robustness"])],
        "watchdog" => vec![path(&["qos", "pfc-watchdog", number])],
        "pool" => vec![path(&["qos", "traffic-pool", number, "memory-percent"])],
        "buffer of queue" | "trimming of class" => {
            vec![path(&["interface", port, "packet-trim", "egress-eligibility", "traffic-class", number])]
        }
        "trimmed" => vec![path(&["system", "forwarding", "packet-trim", "size"])],
        "class of" => vec![path(&["system", "forwarding", "packet-trim", "switch-priority"])],
        _ => match name {
            "pfc_enable" | "headroom" => block("pfc", &[]),
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
