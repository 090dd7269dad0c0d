//! Advice works: if a `help` text names a key and a value, that edit fixes the finding. It causes no other
//! error in any stage of reading.
//!
//! In: the fabrics of `tests/errors`. Out: a failure for each `help` text that does not remove the finding or
//! that causes a new error. Invariants: only these forms are parsed: `PATH` to VALUE, `PATH: VALUE`, or the
//! name of a profile.

use std::collections::BTreeSet;

use camino::{Utf8Path, Utf8PathBuf};
use closc_compile::front::{Options, Reading, Source, read_text};
use closc_diagnostics::{Diagnostic, Fix, Trust};
use closc_topology::apply;
use serde_json::{Map, Value};

/// Keys that a `help` text may name without a dot; all other paths are dotted.
const TOP: [&str; 3] = ["routing", "qos", "planes"];

fn folder() -> Utf8PathBuf {
    Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/errors")
}

fn read(text: &str) -> Reading {
    let source = Source::File(folder().join("pins/fabric.yaml"));
    let options = Options { platforms: vec![folder().join("platforms")], ..Options::default() };
    read_text(&source, text.as_bytes(), &options).expect("all files are there")
}

/// Returns the parts of a text between backticks, each with the text before and after it.
fn codes(help: &str) -> Vec<(&str, &str, &str)> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(start) = help[from..].find('`').map(|at| from + at + 1) {
        let Some(end) = help[start..].find('`').map(|at| start + at) else { break };
        found.push((&help[..start - 1], &help[start..end], &help[end + 1..]));
        from = end + 1;
    }
    found
}

fn is_path(text: &str) -> bool {
    text.contains('.') && text.chars().all(|c| c.is_ascii_alphanumeric() || "._-".contains(c))
        || TOP.contains(&text)
}

/// A path and its new value.
type Edit = (String, String);

/// Returns the edits that a `help` text names: a list of alternatives, each a list of edits that belong
/// together.
fn edits(help: &str) -> Vec<Vec<Edit>> {
    let mut edits: Vec<Vec<Edit>> = Vec::new();
    for (before, code, behind) in codes(help) {
        let mut push = |path: &str, value: String| {
            let edit = (path.to_owned(), value);
            match edits.last_mut().filter(|_| before.ends_with(", and ")) {
                Some(together) => together.push(edit),
                None => edits.push(vec![edit]),
            }
        };
        if let Some((path, value)) = code.split_once(": ").filter(|(path, _)| is_path(path)) {
            push(path, value.to_owned());
        } else if is_path(code)
            && let Some(rest) = behind.strip_prefix(" to ")
        {
            let number: String = rest.chars().take_while(char::is_ascii_digit).collect();
            let quoted = rest.strip_prefix('`').and_then(|rest| rest.split('`').next());
            let value = quoted.map_or(number, str::to_owned);
            if !value.is_empty() {
                push(code, value);
            }
        } else if before.contains("profile") && before.trim_end().ends_with("such as") {
            push("qos", code.to_owned());
        }
    }
    edits
}

/// Applies the edits of a `help` text; returns the new fabric.
fn follow_advice(fabric: &Value, edits: &[Edit]) -> Option<String> {
    let mut fabric = fabric.clone();
    for (path, value) in edits {
        set(&mut fabric, path, value)?;
    }
    Some(fabric.to_string())
}

/// Applies one edit.
fn set(fabric: &mut Value, path: &str, value: &str) -> Option<()> {
    let value: Value = serde_saphyr::from_str(value).ok()?;
    let mut at = fabric;
    for key in path.split('.') {
        if !at.is_object() {
            // A plain number of ports is shorthand for the mapping.
            let count = std::mem::take(at);
            *at = Value::Object(if count.is_number() {
                Map::from_iter([("count".to_owned(), count)])
            } else {
                Map::new()
            });
        }
        at = at.as_object_mut()?.entry(key).or_insert(Value::Null);
    }
    // A mapping keeps the keys that the edit does not name.
    match (at, value) {
        (Value::Object(old), Value::Object(new)) => old.extend(new),
        (at, Value::Object(mut new)) if at.is_number() && !new.contains_key("count") => {
            new.insert("count".to_owned(), at.take());
            *at = Value::Object(new);
        }
        (at, value) => *at = value,
    }
    Some(())
}

fn fabrics() -> Vec<(String, String)> {
    let mut found = Vec::new();
    for part in ["", "plan", "entries"] {
        for entry in folder().join(part).read_dir_utf8().expect("the cases are in the repository") {
            let path = entry.expect("a folder can be read").into_path();
            let text = std::fs::read_to_string(&path).unwrap_or_default();
            let fabric = text.split_once("```yaml\n").and_then(|(_, rest)| rest.split_once("```\n"));
            found.extend(
                fabric
                    .map(|(fabric, _)| (path.file_name().unwrap_or_default().to_owned(), fabric.to_owned())),
            );
        }
    }
    found.sort();
    found
}

