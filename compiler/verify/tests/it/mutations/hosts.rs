//! Damage to nodes: ports, first segments, decapsulation, routes to other nodes.

use crate::base::Base::{Linux, P4};
use crate::common::damage::Damage::{All, Behind, Cut, Exchange, Gone, Lost, More, Same, Text};
use crate::mutations::Mutation;

const NODE: &str = "hosts/su001-n001/ip.batch";
const ROUTES: &str = "hosts/su001-n001/routes.batch";
const SETTINGS: &str = "hosts/su001-n001/sysctl.conf";
const DEVICES: &str = "hosts/su001-n001/devices.batch";

#[rustfmt::skip] // A table: one row per line.
pub(crate) const NODES: &[Mutation] = &[
    ("first segments of two planes exchanged", Linux, NODE, Exchange("fcbb:bbbb:1::/48", "fcbb:bbbb:801::/48"), "V1301"),
    ("first segment over the port of another plane", Linux, NODE, Behind("replace fcbb:bbbb:1::/48", "nic0p0", "nic0p1"), "V1301"),
    ("first segment by another next hop", Linux, NODE, Behind("replace fcbb:bbbb:1::/48", "1:1:0:b", "1:1:0:d"), "V1301"),
    ("first segment of another T0", Linux, NODE, Text("replace fcbb:bbbb:1::/48 via", "replace fcbb:bbbb:2::/48 via"), "V1301"),
    ("no way to a T0", Linux, NODE, Lost("replace fcbb:bbbb:1::/48 via"), "V1301"),
    ("a way too many", Linux, NODE, More("route replace fcbb:bbbb:7::/48 via fd00:c105:2:0:1:1:0:b dev nic0p0\n"), "V1301"),
    ("two ways at once", Linux, NODE, Text("replace fcbb:bbbb:1::/48 via", "replace fcbb:bbbb:1::/48 via fd00:c105:2:100:1:1:0:b dev nic0p1 via"), "V0102"),
    ("default route", Linux, NODE, More("route replace default via fd00:c105:2:0:1:1:0:b dev nic0p0\n"), "V1301"),
    ("no blackhole", Linux, NODE, Lost("route replace blackhole"), "V1301"),
    ("blackhole of another block", Linux, NODE, Text("blackhole fcbb:bbbb::/32", "blackhole fcbb:bbbc::/32"), "V1301"),
    ("a segment is not decapsulated", Linux, NODE, Lost("replace fcbb:bbbb:8001::/48"), "V1302"),
    ("segment of another NIC", Linux, NODE, Text("replace fcbb:bbbb:8001::/48", "replace fcbb:bbbb:8002::/48"), "V1302"),
    ("segment of another plane", Linux, NODE, Text("replace fcbb:bbbb:8001::/48", "replace fcbb:bbbb:9001::/48"), "V1302"),
    ("a segment too many", Linux, NODE, More("route replace fcbb:bbbb:8009::/48 encap seg6local action End.DT6 table 255 count dev sr0\n"), "V1302"),
    ("decapsulated into the main table", Linux, NODE, Text("End.DT6 table 255", "End.DT6 table 254"), "V1302"),
    ("shifted instead of decapsulated", Linux, NODE, Text("End.DT6 table 255", "End flavors next-csid lblen 32 nflen 16"), "V1302"),
    ("segment bound to a port", Linux, NODE, Text("table 255 count dev sr0", "table 255 count dev nic0p0"), "V1302"),
    ("no inner address", Linux, NODE, Lost("address replace fd00:c105:1:1::1/128"), "V1302"),
    ("inner address of another NIC", Linux, NODE, Text("address replace fd00:c105:1:1::1/128", "address replace fd00:c105:1:1::2/128"), "V1302"),
    ("inner address of another length", Linux, NODE, Text("fd00:c105:1:1::1/128", "fd00:c105:1:1::1/64"), "V1302"),
    ("outer source of another NIC", Linux, NODE, Text("tunsrc set fd00:c105:1:1::1", "tunsrc set fd00:c105:1:1::2"), "V1302"),
    ("no outer source", Linux, NODE, Lost("sr tunsrc"), "V1302"),
    ("a port is off", Linux, NODE, Lost("link set dev nic0p0 up"), "V0204"),
    ("a port too many", Linux, NODE, More("link set dev nic9p0 up\n"), "V0204"),
    ("small packets only", Linux, NODE, Behind("dev nic0p0", "mtu 9216", "mtu 1500"), "V0302"),
    ("no MAC address where the T0 expects one", Linux, NODE, Text(" address 02:d0:00:01:00:01", ""), "V0304"),
    ("MAC address that the T0 does not expect", Linux, NODE, Text("02:d0:00:01:00:01", "02:d0:00:01:00:99"), "V0304"),
    ("no address", Linux, NODE, Lost("address replace fd00:c105:2:0:1:1:0:a/127"), "V0301"),
    ("address of another length", Linux, NODE, Text("1:1:0:a/127", "1:1:0:a/64"), "V0301"),
    ("addresses of two ports exchanged", Linux, NODE, Exchange("a/127 dev nic0p0", "a/127 dev nic0p1"), "V0301"),
    ("no static neighbour", Linux, NODE, Lost("neighbour replace fd00:c105:2:0:1:1:0:b"), "V0304"),
    ("static neighbour of another switch", Linux, NODE, Text("lladdr 02:c1:00:00:00:01", "lladdr 02:c1:01:00:00:01"), "V0304"),
    ("files of another node", Linux, NODE, Same("hosts/su001-n002/ip.batch"), "V1302"),
    ("an unknown word", Linux, NODE, More("maddress add 33:33:00:00:00:01 dev nic0p0\n"), "V0102"),
    ("the node forwards", Linux, SETTINGS, Text("all.forwarding = 0", "all.forwarding = 1"), "V0105"),
    ("no IPv6", Linux, SETTINGS, Text("all.disable_ipv6 = 0", "all.disable_ipv6 = 1"), "V0105"),
    ("groups hash addresses only", Linux, SETTINGS, Text("fib_multipath_hash_policy = 1", "fib_multipath_hash_policy = 0"), "V0105"),
    ("the outer flow label is another", Linux, SETTINGS, Text("seg6_flowlabel = 0", "seg6_flowlabel = 1"), "V0105"),
    ("the segments' device is not made", Linux, DEVICES, Lost("link add"), "V0105"),
    ("a node of a P4 fabric sends from another address", P4, NODE, All("fd00:c105:1:1::1", "fd00:c105:1:1::7"), "V1302"),
    ("a second static neighbour", Linux, NODE, More("neighbour replace fd00:c105:2:0:1:1:0:f lladdr 02:c1:00:00:00:01 dev nic0p0 nud permanent\n"), "V0304"),
    ("the last of two static neighbours is wrong", Linux, NODE, More("neighbour replace fd00:c105:2:0:1:1:0:b lladdr 02:00:00:00:00:01 dev nic0p0 nud permanent\n"), "V0304"),
    ("the last of two first segments is wrong", Linux, NODE, More("route replace fcbb:bbbb:1::/48 via fd00:c105:2:100:1:1:0:b dev nic0p1\n"), "V1301"),
    ("the address of a NIC of another node besides", Linux, NODE, More("address replace fd00:c105:1:2::1/128 dev sr0 nodad\n"), "V1302"),
    ("the outer source is set again", Linux, NODE, More("sr tunsrc set fd00:c105:1:2::1\n"), "V1302"),
];

