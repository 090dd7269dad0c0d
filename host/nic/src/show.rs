//! Answers of the agent as tables for people.
//!
//! In: an answer in JSON. Out: text. Invariants: columns are as wide as their widest cell. A field that an older agent
//! does not report is shown as a dash. Control characters in text from the network are removed, because a terminal
//! would interpret them.

use std::fmt::Write as _;

use serde_json::Value;

/// Format of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Format {
    /// Tables
    Human,
    /// JSON
    Json,
}

/// Answers that can be shown as tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Status,
    Paths,
    Findings,
    Events,
}

/// Formats an answer for people.
pub(crate) fn human(kind: Kind, answer: &Value) -> String {
    match kind {
        Kind::Status => status(answer),
        Kind::Paths => paths(answer),
        Kind::Findings => findings(answer),
        Kind::Events => events(answer),
    }
}

fn status(answer: &Value) -> String {
    let mut text = format!("NIC {}", cell(&answer["nic"]));
    if let Some(fabric) = answer["table"]["fabric"].as_str() {
        let _ = write!(text, " of fabric {}", plain(fabric));
    }
    let _ = writeln!(text, ", table {}, {}", cell(&answer["table"]["checksum"]), cell(&answer["transport"]));
    let yes_no = |value: &Value, yes: &str, no: &str| match value.as_bool() {
        Some(true) => yes.to_owned(),
        Some(false) => no.to_owned(),
        None => "-".to_owned(),
    };
    let planes = list(&answer["planes"]).map(|plane| {
        vec![
            cell(&plane["plane"]),
            yes_no(&plane["carrier"], "up", "down"),
            yes_no(&plane["t0_answers"], "answers", "silent"),
            tenths(&plane["t0_rtt_us"]),
            cell(&plane["strays"]),
        ]
    });
    section(&mut text, &["PLANE", "PORT", "T0", "RTT us", "STRAYS"], &planes.collect::<Vec<_>>());
    let channels = list(&answer["channels"]).map(|channel| {
        let (sent, lost) = (list(&channel["sent"]).filter_map(Value::as_u64).sum::<u64>(), &channel["lost"]);
        let share = lost.as_u64().filter(|_| sent > 0).map(|lost| 100.0 * lost as f64 / sent as f64);
        vec![
            cell(&channel["to"]),
            cell(&channel["planes_in_use"]),
            cell(&channel["good"]),
            cell(&channel["assumed_bad"]),
            cell(&channel["denied"]),
            sent.to_string(),
            cell(lost),
            share.map_or_else(|| "-".to_owned(), |share| format!("{share:.2}")),
            tenths(&channel["rtt_us"]),
        ]
    });
    let head = ["FAR NIC", "PLANES", "GOOD", "BAD", "DENIED", "SENT", "LOST", "LOST %", "RTT us"];
    section(&mut text, &head, &channels.collect::<Vec<_>>());
    if list(&answer["findings"]).next().is_some() {
        text.push('\n');
        text.push_str(&findings(&answer["findings"]));
    }
    let denials = list(&answer["denials"]).map(|denial| {
        let scope = ["plane", "uplinks", "t1_uplinks", "zone", "group", "downlink"];
        let scope = scope.iter().filter(|key| !denial[**key].is_null());
        let scope: Vec<String> = scope.map(|key| format!("{key} {}", cell(&denial[*key]))).collect();
        vec![cell(&denial["id"]), scope.join(" "), cell(&denial["reason"])]
    });
    section(&mut text, &["DENIAL", "PATHS", "REASON"], &denials.collect::<Vec<_>>());
    let counters = answer["counters"].as_object().into_iter().flatten();
    let counters = counters.filter(|(_, value)| value.as_u64() != Some(0));
    let counters = counters.map(|(name, value)| vec![plain(&name.replace('_', " ")), cell(value)]);
    section(&mut text, &["COUNTER", "VALUE"], &counters.collect::<Vec<_>>());
    text
}

fn findings(answer: &Value) -> String {
    let rows: Vec<_> = list(answer).map(finding).collect();
    table(&["FINDING", "PLACE", "STATE", "PROBES LOST"], &rows)
}

/// Formats the row of a finding.
fn finding(finding: &Value) -> Vec<String> {
    let of = ["plane", "t1", "uplink", "t1_uplink"].map(|key| (key, &finding[key]));
    let place = of.iter().filter(|(_, value)| !value.is_null());
    let place: Vec<String> = place.map(|(key, value)| format!("{key} {}", cell(value))).collect();
    let kind = match (finding["passes_bytes"].as_u64(), finding["loses_bytes"].as_u64()) {
        (Some(passes), Some(loses)) => format!("short packets only: {passes} bytes pass, {loses} do not"),
        _ if finding["gray"] == true => "gray".to_owned(),
        _ => "dead".to_owned(),
    };
    let share = format!("{} of {}", cell(&finding["lost"]), cell(&finding["sent"]));
    vec![cell(&finding["what"]), place.join(" "), kind, share]
}

