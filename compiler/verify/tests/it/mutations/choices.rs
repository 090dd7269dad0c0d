//! Damage to routes, groups and weights of fabrics in which switches choose the path.

use crate::base::Base::{ChosenFrr, ChosenLinux, ChosenP4, ChosenSonic, ChosenZones};
use crate::common::damage::Damage::{All, Behind, Cut, Exchange, Lost, More, Set, Swap, Text, Twice, Unset};
use crate::mutations::Mutation;

const SONIC_T0: &str = "switches/p0-t0-001/config_db.json";
const SONIC_T1: &str = "switches/p0-t1-001/config_db.json";
const FRR_T0: &str = "switches/p0-t0-001/frr.conf";
const FRR_T1: &str = "switches/p0-t1-001/frr.conf";
const LINUX_T0: &str = "switches/p0-t0-001/ip.batch";
const LINUX_T1: &str = "switches/p0-t1-001/ip.batch";
/// The T1 that a drained cable leads to.
const DRAINED_T1: &str = "switches/p0-t1-002/ip.batch";
const P4_T0: &str = "switches/p0-t0-001/entries.txtpb";
const P4_T1: &str = "switches/p0-t1-001/entries.txtpb";
const ZONE_T1: &str = "switches/z0-p0-t1-001/ip.batch";
const ZONE_T2: &str = "switches/p0-t2-001/ip.batch";

const NIC_1: &str = "default|fd00:c105:1:1::1/128";
const NIC_2: &str = "default|fd00:c105:1:1::2/128";
const OWN: &str = "default|fd00:c105:1:1::/64";
const SECOND: &str = "default|fd00:c105:1:2::/64";
const ZONE: &str = "default|fd00:c105:1::/52";
const POOL: &str = "default|fd00:c105:1::/48";
const UP: &str = "{ \"ifname\": \"Ethernet256\", \"nexthop\": \"fd00:c105:2:1000:1:1:0:b\" }";
const DOWN: &str = "{ \"ifname\": \"Ethernet0\", \"nexthop\": \"fd00:c105:2:1000:1:1:0:a\" }";
const DROP: &str = "{ \"blackhole\": \"true\" }";

