//! Damage to files for netplan and systemd-networkd.

use crate::base::Base::{ChosenTools, Tools};
use crate::common::damage::Damage::{All, Behind, Cut, Exchange, Gone, Lost, More, Same, Text};
use crate::mutations::Mutation;

const PLAN: &str = "hosts/su001-n001/netplan.yaml";
const PLANS: &str = "hosts/*/netplan.yaml";
const UNIT: &str = "hosts/su001-n001/networkd/50-closc-nic0p0.network";
const UNITS: &str = "hosts/*p0.network";
const LOOPBACK: &str = "hosts/su001-n001/networkd/50-closc-lo.network";
const LINK: &str = "hosts/su001-n001/networkd/50-closc-nic0p0.link";
const DEVICES: &str = "hosts/su001-n001/networkd/60-closc-rdma.rules";

#[rustfmt::skip] // A table: one row per line.
pub(crate) const NETPLAN: &[Mutation] = &[
    ("a lone port of small packets", Tools, PLAN, Text("mtu: 9216", "mtu: 1500"), "V1304"),
    ("small packets everywhere", Tools, PLANS, All("mtu: 9216", "mtu: 1500"), "V1304"),
    ("no MTU anywhere", Tools, PLANS, All("      mtu: 9216\n", ""), "V1304"),
    ("a port with DHCP", Tools, PLAN, Text("dhcp6: false", "dhcp6: true"), "V1304"),
    ("router advertisements everywhere", Tools, PLANS, All("accept-ra: false", "accept-ra: true"), "V1304"),
    ("router advertisements not refused", Tools, PLAN, Lost("accept-ra"), "V1304"),
    ("link-local addresses", Tools, PLAN, Text("link-local: []", "link-local: [ipv6]"), "V1304"),
    ("MAC address that the T0 does not expect", Tools, PLAN, Text("02:d0:00:01:00:01", "02:d0:00:01:00:99"), "V1304"),
    ("no MAC address", Tools, PLAN, Lost("macaddress"), "V1304"),
    ("addresses of two ports exchanged", Tools, PLAN, Exchange("fd00:c105:2:0:1:1:0:a/127", "fd00:c105:2:100:1:1:0:a/127"), "V1304"),
    ("address of another NIC", Tools, PLAN, Text("fd00:c105:1:1::1/128", "fd00:c105:1:1::2/128"), "V1304"),
    ("an address of another length", Tools, PLAN, Text("1:1:0:a/127", "1:1:0:a/64"), "V1304"),
    ("no address of the NIC", Tools, PLAN, Lost("fd00:c105:1:1::1/128"), "V1304"),
    ("an address too many", Tools, PLAN, Text("      addresses:\n", "      addresses:\n        - \"2001:db8::1/64\"\n"), "V1304"),
    ("a port that is not described", Tools, PLAN, Cut("    # p1-t0-001 eth1\n", "    # p0-t0-002 eth1"), "V1304"),
    ("a port too many", Tools, PLAN, More("    nic9p0:\n      mtu: 9216\n"), "V1304"),
    ("another renderer", Tools, PLAN, Text("renderer: networkd", "renderer: NetworkManager"), "V1304"),
    ("first segment of another T0", Tools, PLAN, Text("fcbb:bbbb:1::/48", "fcbb:bbbb:2::/48"), "V1301"),
    ("first segment by another next hop", Tools, PLAN, Text("via: \"fd00:c105:2:0:1:1:0:b\"", "via: \"fd00:c105:2:0:1:2:0:b\""), "V1301"),
    ("no first segment", Tools, PLAN, Lost("fcbb:bbbb:1::/48"), "V1301"),
    ("a default route", Tools, PLAN, Text("        - {to: \"fcbb:bbbb:1::/48\"", "        - {to: default, via: \"fd00:c105:2:0:1:1:0:b\"}\n        - {to: \"fcbb:bbbb:1::/48\""), "V1301"),
    ("no blackhole", Tools, PLAN, Cut("    # If the first switch", "    # p0-t0-001 eth1"), "V1301"),
    ("blackhole of another block", Tools, PLAN, Text("fcbb:bbbb::/32", "fcbb:bbbc::/32"), "V1301"),
    ("a route in a table", Tools, PLAN, Text("metric: 1024}", "metric: 1024, table: 1000}"), "V1305"),
    ("an unknown setting", Tools, PLAN, Text("dhcp4: false", "ignore-carrier: true"), "V0103"),
    ("no YAML", Tools, PLAN, Text("network:", "network: ["), "V0102"),
    ("files of another node", Tools, PLAN, Same("hosts/su001-n002/netplan.yaml"), "V1304"),
    ("no file", Tools, PLAN, Gone, "V0104"),
];

