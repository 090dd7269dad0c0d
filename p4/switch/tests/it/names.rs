//! Types that are text for controllers and numbers in the data plane.

use std::collections::BTreeMap;
use std::sync::Arc;

use closc_runtime::Info;
use closc_runtime::entry::{Copy, multicast_group};
use closc_runtime::proto::{config, v1};
use closc_runtime::text::read_p4info;
use closc_switch::{EngineConfig, Pipeline, Store, Switch, SwitchConfig};
use proptest::prelude::*;
use tonic::Code;
use v1::entity::Entity;
use v1::field_match::FieldMatchType;
use v1::set_forwarding_pipeline_config_request::Action;
use v1::write_request::Atomicity;

use crate::common::{Bench, CPU, FEATURES, FEATURES_INFO, ethernet, payload};

/// Number of assignable eight-bit numbers: all except 0, which is the empty string, and the numbers in the
/// program's own entries.
const MOST: usize = 253;

/// Returns the P4Info of the program with all features, with text for ports and the first byte of the payload.
fn text_info() -> config::P4Info {
    let mut info = read_p4info(FEATURES_INFO).expect("the fixture is a P4Info");
    let named = |name: &str| Some(config::P4NamedType { name: name.to_owned() });
    for table in &mut info.tables {
        for field in &mut table.match_fields {
            let name = match field.name.as_str() {
                "std.ingress_port" => "port_id_t",
                "hdr.payload.a" => "a_id_t",
                _ => continue,
            };
            (field.bitwidth, field.type_name) = (0, named(name));
        }
    }
    for action in &mut info.actions {
        for param in &mut action.params {
            let name = match param.name.as_str() {
                "port" => "port_id_t",
                "value" if action.preamble.as_ref().is_some_and(|of| of.alias == "set_a") => "a_id_t",
                _ => continue,
            };
            (param.bitwidth, param.type_name) = (0, named(name));
        }
    }
    for header in &mut info.controller_packet_metadata {
        for field in header.metadata.iter_mut().filter(|field| field.name.ends_with("gress_port")) {
            (field.bitwidth, field.type_name) = (0, named("port_id_t"));
        }
    }
    let text = config::P4NewTypeSpec {
        representation: Some(config::p4_new_type_spec::Representation::TranslatedType(
            config::P4NewTypeTranslation {
                uri: String::new(),
                sdn_type: Some(config::p4_new_type_translation::SdnType::SdnString(
                    config::p4_new_type_translation::SdnString {},
                )),
            },
        )),
        ..Default::default()
    };
    let types = info.type_info.get_or_insert_default();
    types.new_types.insert("port_id_t".to_owned(), text.clone());
    types.new_types.insert("a_id_t".to_owned(), text);
    info
}

fn pipeline() -> Arc<Pipeline> {
    Arc::new(Pipeline::new(text_info(), FEATURES.into()).expect("the fixture is a pipeline"))
}

fn bench() -> Bench {
    Bench { store: Store::new(pipeline(), EngineConfig::default()), now_ns: 0 }
}

/// An entry of the table `ranges`, for a byte.
fn rename(info: &Info, from: &str, priority: i32, to: &str) -> v1::TableEntry {
    let entry = info.entry("ranges").expect("a table").optional("hdr.payload.a", from).priority(priority);
    entry.action("set_a", &[("value", to.into())]).build().expect("an entry")
}

/// An entry of the table `spread_over` for one member: packets with the byte leave through the port.
fn send_from(info: &Info, from: &str, port: &str) -> v1::TableEntry {
    let action = closc_runtime::entry::WeightedAction {
        action: "send",
        arguments: &[("port", port.into())],
        weight: 1,
        watch_port: Some(3),
    };
    let set = closc_runtime::entry::action_set(info, "spread_over", &[action]).expect("a set");
    let entry = info.entry("spread_over").expect("a table").exact("hdr.payload.a", from);
    entry.action_set(set).build().expect("an entry")
}

