//! Addresses that change although their elements stay.
//!
//! In: two plans. Out: [`Renumbering`]: the changed addresses by kind, and the widths that explain them.
//! Invariants: the addresses that the plans compute are compared element by element. Elements are visited
//! only if a pool or the position of a coordinate differs.

use std::fmt::Display;

use closc_artefacts::{Family, Prefix};
use closc_diagnostics::figures::number;
use closc_fabric::{Fabric, PortUse};
use closc_plan::{CableEnd, CableEnds, Plan};
use closc_platform::capability::{Capability, Support};
use closc_topology::{Field, Link, NicPort, PortRef, Switch, TierId, Topology, field};
use ipnet::IpNet;
use schemars::JsonSchema;
use serde::Serialize;

use crate::population::{has_same_nodes, has_same_wiring, old_cable, old_nic, same_cable};
use crate::verdict::{Verdict, at_once, planes};

/// Kinds of addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AddressKind {
    /// Addresses of NICs.
    Nic,
    /// MAC addresses of NIC ports. Labs and static neighbours use them.
    NicMac,
    /// Addresses of both ends of a cable.
    Cable,
    /// Addresses of T1 and T2 interfaces that get another cable.
    UpperInterface,
    /// Loopbacks of switches.
    Loopback,
    /// Management ports of switches.
    Management,
    /// Prefixes that contain all NICs of a zone.
    ZonePrefix,
}

impl AddressKind {
    /// Returns the name of the kind in the singular and plural.
    fn nouns(self) -> (&'static str, &'static str) {
        match self {
            AddressKind::Nic => ("NIC", "NICs"),
            AddressKind::NicMac => ("MAC address of NIC ports", "MAC addresses of NIC ports"),
            AddressKind::Cable => ("cable", "cables"),
            AddressKind::UpperInterface => ("interface of T1s and T2s", "interfaces of T1s and T2s"),
            AddressKind::Loopback => ("loopback", "loopbacks"),
            AddressKind::Management => ("management port", "management ports"),
            AddressKind::ZonePrefix => ("zone prefix", "zone prefixes"),
        }
    }
}

/// An address before and after.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ChangedAddress {
    /// The element in the new fabric.
    pub element: String,
    /// Its address in the old fabric.
    pub old: String,
    /// Its address in the new fabric.
    pub new: String,
}

/// Changed addresses of one kind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ChangedAddresses {
    /// Kind of address.
    pub kind: AddressKind,
    /// Existing elements whose address changes.
    pub changed: u64,
    /// Existing elements.
    pub of: u64,
    /// The first change, or all of them if the list is requested.
    pub addresses: Vec<ChangedAddress>,
}

/// A changed width.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ChangedWidth {
    /// The field that sets it.
    pub field: String,
    /// Bits in the old fabric.
    pub old: u8,
    /// Bits in the new fabric.
    pub new: u8,
}

/// A pool that changes between IPv4 and IPv6.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ChangedFamily {
    /// The field that sets it.
    pub field: String,
    /// `IPv4` or `IPv6`, in the old fabric.
    pub old: String,
    /// `IPv4` or `IPv6`, in the new fabric.
    pub new: String,
}

/// Addresses that change although their elements stay.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Renumbering {
    /// Changed addresses by kind.
    pub kinds: Vec<ChangedAddresses>,
    /// Pools that change between IPv4 and IPv6.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub families: Vec<ChangedFamily>,
    /// Changed bit widths in IPv4 addresses.
    pub widths: Vec<ChangedWidth>,
}

/// Whether a comparison keeps all changed addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeptAddresses {
    /// The first of each kind.
    First,
    /// All.
    All,
}

impl Renumbering {
    /// Compares the addresses of elements that both plans have.
    pub fn compare(old: &Plan, new: &Plan, kept: KeptAddresses) -> Renumbering {
        let has_same_nodes = has_same_nodes(old.topology(), new.topology());
        if has_same_nodes && old.addresses().has_rule_of(&new.addresses()) {
            let kinds = [upper_interfaces(old, new, kept), zone_prefixes(old, new, kept)];
            return Renumbering { kinds: kinds.into_iter().flatten().collect(), ..Renumbering::default() };
        }
        let kinds = [
            nics(old, new, kept),
            nic_macs(old, new, kept),
            cables(old, new, kept),
            upper_interfaces(old, new, kept),
            loopbacks(old, new, kept),
            management(old, new, kept),
            zone_prefixes(old, new, kept),
        ];
        let kinds: Vec<ChangedAddresses> = kinds.into_iter().flatten().collect();
        if kinds.is_empty() {
            return Renumbering::default();
        }
        let (before, after) = (old.topology(), new.topology());
        Renumbering {
            kinds,
            families: changed_families(before, after),
            widths: changed_widths(before, after),
        }
    }

