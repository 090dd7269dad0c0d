//! Damage to switches that run EOS: `eos.conf`.

use crate::Mutation;
use crate::base::Base::ChosenEos as Eos;
use crate::common::damage::Damage::{All, Behind, Cut, Exchange, Lost, More, Same, Text, Twice};

const T0: &str = "switches/p0-t0-001/eos.conf";
const T1: &str = "switches/p0-t1-001/eos.conf";

const ZONE: &str = "ipv6 route fd00:c105:1::/52 Ethernet33/1";
const NIC: &str = "ipv6 route fd00:c105:1:1::1/128";

#[rustfmt::skip] // A table: one row a line.
pub(crate) const PORTS: &[Mutation] = &[
    ("configuration of another switch", Eos, T0, Same("switches/p0-t0-002/eos.conf"), "V0104"),
    ("name of another switch", Eos, T0, Text("hostname p0-t0-001", "hostname p0-t0-002"), "V0104"),
    ("a port is shut", Eos, T0, Behind("interface Ethernet33/1\n", "no shutdown", "shutdown"), "V0204"),
    ("a port is not there", Eos, T0, Cut("interface Ethernet33/1\n", "interface Ethernet33/2\n"), "V0204"),
    ("speed of another port", Eos, T0, Behind("interface Ethernet33/1\n", "speed 100g-1", "speed 200g-1"), "V0302"),
    ("speed over other lanes", Eos, T0, Behind("interface Ethernet33/1\n", "speed 100g-1", "speed 100g-2"), "V0305"),
    ("no speed", Eos, T0, Behind("interface Ethernet33/1\n", "   speed 100g-1\n", ""), "V0305"),
    ("small packets only", Eos, T0, Behind("interface Ethernet33/1\n", "mtu 9214", "mtu 1500"), "V0302"),
    ("no error correction", Eos, T0, Behind("interface Ethernet33/1\n", "error-correction", "no error-correction"), "V0103"),
    ("error correction off", Eos, T0, Behind("interface Ethernet33/1\n", "error-correction encoding reed-solomon", "no error-correction encoding"), "V0302"),
    ("a port switches", Eos, T0, Behind("interface Ethernet33/1\n", "no switchport", "switchport"), "V0105"),
    ("a port is in a VRF", Eos, T0, Behind("interface Ethernet33/1\n", "no switchport", "no switchport\n   vrf MGMT"), "V0103"),
    ("description of another port", Eos, T0, Behind("interface Ethernet33/1\n", "description p0-t1-001", "description p0-t1-002"), "V0203"),
    ("no address", Eos, T0, Lost("ipv6 address fd00:c105:2:1000:1:1:0:a/127"), "V0301"),
    ("address of another length", Eos, T0, Text("1000:1:1:0:a/127", "1000:1:1:0:a/64"), "V0301"),
    ("two addresses", Eos, T0, Twice("ipv6 address fd00:c105:2:1000:1:1:0:a/127"), "V0301"),
    ("addresses of two ports exchanged", Eos, T0, Exchange("interface Ethernet33/1", "interface Ethernet33/2"), "V0301"),
    ("loopback of another switch", Eos, T0, All("fd00:c105:3::1/128", "fd00:c105:3::2/128"), "V0401"),
    ("no loopback", Eos, T0, Lost("fd00:c105:3::1/128"), "V0401"),
    ("management address of another switch", Eos, T0, Text("ip address 10.64.0.1/14", "ip address 10.64.0.2/14"), "V0401"),
    ("management gateway outside the subnet", Eos, T0, Text("0.0.0.0/0 10.67.0.1", "0.0.0.0/0 10.80.0.1"), "V0402"),
    ("the VRF of the management port is not made", Eos, T0, Lost("vrf instance MGMT"), "V0103"),
    ("a default route beside the management port", Eos, T0, More("ip route 0.0.0.0/0 10.67.0.1\n"), "V0103"),
    ("no forwarding", Eos, T0, Lost("ipv6 unicast-routing"), "V0105"),
    ("LLDP is off", Eos, T0, More("no lldp run\n"), "V0105"),
    ("a static neighbour", Eos, T0, More("ipv6 neighbor fd00:c105:2:1000:1:1:0:b Ethernet33/1 02c1.1000.0001\n"), "V0103"),
    ("BGP", Eos, T0, More("router bgp 65001\n"), "V0103"),
    ("an access list", Eos, T0, More("ipv6 access-list X\n   deny ipv6 any any\n"), "V0103"),
    ("a route among the site's lines", Eos, T0, More("management ssh\n   ipv6 route ::/0 Ethernet33/1 fd00:c105:2:1000:1:1:0:b\n"), "V1707"),
    ("no route to the zone over an uplink", Eos, T0, Lost(ZONE), "V1710"),
    ("no route to a NIC", Eos, T0, Lost(NIC), "V1702"),
    ("routes to two NICs exchanged", Eos, T0, Exchange("fd00:c105:1:1::1/128", "fd00:c105:1:1::2/128"), "V1701"),
    ("a NIC over an uplink", Eos, T0, Text(NIC, "ipv6 route fd00:c105:1:1::1/128 Ethernet33/1 fd00:c105:2:1000:1:1:0:b\n! "), "V1704"),
    ("a next hop that nobody has", Eos, T0, Behind(ZONE, "1:1:0:b", "1:1:0:d"), "V0603"),
    ("a next hop of another port", Eos, T0, Behind("ipv6 route fd00:c105:1::/52", "Ethernet33/1", "Ethernet33/2"), "V0603"),
    ("no blackhole for the pool", Eos, T0, Lost("fd00:c105:1::/48 Null0"), "V1708"),
    ("a default route", Eos, T0, More("ipv6 route ::/0 Ethernet33/1 fd00:c105:2:1000:1:1:0:b\n"), "V1707"),
    ("no route to a group", Eos, T1, Lost("ipv6 route fd00:c105:1:2::/64"), "V1702"),
    ("two groups exchanged", Eos, T1, Exchange("fd00:c105:1:1::/64", "fd00:c105:1:2::/64"), "V1706"),
];

