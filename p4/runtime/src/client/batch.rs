//! Divides updates into requests and encodes them in the same step. No update is copied, and each is encoded once.

use std::ops::Range;

use bytes::{BufMut as _, Bytes, BytesMut};
use prost::Message as _;
use prost::encoding::{self, WireType};
use tonic::Status;
use tonic::codec::{BufferSettings, Codec, DecodeBuf, Decoder, EncodeBuf, Encoder};

use super::options::WriteOptions;
use crate::proto::v1;

/// The field `updates` of `WriteRequest`.
const UPDATES: u32 = 4;

/// An encoded `WriteRequest` with some of the updates.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Batch {
    pub(super) range: Range<usize>,
    pub(super) request: Bytes,
}

/// An iterator that encodes updates batch by batch.
#[derive(Debug)]
pub(super) struct Batches<'u> {
    updates: &'u [v1::Update],
    range: Range<usize>,
    header: Vec<u8>,
    options: WriteOptions,
}

impl<'u> Batches<'u> {
    /// Returns the batches of a range of the updates; `header` is the request without updates.
    pub(super) fn new(
        updates: &'u [v1::Update],
        range: Range<usize>,
        header: &v1::WriteRequest,
        options: WriteOptions,
    ) -> Self {
        Batches { updates, range, header: header.encode_to_vec(), options }
    }
}

impl Iterator for Batches<'_> {
    type Item = Batch;

    fn next(&mut self) -> Option<Batch> {
        let start = self.range.start;
        if start >= self.range.end {
            return None;
        }
        let most = self.range.end.min(start + self.options.max_updates.max(1));
        let mut buffer = BytesMut::with_capacity(self.header.len() + (most - start) * 96);
        buffer.put_slice(&self.header);
        let mut end = start;
        while end < most {
            let before = buffer.len();
            put_update(&self.updates[end], &mut buffer);
            // An update that is too long by itself is sent alone; the target decides whether it accepts it.
            if buffer.len() > self.options.max_bytes && end > start {
                buffer.truncate(before);
                break;
            }
            end += 1;
        }
        self.range.start = end;
        Some(Batch { range: start..end, request: buffer.freeze() })
    }
}

fn put_update(update: &v1::Update, buffer: &mut BytesMut) {
    encoding::encode_key(UPDATES, WireType::LengthDelimited, buffer);
    encoding::encode_varint(update.encoded_len() as u64, buffer);
    update.encode_raw(buffer);
}

/// Sends requests that are already encoded. Answers need no such treatment, because a `WriteResponse` has no fields.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct EncodedCodec;

impl Codec for EncodedCodec {
    type Encode = Bytes;
    type Decode = v1::WriteResponse;
    type Encoder = EncodedCodec;
    type Decoder = EncodedCodec;

    fn encoder(&mut self) -> EncodedCodec {
        EncodedCodec
    }

    fn decoder(&mut self) -> EncodedCodec {
        EncodedCodec
    }
}

impl Encoder for EncodedCodec {
    type Item = Bytes;
    type Error = Status;

    fn encode(&mut self, request: Bytes, target: &mut EncodeBuf<'_>) -> Result<(), Status> {
        target.reserve(request.len());
        target.put(request);
        Ok(())
    }

    fn buffer_settings(&self) -> BufferSettings {
        // Each message needs one buffer, which is reserved when the length is known.
        BufferSettings::new(16, 64 << 10)
    }
}

impl Decoder for EncodedCodec {
    type Item = v1::WriteResponse;
    type Error = Status;

    fn decode(&mut self, source: &mut DecodeBuf<'_>) -> Result<Option<v1::WriteResponse>, Status> {
        v1::WriteResponse::decode(source).map(Some).map_err(|error| Status::internal(error.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn updates(n: u32) -> Vec<v1::Update> {
        let entry = |index| v1::TableEntry { table_id: index, metadata: vec![7; 40], ..Default::default() };
        (1..=n).map(|index| v1::Update::insert(entry(index))).collect()
    }

    fn header() -> v1::WriteRequest {
        let election_id = Some(v1::Uint128 { high: 0, low: 9 });
        v1::WriteRequest { device_id: 3, role: "r".to_owned(), election_id, ..Default::default() }
    }

    #[test]
    fn a_batch_is_what_the_whole_request_would_encode_to() {
        let updates = updates(50);
        let options = WriteOptions::default();
        let batches: Vec<Batch> = Batches::new(&updates, 0..50, &header(), options).collect();
        assert_eq!(batches.len(), 1);
        let request = v1::WriteRequest::decode(batches[0].request.clone()).expect("a request");
        assert_eq!(request, v1::WriteRequest { updates, ..header() });
    }

    #[test]
    fn batches_keep_both_limits_and_lose_nothing() {
        let updates = updates(100);
        for (max_updates, max_bytes) in [(7, 1 << 20), (1000, 300), (3, 100), (1, 1), (0, 0)] {
            let options = WriteOptions { max_updates, max_bytes, ..Default::default() };
            let mut next = 10;
            for batch in Batches::new(&updates, 10..90, &header(), options) {
                assert_eq!(batch.range.start, next);
                let n_updates = batch.range.len();
                assert!(n_updates <= max_updates.max(1));
                assert!(batch.request.len() <= max_bytes || n_updates == 1);
                let request = v1::WriteRequest::decode(batch.request).expect("a request");
                assert_eq!(request.updates, updates[batch.range.clone()]);
                next = batch.range.end;
            }
            assert_eq!(next, 90);
        }
    }
}
