//! Designs as text for people.
//!
//! In: designs. Out: a head, then a few lines for each. Invariants: a line is at most 100 characters wide for names of the catalogue, unless it
//! quotes a message of the checks.

use std::fmt::Write as _;

use closc_diagnostics::figures::number;

use super::{Designs, Row, TierRow};

/// Returns the text.
pub(in crate::commands) fn page(found: &Designs) -> String {
    let mut text = format!(
        "{} designs meet the need; no other beats {} of them. The first {}:\n",
        number(found.compared as u64),
        number(found.front as u64),
        found.designs.len()
    );
    for (index, row) in found.designs.iter().enumerate() {
        let _ = writeln!(text, "\n{:>2}  {}", index + 1, title(row));
        for (name, tier) in ["t0", "t1", "t2"].iter().zip(&row.tiers) {
            let TierRow { platform, switches, cages_used, cages } = tier;
            let count = number((*switches).into());
            let _ =
                writeln!(text, "    {name}  {count:>6} x {platform:<26} {cages_used} of {cages} cages used");
        }
        body(&mut text, row);
    }
    let fewest =
        found.fewest_switches.iter().map(|(word, count)| format!("{word} {}", number((*count).into())));
    let _ = writeln!(text, "\nFewest switches: {}.", fewest.collect::<Vec<_>>().join(", "));
    if found.unpriced > 0 {
        let _ = writeln!(text, "{} designs have an item without a price.", number(found.unpriced as u64));
    }
    if found.unchecked {
        text.push_str("Not every design was checked: designs may be missing. Name `--platform`, `--planes` or `--routing`.\n");
    }
    text.push_str("Power is not compared: the catalogue has no published figure for every switch.\n");
    text
}

/// Returns a design in a line.
pub(in crate::commands) fn title(row: &Row) -> String {
    format!(
        "{} switches, {} plane{} of {}, {} tiers, {} with {}, qos {}",
        number(row.switches.into()),
        row.planes,
        if row.planes == 1 { "" } else { "s" },
        row.port_speed,
        row.tiers.len(),
        row.os,
        row.routing,
        row.qos
    )
}

fn body(text: &mut String, row: &Row) {
    let _ = writeln!(
        text,
        "    cables: {} to NICs, {} between switches in {} cages; {} oversubscription",
        number(row.cables_nic),
        number(row.cables_switch),
        number(row.modules),
        row.oversubscription
    );
    let _ = writeln!(
        text,
        "    a failed T0 costs a NIC {}, a failed T1 {}; {} switches on the longest path",
        percent(row.t0_loss_percent),
        percent(row.t1_loss_percent),
        row.hops
    );
    let cost = row.cost.map(|cost| format!("; cost {}", number(cost))).unwrap_or_default();
    let _ = writeln!(
        text,
        "    {} NIC places, {} without moving a cable{cost}",
        number(row.places.into()),
        number(row.largest.into())
    );
    for fault in &row.known_faults {
        let _ = writeln!(text, "    known fault: {fault}");
    }
    if let Some(assumed) = &row.assumed {
        let _ = writeln!(text, "    assumed limit exceeded: {assumed}");
    }
}

fn percent(value: f64) -> String {
    let text = format!("{value:.2}");
    format!("{} %", text.trim_end_matches('0').trim_end_matches('.'))
}
