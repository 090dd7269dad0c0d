//! Damage to `config_db.json`: routes, segments, ports, addresses, neighbours.

use crate::base::Base::{Isolated, Sonic};
use crate::common::damage::Damage::{All, Cut, Exchange, Gone, Same, Set, Swap, Text, Unset};
use crate::mutations::Mutation;

const T0: &str = "switches/p0-t0-001/config_db.json";
const T1: &str = "switches/p0-t1-001/config_db.json";
const UP: &str = "default|fcbb:bbbb:4001::/48";
const UP2: &str = "default|fcbb:bbbb:4002::/48";
const NIC: &str = "default|fcbb:bbbb:8001::/48";
const BLOCK: &str = "default|fcbb:bbbb::/32";
const SID: &str = "loc1|fcbb:bbbb:1::/48";

#[rustfmt::skip] // A table: one row per line.
pub(crate) const ROUTES: &[Mutation] = &[
    ("routes to two T1s exchanged", Sonic, T0, Swap(&["STATIC_ROUTE", UP], &["STATIC_ROUTE", UP2]), "V0605"),
    ("routes to a T1 and a NIC exchanged", Sonic, T0, Swap(&["STATIC_ROUTE", UP], &["STATIC_ROUTE", NIC]), "V0605"),
    ("routes to two T0s exchanged", Sonic, T1, Swap(&["STATIC_ROUTE", "default|fcbb:bbbb:1::/48"], &["STATIC_ROUTE", "default|fcbb:bbbb:2::/48"]), "V0605"),
    ("port of a route is another", Sonic, T0, Set(&["STATIC_ROUTE", UP, "ifname"], "\"Ethernet257\""), "V0603"),
    ("port of a route has no cable", Sonic, T0, Set(&["STATIC_ROUTE", UP, "ifname"], "\"Ethernet300\""), "V0603"),
    ("next hop of another port", Sonic, T0, Swap(&["STATIC_ROUTE", UP, "nexthop"], &["STATIC_ROUTE", UP2, "nexthop"]), "V0603"),
    ("next hop without an owner", Sonic, T0, Set(&["STATIC_ROUTE", UP, "nexthop"], "\"fd00:c105:2:1000:1:9:0:b\""), "V0603"),
    ("next hop is the own address", Sonic, T0, Set(&["STATIC_ROUTE", UP, "nexthop"], "\"fd00:c105:2:1000:1:1:0:a\""), "V0603"),
    ("next hop is a link-local address", Sonic, T0, Set(&["STATIC_ROUTE", UP, "nexthop"], "\"fe80::1\""), "V0603"),
    ("no route to a T1", Sonic, T0, Unset(&["STATIC_ROUTE", UP]), "V0606"),
    ("no route to a NIC", Sonic, T0, Unset(&["STATIC_ROUTE", NIC]), "V0606"),
    ("no route to a T0", Sonic, T1, Unset(&["STATIC_ROUTE", "default|fcbb:bbbb:2::/48"]), "V0606"),
    ("no routes at all", Sonic, T0, Unset(&["STATIC_ROUTE"]), "V0606"),
    ("default route", Sonic, T0, Set(&["STATIC_ROUTE", "default|::/0"], r#"{"ifname":"Ethernet256","nexthop":"fd00:c105:2:1000:1:1:0:b"}"#), "V0601"),
    ("default route of the other family", Sonic, T0, Set(&["STATIC_ROUTE", "default|0.0.0.0/0"], r#"{"ifname":"eth0","nexthop":"10.67.0.1"}"#), "V0601"),
    ("route for host addresses", Sonic, T0, Set(&["STATIC_ROUTE", "default|fd00:c105:1:2::/64"], r#"{"ifname":"Ethernet256","nexthop":"fd00:c105:2:1000:1:1:0:b"}"#), "V0601"),
    ("longer route than a uSID's", Sonic, T0, Set(&["STATIC_ROUTE", "default|fcbb:bbbb:4001:2::/64"], r#"{"ifname":"Ethernet257","nexthop":"fd00:c105:2:1000:1:2:0:b"}"#), "V0601"),
    ("route of a /47", Sonic, T0, Text("4001::/48\"", "4001::/47\""), "V0601"),
    ("route of a /49", Sonic, T0, Text("4001::/48\"", "4001::/49\""), "V0601"),
    ("no blackhole", Sonic, T0, Unset(&["STATIC_ROUTE", BLOCK]), "V0602"),
    ("blackhole of half the block", Sonic, T0, Text(BLOCK, "default|fcbb:bbbb::/33"), "V0602"),
    ("blackhole of a neighbour", Sonic, T0, Set(&["STATIC_ROUTE", UP], r#"{"blackhole":"true"}"#), "V0601"),
    ("block uses a port", Sonic, T0, Set(&["STATIC_ROUTE", BLOCK], r#"{"ifname":"Ethernet256","nexthop":"fd00:c105:2:1000:1:1:0:b"}"#), "V0602"),
    ("blackhole is off", Sonic, T0, Set(&["STATIC_ROUTE", BLOCK, "blackhole"], "\"false\""), "V0102"),
    ("two next hops for a uSID", Sonic, T0, Set(&["STATIC_ROUTE", UP], r#"{"ifname":"Ethernet256,Ethernet257","nexthop":"fd00:c105:2:1000:1:1:0:b,fd00:c105:2:1000:1:2:0:b"}"#), "V0604"),
    ("more ports than next hops", Sonic, T0, Set(&["STATIC_ROUTE", UP, "ifname"], "\"Ethernet256,Ethernet257\""), "V0102"),
    ("route of another VRF", Sonic, T0, Text(UP, "Vrf1|fcbb:bbbb:4001::/48"), "V0102"),
    ("route for an unused uSID", Sonic, T0, Text(UP, "default|fcbb:bbbb:4003::/48"), "V0605"),
    ("route with another plane's bits", Sonic, T0, Text(UP, "default|fcbb:bbbb:4801::/48"), "V0605"),
    ("two uSIDs over one cable", Sonic, T0, Set(&["STATIC_ROUTE", "default|fcbb:bbbb:4009::/48"], r#"{"ifname":"Ethernet256","nexthop":"fd00:c105:2:1000:1:1:0:b"}"#), "V0604"),
    ("route for the own uSID", Sonic, T0, Set(&["STATIC_ROUTE", "default|fcbb:bbbb:1::/48"], r#"{"ifname":"Ethernet256","nexthop":"fd00:c105:2:1000:1:1:0:b"}"#), "V0605"),
    ("route over a NIC port", Sonic, T0, Set(&["STATIC_ROUTE", UP], r#"{"ifname":"Ethernet0","nexthop":"fd00:c105:2:0:1:1:0:a"}"#), "V0605"),
    ("an unknown field of a route", Sonic, T0, Set(&["STATIC_ROUTE", UP, "nexthop-vrf"], "\"mgmt\""), "V0102"),
];

#[rustfmt::skip] // A table: one row per line.
pub(crate) const SEGMENTS: &[Mutation] = &[
    ("no segment", Sonic, T0, Unset(&["SRV6_MY_SIDS", SID]), "V0501"),
    ("no tables of segments", Sonic, T0, Cut("\"SRV6_MY_LOCATORS\"", "\"STATIC_ROUTE\""), "V0504"),
    ("no locator", Sonic, T0, Unset(&["SRV6_MY_LOCATORS", "loc1"]), "V0501"),
    ("a uA", Sonic, T0, Set(&["SRV6_MY_SIDS", SID, "action"], "\"uA\""), "V0501"),
    ("a decapsulating segment", Sonic, T0, Set(&["SRV6_MY_SIDS", SID, "action"], "\"uDT46\""), "V0501"),
    ("decapsulation changes the DSCP", Sonic, T0, Set(&["SRV6_MY_SIDS", SID, "decap_dscp_mode"], "\"uniform\""), "V0501"),
    ("segment in another locator", Sonic, T0, Text(SID, "loc2|fcbb:bbbb:1::/48"), "V0501"),
    ("segment of another length", Sonic, T0, Text(SID, "loc1|fcbb:bbbb:1::/64"), "V0501"),
    ("segment of another block", Sonic, T0, All("fcbb:bbbb:1::", "fcbb:bbbc:1::"), "V0501"),
    ("segment with the bits of plane 1", Sonic, T0, All("fcbb:bbbb:1::", "fcbb:bbbb:801::"), "V0502"),
    ("segment with the role of a T1", Sonic, T0, All("fcbb:bbbb:1::", "fcbb:bbbb:4001::"), "V0502"),
    ("segment with the role of a NIC", Sonic, T1, All("fcbb:bbbb:4001::", "fcbb:bbbb:8001::"), "V0502"),
    ("segment 0", Sonic, T0, All("fcbb:bbbb:1::", "fcbb:bbbb:0::"), "V0502"),
    ("segment above the global block", Sonic, T0, All("fcbb:bbbb:1::", "fcbb:bbbb:e001::"), "V0502"),
    ("segment of another switch", Sonic, T0, All("fcbb:bbbb:1::", "fcbb:bbbb:2::"), "V0503"),
    ("segment that no table leads to", Sonic, T0, All("fcbb:bbbb:1::", "fcbb:bbbb:7::"), "V0605"),
    ("two segments", Sonic, T0, Set(&["SRV6_MY_SIDS", "loc1|fcbb:bbbb:3::/48"], r#"{"action":"uN","decap_dscp_mode":"pipe"}"#), "V0504"),
    ("function bits", Sonic, T0, Set(&["SRV6_MY_LOCATORS", "loc1", "func_len"], "\"16\""), "V0501"),
    ("argument bits", Sonic, T0, Set(&["SRV6_MY_LOCATORS", "loc1", "arg_len"], "\"16\""), "V0501"),
    ("another length of the block", Sonic, T0, Set(&["SRV6_MY_LOCATORS", "loc1", "block_len"], "\"40\""), "V0501"),
    ("another length of the uSID", Sonic, T0, Set(&["SRV6_MY_LOCATORS", "loc1", "node_len"], "\"32\""), "V0501"),
    ("locator of another VRF", Sonic, T0, Set(&["SRV6_MY_LOCATORS", "loc1", "vrf"], "\"Vrf1\""), "V0501"),
];

#[rustfmt::skip] // A table: one row per line.
pub(crate) const PORTS: &[Mutation] = &[
    ("uplink is off", Sonic, T0, Set(&["PORT", "Ethernet256", "admin_status"], "\"down\""), "V0204"),
    ("NIC port is off", Sonic, T0, Set(&["PORT", "Ethernet0", "admin_status"], "\"down\""), "V0204"),
    ("port is not there", Sonic, T0, Unset(&["PORT", "Ethernet256"]), "V0204"),
    ("port without a cable is on", Sonic, T0, Set(&["PORT", "Ethernet9"], r#"{"admin_status":"up","lanes":"26","speed":"100000"}"#), "V0204"),
    ("small packets only", Sonic, T0, Set(&["PORT", "Ethernet256", "mtu"], "\"1500\""), "V0302"),
    ("size of packets is not a number", Sonic, T0, Set(&["PORT", "Ethernet256", "mtu"], "\"large\""), "V0102"),
    ("another speed", Sonic, T0, Set(&["PORT", "Ethernet256", "speed"], "\"400000\""), "V0302"),
    ("no error correction", Sonic, T0, Set(&["PORT", "Ethernet256", "fec"], "\"none\""), "V0302"),
    ("description of another port", Sonic, T0, Set(&["PORT", "Ethernet256", "description"], "\"p0-t1-002:Ethernet0\""), "V0203"),
    ("lanes of another port", Sonic, T0, Swap(&["PORT", "Ethernet0", "lanes"], &["PORT", "Ethernet1", "lanes"]), "V0206"),
    ("lanes twice", Sonic, T0, Set(&["PORT", "Ethernet0", "lanes"], "\"18\""), "V0206"),
    ("neighbour table names another switch", Sonic, T0, Set(&["DEVICE_NEIGHBOR", "Ethernet256", "name"], "\"p0-t1-002\""), "V0203"),
    ("neighbour table names another port", Sonic, T0, Set(&["DEVICE_NEIGHBOR", "Ethernet256", "port"], "\"Ethernet9\""), "V0203"),
    ("neighbour table has no row", Sonic, T0, Unset(&["DEVICE_NEIGHBOR", "Ethernet0"]), "V0203"),
    ("neighbour table exchanged", Sonic, T0, Swap(&["DEVICE_NEIGHBOR", "Ethernet256"], &["DEVICE_NEIGHBOR", "Ethernet257"]), "V0203"),
    ("no address", Sonic, T0, Unset(&["INTERFACE", "Ethernet256|fd00:c105:2:1000:1:1:0:a/127"]), "V0301"),
    ("address of a /126", Sonic, T0, Text("Ethernet256|fd00:c105:2:1000:1:1:0:a/127", "Ethernet256|fd00:c105:2:1000:1:1:0:a/126"), "V0301"),
    ("address of the other end", Sonic, T0, Text("Ethernet256|fd00:c105:2:1000:1:1:0:a/127", "Ethernet256|fd00:c105:2:1000:1:1:0:b/127"), "V0603"),
    ("two addresses", Sonic, T0, Set(&["INTERFACE", "Ethernet256|fd00:c105:9::a/127"], "{}"), "V0301"),
    ("address of another cable", Sonic, T0, Text("Ethernet256|fd00:c105:2:1000:1:1:0:a/127", "Ethernet256|fd00:c105:2:1000:2:1:0:a/127"), "V0603"),
    ("addresses of two ports exchanged", Sonic, T0, Exchange("Ethernet256|", "Ethernet257|"), "V0301"),
    ("interface of another VRF", Sonic, T0, Set(&["INTERFACE", "Ethernet256"], r#"{"vrf_name":"Vrf1"}"#), "V0102"),
    ("no static neighbour", Sonic, T0, Unset(&["NEIGH", "Ethernet256|fd00:c105:2:1000:1:1:0:b"]), "V0304"),
    ("static neighbour of another switch", Sonic, T0, Swap(&["NEIGH", "Ethernet256|fd00:c105:2:1000:1:1:0:b", "neigh"], &["NEIGH", "Ethernet257|fd00:c105:2:1000:1:2:0:b", "neigh"]), "V0304"),
    ("static neighbour at another address", Sonic, T0, Text("Ethernet256|fd00:c105:2:1000:1:1:0:b", "Ethernet256|fd00:c105:2:1000:1:1:0:f"), "V0304"),
    ("static neighbour of the other family", Sonic, T0, Set(&["NEIGH", "Ethernet256|fd00:c105:2:1000:1:1:0:b", "family"], "\"IPv4\""), "V0102"),
    ("two static neighbours", Sonic, T0, Set(&["NEIGH", "Ethernet256|fd00:c105:2:1000:1:1:0:f"], r#"{"family":"IPv6","neigh":"02:c1:10:00:00:02"}"#), "V0304"),
];

#[rustfmt::skip] // A table: one row per line.
pub(crate) const DEVICE: &[Mutation] = &[
    ("name of another switch", Sonic, T0, Set(&["DEVICE_METADATA", "localhost", "hostname"], "\"p0-t0-002\""), "V0104"),
    ("configuration of another switch", Sonic, T0, Same("switches/p0-t0-002/config_db.json"), "V0104"),
    ("configuration of the same switch of another plane", Sonic, T0, Same("switches/p1-t0-001/config_db.json"), "V0502"),
    ("no configuration", Sonic, T0, Gone, "V0201"),
    ("half a configuration", Sonic, T0, Cut("\"STATIC_ROUTE\"", "}"), "V0102"),
    ("MAC address of another switch", Sonic, T0, Set(&["DEVICE_METADATA", "localhost", "mac"], "\"02:c1:00:00:00:02\""), "V0401"),
    ("unexpected MAC address", Sonic, T0, Set(&["DEVICE_METADATA", "localhost", "mac"], "\"02:c1:00:00:00:77\""), "V0304"),
    ("type of another tier", Sonic, T0, Set(&["DEVICE_METADATA", "localhost", "type"], "\"LeafRouter\""), "V1201"),
    ("type that seeds nothing", Sonic, T1, Set(&["DEVICE_METADATA", "localhost", "type"], "\"Switch\""), "V1201"),
    ("unknown hardware", Sonic, T0, Set(&["DEVICE_METADATA", "localhost", "hwsku"], "\"Force10-S6000\""), "V1402"),
    ("sessions start by themselves", Sonic, T0, Set(&["DEVICE_METADATA", "localhost", "default_bgp_status"], "\"up\""), "V0106"),
    ("routing is configured elsewhere", Sonic, T0, Set(&["DEVICE_METADATA", "localhost", "docker_routing_config_mode"], "\"unified\""), "V0106"),
    ("loopback of another switch", Sonic, T0, All("Loopback0|fd00:c105:3::1/128", "Loopback0|fd00:c105:3::2/128"), "V0401"),
    ("loopback of another length", Sonic, T0, All("Loopback0|fd00:c105:3::1/128", "Loopback0|fd00:c105:3::1/64"), "V0401"),
    ("no loopback", Sonic, T0, Unset(&["LOOPBACK_INTERFACE", "Loopback0|fd00:c105:3::1/128"]), "V0401"),
    ("loopback inside the block", Sonic, T0, All("Loopback0|fd00:c105:3::1/128", "Loopback0|fcbb:bbbb:3::1/128"), "V0403"),
    ("management address of another switch", Sonic, T0, Text("eth0|10.64.0.1/14", "eth0|10.64.0.2/14"), "V0401"),
    ("management gateway in another subnet", Sonic, T0, Text("10.67.0.1", "10.99.0.1"), "V0402"),
    ("management gateway is a switch", Sonic, T0, Text("10.67.0.1", "10.64.0.2"), "V0402"),
    ("no management address", Sonic, T0, Unset(&["MGMT_INTERFACE"]), "V0402"),
    ("a VLAN", Sonic, T0, Set(&["VLAN"], r#"{"Vlan100":{"vlanid":"100"}}"#), "V0103"),
    ("a BGP neighbour", Sonic, T0, Set(&["BGP_NEIGHBOR"], r#"{"fd00::1":{"asn":"65000"}}"#), "V0103"),
    ("a port channel", Sonic, T0, Set(&["PORTCHANNEL"], r#"{"PortChannel1":{}}"#), "V0103"),
    ("an access list", Sonic, T0, Set(&["ACL_RULE"], r#"{"DATA|RULE_1":{"PACKET_ACTION":"DROP"}}"#), "V0103"),
    ("a tunnel", Sonic, T0, Set(&["VXLAN_TUNNEL"], r#"{"vtep":{"src_ip":"10.0.0.1"}}"#), "V0103"),
    ("no management gateway", Sonic, T0, Text(r#""gwaddr": "10.67.0.1""#, ""), "V0402"),
    ("messages go to another server", Sonic, T0, Set(&["SYSLOG_SERVER"], r#"{"192.0.2.66":{}}"#), "V0106"),
    ("the time is from another server", Sonic, T0, Set(&["NTP_SERVER"], r#"{"192.0.2.66":{}}"#), "V0106"),
    ("a service of a state that SONiC does not know", Sonic, T0, Set(&["FEATURE"], r#"{"bgp":{"state":"off"}}"#), "V0105"),
    ("a table twice", Sonic, T0, Text("\"SRV6_MY_SIDS\": {", "\"SRV6_MY_SIDS\": {}, \"SRV6_MY_SIDS\": {"), "V0102"),
];

#[rustfmt::skip] // A table: one row per line.
pub(crate) const ISOLATION: &[Mutation] = &[
    ("an isolated cable is open", Isolated, T0, Unset(&["ACL_TABLE", "LINK_ISOLATION_TABLE", "ports"]), "V0306"),
    ("a port too many is isolated", Isolated, T0, Set(&["ACL_TABLE", "LINK_ISOLATION_TABLE", "ports"], r#"["Ethernet256","Ethernet257"]"#), "V0306"),
    ("another port is isolated", Isolated, T0, Set(&["ACL_TABLE", "LINK_ISOLATION_TABLE", "ports"], r#"["Ethernet256"]"#), "V0306"),
    ("a port is isolated twice", Isolated, T0, Set(&["ACL_TABLE", "LINK_ISOLATION_TABLE", "ports"], r#"["Ethernet257","Ethernet257"]"#), "V0306"),
    ("a port that is not there is isolated", Isolated, T0, Set(&["ACL_TABLE", "LINK_ISOLATION_TABLE", "ports"], r#"["Ethernet257","Ethernet9"]"#), "V0103"),
    ("a list of ports is empty", Isolated, "switches/p1-t0-001/config_db.json", Set(&["ACL_TABLE", "LINK_ISOLATION_TABLE", "ports"], "[]"), "V0306"),
    ("ports are not a list", Isolated, T0, Set(&["ACL_TABLE", "LINK_ISOLATION_TABLE", "ports"], r#""Ethernet257""#), "V0306"),
    ("one end of a cable is isolated", Isolated, "switches/p0-t1-002/config_db.json", Unset(&["ACL_TABLE", "LINK_ISOLATION_TABLE", "ports"]), "V0306"),
    ("no list of isolated ports", Isolated, T1, Unset(&["ACL_TABLE"]), "V0306"),
    ("no rules for isolated ports", Isolated, T0, Unset(&["ACL_RULE"]), "V0306"),
    ("no type of the list", Isolated, T0, Unset(&["ACL_TABLE_TYPE"]), "V0306"),
    ("isolated ports drop nothing", Isolated, T0, Unset(&["ACL_RULE", "LINK_ISOLATION_TABLE|DENY_ALL_IPV6"]), "V0306"),
    ("isolated ports drop ICMPv6", Isolated, T0, Set(&["ACL_RULE", "LINK_ISOLATION_TABLE|PERMIT_ALL_ICMPV6", "PRIORITY"], "\"998\""), "V0306"),
    ("isolated ports forward UDP", Isolated, T0, Set(&["ACL_RULE", "LINK_ISOLATION_TABLE|PERMIT_ALL_ICMPV6", "IP_PROTOCOL"], "\"17\""), "V0306"),
    ("a rule more for isolated ports", Isolated, T0, Set(&["ACL_RULE", "LINK_ISOLATION_TABLE|PERMIT_UDP"], r#"{"PRIORITY":"1001","PACKET_ACTION":"FORWARD","IP_PROTOCOL":"17"}"#), "V0306"),
    ("isolated ports drop IPv4", Isolated, T0, Set(&["ACL_RULE", "LINK_ISOLATION_TABLE|DENY_ALL_IPV6", "IP_TYPE"], "\"IPV4ANY\""), "V0306"),
    ("packets are dropped at egress", Isolated, T0, Set(&["ACL_TABLE", "LINK_ISOLATION_TABLE", "stage"], "\"egress\""), "V0306"),
    ("a list of another type", Isolated, T0, Set(&["ACL_TABLE", "LINK_ISOLATION_TABLE", "type"], "\"L3V6\""), "V0306"),
    ("another type of lists", Isolated, T0, Set(&["ACL_TABLE_TYPE", "OTHER"], r#"{"MATCHES":["IP_TYPE"],"BIND_POINTS":["PORT"]}"#), "V0103"),
    ("a list of the site on forwarded packets", Isolated, T0, Set(&["ACL_TABLE", "DATA"], r#"{"type":"L3V6","stage":"ingress","ports":["Ethernet0"]}"#), "V0103"),
    ("isolated by hand", Sonic, T0, Set(&["ACL_TABLE"], r#"{"LINK_ISOLATION_TABLE":{"policy_desc":"SRv6_link_isolation","type":"L3V6LITE","stage":"ingress","ports":["Ethernet257"]}}"#), "V0103"),
    ("a cable is isolated in its list only", Sonic, "cables/plane-0.csv", Text("2m,dac,up", "2m,dac,isolated"), "V0306"),
    ("an isolated cable is drained in its list", Isolated, "cables/plane-0.csv", Text(",isolated", ",drained"), "V0306"),
    ("an isolated cable is in use in its list", Isolated, "cables/plane-0.csv", Text(",isolated", ",up"), "V0306"),
];
