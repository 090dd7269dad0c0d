//! Capabilities of root that a lab keeps.
//!
//! Invariants: capabilities are only dropped. Started programs cannot regain them, neither as root nor through file
//! capabilities.

use caps::errors::CapsError;
use caps::{CapSet, Capability, CapsHashSet};
use nix::sys::prctl;

use crate::LabError;

/// Capabilities of the process of a lab. It needs them for namespaces, for trees in any folder, and for daemons that
/// run as another user.
const OF_LABS: [Capability; 10] = [
    Capability::CAP_SYS_ADMIN,
    Capability::CAP_NET_ADMIN,
    Capability::CAP_NET_RAW,
    Capability::CAP_NET_BIND_SERVICE,
    Capability::CAP_DAC_READ_SEARCH,
    Capability::CAP_SETPCAP,
    Capability::CAP_SETUID,
    Capability::CAP_SETGID,
    Capability::CAP_CHOWN,
    Capability::CAP_KILL,
];

/// Capabilities inside a namespace.
const OF_NAMESPACES: [Capability; 2] = [Capability::CAP_NET_ADMIN, Capability::CAP_NET_RAW];

/// Capabilities for starting routers, which change to another user and keep some of these.
const OF_ROUTERS: [Capability; 7] = [
    Capability::CAP_NET_ADMIN,
    Capability::CAP_NET_RAW,
    Capability::CAP_NET_BIND_SERVICE,
    Capability::CAP_SYS_ADMIN,
    Capability::CAP_SETUID,
    Capability::CAP_SETGID,
    Capability::CAP_CHOWN,
];

/// Capabilities of the process of embedded switches. It forwards packets in memory, so it only needs to read the tree.
const OF_SWITCHES: [Capability; 1] = [Capability::CAP_DAC_READ_SEARCH];

/// Drops the capabilities that labs do not need. Call it before starting other threads.
pub fn of_labs() -> Result<(), LabError> {
    keep(&OF_LABS)
}

/// Drops the capabilities that embedded switches do not need. Call it before starting other threads.
pub fn of_switches() -> Result<(), LabError> {
    keep(&OF_SWITCHES)
}

/// Drops the capabilities that are not needed inside a namespace, for the calling thread.
pub(crate) fn of_namespaces() -> Result<(), LabError> {
    keep(&OF_NAMESPACES)
}

/// Drops the capabilities that routers do not need, for the calling thread.
pub(crate) fn of_routers() -> Result<(), LabError> {
    keep(&OF_ROUTERS)
}

/// Restricts the capabilities of the calling thread.
fn keep(wanted: &[Capability]) -> Result<(), LabError> {
    prctl::set_no_new_privs().map_err(LabError::os("disable new privileges"))?;
    reduce(wanted).map_err(|error| LabError::Privilege(error.to_string()))
}

fn reduce(wanted: &[Capability]) -> Result<(), CapsError> {
    let wanted: CapsHashSet = wanted.iter().copied().collect();
    if caps::has_cap(None, CapSet::Effective, Capability::CAP_SETPCAP)? {
        for capability in caps::read(None, CapSet::Bounding)?.difference(&wanted) {
            caps::drop(None, CapSet::Bounding, *capability)?;
        }
    }
    caps::clear(None, CapSet::Inheritable)?;
    // The effective set must be within the permitted one, so it is reduced first.
    for set in [CapSet::Effective, CapSet::Permitted] {
        let kept = caps::read(None, set)?.intersection(&wanted).copied().collect();
        caps::set(None, set, &kept)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::process::Command;
    use std::thread;

    use super::*;

    /// Reads the capabilities of a program that this thread starts.
    fn child(set: &str) -> u64 {
        let status = Command::new("cat").arg("/proc/self/status").output().unwrap().stdout;
        let status = String::from_utf8(status).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix(set)).unwrap();
        u64::from_str_radix(line.trim_start_matches(':').trim(), 16).unwrap()
    }

    #[test]
    fn programs_do_not_get_rights_back() {
        // Capabilities belong to a thread, so other tests are unaffected.
        let of_child = thread::spawn(|| {
            of_namespaces().unwrap();
            ["CapPrm", "CapEff", "CapInh", "CapAmb", "NoNewPrivs"].map(child)
        });
        let [permitted, effective, inheritable, ambient, no_new] = of_child.join().unwrap();
        let allowed = OF_NAMESPACES.iter().map(Capability::bitmask).fold(0, |all, one| all | one);
        for set in [permitted, effective, inheritable, ambient] {
            assert_eq!(set & !allowed, 0, "{set:x}");
        }
        assert_eq!(no_new, 1);
    }
}
