//! Ansible: an inventory of the switches, and a play that applies the configuration of each.
//!
//! In: switches with their files. Out: `ansible/`: `inventory.yaml`, `play.yaml`, and the filters of the play.
//! Invariants: the play does not change anything in check mode. On SONiC, it separates closc's part of a configuration
//! from the site's part by the same list as `closc push`. There, it also sets a checkpoint, to which the switch rolls
//! back unless the play confirms the change.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::net::IpAddr;

use closc_platform::Os;
use closc_render::Artefact;
use closc_sonic::{Fields, OWNED, Rows, SITE_FIRST, Share};
use closc_topology::{Switch, TierId};
use serde::Serialize;

use crate::json;

/// The play, which is the same for every fabric.
const PLAY: &str = include_str!("ansible/play.yaml");

/// The filters of the play.
const FILTERS: &str = include_str!("ansible/closc.py");

/// A switch of the inventory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Device {
    /// Name.
    pub name: String,
    /// Coordinates.
    pub switch: Switch,
    /// Operating system.
    pub os: Os,
    /// Management address, if the fabric has management addresses.
    pub address: Option<IpAddr>,
    /// Platform.
    pub platform: String,
    /// Loopback address.
    pub loopback: IpAddr,
    /// AS number, if the switch speaks BGP.
    pub asn: Option<u32>,
}

impl Device {
    /// Returns the variables on one line.
    fn variables(&self, zoned: bool) -> String {
        let mut text = String::new();
        if let Some(address) = self.address {
            let _ = write!(text, "ansible_host: \"{address}\", ");
        }
        let Switch { plane, tier, zone, .. } = self.switch;
        let _ = write!(text, "closc_plane: {plane}, closc_tier: {tier}, ");
        // T2s do not belong to a zone.
        if zoned && tier < TierId::T2 {
            let _ = write!(text, "closc_zone: {zone}, ");
        }
        let (number, platform, loopback) = (self.switch.ordinal(), &self.platform, self.loopback);
        let _ = write!(
            text,
            "closc_number: {number}, closc_platform: \"{platform}\", closc_loopback: \"{loopback}\""
        );
        if let Some(asn) = self.asn {
            let _ = write!(text, ", closc_asn: {asn}");
        }
        text
    }
}

/// Returns the path of a switch's file.
pub fn path(device: &str, file: &str) -> String {
    format!("ansible/files/{device}/{file}")
}

/// Writes everything except the files of switches. `zoned` states whether the fabric has zones.
pub fn render(devices: &[Device], zoned: bool) -> [Artefact; 4] {
    [
        Artefact::new("ansible/inventory.yaml", inventory(devices, zoned)),
        Artefact::new("ansible/play.yaml", PLAY),
        Artefact::new("ansible/filter_plugins/closc.py", FILTERS),
        write_owned_parts(),
    ]
}

/// Writes the inventory: every switch once, and its name in each of its groups.
fn inventory(devices: &[Device], zoned: bool) -> String {
    let mut text = String::from("all:\n  hosts:\n");
    let mut groups: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for device in devices {
        let name = &device.name;
        let _ = writeln!(text, "    \"{name}\": {{ {} }}", device.variables(zoned));
        let switch = device.switch;
        let mut of = vec![
            format!("os_{}", device.os.keyword()),
            format!("plane_{}", switch.plane),
            format!("tier_{}", switch.tier),
        ];
        // T2s do not belong to a zone.
        if zoned && switch.tier < TierId::T2 {
            of.push(format!("zone_{}", switch.zone));
        }
        for group in of {
            groups.entry(group).or_default().push(name);
        }
    }
    // The play refers to the group of every operating system, so empty groups are written too.
    for os in Os::ALL {
        groups.entry(format!("os_{}", os.keyword())).or_default();
    }
    text.push_str("  children:\n");
    for (group, names) in groups {
        if names.is_empty() {
            let _ = writeln!(text, "    {group}: {{ hosts: {{}} }}");
            continue;
        }
        let _ = writeln!(text, "    {group}:\n      hosts:");
        for name in names {
            let _ = writeln!(text, "        \"{name}\":");
        }
    }
    text
}

