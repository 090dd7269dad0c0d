//! Locations of facts in `eos.conf`.

use crate::model::fact::{FactKind, Term};
use crate::model::place::{Fact, SettingResolver, Step};
use crate::read::{blocks, filters};

pub(super) const FILE: &str = closc_artefacts::paths::EOS_CONF;

fn bgp(steps: impl IntoIterator<Item = Step>) -> Fact {
    Fact::Path(std::iter::once(Step::start("router bgp")).chain(steps).collect())
}

/// Returns the facts of a subject, the main one first.
pub(super) fn facts(about: FactKind<'_>) -> Vec<Fact> {
    let interface =
        |name: &str, step: Step| Fact::Path(vec![format!("interface {name}").as_str().into(), step]);
    let top = |step: Step| Fact::Path(vec![step]);
    let follow = |follow, port: &str, name: &str| Fact::Setting {
        follow: SettingResolver(follow),
        port: port.to_owned(),
        name: name.to_owned(),
    };
    vec![match about {
        FactKind::Device
        | FactKind::Settings
        | FactKind::Global(_)
        | FactKind::Counter(_)
        | FactKind::IngressFilter
        | FactKind::Source(_) => top(Step::start("hostname")),
        FactKind::Port(name) => {
            let lines = ["mtu ", "speed ", "error-correction ", "no shutdown", "shutdown"];
            return lines.map(|line| interface(name, Step::start(line))).into();
        }
        FactKind::Neighbour(name) | FactKind::Mac(name) => {
            Fact::Path(vec![format!("interface {name}").as_str().into()])
        }
        FactKind::Peer(name) | FactKind::Description(name) => interface(name, Step::start("description ")),
        FactKind::Address(name) => interface(name, Step::ip(" address ")),
        FactKind::Qos(name) => interface(name, Step::start("service-profile ")),
        FactKind::Setting(port, name) => follow(setting, port, name),
        FactKind::Length(name) | FactKind::Headroom(name) => follow(setting, name, "headroom"),
        FactKind::Pools => top(Step::start("platform trident mmu ")),
        FactKind::Loopback => interface("Loopback0", Step::ip(" address ")),
        FactKind::Management => {
            let address = Fact::Path(vec![Step::start("interface Management"), Step::ip(" address ")]);
            return vec![address, top(Step::ip(" route vrf "))];
        }
        FactKind::Route(prefix) | FactKind::Blackhole(prefix) => top(Step::ip(format!(" route {prefix} "))),
        FactKind::Routes => top(Step::ip(" route ")),
        FactKind::Segment(_) | FactKind::Segments | FactKind::Stated(_) => return Vec::new(),
        FactKind::Balance => top(Step::start("ip hardware fib load-balance")),
        FactKind::Bgp => bgp([]),
        FactKind::Terms(port, term) => return terms(port, term),
        FactKind::Session(name) => bgp([Step::start(format!("neighbor interface {name} "))]),
        FactKind::Network(prefix) => {
            bgp([Step::start("address-family "), format!("network {prefix}").as_str().into()])
        }
        FactKind::Filters => top(Step::start("route-map ")),
    }]
}

/// Returns the facts of a session term. Sessions of a peer group share its terms.
fn terms(port: &str, term: Term) -> Vec<Fact> {
    let group = |name: &str| {
        vec![Fact::Setting { follow: SettingResolver(group), port: port.to_owned(), name: name.to_owned() }]
    };
    match term {
        Term::Times => vec![bgp([Step::start("timers bgp ")])],
        Term::Bfd => group("bfd"),
        Term::Interval => group("out-delay"),
        Term::Connect => group("connect-retry"),
        Term::Rest => group("idle-restart-timer"),
        Term::Limit => group("maximum-routes"),
        Term::Filters => group("route-map"),
        Term::Filter(fact) => {
            vec![Fact::Setting { follow: SettingResolver(filter), port: port.to_owned(), name: fact.name() }]
        }
        Term::Activation => group("activate"),
        Term::Restart => vec![Fact::Setting {
            follow: SettingResolver(process),
            port: String::new(),
            name: "graceful-restart".to_owned(),
        }],
        Term::Identifier => vec![bgp([Step::start("router-id ")])],
    }
}

/// Returns the paths of all commands of the BGP process that begin with a text, or the path of the process.
fn process(text: &str, _: &str, name: &str) -> Vec<Vec<Step>> {
    blocks::members(text, Step::start("router bgp"), name)
}

/// Returns the paths of a part of the filters of the session over a port.
fn filter(text: &str, port: &str, name: &str) -> Vec<Vec<Step>> {
    filters::paths(text, &group(text, port, "route-map"), name)
}

