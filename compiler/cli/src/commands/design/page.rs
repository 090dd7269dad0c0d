//! Designs as text for a terminal.
//!
//! In: designs. Out: a heading, then a few lines per design. Invariants: with names of the catalogue, a line has at
//! most 110 characters, unless it quotes a message of the checks.

use std::fmt::Write as _;

use closc_diagnostics::figures::{format_count, number};

use super::columns::share;
use super::row::{PowerRow, Row, TierRow};
use super::{Designs, RoutingRow};

/// Maximum length of a line without its indentation.
const LINE_MAX: usize = 106;

/// Title of the comparison of routings.
pub(super) const BY_ROUTING: &str = "Fewest switches by routing";

/// Returns the text.
pub(in crate::commands) fn page(found: &Designs) -> String {
    let mut text = head(found) + "\n";
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
    let _ = writeln!(text, "\n{BY_ROUTING}:");
    for routing in &found.routings {
        text.push_str(&self::routing(routing));
    }
    for remark in omissions(found).into_iter().chain(assumed_lengths(found)) {
        let _ = writeln!(text, "{remark}");
    }
    text
}

/// Returns the assumed lengths of cables, if the designs have hardware switches.
pub(super) fn assumed_lengths(found: &Designs) -> Option<String> {
    let kinds = found.designs.iter().flat_map(|row| &row.cables).filter(|kind| kind.medium != "virtual");
    let mut lengths: Vec<String> = Vec::new();
    for kind in kinds {
        let option = if kind.ends == "nic-t0" { " (`--nic-cable`)" } else { "" };
        let length = format!("{} {}{option}", kind.ends, kind.length);
        if !lengths.contains(&length) {
            lengths.push(length);
        }
    }
    (!lengths.is_empty()).then(|| {
        let lengths = lengths.join(", ");
        format!("Assumed cable lengths: {lengths}. `closc place` computes them.")
    })
}

/// Returns how many designs are not compared, and why.
pub(super) fn omissions(found: &Designs) -> Vec<String> {
    let lacking = |count: usize, what: &str| {
        let has = if count == 1 { "has" } else { "have" };
        (count > 0).then(|| format!("{} {has} {what}.", format_count(count as u64, "design")))
    };
    let unpriced = lacking(found.unpriced, "an item without a price");
    let unpublished = lacking(found.unpublished, "a switch or module without published power");
    let unchecked = found.unchecked.then(|| {
        "Not every design was checked: designs may be missing. Name `--platform`, `--planes` or `--routing`."
            .to_owned()
    });
    unpriced.into_iter().chain(unpublished).chain(unchecked).collect()
}

/// Returns how many designs there are, as the start of a list.
fn head(found: &Designs) -> String {
    let counts = counts(found);
    match (found.front, found.designs.len()) {
        (front, shown) if front == shown => format!("{counts}:"),
        (_, 1) => format!("{counts}. The first:"),
        (_, shown) => format!("{counts}. The first {shown}:"),
    }
}

/// Returns how many designs there are and are listed, as sentences.
pub(super) fn sentences(found: &Designs) -> String {
    let counts = counts(found);
    match (found.front, found.designs.len()) {
        (front, shown) if front == shown => format!("{counts}."),
        (_, 1) => format!("{counts}. The first is listed."),
        (_, shown) => format!("{counts}. The first {shown} are listed."),
    }
}

fn counts(found: &Designs) -> String {
    let designs = format_count(found.compared as u64, "design");
    format!("{designs} compared; no other beats {} of them", number(found.front as u64))
}

/// Returns a design as one line.
pub(in crate::commands) fn title(row: &Row) -> String {
    format!(
        "{}, {} of {}{}, {}, {} with {}, qos {}",
        format_count(row.switches.into(), "switch"),
        format_count(row.planes.into(), "plane"),
        row.port_speed,
        if row.planes_by_nic == 1 { String::new() } else { format!(" x {} by NIC", row.planes_by_nic) },
        format_count(row.tiers.len() as u64, "tier"),
        row.os,
        row.routing,
        row.qos
    )
}

