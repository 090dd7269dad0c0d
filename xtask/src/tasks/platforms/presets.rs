//! QoS presets that name hwskus, compared with the tables that SONiC's templates give these hwskus.
//!
//! In: the checkout, a Python with jinja2, and the table of differences in `docs/language.md`. Out: a test.
//! Invariants: closc's tables and SONiC's are for the same ports and neighbours; every difference is a row of
//! the table, and every row is a difference.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use closc_hwsku::Files as _;
use serde_json::{Map, Value, json};

use super::git::Repository;
use super::tests::open;
use crate::generated::root;

const LANGUAGE: &str = "docs/language.md";
const BUILD_TEMPLATES: &str = "files/build_templates/";
const RENDER: &str = include_str!("sonic_qos.py");

/// Settings of a port's queues, groups and maps, by name.
type Settings = BTreeMap<String, String>;

/// A preset, and the hwsku that it names.
struct Named {
    preset: &'static str,
    platform: &'static str,
    nic: &'static str,
    /// Its folder below `device/`.
    folder: &'static str,
    asic: &'static str,
}

const NAMED: [Named; 3] = [
    Named {
        preset: "sonic-ai-lossy-th5",
        platform: "th5-512x100g",
        nic: "{ speed: 100G, lanes: 1 }",
        folder: "arista/x86_64-arista_7060x6_64pe_b/Arista-7060X6-64PE-B-C512S2",
        asic: "broadcom",
    },
    Named {
        preset: "sonic-ai-lossy",
        platform: "spectrum4-sn5600-256x100g",
        nic: "{ speed: 100G, lanes: 1 }",
        folder: "mellanox/x86_64-nvidia_sn5600-r0/Mellanox-SN5600-C256S1",
        asic: "mellanox",
    },
    Named {
        preset: "sonic-ai-lossy",
        platform: "spectrum6-sn6600",
        nic: "{ speed: 800G, lanes: 4 }",
        folder: "mellanox/x86_64-nvidia_sn6600_ld-r0/Mellanox-SN6600_LD-P128C2",
        asic: "mellanox",
    },
];

impl Named {
    fn hwsku(&self) -> &str {
        self.folder.rsplit('/').next().expect("a folder has a name")
    }

    /// Compiles a fabric of two tiers, and returns the config_db.json of a T0 and a T1.
    fn compile(&self) -> [Value; 2] {
        let Self { preset, platform, nic, .. } = self;
        let text = format!(
            "fabric: judged\nplanes: 1\nrouting: ecmp-static\nqos: {preset}\n\
             hosts: {{ groups: 2, per_group: 8, nic: {nic} }}\n\
             tiers: {{ t0: {{ platform: {platform}, os: sonic, up: 4 }}, t1: {{ platform: {platform}, os: sonic }} }}\n"
        );
        ["p0-t0-001", "p0-t1-001"].map(|name| {
            let request = json!({ "device": { "text": text, "name": name } });
            let answer = closc_playground::answer(request.to_string().as_bytes());
            let answer: Value = serde_json::from_slice(&answer).expect("an answer is JSON");
            let files = answer["ok"].as_array().unwrap_or_else(|| panic!("{name} of {text}: {answer}"));
            let is_config =
                |file: &&Value| file["path"].as_str().is_some_and(|path| path.ends_with("config_db.json"));
            let config = files.iter().find(is_config).expect("SONiC has a config_db.json");
            let config = config["text"].as_str().expect("a file has a text");
            let config: Value = serde_json::from_str(config).expect("config_db.json is JSON");
            assert_eq!(config["DEVICE_METADATA"]["localhost"]["hwsku"], self.hwsku());
            config
        })
    }

    /// Renders the hwsku's own tables for the ports and neighbours of switches.
    fn render(&self, [build, device]: &[Repository; 2], python: &str, switches: &[Value; 2]) -> [Value; 2] {
        let folder = tempfile::tempdir().expect("a folder can be made");
        // A template of the hwsku hides one of the build.
        let sources = [
            (build, BUILD_TEMPLATES.trim_end_matches('/').to_owned()),
            (device, format!("device/{}", self.folder)),
        ];
        for (repository, source) in sources {
            let is_template = |name: &&String| Path::new(name).extension().is_some_and(|end| end == "j2");
            for name in repository.names(&source).iter().filter(is_template) {
                let text = repository.text(&format!("{source}/{name}")).expect("a listed file has a text");
                fs::write(folder.path().join(name), text).expect("the folder is writable");
            }
        }
        let inputs = ["PORT", "DEVICE_METADATA", "DEVICE_NEIGHBOR", "DEVICE_NEIGHBOR_METADATA"];
        let data = switches.each_ref().map(|switch| {
            let mut data: Map<String, Value> =
                inputs.iter().map(|table| ((*table).to_owned(), switch[*table].clone())).collect();
            data.insert("asic_type".to_owned(), json!(self.asic));
            data
        });
        let texts = run(python, folder.path(), &json!(data));
        serde_json::from_slice(&texts).expect("tables are JSON")
    }
}

