//! Hashes of packet fields.

use std::collections::BTreeMap;

use xxhash_rust::xxh64::xxh64;

use super::frame::PacketState;
use crate::program::{Algorithm, Calculation, Crc, Field, HashInput, Program, get_bits, put_bits};
use crate::state::HashState;

/// Inputs of a hash.
pub(crate) struct HashSource<'h> {
    pub(crate) program: &'h Program,
    /// Headers and metadata of the packet.
    pub(crate) words: &'h [u64],
    /// Bytes after the headers.
    pub(crate) payload: &'h [u8],
    /// Metadata of the packet.
    pub(crate) packet: &'h PacketState,
}

impl HashSource<'_> {
    /// Computes a calculation. `counting` is the state of stateful hashes, `scratch` a buffer for the input.
    pub(crate) fn compute(
        &self,
        number: u16,
        counting: &mut BTreeMap<u16, HashState>,
        scratch: &mut Vec<u8>,
    ) -> u64 {
        let calculation = &self.program.calculations[number as usize];
        self.gather(calculation, scratch);
        match calculation.algorithm {
            Algorithm::RoundRobin => {
                let state = counting.entry(number).or_default();
                state.next += 1;
                state.next - 1
            }
            Algorithm::RoundRobinConsistent => {
                let state = counting.entry(number).or_default();
                let fresh = state.next;
                let found = *state.seen.entry(scratch.as_slice().into()).or_insert(fresh);
                state.next += u64::from(found == fresh);
                found
            }
            Algorithm::Crc(crc) => crc_of(&crc, &calculation.table, scratch),
            algorithm => plain(algorithm, scratch),
        }
    }

    /// Concatenates the input bits; the last byte is padded with zeros.
    fn gather(&self, calculation: &Calculation, out: &mut Vec<u8>) {
        out.clear();
        let mut bits = 0_usize;
        for input in &calculation.input {
            match input {
                HashInput::Field(field) => {
                    let header = &self.program.headers[field.header as usize];
                    if header.metadata || self.words[header.valid as usize] != 0 {
                        self.field(field, &mut bits, out);
                    }
                }
                HashInput::Constant { words, bits: width } => append(words, *width as usize, &mut bits, out),
                HashInput::Header(header) => {
                    let found = &self.program.headers[*header as usize];
                    if found.metadata || self.words[found.valid as usize] != 0 {
                        found.fields.iter().for_each(|field| self.field(field, &mut bits, out));
                    }
                }
            }
        }
        if calculation.payload {
            let keep = self.payload.len().min(self.packet.truncate);
            out.extend_from_slice(&self.payload[..keep]);
        }
    }

    fn field(&self, field: &Field, bits: &mut usize, out: &mut Vec<u8>) {
        let width = field.length.map_or(field.bits as usize, |at| self.words[at as usize] as usize);
        append(&self.words[field.range()], width, bits, out);
    }
}

/// Appends the low `width` bits of a number at bit `bits` of the output.
fn append(words: &[u64], width: usize, bits: &mut usize, out: &mut Vec<u8>) {
    if bits.is_multiple_of(8) && width.is_multiple_of(8) {
        crate::bits::push_bytes(words, width / 8, out);
    } else {
        out.resize((*bits + width).div_ceil(8), 0);
        put_bits(out, *bits, width, words);
    }
    *bits += width;
}

fn plain(algorithm: Algorithm, data: &[u8]) -> u64 {
    match algorithm {
        Algorithm::Xxh64 => xxh64(data, 0),
        Algorithm::Csum16 => u64::from(internet_checksum(data)),
        Algorithm::Identity => data.iter().take(8).fold(0, |sum, byte| sum << 8 | u64::from(*byte)),
        Algorithm::Xor16 => exclusive_or(data, 16),
        Algorithm::Xor32 => exclusive_or(data, 32),
        Algorithm::HashEx => u64::from(example_hash(data)),
        // The key is zero in BMv2, and v1model cannot change it, so every Toeplitz hash is zero.
        Algorithm::Toeplitz | Algorithm::Crc(_) | Algorithm::RoundRobin | Algorithm::RoundRobinConsistent => {
            0
        }
    }
}

