//! Names in exceptions, resolved to coordinates.
//!
//! In: lists of names, some with ranges in brackets. Out: one entry per name with its element, or the reason why
//! there is none. Invariants: all names of a file stand for at most [`NAMES_MAX`] elements. A range ends at the first
//! name without an element, so that one wrong bound is one fault.

use closc_diagnostics::{Span, figures};
use smol_str::SmolStr;

use super::names::DraftNames;
use crate::coordinate::Subject;
use crate::document::{CableDoc, ExceptionsDoc, HardwareDoc};
use crate::field;
use crate::field::Field;
use crate::names::{NAMES_MAX, NameFault, NameRange, correct_name, find};
use crate::read::Spanned;
use crate::shape::Shape;

/// The lists of exceptions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ExceptionList {
    Absent,
    Drained,
    Isolated,
    Cables,
    Devices,
}

impl ExceptionList {
    /// Returns the field of the list.
    pub(crate) fn field(self) -> Field {
        match self {
            ExceptionList::Absent => field!("exceptions.absent"),
            ExceptionList::Drained => field!("exceptions.drained"),
            ExceptionList::Isolated => field!("exceptions.isolated"),
            ExceptionList::Cables => field!("exceptions.cables"),
            ExceptionList::Devices => field!("exceptions.devices"),
        }
    }
}

/// A name and its meaning.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub(crate) name: SmolStr,
    /// The name in the file, which may stand for many.
    pub(crate) source_name: SmolStr,
    pub(crate) span: Span,
    pub(crate) subject: Result<Subject, NameFault>,
}

impl Entry {
    /// Returns whether the name in the file also stands for other elements.
    pub(crate) fn is_one_of_many(&self) -> bool {
        self.name != self.source_name
    }
}

/// The exceptions of a draft.
#[derive(Debug, Clone, Default)]
pub(crate) struct DraftExceptions {
    pub(crate) absent: Vec<Entry>,
    pub(crate) drained: Vec<Entry>,
    pub(crate) isolated: Vec<Entry>,
    /// For each key, the cables that it names and their override.
    cables: Vec<(Vec<Entry>, CableDoc)>,
    /// For each key, the switches that it names and their override.
    pub(crate) devices: Vec<(Vec<Entry>, HardwareDoc)>,
}

impl DraftExceptions {
    /// Resolves the exceptions of a file. If name patterns are broken, the exceptions are skipped, because
    /// every name would be a fault.
    pub(super) fn new(doc: Option<&ExceptionsDoc>, resolver: &mut Resolver<'_>) -> Self {
        let Some(doc) = doc.filter(|_| resolver.names.faults.is_empty()) else {
            return DraftExceptions::default();
        };
        let cables = doc.cables.as_ref().map(|named| named.0.as_slice()).unwrap_or_default();
        let devices = doc.devices.as_ref().map(|named| named.0.as_slice()).unwrap_or_default();
        DraftExceptions {
            absent: resolver.all(doc.absent.as_deref().unwrap_or_default()),
            drained: resolver.all(doc.drained.as_deref().unwrap_or_default()),
            isolated: resolver.all(doc.isolated.as_deref().unwrap_or_default()),
            cables: cables.iter().map(|(name, doc)| (resolver.resolve(name), doc.clone())).collect(),
            devices: devices.iter().map(|(name, doc)| (resolver.resolve(name), doc.clone())).collect(),
        }
    }

    /// Returns every cable with an override.
    pub(crate) fn cables(&self) -> impl Iterator<Item = (&Entry, &CableDoc)> {
        self.cables.iter().flat_map(|(entries, doc)| entries.iter().map(move |entry| (entry, doc)))
    }

    /// Returns every device with an override.
    pub(crate) fn devices(&self) -> impl Iterator<Item = (&Entry, &HardwareDoc)> {
        self.devices.iter().flat_map(|(entries, doc)| entries.iter().map(move |entry| (entry, doc)))
    }

    /// Returns every entry with its list.
    pub(crate) fn all(&self) -> impl Iterator<Item = (ExceptionList, &Entry)> {
        let absent = self.absent.iter().map(|entry| (ExceptionList::Absent, entry));
        let drained = self.drained.iter().map(|entry| (ExceptionList::Drained, entry));
        let isolated = self.isolated.iter().map(|entry| (ExceptionList::Isolated, entry));
        let cables = self.cables().map(|(entry, _)| (ExceptionList::Cables, entry));
        let devices = self.devices().map(|(entry, _)| (ExceptionList::Devices, entry));
        absent.chain(drained).chain(isolated).chain(cables).chain(devices)
    }
}

/// Resolves the names of a file, and counts them.
pub(super) struct Resolver<'a> {
    shape: &'a Shape,
    pub(super) names: &'a DraftNames,
    /// Number of names that may still be resolved.
    remaining: u64,
}

impl<'a> Resolver<'a> {
    pub(super) fn new(shape: &'a Shape, names: &'a DraftNames) -> Self {
        Resolver { shape, names, remaining: NAMES_MAX }
    }

    /// Resolves a list of names.
    pub(super) fn all(&mut self, names: &[Spanned<SmolStr>]) -> Vec<Entry> {
        names.iter().flat_map(|name| self.resolve(name)).collect()
    }

    /// Finds the element of one name. For a misspelt name whose correct spelling does not exist either, the fault is
    /// that the element does not exist.
    fn find(&self, name: &str) -> Result<Subject, NameFault> {
        let naming = &self.names.naming;
        find(name, self.shape, naming).map_err(|fault| match fault {
            NameFault::Unreadable => correct_name(name, self.shape, naming).err().unwrap_or(fault),
            _ => fault,
        })
    }

    /// Resolves a name, which may stand for many.
    fn resolve(&mut self, name: &Spanned<SmolStr>) -> Vec<Entry> {
        let span = name.span;
        let entry = |one, subject| Entry { name: one, source_name: name.value.clone(), span, subject };
        let range = match NameRange::parse(&name.value) {
            Ok(range) => range,
            Err(fault) => return vec![entry(name.value.clone(), Err(fault))],
        };
        if range.count() > self.remaining {
            // Reported once; nothing is resolved after the limit.
            let first = std::mem::take(&mut self.remaining) > 0;
            let why = format!(
                "together with the names before it, this exceeds {} names in one file",
                figures::number(NAMES_MAX)
            );
            return first
                .then(|| entry(name.value.clone(), Err(NameFault::TooMany { reason: why })))
                .into_iter()
                .collect();
        }
        self.remaining -= range.count();
        let mut found = Vec::new();
        for one in range.names() {
            let subject = self.find(&one);
            let ends = subject.is_err();
            found.push(entry(one, subject));
            if ends {
                break;
            }
        }
        found
    }
}
