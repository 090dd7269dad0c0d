//! Classes of destinations, and how each switch treats each class, in fabrics whose switches choose the path.
//!
//! In: addresses of NICs, and the routes of all switches, configured or received by BGP. Out: [`Classes`], and a
//! [`Choice`] per switch. Invariants: every switch treats the addresses of a class equally, except the last switch,
//! which delivers each to its own NIC. A result for a class therefore holds for each of its addresses. A class is a
//! range of adjacent addresses, either of NICs or unused.

use std::collections::HashMap;
use std::ops::Range;

use closc_artefacts::{Address, Prefix};

use crate::model::switch::{NextHop, NextHopSet, RouteView};

/// A class of destinations, by its index in the order of addresses.
pub(crate) type ClassId = u32;

/// A set of classes, stored as ranges. There are few ranges, because routes cover ranges of addresses.
#[derive(Debug, Clone, Default)]
pub(crate) struct ClassSet(ClassRanges);

/// Ranges in ascending order. There are millions of sets. Most consist of a single range, which is stored without an
/// allocation.
#[derive(Debug, Clone)]
enum ClassRanges {
    One([Range<ClassId>; 1]),
    Any(Vec<Range<ClassId>>),
}

impl Default for ClassRanges {
    fn default() -> Self {
        ClassRanges::Any(Vec::new())
    }
}

impl PartialEq for ClassSet {
    fn eq(&self, other: &Self) -> bool {
        self.runs() == other.runs()
    }
}

impl Eq for ClassSet {}

impl ClassSet {
    /// Appends classes after all existing ones.
    pub(crate) fn push(&mut self, classes: Range<ClassId>) {
        if classes.is_empty() {
            return;
        }
        let last = match &mut self.0 {
            ClassRanges::One([last]) => Some(last),
            ClassRanges::Any(runs) => runs.last_mut(),
        };
        match last {
            Some(last) if last.end >= classes.start => last.end = last.end.max(classes.end),
            Some(_) => match &mut self.0 {
                ClassRanges::One([first]) => self.0 = ClassRanges::Any(vec![first.clone(), classes]),
                ClassRanges::Any(runs) => runs.push(classes),
            },
            None => self.0 = ClassRanges::One([classes]),
        }
    }

    /// Returns the ranges in ascending order.
    pub(crate) fn runs(&self) -> &[Range<ClassId>] {
        match &self.0 {
            ClassRanges::One(one) => one,
            ClassRanges::Any(runs) => runs,
        }
    }

    /// Returns the classes in ascending order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = ClassId> + '_ {
        self.runs().iter().cloned().flatten()
    }

    /// Returns whether a class is in the set.
    pub(crate) fn contains(&self, class: ClassId) -> bool {
        let runs = self.runs();
        let after = runs.partition_point(|run| run.start <= class);
        after > 0 && runs[after - 1].contains(&class)
    }
}

/// One or more routes of a switch with the same next hops, and the classes that they apply to: those of their prefixes,
/// except those of longer prefixes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Row {
    /// Classes that the routes apply to.
    pub(crate) classes: ClassSet,
    /// Next hops with their weights; empty if the routes drop.
    pub(crate) next_hops: NextHopSet,
    /// Destination of the first of these routes, by which it is found in the file.
    pub(crate) prefix: Prefix,
}

/// Treatment of each class by a switch. Packets of an unlisted class are dropped.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Choice {
    /// Classes whose NICs are all connected to this switch and receive their packets over their own cables.
    pub(crate) delivered_classes: ClassSet,
    /// All other classes, by route.
    pub(crate) rows: Vec<Row>,
}

impl Choice {
    /// Returns the route that applies to a class.
    pub(crate) fn row(&self, class: ClassId) -> Option<&Row> {
        self.rows.iter().find(|row| row.classes.contains(class))
    }
}

/// The treatment of a range of atoms by one switch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    /// No route.
    Nothing,
    /// Delivered to the NIC through its own cable.
    Delivered,
    /// Forwarded by a route, by index.
    Route(usize),
}

/// Ranges of atoms with their treatment by one switch, in ascending order without gaps.
type Runs = Vec<(Range<u32>, Outcome)>;

/// The address space, split by every prefix and around every NIC.
///
/// An atom is a range of addresses that no prefix splits. A class is a range of atoms that all switches treat equally.
#[derive(Debug, Clone, Default)]
pub(crate) struct Atoms {
    /// First address of each atom, in ascending order; the first is `::`.
    starts: Vec<u128>,
    /// The NIC of each atom with a single address, by index; `NO_OWNER` otherwise.
    owners: Vec<u32>,
    /// Atoms that start a class.
    cuts: Vec<bool>,
}

