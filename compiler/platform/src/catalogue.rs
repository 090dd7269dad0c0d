//! Platforms by name.
//!
//! In: the files built into the program and the ones a site adds. Out: [`Platform`]s by name. Always: names are
//! unique and listed in one order.

use std::collections::BTreeMap;
use std::sync::Arc;

use smol_str::SmolStr;

use crate::Platform;

/// Platforms by name.
#[derive(Debug, Clone, Default)]
pub struct Catalogue {
    platforms: BTreeMap<SmolStr, Arc<Platform>>,
}

impl Catalogue {
    /// Returns a platform by its name.
    pub fn get(&self, id: &str) -> Option<&Arc<Platform>> {
        self.platforms.get(id)
    }

    /// Returns the names in order.
    pub fn ids(&self) -> impl Iterator<Item = &str> {
        self.platforms.keys().map(SmolStr::as_str)
    }
}
