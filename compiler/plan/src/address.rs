//! Every address, as a function of a coordinate.
//!
//! In: a coordinate and the pools of the topology. Out: one address. Invariants: fields have fixed positions that do
//! not depend on the current counts. Most have a hextet of their own for readability. Two coordinates never give the
//! same address. The table shows the IPv6 layouts after the prefix of the pool. Those of IPv4 are in [`Ipv4Widths`]:
//!
//! | address | bits |
//! |---|---|
//! | NIC | hextet 4 = zone (4 bits), group from 1 (12), or other [widths](AddressWidths); hextet 8 = downlink from 1 |
//! | cable | hextet 4 = kind (4), plane (4), zone (8); hextet 5 = lower switch from 1 (of a NIC cable: its T0); hextet 6 = its port from 1; hextet 8 = `a` at the lower end, `b` at the upper: a /127 (RFC 6164) |
//! | loopback | hextet 5 = tier, 6 = plane, 7 = zone, 8 = index from 1 |
//! | management | IPv6 as loopback; IPv4: tier (2 bits), plane (4), zone and index (12, or other widths), if the pool leaves so many bits |
//! | ASN, router id | tier, plane (4 bits), zone (8), index from 1 (12); of a T2: index (20) |
//! | MAC | `02:c1` tier and plane, zone, index; `02:dP` plane P, zone and group as of the NIC, downlink |

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use closc_artefacts::{Address, Family, Prefix};
use closc_topology::{
    AddressWidths, Addresses, Ipv4Widths, Link, Nic, NicPort, PlaneId, Switch, TierId, Topology, ZoneId,
};
use ipnet::IpNet;

use crate::mac::Mac;

/// The addresses of a fabric.
#[derive(Debug, Clone, Copy)]
pub struct AddressPlan<'a> {
    pools: &'a Addresses,
    /// Bits of an index in an IPv4 management address.
    index_bits: u8,
    widths: Ipv4Widths,
    /// The place of each uplink of a T0 on its panel, if it differs from the number of the uplink. The address of a
    /// cable depends on the place, so growth that changes the numbers does not change the address.
    places: Option<&'a [u16]>,
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

    fn bit(self) -> u32 {
        match self {
            CableEnd::Lower => 0,
            CableEnd::Upper => 1,
        }
    }
}

/// The coordinates in the address of a cable.
struct CablePlace {
    /// 0 between a NIC and a T0, 1 above a T0, 2 above a T1.
    kind: u16,
    plane: PlaneId,
    zone: ZoneId,
    /// The lower switch, from 0; for the cable of a NIC, its T0.
    device: u16,
    /// Place of the uplink on that switch, from 0; for the cable of a NIC, its downlink.
    port: u16,
}

impl CablePlace {
    fn of(link: Link, places: Option<&[u16]>) -> Self {
        let place = |tier, up: u16| {
            let places = places.filter(|_| tier == TierId::T0);
            places.and_then(|places| places.get(usize::from(up)).copied()).unwrap_or(up)
        };
        match link {
            Link::Host(NicPort { plane, nic }) => {
                CablePlace { kind: 0, plane, zone: nic.zone, device: nic.group, port: nic.downlink }
            }
            Link::Fabric { lower, up } => CablePlace {
                kind: u16::from(lower.tier.level()) + 1,
                plane: lower.plane,
                zone: lower.zone,
                device: lower.index,
                port: place(lower.tier, up),
            },
        }
    }
}

impl<'a> AddressPlan<'a> {
    /// Creates the address plan of a topology.
    pub fn new(topology: &'a Topology) -> Self {
        let pools = &topology.addresses;
        AddressPlan {
            pools,
            index_bits: pools.widths.index.unwrap_or(topology.srv6.layout.index_bits),
            widths: topology.ipv4_widths(),
            places: topology.uplink_places(),
        }
    }

