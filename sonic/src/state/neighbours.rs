//! Neighbours at the other ends of cables, as LLDP reports them.
//!
//! In: `DEVICE_NEIGHBOR` of a configuration, `LLDP_ENTRY_TABLE` of APPL_DB. Out: faults. Invariants: names are compared
//! without their domain, ignoring case. Ports are compared only if LLDP identifies them. SONiC sends a port alias,
//! which only the configuration of the far switch resolves. It also sends a port description: closc writes the other
//! end of the cable into it, as `DEVICE:PORT`. So a correct description names this switch and its port. Nodes need not
//! send LLDP; if they do, it counts.

use super::{StateFault, SwitchDatabases};
use crate::config_db::{ConfigDb, Entry};

/// Finds ports whose neighbour is not the planned one, and ports without a neighbour where a switch is planned.
pub(super) fn faults(config: &ConfigDb, applied: &SwitchDatabases<'_>, faults: &mut Vec<StateFault>) {
    let own = config.text("DEVICE_METADATA", "localhost", "hostname").unwrap_or_default();
    let speaks = config.text("LLDP", "GLOBAL", "enabled") == Some("true");
    let mut unseen = Vec::new();
    for port in config.table("DEVICE_NEIGHBOR").keys() {
        let field = |name| config.text("DEVICE_NEIGHBOR", port, name).unwrap_or_default();
        let planned = PlannedCable { local_end: (own, port), remote_end: (field("name"), field("port")) };
        match applied.neighbours.get(port.as_str()) {
            Some(seen) if planned.is(seen) => {}
            Some(seen) => faults.push(planned.fault(Some(neighbour_name(seen)))),
            None if !applied.is_up(port) || !speaks => {}
            None if config.entry("DEVICE_NEIGHBOR_METADATA", planned.remote_end.0).is_none() => {}
            None => unseen.push(planned.fault(None)),
        }
    }
    if applied.neighbours.is_empty() && unseen.len() > 1 {
        faults.push(StateFault::Blind { ports: unseen.len() });
    } else {
        faults.extend(unseen);
    }
}

/// Both ends of a cable of the plan: device and port.
struct PlannedCable<'a> {
    local_end: (&'a str, &'a str),
    remote_end: (&'a str, &'a str),
}

impl PlannedCable<'_> {
    fn fault(&self, seen: Option<String>) -> StateFault {
        let wanted = format!("{} {}", self.remote_end.0, self.remote_end.1);
        StateFault::Neighbour { port: self.local_end.1.to_owned(), expected: wanted, actual: seen }
    }

    /// Returns whether the LLDP data is consistent with the plan.
    fn is(&self, seen: &Entry) -> bool {
        let system = text(seen, "lldp_rem_sys_name");
        // A neighbour that sends no name may be the right one.
        if system.is_empty() {
            return true;
        }
        if !is_same_device(&system, self.remote_end.0) {
            return false;
        }
        let words = [text(seen, "lldp_rem_port_id"), text(seen, "lldp_rem_port_desc")];
        if words.iter().any(|word| word == self.remote_end.1) {
            return true;
        }
        let described = words.iter().filter_map(|word| word.rsplit_once(':'));
        let mut described = described.filter(|(device, _)| is_same_device(device, self.local_end.0));
        if let Some((_, port)) = described.next() {
            return port == self.local_end.1;
        }
        // A different port name of the same family is another port; an alias proves nothing.
        !words.iter().any(|word| family(word) == family(self.remote_end.1))
    }
}

fn neighbour_name(seen: &Entry) -> String {
    let words = ["lldp_rem_sys_name", "lldp_rem_port_id", "lldp_rem_port_desc"].map(|name| text(seen, name));
    let words: Vec<&str> = words.iter().map(String::as_str).filter(|word| !word.is_empty()).collect();
    words.join(" ")
}

fn text(entry: &Entry, name: &str) -> String {
    entry.get(name).map(ToString::to_string).unwrap_or_default()
}

fn is_same_device(one: &str, other: &str) -> bool {
    let short = |name: &str| name.split('.').next().unwrap_or_default().to_ascii_lowercase();
    short(one) == short(other)
}

/// Returns a port name without its number: ports of one device share this prefix.
fn family(port: &str) -> &str {
    port.trim_end_matches(|c: char| !c.is_ascii_alphabetic())
}
