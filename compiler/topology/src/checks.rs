//! Every rule of the language.
//!
//! In: what the loader met, and the resolved numbers of a document. Out: diagnostics. Always: one file a rule,
//! with what it checks, why, an example that breaks it and the fix; checks work on numbers and never walk
//! devices, so a fabric of any size is checked in the same time.

pub(crate) mod loader;

use closc_diagnostics::Rule;

/// Returns every rule of this crate, by code.
pub fn rules() -> Vec<&'static Rule> {
    loader::RULES.to_vec()
}

pub(crate) fn run(_: &crate::lower::Draft<'_>, _: &mut closc_diagnostics::Diagnostics) {}
