//! Checks that nothing is allocated after set-up.

#![allow(
    unsafe_code,
    reason = "an allocator that counts is unsafe to write; it hands everything to the system's"
)]

#[path = "it/common/mod.rs"]
mod common;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use closc_paths::{Scope, Table};
use closc_paths_engine::{Capacity, Denial, Engine, Reason, Settings};

use common::{Shape, nic, table};

thread_local! {
    static COUNT: Cell<u64> = const { Cell::new(0) };
}

struct CountingAllocator;

// SAFETY: every call is passed unchanged to the system's allocator.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.with(|count| count.set(count.get() + 1));
        // SAFETY: guaranteed by the caller.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: guaranteed by the caller.
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

#[test]
fn a_life_of_an_engine_allocates_nothing() {
    let bytes = table(&Shape { planes: 8, active: 16, backup: 16, min_active: 64, denied: Vec::new() });
    let table = Table::open(&bytes).unwrap();
    let capacity = Capacity { events: 64, ..Capacity::of(&table, 3) };
    let mut engine = Engine::new(&table, 0, Settings::default(), capacity).unwrap();
    let before = COUNT.with(Cell::get);
    for round in 0..6u64 {
        let paths = [engine.open(&table, nic(1, 0), round), engine.open(&table, nic(1, 1), round)];
        for path in paths.into_iter().flatten() {
            for n in 0..500u64 {
                let Some(pick) = engine.pick(path) else { continue };
                match n % 7 {
                    0 => engine.record_loss(path, pick.plane, pick.entropy, round + n),
                    1 => engine.record_congestion(path, pick.plane, pick.entropy),
                    2 => engine.record_miss(path, pick.plane, pick.entropy, round + n),
                    _ => engine.record_answer(path, pick.plane, pick.entropy, round + n),
                }
            }
        }
        let scope = Scope { uplinks: Some((3, 5)), ..Scope::default() };
        let denial = Denial { plane: None, scope, reason: Reason::Fault, until_ns: Some(round + 2) };
        let _ = engine.deny(denial, round);
        engine.set_local_port(2, round % 2 == 0);
        engine.fail_uplink(1, 4, round);
        engine.reload(&table, &table, round, |_| ()).unwrap();
        engine.tick(round);
        if round % 3 == 0 {
            while engine.next_event().is_some() {}
        }
        paths.into_iter().flatten().for_each(|path| engine.close(path));
    }
    assert_eq!(COUNT.with(Cell::get), before);
    assert!(engine.events_dropped() > 0, "the ring of events was never full, which is what has to be tried");
}
