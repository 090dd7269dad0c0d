//! A watch repairs every change, reports the state of switches, and has a standby that takes over.

use std::net::SocketAddr;
use std::time::Duration;

use closc_deploy::{Fleet, Role, Watch, WatchOptions, silent};
use closc_runtime::ElectionId;
use closc_runtime::testing::{Script, WriteFault};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::support::{Lab, PATIENCE, T0, eventually, live_entities, options, small_tree, stray};

fn watch_options() -> WatchOptions {
    let listen = Some(SocketAddr::from(([127, 0, 0, 1], 0)));
    WatchOptions { push: options(), interval: Duration::from_millis(20), listen, ..WatchOptions::default() }
}

async fn start_watch(fleet: &Fleet) -> Watch {
    Watch::start(fleet, watch_options(), silent()).await.expect("loopback has a port")
}

async fn in_sync(watch: &Watch) {
    eventually("everything is in sync", || {
        let status = watch.status();
        status.is_good() && status.devices.values().all(|device| device.in_sync)
    })
    .await;
}

async fn wait_for_repair(lab: &Lab) {
    eventually("the switch holds what is wanted", || live_entities(lab.target()) == lab.target_entities(T0))
        .await;
}

#[tokio::test]
async fn a_watch_pushes_and_keeps_it_so() {
    let lab = Lab::start(small_tree(2, 2, 2)).await;
    let watch = start_watch(&lab.fleet()).await;
    in_sync(&watch).await;
    for (name, target) in &lab.targets {
        assert_eq!(live_entities(target), lab.target_entities(name));
    }
    let status = watch.stop().await;
    assert!(status.devices.values().all(|device| device.repairs == 1 && device.pipelines_set == 1));
}

#[tokio::test]
async fn foreign_writes_are_undone() {
    let lab = Lab::one().await;
    let watch = start_watch(&lab.fleet()).await;
    in_sync(&watch).await;
    lab.target().plant((0..5).map(stray));
    wait_for_repair(&lab).await;
    eventually("it is counted", || watch.status().devices[T0].updates.delete == 5).await;
}

#[tokio::test]
async fn a_repair_is_a_line_of_the_log() {
    let lab = Lab::one().await;
    let (sender, lines) = std::sync::mpsc::channel();
    let observer: closc_deploy::Observer = std::sync::Arc::new(move |event: closc_deploy::Event| {
        if let Some(line) = event.line() {
            // The test that receives it may have ended.
            let _ = sender.send(line);
        }
        Ok(())
    });
    let watch = Watch::start(&lab.fleet(), watch_options(), observer).await.expect("loopback has a port");
    in_sync(&watch).await;
    lab.target().plant((0..5).map(stray));
    wait_for_repair(&lab).await;
    eventually("it is counted", || watch.status().devices[T0].updates.delete == 5).await;
    watch.stop().await;
    let lines: Vec<String> = lines.try_iter().collect();
    let expected = format!("{T0}: differs: 0 to insert, 0 to modify, 5 to delete");
    assert!(lines.contains(&expected), "{lines:#?}");
    assert!(
        lines.iter().any(|line| line.starts_with(&format!("{T0}: repaired with 5 updates"))),
        "{lines:#?}"
    );
}

#[tokio::test]
async fn a_reboot_is_found_at_once() {
    let lab = Lab::one().await;
    let slow = WatchOptions { interval: Duration::from_hours(1), ..watch_options() };
    let watch = Watch::start(&lab.fleet(), slow, silent()).await.expect("loopback has a port");
    in_sync(&watch).await;
    lab.target().restart();
    wait_for_repair(&lab).await;
    let other = closc_runtime::client::Pipeline::new(crate::support::info().clone(), "another".into());
    lab.target().restart_with(&other);
    wait_for_repair(&lab).await;
    eventually("both were seen", || watch.status().devices[T0].pipelines_set == 3).await;
}

#[tokio::test]
async fn a_switch_that_is_away_comes_back() {
    let mut lab = Lab::one().await;
    let fleet = lab.fleet();
    let watch = start_watch(&fleet).await;
    in_sync(&watch).await;
    lab.targets.get_mut(T0).expect("there").down().await;
    eventually("it is missed", || watch.status().devices[T0].role == Role::Away).await;
    let fault = watch.status().devices[T0].fault.as_ref().map(ToString::to_string).expect("a reason");
    assert!(!fault.is_empty());
    assert!(!watch.status().is_good());
    lab.targets.get_mut(T0).expect("there").up().await.expect("the port is free");
    in_sync(&watch).await;
}