fn paths(answer: &Value) -> String {
    let used = list(answer).filter(|path| path["in_use"] == true).count();
    let rows = list(answer).map(|path| {
        let is_used = path["in_use"] == true;
        let share = if is_used { format!("{:.1}", 100.0 / used as f64) } else { "0".to_owned() };
        vec![
            cell(&path["plane"]),
            cell(&path["uplink"]),
            cell(&path["state"]),
            share,
            cell(&path["lost"]),
            tenths(&path["rtt_us"]),
            cell(&path["entropy"]),
            cell(&path["outer"]),
        ]
    });
    let head = ["PLANE", "UPLINK", "STATE", "SHARE %", "LOST", "RTT us", "ENTROPY", "OUTER ADDRESS"];
    table(&head, &rows.collect::<Vec<_>>())
}

fn events(answer: &Value) -> String {
    let rows = list(answer).map(|event| {
        let seconds = event["at_ns"].as_f64().map_or_else(|| "-".to_owned(), |ns| format!("{:.3}", ns / 1e9));
        vec![cell(&event["number"]), seconds, cell(&event["text"])]
    });
    table(&["EVENT", "AT s", "TEXT"], &rows.collect::<Vec<_>>())
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn cell(value: &Value) -> String {
    match value {
        Value::Null => "-".to_owned(),
        Value::String(text) => plain(text),
        Value::Array(parts) => parts.iter().map(cell).collect::<Vec<_>>().join("-"),
        other => other.to_string(),
    }
}

fn plain(text: &str) -> String {
    text.chars().filter(|sign| !sign.is_control()).collect()
}

fn tenths(value: &Value) -> String {
    value.as_f64().map_or_else(|| "-".to_owned(), |number| format!("{number:.1}"))
}

/// Adds a table after an empty line, unless it has no rows.
fn section(text: &mut String, head: &[&str], rows: &[Vec<String>]) {
    if !rows.is_empty() {
        text.push('\n');
        text.push_str(&table(head, rows));
    }
}

fn table(head: &[&str], rows: &[Vec<String>]) -> String {
    let head: Vec<String> = head.iter().map(|&title| title.to_owned()).collect();
    let all = || std::iter::once(&head).chain(rows);
    let width =
        |at: usize| all().filter_map(|row| row.get(at)).map(|cell| cell.chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..head.len()).map(width).collect();
    let mut text = String::new();
    for row in all() {
        let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}"));
        text.push_str(cells.collect::<Vec<_>>().join("  ").trim_end());
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn columns_are_aligned_and_text_of_others_moves_no_cursor() {
        let paths = json!([
            { "plane": 0, "uplink": 12, "state": "GOOD", "in_use": true, "lost": 0, "rtt_us": 12.345, "entropy": 7, "outer": "fcbb::1" },
            { "plane": 1, "uplink": 3, "state": "ASSUMED_BAD", "in_use": false, "lost": 41, "entropy": 8, "outer": "fcbb::2" },
        ]);
        let expected = "\
PLANE  UPLINK  STATE        SHARE %  LOST  RTT us  ENTROPY  OUTER ADDRESS
0      12      GOOD         100.0    0     12.3    7        fcbb::1
1      3       ASSUMED_BAD  0        41    -       8        fcbb::2
";
        assert_eq!(human(Kind::Paths, &paths), expected);
        let events =
            json!([{ "number": 1, "at_ns": 1_500_000_000_u64, "text": "plane 1: \u{1b}[2Jport down" }]);
        assert_eq!(human(Kind::Events, &events), "EVENT  AT s   TEXT\n1      1.500  plane 1: [2Jport down\n");
    }

    #[test]
    fn a_status_has_a_table_for_each_kind_of_thing_that_there_is() {
        let answer = json!({
            "nic": "fd00::1", "table": { "fabric": "pod", "checksum": "0123abcd" }, "transport": "spray",
            "planes": [{ "plane": 0, "carrier": true, "t0_answers": null, "t0_rtt_us": null, "strays": 0 }],
            "channels": [], "findings": [{ "what": "uplink", "plane": 2, "uplink": 1, "gray": true, "lost": 3, "sent": 64 }],
            "denials": [], "counters": { "outside": 0, "probes": 7 },
        });
        let expected = "\
NIC fd00::1 of fabric pod, table 0123abcd, spray

PLANE  PORT  T0  RTT us  STRAYS
0      up    -   -       0

FINDING  PLACE             STATE  PROBES LOST
uplink   plane 2 uplink 1  gray   3 of 64

COUNTER  VALUE
probes   7
";
        assert_eq!(human(Kind::Status, &answer), expected);
        let probe =
            "FINDING  PLACE             STATE  PROBES LOST\nuplink   plane 2 uplink 1  gray   3 of 64\n";
        assert_eq!(human(Kind::Findings, &answer["findings"]), probe);
    }
}
