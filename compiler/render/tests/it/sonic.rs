//! `config_db.json` read back: requirements of SONiC's models, and errors that the models do not detect.

use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv6Addr;

use closc_render::{Templates, path_table, targets};
use closc_tests::shape::plan;
use closc_topology::HostOutput;
use ipnet::Ipv6Net;
use serde_json::Value;

use crate::common::{LOSSY, PARALLEL, ZONES, isolated, small, sonic, switches};

/// A configuration, read back.
struct Config(Value);

impl Config {
    fn read(bytes: &[u8]) -> Self {
        Config(serde_json::from_slice(bytes).expect("every configuration is JSON"))
    }

    /// The configuration of a switch of a fabric.
    fn of(yaml: &str, switch: &str) -> Self {
        let path = format!("switches/{switch}/config_db.json");
        let found = switches(&plan(yaml)).into_iter().find(|artefact| artefact.path == path);
        Self::read(&found.expect("the switch is there").bytes)
    }

    /// The rows of a table by key; none if the table is omitted.
    fn table(&self, name: &str) -> BTreeMap<&str, &Value> {
        let rows = self.0.get(name).and_then(Value::as_object);
        rows.into_iter().flatten().map(|(key, fields)| (key.as_str(), fields)).collect()
    }

    fn field(&self, table: &str, key: &str, name: &str) -> Option<&str> {
        self.0.get(table)?.get(key)?.get(name)?.as_str()
    }

    /// Address of each port with a cable.
    fn addresses(&self) -> BTreeMap<&str, Ipv6Net> {
        let rows = self.table("INTERFACE");
        rows.into_keys()
            .filter_map(|key| key.split_once('|'))
            .map(|(port, net)| (port, net.parse().expect("an INTERFACE key ends in a prefix")))
            .collect()
    }
}

fn all() -> impl Iterator<Item = (String, Config)> {
    sonic().into_iter().map(|(name, bytes)| (name, Config::read(&bytes)))
}

#[test]
fn every_value_is_what_redis_holds() {
    for (name, config) in all() {
        for (table, rows) in config.0.as_object().unwrap() {
            let rows = rows.as_object().unwrap();
            assert!(!rows.is_empty(), "{name}: {table} is empty");
            for (key, fields) in rows {
                for (field, value) in fields.as_object().unwrap() {
                    let list = value.as_array().is_some_and(|list| list.iter().all(Value::is_string));
                    assert!(value.is_string() || list, "{name}: {table}|{key}|{field}: {value}");
                    assert_ne!(value, "", "{name}: {table}|{key}|{field} is empty");
                }
            }
        }
    }
}

/// Fields that name a row of another table.
const REFERENCES: [(&str, &str, &str); 15] = [
    ("BUFFER_PG", "profile", "BUFFER_PROFILE"),
    ("BUFFER_PROFILE", "pool", "BUFFER_POOL"),
    ("BUFFER_QUEUE", "profile", "BUFFER_PROFILE"),
    ("PORT_QOS_MAP", "dscp_to_tc_map", "DSCP_TO_TC_MAP"),
    ("PORT_QOS_MAP", "pfc_to_pg_map", "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP"),
    ("PORT_QOS_MAP", "pfc_to_queue_map", "MAP_PFC_PRIORITY_TO_QUEUE"),
    ("PORT_QOS_MAP", "tc_to_dscp_map", "TC_TO_DSCP_MAP"),
    ("PORT_QOS_MAP", "tc_to_pg_map", "TC_TO_PRIORITY_GROUP_MAP"),
    ("PORT_QOS_MAP", "tc_to_queue_map", "TC_TO_QUEUE_MAP"),
    ("QUEUE", "scheduler", "SCHEDULER"),
    ("QUEUE", "wred_profile", "WRED_PROFILE"),
    ("SRV6_MY_LOCATORS", "vrf", ""),
    ("STATIC_ROUTE", "ifname", "PORT"),
    ("NTP", "src_intf", "MGMT_PORT"),
    ("DEVICE_NEIGHBOR", "local_port", "PORT"),
];

