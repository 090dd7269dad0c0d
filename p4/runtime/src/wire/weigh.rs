//! Estimates the memory of a message once it is decoded, from its encoded form. This allocates nothing.

use bytes::Bytes;
use prost::encoding::WireType;
use prost::{DecodeError, Message, Name};
use thiserror::Error;

use super::fields::{Fields, MalformedMessage};
use super::shape::{BYTES, Content, Shapes};

/// Maximum depth of nested messages, the same as prost's.
const MAX_DEPTH: usize = 100;

/// Overhead of the allocator per allocation, including its rounding.
const PIECE: usize = 32;

/// A growing list doubles its capacity, so up to twice its elements are reserved.
const GROWTH: usize = 2;

/// Maximum number of fields in a message, including nested messages: about twice the number in the longest request of a
/// push. Fields that are skipped take no memory, but they take time.
const FIELDS_MAX: usize = 1 << 18;

/// Reasons for not decoding a message.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum WireError {
    /// It would exceed the memory limit.
    #[error("{bytes} bytes of {message} would take more than {limit} bytes of memory")]
    TooHeavy {
        /// The message.
        message: String,
        /// Its bytes on the wire.
        bytes: usize,
        /// The memory limit, in bytes.
        limit: usize,
    },
    /// It is not a valid message of this type.
    #[error("{bytes} bytes are not a {message}")]
    Malformed {
        /// The message.
        message: String,
        /// Its bytes on the wire.
        bytes: usize,
    },
    /// It would take too long to decode.
    #[error("{bytes} bytes of {message} have more than {FIELDS_MAX} fields")]
    TooLong {
        /// The message.
        message: String,
        /// Its bytes on the wire.
        bytes: usize,
    },
    /// The decoder found that it is not a valid message of this type.
    #[error(transparent)]
    Decode(#[from] DecodeError),
}

/// The reason why an estimate stopped early.
enum Stop {
    TooHeavy,
    TooLong,
    Malformed,
}

impl From<MalformedMessage> for Stop {
    fn from(_: MalformedMessage) -> Self {
        Stop::Malformed
    }
}

/// Returns an upper bound for the memory of an untrusted message once it is decoded, or an error if the bound exceeds
/// `limit`.
pub fn weigh<M: Name>(bytes: &[u8], limit: usize) -> Result<usize, WireError> {
    weigh_fields::<M>(bytes, limit, FIELDS_MAX)
}

/// Returns the same bound for a message from a file, which may have any number of fields.
pub(crate) fn weigh_file<M: Name>(bytes: &[u8], limit: usize) -> Result<usize, WireError> {
    weigh_fields::<M>(bytes, limit, usize::MAX)
}

fn weigh_fields<M: Name>(bytes: &[u8], limit: usize, fields_left: usize) -> Result<usize, WireError> {
    weigh_shape::<M>(shape_of::<M>(), bytes, limit, fields_left)
}

/// Returns the index of a message's shape, for callers that estimate many messages of one type.
pub(super) fn shape_of<M: Name>() -> Option<usize> {
    Shapes::get().find(&M::full_name())
}

/// Returns the same bound as [`weigh`] for a message whose `shape` is known.
pub(super) fn weigh_element<M: Name>(
    shape: Option<usize>,
    bytes: &[u8],
    limit: usize,
) -> Result<usize, WireError> {
    weigh_shape::<M>(shape, bytes, limit, FIELDS_MAX)
}

fn weigh_shape<M: Name>(
    shape: Option<usize>,
    bytes: &[u8],
    limit: usize,
    fields_left: usize,
) -> Result<usize, WireError> {
    let shapes = Shapes::get();
    let malformed = || WireError::Malformed { message: M::full_name(), bytes: bytes.len() };
    let shape = shape.ok_or_else(malformed)?;
    let mut scale = Scale { shapes, remaining: limit, fields_left };
    let weighed = scale.load(shapes.shape(shape).size).and_then(|()| scale.message(bytes, shape, 0));
    match weighed {
        Ok(()) => Ok(limit - scale.remaining),
        Err(Stop::Malformed) => Err(malformed()),
        Err(Stop::TooLong) => Err(WireError::TooLong { message: M::full_name(), bytes: bytes.len() }),
        Err(Stop::TooHeavy) => {
            Err(WireError::TooHeavy { message: M::full_name(), bytes: bytes.len(), limit })
        }
    }
}

/// Decodes a message that takes at most `limit` bytes of memory.
pub fn decode<M: Message + Name + Default>(bytes: Bytes, limit: usize) -> Result<M, WireError> {
    weigh::<M>(&bytes, limit)?;
    Ok(M::decode(bytes)?)
}

struct Scale {
    shapes: &'static Shapes,
    remaining: usize,
    fields_left: usize,
}

