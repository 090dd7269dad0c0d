//! Pushes to SONiC switches over gNMI: a server on loopback that behaves as SONiC's does, including its pitfalls.

pub(crate) mod judge;
pub(crate) mod server;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use closc_deploy::{
    DeviceDrift, Event, EventKind, Fault, Fleet, FleetError, Inventory, Outcome, Plan, PushOptions,
    PushReport, Role, SonicOptions, Tree, Watch, WatchOptions, drift, open_gate, plan, push, silent,
};
use closc_runtime::testing::{Authority, GarbageServer, Validity};
use closc_sonic::{ConfigDb, Overlay};
use serde_json::Value;
use tonic::transport::{Certificate, Identity, ServerTlsConfig};

use crate::support::{Files, add_manifest, eventually, options, reader, single_attempt};
use server::GnmiSwitch;

/// Initial configuration of a switch: closc's part of an old tree, and the site's part.
const OLD: &str = r#"{
    "DEVICE_METADATA": { "localhost": { "hostname": "p0-t0-001", "hwsku": "x", "timezone": "UTC" } },
    "PORT": { "Ethernet0": { "admin_status": "up", "mtu": "1500", "tpid": "0x8100" } },
    "BUFFER_POOL": { "egress": { "size": "1" } },
    "MGMT_INTERFACE": { "eth0|192.0.2.1/24": { "gwaddr": "192.0.2.254" } },
    "STATIC_ROUTE": { "fd00:1::/48": { "nexthop": "fe80::1" }, "fd00:2::/48": { "nexthop": "fe80::1" } },
    "SWITCH_HASH": { "GLOBAL": { "ecmp_hash": ["DST_IP", "SRC_IP"] } },
    "SITE": { "empty": { "list": [] } },
    "TACPLUS": { "global": { "passkey": "not-a-secret" } }
}"#;

/// The tree's configuration.
const NEW: &str = r#"{
    "DEVICE_METADATA": { "localhost": { "hostname": "p0-t0-001", "hwsku": "x" } },
    "PORT": { "Ethernet0": { "admin_status": "up", "mtu": "9100" } },
    "BUFFER_POOL": { "egress": { "size": "1" } },
    "INTERFACE": { "Ethernet0": {}, "Ethernet0|2001:db8::1/127": {} },
    "MGMT_INTERFACE": { "eth0|192.0.2.1/24": { "gwaddr": "192.0.2.254" } },
    "STATIC_ROUTE": { "fd00:2::/48": { "nexthop": "fe80::2" }, "fd00:3::/48": { "nexthop": "fe80::2" } },
    "SWITCH_HASH": { "GLOBAL": { "ecmp_hash": ["DST_IP", "SRC_IP", "IN_PORT"] } }
}"#;

const NAME: &str = "p0-t0-001";

/// A tree of switches with equal configurations.
fn tree(names: &[&str], config: &str) -> Arc<Tree> {
    let mut files = Files::new();
    for name in names {
        files.insert(format!("switches/{name}/config_db.json"), config.as_bytes().to_vec());
    }
    add_manifest(&mut files);
    Arc::new(Tree::open(reader(files)).expect("the tree is right"))
}

/// One rule for each switch.
fn rules(switches: &BTreeMap<String, GnmiSwitch>, more: &str) -> Inventory {
    let rule = |(name, switch): (&String, &GnmiSwitch)| {
        let (plane, port) = (&name[1..2], switch.address.port());
        format!(
            "- {{ devices: '{name}', transport: sonic-gnmi, address: 127.0.0.1, port: {port}, plane: {plane}{more} }}\n"
        )
    };
    let text = format!("sonic:\n{}", switches.iter().map(rule).collect::<String>());
    let inventory = Inventory::parse(&text).expect("the inventory is right");
    assert_eq!(Inventory::parse(&inventory.to_json()).as_ref(), Ok(&inventory));
    inventory
}

fn of(switch: GnmiSwitch) -> BTreeMap<String, GnmiSwitch> {
    BTreeMap::from([(NAME.to_owned(), switch)])
}

fn fleet_of(
    inventory: &Inventory,
    beside: Files,
    config: &str,
    options: SonicOptions,
) -> Result<Fleet, FleetError> {
    Fleet::default().with_sonic(inventory, &*reader(beside), &tree(&[NAME], config), options, |_| true)
}