#[tokio::test]
async fn faults_are_overcome_one_after_the_other() {
    let lab = Lab::one().await;
    lab.script(
        Script::default()
            .write_fault(0, WriteFault::Disconnect { after_updates: 3 })
            .write_fault(1, WriteFault::FailWithoutDetails)
            .write_fault(2, WriteFault::WrongDetails)
            .refuse(40, tonic::Code::Internal, "not now"),
    );
    let watch = start_watch(&lab.fleet()).await;
    in_sync(&watch).await;
    assert_eq!(live_entities(lab.target()), lab.target_entities(T0));
    assert!(watch.status().devices[T0].failures >= 3);
}

#[tokio::test]
async fn a_lost_primacy_is_waited_for() {
    let lab = Lab::one().await;
    let watch = start_watch(&lab.fleet()).await;
    in_sync(&watch).await;
    let rival = rival(&lab, ElectionId(500)).await;
    eventually("it stands by", || watch.status().devices[T0].role == Role::StandingBy).await;
    assert!(watch.status().is_good(), "another controller takes care");
    lab.target().plant([stray(1)]);
    drop(rival);
    // There is no primary any more: the watch takes over and finds the other controller's changes.
    in_sync(&watch).await;
    wait_for_repair(&lab).await;
}

async fn rival(lab: &Lab, election: ElectionId) -> closc_runtime::client::Session {
    use closc_runtime::client::{Client, Controller, Options, Session};
    let endpoint = lab.target().endpoint().expect("an address");
    let client =
        Client::connect(&endpoint, closc_runtime::DeviceId(1), Options::default()).await.expect("it listens");
    Session::open(client, Controller::new(election)).await.expect("a stream")
}

/// The same fleet for a controller with another election id.
fn with_election(lab: &Lab, election: u64) -> Fleet {
    let mut lab = Lab {
        files: lab.files.clone(),
        targets: std::collections::BTreeMap::new(),
        inventory: lab.inventory.clone(),
    };
    lab.inventory.defaults.election_id = Some(election);
    lab.fleet()
}

#[tokio::test]
async fn a_standby_takes_over_when_the_leader_dies() {
    let lab = Lab::start(small_tree(2, 1, 1)).await;
    let leader = start_watch(&with_election(&lab, 200)).await;
    in_sync(&leader).await;
    let standby = start_watch(&with_election(&lab, 100)).await;
    let all = |watch: &Watch, role: Role| watch.status().devices.values().all(|device| device.role == role);
    eventually("the second one stands by", || all(&standby, Role::StandingBy)).await;
    assert!(all(&leader, Role::Leading) && standby.status().is_good());
    // The leader ends without closing its streams.
    drop(leader);
    in_sync(&standby).await;
    assert!(all(&standby, Role::Leading));
    lab.target().plant([stray(3)]);
    wait_for_repair(&lab).await;
    // The first one returns with its old id and stands by in turn.
    let back = start_watch(&with_election(&lab, 200)).await;
    eventually("it stands by", || all(&back, Role::StandingBy)).await;
    assert!(all(&standby, Role::Leading));
    // It takes over when the other one stops gracefully.
    standby.stop().await;
    in_sync(&back).await;
    assert!(all(&back, Role::Leading));
}

#[tokio::test]
async fn of_three_exactly_one_leads() {
    let lab = Lab::one().await;
    let mut watches = Vec::new();
    for election in [30, 20, 10] {
        watches.push(start_watch(&with_election(&lab, election)).await);
    }
    while !watches.is_empty() {
        let roles = |watches: &[Watch], role: Role| {
            watches.iter().filter(|watch| watch.status().devices[T0].role == role).count()
        };
        let one_leads =
            || roles(&watches, Role::Leading) == 1 && watches.iter().all(|watch| watch.status().is_good());
        eventually("one leads, the others stand by", &one_leads).await;
        wait_for_repair(&lab).await;
        // Both standbys may have claimed primacy: no event comes between this check and the next.
        eventually("one still leads", one_leads).await;
        let leader = watches.iter().position(|watch| watch.status().devices[T0].role == Role::Leading);
        drop(watches.remove(leader.expect("one leads")));
    }
}

