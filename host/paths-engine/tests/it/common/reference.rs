//! A second implementation of the engine, written for readability. It uses lists instead of bits, and recomputes
//! everything at every step.
//!
//! Invariants: it shares no code with the engine. Where the two differ, one of them is wrong.

use closc_paths_engine::State;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Health {
    Unknown,
    Good,
    Bad,
}

#[derive(Debug, Clone)]
pub(crate) struct Path {
    pub(crate) entropy: u32,
    pub(crate) health: Health,
    pub(crate) denials: Vec<u64>,
    pub(crate) skip: bool,
    streak: u32,
    relapses: u32,
    changed: u64,
}

/// One destination.
#[derive(Debug, Clone)]
pub(crate) struct Reference {
    pub(crate) planes: Vec<Vec<Path>>,
    /// Positions in use of each plane.
    pub(crate) used: Vec<Vec<usize>>,
    last_plane: usize,
    last: Vec<usize>,
    /// The first value of each plane, chosen when all its values were usable.
    first: Vec<usize>,
    pub(crate) own: Vec<bool>,
    pub(crate) far: Vec<bool>,
    active: usize,
    floor: usize,
    good_answers: u32,
    missed_answers: u32,
    relapse: u64,
}

impl Reference {
    pub(crate) fn new(values: &[Vec<u32>], active: usize, floor: usize, patience: (u32, u32, u64)) -> Self {
        let path = |entropy: &u32| Path {
            entropy: *entropy,
            health: Health::Unknown,
            denials: Vec::new(),
            skip: false,
            streak: 0,
            relapses: 0,
            changed: 0,
        };
        let planes: Vec<Vec<Path>> = values.iter().map(|plane| plane.iter().map(path).collect()).collect();
        let n = planes.len();
        let mut out = Reference {
            used: vec![Vec::new(); n],
            last_plane: usize::MAX,
            last: vec![usize::MAX; n],
            first: Vec::new(),
            own: vec![true; n],
            far: vec![true; n],
            planes,
            active,
            floor,
            good_answers: patience.0,
            missed_answers: patience.1,
            relapse: patience.2,
        };
        out.settle();
        out
    }

    /// Restarts the turns, as a reload does. `firsts` contains one value of each plane in use, in the order of turns.
    /// Any value may be first. A plane that is not in use keeps its previous first value.
    pub(crate) fn restart(&mut self, firsts: &[(usize, u32)]) {
        let used = self.used.iter().filter(|used| !used.is_empty()).count();
        assert_eq!(firsts.len(), used, "planes do not take turns: {firsts:?}");
        self.last_plane = firsts.first().map_or(usize::MAX, |(plane, _)| plane.wrapping_sub(1));
        let mut starts = self.first.clone();
        starts.resize(self.planes.len(), 0);
        for (plane, entropy) in firsts {
            let at = self.planes[*plane].iter().position(|path| path.entropy == *entropy).unwrap();
            assert!(self.used[*plane].contains(&at), "value {at} of plane {plane} is not in use");
            starts[*plane] = at;
        }
        self.last = starts.iter().map(|start| start.wrapping_sub(1)).collect();
        if self.first.is_empty() {
            self.first = starts;
        }
        self.planes.iter_mut().flatten().for_each(|path| path.skip = false);
    }

    fn find(&mut self, plane: usize, entropy: u32) -> &mut Path {
        self.planes[plane].iter_mut().find(|path| path.entropy == entropy).unwrap()
    }

    /// Planes take turns, and so do the values of a plane. A value that must be skipped is passed once.
    pub(crate) fn pick(&mut self) -> Option<(usize, u32)> {
        let n = self.planes.len();
        let start = self.last_plane.wrapping_add(1);
        let plane = (0..n).map(|k| (start + k) % n).find(|plane| !self.used[*plane].is_empty())?;
        self.last_plane = plane;
        let used = self.used[plane].clone();
        if used.iter().all(|at| self.planes[plane][*at].skip) {
            for at in &used {
                self.planes[plane][*at].skip = false;
            }
        }
        let mut at = self.last[plane];
        loop {
            at = used.iter().copied().find(|p| at == usize::MAX || *p > at).unwrap_or(used[0]);
            if !self.planes[plane][at].skip {
                break;
            }
            self.planes[plane][at].skip = false;
        }
        self.last[plane] = at;
        Some((plane, self.planes[plane][at].entropy))
    }

    pub(crate) fn state(&self, plane: usize, position: usize) -> State {
        let path = &self.planes[plane][position];
        match path.health {
            _ if !path.denials.is_empty() => State::Denied,
            Health::Bad => State::AssumedBad,
            _ if path.skip => State::Skip,
            Health::Good => State::Good,
            Health::Unknown => State::Unknown,
        }
    }

