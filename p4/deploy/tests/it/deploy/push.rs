//! A push brings switches to their target state, sends only differences, and reports what it does.

use closc_deploy::{Counts, EventKind, Outcome, PipelineStep, PushSummary, open_gate, push};
use closc_runtime::proto::v1;

use crate::support::{Lab, Recorder, T0, info, live_entities, options, small_tree, stray};

#[tokio::test]
async fn a_fabric_is_pushed_and_the_second_push_sends_nothing() {
    let lab = Lab::start(small_tree(2, 2, 2)).await;
    assert_eq!(lab.targets.len(), 8);
    lab.converge().await;
}

#[tokio::test]
async fn only_what_differs_is_sent() {
    let lab = Lab::one().await;
    lab.converge().await;
    // One entry is missing, one is changed, one is unexpected.
    let wanted = live_entities(lab.target());
    let route = wanted.iter().find(|entity| is_route(entity)).expect("a T0 has routes").clone();
    let role = wanted.iter().find(|entity| is_of(entity, "ingress.port_role")).expect("and ports").clone();
    lab.target().plant([swap_role(&role), stray(1)]);
    remove(&lab, &route).await;
    let before = lab.target().n_updates();
    let report = lab.push().await;
    let Outcome::Good(good) = &report.devices[T0] else { panic!("{report:#?}") };
    assert_eq!(good.updates, Counts { insert: 1, modify: 1, delete: 1 });
    assert_eq!(good.pipeline, PipelineStep::Unchanged);
    assert_eq!(lab.target().n_updates() - before, 3);
    assert_eq!(live_entities(lab.target()), wanted);
}

fn is_of(entity: &v1::Entity, table: &str) -> bool {
    let id = info().table(table).expect("a table").preamble.id;
    matches!(&entity.entity, Some(v1::entity::Entity::TableEntry(entry)) if entry.table_id == id)
}

fn is_route(entity: &v1::Entity) -> bool {
    is_of(entity, "ingress.ipv6_route")
}

