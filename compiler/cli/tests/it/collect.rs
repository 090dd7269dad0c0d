//! `closc collect` with agents on Unix sockets: its verdicts, its orders to agents, its state after a kill, and its
//! behaviour with dead or hostile sources.

mod agents;
mod page;
mod power;

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use agents::{Agents, eventually};

use crate::common;

const FABRIC: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../topologies/lab/eight-planes.yaml");

/// A collector that is killed on drop.
struct Collector {
    child: Child,
    address: SocketAddr,
}

impl Drop for Collector {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Collector {
    fn start(folder: &Path, more: &[&str]) -> Collector {
        Collector::start_at(folder, folder, more)
    }

    /// Starts a collector with its files in one folder, and with the agents at the sockets in another.
    fn start_at(folder: &Path, agents: &Path, more: &[&str]) -> Collector {
        let mut child = Command::new(env!("CARGO_BIN_EXE_closc"))
            .args(["collect", FABRIC, "--listen", "127.0.0.1:0"])
            .args(if more.contains(&"--poll") { &[][..] } else { &["--poll", "100"] })
            .args(["--state", folder.join("state.json").to_str().expect("a path is text")])
            .args(["--audit-log", folder.join("audit.log").to_str().expect("a path is text")])
            .args(["--nic", &format!("{}/*.sock", agents.display())])
            .args(more)
            .stderr(Stdio::piped())
            .spawn()
            .expect("it starts");
        let mut lines = BufReader::new(child.stderr.take().expect("it is piped")).lines();
        let mut said = Vec::new();
        let served = lines.by_ref().map_while(Result::ok).find_map(|line| {
            let address = line.strip_prefix("serving http://").map(str::to_owned);
            said.push(line);
            address?.trim_end_matches('/').parse().ok()
        });
        // The collector would block if its later output were not read.
        std::thread::spawn(move || lines.for_each(drop));
        Collector { address: served.unwrap_or_else(|| panic!("it does not serve: {said:?}")), child }
    }

    fn ask(&self, request: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(self.address).expect("it listens");
        stream.set_read_timeout(Some(Duration::from_mins(1))).expect("a timeout can be set");
        // The collector may reject a request before it has been sent completely.
        let _ = stream.write_all(request.as_bytes());
        let mut answer = String::new();
        let _ = stream.read_to_string(&mut answer);
        let status = answer.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
        (status, answer.split_once("\r\n\r\n").map(|(_, body)| body.to_owned()).unwrap_or_default())
    }

    fn get(&self, path: &str) -> (u16, String) {
        self.ask(&format!("GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"))
    }

    fn summary(&self) -> Value {
        serde_json::from_str(&self.get("/api/summary").1).expect("it is JSON")
    }

