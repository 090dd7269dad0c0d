//! `closc platforms --measure`: the script runs on a fake switch, with `ssh` replaced by a shell on this machine.
//!
//! In: ports of the catalogue as `port_config.ini`, and hashes as the databases of SONiC print them. Out: a platform
//! file.

use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Output;

use closc_platform::{Breakout, Catalogue, Slot};

use crate::common::Place;

/// Hashes in the form that `sonic-db-dump` prints.
const CRM: &str = r#"{ "CRM:STATS": { "expireat": 1.5, "ttl": -0.001, "type": "hash", "value": {
    "crm_stats_ipv6_route_used": "40", "crm_stats_ipv6_route_available": "65496",
    "crm_stats_ipv6_neighbor_used": "2", "crm_stats_ipv6_neighbor_available": "16382",
    "crm_stats_srv6_my_sid_entry_used": "1", "crm_stats_srv6_my_sid_entry_available": "1023" } } }"#;
const CAPABILITY: &str = r#"{ "SWITCH_CAPABILITY|switch": { "type": "hash", "value": {
    "MAX_NEXTHOP_GROUP_COUNT": "512", "SWITCH_TRIMMING_CAPABLE": "true" } } }"#;

/// A switch in a folder.
struct FakeSwitch {
    place: Place,
}

impl FakeSwitch {
    fn new(platform: &str, hwsku: &str, ports: &str) -> Self {
        let place = Place::new();
        let folder = format!("box/device/{platform}/{hwsku}");
        fs::create_dir_all(place.path(&folder)).expect("a folder of the test");
        fs::create_dir_all(place.path("box/bin")).expect("a folder of the test");
        fs::create_dir_all(place.path("bin")).expect("a folder of the test");
        place.write(&format!("{folder}/port_config.ini"), ports);
        place.write(&format!("{folder}/sai.profile"), "SAI_NUM_ECMP_MEMBERS=256\n");
        place.write(&format!("box/device/{platform}/default_sku"), format!("{hwsku} t1\n"));
        place.write("box/sonic_version.yml", "build_version: 'SONiC.202511.7'\n");
        place.write("box/CRM", CRM);
        place.write("box/SWITCH", CAPABILITY);
        let fake = FakeSwitch { place };
        let here = fake.place.text("box");
        fake.program("box/bin/hostname", "echo leaf1");
        let facts = format!("case \"$*\" in *platform) echo {platform};; *) echo {hwsku};; esac");
        fake.program("box/bin/sonic-cfggen", &facts);
        fake.program(
            "box/bin/sonic-db-dump",
            &format!("case $4 in CRM*) cat {here}/CRM;; SWITCH*) cat {here}/SWITCH;; *) echo '{{}}';; esac"),
        );
        let edits = format!("-e s#/usr/share/sonic/device#{here}/device#g -e s#/etc/sonic/#{here}/#g");
        fake.program("bin/ssh", &format!("sed {edits} | PATH={here}/bin:$PATH exec sh -s"));
        fake
    }

    fn program(&self, name: &str, body: &str) {
        self.place.write(name, format!("#!/bin/sh\n{body}\n"));
        fs::set_permissions(self.place.path(name), fs::Permissions::from_mode(0o755)).expect("it is ours");
    }

    fn measure(&self, args: &[&str]) -> Output {
        let path = format!("{}:{}", self.place.text("bin"), std::env::var("PATH").unwrap_or_default());
        let mut command = self.place.command(&["platforms", "--measure", "admin@leaf1"]);
        command.args(args).env("PATH", path).output().expect("closc runs")
    }

    /// Measures, and writes the file into the catalogue of the site.
    #[track_caller]
    fn file(&self) -> (String, String) {
        let output = self.measure(&[]);
        let [out, err] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).expect("text"));
        assert!(output.status.success(), "{err}");
        fs::create_dir_all(self.place.path("site")).expect("a folder of the test");
        self.place.write("site/own.yaml", &out);
        (out, err)
    }
}