/// Tables whose keys begin with the name of a row of another table.
const KEYED: [(&str, &str); 10] = [
    ("BUFFER_PG", "PORT"),
    ("BUFFER_QUEUE", "PORT"),
    ("DEVICE_NEIGHBOR", "PORT"),
    ("INTERFACE", "PORT"),
    ("MGMT_INTERFACE", "MGMT_PORT"),
    ("NEIGH", "INTERFACE"),
    ("PFC_WD", "PORT"),
    ("PORT_QOS_MAP", "PORT"),
    ("QUEUE", "PORT"),
    ("SRV6_MY_SIDS", "SRV6_MY_LOCATORS"),
];

#[test]
fn references_resolve() {
    for (name, config) in all() {
        for (table, field, to) in REFERENCES {
            let known = config.table(to);
            for (key, fields) in config.table(table) {
                let named = fields.get(field).and_then(Value::as_str).into_iter().flat_map(|v| v.split(','));
                for target in named.filter(|_| !to.is_empty()) {
                    assert!(known.contains_key(target), "{name}: {table}|{key}|{field} names {target}");
                }
            }
        }
        for (table, to) in KEYED {
            let known = config.table(to);
            for key in config.table(table).into_keys() {
                let first = key.split('|').next().unwrap();
                let switch_wide = ["global", "GLOBAL"].contains(&first);
                assert!(switch_wide || known.contains_key(first), "{name}: {table}|{key}");
            }
        }
    }
}

#[test]
fn ports_are_consistent() {
    for (name, config) in all() {
        let mut lanes = BTreeSet::new();
        let mut aliases = BTreeSet::new();
        let addresses = config.addresses();
        for (port, fields) in config.table("PORT") {
            let text = |field: &str| fields[field].as_str().unwrap();
            for lane in text("lanes").split(',') {
                assert!(lanes.insert(lane.parse::<u16>().unwrap()), "{name}: {port} lane {lane}");
            }
            assert!(aliases.insert(text("alias")), "{name}: {port} alias");
            let up = text("admin_status") == "up";
            for table in ["INTERFACE", "DEVICE_NEIGHBOR", "PORT_QOS_MAP"] {
                let there = config.table(table).contains_key(port);
                assert_eq!(there, up, "{name}: {port} is up: {up}, {table} has it: {there}");
            }
            // An unnumbered port has a link-local address that the switch generates.
            let unnumbered = config.field("INTERFACE", port, "ipv6_use_link_local_only") == Some("enable");
            assert_eq!(addresses.contains_key(port) || unnumbered, up, "{name}: {port}");
        }
    }
}

#[test]
fn routes_lead_to_neighbours_and_nowhere_else() {
    for (name, config) in all() {
        let addresses = config.addresses();
        let mut blackholes = 0;
        for (key, fields) in config.table("STATIC_ROUTE") {
            let prefix: Ipv6Net = key.strip_prefix("default|").unwrap().parse().unwrap();
            assert_ne!(prefix.prefix_len(), 0, "{name}: a default route");
            if fields.get("blackhole").is_some_and(|word| word == "true") {
                blackholes += 1;
                assert_eq!(fields.as_object().unwrap().len(), 1, "{name}: {key}");
                continue;
            }
            let list = |field: &str| fields[field].as_str().unwrap().split(',');
            assert_eq!(list("ifname").count(), list("nexthop").count(), "{name}: {key}");
            for (port, peer) in list("ifname").zip(list("nexthop")) {
                let (own, peer) = (addresses[port], peer.parse::<Ipv6Addr>().unwrap());
                assert!(own.contains(&peer) && own.addr() != peer, "{name}: {key} via {peer} {port}");
            }
        }
        let metadata = |field: &str| config.field("DEVICE_METADATA", "localhost", field);
        // With SRv6, the blackhole is for the block. Otherwise there is one for the pool of host addresses, and on a
        // T0 one for the rest of its group. With BGP, routes are in frr.conf.
        let expected = match (metadata("bgp_asn"), config.table("SRV6_MY_SIDS").len(), metadata("type")) {
            (Some(_), _, _) => 0,
            (None, 0, Some("ToRRouter")) => 2,
            (None, _, _) => 1,
        };
        assert_eq!(blackholes, expected, "{name}");
    }
}

