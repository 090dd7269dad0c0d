//! Finds the place of a subject in `pins.txtpb`.

use crate::model::about::About;

/// The file.
pub(crate) const FILE: &str = closc_artefacts::paths::PINS_ENTRIES;

/// Returns the texts to search for: the comment above an entry contains its names.
pub(crate) fn needles(about: About<'_>) -> Option<Vec<String>> {
    let entry = |table: &str, key: String| Some(vec![format!("{table}  {key}")]);
    match about {
        About::Route(prefix) | About::Blackhole(prefix) => Some(vec![format!("ipv6_dst={prefix} ")]),
        About::Routes => Some(vec!["ipv6_table ".to_owned()]),
        About::Neighbour(name) | About::Address(name) => {
            entry("neighbor_table", format!("router_interface_id=\"{name}\" "))
        }
        About::Device
        | About::Loopback
        | About::Management
        | About::Settings
        | About::Global(_)
        | About::Counter(_)
        | About::Pools
        | About::Balance
        | About::Bgp
        | About::Terms(..)
        | About::Session(_)
        | About::Network(_)
        | About::Filters
        | About::Port(_)
        | About::Length(_)
        | About::Peer(_)
        | About::Stated(_)
        | About::Description(_)
        | About::Mac(_)
        | About::IngressFilter
        | About::Source(_)
        | About::Segment(_)
        | About::Segments
        | About::Qos(_)
        | About::Setting(..)
        | About::Headroom(_) => None,
    }
}
