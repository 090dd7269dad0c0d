//! Finds the place of a subject in `ip.batch`, or in the `tc.batch` beside it.

use super::queues;
use crate::model::about::About;

/// Ports, addresses, neighbours, routes.
pub(crate) const FILE: &str = closc_artefacts::paths::IP_BATCH;

/// The device for segments. With `lo`, the kernel drops every packet; with a port, the segment is removed when the port
/// goes down.
pub(crate) const SEGMENT_DEVICE: &str = "sr0";

/// Returns the file, and the texts to search for, outermost first.
pub(crate) fn find(about: About<'_>) -> (&'static str, Vec<String>) {
    match about {
        About::Qos(name) | About::Setting(name, _) => {
            (queues::FILE, vec![format!("qdisc replace dev {name} root")])
        }
        _ => (FILE, needles(about)),
    }
}

/// Returns the texts to search for in `ip.batch`, outermost first.
pub(crate) fn needles(about: About<'_>) -> Vec<String> {
    match about {
        About::Device
        | About::Management
        | About::Stated(_)
        | About::Settings
        | About::Global(_)
        | About::Counter(_)
        | About::Pools
        | About::Balance
        | About::Bgp
        | About::Timers
        | About::Session(_)
        | About::Network(_)
        | About::Filters
        | About::IngressFilter
        | About::Source(_) => Vec::new(),
        About::Port(name)
        | About::Length(name)
        | About::Qos(name)
        | About::Setting(name, _)
        | About::Headroom(name)
        | About::Mac(name) => {
            vec![format!("link set dev {name} ")]
        }
        About::Peer(name) | About::Description(name) => vec![format!("# {name} -- ")],
        About::Address(name) => vec!["address replace".to_owned(), format!(" dev {name} ")],
        About::Neighbour(name) => vec!["neighbour replace".to_owned(), format!(" dev {name} ")],
        About::Loopback => vec!["address replace".to_owned(), format!(" dev {} ", SEGMENT_DEVICE)],
        About::Route(prefix) => vec![format!("route replace {prefix} ")],
        About::Blackhole(prefix) => vec![format!("route replace blackhole {prefix}")],
        About::Routes => vec!["# One route for each neighbour".to_owned()],
        About::Segment(prefix) => vec![format!("route replace {prefix} encap")],
        About::Segments => vec!["encap seg6local".to_owned()],
    }
}
