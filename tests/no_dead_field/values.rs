//! Values for leaves of the language for which the schema lists none, and functions that write a leaf into a
//! document.
//!
//! In: the path of a leaf. Out: values, each with other settings that the file needs. Invariants: this module
//! does not determine which leaves are tried.

use closc_platform::{Breakout, Catalogue};
use serde_json::{Map, Value, json};

/// A value to try.
#[derive(Debug, Clone)]
pub(crate) struct Try {
    /// Other settings of the file, before and after the change.
    pub(crate) setup: Value,
    /// Other required changes. If they have an effect by themselves, the leaf must add another one.
    pub(crate) with: Value,
    /// The value.
    pub(crate) value: Value,
}

/// Makes tries of values without other settings.
pub(crate) fn plain(values: impl IntoIterator<Item = Value>) -> Vec<Try> {
    tries(&Value::Null, values)
}

fn tries(setup: &Value, values: impl IntoIterator<Item = Value>) -> Vec<Try> {
    let of = |value| Try { setup: setup.clone(), with: Value::Null, value };
    values.into_iter().map(of).collect()
}

fn pairs(pairs: impl IntoIterator<Item = (Value, Value)>) -> Vec<Try> {
    pairs.into_iter().map(|(with, value)| Try { setup: Value::Null, with, value }).collect()
}

/// Values to try for a leaf if the schema lists no suitable ones; otherwise `None`.
pub(crate) fn values(leaf: &str, base: &Value) -> Option<Vec<Try>> {
    let parts: Vec<&str> = leaf.split('.').collect();
    match parts[..] {
        ["qos", ..] => qos(leaf),
        ["tiers", tier, ..] => tiers(leaf, tier, base),
        ["hosts", ..] => hosts(leaf, base),
        ["srv6", ..] => srv6(leaf),
        // `hash` is the default.
        ["ecmp", "balance" | "balance_by_tier", ..] => {
            Some(plain(["flowlet", "adaptive", "spray"].map(|word| json!(word))))
        }
        ["domains", ..] => domains(leaf, base),
        ["addresses", "widths", width] => ipv4_widths(width).or_else(|| special_tries(leaf, base)),
        _ => special_tries(leaf, base),
    }
}

/// Returns whether a document has a third tier. Names of T0s and T1s then begin with the zone.
fn is_zoned(document: &Value) -> bool {
    document["tiers"]["t2"].is_object()
}

/// A switch that exists in a document.
fn switch(document: &Value, name: &str) -> Value {
    json!(if is_zoned(document) { format!("z0-{name}") } else { name.to_owned() })
}

/// A cable between a T0 and a T1 of the first zone.
fn cable(document: &Value) -> Value {
    let zone = if is_zoned(document) { "z0-" } else { "" };
    json!(format!("{zone}p0-t0-001--{zone}p0-t1-002"))
}

/// Other ways to split the ports of a tier, including one that no platform supports.
fn other_breakouts(base: &Value, tier: &str) -> Vec<Breakout> {
    let catalogue = Catalogue::builtin();
    let platform = base["tiers"][tier]["platform"].as_str().and_then(|name| catalogue.get(name));
    let panel = platform.map(|platform| &platform.panel);
    let known = panel.into_iter().flat_map(|panel| {
        panel.breakouts.iter().copied().filter(|breakout| *breakout != panel.default_breakout)
    });
    known.chain("3x200G".parse()).collect()
}

/// Other speeds of a port towards a NIC: the split of cages, the speed of the NIC, and its lanes if they must
/// change.
fn nic_speeds(base: &Value) -> Vec<(Breakout, String, Option<u16>)> {
    let (planes, catalogue) = (base["planes"].as_u64().unwrap_or(1), Catalogue::builtin());
    let platform = base["tiers"]["t0"]["platform"].as_str().and_then(|name| catalogue.get(name));
    let lanes = platform.map_or(1, |platform| u16::from(platform.panel.lanes));
    let of = |breakout: Breakout| {
        let mbps = u64::from(breakout.speed.mbps()) * planes;
        let speed = if mbps % 1000 == 0 { format!("{}G", mbps / 1000) } else { format!("{mbps}M") };
        let each = lanes / u16::from(breakout.ports).max(1);
        [None, Some(each * 2)].map(|lanes| (breakout, speed.clone(), lanes))
    };
    let is_now = |speed: &str| json!(speed) == base["hosts"]["nic"]["speed"];
    other_breakouts(base, "t0").into_iter().flat_map(of).filter(|(_, speed, _)| !is_now(speed)).collect()
}