#[rustfmt::skip] // A table: one row per line.
pub(crate) const SONIC: &[Mutation] = &[
    ("no route to the zone", ChosenSonic, SONIC_T0, Unset(&["STATIC_ROUTE", ZONE]), "V1702"),
    ("no route to a NIC", ChosenSonic, SONIC_T0, Unset(&["STATIC_ROUTE", NIC_1]), "V1702"),
    ("two NICs exchanged", ChosenSonic, SONIC_T0, Swap(&["STATIC_ROUTE", NIC_1], &["STATIC_ROUTE", NIC_2]), "V1701"),
    ("a NIC over the port of another", ChosenSonic, SONIC_T0, Set(&["STATIC_ROUTE", NIC_1], "{ \"ifname\": \"Ethernet1\", \"nexthop\": \"fd00:c105:2:0:1:2:0:a\" }"), "V1703"),
    ("the whole group over the port of a NIC", ChosenSonic, SONIC_T0, Set(&["STATIC_ROUTE", OWN], "{ \"ifname\": \"Ethernet1\", \"nexthop\": \"fd00:c105:2:0:1:2:0:a\" }"), "V1707"),
    ("a NIC over an uplink", ChosenSonic, SONIC_T0, Set(&["STATIC_ROUTE", NIC_1], UP), "V1704"),
    ("no blackhole for the rest of the group", ChosenSonic, SONIC_T0, Unset(&["STATIC_ROUTE", OWN]), "V1704"),
    ("no blackhole for the pool", ChosenSonic, SONIC_T0, Unset(&["STATIC_ROUTE", POOL]), "V1708"),
    ("the pool over an uplink", ChosenSonic, SONIC_T0, Set(&["STATIC_ROUTE", POOL], UP), "V1708"),
    ("a blackhole for another group", ChosenSonic, SONIC_T0, Set(&["STATIC_ROUTE", SECOND], DROP), "V1702"),
    ("a blackhole for a NIC elsewhere", ChosenSonic, SONIC_T0, Set(&["STATIC_ROUTE", "default|fd00:c105:1:2::1/128"], DROP), "V1702"),
    ("one uplink only", ChosenSonic, SONIC_T0, Set(&["STATIC_ROUTE", ZONE], UP), "V1710"),
    ("one uplink only for a group", ChosenSonic, SONIC_T0, Set(&["STATIC_ROUTE", SECOND], UP), "V1710"),
    ("an uplink twice", ChosenSonic, SONIC_T0, Set(&["STATIC_ROUTE", ZONE], "{ \"ifname\": \"Ethernet256,Ethernet257,Ethernet257\", \"nexthop\": \"fd00:c105:2:1000:1:1:0:b,fd00:c105:2:1000:1:2:0:b,fd00:c105:2:1000:1:2:0:b\" }"), "V1709"),
    ("a next hop of another uplink", ChosenSonic, SONIC_T0, Behind(ZONE, "1:1:0:b,", "1:3:0:b,"), "V0603"),
    ("a default route", ChosenSonic, SONIC_T0, Set(&["STATIC_ROUTE", "default|::/0"], UP), "V1707"),
    ("a route out of the pool", ChosenSonic, SONIC_T0, Set(&["STATIC_ROUTE", "default|fd00:c105::/32"], UP), "V1707"),
    ("a route of another VRF", ChosenSonic, SONIC_T0, Set(&["STATIC_ROUTE", "Vrf1|fd00:c105:1:2::/64"], UP), "V0102"),
    ("an unknown field of a route", ChosenSonic, SONIC_T0, Set(&["STATIC_ROUTE", ZONE, "track"], "\"5\""), "V0102"),
    ("an unknown table", ChosenSonic, SONIC_T0, Set(&["BGP_NEIGHBOR"], "{}"), "V0103"),
    ("a hash of something else", ChosenSonic, SONIC_T0, Set(&["SWITCH_HASH", "GLOBAL", "lag_hash"], "[]"), "V0102"),
    ("a hash field that SONiC lacks", ChosenSonic, SONIC_T0, Set(&["SWITCH_HASH", "GLOBAL", "ecmp_hash"], "[\"DST_IP\", \"L4_SRC_PORT\", \"L5_DST_PORT\", \"SRC_IP\"]"), "V0105"),
    ("no route to a group", ChosenSonic, SONIC_T1, Unset(&["STATIC_ROUTE", SECOND]), "V1702"),
    ("two groups exchanged", ChosenSonic, SONIC_T1, Swap(&["STATIC_ROUTE", OWN], &["STATIC_ROUTE", SECOND]), "V1706"),
    ("a group over the T0 of another", ChosenSonic, SONIC_T1, Set(&["STATIC_ROUTE", SECOND], DOWN), "V1706"),
    ("a group over two T0s", ChosenSonic, SONIC_T1, Set(&["STATIC_ROUTE", SECOND], "{ \"ifname\": \"Ethernet0,Ethernet1\", \"nexthop\": \"fd00:c105:2:1000:1:1:0:a,fd00:c105:2:1000:2:1:0:a\" }"), "V1706"),
    ("a NIC over the T0 of another group", ChosenSonic, SONIC_T1, Set(&["STATIC_ROUTE", "default|fd00:c105:1:2::1/128"], DOWN), "V1706"),
    ("a blackhole for a NIC", ChosenSonic, SONIC_T1, Set(&["STATIC_ROUTE", "default|fd00:c105:1:2::1/128"], DROP), "V1702"),
    ("no blackhole for the pool", ChosenSonic, SONIC_T1, Unset(&["STATIC_ROUTE", POOL]), "V1708"),
    ("the rest of the zone over a T0", ChosenSonic, SONIC_T1, Set(&["STATIC_ROUTE", ZONE], DOWN), "V1704"),
    ("a port that is off", ChosenSonic, SONIC_T1, Set(&["PORT", "Ethernet1", "admin_status"], "\"down\""), "V0204"),
];

