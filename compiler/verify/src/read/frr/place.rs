//! Locations of facts in `frr.conf`, or in the kernel files next to it.

use crate::model::fact::{FactKind, Term};
use crate::model::place::{Fact, SettingResolver, Step};
use crate::read::{blocks, filters, linux};

/// File of addresses, routes and segments.
pub(crate) const FILE: &str = closc_artefacts::paths::FRR_CONF;

fn bgp(steps: impl IntoIterator<Item = Step>) -> Fact {
    Fact::Path(std::iter::once(Step::start("router bgp")).chain(steps).collect())
}

/// Returns the file, and the facts of a subject, the main one first.
pub(crate) fn facts(about: FactKind<'_>) -> (&'static str, Vec<Fact>) {
    let interface =
        |name: &str, step: Step| Fact::Path(vec![format!("interface {name}").as_str().into(), step]);
    let top = |step: Step| Fact::Path(vec![step]);
    let segments = |steps: Vec<Step>| {
        let outside = ["segment-routing".into(), "srv6".into(), "static-sids".into()];
        Fact::Path(outside.into_iter().chain(steps).collect())
    };
    let fact = match about {
        FactKind::Device
        | FactKind::Management
        | FactKind::Stated(_)
        | FactKind::Settings
        | FactKind::Global(_)
        | FactKind::Counter(_)
        | FactKind::Pools
        | FactKind::IngressFilter
        | FactKind::Source(_) => top(Step::start("hostname")),
        FactKind::Peer(name) | FactKind::Description(name) => interface(name, Step::start("description ")),
        FactKind::Address(name) => interface(name, Step::ip(" address ")),
        FactKind::Loopback => interface("lo", Step::ip(" address ")),
        FactKind::Route(prefix) | FactKind::Blackhole(prefix) => top(Step::ip(format!(" route {prefix} "))),
        FactKind::Routes => top(Step::ip(" route ")),
        FactKind::Segment(prefix) => segments(vec![Step::start(format!("sid {prefix} "))]),
        FactKind::Segments => segments(Vec::new()),
        FactKind::Balance => return (FILE, Vec::new()),
        FactKind::Bgp => bgp([]),
        FactKind::Terms(port, term) => return (FILE, terms(port, term)),
        FactKind::Session(name) => bgp([Step::start(format!("neighbor {name} interface "))]),
        FactKind::Network(prefix) => {
            bgp([Step::start("address-family "), format!("network {prefix}").as_str().into()])
        }
        FactKind::Filters => top(Step::start("route-map ")),
        FactKind::Port(_)
        | FactKind::Neighbour(_)
        | FactKind::Length(_)
        | FactKind::Qos(_)
        | FactKind::Setting(..)
        | FactKind::Headroom(_)
        | FactKind::Mac(_) => return linux::place::find(about),
    };
    (FILE, vec![fact])
}

/// Returns the facts of a session term. Sessions of a peer group share its terms.
fn terms(port: &str, term: Term) -> Vec<Fact> {
    let group = |name: &str| Fact::Setting {
        follow: SettingResolver(group),
        port: port.to_owned(),
        name: name.to_owned(),
    };
    match term {
        Term::Times => vec![bgp([Step::start("timers bgp ")])],
        Term::Bfd => {
            let profile =
                |line: &str| Fact::Path(vec!["bfd".into(), Step::start("profile "), Step::start(line)]);
            let lines = ["detect-multiplier ", "transmit-interval ", "receive-interval "];
            std::iter::once(group("bfd ")).chain(lines.map(profile)).collect()
        }
        Term::Interval => vec![group("advertisement-interval ")],
        Term::Connect => vec![group("timers connect ")],
        Term::Rest | Term::Limit => vec![group("maximum-prefix ")],
        Term::Filters => vec![group("route-map ")],
        Term::Filter(fact) => {
            vec![Fact::Setting { follow: SettingResolver(filter), port: port.to_owned(), name: fact.name() }]
        }
        Term::Activation => vec![group("activate")],
        Term::Restart => vec![Fact::Setting {
            follow: SettingResolver(process),
            port: String::new(),
            name: "bgp graceful-restart".to_owned(),
        }],
        Term::Identifier => vec![bgp([Step::start("bgp router-id ")])],
    }
}

/// Terms inside an address family.
const FAMILY: [&str; 3] = ["maximum-prefix ", "route-map ", "activate"];

/// Returns the paths of all commands of the BGP process that begin with a text, or the path of the process.
fn process(text: &str, _: &str, name: &str) -> Vec<Vec<Step>> {
    blocks::members(text, Step::start("router bgp"), name)
}

/// Returns the paths of a part of the filters of the session over a port.
fn filter(text: &str, port: &str, name: &str) -> Vec<Vec<Step>> {
    filters::paths(text, &group(text, port, "route-map "), name)
}

/// Returns the paths of a command in the peer group of the session over a port, or in all groups if the session has
/// none.
fn group(text: &str, port: &str, name: &str) -> Vec<Vec<Step>> {
    let process = Step::start("router bgp");
    let ending = |step: Step, end: &str| -> Vec<String> {
        let lines = blocks::commands(text, &[process.clone(), step]);
        let words = lines.iter().filter(|line| line.contains(end)).map(|line| line.split(' '));
        words.filter_map(|mut words| words.next_back().map(str::to_owned)).collect()
    };
    let member = Step::start(format!("neighbor {port} "));
    let mut groups = if port.is_empty() { Vec::new() } else { ending(member, " peer-group ") };
    if groups.is_empty() {
        let heads = blocks::commands(text, &[process.clone(), Step::start("neighbor ")]);
        let name = |line: &&str| Some(line.strip_suffix(" peer-group")?.split(' ').nth(1)?.to_owned());
        groups = heads.iter().filter_map(name).collect();
    }
    // Commands of the neighbour itself take precedence.
    let own =
        [process.clone(), Step::start("address-family "), Step::start(format!("neighbor {port} {name}"))];
    let own = blocks::commands(text, &own).into_iter().filter(|_| !port.is_empty());
    let own = own.map(|line| vec![process.clone(), Step::start("address-family "), Step::from(line)]);
    let paths = groups.into_iter().flat_map(|group| {
        let command = format!("neighbor {group} {name}");
        let own = [process.clone(), Step::start(command.as_str())];
        let inside = [process.clone(), Step::start("address-family "), Step::start(command.as_str())];
        if blocks::commands(text, &own).is_empty() && FAMILY.contains(&name) {
            let lines = blocks::commands(text, &inside);
            let [process, family, first] = inside;
            let path = |last: Step| vec![process.clone(), family.clone(), last];
            if lines.is_empty() {
                vec![path(first)]
            } else {
                lines.into_iter().map(|line| path(line.into())).collect()
            }
        } else {
            vec![own.to_vec()]
        }
    });
    own.collect::<Vec<_>>().into_iter().chain(paths).collect()
}
