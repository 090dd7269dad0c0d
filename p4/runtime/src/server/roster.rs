//! Places of clients at a server, and which of them are freed for new clients.
//!
//! Invariants: at most as many places are taken as the limit allows; a place is free as soon as its [`ConnectionPlace`]
//! is dropped.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::Instant;

/// Returns the number of stalled places that one connection may keep while others wait: a sixteenth of all places, but
/// at least eight. A connection with more of them can lose one before the grace period has passed.
fn crowd(limit: usize) -> usize {
    (limit / 16).max(8)
}

/// A handle that ends a connection. Every clone can end it.
#[derive(Debug, Clone)]
pub(super) struct EndSender(watch::Sender<bool>);

impl EndSender {
    pub(super) fn new() -> Self {
        EndSender(watch::Sender::new(false))
    }

    /// Returns whether two handles end the same connection.
    fn is(&self, other: &EndSender) -> bool {
        self.0.same_channel(&other.0)
    }

    pub(super) fn end(&self) {
        self.0.send_replace(true);
    }

    /// Waits until the connection must end.
    pub(super) async fn wait_for_end(&self) {
        // The sender lives as long as `self`.
        let _ = self.0.subscribe().wait_for(|ended| *ended).await;
    }
}

/// The direction in which a client can keep a server waiting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    /// The client does not send.
    Incoming,
    /// The client does not receive.
    Outgoing,
}

#[derive(Debug)]
struct PlaceState {
    /// When each side stalled, if it is stalled.
    stalled_since: [Option<Instant>; 2],
    ender: EndSender,
}

impl PlaceState {
    fn earliest_stall(&self) -> Option<Instant> {
        self.stalled_since.iter().flatten().min().copied()
    }
}

#[derive(Debug, Default)]
struct Places {
    next: u64,
    states: BTreeMap<u64, PlaceState>,
}

impl Places {
    /// Returns the place to free. It belongs to the connection with the most places stalled for longer than
    /// the grace period. If no place is stalled that long, it belongs to the connection with the most stalled
    /// places, provided these exceed [`crowd`]. Among the places of that connection, it is the one stalled
    /// for longest.
    fn victim(&self, now: Instant, grace: Duration, limit: usize) -> Option<u64> {
        let old = self.longest_idle_of_crowd(now, grace).map(|(_, id)| id);
        let crowd =
            || self.longest_idle_of_crowd(now, Duration::ZERO).filter(|(places, _)| *places > crowd(limit));
        old.or_else(|| crowd().map(|(_, id)| id))
    }

    /// Finds the connection with the most places stalled for at least `grace`. Returns their number, and the place
    /// stalled for longest.
    fn longest_idle_of_crowd(&self, now: Instant, grace: Duration) -> Option<(usize, u64)> {
        let still =
            |taken: &PlaceState| taken.earliest_stall().filter(|since| now.duration_since(*since) >= grace);
        let mut connections: Vec<(&EndSender, usize, Instant, u64)> = Vec::new();
        for (id, taken) in &self.states {
            let Some(since) = still(taken) else { continue };
            match connections.iter_mut().find(|(ender, ..)| ender.is(&taken.ender)) {
                Some((_, n, oldest, of)) => {
                    *n += 1;
                    (*oldest, *of) = (*oldest, *of).min((since, *id));
                }
                None => connections.push((&taken.ender, 1, since, *id)),
            }
        }
        let most =
            |connection: &&(&EndSender, usize, Instant, u64)| (connection.1, std::cmp::Reverse(connection.2));
        connections.iter().max_by_key(most).map(|(_, places, _, id)| (*places, *id))
    }
}

/// The places of a server.
#[derive(Debug, Clone)]
pub(super) struct Roster {
    places: Arc<Mutex<Places>>,
    limit: usize,
    grace: Duration,
}

impl Roster {
    pub(super) fn new(limit: usize, grace: Duration) -> Self {
        Roster { places: Arc::default(), limit: limit.max(1), grace }
    }

    fn lock(&self) -> MutexGuard<'_, Places> {
        self.places.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a place, which counts as stalled until [`ConnectionPlace::move_on`]. Returns `None` if all
    /// places are taken and none can be freed.
    pub(super) fn take(&self, ender: &EndSender) -> Option<ConnectionPlace> {
        self.take_at(Instant::now(), ender)
    }

    fn take_at(&self, now: Instant, ender: &EndSender) -> Option<ConnectionPlace> {
        let mut places = self.lock();
        if places.states.len() >= self.limit {
            let id = places.victim(now, self.grace, self.limit)?;
            if let Some(taken) = places.states.remove(&id) {
                taken.ender.end();
            }
        }
        let id = places.next;
        places.next += 1;
        places.states.insert(id, PlaceState { stalled_since: [Some(now), None], ender: ender.clone() });
        drop(places);
        Some(ConnectionPlace { roster: self.clone(), id })
    }

    /// Ends a connection whose places have all been stalled for at least the grace period, and frees the places. Among
    /// several, it ends the one that made progress least recently.
    pub(super) fn longest_idle(&self) -> Option<EndSender> {
        self.longest_idle_at(Instant::now())
    }

    fn longest_idle_at(&self, now: Instant) -> Option<EndSender> {
        let mut connections: Vec<(&EndSender, Option<Instant>)> = Vec::new();
        let mut places = self.lock();
        for taken in places.states.values() {
            let still = taken.earliest_stall();
            match connections.iter_mut().find(|(ender, _)| ender.is(&taken.ender)) {
                Some((_, newest)) => *newest = newest.zip(still).map(|(one, other)| one.max(other)),
                None => connections.push((&taken.ender, still)),
            }
        }
        let still = connections.into_iter().filter_map(|(ender, since)| Some((ender, since?)));
        let (ender, since) = still.min_by_key(|(_, since)| *since)?;
        if now.duration_since(since) < self.grace {
            return None;
        }
        let ender = ender.clone();
        places.states.retain(|_, taken| !taken.ender.is(&ender));
        ender.end();
        Some(ender)
    }

