//! The state of the running agent: findings, silent T0s, unused paths, denials, ignored frames.
//!
//! In: its answer to `status`. Out: checks. Invariants: a missing field yields no check, because older agents report
//! fewer fields. Most healthy items yield no check.

use std::fmt::Write as _;

use serde_json::Value;

use super::Check;

/// Counters that are 0 on a healthy node, each with the reason and the remedy.
const COUNTERS: [(&str, &str, &str); 5] = [
    ("no_path", "packets without a path", "see the ports and denials above"),
    ("wrong_cookie", "frames with the cookie of another fabric", "give all agents the same `--cookie` file"),
    (
        "other_version",
        "messages of agents of another version",
        "install one release of closc-nic on all nodes",
    ),
    ("refused_writes", "pieces of writes outside the region", "compare the regions of both NICs"),
    ("region_faults", "failures to read or write the region", "check the file of `--region`"),
];

/// Returns a check for each problem that the agent reports, and for each denial.
pub(super) fn problem_checks(status: &Value) -> Vec<Check> {
    let wrong = |what: &str, said: String| Check { what: format!("agent: {what}"), good: false, said };
    let mut out: Vec<Check> = list(&status["findings"]).map(|own| wrong("finding", finding(own))).collect();
    out.extend(list(&status["planes"]).filter_map(|plane| Some(wrong("port", silent(plane)?))));
    out.extend(list(&status["channels"]).filter_map(|far| Some(wrong("paths", paths_out(far)?))));
    for (name, reason, remedy) in COUNTERS {
        if let Some(count) = status["counters"][name].as_u64().filter(|count| *count > 0) {
            out.push(wrong(&name.replace('_', " "), format!("{count} {reason}: {remedy}")));
        }
    }
    // A denial is not a problem: an operator or the collector requested it.
    out.extend(list(&status["denials"]).map(|denial| Check {
        what: "agent: denial".into(),
        good: true,
        said: format!(
            "{} is in force, because of {}: {}",
            text(&denial["id"]),
            text(&denial["reason"]),
            scope(denial)
        ),
    }));
    out
}

fn finding(own: &Value) -> String {
    let at =
        |key: &str| own[key].as_u64().map_or_else(String::new, |n| format!(" {} {n}", key.replace('_', " ")));
    let what = match own["what"].as_str().unwrap_or_default() {
        "own-port" => "the port has no carrier".to_owned(),
        "nic-cable" => "the cable to the T0, or the T0,".to_owned(),
        "uplink" => "the cable from the T0 to the T1".to_owned(),
        "t1-uplink" => "the cable from the T1 to the T2, or the T2,".to_owned(),
        "t1" => "the T1".to_owned(),
        other => plain(other),
    };
    let mut line =
        format!("plane {}{}{}{}: {what}", text(&own["plane"]), at("t1"), at("uplink"), at("t1_uplink"));
    let counts = format!("{} of {} probes", text(&own["lost"]), text(&own["sent"]));
    let _ = match (own["what"].as_str(), own["passes_bytes"].as_u64(), own["loses_bytes"].as_u64()) {
        (Some("own-port"), ..) => Ok(()),
        (_, Some(passes), Some(loses)) => {
            write!(
                line,
                " passes packets of {passes} bytes but none of {loses}: compare the MTU of both ends"
            )
        }
        _ if own["gray"] == true => write!(line, " loses packets, {counts}"),
        _ => write!(line, " carries nothing, {counts} lost"),
    };
    line
}

/// Describes a port whose T0 does not answer.
fn silent(plane: &Value) -> Option<String> {
    if plane["carrier"] != true || plane["t0_answers"] != false {
        return None;
    }
    let age = plane["t0_answered_ms_ago"].as_f64();
    let age =
        age.map_or_else(|| "it never answered".to_owned(), |ms| format!("last answer {:.1} s ago", ms / 1e3));
    let mut line = format!("the T0 of plane {} does not answer, {age}", text(&plane["plane"]));
    let at = &plane["found_at"];
    if let (Some(other), Some(downlink)) = (at["plane"].as_u64(), at["downlink"].as_u64()) {
        let _ = write!(line, ": the port is cabled to downlink {} of the T0 of plane {other}", downlink + 1);
    }
    Some(line)
}

