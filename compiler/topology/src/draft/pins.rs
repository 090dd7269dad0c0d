//! The file of `ecmp.pins`: one line per pin.
//!
//! In: the text of the file. Out: the pins by T0 and NIC, and the invalid lines with their reasons. Invariants: a NIC
//! has one pin on a T0, the first.

use std::collections::BTreeMap;

use closc_diagnostics::{Sources, Span};

use super::list_files::{self, ListFault};
use super::names::DraftNames;
use crate::coordinate::{Nic, Switch, TierId, ZoneId};
use crate::load::{Companion, Document};
use crate::model::Pins;
use crate::names::{NameFault, find_nic, find_switch};
use crate::naming::Naming;
use crate::shape::Shape;

/// The first line of the list: the names of its columns.
const COLUMNS: &str = "switch,nic,uplink";

/// Why a line is not a pin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum PinFault {
    /// It does not have three cells, or the third is not a number.
    Form,
    /// The first cell does not name a T0, or the second does not name a NIC.
    Name(String),
    /// The uplink is beyond the last.
    Uplink(u16),
    /// The switch reaches the NIC over a downlink.
    Own,
    /// No switch joins the zones of the switch and of the NIC.
    Unjoined,
    /// The same T0 and NIC are in an earlier line.
    Twice(Span),
}

/// The pins of a draft.
#[derive(Debug, Clone, Default)]
pub(crate) struct DraftPins {
    /// Why the file gives no pins.
    pub(crate) unusable: Option<ListFault>,
    pub(crate) pins: BTreeMap<(Switch, Nic), (u16, Span)>,
    /// Lines that are not pins.
    pub(crate) faults: Vec<(Span, PinFault)>,
    /// The highest number of pins of a T0.
    pub(crate) max_per_t0: u64,
}

impl DraftPins {
    /// Reads the file of a document. If name patterns are broken, it is skipped, because every name would be a fault.
    pub(super) fn new(document: &Document, shape: &Shape, names: &DraftNames, sources: &Sources) -> Self {
        let mut pins = DraftPins::default();
        if !names.faults.is_empty() {
            return pins;
        }
        match list_files::lines(document, Companion::Pins, COLUMNS, sources) {
            Ok(lines) => {
                for (span, line) in lines {
                    pins.read(span, line, shape, &names.naming);
                }
            }
            Err(why) => pins.unusable = Some(why),
        }
        let mut counts: BTreeMap<Switch, u64> = BTreeMap::new();
        for (switch, _) in pins.pins.keys() {
            *counts.entry(*switch).or_default() += 1;
        }
        pins.max_per_t0 = counts.into_values().max().unwrap_or(0);
        pins
    }

    fn read(&mut self, span: Span, line: &str, shape: &Shape, naming: &Naming) {
        match pin(line, shape, naming) {
            Ok((switch, nic, uplink)) => match self.pins.get(&(switch, nic)) {
                Some((_, earlier)) => self.faults.push((span, PinFault::Twice(*earlier))),
                None => drop(self.pins.insert((switch, nic), (uplink, span))),
            },
            Err(fault) => self.faults.push((span, fault)),
        }
    }

    /// Returns the pins; `None` if the file cannot be used or a line is invalid.
    pub(crate) fn finish(&self) -> Option<Pins> {
        let mut pins = Pins::new();
        for ((switch, nic), (uplink, _)) in &self.pins {
            pins.entry(*switch).or_default().insert(*nic, *uplink);
        }
        (self.faults.is_empty() && self.unusable.is_none()).then_some(pins)
    }
}

/// A NIC that every fabric has.
const FIRST: Nic = Nic { zone: ZoneId(0), group: 0, downlink: 0 };

/// Reads one line.
fn pin(line: &str, shape: &Shape, naming: &Naming) -> Result<(Switch, Nic, u16), PinFault> {
    let [switch_name, nic_name, uplink] = list_files::cells(line).ok_or(PinFault::Form)?;
    let uplink: u16 = uplink.parse().map_err(|_| PinFault::Form)?;
    let switch = find_switch(shape, naming, switch_name)
        .map_err(|fault| name_fault(switch_name, (shape, naming), "a T0", fault))?;
    if switch.tier != TierId::T0 {
        return Err(PinFault::Name(format!(
            "`{switch_name}` is a {}, and only T0s have pins",
            switch.tier.label()
        )));
    }
    if naming.parse_nic_port(nic_name).is_some() {
        return Err(PinFault::Name(format!(
            "`{nic_name}` is a port: name its NIC, the switch determines the plane"
        )));
    }
    let found = match naming.parse_nic(nic_name) {
        Some((node, number)) => find_nic(shape, naming, node, number),
        None => Err(NameFault::Unreadable),
    };
    let expected = format!("a NIC such as `{}`", naming.nic(shape.node_of(FIRST).0, 0));
    let nic = found.map_err(|fault| name_fault(nic_name, (shape, naming), &expected, fault))?;
    if uplink >= shape.t0_up {
        return Err(PinFault::Uplink(uplink));
    }
    if (nic.zone, nic.group) == (switch.zone, switch.index) {
        return Err(PinFault::Own);
    }
    if nic.zone != switch.zone && shape.t2_count == 0 {
        return Err(PinFault::Unjoined);
    }
    Ok((switch, nic, uplink))
}

fn name_fault(name: &str, names: (&Shape, &Naming), expected: &str, fault: NameFault) -> PinFault {
    PinFault::Name(list_files::explain_name_fault(name, names, expected, fault))
}
