//! Commands on switches with two transports: CONFIG_DB over gNMI and entries over P4Runtime. The servers are on
//! loopback; the inventory has patterns and an address list of the site.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::process::Stdio;

use closc_runtime::DeviceId;
use closc_runtime::proto::v1;
use closc_runtime::testing::{FakeOptions, FakeTarget};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use v1::entity::Entity;

use crate::common::Place;
use crate::gnmi::GnmiSwitch;

/// A fabric with two parallel cables, one of which can be absent.
fn fabric(absent: &str) -> String {
    format!(
        "fabric: pair\nplanes: 1\nrouting: ecmp-static\nhosts: {{ groups: 2, per_group: 1, nic: {{ speed: 100G, lanes: 1 }} }}\n\
         tiers:\n  t0: {{ platform: th5-512x100g, os: pins, up: 4, parallel: 2 }}\n  t1: {{ platform: th5-512x100g, os: pins }}\n\
         addresses: {{ management: 10.64.0.0/14 }}\n\
         cables:\n  nic-t0: {{ length: 3m, medium: dac }}\n  t0-t1: {{ length: 30m, medium: dr4 }}\n\
         exceptions: {{ absent: [{absent}] }}\n"
    )
}

/// The two servers of each switch.
struct Site {
    place: Place,
    switches: BTreeMap<String, (GnmiSwitch, FakeTarget)>,
}

impl Site {
    /// Starts every switch with the CONFIG_DB of tree `a`, and without entries.
    async fn new() -> Self {
        let place = Place::new();
        for (side, absent) in [("a", "p0-t0-001--p0-t1-001#1"), ("b", "")] {
            place.write(&format!("{side}.yaml"), fabric(absent));
            place.ends(0, &["compile", "--quiet", &format!("{side}.yaml"), "--out", side]);
        }
        let mut switches = BTreeMap::new();
        for entry in fs::read_dir(place.path("a/switches")).expect("a folder") {
            let name = entry.expect("it can be read").file_name().into_string().expect("text");
            let text = place.read(&format!("a/switches/{name}/config_db.json"));
            let gnmi = GnmiSwitch::start(&text, None);
            gnmi.lock().follows_after = Some(0);
            let ports = gnmi.lock().ports();
            gnmi.lock().daemon_state = ports;
            let options = FakeOptions { device: DeviceId(1), ..FakeOptions::default() };
            let target = FakeTarget::with(options).await.expect("loopback has a port");
            switches.insert(name, (gnmi, target));
        }
        let site = Site { place, switches };
        site.inventory();
        site
    }

    /// Writes the inventory. A pattern covers all switches. The ports of the servers on loopback differ, so they are
    /// in the address list of the site.
    fn inventory(&self) {
        let mut list = String::from("Name,Status,IP Address\n");
        let mut rules = String::new();
        for (name, (gnmi, target)) in &self.switches {
            writeln!(list, "{name},Active,{}", target.address()).expect("a string");
            let port = gnmi.address.port();
            writeln!(
                rules,
                "- {{ devices: {name}, transport: sonic-gnmi, address: 127.0.0.1, port: {port} }}"
            )
            .expect("a string");
        }
        self.place.write("netbox.csv", list);
        let text = format!(
            "addresses: netbox.csv\np4runtime:\n- {{ devices: '*', device: {{ endpoint: '{{address}}', device_id: 1, plane: 0 }} }}\nsonic:\n{rules}"
        );
        self.place.write("inventory.yaml", text);
    }

    /// Runs a command to its end, while the servers answer.
    async fn ends(&self, code: i32, arguments: &[&str]) -> String {
        let arguments = [arguments, &["--inventory", "inventory.yaml"]].concat();
        let mut command = self.place.command(&arguments);
        let output = tokio::task::spawn_blocking(move || command.output()).await.expect("no task panics");
        let output = output.expect("it runs");
        let said =
            String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {said}");
        said
    }

    /// Asserts that every switch has the CONFIG_DB of a tree, and entries.
    fn assert_good(&self, side: &str) {
        for (name, (gnmi, target)) in &self.switches {
            let wanted: Value =
                serde_json::from_str(&self.place.read(&format!("{side}/switches/{name}/config_db.json")))
                    .expect("JSON");
            assert_eq!(gnmi.lock().running, wanted, "{name}");
            assert!(!target.entities().is_empty(), "{name}");
        }
    }
}