#[rustfmt::skip] // A table: one row per line.
pub(crate) const SPRAYS: &[Mutation] = &[
    ("a path over another T1 of the other plane", Linux, ROUTES, Text("fcbb:bbbb:1:4002:2:8001::", "fcbb:bbbb:1:4802:2:8001::"), "V1303"),
    ("a path to another group", Linux, ROUTES, Text("fcbb:bbbb:1:4002:2:8001::", "fcbb:bbbb:1:4002:3:8001::"), "V1303"),
    ("a path to another NIC", Linux, ROUTES, Text("fcbb:bbbb:1:4002:2:8001::", "fcbb:bbbb:1:4002:2:8002::"), "V1303"),
    ("a path over a T1 that is not there", Linux, ROUTES, Text("fcbb:bbbb:1:4002:2:8001::", "fcbb:bbbb:1:4009:2:8001::"), "V1303"),
    ("a path without its first segment", Linux, ROUTES, Text("fcbb:bbbb:1:4002:2:8001::", "fcbb:bbbb:4002:2:8001::"), "V1303"),
    ("a path with a segment behind its end", Linux, ROUTES, Text("fcbb:bbbb:1:4002:2:8001::", "fcbb:bbbb:1:4002:2:8001:1::"), "V1303"),
    ("a path out of the port of another plane", Linux, ROUTES, Behind("fcbb:bbbb:1:4002:2:8001::", "dev nic0p0", "dev nic0p1"), "V1303"),
    ("a path by another next hop", Linux, ROUTES, Behind("fcbb:bbbb:1:4002:2:8001::", "1:1:0:b", "1:1:0:d"), "V1303"),
    ("a plane is left out", Linux, ROUTES, Text("group 2101249/2101250/2101505/2101506", "group 2101249/2101250"), "V1303"),
    ("a plane has three paths of four", Linux, ROUTES, Text("group 2101249/2101250/2101505/2101506", "group 2101249/2101250/2101505"), "V1303"),
    ("a path weighs more", Linux, ROUTES, Text("group 2101249/2101250/2101505/2101506", "group 2101249,9/2101250/2101505/2101506"), "V1303"),
    ("a path is used twice and another never", Linux, ROUTES, Text("group 2101249/2101250/", "group 2101249/2101249/"), "V1303"),
    ("a member that is not there", Linux, ROUTES, Text("group 2101249/", "group 9999/"), "V0102"),
    ("a group that is not there", Linux, ROUTES, Text("nhid 2101248", "nhid 9999"), "V0102"),
    ("groups of two destinations exchanged", Linux, ROUTES, Exchange("nhid 2101248", "nhid 2105344"), "V0102"),
    ("no route to a NIC", Linux, ROUTES, Lost("nhid 2101248 src"), "V1303"),
    ("a route to more than a NIC", Linux, ROUTES, Text("fd00:c105:1:2::1/128", "fd00:c105:1:2::/64"), "V1303"),
    ("a source of another NIC", Linux, ROUTES, Text("nhid 2101248 src fd00:c105:1:1::1", "nhid 2101248 src fd00:c105:1:1::2"), "V1303"),
    ("packets that do not fit with the outer header", Linux, ROUTES, Behind("nhid 2101248", "mtu 9000", "mtu 9216"), "V1303"),
    ("inserted instead of encapsulated", Linux, ROUTES, Text("mode encap.red", "mode inline"), "V0102"),
    ("half of the routes", Linux, ROUTES, Cut("# su002-n001/nic0", "# su002-n002/nic0"), "V1303"),
    ("no routes", Linux, ROUTES, Gone, "V1303"),
    ("a path becomes another behind its group", Linux, ROUTES, More("nexthop replace id 2101249 encap seg6 mode encap.red segs fcbb:bbbb:1:4009:2:8001:: via fd00:c105:2:0:1:1:0:b dev nic0p0\n"), "V1303"),
    ("a group becomes another behind its route", Linux, ROUTES, More("nexthop replace id 2101248 group 2101249\n"), "V1303"),
];
