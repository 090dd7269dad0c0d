//! V0404: the addresses of a switch say where it is, and all of them the same.
//!
//! In: switches, and the pools that the manifest states. Out: violations. Invariants: the layouts are those of `docs/language.md`,
//! read backwards; what most addresses of a switch say is where it is, and one that says otherwise is not its own.

use std::collections::BTreeMap;
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ipnet::{IpNet, Ipv6Net};
use rayon::prelude::*;

use crate::finding::{Findings, Violation};
use crate::model::about::About;
use crate::model::cabling::{Cable, Kind, Side, SwitchId};
use crate::model::device::Mac;
use crate::model::fabric::Fabric;
use crate::model::segment::Tier;
use crate::model::stated::{Stated, StatedAddresses};
use crate::model::switch::Switch;
use crate::rules::addresses::{MANAGEMENT, PLACE};

/// Checks every switch.
pub(crate) fn check(fabric: &Fabric, stated: &Stated) -> Findings {
    let Some(pools) = &stated.addresses else { return Findings::default() };
    let ids: Vec<SwitchId> = fabric.cabling.switch_ids().collect();
    let pools = &Pools { stated: pools, index_bits: index_bits(fabric, pools) };
    let switches = ids.par_iter().filter_map(|id| Some((*id, fabric.switch(*id)?)));
    switches
        .fold(Findings::default, |mut findings, switch| {
            one(fabric, pools, switch, &mut findings);
            findings
        })
        .reduce(Findings::default, Findings::merge)
}

/// The pools, and what is not stated of them.
struct Pools<'s> {
    stated: &'s StatedAddresses,
    /// Bits of the number of a switch in an IPv4 management address; its zone is above them.
    index_bits: u32,
}

/// Finds how many bits of an IPv4 management address are the number of a switch: what most switches outside of zone 0 have above
/// their own.
fn index_bits(fabric: &Fabric, stated: &StatedAddresses) -> u32 {
    let Some(IpNet::V4(pool)) = stated.management else { return DEVICE_BITS };
    let mut votes: BTreeMap<u32, u64> = BTreeMap::new();
    for switch in fabric.switches.iter().flatten() {
        let spot = switch.loopbacks.first().and_then(|net| Spot::behind(stated.loopbacks, net.addr()));
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

/// Bits of zone and number in an IPv4 management address.
const DEVICE_BITS: u32 = 12;

/// Where a switch is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Spot {
    tier: Tier,
    plane: u8,
    /// Zones have eight bits in addresses of cables, which are the narrowest.
    zone: u8,
    /// From 1.
    number: u16,
}

impl Spot {
    /// Takes numbers as they are in an address.
    fn new(tier: u32, plane: u32, zone: u32, number: u32) -> Option<Spot> {
        let tier = *[Tier::T0, Tier::T1, Tier::T2].get(tier as usize)?;
        let number = u16::try_from(number).ok().filter(|number| *number > 0)?;
        Some(Spot { tier, plane: plane.try_into().ok()?, zone: zone.try_into().ok()?, number })
    }

    /// Reads the last four hextets behind a pool.
    fn behind(pool: Ipv6Net, address: Ipv6Addr) -> Option<Spot> {
        let low = u128::from(u64::MAX);
        let is_own = u128::from(address) & !low == u128::from(pool.network()) & !low;
        let [.., tier, plane, zone, number] = address.segments().map(u32::from);
        is_own.then(|| Spot::new(tier, plane, zone, number)).flatten()
    }

    fn of_management(pools: &Pools<'_>, address: IpAddr) -> Option<Spot> {
        match (pools.stated.management?, address) {
            (IpNet::V6(pool), IpAddr::V6(address)) => Spot::behind(pool, address),
            (IpNet::V4(pool), IpAddr::V4(address)) if pool.contains(&address) => {
                let host = u32::from(address) & u32::from(pool.hostmask());
                let device = host & ((1 << DEVICE_BITS) - 1);
                let number = device & ((1 << pools.index_bits) - 1);
                Spot::new(host >> 16, host >> 12 & 0xf, device >> pools.index_bits, number)
            }
            _ => None,
        }
    }

    fn of_mac(Mac([one, two, place, zone, high, low]): Mac) -> Option<Spot> {
        let number = u16::from_be_bytes([high, low]);
        let spot = Spot::new(u32::from(place >> 4), u32::from(place & 0xf), zone.into(), number.into());
        spot.filter(|_| [one, two] == [0x02, 0xc1])
    }

    fn of_router_id(id: Ipv4Addr) -> Option<Spot> {
        let bits = u32::from(id);
        Spot::new((bits >> 24).checked_sub(1)?, bits >> 20 & 0xf, bits >> 12 & 0xff, bits & 0xfff)
    }

    /// Reads the address of one end of a cable: which switch it says is at that end.
    fn of_end(pools: &StatedAddresses, cable: &Cable, side: Side, address: Ipv6Addr) -> Option<Spot> {
        let [first, second, third, place, device, port, zero, end] = address.segments();
        let pool = pools.links.network().segments();
        let kind = match cable.kind {
            Kind::NicT0 => 0,
            Kind::T0T1 => 1,
            Kind::T1T2 => 2,
        };
        let letter = match side {
            Side::Lower => 0xa,
            Side::Upper => 0xb,
        };
        let is_own = [first, second, third] == pool[..3] && zero == 0 && end == letter;
        if !is_own || place >> 8 != kind << 4 | u16::from(cable.plane) {
            return None;
        }
        let (zone, device, port) = (u32::from(place & 0xff), u32::from(device), u32::from(port));
        let above =
            |parallel: Option<u16>| Some(port.checked_sub(1)? / u32::from(parallel.unwrap_or(1).max(1)));
        let plane = cable.plane.into();
        match (cable.kind, side) {
            (Kind::NicT0, _) | (Kind::T0T1, Side::Lower) => Spot::new(0, plane, zone, device),
            (Kind::T0T1, Side::Upper) => Spot::new(1, plane, zone, above(pools.t0_t1)? + 1),
            (Kind::T1T2, Side::Lower) => Spot::new(1, plane, zone, device),
            (Kind::T1T2, Side::Upper) => {
                let rows = u32::from(pools.rows.unwrap_or(1).max(1));
                let row = device.checked_sub(1)? % rows;
                Spot::new(2, plane, 0, above(pools.t1_t2)?.checked_mul(rows)? + row + 1)
            }
        }
    }
}

impl fmt::Display for Spot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.tier, self.number)?;
        if self.tier != Tier::T2 {
            write!(f, " of zone {}", self.zone)?;
        }
        write!(f, " in plane {}", self.plane)
    }
}

