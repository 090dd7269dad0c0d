//! SONiC's own scripts as the reference for headroom: `buffer_headroom_mellanox.lua` and `buffer_pool_mellanox.lua` run
//! in a Redis server on the configurations of random fabrics, and closc's numbers must be equal.
//!
//! In: the environment variable `CLOSC_SONIC_SWSS`, which names a checkout of sonic-swss; `redis-server` and
//! `redis-cli`. Out: a failure for each number that differs. If one of these inputs is missing, the test
//! prints a message and is skipped. `CLOSC_FABRICS` sets the number of fabrics.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::Write as _;
use std::process::{Child, Command, Stdio};

use camino::{Utf8Path, Utf8PathBuf};
use closc_artefacts::Files as _;
use closc_compile::compile_in_memory;
use closc_platform::{Buffer, Os};
use closc_qos::profile::Profile;
use serde_json::Value;

use crate::common::Draw;

/// Number of fabrics that are checked by default.
const FEW: usize = 40;

/// Platforms, and the row of sonic-buildimage `platform/mellanox/asic_table.j2` (at 086b03bd) that SONiC uses
/// for each: name, `cell_size`, `pipeline_latency`. `mac_phy_delay` is 0.8 and `peer_response_time` 3.8 in
/// every row.
const ASICS: [(&str, &str, &str, &str); 7] = [
    ("spectrum1-msn2700", "MELLANOX-SPECTRUM", "96", "19"),
    ("spectrum3-sn4700", "MELLANOX-SPECTRUM-3", "144", "19"),
    ("spectrum4-sn5600", "MELLANOX-SPECTRUM-4", "192", "19"),
    ("spectrum4-sn5600-256x100g", "MELLANOX-SPECTRUM-4", "192", "19"),
    ("spectrum5-sn5640", "MELLANOX-SPECTRUM-5", "192", "19"),
    ("spectrum6-sn6600", "MELLANOX-SPECTRUM-6", "256", "42"),
    ("sonic-vs", "vs", "128", "18"),
];

const PROFILES: [&str; 5] = [
    "lossless",
    "nvidia-roce",
    "meta-roce",
    "{ base: lossless, shared_headroom: { over_subscribe_ratio: 2 } }",
    "{ base: lossless, lossless_traffic: { mtu: 4200, small_packets: 100 } }",
];

/// A separate Redis server for the test, on a socket in a folder. It ends with the test.
struct Redis {
    server: Child,
    socket: Utf8PathBuf,
    _folder: tempfile::TempDir,
}

impl Redis {
    fn start() -> Option<Redis> {
        let folder = tempfile::tempdir().expect("a folder");
        let socket = Utf8Path::from_path(folder.path()).expect("its name is text").join("redis.sock");
        let mut server = Command::new("redis-server")
            .args(["--port", "0", "--save", "", "--appendonly", "no", "--unixsocket", socket.as_str()])
            .current_dir(folder.path())
            .stdout(Stdio::null())
            .spawn()
            .ok()?;
        let ready = || {
            let ping = Command::new("redis-cli").args(["-s", socket.as_str(), "ping"]).output();
            ping.map(|ping| ping.status.success() && ping.stdout.starts_with(b"PONG"))
        };
        loop {
            match ready() {
                Ok(true) => return Some(Redis { server, socket, _folder: folder }),
                Ok(false) => assert!(server.try_wait().expect("it is ours").is_none(), "redis-server ended"),
                Err(_) => {
                    let _ = (server.kill(), server.wait());
                    return None;
                }
            }
            std::thread::yield_now();
        }
    }

