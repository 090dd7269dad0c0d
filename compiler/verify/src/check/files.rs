//! V0106: device-wide settings are equal on all switches with the same language.

use std::collections::BTreeMap;
use std::collections::BTreeSet;

use crate::finding::{Findings, Violation};
use crate::model::cabling::SwitchId;
use crate::model::fabric::Fabric;
use crate::model::fact::FactKind;
use crate::model::language::Language;
use crate::model::switch::NamedValues;
use crate::rules::files::SAME;

/// Checks that device-wide settings equal those of the majority.
pub(crate) fn settings(fabric: &Fabric, findings: &mut Findings) {
    let mut votes: BTreeMap<(&'static Language, &NamedValues), Vec<SwitchId>> = BTreeMap::new();
    for id in fabric.cabling.switch_ids() {
        let Some(switch) = fabric.switch(id).filter(|switch| !switch.settings.is_empty()) else { continue };
        findings.count_facts(&SAME, 1);
        votes.entry((switch.language, &switch.settings)).or_default().push(id);
    }
    let languages: BTreeSet<&Language> = votes.keys().map(|(language, _)| *language).collect();
    for language in languages {
        let of_language = || votes.iter().filter(|((other, _), _)| *other == language);
        let Some((meant, _)) = of_language().max_by_key(|(_, ids)| ids.len()) else { continue };
        findings.record_common_value(&SAME, format_args!("settings of {}", language.name), meant.1);
        for ((_, settings), ids) in of_language().filter(|(key, _)| *key != meant) {
            let odd = settings.iter().find(|pair| !meant.1.contains(pair));
            let odd = odd.or_else(|| meant.1.iter().find(|pair| !settings.contains(pair)));
            let (name, value) = odd.map_or(("", ""), |(name, value)| (name.as_str(), value.as_str()));
            for id in ids {
                let message = format!(
                    "`{}`: `{name}` differs from most switches (`{value}`)",
                    fabric.cabling.switch(*id)
                );
                findings.report(Violation::new(&SAME, fabric.place(*id, FactKind::Global(name)), message));
            }
        }
    }
}
