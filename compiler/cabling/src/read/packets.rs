//! Packets that P4Runtime switches send to their controller: LLDP frames with their ingress ports.
//!
//! In: one line per message, in the JSON format of Protocol Buffers: `StreamMessageResponse` with `packet`, or only the
//! `PacketIn`. Out: a sighting for each port. Invariants: frames of other protocols are skipped. A truncated LLDP frame
//! is an error with its line.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use super::json::check_memory;
use super::{Ports, ReadError};
use crate::sighting::{Neighbour, Sighting};

/// Id of the metadata field for the ingress port in the pipelines of closc and SAI (`packet_in`, `ingress_port`).
const INGRESS_PORT: u64 = 1;

/// EtherType of LLDP (IEEE 802.1AB section 7.3, IEEE 802.1Q section 9.6).
const LLDP: [u8; 2] = [0x88, 0xcc];
const VLAN: [u8; 2] = [0x81, 0x00];

/// Returns the name of a port given only its number.
pub(crate) fn port_name(number: u64) -> String {
    format!("P4Runtime port {number}")
}

/// Returns whether a text contains packets, one per line.
pub(super) fn is_packets(text: &str) -> bool {
    let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let first = check_memory(first).ok().and_then(|first| serde_json::from_str::<Value>(first).ok());
    first.is_some_and(|value| packet(&value).is_some())
}

fn packet(value: &Value) -> Option<&Value> {
    let packet = value.get("packet").unwrap_or(value);
    (packet.get("payload").is_some() && packet.get("metadata").is_some()).then_some(packet)
}

/// Reads the packets. An identical neighbour is added to a port only once.
pub(super) fn read(text: &str) -> Result<Vec<Sighting>, ReadError> {
    let mut ports = Ports::default();
    for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let fault = |reason| ReadError::Line { line: at + 1, reason };
        let value: Value =
            serde_json::from_str(check_memory(line)?).map_err(|_| fault("it does not parse as JSON"))?;
        // Streams also contain other messages: arbitration and errors.
        let Some(packet) = packet(&value) else { continue };
        let payload = bytes(&packet["payload"]).ok_or_else(|| fault("`payload` is not base64"))?;
        let Some(data) = lldp(&payload) else { continue };
        let port = ingress(packet).ok_or_else(|| fault("no metadata with id 1, the ingress port"))?;
        let neighbour = neighbour(data).ok_or_else(|| fault("the LLDP frame is truncated"))?;
        if !ports.port(&port)?.neighbours.contains(&neighbour) {
            ports.add(&port, neighbour)?;
        }
    }
    Ok(ports.finish())
}

fn bytes(value: &Value) -> Option<Vec<u8>> {
    STANDARD.decode(value.as_str()?).ok()
}

/// Returns the ingress port of a packet: a name if the pipeline translates ports, otherwise a number. See
/// P4Runtime 1.4, section 8.4.6.
fn ingress(packet: &Value) -> Option<String> {
    let id = |one: &Value| one.get("metadataId").or_else(|| one.get("metadata_id"))?.as_u64();
    let mut metadata = packet["metadata"].as_array()?.iter();
    let value = bytes(&metadata.find(|one| id(one) == Some(INGRESS_PORT))?["value"])?;
    let name =
        std::str::from_utf8(&value).ok().filter(|name| name.starts_with(|c: char| c.is_ascii_alphabetic()));
    // One or two bytes can be a port number whose bytes are letters. A port name has at least three characters.
    if let Some(name) = name.filter(|name| name.len() > 2 && name.chars().all(|c| c.is_ascii_graphic())) {
        return Some(name.to_owned());
    }
    let fits = (1..=8).contains(&value.len());
    fits.then(|| port_name(value.iter().fold(0, |sum, byte| sum << 8 | u64::from(*byte))))
}

/// Returns the payload of an LLDP frame, or `None` for any other frame.
fn lldp(frame: &[u8]) -> Option<&[u8]> {
    let (mut kind, mut data) = (frame.get(12..14)?, &frame[14..]);
    if kind == VLAN {
        (kind, data) = (data.get(2..4)?, &data[4..]);
    }
    (kind == LLDP).then_some(data)
}

