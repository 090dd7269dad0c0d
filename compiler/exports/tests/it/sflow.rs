//! sFlow: each system in its own form, for the same collectors and rates; checked by pyavd and by NVUE's schema.
//!
//! `CLOSC_PYAVD` names the Python that has pyavd, `CLOSC_NVUESCHEMA` that with `nvueschema` and `PyYAML`;
//! otherwise it is `python3`.

use std::collections::BTreeMap;
use std::env;
use std::io::Write as _;
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use closc_exports::telemetry::sflow;
use closc_plan::Plan;
use serde_json::{Value, json};

/// Two planes whose T0s and T1s have these systems.
fn plan(t0: &str, t1: &str, management: bool) -> Plan {
    let addresses = if management { "addresses: { management: 10.64.0.0/14 }\n" } else { "" };
    closc_tests::shape::plan(&format!(
        "fabric: sampled\nplanes: 2\nrouting: ecmp-static\nqos: none\n\
         hosts: {{ groups: 2, per_group: 2, nic: {{ speed: 400G, lanes: 4 }} }}\n\
         tiers:\n  t0: {{ {t0}, down: {{ count: 2, breakout: 4x200G }}, up: {{ count: 2, breakout: 2x400G }} }}\n  \
         t1: {{ {t1} }}\n\
         cables: {{ nic-t0: {{ length: 3m, medium: dac }}, t0-t1: {{ length: 30m, medium: dr4 }} }}\n{addresses}"
    ))
}

const SONIC: &str = "platform: spectrum4-sn5600, os: sonic";
const NVUE: &str = "platform: spectrum4-sn5600, os: nvue";
const NVUE_T1: &str = "platform: spectrum4-sn5600, os: nvue, down: { breakout: 2x400G }";
const EOS: &str = "platform: th5-64x800g, os: eos";
const EOS_T1: &str = "platform: th5-64x800g, os: eos, down: { breakout: 2x400G }";

fn collectors() -> Vec<SocketAddr> {
    ["192.0.2.9:6343", "[2001:db8::9]:7000"].map(|text| text.parse().expect("an address")).to_vec()
}

/// Files by path.
fn files(plan: &Plan, collectors: &[SocketAddr]) -> BTreeMap<String, String> {
    let text = |file: closc_exports::File<'_>| {
        let mut out = Vec::new();
        file.write(&mut out).expect("memory takes everything");
        (file.path.clone(), String::from_utf8(out).expect("text"))
    };
    sflow::files(plan, collectors).expect("two are taken").into_iter().map(text).collect()
}

#[test]
fn every_system_has_its_own_form() {
    let own = |t0: &str, t1: &str| files(&plan(t0, t1, true), &collectors()).into_keys().collect::<Vec<_>>();
    let sonic_t1 = "platform: spectrum4-sn5600, os: sonic, down: { breakout: 2x400G }";
    assert_eq!(own(SONIC, sonic_t1), ["overlay/sflow.json"]);
    assert_eq!(own(SONIC, NVUE_T1), ["overlay/sflow.json", "overlay/sflow.yaml"]);
    assert_eq!(own(NVUE, EOS_T1), ["eos/sflow-th5-64x800g.conf", "overlay/sflow.yaml"]);
}

#[test]
fn samples_go_to_two_collectors_at_most() {
    let plan = plan(SONIC, NVUE_T1, true);
    let overlay: Value =
        serde_json::from_str(&files(&plan, &collectors())["overlay/sflow.json"]).expect("JSON");
    assert_eq!(overlay["tables"]["SFLOW_COLLECTOR"]["collector2"]["collector_port"], "7000", "{overlay}");
    let three = [collectors(), collectors()].concat();
    assert!(sflow::files(&plan, &three).is_err());
}

