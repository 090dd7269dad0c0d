//! Overlays are validated with SONiC's YANG models: with a simulated module, and with SONiC's own module if
//! `CLOSC_SONIC_PYTHON` is a folder with a `python3` that has `sonic_yang`.

use std::path::Path;

use crate::common::{Place, has, small_fabric};

/// Simulates SONiC's module, with two rules.
const MODULE: &str = r#"
import os

class SonicYang:
    def __init__(self, folder):
        self.folder = folder
        self.tablesWithOutYang = {}

    def loadYangModel(self):
        print("models are loaded, says a module on its standard output")

    def loadData(self, config):
        if os.path.exists(os.path.join(self.folder, "dies")):
            os._exit(3)
        self.tablesWithOutYang = {table: 1 for table in config if table == "MISTYPED"}
        if "authentication" in config.get("AAA", {}):
            raise Exception("Data Loading Failed\n  Invalid login choice:\n  AAA")
        if os.path.exists(os.path.join(self.folder, "older")):
            raise Exception("no leaf `asn`")
"#;

/// A folder with a fabric, an overlay, and a folder for models.
fn place() -> Place {
    let place = Place::new();
    let fabric = small_fabric("site", 1, "spectrum4-sn5600-256x100g", "sonic");
    place.write("fabric.yaml", format!("{fabric}addresses: {{ management: 10.64.0.0/14 }}\n"));
    for folder in ["overlay", "models", "modules"] {
        std::fs::create_dir(place.path(folder)).expect("a folder of the test");
    }
    place
}

fn says(place: &Place, name: &str, tables: &str) {
    place.write(&format!("overlay/{name}.json"), format!("{{ \"tables\": {tables} }}"));
}

