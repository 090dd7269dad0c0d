//! Compact storage of the ports of a device that have a cable. There can be millions of them, so each takes 16 bytes.
//!
//! In: [`EndState`]s by slot. Out: the same. Invariants: storage is lossless. Values that ports of a device share are
//! stored once. These include the upper half of their addresses, which is the same for all cables of a kind. Ports that
//! share no values merely take more memory.

use closc_artefacts::Address;

use super::FactsId;
use crate::model::device::Mac;

/// Number of recent kinds with which a port is compared before it gets a new one. A device has only a few kinds.
const COMPARED: usize = 8;

/// One end of a cable, as configured on its device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct EndState {
    /// Address of the device on the cable.
    pub(crate) address: Option<Address>,
    /// Values that many ports share.
    pub(crate) facts: FactsId,
    /// MAC address of the port.
    pub(crate) mac: Option<Mac>,
    /// MAC address that the device expects at the other end.
    pub(crate) neighbour: Option<Mac>,
    /// Whether the port exists on the device.
    pub(crate) configured: bool,
}

impl EndState {
    /// Creates the state of a port that exists on the device.
    pub(crate) fn of(facts: FactsId, mac: Option<Mac>) -> Self {
        EndState { facts, mac, configured: true, ..EndState::default() }
    }
}

/// The ports of a device by slot. Slots are 16-bit numbers, so the number of ports is limited accordingly.
#[derive(Debug, Clone, Default)]
pub(crate) struct Ends {
    ports: Box<[Port]>,
    sorts: Box<[PortValues]>,
}

/// Values of one port.
#[derive(Debug, Clone, Copy)]
struct Port {
    /// Lower half of the address.
    low: [u8; 8],
    neighbour: Mac,
    /// Index in [`Ends::sorts`].
    kind_index: u16,
}

/// Values that ports of a device share.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct PortValues {
    /// Upper half of the address, if there is one.
    high: Option<[u8; 8]>,
    facts: FactsId,
    mac: Option<Mac>,
    has_neighbour: bool,
    configured: bool,
}

impl Ends {
    /// Stores the ports of a device.
    pub(crate) fn of(states: &[EndState]) -> Self {
        let states = &states[..states.len().min(1 << 16)];
        let mut sorts: Vec<PortValues> = Vec::new();
        let mut ports = Vec::with_capacity(states.len());
        for state in states {
            let (high, low) = state.address.map_or((None, [0; 8]), |address| {
                let bits = u128::from(address);
                (Some(((bits >> 64) as u64).to_be_bytes()), (bits as u64).to_be_bytes())
            });
            let EndState { facts, mac, neighbour, configured, .. } = *state;
            let sort = PortValues { high, facts, mac, has_neighbour: neighbour.is_some(), configured };
            let compared = sorts.iter().enumerate().rev().take(COMPARED);
            let known = compared.filter(|(_, known)| **known == sort).map(|(at, _)| at).next();
            let at = known.unwrap_or_else(|| {
                sorts.push(sort);
                sorts.len() - 1
            });
            ports.push(Port { low, neighbour: neighbour.unwrap_or_default(), kind_index: at as u16 });
        }
        Ends { ports: ports.into(), sorts: sorts.into() }
    }

    /// Returns the port in a slot.
    #[inline]
    pub(crate) fn get(&self, slot: usize) -> Option<EndState> {
        self.ports.get(slot).map(|port| self.state(port))
    }

    pub(crate) fn len(&self) -> usize {
        self.ports.len()
    }

    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = EndState> + '_ {
        self.ports.iter().map(|port| self.state(port))
    }

    #[inline]
    fn state(&self, port: &Port) -> EndState {
        let PortValues { high, facts, mac, has_neighbour, configured } =
            self.sorts[usize::from(port.kind_index)];
        let bits =
            |high| u128::from(u64::from_be_bytes(high)) << 64 | u128::from(u64::from_be_bytes(port.low));
        EndState {
            address: high.map(|high| Address::from(bits(high))),
            facts,
            mac,
            neighbour: has_neighbour.then_some(port.neighbour),
            configured,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_stays_small() {
        assert!(size_of::<Port>() <= 16, "{}", size_of::<Port>());
    }

    #[test]
    fn what_comes_out_is_what_was_put_in() {
        let macs = [None, Some(Mac([0; 6])), Some(Mac([2, 0xc1, 3, 0, 0, 1]))];
        let addresses =
            [None, Some("::"), Some("2001:db8:2000:1300:1:2:0:b"), Some("2001:db8:2000:300:1:2:0:b")];
        let mut states = Vec::new();
        for (at, address) in
            addresses.map(|text| text.map(|text| text.parse().expect("an address"))).iter().enumerate()
        {
            for mac in macs {
                for neighbour in macs {
                    let facts = FactsId(at as u32 % 2);
                    states.push(EndState { address: *address, facts, mac, neighbour, configured: at > 0 });
                }
            }
        }
        // Ports repeat, and more than `COMPARED` kinds alternate.
        let states = [states.clone(), states].concat();
        let ends = Ends::of(&states);
        assert_eq!(ends.iter().collect::<Vec<_>>(), states);
        assert_eq!(ends.get(7), Some(states[7]));
        assert_eq!(ends.get(states.len()), None);
        let alike = vec![EndState::of(FactsId(1), macs[2]); 512];
        assert_eq!(Ends::of(&alike).sorts.len(), 1);
    }

    #[test]
    fn no_more_are_kept_than_there_are_slots() {
        let states: Vec<EndState> = (0..(1 << 16) + 9).map(|at| EndState::of(FactsId(at), None)).collect();
        let ends = Ends::of(&states);
        assert_eq!(ends.iter().len(), 1 << 16);
        assert_eq!(ends.get(65_535), Some(states[65_535]));
    }
}
