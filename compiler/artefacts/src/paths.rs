//! Paths of all files of a tree, and the file names that several programs use.

use camino::{Utf8Path, Utf8PathBuf};

/// The manifest.
pub const MANIFEST: &str = "manifest.json";

/// Signature of the manifest, in a signed tree.
pub const SIGNATURE: &str = "manifest.json.sig";

/// Folder of the switches, with one folder per switch.
pub const SWITCHES: &str = "switches";

/// Folder of the nodes, with one folder per node.
pub const HOSTS: &str = "hosts";

/// Folder of the cable lists.
pub const CABLES: &str = "cables";

/// Folder of the path tables.
pub const PATH_TABLES: &str = "path-tables";

/// Folder of the P4 pipelines.
pub const PIPELINES: &str = "p4";

/// The configuration of SONiC.
pub const CONFIG_DB: &str = "config_db.json";

/// The configuration of FRRouting.
pub const FRR_CONF: &str = "frr.conf";

/// The configuration of Arista EOS.
pub const EOS_CONF: &str = "eos.conf";

/// The configuration of NVIDIA Cumulus Linux, for NVUE.
pub const NVUE_YAML: &str = "nvue.yaml";

/// List of the FRRouting daemons that run.
pub const DAEMONS: &str = "daemons";

/// Table entries of a P4 switch.
pub const ENTRIES: &str = "entries.txtpb";

/// Table entries of SONiC hardware with P4Runtime.
pub const PINS_ENTRIES: &str = "pins.txtpb";

/// Table entries of a Tofino switch.
pub const TNA_ENTRIES: &str = "tna.txtpb";

/// Files of table entries, each with its pipeline.
pub const ENTRIES_OF: [(&str, &str); 3] =
    [(ENTRIES, "fabric"), (PINS_ENTRIES, "sai"), (TNA_ENTRIES, "fabric_tna")];

/// Pipelines whose program is built where it is used, and is therefore not part of a tree.
pub const WITHOUT_PROGRAM: [&str; 1] = ["fabric_tna"];

/// Addresses, routes and neighbours, for `ip -batch`.
pub const IP_BATCH: &str = "ip.batch";

/// Files of switches that have neither table entries nor a SONiC configuration, each with the keyword of the operating
/// system that it identifies. The first match counts.
pub const CONFIGURATION_OF: [(&str, &str); 4] =
    [(NVUE_YAML, "nvue"), (EOS_CONF, "eos"), (FRR_CONF, "frr"), (IP_BATCH, "linux")];

/// Devices to create before `ip.batch`, for `ip -batch`.
pub const DEVICES_BATCH: &str = "devices.batch";

/// Queues of a switch, for `tc -batch`.
pub const TC_BATCH: &str = "tc.batch";

/// Delays of the longest path, for congestion control on a node.
pub const DELAY: &str = "delay.json";

/// Kernel settings.
pub const SYSCTL_CONF: &str = "sysctl.conf";

/// Encapsulating routes of a node, for `ip -batch`.
pub const ROUTES_BATCH: &str = "routes.batch";

/// Returns the path of a file of a switch.
pub fn switch(name: &str, file: &str) -> Utf8PathBuf {
    [SWITCHES, name, file].iter().collect()
}

/// Returns the path of a file of a node.
pub fn host(name: &str, file: &str) -> Utf8PathBuf {
    [HOSTS, name, file].iter().collect()
}

/// Returns the path of the cable list of a plane, or of one zone of it if a part contains only this zone.
pub fn cables(plane: u8, zone: Option<u16>) -> Utf8PathBuf {
    let zone = zone.map(|zone| format!("-zone-{zone}")).unwrap_or_default();
    Utf8PathBuf::from(format!("{CABLES}/plane-{plane}{zone}.csv"))
}

/// Returns the plane of the cable list of a complete plane; `None` for the list of a single zone.
pub fn plane_of(cables: &Utf8Path) -> Option<u8> {
    cables.file_stem()?.strip_prefix("plane-")?.parse().ok()
}

/// Returns the paths of the JSON form and the binary form of the path table of a group. Zones count from 0 and are
/// `None` without T2 switches. Groups count from 1.
pub fn path_table(zone: Option<u16>, group: u16) -> [Utf8PathBuf; 2] {
    let zone = zone.map(|zone| format!("z{zone}-")).unwrap_or_default();
    ["json", "bin"].map(|form| Utf8PathBuf::from(format!("{PATH_TABLES}/{zone}group-{group:04}.{form}")))
}

/// Returns the path of a pipeline's P4Info.
pub fn p4info(pipeline: &str) -> Utf8PathBuf {
    Utf8PathBuf::from(format!("{PIPELINES}/{pipeline}.p4info.txtpb"))
}

/// Returns the path of a pipeline's program for BMv2.
pub fn bmv2(pipeline: &str) -> Utf8PathBuf {
    Utf8PathBuf::from(format!("{PIPELINES}/{pipeline}.bmv2.json"))
}

/// Returns whether a path can be inside a tree: it must be relative, canonical, and consist only of plain names.
pub fn is_inside(path: &Utf8Path) -> bool {
    let plain =
        |name: &str| !name.is_empty() && name != "." && name != ".." && !name.chars().any(char::is_control);
    path.as_str().split('/').all(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zones_are_named_only_where_there_are_some() {
        assert_eq!(path_table(None, 7)[0], "path-tables/group-0007.json");
        assert_eq!(path_table(Some(0), 12)[1], "path-tables/z0-group-0012.bin");
        assert_eq!(plane_of(&cables(15, None)), Some(15));
    }

    #[test]
    fn paths_that_leave_the_tree_are_seen() {
        for path in ["", "/", "/etc/passwd", "../a", "a/../b", "./a", "a//b", "a/", "a/./b", "a\nb", "a\0b"] {
            assert!(!is_inside(Utf8Path::new(path)), "{path}");
        }
        assert!(is_inside(&switch("p0-t0-001", CONFIG_DB)));
    }
}
