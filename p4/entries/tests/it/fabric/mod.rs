//! The entries of the pipeline `fabric`, read back from their files.

mod forwarding;
mod quality;
mod refusals;
mod tofino;

use closc_entries::{Pipeline, entries_file};
use closc_plan::{DeviceIntent, Plan};
use closc_runtime::proto::v1;
use closc_runtime::text;
use closc_tests::shape::Shape;

/// Plans a fabric of P4 switches.
fn plan(shape: &Shape) -> Plan {
    let yaml = shape.yaml().replace("platform: linux, os: linux", "platform: bmv2, os: p4");
    assert!(yaml.contains("os: p4"));
    closc_tests::shape::plan(&yaml)
}

/// A fabric of two tiers.
fn shape(planes: u8, groups: u16, per_group: u16, t1: u16) -> Shape {
    Shape { planes, groups, per_group, rails: 1, t1, parallel: 1, t2: None, exceptions: String::new() }
}

/// Renders the entries of a switch and reads the file.
fn updates(intent: &DeviceIntent<'_>) -> Vec<v1::Update> {
    let file = entries_file(Pipeline::fabric(), intent).expect("the pipeline supports the intent");
    assert_eq!(file.path, format!("switches/{}/entries.txtpb", intent.name));
    text::read_entries(&file.text).expect("the file is protobuf text")
}
