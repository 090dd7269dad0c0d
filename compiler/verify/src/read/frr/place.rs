//! Finds the place of a subject in `frr.conf`, or in the kernel files beside it.

use crate::model::about::About;
use crate::read::linux;

/// Addresses, routes and segments.
pub(crate) const FILE: &str = closc_artefacts::paths::FRR_CONF;

/// Returns the file, and the texts to search for, outermost first.
pub(crate) fn needles(about: About<'_>) -> (&'static str, Vec<String>) {
    let interface = |name: &str, what: &str| {
        (FILE, vec![format!("\ninterface {name}\n"), format!("interface {name}\n"), what.to_owned()])
    };
    match about {
        About::Device
        | About::Management
        | About::Stated(_)
        | About::Settings
        | About::Global(_)
        | About::Counter(_)
        | About::Pools
        | About::IngressFilter
        | About::Source(_) => (FILE, vec!["hostname".to_owned()]),
        About::Peer(name) | About::Description(name) => interface(name, "description"),
        About::Address(name) => interface(name, "ipv6 address"),
        About::Loopback => interface("lo", "ipv6 address"),
        About::Route(prefix) | About::Blackhole(prefix) => (FILE, vec![format!("ipv6 route {prefix} ")]),
        About::Routes => (FILE, vec!["ipv6 route".to_owned()]),
        About::Segment(prefix) => (FILE, vec!["static-sids".to_owned(), format!("sid {prefix} ")]),
        About::Segments => (FILE, vec!["static-sids".to_owned()]),
        About::Balance => (FILE, Vec::new()),
        About::Bgp => (FILE, vec!["router bgp".to_owned()]),
        About::Timers => (FILE, vec!["router bgp".to_owned(), "timers bgp".to_owned()]),
        About::Session(name) => (FILE, vec!["router bgp".to_owned(), format!("neighbor {name} interface")]),
        About::Network(prefix) => (FILE, vec!["router bgp".to_owned(), format!("network {prefix}")]),
        About::Filters => (FILE, vec!["route-map".to_owned()]),
        About::Port(_)
        | About::Neighbour(_)
        | About::Length(_)
        | About::Qos(_)
        | About::Setting(..)
        | About::Headroom(_)
        | About::Mac(_) => linux::place::find(about),
    }
}
