//! `closc export ztp` and `closc export ansible`, checked with tools of SONiC, DHCP servers and Ansible.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use closc_skip::{program, skip};
use closc_sonic::{ConfigDb, Overlay};
use serde_json::{Value, json};

use crate::common::{self, Place};

const URL: &str = "http://192.0.2.80:8080/ztp";

const V4: &str = "addresses: { management: 10.64.0.0/14 }\n";
const V6: &str = "addresses: { management: \"2001:db8:40::/64\" }\n";

/// Six SONiC switches.
fn fabric(more: &str) -> String {
    format!(
        "fabric: pod\nplanes: 2\nhosts: {{ groups: 2, per_group: 1, nic: {{ speed: 200G, lanes: 2 }} }}\n\
         tiers:\n  t0: {{ platform: th5-512x100g, os: sonic, up: 1 }}\n  t1: {{ platform: th5-512x100g, os: sonic }}\n{more}"
    )
}

/// One row of each kind: serial number and MAC address, serial number and product, MAC address only, serial number
/// only, none.
const LIST: &str = "Name,Serial,MAC,Product\n\
    p0-t0-001,MT2334X00001,0c:42:a1:00:00:01,\n\
    p0-t0-002,MT2334X00002,,MSN5600\n\
    p0-t1-001,,0c:42:a1:00:00:03,\n\
    p1-t0-001,MT2334X00004,,\n";

fn place(more: &str) -> Place {
    let place = Place::new();
    place.write("fabric.yaml", fabric(more));
    place.write("list.csv", LIST);
    place
}

fn ztp(place: &Place, out: &str) {
    place.ends(0, &["export", "ztp", "fabric.yaml", "--url", URL, "--serials", "list.csv", "--out", out]);
}

