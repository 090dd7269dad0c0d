//! Finds the place of a subject in `pins.txtpb`.

use crate::model::fact::FactKind;

pub(crate) const FILE: &str = closc_artefacts::paths::PINS_ENTRIES;

/// Returns the texts to search for. The comment above an entry contains its names.
pub(crate) fn needles(about: FactKind<'_>) -> Option<Vec<String>> {
    let entry = |table: &str, key: String| Some(vec![format!("{table}  {key}")]);
    match about {
        FactKind::Route(prefix) | FactKind::Blackhole(prefix) => Some(vec![format!("ipv6_dst={prefix} ")]),
        FactKind::Routes => Some(vec!["ipv6_table ".to_owned()]),
        FactKind::Neighbour(name) | FactKind::Address(name) => {
            entry("neighbor_table", format!("router_interface_id=\"{name}\" "))
        }
        FactKind::Device
        | FactKind::Loopback
        | FactKind::Management
        | FactKind::Settings
        | FactKind::Global(_)
        | FactKind::Counter(_)
        | FactKind::Pools
        | FactKind::Balance
        | FactKind::Bgp
        | FactKind::Terms(..)
        | FactKind::Session(_)
        | FactKind::Network(_)
        | FactKind::Filters
        | FactKind::Port(_)
        | FactKind::Length(_)
        | FactKind::Peer(_)
        | FactKind::Stated(_)
        | FactKind::Description(_)
        | FactKind::Mac(_)
        | FactKind::IngressFilter
        | FactKind::Source(_)
        | FactKind::Segment(_)
        | FactKind::Segments
        | FactKind::Qos(_)
        | FactKind::Setting(..)
        | FactKind::Headroom(_) => None,
    }
}