impl Scale {
    fn load(&mut self, weight: usize) -> Result<(), Stop> {
        self.remaining = self.remaining.checked_sub(weight).ok_or(Stop::TooHeavy)?;
        Ok(())
    }

    fn message(&mut self, bytes: &[u8], shape: usize, depth: usize) -> Result<(), Stop> {
        if depth > MAX_DEPTH {
            return Err(Stop::Malformed);
        }
        let shape = self.shapes.shape(shape);
        for field in Fields::new(bytes) {
            let field = field?;
            self.fields_left = self.fields_left.checked_sub(1).ok_or(Stop::TooLong)?;
            let Some((content, text)) = shape.field(field.number) else { continue };
            match content {
                Content::Numbers => self.load(GROWTH * 8 * field.content.len().max(1))?,
                _ if field.wire_type != WireType::LengthDelimited => return Err(Stop::Malformed),
                Content::Bytes { many } => {
                    if text && std::str::from_utf8(field.content).is_err() {
                        return Err(Stop::Malformed);
                    }
                    if many {
                        self.load(GROWTH * BYTES)?;
                    }
                    if !field.content.is_empty() {
                        self.load(field.content.len() + PIECE)?;
                    }
                }
                Content::Message { shape, many } => {
                    if many {
                        self.load(GROWTH * self.shapes.shape(shape).size)?;
                    }
                    self.message(field.content, shape, depth + 1)?;
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proto::{config, v1};

    fn empty_updates(n: usize) -> Vec<u8> {
        // Field 4 with an empty value.
        [0x22, 0x00].repeat(n)
    }

    #[test]
    fn empty_updates_weigh_what_they_take() {
        let n = 1000;
        let weight = weigh::<v1::WriteRequest>(&empty_updates(n), usize::MAX).expect("it is a request");
        assert!(weight >= n * size_of::<v1::Update>(), "{weight}");
        let error = weigh::<v1::WriteRequest>(&empty_updates(n), weight - 1).expect_err("a byte too many");
        assert!(matches!(error, WireError::TooHeavy { bytes: 2000, .. }), "{error}");
        assert!(decode::<v1::WriteRequest>(empty_updates(n).into(), weight).is_ok());
    }

    #[test]
    fn empty_texts_of_a_list_weigh_what_they_take() {
        let info = config::P4Info {
            pkg_info: Some(config::PkgInfo { annotations: vec![String::new(); 1000], ..Default::default() }),
            ..Default::default()
        };
        let weight = weigh::<config::P4Info>(&info.encode_to_vec(), usize::MAX).expect("it is one");
        assert!(weight >= 1000 * size_of::<String>(), "{weight}");
    }

    #[test]
    fn fields_without_end_are_refused_wherever_they_are() {
        let unknown = [0x7a, 0x00].repeat(FIELDS_MAX - 1);
        let mut inside = vec![0x0a];
        prost::encoding::encode_varint(unknown.len() as u64, &mut inside);
        inside.extend(&unknown);
        assert!(weigh::<v1::ReadResponse>(&inside, usize::MAX).is_ok());
        inside.extend([0x7a, 0x00]);
        let error = weigh::<v1::ReadResponse>(&inside, usize::MAX).expect_err("one too many");
        assert!(matches!(error, WireError::TooLong { .. }), "{error}");
    }

    #[test]
    fn a_real_entry_weighs_a_few_times_its_length() {
        let entry = v1::TableEntry {
            table_id: 7,
            r#match: vec![v1::FieldMatch { field_id: 1, ..Default::default() }; 3],
            metadata: vec![9; 100],
            ..Default::default()
        };
        let updates = vec![v1::Update::insert(entry); 100];
        let request = v1::WriteRequest { updates, ..Default::default() };
        let bytes = request.encode_to_vec();
        let weight = weigh::<v1::WriteRequest>(&bytes, usize::MAX).expect("it is a request");
        assert!(weight < 40 * bytes.len(), "{weight} for {}", bytes.len());
    }

    #[test]
    fn what_is_no_message_is_refused_without_decoding() {
        for bytes in [&[0x22, 0x05][..], &[0x00], &[0x23], &[0x32, 0x01, 0xff], &[0xff; 20], &[0x20, 0x01]] {
            let error = weigh::<v1::WriteRequest>(bytes, usize::MAX).expect_err("it is none");
            assert!(matches!(error, WireError::Malformed { .. }), "{bytes:?}: {error}");
        }
    }

    #[test]
    fn messages_within_messages_end_somewhere() {
        let mut data = v1::P4Data::default();
        for _ in 0..200 {
            let members = vec![data];
            data = v1::P4Data { data: Some(v1::p4_data::Data::Tuple(v1::P4StructLike { members })) };
        }
        assert!(weigh::<v1::P4Data>(&data.encode_to_vec(), usize::MAX).is_err());
    }
}