    /// Verdicts, and denials with their stages.
    fn says(&self) -> (Vec<String>, Vec<(String, String)>) {
        let summary = self.summary();
        let text = |value: &Value, name: &str| value[name].as_str().unwrap_or_default().to_owned();
        let list = |name: &str| summary[name].as_array().cloned().unwrap_or_default();
        let verdicts = list("verdicts").iter().map(|v| text(v, "element")).collect();
        (verdicts, list("denials").iter().map(|d| (text(d, "element"), text(d, "stage"))).collect())
    }
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a folder can be made")
}

#[test]
fn a_dry_run_names_what_is_broken_and_denies_nothing() {
    let folder = folder();
    let agents = Agents::start(folder.path());
    let collector = Collector::start(folder.path(), &["--good-probes", "100"]);
    eventually("all agents answer", || collector.summary()["agents"]["speaking"] == 8);
    agents.lose("p3-t0-002--p3-t1-004", 2);
    let cable = "p3-t0-002--p3-t1-004".to_owned();
    let wanted = (vec![cable.clone()], vec![(cable, "proposed".to_owned())]);
    eventually("it is named", || collector.says() == wanted);
    let line = collector.summary()["verdicts"][0]["line"].as_str().unwrap_or_default().to_owned();
    assert!(line.starts_with("cable p3-t0-002--p3-t1-004, ") && line.contains("% loss since"), "{line}");
    assert_eq!(agents.bans(), [0; 8]);
    let metrics = collector.get("/metrics").1;
    assert!(metrics.contains("closc_collect_verdicts{kind=\"gray\"} 1\n"), "{metrics}");
    agents.lose_nothing();
    eventually("it is good again", || collector.says() == (Vec::new(), Vec::new()));
}

#[test]
fn what_is_applied_reaches_every_agent_and_is_logged_before() {
    let folder = folder();
    let agents = Agents::start(folder.path());
    let collector =
        Collector::start(folder.path(), &["--apply", "--plane-share", "20", "--good-probes", "100"]);
    eventually("all agents answer", || collector.summary()["agents"]["speaking"] == 8);
    agents.lose("p1-t0-003--p1-t1-001", 20);
    eventually("every agent denies it", || agents.bans() == [1; 8]);
    agents.lose_nothing();
    eventually("no agent denies it", || agents.bans() == [0; 8]);
    let log = std::fs::read_to_string(folder.path().join("audit.log")).expect("it is there");
    let words: Vec<&str> = ["begun", "changing", "changed"]
        .into_iter()
        .filter(|word| log.contains(&format!("\"result\":\"{word}\"")))
        .collect();
    assert_eq!(words, ["begun", "changing", "changed"]);
    assert!(log.contains("\"stage\":\"applied\"") && log.contains("\"stage\":\"returned\""), "{log}");
    let second = Command::new(env!("CARGO_BIN_EXE_closc"))
        .args(["collect", FABRIC, "--nic", "/nowhere", "--listen", "127.0.0.1:0", "--for", "1"])
        .args(["--state", folder.path().join("state.json").to_str().expect("a path is text")])
        .output()
        .expect("it starts");
    let said = String::from_utf8_lossy(&second.stderr);
    assert!(said.contains("another collector uses the state"), "{said}");
}

/// Kills the collector repeatedly at arbitrary moments. At the end, every agent denies exactly the paths in the state
/// file. `CLOSC_KILLS=100` tries more moments.
#[test]
fn no_kill_forgets_or_invents_a_denial() {
    let folder = folder();
    let agents = Agents::start(folder.path());
    let cables = ["p1-t0-003--p1-t1-001", "p5-t0-001--p5-t1-002"];
    let kills = common::kills(12);
    for round in 0..kills {
        agents.lose(cables[round as usize % 2], 20);
        let mut collector =
            Collector::start(folder.path(), &["--apply", "--plane-share", "20", "--deny-for", "600"]);
        std::thread::sleep(Duration::from_millis(150) + common::moment(round, Duration::from_millis(1300)));
        collector.child.kill().expect("it runs");
    }
    agents.lose_nothing();
    let collector = Collector::start(folder.path(), &["--apply", "--good-probes", "1000000"]);
    eventually("agents and the state agree", || {
        let (_, denials) = collector.says();
        let applied = denials.iter().filter(|(_, stage)| stage == "applied").count();
        agents.bans() == [applied; 8]
    });
    let left = std::fs::read_dir(folder.path()).expect("it is a folder").flatten();
    let left: Vec<PathBuf> = left
        .map(|entry| entry.path())
        .filter(|path| path.display().to_string().contains("closc-new"))
        .collect();
    assert!(left.is_empty(), "{left:?}");
    let log = folder.path().join("audit.log");
    let verified = Command::new(env!("CARGO_BIN_EXE_closc")).args(["audit", "verify"]).arg(&log).output();
    let verified = verified.expect("closc runs");
    println!("{kills} kills of a collector: {}", String::from_utf8_lossy(&verified.stdout));
    assert!(verified.status.success(), "{}", String::from_utf8_lossy(&verified.stderr));
}

#[test]
fn a_dead_or_hostile_source_costs_only_itself() {
    let folder = folder();
    let agents = Agents::start(folder.path());
    let long = vec![b'x'; 3 << 20];
    let hostile: [&[u8]; 6] = [
        b"\n",
        b"\xff\xfe\n",
        b"{\"error\":\"no\"}\n",
        b"{}\n{}\n",
        b"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[\n",
        &long,
    ];
    for (at, bytes) in hostile.iter().enumerate() {
        agents::speak(&folder.path().join(format!("hostile-{at}.sock")), bytes);
    }
    // One socket that accepts connections but never answers, and one without a listener.
    let _silent = UnixListener::bind(folder.path().join("silent.sock")).expect("it can be bound");
    drop(UnixListener::bind(folder.path().join("dead.sock")).expect("it can be bound"));
    let collector = Collector::start(folder.path(), &[]);
    eventually("all others are known", || collector.summary()["agents"]["speaking"] == 8);
    eventually("the others fail", || collector.summary()["agents"]["failing"].as_u64() >= Some(7));
    agents.lose("p3-t0-002--p3-t1-004", 2);
    eventually("it is named", || collector.says().0 == ["p3-t0-002--p3-t1-004"]);
    let sources = collector.get("/api/sources").1;
    assert!(sources.contains("its answer has more than 2097152 bytes"), "{sources}");
    assert!(
        sources.contains("it rejects the request: no") && sources.contains("Connection refused"),
        "{sources}"
    );
}

/// Regression: the first agent that claimed a NIC was trusted. An impostor locked out the real agent, and caused
/// denials of cables.
#[test]
fn an_impostor_is_not_believed_and_a_binding_names_the_agent() {
    let folder = folder();
    let _agents = Agents::start(folder.path());
    Agents::impostor(&folder.path().join("impostor.sock"), 0);
    let collector = Collector::start(folder.path(), &["--apply", "--plane-share", "30"]);
    eventually("both claims are found", || collector.summary()["agents"]["contested"] == 1);
    eventually("the others answer", || collector.summary()["agents"]["speaking"] == 7);
    let alarm = collector.summary()["alarms"][0].as_str().unwrap_or_default().to_owned();
    assert!(alarm.contains("`su001-n001/nic0`") && alarm.contains("impostor.sock"), "{alarm}");
    assert!(collector.get("/metrics").1.contains("closc_collect_nics_contested 1\n"));
    assert_eq!(collector.says(), (Vec::new(), Vec::new()), "neither counts");
    drop(collector);
    let bound = format!("su001-n001/nic0={}", folder.path().join("0.sock").display());
    let collector = Collector::start(folder.path(), &["--nic", &bound]);
    eventually("all agents answer", || collector.summary()["agents"]["speaking"] == 8);
    eventually("the impostor is refused", || {
        collector.get("/api/sources").1.contains("`su001-n001/nic0`, which is bound to the agent at")
    });
    assert_eq!(collector.summary()["agents"]["contested"], 0);
    for (text, why) in [
        ("su999-n001/nic0=/x", "is not a NIC of `eight-planes`"),
        ("su001-n001/nic0=/x/*", "a pattern cannot be bound"),
        ("su001-n001/nic0=", "needs one path"),
    ] {
        let output = Command::new(env!("CARGO_BIN_EXE_closc"))
            .args(["collect", FABRIC, "--nic", text, "--listen", "127.0.0.1:0", "--for", "1"])
            .output()
            .expect("it starts");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(said.contains(why), "{said}");
    }
}

#[test]
fn silence_of_all_agents_is_a_failure() {
    let looked = Command::new(env!("CARGO_BIN_EXE_closc"))
        .args(["collect", FABRIC, "--nic", "/nowhere/*.sock", "--listen", "127.0.0.1:0", "--for", "1"])
        .output()
        .expect("it starts");
    let said = String::from_utf8_lossy(&looked.stderr);
    assert!(looked.status.code() == Some(1) && said.contains("no agent answers"), "{said}");
}

/// Cables without probes may be broken, and a short time shows no fault, so neither is reported as healthy.
#[test]
fn what_is_not_checked_is_not_reported_as_healthy() {
    let folder = folder();
    let _agents = Agents::start(folder.path());
    for (sockets, times, code, wanted) in [
        ("*", ["--poll", "100", "--for", "3"], 0, "0 broken; 8 of 8 agents answer\n"),
        ("[0-3]", ["--poll", "100", "--for", "3"], 1, "0 broken; 4 of 8 agents answer; "),
        ("*", ["--poll", "1000", "--for", "3"], 1, "use `--for 5` or more"),
    ] {
        let pattern = format!("{}/{sockets}.sock", folder.path().display());
        let looked = Command::new(env!("CARGO_BIN_EXE_closc"))
            .args(["collect", FABRIC, "--nic", &pattern, "--listen", "127.0.0.1:0"])
            .args(times)
            .output()
            .expect("it starts");
        let said = String::from_utf8_lossy(&[looked.stdout, looked.stderr].concat()).into_owned();
        assert!(looked.status.code() == Some(code) && said.contains(wanted), "{sockets} {times:?}: {said}");
        assert_eq!(said.contains(" cables not checked"), sockets != "*", "{said}");
    }
}

#[test]
fn no_request_is_served_that_should_not_be() {
    let folder = folder();
    let collector = Collector::start(folder.path(), &[]);
    let long = format!("GET /{} HTTP/1.1\r\n", "x".repeat(9000));
    let name = "GET /metrics HTTP/1.1\r\nHost: evil.example\r\n\r\n";
    for (request, status) in [
        ("GET /metrics HTTP/1.1\r\nHost: localhost:9561\r\n\r\n", 200),
        ("HEAD /api/summary HTTP/1.1\r\nHost: [::1]:9561\r\n\r\n", 200),
        ("GET / HTTP/1.1\r\n\r\n", 404),
        ("GET /../../etc/passwd HTTP/1.1\r\n\r\n", 404),
        ("DELETE / HTTP/1.1\r\n\r\n", 405),
        ("malformed\r\n\r\n", 400),
        ("POST /drain HTTP/1.1\r\nContent-Length: 99999\r\n\r\n", 413),
        ("POST /drain HTTP/1.1\r\nContent-Length: -1\r\n\r\n", 400),
        ("POST /drain HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", 501),
        (name, 421),
        (&long, 431),
    ] {
        assert_eq!(collector.ask(request).0, status, "{request:.80}");
    }
    assert_eq!(collector.get("/healthz").1, "ok\n");
}

fn post(collector: &Collector, path: &str, more: &str, body: &str) -> (u16, String) {
    let kind = "Content-Type: application/json\r\n";
    let length = body.len();
    collector.ask(&format!(
        "POST {path} HTTP/1.1\r\nHost: localhost\r\n{kind}{more}Content-Length: {length}\r\n\r\n{body}"
    ))
}

/// The token in the file next to the state file.
fn token(folder: impl AsRef<Path>) -> String {
    let text =
        std::fs::read_to_string(folder.as_ref().join("state.json.token")).expect("the collector made it");
    text.trim().to_owned()
}

/// Regression: a local user, or a scraper with a certificate, could read the token from the page and drain elements.
/// The log then named the collector's user.
#[test]
fn readers_of_the_page_do_not_order_and_the_log_names_the_operator() {
    let folder = folder();
    let collector = Collector::start(folder.path(), &["--web", "--apply", "--plane-share", "30"]);
    let session: Value = serde_json::from_str(&collector.get("/api/session").1).expect("it is JSON");
    let found = session["token"].as_str().unwrap_or_default().to_owned();
    let order = |token: &str| format!(r#"{{"token":"{token}","name":"p0-t1-001","why":"new optics"}}"#);
    let (status, why) = post(&collector, "/api/drain", "", &order(&found));
    assert!(status == 403 && why.contains("state.json.token"), "{status} {why}");
    assert_eq!(post(&collector, "/api/drain", "", &order(&token(&folder))).0, 200);
    let log = std::fs::read_to_string(folder.path().join("audit.log")).expect("it is there");
    let lines = log.lines().map(|line| serde_json::from_str::<Value>(line).expect("a line of JSON"));
    let ordered = lines.map(|line| line["details"]["ordered-by"].clone()).find(Value::is_object);
    let ordered = ordered.expect("the log names the operator");
    let own = std::os::unix::fs::MetadataExt::uid(&std::fs::metadata("/proc/self").expect("it is mounted"));
    assert!(ordered["address"].as_str().is_some_and(|from| from.starts_with("127.0.0.1:")), "{ordered}");
    assert_eq!((&ordered["authority"], &ordered["reason"]), (&"token".into(), &"new optics".into()));
    assert_eq!(ordered["uid"], own);
}

/// `/healthz` reports that the log fails. Regression: it answered 200, and a drain could not be lifted.
#[test]
fn a_log_that_fails_refuses_drains_and_no_lift_and_shows() {
    let folder = folder();
    let _agents = Agents::start(folder.path());
    let collector = Collector::start(folder.path(), &["--web", "--apply", "--plane-share", "30"]);
    eventually("all agents answer", || collector.summary()["agents"]["speaking"] == 8);
    let token = token(&folder);
    let order =
        |path: &str, field: &str| post(&collector, path, "", &format!(r#"{{"token":"{token}",{field}}}"#));
    assert_eq!(order("/api/drain", r#""name":"p0-t1-001""#).0, 200);
    let log = folder.path().join("audit.log");
    std::fs::rename(&log, folder.path().join("old")).expect("it is ours");
    std::os::unix::fs::symlink("elsewhere", &log).expect("a link");
    let (status, why) = order("/api/drain", r#""name":"p1-t1-001""#);
    assert!(status == 503 && why.contains("the audit log cannot be written, so nothing is changed"), "{why}");
    let health = collector.get("/healthz");
    assert_eq!(health, (503, "the audit log cannot be written\n".to_owned()));
    let metrics = collector.get("/metrics").1;
    assert!(metrics.contains("closc_audit_failing 1\n"), "{metrics}");
    assert_eq!(order("/api/lift", r#""id":1"#).0, 200, "a denial can always end");
    std::fs::remove_file(&log).expect("it is ours");
    assert_eq!(order("/api/drain", r#""name":"p2-t1-001""#).0, 200);
    assert_eq!(collector.get("/healthz").0, 200);
}

#[test]
fn only_the_own_page_orders_and_only_where_denials_are_applied() {
    let folder = folder();
    let dry = Collector::start(folder.path(), &["--web"]);
    let drain = |token: &str| format!(r#"{{"token":"{token}","name":"p0-t1-001","minutes":5}}"#);
    assert_eq!(post(&dry, "/api/drain", "", &drain("0")).0, 403);
    drop(dry);
    let collector = Collector::start(folder.path(), &["--web", "--apply", "--plane-share", "30"]);
    let good = drain(&token(&folder));
    assert_eq!(post(&collector, "/api/drain", "", &drain("0")).0, 403);
    assert_eq!(post(&collector, "/api/drain", "Origin: http://evil.example\r\n", &good).0, 403);
    assert_eq!(post(&collector, "/api/drain", "", "{").0, 400);
    let name = good.replace("p0-t1-001", "plane 3");
    let (status, why) = post(&collector, "/api/drain", "", &name);
    assert!(status == 409 && why.contains("100 % of plane 3 would be denied"), "{why}");
    let (status, changes) = post(&collector, "/api/drain", "Origin: http://localhost\r\n", &good);
    assert!(status == 200 && changes.contains("\"applied\""), "{changes}");
    assert_eq!(post(&collector, "/api/drain", "", &good).0, 409);
    let lift = format!(r#"{{"token":"{}","id":1}}"#, token(&folder));
    assert_eq!(post(&collector, "/api/lift", "", &lift).0, 200);
}

/// Every answer names its document and fits its schema; every collector schema in `docs/schemas` is tested.
#[test]
fn every_answer_fits_its_schema() {
    let folder = folder();
    let collector = Collector::start(folder.path(), &["--web", "--apply", "--plane-share", "30"]);
    let mut served = std::collections::BTreeSet::new();
    let mut compare = |text: &str| {
        let document: Value = serde_json::from_str(text).expect("an answer is JSON");
        common::schemas::compare(&document);
        let name = document["schema"].as_str().expect("it says which it is");
        served.insert(format!("{}.json", name.replace('/', "-")));
    };
    for path in [
        "/api/summary",
        "/api/sources",
        "/api/plane?plane=0",
        "/api/cables?of=p0-t0-001",
        "/api/paths?from=su001-n001/nic0&to=su002-n001/nic0",
        "/api/decode?address=fd00:c105:1:1::1",
        "/api/session",
    ] {
        let (status, text) = collector.get(path);
        assert_eq!(status, 200, "{path}: {text}");
        compare(&text);
    }
    for path in ["/api/plane?plane=99", "/api/none"] {
        let (status, text) = collector.get(path);
        assert_eq!(status, 404, "{path}: {text}");
        compare(&text);
    }
    let order = format!(r#"{{"token":"{}","name":"p0-t1-001","minutes":5}}"#, token(&folder));
    compare(&post(&collector, "/api/drain", "", &order).1);
    let schemas =
        std::fs::read_dir(common::root().join("docs/schemas")).expect("the folder is there").flatten();
    let names = schemas.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let left: Vec<String> =
        names.filter(|name| name.starts_with("closc-collect-") && !served.contains(name)).collect();
    assert!(left.is_empty(), "{left:?}");
}

/// A drain by a user reaches every agent immediately, with and without a collector. This collector polls only every
/// ten minutes.
#[test]
fn a_drain_waits_for_no_turn() {
    let folder = folder();
    let agents = Agents::start(folder.path());
    let fabric = folder.path().join("fabric.yaml");
    std::fs::copy(FABRIC, &fabric).expect("it can be copied");
    let sockets = format!("{}/*.sock", folder.path().display());
    let run = |verb: &str, name: &str, more: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_closc"))
            .args([verb, name, fabric.to_str().expect("a path is text"), "--write"])
            .args(more)
            .output()
            .expect("it starts");
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (code, said) = run("drain", "plane 3", &["--nic", &sockets]);
    assert!(said.contains("8 of 8 agents use no path over `plane 3`"), "{said}");
    assert_eq!((code, agents.bans()), (Some(0), [1; 8]));
    let (code, said) = run("undrain", "plane 3", &["--nic", &sockets]);
    assert_eq!((code, agents.bans()), (Some(0), [0; 8]), "{said}");
    let (code, said) = run("drain", "plane 3", &["--nic", "/nowhere/*.sock"]);
    assert_eq!(code, Some(1));
    assert!(said.contains("`--nic` does not name a socket"), "{said}");
    let collector =
        Collector::start(folder.path(), &["--apply", "--web", "--plane-share", "30", "--poll", "600000"]);
    eventually("all agents answer", || collector.summary()["agents"]["speaking"] == 8);
    let address = collector.address.to_string();
    let secret = folder.path().join("state.json.token").display().to_string();
    // The delay until the denial takes effect is printed but not checked, because the machine may be busy.
    let order = format!(r#"{{"token":"{}","name":"p0-t1-002","minutes":5}}"#, token(&folder));
    let began = Instant::now();
    let (status, changes) = post(&collector, "/api/drain", "", &order);
    assert_eq!(status, 200, "{changes}");
    eventually("every agent denies it", || agents.bans() == [1; 8]);
    println!(
        "a denial of the collector: every agent has it {:?} after the order",
        agents.denial_delay(began)
    );
    let lift = format!(r#"{{"token":"{}","id":1}}"#, token(&folder));
    assert_eq!(post(&collector, "/api/lift", "", &lift).0, 200);
    eventually("no agent denies it", || agents.bans() == [0; 8]);
    let began = Instant::now();
    let (code, said) = run("drain", "p0-t1-001", &["--collector", &address, "--token", &secret]);
    assert!(said.contains("denies `p0-t1-001`"), "{said}");
    assert_eq!(code, Some(0));
    eventually("every agent denies it", || agents.bans() == [1; 8]);
    println!("`closc drain`: every agent has it {:?} after its start", agents.denial_delay(began));
    assert_eq!(run("undrain", "p0-t1-001", &["--collector", &address, "--token", &secret]).0, Some(0));
    eventually("no agent denies it", || agents.bans() == [0; 8]);
}

/// A drain that the collector rejects is not written to the file, because later path tables would apply it. If a drain
/// cannot be written to the file, hosts roll it back.
#[test]
fn hosts_and_the_file_agree_whoever_refuses() {
    let folder = folder();
    let fabric = folder.path().join("fabric.yaml");
    std::fs::copy(FABRIC, &fabric).expect("it can be copied");
    let agents = Agents::start(folder.path());
    let collector =
        Collector::start(folder.path(), &["--apply", "--web", "--plane-share", "30", "--poll", "600000"]);
    eventually("all agents answer", || collector.summary()["agents"]["speaking"] == 8);
    let address = collector.address.to_string();
    let secret = folder.path().join("state.json.token").display().to_string();
    let run = |limits: &str, [verb, name]: [&str; 2], to: &[&str]| {
        let output = Command::new("sh")
            .args(["-c", &format!("{limits} exec \"$@\""), "sh", env!("CARGO_BIN_EXE_closc"), verb, name])
            .args([fabric.to_str().expect("a path is text"), "--write"])
            .args(to)
            .output()
            .expect("it starts");
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let is_whole =
        || std::fs::read(&fabric).expect("it is there") == std::fs::read(FABRIC).expect("it is there");
    let (code, said) = run("", ["drain", "plane 3"], &["--collector", &address, "--token", &secret]);
    assert_eq!(code, Some(1), "{said}");
    assert!(
        said.contains("fabric.yaml` is unchanged: the collector at") && said.contains("100 % of plane 3"),
        "{said}"
    );
    assert!(is_whole());
    let (_, said) = run("", ["drain", "plane 3"], &["--nic", "/nowhere/*.sock"]);
    assert!(said.contains("is unchanged: no agent was asked") && is_whole(), "{said}");
    // Files cannot grow, and the signal for exceeding the limit is ignored.
    let full = "trap '' XFSZ; ulimit -f 0;";
    let (code, said) = run(full, ["drain", "p0-t1-001"], &["--collector", &address, "--token", &secret]);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("denies `p0-t1-001`") && said.contains("lifts `p0-t1-001`"), "{said}");
    assert!(said.contains("cannot write") && is_whole(), "{said}");
    eventually("no agent denies it", || agents.bans() == [0; 8]);
    // The failed drain did not leave state, so the element can be drained.
    assert_eq!(run("", ["drain", "p0-t1-001"], &["--collector", &address, "--token", &secret]).0, Some(0));
    assert!(!is_whole());
}

/// Other machines are served only with mutual TLS, unless the user disables this.
#[test]
fn nobody_else_is_served_in_the_clear() {
    let folder = folder();
    let file = |name: &str| folder.path().join(name).display().to_string();
    let ours = closc_runtime::testing::Authority::new("ours");
    let shown = ours.issue("collect.example", closc_runtime::testing::Validity::Now);
    std::fs::write(file("cert.pem"), &shown.certificate).expect("it can be written");
    std::fs::write(file("key.pem"), &shown.key).expect("it can be written");
    std::fs::write(file("ca.pem"), ours.certificate()).expect("it can be written");
    let says = |listen: &str, more: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_closc"))
            .args(["collect", FABRIC, "--nic", "/nowhere", "--for", "1", "--listen", listen])
            .args(more)
            .output()
            .expect("it starts");
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    let (cert, key, ca) = (file("cert.pem"), file("key.pem"), file("ca.pem"));
    let identity = ["--tls-cert", &cert, "--tls-key", &key];
    let all = [&identity[..], &["--tls-client-ca", &ca]].concat();
    assert!(
        says("0.0.0.0:0", &[]).contains("is reachable from other machines, but the service has no passwords")
    );
    let open = |mode| {
        let rights = std::os::unix::fs::PermissionsExt::from_mode(mode);
        std::fs::set_permissions(file("key.pem"), rights).expect("it is ours");
    };
    open(0o644);
    assert!(says("0.0.0.0:0", &all).contains("is a private key that other users can read or write"));
    open(0o600);
    assert!(says("0.0.0.0:0", &identity).contains("set `--tls-client-ca` to the CA of permitted clients"));
    assert!(says("127.0.0.1:0", &identity).contains("serving https://127.0.0.1:"));
}