/// Returns the finding that remains after a suggestion was followed, or a new error.
fn remaining_finding(edited: &str, finding: &Diagnostic, codes: &[&str]) -> Option<String> {
    let Ok(reading) = std::panic::catch_unwind(|| read(edited)) else { return Some("a panic".to_owned()) };
    let is_new = |code: &str| !codes.contains(&code) && code.starts_with('E');
    let bad = |found: &&Diagnostic| found.message == finding.message || is_new(found.rule.code);
    reading.diagnostics.iter().find(bad).map(|bad| format!("{}: {}", bad.rule.code, bad.message))
}

#[test]
fn advice_that_is_followed_ends_in_no_other_error() {
    let (mut wrong, mut count, mut followed_codes) = (Vec::new(), 0, BTreeSet::new());
    for (name, text) in fabrics() {
        let Ok(fabric @ Value::Object(_)) = serde_saphyr::from_str::<Value>(&text) else { continue };
        let before = read(&text).diagnostics;
        let codes: Vec<&str> = before.iter().map(|found| found.rule.code).collect();
        for finding in &before {
            for (help, edits) in
                finding.help.iter().flat_map(|help| edits(help).into_iter().map(move |edits| (help, edits)))
            {
                let Some(edited) = follow_advice(&fabric, &edits) else { continue };
                if let Some(bad) = remaining_finding(&edited, finding, &codes) {
                    let code = finding.rule.code;
                    wrong.push(format!("{name} {code}: `{help}` ({edits:?}) ends in {bad}"));
                }
                count += 1;
                followed_codes.insert(finding.rule.code);
            }
        }
    }
    println!("{count} advices followed, of {} codes: {followed_codes:?}", followed_codes.len());
    assert!(wrong.is_empty(), "{} of {count}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(count >= 60 && followed_codes.len() >= 25, "{count} of {followed_codes:?}");
}

/// Applies a fix to the text of a fabric.
fn apply_fix(text: &str, reading: &Reading, fix: &Fix) -> Option<String> {
    let source = reading.diagnostics.iter().find_map(Diagnostic::span)?.source;
    let source = if reading.sources.get(source).text == text { source } else { return None };
    apply(text, &closc_topology::edits(source, text, &fix.changes)?)
}

#[test]
fn fixes_mend_and_break_nothing() {
    let (mut wrong, mut made, mut codes_made) = (Vec::new(), 0, BTreeSet::new());
    for (name, text) in fabrics() {
        let reading = read(&text);
        let codes: Vec<&str> = reading.diagnostics.iter().map(|found| found.rule.code).collect();
        for finding in &reading.diagnostics {
            for fix in &finding.fixes {
                let code = finding.rule.code;
                assert!(finding.help.contains(&fix.help), "{name} {code}: a fix without its help: {fix:?}");
                let Some(edited) = apply_fix(&text, &reading, fix) else {
                    wrong.push(format!("{name} {code}: cannot be made: {fix:?}"));
                    continue;
                };
                // A misspelled key hides further errors of its value.
                let bad = remaining_finding(&edited, finding, &codes).filter(|_| fix.trust == Trust::Choice);
                wrong.extend(bad.map(|bad| format!("{name} {code}: {fix:?} ends in {bad}")));
                made += 1;
                codes_made.insert(code);
            }
        }
    }
    println!("{made} fixes made, of {} codes: {codes_made:?}", codes_made.len());
    assert!(wrong.is_empty(), "{} of {made}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(made >= 40 && codes_made.len() >= 25, "{made} of {codes_made:?}");
}

#[test]
fn edits_are_found_in_helps() {
    let found = |help| {
        edits(help)
            .iter()
            .map(|all| {
                all.iter().map(|(path, value)| format!("{path}={value}")).collect::<Vec<_>>().join(" ")
            })
            .collect::<Vec<_>>()
    };
    assert_eq!(found("set `tiers.t0.up` to `{count: 4}`, or change the NIC"), ["tiers.t0.up={count: 4}"]);
    assert_eq!(found("lower `mtu.link` to 9000 or less"), ["mtu.link=9000"]);
    assert_eq!(found("use fewer uplinks, or `routing: srv6-static`"), ["routing=srv6-static"]);
    assert_eq!(
        found("use a profile without trimming such as `sonic-ai-lossy`, or another"),
        ["qos=sonic-ai-lossy"]
    );
    assert_eq!(found("set `a.b` to 7 or more, and `c.d` to 9 or more"), ["a.b=7 c.d=9"]);
    assert!(found("set `tiers.t1.up` to the uplinks of a T1").is_empty());
}
