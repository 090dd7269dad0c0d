//! Finds NICs that a denial would leave without a path, even if no traffic goes there now.
//!
//! In: the table, the planes whose port is up, the denials in force, a new denial. Out: a destination that would lose
//! its last path. Invariants: one NIC represents all NICs to which the same denials apply, so the work grows with the
//! number of denials. Destinations that have no path before the denial are ignored.

use closc_paths::{Destination, Kind, Reason, Scope, Table, TableDenial};

/// A denial: a plane, or `None` for all planes, and a scope within it.
pub(super) type Denial = (Option<u8>, Scope);

/// A sender and the restrictions on its paths.
pub(super) struct Sender<'a> {
    /// Its table.
    pub(super) table: &'a Table<'a>,
    /// Its downlink.
    pub(super) downlink: u16,
    /// Bit mask of planes whose port is up.
    pub(super) ports: u32,
    /// Denials in force, in addition to those of the table.
    pub(super) denials: Vec<Denial>,
}

/// Returns whether a scope includes a group. A scope without a zone or group includes all of them.
fn is_of(scope: &Scope, zone: u16, group: u16) -> bool {
    scope.zone.is_none_or(|own| own == zone) && scope.group.is_none_or(|own| own == group)
}

impl Sender<'_> {
    /// Finds a NIC that the new denial would cut off.
    pub(super) fn cut_off(&self, more: Denial) -> Option<[u8; 16]> {
        let h = self.table.header();
        let of_table = self.table.denials().map(|denied| (Some(denied.plane), denied.scope));
        let mut all: Vec<Denial> = of_table.chain(self.denials.iter().copied()).collect();
        all.retain(|(_, scope)| scope.source.is_none_or(|source| source == self.downlink));
        let names_groups = |(_, scope): &&Denial| scope.zone.is_some() || scope.group.is_some();
        let naming: Vec<Scope> = all.iter().filter(names_groups).map(|(_, scope)| *scope).collect();
        let (mut clean, mut here): ([bool; 3], Vec<Denial>) = ([false; 3], Vec::new());
        for (zone, group) in (0..h.zones).flat_map(|zone| (0..h.groups).map(move |group| (zone, group))) {
            if !is_of(&more.1, zone, group) {
                continue;
            }
            // Of the groups that no denial names, check one for each distance: same group, same zone, other zone.
            if !naming.iter().any(|scope| is_of(scope, zone, group)) {
                let kind = usize::from(zone != h.zone) + usize::from((zone, group) != (h.zone, h.group));
                if std::mem::replace(&mut clean[kind], true) {
                    continue;
                }
            }
            here.clear();
            here.extend(all.iter().filter(|(_, scope)| is_of(scope, zone, group)));
            if let Some(cut) = self.cut_off_in((zone, group), &here, more) {
                return Some(cut);
            }
        }
        None
    }

    /// The same check for one group, given the denials that include it.
    fn cut_off_in(&self, (zone, group): (u16, u16), here: &[Denial], more: Denial) -> Option<[u8; 16]> {
        let h = self.table.header();
        let own = ((zone, group) == (h.zone, h.group)).then_some(self.downlink);
        let mut named: Vec<u16> = match more.1.downlink {
            Some(downlink) => vec![downlink],
            None => here.iter().filter_map(|(_, scope)| scope.downlink).collect(),
        };
        named.sort_unstable();
        named.dedup();
        // One NIC that no denial names represents all others.
        let other = (0..h.nics).find(|nic| named.binary_search(nic).is_err() && Some(*nic) != own);
        let other = other.filter(|_| more.1.downlink.is_none());
        named.into_iter().chain(other).filter(|nic| Some(*nic) != own).find_map(|nic| {
            let address = self.table.header().nic((zone, group), nic);
            let to = self.table.destination(address)?;
            let with: Vec<Denial> = here.iter().copied().chain([more]).collect();
            (!self.has_path(&to, &with) && self.has_path(&to, here)).then_some(address)
        })
    }

    fn has_path(&self, to: &Destination, denials: &[Denial]) -> bool {
        let place = (to.zone, to.group, to.downlink);
        let open = |entropy: u32| {
            let choice = self.table.choice(entropy);
            let covers = |(plane, scope): &Denial| {
                let plane = plane.unwrap_or(choice.plane);
                TableDenial { plane, reason: Reason::Drained, scope: *scope }.covers(
                    to.kind,
                    self.downlink,
                    place,
                    choice,
                )
            };
            self.table.in_range(choice) && !denials.iter().any(covers)
        };
        // Paths within a group use no uplinks, so one entropy value per plane is enough.
        let most = if to.kind == Kind::Local { 1 } else { usize::MAX };
        let planes = (0..self.table.header().planes).filter(|plane| self.ports >> plane & 1 == 1);
        planes.into_iter().any(|plane| self.table.entropy_values(plane, self.downlink).take(most).any(open))
    }
}
