//! Locations of facts in `ip.batch`, or in the `tc.batch` next to it.

use super::queues;
use crate::model::fact::FactKind;
use crate::model::place::{Fact, SettingResolver, Step};
use crate::read::blocks;

/// File of ports, addresses, neighbours and routes.
pub(crate) const FILE: &str = closc_artefacts::paths::IP_BATCH;

/// The device to which segments are bound. With `lo`, the kernel would drop every packet. With a port, it would remove
/// the segment when the port goes down.
pub(crate) const SEGMENT_DEVICE: &str = "sr0";

/// Returns the file, and the facts of a subject.
pub(crate) fn find(about: FactKind<'_>) -> (&'static str, Vec<Fact>) {
    let start = |text: String| Step::Start(text);
    let around = |text: &str, part: String| Step::Around(text.to_owned(), part);
    let step = match about {
        FactKind::Qos(name) | FactKind::Setting(name, _) => {
            return (queues::FILE, vec![Fact::Path(vec![start(format!("qdisc replace dev {name} root"))])]);
        }
        FactKind::Device
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
        | FactKind::Filters
        | FactKind::IngressFilter
        | FactKind::Source(_) => return (FILE, Vec::new()),
        FactKind::Port(name) => {
            return (
                FILE,
                vec![Fact::Setting {
                    follow: SettingResolver(port),
                    port: name.to_owned(),
                    name: String::new(),
                }],
            );
        }
        FactKind::Length(name) | FactKind::Headroom(name) | FactKind::Mac(name) => {
            start(format!("link set dev {name} "))
        }
        FactKind::Peer(name) | FactKind::Description(name) => start(format!("# {name} -- ")),
        FactKind::Address(name) => around("address replace ", format!(" dev {name} ")),
        FactKind::Neighbour(name) => around("neighbour replace ", format!(" dev {name} ")),
        FactKind::Loopback => around("address replace ", format!(" dev {SEGMENT_DEVICE} ")),
        FactKind::Route(prefix) => start(format!("route replace {prefix} ")),
        FactKind::Blackhole(prefix) => start(format!("route replace blackhole {prefix}")),
        FactKind::Routes => start("# One route for each neighbour".to_owned()),
        FactKind::Segment(prefix) => start(format!("route replace {prefix} encap")),
        FactKind::Segments => around("route replace ", " encap seg6local".to_owned()),
    };
    (FILE, vec![Fact::Path(vec![step])])
}

/// Returns the paths of a port: the command that configures it, or else the first one that uses it.
fn port(text: &str, port: &str, _: &str) -> Vec<Vec<Step>> {
    let own = Step::Start(format!("link set dev {port} "));
    let is_set = !blocks::commands(text, std::slice::from_ref(&own)).is_empty();
    vec![vec![if is_set { own } else { Step::Part(format!(" dev {port} ")) }]]
}
