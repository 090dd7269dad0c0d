//! Domains of a file: functions of position, and names resolved to coordinates.
//!
//! In: `domains`. Out: the kinds that can be resolved, and every fault. Invariants: a resolved kind with `by`
//! is defined by coordinates, directly or through other kinds.

use std::collections::{BTreeMap, BTreeSet};

use closc_diagnostics::Span;
use smol_str::SmolStr;

use super::exceptions::{Entry, Resolver};
use crate::coordinate::TierId;
use crate::document::{DomainDoc, FabricDoc};
use crate::domain::{Coordinate, DomainBy, DomainPosition, DomainRule, Domains};
use crate::naming::NAME_MAX;
use crate::suggest::shorten;

/// Maximum length of a chain of kinds, each defined by the next.
const CHAIN_MAX: usize = 16;

/// Maximum number of kinds that are defined by position: every switch is compared with each.
const POSITIONS_MAX: usize = 256;

/// Maximum number of kinds of domains, enough for one per rack of the largest fabric.
const KINDS_MAX: usize = 4_096;

/// The domains of a draft.
#[derive(Debug, Clone, Default)]
pub(crate) struct DraftDomains {
    domains: Domains,
    /// Every name in lists, with its meaning.
    pub(crate) members: Vec<Entry>,
    /// Where a kind cannot be resolved, and why.
    pub(crate) faults: Vec<(Span, String)>,
}

impl DraftDomains {
    /// Reads the domains of a file. If name patterns are broken, lists are skipped, because every name would be a
    /// fault.
    pub(super) fn new(doc: &FabricDoc, resolver: &mut Resolver<'_>) -> Self {
        let mut domains = DraftDomains::default();
        let listed = doc.domains.as_ref().map(|named| named.0.as_slice()).unwrap_or_default();
        let stated = DomainKinds::new(listed);
        for (name, domain) in listed {
            let fault = match (&domain.by, &domain.members) {
                (None, None) => Some("write `by` or `members`"),
                (Some(_), Some(_)) => Some("expected either `by` or `members`, not both"),
                (None, Some(_))
                    if domain.run.is_some() || domain.count.is_some() || domain.tiers.is_some() =>
                {
                    Some("`run`, `count` and `tiers` need `by`")
                }
                (None, Some(members)) if members.is_empty() => Some("`members` is empty"),
                (Some(_), None) if domain.tiers.as_ref().is_some_and(Vec::is_empty) => {
                    Some("`tiers` is empty")
                }
                (None, Some(_)) | (Some(_), None) => None,
            };
            let fault = fault.map(str::to_owned).or_else(|| stated.name_fault(&name.value));
            if let Some(why) = fault {
                domains.faults.push((name.span, why));
                continue;
            }
            if let Some(members) = &domain.members {
                let known = resolver.names.faults.is_empty();
                let found = if known { resolver.all(members) } else { Vec::new() };
                let targets = found.iter().filter_map(|entry| entry.subject.clone().ok()).collect();
                domains.members.extend(found);
                domains.domains.insert(name.value.clone(), DomainRule::Members(targets));
            }
            for number in [domain.run, domain.count].into_iter().flatten().filter(|number| number.value == 0)
            {
                domains.faults.push((number.span, "expected at least 1".to_owned()));
            }
            if let Some(by) =
                domain.by.as_ref().and_then(|by| domains.by(&stated, &name.value, name.span, by))
            {
                let tiers = domain.tiers.as_ref().map_or_else(
                    || TierId::ALL.into(),
                    |tiers| tiers.iter().map(|tier| tier.value).collect::<BTreeSet<_>>(),
                );
                let (run, count) =
                    (domain.run.map_or(1, |run| run.value), domain.count.map(|count| count.value));
                let position = DomainPosition { by, run, count, tiers };
                domains.domains.insert(name.value.clone(), DomainRule::Position(position));
            }
        }
        domains.limit(listed);
        domains
    }

