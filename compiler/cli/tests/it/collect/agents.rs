//! Simulated agents: sockets that answer like agents of the lab with eight planes.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

const PLANES: u8 = 8;
const UPLINKS: u16 = 4;
/// Number of probes that each counter adds between two answers.
const PROBES: u64 = 20;

/// State that all agents share: the lossy cable, and their denials.
#[derive(Default)]
struct World {
    loses: Option<(u8, u16, u16)>,
    lost: u64,
    bans: Vec<Vec<Value>>,
    /// Time of the last denial order to an agent.
    denied: Option<Instant>,
}

/// Agents on all eight NICs.
pub(crate) struct Agents(Arc<Mutex<World>>);

fn lock(world: &Mutex<World>) -> MutexGuard<'_, World> {
    world.lock().expect("no agent panicked")
}

impl Agents {
    /// Starts agents on sockets below a folder.
    pub(crate) fn start(folder: &Path) -> Agents {
        let world = Arc::new(Mutex::new(World { bans: vec![Vec::new(); 8], ..World::default() }));
        for nic in 0..8_u16 {
            let listener =
                UnixListener::bind(folder.join(format!("{nic}.sock"))).expect("a socket can be bound");
            let world = world.clone();
            std::thread::spawn(move || {
                let mut counts = BTreeMap::new();
                for stream in listener.incoming().flatten() {
                    serve(stream, nic, &world, &mut counts);
                }
            });
        }
        Agents(world)
    }

    /// Answers for a NIC at another socket, as an agent that loses every probe over one cable of plane 3.
    pub(crate) fn impostor(socket: &Path, nic: u16) {
        let listener = UnixListener::bind(socket).expect("a socket can be bound");
        let world = World {
            loses: Some((3, nic / 2, 0)),
            lost: PROBES,
            bans: vec![Vec::new(); 8],
            ..World::default()
        };
        std::thread::spawn(move || {
            let (world, mut counts) = (Mutex::new(world), BTreeMap::new());
            for stream in listener.incoming().flatten() {
                serve(stream, nic, &world, &mut counts);
            }
        });
    }

    /// Makes the named cable between a T0 and a T1 lose `lost` of 20 probes.
    pub(crate) fn lose(&self, cable: &str, lost: u64) {
        let number = |at: usize| cable[at..at + 3].parse::<u16>().expect("it is a name");
        let plane = cable[1..2].parse().expect("it is a name");
        let mut world = lock(&self.0);
        (world.loses, world.lost) = (Some((plane, number(6) - 1, number(17) - 1)), lost);
    }

    pub(crate) fn lose_nothing(&self) {
        lock(&self.0).loses = None;
    }

    /// Time from an event until the last denial order to an agent.
    pub(crate) fn denial_delay(&self, began: Instant) -> Duration {
        lock(&self.0).denied.map_or(Duration::ZERO, |denied| denied.saturating_duration_since(began))
    }

    /// The denials of each agent.
    pub(crate) fn denials(&self) -> Vec<Vec<Value>> {
        lock(&self.0).bans.clone()
    }

    /// Replaces the denials of each agent.
    pub(crate) fn restore(&self, denials: &[Vec<Value>]) {
        lock(&self.0).bans = denials.to_vec();
    }

    /// Number of denials per agent.
    pub(crate) fn bans(&self) -> [usize; 8] {
        let world = lock(&self.0);
        std::array::from_fn(|nic| world.bans[nic].len())
    }
}

fn serve(stream: UnixStream, nic: u16, world: &Mutex<World>, counts: &mut BTreeMap<String, (u64, u64)>) {
    let Ok(mut out) = stream.try_clone() else { return };
    let _ = stream.set_read_timeout(Some(Duration::from_secs(20)));
    for line in BufReader::new(stream).lines().map_while(Result::ok) {
        let Ok(request) = serde_json::from_str::<Value>(&line) else { return };
        let answer = match request["op"].as_str() {
            Some("status") => status(nic, &lock(world)),
            Some("denials") => denials(nic, &lock(world)),
            Some("metrics") => Value::String(metrics(nic, &lock(world), counts)),
            Some("deny") => deny(nic, &mut lock(world), &request["ban"]),
            Some("allow") => allow(nic, &mut lock(world), &request["id"]),
            _ => json!({ "error": "what?" }),
        };
        if writeln!(out, "{answer}").is_err() {
            return;
        }
    }
}

fn status(nic: u16, world: &World) -> Value {
    let planes: Vec<Value> =
        (0..PLANES).map(|plane| json!({ "plane": plane, "carrier": true, "neighbour": true })).collect();
    let address = format!("fd00:c105:1:{:x}::{:x}", nic / 2 + 1, nic % 2 + 1);
    json!({ "nic": address, "transport": "spray", "now_ns": 1, "planes": planes, "channels": [], "findings": [],
        "denials": world.bans[usize::from(nic)], "counters": { "outside": 0, "probes": 1 }, "wrong_bytes": 0 })
}

fn denials(nic: u16, world: &World) -> Value {
    json!({ "nic": status(nic, world)["nic"], "denials": world.bans[usize::from(nic)] })
}

fn metrics(nic: u16, world: &World, counts: &mut BTreeMap<String, (u64, u64)>) -> String {
    let mut rows = Vec::new();
    for plane in 0..PLANES {
        rows.push((format!("plane=\"{plane}\",tier=\"0\""), false));
        for uplink in 0..UPLINKS {
            let loses = world.loses == Some((plane, nic / 2, uplink));
            rows.push((format!("plane=\"{plane}\",tier=\"1\",uplink=\"{uplink}\""), loses));
        }
    }
    let mut text = String::new();
    for (labels, loses) in rows {
        let count = counts.entry(labels.clone()).or_default();
        *count = (count.0 + PROBES, count.1 + if loses { world.lost } else { 0 });
        let _ = writeln!(text, "closc_nic_probes_sent_total{{{labels}}} {}", count.0);
        let _ = writeln!(text, "closc_nic_probes_lost_total{{{labels}}} {}", count.1);
    }
    text
}

fn deny(nic: u16, world: &mut World, ban: &Value) -> Value {
    let bans = &mut world.bans[usize::from(nic)];
    let id = bans.iter().filter_map(|ban| ban["id"].as_u64()).max().unwrap_or(0) + 1;
    let mut ban = ban.clone();
    ban["id"] = json!(id);
    bans.push(ban);
    world.denied = Some(Instant::now());
    json!({ "id": id })
}

fn allow(nic: u16, world: &mut World, id: &Value) -> Value {
    world.bans[usize::from(nic)].retain(|ban| &ban["id"] != id);
    json!({ "ended": id })
}

/// Sends the same bytes to every client, in place of an agent.
pub(crate) fn speak(path: &Path, bytes: &[u8]) {
    let listener = UnixListener::bind(path).expect("a socket can be bound");
    let bytes = bytes.to_vec();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let bytes = bytes.clone();
            // Wait for the request. Otherwise the connection could be closed before the client reads the answer.
            std::thread::spawn(move || {
                let Ok(own) = stream.try_clone() else { return };
                for _ in BufReader::new(own).lines().map_while(Result::ok) {
                    let _ = stream.write_all(&bytes);
                }
            });
        }
    });
}

/// Waits for a condition that must become true. The time limit allows for slow machines.
pub(crate) fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    for _ in 0..3000 {
        if holds() {
            return;
        }
        std::thread::sleep(Duration::from_millis(40));
    }
    panic!("it never came that {what}");
}
