//! Both sides are tested with the public client and messages of `pygnmi`. Its client calls the server of these tests,
//! and a server built from its messages decodes a push.
//!
//! `CLOSC_PYGNMI` names the Python that has the package.

use std::process::Stdio;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, BufReader, Lines};
use tokio::process::{ChildStdout, Command};

use closc_deploy::{Inventory, SonicOptions, open_gate, push, silent};

use super::server::GnmiSwitch;
use super::{NEW, OLD, fleet_of};
use crate::support::{Files, single_attempt};

/// The Python that has `pygnmi`; otherwise the test is skipped.
async fn python() -> Option<String> {
    let python = std::env::var("CLOSC_PYGNMI").unwrap_or_else(|_| "python3".to_owned());
    let has = Command::new(&python).args(["-c", "import pygnmi.client"]).output().await;
    if has.is_ok_and(|output| output.status.success()) {
        return Some(python);
    }
    closc_skip::skip("the Python of CLOSC_PYGNMI has no pygnmi");
    None
}

fn script(name: &str) -> String {
    format!("{}/tests/it/deploy/gnmi/{name}", env!("CARGO_MANIFEST_DIR"))
}

#[tokio::test]
async fn the_server_of_these_tests_is_what_a_public_client_expects() {
    let Some(python) = python().await else { return };
    let switch = GnmiSwitch::start(OLD, None);
    let port = switch.address.port().to_string();
    let output = Command::new(python).args([script("client.py"), port]).output().await.expect("it runs");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    let text = String::from_utf8_lossy(&output.stdout);
    let said: Value = serde_json::from_str(text.lines().last().unwrap_or_default()).expect("a line of JSON");
    let old: Value = serde_json::from_str(OLD).expect("JSON");
    assert_eq!(said["capabilities"]["gnmi_version"], "0.7.0");
    assert_eq!(said["capabilities"]["supported_encodings"], json!(["json", "json_ietf", "proto"]));
    assert_eq!(said["whole"][0]["STATIC_ROUTE"], old["STATIC_ROUTE"]);
    assert_eq!(said["whole"][0]["SITE"]["empty"]["list"], json!([""]), "Redis has no empty lists");
    assert_eq!((&said["entry"][0], &said["field"][0]), (&old["PORT"]["Ethernet0"], &json!("1500")));
    let refused = |what: &str, why: &str| {
        let text = said[what].as_str().unwrap_or_default();
        assert!(text.contains(why), "{what}: {said}");
    };
    refused("state", "unsupported request type");
    refused("openconfig", "no such path");
    let after = &said["after"][0];
    assert_eq!(after["PORT"]["Ethernet0"]["mtu"], "9100");
    assert_eq!(after["INTERFACE"], json!({ "Ethernet0": {} }));
    assert_eq!(after["STATIC_ROUTE"], json!({ "fd00:2::/48": { "nexthop": "fe80::1" } }));
    assert_eq!(said["overwritten"][0], json!({ "mtu": "4000" }), "an update of an entry is all of it");
    refused("absent", "Invalid");
    refused("json", "not IETF JSON");
    refused("emptied", "empty tables");
    assert_eq!(said["root"][0], json!({ "Ethernet0": { "mtu": "4000" } }), "accepted, and nothing applied");
    let held = switch.lock();
    assert!(held.ignored_config.is_some());
    assert_eq!(held.saved_config, held.running);
}

async fn line(lines: &mut Lines<BufReader<ChildStdout>>) -> String {
    lines.next_line().await.expect("it can be read").expect("it goes on")
}

#[tokio::test]
async fn what_a_push_sends_is_decoded_by_messages_that_are_not_ours() {
    let Some(python) = python().await else { return };
    let mut server = Command::new(python)
        .args([script("server.py"), OLD.to_owned()])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .expect("it runs");
    let input = server.stdin.take();
    let mut lines = BufReader::new(server.stdout.take().expect("it is piped")).lines();
    let port = line(&mut lines).await;
    let text =
        format!("sonic:\n- {{ devices: '*', transport: sonic-gnmi, address: 127.0.0.1, port: {port} }}\n");
    let inventory = Inventory::parse(&text).expect("right");
    let fleet = fleet_of(&inventory, Files::new(), NEW, SonicOptions::default()).expect("they go together");
    let report = push(&fleet, &single_attempt(), silent(), open_gate()).await;
    assert!(report.is_good(), "{report:?}");
    drop(input);
    let mut calls = Vec::new();
    while let Some(line) = lines.next_line().await.expect("it can be read") {
        calls.push(serde_json::from_str::<Value>(&line).expect("JSON"));
    }
    assert!(server.wait().await.is_ok_and(|status| status.success()));
    assert!(calls.iter().all(|call| call["unknown"] == 0), "{calls:?}");
    let sets: Vec<&Value> = calls.iter().filter(|call| call["call"] == "Set").collect();
    let [set] = sets.as_slice() else { panic!("{calls:?}") };
    assert_eq!(set["delete"], json!([["STATIC_ROUTE", "fd00:1::/48"]]));
    let changed = json!([
        [["PORT", "Ethernet0", "mtu"], "9100"],
        [["SWITCH_HASH", "GLOBAL", "ecmp_hash"], ["DST_IP", "SRC_IP", "IN_PORT"]],
        [["STATIC_ROUTE", "fd00:2::/48", "nexthop"], "fe80::2"],
    ]);
    assert_eq!(set["replace"], changed);
    let come = json!([
        [["INTERFACE"], { "Ethernet0": {}, "Ethernet0|2001:db8::1/127": {} }],
        [["STATIC_ROUTE", "fd00:3::/48"], { "nexthop": "fe80::2" }],
    ]);
    assert_eq!(set["update"], come);
}