#[rustfmt::skip] // A table: one row per line.
pub(crate) const FRR: &[Mutation] = &[
    ("one uplink left out", ChosenFrr, FRR_T0, Lost("ipv6 route fd00:c105:1::/52 "), "V1710"),
    ("an uplink twice", ChosenFrr, FRR_T0, Twice("ipv6 route fd00:c105:1::/52 "), "V1709"),
    ("no route to a NIC", ChosenFrr, FRR_T0, Lost("1:1::1/128"), "V1702"),
    ("no blackhole for the rest of the group", ChosenFrr, FRR_T0, Lost("1:1::/64 blackhole"), "V1704"),
    ("no blackhole for the pool", ChosenFrr, FRR_T0, Lost("::/48 blackhole"), "V1708"),
    ("a default route", ChosenFrr, FRR_T0, More("ipv6 route ::/0 fd00:c105:2:1000:1:1:0:b eth501\n"), "V1707"),
    ("a blackhole for a group", ChosenFrr, FRR_T0, More("ipv6 route fd00:c105:1:2::/64 blackhole\n"), "V1702"),
    ("a blackhole beside next hops", ChosenFrr, FRR_T0, More("ipv6 route fd00:c105:1::/52 blackhole\n"), "V0102"),
    ("a further next hop at the end", ChosenFrr, FRR_T0, More("ipv6 route fd00:c105:1::/52 fd00:c105:2:1000:1:1:0:b eth501\n"), "V1709"),
    ("a distance", ChosenFrr, FRR_T0, Text("eth501\n", "eth501 10\n"), "V0103"),
    ("a protocol", ChosenFrr, FRR_T0, More("router bgp 65001\n"), "V0103"),
    ("a daemon", ChosenFrr, "switches/p0-t0-001/daemons", Text("bgpd=no", "bgpd=yes"), "V0105"),
    ("two groups exchanged", ChosenFrr, FRR_T1, Exchange("route fd00:c105:1:1::/64", "route fd00:c105:1:2::/64"), "V1706"),
    ("no route to a group", ChosenFrr, FRR_T1, Lost("1:2::/64"), "V1702"),
    ("a blackhole for a NIC", ChosenFrr, FRR_T1, More("ipv6 route fd00:c105:1:2::1/128 blackhole\n"), "V1702"),
    ("a next hop without an owner", ChosenFrr, FRR_T1, Behind("route fd00:c105:1:2::/64", "2:1:0:a", "2:1:0:c"), "V0603"),
];

#[rustfmt::skip] // A table: one row per line.
pub(crate) const LINUX: &[Mutation] = &[
    ("no weights for a group with an absent cable", ChosenLinux, LINUX_T0, Lost("fd00:c105:1:2::/64 "), "V1709"),
    ("no weights for a group with a drained cable", ChosenLinux, LINUX_T0, Lost("fd00:c105:1:3::/64 "), "V1709"),
    ("a heavier way", ChosenLinux, LINUX_T0, Behind("1:2::/64", "weight 2", "weight 3"), "V1709"),
    ("a drained cable at full weight", ChosenLinux, LINUX_T0, Behind("1:3::/64", "eth503 weight 1", "eth503 weight 2"), "V1709"),
    ("a way of the zone heavier", ChosenLinux, LINUX_T0, Behind("1::/52", "eth503 weight 1", "eth503 weight 2"), "V1709"),
    ("no weight at all", ChosenLinux, LINUX_T0, Behind("1::/52", "eth503 weight 1", "eth503 weight 0"), "V1709"),
    ("a way of the zone left out", ChosenLinux, LINUX_T0, Behind("1::/52", " nexthop via fd00:c105:2:1000:1:4:0:b dev eth504 weight 1", ""), "V1710"),
    ("a way of a group left out", ChosenLinux, LINUX_T0, Behind("1:2::/64", " nexthop via fd00:c105:2:1000:1:4:0:b dev eth504 weight 2", ""), "V1710"),
    ("a later blackhole", ChosenLinux, LINUX_T0, More("route replace blackhole fd00:c105:1:2::/64\n"), "V1702"),
    ("a route of a lower metric", ChosenLinux, LINUX_T0, More("route replace fd00:c105:1:2::/64 via fd00:c105:2:1000:1:1:0:b dev eth501 metric 5\n"), "V0103"),
    ("a route of one source", ChosenLinux, LINUX_T0, More("route replace fd00:c105:1:2::/64 from fd00:c105:1:1::1/128 via fd00:c105:2:1000:1:1:0:b dev eth501\n"), "V0103"),
    ("a rule", ChosenLinux, LINUX_T0, More("rule add from all table 7\n"), "V0102"),
    ("a numbered group", ChosenLinux, LINUX_T0, More("nexthop replace id 7 group 1,2/3\n"), "V0102"),
    ("a segment", ChosenLinux, LINUX_T0, More("route replace fd00:c105:1:2::/64 encap seg6local action End dev sr0\n"), "V0103"),
    ("the kernel does not forward", ChosenLinux, "switches/p0-t0-001/sysctl.conf", Text("all.forwarding = 1", "all.forwarding = 0"), "V0105"),
    ("one of two cables to a T0 heavier", ChosenLinux, LINUX_T1, Behind("1:1::/64", "eth1 weight 1", "eth1 weight 2"), "V1709"),
    ("one of two cables to a T0 left out", ChosenLinux, LINUX_T1, Behind("1:1::/64", " nexthop via fd00:c105:2:1000:1:2:0:a dev eth2 weight 1", ""), "V1710"),
    ("two groups exchanged", ChosenLinux, LINUX_T1, Exchange("fd00:c105:1:1::/64 ", "fd00:c105:1:3::/64 "), "V1706"),
    ("a drained cable in use", ChosenLinux, DRAINED_T1, Text("1:3::/64 via fd00:c105:2:1000:3:3:0:a dev eth5", "1:3::/64 nexthop via fd00:c105:2:1000:3:3:0:a dev eth5 weight 1 nexthop via fd00:c105:2:1000:3:4:0:a dev eth6 weight 1"), "V1710"),
    ("only the drained cable in use", ChosenLinux, DRAINED_T1, Text("1:3::/64 via fd00:c105:2:1000:3:3:0:a dev eth5", "1:3::/64 via fd00:c105:2:1000:3:4:0:a dev eth6"), "V1710"),
    ("a cable that routes use is drained", ChosenLinux, "cables/plane-0.csv", Behind("p0-t0-001,eth504", ",up", ",drained"), "V1710"),
    ("a drained cable is not", ChosenLinux, "cables/plane-0.csv", Text(",drained", ",up"), "V1710"),
];