#[rustfmt::skip] // A table: one row a line.
pub(crate) const QUEUES: &[Mutation] = &[
    ("a port without a profile", Eos, T0, Lost("service-profile"), "V1106"),
    ("no ports trust code points", Eos, T0, All("qos trust dscp", "qos trust cos"), "V1101"),
    ("the profile of another place", Eos, T0, Behind("interface Ethernet33/1\n", "service-profile EDGE-100G", "service-profile FABRIC-100G"), "V0103"),
    ("a code point of another class", Eos, T0, Text("qos map dscp 26 to traffic-class 3", "qos map dscp 26 to traffic-class 5"), "V1101"),
    ("a code point without a class", Eos, T0, Lost("qos map dscp 26"), "V1101"),
    ("a class of another queue", Eos, T0, Text("traffic-class 3 to tx-queue 3", "traffic-class 3 to tx-queue 4"), "V1106"),
    ("a class without a queue", Eos, T0, Lost("traffic-class 5 to tx-queue 5"), "V1106"),
    ("no pauses", Eos, T0, Lost("priority-flow-control on"), "V1102"),
    ("pauses of another priority", Eos, T0, Text("priority 3 no-drop", "priority 4 no-drop"), "V1102"),
    ("pauses of one more priority", Eos, T0, Text("priority 3 no-drop", "priority 3 no-drop\n   priority-flow-control priority 5 no-drop"), "V1102"),
    ("no watchdog", Eos, T0, Lost("pause watchdog\n"), "V1106"),
    ("a watchdog of another time", Eos, T0, Text("timeout 3.2", "timeout 0.2"), "V1106"),
    ("a watchdog that recovers at once", Eos, T0, Text("recovery-time 3.2", "recovery-time 0.1"), "V1106"),
    ("a watchdog that polls at times", Eos, T0, Text("polling-interval auto", "polling-interval 0.5"), "V1106"),
    ("a watchdog of another action", Eos, T0, Text("port action drop", "port action notify-only"), "V1106"),
    ("a strict queue is weighted", Eos, T0, Text("priority strict", "no priority"), "V1106"),
    ("a weighted queue is strict", Eos, T0, Text("no priority", "priority strict"), "V1106"),
    ("another share of the port", Eos, T0, Text("bandwidth percent 10", "bandwidth percent 40"), "V1106"),
    ("a share that is not for sure", Eos, T0, Text("bandwidth guaranteed percent 90", "bandwidth percent 90"), "V1106"),
    ("no marks", Eos, T0, Lost("random-detect ecn minimum"), "V1106"),
    ("marks from another depth", Eos, T0, Text("minimum-threshold ", "minimum-threshold 1"), "V1106"),
    ("marks of another unit", Eos, T0, Text(" bytes maximum", " segments maximum"), "V0103"),
    ("marks averaged over time", Eos, T0, Text("weight 0", "weight 9"), "V0103"),
    ("other marks for sure", Eos, T0, Text("max-mark-probability 20", "max-mark-probability 90"), "V1106"),
    ("marks that are not counted", Eos, T0, Lost("random-detect ecn count"), "V1106"),
    ("queues of another chip", Eos, T0, Text("uc-tx-queue 3", "tx-queue 3"), "V0103"),
    ("shares that are not used", Eos, T0, Lost("profile FABRIC apply"), "V1106"),
    ("shares of another name", Eos, T0, Text("profile FABRIC apply", "profile OTHER apply"), "V0103"),
    ("another share of a group", Eos, T0, Text("priority-group 3 threshold 1", "priority-group 3 threshold 1/8"), "V1106"),
    ("another share of a queue", Eos, T0, Text("queue 0 threshold 8", "queue 0 threshold 1/2"), "V1106"),
    ("no headroom", Eos, T0, Lost("ingress headroom"), "V1102"),
    ("little headroom", Eos, T0, Text("ingress headroom bytes ", "ingress headroom bytes 1 !"), "V0103"),
    ("a small pool of headroom", Eos, T0, Text("headroom-pool limit bytes ", "headroom-pool limit bytes 1"), "V1106"),
];
