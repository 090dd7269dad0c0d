//! Disjoint sets of devices (union-find).

/// Sets of connected devices.
pub(super) struct Sets(Vec<u32>);

impl Sets {
    pub(super) fn new(count: usize) -> Self {
        Sets((0..count as u32).collect())
    }

    pub(super) fn root(&mut self, mut of: u32) -> u32 {
        while self.0[of as usize] != of {
            let next = self.0[of as usize];
            self.0[of as usize] = self.0[next as usize];
            of = next;
        }
        of
    }

    pub(super) fn join(&mut self, a: u32, b: u32) {
        let (a, b) = (self.root(a), self.root(b));
        self.0[a.max(b) as usize] = a.min(b);
    }
}
