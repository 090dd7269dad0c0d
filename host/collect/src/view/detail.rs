//! Details of one element: a plane, a switch, the paths between two NICs, an address.
//!
//! Invariants: the answer about an element outside the fabric is an error. Lists are limited to a thousand entries.

use std::collections::BTreeMap;
use std::net::Ipv6Addr;

use closc_artefacts::Address;
use closc_fabric::PortUse;
use closc_plan::{CableEnd, Plan};
use closc_topology::{Link, Nic, NicPort, PlaneId, Switch, TierId, ZoneId};
use schemars::JsonSchema;
use serde::Serialize;

use super::LIST_MAX;
use crate::collector::{Collector, nic_of};
use crate::element::{Element, nic_name};
use crate::verdict::{Kind, Verdict};

/// State of an element, from best to worst.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Health {
    /// A probe has returned recently.
    Good,
    /// It is not probed, or no agent that probes it answers.
    Unknown,
    /// It is denied.
    Denied,
    /// It loses packets.
    Gray,
    /// No packets pass.
    Dead,
}

/// A switch or a cable with its state.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Item {
    /// Its name.
    pub name: String,
    /// Its state.
    pub health: Health,
}

/// The switches of a tier.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct TierItems {
    /// `t0`, `t1` or `t2`.
    pub tier: &'static str,
    /// Number of switches.
    pub switches: usize,
    /// The worst state of each switch and its cables; at most the worst thousand.
    pub items: Vec<Item>,
}

/// A path between two NICs.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct PathItem {
    /// Its entropy value.
    pub entropy: u32,
    /// Its plane.
    pub plane: u8,
    /// Its outer destination address.
    pub destination: Ipv6Addr,
    /// Switches on the path.
    pub switches: Vec<String>,
    /// The worst state of its cables and switches.
    pub health: Health,
    /// The element with that state, if it is not good.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worst: Option<String>,
}

/// Meaning of an address.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct AddressMeaning {
    /// Description of the address.
    pub what: String,
    /// Description of each segment of a list, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub segments: Vec<String>,
}

/// Verdicts and denials, looked up once per request.
struct ElementLookup<'a> {
    collector: &'a Collector,
    verdicts: Vec<&'a Verdict>,
    denied: Vec<Element>,
    since_ms: u64,
}

impl<'a> ElementLookup<'a> {
    fn new(collector: &'a Collector, now_ms: u64) -> Self {
        let denied =
            collector.denials().applied_denials().filter_map(|denial| denial.element(collector.plan()));
        ElementLookup {
            collector,
            verdicts: collector.verdicts().collect(),
            denied: denied.collect(),
            since_ms: now_ms.saturating_sub(collector.options().fresh_ms),
        }
    }

    fn link(&self, link: Link) -> Health {
        let topology = self.collector.plan().topology();
        let broken = self.verdicts.iter().filter(|verdict| verdict.element.covers(topology, link));
        let broken = broken.map(|verdict| match verdict.kind {
            Kind::Gray | Kind::Corrupt | Kind::ShortOnly => Health::Gray,
            Kind::Dead | Kind::Swapped(_) => Health::Dead,
        });
        let denied =
            self.denied.iter().any(|element| element.covers(topology, link)).then_some(Health::Denied);
        broken.chain(denied).max().unwrap_or_else(|| {
            let good = self.collector.evidence().is_good_since(link, self.since_ms);
            if good { Health::Good } else { Health::Unknown }
        })
    }
}

/// Returns the cables of a switch, those from below first.
fn cables(plan: &Plan, switch: Switch) -> impl Iterator<Item = Link> + '_ {
    plan.fabric().ports(switch).filter_map(|port| match port.usage {
        PortUse::Link { link, .. } => Some(link),
        PortUse::Absent { .. } | PortUse::Spare => None,
    })
}

impl Collector {
    /// Returns the switches of a plane, with the worst state of each one's cables.
    pub(crate) fn plane_items(&self, plane: u8, now_ms: u64) -> Option<Vec<TierItems>> {
        let plan = self.plan();
        if plane >= plan.topology().planes {
            return None;
        }
        let known = ElementLookup::new(self, now_ms);
        let tier = |tier: TierId| {
            let all: Vec<Switch> = plan.fabric().tier_switches(PlaneId(plane), tier).collect();
            let item = |switch: &Switch| {
                let all = cables(plan, *switch).map(|link| known.link(link));
                // A cable without probes does not count if other cables of the switch have probes.
                let health = all.filter(|health| *health != Health::Unknown).max().unwrap_or(Health::Unknown);
                Item { name: plan.topology().naming.switch(*switch).to_string(), health }
            };
            let mut items: Vec<Item> = all.iter().map(item).collect();
            if items.len() > LIST_MAX {
                items.sort_by_key(|item| std::cmp::Reverse(item.health));
                items.truncate(LIST_MAX);
                items.sort_by(|a, b| a.name.cmp(&b.name));
            }
            TierItems { tier: tier.keyword(), switches: all.len(), items }
        };
        Some(TierId::ALL.into_iter().map(tier).filter(|tier| tier.switches > 0).collect())
    }