/// The part of a table that closc owns, for the filters.
#[derive(Serialize)]
struct Row {
    share: &'static str,
    /// First key part of the entries that closc can own; absent if it can own all. It is the name of an interface,
    /// access list or access list type, or `default` for the default VRF.
    #[serde(skip_serializing_if = "Option::is_none")]
    rows: Option<&'static str>,
    /// The fields that closc owns; `null` for all of them.
    fields: Option<&'static [&'static str]>,
    /// Values that closc writes only if the switch has none.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    site_first: BTreeMap<&'static str, &'static str>,
}

/// Writes the list of the parts of CONFIG_DB that closc owns.
fn write_owned_parts() -> Artefact {
    let rows: BTreeMap<&str, Row> = OWNED
        .iter()
        .map(|owned| {
            let share = match owned.share {
                Share::Entries => "entries",
                Share::EntriesIfGiven => "entries-if-given",
                Share::Given => "given",
            };
            let fields = match owned.fields {
                Fields::All => None,
                Fields::Only(fields) => Some(fields),
                Fields::None => Some(&[][..]),
            };
            let rows = match owned.rows {
                Rows::All => None,
                Rows::Element(name) => Some(name),
                Rows::DefaultVrf => Some("default"),
            };
            let first = SITE_FIRST.iter().filter(|(table, ..)| *table == owned.table);
            let site_first = first.map(|(_, field, value)| (*field, *value)).collect();
            (owned.table, Row { share, rows, fields, site_first })
        })
        .collect();
    json("ansible/owned.json", &rows)
}

#[cfg(test)]
mod tests {
    use closc_artefacts::carriers::{SwitchFile, Transport};
    use serde_json::Value;

    use super::PLAY;

    /// Collects the tasks that run a command, including those in blocks.
    fn commands<'p>(tasks: &'p [Value], found: &mut Vec<(&'p str, &'p Value)>) {
        for task in tasks {
            for inner in ["block", "rescue"].into_iter().filter_map(|key| task[key].as_array()) {
                commands(inner, found);
            }
            found.extend(task["ansible.builtin.command"].as_str().map(|command| (command, task)));
        }
    }

    /// Routing restarts on one switch at a time, and the next switch waits until the sessions of this one are
    /// up.
    #[test]
    fn restarts_of_routing_are_in_waves_with_a_gate() {
        let plays: Vec<Value> = serde_saphyr::from_str(PLAY).expect("YAML");
        let mut n_restarts = 0;
        for play in plays.iter().filter(|play| play["hosts"] == "os_sonic") {
            let mut found = Vec::new();
            commands(play["tasks"].as_array().expect("a list"), &mut found);
            let restarts: Vec<usize> =
                (0..found.len()).filter(|at| found[*at].0 == "systemctl restart bgp").collect();
            let Some(first) = restarts.first() else { continue };
            n_restarts += restarts.len();
            assert_eq!(play["serial"], "{{ closc_routing_serial | default(1) }}");
            assert_eq!(play["max_fail_percentage"], 0, "a switch that fails ends the play");
            let (before, after) = (found[first - 1], found[first + 1]);
            assert!([before.0, after.0] == ["{{ closc_sessions }}"; 2], "{before:?} {after:?}");
            assert_eq!(before.1["register"], "closc_before");
            assert_eq!(after.1["register"], "closc_after");
            let until = after.1["until"].as_str().expect("it waits");
            assert!(after.1["retries"].is_string() && after.1["delay"].is_number(), "{after:?}");
            assert!(until.contains("closc_after.rc == 0") && until.contains("difference"), "{until}");
            let is_failing = |task: &Value| task.get("ansible.builtin.fail").is_some();
            let blocks = play["tasks"].as_array().expect("a list");
            let rescue = blocks.iter().find_map(|task| task["rescue"].as_array()).expect("it has one");
            assert!(rescue.last().is_some_and(is_failing), "a switch without its sessions fails");
        }
        assert_eq!(n_restarts, 2, "with the new file, and with the old one");
    }

    #[test]
    fn the_play_names_every_file_that_the_table_says_it_carries() {
        for file in SwitchFile::ALL.iter().filter(|file| Transport::Ansible.carries(**file)) {
            let name = file.name();
            let pattern = name.split_once('.').map(|(_, ending)| format!("/*.{ending}\""));
            let is_copied = PLAY.contains(&format!("/{name}\""))
                || PLAY.contains(&format!("/{name}')"))
                || pattern.is_some_and(|pattern| PLAY.contains(&pattern));
            assert!(is_copied, "{name}");
        }
    }
}
