//! Compares every message, field and number of `proto/` with the descriptors in the PyPI package `p4runtime`, if it is
//! installed.
//!
//! Other P4Runtime programs depend on these names and numbers. Without this test, a wrong one would be noticed only
//! with a real switch.

use std::collections::BTreeMap;
use std::process::Command;

use closc_runtime::proto::DESCRIPTOR_SET;
use prost::Message as _;
use prost_types::{DescriptorProto, EnumDescriptorProto, FileDescriptorProto, FileDescriptorSet};

/// Prints each descriptor file in hexadecimal, one per line.
const SCRIPT: &str = "
from p4.v1 import p4runtime_pb2, p4data_pb2
from p4.config.v1 import p4info_pb2, p4types_pb2
from google.rpc import status_pb2, code_pb2
for module in (p4runtime_pb2, p4data_pb2, p4info_pb2, p4types_pb2, status_pb2, code_pb2):
    print(module.DESCRIPTOR.serialized_pb.hex())
";

fn reference() -> Option<Vec<FileDescriptorProto>> {
    let mut python = Command::new("python3");
    // The package was generated for an older protobuf. The pure Python implementation can still read it.
    python.env("PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION", "python").args(["-c", SCRIPT]);
    let output = python.output().ok().filter(|output| output.status.success())?;
    let text = String::from_utf8(output.stdout).expect("hexadecimal");
    Some(
        text.lines()
            .map(|line| FileDescriptorProto::decode(unhex(line).as_slice()).expect("a descriptor"))
            .collect(),
    )
}

fn unhex(line: &str) -> Vec<u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16).expect("hexadecimal") as u8;
    line.as_bytes().chunks_exact(2).map(|pair| digit(pair[0]) << 4 | digit(pair[1])).collect()
}

/// The properties of a file that affect other programs: one line of text for each name.
fn facts(file: &FileDescriptorProto) -> BTreeMap<String, String> {
    let mut facts = BTreeMap::new();
    facts.insert("package".to_owned(), file.package().to_owned());
    for message in &file.message_type {
        message_facts(file.package(), message, &mut facts);
    }
    for descriptor in &file.enum_type {
        enum_facts(file.package(), descriptor, &mut facts);
    }
    for service in &file.service {
        for method in &service.method {
            let streams = (method.client_streaming(), method.server_streaming());
            let fact = format!("{} -> {} {streams:?}", method.input_type(), method.output_type());
            facts.insert(format!("rpc {}.{}", service.name(), method.name()), fact);
        }
    }
    facts
}

fn message_facts(scope: &str, message: &DescriptorProto, facts: &mut BTreeMap<String, String>) {
    let name = format!("{scope}.{}", message.name());
    let is_map = message.options.as_ref().is_some_and(prost_types::MessageOptions::map_entry);
    facts.insert(format!("message {name}"), format!("map entry {is_map}"));
    for field in &message.field {
        let oneof = field.oneof_index.map(|index| message.oneof_decl[index as usize].name());
        let deprecated = field.options.as_ref().is_some_and(prost_types::FieldOptions::deprecated);
        let fact = format!(
            "{} {:?} {:?} {} oneof {oneof:?} deprecated {deprecated}",
            field.number(),
            field.label(),
            field.r#type(),
            field.type_name()
        );
        facts.insert(format!("field {name}.{}", field.name()), fact);
    }
    for nested in &message.nested_type {
        message_facts(&name, nested, facts);
    }
    for descriptor in &message.enum_type {
        enum_facts(&name, descriptor, facts);
    }
}

fn enum_facts(scope: &str, descriptor: &EnumDescriptorProto, facts: &mut BTreeMap<String, String>) {
    for value in &descriptor.value {
        let name = format!("value {scope}.{}.{}", descriptor.name(), value.name());
        facts.insert(name, value.number().to_string());
    }
}

#[test]
fn every_name_and_number_is_the_published_one() {
    let Some(reference) = reference() else {
        closc_skip::skip("python3 has no package p4runtime (pip install p4runtime)");
        return;
    };
    let own = FileDescriptorSet::decode(DESCRIPTOR_SET).expect("a descriptor set");
    let mut differences = Vec::new();
    let mut n_facts = 0;
    for file in &reference {
        let mine = own.file.iter().find(|own| own.name() == file.name());
        let mine = mine.unwrap_or_else(|| panic!("{} is missing", file.name()));
        let (mine, theirs) = (facts(mine), facts(file));
        n_facts += theirs.len();
        for (name, fact) in &theirs {
            match mine.get(name) {
                Some(own) if own == fact => {}
                Some(own) => differences.push(format!("{name}: {own}, published is {fact}")),
                None => differences.push(format!("{name} is missing: {fact}")),
            }
        }
        let invented = mine.keys().filter(|name| !theirs.contains_key(*name));
        differences.extend(invented.map(|name| format!("{name} is not published")));
    }
    assert!(n_facts > 500, "only {n_facts} names and numbers were compared");
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}
