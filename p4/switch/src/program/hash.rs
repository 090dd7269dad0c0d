//! Hash algorithms by name, and the inputs of calculations.
//!
//! The names are those of p4c and the additional ones of BMv2: the catalogue of named CRCs, and CRCs
//! described in the name itself (`poly_0x18005_init_0x0_xout_0x0_not_rev`).

use super::expr::Value;
use super::field::Field;

/// A hash algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Algorithm {
    /// XXH64 with seed 0.
    Xxh64,
    /// Internet checksum.
    Csum16,
    /// Any CRC.
    Crc(Crc),
    /// The first eight bytes of the input as a number.
    Identity,
    /// Exclusive or of 16-bit words.
    Xor16,
    /// Exclusive or of 32-bit words.
    Xor32,
    /// Toeplitz hash with a zero key, the initial key in BMv2.
    Toeplitz,
    /// The example hash of simple_switch.
    HashEx,
    /// A counter.
    RoundRobin,
    /// A counter that assigns the same number to the same input.
    RoundRobinConsistent,
}

/// Parameters of a CRC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Crc {
    /// Width: 8, 16, 32 or 64.
    pub(crate) width: u32,
    /// Polynomial without its highest bit.
    pub(crate) polynomial: u64,
    /// Initial value.
    pub(crate) initial: u64,
    /// Value for the final exclusive or.
    pub(crate) xor_out: u64,
    /// Whether bytes are processed, and the result returned, lowest bit first.
    pub(crate) reflected: bool,
}

/// Hashed fields.
#[derive(Debug)]
pub(crate) enum HashInput {
    /// A field, if its header is valid.
    Field(Field),
    /// Bits of a constant.
    Constant {
        /// Little-endian words.
        words: Box<[u64]>,
        /// Number of bits.
        bits: u32,
    },
    /// A header, if it is valid.
    Header(u16),
}

/// A named hash of some input.
#[derive(Debug)]
pub(crate) struct Calculation {
    pub(crate) algorithm: Algorithm,
    /// Input in order.
    pub(crate) input: Vec<HashInput>,
    /// Whether the packet's payload follows.
    pub(crate) payload: bool,
    /// Remainders of all bytes, for a CRC.
    pub(crate) table: Box<[u64]>,
}

/// Returns the remainder of every byte under a polynomial.
pub(crate) fn crc_table(crc: &Crc) -> Box<[u64]> {
    let (top, mask) = (1_u64 << (crc.width - 1), crate::bits::mask64(crc.width));
    let remainder = |byte: u64| {
        let divide = |sum: u64, _| if sum & top == 0 { sum << 1 } else { sum << 1 ^ crc.polynomial };
        (0..8).fold(byte << (crc.width - 8), divide) & mask
    };
    (0..256).map(remainder).collect()
}

/// A hash into a range: `base + hash % size`.
#[derive(Debug)]
pub(crate) struct HashCall {
    /// Least result.
    pub(crate) base: Value,
    pub(crate) calculation: u16,
    /// Number of results.
    pub(crate) size: Value,
}

const fn crc(width: u32, polynomial: u64, initial: u64, xor_out: u64, reflected: bool) -> Crc {
    Crc { width, polynomial, initial, xor_out, reflected }
}

