//! Converts a slot to a port with the names of the device.
//!
//! In: a [`Slot`]. Out: name, alias, lanes and numbers. Invariants: different slots of one breakout have different
//! names, numbers and lanes. Names depend only on the position on the panel, so splitting a cage does not rename ports
//! of other cages. The conversion runs for every port of a fabric, so short names are stored in [`SmolStr`] without an
//! allocation.

use smol_str::SmolStr;

use crate::alias::AliasNumbers;
use crate::{Breakout, CageSet, PhysicalPort, Platform, PortNaming, Slot};

impl Platform {
    /// Returns the port of a slot.
    ///
    /// The slot must be on the panel, and the panel must offer its breakout, as the topology check requires.
    pub fn port(&self, slot: Slot) -> PhysicalPort {
        let at = self.place(slot);
        let listed = self.panel.listed_lanes.map_or(at.width, |most| at.width.min(most.into()));
        let lanes = at.first_lane..at.first_lane + listed;
        PhysicalPort {
            name: self.name_at(slot, at),
            alias: self.alias_at(slot, at),
            panel: at.panel,
            subport: at.ordinal.map_or(0, |ordinal| ordinal + 1),
            lanes: self
                .panel
                .serial_lanes
                .get(usize::from(lanes.start)..usize::from(lanes.end))
                .expect("the slot is on the panel")
                .to_vec(),
            speed: slot.breakout.speed,
            number: at.first_lane + 1,
            device: self.device_port(slot, at),
        }
    }

    /// Returns the ports of every breakout that each cage supports.
    pub fn ports(&self) -> impl Iterator<Item = PhysicalPort> + '_ {
        let slots = (0..self.panel.cages).flat_map(move |cage| {
            let of_cage = self.panel.listed_breakouts().chain(self.shares().copied());
            let of_cage = of_cage.map(move |breakout| (cage, breakout));
            of_cage.flat_map(|(cage, breakout)| {
                (0..breakout.ports).map(move |part| Slot { cage, part, breakout })
            })
        });
        slots.map(|slot| self.port(slot))
    }

    /// Returns the breakouts of SONiC's hwskus that use a share of a cage.
    fn shares(&self) -> impl Iterator<Item = &Breakout> + Clone {
        let hwskus = self.sonic.iter().flat_map(|sonic| &sonic.hwskus);
        hwskus.flat_map(|(breakouts, _)| breakouts).filter(|breakout| breakout.share.is_some())
    }

    /// Returns the name of the port of a slot, without its other properties.
    pub fn port_name(&self, slot: Slot) -> SmolStr {
        self.name_at(slot, self.place(slot))
    }

    /// Returns the number of a port on targets with their own port numbers.
    fn device_port(&self, slot: Slot, at: Place) -> u16 {
        let first = self.panel.device_ports.as_ref().and_then(|first| first.get(usize::from(slot.cage)));
        first.map_or(at.first_lane + 1, |first| first + at.in_cage)
    }

    /// Returns the number of the first lane of a slot's port, counted over the panel from 1.
    pub fn port_number(&self, slot: Slot) -> u16 {
        self.place(slot).first_lane + 1
    }

    fn place(&self, slot: Slot) -> Place {
        let panel = &self.panel;
        let lanes = u16::from(panel.lanes);
        let width = u16::from(slot.breakout.width(panel.lanes));
        let (first, before) = slot.breakout.share.map_or((0, 0), |share| (share.lane, share.ports));
        let in_cage = u16::from(first) + u16::from(slot.part) * width;
        let is_single = slot.breakout.share.is_none() || panel.is_partial(slot.breakout);
        let is_split = slot.breakout.ports != 1 || !is_single;
        Place {
            panel: panel.cage_number(slot.cage),
            width,
            in_cage,
            first_lane: slot.cage * lanes + in_cage,
            ethernet_number: self.first_named(slot.cage) + in_cage / self.panel.lanes_per_number(),
            ordinal: is_split.then_some(before + slot.part),
        }
    }

    /// Returns the port number of the first lane of a cage.
    fn first_named(&self, cage: u16) -> u16 {
        let panel = &self.panel;
        let given = panel.port_numbers.as_ref().and_then(|first| first.get(usize::from(cage)));
        let counted = cage * panel.number_step * u16::from(panel.lanes) / panel.lanes_per_number();
        given.copied().unwrap_or(counted)
    }

    fn name_at(&self, slot: Slot, at: Place) -> SmolStr {
        let mut text = Text::new();
        match self.panel.naming {
            PortNaming::SonicLane | PortNaming::SonicSlash | PortNaming::SonicForty => {
                text.push_str("Ethernet");
                text.number(at.ethernet_number);
            }
            PortNaming::Eth => {
                text.push_str("eth");
                text.number(at.first_lane + 1);
            }
            PortNaming::Device => {
                text.push_str("port");
                text.number(self.device_port(slot, at));
            }
            PortNaming::Swp => {
                text.push_str("swp");
                text.number(at.panel);
                if let Some(ordinal) = at.ordinal {
                    text.push_str("s");
                    text.number(u16::from(ordinal));
                }
            }
            PortNaming::Slash => {
                text.push_str("Ethernet");
                text.numbers(&[at.panel, at.in_cage + 1]);
            }
            PortNaming::Chassis { first, cages } => {
                let (card, cage) = (slot.cage / cages.max(1), slot.cage % cages.max(1));
                text.push_str("Ethernet");
                text.numbers(&[first.saturating_add(card), cage + 1, at.in_cage + 1]);
            }
        }
        text.finish()
    }

    fn alias_at(&self, slot: Slot, at: Place) -> SmolStr {
        let mut text = Text::new();
        let has_alias = matches!(
            self.panel.naming,
            PortNaming::SonicLane | PortNaming::SonicSlash | PortNaming::SonicForty
        );
        if let Some(aliases) = self.panel.aliases.as_ref().filter(|_| has_alias) {
            let Place { panel, ethernet_number: named, ordinal, in_cage, .. } = at;
            let position = slot.cage + 1;
            return aliases.alias(&AliasNumbers {
                cage: panel,
                position,
                name: named,
                ordinal,
                lane: in_cage,
            });
        }
        match self.panel.naming {
            PortNaming::SonicLane => {
                text.push_str("etp");
                text.number(at.panel);
                if let Some(ordinal) = at.ordinal {
                    text.letter(ordinal);
                }
            }
            PortNaming::SonicSlash => {
                text.push_str("Ethernet");
                text.number(at.panel);
                text.push_str("/");
                text.number(at.in_cage + 1);
            }
            PortNaming::SonicForty => {
                text.push_str("fortyGigE0/");
                text.number(at.ethernet_number);
            }
            PortNaming::Device => text.numbers(&[at.panel, at.in_cage]),
            PortNaming::Eth | PortNaming::Swp | PortNaming::Slash | PortNaming::Chassis { .. } => {
                return self.name_at(slot, at);
            }
        }
        text.finish()
    }

    /// Returns the number of ports with this breakout that the ASIC can have at the same time; 0 if the panel does not
    /// offer it.
    pub fn usable_ports(&self, breakout: Breakout) -> u16 {
        let most = self.panel.logical_ports.as_ref().map_or(u16::MAX, |ports| ports.max);
        self.ports_max(breakout).min(most)
    }

    /// Returns whether the ASIC can have this number of ports at the same time.
    pub fn has_ports(&self, ports: u64) -> bool {
        self.panel.logical_ports.as_ref().is_none_or(|logical| ports <= logical.max.into())
    }

    /// Returns the number of ports if every cage that supports a breakout has it; 0 if none does.
    pub fn ports_max(&self, breakout: Breakout) -> u16 {
        let cages = || self.panel.cages_with(breakout).map_or(self.panel.cages, CageSet::len);
        if self.panel.offers(breakout) { cages() * u16::from(breakout.ports) } else { 0 }
    }
}

