//! Paths whose packets others overtook: which path reorders, as far as the receiver knows.
//!
//! In: packets with their path, and how far they came behind. Out: the paths with most of them. Invariants: so many paths are
//! remembered and no more; of one that takes the place of another it is known how many packets it may have too many. A packet
//! names its path and has one number among all packets of its sender, so that it is late says that its path is slower than
//! others, not that packets change places on that path: two of one path in the wrong order look like any other two.

/// Paths of one sender that are remembered.
pub const PATHS_MAX: usize = 16;

/// A path whose packets came behind others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Path {
    /// Its entropy value, as the sender has it.
    pub entropy: u32,
    /// Packets that came behind one that was sent later.
    pub packets: u32,
    /// Number that may be another path's, whose place it took.
    pub uncertain: u32,
    /// The most packets that one of them was behind.
    pub behind_most: u32,
}

/// The paths of one sender.
#[derive(Debug, Default)]
pub(crate) struct Overtaken(Vec<Path>);

impl Overtaken {
    /// Takes a packet that came behind so many numbers.
    pub(crate) fn take(&mut self, entropy: u32, behind: u32) {
        if let Some(path) = self.0.iter_mut().find(|path| path.entropy == entropy) {
            path.packets = path.packets.saturating_add(1);
            path.behind_most = path.behind_most.max(behind);
            return;
        }
        let new = Path { entropy, packets: 1, uncertain: 0, behind_most: behind };
        if self.0.len() < PATHS_MAX {
            self.0.push(new);
        } else if let Some(least) = self.0.iter_mut().min_by_key(|path| path.packets) {
            // A frequent neighbour stays, whatever came between.
            let (packets, uncertain) = (least.packets.saturating_add(1), least.packets);
            *least = Path { packets, uncertain, ..new };
        }
    }

    /// Returns the paths, those with most packets first.
    pub(crate) fn paths(&self) -> Vec<Path> {
        let mut paths = self.0.clone();
        paths.sort_by_key(|path| (std::cmp::Reverse(path.packets), path.entropy));
        paths
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_overtaken_most_stays() {
        let mut overtaken = Overtaken::default();
        for round in 0..400 {
            overtaken.take(7, 3);
            // Many others, each seen once in a while.
            overtaken.take(1000 + round % 100, 1 + round % 5);
        }
        let paths = overtaken.paths();
        assert_eq!((paths.len(), paths[0].entropy, paths[0].behind_most), (PATHS_MAX, 7, 3));
        assert_eq!((paths[0].packets, paths[0].uncertain), (400, 0));
        assert!(paths[1..].iter().all(|path| path.packets - path.uncertain < 100), "{paths:?}");
    }
}
