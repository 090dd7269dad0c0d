//! Interned names: port and device names occur millions of times, but only thousands are distinct.

use hashbrown::HashMap;
use smol_str::SmolStr;

/// An interned name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Name(u32);

/// All interned names.
#[derive(Debug, Clone, Default)]
pub(crate) struct Names {
    numbers: HashMap<SmolStr, Name>,
    texts: Vec<SmolStr>,
}

impl Names {
    /// Returns the number of a name; assigns one if it is new.
    pub(crate) fn intern(&mut self, text: &str) -> Name {
        if let Some(name) = self.numbers.get(text) {
            return *name;
        }
        let name = Name(u32::try_from(self.texts.len()).expect("a fabric has fewer than 2^32 names"));
        self.numbers.insert(SmolStr::from(text), name);
        self.texts.push(SmolStr::from(text));
        name
    }

    /// Returns the number of a name, if it has one.
    pub(crate) fn get(&self, text: &str) -> Option<Name> {
        self.numbers.get(text).copied()
    }

    /// Returns the text of a name.
    pub(crate) fn text(&self, name: Name) -> &str {
        &self.texts[name.0 as usize]
    }
}
