//! Damage to the entries of SONiC hardware with P4Runtime, and to the CONFIG_DB next to them.

use crate::base::Base::{ChosenPins as P, Pins as S};
use crate::common::damage::Damage::{All, Behind, Cut, Gone, More, Same, Set, Text, Unset};
use crate::mutations::Mutation;

const T0: &str = "switches/p0-t0-001/pins.txtpb";
const T1: &str = "switches/p0-t1-001/pins.txtpb";
const DB: &str = "switches/p0-t0-001/config_db.json";
const INTERFACE: &str = "router_interface_table  router_interface_id=\"Ethernet256\"";
const NEIGHBOUR: &str = "neighbor_table  router_interface_id=\"Ethernet256\"";
const HOP: &str = "# + ingress.routing_resolution.nexthop_table  nexthop_id=\"Ethernet256\"";
const HOP2: &str = "# + ingress.routing_resolution.nexthop_table  nexthop_id=\"Ethernet257\"";
const GROUP: &str = "# + ingress.routing_resolution.wcmp_group_table";
const ROUTES: &str = "# + ingress.routing_lookup.ipv6_table";
const NIC: &str = "ipv6_dst=fd00:c105:1:1::1/128";
const NIC1: &str = "# + ingress.routing_lookup.ipv6_table  vrf_id=\"\" ipv6_dst=fd00:c105:1:1::1/128";
const NIC2: &str = "# + ingress.routing_lookup.ipv6_table  vrf_id=\"\" ipv6_dst=fd00:c105:1:1::2/128";
const OWN: &str = "# + ingress.routing_lookup.ipv6_table  vrf_id=\"\" ipv6_dst=fd00:c105:1:1::/64";
const ZONE: &str = "# + ingress.routing_lookup.ipv6_table  vrf_id=\"\" ipv6_dst=fd00:c105:1::/52";
const POOL: &str = "# + ingress.routing_lookup.ipv6_table  vrf_id=\"\" ipv6_dst=fd00:c105:1::/48";
const FAR: &str = "# + ingress.routing_lookup.ipv6_table  vrf_id=\"\" ipv6_dst=fd00:c105:1:2::/64";
const L3: &str = "# + ingress.l3_admit.l3_admit_table";
const RIFS: &str = "# + ingress.routing_resolution.router_interface_table";