#[test]
fn tables_and_ports_stand_in_order() {
    for (name, bytes) in sonic() {
        let text = String::from_utf8(bytes).unwrap();
        let quoted = |line: &str| line.trim_start().split('"').nth(1).map(str::to_owned);
        let at = |indent: usize| {
            text.lines().filter(move |line| line.len() - line.trim_start().len() == indent).filter_map(quoted)
        };
        let tables: Vec<String> = at(4).collect();
        assert!(tables.is_sorted(), "{name}: {tables:?}");
        let number = |key: &str| key.strip_prefix("Ethernet").and_then(|n| n.parse::<u32>().ok());
        let start = text.find("\n    \"PORT\": {").unwrap();
        let ports: Vec<u32> = text[start..].lines().skip(2).map_while(|l| number(&quoted(l)?)).collect();
        assert!(!ports.is_empty() && ports.is_sorted(), "{name}: {ports:?}");
    }
}

#[test]
fn the_same_plan_gives_the_same_bytes() {
    for yaml in [LOSSY, PARALLEL, ZONES] {
        assert_eq!(switches(&plan(yaml)), switches(&plan(yaml)));
    }
}

/// One locator and one uN per switch, because only one of several would reach the ASIC (sonic-buildimage 24938).
#[test]
fn a_switch_has_one_segment() {
    for yaml in [LOSSY, ZONES] {
        for artefact in switches(&plan(yaml)) {
            let config = Config::read(&artefact.bytes);
            assert_eq!(config.table("SRV6_MY_LOCATORS").len(), 1, "{}", artefact.path);
            assert_eq!(config.table("SRV6_MY_SIDS").len(), 1, "{}", artefact.path);
        }
    }
}

/// Parallel cables are the only reason for more segments. There is one per cable, because a segment list must
/// identify the cable.
#[test]
fn parallel_cables_have_a_segment_each() {
    for artefact in switches(&plan(PARALLEL)) {
        let config = Config::read(&artefact.bytes);
        assert_eq!(config.table("SRV6_MY_LOCATORS").len(), 2, "{}", artefact.path);
        assert_eq!(config.table("SRV6_MY_SIDS").len(), 2, "{}", artefact.path);
    }
}

/// With `func_len` at its default of 16, a uN becomes a plain End after a reload (24454). The prefix of a locator is an
/// address. A SID is inside its locator (otherwise bgpcfgd rejects it) and needs neither interface nor VRF (FRR 19981,
/// 25448).
#[test]
fn segments_are_plain_un() {
    let config = Config::of(LOSSY, "p1-t0-002");
    assert_eq!(config.field("SRV6_MY_LOCATORS", "loc1", "prefix"), Some("fcbb:bbbb:802::"));
    assert_eq!(config.field("SRV6_MY_LOCATORS", "loc1", "func_len"), Some("0"));
    assert_eq!(config.field("SRV6_MY_LOCATORS", "loc1", "block_len"), Some("32"));
    assert_eq!(config.field("SRV6_MY_LOCATORS", "loc1", "node_len"), Some("16"));
    let fields = config.0["SRV6_MY_SIDS"]["loc1|fcbb:bbbb:802::/48"].as_object().unwrap();
    assert_eq!(fields.len(), 2);
    assert_eq!((&fields["action"], &fields["decap_dscp_mode"]), (&"uN".into(), &"pipe".into()));
}