fn domains(leaf: &str, base: &Value) -> Option<Vec<Try>> {
    let racks = |more: Value| {
        let mut racks = json!({ "by": ["plane", "index"] });
        lay(&mut racks, &more);
        json!({ "domains": { "racks": racks } })
    };
    let outside = json!({ "domains": { "racks": { "members": [switch(base, "p0-t1-001")] } } });
    Some(match leaf {
        "domains.*.by.[]" => tries(&racks(json!({})), [json!("tier")]),
        "domains.*.count" => tries(&racks(json!({})), [json!(1)]),
        "domains.*.members.[]" => tries(&outside, [switch(base, "p0-t0-001")]),
        "domains.*.run" => tries(&racks(json!({})), [json!(2)]),
        "domains.*.tiers.[]" => tries(&racks(json!({})), [json!("t1"), json!("t2")]),
        _ => return None,
    })
}

/// Widths of coordinates in IPv4 addresses.
fn ipv4_widths(leaf: &str) -> Option<Vec<Try>> {
    let pools = json!({ "addresses": {
        "hosts": "10.0.0.0/8", "links": "100.64.0.0/10", "loopbacks": "192.168.0.0/16",
    } });
    Some(match leaf {
        "plane" => tries(&pools, [json!(4)]),
        "t0_downlink" | "t0_uplink" | "t1_uplink" => tries(&pools, [json!(12)]),
        _ => return None,
    })
}

fn special_tries(leaf: &str, base: &Value) -> Option<Vec<Try>> {
    let few = json!({ "entropy": { "active": 2 } });
    let management = json!({ "addresses": { "management": "10.128.0.0/14" } });
    let down = |breakout: &str| json!({ "tiers": { "t0": { "down": { "breakout": breakout } } } });
    Some(match leaf {
        "addresses.asn_base" => plain([json!(4_210_000_000_u32)]),
        "addresses.hosts" => plain([json!("2001:db8:7000::/36")]),
        "addresses.links" => plain([json!("2001:db8:8000::/36")]),
        "addresses.loopbacks" => plain([json!("2001:db8:9000::/48")]),
        "addresses.management" => plain([json!("10.128.0.0/14")]),
        "addresses.management_gateway" => tries(&management, [json!("10.131.255.254")]),
        "addresses.management_list" => {
            let list = if is_zoned(base) { "management.csv" } else { "management-two-tiers.csv" };
            tries(&management, [json!(list)])
        }
        // A fabric of one zone has this width only in IPv4 management addresses.
        "addresses.widths.zone" => tries(
            &json!({ "addresses": { "management": "10.128.0.0/12", "widths": { "index": 8 } } }),
            [json!(5)],
        ),
        "addresses.widths.index" => {
            tries(&json!({ "addresses": { "management": "10.128.0.0/12" } }), [json!(9)])
        }
        "cables.by_zone.*.length"
        | "exceptions.cables.*.length"
        | "cables.nic-t0.length"
        | "cables.t0-t1.length"
        | "cables.t1-t2.length" => plain([json!("2m")]),
        "cables.by_zone.*.medium"
        | "exceptions.cables.*.medium"
        | "cables.nic-t0.medium"
        | "cables.t0-t1.medium"
        | "cables.t1-t2.medium" => plain([json!("aoc"), json!("dr4")]),
        "ecmp.pin" => plain([json!("downlink")]),
        "ecmp.pins" => plain([json!(if is_zoned(base) { "pins.csv" } else { "pins-two-tiers.csv" })]),
        "entropy.backup" => tries(&few, [json!(2), json!(4), json!(0)]),
        "entropy.seed" => plain([json!(7)]),
        "entropy.udp_port" => plain([json!(4_800)]),
        "exceptions.absent.[]" | "exceptions.drained.[]" => plain([switch(base, "p0-t1-002")]),
        "exceptions.isolated.[]" => plain([cable(base)]),
        "exceptions.devices.*.platform" => platforms(),
        "fabric" => plain([json!("other")]),
        "mtu.link" => plain([json!(9_000), json!(4_200)]),
        "mtu.payload" => plain([json!(4_000)]),
        "naming.node" => plain(["z{zone}-u{unit}-n{node}", "u{unit}-n{node}"].map(|name| json!(name))),
        "naming.t0" => {
            plain(["z{zone}-p{plane}-leaf-{index}", "p{plane}-leaf-{index}"].map(|name| json!(name)))
        }
        "naming.t1" => {
            plain(["z{zone}-p{plane}-spine-{index}", "p{plane}-spine-{index}"].map(|name| json!(name)))
        }
        "naming.t2" => plain([json!("p{plane}-core-{index}")]),
        "zones" => plain([json!(3)]),
        "planes" => pairs([(down("2x400G"), json!(4)), (down("1x200G"), json!(1))]),
        "services.ntp.[]" | "services.syslog.[]" => plain([json!("192.0.2.77")]),
        "services.snmp.contact" | "services.snmp.location" => plain([json!("somewhere")]),
        _ => return None,
    })
}

