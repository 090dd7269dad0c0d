//! SONiC settings outside of the fabric model. They are added to all switches, so that comparison with peers cannot
//! find them. Settings that forward, mark, pause or drop are found; others are reported as not judged.

use camino::Utf8PathBuf;
use closc_artefacts::Memory;
use closc_verify::{Report, verify};
use serde_json::{Value, json};

use crate::base::{self, Base, Trees};
use crate::common;

/// Expected result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ExpectedResult {
    /// The given rule finds the setting.
    Found(&'static str),
    /// The setting is reported as not judged.
    Named,
}

use self::ExpectedResult::{Found, Named};

/// Fields of `DEVICE_METADATA|localhost`: those of sonic-device_metadata.yang that are not specific to a switch.
#[rustfmt::skip] // A table: one row per line.
const FIELDS: [(&str, &str, ExpectedResult); 45] = [
    ("anchor_route_source", r#"["65001:1"]"#, Found("V0105")),
    ("asic_id", r#""1""#, Found("V0105")),
    ("asic_name", r#""asic0""#, Found("V0105")),
    ("bgp_adv_lo_prefix_as_128", r#""true""#, Found("V0105")),
    ("buffer_model", r#""dynamic""#, Found("V0105")),
    ("chassis_hostname", r#""chassis""#, Found("V0105")),
    ("cloudtype", r#""Public""#, Named),
    ("create_only_config_db_buffers", r#""true""#, Named),
    ("deployment_id", r#""1""#, Named),
    ("dhcp_server", r#""enabled""#, Named),
    ("docker_routing_config_mode", r#""split""#, Found("V0105")),
    ("downstream_subrole", r#""role""#, Named),
    ("dpu_auto_recovery", r#""enable""#, Named),
    ("frr_mgmt_framework_config", r#""true""#, Found("V0105")),
    ("has_sonic_dhcpv4_relay", r#""True""#, Named),
    ("location_type", r#""site""#, Named),
    ("max_cores", r#""8""#, Found("V0105")),
    ("mgmt_type", r#""bmc""#, Named),
    ("nexthop_group", r#""enabled""#, Found("V0105")),
    ("no_such_field", r#""1""#, Found("V0103")),
    ("orch_northbond_dash_zmq_enabled", r#""true""#, Named),
    ("peer_switch", r#""other""#, Found("V0105")),
    ("rack_mgmt_map", r#""map""#, Named),
    ("region", r#""north""#, Named),
    ("resource_type", r#""ComputeAI""#, Named),
    ("ring_thread_enabled", r#""true""#, Named),
    ("slice_type", r#""AZNG_Production""#, Named),
    ("storage_device", r#""true""#, Named),
    ("sub_role", r#""BackEnd""#, Found("V0105")),
    ("subtype", r#""UpstreamLC""#, Found("V0105")),
    ("supporting_bulk_counter_groups", r#"["PORT","QUEUE"]"#, Named),
    ("suppress-fib-pending", r#""enabled""#, Found("V0105")),
    ("switch_id", r#""1""#, Found("V0105")),
    ("switch_type", r#""voq""#, Found("V0105")),
    ("syslog_counter", r#""true""#, Named),
    ("syslog_with_osversion", r#""true""#, Named),
    ("t2_group_asns", r#"["65001"]"#, Found("V0105")),
    ("timezone", r#""Europe/Berlin""#, Named),
    ("use_template_render_for_restore", r#""true""#, Named),
    ("yang_config_validation", r#""enable""#, Named),
    ("zebra_nexthop", r#""disabled""#, Found("V0105")),
    // With their default value, no rule may report them.
    ("suppress-fib-pending", r#""disabled""#, Found("")),
    ("nexthop_group", r#""disabled""#, Found("")),
    ("zebra_nexthop", r#""enabled""#, Found("")),
    ("switch_type", r#""npu""#, Found("")),
];

/// References that a port can have: field, table of the row, the row, and the expected result.
#[rustfmt::skip] // A table: one row per line.
const OF_PORTS: [(&str, &str, &str, ExpectedResult); 10] = [
    ("tc_to_dscp_map", "TC_TO_DSCP_MAP", r#"{"0":"0","1":"0","2":"0","3":"0","4":"0","5":"0","6":"0","7":"0"}"#, Found("V1106")),
    ("tc_to_dot1p_map", "TC_TO_DOT1P_MAP", r#"{"0":"0","3":"0"}"#, Found("V0103")),
    ("dot1p_to_tc_map", "DOT1P_TO_TC_MAP", r#"{"0":"0","3":"0"}"#, Found("V0103")),
    ("mpls_tc_to_tc_map", "MPLS_TC_TO_TC_MAP", r#"{"0":"0","3":"0"}"#, Found("V0103")),
    ("dscp_to_fc_map", "DSCP_TO_FC_MAP", r#"{"0":"0","3":"0"}"#, Found("V0103")),
    ("exp_to_fc_map", "EXP_TO_FC_MAP", r#"{"0":"0","3":"0"}"#, Found("V0103")),
    ("scheduler", "SCHEDULER", r#"{"type":"DWRR","weight":"1","pir":"1000000"}"#, Found("V0103")),
    ("dscp_to_tc_map", "DSCP_TO_TC_MAP", r#"{"0":"0"}"#, Found("V1106")),
    ("tc_to_queue_map", "TC_TO_QUEUE_MAP", r#"{"0":"0"}"#, Found("V1106")),
    ("tc_to_pg_map", "TC_TO_PRIORITY_GROUP_MAP", r#"{"0":"0"}"#, Found("V1106")),
];

/// References that a switch can have in `PORT_QOS_MAP|global`.
#[rustfmt::skip] // A table: one row per line.
const OF_SWITCHES: [(&str, &str, &str, ExpectedResult); 3] = [
    ("dscp_to_tc_map", "DSCP_TO_TC_MAP", r#"{"0":"0"}"#, Found("V1106")),
    ("tc_to_dscp_map", "TC_TO_DSCP_MAP", r#"{"0":"0"}"#, Found("V0103")),
    ("dot1p_to_tc_map", "DOT1P_TO_TC_MAP", r#"{"0":"0"}"#, Found("V0103")),
];

/// Tables that drop, copy, meter or redirect packets, and tables that do not.
#[rustfmt::skip] // A table: one row per line.
const TABLES: [(&str, &str, ExpectedResult); 10] = [
    ("POLICER", r#"{"P":{"meter_type":"packets","mode":"sr_tcm","cir":"600","red_packet_action":"drop"}}"#, Found("V0103")),
    ("MIRROR_SESSION", r#"{"M":{"type":"SPAN","dst_port":"Ethernet4","src_port":"Ethernet0","direction":"RX"}}"#, Found("V0103")),
    ("PORT_STORM_CONTROL", r#"{"Ethernet0|broadcast":{"kbps":"1000"}}"#, Found("V0103")),
    ("ACL_TABLE", r#"{"MARK":{"type":"DSCP","stage":"ingress","ports":["Ethernet0"]}}"#, Found("V0103")),
    ("ACL_RULE", r#"{"MARK|R":{"PRIORITY":"1","PACKET_ACTION":"DROP","DSCP":"26"}}"#, Found("V0103")),
    ("PBH_RULE", r#"{"T|R":{"priority":"1","hash":"inner"}}"#, Found("V0103")),
    ("TUNNEL", r#"{"T":{"tunnel_type":"IPINIP","dscp_mode":"uniform"}}"#, Found("V0103")),
    ("SYSTEM_DEFAULTS", r#"{"tunnel_qos_remap":{"status":"enabled"}}"#, Found("V0103")),
    ("SFLOW", r#"{"global":{"admin_state":"up"}}"#, Named),
    ("SFLOW_COLLECTOR", r#"{"C":{"collector_ip":"10.0.0.9"}}"#, Named),
];

/// Changes all SONiC configurations in a tree.
fn everywhere(trees: &Trees, base: Base, change: &dyn Fn(&mut Value)) -> Report {
    let mut tree: Memory = trees.tree(base).clone();
    let own = |path: &&Utf8PathBuf| path.file_name() == Some("config_db.json");
    let files: Vec<Utf8PathBuf> = tree.files.keys().filter(own).cloned().collect();
    for file in files {
        let mut config: Value = serde_json::from_slice(&tree.files[&file]).expect("the file is JSON");
        change(&mut config);
        tree.files.insert(file, config.to_string().into_bytes());
    }
    common::sign(&mut tree, "shape", base.routing());
    verify(&tree, base::options()).expect("the tree can be read")
}

/// Returns a deviation from the expected result, as a line of text.
fn wrong(what: &str, name: &str, report: &Report, comes: ExpectedResult) -> Option<String> {
    let codes: Vec<&str> = report.violations.iter().map(|violation| violation.rule.code).collect();
    let fits = match comes {
        Found("") => report.holds(),
        Found(rule) => codes.contains(&rule),
        Named => report.holds() && report.not_judged.keys().any(|line| line.contains(name)),
    };
    let named: Vec<&String> = report.not_judged.keys().collect();
    (!fits).then(|| format!("{what}: {comes:?}, and there is {codes:?}, named {named:?}"))
}

fn value(text: &str) -> Value {
    serde_json::from_str(text).expect("the value is JSON")
}

#[test]
fn what_is_added_everywhere_is_found_or_named() {
    let bases = [Base::Lossless, Base::Sonic, Base::BgpSonic];
    let trees = Trees::of(&bases);
    let mut missed = Vec::new();
    for (name, text, comes) in FIELDS {
        let set = |config: &mut Value| config["DEVICE_METADATA"]["localhost"][name] = value(text);
        let report = everywhere(&trees, Base::BgpSonic, &set);
        // With BGP, the mode already has the required value.
        let report =
            if name == "docker_routing_config_mode" { everywhere(&trees, Base::Sonic, &set) } else { report };
        missed.extend(wrong(&format!("{name}={text}"), name, &report, comes));
    }
    for base in [Base::Lossless, Base::Sonic] {
        for (field, table, row, comes) in OF_PORTS {
            let report = everywhere(&trees, base, &|config| {
                config[table]["x"] = value(row);
                let rows = config["PORT_QOS_MAP"].as_object_mut().expect("a table");
                rows.iter_mut()
                    .filter(|(key, _)| *key != "global")
                    .for_each(|(_, row)| row[field] = json!("x"));
            });
            missed.extend(wrong(&format!("{base:?} ports {field}"), field, &report, comes));
        }
        for (field, table, row, comes) in OF_SWITCHES {
            let report = everywhere(&trees, base, &|config| {
                config[table]["x"] = value(row);
                config["PORT_QOS_MAP"]["global"][field] = json!("x");
            });
            missed.extend(wrong(&format!("{base:?} switch {field}"), field, &report, comes));
        }
        for (table, rows, comes) in TABLES {
            let report = everywhere(&trees, base, &|config| config[table] = value(rows));
            missed.extend(wrong(&format!("{base:?} table {table}"), table, &report, comes));
        }
    }
    let watched = json!({ "GLOBAL": { "POLL_INTERVAL": "200", "BIG_RED_SWITCH": "enable" } });
    let report = everywhere(&trees, Base::Sonic, &|config| config["PFC_WD"] = watched.clone());
    missed.extend(wrong("a watchdog of nothing", "PFC_WD", &report, Found("V1106")));
    let report = everywhere(&trees, Base::Sonic, &|config| {
        config["WRED_PROFILE"]["x"] = json!({ "ecn": "ecn_none", "wred_green_enable": "true",
            "green_min_threshold": "1000", "green_max_threshold": "2000", "green_drop_probability": "100" });
        for (key, row) in config["QUEUE"].as_object_mut().expect("a table") {
            if row.get("wred_profile").is_none() && key.contains('|') {
                row["wred_profile"] = json!("x");
            }
        }
    });
    missed.extend(wrong("drops at random", "WRED_PROFILE", &report, Found("V1106")));
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}

/// Site settings to add on all switches of an operating system: file, position, contents, and name in the report.
#[rustfmt::skip] // A table: one row per line.
const LINES: [(Base, &str, &str, &str, &str); 13] = [
    (Base::ChosenEos, "eos.conf", "end\n", "sflow sample 100000\nsflow vrf MGMT destination 192.0.2.9\nsflow run\nend\n", "`sflow`"),
    (Base::ChosenEos, "eos.conf", "   no switchport\n", "   sflow enable\n   no switchport\n", "`sflow`"),
    (Base::ChosenEos, "eos.conf", "end\n", "banner login\nrouter bgp 1\nEOF\nend\n", "`banner login`"),
    (Base::ChosenEos, "eos.conf", "end\n", "queue-monitor length\nend\n", "`queue-monitor length`"),
    (Base::ChosenEos, "eos.conf", "   no switchport\n", "   queue-monitor length thresholds 512 256\n   no switchport\n", "`queue-monitor length`"),
    (Base::ChosenEos, "eos.conf", "end\n", "management api http-commands\n   no shutdown\n   !\n   vrf MGMT\n      no shutdown\n!\nend\n", "`management api http-commands`"),
    (Base::ChosenEos, "eos.conf", "end\n", "daemon TerminAttr\n   exec /usr/bin/TerminAttr -cvaddr=192.0.2.9:9910\n   no shutdown\nend\n", "`daemon TerminAttr`"),
    (Base::Nvue, "nvue.yaml", "    system:\n", "    system:\n      sflow: { state: enabled }\n", "`system.sflow`"),
    (Base::Nvue, "nvue.yaml", "    system:\n", "    system:\n      gnmi-server:\n        state: enabled\n", "`system.gnmi-server`"),
    (Base::Nvue, "nvue.yaml", "    system:\n", "    system:\n      control-plane:\n        acl:\n          acl-default-dos:\n            inbound: {}\n", "access lists of the control plane"),
    (Base::Nvue, "nvue.yaml", "    system:\n", "    acl:\n      SSH:\n        type: ipv6\n        rule:\n          '1':\n            match: { ip: { protocol: tcp, tcp: { dest-port: { '22': {} } } } }\n            action: { deny: {} }\n    system:\n      control-plane:\n        acl:\n          SSH:\n            inbound: {}\n", "access lists of the control plane"),
    (Base::Nvue, "nvue.yaml", "    system:\n", "    system:\n      aaa:\n        user:\n          cumulus:\n            role: system-admin\n", "`system.aaa`"),
    (Base::Nvue, "nvue.yaml", "        ipv6:\n", "        sflow: { sample-rate: 9 }\n        ipv6:\n", "`interface.swp*.sflow`"),
];

#[test]
fn lines_of_the_site_are_named() {
    let trees = Trees::of(&[Base::ChosenEos, Base::Nvue]);
    for (base, file, at, with, name) in LINES {
        let mut tree: Memory = trees.tree(base).clone();
        let mut changed = 0;
        for bytes in tree.files.iter_mut().filter(|(path, _)| path.file_name() == Some(file)).map(|own| own.1)
        {
            let text = std::str::from_utf8(bytes).expect("text");
            // Ports come before the loopback and the management port, which have no sFlow.
            let first = text.find("swp").unwrap_or(0);
            let place = first + text[first..].find(at).unwrap_or_else(|| panic!("no {at:?}"));
            *bytes = [&text[..place], with, &text[place + at.len()..]].concat().into_bytes();
            changed += 1;
        }
        assert!(changed > 3, "{changed}");
        common::sign(&mut tree, "shape", base.routing());
        let report = verify(&tree, base::options()).expect("the tree can be read");
        assert_eq!(wrong(file, name, &report, Named), None);
    }
}
