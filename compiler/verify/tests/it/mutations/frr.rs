//! Damage to switches that run FRRouting: `frr.conf`, `daemons`, and the other files of these switches.

use crate::base::Base::Frr;
use crate::common::damage::Damage::{All, Behind, Cut, Exchange, Gone, Lost, More, Same, Text, Twice};
use crate::mutations::Mutation;

const T0: &str = "switches/p0-t0-001/frr.conf";
const T1: &str = "switches/p0-t1-001/frr.conf";
const DAEMONS: &str = "switches/p0-t0-001/daemons";
const PORTS: &str = "switches/p0-t0-001/ip.batch";

#[rustfmt::skip] // A table: one row per line.
pub(crate) const CONF: &[Mutation] = &[
    ("routes to two T1s exchanged", Frr, T0, Exchange("route fcbb:bbbb:4001::/48", "route fcbb:bbbb:4002::/48"), "V0605"),
    ("routes to two T0s exchanged", Frr, T1, Exchange("route fcbb:bbbb:1::/48", "route fcbb:bbbb:2::/48"), "V0605"),
    ("route over another port", Frr, T0, Behind("route fcbb:bbbb:4001::/48", "eth501", "eth502"), "V0603"),
    ("next hop without an owner", Frr, T0, Behind("route fcbb:bbbb:4001::/48", "1:1:0:b", "1:1:0:c"), "V0603"),
    ("no route to a T1", Frr, T0, Lost("route fcbb:bbbb:4001::/48"), "V0606"),
    ("no route to a NIC", Frr, T0, Lost("route fcbb:bbbb:8001::/48"), "V0606"),
    ("two next hops for a uSID", Frr, T0, Text("ipv6 route fcbb:bbbb:4002::/48", "ipv6 route fcbb:bbbb:4001::/48"), "V0604"),
    ("default route", Frr, T0, More("ipv6 route ::/0 fd00:c105:2:1000:1:1:0:b eth501\n"), "V0601"),
    ("default route of the other family", Frr, T0, More("ip route 0.0.0.0/0 10.0.0.1\n"), "V0103"),
    ("a wider route", Frr, T0, Text("route fcbb:bbbb:4001::/48", "route fcbb:bbbb:4000::/47"), "V0601"),
    ("a longer route", Frr, T0, Text("route fcbb:bbbb:4001::/48", "route fcbb:bbbb:4001::/64"), "V0601"),
    ("no blackhole", Frr, T0, Lost("fcbb:bbbb::/32 blackhole"), "V0602"),
    ("blackhole of another block", Frr, T0, Text("fcbb:bbbb::/32 blackhole", "fcbb:bbbc::/32 blackhole"), "V0602"),
    ("a route rejects instead of dropping", Frr, T0, Text("/32 blackhole", "/32 reject"), "V0103"),
    ("route for a uSID of plane 1", Frr, T0, Text("route fcbb:bbbb:4001::/48", "route fcbb:bbbb:4801::/48"), "V0605"),
    ("a routing protocol", Frr, T0, More("router bgp 65001\n"), "V0103"),
    ("a route map", Frr, T0, More("route-map X permit 10\n"), "V0103"),
    ("name of another switch", Frr, T0, Text("hostname p0-t0-001", "hostname p0-t0-002"), "V0104"),
    ("configuration of another switch", Frr, T0, Same("switches/p0-t0-002/frr.conf"), "V0104"),
    ("a release that installs no static segment", Frr, T0, Text("frr version 10.5.4", "frr version 10.5.0"), "V0105"),
    ("description of another port", Frr, T0, Text("description p0-t1-001:eth1", "description p0-t1-002:eth1"), "V0203"),
    ("no address", Frr, T0, Lost("ipv6 address fd00:c105:2:1000:1:1:0:a/127"), "V0301"),
    ("address of another length", Frr, T0, Text("1000:1:1:0:a/127", "1000:1:1:0:a/64"), "V0301"),
    ("two addresses", Frr, T0, Twice("ipv6 address fd00:c105:2:1000:1:1:0:a/127"), "V0301"),
    ("addresses of two ports exchanged", Frr, T0, Exchange("interface eth501", "interface eth502"), "V0301"),
    ("address inside the block", Frr, T0, All("fd00:c105:3::1/128", "fcbb:bbbb:3::1/128"), "V0403"),
    ("loopback of another switch", Frr, T0, All("fd00:c105:3::1/128", "fd00:c105:3::2/128"), "V0401"),
    ("no loopback", Frr, T0, Lost("fd00:c105:3::1/128"), "V0401"),
    ("no segment", Frr, T0, Lost("sid fcbb:bbbb:1::/48"), "V0501"),
    ("no locator", Frr, T0, Cut("   locator loc1", "  exit\n  !\n  static-sids"), "V0501"),
    ("a uA", Frr, T0, Text("behavior uN", "behavior uA interface eth501"), "V0501"),
    ("a decapsulating segment", Frr, T0, Text("behavior uN", "behavior uDT6 vrf default"), "V0501"),
    ("locator without uSIDs", Frr, T0, Lost("behavior usid"), "V0501"),
    ("locator of another block length", Frr, T0, Text("block-len 32", "block-len 40"), "V0501"),
    ("locator with function bits", Frr, T0, Text("func-bits 0", "func-bits 16"), "V0501"),
    ("segment outside its locator", Frr, T0, Text("sid fcbb:bbbb:1::/48", "sid fcbb:bbbb:3::/48"), "V0501"),
    ("segment of another switch", Frr, T0, All("fcbb:bbbb:1::/48", "fcbb:bbbb:2::/48"), "V0503"),
    ("segment of another plane", Frr, T0, All("fcbb:bbbb:1::/48", "fcbb:bbbb:801::/48"), "V0502"),
    ("two segments", Frr, T0, Twice("sid fcbb:bbbb:1::/48"), "V0504"),
    ("a policy of segments", Frr, T0, Text("segment-routing\n", "segment-routing\n traffic-eng\n"), "V0103"),
    ("a line that is cut off", Frr, T0, Text("ipv6 route fcbb:bbbb:4001::/48 ", "ipv6 route fcbb:bbbb:4001::/48\n!"), "V0103"),
    ("no configuration", Frr, T0, Gone, "V0104"),
];

