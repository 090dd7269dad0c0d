//! Damage to switches with BGP.

use crate::base::Base::{Bgp, BgpSonic};
use crate::common::damage::Damage::{All, Behind, Cut, Exchange, Gone, Lost, More, Set, Text, Unset};
use crate::mutations::Mutation;

const T0: &str = "switches/z0-p0-t0-001/frr.conf";
const T1: &str = "switches/z0-p0-t1-001/frr.conf";
const T2: &str = "switches/p0-t2-001/frr.conf";
const PORTS: &str = "switches/z0-p0-t0-001/ip.batch";
const DAEMONS: &str = "switches/z0-p0-t0-001/daemons";

#[rustfmt::skip] // A table: one row per line.
pub(crate) const FRR: &[Mutation] = &[
    ("no BGP", Bgp, T0, Cut("router bgp", "end\n"), "V1801"),
    ("no session over a cable", Bgp, T0, Lost("neighbor eth501 interface"), "V1801"),
    ("a session without IPv6", Bgp, T0, Lost("neighbor ABOVE activate"), "V1801"),
    ("a session that is in no group", Bgp, T0, Lost("neighbor eth501 peer-group"), "V1801"),
    ("a port that does not send its address", Bgp, T0, Behind("interface eth501", "no ipv6 nd suppress-ra", "ipv6 nd ra-interval 10"), "V1801"),
    ("a port without a link-local address", Bgp, PORTS, Behind("dev eth501 address", "eui64", "none"), "V1801"),
    ("number of another T1", Bgp, T0, Text("remote-as 4216777217", "remote-as 4216781313"), "V1802"),
    ("number of the same tier of another plane", Bgp, T1, Text("eth501 interface v6only remote-as 4233554433", "eth501 interface v6only remote-as 4234603009"), "V1802"),
    ("any number", Bgp, T0, Text("remote-as 4216777217", "remote-as external"), "V1802"),
    ("neighbours of two ports exchanged", Bgp, T1, Exchange("neighbor eth1 interface", "neighbor eth3 interface"), "V1802"),
    ("a session with a NIC", Bgp, T0, Text(" neighbor eth502 interface", " neighbor eth1 interface v6only remote-as 65000\n neighbor eth502 interface"), "V1803"),
    ("a session by address", Bgp, T0, Text(" neighbor eth502 interface", " neighbor fd00::1 remote-as 65000\n neighbor eth502 interface"), "V1803"),
    ("a session over a port that is not there", Bgp, T0, All("neighbor eth502", "neighbor eth777"), "V1803"),
    ("a neighbour twice", Bgp, T0, Text(" neighbor eth502 interface", " neighbor eth501 interface v6only remote-as 65000\n neighbor eth502 interface"), "V1803"),
    ("number of another T0", Bgp, T0, Text("router bgp 4200000001", "router bgp 4200000002"), "V1804"),
    ("number of the T1s", Bgp, T0, Text("router bgp 4200000001", "router bgp 4216777217"), "V1804"),
    ("a T1 with the number of another zone's", Bgp, T1, Text("router bgp 4216777217", "router bgp 4216781313"), "V1802"),
    ("a T2 with the number of T1s", Bgp, T2, Text("router bgp 4233554433", "router bgp 4216777217"), "V1804"),
    ("no router id", Bgp, T0, Lost("bgp router-id"), "V1805"),
    ("router id of another switch", Bgp, T0, Text("router-id 1.0.0.1", "router-id 1.0.0.2"), "V1805"),
    ("other keepalives at one end", Bgp, T1, Text("timers bgp 3 9", "timers bgp 60 180"), "V1806"),
    ("no keepalives", Bgp, T1, Lost("timers bgp"), "V1806"),
    ("a slower BFD at one end", Bgp, T0, Text("transmit-interval 300", "transmit-interval 1000"), "V1806"),
    ("no BFD at one end", Bgp, T0, Lost("bfd profile"), "V1806"),
    ("BFD that waits longer", Bgp, T2, Text("detect-multiplier 3", "detect-multiplier 50"), "V1806"),
    ("announcements that wait", Bgp, T1, Text("neighbor BELOW advertisement-interval 0", "neighbor BELOW advertisement-interval 30"), "V1806"),
    ("another time between attempts", Bgp, T1, Text("ABOVE timers connect 10", "ABOVE timers connect 120"), "V1806"),
    ("prefix of another group", Bgp, T0, Text("network fd00:c105:1:1::/64", "network fd00:c105:1:2::/64"), "V1807"),
    ("a default route is announced", Bgp, T0, Text("  network fd00:c105:3::1/128", "  network fd00:c105:3::1/128\n  network ::/0"), "V1807"),
    ("the group is not announced", Bgp, T0, Lost("network fd00:c105:1:1::/64"), "V1807"),
    ("the loopback is not announced", Bgp, T1, Lost("  network fd00:c105:3:0:1::1/128"), "V1807"),
    ("loopback of another switch is announced", Bgp, T1, Text("  network fd00:c105:3:0:1::1/128", "  network fd00:c105:3:0:1::2/128"), "V1807"),
    ("no route behind what is announced", Bgp, T0, Lost("route fd00:c105:1:1::/64 blackhole"), "V1807"),
    ("everything is taken", Bgp, T0, Text("permit fd00:c105:1::/48 ge 64 le 64", "permit ::/0 le 128"), "V1808"),
    ("summaries are taken", Bgp, T1, Text("permit fd00:c105:1::/48 ge 64 le 64", "permit fd00:c105:1::/48 ge 48 le 64"), "V1808"),
    ("what is taken passes no list", Bgp, T0, Behind("route-map ABOVE-IN permit 20", " match ipv6 address prefix-list FABRIC\n", ""), "V1808"),
    ("what is taken passes no filter", Bgp, T0, Lost("route-map ABOVE-IN in"), "V1808"),
    ("the own number is taken", Bgp, T0, Text("  neighbor ABOVE activate", "  neighbor ABOVE activate\n  neighbor ABOVE allowas-in 1"), "V1808"),
    ("a T0 announces what it received", Bgp, T0, Behind("route-map ABOVE-OUT", "prefix-list OWN\n match as-path AT-MOST-0", "prefix-list FABRIC"), "V1809"),
    ("a T0 announces anything", Bgp, T0, Lost("route-map ABOVE-OUT out"), "V1809"),
    ("a limit that is too low", Bgp, T0, Text("maximum-prefix 61000", "maximum-prefix 4"), "V1810"),
    ("no limit", Bgp, T1, Lost("neighbor BELOW maximum-prefix"), "V1810"),
    ("one way at a time", Bgp, T0, Text("maximum-paths 256", "maximum-paths 1"), "V1811"),
    ("too few ways", Bgp, T2, Text("maximum-paths 256", "maximum-paths 1"), "V1811"),
    ("a preference of its own", Bgp, T1, Behind("route-map BELOW-IN permit 20", " match as-path AT-MOST-1", " match as-path AT-MOST-1\n set local-preference 200"), "V1813"),
    ("what is drained is preferred", Bgp, T1, Text("set local-preference 0", "set local-preference 300"), "V1813"),
    ("no graceful restart on one switch", Bgp, T1, Text(" bgp graceful-restart\n", ""), "V1814"),
    ("only equal paths on one switch", Bgp, T1, Lost("multipath-relax"), "V1814"),
    ("another limit on one switch", Bgp, T1, Text("neighbor BELOW maximum-prefix 8", "neighbor BELOW maximum-prefix 64"), "V1814"),
    ("longer paths are taken on one switch", Bgp, T1, Behind("route-map BELOW-IN permit 20", " match as-path AT-MOST-1\n", ""), "V1814"),
    ("another bandwidth on one switch", Bgp, T0, Text("bandwidth 1\n", "bandwidth 500\n"), "V1814"),
    ("a filter that is not there", Bgp, T0, Text("route-map ABOVE-IN in", "route-map ABOVE-INN in"), "V0103"),
    ("a list that is not there", Bgp, T0, Text(" match as-path AT-MOST-0", " match as-path AT-MOST-9"), "V0103"),
    ("a group that is not there", Bgp, T0, Lost("neighbor ABOVE peer-group"), "V0103"),
    ("static routes are announced", Bgp, T0, Text("  maximum-paths", "  redistribute static\n  maximum-paths"), "V0103"),
    ("the number of a path is hidden", Bgp, T1, Text("  neighbor BELOW activate", "  neighbor BELOW activate\n  neighbor BELOW remove-private-AS"), "V0103"),
    ("a path is made longer", Bgp, T1, Behind("route-map BELOW-OUT", " set extcommunity", " set as-path prepend 65000\n set extcommunity"), "V0103"),
    ("paths by content", Bgp, T1, Text("permit ^[0-9]+$", "permit ^65000$"), "V0103"),
    ("communities are dropped", Bgp, T1, Text("  neighbor BELOW activate", "  neighbor BELOW activate\n  no neighbor BELOW send-community"), "V0103"),
    ("another protocol", Bgp, T0, More("router ospf6\n"), "V0103"),
    ("a value that is none", Bgp, T0, Text("maximum-paths 256", "maximum-paths many"), "V0102"),
    ("a static route over a port to a switch", Bgp, T1, Text("ipv6 route fd00:c105:1::/48 blackhole", "ipv6 route fd00:c105:1::/48 fd00::1 eth1"), "V0603"),
    ("the daemon of BGP does not run", Bgp, DAEMONS, Text("bgpd=yes", "bgpd=no"), "V0105"),
    ("the last word of a daemon is no", Bgp, DAEMONS, More("bgpd=no\n"), "V0105"),
    ("the daemon of another protocol runs", Bgp, DAEMONS, More("ospf6d=yes\n"), "V0105"),
    ("an address where BGP finds the other end", Bgp, T0, Behind("interface eth501", " ipv6 nd ra-interval 10", " ipv6 nd ra-interval 10\n ipv6 address fd00:c105:2::1/127"), "V0301"),
];

