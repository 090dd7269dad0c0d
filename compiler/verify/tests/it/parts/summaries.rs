//! A changed summary is rejected.

use closc_verify::{Summary, merge};
use serde_json::{Value, json};

use super::{ROUTINGS, cut, parse, prove_parts};

/// Returns the two summaries of a proof, for each routing mode.
fn summaries() -> Vec<Vec<(String, Summary)>> {
    ROUTINGS.into_iter().map(|routing| prove_parts(&cut(routing))).collect()
}

/// Collects the paths of all leaves of a document.
fn leaves(value: &Value, at: &str, found: &mut Vec<String>) {
    match value {
        Value::Object(map) if !map.is_empty() => {
            map.iter().for_each(|(key, value)| leaves(value, &format!("{at}/{}", escape(key)), found));
        }
        Value::Array(list) if !list.is_empty() => {
            (0..).zip(list).for_each(|(key, value): (usize, _)| leaves(value, &format!("{at}/{key}"), found));
        }
        _ => found.push(at.to_owned()),
    }
}

fn escape(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

/// Returns replacements for a leaf: other numbers and texts, maxima, null, and the value at the same path of another
/// part.
fn replacements(leaf: &Value, there: Option<&Value>) -> Vec<Value> {
    let mut all = vec![
        json!(null),
        json!(0),
        json!(1),
        json!(u64::MAX),
        json!(GREATEST),
        json!(""),
        json!([]),
        json!({}),
    ];
    match leaf {
        Value::Number(number) => {
            if let Some(number) = number.as_u64() {
                all.extend([
                    json!(number.wrapping_add(1)),
                    json!(number.wrapping_sub(1)),
                    json!(number.wrapping_mul(2)),
                ]);
            }
        }
        Value::String(text) => {
            all.extend([json!(format!("{text}0")), json!(text.chars().rev().collect::<String>())]);
        }
        _ => {}
    }
    all.extend(there.cloned());
    all.retain(|value| value != leaf);
    all
}

/// Removes a leaf and its key.
fn remove_leaf(whole: &Value, leaf: &str) -> Value {
    let (parent, key) = leaf.rsplit_once('/').expect("a leaf has a place");
    let mut whole = whole.clone();
    match whole.pointer_mut(parent).expect("it is there") {
        Value::Object(map) => _ = map.remove(&key.replace("~1", "/").replace("~0", "~")),
        Value::Array(list) => _ = list.remove(key.parse().expect("a number")),
        _ => unreachable!("a parent has values"),
    }
    whole
}

/// Adds another value next to a leaf in a list or map, or a duplicate to a list.
fn with_more(whole: &Value, leaf: &str) -> Value {
    let (parent, _) = leaf.rsplit_once('/').expect("a leaf has a place");
    let mut whole = whole.clone();
    let value = whole.pointer(leaf).expect("it is there").clone();
    match whole.pointer_mut(parent).expect("it is there") {
        Value::Object(map) => _ = map.insert("more".to_owned(), value),
        Value::Array(list) => list.push(value),
        _ => unreachable!("a parent has values"),
    }
    whole
}

/// Placeholder for the largest 128-bit number, which JSON values cannot hold.
const GREATEST: &str = "2^128-1";

/// Writes a document.
fn write_document(document: &Value) -> String {
    document.to_string().replace(&format!("\"{GREATEST}\""), &u128::MAX.to_string())
}

/// Updates the digest of a document, as an attacker could.
pub(super) fn seal(mut document: Value) -> Vec<u8> {
    document["digest"] = json!("");
    if let Ok(summary) = serde_json::from_str::<Summary>(&write_document(&document)) {
        let digest = blake3::hash(&serde_json::to_vec(&summary).expect("it has only string keys"));
        document["digest"] = json!(digest.to_string());
    }
    write_document(&document).into_bytes()
}

/// Any changed summary is rejected. If its digest is valid, it is either rejected with the name of the field, or merged
/// within possible values, and violations are kept.
#[test]
fn no_leaf_of_a_summary_is_believed() {
    for parts in summaries() {
        let [first, second] = [0, 1].map(|at| parse(&parts[at].1));
        assert!(merge(&parts).unwrap().holds());
        let mut found = Vec::new();
        leaves(&first, "", &mut found);
        assert!(found.len() > 60, "{}", found.len());
        let mut refused = 0;
        for leaf in &found {
            let value = first.pointer(leaf).expect("it is there");
            let mut changed: Vec<Value> = replacements(value, second.pointer(leaf))
                .into_iter()
                .map(|other| {
                    let mut document = first.clone();
                    *document.pointer_mut(leaf).expect("it is there") = other;
                    document
                })
                .collect();
            changed.extend([remove_leaf(&first, leaf), with_more(&first, leaf)]);
            for document in changed.iter().filter(|document| **document != first) {
                let read = Summary::parse(write_document(document).as_bytes());
                let is_same = read.as_ref().is_ok_and(|read| parse(read) == first);
                assert!(is_same || read.is_err(), "{leaf}: {document}");
                let Ok(forged) = Summary::parse(&seal(document.clone())) else { continue };
                let mut parts = parts.clone();
                parts[0].1 = forged;
                match merge(&parts) {
                    Ok(report) => assert!(!report.text().is_empty()),
                    Err(error) => {
                        refused += 1;
                        assert!(!error.to_string().is_empty());
                    }
                }
            }
        }
        assert!(refused > found.len() / 2, "{refused} of {}", found.len());
    }
}

/// Numbers in a summary that have no redundancy, by the start of their path, with the reason.
const FREE: &[(&str, &str)] = &[
    ("/read/files", "as many as the part has; a report states them, and nothing is proved by them"),
    ("/read/bytes", "the same"),
    ("/rules/", "how often a rule was applied is stated, and how much work that is depends on the part"),
    ("/not_judged/", "what a site sets as it likes, counted for people"),
    ("/paths/in_use", "which cables are drained is in no summary"),
    ("/load/steps", "how much work it is to add up load"),
    (
        "/load/tiers/",
        "what cables carry is stated for people; of a direction sum and extremes fit each other",
    ),
    ("/delivery/classes", "how much work it is"),
    ("/interface/lengths/", "cables have lengths of their own; a round trip has to fit them"),
    ("/interface/delay/", "a round trip has to fit the cables, at any speed and packet"),
];

/// Every number that is changed by one, zeroed or doubled is rejected, unless the summary has no redundancy for it.
#[test]
fn no_number_of_a_summary_is_believed() {
    for parts in summaries() {
        let first = parse(&parts[0].1);
        let mut found = Vec::new();
        leaves(&first, "", &mut found);
        let mut free = Vec::new();
        for leaf in found {
            let Some(number) = first.pointer(&leaf).and_then(Value::as_u64) else { continue };
            for other in [number + 1, number.wrapping_sub(1), 0, number * 2] {
                if other == number {
                    continue;
                }
                let mut document = first.clone();
                *document.pointer_mut(&leaf).expect("it is there") = json!(other);
                let Ok(forged) = Summary::parse(&seal(document)) else { continue };
                let mut parts = parts.clone();
                parts[0].1 = forged;
                if merge(&parts).is_ok_and(|report| report.holds()) {
                    free.push(format!("{leaf}: {number} -> {other}"));
                }
            }
        }
        let is_known = |place: &String| FREE.iter().any(|(known, _)| place.starts_with(known));
        let unknown: Vec<&String> = free.iter().filter(|place| !is_known(place)).collect();
        assert!(unknown.is_empty(), "{unknown:#?}");
    }
}

/// Impossible values are rejected, and the error names part and field.
#[test]
fn what_cannot_be_is_refused_by_field() {
    let [source_routed, chosen, _] = <[_; 3]>::try_from(summaries()).expect("there are three");
    let max = json!(GREATEST);
    let cases: [(&[(&str, Value)], &str); 13] = [
        (&[("/broken", json!(1))], "`part 0`: `broken`: it is not the sum of the results of all rules"),
        (&[("/read/files", json!(u64::MAX))], "`part 1`: `read`: the sum over all parts is too large"),
        (&[("/tiers/0", json!(99))], "`part 0`: `tiers`: there are more switches in tiers than were read"),
        (&[("/planes/0", json!(7))], "`part 0`: `planes`: the source has 3 planes, so there is no plane 7"),
        (&[("/groups/0/zone", json!(9))], "`part 0`: `groups`: there are no groups 1 to 1 of zone 9 of 1"),
        (
            &[("/groups/0/last", json!(9)), ("/read/tables", json!(9))],
            "`part 0`: `groups`: there is no group 9 of zone 0",
        ),
        (&[("/paths/arrive", max.clone())], "`part 0`: `paths.arrive`: more arrive than there are"),
        (
            &[("/paths/named", max)],
            "`part 0`: `paths.arrive`: fewer arrive than there are, and nothing is absent",
        ),
        (
            &[("/interface/once", json!({"towel": []}))],
            "`part 0`: `interface.once`: `towel` is not a kind of value that is used once",
        ),
        (
            &[("/rules", json!({"V9999": {"facts": 1, "broken": 0}}))],
            "`part 0`: `rules`: `V9999` is not a rule",
        ),
        (
            &[("/rules/V0101/facts", json!(u64::MAX))],
            "`part 1`: `rules`: the sum over all parts is too large",
        ),
        (&[("/fabric", json!("other"))], "are parts of different fabrics: their names differ"),
        (&[("/counts/planes", json!(300)), ("/planes", json!(null))], "are parts of different fabrics"),
    ];
    for (changes, why) in cases {
        let mut document = parse(&source_routed[0].1);
        for (leaf, value) in changes {
            *document.pointer_mut(leaf).unwrap_or_else(|| panic!("no {leaf}")) = value.clone();
        }
        let mut parts = source_routed.clone();
        parts[0].1 = Summary::parse(&seal(document)).expect("it has its form");
        let error = merge(&parts).unwrap_err().to_string();
        assert!(error.contains(why), "{changes:?}: {error}");
    }
    let mut document = parse(&chosen[0].1);
    document["delivery"]["arrive"] = json!(GREATEST);
    let mut parts = chosen;
    parts[0].1 = Summary::parse(&seal(document)).expect("it has its form");
    let error = merge(&parts).unwrap_err().to_string();
    assert!(error.contains("`part 0`: `delivery.arrive`: more arrive than there are"), "{error}");
}
