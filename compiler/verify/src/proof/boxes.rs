//! Sets of paths, represented as boxes: each of six fields is fixed or free.
//!
//! In: the denials of a table in one plane. Out: whether a box of paths is completely denied. Invariants: a box counts
//! as denied only if every path in it is. Usually a single denial covers the box; it is found by one look-up per subset
//! of the fixed fields. Otherwise a free field is enumerated value by value.

use std::collections::HashSet;
use std::ops::Range;

use closc_paths::{Kind, TableDenial};

/// Fields of a path: sending NIC's downlink, T0 uplink, T1 uplink, zone, group, receiving NIC's downlink.
pub(crate) const FIELDS: usize = 6;
pub(crate) const SOURCE: usize = 0;
pub(crate) const UPLINK: usize = 1;
pub(crate) const T1_UPLINK: usize = 2;
pub(crate) const ZONE: usize = 3;
pub(crate) const GROUP: usize = 4;
pub(crate) const DOWNLINK: usize = 5;

/// A set of paths. Fixed fields have a value.
pub(crate) type Box6 = [Option<u16>; FIELDS];

/// The box of all paths.
pub(crate) const ALL: Box6 = [None; FIELDS];

/// Number of enumerated values after which a box counts as not denied. A box that one denial covers needs no
/// enumeration.
const BUDGET: u32 = 1 << 16;

/// The denials of a table in one plane.
#[derive(Debug, Clone, Default)]
pub(crate) struct Denials {
    boxes: HashSet<Box6>,
    /// For each field, whether any denial fixes it.
    fixes: [bool; FIELDS],
    /// Number of values of each field.
    domain: [u16; FIELDS],
}

impl Denials {
    /// Collects the denials of a plane.
    pub(crate) fn new<'a>(denied: impl Iterator<Item = &'a TableDenial>, domain: [u16; FIELDS]) -> Self {
        let mut this = Denials { domain, ..Denials::default() };
        for denied in denied {
            let s = denied.scope;
            let uplinks = this.values(s.uplinks, UPLINK);
            for uplink in uplinks {
                for t1_uplink in this.values(s.t1_uplinks, T1_UPLINK) {
                    this.add([s.source, uplink, t1_uplink, s.zone, s.group, s.downlink]);
                }
            }
        }
        this
    }

    /// Returns the values of a range, or the free value without a range.
    fn values(&self, range: Option<(u16, u16)>, field: usize) -> Vec<Option<u16>> {
        match range {
            None => vec![None],
            Some((first, last)) => {
                (first..=last.min(self.domain[field].saturating_sub(1))).map(Some).collect()
            }
        }
    }

    fn add(&mut self, fields: Box6) {
        for (fixes, field) in self.fixes.iter_mut().zip(&fields) {
            *fixes |= field.is_some();
        }
        self.boxes.insert(fields);
    }

    /// Returns whether one denial covers all paths of the plane.
    pub(crate) fn deny_all(&self) -> bool {
        self.boxes.contains(&ALL)
    }

    /// Returns whether every path of a box is denied. Denials of uplinks do not match paths without such uplinks. The
    /// paths of a box must therefore be of one kind, or the box must not fix an uplink that some of them lack.
    pub(crate) fn cover(&self, paths: Box6, kind: Kind) -> bool {
        let mut budget = BUDGET;
        !self.boxes.is_empty() && self.is_covered(paths, kind, &mut budget)
    }

    fn is_covered(&self, paths: Box6, kind: Kind, budget: &mut u32) -> bool {
        if self.one_covers(paths, kind) {
            return true;
        }
        let used = |field: usize| match field {
            UPLINK => kind != Kind::Local,
            T1_UPLINK => kind == Kind::Far,
            _ => true,
        };
        let Some(split) = (0..FIELDS).find(|at| paths[*at].is_none() && self.fixes[*at] && used(*at)) else {
            return false;
        };
        let values: Range<u16> = 0..self.domain[split];
        !values.is_empty()
            && values.into_iter().all(|value| {
                *budget = budget.saturating_sub(1);
                let mut part = paths;
                part[split] = Some(value);
                *budget > 0 && self.is_covered(part, kind, budget)
            })
    }

    /// Returns whether one denial covers a box: it fixes only fields that the box also fixes, to the same values.
    fn one_covers(&self, paths: Box6, kind: Kind) -> bool {
        let fixed: Vec<usize> = (0..FIELDS).filter(|at| paths[*at].is_some() && self.fixes[*at]).collect();
        (0u32..1 << fixed.len()).any(|keep| {
            let mut probe = ALL;
            for (bit, field) in fixed.iter().enumerate() {
                if keep >> bit & 1 == 1 {
                    probe[*field] = paths[*field];
                }
            }
            let applies = (probe[UPLINK].is_none() || kind != Kind::Local)
                && (probe[T1_UPLINK].is_none() || kind == Kind::Far);
            applies && self.boxes.contains(&probe)
        })
    }
}

#[cfg(test)]
mod tests {
    use closc_paths::{Reason, Scope};

    use super::*;

    const DOMAIN: [u16; FIELDS] = [2, 3, 2, 2, 2, 2];

    fn denials(scopes: &[Scope]) -> Denials {
        let all: Vec<TableDenial> = scopes
            .iter()
            .map(|scope| TableDenial { plane: 0, reason: Reason::Absent, scope: *scope })
            .collect();
        Denials::new(all.iter(), DOMAIN)
    }

    #[test]
    fn a_wider_denial_covers_a_narrower_box() {
        let uplinks = denials(&[Scope { uplinks: Some((1, 1)), ..Scope::default() }]);
        let mut paths = ALL;
        paths[UPLINK] = Some(1);
        paths[GROUP] = Some(0);
        assert!(uplinks.cover(paths, Kind::Zone));
        assert!(!uplinks.cover(paths, Kind::Local), "paths inside a group have no uplink");
        paths[UPLINK] = Some(2);
        assert!(!uplinks.cover(paths, Kind::Zone));
        assert!(!denials(&[]).cover(paths, Kind::Zone));
    }

    #[test]
    fn narrow_denials_cover_a_box_together() {
        let range = |first, last| Scope { uplinks: Some((first, last)), ..Scope::default() };
        assert!(denials(&[range(0, 1), range(2, 2)]).cover(ALL, Kind::Zone));
        assert!(!denials(&[range(0, 1)]).cover(ALL, Kind::Zone));
        assert!(!denials(&[range(0, 2)]).cover(ALL, Kind::Local));
    }
}
