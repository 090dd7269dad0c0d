//! Names that controllers use for numbers of the data plane. Each name that an entity uses has a number.
//!
//! In: types of a pipeline that are translated from text; names; numbers that entities start and stop using.
//! Out: numbers, and their names. Units: numbers have at most 32 bits, depending on the data plane. Errors: a
//! name is too long, a name is not a port, or all numbers are in use. Invariants: different names have
//! different numbers. A name keeps its number as long as an entity uses it. The name of a port is its number
//! in decimal. Of all other names, only the empty string has the number 0. Unused names are forgotten.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use closc_runtime::value::{Width, encode_number};

use super::Fault;
use crate::pipeline::Texts;

/// Bytes of the longest name.
const MAX_NAME: usize = 256;

/// A number of a type, as an entity uses it.
pub(super) type Use = (Arc<str>, u32);

/// The numbers of one type.
#[derive(Debug)]
struct Space {
    port: bool,
    max_names: u32,
    numbers: HashMap<Box<[u8]>, u32>,
    /// Names by number, each with its number of uses.
    names: BTreeMap<u32, (Box<[u8]>, usize)>,
    /// Released numbers, and the lowest number that has never been used.
    free: Vec<u32>,
    next: u32,
}

/// The names of a switch.
#[derive(Debug)]
pub(super) struct Names {
    spaces: BTreeMap<Arc<str>, Space>,
    /// Possibly unused names, which are checked at the end of a batch.
    idle: Vec<Use>,
}

/// Parses a port: a decimal number without leading zeros.
fn port(name: &[u8], most: u32) -> Option<u32> {
    let text = std::str::from_utf8(name).ok()?;
    let plain = text.bytes().all(|byte| byte.is_ascii_digit()) && (text == "0" || !text.starts_with('0'));
    text.parse().ok().filter(|number| plain && *number <= most)
}

impl Space {
    fn find(&self, name: &[u8]) -> Option<u32> {
        if self.port { port(name, self.max_names) } else { self.numbers.get(name).copied() }
    }

    fn free_number(&mut self) -> Option<u32> {
        if let Some(number) = self.free.pop() {
            return Some(number);
        }
        while self.next <= self.max_names && self.next != 0 {
            let number = self.next;
            self.next = number.wrapping_add(1);
            if !self.names.contains_key(&number) {
                return Some(number);
            }
        }
        None
    }

    fn put(&mut self, name: &[u8], number: u32) {
        self.numbers.insert(name.into(), number);
        self.names.insert(number, (name.into(), 0));
    }
}

impl Names {
    /// Returns the initial names of a switch; `None` if the pipeline has no such types.
    pub(super) fn new(texts: &Texts) -> Option<Self> {
        let space = |text: crate::pipeline::TextType| {
            let most = if text.bits >= 32 { u32::MAX } else { (1 << text.bits) - 1 };
            let mut space = Space {
                port: text.port,
                max_names: most,
                numbers: HashMap::new(),
                names: BTreeMap::new(),
                free: Vec::new(),
                next: 1,
            };
            if !text.port {
                // The empty string is permanent.
                space.put(b"", 0);
                space.names.insert(0, (Box::default(), 1));
            }
            space
        };
        let spaces = texts.iter().map(|(name, text)| (Arc::clone(name), space(text)));
        (!texts.is_empty()).then(|| Self { spaces: spaces.collect(), idle: Vec::new() })
    }

    /// Reserves a number that the program itself uses, so that it is never assigned.
    pub(super) fn reserve(&mut self, (of, number): Use) {
        let Some(space) = self.spaces.get_mut(&of).filter(|space| !space.port) else { return };
        if !space.names.contains_key(&number) {
            space.put(number.to_string().as_bytes(), number);
        }
        if let Some((_, uses)) = space.names.get_mut(&number) {
            *uses += 1;
        }
    }

    /// Returns the number of a name, and assigns a new one if needed. Unless an entity starts to use it, it is removed
    /// at the end of the batch.
    pub(super) fn assign(&mut self, of: &Arc<str>, name: &[u8]) -> Result<u32, Fault> {
        let shown = || String::from_utf8_lossy(name).into_owned();
        let unknown = || Fault::unsupported(format!("type `{of}`, which the program does not have,"));
        let space = self.spaces.get_mut(of).ok_or_else(unknown)?;
        if let Some(number) = space.find(name) {
            return Ok(number);
        }
        if space.port {
            return Err(Fault::NoSuchPort { name: shown(), max_port: space.max_names });
        }
        if name.len() > MAX_NAME {
            return Err(Fault::LongName { bytes: name.len(), max_bytes: MAX_NAME });
        }
        let full = Fault::NamesFull { of: of.to_string(), max_names: space.max_names };
        let number = space.free_number().ok_or(full)?;
        space.put(name, number);
        self.idle.push((Arc::clone(of), number));
        Ok(number)
    }

    /// Returns the number of a name, if it has one.
    pub(super) fn find(&self, of: &str, name: &[u8]) -> Option<u32> {
        self.spaces.get(of)?.find(name)
    }

    /// Returns the name behind a number of the data plane, or its digits if it has none.
    pub(super) fn name(&self, of: &str, number: &[u8]) -> Vec<u8> {
        let Ok(number) = Width::Bits(128).decode(number) else { return number.to_vec() };
        let known = u32::try_from(number).ok().and_then(|number| self.spaces.get(of)?.names.get(&number));
        known.map_or_else(|| number.to_string().into_bytes(), |(name, _)| name.to_vec())
    }

    /// Counts new uses of numbers.
    pub(super) fn hold(&mut self, uses: &[Use]) {
        for (of, number) in uses {
            if let Some((_, uses)) = self.spaces.get_mut(of).and_then(|space| space.names.get_mut(number)) {
                *uses += 1;
            }
        }
    }

    /// Counts ended uses of numbers.
    pub(super) fn release(&mut self, uses: &[Use]) {
        for (of, number) in uses {
            let known = self.spaces.get_mut(of).and_then(|space| space.names.get_mut(number));
            if let Some((_, uses)) = known {
                *uses = uses.saturating_sub(1);
                if *uses == 0 {
                    self.idle.push((Arc::clone(of), *number));
                }
            }
        }
    }

    /// Removes unused names, once nothing can be rolled back any more.
    pub(super) fn settle(&mut self) {
        for (of, number) in self.idle.drain(..) {
            let Some(space) = self.spaces.get_mut(&of) else { continue };
            if space.names.get(&number).is_some_and(|(_, uses)| *uses == 0)
                && let Some((name, _)) = space.names.remove(&number)
            {
                space.numbers.remove(&name);
                space.free.push(number);
            }
        }
    }
}

/// Converts a number to the form of the data plane.
pub(super) fn number(value: u32) -> Vec<u8> {
    encode_number(value.into())
}