#[rustfmt::skip] // A table: one row per line.
pub(crate) const P4: &[Mutation] = &[
    ("a heavier member", ChosenP4, P4_T0, Behind("wcmp_selector  group", "weight: 1", "weight: 2"), "V1709"),
    ("a member that is not there", ChosenP4, P4_T0, Behind("wcmp_selector  group", "member_id: 256", "member_id: 257"), "V0103"),
    ("a member without weight", ChosenP4, P4_T0, Behind("wcmp_selector  group", "weight: 1", "weight: 0"), "V0103"),
    ("a member that watches no port", ChosenP4, P4_T0, Behind("wcmp_selector  group", "watch_port: \"\\001\\000\"", ""), "V0105"),
    ("a member that watches another port", ChosenP4, P4_T0, Behind("wcmp_selector  group", "watch_port: \"\\001\\000\"", "watch_port: \"\\001\\001\""), "V0105"),
    ("a member that watches in the target's terms", ChosenP4, P4_T0, Behind("wcmp_selector  group", "watch_port: \"\\001\\000\"", "watch: 256"), "V0102"),
    ("no route to the zone", ChosenP4, P4_T0, Cut("# + ingress.ipv6_route  dst=fd00:c105:1::/52 ", "# + ingress.ipv6_route  dst=fd00:c105:1::/48 "), "V1702"),
    ("no blackhole for the rest of the group", ChosenP4, P4_T0, Cut("# + ingress.ipv6_route  dst=fd00:c105:1:1::/64 ", "# + ingress.ipv6_route  dst=fd00:c105:1::/52 "), "V1704"),
    ("no blackhole for the pool", ChosenP4, P4_T0, Cut("# + ingress.ipv6_route  dst=fd00:c105:1::/48 ", "# + ingress.dscp_class"), "V1708"),
    ("a NIC over the port of another", ChosenP4, P4_T0, Behind("ipv6_route  dst=fd00:c105:1:1::1/128 ", "value: \"\\001\"", "value: \"\\002\""), "V1703"),
    ("destinations shut out", ChosenP4, P4_T0, Behind("nic_destination", "prefix_len: 52", "prefix_len: 64"), "V1711"),
    ("a NIC may not send as itself", ChosenP4, P4_T0, Behind("nic_source  ingress_port=1 src=fd00:c105:1:1::1/128", "\\000\\001\"", "\\000\\007\""), "V1711"),
    ("a NIC may send as another", ChosenP4, P4_T0, Behind("nic_source  ingress_port=1 src=fd00:c105:2:0:1:1:0:a/128", "\\375\\000\\301\\005\\000\\002\\000\\000\\000\\001\\000\\001\\000\\000\\000\\n", "\\375\\000\\301\\005\\000\\001\\000\\001\\000\\000\\000\\000\\000\\000\\000\\002"), "V1711"),
    ("a group over the T0 of another", ChosenP4, P4_T1, Behind("ipv6_route  dst=fd00:c105:1:2::/64 ", "value: \"\\002\"", "value: \"\\001\""), "V1706"),
    ("a next hop that is not there", ChosenP4, P4_T1, Behind("ipv6_route  dst=fd00:c105:1:2::/64 ", "value: \"\\002\"", "value: \"\\177\""), "V0103"),
    ("no route to a group", ChosenP4, P4_T1, Cut("# + ingress.ipv6_route  dst=fd00:c105:1:2::/64 ", "# + ingress.ipv6_route  dst=fd00:c105:1:3::/64 "), "V1702"),
];