/// Returns the paths of a command in the peer group of the session over a port, or in all groups if the session has
/// none.
fn group(text: &str, port: &str, name: &str) -> Vec<Vec<Step>> {
    let process = Step::start("router bgp");
    let member = Step::start(format!("neighbor interface {port} "));
    let groups =
        if port.is_empty() { Vec::new() } else { blocks::commands(text, &[process.clone(), member]) };
    let mut groups: Vec<&str> = groups.iter().filter_map(|line| line.split(' ').nth(4)).collect();
    if groups.is_empty() {
        let all = blocks::commands(text, &[process.clone(), Step::start("neighbor ")]);
        groups = all.iter().filter_map(|line| line.strip_suffix(" peer group")?.split(' ').nth(1)).collect();
    }
    let paths = groups.into_iter().flat_map(|group| {
        let command = format!("neighbor {group} {name}");
        let own = blocks::commands(text, &[process.clone(), Step::start(command.as_str())]);
        let family = || vec![process.clone(), Step::start("address-family "), Step::start(command.as_str())];
        match own.as_slice() {
            [] => vec![family()],
            own => own.iter().map(|line| vec![process.clone(), Step::from(*line)]).collect(),
        }
    });
    paths.collect()
}

/// Returns the paths of a QoS setting of a port.
fn setting(text: &str, port: &str, name: &str) -> Vec<Vec<Step>> {
    let attached = vec![format!("interface {port}").as_str().into(), Step::start("service-profile ")];
    let reference = blocks::commands(text, &attached);
    let profile = reference.first().and_then(|line| line.split(' ').nth(1)).unwrap_or_default();
    let profile = Step::from(format!("qos profile {profile}").as_str());
    let number = name.rsplit(' ').next().unwrap_or_default();
    let queue = |command: &str| {
        let own = Step::Part(format!("tx-queue {number}"));
        let lines = blocks::commands(text, &[profile.clone(), own.clone(), Step::start(command)]);
        let lines = lines.into_iter().map(|line| vec![profile.clone(), own.clone(), line.into()]);
        lines.chain([vec![profile.clone(), own.clone(), Step::start(command)]]).collect::<Vec<_>>()
    };
    let shares = |command: String| {
        let applied = Step::Around("platform trident mmu queue profile ".to_owned(), " apply".to_owned());
        let own = blocks::commands(text, std::slice::from_ref(&applied));
        let own = own.first().and_then(|line| line.strip_suffix(" apply"));
        let block = own.map_or(Step::start("platform trident mmu queue profile "), Step::from);
        vec![vec![block, Step::start(command)], vec![applied]]
    };
    let watchdog = |rest: &str| {
        let command = format!("priority-flow-control pause watchdog{rest}");
        vec![vec![
            profile.clone(),
            if rest.is_empty() { command.as_str().into() } else { Step::start(command) },
        ]]
    };
    let maps = |kind: &str, number: &str| {
        let all = blocks::commands(text, &[Step::start(format!("qos map {kind} "))]);
        let has = |line: &&&str| line.split(' ').any(|word| word == number);
        let own: Vec<&str> = all.iter().filter(has).copied().collect();
        let lines = if own.is_empty() { all } else { own };
        lines.into_iter().map(|line| vec![line.into()]).collect::<Vec<_>>()
    };
    let mut paths = match name.strip_suffix(number).unwrap_or(name).trim_end() {
        "dscp_to_tc_map" => maps("dscp", number),
        "queue of class" => maps("traffic-class", number),
        "marks of queue" | "wred_profile of queue" | "counter of queue" => queue("random-detect"),
        "queue" => [queue("bandwidth"), queue("priority"), queue("no priority")].concat(),
        "ingress of" | "ingress of group" => shares(format!("ingress priority-group {number} ")),
        "egress of" | "egress of queue" => shares(format!("egress unicast queue {number} ")),
        "watchdog" if number == "watchdog" => watchdog(""),
        "watchdog" if number == "action" => watchdog(" port action"),
        "watchdog" => watchdog(" port timer"),
        _ => match name {
            "watchdog" => watchdog(""),
            "headroom" => shares("ingress headroom ".to_owned()),
            "headroom pool" => vec![vec![Step::start("platform trident mmu headroom-pool ")]],
            "pfc_enable" => vec![vec![profile.clone(), Step::start("priority-flow-control ")]],
            "queues" => vec![vec![profile.clone(), Step::Part("tx-queue ".to_owned())]],
            "dscp_to_tc_map" => maps("dscp", ""),
            "tc_to_queue_map" => maps("traffic-class", ""),
            _ => Vec::new(),
        },
    };
    if name == "dscp_to_tc_map" || paths.is_empty() {
        paths.push(vec![profile.clone(), Step::start("qos trust")]);
    }
    paths.push(attached);
    paths
}
