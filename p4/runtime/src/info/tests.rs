//! The index of the sample program, and inconsistent P4Infos.

use super::*;
use crate::sample;
use crate::text::read_p4info;
use crate::value::Width;

fn faults(text: &str) -> Vec<String> {
    let message = read_p4info(text).expect("the text is right");
    let error = Info::new(message).expect_err("the P4Info is not");
    error.faults.iter().map(ToString::to_string).collect()
}

#[test]
fn every_kind_of_object_is_found_by_name_and_id() {
    let info = sample::info();
    macro_rules! found {
        ($($list:ident $find:ident $by_id:ident $name:literal;)+) => {$(
            let object = info.$find($name).expect($name);
            assert_eq!(info.$by_id(object.preamble.id).map(|found| &found.preamble.name), Some(&object.preamble.name));
            assert!(info.$by_id(1).is_none());
            assert!(info.$list().iter().any(|one| one.preamble.id == object.preamble.id));
            assert!(info.$find("nothing.like.it").is_err());
        )+};
    }
    found! {
        tables table table_by_id "my_sid";
        actions action action_by_id "uN";
        profiles profile profile_by_id "wcmp";
        counters counter counter_by_id "drops";
        direct_counters direct_counter direct_counter_by_id "sid_counter";
        meters meter meter_by_id "policer";
        direct_meters direct_meter direct_meter_by_id "acl_meter";
        registers register register_by_id "last_seen";
        value_sets value_set value_set_by_id "tunnel_ports";
        digests digest digest_by_id "learn";
        packet_headers packet_header packet_header_by_id "packet_in";
        externs extern_instance extern_by_id "trim";
    }
    assert_eq!(
        info.require_table(7).expect_err("no such id").to_string(),
        "no table has the id 7 (0x00000007)"
    );
}

#[test]
fn tables_know_what_belongs_to_them() {
    let info = sample::info();
    let acl = info.table("acl").expect("known");
    assert_eq!(
        acl.direct_counter.as_ref().map(|counter| counter.preamble.alias.as_str()),
        Some("acl_counter")
    );
    assert_eq!(acl.direct_meter.as_ref().map(|meter| meter.unit), Some(MeterUnit::Packets));
    assert!(acl.needs_priority() && acl.idle_timeout);
    let route = info.table("route").expect("known");
    assert!(
        route.profile.as_ref().is_some_and(|profile| profile.with_selector && profile.max_group_size == 256)
    );
    assert!(!route.needs_priority() && route.const_default_action.is_some());
    let port = info.table("port_name").expect("known").field("port").expect("known").width;
    assert_eq!(port, Width::Text, "translated to a string");
    let hop = info.action("set_next_hop").expect("known").param("id").expect("known").refers_to.clone();
    assert_eq!(hop, [Reference::Table { table: "ingress.next_hop".to_owned(), field: "id".to_owned() }]);
}

#[test]
fn all_that_is_inconsistent_is_reported_at_once() {
    let found = faults(
        r#"
        tables {
          preamble { id: 5 name: "a" }
          match_fields { id: 1 name: "x" bitwidth: -8 match_type: EXACT }
          match_fields { id: 1 name: "y" bitwidth: 8 match_type: EXACT }
          match_fields { id: 3 name: "x" bitwidth: 8 match_type: EXACT }
          match_fields { id: 4 name: "z" bitwidth: 8 }
          action_refs { id: 77 }
          implementation_id: 78
        }
        tables { preamble { id: 5 name: "b" } }
        tables { preamble { id: 6 name: "a" } }
        tables { preamble { name: "c" } }
        direct_counters { preamble { id: 8 name: "d" } direct_table_id: 79 }
        action_profiles { preamble { id: 9 name: "e" } table_ids: 80 }
        "#,
    );
    let expected = [
        "match field `x` of `a` has the width -8",
        "match field `y` has the id 0x00000001 of `x`",
        "match field `x` is there twice",
        "match field `z` of `a` has no match type",
        "table `a` refers to action 0x0000004d, which does not exist",
        "table `a` refers to action profile 0x0000004e, which does not exist",
        "table `b` has the id 0x00000005 of `a`",
        "table `a` is there twice",
        "table `c` has no id",
        "action profile `e` refers to table 0x00000050, which does not exist",
        "direct counter `d` refers to table 0x0000004f, which does not exist",
    ];
    assert_eq!(found, expected);
}

#[test]
fn direct_resources_and_enumerations_are_checked() {
    let found = faults(
        r#"
        tables { preamble { id: 1 name: "a" } direct_resource_ids: 8 direct_resource_ids: 9 }
        tables { preamble { id: 2 name: "b" } direct_resource_ids: 8 idle_timeout_behavior: NOTIFY_CONTROL }
        direct_counters { preamble { id: 8 name: "c" } direct_table_id: 2 }
        direct_meters { preamble { id: 9 name: "m" } direct_table_id: 2 }
        "#,
    );
    let expected = [
        "table `a` lists direct counter `c`, which is of another table",
        "table `a` lists direct meter `m`, which is of another table",
    ];
    assert_eq!(found, expected);
    let named = |id, name: &str| Some(config::Preamble { id, name: name.to_owned(), ..Default::default() });
    let spec = Some(config::MeterSpec { unit: 7, r#type: -1 });
    let message = config::P4Info {
        meters: vec![config::Meter { preamble: named(1, "m"), spec, ..Default::default() }],
        tables: vec![config::Table {
            preamble: named(2, "t"),
            idle_timeout_behavior: 9,
            ..Default::default()
        }],
        ..Default::default()
    };
    let error = Info::new(message).expect_err("these numbers mean nothing").to_string();
    for part in ["meter `m`: 7 is not a known `unit`", "-1 is not a known `type`", "table `t`: 9 is not"] {
        assert!(error.contains(part), "{error}");
    }
}
