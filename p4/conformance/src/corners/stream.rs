//! Packets and errors on the stream: section 16.

use closc_runtime::proto::v1;
use v1::stream_message_request::Update as Request;

use super::List;
use crate::make::{EntityResult, Maker};
use crate::section::Section;
use crate::step::{Details, ExpectedMessage, INVALID, PRIMARY, Step};

pub(super) fn add(list: &mut List<'_>) {
    packets(list);
    errors(list);
}

/// Returns a packet-out with modified metadata.
fn packet(maker: Maker<'_>, change: impl FnOnce(&mut Vec<v1::PacketMetadata>)) -> EntityResult<Request> {
    let values = [vec![7], vec![0]];
    let header = maker.header("packet_out")?.into_iter().zip(values);
    let mut metadata = header.map(|(metadata_id, value)| v1::PacketMetadata { metadata_id, value }).collect();
    change(&mut metadata);
    Ok(Request::Packet(v1::PacketOut { payload: vec![0; 64].into(), metadata }))
}

fn packets(list: &mut List<'_>) {
    list.add(
        Section::PacketIo,
        "packet-out-taken",
        "a packet-out with all of its metadata is taken, and the stream goes on",
        |maker| {
            Ok(vec![
                Step::Send(PRIMARY, packet(maker, |_| {})?),
                Step::Arbitrate(PRIMARY, v1::MasterArbitrationUpdate::default(), Some(0)),
                Step::Receive(PRIMARY, ExpectedMessage::Arbitration(tonic::Code::Ok, Some(0))),
            ])
        },
    );
}

fn errors(list: &mut List<'_>) {
    let section = Section::StreamErrors;
    let mut refused = |id, rule, details, make: fn(Maker<'_>) -> EntityResult<Request>| {
        list.add(section, id, rule, move |maker| {
            Ok(vec![
                Step::Send(PRIMARY, make(maker)?),
                Step::Receive(PRIMARY, ExpectedMessage::Error(INVALID, details)),
            ])
        });
    };
    refused(
        "stream-error-metadata-missing",
        "a packet-out without one of its metadata is reported",
        Details::PacketOut,
        |maker| packet(maker, |metadata| metadata.truncate(1)),
    );
    refused(
        "stream-error-metadata-unknown",
        "a packet-out with metadata that the P4Info does not have is reported",
        Details::PacketOut,
        |maker| packet(maker, |metadata| metadata[0].metadata_id = 77),
    );
    refused(
        "stream-error-digest-unknown",
        "an acknowledgement of a digest that the P4Info does not have is reported",
        Details::DigestListAck,
        |_| Ok(Request::DigestAck(v1::DigestListAck { digest_id: 1, list_id: 1 })),
    );
}
