//! V0404: all addresses of a switch encode the same position.
//!
//! In: switches, and the address pools from the manifest. Out: violations. Invariants: positions are decoded by
//! inverting the layouts of `docs/language.md`. The position of a switch is the one that most of its addresses encode;
//! an address that encodes a different position is a violation.

use std::collections::BTreeMap;
use std::fmt;
use std::net::{IpAddr, Ipv4Addr};

use closc_artefacts::{Address, Family, Prefix};
use ipnet::IpNet;
use rayon::prelude::*;

use crate::finding::{Findings, Violation};
use crate::model::cabling::{Cable, DeviceId, End, Kind, Side, SwitchId};
use crate::model::device::Mac;
use crate::model::fabric::Fabric;
use crate::model::fact::{FactKind, Term};
use crate::model::segment::Tier;
use crate::model::stated::{Counts, StatedAddresses, StatedManagement, StatedValues};
use crate::model::switch::Switch;
use crate::rules::addresses::{MANAGEMENT, PLACE};

/// Zone of each switch, from the majority of its addresses; `None` outside zones.
pub(crate) type Zones = [Option<u8>];

/// Checks the addresses of every switch, and that each T0 and T1 that share a cable are in the same zone.
pub(crate) fn check(fabric: &Fabric, stated: &StatedValues, counts: &Counts, zones: &Zones) -> Findings {
    let mut findings = Findings::default();
    check_common_zones(fabric, zones, &mut findings);
    if stated.addresses.is_none() {
        return findings;
    }
    let ids: Vec<SwitchId> = fabric.cabling.switch_ids().collect();
    let pools = &Pools::of(fabric, Some(stated), counts);
    let switches = ids.par_iter().filter_map(|id| Some((*id, fabric.switch(*id)?)));
    let found = switches
        .fold(Findings::default, |mut findings, switch| {
            management(fabric, pools, switch, &mut findings);
            one(fabric, pools, switch, &mut findings);
            findings
        })
        .reduce(Findings::default, Findings::merge);
    findings.merge(found)
}

/// Finds the zone of each T0 and T1. Switches that are outside zones, or have no addresses of their own, have no zone.
pub(crate) fn zones(fabric: &Fabric, stated: Option<&StatedValues>, counts: &Counts) -> Vec<Option<u8>> {
    let pools = Pools::of(fabric, stated, counts);
    let zone = |(at, switch): (usize, &Option<Switch>)| {
        let said = tally(fabric, &pools, (SwitchId(at as u32), switch.as_ref()?));
        said.common_position.filter(|spot| spot.tier != Tier::T2).map(|spot| spot.zone)
    };
    fabric.switches.par_iter().enumerate().map(zone).collect()
}

/// Checks that a T0 and a T1 with a common cable are in the same zone.
fn check_common_zones(fabric: &Fabric, zones: &Zones, findings: &mut Findings) {
    let zone = |end: End| match end.party {
        DeviceId::Switch(id) => zones[id.0 as usize],
        DeviceId::Node(_) => None,
    };
    for id in fabric.cabling.cable_ids() {
        let cable = fabric.cabling.cable(id);
        let (Kind::T0T1, Some(one), Some(other)) = (cable.kind, zone(cable.lower), zone(cable.upper)) else {
            continue;
        };
        findings.expect(one == other, &PLACE, || {
            let ends = fabric.cabling.describe(&cable);
            let message = format!("{ends}: the T0 has addresses of zone {one}, but the T1 of zone {other}");
            Violation::new(&PLACE, fabric.cabling.place(id), message)
        });
    }
}

/// The address pools, and the widths of the number fields in addresses. Both may be missing from the manifest.
struct Pools<'s> {
    stated_addresses: Option<&'s StatedAddresses>,
    /// Listed management ports, by switch name.
    listed_management: Option<&'s BTreeMap<String, StatedManagement>>,
    /// Bits of the switch number in an IPv4 management address; the zone is in the bits above.
    index_bits: u32,
    /// Bits of zone and switch number together.
    device_bits: u32,
    /// Number of zones.
    zones: u64,
}

impl<'s> Pools<'s> {
    fn of(fabric: &Fabric, all: Option<&'s StatedValues>, counts: &Counts) -> Self {
        let stated = all.and_then(|all| all.addresses.as_ref());
        let listed = all.map(|all| &all.management);
        let [device_bits, index_bits] = match stated.and_then(|stated| stated.widths) {
            Some(widths) => [widths.zone.min(8) + widths.index.min(16), widths.index.min(16)].map(u32::from),
            None => [DEVICE_BITS, stated.map_or(DEVICE_BITS, |stated| index_bits(fabric, stated))],
        };
        // Without counts in the manifest, the number of zones is unlimited.
        let zones = if *counts == Counts::default() { u64::MAX } else { counts.zones };
        Pools { stated_addresses: stated, listed_management: listed, index_bits, device_bits, zones }
    }

