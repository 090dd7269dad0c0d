//! Parameters that no primitive reads: p4c removes them from a P4-14 program, but not from its P4Info.

use std::sync::Arc;

use closc_runtime::proto::{config, v1};
use closc_runtime::text::read_p4info;
use closc_switch::{EngineConfig, Pipeline, PipelineError, Store};

use crate::common::{Bench, FEATURES, FEATURES_INFO, payload};

/// Returns the program with all features and its P4Info. One action has a P4-14 name, and additional parameters in the
/// P4Info, first or last.
fn pipeline(name: &str, params: &[&str]) -> Result<Pipeline, PipelineError> {
    let mut info = read_p4info(FEATURES_INFO).expect("the fixture is a P4Info");
    let is_it = |action: &&mut config::Action| {
        action.preamble.as_ref().is_some_and(|preamble| preamble.name == "ingress.set_a")
    };
    let action = info.actions.iter_mut().find(is_it).expect("it has the action");
    name.clone_into(&mut action.preamble.as_mut().expect("it has one").name);
    let param = |(id, name): (u32, &&str)| config::action::Param {
        id,
        name: (*name).to_owned(),
        bitwidth: 8,
        ..Default::default()
    };
    action.params = (1..).zip(params).map(param).collect();
    let json = String::from_utf8(FEATURES.to_vec()).expect("JSON is text");
    let json = json.replace("\"ingress.set_a\"", &format!("\"{name}\""));
    Pipeline::new(info, json.into_bytes().into())
}

/// Returns a switch with a pipeline that can be bound.
fn bench(params: &[&str]) -> Bench {
    let pipeline = pipeline("set_a", params).expect("there is one way to bind it");
    Bench { store: Store::new(Arc::new(pipeline), EngineConfig::default()), now_ns: 0 }
}

#[test]
fn what_the_program_leaves_out_is_kept_for_the_controller() {
    for params in [["unused", "value"], ["value", "unused"]] {
        let mut bench = bench(&params);
        let info = bench.store.pipeline().info().clone();
        let entry = info.entry("ranges").expect("a table").optional("hdr.payload.a", 7_u64).priority(1);
        let entry = entry.action("set_a", &[("unused", 99_u64.into()), ("value", 42_u64.into())]);
        let entry = entry.build().expect("an entry");
        bench.write(v1::Update::insert(entry.clone()));
        let table_id = entry.table_id;
        let read = bench.read(v1::TableEntry { table_id, ..Default::default() });
        assert_eq!(read, [entry.into()], "{params:?}");
        let sent = bench.send(1, &payload(0xaa, 0xbb, 7, 5, 6));
        assert_eq!(sent[0].1[14], 42, "{params:?}: the parameter that the program has");
    }
}

#[test]
fn entries_of_the_program_have_zeros_for_it() {
    let bench = bench(&["unused", "value"]);
    let calls = bench.everything().into_iter().filter_map(|entity| match entity.entity {
        Some(v1::entity::Entity::TableEntry(entry)) => entry.action?.r#type,
        _ => None,
    });
    let params = calls.filter_map(|call| match call {
        v1::table_action::Type::Action(action) if action.params.len() == 2 => Some(action.params),
        _ => None,
    });
    let values: Vec<Vec<Vec<u8>>> =
        params.map(|params| params.into_iter().map(|param| param.value).collect()).collect();
    assert!(values.contains(&vec![vec![0], vec![11]]), "{values:?}");
    assert!(values.contains(&vec![vec![0], vec![12]]), "{values:?}");
}

#[test]
fn what_could_be_bound_in_two_ways_is_refused() {
    for (name, params) in [("ingress.set_a", &["value", "unused"][..]), ("set_a", &["unused", "renamed"])] {
        let error = pipeline(name, params).expect_err("the parameters are ambiguous");
        assert!(error.to_string().contains("come from different compilations"), "{error}");
    }
}
