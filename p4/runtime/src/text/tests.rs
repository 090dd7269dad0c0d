//! Compares text with examples and with another implementation, and reads invalid text.

use proptest::prelude::*;
use prost_reflect::DynamicMessage;

use super::*;
use crate::proto::{descriptors, v1};
use crate::sample;

fn fault(text: &str) -> String {
    read::<v1::WriteRequest>(text).expect_err("the text is wrong").to_string()
}

#[test]
fn a_p4info_survives_byte_for_byte() {
    let message = read_p4info(sample::P4INFO).expect("the sample is right");
    let comment = sample::P4INFO.split_inclusive('\n').next().expect("the sample begins with a comment");
    assert_eq!(format!("{comment}{}", write(&message)), sample::P4INFO);
}

#[test]
fn every_way_to_write_a_field_is_read() {
    let text = r#"
        # Comments, separators, both kinds of brackets, lists, numbers in three notations.
        device_id: 0x10; role: 'a' "b" "\x63\144\u00e9\n",
        election_id < high: 010 low: 0 >
        updates: [{ type: 1 }, { type: DELETE entity { counter_entry { index {} } } }]
        updates { entity { table_entry { is_const: t priority: -5 metadata: "\377" } } }
    "#;
    let request: v1::WriteRequest = read(text).expect("all of it is allowed");
    assert_eq!(request.device_id, 16);
    assert_eq!(request.role, "abcdé\n");
    assert_eq!(request.election_id, Some(v1::Uint128 { high: 8, low: 0 }));
    assert_eq!(request.updates.len(), 3);
    assert_eq!(request.updates[1].r#type(), v1::update::Type::Delete);
    let Some(v1::entity::Entity::TableEntry(entry)) =
        request.updates[2].entity.as_ref().and_then(|entity| entity.entity.as_ref())
    else {
        panic!("the third is a table entry")
    };
    assert_eq!((entry.is_const, entry.priority, entry.metadata.as_slice()), (true, -5, &[0xff][..]));
}

#[test]
fn what_is_wrong_is_said_with_its_place() {
    let cases = [
        ("updates {\n  tipe: INSERT\n}", "2:3: `p4.v1.Update` has no field `tipe`; did you mean `type`?"),
        ("updates { type: INSRT }", "1:17: `p4.v1.Update.Type` has no value `INSRT`; did you mean `INSERT`?"),
        ("device_id: 1\ndevice_id: 2", "2:1: `device_id` is set twice"),
        (
            "updates { entity { table_entry { table_id: 1 priority: 2 metadata: '' is_const: true \
             idle_timeout_ns: 1 controller_metadata: 1 idle_timeout_ns: 2 } } }",
            "1:128: `idle_timeout_ns` is set twice",
        ),
        (
            "updates { entity { table_entry {} digest_entry {} } }",
            "1:35: `digest_entry` and `table_entry` exclude each other",
        ),
        ("device_id: -1", "1:12: `-1` does not fit uint64"),
        ("device_id: 18446744073709551616", "1:12: `18446744073709551616` does not fit uint64"),
        ("device_id \"1\"", "1:11: expected `:`, found a string"),
        ("role: \"a\n", "1:7: the string does not end in its line"),
        ("role: \"\\q\"", "1:7: unknown escape in the string"),
        ("role: \"\\377\"", "1:7: the string is not UTF-8"),
        ("updates { type: INSERT", "1:23: expected a field name or `}`, found the end of the text"),
        ("é", "1:1: unexpected character `\\u{e9}`"),
        ("}", "1:1: expected a field name, found `}`"),
    ];
    for (text, message) in cases {
        assert_eq!(fault(text), message, "{text}");
    }
}

#[test]
fn nesting_without_end_is_refused() {
    let deep = "type_info { structs { value { members { type_spec { tuple { ".to_owned()
        + &"members { tuple { ".repeat(100_000);
    let error = read_p4info(&deep).expect_err("too deep").to_string();
    assert!(error.ends_with("messages nest deeper than 64 levels"), "{error}");
}

#[test]
fn an_any_is_written_by_its_content_where_that_is_known() {
    let inner = v1::CounterData { byte_count: 1, packet_count: 2 };
    let mut entry = v1::ExternEntry {
        entry: Some(prost_types::Any::from_msg(&inner).expect("a message with a name")),
        ..Default::default()
    };
    let text = write(&entry);
    assert!(text.contains("CounterData] {\n    byte_count: 1\n    packet_count: 2\n  }\n"), "{text}");
    assert_eq!(read(&text), Ok(entry.clone()));

    // Messages that are unknown, truncated, not minimally encoded or nested too deeply are written and read without a
    // change.
    let known = "type.googleapis.com/p4.v1.CounterData";
    let mut nested = vec![0x08, 0x01];
    for _ in 0..10_000 {
        let mut outer = Vec::new();
        prost_types::Any { type_url: "type.googleapis.com/p4.v1.StreamOtherError".to_owned(), value: nested }
            .encode(&mut outer)
            .expect("a vector takes everything");
        nested = vec![0x0a];
        prost::encoding::encode_varint(outer.len() as u64, &mut nested);
        nested.extend(outer);
    }
    for (type_url, value) in [
        ("example.org/x.Y", vec![1, 2, 3]),
        (known, vec![128, 1]),
        (known, vec![8, 0x81, 0x00]),
        ("type.googleapis.com/p4.v1.StreamOtherError", nested),
    ] {
        entry.entry = Some(prost_types::Any { type_url: type_url.to_owned(), value });
        assert!(read(&write(&entry)).as_ref() == Ok(&entry), "{type_url}");
    }
}

fn bytes() -> impl Strategy<Value = Vec<u8>> {
    proptest::collection::vec(any::<u8>(), 0..20)
}

fn update() -> impl Strategy<Value = v1::Update> {
    use v1::entity::Entity;
    let matches = proptest::collection::vec((any::<u32>(), bytes(), any::<i32>()), 0..3).prop_map(|fields| {
        let field = |(field_id, value, prefix_len)| v1::FieldMatch {
            field_id,
            field_match_type: Some(v1::field_match::FieldMatchType::Lpm(v1::field_match::Lpm {
                value,
                prefix_len,
            })),
        };
        fields.into_iter().map(field).collect::<Vec<_>>()
    });
    let table = (any::<u32>(), matches, any::<i32>(), any::<bool>(), bytes()).prop_map(
        |(table_id, r#match, priority, is_const, metadata)| {
            Entity::TableEntry(v1::TableEntry {
                table_id,
                r#match,
                priority,
                is_const,
                metadata,
                ..Default::default()
            })
        },
    );
    let register = (any::<u32>(), proptest::option::of(any::<i64>()), ".*").prop_map(|(id, index, text)| {
        Entity::RegisterEntry(v1::RegisterEntry {
            register_id: id,
            index: index.map(|index| v1::Index { index }),
            data: Some(v1::P4Data { data: Some(v1::p4_data::Data::Enum(text)) }),
        })
    });
    (0i32..6, prop_oneof![table, register])
        .prop_map(|(r#type, entity)| v1::Update { r#type, entity: Some(v1::Entity { entity: Some(entity) }) })
}

proptest! {
    /// Written text is read again, here and by prost-reflect; the output of prost-reflect is read here.
    #[test]
    fn messages_survive_and_another_implementation_agrees(
        updates in proptest::collection::vec(update(), 0..4),
        role in ".*",
        device_id: u64,
    ) {
        let request = v1::WriteRequest { device_id, role, updates, ..Default::default() };
        let text = write(&request);
        prop_assert_eq!(read::<v1::WriteRequest>(&text), Ok(request.clone()));

        let descriptor = descriptors().get_message_by_name("p4.v1.WriteRequest").expect("known");
        let other = DynamicMessage::parse_text_format(descriptor, &text).expect("any reader takes it");
        prop_assert_eq!(other.transcode_to::<v1::WriteRequest>().expect("the same message"), request.clone());
        prop_assert_eq!(read::<v1::WriteRequest>(&other.to_text_format()), Ok(request));
    }

    #[test]
    fn any_text_is_read_without_panic(text: String) {
        let _ = read_p4info(&text);
        let _ = read::<v1::WriteRequest>(&text);
    }

    /// Slightly damaged text reaches more code of the reader than random text.
    #[test]
    fn damaged_text_is_read_without_panic(at in 0usize..20_000, with in "[ {}<>\\[\\]:\"'\\\\a0-]{0,3}") {
        let at = sample::P4INFO.floor_char_boundary(at.min(sample::P4INFO.len()));
        let mut text = sample::P4INFO.to_owned();
        text.replace_range(at..text.ceil_char_boundary((at + 2).min(sample::P4INFO.len())), &with);
        let _ = read_p4info(&text);
    }
}

#[test]
fn texts_that_grow_beyond_measure_are_refused() {
    let bomb = "updates{}".repeat(1 << 18);
    let error = read_entries(&bomb).expect_err("each takes some hundred bytes");
    assert!(matches!(error.fault, TextFault::TooHeavy { .. }), "{error}");
    let bomb = "tables{}".repeat(1 << 18);
    assert!(matches!(read_p4info(&bomb), Err(TextError { fault: TextFault::TooHeavy { .. }, .. })));
}