    /// Returns whether no address changes.
    pub fn is_empty(&self) -> bool {
        self.kinds.is_empty()
    }

    /// Returns one sentence for the families and widths that differ, and how to reserve bits; `None` if none differs.
    pub fn reason(&self) -> Option<String> {
        let reasons: Vec<String> = self.family_reasons().chain(self.width_reason()).collect();
        (!reasons.is_empty()).then(|| reasons.join("; "))
    }

    fn family_reasons(&self) -> impl Iterator<Item = String> + '_ {
        self.families
            .iter()
            .map(|ChangedFamily { field, old, new }| format!("`{field}` changes from {old} to {new}"))
    }

    fn width_reason(&self) -> Option<String> {
        let each =
            self.widths.iter().map(|ChangedWidth { field, old, new }| format!("`{field}` {old} -> {new}"));
        let each: Vec<String> = each.collect();
        (!each.is_empty()).then(|| {
            format!(
                "IPv4 addresses have other widths: {}; set them before the first rollout to reserve bits",
                each.join(", ")
            )
        })
    }

    /// Returns one sentence per kind, with the first change as an example.
    pub fn lines(&self) -> impl Iterator<Item = String> + '_ {
        self.kinds.iter().map(|kind| {
            let example =
                kind.addresses.first().map_or_else(String::new, |ChangedAddress { element, old, new }| {
                    format!(", `{element}` from {old} to {new}")
                });
            format!("{}{example}", kind.count())
        })
    }
}

impl ChangedAddresses {
    /// Returns the number of changed elements and the total as text.
    pub(crate) fn count(&self) -> String {
        let (one, many) = self.kind.nouns();
        let noun = if self.of == 1 { one } else { many };
        format!("{} of {} {noun}", number(self.changed), number(self.of))
    }
}

/// Counts changed addresses, and keeps the first one or all of them.
struct Counter {
    result: ChangedAddresses,
    retention: KeptAddresses,
}

impl Counter {
    fn new(kind: AddressKind, kept: KeptAddresses) -> Counter {
        Counter {
            result: ChangedAddresses { kind, changed: 0, of: 0, addresses: Vec::new() },
            retention: kept,
        }
    }

    /// Counts an element without comparing its address.
    fn keep(&mut self) {
        self.result.of += 1;
    }

    fn add<T: Copy + PartialEq + Display>(&mut self, old: T, new: T, element: impl FnOnce() -> String) {
        self.keep();
        if old == new {
            return;
        }
        self.result.changed += 1;
        if self.retention == KeptAddresses::All || self.result.addresses.is_empty() {
            let (old, new) = (old.to_string(), new.to_string());
            self.result.addresses.push(ChangedAddress { element: element(), old, new });
        }
    }

    fn finish(self) -> Option<ChangedAddresses> {
        (self.result.changed > 0).then_some(self.result)
    }
}

fn nics(old: &Plan, new: &Plan, kept: KeptAddresses) -> Option<ChangedAddresses> {
    let mut counter = Counter::new(AddressKind::Nic, kept);
    for nic in new.fabric().nics() {
        let Some(before) = old_nic(old.fabric(), new.fabric(), nic) else { continue };
        let name = || {
            let (node, number) = new.topology().node_of(nic);
            new.topology().naming.nic(node, number)
        };
        counter.add(old.addresses().nic(before), new.addresses().nic(nic), name);
    }
    counter.finish()
}

