//! CSV for NetBox's imports of cables, interfaces, devices, racks and device types.
//!
//! In: a plan. Out: CSV with the field names of NetBox. Invariants: all fields exist in every release from 4.0 on. The
//! list of assemblies also needs profiles (4.5), and several ports in a field (4.7).

use std::collections::{BTreeMap, BTreeSet};

use closc_plan::Plan;
use closc_topology::{Link, PlaneId, RackPlace, Side, Switch, TierId, Topology, ZoneId};

use super::assembly::links_by_assembly;
use super::{LabelPattern, Line, line, lines, table};

/// NetBox requires a manufacturer for every device type. This is the manufacturer of device types that are named after
/// platforms.
const MANUFACTURER: &str = "closc";

/// Fields of NetBox's import of cables (`dcim.cable`), which exist in every release from 3.3 on.
const CABLES: [&str; 11] = [
    "side_a_device",
    "side_a_type",
    "side_a_name",
    "side_b_device",
    "side_b_type",
    "side_b_name",
    "type",
    "status",
    "label",
    "length",
    "length_unit",
];

/// Maximum length of a cable's label in NetBox (`Cable.label`).
pub const LABEL_MAX: usize = 100;

fn cable(plan: &Plan, line: &Line, labels: &LabelPattern) -> [String; 11] {
    const INTERFACE: &str = "dcim.interface";
    let cable = plan.fabric().cable(line.link);
    let millimeters = cable.length.millimeters();
    [
        line.a.at.device.clone(),
        INTERFACE.to_owned(),
        line.a.at.port.clone(),
        line.b.at.device.clone(),
        INTERFACE.to_owned(),
        line.b.at.port.clone(),
        netbox_type(&cable.medium).to_owned(),
        "planned".to_owned(),
        Some(labels.label(line, Side::Down)).filter(|label| fits(label)).unwrap_or_default(),
        // NetBox keeps two decimals.
        format!("{}.{:02}", millimeters / 1000, millimeters % 1000 / 10),
        "m".to_owned(),
    ]
}

fn fits(label: &str) -> bool {
    label.chars().count() <= LABEL_MAX
}

/// Counts the cables of a plane whose labels are too long for NetBox and therefore omitted.
pub fn long_labels(plan: &Plan, plane: PlaneId, labels: &LabelPattern) -> usize {
    lines(plan, plane).filter(|line| !fits(&labels.label(line, Side::Down))).count()
}

/// Returns NetBox's cable type for a medium; empty if there is none.
fn netbox_type(medium: &str) -> &'static str {
    match medium {
        "dac" => "dac-passive",
        "acc" | "aec" => "dac-active",
        "aoc" => "aoc",
        "vr" | "sr" | "sr2" | "sr4" | "sr8" => "mmf-om4",
        "virtual" => "",
        _ => "smf",
    }
}

/// Returns the cables of a plane for NetBox's import.
pub(super) fn cables(plan: &Plan, plane: PlaneId, labels: &LabelPattern) -> String {
    table(&CABLES, lines(plan, plane).map(|line| cable(plan, &line, labels)))
}

/// Maximum number of ports at an end of a cable with a profile that pairs ports.
pub const PROFILE_LINKS_MAX: u64 = 8;

/// Returns the profile of a cable that pairs the ports of its ends in order: the smallest trunk with a connector per
/// port. `None` if there are too many. Source: `CableProfileChoices` of NetBox 4.5.
fn profile(links: usize) -> Option<&'static str> {
    match links {
        1 => Some("single-1c1p"),
        2 => Some("trunk-2c1p"),
        3 | 4 => Some("trunk-4c1p"),
        5..=8 => Some("trunk-8c4p"),
        _ => None,
    }
}

/// Returns the cables to buy for NetBox's import: one for each assembly, with all of its ports. Links of assemblies
/// that have no profile are cables of their own.
pub fn assemblies(plan: &Plan, labels: &LabelPattern) -> String {
    let split = |links: Vec<Link>| match profile(links.len()) {
        Some(profile) => vec![(links, profile)],
        None => links.into_iter().filter_map(|link| Some((vec![link], profile(1)?))).collect(),
    };
    let cables = links_by_assembly(plan).into_iter().flat_map(split);
    let fields = with_profile(CABLES, "profile");
    table(&fields, cables.filter_map(|(links, profile)| assembly(plan, &links, profile, labels)))
}

/// Returns the row of a cable, and its profile. Several devices or ports in a field are separated by commas.
fn assembly(plan: &Plan, links: &[Link], profile: &str, labels: &LabelPattern) -> Option<[String; 12]> {
    let lines: Vec<Line> = links.iter().filter_map(|link| line(plan, *link)).collect();
    let mut row = cable(plan, lines.first()?, labels);
    for (side, device) in [(Side::Down, 0), (Side::Up, 3)] {
        let ends = lines.iter().map(|line| if side == Side::Down { &line.a.at } else { &line.b.at });
        let (mut devices, ports): (Vec<&str>, Vec<&str>) =
            ends.map(|end| (end.device.as_str(), end.port.as_str())).unzip();
        // A single device has all ports of the end.
        if devices.iter().all(|device| *device == devices[0]) {
            devices.truncate(1);
        }
        (row[device], row[device + 2]) = (devices.join(","), ports.join(","));
    }
    Some(with_profile(row, profile.to_owned()))
}

