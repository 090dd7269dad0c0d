//! Names in demands and `--fail`.
//!
//! In: a plan and text. Out: a [`Place`], or a fault with a suggested name. Invariants: groups count from
//! 1 and zones from 0, as in the names of path tables (`group-0017`, `z1-group-0017`).

use std::fmt;

use closc_plan::Plan;
use closc_topology::{Nic, Node, PlaneId, Topology, ZoneId};

/// Source or destination of traffic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// Every NIC.
    All,
    /// The NICs of a zone.
    Zone(ZoneId),
    /// The NICs of a T0 group.
    Group(ZoneId, u16),
    /// The NICs of a node.
    Node(Node),
    /// One NIC.
    Nic(Nic),
}

/// A name that the fabric does not have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownName {
    /// The name as it was written.
    pub name: String,
    /// The kinds of names that are expected.
    pub expected: &'static str,
    /// A suggestion: the nearest name, or examples.
    pub help: String,
}

impl fmt::Display for UnknownName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is not a {}; {}", self.name, self.expected, self.help)
    }
}

impl std::error::Error for UnknownName {}

/// Kinds of places, for messages.
const PLACES: &str = "NIC, node, T0 group or zone of this fabric";

impl Place {
    /// Reads `su001-n004/nic2`, `su001-n004`, `group-0017`, `z1-group-0017`, `zone 1` or `all`.
    pub fn parse(plan: &Plan, text: &str) -> Result<Place, UnknownName> {
        Place::read(plan.topology(), text.trim()).ok_or_else(|| UnknownName {
            name: text.trim().to_owned(),
            expected: PLACES,
            help: suggest(plan, text.trim()),
        })
    }

    fn read(topology: &Topology, text: &str) -> Option<Place> {
        let naming = &topology.naming;
        if text == "all" {
            return Some(Place::All);
        }
        if let Some((node, number)) = naming.parse_nic(text) {
            let known = topology.numbers_node(node) && number < topology.hosts.nics_per_node;
            return known.then(|| Place::Nic(topology.nic_of(node, number)));
        }
        if let Some(node) = naming.parse_node(text) {
            return topology.numbers_node(node).then_some(Place::Node(node));
        }
        if let Some(number) = text.strip_prefix("zone") {
            let zone: u16 = number.trim_start_matches([' ', '-']).parse().ok()?;
            return (zone < topology.zones).then_some(Place::Zone(ZoneId(zone)));
        }
        let (zone, group) = match text.split_once("-group") {
            Some((zone, group)) => (zone.strip_prefix('z')?.parse().ok()?, group),
            None if topology.zones == 1 => (0, text.strip_prefix("group")?),
            None => return None,
        };
        let number: u16 = group.trim_start_matches([' ', '-']).parse().ok()?;
        let known = zone < topology.zones && (1..=topology.hosts.groups).contains(&number);
        known.then(|| Place::Group(ZoneId(zone), number - 1))
    }

    /// Returns the name, as [`Place::parse`] reads it.
    pub fn name(self, topology: &Topology) -> String {
        match self {
            Place::All => "all".to_owned(),
            Place::Zone(zone) => format!("zone {zone}"),
            Place::Group(zone, group) => group_name(topology, zone, group),
            Place::Node(node) => topology.naming.node(node).to_string(),
            Place::Nic(nic) => {
                let (node, number) = topology.node_of(nic);
                topology.naming.nic(node, number)
            }
        }
    }

    /// Returns whether a NIC is in the place.
    pub fn holds(self, topology: &Topology, nic: Nic) -> bool {
        match self {
            Place::All => true,
            Place::Zone(zone) => nic.zone == zone,
            Place::Group(zone, group) => (nic.zone, nic.group) == (zone, group),
            Place::Node(node) => topology.node_of(nic).0 == node,
            Place::Nic(own) => nic == own,
        }
    }
}

/// Returns the name of a T0 group, which is that of its path table.
pub(crate) fn group_name(topology: &Topology, zone: ZoneId, group: u16) -> String {
    if topology.has_zones() {
        format!("z{zone}-group-{:04}", group + 1)
    } else {
        format!("group-{:04}", group + 1)
    }
}