    /// Returns the cables of a switch or of a NIC.
    pub(crate) fn cable_items(&self, name: &str, now_ms: u64) -> Option<Vec<Item>> {
        let (plan, known) = (self.plan(), ElementLookup::new(self, now_ms));
        let links: Vec<Link> = match Element::parse(plan, name)? {
            Element::Switch(switch) => cables(plan, switch).collect(),
            Element::Nic(nic) => {
                plan.topology().plane_ids().map(|plane| Link::Host(NicPort { plane, nic })).collect()
            }
            Element::Cable(link) => vec![link],
            Element::Port(port) => vec![Link::Host(port)],
            Element::Plane(_) => return None,
        };
        let item = |link: Link| Item { name: Element::Cable(link).name(plan), health: known.link(link) };
        Some(
            links.into_iter().filter(|link| plan.fabric().has_link(*link)).take(LIST_MAX).map(item).collect(),
        )
    }

    fn nic(&self, name: &str) -> Option<Nic> {
        let plan = self.plan();
        if let Ok(address) = name.parse::<Ipv6Addr>() {
            return nic_of(plan, address);
        }
        match Element::parse(plan, name)? {
            Element::Nic(nic) => Some(nic),
            Element::Plane(_) | Element::Switch(_) | Element::Port(_) | Element::Cable(_) => None,
        }
    }

    /// Returns the paths between two NICs, by name or address.
    pub(crate) fn path_items(&self, from: &str, to: &str, now_ms: u64) -> Option<Vec<PathItem>> {
        let (plan, known) = (self.plan(), ElementLookup::new(self, now_ms));
        let (from, to) = (self.nic(from)?, self.nic(to)?);
        if from == to {
            return None;
        }
        let mut seen: BTreeMap<Link, Health> = BTreeMap::new();
        let item = |path: closc_plan::Path| {
            let links = path.hops.iter().map(|hop| hop.link).chain([path.first]);
            let mut worst = (Health::Good, None);
            for link in links {
                let health = *seen.entry(link).or_insert_with(|| known.link(link));
                if health > worst.0 {
                    worst = (health, Some(Element::Cable(link).name(plan)));
                }
            }
            let name = |hop: &closc_plan::PathHop| plan.topology().naming.switch(hop.switch).to_string();
            PathItem {
                entropy: path.entropy,
                plane: path.plane.0,
                destination: path.destination,
                switches: path.hops.iter().map(name).collect(),
                health: worst.0,
                worst: worst.1,
            }
        };
        Some(plan.paths(from, to).take(LIST_MAX).map(item).collect())
    }
}

/// Describes an address of the fabric: a NIC, an end of a cable, a switch, or a list of segments.
pub(crate) fn decode(plan: &Plan, address: Ipv6Addr) -> Option<AddressMeaning> {
    let plain = |what: String| Some(AddressMeaning { what, segments: Vec::new() });
    let (addresses, topology) = (plan.addresses(), plan.topology());
    if let Some(nic) = nic_of(plan, address) {
        return plain(format!("NIC {}", nic_name(topology, nic)));
    }
    if let Some((link, end)) = cable_end(plan, address) {
        let word = match end {
            CableEnd::Lower => "lower",
            CableEnd::Upper => "upper",
        };
        return plain(format!("{word} end of cable {}", Element::Cable(link).name(plan)));
    }
    if addresses.loopbacks().contains(&Address::from(address)) {
        let switch = plan.switches().find(|switch| addresses.loopback(*switch) == address.into())?;
        return plain(format!("loopback of switch {}", topology.naming.switch(switch)));
    }
    let planes: Vec<PlaneId> =
        topology.plane_ids().filter(|plane| topology.srv6.block(*plane).contains(&address)).collect();
    if !plan.is_source_routed() || planes.is_empty() {
        return None;
    }
    let hextets = address.segments();
    let list: Vec<u16> = hextets[2..].iter().copied().take_while(|usid| *usid != 0).collect();
    let segments: Vec<String> = list.iter().map(|usid| segment(plan, &planes, *usid, &list)).collect();
    Some(AddressMeaning { what: format!("{} segments", segments.len()), segments })
}

