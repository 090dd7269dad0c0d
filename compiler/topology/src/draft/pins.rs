//! The file of `ecmp.pins`: one line a pin.
//!
//! In: the text of the file. Out: the pins by T0 and NIC, and every line that is none with the reason. Invariants: lines
//! that are empty or begin with `#` are passed over; a T0 and a NIC have one pin, the first.

use std::collections::BTreeMap;

use closc_diagnostics::{SourceId, Sources, Span};

use super::names::DraftNames;
use crate::coordinate::{Nic, Switch, TierId};
use crate::load::Document;
use crate::model::Pins;
use crate::names::{NameFault, find_nic, find_switch};
use crate::naming::Naming;
use crate::shape::Shape;

/// The first line that is no comment.
pub(crate) const HEADER: &str = "switch,nic,uplink";

/// Why a line is no pin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum PinFault {
    /// It has not three cells, or the third is no number.
    Form,
    /// A cell names nothing.
    Name(String),
    /// The uplink is beyond the last.
    Uplink(u16),
    /// The switch reaches the NIC by a downlink.
    Own,
    /// The same T0 and NIC are in an earlier line.
    Twice(Span),
}

/// The pins of a draft.
#[derive(Debug, Clone, Default)]
pub(crate) struct DraftPins {
    /// Whether the file starts as no file of pins does. It is then somebody else's, and nothing of it is shown.
    pub(crate) is_foreign: bool,
    known: BTreeMap<(Switch, Nic), (u16, Span)>,
    /// Lines that are no pins.
    pub(crate) faults: Vec<(Span, PinFault)>,
    /// Why the file was not read, if it was asked for.
    pub(crate) unread: Option<String>,
    /// The most pins of a T0.
    pub(crate) most: u64,
}

impl DraftPins {
    /// Reads the file of a document. Broken name patterns leave it out: every name would be a fault.
    pub(super) fn new(document: &Document, shape: &Shape, names: &DraftNames, sources: &Sources) -> Self {
        let mut pins = DraftPins::default();
        if document.pins_file().is_none() || !names.faults.is_empty() {
            return pins;
        }
        match &document.pins {
            None => pins.unread = Some("nothing was read".to_owned()),
            Some(Err(why)) => pins.unread = Some(why.clone()),
            Some(Ok(source)) => pins.read(*source, &sources.get(*source).text, shape, &names.naming),
        }
        let mut counts: BTreeMap<Switch, u64> = BTreeMap::new();
        for (switch, _) in pins.known.keys() {
            *counts.entry(*switch).or_default() += 1;
        }
        pins.most = counts.into_values().max().unwrap_or(0);
        pins
    }

    fn read(&mut self, source: SourceId, text: &str, shape: &Shape, naming: &Naming) {
        let mut start = 0;
        let mut has_header = false;
        for line in text.split_inclusive('\n') {
            let cells = line.trim();
            let first = start + line.len() - line.trim_start().len();
            let span = Span::new(source, first..first + cells.len());
            start += line.len();
            if cells.is_empty() || cells.starts_with('#') {
                continue;
            }
            if !has_header {
                has_header = true;
                if cells.split(',').map(str::trim).ne(HEADER.split(',')) {
                    self.is_foreign = true;
                    return;
                }
                continue;
            }
            match pin(cells, shape, naming) {
                Ok((switch, nic, uplink)) => match self.known.get(&(switch, nic)) {
                    Some((_, earlier)) => self.faults.push((span, PinFault::Twice(*earlier))),
                    None => drop(self.known.insert((switch, nic), (uplink, span))),
                },
                Err(fault) => self.faults.push((span, fault)),
            }
        }
        if !has_header {
            self.is_foreign = true;
        }
    }

    /// Returns the pins; nothing if a line is none.
    pub(crate) fn finish(&self) -> Option<Pins> {
        let mut pins = Pins::new();
        for ((switch, nic), (uplink, _)) in &self.known {
            pins.entry(*switch).or_default().insert(*nic, *uplink);
        }
        (self.faults.is_empty() && self.unread.is_none() && !self.is_foreign).then_some(pins)
    }
}

/// Reads one line.
fn pin(line: &str, shape: &Shape, naming: &Naming) -> Result<(Switch, Nic, u16), PinFault> {
    let cells: Vec<&str> = line.split(',').map(str::trim).collect();
    let [switch_name, nic_name, uplink] = cells[..] else { return Err(PinFault::Form) };
    let uplink: u16 = uplink.parse().map_err(|_| PinFault::Form)?;
    let switch =
        find_switch(shape, naming, switch_name).map_err(|fault| named(switch_name, naming, fault))?;
    if switch.tier != TierId::T0 {
        return Err(PinFault::Name(format!(
            "`{switch_name}` is a {}, and only T0s have pins",
            switch.tier.label()
        )));
    }
    if naming.parse_nic_port(nic_name).is_some() {
        return Err(PinFault::Name(format!(
            "`{nic_name}` is a port: name its NIC, the switch tells the plane"
        )));
    }
    let found = match naming.parse_nic(nic_name) {
        Some((node, number)) => find_nic(shape, naming, node, number),
        None => Err(NameFault::Unreadable),
    };
    let nic = found.map_err(|fault| named(nic_name, naming, fault))?;
    if uplink >= shape.t0_up {
        return Err(PinFault::Uplink(uplink));
    }
    if (nic.zone, nic.group) == (switch.zone, switch.index) {
        return Err(PinFault::Own);
    }
    Ok((switch, nic, uplink))
}

/// Says why a name means nothing.
fn named(name: &str, naming: &Naming, fault: NameFault) -> PinFault {
    PinFault::Name(match fault {
        NameFault::Unreadable => match naming.nearest(name) {
            Some(near) => format!("`{name}` names nothing here; did you mean `{near}`?"),
            None => format!("`{name}` names nothing here"),
        },
        NameFault::Beyond { last } => format!("`{name}` is not there: {last}"),
        NameFault::NoCable { why } | NameFault::Range { why } | NameFault::TooMany { why } => {
            format!("`{name}`: {why}")
        }
    })
}
