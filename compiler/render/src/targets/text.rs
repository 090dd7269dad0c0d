//! Addresses as text.
//!
//! In: an address. Out: its `Display` text (RFC 5952), written digit by digit for speed: a fabric has millions of
//! addresses.

use closc_artefacts::{Address, Family, Prefix};

/// Maximum length of an address with a prefix length.
const LONGEST: usize = 43;

/// Writes an address.
pub(super) fn address(address: Address) -> String {
    let mut text = String::with_capacity(LONGEST);
    write(&mut text, address);
    text
}

/// Writes an address and its prefix length.
pub(super) fn net(net: Prefix) -> String {
    let mut text = String::with_capacity(LONGEST);
    write(&mut text, net.addr());
    text.push('/');
    text.push_str(&net.length().to_string());
    text
}

fn write(out: &mut String, address: Address) {
    if address.family() == Family::V4 {
        return out.push_str(&address.to_string());
    }
    let segments = address.segments();
    let (start, end) = zeros(segments);
    let (before, after) = if end - start > 1 { (start, end) } else { (8, 8) };
    for (at, segment) in segments[..before].iter().enumerate() {
        if at > 0 {
            out.push(':');
        }
        hex(out, *segment);
    }
    if before < 8 {
        out.push_str("::");
    }
    for (at, segment) in segments[after..].iter().enumerate() {
        if at > 0 {
            out.push(':');
        }
        hex(out, *segment);
    }
}

/// Returns the first longest run of zero segments.
fn zeros(segments: [u16; 8]) -> (usize, usize) {
    let (mut longest, mut start) = ((0, 0), 0);
    for (at, segment) in segments.into_iter().enumerate() {
        if segment != 0 {
            start = at + 1;
        } else if at + 1 - start > longest.1 - longest.0 {
            longest = (start, at + 1);
        }
    }
    longest
}

fn hex(out: &mut String, segment: u16) {
    let digits = (4 - segment.leading_zeros() as usize / 4).max(1);
    for at in (0..digits).rev() {
        out.push(char::from(b"0123456789abcdef"[usize::from(segment >> (4 * at)) & 0xf]));
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv6Addr;

    use super::*;

    #[test]
    fn addresses_read_as_they_are_shown() {
        // Tests all patterns of zero, short and long segments.
        for pattern in 0..3_u32.pow(8) {
            let segment = |at: u32| [0, 0xb, 0xfcbb][(pattern / 3_u32.pow(at) % 3) as usize];
            let plain = Ipv6Addr::from(std::array::from_fn::<u16, 8, _>(|at| segment(at as u32)));
            assert_eq!(address(plain.into()), plain.to_string());
        }
        for segment in 0..=u16::MAX {
            let plain = Ipv6Addr::new(0x2001, segment, 0, 0, 1, 0, 0, segment);
            assert_eq!(address(plain.into()), plain.to_string());
        }
        assert_eq!(address("10.0.0.1".parse().unwrap()), "10.0.0.1");
        assert_eq!(net("10.0.0.0/31".parse().unwrap()), "10.0.0.0/31");
        for length in [0, 9, 48, 127, 128] {
            let plain = Prefix::new("2001:db8::a".parse().unwrap(), length).unwrap();
            assert_eq!(net(plain), plain.to_string());
        }
    }
}
