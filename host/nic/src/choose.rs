//! Path selection for the next packet.
//!
//! In: the engine's path states for a destination, the flow of a packet. Out: a plane and an entropy value. Invariants:
//! no transport uses a denied value. `flow` and `static` have no state, so only denials change their choice.

use std::str::FromStr;

use closc_paths_engine::{Engine, PathId, Pick, State};
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Path selection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Transport {
    /// Every packet over the next good path.
    #[default]
    Spray,
    /// One path per flow, by a hash of its addresses and ports, as with ECMP. The state of the path is ignored.
    Flow,
    /// The first path of the table for all packets to a NIC.
    Static,
}

/// The name is not a transport.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("`{0}` is not a transport; expected spray, flow or static")]
pub struct UnknownTransport(String);

impl FromStr for Transport {
    type Err = UnknownTransport;

    fn from_str(word: &str) -> Result<Self, UnknownTransport> {
        match word {
            "spray" => Ok(Transport::Spray),
            "flow" => Ok(Transport::Flow),
            "static" => Ok(Transport::Static),
            other => Err(UnknownTransport(other.to_owned())),
        }
    }
}

impl Transport {
    /// Returns its name.
    pub fn name(self) -> &'static str {
        match self {
            Transport::Spray => "spray",
            Transport::Flow => "flow",
            Transport::Static => "static",
        }
    }

    /// Chooses the path of the next packet of a flow. Returns `None` if every path is denied or, with `spray`, every
    /// port is down.
    pub fn next(self, engine: &mut Engine, path: PathId, flow: u64) -> Option<Pick> {
        match self {
            Transport::Spray => engine.pick(path),
            Transport::Flow | Transport::Static => self.fixed_pick(engine, path, flow),
        }
    }

    /// Returns the plane that [`Self::next`] would choose, without changing the state.
    pub fn next_plane(self, engine: &Engine, path: PathId, flow: u64) -> Option<u8> {
        match self {
            Transport::Spray => engine.next_plane(path),
            Transport::Flow | Transport::Static => self.fixed_pick(engine, path, flow).map(|pick| pick.plane),
        }
    }

    fn fixed_pick(self, engine: &Engine, path: PathId, flow: u64) -> Option<Pick> {
        let usable = || engine.values(path).filter(|value| value.state != State::Denied);
        let at = match self {
            Transport::Static => 0,
            Transport::Spray | Transport::Flow => {
                let count = usable().count() as u64;
                (flow % count.max(1)) as usize
            }
        };
        usable().nth(at).map(|value| Pick { plane: value.plane, entropy: value.entropy })
    }
}

/// Hashes the key of a flow: FNV-1a, with a final mix so that the low bits depend on all input.
pub fn flow_hash<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> u64 {
    let bytes = parts.into_iter().flatten();
    let hash = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let mixed = (hash ^ hash >> 33).wrapping_mul(0xff51_afd7_ed55_8ccd);
    mixed ^ mixed >> 33
}

/// Returns the flow hash of a packet of the node: its addresses, protocol and, for TCP and UDP, ports.
pub fn flow_of_packet(inner: &[u8]) -> u64 {
    let protocol = inner.get(6..7).unwrap_or_default();
    let has_ports = matches!(protocol, [6 | 17]);
    let ports = inner.get(40..44).filter(|_| has_ports).unwrap_or_default();
    flow_hash([protocol, inner.get(8..40).unwrap_or_default(), ports])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transport_has_a_word() {
        for transport in [Transport::Spray, Transport::Flow, Transport::Static] {
            assert_eq!(transport.name().parse(), Ok(transport));
        }
        assert!("ecmp".parse::<Transport>().unwrap_err().to_string().contains("`ecmp`"));
    }

    #[test]
    fn flows_of_a_node_differ_by_ports_and_nothing_that_changes_on_the_way() {
        let mut packet = [0u8; 60];
        (packet[6], packet[39]) = (6, 9);
        let one = flow_of_packet(&packet);
        packet[50] = 7;
        packet[7] = 3;
        assert_eq!(flow_of_packet(&packet), one, "hop limit and payload do not matter");
        packet[41] = 1;
        assert_ne!(flow_of_packet(&packet), one);
        assert_eq!(flow_of_packet(&[]), flow_of_packet(&[]));
    }

    #[test]
    fn hashes_spread() {
        let mut seen = [0u32; 32];
        for n in 0..3200u32 {
            seen[(flow_hash([&n.to_be_bytes()[..]]) % 32) as usize] += 1;
        }
        assert!(seen.iter().all(|count| (50..200).contains(count)), "{seen:?}");
    }
}