/// Locators precede their SIDs (21826).
#[test]
fn locators_come_first() {
    for (name, bytes) in sonic() {
        let text = String::from_utf8(bytes).unwrap();
        let at = |table: &str| text.find(&format!("\n    \"{table}\": {{"));
        if let (Some(locators), Some(sids)) = (at("SRV6_MY_LOCATORS"), at("SRV6_MY_SIDS")) {
            assert!(locators < sids, "{name}");
        }
    }
}

/// The blackhole covers the SIDs and is the last of the routes (23812: removing a route that covers a SID removes
/// the SID).
#[test]
fn the_blackhole_is_the_last_route() {
    for artefact in switches(&plan(LOSSY)) {
        let text = String::from_utf8(artefact.bytes).unwrap();
        let last = text.lines().rfind(|line| line.contains("\"default|")).unwrap();
        assert_eq!(last.trim(), r#""default|fcbb:bbbb::/32": {"blackhole": "true"}"#, "{}", artefact.path);
    }
}

/// bgpcfgd handles static SIDs. The management framework replaces it with a daemon that does not support them. With
/// an ASN, bgpcfgd redistributes the static routes.
#[test]
fn bgpcfgd_serves_static_segments() {
    let config = Config::of(LOSSY, "p0-t1-001");
    let field = |name| config.field("DEVICE_METADATA", "localhost", name);
    assert_eq!(field("frr_mgmt_framework_config"), Some("false"));
    assert_eq!(field("docker_routing_config_mode"), Some("separated"));
    assert_eq!(field("bgp_asn"), None);
}

#[test]
fn neighbours_that_are_switches_are_permanent() {
    let config = Config::of(LOSSY, "p0-t0-002");
    let addresses = config.addresses();
    let permanent = config.table("NEIGH");
    assert_eq!(permanent.len(), 3);
    for (key, fields) in permanent {
        let (port, peer) = key.split_once('|').unwrap();
        assert!(addresses[port].contains(&peer.parse::<Ipv6Addr>().unwrap()));
        assert_eq!(fields["family"], "IPv6");
        let name = config.field("DEVICE_NEIGHBOR", port, "name").unwrap();
        let far = Config::of(LOSSY, name);
        assert_eq!(fields["neigh"].as_str(), far.field("DEVICE_METADATA", "localhost", "mac"));
    }
}

/// The field for a management address supports one family; the other one has its own field.
#[test]
fn management_addresses_go_by_family() {
    let known = |yaml, field| {
        Config::of(yaml, "p0-t0-002").field("DEVICE_NEIGHBOR_METADATA", "p0-t1-001", field).map(str::to_owned)
    };
    assert_eq!(known(LOSSY, "mgmt_addr").as_deref(), Some("10.65.0.1"));
    assert_eq!(known(LOSSY, "mgmt_addr_v6"), None);
    assert_eq!(known(PARALLEL, "mgmt_addr"), None);
    assert_eq!(known(PARALLEL, "mgmt_addr_v6").as_deref(), Some("2001:db8:99:0:1::1"));
}

#[test]
fn both_ends_name_each_other() {
    for yaml in [LOSSY, PARALLEL, ZONES] {
        let configs: BTreeMap<String, Config> = switches(&plan(yaml))
            .into_iter()
            .map(|artefact| Config::read(&artefact.bytes))
            .map(|config| {
                (config.field("DEVICE_METADATA", "localhost", "hostname").unwrap().to_owned(), config)
            })
            .collect();
        for (name, config) in &configs {
            for (port, fields) in config.table("DEVICE_NEIGHBOR") {
                let text = |field: &str| fields[field].as_str().unwrap();
                let Some(far) = configs.get(text("name")) else { continue };
                let back = &far.0["DEVICE_NEIGHBOR"][text("port")];
                assert_eq!((&back["name"], &back["port"]), (&name.as_str().into(), &port.into()));
                let (own, other) = (config.addresses()[port], far.addresses()[text("port")]);
                assert!(own != other && own.trunc() == other.trunc(), "{name} {port}");
                let known = |field| config.field("DEVICE_NEIGHBOR_METADATA", text("name"), field);
                let said = |field| far.field("DEVICE_METADATA", "localhost", field);
                assert_eq!((known("hwsku"), known("type")), (said("hwsku"), said("type")), "{name} {port}");
            }
        }
    }
}

/// MRC: PFC is off, packets are trimmed with two DSCPs, and every data queue has ECN marking except on the port to
/// the NIC.
#[test]
fn lossy_trims_and_marks() {
    let t0 = Config::of(LOSSY, "p0-t0-002");
    for table in ["PFC_WD", "MAP_PFC_PRIORITY_TO_QUEUE", "CABLE_LENGTH"] {
        assert!(t0.table(table).is_empty(), "{table}");
    }
    let (mut down, mut up) = (0, 0);
    for (port, fields) in t0.table("PORT_QOS_MAP").into_iter().filter(|(port, _)| *port != "global") {
        assert!(fields.get("pfc_enable").is_none(), "{port}");
        let to_nic = fields["tc_to_dscp_map"] == "last-hop";
        *(if to_nic { &mut down } else { &mut up }) += 1;
        for queue in [1, 2] {
            let marked = t0.field("QUEUE", &format!("{port}|{queue}"), "wred_profile").is_some();
            assert_eq!(marked, !to_nic, "{port}|{queue}");
        }
        assert_eq!(t0.field("BUFFER_QUEUE", &format!("{port}|1-2"), "profile"), Some("egress_trim_profile"));
    }
    assert_eq!((down, up), (3, 3));
    assert_eq!(t0.field("TC_TO_DSCP_MAP", "last-hop", "8"), Some("16"));
    assert_eq!(t0.field("TC_TO_DSCP_MAP", "edge", "8"), Some("12"));
    let t1 = Config::of(LOSSY, "p0-t1-001");
    assert!(t1.table("QUEUE").iter().filter(|(key, _)| key.ends_with("|1")).all(|(_, fields)| {
        fields.get("wred_profile").is_some_and(|name| name.as_str().unwrap().starts_with("q1-fabric-"))
    }));
}

/// The code point of a trimmed packet shows whether it was trimmed at the last hop. Path tables and the script of NICs
/// have the same two code points as switches.
#[test]
fn lists_of_trimmed_code_points_say_which_is_last_hop() {
    let plan = plan(&LOSSY.replace("hosts: {", "hosts: { outputs: [nic],"));
    let text = |artefacts: Vec<closc_render::Artefact>, ending: &str| {
        let own = artefacts.into_iter().find(|artefact| artefact.path.as_str().ends_with(ending));
        String::from_utf8(own.expect("it is rendered").bytes).expect("it is text")
    };
    let (zone, group) = plan.groups().nth(1).expect("there are four groups");
    let [json, _] = path_table::render(&plan.path_table(zone, group));
    let json: Value = serde_json::from_slice(&json.bytes).expect("it is JSON");
    let trimmed = &json["qos"]["trimmed"];
    let t0 = Config::of(LOSSY, "p0-t0-002");
    let given = |map| t0.field("TC_TO_DSCP_MAP", map, "8").and_then(|dscp| dscp.parse::<u64>().ok());
    assert_eq!(trimmed["fabric_dscp"].as_u64(), given("edge"));
    assert_eq!(trimmed["last_hop_dscp"].as_u64(), given("last-hop"));
    assert_ne!(trimmed["fabric_dscp"], trimmed["last_hop_dscp"]);
    let node = plan.nodes().next().expect("there are nodes");
    let files = targets::host::render(&plan.host(node), HostOutput::Nic, &Templates::builtin());
    let script = text(files.expect("it is rendered"), "nic-qos.sh");
    let [inside, last] = ["fabric_dscp", "last_hop_dscp"].map(|name| &trimmed[name]);
    let listed = format!("{inside} (trimmed inside the fabric) and {last} (at the last hop)");
    assert!(script.contains(&listed), "{listed}:\n{script}");
    let lossless = plan_of_lossless();
    let [json, _] = path_table::render(&lossless.path_table(zone, group));
    let json: Value = serde_json::from_slice(&json.bytes).expect("it is JSON");
    assert!(json["qos"].get("trimmed").is_none(), "nothing is trimmed without trimming");
}

/// The same fabric with PFC.
fn plan_of_lossless() -> closc_plan::Plan {
    plan(&LOSSY.replace("qos: lossy-trim", "qos: lossless"))
}

/// The switch rejects the later removal of a field, so all fields are written. Trimming is not an ingress action.
#[test]
fn trimming_is_written_whole() {
    let config = Config::of(LOSSY, "p0-t0-002");
    let row = config.0["SWITCH_TRIMMING"]["GLOBAL"].as_object().unwrap();
    let fields: Vec<&str> = row.keys().map(String::as_str).collect();
    assert_eq!(fields, ["dscp_value", "queue_index", "size", "tc_value"]);
    for (name, fields) in config.table("BUFFER_PROFILE") {
        let trims = fields.get("packet_discard_action").is_some_and(|action| action == "trim");
        assert_eq!(trims, name == "egress_trim_profile", "{name}");
    }
}

#[test]
fn thresholds_ascend() {
    for (name, config) in all() {
        for (key, fields) in config.table("WRED_PROFILE") {
            let bytes = |field: &str| fields[field].as_str().unwrap().parse::<u64>().unwrap();
            for colour in ["green", "yellow", "red"] {
                let (min, max) = (format!("{colour}_min_threshold"), format!("{colour}_max_threshold"));
                assert!(bytes(&min) < bytes(&max), "{name}: {key}");
            }
        }
    }
}

/// YANG does not detect a PFC priority without a lossless group, or one that is mapped to another group.
#[test]
fn what_pauses_has_headroom_and_a_queue() {
    let mut seen = 0;
    for (name, config) in all() {
        for (port, fields) in config.table("PORT_QOS_MAP") {
            let Some(priorities) = fields.get("pfc_enable").and_then(Value::as_str) else { continue };
            for priority in priorities.split(',') {
                seen += 1;
                let map = |table: &str| {
                    let map = config.0.get(table)?.as_object()?.values().next()?;
                    map.get(priority)?.as_str()
                };
                let group = map("PFC_PRIORITY_TO_PRIORITY_GROUP_MAP").unwrap_or(priority);
                let profile = row_of(&config, "BUFFER_PG", port, group).unwrap();
                let profile = profile["profile"].as_str().unwrap();
                let meters = config.field("CABLE_LENGTH", map_name(&config), port).unwrap();
                let speed = config.field("PORT", port, "speed").unwrap();
                // On NVIDIA's platforms, buffermgrd would remove groups whose profile has buffermgrd's own name.
                let stem = if name.starts_with("spectrum") { "ingress_lossless" } else { "pg_lossless" };
                assert_eq!(profile, format!("{stem}_{speed}_{meters}_profile"), "{name}: {port}");
                for field in ["xoff", "xon", "size", "dynamic_th"] {
                    assert!(
                        config.field("BUFFER_PROFILE", profile, field).is_some(),
                        "{name}: {profile} {field}"
                    );
                }
                assert_eq!(config.field("BUFFER_PROFILE", profile, "pool"), Some("ingress_lossless_pool"));
                let queue = map("MAP_PFC_PRIORITY_TO_QUEUE").unwrap();
                let egress = row_of(&config, "BUFFER_QUEUE", port, queue).unwrap();
                assert_eq!(egress["profile"], "egress_lossless_profile", "{name}: {port}");
            }
        }
    }
    assert!(seen > 100, "{seen}");
}

fn map_name(config: &Config) -> &str {
    config.table("CABLE_LENGTH").into_keys().next().unwrap()
}

/// The row of a port whose range contains a number.
fn row_of<'c>(config: &'c Config, table: &str, port: &str, number: &str) -> Option<&'c Value> {
    let number: u8 = number.parse().ok()?;
    config.table(table).into_iter().find_map(|(key, fields)| {
        let range = key.strip_prefix(port)?.strip_prefix('|')?;
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let within = first.parse::<u8>().ok()? <= number && number <= last.parse().ok()?;
        within.then_some(fields)
    })
}

