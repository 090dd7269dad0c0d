//! Numbers for names, on a switch whose program has numbers where the tree has text: BMv2 does not translate types.
//!
//! In: the names in the entries of one switch, by type. Out: a number for each, which depends only on the
//! name unless the numbers of two names collide. Invariants: within a type, equal names have equal numbers,
//! and different names have different numbers. The name of a port is its number in decimal. Of all other
//! names, only the empty one has the number 0.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use closc_runtime::value::encode_number;

use super::BindError;

/// Names by type, and later their numbers.
#[derive(Debug)]
pub(super) enum Numbers {
    /// Names are being collected: for each type the width of its narrowest field, and its names.
    Wanted(BTreeMap<Arc<str>, (u32, BTreeSet<Vec<u8>>)>),
    /// Every collected name has its number.
    Given(BTreeMap<Arc<str>, BTreeMap<Vec<u8>, u128>>),
}

impl Default for Numbers {
    fn default() -> Self {
        Numbers::Wanted(BTreeMap::new())
    }
}

impl Numbers {
    /// Replaces a name by its number, if it has one; otherwise records that it needs one of at most this many bits.
    pub(super) fn meet(&mut self, of: &Arc<str>, bits: u32, name: &mut Vec<u8>) {
        match self {
            Numbers::Wanted(types) => {
                let (least, names) = types.entry(Arc::clone(of)).or_insert((bits, BTreeSet::new()));
                *least = bits.min(*least);
                names.insert(name.clone());
            }
            Numbers::Given(types) => {
                if let Some(number) = types.get(of).and_then(|names| names.get(name)) {
                    *name = encode_number(*number);
                }
            }
        }
    }

    /// Assigns numbers to all collected names.
    pub(super) fn give(&mut self, is_port: impl Fn(&str) -> bool) -> Result<(), BindError> {
        let Numbers::Wanted(types) = self else { return Ok(()) };
        let mut given = BTreeMap::new();
        for (of, (bits, names)) in std::mem::take(types) {
            let numbers = if is_port(&of) {
                let number = |name: Vec<u8>| port(&name).map(|number| (name, number));
                names.into_iter().map(number).collect::<Result<_, _>>()?
            } else {
                assign_numbers(&of, bits, names)?
            };
            given.insert(of, numbers);
        }
        *self = Numbers::Given(given);
        Ok(())
    }
}

/// Parses the name of a port as a number.
pub(super) fn port(name: &[u8]) -> Result<u128, BindError> {
    let number = std::str::from_utf8(name).ok().and_then(|name| name.parse::<u32>().ok());
    let shown = || String::from_utf8_lossy(name).into_owned();
    number.map(u128::from).ok_or_else(|| BindError::NoPort { name: shown() })
}

/// Numbers names by their digests; on a collision the next free number is used.
fn assign_numbers(
    of: &str,
    bits: u32,
    names: BTreeSet<Vec<u8>>,
) -> Result<BTreeMap<Vec<u8>, u128>, BindError> {
    let most = (1u128 << bits.min(64)) - 1;
    let named = names.iter().filter(|name| !name.is_empty()).count();
    if named as u128 > most {
        return Err(BindError::TooManyNames { of: of.to_owned(), names: named, bits });
    }
    let mut taken = BTreeSet::new();
    let mut numbers = BTreeMap::new();
    for name in names {
        if name.is_empty() {
            numbers.insert(name, 0);
            continue;
        }
        let digest = blake3::hash(&name);
        let start = digest.as_bytes()[..8].iter().fold(0, |sum, byte| sum << 8 | u128::from(*byte));
        let mut number = start % most + 1;
        while !taken.insert(number) {
            number = number % most + 1;
        }
        numbers.insert(name, number);
    }
    Ok(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number_names(bits: u32, names: &[&str]) -> Result<Vec<u128>, BindError> {
        let (of, mut numbers) = (Arc::from("nexthop_id_t"), Numbers::default());
        for name in names {
            numbers.meet(&of, bits, &mut name.as_bytes().to_vec());
        }
        numbers.give(|_| false)?;
        let number = |name: &&str| {
            let mut value = name.as_bytes().to_vec();
            numbers.meet(&of, bits, &mut value);
            value.iter().fold(0, |sum, byte| sum << 8 | u128::from(*byte))
        };
        Ok(names.iter().map(number).collect())
    }

    #[test]
    fn every_name_has_a_number_of_its_own_and_the_empty_one_is_nothing() {
        let found = number_names(2, &["a", "b", "c", ""]).expect("three of two bits, and none");
        assert_eq!(BTreeSet::from_iter(&found), BTreeSet::from([&0, &1, &2, &3]), "{found:?}");
        assert_eq!(found[3], 0);
        let full = number_names(2, &["a", "b", "c", "d"]).expect_err("one too many");
        assert!(full.to_string().contains("`nexthop_id_t` has 4 names"), "{full}");
    }

    #[test]
    fn a_number_depends_on_its_name_alone_while_there_is_room() {
        let few = number_names(32, &["a", "b"]).expect("room");
        let more = number_names(32, &["0", "a", "aa", "b", "c"]).expect("room");
        assert_eq!([few[0], few[1]], [more[1], more[3]]);
    }

    #[test]
    fn a_port_is_the_number_that_it_says() {
        assert_eq!(port(b"17"), Ok(17));
        assert_eq!(
            port(b"Ethernet0").expect_err("no number").to_string(),
            "port `Ethernet0` is not a number"
        );
    }
}
