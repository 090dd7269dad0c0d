//! Buffers, watchdog and trimming on different platforms: settings that SONiC's code accepts and does not revert.

use closc_tests::shape::plan;
use serde_json::{Value, json};

use crate::common::switches;

/// A small fabric of one platform at its own speed, with every cable length stated.
fn fabric(platform: &str, speed: &str, qos: &str, rest: &str) -> String {
    format!(
        "fabric: small\nplanes: 1\nrouting: ecmp-static\nhosts: {{ groups: 2, per_group: 8, nic: {{ speed: {speed} }} }}\n\
         tiers:\n  t0: {{ platform: {platform}, os: sonic, up: 4 }}\n  t1: {{ platform: {platform}, os: sonic }}\n\
         cables: {{ nic-t0: {{ length: 5m, medium: aec }}, t0-t1: {{ length: 5m, medium: aec }} }}\nqos: {qos}\n{rest}"
    )
}

fn config(yaml: &str, switch: &str) -> Value {
    let path = format!("switches/{switch}/config_db.json");
    let found = switches(&plan(yaml)).into_iter().find(|artefact| artefact.path == path);
    serde_json::from_slice(&found.expect("the switch is there").bytes).expect("it is JSON")
}

fn rows<'c>(config: &'c Value, table: &str) -> impl Iterator<Item = (&'c str, &'c Value)> {
    config[table].as_object().into_iter().flatten().map(|(key, fields)| (key.as_str(), fields))
}

/// buffermgrd removes the group of a port that is shut down if the profile has buffermgrd's own name. It restores the
/// group only for cable lengths in its table, and does not touch profiles with other names. If its table has the
/// length, it writes a profile with its own name, which must have the same values.
#[test]
fn headroom_on_nvidia_outlives_a_shut_port() {
    let config = config(&fabric("spectrum4-sn5600", "800G", "lossless", ""), "p0-t0-001");
    let mut lossless = 0;
    for (key, group) in rows(&config, "BUFFER_PG") {
        let name = group["profile"].as_str().unwrap();
        assert!(!name.starts_with("pg_lossless_"), "{key}: {name} is buffermgrd's own");
        if let Some(rest) = name.strip_prefix("ingress_lossless_8") {
            lossless += 1;
            let twin = &config["BUFFER_PROFILE"][format!("pg_lossless_8{rest}")];
            assert_eq!(&config["BUFFER_PROFILE"][name], twin, "{key}");
            assert!(twin["xoff"].is_string());
        }
    }
    assert_eq!(lossless, 12);
}

/// Without a list, a port of NVIDIA's ASICs has a quota of 0 in the pool.
#[test]
fn ports_on_nvidia_have_a_quota_of_every_pool() {
    for qos in ["lossless", "lossy-trim"] {
        let config = config(&fabric("spectrum4-sn5600", "800G", qos, ""), "p0-t0-001");
        for (table, kind) in
            [("BUFFER_PORT_INGRESS_PROFILE_LIST", "ingress"), ("BUFFER_PORT_EGRESS_PROFILE_LIST", "egress")]
        {
            assert_eq!(rows(&config, table).count(), 12, "{qos}: {table}");
            for (port, row) in rows(&config, table) {
                let names = row["profile_list"].as_str().unwrap().split(',');
                let mut pools: Vec<&str> =
                    names.map(|name| config["BUFFER_PROFILE"][name]["pool"].as_str().unwrap()).collect();
                pools.sort_unstable();
                let of_kind = rows(&config, "BUFFER_POOL").filter(|(_, pool)| pool["type"] == kind);
                assert_eq!(pools, of_kind.map(|(name, _)| name).collect::<Vec<_>>(), "{qos}: {port}");
            }
        }
    }
}

/// `buffer_pool_mellanox.lua`: (sum of XOFF of the ports that have a lossless group - 10 KiB for each of them) /
/// ratio. Ports without a cable do not use the pool, so the 10 KiB are not subtracted for them.
#[test]
fn the_shared_headroom_pool_is_sonics() {
    let qos = "{ base: lossless, shared_headroom: { over_subscribe_ratio: 2 } }";
    let config = config(&fabric("spectrum4-sn5600", "800G", qos, ""), "p0-t0-001");
    let number = |value: &Value| value.as_str().unwrap().parse::<u64>().unwrap();
    let xoff = |(_, group): (&str, &Value)| {
        let profile = &config["BUFFER_PROFILE"][group["profile"].as_str().unwrap()];
        profile["xoff"].is_string().then(|| number(&profile["xoff"]))
    };
    let groups: Vec<u64> = rows(&config, "BUFFER_PG").filter_map(xoff).collect();
    assert_eq!(groups.len(), 12);
    let pool = (groups.iter().sum::<u64>() - 12 * 10 * 1024).div_ceil(2);
    // In whole cells of 192 B.
    assert_eq!(number(&config["BUFFER_POOL"]["ingress_lossless_pool"]["xoff"]), pool.next_multiple_of(192));
}