fn key(entry: &v1::TableEntry) -> v1::TableEntry {
    let v1::TableEntry { table_id, r#match, priority, .. } = entry.clone();
    v1::TableEntry { table_id, r#match, priority, ..Default::default() }
}

#[test]
fn a_name_is_the_same_number_wherever_its_type_is() {
    let (mut bench, info) = (bench(), pipeline().info().clone());
    let (first, second) = (rename(&info, "", 1, "plane-3"), send_from(&info, "plane-3", "4"));
    bench.write(v1::Update::insert(first.clone()));
    bench.write(v1::Update::insert(second.clone()));
    let sent = bench.send(1, &payload(0xaa, 0xbb, 0, 2, 3));
    assert_eq!(sent.iter().map(|(port, _)| *port).collect::<Vec<u32>>(), [4], "0 is the empty string");
    for entry in [first, second] {
        assert_eq!(bench.read(key(&entry)), [entry.clone().into()], "as it was written");
        let table_id = entry.table_id;
        assert_eq!(bench.read(v1::TableEntry { table_id, ..Default::default() }), [entry.into()]);
    }
    let unknown = key(&rename(&info, "absent", 1, ""));
    assert_eq!(bench.read(unknown.clone()), []);
    assert_eq!(bench.refuse(v1::Update::delete(unknown)), Code::NotFound);
}

#[test]
fn ports_are_the_numbers_that_they_say() {
    let (mut bench, info) = (bench(), pipeline().info().clone());
    for wrong in ["", "07", "+7", "Ethernet0", "512", "99999999999", "-1", "7 "] {
        let entry = info.entry("exact_dst").expect("a table").exact("dst", 1u64);
        let entry = entry.action("send", &[("port", wrong.into())]).build().expect("text is text");
        let code = bench.refuse(v1::Update::insert(entry));
        assert_eq!(code, Code::InvalidArgument, "{wrong:?}");
    }
    let copies = |port: &[u8]| {
        let mut entry = multicast_group(5, &[Copy { port: 1, instance: 0 }]).expect("a group");
        if let Some(v1::packet_replication_engine_entry::Type::MulticastGroupEntry(group)) = &mut entry.r#type
        {
            group.replicas[0].port_kind = Some(v1::replica::PortKind::Port(port.to_vec()));
        }
        entry
    };
    assert_eq!(bench.refuse(v1::Update::insert(copies(b"Ethernet4"))), Code::InvalidArgument);
    bench.write(v1::Update::insert(copies(b"12")));
    assert_eq!(bench.read(copies(b"")), [copies(b"12").into()]);
    let entry = info.entry("exact_dst").expect("a table").exact("dst", 0xaau64);
    let entry = entry.action("broadcast", &[("group", 5u16.into())]).build().expect("an entry");
    bench.write(v1::Update::insert(entry));
    let frame = ethernet(0xaa, 0xbb, 0x800);
    assert_eq!(bench.send(1, &frame), [(12, frame)]);
    let marked = info.entry("ternary_kind").expect("a table").exact("std.ingress_port", "9").priority(1);
    let marked = marked.action("mark", &[("value", 1u8.into())]).build().expect("an entry");
    bench.write(v1::Update::insert(marked.clone()));
    assert_eq!(bench.read(key(&marked)), [marked.into()]);
}

#[test]
fn a_name_without_an_entry_gives_its_number_back() {
    let (mut bench, info) = (bench(), pipeline().info().clone());
    for round in 0..2_000 {
        let entry = rename(&info, &format!("from-{round}"), 1, &format!("to-{round}"));
        bench.write(v1::Update::insert(entry.clone()));
        bench.write(v1::Update::modify(rename(&info, &format!("from-{round}"), 1, "other")));
        bench.write(v1::Update::delete(key(&entry)));
    }
    let of = |entity: v1::Entity| match entity.entity {
        Some(Entity::TableEntry(entry)) => entry.action,
        _ => None,
    };
    let constants = info.table("constants").expect("a table").preamble.id;
    let found = bench.read(v1::TableEntry { table_id: constants, ..Default::default() });
    let values: Vec<Vec<u8>> = found
        .into_iter()
        .filter_map(of)
        .filter_map(|action| match action.r#type {
            Some(v1::table_action::Type::Action(call)) => {
                call.params.first().map(|param| param.value.clone())
            }
            _ => None,
        })
        .collect();
    assert_eq!(values, [b"11", b"12"], "numbers of the program have their digits for a name");
}

#[test]
fn when_numbers_run_out_it_says_so_and_changes_nothing() {
    let (mut bench, info) = (bench(), pipeline().info().clone());
    let entries: Vec<v1::TableEntry> =
        (0..128).map(|at| rename(&info, &format!("{}", at * 2), 1, &format!("{}", at * 2 + 1))).collect();
    // Two of the names, `11` and `12`, belong to numbers in the program's own entries.
    let n_names = |entries: usize| entries * 2 - 2;
    let fits = entries
        .iter()
        .take_while(|entry| bench.store.write(0, &v1::Update::insert((*entry).clone())).is_ok());
    let fits = fits.count();
    assert!(n_names(fits) <= MOST && n_names(fits + 1) > MOST, "{fits}");
    assert_eq!(bench.refuse(v1::Update::insert(entries[fits].clone())), Code::ResourceExhausted);
    bench.write(v1::Update::delete(key(&entries[0])));
    bench.write(v1::Update::insert(entries[fits].clone()));
    let long = "x".repeat(257);
    assert_eq!(bench.refuse(v1::Update::modify(rename(&info, "2", 1, &long))), Code::InvalidArgument);
}

fn switch() -> Switch {
    let switch = Switch::new(SwitchConfig { device_id: 7, cpu_port: Some(CPU), ..SwitchConfig::default() });
    switch.run_pipeline(pipeline());
    switch
}

fn entry_names(switch: &Switch, info: &Info) -> BTreeMap<(String, i32), String> {
    let table_id = info.table("ranges").expect("a table").preamble.id;
    let request = v1::TableEntry { table_id, ..Default::default() };
    let found = switch.read(&[request.into()]).expect("there is a pipeline");
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("a name is text");
    let one = |entity: &v1::Entity| {
        let Some(Entity::TableEntry(entry)) = &entity.entity else { return None };
        let from = match entry.r#match.first().and_then(|found| found.field_match_type.as_ref()) {
            Some(FieldMatchType::Optional(optional)) => text(&optional.value),
            _ => return None,
        };
        match entry.action.as_ref().and_then(|action| action.r#type.as_ref()) {
            Some(v1::table_action::Type::Action(call)) => {
                Some(((from, entry.priority), text(&call.params[0].value)))
            }
            _ => None,
        }
    };
    found.entities.iter().filter_map(one).collect()
}

