//! A page of the results of a read. A read continues at the end of the previous page, even after writes in between: an
//! entity that exists throughout is returned exactly once.

use std::ops::ControlFlow;

use closc_runtime::proto::v1;
use prost::Message as _;

/// Position of an entity in a read: the index of its table, array or profile, and its number there. An entity
/// keeps its number as long as it exists.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Spot {
    part: usize,
    at: u64,
}

/// A page under construction.
#[derive(Debug)]
pub(crate) struct Page {
    from: Spot,
    bytes: usize,
    limit: usize,
    entities: Vec<v1::Entity>,
    /// Position of each entity.
    spots: Vec<Spot>,
    rest: Option<Spot>,
}

impl Page {
    /// Returns an empty page that starts at a position and holds about `limit` bytes at most.
    pub(crate) fn new(from: Spot, limit: usize) -> Self {
        Self { from, bytes: 0, limit, entities: Vec::new(), spots: Vec::new(), rest: None }
    }

    /// Returns the first position of a part that may be on this page; `u64::MAX` if the part ends before the
    /// page.
    pub(super) fn first(&self, part: usize) -> u64 {
        match part.cmp(&self.from.part) {
            std::cmp::Ordering::Less => u64::MAX,
            std::cmp::Ordering::Equal => self.from.at,
            std::cmp::Ordering::Greater => 0,
        }
    }

    /// Adds an entity if it belongs to the page; breaks when the page is full.
    pub(super) fn put(
        &mut self,
        part: usize,
        at: u64,
        make: impl FnOnce() -> Option<v1::Entity>,
    ) -> ControlFlow<()> {
        let spot = Spot { part, at };
        if spot < self.from {
            return ControlFlow::Continue(());
        }
        if self.bytes >= self.limit {
            self.rest = Some(spot);
            return ControlFlow::Break(());
        }
        if let Some(entity) = make() {
            self.bytes += entity.encoded_len() + 8;
            self.entities.push(entity);
            self.spots.push(spot);
        }
        ControlFlow::Continue(())
    }

    /// Converts the entities, which can enlarge them. Entities that no longer fit move to the next page.
    pub(super) fn translate(&mut self, mut change: impl FnMut(&mut v1::Entity)) {
        self.bytes = 0;
        for place in 0..self.entities.len() {
            if self.bytes >= self.limit {
                self.rest = Some(self.spots[place]);
                self.entities.truncate(place);
                self.spots.truncate(place);
                return;
            }
            change(&mut self.entities[place]);
            self.bytes += self.entities[place].encoded_len() + 8;
        }
    }

    /// Returns the entities, and the start of the next page, if there is one.
    pub(crate) fn finish(self) -> (Vec<v1::Entity>, Option<Spot>) {
        (self.entities, self.rest)
    }
}
