//! Finds the place of a subject in `entries.txtpb`.

use crate::model::fact::FactKind;

pub(crate) const FILE: &str = closc_artefacts::paths::ENTRIES;

/// Returns the texts to search for. The comment above an entry contains its names.
pub(crate) fn needles(about: FactKind<'_>) -> Vec<String> {
    let entry = |table: &str, key: String| vec![format!("# + {table}  {key}")];
    let number = |name: &str| name.trim_start_matches(|c: char| !c.is_ascii_digit()).to_owned();
    match about {
        FactKind::Device
        | FactKind::Loopback
        | FactKind::Management
        | FactKind::Stated(_)
        | FactKind::Settings
        | FactKind::Global(_)
        | FactKind::Counter(_)
        | FactKind::Pools
        | FactKind::Balance
        | FactKind::Bgp
        | FactKind::Terms(..)
        | FactKind::Session(_)
        | FactKind::Network(_)
        | FactKind::Filters => Vec::new(),
        FactKind::Port(name) | FactKind::Length(name) => {
            entry("ingress.port_role", format!("ingress_port={} ", number(name)))
        }
        FactKind::Address(name)
        | FactKind::Peer(name)
        | FactKind::Description(name)
        | FactKind::Mac(name)
        | FactKind::Neighbour(name) => entry("ingress.nexthop", format!("nexthop_id={} ", number(name))),
        FactKind::Route(prefix) | FactKind::Blackhole(prefix) => {
            entry("ingress.ipv6_route", format!("dst={prefix} "))
        }
        FactKind::Routes => vec!["# + ingress.ipv6_route ".to_owned()],
        FactKind::IngressFilter => vec!["# + ingress.nic_destination ".to_owned()],
        FactKind::Source(name) => entry("ingress.nic_source", format!("ingress_port={} ", number(name))),
        FactKind::Segment(_) | FactKind::Segments => vec!["# + ingress.my_sid ".to_owned()],
        FactKind::Setting(name, setting) => {
            let port = number(name);
            self::setting(&port, setting)
                .unwrap_or_else(|| entry("egress.trim", format!("egress_port={port} ")))
        }
        FactKind::Qos(name) | FactKind::Headroom(name) => {
            entry("egress.trim", format!("egress_port={} ", number(name)))
        }
    }
}

/// Returns the texts by which a QoS setting of a port is found; `None` if it has no entry of its own.
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
