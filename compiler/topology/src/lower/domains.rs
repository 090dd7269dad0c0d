//! Domains of a file: functions of position, and names resolved to coordinates.
//!
//! In: `domains`. Out: the kinds that can be told, and every fault. Always: a kind goes by coordinates, or by one other
//! kind that in the end does.

use std::collections::BTreeSet;

use closc_diagnostics::Span;
use smol_str::SmolStr;

use super::exceptions::{self, Entry};
use super::names::DraftNames;
use crate::coordinate::TierId;
use crate::document::{DomainDoc, FabricDoc};
use crate::domain::{Coordinate, DomainBy, DomainPosition, DomainRule, Domains};
use crate::shape::Shape;

/// The domains of a draft.
#[derive(Debug, Clone, Default)]
pub(crate) struct DraftDomains {
    known: Domains,
    /// Every name of a list with what it means.
    pub(crate) members: Vec<Entry>,
    /// Where a kind cannot be told, and why.
    pub(crate) faults: Vec<(Span, String)>,
}

impl DraftDomains {
    /// Reads the domains of a file. Broken name patterns leave lists out: every name would be a fault.
    pub(super) fn new(doc: &FabricDoc, shape: &Shape, names: &DraftNames) -> Self {
        let mut domains = DraftDomains::default();
        let stated = doc.domains.as_ref().map(|named| named.0.as_slice()).unwrap_or_default();
        for (name, domain) in stated {
            let fault = match (&domain.by, &domain.members) {
                (None, None) => Some("write `by` or `members`"),
                (Some(_), Some(_)) => Some("it is told by position or by a list, not by both"),
                (None, Some(_))
                    if domain.run.is_some() || domain.count.is_some() || domain.tiers.is_some() =>
                {
                    Some("`run`, `count` and `tiers` go with `by`")
                }
                (None, Some(_)) | (Some(_), None) => None,
            };
            let fault = fault.map(str::to_owned).or_else(|| name_fault(stated, &name.value));
            if let Some(why) = fault {
                domains.faults.push((name.span, why));
                continue;
            }
            if let Some(members) = &domain.members {
                let all = members.iter().filter(|_| names.faults.is_empty());
                let found: Vec<Entry> =
                    all.flat_map(|member| exceptions::resolve(member, shape, names)).collect();
                let targets = found.iter().filter_map(|entry| entry.target.clone().ok()).collect();
                domains.members.extend(found);
                domains.known.insert(name.value.clone(), DomainRule::Members(targets));
            }
            for number in [domain.run, domain.count].into_iter().flatten().filter(|number| number.value == 0)
            {
                domains.faults.push((number.span, "it is at least 1".to_owned()));
            }
            if let Some(by) = domain.by.as_ref().and_then(|by| domains.by(stated, &name.value, name.span, by))
            {
                let tiers = domain.tiers.as_ref().map_or_else(
                    || TierId::ALL.into(),
                    |tiers| tiers.iter().map(|tier| tier.value).collect::<BTreeSet<_>>(),
                );
                let (run, count) =
                    (domain.run.map_or(1, |run| run.value), domain.count.map(|count| count.value));
                let position = DomainPosition { by, run, count, tiers };
                domains.known.insert(name.value.clone(), DomainRule::Position(position));
            }
        }
        domains
    }

    fn by(
        &mut self,
        stated: &[(crate::read::Spanned<SmolStr>, DomainDoc)],
        name: &str,
        span: Span,
        by: &[crate::read::Spanned<SmolStr>],
    ) -> Option<DomainBy> {
        let coordinate = |word: &str| Coordinate::ALL.into_iter().find(|by| by.word() == word);
        if let [other] = by
            && coordinate(&other.value).is_none()
        {
            return match circle(stated, name, &other.value) {
                None => Some(DomainBy::Kind(other.value.clone())),
                Some(why) => {
                    self.faults.push((other.span, why));
                    None
                }
            };
        }
        let mut found = Vec::new();
        for word in by {
            match coordinate(&word.value) {
                Some(by) if !found.contains(&by) => found.push(by),
                Some(_) => self.faults.push((word.span, "it stands here twice".to_owned())),
                None => self.faults.push((
                    word.span,
                    "a coordinate is `tier`, `plane`, `zone` or `index`; another kind of domain stands alone"
                        .to_owned(),
                )),
            }
        }
        if by.is_empty() {
            self.faults.push((span, "`by` names no coordinate".to_owned()));
        }
        (found.len() == by.len() && !found.is_empty()).then_some(DomainBy::Coordinates(found))
    }

    /// Returns the domains; nothing if one cannot be told.
    pub(super) fn finish(&self) -> Option<Domains> {
        let whole = self.faults.is_empty() && self.members.iter().all(|entry| entry.target.is_ok());
        whole.then(|| self.known.clone())
    }
}

/// Says why a name of a kind is none: it is no word, or a domain of another kind could have it.
fn name_fault(stated: &[(crate::read::Spanned<SmolStr>, DomainDoc)], name: &str) -> Option<String> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if name.is_empty() || !name.chars().all(is_word) {
        return Some("a name is letters, digits, `-` and `_`".to_owned());
    }
    let (other, _) = stated.iter().find(|(other, domain)| {
        domain.by.is_some()
            && name.strip_prefix(other.value.as_str()).is_some_and(|rest| rest.starts_with('-'))
    })?;
    Some(format!("a domain of `{}` could have this name", other.value))
}

/// Says why a kind cannot go by another: it is not there, is a list, or goes by the first.
fn circle(
    stated: &[(crate::read::Spanned<SmolStr>, DomainDoc)],
    name: &str,
    other: &SmolStr,
) -> Option<String> {
    let mut at = other;
    for _ in 0..=stated.len() {
        if at == name {
            return Some(format!("`{name}` goes by `{other}`, and that by `{name}`"));
        }
        let Some((_, domain)) = stated.iter().find(|(kind, _)| kind.value == *at) else {
            return Some(format!("`{at}` is neither a coordinate nor a kind of domain of this file"));
        };
        match domain.by.as_deref() {
            None => return Some(format!("`{at}` is a list and has no numbers")),
            Some([next]) if Coordinate::ALL.iter().all(|by| by.word() != next.value) => at = &next.value,
            Some(_) => return None,
        }
    }
    Some(format!("`{other}` goes in a circle"))
}