#[test]
fn names_stay_when_a_pipeline_is_reconciled() {
    let (switch, info) = (switch(), pipeline().info().clone());
    let updates: Vec<v1::Update> = (0..50)
        .map(|at| v1::Update::insert(rename(&info, &format!("f{at}"), 1, &format!("t{at}"))))
        .collect();
    switch.write(&updates, Atomicity::ContinueOnError).expect("there is a pipeline");
    let before = entry_names(&switch, &info);
    assert_eq!(before.len(), 50);
    let config = v1::ForwardingPipelineConfig {
        p4info: Some(text_info()),
        p4_device_config: FEATURES.into(),
        cookie: None,
    };
    switch.set_pipeline(Action::ReconcileAndCommit, Some(&config)).expect("the same pipeline fits");
    assert_eq!(entry_names(&switch, &info), before);
}

#[test]
fn restrictions_are_enforced_when_asked_for() {
    let mut restricted = text_info();
    let preamble = restricted.tables.iter_mut().filter_map(|table| table.preamble.as_mut());
    for preamble in preamble.filter(|preamble| preamble.alias == "ranges") {
        preamble.annotations.push("@entry_restriction(\"::priority < 100\")".to_owned());
    }
    let info = pipeline().info().clone();
    let update = v1::Update::insert(rename(&info, "a", 100, "b"));
    let free =
        Arc::new(Pipeline::new(restricted.clone(), FEATURES.into()).expect("annotations do not count"));
    Store::new(free, EngineConfig::default()).write(0, &update).expect("nothing forbids it");
    let strict =
        Arc::new(Pipeline::with_restrictions(restricted.clone(), FEATURES.into()).expect("it can be read"));
    let mut bench = Bench { store: Store::new(strict, EngineConfig::default()), now_ns: 0 };
    assert_eq!(bench.refuse(update), Code::InvalidArgument);
    bench.write(v1::Update::insert(rename(&info, "a", 99, "b")));

    let preamble = restricted.tables[0].preamble.get_or_insert_default();
    preamble.annotations.push("@entry_restriction(\"nothing == 1\")".to_owned());
    assert!(Pipeline::new(restricted.clone(), FEATURES.into()).is_ok());
    let error = Pipeline::with_restrictions(restricted, FEATURES.into()).expect_err("there is no such field");
    assert!(error.to_string().contains("has no field `nothing`"), "{error}");
}

