//! A plan shows exactly the updates that are sent, can be saved as a file, and is rejected if the switch has changed
//! since.

use closc_deploy::{
    Plan, PlanFileError, PlanTargetError, SwitchConnections, open_gate, plan, push_plan, silent,
};
use closc_runtime::testing::{Script, WriteFault};

use crate::support::{Lab, T0, fault, live_entities, options, single_attempt, small_tree, stray};

async fn compile_plan(lab: &Lab) -> Plan {
    plan(&lab.fleet(), &options(), silent()).await.expect("every switch answers")
}

async fn apply_plan(lab: &Lab, plan: &Plan) -> closc_deploy::PushReport {
    push_plan(&SwitchConnections::of(&lab.fleet()), plan, &single_attempt(), silent(), open_gate())
        .await
        .expect("all have addresses")
}

#[tokio::test]
async fn a_plan_is_saved_loaded_and_pushed() {
    let lab = Lab::start(small_tree(2, 2, 2)).await;
    let first = compile_plan(&lab).await;
    assert!(lab.targets.values().all(|target| target.n_writes() == 0 && target.pipeline().is_none()));
    let shown = first.show();
    assert!(shown.contains("  set pipeline fabric (tables are emptied)\n"), "{shown}");
    assert!(shown.contains("  + ingress.port_role  ingress_port=1 -> nic_port()\n"), "{shown}");
    let short = first.overview("more\n");
    assert!(short.starts_with("8 switches change, 0 do not: ") && short.ends_with("\nmore\n"), "{short}");
    assert!(short.contains(
        "p0-t0-001, p0-t0-002, p1-t0-001, p1-t0-002\n  set pipeline fabric (tables are emptied)\n"
    ));
    assert!(short.contains("\n  + ingress.port_role: 4\n") && short.lines().count() < 60, "{short}");
    let text = first.to_json();
    let loaded = Plan::from_json(&text).expect("it was just written");
    assert_eq!(loaded.to_json(), text);
    assert_eq!(loaded.show(), shown);
    let report = apply_plan(&lab, &loaded).await;
    assert!(report.is_good(), "{report:#?}");
    for (name, target) in &lab.targets {
        assert_eq!(live_entities(target), lab.target_entities(name));
        // The updates that were shown equal those that were sent.
        assert_eq!(target.n_updates() as usize, loaded.devices[name].updates.len());
    }
    let again = compile_plan(&lab).await;
    assert!(again.is_empty());
    assert_eq!(again.show(), "0 switches change, 8 do not: 0 to insert, 0 to modify, 0 to delete\n");
    // Pushing the plan again sends nothing.
    let report = apply_plan(&lab, &loaded).await;
    assert!(report.is_good() && report.updates().total() == 0, "{report:#?}");
}

#[tokio::test]
async fn a_switch_that_moved_is_refused() {
    let lab = Lab::one().await;
    lab.converge().await;
    lab.target().plant([stray(1)]);
    let plan = compile_plan(&lab).await;
    assert_eq!(plan.counts().delete, 1);
    lab.target().plant([stray(2)]);
    let report = apply_plan(&lab, &plan).await;
    let n_routes = lab.target_entities(T0).iter().filter(|entity| is_route(entity)).count() as u64;
    assert_eq!(
        fault(&report, T0),
        format!(
            "`p0-t0-001`: the live state has changed since the plan was made: `ingress.ipv6_route` had {} \
             entries and has {}; make a new plan",
            n_routes + 1,
            n_routes + 2
        )
    );
    assert!(live_entities(lab.target()).contains(&stray(1)), "nothing was sent");
    // A restart is a change too.
    lab.target().restart();
    let message = fault(&apply_plan(&lab, &plan).await, T0);
    assert!(message.contains("it no longer runs pipeline `fabric`; make a new plan"), "{message}");
    let plan = compile_plan(&lab).await;
    assert!(apply_plan(&lab, &plan).await.is_good());
    lab.converge().await;
}

fn is_route(entity: &closc_runtime::proto::v1::Entity) -> bool {
    let id = crate::support::info().table("ingress.ipv6_route").expect("a table").preamble.id;
    matches!(
        &entity.entity,
        Some(closc_runtime::proto::v1::entity::Entity::TableEntry(entry)) if entry.table_id == id
    )
}

