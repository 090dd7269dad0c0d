//! Damage to Linux switches: fabrics of two and three tiers, with parallel cables, and with exceptions.

use crate::base::Base::{Declared, Frr, Linux, Parallel, Zones};
use crate::common::damage::Damage::{All, Behind, Exchange, Gone, Lost, More, Same, Text};
use crate::mutations::Mutation;

const T0: &str = "switches/p0-t0-001/ip.batch";
const T1: &str = "switches/p0-t1-001/ip.batch";
const SETTINGS: &str = "switches/p0-t0-001/sysctl.conf";
const DEVICES: &str = "switches/p0-t0-001/devices.batch";

#[rustfmt::skip] // A table: one row per line.
pub(crate) const SWITCHES: &[Mutation] = &[
    ("routes to two T1s exchanged", Linux, T0, Exchange("fcbb:bbbb:4001::/48", "fcbb:bbbb:4002::/48"), "V0605"),
    ("routes to two NICs exchanged", Linux, T0, Exchange("fcbb:bbbb:8001::/48", "fcbb:bbbb:8002::/48"), "V0605"),
    ("routes to two T0s exchanged", Linux, T1, Exchange("fcbb:bbbb:1::/48", "fcbb:bbbb:2::/48"), "V0605"),
    ("route over another port", Linux, T0, Behind("replace fcbb:bbbb:4001::/48", "eth501", "eth502"), "V0603"),
    ("route over a port that is not there", Linux, T0, Behind("replace fcbb:bbbb:4001::/48", "eth501", "eth9"), "V0603"),
    ("route without a next hop", Linux, T0, Text("via fd00:c105:2:1000:1:1:0:b dev eth501", "dev eth501"), "V0603"),
    ("route over a tunnel", Linux, T0, Behind("replace fcbb:bbbb:4001::/48", "via", "encap seg6 mode inline segs fcbb:bbbb:2:: via"), "V0102"),
    ("no route to a T1", Linux, T0, Lost("replace fcbb:bbbb:4001::/48"), "V0606"),
    ("no route to a NIC", Linux, T0, Lost("replace fcbb:bbbb:8002::/48"), "V0606"),
    ("the last of two routes is wrong", Linux, T0, More("route replace fcbb:bbbb:4001::/48 via fd00:c105:2:1000:1:2:0:b dev eth502\n"), "V0605"),
    ("the last of two static neighbours is wrong", Linux, T0, More("neighbour replace fd00:c105:2:1000:1:1:0:b lladdr 02:00:00:00:00:01 dev eth501 nud permanent\n"), "V0304"),
    ("default route", Linux, T0, More("route replace default via fd00:c105:2:1000:1:1:0:b dev eth501\n"), "V0601"),
    ("default route of a higher metric", Linux, T0, More("route replace ::/0 via fd00:c105:2:1000:1:1:0:b dev eth501 metric 9999\n"), "V0601"),
    ("two next hops for a uSID", Linux, T0, More("route replace fcbb:bbbb:4001::/48 nexthop via fd00:c105:2:1000:1:1:0:b dev eth501 weight 1 nexthop via fd00:c105:2:1000:1:2:0:b dev eth502 weight 1\n"), "V0604"),
    ("no blackhole", Linux, T0, Lost("route replace blackhole"), "V0602"),
    ("blackhole of more than the block", Linux, T0, Text("blackhole fcbb:bbbb::/32", "blackhole fcbb::/16"), "V0602"),
    ("blackhole of a neighbour", Linux, T0, More("route replace blackhole fcbb:bbbb:4001::/48\n"), "V0601"),
    ("a wider route", Linux, T0, Text("replace fcbb:bbbb:4001::/48 via", "replace fcbb:bbbb:4000::/36 via"), "V0601"),
    ("a rule of another table", Linux, T0, More("rule add from all lookup 7\n"), "V0102"),
    ("no segment", Linux, T0, Lost("End flavors next-csid"), "V0504"),
    ("a plain End", Linux, T0, Text("End flavors next-csid lblen 32 nflen 16", "End"), "V0501"),
    ("segment of another length", Linux, T0, Text("nflen 16", "nflen 32"), "V0501"),
    ("a decapsulating segment", Linux, T0, Text("End flavors next-csid lblen 32 nflen 16", "End.DT6 table 254"), "V0501"),
    ("segment bound to the loopback", Linux, T0, Text("count dev sr0", "count dev lo"), "V0501"),
    ("segment of another switch", Linux, T0, Text("replace fcbb:bbbb:1::/48 encap", "replace fcbb:bbbb:2::/48 encap"), "V0503"),
    ("segment of another plane", Linux, T0, Text("replace fcbb:bbbb:1::/48 encap", "replace fcbb:bbbb:801::/48 encap"), "V0502"),
    ("a port is off", Linux, T0, Lost("link set dev eth501 up"), "V0204"),
    ("a NIC port is off", Linux, T0, Lost("link set dev eth1 up"), "V0204"),
    ("a port too many", Linux, T0, More("link set dev eth77 up\n"), "V0204"),
    ("small packets only", Linux, T0, Behind("dev eth501", "mtu 9216", "mtu 1500"), "V0302"),
    ("MAC address of one port is another", Linux, T0, Behind("dev eth501", "02:c1:00:00:00:01", "02:c1:00:00:00:55"), "V0304"),
    ("no address", Linux, T0, Lost("address replace fd00:c105:2:1000:1:1:0:a/127"), "V0301"),
    ("address of another length", Linux, T0, Text("1000:1:1:0:a/127", "1000:1:1:0:a/126"), "V0301"),
    ("addresses of two ports exchanged", Linux, T0, Exchange("a/127 dev eth501 nodad", "a/127 dev eth502 nodad"), "V0301"),
    ("no static neighbour", Linux, T0, Lost("neighbour replace fd00:c105:2:1000:1:1:0:b"), "V0304"),
    ("no static neighbour for a NIC", Linux, T0, Lost("neighbour replace fd00:c105:2:0:1:1:0:a"), "V0304"),
    ("static neighbour of another NIC", Linux, T0, Text("02:d0:00:01:00:01", "02:d0:00:01:00:02"), "V0304"),
    ("static neighbour that ages", Linux, T0, Text("nud permanent", "nud stale"), "V0102"),
    ("loopback of another switch", Linux, T0, Text("fd00:c105:3::1/128", "fd00:c105:3::2/128"), "V0401"),
    ("files of another switch", Linux, T0, Same("switches/p0-t0-002/ip.batch"), "V0301"),
    ("the kernel does not forward", Linux, SETTINGS, Text("all.forwarding = 1", "all.forwarding = 0"), "V0105"),
    ("no IPv6", Linux, SETTINGS, Text("all.disable_ipv6 = 0", "all.disable_ipv6 = 1"), "V0105"),
    ("addresses go when a port goes down", Linux, SETTINGS, Text("all.keep_addr_on_down = 1", "all.keep_addr_on_down = 0"), "V0105"),
    ("routes are accepted from any peer", Linux, SETTINGS, Text("all.accept_ra = 0", "all.accept_ra = 2"), "V0105"),
    ("one port takes redirects", Linux, SETTINGS, Text("eth501.accept_redirects = 0", "eth501.accept_redirects = 1"), "V0105"),
    ("settings of another kind", Linux, SETTINGS, More("net.ipv6.conf.all.proxy_ndp = 1\n"), "V0105"),
    ("the segments' device is not made", Linux, DEVICES, Lost("link add"), "V0105"),
    ("the segments' device is one for CAN", Linux, DEVICES, Text("type bridge", "type vcan"), "V0105"),
    ("the segments' device is a VRF", Linux, DEVICES, Text("type bridge", "type vrf"), "V0105"),
    ("the segments' device is of no kind", Linux, DEVICES, Text("type bridge", "type nothing"), "V0105"),
    ("the segments' device filters tags", Linux, DEVICES, Text("type bridge", "type bridge vlan_filtering 1"), "V0105"),
    ("a second device", Linux, DEVICES, More("link add name br0 type bridge\n"), "V0105"),
    ("a route beside the device", Linux, DEVICES, More("route replace default via fd00:c105:2:1000:1:1:0:b dev eth501\n"), "V0105"),
    ("the segments' device is another", Linux, DEVICES, Text("name sr0", "name sr1"), "V0105"),
    ("no settings", Linux, SETTINGS, Gone, "V0105"),
    ("a line that sets nothing", Linux, SETTINGS, More("net.ipv6.conf.all.forwarding 0\n"), "V0105"),
    ("small packets for the segments", Linux, T0, More("link set dev sr0 mtu 1280\n"), "V0204"),
];

