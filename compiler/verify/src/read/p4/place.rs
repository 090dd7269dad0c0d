//! Finds the place of a subject in `entries.txtpb`.

use crate::model::about::About;

/// The file.
pub(crate) const FILE: &str = closc_artefacts::paths::ENTRIES;

/// Returns the texts to search for: the comment above an entry contains its names.
pub(crate) fn needles(about: About<'_>) -> Vec<String> {
    let entry = |table: &str, key: String| vec![format!("# + {table}  {key}")];
    let number = |name: &str| name.trim_start_matches(|c: char| !c.is_ascii_digit()).to_owned();
    match about {
        About::Device
        | About::Loopback
        | About::Management
        | About::Stated(_)
        | About::Settings
        | About::Global(_)
        | About::Counter(_)
        | About::Pools
        | About::Balance
        | About::Bgp
        | About::Terms(..)
        | About::Session(_)
        | About::Network(_)
        | About::Filters => Vec::new(),
        About::Port(name) | About::Length(name) => {
            entry("ingress.port_role", format!("ingress_port={} ", number(name)))
        }
        About::Address(name)
        | About::Peer(name)
        | About::Description(name)
        | About::Mac(name)
        | About::Neighbour(name) => entry("ingress.nexthop", format!("nexthop_id={} ", number(name))),
        About::Route(prefix) | About::Blackhole(prefix) => {
            entry("ingress.ipv6_route", format!("dst={prefix} "))
        }
        About::Routes => vec!["# + ingress.ipv6_route ".to_owned()],
        About::IngressFilter => vec!["# + ingress.nic_destination ".to_owned()],
        About::Source(name) => entry("ingress.nic_source", format!("ingress_port={} ", number(name))),
        About::Segment(_) | About::Segments => vec!["# + ingress.my_sid ".to_owned()],
        About::Setting(name, setting) => {
            let port = number(name);
            self::setting(&port, setting)
                .unwrap_or_else(|| entry("egress.trim", format!("egress_port={port} ")))
        }
        About::Qos(name) | About::Headroom(name) => {
            entry("egress.trim", format!("egress_port={} ", number(name)))
        }
    }
}

/// Returns the texts to search for a QoS setting of a port; `None` if it has no entry of its own.
pub(super) fn setting(port: &str, name: &str) -> Option<Vec<String>> {
    let number = name.rsplit(' ').next().unwrap_or_default();
    let (table, key) = match name.strip_suffix(number).unwrap_or(name).trim_end() {
        "thresholds of class" => ("egress.ecn", format!("egress_port={port} class={number}")),
        "trimming of class" => ("egress.trim", format!("egress_port={port} class={number}")),
        "limit of class" => ("ingress.nic_class", format!("ingress_port={port} class={number}")),
        "limit of" => ("ingress.punt_limit", format!("ingress_port={port}")),
        "dscp_to_tc_map" => ("ingress.dscp_class", format!("dscp={number}")),
        "queue of class" => {
            return Some(vec!["# + ingress.dscp_class ".to_owned(), format!("set_class(class={number}, ")]);
        }
        _ => return None,
    };
    Some(vec![format!("# + {table}  {key} ")])
}
