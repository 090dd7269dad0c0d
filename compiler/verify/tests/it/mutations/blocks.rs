//! Damage to fabrics whose planes have their own blocks, and whose T1s share rows.

use crate::base::Base::{Blocks, BlocksP4, BlocksZones};
use crate::common::damage::Damage::{All, Behind, Byte, Lost, Same, Set, Text, Unset};
use crate::mutations::Mutation;

const T0: &str = "switches/p0-t0-001/ip.batch";
const OTHER: &str = "switches/p1-t0-001/ip.batch";
const T1: &str = "switches/p1-t1-001/ip.batch";
const P4: &str = "switches/p1-t0-001/entries.txtpb";
const NODE: &str = "hosts/su001-n001/ip.batch";
const JSON: &str = "path-tables/group-0001.json";
const BINARY: &str = "path-tables/group-0001.bin";
const FAR: &str = "path-tables/z0-group-0001.json";
const FAR_BINARY: &str = "path-tables/z0-group-0001.bin";

#[rustfmt::skip] // A table: one row per line.
pub(crate) const TREES: &[Mutation] = &[
    ("everything in the block of another plane", Blocks, T0, All("fcbb:bbbb:", "fcbb:bbbc:"), "V0501"),
    ("everything in the block of plane 0", Blocks, T1, All("fcbb:bbbc:", "fcbb:bbbb:"), "V0501"),
    ("everything of the twin in another plane", Blocks, T0, Same(OTHER), "V0501"),
    ("segment in the block of another plane", Blocks, T0, Text("replace fcbb:bbbb:1::/48 encap", "replace fcbb:bbbc:1::/48 encap"), "V0501"),
    ("route in the block of another plane", Blocks, T0, Text("replace fcbb:bbbb:4001::/48 via", "replace fcbb:bbbc:4001::/48 via"), "V0601"),
    ("route of a NIC in the block of another plane", Blocks, OTHER, Text("replace fcbb:bbbc:8001::/48 via", "replace fcbb:bbbb:8001::/48 via"), "V0606"),
    ("blackhole of the block of another plane", Blocks, T1, Text("blackhole fcbb:bbbc::/32", "blackhole fcbb:bbbb::/32"), "V0602"),
    ("blackhole of all blocks", Blocks, T1, Text("blackhole fcbb:bbbc::/32", "blackhole fcbb:bbb0::/28"), "V0602"),
    ("P4 segment in the block of another plane", BlocksP4, P4, Behind("# + ingress.my_sid", "\\274\\000\\001", "\\273\\000\\001"), "V0501"),
    ("P4 route in the block of another plane", BlocksP4, P4, Behind("# + ingress.ipv6_route  dst=fcbb:bbbc:4001::/48", "\\274@\\001", "\\273@\\001"), "V0601"),
    ("NICs may begin in the block of another plane", BlocksP4, P4, Behind("# + ingress.nic_destination", "\\274\\000\\001", "\\273\\000\\001"), "V0105"),
    ("first segment in the block of another plane", Blocks, NODE, Text("replace fcbb:bbbb:1::/48 via", "replace fcbb:bbbc:1::/48 via"), "V1301"),
    ("no blackhole of a plane", Blocks, NODE, Lost("route replace blackhole fcbb:bbbc::/32"), "V1301"),
    ("blackhole of a plane that is not there", Blocks, NODE, Text("blackhole fcbb:bbbc::/32", "blackhole fcbb:bbbd::/32"), "V1301"),
    ("decapsulated in the block of another plane alone", Blocks, NODE, Text("replace fcbb:bbbb:8001::/48", "replace fcbb:bbbc:8001::/48"), "V1302"),
    ("decapsulated in a block that no plane has", Blocks, NODE, Text("replace fcbb:bbbb:8001::/48", "replace fcbb:bbbd:8001::/48"), "V1302"),
    ("table of the next block", Blocks, JSON, Set(&["segments", "block"], "\"fcbb:bbbc::/32\""), "V0702"),
    ("table of one block for all planes", Blocks, JSON, Unset(&["segments", "plan"]), "V0102"),
    ("table of one block for all planes, in the older form", Blocks, JSON, Text("closc-path-table/3", "closc-path-table/2"), "V0102"),
    ("table with another plan", Blocks, JSON, Set(&["segments", "plan"], "\"plane-in-usid\""), "V0102"),
    ("plane in uSIDs too", Blocks, JSON, Text("\"plane_bits\": 0", "\"plane_bits\": 1"), "V0102"),
    ("template in the block of another plane", Blocks, JSON, Set(&["destinations", "1", "template"], "\"fcbb:bbbc:1:4001:2:8001::\""), "V0701"),
    ("plane in the uSIDs of the binary", Blocks, BINARY, Byte(124, 0), "V0102"),
    ("plane in an unknown place", Blocks, BINARY, Byte(124, 2), "V0102"),
    ("binary of version 1", Blocks, BINARY, Byte(4, 1), "V0102"),
    ("bits of the plane beside the block", Blocks, BINARY, Byte(17, 11), "V0102"),
    ("template of the binary in the next block", Blocks, BINARY, Byte(155, 0xbc), "V0701"),
    ("a row for every T1", BlocksZones, FAR, Unset(&["segments", "t2_rows"]), "V0701"),
    ("more rows than there are", BlocksZones, FAR, Set(&["segments", "t2_rows"], "3"), "V0701"),
    ("a row for every T1 in the binary", BlocksZones, FAR_BINARY, Byte(126, 0), "V0701"),
    ("T2s in the block of another plane", BlocksZones, "switches/p0-t2-001/ip.batch", All("fcbb:bbbb:", "fcbb:bbbc:"), "V0501"),
];
