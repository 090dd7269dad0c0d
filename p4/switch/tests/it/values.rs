//! Values of controllers without a type in the P4Info: ports, classes of service, sizes of sets, registers.

use closc_runtime::entry::{Copy, GroupMember, clone_session, group, member};
use closc_runtime::info::Info;
use closc_runtime::proto::v1;
use tonic::Code;
use v1::entity::Entity;
use v1::p4_data::Data;

use crate::common::{self, Bench, ethernet};

fn info() -> Info {
    common::features().info().clone()
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

/// Returns a multicast group with one replica.
fn one_copy(kind: v1::replica::PortKind) -> v1::PacketReplicationEngineEntry {
    let replica = v1::Replica { port_kind: Some(kind), instance: 1, ..Default::default() };
    let group =
        v1::MulticastGroupEntry { multicast_group_id: 9, replicas: vec![replica], ..Default::default() };
    let case = v1::packet_replication_engine_entry::Type::MulticastGroupEntry(group);
    v1::PacketReplicationEngineEntry { r#type: Some(case) }
}

#[test]
fn ports_have_the_width_of_the_program_and_are_read_in_the_canonical_form() {
    use v1::replica::PortKind;
    let (mut bench, info) = (Bench::new(), info());
    let wide = one_copy(PortKind::Port(vec![1, 0xff, 0x05]));
    assert_eq!(bench.refuse(v1::Update::insert(wide)), Code::InvalidArgument);
    assert_eq!(bench.refuse(v1::Update::insert(one_copy(PortKind::Port(vec![2, 0])))), Code::InvalidArgument);
    bench.write(v1::Update::insert(one_copy(PortKind::Port(vec![0, 0, 4]))));
    assert_eq!(bench.read(one_copy(PortKind::Port(vec![1]))), [one_copy(PortKind::Port(vec![4])).into()]);
    let session = clone_session(5, &[Copy { port: 0x1_0000, instance: 1 }], 0, 0).expect("a session");
    assert_eq!(bench.refuse(v1::Update::insert(session)), Code::InvalidArgument);

    let one = member(&info, "spread", 1, "send", &[("port", 1u8.into())]).expect("a member");
    bench.write(v1::Update::insert(one));
    let part = GroupMember { id: 1, weight: 1, watch_port: None };
    let made = group(&info, "spread", 1, &[part], 0).expect("a group");
    let watching = |port: &[u8]| {
        let mut of = made.clone();
        let kind = v1::action_profile_group::member::WatchKind::WatchPort(port.to_vec());
        of.members[0].watch_kind = Some(kind);
        of
    };
    assert_eq!(bench.refuse(v1::Update::insert(watching(&[1, 0xff, 0xff, 0xff]))), Code::InvalidArgument);
    assert_eq!(bench.refuse(v1::Update::insert(watching(&[2, 0]))), Code::InvalidArgument);
    bench.write(v1::Update::insert(watching(&[0, 1])));
    assert_eq!(bench.read(made.clone()), [watching(&[1]).into()]);
    bench.write(v1::Update::modify(watching(&[])));
    assert_eq!(bench.read(made.clone()), [made.into()], "no bytes watch no port");
}

#[test]
#[expect(deprecated, reason = "older controllers name ports by number")]
fn ports_of_older_controllers_have_that_width_too() {
    use v1::action_profile_group::member::WatchKind;
    use v1::replica::PortKind;
    let (mut bench, info) = (Bench::new(), info());
    assert_eq!(bench.refuse(v1::Update::insert(one_copy(PortKind::EgressPort(512)))), Code::InvalidArgument);
    bench.write(v1::Update::insert(one_copy(PortKind::EgressPort(511))));
    assert_eq!(bench.read(one_copy(PortKind::EgressPort(1))), [one_copy(PortKind::EgressPort(511)).into()]);
    let one = member(&info, "spread", 1, "send", &[("port", 1u8.into())]).expect("a member");
    bench.write(v1::Update::insert(one));
    let part = GroupMember { id: 1, weight: 1, watch_port: None };
    let mut made = group(&info, "spread", 1, &[part], 0).expect("a group");
    for (port, good) in [(-1, false), (512, false), (3, true)] {
        made.members[0].watch_kind = Some(WatchKind::Watch(port));
        if good {
            bench.write(v1::Update::insert(made.clone()));
        } else {
            assert_eq!(bench.refuse(v1::Update::insert(made.clone())), Code::InvalidArgument);
        }
    }
    assert_eq!(bench.read(made.clone()), [made.into()]);
}

#[test]
fn a_class_of_service_is_the_queue_of_the_clone_or_refused() {
    let copy = [Copy { port: 8, instance: 0 }];
    let session = |class| clone_session(300, &copy, class, 0).expect("a session");
    let mut bench = Bench::new();
    assert_eq!(bench.refuse(v1::Update::insert(session(1))), Code::Unimplemented, "one queue");
    let config = closc_switch::EngineConfig { priority_queues: 8, ..Default::default() };
    let mut bench = Bench { store: closc_switch::Store::new(common::features(), config), now_ns: 0 };
    for class in [8, 200_000] {
        assert_eq!(bench.refuse(v1::Update::insert(session(class))), Code::InvalidArgument, "{class}");
    }
    bench.write(v1::Update::insert(session(7)));
    assert_eq!(bench.read(session(0)), [session(7).into()]);
}

/// Returns an entry of `spread_over` with its own set.
fn set_of(info: &Info, weights: &[i32], mode: i32, size_semantics: i32) -> v1::TableEntry {
    let send = info.action("send").expect("an action");
    let part = |(port, weight): (u8, &i32)| v1::ActionProfileAction {
        action: Some(v1::Action {
            action_id: send.preamble.id,
            params: vec![v1::action::Param { param_id: send.params()[0].id, value: vec![port] }],
        }),
        weight: *weight,
        watch_kind: None,
    };
    let set = v1::ActionProfileActionSet {
        action_profile_actions: (1..).zip(weights).map(part).collect(),
        action_selection_mode: mode,
        size_semantics,
        ..Default::default()
    };
    let entry = info.entry("spread_over").expect("a table").exact("hdr.payload.a", 1u8).group(1);
    let action = Some(v1::TableAction { r#type: Some(v1::table_action::Type::ActionProfileActionSet(set)) });
    v1::TableEntry { action, ..entry.build().expect("an entry") }
}

/// P4Runtime 1.5, section 9.2.3: a set states how its size is counted, and how a member is selected.
#[test]
fn the_size_of_a_set_is_counted_as_it_states() {
    use v1::action_profile_action_set::{ActionSelectionMode as Mode, SizeSemantics as Size};
    let mut message = common::features().info().message().clone();
    for profile in message.action_profiles.iter_mut().filter(|profile| profile.with_selector) {
        profile.max_group_size = 3;
    }
    let pipeline = closc_switch::Pipeline::new(message, common::FEATURES.into()).expect("a pipeline");
    let info = pipeline.info().clone();
    let store =
        closc_switch::Store::new(std::sync::Arc::new(pipeline), closc_switch::EngineConfig::default());
    let mut bench = Bench { store, now_ns: 0 };
    let (any, hash) = (Mode::DefaultModeDeterminedByActionSelector as i32, Mode::Hash as i32);
    let (selector, weights, members) = (
        Size::DefaultSizeDeterminedByActionSelector as i32,
        Size::SumOfWeights as i32,
        Size::SumOfMembers as i32,
    );
    for (good, set) in [
        (true, set_of(&info, &[4, 4], any, members)),
        (false, set_of(&info, &[1; 4], any, members)),
        (false, set_of(&info, &[4, 4], any, weights)),
        (false, set_of(&info, &[4, 4], hash, selector)),
        (true, set_of(&info, &[1, 2], hash, weights)),
        (false, set_of(&info, &[1, 1], 9, selector)),
        (false, set_of(&info, &[1, 1], -1, selector)),
        (false, set_of(&info, &[1, 1], any, 9)),
    ] {
        if good {
            bench.write(v1::Update::insert(set.clone()));
            assert_eq!(table(bench.read(key_of(&set))), std::slice::from_ref(&set));
            bench.write(v1::Update::delete(key_of(&set)));
        } else {
            assert_eq!(bench.refuse(v1::Update::insert(set)), Code::InvalidArgument);
        }
    }
    let random = set_of(&info, &[1, 1], Mode::Random as i32, selector);
    assert_eq!(bench.refuse(v1::Update::insert(random)), Code::Unimplemented);
}

#[test]
fn a_register_that_was_never_written_is_zero() {
    let (mut bench, info) = (Bench::new(), info());
    let id = info.register("last_seen").expect("a register").preamble.id;
    let all = v1::RegisterEntry { register_id: id, ..Default::default() };
    let read = bench.read(all.clone());
    assert_eq!(read.len(), 8);
    for entity in read {
        let Some(Entity::RegisterEntry(entry)) = entity.entity.clone() else { panic!("a register") };
        assert_eq!(entry.data, Some(v1::P4Data { data: Some(Data::Bitstring(vec![0])) }));
        bench.write(v1::Update::modify(entity));
    }
    bench.send(3, &ethernet(1, 0x1234, 5));
    let others = bench.read(all).into_iter().filter(|entity| {
        matches!(&entity.entity, Some(Entity::RegisterEntry(entry))
            if entry.data == Some(v1::P4Data { data: Some(Data::Bitstring(vec![0])) }))
    });
    assert_eq!(others.count(), 7);
}
