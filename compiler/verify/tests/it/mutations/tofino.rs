//! Damage to entries for Tofino: device ports, invalid IDs, and marking with two random numbers.

use crate::base::Base::{ChosenTofino as C, Tofino as S};
use crate::common::damage::Damage::{Behind, Cut, Gone, Same, Text};
use crate::mutations::Mutation;

const T0: &str = "switches/p0-t0-001/tna.txtpb";
const T1: &str = "switches/p0-t1-001/tna.txtpb";
const INFO: &str = "p4/fabric_tna.p4info.txtpb";
const UP: &str = "# + ingress.ipv6_route  dst=fcbb:bbbb:4001::/48";
const UP2: &str = "# + ingress.ipv6_route  dst=fcbb:bbbb:4002::/48";
const NIC: &str = "# + ingress.ipv6_route  dst=fcbb:bbbb:8001::/48";
const NIC2: &str = "# + ingress.ipv6_route  dst=fcbb:bbbb:8002::/48";
const BLOCK: &str = "# + ingress.ipv6_route  dst=fcbb:bbbb::/32";
const CLASSES: &str = "# + ingress.dscp_class";
const HOP: &str = "# + ingress.nexthop  nexthop_id=129 ";
const HOP2: &str = "# + ingress.nexthop  nexthop_id=137 ";
const SID: &str = "# + ingress.my_sid";
const SOURCE: &str = "# + ingress.nic_source  ingress_port=136 src=fd00:c105:1:1::1/128";
const INNER: &str = "# + ingress.nic_inner_source  ingress_port=136";
const MARK: &str = "# + egress.ecn  egress_port=400 class=1 ";
const MARK2: &str = "# + egress.ecn  egress_port=400 class=2 ";
const ROLE: &str = "# + ingress.port_role  ingress_port=400";
const ROLE2: &str = "# + ingress.port_role  ingress_port=392";
const GROUP: &str = "# + ingress.wcmp_selector  group";