/// Runs the script, and returns its output.
fn run(python: &str, folder: &Path, input: &Value) -> Vec<u8> {
    let mut command = Command::new(python);
    command.args(["-c", RENDER]).arg(folder).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().expect("Python runs");
    let mut stdin = child.stdin.take().expect("it has an input");
    stdin.write_all(input.to_string().as_bytes()).expect("the script reads its input");
    drop(stdin);
    let out = child.wait_with_output().expect("the script ends");
    assert!(out.status.success(), "templates of {} are not rendered", folder.display());
    out.stdout
}

/// The Python with jinja2; prints a line if there is none.
fn python() -> Option<String> {
    let python = std::env::var("CLOSC_PYAVD").unwrap_or_else(|_| "python3".to_owned());
    let mut import = Command::new(&python);
    import.args(["-c", "import jinja2"]).stdout(Stdio::null()).stderr(Stdio::null());
    if import.status().is_ok_and(|status| status.success()) {
        return Some(python);
    }
    closc_skip::skip(format_args!(
        "{python} cannot import jinja2 (pip install pyavd; CLOSC_PYAVD names another Python)"
    ));
    None
}

/// Adds the fields of a row under a name.
fn add(found: &mut Settings, name: &str, row: &Value) {
    for (field, value) in row.as_object().into_iter().flatten() {
        let value = value.as_str().expect("a field of CONFIG_DB is a string").trim();
        found.insert(format!("{name} {field}"), value.to_owned());
    }
}

/// The settings of a port, with the rows to which its tables refer instead of their names.
fn settings(tables: &Value, port: &str) -> Settings {
    let mut found = Settings::new();
    let row = |table: &str, row: &Value| tables[table][row.as_str().unwrap_or_default()].clone();
    for (field, value) in tables["PORT_QOS_MAP"][port].as_object().expect("the port has maps") {
        let table = match &**field {
            "dscp_to_tc_map" => "DSCP_TO_TC_MAP",
            "tc_to_queue_map" => "TC_TO_QUEUE_MAP",
            "tc_to_pg_map" => "TC_TO_PRIORITY_GROUP_MAP",
            "tc_to_dscp_map" => "TC_TO_DSCP_MAP",
            _ => {
                add(&mut found, "PORT_QOS_MAP", &json!({ field: value }));
                continue;
            }
        };
        add(&mut found, table, &row(table, value));
    }
    for queue in 0..16 {
        let (key, own) = (format!("{port}|{queue}"), |table: &str| format!("{table} {queue}"));
        let bound = &tables["QUEUE"][&key];
        add(&mut found, &own("SCHEDULER"), &row("SCHEDULER", &bound["scheduler"]));
        add(&mut found, &own("WRED_PROFILE"), &row("WRED_PROFILE", &bound["wred_profile"]));
        for table in ["BUFFER_QUEUE", "BUFFER_PG"] {
            add(&mut found, &own(table), &row("BUFFER_PROFILE", &tables[table][&key]["profile"]));
        }
    }
    for list in ["BUFFER_PORT_INGRESS_PROFILE_LIST", "BUFFER_PORT_EGRESS_PROFILE_LIST"] {
        add(&mut found, list, &row("BUFFER_PROFILE", &tables[list][port]["profile_list"]));
    }
    for (pool, row) in tables["BUFFER_POOL"].as_object().expect("there are pools") {
        add(&mut found, &format!("BUFFER_POOL {pool}"), row);
    }
    found
}

/// A row of the table of differences.
struct StatedDifference {
    hwskus: String,
    settings: Vec<String>,
    own: String,
    theirs: String,
    was_met: bool,
}