/// An action on the entry of a name.
#[derive(Debug, Clone)]
enum Step {
    Insert(u16, u16),
    Modify(u16, u16),
    Delete(u16),
}

fn steps() -> impl Strategy<Value = Vec<(bool, Vec<Step>)>> {
    let name = 0u16..180;
    let step = prop_oneof![
        4 => (name.clone(), 0u16..400).prop_map(|(from, to)| Step::Insert(from, to)),
        1 => (name.clone(), 0u16..400).prop_map(|(from, to)| Step::Modify(from, to)),
        1 => name.prop_map(Step::Delete),
    ];
    prop::collection::vec((any::<bool>(), prop::collection::vec(step, 1..40)), 1..16)
}

proptest! {
    /// After any batches, a read returns the written state. Numbers run out only if that many names are in
    /// use.
    #[test]
    fn names_are_kept_as_they_are_written(batches in steps()) {
        let (switch, info) = (switch(), pipeline().info().clone());
        let mut model: BTreeMap<(String, i32), String> = BTreeMap::new();
        for (atomic, batch) in batches {
            let updates: Vec<v1::Update> = batch.iter().map(|step| match step {
                Step::Insert(from, to) => v1::Update::insert(rename(&info, &format!("f{from}"), 1, &format!("t{to}"))),
                Step::Modify(from, to) => v1::Update::modify(rename(&info, &format!("f{from}"), 1, &format!("t{to}"))),
                Step::Delete(from) => v1::Update::delete(key(&rename(&info, &format!("f{from}"), 1, ""))),
            }).collect();
            let atomicity = if atomic { Atomicity::RollbackOnError } else { Atomicity::ContinueOnError };
            let outcomes = switch.write(&updates, atomicity).expect("there is a pipeline");
            let failed = outcomes.iter().any(|outcome| outcome.code != Code::Ok);
            if atomic && failed {
                prop_assert_eq!(&entry_names(&switch, &info), &model, "all of it is taken back");
                continue;
            }
            let mut next = model.clone();
            for (step, outcome) in batch.iter().zip(&outcomes) {
                let (from, to) = match step {
                    Step::Insert(from, to) | Step::Modify(from, to) => (from, format!("t{to}")),
                    Step::Delete(from) => (from, String::new()),
                };
                let place = (format!("f{from}"), 1);
                let there = next.contains_key(&place);
                let expected = match step {
                    Step::Insert(..) if there => Code::AlreadyExists,
                    Step::Modify(..) | Step::Delete(_) if !there => Code::NotFound,
                    Step::Insert(..) | Step::Modify(..) | Step::Delete(_) => Code::Ok,
                };
                if outcome.code == Code::ResourceExhausted {
                    let used: std::collections::BTreeSet<&String> =
                        next.iter().flat_map(|((from, _), to)| [from, to]).collect();
                    prop_assert!(used.len() + 2 > MOST || next.len() == 128, "{} names", used.len());
                    continue;
                }
                prop_assert_eq!(outcome.code, expected);
                match (step, outcome.code) {
                    (Step::Insert(..) | Step::Modify(..), Code::Ok) => drop(next.insert(place, to)),
                    (Step::Delete(_), Code::Ok) => drop(next.remove(&place)),
                    _ => {}
                }
            }
            model = next;
            prop_assert_eq!(&entry_names(&switch, &info), &model);
        }
    }
}
