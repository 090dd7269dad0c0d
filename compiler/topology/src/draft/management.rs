//! The file of `addresses.management_list`: one line per management port.
//!
//! In: the text of the file. Out: the ports by switch, each with its place, and the invalid lines with their reasons.
//! Invariants: a switch has one line, the first. The checks compare addresses with each other.

use std::collections::BTreeMap;

use closc_diagnostics::{Sources, Span};

use super::list_files::{self, ListFault};
use super::names::DraftNames;
use crate::coordinate::Switch;
use crate::load::{Companion, Document};
use crate::model::{ManagementList, ManagementPort};
use crate::names::find_switch;
use crate::naming::Naming;
use crate::shape::Shape;

/// The first line of the list: the names of its columns.
pub(crate) const COLUMNS: &str = "switch,address,gateway";

/// Why a line is not a management port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ManagementFault {
    /// It does not have three cells, or the second is not an address with a prefix length, or the third is not an
    /// address.
    Form,
    /// The first cell names no switch.
    Name(String),
    /// The same switch is in an earlier line.
    Twice(Span),
}

/// The listed management ports of a draft.
#[derive(Debug, Clone, Default)]
pub(crate) struct DraftManagement {
    /// Why the file gives no ports.
    pub(crate) unusable: Option<ListFault>,
    /// Ports, each with its line.
    ports: BTreeMap<Switch, (ManagementPort, Span)>,
    /// Lines that are not ports.
    pub(crate) faults: Vec<(Span, ManagementFault)>,
}

impl DraftManagement {
    /// Reads the file of a document. If name patterns are broken, it is skipped, because every name would be a fault.
    pub(super) fn new(document: &Document, shape: &Shape, names: &DraftNames, sources: &Sources) -> Self {
        let mut ports = DraftManagement::default();
        if !names.faults.is_empty() {
            return ports;
        }
        match list_files::lines(document, Companion::Management, COLUMNS, sources) {
            Ok(lines) => {
                for (span, line) in lines {
                    ports.read(span, line, shape, &names.naming);
                }
            }
            Err(why) => ports.unusable = Some(why),
        }
        ports
    }

    fn read(&mut self, span: Span, line: &str, shape: &Shape, naming: &Naming) {
        match port(line, shape, naming) {
            Ok((switch, port)) => match self.ports.get(&switch) {
                Some((_, earlier)) => self.faults.push((span, ManagementFault::Twice(*earlier))),
                None => drop(self.ports.insert(switch, (port, span))),
            },
            Err(fault) => self.faults.push((span, fault)),
        }
    }

    /// Returns the ports with their lines, in the order of the file.
    pub(crate) fn lines(&self) -> Vec<(ManagementPort, Span)> {
        let mut lines: Vec<(ManagementPort, Span)> = self.ports.values().copied().collect();
        lines.sort_by_key(|(_, span)| span.start);
        lines
    }

    /// Returns the ports; `None` if the file cannot be used or a line is invalid.
    pub(crate) fn finish(&self) -> Option<ManagementList> {
        let ports = self.ports.iter().map(|(switch, (port, _))| (*switch, *port)).collect();
        (self.faults.is_empty() && self.unusable.is_none()).then_some(ports)
    }
}

/// Reads one line.
fn port(line: &str, shape: &Shape, naming: &Naming) -> Result<(Switch, ManagementPort), ManagementFault> {
    let [name, address, gateway] = list_files::cells(line).ok_or(ManagementFault::Form)?;
    let address = address.parse().map_err(|_| ManagementFault::Form)?;
    let gateway = gateway.parse().map_err(|_| ManagementFault::Form)?;
    let switch = find_switch(shape, naming, name).map_err(|fault| {
        ManagementFault::Name(list_files::explain_name_fault(name, (shape, naming), "a switch", fault))
    })?;
    Ok((switch, ManagementPort { address, gateway }))
}
