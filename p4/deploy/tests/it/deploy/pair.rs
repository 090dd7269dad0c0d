//! Switches with two transports: CONFIG_DB over gNMI and entries over P4Runtime. At every Set the entries
//! name only ports that exist before and after it. This holds for all added and removed ports, and for a push
//! that is interrupted at any point.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use closc_deploy::{
    Device, DeviceDrift, Event, EventKind, Fleet, Inventory, Observer, Outcome, Plan as PushPlan,
    SonicOptions, SwitchConnections, Tree, Watch, WatchOptions, drift, open_gate, plan, push, push_plan,
    silent,
};
use closc_entries::Pipeline;
use closc_plan::Plan;
use closc_runtime::client::Pipeline as Program;
use closc_runtime::proto::v1;
use closc_runtime::testing::{FakeOptions, FakeTarget, Script, WriteFault};
use closc_runtime::{DeviceId, EntityKey, text};
use closc_tests::shape::Shape;
use serde_json::{Map, Value, json};
use v1::entity::Entity;
use v1::table_action::Type as Action;

use crate::deploy::gnmi::server::GnmiSwitch;
use crate::support::{Files, Recorder, add_manifest, eventually, options, reader, single_attempt, tree_of};

const NAME: &str = "p0-t0-002";

/// A plan without one cable of the switch, or with all cables.
fn fabric_plan(absent: &str) -> Plan {
    let shape = Shape {
        planes: 1,
        groups: 2,
        per_group: 2,
        rails: 1,
        t1: 2,
        parallel: 2,
        t2: None,
        exceptions: format!("routing: ecmp-static\nexceptions: {{ absent: [{absent}] }}\n"),
    };
    let yaml = shape.yaml().replace("platform: linux, os: linux", "platform: th5-512x100g, os: pins");
    closc_tests::shape::plan(&yaml.replace("virtual", "dac"))
}

/// Two cables, each of which is missing on one of the sides.
const ONE: &str = "p0-t0-002--p0-t1-001#1";
const OTHER: &str = "p0-t0-002--p0-t1-002#2";

/// CONFIG_DB of the switch in a plan, with the tables that a controller needs.
fn config(plan: &Plan) -> Value {
    let switch = plan.topology().naming.parse_switch(NAME).expect("of the fabric");
    let mut ports = Map::new();
    for port in plan.device(switch).ports.iter().filter(|port| port.connection.is_some()) {
        let id = port.physical.number.to_string();
        ports.insert(port.physical.name.to_string(), json!({ "admin_status": "up", "id": id }));
    }
    json!({ "DEVICE_METADATA": { "localhost": { "hostname": NAME } }, "NODE_CFG": { "integrated_circuit0": { "node-id": "1" } },
            "PORT": ports })
}

/// The ids of the ports of a configuration.
fn ids(config: &Value) -> BTreeSet<String> {
    let ports = config["PORT"].as_object().into_iter().flat_map(Map::values);
    ports.filter_map(|port| Some(port["id"].as_str()?.to_owned())).collect()
}

/// The configuration and entries of the switch in one plan.
#[derive(Clone)]
struct Side {
    tree: Arc<Tree>,
    config: Value,
    entities: Vec<v1::Entity>,
}

fn side(absent: &str) -> Side {
    let plan = fabric_plan(absent);
    let mut files: Files = tree_of(&plan, |_| {});
    let config = config(&plan);
    files.insert(format!("switches/{NAME}/config_db.json"), config.to_string().into_bytes());
    add_manifest(&mut files);
    let entries = std::str::from_utf8(&files[&format!("switches/{NAME}/pins.txtpb")]).expect("text");
    let updates = text::read_entries(entries).expect("text format");
    let mut entities: Vec<v1::Entity> = updates.into_iter().filter_map(|update| update.entity).collect();
    entities.sort_by_key(EntityKey::of);
    Side { tree: Arc::new(Tree::open(reader(files)).expect("the tree is right")), config, entities }
}