/// Returns the weaknesses, assumptions and known faults of a design.
pub(super) fn notes(row: &Row) -> Vec<String> {
    let weaknesses = row.weaknesses.iter().map(|weakness| format!("accepted: {weakness}"));
    let release = row.release.iter().map(|release| format!("release: {release}"));
    let faults = row.known_faults.iter().map(|fault| format!("known fault: {fault}"));
    let assumed = row.assumed.iter().map(|assumed| format!("assumed limit exceeded: {assumed}"));
    let by_nic = (row.planes_by_nic > 1).then(|| {
        format!(
            "nodes carry traffic between the {} planes by NIC: switches do not join them",
            row.planes_by_nic
        )
    });
    let unused = row.mostly_unused.then(|| {
        let above = row.tiers.iter().enumerate().skip(1);
        let above = above.filter(|(_, tier)| tier.cages_used * 2 < tier.cages);
        let above = above.map(|(tier, TierRow { cages_used, cages, .. })| {
            format!("a T{tier} leaves {} of {cages} cages unused", cages - cages_used)
        });
        let above: Vec<String> = above.collect();
        above.join(", ")
    });
    let unused = unused.filter(|unused| !unused.is_empty());
    let lanes = row.unequal_lanes.iter().map(|lanes| format!("modules: {lanes}"));
    let crossed = row.crossed_copper.iter().map(|crossed| format!("cables: {crossed}"));
    let free = u64::from(row.places) - row.cables_nic / u64::from(row.planes.max(1));
    let free = (free > 0).then(|| {
        format!(
            "{} stay free: `check` and `export order` count a NIC in each",
            format_count(free, "NIC place")
        )
    });
    let weak = by_nic.into_iter().chain(free).chain(unused).chain(weaknesses).chain(lanes).chain(crossed);
    weak.chain(release).chain(faults).chain(assumed).collect()
}

fn body(text: &mut String, row: &Row) {
    let mut line = |line: String| {
        let _ = writeln!(text, "    {line}");
    };
    let between = match row.cables_switch {
        0 => "none between switches".to_owned(),
        cables => format!(
            "{} between switches in {} cages; {} oversubscription",
            number(cables),
            number(row.modules),
            row.oversubscription
        ),
    };
    line(format!("cables: {} to NICs, {between}", number(row.cables_nic)));
    wrap_items("parts: ", &parts(row)).into_iter().for_each(&mut line);
    line(format!(
        "bisection {} Gb/s; {} between far NICs over {}, {} ns round trip when empty",
        number(row.bisection_gbps),
        format_count(row.paths, "path"),
        format_count(row.hops.into(), "switch"),
        number(row.base_rtt_ns)
    ));
    if row.cables_switch > 0 {
        let zone = row.paths_zone.map_or(String::new(), |paths| format!(", {} in one zone", number(paths)));
        line(format!("near NICs: {} on one T0{zone}", format_count(row.paths_local, "path")));
    }
    wrap_items("a failure costs a NIC: ", &losses(row)).into_iter().for_each(&mut line);
    line(power(&row.power));
    let units = row.rack_units.map_or_else(
        || format!("height of {} not published", row.rack_units_unpublished.join(", ")),
        |units| {
            let racks = row
                .racks_least
                .map_or(String::new(), |racks| format!(", {} of 42", format_count(racks, "rack")));
            format!("{} of switches{racks}", format_count(units, "rack unit"))
        },
    );
    let cost = row.cost.map(|cost| format!("; cost {}", number(cost))).unwrap_or_default();
    line(format!(
        "{} NIC places, {} without moving a cable; {units}{cost}",
        number(row.places.into()),
        number(row.largest.into())
    ));
    stages(row).into_iter().for_each(&mut line);
    notes(row).into_iter().for_each(line);
}