/// The shared pool and the headroom fit the buffer.
#[test]
fn pools_fit_the_buffer() {
    for (name, config) in all() {
        let bytes = |pool: &str, field: &str| {
            config.field("BUFFER_POOL", pool, field).map_or(0, |text| text.parse::<u64>().unwrap())
        };
        let ingress = ["ingress_lossless_pool", "ingress_lossy_pool"]
            .map(|pool| bytes(pool, "size"))
            .iter()
            .sum::<u64>();
        assert!(ingress > 0, "{name}");
        let whole = bytes("egress_lossless_pool", "size").max(bytes("egress_lossy_pool", "size"));
        assert!(ingress + bytes("ingress_lossless_pool", "xoff") <= whole, "{name}");
    }
}

#[test]
fn a_watchdog_looks_at_every_pausing_port() {
    let config = Config::of(&small("th5-128x400g", "400G", "lossless", "srv6-static"), "p0-t0-001");
    let poll: u32 = config.field("PFC_WD", "GLOBAL", "POLL_INTERVAL").unwrap().parse().unwrap();
    for (port, fields) in config.table("PORT_QOS_MAP").into_iter().filter(|(port, _)| *port != "global") {
        assert_eq!(fields["pfc_enable"], fields["pfcwd_sw_enable"]);
        let time: u32 = config.field("PFC_WD", port, "detection_time").unwrap().parse().unwrap();
        assert!(time >= poll);
    }
}

