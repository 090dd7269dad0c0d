//! Features of the machine that a lab needs, tried in a private namespace.

use std::panic::resume_unwind;
use std::sync::OnceLock;
use std::thread;

use nix::sched::{CloneFlags, unshare};
use nix::unistd::geteuid;

use super::command::{ip_batch, tc_batch, version};
use crate::LabError;
use crate::feature::Feature;
use crate::privilege;

/// Trials in order. Later trials depend on earlier ones.
const TRIALS: [(Feature, &str); 6] = [
    (Feature::Veth, "link add v0 type veth peer name v1\nlink set v0 up\nlink set v1 up\n"),
    (Feature::Bridge, "link add sr0 type bridge\nlink set sr0 up\n"),
    (
        Feature::NextCsid,
        "route replace fcbb:bbbb:1::/48 encap seg6local action End flavors next-csid lblen 32 nflen 16 count \
         dev sr0\n",
    ),
    (
        Feature::Decapsulation,
        "route replace fcbb:bbbb:8001::/48 encap seg6local action End.DT6 table 255 count dev sr0\n",
    ),
    (
        Feature::Encapsulation,
        "address replace 2001:db8::a/127 dev v0 nodad\n\
         route replace 2001:db8:1::1/128 encap seg6 mode encap.red segs fcbb:bbbb:1:8001:: dev v0\n",
    ),
    (
        Feature::NextHops,
        "nexthop replace id 1 encap seg6 mode encap.red segs fcbb:bbbb:1:8001:: via 2001:db8::b dev v0\n\
         nexthop replace id 2 group 1\nroute replace 2001:db8:1::2/128 nhid 2\n",
    ),
];

/// Features of `tc` that a `tc.batch` uses, tried in this order.
const QUEUES: [(&str, &str); 3] = [
    (
        "`ets` (Linux 5.6 or later with CONFIG_NET_SCH_ETS)",
        "qdisc replace dev lo root handle 1: ets bands 2 strict 1 quanta 9216 priomap 1 1\n\
         qdisc replace dev lo parent 1:1 handle 11: bfifo limit 9216000\n",
    ),
    (
        "`red` that drops nothing early (Linux 5.6 or later with CONFIG_NET_SCH_RED)",
        "qdisc replace dev lo parent 1:2 handle 22: red limit 9216000 min 40000 max 160000 avpkt 1000 burst 40 \
         probability 0.2 bandwidth 10000mbit ecn nodrop\n",
    ),
    (
        "`u32` (CONFIG_NET_CLS_U32)",
        "filter del dev lo parent 1:\n\
         filter add dev lo parent 1: protocol ipv6 pref 7 u32 match ip6 priority 0xb8 0xfc flowid 1:1\n",
    ),
];

/// Returns the first missing feature that queues need; `None` if there is none. The result is cached.
pub fn lacking_queues() -> Option<&'static str> {
    static LACKING: OnceLock<Option<&'static str>> = OnceLock::new();
    *LACKING.get_or_init(|| {
        thread::scope(|scope| scope.spawn(try_queues).join().unwrap_or_else(|panic| resume_unwind(panic)))
    })
}

fn try_queues() -> Option<&'static str> {
    if unshare(CloneFlags::CLONE_NEWNET).is_err() || privilege::of_namespaces().is_err() {
        return Some("namespaces for this user");
    }
    let lacks = |lines: &str| tc_batch(lines, "a trial namespace").is_err();
    QUEUES.iter().find(|(_, lines)| lacks(lines)).map(|(what, _)| *what)
}

/// Checks that this process may create namespaces, and that kernel and tools have the features that a lab needs.
pub fn check() -> Result<(), LabError> {
    if !geteuid().is_root() {
        return Err(LabError::NotRoot);
    }
    if version().is_err() {
        return Err(LabError::Missing(vec![Feature::Iproute]));
    }
    let missing =
        thread::scope(|scope| scope.spawn(try_all).join().unwrap_or_else(|panic| resume_unwind(panic)))?;
    if missing.is_empty() { Ok(()) } else { Err(LabError::Missing(missing)) }
}

/// Tries all features in a private namespace of this thread.
fn try_all() -> Result<Vec<Feature>, LabError> {
    unshare(CloneFlags::CLONE_NEWNET).map_err(|errno| match errno {
        nix::errno::Errno::EPERM => LabError::NotRoot,
        other => LabError::os("create a network namespace")(other),
    })?;
    privilege::of_namespaces()?;
    let all: String = TRIALS.iter().map(|(_, lines)| *lines).collect();
    let Err(first) = ip_batch(&all, "a trial namespace") else { return Ok(Vec::new()) };
    // A trial failed, so try one by one. First remove the device of the failed batch.
    let _ = ip_batch("link del v0\n", "a trial namespace");
    let _ = ip_batch("link del sr0\n", "a trial namespace");
    let failed = |lines: &str| ip_batch(lines, "a trial namespace").is_err();
    let missing: Vec<Feature> =
        TRIALS.iter().filter(|(_, lines)| failed(lines)).map(|(feature, _)| feature.clone()).collect();
    if missing.is_empty() { Ok(vec![Feature::Other(first.to_string())]) } else { Ok(missing) }
}
