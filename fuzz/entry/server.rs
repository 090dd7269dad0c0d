//! Decodes arbitrary bytes as controller requests, as gRPC does, and passes them to the switch, without a
//! panic.
//!
//! In: requests. Each has one byte for its kind, two for its length, and then the message. Out: none.
//! Invariants: there is one outcome per update, entries that are read can be encoded, and a failed update
//! does not change the switch.

use std::sync::{Arc, LazyLock};

use closc_runtime::proto::v1;
use closc_runtime::text::read_p4info;
use closc_switch::{Outbox, Pipeline, Switch, SwitchConfig};
use prost::Message as _;
use v1::set_forwarding_pipeline_config_request::Action;
use v1::write_request::Atomicity;

macro_rules! pipeline {
    ($path:literal, $json:literal, $info:literal) => {{
        let info = read_p4info(include_str!(concat!($path, $info))).expect("it is in the repository");
        let json = include_bytes!(concat!($path, $json)).as_slice();
        Arc::new(Pipeline::new(info, json.into()).expect("p4c made it"))
    }};
}

/// A pipeline with every P4 feature, and the fabric pipeline.
static PIPELINES: LazyLock<[Arc<Pipeline>; 2]> = LazyLock::new(|| {
    [
        pipeline!("../../p4/switch/tests/programs/", "features.json", "features.p4info.txtpb"),
        pipeline!("../../p4/pipelines/fabric/", "fabric.bmv2.json", "fabric.p4info.txtpb"),
    ]
});

/// Takes up to `count` bytes from the front.
fn take<'b>(bytes: &mut &'b [u8], count: usize) -> &'b [u8] {
    let (taken, rest) = bytes.split_at(count.min(bytes.len()));
    *bytes = rest;
    taken
}

fn everything(switch: &Switch, pipeline: &Pipeline) -> Vec<u8> {
    let requests = closc_runtime::entry::wildcards(pipeline.info());
    let found = switch.read(&requests).expect("it has a pipeline");
    v1::ReadResponse { entities: found.entities }.encode_to_vec()
}

fn write(switch: &Switch, pipeline: &Pipeline, request: &v1::WriteRequest) {
    let Ok(atomicity) = Atomicity::try_from(request.atomicity) else { return };
    let before = (request.updates.len() == 1).then(|| everything(switch, pipeline));
    let outcomes = switch.write(&request.updates, atomicity).expect("it has a pipeline");
    assert_eq!(outcomes.len(), request.updates.len());
    if let (Some(before), [outcome]) = (before, outcomes.as_slice())
        && !outcome.is_ok()
    {
        assert!(everything(switch, pipeline) == before, "an update that fails changes nothing: {outcome}");
    }
}

/// Runs one input.
pub(crate) fn run(input: &[u8]) {
    let mut input = input;
    let which = take(&mut input, 1).first().copied().unwrap_or(0);
    let mut pipeline = Arc::clone(&PIPELINES[usize::from(which % 2)]);
    let switch = Switch::new(SwitchConfig { cpu_port: Some(510), ..SwitchConfig::default() });
    switch.run_pipeline(Arc::clone(&pipeline));
    let mut outbox = Outbox::new();
    while let [kind, high, low] = *take(&mut input, 3) {
        let message = take(&mut input, usize::from(u16::from_be_bytes([high, low])));
        match kind % 5 {
            0 => {
                let Ok(request) = v1::WriteRequest::decode(message) else { continue };
                write(&switch, &pipeline, &request);
            }
            1 => {
                let Ok(request) = v1::ReadRequest::decode(message) else { continue };
                let found = switch.read(&request.entities).expect("it has a pipeline");
                assert_eq!(found.outcomes.len(), request.entities.len());
                let _ = v1::ReadResponse { entities: found.entities }.encode_to_vec();
            }
            2 => {
                let Ok(request) = v1::SetForwardingPipelineConfigRequest::decode(message) else { continue };
                let Ok(action) = Action::try_from(request.action) else { continue };
                if switch.set_pipeline(action, request.config.as_ref()).is_ok()
                    && let Some(running) = switch.inspect(|store| Arc::clone(store.pipeline()))
                {
                    pipeline = running;
                }
            }
            3 => {
                let Ok(packet) = v1::PacketOut::decode(message) else { continue };
                let _ = switch.packet_out(packet);
            }
            _ => {
                switch.receive_all(std::iter::once((u32::from(high), message)), &mut outbox);
                switch.tick(&mut outbox);
                outbox.clear();
            }
        }
    }
}
