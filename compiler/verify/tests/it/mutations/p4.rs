//! Damage to P4 entries.

use camino::Utf8Path;
use closc_verify::{Options, verify};

use crate::base::Base::P4;
use crate::base::{self, Trees};
use crate::common::damage::Damage::{Behind, Cut, Gone, More, Same, Text};
use crate::mutations::Mutation;

const T0: &str = "switches/p0-t0-001/entries.txtpb";
const T1: &str = "switches/p0-t1-001/entries.txtpb";
const UP: &str = "# + ingress.ipv6_route  dst=fcbb:bbbb:4001::/48";
const UP2: &str = "# + ingress.ipv6_route  dst=fcbb:bbbb:4002::/48";
const NIC: &str = "# + ingress.ipv6_route  dst=fcbb:bbbb:8001::/48";
const BLOCK: &str = "# + ingress.ipv6_route  dst=fcbb:bbbb::/32";
const HOP: &str = "# + ingress.nexthop  nexthop_id=255";
const HOP2: &str = "# + ingress.nexthop  nexthop_id=256";
const SID: &str = "# + ingress.my_sid";
const SOURCE: &str = "# + ingress.nic_source  ingress_port=1 src=fd00:c105:1:1::1/128";
const INNER: &str = "# + ingress.nic_inner_source  ingress_port=1";
const TRIM: &str = "# + egress.trim  egress_port=255 class=1";
const TRIM2: &str = "# + egress.trim  egress_port=255 class=2";
const MARK: &str = "# + egress.ecn  egress_port=255 class=1";
const MARK2: &str = "# + egress.ecn  egress_port=255 class=2";
const ROLE: &str = "# + ingress.port_role  ingress_port=255";
const ROLE2: &str = "# + ingress.port_role  ingress_port=256";
const PUNT: &str = "# + ingress.punt_limit  ingress_port=1 ";
const PUNT2: &str = "# + ingress.punt_limit  ingress_port=2 ";
const STRICT: &str = "# + ingress.nic_class  ingress_port=1 class=4";
const OF_SWITCHES: &str = "# + ingress.nic_class  ingress_port=1 class=3";
const DEFAULT: &str = "updates {\n  type: INSERT\n  entity {\n    table_entry {\n      table_id: 49739255\n      action {\n        \
                       action {\n          action_id: 17380058\n          params {\n            param_id: 1\n            \
                       value: \"\\377\"\n          }\n        }\n      }\n    }\n  }\n}\n";

