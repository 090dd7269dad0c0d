//! NICs: assigns each cable of a node to one of its NICs.
//!
//! In: positions of devices. Out: rails, NICs of a node, and a NIC number for each cable of a node. The NIC
//! follows from node ports in closc's own form (`nic2p3`). Otherwise, NICs are counted by T0 group, and
//! within a group by T0 port.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use closc_topology::{Node, Switch};

use super::{Place, Reading};
use crate::network::ExistingNetwork;
use crate::pattern::natural;

/// The NICs of nodes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Nics {
    /// Number of NICs of a node.
    pub(crate) per_node: u16,
    /// Number of T0 groups over which they are spread.
    pub(crate) rails: u16,
    /// Number of zones of a node's NICs. Several zones without T2s are planes by NIC.
    pub(crate) zones: u16,
    /// Whether NICs follow from port names. Otherwise, they are counted.
    pub(crate) is_named: bool,
    /// The NIC of each node cable, by number of the cable.
    pub(crate) numbers: HashMap<u32, u16>,
    pub(crate) cages: NicCages,
}

/// Numbers of ports into which a cage can be split (E0221).
const PORTS_OF_CAGE: [u16; 4] = [1, 2, 4, 8];

/// Cages of NICs, if the lists contain them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct NicCages {
    /// Number of cages of a NIC, by zone.
    pub(crate) by_zone: BTreeMap<u16, u16>,
    /// Number of NICs whose cages do not contain equal numbers of ports of consecutive planes.
    pub(crate) irregular: u64,
}

/// A cable of a node.
struct NodeCable {
    cable: u32,
    node: Node,
    t0: Switch,
    node_port: u32,
    t0_port: u32,
    /// Cage of the NIC.
    cage: Option<u16>,
}

fn node_cables(network: &ExistingNetwork, places: &[Place]) -> Vec<NodeCable> {
    let cables = network.cables.iter().zip(0..);
    let of = |(cable, number): (&crate::network::Cable, u32)| {
        let [a, b] = cable.ends;
        let (node, t0) = if matches!(places[a.device as usize], Place::Node(_)) { (a, b) } else { (b, a) };
        match (places[node.device as usize], places[t0.device as usize]) {
            (Place::Node(at), Place::Switch(switch)) => Some(NodeCable {
                cable: number,
                node: at,
                t0: switch,
                node_port: node.port,
                t0_port: t0.port,
                cage: node.cage.map(|cage| cage.number),
            }),
            _ => None,
        }
    };
    cables.filter_map(of).collect()
}

/// Reads NIC and plane from a port name such as `nic2p3`. Returns `None` if the name has another form.
pub(super) fn parse_nic_port(port: &str) -> Option<(u16, u8)> {
    let (nic, plane) = port.strip_prefix("nic")?.split_once('p')?;
    let (number, plane): (u8, u8) = (nic.parse().ok()?, plane.parse().ok()?);
    (format!("nic{number}p{plane}") == port).then_some((u16::from(number), plane))
}

/// Determines the NICs.
pub(super) fn nics(network: &ExistingNetwork, places: &[Place], reading: Reading) -> Nics {
    let cables = node_cables(network, places);
    let by_name: Option<Vec<u16>> =
        cables.iter().map(|cable| Some(parse_nic_port(network.ports.name(cable.node_port))?.0)).collect();
    let Some(numbers) = by_name else {
        let nics = count_nics(network, &cables, reading);
        return Nics { cages: cages(&cables, &nics.numbers, reading), ..nics };
    };
    let per_node = numbers.iter().max().map_or(1, |last| last + 1);
    let (rails, zones) = rails_and_zones(&cables, &numbers, per_node);
    let per_node = per_node.checked_next_multiple_of(rails).unwrap_or(per_node);
    let numbers = cables.iter().zip(&numbers).map(|(cable, nic)| (cable.cable, *nic)).collect();
    let nics = Nics { per_node, rails, zones, is_named: true, numbers, cages: NicCages::default() };
    Nics { cages: cages(&cables, &nics.numbers, reading), ..nics }
}

