//! `eos.conf`, compared line by line with the output of Arista's own pyavd for the same intent.
//!
//! `CLOSC_PYAVD` is the path of a Python with the package; the default is `python3`.

use std::collections::BTreeMap;
use std::env;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use closc_artefacts::{Family, Prefix};
use closc_plan::{AcceptedPrefixes, BgpDirection, BgpIntent, BgpSide, DeviceIntent, Plan, SwitchQos, Target};
use closc_qos::Place;
use closc_qos::codes::Queue;
use closc_qos::ecn::EcnThresholds;
use closc_qos::profile::{Class, Scheduler, WatchdogAction};
use closc_tests::shape::plan;
use serde_json::{Map, Value, json};

use crate::common::switches;

/// Two tiers of a platform, with services, ports without a cable, and a drained cable.
fn fabric(platform: &str, nic: &str, qos: &str, routing: &str, hosts: &str) -> Plan {
    let ecmp = if platform.starts_with("th5-128") { "ecmp: { balance: flowlet }\n" } else { "" };
    plan(&format!(
        "fabric: eos\nplanes: 1\nrouting: {routing}\nhosts: {{ groups: 3, per_group: 2, nic: {nic} }}\n\
         tiers:\n  t0: {{ platform: {platform}, os: eos, down: {{ count: 2, spare: 1 }}, up: 2 }}\n  \
         t1: {{ platform: {platform}, os: eos }}\naddresses: {{ {hosts}management: 10.64.0.0/14 }}\ncables:\n  \
         nic-t0: {{ length: 2m, medium: dac }}\n  t0-t1: {{ length: 30m, medium: dr4 }}\nqos: {qos}\nservices:\n  \
         ntp: [ 192.0.2.1, \"2001:db8::7b\" ]\n  syslog: [ 192.0.2.9 ]\n  snmp: {{ contact: noc, location: hall 3 }}\n\
         exceptions: {{ drained: [ p0-t0-002--p0-t1-001 ] }}\n{ecmp}"
    ))
}

/// Input of pyavd: the same settings in its schema.
fn structured_config(intent: &DeviceIntent<'_>) -> Value {
    let qos = SwitchQos::of(intent).expect("the buffer holds the profile");
    let system = &intent.system;
    let services = system.services;
    let management = system.management.expect("there is a pool");
    let servers = |list: &[std::net::IpAddr]| {
        list.iter().map(|server| json!({ "name": server.to_string() })).collect::<Vec<_>>()
    };
    let mut text = json!({
        "hostname": intent.name,
        "is_deployed": true,
        "service_routing_protocols_model": "multi-agent",
        "ipv6_unicast_routing": true,
        "vrfs": [{ "name": "MGMT" }],
        "management_interfaces": [{
            "name": if intent.hardware.contains("7808") { "Management0" } else { "Management1" },
            "vrf": "MGMT",
            "ip_address": management.address.to_string(),
        }],
        "static_routes": [{ "vrf": "MGMT", "prefix": "0.0.0.0/0", "next_hop": management.gateway.to_string() }],
        "loopback_interfaces": [{ "name": "Loopback0", "ipv6_address": format!("{}/128", system.loopback) }],
        "ntp": {
            "vrf": "MGMT",
            "local_interface": { "name": if intent.hardware.contains("7808") { "Management0" } else { "Management1" }, "vrf": "MGMT" },
            "servers": servers(&services.ntp),
        },
        "logging": { "vrfs": [{ "name": "MGMT", "hosts": servers(&services.syslog) }] },
        "snmp_server": { "contact": services.snmp_contact, "location": services.snmp_location },
        "ethernet_interfaces": ports(intent, &qos),
        "ipv6_static_routes": routes(intent),
        "qos_profiles": profiles(intent, &qos),
    });
    let classes = intent.qos.classes().filter_map(|class| {
        let codes = intent.qos.dscp_to_tc().into_iter().filter(|(_, tc)| *tc == class.tc);
        let codes: Vec<String> = codes.map(|(code, _)| code.to_string()).collect();
        (!codes.is_empty()).then(|| {
            (
                format!("{} to traffic-class {}", codes.join(" "), class.tc),
                format!("{} to tx-queue {}", class.tc, class.queue),
            )
        })
    });
    let (dscp, traffic_class): (Vec<String>, Vec<String>) = classes.unzip();
    text["qos"] = json!({ "map": { "dscp": dscp, "traffic_class": traffic_class } });
    if let Some(bgp) = &intent.bgp {
        let more = routing(intent, bgp);
        text.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
    }
    if system.loopback.family() == Family::V4 {
        ipv4(intent, &mut text);
    }
    text["ip_hardware"] = balancing(intent);
    if !intent.platform.has_virtual_queues() {
        text["platform"] = memory(intent, &qos);
    }
    text
}