/// Compares the MAC addresses of the ports of NICs that T0s have as static neighbours. They contain the zone, at a
/// position that depends on its width, and the T0 group.
fn nic_macs(old: &Plan, new: &Plan, kept: KeptAddresses) -> Option<ChangedAddresses> {
    let (before, after) = (old.topology(), new.topology());
    if before.addresses.widths.zone == after.addresses.widths.zone && has_same_nodes(before, after) {
        return None;
    }
    let mut counter = Counter::new(AddressKind::NicMac, kept);
    let is_static = |plan: &Plan, port: NicPort| plan.os(port.nic.t0(port.plane)).has_static_neighbours();
    for link in new.fabric().links() {
        let (Link::Host(port), Some(Link::Host(own))) = (link, old_cable(old.fabric(), new.fabric(), link))
        else {
            continue;
        };
        if !is_static(old, own) && !is_static(new, port) {
            continue;
        }
        let [one, other] = [(old, own), (new, port)].map(|(plan, port)| plan.addresses().nic_mac(port));
        counter.add(one, other, || {
            let (node, number) = new.topology().node_of(port.nic);
            format!("{}.p{}", new.topology().naming.nic(node, number), port.plane)
        });
    }
    counter.finish()
}

/// Compares the addresses of T1 and T2 interfaces that get another cable. Such an interface gets another
/// address, because addresses belong to the port at the lower end of a cable.
fn upper_interfaces(old: &Plan, new: &Plan, kept: KeptAddresses) -> Option<ChangedAddresses> {
    let (before, after) = (old.topology(), new.topology());
    if has_same_wiring(before, after) || [before, after].iter().any(|side| side.routing.speaks_bgp()) {
        return None;
    }
    let mut counter = Counter::new(AddressKind::UpperInterface, kept);
    for link in new.fabric().links().filter(|link| matches!(link, Link::Fabric { .. })) {
        let Some((switch, port)) = new.fabric().upper_end(link) else { continue };
        if !old.fabric().has_switch(switch) || before.tier(switch.tier).is_none() {
            continue;
        }
        let index = before.port_at(switch.tier, port.side, after.place(switch.tier, port));
        let PortUse::Link { link: other, .. } = old.fabric().port_use(switch, PortRef { index, ..port })
        else {
            continue;
        };
        if Some(other) == same_cable(before, after, link) {
            counter.keep();
            continue;
        }
        let [one, other] =
            [(old, other), (new, link)].map(|(plan, link)| plan.addresses().link(link, CableEnd::Upper));
        counter.add(one, other, || {
            let CableEnds { upper: (device, port), .. } = new.cable_ends(link);
            format!("{device} {port}")
        });
    }
    counter.finish()
}

/// Compares cables with the same port at their lower end. With BGP, cables between switches do not have
/// addresses.
fn cables(old: &Plan, new: &Plan, kept: KeptAddresses) -> Option<ChangedAddresses> {
    let mut counter = Counter::new(AddressKind::Cable, kept);
    let is_numbered =
        |plan: &Plan, link: Link| matches!(link, Link::Host(_)) || !plan.topology().routing.speaks_bgp();
    for link in new.fabric().links().filter(|link| is_numbered(new, *link) && is_numbered(old, *link)) {
        if let Some(before) = old_cable(old.fabric(), new.fabric(), link) {
            let [one, other] =
                [(old, before), (new, link)].map(|(plan, link)| plan.addresses().link(link, CableEnd::Lower));
            counter.add(one, other, || new.link_name(link));
        }
    }
    counter.finish()
}

/// Returns the switches of both fabrics, except those whose operating system does not get such an address.
fn switches<'a>(
    old: &'a Fabric,
    new: &'a Plan,
    capability: Capability,
) -> impl Iterator<Item = Switch> + use<'a> {
    let has = move |switch: &Switch| {
        old.has_switch(*switch) && !matches!(new.os(*switch).support(capability), Support::Not(_))
    };
    new.fabric().switches().filter(has)
}

fn loopbacks(old: &Plan, new: &Plan, kept: KeptAddresses) -> Option<ChangedAddresses> {
    let mut counter = Counter::new(AddressKind::Loopback, kept);
    for switch in switches(old.fabric(), new, Capability::Loopback) {
        let [one, other] = [old, new].map(|plan| plan.addresses().loopback(switch));
        counter.add(one, other, || new.switch_name(switch).to_string());
    }
    counter.finish()
}

fn management(old: &Plan, new: &Plan, kept: KeptAddresses) -> Option<ChangedAddresses> {
    let mut counter = Counter::new(AddressKind::Management, kept);
    for switch in switches(old.fabric(), new, Capability::Management) {
        let [one, other] = [old, new].map(|plan| plan.addresses().management(switch));
        if let (Some(one), Some(other)) = (one, other) {
            counter.add(one, other, || new.switch_name(switch).to_string());
        }
    }
    counter.finish()
}