/// Returns a line for each stage.
pub(super) fn stages(row: &Row) -> Vec<String> {
    let heading =
        (!row.stages.is_empty()).then(|| format!("The numbers above are those of stage {}.", row.stage));
    let stages = row.stages.iter().enumerate().flat_map(|(at, stage)| {
        let moves = match stage.cables_moved {
            0 => "no plugged cable moves".to_owned(),
            1 => "1 plugged cable is moved or removed".to_owned(),
            moved => format!("{} plugged cables are moved or removed", number(moved)),
        };
        let counts = format!(
            "stage {}: {} NIC places, {} (+{}), +{} cables between switches, {moves}{}",
            at + 1,
            number(stage.places.into()),
            format_count(stage.switches.into(), "switch"),
            number(stage.switches_added.into()),
            number(stage.cables_switch_added),
            if stage.renumbers { "; names or addresses change" } else { "" }
        );
        let power = stage.typical_watts.map(|watts| format!(", typical power {} W", number(watts)));
        let cost = stage.cost.map(|cost| format!(", cost {}", number(cost)));
        let totals = format!(
            "         capacity {} Gb/s, bisection {} Gb/s{}{}",
            number(stage.capacity_gbps),
            number(stage.bisection_gbps),
            power.unwrap_or_default(),
            cost.unwrap_or_default()
        );
        [counts, totals]
    });
    heading.into_iter().chain(stages).collect()
}

/// Returns the loss caused by one failure of each kind.
fn losses(row: &Row) -> Vec<String> {
    let losses = [
        ("its cable or T0", Some(row.t0_loss_percent)),
        ("a T0-T1 cable", row.uplink_loss_percent),
        ("a module of T0 uplinks", row.uplink_module_loss_percent),
        ("a T1", row.t1_loss_percent),
        ("a T1-T2 cable", row.t1_uplink_loss_percent),
        ("a T2", row.t2_loss_percent),
    ];
    losses.into_iter().filter_map(|(part, loss)| Some(format!("{part} {} %", share(loss?)))).collect()
}

/// Returns cables and modules by kind.
fn parts(row: &Row) -> Vec<String> {
    let cables =
        row.cables.iter().map(|kind| format!("{} {} of {}", number(kind.count), kind.medium, kind.length));
    let optics = row.optics.iter().map(|optic| format!("{} modules {}", number(optic.count), optic.kind));
    cables.chain(optics).collect()
}

/// Returns the items after a title, wrapped into lines of at most 106 characters.
fn wrap_items(title: &str, items: &[String]) -> Vec<String> {
    let (mut lines, mut line) = (Vec::new(), title.to_owned());
    for (at, item) in items.iter().enumerate() {
        let separator = if at == 0 { "" } else { ", " };
        if line.chars().count() + separator.len() + item.chars().count() > LINE_MAX {
            line.push_str(separator.trim_end());
            lines.push(std::mem::replace(&mut line, " ".repeat(title.len()) + item));
        } else {
            line.push_str(separator);
            line.push_str(item);
        }
    }
    lines.push(line);
    lines
}

fn power(power: &PowerRow) -> String {
    let Some(typical) = power.typical_watts else {
        return format!("power not published for {}", power.typical_unpublished.join(", "));
    };
    let maximum = power.maximum_watts.map_or_else(
        || format!("no maximum published for {}", power.maximum_unpublished.join(", ")),
        |watts| format!("at most {} W", number(watts)),
    );
    format!("typical power {} W; {maximum}", number(typical))
}

fn routing(row: &RoutingRow) -> String {
    let mut text = format!("    {:<15} {}: {}\n", row.routing, fewest(row), row.how);
    let _ = writeln!(text, "{:20}+ {}", "", row.gains);
    for loses in &row.loses {
        let _ = writeln!(text, "{:20}- {loses}", "");
    }
    text
}

/// Returns the fewest switches with a routing, and the difference from the best routing.
pub(super) fn fewest(row: &RoutingRow) -> String {
    let fewest = number(row.fewest_switches.into());
    match row.more_switches {
        0 => fewest,
        more => format!("{fewest} ({} more)", number(more.into())),
    }
}
