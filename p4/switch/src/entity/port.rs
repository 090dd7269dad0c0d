//! Reads ports whose type P4Runtime does not define: ports of copies, and watched ports.

use super::{Fault, Store};
use crate::state::Port;

const WATCHED: &str = "a watched port";

/// Width of the program's ports.
#[derive(Clone, Copy, Debug)]
pub(super) struct PortWidth(u32);

impl Store {
    /// Returns the width of the program's ports.
    pub(super) fn port_width(&self) -> PortWidth {
        PortWidth(self.pipeline.program().standard.egress_spec.bits)
    }
}

impl PortWidth {
    /// Reads a port in bytes.
    pub(super) fn bytes(self, place: &'static str, bytes: &[u8]) -> Result<Port, Fault> {
        Port::from_bytes(bytes, self.0).ok_or_else(|| self.too_wide(place))
    }

    /// Reads a port from the numeric field that older controllers use.
    pub(super) fn number(self, place: &'static str, number: i64) -> Result<Port, Fault> {
        Port::from_number(number, self.0).ok_or_else(|| self.too_wide(place))
    }

    /// Reads the watched port of a member; no bytes means none.
    pub(super) fn parse_watch_port(self, bytes: &[u8]) -> Result<Option<Port>, Fault> {
        if bytes.is_empty() { Ok(None) } else { self.bytes(WATCHED, bytes).map(Some) }
    }

    /// Reads the watched port of a member from the numeric field that older controllers use.
    pub(super) fn parse_watch_number(self, number: i32) -> Result<Option<Port>, Fault> {
        self.number(WATCHED, number.into()).map(Some)
    }

    fn too_wide(self, place: &'static str) -> Fault {
        Fault::WidePort { place, bits: self.0 }
    }
}
