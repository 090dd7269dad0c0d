//! Finds the place of a subject in `config_db.json`.

use crate::model::about::About;

/// The file.
pub(crate) const FILE: &str = closc_artefacts::paths::CONFIG_DB;

/// Returns the texts to search for, outermost first.
pub(crate) fn needles(about: About<'_>) -> Vec<String> {
    let row = |table: &str, key: String| vec![format!("\"{table}\":"), key];
    match about {
        About::Device | About::Settings | About::IngressFilter | About::Source(_) => {
            row("DEVICE_METADATA", "\"localhost\"".to_owned())
        }
        About::Mac(_) => row("DEVICE_METADATA", "\"mac\":".to_owned()),
        About::Port(name) | About::Description(name) => row("PORT", format!("\"{name}\"")),
        About::Address(name) => row("INTERFACE", format!("\"{name}|")),
        About::Peer(name) => row("DEVICE_NEIGHBOR", format!("\"{name}\"")),
        About::Stated(name) => row("DEVICE_NEIGHBOR_METADATA", format!("\"{name}\"")),
        About::Neighbour(name) => row("NEIGH", format!("\"{name}|")),
        About::Length(name) => row("CABLE_LENGTH", format!("\"{name}\"")),
        About::Route(prefix) | About::Blackhole(prefix) => {
            row("STATIC_ROUTE", format!("\"default|{prefix}\""))
        }
        About::Routes => vec!["\"STATIC_ROUTE\":".to_owned()],
        About::Pools => vec!["\"BUFFER_POOL\":".to_owned()],
        About::Headroom(name) => row("BUFFER_PG", format!("\"{name}|")),
        About::Segments => vec!["\"SRV6_MY_SIDS\":".to_owned()],
        About::Segment(prefix) => row("SRV6_MY_SIDS", format!("|{prefix}\"")),
        About::Qos(name) => row("PORT_QOS_MAP", format!("\"{name}\"")),
        About::Loopback => row("LOOPBACK_INTERFACE", "|".to_owned()),
        About::Management => row("MGMT_INTERFACE", "|".to_owned()),
        About::Bgp | About::Timers | About::Session(_) | About::Network(_) | About::Filters => Vec::new(),
    }
}
