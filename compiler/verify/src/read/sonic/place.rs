//! Locations of facts in `config_db.json`.

use super::harmless::SERVERS;
use super::sources;
use crate::model::fact::FactKind;
use crate::model::place::{Fact, SettingResolver, Step};

pub(crate) const FILE: &str = closc_artefacts::paths::CONFIG_DB;

/// Name of the access list of isolated ports.
pub(super) const LIST: &str = "LINK_ISOLATION_TABLE";

/// Returns the facts of a subject, the main one first.
pub(crate) fn facts(about: FactKind<'_>) -> Vec<Fact> {
    let of = |name: &str| Step::Start(format!("{name}|"));
    let with_address = || Step::Part("|".to_owned());
    let setting = |port: &str, name: &str| Fact::Setting {
        follow: SettingResolver(sources::find),
        port: port.to_owned(),
        name: name.to_owned(),
    };
    vec![match about {
        FactKind::Device
        | FactKind::Settings
        | FactKind::IngressFilter
        | FactKind::Source(_)
        | FactKind::Mac(_) => Fact::row("DEVICE_METADATA", "localhost"),
        FactKind::Global("isolation") => Fact::row("ACL_TABLE", LIST),
        FactKind::Global("ecmp_hash") => Fact::row("SWITCH_HASH", "GLOBAL"),
        FactKind::Global(name) if SERVERS.contains(&name) => Fact::table(name),
        FactKind::Global(name) => Fact::Path(vec!["DEVICE_METADATA".into(), "localhost".into(), name.into()]),
        FactKind::Counter(name) => Fact::row("FLEX_COUNTER_TABLE", name),
        FactKind::Port(name) | FactKind::Description(name) => Fact::row("PORT", name),
        FactKind::Address(name) => Fact::row("INTERFACE", of(name)),
        FactKind::Peer(name) => Fact::row("DEVICE_NEIGHBOR", name),
        FactKind::Stated(name) => Fact::row("DEVICE_NEIGHBOR_METADATA", name),
        FactKind::Neighbour(name) => Fact::row("NEIGH", of(name)),
        FactKind::Length(name) => {
            Fact::Path(vec!["CABLE_LENGTH".into(), Step::Start(String::new()), name.into()])
        }
        FactKind::Route(prefix) | FactKind::Blackhole(prefix) => {
            Fact::row("STATIC_ROUTE", Step::Last(prefix.to_owned()))
        }
        FactKind::Routes => Fact::table("STATIC_ROUTE"),
        FactKind::Segments => Fact::table("SRV6_MY_SIDS"),
        FactKind::Segment(prefix) => Fact::row("SRV6_MY_SIDS", Step::Last(prefix.to_owned())),
        FactKind::Pools => setting("", "pools"),
        FactKind::Headroom(name) => setting(name, "headroom"),
        FactKind::Setting(port, name) => setting(port, name),
        FactKind::Qos(name) => Fact::row("PORT_QOS_MAP", name),
        FactKind::Loopback => Fact::row("LOOPBACK_INTERFACE", with_address()),
        FactKind::Management => Fact::row("MGMT_INTERFACE", with_address()),
        FactKind::Balance
        | FactKind::Bgp
        | FactKind::Terms(..)
        | FactKind::Session(_)
        | FactKind::Network(_)
        | FactKind::Filters => return Vec::new(),
    }]
}
