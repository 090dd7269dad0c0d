//! From a slot to the port as the device names it.
//!
//! In: a [`Slot`]. Out: name, alias, lanes and numbers. Always: two different slots of one breakout have different
//! names, numbers and lanes, and names depend on the place on the panel only, so that splitting one cage renames
//! no port of another. Called for every port of a fabric: short names stay inside [`SmolStr`], without an
//! allocation.

use smol_str::SmolStr;

use crate::{Breakout, PhysicalPort, Platform, PortNaming, Slot};

impl Platform {
    /// Returns the port of a slot.
    ///
    /// The slot must be on the panel and its breakout one of the panel's, as the topology check requires.
    pub fn port(&self, slot: Slot) -> PhysicalPort {
        let at = self.place(slot);
        let lanes = at.first_lane..at.first_lane + at.width;
        PhysicalPort {
            name: self.name_at(slot, at),
            alias: self.alias_at(slot, at),
            panel: at.panel,
            subport: if slot.breakout.ports == 1 { 0 } else { slot.part + 1 },
            lanes: self
                .panel
                .serial_lanes
                .get(usize::from(lanes.start)..usize::from(lanes.end))
                .expect("the slot is on the panel")
                .to_vec(),
            speed: slot.breakout.speed,
            number: at.first_lane + 1,
        }
    }

    /// Returns the name of the port of a slot, without the rest.
    pub fn port_name(&self, slot: Slot) -> SmolStr {
        self.name_at(slot, self.place(slot))
    }

    /// Returns the number of the port of a slot, for P4 and other numbered targets, from 1.
    pub fn port_number(&self, slot: Slot) -> u16 {
        self.place(slot).first_lane + 1
    }

    fn place(&self, slot: Slot) -> Place {
        let panel = &self.panel;
        let lanes = u16::from(panel.lanes);
        let width = lanes / u16::from(slot.breakout.ports.max(1));
        let in_cage = u16::from(slot.part) * width;
        Place {
            panel: panel.first_number + slot.cage * panel.number_step,
            width,
            in_cage,
            first_lane: slot.cage * lanes + in_cage,
            named: slot.cage * panel.number_step * lanes + in_cage,
        }
    }

    fn name_at(&self, slot: Slot, at: Place) -> SmolStr {
        let text = Text::new();
        match self.panel.naming {
            PortNaming::SonicLane | PortNaming::SonicSlash | PortNaming::SonicForty => {
                text.word("Ethernet").number(at.named)
            }
            PortNaming::Eth => text.word("eth").number(at.first_lane + 1),
            PortNaming::Swp if slot.breakout.ports == 1 => text.word("swp").number(at.panel),
            PortNaming::Swp => text.word("swp").number(at.panel).word("s").number(u16::from(slot.part)),
        }
        .finish()
    }

    fn alias_at(&self, slot: Slot, at: Place) -> SmolStr {
        let text = Text::new();
        match self.panel.naming {
            PortNaming::SonicLane if slot.breakout.ports == 1 => text.word("etp").number(at.panel).finish(),
            PortNaming::SonicLane => text.word("etp").number(at.panel).letter(slot.part).finish(),
            PortNaming::SonicSlash => {
                text.word("Ethernet").number(at.panel).word("/").number(at.in_cage + 1).finish()
            }
            PortNaming::SonicForty => text.word("fortyGigE0/").number(at.named).finish(),
            PortNaming::Eth | PortNaming::Swp => self.name_at(slot, at),
        }
    }

    /// Returns the ports the panel has when every cage is split this way; 0 where it cannot be.
    pub fn ports_max(&self, breakout: Breakout) -> u16 {
        if self.panel.breakouts.contains(&breakout) {
            self.panel.cages * u16::from(breakout.ports)
        } else {
            0
        }
    }
}

/// Where a slot lies.
#[derive(Clone, Copy)]
struct Place {
    /// Number on the panel.
    panel: u16,
    /// Lanes of the port.
    width: u16,
    /// First lane in the cage, from 0.
    in_cage: u16,
    /// First lane over the cages of the catalogue, from 0.
    first_lane: u16,
    /// The N of `EthernetN`: the first lane counted over the whole panel, unused cages included.
    named: u16,
}

/// A short text put together without an allocation.
struct Text {
    bytes: [u8; 40],
    len: usize,
}

impl Text {
    fn new() -> Self {
        Text { bytes: [0; 40], len: 0 }
    }

    fn word(mut self, word: &str) -> Self {
        self.bytes[self.len..self.len + word.len()].copy_from_slice(word.as_bytes());
        self.len += word.len();
        self
    }

    fn letter(mut self, index: u8) -> Self {
        self.bytes[self.len] = b'a' + index % 26;
        self.len += 1;
        self
    }

    fn number(mut self, value: u16) -> Self {
        let mut digits = [0u8; 5];
        let mut left = value;
        let mut at = digits.len();
        loop {
            at -= 1;
            digits[at] = b'0' + (left % 10) as u8;
            left /= 10;
            if left == 0 {
                break;
            }
        }
        let digits = &digits[at..];
        self.bytes[self.len..self.len + digits.len()].copy_from_slice(digits);
        self.len += digits.len();
        self
    }

    fn finish(&self) -> SmolStr {
        SmolStr::new(std::str::from_utf8(&self.bytes[..self.len]).expect("made of words, letters and digits"))
    }
}
