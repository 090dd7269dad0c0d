//! Sentences of the P4Runtime specification 1.4 that a controller may rely on, one test for each part of it.

#![expect(clippy::unnecessary_wraps, reason = "a key may be left out of an entry, so keys are options")]

mod common;

use closc_runtime::Info;
use closc_runtime::proto::v1;
use tonic::Code;
use v1::field_match::{Exact, FieldMatchType, Lpm, Optional, Range, Ternary};
use v1::table_action::Type;

use common::controller::{Controller, DEVICE, serve, switch};
use common::{Bench, features};

fn info() -> Info {
    features().info().clone()
}

/// Returns an entry of a table with values for some of its fields, in the order of the source, and one action.
fn entry(
    table: &str,
    fields: &[Option<FieldMatchType>],
    priority: i32,
    action: &str,
    args: &[&[u8]],
) -> v1::TableEntry {
    let info = info();
    let table = info.table(table).expect("a table");
    let action = info.action(action).expect("an action");
    let r#match = table
        .fields()
        .iter()
        .zip(fields)
        .filter_map(|(field, given)| {
            Some(v1::FieldMatch { field_id: field.id, field_match_type: Some(given.clone()?) })
        })
        .collect();
    let param = |(param, value): (&closc_runtime::info::Param, &&[u8])| v1::action::Param {
        param_id: param.id,
        value: value.to_vec(),
    };
    let params = action.params().iter().zip(args).map(param).collect();
    let call = v1::Action { action_id: action.preamble.id, params };
    let action = Some(v1::TableAction { r#type: Some(Type::Action(call)) });
    v1::TableEntry { table_id: table.preamble.id, r#match, priority, action, ..Default::default() }
}

fn exact(value: &[u8]) -> Option<FieldMatchType> {
    Some(FieldMatchType::Exact(Exact { value: value.to_vec() }))
}

fn lpm(value: &[u8], prefix_len: i32) -> Option<FieldMatchType> {
    Some(FieldMatchType::Lpm(Lpm { value: value.to_vec(), prefix_len }))
}

fn ternary(value: &[u8], mask: &[u8]) -> Option<FieldMatchType> {
    Some(FieldMatchType::Ternary(Ternary { value: value.to_vec(), mask: mask.to_vec() }))
}

fn range(low: &[u8], high: &[u8]) -> Option<FieldMatchType> {
    Some(FieldMatchType::Range(Range { low: low.to_vec(), high: high.to_vec() }))
}

fn optional(value: &[u8]) -> Option<FieldMatchType> {
    Some(FieldMatchType::Optional(Optional { value: value.to_vec() }))
}

#[test]
fn byte_strings_are_read_with_and_without_leading_zeros_and_written_without() {
    let mut bench = Bench::new();
    bench.write(v1::Update::insert(entry("exact_dst", &[exact(&[0, 0, 7])], 0, "send", &[&[0, 9]])));
    let short = entry("exact_dst", &[exact(&[7])], 0, "send", &[&[9]]);
    assert_eq!(bench.refuse(v1::Update::insert(short.clone())), Code::AlreadyExists, "the same key");
    let table_id = short.table_id;
    assert_eq!(bench.read(v1::TableEntry { table_id, ..Default::default() }), [short.into()]);
    let empty = entry("exact_dst", &[exact(&[])], 0, "send", &[&[9]]);
    assert_eq!(bench.refuse(v1::Update::insert(empty)), Code::OutOfRange);
    let wide = entry("exact_dst", &[exact(&[1, 0, 0, 0, 0, 0, 0])], 0, "send", &[&[9]]);
    assert_eq!(bench.refuse(v1::Update::insert(wide)), Code::OutOfRange);
    let wide = entry("exact_dst", &[exact(&[1])], 0, "send", &[&[2, 0]]);
    assert_eq!(bench.refuse(v1::Update::insert(wide)), Code::OutOfRange, "9 bits");
}

#[test]
fn each_kind_of_match_has_one_way_to_say_a_thing() {
    let mut bench = Bench::new();
    for (place, wrong) in [
        ("an exact field is left out", entry("exact_dst", &[None], 0, "drop", &[])),
        ("an exact field is given as a prefix", entry("exact_dst", &[lpm(&[1], 48)], 0, "drop", &[])),
        ("a prefix of 0", entry("lpm_src", &[lpm(&[0], 0)], 0, "drop", &[])),
        ("a prefix longer than the field", entry("lpm_src", &[lpm(&[1], 49)], 0, "drop", &[])),
        ("a negative prefix", entry("lpm_src", &[lpm(&[1], -1)], 0, "drop", &[])),
        ("bits below the prefix", entry("lpm_src", &[lpm(&[1], 47)], 0, "drop", &[])),
        ("a mask of 0", entry("ternary_kind", &[ternary(&[0], &[0]), exact(&[1])], 1, "mark", &[&[1]])),
        (
            "bits outside the mask",
            entry("ternary_kind", &[ternary(&[3], &[2]), exact(&[1])], 1, "mark", &[&[1]]),
        ),
        ("a range of everything", entry("ranges", &[range(&[0], &[0xff, 0xff]), None], 1, "set_a", &[&[1]])),
        (
            "a range that ends before it begins",
            entry("ranges", &[range(&[2], &[1]), None], 1, "set_a", &[&[1]]),
        ),
        ("an argument is missing", entry("lpm_src", &[lpm(&[1], 48)], 0, "send", &[])),
        ("an action of another table", entry("lpm_src", &[lpm(&[1], 48)], 0, "mark", &[&[1]])),
    ] {
        let code = bench.refuse(v1::Update::insert(wrong));
        assert_eq!(code, Code::InvalidArgument, "{place}");
    }
    let only_default = entry("lpm_src", &[lpm(&[1], 48)], 0, "NoAction", &[]);
    assert_eq!(bench.refuse(v1::Update::insert(only_default)), Code::PermissionDenied, "@defaultonly");
    let twice = entry("exact_dst", &[exact(&[1])], 0, "drop", &[]);
    let twice = v1::TableEntry { r#match: [twice.r#match.clone(), twice.r#match.clone()].concat(), ..twice };
    assert_eq!(bench.refuse(v1::Update::insert(twice)), Code::InvalidArgument, "a field twice");
    bench.write(v1::Update::insert(entry("ranges", &[None, optional(&[1])], 1, "set_a", &[&[1]])));
    bench.write(v1::Update::insert(entry("lpm_src", &[None], 0, "drop", &[])));
}

#[test]
fn priorities_are_where_they_decide_and_part_of_the_key() {
    let mut bench = Bench::new();
    let at = |priority| {
        entry("ternary_kind", &[ternary(&[8, 0], &[0xff, 0]), exact(&[1])], priority, "mark", &[&[1]])
    };
    assert_eq!(bench.refuse(v1::Update::insert(at(0))), Code::InvalidArgument);
    assert_eq!(bench.refuse(v1::Update::insert(at(-1))), Code::InvalidArgument);
    let needless = entry("lpm_src", &[lpm(&[1], 48)], 5, "drop", &[]);
    assert_eq!(bench.refuse(v1::Update::insert(needless)), Code::InvalidArgument);
    bench.write(v1::Update::insert(at(1)));
    assert_eq!(bench.refuse(v1::Update::insert(at(1))), Code::AlreadyExists);
    bench.write(v1::Update::insert(at(2)));
    assert_eq!(bench.refuse(v1::Update::modify(at(3))), Code::NotFound);
    assert_eq!(bench.refuse(v1::Update::delete(at(3))), Code::NotFound);
    bench.write(v1::Update::delete(at(1)));
    assert_eq!(bench.read(v1::TableEntry { table_id: at(2).table_id, ..Default::default() }), [at(2).into()]);
}

#[test]
fn the_action_of_a_constant_entry_may_not_be_named() {
    let mut bench = Bench::new();
    let table_id = info().table("constants").expect("a table").preamble.id;
    let found = bench.read(v1::TableEntry { table_id, ..Default::default() });
    let Some(v1::entity::Entity::TableEntry(first)) = found[0].entity.clone() else {
        panic!("a table entry")
    };
    let first = v1::TableEntry { is_const: false, ..first };
    let code = bench.refuse(v1::Update::modify(first.clone()));
    assert_eq!(code, Code::PermissionDenied, "even the action that it has");
    assert_eq!(bench.refuse(v1::Update::delete(first.clone())), Code::PermissionDenied);
    assert_eq!(bench.refuse(v1::Update::insert(first)), Code::PermissionDenied);
}

#[test]
fn a_read_may_leave_open_what_it_asks_for() {
    let mut bench = Bench::new();
    let one = entry("exact_dst", &[exact(&[1])], 0, "send", &[&[1]]);
    let two = entry("exact_dst", &[exact(&[2])], 0, "drop", &[]);
    let prefix = entry("lpm_src", &[lpm(&[1, 0], 40)], 0, "drop", &[]);
    for entry in [&one, &two, &prefix] {
        bench.write(v1::Update::insert(entry.clone()));
    }
    let all = bench.read(v1::TableEntry::default());
    assert_eq!(all.len(), 3 + 3, "of all tables, with the constant ones");
    let of_table = v1::TableEntry { table_id: one.table_id, ..Default::default() };
    assert_eq!(bench.read(of_table).len(), 2);
    let of_key = v1::TableEntry { action: None, ..two.clone() };
    assert_eq!(bench.read(of_key), [two.into()]);
    let absent = entry("exact_dst", &[exact(&[3])], 0, "drop", &[]);
    let absent = v1::TableEntry { action: None, ..absent };
    assert!(bench.read(absent).is_empty());
    let defaults = v1::TableEntry { is_default_action: true, ..Default::default() };
    let tables = info().tables().len();
    assert!(bench.read(defaults).len() <= tables);
}

#[test]
fn what_a_table_does_not_have_is_neither_written_nor_read() {
    let (mut bench, info) = (Bench::new(), info());
    let refused = |bench: &Bench, request: v1::TableEntry| bench.read_fault(request).code();
    let id = |table: &str| info.table(table).expect("a table").preamble.id;
    let of = |table: &str| v1::TableEntry { table_id: id(table), ..Default::default() };
    let counted =
        |table: &str| v1::TableEntry { counter_data: Some(v1::CounterData::default()), ..of(table) };
    let metered =
        |table: &str| v1::TableEntry { meter_config: Some(v1::MeterConfig::default()), ..of(table) };
    let aged = |table: &str| v1::TableEntry {
        time_since_last_hit: Some(v1::table_entry::IdleTimeout::default()),
        ..of(table)
    };
    for request in [counted("exact_dst"), metered("exact_dst"), aged("exact_dst")] {
        assert_eq!(refused(&bench, request), Code::InvalidArgument);
    }
    for request in [counted("ternary_kind"), metered("ternary_kind"), aged("lpm_src")] {
        bench.read(request);
    }
    let default = v1::TableEntry { is_default_action: true, ..aged("lpm_src") };
    assert_eq!(refused(&bench, default), Code::InvalidArgument, "a default entry has no idle timeout");

    let drop = info.action("ingress.drop").expect("an action").preamble.id;
    let call = v1::Action { action_id: drop, params: Vec::new() };
    let action = Some(v1::TableAction { r#type: Some(Type::Action(call)) });
    let indirect = v1::TableEntry { is_default_action: true, action, ..of("one_of") };
    assert_eq!(bench.refuse(v1::Update::modify(indirect)), Code::PermissionDenied);
}

#[test]
fn one_shot_sets_have_weights_and_replace_each_other_whole() {
    let mut bench = Bench::new();
    let send = info().action("send").expect("an action").clone();
    let set = |weights: &[i32]| {
        let part = |(port, weight): (u8, &i32)| v1::ActionProfileAction {
            action: Some(v1::Action {
                action_id: send.preamble.id,
                params: vec![v1::action::Param { param_id: send.params()[0].id, value: vec![port] }],
            }),
            weight: *weight,
            watch_kind: None,
        };
        let action_profile_actions = (1..).zip(weights).map(part).collect();
        let set = v1::ActionProfileActionSet { action_profile_actions, ..Default::default() };
        let action = Some(v1::TableAction { r#type: Some(Type::ActionProfileActionSet(set)) });
        v1::TableEntry { action, ..entry("spread_over", &[exact(&[1])], 0, "send", &[&[1]]) }
    };
    assert_eq!(bench.refuse(v1::Update::insert(set(&[1, 0]))), Code::InvalidArgument, "a weight of 0");
    assert_eq!(bench.refuse(v1::Update::insert(set(&[-1]))), Code::InvalidArgument);
    assert_eq!(bench.refuse(v1::Update::modify(set(&[1]))), Code::NotFound);
    bench.write(v1::Update::insert(set(&[1, 2, 3])));
    assert_eq!(bench.refuse(v1::Update::insert(set(&[1]))), Code::AlreadyExists);
    bench.write(v1::Update::modify(set(&[4])));
    let table_id = set(&[1]).table_id;
    assert_eq!(bench.read(v1::TableEntry { table_id, ..Default::default() }), [set(&[4]).into()]);
    let direct = entry("spread_over", &[exact(&[2])], 0, "send", &[&[1]]);
    assert_eq!(bench.refuse(v1::Update::insert(direct)), Code::InvalidArgument, "the table has a profile");
}

#[tokio::test]
async fn only_the_primary_of_a_role_that_is_there_writes() {
    let endpoint = serve([switch(DEVICE)]).await;
    let mut whole = Controller::primary(endpoint.address(), DEVICE, 10).await;
    whole.set_features().await;
    let update = |value: u8| v1::Update::insert(entry("exact_dst", &[exact(&[value])], 0, "drop", &[]));
    whole.write_ok(vec![update(1)]).await;
    let request = |role: &str, election: u64, value: u8| v1::WriteRequest {
        device_id: DEVICE,
        role: role.to_owned(),
        election_id: Some(v1::Uint128 { high: 0, low: election }),
        updates: vec![update(value)],
        ..Default::default()
    };
    let unknown = whole.client.write(request("monitoring", 10, 2)).await.expect_err("nobody has this role");
    assert_eq!(unknown.code(), Code::NotFound);
    let denied = whole.client.write(request("", 11, 2)).await.expect_err("not its election id");
    assert_eq!(denied.code(), Code::PermissionDenied);
    let nobody = v1::WriteRequest { election_id: None, ..request("", 10, 2) };
    let denied = whole.client.write(nobody).await.expect_err("no election id");
    assert_eq!(denied.code(), Code::PermissionDenied);
    // Reading needs neither.
    assert_eq!(whole.read_ok(v1::TableEntry::default()).await.len(), 3 + 1);
}
