//! Builds entities by name for the sample program.

use std::net::Ipv6Addr;

use tonic::Code;

use super::*;
use crate::Info;
use crate::check::{Violation, check_update};
use crate::proto::v1;
use crate::sample;

const MAC: [u8; 6] = [2, 0, 0, 0, 0, 1];

fn address(text: &str) -> Ipv6Addr {
    text.parse().expect("an address")
}

fn entry<'i>(info: &'i Info, table: &str) -> EntryBuilder<'i> {
    info.entry(table).expect("the sample has the table")
}

fn message(result: Result<v1::TableEntry, Violation>) -> String {
    result.expect_err("the entry is wrong").to_string()
}

#[test]
fn an_entry_is_built_by_name_in_the_canonical_form() {
    let info = sample::info();
    let built = entry(&info, "acl")
        .exact("is_valid", true)
        .range("dst_port", 0u16, 0xffffu16)
        .optional("next_header", 17u8)
        .ternary("src_addr", address("fcbb::"), address("ffff::"))
        .priority(10)
        .action("egress.mark", &[("class", 3u8.into())])
        .build()
        .expect("the entry is right");
    let fields: Vec<u32> = built.r#match.iter().map(|field| field.field_id).collect();
    assert_eq!(fields, [1, 3, 4], "in the order of the table, without the range that is everything");
    assert_eq!(check_update(&info, &v1::Update::insert(built)), Ok(()));
}

#[test]
fn arguments_come_in_any_order() {
    let info = sample::info();
    let port = ("port", 7u16.into());
    let mac = ("dst_mac", MAC.into());
    let one =
        entry(&info, "my_sid").lpm("dst", address("fcbb::"), 32).action("uA", &[port.clone(), mac.clone()]);
    let other = entry(&info, "my_sid").lpm("dst", address("fcbb::"), 32).action("uA", &[mac, port]);
    assert_eq!(one.build(), other.build());
}

#[test]
fn a_wrong_key_or_action_is_said_with_names() {
    let info = sample::info();
    let sid = || entry(&info, "ingress.my_sid").lpm("dst", address("fcbb:bbbb:1801::"), 48);
    assert_eq!(
        info.entry("ingress.my_sd").expect_err("a typing error").to_string(),
        "no table `ingress.my_sd`; did you mean `ingress.my_sid`?"
    );
    let cases = [
        (sid().lpm("dts", 0u8, 0), "no match field `dts` in `ingress.my_sid`; did you mean `dst`?"),
        (sid().action("uX", &[]), "no action `uX` in `ingress.my_sid`; did you mean `ingress.uA`?"),
        (sid(), "table `ingress.my_sid`: the entry has no action"),
        (
            sid().action("uA", &[("port", 1u8.into())]),
            "action `ingress.uA` has no value for parameter `dst_mac`",
        ),
        (
            sid().action("uA", &[("port", 512u16.into())]),
            "action `ingress.uA`, parameter `port`: the value needs 10 bits, the field has 9",
        ),
        (
            sid().priority(1).action("uN", &[]),
            "table `ingress.my_sid`: the priority 1 is set, but no field of the key is ternary, range or optional",
        ),
        (
            entry(&info, "my_sid").lpm("dst", address("fcbb::1"), 48).action("uN", &[]),
            "table `ingress.my_sid`, match field `dst`: bits after the prefix of 48 bits are set",
        ),
        (
            entry(&info, "my_sid").lpm("dst", address("fcbb::"), 129).action("uN", &[]),
            "table `ingress.my_sid`, match field `dst`: the prefix length 129 is outside of 1 to 128",
        ),
        (
            entry(&info, "my_sid").exact("dst", address("fcbb::")).action("uN", &[]),
            "table `ingress.my_sid`, match field `dst`: the value is given as exact, the field is compared as lpm",
        ),
        (
            sid().lpm("dst", address("fcbb::"), 32).action("uN", &[]),
            "table `ingress.my_sid`, match field `dst`: the key has the field twice",
        ),
        (
            entry(&info, "next_hop").action("drop", &[]),
            "table `ingress.next_hop`: the key has no value for match field `id`",
        ),
        (
            entry(&info, "acl").exact("is_valid", true).action("drop", &[]),
            "table `ingress.acl`: the key has a ternary, range or optional field, so the entry needs a priority above 0",
        ),
    ];
    for (builder, expected) in cases {
        assert_eq!(message(builder.build()), expected);
    }
}

