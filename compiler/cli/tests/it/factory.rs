//! The overlay that keeps factory settings: it is printed, filled in, and merged by `closc export ansible` and
//! `export ztp`.

use std::io::Write as _;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::common::Place;

const NVUE: [&str; 6] = ["5.13", "5.14", "5.15", "5.16", "5.17", "5.18"];

/// Runs a command, and returns its messages.
#[track_caller]
fn command_messages(place: &Place, args: &[&str]) -> String {
    let output = place.closc(args);
    let messages = String::from_utf8(output.stderr).expect("text");
    assert!(output.status.success(), "{args:?}: {messages}");
    messages
}

fn fabric(os: &str, platform: &str, more: &str) -> String {
    let nic = if os == "nvue" { "speed: 800G, lanes: 8" } else { "speed: 400G, lanes: 4" };
    format!(
        "fabric: pod\nplanes: 1\nrouting: ecmp-static\nqos: none\nhosts: {{ groups: 2, per_group: 1, nic: {{ {nic} }} }}\n\
         tiers:\n  t0: {{ platform: {platform}, os: {os}, up: 1 }}\n  t1: {{ platform: {platform}, os: {os} }}\n{more}"
    )
}

/// Writes the skeleton of a system as an overlay, with the site's values.
fn overlay(place: &Place, os: &str, release: Option<&str>, file: &str) {
    let release = release.map(|release| vec!["--release", release]).unwrap_or_default();
    let text = place.ends(0, &[&["platforms", "--skeleton", os][..], &release].concat());
    let filled = text
        .replace("<HASH>", "$6$rounds$x")
        .replace("<ADDRESS/LENGTH>", "192.0.2.9/24")
        .replace("<FILE>", "/etc/x");
    std::fs::create_dir_all(place.path("site")).expect("a folder of the test");
    place.write(&format!("site/{file}"), filled);
    place.write(&format!("open-{file}"), text);
}

#[test]
fn the_site_part_of_nvue_keeps_every_factory_setting() {
    let place = Place::new();
    for release in NVUE {
        place.write(
            "fabric.yaml",
            fabric("nvue", "spectrum4-sn5600", &format!("releases: {{ nvue: \"{release}\" }}\n")),
        );
        let export = ["export", "ansible", "fabric.yaml", "--out", "x"];
        let messages = command_messages(&place, &export);
        for setting in ["interface.eth0", "system.aaa.user", "acl-default-dos", "acl-default-whitelist"] {
            let line = messages.lines().find(|line| line.starts_with("warning: ") && line.contains(setting));
            let line = line.unwrap_or_else(|| panic!("{release} {setting}: {messages}"));
            assert!(
                line.contains("the files of 3 switches lack")
                    && line.contains("; `closc platforms --skeleton nvue`"),
                "{line}"
            );
        }
        overlay(&place, "nvue", Some(release), "site.yaml");
        let messages = command_messages(&place, &[&export[..], &["--overlay", "site"]].concat());
        assert!(!messages.contains("warning: "), "{release}: {messages}");
        let made = place.read("x/ansible/files/p0-t0-001/nvue.yaml");
        assert!(made.contains("acl-default-whitelist:") && made.contains("swp1"), "{made}");
    }
}

