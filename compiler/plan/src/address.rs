//! Every address, as a function of a coordinate.
//!
//! In: a coordinate and the pools of the topology. Out: one address. Invariants: fields sit at fixed places (mostly
//! one hextet each, so that people can read them), never fitted to today's counts; two coordinates never give
//! the same address. The layouts, after the pool's own bits:
//!
//! | address | bits |
//! |---|---|
//! | NIC | hextet 4 = zone (4 bits), group from 1 (12), or other [widths](AddressWidths); hextet 8 = downlink from 1 |
//! | cable | hextet 4 = kind (4), plane (4), zone (8); hextet 5 = lower device from 1; hextet 6 = its port from 1; hextet 8 = `a` at the lower end, `b` at the upper: a /127 (RFC 6164) |
//! | loopback | hextet 5 = tier, 6 = plane, 7 = zone, 8 = index from 1 |
//! | management | IPv6 as loopback; IPv4: tier (2 bits), plane (4), zone and index (12, or other widths) |
//! | ASN, router id | tier, plane (4 bits), zone (8), index from 1 (12); of a T2: index (20) |
//! | MAC | `02:c1` tier and plane, zone, index; `02:dP` plane P, zone and group as of the NIC, downlink |

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use closc_topology::{
    AddressWidths, Addresses, Link, Nic, NicPort, PlaneId, Switch, TierId, Topology, ZoneId,
};
use ipnet::{IpNet, Ipv6Net};

use crate::mac::Mac;

/// The addresses of a fabric.
#[derive(Debug, Clone, Copy)]
pub struct AddressPlan<'a> {
    pools: &'a Addresses,
    /// Bits of an index in an IPv4 management address.
    index_bits: u8,
}

/// The two ends of a cable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CableEnd {
    /// Nearer to the NICs.
    Lower,
    /// Farther from the NICs.
    Upper,
}

impl CableEnd {
    fn hextet(self) -> u16 {
        match self {
            CableEnd::Lower => 0xa,
            CableEnd::Upper => 0xb,
        }
    }
}

impl<'a> AddressPlan<'a> {
    /// Takes the pools of a topology.
    pub fn new(topology: &'a Topology) -> Self {
        let pools = &topology.addresses;
        AddressPlan { pools, index_bits: pools.widths.index.unwrap_or(topology.srv6.layout.index_bits) }
    }

    /// Returns the inner address of a NIC, the same in every plane.
    pub fn nic(&self, nic: Nic) -> Ipv6Addr {
        let group = self.place(nic.zone, nic.group + 1);
        with(self.pools.hosts, [0, 0, 0, group, 0, 0, 0, nic.ordinal()])
    }

    /// Returns the NIC that an address would be that of, in a fabric of any size; nothing for addresses of no such form.
    pub fn nic_of(&self, address: Ipv6Addr) -> Option<Nic> {
        let (own, pool) = (address.segments(), self.pools.hosts.network().segments());
        let place = u32::from(own[3].checked_sub(pool[3])?);
        let (zone, group) = (place >> self.widths().group(), place & self.widths().groups_max());
        let (zone, group) = (u16::try_from(zone).ok()?, u16::try_from(group).ok()?.checked_sub(1)?);
        let nic = Nic { zone: ZoneId(zone), group, downlink: own[7].checked_sub(1)? };
        (self.nic(nic) == address).then_some(nic)
    }

    /// Returns the prefix of all NICs of a T0 group.
    pub fn group(&self, zone: ZoneId, group: u16) -> Ipv6Net {
        let base = with(self.pools.hosts, [0, 0, 0, self.place(zone, group + 1), 0, 0, 0, 0]);
        Ipv6Net::new_assert(base, 64)
    }

    /// Returns the prefix of all NICs of a zone.
    pub fn zone(&self, zone: ZoneId) -> Ipv6Net {
        let base = with(self.pools.hosts, [0, 0, 0, self.place(zone, 0), 0, 0, 0, 0]);
        Ipv6Net::new_assert(base, 48 + self.widths().zone)
    }