#[rustfmt::skip] // A table: one row per line.
pub(crate) const ENTRIES: &[Mutation] = &[
    ("route to another T1's next hop", P4, T0, Behind(UP, "value: \"\\377\"", "value: \"\\001\\000\""), "V0605"),
    ("route to a next hop that is not there", P4, T0, Behind(UP, "value: \"\\377\"", "value: \"c\""), "V0103"),
    ("a field that P4Runtime does not have", P4, T0, Behind(UP, "      table_id:", "      zorro: 1\n      table_id:"), "V0102"),
    ("an entry that no controller can change", P4, T0, Behind(UP, "      table_id:", "      is_const: true\n      table_id:"), "V0102"),
    ("an entry that ages", P4, T0, Behind(UP, "      table_id:", "      idle_timeout_ns: 1000000000\n      table_id:"), "V0102"),
    ("a priority of a prefix", P4, T0, Behind(UP, "      table_id:", "      priority: 7\n      table_id:"), "V0102"),
    ("a priority that is a word", P4, T0, Behind(UP, "      table_id:", "      priority: high\n      table_id:"), "V0102"),
    ("a misspelled argument", P4, T0, Behind(UP, "params {", "parms {"), "V0102"),
    ("a key of two kinds", P4, T0, Behind(UP, "        lpm {", "        exact {\n          value: \"\\001\"\n        }\n        lpm {"), "V0102"),
    ("two entries in one update", P4, T0, Behind(UP, "    table_entry {", "    table_entry {\n      table_id: 1\n    }\n    table_entry {"), "V0102"),
    ("a meter of a table without meters", P4, T0, Behind(UP, "      table_id:", "      meter_config { cir: 1 cburst: 1 pir: 1 pburst: 1 }\n      table_id:"), "V0102"),
    ("an update with an unknown field", P4, T0, Behind(UP, "  type: INSERT", "  type: INSERT\n  zorro {}"), "V0102"),
    ("no route to a T1", P4, T0, Cut(UP, UP2), "V0606"),
    ("no route to a NIC", P4, T0, Cut(NIC, "# + ingress.ipv6_route  dst=fcbb:bbbb:8002"), "V0606"),
    ("route to a NIC leads to a T1", P4, T0, Behind(NIC, "value: \"\\001\"", "value: \"\\377\""), "V0605"),
    ("route of a wider prefix", P4, T0, Behind(UP, "prefix_len: 48", "prefix_len: 40"), "V0601"),
    ("route of a longer prefix", P4, T0, Behind(UP, "prefix_len: 48", "prefix_len: 64"), "V0601"),
    ("default route", P4, T0, More(DEFAULT), "V0601"),
    ("no blackhole", P4, T0, Cut(BLOCK, "# + ingress.dscp_class  dscp=4"), "V0602"),
    ("route for another plane's uSID", P4, T0, Behind(UP, "\\273@\\001", "\\273H\\001"), "V0605"),
    ("next hop over another port", P4, T0, Behind(HOP, "value: \"\\377\"\n          }", "value: \"\\001\\000\"\n          }"), "V0604"),
    ("next hop over a NIC's port", P4, T0, Behind(HOP, "value: \"\\377\"\n          }", "value: \"\\001\"\n          }"), "V0605"),
    ("next hop with another switch's MAC address", P4, T0, Behind(HOP, "\\002\\301\\020\\000\\000\\001", "\\002\\301\\020\\000\\000\\002"), "V0304"),
    ("next hop from another MAC address", P4, T0, Behind(HOP, "\\002\\301\\000\\000\\000\\001", "\\002\\301\\000\\000\\000\\007"), "V0304"),
    ("no next hop", P4, T0, Cut(HOP, HOP2), "V0103"),
    ("no segment", P4, T0, Cut(SID, "# + ingress.nexthop  nexthop_id=1 "), "V0504"),
    ("segment of another switch", P4, T0, Behind(SID, "\\273\\000\\001", "\\273\\000\\002"), "V0503"),
    ("segment of another plane", P4, T0, Behind(SID, "\\273\\000\\001", "\\273\\010\\001"), "V0502"),
    ("segment of another block", P4, T0, Behind(SID, "\\273\\000\\001", "\\274\\000\\001"), "V0501"),
    ("uplink has no role", P4, T0, Cut(ROLE, ROLE2), "V0204"),
    ("uplink is a NIC port", P4, T0, Behind(ROLE, "action_id: 30999095", "action_id: 32213126"), "V0205"),
    ("NIC port is an uplink", P4, T0, Behind("ingress_port=1 ->", "action_id: 32213126", "action_id: 30999095"), "V0205"),
    ("a port of a T1 is a NIC port", P4, T1, Behind("ingress_port=1 ->", "action_id: 30999095", "action_id: 32213126"), "V0205"),
    ("all packets go to the controller", P4, T0, Behind("# + ingress.punt", "\\210\\314", "\\206\\335"), "V0102"),
    ("NICs may send lists that begin elsewhere", P4, T0, Behind("# + ingress.nic_destination", "\\273\\000\\001", "\\273@\\001"), "V0105"),
    ("NICs may send anywhere in the block", P4, T0, Behind("# + ingress.nic_destination", "prefix_len: 48", "prefix_len: 32"), "V0105"),
    ("NICs may not send at all", P4, T0, Cut("# + ingress.nic_destination  dst=fcbb:bbbb:1::/48", "# + ingress.nic_destination  dst=fcbb:bbbb::/32"), "V0105"),
    ("a port sends the controller any number of packets", P4, T0, Cut(PUNT, PUNT2), "V1106"),
    ("a port sends the controller 74 packets a second", P4, T0, Behind(PUNT, "meter_config {\n        cir: 10\n        cburst: 10\n        pir: 10\n", "meter_config {\n        cir: 74\n        cburst: 10\n        pir: 74\n"), "V1106"),
    ("a port sends the controller more at the peak", P4, T0, Behind(PUNT, "pir: 10\n", "pir: 74\n"), "V0102"),
    ("a port sends the controller a larger burst", P4, T0, Behind(PUNT, "cburst: 10\n", "cburst: 74\n"), "V0102"),
    ("a limit of a port without a role", P4, T0, Behind(PUNT, "value: \"\\001\"", "value: \"\\001\\360\""), "V1105"),
    ("a NIC fills the strict queue", P4, T0, Cut(STRICT, "# + ingress.nic_class  ingress_port=2 class=3"), "V1106"),
    ("a NIC sends trimmed packets", P4, T0, Cut(OF_SWITCHES, STRICT), "V1106"),
    ("packets above the limit keep their code point", P4, T0, Behind(STRICT, "value: \"\\000\"", "value: \".\""), "V1106"),
    ("a meter where none belongs", P4, T0, Behind(ROLE, "      action {", "      meter_config {\n        cir: 1\n      }\n      action {"), "V0102"),
    ("the rest of the block is not denied", P4, T0, Cut("# + ingress.nic_destination  dst=fcbb:bbbb::/32", SOURCE), "V0105"),
    ("NIC may not send from its address", P4, T0, Cut(SOURCE, "# + ingress.nic_source  ingress_port=1 src=fd00:c105:2"), "V0205"),
    ("NIC may send from another's address", P4, T0, Behind(SOURCE, "\\001\"\n          prefix_len: 128", "\\002\"\n          prefix_len: 128"), "V0205"),
    ("NIC may send from a whole prefix", P4, T0, Behind(SOURCE, "prefix_len: 128", "prefix_len: 64"), "V0102"),
    ("NIC may not send inner packets", P4, T0, Cut(INNER, "# + ingress.nic_source  ingress_port=2"), "V0205"),
    ("data in another class", P4, T0, Behind("dscp=4 ->", "value: \"\\001\"", "value: \"\\003\""), "V1101"),
    ("data in no class", P4, T0, Cut("# + ingress.dscp_class  dscp=4 ", "# + ingress.dscp_class  dscp=8"), "V1101"),
    ("control shares the queue of data", P4, T0, Behind("dscp=46 ->", "param_id: 2\n            value: \"\\001\"", "param_id: 2\n            value: \"\\000\""), "V1105"),
    ("an unused code point in the class of data", P4, T0, Behind("dscp=46 ->", "value: \".\"", "value: \"/\""), "V1101"),
    ("trimmed as at the last hop", P4, T0, Behind(TRIM, "value: \"\\014\"", "value: \"\\020\""), "V1103"),
    ("data is not trimmed", P4, T0, Cut(TRIM, TRIM2), "V1103"),
    ("trimmed to another size", P4, T0, Behind(TRIM, "value: \"\\200\"", "value: \"@\""), "V1105"),
    ("no marks", P4, T0, Cut(MARK, MARK2), "V1104"),
    ("marks at the last hop", P4, T0, Behind(MARK, "value: \"\\377\"", "value: \"\\001\""), "V1104"),
    ("marks that are certain before they begin", P4, T0, Behind(MARK, "value: \"\\010\"", "value: \"@\""), "V1104"),
    ("marks of another probability", P4, T0, Behind(MARK, "\\003\\r@", "\\001\\r@"), "V1105"),
    ("an action of another table", P4, T0, Behind(UP, "action_id: 17380058", "action_id: 30999095"), "V0102"),
    ("a table that is not there", P4, T0, Behind(UP, "table_id: 49739255", "table_id: 49739256"), "V0102"),
    ("a field that is not there", P4, T0, Behind(UP, "field_id: 1", "field_id: 9"), "V0102"),
    ("an update that deletes", P4, T0, Behind(UP, "type: INSERT", "type: DELETE"), "V0102"),
    ("a value cut off", P4, T0, Behind(UP, "value: \"\\377\"", "value: \"\\377"), "V0102"),
    ("entries of another switch", P4, T0, Same("switches/p0-t0-002/entries.txtpb"), "V0304"),
    ("entries of another tier", P4, T0, Same("switches/p0-t1-001/entries.txtpb"), "V0502"),
    ("no entries", P4, T0, Gone, "V0201"),
    ("another pipeline", P4, "p4/fabric.p4info.txtpb", Text("ingress.ipv6_route", "ingress.ipv6_lpm"), "V0103"),
    ("no pipeline", P4, "p4/fabric.p4info.txtpb", Gone, "V0104"),
];

#[test]
fn a_program_is_compared_without_digests_too() {
    let trees = Trees::of(&[P4]);
    let options = Options { digests: false, ..base::options().clone() };
    for path in ["p4/fabric.bmv2.json", "p4/fabric.p4info.txtpb"] {
        let mut tree = trees.tree(P4).clone();
        tree.files.get_mut(Utf8Path::new(path)).expect("the pipeline").push(b' ');
        let report = verify(&tree, &options).expect("the tree can be read");
        let found =
            report.violations.iter().any(|found| found.rule.code == "V0108" && found.place.file == path);
        assert!(found, "{path}\n{}", report.text());
    }
    let report = verify(trees.tree(P4), &options).expect("the tree can be read");
    assert!(report.holds(), "{}", report.text());
}
