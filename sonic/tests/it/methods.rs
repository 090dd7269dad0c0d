//! Changes by patch, changes that need a reload, bounced ports, and the limits of the overlay.

use std::collections::BTreeMap;

use closc_sonic::{
    Bounce, Change, ConfigDb, Estimate, Method, Overlay, OverlayError, Reason, TargetError, change,
};

fn config(text: &str) -> ConfigDb {
    ConfigDb::parse(text).unwrap_or_else(|error| panic!("{error}"))
}

const LIVE: &str = r#"{
    "PORT": {
        "Ethernet0": { "admin_status": "up", "lanes": "1", "mtu": "9100", "speed": "100000" },
        "Ethernet1": { "admin_status": "up", "lanes": "2", "mtu": "9100", "speed": "100000" },
        "Ethernet2": { "admin_status": "down", "lanes": "3", "mtu": "9100", "speed": "100000" }
    },
    "BUFFER_POOL": { "ingress": { "size": "1" } },
    "BUFFER_PROFILE": { "lossy": { "pool": "ingress", "size": "0", "dynamic_th": "3" } },
    "BUFFER_QUEUE": { "Ethernet0|0": { "profile": "lossy" }, "Ethernet2|0": { "profile": "lossy" } },
    "DEVICE_METADATA": { "localhost": { "hostname": "a", "hwsku": "ACS-SN5600" } },
    "PFC_WD": { "GLOBAL": { "POLL_INTERVAL": "100" }, "Ethernet0": { "action": "drop" } }
}"#;

fn change_config(from: &str, to: &str) -> Change {
    assert!(LIVE.contains(from), "`{from}` is not in LIVE");
    change("a", &config(LIVE), &config(&LIVE.replace(from, to)), &Overlay::default(), false).expect("right")
}

fn reasons(change: &Change) -> Vec<Reason> {
    match &change.method {
        Method::Reload { reasons } => reasons.clone(),
        Method::Nothing | Method::Patch => Vec::new(),
    }
}