/// An address of a switch.
struct Said<'a> {
    what: &'static str,
    text: String,
    about: About<'a>,
}

/// Calls for every address of a switch with what it says; how it is shown is made where it is asked for.
fn each<'f>(
    fabric: &'f Fabric,
    pools: &Pools<'_>,
    (id, switch): (SwitchId, &'f Switch),
    mut call: impl FnMut(Option<Spot>, &dyn Fn() -> Said<'f>),
) {
    for net in &switch.loopbacks {
        let said = || Said { what: "loopback", text: net.addr().to_string(), about: About::Loopback };
        call(Spot::behind(pools.stated.loopbacks, net.addr()), &said);
    }
    for (net, _) in &switch.management {
        let said = || Said { what: "management address", text: net.to_string(), about: About::Management };
        let fits = pools.stated.management.is_some_and(|pool| pool.prefix_len() == net.prefix_len());
        call(Spot::of_management(pools, net.addr()).filter(|_| fits), &said);
    }
    let port = |slot: usize| {
        let (_, cable, side) = fabric.plugged(id, slot as u16);
        fabric.cabling.names.text(cable.ends(side).0.port)
    };
    if let Some(mac) = switch.mac {
        let first = if switch.ends.len() > 0 { port(0) } else { "" };
        let said = || Said { what: "MAC address", text: mac.to_string(), about: About::Mac(first) };
        call(Spot::of_mac(mac), &said);
    }
    if let Some(router_id) = switch.speaker.as_ref().and_then(|speaker| speaker.router_id) {
        let said = || Said { what: "router id", text: router_id.to_string(), about: About::Bgp };
        call(Spot::of_router_id(router_id), &said);
    }
    for (slot, end) in switch.ends.iter().enumerate() {
        if let Some(mac) = end.mac {
            let said = || Said { what: "MAC address", text: mac.to_string(), about: About::Mac(port(slot)) };
            call(Spot::of_mac(mac), &said);
        }
        if let Some(address) = end.address {
            let (_, cable, side) = fabric.plugged(id, slot as u16);
            let (what, about) = ("address of a cable", About::Address(port(slot)));
            let said = || Said { what, text: address.to_string(), about };
            call(Spot::of_end(pools.stated, &cable, side, address), &said);
        }
    }
}

fn one(fabric: &Fabric, pools: &Pools<'_>, (id, switch): (SwitchId, &Switch), findings: &mut Findings) {
    gateways(fabric, pools.stated, (id, switch), findings);
    let place = switch.place();
    let fits = |spot: &Spot| place.is_none_or(|place| place == (spot.tier, spot.plane));
    let (mut count, mut first, mut alike) = (0, None, true);
    each(fabric, pools, (id, switch), |spot, _| {
        count += 1;
        let spot = spot.filter(fits);
        alike &= spot.is_some() && *first.get_or_insert(spot) == spot;
    });
    findings.checked(&PLACE, count);
    if alike {
        return;
    }
    // What most say, and of equally many the first.
    let mut votes: BTreeMap<Spot, (u64, std::cmp::Reverse<u64>)> = BTreeMap::new();
    let mut at = 0;
    each(fabric, pools, (id, switch), |spot, _| {
        at += 1;
        if let Some(spot) = spot.filter(fits) {
            votes.entry(spot).or_insert((0, std::cmp::Reverse(at))).0 += 1;
        }
    });
    let meant = votes.into_iter().max_by_key(|(_, votes)| *votes).map(|(spot, _)| spot);
    each(fabric, pools, (id, switch), |spot, said| {
        if spot.is_some() && spot == meant {
            return;
        }
        let Said { what, text, about } = said();
        let says = match spot {
            Some(spot) => format!("which is that of {spot}"),
            None => "which is nobody's in the pools that the manifest states".to_owned(),
        };
        let is = meant
            .map_or_else(|| "and no address says where it is".to_owned(), |spot| format!("and it is {spot}"));
        let message = format!("`{}` has the {what} {text}, {says}, {is}", fabric.cabling.switch(id));
        findings.broken(Violation::new(&PLACE, fabric.place(id, about), message));
    });
}

/// The gateway is stated.
fn gateways(
    fabric: &Fabric,
    pools: &StatedAddresses,
    (id, switch): (SwitchId, &Switch),
    findings: &mut Findings,
) {
    for gateway in switch.management.iter().filter_map(|(_, gateway)| *gateway) {
        findings.expect(pools.gateway == Some(gateway), &MANAGEMENT, || {
            let stated = pools.gateway.map_or_else(|| "none".to_owned(), |gateway| gateway.to_string());
            let message =
                format!("`{}` has the gateway {gateway}, and {stated} is stated", fabric.cabling.switch(id));
            Violation::new(&MANAGEMENT, fabric.place(id, About::Management), message)
        });
    }
}