    /// Zone and group from 1.
    fn place(&self, zone: ZoneId, ordinal: u16) -> u16 {
        zone.0 << self.widths().group() | ordinal
    }

    fn widths(&self) -> AddressWidths {
        self.pools.widths
    }

    /// Returns the prefix of all NICs of the fabric.
    pub fn hosts(&self) -> Ipv6Net {
        self.pools.hosts
    }

    /// Returns the prefix of all loopbacks of the fabric.
    pub fn loopbacks(&self) -> Ipv6Net {
        self.pools.loopbacks
    }

    /// Returns the address of one end of a cable.
    pub fn link(&self, link: Link, end: CableEnd) -> Ipv6Addr {
        let (kind, plane, zone, device, port) = match link {
            Link::Host(NicPort { plane, nic }) => (0, plane, nic.zone, nic.group + 1, nic.downlink + 1),
            Link::Fabric { lower, up } => {
                (u16::from(lower.tier.level()) + 1, lower.plane, lower.zone, lower.ordinal(), up + 1)
            }
        };
        let place = kind << 12 | u16::from(plane.0) << 8 | zone.0;
        with(self.pools.links, [0, 0, 0, place, device, port, 0, end.hextet()])
    }

    /// Returns the prefix of the cables of all NIC ports in a plane.
    pub fn nic_ports(&self, plane: PlaneId) -> Ipv6Net {
        let place = u16::from(plane.0) << 8;
        Ipv6Net::new_assert(with(self.pools.links, [0, 0, 0, place, 0, 0, 0, 0]), 56)
    }

    /// Returns the prefix length of a cable's subnet.
    pub const LINK_PREFIX: u8 = 127;

    /// Returns the loopback of a switch.
    pub fn loopback(&self, switch: Switch) -> Ipv6Addr {
        with(self.pools.loopbacks, [0, 0, 0, 0, tier(switch), plane(switch), switch.zone.0, switch.ordinal()])
    }

    /// Returns the management address of a switch with the length of its subnet: the one that is listed, else the one of the pool,
    /// where there is a pool.
    pub fn management(&self, switch: Switch) -> Option<IpNet> {
        if let Some(listed) = self.pools.management_list.get(&switch) {
            return Some(listed.address);
        }
        let pool = self.pools.management?;
        let address = match pool {
            IpNet::V6(pool) => {
                let hextets = [0, 0, 0, 0, tier(switch), plane(switch), switch.zone.0, switch.ordinal()];
                IpAddr::V6(with(pool, hextets))
            }
            IpNet::V4(pool) => {
                let device = u32::from(switch.zone.0) << self.index_bits | u32::from(switch.ordinal());
                let place = u32::from(tier(switch)) << 4 | u32::from(plane(switch));
                let host = place << self.widths().device() | device;
                IpAddr::V4(Ipv4Addr::from(u32::from(pool.network()) | host))
            }
        };
        Some(IpNet::new_assert(address, pool.prefix_len()))
    }

    /// Returns the gateway of a switch's management address, where it has one.
    pub fn management_gateway(&self, switch: Switch) -> Option<IpAddr> {
        let listed = self.pools.management_list.get(&switch).map(|listed| listed.gateway);
        listed.or_else(|| self.pool_gateway())
    }

    /// Returns the gateway of the pool of management addresses, where there is a pool.
    pub fn pool_gateway(&self) -> Option<IpAddr> {
        let pool = self.pools.management?;
        Some(self.pools.management_gateway.unwrap_or(match pool {
            IpNet::V6(pool) => IpAddr::V6(with(pool, [0, 0, 0, 0, 3, 0, 0, 1])),
            IpNet::V4(pool) => {
                let first = 3 << (self.widths().device() + 4) | 1;
                IpAddr::V4(Ipv4Addr::from(u32::from(pool.network()) | first))
            }
        }))
    }

