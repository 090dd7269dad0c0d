//! Rows of T2s above zones: the T1s of a zone, their uplinks, and parallel cables.
//!
//! In: the minimum numbers of T1s in a zone and of uplinks of a T1. Out: [`T2Rows`]. Invariants: all rows
//! have the same number of T1s of a zone, and each T1 reaches at least two T2s. No result dominates another.

/// Minimum number of T2s that a T1 reaches. With a single T2, its failure would cut off the T1.
pub(crate) const T2S_MIN: u32 = 2;

/// T2s of a plane, and the T1s below them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct T2Rows {
    /// Number of rows. With N rows, a T2 reaches every Nth T1 of each zone.
    pub(crate) rows: u32,
    /// T1s of a zone.
    pub(crate) t1s: u32,
    /// Uplinks of a T1.
    pub(crate) up: u32,
    /// Cables from a T1 to each of its T2s.
    pub(crate) parallel: u32,
}

/// Whether a T2 supports a number of links.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum LinkSupport {
    /// Within published limits.
    Firm,
    /// Within assumed limits only.
    Assumed,
    /// Not supported.
    None,
}

/// Counts of a zone, and functions that return the limits of switches.
pub(crate) struct ZoneCounts<T, U, L> {
    /// Zones.
    pub(crate) zones: u32,
    /// Zones after growth.
    pub(crate) later: u32,
    /// Ports of a T2.
    pub(crate) ports: u32,
    /// Ports per cage of a T2.
    pub(crate) per_cage: u32,
    /// Maximum number of cables from a T1 to a T2.
    pub(crate) parallel_max: u32,
    /// Minimum number of T1s in a zone.
    pub(crate) t1s: u32,
    /// Minimum number of uplinks of a T1.
    pub(crate) up: u32,
    /// Returns the minimum number of T1s that fill this many rows.
    pub(crate) t1s_of_rows: T,
    /// Returns the minimum number of uplinks that can be spread equally over this many T2s.
    pub(crate) up_to: U,
    /// Returns whether a T2 supports this many links to a zone, above T1s with this many uplinks.
    pub(crate) links: L,
}

impl T2Rows {
    /// Returns the T2s of a plane.
    pub(crate) fn t2s(self) -> u32 {
        self.rows * (self.up / self.parallel)
    }

    /// Returns the number of ports that a T2 has for each zone.
    pub(crate) fn ports_per_zone(self) -> u32 {
        self.t1s / self.rows * self.parallel
    }
}

/// Rows with the values by which they are compared.
struct RatedRows {
    rows: T2Rows,
    /// Number of cages of all T2s in a plane.
    cages: u32,
    links: LinkSupport,
    /// Whether T1s have the minimum number of uplinks, all used cages are full, and no limit is assumed.
    is_tight: bool,
}

impl RatedRows {
    /// Returns whether no count exceeds that of `other`. Parallel cables are compared too, because they can
    /// require a later release or more ECMP groups.
    fn is_within(&self, other: &RatedRows) -> bool {
        let (own, rows) = (self.rows, other.rows);
        self.is_below((rows.t1s, rows.t2s()), rows.parallel > 1)
            && own.up <= rows.up
            && self.cages <= other.cages
            && self.links <= other.links
    }

    /// Returns whether rows with the given counts have at least as many T1s and T2s as these. If these rows
    /// have parallel cables, the others must have them too.
    fn is_below(&self, (t1s, t2s): (u32, u32), has_parallel: bool) -> bool {
        self.rows.t1s <= t1s && self.rows.t2s() <= t2s && (self.rows.parallel == 1 || has_parallel)
    }
}