#[rustfmt::skip] // A table: one row per line.
pub(crate) const ENTRIES: &[Mutation] = &[
    ("route to another T1's next hop", S, T0, Behind(UP, "value: \"\\201\"", "value: \"\\211\""), "V0605"),
    ("route to a device port in place of an id", S, T0, Behind(UP, "value: \"\\201\"", "value: \"\\001\\220\""), "V0103"),
    ("no route to a T1", S, T0, Cut(UP, UP2), "V0606"),
    ("no route to a NIC", S, T0, Cut(NIC, NIC2), "V0606"),
    ("route to a NIC leads to a T1", S, T0, Behind(NIC, "value: \"\\001\"", "value: \"\\201\""), "V0605"),
    ("route of a wider prefix", S, T0, Behind(UP, "prefix_len: 48", "prefix_len: 40"), "V0601"),
    ("route of a longer prefix", S, T0, Behind(UP, "prefix_len: 48", "prefix_len: 64"), "V0601"),
    ("no blackhole", S, T0, Cut(BLOCK, CLASSES), "V0602"),
    ("route for another plane's uSID", S, T0, Behind(UP, "\\273@\\001", "\\273H\\001"), "V0605"),
    ("next hop over the port of another T1", S, T0, Behind(HOP, "value: \"\\001\\220\"", "value: \"\\001\\210\""), "V0604"),
    ("next hop over a NIC's port", S, T0, Behind(HOP, "value: \"\\001\\220\"", "value: \"\\210\""), "V0605"),
    ("next hop over a place on the panel", S, T0, Behind(HOP, "value: \"\\001\\220\"", "value: \"\\201\""), "V0603"),
    ("next hop over the next lane of its cage", S, T0, Behind(HOP, "value: \"\\001\\220\"", "value: \"\\001\\221\""), "V0603"),
    ("next hop with another switch's MAC address", S, T0, Behind(HOP, "\\002\\301\\020\\000\\000\\001", "\\002\\301\\020\\000\\000\\002"), "V0304"),
    ("next hop from another MAC address", S, T0, Behind(HOP, "\\002\\301\\000\\000\\000\\001", "\\002\\301\\000\\000\\000\\007"), "V0304"),
    ("no next hop", S, T0, Cut(HOP, HOP2), "V0103"),
    ("no segment", S, T0, Cut(SID, "# + ingress.nexthop  nexthop_id=1 "), "V0504"),
    ("segment of another switch", S, T0, Behind(SID, "\\273\\000\\001", "\\273\\000\\002"), "V0503"),
    ("segment of another block", S, T0, Behind(SID, "\\273\\000\\001", "\\274\\000\\001"), "V0501"),
    ("uplink has no role", S, T0, Cut(ROLE, ROLE2), "V0204"),
    ("role of the place on the panel", S, T0, Behind(ROLE, "value: \"\\001\\220\"", "value: \"\\201\""), "V0204"),
    ("all packets go to the controller", S, T0, Behind("# + ingress.punt", "\\210\\314", "\\206\\335"), "V0102"),
    ("NICs may send anywhere in the block", S, T0, Behind("# + ingress.nic_destination", "prefix_len: 48", "prefix_len: 32"), "V0105"),
    ("the rest of the block is not denied", S, T0, Cut("# + ingress.nic_destination  dst=fcbb:bbbb::/32", SOURCE), "V0105"),
    ("NIC may send from another's address", S, T0, Behind(SOURCE, "\\001\"\n          prefix_len: 128", "\\002\"\n          prefix_len: 128"), "V0205"),
    ("NIC may send from a whole prefix", S, T0, Behind(SOURCE, "prefix_len: 128", "prefix_len: 64"), "V0102"),
    ("NIC may not send inner packets", S, T0, Cut(INNER, "# + ingress.nic_source  ingress_port=144"), "V0205"),
    ("data in another class", S, T0, Behind("dscp=1 ->", "param_id: 1\n            value: \"\\001\"", "param_id: 1\n            value: \"\\003\""), "V1101"),
    ("data in no class", S, T0, Cut("# + ingress.dscp_class  dscp=1 ", "# + ingress.dscp_class  dscp=2 "), "V1101"),
    ("no marks", S, T0, Cut(MARK, MARK2), "V1105"),
    ("marks at another port", S, T0, Behind(MARK, "value: \"\\001\\220\"", "value: \"\\001\\230\""), "V1105"),
    ("marks from fewer cells", S, T0, Behind(MARK, "value: \"\\004q\"", "value: \"\\004p\""), "V0102"),
    ("marks of all from fewer cells", S, T0, Behind(MARK, "value: \"\\010\\341\"", "value: \"\\007\\341\""), "V0102"),
    ("a ramp of half the cells", S, T0, Behind(MARK, "value: \"\\007\\377\"", "value: \"\\003\\377\""), "V0102"),
    ("a ramp that is not a power of two", S, T0, Behind(MARK, "value: \"\\007\\377\"", "value: \"\\007\\376\""), "V0102"),
    ("a share that is one too many", S, T0, Behind(MARK, "value: \"\\027\\023\"", "value: \"\\027\\024\""), "V0102"),
    ("marks of twice the probability", S, T0, Behind(MARK, "value: \"\\027\\023\"", "value: \"\\056\\047\""), "V1105"),
    ("a table that is not there", S, T0, Behind(UP, "table_id: ", "table_id: 9"), "V0102"),
    ("an action that is not there", S, T0, Behind(UP, "action_id: ", "action_id: 9"), "V0102"),
    ("a field that is not there", S, T0, Behind(UP, "field_id: 1", "field_id: 9"), "V0102"),
    ("an update that deletes", S, T0, Behind(UP, "type: INSERT", "type: DELETE"), "V0102"),
    ("a value cut off", S, T0, Behind(UP, "value: \"\\201\"", "value: \"\\201"), "V0102"),
    ("entries of another switch", S, T0, Same("switches/p0-t0-002/tna.txtpb"), "V0304"),
    ("entries of another tier", S, T0, Same(T1), "V0502"),
    ("no entries", S, T0, Gone, "V0201"),
    ("another pipeline", S, INFO, Text("ingress.ipv6_route", "ingress.ipv6_lpm"), "V0103"),
    ("no pipeline", S, INFO, Gone, "V0104"),
    ("a heavier member", C, T0, Behind(GROUP, "weight: 1", "weight: 2"), "V1709"),
    ("a member without weight", C, T0, Behind(GROUP, "weight: 1", "weight: 0"), "V0103"),
    ("a member that is not there", C, T0, Behind(GROUP, "member_id: 129", "member_id: 400"), "V0103"),
    ("a member that watches no port", C, T0, Behind(GROUP, "watch_port: \"\\001\\220\"", ""), "V0105"),
    ("a member that watches a place on the panel", C, T0, Behind(GROUP, "watch_port: \"\\001\\220\"", "watch_port: \"\\201\""), "V0105"),
    ("no route to the zone", C, T0, Cut("# + ingress.ipv6_route  dst=fd00:c105:1::/52 ", "# + ingress.ipv6_route  dst=fd00:c105:1::/48 "), "V1702"),
    ("a NIC over the port of another", C, T0, Behind("ipv6_route  dst=fd00:c105:1:1::1/128 ", "value: \"\\001\"", "value: \"\\t\""), "V1703"),
    ("a group over the T0 of another", C, T1, Behind("ipv6_route  dst=fd00:c105:1:2::/64 ", "value: \"\\t\"", "value: \"\\001\""), "V1706"),
];