    /// Returns the router id of a switch: never 0.0.0.0, unique in the fabric. Fits where the fabric speaks BGP (E0504).
    pub fn router_id(&self, switch: Switch) -> Ipv4Addr {
        Ipv4Addr::from((u32::from(tier(switch)) + 1) << 24 | device_bits(switch))
    }

    /// Returns the autonomous system number of a switch: one for each T0, one for all T1s of a plane and zone,
    /// one for all T2s of a plane (RFC 7938 section 5.2.2). Fits where the fabric speaks BGP (E0506).
    pub fn asn(&self, switch: Switch) -> u32 {
        let shared = match switch.tier {
            TierId::T0 => switch,
            TierId::T1 | TierId::T2 => Switch { index: 0, ..switch },
        };
        self.pools.asn_base + (u32::from(tier(switch)) << 24 | device_bits(shared))
    }

    /// Returns the MAC address of a switch, which all its ports use.
    pub fn switch_mac(&self, switch: Switch) -> Mac {
        let [high, low] = switch.ordinal().to_be_bytes();
        Mac([0x02, 0xc1, switch.tier.level() << 4 | switch.plane.0, switch.zone.0 as u8, high, low])
    }

    /// Returns the MAC address that a NIC port gets in labs and on targets that set it.
    pub fn nic_mac(&self, port: NicPort) -> Mac {
        let [a, b] = self.place(port.nic.zone, port.nic.group + 1).to_be_bytes();
        let [c, d] = port.nic.ordinal().to_be_bytes();
        Mac([0x02, 0xd0 | port.plane.0, a, b, c, d])
    }
}

fn tier(switch: Switch) -> u16 {
    u16::from(switch.tier.level())
}

fn plane(switch: Switch) -> u16 {
    u16::from(switch.plane.0)
}

/// A T2 has zone 0, so that its index has the zone's bits too.
fn device_bits(switch: Switch) -> u32 {
    u32::from(plane(switch)) << 20 | u32::from(switch.zone.0) << 12 | u32::from(switch.ordinal())
}

