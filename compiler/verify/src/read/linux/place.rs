//! Identities of facts in `ip.batch`, or in the `tc.batch` beside it.

use super::queues;
use crate::model::about::About;
use crate::model::place::{Fact, Follow, Step};
use crate::read::blocks;

/// Ports, addresses, neighbours, routes.
pub(crate) const FILE: &str = closc_artefacts::paths::IP_BATCH;

/// The device for segments. With `lo`, the kernel drops every packet; with a port, the segment is removed when the port
/// goes down.
pub(crate) const SEGMENT_DEVICE: &str = "sr0";

/// Returns the file, and the facts of a subject.
pub(crate) fn find(about: About<'_>) -> (&'static str, Vec<Fact>) {
    let start = |text: String| Step::Start(text);
    let around = |text: &str, part: String| Step::Around(text.to_owned(), part);
    let step = match about {
        About::Qos(name) | About::Setting(name, _) => {
            return (queues::FILE, vec![Fact::Path(vec![start(format!("qdisc replace dev {name} root"))])]);
        }
        About::Device
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
        | About::Filters
        | About::IngressFilter
        | About::Source(_) => return (FILE, Vec::new()),
        About::Port(name) => {
            return (
                FILE,
                vec![Fact::Setting { follow: Follow(port), port: name.to_owned(), name: String::new() }],
            );
        }
        About::Length(name) | About::Headroom(name) | About::Mac(name) => {
            start(format!("link set dev {name} "))
        }
        About::Peer(name) | About::Description(name) => start(format!("# {name} -- ")),
        About::Address(name) => around("address replace ", format!(" dev {name} ")),
        About::Neighbour(name) => around("neighbour replace ", format!(" dev {name} ")),
        About::Loopback => around("address replace ", format!(" dev {SEGMENT_DEVICE} ")),
        About::Route(prefix) => start(format!("route replace {prefix} ")),
        About::Blackhole(prefix) => start(format!("route replace blackhole {prefix}")),
        About::Routes => start("# One route for each neighbour".to_owned()),
        About::Segment(prefix) => start(format!("route replace {prefix} encap")),
        About::Segments => around("route replace ", " encap seg6local".to_owned()),
    };
    (FILE, vec![Fact::Path(vec![step])])
}

/// Returns the paths of a port: where it is set up, or else the first command that uses it.
fn port(text: &str, port: &str, _: &str) -> Vec<Vec<Step>> {
    let own = Step::Start(format!("link set dev {port} "));
    let is_set = !blocks::commands(text, std::slice::from_ref(&own)).is_empty();
    vec![vec![if is_set { own } else { Step::Part(format!(" dev {port} ")) }]]
}