#[test]
fn the_schema_of_every_release_takes_the_site_part_of_nvue() {
    let python = std::env::var("CLOSC_NVUESCHEMA").unwrap_or_else(|_| "python3".to_owned());
    let mut import = Command::new(&python);
    import.args(["-c", "import nvueschema, yaml"]).stdout(Stdio::null()).stderr(Stdio::null());
    if !import.status().is_ok_and(|status| status.success()) {
        closc_skip::skip(format_args!("{python} cannot import nvueschema and yaml"));
        return;
    }
    let place = Place::new();
    let texts = NVUE.map(|release| {
        let text = place.ends(0, &["platforms", "--skeleton", "nvue", "--release", release]);
        let lines = text.lines().skip_while(|line| *line != "set:");
        let indented = lines.map(|line| format!("  {line}\n")).collect::<Vec<_>>().concat();
        (format!("{release}/site"), json!(indented.replacen("  set:", "- set:", 1)))
    });
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../render/tests/nvue_schema.py");
    let mut child = Command::new(python)
        .arg(script)
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it runs");
    let input = serde_json::to_vec(&serde_json::Map::from_iter(texts)).expect("JSON");
    child.stdin.take().expect("piped").write_all(&input).expect("it reads all");
    let output = child.wait_with_output().expect("it ends");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn the_site_part_of_eos_is_merged_and_closcs_commands_are_refused() {
    let place = Place::new();
    place.write("fabric.yaml", fabric("eos", "th5-128x400g", ""));
    let export = ["export", "ansible", "fabric.yaml", "--out", "x", "--overlay", "site"];
    let messages = command_messages(&place, &export[..5]);
    assert!(
        messages.contains(
            "warning: the files of 3 switches lack `username` (user accounts): configure replace removes it"
        ),
        "{messages}"
    );
    overlay(&place, "eos", None, "site.conf");
    let messages = command_messages(&place, &export);
    assert!(!messages.contains("warning: "), "{messages}");
    let made = place.read("x/ansible/files/p0-t0-001/eos.conf");
    let [user, port] = ["username admin", "interface Ethernet"].map(|line| made.find(line).expect(line));
    assert!(user < port && made.contains("\nsystem l1\n   unsupported speed action error\n"), "{made}");
    // Apart from the site's part, the export equals the tree.
    place.ends(0, &["compile", "fabric.yaml", "--out", "tree"]);
    let own = place.read("tree/switches/p0-t0-001/eos.conf");
    let (_, rest) = own.split_once('\n').expect("lines");
    assert!(made.ends_with(rest), "{made}");
    for (text, fault) in [
        ("router bgp 7\n", "`site.conf`:1: closc owns `router bgp 7`"),
        (
            "username a\n!\ninterface Ethernet1/1\n   mtu 1500\n",
            "`site.conf`:3: closc owns `interface Ethernet1/1`",
        ),
        ("username admin secret sha512 <HASH>\n", ":1: `<HASH>` has no value yet"),
    ] {
        place.write("site/site.conf", text);
        assert!(place.ends(1, &export).contains(fault), "{text}");
    }
    // A file for other switches only.
    place.write(
        "site/site.conf",
        "! devices: p0-t1-*\nusername a\ninterface Management1\nmanagement ssh\naaa x\n",
    );
    let messages = command_messages(&place, &export);
    assert!(messages.contains("warning: the files of 2 switches lack `username`"), "{messages}");
}

#[test]
fn a_skeleton_that_is_not_filled_in_is_refused() {
    let place = Place::new();
    place.write("fabric.yaml", fabric("nvue", "spectrum4-sn5600", ""));
    overlay(&place, "nvue", None, "site.yaml");
    place.write("site/site.yaml", place.read("open-site.yaml"));
    let said = place.ends(1, &["export", "ansible", "fabric.yaml", "--out", "x", "--overlay", "site"]);
    assert!(said.contains("site/site.yaml`:") && said.contains("`<HASH>` has no value yet"), "{said}");
}

#[test]
fn zero_touch_names_a_missing_management_address() {
    let place = Place::new();
    let ztp = ["export", "ztp", "fabric.yaml", "--url", "http://192.0.2.80/ztp", "--out", "x"];
    place.write("fabric.yaml", fabric("sonic", "th5-128x400g", ""));
    let messages = command_messages(&place, &ztp);
    assert!(
        messages.contains("`MGMT_INTERFACE` (management address): config reload removes it"),
        "{messages}"
    );
    assert!(messages.contains("; set `addresses.management` in the fabric file"), "{messages}");
    place.write("fabric.yaml", fabric("sonic", "th5-128x400g", "addresses: { management: 192.0.2.0/24 }\n"));
    assert!(!self::command_messages(&place, &ztp).contains("MGMT_INTERFACE"));
    overlay(&place, "sonic", None, "site.json");
    place.ends(0, &[&ztp[..], &["--overlay", "site"]].concat());
    let config: Value =
        serde_json::from_str(&place.read("x/ztp/switches/p0-t0-001/config_db.json")).expect("JSON");
    assert_eq!(config["GNMI"]["gnmi"]["port"], "50052");
}

#[test]
fn platforms_list_factory_settings() {
    let place = Place::new();
    let page = place.ends(0, &["platforms", "spectrum4-sn5600"]);
    assert!(
        page.contains("nvue 5.9 and later (protection): `system.control-plane.acl.acl-default-dos`"),
        "{page}"
    );
    assert!(page.contains("`/etc/sonic/minigraph.xml`"), "{page}");
    let json: Value = serde_json::from_str(&place.ends(0, &["platforms", "th4-64x400g", "--format", "json"]))
        .expect("JSON");
    assert!(json["factory"].as_array().is_some_and(|all| all.len() > 3), "{json}");
    let said = place.ends(1, &["platforms", "--skeleton", "frr"]);
    assert!(said.contains("no change replaces the configuration of `frr`"), "{said}");
    let said = place.ends(1, &["platforms", "--skeleton", "nvue", "--release", "4.2"]);
    assert!(said.contains("`nvue` has the releases"), "{said}");
    place.ends(64, &["platforms", "--release", "5.16"]);
}