    /// Returns the listed management port of a switch, if any.
    fn management_port(&self, fabric: &Fabric, id: SwitchId) -> Option<&'s StatedManagement> {
        self.listed_management?.get(fabric.cabling.switch(id))
    }
}

/// Finds the number of bits of the switch number in IPv4 management addresses, by majority of the switches outside zone
/// 0.
fn index_bits(fabric: &Fabric, stated: &StatedAddresses) -> u32 {
    let Some(IpNet::V4(pool)) = stated.management else { return DEVICE_BITS };
    let mut votes: BTreeMap<u32, u64> = BTreeMap::new();
    for switch in fabric.switches.iter().flatten() {
        let spot = switch
            .loopbacks
            .first()
            .and_then(|net| SwitchPosition::from_address(stated, stated.loopbacks, net.addr()));
        let Some(spot) = spot.filter(|spot| spot.zone > 0) else { continue };
        let Some((IpNet::V4(net), _)) = switch.management.first() else { continue };
        let device = u32::from(net.addr()) & u32::from(pool.hostmask()) & ((1 << DEVICE_BITS) - 1);
        let zone = device.saturating_sub(u32::from(spot.number)) / u32::from(spot.zone);
        if zone.is_power_of_two() {
            *votes.entry(zone.ilog2()).or_default() += 1;
        }
    }
    votes.into_iter().max_by_key(|(_, count)| *count).map_or(DEVICE_BITS, |(bits, _)| bits)
}

/// Bits of zone and switch number in an IPv4 management address, if the manifest states no widths.
const DEVICE_BITS: u32 = 12;

/// Bits of tier and plane in an IPv4 management address with the fixed layout. Smaller pools use the stated widths.
const POSITION_BITS: u32 = 6;

/// The position of a switch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct SwitchPosition {
    tier: Tier,
    plane: u8,
    /// Zone. No address has more bits for it than cable addresses, which have eight.
    zone: u8,
    /// Number of the switch, from 1.
    number: u16,
}

impl SwitchPosition {
    /// Converts numbers from an address.
    fn new(tier: u32, plane: u32, zone: u32, number: u32) -> Option<SwitchPosition> {
        let tier = *[Tier::T0, Tier::T1, Tier::T2].get(tier as usize)?;
        let number = u16::try_from(number).ok().filter(|number| *number > 0)?;
        Some(SwitchPosition { tier, plane: plane.try_into().ok()?, zone: zone.try_into().ok()?, number })
    }

    /// Decodes the coordinates of a switch from the bits below a pool: the last four hextets in IPv6, the stated widths
    /// in IPv4.
    fn from_address(stated: &StatedAddresses, pool: Prefix, address: Address) -> Option<SwitchPosition> {
        match pool.family() {
            Family::V6 => {
                let low = u128::from(u64::MAX);
                let is_own = u128::from(address) & !low == u128::from(pool.network()) & !low;
                let [.., tier, plane, zone, number] = address.segments().map(u32::from);
                is_own.then(|| SwitchPosition::new(tier, plane, zone, number)).flatten()
            }
            Family::V4 => {
                let Ipv4Place { kind, plane, zone, number } = Ipv4Place::of(stated, pool, address, 0)?;
                SwitchPosition::new(kind, plane, zone, number)
            }
        }
    }

    fn of_management(pools: &Pools<'_>, address: IpAddr) -> Option<SwitchPosition> {
        let stated = pools.stated_addresses?;
        let pool = Prefix::from(stated.management?);
        if pool.family() == Family::V6
            || u32::from(128 - pool.prefix_len()) < POSITION_BITS + pools.device_bits
        {
            return SwitchPosition::from_address(stated, pool, address.into());
        }
        let host = host_bits(pool, address.into())?;
        let device = host & ((1 << pools.device_bits) - 1);
        let place = host >> pools.device_bits;
        // T2s are in zone 0, so their numbers also use the zone bits.
        let bits = if place >> 4 == 2 { pools.device_bits } else { pools.index_bits };
        let number = device & ((1 << bits) - 1);
        SwitchPosition::new(place >> 4, place & 0xf, device >> bits, number)
    }

