//! Damaged input from a peer or a file: nothing panics, and accepted input is consistent.

use closc_runtime::entry::{self, Copy, GroupMember, WeightedAction};
use closc_runtime::order::Order;
use closc_runtime::proto::{config, v1};
use closc_runtime::{EntityKey, Info, canonical, check, packet, render, sample, status, text};
use proptest::prelude::*;
use prost::Message as _;

use crate::common;

/// One update of every kind.
fn updates(info: &Info) -> Vec<v1::Update> {
    let hop = [("id", 9u16.into())];
    let weighted = WeightedAction { action: "set_next_hop", arguments: &hop, weight: 2, watch_port: Some(3) };
    let set = entry::action_set(info, "route", &[weighted]).expect("right");
    let acl =
        info.entry("acl").expect("known").exact("is_valid", true).range("dst_port", 1u8, 9u8).priority(4);
    let acl = acl.ternary("src_addr", 0xf0u8, 0xf0u8).optional("next_header", 17u8).action("drop", &[]);
    let members = [GroupMember { id: 1, weight: 2, watch_port: Some(7) }];
    let copies = [Copy { port: 1, instance: 1 }];
    let bits = |byte| v1::P4Data { data: Some(v1::p4_data::Data::Bitstring(vec![byte])) };
    let flag = v1::P4Data { data: Some(v1::p4_data::Data::Bool(true)) };
    let seen = v1::P4Data {
        data: Some(v1::p4_data::Data::Struct(v1::P4StructLike { members: vec![bits(1), flag] })),
    };
    let entities: Vec<v1::Entity> = vec![
        common::sid(info, 1).into(),
        acl.build().expect("right").into(),
        info.entry("route").expect("known").exact("vrf", 1u8).action_set(set).build().expect("right").into(),
        entry::member(info, "wcmp", 1, "set_next_hop", &hop).expect("right").into(),
        entry::group(info, "wcmp", 5, &members, 0).expect("right").into(),
        entry::multicast_group(7, &copies).expect("right").into(),
        entry::clone_session(7, &copies, 1, 64).expect("right").into(),
        entry::register(info, "last_seen", Some(1), seen).expect("right").into(),
        entry::meter(info, "policer", Some(1), Some(v1::MeterConfig::default())).expect("right").into(),
        entry::counter(info, "drops", Some(1), v1::CounterData::default()).expect("right").into(),
        v1::ValueSetEntry { value_set_id: 50_331_649, members: vec![v1::ValueSetMember::default()] }.into(),
        v1::DigestEntry { digest_id: 385_875_969, config: Some(v1::digest_entry::Config::default()) }.into(),
        v1::ExternEntry { extern_type_id: 129, extern_id: 2_164_260_865, entry: None }.into(),
        v1::DirectCounterEntry { table_entry: Some(common::sid(info, 1)), data: None }.into(),
    ];
    entities.into_iter().map(v1::Update::insert).collect()
}

/// Overwrites, inserts or removes a few bytes.
fn damage(bytes: &mut Vec<u8>, wounds: &[(usize, u8, u8)]) {
    for (at, kind, byte) in wounds {
        if bytes.is_empty() {
            return;
        }
        let at = at % bytes.len();
        match kind % 3 {
            0 => bytes[at] = *byte,
            1 => bytes.insert(at, *byte),
            _ => {
                bytes.remove(at);
            }
        }
    }
}

fn wounds() -> impl Strategy<Value = Vec<(usize, u8, u8)>> {
    proptest::collection::vec((any::<usize>(), any::<u8>(), any::<u8>()), 0..6)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn damaged_updates_are_checked_shown_and_compared(which in 0usize..14, wounds in wounds()) {
        let info = sample::info();
        let mut bytes = updates(&info)[which].encode_to_vec();
        damage(&mut bytes, &wounds);
        let Ok(update) = v1::Update::decode(bytes.as_slice()) else { return Ok(()) };
        let checked = check::check_update(&info, &update);
        let resolved = check::update(&info, &update).map(drop);
        prop_assert_eq!(&resolved, &checked, "every update that keeps the rules is resolved");
        let shown = render::update(&info, &update).to_string();
        prop_assert!(!shown.is_empty());
        prop_assert_eq!(text::read_entries(&text::write_entries(&info, "", std::slice::from_ref(&update))), Ok(vec![update.clone()]));
        let Some(entity) = &update.entity else { return Ok(()) };
        let _ = check::check_read(&info, entity);
        let key = EntityKey::of(entity);
        let mut once = entity.clone();
        canonical::normalise(&info, &mut once);
        let mut twice = once.clone();
        canonical::normalise(&info, &mut twice);
        prop_assert_eq!(&once, &twice, "the canonical form is stable");
        prop_assert!(canonical::is_equivalent(&info, entity, &once));
        if checked.is_ok() {
            prop_assert_eq!(EntityKey::of(&once), key, "the canonical form is the same entity");
            let again = v1::Update { entity: Some(once), ..update };
            prop_assert_eq!(check::check_update(&info, &again), Ok(()), "the canonical form is right too");
        }
    }

    #[test]
    fn damaged_p4infos_are_indexed_or_refused(wounds in wounds()) {
        let mut bytes = sample::info().message().encode_to_vec();
        damage(&mut bytes, &wounds);
        let Ok(message) = config::P4Info::decode(bytes.as_slice()) else { return Ok(()) };
        prop_assert_eq!(text::read_p4info(&text::write(&message)), Ok(message.clone()));
        let Ok(info) = Info::new(message) else { return Ok(()) };
        let _ = Order::new(&info);
        let _ = entry::wildcards(&info);
        for update in updates(&sample::info()) {
            let _ = check::check_update(&info, &update);
            let _ = render::update(&info, &update).to_string();
        }
    }

    #[test]
    fn any_bytes_are_read_as_messages_of_the_stream(bytes: Vec<u8>) {
        let info = sample::info();
        if let Ok(message) = v1::PacketIn::decode(bytes.as_slice()) {
            let _ = packet::read_packet_in(&info, message);
        }
        if let Ok(message) = v1::PacketOut::decode(bytes.as_slice()) {
            let _ = packet::read_packet_out(&info, message);
        }
        let _ = status::unpack(&tonic::Status::with_details(tonic::Code::Unknown, "", bytes.into()));
    }
}