pub(crate) async fn get(address: SocketAddr, request: &str) -> String {
    let talk = async {
        let mut stream = tokio::net::TcpStream::connect(address).await?;
        stream.write_all(request.as_bytes()).await?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await?;
        Ok::<_, std::io::Error>(answer)
    };
    tokio::time::timeout(PATIENCE, talk).await.expect("it answers").expect("it answers whole")
}

#[tokio::test]
async fn metrics_and_health_are_served() {
    let mut lab = Lab::one().await;
    let watch = start_watch(&lab.fleet()).await;
    in_sync(&watch).await;
    let address = watch.address().expect("it was asked to listen");
    assert!(address.ip().is_loopback());
    let metrics = get(address, "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n").await;
    assert!(metrics.starts_with("HTTP/1.1 200 OK\r\ncontent-type: text/plain; version=0.0.4"), "{metrics}");
    assert!(metrics.contains("\nclosc_devices 1\n"), "{metrics}");
    assert!(metrics.contains("\nclosc_device_leading{device=\"p0-t0-001\",plane=\"0\"} 1\n"), "{metrics}");
    let n = lab.target_entities(T0).len();
    let inserts =
        format!("\nclosc_device_updates_total{{device=\"p0-t0-001\",plane=\"0\",kind=\"insert\"}} {n}\n");
    assert!(metrics.contains(&inserts), "{metrics}");
    let health = get(address, "GET /healthz?verbose HTTP/1.0\r\n\r\n").await;
    assert!(health.starts_with("HTTP/1.0 200 OK\r\n") && health.contains("\"healthy\": true"), "{health}");
    let head = get(address, "HEAD /healthz HTTP/1.1\r\n\r\n").await;
    assert!(head.ends_with("\r\n\r\n"), "{head}");
    for (request, status) in [
        ("GET / HTTP/1.1\r\n\r\n", "404"),
        ("POST /metrics HTTP/1.1\r\n\r\n", "405"),
        ("malformed\r\n\r\n", "400"),
        (&format!("GET /{} HTTP/1.1\r\n", "x".repeat(20_000)), "431"),
    ] {
        let answer = get(address, request).await;
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{answer}");
    }
    lab.targets.get_mut(T0).expect("there").down().await;
    eventually("it is missed", || !watch.status().is_good()).await;
    let health = get(address, "GET /healthz HTTP/1.1\r\n\r\n").await;
    assert!(health.starts_with("HTTP/1.1 503 ") && health.contains("\"device\": \"p0-t0-001\""), "{health}");
}

#[tokio::test]
async fn a_stop_ends_everything() {
    let lab = Lab::one().await;
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let fleet = lab.fleet();
    let until = async { drop(stopped.await) };
    let ended = tokio::spawn(async move {
        closc_deploy::watch(&fleet, WatchOptions { listen: None, ..watch_options() }, silent(), until).await
    });
    wait_for_repair(&lab).await;
    stop.send(()).expect("it waits");
    let status = tokio::time::timeout(PATIENCE, ended).await.expect("it ends").expect("no panic");
    assert_eq!(status.expect("nothing listens").devices[T0].role, Role::Away);
    // Primacy is vacant again.
    lab.converge().await;
}

/// A tree that is recompiled during a watch is a different target state, which has to be pushed.
#[tokio::test]
async fn a_watch_keeps_to_the_tree_it_was_started_with() {
    use std::sync::{Arc, Mutex};
    let lab = Lab::one().await;
    let files = Arc::new(Mutex::new(lab.files.clone()));
    let read = files.clone();
    let reader = Arc::new(move |path: &str| {
        let files = read.lock().expect("no test panics in here");
        files.get(path).cloned().ok_or_else(|| std::io::Error::from(std::io::ErrorKind::NotFound))
    });
    let tree = Arc::new(closc_deploy::Tree::open(reader.clone()).expect("right"));
    let fleet = Fleet::new(&lab.inventory, &*reader, &tree, |name| name == T0).expect("right");
    let watch = start_watch(&fleet).await;
    in_sync(&watch).await;
    files.lock().expect("no test panics in here").clear();
    lab.target().restart();
    wait_for_repair(&lab).await;
    in_sync(&watch).await;
}
