//! A P4Info with every kind of object, for tests in this crate and, with the feature `testing`, in others.

/// The P4Info as text.
pub const P4INFO: &str = include_str!("../tests/data/sample.p4info.txtpb");

/// Returns the P4Info with its names resolved.
pub fn info() -> crate::Info {
    let message = crate::text::read_p4info(P4INFO).expect("a test reads it");
    crate::Info::new(message).expect("a test indexes it")
}