    /// Returns whether elements that exist in two fabrics have the same addresses in both, because pools and
    /// positions of coordinates are equal.
    pub fn has_rule_of(&self, other: &AddressPlan<'_>) -> bool {
        let own = |plan: &AddressPlan<'_>| plan.widths.places().map(|(_, bits)| bits);
        let is_v4 = |plan: &AddressPlan<'_>| {
            let pools = [plan.pools.hosts, plan.pools.links, plan.pools.loopbacks];
            let management = matches!(plan.pools.management, Some(IpNet::V4(_)));
            management || pools.map(Prefix::family).contains(&Family::V4)
        };
        self.pools == other.pools
            && self.index_bits == other.index_bits
            && self.places == other.places
            && (own(self) == own(other) || !is_v4(self))
    }

    /// Returns the bits of a switch's index in IPv4 management addresses.
    pub fn index_bits(&self) -> u8 {
        self.index_bits
    }

    /// Returns the inner address of a NIC, the same in every plane.
    pub fn nic(&self, nic: Nic) -> Address {
        let pool = self.pools.hosts;
        match pool.family() {
            Family::V6 => {
                let group = self.place(nic.zone, nic.group + 1);
                with(pool, [0, 0, 0, group, 0, 0, 0, nic.ordinal()])
            }
            Family::V4 => {
                let number = u32::from(nic.group) << self.widths.downlink | u32::from(nic.ordinal());
                set_host_bits(pool, Ipv4Widths::place(nic.zone.0, number, host_bits(pool)))
            }
        }
    }

    /// Returns the NIC whose address this is, even if the fabric is too small to have it; `None` if it is not the
    /// IPv6 address of a NIC.
    pub fn nic_of(&self, address: Ipv6Addr) -> Option<Nic> {
        let (own, pool) = (address.segments(), self.pools.hosts.network().segments());
        let place = u32::from(own[3].checked_sub(pool[3])?);
        let (zone, group) = (place >> self.pools.widths.group(), place & self.pools.widths.groups_max());
        let (zone, group) = (u16::try_from(zone).ok()?, u16::try_from(group).ok()?.checked_sub(1)?);
        let nic = Nic { zone: ZoneId(zone), group, downlink: own[7].checked_sub(1)? };
        (self.nic(nic) == address.into()).then_some(nic)
    }

    /// Returns the prefix of all NICs of a T0 group.
    pub fn group(&self, zone: ZoneId, group: u16) -> Prefix {
        let pool = self.pools.hosts;
        let base = match pool.family() {
            Family::V6 => with(pool, [0, 0, 0, self.place(zone, group + 1), 0, 0, 0, 0]),
            Family::V4 => {
                let number = u32::from(group) << self.widths.downlink;
                set_host_bits(pool, Ipv4Widths::place(zone.0, number, host_bits(pool)))
            }
        };
        Prefix::new_assert(base, self.group_length())
    }

    /// Returns the prefix length of a T0 group; for IPv4, that of the mapped addresses.
    pub fn group_length(&self) -> u8 {
        match self.pools.hosts.family() {
            Family::V6 => 64,
            Family::V4 => 128 - self.widths.downlink,
        }
    }

    /// Returns the prefix of all NICs of a zone.
    pub fn zone(&self, zone: ZoneId) -> Prefix {
        let pool = self.pools.hosts;
        match pool.family() {
            Family::V6 => {
                let base = with(pool, [0, 0, 0, self.place(zone, 0), 0, 0, 0, 0]);
                Prefix::new_assert(base, 48 + self.pools.widths.zone)
            }
            Family::V4 => {
                let base = set_host_bits(pool, Ipv4Widths::place(zone.0, 0, host_bits(pool)));
                Prefix::new_assert(base, pool.prefix_len() + self.widths.zone_of_nics(host_bits(pool)))
            }
        }
    }

    /// Returns the hextet with the zone and the group. `ordinal` is the number of the group from 1.
    fn place(&self, zone: ZoneId, ordinal: u16) -> u16 {
        zone.0 << self.pools.widths.group() | ordinal
    }

    /// Returns the prefix of all NICs of the fabric.
    pub fn hosts(&self) -> Prefix {
        self.pools.hosts
    }

    /// Returns the prefix of all loopbacks of the fabric.
    pub fn loopbacks(&self) -> Prefix {
        self.pools.loopbacks
    }

    /// Returns the address of one end of a cable.
    pub fn link(&self, link: Link, end: CableEnd) -> Address {
        let CablePlace { kind, plane, zone, device, port } = CablePlace::of(link, self.places);
        let pool = self.pools.links;
        match pool.family() {
            Family::V6 => {
                let place = kind << 12 | u16::from(plane.0) << 8 | zone.0;
                with(pool, [0, 0, 0, place, device + 1, port + 1, 0, end.hextet()])
            }
            Family::V4 => {
                let [t0, t1] = self.widths.uplinks;
                let port_bits = [self.widths.downlink, t0, t1][usize::from(kind)];
                let number = u32::from(device) << port_bits | u32::from(port);
                let cables = host_bits(pool) - 1;
                let place = Ipv4Widths::place(zone.0, number, self.widths.position(cables));
                let cable = self.widths.upper_bits(kind.into(), plane.0, cables) | place;
                set_host_bits(pool, cable << 1 | end.bit())
            }
        }
    }

    /// Returns the prefix of the cables of all NIC ports in a plane.
    pub fn nic_ports(&self, plane: PlaneId) -> Prefix {
        let pool = self.pools.links;
        match pool.family() {
            Family::V6 => {
                let place = u16::from(plane.0) << 8;
                Prefix::new_assert(with(pool, [0, 0, 0, place, 0, 0, 0, 0]), 56)
            }
            Family::V4 => {
                let base = set_host_bits(pool, self.widths.upper_bits(0, plane.0, host_bits(pool)));
                Prefix::new_assert(base, 128 - self.widths.position(host_bits(pool)))
            }
        }
    }

    /// Prefix length of a cable's subnet: 127, which is 31 for mapped IPv4 addresses.
    pub const LINK_PREFIX: u8 = 127;

    /// Returns the loopback of a switch.
    pub fn loopback(&self, switch: Switch) -> Address {
        let pool = self.pools.loopbacks;
        match pool.family() {
            Family::V6 => {
                let hextets = [0, 0, 0, 0, tier(switch), plane(switch), switch.zone.0, switch.ordinal()];
                with(pool, hextets)
            }
            Family::V4 => set_host_bits(pool, self.switch_bits(switch, host_bits(pool))),
        }
    }

    /// Returns the bits of an IPv4 address that identify a switch, `width` bits wide.
    fn switch_bits(&self, switch: Switch, width: u8) -> u32 {
        let place = Ipv4Widths::place(switch.zone.0, switch.ordinal().into(), self.widths.position(width));
        self.widths.upper_bits(tier(switch).into(), switch.plane.0, width) | place
    }

    /// Returns the management address of a switch with the length of its subnet: the listed one, otherwise one of the
    /// pool, if there is a pool.
    pub fn management(&self, switch: Switch) -> Option<IpNet> {
        if let Some(listed) = self.pools.management_list.get(&switch) {
            return Some(listed.address);
        }
        let pool = self.pools.management?;
        let address = match pool {
            IpNet::V6(pool) => {
                let hextets = [0, 0, 0, 0, tier(switch), plane(switch), switch.zone.0, switch.ordinal()];
                with(pool.into(), hextets)
            }
            IpNet::V4(pool) => {
                let (bits, device_bits) = (32 - pool.prefix_len(), self.pools.widths.device());
                let place = if bits < AddressWidths::POSITION + device_bits {
                    self.switch_bits(switch, bits)
                } else {
                    let device = u32::from(switch.zone.0) << self.index_bits | u32::from(switch.ordinal());
                    (u32::from(tier(switch)) << 4 | u32::from(plane(switch))) << device_bits | device
                };
                set_host_bits(pool.into(), place)
            }
        };
        Some(IpNet::new_assert(address.ip(), pool.prefix_len()))
    }

    /// Returns the gateway of a switch's management address, if it has one.
    pub fn management_gateway(&self, switch: Switch) -> Option<IpAddr> {
        let listed = self.pools.management_list.get(&switch).map(|listed| listed.gateway);
        listed.or_else(|| self.pool_gateway())
    }

    /// Returns the gateway of the pool of management addresses, if there is a pool.
    pub fn pool_gateway(&self) -> Option<IpAddr> {
        let pool = self.pools.management?;
        Some(self.pools.management_gateway.unwrap_or_else(|| match pool {
            IpNet::V6(pool) => with(pool.into(), [0, 0, 0, 0, 3, 0, 0, 1]).ip(),
            IpNet::V4(pool) => {
                let fixed = AddressWidths::POSITION + self.pools.widths.device();
                let bits = (32 - pool.prefix_len()).min(fixed);
                let behind_switches = 3 << (bits - 2);
                let gateway = set_host_bits(pool.into(), behind_switches | 1).ip();
                // In a /29, that is the broadcast address.
                if gateway == pool.broadcast() {
                    set_host_bits(pool.into(), behind_switches).ip()
                } else {
                    gateway
                }
            }
        }))
    }

    /// Returns the router id of a switch: never 0.0.0.0, unique in the fabric. Valid only if the fabric uses BGP
    /// (E0504).
    pub fn router_id(&self, switch: Switch) -> Ipv4Addr {
        Ipv4Addr::from((u32::from(tier(switch)) + 1) << 24 | device_bits(switch))
    }

    /// Returns the autonomous system number of a switch. Each T0 has its own; all T1s of a plane and zone share one,
    /// and so do all T2s of a plane (RFC 7938 section 5.2.2). Valid only if the fabric uses BGP (E0506).
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