/// Reads the fields of a frame (IEEE 802.1AB section 8.4). Returns `None` if one is truncated.
fn neighbour(mut data: &[u8]) -> Option<Neighbour> {
    let mut found = Neighbour::default();
    loop {
        let (head, rest) = data.split_first_chunk::<2>()?;
        let length = usize::from(u16::from_be_bytes(*head) & 0x01ff);
        let (value, rest) = rest.split_at_checked(length)?;
        data = rest;
        let text = || String::from_utf8_lossy(value).into_owned();
        match head[0] >> 1 {
            0 => return Some(found),
            // Chassis subtype 4 and port subtype 3 are MAC addresses (sections 8.5.2.2 and 8.5.3.2).
            1 => found.chassis = identifier(value, 4),
            2 => found.ports.splice(0..0, identifier(value, 3)).for_each(drop),
            4 => found.ports.push(text()),
            5 => found.system = Some(text()),
            _ => {}
        }
    }
}

fn identifier(value: &[u8], mac: u8) -> Option<String> {
    let (subtype, id) = value.split_first()?;
    if *subtype == mac {
        return Some(id.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(":"));
    }
    Some(String::from_utf8_lossy(id).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(kind: u8, value: &[u8]) -> Vec<u8> {
        [&[kind << 1, u8::try_from(value.len()).unwrap()], value].concat()
    }

    fn frame() -> Vec<u8> {
        let mut frame = vec![0x01, 0x80, 0xc2, 0, 0, 0x0e, 2, 0, 0, 0, 0, 1, 0x88, 0xcc];
        frame.extend(field(1, &[4, 2, 0, 0, 0, 0, 1]));
        frame.extend(field(2, b"\x05eth2"));
        frame.extend(field(3, &[0, 120]));
        frame.extend(field(4, b"to p0-t0-001"));
        frame.extend(field(5, b"p0-t1-001"));
        frame.extend(field(0, b""));
        frame
    }

    fn line(frame: &[u8], port: &[u8]) -> String {
        let [payload, port] = [frame, port].map(|bytes| STANDARD.encode(bytes));
        format!(
            "{{\"packet\":{{\"payload\":\"{payload}\",\"metadata\":[{{\"metadataId\":1,\"value\":\"{port}\"}}]}}}}\n"
        )
    }

    #[test]
    fn lldp_frames_give_port_and_neighbour() {
        let mut tagged = frame();
        tagged.splice(12..12, [0x81, 0, 0, 7]);
        let ping = [&[0; 12][..], &[0x86, 0xdd, 0x60]].concat();
        let text = [
            line(&frame(), &[1, 0]),
            line(&tagged, &[1, 0]),
            line(&ping, &[2]),
            line(&frame(), b"Ethernet8"),
        ]
        .concat();
        let arbitration = "{\"arbitration\":{\"deviceId\":\"1\"}}\n";
        let read = super::super::read(format!("{text}{arbitration}").as_bytes()).unwrap();
        let expected = Neighbour {
            system: Some("p0-t1-001".to_owned()),
            chassis: Some("02:00:00:00:00:01".to_owned()),
            ports: vec!["eth2".to_owned(), "to p0-t0-001".to_owned()],
        };
        let seen: Vec<(&str, &[Neighbour])> =
            read.iter().map(|one| (one.port.as_str(), one.neighbours.as_slice())).collect();
        assert_eq!(seen, [("Ethernet8", &[expected.clone()][..]), ("P4Runtime port 256", &[expected])]);
    }

    #[test]
    fn truncated_packets_are_rejected() {
        let frame = frame();
        for length in 14..frame.len() {
            let text = line(&frame[..length], &[1]);
            assert!(matches!(read(&text), Err(ReadError::Line { line: 1, .. })), "{length}");
        }
        for text in ["{\"payload\":\"!\",\"metadata\":[]}", "{\"payload\":\"\",\"metadata\":[]}\n{"] {
            assert!(matches!(super::super::read(text.as_bytes()), Err(ReadError::Line { .. })), "{text}");
        }
        let no_port = line(&frame, &[1]).replace("metadataId\":1", "metadataId\":2");
        assert!(matches!(read(&no_port), Err(ReadError::Line { line: 1, .. })));
    }
}
