//! Paths whose packets are overtaken at the receiver, because the paths are slow.
//!
//! In: packets with their path, and the number of later packets that arrived first. Out: the paths with the
//! most such packets. Invariants: the number of stored paths is bounded. If a path replaces another one, the
//! maximum error of its count is known. Packet numbers count all packets of a sender, over all paths. So a
//! late packet shows that its path is slower than others. It does not show that packets are reordered on the
//! path itself.

/// Number of paths per sender that are kept.
pub const PATHS_MAX: usize = 16;

/// A path whose packets arrived after later ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Path {
    /// Its entropy value in the sender's table.
    pub entropy: u32,
    /// Packets that arrived after a later one.
    pub packets: u32,
    /// Maximum number of these that may belong to other paths.
    pub uncertain: u32,
    /// Maximum number of later packets that arrived before one of them.
    pub max_reorder_distance: u32,
}

/// The paths of one sender.
#[derive(Debug, Default)]
pub(crate) struct OvertakenPaths(Vec<Path>);

impl OvertakenPaths {
    /// Counts a packet that arrived after `behind` later ones.
    pub(crate) fn take(&mut self, entropy: u32, behind: u32) {
        if let Some(path) = self.0.iter_mut().find(|path| path.entropy == entropy) {
            path.packets = path.packets.saturating_add(1);
            path.max_reorder_distance = path.max_reorder_distance.max(behind);
            return;
        }
        let new = Path { entropy, packets: 1, uncertain: 0, max_reorder_distance: behind };
        if self.0.len() < PATHS_MAX {
            self.0.push(new);
        } else if let Some(least) = self.0.iter_mut().min_by_key(|path| path.packets) {
            // The new path inherits the count (Space-Saving algorithm), so that a frequent path stays in the list.
            let (packets, uncertain) = (least.packets.saturating_add(1), least.packets);
            *least = Path { packets, uncertain, ..new };
        }
    }

    /// Returns the paths, most affected first.
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
        let mut overtaken = OvertakenPaths::default();
        for round in 0..400 {
            overtaken.take(7, 3);
            // Many other paths, each seen only occasionally.
            overtaken.take(1000 + round % 100, 1 + round % 5);
        }
        let paths = overtaken.paths();
        assert_eq!((paths.len(), paths[0].entropy, paths[0].max_reorder_distance), (PATHS_MAX, 7, 3));
        assert_eq!((paths[0].packets, paths[0].uncertain), (400, 0));
        assert!(paths[1..].iter().all(|path| path.packets - path.uncertain < 100), "{paths:?}");
    }
}