/// Writes the ports of a catalogue entry as SONiC lists them.
fn port_list(id: &str) -> String {
    let catalogue = Catalogue::builtin();
    let platform = catalogue.get(id).expect("it is in the catalogue");
    let breakout = platform.panel.default_breakout;
    let mut text = String::from("# name lanes alias index speed\n");
    for (cage, part) in
        (0..platform.panel.cages).flat_map(|cage| (0..breakout.ports).map(move |part| (cage, part)))
    {
        let port = platform.port(Slot { cage, part, breakout });
        let lanes: Vec<String> = port.lanes.iter().map(u16::to_string).collect();
        let (lanes, mbps) = (lanes.join(","), port.speed.mbps());
        let _ = writeln!(text, "{} {lanes} {} {} {mbps}", port.name, port.alias, port.panel);
    }
    text
}

/// The entry of a known switch keeps its name and all values that the switch does not report.
#[test]
fn a_known_box_gets_the_limits_that_it_reports() {
    let (id, platform) = ("th5-512x100g", "x86_64-arista_7060x6_64pe_b");
    let fake = FakeSwitch::new(platform, "Arista-7060X6-64PE-B-C512S2", &port_list(id));
    let (text, notes) = fake.file();
    assert!(!notes.contains("does not have the port"), "{notes}");
    let source = "leaf1, SONiC.202511.7, 20";
    for line in [
        "id: th5-512x100g",
        "  my_sids: 1024",
        "  ipv6_routes: 65536",
        "  ecmp_width: 256",
        "  ecmp_groups: 512",
        "  neighbours: 16384",
    ] {
        assert!(text.lines().any(|own| own == line), "{line}\n{text}");
    }
    assert!(text.starts_with("# Measured by") && text.contains(source), "{text}");
    let shown = fake.place.ends(0, &["platforms", id, "--platforms", "site"]);
    assert!(shown.contains("65,536 IPv6 routes (measured: leaf1, SONiC.202511.7, "), "{shown}");
    assert!(shown.contains("C512S2: trimming measured: leaf1"), "{shown}");
    assert!(shown.contains("C448O16: trimming published"), "{shown}");
    // All other values are as in the catalogue.
    let own = fake.place.json(0, &["platforms", id, "--platforms", "site"]);
    let builtin = fake.place.json(0, &["platforms", id]);
    for key in ["panel", "buffer", "features", "sonic", "sources", "title"] {
        assert!(!own[key].is_null() && own[key] == builtin[key], "{key}");
    }
}

/// A switch that the catalogue lacks gets an entry from its own files.
#[test]
fn an_unknown_box_gets_an_entry_of_its_own() {
    let mut ports = String::from("# name lanes alias index speed\n");
    for cage in 0..32 {
        let lanes: Vec<String> = (1..=8).map(|lane| (cage * 8 + lane).to_string()).collect();
        let _ =
            writeln!(ports, "Ethernet{} {} etp{} {} 400000", cage * 8, lanes.join(","), cage + 1, cage + 1);
    }
    let fake = FakeSwitch::new("x86_64-acme_x32-r0", "Acme-X32", &ports);
    let (text, notes) = fake.file();
    assert!(text.contains("\nid: acme-x32\n") && text.contains("un: ") | text.contains("\"un\""), "{text}");
    assert!(notes.contains("the catalogue has no entry for x86_64-acme_x32-r0"), "{notes}");
    let shown = fake.place.ends(0, &["platforms", "acme-x32", "--platforms", "site"]);
    assert!(shown.contains("32 ports of 400G") && shown.contains("features   uN, ECN"), "{shown}");
    let breakout: Breakout = "1x400G".parse().expect("a breakout");
    assert!(shown.contains(&breakout.to_string()), "{shown}");
}

/// The messages name ports that differ from the catalogue, an answer that ends early, and an option in place of a
/// host.
#[test]
fn differences_and_faults_are_named() {
    let ports = port_list("th5-512x100g").replace("etp2a", "etp2x");
    let fake = FakeSwitch::new("x86_64-arista_7060x6_64pe_b", "Arista-7060X6-64PE-B-C512S2", &ports);
    let (_, notes) = fake.file();
    assert!(notes.contains("does not have the port Ethernet8 of the switch, alias etp2x"), "{notes}");
    fake.program("box/bin/base64", "kill -9 $PPID");
    let output = fake.measure(&[]);
    let why = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && why.contains("cannot read `admin@leaf1`"), "{why}");
    fake.program("bin/ssh", "echo name leaf1; echo platform x; echo hwsku y");
    let why = String::from_utf8_lossy(&fake.measure(&[]).stderr).into_owned();
    assert!(why.contains("the answer ends before its last line"), "{why}");
    fake.program("bin/ssh", "echo nothing");
    let why = String::from_utf8_lossy(&fake.measure(&[]).stderr).into_owned();
    assert!(why.contains("line 1 of the answer is not valid"), "{why}");
    let why = fake.place.ends(1, &["platforms", "--measure=-oProxyCommand=id"]);
    assert!(why.contains("is not `[USER@]HOST`"), "{why}");
}

