//! The entries of a P4 switch that determine expected results: `switches/<name>/entries.txtpb` or `pins.txtpb`.
//!
//! In: the file and the P4Info next to it. Out: the same [`Batch`] as of other switches, and the numbers of its
//! ports. Invariants: the name of the file determines its pipeline. This module only reads the entries; a push sends
//! them to the switch.

mod fabric;
mod sai;

use std::collections::BTreeMap;

use camino::Utf8Path;
use closc_artefacts::paths;
use closc_artefacts::{Address, Prefix};
use closc_runtime::info::LookupError;
use closc_runtime::proto::v1;
use closc_runtime::{Info, text};
use v1::entity::Entity;
use v1::field_match::FieldMatchType;
use v1::table_action;

use super::batch::Batch;
use super::contents::Contents;
use crate::error::{LabError, TreeFault};

/// The program of a P4 switch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Program {
    /// The pipeline `fabric`, with segments, or routes and groups. Ports are numbers.
    Fabric,
    /// The pipeline `sai` of SONiC hardware with P4Runtime, with routes and groups. Ports and ids are text.
    Sai,
}

impl Program {
    /// All programs.
    pub(crate) const ALL: [Program; 2] = [Program::Fabric, Program::Sai];

    /// Returns the name of its pipeline.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Program::Fabric => "fabric",
            Program::Sai => "sai",
        }
    }

    /// Returns the name of the file with entries for the program.
    pub(crate) fn file(self) -> &'static str {
        let found = paths::ENTRIES_OF.iter().find(|(_, pipeline)| *pipeline == self.name());
        found.map_or(paths::ENTRIES, |(file, _)| file)
    }
}

/// Contents of a switch's entries.
type SwitchEntries = (Batch, BTreeMap<String, u16>);

/// Readers of entries, by the pipelines of a tree.
pub(super) struct Readers {
    fabric: Option<fabric::Reader>,
    sai: Option<sai::Reader>,
}

impl Readers {
    /// Reads the P4Infos of a tree.
    pub(super) fn open(contents: &Contents) -> Result<Readers, LabError> {
        Ok(Readers {
            fabric: open_reader(contents, Program::Fabric, fabric::Reader::new)?,
            sai: open_reader(contents, Program::Sai, sai::Reader::new)?,
        })
    }

    /// Returns the programs whose entries can be read.
    pub(super) fn programs(&self) -> impl Iterator<Item = Program> + use<> {
        let has = [self.fabric.is_some(), self.sai.is_some()];
        Program::ALL.into_iter().zip(has).filter_map(|(program, has)| has.then_some(program))
    }

    /// Reads the entries of a switch with these ports.
    pub(super) fn read(
        &self,
        program: Program,
        contents: &Contents,
        path: &Utf8Path,
        ports: &[&str],
    ) -> Result<SwitchEntries, LabError> {
        let text = contents.text(path)?;
        let path = contents.folder().join(path);
        let updates = text::read_entries(&text)
            .map_err(|error| LabError::tree(&path)(TreeFault::P4(error.to_string())))?;
        let entries: Vec<v1::TableEntry> = updates.into_iter().filter_map(table_entry).collect();
        let found = match program {
            Program::Fabric => self.fabric.as_ref().map(|reader| reader.read(&entries, ports)),
            Program::Sai => self.sai.as_ref().map(|reader| reader.read(&entries, ports)),
        };
        found.unwrap_or(Err(TreeFault::Unlisted)).map_err(LabError::tree(&path))
    }
}

/// Creates the reader of a program; `None` if the switches of the tree do not run it.
fn open_reader<R>(
    contents: &Contents,
    program: Program,
    make: impl FnOnce(&Info) -> Result<R, LookupError>,
) -> Result<Option<R>, LabError> {
    if !contents.has(paths::p4info(program.name())) {
        return Ok(None);
    }
    let path = contents.folder().join(paths::p4info(program.name()));
    let reader = make(&p4info(contents, program)?);
    reader.map(Some).map_err(|error| LabError::tree(path)(TreeFault::P4(error.to_string())))
}

