//! Checks that walking every path gives the same results as the proof by composition.

use super::choices::ChoiceWalk;
use super::exhaustive::WalkCounts;
use crate::finding::{Findings, Violation};
use crate::model::place::Place;
use crate::proof::chosen::counts::DeliveryCounts;
use crate::proof::count::PathCounts;
use crate::rules::delivery::{AGREE, LOST};

/// Compares the results of walking with the proof.
pub(crate) fn agree(paths: &PathCounts, walk: &WalkCounts, findings: &mut Findings) {
    let same = (paths.named, paths.arrive, paths.in_use) == (walk.walked, walk.arrive, walk.in_use);
    findings.expect(same && walk.astray == 0, &AGREE, || {
        let message = format!(
            "by walking, {} of {} paths arrive, {} are in use and {} reach the wrong NIC; by composition, {} \
             of {} arrive and {} are in use",
            walk.arrive, walk.walked, walk.in_use, walk.astray, paths.arrive, paths.named, paths.in_use
        );
        Violation::new(&AGREE, Place::file(closc_artefacts::paths::MANIFEST), message)
    });
    // Lost paths were reported with their causes, so the walk must not find further ones.
    findings.count_facts(&LOST, u64::try_from(walk.walked).unwrap_or(u64::MAX));
    if walk.lost > 0 && findings.is_clean() {
        let message = format!("by walking, {} paths do not arrive and are not denied", walk.lost);
        findings.report(Violation::new(&LOST, Place::file(closc_artefacts::paths::MANIFEST), message));
    }
}

/// Compares the results of walking with the proof, where switches choose the path.
pub(crate) fn agree_on_choices(counts: &DeliveryCounts, walk: &ChoiceWalk, findings: &mut Findings) {
    let same = (counts.deliveries, counts.arrive, counts.doubtful, counts.ways, counts.tried)
        == (walk.deliveries, walk.arrive, walk.doubtful, walk.ways, walk.tried);
    findings.expect(same, &AGREE, || {
        let message = format!(
            "by walking {} of {} deliveries arrive by every choice and {} by some, over {} of {} ways; by composition {} \
             of {} and {}, over {} of {}",
            walk.arrive,
            walk.deliveries,
            walk.doubtful,
            walk.ways,
            walk.tried,
            counts.arrive,
            counts.deliveries,
            counts.doubtful,
            counts.ways,
            counts.tried
        );
        Violation::new(&AGREE, Place::file(closc_artefacts::paths::MANIFEST), message)
    });
}