/// Describes the bad paths to a NIC.
fn paths_out(far: &Value) -> Option<String> {
    let count = |key: &str| far[key].as_u64().unwrap_or(0);
    let bad = count("assumed_bad");
    let all = bad + count("good") + count("unknown") + count("skip") + count("denied");
    let to = text(&far["to"]);
    (bad > 0).then(|| format!("{bad} of {all} paths to {to} are bad: `closc-nic paths {to}` lists them"))
}

fn scope(denial: &Value) -> String {
    let keys = ["plane", "uplinks", "t1_uplinks", "zone", "group", "downlink"];
    let named = keys.iter().filter(|key| !denial[**key].is_null());
    named
        .map(|key| format!("{} {}", key.replace('_', " "), text(&denial[*key])))
        .collect::<Vec<_>>()
        .join(", ")
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn text(value: &Value) -> String {
    match value {
        Value::Null => "-".to_owned(),
        Value::String(own) => plain(own),
        Value::Array(parts) => parts.iter().map(text).collect::<Vec<_>>().join("-"),
        other => other.to_string(),
    }
}

/// Removes control characters from text of another program, because a terminal would interpret them.
fn plain(own: &str) -> String {
    own.chars().filter(|sign| !sign.is_control()).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn everything_that_an_agent_knows_to_be_wrong_has_a_line() {
        let status = json!({
            "findings": [
                { "what": "uplink", "plane": 2, "uplink": 1, "gray": false, "lost": 5, "sent": 5 },
                { "what": "nic-cable", "plane": 1, "gray": true, "lost": 7, "sent": 7, "passes_bytes": 1296, "loses_bytes": 1304 },
                { "what": "own-port", "plane": 3, "gray": false, "lost": 0, "sent": 0 },
            ],
            "planes": [
                { "plane": 0, "carrier": true, "t0_answers": true },
                { "plane": 1, "carrier": true, "t0_answers": false, "t0_answered_ms_ago": 2500.0,
                  "found_at": { "plane": 2, "downlink": 0 } },
                { "plane": 3, "carrier": false, "t0_answers": null },
            ],
            "channels": [{ "to": "fd00::9", "good": 5, "assumed_bad": 3, "denied": 1 }, { "to": "fd00::8", "good": 9 }],
            "denials": [{ "id": 4, "plane": 1, "uplinks": [2, 3], "reason": "drain" }],
            "counters": { "no_path": 2, "wrong_cookie": 0, "probes": 99 },
        });
        let lines: Vec<String> = problem_checks(&status)
            .into_iter()
            .map(|own| format!("{} {}: {}", own.good, own.what, own.said))
            .collect();
        assert_eq!(
            lines,
            [
                "false agent: finding: plane 2 uplink 1: the cable from the T0 to the T1 carries nothing, 5 \
                 of 5 probes lost",
                "false agent: finding: plane 1: the cable to the T0, or the T0, passes packets of 1296 bytes \
                 but none of 1304: compare the MTU of both ends",
                "false agent: finding: plane 3: the port has no carrier",
                "false agent: port: the T0 of plane 1 does not answer, last answer 2.5 s ago: the port is \
                 cabled to downlink 1 of the T0 of plane 2",
                "false agent: paths: 3 of 9 paths to fd00::9 are bad: `closc-nic paths fd00::9` lists them",
                "false agent: no path: 2 packets without a path: see the ports and denials above",
                "true agent: denial: 4 is in force, because of drain: plane 1, uplinks 2-3",
            ]
        );
        assert_eq!(problem_checks(&json!({ "nic": "fd00::1" })), [], "an agent that reports none of it");
    }
}
