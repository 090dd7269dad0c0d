//! Captures in the classic pcap format.

use std::io::{self, Write};

/// File header with microseconds: magic, version, time zone, accuracy, snapshot length, Ethernet.
const HEADER: [u32; 6] = [0xa1b2_c3d4, 0x0004_0002, 0, 0, 262_144, 1];

/// A capture file.
#[derive(Debug)]
pub(crate) struct PcapWriter<W: Write> {
    out: W,
}

impl<W: Write> PcapWriter<W> {
    /// Starts a file.
    pub(crate) fn new(mut out: W) -> io::Result<Self> {
        for number in HEADER {
            out.write_all(&number.to_le_bytes())?;
        }
        out.flush()?;
        Ok(Self { out })
    }

    /// Adds a packet with its time, in nanoseconds since 1970.
    pub(crate) fn write(&mut self, calendar_ns: u64, frame: &[u8]) -> io::Result<()> {
        let micros = calendar_ns / 1_000;
        let length = u32::try_from(frame.len()).unwrap_or(u32::MAX);
        for number in [(micros / 1_000_000) as u32, (micros % 1_000_000) as u32, length, length] {
            self.out.write_all(&number.to_le_bytes())?;
        }
        self.out.write_all(frame)
    }

    /// Writes buffered data to the output.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_a_header_and_records() {
        let mut pcap = PcapWriter::new(Vec::new()).expect("memory takes everything");
        pcap.write(1_500_000_002_000, &[1, 2, 3]).expect("memory takes everything");
        let file = pcap.out;
        assert_eq!(file.len(), 24 + 16 + 3);
        assert_eq!(file[..8], [0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0]);
        assert_eq!(file[24..32], [0xdc, 0x05, 0, 0, 0x02, 0, 0, 0]);
        assert_eq!(file[32..], [3, 0, 0, 0, 3, 0, 0, 0, 1, 2, 3]);
    }
}