fn read(place: &Place, path: &str) -> Value {
    serde_json::from_str(&place.read(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The exported file that a switch fetches from an address.
fn fetch(place: &Place, url: &str) -> String {
    let path = url.strip_prefix(URL).unwrap_or_else(|| panic!("{url} is not below {URL}"));
    place.read(&format!("x/ztp{path}"))
}

#[test]
fn a_switch_out_of_the_box_finds_its_configuration_by_its_serial_number() {
    let place = place(V4);
    ztp(&place, "x");
    place.ends(0, &["compile", "fabric.yaml", "--quiet", "--out", "tree"]);
    let source = &read(&place, "x/ztp/ztp.json")["ztp"]["dynamic-url"]["source"];
    assert_eq!(source["identifier"], "serial-number");
    let text = |value: &Value| value.as_str().expect("text").to_owned();
    let own = fetch(&place, &format!("{}MT2334X00001{}", text(&source["prefix"]), text(&source["suffix"])));
    assert_eq!(own, place.read("x/ztp/switches/p0-t0-001/ztp.json"));
    let own: Value = serde_json::from_str(&own).expect("JSON");
    let config = &own["ztp"]["02-configdb-json"];
    assert_eq!(
        (&config["clear-config"], &config["save-config"], &config["overwrite-device-metadata"]),
        (&json!(true), &json!(true), &json!(true))
    );
    assert_eq!(own["ztp"]["03-connectivity-check"], json!({ "ping-hosts": ["10.67.0.1"] }));
    assert_eq!(own["ztp"].as_object().map(serde_json::Map::len), Some(2), "{own}");
    let config = fetch(&place, &text(&config["url"]["source"]));
    assert_eq!(config, place.read("tree/switches/p0-t0-001/config_db.json"));
    // With `overwrite-device-metadata`, SONiC takes its platform from this file.
    assert!(config.contains("\"platform\""));
    let serials: BTreeSet<_> = fs::read_dir(place.path("x/ztp/serials"))
        .expect("a folder")
        .map(|e| e.expect("read").file_name())
        .collect();
    assert_eq!(
        serials,
        ["MT2334X00001.json", "MT2334X00002.json", "MT2334X00004.json"].map(Into::into).into()
    );
}

#[test]
fn what_the_list_leaves_open_is_said_and_routing_comes_before_the_reload() {
    let place = place("routing: bgp-unnumbered\n");
    let args = ["export", "ztp", "fabric.yaml", "--url", URL, "--serials", "list.csv", "--out", "x"];
    let said = String::from_utf8(place.closc(&args).stderr).expect("text");
    assert!(said.contains("2 switches without serial number and MAC address in the list, so without `ztp.json`: p1-t0-002, p1-t1-001"), "{said}");
    assert!(
        said.contains(
            "1 switch without serial number in the list; DHCP sends the file by MAC address: p0-t1-001"
        ),
        "{said}"
    );
    assert!(said.contains("3 of 6 SONiC switches have no reservation"), "{said}");
    let own = read(&place, "x/ztp/switches/p0-t0-001/ztp.json");
    let sections: Vec<&String> = own["ztp"].as_object().expect("an object").keys().collect();
    assert_eq!(sections, ["01-download", "02-configdb-json"], "no gateway, no check");
    let file = &own["ztp"]["01-download"]["files"][0]["url"];
    assert_eq!(file["destination"], "/etc/sonic/frr/frr.conf");
    assert!(fetch(&place, file["source"].as_str().expect("text")).contains("router bgp"));
    let said = place.closc(&["export", "ztp", "fabric.yaml", "--url", URL, "--out", "y"]);
    assert!(String::from_utf8_lossy(&said.stderr).contains("without `--serials` no switch finds"));
    assert!(!place.path("y/ztp/ztp.json").exists() && !place.path("y/ztp/dhcpd.conf").exists());
}

#[test]
fn no_name_of_a_stranger_leaves_the_folder() {
    let place = place("");
    let refused = |list: &str, what: &str| {
        place.write("list.csv", list);
        let said = place.ends(
            1,
            &["export", "ztp", "fabric.yaml", "--url", URL, "--serials", "list.csv", "--out", "x/y"],
        );
        assert!(said.contains(what), "{said}");
        assert!(!place.path("x").exists(), "{list}");
    };
    refused(
        "name,serial\np0-t0-001,../../../etc/cron.d/x\n",
        "list.csv:2: `../../../etc/cron.d/x` is not a serial number",
    );
    refused("name,serial\n../p0-t0-001,A\n", "list.csv:2");
    refused(
        "name,serial\np0-t0-001,A\np9-t0-001,B\n",
        "`p9-t0-001` is not a switch of this fabric; the first is `p0-t0-001`",
    );
    let said = place.ends(64, &["export", "ztp", "fabric.yaml", "--url", "http://x/\" ;", "--out", "x"]);
    assert!(said.contains("is not the URL of a folder"), "{said}");
    place.write("linux.yaml", common::small_fabric("pod", 2, "linux", "linux"));
    let said = place.ends(1, &["export", "ztp", "linux.yaml", "--url", URL, "--out", "x"]);
    assert!(said.contains("no switch of `pod` runs SONiC"), "{said}");
}

/// Runs a program on an exported file, and asserts that it accepts the file.
fn accepts(place: &Place, program: &Path, args: &[&str]) {
    let output = Command::new(program).args(args).current_dir(place.path("")).output().expect("it runs");
    let said =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{} {args:?}: {said}", program.display());
}

#[test]
fn kea_accepts_what_is_written_for_it() {
    let Some(kea) = program("kea-dhcp4") else { return };
    for (more, file) in [(V4, "kea-dhcp4"), ("", "kea-dhcp4"), (V6, "kea-dhcp6")] {
        let place = place(more);
        ztp(&place, "x");
        let kea = kea.with_file_name(file);
        if kea.exists() {
            accepts(&place, &kea, &["-t", &format!("x/ztp/{file}.json")]);
        } else {
            skip(format_args!("no {file} beside kea-dhcp4"));
        }
    }
}

#[test]
fn dhcpd_accepts_what_is_written_for_it() {
    let Some(dhcpd) = program("dhcpd") else { return };
    for (more, version, file) in
        [(V4, "-4", "dhcpd.conf"), ("", "-4", "dhcpd.conf"), (V6, "-6", "dhcpd6.conf")]
    {
        let place = place(more);
        ztp(&place, "x");
        accepts(&place, &dhcpd, &[version, "-t", "-cf", &place.text(&format!("x/ztp/{file}"))]);
    }
}

#[test]
fn switches_keep_the_address_of_their_configuration() {
    let place = place(V4);
    ztp(&place, "x");
    let subnet = &read(&place, "x/ztp/kea-dhcp4.json")["Dhcp4"]["subnet4"][0];
    let hosts = subnet["reservations"].as_array().expect("a list");
    assert_eq!(hosts.len(), 3, "{subnet}");
    for host in hosts {
        let name = host["hostname"].as_str().expect("a name");
        let config = read(&place, &format!("x/ztp/switches/{name}/config_db.json"));
        let own =
            config["MGMT_INTERFACE"].as_object().expect("it has one").keys().next().expect("one").clone();
        let address = host["ip-address"].as_str().expect("an address");
        assert!(own.starts_with(&format!("eth0|{address}/")), "{own} {host}");
    }
    assert_eq!(
        hosts[1]["client-id"],
        "SONiC##MSN5600##MT2334X00002".bytes().fold(String::new(), |all, byte| all + &format!("{byte:02x}"))
    );
    // A switch without a serial number gets the URL of its own file from the DHCP server.
    assert_eq!(hosts[2]["option-data"][0]["data"], format!("{URL}/switches/p0-t1-001/ztp.json"));
    assert!(hosts[0].get("option-data").is_none());
}

#[test]
fn the_inventory_has_every_switch_in_its_groups() {
    let Some(ansible) = program("ansible-inventory") else { return };
    let place = place(V4);
    place.ends(0, &["export", "ansible", "fabric.yaml", "--out", "x"]);
    let output = place
        .program(&ansible.display().to_string())
        .args(["-i", "x/ansible/inventory.yaml", "--list"])
        .output()
        .expect("it runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.is_empty(), "{said}");
    let list: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let group = |name: &str| list[name]["hosts"].clone();
    assert_eq!(group("plane_1"), json!(["p1-t0-001", "p1-t0-002", "p1-t1-001"]));
    assert_eq!(group("tier_t1"), json!(["p0-t1-001", "p1-t1-001"]));
    assert_eq!(group("os_sonic").as_array().map(Vec::len), Some(6));
    assert_eq!(group("os_frr"), Value::Null);
    assert_eq!(list["_meta"]["hostvars"]["p0-t0-001"]["ansible_host"], "10.64.0.1");
    let play = ansible.with_file_name("ansible-playbook").display().to_string();
    let output = place
        .program(&play)
        .args(["-i", "x/ansible/inventory.yaml", "--syntax-check", "x/ansible/play.yaml"])
        .output();
    let output = output.expect("it runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.is_empty(), "{said}");
}

/// The CONFIG_DB of a switch before the play: tables of another fabric, and the site's configuration.
fn initial_config(place: &Place) -> Value {
    place.write(
        "old.yaml",
        fabric("addresses: { management: 10.64.0.0/14 }\nqos: lossless\ncables: { nic-t0: { length: 3m }, t0-t1: { length: 30m } }\n").replace("pod", "old"),
    );
    place.ends(0, &["export", "ansible", "old.yaml", "--out", "old"]);
    let mut live = read(place, "old/ansible/files/p0-t0-001/config_db.json");
    live["TACPLUS"] = json!({ "global": { "passkey": "not-a-secret" } });
    live["PORT"]["Ethernet0"]["tpid"] = json!("0x8100");
    live["DEVICE_METADATA"]["localhost"]["timezone"] = json!("UTC");
    live["NTP_SERVER"] = json!({ "192.0.2.1": { "key": "3" } });
    live["CRM"] = json!({ "Config": { "acl_counter_high_threshold": "85" } });
    live["QUEUE"] = json!({ "Ethernet0|7": { "scheduler": "old" } });
    live["LOOPBACK_INTERFACE"]["Loopback1"] = json!({});
    live["LOOPBACK_INTERFACE"]["Loopback0|2001:db8::99/128"] = json!({});
    live["STATIC_ROUTE"]["mgmt|0.0.0.0/0"] = json!({ "nexthop": "192.0.2.1" });
    live["STATIC_ROUTE"]["default|2001:db8:99::/48"] = json!({ "blackhole": "true" });
    live["NTP"] = json!({ "global": { "vrf": "mgmt" } });
    live["MGMT_INTERFACE"] =
        json!({ "eth0|192.0.2.9/24": { "gwaddr": "192.0.2.1", "forced_mgmt_routes": ["198.51.100.0/24"] } });
    live
}

/// The target state of the switch, as computed by closc.
fn target_config(place: &Place, live: &Value) -> Value {
    let parse = |text: &str| ConfigDb::parse(text).expect("it is right");
    let tree = parse(&place.read("x/ansible/files/p0-t0-001/config_db.json"));
    let change =
        closc_sonic::change("p0-t0-001", &parse(&live.to_string()), &tree, &Overlay::default(), false);
    serde_json::from_str(&change.expect("they go together").target.to_json()).expect("JSON")
}

#[test]
fn the_play_divides_a_configuration_as_a_push_does() {
    let Some(python) = program("python3") else { return };
    let place = place(V4);
    place.ends(0, &["export", "ansible", "fabric.yaml", "--out", "x"]);
    let live = initial_config(&place);
    place.write("live.json", live.to_string());
    let script = "import json, sys; sys.path.insert(0, 'x/ansible/filter_plugins'); sys.dont_write_bytecode = True\n\
                  from closc import closc_places, closc_whole\n\
                  live, tree, owned = (json.load(open(name)) for name in sys.argv[1:])\n\
                  whole = closc_whole(live, tree, owned)\n\
                  print(json.dumps([whole, closc_places(live, whole), closc_places(whole, closc_whole(whole, tree, owned))]))";
    let output = place
        .program(&python.display().to_string())
        .args([
            "-I",
            "-c",
            script,
            "live.json",
            "x/ansible/files/p0-t0-001/config_db.json",
            "x/ansible/owned.json",
        ])
        .output()
        .expect("it runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let made: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(made[0], target_config(&place, &live));
    let places = made[1].as_array().expect("a list");
    assert!(
        places.contains(&json!("- QUEUE|Ethernet0|7")) && !made[1].to_string().contains("TACPLUS"),
        "{places:?}"
    );
    assert_eq!(made[2], json!([]), "once is enough");
}

/// A simulated switch for the play. Its commands work on a file.
const SWITCH: &str = r#"import json, os, sys
name, words = os.path.basename(sys.argv[0]), [word for word in sys.argv[1:] if not word.startswith("-")]
here = os.environ["SWITCH"]
path = lambda file: os.path.join(here, file)
with open(path("log"), "a") as log: log.write(" ".join([name] + words) + "\n")
copy = lambda one, other: open(path(other), "w").write(open(path(one)).read())
if name == "sonic-cfggen": print(open(path("db.json")).read())
elif name == "config":
    if words[0] in ("replace", "reload"):
        wanted = json.load(open(words[1]))
        if words[0] == "replace" and os.path.exists(path("refuses")): sys.exit("Error: BUFFER_POOL is illegal to be changed")
        json.dump(wanted, open(path("db.json"), "w"))
    elif words[0] == "checkpoint": copy("db.json", words[1] + ".cp")
    elif words[0] == "rollback": copy(words[1] + ".cp", "db.json")
    elif words[0] == "delete-checkpoint": os.remove(path(words[1] + ".cp"))
    elif words[0] == "save": copy("db.json", "saved.json")
elif name == "systemctl" and words[:2] == ["restart", "bgp"]:
    # What docker_init.sh does to the file.
    frr = path("state/frr/frr.conf")
    if "no fpm use-next-hop-groups" not in open(frr).read().splitlines():
        open(frr, "a").write("no fpm use-next-hop-groups\nfpm address 127.0.0.1\n")
    down = "route-map NONE" in open(frr).read()
    open(path("sessions"), "w").write("Active" if down else "Established")
elif name == "docker":
    state = open(path("sessions")).read() if os.path.exists(path("sessions")) else "Established"
    print(json.dumps({"peers": {"Ethernet0": {"state": state}, "Ethernet4": {"state": "Idle"}}}))
"#;

/// Creates the folders and commands of the simulated switch.
fn machine(place: &Place, live: &Value) {
    for folder in ["bin", "state", "state/frr"] {
        fs::create_dir(place.path(folder)).expect("a folder");
    }
    place.write("bin/switch", format!("#!/usr/bin/env python3\n{SWITCH}"));
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(place.path("bin/switch"), mode).expect("it is ours");
    for name in ["config", "docker", "sonic-cfggen", "systemctl", "systemd-run"] {
        std::os::unix::fs::symlink("switch", place.path(&format!("bin/{name}"))).expect("a link");
    }
    place.write("db.json", live.to_string());
}

/// Runs the play on the simulated switch.
fn play(place: &Place, ansible: &Path, more: &[&str]) -> (bool, String) {
    let path = format!("{}:{}", place.text("bin"), std::env::var("PATH").unwrap_or_default());
    let output = place
        .program(&ansible.display().to_string())
        .args(["-i", "x/ansible/inventory.yaml", "x/ansible/play.yaml", "-l", "p0-t0-001", "-c", "local"])
        .args(["-e", "ansible_become=false", "-e", &format!("closc_state={}", place.text("state"))])
        // Modules run with the interpreter of Ansible, because discovery can find one that does not start.
        .args(["-e", "ansible_python_interpreter={{ ansible_playbook_python }}"])
        .args(more)
        .env("PATH", path)
        .env("SWITCH", place.text(""))
        .output()
        .expect("it runs");
    (output.status.success(), String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Returns the path of `ansible-playbook`; `None` if the play should not run.
fn ansible() -> Option<std::path::PathBuf> {
    if std::env::var_os("CLOSC_ANSIBLE").is_none() {
        skip("set CLOSC_ANSIBLE to run the play over a switch of this machine");
        return None;
    }
    program("ansible-playbook")
}

#[test]
fn the_play_restarts_routing_once_and_waits_for_its_sessions() {
    let Some(ansible) = ansible() else { return };
    let place = place(&format!("routing: bgp-unnumbered\n{V4}"));
    place.ends(0, &["export", "ansible", "fabric.yaml", "--out", "x"]);
    machine(&place, &initial_config(&place));
    let play = |more: &[&str]| play(&place, &ansible, more);
    let (good, said) = play(&["-e", "closc_apply=reload"]);
    assert!(good, "{said}");
    let (own, file) = ("x/ansible/files/p0-t0-001/frr.conf", "state/frr/frr.conf");
    assert_eq!(place.read(file), place.read(own), "the reload starts routing with it");
    // At each start, the container checks for its two lines.
    let restart = Command::new(place.path("bin/systemctl"))
        .args(["restart", "bgp"])
        .env("SWITCH", place.text(""))
        .status();
    assert!(restart.is_ok_and(|status| status.success()));
    let (good, said) = play(&[]);
    assert!(good && said.contains("changed=0"), "{said}");
    let first = place.read(own);
    place.write(own, first.replace("! SONiC starts bfdd", "! Another comment: SONiC starts bfdd"));
    place.write("log", "");
    let (good, said) = play(&[]);
    assert!(good && place.read("log").contains("systemctl restart bgp"), "{said}");
    let (good, said) = play(&[]);
    assert!(good && said.contains("changed=0"), "{said}");
    // If sessions stay down with the new file, the play restores the old one and fails.
    let kept = place.read(file);
    place.write(own, first.replace("router bgp", "route-map NONE deny 10\nexit\n!\nrouter bgp"));
    let (good, said) = play(&["-e", "closc_session_retries=1"]);
    // A session that was down before is not in the message.
    let message = "sessions that were up before are down with the new frr.conf: Ethernet0;";
    assert!(!good && said.contains(message), "{said}");
    assert_eq!(place.read(file), kept);
}

#[test]
fn the_play_brings_a_switch_to_the_tree() {
    let Some(ansible) = ansible() else { return };
    let place = place(V4);
    place.ends(0, &["export", "ansible", "fabric.yaml", "--out", "x"]);
    let live = initial_config(&place);
    machine(&place, &live);
    let play = |more: &[&str]| play(&place, &ansible, more);
    let (good, said) = play(&["--check"]);
    assert!(good && said.contains("- QUEUE|Ethernet0|7"), "{said}");
    assert_eq!(read(&place, "db.json"), live, "looking changes nothing");
    place.write("refuses", "");
    let (good, said) = play(&[]);
    assert!(
        !good && said.contains("BUFFER_POOL is illegal") && said.contains("closc_apply=reload"),
        "{said}"
    );
    assert_eq!(read(&place, "db.json"), live, "{said}");
    let (good, said) = play(&["-e", "closc_apply=reload"]);
    assert!(good, "{said}");
    assert_eq!(read(&place, "db.json"), target_config(&place, &live));
    assert_eq!(place.read("db.json"), place.read("saved.json"));
    assert!(!said.contains("not-a-secret") && !place.path("state/closc-wanted.json").exists(), "{said}");
    let log = place.read("log");
    assert!(log.contains("systemctl stop closc-play-unless-confirmed.timer\nconfig save"), "{log}");
    let (good, said) = play(&[]);
    assert!(good && said.contains("changed=0"), "{said}");
}

#[test]
fn switches_that_nothing_is_pushed_to_are_named_with_what_brings_them_their_files() {
    let place = Place::new();
    place.write("frr.yaml", common::small_fabric("frr", 2, "linux", "frr"));
    place.write("none.yaml", "devices: {}\n");
    place.ends(0, &["compile", "frr.yaml", "--out", "frr"]);
    for verb in ["push", "drift", "watch"] {
        let said = place.ends(1, &[verb, "frr", "--inventory", "none.yaml"]);
        assert!(said.contains("8 switches run `frr` and are skipped (first: `p0-t0-001`"), "{said}");
        assert!(said.contains("`closc export ansible` writes a play for them"), "{said}");
    }
    // The inventory lacks a rule for SONiC switches.
    place.write("fabric.yaml", fabric(V4));
    place.ends(0, &["compile", "fabric.yaml", "--out", "sonic"]);
    let said = place.ends(1, &["drift", "sonic", "--inventory", "none.yaml"]);
    assert!(
        said.contains("6 switches run `sonic`") && said.contains("add a rule under `sonic` to the inventory"),
        "{said}"
    );
}

#[test]
fn counters_that_a_collector_does_not_read_are_named() {
    let place = place(V4);
    place.write(
        "rules.yaml",
        "devices: {}\nsonic:\n- { devices: 'p*', transport: sonic-ssh, address: '{name}' }\n",
    );
    let collect = ["collect", "fabric.yaml", "--nic", "none.sock", "--inventory", "rules.yaml", "--for", "1"];
    let collect = [&collect[..], &["--listen", "127.0.0.1:0"]].concat();
    let said = place.ends(1, &collect);
    assert!(
        said.contains("counters of 6 switches that run `sonic` are not read (first: `p0-t0-001`)"),
        "{said}"
    );
    assert!(said.contains("`closc export telemetry` writes files to monitor them"), "{said}");
    let said = place.ends(1, &[&collect[..], &["--format", "json"]].concat());
    let line = said.lines().find(|line| line.starts_with("{\"unread\"")).expect("it says so");
    let unread = serde_json::from_str::<Value>(line).expect("JSON")["unread"].clone();
    assert_eq!(
        (&unread["os"], &unread["switches"], &unread["first"]),
        (&json!("sonic"), &json!(6), &json!("p0-t0-001"))
    );
}