const SONIC_T0: &str = "switches/p0-t0-002/frr.conf";
const SONIC_T1: &str = "switches/p0-t1-001/frr.conf";
const CONFIG: &str = "switches/p0-t0-002/config_db.json";

#[rustfmt::skip] // A table: one row per line.
pub(crate) const SONIC: &[Mutation] = &[
    ("a drained cable in use at one end", BgpSonic, SONIC_T0, Lost("route-map ABOVE-IN-DRAINED in"), "V1812"),
    ("a cable in use drained at one end", BgpSonic, SONIC_T0, Text("Ethernet256 route-map ABOVE-IN-DRAINED", "Ethernet257 route-map ABOVE-IN-DRAINED"), "V1812"),
    ("a drained cable that is not marked", BgpSonic, SONIC_T1, Lost("set community graceful-shutdown"), "V1812"),
    ("the number of the configuration", BgpSonic, CONFIG, Set(&["DEVICE_METADATA", "localhost", "bgp_asn"], "\"4200000001\""), "V1804"),
    ("a number of another plane", BgpSonic, SONIC_T1, All("4216777217", "4217825793"), "V1804"),
    ("sessions that do not start by themselves", BgpSonic, CONFIG, Set(&["DEVICE_METADATA", "localhost", "default_bgp_status"], "\"down\""), "V0106"),
    ("routing that SONiC writes itself", BgpSonic, CONFIG, Set(&["DEVICE_METADATA", "localhost", "docker_routing_config_mode"], "\"separated\""), "V0106"),
    ("a port without a link-local address", BgpSonic, CONFIG, Unset(&["INTERFACE", "Ethernet256", "ipv6_use_link_local_only"]), "V1801"),
    ("sessions in the configuration", BgpSonic, CONFIG, Set(&["BGP_NEIGHBOR"], "{ \"fd00::1\": { \"asn\": \"65000\" } }"), "V0103"),
    ("static routes in the configuration", BgpSonic, CONFIG, Set(&["STATIC_ROUTE"], "{ \"default|::/0\": { \"ifname\": \"Ethernet256\", \"nexthop\": \"fd00::1\" } }"), "V0103"),
    ("another hash on one switch", BgpSonic, CONFIG, Set(&["SWITCH_HASH", "GLOBAL", "ecmp_hash"], "[\"SRC_IP\"]"), "V0106"),
    ("the routing of another switch", BgpSonic, SONIC_T0, Text("hostname p0-t0-002", "hostname p0-t0-001"), "V0104"),
    ("no routing", BgpSonic, SONIC_T0, Gone, "V0104"),
    ("routes that reach no chip", BgpSonic, SONIC_T0, Lost("fpm address 127.0.0.1"), "V0105"),
    ("routes that are handed to another machine", BgpSonic, SONIC_T0, Text("fpm address 127.0.0.1", "fpm address 192.0.2.1"), "V0103"),
    ("a file that SONiC appends to whenever routing starts", BgpSonic, SONIC_T1, Lost("no fpm use-next-hop-groups"), "V0105"),
    ("a blackhole in the routing", BgpSonic, SONIC_T0, Text("ipv6 prefix-list OWN", "ipv6 route fd00:c105:1:1::/65 blackhole\nipv6 prefix-list OWN"), "V1702"),
    ("an address in the routing", BgpSonic, SONIC_T0, Behind("interface Ethernet256", " ipv6 nd ra-interval 10", " ipv6 address fd00:c105:2::1/127\n ipv6 nd ra-interval 10"), "V0103"),
    ("a loopback in the routing", BgpSonic, SONIC_T0, Text("interface Ethernet256", "interface lo\n ipv6 address fd00:c105:3::9/128\nexit\n!\ninterface Ethernet256"), "V0103"),
    ("a route over a port that is not there", BgpSonic, SONIC_T0, Text("Ethernet1\n", "Ethernet999\n"), "V0103"),
    ("a session over another port", BgpSonic, SONIC_T0, All("neighbor Ethernet256", "neighbor Ethernet258"), "V1803"),
    ("other keepalives", BgpSonic, SONIC_T1, Text("timers bgp 3 9", "timers bgp 1 3"), "V1806"),
    ("router id of a switch in another plane", BgpSonic, SONIC_T0, Text("router-id 1.0.0.2", "router-id 1.16.0.2"), "V1805"),
];