#[rustfmt::skip] // A table: one row per line.
pub(crate) const NETWORKD: &[Mutation] = &[
    ("a lone port of small packets", Tools, UNIT, Text("MTUBytes=9216", "MTUBytes=1500"), "V1304"),
    ("router advertisements everywhere", Tools, UNITS, All("IPv6AcceptRA=no", "IPv6AcceptRA=yes"), "V1304"),
    ("DHCP", Tools, UNIT, Text("DHCP=no", "DHCP=ipv6"), "V1304"),
    ("link-local addresses not refused", Tools, UNIT, Lost("LinkLocalAddressing"), "V1304"),
    ("addresses that wait for others", Tools, UNIT, Lost("DuplicateAddressDetection"), "V1304"),
    ("MAC address that the T0 does not expect", Tools, UNIT, Text("02:d0:00:01:00:01", "02:d0:00:01:00:99"), "V1304"),
    ("address of another port", Tools, UNIT, Text("1:1:0:a/127", "1:2:0:a/127"), "V1304"),
    ("another port", Tools, UNIT, Text("Name=nic0p0", "Name=nic0p1"), "V1304"),
    ("first segment of another T0", Tools, UNIT, Text("fcbb:bbbb:1::/48", "fcbb:bbbb:2::/48"), "V1301"),
    ("first segment by another next hop", Tools, UNIT, Text("Gateway=fd00:c105:2:0:1:1:0:b", "Gateway=fd00:c105:2:0:1:2:0:b"), "V1301"),
    ("a rule of its own", Tools, UNIT, More("[RoutingPolicyRule]\nFrom=fd00:c105:1:1::1\nTable=77\nPriority=5\n"), "V1305"),
    ("no blackhole", Tools, LOOPBACK, Gone, "V1301"),
    ("a blackhole of another type", Tools, LOOPBACK, Text("Type=blackhole", "Type=throw"), "V1301"),
    ("an unknown section", Tools, UNIT, More("[Bridge]\nSTP=yes\n"), "V0103"),
    ("an unknown key", Tools, UNIT, Text("DHCP=no", "DHCP=no\nIPMasquerade=ipv6"), "V0103"),
    ("the name of another port", Tools, LINK, Text("Name=nic0p0", "Name=nic0p1"), "V1304"),
    ("the slot of another port", Tools, LINK, Text("18:00.0", "18:00.1"), "V1304"),
    ("no slot", Tools, LINK, Lost("Path="), "V1304"),
    ("another MTU by name", Tools, LINK, Text("MTUBytes=9216", "MTUBytes=1500"), "V1304"),
    ("an RDMA device with another's name", Tools, DEVICES, Exchange("nic0p0", "nic1p0"), "V1304"),
    ("an RDMA device without a name", Tools, DEVICES, Lost("nic0p0"), "V1304"),
    ("a rule for every network device", Tools, DEVICES, Text("infiniband", "net"), "V0102"),
    ("DHCP in a section of its own", Tools, UNIT, More("[Network]\nDHCP=yes\n"), "V1304"),
    ("a line that swallows the next one", Tools, UNIT, Text("IPv6AcceptRA=no\n", "Description=x \\\nIPv6AcceptRA=no\n"), "V0102"),
    ("a name that swallows the next line", Tools, LINK, Text("Name=nic0p0\n", "Name=nic0p0\\\n"), "V0102"),
    ("every port besides", Tools, UNIT, Text("Name=nic0p0", "Name=nic*\nName=nic0p0"), "V0102"),
];

#[rustfmt::skip] // A table: one row per line.
pub(crate) const CHOSEN: &[Mutation] = &[
    ("a table of another port", ChosenTools, PLAN, All("table: 1001", "table: 1000"), "V1305"),
    ("the main table", ChosenTools, PLAN, All("table: 1000", "table: 254"), "V1305"),
    ("a rule asks another table", ChosenTools, PLAN, Behind("routing-policy", "table: 1000", "table: 1001"), "V1305"),
    ("no rule from the port", ChosenTools, PLAN, Lost("priority: 1000}"), "V1305"),
    ("no rule from the NIC", ChosenTools, PLAN, Lost("priority: 9000}"), "V1305"),
    ("rules behind the main table", ChosenTools, PLAN, Text("priority: 9000", "priority: 40000"), "V1305"),
    ("a rule from another NIC", ChosenTools, PLAN, Behind("routing-policy", "fd00:c105:1:1::1/128", "fd00:c105:1:1::2/128"), "V1305"),
    ("no rule for what is bound to a port", ChosenTools, UNIT, Lost("OutgoingInterface"), "V1305"),
    ("another interface in a rule", ChosenTools, UNIT, Text("OutgoingInterface=nic0p0", "OutgoingInterface=nic1p0"), "V1305"),
    ("a route by another next hop", ChosenTools, PLAN, Text("via: \"fd00:c105:2:0:1:1:0:b\"", "via: \"fd00:c105:2:0:1:2:0:b\""), "V1305"),
    ("a plane is left out", ChosenTools, PLAN, Text("{to: \"fd00:c105:1::/48\", via: \"fd00:c105:2:0:1:1:0:b\", metric: 1024", "{to: \"fd00:c105:1::/48\", type: throw"), "V1712"),
    ("a prefix that no table leads to", ChosenTools, PLAN, Text("{to: \"fd00:c105:1:3::/64\", via: \"fd00:c105:2:0:1:1:0:b\", metric: 1024", "{to: \"fd00:c105:1:3::/64\", type: throw"), "V1305"),
    ("a NIC that is dropped by a table", ChosenTools, UNIT, Text("Gateway=fd00:c105:2:0:1:1:0:b\nMetric=1024", "Type=unreachable"), "V1712"),
    ("NIC address of another NIC", ChosenTools, PLAN, All("fd00:c105:1:1::1/128", "fd00:c105:1:1::7/128"), "V1304"),
];