fn platforms() -> Vec<Try> {
    let names = ["th5-512x100g", "th5-128x400g", "sonic-vs", "linux", "bmv2"];
    plain(names.map(|name| json!(name)))
}

/// With switches that reorder packets, and without.
fn packet_order() -> Vec<Try> {
    let split = json!({ "breakout": "2x400G" });
    let reorders = json!({
        "ecmp": { "balance": "adaptive" },
        "hosts": { "nic": { "speed": "800G", "lanes": 8 } },
        "tiers": {
            "t0": { "down": split, "up": { "count": 4, "breakout": "2x400G" } },
            "t1": { "down": split },
        },
    });
    tries(&reorders, [json!("any")]).into_iter().chain(plain([json!("any")])).collect()
}

fn hosts(leaf: &str, base: &Value) -> Option<Vec<Try>> {
    let slots = json!({ "hosts": { "slots": [
        { "pci": "0000:18:00.0", "gpu": "0000:1b:00.0", "numa": 0, "power": "a" },
        { "pci": "0000:3c:00.0", "gpu": "0000:43:00.0", "numa": 0, "power": "a" },
    ] } });
    let room = json!({ "tiers": { "t0": { "down": { "count": 4 } } } });
    Some(match leaf {
        "hosts.packet_order" => packet_order(),
        "hosts.per_group" => tries(&room, [json!(4)]),
        "hosts.nic.speed" => {
            let of = |(breakout, speed, lanes): (Breakout, String, Option<u16>)| {
                let down = json!({ "breakout": breakout.to_string() });
                let mut with = json!({ "tiers": { "t0": { "down": down } } });
                lay(
                    &mut with,
                    &lanes.map_or(Value::Null, |lanes| json!({ "hosts": { "nic": { "lanes": lanes } } })),
                );
                (with, json!(speed))
            };
            pairs(nic_speeds(base).into_iter().map(of))
        }
        "hosts.per_group_by_zone.*" => {
            let room = json!({ "hosts": { "per_group": 4 }, "tiers": { "t0": { "down": { "count": 4 } } } });
            tries(&room, [json!(2)])
        }
        "hosts.nic_by_zone.*.lanes" => {
            let (speed, lanes) = (&base["hosts"]["nic"]["speed"], base["hosts"]["nic"]["lanes"].as_u64());
            let same = json!({ "hosts": { "nic_by_zone": { "1": { "speed": speed } } } });
            tries(&same, [json!(lanes.unwrap_or(1) * 2), json!(lanes.unwrap_or(1) * 4)])
        }
        "hosts.nic_by_zone.*.speed" => {
            let of = |(breakout, speed, lanes): (Breakout, String, Option<u16>)| {
                let down = json!({ "breakout": breakout.to_string() });
                let mut with = json!({ "tiers": { "t0": { "by_zone": { "1": { "down": down } } } } });
                let lanes =
                    lanes.map(|lanes| json!({ "hosts": { "nic_by_zone": { "1": { "lanes": lanes } } } }));
                lay(&mut with, &lanes.unwrap_or(Value::Null));
                (with, json!(speed))
            };
            pairs(nic_speeds(base).into_iter().map(of))
        }
        "hosts.zones_per_node" => {
            let railed = json!({ "hosts": { "nics_per_node": 2, "rails": 2 } });
            tries(&railed, [json!(2)])
        }
        "hosts.slots.[].gpu" => tries(&slots, [json!("0000:2b:00.0")]),
        "hosts.slots.[].pci" => tries(&slots, [json!("0000:19:00.0")]),
        "hosts.slots.[].numa" => tries(&slots, [json!(1)]),
        "hosts.slots.[].power" => tries(&slots, [json!("b")]),
        _ => return None,
    })
}