/// The ports that entities name.
fn named_ports(entities: &[v1::Entity]) -> BTreeSet<String> {
    let info = Pipeline::sai().info();
    let out = info.action("unicast_set_port_and_src_mac").expect("an action");
    let port = out.param("port").expect("a parameter").id;
    let mut found = BTreeSet::new();
    for entity in entities {
        let Some(Entity::TableEntry(entry)) = &entity.entity else { continue };
        match entry.action.as_ref().and_then(|action| action.r#type.as_ref()) {
            Some(Action::Action(action)) if action.action_id == out.preamble.id => {
                let ports = action.params.iter().filter(|param| param.param_id == port);
                found.extend(ports.map(|param| String::from_utf8(param.value.clone()).expect("text")));
            }
            Some(Action::ActionProfileActionSet(set)) => {
                for member in &set.action_profile_actions {
                    if let Some(v1::action_profile_action::WatchKind::WatchPort(port)) = &member.watch_kind {
                        found.insert(String::from_utf8(port.clone()).expect("text"));
                    }
                }
            }
            _ => {}
        }
    }
    found
}

/// A switch with both servers.
struct Site {
    gnmi: GnmiSwitch,
    target: Arc<FakeTarget>,
    inventory: Inventory,
    /// The ports that entries named at each Set.
    at_sets: Arc<Mutex<Vec<BTreeSet<String>>>>,
}

impl Site {
    /// Starts a switch with the CONFIG_DB and entries of one side.
    async fn start(side: &Side) -> Self {
        let site = Site::bare(&side.config).await;
        let program = Pipeline::all_of(&fabric_plan(""))[0];
        let sai = Program::new(
            program.info().clone(),
            program.bmv2().expect("it has one").as_bytes().to_vec().into(),
        );
        site.target.restart_with(&sai);
        site.target.plant(side.entities.clone());
        site
    }

    /// Starts a switch that no controller has connected to.
    async fn bare(config: &Value) -> Self {
        let gnmi = GnmiSwitch::start(&config.to_string(), None);
        let device = DeviceId(1);
        let options = FakeOptions { device, ..FakeOptions::default() };
        let target = Arc::new(FakeTarget::with(options).await.expect("loopback has a port"));
        let text = format!(
            "devices:\n  {NAME}: {{ endpoint: '{}', device_id: 1 }}\nsonic:\n- {{ devices: '*-t0-*', transport: sonic-gnmi, \
             address: 127.0.0.1, port: {}, plane: 0 }}\n",
            target.address(),
            gnmi.address.port()
        );
        let at_sets: Arc<Mutex<Vec<BTreeSet<String>>>> = Arc::default();
        let (seen, held) = (at_sets.clone(), target.clone());
        {
            let mut switch = gnmi.lock();
            switch.follows_after = Some(0);
            switch.daemon_state = switch.ports();
            switch.hook = Some(Arc::new(move |call: &str| {
                if call == "Set" {
                    seen.lock().expect("no test panics in here").push(named_ports(&held.entities()));
                }
            }));
        }
        let inventory = Inventory::parse(&text).expect("the inventory is right");
        assert_eq!(inventory.plane_of(NAME), Some(0), "of the rule");
        Site { gnmi, target, inventory, at_sets }
    }

    fn fleet(&self, side: &Side) -> Fleet {
        let is_it = |name: &str| name == NAME;
        let nothing = reader(Files::new());
        let fleet = Fleet::new(&self.inventory, &*nothing, &side.tree, is_it).expect("they go together");
        let fleet = fleet.with_sonic(
            &self.inventory,
            &*nothing,
            &side.tree,
            closc_deploy::SonicOptions::default(),
            is_it,
        );
        let fleet = fleet.expect("they go together");
        assert_eq!((fleet.n_switches(), fleet.configured.len()), (1, 1));
        fleet
    }

    /// Checks that the switch has one side, and that at each Set entries named only ports that existed before and after
    /// it.
    fn assert_good(&self, new: &Side, said: &dyn std::fmt::Debug) {
        assert_eq!(self.gnmi.lock().running, new.config, "{said:?}");
        assert_eq!(self.gnmi.lock().saved_config, new.config, "{said:?}");
        assert_eq!(self.target.entities(), new.entities, "{said:?}");
        let mut states = self.gnmi.lock().set_snapshots.clone();
        states.push(new.config.clone());
        let at_sets = self.at_sets.lock().expect("no test panics in here");
        assert_eq!(states.len(), at_sets.len() + 1, "{said:?}");
        for (named, states) in at_sets.iter().zip(states.windows(2)) {
            for state in states {
                assert!(named.is_subset(&ids(state)), "{named:?} of {state}: {said:?}");
            }
        }
    }
}