/// Returns the numbers of rails and zones of a node. The best choice has the fewest cables at unexpected T0s.
fn rails_and_zones(cables: &[NodeCable], numbers: &[u16], per_node: u16) -> (u16, u16) {
    let zones = cables.iter().map(|cable| cable.t0.zone.0.saturating_sub(cable.node.zone.0) + 1);
    let zones_max = zones.max().unwrap_or(1);
    let wrong = |(rails, zones): (u16, u16)| {
        let in_zone = rails / zones;
        let is_wrong = |(cable, nic): &(&NodeCable, &u16)| {
            let rail = **nic % rails;
            let group = u32::from(cable.node.unit) * u32::from(in_zone) + u32::from(rail % in_zone);
            let zone = u32::from(cable.node.zone.0) + u32::from(rail / in_zone);
            u32::from(cable.t0.index) != group || u32::from(cable.t0.zone.0) != zone
        };
        cables.iter().zip(numbers).filter(is_wrong).count()
    };
    let divisors = |rails: u16| (1..=rails.min(zones_max)).filter(move |zones| rails.is_multiple_of(*zones));
    let pairs = (1..=per_node).flat_map(|rails| divisors(rails).map(move |zones| (rails, zones)));
    pairs.min_by_key(|pair| (wrong(*pair), *pair)).unwrap_or((1, 1))
}

/// A NIC: zone, node, and number in the node.
type NicKey = (u16, Node, u16);
/// Planes and cages of the ports of a NIC.
type PortCages = Vec<(u16, u16)>;

/// Counts the cages of NICs. Cages are in the order of planes, as in the file.
fn cages(cables: &[NodeCable], numbers: &HashMap<u32, u16>, reading: Reading) -> NicCages {
    let mut nics: BTreeMap<NicKey, PortCages> = BTreeMap::new();
    for cable in cables {
        let (Some(cage), Some(nic)) = (cable.cage, numbers.get(&cable.cable)) else { continue };
        let key = (cable.t0.zone.0, cable.node, *nic);
        nics.entry(key).or_default().push((cable.t0.plane.0.into(), cage));
    }
    let planes = cables.iter().map(|cable| u16::from(cable.t0.plane.0) + 1).max().unwrap_or(1);
    let own = |ports: &[(u16, u16)]| -> Vec<u16> {
        ports.iter().map(|(_, cage)| *cage).collect::<BTreeSet<_>>().into_iter().collect()
    };
    let mut counts: BTreeMap<u16, Vec<u16>> = BTreeMap::new();
    for ((zone, ..), ports) in &nics {
        counts.entry(*zone).or_default().push(u16::try_from(own(ports).len()).unwrap_or(u16::MAX));
    }
    let of = |(zone, counts): (u16, Vec<u16>)| Some((zone, reading.count(counts.into_iter())?));
    let by_zone: BTreeMap<u16, u16> = counts.into_iter().filter_map(of).collect();
    let is_irregular = |((zone, ..), ports): &(&NicKey, &PortCages)| {
        let (cages, own) = (by_zone.get(zone).copied().unwrap_or(1), own(ports));
        // A NIC with absent cables does not show all of its cages.
        let is_whole = own.len() == usize::from(cages);
        let is_elsewhere =
            |(plane, cage): &(u16, u16)| own.get(usize::from(plane * cages / planes)) != Some(cage);
        let is_even = planes.is_multiple_of(cages) && PORTS_OF_CAGE.contains(&(planes / cages));
        own.len() > usize::from(cages) || cages > 1 && !is_even || is_whole && ports.iter().any(is_elsewhere)
    };
    NicCages { irregular: nics.iter().filter(is_irregular).count() as u64, by_zone }
}

/// Counts NICs group by group, plane by plane.
fn count_nics(network: &ExistingNetwork, cables: &[NodeCable], reading: Reading) -> Nics {
    let mut groups: BTreeMap<(Node, Switch), Vec<&NodeCable>> = BTreeMap::new();
    let mut reached: BTreeMap<Node, Vec<u16>> = BTreeMap::new();
    for cable in cables {
        groups.entry((cable.node, cable.t0)).or_default().push(cable);
        reached.entry(cable.node).or_default().push(cable.t0.index);
    }
    let rails = reached.values_mut().map(|groups| {
        groups.sort_unstable();
        groups.dedup();
        u16::try_from(groups.len()).unwrap_or(u16::MAX)
    });
    let rails = reading.count(rails).unwrap_or(1);
    let counts = groups.values().map(|cables| u16::try_from(cables.len()).unwrap_or(u16::MAX));
    let share = reading.count(counts).unwrap_or(1);
    let mut numbers = HashMap::new();
    for ((_, t0), group) in &mut groups {
        group.sort_by_key(|cable| natural(network.ports.name(cable.t0_port)));
        for (at, cable) in group.iter().zip(0_u16..).map(|(cable, at)| (at, cable)) {
            numbers.insert(cable.cable, at.saturating_mul(rails).saturating_add(t0.index % rails));
        }
    }
    let per_node = share.saturating_mul(rails);
    Nics { per_node, rails, zones: 1, is_named: false, numbers, cages: NicCages::default() }
}
