//! V12: no two tiers hash alike.

use std::collections::BTreeMap;

use closc_diagnostics::Rule;

use crate::finding::{Findings, Violation};
use crate::model::cabling::SwitchId;
use crate::model::device::Os;
use crate::model::fabric::{About, Fabric};
use crate::model::segment::Tier;

/// Tiers have different seeds.
pub(crate) static SEED: Rule = Rule {
    code: "V1201",
    title: "two tiers of switches hash alike",
    what: "The `type` of SONiC switches, by which the image seeds its ECMP and LAG hashes (`ToRRouter` 0, \
           `LeafRouter` 10, any type with `SpineRouter` in it 25), is the same in a tier and gives another \
           seed in every tier.",
    why: "Two tiers of one seed choose alike: what the first sends to a switch of the second always leaves \
          that one by the same link, and half of the links stay empty.",
    example: "\"type\": \"LeafRouter\" on T0s and T1s",
    fix: "Compile again; a template overlay may not set the type.",
};

/// The family, in the order of codes.
pub(crate) const RULES: &[&Rule] = &[&SEED];

/// The seed of a type in SONiC's `switch.json.j2`.
fn seed(kind: &str) -> Option<u8> {
    match kind {
        "ToRRouter" => Some(0),
        "LeafRouter" => Some(10),
        kind if kind.contains("SpineRouter") => Some(25),
        _ => None,
    }
}

/// Checks the seeds of all tiers.
pub(crate) fn check(fabric: &Fabric, findings: &mut Findings) {
    let mut tiers: BTreeMap<Tier, BTreeMap<Option<u8>, Vec<SwitchId>>> = BTreeMap::new();
    for id in fabric.cabling.switch_ids() {
        let Some(switch) = fabric.switch(id).filter(|switch| switch.os == Os::Sonic) else { continue };
        let Some(tier) = switch.tier else { continue };
        findings.checked(&SEED, 1);
        let seed = switch.kind.as_deref().and_then(seed);
        tiers.entry(tier).or_default().entry(seed).or_default().push(id);
    }
    // What most switches of a tier have is what was meant.
    let mut meant: Vec<(Tier, u8, SwitchId)> = Vec::new();
    for (tier, seeds) in &tiers {
        let most = seeds.iter().filter(|(seed, _)| seed.is_some()).max_by_key(|(_, ids)| ids.len());
        let model = most.and_then(|(seed, ids)| Some(((*seed)?, *ids.first()?)));
        meant.extend(model.map(|(seed, id)| (*tier, seed, id)));
        for id in
            seeds.iter().filter(|(seed, _)| **seed != model.map(|model| model.0)).flat_map(|(_, ids)| ids)
        {
            odd(fabric, *tier, *id, findings);
        }
    }
    for (at, (tier, seed, id)) in meant.iter().enumerate() {
        for (other, same, with) in &meant[..at] {
            findings.expect(seed != same, &SEED, || {
                let message = format!("{other}s and {tier}s are of types with the same seed, {seed}");
                let place = |id| fabric.place(id, About::Device);
                Violation::new(&SEED, place(*id), message).and(place(*with))
            });
        }
    }
}

fn odd(fabric: &Fabric, tier: Tier, id: SwitchId, findings: &mut Findings) {
    let kind = fabric.switch(id).and_then(|switch| switch.kind.clone()).unwrap_or_default();
    let message = format!(
        "`{}` is of type `{kind}`, which gives another seed than other {tier}s have",
        fabric.cabling.switch(id)
    );
    findings.broken(Violation::new(&SEED, fabric.place(id, About::Device), message));
}