/// Possible changes: a port is added, one is removed, one is added and another removed.
fn changes() -> [(Side, Side); 3] {
    let (all, one, other) = (side(""), side(ONE), side(OTHER));
    [(one.clone(), all.clone()), (all, one.clone()), (one, other)]
}

#[tokio::test]
async fn ports_come_before_their_entries_and_go_after_them() {
    for (old, new) in changes() {
        let site = Site::start(&old).await;
        site.gnmi.lock().follows_after = Some(12);
        let fleet = site.fleet(&new);
        let found = drift(&fleet, &options(), silent()).await;
        let shown = found.show();
        assert!(shown.contains("PORT|Ethernet") && shown.contains("ingress.routing_resolution"), "{shown}");
        let shown = plan(&fleet, &options(), silent()).await.expect("it can be read");
        assert_eq!(shown.reconfigured_switches().collect::<Vec<_>>(), [NAME]);
        assert!(shown.show().contains("by one gNMI Set") && shown.counts().total() > 0, "{}", shown.show());
        let events = Recorder::default();
        let report = push(&fleet, &options(), events.observer(), open_gate()).await;
        assert!(report.is_good(), "{report:#?}");
        site.assert_good(&new, &report);
        assert!(!site.at_sets.lock().expect("no test panics in here").is_empty());
        let place = |is: fn(&EventKind) -> bool| events.events().iter().position(|event| is(&event.what));
        let configured = place(|what| matches!(what, EventKind::Configured { .. })).expect("it is said");
        if !ids(&new.config).is_subset(&ids(&old.config)) {
            let waits =
                place(|what| matches!(what, EventKind::Waiting { .. })).expect("the daemons are late");
            assert!(configured < waits);
        }
        let again = push(&fleet, &options(), silent(), open_gate()).await;
        assert!(again.is_good() && again.updates().total() == 0, "{again:#?}");
        assert!(drift(&fleet, &options(), silent()).await.is_clean());
        assert!(plan(&fleet, &options(), silent()).await.expect("it can be read").is_empty());
    }
}

#[tokio::test]
async fn a_saved_plan_brings_both() {
    for (old, new) in changes() {
        let site = Site::start(&old).await;
        let made = plan(&site.fleet(&new), &options(), silent()).await.expect("it can be read");
        let saved = PushPlan::from_json(&made.to_json()).expect("it was just written");
        assert_eq!((saved.to_json(), saved.show()), (made.to_json(), made.show()));
        // Tree and rules are not read again: inventory and plan file suffice.
        let none = reader(Files::new());
        let reached = SwitchConnections::new(&site.inventory, &*none, &saved, SonicOptions::default())
            .expect("it is reached");
        let report =
            push_plan(&reached, &saved, &options(), silent(), open_gate()).await.expect("by addresses");
        assert!(report.is_good(), "{report:#?}");
        site.assert_good(&new, &report);
        let again = push_plan(&reached, &saved, &single_attempt(), silent(), open_gate())
            .await
            .expect("by addresses");
        assert!(again.is_good() && again.updates().total() == 0, "{again:#?}");
    }
}