impl StatedDifference {
    fn covers(&self, hwsku: &str, setting: &str, [own, theirs]: [Option<&String>; 2]) -> bool {
        let value = |stated: &str, found: Option<&String>| match stated {
            "any" => found.is_some(),
            "none" => found.is_none(),
            "empty" => found.is_some_and(String::is_empty),
            stated => found.is_some_and(|found| found == stated),
        };
        let is_named = self.hwskus == "all" || self.hwskus.split(", ").any(|end| hwsku.ends_with(end));
        let is_setting = self.settings.iter().any(|pattern| fits(pattern, setting));
        is_named && is_setting && value(&self.own, own) && value(&self.theirs, theirs)
    }
}

/// Returns whether a name matches a pattern, where `*` is any word and `1/2` one of two.
fn fits(pattern: &str, name: &str) -> bool {
    let fits = |(pattern, word): (&str, &str)| pattern == "*" || pattern.split('/').any(|one| one == word);
    pattern.split(' ').count() == name.split(' ').count() && pattern.split(' ').zip(name.split(' ')).all(fits)
}

/// The rows of the page: `| hwsku | setting | closc | hwsku | reason |`.
fn read_differences() -> Vec<StatedDifference> {
    let text = fs::read_to_string(root().join(LANGUAGE)).expect("the page is there");
    let (_, table) = text.split_once("| hwsku | setting | closc |").expect("the page has the table");
    let rows = table.lines().skip(2).take_while(|line| line.starts_with('|'));
    rows.map(|line| {
        let cells: Vec<String> =
            line.trim_matches('|').split('|').map(|cell| cell.trim().replace('`', "")).collect();
        let [hwskus, settings, own, theirs, reason] = &cells[..] else { panic!("five cells: {line}") };
        assert!(reason.len() > 20, "a reason: {line}");
        let settings = settings.split(", ").map(str::to_owned).collect();
        let [hwskus, own, theirs] = [hwskus, own, theirs].map(Clone::clone);
        StatedDifference { hwskus, settings, own, theirs, was_met: false }
    })
    .collect()
}

/// Ports to a NIC or T0, and to a T1, if the switch has them.
fn ports(switch: &Value) -> Vec<&str> {
    let neighbours = switch["DEVICE_NEIGHBOR"].as_object().expect("the switch has neighbours");
    let is_up = |port: &&String| neighbours[*port]["name"].as_str().is_some_and(|name| name.contains("-t1-"));
    let (up, down): (Vec<&String>, Vec<&String>) = neighbours.keys().partition(is_up);
    [down.first(), up.first()].into_iter().flatten().map(|port| port.as_str()).collect()
}

/// Counts equal settings of a port, and lists differences that no row covers.
fn compare(
    hwsku: &str,
    port: &str,
    found: &[Settings; 2],
    stated: &mut [StatedDifference],
) -> (usize, Vec<String>) {
    let names: BTreeSet<&String> = found.iter().flat_map(Settings::keys).collect();
    let (mut equal, mut unstated) = (0, Vec::new());
    for name in names {
        let values = found.each_ref().map(|side| side.get(name));
        if values[0] == values[1] {
            equal += 1;
        } else if let Some(row) = stated.iter_mut().find(|row| row.covers(hwsku, name, values)) {
            row.was_met = true;
        } else {
            unstated.push(format!("{hwsku} {port} {name}: {values:?}"));
        }
    }
    (equal, unstated)
}

#[test]
fn presets_are_the_tables_of_their_hwskus() {
    let (Some(build), Some(device)) = (open(BUILD_TEMPLATES), open("device/")) else { return };
    let checkout = [build, device];
    let Some(python) = python() else { return };
    let (mut stated, mut equal, mut unstated) = (read_differences(), 0, Vec::new());
    for named in &NAMED {
        let own = named.compile();
        let theirs = named.render(&checkout, &python, &own);
        for (own, theirs) in own.iter().zip(&theirs) {
            for port in ports(own) {
                let found = [own, theirs].map(|tables| settings(tables, port));
                let (count, differences) = compare(named.hwsku(), port, &found, &mut stated);
                equal += count;
                unstated.extend(differences);
            }
        }
    }
    assert!(unstated.is_empty(), "closc's value, then that of the hwsku: {unstated:#?}");
    let stale = stated.iter().filter(|row| !row.was_met).map(|row| (&row.hwskus, &row.settings));
    assert_eq!(stale.collect::<Vec<_>>(), [], "rows of {LANGUAGE} without a difference");
    eprintln!("{equal} settings of {} hwskus equal, {} rows of differences", NAMED.len(), stated.len());
    assert!(equal > 1_200, "{equal}");
}