/// Compares the prefixes of zones, which switches have static routes to. With one tier they have none.
fn zone_prefixes(old: &Plan, new: &Plan, kept: KeptAddresses) -> Option<ChangedAddresses> {
    let has_routes = |plan: &Plan| {
        let topology = plan.topology();
        topology.routing.has_static_groups() && topology.has_t1()
    };
    if !has_routes(old) || !has_routes(new) {
        return None;
    }
    let mut counter = Counter::new(AddressKind::ZonePrefix, kept);
    for zone in new.topology().zone_ids().filter(|zone| zone.0 < old.topology().zones) {
        let [one, other]: [Prefix; 2] = [old, new].map(|plan| plan.addresses().zone(zone));
        counter.add(one, other, || format!("zone {zone}"));
    }
    counter.finish()
}

/// Returns the pools that change between IPv4 and IPv6.
fn changed_families(old: &Topology, new: &Topology) -> Vec<ChangedFamily> {
    let name = |family: Family| match family {
        Family::V4 => "IPv4".to_owned(),
        Family::V6 => "IPv6".to_owned(),
    };
    let of = |((field, old), (_, new)): ((Field, Option<Family>), (Field, Option<Family>))| {
        let (old, new) = (old?, new?);
        (old != new).then(|| ChangedFamily { field: field.path().to_owned(), old: name(old), new: name(new) })
    };
    pool_families(old).into_iter().zip(pool_families(new)).filter_map(of).collect()
}

/// Returns the IP version of each pool.
fn pool_families(side: &Topology) -> [(Field, Option<Family>); 4] {
    let pools = &side.addresses;
    let management = pools.management.map(|pool| match pool {
        IpNet::V4(_) => Family::V4,
        IpNet::V6(_) => Family::V6,
    });
    [
        (field!("addresses.hosts"), Some(pools.hosts.family())),
        (field!("addresses.links"), Some(pools.links.family())),
        (field!("addresses.loopbacks"), Some(pools.loopbacks.family())),
        (field!("addresses.management"), management),
    ]
}

/// Returns the widths that differ and are in addresses of a pool that is IPv4 on both sides.
fn changed_widths(old: &Topology, new: &Topology) -> Vec<ChangedWidth> {
    let [hosts, links, loopbacks, management] =
        [0, 1, 2, 3].map(|at| [old, new].iter().all(|side| pool_families(side)[at].1 == Some(Family::V4)));
    let has_ports = links && [old, new].iter().all(|side| !side.routing.speaks_bgp());
    let is_used = [links || loopbacks || management, hosts || links, has_ports, has_ports];
    let [before, after] = [old, new].map(|side| side.ipv4_widths().places());
    let of = |((field, old), (_, new)): ((Field, u8), (Field, u8))| {
        (old != new).then(|| ChangedWidth { field: field.path().to_owned(), old, new })
    };
    let used = before.into_iter().zip(after).zip(is_used).filter(|(_, is_used)| *is_used);
    used.filter_map(|(pair, _)| of(pair)).collect()
}

/// Returns how a change of widths is rolled out; `None` if it does not change an address in use.
pub(crate) fn verdict(old: &Topology, new: &Topology) -> Option<Verdict> {
    let [(_, plane), (_, downlink), (_, t0), (_, t1)] = old.ipv4_widths().places();
    let [(_, new_plane), (_, new_downlink), (_, new_t0), (_, new_t1)] = new.ipv4_widths().places();
    let v4 = |of: fn(&Topology) -> Prefix| [old, new].iter().all(|side| of(side).family() == Family::V4);
    if v4(|side| side.addresses.hosts) && downlink != new_downlink {
        return Some(at_once("the address of a NIC contains its downlink, which has another width"));
    }
    let has_ports = [old, new].iter().all(|side| !side.routing.speaks_bgp());
    let has_t2 = old.t2.is_some() && new.t2.is_some();
    let ports = has_ports && (t0 != new_t0 || has_t2 && t1 != new_t1);
    if v4(|side| side.addresses.links) && (plane != new_plane || ports) {
        return Some(planes(
            &TierId::ALL,
            "addresses of cables and switches contain plane and port, which have other widths",
        ));
    }
    None
}

/// Returns whether an IPv4 address of both fabrics can differ because the width of the plane or port changes.
pub(crate) fn has_other_widths(old: &Topology, new: &Topology) -> bool {
    !changed_widths(old, new).is_empty()
}