#[rustfmt::skip] // A table: one row per line.
pub(crate) const ENTRIES: &[Mutation] = &[
    ("a heavier member", P, T0, Behind(GROUP, "weight: 1", "weight: 2"), "V1709"),
    ("a member without weight", P, T0, Behind(GROUP, "weight: 1", "weight: 0"), "V0102"),
    ("a member that is not there", P, T0, Behind(GROUP, "value: \"Ethernet256\"", "value: \"Ethernet300\""), "V0102"),
    ("a member over a NIC's port", P, T0, Behind(GROUP, "value: \"Ethernet256\"", "value: \"Ethernet0\""), "V1703"),
    ("an unwatched port", P, T0, Behind(GROUP, "watch_port: \"257\"", ""), "V0103"),
    ("another port is watched", P, T0, Behind(GROUP, "watch_port: \"257\"", "watch_port: \"258\""), "V0103"),
    ("an entry with an unknown field", P, T0, Behind(NIC1, "      table_id:", "      zorro: 1\n      table_id:"), "V0102"),
    ("an entry that ages", P, T0, Behind(NIC1, "      table_id:", "      idle_timeout_ns: 1000000000\n      table_id:"), "V0102"),
    ("a priority of a prefix", P, T0, Behind(NIC1, "      table_id:", "      priority: 7\n      table_id:"), "V0102"),
    ("a meter of a route", P, T0, Behind(NIC1, "      table_id:", "      meter_config { cir: 1 cburst: 1 pir: 1 pburst: 1 }\n      table_id:"), "V0102"),
    ("a member with an older field", P, T0, Behind(GROUP, "watch_port: \"257\"", "watch_port: \"257\"\n            watch: 257"), "V0102"),
    ("no groups", P, T0, Cut(GROUP, ROUTES), "V0102"),
    ("no route to the zone", P, T0, Cut(ZONE, POOL), "V1702"),
    ("no blackhole for the rest of the group", P, T0, Cut(OWN, ZONE), "V1704"),
    ("no blackhole for the pool", P, T0, Behind(POOL, "prefix_len: 48", "prefix_len: 47"), "V1708"),
    ("no route to a NIC", P, T0, Cut(NIC1, NIC2), "V1702"),
    ("a NIC over the port of another", P, T0, Behind(NIC, "value: \"Ethernet0\"", "value: \"Ethernet1\""), "V1703"),
    ("a route is in another VRF", P, T0, Behind(NIC, "exact {\n        }", "exact {\n          value: \"red\"\n        }"), "V0102"),
    ("a route of a longer prefix", P, T0, Behind(ZONE, "prefix_len: 52", "prefix_len: 64"), "V1702"),
    ("a route to a group drops", P, T0, Behind(ZONE, "action_id: 16777220", "action_id: 16777222"), "V0102"),
    ("an action of another table", P, T0, Behind(ZONE, "action_id: 16777220", "action_id: 16777217"), "V0102"),
    ("a table that is not there", P, T0, Behind(ZONE, "table_id: 33554501", "table_id: 33554601"), "V0102"),
    ("a field that is not there", P, T0, Behind(ZONE, "field_id: 2", "field_id: 9"), "V0102"),
    ("an update that deletes", P, T0, Behind(ZONE, "type: INSERT", "type: DELETE"), "V0102"),
    ("a value cut off", P, T0, Behind(GROUP, "value: \"Ethernet256\"", "value: \"Ethernet256"), "V0102"),
    ("an interface at another port", P, T0, Behind(INTERFACE, "value: \"257\"", "value: \"258\""), "V0103"),
    ("an interface at no port", P, T0, Behind(INTERFACE, "value: \"257\"", "value: \"999\""), "V0103"),
    ("an interface with another MAC address", P, T0, Behind(INTERFACE, "\\002\\301\\000\\000\\000\\001", "\\002\\301\\000\\000\\000\\007"), "V0103"),
    ("a neighbour with another MAC address", P, T0, Behind(NEIGHBOUR, "\\002\\301\\020\\000\\000\\001", "\\002\\301\\020\\000\\000\\002"), "V0304"),
    ("a neighbour of another interface", P, T0, Behind(NEIGHBOUR, "value: \"Ethernet256\"", "value: \"Ethernet257\""), "V0102"),
    ("a next hop over another interface", P, T0, Behind(HOP, "value: \"Ethernet256\"\n          }\n          params", "value: \"Ethernet257\"\n          }\n          params"), "V0102"),
    ("no next hop", P, T0, Cut(HOP, HOP2), "V0102"),
    ("a next hop is there twice", P, T0, Behind(HOP2, "value: \"Ethernet257\"", "value: \"Ethernet256\""), "V0102"),
    ("every MAC address is routed", P, T0, Behind(L3, "mask: \"\\377\\377\\377\\377\\377\\377\"", "mask: \"\\377\\377\\377\\377\\377\\000\""), "V0102"),
    ("another MAC address is routed", P, T0, Behind(L3, "\\002\\301\\000\\000\\000\\001", "\\002\\301\\000\\000\\000\\002"), "V0103"),
    ("nothing is routed", P, T0, Cut(L3, RIFS), "V0103"),
    ("an entry without priority", P, T0, Behind(L3, "priority: 1", "priority: 0"), "V0102"),
    ("a group over the T0 of another", P, T1, Behind(FAR, "value: \"Ethernet1\"", "value: \"Ethernet0\""), "V1706"),
    ("a next hop that is not there", P, T1, Behind(FAR, "value: \"Ethernet1\"", "value: \"Ethernet9\""), "V0102"),
    ("entries of another switch", P, T0, Same("switches/p0-t0-002/pins.txtpb"), "V0304"),
    ("what is not an entry", P, T0, More("sizes: 1\n"), "V0102"),
    ("another pipeline", P, "p4/sai.p4info.txtpb", Text("routing_lookup.ipv6_table", "routing_lookup.ipv6_lpm"), "V0103"),
    ("no pipeline", P, "p4/sai.p4info.txtpb", Gone, "V0104"),
];

