//! Serialises headers, and verifies and updates checksums.

use super::frame::{Frame, load, store};
use super::hash::internet_checksum;
use crate::bits;
use crate::program::{Checksum, ChecksumKind, Codec, Group, put_bits};

impl Frame<'_> {
    /// Verifies the checksums of a parsed packet.
    pub(crate) fn verify_checksums(&mut self) {
        let program = self.program;
        for checksum in &program.verify {
            let applies =
                self.is_valid(checksum.field.header) && checksum.cond.as_ref().is_none_or(|c| self.test(c));
            if applies && self.checksum(checksum) != Some(load(self.words, &checksum.field) as u64) {
                self.packet.checksum_error = true;
            }
        }
    }

    /// Updates the checksums of an outgoing packet.
    pub(crate) fn update_checksums(&mut self) {
        let program = self.program;
        for checksum in &program.update {
            let applies = checksum.cond.as_ref().is_none_or(|cond| self.test(cond));
            if let Some(value) = applies.then(|| self.checksum(checksum)).flatten() {
                store(self.words, &checksum.field, u128::from(value));
            }
        }
    }

    /// Computes a checksum; `None` for an IPv4 header that is invalid.
    fn checksum(&mut self, checksum: &Checksum) -> Option<u64> {
        match checksum.kind {
            ChecksumKind::Calculation(calculation) => Some(self.calculate(calculation)),
            ChecksumKind::Ipv4 => {
                let header = checksum.field.header;
                if !self.is_valid(header) {
                    return None;
                }
                let mut bytes = Vec::new();
                self.emit(header, &mut bytes);
                if let Some(place) = bytes.get_mut(10..12) {
                    place.fill(0);
                }
                Some(u64::from(internet_checksum(&bytes)))
            }
        }
    }

    /// Serialises a packet: valid headers in order, then the payload, truncated if requested.
    pub(crate) fn deparse(&mut self, out: &mut Vec<u8>) {
        let program = self.program;
        self.update_checksums();
        self.run(&program.deparser_calls);
        out.clear();
        for header in &program.deparser {
            if self.is_valid(*header) {
                self.emit(*header, out);
            }
        }
        out.extend_from_slice(self.payload);
    }

    /// Appends the bytes of a header.
    fn emit(&self, header: u16, out: &mut Vec<u8>) {
        let found = &self.program.headers[header as usize];
        let ty = &self.program.types[found.ty as usize];
        let start = out.len();
        out.resize(start + self.header_bytes(header), 0);
        let data = &mut out[start..];
        if ty.variable.is_none() {
            encode(&ty.codec, &self.words[found.base as usize..], data);
            return;
        }
        let mut bit = 0;
        for field in &found.fields {
            let width = field.length.map_or(field.bits as usize, |at| self.words[at as usize] as usize);
            put_bits(data, bit, width, &self.words[field.range()]);
            bit += width;
        }
    }
}

/// Writes the fixed fields of a header into its bytes.
fn encode(codec: &Codec, words: &[u64], data: &mut [u8]) {
    for group in &codec.groups {
        match *group {
            Group::Packed { byte, bytes, first, count } => {
                let fields = &codec.fields[first as usize..first as usize + count as usize];
                let value = fields.iter().fold(0, |sum, field| {
                    sum | (words[field.word as usize] & bits::mask64(u32::from(field.bits))) << field.shift
                });
                let (at, width) = (byte as usize, bytes as usize);
                data[at..at + width].copy_from_slice(&value.to_be_bytes()[8 - width..]);
            }
            Group::Wide { byte, word } => {
                let at = byte as usize;
                data[at..at + 8].copy_from_slice(&words[word as usize + 1].to_be_bytes());
                data[at + 8..at + 16].copy_from_slice(&words[word as usize].to_be_bytes());
            }
            Group::Loose { bit, bits, word, words: count, .. } => {
                let place = &words[word as usize..word as usize + count as usize];
                put_bits(data, bit as usize, bits as usize, place);
            }
        }
    }
}