fn srv6(leaf: &str) -> Option<Vec<Try>> {
    let widths = |field: &str, width: u8| json!({ "srv6": { "widths": { field: width } } });
    let roles = |field: &str, code: u8| json!({ "srv6": { "roles": { field: code } } });
    Some(match leaf {
        "srv6.block" => plain([json!("fcbb:cccc::/32")]),
        "srv6.plan" => plain([json!("plane-in-block")]),
        "srv6.widths.index" => pairs([(widths("zone", 4), json!(7))]),
        "srv6.widths.zone" | "srv6.widths.plane" => pairs([(widths("index", 7), json!(4))]),
        "srv6.widths.role" => pairs([(widths("index", 7), json!(3))]),
        "srv6.roles.t0" => pairs([(roles("t2", 0), json!(3))]),
        "srv6.roles.t1" => pairs([(roles("t2", 1), json!(3))]),
        "srv6.roles.nic" => pairs([(roles("t2", 2), json!(3))]),
        "srv6.roles.t2" => pairs([(roles("t0", 3), json!(0))]),
        _ => return None,
    })
}

fn tiers(leaf: &str, tier: &str, base: &Value) -> Option<Vec<Try>> {
    let no_qos = json!({ "qos": "none" });
    if leaf.ends_with(".platform") && leaf.contains("by_plane") {
        return Some(platforms());
    }
    if let Some((_, field)) = leaf.split_once(".by_zone.*.") {
        return zone(tier, field, base).or_else(|| places(leaf, tier));
    }
    let breakouts = |far: &str, side: &str| {
        let of = |breakout: Breakout| {
            let breakout = json!(breakout.to_string());
            (json!({ "tiers": { far: { side: { "breakout": breakout } } } }), breakout)
        };
        pairs(other_breakouts(base, tier).into_iter().map(of))
    };
    let wide = json!({ "hosts": { "per_group": 4 }, "tiers": { "t0": { "down": { "count": 4 } } } });
    let narrow = json!({ "tiers": { "t1": { "up": { "count": 1 } } } });
    let rows = json!({ "tiers": { "t2": { "wiring": "rows", "rows": 2 } } });
    let four_rows = json!({ "tiers": { "t2": { "rows": 4 } } });
    let room = json!({ "tiers": { "t2": { "ports_per_zone": 16 } } });
    Some(match leaf {
        "tiers.t0.platform" | "tiers.t1.platform" | "tiers.t2.platform" => {
            let os = |os: &str| json!({ "tiers": { tier: { "os": os } } });
            let mut found = plain([json!("th5-64x800g")]);
            found.extend(tries(&no_qos, [json!("th5-512x100g")]));
            found.extend(pairs([(os("p4"), json!("bmv2")), (os("linux"), json!("linux"))]));
            found
        }
        "tiers.t0.os" | "tiers.t1.os" | "tiers.t2.os" => {
            tries(&no_qos, ["frr", "linux", "sonic", "p4"].map(|os| json!(os)))
        }
        "tiers.t0.oversubscription" => tries(&wide, [json!("2:1")]),
        "tiers.t1.oversubscription" => tries(&narrow, [json!("2:1")]),
        "tiers.t1.parallel" => tries(&room, [json!(2)]),
        _ if leaf.starts_with("tiers.t0.port_order.") => return port_order(leaf),
        "tiers.t2.rows" => tries(&rows, [json!(8)]),
        "tiers.t2.wiring" => pairs([(four_rows, json!("rows"))]),
        "tiers.t0.down.breakout" => {
            let of = |(breakout, speed, lanes): (Breakout, String, Option<u16>)| {
                let mut nic = json!({ "speed": speed });
                lay(&mut nic, &lanes.map_or(Value::Null, |lanes| json!({ "lanes": lanes })));
                (json!({ "hosts": { "nic": nic } }), json!(breakout.to_string()))
            };
            pairs(nic_speeds(base).into_iter().map(of))
        }
        "tiers.t0.up.breakout" => breakouts("t1", "down"),
        "tiers.t1.down.breakout" => breakouts("t0", "up"),
        "tiers.t1.up.breakout" => breakouts("t2", "down"),
        "tiers.t2.down.breakout" => breakouts("t1", "up"),
        // 3 and 4 differ from the default, which is the number of NICs of a group.
        "tiers.t0.down" | "tiers.t0.down.count" => plain([json!(3), json!(4)]),
        _ if leaf.rsplit('.').next() == Some("spare") => plain([json!(2), json!(3)]),
        _ => return places(leaf, tier),
    })
}