#[tokio::test]
async fn a_saved_plan_is_refused_where_either_side_of_a_switch_moved() {
    let (old, new) = (side(ONE), side(OTHER));
    let site = Site::start(&old).await;
    let made = plan(&site.fleet(&new), &options(), silent()).await.expect("it can be read");
    let none = reader(Files::new());
    let reached = SwitchConnections::new(&site.inventory, &*none, &made, SonicOptions::default())
        .expect("it is reached");
    let pushed = async || {
        let report =
            push_plan(&reached, &made, &single_attempt(), silent(), open_gate()).await.expect("by addresses");
        let Outcome::Failed(fault) = &report.devices[NAME] else { panic!("{report:#?}") };
        fault.to_string()
    };
    let entities = site.target.entities();
    let mut touched = entities.clone();
    for entity in &mut touched {
        if let Some(Entity::TableEntry(entry)) = &mut entity.entity {
            entry.metadata = b"another controller".to_vec();
        }
    }
    site.target.plant(touched);
    assert!(pushed().await.contains("has changed since the plan was made"), "of entries");
    site.target.plant(entities.clone());
    let port = ids(&old.config).len();
    site.gnmi.lock().running["PORT"]["Ethernet9999"] = json!({ "admin_status": "down" });
    let said = pushed().await;
    assert!(said.contains(&format!("`PORT` had {port} entries and has {}", port + 1)), "{said}");
    // Nothing was changed.
    assert_eq!(site.target.entities(), entities);
    assert!(site.at_sets.lock().expect("no test panics in here").is_empty());
    // The site's part may change.
    let _ = site.gnmi.lock().running["PORT"].as_object_mut().expect("ports").remove("Ethernet9999");
    site.gnmi.lock().running["TACPLUS"] = json!({ "global": { "passkey": "not-a-secret" } });
    let report =
        push_plan(&reached, &made, &single_attempt(), silent(), open_gate()).await.expect("by addresses");
    assert!(report.is_good(), "{report:#?}");
    assert_eq!(site.gnmi.lock().running["TACPLUS"]["global"]["passkey"], "not-a-secret");
    // A file whose displayed text differs from the updates is rejected.
    let text = made.to_json();
    let other = text.replacen("+ PORT|", "+ PORT|x", 1);
    assert!(other != text && PushPlan::from_json(&other).is_err(), "{text}");
}

/// An observer that counts events, and stops the push at the one with this number.
fn stop_at(event: usize, stop: Arc<tokio::sync::Notify>) -> Observer {
    let n_events = AtomicUsize::new(0);
    Arc::new(move |_: Event| {
        if n_events.fetch_add(1, Ordering::SeqCst) + 1 == event {
            stop.notify_one();
        }
        Ok(())
    })
}

#[tokio::test]
async fn a_push_that_dies_anywhere_is_finished_by_the_next_one() {
    for (old, new) in changes() {
        let mut died = 0;
        for event in (1..).step_by(2) {
            let site = Site::start(&old).await;
            let fleet = site.fleet(&new);
            let stop = Arc::new(tokio::sync::Notify::new());
            let (options, observer) = (single_attempt(), stop_at(event, stop.clone()));
            let work = push(&fleet, &options, observer, open_gate());
            let ended = tokio::select! {
                biased;
                () = stop.notified() => false,
                _ = work => true,
            };
            if ended {
                break;
            }
            died += 1;
            let report = push(&fleet, &single_attempt(), silent(), open_gate()).await;
            assert!(report.is_good(), "{event}: {report:#?}");
            site.assert_good(&new, &event);
        }
        assert!(died > 4, "{died}");
    }
}

#[tokio::test]
async fn what_breaks_on_one_way_is_tried_again() {
    for (old, new) in changes() {
        let site = Site::start(&old).await;
        site.gnmi.lock().fails_after = true;
        site.target.set_script(Script::default().write_fault(0, WriteFault::Disconnect { after_updates: 2 }));
        let report = push(&site.fleet(&new), &options(), silent(), open_gate()).await;
        assert!(report.is_good(), "{report:#?}");
        site.assert_good(&new, &report);
    }
}

