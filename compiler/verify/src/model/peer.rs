//! Values that a switch configures for its neighbours, besides their names. They are hashed, because there are millions
//! of rows.

use std::hash::{DefaultHasher, Hash, Hasher as _};
use std::net::IpAddr;

use closc_artefacts::Address;
use smol_str::SmolStr;

/// Values that a switch configures for another switch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Peer {
    /// Name of the other switch.
    pub(crate) name: SmolStr,
    /// Hash of its loopback.
    pub(crate) loopback: u32,
    /// Hash of its management address.
    pub(crate) management: u32,
    /// Hash of its hardware.
    pub(crate) hardware: u32,
    /// Hash of its type.
    pub(crate) kind: u32,
}

impl Peer {
    /// Hashes the values.
    pub(crate) fn new(
        name: &str,
        loopback: Option<Address>,
        management: Option<IpAddr>,
        (hardware, kind): (Option<&str>, Option<&str>),
    ) -> Peer {
        Peer {
            name: name.into(),
            loopback: number(&loopback),
            management: number(&management),
            hardware: number(&hardware),
            kind: number(&kind),
        }
    }
}

/// Hashes a value. Collisions are very unlikely.
fn number(value: &impl Hash) -> u32 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish() as u32
}