/// FRR_VERSION in rules/frr.mk of each branch of sonic-buildimage.
#[test]
fn frr_conf_names_the_frr_of_the_release() {
    for (release, frr) in [
        ("202411", "10.0.1"),
        ("202505", "10.3"),
        ("202511", "10.4.1"),
        ("202605", "10.5.4"),
        ("master", "10.5.4"),
    ] {
        let text = small("th5-128x400g", "400G", "lossless", "bgp-unnumbered")
            + &format!("releases: {{ sonic: \"{release}\" }}\n");
        let path = "switches/p0-t0-001/frr.conf";
        let conf = switches(&plan(&text)).into_iter().find(|artefact| artefact.path == path).unwrap();
        let conf = String::from_utf8(conf.bytes).unwrap();
        assert!(conf.contains(&format!("\nfrr version {frr}\n")), "{release}: {conf:.400}");
    }
}

/// YANG does not detect a configuration mode that does not match the routing mode. Hashing is configured only if
/// switches choose paths.
#[test]
fn modes_go_with_the_routing() {
    let mode = |routing| {
        let config = Config::of(&small("th5-128x400g", "400G", "lossless", routing), "p0-t0-001");
        let mode =
            config.field("DEVICE_METADATA", "localhost", "docker_routing_config_mode").unwrap().to_owned();
        (mode, config.table("SWITCH_HASH").len(), config.table("SRV6_MY_SIDS").len())
    };
    assert_eq!(mode("srv6-static"), ("separated".to_owned(), 0, 1));
    assert_eq!(mode("ecmp-static"), ("separated".to_owned(), 1, 0));
    assert_eq!(mode("bgp-unnumbered"), ("split-unified".to_owned(), 1, 0));
}

