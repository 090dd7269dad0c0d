//! Compiles `proto/` into Rust without protoc. Out: messages, client, server, and the descriptors with which the text
//! format is read and written.

use std::path::PathBuf;
use std::{env, fs};

use prost::Message as _;

const FILES: [&str; 8] = [
    "gnmi/gnmi.proto",
    "gnmi_ext/gnmi_ext.proto",
    "google/rpc/code.proto",
    "google/rpc/status.proto",
    "p4/config/v1/p4types.proto",
    "p4/config/v1/p4info.proto",
    "p4/v1/p4data.proto",
    "p4/v1/p4runtime.proto",
];

/// Large fields that are passed on unchanged, often to many switches. Their bytes are shared instead of copied. Match
/// values are not in the list, because a stored entry would keep the memory of the complete request.
const SHARED_BYTES: [&str; 4] = [
    ".gnmi.TypedValue.json_ietf_val",
    ".p4.v1.ForwardingPipelineConfig.p4_device_config",
    ".p4.v1.PacketIn.payload",
    ".p4.v1.PacketOut.payload",
];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("cargo::rerun-if-changed=proto");
    let out = PathBuf::from(env::var("OUT_DIR")?);
    let mut compiler = protox::Compiler::new(["proto"])?;
    compiler.include_imports(true).include_source_info(true).open_files(FILES)?;
    let descriptors = compiler.file_descriptor_set();

    let mut without_source = descriptors.clone();
    for file in &mut without_source.file {
        file.source_code_info = None;
    }
    fs::write(out.join("p4runtime.fds"), without_source.encode_to_vec())?;

    let mut prost = tonic_prost_build::Config::new();
    // Maps are in the order of their keys, so equal messages have equal bytes, and equal pipelines the same cookie.
    prost.bytes(SHARED_BYTES).btree_map(["."]).enable_type_names();
    // Without the feature `transport`, only messages are generated.
    let transport = env::var_os("CARGO_FEATURE_TRANSPORT").is_some();
    tonic_prost_build::configure()
        .build_client(transport)
        .build_server(transport)
        .out_dir(&out)
        .compile_fds_with_config(descriptors, prost)?;
    Ok(())
}