/// An entity with a change by another controller.
fn change_metadata(entity: &v1::Entity) -> v1::Entity {
    let mut entity = entity.clone();
    if let Some(Entity::TableEntry(entry)) = &mut entity.entity {
        entry.metadata = b"another controller".to_vec();
    }
    entity
}

#[tokio::test(flavor = "multi_thread")]
async fn every_command_works_on_both_transports_of_a_switch() {
    let site = Site::new().await;
    let said = site.ends(2, &["push", "a", "--dry-run"]).await;
    assert!(said.contains("set pipeline sai") && said.contains("0 SONiC switches change"), "{said}");
    site.ends(0, &["push", "a"]).await;
    site.assert_good("a");
    assert!(site.ends(0, &["push", "a"]).await.contains("0 updates sent"));
    site.ends(0, &["drift", "a"]).await;
    assert!(site.ends(0, &["diff", "live", "a"]).await.contains("live and a describe the same fabric"));
    // Each command reports the differences over both transports.
    let named = |said: &str| said.contains("PORT|Ethernet") && said.contains("ingress.");
    let said = site.ends(2, &["drift", "b"]).await;
    assert!(named(&said), "{said}");
    let said = site.ends(2, &["diff", "live", "b", "--list"]).await;
    assert!(said.contains("PORT") && said.contains("ingress.") && said.contains("p0-t0-001"), "{said}");
    let said = site.ends(2, &["push", "b", "--dry-run", "--format", "json"]).await;
    let shown: Value =
        serde_json::from_str(said.lines().next().expect("a line").trim()).unwrap_or_else(|_| {
            let end = said.rfind('}').expect("JSON ends so");
            serde_json::from_str(&said[said.find('{').expect("JSON begins so")..=end]).expect("JSON")
        });
    assert_eq!(shown["sonic"]["p0-t0-001"]["method"], "patch", "{said}");
    assert!(shown["devices"]["p0-t0-001"]["updates"]["insert"].as_u64() > Some(0), "{said}");
    site.ends(0, &["push", "b"]).await;
    site.assert_good("b");
    site.ends(0, &["drift", "b"]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_saved_of_both_transports_is_pushed_or_refused() {
    let site = Site::new().await;
    site.ends(0, &["push", "a"]).await;
    for (arguments, file) in [
        (&["push", "b", "--out", "plan.json"][..], "plan.json"),
        (&["diff", "a", "b", "--out", "trees.diff"], "trees.diff"),
        (&["diff", "live", "b", "--out", "live.diff"], "live.diff"),
    ] {
        site.ends(2, arguments).await;
        let (gnmi, target) = &site.switches["p0-t0-001"];
        let held = gnmi.lock().running.clone();
        gnmi.lock().running["PORT"]["Ethernet0"]["mtu"] = json!("1500");
        let said = site.ends(1, &["push", file]).await;
        assert!(said.contains("has changed") || said.contains("is stale"), "{file}: {said}");
        gnmi.lock().running = held;
        let entities = target.entities();
        target.plant(entities.iter().map(change_metadata));
        let said = site.ends(1, &["push", file]).await;
        assert!(said.contains("has changed") || said.contains("is stale"), "{file}: {said}");
        target.plant(entities);
        site.ends(0, &["push", file]).await;
        site.assert_good("b");
        site.ends(0, &["push", "a"]).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_watch_looks_at_both_transports() {
    let site = Site::new().await;
    site.ends(0, &["push", "a"]).await;
    let (gnmi, _) = &site.switches["p0-t0-001"];
    gnmi.lock().running["PORT"]["Ethernet0"]["mtu"] = json!("1500");
    let command = site.place.command(&[
        "watch",
        "a",
        "--inventory",
        "inventory.yaml",
        "--interval",
        "1",
        "--format",
        "json",
    ]);
    let mut child = tokio::process::Command::from(command)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .expect("it runs");
    let mut lines = BufReader::new(child.stderr.take().expect("it is ours")).lines();
    let (mut entries, mut configuration) = (false, false);
    while !(entries && configuration) {
        let line = lines.next_line().await.expect("text").expect("a watch goes on");
        entries |= line.contains("\"p0-t0-001\"") && line.contains("\"verified\"");
        configuration |= line.contains("\"drifted\"") && line.contains("\"PORT\"");
    }
    child.kill().await.expect("it runs");
    assert_eq!(gnmi.lock().running["PORT"]["Ethernet0"]["mtu"], "1500", "a watch changes no CONFIG_DB");
}