#[rustfmt::skip] // A table: one row per line.
pub(crate) const BESIDE: &[Mutation] = &[
    ("a port without a number", P, DB, Unset(&["PORT", "Ethernet256", "id"]), "V0105"),
    ("two ports of one number", P, DB, Set(&["PORT", "Ethernet256", "id"], "\"258\""), "V0105"),
    ("a port whose number is none", P, DB, Set(&["PORT", "Ethernet256", "id"], "\"0257\""), "V0105"),
    ("a switch without a number", P, DB, Unset(&["NODE_CFG"]), "V0105"),
    ("a route beside the controller's", P, DB, Set(&["STATIC_ROUTE"], "{\"default|fd00::/16\": {\"blackhole\": \"true\"}}"), "V0103"),
    ("an address beside the controller's", P, DB, Set(&["INTERFACE"], "{\"Ethernet256\": {}, \"Ethernet256|fd00::1/127\": {}}"), "V0103"),
    ("a port is shut", P, DB, Set(&["PORT", "Ethernet256", "admin_status"], "\"down\""), "V0204"),
    ("a port of another speed", P, DB, Set(&["PORT", "Ethernet256", "speed"], "\"50000\""), "V0302"),
    ("another seed", P, DB, Set(&["DEVICE_METADATA", "localhost", "type"], "\"LeafRouter\""), "V1201"),
    ("no P4Runtime server", P, DB, Set(&["FEATURE"], r#"{"p4rt":{"state":"disabled"}}"#), "V0105"),
    ("no CONFIG_DB", P, DB, Gone, "V0104"),
];

const SID: &str = "loc1|fcbb:bbbb:1::/48";
const UP: &str = "ipv6_dst=fcbb:bbbb:4001::/48";
const DOWN: &str = "ipv6_dst=fcbb:bbbb:8001::/48";
const BLOCK: &str = "ipv6_dst=fcbb:bbbb::/32";

#[rustfmt::skip] // A table: one row per line.
pub(crate) const SEGMENTS: &[Mutation] = &[
    ("no segment", S, DB, Unset(&["SRV6_MY_SIDS", SID]), "V0501"),
    ("no tables of segments", S, DB, Unset(&["SRV6_MY_SIDS"]), "V0504"),
    ("a uA", S, DB, Set(&["SRV6_MY_SIDS", SID, "action"], "\"uA\""), "V0501"),
    ("segment with the bits of plane 1", S, DB, All("fcbb:bbbb:1::", "fcbb:bbbb:801::"), "V0502"),
    ("segment of another switch", S, DB, All("fcbb:bbbb:1::", "fcbb:bbbb:2::"), "V0503"),
    ("two segments", S, DB, Set(&["SRV6_MY_SIDS", "loc1|fcbb:bbbb:3::/48"], r#"{"action":"uN","decap_dscp_mode":"pipe"}"#), "V0504"),
    ("a route of segments beside the controller's", S, DB, Set(&["STATIC_ROUTE"], "{\"default|fcbb:bbbb:4001::/48\": {\"blackhole\": \"true\"}}"), "V0103"),
    ("a uSID over a NIC's port", S, T0, Behind(UP, "value: \"Ethernet256\"", "value: \"Ethernet0\""), "V0605"),
    ("a uSID over another uplink", S, T0, Behind(UP, "value: \"Ethernet256\"", "value: \"Ethernet257\""), "V0605"),
    ("a NIC's uSID over the port of another", S, T0, Behind(DOWN, "value: \"Ethernet0\"", "value: \"Ethernet1\""), "V0605"),
    ("a uSID of another length", S, T0, Behind(UP, "prefix_len: 48", "prefix_len: 47"), "V0601"),
    ("no blackhole of the block", S, T0, Behind(BLOCK, "prefix_len: 32", "prefix_len: 31"), "V0602"),
    ("entries of another switch", S, T0, Same("switches/p0-t0-002/pins.txtpb"), "V0304"),
];
