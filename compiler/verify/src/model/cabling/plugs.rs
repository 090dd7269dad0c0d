//! The cables of each device, in the order of the lists. The indices are the slots.
//!
//! In: cables. Out: [`Plug`]s by device and slot. Invariants: four bytes for each end of a cable.

use super::cables::Cables;
use super::{CableId, DeviceId, Side};

/// A cable at a device: twice its index, plus one for its upper end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Plug(u32);

impl Plug {
    fn of(cable: CableId, side: Side) -> Self {
        Plug(cable.0.checked_mul(2).expect("a fabric has fewer than 2^31 cables") | side as u32)
    }

    #[inline]
    pub(crate) fn cable(self) -> CableId {
        CableId(self.0 >> 1)
    }

    /// Returns the end of the cable at the device.
    #[inline]
    pub(crate) fn side(self) -> Side {
        if self.0 & 1 == 0 { Side::Lower } else { Side::Upper }
    }
}

/// The cables of all devices, one device after the other.
#[derive(Debug, Clone, Default)]
pub(super) struct Plugs {
    starts: Vec<u32>,
    all: Vec<Plug>,
}

impl Plugs {
    /// Collects the cable ends at some devices and stores their slots in the cables. `place` returns the index of a
    /// device.
    pub(super) fn new(devices: usize, cables: &mut Cables, place: impl Fn(DeviceId) -> Option<u32>) -> Self {
        let ends = |cables: &Cables, at: u32| {
            let end = |side| Some((place(cables.party(CableId(at), side))?, Plug::of(CableId(at), side)));
            [end(Side::Lower), end(Side::Upper)]
        };
        let count = cables.len() as u32;
        let mut starts = vec![0u32; devices + 1];
        for (device, _) in (0..count).flat_map(|at| ends(cables, at)).flatten() {
            starts[device as usize + 1] += 1;
        }
        for at in 0..devices {
            starts[at + 1] += starts[at];
        }
        let mut next = starts.clone();
        let mut all = vec![Plug(0); starts[devices] as usize];
        for at in 0..count {
            for (device, plug) in ends(cables, at).into_iter().flatten() {
                let place = &mut next[device as usize];
                all[*place as usize] = plug;
                cables.set_slot(plug.cable(), plug.side(), (*place - starts[device as usize]) as u16);
                *place += 1;
            }
        }
        Plugs { starts, all }
    }

    /// Returns the cables of a device, by slot.
    #[inline]
    pub(super) fn of(&self, device: usize) -> &[Plug] {
        &self.all[self.starts[device] as usize..self.starts[device + 1] as usize]
    }
}