/// Inserts the profile of a cable into its row, or the name of that field into the header.
fn with_profile<T>(row: [T; 11], profile: T) -> [T; 12] {
    let [a_device, a_type, a, b_device, b_type, b, kind, status, label, length, unit] = row;
    [a_device, a_type, a, b_device, b_type, b, kind, status, profile, label, length, unit]
}

/// Fields of NetBox's import of interfaces (`dcim.interface`).
const INTERFACES: [&str; 4] = ["device", "name", "type", "speed"];

/// Returns the ports at the ends of a plane's cables, because NetBox connects existing interfaces only. Platforms do
/// not define the form factor of a port, so the type is `other`.
pub(super) fn interfaces(plan: &Plan, plane: PlaneId) -> String {
    let ends = lines(plan, plane).flat_map(|line| [line.a, line.b]);
    let rows = ends.map(|end| {
        // In Kb/s.
        let speed = end.speed.bits_per_second() / 1000;
        [end.at.device, end.at.port, "other".to_owned(), speed.to_string()]
    });
    table(&INTERFACES, rows)
}

/// Fields of NetBox's import of devices (`dcim.device`).
const DEVICES: [&str; 9] =
    ["name", "role", "manufacturer", "device_type", "status", "site", "rack", "position", "face"];

/// Returns the switches of some planes and all nodes for NetBox's import of devices. Includes rack, position and face
/// if the file defines them.
pub fn devices(plan: &Plan, planes: &[PlaneId]) -> String {
    let topology = plan.topology();
    let switches = plan.switches().filter(|switch| planes.contains(&switch.plane)).map(|switch| {
        let platform = topology.hardware(switch).0.id.to_string();
        let name = plan.switch_name(switch).to_string();
        device(name, switch.tier.keyword(), platform, site(topology, switch), topology.switch_place(switch))
    });
    let nodes = plan.nodes().map(|node| {
        let name = plan.node_name(node).to_string();
        device(name, NODE, NODE.to_owned(), site_of(topology, node.zone), topology.node_place(node))
    });
    table(&DEVICES, switches.chain(nodes))
}

/// Role and type of nodes.
const NODE: &str = "node";

fn device(name: String, role: &str, kind: String, site: String, place: Option<RackPlace>) -> [String; 9] {
    let (rack, position, face) = match place {
        Some(place) => (place.rack.to_string(), place.unit.to_string(), place.face.keyword().to_owned()),
        None => Default::default(),
    };
    let (role, manufacturer) = (role.to_owned(), MANUFACTURER.to_owned());
    [name, role, manufacturer, kind, "planned".to_owned(), site, rack, position, face]
}

/// Returns the site of a switch. A fabric without sites is at a site with its own name.
fn site(topology: &Topology, switch: Switch) -> String {
    if switch.tier != TierId::T2 {
        return site_of(topology, switch.zone);
    }
    topology.t2_site().map_or_else(|| topology.name.to_string(), |at| topology.sites[at].name.to_string())
}

fn site_of(topology: &Topology, zone: ZoneId) -> String {
    let own = topology.sites.iter().find(|site| site.zones.contains(&zone));
    own.map_or_else(|| topology.name.to_string(), |site| site.name.to_string())
}

/// Returns the racks of some planes and of all nodes for NetBox's import of racks (`dcim.rack`). `None` if the file has
/// no racks.
pub fn racks(plan: &Plan, planes: &[PlaneId]) -> Option<String> {
    let topology = plan.topology();
    let height = topology.racks.as_ref()?.height;
    let mut found: BTreeSet<(String, String)> = BTreeSet::new();
    for switch in plan.switches().filter(|switch| planes.contains(&switch.plane)) {
        let Some(place) = topology.switch_place(switch) else { continue };
        found.insert((site(topology, switch), place.rack.to_string()));
    }
    for node in plan.nodes() {
        let Some(place) = topology.node_place(node) else { continue };
        found.insert((site_of(topology, node.zone), place.rack.to_string()));
    }
    let rows = found.into_iter().map(|(site, name)| {
        // Width between the rails, in inches (EIA-310).
        [site, name, "planned".to_owned(), "19".to_owned(), height.to_string()]
    });
    Some(table(&["site", "name", "status", "width", "u_height"], rows))
}

/// NetBox's default height of a device, in rack units; its import rejects an empty value.
const UNITS: u16 = 1;

/// Returns the device types in use for NetBox's import of device types (`dcim.devicetype`). NetBox defines the height
/// of a device by its type. If a height is unknown, NetBox's default is used.
pub fn device_types(plan: &Plan) -> String {
    let topology = plan.topology();
    let mut heights: BTreeMap<String, Option<u16>> = BTreeMap::new();
    for switch in plan.switches() {
        let platform = &topology.hardware(switch).0;
        let units = || platform.rack_units.or_else(|| topology.switch_place(switch).map(|place| place.units));
        heights.entry(platform.id.to_string()).or_insert_with(units);
    }
    let node = plan.nodes().next();
    if let Some(node) = node {
        heights.entry(NODE.to_owned()).or_insert_with(|| topology.node_place(node).map(|place| place.units));
    }
    let rows = heights.into_iter().map(|(model, units)| {
        [MANUFACTURER.to_owned(), model.clone(), model, units.unwrap_or(UNITS).to_string()]
    });
    table(&["manufacturer", "model", "slug", "u_height"], rows)
}