    pub(crate) fn answered(&mut self, plane: usize, entropy: u32, now: u64) {
        let good_answers = self.good_answers;
        let path = self.find(plane, entropy);
        let back = match path.health {
            Health::Unknown => true,
            Health::Good => false,
            Health::Bad => {
                path.streak += 1;
                path.streak >= good_answers << path.relapses
            }
        };
        if back {
            (path.health, path.changed) = (Health::Good, now);
        }
        if path.health == Health::Good {
            path.streak = 0;
        }
        self.settle();
    }

    pub(crate) fn congested(&mut self, plane: usize, entropy: u32) {
        let used = self.used[plane].clone();
        if used.iter().any(|at| self.planes[plane][*at].entropy == entropy) {
            self.find(plane, entropy).skip = true;
        }
    }

    pub(crate) fn lost(&mut self, plane: usize, entropy: u32, now: u64) {
        let relapse = self.relapse;
        let path = self.find(plane, entropy);
        if path.health != Health::Bad {
            let soon = path.health == Health::Good && now - path.changed < relapse;
            path.relapses = if soon { (path.relapses + 1).min(5) } else { 0 };
        }
        (path.health, path.streak, path.changed) = (Health::Bad, 0, now);
        self.settle();
    }

    pub(crate) fn missed(&mut self, plane: usize, entropy: u32, now: u64) {
        let missed_answers = self.missed_answers;
        let path = self.find(plane, entropy);
        if path.health == Health::Bad {
            (path.streak, path.changed) = (0, now);
            self.settle();
            return;
        }
        path.streak += 1;
        if path.streak >= missed_answers {
            self.lost(plane, entropy, now);
        }
    }

    fn eligible(&self, plane: usize, position: usize) -> bool {
        self.own[plane] && self.far[plane] && self.planes[plane][position].denials.is_empty()
    }

    /// Counts the usable values, and those of them that are not bad. Values for which `also` is true count as denied.
    pub(crate) fn usable(&self, also: impl Fn(usize, u32) -> bool) -> (usize, usize) {
        let mut count = (0, 0);
        for (n, plane) in self.planes.iter().enumerate() {
            for (m, path) in plane.iter().enumerate() {
                if self.eligible(n, m) && !also(n, path.entropy) {
                    count.0 += 1;
                    count.1 += usize::from(path.health != Health::Bad);
                }
            }
        }
        count
    }

    /// Returns whether no probe of a bad value was answered since it failed.
    fn is_silent(&self, plane: usize, position: usize) -> bool {
        let path = &self.planes[plane][position];
        path.health == Health::Bad && path.streak == 0
    }

    /// Counts the usable values that are silent.
    pub(crate) fn silent(&self) -> usize {
        let all = (0..self.planes.len()).flat_map(|p| (0..self.planes[p].len()).map(move |m| (p, m)));
        all.filter(|(p, m)| self.eligible(*p, *m) && self.is_silent(*p, *m)).count()
    }

    /// Recomputes the values in use from the definitions.
    pub(crate) fn settle(&mut self) {
        let n = self.planes.len();
        let mut used = Vec::new();
        for plane in 0..n {
            let fine =
                |at: &usize| self.eligible(plane, *at) && self.planes[plane][*at].health != Health::Bad;
            let mut keep: Vec<usize> = self.used[plane].iter().copied().filter(|at| fine(at)).collect();
            keep.truncate(self.active);
            for wanted in [Health::Good, Health::Unknown] {
                for at in (0..self.planes[plane].len()).filter(|at| fine(at)) {
                    if keep.len() < self.active
                        && !keep.contains(&at)
                        && self.planes[plane][at].health == wanted
                    {
                        keep.push(at);
                    }
                }
            }
            keep.sort_unstable();
            used.push(keep);
        }
        let may = (0..n).flat_map(|p| (0..self.planes[p].len()).map(move |m| (p, m)));
        let may: Vec<(usize, usize)> = may.filter(|(p, m)| self.eligible(*p, *m)).collect();
        let floor = self.floor.min(may.len()).min(n * self.active);
        let are_all_bad = used.iter().all(Vec::is_empty);
        while used.iter().map(Vec::len).sum::<usize>() < floor {
            let rest = may.iter().filter(|(p, m)| !used[*p].contains(m));
            let rest = rest.filter(|(p, m)| are_all_bad || !self.is_silent(*p, *m));
            let best = rest.min_by_key(|(p, m)| {
                let path = &self.planes[*p][*m];
                let bad = path.health == Health::Bad;
                // Values that were added earlier to reach the floor are preferred.
                let rank = if bad { path.changed } else { u64::from(!self.used[*p].contains(m)) };
                (bad, used[*p].len(), *p, rank, *m)
            });
            let Some(&(p, m)) = best else { break };
            used[p].push(m);
            used[p].sort_unstable();
        }
        for (plane, used) in self.planes.iter_mut().zip(&used) {
            for (at, path) in plane.iter_mut().enumerate() {
                path.skip &= used.contains(&at);
            }
        }
        self.used = used;
    }
}