const Z0_T1: &str = "switches/z1-p0-t1-001/ip.batch";
const T2: &str = "switches/p0-t2-001/ip.batch";

#[rustfmt::skip] // A table: one row per line.
pub(crate) const TIERS: &[Mutation] = &[
    ("routes of a T1 to two T2s exchanged", Zones, Z0_T1, Exchange("fcbb:bbbb:6001::/48 via", "fcbb:bbbb:6002::/48 via"), "V0605"),
    ("no route of a T1 to a T2", Zones, Z0_T1, Lost("fcbb:bbbb:6001::/48 via"), "V0606"),
    ("routes of a T2 to two zones exchanged", Zones, T2, Exchange("fcbb:bbbb:2001::/48", "fcbb:bbbb:2081::/48"), "V0605"),
    ("no route of a T2 to a zone", Zones, T2, Lost("fcbb:bbbb:2081::/48 via"), "V0606"),
    ("no blackhole on a T2", Zones, T2, Lost("route replace blackhole"), "V0602"),
    ("segment of a T2 is a T1's", Zones, T2, Text("replace fcbb:bbbb:6001::/48 encap", "replace fcbb:bbbb:2001::/48 encap"), "V0504"),
    ("segment of a T2 is another's", Zones, T2, Text("replace fcbb:bbbb:6001::/48 encap", "replace fcbb:bbbb:6002::/48 encap"), "V0503"),
    ("default route on a T2", Zones, T2, More("route replace default via fd00::1 dev eth1\n"), "V0601"),
    ("a T2's port is off", Zones, T2, Lost("link set dev eth1 up"), "V0204"),
    ("parallel cables numbered otherwise at a T0", Parallel, T0, Exchange("replace fcbb:bbbb:4001::/48", "replace fcbb:bbbb:4002::/48"), "V0607"),
    ("parallel cables numbered otherwise at a T1", Parallel, T1, Exchange("replace fcbb:bbbb:1::/48 via", "replace fcbb:bbbb:2::/48 via"), "V0607"),
    ("one of two segments is missing", Parallel, T0, Lost("replace fcbb:bbbb:2::/48 encap"), "V0504"),
    ("a third segment", Parallel, T0, More("route replace fcbb:bbbb:9::/48 encap seg6local action End flavors next-csid lblen 32 nflen 16 count dev sr0\n"), "V0504"),
    ("no route over the second of two cables", Parallel, T0, Lost("replace fcbb:bbbb:4002::/48"), "V0606"),
    ("both uSIDs over one of two cables", Parallel, T0, Text("via fd00:c105:2:1000:1:2:0:b dev eth502", "via fd00:c105:2:1000:1:1:0:b dev eth501"), "V0604"),
    ("route to a switch that is declared absent", Declared, T0, More("route replace fcbb:bbbb:4002::/48 via fd00:c105:2:1000:1:2:0:b dev eth502\n"), "V0603"),
    ("port of a cable that is declared absent is on", Declared, "switches/p1-t1-001/ip.batch", All("dev eth2", "dev eth1"), "V0204"),
];