#[rustfmt::skip] // A table: one row per line.
pub(crate) const BESIDE: &[Mutation] = &[
    ("BGP runs", Frr, DAEMONS, Text("bgpd=no", "bgpd=yes"), "V0105"),
    ("BGP runs by another command", Frr, DAEMONS, More("export bgpd=yes\n"), "V0105"),
    ("IS-IS runs", Frr, DAEMONS, More("isisd=yes\n"), "V0105"),
    ("a port is not switched on", Frr, PORTS, Lost("link set dev eth501 up"), "V0204"),
    ("a port is not set up", Frr, PORTS, Cut("link set dev eth501 address", "link set dev eth502"), "V0204"),
    ("small packets only", Frr, PORTS, Behind("dev eth501", "mtu 9216", "mtu 1500"), "V0302"),
    ("MAC address of another switch", Frr, PORTS, All("02:c1:00:00:00:01 mtu", "02:c1:00:00:00:02 mtu"), "V0401"),
    ("no static neighbour", Frr, PORTS, Lost("neighbour replace fd00:c105:2:1000:1:1:0:b"), "V0304"),
    ("static neighbour of another switch", Frr, PORTS, Behind("neighbour replace fd00:c105:2:1000:1:1:0:b", "02:c1:10:00:00:01", "02:c1:10:00:00:02"), "V0304"),
    ("routes in two places", Frr, PORTS, More("route replace default via fd00:c105:2:1000:1:1:0:b dev eth501\n"), "V0102"),
    ("the kernel does not forward", Frr, "switches/p0-t0-001/sysctl.conf", Text("all.forwarding = 1", "all.forwarding = 0"), "V0105"),
    ("the segments' device is not made", Frr, "switches/p0-t0-001/devices.batch", Lost("link add"), "V0105"),
];