    fn of_mac(Mac([one, two, place, zone, high, low]): Mac) -> Option<SwitchPosition> {
        let number = u16::from_be_bytes([high, low]);
        let spot =
            SwitchPosition::new(u32::from(place >> 4), u32::from(place & 0xf), zone.into(), number.into());
        spot.filter(|_| [one, two] == [0x02, 0xc1])
    }

    fn of_router_id(id: Ipv4Addr) -> Option<SwitchPosition> {
        let bits = u32::from(id);
        let tier = (bits >> 24).checked_sub(1)?;
        // T2s are in zone 0, so their numbers also use the zone bits.
        let [zone, number] = if tier == 2 { [0, bits & 0xf_ffff] } else { [bits >> 12 & 0xff, bits & 0xfff] };
        SwitchPosition::new(tier, bits >> 20 & 0xf, zone, number)
    }

    /// Decodes the switch at one end of a cable from its address there.
    fn of_end(
        pools: &StatedAddresses,
        cable: &Cable,
        side: Side,
        address: Address,
    ) -> Option<SwitchPosition> {
        let (zone, device, port) = match pools.links.family() {
            Family::V4 => cable_in_ipv4(pools, cable, side, address)?,
            Family::V6 => cable_in_ipv6(pools, cable, side, address)?,
        };
        let above = |parallel: Option<u16>| {
            Some(uplink(pools, cable.kind, port)? / u32::from(parallel.unwrap_or(1).max(1)))
        };
        let plane = cable.plane.into();
        match (cable.kind, side) {
            (Kind::NicT0, _) | (Kind::T0T1, Side::Lower) => SwitchPosition::new(0, plane, zone, device),
            (Kind::T0T1, Side::Upper) => SwitchPosition::new(1, plane, zone, above(pools.t0_t1)? + 1),
            (Kind::T1T2, Side::Lower) => SwitchPosition::new(1, plane, zone, device),
            (Kind::T1T2, Side::Upper) => {
                let rows = u32::from(pools.rows.unwrap_or(1).max(1));
                let row = device.checked_sub(1)? % rows;
                SwitchPosition::new(2, plane, 0, above(pools.t1_t2)?.checked_mul(rows)? + row + 1)
            }
        }
    }
}

/// Converts the port number in a cable address, from 1, to the number of the uplink, from 0.
fn uplink(pools: &StatedAddresses, kind: Kind, port: u32) -> Option<u32> {
    let place = port.checked_sub(1)?;
    if kind != Kind::T0T1 || pools.t0_places.is_empty() {
        return Some(place);
    }
    pools.t0_places.iter().position(|own| u32::from(*own) == place)?.try_into().ok()
}

/// Returns the number that encodes a kind of cable in addresses.
fn kind_number(kind: Kind) -> u16 {
    match kind {
        Kind::NicT0 => 0,
        Kind::T0T1 => 1,
        Kind::T1T2 => 2,
    }
}

/// Decodes the zone, the lower device and its port from an IPv6 address at one end of a cable. Devices and ports count
/// from 1.
fn cable_in_ipv6(
    pools: &StatedAddresses,
    cable: &Cable,
    side: Side,
    address: Address,
) -> Option<(u32, u32, u32)> {
    let [first, second, third, place, device, port, zero, end] = address.segments();
    let pool = pools.links.network().segments();
    let letter = match side {
        Side::Lower => 0xa,
        Side::Upper => 0xb,
    };
    let is_own = [first, second, third] == pool[..3] && zero == 0 && end == letter;
    let is_kind = place >> 8 == kind_number(cable.kind) << 4 | u16::from(cable.plane);
    (is_own && is_kind).then(|| (u32::from(place & 0xff), u32::from(device), u32::from(port)))
}

/// Decodes zone, lower device and port from an IPv4 address.
fn cable_in_ipv4(
    pools: &StatedAddresses,
    cable: &Cable,
    side: Side,
    address: Address,
) -> Option<(u32, u32, u32)> {
    let widths = pools.ipv4?;
    let place = Ipv4Place::of(pools, pools.links, address, 1)?;
    let port_bits = match cable.kind {
        Kind::NicT0 => widths.downlink,
        Kind::T0T1 => widths.uplinks[0],
        Kind::T1T2 => widths.uplinks[1],
    };
    let end = match side {
        Side::Lower => 0,
        Side::Upper => 1,
    };
    let is_own = (place.kind, place.plane) == (kind_number(cable.kind).into(), cable.plane.into());
    let is_end = u128::from(address) & 1 == end;
    let port = place.number & ((1 << port_bits) - 1);
    (is_own && is_end).then_some((place.zone, (place.number >> port_bits) + 1, port + 1))
}

