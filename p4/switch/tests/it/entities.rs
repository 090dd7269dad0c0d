//! Writes and reads of a controller, entity by entity, and their effect on the data plane.

use std::time::Duration;

use closc_runtime::entry::{
    Copy, GroupMember, WeightedAction, action_set, clone_session, counter, digest, group, member, meter,
    multicast_group, register, value_set,
};
use closc_runtime::info::Info;
use closc_runtime::proto::v1;
use tonic::Code;
use v1::entity::Entity;
use v1::p4_data::Data;

use crate::common::{self, Bench, CPU, ethernet, payload};

fn info() -> Info {
    common::features().info().clone()
}

fn send_to(info: &Info, dst: u64, port: u16) -> v1::TableEntry {
    let entry = info.entry("exact_dst").expect("a table").exact("dst", dst);
    entry.action("send", &[("port", port.into())]).build().expect("an entry")
}

fn table(entities: Vec<v1::Entity>) -> Vec<v1::TableEntry> {
    let entry = |entity: v1::Entity| match entity.entity {
        Some(Entity::TableEntry(entry)) => entry,
        other => panic!("not a table entry: {other:?}"),
    };
    entities.into_iter().map(entry).collect()
}

fn key_of(entry: &v1::TableEntry) -> v1::TableEntry {
    let v1::TableEntry { table_id, r#match, priority, .. } = entry.clone();
    v1::TableEntry { table_id, r#match, priority, ..Default::default() }
}

#[test]
fn an_exact_entry_is_inserted_read_changed_and_deleted() {
    let (mut bench, info) = (Bench::new(), info());
    let frame = ethernet(0xaa, 0xbb, 0x800);
    assert_eq!(bench.send(1, &frame), [(0, frame.clone())], "nothing chose a port");
    let entry = send_to(&info, 0xaa, 7);
    assert_eq!(bench.refuse(v1::Update::modify(entry.clone())), Code::NotFound);
    bench.write(v1::Update::insert(entry.clone()));
    assert_eq!(bench.send(1, &frame), [(7, frame.clone())]);
    assert_eq!(bench.refuse(v1::Update::insert(entry.clone())), Code::AlreadyExists);
    assert_eq!(table(bench.read(key_of(&entry))), std::slice::from_ref(&entry));

    let changed = send_to(&info, 0xaa, 8);
    bench.write(v1::Update::modify(changed.clone()));
    assert_eq!(bench.send(1, &frame), [(8, frame.clone())]);
    assert_eq!(table(bench.read(v1::TableEntry::default())).len(), 4, "three constant entries and this");
    bench.write(v1::Update::delete(key_of(&changed)));
    assert_eq!(bench.refuse(v1::Update::delete(key_of(&changed))), Code::NotFound);
    assert_eq!(bench.send(1, &frame), [(0, frame)]);
}

#[test]
fn the_longest_prefix_wins_and_everything_else_falls_to_the_shortest() {
    let (mut bench, info) = (Bench::new(), info());
    let entry = |value: u64, prefix, port: u16| {
        let entry = info.entry("lpm_src").expect("a table").lpm("source", value, prefix);
        entry.action("send", &[("port", port.into())]).build().expect("an entry")
    };
    let any = entry(0, 0, 1);
    assert!(any.r#match.is_empty(), "a prefix of no bits is left out");
    for entry in [any, entry(0x1234_0000_0000, 16, 2), entry(0x1234_5600_0000, 24, 3)] {
        bench.write(v1::Update::insert(entry.clone()));
        let found = table(bench.read(v1::TableEntry { table_id: entry.table_id, ..Default::default() }));
        assert!(found.contains(&entry));
    }
    for (src, port) in [(0x1234_5678_9abc, 3), (0x1234_9999_9999, 2), (0x9999_0000_0000, 1)] {
        let frame = ethernet(1, src, 0x800);
        assert_eq!(bench.send(1, &frame), [(port, frame)]);
    }
}

#[test]
fn the_greatest_priority_wins_and_direct_counters_count() {
    let (mut bench, info) = (Bench::new(), info());
    let entry = |value: u16, mask: u16, priority, mark: u8| {
        let entry = info.entry("ternary_kind").expect("a table").ternary("hdr.ethernet.kind", value, mask);
        let entry = entry.exact("std.ingress_port", 1u16).priority(priority);
        entry.action("mark", &[("value", mark.into())]).build().expect("an entry")
    };
    let (low, high) = (entry(0x800, 0xff00, 10, 1), entry(0x806, 0xffff, 20, 2));
    bench.write(v1::Update::insert(low.clone()));
    bench.write(v1::Update::insert(high.clone()));
    bench.send(1, &ethernet(1, 2, 0x806));
    bench.send(1, &ethernet(1, 2, 0x806));
    bench.send(1, &ethernet(1, 2, 0x807));
    bench.send(2, &ethernet(1, 2, 0x807));
    let count = |entry: &v1::TableEntry| {
        let request = v1::DirectCounterEntry { table_entry: Some(key_of(entry)), data: None };
        match bench.read(request).remove(0).entity {
            Some(Entity::DirectCounterEntry(found)) => found.data.expect("a counter has a value"),
            other => panic!("not a counter: {other:?}"),
        }
    };
    assert_eq!((count(&low).packet_count, count(&low).byte_count), (1, 14));
    assert_eq!((count(&high).packet_count, count(&high).byte_count), (2, 28));
    let default = v1::TableEntry {
        table_id: low.table_id,
        is_default_action: true,
        counter_data: Some(v1::CounterData::default()),
        ..Default::default()
    };
    let default = table(bench.read(default)).remove(0);
    assert_eq!(default.counter_data.map(|data| data.packet_count), Some(1), "one packet missed");
    let by_priority = v1::TableEntry { table_id: low.table_id, priority: 20, ..Default::default() };
    assert_eq!(table(bench.read(by_priority)), std::slice::from_ref(&high));

    let data = Some(v1::CounterData { packet_count: 5, byte_count: 6 });
    let set = v1::DirectCounterEntry { table_entry: Some(key_of(&high)), data };
    bench.write(v1::Update::modify(set));
    let again = v1::TableEntry { counter_data: Some(v1::CounterData::default()), ..key_of(&high) };
    assert_eq!(table(bench.read(again)).remove(0).counter_data, data);
}

#[test]
fn ranges_and_optional_fields_match_what_they_say() {
    let (mut bench, info) = (Bench::new(), info());
    let between = info.entry("ranges").expect("a table").range("hdr.payload.b", 10u16, 20u16).priority(5);
    let between = between.action("set_a", &[("value", 77u8.into())]).build().expect("an entry");
    let optional = info.entry("ranges").expect("a table").optional("hdr.payload.a", 3u8).priority(9);
    let optional = optional.action("set_a", &[("value", 88u8.into())]).build().expect("an entry");
    bench.write(v1::Update::insert(between.clone()));
    bench.write(v1::Update::insert(optional.clone()));
    let read = table(bench.read(v1::TableEntry { table_id: between.table_id, ..Default::default() }));
    assert_eq!(read, [between, optional]);
    let mut a_of = |a, b| bench.send(1, &payload(1, 2, a, b, 9))[0].1[14];
    assert_eq!([a_of(0, 10), a_of(0, 20), a_of(0, 21), a_of(3, 15), a_of(3, 99)], [77, 77, 0, 88, 88]);
}

#[test]
fn constant_entries_are_read_and_stay() {
    let (mut bench, info) = (Bench::new(), info());
    let id = info.table("constants").expect("a table").preamble.id;
    let entries = table(bench.read(v1::TableEntry { table_id: id, ..Default::default() }));
    assert_eq!(entries.iter().map(|entry| entry.priority).collect::<Vec<_>>(), [3, 2, 1]);
    assert!(entries.iter().all(|entry| entry.is_const));
    assert_eq!(bench.send(1, &payload(1, 2, 0, 0, 1))[0].1[14], 11);
    assert_eq!(bench.send(1, &payload(1, 2, 0, 0, 0x502))[0].1[14], 12);
    assert_eq!(bench.refuse(v1::Update::delete(key_of(&entries[0]))), Code::PermissionDenied);
    let new = info.entry("constants").expect("a table").ternary("hdr.payload.c", 9u8, 15u8).priority(1);
    let new = new.action("set_a", &[("value", 1u8.into())]).build();
    assert!(new.is_err(), "the builder refuses it too");
    let new = v1::TableEntry { is_const: false, priority: 9, ..entries[0].clone() };
    assert_eq!(bench.refuse(v1::Update::insert(new)), Code::PermissionDenied);
}

#[test]
fn default_entries_change_and_come_back() {
    let (mut bench, info) = (Bench::new(), info());
    let table_id = info.table("lpm_src").expect("a table").preamble.id;
    let default = info.entry("lpm_src").expect("a table").default_entry();
    let default = default.action("send", &[("port", 5u8.into())]).build().expect("an entry");
    bench.write(v1::Update::modify(default.clone()));
    let frame = ethernet(1, 2, 3);
    assert_eq!(bench.send(1, &frame), [(5, frame.clone())]);
    let request = v1::TableEntry { table_id, is_default_action: true, ..Default::default() };
    assert_eq!(table(bench.read(request.clone())), std::slice::from_ref(&default));
    assert_eq!(bench.refuse(v1::Update::insert(default)), Code::InvalidArgument);
    assert_eq!(bench.refuse(v1::Update::delete(request.clone())), Code::InvalidArgument);
    bench.write(v1::Update::modify(request));
    assert_eq!(bench.send(1, &frame), [(0, frame)]);
    let constant = info.entry("exact_dst").expect("a table").default_entry().action("drop", &[]).build();
    assert!(constant.is_err());
    let call =
        v1::Action { action_id: info.action("ingress.drop").expect("an action").preamble.id, params: vec![] };
    let constant = v1::TableEntry {
        table_id: info.table("exact_dst").expect("a table").preamble.id,
        is_default_action: true,
        action: Some(v1::TableAction { r#type: Some(v1::table_action::Type::Action(call)) }),
        ..Default::default()
    };
    assert_eq!(bench.refuse(v1::Update::modify(constant)), Code::PermissionDenied);
}

#[test]
fn groups_spread_over_their_members_by_weight() {
    let (mut bench, info) = (Bench::new(), info());
    for id in 1..=3u32 {
        let member = member(&info, "spread", id, "send", &[("port", id.into())]).expect("a member");
        bench.write(v1::Update::insert(member.clone()));
        assert_eq!(bench.refuse(v1::Update::insert(member)), Code::AlreadyExists);
    }
    let part = |id, weight, watch_port| GroupMember { id, weight, watch_port };
    let members = [part(1, 1, None), part(2, 3, None), part(3, 4, Some(3))];
    let group = group(&info, "spread", 9, &members, 0).expect("a group");
    bench.write(v1::Update::insert(group.clone()));
    let entry = info.entry("spread_over").expect("a table").exact("hdr.payload.a", 5u8).group(9);
    let entry = entry.build().expect("an entry");
    bench.write(v1::Update::insert(entry.clone()));
    assert_eq!(bench.read(group.clone()), [group.clone().into()]);
    assert_eq!(table(bench.read(key_of(&entry))), std::slice::from_ref(&entry));

    let spread = |bench: &mut Bench| {
        let mut counts = [0; 4];
        for src in 0..800 {
            let sent = bench.send(1, &payload(1, src * 7919, 5, 0, 9));
            counts[sent[0].0 as usize] += 1;
        }
        counts
    };
    let counts = spread(&mut bench);
    assert!(counts[1] > 50 && counts[2] > 200 && counts[3] > 300, "{counts:?}");
    bench.store.set_port(3, false);
    assert_eq!(spread(&mut bench)[3], 0, "the member whose port is down takes no part");
    bench.store.set_port(3, true);
    assert_eq!(spread(&mut bench), counts);

    assert_eq!(bench.refuse(v1::Update::delete(group.clone())), Code::FailedPrecondition);
    let used =
        v1::ActionProfileMember { action_profile_id: group.action_profile_id, member_id: 1, action: None };
    assert_eq!(bench.refuse(v1::Update::delete(used.clone())), Code::FailedPrecondition);
    bench.write(v1::Update::delete(entry));
    bench.write(v1::Update::delete(group));
    bench.write(v1::Update::delete(used));
}

/// P4Runtime 1.4, section 9.2.2, "Rules on Setting max_size". If the P4Info has no `max_group_size`, 0 means
/// the limit of the target. The size of a new group also applies to later changes of the group.
#[test]
fn a_group_keeps_the_size_that_it_was_made_for() {
    let (mut bench, info) = (Bench::new(), info());
    assert_eq!(info.profile("spread").expect("a profile").max_group_size, 0);
    for id in 1..=2u32 {
        let member = member(&info, "spread", id, "send", &[("port", id.into())]).expect("a member");
        bench.write(v1::Update::insert(member));
    }
    let made = |weights: [i32; 2], max_size| {
        let part = |id, weight| GroupMember { id, weight, watch_port: None };
        let of = group(&info, "spread", 9, &[part(1, weights[0]), part(2, weights[1])], 0).expect("a group");
        v1::ActionProfileGroup { max_size, ..of }
    };
    assert_eq!(bench.refuse(v1::Update::insert(made([1, 3], -1))), Code::InvalidArgument);
    assert_eq!(bench.refuse(v1::Update::insert(made([1, 3], 3))), Code::InvalidArgument);
    bench.write(v1::Update::insert(made([1, 3], 4)));
    assert_eq!(
        bench.refuse(v1::Update::modify(made([1, 3], 8))),
        Code::InvalidArgument,
        "it cannot be changed"
    );
    for max_size in [4, 0] {
        bench.write(v1::Update::modify(made([2, 2], max_size)));
        assert_eq!(bench.refuse(v1::Update::modify(made([2, 3], max_size))), Code::InvalidArgument);
    }
    assert_eq!(bench.read(made([1, 1], 0)), [made([2, 2], 4).into()], "it is read as it was given");
    bench.write(v1::Update::delete(made([1, 1], 0)));
    bench.write(v1::Update::insert(made([30, 40], 0)));
    bench.write(v1::Update::modify(made([50, 60], 0)));
    assert_eq!(bench.refuse(v1::Update::modify(made([1, 3], 4))), Code::InvalidArgument);
}

#[test]
fn a_missing_member_is_not_found() {
    let (mut bench, info) = (Bench::new(), info());
    let entry = info.entry("one_of").expect("a table").exact("hdr.payload.b", 1u8).member(4);
    let entry = entry.build().expect("an entry");
    assert_eq!(bench.refuse(v1::Update::insert(entry.clone())), Code::NotFound);
    let four = member(&info, "single", 4, "send", &[("port", 44u8.into())]).expect("a member");
    bench.write(v1::Update::insert(four));
    bench.write(v1::Update::insert(entry));
    assert_eq!(bench.send(1, &payload(1, 2, 0, 1, 9))[0].0, 44);
    let four = member(&info, "single", 4, "send", &[("port", 45u8.into())]).expect("a member");
    bench.write(v1::Update::modify(four));
    assert_eq!(bench.send(1, &payload(1, 2, 0, 1, 9))[0].0, 45);
}

#[test]
fn an_entry_can_bring_its_own_set() {
    let (mut bench, info) = (Bench::new(), info());
    let to = |port: &'static [(&'static str, closc_runtime::value::Value<'static>)], weight| WeightedAction {
        action: "send",
        arguments: port,
        weight,
        watch_port: None,
    };
    let one = [("port", closc_runtime::value::Value::Number(21))];
    let two = [("port", closc_runtime::value::Value::Number(22))];
    let (one, two): (&'static _, &'static _) = (Box::leak(Box::new(one)), Box::leak(Box::new(two)));
    let set = action_set(&info, "spread_over", &[to(one, 2), to(two, 1)]).expect("a set");
    let entry = info.entry("spread_over").expect("a table").exact("hdr.payload.a", 5u8).action_set(set);
    let entry = entry.build().expect("an entry");
    bench.write(v1::Update::insert(entry.clone()));
    assert_eq!(
        table(bench.read(key_of(&entry))),
        std::slice::from_ref(&entry),
        "it is read as it was written"
    );
    let ports: std::collections::BTreeSet<u32> =
        (0..100).map(|src| bench.send(1, &payload(1, src * 31, 5, 0, 9))[0].0).collect();
    assert_eq!(ports, [21, 22].into());
    let mixed = member(&info, "spread", 1, "drop", &[]).expect("a member");
    assert_eq!(bench.refuse(v1::Update::insert(mixed.clone())), Code::InvalidArgument);
    bench.write(v1::Update::delete(key_of(&entry)));
    bench.write(v1::Update::insert(mixed));
    assert_eq!(bench.refuse(v1::Update::insert(entry)), Code::InvalidArgument);
}

#[test]
fn counters_meters_and_registers_are_read_and_written() {
    let (mut bench, info) = (Bench::new(), info());
    bench.send(3, &ethernet(1, 0x1234, 5));
    let all = bench.read(v1::CounterEntry::default());
    assert_eq!(all.len(), 16);
    let id = info.counter("ports").expect("a counter").preamble.id;
    let at = |index| v1::CounterEntry { counter_id: id, index: Some(v1::Index { index }), data: None };
    let three = v1::CounterData { byte_count: 14, packet_count: 1 };
    assert_eq!(bench.read(at(3)), [v1::CounterEntry { data: Some(three), ..at(3) }.into()]);
    assert_eq!(bench.refuse(v1::Update::modify(at(16))), Code::OutOfRange);
    assert_eq!(bench.refuse(v1::Update::insert(at(3))), Code::InvalidArgument);
    let all = counter(&info, "ports", None, v1::CounterData { byte_count: 2, packet_count: 1 });
    bench.write(v1::Update::modify(all.expect("a counter")));
    assert_eq!(bench.read(at(15)).len(), 1);

    let seen = v1::RegisterEntry {
        register_id: info.register("last_seen").expect("a register").preamble.id,
        index: Some(v1::Index { index: 3 }),
        data: Some(v1::P4Data { data: Some(Data::Bitstring(vec![0x12, 0x34])) }),
    };
    let request = v1::RegisterEntry { data: None, ..seen.clone() };
    assert_eq!(bench.read(request.clone()), [seen.into()]);
    let data = v1::P4Data { data: Some(Data::Bitstring(vec![9; 6])) };
    let set = register(&info, "last_seen", Some(3), data.clone()).expect("a register");
    bench.write(v1::Update::modify(set.clone()));
    assert_eq!(bench.read(request), [set.into()]);
    let wide = v1::P4Data { data: Some(Data::Bitstring(vec![1; 7])) };
    assert!(register(&info, "last_seen", Some(3), wide).is_err());
}

#[test]
fn meters_colour_and_are_read_back() {
    let (mut bench, info) = (Bench::new(), info());
    let config = v1::MeterConfig { cir: 1, cburst: 2, pir: 1, pburst: 2, eburst: 0 };
    let set = meter(&info, "port_meter", Some(1), Some(config)).expect("a meter");
    bench.write(v1::Update::modify(set));
    assert_eq!(bench.read(v1::MeterEntry { config: None, ..set }), [set.into()]);
    let frame = ethernet(1, 2, 3);
    let passed: Vec<usize> = (0..4).map(|_| bench.send(1, &frame).len()).collect();
    assert_eq!(passed, [1, 1, 0, 0], "red packets are dropped");
    let colours = v1::MeterEntry { counter_data: Some(v1::MeterCounterData::default()), ..set };
    let Some(Entity::MeterEntry(found)) = bench.read(colours).remove(0).entity else { panic!("a meter") };
    let colours = found.counter_data.expect("asked for");
    assert_eq!(colours.green.map(|data| data.packet_count), Some(2));
    assert_eq!(colours.red.map(|data| data.byte_count), Some(28));
    let reset = meter(&info, "port_meter", Some(1), None).expect("a meter");
    bench.write(v1::Update::modify(reset));
    assert_eq!(bench.read(reset), [reset.into()]);
    assert_eq!(bench.send(1, &frame).len(), 1);
    let wrong = v1::MeterConfig { cir: 5, cburst: 2, pir: 1, pburst: 2, eburst: 0 };
    let wrong = v1::MeterEntry { config: Some(wrong), ..set };
    assert_eq!(bench.refuse(v1::Update::modify(wrong)), Code::InvalidArgument);
}

#[test]
fn a_direct_meter_goes_with_its_entry() {
    let (mut bench, info) = (Bench::new(), info());
    let config = v1::MeterConfig { cir: 1, cburst: 20, pir: 1, pburst: 20, eburst: 0 };
    let entry = info.entry("ternary_kind").expect("a table").exact("std.ingress_port", 1u8).priority(1);
    let entry = entry.action("mark", &[("value", 1u8.into())]).meter(config).build().expect("an entry");
    bench.write(v1::Update::insert(entry.clone()));
    let frame = ethernet(1, 2, 3);
    assert_eq!([bench.send(1, &frame).len(), bench.send(1, &frame).len()], [1, 0]);
    let request =
        v1::DirectMeterEntry { table_entry: Some(key_of(&entry)), config: None, counter_data: None };
    let found = v1::DirectMeterEntry { config: Some(config), ..request.clone() };
    assert_eq!(bench.read(request.clone()), [found.into()]);
    bench.write(v1::Update::modify(request.clone()));
    assert_eq!(bench.read(request.clone()), [request.into()], "without configuration it is green again");
    assert_eq!(bench.send(1, &frame).len(), 1);
}

#[test]
fn value_sets_extend_the_parser() {
    let (mut bench, info) = (Bench::new(), info());
    let mut frame = payload(1, 2, 0, 0, 1);
    frame[12..14].copy_from_slice(&[0x77, 0x77]);
    assert_eq!(bench.send(1, &frame)[0].1[14], 0, "the payload is not parsed");
    let exact = |value: u16| v1::ValueSetMember {
        r#match: vec![v1::FieldMatch {
            field_id: 1,
            field_match_type: Some(v1::field_match::FieldMatchType::Exact(v1::field_match::Exact {
                value: value.to_be_bytes().to_vec(),
            })),
        }],
    };
    let set = value_set(&info, "kinds", vec![exact(0x7777), exact(0x8888)]).expect("a set");
    bench.write(v1::Update::modify(set.clone()));
    assert_eq!(bench.read(v1::ValueSetEntry::default()), [set.clone().into()]);
    assert_eq!(bench.send(1, &frame)[0].1[14], 11);
    let full = v1::ValueSetEntry { members: (0..5).map(exact).collect(), ..set.clone() };
    assert_eq!(bench.refuse(v1::Update::modify(full)), Code::ResourceExhausted);
    let twice = v1::ValueSetEntry { members: vec![exact(1), exact(1)], ..set };
    assert_eq!(bench.refuse(v1::Update::modify(twice)), Code::AlreadyExists);
}

#[test]
fn multicast_groups_and_clone_sessions_copy() {
    let (mut bench, info) = (Bench::new(), info());
    let copies = [(9, 1), (5, 2), (3, 1), (4, 2)].map(|(port, instance)| Copy { port, instance });
    let many = multicast_group(77, &copies).expect("a group");
    bench.write(v1::Update::insert(many.clone()));
    assert_eq!(bench.refuse(v1::Update::insert(many.clone())), Code::AlreadyExists);
    let entry = info.entry("exact_dst").expect("a table").exact("dst", 1u8);
    let entry = entry.action("broadcast", &[("group", 77u8.into())]).build().expect("an entry");
    bench.write(v1::Update::insert(entry));
    let sent = bench.send(1, &payload(1, 2, 0, 0, 0));
    let copies: Vec<(u32, u8)> = sent.iter().map(|(port, frame)| (*port, frame[18])).collect();
    assert_eq!(copies, [(4, 2), (5, 2), (3, 1), (9, 1)], "the instance listed last first, as BMv2 does");
    assert_eq!(bench.read(many.clone()), [many.clone().into()], "as it was written");

    let session = clone_session(300, &[Copy { port: 8, instance: 0 }], 0, 16).expect("a session");
    bench.write(v1::Update::insert(session.clone()));
    let entry = info.entry("ranges").expect("a table").range("hdr.payload.b", 5u8, 5u8).priority(1);
    let entry = entry.action("mirror", &[("session", 300u16.into())]).build().expect("an entry");
    bench.write(v1::Update::insert(entry));
    let sent = bench.send(1, &payload(2, 2, 0, 5, 0));
    assert_eq!(sent.iter().map(|(port, _)| *port).collect::<Vec<_>>(), [8, 0]);
    assert_eq!(sent[0].1.len(), 16, "the session keeps 16 bytes");
    let wide = v1::PacketReplicationEngineEntry {
        r#type: Some(v1::packet_replication_engine_entry::Type::CloneSessionEntry(v1::CloneSessionEntry {
            session_id: 40_000,
            ..Default::default()
        })),
    };
    assert_eq!(bench.refuse(v1::Update::insert(wide)), Code::InvalidArgument);
    bench.write(v1::Update::delete(many.clone()));
    assert_eq!(bench.refuse(v1::Update::delete(many)), Code::NotFound);
}

