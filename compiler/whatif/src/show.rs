//! Reports as text.
//!
//! In: a report. Out: text. Invariants: the text contains the same figures as the JSON.

mod table;

use std::fmt::Write as _;

use closc_diagnostics::figures::{format_count, number, percent};

use crate::report::{
    AdapterCounts, Answer, Comparison, Cost, EachReport, FailedElements, RemainingCapacity, Spread, Trace,
    Trials,
};

/// Width of the longest bar, in characters.
const BAR: u64 = 40;

/// Maximum number of names per line.
const NAMES: usize = 4;

fn gbps(value: f64) -> String {
    let text = format!("{value:.1}");
    text.strip_suffix(".0").unwrap_or(&text).to_owned()
}

fn describe_failures(failed: &FailedElements) -> String {
    if failed.count == 0 {
        return "nothing fails".to_owned();
    }
    if failed.count <= NAMES {
        return format!("{} fail{}", failed.names.join(", "), if failed.count == 1 { "s" } else { "" });
    }
    let kinds: Vec<String> = failed
        .kinds
        .iter()
        .map(|(kind, count)| format!("{} {}", number(*count as u64), kind.keyword()))
        .collect();
    format!("{} fail", kinds.join(", "))
}

/// Writes the impact of one failure.
pub fn answer(answer: &Answer) -> String {
    let seed = answer.seed.map_or_else(String::new, |seed| format!(" (seed {seed})"));
    let mut out = format!("{}: {}{seed}\n", answer.fabric, describe_failures(&answer.failed));
    write_remaining(&mut out, &answer.left);
    out
}

/// Returns the form of a verb for a count.
fn verb(count: u64, one: &'static str, many: &'static str) -> &'static str {
    if count == 1 { one } else { many }
}

/// Formats a number of pairs as a percentage of all pairs.
fn part(left: &RemainingCapacity, pairs: u64) -> String {
    percent(pairs as f64 / (left.pairs as f64).max(1.0))
}

fn write_remaining(out: &mut String, left: &RemainingCapacity) {
    let _ = writeln!(
        out,
        "{} of NICs: {} ({}) {} paths, {} {} cut off{}",
        format_count(left.pairs, "pair"),
        number(left.pairs_touched),
        part(left, left.pairs_touched),
        verb(left.pairs_touched, "loses", "lose"),
        number(left.pairs_cut_off),
        verb(left.pairs_cut_off, "is", "are"),
        match left.pairs_cut_off - left.pairs_newly_cut_off {
            0 => String::new(),
            before if before == left.pairs_cut_off => {
                format!(", and {} before", verb(before, "was", "were"))
            }
            before => format!(", {} of them before", number(before)),
        },
    );
    if left.nics_cut_off > 0 {
        let shown: Vec<&str> = left.nics_cut_off_names.iter().take(NAMES).map(String::as_str).collect();
        let more = if left.nics_cut_off > shown.len() { ", ..." } else { "" };
        let _ = writeln!(
            out,
            "{} {} no other NIC{}: {}{more}",
            format_count(left.nics_cut_off as u64, "NIC"),
            verb(left.nics_cut_off as u64, "reaches", "reach"),
            match left.nodes_cut_off {
                0 => String::new(),
                nodes => format!(", among them all NICs of {}", format_count(nodes, "node")),
            },
            shown.join(", ")
        );
    }
    write_adapters(out, left);
    let row = |what: String, spread: &Spread, write: &dyn Fn(f64) -> String| {
        let values = [
            spread.minimum,
            spread.thousandth,
            spread.hundredth,
            spread.tenth,
            spread.median,
            spread.mean,
            spread.planned,
        ];
        [what].into_iter().chain(values.into_iter().map(write)).collect::<Vec<String>>()
    };
    let count = |value: f64| if value.fract() == 0.0 { number(value as u64) } else { format!("{value:.3}") };
    let mut rows = vec![
        row("Gb/s by share of paths".to_owned(), &left.gbps_loaded, &gbps),
        row("Gb/s, one pair sends".to_owned(), &left.gbps_alone, &gbps),
    ];
    for apart in &left.apart {
        rows.push(row(format!("{}s, {} pairs", apart.noun, apart.kind), &apart.paths, &count));
    }
    out.push_str(&table::draw(&["", "minimum", "0.1 %", "1 %", "10 %", "median", "mean", "planned"], &rows));
    shares(out, left);
    write_worst_pairs(out, left);
}