#[tokio::test]
async fn a_plan_that_died_half_way_is_refused_and_a_push_finishes_it() {
    let lab = Lab::one().await;
    lab.converge().await;
    lab.target().plant((0..50).map(stray));
    let plan = compile_plan(&lab).await;
    lab.script(
        Script::default().write_fault(lab.target().n_writes(), WriteFault::Disconnect { after_updates: 20 }),
    );
    let message = fault(&apply_plan(&lab, &plan).await, T0);
    assert!(message.contains("the first without an answer is `- ingress.ipv6_route"), "{message}");
    lab.script(Script::default());
    assert!(fault(&apply_plan(&lab, &plan).await, T0).contains("has changed since"));
    lab.converge().await;
}

#[tokio::test]
async fn a_file_that_was_tampered_with_is_refused() {
    let lab = Lab::one().await;
    let text = compile_plan(&lab).await.to_json();
    let refused = |text: &str| Plan::from_json(text).expect_err("tampered with").to_string();
    let shown = text.replacen("ingress_port=1 -> nic_port()", "ingress_port=1 -> fabric_port()", 1);
    let message = refused(&shown);
    assert!(
        message.starts_with(
            "`p0-t0-001`: the plan shows `+ ingress.port_role  ingress_port=1 -> fabric_port()`"
        )
    );
    assert!(
        message.ends_with("`+ ingress.port_role  ingress_port=1 -> nic_port()` would be sent"),
        "{message}"
    );
    let newer = text.replacen("closc-push-plan/1", "closc-push-plan/2", 1);
    assert_eq!(refused(&newer), "the plan has format `closc-push-plan/2`; expected `closc-push-plan/1`");
    assert!(matches!(Plan::from_json("{}"), Err(PlanFileError::Form { .. })));
    assert!(matches!(Plan::from_json("no plan"), Err(PlanFileError::Form { .. })));
    let other = text.replacen("\"cookie\": \"0x", "\"cookie\": \"0x1", 1);
    assert!(Plan::from_json(&other).is_err());
}

/// Hidden text is rejected before it fills the memory, and inflated numbers in a file have no effect.
#[tokio::test]
async fn a_file_that_grows_when_it_is_read_is_refused() {
    use base64::Engine as _;
    let lab = Lab::one().await;
    let text = compile_plan(&lab).await.to_json();
    let mut hostile: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    // Each of these four million updates would take a few hundred bytes.
    let empty = base64::engine::general_purpose::STANDARD.encode([0x22, 0x00].repeat(4 << 20));
    hostile["devices"][T0]["request"] = empty.into();
    let refused = Plan::from_json(&hostile.to_string()).expect_err("too many updates").to_string();
    assert!(refused.ends_with("would be sent"), "{refused}");
    let shown: Vec<String> = vec!["+ ".to_owned(); 1 << 10];
    hostile["devices"][T0]["changes"] = shown.into();
    let refused = Plan::from_json(&hostile.to_string()).expect_err("these are others").to_string();
    assert!(refused.contains("the plan shows"), "{refused}");
    // A number of entities that exceeds any switch.
    let mut hostile: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let device = &mut hostile["devices"][T0];
    let mut object = device["desired"].as_object().and_then(|o| o.values().next()).expect("objects").clone();
    object["entities"] = u64::MAX.into();
    for name in ["one", "other"] {
        device["live"][name] = object.clone();
    }
    let plan = Plan::from_json(&hostile.to_string()).expect("it has the form");
    assert!(fault(&apply_plan(&lab, &plan).await, T0).contains("has changed since"));
    // The number in the file does not raise the memory limit for the switch's answer.
    lab.target().plant((0..100_000).map(stray));
    let message = fault(&apply_plan(&lab, &plan).await, T0);
    assert!(message.contains("bytes of memory") && message.contains("--switch-memory"), "{message}");
}

#[tokio::test]
async fn a_plan_without_an_address_is_refused() {
    let lab = Lab::one().await;
    let plan = compile_plan(&lab).await;
    let refused =
        push_plan(&SwitchConnections::default(), &plan, &single_attempt(), silent(), open_gate()).await;
    assert_eq!(refused, Err(PlanTargetError::NoAddress { device: T0.to_owned() }));
}

#[tokio::test]
async fn a_plan_needs_every_switch() {
    let mut lab = Lab::start(small_tree(1, 1, 1)).await;
    lab.targets.get_mut(T0).expect("there").down().await;
    let failed = plan(&lab.fleet(), &single_attempt(), silent()).await.expect_err("one is down");
    assert_eq!(failed.len(), 1);
    assert!(failed[0].to_string().starts_with("`p0-t0-001`: while connecting: "), "{}", failed[0]);
}