/// Exports a play; returns the exit code and the messages.
fn export(place: &Place, path: Option<&Path>) -> (Option<i32>, String) {
    let args = ["export", "ansible", "fabric.yaml", "--overlay", "overlay", "--out", "play"];
    let mut command = place.command(&args);
    command.env("PYTHONPATH", place.path("modules")).env("CLOSC_YANG_MODELS", place.path("models"));
    if let Some(path) = path {
        let others = std::env::var_os("PATH").unwrap_or_default();
        let places = std::iter::once(path.to_owned()).chain(std::env::split_paths(&others));
        command.env("PATH", std::env::join_paths(places).expect("no colon in it"));
        command.env_remove("PYTHONPATH").env_remove("CLOSC_YANG_MODELS");
    }
    let output = command.output().expect("closc runs");
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn what_models_refuse_is_refused_by_name() {
    if !has("python3") {
        return closc_skip::skip("python3 is not installed");
    }
    let place = place();
    place.write("modules/sonic_yang.py", MODULE);
    says(&place, "names", r#"{ "DNS_NAMESERVER": { "192.0.2.53": {} } }"#);
    let (code, said) = export(&place, None);
    assert!(code == Some(0) && !said.contains("YANG"), "{said}");

    says(&place, "typo", r#"{ "MISTYPED": { "a": { "b": "c" } } }"#);
    let (code, said) = export(&place, None);
    assert!(code == Some(0) && said.contains("no YANG model of `MISTYPED` in overlay `overlay`"), "{said}");

    // If the overlay is only for T1s, the error names the first T1.
    let tables = r#"{ "AAA": { "authentication": { "login": "local" } } }"#;
    place.write("overlay/aaa.json", format!("{{ \"devices\": [\"p*-t1-*\"], \"tables\": {tables} }}"));
    let (code, said) = export(&place, None);
    let refused = "overlay `overlay`: SONiC's YANG models reject the configuration of `p0-t1-001` with it: Invalid login choice: AAA";
    assert!(code == Some(1) && said.contains(refused), "{said}");

    // Models of another release also reject the tree itself, so the overlay is not at fault.
    place.write("models/older", "");
    let (code, said) = export(&place, None);
    assert!(code == Some(0) && said.contains("without overlay `overlay` too"), "{said}");

    place.write("models/dies", "");
    let (code, said) = export(&place, None);
    assert!(code == Some(1) && said.contains("ended without an answer"), "{said}");
}

#[test]
fn a_push_of_a_tree_asks_the_models_first() {
    if !has("python3") {
        return closc_skip::skip("python3 is not installed");
    }
    let place = place();
    place.write("modules/sonic_yang.py", MODULE);
    says(&place, "aaa", r#"{ "AAA": { "authentication": { "login": "local" } } }"#);
    place.ends(0, &["compile", "fabric.yaml", "--out", "tree"]);
    place.write(
        "inventory.yaml",
        "sonic:\n- { devices: '*', transport: sonic-ssh, address: '{name}.invalid' }\n",
    );
    for verb in ["push", "drift"] {
        let mut command =
            place.command(&[verb, "tree", "--inventory", "inventory.yaml", "--overlay", "overlay"]);
        command.env("PYTHONPATH", place.path("modules")).env("CLOSC_YANG_MODELS", place.path("models"));
        let output = command.output().expect("closc runs");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(
            output.status.code() == Some(1) && said.contains("`p0-t0-001` with it: Invalid login choice"),
            "{said}"
        );
    }
}

#[test]
fn models_that_are_not_there_are_said_to_be_missing() {
    let place = place();
    says(&place, "names", r#"{ "DNS_NAMESERVER": { "192.0.2.53": {} } }"#);
    // Modules in the current folder are not imported.
    place.write("sonic_yang.py", "raise SystemExit(9)\n");
    place.write("json.py", "raise SystemExit(9)\n");
    place.write("modules/sonic_yang.py", "raise ImportError('no libyang here')\n");
    let (code, said) = export(&place, None);
    let why =
        if has("python3") { "`python3` cannot import `sonic_yang`: no libyang here" } else { "`python3`: " };
    let expected = format!("overlay `overlay` is not checked by SONiC's YANG models: {why}");
    assert!(code == Some(0) && said.contains(&expected), "{said}");

    if has("python3") {
        place.write("modules/sonic_yang.py", MODULE);
        std::fs::remove_dir(place.path("models")).expect("it is ours");
        let (code, said) = export(&place, None);
        assert!(code == Some(0) && said.contains("YANG models: no folder `"), "{said}");
    }
}

#[test]
fn the_models_of_sonic_judge() {
    let Some(folder) = std::env::var_os("CLOSC_SONIC_PYTHON") else {
        return closc_skip::skip(
            "CLOSC_SONIC_PYTHON is not set; expected a folder with a `python3` that has `sonic_yang`",
        );
    };
    let place = place();
    says(
        &place,
        "good",
        r#"{ "DNS_NAMESERVER": { "192.0.2.53": {} }, "AAA": { "authentication": { "login": "local" } } }"#,
    );
    let (code, said) = export(&place, Some(Path::new(&folder)));
    assert!(code == Some(0) && !said.contains("YANG"), "{said}");

    says(&place, "typo", r#"{ "DNS_NAMESERVR": { "192.0.2.53": {} } }"#);
    let (code, said) = export(&place, Some(Path::new(&folder)));
    assert!(code == Some(0) && said.contains("no YANG model of `DNS_NAMESERVR`"), "{said}");

    for (tables, part) in [
        (r#"{ "SYSLOG_SERVER": { "192.0.2.7": { "severity": "shout" } } }"#, "Invalid enumeration value"),
        (r#"{ "AAA": { "accounting": { "login": "radius-ish" } } }"#, "Invalid login choice"),
        (r#"{ "TACPLUS": { "global": { "colour": "red" } } }"#, "colour"),
        // The switch does not have this port. The error shows that the complete configuration is validated, not only
        // the overlay.
        (r#"{ "ACL_TABLE": { "A": { "type": "L3", "ports": ["Ethernet9999"] } } }"#, "Ethernet9999"),
    ] {
        says(&place, "bad", tables);
        let (code, said) = export(&place, Some(Path::new(&folder)));
        assert!(
            code == Some(1) && said.contains(part) && said.contains("`p0-t0-001` with it"),
            "{tables}\n{said}"
        );
    }
}
