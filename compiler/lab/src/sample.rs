//! A sample of the paths of a fabric that has too many for a complete test.
//!
//! In: a number of paths, and a seed. Out: this number of different paths, sender by sender. Invariants: the same
//! tree, number and seed give the same sample. A pair of NICs is drawn first, then one of its paths. So near pairs,
//! which have few paths, are also in the sample.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::net::Ipv6Addr;

use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};
use rayon::prelude::*;
use schemars::JsonSchema;
use serde::Serialize;

use crate::model::Model;
use crate::traffic::{self, NicPaths};
use crate::tree::{GroupTable, Nic, Tree};

/// Maximum number of attempts to draw a new path. Only samples of nearly all paths need many.
const DRAWS: u64 = 16;

/// The paths of a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Extent {
    /// Every path of every pair.
    #[default]
    Everything,
    /// A random sample of paths.
    Sample {
        /// Number of paths.
        paths: u64,
        /// Seed of the sample.
        seed: u64,
    },
}

/// Origin of a sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SampleOrigin {
    /// Paths of the fabric.
    pub of: u64,
    /// Seed of the sample.
    pub seed: u64,
}

/// Chosen receivers, each with the number of a path.
type SampledPaths = BTreeSet<(usize, u64)>;

/// The paths of a test, sender by sender.
pub(crate) struct TestPaths<'a> {
    nics: Vec<(&'a GroupTable, &'a Nic)>,
    /// For a sample: the senders in order, with their chosen paths.
    sampled_paths: Option<Vec<(usize, SampledPaths)>>,
    /// Origin of the sample; `None` if all paths are tested.
    pub(crate) sample_origin: Option<SampleOrigin>,
    /// Ordered pairs of NICs.
    pub(crate) pairs: u64,
}

impl<'a> TestPaths<'a> {
    /// Selects the paths of a test. A sample as large as the number of paths is a complete test.
    pub(crate) fn new(tree: &'a Tree, extent: Extent) -> Self {
        let nics: Vec<_> = traffic::nics(tree).collect();
        let everything =
            TestPaths { pairs: pairs(nics.len()), nics, sampled_paths: None, sample_origin: None };
        match extent {
            Extent::Everything => everything,
            Extent::Sample { paths, seed } => everything.draw(paths, seed),
        }
    }

    fn draw(self, paths: u64, seed: u64) -> Self {
        let of = self.count();
        if paths >= of || self.nics.len() < 2 {
            return self;
        }
        let mut random = SplitMix64::seed_from_u64(seed);
        let mut chosen: BTreeMap<usize, SampledPaths> = BTreeMap::new();
        let mut found = 0;
        for _ in 0..paths.saturating_mul(DRAWS) {
            if found == paths {
                break;
            }
            let from = random_number(&mut random, self.nics.len() as u64) as usize;
            let other = random_number(&mut random, self.nics.len() as u64 - 1) as usize;
            let to = other + usize::from(other >= from);
            let count = self.nics[from].0.count(self.nics[to].1.address);
            if count > 0 {
                let fresh = chosen.entry(from).or_default().insert((to, random_number(&mut random, count)));
                found += u64::from(fresh);
            }
        }
        let receivers =
            |paths: &SampledPaths| paths.iter().map(|(to, _)| to).collect::<BTreeSet<_>>().len() as u64;
        let pairs = chosen.values().map(receivers).sum();
        let chosen = Some(chosen.into_iter().collect());
        TestPaths { sampled_paths: chosen, sample_origin: Some(SampleOrigin { of, seed }), pairs, ..self }
    }

    /// Counts the paths of the fabric: for every table, the paths to each receiver from every other NIC of the table.
    fn count(&self) -> u64 {
        let tables: Vec<_> = self.nics.chunk_by(|(a, _), (b, _)| std::ptr::eq(*a, *b)).collect();
        let of_table = |nics: &&[(&GroupTable, &Nic)]| -> u64 {
            let own: HashSet<Ipv6Addr> = nics.iter().map(|(_, nic)| nic.address).collect();
            let others = |to: &Nic| nics.len() as u64 - u64::from(own.contains(&to.address));
            self.nics.iter().map(|(_, to)| nics[0].0.count(to.address) * others(to)).sum()
        };
        tables.par_iter().map(of_table).sum()
    }

    /// Returns the number of senders.
    pub(crate) fn senders(&self) -> u64 {
        self.sampled_paths.as_ref().map_or(self.nics.len(), Vec::len) as u64
    }

    /// Calls a function with the paths of one or more senders, and the number of senders already handled. Without a
    /// sample, each call has one sender with all its paths. With a sample, senders are combined up to a limited number
    /// of paths.
    pub(crate) fn for_each_batch<E>(
        &self,
        tree: &'a Tree,
        model: &Model,
        paths: usize,
        mut work: impl FnMut(u64, NicPaths<'a>) -> Result<(), E>,
    ) -> Result<(), E> {
        let Some(chosen) = &self.sampled_paths else {
            let mut nics = (0..).zip(&self.nics);
            return nics
                .try_for_each(|(at, (table, from))| work(at, traffic::outgoing(tree, model, table, from)));
        };
        let (mut at, mut rest) = (0, chosen.as_slice());
        while !rest.is_empty() {
            let (mut senders, mut found) = (0, 0);
            while senders < rest.len() && found < paths {
                found += rest[senders].1.len();
                senders += 1;
            }
            let (some, later) = rest.split_at(senders.max(1));
            let each = some.par_iter().map(|(from, own)| self.outgoing(model, *from, own));
            let all: Vec<NicPaths<'a>> = each.collect();
            work(at, all.into_iter().fold(NicPaths::default(), NicPaths::and))?;
            (at, rest) = (at + some.len() as u64, later);
        }
        Ok(())
    }

    /// Returns the chosen paths of a sender.
    fn outgoing(&self, model: &Model, from: usize, paths: &SampledPaths) -> NicPaths<'a> {
        let (table, from) = self.nics[from];
        let mut outgoing = NicPaths::default();
        for (to, number) in paths {
            let to = self.nics[*to].1;
            let named = table.path(from, to.address, *number);
            outgoing.take(named.and_then(|named| traffic::path(model, table, (from, to), named)));
        }
        outgoing
    }
}

/// Number of ordered pairs of NICs.
fn pairs(nics: usize) -> u64 {
    (nics * nics.saturating_sub(1)) as u64
}

/// Returns a random number below `end`, which is not 0.
fn random_number(random: &mut SplitMix64, end: u64) -> u64 {
    ((u128::from(random.next_u64()) * u128::from(end)) >> 64) as u64
}
