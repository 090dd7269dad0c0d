//! The legacy message around a program.
//!
//! The device config is target-specific in P4Runtime. BMv2 accepts plain JSON, and `p4.tmp.P4DeviceConfig` with the
//! JSON in field 3.

use std::borrow::Cow;

#[derive(Clone, PartialEq, prost::Message)]
struct Envelope {
    #[prost(bool, tag = "1")]
    reassign: bool,
    #[prost(bytes = "vec", tag = "3")]
    device_data: Vec<u8>,
}

/// Returns the program of a device config.
pub(super) fn unwrap(device_config: &[u8]) -> Cow<'_, [u8]> {
    let bare = device_config.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'{');
    if bare {
        return Cow::Borrowed(device_config);
    }
    match <Envelope as prost::Message>::decode(device_config) {
        Ok(envelope) if !envelope.device_data.is_empty() => Cow::Owned(envelope.device_data),
        // Other contents are reported by the JSON parser.
        Ok(_) | Err(_) => Cow::Borrowed(device_config),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use prost::Message as _;

    #[test]
    fn the_program_comes_bare_or_wrapped() {
        assert_eq!(*unwrap(b" {}"), *b" {}");
        let envelope = Envelope { reassign: true, device_data: b"{}".to_vec() };
        assert_eq!(*unwrap(&envelope.encode_to_vec()), *b"{}");
        assert_eq!(*unwrap(b"neither"), *b"neither");
    }
}
