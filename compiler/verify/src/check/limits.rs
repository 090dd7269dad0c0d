//! V14: tables fit the hardware, if its limits are known.

use std::collections::{BTreeMap, BTreeSet};

use closc_platform::Hardware;

use crate::finding::{Findings, Violation};
use crate::model::fabric::Fabric;
use crate::model::fact::FactKind;
use crate::model::stated::StatedValues;
use crate::rules::limits::{FIT, HARDWARE};

/// Checks that the hardware of all switches is known and that their tables fit it.
pub(crate) fn check(
    fabric: &Fabric,
    known: &BTreeMap<String, Hardware>,
    stated: Option<&StatedValues>,
    findings: &mut Findings,
) {
    let stated: BTreeSet<&str> =
        stated.iter().flat_map(|stated| &stated.switches).map(|switch| switch.hardware.as_str()).collect();
    for id in fabric.cabling.switch_ids() {
        let Some(switch) = fabric.switch(id) else { continue };
        let Some(hardware) = switch.hardware.as_deref().filter(|_| !known.is_empty()) else { continue };
        let limit = known.get(hardware);
        // The fabric was compiled with a platform file of the site, which is not available here.
        if limit.is_none() && stated.contains(hardware) {
            findings.not_judged(&format!("the limits of `{hardware}` (add its platform with `--platforms`)"));
            continue;
        }
        findings.count_facts(&HARDWARE, 1);
        let Some(limit) = limit else {
            let message = format!("`{}` is of hardware `{hardware}`", fabric.cabling.switch(id));
            findings.report(Violation::new(&HARDWARE, fabric.place(id, FactKind::Settings), message));
            continue;
        };
        // Every cable needs a neighbour entry, static or resolved.
        let neighbours = switch.sizes.neighbours.max(switch.ends.len());
        let sizes = [
            ("own segments", switch.sizes.segments, limit.segments),
            ("routes", switch.sizes.routes, limit.routes),
            ("neighbours", neighbours, limit.neighbours),
        ];
        for (what, used, most) in sizes {
            findings.expect(used as u64 <= u64::from(most), &FIT, || {
                let message = format!(
                    "`{}` has {used} {what}, but its hardware supports {most}",
                    fabric.cabling.switch(id)
                );
                Violation::new(&FIT, fabric.place(id, FactKind::Device), message)
            });
        }
    }
}