/// Sums 16-bit words with end-around carry and complements the sum (RFC 1071).
pub(crate) fn internet_checksum(data: &[u8]) -> u16 {
    let mut sum: u64 =
        data.chunks(2).map(|pair| u64::from(pair[0]) << 8 | u64::from(*pair.get(1).unwrap_or(&0))).sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}

fn exclusive_or(data: &[u8], width: usize) -> u64 {
    let word = |chunk: &[u8]| {
        let mut words = [0];
        get_bits(chunk, 0, width, &mut words);
        words[0]
    };
    data.chunks(width / 8).fold(0, |sum, chunk| sum ^ word(chunk))
}

/// The example hash of simple_switch: FNV with additional mixing, over signed bytes.
fn example_hash(data: &[u8]) -> u32 {
    let byte = |byte: &u8| i32::from(byte.cast_signed()).cast_unsigned();
    let mut hash = data.iter().fold(2_166_136_261_u32, |hash, b| (hash ^ byte(b)).wrapping_mul(16_777_619));
    hash = hash.wrapping_add(hash << 13);
    hash ^= hash >> 7;
    hash = hash.wrapping_add(hash << 3);
    hash ^= hash >> 17;
    hash.wrapping_add(hash << 5)
}

fn crc_of(crc: &Crc, table: &[u64], data: &[u8]) -> u64 {
    let mask = crate::bits::mask64(crc.width);
    let top = crc.width - 8;
    let mut sum = crc.initial;
    for byte in data {
        let byte = if crc.reflected { byte.reverse_bits() } else { *byte };
        let at = u64::from(byte) ^ sum >> top;
        sum = (table[(at & 0xff) as usize] ^ sum.checked_shl(8).unwrap_or(0)) & mask;
    }
    let sum = if crc.reflected { sum.reverse_bits() >> (64 - crc.width) } else { sum };
    (sum ^ crc.xor_out) & mask
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::crc_table;

    /// Check values of "123456789" from the public catalogue of CRC parameters.
    #[test]
    fn crcs_give_their_check_values() {
        for (name, want) in [
            ("crc16", 0xbb3d),
            ("crc32", 0xcbf4_3926),
            ("crcCCITT", 0x29b1),
            ("crc_8", 0xf4),
            ("crc_8_rohc", 0xd0),
            ("crc_16_dect", 0x007e),
            ("crc_16_genibus", 0xd64e),
            ("x_25", 0x906e),
            ("modbus", 0x4b37),
            ("crc_32c", 0xe306_9283),
            ("crc_32_bzip2", 0xfc89_1918),
            ("posix", 0x765e_7680),
            ("crc_64_we", 0x62ec_59e3_f1a4_f00a),
        ] {
            let Some(Algorithm::Crc(crc)) = Algorithm::from_name(name) else { panic!("{name} is a CRC") };
            assert_eq!(crc_of(&crc, &crc_table(&crc), b"123456789"), want, "{name}");
        }
    }

    /// RFC 1071 section 3.
    #[test]
    fn the_internet_checksum_of_the_rfc() {
        assert_eq!(internet_checksum(&[0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7]), !0xddf2);
        assert_eq!(internet_checksum(&[0x01]), !0x0100);
    }

    #[test]
    fn words_are_exclusive_ored_with_zeros_at_the_end() {
        assert_eq!(exclusive_or(&[0x12, 0x34, 0x56], 16), 0x1234 ^ 0x5600);
        assert_eq!(exclusive_or(&[0x12, 0x34, 0x56, 0x78, 0x9a], 32), 0x1234_5678 ^ 0x9a00_0000);
        assert_eq!(plain(Algorithm::Identity, &[1, 2]), 0x0102);
    }

    #[test]
    fn bits_are_laid_out_without_gaps() {
        let (mut out, mut bits) = (Vec::new(), 0);
        append(&[0xa], 4, &mut bits, &mut out);
        append(&[0xbcd], 12, &mut bits, &mut out);
        append(&[0x1], 1, &mut bits, &mut out);
        assert_eq!(out, [0xab, 0xcd, 0x80]);
    }
}
