//! Packets between controller and target, with their metadata by name.

use bytes::Bytes;
use thiserror::Error;

use crate::info::{Info, LookupError, PacketHeader};
use crate::proto::v1;
use crate::value::{Value, ValueError, Width};

/// Metadata that does not fit the header of the program.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum PacketError {
    /// The program has no such header.
    #[error("the program has no `{header}` header")]
    NoHeader {
        /// `packet_in` or `packet_out`.
        header: &'static str,
    },
    /// A field is unknown.
    #[error(transparent)]
    Lookup(#[from] LookupError),
    /// A field is set twice.
    #[error("metadata field `{field}` of `{header}` is there twice")]
    Twice {
        /// The header.
        header: String,
        /// The field.
        field: String,
    },
    /// A field is missing.
    #[error("metadata field `{field}` of `{header}` is missing")]
    Missing {
        /// The header.
        header: String,
        /// The field.
        field: String,
    },
    /// A value that is translated from text is unknown on the switch.
    #[error("metadata field `{field}` is `{value}`, which names nothing on the switch")]
    Unknown {
        /// The field.
        field: String,
        /// The value.
        value: String,
    },
    /// A value does not fit.
    #[error("metadata field `{field}` of `{header}`: {error}")]
    Value {
        /// The header.
        header: String,
        /// The field.
        field: String,
        /// The reason.
        error: ValueError,
    },
}

/// A packet with its metadata by name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Packet {
    /// The whole packet.
    pub payload: Bytes,
    /// Names, widths and canonical values, in the order of the header in the program.
    pub metadata: Vec<(String, Width, Vec<u8>)>,
}

impl Packet {
    /// Returns a field as a number.
    pub fn number(&self, field: &str) -> Option<u128> {
        let (_, width, value) = self.metadata.iter().find(|(name, ..)| name == field)?;
        width.decode(value).ok()
    }
}

/// Makes a packet-out from metadata by name, which must contain all fields of the program's `packet_out`
/// header.
pub fn packet_out(
    info: &Info,
    payload: Bytes,
    metadata: &[(&str, Value<'_>)],
) -> Result<v1::PacketOut, PacketError> {
    let metadata = encode(header(info, "packet_out")?, metadata)?;
    Ok(v1::PacketOut { payload, metadata })
}

/// Makes a packet-in, as a target does.
pub fn packet_in(
    info: &Info,
    payload: Bytes,
    metadata: &[(&str, Value<'_>)],
) -> Result<v1::PacketIn, PacketError> {
    let metadata = encode(header(info, "packet_in")?, metadata)?;
    Ok(v1::PacketIn { payload, metadata })
}

/// Reads a packet-in.
pub fn read_packet_in(info: &Info, packet: v1::PacketIn) -> Result<Packet, PacketError> {
    let metadata = decode(header(info, "packet_in")?, &packet.metadata)?;
    Ok(Packet { payload: packet.payload, metadata })
}

/// Reads a packet-out, as a target does.
pub fn read_packet_out(info: &Info, packet: v1::PacketOut) -> Result<Packet, PacketError> {
    let metadata = decode(header(info, "packet_out")?, &packet.metadata)?;
    Ok(Packet { payload: packet.payload, metadata })
}

fn header<'i>(info: &'i Info, name: &'static str) -> Result<&'i PacketHeader, PacketError> {
    let header = match name {
        "packet_in" => info.packet_in(),
        _ => info.packet_out(),
    };
    header.map(AsRef::as_ref).ok_or(PacketError::NoHeader { header: name })
}

fn encode(
    header: &PacketHeader,
    values: &[(&str, Value<'_>)],
) -> Result<Vec<v1::PacketMetadata>, PacketError> {
    let mut metadata = Vec::with_capacity(values.len());
    for (name, value) in values {
        let field = header.field(name)?;
        let value = field.width.encode(value).map_err(|error| PacketError::Value {
            header: header.preamble.name.clone(),
            field: field.name.clone(),
            error,
        })?;
        metadata.push(v1::PacketMetadata { metadata_id: field.id, value });
    }
    // The metadata is decoded again, so that only packets that the other side accepts are sent.
    decode(header, &metadata)?;
    metadata.sort_by_key(|value| header.fields().iter().position(|field| field.id == value.metadata_id));
    Ok(metadata)
}

fn decode(
    header: &PacketHeader,
    values: &[v1::PacketMetadata],
) -> Result<Vec<(String, Width, Vec<u8>)>, PacketError> {
    let name = &header.preamble.name;
    for value in values {
        if header.field_by_id(value.metadata_id).is_none() {
            let (kind, id) = (crate::info::ObjectKind::Metadata, value.metadata_id);
            return Err(LookupError::UnknownId { kind, scope: Some(name.clone()), id }.into());
        }
    }
    let mut metadata = Vec::with_capacity(header.fields().len());
    for field in header.fields() {
        let (header, field_name) = (name.clone(), field.name.clone());
        let mut given = values.iter().filter(|value| value.metadata_id == field.id);
        let Some(value) = given.next() else {
            return Err(PacketError::Missing { header, field: field_name });
        };
        if given.next().is_some() {
            return Err(PacketError::Twice { header, field: field_name });
        }
        match field.width.canonical(&value.value) {
            Ok(canonical) => metadata.push((field_name, field.width, canonical.to_vec())),
            Err(error) => return Err(PacketError::Value { header, field: field_name, error }),
        }
    }
    Ok(metadata)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn metadata_travels_by_name() {
        let info = sample::info();
        let payload = Bytes::from_static(b"packet");
        let metadata = [("reason", 3u8.into()), ("ingress_port", 300u16.into())];
        let sent = packet_in(&info, payload.clone(), &metadata).expect("right");
        assert_eq!(sent.metadata[0], v1::PacketMetadata { metadata_id: 1, value: vec![1, 0x2c] });
        let read = read_packet_in(&info, sent).expect("right");
        assert_eq!(
            (read.number("ingress_port"), read.number("reason"), read.number("x")),
            (Some(300), Some(3), None)
        );
        assert_eq!(read.payload, payload);
    }

    #[test]
    fn what_does_not_fit_is_said_by_name() {
        let info = sample::info();
        let out = |metadata: &[(&str, Value<'_>)]| {
            packet_out(&info, Bytes::new(), metadata).expect_err("wrong").to_string()
        };
        assert_eq!(out(&[]), "metadata field `egress_port` of `packet_out` is missing");
        assert_eq!(
            out(&[("egress_prt", 1u8.into())]),
            "no metadata field `egress_prt` in `packet_out`; did you mean `egress_port`?"
        );
        assert_eq!(
            out(&[("egress_port", 512u16.into())]),
            "metadata field `egress_port` of `packet_out`: the value needs 10 bits, the field has 9"
        );
        let twice = [("egress_port", 1u8.into()), ("egress_port", 2u8.into())];
        assert_eq!(out(&twice), "metadata field `egress_port` of `packet_out` is there twice");
        let unknown = v1::PacketOut {
            metadata: vec![v1::PacketMetadata { metadata_id: 7, value: vec![1] }],
            ..Default::default()
        };
        assert!(read_packet_out(&info, unknown).is_err());
        let none = Info::default();
        assert!(packet_out(&none, Bytes::new(), &[]).is_err());
    }
}