#[test]
fn changes_that_the_updater_rejects_need_a_reload() {
    let pool = change_config(r#""size": "1""#, r#""size": "2""#);
    assert_eq!(reasons(&pool), [Reason::BufferPool { pool: "ingress".to_owned() }]);
    assert_eq!(pool.bounces.len(), 2, "a reload interrupts every port that is up");
    // A factory switch has no buffers: the patch adds the complete table.
    let pools = "    \"BUFFER_POOL\": { \"ingress\": { \"size\": \"1\" } },\n";
    let factory = LIVE.replace(pools, "");
    assert!(!factory.contains("BUFFER_POOL"));
    let added = change("a", &config(&factory), &config(LIVE), &Overlay::default(), false).expect("right");
    assert_eq!(reasons(&added), [Reason::BufferPool { pool: "ingress".to_owned() }]);
    let hwsku = change_config(r#""hwsku": "ACS-SN5600""#, r#""hwsku": "y""#);
    assert_eq!(reasons(&hwsku), [Reason::Metadata { field: "hwsku".to_owned() }]);
    assert_eq!(change_config(r#""hostname": "a""#, r#""hostname": "b""#).method, Method::Patch);
    assert_eq!(change_config(r#""dynamic_th": "3""#, r#""dynamic_th": "2""#).method, Method::Patch);
    let profile = change_config(r#""size": "0""#, r#""size": "9""#);
    assert_eq!(
        reasons(&profile),
        [Reason::BufferProfile { profile: "lossy".to_owned(), field: "size".to_owned() }]
    );
    let global = change_config(r#""GLOBAL": { "POLL_INTERVAL": "100" }, "#, "");
    assert_eq!(reasons(&global), [Reason::Removal { place: "PFC_WD|GLOBAL".to_owned() }]);
    let speed = change_config(r#""speed": "100000""#, r#""speed": "50000""#);
    assert_eq!(reasons(&speed), [Reason::Speed { ports: 3 }]);
    let lanes = change_config(r#""lanes": ""#, r#""lanes": "6"#);
    assert_eq!(reasons(&lanes), [Reason::Breakout { ports: 3 }]);
    // SONiC publishes no limit of ports, so the reason states that this one is assumed.
    assert!(reasons(&lanes)[0].to_string().ends_with("closc patches up to 2, an assumed limit"));
}

#[test]
fn maps_that_give_way_under_ports_that_are_up_take_a_reload() {
    let mut live = config(LIVE);
    let entry = |fields: &[(&str, &str)]| -> closc_sonic::Entry {
        fields.iter().map(|(field, value)| ((*field).to_owned(), (*value).into())).collect()
    };
    live.insert("TC_TO_PRIORITY_GROUP_MAP", "old", entry(&[("0", "0"), ("3", "3")]));
    live.insert("TC_TO_PRIORITY_GROUP_MAP", "kept", entry(&[("0", "0")]));
    for port in ["Ethernet0", "Ethernet1", "Ethernet2"] {
        live.insert("PORT_QOS_MAP", port, entry(&[("tc_to_pg_map", "old"), ("pfc_enable", "3")]));
    }
    let of = |edit: &dyn Fn(&str) -> String| {
        change("a", &live, &config(&edit(&live.to_json())), &Overlay::default(), false).expect("right")
    };
    // A complete replacement: the map has a new name, and `Ethernet2` is down.
    let all = of(&|text| text.replace(r#""old""#, r#""new""#));
    assert_eq!(reasons(&all), [Reason::Maps { ports: 2 }]);
    // A port that uses another map while the old one stays is a patch, and so is a change of other fields.
    let mut tree = live.clone();
    tree.insert("PORT_QOS_MAP", "Ethernet1", entry(&[("tc_to_pg_map", "kept"), ("pfc_enable", "3")]));
    let one = change("a", &live, &tree, &Overlay::default(), false).expect("right");
    assert_eq!((one.method, one.bounces.len()), (Method::Patch, 1));
    let enable = of(&|text| text.replace(r#""pfc_enable": "3""#, r#""pfc_enable": "4""#));
    assert_eq!((enable.method, enable.bounces.len()), (Method::Patch, 2));
}

fn ports(change: &Change) -> Vec<&str> {
    change.bounces.iter().map(|Bounce { port, .. }| port.as_str()).collect()
}

#[test]
fn only_ports_that_are_up_bounce() {
    let queue =
        change_config(r#""BUFFER_QUEUE": {"#, r#""BUFFER_QUEUE": { "Ethernet1|3": { "profile": "lossy" },"#);
    assert_eq!(queue.method, Method::Patch);
    assert_eq!(ports(&queue), ["Ethernet1"]);
    // One move for the entry, one to take the port down, and one to bring it up.
    assert!(matches!(queue.estimate, Estimate { seconds: 6, .. }));
    // Removing a complete table affects every port in it.
    let table = r#""BUFFER_QUEUE": { "Ethernet0|0": { "profile": "lossy" }, "Ethernet2|0": { "profile": "lossy" } },"#;
    let gone = change_config(table, "");
    assert_eq!(ports(&gone), ["Ethernet0"]);
    assert!(change_config(r#""mtu": "9100""#, r#""mtu": "1500""#).bounces.is_empty());
}

#[test]
fn a_patch_over_the_time_limit_becomes_a_reload() {
    let mut many = config(LIVE);
    for port in 0..400 {
        many.insert("CABLE_LENGTH", &format!("Ethernet{port}"), closc_sonic::Entry::new());
        many.insert("CABLE_LENGTH", "lossless", closc_sonic::Entry::new());
    }
    let mut live = config(LIVE);
    live.insert("CABLE_LENGTH", "lossless", closc_sonic::Entry::new());
    let made = change("a", &live, &many, &Overlay::default(), false).expect("right");
    assert_eq!(made.patch.operations.len(), 400);
    // 400 moves of 2 s are within the limit, 500 are not.
    assert_eq!(made.method, Method::Patch);
    for port in 400..500 {
        many.insert("CABLE_LENGTH", &format!("Ethernet{port}"), closc_sonic::Entry::new());
    }
    let made = change("a", &live, &many, &Overlay::default(), false).expect("right");
    assert_eq!(reasons(&made), [Reason::Slow { seconds: 1000 }]);
}

#[test]
fn a_moved_value_needs_two_patches() {
    let to = LIVE.replace(r#""Ethernet0": { "action""#, r#""Ethernet1": { "action""#);
    let made = change("a", &config(LIVE), &config(&to), &Overlay::default(), false).expect("right");
    let steps = made.steps(&config(LIVE));
    assert_eq!(steps.len(), 2);
    assert!(steps[0].to_json().contains("add") && steps[1].to_json().contains("remove"));
}

#[test]
fn a_reload_can_be_asked_for_and_loses_nothing() {
    let mut live = config(LIVE);
    live.insert("TACPLUS", "global", [("passkey".to_owned(), "x".into())].into());
    let tree = config(&LIVE.replace("9100", "1500"));
    let made = change("a", &live, &tree, &Overlay::default(), true).expect("right");
    assert_eq!(reasons(&made), [Reason::Asked]);
    assert_eq!(made.target.text("TACPLUS", "global", "passkey"), Some("x"));
    let made = change("a", &made.target, &tree, &Overlay::default(), true).expect("right");
    assert_eq!(made.method, Method::Nothing, "a reload of a switch that is up to date");
}

fn overlay(files: &[(&str, &str)]) -> Result<Overlay, OverlayError> {
    Overlay::parse(files.iter().copied())
}

#[test]
fn an_overlay_adds_what_is_the_sites() {
    let site = overlay(&[
        ("aaa.json", r#"{ "tables": { "TACPLUS": { "global": { "passkey": "x" } } } }"#),
        (
            "t0.json",
            r#"{ "devices": ["p?-t0-*"], "tables": { "PORT": { "Ethernet0": { "tpid": "0x9100" } } } }"#,
        ),
        ("extra.json", r#"{ "tables": { "PORT": { "Ethernet512": { "lanes": "9", "speed": "10000" } } } }"#),
    ])
    .expect("right");
    let tree = config(LIVE);
    let made = change("p0-t0-001", &tree, &tree, &site, false).expect("right");
    assert_eq!(made.target.text("PORT", "Ethernet0", "tpid"), Some("0x9100"));
    assert_eq!(made.target.text("PORT", "Ethernet0", "mtu"), Some("9100"));
    assert_eq!(made.target.text("TACPLUS", "global", "passkey"), Some("x"));
    let again = change("p0-t0-001", &made.target, &tree, &site, false).expect("right");
    assert_eq!(again.method, Method::Nothing, "the port that the site adds is not removed again");
    let other = change("p0-t1-001", &tree, &tree, &site, false).expect("right");
    assert_eq!(other.target.text("PORT", "Ethernet0", "tpid"), None);
}

#[test]
fn an_overlay_that_clashes_is_refused_by_name() {
    let tree = config(LIVE);
    let site = overlay(&[("mtu.json", r#"{ "tables": { "PORT": { "Ethernet0": { "mtu": "1500" } } } }"#)]);
    let error = change("a", &tree, &tree, &site.expect("right"), false).expect_err("closc's");
    let TargetError::Overlay(OverlayError::Owned { file, place, .. }) = &error else { panic!("{error}") };
    assert_eq!((file.as_str(), place.as_str()), ("mtu.json", "PORT|Ethernet0.mtu"));
    let site = overlay(&[
        ("a.json", r#"{ "tables": { "X": { "k": { "f": "1" } } } }"#),
        ("b.json", r#"{ "tables": { "X": { "k": { "f": "2" } } } }"#),
    ]);
    let error = change("a", &tree, &tree, &site.expect("right"), false).expect_err("two things");
    assert_eq!(error.to_string(), "`X|k.f` of `a` is `2` in `b.json` and `1` in `a.json`");
    let error = overlay(&[("c.json", "{ \"tables\": {},\n \"device\": [] }")]).expect_err("unknown");
    assert!(error.to_string().starts_with("`c.json`:2:"), "{error}");
}

#[test]
fn an_overlay_takes_nothing_away() {
    // Settings that the fabric file leaves to the site belong to the site, even if the overlay adds to them.
    let live = LIVE.replacen(
        '{',
        r#"{ "NTP_SERVER": { "192.0.2.1": { "key": "3" } },
             "MGMT_INTERFACE": { "eth0|192.0.2.9/24": { "gwaddr": "192.0.2.1" } },
             "NTP": { "global": { "vrf": "default" } },"#,
        1,
    );
    let site = overlay(&[(
        "site.json",
        r#"{ "tables": { "NTP_SERVER": { "192.0.2.2": {} }, "MGMT_INTERFACE": { "eth0|fd00::9/64": { "gwaddr": "fd00::1" } },
             "NTP": { "global": { "vrf": "mgmt" } } } }"#,
    )])
    .expect("right");
    let tree = config(&LIVE.replacen('{', r#"{ "NTP": { "global": { "vrf": "default" } },"#, 1));
    let made = change("a", &config(&live), &tree, &site, false).expect("right").target;
    let keys = |table: &str| made.table(table).keys().cloned().collect::<Vec<_>>();
    assert_eq!(keys("NTP_SERVER"), ["192.0.2.1", "192.0.2.2"]);
    assert_eq!(made.text("NTP_SERVER", "192.0.2.1", "key"), Some("3"));
    assert_eq!(keys("MGMT_INTERFACE"), ["eth0|192.0.2.9/24", "eth0|fd00::9/64"]);
    assert_eq!(made.text("NTP", "global", "vrf"), Some("mgmt"));
    for (text, place) in [
        (r#"{ "tables": { "TACPLUS": {} } }"#, "TACPLUS"),
        (r#"{ "tables": { "NTP": { "global": { "servers": [] } } } }"#, "NTP|global.servers"),
    ] {
        let error = overlay(&[("a.json", text)]).expect_err("an empty table or list is rejected");
        assert!(error.to_string().starts_with(&format!("`{place}` in `a.json` is empty")), "{error}");
    }
    let site = overlay(&[("a.json", r#"{ "devices": ["p*-t0-*", "q*"], "tables": {} }"#)]).expect("right");
    assert_eq!(site.idle(&["p0-t0-001", "p0-t1-001"]), [("a.json", "q*")]);
}

/// Validators of sonic-utilities: the hwskus that each branch lists.
#[test]
fn a_watchdog_changes_by_patch_where_the_updater_knows_the_hwsku() {
    const FILE: &str = r#"{
        "DEVICE_METADATA": { "localhost": { "hwsku": "HWSKU" } },
        "BUFFER_PROFILE": { "pg_lossless_400000_2m_profile": { "pool": "ingress", "size": "0", "dynamic_th": "3" },
            "lossy": { "pool": "ingress", "size": "0", "dynamic_th": "1" } },
        "PFC_WD": { "GLOBAL": { "POLL_INTERVAL": "200" }, "Ethernet0": { "detection_time": "400" } }
    }"#;
    let by_patch = |hwsku: &str, branch: &str, from: &str, to: &str| {
        let tree = FILE.replace("HWSKU", hwsku);
        let version = format!(r#"{{ "VERSIONS": {{ "DATABASE": {{ "VERSION": "version_{branch}_01" }} }},"#);
        let (live, wanted) = (tree.replacen('{', &version, 1), tree.replace(from, to));
        let change =
            change("a", &config(&live), &config(&wanted), &Overlay::default(), false).expect("right");
        assert_ne!(change.method, Method::Nothing);
        change.method == Method::Patch
    };
    for (hwsku, patched) in [
        ("Arista-7060PX4-O32", [false; 4]),
        ("Arista-7060DX5-64S", [false; 4]),
        ("Arista-7060X6-64PE-B-C512S2", [true; 4]),
        ("Mellanox-SN5600-V256", [true; 4]),
        ("Mellanox-SN4280-O28", [true; 4]),
        ("Mellanox-SN4280-O4X96", [false, true, true, true]),
        ("Mellanox-SN5640-O128X2", [false, true, true, true]),
        ("ACS-SN6600_LD", [false, false, false, true]),
        ("Nokia-IXR7220-H6-P128", [false, false, true, true]),
        ("NH-4210-F-P128", [false; 4]),
    ] {
        let found = ["202505", "202511", "202605", "master"]
            .map(|branch| by_patch(hwsku, branch, r#""400""#, r#""800""#));
        assert_eq!(found, patched, "{hwsku}");
        let found = ["202505", "202511", "202605", "master"]
            .map(|branch| by_patch(hwsku, branch, r#""dynamic_th": "3""#, r#""dynamic_th": "2""#));
        assert_eq!(found, patched, "{hwsku}");
    }
    // The older updaters identify the field by its path, without the parts that contain a digit.
    for (branch, patched) in [("202411", false), ("202505", false), ("202511", true), ("master", true)] {
        let tuned = by_patch("ACS-SN5600", branch, r#""dynamic_th": "1""#, r#""dynamic_th": "2""#);
        assert_eq!(tuned, patched, "{branch}");
    }
    let profile = r#""dynamic_th": "3" }"#;
    let two = format!(r#"{profile}, "new": {{ "pool": "ingress", "size": "1", "dynamic_th": "0" }}"#);
    assert!(!by_patch("ACS-SN5600", "202505", profile, &two));
    assert!(by_patch("ACS-SN5600", "202511", profile, &two));
}

/// From 202511 on, sonic-utilities identifies Teralynx by the image and not by the hwsku. It does not change
/// headroom there.
#[test]
fn a_watchdog_of_teralynx_changes_by_patch_on_newer_releases() {
    const FILE: &str = r#"{
        "DEVICE_METADATA": { "localhost": { "hwsku": "dbmvtx9180_64osfp_128x400G", "platform": "PLATFORM" } },
        "BUFFER_PROFILE": { "pg_1": { "pool": "ingress", "size": "0", "dynamic_th": "3", "xoff": "40" } },
        "PFC_WD": { "Ethernet0": { "detection_time": "400" } }
    }"#;
    let by_patch = |platform: &str, branch: &str, from: &str, to: &str| {
        let version = format!(r#"{{ "VERSIONS": {{ "DATABASE": {{ "VERSION": "version_{branch}_01" }} }},"#);
        let tree = FILE.replace("PLATFORM", platform);
        let (live, wanted) = (tree.replacen('{', &version, 1), tree.replace(from, to));
        let change =
            change("a", &config(&live), &config(&wanted), &Overlay::default(), false).expect("right");
        assert_ne!(change.method, Method::Nothing);
        change.method == Method::Patch
    };
    for (from, to, patched) in [
        (r#""400""#, r#""800""#, [false, true, true, true]),
        (r#""dynamic_th": "3""#, r#""dynamic_th": "2""#, [false, true, true, true]),
        (r#""xoff": "40""#, r#""xoff": "80""#, [false; 4]),
    ] {
        let branches = ["202505", "202511", "202605", "master"];
        let found = branches.map(|branch| by_patch("x86_64-marvell_dbmvtx9180-r0", branch, from, to));
        assert_eq!(found, patched, "{from}");
        let other = branches.map(|branch| by_patch("x86_64-marvell_other-r0", branch, from, to));
        assert_eq!(other, [false; 4], "{from}");
    }
}

/// The validator reads the keys of an added value as field names, and the ports of a complete table are not fields.
#[test]
fn a_first_watchdog_takes_a_reload() {
    let wanted = config(LIVE);
    let mut live = wanted.clone();
    live.replace("PFC_WD", BTreeMap::default());
    let change = change("a", &live, &wanted, &Overlay::default(), false).expect("right");
    let place = "PFC_WD".to_owned();
    assert_eq!(reasons(&change), [Reason::Hwsku { place, hwsku: "ACS-SN5600".to_owned() }]);
}

/// sonic-utilities 3840: a migration of SONiC rewrites the mode, and a push does not write it back.
#[test]
fn a_migrated_routing_mode_is_kept() {
    let of = |mode: &str| {
        config(&format!(
            r#"{{ "DEVICE_METADATA": {{ "localhost": {{ "docker_routing_config_mode": "{mode}" }} }} }}"#
        ))
    };
    let method = |live: &str, tree: &str| {
        change("a", &of(live), &of(tree), &Overlay::default(), false).expect("right").method
    };
    assert_eq!(method("unified", "separated"), Method::Nothing);
    assert_ne!(method("separated", "split-unified"), Method::Nothing);
    assert_ne!(method("split-unified", "separated"), Method::Nothing);
}
