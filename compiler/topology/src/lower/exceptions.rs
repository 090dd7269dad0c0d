//! Names in exceptions, resolved to coordinates.
//!
//! In: lists of names, some with ranges in brackets. Out: one entry a name with what it means, or why it means
//! nothing. Always: the work is proportional to what is named, and a range of a few characters cannot name more
//! than [`EXPANDED_MAX`] things.

use closc_diagnostics::Span;
use smol_str::SmolStr;

use super::names::{DraftNames, NameFault, find_link, find_nic, find_node, find_switch};
use crate::coordinate::{Link, Nic, Node, PlaneId, Switch};
use crate::document::{CableDoc, ExceptionsDoc, HardwareDoc};
use crate::naming::{LINK_SEPARATOR, Naming};
use crate::read::Spanned;
use crate::shape::Shape;

/// The most names that one range stands for.
pub(crate) const EXPANDED_MAX: usize = 100_000;

/// What a name means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Target {
    /// `plane 3`.
    Plane(PlaneId),
    /// A switch.
    Switch(Switch),
    /// A node.
    Node(Node),
    /// A NIC.
    Nic(Nic),
    /// A cable, also by its NIC port.
    Link(Link),
}

/// The lists of exceptions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Listed {
    Absent,
    Drained,
    Cables,
    Devices,
}

impl Listed {
    /// Returns the key in the file.
    pub(crate) fn key(self) -> &'static str {
        match self {
            Listed::Absent => "absent",
            Listed::Drained => "drained",
            Listed::Cables => "cables",
            Listed::Devices => "devices",
        }
    }
}

/// A name and what it means.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub(crate) name: SmolStr,
    pub(crate) span: Span,
    pub(crate) target: Result<Target, NameFault>,
}

/// The exceptions of a draft.
#[derive(Debug, Clone, Default)]
pub(crate) struct DraftExceptions {
    pub(crate) absent: Vec<Entry>,
    pub(crate) drained: Vec<Entry>,
    pub(crate) cables: Vec<(Entry, CableDoc)>,
    pub(crate) devices: Vec<(Entry, HardwareDoc)>,
}

impl DraftExceptions {
    /// Resolves the exceptions of a file. Broken name patterns leave them out: every name would be a fault.
    pub(super) fn new(doc: Option<&ExceptionsDoc>, shape: &Shape, names: &DraftNames) -> Self {
        let Some(doc) = doc.filter(|_| names.faults.is_empty()) else {
            return DraftExceptions::default();
        };
        let list = |stated: &Option<Vec<Spanned<SmolStr>>>| {
            let stated = stated.as_deref().unwrap_or_default();
            stated.iter().flat_map(|name| resolve(name, shape, names)).collect()
        };
        let cables = doc.cables.as_ref().map(|named| named.0.as_slice()).unwrap_or_default();
        let devices = doc.devices.as_ref().map(|named| named.0.as_slice()).unwrap_or_default();
        let pairs = |name, value: &HardwareDoc| -> Vec<_> {
            resolve(name, shape, names).into_iter().map(|entry| (entry, value.clone())).collect()
        };
        DraftExceptions {
            absent: list(&doc.absent),
            drained: list(&doc.drained),
            cables: cables
                .iter()
                .flat_map(|(name, cable)| {
                    resolve(name, shape, names).into_iter().map(|entry| (entry, cable.clone()))
                })
                .collect(),
            devices: devices.iter().flat_map(|(name, device)| pairs(name, device)).collect(),
        }
    }

    /// Returns every entry with its list.
    pub(crate) fn all(&self) -> impl Iterator<Item = (Listed, &Entry)> {
        let absent = self.absent.iter().map(|entry| (Listed::Absent, entry));
        let drained = self.drained.iter().map(|entry| (Listed::Drained, entry));
        let cables = self.cables.iter().map(|(entry, _)| (Listed::Cables, entry));
        let devices = self.devices.iter().map(|(entry, _)| (Listed::Devices, entry));
        absent.chain(drained).chain(cables).chain(devices)
    }
}

/// Resolves a name, which may stand for many.
pub(super) fn resolve(name: &Spanned<SmolStr>, shape: &Shape, names: &DraftNames) -> Vec<Entry> {
    let entry = |name: SmolStr, target, span| Entry { name, span, target };
    match expand(&name.value) {
        Ok(all) => all
            .into_iter()
            .map(|one| entry(one.clone(), target(&one, shape, &names.naming), name.span))
            .collect(),
        Err(why) => vec![entry(name.value.clone(), Err(NameFault::Range { why }), name.span)],
    }
}