/// `show hardware capacity | json` of two chips.
const CAPACITY: &str = r#"{"tables": [
    {"table": "ECMP", "feature": "", "chip": "0", "used": 4, "free": 4092, "maxLimit": 4096},
    {"table": "ALPM", "feature": "V6Routes", "chip": "0", "used": 40, "free": 61400, "maxLimit": 61440},
    {"table": "ALPM", "feature": "V6Routes", "chip": "1", "used": 40, "free": 49960, "maxLimit": 50000},
    {"table": "ALPM", "feature": "V4Routes", "chip": "0", "used": 7, "free": 1, "maxLimit": 8}]}"#;

/// `nv show platform asic resource -o json`.
const RESOURCE: &str = r#"{"global": {"ipv4-route-entries": {"count": 22, "max": 65536},
    "ipv6-route-entries": {"count": 21, "max": 45056}, "ipv6-host-entries": {"count": 4, "max": 8192}},
    "acl": {"ingress": {"count": 1, "max": 2}}}"#;

/// A switch with a command line that prints JSON.
struct CommandLine {
    place: Place,
}

impl CommandLine {
    /// `answers` are commands with their output. All other commands are rejected as a switch would reject them.
    fn new(os: &str, answers: &[(&str, String)]) -> Self {
        let place = Place::new();
        for folder in ["bin", "box"] {
            fs::create_dir_all(place.path(folder)).expect("a folder of the test");
        }
        let here = place.text("box");
        let mut cases = String::new();
        for (at, (command, text)) in answers.iter().enumerate() {
            place.write(&format!("box/{at}"), text);
            let _ = write!(cases, "'{command}') cat {here}/{at};; ");
        }
        let body = if os == "eos" {
            format!(
                "while read -r line; do case $line in enable|'terminal length 0') ;; exit) exit 0;; \
                 'bash date -u +%F') echo 2026-11-29;; {cases}*) echo '% Invalid input';; esac; done"
            )
        } else {
            let nv =
                format!("case \"$*\" in {cases}*) echo \"Error: '$*' is not a command\" >&2; exit 2;; esac");
            place.write("bin/nv", format!("#!/bin/sh\n{nv}\n"));
            place.write("bin/date", "#!/bin/sh\necho 2026-11-29\n");
            "exec sh -s".to_owned()
        };
        place.write("bin/ssh", format!("#!/bin/sh\n{body}\n"));
        for name in
            fs::read_dir(place.path("bin")).expect("a folder").map(|entry| entry.expect("a file").path())
        {
            fs::set_permissions(name, fs::Permissions::from_mode(0o755)).expect("it is ours");
        }
        CommandLine { place }
    }

    /// Measures; returns the exit code, the file and the messages.
    fn measure(&self, os: &str) -> (Option<i32>, String, String) {
        let path = format!("{}:{}", self.place.text("bin"), std::env::var("PATH").unwrap_or_default());
        let mut command = self.place.command(&["platforms", "--measure", "admin@leaf1", "--os", os]);
        let output = command.env("PATH", path).output().expect("closc runs");
        let [out, err] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).expect("text"));
        (output.status.code(), out, err)
    }
}

fn interfaces(count: u16, name: impl Fn(u16) -> String) -> String {
    let ports: Vec<String> = (1..=count).map(|cage| format!("\"{}\": {{}}", name(cage))).collect();
    format!("{{{}}}", ports.join(", "))
}

