//! A page of what a read finds. A read goes on where the page before it ended, whatever was written meanwhile: an entity
//! that is there all the time is found once.

use std::ops::ControlFlow;

use closc_runtime::proto::v1;
use prost::Message as _;

/// Where an entity is among those that a read finds: the number of its table, array or profile, and its own number in
/// there, which it keeps for as long as it exists.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Spot {
    part: usize,
    at: u64,
}

/// A page that is being filled.
#[derive(Debug)]
pub(crate) struct Page {
    from: Spot,
    bytes: usize,
    limit: usize,
    entities: Vec<v1::Entity>,
    /// Where each of them is.
    spots: Vec<Spot>,
    rest: Option<Spot>,
}

impl Page {
    /// Returns a page for entities from a spot on, of about as many bytes as the limit.
    pub(crate) fn new(from: Spot, limit: usize) -> Self {
        Self { from, bytes: 0, limit, entities: Vec::new(), spots: Vec::new(), rest: None }
    }

    /// Returns the first number of a part that is wanted.
    pub(super) fn first(&self, part: usize) -> u64 {
        match part.cmp(&self.from.part) {
            std::cmp::Ordering::Less => u64::MAX,
            std::cmp::Ordering::Equal => self.from.at,
            std::cmp::Ordering::Greater => 0,
        }
    }

    /// Puts an entity on the page, if it belongs there; breaks when the page is full.
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

    /// Changes the entities. What no longer fits because they grew comes on the next page.
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

    /// Returns the entities, and where the next page begins if there is one.
    pub(crate) fn finish(self) -> (Vec<v1::Entity>, Option<Spot>) {
        (self.entities, self.rest)
    }
}