/// Position of a slot.
#[derive(Clone, Copy)]
struct Place {
    /// Number of the cage on the panel.
    panel: u16,
    /// Number of lanes of the port.
    width: u16,
    /// First lane of the port in the cage, from 0.
    in_cage: u16,
    /// First lane of the port, counted over the cages in the catalogue from 0.
    first_lane: u16,
    /// The N of `EthernetN`: the number in the catalogue, or the first lane counted over the complete panel, including
    /// unused cages.
    ethernet_number: u16,
    /// Index among the ports of the cage, from 0; `None` if the port uses the complete cage.
    ordinal: Option<u8>,
}

/// A short text that is built without an allocation; the longest is `Ethernet65535/65535/256`.
struct Text {
    bytes: [u8; 24],
    len: usize,
}

impl Text {
    fn new() -> Self {
        Text { bytes: [0; 24], len: 0 }
    }

    #[inline]
    fn push_str(&mut self, word: &str) {
        self.bytes[self.len..self.len + word.len()].copy_from_slice(word.as_bytes());
        self.len += word.len();
    }

    #[inline]
    fn letter(&mut self, index: u8) {
        self.bytes[self.len] = b'a' + index % 26;
        self.len += 1;
    }

    #[inline]
    fn number(&mut self, value: u16) {
        let digits = match value {
            0..=9 => 1,
            10..=99 => 2,
            100..=999 => 3,
            1_000..=9_999 => 4,
            10_000.. => 5,
        };
        let mut left = value;
        for at in (self.len..self.len + digits).rev() {
            self.bytes[at] = b'0' + (left % 10) as u8;
            left /= 10;
        }
        self.len += digits;
    }

    /// Appends numbers, separated by slashes.
    fn numbers(&mut self, values: &[u16]) {
        for (at, value) in values.iter().enumerate() {
            if at > 0 {
                self.push_str("/");
            }
            self.number(*value);
        }
    }

    #[inline]
    fn finish(&self) -> SmolStr {
        SmolStr::new(std::str::from_utf8(&self.bytes[..self.len]).expect("made of words, letters and digits"))
    }
}