/// Dynamic load balancing. Size 1 has 128 groups, and each larger size has half as many as the previous one: size 7
/// has 2.
fn balancing(intent: &DeviceIntent<'_>) -> Value {
    let Some(own) = intent.balance else { return json!({}) };
    let size = match own.groups {
        0..=2 => 7,
        3..=4 => 6,
        groups => panic!("{groups} groups are more than this fabric needs"),
    };
    let dynamic = json!({ "enabled": true, "flow_set_size": size });
    json!({ "fib": { "load_balance_distribution": { "dynamic": dynamic } } })
}

/// Moves IPv4 settings to the corresponding keys of pyavd.
fn ipv4(intent: &DeviceIntent<'_>, text: &mut Value) {
    let system = &intent.system;
    text["loopback_interfaces"] =
        json!([{ "name": "Loopback0", "ip_address": format!("{}/32", system.loopback) }]);
    let routing = if intent.bgp.is_some() { "ip_routing_ipv6_interfaces" } else { "ip_routing" };
    text[routing] = true.into();
    let routes = text["ipv6_static_routes"].take();
    text["ipv6_static_routes"] = json!([]);
    let all = text["static_routes"].as_array_mut().expect("a list");
    all.extend(routes.as_array().expect("a list").iter().cloned());
    if intent.bgp.is_some() {
        text["prefix_lists"] = text["ipv6_prefix_lists"].take();
        text["ipv6_prefix_lists"] = json!([]);
        let bgp = text["router_bgp"].as_object_mut().expect("an object");
        let family = bgp.remove("address_family_ipv6").expect("a family");
        bgp.insert("address_family_ipv4".to_owned(), family);
        for group in bgp["address_family_ipv4"]["peer_groups"].as_array_mut().expect("a list") {
            group["next_hop"] = json!({ "address_family_ipv6": { "enabled": true, "originate": true } });
        }
    }
}

fn ports(intent: &DeviceIntent<'_>, qos: &SwitchQos) -> Vec<Value> {
    let port = |(port, kind): (&closc_plan::PortIntent, &Option<usize>)| {
        let physical = &port.physical;
        let mut value = json!({
            "name": physical.name,
            "description": port.description,
            "speed": format!("{}g-{}", physical.speed.mbps() / 1000, physical.lanes.len()),
            "shutdown": port.connection.is_none(),
        });
        if let (Some(connection), Some(kind)) = (&port.connection, kind) {
            let more = json!({
                "mtu": port.mtu,
                "error_correction_encoding": { "reed_solomon": true },
                "switchport": { "enabled": false },
                "service_profile": profile_name(&qos.kinds[*kind]),
            });
            value.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
            if connection.unnumbered {
                value["ipv6_enable"] = true.into();
            } else {
                let key = match connection.address.family() {
                    Family::V4 => "ip_address",
                    Family::V6 => "ipv6_address",
                };
                value[key] = connection.address.to_string().into();
            }
        }
        value
    };
    intent.ports.iter().zip(&qos.ports).map(port).collect()
}

