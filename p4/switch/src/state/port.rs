//! Ports whose type P4Runtime does not define: ports of copies, and watched ports.

use closc_runtime::value::{Width, encode_number};

/// A port number that fits the width of the program's ports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Port {
    number: u32,
    /// Whether it was set in the numeric field that older controllers use, and is returned in that field.
    numeric: bool,
}

impl Port {
    /// Reads a port as bytes; `None` if it has too many bits.
    pub(crate) fn from_bytes(bytes: &[u8], bits: u32) -> Option<Self> {
        let number = Width::Bits(bits.min(32)).decode(bytes).ok()?;
        Some(Self { number: u32::try_from(number).ok()?, numeric: false })
    }

    /// Reads a port of an older controller; `None` if it has too many bits.
    pub(crate) fn from_number(number: i64, bits: u32) -> Option<Self> {
        let number = u32::try_from(number).ok()?;
        (u64::from(number) <= crate::bits::mask64(bits)).then_some(Self { number, numeric: true })
    }

    /// Returns the number in the data plane.
    pub(crate) fn number(self) -> u32 {
        self.number
    }

    /// Returns the canonical bytes.
    pub(crate) fn bytes(self) -> Vec<u8> {
        encode_number(self.number.into())
    }

    /// Returns whether the port is returned in the numeric field of older controllers.
    pub(crate) fn is_numeric(self) -> bool {
        self.numeric
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_have_the_width_of_the_program() {
        let port = Port::from_bytes(&[0, 1, 0xff], 9).expect("511 has nine bits");
        assert_eq!((port.number(), port.bytes()), (511, vec![1, 0xff]));
        assert_eq!(Port::from_bytes(&[2, 0], 9), None);
        assert_eq!(Port::from_bytes(&[1, 0xff, 0xff, 0xff, 0xff], 32), None);
        assert_eq!(Port::from_bytes(&[], 9), None);
        assert!(Port::from_number(511, 9).is_some_and(Port::is_numeric));
        assert_eq!(Port::from_number(512, 9), None);
        assert_eq!(Port::from_number(-1, 32), None);
        assert!(Port::from_number(i64::from(u32::MAX), 32).is_some());
    }
}
