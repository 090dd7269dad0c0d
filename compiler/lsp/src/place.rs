//! A place to which a request refers, with the parsed file.

use closc_compile::front;
use closc_fabric::Fabric;
use closc_plan::Plan;
use closc_platform::Catalogue;

use crate::language::Language;

/// A place in a text.
#[derive(Clone, Copy)]
pub(crate) struct Place<'a> {
    pub(crate) text: &'a str,
    pub(crate) offset: usize,
    pub(crate) language: &'a Language,
    /// The plan of the text, if it has no errors.
    pub(crate) plan: Option<&'a Plan>,
    pub(crate) catalogue: &'a Catalogue,
}

impl Place<'_> {
    /// Returns the fabric of the text. If the text has errors, its devices follow from the counts alone.
    pub(crate) fn fabric(&self) -> Option<Fabric> {
        match self.plan {
            Some(plan) => Some(plan.fabric().clone()),
            None => front::outline(self.text.as_bytes()),
        }
    }
}