/// The same port with the other role.
fn swap_role(role: &v1::Entity) -> v1::Entity {
    let Some(v1::entity::Entity::TableEntry(mut entry)) = role.entity.clone() else { panic!("an entry") };
    let name = |name: &str| {
        let table = info().table("ingress.port_role").expect("a table");
        v1::table_action::Type::Action(v1::Action {
            action_id: table.action(name).expect("an action").action.preamble.id,
            params: Vec::new(),
        })
    };
    let is_nic = entry.action.as_ref().and_then(|action| action.r#type.clone()) == Some(name("nic_port"));
    let other = if is_nic { name("fabric_port") } else { name("nic_port") };
    entry.action = Some(v1::TableAction { r#type: Some(other) });
    entry.into()
}

/// Removes an entity as another controller would.
async fn remove(lab: &Lab, entity: &v1::Entity) {
    use closc_runtime::client::{Client, Controller, Options, Session};
    use closc_runtime::{DeviceId, ElectionId};
    let endpoint = lab.target().endpoint().expect("an address");
    let device = DeviceId(lab.inventory.devices[T0].device_id);
    let client = Client::connect(&endpoint, device, Options::default()).await.expect("it listens");
    let session = Session::open(client, Controller::new(ElectionId(9))).await.expect("a stream");
    session.write(&[v1::Update::delete(entity.clone())]).await.expect("it is there");
    session.close().await;
}

#[tokio::test]
async fn an_election_id_above_the_highest_is_found_without_a_primary() {
    let lab = Lab::one().await;
    lab.converge().await;
    // Another controller with a greater id was there and left.
    remove(&lab, &live_entities(lab.target())[0]).await;
    lab.converge().await;
}

#[tokio::test]
async fn leading_zeros_and_counters_are_no_difference() {
    let lab = Lab::one().await;
    lab.converge().await;
    let padded = live_entities(lab.target()).into_iter().map(|mut entity| {
        if let Some(v1::entity::Entity::TableEntry(entry)) = &mut entity.entity {
            entry.counter_data = Some(v1::CounterData { byte_count: 1, packet_count: 7 });
            for field in &mut entry.r#match {
                if let Some(v1::field_match::FieldMatchType::Exact(exact)) = &mut field.field_match_type {
                    exact.value.insert(0, 0);
                }
            }
        }
        entity
    });
    lab.target().plant(padded.collect::<Vec<_>>());
    assert_eq!(lab.push().await.updates(), Counts::default());
}

#[tokio::test]
async fn default_entries_are_set_and_set_back() {
    let lab = Lab::one().await;
    lab.converge().await;
    let seed = [("seed", 7u32.into()), ("qp_mask", 0u32.into())];
    let table = info().entry("ingress.wcmp_hash").expect("a table").default_entry();
    let entry = table.action("set_wcmp_hash", &seed).build().expect("right");
    lab.target().plant([entry.clone().into()]);
    let report = lab.push().await;
    assert_eq!(report.updates(), Counts { insert: 0, modify: 1, delete: 0 });
    // A default entry with its initial contents counts as missing.
    assert_eq!(lab.push().await.updates(), Counts::default());
    let held = live_entities(lab.target());
    assert!(held.iter().any(|entity| is_of(entity, "ingress.wcmp_hash")) && !held.contains(&entry.into()));
}

#[tokio::test]
async fn events_tell_the_story() {
    let lab = Lab::one().await;
    let recorder = Recorder::default();
    let report = push(&lab.fleet(), &options(), recorder.observer(), open_gate()).await;
    let n = lab.target_entities(T0).len();
    let Outcome::Good(PushSummary { updates, entities, .. }) = &report.devices[T0] else {
        panic!("{report:#?}")
    };
    let (updates, entities) = (*updates, *entities);
    assert_eq!((updates.insert, entities), (n as u64, n));
    let reported: Vec<EventKind> = recorder.events().into_iter().map(|event| event.what).collect();
    let expected = [
        EventKind::WaveStarted { devices: 1 },
        EventKind::DeviceStarted,
        EventKind::PipelineSet { step: PipelineStep::Cleared },
        EventKind::Compared { updates },
    ];
    assert_eq!(reported[..4], expected);
    let end = [
        EventKind::Written { updates: n, of: n },
        EventKind::Verified { entities },
        EventKind::DeviceDone { updates },
        EventKind::WaveDone { good: 1, failed: 0 },
    ];
    assert_eq!(reported[reported.len() - 4..], end);
    for event in recorder.events() {
        let json = serde_json::to_value(&event).expect("an event has a form in JSON");
        assert!(json["event"].is_string() && json["at_ms"].is_number(), "{json}");
    }
}

/// If a table cannot hold the old and the new entries at once, the old ones are removed first.
#[tokio::test]
async fn a_full_table_is_emptied_first() {
    let lab = Lab::one().await;
    lab.converge().await;
    // As many punt rules as the table can hold, all of them unwanted, instead of the wanted one.
    let size = info().table("ingress.punt").expect("a table").size as u16;
    let rule = |number: u16| -> v1::Entity {
        let entry = info().entry("ingress.punt").expect("a table").ternary("ether_type", number, 0xffffu16);
        let entry = entry.priority(5).action("punt_to_cpu", &[("reason", 4u8.into())]);
        entry.build().expect("right").into()
    };
    let wanted =
        lab.target_entities(T0).into_iter().find(|entity| is_of(entity, "ingress.punt")).expect("LLDP");
    remove(&lab, &wanted).await;
    lab.target().plant((0..size).map(rule));
    lab.script(closc_runtime::testing::Script { table_limit: Some(size.into()), ..Default::default() });
    let report = lab.push().await;
    assert!(report.is_good(), "{report:#?}");
    assert_eq!(report.updates(), Counts { insert: 1, modify: 0, delete: size.into() });
    assert_eq!(live_entities(lab.target()), lab.target_entities(T0));
}