/// Sets the hextets below a pool's own bits.
fn with(pool: Ipv6Net, hextets: [u16; 8]) -> Ipv6Addr {
    Ipv6Addr::from(u128::from(pool.network()) | u128::from(Ipv6Addr::from(hextets)))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use closc_topology::{ManagementPort, PlaneId};

    use super::*;

    fn pools() -> Addresses {
        Addresses {
            hosts: "2001:db8:1000::/36".parse().unwrap(),
            links: "2001:db8:f000::/48".parse().unwrap(),
            loopbacks: "2001:db8:ffff::/64".parse().unwrap(),
            management: Some("10.64.0.0/14".parse().unwrap()),
            management_gateway: None,
            management_list: Arc::default(),
            asn_base: 4_200_000_000,
            widths: AddressWidths::default(),
        }
    }

    fn plan(pools: &Addresses) -> AddressPlan<'_> {
        AddressPlan { pools, index_bits: 11 }
    }

    const T0: Switch = Switch { plane: PlaneId(3), tier: TierId::T0, zone: ZoneId(0), index: 0 };

    #[test]
    fn a_listed_management_port_goes_before_the_pool() {
        let (address, gateway) = ("10.20.1.7/24".parse().unwrap(), "10.20.1.1".parse().unwrap());
        let list = [(T0, ManagementPort { address, gateway })].into();
        let pools = Addresses { management_list: Arc::new(list), ..pools() };
        let other = Switch { index: 1, ..T0 };
        assert_eq!(plan(&pools).management(T0), Some(address));
        assert_eq!(plan(&pools).management_gateway(T0), Some(gateway));
        assert_eq!(plan(&pools).management(other).unwrap().to_string(), "10.64.48.2/14");
        assert_eq!(plan(&pools).management_gateway(other).unwrap().to_string(), "10.67.0.1");
        let alone = Addresses { management: None, ..pools };
        assert_eq!(plan(&alone).management(T0), Some(address));
        assert_eq!((plan(&alone).management(other), plan(&alone).management_gateway(other)), (None, None));
    }

    #[test]
    fn a_nic_address_shows_group_and_downlink() {
        let pools = pools();
        let nic = Nic { zone: ZoneId(0), group: 16, downlink: 1 };
        assert_eq!(plan(&pools).nic(nic).to_string(), "2001:db8:1000:11::2");
        assert!(plan(&pools).group(ZoneId(0), 16).contains(&plan(&pools).nic(nic)));
        let zone = plan(&pools).zone(ZoneId(2));
        assert_eq!(zone.to_string(), "2001:db8:1000:2000::/52");
        assert!(zone.contains(&plan(&pools).group(ZoneId(2), 4094)) && pools.hosts.contains(&zone));
    }

    #[test]
    fn stated_widths_move_zone_and_index() {
        let widths = AddressWidths { zone: 7, index: Some(7) };
        let pools = Addresses { widths, management: Some("10.0.0.0/12".parse().unwrap()), ..pools() };
        let plan = AddressPlan { pools: &pools, index_bits: 7 };
        let nic = Nic { zone: ZoneId(127), group: 510, downlink: 1 };
        assert_eq!(plan.nic(nic).to_string(), "2001:db8:1000:ffff::2");
        assert_eq!(plan.nic_of(plan.nic(nic)), Some(nic));
        assert_eq!(plan.zone(ZoneId(127)).to_string(), "2001:db8:1000:fe00::/55");
        assert!(plan.zone(ZoneId(127)).contains(&plan.group(ZoneId(127), 510)));
        let last = Switch { plane: PlaneId(15), zone: ZoneId(127), index: 126, ..T0 };
        assert_eq!(plan.management(last).unwrap().to_string(), "10.3.255.255/12");
        assert_eq!(plan.pool_gateway().unwrap().to_string(), "10.12.0.1");
    }

    /// A T2 of 128 pods is the 4,096th: one more than 12 bits count.
    #[test]
    fn t2s_have_the_bits_of_the_zone_too() {
        let pools = pools();
        let of = |index| Switch { tier: TierId::T2, index, ..T0 };
        assert_eq!(plan(&pools).router_id(of(0)).to_string(), "3.48.0.1");
        assert_eq!(plan(&pools).router_id(of(4_095)).to_string(), "3.48.16.0");
        assert_eq!(plan(&pools).router_id(of(65_534)).to_string(), "3.48.255.255");
    }

    #[test]
    fn both_ends_of_a_cable_share_a_127() {
        let pools = pools();
        let link = Link::Fabric { lower: T0, up: 1 };
        let lower = plan(&pools).link(link, CableEnd::Lower);
        let upper = plan(&pools).link(link, CableEnd::Upper);
        assert_eq!(lower.to_string(), "2001:db8:f000:1300:1:2:0:a");
        assert!(Ipv6Net::new_assert(lower, 127).contains(&upper));
    }

    #[test]
    fn switch_addresses_show_the_coordinate() {
        let pools = pools();
        assert_eq!(plan(&pools).loopback(T0).to_string(), "2001:db8:ffff::3:0:1");
        assert_eq!(plan(&pools).management(T0).unwrap().to_string(), "10.64.48.1/14");
        assert_eq!(plan(&pools).pool_gateway().unwrap().to_string(), "10.67.0.1");
        assert_eq!(plan(&pools).router_id(T0).to_string(), "1.48.0.1");
        assert_eq!(plan(&pools).switch_mac(T0).to_string(), "02:c1:03:00:00:01");
    }

    #[test]
    fn t1s_of_a_plane_share_an_asn_and_t0s_do_not() {
        let pools = pools();
        let t1 = Switch { tier: TierId::T1, ..T0 };
        assert_eq!(plan(&pools).asn(t1), plan(&pools).asn(Switch { index: 7, ..t1 }));
        assert_ne!(plan(&pools).asn(T0), plan(&pools).asn(Switch { index: 7, ..T0 }));
    }
}
