//! Name patterns of a file.
//!
//! In: patterns. Out: the naming. Invariants: a broken pattern is recorded as a fault and replaced by the default, so
//! that other checks can continue.

use closc_diagnostics::Span;

use crate::coordinate::TierId;
use crate::document::NamingDoc;
use crate::naming::{Naming, Pattern, PatternError, Placeholder};
use crate::read::Spanned;

/// The naming of a draft.
#[derive(Debug, Clone)]
pub(crate) struct DraftNames {
    pub(crate) naming: Naming,
    /// Broken patterns: key, place and reason.
    pub(crate) faults: Vec<(&'static str, Span, PatternError)>,
}

impl DraftNames {
    /// Reads the patterns of a file.
    pub(super) fn new(doc: Option<&NamingDoc>, zoned: bool) -> Self {
        let mut names = DraftNames { naming: Naming::default_for(zoned), faults: Vec::new() };
        let doc = doc.cloned().unwrap_or_default();
        let tiers = [(TierId::T0, doc.t0), (TierId::T1, doc.t1), (TierId::T2, doc.t2)];
        for (tier, stated) in tiers {
            let allowed = if tier == TierId::T2 { Naming::SHARED } else { Naming::ZONED };
            if let Some(pattern) = names.read(tier.keyword(), stated, allowed) {
                names.naming = names.naming.clone().with_tier(tier, pattern);
            }
        }
        if let Some(pattern) = names.read("node", doc.node, Naming::NODE) {
            names.naming = names.naming.clone().with_node(pattern);
        }
        names
    }

    fn read(
        &mut self,
        key: &'static str,
        stated: Option<Spanned<smol_str::SmolStr>>,
        allowed: &[Placeholder],
    ) -> Option<Pattern> {
        let stated = stated?;
        match Pattern::parse(&stated.value, allowed) {
            Ok(pattern) => Some(pattern),
            Err(error) => {
                self.faults.push((key, stated.span, error));
                None
            }
        }
    }
}