/// One more T1 per plane, or one more unit of T0 groups, does not remove lines from the file of an existing switch.
/// The last row of a table only gets a comma.
#[test]
fn growth_removes_no_line() {
    let lines = |text: &[u8]| -> BTreeSet<String> {
        let text = std::str::from_utf8(text).unwrap();
        text.lines().map(|line| line.trim_end_matches(',').to_owned()).collect()
    };
    let before = switches(&plan(LOSSY));
    for (from, to) in [("}, up: 3", "}, up: 4"), ("groups: 4", "groups: 6")] {
        let after: BTreeMap<_, _> =
            switches(&plan(&LOSSY.replace(from, to))).into_iter().map(|a| (a.path, a.bytes)).collect();
        assert!(after.len() > before.len());
        for artefact in &before {
            let (old, new) = (lines(&artefact.bytes), lines(&after[&artefact.path]));
            let removed: Vec<_> = old.difference(&new).collect();
            assert!(removed.is_empty(), "{to}: {}: {removed:?}", artefact.path);
        }
    }
}

#[test]
fn free_text_stays_as_written() {
    let config = Config::of(LOSSY, "p0-t0-001");
    assert_eq!(config.field("SNMP", "CONTACT", "Contact"), Some("noc \"at\" site\\1"));
    let servers: Vec<&str> = config.table("NTP_SERVER").into_keys().collect();
    assert_eq!(servers, ["192.0.2.1", "192.0.2.2", "2001:db8::7b"]);
}