/// The fleet of one switch.
fn fleet(switches: &BTreeMap<String, GnmiSwitch>, config: &str) -> Fleet {
    fleet_of(&rules(switches, ""), Files::new(), config, SonicOptions::default()).expect("they go together")
}

async fn push_config(
    switches: &BTreeMap<String, GnmiSwitch>,
    config: &str,
    options: &PushOptions,
) -> PushReport {
    push(&fleet(switches, config), options, silent(), open_gate()).await
}

fn fault(report: &PushReport) -> &Fault {
    match &report.devices[NAME] {
        Outcome::Failed(fault) => fault,
        other => panic!("{other:?}"),
    }
}

fn config(value: &Value) -> ConfigDb {
    ConfigDb::parse(&value.to_string()).expect("right")
}

/// Checks that a switch has the configuration of tree and site, and would boot with it.
fn assert_good(switch: &GnmiSwitch, tree: &str, said: &dyn std::fmt::Debug) {
    let held = switch.lock();
    let (now, tree) = (config(&held.running), ConfigDb::parse(tree).expect("right"));
    assert_eq!(closc_sonic::owned_part(&now, &tree), tree, "{said:?}\n{:?}", held.calls);
    assert_eq!(now.text("TACPLUS", "global", "passkey"), Some("not-a-secret"));
    assert_eq!(now.text("PORT", "Ethernet0", "tpid"), Some("0x8100"));
    assert_eq!(now.text("DEVICE_METADATA", "localhost", "timezone"), Some("UTC"));
    assert_eq!(held.saved_config, held.running, "{said:?}\n{:?}", held.calls);
}

fn n_sets(switch: &GnmiSwitch) -> usize {
    switch.lock().calls.iter().filter(|call| *call == "Set").count()
}

#[tokio::test]
async fn a_push_brings_a_switch_to_the_tree_and_the_second_does_nothing() {
    let switches = of(GnmiSwitch::start(OLD, None));
    let switch = &switches[NAME];
    let shown = plan(&fleet(&switches, NEW), &options(), silent()).await.expect("it can be read").show();
    assert!(shown.contains("by one gNMI Set, saved at once, without rollback"), "{shown}");
    assert!(shown.contains("~ PORT|Ethernet0.mtu 9100"), "{shown}");
    let found = drift(&fleet(&switches, NEW), &options(), silent()).await;
    assert!(matches!(found.devices[NAME], DeviceDrift::Entries { .. }), "{found:?}");
    assert_eq!(n_sets(switch), 0, "looking changes nothing");
    let report = push_config(&switches, NEW, &single_attempt()).await;
    assert!(report.is_good(), "{report:?}");
    assert_eq!(report.updates().total(), 6, "{report:?}");
    assert_good(switch, NEW, &report);
    assert_eq!(n_sets(switch), 1);
    let again = push_config(&switches, NEW, &single_attempt()).await;
    assert!(again.is_good() && again.updates().total() == 0, "{again:?}");
    assert_eq!(n_sets(switch), 2, "it changes nothing, and has the switch save");
    assert_good(switch, NEW, &again);
    assert!(drift(&fleet(&switches, NEW), &options(), silent()).await.is_clean());
}

#[tokio::test]
async fn a_file_that_gnmi_does_not_carry_is_named_and_no_success() {
    let switches = of(GnmiSwitch::start(OLD, None));
    let mut files = Files::new();
    files.insert(format!("switches/{NAME}/config_db.json"), NEW.as_bytes().to_vec());
    files.insert(format!("switches/{NAME}/frr.conf"), b"router bgp 65001\n".to_vec());
    add_manifest(&mut files);
    let tree = Arc::new(Tree::open(reader(files)).expect("the tree is right"));
    let fleet = Fleet::default().with_sonic(
        &rules(&switches, ""),
        &*reader(Files::new()),
        &tree,
        SonicOptions::default(),
        |_| true,
    );
    let fleet = fleet.expect("they go together");
    let named = "`frr.conf` of 1 switch (first: `p0-t0-001`) is neither pushed nor compared: `closc push` over \
                 `sonic-ssh` or `closc export ansible` delivers it";
    let made = plan(&fleet, &options(), silent()).await.expect("it can be read");
    assert!(made.show().contains(named), "{}", made.show());
    let saved = Plan::from_json(&made.to_json()).expect("it was just written");
    assert_eq!(saved.unsupported_files(), made.unsupported_files(), "a saved plan has it, too");
    let report = push(&fleet, &options(), silent(), open_gate()).await;
    assert!(matches!(report.devices[NAME], Outcome::Good(_)), "{report:?}");
    assert!(!report.is_good(), "{report:?}");
    assert_eq!(report.uncarried[0].line(), named);
    let found = drift(&fleet, &options(), silent()).await;
    assert_eq!(found.devices[NAME], DeviceDrift::None);
    assert!(!found.is_clean() && found.is_incomplete() && found.show().contains(named), "{found:?}");
}