/// The named CRCs, from the public catalogue of CRC parameters.
const CATALOGUE: &[(&str, Crc)] = &[
    ("crc16", crc(16, 0x8005, 0, 0, true)),
    ("crc32", crc(32, 0x04c1_1db7, 0xffff_ffff, 0xffff_ffff, true)),
    ("crcCCITT", crc(16, 0x1021, 0xffff, 0, false)),
    ("crc8_custom", crc(8, 0x07, 0, 0, false)),
    ("crc16_custom", crc(16, 0x8005, 0, 0, true)),
    ("crc32_custom", crc(32, 0x04c1_1db7, 0xffff_ffff, 0xffff_ffff, true)),
    ("crc64_custom", crc(64, 0x1b, 0, 0, true)),
    ("crc_8", crc(8, 0x07, 0, 0, false)),
    ("crc_8_darc", crc(8, 0x39, 0, 0, true)),
    ("crc_8_i_code", crc(8, 0x1d, 0xfd, 0, false)),
    ("crc_8_itu", crc(8, 0x07, 0, 0x55, false)),
    ("crc_8_maxim", crc(8, 0x31, 0, 0, true)),
    ("crc_8_rohc", crc(8, 0x07, 0xff, 0, true)),
    ("crc_8_wcdma", crc(8, 0x9b, 0, 0, true)),
    ("crc_16", crc(16, 0x8005, 0, 0, true)),
    ("crc_16_buypass", crc(16, 0x8005, 0, 0, false)),
    ("crc_16_dds_110", crc(16, 0x8005, 0x800d, 0, false)),
    ("crc_16_dect", crc(16, 0x0589, 0, 1, false)),
    ("crc_16_dnp", crc(16, 0x3d65, 0, 0xffff, true)),
    ("crc_16_en_13757", crc(16, 0x3d65, 0, 0xffff, false)),
    ("crc_16_genibus", crc(16, 0x1021, 0xffff, 0xffff, false)),
    ("crc_16_maxim", crc(16, 0x8005, 0, 0xffff, true)),
    ("crc_16_mcrf4xx", crc(16, 0x1021, 0xffff, 0, true)),
    ("crc_16_riello", crc(16, 0x1021, 0xb2aa, 0, true)),
    ("crc_16_t10_dif", crc(16, 0x8bb7, 0, 0, false)),
    ("crc_16_teledisk", crc(16, 0xa097, 0, 0, false)),
    ("crc_16_usb", crc(16, 0x8005, 0xffff, 0xffff, true)),
    ("x_25", crc(16, 0x1021, 0xffff, 0xffff, true)),
    ("xmodem", crc(16, 0x1021, 0, 0, false)),
    ("modbus", crc(16, 0x8005, 0xffff, 0, true)),
    ("kermit", crc(16, 0x1021, 0, 0, true)),
    ("crc_ccitt_false", crc(16, 0x1021, 0xffff, 0, false)),
    ("crc_aug_ccitt", crc(16, 0x1021, 0x1d0f, 0, false)),
    ("crc_32", crc(32, 0x04c1_1db7, 0xffff_ffff, 0xffff_ffff, true)),
    ("crc_32_bzip2", crc(32, 0x04c1_1db7, 0xffff_ffff, 0xffff_ffff, false)),
    ("crc_32c", crc(32, 0x1edc_6f41, 0xffff_ffff, 0xffff_ffff, true)),
    ("crc_32d", crc(32, 0xa833_982b, 0xffff_ffff, 0xffff_ffff, true)),
    ("crc_32_mpeg", crc(32, 0x04c1_1db7, 0xffff_ffff, 0, false)),
    ("posix", crc(32, 0x04c1_1db7, 0, 0xffff_ffff, false)),
    ("crc_32q", crc(32, 0x8141_41ab, 0, 0, false)),
    ("jamcrc", crc(32, 0x04c1_1db7, 0xffff_ffff, 0, true)),
    ("xfer", crc(32, 0xaf, 0, 0, false)),
    ("crc_64", crc(64, 0x1b, 0, 0, true)),
    ("crc_64_we", crc(64, 0x42f0_e1eb_a9ea_3693, u64::MAX, u64::MAX, false)),
    ("crc_64_jones", crc(64, 0xad93_d235_94c9_35a9, u64::MAX, 0, true)),
];

impl Algorithm {
    /// Returns the algorithm with a name.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "xxh64" | "bmv2_hash" => Self::Xxh64,
            "csum16" | "cksum16" => Self::Csum16,
            "identity" => Self::Identity,
            "xor16" => Self::Xor16,
            "xor32" => Self::Xor32,
            "toeplitz" => Self::Toeplitz,
            "hash_ex" => Self::HashEx,
            "round_robin" => Self::RoundRobin,
            "round_robin_consistent" => Self::RoundRobinConsistent,
            other => {
                let found = CATALOGUE.iter().find(|(name, _)| *name == other).map(|(_, crc)| *crc);
                Self::Crc(found.or_else(|| parse_crc(other))?)
            }
        })
    }
}

/// Reads a CRC from a name such as `poly_0x18005_init_0x0_xout_0x0_not_rev`.
fn parse_crc(name: &str) -> Option<Crc> {
    let hex = |text: &str| u64::from_str_radix(text.trim_start_matches("0x"), 16).ok();
    let (mut width, mut polynomial, mut initial, mut xor_out, mut reflected) = (0, 0, 0, 0, true);
    let mut tokens = name.split('_');
    while let Some(token) = tokens.next() {
        match token {
            "poly" => {
                let digits = tokens.next()?.strip_prefix("0x1")?;
                width = digits.len() as u32 * 4;
                polynomial = hex(digits)?;
            }
            "init" => initial = hex(tokens.next()?)?,
            "xout" => xor_out = hex(tokens.next()?)?,
            "not" if tokens.next() == Some("rev") => reflected = false,
            _ => return None,
        }
    }
    let mask = crate::bits::mask64(width);
    matches!(width, 8 | 16 | 32 | 64)
        .then(|| crc(width, polynomial, initial & mask, xor_out & mask, reflected))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_described_crc_equals_the_named_one() {
        assert_eq!(Algorithm::from_name("poly_0x18005_init_0x0_xout_0x0"), Algorithm::from_name("crc16"));
        assert_eq!(
            Algorithm::from_name("poly_0x11021_init_0xffff_not_rev"),
            Algorithm::from_name("crc_ccitt_false"),
        );
        assert_eq!(Algorithm::from_name("poly_0x1"), None);
        assert_eq!(Algorithm::from_name("random"), None);
    }
}
