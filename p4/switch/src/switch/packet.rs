//! Packets to and from the controller, and the conversion of their headers to metadata.

use closc_runtime::packet::{PacketError, read_packet_out};
use closc_runtime::proto::v1;
use closc_runtime::value::bits::strip;

use crate::bits;
use crate::entity::Store;
use crate::pipeline::PacketLayout;

/// Returns the packet of a packet-out, with the program's header.
pub(super) fn encode(store: &Store, packet: v1::PacketOut) -> Result<Vec<u8>, PacketError> {
    let pipeline = store.pipeline();
    let layout = pipeline.packet_out();
    if pipeline.info().packet_out().is_none() && packet.metadata.is_empty() {
        return Ok(packet.payload.into());
    }
    let packet = read_packet_out(pipeline.info(), packet)?;
    let header = pipeline.info().packet_out();
    let mut frame = vec![0; layout.bytes()];
    let mut at = 0;
    for ((id, width), (_, _, value)) in layout.fields.iter().zip(packet.metadata) {
        let field = header.and_then(|header| header.field_by_id(*id));
        let value = match field.and_then(|field| Some((field, field.text.as_ref()?))) {
            None => value,
            Some((field, of)) => store.number_of(of, &value).ok_or_else(|| PacketError::Unknown {
                field: field.name.clone(),
                value: String::from_utf8_lossy(&value).into_owned(),
            })?,
        };
        put(&mut frame, at, *width, &value);
        at += *width as usize;
    }
    frame.extend_from_slice(&packet.payload);
    Ok(frame)
}

/// Returns the packet-in for a packet to the controller; `None` if it is too short for the header.
pub(super) fn decode(store: &Store, mut frame: Vec<u8>) -> Option<v1::PacketIn> {
    let pipeline = store.pipeline();
    let layout: &PacketLayout = pipeline.packet_in();
    let bytes = layout.bytes();
    if frame.len() < bytes {
        return None;
    }
    let mut at = 0;
    let mut metadata = Vec::with_capacity(layout.fields.len());
    for (id, width) in &layout.fields {
        let field = pipeline.info().packet_in().and_then(|header| header.field_by_id(*id));
        let number = get(&frame, at, *width);
        let value = match field.and_then(|field| field.text.as_ref()) {
            Some(of) => store.name_of(of, &number),
            None => number,
        };
        metadata.push(v1::PacketMetadata { metadata_id: *id, value });
        at += *width as usize;
    }
    frame.drain(..bytes);
    Some(v1::PacketIn { payload: frame.into(), metadata })
}

/// Writes the low bits of a big-endian number at a bit offset.
fn put(frame: &mut [u8], at: usize, width: u32, value: &[u8]) {
    for bit in 0..width as usize {
        let from_end = width as usize - 1 - bit;
        let byte = value.len().checked_sub(1 + from_end / 8).and_then(|at| value.get(at));
        if byte.is_some_and(|byte| byte >> (from_end % 8) & 1 == 1) {
            frame[(at + bit) / 8] |= 0x80 >> ((at + bit) % 8);
        }
    }
}

/// Reads bits at a bit offset as a canonical number.
fn get(frame: &[u8], at: usize, width: u32) -> Vec<u8> {
    let width = width as usize;
    let mut value = vec![0; bits::bytes_for(width).max(1)];
    let start = value.len() * 8 - width;
    for bit in 0..width {
        let from = at + bit;
        if frame[from / 8] & (0x80 >> (from % 8)) != 0 {
            value[(start + bit) / 8] |= 0x80 >> ((start + bit) % 8);
        }
    }
    strip(&value).to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_need_not_begin_at_a_byte() {
        let mut frame = [0; 4];
        put(&mut frame, 3, 9, &[1, 0x81]);
        put(&mut frame, 12, 20, &[0xf, 0xff, 0xfe]);
        assert_eq!(frame, [0x18, 0x1f, 0xff, 0xfe]);
        assert_eq!(get(&frame, 3, 9), [1, 0x81]);
        assert_eq!(get(&frame, 12, 20), [0x0f, 0xff, 0xfe]);
        assert_eq!(get(&frame, 0, 3), [0]);
    }

    #[test]
    fn higher_bits_of_a_value_are_dropped() {
        let mut frame = [0; 1];
        put(&mut frame, 0, 4, &[0xff]);
        assert_eq!(frame, [0xf0]);
        put(&mut frame, 4, 4, &[]);
        assert_eq!(frame, [0xf0]);
    }
}
