//! Compares look-ups with a linear search over all entries, with random keys.

use super::*;
use crate::program::{Field, KeyField, KeySource, MatchKind, TableKind};
use crate::state::Random;

fn table(matching: TableMatch, kinds: &[(MatchKind, u32)]) -> program::Table {
    let field =
        Field { word: 0, words: 1, signed: false, saturating: false, bits: 8, length: None, header: 0 };
    let mut word = 0;
    let key = kinds.iter().map(|(kind, bits)| {
        let words = crate::bits::words_for(*bits as usize) as u16;
        word += words;
        KeyField {
            name: String::new(),
            kind: *kind,
            source: KeySource::Field { field, valid: None },
            bits: *bits,
            word: word - words,
            words,
            mask: None,
        }
    });
    let key: Vec<KeyField> = key.collect();
    program::Table {
        name: "t".to_owned(),
        lookup: matching,
        kind: TableKind::Simple,
        key_words: word as usize,
        key,
        size: 1000,
        counters: false,
        ageing: false,
        meter: None,
        actions: Vec::new(),
        on_hit: None,
        on_miss: None,
        base_next: Node::End,
        default: None,
        entries: None,
    }
}

fn entry() -> Entry {
    Entry::new(ActionRef::Member(0), 0)
}

/// A linear search: an independent implementation of the match kinds.
fn plain(table: &program::Table, state: &Table, key: &[u64]) -> Option<u32> {
    let covers = |handle: &u32| {
        let k = state.key(*handle);
        table.key.iter().all(|field| {
            let words = field.word as usize..(field.word + field.words) as usize;
            let number = |all: &[u64]| crate::bits::to_big(&all[words.clone()]);
            match (field.kind, table.lookup) {
                (MatchKind::Range, _) => (number(&k.value)..=number(&k.mask)).contains(&number(key)),
                (MatchKind::Lpm, TableMatch::Lpm) => {
                    let shift = field.bits - k.prefix;
                    number(&k.value) >> shift == number(key) >> shift
                }
                (_, TableMatch::Ternary | TableMatch::Range) => {
                    number(&k.value) == number(key) & number(&k.mask)
                }
                (_, TableMatch::Exact | TableMatch::Lpm) => number(&k.value) == number(key),
            }
        })
    };
    let rank = |handle: &u32| {
        let k = state.key(*handle);
        (k.priority, std::cmp::Reverse(k.prefix), *handle)
    };
    state.handles().filter(covers).min_by_key(rank)
}

/// Inserts, removes and looks up at random, and compares each look-up with the linear search.
fn compare(
    table: &program::Table,
    seed: u64,
    make: impl Fn(&mut Random) -> Key,
    draw: impl Fn(&mut Random) -> Vec<u64>,
) {
    let (mut state, mut random) = (Table::new(table), Random::new(seed));
    let mut room = vec![0; table.key_words];
    for step in 0..500 {
        let mut key = make(&mut random);
        key.normalise(table);
        match state.find_exact(&key) {
            Some(handle) if random.draw() % 2 == 0 => assert!(state.remove(handle).is_ok()),
            Some(_) => assert_eq!(state.insert(&key, entry()), Err(TableError::Exists)),
            None => assert!(state.insert(&key, entry()).is_ok() || state.len() == 1000),
        }
        let packet = draw(&mut random);
        assert_eq!(state.find(&packet, &mut room), plain(table, &state, &packet), "seed {seed}, step {step}");
    }
    assert!(!state.is_empty());
}

#[test]
fn exact_lookup_agrees_with_a_plain_search() {
    let table = table(TableMatch::Exact, &[(MatchKind::Exact, 9), (MatchKind::Exact, 128)]);
    let draw = |r: &mut Random| vec![r.draw() % 4, r.draw() % 4, r.draw() % 4];
    compare(&table, 1, |r| Key { value: draw(r), ..Key::default() }, draw);
}

#[test]
fn lpm_lookup_agrees_with_a_plain_search() {
    let table = table(TableMatch::Lpm, &[(MatchKind::Exact, 2), (MatchKind::Lpm, 128)]);
    let draw = |r: &mut Random| vec![r.draw() % 2, (r.draw() % 2) << 63, r.draw() << 61];
    let make = |r: &mut Random| {
        let prefix = [0, 1, 2, 3, 64, 65, 128][r.draw() as usize % 7];
        let mask = [&[u64::MAX][..], &crate::program::prefix_mask(prefix, 128)].concat();
        Key { value: draw(r), mask, prefix, priority: 0 }
    };
    compare(&table, 2, make, draw);
}

#[test]
fn ternary_lookup_agrees_with_a_plain_search() {
    let table = table(TableMatch::Ternary, &[(MatchKind::Ternary, 8), (MatchKind::Exact, 70)]);
    let draw = |r: &mut Random| vec![r.draw() % 16, r.draw() % 2, r.draw() % 2];
    let make = |r: &mut Random| {
        let mask = vec![r.draw() % 16, u64::MAX, u64::MAX];
        Key { value: draw(r), mask, prefix: 0, priority: (r.draw() % 5) as i32 }
    };
    compare(&table, 3, make, draw);
}

#[test]
fn range_lookup_agrees_with_a_plain_search() {
    let table = table(TableMatch::Range, &[(MatchKind::Range, 70), (MatchKind::Ternary, 8)]);
    let draw = |r: &mut Random| vec![r.draw() % 16, r.draw() % 2, r.draw() % 4];
    let make = |r: &mut Random| {
        let (first, last) = (draw(r), draw(r));
        let low = (first[1], first[0]).min((last[1], last[0]));
        let high = (first[1], first[0]).max((last[1], last[0]));
        let mask = vec![high.1, high.0, r.draw() % 4];
        Key { value: vec![low.1, low.0, first[2]], mask, prefix: 0, priority: (r.draw() % 5) as i32 }
    };
    compare(&table, 4, make, draw);
}

#[test]
fn the_lowest_free_handle_is_given_out_next() {
    let table = table(TableMatch::Exact, &[(MatchKind::Exact, 8)]);
    let mut state = Table::new(&table);
    let key = |n| Key { value: vec![n], ..Key::default() };
    let handles: Vec<_> = (0..4).map(|n| state.insert(&key(n), entry())).collect();
    assert_eq!(handles, [Ok(0), Ok(1), Ok(2), Ok(3)]);
    assert!(state.remove(2).is_ok() && state.remove(1).is_ok());
    assert_eq!(state.remove(1).err(), Some(TableError::NotFound));
    assert_eq!(state.insert(&key(9), entry()), Ok(1));
    assert_eq!(state.len(), 3);
}

#[test]
fn a_full_table_and_one_without_key_refuse() {
    let mut spec = table(TableMatch::Exact, &[(MatchKind::Exact, 8)]);
    spec.size = 1;
    let mut state = Table::new(&spec);
    let key = |n| Key { value: vec![n], ..Key::default() };
    assert!(state.insert(&key(1), entry()).is_ok());
    assert_eq!(state.insert(&key(2), entry()), Err(TableError::Full(1)));
    let mut keyless = Table::new(&table(TableMatch::Exact, &[]));
    assert_eq!(keyless.insert(&Key::default(), entry()), Err(TableError::NoKey));
}
