//! Damage to QoS settings in `config_db.json`.

use crate::base::Base::{Lossless, Sonic};
use crate::common::damage::Damage::{Set, Text, Unset};
use crate::mutations::Mutation;

const T0: &str = "switches/p0-t0-001/config_db.json";

#[rustfmt::skip] // A table: one row per line.
pub(crate) const LOSSY: &[Mutation] = &[
    ("data in another class", Sonic, T0, Set(&["DSCP_TO_TC_MAP", "lossy-trim", "4"], "\"0\""), "V1101"),
    ("an unused code point in the class of data", Sonic, T0, Set(&["DSCP_TO_TC_MAP", "lossy-trim", "33"], "\"1\""), "V1101"),
    ("a code point without a class", Sonic, T0, Unset(&["DSCP_TO_TC_MAP", "lossy-trim", "33"]), "V1101"),
    ("trimmed packets in the class of data", Sonic, T0, Set(&["DSCP_TO_TC_MAP", "lossy-trim", "12"], "\"1\""), "V1101"),
    ("a port without a map of code points", Sonic, T0, Unset(&["PORT_QOS_MAP", "Ethernet256", "dscp_to_tc_map"]), "V1101"),
    ("a port with a map that is not there", Sonic, T0, Set(&["PORT_QOS_MAP", "Ethernet256", "dscp_to_tc_map"], "\"AZURE\""), "V0103"),
    ("an unknown map of the port", Sonic, T0, Set(&["PORT_QOS_MAP", "Ethernet256", "mpls_tc_to_tc_map"], "\"AZURE\""), "V0103"),
    ("a port without maps", Sonic, T0, Unset(&["PORT_QOS_MAP", "Ethernet256"]), "V1101"),
    ("a pause in a fabric that trims", Sonic, T0, Set(&["PORT_QOS_MAP", "Ethernet256", "pfc_enable"], "\"1\""), "V1102"),
    ("NIC port trims as the fabric does", Sonic, T0, Set(&["PORT_QOS_MAP", "Ethernet0", "tc_to_dscp_map"], "\"edge\""), "V1103"),
    ("uplink trims as the last hop does", Sonic, T0, Set(&["PORT_QOS_MAP", "Ethernet256", "tc_to_dscp_map"], "\"last-hop\""), "V1103"),
    ("trimmed packets keep a code point of data", Sonic, T0, Set(&["TC_TO_DSCP_MAP", "edge", "8"], "\"4\""), "V1103"),
    ("trimmed packets of both places alike", Sonic, T0, Set(&["TC_TO_DSCP_MAP", "last-hop", "8"], "\"12\""), "V1103"),
    ("data is not trimmed", Sonic, T0, Set(&["BUFFER_QUEUE", "Ethernet256|1-2", "profile"], "\"egress_lossy_profile\""), "V1103"),
    ("control is trimmed", Sonic, T0, Set(&["BUFFER_QUEUE", "Ethernet256|3-6", "profile"], "\"egress_trim_profile\""), "V1103"),
    ("the profile does not trim", Sonic, T0, Unset(&["BUFFER_PROFILE", "egress_trim_profile", "packet_discard_action"]), "V1103"),
    ("trimming is not set up", Sonic, T0, Unset(&["SWITCH_TRIMMING"]), "V1103"),
    ("trimmed to another size", Sonic, T0, Set(&["SWITCH_TRIMMING", "GLOBAL", "size"], "\"256\""), "V1105"),
    ("trimmed into another queue", Sonic, T0, Set(&["SWITCH_TRIMMING", "GLOBAL", "queue_index"], "\"1\""), "V1105"),
    ("marks at the last hop", Sonic, T0, Set(&["QUEUE", "Ethernet0|1", "wred_profile"], "\"q1-edge-100000\""), "V1104"),
    ("no marks on an uplink", Sonic, T0, Unset(&["QUEUE", "Ethernet256|1", "wred_profile"]), "V1104"),
    ("marks are off", Sonic, T0, Set(&["WRED_PROFILE", "q1-edge-100000", "ecn"], "\"ecn_none\""), "V1104"),
    ("marks that are certain before they begin", Sonic, T0, Set(&["WRED_PROFILE", "q1-edge-100000", "green_min_threshold"], "\"999999\""), "V1104"),
    ("marks begin elsewhere", Sonic, T0, Set(&["WRED_PROFILE", "q1-edge-100000", "green_min_threshold"], "\"1000\""), "V1105"),
    ("marks of another probability", Sonic, T0, Set(&["WRED_PROFILE", "q1-edge-100000", "green_drop_probability"], "\"90\""), "V1105"),
    ("marks of a profile that is not there", Sonic, T0, Unset(&["WRED_PROFILE", "q1-edge-100000"]), "V0103"),
    ("another weight", Sonic, T0, Set(&["SCHEDULER", "data", "weight"], "\"7\""), "V1105"),
    ("control is not strict", Sonic, T0, Set(&["SCHEDULER", "control"], r#"{"type":"DWRR","weight":"1"}"#), "V1105"),
    ("a queue without a scheduler", Sonic, T0, Unset(&["QUEUE", "Ethernet256|2"]), "V1104"),
    ("a scheduler that is not there", Sonic, T0, Unset(&["SCHEDULER", "data"]), "V0103"),
    ("another queue for a class", Sonic, T0, Set(&["TC_TO_QUEUE_MAP", "lossy-trim", "1"], "\"2\""), "V1105"),
    ("a class without a queue", Sonic, T0, Unset(&["TC_TO_QUEUE_MAP", "lossy-trim", "6"]), "V1101"),
    ("another threshold of a buffer", Sonic, T0, Set(&["BUFFER_PROFILE", "egress_lossy_profile", "dynamic_th"], "\"-8\""), "V1105"),
    ("a buffer of a profile that is not there", Sonic, T0, Text("\"profile\": \"ingress_lossy_profile\"", "\"profile\": \"gone\""), "V0103"),
    ("a pool larger than the chip's buffer", Sonic, T0, Set(&["BUFFER_POOL", "ingress_lossy_pool", "size"], "\"999999999\""), "V1501"),
    ("a smaller pool", Sonic, T0, Set(&["BUFFER_POOL", "ingress_lossy_pool", "size"], "\"1000\""), "V1105"),
    ("a queue of two rows, the wider one first", Sonic, T0, Text("\"QUEUE\": {\n        \"Ethernet0|0\"", "\"QUEUE\": {\n        \"Ethernet256|1-2\": {\"scheduler\": \"data\"},\n        \"Ethernet0|0\""), "V0103"),
    ("a queue of two rows, the wider one last", Sonic, T0, Set(&["QUEUE", "Ethernet256|2-7"], r#"{"scheduler":"data"}"#), "V0103"),
    ("a buffer of two rows", Sonic, T0, Set(&["BUFFER_QUEUE", "Ethernet256|2"], r#"{"profile":"egress_lossy_profile"}"#), "V0103"),
    ("a group of two rows", Sonic, T0, Set(&["BUFFER_PG", "Ethernet256|0-1"], r#"{"profile":"ingress_lossy_profile"}"#), "V0103"),
    ("a queue without a number", Sonic, T0, Set(&["QUEUE", "Ethernet256|all"], r#"{"scheduler":"data"}"#), "V0103"),
    ("a number in another form", Sonic, T0, Set(&["QUEUE", "Ethernet256|+8"], r#"{"scheduler":"data"}"#), "V0103"),
    ("maps of a port twice", Sonic, T0, Text("\"PORT_QOS_MAP\": {", "\"PORT_QOS_MAP\": {\n        \"Ethernet256\": {\"pfc_enable\": \"3\"},"), "V0103"),
    ("fields that are not text", Sonic, T0, Set(&["QUEUE", "Ethernet256|1", "scheduler"], "7"), "V0103"),
];

#[rustfmt::skip] // A table: one row per line.
pub(crate) const LOSSLESS: &[Mutation] = &[
    ("no pause on an uplink", Lossless, T0, Unset(&["PORT_QOS_MAP", "Ethernet256", "pfc_enable"]), "V1102"),
    ("pause of another priority", Lossless, T0, Set(&["PORT_QOS_MAP", "Ethernet256", "pfc_enable"], "\"4\""), "V1102"),
    ("pause of two priorities", Lossless, T0, Set(&["PORT_QOS_MAP", "Ethernet256", "pfc_enable"], "\"3,4\""), "V1102"),
    ("pause stops another queue", Lossless, T0, Set(&["MAP_PFC_PRIORITY_TO_QUEUE", "lossless", "3"], "\"4\""), "V1105"),
    ("no headroom", Lossless, T0, Set(&["BUFFER_PG", "Ethernet256|3", "profile"], "\"ingress_lossy_profile\""), "V1102"),
    ("headroom of a shorter cable", Lossless, T0, Set(&["BUFFER_PG", "Ethernet256|3", "profile"], "\"pg_lossless_100000_1m_profile\""), "V1105"),
    ("headroom of nothing", Lossless, T0, Set(&["BUFFER_PROFILE", "pg_lossless_100000_2m_profile", "xoff"], "\"0\""), "V1502"),
    ("headroom less than the cable holds", Lossless, T0, Set(&["BUFFER_PROFILE", "pg_lossless_100000_2m_profile", "xoff"], "\"9000\""), "V1502"),
    ("more headroom than the pool has", Lossless, T0, Set(&["BUFFER_POOL", "ingress_lossless_pool", "xoff"], "\"1000\""), "V1503"),
    ("pool and headroom above the chip's buffer", Lossless, T0, Set(&["BUFFER_POOL", "ingress_lossless_pool", "xoff"], "\"99582676\""), "V1501"),
    ("cable believed longer", Lossless, T0, Set(&["CABLE_LENGTH", "lossless", "Ethernet256"], "\"300m\""), "V0303"),
    ("cable believed shorter", Lossless, T0, Set(&["CABLE_LENGTH", "lossless", "Ethernet256"], "\"0m\""), "V0303"),
    ("length that is none", Lossless, T0, Set(&["CABLE_LENGTH", "lossless", "Ethernet256"], "\"long\""), "V0102"),
    ("no length of one cable", Lossless, T0, Unset(&["CABLE_LENGTH", "lossless", "Ethernet256"]), "V0303"),
    ("no watchdog on a port", Lossless, T0, Unset(&["PFC_WD", "Ethernet256"]), "V1105"),
    ("a watchdog that forwards", Lossless, T0, Set(&["PFC_WD", "Ethernet256", "action"], "\"forward\""), "V1105"),
    ("data in a class that is not paused", Lossless, T0, Set(&["DSCP_TO_TC_MAP", "lossless", "26"], "\"0\""), "V1101"),
    ("marks begin late on one switch", Lossless, T0, Set(&["WRED_PROFILE", "q3-last-hop-100000", "green_min_threshold"], "\"9999\""), "V1105"),
];