#[test]
fn what_leaves_by_the_management_port_says_so() {
    let eos =
        |management| files(&plan(EOS, EOS_T1, management), &collectors()).into_values().collect::<String>();
    assert_eq!(
        eos(true),
        "! 8 switches of platform th5-64x800g.\nsflow sample 400000\nsflow vrf MGMT destination 192.0.2.9\n\
         sflow vrf MGMT destination 2001:db8::9 7000\nsflow vrf MGMT source-interface Management1\nsflow run\n"
    );
    assert!(eos(false).contains("\nsflow destination 192.0.2.9\n") && !eos(false).contains("vrf"));
    let nvue =
        |management| files(&plan(NVUE, NVUE_T1, management), &collectors()).into_values().collect::<String>();
    assert_eq!(nvue(true).matches("interface: eth0").count(), 3, "{}", nvue(true));
    assert!(nvue(false).contains("agent: { interface: lo }") && !nvue(false).contains("eth0"));
}

#[test]
fn pyavd_renders_the_same_lines() {
    let Some(python) = python("CLOSC_PYAVD", "pyavd") else { return };
    let mut intents = BTreeMap::new();
    let mut own: BTreeMap<String, String> = BTreeMap::new();
    for management in [true, false] {
        let place = json!({
            "destinations": [{ "destination": "192.0.2.9" }, { "destination": "2001:db8::9", "port": 7000 }],
            "source_interface": if management { "Management1" } else { "Loopback0" },
        });
        let mut sflow = json!({ "run": true, "sample": 400_000 });
        if management {
            sflow["vrfs"] = json!([{ "name": "MGMT" }]);
            sflow["vrfs"][0]
                .as_object_mut()
                .expect("an object")
                .extend(place.as_object().expect("one").clone());
        } else {
            sflow.as_object_mut().expect("an object").extend(place.as_object().expect("one").clone());
        }
        let name = format!("management {management}");
        own.insert(
            name.clone(),
            files(&plan(EOS, EOS_T1, management), &collectors()).into_values().collect(),
        );
        intents.insert(name, json!({ "hostname": "a", "is_deployed": true, "sflow": sflow }));
    }
    let output = judge(&python, "eos_pyavd.py", &json!(intents));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let theirs: BTreeMap<String, String> = serde_json::from_slice(&output.stdout).expect("JSON");
    let lines = |text: &str| {
        let lines = text.lines().filter(|line| line.starts_with("sflow"));
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    for (name, text) in &own {
        assert_eq!(lines(text), lines(&theirs[name]), "{name}");
        assert_eq!(lines(text).len(), 5, "{text}");
    }
}

#[test]
fn the_schemas_of_the_first_and_the_last_release_take_it() {
    let Some(python) = python("CLOSC_NVUESCHEMA", "nvueschema, yaml") else { return };
    // The validator reads complete files, which are lists.
    let whole = |text: &str| {
        let lines = text
            .lines()
            .enumerate()
            .map(|(at, line)| format!("{}{line}\n", if at == 0 { "- " } else { "  " }));
        lines.collect::<String>()
    };
    let texts = |change: &dyn Fn(String) -> String| {
        let mut texts = BTreeMap::new();
        for release in ["5.13", "5.18"] {
            for management in [true, false] {
                let text: String =
                    files(&plan(NVUE, NVUE_T1, management), &collectors()).into_values().collect();
                texts.insert(format!("{release}/{management}"), change(whole(&text)));
            }
        }
        json!(texts)
    };
    let output = judge(&python, "nvue_schema.py", &texts(&|text| text));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let damaged = judge(&python, "nvue_schema.py", &texts(&|text| text.replace("port: 7000", "port: 70000")));
    assert!(!damaged.status.success(), "the judge is one that can refuse");
}

/// Returns the Python that has the given packages.
fn python(variable: &str, packages: &str) -> Option<String> {
    let python = env::var(variable).unwrap_or_else(|_| "python3".to_owned());
    let mut import = Command::new(&python);
    import.args(["-c", &format!("import {packages}")]).stdout(Stdio::null()).stderr(Stdio::null());
    if import.status().is_ok_and(|status| status.success()) {
        return Some(python);
    }
    closc_skip::skip(format_args!("{python} cannot import {packages} ({variable} names another Python)"));
    None
}

/// Runs a validator of the render crate.
fn judge(python: &str, script: &str, input: &Value) -> Output {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../render/tests").join(script);
    let mut child = Command::new(python)
        .arg(script)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("python runs");
    let input = serde_json::to_vec(input).expect("JSON");
    child.stdin.take().expect("piped").write_all(&input).expect("it reads all before it writes");
    child.wait_with_output().expect("it ends")
}
