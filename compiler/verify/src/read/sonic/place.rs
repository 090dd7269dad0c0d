//! Identities of facts in `config_db.json`.

use super::harmless::SERVERS;
use super::sources;
use crate::model::about::About;
use crate::model::place::{Fact, Follow, Step};

/// The file.
pub(crate) const FILE: &str = closc_artefacts::paths::CONFIG_DB;

/// The access list of isolated ports.
pub(super) const LIST: &str = "LINK_ISOLATION_TABLE";

/// Returns the facts of a subject, the main one first.
pub(crate) fn facts(about: About<'_>) -> Vec<Fact> {
    let of = |name: &str| Step::Start(format!("{name}|"));
    let with_address = || Step::Part("|".to_owned());
    let setting = |port: &str, name: &str| Fact::Setting {
        follow: Follow(sources::find),
        port: port.to_owned(),
        name: name.to_owned(),
    };
    vec![match about {
        About::Device | About::Settings | About::IngressFilter | About::Source(_) | About::Mac(_) => {
            Fact::row("DEVICE_METADATA", "localhost")
        }
        About::Global("isolation") => Fact::row("ACL_TABLE", LIST),
        About::Global("ecmp_hash") => Fact::row("SWITCH_HASH", "GLOBAL"),
        About::Global(name) if SERVERS.contains(&name) => Fact::table(name),
        About::Global(name) => Fact::Path(vec!["DEVICE_METADATA".into(), "localhost".into(), name.into()]),
        About::Counter(name) => Fact::row("FLEX_COUNTER_TABLE", name),
        About::Port(name) | About::Description(name) => Fact::row("PORT", name),
        About::Address(name) => Fact::row("INTERFACE", of(name)),
        About::Peer(name) => Fact::row("DEVICE_NEIGHBOR", name),
        About::Stated(name) => Fact::row("DEVICE_NEIGHBOR_METADATA", name),
        About::Neighbour(name) => Fact::row("NEIGH", of(name)),
        About::Length(name) => {
            Fact::Path(vec!["CABLE_LENGTH".into(), Step::Start(String::new()), name.into()])
        }
        About::Route(prefix) | About::Blackhole(prefix) => {
            Fact::row("STATIC_ROUTE", Step::Last(prefix.to_owned()))
        }
        About::Routes => Fact::table("STATIC_ROUTE"),
        About::Segments => Fact::table("SRV6_MY_SIDS"),
        About::Segment(prefix) => Fact::row("SRV6_MY_SIDS", Step::Last(prefix.to_owned())),
        About::Pools => setting("", "pools"),
        About::Headroom(name) => setting(name, "headroom"),
        About::Setting(port, name) => setting(port, name),
        About::Qos(name) => Fact::row("PORT_QOS_MAP", name),
        About::Loopback => Fact::row("LOOPBACK_INTERFACE", with_address()),
        About::Management => Fact::row("MGMT_INTERFACE", with_address()),
        About::Balance
        | About::Bgp
        | About::Terms(..)
        | About::Session(_)
        | About::Network(_)
        | About::Filters => return Vec::new(),
    }]
}