#[tokio::test]
async fn a_switch_without_a_number_is_planned_from_nothing() {
    let (old, new) = (side(ONE), side(""));
    let mut config = old.config.clone();
    config.as_object_mut().expect("an object").remove("NODE_CFG");
    let site = Site::bare(&config).await;
    // Controllers cannot use the switch before it has a device id.
    let mut inventory = site.inventory.clone();
    let unused = std::net::TcpListener::bind(("127.0.0.1", 0)).expect("loopback has a port");
    let address = unused.local_addr().expect("it is bound").to_string();
    drop(unused);
    inventory.devices.insert(NAME.to_owned(), Device::at(address, 1));
    let away = Site { inventory, ..site };
    let shown =
        plan(&away.fleet(&new), &single_attempt(), silent()).await.expect("its CONFIG_DB says it all");
    assert_eq!(shown.counts().insert as usize, new.entities.len());
    let found = drift(&away.fleet(&new), &single_attempt(), silent()).await;
    assert!(
        found.show().contains("NODE_CFG") && found.show().contains("unreadable entries"),
        "{}",
        found.show()
    );
    let Site { gnmi, target, at_sets, .. } = away;
    let mut inventory = Inventory::parse("{}").expect("nothing is something");
    inventory.devices.insert(NAME.to_owned(), Device::at(target.address(), 1));
    let text = inventory.to_json();
    let rule = json!([{ "devices": NAME, "transport": "sonic-gnmi", "address": "127.0.0.1", "port": gnmi.address.port() }]);
    let mut whole: Value = serde_json::from_str(&text).expect("JSON");
    whole["sonic"] = rule;
    let inventory = Inventory::parse(&whole.to_string()).expect("right");
    let site = Site { gnmi, target, inventory, at_sets };
    let report = push(&site.fleet(&new), &options(), silent(), open_gate()).await;
    assert!(report.is_good(), "{report:#?}");
    site.assert_good(&new, &report);
}

#[tokio::test]
async fn a_watch_looks_at_both() {
    let (old, new) = (side(ONE), side(""));
    let site = Site::start(&new).await;
    let options = WatchOptions {
        push: options(),
        interval: std::time::Duration::from_millis(20),
        ..WatchOptions::default()
    };
    let watch = Watch::start(&site.fleet(&new), options, silent()).await.expect("the watch opens no port");
    let row = format!("{NAME}/CONFIG_DB");
    eventually("entries are in sync", || watch.status().devices[NAME].in_sync).await;
    // No port of this switch is up, which only a comparison of the state finds.
    eventually("ports are looked at", || watch.status().devices[&row].differences.contains_key("PORT_TABLE"))
        .await;
    site.gnmi.lock().running = old.config.clone();
    eventually("a port is missed", || watch.status().devices[&row].differences.contains_key("PORT")).await;
    assert!(watch.status().devices[NAME].in_sync, "it repairs entries, and no CONFIG_DB");
    watch.stop().await;
    assert_eq!(site.gnmi.lock().running, old.config);
}

#[tokio::test]
async fn without_a_rule_only_entries_are_brought() {
    let (old, new) = (side(ONE), side(ONE));
    let mut site = Site::start(&old).await;
    let mut whole: Value = serde_json::from_str(&site.inventory.to_json()).expect("JSON");
    whole["sonic"][0]["devices"] = "p9-*".into();
    site.inventory = Inventory::parse(&whole.to_string()).expect("right");
    let nothing = reader(Files::new());
    let is_it = |name: &str| name == NAME;
    let fleet = Fleet::new(&site.inventory, &*nothing, &new.tree, is_it).expect("they go together");
    let options = closc_deploy::SonicOptions::default();
    let fleet =
        fleet.with_sonic(&site.inventory, &*nothing, &new.tree, options, is_it).expect("no rule fits");
    assert_eq!((fleet.n_switches(), fleet.configured.len()), (1, 0));
    let [missed] = &fleet.unsupported_files()[..] else { panic!("its CONFIG_DB is not brought") };
    assert_eq!((missed.file.as_str(), missed.first.as_str()), ("config_db.json", NAME));
    site.gnmi.lock().running = json!({});
    let found = drift(&fleet, &single_attempt(), silent()).await;
    assert!(matches!(found.devices[NAME], DeviceDrift::None) && !found.is_clean(), "{found:?}");
    let made = plan(&fleet, &single_attempt(), silent()).await.expect("it answers");
    assert_eq!(made.unsupported_files(), fleet.unsupported_files());
    let saved = closc_deploy::Plan::from_json(&made.to_json()).expect("it can be read");
    assert_eq!(saved.unsupported_files().len(), 1, "a saved plan names the file too");
    assert!(fleet.of_lab().unsupported_files().is_empty());
}