/// Values for the counts in `port_order`.
fn port_order(leaf: &str) -> Option<Vec<Try>> {
    let ordered = json!({ "tiers": {
        "t0": { "up": { "spare": 2 }, "port_order": [{ "groups": 2, "up": 4, "parallel": 2 }] },
        "t1": { "down": { "spare": 2 } },
    } });
    let count = match leaf.rsplit('.').next()? {
        "groups" | "parallel" => 1,
        "up" => 2,
        _ => return None,
    };
    Some(tries(&ordered, [json!(count)]))
}

/// Options for the positions of the ports of a tier.
fn places(leaf: &str, tier: &str) -> Option<Vec<Try>> {
    let field = leaf.trim_end_matches(".[]").rsplit('.').next()?;
    let split = json!({ "breakout": "2x400G" });
    let side = if leaf.contains(".up.") { "up" } else { "down" };
    // `first_port` needs cages with several ports at both ends of a cable.
    let ends = match (tier, side) {
        ("t0", "down") => json!({ "hosts": { "nic": { "speed": "800G", "lanes": 8 } },
                                  "tiers": { "t0": { "down": split } } }),
        ("t0", _) | ("t1", "down") => {
            json!({ "tiers": { "t0": { "up": split }, "t1": { "down": split } } })
        }
        _ => json!({ "tiers": { "t1": { "up": split }, "t2": { "down": split } } }),
    };
    let named = json!({ "platform": "spectrum4-sn5600-256x100g" });
    let panel = json!({ "hosts": { "nic": { "speed": "200G", "lanes": 2 } },
                        "tiers": { "t0": named, "t1": named, "t2": named } });
    Some(match field {
        "first_cage" => plain([json!(20)]),
        "cages" => plain([json!("20-31")]),
        "first_port" => tries(&ends, [json!(1)]),
        "layout" => tries(&panel, [json!("d128u128s1"), json!("d254u2s1")]),
        _ => return None,
    })
}

/// Values for settings of a tier in one zone (`by_zone`).
fn zone(tier: &str, field: &str, base: &Value) -> Option<Vec<Try>> {
    let own = |tier: &str, side: &str, breakout: Breakout| json!({ "tiers": { tier: { "by_zone": { "1": { side: { "breakout": breakout.to_string() } } } } } });
    let with_far = |far: &'static str, side: &'static str| {
        let of = |breakout| (own(far, side, breakout), json!(breakout.to_string()));
        pairs(other_breakouts(base, tier).into_iter().map(of))
    };
    let narrow = json!({ "hosts": { "per_group": 4, "per_group_by_zone": { "1": 2 } },
                         "tiers": { "t0": { "down": { "count": 4 }, "up": { "count": 1 }, "oversubscription": "4:1" } } });
    let tapered = json!({ "tiers": { "t1": { "up": { "count": 1 }, "oversubscription": "2:1",
                                             "by_zone": { "1": { "oversubscription": "2:1" } } } } });
    Some(match (tier, field) {
        (_, "platform") => platforms(),
        (_, "os") => tries(&json!({ "qos": "none" }), ["frr", "linux", "sonic", "p4"].map(|os| json!(os))),
        ("t0", "oversubscription") => tries(&narrow, [json!("2:1"), json!("3:1")]),
        (_, "oversubscription") => tries(&tapered, [json!("3:1")]),
        ("t0", "down.breakout") => {
            let of = |(breakout, speed, lanes): (Breakout, String, Option<u16>)| {
                let mut nic = json!({ "speed": speed });
                lay(&mut nic, &lanes.map_or(Value::Null, |lanes| json!({ "lanes": lanes })));
                (json!({ "hosts": { "nic_by_zone": { "1": nic } } }), json!(breakout.to_string()))
            };
            pairs(nic_speeds(base).into_iter().map(of))
        }
        ("t0", "up.breakout") => with_far("t1", "down"),
        ("t1", "down.breakout") => with_far("t0", "up"),
        ("t1", "up.breakout") => plain(other_breakouts(base, tier).into_iter().map(|b| json!(b.to_string()))),
        _ => return None,
    })
}