/// The name of the group of neighbours of a side.
fn group(direction: BgpDirection, drained: bool) -> String {
    format!("{}{}", direction.keyword(), if drained { "_DRAINED" } else { "" })
}

/// The groups that have a neighbour: side, and whether its neighbours are drained.
fn groups(bgp: &BgpIntent) -> Vec<(&BgpSide, bool)> {
    let has = |(side, drained): &(&BgpSide, bool)| {
        bgp.neighbours.iter().any(|own| own.direction == side.direction && own.drained == *drained)
    };
    bgp.sides.iter().flat_map(|side| [(side, false), (side, true)]).filter(has).collect()
}

/// BGP, and the lists and maps that it refers to.
fn routing(intent: &DeviceIntent<'_>, bgp: &BgpIntent) -> Value {
    let entries = |lines: Vec<String>| {
        let entry = |(at, line): (usize, String)| json!({ "sequence": (at + 1) * 5, "action": line });
        lines.into_iter().enumerate().map(entry).collect::<Vec<_>>()
    };
    let length = |own: &AcceptedPrefixes| Prefix::new_assert(own.pool.addr(), own.length).length();
    let fabric = bgp.accepts.iter().map(|own| format!("permit {} eq {}", own.pool, length(own))).collect();
    let own = bgp.networks.iter().map(|own| format!("permit {own}")).collect();
    json!({
        "ip_community_lists": [
            { "name": "DRAINED", "entries": [{ "action": "permit", "communities": ["GSHUT"] }] }
        ],
        "ipv6_prefix_lists": [
            { "name": "FABRIC", "sequence_numbers": entries(fabric) },
            { "name": "OWN", "sequence_numbers": entries(own) },
        ],
        "route_maps": route_maps(bgp),
        "router_bgp": process(intent, bgp),
    })
}

fn process(intent: &DeviceIntent<'_>, bgp: &BgpIntent) -> Value {
    let timers = bgp.timers;
    let agreed = |(side, drained): (&BgpSide, bool)| {
        json!({
            "name": group(side.direction, drained),
            "bfd": true,
            "bfd_timers": {
                "interval": timers.bfd_interval_ms,
                "min_rx": timers.bfd_interval_ms,
                "multiplier": timers.bfd_multiplier,
            },
            "send_community": "standard",
            "maximum_routes": side.prefixes_max,
            "missing_policy": {
                "direction_in": { "action": "deny" },
                "direction_out": { "action": "deny" },
            },
        })
    };
    let active = |(side, drained): (&BgpSide, bool)| {
        let word = side.direction.keyword();
        json!({
            "name": group(side.direction, drained),
            "activate": true,
            "route_map_in": format!("{word}-IN{}", if drained { "-DRAINED" } else { "" }),
            "route_map_out": format!("{word}-OUT"),
        })
    };
    let neighbour = |own: &closc_plan::BgpNeighbour| {
        json!({
            "name": intent.ports[own.port].physical.name,
            "peer_group": group(own.direction, own.drained),
            "remote_as": own.asn.to_string(),
        })
    };
    let networks = bgp.networks.iter().map(|own| json!({ "prefix": own.to_string() }));
    json!({
        "as": bgp.asn.to_string(),
        "router_id": bgp.router_id.to_string(),
        "bgp": { "default": { "ipv4_unicast": false } },
        "graceful_restart": {
            "enabled": true,
            "restart_time": timers.restart_s,
            "stalepath_time": timers.stale_s,
        },
        "maximum_paths": { "paths": bgp.multipath, "ecmp": bgp.multipath },
        "bgp_defaults": [format!("timers bgp {} {}", timers.keepalive_s, timers.hold_s)],
        "peer_groups": groups(bgp).into_iter().map(agreed).collect::<Vec<_>>(),
        "neighbor_interfaces": bgp.neighbours.iter().map(neighbour).collect::<Vec<_>>(),
        "address_family_ipv6": {
            "peer_groups": groups(bgp).into_iter().map(active).collect::<Vec<_>>(),
            "networks": networks.collect::<Vec<_>>(),
        },
    })
}