    /// Adds a fault if a file has too many kinds to compare them with its switches in a short time.
    fn limit(&mut self, listed: &[(crate::read::Spanned<SmolStr>, DomainDoc)]) {
        let positions = listed.iter().filter(|(_, domain)| domain.by.is_some()).nth(POSITIONS_MAX);
        for (first, what, max) in [
            (positions, "kinds of domains with `by`", POSITIONS_MAX),
            (listed.get(KINDS_MAX), "kinds of domains", KINDS_MAX),
        ] {
            let fault = first.map(|(name, _)| (name.span, format!("a fabric has at most {max} {what}")));
            self.faults.extend(fault);
        }
    }

    fn by(
        &mut self,
        stated: &DomainKinds<'_>,
        name: &str,
        span: Span,
        by: &[crate::read::Spanned<SmolStr>],
    ) -> Option<DomainBy> {
        let coordinate = |word: &str| Coordinate::ALL.into_iter().find(|by| by.keyword() == word);
        if let [other] = by
            && coordinate(&other.value).is_none()
        {
            return match stated.circle(name, &other.value) {
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
                Some(_) => self.faults.push((word.span, "listed twice".to_owned())),
                None => self.faults.push((
                    word.span,
                    "expected `tier`, `plane`, `zone` or `index`, or a single other kind of domain"
                        .to_owned(),
                )),
            }
        }
        if by.is_empty() {
            self.faults.push((span, "`by` is empty".to_owned()));
        }
        (found.len() == by.len() && !found.is_empty()).then_some(DomainBy::Coordinates(found))
    }

    /// Returns the domains; `None` if one cannot be resolved.
    pub(crate) fn finish(&self) -> Option<Domains> {
        let whole = self.faults.is_empty() && self.members.iter().all(|entry| entry.subject.is_ok());
        whole.then(|| self.domains.clone())
    }
}

/// The kinds of a file, by name for fast lookup.
struct DomainKinds<'a>(BTreeMap<&'a str, &'a DomainDoc>);

impl<'a> DomainKinds<'a> {
    fn new(listed: &'a [(crate::read::Spanned<SmolStr>, DomainDoc)]) -> Self {
        DomainKinds(listed.iter().map(|(name, domain)| (name.value.as_str(), domain)).collect())
    }

    /// Returns why a kind cannot have this name: it is not a word, or a domain of another kind could have it.
    fn name_fault(&self, name: &str) -> Option<String> {
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        if name.is_empty() || name.len() > NAME_MAX || !name.chars().all(is_word) {
            return Some(format!("a name is at most {NAME_MAX} letters, digits, `-` and `_`"));
        }
        let mut starts = name.match_indices('-').map(|(at, _)| &name[..at]);
        let other = starts.find(|start| self.0.get(start).is_some_and(|domain| domain.by.is_some()))?;
        Some(format!("a domain of `{other}` could have this name"))
    }

    /// Returns why a kind cannot be defined by another: the other does not exist, is a list, is defined by the first,
    /// or never leads to a coordinate.
    fn circle(&self, name: &str, other: &str) -> Option<String> {
        let mut at = other;
        for _ in 0..CHAIN_MAX {
            if at == name {
                return Some(format!("`{name}` depends on `{other}`, which depends on `{name}`"));
            }
            let Some(domain) = self.0.get(at) else {
                let at = shorten(at);
                return Some(format!("`{at}` is neither a coordinate nor a kind of domain of this file"));
            };
            match domain.by.as_deref() {
                None => return Some(format!("`{at}` has `members`, and only kinds with `by` have numbers")),
                Some([next]) if Coordinate::ALL.iter().all(|by| by.keyword() != next.value) => {
                    at = &next.value;
                }
                Some(_) => return None,
            }
        }
        Some(format!("`{other}` depends on itself, or on a chain of more than {CHAIN_MAX} other kinds"))
    }
}
