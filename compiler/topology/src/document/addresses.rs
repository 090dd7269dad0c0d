//! `addresses` and `services`: pools and servers.

use std::net::IpAddr;

use closc_artefacts::Prefix;
use ipnet::IpNet;
use smol_str::SmolStr;

use crate::read::{PrefixText, Spanned, document};

document! {
    /// Address pools. An address consists of its pool and coordinates at fixed bit positions, so growth renumbers
    /// nothing.
    #[derive(Default)]
    pub struct AddressesDoc as "Addresses" {
        /// Inner addresses of NICs, the same in every plane; IPv4, or IPv6 /48 or shorter. Default: `fd00:c105:1::/48`.
        #[schemars(with = "Option<PrefixText>")]
        pub hosts: Option<Spanned<Prefix>> = "hosts" => [ALL],
        /// Addresses of both ends of every cable. The IP version is that of `hosts`. An IPv6 prefix is /48 or shorter.
        /// Default: `fd00:c105:2::/48`, or `100.64.0.0/10` (RFC 6598) for IPv4.
        #[schemars(with = "Option<PrefixText>")]
        pub links: Option<Spanned<Prefix>> = "links" => [ALL],
        /// One address per switch. The IP version is that of `hosts`. An IPv6 prefix is /64 or shorter. Default:
        /// `fd00:c105:3::/64`, or `192.168.0.0/16` for IPv4.
        #[schemars(with = "Option<PrefixText>")]
        pub loopbacks: Option<Spanned<Prefix>> = "loopbacks" => [SWITCHES],
        /// Management ports of switches; IPv4, or IPv6 /64 or shorter. Default: no management addresses.
        #[schemars(with = "Option<PrefixText>")]
        pub management: Option<Spanned<IpNet>> = "management" => [SWITCHES],
        /// A CSV file of single management ports, as a path relative to the folder of the fabric file. Its columns are
        /// `switch`, `address` (with the length of its subnet) and `gateway`. It overrides `management`. Without that
        /// pool every switch needs a line.
        pub management_list: Option<Spanned<SmolStr>> = "management_list" => [SWITCHES],
        /// The gateway of the management network. Default: a fixed address after those reserved for switches, for
        /// example 10.67.0.1 in 10.64.0.0/14.
        pub management_gateway: Option<Spanned<IpAddr>> = "management_gateway" => [SWITCHES],
        /// The first autonomous system number, for BGP. Default: 4200000000 (private, RFC 6996).
        pub asn_base: Option<Spanned<u32>> = "asn_base" => [SWITCHES],
        /// Bits of coordinates in addresses. A change renumbers, so choose widths with room to grow.
        pub widths: Option<AddressWidthsDoc> = "widths" => [ALL],
    }
}

document! {
    /// Bits of coordinates in addresses. With IPv6 they never depend on counts, so growth renumbers nothing. IPv4 pools
    /// are short of bits: unless these fields set more, planes and ports have the bits that today's planes and hardware
    /// need.
    #[derive(Default)]
    pub struct AddressWidthsDoc as "AddressWidths" {
        /// Bits of the zone in NIC addresses. The T0 group has the remaining bits of 16. Default: 4, for 16 zones of
        /// up to 4,095 T0 groups. 7 bits allow 128 zones of up to 511.
        #[schemars(range(min = 1, max = 8))]
        pub zone: Option<Spanned<u8>> = "zone",
        /// Bits of the index of a switch in IPv4 management addresses, below those of the zone. By default, zone and
        /// index share 12 bits, and the index has `srv6.widths.index` of them. If this is set, the index has this number
        /// of bits, and the zone has `zone` bits.
        #[schemars(range(min = 1, max = 16))]
        pub index: Option<Spanned<u8>> = "index",
        /// Bits of the plane in IPv4 addresses of cables and switches. Default: the fewest for `planes`. 4 bits reserve 16
        /// planes.
        #[schemars(range(min = 0, max = 4))]
        pub plane: Option<Spanned<u8>> = "plane",
        /// Bits of a downlink of a T0 in IPv4 addresses of NICs and their cables. Default: enough to number all ports of
        /// the hardware.
        #[schemars(range(min = 1, max = 12))]
        pub t0_downlink: Option<Spanned<u8>> = "t0_downlink",
        /// Bits of an uplink of a T0 in IPv4 addresses of cables. Default: enough to number all ports of the hardware.
        #[schemars(range(min = 1, max = 12))]
        pub t0_uplink: Option<Spanned<u8>> = "t0_uplink",
        /// Bits of an uplink of a T1 in IPv4 addresses of cables. Default: enough to number all ports of the hardware.
        #[schemars(range(min = 1, max = 12))]
        pub t1_uplink: Option<Spanned<u8>> = "t1_uplink",
    }
}

document! {
    /// Servers that all switches use.
    #[derive(Default)]
    pub struct ServicesDoc as "Services" {
        /// Time servers.
        pub ntp: Option<Vec<Spanned<IpAddr>>> = "ntp",
        /// Log servers.
        pub syslog: Option<Vec<Spanned<IpAddr>>> = "syslog",
        /// SNMP identity of switches.
        pub snmp: Option<SnmpDoc> = "snmp",
    }
}

document! {
    /// SNMP identity of switches.
    #[derive(Default)]
    pub struct SnmpDoc as "Snmp" {
        /// Contact person or team.
        pub contact: Option<Spanned<SmolStr>> = "contact",
        /// Location of the fabric.
        pub location: Option<Spanned<SmolStr>> = "location",
    }
}