#[test]
fn what_a_table_does_not_take_is_said_with_names() {
    let info = sample::info();
    let sid = || entry(&info, "ingress.my_sid").lpm("dst", address("fcbb:bbbb:1801::"), 48);
    let cases = [
        (
            entry(&info, "route").exact("vrf", 1u8).action("drop", &[]),
            "table `ingress.route`: the action is given as an action, the table wants a member, a group or a set of actions",
        ),
        (
            entry(&info, "mirror").exact("port", 1u8).group(1),
            "table `ingress.mirror`: the action is given as a group, the table wants a member",
        ),
        (
            sid().action("NoAction", &[]),
            "table `ingress.my_sid`: action `NoAction` may not be used here: it is for the default entry only",
        ),
        (
            entry(&info, "class_of_dscp").exact("dscp", 1u8).action("mark", &[("class", 1u8.into())]),
            "table `egress.class_of_dscp`: the entries of the table are constant",
        ),
        (
            entry(&info, "finish").action("drop", &[]),
            "table `egress.finish`: the table has no key, so it has only a default entry",
        ),
        (
            entry(&info, "route").default_entry().action("drop", &[]),
            "table `ingress.route`: the default action is constant",
        ),
        (
            sid().idle_timeout(std::time::Duration::from_secs(1)).action("uN", &[]),
            "table `ingress.my_sid`: the table does not support idle timeouts",
        ),
        (
            sid().meter(v1::MeterConfig::default()).action("uN", &[]),
            "table `ingress.my_sid`: the table has no direct meter",
        ),
        (
            entry(&info, "port_name").exact("port", 1u8).action("set_port_name", &[("name", "a".into())]),
            "table `ingress.port_name`, match field `port`: 1 is a number, the field is text",
        ),
    ];
    for (builder, expected) in cases {
        assert_eq!(message(builder.build()), expected);
    }
}

#[test]
fn codes_are_those_of_the_specification() {
    let info = sample::info();
    let code = |update: &v1::Update| check_update(&info, update).map_err(|violation| violation.code());
    let counter = |index| v1::CounterEntry {
        counter_id: info.counter("drops").expect("known").preamble.id,
        index: Some(v1::Index { index }),
        data: None,
    };
    assert_eq!(code(&v1::Update::modify(counter(15))), Ok(()));
    assert_eq!(code(&v1::Update::modify(counter(16))), Err(Code::OutOfRange));
    assert_eq!(code(&v1::Update::modify(counter(-1))), Err(Code::InvalidArgument));
    assert_eq!(code(&v1::Update::insert(counter(0))), Err(Code::InvalidArgument));
    assert_eq!(code(&v1::Update::default()), Err(Code::InvalidArgument));
    let default = entry(&info, "my_sid").default_entry().action("drop", &[]).build().expect("right");
    assert_eq!(code(&v1::Update::modify(default.clone())), Ok(()));
    assert_eq!(code(&v1::Update::delete(default.clone())), Err(Code::InvalidArgument));
    assert_eq!(code(&v1::Update::insert(default)), Err(Code::InvalidArgument));
    let fixed = entry(&info, "class_of_dscp").exact("dscp", 1u8).build_key().expect("right");
    assert_eq!(code(&v1::Update::delete(fixed)), Err(Code::PermissionDenied));
}

#[test]
fn members_groups_and_sets_are_built_by_name() {
    let info = sample::info();
    let hop = |id: u16| [("id", id.into())];
    let built = member(&info, "wcmp", 1, "set_next_hop", &hop(9)).expect("right");
    assert_eq!(check_update(&info, &v1::Update::insert(built)), Ok(()));
    assert!(member(&info, "wcmp", 0, "set_next_hop", &hop(9)).is_err(), "0 is not an id");
    assert!(member(&info, "wcmp", 1, "uN", &[]).is_err(), "not an action of the table");

    let of = |id, weight| GroupMember { id, weight, watch_port: Some(3) };
    let built = group(&info, "wcmp", 5, &[of(1, 2), of(2, 1)], 4).expect("right");
    assert_eq!(check_update(&info, &v1::Update::insert(built)), Ok(()));
    let wrong = |members: &[GroupMember], max_size| {
        group(&info, "wcmp", 5, members, max_size).expect_err("wrong").fault.to_string()
    };
    assert_eq!(wrong(&[of(1, 2), of(1, 1)], 0), "member 1 is there twice; use its weight");
    assert_eq!(wrong(&[of(1, 0)], 0), "the weight 0 of member 1 is below 1");
    assert_eq!(wrong(&[of(1, 3)], 2), "the size 3 of the group is above 2");
    assert_eq!(wrong(&[], 257), "`max_size` is 257, the selector allows 1 to 256");
    assert!(group(&info, "mirrors", 1, &[], 0).is_err(), "no selector");

    let arguments = hop(1);
    let action =
        WeightedAction { action: "set_next_hop", arguments: &arguments, weight: 1, watch_port: None };
    let set = action_set(&info, "route", &[action]).expect("right");
    let built = entry(&info, "route").exact("vrf", 0u8).action_set(set).build().expect("right");
    assert_eq!(check_update(&info, &v1::Update::insert(built)), Ok(()));
}

