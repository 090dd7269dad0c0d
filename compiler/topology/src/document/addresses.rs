//! `addresses` and `services`: pools and servers.

use std::net::IpAddr;

use ipnet::{IpNet, Ipv6Net};
use schemars::JsonSchema;
use smol_str::SmolStr;

use crate::read::{PrefixText, Spanned, mapping};

/// Address pools. Every address is a pool and coordinates at fixed places in it, so growth renumbers nothing.
#[derive(Debug, Clone, Default, JsonSchema)]
#[schemars(rename = "Addresses", deny_unknown_fields)]
pub struct AddressesDoc {
    /// Inner addresses of NICs, the same in every plane; /48 or shorter. Default: `fd00:c105:1::/48`.
    #[schemars(with = "Option<PrefixText>")]
    pub hosts: Option<Spanned<Ipv6Net>>,
    /// Both ends of every cable; /48 or shorter. Default: `fd00:c105:2::/48`.
    #[schemars(with = "Option<PrefixText>")]
    pub links: Option<Spanned<Ipv6Net>>,
    /// One address for each switch; /64 or shorter. Default: `fd00:c105:3::/64`.
    #[schemars(with = "Option<PrefixText>")]
    pub loopbacks: Option<Spanned<Ipv6Net>>,
    /// Management ports of switches; IPv4 /14 or shorter, or IPv6 /64 or shorter. Default: none are generated.
    #[schemars(with = "Option<PrefixText>")]
    pub management: Option<Spanned<IpNet>>,
    /// The gateway of the management network. Default: the first address behind those of the switches.
    pub management_gateway: Option<Spanned<IpAddr>>,
    /// The first autonomous system number, for BGP. Default: 4200000000 (private, RFC 6996).
    pub asn_base: Option<Spanned<u32>>,
}

mapping!(AddressesDoc {
    hosts = "hosts",
    links = "links",
    loopbacks = "loopbacks",
    management = "management",
    management_gateway = "management_gateway",
    asn_base = "asn_base",
});

/// Servers that every switch uses.
#[derive(Debug, Clone, Default, JsonSchema)]
#[schemars(rename = "Services", deny_unknown_fields)]
pub struct ServicesDoc {
    /// Time servers.
    pub ntp: Option<Vec<Spanned<IpAddr>>>,
    /// Log servers.
    pub syslog: Option<Vec<Spanned<IpAddr>>>,
    /// What switches say of themselves by SNMP.
    pub snmp: Option<SnmpDoc>,
}

mapping!(ServicesDoc { ntp = "ntp", syslog = "syslog", snmp = "snmp" });

/// What switches say of themselves by SNMP.
#[derive(Debug, Clone, Default, JsonSchema)]
#[schemars(rename = "Snmp", deny_unknown_fields)]
pub struct SnmpDoc {
    /// Whom to call.
    pub contact: Option<Spanned<SmolStr>>,
    /// Where the fabric stands.
    pub location: Option<Spanned<SmolStr>>,
}

mapping!(SnmpDoc { contact = "contact", location = "location" });