/// Finds what one name means.
fn target(name: &str, shape: &Shape, naming: &Naming) -> Result<Target, NameFault> {
    if let Some(plane) = name.strip_prefix("plane ") {
        let plane: u16 = plane.trim().parse().map_err(|_| NameFault::Unreadable)?;
        return match u8::try_from(plane) {
            Ok(id) if plane < shape.planes => Ok(Target::Plane(PlaneId(id))),
            _ => Err(NameFault::Beyond {
                last: format!("the last plane is {}", shape.planes.saturating_sub(1)),
            }),
        };
    }
    if name.contains(LINK_SEPARATOR) || naming.parse_nic_port(name).is_some() {
        return find_link(shape, naming, name).map(Target::Link);
    }
    if let Some((node, number)) = naming.parse_nic(name) {
        return find_nic(shape, naming, node, number).map(Target::Nic);
    }
    if let Some(node) = naming.parse_node(name) {
        return find_node(shape, naming, node).map(|()| Target::Node(node));
    }
    find_switch(shape, naming, name).map(Target::Switch)
}

/// Resolves a name as exceptions write it, which may stand for many; or says why it means nothing.
pub(crate) fn named(name: &str, shape: &Shape, naming: &Naming) -> Result<Vec<(SmolStr, Target)>, String> {
    let one = |name: SmolStr| match target(&name, shape, naming) {
        Ok(target) => Ok((name, target)),
        Err(NameFault::Unreadable) => Err(match naming.nearest(&name) {
            Some(near) => format!("`{name}` names nothing of this fabric; did you mean `{near}`?"),
            None => format!("`{name}` names nothing of this fabric"),
        }),
        Err(NameFault::Beyond { last }) => Err(format!("`{name}` is not there: {last}")),
        Err(NameFault::NoCable { why }) => Err(format!("`{name}` is no cable: {why}")),
        Err(NameFault::Range { why }) => Err(format!("`{name}`: {why}")),
    };
    expand(name)?.into_iter().map(one).collect()
}

/// Writes out the ranges of a name: `p[0-1]-t0-[017-018]` is four names. Bounds of equal width keep their zeros.
fn expand(name: &str) -> Result<Vec<SmolStr>, String> {
    let mut whole = vec![String::new()];
    let mut rest = name;
    while let Some(open) = rest.find('[') {
        let close = rest[open..].find(']').ok_or("`[` has no `]`")? + open;
        let numbers = range(&rest[open + 1..close])?;
        if whole.len().saturating_mul(numbers.len()) > EXPANDED_MAX {
            return Err(format!("it stands for more than {EXPANDED_MAX} names"));
        }
        let before = &rest[..open];
        whole = whole
            .iter()
            .flat_map(|start| numbers.iter().map(move |number| format!("{start}{before}{number}")))
            .collect();
        rest = &rest[close + 1..];
    }
    Ok(whole.into_iter().map(|start| SmolStr::from(start + rest)).collect())
}

/// Reads `017-024`, `1,3` or `1-4,7`.
fn range(text: &str) -> Result<Vec<String>, String> {
    let mut numbers = Vec::new();
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let digits =
            |text: &str| !text.is_empty() && text.len() <= 9 && text.bytes().all(|b| b.is_ascii_digit());
        if !digits(first) || !digits(last) {
            return Err(format!("`[{text}]` is no range: write `[017-024]` or `[1,3,5]`"));
        }
        let width = first.len();
        let (first, last) = (parse(first), parse(last));
        if first > last {
            return Err(format!("`[{text}]` runs backwards"));
        }
        if last - first >= EXPANDED_MAX {
            return Err(format!("it stands for more than {EXPANDED_MAX} names"));
        }
        numbers.extend((first..=last).map(|number| format!("{number:0width$}")));
    }
    Ok(numbers)
}

fn parse(digits: &str) -> usize {
    digits.parse().expect("nine digits fit a word")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_written_out() {
        assert_eq!(expand("p3-t0-017").unwrap(), ["p3-t0-017"]);
        assert_eq!(
            expand("p[0-1]-t0-[009-010]").unwrap(),
            ["p0-t0-009", "p0-t0-010", "p1-t0-009", "p1-t0-010"]
        );
        assert_eq!(expand("x[1,3-4]y").unwrap(), ["x1y", "x3y", "x4y"]);
        for name in
            ["p[", "p[]", "p[1-]", "p[b]", "p[4-3]", "p[0-999999]", "p[1-999][1-999]", "p[99999999999]"]
        {
            assert!(expand(name).is_err(), "{name}");
        }
    }
}
