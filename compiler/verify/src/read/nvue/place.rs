//! Where something is in `nvue.yaml`.

use crate::model::about::About;

/// The file.
pub(super) const FILE: &str = closc_artefacts::paths::NVUE_YAML;

/// Returns what to look for, outermost first.
pub(super) fn needles(about: About<'_>) -> Vec<String> {
    let interface = |name: &str, what: &str| vec![format!("      {name}:"), what.to_owned()];
    match about {
        About::Device | About::Stated(_) | About::IngressFilter | About::Source(_) => {
            vec!["hostname:".to_owned()]
        }
        About::Port(name) | About::Neighbour(name) | About::Mac(name) => interface(name, name),
        About::Peer(name) | About::Description(name) => interface(name, "description:"),
        About::Address(name) => interface(name, "address:"),
        About::Qos(name) | About::Setting(name, _) => interface(name, "qos:"),
        About::Length(name) | About::Headroom(name) => interface(name, "pfc:"),
        About::Pools => vec!["traffic-pool:".to_owned()],
        About::Settings | About::Global(_) | About::Counter(_) => vec!["    system:".to_owned()],
        About::Loopback => interface("lo", "address:"),
        About::Management => interface("eth0", "address:"),
        About::Route(prefix) | About::Blackhole(prefix) => vec!["static:".to_owned(), format!("'{prefix}'")],
        About::Routes => vec!["static:".to_owned()],
        About::Segment(prefix) => vec!["srv6-sid:".to_owned(), format!("'{prefix}'")],
        About::Segments => vec!["segment-routing:".to_owned()],
        About::Bgp => vec!["bgp:".to_owned()],
        About::Timers => vec!["    vrf:".to_owned(), "timers:".to_owned()],
        About::Session(name) => vec!["            neighbor:".to_owned(), format!("{name}:")],
        About::Network(prefix) => vec!["    vrf:".to_owned(), format!("'{prefix}'")],
        About::Filters => vec!["route-map:".to_owned()],
    }
}