/// Reads a P4Info of a tree.
pub(crate) fn p4info(contents: &Contents, program: Program) -> Result<Info, LabError> {
    let path = paths::p4info(program.name());
    let text = contents.text(&path)?;
    let fault = |what: String| LabError::tree(contents.folder().join(&path))(TreeFault::P4(what));
    let message = text::read_p4info(&text).map_err(|error| fault(error.to_string()))?;
    Info::new(message).map_err(|error| fault(error.to_string()))
}

/// Returns the number of bits of a port number in a program of a tree: the width of `egress_spec` in its BMv2 JSON.
pub(crate) fn port_bits(contents: &Contents, program: Program) -> Result<u32, LabError> {
    let path = paths::bmv2(program.name());
    let json = contents.read(&path)?;
    let fault = |what: String| LabError::tree(contents.folder().join(&path))(TreeFault::P4(what));
    let json: serde_json::Value = serde_json::from_slice(&json).map_err(|error| fault(error.to_string()))?;
    let headers = json["header_types"].as_array().into_iter().flatten();
    let fields = headers.filter_map(|header| header["fields"].as_array()).flatten();
    let width = fields.filter(|field| field[0] == "egress_spec").find_map(|field| field[1].as_u64());
    let width = width.and_then(|width| u32::try_from(width).ok());
    width.ok_or_else(|| fault("no header of it has the field `egress_spec`".to_owned()))
}

/// Returns the first key of an entry as a number, if it is an exact match.
pub(crate) fn exact(entry: &v1::TableEntry) -> Option<u128> {
    entry.r#match.first().and_then(exact_bytes).and_then(number_of)
}

/// Returns the bytes of an exact key.
pub(crate) fn exact_bytes(field: &v1::FieldMatch) -> Option<&[u8]> {
    match &field.field_match_type {
        Some(FieldMatchType::Exact(exact)) => Some(&exact.value),
        _ => None,
    }
}

/// Returns the prefix of an entry whose key is an IPv6 prefix.
pub(crate) fn lpm(entry: &v1::TableEntry) -> Option<Prefix> {
    let lpm = entry.r#match.iter().find_map(|field| match &field.field_match_type {
        Some(FieldMatchType::Lpm(lpm)) => Some(lpm),
        _ => None,
    })?;
    prefix(number_of(&lpm.value)?, u8::try_from(lpm.prefix_len).ok()?)
}

/// Returns the action that an entry calls directly.
pub(crate) fn call(entry: &v1::TableEntry) -> Option<&v1::Action> {
    match &entry.action.as_ref()?.r#type {
        Some(table_action::Type::Action(action)) => Some(action),
        _ => None,
    }
}

/// Returns a parameter of a call.
pub(crate) fn param(call: &v1::Action, id: u32) -> Option<&[u8]> {
    call.params.iter().find(|param| param.param_id == id).map(|param| param.value.as_ref())
}

/// Returns the number in a byte string of P4Runtime.
pub(crate) fn number_of(bytes: &[u8]) -> Option<u128> {
    (bytes.len() <= 16).then(|| bytes.iter().fold(0, |number, byte| number << 8 | u128::from(*byte)))
}

fn table_entry(update: v1::Update) -> Option<v1::TableEntry> {
    match update.entity?.entity? {
        Entity::TableEntry(entry) if !entry.is_default_action => Some(entry),
        _ => None,
    }
}

fn prefix(bits: u128, length: u8) -> Option<Prefix> {
    Prefix::new(Address::from(bits), length).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn byte_strings_are_numbers() {
        assert_eq!(number_of(&[0xfc, 0xbb]), Some(0xfcbb));
        assert_eq!((number_of(&[]), number_of(&[1; 17])), (Some(0), None));
    }

    #[test]
    fn every_program_has_a_file_of_its_own() {
        let files = Program::ALL.map(Program::file);
        assert_eq!(files, [paths::ENTRIES, paths::PINS_ENTRIES]);
    }
}
