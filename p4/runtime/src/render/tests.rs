//! The readable form of each kind of entity.

use std::net::Ipv6Addr;

use super::*;
use crate::entry::{self, Copy, GroupMember, WeightedAction};
use crate::sample;

fn address(text: &str) -> Ipv6Addr {
    text.parse().expect("an address")
}

fn render_entity(info: &Info, of: impl Into<v1::Entity>) -> String {
    entity(info, &of.into()).to_string()
}

#[test]
fn table_entries_are_shown_by_names() {
    let info = sample::info();
    let table = |name| info.entry(name).expect("known");
    let sid = table("my_sid").lpm("dst", address("fcbb:bbbb:1801::"), 48);
    let entry = sid.clone().action("uN", &[]).build().expect("right");
    assert_eq!(render_entity(&info, entry.clone()), "ingress.my_sid  dst=fcbb:bbbb:1801::/48 -> uN()");
    assert_eq!(
        update(&info, &v1::Update::insert(entry)).to_string(),
        "+ ingress.my_sid  dst=fcbb:bbbb:1801::/48 -> uN()"
    );
    let arguments = [("port", 7u16.into()), ("dst_mac", [2, 0, 0, 0, 0, 1].into())];
    assert_eq!(
        render_entity(&info, sid.action("uA", &arguments).build().expect("right")),
        "ingress.my_sid  dst=fcbb:bbbb:1801::/48 -> uA(port=7, dst_mac=02:00:00:00:00:01)"
    );
    let acl = table("acl").exact("is_valid", true).range("dst_port", 1u8, 9u8).priority(4);
    let acl = acl.ternary("src_addr", address("fc00::"), address("fe00::")).action("drop", &[]);
    assert_eq!(
        render_entity(&info, acl.build().expect("right")),
        "ingress.acl  src_addr=fc00:: & fe00:: dst_port=1..9 is_valid=1 priority=4 -> drop()"
    );
    let default = table("my_sid").default_entry().action("drop", &[]).build().expect("right");
    assert_eq!(render_entity(&info, default), "ingress.my_sid  (default) -> drop()");
    let text = table("port_name").exact("port", "Ethernet0").action("set_port_name", &[("name", "a".into())]);
    assert_eq!(
        render_entity(&info, text.build().expect("right")),
        "ingress.port_name  port=\"Ethernet0\" -> set_port_name(name=\"a\")"
    );
    let hop = [("id", 9u16.into())];
    let action = WeightedAction { action: "set_next_hop", arguments: &hop, weight: 2, watch_port: None };
    let set = entry::action_set(&info, "route", &[action]).expect("right");
    let route = table("route").exact("vrf", 0u8);
    assert_eq!(
        render_entity(&info, route.clone().action_set(set).build().expect("right")),
        "ingress.route  vrf=0 -> {set_next_hop(id=9) x2}"
    );
    assert_eq!(
        render_entity(&info, route.group(5).build().expect("right")),
        "ingress.route  vrf=0 -> group 5"
    );
}

#[test]
fn the_other_entities_are_shown_by_names() {
    let info = sample::info();
    let hop = [("id", 9u16.into())];
    let member = entry::member(&info, "wcmp", 3, "set_next_hop", &hop).expect("right");
    assert_eq!(render_entity(&info, member), "ingress.wcmp  member 3 -> set_next_hop(id=9)");
    let members = [(1, 2), (2, 1)].map(|(id, weight)| GroupMember { id, weight, watch_port: None });
    let group = entry::group(&info, "wcmp", 5, &members, 0).expect("right");
    assert_eq!(render_entity(&info, group), "ingress.wcmp  group 5 -> {1 x2, 2 x1}");
    let copies = [Copy { port: 1, instance: 1 }, Copy { port: 300, instance: 2 }];
    let multicast = entry::multicast_group(7, &copies).expect("right");
    assert_eq!(render_entity(&info, multicast), "multicast group 7 -> {port 1/1, port 300/2}");
    let data = v1::CounterData { byte_count: 640, packet_count: 10 };
    let counter = entry::counter(&info, "drops", Some(3), data).expect("right");
    assert_eq!(render_entity(&info, counter), "ingress.drops[3] = 10 packets, 640 bytes");
}

#[test]
fn what_is_not_known_is_shown_by_number() {
    let info = sample::info();
    let entry = v1::TableEntry {
        table_id: 0x0212_ab34,
        r#match: vec![v1::FieldMatch {
            field_id: 3,
            field_match_type: Some(v1::field_match::FieldMatchType::Exact(v1::field_match::Exact {
                value: vec![1, 2],
            })),
        }],
        ..Default::default()
    };
    assert_eq!(render_entity(&info, entry), "table 0x0212ab34  3=0x0102");
    assert_eq!(entity(&info, &v1::Entity::default()).to_string(), "(nothing)");
}
