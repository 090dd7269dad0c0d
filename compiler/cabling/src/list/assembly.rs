//! Cable assemblies: links that share cages, and are therefore bought and laid as one piece.
//!
//! In: the links of a plan. Out: [`Assembly`] rows, counted by form. Invariants: links of one kind, medium and length
//! with a cage in common, at either end, are one assembly. Every link is in exactly one. A cage of a NIC has ports of
//! several planes, so assemblies of NICs join planes.

use std::collections::{BTreeMap, HashMap};

use closc_plan::Plan;
use closc_topology::{Link, Nic, PortRef, Side, Switch};
use serde::Serialize;

use super::{kind, table};

/// Form of an assembly.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum AssemblyForm {
    /// One cage to one cage.
    Straight,
    /// One cage to several: a breakout or octopus cable.
    FanOut,
    /// Several cages to several: a shuffle cable or box, which distributes the lanes of each cage.
    Shuffle,
}

impl AssemblyForm {
    /// Returns the keyword in lists.
    pub(crate) fn keyword(self) -> &'static str {
        match self {
            AssemblyForm::Straight => "straight",
            AssemblyForm::FanOut => "fan-out",
            AssemblyForm::Shuffle => "shuffle",
        }
    }

    fn of(lower: u64, upper: u64) -> Self {
        match (lower, upper) {
            (1, 1) => AssemblyForm::Straight,
            (1, _) | (_, 1) => AssemblyForm::FanOut,
            (_, _) => AssemblyForm::Shuffle,
        }
    }
}

/// Equal assemblies.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub(crate) struct Assembly {
    /// Kind of the links: the tiers that they connect.
    pub kind: &'static str,
    /// Medium.
    pub medium: String,
    /// Length.
    pub length: String,
    /// Form.
    pub form: AssemblyForm,
    /// Cages at the lower end of one assembly.
    pub lower_cages: u64,
    /// Cages at its upper end.
    pub upper_cages: u64,
    /// Its links.
    pub links: u64,
    /// Number of such assemblies.
    pub count: u64,
}

/// A cage at the end of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum CageEnd {
    Nic(Nic, u8),
    Switch(Switch, u16),
}