/// Arista-7060X6-64PE-B-O128 `buffers_defaults_t0.j2`: one static egress pool, of which lossless queues may take half.
#[test]
fn tomahawk_5_has_one_static_egress_pool() {
    let config = config(&fabric("th5-128x400g", "400G", "lossless", ""), "p0-t0-001");
    let egress: Vec<_> = rows(&config, "BUFFER_POOL").filter(|(_, pool)| pool["type"] == "egress").collect();
    assert_eq!(egress.len(), 1, "{egress:?}");
    assert_eq!((egress[0].0, &egress[0].1["mode"]), ("egress_lossless_pool", &Value::from("static")));
    let profile = &config["BUFFER_PROFILE"]["egress_lossless_profile"];
    assert_eq!(profile["static_th"], "82434938");
    let older = self::config(
        &fabric("th5-128x400g", "400G", "lossless", "releases: { sonic: 202505 }\n"),
        "p0-t0-001",
    );
    assert_eq!(older["BUFFER_PROFILE"]["egress_lossless_profile"]["static_th"], "165364160");
    assert!(profile["dynamic_th"].is_null());
    assert_eq!(config["BUFFER_PROFILE"]["egress_lossy_profile"]["pool"], "egress_lossless_pool");
}

/// sonic-mgmt `packet_trimming_config.py`: Tomahawk 5 supports only 206 bytes, and queue 4 on two SKUs; others support
/// 256 to 4,084 bytes. orchagent rejects the object if its queue is not 0 to 7 (sonic-mgmt 26172).
#[test]
fn trimming_is_what_the_platform_takes() {
    for (platform, speed, size, queue) in [
        ("th5-512x100g", "100G", "206", "4"),
        ("th5-128x400g", "400G", "206", "4"),
        ("th5-64x800g", "800G", "206", "3"),
        ("spectrum4-sn5600", "800G", "256", "3"),
        ("sonic-vs", "40G", "128", "3"),
    ] {
        let config = config(&fabric(platform, speed, "lossy-trim", ""), "p0-t0-001");
        let trimming = &config["SWITCH_TRIMMING"]["GLOBAL"];
        assert_eq!(
            (&trimming["size"], &trimming["queue_index"]),
            (&size.into(), &queue.into()),
            "{platform}"
        );
        assert!(trimming["queue_index"].as_str().unwrap().parse::<u8>().unwrap() <= 7, "{platform}");
        // If it is a unicast queue, it has a scheduler and a share of the buffer.
        let own = |(key, _): &(&str, &Value)| key.ends_with(&format!("|{queue}"));
        assert!(
            rows(&config, "QUEUE").filter(own).all(|(_, row)| row["scheduler"] == "trimmed"),
            "{platform}"
        );
        assert!(rows(&config, "QUEUE").any(|row| own(&row)), "{platform}");
    }
}

/// opencomputeproject/SAI 2349: packets of a class without an entry leave with the code point of class 0, unless the
/// SKU has `sai_pkt_dscp_modification_disable`.
#[test]
fn every_class_keeps_its_code_point() {
    for (platform, speed, maps_all) in [
        ("th5-512x100g", "100G", false),
        ("th5-128x400g", "400G", true),
        ("th5-64x800g", "800G", true),
        ("th5-256x200g", "200G", true),
        ("spectrum4-sn5600", "800G", false),
        ("sonic-vs", "40G", false),
    ] {
        let config = config(&fabric(platform, speed, "lossy-trim", ""), "p0-t0-001");
        let expected = |trimmed: &str| {
            if maps_all {
                json!({ "0": "0", "1": "4", "2": "8", "3": "12", "6": "46", "8": trimmed })
            } else {
                json!({ "8": trimmed })
            }
        };
        let maps = json!({ "edge": expected("12"), "last-hop": expected("16") });
        assert_eq!(config["TC_TO_DSCP_MAP"], maps, "{platform}");
    }
}

/// sonic-utilities `pfcwd start_default`: 200 ms for every 32 ports of the complete panel, so growth does not change
/// it.
#[test]
fn the_watchdog_is_as_slow_as_the_panel_is_wide() {
    for (platform, speed, detection, poll) in
        [("th5-128x400g", "400G", "800", "800"), ("spectrum4-sn5600", "800G", "400", "400")]
    {
        let config = config(&fabric(platform, speed, "lossless", ""), "p0-t0-001");
        assert_eq!(config["PFC_WD"]["GLOBAL"]["POLL_INTERVAL"], poll, "{platform}");
        let ports = rows(&config, "PFC_WD").filter(|(key, _)| *key != "GLOBAL");
        assert!(ports.into_iter().all(|(_, row)| row["detection_time"] == detection), "{platform}");
    }
}

/// SONiC rejects the complete configuration if `CABLE_LENGTH` has a row without fields.
#[test]
fn a_switch_without_cables_has_no_lengths() {
    let absent = "exceptions: { absent: [\"p0-t0-001--p0-t1-[001-004]\", \"su001-n[001-008]\"] }\n";
    let config = config(&fabric("th5-128x400g", "400G", "lossless", absent), "p0-t0-001");
    assert!(config["CABLE_LENGTH"].is_null(), "{}", config["CABLE_LENGTH"]);
}