fn cable_end(plan: &Plan, address: Ipv6Addr) -> Option<(Link, CableEnd)> {
    let own = address.segments();
    let (plane, zone) = (PlaneId((own[3] >> 8 & 0xf) as u8), ZoneId(own[3] & 0xff));
    let (device, port) = (own[4].checked_sub(1)?, own[5].checked_sub(1)?);
    let lower = |tier| Switch { plane, tier, zone, index: device };
    let link = match own[3] >> 12 {
        0 => Link::Host(NicPort { plane, nic: Nic { zone, group: device, downlink: port } }),
        1 => Link::Fabric { lower: lower(TierId::T0), up: port },
        2 => Link::Fabric { lower: lower(TierId::T1), up: port },
        _ => return None,
    };
    if !plan.fabric().has_link(link) {
        return None;
    }
    let ends = [CableEnd::Lower, CableEnd::Upper];
    ends.into_iter().find(|end| plan.addresses().link(link, *end) == address.into()).map(|end| (link, end))
}

/// Names a segment in the planes that use the block. The segment belongs to a switch, or to a NIC below the
/// last T0 of the list. From the second cable of a switch on, the name includes the number of the cable.
fn segment(plan: &Plan, planes: &[PlaneId], usid: u16, list: &[u16]) -> String {
    let segments = plan.segments();
    let named = |usid: u16| {
        plan.switches().filter(|switch| planes.contains(&switch.plane)).find_map(|switch| {
            let at = segments.switch_usids(switch).position(|own| own.0 == usid)?;
            Some((switch, at))
        })
    };
    if let Some((switch, at)) = named(usid) {
        let cable = if at == 0 { String::new() } else { format!(", cable {}", at + 1) };
        return format!("{usid:04x} {}{cable}", plan.topology().naming.switch(switch));
    }
    let t0 = list.iter().take_while(|own| **own != usid).filter_map(|own| named(*own)).last();
    let nic = t0.filter(|(switch, _)| switch.tier == TierId::T0).and_then(|(t0, _)| {
        let mut nics = plan.fabric().group_nics(t0.zone, t0.index);
        nics.find(|nic| segments.nic(t0.plane, *nic).0 == usid)
    });
    nic.map_or_else(
        || format!("{usid:04x} nothing"),
        |nic| format!("{usid:04x} NIC {}", nic_name(plan.topology(), nic)),
    )
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::denial::Denials;
    use crate::options::Options;
    use crate::testing;

    #[test]
    fn every_address_of_a_fabric_is_decoded() {
        let plan = testing::three_tiers();
        let what = |address| decode(&plan, address).expect("it is of the fabric");
        for link in plan.fabric().links() {
            let name = Element::Cable(link).name(&plan);
            assert_eq!(
                what(plan.addresses().link(link, CableEnd::Lower).to_ipv6()).what,
                format!("lower end of cable {name}")
            );
            assert_eq!(
                what(plan.addresses().link(link, CableEnd::Upper).to_ipv6()).what,
                format!("upper end of cable {name}")
            );
        }
        let nics: Vec<Nic> = plan.fabric().nics().collect();
        let (from, to) = (nics[0], nics[nics.len() - 1]);
        assert_eq!(
            what(plan.addresses().nic(from).to_ipv6()).what,
            format!("NIC {}", nic_name(plan.topology(), from))
        );
        for path in plan.paths(from, to) {
            let segments = what(path.destination).segments;
            let names: Vec<&str> =
                segments.iter().map(|text| text.rsplit(' ').next().unwrap_or_default()).collect();
            let mut wanted: Vec<String> =
                path.hops.iter().map(|hop| plan.topology().naming.switch(hop.switch).to_string()).collect();
            wanted.push(nic_name(plan.topology(), to));
            assert_eq!(names, wanted);
        }
        for switch in plan.switches() {
            let name = plan.topology().naming.switch(switch);
            assert_eq!(
                what(plan.addresses().loopback(switch).to_ipv6()).what,
                format!("loopback of switch {name}")
            );
        }
        for other in ["::", "fe80::1", "fd00:c105:1:ffff::1", "fd00:c105:2:ffff:ffff:ffff::a"] {
            assert_eq!(decode(&plan, other.parse().expect("an address")), None, "{other}");
        }
    }

    #[test]
    fn details_are_of_what_is_there() {
        let plan = Arc::new(testing::eight_planes());
        let (collector, _) = Collector::new(plan, Options::default(), Denials::default(), 0);
        let tiers = collector.plane_items(7, 0).expect("it is there");
        assert_eq!(
            tiers.iter().map(|tier| (tier.tier, tier.items.len())).collect::<Vec<_>>(),
            [("t0", 4), ("t1", 4)]
        );
        assert_eq!(tiers[0].items[0], Item { name: "p7-t0-001".into(), health: Health::Unknown });
        assert_eq!(collector.cable_items("p0-t0-001", 0).map(|items| items.len()), Some(6));
        let paths = collector.path_items("su001-n001/nic0", "fd00:c105:1:2::1", 0).expect("two NICs");
        assert_eq!((paths.len(), paths[0].switches.len()), (32, 3));
        assert_eq!((collector.plane_items(8, 0), collector.cable_items("x", 0)), (None, None));
        assert_eq!(collector.path_items("su001-n001/nic0", "su001-n001/nic0", 0), None);
    }
}
