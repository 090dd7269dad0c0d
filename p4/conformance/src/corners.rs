//! The corners: one rule of the specification each, with the steps that test it against a program with every kind of
//! object.
//!
//! Each corner tests one sentence of the specification. If that sentence allows several answers, each of them passes.
//! If a server lacks an optional feature, the corner is not applicable.

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

use crate::make::{EntityResult, Maker};
use crate::section::Section;
use crate::step::Step;

/// A test case for one rule of the specification.
pub(crate) struct Corner {
    pub(crate) section: Section,
    /// A stable name.
    pub(crate) id: &'static str,
    /// The rule.
    pub(crate) rule: &'static str,
    /// The steps, or the object that is missing in the program.
    pub(crate) steps: Result<Vec<Step>, String>,
}

/// Collects the corners.
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
        steps: impl FnOnce(Maker<'i>) -> EntityResult<Vec<Step>>,
    ) {
        let steps = steps(self.maker).map_err(|missing| missing.to_string());
        self.corners.push(Corner { section, id, rule, steps });
    }
}

/// Returns all corners in the order of the specification.
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
