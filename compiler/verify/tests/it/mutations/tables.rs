//! Damage to path tables: to a single form, or to the input of both.

use closc_plan::{DeniedPaths, PathTable, Reason, Scope};
use closc_topology::{PlaneId, Usid};

use crate::base::Base::{Declared, Linux, Lossless, Sonic, Zones};
use crate::common::damage::Damage::{Byte, Gone, Rot, Same, Set, Swap, Table, Text, Unset};
use crate::mutations::Mutation;

const JSON: &str = "path-tables/group-0001.json";
const BINARY: &str = "path-tables/group-0001.bin";
const FAR: &str = "path-tables/z0-group-0001.json";

#[rustfmt::skip] // A table: one row per line.
pub(crate) const FORMS: &[Mutation] = &[
    ("template of another group", Linux, JSON, Swap(&["destinations", "0", "template"], &["destinations", "1", "template"]), "V0701"),
    ("template over another T1", Linux, JSON, Set(&["destinations", "1", "template"], "\"fcbb:bbbb:1:4002:2:8001::\""), "V0701"),
    ("template of another plane", Linux, JSON, Set(&["destinations", "1", "template"], "\"fcbb:bbbb:801:4801:802:8801::\""), "V0701"),
    ("template of another block", Linux, JSON, Set(&["destinations", "1", "template"], "\"fcbb:bbbc:1:4001:2:8001::\""), "V0701"),
    ("a destination is missing", Linux, JSON, Unset(&["destinations", "1"]), "V0701"),
    ("destination of another kind", Linux, JSON, Set(&["destinations", "1", "kind"], "\"local\""), "V0701"),
    ("destination of another prefix", Linux, JSON, Set(&["destinations", "1", "prefix"], "\"fd00:c105:1:3::/64\""), "V0701"),
    ("destination of another group", Linux, JSON, Set(&["destinations", "1", "group"], "3"), "V0701"),
    ("table of another group", Linux, JSON, Set(&["group"], "2"), "V0701"),
    ("table of group 0", Linux, JSON, Set(&["group"], "0"), "V0102"),
    ("table of another zone", Linux, JSON, Set(&["zone"], "1"), "V0701"),
    ("table of another fabric", Linux, JSON, Set(&["fabric"], "\"other\""), "V0102"),
    ("table of another form", Linux, JSON, Set(&["format"], "\"closc-path-table/9\""), "V0102"),
    ("prefix of another group", Linux, JSON, Set(&["prefix"], "\"fd00:c105:1:2::/64\""), "V0701"),
    ("prefix of all groups", Linux, JSON, Set(&["prefix"], "\"fd00:c105:1::/48\""), "V0701"),
    ("destination of a prefix of all groups", Linux, JSON, Set(&["destinations", "1", "prefix"], "\"fd00:c105:1::/48\""), "V0701"),
    ("prefix outside the pool", Linux, JSON, Set(&["prefix"], "\"2001:db8::/64\""), "V0701"),
    ("another block", Linux, JSON, Set(&["segments", "block"], "\"fcbb:bbbc::/32\""), "V0702"),
    ("fewer bits of a plane", Linux, JSON, Set(&["segments", "plane_bits"], "2"), "V0702"),
    ("more bits than a uSID has", Linux, JSON, Set(&["segments", "index_bits"], "14"), "V0102"),
    ("another role of T1s", Linux, JSON, Set(&["segments", "roles", "t1"], "3"), "V0702"),
    ("another number of parallel cables", Linux, JSON, Set(&["segments", "parallel_t0_t1"], "2"), "V0701"),
    ("fewer uplinks", Linux, JSON, Set(&["entropy", "t0_uplinks"], "1"), "V0701"),
    ("other bits of an uplink", Linux, JSON, Set(&["entropy", "t0_uplink_bits"], "10"), "V0701"),
    ("another number of active values", Linux, JSON, Set(&["entropy", "active_per_plane"], "1"), "V0701"),
    ("another floor of active values", Linux, JSON, Set(&["entropy", "min_active"], "9"), "V0701"),
    ("another UDP port", Linux, JSON, Set(&["entropy", "udp_port"], "4792"), "V0701"),
    ("another order of uplinks", Linux, JSON, Set(&["planes", "0", "uplink_order"], "[0, 1]"), "V0701"),
    ("an uplink twice in the order", Linux, JSON, Set(&["planes", "0", "uplink_order"], "[0, 0]"), "V0701"),
    ("a plane is missing", Linux, JSON, Unset(&["planes", "1"]), "V0701"),
    ("planes exchanged", Linux, JSON, Swap(&["planes", "0"], &["planes", "1"]), "V0102"),
    ("another port of the NIC", Linux, JSON, Set(&["planes", "0", "nic_port"], "1"), "V0102"),
    ("T0 of another group", Linux, JSON, Set(&["planes", "0", "t0"], "\"p0-t0-002\""), "V0705"),
    ("T0 that is not there", Linux, JSON, Set(&["planes", "0", "t0"], "\"p0-t0-009\""), "V0705"),
    ("MAC address of another T0", Linux, JSON, Set(&["planes", "0", "t0_mac"], "\"02:c1:00:00:00:02\""), "V0707"),
    ("uSID of another T0", Linux, JSON, Set(&["planes", "0", "t0_usid"], "\"0002\""), "V0707"),
    ("a uSID of three digits", Linux, JSON, Set(&["planes", "0", "t0_usid"], "\"001\""), "V0102"),
    ("a NIC is missing", Linux, JSON, Unset(&["nics", "1"]), "V0705"),
    ("downlinks exchanged", Linux, JSON, Swap(&["nics", "0", "downlink"], &["nics", "1", "downlink"]), "V0705"),
    ("addresses of NICs exchanged", Linux, JSON, Swap(&["nics", "0", "address"], &["nics", "1", "address"]), "V0705"),
    ("names of NICs exchanged", Linux, JSON, Swap(&["nics", "0", "name"], &["nics", "1", "name"]), "V0605"),
    ("address of a NIC of another group", Linux, JSON, Set(&["nics", "0", "address"], "\"fd00:c105:1:2::1\""), "V0705"),
    ("a NIC without a number", Linux, JSON, Set(&["nics", "0", "name"], "\"su001-n001\""), "V0102"),
    ("a NIC that no cable leads to", Linux, JSON, Set(&["nics", "0", "name"], "\"su009-n001/nic0\""), "V0705"),
    ("two NICs on one downlink", Linux, JSON, Set(&["nics", "1", "downlink"], "1"), "V0705"),
    ("probe over another T1", Linux, JSON, Set(&["probes", "1", "template"], "\"fcbb:bbbb:1:4002:1:8001::\""), "V0701"),
    ("a start among T1 uplinks in two tiers", Linux, JSON, Text("\"t1_uplinks\": 0,", "\"t1_uplinks\": 0, \"t1_start\": 0,"), "V0701"),
    ("another start among T1 uplinks", Zones, FAR, Set(&["entropy", "t1_start"], "1"), "V0701"),
    ("no start among T1 uplinks", Zones, FAR, Unset(&["entropy", "t1_start"]), "V0701"),
    ("another step of T2s", Zones, FAR, Set(&["segments", "t2_step"], "9"), "V0701"),
    ("no row of T2s", Zones, FAR, Unset(&["segments", "t2_row"]), "V0701"),
    ("T2 probe over another T2", Zones, FAR, Swap(&["probes", "2", "template"], &["probes", "1", "template"]), "V0701"),
    ("a T2 probe is missing", Zones, FAR, Unset(&["probes", "2"]), "V0701"),
    ("another code point of packets trimmed inside the fabric", Sonic, JSON, Set(&["qos", "trimmed", "fabric_dscp"], "16"), "V1103"),
    ("another code point of packets trimmed at the last hop", Linux, JSON, Set(&["qos", "trimmed", "last_hop_dscp"], "12"), "V0702"),
    ("no code points of trimmed packets", Sonic, JSON, Unset(&["qos", "trimmed"]), "V1103"),
    ("a probe is missing", Linux, JSON, Unset(&["probes", "0"]), "V0701"),
    ("other code points of data", Linux, JSON, Set(&["qos", "classes", "1", "dscp"], "[5]"), "V1101"),
    ("another class of data", Linux, JSON, Set(&["qos", "classes", "1", "traffic_class"], "2"), "V1101"),
    ("data is not trimmed", Linux, JSON, Set(&["qos", "classes", "1", "trim"], "false"), "V1101"),
    ("a class is missing", Linux, JSON, Unset(&["qos", "classes", "4"]), "V1101"),
    ("another profile", Linux, JSON, Set(&["qos", "profile"], "\"lossless\""), "V1101"),
    ("another size of payload", Linux, JSON, Set(&["qos", "payload_mtu"], "9001"), "V0701"),
    ("another round-trip time", Linux, JSON, Set(&["delay", "base_rtt_ns"], "1"), "V0702"),
    ("data of a SONiC fabric in another class", Sonic, JSON, Set(&["qos", "classes", "1", "dscp"], "[46]"), "V1101"),
    ("data of a lossless fabric in another class", Lossless, JSON, Set(&["qos", "classes", "1", "traffic_class"], "0"), "V1101"),
    ("an unknown word", Linux, JSON, Set(&["weights"], "[1]"), "V0102"),
    ("no table", Linux, JSON, Gone, "V0104"),
    ("table of another group's NICs", Linux, JSON, Same("path-tables/group-0002.json"), "V0701"),
    ("cut off", Linux, JSON, Text("\"delay\"", "\"del"), "V0102"),
    ("template between zones", Zones, FAR, Set(&["destinations", "2", "template"], "\"fcbb:bbbb:1:2001:6002:2081:81:4001\""), "V0701"),
    ("zone of a destination", Zones, FAR, Set(&["destinations", "2", "zone"], "0"), "V0701"),
    ("a denial is missing", Declared, JSON, Unset(&["denied", "0"]), "V0701"),
    ("a denial of another plane", Declared, JSON, Set(&["denied", "0", "plane"], "1"), "V0701"),
    ("a denial of other uplinks", Declared, JSON, Set(&["denied", "0", "t0_uplinks"], "[0, 1]"), "V0701"),
    ("a denial for another reason", Declared, JSON, Set(&["denied", "0", "reason"], "\"drained\""), "V0701"),
    ("a denial for no reason", Declared, JSON, Set(&["denied", "0", "reason"], "\"broken\""), "V0701"),
];