fn lossless(more: &Value) -> Value {
    let mut setup = json!({ "qos": { "base": "lossless" } });
    lay(&mut setup["qos"], more);
    setup
}

fn qos(leaf: &str) -> Option<Vec<Try>> {
    if let Some(part) = leaf.strip_prefix("qos.trimming") {
        return trimming_tries(part);
    }
    if let Some(field) = leaf.strip_prefix("qos.classes.*.ecn.") {
        return marking(field);
    }
    if let Some(field) = leaf.strip_prefix("qos.classes.*.") {
        return class(field);
    }
    let with = |more: Value, value: Value| tries(&lossless(&more), [value]);
    let shares = json!({ "buffer_shares": { "lossless": 60, "headroom": 30, "lossy": 10 } });
    let traffic = json!({ "lossless_traffic": { "mtu": "1024B", "small_packets": 50 } });
    let ratio = json!({ "shared_headroom": { "over_subscribe_ratio": 2 } });
    Some(match leaf {
        "qos" | "qos.base" => plain([json!("lossless"), json!("sonic-azure")]),
        "qos.buffer_shares" => with(shares, json!("off")),
        "qos.buffer_shares.headroom" => with(shares, json!(1)),
        "qos.buffer_shares.lossless" | "qos.buffer_shares.lossy" => with(shares, json!(5)),
        "qos.default" => with(Value::Null, json!("cnp")),
        "qos.ecn_last_hop" => with(Value::Null, json!(false)),
        "qos.lossless_traffic.mtu" => {
            let sizes = ["4096B", "1500B", "2048B", "9000B"];
            tries(&lossless(&traffic), sizes.map(|size| json!(size)))
        }
        "qos.lossless_traffic.small_packets" => with(traffic, json!(90)),
        "qos.name" => with(Value::Null, json!("mine")),
        "qos.shared_headroom" => with(ratio, json!("off")),
        "qos.shared_headroom.over_subscribe_ratio" => with(ratio, json!(3)),
        "qos.watchdog" => with(Value::Null, json!("off")),
        "qos.watchdog.action" => with(Value::Null, json!("alert")),
        "qos.watchdog.detection" | "qos.watchdog.restoration" => with(Value::Null, json!("1300ms")),
        "qos.watchdog.poll" => with(Value::Null, json!("150ms")),
        "qos.without.[]" => with(Value::Null, json!("cts")),
        _ => return None,
    })
}

fn class(field: &str) -> Option<Vec<Try>> {
    let with = |value: Value| tries(&lossless(&Value::Null), [value]);
    Some(match field {
        "dscp.[]" => with(json!(27)),
        "ecn" => with(json!("off")),
        "pfc" => tries(&lossless(&json!({ "watchdog": "off" })), [json!(false)]),
        "priority" | "priority_group" | "tc" | "queue" => with(json!(4)),
        "role" => tries(&lossless(&Value::Null), ["acknowledge", "other"].map(|role| json!(role))),
        "scheduler" => with(json!("strict")),
        "scheduler.dwrr" => with(json!(40)),
        "trim" => tries(&json!({ "qos": { "base": "lossy-trim" } }), [json!(false)]),
        "egress_threshold" | "ingress_threshold" => with(json!(-2)),
        _ => return None,
    })
}