#[test]
fn the_other_entities_are_built_by_name() {
    let info = sample::info();
    let insert = |entity: v1::Entity| check_update(&info, &v1::Update::insert(entity));
    let modify = |entity: v1::Entity| check_update(&info, &v1::Update::modify(entity));
    let copies = [Copy { port: 1, instance: 1 }, Copy { port: 1, instance: 2 }];
    assert_eq!(insert(multicast_group(7, &copies).expect("right").into()), Ok(()));
    assert_eq!(insert(clone_session(7, &copies[..1], 0, 128).expect("right").into()), Ok(()));
    assert!(multicast_group(0, &copies).is_err() && multicast_group(1, &[copies[0], copies[0]]).is_err());

    let data = v1::CounterData { byte_count: 0, packet_count: 0 };
    assert_eq!(modify(counter(&info, "drops", None, data).expect("right").into()), Ok(()));
    assert_eq!(modify(meter(&info, "policer", Some(7), None).expect("right").into()), Ok(()));
    assert!(meter(&info, "policer", Some(8), None).is_err(), "past the end");

    let bits = |bytes: &[u8]| v1::P4Data { data: Some(v1::p4_data::Data::Bitstring(bytes.to_vec())) };
    let flag = |value| v1::P4Data { data: Some(v1::p4_data::Data::Bool(value)) };
    let seen = |members| v1::P4Data { data: Some(v1::p4_data::Data::Struct(v1::P4StructLike { members })) };
    let right = register(&info, "last_seen", Some(0), seen(vec![bits(&[1, 0xff]), flag(true)]));
    assert_eq!(modify(right.expect("right").into()), Ok(()));
    for wrong in
        [seen(vec![bits(&[1])]), seen(vec![flag(true), bits(&[1])]), seen(vec![bits(&[2, 0]), flag(true)])]
    {
        assert!(register(&info, "last_seen", Some(0), wrong).is_err());
    }
    assert!(register(&info, "credits", None, bits(&[0xff])).is_ok(), "-1 is an int<16>");
    assert!(register(&info, "credits", None, bits(&[1, 0, 0])).is_err(), "too wide");

    let port = |value: u8| v1::ValueSetMember {
        r#match: vec![v1::FieldMatch {
            field_id: 1,
            field_match_type: Some(v1::field_match::FieldMatchType::Exact(v1::field_match::Exact {
                value: vec![value],
            })),
        }],
    };
    assert_eq!(
        modify(value_set(&info, "tunnel_ports", vec![port(1), port(2)]).expect("right").into()),
        Ok(())
    );
    let twice = value_set(&info, "tunnel_ports", vec![port(1), port(1)]).expect_err("twice");
    assert_eq!(twice.code(), Code::AlreadyExists);
    let many = value_set(&info, "tunnel_ports", (0..5).map(port).collect()).expect_err("only four fit");
    assert_eq!(many.code(), Code::ResourceExhausted);
    let config = v1::digest_entry::Config { max_timeout_ns: 1, max_list_size: 1, ack_timeout_ns: 1 };
    assert_eq!(insert(digest(&info, "learn", config).expect("right").into()), Ok(()));
}

#[test]
fn wildcards_read_all_that_a_controller_writes() {
    let info = sample::info();
    let entities = wildcards(&info);
    for entity in &entities {
        assert_eq!(crate::check::check_read(&info, entity), Ok(()));
    }
    // 2 profiles, 1 of them with groups; 7 tables with a key; 7 default entries that are not constant; 2 kinds of
    // replication; 1 value set, 1 digest and 1 meter.
    assert_eq!(entities.len(), 3 + 7 + 7 + 2 + 3);
}

#[test]
fn profiles_that_take_sets_alone_are_not_asked_for_members() {
    use v1::entity::Entity as Case;
    let of_profiles = |info: &Info| {
        let parts = |entity: &&v1::Entity| {
            matches!(&entity.entity, Some(Case::ActionProfileMember(_) | Case::ActionProfileGroup(_)))
        };
        wildcards(info).iter().filter(parts).count()
    };
    let mut message = sample::info().message().clone();
    for annotation in ["@oneshot", " @oneshot() "] {
        for table in &mut message.tables {
            let preamble = table.preamble.as_mut().expect("it has one");
            preamble.annotations = vec![annotation.to_owned()];
        }
        assert_eq!(of_profiles(&Info::new(message.clone()).expect("a P4Info")), 0);
    }
    assert_eq!(of_profiles(&sample::info()), 3);
}