#[rustfmt::skip] // A table: one row per line.
pub(crate) const BYTES: &[Mutation] = &[
    ("a rotten byte", Linux, BINARY, Rot(140, 7), "V0102"),
    ("not a table", Linux, BINARY, Byte(0, b'X'), "V0102"),
    ("version 2", Linux, BINARY, Byte(4, 2), "V0102"),
    ("more planes", Linux, BINARY, Byte(16, 3), "V0102"),
    ("another place of the plane", Linux, BINARY, Byte(17, 10), "V0701"),
    ("other bits of an uplink", Linux, BINARY, Byte(18, 10), "V0701"),
    ("parallel cables", Linux, BINARY, Byte(22, 2), "V0701"),
    ("uSIDs of a T1", Linux, BINARY, Byte(26, 2), "V0701"),
    ("another group", Linux, BINARY, Byte(38, 1), "V0701"),
    ("more downlinks", Linux, BINARY, Byte(44, 3), "V0702"),
    ("fewer active values", Linux, BINARY, Byte(46, 1), "V0701"),
    ("another UDP port", Linux, BINARY, Byte(52, 0), "V0701"),
    ("smaller packets", Linux, BINARY, Byte(55, 0), "V0701"),
    ("another pool", Linux, BINARY, Byte(61, 9), "V0701"),
    ("another T0 probe", Linux, BINARY, Byte(93, 9), "V0701"),
    ("another T1 probe", Linux, BINARY, Byte(111, 9), "V0701"),
    ("template to another group", Linux, BINARY, Byte(161, 3), "V0701"),
    ("template over another T1", Linux, BINARY, Byte(159, 2), "V0701"),
    ("template with another NIC", Linux, BINARY, Byte(163, 2), "V0701"),
    ("template of another block", Linux, BINARY, Byte(155, 0xbc), "V0701"),
    ("template with a tail", Linux, BINARY, Byte(165, 1), "V0701"),
    ("group of unknown way", Linux, BINARY, Byte(168, 0), "V0701"),
    ("another order of uplinks", Linux, BINARY, Byte(176, 0), "V0701"),
    ("binary of another group", Linux, BINARY, Same("path-tables/group-0002.bin"), "V0701"),
    ("no binary", Linux, BINARY, Gone, "V0104"),
    ("a denial of another plane", Declared, BINARY, Byte(208, 1), "V0701"),
];