fn marking(field: &str) -> Option<Vec<Try>> {
    let ecn = |ecn: Value| lossless(&json!({ "classes": { "data": { "ecn": ecn } } }));
    let computed = ecn(json!({ "computed": {} }));
    let fill = ecn(json!({ "fill": { "min": 20, "max": 40, "probability": 50 } }));
    let sizes = ecn(json!({ "thresholds": { "min": "20KB", "max": "40KB", "probability": 50 } }));
    Some(match field {
        "computed.max_over_min" => tries(&computed, [json!(3)]),
        "computed.min" => tries(&computed, [json!(30)]),
        "computed.probability" => tries(&computed, [json!(11)]),
        "fill.max" => tries(&fill, [json!(60)]),
        "fill.min" => tries(&fill, [json!(10)]),
        "fill.probability" => tries(&fill, [json!(11)]),
        "thresholds.max" => tries(&sizes, [json!("60KB")]),
        "thresholds.min" => tries(&sizes, [json!("10KB")]),
        "thresholds.probability" => tries(&sizes, [json!(11)]),
        "preset" => tries(&lossless(&Value::Null), [json!("sonic-rdma"), json!("hpcc-dcqcn")]),
        _ => return None,
    })
}

fn trimming_tries(part: &str) -> Option<Vec<Try>> {
    let settings = json!({ "class": "trimmed", "fabric_dscp": 12, "last_hop_dscp": 16 });
    let setup = |dscp: Value| json!({ "qos": { "base": "lossy-trim", "trimming": settings, "classes": { "trimmed": { "dscp": dscp } } } });
    let (both, third) = (setup(json!([12, 16])), setup(json!([12, 16, 18])));
    let moved =
        json!({ "qos": { "classes": { "trimmed": { "dscp": [13] }, "control": { "dscp": [46, 12, 16] } } } });
    let untrimmed = json!({ "data": { "trim": false }, "retransmit": { "trim": false } });
    Some(match part {
        "" => pairs([(json!({ "qos": { "classes": untrimmed } }), json!("off"))]),
        ".class" => vec![Try { setup: both, with: moved, value: json!("control") }],
        ".fabric_dscp" | ".last_hop_dscp" => tries(&third, [json!(18)]),
        ".size" => tries(&both, [json!("300B")]),
        ".tc" => tries(&both, [json!(9)]),
        _ => return None,
    })
}

/// The key or index of a map or list that the path enters. It exists in the base, or is created.
fn step(leaf: &str, at: usize, is_zoned: bool) -> &'static str {
    let parts: Vec<&str> = leaf.split('.').collect();
    match (parts[at], parts.get(at.wrapping_sub(1)).copied()) {
        ("[]", _) => "0",
        (_, Some("by_plane" | "by_zone" | "groups_by_zone" | "per_group_by_zone" | "nic_by_zone")) => "1",
        (_, Some("classes")) => {
            if leaf.ends_with("trim") {
                "retransmit"
            } else if leaf.ends_with("role") || leaf.ends_with("priority") {
                // A class without PFC: effects of PFC would hide that the leaf has no other effect.
                "cnp"
            } else {
                "data"
            }
        }
        (_, Some("cables")) if is_zoned => "z0-p0-t0-001--z0-p0-t1-001",
        (_, Some("cables")) => "p0-t0-001--p0-t1-001",
        (_, Some("devices")) if is_zoned => "z0-p0-t0-001",
        (_, Some("devices")) => "p0-t0-001",
        (_, _) => "racks",
    }
}

/// Merges a document into another one.
pub(crate) fn lay(base: &mut Value, over: &Value) {
    match (base, over) {
        (_, Value::Null) => {}
        (Value::Object(base), Value::Object(over)) => {
            for (key, value) in over {
                lay(base.entry(key.clone()).or_insert(Value::Null), value);
            }
        }
        (base, over) => *base = over.clone(),
    }
}

/// Writes a value at a leaf, and replaces values that are in the way.
pub(crate) fn set(document: &mut Value, leaf: &str, value: Value) {
    let parts: Vec<&str> = leaf.split('.').collect();
    let is_zoned = is_zoned(document);
    let mut place = document;
    for (at, part) in parts.iter().enumerate() {
        place = match *part {
            "[]" => {
                if !place.is_array() {
                    *place = json!([]);
                }
                let list = place.as_array_mut().expect("it was made a list");
                if list.is_empty() {
                    list.push(Value::Null);
                }
                &mut list[0]
            }
            part => {
                let key = if part == "*" { step(leaf, at, is_zoned) } else { part };
                if !place.is_object() {
                    *place = Value::Object(Map::new());
                }
                place.as_object_mut().expect("it was made a mapping").entry(key).or_insert(Value::Null)
            }
        };
    }
    *place = value;
}