impl<T, U, L> ZoneCounts<T, U, L>
where
    T: Fn(u32) -> Option<u32>,
    U: Fn(u32) -> Option<u32>,
    L: Fn(u32, u32) -> LinkSupport,
{
    /// Returns all rows that are not dominated by other rows.
    pub(crate) fn rows(&self) -> impl Iterator<Item = T2Rows> + use<T, U, L> {
        let mut found: Vec<RatedRows> = Vec::new();
        for rows in 1..=self.t1s {
            let t1s = self.t1s.next_multiple_of(rows);
            let reached = self.reached(rows, t1s).unwrap_or(self.up);
            let is_needless = has_tighter(&found, (t1s, rows * self.up), false)
                && (reached >= self.up || has_tighter(&found, (t1s, rows * reached), true));
            if let Some(t1s) = if is_needless { None } else { (self.t1s_of_rows)(rows) } {
                self.add(&mut found, (rows, t1s));
            }
        }
        found.into_iter().map(|rated| rated.rows)
    }

    /// Adds the results with this many rows, starting with the fewest T2s.
    fn add(&self, found: &mut Vec<RatedRows>, (rows, t1s): (u32, u32)) {
        let most = self.parallel(rows, t1s);
        let Some(mut reached) = self.reached(rows, t1s) else { return };
        while reached <= self.up {
            if has_tighter(found, (t1s, rows * reached), reached < self.up) {
                // More T2s in a row are an advantage only without parallel cables.
                reached = if reached < self.up { self.up } else { self.up + 1 };
                continue;
            }
            if let Some(up) = (self.up_to)(reached).filter(|up| up / reached <= most) {
                let rated = self.rate(T2Rows { rows, t1s, up, parallel: up / reached });
                if rated.links != LinkSupport::None && !found.iter().any(|other| other.is_within(&rated)) {
                    found.retain(|other| !rated.is_within(other));
                    found.push(rated);
                }
            }
            reached += 1;
        }
    }

    /// Returns the maximum number of cables from a T1 to a T2, given the ports of a T2.
    fn parallel(&self, rows: u32, t1s: u32) -> u32 {
        (self.ports / (self.later * (t1s / rows)).max(1)).min(self.parallel_max)
    }

    /// Returns the minimum number of T2s in a row that a T1 can reach. Returns `None` if T2s have too few
    /// ports.
    fn reached(&self, rows: u32, t1s: u32) -> Option<u32> {
        Some(self.up.div_ceil(Some(self.parallel(rows, t1s)).filter(|most| *most > 0)?).max(T2S_MIN))
    }

    fn rate(&self, rows: T2Rows) -> RatedRows {
        let links = (self.links)(rows.ports_per_zone(), rows.up);
        let ports = self.zones * rows.ports_per_zone();
        let is_full = ports.is_multiple_of(self.per_cage);
        let is_tight = rows.up == self.up && is_full && links == LinkSupport::Firm;
        RatedRows { rows, cages: rows.t2s() * ports.div_ceil(self.per_cage), links, is_tight }
    }
}

/// Returns whether one of the `found` rows dominates all rows with at least these numbers of T1s and T2s.
fn has_tighter(found: &[RatedRows], counts: (u32, u32), has_parallel: bool) -> bool {
    found.iter().any(|rated| rated.is_tight && rated.is_below(counts, has_parallel))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns every choice of rows, T1s, uplinks and cables for a small zone.
    fn all(zones: u32, ports: u32, per_cage: u32, [t1s, up]: [u32; 2]) -> Vec<(T2Rows, u32)> {
        let mut found = Vec::new();
        for (t1s, up) in (t1s..=2 * t1s).flat_map(|t1s| (up..=2 * up).map(move |up| (t1s, up))) {
            for (rows, parallel) in (1..=t1s).flat_map(|rows| (1..=up).map(move |cables| (rows, cables))) {
                let is_even = t1s.is_multiple_of(rows) && up.is_multiple_of(parallel);
                if is_even && up / parallel >= 2 && zones * t1s / rows * parallel <= ports {
                    let rows = T2Rows { rows, t1s, up, parallel };
                    let cages = rows.t2s() * (zones * t1s / rows.rows * parallel).div_ceil(per_cage);
                    found.push((rows, cages));
                }
            }
        }
        found
    }

    #[test]
    fn nothing_has_less_of_everything() {
        let values = |(rows, cages): (T2Rows, u32)| [rows.t1s, rows.up, rows.t2s(), cages];
        let holds = |less: [u32; 4], more: [u32; 4]| less.iter().zip(more).all(|(less, more)| *less <= more);
        let (mut several, mut parallel) = (0, 0);
        for zones in [2, 3, 5] {
            for (t1s, up) in (2..=8).flat_map(|t1s| (2..=8).map(move |up| (t1s, up))) {
                for (ports, per_cage) in [(16, 1), (24, 2), (64, 4)] {
                    let counts = ZoneCounts {
                        zones,
                        later: zones,
                        ports,
                        per_cage,
                        parallel_max: u32::MAX,
                        t1s,
                        up,
                        t1s_of_rows: |rows| Some(t1s.next_multiple_of(rows)),
                        up_to: |t2s| Some(up.next_multiple_of(t2s)),
                        links: |_, _| LinkSupport::Firm,
                    };
                    let cages = |rows: T2Rows| {
                        rows.t2s() * (zones * rows.t1s / rows.rows * rows.parallel).div_ceil(per_cage)
                    };
                    let found: Vec<[u32; 4]> =
                        counts.rows().map(|rows| values((rows, cages(rows)))).collect();
                    let every = all(zones, ports, per_cage, [t1s, up]);
                    for plain in &every {
                        let is_held = found.iter().any(|found| holds(*found, values(*plain)));
                        assert!(is_held, "{zones} zones, {t1s} T1s, {up} up, {ports} ports: {plain:?}");
                    }
                    several += usize::from(found.len() > 1);
                    parallel += usize::from(counts.rows().any(|rows| rows.parallel > 1));
                    let is_real = |found: &[u32; 4]| every.iter().any(|plain| values(*plain) == *found);
                    assert!(found.iter().all(is_real), "{found:?}");
                }
            }
        }
        assert!(several > 0 && parallel > 0, "{several} {parallel}");
    }
}