/// Returns the bits of plane, zone and index. A T2 has zone 0, so its index also uses the bits of the zone.
fn device_bits(switch: Switch) -> u32 {
    u32::from(plane(switch)) << 20 | u32::from(switch.zone.0) << 12 | u32::from(switch.ordinal())
}

/// Sets the hextets after the prefix of a pool.
fn with(pool: Prefix, hextets: [u16; 8]) -> Address {
    Address::from(u128::from(pool.network()) | u128::from(Ipv6Addr::from(hextets)))
}

/// Sets the bits after the prefix of an IPv4 pool.
fn set_host_bits(pool: Prefix, place: u32) -> Address {
    Address::from(u128::from(pool.network()) | u128::from(place))
}

/// Returns the number of bits after the prefix of an IPv4 pool.
fn host_bits(pool: Prefix) -> u8 {
    128 - pool.prefix_len()
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
        let widths = Ipv4Widths {
            plane: 2,
            zone: 1,
            group: 4,
            switch: 5,
            downlink: 6,
            uplinks: [5, 4],
            below_zone: 0,
        };
        AddressPlan { pools, index_bits: 11, widths, places: None }
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

    /// The gateway is a host address after those of the switches, also in the smallest pools.
    #[test]
    fn the_default_gateway_is_a_host_address() {
        for (pool, gateway) in
            [("10.7.0.0/29", "10.7.0.6"), ("10.7.0.0/28", "10.7.0.13"), ("10.7.0.0/27", "10.7.0.25")]
        {
            let pools = Addresses { management: Some(pool.parse().unwrap()), ..pools() };
            assert_eq!(plan(&pools).pool_gateway().unwrap().to_string(), gateway);
        }
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
        let widths = AddressWidths { zone: 7, index: Some(7), ..AddressWidths::default() };
        let pools = Addresses { widths, management: Some("10.0.0.0/12".parse().unwrap()), ..pools() };
        let plan = AddressPlan { index_bits: 7, ..plan(&pools) };
        let nic = Nic { zone: ZoneId(127), group: 510, downlink: 1 };
        assert_eq!(plan.nic(nic).to_string(), "2001:db8:1000:ffff::2");
        assert_eq!(plan.nic_of(plan.nic(nic).to_ipv6()), Some(nic));
        assert_eq!(plan.zone(ZoneId(127)).to_string(), "2001:db8:1000:fe00::/55");
        assert!(plan.zone(ZoneId(127)).contains(&plan.group(ZoneId(127), 510)));
        let last = Switch { plane: PlaneId(15), zone: ZoneId(127), index: 126, ..T0 };
        assert_eq!(plan.management(last).unwrap().to_string(), "10.3.255.255/12");
        assert_eq!(plan.pool_gateway().unwrap().to_string(), "10.12.0.1");
    }

    /// The T2 with index 4,095 has number 4,096, which needs 13 bits.
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
        assert!(Prefix::new_assert(lower, 127).contains(&upper));
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

    #[test]
    fn ipv4_addresses_show_the_coordinate() {
        let pools = Addresses {
            hosts: "10.0.0.0/8".parse().unwrap(),
            links: "100.64.0.0/10".parse().unwrap(),
            loopbacks: "192.168.0.0/16".parse().unwrap(),
            management: Some("10.0.0.0/22".parse().unwrap()),
            ..pools()
        };
        let plan = plan(&pools);
        let nic = Nic { zone: ZoneId(1), group: 3, downlink: 1 };
        assert_eq!(plan.nic(nic).to_string(), "10.128.0.194");
        assert_eq!(plan.group(ZoneId(1), 3).to_string(), "10.128.0.192/26");
        assert_eq!(plan.zone(ZoneId(1)).to_string(), "10.128.0.0/12");
        assert!(
            plan.zone(ZoneId(1)).contains(&plan.nic(nic)) && !plan.zone(ZoneId(0)).contains(&plan.nic(nic))
        );
        assert_eq!(plan.loopback(T0).to_string(), "192.168.48.1");
        assert_eq!(plan.management(T0).unwrap().to_string(), "10.0.0.193/22");
        assert_eq!(plan.pool_gateway().unwrap().to_string(), "10.0.3.1");
        let link = Link::Fabric { lower: T0, up: 1 };
        let [lower, upper] = [CableEnd::Lower, CableEnd::Upper].map(|end| plan.link(link, end));
        assert_eq!((lower.to_string(), upper.to_string()), ("100.92.0.2".into(), "100.92.0.3".into()));
        let port = Link::Host(NicPort { plane: PlaneId(3), nic });
        assert!(plan.nic_ports(PlaneId(3)).contains(&plan.link(port, CableEnd::Upper)));
    }
}