fn route_maps(bgp: &BgpIntent) -> Vec<Value> {
    let family = bgp.networks[0].family().keyword();
    let fabric = &*format!("{family} address prefix-list FABRIC");
    let shorter = |most: Option<u8>| most.map(|most| format!("as-path length <= {most}"));
    let mut maps = Vec::new();
    for side in &bgp.sides {
        let word = side.direction.keyword();
        let taken = shorter(side.longest_accepted);
        let matched = |more: &[&str]| {
            taken.iter().cloned().chain(more.iter().map(|one| (*one).to_owned())).collect::<Vec<_>>()
        };
        maps.push(json!({ "name": format!("{word}-IN"), "sequence_numbers": [
            {
                "sequence": 10,
                "type": "permit",
                "description": "last resort: a switch on the path is drained (RFC 8326)",
                "match": matched(&["community DRAINED", fabric]),
                "set": ["local-preference 0"],
            },
            { "sequence": 20, "type": "permit", "match": matched(&[fabric]) },
        ] }));
        if bgp.neighbours.iter().any(|own| own.drained) {
            maps.push(json!({ "name": format!("{word}-IN-DRAINED"), "sequence_numbers": [{
                "sequence": 10,
                "type": "permit",
                "match": matched(&[fabric]),
                "set": ["community GSHUT additive", "local-preference 0"],
            }] }));
        }
        let announced: Vec<String> = if side.longest_announced == Some(0) {
            vec![format!("{family} address prefix-list OWN")]
        } else {
            shorter(side.longest_announced).into_iter().chain([fabric.to_owned()]).collect()
        };
        maps.push(json!({ "name": format!("{word}-OUT"), "sequence_numbers": [
            { "sequence": 10, "type": "permit", "match": announced }
        ] }));
    }
    maps
}

fn profile_name(kind: &closc_plan::PortKind) -> String {
    let place = match kind.place {
        Place::LastHop => "LAST-HOP",
        Place::Edge => "EDGE",
        Place::Fabric => "FABRIC",
    };
    format!("{place}-{}G", kind.speed.mbps() / 1000)
}

fn routes(intent: &DeviceIntent<'_>) -> Vec<Value> {
    let mut all: Vec<_> = intent.routes.iter().collect();
    all.sort_by_key(|route| route.prefix);
    let lines = |route: &&closc_plan::Route| match &route.target {
        Target::Blackhole => vec![json!({ "prefix": route.prefix.to_string(), "interface": "Null0" })],
        Target::Ports(hops) => hops
            .iter()
            .map(|hop| {
                let port = &intent.ports[hop.port];
                let peer = &port.connection.as_ref().expect("a route uses a cable").peer;
                json!({
                    "prefix": route.prefix.to_string(),
                    "interface": port.physical.name,
                    "next_hop": peer.address().to_string(),
                })
            })
            .collect(),
    };
    all.iter().flat_map(lines).collect()
}

fn profiles(intent: &DeviceIntent<'_>, qos: &SwitchQos) -> Vec<Value> {
    let mut found: BTreeMap<String, Value> = BTreeMap::new();
    for (kind, marks) in qos.kinds.iter().zip(&qos.marks) {
        let mut profile = json!({ "name": profile_name(kind), "trust": "dscp" });
        let pauses: Vec<Value> = intent
            .qos
            .lossless()
            .map(|class| json!({ "priority": class.priority.get(), "no_drop": true }))
            .collect();
        if !pauses.is_empty() {
            profile["priority_flow_control"] = json!({ "enabled": true, "priorities": pauses });
            if let (Some(watchdog), Some(times)) = (intent.qos.watchdog(), qos.watchdog) {
                #[expect(clippy::cast_precision_loss, reason = "a few thousand")]
                let seconds = |millis: u64| format!("{}", millis as f64 / 1000.0);
                profile["priority_flow_control"]["watchdog"] = json!({
                    "enabled": true,
                    "action": if watchdog.action == WatchdogAction::Alert { "notify-only" } else { "drop" },
                    "timer": {
                        "timeout": seconds(times.detection.millis_ceil()),
                        "polling_interval": "auto",
                        "recovery_time": seconds(times.restoration.millis_ceil()),
                    },
                });
            }
        }
        let word = if intent.platform.has_virtual_queues() { "tx_queues" } else { "uc_tx_queues" };
        profile[word] = queues(intent, marks);
        found.entry(profile_name(kind)).or_insert(profile);
    }
    found.into_values().collect()
}