/// Every switch has the access list. Isolating a cable changes only the ports of the list at both ends, or at the T0.
#[test]
fn isolating_a_cable_changes_the_ports_of_one_list() {
    const TABLES: [&str; 3] = ["ACL_RULE", "ACL_TABLE", "ACL_TABLE_TYPE"];
    let read = |yaml: &str| -> BTreeMap<String, Value> {
        let files = switches(&plan(yaml)).into_iter();
        files.map(|file| (file.path.to_string(), Config::read(&file.bytes).0)).collect()
    };
    let (without, with) = (read(PARALLEL), read(&isolated()));
    let empty = read(&format!("{PARALLEL}exceptions: {{ isolated: [] }}\n"));
    let mut bound = BTreeMap::new();
    for (path, config) in &with {
        let mut config = config.clone();
        let list = &mut config["ACL_TABLE"]["LINK_ISOLATION_TABLE"];
        if let Some(ports) = list.as_object_mut().expect("a row").remove("ports") {
            bound.insert(path.split('/').nth(1).expect("a name").to_owned(), ports);
        }
        assert_eq!(config, empty[path], "{path}");
        let tables = config.as_object_mut().expect("tables");
        for table in TABLES {
            assert!(tables.remove(table).is_some(), "{path}: {table}");
        }
        assert_eq!(config, without[path], "{path}");
    }
    let port = |config: &Value, neighbour: &str, port: Option<&str>| {
        let rows = config["DEVICE_NEIGHBOR"].as_object().expect("a table");
        let is_it = |row: &Value| row["name"] == neighbour && port.is_none_or(|port| row["port"] == port);
        let found = rows.iter().filter(|(_, row)| is_it(row)).map(|(name, _)| name.clone());
        found.collect::<Vec<_>>()
    };
    let of = |switch: &str| &with[&format!("switches/{switch}/config_db.json")];
    // The second of two parallel cables, at both ends.
    let upper = port(of("p0-t1-002"), "p0-t0-001", None);
    let lower = port(of("p0-t0-001"), "p0-t1-002", Some(&upper[1]));
    let host = port(of("p1-t0-002"), "su002-n001", Some("nic0p1"));
    let expected = [
        ("p0-t0-001", serde_json::json!(lower)),
        ("p0-t1-002", serde_json::json!([upper[1]])),
        ("p1-t0-002", serde_json::json!(host)),
    ];
    assert_eq!(bound, expected.map(|(switch, ports)| (switch.to_owned(), ports)).into());
}
