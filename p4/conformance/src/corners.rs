//! The corners: what a section states, as steps against the program with one of everything.
//!
//! A corner is here once the specification has a sentence for it. Where that leaves a choice, each answer that it allows
//! passes, and an optional feature that a server does without makes the corner not applicable.

mod arbitration;
mod arrays;
mod calls;
mod format;
mod pipeline;
mod profiles;
mod replication;
mod stream;
mod tables;

use closc_runtime::Info;

use crate::make::{Made, Maker};
use crate::section::Section;
use crate::step::Step;

/// A corner.
pub(crate) struct Corner {
    pub(crate) section: Section,
    /// A name that stays.
    pub(crate) id: &'static str,
    /// The sentence.
    pub(crate) rule: &'static str,
    /// The steps, or the object that the program does not have.
    pub(crate) steps: Result<Vec<Step>, String>,
}

/// Gathers the corners of a section.
struct List<'i> {
    maker: Maker<'i>,
    corners: Vec<Corner>,
}

impl<'i> List<'i> {
    fn add(
        &mut self,
        section: Section,
        id: &'static str,
        rule: &'static str,
        steps: impl FnOnce(Maker<'i>) -> Made<Vec<Step>>,
    ) {
        let steps = steps(self.maker).map_err(|missing| missing.to_string());
        self.corners.push(Corner { section, id, rule, steps });
    }
}

/// Returns all corners in the order of the specification. The first of them need a device without a pipeline.
pub(crate) fn all(info: &Info) -> Vec<Corner> {
    let mut list = List { maker: Maker { info }, corners: Vec::new() };
    arbitration::add(&mut list);
    format::add(&mut list);
    tables::add(&mut list);
    profiles::add(&mut list);
    arrays::add(&mut list);
    replication::add(&mut list);
    calls::add(&mut list);
    pipeline::add(&mut list);
    stream::add(&mut list);
    list.corners
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use closc_runtime::text::read_p4info;

    use super::*;

    #[test]
    fn every_corner_has_a_name_of_its_own_and_steps_for_the_program() {
        let info = read_p4info(crate::program().0).expect("the program has a P4Info");
        let corners = all(&Info::new(info).expect("it is consistent"));
        let ids: BTreeSet<&str> = corners.iter().map(|corner| corner.id).collect();
        assert_eq!(ids.len(), corners.len(), "a name is there twice");
        for corner in &corners {
            assert!(corner.steps.as_ref().is_ok_and(|steps| !steps.is_empty()), "{}", corner.id);
        }
        let judged: BTreeSet<Section> = corners.iter().map(|corner| corner.section).collect();
        assert_eq!(judged.len(), Section::ALL.len(), "every section has a corner");
    }
}
