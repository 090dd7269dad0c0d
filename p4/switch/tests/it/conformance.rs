//! Requests that the specification requires a target to reject, and that `closc-conformance` does not cover.

use closc_runtime::Info;
use closc_runtime::proto::v1;
use tonic::Code;
use v1::table_action::Type;

use crate::common::{Bench, features};

fn info() -> Info {
    features().info().clone()
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