#[tokio::test]
async fn what_takes_a_reload_is_refused_by_name() {
    let switches = of(GnmiSwitch::start(OLD, None));
    let other = NEW.replace(r#""size": "1""#, r#""size": "2""#);
    let report = push_config(&switches, &other, &options()).await;
    assert_eq!(fault(&report).kind(), "needs-reload");
    let said = fault(&report).to_string();
    assert!(
        said.contains("buffer pool `egress`") && said.contains("push this switch over sonic-ssh"),
        "{said}"
    );
    let planned = plan(&fleet(&switches, &other), &options(), silent()).await.expect_err("refused before");
    assert!(planned[0].to_string().contains("needs a reload"), "{planned:?}");
    assert_eq!(n_sets(&switches[NAME]), 0);
}

#[tokio::test]
async fn what_may_cut_the_connection_is_refused_by_name() {
    let switches = of(GnmiSwitch::start(OLD, None));
    let report = push_config(&switches, &NEW.replace("192.0.2.1/24", "198.51.100.1/24"), &options()).await;
    let said = fault(&report).to_string();
    assert!(said.contains("MGMT_INTERFACE|eth0|") && said.contains("gNMI has no rollback"), "{said}");
    let overlay =
        Overlay::parse([("gnmi.json", r#"{ "tables": { "GNMI": { "gnmi": { "port": "50052" } } } }"#)]);
    let options = SonicOptions { overlay: overlay.expect("right"), ..SonicOptions::default() };
    let fleet = fleet_of(&rules(&switches, ""), Files::new(), NEW, options).expect("they go together");
    let report = push(&fleet, &single_attempt(), silent(), open_gate()).await;
    assert!(fault(&report).to_string().contains("`GNMI` changes how the switch is reached"), "{report:?}");
    assert_eq!(n_sets(&switches[NAME]), 0);
}

#[tokio::test]
async fn an_error_after_everything_was_applied_is_no_failure_and_is_saved() {
    let switches = of(GnmiSwitch::start(OLD, None));
    switches[NAME].lock().fails_after = true;
    let report = push_config(&switches, NEW, &single_attempt()).await;
    assert!(report.is_good(), "{report:?}");
    assert_good(&switches[NAME], NEW, &report);
    assert_eq!(n_sets(&switches[NAME]), 2, "the second saves");
}

#[tokio::test]
async fn what_was_applied_and_never_saved_is_saved_by_the_next_push() {
    let switches = of(GnmiSwitch::start(OLD, None));
    let report = push_config(&switches, NEW, &single_attempt()).await;
    assert!(report.is_good(), "{report:?}");
    // The state after a push that was interrupted between changing the switch and saving.
    switches[NAME].lock().saved_config = serde_json::from_str(OLD).expect("JSON");
    let report = push_config(&switches, NEW, &single_attempt()).await;
    assert!(report.is_good() && report.updates().total() == 0, "{report:?}");
    assert_good(&switches[NAME], NEW, &report);
}

#[tokio::test]
async fn what_the_switch_refuses_is_said_with_its_words() {
    let switches = of(GnmiSwitch::start(OLD, None));
    let refused = NEW.replacen('{', r#"{ "WRED_PROFILE": { "refused": { "ecn": "ecn_all" } }, "#, 1);
    let report = push_config(&switches, &refused, &options()).await;
    let said = fault(&report).to_string();
    assert!(said.contains("Set refused: UNKNOWN: Error: validating function returned False"), "{said}");
    assert!(said.contains("no change was applied"), "{said}");
    assert_eq!(fault(&report).kind(), "refused");
    assert_eq!(config(&switches[NAME].lock().running), ConfigDb::parse(OLD).expect("right"));
}

#[tokio::test]
async fn a_switch_that_changed_after_it_was_read_is_left_alone() {
    let switches = of(GnmiSwitch::start(OLD, None));
    // Capabilities, Get, Get of a checkpoint; then the second read.
    switches[NAME].lock().moves_at = 5;
    let report = push_config(&switches, NEW, &single_attempt()).await;
    assert!(fault(&report).is_transient(), "{report:?}");
    assert!(fault(&report).to_string().contains("changed after it was read"), "{report:?}");
    assert_eq!(n_sets(&switches[NAME]), 0);
    let report = push_config(&switches, NEW, &single_attempt()).await;
    assert!(report.is_good(), "{report:?}");
    assert_good(&switches[NAME], NEW, &report);
    let stays = config(&switches[NAME].lock().running);
    assert!(stays.entry("DNS_NAMESERVER", "192.0.2.54").is_some(), "the change of another controller stays");
}

#[tokio::test]
async fn a_set_that_died_is_seen_and_said() {
    let switches = of(GnmiSwitch::start(OLD, None));
    switches[NAME].lock().dies = true;
    let report = push_config(&switches, NEW, &single_attempt()).await;
    assert!(!report.is_good(), "{report:?}");
    // The switch answers with the earlier state, which equals this tree: that proves nothing.
    switches[NAME].lock().running["PORT"]["Ethernet0"]["mtu"] = Value::from("4000");
    for tree in [OLD_TREE, NEW] {
        let report = push_config(&switches, tree, &single_attempt()).await;
        let said = fault(&report).to_string();
        assert!(said.contains("returns the state before a Set"), "{said}");
        assert!(said.contains("config delete-checkpoint /etc/sonic/config"), "{said}");
    }
    // The push waits for a Set that is still running.
    let now = switches[NAME].lock().calls.len();
    switches[NAME].lock().ends_at = now + 5;
    let report = push_config(&switches, NEW, &single_attempt()).await;
    assert!(report.is_good(), "{report:?}");
    assert_good(&switches[NAME], NEW, &report);
}

/// Pushes, and drops the push at the call with this number: before the switch handles it, or after.
async fn kill_push_at(switches: &BTreeMap<String, GnmiSwitch>, call: usize) -> bool {
    let (sender, mut receiver) = tokio::sync::mpsc::unbounded_channel();
    let count = Mutex::new(0);
    switches[NAME].lock().hook = Some(Arc::new(move |_: &str| {
        let mut count = count.lock().expect("no holder of the lock panics");
        *count += 1;
        if *count == call {
            sender.send(()).expect("it is waited for");
        }
    }));
    let options = single_attempt();
    let killed = tokio::select! {
        report = push_config(switches, NEW, &options) => { assert!(report.is_good(), "{report:?}"); false }
        _ = receiver.recv() => true,
    };
    switches[NAME].lock().hook = None;
    killed
}

#[tokio::test]
async fn a_push_that_dies_anywhere_is_finished_by_the_next_one() {
    for call in 1..40 {
        let switches = of(GnmiSwitch::start(OLD, None));
        let killed = kill_push_at(&switches, call).await;
        let report = push_config(&switches, NEW, &single_attempt()).await;
        assert!(report.is_good(), "{call}: {report:?}");
        assert_good(&switches[NAME], NEW, &(call, report));
        if !killed {
            assert!(call > 8, "a push has several calls, and this one had {call}");
            return;
        }
    }
    panic!("no push came to its end");
}

#[tokio::test]
async fn sixty_four_switches_are_pushed_in_waves() {
    let names: Vec<String> =
        (0..4).flat_map(|plane| (1..=16).map(move |number| format!("p{plane}-t0-{number:03}"))).collect();
    let start = |name: &String| (name.clone(), GnmiSwitch::start(OLD, None));
    let switches: BTreeMap<String, GnmiSwitch> = names.iter().map(start).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let tree = tree(&names, NEW);
    let fleet = Fleet::default()
        .with_sonic(&rules(&switches, ""), &*reader(Files::new()), &tree, SonicOptions::default(), |_| true)
        .expect("they go together");
    let waves = Arc::new(Mutex::new(Vec::new()));
    let seen = waves.clone();
    let observer = Arc::new(move |event: Event| {
        if matches!(event.what, EventKind::WaveStarted { .. } | EventKind::Written { .. }) {
            seen.lock().expect("no holder of the lock panics").push(event.plane);
        }
        Ok(())
    });
    let options = PushOptions { max_parallel: 8, ..options() };
    let report = push(&fleet, &options, observer, open_gate()).await;
    assert!(report.is_good(), "{report:?}");
    for switch in switches.values() {
        assert_good(switch, NEW, &"64 switches");
    }
    let order = waves.lock().expect("no holder of the lock panics").clone();
    assert!(order.is_sorted() && order.len() == 4 + 64, "plane after plane: {order:?}");
}

#[tokio::test]
async fn what_is_too_large_for_one_answer_is_read_table_by_table() {
    let mut large: Value = serde_json::from_str(OLD).expect("JSON");
    for number in 0..40 {
        large["SITE"][format!("{number}")] = serde_json::json!({ "text": "x".repeat(120_000) });
    }
    let switches = of(GnmiSwitch::start(&large.to_string(), None));
    let report = push_config(&switches, NEW, &single_attempt()).await;
    assert!(report.is_good(), "{report:?}");
    assert_good(&switches[NAME], NEW, &report);
    assert_eq!(switches[NAME].lock().running["SITE"], large["SITE"], "the site's part stays");
    let small = single_attempt().memory(1 << 20);
    let report = push_config(&switches, OLD_TREE, &small).await;
    assert!(report.is_good(), "what is large is not read: {report:?}");
}

/// The tree's version of the switch's initial configuration.
const OLD_TREE: &str = r#"{
    "DEVICE_METADATA": { "localhost": { "hostname": "p0-t0-001", "hwsku": "x" } },
    "PORT": { "Ethernet0": { "admin_status": "up", "mtu": "1500" } },
    "BUFFER_POOL": { "egress": { "size": "1" } },
    "STATIC_ROUTE": { "fd00:1::/48": { "nexthop": "fe80::1" }, "fd00:2::/48": { "nexthop": "fe80::1" } },
    "SWITCH_HASH": { "GLOBAL": { "ecmp_hash": ["DST_IP", "SRC_IP"] } }
}"#;

#[tokio::test]
async fn a_large_change_goes_in_several_sets() {
    let mut large: Value = serde_json::from_str(NEW).expect("JSON");
    for number in 0..400 {
        large["SRV6_MY_SIDS"][format!("main|fd00:{number:x}::/48")] = serde_json::json!({ "action": "uN" });
        large["NEIGH"][format!("Ethernet0|fe80::{number:x}")] =
            serde_json::json!({ "neigh": "0".repeat(6000) });
    }
    let large = large.to_string();
    let switches = of(GnmiSwitch::start(OLD, None));
    let report = push_config(&switches, &large, &single_attempt()).await;
    assert!(report.is_good(), "{report:?}");
    assert_good(&switches[NAME], &large, &"in parts");
    assert!(n_sets(&switches[NAME]) > 2, "{:?}", switches[NAME].lock().calls);
}

#[tokio::test]
async fn strangers_stallers_and_garbage_end_with_a_reason() {
    let short = single_attempt().deadline(Duration::from_millis(300));
    let switches = of(GnmiSwitch::start(OLD, None));
    switches[NAME].lock().stalls = true;
    let report = push_config(&switches, NEW, &short).await;
    assert!(fault(&report).is_transient(), "{report:?}");
    assert_eq!(n_sets(&switches[NAME]), 0);
    for bytes in [Vec::new(), b"HTTP/1.1 200 OK\r\n\r\nhello".to_vec(), vec![0xff; 4096]] {
        let garbage = GarbageServer::start(bytes.clone()).await.expect("loopback has a port");
        let port = garbage.address().rsplit_once(':').expect("it has one").1.to_owned();
        let text = format!(
            "sonic:\n- {{ devices: '*', transport: sonic-gnmi, address: 127.0.0.1, port: {port} }}\n"
        );
        let inventory = Inventory::parse(&text).expect("right");
        let fleet =
            fleet_of(&inventory, Files::new(), NEW, SonicOptions::default()).expect("they go together");
        let report = push(&fleet, &short, silent(), open_gate()).await;
        assert!(matches!(fault(&report), Fault::Call { .. }), "{bytes:?}: {report:?}");
    }
}

/// Starts a switch that accepts only clients of its own authority.
fn start_tls(ours: &Authority, clients: &Authority, name: &str) -> GnmiSwitch {
    let issued = ours.issue(name, Validity::Now);
    let tls = ServerTlsConfig::new()
        .identity(Identity::from_pem(issued.certificate, issued.key))
        .client_ca_root(Certificate::from_pem(clients.certificate()));
    GnmiSwitch::start(OLD, Some(tls))
}

fn pki(ca: &Authority, client: &Authority) -> Files {
    let issued = client.issue("closc", Validity::Now);
    Files::from([
        ("ca.pem".to_owned(), ca.certificate()),
        ("closc.pem".to_owned(), issued.certificate),
        ("closc.key".to_owned(), issued.key),
        ("password".to_owned(), b"not-a-secret\n".to_vec()),
    ])
}

const TLS: &str = ", tls: { ca: ca.pem, cert: closc.pem, key: closc.key, server_name: '{name}.example' }";

#[tokio::test]
async fn certificates_and_passwords_are_those_of_the_inventory() {
    let (ours, theirs) = (Authority::new("ours"), Authority::new("theirs"));
    let switches = of(start_tls(&ours, &ours, "p0-t0-001.example"));
    switches[NAME].lock().login = Some(("admin".to_owned(), "not-a-secret".to_owned()));
    let run = async |more: &str, beside: Files| {
        let fleet = fleet_of(&rules(&switches, more), beside, NEW, SonicOptions::default())
            .expect("they go together");
        push(&fleet, &single_attempt(), silent(), open_gate()).await
    };
    let refused = async |more: &str, beside: Files| {
        let report = run(more, beside).await;
        let said = format!("{report:?} {}", fault(&report));
        assert!(!said.contains("not-a-secret"), "{said}");
        said
    };
    let user = format!("{TLS}, user: admin, password_file: password");
    let said = refused(TLS, pki(&ours, &ours)).await;
    assert!(said.contains("UNAUTHENTICATED"), "{said}");
    let said = refused(&user, pki(&theirs, &ours)).await;
    assert!(said.contains("not signed by the configured authority"), "{said}");
    let said = refused(&user.replace("{name}", "p9-t9-999"), pki(&ours, &ours)).await;
    assert!(said.contains("for another name"), "{said}");
    let said = refused(&user, pki(&ours, &theirs)).await;
    assert!(said.contains("while connecting"), "{said}");
    assert_eq!(n_sets(&switches[NAME]), 0);
    let report = run(&user, pki(&ours, &ours)).await;
    assert!(report.is_good(), "{report:?}");
    assert_good(&switches[NAME], NEW, &report);
}

#[test]
fn what_an_inventory_says_is_checked() {
    let refused = |rule: &str| {
        let text = format!("sonic:\n- {{ devices: '*', {rule} }}\n");
        let inventory = Inventory::parse(&text).expect("it has the form");
        let beside = Files::from([("empty".to_owned(), Vec::new()), ("ca.pem".to_owned(), Vec::new())]);
        fleet_of(&inventory, beside, NEW, SonicOptions::default()).err().expect("refused").to_string()
    };
    for (rule, why) in [
        ("transport: sonic-gnmi, address: 'a b'", "is neither a host name nor an address"),
        ("transport: sonic-gnmi, address: a, state: /etc/x", "changes over gNMI are not confirmed"),
        ("transport: sonic-gnmi, address: a, user: admin", "needs `password_file`"),
        ("transport: sonic-gnmi, address: a, password_file: empty", "needs `user`"),
        (
            "transport: sonic-gnmi, address: a, user: u, password_file: empty",
            "the password is not of printable ASCII",
        ),
        ("transport: sonic-gnmi, address: a, user: u, password_file: gone", "password `gone`: no such file"),
        ("transport: sonic-gnmi, address: a, tls: {}", "TLS needs `ca`, the authority that signs targets"),
        (
            "transport: sonic-gnmi, address: a, tls: { ca: ca.pem, cert: c }",
            "`cert` and `key` must be set together",
        ),
        ("transport: sonic-ssh, address: a, password_file: empty", "`ssh` uses your keys"),
        ("transport: sonic-ssh, address: a, tls: { ca: ca.pem }", "`ssh` uses your keys"),
    ] {
        let said = refused(rule);
        assert!(said.contains(why), "{rule}: {said}");
    }
    let text =
        "sonic:\n- { devices: '*', transport: sonic-gnmi, address: a.example, user: u, password_file: p }\n";
    let beside = Files::from([("p".to_owned(), b"not-a-secret".to_vec())]);
    let inventory = Inventory::parse(text).expect("right");
    let said = fleet_of(&inventory, beside, NEW, SonicOptions::default()).err().expect("no TLS").to_string();
    assert!(said.contains("with a password needs `tls`") && !said.contains("not-a-secret"), "{said}");
}

/// State of the daemons with the old tree.
fn up() -> Value {
    serde_json::json!({
        "PORT_TABLE": { "Ethernet0": { "oper_status": "up" } },
        "ROUTE_TABLE": { "fd00:1::/48": {}, "fd00:2::/48": {} },
        "BUFFER_POOL_TABLE": { "egress": { "size": "1" } },
    })
}

#[tokio::test]
async fn a_watch_says_what_differs_and_writes_nothing() {
    let switches = of(GnmiSwitch::start(OLD, None));
    let options = WatchOptions { push: options(), interval: Duration::from_millis(20), ..Default::default() };
    let watch =
        Watch::start(&fleet(&switches, OLD_TREE), options, silent()).await.expect("the watch opens no port");
    let of_switch = || watch.status().devices[NAME].clone();
    eventually("it was looked at", || of_switch().role == Role::Watching).await;
    let status = of_switch();
    assert!(
        !status.in_sync && status.differences.contains_key("ROUTE_TABLE"),
        "nothing is programmed: {status:?}"
    );
    switches[NAME].lock().daemon_state = up();
    eventually("it is up to date", || watch.status().is_good()).await;
    switches[NAME].lock().running["STATIC_ROUTE"]["fd00:1::/48"]["nexthop"] = Value::from("fe80::7");
    eventually("it differs", || !watch.status().is_good()).await;
    assert_eq!(of_switch().differences, BTreeMap::from([("STATIC_ROUTE".to_owned(), 1)]));
    assert_eq!(n_sets(&switches[NAME]), 0, "nothing is written");
    let status = watch.stop().await;
    assert_eq!((status.devices[NAME].role, status.devices[NAME].repairs), (Role::Away, 0));
}

#[tokio::test]
async fn with_state_a_switch_whose_daemons_lack_its_configuration_drifts() {
    let switches = of(GnmiSwitch::start(OLD, None));
    let look = async |applied: Value| {
        switches[NAME].lock().daemon_state = applied;
        let options = SonicOptions { state: true, ..SonicOptions::default() };
        let fleet =
            fleet_of(&rules(&switches, ""), Files::new(), OLD_TREE, options).expect("they go together");
        drift(&fleet, &single_attempt(), silent()).await
    };
    let found = look(serde_json::json!({ "PORT_TABLE": { "Ethernet0": { "oper_status": "down" } } })).await;
    let shown = found.show();
    assert!(shown.contains("PORT_TABLE:Ethernet0.oper_status down"), "{shown}");
    assert!(shown.contains("the route of STATIC_ROUTE|fd00:1::/48"), "{shown}");
    assert!(shown.contains("BUFFER_POOL_TABLE:egress"), "{shown}");
    assert!(look(up()).await.is_clean());
    // The buffer limit comes from another database.
    let mut small = up();
    small["BUFFER_MAX_PARAM_TABLE"] = serde_json::json!({ "global": { "mmu_size": "0" } });
    assert!(look(small).await.show().contains("room for 0 bytes of pools"));
}
