//! Static routes in a text that has one next hop per statement.
//!
//! In: pairs of prefix and next hop. Out: [`Route`]s in the order of their first statement. Invariants: all next hops
//! of a prefix belong to the same route, wherever they are in the text. A blackhole with a next hop is rejected.

use std::borrow::Cow;

use closc_artefacts::Prefix;
use hashbrown::HashMap;

use crate::model::device::{Hop, Route, Via};

/// Static routes in a text.
#[derive(Debug, Default)]
pub(crate) struct TextRoutes<'a> {
    pub(crate) list: Vec<Route<'a>>,
    /// Index of the route of each prefix.
    indices: HashMap<Prefix, usize>,
}

impl<'a> TextRoutes<'a> {
    /// Adds a next hop to the route of a prefix; without a next hop, adds a blackhole.
    pub(crate) fn add(&mut self, prefix: Prefix, text: Cow<'a, str>, hop: Option<Hop>) -> Result<(), String> {
        let foreign = hop.and_then(|hop| hop.gateway).filter(|gateway| gateway.family() != prefix.family());
        if let Some(gateway) = foreign {
            return Err(format!("`{text}` has the next hop {gateway}, which is of another family"));
        }
        let known = *self.indices.entry(prefix).or_insert(self.list.len());
        let Some(route) = self.list.get_mut(known) else {
            self.list.push(Route { prefix, text, via: hop.map_or(Via::Blackhole, Via::One) });
            return Ok(());
        };
        match (&mut route.via, hop) {
            (Via::One(first), Some(hop)) => route.via = Via::Many(vec![*first, hop]),
            (Via::Many(hops), Some(hop)) => hops.push(hop),
            (Via::Blackhole, None) => {}
            (Via::Blackhole, Some(_)) | (Via::One(_) | Via::Many(_), None) => {
                return Err(format!("`{text}` is a blackhole and uses a port"));
            }
        }
        Ok(())
    }
}
