//! Reads the ports that a controller names without a type: those of copies and watched ports.

use super::{Fault, Store};
use crate::state::Port;

const WATCHED: &str = "a watched port";

/// How many bits ports of the program have.
#[derive(Clone, Copy, Debug)]
pub(super) struct PortWidth(u32);

impl Store {
    /// Returns how wide ports of the program are.
    pub(super) fn port_width(&self) -> PortWidth {
        PortWidth(self.pipeline.program().standard.egress_spec.bits)
    }
}

impl PortWidth {
    /// Reads a port in bytes.
    pub(super) fn bytes(self, place: &'static str, bytes: &[u8]) -> Result<Port, Fault> {
        Port::from_bytes(bytes, self.0).ok_or_else(|| self.too_wide(place))
    }

    /// Reads a port of an older controller.
    pub(super) fn number(self, place: &'static str, number: i64) -> Result<Port, Fault> {
        Port::from_number(number, self.0).ok_or_else(|| self.too_wide(place))
    }

    /// Reads the port that a member watches; no bytes watch none.
    pub(super) fn watched(self, bytes: &[u8]) -> Result<Option<Port>, Fault> {
        if bytes.is_empty() { Ok(None) } else { self.bytes(WATCHED, bytes).map(Some) }
    }

    /// Reads the port that a member of an older controller watches.
    pub(super) fn watched_number(self, number: i32) -> Result<Option<Port>, Fault> {
        self.number(WATCHED, number.into()).map(Some)
    }

    fn too_wide(self, place: &'static str) -> Fault {
        Fault::WidePort { place, bits: self.0 }
    }
}