/// Marks an atom that belongs to no NIC.
const NO_OWNER: u32 = u32::MAX;

/// Returns the first address of each run and the address after its last one, in ascending order from `::` and without
/// duplicates.
fn bounds(runs: impl Iterator<Item = (Address, Address)>) -> Vec<u128> {
    let mut bounds = vec![0];
    for (first, last) in runs {
        // Most values are bounds of several ranges, so duplicates are removed before memory is allocated.
        if bounds.len() + 2 > bounds.capacity() {
            bounds.sort_unstable();
            bounds.dedup();
            if bounds.len() > bounds.capacity() / 2 {
                bounds.reserve(bounds.len().max(64));
            }
        }
        bounds.push(u128::from(first));
        bounds.extend(u128::from(last).checked_add(1));
    }
    bounds.sort_unstable();
    bounds.dedup();
    bounds.shrink_to_fit();
    bounds
}

impl Atoms {
    /// Splits the address space by all prefixes, and around NICs. Each NIC is given by number, address and mark. NICs
    /// with different marks are never in one class, even if all switches treat them equally.
    pub(crate) fn new(prefixes: impl IntoIterator<Item = Prefix>, nics: &[(u32, Address, u64)]) -> Self {
        let prefixes = prefixes.into_iter().map(|prefix| (prefix.network(), prefix.broadcast()));
        let alone = nics.iter().map(|(_, address, _)| (*address, *address));
        let starts = bounds(prefixes.chain(alone));
        let mut atoms =
            Atoms { owners: vec![NO_OWNER; starts.len()], cuts: vec![false; starts.len()], starts };
        for (place, (_, address, _)) in (0..).zip(nics) {
            let at = atoms.at(u128::from(*address));
            // If NICs share an address, the first one gets it.
            if atoms.owners[at as usize] == NO_OWNER {
                atoms.owners[at as usize] = place;
            }
        }
        let mark = |place: &u32| nics.get(*place as usize).map(|(_, _, mark)| mark);
        for (cut, neighbours) in atoms.cuts.iter_mut().skip(1).zip(atoms.owners.windows(2)) {
            *cut = mark(&neighbours[0]) != mark(&neighbours[1]);
        }
        atoms.cuts[0] = true;
        for owner in atoms.owners.iter_mut().filter(|owner| **owner != NO_OWNER) {
            *owner = nics[*owner as usize].0;
        }
        atoms
    }

    /// Returns the atom of an address.
    fn at(&self, address: u128) -> u32 {
        (self.starts.partition_point(|start| *start <= address) - 1) as u32
    }

    /// Finds the longest matching prefix of each atom among the routes of a switch. `delivers` returns whether a route
    /// delivers to a NIC through its own cable.
    fn decide(&self, routes: &[RouteView<'_>], delivers: &dyn Fn(u32, RouteView<'_>) -> bool) -> Runs {
        let mut order: Vec<(Range<u32>, u8, usize)> = routes
            .iter()
            .enumerate()
            .map(|(number, route)| {
                let first = self.at(u128::from(route.prefix.network()));
                let last = self.at(u128::from(route.prefix.broadcast()));
                (first..last + 1, route.prefix.prefix_len(), number)
            })
            .collect();
        order.sort_unstable_by_key(|(atoms, length, number)| (atoms.start, *length, *number));
        let mut runs: Runs = Vec::with_capacity(order.len() * 2 + 1);
        // Stack of enclosing prefixes, the longest last.
        let mut open: Vec<(u32, usize)> = Vec::new();
        let mut at = 0;
        let mut emit = |to: u32, open: &[(u32, usize)], at: &mut u32| {
            if *at < to {
                let outcome = match open.last() {
                    None => Outcome::Nothing,
                    Some((_, number)) => self.outcome(*at, to, *number, routes[*number], delivers),
                };
                match runs.last_mut() {
                    Some((run, last)) if *last == outcome => run.end = to,
                    _ => runs.push((*at..to, outcome)),
                }
                *at = to;
            }
        };
        for (atoms, _, number) in order {
            while let Some((end, _)) = open.last().copied().filter(|(end, _)| *end <= atoms.start) {
                emit(end, &open, &mut at);
                open.pop();
            }
            emit(atoms.start, &open, &mut at);
            open.push((atoms.end, number));
        }
        while let Some((end, _)) = open.last().copied() {
            emit(end, &open, &mut at);
            open.pop();
        }
        emit(self.starts.len() as u32, &open, &mut at);
        runs
    }

