//! CRC-32 as computed by Ethernet and zlib (ISO-HDLC: polynomial 0xEDB88320 reflected, init and xor-out all
//! ones).

/// Bytes processed per step.
const STRIDE: usize = 8;

/// Contribution of a byte to the checksum, indexed by the number of bytes that follow it in the step.
const TABLES: [[u32; 256]; STRIDE] = tables();

const fn tables() -> [[u32; 256]; STRIDE] {
    let mut tables = [[0; 256]; STRIDE];
    let mut at = 0;
    while at < 256 {
        let mut value = at as u32;
        let mut bit = 0;
        while bit < 8 {
            value = if value & 1 == 1 { value >> 1 ^ 0xedb8_8320 } else { value >> 1 };
            bit += 1;
        }
        tables[0][at] = value;
        at += 1;
    }
    let mut behind = 1;
    while behind < STRIDE {
        let mut at = 0;
        while at < 256 {
            let before = tables[behind - 1][at];
            tables[behind][at] = before >> 8 ^ tables[0][(before & 0xff) as usize];
            at += 1;
        }
        behind += 1;
    }
    tables
}

/// Returns the CRC-32 of the bytes.
pub(crate) fn crc32(bytes: &[u8]) -> u32 {
    let (strides, rest) = bytes.as_chunks::<STRIDE>();
    let crc = strides.iter().fold(u32::MAX, |crc, stride| {
        let mixed = u64::from_le_bytes(*stride) ^ u64::from(crc);
        TABLES
            .iter()
            .rev()
            .zip(mixed.to_le_bytes())
            .fold(0, |sum, (table, byte)| sum ^ table[usize::from(byte)])
    });
    !rest.iter().fold(crc, |crc, byte| TABLES[0][((crc ^ u32::from(*byte)) & 0xff) as usize] ^ crc >> 8)
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_check_value_of_the_catalogue_comes_out() {
        // The CRC RevEng catalogue gives 0xCBF43926 for "123456789" under CRC-32/ISO-HDLC.
        assert_eq!(super::crc32(b"123456789"), 0xcbf4_3926);
    }

    #[test]
    fn strides_are_what_single_bytes_are() {
        let bytes: [u8; 40] = core::array::from_fn(|at| (at * at * 7 + 3) as u8);
        for len in 0..bytes.len() {
            let by_bits = bytes[..len].iter().fold(u32::MAX, |crc, byte| {
                (0..8).fold(crc ^ u32::from(*byte), |crc, _| {
                    crc >> 1 ^ if crc & 1 == 1 { 0xedb8_8320 } else { 0 }
                })
            });
            assert_eq!(super::crc32(&bytes[..len]), !by_bits, "{len} bytes");
        }
    }
}