fn queues(intent: &DeviceIntent<'_>, marks: &BTreeMap<Queue, EcnThresholds>) -> Value {
    let queue = |(queue, classes): (Queue, Vec<&Class>)| {
        let class = classes[0];
        let mut value = Map::new();
        value.insert("id".into(), queue.get().into());
        match class.scheduler {
            Scheduler::Strict => {
                value.insert("priority".into(), "priority strict".into());
            }
            // The weights of these profiles add up to 100.
            Scheduler::Dwrr(weight) => {
                value.insert("priority".into(), "no priority".into());
                let sure = class.pfc && intent.qos.watchdog().is_some();
                let field = if sure { "bandwidth_guaranteed_percent" } else { "bandwidth_percent" };
                value.insert(field.into(), weight.get().into());
            }
        }
        if let Some(marks) = marks.get(&queue) {
            let threshold = json!({
                "units": "bytes",
                "min": marks.min().0,
                "max": marks.max().0,
                "max_probability": marks.probability().get(),
                "weight": 0,
            });
            value.insert("random_detect".into(), json!({ "ecn": { "count": true, "threshold": threshold } }));
        }
        Value::Object(value)
    };
    intent.qos.queues().into_iter().map(queue).collect()
}

fn memory(intent: &DeviceIntent<'_>, qos: &SwitchQos) -> Value {
    let buffers = qos.buffers.as_ref().expect("the platform has a buffer");
    let ratio = |exponent: i8| match exponent {
        ..=-7 => "1/128".to_owned(),
        -6..=-1 => format!("1/{}", 2_u32.pow(exponent.unsigned_abs().into())),
        0..=3 => 2_u32.pow(exponent.unsigned_abs().into()).to_string(),
        4.. => "8".to_owned(),
    };
    let groups = intent.qos.priority_groups().into_iter().map(|(group, classes)| {
        json!({ "id": group.get(), "threshold": ratio(classes[0].ingress_threshold.get()) })
    });
    let queues = intent.qos.queues().into_iter().map(|(queue, classes)| {
        json!({ "id": queue.get(), "threshold": ratio(classes[0].egress_threshold.get()) })
    });
    let mut ingress = json!({ "priority_groups": groups.collect::<Vec<_>>() });
    let xoff = (0..qos.kinds.len()).filter_map(|kind| Some(buffers.headroom(kind)?.xoff.0)).max();
    let mut mmu = json!({ "active_profile": "FABRIC" });
    if let Some(xoff) = xoff {
        ingress["headroom"] = json!({ "memory": xoff, "unit": "bytes" });
        let pool = buffers.pools.headroom.0.next_multiple_of(buffers.memory.cell.0);
        mmu["headroom_pool"] = json!({ "limit": pool, "unit": "bytes" });
    }
    mmu["queue_profiles"] =
        json!([{ "name": "FABRIC", "ingress": ingress, "unicast_queues": queues.collect::<Vec<_>>() }]);
    json!({ "trident": { "mmu": mmu } })
}

/// Settings without a key in pyavd: timers of a BGP session, as found in published running configurations.
const UNKNOWN: [&str; 2] = [" out-delay ", " idle-restart-timer "];