const QUEUES_T0: &str = "switches/p0-t0-001/tc.batch";
const QUEUES_FRR: &str = "switches/p0-t0-002/tc.batch";

/// The first port to a NIC, and the first uplink.
const NIC: &str = "qdisc replace dev eth1 root";
const UP: &str = "qdisc replace dev eth501 root";

#[rustfmt::skip] // A table: one row per line.
pub(crate) const QUEUES: &[Mutation] = &[
    ("no queues", Linux, QUEUES_T0, Gone, "V1106"),
    ("no bands at a port", Linux, QUEUES_T0, Lost(NIC), "V0102"),
    ("another discipline", Linux, QUEUES_T0, Text("handle 1: ets", "handle 1: htb"), "V0102"),
    ("a discipline below another", Linux, QUEUES_T0, Text("dev eth1 root handle 1:", "dev eth1 root handle 2:"), "V0102"),
    ("control is not strict", Linux, QUEUES_T0, Text("bands 5 strict 1 quanta", "bands 5 quanta 9216"), "V1106"),
    ("a weighted queue is strict", Linux, QUEUES_T0, Text("strict 1 quanta 18432", "strict 2 quanta"), "V1106"),
    ("another weight", Linux, QUEUES_T0, Text("27648", "37648"), "V1106"),
    ("a weight that is off by a packet", Linux, QUEUES_T0, Text("129024", "138240"), "V1106"),
    ("turns in which nothing fits", Linux, QUEUES_T0, Text("quanta 18432 27648 129024 9216", "quanta 200 300 1400 100"), "V1106"),
    ("a band without a weight", Linux, QUEUES_T0, Text("quanta 18432 27648", "quanta 18432"), "V0102"),
    ("more bands", Linux, QUEUES_T0, Text("bands 5", "bands 6"), "V0102"),
    ("fewer bands", Linux, QUEUES_T0, Text("bands 5 strict 1 quanta 18432 27648", "bands 4 strict 1 quanta 18432"), "V0102"),
    ("other packets in the band of control", Linux, QUEUES_T0, Text("priomap 4", "priomap 0"), "V1105"),
    ("a band as the kernel has it", Linux, QUEUES_T0, Lost("dev eth1 parent 1:3"), "V1106"),
    ("two queues exchanged", Linux, QUEUES_T0, Exchange("handle 12:", "handle 13:"), "V1106"),
    ("a queue that no class has", Linux, QUEUES_T0, Text("handle 13:", "handle 17:"), "V1106"),
    ("a shorter queue", Linux, QUEUES_T0, Text("limit 9216000", "limit 921600"), "V1106"),
    ("a queue that counts packets", Linux, QUEUES_T0, Text("bfifo limit 9216000", "pfifo limit 1000"), "V0102"),
    ("marks at the last hop", Linux, QUEUES_T0, Behind(NIC, "handle 11: bfifo limit 9216000", "handle 21: red limit 9216000 min 75062 max 300248 avpkt 988 burst 76 probability 0.20 bandwidth 10000mbit ecn nodrop"), "V1104"),
    ("no marks on an uplink", Linux, QUEUES_T0, Behind(UP, "handle 21: red limit 9216000 min 75062 max 300248 avpkt 988 burst 76 probability 0.20 bandwidth 10000mbit ecn nodrop", "handle 11: bfifo limit 9216000"), "V1104"),
    ("marks begin elsewhere", Linux, QUEUES_T0, Text("min 75062", "min 64812"), "V1106"),
    ("marks are certain elsewhere", Linux, QUEUES_T0, Text("max 300248", "max 399248"), "V1106"),
    ("marks that are certain before they begin", Linux, QUEUES_T0, Text("max 300248", "max 748"), "V0102"),
    ("marks of another probability", Linux, QUEUES_T0, Text("probability 0.20", "probability 0.90"), "V1106"),
    ("marks behind the end of the queue", Linux, QUEUES_T0, Text("red limit 9216000", "red limit 300248"), "V0102"),
    ("drops instead of marks", Linux, QUEUES_T0, Text(" ecn nodrop", ""), "V1105"),
    ("drops of what cannot be marked", Linux, QUEUES_T0, Text(" nodrop", ""), "V1105"),
    ("drops beyond the upper threshold", Linux, QUEUES_T0, Text(" nodrop", " nodrop harddrop"), "V0102"),
    ("averages over many packets", Linux, QUEUES_T0, Text("burst 76", "burst 900"), "V1105"),
    ("averages that `tc` refuses", Linux, QUEUES_T0, Text("burst 76", "burst 5"), "V1105"),
    ("an empty queue is forgotten late", Linux, QUEUES_T0, Text("bandwidth 10000mbit", "bandwidth 10mbit"), "V1105"),
    ("a code point of another class", Linux, QUEUES_T0, Text("pref 2 u32 match ip6 priority 0x10", "pref 2 u32 match ip6 priority 0x14"), "V1101"),
    ("a code point of another band", Linux, QUEUES_T0, Text("0x10 0xfc flowid 1:4", "0x10 0xfc flowid 1:3"), "V1106"),
    ("two classes exchanged", Linux, QUEUES_T0, Exchange("pref 2 u32 match ip6 priority 0x10", "pref 3 u32 match ip6 priority 0x20"), "V1106"),
    ("a code point without a class", Linux, QUEUES_T0, Lost("priority 0x40"), "V1101"),
    ("more code points in a class", Linux, QUEUES_T0, Text("0xb8 0xfc", "0xb0 0xf0"), "V1101"),
    ("code points and marks in one", Linux, QUEUES_T0, Text("0xb8 0xfc", "0xb8 0xff"), "V1105"),
    ("code points of the other family", Linux, QUEUES_T0, Text("protocol ipv6 pref 7 u32 match ip6 priority", "protocol ip pref 7 u32 match ip tos"), "V0102"),
    ("no class for other code points", Linux, QUEUES_T0, Lost("pref 101"), "V1101"),
    ("other code points come first", Linux, QUEUES_T0, Text("pref 101 u32", "pref 1 u32"), "V1101"),
    ("filters of an earlier file stay", Linux, QUEUES_T0, Lost("filter del dev eth1"), "V1105"),
    ("filters are removed again", Linux, QUEUES_T0, More("filter del dev eth1 parent 1:\n"), "V1101"),
    ("filters of a port that has none", Linux, QUEUES_T0, Text("filter del dev eth1 parent 1:", "filter del dev eth77 parent 1:"), "V0102"),
    ("queues of a port that is not there", Linux, QUEUES_T0, All("dev eth1 ", "dev eth77 "), "V1106"),
    ("a policer", Linux, QUEUES_T0, Text("0xb8 0xfc flowid 1:1", "0xb8 0xfc flowid 1:1 action police rate 1mbit burst 10k drop"), "V0102"),
    ("queues of another tier", Linux, QUEUES_T0, Same("switches/p0-t1-001/tc.batch"), "V1104"),
];

#[rustfmt::skip] // A table: one row per line.
pub(crate) const QUEUES_BESIDE_FRR: &[Mutation] = &[
    ("no queues beside FRR", Frr, QUEUES_FRR, Gone, "V1106"),
    ("no marks beside FRR", Frr, QUEUES_FRR, Text(" ecn nodrop", ""), "V1105"),
    ("a code point of another class beside FRR", Frr, QUEUES_FRR, Text("priority 0x10", "priority 0x14"), "V1101"),
    ("control is not strict beside FRR", Frr, QUEUES_FRR, Text("bands 5 strict 1 quanta", "bands 5 quanta 9216"), "V1106"),
    ("an unknown word of `tc` beside FRR", Frr, QUEUES_FRR, Text("bfifo", "pfifo_fast"), "V0102"),
];
