//! V12: switches of different tiers use different hash seeds.

use std::collections::BTreeMap;

use crate::finding::{Findings, Violation};
use crate::model::cabling::SwitchId;
use crate::model::fabric::Fabric;
use crate::model::fact::FactKind;
use crate::model::segment::Tier;
use crate::rules::hash::SEED;

/// Checks the seeds of all tiers.
pub(crate) fn check(fabric: &Fabric, findings: &mut Findings) {
    let mut tiers: BTreeMap<Tier, BTreeMap<Option<u8>, Vec<SwitchId>>> = BTreeMap::new();
    for id in fabric.cabling.switch_ids() {
        let Some(switch) = fabric.switch(id) else { continue };
        let Some(seed) = switch.language.seed else { continue };
        let Some(tier) = switch.tier else { continue };
        findings.count_facts(&SEED, 1);
        let seed = switch.kind.as_deref().and_then(seed);
        tiers.entry(tier).or_default().entry(seed).or_default().push(id);
    }
    // The seed of most switches of a tier is the intended one.
    let mut meant: Vec<(Tier, u8, SwitchId)> = Vec::new();
    for (tier, seeds) in &tiers {
        let most = seeds.iter().filter(|(seed, _)| seed.is_some()).max_by_key(|(_, ids)| ids.len());
        let model = most.and_then(|(seed, ids)| Some(((*seed)?, *ids.first()?)));
        if let Some((seed, _)) = model {
            findings.record_common_value(&SEED, format_args!("seed of {tier}s"), &seed);
        }
        meant.extend(model.map(|(seed, id)| (*tier, seed, id)));
        for id in seeds
            .iter()
            .filter(|(seed, _)| seed.is_none() || **seed != model.map(|model| model.0))
            .flat_map(|(_, ids)| ids)
        {
            odd(fabric, *tier, *id, findings);
        }
    }
    for (at, (tier, seed, id)) in meant.iter().enumerate() {
        for (other, same, with) in &meant[..at] {
            findings.expect(seed != same, &SEED, || {
                let message = format!("{other}s and {tier}s are of types with the same seed, {seed}");
                let place = |id| fabric.place(id, FactKind::Device);
                Violation::new(&SEED, place(*id), message).and(place(*with))
            });
        }
    }
}

fn odd(fabric: &Fabric, tier: Tier, id: SwitchId, findings: &mut Findings) {
    let kind = fabric.switch(id).and_then(|switch| switch.kind.clone()).unwrap_or_default();
    let message = format!(
        "`{}` has type `{kind}`, which gives a seed that differs from other {tier}s",
        fabric.cabling.switch(id)
    );
    findings.report(Violation::new(&SEED, fabric.place(id, FactKind::Device), message));
}