/// The configuration lines with their indentation, without settings that pyavd lacks.
fn lines(text: &str) -> Vec<&str> {
    let configures = |line: &&str| {
        let is_known = UNKNOWN.iter().all(|unknown| !line.contains(unknown));
        !line.trim_start().starts_with('!') && !line.is_empty() && *line != "end" && is_known
    };
    text.lines().map(str::trim_end).filter(configures).collect()
}

/// The Python interpreter with pyavd; prints a line if there is none.
fn python() -> Option<String> {
    let python = env::var("CLOSC_PYAVD").unwrap_or_else(|_| "python3".to_owned());
    let mut import = Command::new(&python);
    import.args(["-c", "import pyavd"]).stdout(Stdio::null()).stderr(Stdio::null());
    if import.status().is_ok_and(|status| status.success()) {
        return Some(python);
    }
    closc_skip::skip(format_args!(
        "{python} cannot import pyavd (pip install pyavd; CLOSC_PYAVD names another Python)"
    ));
    None
}

/// IPv4 pools.
const IPV4: &str = "hosts: 10.128.0.0/9, ";

#[test]
fn pyavd_renders_the_same_lines() {
    let Some(python) = python() else { return };
    let fabrics = [
        ("th5-64x800g", "{ speed: 800G, lanes: 8 }", "lossless", "ecmp-static", ""),
        ("th5-512x100g", "{ speed: 100G, lanes: 1 }", "none", "ecmp-static", IPV4),
        ("q3d-7280r4-64x400g", "{ speed: 400G, lanes: 4 }", "lossless", "ecmp-static", ""),
        ("arista-7808r3-288x400g", "{ speed: 400G, lanes: 8 }", "lossless", "ecmp-static", ""),
        ("th5-64x800g", "{ speed: 800G, lanes: 8 }", "lossless", "bgp-unnumbered", ""),
        ("arista-7808r3-288x400g", "{ speed: 400G, lanes: 8 }", "none", "bgp-unnumbered", ""),
        ("q3d-7280r4-64x400g", "{ speed: 400G, lanes: 4 }", "none", "bgp-unnumbered", IPV4),
        ("th5-128x400g", "{ speed: 400G, lanes: 4 }", "lossless", "ecmp-static", ""),
        ("th5-128x400g", "{ speed: 400G, lanes: 4 }", "none", "bgp-unnumbered", IPV4),
    ];
    let mut intents = Map::new();
    let mut own: BTreeMap<String, String> = BTreeMap::new();
    for (platform, nic, qos, routing, hosts) in fabrics {
        let plan = fabric(platform, nic, qos, routing, hosts);
        for switch in plan.switches() {
            let intent = plan.device(switch);
            intents.insert(format!("{platform}/{routing}/{}", intent.name), structured_config(&intent));
        }
        for artefact in switches(&plan) {
            let name = artefact.path.iter().nth(1).expect("below `switches/`");
            own.insert(
                format!("{platform}/{routing}/{name}"),
                String::from_utf8(artefact.bytes).expect("text"),
            );
        }
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/eos_pyavd.py");
    let mut child = Command::new(python)
        .arg(script)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("python runs");
    let input = serde_json::to_vec(&intents).expect("JSON");
    child.stdin.take().expect("piped").write_all(&input).expect("it reads all before it writes");
    let output = child.wait_with_output().expect("it ends");
    assert!(output.status.success(), "pyavd rejects its input");
    let theirs: BTreeMap<String, String> = serde_json::from_slice(&output.stdout).expect("JSON");
    assert!(theirs.len() >= 30 && theirs.keys().eq(own.keys()), "{:?}", theirs.keys());
    let mut count = 0;
    for (name, text) in &own {
        let (ours, theirs) = (lines(text), lines(&theirs[name]));
        if let Some(at) = (0..ours.len().max(theirs.len())).find(|at| ours.get(*at) != theirs.get(*at)) {
            panic!("{name}: line {at} is {:?}, and pyavd renders {:?}", ours.get(at), theirs.get(at));
        }
        count += ours.len();
    }
    println!("{count} lines of {} switches are the same", own.len());
}