    /// Frees the places of a connection that has to end.
    pub(super) fn free(&self, ender: &EndSender) {
        self.lock().states.retain(|_, taken| !taken.ender.is(ender));
    }

    /// Ends the connections with a place that has been stalled for too long.
    pub(super) fn end_still(&self, longest: Duration) {
        self.end_still_at(Instant::now(), longest);
    }

    fn end_still_at(&self, now: Instant, longest: Duration) {
        self.lock().states.retain(|_, taken| {
            let too_long = taken.earliest_stall().is_some_and(|since| now.duration_since(since) >= longest);
            if too_long {
                taken.ender.end();
            }
            !too_long
        });
    }

    /// Returns how many places are taken.
    pub(super) fn occupied_places(&self) -> usize {
        self.lock().states.len()
    }
}

/// A place that is taken until this is dropped.
#[derive(Debug)]
pub(super) struct ConnectionPlace {
    roster: Roster,
    id: u64,
}

impl ConnectionPlace {
    /// Returns the number of the place, which is never reused.
    pub(super) fn id(&self) -> u64 {
        self.id
    }

    /// Marks a side as stalled from now on, unless it is already.
    pub(super) fn stand(&self, side: Side) {
        if let Some(taken) = self.roster.lock().states.get_mut(&self.id) {
            taken.stalled_since[side as usize].get_or_insert_with(Instant::now);
        }
    }

    /// Marks a side as active.
    pub(super) fn move_on(&self, side: Side) {
        if let Some(taken) = self.roster.lock().states.get_mut(&self.id) {
            taken.stalled_since[side as usize] = None;
        }
    }
}

impl Drop for ConnectionPlace {
    fn drop(&mut self) {
        self.roster.lock().states.remove(&self.id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GRACE: Duration = Duration::from_hours(1);

    #[tokio::test]
    async fn who_stands_still_for_longest_makes_room_after_the_grace() {
        let roster = Roster::new(2, GRACE);
        let (first, second) = (EndSender::new(), EndSender::new());
        let one = roster.take(&first).expect("room");
        let two = roster.take(&second).expect("room");
        let now = Instant::now();
        assert!(roster.take_at(now, &EndSender::new()).is_none(), "both came just now");
        one.move_on(Side::Incoming);
        let three = roster.take_at(now + GRACE, &EndSender::new()).expect("the second stands still");
        second.wait_for_end().await;
        assert!(!*first.0.borrow());
        assert_eq!(roster.occupied_places(), 2);
        drop((one, two, three));
        assert_eq!(roster.occupied_places(), 0);
    }

    #[tokio::test]
    async fn a_connection_with_many_places_makes_room_before_one_with_few() {
        let roster = Roster::new(3, GRACE);
        let (few, many) = (EndSender::new(), EndSender::new());
        let seats = [roster.take(&few), roster.take(&many), roster.take(&many)];
        assert!(seats.iter().all(Option::is_some));
        let later = Instant::now() + GRACE;
        assert!(roster.take_at(later, &EndSender::new()).is_some());
        many.wait_for_end().await;
        assert!(!*few.0.borrow());
    }

    #[tokio::test]
    async fn a_crowd_that_came_just_now_makes_room_at_once() {
        let roster = Roster::new(100, GRACE);
        let (crowd, other) = (EndSender::new(), EndSender::new());
        let mut seats: Vec<_> = (0..9).map(|_| roster.take(&crowd).expect("room")).collect();
        seats.extend((0..91).map(|number| {
            let seat = roster.take(&if number < 8 { other.clone() } else { EndSender::new() }).expect("room");
            if number >= 8 {
                seat.move_on(Side::Incoming);
            }
            seat
        }));
        let now = Instant::now();
        seats.push(
            roster.take_at(now, &EndSender::new()).expect("nine of one that all stand still are a crowd"),
        );
        crowd.wait_for_end().await;
        assert!(!*other.0.borrow());
        assert!(roster.take_at(now, &EndSender::new()).is_none(), "eight are none");
    }

    #[tokio::test]
    async fn a_connection_with_a_place_that_moves_is_not_the_stillest() {
        let roster = Roster::new(8, GRACE);
        let (one, two) = (EndSender::new(), EndSender::new());
        let seats = [&one, &one, &two].map(|ender| roster.take(ender).expect("room"));
        seats[0].move_on(Side::Incoming);
        let later = Instant::now() + GRACE;
        assert!(roster.longest_idle_at(Instant::now()).is_none(), "all came just now");
        assert!(roster.longest_idle_at(later).is_some_and(|ender| ender.is(&two)));
        assert!(roster.longest_idle_at(later).is_none(), "the other has a place that moves");
        assert_eq!(roster.occupied_places(), 2);
        roster.free(&one);
        assert_eq!(roster.occupied_places(), 0);
    }

    #[tokio::test]
    async fn who_moves_keeps_a_place() {
        let roster = Roster::new(1, GRACE);
        let seat = roster.take(&EndSender::new()).expect("room");
        seat.move_on(Side::Incoming);
        let later = Instant::now() + GRACE * 100;
        roster.end_still_at(later, GRACE);
        assert!(roster.take_at(later, &EndSender::new()).is_none());
        seat.stand(Side::Outgoing);
        roster.end_still_at(later, GRACE);
        assert_eq!(roster.occupied_places(), 0);
    }
}