    fn outcome(
        &self,
        from: u32,
        to: u32,
        number: usize,
        route: RouteView<'_>,
        delivers: &dyn Fn(u32, RouteView<'_>) -> bool,
    ) -> Outcome {
        let owner = self.owners[from as usize];
        let whole = from + 1 == to && owner != NO_OWNER;
        if whole && delivers(owner, route) { Outcome::Delivered } else { Outcome::Route(number) }
    }

    /// Splits classes where a switch treats adjacent atoms differently.
    pub(crate) fn cut(&mut self, routes: &[RouteView<'_>], delivers: &dyn Fn(u32, RouteView<'_>) -> bool) {
        for (atoms, _) in self.decide(routes, delivers) {
            self.cuts[atoms.start as usize] = true;
        }
    }

    /// Finishes splitting: ranges of atoms between cuts become classes.
    pub(crate) fn classes(self) -> Classes {
        let mut class = 0;
        let of_atom: Vec<ClassId> = self
            .cuts
            .iter()
            .enumerate()
            .map(|(at, cut)| {
                class += u32::from(*cut && at > 0);
                class
            })
            .collect();
        let mut nics = vec![Vec::new(); class as usize + 1];
        for (at, owner) in self.owners.iter().enumerate().filter(|(_, owner)| **owner != NO_OWNER) {
            nics[of_atom[at] as usize].push(*owner);
        }
        let mut first = vec![0; class as usize + 1];
        for (at, class) in of_atom.iter().enumerate().rev() {
            first[*class as usize] = self.starts[at];
        }
        Classes { atoms: self, of_atom, nics, first }
    }
}

/// All classes.
#[derive(Debug, Clone, Default)]
pub(crate) struct Classes {
    atoms: Atoms,
    of_atom: Vec<ClassId>,
    /// The NICs of each class by index, in the order of addresses; empty for unused addresses.
    pub(crate) nics: Vec<Vec<u32>>,
    /// First address of each class.
    first: Vec<u128>,
}

impl Classes {
    /// Returns the number of classes.
    pub(crate) fn len(&self) -> usize {
        self.nics.len()
    }

    /// Returns the first address of a class.
    pub(crate) fn address(&self, class: ClassId) -> Address {
        Address::from(self.first[class as usize])
    }

    /// Returns the classes that overlap a prefix.
    pub(crate) fn prefix_classes(&self, prefix: Prefix) -> Range<ClassId> {
        let first = self.atoms.at(u128::from(prefix.network()));
        let last = self.atoms.at(u128::from(prefix.broadcast()));
        self.of_atom[first as usize]..self.of_atom[last as usize] + 1
    }