#[rustfmt::skip] // A table: one row per line.
pub(crate) const ZONES: &[Mutation] = &[
    ("no route to the other zone", ChosenZones, ZONE_T1, Lost("fd00:c105:1:1000::/52 "), "V1702"),
    ("the other zone over one T2", ChosenZones, ZONE_T1, Behind("1000::/52", " nexthop via fd00:c105:2:2000:1:2:0:b dev eth502 weight 1", ""), "V1710"),
    ("the other zone over a T0", ChosenZones, ZONE_T1, Behind("1000::/52", "fd00:c105:2:2000:1:1:0:b dev eth501", "fd00:c105:2:1000:1:1:0:a dev eth1"), "V1706"),
    ("a group of the own zone over a T2", ChosenZones, ZONE_T1, Text("1:2::/64 via fd00:c105:2:1000:2:1:0:a dev eth2", "1:2::/64 via fd00:c105:2:2000:1:1:0:b dev eth501"), "V1704"),
    ("zones exchanged", ChosenZones, ZONE_T2, Exchange("replace fd00:c105:1::/52", "replace fd00:c105:1:1000::/52"), "V1706"),
    ("no route to a zone", ChosenZones, ZONE_T2, Lost("fd00:c105:1:1000::/52 "), "V1702"),
    ("a zone over one T1", ChosenZones, ZONE_T2, Behind("1000::/52", " nexthop via fd00:c105:2:2001:2:1:0:a dev eth127 weight 1", ""), "V1710"),
    ("a zone over a heavier T1", ChosenZones, ZONE_T2, Behind("1000::/52", "weight 1", "weight 3"), "V1709"),
    ("a group over the wrong zone", ChosenZones, ZONE_T2, More("route replace fd00:c105:1:1001::/64 via fd00:c105:2:2000:1:1:0:a dev eth1\n"), "V1706"),
    ("no blackhole for the pool", ChosenZones, ZONE_T2, Lost("blackhole fd00:c105:1::/48"), "V1708"),
];

const NODES_ALL: &str = "hosts/*/ip.batch";
const NODE: &str = "hosts/su001-n001/ip.batch";

#[rustfmt::skip] // A table: one row per line.
pub(crate) const NODES: &[Mutation] = &[
    ("a plane left out", ChosenLinux, NODE, Behind("from fd00:c105:1:1::1/128", " nexthop via fd00:c105:2:100:1:1:0:b dev nic0p1", ""), "V1712"),
    ("a plane heavier", ChosenLinux, NODE, Behind("from fd00:c105:1:1::1/128", "dev nic0p0", "dev nic0p0 weight 20"), "V1709"),
    ("a plane heavier everywhere", ChosenLinux, NODES_ALL, All("dev nic0p0 nexthop", "dev nic0p0 weight 20 nexthop"), "V1709"),
    ("the last plane heavier everywhere", ChosenLinux, NODES_ALL, All("dev nic0p1\n", "dev nic0p1 weight 2\n"), "V1709"),
    ("a next hop that is not the T0", ChosenLinux, NODE, Behind("from fd00:c105:1:1::1/128", "1:1:0:b", "1:2:0:b"), "V1712"),
    ("no routes from its address", ChosenLinux, NODE, Cut("route replace fd00:c105:1::/48 from", "route replace blackhole"), "V1712"),
    ("routes from an address that it does not have", ChosenLinux, NODE, Text("from fd00:c105:1:1::1/128 nexthop", "from fd00:c105:1:1::9/128 nexthop"), "V1712"),
    ("a blackhole for a group", ChosenLinux, NODE, More("route replace blackhole fd00:c105:1:2::/64 from fd00:c105:1:1::1/128\n"), "V1712"),
    ("an unused address", ChosenLinux, NODE, Text("address replace fd00:c105:1:1::1/128", "address replace fd00:c105:1:1::9/128"), "V1712"),
    ("another address", ChosenLinux, NODE, All("fd00:c105:1:1::1", "fd00:c105:1:1::9"), "V1701"),
    ("a port is not switched on", ChosenLinux, NODE, Lost("link set dev nic0p0 up"), "V0204"),
    ("an address of another length", ChosenLinux, NODE, Text("1:1:0:a/127", "1:1:0:a/64"), "V0301"),
    ("an unknown command", ChosenLinux, NODE, More("rule add from all table 7\n"), "V0102"),
    ("a node that forwards", ChosenLinux, "hosts/su001-n001/sysctl.conf", Text("all.forwarding = 0", "all.forwarding = 1"), "V0105"),
];
