//! V0109: the manifest counts what the tree has.

use crate::finding::{Findings, Violation};
use crate::model::cabling::Kind;
use crate::model::fabric::Fabric;
use crate::model::place::Place;
use crate::model::segment::Tier;
use crate::model::stated::Counts;
use crate::rules::files::COUNTS;

/// Compares numbers.
pub(crate) fn check(stated: &Counts, fabric: &Fabric, findings: &mut Findings) {
    // A manifest that counts nothing was written before there was a tree.
    if *stated == Counts::default() {
        return;
    }
    let cables = &fabric.cabling.cables;
    let of_tier = |tier| fabric.switches.iter().flatten().filter(|switch| switch.tier == Some(tier)).count();
    let hosts = cables.iter().filter(|cable| cable.kind == Kind::NicT0).count();
    // Switches without a cable have no tier.
    let all = fabric.switches.iter().flatten().all(|switch| switch.tier.is_some());
    // Every plane has a list, also one that exceptions leave without a cable.
    let planes = fabric.cabling.lists.len();
    let tables = !fabric.groups.is_empty();
    let nics: usize = fabric.groups.iter().map(|group| group.nics.len()).sum();
    let numbers = [
        ("planes", Some(stated.planes), planes),
        ("nics", tables.then_some(stated.nics), nics),
        ("t0", all.then_some(stated.t0), of_tier(Tier::T0)),
        ("t1", all.then_some(stated.t1), of_tier(Tier::T1)),
        ("t2", all.then_some(stated.t2), of_tier(Tier::T2)),
        ("host_links", Some(stated.host_links), hosts),
        ("fabric_links", Some(stated.fabric_links), cables.len() - hosts),
    ];
    for (name, meant, found) in numbers {
        let Some(meant) = meant else { continue };
        findings.expect(meant == found as u64, &COUNTS, || {
            let place = Place::text(
                closc_artefacts::paths::MANIFEST,
                vec!["\"counts\":".to_owned(), format!("\"{name}\":")],
            );
            Violation::new(&COUNTS, place, format!("`{name}` is {meant}, and the tree has {found}"))
        });
    }
}
