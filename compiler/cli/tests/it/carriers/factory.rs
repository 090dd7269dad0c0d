//! Settings of the factory configuration: a push keeps them, and reports those that a switch lacks afterwards.

use std::fs;

use serde_json::{Value, json};

use crate::carriers::fleet::Fleet;
use crate::carriers::system::{Shape, system};

/// Settings that cEOS, vEOS and switches with a factory configuration print besides accounts and ports.
const EOS: &str = "no service interface inactive port-id allocation disabled\n\
    transceiver qsfp default-mode 4x10G\nspanning-tree mode mstp\n\
    system l1\n   unsupported speed action error\n   unsupported error-correction action error\n";

/// Puts the control-plane firewall of a factory configuration on a switch.
fn firewall(fleet: &Fleet, name: &str) {
    let mut config: Value = serde_json::from_str(&fleet.read(name, "applied")).expect("JSON");
    for list in ["acl-default-dos", "acl-default-whitelist"] {
        config["system"]["control-plane"]["acl"][list] = json!({ "inbound": {} });
    }
    fleet.put(&format!("fleet/{name}/applied"), &config.to_string(), 0o644);
}

#[test]
fn a_firewall_that_a_replace_took_is_named_until_it_is_back() {
    let Some(fleet) = Fleet::new(system("nvue"), &system("nvue").small()) else { return };
    let dos = "lack `system.control-plane.acl.acl-default-dos`";
    for args in [&["drift", "a"][..], &["push", "a", "--dry-run"]] {
        let said = fleet.ends(2, args);
        assert!(said.contains(&format!("4 switches (first: `p0-t0-001`) {dos}")), "{said}");
    }
    let said = fleet.ends(0, &["push", "a", "--format", "json"]);
    assert!(said.contains("\"place\": \"system.control-plane.acl.acl-default-whitelist\""), "{said}");
    assert!(said.contains("\"state\": \"absent\""), "{said}");
    fleet.names[1..].iter().for_each(|name| firewall(&fleet, name));
    let said = fleet.ends(0, &["drift", "a"]);
    assert!(said.contains("lacks `system.control-plane.acl.acl-default-dos`"), "{said}");
    firewall(&fleet, &fleet.names[0]);
    assert!(!fleet.ends(0, &["push", "b"]).contains("acl-default"));
    for name in &fleet.names {
        let kept = fleet.read(name, "applied");
        assert!(kept.contains("acl-default-dos") && kept.contains("acl-default-whitelist"), "{kept}");
    }
}

#[test]
fn a_push_keeps_the_factory_settings_of_eos() {
    let Some(fleet) = Fleet::new(system("eos"), &system("eos").small()) else { return };
    for name in &fleet.names {
        for file in ["startup", "running"] {
            let text = EOS.to_owned() + &fleet.read(name, file);
            fleet.put(&format!("fleet/{name}/{file}"), &text, 0o644);
        }
    }
    let shown = fleet.ends(2, &["push", "a", "--dry-run"]);
    assert!(!shown.contains("system l1") && !shown.contains("port-id"), "{shown}");
    fleet.ends(0, &["push", "a"]);
    fleet.ends(0, &["drift", "a"]);
    for name in &fleet.names {
        let kept = fleet.read(name, "running");
        // The simulated switch does not store `no` commands.
        for line in EOS.lines().filter(|line| !line.starts_with("no ")) {
            assert!(kept.lines().any(|held| held == line), "{name}: {line}: {kept}");
        }
    }
    // The report names accounts that a switch lacks.
    let name = &fleet.names[0];
    for file in ["startup", "running"] {
        let text = fleet.read(name, file);
        let kept: String = text.split_inclusive('\n').filter(|line| !line.starts_with("username")).collect();
        fleet.put(&format!("fleet/{name}/{file}"), &kept, 0o644);
    }
    let said = fleet.ends(0, &["drift", "a"]);
    assert!(said.contains(&format!("1 switch (first: `{name}`) lacks `username` (user accounts)")), "{said}");
}

#[test]
fn files_that_reset_the_routing_mode_at_boot_are_named() {
    let shape = Shape { routing: "bgp-unnumbered", ..system("sonic").small() };
    let Some(fleet) = Fleet::new(system("sonic"), &shape) else { return };
    fleet.ends(0, &["push", "a"]);
    assert!(!fleet.ends(0, &["drift", "a"]).contains("minigraph"));
    let [first, second] = [&fleet.names[0], &fleet.names[1]];
    fleet.put(&format!("fleet/{first}/minigraph.xml"), "<DeviceMiniGraph/>\n", 0o644);
    fleet.put(&format!("fleet/{second}/golden_config_db.json"), "{\"DEVICE_METADATA\": {}}\n", 0o644);
    for args in [["drift", "a"], ["push", "a"]] {
        let said = fleet.ends(0, &args);
        for (name, file) in [(first, "minigraph.xml"), (second, "golden_config_db.json")] {
            let line = format!("1 switch (first: `{name}`) has `/etc/sonic/{file}`");
            assert!(said.contains(&line) && said.contains(": at the next boot"), "{said}");
        }
    }
    // The golden configuration overrides the other file.
    let golden = r#"{"DEVICE_METADATA": {"localhost": {"docker_routing_config_mode": "split-unified"}}}"#;
    fleet.put(&format!("fleet/{first}/golden_config_db.json"), golden, 0o644);
    fs::remove_file(fleet.at(second, "golden_config_db.json")).expect("it was written");
    let said = fleet.ends(0, &["drift", "a"]);
    assert!(!said.contains("minigraph") && !said.contains("golden"), "{said}");
}

#[test]
fn gnmi_cannot_read_files_of_a_switch() {
    let gnmi = system("sonic-gnmi");
    let shape = Shape { routing: "bgp-unnumbered", ..gnmi.small() };
    let Some(fleet) = Fleet::new(gnmi, &shape) else { return };
    let said = fleet.ends(1, &["drift", "a"]);
    assert!(said.contains("(first: `p0-t0-001`) may have `/etc/sonic/minigraph.xml`"), "{said}");
    let Some(fleet) = Fleet::new(gnmi, &gnmi.small()) else { return };
    assert!(!fleet.ends(2, &["drift", "a"]).contains("minigraph"), "static routes are not in a file");
}