/// The coordinates that an IPv4 address encodes.
struct Ipv4Place {
    /// The tier of a switch, or the kind of a cable.
    kind: u32,
    plane: u32,
    zone: u32,
    number: u32,
}

impl Ipv4Place {
    /// Decodes an address of a pool, ignoring its lowest `lowest` bits.
    fn of(stated: &StatedAddresses, pool: Prefix, address: Address, lowest: u8) -> Option<Self> {
        let widths = stated.ipv4?;
        let host = host_bits(pool, address)? >> lowest;
        let bits = (128 - pool.prefix_len()).checked_sub(lowest)?;
        let below_kind = bits.checked_sub(2)?;
        let position = below_kind.checked_sub(widths.plane)?;
        let number_bits = position.checked_sub(widths.zone)?;
        let field = |from: u8, width: u8| (host >> from) & ((1 << width) - 1);
        let mirrored =
            u64::from(field(number_bits, widths.zone)) << (u64::BITS - u32::from(widths.zone.max(1)));
        Some(Ipv4Place {
            kind: host >> below_kind,
            plane: field(position, widths.plane),
            zone: mirrored.reverse_bits() as u32,
            number: field(0, number_bits),
        })
    }
}

/// Returns the bits of an IPv4 address below the prefix of its pool.
fn host_bits(pool: Prefix, address: Address) -> Option<u32> {
    let mask = u128::MAX.checked_shr(pool.prefix_len().into()).unwrap_or(0);
    (pool.family() == Family::V4 && pool.contains(&address)).then(|| (u128::from(address) & mask) as u32)
}

impl fmt::Display for SwitchPosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.tier, self.number)?;
        if self.tier != Tier::T2 {
            write!(f, " of zone {}", self.zone)?;
        }
        write!(f, " in plane {}", self.plane)
    }
}

/// An address of a switch.
struct SwitchAddress<'a> {
    kind: &'static str,
    text: String,
    fact: FactKind<'a>,
}