#[test]
fn a_backup_replica_takes_over_while_a_port_is_down() {
    let mut bench = Bench::new();
    let info = info();
    let port = |port: u8| v1::replica::PortKind::Port(vec![port]);
    let replica = v1::Replica {
        instance: 1,
        backup_replicas: vec![v1::BackupReplica { port: vec![6], instance: 2 }],
        port_kind: Some(port(5)),
    };
    let group = v1::MulticastGroupEntry { multicast_group_id: 1, replicas: vec![replica], metadata: vec![] };
    let case = v1::packet_replication_engine_entry::Type::MulticastGroupEntry(group);
    bench.write(v1::Update::insert(v1::PacketReplicationEngineEntry { r#type: Some(case) }));
    let entry = info.entry("exact_dst").expect("a table").exact("dst", 1u8);
    let entry = entry.action("broadcast", &[("group", 1u8.into())]).build().expect("an entry");
    bench.write(v1::Update::insert(entry));
    let frame = ethernet(1, 2, 3);
    assert_eq!(bench.send(1, &frame)[0].0, 5);
    bench.store.set_port(5, false);
    assert_eq!(bench.send(1, &frame)[0].0, 6);
    bench.store.set_port(5, true);
    assert_eq!(bench.send(1, &frame)[0].0, 5);
}

#[test]
fn replicas_have_ports_and_backups_others() {
    let mut bench = Bench::new();
    let mut refused = |port: u8, backup: Option<(u8, u32)>| {
        let backup = backup.map(|(port, instance)| v1::BackupReplica { port: vec![port], instance });
        let replica = v1::Replica {
            instance: 1,
            backup_replicas: backup.into_iter().collect(),
            port_kind: Some(v1::replica::PortKind::Port(vec![port])),
        };
        let group =
            v1::MulticastGroupEntry { multicast_group_id: 1, replicas: vec![replica], ..Default::default() };
        let case = v1::packet_replication_engine_entry::Type::MulticastGroupEntry(group);
        bench.refuse(v1::Update::insert(v1::PacketReplicationEngineEntry { r#type: Some(case) }))
    };
    // "An SDN port number of 0 is invalid": P4Runtime 1.4, translation of port numbers.
    assert_eq!(refused(0, None), Code::InvalidArgument);
    assert_eq!(refused(5, Some((0, 2))), Code::InvalidArgument);
    assert_eq!(refused(5, Some((5, 2))), Code::InvalidArgument, "the same port, whatever the instance");
}

#[test]
fn digests_come_once_until_acknowledged() {
    let (mut bench, info) = (Bench::new(), info());
    let entry = info.entry("exact_dst").expect("a table").exact("dst", 1u8).action("learn", &[]);
    bench.write(v1::Update::insert(entry.build().expect("an entry")));
    assert!(bench.send_for_digests(1, &ethernet(1, 2, 3)).is_empty(), "digests are not enabled yet");
    let config =
        v1::digest_entry::Config { max_timeout_ns: 0, max_list_size: 1, ack_timeout_ns: 1_000_000_000 };
    let ask = digest(&info, "learn_t", config).expect("a digest");
    bench.write(v1::Update::insert(ask));
    assert_eq!(bench.refuse(v1::Update::insert(ask)), Code::AlreadyExists);
    assert_eq!(bench.read(v1::DigestEntry::default()), [ask.into()]);
    let lists = bench.send_for_digests(300, &ethernet(1, 0x0002_0304, 3));
    let list = bench.store.digest_list(&lists[0]).expect("the digest is known");
    let bits = |bytes: &[u8]| v1::P4Data { data: Some(Data::Bitstring(bytes.to_vec())) };
    let members = vec![bits(&[2, 3, 4]), bits(&[1, 0x2c])];
    assert_eq!(list.data, [v1::P4Data { data: Some(Data::Struct(v1::P4StructLike { members })) }]);
    assert!(bench.send_for_digests(300, &ethernet(1, 0x0002_0304, 3)).is_empty());
    assert!(bench.store.acknowledge(list.digest_id, list.list_id));
    assert_eq!(bench.send_for_digests(300, &ethernet(1, 0x0002_0304, 3)).len(), 1);
    assert!(!bench.store.acknowledge(1, 1));
    bench.write(v1::Update::delete(ask));
    assert!(bench.send_for_digests(300, &ethernet(1, 9, 3)).is_empty());
}

#[test]
fn idle_timeouts_are_kept_and_refused_where_the_table_has_none() {
    let (mut bench, info) = (Bench::new(), info());
    let entry = info.entry("lpm_src").expect("a table").lpm("source", 2u8, 48);
    let entry = entry.action("drop", &[]).idle_timeout(Duration::from_secs(1)).build().expect("an entry");
    bench.write(v1::Update::insert(entry.clone()));
    assert!(bench.store.ages());
    bench.now_ns += 500;
    let request = v1::TableEntry {
        time_since_last_hit: Some(v1::table_entry::IdleTimeout::default()),
        ..key_of(&entry)
    };
    let found = table(bench.read(request)).remove(0);
    assert_eq!(found.idle_timeout_ns, 1_000_000_000);
    assert_eq!(found.time_since_last_hit.map(|hit| hit.elapsed_ns), Some(500));
    bench.write(v1::Update::delete(key_of(&entry)));
    assert!(!bench.store.ages());
    let other = v1::TableEntry { idle_timeout_ns: 1, ..send_to(&info, 1, 1) };
    assert_eq!(bench.refuse(v1::Update::insert(other)), Code::InvalidArgument);
}

#[test]
fn packets_reach_and_leave_the_controller_with_their_headers() {
    let (mut bench, info) = (Bench::new(), info());
    let entry = info.entry("exact_dst").expect("a table").exact("dst", 1u8);
    let entry = entry.action("punt", &[("reason", 3u8.into())]).build().expect("an entry");
    bench.write(v1::Update::insert(entry));
    let frame = ethernet(1, 2, 3);
    let sent = bench.send(5, &frame);
    assert_eq!(sent, [(CPU, [&[0x02, 0x83], &frame[..]].concat())]);
    let mut out = vec![0x03, 0x80];
    out.extend_from_slice(&frame);
    assert_eq!(bench.send(CPU, &out), [(7, frame)]);
}

#[test]
fn resubmitted_packets_keep_their_fields_and_go_round_once() {
    let (mut bench, info) = (Bench::new(), info());
    let entry = info.entry("ranges").expect("a table").range("hdr.payload.b", 5u8, 5u8).priority(1);
    let entry = entry.action("again", &[]).build().expect("an entry");
    bench.write(v1::Update::insert(entry));
    let frame = payload(2, 2, 0, 5, 9);
    assert_eq!(bench.send(1, &frame), [(0, frame)]);
    let id = info.counter("ports").expect("a counter").preamble.id;
    let count = |index| {
        let request = v1::CounterEntry { counter_id: id, index: Some(v1::Index { index }), data: None };
        match bench.read(request).remove(0).entity {
            Some(Entity::CounterEntry(found)) => found.data.map_or(0, |data| data.packet_count),
            other => panic!("not a counter: {other:?}"),
        }
    };
    assert_eq!([count(1), count(0)], [1, 1], "the second time, metadata outside the list is zero");
}

#[test]
fn wrong_requests_are_named() {
    let bench = Bench::new();
    let unknown = v1::TableEntry { table_id: 1, ..Default::default() };
    assert_eq!(bench.read_fault(unknown).code(), Code::InvalidArgument);
    assert_eq!(bench.read_fault(v1::Entity::default()).code(), Code::InvalidArgument);
    let id = info().profile("spread").expect("a profile").preamble.id;
    let member = v1::ActionProfileMember { action_profile_id: id, member_id: 5, action: None };
    let fault = bench.read_fault(member);
    assert_eq!(fault.code(), Code::NotFound);
    assert_eq!(fault.to_string(), "action profile `ingress.spread`: member 5 does not exist");
}
