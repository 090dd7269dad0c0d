//! Finds the place of a subject in `eos.conf`.

use crate::model::about::About;

/// The file.
pub(super) const FILE: &str = closc_artefacts::paths::EOS_CONF;

/// Returns the texts to search for, outermost first.
pub(super) fn needles(about: About<'_>) -> Vec<String> {
    let interface = |name: &str, what: &str| {
        vec![format!("\ninterface {name}\n"), format!("interface {name}\n"), what.to_owned()]
    };
    match about {
        About::Device
        | About::Settings
        | About::Global(_)
        | About::Counter(_)
        | About::IngressFilter
        | About::Source(_) => {
            vec!["hostname".to_owned()]
        }
        About::Port(name) | About::Neighbour(name) | About::Mac(name) => interface(name, "interface"),
        About::Peer(name) | About::Description(name) => interface(name, "description"),
        About::Address(name) => interface(name, "ipv6 address"),
        About::Qos(name) | About::Setting(name, _) => interface(name, "service-profile"),
        About::Length(_) | About::Headroom(_) | About::Pools => vec!["platform trident mmu".to_owned()],
        About::Loopback => interface("Loopback0", "ipv6 address"),
        About::Management => vec!["interface Management".to_owned(), "address".to_owned()],
        About::Route(prefix) | About::Blackhole(prefix) => vec![format!("ipv6 route {prefix} ")],
        About::Routes => vec!["ipv6 route".to_owned()],
        About::Segment(_) | About::Segments | About::Stated(_) => Vec::new(),
        About::Balance => vec!["ip hardware fib load-balance".to_owned()],
        About::Bgp => vec!["router bgp".to_owned()],
        About::Timers => vec!["router bgp".to_owned(), "timers bgp".to_owned()],
        About::Session(name) => vec!["router bgp".to_owned(), format!("neighbor interface {name} ")],
        About::Network(prefix) => vec!["router bgp".to_owned(), format!("network {prefix}")],
        About::Filters => vec!["route-map".to_owned()],
    }
}