/// Calls a function for every address of a switch, with the decoded position. Message texts are built lazily.
fn visit_addresses<'f>(
    fabric: &'f Fabric,
    pools: &Pools<'_>,
    (id, switch): (SwitchId, &'f Switch),
    mut call: impl FnMut(Option<SwitchPosition>, &dyn Fn() -> SwitchAddress<'f>),
) {
    for net in &switch.loopbacks {
        let said =
            || SwitchAddress { kind: "loopback", text: net.addr().to_string(), fact: FactKind::Loopback };
        call(
            pools
                .stated_addresses
                .and_then(|stated| SwitchPosition::from_address(stated, stated.loopbacks, net.addr())),
            &said,
        );
    }
    // A listed address encodes no position.
    let is_placed = pools.management_port(fabric, id).is_none();
    for (net, _) in switch.management.iter().filter(|_| is_placed) {
        let said = || SwitchAddress {
            kind: "management address",
            text: net.to_string(),
            fact: FactKind::Management,
        };
        let pool = pools.stated_addresses.and_then(|stated| stated.management);
        let fits = pool.is_some_and(|pool| pool.prefix_len() == net.prefix_len());
        call(SwitchPosition::of_management(pools, net.addr()).filter(|_| fits), &said);
    }
    let port = |slot: usize| {
        let (_, cable, side) = fabric.slot_cable(id, slot as u16);
        fabric.cabling.names.text(cable.ends(side).0.port)
    };
    if let Some(mac) = switch.mac {
        let first = if switch.ends.len() > 0 { port(0) } else { "" };
        let said =
            || SwitchAddress { kind: "MAC address", text: mac.to_string(), fact: FactKind::Mac(first) };
        call(SwitchPosition::of_mac(mac), &said);
    }
    if let Some(router_id) = switch.speaker.as_ref().and_then(|speaker| speaker.router_id) {
        let said = || SwitchAddress { kind: "router id", text: router_id.to_string(), fact: ROUTER_ID };
        call(SwitchPosition::of_router_id(router_id), &said);
    }
    for (slot, end) in switch.ends.iter().enumerate() {
        if let Some(mac) = end.mac {
            let said = || SwitchAddress {
                kind: "MAC address",
                text: mac.to_string(),
                fact: FactKind::Mac(port(slot)),
            };
            call(SwitchPosition::of_mac(mac), &said);
        }
        if let Some(address) = end.address {
            let (_, cable, side) = fabric.slot_cable(id, slot as u16);
            let (what, about) = ("address of a cable", FactKind::Address(port(slot)));
            let said = || SwitchAddress { kind: what, text: address.to_string(), fact: about };
            let stated = pools.stated_addresses;
            call(stated.and_then(|stated| SwitchPosition::of_end(stated, &cable, side, address)), &said);
        }
    }
}

/// Positions encoded in the addresses of a switch.
struct EncodedPositions {
    count: u64,
    /// Whether all positions are equal.
    alike: bool,
    /// The most frequent position, or the first of several equally frequent ones.
    common_position: Option<SwitchPosition>,
}

fn tally(fabric: &Fabric, pools: &Pools<'_>, (id, switch): (SwitchId, &Switch)) -> EncodedPositions {
    let place = switch.place();
    let fits = |spot: &SwitchPosition| {
        place.is_none_or(|place| place == (spot.tier, spot.plane)) && u64::from(spot.zone) < pools.zones
    };
    let (mut count, mut first, mut alike) = (0, None, true);
    visit_addresses(fabric, pools, (id, switch), |spot, _| {
        count += 1;
        let spot = spot.filter(fits);
        alike &= spot.is_some() && *first.get_or_insert(spot) == spot;
    });
    if alike {
        return EncodedPositions { count, alike, common_position: first.flatten() };
    }
    let mut votes: BTreeMap<SwitchPosition, (u64, std::cmp::Reverse<u64>)> = BTreeMap::new();
    let mut at = 0;
    visit_addresses(fabric, pools, (id, switch), |spot, _| {
        at += 1;
        if let Some(spot) = spot.filter(fits) {
            votes.entry(spot).or_insert((0, std::cmp::Reverse(at))).0 += 1;
        }
    });
    let meant = votes.into_iter().max_by_key(|(_, votes)| *votes).map(|(spot, _)| spot);
    EncodedPositions { count, alike, common_position: meant }
}

fn one(fabric: &Fabric, pools: &Pools<'_>, (id, switch): (SwitchId, &Switch), findings: &mut Findings) {
    let EncodedPositions { count, alike, common_position: meant } = tally(fabric, pools, (id, switch));
    findings.count_facts(&PLACE, count);
    if alike {
        return;
    }
    visit_addresses(fabric, pools, (id, switch), |spot, said| {
        if spot.is_some() && spot == meant {
            return;
        }
        let SwitchAddress { kind: what, text, fact: about } = said();
        let says = match spot {
            Some(spot) => format!("which is that of {spot}"),
            None => "which has no owner in the pools of the manifest".to_owned(),
        };
        let is = meant.map_or_else(
            || "and its addresses do not agree on a position".to_owned(),
            |spot| format!("but its position is {spot}"),
        );
        let message = format!("`{}` has the {what} {text}, {says}, {is}", fabric.cabling.switch(id));
        findings.report(Violation::new(&PLACE, fabric.place(id, about), message));
    });
}

/// The fact that a violation about a router ID refers to.
const ROUTER_ID: FactKind<'static> = FactKind::Terms("", Term::Identifier);

/// Checks that a listed management port equals its list entry, and that all other switches have the stated gateway.
fn management(
    fabric: &Fabric,
    pools: &Pools<'_>,
    (id, switch): (SwitchId, &Switch),
    findings: &mut Findings,
) {
    let name = fabric.cabling.switch(id);
    let listed = pools.management_port(fabric, id);
    if let Some(listed) = listed {
        findings.expect(!switch.management.is_empty(), &PLACE, || {
            let message =
                format!("`{name}` has no management address; the manifest states {}", listed.address);
            Violation::new(&PLACE, fabric.place(id, FactKind::Management), message)
        });
    }
    for (address, gateway) in &switch.management {
        if let Some(listed) = listed {
            findings.expect(*address == listed.address, &PLACE, || {
                let message = format!(
                    "`{name}` has the management address {address}; the manifest states {}",
                    listed.address
                );
                Violation::new(&PLACE, fabric.place(id, FactKind::Management), message)
            });
        }
        let own = listed.map(|listed| listed.gateway);
        let stated = own.or_else(|| pools.stated_addresses.and_then(|stated| stated.gateway));
        findings.expect(stated == *gateway, &MANAGEMENT, || {
            let [found, stated] =
                [gateway, &stated].map(|own| own.map_or_else(|| "none".to_owned(), |own| own.to_string()));
            let message =
                format!("`{name}` has the management gateway {found}; the manifest states {stated}");
            Violation::new(&MANAGEMENT, fabric.place(id, FactKind::Management), message)
        });
    }
}