/// Writes the counts of adapters with several NICs, if a failure affects any of them or of their pairs.
fn write_adapters(out: &mut String, left: &RemainingCapacity) {
    let is_affected =
        |adapters: &AdapterCounts| adapters.cut_off + adapters.reduced > 0 || adapters.pairs_cut_off > 0;
    let Some(adapters) = left.adapters.filter(is_affected) else { return };
    let (cut_off, reduced) = (adapters.cut_off as u64, adapters.reduced as u64);
    let _ = writeln!(
        out,
        "{}: {} {} cut off, {} {} some of {} NICs; {} of {} {} cut off",
        format_count(adapters.all as u64, "adapter"),
        number(cut_off),
        verb(cut_off, "is", "are"),
        number(reduced),
        verb(reduced, "keeps", "keep"),
        verb(reduced, "its", "their"),
        number(adapters.pairs_cut_off),
        format_count(adapters.pairs, "pair"),
        verb(adapters.pairs_cut_off, "is", "are"),
    );
}

fn shares(out: &mut String, left: &RemainingCapacity) {
    if left.shares.len() > 1 {
        out.push_str("shares of paths\n");
        let most = left.shares.iter().map(|(_, _, pairs)| *pairs).max().unwrap_or(1).max(1);
        let rows: Vec<Vec<String>> = left
            .shares
            .iter()
            .map(|(from, below, pairs)| {
                let bar = u128::from(*pairs) * u128::from(BAR) / u128::from(most);
                let (from, below) = (format!("{:.2}", from * 100.0), format!("{:.2}", below * 100.0));
                let range = if from == below { format!("{from} %") } else { format!("{from} - {below} %") };
                vec![range, number(*pairs), part(left, *pairs), "#".repeat(bar as usize)]
            })
            .collect();
        for line in table::draw(&["", "", "", ""], &rows).lines().skip(1) {
            let _ = writeln!(out, "{line}");
        }
    }
}

fn write_worst_pairs(out: &mut String, left: &RemainingCapacity) {
    let worse: Vec<_> = left.worst.iter().filter(|worst| worst.paths < worst.paths_planned).collect();
    if !worse.is_empty() {
        out.push_str("worst pairs\n");
        for worst in worse {
            let more = match worst.pairs {
                0 | 1 => String::new(),
                pairs => format!(", and {} more like it", number(pairs - 1)),
            };
            let _ = writeln!(
                out,
                "  {} and {}: {} of {}, {} Gb/s{more}",
                worst.from,
                worst.to,
                number(worst.paths),
                format_count(worst.paths_planned, worst.noun),
                gbps(worst.gbps),
            );
        }
    }
}

fn cost_row(cost: &Cost, head: Vec<String>, pairs: u64) -> Vec<String> {
    let mut row = head;
    row.push(percent(cost.pairs_touched as f64 / (pairs as f64).max(1.0)));
    row.push(percent(cost.loss_max));
    row.push(percent(cost.plane_loss_max));
    row.push(percent(cost.loss_mean));
    row.push(gbps(cost.gbps_alone_min));
    row.push(number(cost.pairs_cut_off));
    row.push(number(cost.nics_cut_off as u64));
    row
}

/// Writes the impact of every failure of given kinds. If no kind was given, only the worst class of each kind
/// is shown.
pub fn impacts(each: &EachReport) -> String {
    let times = match each.together {
        1 => "one failure at a time".to_owned(),
        more => format!("{more} failures at a time"),
    };
    let given = if each.given.count == 0 {
        String::new()
    } else {
        format!(", after {}", describe_failures(&each.given))
    };
    let part = each.part.as_ref().map(|part| format!(" in {}", part.selection)).unwrap_or_default();
    let mut out =
        format!("{}: {times}{part}{given}; {} of NICs\n", each.fabric, format_count(each.pairs, "pair"));
    let mut rows: Vec<Vec<String>> = Vec::new();
    for (at, class) in each.classes.iter().enumerate() {
        let alike: Vec<&Cost> = each.classes.iter().filter(|other| other.kinds == class.kinds).collect();
        if each.overview && each.classes[..at].iter().any(|other| other.kinds == class.kinds) {
            continue;
        }
        let kinds: Vec<&str> = class.kinds.iter().map(|kind| kind.keyword()).collect();
        let count = if each.overview { alike.iter().map(|c| c.failures).sum() } else { class.failures };
        let mut row = cost_row(class, vec![kinds.join(" + "), big(count)], each.pairs);
        row.push(class.example.join(" + "));
        rows.push(row);
    }
    let heads = [
        "kind",
        "failures",
        "pairs",
        "worst loses",
        "of a plane",
        "mean",
        "one pair Gb/s",
        "pairs cut off",
        "NICs",
        if each.overview { "the worst" } else { "for example" },
    ];
    out.push_str(&table::draw(&heads, &rows));
    out
}