#[test]
fn eos_reports_its_own_capacity() {
    let ports = interfaces(64, |cage| format!("Ethernet{cage}/1"));
    let switch = CommandLine::new(
        "eos",
        &[
            (
                "show version | json",
                r#"{"modelName": "DCS-7060X6-64PE-B-F", "version": "4.35.1F"}"#.to_owned(),
            ),
            ("show interfaces hardware | json", format!("{{\"interfaces\": {ports}}}\n")),
            ("show hardware capacity | json", CAPACITY.to_owned()),
        ],
    );
    let (code, file, said) = switch.measure("eos");
    assert_eq!(code, Some(0), "{said}");
    assert!(
        file.contains("id: th5-64x800g\n")
            && file.contains("leaf1, DCS-7060X6-64PE-B-F, eos 4.35.1F, 2026-11-29"),
        "{file}"
    );
    // The smaller of two chips.
    assert!(file.contains("  ipv6_routes: 50000\n") && file.contains("  ecmp_groups: 4096\n"), "{file}");
    assert!(file.contains(r#"{"measured":"admin@leaf1, DCS-7060X6-64PE-B-F, eos 4.35.1F, 2026-11-29: show hardware capacity, ALPM V6Routes"}"#), "{file}");
    for limit in ["my_sids", "ecmp_width", "neighbours"] {
        assert!(said.contains(&format!("the switch does not report {limit}")), "{said}");
    }
    // The file is a valid platform of a site.
    fs::create_dir_all(switch.place.path("site")).expect("a folder of the test");
    switch.place.write("site/own.yaml", &file);
    let page = switch.place.ends(0, &["platforms", "th5-64x800g", "--platforms", "site"]);
    assert!(page.contains("50,000 IPv6 routes (measured: admin@leaf1"), "{page}");
}

#[test]
fn nvue_reports_the_resources_of_its_asic() {
    let system = r#"{"hostname": "leaf1", "product-name": "Cumulus Linux", "product-release": "5.16.0"}"#;
    let answers = |resource: &str| {
        vec![
            ("show system -o json", system.to_owned()),
            ("show platform -o json", r#"{"product-name": "SN5600", "asic-model": "Spectrum-4"}"#.to_owned()),
            ("show interface -o json", interfaces(65, |cage| format!("swp{cage}"))),
            (
                if resource.is_empty() { "none" } else { "show platform asic resource -o json" },
                resource.to_owned(),
            ),
        ]
    };
    let (code, file, said) = CommandLine::new("nvue", &answers(RESOURCE)).measure("nvue");
    assert_eq!(code, Some(0), "{said}");
    assert!(file.contains("id: spectrum4-sn5600\n"), "{file}");
    assert!(file.contains("  ipv6_routes: 45056\n") && file.contains("  neighbours: 8192\n"), "{file}");
    assert!(file.contains("nv show platform asic resource, ipv6-route-entries"), "{file}");
    assert!(said.contains("the switch does not report ecmp_groups"), "{said}");
    // If a release lacks the command, values stay as they were, and a message names those that are not reported.
    let (code, file, said) = CommandLine::new("nvue", &answers("")).measure("nvue");
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("does not report ipv6_routes") && !file.contains("{\"measured\""), "{said}");
}

#[test]
fn hostile_answers_of_command_lines_are_bounded() {
    let version = |text: String| CommandLine::new("eos", &[("show version | json", text)]).measure("eos");
    for (text, reason) in [
        (format!("{{\"modelName\": [{}0]}}", "0,".repeat(7_000_000)), "of memory; the limit is"),
        ("x".repeat(17 << 20), "cannot read `admin@leaf1`"),
        ("{\"a\":\n".repeat(100_000), "prints no model"),
        ("{\n".repeat(1_000_000), "prints no model"),
        (r#"{"modelName": "DCS-9999-1"}"#.to_owned(), "no entry for DCS-9999-1 with `eos`"),
        (r#"{"modelName": "\u001b[2Jx", "version": 7}"#.to_owned(), "no entry for"),
        ("% Invalid input\n".to_owned(), "prints no model with the commands of `eos`"),
    ] {
        let (code, out, said) = version(text);
        assert!(
            code == Some(1) && out.is_empty() && said.contains(reason) && !said.contains('\u{1b}'),
            "{reason}: {said}"
        );
    }
    let output = Place::new().closc(&["platforms", "--measure", "leaf1", "--os", "frr"]);
    assert!(String::from_utf8_lossy(&output.stderr).contains("not `frr`"));
}