    /// Runs commands, one per line.
    fn run(&self, commands: &str) {
        let mut client = Command::new("redis-cli")
            .args(["-s", self.socket.as_str()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("redis-cli runs");
        client.stdin.take().expect("it is piped").write_all(commands.as_bytes()).expect("it reads");
        let output = client.wait_with_output().expect("it ends");
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(!text.contains("ERR"), "{text}\n{commands}");
    }

    /// Runs a script; returns the values that it prints, keyed by the word before the first colon.
    fn script(&self, script: &Utf8Path, arguments: &[&str]) -> BTreeMap<String, String> {
        let output = Command::new("redis-cli")
            .args(["-s", self.socket.as_str(), "--eval", script.as_str(), "a", ","])
            .args(arguments)
            .output()
            .expect("redis-cli runs");
        let text = String::from_utf8(output.stdout).expect("it is text");
        // Text after `debug:` explains the derivation of a number.
        let fields = text.lines().filter_map(|line| {
            let split = line.strip_prefix("debug:").map_or(0, |_| "debug:".len());
            line[split..].split_once(':').map(|(name, value)| (&line[..split + name.len()], value))
        });
        fields.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
    }
}

impl Drop for Redis {
    fn drop(&mut self) {
        let _ = (self.server.kill(), self.server.wait());
    }
}

/// Writes the rows of a table as commands, with the fields that `keep` selects.
fn rows(text: &mut String, table: &Value, key: &dyn Fn(&str) -> String, keep: &dyn Fn(&str) -> bool) {
    for (row, fields) in table.as_object().into_iter().flatten() {
        let fields = fields.as_object().into_iter().flatten().filter(|(field, _)| keep(field));
        let fields: Vec<String> = fields.map(|(field, value)| format!("{field} {value}")).collect();
        // A row without fields must exist too.
        let fields = if fields.is_empty() { "NULL NULL".to_owned() } else { fields.join(" ") };
        let _ = writeln!(text, "HSET \"{}\" {fields}", key(row));
    }
}

/// Returns commands that write the tables of a configuration, and the tables that buffermgrd derives from
/// them.
fn load(config: &Value, profile: &Profile, (asic, cell, latency): (&str, &str, &str), mmu: u64) -> String {
    let mut text = String::from("FLUSHALL\nSELECT 4\n");
    let all = |_: &str| true;
    for name in ["PORT", "LOSSLESS_TRAFFIC_PATTERN", "DEFAULT_LOSSLESS_BUFFER_PARAMETER", "DEVICE_METADATA"] {
        rows(&mut text, &config[name], &|row| format!("{name}|{row}"), &all);
    }
    // SONiC's traditional buffer model does not use these tables, so the scripts get the values of the
    // profile.
    if config["DEFAULT_LOSSLESS_BUFFER_PARAMETER"].is_null() {
        let ratio = profile.shared_headroom().map_or(0, |shared| shared.over_subscribe_ratio.get());
        let _ = writeln!(
            text,
            "HSET DEFAULT_LOSSLESS_BUFFER_PARAMETER|AZURE default_dynamic_th 0 over_subscribe_ratio {ratio}"
        );
    }
    if config["LOSSLESS_TRAFFIC_PATTERN"].is_null() {
        let traffic = profile.lossless_traffic();
        let _ = writeln!(
            text,
            "HSET LOSSLESS_TRAFFIC_PATTERN|AZURE mtu {} small_packet_percentage {}",
            traffic.mtu.0,
            traffic.small_packets.get()
        );
    }
    // SONiC computes the size of pools without a configured size.
    let sizeless = |field: &str| field != "size" && field != "xoff";
    rows(&mut text, &config["BUFFER_POOL"], &|row| format!("BUFFER_POOL|{row}"), &sizeless);
    text.push_str("SELECT 0\n");
    for name in [
        "BUFFER_PROFILE",
        "BUFFER_PG",
        "BUFFER_QUEUE",
        "BUFFER_PORT_INGRESS_PROFILE_LIST",
        "BUFFER_PORT_EGRESS_PROFILE_LIST",
    ] {
        rows(&mut text, &config[name], &|row| format!("{name}_TABLE:{}", row.replace('|', ":")), &all);
    }
    let _ = write!(
        text,
        "SELECT 6\nHSET ASIC_TABLE|{asic} cell_size {cell} pipeline_latency {latency} mac_phy_delay 0.8 \
         peer_response_time 3.8\nHSET BUFFER_MAX_PARAM_TABLE|global mmu_size {mmu}\n"
    );
    text
}

/// Returns the lossless priority groups of a configuration: port and profile.
fn lossless(config: &Value) -> Vec<(String, String)> {
    let groups = config["BUFFER_PG"].as_object().into_iter().flatten();
    let found = groups.filter_map(|(key, row)| {
        let profile = row["profile"].as_str()?;
        let is_lossless = config["BUFFER_PROFILE"][profile]["xoff"].is_string();
        is_lossless.then(|| (key.split('|').next().unwrap_or_default().to_owned(), profile.to_owned()))
    });
    found.collect()
}

fn number(value: &Value) -> u64 {
    value.as_str().and_then(|text| text.parse().ok()).unwrap_or(0)
}

#[derive(Default)]
struct Tally {
    headrooms: usize,
    pools: usize,
    shared: usize,
    platforms: BTreeSet<String>,
}

/// Compares one configuration with the results of the scripts.
fn judge(
    (redis, scripts): (&Redis, &Utf8Path),
    (config, profile): (&Value, &Profile),
    asic: (&str, &str, &str),
    mmu: u64,
    tally: &mut Tally,
) {
    redis.run(&load(config, profile, asic, mmu));
    let mut seen = BTreeSet::new();
    for (port, profile) in lossless(config) {
        let row = &config["PORT"][&port];
        let mut lengths = config["CABLE_LENGTH"].as_object().into_iter().flatten();
        let length = lengths.find_map(|(_, row)| row[&port].as_str()).expect("each port has a length");
        let lanes = row["lanes"].as_str().map_or(0, |lanes| lanes.split(',').count()).to_string();
        let (speed, mtu) =
            (row["speed"].as_str().unwrap_or_default(), row["mtu"].as_str().unwrap_or_default());
        if !seen.insert((profile.clone(), speed.to_owned(), length.to_owned(), lanes.clone())) {
            continue;
        }
        let theirs =
            redis.script(&scripts.join("buffer_headroom_mellanox.lua"), &[speed, length, mtu, "0", &lanes]);
        let ours = &config["BUFFER_PROFILE"][&profile];
        for field in ["xoff", "xon", "size"] {
            let theirs =
                theirs.get(field).unwrap_or_else(|| panic!("the script says no {field}: {theirs:?}"));
            assert_eq!(
                Some(theirs.as_str()),
                ours[field].as_str(),
                "{field} of `{profile}`: {} {port} {speed} {length} {lanes} lanes",
                asic.0
            );
        }
        tally.headrooms += 1;
    }
    let theirs = redis.script(&scripts.join("buffer_pool_mellanox.lua"), &[]);
    let pool = theirs.get("ingress_lossless_pool").expect("the script sizes the pool");
    let mut parts = pool.split(':').map(|part| part.parse::<u64>().expect("a number"));
    let (size, xoff) = (parts.next().unwrap_or(0), parts.next());
    let ours = &config["BUFFER_POOL"]["ingress_lossless_pool"];
    let cell: u64 = asic.1.parse().expect("a number");
    if let Some(xoff) = xoff {
        // The pool must hold the headroom of one group at any over-subscription ratio. SONiC's script does
        // not check this.
        let profiles = lossless(config)
            .into_iter()
            .map(|(_, profile)| &config["BUFFER_PROFILE"][profile]["xoff"])
            .map(number);
        let meant = xoff.max(profiles.max().unwrap_or(0)).next_multiple_of(cell);
        assert_eq!(number(&ours["xoff"]), meant, "shared headroom on {}: {theirs:?}", asic.0);
        tally.shared += 1;
    }
    // closc sizes the pool for a full panel, so that growth does not change it. SONiC sizes it for the
    // present ports.
    let taken = number(&ours["size"]);
    assert!(0 < taken && taken <= size, "{}: pool of {taken}, SONiC has {size}", asic.0);
    tally.pools += 1;
}

#[test]
fn headroom_is_what_sonics_scripts_say() {
    let Some(scripts) =
        std::env::var("CLOSC_SONIC_SWSS").ok().map(|folder| Utf8PathBuf::from(folder).join("cfgmgr"))
    else {
        closc_skip::skip("CLOSC_SONIC_SWSS is not set; expected a checkout of sonic-swss");
        return;
    };
    if !scripts.join("buffer_headroom_mellanox.lua").is_file() {
        closc_skip::skip(format_args!("{scripts} has no buffer_headroom_mellanox.lua"));
        return;
    }
    let Some(redis) = Redis::start() else {
        closc_skip::skip("redis-server and redis-cli are not installed");
        return;
    };
    let wanted = std::env::var("CLOSC_FABRICS").ok().and_then(|text| text.parse().ok()).unwrap_or(FEW);
    let hardware: Vec<(&str, Os)> = ASICS.iter().map(|(platform, ..)| (*platform, Os::Sonic)).collect();
    let (mut draw, mut tally, mut fabrics) = (Draw::new(), Tally::default(), 0);
    while fabrics < wanted {
        let Some(plan) = draw.next(&hardware, &PROFILES).1.plan else { continue };
        let tree = compile_in_memory(&plan).expect("what is accepted renders");
        let mut tiers = BTreeSet::new();
        for switch in plan.switches().filter(|switch| tiers.insert((switch.tier, switch.zone))) {
            let (platform, _) = plan.topology().hardware(switch);
            let (_, asic, cell, latency) =
                ASICS.iter().find(|(id, ..)| *id == platform.id).expect("it is of these platforms");
            let name = plan.topology().naming.switch(switch);
            let bytes = tree.read(&format!("switches/{name}/config_db.json")).expect("SONiC has one");
            let config: Value = serde_json::from_slice(&bytes).expect("it is JSON");
            let release = plan.topology().release(Os::Sonic);
            let total = |buffer: &Buffer| buffer.under(Os::Sonic, release, "").total.0;
            let mmu = platform.buffer.as_ref().map_or(0, total);
            if !lossless(&config).is_empty() {
                let profile = &plan.topology().qos;
                judge((&redis, &scripts), (&config, profile), (asic, cell, latency), mmu, &mut tally);
                tally.platforms.insert(platform.id.to_string());
            }
        }
        fabrics += 1;
    }
    println!(
        "{fabrics} fabrics of {:?}: {} headrooms of 3 numbers, {} pools, {} of them with shared headroom, all as SONiC's scripts say",
        tally.platforms, tally.headrooms, tally.pools, tally.shared
    );
    assert_eq!(tally.platforms.len(), ASICS.len(), "{:?}", tally.platforms);
    assert!(tally.headrooms >= wanted && tally.shared > 0, "{} {}", tally.headrooms, tally.shared);
}