/// Suggests the nearest name, or gives examples.
fn suggest(plan: &Plan, text: &str) -> String {
    let topology = plan.topology();
    if let Some(Ok(near)) = topology.nearest_name(text)
        && Place::read(topology, &near).is_some()
    {
        return format!("did you mean `{near}`?");
    }
    let (device, nic) = text.split_at(text.find('/').unwrap_or(text.len()));
    let groups = plan.groups().map(|(zone, group)| group_name(topology, zone, group));
    let zones = topology.zone_ids().map(|zone| format!("zone {zone}"));
    let nodes = plan.nodes().map(|node| topology.naming.node(node).to_string());
    let near = nearest(device, groups.chain(zones).chain(nodes)).map(|near| format!("{near}{nic}"));
    if let Some(near) = near.filter(|near| Place::read(topology, near).is_some()) {
        return format!("did you mean `{near}`?");
    }
    let first = plan.groups().next().map(|(zone, group)| group_name(topology, zone, group));
    let nic = plan.fabric().nics().next().map(|nic| Place::Nic(nic).name(topology));
    format!("names look like `{}` or `{}`", nic.unwrap_or_default(), first.unwrap_or_default())
}

/// Returns the nearest of the known words, if it is near enough to be a typo.
pub(crate) fn nearest(word: &str, known: impl Iterator<Item = String>) -> Option<String> {
    let allowed = word.chars().count().div_ceil(4);
    let word = word.to_lowercase();
    known
        .map(|candidate| (strsim::damerau_levenshtein(&word, &candidate), candidate))
        .filter(|(distance, _)| *distance <= allowed)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Declares an element failed, in addition to the exceptions of the file: `plane 3`, a switch, a cable, a NIC or a
/// node.
///
/// The element becomes absent (a plane becomes drained), so every later stage takes the failure into account.
pub fn fail(topology: &mut Topology, name: &str) -> Result<(), UnknownName> {
    let unknown = |help: String| UnknownName {
        name: name.to_owned(),
        expected: "plane, switch, cable, NIC or node of this fabric",
        help,
    };
    if let Some(plane) = name.strip_prefix("plane").map(|rest| rest.trim_start_matches([' ', '='])) {
        let known = plane.parse().ok().filter(|plane: &u8| *plane < topology.planes);
        let last = topology.planes - 1;
        let plane = known.ok_or_else(|| unknown(format!("planes are 0 to {last}")))?;
        topology.exceptions.drained_planes.insert(PlaneId(plane));
        return Ok(());
    }
    if let Some(link) = topology.parse_link(name) {
        topology.exceptions.absent_links.insert(link);
        return Ok(());
    }
    let switch = topology.naming.parse_switch(name).filter(|switch| {
        let zones = if switch.tier == closc_topology::TierId::T2 { 1 } else { topology.zones };
        let count = topology.count(switch.tier);
        switch.plane.0 < topology.planes && switch.zone.0 < zones && switch.index < count
    });
    if let Some(switch) = switch {
        topology.exceptions.absent_switches.insert(switch);
        return Ok(());
    }
    match Place::read(topology, name) {
        Some(Place::Nic(nic)) => {
            topology.exceptions.absent_nics.insert(nic);
            Ok(())
        }
        Some(Place::Node(node)) => {
            let nics = (0..topology.hosts.nics_per_node).map(|number| topology.nic_of(node, number));
            topology.exceptions.absent_nics.extend(nics.collect::<Vec<_>>());
            Ok(())
        }
        Some(Place::All | Place::Zone(_) | Place::Group(..)) | None => {
            Err(unknown(match topology.nearest_name(name) {
                Some(Ok(near)) if near != name => format!("did you mean `{near}`?"),
                Some(Err(why)) => why,
                Some(Ok(_)) | None => {
                    "names look like `plane 1`, a switch, or a cable `LOWER--UPPER`".to_owned()
                }
            }))
        }
    }
}
