//! Statement of a switch about its neighbours besides their names: as numbers, since millions of rows are kept.

use std::hash::{DefaultHasher, Hash, Hasher as _};
use std::net::IpAddr;

use closc_artefacts::Address;
use smol_str::SmolStr;

/// Statement of a switch about another one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Peer {
    /// The other one.
    pub(crate) name: SmolStr,
    /// Of its loopback.
    pub(crate) loopback: u32,
    /// Of its management address.
    pub(crate) management: u32,
    /// Of its hardware.
    pub(crate) hardware: u32,
    /// Of its type.
    pub(crate) kind: u32,
}

impl Peer {
    /// Takes what is stated.
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

/// A number that other values hardly ever have.
fn number(value: &impl Hash) -> u32 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish() as u32
}