fn big(count: u128) -> String {
    u64::try_from(count).map_or_else(|_| count.to_string(), number)
}

/// Writes the results of repeated random failures.
pub fn trials(trials: &Trials) -> String {
    let mut out = format!(
        "{}: {} draws; planned: {} Gb/s\n",
        trials.fabric,
        trials.draws.len(),
        gbps(trials.gbps_planned)
    );
    let rows: Vec<Vec<String>> = trials
        .draws
        .iter()
        .map(|trial| {
            vec![
                trial.seed.to_string(),
                number(trial.failed as u64),
                gbps(trial.gbps_loaded_min),
                gbps(trial.gbps_loaded_median),
                gbps(trial.gbps_loaded_mean),
                gbps(trial.gbps_alone_min),
                number(trial.pairs_cut_off),
                number(trial.nics_cut_off as u64),
            ]
        })
        .collect();
    let heads = ["seed", "fail", "minimum", "median", "mean", "one pair", "pairs cut off", "NICs"];
    out.push_str(&table::draw(&heads, &rows));
    out
}

/// Columns of a trace.
const TRACE_COLUMNS: [&str; 10] = [
    "time",
    "down",
    "paths min",
    "median",
    "Gb/s min",
    "median",
    "one pair",
    "pairs cut off",
    "NICs",
    "what happens",
];

/// Writes a trace.
pub fn trace(trace: &Trace) -> String {
    let given = if trace.given.count == 0 {
        String::new()
    } else {
        format!(", after {}", describe_failures(&trace.given))
    };
    let mut out = format!(
        "{}: {} in {} s{given}; planned: {} Gb/s and {}\n",
        trace.fabric,
        format_count(trace.moments.len() as u64, "moment"),
        gbps(trace.seconds),
        gbps(trace.gbps_planned),
        format_count(trace.paths_planned, trace.noun),
    );
    let rows: Vec<Vec<String>> = trace
        .moments
        .iter()
        .map(|moment| {
            let changes = moment.changes.iter().take(NAMES).map(|(turn, name)| match turn {
                crate::trace::Change::Down => format!("down {name}"),
                crate::trace::Change::Up => format!("up {name}"),
            });
            let mut changes = changes.collect::<Vec<String>>().join(", ");
            if moment.changes.len() > NAMES {
                let _ = write!(changes, " and {} more", number((moment.changes.len() - NAMES) as u64));
            }
            vec![
                moment.time.clone(),
                number(moment.down as u64),
                number(moment.paths_min),
                number(moment.paths_median),
                gbps(moment.gbps_loaded_min),
                gbps(moment.gbps_loaded_median),
                gbps(moment.gbps_alone_min),
                number(moment.pairs_cut_off),
                number(moment.nics_cut_off as u64),
                changes,
            ]
        })
        .collect();
    out.push_str(&table::draw(&TRACE_COLUMNS, &rows));
    let _ = writeln!(
        out,
        "over the whole trace: {} Gb/s on average, {} at minimum; at least one pair was cut off for {} s",
        gbps(trace.gbps_loaded_mean),
        gbps(trace.gbps_loaded_min),
        gbps(trace.seconds_cut_off)
    );
    out
}

/// Writes the comparison of two designs.
pub fn comparison(against: &Comparison) -> String {
    let mut out = String::new();
    let rows: Vec<Vec<String>> = against
        .figures
        .iter()
        .map(|row| {
            let ratio = row.ratio.map_or_else(
                || "-".to_owned(),
                |(a, b)| match b {
                    1 => a.to_string(),
                    2..=1000 => format!("{a}/{b}"),
                    _ => format!("{:.3}", a as f64 / b as f64),
                },
            );
            let note = if row.per_nic { "per NIC" } else { "" };
            vec![row.what.to_owned(), number(row.ours), number(row.theirs), ratio, note.to_owned()]
        })
        .collect();
    out.push_str(&table::draw(&["", &against.ours, &against.theirs, "ratio", ""], &rows));
    out.push_str("one failure, the worst of its kind\n");
    let mut rows = Vec::new();
    for blast in &against.failures {
        for (name, found) in [(&against.ours, &blast.ours), (&against.theirs, &blast.theirs)] {
            if let Some(found) = found {
                let head = vec![blast.kind.keyword().to_owned(), name.clone()];
                let mut row = cost_row(found, head, 0);
                // Numbers of pairs are not comparable between fabrics of different size.
                row.remove(2);
                rows.push(row);
            }
        }
    }
    let heads =
        ["kind", "fabric", "worst loses", "of a plane", "mean", "one pair Gb/s", "pairs cut off", "NICs"];
    out.push_str(&table::draw(&heads, &rows));
    out
}