/// Sets the uSID of the group in every template.
fn set_group_usid(table: &mut PathTable<'_>, usid: u16) {
    for destination in &mut table.destinations {
        destination.template[0] = Usid(usid);
    }
}

fn absent(plane: u8, scope: Scope) -> DeniedPaths {
    DeniedPaths { plane: PlaneId(plane), scope, reason: Reason::Absent, name: "nothing".to_owned() }
}

#[rustfmt::skip] // A table: one row per line.
pub(crate) const BOTH: &[Mutation] = &[
    ("both forms: template to another group", Linux, JSON, Table(|t| t.destinations[1].template[2] = Usid(0x0003)), "V0703"),
    ("both forms: template over another T1", Linux, JSON, Table(|t| t.destinations[1].template[1] = Usid(0x4002)), "V0703"),
    ("both forms: template to another NIC", Linux, JSON, Table(|t| t.destinations[1].template[3] = Usid(0x8002)), "V0703"),
    ("both forms: template ends at a switch", Linux, JSON, Table(|t| t.destinations[1].template.truncate(3)), "V0703"),
    ("both forms: template without its first segment", Linux, JSON, Table(|t| { t.destinations[1].template.remove(0); }), "V0703"),
    ("both forms: template through a NIC", Linux, JSON, Table(|t| t.destinations[1].template[1] = Usid(0x8001)), "V0703"),
    ("both forms: template of another plane", Linux, JSON, Table(|t| t.destinations[1].template[1] = Usid(0x4801)), "V0703"),
    ("both forms: templates begin at another T0", Linux, JSON, Table(|t| set_group_usid(t, 0x0002)), "V0703"),
    ("both forms: templates exchanged", Linux, JSON, Table(|t| { let other = t.destinations[1].template.clone(); t.destinations[0].template = other; }), "V0703"),
    ("both forms: an uplink twice in the order", Linux, JSON, Table(|t| t.orders[0] = vec![0, 0]), "V0901"),
    ("both forms: an uplink that is not there", Linux, JSON, Table(|t| t.orders[1] = vec![0, 2]), "V0901"),
    ("both forms: T0 of another group", Linux, JSON, Table(|t| t.planes[0].t0 = "p0-t0-002".into()), "V0705"),
    ("both forms: uSID of another T0", Linux, JSON, Table(|t| t.planes[0].usid = Usid(0x0002)), "V0707"),
    ("both forms: denied and there", Linux, JSON, Table(|t| t.denied.push(absent(0, Scope { uplinks: Some((1, 1)), ..Scope::default() }))), "V0802"),
    ("both forms: a plane denied and there", Linux, JSON, Table(|t| t.denied.push(absent(1, Scope::default()))), "V0802"),
    ("both forms: a NIC denied and there", Linux, JSON, Table(|t| t.denied.push(absent(0, Scope { group: Some(1), downlink: Some(0), ..Scope::default() }))), "V0802"),
    ("both forms: drained and in use", Linux, JSON, Table(|t| t.denied.push(DeniedPaths { reason: Reason::Drained, ..absent(0, Scope { uplinks: Some((0, 0)), ..Scope::default() }) })), "V0804"),
    ("both forms: absent and not denied", Declared, JSON, Table(|t| { t.denied.remove(0); }), "V0801"),
    ("both forms: an absent cable and not denied", Declared, JSON, Table(|t| { t.denied.remove(1); }), "V0801"),
    ("both forms: drained and not denied", Declared, JSON, Table(|t| { t.denied.remove(2); }), "V0803"),
    ("both forms: denied too widely", Declared, JSON, Table(|t| t.denied[2].scope.group = None), "V0804"),
    ("both forms: denied too narrowly", Declared, JSON, Table(|t| t.denied[0].scope.group = Some(1)), "V0801"),
    ("both forms: denied in the wrong plane", Declared, JSON, Table(|t| t.denied[1].plane = PlaneId(0)), "V0802"),
    ("both forms: denied over the wrong uplink", Declared, JSON, Table(|t| t.denied[0].scope.uplinks = Some((0, 0))), "V0802"),
    ("both forms: no denials at all", Declared, JSON, Table(|t| t.denied.clear()), "V0803"),
    ("both forms: template to another T2", Zones, FAR, Table(|t| t.destinations[2].template[2] = Usid(0x6003)), "V0703"),
    ("both forms: template comes down elsewhere", Zones, FAR, Table(|t| t.destinations[2].template[3] = Usid(0x2082)), "V0703"),
    ("both forms: template into the wrong zone", Zones, FAR, Table(|t| t.destinations[2].template[4] = Usid(0x0001)), "V0703"),
];