/// Properties that all links of an assembly share.
type Article = (&'static str, String, String);

/// Sets of cages with a common link, each represented by one of its cages.
#[derive(Debug, Default)]
struct Cages {
    numbers: HashMap<(usize, CageEnd), usize>,
    parents: Vec<usize>,
    /// For each representative: its article, lower cages, upper cages and links.
    sums: Vec<(usize, [u64; 3])>,
}

impl Cages {
    fn number(&mut self, article: usize, cage: CageEnd, side: usize) -> usize {
        let next = self.parents.len();
        let number = *self.numbers.entry((article, cage)).or_insert(next);
        if number == next {
            self.parents.push(next);
            let mut sum = [0; 3];
            sum[side] = 1;
            self.sums.push((article, sum));
        }
        self.root(number)
    }

    /// Returns the representative of a cage, and shortens the path to it.
    fn root(&mut self, mut at: usize) -> usize {
        while self.parents[at] != at {
            self.parents[at] = self.parents[self.parents[at]];
            at = self.parents[at];
        }
        at
    }

    /// Joins the cages of a link.
    fn join(&mut self, lower: usize, upper: usize) {
        if lower != upper {
            self.parents[upper] = lower;
            let (_, other) = self.sums[upper];
            self.sums[lower].1.iter_mut().zip(other).for_each(|(sum, more)| *sum += more);
        }
        self.sums[lower].1[2] += 1;
    }
}

/// Joins the cages of all links of a plan. Also returns the lower cage of each link, by number.
fn join_cages(plan: &Plan) -> (Cages, BTreeMap<Article, usize>, Vec<(Link, usize)>) {
    let fabric = plan.fabric();
    let mut articles: BTreeMap<Article, usize> = BTreeMap::new();
    let (mut cages, mut links) = (Cages::default(), Vec::new());
    for link in fabric.links() {
        let Some([lower, upper]) = ends(plan, link) else { continue };
        let cable = fabric.cable(link);
        let next = articles.len();
        let article = (kind(link), cable.medium.to_string(), cable.length.to_string());
        let article = *articles.entry(article).or_insert(next);
        let (lower, upper) = (cages.number(article, lower, 0), cages.number(article, upper, 1));
        cages.join(lower, upper);
        links.push((link, lower));
    }
    (cages, articles, links)
}

/// Returns the links of each assembly, in the order of its first link.
pub(super) fn links_by_assembly(plan: &Plan) -> Vec<Vec<Link>> {
    let (mut cages, _, links) = join_cages(plan);
    let mut numbers: HashMap<usize, usize> = HashMap::new();
    let mut found: Vec<Vec<Link>> = Vec::new();
    for (link, cage) in links {
        let number = *numbers.entry(cages.root(cage)).or_insert(found.len());
        if number == found.len() {
            found.push(Vec::new());
        }
        found[number].push(link);
    }
    found
}

/// Counts the links of assemblies with more than `most` links.
pub fn links_of_large(plan: &Plan, most: u64) -> u64 {
    let large = assemblies(plan).into_iter().filter(|assembly| assembly.links > most);
    large.map(|assembly| assembly.links * assembly.count).sum()
}

/// Counts the assemblies of a plan, in the order of kind, medium, length and form.
pub(crate) fn assemblies(plan: &Plan) -> Vec<Assembly> {
    let (cages, articles, _) = join_cages(plan);
    let mut counts: BTreeMap<(usize, [u64; 3]), u64> = BTreeMap::new();
    let is_root = |(at, _): &(usize, _)| cages.parents[*at] == *at;
    for (_, sum) in cages.sums.iter().enumerate().filter(is_root) {
        *counts.entry(*sum).or_default() += 1;
    }
    let names: BTreeMap<usize, &Article> = articles.iter().map(|(name, at)| (*at, name)).collect();
    let mut found: Vec<Assembly> = counts
        .into_iter()
        .map(|((article, [lower_cages, upper_cages, links]), count)| {
            let (kind, medium, length) = names[&article].clone();
            let form = AssemblyForm::of(lower_cages, upper_cages);
            Assembly { kind, medium, length, form, lower_cages, upper_cages, links, count }
        })
        .collect();
    found.sort();
    found
}

/// Returns the cages at both ends of a link, the lower end first.
fn ends(plan: &Plan, link: Link) -> Option<[CageEnd; 2]> {
    let topology = plan.topology();
    let (switch, port) = plan.fabric().upper_end(link)?;
    let cage = |switch, port| CageEnd::Switch(switch, topology.slot(switch, port).cage);
    let lower = match link {
        Link::Host(port) => CageEnd::Nic(topology.adapter(port.nic), topology.nic_cage(port)),
        Link::Fabric { lower, up } => cage(lower, PortRef { side: Side::Up, index: up }),
    };
    Some([lower, cage(switch, port)])
}

/// Returns the assemblies as CSV.
pub fn assemblies_csv(plan: &Plan) -> String {
    const HEAD: [&str; 8] =
        ["kind", "form", "lower_cages", "upper_cages", "links", "medium", "length", "assemblies"];
    let rows = assemblies(plan).into_iter().map(|assembly| {
        [
            assembly.kind.to_owned(),
            assembly.form.keyword().to_owned(),
            assembly.lower_cages.to_string(),
            assembly.upper_cages.to_string(),
            assembly.links.to_string(),
            assembly.medium,
            assembly.length,
            assembly.count.to_string(),
        ]
    });
    table(&HEAD, rows)
}

#[cfg(test)]
mod tests {
    use closc_tests::shape::{Shape, two_tiers};
    use proptest::prelude::*;

    use super::*;
    use crate::list::Bill;

    #[test]
    fn a_nic_fans_out_to_its_planes() {
        let plan = Shape { planes: 4, ..Shape::SMALL }.plan();
        let of =
            |kind: &str| assemblies(&plan).into_iter().filter(|found| found.kind == kind).collect::<Vec<_>>();
        let nics = of("nic-t0");
        assert_eq!(nics.len(), 1);
        assert_eq!((nics[0].form, nics[0].lower_cages, nics[0].upper_cages), (AssemblyForm::FanOut, 1, 4));
        assert_eq!((nics[0].links, nics[0].count), (4, 4));
        assert!(of("t0-t1").iter().all(|found| found.form == AssemblyForm::Straight));
    }

    proptest! {
        /// Every link is in exactly one assembly, and so is every cage of the bill.
        #[test]
        fn assemblies_hold_what_the_bill_counts(shape in two_tiers()) {
            let plan = shape.plan();
            let mut bill = Bill::default();
            plan.topology().plane_ids().for_each(|plane| bill.add(&plan, plane));
            for kind in ["nic-t0", "t0-t1"] {
                let found = assemblies(&plan).into_iter().filter(|found| found.kind == kind);
                let sums = found.fold([0; 3], |sums, found| {
                    let own = [found.links, found.lower_cages, found.upper_cages];
                    [0, 1, 2].map(|at: usize| sums[at] + own[at] * found.count)
                });
                let entries = bill.entries().into_iter().filter(|entry| entry.kind == kind);
                let billed = entries.fold([0; 3], |sums, entry| {
                    let own = [entry.links, entry.lower_cages, entry.upper_cages];
                    [0, 1, 2].map(|at: usize| sums[at] + own[at])
                });
                prop_assert_eq!(sums, billed);
            }
        }
    }
}
