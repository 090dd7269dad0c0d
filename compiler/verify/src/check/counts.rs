//! V0109: the counts in the manifest match the tree.

use closc_artefacts::manifest::StatedPart;
use closc_artefacts::paths::MANIFEST;

use crate::finding::{Findings, Violation};
use crate::model::cabling::Kind;
use crate::model::fabric::Fabric;
use crate::model::place::Place;
use crate::model::segment::Tier;
use crate::model::stated::Counts;
use crate::rules::files::COUNTS;

/// Compares the numbers of objects in the tree with the counts in the manifest.
pub(crate) fn check(
    (stated, absent_planes): (&Counts, usize),
    part: Option<&StatedPart>,
    fabric: &Fabric,
    findings: &mut Findings,
) {
    // A manifest may have no counts. For a slice, the part file contains its counts; the totals are compared when
    // slices are merged.
    let whole = fabric.slice.is_whole();
    if *stated == Counts::default() || !whole && part.is_none() {
        return;
    }
    let of_tier = |tier| fabric.switches.iter().flatten().filter(|switch| switch.tier == Some(tier)).count();
    let hosts = fabric.cabling.cables().filter(|cable| cable.kind == Kind::NicT0).count();
    // Switches without a cable have no tier.
    let all = fabric.switches.iter().flatten().all(|switch| switch.tier.is_some());
    // Every plane with a switch has a cable list, even if exceptions leave the plane without a cable.
    let planes = fabric.cabling.lists.len() + absent_planes;
    let tables = !fabric.groups.is_empty();
    let nics: usize = fabric.judged_groups().map(|group| group.nics.len()).sum();
    let tiers = part.map_or([stated.t0, stated.t1, stated.t2], |part| [part.t0, part.t1, part.t2]);
    let numbers = [
        ("planes", whole.then_some(stated.planes), planes),
        ("nics", tables.then_some(part.map_or(stated.nics, |part| part.nics)), nics),
        ("t0", all.then_some(tiers[0]), of_tier(Tier::T0)),
        ("t1", all.then_some(tiers[1]), of_tier(Tier::T1)),
        ("t2", all.then_some(tiers[2]), of_tier(Tier::T2)),
        ("host_links", whole.then_some(stated.host_links), hosts),
        ("fabric_links", whole.then_some(stated.fabric_links), fabric.cabling.cables().len() - hosts),
    ];
    for (name, meant, found) in numbers {
        let Some(meant) = meant else { continue };
        findings.expect(meant == found as u64, &COUNTS, || {
            let place = Place::text(
                MANIFEST,
                vec![if whole { "\"counts\":" } else { "\"part\":" }.to_owned(), format!("\"{name}\":")],
            );
            Violation::new(&COUNTS, place, format!("`{name}` is {meant}, but the tree has {found}"))
        });
    }
}