    /// Returns the treatment of each class by a switch, by longest prefix match.
    pub(crate) fn choice(
        &self,
        routes: &[RouteView<'_>],
        delivers: &dyn Fn(u32, RouteView<'_>) -> bool,
    ) -> Choice {
        let mut delivered = ClassSet::default();
        // Received routes with the same next hops share a row: BGP has many routes, but few sets of next hops.
        let mut sharing: HashMap<*const NextHop, usize> = HashMap::new();
        let first: Vec<usize> = routes
            .iter()
            .enumerate()
            .map(|(number, route)| match route.next_hops {
                NextHopSet::Alike(ways) if !ways.is_empty() => {
                    *sharing.entry(ways.as_ptr()).or_insert(number)
                }
                NextHopSet::One(_) | NextHopSet::Any(_) | NextHopSet::Alike(_) => number,
            })
            .collect();
        let mut rows: Vec<Option<ClassSet>> = vec![None; routes.len()];
        for (atoms, outcome) in self.atoms.decide(routes, delivers) {
            let classes = self.of_atom[atoms.start as usize]..self.of_atom[atoms.end as usize - 1] + 1;
            match outcome {
                Outcome::Nothing => {}
                Outcome::Delivered => delivered.push(classes),
                Outcome::Route(number) => rows[first[number]].get_or_insert_default().push(classes),
            }
        }
        let row = |(route, classes): (&RouteView<'_>, Option<ClassSet>)| {
            Some(Row { classes: classes?, next_hops: route.next_hops.clone(), prefix: route.prefix })
        };
        let mut rows: Vec<Row> = routes.iter().zip(rows).filter_map(row).collect();
        rows.shrink_to_fit();
        Choice { delivered_classes: delivered, rows }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::switch::{Gateway, OtherRoute};

    fn route(prefix: &str, slots: &[u16]) -> OtherRoute {
        let way = |slot: &u16| NextHop { slot: Some(*slot), gateway: Gateway::Peer, weight: 1 };
        OtherRoute {
            prefix: prefix.parse().unwrap(),
            next_hops: slots.iter().map(way).collect::<Vec<NextHop>>().into(),
        }
    }

    fn nics() -> Vec<(u32, Address, u64)> {
        ["fd::1:1", "fd::1:2", "fd::2:1"]
            .iter()
            .enumerate()
            .map(|(number, text)| (number as u32, text.parse().unwrap(), number as u64 / 2))
            .collect()
    }

    /// Returns the routes of a T0 with two NICs, and those of a T0 with a third NIC.
    fn switches() -> [Vec<OtherRoute>; 2] {
        let all = |own: Vec<OtherRoute>, group: &str| {
            let rest = [route(group, &[]), route("fd::/64", &[8, 9]), route("fd::/16", &[])];
            own.into_iter().chain(rest).collect()
        };
        [
            all(vec![route("fd::1:1/128", &[0]), route("fd::1:2/128", &[1])], "fd::1:0/112"),
            all(vec![route("fd::2:1/128", &[0])], "fd::2:0/112"),
        ]
    }

    /// NIC 0 is in slot 0 of the first switch, NIC 1 in slot 1, NIC 2 in slot 0 of the second.
    fn delivers(at: usize) -> impl Fn(u32, RouteView<'_>) -> bool {
        move |nic, route| {
            let own = if at == 0 { nic } else { nic.wrapping_sub(2) };
            route.next_hops.iter().all(|way| way.slot.map(u32::from) == Some(own))
                && !route.next_hops.is_empty()
        }
    }

    fn classes() -> Classes {
        let switches = switches();
        let prefixes = switches.iter().flatten().map(|route| route.prefix);
        let mut atoms = Atoms::new(prefixes, &nics());
        for (at, routes) in switches.iter().enumerate() {
            atoms.cut(&views(routes), &delivers(at));
        }
        atoms.classes()
    }

    fn views(routes: &[OtherRoute]) -> Vec<RouteView<'_>> {
        routes.iter().map(OtherRoute::view).collect()
    }

    #[test]
    fn nics_that_all_treat_alike_are_of_one_class() {
        let classes = classes();
        let with: Vec<&Vec<u32>> = classes.nics.iter().filter(|nics| !nics.is_empty()).collect();
        assert_eq!(with, [&vec![0, 1], &vec![2]]);
        let choice = classes.choice(&views(&switches()[0]), &delivers(0));
        let own = classes.prefix_classes("fd::1:1/128".parse().unwrap()).start;
        let other = classes.prefix_classes("fd::2:1/128".parse().unwrap()).start;
        assert!(choice.delivered_classes.contains(own) && !choice.delivered_classes.contains(other));
        let row = choice.row(other).unwrap();
        assert_eq!((row.prefix.to_string().as_str(), row.next_hops.len()), ("fd::/64", 2));
        assert!(choice.row(own).is_none());
    }

    #[test]
    fn the_longest_prefix_decides() {
        let classes = classes();
        let choice = classes.choice(&views(&switches()[0]), &delivers(0));
        for (address, prefix) in [("fd::1:7", "fd::1:0/112"), ("fd::7:7", "fd::/64"), ("fd:1::", "fd::/16")] {
            let class = classes.prefix_classes(Prefix::new(address.parse().unwrap(), 128).unwrap());
            assert_eq!(choice.row(class.start).unwrap().prefix, prefix.parse().unwrap(), "{address}");
        }
        let outside = classes.prefix_classes("2001::/128".parse().unwrap()).start;
        assert!(choice.row(outside).is_none());
    }

    #[test]
    fn sets_are_runs() {
        assert!(size_of::<ClassSet>() <= 24, "{}", size_of::<ClassSet>());
        let mut set = ClassSet::default();
        assert!(set.runs().is_empty());
        for run in [1..3, 3..4, 6..6, 8..9] {
            set.push(run);
        }
        assert_eq!(set.runs(), [1..4, 8..9]);
        assert_eq!(set.iter().collect::<Vec<u32>>(), [1, 2, 3, 8]);
        assert!(set.contains(3) && !set.contains(4) && set.contains(8) && !set.contains(0));
    }
}
